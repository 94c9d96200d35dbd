/* Accumulators: a partial result as a public object. */
#include "core/options.h"
#include "core/status.h"
#include "execute.h"
#include "state/saved.h"
#include "state/wire.h"

#include <stdlib.h>

struct reduct_accumulator {
    struct rd_prepared prepared;
    struct rd_partial partial;
    reduct_executor executor; /* the caller's, if one was given */
};

static reduct_status check_options(const reduct_accumulator_options *options, reduct_error *error) {
    reduct_status status = RD_CHECK_RESERVED("reserved", options, error);
    return status == REDUCT_OK ? rd_check_executor(options->executor, error) : status;
}

static reduct_status create(const reduct_reduction *reduction, const reduct_accumulator_options *options,
                            struct reduct_accumulator **accumulator, reduct_error *error) {
    struct reduct_accumulator *made = malloc(sizeof *made);
    if (!made)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "accumulator: %zu bytes could not be allocated",
                       sizeof *made);
    const struct rd_place place =
        rd_place_of(options->device, options->example, options->threads, options->executor, &made->executor);
    reduct_status status = rd_prepare(reduction, &place, RD_FOR_ARRAYS, &made->prepared, error);
    if (status != REDUCT_OK) {
        free(made);
        return status;
    }
    rd_partial_init(&made->partial, reduction);
    *accumulator = made;
    return REDUCT_OK;
}

reduct_status reduct_accumulator_create(const reduct_accumulator_options *options, reduct_accumulator **accumulator,
                                        reduct_error *error) {
    if (!options || !accumulator)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", options ? "accumulator" : "options");
    if (!options->reduction)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "reduction: null pointer");
    reduct_reduction resolved = *options->reduction;
    reduct_status status = check_options(options, error);
    if (status == REDUCT_OK)
        status = reduct_reduction_resolve(&resolved, error);
    return status == REDUCT_OK ? create(&resolved, options, accumulator, error) : status;
}

void reduct_accumulator_destroy(reduct_accumulator *accumulator) {
    if (accumulator)
        rd_release(&accumulator->prepared);
    free(accumulator);
}

void reduct_accumulator_reset(reduct_accumulator *accumulator) {
    if (!accumulator)
        return;
    reduct_reduction reduction = accumulator->partial.reduction;
    rd_partial_init(&accumulator->partial, &reduction);
}

static reduct_status check_room(const reduct_accumulator *accumulator, uint64_t count, reduct_error *error) {
    if (!accumulator)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "accumulator: null pointer");
    if (count > RD_ELEMENTS_MAX - accumulator->partial.seen)
        return rd_fail(error, REDUCT_ERROR_TOO_LARGE, "count: %llu elements after %llu; expected at most 2^63 in all",
                       (unsigned long long)count, (unsigned long long)accumulator->partial.seen);
    return REDUCT_OK;
}

reduct_status reduct_accumulator_add_masked(reduct_accumulator *accumulator, const void *x, const void *y,
                                            uint64_t count, reduct_mask kind, const void *mask, uint64_t offset,
                                            reduct_error *error) {
    reduct_status status = check_room(accumulator, count, error);
    if (status != REDUCT_OK)
        return status;
    struct rd_partial *total = &accumulator->partial, added;
    rd_partial_begin(&added, total);
    status = rd_accumulate_masked(&accumulator->prepared, x, y, count, kind, mask, offset, total->seen, &added, error);
    if (status == REDUCT_OK)
        rd_partial_follow(total, &added);
    return status;
}

reduct_status reduct_accumulator_add(reduct_accumulator *accumulator, const void *x, const void *y, uint64_t count,
                                     reduct_error *error) {
    reduct_status status = check_room(accumulator, count, error);
    if (status != REDUCT_OK)
        return status;
    struct rd_partial *total = &accumulator->partial;
    struct rd_partial added; /* apart, so that a failure leaves the accumulator as it was */
    rd_partial_begin(&added, total);
    status = rd_accumulate(&accumulator->prepared, x, y, count, NULL, total->seen, &added, error);
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
    if (other->partial.seen > RD_ELEMENTS_MAX - accumulator->partial.seen)
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

reduct_status reduct_accumulator_save(const reduct_accumulator *accumulator, void *bytes, size_t *size,
                                      reduct_error *error) {
    if (!accumulator || !size)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", accumulator ? "size" : "accumulator");
    size_t needed = rd_saved_size(&accumulator->partial);
    if (bytes && *size < needed)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "size: %zu; the accumulator takes %zu bytes", *size, needed);
    if (bytes)
        rd_saved_write(&accumulator->partial, bytes);
    *size = needed;
    return REDUCT_OK;
}

reduct_status reduct_accumulator_load(const void *bytes, size_t size, const reduct_accumulator_options *options,
                                      reduct_accumulator **accumulator, reduct_error *error) {
    if (!bytes || !accumulator)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", bytes ? "accumulator" : "bytes");
    static const reduct_accumulator_options standard;
    options = options ? options : &standard;
    if (options->reduction)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "reduction: not null; the bytes say which it is");
    struct rd_partial partial;
    reduct_status status = check_options(options, error);
    if (status == REDUCT_OK)
        status = rd_saved_read(bytes, size, &partial, error);
    if (status == REDUCT_OK)
        status = create(&partial.reduction, options, accumulator, error);
    if (status == REDUCT_OK)
        (*accumulator)->partial = partial;
    return status;
}

reduct_status reduct_accumulator_pack(const reduct_accumulator *accumulator, int64_t *words, reduct_error *error) {
    if (!accumulator || !words)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", accumulator ? "words" : "accumulator");
    return rd_words_of(&accumulator->partial, words, error);
}

reduct_status reduct_accumulator_unpack(reduct_accumulator *accumulator, const int64_t *words, reduct_error *error) {
    if (!accumulator || !words)
        return rd_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", accumulator ? "words" : "accumulator");
    return rd_partial_of(words, &accumulator->partial, error);
}
