/* Partial results: starting, merging, finishing. */
#include "exact/partial.h"

#include "core/environment.h"
#include "core/status.h"
#include "exact/big.h"
#include "exact/finish.h"

#include <math.h>
#include <string.h>

void rd_partial_init(struct rd_partial *partial, const reduct_reduction *reduction) {
    const struct rd_operator *op = rd_operator(reduction->op);
    bool moments = op->transform == RD_MOMENTS;
    partial->reduction = *reduction;
    partial->seen = partial->ignored = 0;
    partial->nans = partial->plus_infinities = partial->minus_infinities = 0;
    partial->nonzero = false;
    rd_sum_init(&partial->sum, reduction->element, op->transform == RD_SQUARE || op->transform == RD_PRODUCT);
    if (moments)
        rd_sum_init(&partial->squares, reduction->element, true);
    partial->high = moments ? 0 : -0.0; /* -0 is the identity of addition */
    partial->low = 0;
    partial->found = false;
    partial->extreme = 0;
    partial->index = 0;
    partial->nan_index = UINT64_MAX;
}

uint64_t rd_partial_count(const struct rd_partial *partial) {
    return partial->seen - partial->ignored;
}

void rd_partial_add_fast(struct rd_partial *partial, double high, double low) {
    /* 2Sum: D. E. Knuth, The Art of Computer Programming, volume 2, section 4.2.2. */
    double a = partial->high, b = high;
    double s = a + b;
    double rest = s - a;
    double error = (a - (s - rest)) + (b - rest);
    partial->high = s;
    partial->low += error + low;
}

void rd_partial_add_moments(struct rd_partial *partial, uint64_t before, uint64_t count, double mean,
                            double deviations) {
    /* T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample
     * variances", 1979. */
    if (!count)
        return;
    double total = (double)(before + count);
    double delta = mean - partial->high;
    partial->high = before ? partial->high + delta * ((double)count / total) : mean;
    partial->low += deviations + (before ? delta * delta * ((double)before * ((double)count / total)) : 0);
}

/* An integer that orders as the elements do, -0 below +0. NaN is not ordered. */
static int64_t order(uint64_t bits, const struct rd_type *type) {
    int shift = 64 - 8 * type->bytes;
    int64_t wide = (int64_t)(bits << shift);
    switch (type->class) {
    case RD_FLOAT:
        return wide ^ (int64_t)((uint64_t)(wide >> 63) >> 1);
    case RD_UNSIGNED:
        return wide ^ INT64_MIN;
    default:
        return wide;
    }
}

void rd_partial_take(struct rd_partial *partial, uint64_t bits, uint64_t index) {
    const struct rd_type *type = rd_type(partial->reduction.element);
    struct rd_type magnitude = *type;
    if (rd_operator(partial->reduction.op)->transform == RD_ABSOLUTE && type->class == RD_SIGNED)
        magnitude.class = RD_UNSIGNED;
    int64_t new = order(bits, &magnitude), old = order(partial->extreme, &magnitude);
    bool least = rd_operator(partial->reduction.op)->combine == RD_LEAST;
    if (!partial->found || (least ? new < old : new > old) || (new == old &&index < partial->index)) {
        partial->found = true;
        partial->extreme = bits;
        partial->index = index;
    }
}

void rd_partial_merge(struct rd_partial *partial, const struct rd_partial *other) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    uint64_t offset = partial->seen, before = rd_partial_count(partial);
    if (other->nan_index != UINT64_MAX && other->nan_index + offset < partial->nan_index)
        partial->nan_index = other->nan_index + offset;
    if (op->combine != RD_ADD) {
        if (other->found)
            rd_partial_take(partial, other->extreme, other->index + offset);
    } else if (rd_is_exact(&partial->reduction)) {
        rd_sum_merge(&partial->sum, &other->sum);
        if (op->transform == RD_MOMENTS)
            rd_sum_merge(&partial->squares, &other->squares);
    } else {
        rd_environment caller = rd_environment_enter();
        if (op->transform == RD_MOMENTS)
            rd_partial_add_moments(partial, before, rd_partial_count(other), other->high, other->low);
        else
            rd_partial_add_fast(partial, other->high, other->low);
        rd_environment_leave(caller);
    }
    partial->seen += other->seen;
    partial->ignored += other->ignored;
    partial->nans += other->nans;
    partial->plus_infinities += other->plus_infinities;
    partial->minus_infinities += other->minus_infinities;
    partial->nonzero |= other->nonzero;
}

static void store(void *result, uint64_t bits, int bytes) {
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

static uint64_t infinity_bits(const struct rd_type *type) {
    return (uint64_t)(2 * type->max_exponent + 1) << (type->precision - 1);
}

/* The canonical quiet NaN: positive, only the first bit of the significand set. */
static uint64_t nan_bits(const struct rd_type *type) {
    return infinity_bits(type) | (uint64_t)1 << (type->precision - 2);
}

static uint64_t sign_bit(const struct rd_type *type) {
    return (uint64_t)1 << (8 * type->bytes - 1);
}

/* Rounds a double into any floating-point type. */
static uint64_t round_double(double x, const struct rd_type *type) {
    if (isnan(x))
        return nan_bits(type);
    if (isinf(x))
        return infinity_bits(type) | (x < 0 ? sign_bit(type) : 0);
    if (x == 0)
        return signbit(x) ? sign_bit(type) : 0;
    struct rd_sum sum;
    struct rd_big value;
    rd_sum_init(&sum, REDUCT_F64, false);
    rd_sum_add_double(&sum, x, 0);
    bool negative = rd_big_from_sum(&value, &sum);
    return rd_big_round(&value, negative, type);
}

static uint64_t finish_exact(const struct rd_partial *partial, const struct rd_type *type) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    bool infinite = partial->plus_infinities || partial->minus_infinities;
    if (partial->nans || (partial->plus_infinities && partial->minus_infinities) ||
        (infinite && op->transform == RD_MOMENTS))
        return nan_bits(type);
    if (infinite)
        return infinity_bits(type) | (partial->minus_infinities ? sign_bit(type) : 0);
    uint64_t bits = rd_finish_float(partial, type);
    bool signed_terms = op->transform == RD_IDENTITY || op->transform == RD_PRODUCT;
    bool is_float = rd_type(partial->reduction.element)->class == RD_FLOAT;
    if (!bits && is_float && signed_terms && !partial->nonzero && rd_partial_count(partial))
        return sign_bit(type);
    return bits;
}

/* sqrt() is correctly rounded in IEEE 754, and an instruction wherever that matters. */
static double finish_fast(const struct rd_partial *partial) {
    double n = (double)rd_partial_count(partial);
    if (n == 0)
        return 0; /* +0, where there is a result at all */
    double value = partial->low == 0 || !isfinite(partial->high) ? partial->high : partial->high + partial->low;
    bool population = partial->reduction.flags & REDUCT_POPULATION;
    double variance = (isnan(partial->high) ? partial->high : partial->low) / (population ? n : n - 1);
    switch (rd_operator(partial->reduction.op)->finish) {
    case RD_MEAN:
        return value / n;
    case RD_ROOT:
        return sqrt(value);
    case RD_ROOT_MEAN:
        return sqrt(value / n);
    case RD_VARIANCE:
        return variance;
    case RD_DEVIATION:
        return sqrt(variance);
    default:
        return value;
    }
}

static reduct_status finish_integer(const struct rd_partial *partial, const struct rd_type *type, void *result,
                                    reduct_error *error) {
    uint64_t word[4];
    if (!rd_finish_integer(partial, type, word) && !(partial->reduction.flags & REDUCT_WRAP))
        return rd_fail(error, REDUCT_ERROR_OVERFLOW, "%s: the result does not fit %s; a wider result type holds it",
                       rd_operator(partial->reduction.op)->name, type->name);
    memcpy(result, word, type->bytes);
    return REDUCT_OK;
}

/* Extremes: one of the elements, or an index. */
static void finish_extreme(const struct rd_partial *partial, const struct rd_type *type, void *result) {
    bool nan = partial->nan_index != UINT64_MAX;
    if (rd_operator(partial->reduction.op)->finish == RD_INDEX)
        store(result, nan ? partial->nan_index : partial->index, 8);
    else
        store(result, nan ? nan_bits(type) : partial->extreme, type->bytes);
}

reduct_status rd_partial_finish(const struct rd_partial *partial, reduct_type type, void *result, reduct_error *error) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    const struct rd_type *into = rd_type(type);
    uint64_t count = rd_partial_count(partial), minimum = rd_minimum(&partial->reduction);
    if (count < minimum)
        return rd_fail(error, REDUCT_ERROR_EMPTY, "%s of %llu element%s does not exist; it takes at least %llu",
                       op->name, (unsigned long long)count, count == 1 ? "" : "s", (unsigned long long)minimum);
    if (op->combine != RD_ADD) {
        finish_extreme(partial, into, result);
    } else if (!rd_is_exact(&partial->reduction)) {
        rd_environment caller = rd_environment_enter();
        double value = finish_fast(partial);
        rd_environment_leave(caller);
        store(result, round_double(value, into), into->bytes);
    } else if (into->class == RD_FLOAT) {
        store(result, finish_exact(partial, into), into->bytes);
    } else {
        return finish_integer(partial, into, result, error);
    }
    return REDUCT_OK;
}
