/* Sums of doubles: see quick.h. All here is in integers, as the caller's floating-point environment may be any. */
#include "mpi/quick.h"

#include "mpi/device.h"
#include "mpi/message.h"

#include <stdlib.h>
#include <string.h>

/* The most elements of a field: that are added here, and that are added by an accumulator, which may have to be done again where sums do not
 * fit. And so few fields that their words lie close together. */
enum { ELEMENTS = 16, MORE_ELEMENTS = 4096, FEW = 6 };

/* Digits in base 2^32 from 2^-128 on; and two more for what they come to. */
enum { DIGITS = RM_NARROW_F64, LEAST = -128, WIDE = DIGITS + 2, WORDS = 1 + DIGITS };

/* Words of a short message of so few. */
enum { FEW_WORDS = RM_HEAD + FEW * (WORDS + 6) };

__extension__ typedef unsigned __int128 wide;

/* Where a double has what. */
enum { SIGNIFICAND_BITS = 52, EXPONENT_MOST = 0x7ff, BIAS = 1023 };
#define SIGNIFICAND_MASK (((uint64_t)1 << SIGNIFICAND_BITS) - 1)

/* ---------------------------------------------------------------------------------------------------------------------
 * From elements to words
 * ------------------------------------------------------------------------------------------------------------------ */

static bool is_zero(const uint64_t *words, size_t count) {
    uint64_t any = 0;
    for (size_t i = 0; i < count; i++)
        any |= words[i];
    return !any;
}

static bool is_plain_sum(const reduct_reduction *reduction) {
    return reduction->op == REDUCT_SUM && reduction->element == REDUCT_F64 &&
           (reduction->result == REDUCT_DEFAULT || reduction->result == REDUCT_F64) &&
           reduction->mode == REDUCT_EXACT && reduction->nan == REDUCT_NAN_PROPAGATE && !reduction->flags &&
           is_zero(reduction->reserved, sizeof reduction->reserved / sizeof *reduction->reserved);
}

/* Whether there is nothing to say against a field, and it is on the host. */
static bool suits(const reduct_mpi_field *field, bool writes) {
    if (!is_zero(field->reserved, sizeof field->reserved / sizeof *field->reserved) ||
        !is_plain_sum(field->reduction) || field->count > MORE_ELEMENTS || field->y || (writes && !field->result) ||
        (uintptr_t)field->x % sizeof(double) || (field->count && !field->x))
        return false;
    const bool chooses = !field->device || strcmp(field->device, "auto") == 0;
    return chooses ? !field->count || !rm_on_device(field->x) : strcmp(field->device, "cpu") == 0;
}

/* Adds an element, unless it is zero; false where it has bits that the digits have no room for, or is not finite. */
static bool add(uint64_t bits, int64_t digit[WIDE]) {
    const int exponent = (int)(bits >> SIGNIFICAND_BITS & EXPONENT_MOST);
    const int at = exponent - BIAS - SIGNIFICAND_BITS - LEAST; /* of its last bit */
    if (!(bits << 1))
        return true;
    if (at < 0 || at + SIGNIFICAND_BITS >= 32 * DIGITS)
        return false;
    const wide shifted = (wide)((bits & SIGNIFICAND_MASK) | (uint64_t)1 << SIGNIFICAND_BITS) << at % 32;
    const int64_t sign = bits >> 63 ? -1 : 1;
    digit[at / 32] += sign * (int64_t)(shifted & UINT32_MAX);
    digit[at / 32 + 1] += sign * (int64_t)(shifted >> 32 & UINT32_MAX);
    digit[at / 32 + 2] += sign * (int64_t)(shifted >> 64);
    return true;
}

/* Carries, so that all digits but the last are not negative, and less than the base. Returns whether the whole is negative. */
static bool carry(int64_t digit[WIDE]) {
    for (int i = 0; i + 1 < WIDE; i++) {
        digit[i + 1] += digit[i] >> 32;
        digit[i] &= UINT32_MAX;
    }
    return digit[WIDE - 1] < 0;
}

/* Makes of digits those of the magnitude, none negative; returns whether the whole was negative. */
static bool make_magnitude(int64_t digit[WIDE]) {
    const bool negative = carry(digit);
    for (int i = 0; i < WIDE && negative; i++)
        digit[i] = -digit[i];
    if (negative)
        carry(digit);
    return negative;
}

/* The same of more elements, by an accumulator that is made for the first of such fields. */
static bool pack_more(const reduct_mpi_field *field, int64_t *words, reduct_accumulator **accumulator) {
    const reduct_accumulator_options options = {.reduction = field->reduction, .device = "cpu"};
    int64_t state[RM_ROW] /* not cleared */;
    if (!*accumulator && reduct_accumulator_create(&options, accumulator, NULL) != REDUCT_OK)
        return false;
    reduct_accumulator_reset(*accumulator);
    return reduct_accumulator_add(*accumulator, field->x, NULL, field->count, NULL) == REDUCT_OK &&
           reduct_accumulator_pack(*accumulator, state, NULL) == REDUCT_OK && rm_brief_pack(state, RM_WIDTH_F64, words);
}

/* Writes the words of a field; false where they are not for a short message. */
static bool pack(const reduct_mpi_field *field, int64_t *words) {
    const uint64_t negative_zero = (uint64_t)1 << 63;
    int64_t digit[WIDE] = {0};
    bool nonzero = field->count == 0;
    for (uint64_t i = 0; i < field->count; i++) {
        uint64_t bits;
        memcpy(&bits, (const unsigned char *)field->x + i * sizeof bits, sizeof bits);
        nonzero = nonzero || bits != negative_zero;
        if (!add(bits, digit))
            return false;
    }
    const bool negative = field->count > 1 && make_magnitude(digit); /* one element is its own magnitude's digits */
    words[0] = (int64_t)field->count;
    for (int i = 0; i < DIGITS; i++)
        words[1 + i] = negative ? -digit[i] : digit[i];
    return nonzero && digit[DIGITS] == 0;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * From words to results
 * ------------------------------------------------------------------------------------------------------------------ */

static uint64_t magnitude_bits(const int64_t digit[WIDE], int top) {
    const wide high = (wide)(uint64_t)digit[top] << 64 | (uint64_t)(top > 0 ? digit[top - 1] : 0) << 32 |
                      (uint64_t)(top > 1 ? digit[top - 2] : 0);
    const int length = 64 - __builtin_clzll((uint64_t)digit[top]); /* of the first digit */
    uint64_t left = (uint64_t)(high >> length);                    /* 64 bits, the first one set */
    left |= ((wide)left << length) != high;
    for (int i = 0; i < top - 2; i++)
        left |= digit[i] != 0; /* nothing but whether there is any */
    const int drop = 63 - SIGNIFICAND_BITS;
    const uint64_t kept = left >> drop, rest = left & (((uint64_t)1 << drop) - 1), half = (uint64_t)1 << (drop - 1);
    const uint64_t exponent = (uint64_t)(LEAST + 32 * top + length - 1 + BIAS);
    /* A carry out of the significand goes on into the exponent. */
    return (exponent << SIGNIFICAND_BITS) + (kept & SIGNIFICAND_MASK) + (rest > half || (rest == half && (kept & 1)));
}

/* Of a sum that is zero +0: some element was not -0, or there were none. */
static uint64_t result_bits(const int64_t *words) {
    int64_t digit[WIDE] = {0};
    memcpy(digit, words + 1, DIGITS * sizeof *digit);
    const bool negative = make_magnitude(digit);
    int top = WIDE - 1;
    while (top >= 0 && !digit[top])
        top--;
    return top < 0 ? 0 : (uint64_t)negative << 63 | magnitude_bits(digit, top);
}

static void write_results(const reduct_mpi_field *fields, size_t count, const int64_t *words) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = result_bits(words + i * WORDS);
        memcpy(fields[i].result, &bits, sizeof bits);
    }
}

/* With room for the words of all fields. */
static enum rm_quick reduce(struct rm_brief *brief, const reduct_mpi_field *fields, size_t count, bool writes,
                            MPI_Comm comm, reduct_status *status, reduct_error *error) {
    static const struct rm_failure NONE;
    reduct_accumulator *accumulator = NULL;
    bool packed = true;
    for (size_t i = 0; i < count && packed; i++) {
        int64_t *words = brief->sent + RM_HEAD + i * WORDS;
        packed = fields[i].reduction && suits(&fields[i], writes) &&
                 (fields[i].count <= ELEMENTS ? pack(&fields[i], words) : pack_more(&fields[i], words, &accumulator));
    }
    reduct_accumulator_destroy(accumulator);
    if (!packed)
        return RM_QUICK_NOT;
    const size_t used = RM_HEAD + count * WORDS, opening = rm_opening(count);
    const struct rm_fields all = {.fields = fields, .count = count};
    brief->all = &all;
    brief->words = opening ? opening : used;
    brief->asks = opening == 0;
    brief->fits = true;
    for (size_t i = used; i < opening; i++)
        brief->sent[i] = 0;
    *status = rm_brief_exchange(brief, &NONE, fields, comm, error);
    if (*status == REDUCT_OK && !brief->fits)
        return RM_QUICK_LONG;
    if (*status == REDUCT_OK)
        write_results(fields, writes ? count : 0, brief->received + RM_HEAD);
    return RM_QUICK_DONE;
}

static __attribute__((noinline)) enum rm_quick reduce_some(const reduct_mpi_field *fields, size_t count, bool writes,
                                                           MPI_Comm comm, reduct_status *status, reduct_error *error) {
    int64_t sent[RM_WORDS] /* not cleared */, received[RM_WORDS];
    return reduce(&(struct rm_brief){.sent = sent, .received = received}, fields, count, writes, comm, status, error);
}

static __attribute__((noinline)) enum rm_quick reduce_many(const reduct_mpi_field *fields, size_t count, bool writes,
                                                           MPI_Comm comm, reduct_status *status, reduct_error *error) {
    if (count > SIZE_MAX / 16 / sizeof(int64_t) / WORDS)
        return RM_QUICK_NOT;
    const size_t words = RM_HEAD + count * WORDS;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64}; /* as all of them are */
    struct rm_brief brief = {.sent = malloc(2 * words * sizeof *brief.sent), .signature = RM_SIGNATURE};
    if (!brief.sent)
        return RM_QUICK_NOT; /* the long way fails, or finds what it needs */
    brief.received = brief.sent + words;
    for (size_t i = 0; i < count; i++)
        brief.signature = rm_sign(brief.signature, &sum);
    const enum rm_quick quick = reduce(&brief, fields, count, writes, comm, status, error);
    free(brief.sent);
    return quick;
}

enum rm_quick rm_quick_allreduce(const reduct_mpi_field *fields, size_t count, bool writes, MPI_Comm comm,
                                 reduct_status *status, reduct_error *error) {
    int64_t sent[FEW_WORDS] /* not cleared */, received[FEW_WORDS];
    if (!fields)
        return RM_QUICK_NOT;
    if (!rm_opening(count))
        return reduce_many(fields, count, writes, comm, status, error);
    if (count > FEW)
        return reduce_some(fields, count, writes, comm, status, error);
    return reduce(&(struct rm_brief){.sent = sent, .received = received}, fields, count, writes, comm, status, error);
}
