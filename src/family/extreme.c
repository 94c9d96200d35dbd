/* Extremes: one of the elements, or its index. The first NaN makes everything else void, where NaNs are not ignored. */
#include "arithmetic/finish.h"
#include "family/family.h"

static void init(struct rd_partial *partial) {
    partial->found = false;
    partial->extreme = 0;
    partial->index = 0;
}

/* An integer that orders as the elements do, -0 below +0. NaN is not ordered. */
static int64_t order(uint64_t bits, const struct rd_type *type) {
    int shift = 64 - 8 * type->bytes;
    int64_t wide = (int64_t)(bits << shift);
    switch (type->kind) {
    case RD_FLOAT:
        return wide ^ (int64_t)((uint64_t)(wide >> 63) >> 1);
    case RD_UNSIGNED:
        return wide ^ INT64_MIN;
    case RD_SIGNED:
        break;
    }
    return wide;
}

void rd_partial_take(struct rd_partial *partial, uint64_t bits, uint64_t index) {
    const struct rd_type *type = rd_type(partial->reduction.element);
    struct rd_type magnitude = *type;
    if (rd_operator(partial->reduction.op)->transform == RD_ABSOLUTE && type->kind == RD_SIGNED)
        magnitude.kind = RD_UNSIGNED;
    int64_t new = order(bits, &magnitude), old = order(partial->extreme, &magnitude);
    bool least = rd_operator(partial->reduction.op)->combine == RD_LEAST;
    if (!partial->found || (least ? new < old : new > old) || (new == old &&index < partial->index)) {
        partial->found = true;
        partial->extreme = bits;
        partial->index = index;
    }
}

static void merge(struct rd_partial *partial, const struct rd_partial *other) {
    if (other->found)
        rd_partial_take(partial, other->extreme, other->index + partial->seen);
}

static bool gives_index(const struct rd_partial *partial) {
    return rd_operator(partial->reduction.op)->finish == RD_INDEX;
}

static reduct_status finish(const struct rd_partial *partial, const struct rd_type *type, void *result,
                            reduct_error *error) {
    (void)error;
    bool nan = partial->nan_index != UINT64_MAX;
    if (gives_index(partial))
        rd_store(result, nan ? partial->nan_index : partial->index, 8);
    else
        rd_store(result, nan ? rd_nan_bits(type) : partial->extreme, type->bytes);
    return REDUCT_OK;
}

static void walk(struct rd_walk *walk, struct rd_partial *partial) {
    uint64_t found = partial->found;
    rd_walk_word(walk, &found);
    partial->found = found;
    rd_walk_word(walk, &partial->extreme);
    rd_walk_word(walk, &partial->index);
    rd_walk_word(walk, &partial->nan_index);
}

/* No trace of an extreme that a NaN has made void, or of where it was found when only its value counts. */
static void canonicalise(struct rd_partial *partial) {
    if (partial->nan_index != UINT64_MAX) {
        partial->found = false;
        partial->extreme = 0;
    }
    if (!gives_index(partial) || !partial->found)
        partial->index = 0;
}

static bool is_plausible(const struct rd_partial *partial) {
    int bits = 8 * rd_type(partial->reduction.element)->bytes;
    bool fits = bits == 64 || partial->extreme >> bits == 0;
    bool nan_inside = partial->nan_index == UINT64_MAX || partial->nan_index < partial->seen;
    return fits && nan_inside && (partial->found ? partial->index < partial->seen : partial->index == 0);
}

const struct rd_family_code rd_extreme_family = {.init = init,
                                                 .merge = merge,
                                                 .finish = finish,
                                                 .walk = walk,
                                                 .canonicalise = canonicalise,
                                                 .is_plausible = is_plausible};
