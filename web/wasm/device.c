/* The last step of a reduction on a WebGPU device: what src/shaders/exact.wgsl leaves in its accumulator becomes a
 * partial result of the library, which rounds it. */
#include "core/reduction.h"
#include "core/status.h"
#include "state/partial.h"

/* The words of the device's accumulator, as exact.wgsl has them. */
enum {
    DIGITS = 40, /* 16 bits each, in int32 words that hold more: they have not been carried */
    NAN_ELEMENTS = DIGITS,
    NAN_TERMS, /* 0 * infinity */
    PLUS_INFINITIES,
    MINUS_INFINITIES,
    NONZERO,   /* some term was other than -0 */
    FIRST_NAN, /* all ones less the index of the first NaN element, or 0 */
    LEAST,     /* all ones less the order of the least element that is not NaN, or 0 */
    GREATEST,  /* the order of the greatest one */
    WORDS
};

/* Exponents of the lowest bit of a float, and of a product of two. */
enum { LOWEST_ELEMENT = -149, LOWEST_PRODUCT = 2 * LOWEST_ELEMENT };

/* The bits of a float from its place in the order -infinity ... -0, +0 ... infinity, which begins above 0. */
static uint32_t bits_of_order(uint32_t order) {
    return order >> 31 ? order & 0x7fffffff : ~order;
}

/* Carries, so that digits beyond the number are zero: those that carried a negative number's sign upwards would not fit
 * the sum's layout. */
static void take_digits(struct rd_sum *sum, const uint32_t *words, int lowest) {
    int32_t digit[DIGITS];
    int64_t carry = 0;
    for (int i = 0; i < DIGITS; i++) {
        int64_t value = (int32_t)words[i] + carry;
        digit[i] = (int32_t)(value & 0xffff);
        carry = value >> 16;
    }
    bool negative = carry < 0; /* then the digits are its complement */
    carry = 1;
    for (int i = 0; negative && i < DIGITS; i++) {
        int32_t value = (0xffff - digit[i]) + (int32_t)carry;
        digit[i] = value & 0xffff;
        carry = value >> 16;
    }
    for (int i = 0; i < DIGITS; i++)
        if (digit[i])
            rd_sum_add(sum, negative ? -digit[i] : digit[i], lowest + 16 * i);
}

static void take_extreme(struct rd_partial *partial, const uint32_t *words) {
    bool least = rd_operator(partial->reduction.op)->combine == RD_LEAST;
    uint32_t order = least ? ~words[LEAST] : words[GREATEST];
    if (least ? words[LEAST] : words[GREATEST])
        rd_partial_take(partial, bits_of_order(order), 0);
}

static void take(struct rd_partial *partial, const uint32_t *words, const uint32_t *squares, uint64_t count) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    bool ignore = partial->reduction.nan == REDUCT_NAN_IGNORE;
    bool products = op->transform == RD_SQUARE || op->transform == RD_TIMES;
    if (op->combine == RD_ADD)
        take_digits(&partial->sum, words, products ? LOWEST_PRODUCT : LOWEST_ELEMENT);
    else
        take_extreme(partial, words);
    if (squares)
        take_digits(&partial->squares, squares, LOWEST_PRODUCT);
    partial->seen = count;
    partial->ignored = ignore ? words[NAN_ELEMENTS] : 0;
    partial->nans = (ignore ? 0 : words[NAN_ELEMENTS]) + (uint64_t)words[NAN_TERMS];
    partial->plus_infinities = words[PLUS_INFINITIES];
    partial->minus_infinities = words[MINUS_INFINITIES];
    partial->nonzero = words[NONZERO] != 0;
    if (!ignore && words[FIRST_NAN])
        partial->nan_index = ~words[FIRST_NAN];
}

/* Rounds the accumulator of `count` f32 elements, and for var and std also that of their squares (otherwise null), into
 * the reduction's result type. `*counted`: the elements that were not ignored. */
__attribute__((export_name("reduct_device_result"))) reduct_status
reduct_device_result(const reduct_reduction *reduction, const uint32_t *words, const uint32_t *squares, uint64_t count,
                     void *result, uint64_t *counted, reduct_error *error);

reduct_status reduct_device_result(const reduct_reduction *reduction, const uint32_t *words, const uint32_t *squares,
                                   uint64_t count, void *result, uint64_t *counted, reduct_error *error) {
    reduct_reduction resolved = *reduction;
    reduct_status status = reduct_reduction_resolve(&resolved, error);
    if (status != REDUCT_OK)
        return status;
    struct rd_partial partial;
    rd_partial_init(&partial, &resolved);
    take(&partial, words, squares, count);
    if (resolved.nan == REDUCT_NAN_ERROR && partial.nan_index != UINT64_MAX)
        return rd_fail_at(error, REDUCT_ERROR_NAN, partial.nan_index, "element %llu is NaN",
                          (unsigned long long)partial.nan_index);
    *counted = rd_partial_count(&partial);
    return rd_partial_finish(&partial, resolved.result, result, error);
}
