/* The list of families, and what several of them share. */
#include "family/family.h"

#include "core/status.h"
#include "arithmetic/finish.h"

#include <string.h>

const struct rd_family_code *rd_family_code(const reduct_reduction *reduction) {
    static const struct rd_family_code *const all[] = {
        [RD_EXACT_SUM] = &rd_exact_sum,         [RD_FAST_SUM] = &rd_fast_sum,
        [RD_INTEGER_SUM] = &rd_integer_sum,     [RD_EXTREME] = &rd_extreme_family,
        [RD_COUNT] = &rd_count_family,          [RD_BITS] = &rd_bits_family,
        [RD_FLOAT_PRODUCT] = &rd_float_product, [RD_INTEGER_PRODUCT] = &rd_integer_product};
    return all[rd_family(reduction)];
}

void rd_store(void *result, uint64_t bits, int bytes) {
    switch (bytes) {
    case 1:
        memcpy(result, &(uint8_t){(uint8_t)bits}, 1);
        break;
    case 2:
        memcpy(result, &(uint16_t){(uint16_t)bits}, 2);
        break;
    case 4:
        memcpy(result, &(uint32_t){(uint32_t)bits}, 4);
        break;
    default:
        memcpy(result, &bits, 8);
    }
}

void rd_store_failed(const reduct_reduction *reduction, void *result) {
    const struct rd_type *type = rd_type(reduction->result);
    unsigned char *place = result;
    memset(place, 0, rd_result_size(reduction));
    for (unsigned i = 0; type->kind == RD_FLOAT && i < rd_outputs(rd_operator(reduction->op)); i++)
        rd_store(place + i * type->bytes, rd_nan_bits(type), type->bytes);
}

struct rd_total rd_total_of(struct rd_partial *partial, struct rd_finish_room *room) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    return (struct rd_total){.transform = op->transform,
                             .finish = op->finish,
                             .population = partial->reduction.flags & REDUCT_POPULATION,
                             .is_float = rd_type(partial->reduction.element)->kind == RD_FLOAT,
                             .nonzero = partial->nonzero,
                             .count = rd_partial_count(partial),
                             .nans = partial->nans,
                             .plus_infinities = partial->plus_infinities,
                             .minus_infinities = partial->minus_infinities,
                             .sum = &partial->sum,
                             .squares = &partial->squares,
                             .room = room,
                             .high = partial->high,
                             .low = partial->low};
}

reduct_status rd_check_fit(const struct rd_partial *partial, bool fits, const struct rd_type *type, bool nor_any,
                           reduct_error *error) {
    if (fits || partial->reduction.flags & REDUCT_WRAP)
        return REDUCT_OK;
    return rd_fail(error, REDUCT_ERROR_OVERFLOW, "%s: the result does not fit %s%s",
                   rd_operator(partial->reduction.op)->name, type->name,
                   nor_any ? ", nor any other type: it has more than 256 bits" : "; a wider result type holds it");
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Limbs
 * ------------------------------------------------------------------------------------------------------------------ */

static bool has_squares(const struct rd_partial *partial) {
    enum rd_transform transform = rd_operator(partial->reduction.op)->transform;
    return transform == RD_MOMENTS || transform == RD_WEIGHTED;
}

void rd_sums_init(struct rd_partial *partial) {
    enum rd_transform transform = rd_operator(partial->reduction.op)->transform;
    const struct rd_type *element = rd_type(partial->reduction.element);
    rd_sum_init(&partial->sum, element, transform == RD_SQUARE || transform == RD_TIMES);
    if (has_squares(partial))
        rd_sum_init(&partial->squares, element, true);
}

void rd_sums_merge(struct rd_partial *partial, const struct rd_partial *other) {
    rd_sum_merge(&partial->sum, &other->sum);
    if (has_squares(partial))
        rd_sum_merge(&partial->squares, &other->squares);
}

static void walk_limbs(struct rd_walk *walk, struct rd_sum *sum) {
    for (int i = 0; i < sum->length; i++) {
        uint64_t word = (uint64_t)sum->limb[i];
        rd_walk_word(walk, &word);
        sum->limb[i] = (int64_t)word;
    }
}

void rd_sums_walk(struct rd_walk *walk, struct rd_partial *partial) {
    walk_limbs(walk, &partial->sum);
    if (has_squares(partial))
        walk_limbs(walk, &partial->squares);
}

void rd_sums_wire(struct rd_wire *wire, struct rd_partial *partial) {
    rd_wire_limbs(wire, &partial->sum);
    if (has_squares(partial))
        rd_wire_limbs(wire, &partial->squares);
}

void rd_sums_canonicalise(struct rd_partial *partial) {
    rd_sum_normalise(&partial->sum);
    if (has_squares(partial))
        rd_sum_normalise(&partial->squares);
}

/* Whether a sum in normal form is one that so many terms can have: a term reaches up to the two last limbs, and what stands in
 * these is at most one for each. */
static bool is_normal(const struct rd_sum *sum, uint64_t terms) {
    for (int i = 0; i < sum->length - 1; i++)
        if (sum->limb[i] < 0 || sum->limb[i] > 0xffffffff)
            return false;
    int64_t top = sum->limb[sum->length - 1];
    if (top < INT32_MIN || top > INT32_MAX) /* 2^63 terms reach 2^31 here */
        return false;
    int64_t carried = top * ((int64_t)1 << 32) + sum->limb[sum->length - 2];
    return (carried < 0 ? 0 - (uint64_t)carried : (uint64_t)carried) <= terms;
}

bool rd_sums_are_plausible(const struct rd_partial *partial) {
    uint64_t terms = rd_partial_count(partial);
    return is_normal(&partial->sum, terms) && (!has_squares(partial) || is_normal(&partial->squares, terms));
}
