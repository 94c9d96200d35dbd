/* Extremes: one of the elements, or its index; or the least and the greatest, or how far these are apart. The first NaN makes
 * everything else void, where NaNs are not ignored. */
#include "arithmetic/finish.h"
#include "arithmetic/order.h"
#include "family/family.h"

static void init(struct rd_partial *partial) {
    partial->found = false;
    partial->extreme = 0;
    partial->index = 0;
    partial->greatest = 0;
}

static int64_t order(uint64_t bits, const struct rd_type *type) {
    return rd_order(bits, type->kind, type->bytes);
}

/* The type that extremes are ordered as: absolute values of signed integers are unsigned. */
static struct rd_type ordered_type(const struct rd_partial *partial) {
    struct rd_type type = *rd_type(partial->reduction.element);
    if (rd_operator(partial->reduction.op)->transform == RD_ABSOLUTE && type.kind == RD_SIGNED)
        type.kind = RD_UNSIGNED;
    return type;
}

void rd_partial_take(struct rd_partial *partial, uint64_t bits, uint64_t index) {
    struct rd_type type = ordered_type(partial);
    int64_t new = order(bits, &type), old = order(partial->extreme, &type);
    bool least = rd_operator(partial->reduction.op)->combine == RD_LEAST;
    if (!partial->found || (least ? new < old : new > old) || (new == old &&index < partial->index)) {
        partial->found = true;
        partial->extreme = bits;
        partial->index = index;
    }
}

void rd_partial_take_both(struct rd_partial *partial, uint64_t least, uint64_t greatest) {
    const struct rd_type *type = rd_type(partial->reduction.element);
    if (!partial->found || order(least, type) < order(partial->extreme, type))
        partial->extreme = least;
    if (!partial->found || order(greatest, type) > order(partial->greatest, type))
        partial->greatest = greatest;
    partial->found = true;
}

static bool wants_both(const struct rd_partial *partial) {
    return rd_operator(partial->reduction.op)->combine == RD_BOTH;
}

static void merge(struct rd_partial *partial, const struct rd_partial *other) {
    if (!other->found)
        return;
    if (wants_both(partial))
        rd_partial_take_both(partial, other->extreme, other->greatest);
    else
        rd_partial_take(partial, other->extreme, other->index + partial->seen);
}

static bool gives_index(const struct rd_partial *partial) {
    return rd_operator(partial->reduction.op)->finish == RD_INDEX;
}

/* Adds the finite float of these bits, or subtracts it. */
static void add_float(struct rd_sum *sum, uint64_t bits, const struct rd_type *type, bool subtract) {
    int stored = type->precision - 1;
    uint64_t field = bits >> stored & (uint64_t)(2 * type->max_exponent + 1),
             significand = (bits & (((uint64_t)1 << stored) - 1)) | (uint64_t)(field != 0) << stored;
    bool negative = (bits >> (8 * type->bytes - 1)) != subtract;
    rd_sum_add(sum, negative ? -(rd_i128)significand : (rd_i128)significand,
               (int)(field + !field) - type->max_exponent - stored);
}

static bool is_infinite(uint64_t bits, const struct rd_type *type) {
    uint64_t infinity = (uint64_t)(2 * type->max_exponent + 1) << (type->precision - 1);
    return (bits & infinity) == infinity;
}

/* The greatest less the least, rounded once; of one infinity twice NaN, as IEEE 754 subtracts. */
static uint64_t range_of_floats(const struct rd_partial *partial, const struct rd_type *type) {
    const struct rd_type *element = rd_type(partial->reduction.element);
    bool low = is_infinite(partial->extreme, element), high = is_infinite(partial->greatest, element);
    struct rd_sum sum;
    struct rd_finish_room room;
    struct rd_total total = {.is_float = true, .nonzero = true, .count = 2, .sum = &sum, .room = &room};
    total.nans = low && high && partial->extreme == partial->greatest;
    total.plus_infinities = low || high;
    rd_sum_init(&sum, element, false);
    if (!low && !high) {
        add_float(&sum, partial->greatest, element, false);
        add_float(&sum, partial->extreme, element, true);
    }
    return rd_finish_float(&total, type);
}

static uint64_t range_of(const struct rd_partial *partial, const struct rd_type *type) {
    if (rd_type(partial->reduction.element)->kind == RD_FLOAT)
        return range_of_floats(partial, type);
    return partial->greatest - partial->extreme; /* modulo 2^bits, which it is below */
}

static reduct_status finish(const struct rd_partial *partial, const struct rd_type *type, void *result,
                            reduct_error *error) {
    (void)error;
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    bool nan = partial->nan_index != UINT64_MAX;
    if (gives_index(partial))
        rd_store(result, nan ? partial->nan_index : partial->index, 8);
    else if (op->finish == RD_RANGE)
        rd_store(result, nan ? rd_nan_bits(type) : range_of(partial, type), type->bytes);
    else
        rd_store(result, nan ? rd_nan_bits(type) : partial->extreme, type->bytes);
    if (rd_outputs(op) == 2)
        rd_store((unsigned char *)result + type->bytes, nan ? rd_nan_bits(type) : partial->greatest, type->bytes);
    return REDUCT_OK;
}

static void walk(struct rd_walk *walk, struct rd_partial *partial) {
    uint64_t found = partial->found;
    rd_walk_word(walk, &found);
    partial->found = found;
    rd_walk_word(walk, &partial->extreme);
    rd_walk_word(walk, &partial->index);
    rd_walk_word(walk, &partial->nan_index);
    if (wants_both(partial))
        rd_walk_word(walk, &partial->greatest);
}

/* The element whose order() is that. */
static uint64_t bits_of(int64_t ordered, const struct rd_type *type) {
    int shift = 64 - 8 * type->bytes;
    int64_t wide = ordered;
    switch (type->kind) {
    case RD_FLOAT:
        wide ^= (int64_t)((uint64_t)(wide >> 63) >> 1);
        break;
    case RD_UNSIGNED:
        wide ^= INT64_MIN;
        break;
    case RD_SIGNED:
        break;
    }
    return (uint64_t)wide >> shift;
}

/* One extreme as a word of which the least is the extreme of all: in order or, of the greatest, in reverse. */
static void wire_extreme(struct rd_wire *wire, const struct rd_partial *partial, uint64_t *extreme, bool least) {
    struct rd_type type = ordered_type(partial);
    int64_t word = order(*extreme, &type);
    word = !partial->found ? INT64_MAX : least ? word : ~word;
    rd_wire_rest(wire, REDUCT_MERGE_LEAST, &word);
    if (wire->doing == RD_WIRE_READING)
        *extreme = partial->found ? bits_of(least ? word : ~word, &type) : 0;
}

/* Where the index is wanted, parts must be merged in order. */
static void wire(struct rd_wire *wire, struct rd_partial *partial) {
    if (gives_index(partial)) {
        rd_wire_saved(wire, partial);
        return;
    }
    uint64_t found = partial->found, nan = partial->nan_index != UINT64_MAX;
    rd_wire_add(wire, &found);
    rd_wire_add(wire, &nan);
    partial->found = found;
    partial->nan_index = nan ? 0 : UINT64_MAX;
    wire_extreme(wire, partial, &partial->extreme, rd_operator(partial->reduction.op)->combine != RD_GREATEST);
    if (wants_both(partial))
        wire_extreme(wire, partial, &partial->greatest, false);
}

/* No trace of an extreme that a NaN has made void, or of where it was found when only its value counts. */
static void canonicalise(struct rd_partial *partial) {
    if (partial->nan_index != UINT64_MAX) {
        partial->found = false;
        partial->extreme = 0;
        partial->greatest = 0;
    }
    if (!gives_index(partial) || !partial->found)
        partial->index = 0;
}

static bool is_plausible(const struct rd_partial *partial) {
    const struct rd_type *type = rd_type(partial->reduction.element);
    int bits = 8 * type->bytes;
    bool fits = bits == 64 || (partial->extreme | partial->greatest) >> bits == 0;
    if (wants_both(partial) && order(partial->extreme, type) > order(partial->greatest, type))
        return false;
    bool nan_inside =
        partial->nan_index == UINT64_MAX || (type->kind == RD_FLOAT && partial->nan_index < partial->seen);
    return fits && nan_inside && (partial->found ? partial->index < partial->seen : partial->index == 0);
}

const struct rd_family_code rd_extreme_family = {.init = init,
                                                 .merge = merge,
                                                 .finish = finish,
                                                 .walk = walk,
                                                 .wire = wire,
                                                 .canonicalise = canonicalise,
                                                 .is_plausible = is_plausible};
