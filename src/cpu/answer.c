/* Few elements, answered without a partial result. Of exact sums its limbs for every exponent would take longer than all else:
 * sums in two doubles, sums of products, so many at a time, in four, and limbs for no more exponents than these have. */
#include "cpu/answer.h"

#include "arithmetic/finish.h"
#include "core/environment.h"
#include "core/reduction.h"
#include "cpu/kernels.h"
#include "cpu/numbers.h"
#include "family/family.h"

#include <string.h>

/* Writes high + low, rounded as the contract has it: once. False for zeros, whose sign is another question, and for what
 * overflows. */
static bool round_sum(double high, double low, reduct_type type, void *result) {
    double sum = type == REDUCT_F64 ? high + low : rd_add_to_odd(high, low);
    float narrow = (float)sum;
    if (sum == 0 || sum - sum != 0)
        return false;
    if (type == REDUCT_F64)
        memcpy(result, &sum, sizeof sum);
    else
        memcpy(result, &narrow, sizeof narrow);
    return true;
}

/* -1 for zeros. Without arithmetic or comparisons of floats: these mark subnormal numbers in the caller's environment. */
static int exponent_field(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits << 1 ? (int)(bits >> 52 & 0x7ff) : -1;
}

/* A sum in so many doubles. */
struct parts {
    double part[4 * RD_BRIEF / RD_FEW];
    int count;
};

/* The sum of finite doubles, in a layout of the limbs that they reach and two for their sum. False if it is zero, whose sign is
 * another question. */
static bool add_parts(struct rd_sum *sum, const struct parts *parts) {
    int least = 0x7ff, greatest = -1;
    for (int i = 0; i < parts->count; i++) {
        int field = exponent_field(parts->part[i]);
        least = field >= 0 && field < least ? field : least;
        greatest = field > greatest ? field : greatest;
    }
    bool zero = greatest < 0;
    least = zero ? 0 : least;
    greatest = zero ? 0 : greatest;
    sum->first = least / 32 - 34; /* from 2^(least - 1088), below 2^(least - 1075) */
    sum->length = greatest / 32 - least / 32 + 5;
    sum->pending = 0;
    memset(sum->limb, 0, (size_t)sum->length * sizeof *sum->limb);
    for (int i = 0; i < parts->count; i++)
        rd_sum_add_double(sum, parts->part[i], 0);
    return !zero;
}

uint64_t rd_cpu_finish_sums(const reduct_reduction *reduction, uint64_t count, struct rd_sum *sum,
                            struct rd_sum *squares) {
    const struct rd_operator *op = rd_operator(reduction->op);
    const struct rd_type *type = rd_type(reduction->result);
    struct rd_finish_room room;
    struct rd_total total = {.transform = op->transform,
                             .finish = op->finish,
                             .population = reduction->flags & REDUCT_POPULATION,
                             .is_float = true,
                             .nonzero = true,
                             .count = count,
                             .sum = sum,
                             .squares = squares,
                             .room = &room};
    return squares ? rd_finish_moments(&total, type) : rd_finish_float(&total, type);
}

/* Rounds a sum, or moments, which have a sum of squares, too. */
static __attribute__((noinline)) bool finish_parts(const reduct_reduction *reduction, const struct parts *terms,
                                                   const struct parts *products, uint64_t count, void *result) {
    const bool moments = rd_operator(reduction->op)->transform == RD_MOMENTS;
    struct rd_sum sum, squares;
    if (!add_parts(&sum, terms) && !moments)
        return false;
    if (moments)
        add_parts(&squares, products);
    rd_store(result, rd_cpu_finish_sums(reduction, count, &sum, moments ? &squares : NULL),
             rd_type(reduction->result)->bytes);
    return true;
}

static bool answer_sum(const struct rd_kernels *kernels, const reduct_reduction *reduction,
                       const struct rd_operator *op, const void *x, uint64_t count, void *result) {
    const bool absolute = op->transform == RD_ABSOLUTE,
               rounds_at_once =
                   op->finish == RD_VALUE && (reduction->result == REDUCT_F64 || reduction->result == REDUCT_F32);
    struct parts sum;
    sum.count = 2;
    rd_environment caller = rd_environment_enter();
    bool held = kernels->brief[reduction->element](x, count, absolute, &sum.part[0], &sum.part[1]);
    bool done = held && rounds_at_once && round_sum(sum.part[0], sum.part[1], reduction->result, result);
    rd_environment_leave(caller);
    return done || (held && !rounds_at_once && finish_parts(reduction, &sum, NULL, count, result));
}

/* A sum of products or, where `y` is `x`, of squares, or moments. */
static __attribute__((noinline)) bool answer_products(const struct rd_kernels *kernels,
                                                      const reduct_reduction *reduction, bool moments, const void *x,
                                                      const void *y, uint64_t count, void *result) {
    const unsigned char *at = x, *beside = y;
    const size_t bytes = rd_type(reduction->element)->bytes;
    struct parts sum, products;
    sum.count = 2;
    products.count = 0;
    rd_environment caller = rd_environment_enter();
    bool held = !moments || kernels->brief[reduction->element](x, count, false, &sum.part[0], &sum.part[1]);
    for (uint64_t done = 0, some; held && done < count; done += some, products.count += 4) {
        some = count - done < kernels->most_products ? count - done : kernels->most_products;
        held = kernels->brief_products[reduction->element](at + done * bytes, beside + done * bytes, some,
                                                           products.part + products.count);
    }
    rd_environment_leave(caller);
    if (!held)
        return false;
    return moments ? finish_parts(reduction, &sum, &products, count, result)
                   : finish_parts(reduction, &products, NULL, count, result);
}

bool rd_cpu_answer(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count, void *result) {
    const reduct_reduction *reduction = &prepared->reduction;
    const struct rd_kernels *kernels = prepared->device.private;
    const struct rd_operator *op = rd_operator(reduction->op);
    if (count && rd_family(reduction) == RD_EXTREME)
        return rd_cpu_answer_extreme(prepared, x, count, result);
    const uint64_t brief = rd_type(reduction->element)->bytes < 8 ? RD_BRIEF_NARROW : RD_BRIEF;
    if (!count || reduction->mode != REDUCT_EXACT || op->combine != RD_ADD ||
        rd_type(reduction->element)->kind != RD_FLOAT)
        return false;
    switch (op->transform) {
    case RD_IDENTITY:
    case RD_ABSOLUTE:
        return count <= brief && answer_sum(kernels, reduction, op, x, count, result);
    case RD_TIMES:
    case RD_SQUARE:
    case RD_MOMENTS:
        if (count < rd_minimum(reduction))
            return false;
        if (count > kernels->most_products && kernels->close[reduction->element] &&
            rd_cpu_answer_closely(prepared, x, y, count, result))
            return true;
        return count <= RD_BRIEF &&
               answer_products(kernels, reduction, op->transform == RD_MOMENTS, x, y ? y : x, count, result);
    case RD_WEIGHTED:
    case RD_PRESENT:
    case RD_NONZERO:
        break;
    }
    return false;
}
