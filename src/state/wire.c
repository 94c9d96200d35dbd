/* Packing, unpacking and merging the state on the wire: see wire.h for the form. */
#include "state/wire.h"

#include "core/status.h"
#include "family/family.h"
#include "state/saved.h"

#include <string.h>

/* The most words of any reduction: counts, and limbs of values and of squares. */
enum { COUNTS = 7, LONGEST = COUNTS + 2 * RD_LIMBS };

/* What 2^31 digits, the most that may be added, come to at most. With the carry from below them, which is less than 2^31 then, it
 * is still an int64. */
#define DIGITS_MOST (INT64_MAX - INT32_MAX)

/* ---------------------------------------------------------------------------------------------------------------------
 * Words
 * ------------------------------------------------------------------------------------------------------------------ */

static void visit(struct rd_wire *wire, int64_t *value) {
    if (wire->doing == RD_WIRE_WRITING)
        *wire->at++ = *value;
    else if (wire->doing == RD_WIRE_READING)
        *value = *wire->at++;
    wire->count++;
}

void rd_wire_add(struct rd_wire *wire, uint64_t *value) {
    int64_t word = (int64_t)*value;
    visit(wire, &word);
    *value = (uint64_t)word;
    wire->added++;
}

void rd_wire_rest(struct rd_wire *wire, reduct_merge operation, int64_t *value) {
    visit(wire, value);
    wire->rest = operation;
}

static bool is_negative(const struct rd_sum *sum) {
    return sum->limb[sum->length - 1] < 0;
}

static void negate(struct rd_sum *sum) {
    for (int i = 0; i < sum->length; i++)
        sum->limb[i] = -sum->limb[i];
    rd_sum_normalise(sum);
}

static void write_limbs(int64_t *at, struct rd_sum *sum) {
    bool negative = is_negative(sum);
    if (negative)
        negate(sum);
    for (int i = 0; i < sum->length; i++)
        at[i] = negative ? -sum->limb[i] : sum->limb[i];
    if (negative)
        negate(sum);
}

/* Whether all digits are sums that can be; if not, zero is read. Carrying is left to rd_partial_canonicalise(). */
static bool read_limbs(const int64_t *at, struct rd_sum *sum) {
    bool sound = true;
    for (int i = 0; i < sum->length; i++)
        sound = sound && at[i] >= -DIGITS_MOST && at[i] <= DIGITS_MOST;
    for (int i = 0; i < sum->length; i++)
        sum->limb[i] = sound ? at[i] : 0;
    return sound;
}

void rd_wire_limbs(struct rd_wire *wire, struct rd_sum *sum) {
    if (wire->doing == RD_WIRE_WRITING)
        write_limbs(wire->at, sum);
    else if (wire->doing == RD_WIRE_READING)
        wire->damaged = !read_limbs(wire->at, sum) || wire->damaged;
    if (wire->doing != RD_WIRE_COUNTING) /* where there is nothing to point to */
        wire->at += sum->length;
    wire->count += (size_t)sum->length;
    wire->added += (size_t)sum->length;
}

void rd_wire_saved(struct rd_wire *wire, struct rd_partial *partial) {
    const struct rd_family_code *family = rd_family_code(&partial->reduction);
    unsigned char bytes[8 * LONGEST];
    struct rd_walk walk = {.doing = RD_COUNTING, .at = bytes};
    family->walk(&walk, partial);
    size_t count = walk.bytes / 8;
    if (wire->doing == RD_WIRE_WRITING) {
        walk.doing = RD_WRITING;
        family->walk(&walk, partial);
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t word = 0;
        struct rd_walk one = {.doing = wire->doing == RD_WIRE_WRITING ? RD_READING : RD_WRITING, .at = bytes + 8 * i};
        if (wire->doing == RD_WIRE_WRITING)
            rd_walk_word(&one, &word);
        int64_t value = (int64_t)word;
        rd_wire_rest(wire, REDUCT_MERGE_IN_ORDER, &value);
        word = (uint64_t)value;
        if (wire->doing == RD_WIRE_READING)
            rd_walk_word(&one, &word);
    }
    if (wire->doing == RD_WIRE_READING) {
        walk = (struct rd_walk){.doing = RD_READING, .at = bytes};
        family->walk(&walk, partial);
    }
    wire->added = 0; /* the counts before them merge with them */
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Partial results
 * ------------------------------------------------------------------------------------------------------------------ */

static void walk(struct rd_wire *wire, struct rd_partial *partial) {
    const struct rd_family_code *family = rd_family_code(&partial->reduction);
    uint64_t low = partial->seen & UINT32_MAX, high = partial->seen >> 32, nonzero = partial->nonzero;
    rd_wire_add(wire, &low);
    rd_wire_add(wire, &high);
    rd_wire_add(wire, &partial->ignored);
    rd_wire_add(wire, &partial->nans);
    rd_wire_add(wire, &partial->plus_infinities);
    rd_wire_add(wire, &partial->minus_infinities);
    rd_wire_add(wire, &nonzero);
    wire->damaged = wire->damaged || high >> 63 || low >> 63;
    partial->seen = high > RD_ELEMENTS_MAX >> 32 ? UINT64_MAX : (high << 32) + low;
    partial->nonzero = nonzero;
    if (family->wire)
        family->wire(wire, partial);
    else
        rd_wire_saved(wire, partial);
}

static void pack(const struct rd_partial *partial, int64_t *words) {
    struct rd_wire wire = {.doing = RD_WIRE_WRITING, .at = words};
    struct rd_partial copy = *partial;
    rd_partial_canonicalise(&copy);
    walk(&wire, &copy);
}

static reduct_status unpack(struct rd_partial *partial, const reduct_reduction *reduction, const int64_t *words,
                            reduct_error *error) {
    struct rd_wire wire = {.doing = RD_WIRE_READING, .at = (int64_t *)(uintptr_t)words}; /* read only */
    rd_partial_init(partial, reduction);
    walk(&wire, partial);
    if (!wire.damaged && partial->seen > RD_ELEMENTS_MAX)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "words: more elements than 2^63 in all");
    rd_partial_canonicalise(partial);
    if (wire.damaged || !rd_partial_is_plausible(partial))
        return rd_fail(error, REDUCT_ERROR_CORRUPT, "words: of no %s of %s elements", rd_operator(reduction->op)->name,
                       rd_type(reduction->element)->name);
    return REDUCT_OK;
}

static reduct_status check_merges(const reduct_reduction *reduction, reduct_error *error) {
    if (!rd_family_code(reduction)->alignment)
        return REDUCT_OK;
    return rd_fail(error, REDUCT_ERROR_UNSUPPORTED,
                   "reduction: %s of %s elements depends on which parts meet, so that it has no words that merge",
                   rd_operator(reduction->op)->name, rd_type(reduction->element)->name);
}

/* The form of a resolved reduction's words. */
static reduct_status form_of(const reduct_reduction *reduction, reduct_words *form, reduct_error *error) {
    reduct_status status = check_merges(reduction, error);
    if (status != REDUCT_OK)
        return status;
    struct rd_wire wire = {.doing = RD_WIRE_COUNTING, .rest = REDUCT_MERGE_ADD};
    struct rd_partial partial;
    rd_partial_init(&partial, reduction);
    walk(&wire, &partial);
    *form = (reduct_words){.count = wire.count, .added = wire.added, .rest = wire.rest};
    return REDUCT_OK;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The public functions
 * ------------------------------------------------------------------------------------------------------------------ */

reduct_status reduct_reduction_words(const reduct_reduction *reduction, reduct_words *form, reduct_error *error) {
    if (!reduction || !form)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", reduction ? "form" : "reduction");
    reduct_reduction resolved = *reduction;
    reduct_status status = reduct_reduction_resolve(&resolved, error);
    return status == REDUCT_OK ? form_of(&resolved, form, error) : status;
}

reduct_status rd_words_of(const struct rd_partial *partial, int64_t *words, reduct_error *error) {
    reduct_status status = check_merges(&partial->reduction, error);
    if (status == REDUCT_OK)
        pack(partial, words);
    return status;
}

reduct_status rd_partial_of(const int64_t *words, struct rd_partial *partial, reduct_error *error) {
    struct rd_partial read;
    reduct_status status = check_merges(&partial->reduction, error);
    if (status == REDUCT_OK)
        status = unpack(&read, &partial->reduction, words, error);
    if (status == REDUCT_OK)
        *partial = read;
    return status;
}

/* One word of each, which do not add in order. */
static int64_t merged(reduct_merge operation, int64_t a, int64_t b) {
    switch (operation) {
    case REDUCT_MERGE_LEAST:
        return b < a ? b : a;
    case REDUCT_MERGE_AND:
        return a & b;
    case REDUCT_MERGE_OR:
        return a | b;
    case REDUCT_MERGE_XOR:
        return a ^ b;
    case REDUCT_MERGE_ADD:
    case REDUCT_MERGE_IN_ORDER:
        break;
    }
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static reduct_status merge_in_order(const reduct_reduction *reduction, int64_t *words, const int64_t *others,
                                    reduct_error *error) {
    struct rd_partial first, second;
    reduct_status status = unpack(&first, reduction, words, error);
    if (status == REDUCT_OK)
        status = unpack(&second, reduction, others, error);
    if (status == REDUCT_OK && second.seen > RD_ELEMENTS_MAX - first.seen)
        status = rd_fail(error, REDUCT_ERROR_TOO_LARGE, "words: more elements than 2^63 in all");
    if (status != REDUCT_OK)
        return status;
    rd_partial_merge(&first, &second);
    pack(&first, words);
    return REDUCT_OK;
}

reduct_status reduct_words_merge(const reduct_reduction *reduction, int64_t *words, const int64_t *others,
                                 reduct_error *error) {
    reduct_words form;
    reduct_status status = reduct_reduction_words(reduction, &form, error);
    if (status != REDUCT_OK)
        return status;
    if (!words || !others)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", words ? "others" : "words");
    reduct_reduction resolved = *reduction;
    reduct_reduction_resolve(&resolved, NULL); /* as it was above */
    if (form.rest == REDUCT_MERGE_IN_ORDER)
        return merge_in_order(&resolved, words, others, error);
    for (size_t i = 0; i < form.count; i++)
        words[i] = merged(i < form.added ? REDUCT_MERGE_ADD : form.rest, words[i], others[i]);
    return REDUCT_OK;
}
