/* Reading groups: see group_blocks.h. Most blocks are read where they lie; where some elements do not count, the others are moved
 * together. */
#include "cpu/group_blocks.h"

#include "core/status.h"
#include "cpu/features.h"
#include "cpu/kernels.h"

#include <string.h>

uint64_t rd_group_of(const struct rd_many *many, const struct rd_execution *execution, uint64_t row) {
    const void *indices = execution->indices;
    switch ((int)many->groups.index) { /* those that check_groups() lets pass */
    case REDUCT_U8:
        return ((const uint8_t *)indices)[row];
    case REDUCT_U16:
        return ((const uint16_t *)indices)[row];
    case REDUCT_U32:
        return ((const uint32_t *)indices)[row];
    case REDUCT_I32:
        return (uint64_t)((const int32_t *)indices)[row];
    default:
        return ((const uint64_t *)indices)[row];
    }
}

bool rd_group_counts(const struct rd_many *many, const struct rd_execution *execution, uint64_t element) {
    const unsigned char *mask = execution->mask;
    uint64_t entry = many->mask_offset + element;
    switch (many->mask) {
    case REDUCT_MASK_NONE:
        break;
    case REDUCT_MASK_BYTES:
        return mask[entry];
    case REDUCT_MASK_BITS:
        return mask[entry / 8] >> entry % 8 & 1;
    }
    return true;
}

void rd_group_note_outside(atomic_ullong *outside, uint64_t row) {
    unsigned long long first = atomic_load(outside);
    while (row < first && !atomic_compare_exchange_weak(outside, &first, row))
        ;
}

reduct_status rd_group_refuse(const struct rd_many *many, const struct rd_execution *execution, uint64_t row,
                              reduct_error *error) {
    reduct_type type = many->groups.index;
    uint64_t index = rd_group_of(many, execution, row);
    bool negative = (type == REDUCT_I32 || type == REDUCT_I64) && (int64_t)index < 0;
    return rd_fail_at(error, REDUCT_ERROR_ARGUMENT, row,
                      "indices: number %llu is %s%llu; expected one of the %llu groups", (unsigned long long)row,
                      negative ? "-" : "", (unsigned long long)(negative ? 0 - index : index),
                      (unsigned long long)many->groups.count);
}

/* Indices of rows as numbers of groups, or UINT32_MAX, which is none; whether there is one of these. */
#define READ(T)                                                                                                        \
    do {                                                                                                               \
        const T *index = (const T *)execution->indices + first;                                                        \
        for (size_t i = 0; i < count; i++) {                                                                           \
            bool inside = (uint64_t)index[i] < groups;                                                                 \
            to[i] = inside ? (uint32_t)index[i] : UINT32_MAX;                                                          \
            outside |= !inside;                                                                                        \
        }                                                                                                              \
    } while (0)

/* Indices below are of groups, if a negative one of 32 bits is taken as one without a sign. */
static uint64_t limit_of(const reduct_groups *groups) {
    const uint64_t negative = UINT64_C(1) << 31;
    return groups->index == REDUCT_I32 && groups->count > negative ? negative : groups->count;
}

static bool read_indices(const struct rd_many *many, const struct rd_execution *execution, uint64_t first, size_t count,
                         uint32_t *to) {
    const uint64_t groups = limit_of(&many->groups);
    unsigned outside = 0;
    switch ((int)many->groups.index) {
    case REDUCT_U8:
        READ(uint8_t);
        break;
    case REDUCT_U16:
        READ(uint16_t);
        break;
    case REDUCT_U32:
    case REDUCT_I32:
        READ(uint32_t);
        break;
    default:
        READ(uint64_t);
    }
    return outside;
}

/* The results of elements, or UINT32_MAX; whether there is one of these. */
static bool read_rows(struct rd_group_reader *reader, uint64_t first, size_t count) {
    const uint64_t width = reader->many->groups.width, row = first / width;
    uint64_t column = first % width;
    if (width == 1)
        return read_indices(reader->many, reader->execution, first, count, reader->result);
    bool outside =
        read_indices(reader->many, reader->execution, row, (size_t)((column + count - 1) / width + 1), reader->to);
    for (size_t i = 0, r = 0; i < count; r++, column = 0) {
        uint32_t group = reader->to[r];
        for (; column < width && i < count; column++, i++) {
            reader->result[i] = group == UINT32_MAX ? UINT32_MAX : (uint32_t)(group * width + column);
            reader->row[i] = row + r;
        }
    }
    return outside;
}

/* Moves the elements that count together. */
static void keep_some(struct rd_group_reader *reader, uint64_t first, size_t count, size_t bytes,
                      struct rd_group_block *block) {
    const struct rd_many *many = reader->many;
    const uint64_t width = many->groups.width;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (many->mask && !rd_group_counts(many, reader->execution, first + i))
            continue;
        uint64_t row = width == 1 ? first + i : reader->row[i];
        if (reader->result[i] == UINT32_MAX) {
            if (!many->groups.skip && row < reader->outside)
                reader->outside = row;
            continue;
        }
        for (unsigned k = 0; k < many->inputs; k++)
            memcpy(reader->kept[k] + kept * bytes, (const unsigned char *)block->input[k] + i * bytes, bytes);
        reader->row[kept] = row;
        reader->to[kept++] = reader->result[i];
    }
    for (unsigned k = 0; k < many->inputs; k++)
        block->input[k] = reader->kept[k];
    block->to = reader->to;
    block->row = reader->row;
    block->count = kept;
}

/* Indices of 32 and 64 bits where all are inside, and each is one of a result. */
static bool read_fast(struct rd_group_reader *reader, uint64_t first, size_t count, struct rd_group_block *block) {
    const reduct_groups *groups = &reader->many->groups;
    const struct rd_kernels *kernels = reader->many->state[0].device.private;
    const void *indices = reader->execution->indices;
    const size_t bytes = rd_type(groups->index)->bytes;
    if (bytes == 8)
        return kernels->narrow((const uint64_t *)indices + first, count, reader->result) < groups->count;
    if (bytes != 4 || kernels->greatest((const uint32_t *)indices + first, count) >= limit_of(groups))
        return false;
    block->to = (const uint32_t *)indices + first;
    return true;
}

void rd_group_read(struct rd_group_reader *reader, uint64_t first, size_t count, struct rd_group_block *block) {
    const struct rd_many *many = reader->many;
    const reduct_groups *groups = &many->groups;
    const size_t bytes = rd_type(many->reduction[0].element)->bytes;
    *block = (struct rd_group_block){.to = reader->result, .count = count, .first = first};
    for (unsigned k = 0; k < many->inputs; k++)
        block->input[k] = (const unsigned char *)reader->execution->input[k] + first * bytes;
    if (groups->width == 1 && !many->mask && read_fast(reader, first, count, block))
        return;
    bool outside = read_rows(reader, first, count);
    if (outside || many->mask)
        keep_some(reader, first, count, bytes, block);
    else if (groups->width > 1)
        block->row = reader->row;
}

static void fetch(const void *array, uint64_t begin, size_t size, bool near) {
    const char *from = (const char *)array + begin;
    for (size_t at = 0; at < size; at += 64)
        if (near)
            __builtin_prefetch(from + at, 0, 3);
        else
            __builtin_prefetch(from + at, 0, 2);
}

void rd_group_fetch(const struct rd_group_reader *reader, uint64_t first, size_t count, bool near) {
    const struct rd_many *many = reader->many;
    if (near && !rd_asks_ahead())
        return; /* as for sums (cpu/kernels/ahead.h): into 10^4 results they take a tenth less time so, into those that lie far a seventh more */
    const size_t bytes = rd_type(many->reduction[0].element)->bytes, of_index = rd_type(many->groups.index)->bytes;
    for (unsigned k = 0; k < many->inputs; k++)
        fetch(reader->execution->input[k], first * bytes, count * bytes, near);
    if (many->groups.width == 1)
        fetch(reader->execution->indices, first * of_index, count * of_index, near);
}
