/* Tables on a CUDA device. Their cells are in host memory, as those of all tables (state/table.h). What elements of a batch come
 * to by group is found on the device by the kernels of plans over groups, which leave planes of integers (kernels/groups.h). Those of
 * a table whose states all are sums are added to what is pending on the device (pending.h), where nothing special came and all
 * elements fit the window; others come to the host, and each group's are added to its cell. Nothing is changed before all is known to be well.
 *
 * A batch of fewer elements than there are groups goes the other way: its elements come to the host, and are added there. So does
 * one that takes out what is not there, which the host finds the place of. Bits do not depend on the way. */
#include "cuda/table.h"

#include "core/environment.h"
#include "core/reduction.h"
#include "core/status.h"
#include "cpu/numbers.h"
#include "cuda/array.h"
#include "cuda/groups.h"
#include "cuda/pending.h"
#include "family/family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t rd_cuda_table_least = 1 << 14;

/* More elements than this are left to the host: kernels count up to some. */
#define ELEMENTS_MOST ((uint64_t)1 << 36)

/* A field of sums, or what is found in its place. */
struct planes {
    uint64_t *window;     /* planes of `groups` words */
    uint64_t *rest;       /* from number `low` to below `high`; null if there are none */
    unsigned count;       /* of the window */
    int unit, base, step; /* exponents of the window's lowest plane and of plane 0 of the rest, and bits of a plane */
    uint32_t low, high;
};

/* What a pass left for the groups. */
struct found {
    struct rd_cuda_groups_pass pass;
    struct planes planes[2];
    uint64_t *counted, *nan_below, *special; /* null where nobody asked, or there are none */
    uint32_t *notes;
    uint64_t bad_below;           /* as in the header */
    bool kept;                    /* it is in these, and nothing of it on the host */
    struct rd_cuda_numbers fresh; /* which are not yet the table's */
};

/* What is counted beside states: elements of each group; and those that are no NaN. */
enum { SEEN, PRESENT, BESIDE };

struct work {
    reduct_table *table;
    const struct rd_table_change *change;
    reduct_table_batch batch; /* with arrays where they are read: those of one group have zeros for indices */
    uint64_t groups;
    struct rd_cuda_context *context;
    const rd_cuda_driver *driver;
    rd_cu_address buffer[16]; /* of the device, freed together */
    unsigned buffers;
    void *copy[4]; /* of the host */
    unsigned copies;
    struct found *found; /* of states, and then those of BESIDE */
    bool keeps;          /* what passes find may stay on the device */
};

/* ---------------------------------------------------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status device_failed(const struct work *work, rd_cu_result result, reduct_error *error) {
    return rd_cuda_fail(work->context->device, result, "to add to a table", error);
}

static rd_cu_result make_buffer(struct work *work, size_t bytes, void **buffer) {
    rd_cu_address address = 0;
    const rd_cu_result result = work->driver->cuMemAlloc(&address, bytes ? bytes : 1);
    if (result == RD_CU_SUCCESS)
        work->buffer[work->buffers++] = address;
    *buffer = (void *)(uintptr_t)address;
    return result;
}

static void free_buffers(struct work *work, unsigned left) {
    while (work->buffers > left)
        work->driver->cuMemFree(work->buffer[--work->buffers]);
}

/* An array where the device can read it. */
static rd_cu_result bring(struct work *work, const void **array, size_t bytes) {
    void *copy;
    if (!*array || rd_cuda_on_device(work->context->device, *array))
        return RD_CU_SUCCESS;
    rd_cu_result result = make_buffer(work, bytes, &copy);
    if (result == RD_CU_SUCCESS)
        result = work->driver->cuMemcpyHtoDAsync((rd_cu_address)(uintptr_t)copy, *array, bytes, NULL);
    *array = copy;
    return result;
}

/* Queues that bytes come to the host. */
static rd_cu_result fetch(const struct work *work, void *to, const void *from, size_t bytes) {
    return bytes ? work->driver->cuMemcpyDtoHAsync(to, (rd_cu_address)(uintptr_t)from, bytes, NULL) : RD_CU_SUCCESS;
}

static rd_cu_result wait_for_device(const struct work *work) {
    return work->driver->cuStreamSynchronize(NULL);
}

static size_t mask_bytes(const reduct_table_batch *batch) {
    return (size_t)rd_cuda_mask_bytes(batch->mask_kind, batch->mask_offset + batch->count);
}

/* The batch, its mask as of the byte that holds its first entry. */
static reduct_table_batch batch_of(const struct rd_table_change *change) {
    reduct_table_batch batch = *change->batch;
    batch.mask = rd_cuda_mask_from(batch.mask_kind, batch.mask, &batch.mask_offset);
    return batch;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * On the host
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status bring_home(struct work *work, const void **array, size_t bytes, reduct_error *error) {
    if (!*array || !bytes || !rd_cuda_on_device(work->context->device, *array))
        return REDUCT_OK;
    void *copy = malloc(bytes);
    if (!copy)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "table: %zu bytes could not be allocated", bytes);
    work->copy[work->copies++] = copy;
    const rd_cu_result result = fetch(work, copy, *array, bytes);
    *array = copy;
    return result == RD_CU_SUCCESS ? REDUCT_OK : device_failed(work, result, error);
}

static reduct_status change_here(struct work *work, reduct_error *error) {
    reduct_table_batch batch = batch_of(work->change);
    const size_t bytes = rd_type(work->table->widest->element)->bytes, count = (size_t)batch.count;
    reduct_status status = bring_home(work, &batch.x, count * bytes, error);
    if (status == REDUCT_OK)
        status = bring_home(work, &batch.y, count * bytes, error);
    if (status == REDUCT_OK && batch.indices)
        status = bring_home(work, &batch.indices, count * rd_type(batch.index)->bytes, error);
    if (status == REDUCT_OK)
        status = bring_home(work, &batch.mask, mask_bytes(&batch), error);
    if (work->copies) { /* which nothing may still write when they are freed */
        const rd_cu_result result = wait_for_device(work);
        if (status == REDUCT_OK && result != RD_CU_SUCCESS)
            status = device_failed(work, result, error);
    }
    if (status == REDUCT_OK)
        status = rd_table_change_here(
            work->table,
            &(struct rd_table_change){.batch = &batch, .group = work->change->group, .removes = work->change->removes},
            error);
    while (work->copies)
        free(work->copy[--work->copies]);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Passes
 * ------------------------------------------------------------------------------------------------------------------ */

static bool of_floats(const struct rd_cells *cells) {
    return rd_type(cells->reduction.element)->kind == RD_FLOAT;
}

/* Where words of the host go that come from the device. False if there is no memory. */
static bool make_words(uint64_t **words, uint64_t count) {
    *words = malloc((size_t)(count ? count : 1) * sizeof **words);
    return *words != NULL;
}

static reduct_status no_memory(const struct work *work, reduct_error *error) {
    return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "table: memory for %llu groups could not be allocated",
                   (unsigned long long)work->groups);
}

/* Queues that what the pass left comes to the host, but for the rest of its planes. */
static reduct_status fetch_planes(struct work *work, struct found *found, const unsigned char *workspace,
                                  const void *special, reduct_error *error) {
    const struct rd_cuda_groups_pass *pass = &found->pass;
    const size_t words = (size_t)work->groups, bytes = words * sizeof(uint64_t);
    rd_cu_result result = RD_CU_SUCCESS;
    for (unsigned s = 0; s < pass->scans && result == RD_CU_SUCCESS; s++) {
        struct planes *planes = &found->planes[s];
        planes->count = pass->scan[s].grid.window_planes;
        if (!make_words(&planes->window, words * planes->count))
            return no_memory(work, error);
        result = fetch(work, planes->window, workspace + pass->scan[s].window, bytes * planes->count);
    }
    if (result == RD_CU_SUCCESS && pass->counted != SIZE_MAX) {
        if (!make_words(&found->counted, words))
            return no_memory(work, error);
        result = fetch(work, found->counted, workspace + pass->counted, bytes);
    }
    if (result == RD_CU_SUCCESS && pass->nan_below != SIZE_MAX) {
        if (!make_words(&found->nan_below, words))
            return no_memory(work, error);
        result = fetch(work, found->nan_below, workspace + pass->nan_below, bytes);
    }
    if (result == RD_CU_SUCCESS && pass->groups.is_pick == RD_CUDA_GROUPS_EXTREME) {
        if (!(found->notes = malloc((words ? words : 1) * sizeof *found->notes)))
            return no_memory(work, error);
        result = fetch(work, found->notes, workspace + pass->notes[0], words * sizeof *found->notes);
    }
    if (result == RD_CU_SUCCESS && special) {
        if (!make_words(&found->special, words * RD_CUDA_GROUPS_SPECIALS))
            return no_memory(work, error);
        result = fetch(work, found->special, special, bytes * RD_CUDA_GROUPS_SPECIALS);
    }
    return result == RD_CU_SUCCESS ? REDUCT_OK : device_failed(work, result, error);
}

/* The rest of the planes, as many groups at a time as the workspace has room for. */
static reduct_status fetch_rest(struct work *work, struct found *found,
                                const struct rd_cuda_groups_addresses *addresses, reduct_error *error) {
    const struct rd_cuda_groups_pass *pass = &found->pass;
    const unsigned char *workspace = addresses->workspace;
    const uint64_t room = pass->groups.rest_room;
    rd_cu_result result = RD_CU_SUCCESS;
    for (unsigned s = 0; s < pass->scans; s++) {
        struct planes *planes = &found->planes[s];
        if (planes->high > planes->low && !make_words(&planes->rest, work->groups * (planes->high - planes->low)))
            return no_memory(work, error);
    }
    for (uint64_t first = 0; first < work->groups && result == RD_CU_SUCCESS; first += room) {
        const uint64_t some = work->groups - first < room ? work->groups - first : room;
        result = rd_cuda_groups_collect_rest(pass, addresses, first, NULL);
        for (unsigned s = 0; s < pass->scans; s++) {
            const struct planes *planes = &found->planes[s];
            const uint64_t *from = (const uint64_t *)(const void *)(workspace + pass->scan[s].rest);
            for (uint32_t k = planes->low; k < planes->high && result == RD_CU_SUCCESS; k++)
                result = fetch(work, planes->rest + (k - planes->low) * work->groups + first, from + k * room,
                               (size_t)some * sizeof(uint64_t));
        }
    }
    return result == RD_CU_SUCCESS ? REDUCT_OK : device_failed(work, result, error);
}

/* What the headers say of where planes are; and whether there is anything in the rest. */
static bool read_headers(struct found *found, const struct rd_cuda_groups_header *header) {
    bool any = false;
    for (unsigned s = 0; s < found->pass.scans; s++) {
        struct planes *planes = &found->planes[s];
        planes->step = (int)found->pass.groups.step;
        planes->unit = header[s].unit;
        planes->base = header[s].unit - header[s].first * planes->step;
        planes->low = header[s].high_above ? UINT32_MAX - header[s].low_below : 0;
        planes->high = header[s].high_above;
        any = any || planes->high > planes->low;
    }
    found->bad_below = header[0].bad_below;
    return any;
}

/* Whether a batch may stay on the device: it is added to any of the groups, of sums alone. */
static bool may_keep(const struct work *work) {
    bool sums = work->change->batch->indices && !work->change->removes;
    for (size_t s = 0; s < work->table->states; s++)
        sums = sums && work->table->cells[s].kind == RD_CELL_SUMS;
    return sums;
}

/* Leaves on the device what a pass found for a state, if that is but sums within the window. */
static reduct_status keep(const struct work *work, struct found *found, const void *workspace,
                          const struct rd_cuda_groups_header *header, bool rest, reduct_error *error) {
    const size_t state = (size_t)(found - work->found);
    if (!work->keeps || rest || header[0].special || header[0].bad_below)
        return REDUCT_OK;
    return rd_cuda_pending_add(work->table, state, &found->pass, workspace, header, &found->fresh, &found->kept, error);
}

/* One pass, of a reduction of the batch's elements: waits until all that it left is where it is to be. */
static reduct_status run_pass(struct work *work, const reduct_reduction *reduction, struct found *found,
                              reduct_error *error) {
    const reduct_table_batch *batch = &work->batch;
    const unsigned before = work->buffers;
    reduct_reduction own = *reduction;
    const struct rd_many many = {.reductions = 1,
                                 .reduction = &own,
                                 .layout.results = work->groups,
                                 .groups = {.count = work->groups,
                                            .elements = batch->count,
                                            .index = batch->index,
                                            .width = 1,
                                            .skip = batch->skip},
                                 .mask = batch->mask_kind,
                                 .mask_offset = batch->mask_offset};
    struct rd_cuda_groups_pass *pass = &found->pass;
    struct rd_cuda_groups_header header[2];
    reduct_status status = rd_cuda_groups_prepare(work->context, &many, 0, true, pass, error);
    if (status != REDUCT_OK)
        return status;
    struct rd_cuda_groups_addresses addresses = {
        .input = {batch->x, batch->y}, .indices = batch->indices, .mask = batch->mask};
    const size_t special_bytes = (size_t)work->groups * RD_CUDA_GROUPS_SPECIALS * sizeof(uint64_t);
    void *special = NULL;
    rd_cu_result result = make_buffer(work, pass->bytes, &addresses.workspace);
    if (result == RD_CU_SUCCESS && pass->special)
        result = make_buffer(work, special_bytes, &special);
    if (result == RD_CU_SUCCESS && pass->special)
        result = work->driver->cuMemsetD8Async((rd_cu_address)(uintptr_t)special, 0, special_bytes, NULL);
    if (result == RD_CU_SUCCESS)
        result = rd_cuda_groups_collect(pass, &addresses, special, NULL);
    for (unsigned s = 0; s < pass->scans && result == RD_CU_SUCCESS; s++)
        result = fetch(work, &header[s], (unsigned char *)addresses.workspace + pass->scan[s].header, sizeof *header);
    if (result == RD_CU_SUCCESS)
        result = wait_for_device(work);
    status = result == RD_CU_SUCCESS ? REDUCT_OK : device_failed(work, result, error);
    if (status == REDUCT_OK) {
        const bool rest = read_headers(found, header);
        status = keep(work, found, addresses.workspace, header, rest, error);
        if (status == REDUCT_OK && !found->kept)
            status = fetch_planes(work, found, addresses.workspace, header[0].special ? special : NULL, error);
        if (status == REDUCT_OK && rest)
            status = fetch_rest(work, found, &addresses, error);
        result = wait_for_device(work); /* whatever else failed: nothing may still be written when memory is freed */
        if (status == REDUCT_OK && result != RD_CU_SUCCESS)
            status = device_failed(work, result, error);
    }
    free_buffers(work, before);
    return status;
}

static void free_found(struct found *found) {
    for (unsigned s = 0; s < 2; s++) {
        free(found->planes[s].window);
        free(found->planes[s].rest);
    }
    free(found->counted);
    free(found->nan_below);
    free(found->special);
    free(found->notes);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Parts
 * ------------------------------------------------------------------------------------------------------------------ */

/* The state of sums that counts elements for all others, or as many as there are states. */
static size_t counting_state(const reduct_table *table) {
    size_t s = 0;
    while (s < table->states && table->cells[s].kind != RD_CELL_SUMS)
        s++;
    return s;
}

static uint64_t seen_of(const struct work *work, size_t s, uint64_t group) {
    const size_t states = work->table->states,
                 counting = work->table->cells[s].kind == RD_CELL_SUMS ? s : counting_state(work->table);
    if (counting == states)
        return work->found[states + SEEN].planes[0].window[group];
    const struct found *found = &work->found[counting];
    return found->counted[group] + (found->special ? found->special[RD_CUDA_GROUPS_IGNORED * work->groups + group] : 0);
}

static void take_digits(const struct work *work, const struct found *found, uint64_t group, struct rd_digit *digit,
                        struct rd_cell_part *part) {
    size_t digits = 0;
    for (unsigned s = 0; s < found->pass.scans; s++) {
        const struct planes *planes = &found->planes[s];
        for (unsigned k = 0; k < planes->count; k++) {
            const int64_t value = (int64_t)planes->window[k * work->groups + group];
            if (value)
                digit[digits++] = (struct rd_digit){value, (int16_t)(planes->unit + (int)k * planes->step), (int16_t)s};
        }
        for (uint32_t k = planes->low; k < planes->high; k++) {
            const int64_t value = (int64_t)planes->rest[(k - planes->low) * work->groups + group];
            if (value)
                digit[digits++] = (struct rd_digit){value, (int16_t)(planes->base + (int)k * planes->step), (int16_t)s};
        }
    }
    part->digit = digit;
    part->digits = digits;
}

/* The bits of an extreme: kernels have keys of which the least is best. */
static uint64_t bits_of_key(uint64_t key, const reduct_reduction *reduction, bool greatest) {
    const struct rd_type *type = rd_type(reduction->element);
    const uint64_t mask = UINT64_MAX >> (64 - 8 * type->bytes), sign = mask ^ mask >> 1;
    key ^= greatest ? mask : 0;
    if (type->kind == RD_FLOAT)
        return key & sign ? key & ~sign : ~key & mask;
    return type->kind == RD_SIGNED && rd_operator(reduction->op)->transform != RD_ABSOLUTE ? key ^ sign : key;
}

static void take_extreme(const struct work *work, const struct found *found, const reduct_reduction *reduction,
                         uint64_t group, struct rd_cell_part *part) {
    const struct rd_operator *op = rd_operator(reduction->op);
    const uint64_t mask = UINT64_MAX >> (64 - 8 * rd_type(reduction->element)->bytes),
                   word = found->planes[0].window[group];
    const bool first = found->pass.groups.is_pick == RD_CUDA_GROUPS_FIRST;
    const uint64_t rank = first ? RD_CUDA_GROUPS_RANK(word) : word;
    if (found->nan_below && found->nan_below[group])
        part->nan = ~found->nan_below[group] + work->table->seen;
    part->found = word || (found->notes && found->notes[group] & RD_CUDA_GROUPS_FOUND);
    part->extreme = bits_of_key(mask - rank, reduction, op->combine == RD_GREATEST);
    if (op->combine == RD_BOTH)
        part->other = bits_of_key(found->planes[1].window[group], reduction, false);
    else if (op->finish == RD_INDEX)
        part->other = (first ? RD_CUDA_GROUPS_ROW(word) : ~found->planes[1].window[group]) + work->table->seen;
}

static void take_part(const void *context, size_t s, uint64_t group, struct rd_digit digits[RD_DIGITS_MOST],
                      struct rd_cell_part *part) {
    const struct work *work = context;
    const struct rd_cells *cells = &work->table->cells[s];
    const struct found *found = &work->found[s], *present = &work->found[work->table->states + PRESENT];
    part->seen = found->kept ? 0 : seen_of(work, s, group);
    if (!part->seen)
        return;
    if (cells->kind == RD_CELL_SUMS) {
        if (found->special) {
            const uint64_t *special = found->special + group;
            for (unsigned i = 0; i < RD_CUDA_GROUPS_IGNORED; i++)
                part->special[i] = special[i * work->groups];
            part->ignored = special[RD_CUDA_GROUPS_IGNORED * work->groups];
        }
        take_digits(work, found, group, digits, part);
        return;
    }
    if (of_floats(cells) && cells->reduction.nan == REDUCT_NAN_IGNORE)
        part->ignored = part->seen - present->planes[0].window[group];
    const uint64_t word = found->planes[0].window[group];
    if (cells->kind == RD_CELL_EXTREMES)
        take_extreme(work, found, &cells->reduction, group, part);
    else if (cells->kind == RD_CELL_BITS)
        part->bits = word;
    else /* of `and` those are counted that are zero */
        part->counted = rd_operator(cells->reduction.op)->combine == RD_AND ? part->seen - part->ignored - word : word;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * A batch
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status report_index(const struct work *work, uint64_t element, reduct_error *error) {
    const struct rd_type *type = rd_type(work->batch.index);
    int64_t index = 0;
    rd_cu_result result =
        fetch(work, &index, (const unsigned char *)work->batch.indices + element * type->bytes, type->bytes);
    if (result == RD_CU_SUCCESS)
        result = wait_for_device(work);
    if (result != RD_CU_SUCCESS)
        return device_failed(work, result, error);
    if (work->batch.index == REDUCT_I32)
        index = (int32_t)index;
    return rd_fail_at(error, REDUCT_ERROR_ARGUMENT, element, "indices: element %llu is of group %lld of %llu",
                      (unsigned long long)element, (long long)index, (unsigned long long)work->groups);
}

/* The first element that has no group, or is a NaN where that is an error. */
static reduct_status check_elements(const struct work *work, reduct_error *error) {
    const size_t states = work->table->states;
    uint64_t outside = 0, nan = 0; /* complements, as they come: the greatest is the first */
    for (size_t s = 0; s < states + BESIDE; s++)
        outside = work->found[s].bad_below > outside ? work->found[s].bad_below : outside;
    for (size_t s = 0; s < states; s++)
        for (uint64_t g = 0;
             work->table->cells[s].reduction.nan == REDUCT_NAN_ERROR && work->found[s].nan_below && g < work->groups;
             g++)
            nan = work->found[s].nan_below[g] > nan ? work->found[s].nan_below[g] : nan;
    if (nan && (!outside || ~nan - 1 < ~outside))
        return rd_fail_at(error, REDUCT_ERROR_NAN, ~nan - 1, "element %llu is NaN", (unsigned long long)(~nan - 1));
    return outside ? report_index(work, ~outside, error) : REDUCT_OK;
}

/* Arrays where the device can read them. */
static rd_cu_result bring_all(struct work *work) {
    reduct_table_batch *batch = &work->batch;
    const size_t bytes = rd_type(work->table->widest->element)->bytes, count = (size_t)batch->count;
    rd_cu_result result = bring(work, &batch->x, count * bytes);
    if (result == RD_CU_SUCCESS)
        result = bring(work, &batch->y, count * bytes);
    if (result == RD_CU_SUCCESS)
        result = bring(work, &batch->mask, mask_bytes(batch));
    if (result == RD_CU_SUCCESS && batch->indices)
        return bring(work, &batch->indices, count * rd_type(batch->index)->bytes);
    void *zeros;
    batch->index = REDUCT_U8;
    if (result == RD_CU_SUCCESS)
        result = make_buffer(work, count, &zeros);
    if (result == RD_CU_SUCCESS)
        result = work->driver->cuMemsetD8Async((rd_cu_address)(uintptr_t)zeros, 0, count, NULL);
    if (result == RD_CU_SUCCESS)
        batch->indices = zeros;
    return result;
}

/* All passes. What is counted beside states is so by bytes, and by elements. */
static reduct_status run_passes(struct work *work, reduct_error *error) {
    const reduct_table *table = work->table;
    reduct_reduction beside[BESIDE] = {
        [SEEN] = {.op = REDUCT_COUNT, .element = REDUCT_U8},
        [PRESENT] = {.op = REDUCT_COUNT, .element = table->widest->element, .nan = REDUCT_NAN_IGNORE}};
    bool needed[BESIDE] = {[SEEN] = counting_state(table) == table->states};
    reduct_status status = REDUCT_OK;
    for (size_t s = 0; s < table->states; s++)
        needed[PRESENT] |= table->cells[s].kind != RD_CELL_SUMS && of_floats(&table->cells[s]) &&
                           table->cells[s].reduction.nan == REDUCT_NAN_IGNORE;
    for (size_t s = 0; s < table->states && status == REDUCT_OK; s++)
        status = run_pass(work, &table->cells[s].reduction, &work->found[s], error);
    for (unsigned b = 0; b < BESIDE && status == REDUCT_OK; b++) {
        status = reduct_reduction_resolve(&beside[b], error);
        if (status == REDUCT_OK && needed[b])
            status = run_pass(work, &beside[b], &work->found[table->states + b], error);
    }
    return status;
}

/* What was kept becomes the table's, and the rest its cells'. */
static reduct_status take_all(struct work *work, bool *missing, reduct_error *error) {
    reduct_table *table = work->table;
    bool any_kept = false, all_kept = true;
    for (size_t s = 0; s < table->states; s++) {
        any_kept = any_kept || work->found[s].kept;
        all_kept = all_kept && work->found[s].kept;
    }
    reduct_status status = any_kept ? rd_cuda_pending_make(table, work->context, error) : REDUCT_OK;
    if (status == REDUCT_OK && all_kept)
        table->seen += work->batch.count;
    else if (status == REDUCT_OK)
        status = rd_table_take(table,
                               &(struct rd_table_parts){.first = work->change->batch->indices ? 0 : work->change->group,
                                                        .groups = work->groups,
                                                        .elements = work->batch.count,
                                                        .removes = work->change->removes,
                                                        .part = take_part,
                                                        .context = work},
                               missing, error);
    for (size_t s = 0; s < table->states && status == REDUCT_OK; s++)
        if (work->found[s].kept) {
            rd_cuda_pending_take(table, s, &work->found[s].fresh);
            work->found[s].fresh = (struct rd_cuda_numbers){.words = 0};
        }
    return status;
}

static reduct_status change_there(struct work *work, bool *missing, reduct_error *error) {
    const size_t passes = work->table->states + BESIDE;
    work->batch = batch_of(work->change);
    work->found = calloc(passes, sizeof *work->found);
    if (!work->found)
        return no_memory(work, error);
    work->keeps = may_keep(work);
    const rd_cu_result result = bring_all(work);
    reduct_status status = result == RD_CU_SUCCESS ? run_passes(work, error) : device_failed(work, result, error);
    if (status == REDUCT_OK)
        status = check_elements(work, error);
    if (status == REDUCT_OK)
        status = take_all(work, missing, error);
    for (size_t i = 0; i < passes; i++) {
        free_found(&work->found[i]);
        rd_cuda_numbers_drop(work->context, &work->found[i].fresh);
    }
    free(work->found);
    if (work->buffers)
        wait_for_device(work);
    free_buffers(work, 0);
    return status;
}

/* Whether the device takes less time, and can. */
static bool is_for_device(const struct work *work) {
    const uint64_t count = work->change->batch->count;
    return count >= rd_cuda_table_least && count >= work->groups && count < ELEMENTS_MOST && work->groups &&
           work->groups < UINT32_MAX;
}

/* Where the device has no room, the host may have. */
static reduct_status change_either(struct work *work, reduct_error *error) {
    reduct_error own;
    bool missing = false;
    if (!is_for_device(work))
        return change_here(work, error);
    const reduct_status status = change_there(work, &missing, &own);
    if (missing || status == REDUCT_ERROR_OUT_OF_MEMORY)
        return change_here(work, error);
    if (status != REDUCT_OK && error)
        *error = own;
    return status;
}

reduct_status rd_cuda_change_table(const struct rd_device *device, reduct_table *table,
                                   const struct rd_table_change *change, reduct_error *error) {
    struct work *work = malloc(sizeof *work);
    struct rd_cuda_stay stay;
    if (!work)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "table: %zu bytes could not be allocated", sizeof *work);
    memset(work, 0, sizeof *work);
    work->table = table;
    work->change = change;
    work->groups = change->batch->indices ? table->groups : 1;
    rd_environment caller = rd_environment_enter();
    reduct_status status = rd_cuda_enter(((const struct rd_cuda_name *)device->private)->device, &stay, error);
    if (status == REDUCT_OK) {
        work->context = stay.context;
        work->driver = stay.context->device->driver;
        status = change_either(work, error);
        rd_cuda_leave(stay.context->device, &stay);
    }
    rd_environment_leave(caller);
    free(work);
    return status;
}

reduct_status rd_cuda_put(int device, void *to, const void *from, size_t bytes, reduct_error *error) {
    const struct rd_cuda_name *name;
    struct rd_cuda_stay stay;
    char text[16];
    snprintf(text, sizeof text, "%d", device);
    rd_environment caller = rd_environment_enter();
    reduct_status status = rd_cuda_device_open(text, &name, error);
    if (status == REDUCT_OK)
        status = rd_cuda_enter(name->device, &stay, error);
    if (status == REDUCT_OK) {
        const rd_cuda_driver *driver = name->device->driver;
        rd_cu_result result = driver->cuMemcpyHtoDAsync((rd_cu_address)(uintptr_t)to, from, bytes, NULL);
        if (result == RD_CU_SUCCESS)
            result = driver->cuStreamSynchronize(NULL);
        if (result != RD_CU_SUCCESS)
            status = rd_cuda_fail(name->device, result, "to copy results", error);
        rd_cuda_leave(name->device, &stay);
    }
    rd_environment_leave(caller);
    return status;
}
