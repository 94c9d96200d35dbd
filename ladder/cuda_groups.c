/* The ladder of groups: one sum for each key. Kernels are in cuda/groups/. */
#include "ladder/cuda_groups.h"

#include "gpu/whole.h"
#include "measure/data.h"
#include "program/memory.h"

#include <stdlib.h>

enum { THREADS = 256 }; /* as in cuda/groups/ */

static const ladder_step rungs[] = {LADDER_GROUP_GLOBAL, LADDER_GROUP_SHARED, LADDER_GROUP_RUNS,
                                    LADDER_GROUP_SORTED, LADDER_GROUP_SLICES, LADDER_GROUP_EXACT};

size_t cuda_groups_count(void) {
    return sizeof rungs / sizeof *rungs;
}

const char *cuda_groups_name(size_t i) {
    return ladder_rungs[rungs[i]].name;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------------------------------------------------ */

/* The key of element i of n. */
static uint32_t key_at(cuda_groups_order order, uint64_t i, uint64_t n, uint64_t groups) {
    __extension__ typedef unsigned __int128 wide;
    if (order == CUDA_GROUPS_SORTED)
        return (uint32_t)((wide)i * groups / n);
    return (uint32_t)((wide)measure_random_at(~i) * groups >> 64); /* other bits than the elements have */
}

cuda_groups_keys cuda_groups_keys_create(cuda_lab *lab, const ladder_data *data, uint64_t groups,
                                         cuda_groups_order order, bool rotate) {
    cuda_groups_keys keys = {.groups = groups, .sums = program_allocate(groups * sizeof *keys.sums)};
    uint32_t *values = program_allocate(data->n * sizeof *values + 1);
    uint64_t *counts = program_allocate(groups * sizeof *counts);
    for (uint64_t g = 0; g < groups; g++)
        keys.sums[g] = counts[g] = 0;
    for (uint64_t i = 0; i < data->n; i++) {
        uint32_t key = values[i] = key_at(order, i, data->n, groups);
        keys.sums[key] += many_units_at(data, i);
        keys.most = ++counts[key] > keys.most ? counts[key] : keys.most;
    }
    keys.input = gpu_cuda_input_create(lab->device, values, data->n * sizeof *values, rotate);
    free(counts);
    free(values);
    return keys;
}

void cuda_groups_keys_destroy(cuda_lab *lab, cuda_groups_keys *keys) {
    gpu_cuda_input_destroy(lab->device, &keys->input);
    free(keys->sums);
    *keys = (cuda_groups_keys){0};
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Making ready
 * ------------------------------------------------------------------------------------------------------------------ */

/* Shared memory for a copy of the sums, where the rung has one; false where that is too much. */
static bool copy_of_sums(const cuda_groups_run *run, unsigned *bytes, char *why, size_t room) {
    uint64_t needed = run->step == LADDER_GROUP_SHARED ? run->groups * reduct_type_size(run->type) : 0;
    *bytes = (unsigned)needed;
    if (needed <= run->lab->facts->shared_per_block)
        return true;
    snprintf(why, room, "%llu sums do not fit in a block's shared memory of %u bytes", (unsigned long long)run->groups,
             run->lab->facts->shared_per_block);
    return false;
}

static bool prepare_kernel(cuda_groups_run *run, char *why, size_t room) {
    char file[40], image[48], name[64];
    unsigned copy;
    if (!copy_of_sums(run, &copy, why, room))
        return false;
    gpu_file_name(run->step, file, sizeof file);
    snprintf(image, sizeof image, "groups/%s", file);
    snprintf(name, sizeof name, "%s_%s", file, reduct_type_name(run->type));
    run->kernel = cuda_lab_kernel(run->lab, image, name, copy, why, room);
    if (run->step == LADDER_GROUP_SLICES && run->kernel.function) {
        snprintf(name, sizeof name, "group_finish_%s", reduct_type_name(run->type));
        run->last_step = cuda_lab_kernel(run->lab, image, name, 0, why, room);
    }
    return run->kernel.function && (run->step != LADDER_GROUP_SLICES || run->last_step.function);
}

/* Queues CUB's sort and its sums of runs; without scratch memory it only says how much they need. */
static int sum_sorted(cuda_groups_run *run, uint64_t keys, uint64_t values) {
    return run->peers->sum_by_group(cuda_peer_type(run->type), gpu_cuda_pointer(run->scratch), &run->scratch_bytes,
                                    gpu_cuda_pointer(keys), gpu_cuda_pointer(values), gpu_cuda_pointer(run->result),
                                    run->n, run->groups, gpu_cuda_stream(run->lab->device));
}

static bool prepare_sorted(cuda_groups_run *run, char *why, size_t room) {
    const char *reason = NULL;
    run->peers = gpu_cuda_peers(run->lab->facts->ordinal, &reason);
    int error = run->peers ? sum_sorted(run, 0, 0) : 0;
    if (error)
        reason = run->n >> 31 ? "2^31 elements and more are not sorted here" : run->peers->text(error);
    if (reason)
        snprintf(why, room, "%s", reason);
    else
        run->scratch = gpu_cuda_allocate(run->lab->device, run->scratch_bytes);
    return !reason;
}

/* The library's sum of each group. */
static bool prepare_exact(cuda_groups_run *run, char *why, size_t room) {
    const reduct_reduction reduction = {.op = REDUCT_SUM, .element = run->type};
    const reduct_groups groups = {.count = run->groups, .elements = run->n, .index = REDUCT_U32};
    const reduct_plan_options options = {.reductions = &reduction,
                                         .reduction_count = 1,
                                         .kind = REDUCT_GROUPS,
                                         .groups = &groups,
                                         .device = run->lab->name};
    reduct_error error;
    if (reduct_plan_create(&options, &run->plan, &error) == REDUCT_OK)
        return true;
    snprintf(why, room, "%s", error.message);
    return false;
}

bool cuda_groups_prepare(cuda_groups_run *run, cuda_lab *lab, size_t i, reduct_type type, uint64_t n, uint64_t groups,
                         char *why, size_t room) {
    *run = (cuda_groups_run){.lab = lab, .step = rungs[i], .type = type, .n = n, .groups = groups};
    bool exact = run->step == LADDER_GROUP_EXACT, sorted = run->step == LADDER_GROUP_SORTED;
    run->result_bytes = exact && type == REDUCT_I32 ? 8 : reduct_type_size(type); /* i64: of no overflow */
    if (!(exact    ? prepare_exact(run, why, room)
          : sorted ? prepare_sorted(run, why, room)
                   : prepare_kernel(run, why, room)))
        return false;
    run->result = gpu_cuda_allocate(lab->device, groups * run->result_bytes);
    run->cleared = groups * run->result_bytes; /* by rungs that have a kernel of their own */
    if (run->last_step.function) {
        run->cleared = groups * 2 * sizeof(uint64_t);
        run->slices = gpu_cuda_allocate(lab->device, run->cleared);
    }
    if (run->kernel.function) {
        uint64_t resident = gpu_cuda_resident_blocks(lab->device, &run->kernel, THREADS);
        uint64_t most = lab->facts->multiprocessors * (resident ? resident : 1), wanted = gpu_ceil_divide(n, THREADS);
        run->blocks = (unsigned)(gpu_least(wanted, most) ? gpu_least(wanted, most) : 1);
    }
    if (gpu_cuda_error(lab->device))
        snprintf(why, room, "%s", gpu_cuda_error(lab->device));
    return !gpu_cuda_error(lab->device);
}

void cuda_groups_release(cuda_groups_run *run) {
    gpu_cuda_free(run->lab->device, run->result);
    gpu_cuda_free(run->lab->device, run->slices);
    gpu_cuda_free(run->lab->device, run->scratch);
    reduct_plan_destroy(run->plan);
    *run = (cuda_groups_run){.lab = run->lab};
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Running and judging
 * ------------------------------------------------------------------------------------------------------------------ */

void cuda_groups_once(cuda_groups_run *run, uint64_t keys, uint64_t values) {
    gpu_cuda *device = run->lab->device;
    if (run->plan) {
        cuda_lab_execute_into(run->lab, run->plan, values, keys, run->result);
        return;
    }
    if (run->peers) { /* clears the results itself */
        int error = gpu_cuda_error(device) ? 0 : sum_sorted(run, keys, values);
        if (error)
            gpu_cuda_fail(device, run->peers->text(error));
        return;
    }
    uint64_t to = run->slices ? run->slices : run->result;
    gpu_cuda_fill(device, to, 0, run->cleared);
    gpu_cuda_launch(device, &run->kernel, run->blocks, THREADS, (void *[]){&keys, &values, &run->n, &run->groups, &to});
    if (run->slices)
        gpu_cuda_launch(device, &run->last_step, (unsigned)gpu_ceil_divide(run->groups, THREADS), THREADS,
                        (void *[]){&to, &run->groups, &run->result});
}

void cuda_groups_judge(cuda_groups_run *run, const cuda_groups_keys *keys, report_row *row) {
    unsigned char *values = program_allocate(run->groups * run->result_bytes);
    gpu_cuda_download(run->lab->device, values, run->result, run->groups * run->result_bytes);
    bool any_order = !run->plan && !run->slices; /* a tree of additions, of any form */
    const many_results results = {.type = run->type,
                                  .values = values,
                                  .bytes = run->result_bytes,
                                  .count = run->groups,
                                  .terms = any_order ? (double)keys->most : 0,
                                  .sums = keys->sums};
    many_judge(&results, row);
    free(values);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The climb
 * ------------------------------------------------------------------------------------------------------------------ */

typedef struct climb {
    cuda_lab *lab;
    const ladder_options *options;
    const ladder_data *data;
    const cuda_groups_keys *keys;
    const char *order;
    report *r;
    double first;
    cuda_groups_run run;
} climb;

static void run_once(void *context, uint64_t number) {
    climb *c = context;
    cuda_groups_once(&c->run, gpu_cuda_input_at(&c->keys->input, number), gpu_cuda_input_at(&c->lab->input, number));
}

static void add_rung(climb *c, size_t i) {
    char group[64];
    snprintf(group, sizeof group, "%llu groups, %s", (unsigned long long)c->options->groups, c->order);
    report_row row = cuda_row(c->lab, group, cuda_groups_name(i), c->options->type, c->data->n);
    row.bytes += c->data->n * sizeof(uint32_t); /* the keys are read, too */
    snprintf(row.variant, sizeof row.variant, "%s", c->order);
    if (cuda_groups_prepare(&c->run, c->lab, i, c->options->type, c->data->n, c->options->groups, row.note,
                            sizeof row.note)) {
        cuda_row_kernel(c->lab, &row, &c->run.kernel, THREADS);
        if (c->run.peers)
            cuda_peer_version(c->run.peers->cub_version, "CUB ", row.note, sizeof row.note);
        measure_statistics seconds = gpu_cuda_time(c->lab->device, run_once, c, c->options->rounds);
        run_once(c, 0);
        cuda_groups_judge(&c->run, c->keys, &row);
        cuda_row_time(c->lab, &row, &seconds);
        c->first = c->first > 0 ? c->first : seconds.median;
        report_set(&row, MEASURE_SPEEDUP, seconds.median > 0 ? c->first / seconds.median : 0);
        gpu_row_error(&row, "", gpu_cuda_error(c->lab->device));
    } else {
        row.verdict = REPORT_NOT_RUN;
    }
    cuda_groups_release(&c->run);
    if (gpu_cuda_error(c->lab->device))
        gpu_cuda_forgive(c->lab->device);
    report_add_row(c->r, &row);
}

void cuda_run_groups(cuda_lab *lab, const ladder_options *options, const ladder_data *data, report *r) {
    static const char *const orders[CUDA_GROUPS_ORDERS] = {"random keys", "sorted keys"};
    for (int order = 0; order < CUDA_GROUPS_ORDERS; order++) {
        cuda_groups_keys keys = cuda_groups_keys_create(lab, data, options->groups, (cuda_groups_order)order, true);
        climb c = {.lab = lab, .options = options, .data = data, .keys = &keys, .order = orders[order], .r = r};
        for (size_t i = 0; i < cuda_groups_count(); i++)
            if (ladder_wants(options->rung, cuda_groups_name(i)))
                add_rung(&c, i);
        cuda_groups_keys_destroy(lab, &keys);
    }
}
