/* Masks: see mask.h. Indices count the elements that are masked out as well: they are found again by counting the bits before. To
 * what is counted these are what NaNs are that are ignored. In products of floats they become factors of 1, so that the others keep their
 * places in the tree. */
#include "cpu/mask.h"

#include "core/reduction.h"
#include "core/status.h"
#include "cpu/team.h"
#include "family/family.h"

#include <stdlib.h>
#include <string.h>

static bool entry(reduct_mask kind, const unsigned char *mask, int64_t at) {
    return kind == REDUCT_MASK_BYTES ? mask[at] != 0 : mask[at >> 3] >> (at & 7) & 1;
}

/* Sixty-four bytes, or so many bits, one after another. */
static uint64_t read_word(reduct_mask kind, const unsigned char *mask, int64_t first) {
    uint64_t word = 0;
    if (kind == REDUCT_MASK_BYTES) {
        for (int i = 0; i < 64; i += 8) {
            uint64_t eight = 0;
            for (int k = 0; k < 8; k++)
                eight |= (uint64_t)(mask[first + i + k] != 0) << k;
            word |= eight << i;
        }
        return word;
    }
    const unsigned char *byte = mask + (first >> 3);
    int shift = (int)(first & 7);
    for (int k = 0; k < 8; k++)
        word |= (uint64_t)byte[k] << 8 * k;
    return shift ? word >> shift | (uint64_t)byte[8] << (64 - shift) : word;
}

void rd_mask_read(reduct_mask kind, const unsigned char *mask, int64_t first, int64_t step, uint64_t count,
                  uint64_t *keep, uint64_t at) {
    uint64_t i = 0;
    for (; step == 1 && at % 64 == 0 && count - i >= 64; i += 64, at += 64)
        keep[at / 64] = read_word(kind, mask, first + (int64_t)i);
    for (; i < count; i++, at++)
        keep[at / 64] |= (uint64_t)entry(kind, mask, first + (int64_t)i * step) << at % 64;
}

/* The number of the bit that is the n-th one of those that are set. */
static uint64_t place_of(const uint64_t *keep, uint64_t n) {
    uint64_t at = 0;
    for (uint64_t ones; n >= (ones = (uint64_t)__builtin_popcountll(keep[at])); at++)
        n -= ones;
    uint64_t word = keep[at];
    for (; n; n--)
        word &= word - 1;
    return at * 64 + (uint64_t)__builtin_ctzll(word);
}

/* Copies floats, with 1 where one is masked out. */
static void put_ones(const struct rd_type *type, const unsigned char *x, const uint64_t *keep, uint64_t count,
                     unsigned char *to) {
    const uint64_t one = (uint64_t)type->max_exponent << (type->precision - 1);
    memcpy(to, x, count * type->bytes);
    for (uint64_t i = 0; i < count; i++)
        if (!(keep[i / 64] >> i % 64 & 1))
            rd_store(to + i * type->bytes, one, type->bytes);
}

reduct_status rd_mask_add(const struct rd_prepared *prepared, struct rd_mask_room *room, const void *x, const void *y,
                          uint64_t count, struct rd_room *workspace, struct rd_partial *state, reduct_error *error) {
    const struct rd_kernels *kernels = prepared->device.private;
    const struct rd_type *type = rd_type(prepared->reduction.element);
    const void *input[2] = {x, y};
    bool replaces = rd_family(&prepared->reduction) == RD_FLOAT_PRODUCT;
    uint64_t kept = 0, words = (count + 63) / 64;
    struct rd_partial part;
    for (uint64_t w = 0; w < words; w++)
        kept += (uint64_t)__builtin_popcountll(room->keep[w]);
    for (int i = 0; kept < count && i < 2; i++) {
        if (!input[i])
            continue;
        if (replaces)
            put_ones(type, input[i], room->keep, count, room->kept[i]);
        else
            kernels->pack(input[i], room->keep, count, type->bytes, room->kept[i]);
        input[i] = room->kept[i];
    }
    rd_partial_begin(&part, state);
    reduct_status status = prepared->device.backend->accumulate(prepared, input[0], input[1], replaces ? count : kept,
                                                                workspace, &part, error);
    if (status != REDUCT_OK)
        return status;
    if (!replaces && part.nan_index != UINT64_MAX)
        part.nan_index = place_of(room->keep, part.nan_index);
    if (rd_family(&prepared->reduction) == RD_EXTREME && part.found)
        part.index = place_of(room->keep, part.index);
    part.seen = count;
    part.ignored += count - kept;
    rd_partial_follow(state, &part);
    return REDUCT_OK;
}

reduct_status rd_cpu_accumulate_masked(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                                       reduct_mask kind, const void *mask, uint64_t offset, struct rd_partial *partial,
                                       reduct_error *error) {
    struct rd_mask_room *room = aligned_alloc(64, sizeof *room);
    size_t bytes = rd_type(prepared->reduction.element)->bytes;
    reduct_status status = REDUCT_OK;
    if (!room)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "mask: %zu bytes could not be allocated", sizeof *room);
    for (uint64_t at = 0; status == REDUCT_OK && at < count; at += RD_MASK_BLOCK) {
        uint64_t some = count - at < RD_MASK_BLOCK ? count - at : RD_MASK_BLOCK;
        memset(room->keep, 0, sizeof room->keep);
        rd_mask_read(kind, mask, (int64_t)(offset + at), 1, some, room->keep, 0);
        status = rd_mask_add(prepared, room, (const unsigned char *)x + at * bytes,
                             y ? (const unsigned char *)y + at * bytes : NULL, some, NULL, partial, error);
        if (status == REDUCT_OK && rd_team_stops(&prepared->crew))
            status = rd_team_stopped(error);
    }
    free(room);
    return status;
}
