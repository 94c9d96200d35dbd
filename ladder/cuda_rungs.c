/* The CUDA ladder's rungs, and how a rung with a finish is launched. */
#include "ladder/cuda_ladder.h"

#include "gpu/whole.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Rungs
 * ------------------------------------------------------------------------------------------------------------------ */

/* As in vector_loads.cuh, ring.cuh and cluster.cu. */
enum { LOADS = 4, STAGES = 6, STAGE_BYTES = 16 << 10, CLUSTER = 8, LAST_STEP_THREADS = 1024 };

/* clang-format off */
static const cuda_rung rungs[] = {
    {.step = LADDER_GLOBAL_HALVING,    .cover = CUDA_COVER_ONE, .destroys_input = true},
    {.step = LADDER_NEIGHBOUR_MODULO,  .cover = CUDA_COVER_ONE, .shared = CUDA_SHARED_ONE},
    {.step = LADDER_NEIGHBOUR_STRIDED, .cover = CUDA_COVER_ONE, .shared = CUDA_SHARED_ONE},
    {.step = LADDER_HALVING,           .cover = CUDA_COVER_ONE, .shared = CUDA_SHARED_ONE},
    {.step = LADDER_FIRST_ADD,         .cover = CUDA_COVER_TWO, .shared = CUDA_SHARED_ONE},
    {.step = LADDER_LAST_WARP,         .cover = CUDA_COVER_TWO, .shared = CUDA_SHARED_ONE},
    {.step = LADDER_UNROLLED,          .cover = CUDA_COVER_TWO, .shared = CUDA_SHARED_ONE, .per_block_size = true},
    {.step = LADDER_GRID_STRIDE,       .cover = CUDA_COVER_WALK, .shared = CUDA_SHARED_ONE},
    {.step = LADDER_HARRIS_SEVEN,      .cover = CUDA_COVER_PAIRS, .shared = CUDA_SHARED_ONE, .per_block_size = true},
    {.step = LADDER_SHUFFLE,           .cover = CUDA_COVER_WALK},
    {.step = LADDER_WARP_REDUCE,       .cover = CUDA_COVER_WALK},
    {.step = LADDER_CG_REDUCE,         .cover = CUDA_COVER_WALK, .whole_warps = true},
    {.step = LADDER_VECTOR_LOADS,      .cover = CUDA_COVER_VECTORS},
    {.step = LADDER_ONE_LAUNCH,        .cover = CUDA_COVER_VECTORS},
    {.step = LADDER_OVERLAPPED_LAUNCH, .cover = CUDA_COVER_VECTORS, .way = GPU_CUDA_OVERLAPPED},
    {.step = LADDER_COOPERATIVE,       .cover = CUDA_COVER_VECTORS, .way = GPU_CUDA_COOPERATIVE, .own_finish = true},
    {.step = LADDER_CLUSTER,           .cover = CUDA_COVER_VECTORS, .cluster = CLUSTER},
    {.step = LADDER_BULK_COPY,         .cover = CUDA_COVER_TILES, .shared = CUDA_SHARED_RING},
    {.step = LADDER_PRODUCER_WARP,     .cover = CUDA_COVER_TILES, .shared = CUDA_SHARED_RING, .producers = 32},
    {.step = LADDER_GPU_EXACT,         .cover = CUDA_COVER_EXACT},
};
/* clang-format on */

const cuda_rung *cuda_rung_at(size_t i) {
    return i < sizeof rungs / sizeof *rungs ? &rungs[i] : NULL;
}

const cuda_rung *cuda_rung_of(ladder_step step) {
    for (size_t i = 0; cuda_rung_at(i); i++)
        if (rungs[i].step == step)
            return &rungs[i];
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Making ready
 * ------------------------------------------------------------------------------------------------------------------ */

static unsigned cluster_of(const cuda_run *run) {
    return run->rung->cluster ? run->rung->cluster : 1;
}

/* What those blocks that leave one sum take at once. */
static uint64_t elements_per_block(const cuda_run *run) {
    uint64_t size = reduct_type_size(run->type);
    switch (run->rung->cover) {
    case CUDA_COVER_TWO:
    case CUDA_COVER_PAIRS:
        return 2 * (uint64_t)run->block;
    case CUDA_COVER_VECTORS:
        return cluster_of(run) * run->block * LOADS * (16 / size);
    case CUDA_COVER_TILES:
        return STAGE_BYTES / size;
    default:
        return run->block;
    }
}

/* Blocks for n elements. Those that walk come in as many as the device holds at once; the others as n demands. */
static uint64_t blocks_for(const void *prepared, uint64_t n) {
    const cuda_run *run = prepared;
    cuda_lab *lab = run->lab;
    uint64_t wanted = gpu_ceil_divide(n, elements_per_block(run)), most = wanted;
    if (run->rung->cluster)
        most = gpu_cuda_resident_clusters(lab->device, &run->kernel, run->rung->cluster, run->block);
    else if (run->rung->cover != CUDA_COVER_ONE && run->rung->cover != CUDA_COVER_TWO)
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

static void name_kernel(cuda_run *run) {
    const char *type = reduct_type_name(run->type);
    const char *way_out = run->finish == LADDER_FINISH_ATOMIC       ? "atomic"
                          : run->finish == LADDER_FINISH_LAST_BLOCK ? "last"
                                                                    : "store";
    char file[40], *name = run->kernel_name;
    size_t room = sizeof run->kernel_name;
    const char *start = run->rung->kernel ? run->rung->kernel : gpu_file_name(run->rung->step, file, sizeof file);
    if (!run->rung->per_block_size)
        snprintf(name, room, "%s_%s_%s", start, type, way_out);
    else if (gpu_is_power_of_two(run->block))
        snprintf(name, room, "%s_%s_%s_%u", start, type, way_out, run->block);
    else
        snprintf(name, room, "%s_%s_%s_any", start, type, way_out);
}

/* To be captured, not executed: what the array holds does not matter. */
static void run_on_nothing(void *context, uint64_t number) {
    cuda_lab *lab = context;
    (void)number;
    cuda_lab_execute(lab, lab->plan, lab->result, 0);
}

/* What the library launches is read off a CUDA graph of its call. */
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

const char *cuda_rung_image(const cuda_rung *rung, char text[CUDA_IMAGE_NAME]) {
    return rung->image ? rung->image : gpu_file_name(rung->step, text, CUDA_IMAGE_NAME);
}

bool cuda_rung_suits(const cuda_rung *rung, ladder_finish finish, unsigned block, char *why, size_t room) {
    if (rung->own_finish && finish != LADDER_FINISH_DEFAULT && finish != LADDER_FINISH_LAST_BLOCK)
        snprintf(why, room, "it has a finish of its own: all blocks wait for each other");
    else if (block && (block < 32 || block > 1024))
        snprintf(why, room, "a block has 32 to 1024 threads");
    else if (block && block < 32 + rung->producers)
        snprintf(why, room, "a block has %u to 1024 threads here: one warp adds nothing", 32 + rung->producers);
    else if (rung->whole_warps && block % 32)
        snprintf(why, room, "blocks must be multiples of 32: its tiles are whole warps");
    else
        return true;
    return false;
}

bool cuda_run_prepare(cuda_run *run, cuda_lab *lab, const cuda_rung *rung, ladder_finish finish, reduct_type type,
                      uint64_t n, unsigned block, char *why, size_t room) {
    *run = (cuda_run){.lab = lab, .rung = rung, .finish = finish, .type = type, .n = n, .block = block, .clears = true};
    if (finish == LADDER_FINISH_DEFAULT)
        run->finish = ladder_rungs[rung->step].finish;
    if (rung->cover == CUDA_COVER_EXACT)
        return prepare_exact(run, why, room);
    if (!cuda_rung_suits(rung, finish, block, why, room))
        return false;
    if (!block)
        run->block = CUDA_BLOCK_DEFAULT;
    char image[CUDA_IMAGE_NAME];
    name_kernel(run);
    run->kernel = cuda_lab_kernel(lab, cuda_rung_image(rung, image), run->kernel_name, dynamic_shared(run), why, room);
    if (!run->kernel.function)
        return false;
    run->kernel.way = rung->way;
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
    run->passes = gpu_plan_passes(blocks, blocks_for, run);
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
    gpu_cuda_launch(run->lab->device, &run->kernel, blocks * cluster_of(run), run->block, (void *[]){&input, &n, &out});
}

/* Pass by pass, from one array of block sums to the other; the last one into the result. */
static void run_recursively(const cuda_run *run, uint64_t input) {
    cuda_lab *lab = run->lab;
    const gpu_passes *passes = &run->passes;
    uint64_t n = run->n;
    for (unsigned i = 0; i < passes->count; i++) {
        uint64_t to = i + 1 == passes->count ? lab->result : lab->partials[i % 2];
        launch(run, input, n, (unsigned)passes->blocks[i], to);
        input = to;
        n = passes->blocks[i];
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
    unsigned threads = cluster_of(run) * run->block;
    uint64_t cover = elements_per_block(run), rounds = gpu_ceil_divide(n, cover * blocks);
    return (double)(rounds * gpu_ceil_divide(cover, threads - run->rung->producers) + gpu_ceil_log2(threads) + 8);
}

double cuda_run_terms(const cuda_run *run) {
    uint64_t blocks = run->blocks;
    if (run->rung->cover == CUDA_COVER_EXACT)
        return 0;
    double terms = chain(run, run->n, blocks);
    switch (run->finish) {
    case LADDER_FINISH_SECOND_LAUNCH:
        return terms + (double)gpu_ceil_divide(blocks, LAST_STEP_THREADS) + 10;
    case LADDER_FINISH_RECURSIVE:
        for (unsigned i = 1; i < run->passes.count; i++)
            terms += chain(run, run->passes.blocks[i - 1], run->passes.blocks[i]);
        return terms;
    case LADDER_FINISH_LAST_BLOCK:
        return terms + (double)gpu_ceil_divide(blocks, run->block) + gpu_ceil_log2(run->block) + 1;
    default:
        return terms + (double)blocks;
    }
}

/* Of the first launch: later ones work on what it left. */
static void add_counters(const cuda_run *run, report_row *row) {
    const cuda_lab *lab = run->lab;
    for (size_t i = 0; i < lab->counter_count; i++) {
        if (strcmp(lab->counters[i].kernel, run->kernel_name) != 0)
            continue;
        report_set(row, MEASURE_BANK_CONFLICTS, lab->counters[i].bank_conflicts);
        report_set(row, MEASURE_SHARED_TRANSACTIONS, lab->counters[i].shared_transactions);
        report_set(row, MEASURE_DIVERGENCE, lab->counters[i].divergence);
        report_set(row, MEASURE_ACTIVE_LANES, lab->counters[i].active_lanes);
        return;
    }
}

void cuda_run_describe(const cuda_run *run, report_row *row) {
    cuda_lab *lab = run->lab;
    snprintf(row->variant, sizeof row->variant, "%s",
             run->rung->own_finish ? "grid.sync" : ladder_finish_name(run->finish));
    cuda_row_kernel(lab, row, &run->kernel, run->block);
    add_counters(run, row);
    if (run->rung->per_block_size && !gpu_is_power_of_two(run->block))
        snprintf(row->note, sizeof row->note, "%u threads are no power of two: the loop is kept", run->block);
    else if (run->rung->step == LADDER_WARP_REDUCE && run->type != REDUCT_I32)
        snprintf(row->note, sizeof row->note, "no instruction for floats: by shuffles");
    else if (run->rung->step == LADDER_WARP_REDUCE && lab->facts->capability < 80)
        snprintf(row->note, sizeof row->note, "no instruction before compute capability 8.0: by shuffles");
    else if (run->rung->step == LADDER_OVERLAPPED_LAUNCH ||
             (run->rung->step == LADDER_GPU_EXACT && lab->facts->capability >= 90 && lab->facts->driver >= 12030))
        snprintf(row->note, sizeof row->note, "its blocks come while the launch before ends");
}
