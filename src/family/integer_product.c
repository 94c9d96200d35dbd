/* Products of integers: exact in up to 256 bits; beyond, that and the sign are known. */
#include "arithmetic/finish.h"
#include "family/family.h"

#include <string.h>

static void init(struct rd_partial *partial) {
    partial->whole = (struct rd_whole){.magnitude = {1}};
}

static void merge(struct rd_partial *partial, const struct rd_partial *other) {
    struct rd_whole whole = other->whole; /* also where other == partial */
    rd_whole_multiply(&partial->whole, &whole, partial->reduction.flags & REDUCT_WRAP);
}

static reduct_status finish(const struct rd_partial *partial, const struct rd_type *type, void *result,
                            reduct_error *error) {
    uint64_t word[4];
    bool fits = rd_finish_whole(&partial->whole, type, word);
    reduct_status status = rd_check_fit(partial, fits, type, partial->whole.overflow, error);
    if (status == REDUCT_OK)
        memcpy(result, word, type->bytes);
    return status;
}

static void walk(struct rd_walk *walk, struct rd_partial *partial) {
    struct rd_whole *whole = &partial->whole;
    uint64_t flags = whole->negative | whole->overflow << 1;
    rd_walk_word(walk, &flags);
    for (int i = 0; i < 4; i++)
        rd_walk_word(walk, &whole->magnitude[i]);
    whole->negative = flags & 1;
    whole->overflow = flags & 2;
}

static bool is_plausible(const struct rd_partial *partial) {
    const struct rd_whole *whole = &partial->whole;
    bool words = whole->magnitude[0] | whole->magnitude[1] | whole->magnitude[2] | whole->magnitude[3];
    bool is_signed = rd_type(partial->reduction.element)->kind == RD_SIGNED;
    if (whole->overflow ? words && !(partial->reduction.flags & REDUCT_WRAP) : !words && whole->negative)
        return false;
    return is_signed || !whole->negative;
}

const struct rd_family_code rd_integer_product = {
    .init = init, .merge = merge, .finish = finish, .walk = walk, .is_plausible = is_plausible};
