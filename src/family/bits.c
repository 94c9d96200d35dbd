/* And, or and exclusive or, of the bits of integers or, for any and all, of one bit for each element: whether it is not zero. */
#include "family/family.h"

bool rd_is_truth(const reduct_reduction *reduction) {
    return rd_operator(reduction->op)->transform == RD_NONZERO || reduction->element == REDUCT_BOOL;
}

/* Bits in use. */
static uint64_t mask_of(const reduct_reduction *reduction) {
    if (rd_is_truth(reduction))
        return 1;
    return UINT64_MAX >> (64 - 8 * rd_type(reduction->element)->bytes);
}

static uint64_t identity(const reduct_reduction *reduction) {
    return rd_operator(reduction->op)->combine == RD_AND ? mask_of(reduction) : 0;
}

static void init(struct rd_partial *partial) {
    partial->bits = identity(&partial->reduction);
}

void rd_partial_take_bits(struct rd_partial *partial, uint64_t bits) {
    enum rd_combine combine = rd_operator(partial->reduction.op)->combine;
    if (combine == RD_AND)
        partial->bits &= bits;
    else if (combine == RD_OR)
        partial->bits |= bits;
    else
        partial->bits ^= bits;
}

static void merge(struct rd_partial *partial, const struct rd_partial *other) {
    rd_partial_take_bits(partial, other->bits);
}

static reduct_status finish(const struct rd_partial *partial, const struct rd_type *type, void *result,
                            reduct_error *error) {
    (void)error;
    rd_store(result, partial->bits, type->bytes);
    return REDUCT_OK;
}

static void walk(struct rd_walk *walk, struct rd_partial *partial) {
    rd_walk_word(walk, &partial->bits);
}

static void wire(struct rd_wire *wire, struct rd_partial *partial) {
    enum rd_combine combine = rd_operator(partial->reduction.op)->combine;
    int64_t bits = (int64_t)partial->bits;
    rd_wire_rest(wire,
                 combine == RD_AND  ? REDUCT_MERGE_AND
                 : combine == RD_OR ? REDUCT_MERGE_OR
                                    : REDUCT_MERGE_XOR,
                 &bits);
    partial->bits = (uint64_t)bits;
}

static bool is_plausible(const struct rd_partial *partial) {
    if (!rd_partial_count(partial))
        return partial->bits == identity(&partial->reduction);
    return !(partial->bits & ~mask_of(&partial->reduction));
}

const struct rd_family_code rd_bits_family = {
    .init = init, .merge = merge, .finish = finish, .walk = walk, .wire = wire, .is_plausible = is_plausible};
