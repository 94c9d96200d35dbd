/* Measuring one case on a CUDA device, and checking that what was measured is right: exact results must be the CPU's, bit
 * for bit; fast ones, and CUB's, must lie within the error bound of their way of adding. */
#include "cuda_cases.h"

#include "gpu/cuda_peers.h"
#include "measure/timing.h"
#include "program/memory.h"

#include <reduct/cuda.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAD = 64 }; /* elements behind the data, so that every offset has as many */

struct cuda_lab {
    bench_settings settings;
    char device_name[32];
    gpu_cuda *device;
    const gpu_peers *peers; /* null where CUB is not there */
    const char *no_peers;   /* why */
    double read_limit;
    measure_team *team;
    uint64_t results, results_room; /* on the device: results; of whole arrays also outcomes, and results of others */
    /* The data: one array on the host; on the device, that array and copies of it until there is twice as much. */
    reduct_type type;
    measure_data data;
    void *host;
    uint64_t bytes, host_room, address, room;
    /* The group of each element, or where segments begin and the last one ends, here and there, for the shape and the elements that
     * were asked for last. */
    uint32_t *host_indices;
    uint64_t indices, indexed, index_count;
    bench_shape indexed_shape;
};

/* Where the first one's outcome is, behind which those of others are; and their results, so many bytes apart. */
enum { OUTCOME = 64, OTHERS = 256, OTHER_BYTES = 32, RESULTS = OTHERS + BENCH_OTHERS * OTHER_BYTES };
_Static_assert(OUTCOME + (1 + BENCH_OTHERS) * sizeof(reduct_cuda_outcome) <= OTHERS, "outcomes have room");

/* Bytes on the device from one operator's results to the next one's, of many. */
static uint64_t step_of(const cuda_case *which) {
    return (cuda_result_count(which) * sizeof(judge_value) + OTHERS - 1) / OTHERS * OTHERS;
}

/* Where results of another operator are. */
static uint64_t place_of_other(const cuda_case *which, unsigned other) {
    return which->shape.kind == BENCH_WHOLE ? OTHERS + (uint64_t)other * OTHER_BYTES : (1 + other) * step_of(which);
}

static void stop(const char *what, const char *why) {
    fprintf(stderr, "reduct: %s: %s\n", what, why);
    exit(1);
}

static void stop_if_failed(const cuda_lab *lab, const char *what) {
    if (gpu_cuda_error(lab->device))
        stop(what, gpu_cuda_error(lab->device));
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The device
 * ------------------------------------------------------------------------------------------------------------------ */

cuda_lab *cuda_lab_create(const char *device, bench_settings settings, char *why, size_t room) {
    const char *colon = strchr(device, ':');
    unsigned ordinal = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
    gpu_cuda *opened = gpu_cuda_open(ordinal, why, room);
    if (!opened)
        return NULL;
    cuda_lab *lab = program_allocate(sizeof *lab);
    *lab = (cuda_lab){.settings = settings, .device = opened};
    snprintf(lab->device_name, sizeof lab->device_name, "%s", colon ? device : "cuda:0");
    lab->peers = gpu_cuda_peers(ordinal, &lab->no_peers);
    lab->team = measure_team_create(settings.threads);
    lab->read_limit = gpu_cuda_read_limit(opened);
    stop_if_failed(lab, "cannot measure the read limit");
    return lab;
}

void cuda_lab_destroy(cuda_lab *lab) {
    gpu_cuda_free(lab->device, lab->address);
    gpu_cuda_free(lab->device, lab->results);
    gpu_cuda_free(lab->device, lab->indices);
    gpu_cuda_close(lab->device);
    measure_team_destroy(lab->team);
    free(lab->host);
    free(lab->host_indices);
    free(lab);
}

const gpu_cuda_facts *cuda_lab_facts(const cuda_lab *lab) {
    return gpu_cuda_describe(lab->device);
}

double cuda_lab_read_limit(const cuda_lab *lab) {
    return lab->read_limit;
}

const char *cuda_lab_no_cub(const cuda_lab *lab) {
    return lab->no_peers;
}

bool cuda_lab_has_gpu_to_gpu(const cuda_lab *lab) {
    return lab->peers && lab->peers->gpu_to_gpu_sum;
}

unsigned cuda_lab_cub_version(const cuda_lab *lab) {
    return lab->peers ? (unsigned)lab->peers->cub_version : 0;
}

bool cuda_lab_has_slowed(cuda_lab *lab) {
    gpu_cuda_free(lab->device, lab->address); /* room for what the limit is measured on */
    lab->address = lab->room = lab->bytes = 0;
    return measure_has_slowed(lab->read_limit, gpu_cuda_read_limit(lab->device));
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Types
 * ------------------------------------------------------------------------------------------------------------------ */

static const struct {
    reduct_type type;
    enum gpu_peer_type peer;
    int is_signed;
} types[] = {
    {REDUCT_F64, GPU_PEER_F64, 1}, {REDUCT_F32, GPU_PEER_F32, 1}, {REDUCT_I8, GPU_PEER_I8, 1},
    {REDUCT_I16, GPU_PEER_I16, 1}, {REDUCT_I32, GPU_PEER_I32, 1}, {REDUCT_I64, GPU_PEER_I64, 1},
    {REDUCT_U8, GPU_PEER_U8, 0},   {REDUCT_U16, GPU_PEER_U16, 0}, {REDUCT_U32, GPU_PEER_U32, 0},
    {REDUCT_U64, GPU_PEER_U64, 0}, {REDUCT_F16, GPU_PEER_F16, 1}, {REDUCT_BF16, GPU_PEER_BF16, 1},
};
enum { TYPES = sizeof types / sizeof *types };

/* TYPES for a type that is not measured. */
static size_t find_type(reduct_type type) {
    size_t i = 0;
    while (i < TYPES && types[i].type != type)
        i++;
    return i;
}

bool cuda_has_type(reduct_type type) {
    return find_type(type) < TYPES;
}

static const struct {
    reduct_operator op;
    enum gpu_peer_op peer;
    const char *name, *segmented;
} peer_ops[] = {
    {REDUCT_SUM, GPU_PEER_SUM, "CUB Sum", "CUB Segmented Sum"},
    {REDUCT_MIN, GPU_PEER_MIN, "CUB Min", "CUB Segmented Min"},
    {REDUCT_MAX, GPU_PEER_MAX, "CUB Max", "CUB Segmented Max"},
    {REDUCT_ARGMIN, GPU_PEER_ARGMIN, "CUB ArgMin", NULL},
    {REDUCT_ARGMAX, GPU_PEER_ARGMAX, "CUB ArgMax", NULL},
};
enum { PEER_OPS = sizeof peer_ops / sizeof *peer_ops };

static size_t find_peer(reduct_operator op) {
    size_t i = 0;
    while (i < PEER_OPS && peer_ops[i].op != op)
        i++;
    return i;
}

const char *cuda_ops_text(const cuda_case *which, char text[CUDA_OPS_TEXT]) {
    size_t length = (size_t)snprintf(text, CUDA_OPS_TEXT, "%s", reduct_operator_name(which->op));
    for (unsigned i = 0; i < which->others.count && length < CUDA_OPS_TEXT; i++)
        length +=
            (size_t)snprintf(text + length, CUDA_OPS_TEXT - length, "+%s", reduct_operator_name(which->others.op[i]));
    return text;
}

bool cuda_same_ops(const cuda_case *a, const cuda_case *b) {
    bool same = a->op == b->op && a->others.count == b->others.count;
    for (unsigned i = 0; same && i < a->others.count; i++)
        same = a->others.op[i] == b->others.op[i];
    return same;
}

const char *cuda_peer_name(const cuda_case *which) {
    size_t peer = which->others.count ? PEER_OPS : find_peer(which->op);
    bool segmented = peer < PEER_OPS && peer_ops[peer].segmented && reduct_type_is_float(which->type);
    switch (which->shape.kind) {
    case BENCH_WHOLE:
        return peer < PEER_OPS ? peer_ops[peer].name : NULL;
    case BENCH_ROWS:
        return segmented ? peer_ops[peer].segmented : NULL;
    case BENCH_GROUPS:
    case BENCH_GROUPS_SKEWED:
    case BENCH_GROUPS_SORTED:
        return segmented && which->op == REDUCT_SUM && !which->shape.width ? "CUB sort, ReduceByKey" : NULL;
    case BENCH_COLUMNS:
    case BENCH_SEGMENTS:
    case BENCH_SEGMENTS_RAGGED:
    case BENCH_SEGMENTS_FALLING:
    case BENCH_SEGMENTS_ONE:
    case BENCH_SHAPES:
        break;
    }
    return NULL;
}

/* Elements that an index is for. */
static uint64_t width_of(const cuda_case *which) {
    return which->shape.width ? which->shape.width : 1;
}

uint64_t cuda_result_count(const cuda_case *which) {
    switch (which->shape.kind) {
    case BENCH_ROWS:
    case BENCH_SEGMENTS:
    case BENCH_SEGMENTS_RAGGED:
        return which->n / which->shape.columns;
    case BENCH_COLUMNS:
    case BENCH_SEGMENTS_FALLING:
    case BENCH_SEGMENTS_ONE:
        return which->shape.columns;
    case BENCH_GROUPS:
    case BENCH_GROUPS_SKEWED:
    case BENCH_GROUPS_SORTED:
        return which->shape.columns * width_of(which);
    case BENCH_SHAPES:
    case BENCH_WHOLE:
        break;
    }
    return 1;
}

/* Elements of each result. */
static uint64_t length_of(const cuda_case *which) {
    return which->n / cuda_result_count(which);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Data
 * ------------------------------------------------------------------------------------------------------------------ */

static void fill_host(cuda_lab *lab, uint64_t elements) {
    size_t size = reduct_type_size(lab->type);
    if (lab->host_room < elements * size) {
        free(lab->host);
        lab->host = program_allocate(elements * size);
        lab->host_room = elements * size;
    }
    if (lab->type == REDUCT_F64)
        measure_fill_f64(lab->host, elements, lab->data, lab->settings.seed, lab->team);
    else if (lab->type == REDUCT_F32)
        measure_fill_f32(lab->host, elements, lab->data, lab->settings.seed, lab->team);
    else if (lab->type == REDUCT_F16)
        measure_fill_f16(lab->host, elements, lab->data, lab->settings.seed, lab->team);
    else if (lab->type == REDUCT_BF16)
        measure_fill_bf16(lab->host, elements, lab->data, lab->settings.seed, lab->team);
    else
        measure_fill_integers(lab->host, elements, (unsigned)size, types[find_type(lab->type)].is_signed,
                              lab->settings.seed, lab->team);
}

/* Bytes that runs have to go through before they come back to where the first was. */
static uint64_t beyond_cache(const cuda_lab *lab) {
    return 3 * cuda_lab_facts(lab)->l2;
}

/* Uploads once, then doubles what is there. */
static void fill_device(cuda_lab *lab) {
    uint64_t wanted = 2 * lab->bytes + beyond_cache(lab);
    if (lab->room < wanted) {
        gpu_cuda_free(lab->device, lab->address);
        uint64_t most = gpu_cuda_free_memory(lab->device) / 8 * 7;
        lab->room = wanted < most ? wanted : most > lab->bytes ? most / 256 * 256 : lab->bytes;
        lab->address = gpu_cuda_allocate(lab->device, lab->room);
    }
    gpu_cuda_upload(lab->device, lab->address, lab->host, lab->bytes);
    for (uint64_t done = lab->bytes; done < lab->room; done *= 2)
        gpu_cuda_copy(lab->device, lab->address + done, lab->address,
                      lab->room - done < done ? lab->room - done : done);
    gpu_cuda_wait(lab->device);
    stop_if_failed(lab, "the data do not fit on the device");
}

void cuda_lab_prepare(cuda_lab *lab, reduct_type type, measure_data data, uint64_t elements) {
    uint64_t size = reduct_type_size(type), bytes = ((elements + PAD) * size + 255) / 256 * 256;
    if (lab->address && lab->type == type && lab->data == data && lab->bytes >= bytes)
        return;
    lab->type = type;
    lab->data = data;
    lab->bytes = bytes;
    fill_host(lab, bytes / size);
    fill_device(lab);
}

static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static bool has_indices(const cuda_case *which) {
    return bench_is_grouped(which->shape) || bench_is_segmented(which->shape);
}

static uint64_t index_count(const cuda_case *which) {
    return bench_is_segmented(which->shape) ? cuda_result_count(which) + 1 : which->n / width_of(which);
}

/* The group of a row; skewed: the odds of group g are about those of 1 / (g + 1). */
static uint32_t group_of(const cuda_case *which, uint64_t seed, uint64_t at) {
    const uint64_t groups = which->shape.columns;
    const double odds = (double)(mixed(mixed(seed) + at) >> 11) * 0x1p-53;
    double group = odds * (double)groups;
    if (which->shape.kind == BENCH_GROUPS_SORTED)
        group = (double)at / (double)index_count(which) * (double)groups;
    else if (which->shape.kind == BENCH_GROUPS_SKEWED)
        group = exp(odds * log((double)groups + 1)) - 1;
    return group < (double)groups ? (uint32_t)group : (uint32_t)(groups - 1);
}

/* Elements of segment `number`, but for what the last one has more. */
static uint64_t segment_length(const cuda_case *which, uint64_t number) {
    const uint64_t count = cuda_result_count(which), others = count > 1 ? count - 1 : 1, usual = which->shape.columns;
    switch (which->shape.kind) {
    case BENCH_SEGMENTS_RAGGED: { /* of two, one has as many more as the other has less */
        const uint64_t less = mixed(number / 2) % (usual / 2 + 1);
        return number % 2 ? usual + less : usual - less;
    }
    case BENCH_SEGMENTS_FALLING: {                      /* the sum of 1 / k is less than log(count) + 1 */
        const uint64_t rank = number * 1000003 % count; /* each once, unless that divides the count */
        return (uint64_t)((double)which->n / (log((double)count) + 1) / (double)(rank + 1));
    }
    case BENCH_SEGMENTS_ONE:
        return number == count / 2 ? which->n / 4 * 3 : which->n / 4 / others;
    default:
        return usual;
    }
}

static void fill_indices(cuda_lab *lab, const cuda_case *which) {
    uint64_t at = 0;
    if (!bench_is_segmented(which->shape)) {
        for (uint64_t i = 0; i < index_count(which); i++)
            lab->host_indices[i] = group_of(which, lab->settings.seed, i);
        return;
    }
    for (uint64_t i = 0; i < cuda_result_count(which); i++) {
        const uint64_t length = segment_length(which, i), left = which->n - at;
        lab->host_indices[i] = (uint32_t)at;
        at += length < left ? length : left;
    }
    lab->host_indices[cuda_result_count(which)] = (uint32_t)which->n;
}

static void prepare_indices(cuda_lab *lab, const cuda_case *which) {
    const uint64_t count = index_count(which), bytes = count * sizeof *lab->host_indices;
    if (lab->indexed == which->n && bench_same_shape(lab->indexed_shape, which->shape))
        return;
    if (lab->index_count != count) {
        gpu_cuda_free(lab->device, lab->indices);
        lab->indices = gpu_cuda_allocate(lab->device, bytes);
        lab->host_indices = program_reallocate(lab->host_indices, bytes);
    }
    lab->index_count = count;
    lab->indexed = which->n;
    lab->indexed_shape = which->shape;
    fill_indices(lab, which);
    gpu_cuda_upload(lab->device, lab->indices, lab->host_indices, bytes);
    stop_if_failed(lab, "the indices do not fit on the device");
}

/* Runs read parts of the data in turn, as many as exceed three times the L2: none is in cache when its turn comes. The
 * first is what the host has. */
static uint64_t part_for(const cuda_lab *lab, uint64_t bytes, uint64_t run) {
    uint64_t stride = (bytes + 255) / 256 * 256, parts = lab->room / stride;
    uint64_t wanted = beyond_cache(lab) / stride + 2;
    return run % (parts < wanted ? parts : wanted) * stride;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Ways
 * ------------------------------------------------------------------------------------------------------------------ */

/* One way, ready to run. */
typedef struct cuda_job {
    cuda_lab *lab;
    cuda_way way;
    cuda_case which; /* of the sum of the same bytes, that one */
    uint64_t part;   /* bytes that one run's part of the data takes */
    reduct_plan *plan;
    reduct_type result;
    uint64_t scratch;
    size_t scratch_bytes;
    int peer_error;
    double scale;         /* what rounding errors are relative to; 0 until it is asked for */
    reduct_status status; /* the first failure of a call */
    reduct_error error;
} cuda_job;

static void run_library(void *context, uint64_t run) {
    cuda_job *job = context;
    cuda_lab *lab = job->lab;
    uint64_t size = reduct_type_size(job->which.type);
    uint64_t x = lab->address + part_for(lab, job->part, run) + job->which.offset * size;
    const void *inputs[3] = {gpu_cuda_pointer(x), gpu_cuda_pointer(x + job->which.n * size)};
    if (has_indices(&job->which))
        inputs[reduct_operator_inputs(job->which.op)] = gpu_cuda_pointer(lab->indices);
    void *results[1 + BENCH_OTHERS] = {gpu_cuda_pointer(lab->results)};
    for (unsigned i = 0; i < job->which.others.count; i++)
        results[1 + i] = gpu_cuda_pointer(lab->results + place_of_other(&job->which, i));
    bool whole = job->which.shape.kind == BENCH_WHOLE;
    reduct_status status =
        reduct_cuda_execute(job->plan, inputs, results, whole ? gpu_cuda_pointer(lab->results + OUTCOME) : NULL, NULL,
                            gpu_cuda_stream(lab->device), &job->error);
    job->status = job->status == REDUCT_OK ? status : job->status;
}

static void run_peer(void *context, uint64_t run) {
    cuda_job *job = context;
    cuda_lab *lab = job->lab;
    uint64_t size = reduct_type_size(job->which.type);
    uint64_t x = lab->address + part_for(lab, job->part, run) + job->which.offset * size;
    enum gpu_peer_type type = types[find_type(job->which.type)].peer;
    void *scratch = gpu_cuda_pointer(job->scratch), *to = gpu_cuda_pointer(lab->results),
         *stream = gpu_cuda_stream(lab->device);
    enum gpu_peer_op op = peer_ops[find_peer(job->which.op)].peer;
    int error;
    if (job->way == CUDA_GPU_TO_GPU)
        error = lab->peers->gpu_to_gpu_sum(type, scratch, &job->scratch_bytes, gpu_cuda_pointer(x), to, job->which.n,
                                           stream);
    else if (job->which.shape.kind == BENCH_WHOLE)
        error =
            lab->peers->reduce(op, type, scratch, &job->scratch_bytes, gpu_cuda_pointer(x), to, job->which.n, stream);
    else if (bench_is_grouped(job->which.shape))
        error = lab->peers->sum_by_group(type, scratch, &job->scratch_bytes, gpu_cuda_pointer(lab->indices),
                                         gpu_cuda_pointer(x), to, job->which.n, job->which.shape.columns, stream);
    else
        error = lab->peers->segmented(op, type, scratch, &job->scratch_bytes, gpu_cuda_pointer(x), to,
                                      cuda_result_count(&job->which), length_of(&job->which), stream);
    job->peer_error = job->peer_error ? job->peer_error : error;
}

bool cuda_is_peer(cuda_way way) {
    return way == CUDA_PEER || way == CUDA_GPU_TO_GPU;
}

static gpu_cuda_work *work_of(cuda_way way) {
    return cuda_is_peer(way) ? run_peer : run_library;
}

static void run_and_wait(void *context, uint64_t run) {
    const cuda_job *job = context;
    work_of(job->way)(context, run);
    gpu_cuda_wait(job->lab->device);
}

/* Products of wide integers add up to more than 64 bits. */
static reduct_reduction reduction_of(const cuda_case *which, reduct_mode mode) {
    bool wide = which->op == REDUCT_DOT && !reduct_type_is_float(which->type);
    return (reduct_reduction){
        .op = which->op, .element = which->type, .mode = mode, .result = wide ? REDUCT_I128 : which->result};
}

static reduct_status make_plan(const cuda_case *which, reduct_mode mode, const char *device, reduct_plan **plan,
                               reduct_error *error) {
    reduct_reduction reductions[1 + BENCH_OTHERS] = {reduction_of(which, mode)};
    for (unsigned i = 0; i < which->others.count; i++)
        reductions[1 + i] = (reduct_reduction){.op = which->others.op[i], .element = which->type, .mode = mode};
    uint64_t columns = which->shape.columns, results = cuda_result_count(which), length = length_of(which);
    reduct_plan_options options = {
        .reductions = reductions, .reduction_count = 1 + which->others.count, .device = device};
    const reduct_groups groups = {
        .count = columns, .elements = which->n / width_of(which), .index = REDUCT_U32, .width = width_of(which)};
    const reduct_segments segments = {.count = results, .elements = which->n, .index = REDUCT_U32};
    switch (which->shape.kind) {
    case BENCH_WHOLE:
        options.shape = (reduct_shape){.n = which->n};
        break;
    case BENCH_ROWS:
        options.kind = REDUCT_SHAPE;
        options.shape = (reduct_shape){results, length, 1, (int64_t)columns, 1, 0};
        break;
    case BENCH_COLUMNS:
        options.kind = REDUCT_SHAPE;
        options.shape = (reduct_shape){1, length, results, 0, (int64_t)columns, 1};
        break;
    case BENCH_SEGMENTS:
    case BENCH_SEGMENTS_RAGGED:
    case BENCH_SEGMENTS_FALLING:
    case BENCH_SEGMENTS_ONE:
        options.kind = REDUCT_SEGMENTS;
        options.segments = &segments;
        break;
    case BENCH_GROUPS:
    case BENCH_GROUPS_SKEWED:
    case BENCH_GROUPS_SORTED:
        options.kind = REDUCT_GROUPS;
        options.groups = &groups;
        break;
    case BENCH_SHAPES:
        break;
    }
    return reduct_plan_create(&options, plan, error);
}

/* Returns 0; 1 when there are too few elements. */
static int open_library(cuda_job *job, reduct_mode mode) {
    reduct_error error = {.message = ""};
    reduct_status status = make_plan(&job->which, mode, job->lab->device_name, &job->plan, &error);
    if (status == REDUCT_ERROR_EMPTY)
        return 1;
    if (status != REDUCT_OK)
        stop("cannot plan", error.message);
    job->result = reduct_plan_result_type(job->plan, 0);
    return 0;
}

/* Room for the results on the device. */
static void make_room(cuda_lab *lab, const cuda_job *job) {
    const bool alone = job->which.others.count == 0;
    uint64_t bytes = alone ? cuda_result_count(&job->which) * reduct_type_size(job->result)
                           : place_of_other(&job->which, job->which.others.count),
             room = bytes > RESULTS ? bytes : RESULTS;
    if (lab->results && lab->results_room == room)
        return;
    gpu_cuda_free(lab->device, lab->results);
    lab->results = gpu_cuda_allocate(lab->device, room);
    lab->results_room = room;
    stop_if_failed(lab, "the results do not fit on the device");
}

/* The type that CUB leaves is our own result type. */
static void open_peer(cuda_job *job, reduct_type result, cuda_run *run) {
    run_peer(job, 0); /* without scratch memory: says how much it needs */
    job->scratch = gpu_cuda_allocate(job->lab->device, job->scratch_bytes);
    job->result = result;
    run->ran = job->peer_error == 0;
    if (job->peer_error)
        snprintf(run->note, sizeof run->note, "%s", job->lab->peers->text(job->peer_error));
}

static void close_job(cuda_job *job) {
    reduct_plan_destroy(job->plan);
    gpu_cuda_free(job->lab->device, job->scratch);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Checks
 * ------------------------------------------------------------------------------------------------------------------ */

/* Writes what the CPU gives for the same data; exact. What it gives of another operator is of the default type, or of which->result. */
static void reduce_on_cpu(const cuda_lab *lab, const cuda_case *which, reduct_operator op, void *results) {
    cuda_case own = *which;
    reduct_plan *plan = NULL;
    reduct_error error = {.message = ""};
    own.op = op;
    own.others.count = 0;
    const char *x = (const char *)lab->host + own.offset * reduct_type_size(own.type);
    const void *inputs[3] = {x, x + own.n * reduct_type_size(own.type)};
    if (has_indices(&own))
        inputs[reduct_operator_inputs(op)] = lab->host_indices;
    reduct_status status = make_plan(&own, REDUCT_EXACT, "cpu", &plan, &error);
    if (status == REDUCT_OK)
        status = reduct_plan_execute(plan, inputs, &results, NULL, &error);
    if (status != REDUCT_OK)
        stop("cannot check", error.message);
    reduct_plan_destroy(plan);
}

static reduct_type result_type_of(const cuda_case *which, reduct_operator op) {
    cuda_case own = *which;
    own.op = op;
    reduct_reduction reduction = reduction_of(&own, REDUCT_EXACT);
    reduct_error error = {.message = ""};
    if (reduct_reduction_resolve(&reduction, &error) != REDUCT_OK)
        stop("cannot check", error.message);
    return reduction.result;
}

/* Of a whole array. */
static judge_exact on_cpu(const cuda_lab *lab, const cuda_case *which, reduct_operator op) {
    judge_exact exact = {.type = result_type_of(which, op), .rest = NAN};
    reduce_on_cpu(lab, which, op, &exact.value);
    return exact;
}

/* Of floats; as f64, which holds what may leave the range of their type. */
static double real_on_cpu(const cuda_lab *lab, const cuda_case *which, reduct_operator op) {
    cuda_case as_f64 = *which;
    as_f64.result = REDUCT_F64;
    judge_exact exact = on_cpu(lab, &as_f64, op);
    return exact.value.f64;
}

/* Each result of a matrix; to be freed. */
static void *each_on_cpu(const cuda_lab *lab, const cuda_case *which, reduct_operator op) {
    void *each = program_allocate(cuda_result_count(which) * reduct_type_size(result_type_of(which, op)));
    reduce_on_cpu(lab, which, op, each);
    return each;
}

/* The same of a whole array, with what rounding took off. */
static judge_exact exact_on_cpu(const cuda_lab *lab, const cuda_case *which) {
    judge_exact exact = on_cpu(lab, which, which->op);
    const char *x = (const char *)lab->host + which->offset * reduct_type_size(which->type);
    const char *y = reduct_operator_inputs(which->op) == 2 ? x + which->n * reduct_type_size(which->type) : NULL;
    reduct_status status = judge_find_rest(&exact, which->op, which->type, x, y, which->n);
    if (status != REDUCT_OK)
        stop("cannot check", reduct_status_text(status));
    return exact;
}

/* What rounding errors are relative to: the sum of absolute terms, or a bound of it. */
static double scale_of(const cuda_lab *lab, const cuda_case *which, double exact) {
    double n = (double)which->n;
    cuda_case both = *which;
    switch (which->op) {
    case REDUCT_SUM:
    case REDUCT_MEAN:
        return real_on_cpu(lab, which, REDUCT_NORM1) / (which->op == REDUCT_MEAN ? n : 1);
    case REDUCT_DOT: /* at most half the sum of the squares of both arrays */
        both.n *= 2;
        return pow(real_on_cpu(lab, &both, REDUCT_NORM2), 2) / 2;
    case REDUCT_VAR:
    case REDUCT_STD: /* of the difference of two sums that are at most this large */
        return 3 * pow(real_on_cpu(lab, which, REDUCT_NORM2), 2) / (n - 1);
    default:
        return fabs(exact);
    }
}

/* Adds its terms in floating point, so that errors are allowed. */
static bool rounds(const cuda_case *which) {
    static const reduct_operator selecting[] = {REDUCT_MIN, REDUCT_MAX, REDUCT_ARGMIN, REDUCT_ARGMAX, REDUCT_NORMINF};
    bool selects = false;
    for (size_t i = 0; i < sizeof selecting / sizeof *selecting; i++)
        selects = selects || which->op == selecting[i];
    return reduct_type_is_float(which->type) && !selects;
}

/* Errors in units of u times the scale: of our fast mode, as reduct.h states it, and some for the rounding of the result; of
 * CUB, which promises nothing, the terms that one of its threads adds on a large GPU, and some for threads and blocks. */
static double bound_of(cuda_way way, uint64_t n) {
    return cuda_is_peer(way) ? (double)n / 65536 + 256 : 144;
}

/* What the results must be. */
typedef struct expectation {
    judge_exact whole, others[BENCH_OTHERS];
    unsigned char *each; /* of a matrix instead: each result, and the sum of its absolute terms, of f64 */
    double *scales;
    unsigned char *each_of_others[BENCH_OTHERS];
} expectation;

/* What a result may be off by that was added up where rounding errors are relative to `scale`. Numbers of 16 bits are added as f32,
 * and the result is rounded to theirs, to which it is half a unit, or a whole one where errors before have carried it over. */
static double bound_at(const cuda_job *job, uint64_t n, double scale, double value) {
    const reduct_type type = job->which.type;
    const bool halves = reduct_type_size(type) == 2;
    return judge_roundoff(halves ? REDUCT_F32 : type) * bound_of(job->way, n) * scale +
           (halves && isfinite(value) ? judge_unit(job->result, value) : 0);
}

/* What a result may be off by; infinite where it overflowed on the way, of which no bound speaks. */
static double tolerance(cuda_job *job, const judge_exact *exact, const judge_value *got) {
    const cuda_case *which = &job->which;
    if (job->way == CUDA_EXACT || !rounds(which))
        return 0;
    if (job->scale == 0)
        job->scale = scale_of(job->lab, which, judge_real(exact->type, &exact->value));
    double bound = bound_at(job, which->n, job->scale, judge_real(exact->type, &exact->value));
    return isfinite(bound) && isfinite(judge_real(exact->type, got)) ? bound : INFINITY;
}

/* The other results of a plan, which is measured as exact: one that is wrong is the finding. */
static void judge_others(cuda_job *job, const expectation *expected, const unsigned char *seen, cuda_run *run) {
    for (unsigned i = 0; i < job->which.others.count; i++) {
        judge_value got;
        reduct_cuda_outcome outcome;
        memcpy(&got, seen + OTHERS + i * OTHER_BYTES, sizeof got);
        memcpy(&outcome, seen + OUTCOME + (1 + i) * sizeof outcome, sizeof outcome);
        judge_finding finding = judge_result(&expected->others[i], &got, 0);
        if (outcome.status != REDUCT_OK)
            finding.verdict = REPORT_WRONG;
        if (finding.verdict == REPORT_WRONG)
            run->finding = finding;
    }
}

static void judge_whole(cuda_job *job, const expectation *expected, const unsigned char *seen, cuda_run *run) {
    judge_value got;
    reduct_cuda_outcome outcome = {0};
    memcpy(&got, seen, sizeof got);
    memcpy(&outcome, seen + OUTCOME, sizeof outcome);
    run->finding = judge_result(&expected->whole, &got, tolerance(job, &expected->whole, &got));
    if (outcome.status != REDUCT_OK)
        run->finding.verdict = REPORT_WRONG;
    judge_others(job, expected, seen, run);
}

/* The same of a matrix: the first that is wrong. */
static void judge_others_each(const cuda_job *job, const expectation *expected, const unsigned char *seen,
                              cuda_run *run) {
    for (unsigned o = 0; o < job->which.others.count; o++) {
        judge_exact exact = {.type = result_type_of(&job->which, job->which.others.op[o]), .rest = NAN};
        const size_t size = reduct_type_size(exact.type);
        const unsigned char *own = seen + place_of_other(&job->which, o);
        for (uint64_t i = 0; i < cuda_result_count(&job->which); i++)
            if (memcmp(expected->each_of_others[o] + i * size, own + i * size, size) != 0) {
                memcpy(&exact.value, expected->each_of_others[o] + i * size, size);
                run->finding = judge_result(&exact, own + i * size, 0);
                run->finding.verdict = REPORT_WRONG;
                return;
            }
    }
}

/* The results of a matrix: the finding is that of the one that is furthest off, in units of what it may be off by. */
static void judge_each(cuda_job *job, const expectation *expected, const unsigned char *seen, cuda_run *run) {
    const cuda_case *which = &job->which;
    reduct_type type = job->result;
    size_t size = reduct_type_size(type), worst = 0;
    double furthest = 0, worst_bound = 0;
    for (uint64_t i = 0; i < cuda_result_count(which); i++) {
        double bound = 0;
        if (memcmp(expected->each + i * size, seen + i * size, size) == 0)
            continue;
        if (job->way != CUDA_EXACT && rounds(which))
            bound = bound_at(job, length_of(which), expected->scales[i], judge_real(type, expected->each + i * size));
        double off = fabs(judge_real(type, seen + i * size) - judge_real(type, expected->each + i * size)) / bound;
        if (!(off <= furthest)) { /* also where it is a NaN */
            furthest = off;
            worst = i;
            worst_bound = bound;
        }
    }
    judge_exact exact = {.type = type, .rest = NAN};
    memcpy(&exact.value, expected->each + worst * size, size);
    run->finding = judge_result(&exact, seen + worst * size, worst_bound);
    judge_others_each(job, expected, seen, run);
}

/* Runs once on the first part of the data, which is what the host has, and looks at the results. */
static void verify(cuda_job *job, const expectation *expected, cuda_run *run) {
    cuda_lab *lab = job->lab;
    unsigned char *seen = program_allocate(lab->results_room);
    gpu_cuda_fill(lab->device, lab->results, 0, lab->results_room);
    work_of(job->way)(job, 0);
    gpu_cuda_download(lab->device, seen, lab->results, lab->results_room);
    stop_if_failed(lab, "cannot run");
    if (job->status != REDUCT_OK)
        stop("cannot execute", job->error.message);
    if (job->peer_error) {
        run->ran = false;
        run->finding.verdict = REPORT_NOT_RUN;
        snprintf(run->note, sizeof run->note, "%s", lab->peers->text(job->peer_error));
    } else if (job->which.shape.kind == BENCH_WHOLE) {
        judge_whole(job, expected, seen, run);
    } else {
        judge_each(job, expected, seen, run);
    }
    free(seen);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Measuring
 * ------------------------------------------------------------------------------------------------------------------ */

static double ratio_of(const double *of, const double *to, size_t rounds_run) {
    const measure_variant a = {.seconds = (double *)(uintptr_t)of}, b = {.seconds = (double *)(uintptr_t)to};
    return measure_variant_ratio(&a, &b, rounds_run).median;
}

/* Times what is ready, in turns. */
static void time_ways(cuda_lab *lab, cuda_job jobs[CUDA_WAYS], cuda_result *result) {
    unsigned rounds_run = lab->settings.rounds;
    double *seconds = program_allocate(CUDA_WAYS * rounds_run * sizeof *seconds);
    gpu_cuda_variant variants[CUDA_WAYS];
    size_t count = 0;
    for (int way = 0; way < CUDA_WAYS; way++)
        if (result->runs[way].ran)
            variants[count++] = (gpu_cuda_variant){result->which.waits ? run_and_wait : work_of((cuda_way)way),
                                                   &jobs[way], seconds + (size_t)way * rounds_run, result->which.waits};
    gpu_cuda_time_in_turns(lab->device, variants, count, rounds_run, lab->settings.sample_seconds);
    stop_if_failed(lab, "cannot measure");
    for (int way = 0; way < CUDA_WAYS; way++) {
        const measure_variant own = {.seconds = seconds + (size_t)way * rounds_run};
        if (!result->runs[way].ran)
            continue;
        result->runs[way].seconds = measure_variant_seconds(&own, rounds_run);
        for (int to = 0; to < CUDA_WAYS; to++)
            if (result->runs[to].ran && to != way)
                result->ratio[way][to] = ratio_of(own.seconds, seconds + (size_t)to * rounds_run, rounds_run);
    }
    free(seconds);
}

/* What must come out; `scaled`: and what the errors of a peer's results are relative to. */
static expectation expect(const cuda_lab *lab, const cuda_case *which, bool scaled) {
    if (which->shape.kind == BENCH_WHOLE) {
        expectation expected = {.whole = exact_on_cpu(lab, which)};
        for (unsigned i = 0; i < which->others.count; i++)
            expected.others[i] = on_cpu(lab, which, which->others.op[i]);
        return expected;
    }
    cuda_case as_f64 = *which;
    as_f64.result = REDUCT_F64;
    expectation expected = {.each = each_on_cpu(lab, which, which->op),
                            .scales = scaled && rounds(which) ? each_on_cpu(lab, &as_f64, REDUCT_NORM1) : NULL};
    for (unsigned i = 0; i < which->others.count; i++)
        expected.each_of_others[i] = each_on_cpu(lab, which, which->others.op[i]);
    return expected;
}

/* Makes ready what the case has. Returns 0; 1 when there are too few elements. */
static int open_jobs(cuda_lab *lab, const cuda_case *which, cuda_job jobs[CUDA_WAYS], cuda_result *result) {
    uint64_t inputs = (uint64_t)reduct_operator_inputs(which->op), size = reduct_type_size(which->type);
    bool whole = which->shape.kind == BENCH_WHOLE; /* of matrices mode fast does what mode exact does */
    for (int way = 0; way < CUDA_WAYS; way++)
        jobs[way] = (cuda_job){
            .lab = lab, .way = (cuda_way)way, .which = *which, .part = (which->n * inputs + which->offset) * size};
    if (open_library(&jobs[CUDA_EXACT], REDUCT_EXACT) != 0)
        return 1;
    result->runs[CUDA_EXACT].ran = true;
    result->runs[CUDA_FAST].ran =
        whole && rounds(which) && !which->others.count && open_library(&jobs[CUDA_FAST], REDUCT_FAST) == 0;
    jobs[CUDA_SUM].which.op = REDUCT_SUM;
    jobs[CUDA_SUM].which.others.count = 0;
    jobs[CUDA_SUM].which.n = which->n * inputs;
    jobs[CUDA_SUM].which.shape = (bench_shape){.kind = BENCH_WHOLE};
    result->runs[CUDA_SUM].ran =
        (which->op != REDUCT_SUM || which->others.count || !whole) && open_library(&jobs[CUDA_SUM], REDUCT_FAST) == 0;
    make_room(lab, &jobs[CUDA_EXACT]);
    if (lab->peers && cuda_peer_name(which))
        open_peer(&jobs[CUDA_PEER], jobs[CUDA_EXACT].result, &result->runs[CUDA_PEER]);
    if (cuda_lab_has_gpu_to_gpu(lab) && whole && which->op == REDUCT_SUM && !which->others.count &&
        reduct_type_size(which->type) >= 4 && reduct_type_is_float(which->type) && !which->offset)
        open_peer(&jobs[CUDA_GPU_TO_GPU], jobs[CUDA_EXACT].result, &result->runs[CUDA_GPU_TO_GPU]);
    return 0;
}

/* Verified before, and after thousands of runs, which must leave nothing behind. */
static void verify_all(cuda_job jobs[CUDA_WAYS], const expectation expected[CUDA_WAYS], cuda_result *result) {
    for (int way = 0; way < CUDA_WAYS; way++) {
        cuda_run *run = &result->runs[way];
        cuda_run before = *run;
        if (!run->ran)
            continue;
        verify(&jobs[way], &expected[way], run);
        if (before.finding.verdict == REPORT_WRONG)
            *run = before;
    }
}

int cuda_measure(cuda_lab *lab, const cuda_case *which, cuda_result *result) {
    cuda_job jobs[CUDA_WAYS];
    uint64_t inputs = (uint64_t)reduct_operator_inputs(which->op);
    *result = (cuda_result){.which = *which, .bytes_read = which->n * inputs * reduct_type_size(which->type)};
    cuda_lab_prepare(lab, which->type, which->data, which->n * inputs + which->offset);
    if (has_indices(which)) {
        result->bytes_read += index_count(which) * sizeof *lab->host_indices;
        prepare_indices(lab, which);
    }
    for (int way = 0; way < CUDA_WAYS; way++)
        result->runs[way].finding.verdict = REPORT_NOT_RUN;
    if (open_jobs(lab, which, jobs, result) != 0)
        return 1;
    expectation expected[CUDA_WAYS];
    expected[CUDA_EXACT] = expect(lab, which, result->runs[CUDA_PEER].ran);
    expected[CUDA_FAST] = expected[CUDA_PEER] = expected[CUDA_GPU_TO_GPU] = expected[CUDA_EXACT];
    if (result->runs[CUDA_SUM].ran)
        expected[CUDA_SUM] = expect(lab, &jobs[CUDA_SUM].which, false);
    verify_all(jobs, expected, result);
    time_ways(lab, jobs, result);
    verify_all(jobs, expected, result);
    for (int way = 0; way < CUDA_WAYS; way++) {
        if (result->runs[way].ran)
            result->runs[way].launches = gpu_cuda_watch(lab->device, work_of((cuda_way)way), &jobs[way]);
        close_job(&jobs[way]);
    }
    free(expected[CUDA_EXACT].each);
    free(expected[CUDA_EXACT].scales);
    for (unsigned i = 0; i < which->others.count; i++)
        free(expected[CUDA_EXACT].each_of_others[i]);
    return 0;
}

int cuda_count_wrong(const cuda_result *result, bool peers) {
    int wrong = 0;
    for (int way = 0; way < CUDA_WAYS; way++)
        wrong += result->runs[way].finding.verdict == REPORT_WRONG && cuda_is_peer((cuda_way)way) == peers;
    return wrong;
}
