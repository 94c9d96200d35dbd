/* Saving and loading: see saved.h for the form. */
#include "state/saved.h"

#include "core/status.h"
#include "family/family.h"

#include <string.h>

enum { VERSION = 1, HEADER = 32, LONGEST = HEADER + 8 * (6 + 2 * RD_LIMBS + 1) };

static const unsigned char magic[8] = {0x89, 'r', 'e', 'd', 'u', 'c', 't', '\n'};

void rd_saved_walk_reduction(struct rd_walk *walk, reduct_reduction *reduction) {
    uint64_t op = reduction->op, element = reduction->element, result = reduction->result, mode = reduction->mode,
             nan = reduction->nan, flags = reduction->flags, zero = 0;
    rd_walk_bytes(walk, &op, 1);
    rd_walk_bytes(walk, &element, 1);
    rd_walk_bytes(walk, &result, 1);
    rd_walk_bytes(walk, &mode, 1);
    rd_walk_bytes(walk, &nan, 1);
    rd_walk_bytes(walk, &zero, 3);
    rd_walk_bytes(walk, &flags, 4);
    rd_walk_bytes(walk, &zero, 4);
    *reduction = (reduct_reduction){.op = (reduct_operator)op,
                                    .element = (reduct_type)element,
                                    .result = (reduct_type)result,
                                    .mode = (reduct_mode)mode,
                                    .nan = (reduct_nan)nan,
                                    .flags = (uint32_t)flags};
}

static void walk_header(struct rd_walk *walk, reduct_reduction *reduction, uint64_t *version, uint64_t *size) {
    walk->at += sizeof magic;
    rd_walk_bytes(walk, version, 4);
    rd_walk_bytes(walk, size, 4);
    rd_saved_walk_reduction(walk, reduction);
}

static void walk_partial(struct rd_walk *walk, struct rd_partial *partial) {
    uint64_t nonzero = partial->nonzero;
    rd_walk_word(walk, &partial->seen);
    rd_walk_word(walk, &partial->ignored);
    rd_walk_word(walk, &partial->nans);
    rd_walk_word(walk, &partial->plus_infinities);
    rd_walk_word(walk, &partial->minus_infinities);
    rd_walk_word(walk, &nonzero);
    partial->nonzero = nonzero;
    rd_family_code(&partial->reduction)->walk(walk, partial);
}

uint64_t rd_saved_hash(const unsigned char *bytes, size_t size) {
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * 0x100000001b3;
    return h;
}

size_t rd_saved_size(const struct rd_partial *partial) {
    struct rd_partial counted = *partial;
    struct rd_walk walk = {.doing = RD_COUNTING};
    walk_partial(&walk, &counted);
    return HEADER + walk.bytes + sizeof(uint64_t);
}

/* Writes a canonical partial result. */
static void write(struct rd_partial *partial, unsigned char *bytes) {
    struct rd_walk walk = {.doing = RD_WRITING, .at = bytes};
    uint64_t size = rd_saved_size(partial), version = VERSION;
    memcpy(bytes, magic, sizeof magic);
    walk_header(&walk, &partial->reduction, &version, &size);
    walk_partial(&walk, partial);
    uint64_t check = rd_saved_hash(bytes, size - 8);
    rd_walk_word(&walk, &check);
}

/* Where the first NaN was is forgotten, when only a value counts: it depends on the order of the data, the value does not.
 * Not in canonicalise(), because saved bytes that hold it, as those of earlier builds do, load all the same. */
void rd_saved_write(const struct rd_partial *partial, unsigned char *bytes) {
    struct rd_partial copy = *partial;
    rd_partial_canonicalise(&copy);
    if (rd_operator(copy.reduction.op)->finish != RD_INDEX && copy.nan_index != UINT64_MAX)
        copy.nan_index = 0;
    write(&copy, bytes);
}

/* Whether saving a partial result gives just these bytes: this checks the checksum, what is reserved, and the one form of all
 * else. */
static bool is_saved_form(const struct rd_partial *partial, const void *bytes, size_t size) {
    unsigned char again[LONGEST];
    struct rd_partial copy = *partial;
    rd_partial_canonicalise(&copy);
    write(&copy, again);
    return !memcmp(again, bytes, size);
}

reduct_status rd_saved_read(const void *bytes, size_t size, struct rd_partial *partial, reduct_error *error) {
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic))
        return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: not a saved accumulator");
    if (size < HEADER + 8)
        return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: cut short: %zu bytes, fewer than any accumulator has",
                       size);
    struct rd_walk walk = {.doing = RD_READING, .at = (unsigned char *)(uintptr_t)bytes}; /* read only */
    reduct_reduction reduction = {0};
    uint64_t version = 0, stated = 0;
    walk_header(&walk, &reduction, &version, &stated);
    if (version > VERSION)
        return rd_fail(error, REDUCT_ERROR_VERSION, "bytes: version %u; this library reads up to %d", (unsigned)version,
                       VERSION);
    reduct_reduction resolved = reduction;
    if (version < 1 || reduct_reduction_resolve(&resolved, NULL) != REDUCT_OK || resolved.result != reduction.result)
        return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: the header names no reduction");
    rd_partial_init(partial, &reduction);
    size_t expected = rd_saved_size(partial);
    if (size != expected || stated != size)
        return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: %zu given, %zu expected", size, expected);
    walk_partial(&walk, partial);
    if (!rd_partial_is_plausible(partial) || !is_saved_form(partial, bytes, size))
        return rd_fail(error, REDUCT_ERROR_CORRUPT, "bytes: damaged: the checksum or a field is wrong");
    return REDUCT_OK;
}
