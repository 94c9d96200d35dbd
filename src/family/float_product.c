/* Products of floats, along their tree (arithmetic/product.h). */
#include "core/environment.h"
#include "arithmetic/finish.h"
#include "family/family.h"

static void init(struct rd_partial *partial) {
    rd_product_init(&partial->product);
}

static void merge(struct rd_partial *partial, const struct rd_partial *other) {
    struct rd_product product = other->product; /* also where other == partial */
    rd_environment caller = rd_environment_enter();
    rd_product_append(&partial->product, &product);
    rd_environment_leave(caller);
}

static reduct_status finish(const struct rd_partial *partial, const struct rd_type *type, void *result,
                            reduct_error *error) {
    (void)error;
    struct rd_product product = partial->product;
    struct rd_big room;
    rd_environment caller = rd_environment_enter();
    uint64_t bits = rd_finish_product(&product, partial->nans, type, &room);
    rd_environment_leave(caller);
    rd_store(result, bits, type->bytes);
    return REDUCT_OK;
}

/* The count is that of the elements seen. */
static void walk(struct rd_walk *walk, struct rd_partial *partial) {
    struct rd_product *product = &partial->product;
    uint64_t flags = product->negative | product->zero << 1 | product->infinite << 2;
    uint64_t low = (uint64_t)product->exponent, high = (uint64_t)((rd_u128)product->exponent >> 64);
    rd_walk_word(walk, &flags);
    rd_walk_word(walk, &low);
    rd_walk_word(walk, &high);
    for (int l = 0; l < RD_PRODUCT_LANES; l++)
        rd_walk_double(walk, &product->lane[l]);
    for (int k = 0; k < RD_PRODUCT_LEVELS; k++)
        rd_walk_double(walk, &product->subtree[k]);
    product->negative = flags & 1;
    product->zero = flags & 2;
    product->infinite = flags & 4;
    product->exponent = (rd_i128)((rd_u128)high << 64 | low);
    product->count = partial->seen;
}

static bool is_significand(double x) {
    return x >= 1 && x < 2;
}

static bool is_plausible(const struct rd_partial *partial) {
    const struct rd_product *product = &partial->product;
    uint64_t pending = product->count % RD_PRODUCT_BLOCK, blocks = product->count / RD_PRODUCT_BLOCK;
    rd_i128 largest = (rd_i128)product->count * 1074;
    for (uint64_t l = 0; l < RD_PRODUCT_LANES; l++)
        if (l < pending ? !is_significand(product->lane[l]) : product->lane[l] != 1)
            return false;
    for (int k = 0; k < RD_PRODUCT_LEVELS; k++)
        if (blocks >> k & 1 ? !is_significand(product->subtree[k]) : product->subtree[k] != 0)
            return false;
    return product->exponent >= -largest && product->exponent <= largest;
}

static uint64_t alignment(const struct rd_partial *other) {
    return rd_product_alignment(&other->product);
}

const struct rd_family_code rd_float_product = {.init = init,
                                                .merge = merge,
                                                .finish = finish,
                                                .walk = walk,
                                                .is_plausible = is_plausible,
                                                .continues = true,
                                                .alignment = alignment};
