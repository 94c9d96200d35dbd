/* Partial results: starting, merging, finishing. */
#include "exact/partial.h"

#include "core/environment.h"
#include "core/status.h"
#include "exact/finish.h"

#include <string.h>

void rd_partial_init(struct rd_partial *partial, const reduct_reduction *reduction) {
    const struct rd_operator *op = rd_operator(reduction->op);
    bool moments = op->transform == RD_MOMENTS;
    partial->reduction = *reduction;
    partial->seen = partial->ignored = 0;
    partial->nans = partial->plus_infinities = partial->minus_infinities = 0;
    partial->nonzero = false;
    if (op->combine == RD_MULTIPLY) {
        rd_product_init(&partial->product);
        partial->whole = (struct rd_whole){.magnitude = {1}};
    } else {
        bool products = op->transform == RD_SQUARE || op->transform == RD_PRODUCT;
        rd_sum_init(&partial->sum, rd_type(reduction->element), products);
    }
    if (moments)
        rd_sum_init(&partial->squares, rd_type(reduction->element), true);
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
    switch (type->kind) {
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

uint64_t rd_partial_alignment(const struct rd_partial *other) {
    bool product = rd_operator(other->reduction.op)->combine == RD_MULTIPLY;
    return product ? rd_product_alignment(&other->product) : 1; /* 1 for integers, too: they have no tree */
}

/* Joins two products. */
static void merge_products(struct rd_partial *partial, const struct rd_partial *other) {
    struct rd_product product = other->product; /* also where other == partial */
    struct rd_whole whole = other->whole;
    rd_environment caller = rd_environment_enter();
    rd_product_append(&partial->product, &product);
    rd_environment_leave(caller);
    rd_whole_multiply(&partial->whole, &whole, partial->reduction.flags & REDUCT_WRAP);
}

void rd_partial_merge(struct rd_partial *partial, const struct rd_partial *other) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    uint64_t offset = partial->seen, before = rd_partial_count(partial);
    if (other->nan_index != UINT64_MAX && other->nan_index + offset < partial->nan_index)
        partial->nan_index = other->nan_index + offset;
    if (rd_is_extreme(op)) {
        if (other->found)
            rd_partial_take(partial, other->extreme, other->index + offset);
    } else if (op->combine == RD_MULTIPLY) {
        merge_products(partial, other);
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

void rd_partial_begin(struct rd_partial *partial, const struct rd_partial *before) {
    rd_partial_init(partial, &before->reduction);
    if (rd_operator(before->reduction.op)->combine == RD_MULTIPLY)
        partial->product = before->product;
}

void rd_partial_follow(struct rd_partial *partial, const struct rd_partial *begun) {
    if (rd_operator(begun->reduction.op)->combine == RD_MULTIPLY)
        rd_product_init(&partial->product); /* it is in what was begun */
    rd_partial_merge(partial, begun);
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

/* What finishing needs to know of it. */
static struct rd_total total_of(struct rd_partial *partial, struct rd_finish_room *room) {
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

/* Whether an integer fits its result type, or need not. */
static reduct_status check_fit(const struct rd_partial *partial, bool fits, const struct rd_type *type,
                               reduct_error *error) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    if (fits || partial->reduction.flags & REDUCT_WRAP)
        return REDUCT_OK;
    return rd_fail(error, REDUCT_ERROR_OVERFLOW, "%s: the result does not fit %s%s", op->name, type->name,
                   op->combine == RD_MULTIPLY && partial->whole.overflow
                       ? ", nor any other type: it has more than 256 bits"
                       : "; a wider result type holds it");
}

/* Extremes: one of the elements, or an index. */
static void finish_extreme(const struct rd_partial *partial, const struct rd_type *type, void *result) {
    bool nan = partial->nan_index != UINT64_MAX;
    if (rd_operator(partial->reduction.op)->finish == RD_INDEX)
        store(result, nan ? partial->nan_index : partial->index, 8);
    else
        store(result, nan ? rd_nan_bits(type) : partial->extreme, type->bytes);
}

/* Sums. The partial result is a copy, as finishing normalises it. */
static reduct_status finish_sum(struct rd_partial partial, const struct rd_type *type, void *result,
                                reduct_error *error) {
    struct rd_finish_room room;
    struct rd_total total = total_of(&partial, &room);
    if (!rd_is_exact(&partial.reduction)) {
        rd_environment caller = rd_environment_enter();
        uint64_t bits = rd_finish_fast(&total, type);
        rd_environment_leave(caller);
        store(result, bits, type->bytes);
    } else if (type->kind == RD_FLOAT) {
        bool moments = total.transform == RD_MOMENTS;
        store(result, moments ? rd_finish_moments(&total, type) : rd_finish_float(&total, type), type->bytes);
    } else {
        uint64_t word[4];
        reduct_status status = check_fit(&partial, rd_finish_integer(&total, type, word), type, error);
        if (status != REDUCT_OK)
            return status;
        memcpy(result, word, type->bytes);
    }
    return REDUCT_OK;
}

static reduct_status finish_product(const struct rd_partial *partial, const struct rd_type *type, void *result,
                                    reduct_error *error) {
    if (type->kind == RD_FLOAT) {
        struct rd_product product = partial->product;
        struct rd_big room;
        rd_environment caller = rd_environment_enter();
        uint64_t bits = rd_finish_product(&product, partial->nans, type, &room);
        rd_environment_leave(caller);
        store(result, bits, type->bytes);
        return REDUCT_OK;
    }
    uint64_t word[4];
    reduct_status status = check_fit(partial, rd_finish_whole(&partial->whole, type, word), type, error);
    if (status == REDUCT_OK)
        memcpy(result, word, type->bytes);
    return status;
}

reduct_status rd_partial_finish(const struct rd_partial *partial, reduct_type type, void *result, reduct_error *error) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    uint64_t count = rd_partial_count(partial), minimum = rd_minimum(&partial->reduction);
    if (count < minimum)
        return rd_fail(error, REDUCT_ERROR_EMPTY, "%s of %llu element%s does not exist; it takes at least %llu",
                       op->name, (unsigned long long)count, count == 1 ? "" : "s", (unsigned long long)minimum);
    if (op->combine == RD_ADD)
        return finish_sum(*partial, rd_type(type), result, error);
    if (op->combine == RD_MULTIPLY)
        return finish_product(partial, rd_type(type), result, error);
    finish_extreme(partial, rd_type(type), result);
    return REDUCT_OK;
}
