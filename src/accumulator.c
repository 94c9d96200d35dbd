/* Accumulators: a partial result as a public object, and its form in bytes.
 *
 * Saved form, all numbers little-endian:
 *   bytes 0-7 magic, 8-11 version, 12-15 total size, 16-20 op, element, result, mode, nan, 21-23 zero, 24-27 flags,
 * 28-31 zero; then 64-bit words: seen, ignored, nans, plus_infinities, minus_infinities, nonzero, and by kind of
 * reduction exact sums: the limbs, normalised (for var and std also those of the squares); fast sums: high, low as f64
 * bits; extremes: found, bits of the extreme, index, index of the first NaN; products of floats: 1 if negative + 2 if
 * there was a zero + 4 if an infinity, exponent (128 bits), lanes, subtrees (exact/product.h); products of integers: 1
 * if negative + 2 if beyond 256 bits, magnitude (256 bits); last the FNV-1a hash of all that precedes
 * (G. Fowler, L. C. Noll, K.-P. Vo, 1991).
 */
#include "core/status.h"
#include "execute.h"

#include <stdlib.h>
#include <string.h>

/* The most elements, NaNs and all: so many terms of any type fit the limbs of a sum (exact/limbs.h). */
#define ELEMENTS_MAX ((uint64_t)1 << 63)

struct reduct_accumulator {
    struct rd_device device;
    unsigned threads;
    struct rd_partial partial;
};

static reduct_status create(const reduct_reduction *reduction, const char *device, unsigned threads,
                            struct reduct_accumulator **accumulator, reduct_error *error) {
    struct rd_device opened;
    reduct_status status = rd_device_open(device, &opened, error);
    if (status == REDUCT_OK)
        status = opened.backend->supports(&opened, reduction, error);
    if (status != REDUCT_OK)
        return status;
    struct reduct_accumulator *made = malloc(sizeof *made);
    if (!made)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "accumulator: %zu bytes could not be allocated",
                       sizeof *made);
    made->device = opened;
    made->threads = threads;
    rd_partial_init(&made->partial, reduction);
    *accumulator = made;
    return REDUCT_OK;
}

reduct_status reduct_accumulator_create(const reduct_reduction *reduction, const char *device, unsigned threads,
                                        reduct_accumulator **accumulator, reduct_error *error) {
    if (!reduction)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "reduction: null pointer");
    if (!accumulator)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "accumulator: null pointer");
    reduct_reduction resolved = *reduction;
    reduct_status status = reduct_reduction_resolve(&resolved, error);
    return status == REDUCT_OK ? create(&resolved, device, threads, accumulator, error) : status;
}

void reduct_accumulator_destroy(reduct_accumulator *accumulator) {
    free(accumulator);
}

void reduct_accumulator_reset(reduct_accumulator *accumulator) {
    if (!accumulator)
        return;
    reduct_reduction reduction = accumulator->partial.reduction;
    rd_partial_init(&accumulator->partial, &reduction);
}

reduct_status reduct_accumulator_add(reduct_accumulator *accumulator, const void *x, const void *y, uint64_t count,
                                     reduct_error *error) {
    if (!accumulator)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "accumulator: null pointer");
    struct rd_partial *total = &accumulator->partial;
    if (count > ELEMENTS_MAX - total->seen)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "count: %llu elements after %llu; expected at most 2^63 in all",
                       (unsigned long long)count, (unsigned long long)total->seen);
    struct rd_partial added; /* apart, so that a failure leaves the accumulator as it was */
    rd_partial_begin(&added, total);
    reduct_status status =
        rd_accumulate(&accumulator->device, x, y, count, accumulator->threads, NULL, total->seen, &added, error);
    if (status == REDUCT_OK)
        rd_partial_follow(total, &added);
    return status;
}

static bool same_reduction(const reduct_reduction *a, const reduct_reduction *b) {
    return a->op == b->op && a->element == b->element && a->mode == b->mode && a->nan == b->nan && a->flags == b->flags;
}

reduct_status reduct_accumulator_merge(reduct_accumulator *accumulator, const reduct_accumulator *other,
                                       reduct_error *error) {
    if (!accumulator || !other)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", accumulator ? "other" : "accumulator");
    const reduct_reduction *a = &accumulator->partial.reduction, *b = &other->partial.reduction;
    if (!same_reduction(a, b))
        return rd_fail(error, REDUCT_ERROR_MISMATCH,
                       "other: holds %s of %s (%s, NaN %s, flags %u), the accumulator %s of %s (%s, NaN %s, flags %u)",
                       reduct_operator_name(b->op), reduct_type_name(b->element), reduct_mode_name(b->mode),
                       reduct_nan_name(b->nan), (unsigned)b->flags, reduct_operator_name(a->op),
                       reduct_type_name(a->element), reduct_mode_name(a->mode), reduct_nan_name(a->nan),
                       (unsigned)a->flags);
    if (other->partial.seen > ELEMENTS_MAX - accumulator->partial.seen)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "other: %llu elements after %llu; expected at most 2^63 in all",
                       (unsigned long long)other->partial.seen, (unsigned long long)accumulator->partial.seen);
    uint64_t alignment = rd_partial_alignment(&other->partial);
    if (accumulator->partial.seen % alignment)
        return rd_fail(
            error, REDUCT_ERROR_UNSUPPORTED,
            "other: a product of %llu floats can follow only a multiple of %llu, not %llu, or its bits would "
            "not be those of a single pass",
            (unsigned long long)other->partial.seen, (unsigned long long)alignment,
            (unsigned long long)accumulator->partial.seen);
    rd_partial_merge(&accumulator->partial, &other->partial);
    return REDUCT_OK;
}

uint64_t reduct_accumulator_count(const reduct_accumulator *accumulator) {
    return accumulator ? rd_partial_count(&accumulator->partial) : 0;
}

reduct_reduction reduct_accumulator_reduction(const reduct_accumulator *accumulator) {
    return accumulator ? accumulator->partial.reduction : (reduct_reduction){0};
}

reduct_status reduct_accumulator_result(const reduct_accumulator *accumulator, reduct_type type, void *result,
                                        reduct_error *error) {
    if (!accumulator || !result)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", accumulator ? "result" : "accumulator");
    const struct rd_partial *partial = &accumulator->partial;
    if (type == REDUCT_DEFAULT)
        type = partial->reduction.result;
    reduct_status status = rd_result_check(&partial->reduction, type, error);
    return status == REDUCT_OK ? rd_partial_finish(partial, type, result, error) : status;
}

/* ------------------------------------------------------------------------------------------------------------------ */

enum { VERSION = 1, HEADER = 32 };

static const unsigned char magic[8] = {0x89, 'r', 'e', 'd', 'u', 'c', 't', '\n'};

/* The saved form is read and written by one walk over the fields, so that the two cannot disagree. */
struct walk {
    unsigned char *at;
    bool reading;
};

static void walk_bytes(struct walk *walk, uint64_t *value, int bytes) {
    if (walk->reading)
        *value = 0;
    for (int i = 0; i < bytes; i++) {
        if (walk->reading)
            *value |= (uint64_t)walk->at[i] << (8 * i);
        else
            walk->at[i] = (unsigned char)(*value >> (8 * i));
    }
    walk->at += bytes;
}

static void walk_word(struct walk *walk, uint64_t *value) {
    walk_bytes(walk, value, 8);
}

static void walk_double(struct walk *walk, double *value) {
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    walk_word(walk, &bits);
    memcpy(value, &bits, sizeof bits);
}

static void walk_sum(struct walk *walk, struct rd_sum *sum) {
    for (int i = 0; i < sum->length; i++) {
        uint64_t word = (uint64_t)sum->limb[i];
        walk_word(walk, &word);
        sum->limb[i] = (int64_t)word;
    }
}

static void walk_product(struct walk *walk, struct rd_product *product) {
    uint64_t flags = product->negative | product->zero << 1 | product->infinite << 2;
    uint64_t low = (uint64_t)product->exponent, high = (uint64_t)((rd_u128)product->exponent >> 64);
    walk_word(walk, &flags);
    walk_word(walk, &low);
    walk_word(walk, &high);
    for (int l = 0; l < RD_PRODUCT_LANES; l++)
        walk_double(walk, &product->lane[l]);
    for (int k = 0; k < RD_PRODUCT_LEVELS; k++)
        walk_double(walk, &product->subtree[k]);
    product->negative = flags & 1;
    product->zero = flags & 2;
    product->infinite = flags & 4;
    product->exponent = (rd_i128)((rd_u128)high << 64 | low);
}

static void walk_whole(struct walk *walk, struct rd_whole *whole) {
    uint64_t flags = whole->negative | whole->overflow << 1;
    walk_word(walk, &flags);
    for (int i = 0; i < 4; i++)
        walk_word(walk, &whole->magnitude[i]);
    whole->negative = flags & 1;
    whole->overflow = flags & 2;
}

static bool is_float(const reduct_reduction *reduction) {
    return rd_type(reduction->element)->kind == RD_FLOAT;
}

static void walk_partial(struct walk *walk, struct rd_partial *partial) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    uint64_t nonzero = partial->nonzero, found = partial->found;
    walk_word(walk, &partial->seen);
    walk_word(walk, &partial->ignored);
    walk_word(walk, &partial->nans);
    walk_word(walk, &partial->plus_infinities);
    walk_word(walk, &partial->minus_infinities);
    walk_word(walk, &nonzero);
    partial->nonzero = nonzero;
    if (rd_is_extreme(op)) {
        walk_word(walk, &found);
        partial->found = found;
        walk_word(walk, &partial->extreme);
        walk_word(walk, &partial->index);
        walk_word(walk, &partial->nan_index);
    } else if (op->combine == RD_MULTIPLY && is_float(&partial->reduction)) {
        walk_product(walk, &partial->product);
        partial->product.count = partial->seen;
    } else if (op->combine == RD_MULTIPLY) {
        walk_whole(walk, &partial->whole);
    } else if (rd_is_exact(&partial->reduction)) {
        walk_sum(walk, &partial->sum);
        if (op->transform == RD_MOMENTS)
            walk_sum(walk, &partial->squares);
    } else {
        walk_double(walk, &partial->high);
        walk_double(walk, &partial->low);
    }
}

static void walk_header(struct walk *walk, reduct_reduction *reduction, uint64_t *version, uint64_t *size) {
    uint64_t op = reduction->op, element = reduction->element, result = reduction->result, mode = reduction->mode,
             nan = reduction->nan, flags = reduction->flags, zero = 0;
    walk->at += sizeof magic;
    walk_bytes(walk, version, 4);
    walk_bytes(walk, size, 4);
    walk_bytes(walk, &op, 1);
    walk_bytes(walk, &element, 1);
    walk_bytes(walk, &result, 1);
    walk_bytes(walk, &mode, 1);
    walk_bytes(walk, &nan, 1);
    walk_bytes(walk, &zero, 3);
    walk_bytes(walk, &flags, 4);
    walk_bytes(walk, &zero, 4);
    *reduction = (reduct_reduction){(reduct_operator)op, (reduct_type)element, (reduct_type)result,
                                    (reduct_mode)mode,   (reduct_nan)nan,      (uint32_t)flags};
}

static uint64_t hash(const unsigned char *bytes, size_t size) {
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * 0x100000001b3;
    return h;
}

static size_t saved_size(const struct rd_partial *partial) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    size_t words = 6 + 1;
    if (rd_is_extreme(op))
        words += 4;
    else if (op->combine == RD_MULTIPLY)
        words += is_float(&partial->reduction) ? 3 + RD_PRODUCT_LANES + RD_PRODUCT_LEVELS : 5;
    else if (!rd_is_exact(&partial->reduction))
        words += 2;
    else
        words += (size_t)partial->sum.length + (op->transform == RD_MOMENTS ? (size_t)partial->squares.length : 0);
    return HEADER + 8 * words;
}

/* Brings a partial result into the one form that its data have, however they were split: limbs carried, and no trace of
 * extremes that a NaN has made void, or of where an extreme was found when only its value counts. */
static void canonicalise(struct rd_partial *partial) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    if (op->combine != RD_MULTIPLY)
        rd_sum_normalise(&partial->sum);
    if (op->transform == RD_MOMENTS)
        rd_sum_normalise(&partial->squares);
    if (partial->nan_index != UINT64_MAX) {
        partial->found = false;
        partial->extreme = 0;
    }
    if (op->finish != RD_INDEX || !partial->found)
        partial->index = 0;
}

/* Nor of where the first NaN was, when only a value counts: that depends on the order of the data, the value does not.
 * Apart from the above, because saved bytes that hold it, as those of earlier builds do, load all the same. */
static void forget_nan_index(struct rd_partial *partial) {
    if (rd_operator(partial->reduction.op)->finish != RD_INDEX && partial->nan_index != UINT64_MAX)
        partial->nan_index = 0;
}

/* Writes the saved form of a canonical partial result: saved_size() bytes. */
static void write_saved(struct rd_partial *partial, unsigned char *bytes) {
    struct walk walk = {bytes, false};
    uint64_t size = saved_size(partial), version = VERSION;
    memcpy(bytes, magic, sizeof magic);
    walk_header(&walk, &partial->reduction, &version, &size);
    walk_partial(&walk, partial);
    uint64_t check = hash(bytes, size - 8);
    walk_word(&walk, &check);
}

reduct_status reduct_accumulator_save(const reduct_accumulator *accumulator, void *bytes, size_t *size) {
    if (!accumulator || !size)
        return REDUCT_ERROR_ARGUMENT;
    size_t needed = saved_size(&accumulator->partial);
    if (bytes && *size < needed)
        return REDUCT_ERROR_ARGUMENT;
    if (bytes) {
        struct rd_partial copy = accumulator->partial;
        canonicalise(&copy);
        forget_nan_index(&copy);
        write_saved(&copy, bytes);
    }
    *size = needed;
    return REDUCT_OK;
}

static bool sum_is_normal(const struct rd_sum *sum) {
    for (int i = 0; i < sum->length - 1; i++)
        if (sum->limb[i] < 0 || sum->limb[i] > 0xffffffff)
            return false;
    int64_t top = sum->limb[sum->length - 1];
    return top >= INT32_MIN && top <= INT32_MAX; /* 2^63 terms reach 2^31 here */
}

static bool is_significand(double x) {
    return x >= 1 && x < 2;
}

static bool product_is_plausible(const struct rd_product *product) {
    uint64_t pending = product->count % RD_PRODUCT_BLOCK, blocks = product->count / RD_PRODUCT_BLOCK;
    rd_i128 largest = (rd_i128)product->count * 1074;
    for (uint64_t l = 0; l < RD_PRODUCT_LANES; l++)
        if (l < pending ? !is_significand(product->lane[l]) : product->lane[l] != 1)
            return false;
    for (int k = 0; k < RD_PRODUCT_LEVELS; k++)
        if (blocks >> k & 1 ? !is_significand(product->subtree[k]) : product->subtree[k] != 0)
            return false;
    return product->exponent >= -largest && product->exponent <= largest;
}

static bool whole_is_plausible(const reduct_reduction *reduction, const struct rd_whole *whole) {
    bool words = whole->magnitude[0] | whole->magnitude[1] | whole->magnitude[2] | whole->magnitude[3];
    bool is_signed = rd_type(reduction->element)->kind == RD_SIGNED;
    if (whole->overflow ? words && !(reduction->flags & REDUCT_WRAP) : !words && whole->negative)
        return false;
    return is_signed || !whole->negative;
}

/* Whether loaded fields are ones that some data could have given. */
static bool is_plausible(const struct rd_partial *partial) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    uint64_t count = rd_partial_count(partial);
    if (partial->seen > ELEMENTS_MAX || partial->ignored > partial->seen || partial->nans > count ||
        partial->plus_infinities > count - partial->nans ||
        partial->minus_infinities > count - partial->nans - partial->plus_infinities)
        return false;
    if (op->combine == RD_MULTIPLY)
        return product_is_plausible(&partial->product) && whole_is_plausible(&partial->reduction, &partial->whole);
    if (rd_is_extreme(op)) {
        int bits = 8 * rd_type(partial->reduction.element)->bytes;
        bool fits = bits == 64 || partial->extreme >> bits == 0;
        bool nan_inside = partial->nan_index == UINT64_MAX || partial->nan_index < partial->seen;
        return fits && nan_inside && (partial->found ? partial->index < partial->seen : partial->index == 0);
    }
    if (!rd_is_exact(&partial->reduction))
        return true;
    return sum_is_normal(&partial->sum) && (op->transform != RD_MOMENTS || sum_is_normal(&partial->squares));
}

/* Whether saving a partial result gives just these bytes: this checks the checksum, what is reserved, and the one form of all else. */
static bool is_saved_form(const struct rd_partial *partial, const void *bytes) {
    unsigned char again[HEADER + 8 * (7 + 2 * RD_LIMBS)];
    struct rd_partial copy = *partial;
    canonicalise(&copy);
    write_saved(&copy, again);
    return !memcmp(again, bytes, saved_size(partial));
}

reduct_status reduct_accumulator_load(const void *bytes, size_t size, const char *device, unsigned threads,
                                      reduct_accumulator **accumulator, reduct_error *error) {
    if (!bytes || !accumulator)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", bytes ? "accumulator" : "bytes");
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic))
        return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: not a saved accumulator");
    if (size < HEADER + 8)
        return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: cut short: %zu bytes, fewer than any accumulator has",
                       size);
    struct walk walk = {(unsigned char *)(uintptr_t)bytes, true}; /* read only */
    reduct_reduction reduction = {0};
    uint64_t version = 0, stated = 0;
    walk_header(&walk, &reduction, &version, &stated);
    if (version > VERSION)
        return rd_fail(error, REDUCT_ERROR_VERSION, "bytes: version %u; this library reads up to %d", (unsigned)version,
                       VERSION);
    reduct_reduction resolved = reduction;
    if (version < 1 || reduct_reduction_resolve(&resolved, NULL) != REDUCT_OK || resolved.result != reduction.result)
        return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: the header names no reduction");
    struct rd_partial partial;
    rd_partial_init(&partial, &reduction);
    if (size != saved_size(&partial) || stated != size)
        return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: %zu given, %zu expected", size, saved_size(&partial));
    walk_partial(&walk, &partial);
    if (!is_plausible(&partial) || !is_saved_form(&partial, bytes))
        return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: damaged: the checksum or a field is wrong");
    reduct_status status = create(&reduction, device, threads, accumulator, error);
    if (status == REDUCT_OK)
        (*accumulator)->partial = partial;
    return status;
}
