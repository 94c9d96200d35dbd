/* The CUDA ladder's rungs, and how a rung with a finish is launched. */
#include "ladder/cuda_ladder.h"

#include "program/memory.h"

#include <reduct/cuda.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * The device
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status fail(reduct_error *error, reduct_status status, const char *message) {
    if (error) {
        *error = (reduct_error){.status = status, .index = UINT64_MAX};
        snprintf(error->message, sizeof error->message, "%s", message);
    }
    return status;
}

reduct_status cuda_lab_open(cuda_lab *lab, const char *name, reduct_error *error) {
    char why[240], *end = NULL;
    unsigned long ordinal = 0;
    *lab = (cuda_lab){0};
    if (strncmp(name, "cuda:", 5) == 0) {
        ordinal = strtoul(name + 5, &end, 10);
        if (name[5] < '0' || name[5] > '9' || *end || ordinal > 1u << 16)
            return fail(error, REDUCT_ERROR_ARGUMENT, "a CUDA device is called cuda:0, cuda:1 and so on");
    } else if (strcmp(name, "cuda") != 0) {
        return fail(error, REDUCT_ERROR_ARGUMENT, "a CUDA device is called cuda:0, cuda:1 and so on");
    }
    if (!ladder_cuda_images[0].name)
        return fail(error, REDUCT_ERROR_NO_DEVICE,
                    "this build has no CUDA kernels: it was made without NVIDIA's compiler, nvcc");
    lab->device = gpu_cuda_open((unsigned)ordinal, why, sizeof why);
    if (!lab->device)
        return fail(error, REDUCT_ERROR_NO_DEVICE, why);
    lab->facts = gpu_cuda_describe(lab->device);
    snprintf(lab->name, sizeof lab->name, "cuda:%u", lab->facts->ordinal);
    lab->result = gpu_cuda_allocate(lab->device, 64);
    lab->ticket = gpu_cuda_allocate(lab->device, 4);
    gpu_cuda_fill(lab->device, lab->ticket, 0, 4);
    if (gpu_cuda_error(lab->device)) {
        fail(error, REDUCT_ERROR_DEVICE_LOST, gpu_cuda_error(lab->device));
        cuda_lab_close(lab);
        return REDUCT_ERROR_DEVICE_LOST;
    }
    return REDUCT_OK;
}

void cuda_lab_close(cuda_lab *lab) {
    reduct_plan_destroy(lab->plan);
    for (size_t i = 0; i < lab->module_count; i++)
        gpu_cuda_module_unload(lab->device, lab->modules[i].module);
    for (size_t i = 0; i < 2; i++)
        gpu_cuda_free(lab->device, lab->partials[i]);
    gpu_cuda_free(lab->device, lab->result);
    gpu_cuda_free(lab->device, lab->ticket);
    free(lab->host_partials);
    free(lab->counters);
    gpu_cuda_close(lab->device);
    *lab = (cuda_lab){0};
}

static gpu_cuda_module *module_of(cuda_lab *lab, const rd_cuda_image *image) {
    for (size_t i = 0; i < lab->module_count; i++)
        if (lab->modules[i].image == image->name)
            return lab->modules[i].module;
    gpu_cuda_module *module = gpu_cuda_module_load(lab->device, image->data);
    if (module && lab->module_count < CUDA_MODULES_MOST) {
        lab->modules[lab->module_count].image = image->name;
        lab->modules[lab->module_count++].module = module;
    }
    return module;
}

gpu_cuda_kernel cuda_lab_kernel(cuda_lab *lab, const char *image_name, const char *name, unsigned dynamic_shared,
                                char *why, size_t room) {
    gpu_cuda_kernel none = {0};
    const rd_cuda_image *image = rd_cuda_image_find(ladder_cuda_images, image_name);
    if (!image) {
        snprintf(why, room, "this build has no kernels for it");
        return none;
    }
    if (lab->facts->capability < image->least) {
        snprintf(why, room, "needs compute capability %u.%u; this device has %u.%u", image->least / 10,
                 image->least % 10, lab->facts->capability / 10, lab->facts->capability % 10);
        return none;
    }
    gpu_cuda_module *module = module_of(lab, image);
    if (!module) {
        snprintf(why, room, "%s: kernels compiled by nvcc %s, a driver for CUDA %u.%u", gpu_cuda_error(lab->device),
                 LADDER_CUDA_TOOLKIT, lab->facts->driver / 1000, lab->facts->driver % 1000 / 10);
        return none;
    }
    gpu_cuda_kernel kernel = gpu_cuda_kernel_named(lab->device, module, name, dynamic_shared);
    if (!kernel.function)
        snprintf(why, room, "%s: %s", name, gpu_cuda_error(lab->device));
    return kernel;
}

void cuda_lab_reserve(cuda_lab *lab, uint64_t bytes) {
    if (bytes <= lab->partials_bytes)
        return;
    for (size_t i = 0; i < 2; i++) {
        gpu_cuda_free(lab->device, lab->partials[i]);
        lab->partials[i] = gpu_cuda_allocate(lab->device, bytes);
    }
    lab->host_partials = program_reallocate(lab->host_partials, bytes);
    lab->partials_bytes = gpu_cuda_error(lab->device) ? 0 : bytes;
}

reduct_plan *cuda_plan(const char *device, reduct_operator op, reduct_type type, uint64_t n, char *why, size_t room) {
    const reduct_reduction reduction = {.op = op, .element = type};
    const reduct_plan_options options = {.reductions = &reduction,
                                         .reduction_count = 1,
                                         .shape = {.outer = 1, .n = n, .inner = 1, .stride = 1},
                                         .device = device};
    reduct_plan *plan = NULL;
    reduct_error error;
    if (reduct_plan_create(&options, &plan, &error) == REDUCT_OK)
        return plan;
    snprintf(why, room, "%s", error.message);
    return NULL;
}

static void *pointer(uint64_t address) {
    return (void *)(uintptr_t)address;
}

void cuda_lab_execute(cuda_lab *lab, const reduct_plan *plan, uint64_t x, uint64_t y) {
    reduct_error error;
    if (!gpu_cuda_error(lab->device) &&
        reduct_cuda_execute(plan, (const void *[]){pointer(x), pointer(y)}, (void *[]){pointer(lab->result)}, NULL,
                            NULL, gpu_cuda_stream(lab->device), &error) != REDUCT_OK)
        gpu_cuda_fail(lab->device, error.message);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rungs
 * ------------------------------------------------------------------------------------------------------------------ */

/* Until `unrolled` a finish must cope with as many block sums as there are blocks, for which the tutorials recurse;
 * from `grid-stride` there are few. */
/* clang-format off */
static const cuda_rung rungs[] = {
    {.name = "global-halving",    .image = "global_halving",    .kernel = "global_halving",
     .cover = CUDA_COVER_ONE, .finish = LADDER_FINISH_RECURSIVE, .destroys_input = true},
    {.name = "neighbour-modulo",  .image = "neighbour_modulo",  .kernel = "neighbour_modulo",
     .cover = CUDA_COVER_ONE, .shared = CUDA_SHARED_ONE, .finish = LADDER_FINISH_RECURSIVE},
    {.name = "neighbour-strided", .image = "neighbour_strided", .kernel = "neighbour_strided",
     .cover = CUDA_COVER_ONE, .shared = CUDA_SHARED_ONE, .finish = LADDER_FINISH_RECURSIVE},
    {.name = "halving",           .image = "halving",           .kernel = "halving",
     .cover = CUDA_COVER_ONE, .shared = CUDA_SHARED_ONE, .finish = LADDER_FINISH_RECURSIVE},
    {.name = "first-add",         .image = "first_add",         .kernel = "first_add",
     .cover = CUDA_COVER_TWO, .shared = CUDA_SHARED_ONE, .finish = LADDER_FINISH_RECURSIVE},
    {.name = "last-warp",         .image = "last_warp",         .kernel = "last_warp",
     .cover = CUDA_COVER_TWO, .shared = CUDA_SHARED_ONE, .finish = LADDER_FINISH_RECURSIVE},
    {.name = "unrolled",          .image = "unrolled",          .kernel = "unrolled",
     .cover = CUDA_COVER_TWO, .shared = CUDA_SHARED_ONE, .finish = LADDER_FINISH_RECURSIVE, .per_block_size = true},
    {.name = "grid-stride",       .image = "grid_stride",       .kernel = "grid_stride",
     .cover = CUDA_COVER_WALK, .shared = CUDA_SHARED_ONE, .finish = LADDER_FINISH_SECOND_LAUNCH},
    {.name = "shuffle",           .image = "shuffle",           .kernel = "shuffle",
     .cover = CUDA_COVER_WALK, .finish = LADDER_FINISH_SECOND_LAUNCH},
    {.name = "warp-reduce",       .image = "warp_reduce",       .kernel = "warp_reduce",
     .cover = CUDA_COVER_WALK, .finish = LADDER_FINISH_SECOND_LAUNCH},
    {.name = "vector-loads",      .image = "vector_loads",      .kernel = "vector_loads",
     .cover = CUDA_COVER_VECTORS, .finish = LADDER_FINISH_SECOND_LAUNCH},
    {.name = "one-launch",        .image = "one_launch",        .kernel = "one_launch",
     .cover = CUDA_COVER_VECTORS, .finish = LADDER_FINISH_LAST_BLOCK},
    {.name = "bulk-copy",         .image = "bulk_copy",         .kernel = "bulk_copy",
     .cover = CUDA_COVER_TILES, .shared = CUDA_SHARED_RING, .finish = LADDER_FINISH_LAST_BLOCK},
    {.name = "exact",
     .cover = CUDA_COVER_EXACT, .finish = LADDER_FINISH_LAST_BLOCK},
};
/* clang-format on */

const cuda_rung *cuda_rung_at(size_t i) {
    return i < sizeof rungs / sizeof *rungs ? &rungs[i] : NULL;
}

const cuda_rung *cuda_rung_named(const char *name) {
    for (size_t i = 0; cuda_rung_at(i); i++)
        if (strcmp(rungs[i].name, name) == 0)
            return &rungs[i];
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Making ready
 * ------------------------------------------------------------------------------------------------------------------ */

/* As in vector_loads.cuh and bulk_copy.cu. */
enum { LOADS = 4, STAGES = 6, STAGE_BYTES = 16 << 10, LAST_STEP_THREADS = 1024 };

static uint64_t ceil_divide(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

static unsigned ceil_log2(uint64_t x) {
    unsigned log = 0;
    while (log < 63 && UINT64_C(1) << log < x)
        log++;
    return log;
}

static uint64_t elements_per_block(const cuda_run *run) {
    uint64_t size = reduct_type_size(run->type);
    switch (run->rung->cover) {
    case CUDA_COVER_TWO:
        return 2 * (uint64_t)run->block;
    case CUDA_COVER_VECTORS:
        return run->block * LOADS * (16 / size);
    case CUDA_COVER_TILES:
        return STAGE_BYTES / size;
    default:
        return run->block;
    }
}

/* Blocks for n elements. Those that walk come in as many as the device holds at once; the others as n demands. */
static uint64_t blocks_for(const cuda_run *run, uint64_t n) {
    cuda_lab *lab = run->lab;
    uint64_t wanted = ceil_divide(n, elements_per_block(run)), most = wanted;
    if (run->rung->cover != CUDA_COVER_ONE && run->rung->cover != CUDA_COVER_TWO)
        most = (uint64_t)lab->facts->multiprocessors * gpu_cuda_resident_blocks(lab->device, &run->kernel, run->block);
    if (wanted > most)
        wanted = most;
    return wanted ? wanted : 1; /* an empty array has a sum as well */
}

static unsigned dynamic_shared(const cuda_run *run) {
    unsigned size = (unsigned)reduct_type_size(run->type);
    switch (run->rung->shared) {
    case CUDA_SHARED_ONE:
        return run->block * size;
    case CUDA_SHARED_TWO:
        return 2 * run->block * size;
    case CUDA_SHARED_RING:
        return STAGES * STAGE_BYTES;
    default:
        return 0;
    }
}

static bool is_power_of_two(unsigned x) {
    return x && (x & (x - 1)) == 0;
}

static void name_kernel(cuda_run *run) {
    const char *type = reduct_type_name(run->type);
    const char *way_out = run->finish == LADDER_FINISH_ATOMIC       ? "atomic"
                          : run->finish == LADDER_FINISH_LAST_BLOCK ? "last"
                                                                    : "store";
    char *name = run->kernel_name;
    size_t room = sizeof run->kernel_name;
    if (!run->rung->per_block_size)
        snprintf(name, room, "%s_%s_%s", run->rung->kernel, type, way_out);
    else if (is_power_of_two(run->block))
        snprintf(name, room, "%s_%s_%s_%u", run->rung->kernel, type, way_out, run->block);
    else
        snprintf(name, room, "%s_%s_%s_any", run->rung->kernel, type, way_out);
}

/* To be captured, not executed: what the array holds does not matter. */
static void run_on_nothing(void *context, uint64_t number) {
    cuda_lab *lab = context;
    (void)number;
    cuda_lab_execute(lab, lab->plan, lab->result, 0);
}

/* What the library launches is found out, not known here. */
static bool prepare_exact(cuda_run *run, char *why, size_t room) {
    cuda_lab *lab = run->lab;
    unsigned asked = run->block;
    if (run->finish != LADDER_FINISH_LAST_BLOCK) {
        snprintf(why, room, "its blocks leave no sums behind: the last one rounds");
        return false;
    }
    reduct_plan_destroy(lab->plan);
    lab->plan = cuda_plan(lab->name, REDUCT_SUM, run->type, run->n, why, room);
    if (!lab->plan)
        return false;
    gpu_cuda_launches seen = gpu_cuda_watch(lab->device, run_on_nothing, lab);
    run->kernel = seen.needs;
    run->blocks = seen.blocks;
    run->block = seen.threads;
    snprintf(run->kernel_name, sizeof run->kernel_name, "%s", seen.kernel);
    if (gpu_cuda_error(lab->device)) {
        snprintf(why, room, "%s", gpu_cuda_error(lab->device));
        return false;
    }
    if (asked && asked != run->block) {
        snprintf(why, room, "it is one call of the library, which chooses its own blocks");
        return false;
    }
    return true;
}

bool cuda_run_prepare(cuda_run *run, cuda_lab *lab, const cuda_rung *rung, ladder_finish finish, reduct_type type,
                      uint64_t n, unsigned block, char *why, size_t room) {
    *run = (cuda_run){.lab = lab, .rung = rung, .finish = finish, .type = type, .n = n, .block = block, .clears = true};
    if (finish == LADDER_FINISH_DEFAULT)
        run->finish = rung->finish;
    if (rung->cover == CUDA_COVER_EXACT)
        return prepare_exact(run, why, room);
    if (!block)
        run->block = CUDA_BLOCK_DEFAULT;
    if (run->block < 32 || run->block > 1024) {
        snprintf(why, room, "a block has 32 to 1024 threads");
        return false;
    }
    name_kernel(run);
    run->kernel = cuda_lab_kernel(lab, rung->image, run->kernel_name, dynamic_shared(run), why, room);
    if (!run->kernel.function)
        return false;
    if (run->finish == LADDER_FINISH_SECOND_LAUNCH) {
        char name[32];
        snprintf(name, sizeof name, "finish_%s", reduct_type_name(type));
        run->last_step = cuda_lab_kernel(lab, "support", name, 0, why, room);
        if (!run->last_step.function)
            return false;
    }
    uint64_t blocks = blocks_for(run, n);
    if (blocks > INT32_MAX) {
        snprintf(why, room, "more blocks than a grid can have: larger blocks are needed");
        return false;
    }
    run->blocks = (unsigned)blocks;
    cuda_lab_reserve(lab, blocks * reduct_type_size(type));
    if (gpu_cuda_error(lab->device)) {
        snprintf(why, room, "%s", gpu_cuda_error(lab->device));
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Running
 * ------------------------------------------------------------------------------------------------------------------ */

/* The last parameter of every rung: outlet in rung.cuh. */
typedef struct outlet {
    uint64_t partials, result, ticket;
} outlet;

static void launch(const cuda_run *run, uint64_t input, uint64_t n, unsigned blocks, uint64_t partials) {
    outlet out = {partials, run->lab->result, run->lab->ticket};
    gpu_cuda_launch(run->lab->device, &run->kernel, blocks, run->block, (void *[]){&input, &n, &out});
}

/* Pass by pass, from one array of block sums to the other; the last one into the result. */
static void run_recursively(const cuda_run *run, uint64_t input) {
    cuda_lab *lab = run->lab;
    uint64_t n = run->n;
    unsigned blocks = run->blocks;
    for (unsigned pass = 0;; pass++) {
        uint64_t to = blocks == 1 ? lab->result : lab->partials[pass % 2];
        launch(run, input, n, blocks, to);
        if (blocks == 1)
            return;
        input = to;
        n = blocks;
        blocks = (unsigned)blocks_for(run, n);
    }
}

static void sum_on_host(cuda_run *run) {
    cuda_lab *lab = run->lab;
    gpu_cuda_download(lab->device, lab->host_partials, lab->partials[0], run->blocks * reduct_type_size(run->type));
    gpu_sum_on_host(run->type, lab->host_partials, run->blocks, run->host_result);
}

void cuda_run_once(cuda_run *run, uint64_t input) {
    cuda_lab *lab = run->lab;
    if (run->rung->cover == CUDA_COVER_EXACT) {
        cuda_lab_execute(lab, lab->plan, input, 0);
        return;
    }
    switch (run->finish) {
    case LADDER_FINISH_HOST:
        launch(run, input, run->n, run->blocks, lab->partials[0]);
        sum_on_host(run);
        break;
    case LADDER_FINISH_ATOMIC:
        if (run->clears)
            gpu_cuda_fill(lab->device, lab->result, 0, 8);
        launch(run, input, run->n, run->blocks, 0);
        break;
    case LADDER_FINISH_SECOND_LAUNCH: {
        uint64_t count = run->blocks;
        launch(run, input, run->n, run->blocks, lab->partials[0]);
        gpu_cuda_launch(lab->device, &run->last_step, 1, LAST_STEP_THREADS,
                        (void *[]){&lab->partials[0], &count, &lab->result});
        break;
    }
    case LADDER_FINISH_RECURSIVE:
        run_recursively(run, input);
        break;
    default:
        launch(run, input, run->n, run->blocks, lab->partials[0]);
    }
}

void cuda_run_result(cuda_run *run, void *result) {
    size_t size = reduct_type_size(run->type);
    if (run->finish == LADDER_FINISH_HOST)
        memcpy(result, run->host_result, size);
    else /* of the library's i64 for i32 this is the lower half: the sum modulo 2^32 */
        gpu_cuda_download(run->lab->device, result, run->lab->result, size);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------------------------------------------------------ */

/* Additions in a launch: one after the other in a thread, then the tree. A thread takes whole rounds of what its block
 * covers, and adds up to four running sums and an element that is left over. */
static double chain(const cuda_run *run, uint64_t n, uint64_t blocks) {
    uint64_t cover = elements_per_block(run), rounds = ceil_divide(n, cover * blocks);
    return (double)(rounds * ceil_divide(cover, run->block) + ceil_log2(run->block) + 8);
}

double cuda_run_terms(const cuda_run *run) {
    uint64_t blocks = run->blocks;
    if (run->rung->cover == CUDA_COVER_EXACT)
        return 0;
    double terms = chain(run, run->n, blocks);
    switch (run->finish) {
    case LADDER_FINISH_SECOND_LAUNCH:
        return terms + (double)ceil_divide(blocks, LAST_STEP_THREADS) + 10;
    case LADDER_FINISH_RECURSIVE:
        while (blocks > 1) {
            uint64_t n = blocks;
            blocks = blocks_for(run, n);
            terms += chain(run, n, blocks);
        }
        return terms;
    case LADDER_FINISH_LAST_BLOCK:
        return terms + (double)ceil_divide(blocks, run->block) + ceil_log2(run->block) + 1;
    default:
        return terms + (double)blocks;
    }
}

report_row cuda_row(const cuda_lab *lab, const char *group, const char *name, reduct_type type, uint64_t n) {
    report_row row = report_row_empty();
    snprintf(row.group, sizeof row.group, "%s", group);
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.type, sizeof row.type, "%s", reduct_type_name(type));
    snprintf(row.device, sizeof row.device, "%s", lab->name);
    snprintf(row.language, sizeof row.language, "cuda");
    row.n = n;
    row.bytes = n * reduct_type_size(type);
    return row;
}

/* Of the first launch: later ones work on what it left. */
static void add_counters(const cuda_run *run, report_row *row) {
    const cuda_lab *lab = run->lab;
    for (size_t i = 0; i < lab->counter_count; i++) {
        if (strcmp(lab->counters[i].kernel, run->kernel_name) != 0)
            continue;
        row->bank_conflicts = lab->counters[i].bank_conflicts;
        row->shared_transactions = lab->counters[i].shared_transactions;
        row->divergence = lab->counters[i].divergence;
        return;
    }
}

void cuda_row_kernel(const cuda_lab *lab, report_row *row, const gpu_cuda_kernel *kernel, unsigned block) {
    if (!kernel->function)
        return;
    row->block = block;
    row->registers = (int)kernel->registers;
    row->shared_bytes = (int)(kernel->static_shared + kernel->dynamic_shared);
    row->occupancy = gpu_cuda_occupancy(lab->device, kernel, block);
}

void cuda_run_describe(const cuda_run *run, report_row *row) {
    cuda_lab *lab = run->lab;
    snprintf(row->variant, sizeof row->variant, "%s", ladder_finish_name(run->finish));
    cuda_row_kernel(lab, row, &run->kernel, run->block);
    add_counters(run, row);
    if (run->rung->per_block_size && !is_power_of_two(run->block))
        snprintf(row->note, sizeof row->note, "%u threads are no power of two: the loop is kept", run->block);
    else if (strcmp(run->rung->name, "warp-reduce") == 0 && run->type != REDUCT_I32)
        snprintf(row->note, sizeof row->note, "no instruction for floats: by shuffles");
    else if (strcmp(run->rung->name, "warp-reduce") == 0 && lab->facts->capability < 80)
        snprintf(row->note, sizeof row->note, "no instruction before compute capability 8.0: by shuffles");
}

void cuda_row_time(const cuda_lab *lab, report_row *row, const measure_statistics *seconds) {
    gpu_row_time(row, seconds, lab->read_limit, lab->facts->nominal);
}
