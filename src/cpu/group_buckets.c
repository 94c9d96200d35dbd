/* Moving elements to buckets: see group_buckets.h. Elements are cut into parts, of which each counts how many it has of each bucket; so every part
 * knows where its own belong, and all move them at once. */
#include "cpu/group_buckets.h"

#include "core/system.h"
#include "cpu/job.h"
#include "cpu/numbers.h"
#include "cpu/team.h"

#include <stdlib.h>
#include <string.h>

/* Elements of a part, at least. Parts for each thread: they take turns, as some are slower. */
enum { PART = 1 << 15, PARTS_EACH = 4 };

static size_t element_bytes(const struct rd_group_buckets *buckets) {
    return rd_type(buckets->many->reduction[0].element)->bytes;
}

bool rd_group_buckets_open(struct rd_group_buckets *buckets, const struct rd_many *many,
                           const struct rd_execution *execution, unsigned threads, unsigned log2, uint64_t room,
                           bool with_rows) {
    const uint64_t elements = many->groups.elements * many->groups.width;
    *buckets = (struct rd_group_buckets){
        .many = many, .execution = execution, .threads = threads, .log2 = log2, .parts = threads * PARTS_EACH};
    atomic_init(&buckets->outside, UINT64_MAX);
    atomic_init(&buckets->part, 0);
    atomic_init(&buckets->lacks_memory, false);
    buckets->count = (size_t)((many->layout.results - 1) >> log2) + 1;
    buckets->room = room < elements ? room : elements;
    buckets->begin = malloc((buckets->count + 1) * sizeof *buckets->begin);
    buckets->next = malloc(buckets->parts * buckets->count * sizeof *buckets->next);
    buckets->to = rd_large_alloc(buckets->room * sizeof *buckets->to);
    bool there = buckets->begin && buckets->next && buckets->to;
    for (unsigned i = 0; i < many->inputs; i++) {
        buckets->input[i] = rd_large_alloc(buckets->room * element_bytes(buckets));
        there = there && buckets->input[i];
    }
    if (with_rows) {
        buckets->row = rd_large_alloc(buckets->room * sizeof *buckets->row);
        there = there && buckets->row;
    }
    return there;
}

void rd_group_buckets_close(struct rd_group_buckets *buckets) {
    free(buckets->begin);
    free(buckets->next);
    free(buckets->to);
    free(buckets->input[0]);
    free(buckets->input[1]);
    free(buckets->row);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Parts
 * ------------------------------------------------------------------------------------------------------------------ */

static void count_block(const struct rd_group_buckets *buckets, uint64_t *next, const struct rd_group_block *block) {
    for (size_t i = 0; i < block->count; i++)
        next[block->to[i] >> buckets->log2]++;
}

#define MOVE(T)                                                                                                        \
    for (size_t i = 0; i < block->count; i++)                                                                          \
        ((T *)to)[place[i]] = ((const T *)from)[i];                                                                    \
    break

static void move_values(const struct rd_group_block *block, const uint64_t *place, const void *from, void *to,
                        size_t bytes) {
    switch (bytes) {
    case 1:
        MOVE(uint8_t);
    case 2:
        MOVE(uint16_t);
    case 4:
        MOVE(uint32_t);
    default:
        MOVE(uint64_t);
    }
}

static void move_block(const struct rd_group_buckets *buckets, uint64_t *next, const struct rd_group_block *block) {
    const uint32_t mask = ((uint32_t)1 << buckets->log2) - 1;
    uint64_t place[RD_GROUP_BLOCK];
    for (size_t i = 0; i < block->count; i++) {
        place[i] = next[block->to[i] >> buckets->log2]++;
        buckets->to[place[i]] = block->to[i] & mask;
    }
    for (unsigned k = 0; k < buckets->many->inputs; k++)
        move_values(block, place, block->input[k], buckets->input[k], element_bytes(buckets));
    for (size_t i = 0; buckets->row && i < block->count; i++)
        buckets->row[place[i]] = rd_group_row(block, i);
}

/* Where a part begins. */
static uint64_t part_begin(const struct rd_group_buckets *buckets, unsigned part) {
    return buckets->first + buckets->elements / buckets->parts * part +
           buckets->elements % buckets->parts * part / buckets->parts;
}

typedef void take_block(const struct rd_group_buckets *buckets, uint64_t *next, const struct rd_group_block *block);

static void read_part(struct rd_group_buckets *buckets, struct rd_group_reader *reader, unsigned part,
                      take_block *take) {
    const struct rd_crew *crew = &buckets->many->state[0].crew;
    uint64_t *next = buckets->next + part * buckets->count;
    const uint64_t end = part_begin(buckets, part + 1);
    struct rd_group_block block;
    for (uint64_t at = part_begin(buckets, part); at < end && reader->outside == UINT64_MAX; at += RD_GROUP_BLOCK) {
        if (at % RD_STOPPING_STEP < RD_GROUP_BLOCK && rd_team_stops(crew))
            break;
        rd_group_read(reader, at, end - at < RD_GROUP_BLOCK ? (size_t)(end - at) : RD_GROUP_BLOCK, &block);
        take(buckets, next, &block);
    }
}

static void take_parts(struct rd_group_buckets *buckets, take_block *take, bool counting) {
    struct rd_group_reader *reader = aligned_alloc(64, (sizeof *reader + 63) / 64 * 64);
    if (!reader) {
        atomic_store(&buckets->lacks_memory, true);
        return;
    }
    reader->many = buckets->many;
    reader->execution = buckets->execution;
    reader->outside = UINT64_MAX;
    for (unsigned part; (part = atomic_fetch_add(&buckets->part, 1)) < buckets->parts;) {
        if (counting)
            memset(buckets->next + part * buckets->count, 0, buckets->count * sizeof *buckets->next);
        read_part(buckets, reader, part, take);
        if (reader->outside != UINT64_MAX) { /* parts after this one do not matter, and those before it are taken */
            rd_group_note_outside(&buckets->outside, reader->outside);
            break;
        }
    }
    free(reader);
}

static void count_parts(void *context) {
    take_parts(context, count_block, true);
}
static void move_parts(void *context) {
    take_parts(context, move_block, false);
}

/* From how many elements parts have of buckets to where they belong. */
static void find_places(struct rd_group_buckets *buckets) {
    uint64_t place = 0;
    for (size_t b = 0; b < buckets->count; b++) {
        buckets->begin[b] = place;
        for (unsigned part = 0; part < buckets->parts; part++) {
            uint64_t *next = &buckets->next[part * buckets->count + b], count = *next;
            *next = place;
            place += count;
        }
    }
    buckets->begin[buckets->count] = place;
}

/* Whether all went well. */
static bool run(struct rd_group_buckets *buckets, void (*work)(void *context)) {
    const struct rd_crew *crew = &buckets->many->state[0].crew;
    atomic_store(&buckets->part, 0);
    rd_team_run(crew, buckets->threads, work, buckets);
    return !atomic_load(&buckets->lacks_memory) && atomic_load(&buckets->outside) == UINT64_MAX && !rd_team_stops(crew);
}

bool rd_group_buckets_move(struct rd_group_buckets *buckets, uint64_t first, uint64_t elements) {
    const uint64_t parts = rd_divide_up(elements, PART);
    buckets->first = first;
    buckets->elements = elements;
    buckets->parts = buckets->threads * PARTS_EACH;
    buckets->parts = parts < buckets->parts ? (unsigned)parts : buckets->parts;
    if (!run(buckets, count_parts))
        return false;
    find_places(buckets);
    return run(buckets, move_parts);
}

struct rd_group_block rd_group_buckets_read(const struct rd_group_buckets *buckets, size_t bucket, uint64_t at,
                                            uint64_t end) {
    struct rd_group_block block = {.to = buckets->to + at,
                                   .base = (uint32_t)(bucket << buckets->log2),
                                   .count = end - at < RD_GROUP_BLOCK ? (size_t)(end - at) : RD_GROUP_BLOCK,
                                   .row = buckets->row ? buckets->row + at : NULL};
    for (unsigned k = 0; k < buckets->many->inputs; k++)
        block.input[k] = buckets->input[k] + at * element_bytes(buckets);
    return block;
}
