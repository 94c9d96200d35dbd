/* How the CUDA backend can be called: arguments, outcomes, kinds of memory, workspaces, graphs, streams, threads, data
 * on the host, contexts. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/device.h"
#include "cuda/kernels/many.h"
#include "cuda_support.h"

/* Doubles on the host and on the device. */
struct doubles {
    double *host;
    rd_cu_address device;
    size_t count;
};

static struct doubles doubles_of(uint64_t stream, const char *distribution, size_t count) {
    struct rng rng = rng_of(test_seed() + 100 + stream);
    struct doubles data = {test_alloc(count * sizeof(double)), 0, count};
    distribution_named(distribution)->fill(&rng, test_type(REDUCT_F64), data.host, NULL, count);
    data.device = gpu_copy_of(data.host, count * sizeof(double));
    return data;
}

static void doubles_free(const struct doubles *data) {
    gpu_free(data->device);
    free(data->host);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Arguments
 * ------------------------------------------------------------------------------------------------------------------ */

/* A call that must be refused with a reason, and queue nothing. */
static void check_refused(const reduct_plan *plan, const void *const *inputs, void *const *results, void *outcome,
                          void *workspace, const char *named) {
    reduct_error error = {.message = ""};
    const reduct_status status = reduct_cuda_execute(plan, inputs, results, outcome, workspace, gpu.stream, &error);
    if (status != REDUCT_ERROR_ARGUMENT || error.status != status || !strstr(error.message, named))
        test_fail("a wrong %s: status %d, %s", named, (int)status, error.message);
    assert_int_equal(reduct_cuda_execute(plan, inputs, results, outcome, workspace, gpu.stream, NULL), status);
}

static void arguments(void **state) {
    (void)state;
    struct doubles data = doubles_of(0, "normal", 100);
    const reduct_reduction dot = test_reduction(REDUCT_DOT, REDUCT_F64, REDUCT_DEFAULT);
    reduct_plan *plan = gpu_plan(&dot, 99), *other = NULL;
    unsigned char *x = gpu_pointer(data.device, 0), *seen = gpu.seen;
    const void *good[2] = {x, x}, *no_x[2] = {NULL, x}, *no_y[2] = {x, NULL}, *odd_x[2] = {x + 4, x},
               *odd_y[2] = {x, x + 1};
    void *result[1] = {seen}, *no_result[1] = {NULL}, *odd_result[1] = {seen + 4};
    memset(seen, ORACLE_UNTOUCHED, 256);
    check_refused(NULL, good, result, NULL, NULL, "plan");
    check_refused(plan, NULL, result, NULL, NULL, "inputs");
    check_refused(plan, good, NULL, NULL, NULL, "results");
    check_refused(plan, no_x, result, NULL, NULL, "inputs[0]");
    check_refused(plan, no_y, result, NULL, NULL, "inputs[1]");
    check_refused(plan, odd_x, result, NULL, NULL, "inputs[0]");
    check_refused(plan, odd_y, result, NULL, NULL, "inputs[1]");
    check_refused(plan, good, no_result, NULL, NULL, "results[0]");
    check_refused(plan, good, odd_result, NULL, NULL, "results[0]");
    check_refused(plan, good, result, seen + 68, NULL, "outcome");
    check_refused(plan, good, result, NULL, x + 64, "workspace");
    const reduct_plan_options options = {.reductions = &dot,
                                         .reduction_count = 1,
                                         .shape = {.outer = 1, .n = 99, .inner = 1, .stride = 1},
                                         .device = "cpu"};
    test_status(reduct_plan_create(&options, &other, NULL), REDUCT_OK);
    check_refused(other, good, result, NULL, NULL, "plan");
    assert_int_equal(reduct_cuda_workspace_size(other), 0);
    assert_int_equal(reduct_cuda_workspace_size(NULL), 0);
    assert_true(reduct_cuda_workspace_size(plan) > 0);
    CU(gpu.driver->cuStreamSynchronize(gpu.stream));
    for (size_t i = 0; i < 256; i++)
        assert_int_equal(seen[i], ORACLE_UNTOUCHED);
    reduct_plan_destroy(other);
    reduct_plan_destroy(plan);
    doubles_free(&data);
}

/* Arrays of no elements: no pointers are needed, and the outcome says whether there is a result. */
static void nothing(void **state) {
    (void)state;
    for (size_t o = 0; o < test_operator_count; o++) {
        const reduct_reduction reduction = test_reduction(test_operators[o].op, REDUCT_F32, REDUCT_DEFAULT);
        if (!gpu_has(reduction.op, REDUCT_F32))
            continue;
        struct oracle oracle;
        oracle_init(&oracle);
        oracle_read(&oracle, REDUCT_F32, "", test_operators[o].inputs == 2 ? "" : NULL, 0);
        const struct oracle_result expected = oracle_expect(&oracle, &reduction);
        const struct test_outcome got = gpu_reduce(&reduction, NULL, NULL, 0);
        test_check(&got, &expected, &reduction, "no elements");
        oracle_clear(&oracle);
    }
}

/* A NaN that is an error leaves a queued result as it was, as of other operators; of elements that range too far for few words, too. */
static void check_failure(reduct_operator op, rd_cu_address device, size_t count) {
    double *x = test_alloc(2 * count * sizeof *x);
    for (size_t i = 0; i < 2 * count; i++)
        x[i] = i % 2 ? 1e300 : 1e-300;
    x[count - 1] = NAN;
    gpu_upload(device, x, 2 * count * sizeof *x);
    const reduct_reduction reduction = {.op = op, .element = REDUCT_F64, .nan = REDUCT_NAN_ERROR};
    const struct test_outcome got =
        gpu_reduce(&reduction, gpu_pointer(device, 0), gpu_pointer(device, count * sizeof *x), count);
    test_status(got.status, REDUCT_ERROR_NAN);
    assert_int_equal(got.error.index, count - 1);
    for (size_t i = 0; i < sizeof got.bytes; i++)
        assert_int_equal(got.bytes[i], ORACLE_UNTOUCHED);
    free(x);
}

/* Operators that whole arrays have no kernels for, but many results have: of whole arrays all the same, from host and device memory, in
 * one piece and in several. */
static void operators_of_many(void **state) {
    (void)state;
    static const size_t counts[] = {1, 13, 40009, 2, 64, 700, 5000};
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 202);
    double *x = test_alloc(40009 * sizeof *x), *y = test_alloc(40009 * sizeof *y);
    const rd_cu_address device = gpu_alloc(2 * 40009 * sizeof *x);
    for (size_t k = 0; k < sizeof counts / sizeof *counts * test_operator_count; k++) {
        const reduct_operator op = test_operators[k / (sizeof counts / sizeof *counts)].op;
        const size_t count = counts[k % (sizeof counts / sizeof *counts)];
        const struct test_type *type = elements[rng_below(&rng, element_count)];
        if (gpu_has(op, type->type) || !oracle_has(op, type->type))
            continue;
        const struct distribution *distribution;
        do
            distribution = &distributions[rng_below(&rng, distribution_count)];
        while (!distribution_suits(distribution, type));
        distribution->fill(&rng, type, x, y, count);
        const reduct_reduction reduction = test_reduction(op, type->type, REDUCT_DEFAULT);
        const struct oracle_result expected = gpu_expected(&reduction, x, y, count);
        gpu_upload(device, x, count * sizeof *x);
        gpu_upload(device + count * sizeof *x, y, count * sizeof *y);
        reduct_plan *plan = gpu_plan(&reduction, count);
        const void *x_there = gpu_pointer(device, 0), *y_there = gpu_pointer(device, count * sizeof *x);
        const struct test_outcome here = gpu_execute(plan, x, y), there = gpu_execute(plan, x_there, y_there),
                                  queued = gpu_run(plan, x_there, y_there);
        test_check(&here, &expected, &reduction, "from the host");
        test_check(&there, &expected, &reduction, "from the device");
        test_check(&queued, &expected, &reduction, "queued");
        reduct_plan_destroy(plan);
        test_status(gpu_plan_create(&reduction, 0, &plan, NULL), REDUCT_ERROR_EMPTY);
        check_failure(op, device, count);
    }
    gpu_free(device);
    free(x);
    free(y);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Outcomes
 * ------------------------------------------------------------------------------------------------------------------ */

static void check_status(const reduct_reduction *reduction, const void *x, size_t count, reduct_status status,
                         uint64_t index) {
    const struct test_outcome got = gpu_reduce(reduction, x, NULL, count);
    struct oracle_result expected = {.status = status, .index = index};
    memset(expected.bytes, ORACLE_UNTOUCHED, sizeof expected.bytes);
    test_check(&got, &expected, reduction, "%zu elements", count);
}

/* What only the data can tell arrives in the outcome, and the result is untouched. gpu_run() checks that an execution
 * that succeeds says so. */
static void outcomes(void **state) {
    (void)state;
    enum { COUNT = 100003 };
    const size_t count = gpu.quick ? 5003 : COUNT;
    int64_t *large = test_alloc(count * sizeof *large);
    double *nans = test_alloc(count * sizeof *nans);
    const uint64_t nan = UINT64_C(0x7ff8000000000000);
    for (size_t i = 0; i < count; i++) {
        large[i] = INT64_MAX;
        memcpy(&nans[i], &nan, sizeof nan);
    }
    const rd_cu_address x = gpu_copy_of(large, count * sizeof *large), y = gpu_copy_of(nans, count * sizeof *nans);
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_I64, .result = REDUCT_I64};
    check_status(&sum, gpu_pointer(x, 0), 2, REDUCT_ERROR_OVERFLOW, UINT64_MAX);
    check_status(&sum, gpu_pointer(x, 0), count, REDUCT_ERROR_OVERFLOW, UINT64_MAX);
    static const reduct_operator absent[] = {REDUCT_MEAN, REDUCT_VAR, REDUCT_RMS,    REDUCT_MIN,
                                             REDUCT_MAX,  REDUCT_STD, REDUCT_ARGMIN, REDUCT_ARGMAX};
    for (int mode = REDUCT_EXACT; mode <= REDUCT_FAST; mode++) {
        for (size_t o = 0; o < sizeof absent / sizeof *absent; o++) {
            reduct_reduction ignore = test_reduction(absent[o], REDUCT_F64, REDUCT_DEFAULT);
            ignore.nan = REDUCT_NAN_IGNORE;
            ignore.mode = (reduct_mode)mode;
            check_status(&ignore, gpu_pointer(y, 0), count, REDUCT_ERROR_EMPTY, UINT64_MAX);
        }
        for (size_t o = 0; o < test_operator_count; o++) {
            reduct_reduction strict = test_reduction(test_operators[o].op, REDUCT_F64, REDUCT_DEFAULT);
            strict.nan = REDUCT_NAN_ERROR;
            strict.mode = (reduct_mode)mode;
            if (test_operators[o].inputs == 1 && gpu_has(strict.op, REDUCT_F64))
                check_status(&strict, gpu_pointer(y, 0), count, REDUCT_ERROR_NAN, 0);
        }
    }
    gpu_free(x);
    gpu_free(y);
    free(large);
    free(nans);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_status open_named(const char *device, reduct_error *error) {
    const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    reduct_accumulator *accumulator = NULL;
    const reduct_status status = reduct_accumulator_create(
        &(reduct_accumulator_options){.reduction = &sum, .device = device, .threads = 1}, &accumulator, error);
    const double x[3] = {1e300, 1, -1e300};
    double result = 0;
    if (status == REDUCT_OK) {
        test_status(reduct_accumulator_add(accumulator, x, NULL, 3, NULL), REDUCT_OK);
        test_status(reduct_accumulator_result(accumulator, REDUCT_DEFAULT, &result, NULL), REDUCT_OK);
        assert_true(result == 1);
    }
    reduct_accumulator_destroy(accumulator);
    return status;
}

/* What the emulated driver tells of the images that were loaded; null with a real one. */
typedef bool has_loaded_function(const char *image);
static has_loaded_function *loaded_images(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *found = dlsym(library, "emulated_cuda_has_loaded");
    has_loaded_function *has_loaded;
    memcpy(&has_loaded, &found, sizeof found);
    dlclose(library); /* the library has it open, too */
    return has_loaded;
}

/* A device forms exact sums in f64 or in integers, as its name says or as suits it. */
static void names(void **state) {
    (void)state;
    static const char *const wrong[] = {"cuda:",   "cuda:0:", "cuda:0:float", "cuda:0:doubles",
                                        "cuda:0 ", "cuda:-1", "cuda:1000"};
    static const char *const images[] = {"kernels/exact_f64", "kernels/exact_f64_integer"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        reduct_error error;
        assert_int_equal(open_named(wrong[i], &error), REDUCT_ERROR_NO_DEVICE);
        assert_non_null(strstr(error.message, wrong[i]));
    }
    has_loaded_function *has_loaded = loaded_images();
    int ratio = 0;
    CU(gpu.driver->cuDeviceGetAttribute(&ratio, 87, gpu.device)); /* how much slower f64 is than f32 */
    const bool integers = ratio > 8;
    test_status(open_named("cuda:0", NULL), REDUCT_OK);
    if (!has_loaded)
        print_message("not tested here, as a real driver does not tell: which kernels a name stands for\n");
    else if (strcmp(gpu.name, "cuda:0") == 0)
        assert_false(has_loaded(images[!integers]));
    test_status(open_named("cuda:0:double", NULL), REDUCT_OK);
    test_status(open_named("cuda:0:integer", NULL), REDUCT_OK);
    for (int i = 0; i < 2 && has_loaded; i++)
        assert_true(has_loaded(images[i]));
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------------------------------------------------------ */

/* An execution with everything in the memory given: 4096 bytes that the host sees at `host`, or, where that is null, on
 * the device. */
static void check_memory(const struct doubles *data, const void *x, void *memory, unsigned char *host, bool outcome) {
    const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    const struct oracle_result expected = gpu_expected(&sum, data->host, NULL, data->count);
    reduct_plan *plan = gpu_plan(&sum, data->count);
    unsigned char seen[128];
    void *results[1] = {memory};
    gpu_fill((rd_cu_address)(uintptr_t)memory, ORACLE_UNTOUCHED, sizeof seen);
    test_status(
        reduct_cuda_execute(plan, &x, results, outcome ? (void *)((char *)memory + 64) : NULL, NULL, gpu.stream, NULL),
        REDUCT_OK);
    CU(gpu.driver->cuStreamSynchronize(gpu.stream));
    if (host)
        memcpy(seen, host, sizeof seen);
    else
        gpu_download(seen, (rd_cu_address)(uintptr_t)memory, sizeof seen);
    const reduct_cuda_outcome fine = {.status = REDUCT_OK, .index = UINT64_MAX};
    assert_memory_equal(seen, expected.bytes, sizeof(double));
    for (size_t i = sizeof(double); i < sizeof seen; i++)
        if (!outcome || i < 64 || i >= 64 + sizeof fine)
            assert_int_equal(seen[i], ORACLE_UNTOUCHED);
    if (outcome)
        assert_memory_equal(seen + 64, &fine, sizeof fine);
    reduct_plan_destroy(plan);
}

static void kinds_of_memory(void **state) {
    (void)state;
    struct doubles data = doubles_of(1, "300_binades", gpu.quick ? 3001 : 200003);
    const size_t bytes = data.count * sizeof(double);
    rd_cu_address managed = 0, managed_result = 0, device_result = gpu_alloc(4096);
    void *locked = NULL;
    CU(gpu.cuMemAllocManaged(&managed, bytes, 1));
    CU(gpu.cuMemAllocManaged(&managed_result, 4096, 1));
    CU(gpu.driver->cuMemHostAlloc(&locked, bytes, 0));
    memcpy(gpu_pointer(managed, 0), data.host, bytes);
    memcpy(locked, data.host, bytes);
    const void *x[3] = {gpu_pointer(data.device, 0), gpu_pointer(managed, 0), locked};
    for (int i = 0; i < 3; i++)
        for (int outcome = 0; outcome < 2; outcome++) {
            check_memory(&data, x[i], gpu_pointer(device_result, 0), NULL, outcome);
            check_memory(&data, x[i], gpu.seen, gpu.seen, outcome);
            check_memory(&data, x[i], gpu_pointer(managed_result, 0), gpu_pointer(managed_result, 0), outcome);
        }
    /* The waiting call takes each of them, too. */
    const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    const struct oracle_result expected = gpu_expected(&sum, data.host, NULL, data.count);
    reduct_plan *plan = gpu_plan(&sum, data.count);
    for (int i = 0; i < 3; i++) {
        const struct test_outcome got = gpu_execute(plan, x[i], NULL);
        test_check(&got, &expected, &sum, "memory of kind %d", i);
    }
    reduct_plan_destroy(plan);
    gpu_free(managed);
    gpu_free(managed_result);
    gpu_free(device_result);
    CU(gpu.driver->cuMemFreeHost(locked));
    doubles_free(&data);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Workspaces
 * ------------------------------------------------------------------------------------------------------------------ */

/* What a workspace may hold when it is brought: all bits, ones that are mistaken for small counts, anything. */
enum { CONTENTS = 3 };
static void spoil(struct rng *rng, rd_cu_address workspace, size_t size, unsigned content) {
    unsigned char *bytes = test_alloc(size);
    for (size_t i = 0; i < size; i++)
        bytes[i] = content == 0 ? 0xff : content == 1 ? 0x01 : (unsigned char)rng_next(rng);
    gpu_upload(workspace, bytes, size);
    free(bytes);
}

/* A workspace for a plan, holding anything. */
static rd_cu_address spoiled_workspace(struct rng *rng, const reduct_plan *plan, unsigned content) {
    const rd_cu_address workspace = gpu_alloc(reduct_cuda_workspace_size(plan));
    spoil(rng, workspace, reduct_cuda_workspace_size(plan), content);
    return workspace;
}

/* An execution that brings a workspace, and its result; the call must succeed, whatever becomes of the result. */
static struct test_outcome run_with(const reduct_plan *plan, const void *x, const void *y, rd_cu_address workspace) {
    struct test_outcome got = test_outcome();
    const void *inputs[2] = {x, y};
    memset(gpu.seen, ORACLE_UNTOUCHED, ORACLE_RESULT_BYTES);
    got.status = reduct_cuda_execute(plan, inputs, (void *[]){gpu.seen}, (void *)(gpu.seen + 64),
                                     gpu_pointer(workspace, 0), gpu.stream, &got.error);
    test_status(got.status, REDUCT_OK);
    CU(gpu.driver->cuStreamSynchronize(gpu.stream));
    const reduct_cuda_outcome *outcome = (const void *)(gpu.seen + 64);
    got.status = (reduct_status)outcome->status;
    got.error.index = outcome->index;
    memcpy(got.bytes, gpu.seen, sizeof got.bytes);
    return got;
}

/* What an execution with the plan's own workspace gives, as what is expected. */
static struct oracle_result own_result(const reduct_plan *plan, const void *x, const void *y) {
    const struct test_outcome own = gpu_run(plan, x, y);
    struct oracle_result expected = {.status = own.status, .index = own.error.index};
    memcpy(expected.bytes, own.bytes, sizeof expected.bytes);
    return expected;
}

/* What the library keeps of the context that is current. */
static struct rd_cuda_context *own_context(void) {
    const struct rd_cuda_name *name;
    struct rd_cuda_stay stay;
    test_status(rd_cuda_device_open("0", &name, NULL), REDUCT_OK);
    test_status(rd_cuda_enter(name->device, &stay, NULL), REDUCT_OK);
    assert_false(stay.pushed);
    return stay.context;
}

/* What stands in for a workspace is zero again after an execution, but for the slots. */
static void check_zero(rd_cu_address workspace, const char *after) {
    const struct rd_cuda_workspace *own = rd_cuda_stand_in(own_context(), gpu_pointer(workspace, 0));
    unsigned char *seen = test_alloc(RD_CUDA_ZERO_BYTES);
    assert_non_null(own);
    gpu_download(seen, (rd_cu_address)(uintptr_t)own, RD_CUDA_ZERO_BYTES);
    for (size_t i = 0; i < RD_CUDA_ZERO_BYTES; i++)
        if (seen[i])
            test_fail("%s left %d in byte %zu of the workspace", after, seen[i], i);
    free(seen);
}

/* A workspace may hold anything, and serves plans of every kind in turn. */
static void workspaces(void **state) {
    (void)state;
    struct doubles data = doubles_of(2, "anything", gpu.quick ? 20011 : 300007);
    struct rng rng = rng_of(test_seed() + 202);
    const reduct_reduction first = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    reduct_plan *plan = gpu_plan(&first, data.count);
    const size_t size = reduct_cuda_workspace_size(plan);
    const rd_cu_address workspace = spoiled_workspace(&rng, plan, 0);
    const void *x = gpu_pointer(data.device, 0);
    reduct_plan_destroy(plan);
    for (int round = 0; round < 7; round++) /* each NaN policy, exactly and fast; the same bits as integers */
        for (size_t o = 0; o < test_operator_count; o++) {
            const bool two = test_operators[o].inputs == 2;
            reduct_reduction reduction =
                test_reduction(test_operators[o].op, round < 6 ? REDUCT_F64 : REDUCT_I64, REDUCT_DEFAULT);
            if (!gpu_has(reduction.op, reduction.element))
                continue;
            reduction.nan = (reduct_nan)(round % 3);
            reduction.mode = round / 3 == 1 ? REDUCT_FAST : REDUCT_EXACT;
            plan = gpu_plan(&reduction, data.count);
            assert_int_equal(reduct_cuda_workspace_size(plan), size);
            /* Fast results are a device's own. */
            const struct oracle_result expected =
                reduction.mode == REDUCT_EXACT ? gpu_expected(&reduction, data.host, two ? data.host : NULL, data.count)
                                               : own_result(plan, x, two ? x : NULL);
            spoil(&rng, workspace, size, (unsigned)((size_t)round + o) % CONTENTS);
            const struct test_outcome got = run_with(plan, x, two ? x : NULL, workspace);
            test_check(&got, &expected, &reduction, "in a workspace that held anything, round %d", round);
            check_zero(workspace, test_operators[o].name);
            reduct_plan_destroy(plan);
        }
    gpu_free(workspace);
    doubles_free(&data);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Calls of the driver. While they are counted, the library's table has functions in it that count and call the driver's; what
 * is not expected to be called fails.
 * ------------------------------------------------------------------------------------------------------------------ */

static struct { unsigned current, id, push, pop, pointer, clear, launch, wait, others; } calls;
static rd_cuda_driver real; /* the table as it is otherwise */

static rd_cu_result count_current(rd_cu_context *context) {
    calls.current++;
    return real.cuCtxGetCurrent(context);
}
static rd_cu_result count_id(rd_cu_context context, unsigned long long *id) {
    calls.id++;
    return real.cuCtxGetId(context, id);
}
static rd_cu_result count_push(rd_cu_context context) {
    calls.push++;
    return real.cuCtxPushCurrent(context);
}
static rd_cu_result count_pop(rd_cu_context *context) {
    calls.pop++;
    return real.cuCtxPopCurrent(context);
}
static rd_cu_result count_pointer(void *value, int attribute, rd_cu_address pointer) {
    calls.pointer++;
    return real.cuPointerGetAttribute(value, attribute, pointer);
}
static rd_cu_result count_clear(rd_cu_address to, unsigned char value, size_t count, rd_cu_stream stream) {
    calls.clear++;
    return real.cuMemsetD8Async(to, value, count, stream);
}
static rd_cu_result count_launch(rd_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_shared,
                                 rd_cu_stream stream, void **arguments, void **extra) {
    calls.launch++;
    return real.cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, dynamic_shared, stream,
                               arguments, extra);
}
static rd_cu_result count_launch_ex(const rd_cu_launch *launch, rd_cu_function function, void **arguments,
                                    void **extra) {
    calls.launch++;
    return real.cuLaunchKernelEx(launch, function, arguments, extra);
}
static rd_cu_result count_wait(rd_cu_stream stream) {
    calls.wait++;
    return real.cuStreamSynchronize(stream);
}

enum { REFUSED = 999 };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define REFUSING(name, symbol, parameters)                                                                             \
    static rd_cu_result refuse_##name parameters {                                                                     \
        calls.others++;                                                                                                \
        return REFUSED;                                                                                                \
    }
RD_CUDA_FUNCTIONS(REFUSING)
RD_CUDA_NEWER_FUNCTIONS(REFUSING)
#pragma GCC diagnostic pop

/* The library's table is constant to others, but no constant. */
static rd_cuda_driver *driver_table(void) {
    return (rd_cuda_driver *)(uintptr_t)gpu.driver;
}

static void start_counting(void) {
    rd_cuda_driver *table = driver_table();
    real = *table;
#define REFUSE(name, symbol, parameters) table->name = refuse_##name;
    RD_CUDA_FUNCTIONS(REFUSE)
    RD_CUDA_NEWER_FUNCTIONS(REFUSE)
#undef REFUSE
    table->cuCtxGetCurrent = count_current;
    table->cuCtxGetId = real.cuCtxGetId ? count_id : NULL;
    table->cuCtxPushCurrent = count_push;
    table->cuCtxPopCurrent = count_pop;
    table->cuPointerGetAttribute = count_pointer;
    table->cuMemsetD8Async = count_clear;
    table->cuLaunchKernel = count_launch;
    table->cuLaunchKernelEx = real.cuLaunchKernelEx ? count_launch_ex : NULL;
    table->cuStreamSynchronize = count_wait;
    memset(&calls, 0, sizeof calls);
}

static void stop_counting(void) {
    *driver_table() = real;
    assert_int_equal(calls.others, 0);
}

/* Queues an execution, with a workspace unless it is 0, and counts the calls that this takes. */
static void count_queueing(const reduct_plan *plan, const void *x, rd_cu_address workspace) {
    reduct_error error = {.message = ""};
    memset(gpu.seen, ORACLE_UNTOUCHED, ORACLE_RESULT_BYTES);
    start_counting();
    const reduct_status status = reduct_cuda_execute(plan, &x, (void *[]){gpu.seen}, NULL,
                                                     workspace ? gpu_pointer(workspace, 0) : NULL, gpu.stream, &error);
    stop_counting();
    test_status(status, REDUCT_OK);
}

/* The same, and waits for it. */
static void count_execution(const reduct_plan *plan, const void *x, rd_cu_address workspace) {
    count_queueing(plan, x, workspace);
    CU(gpu.driver->cuStreamSynchronize(gpu.stream));
}

/* What an execution asks of the driver, beyond which a small reduction's time is the library's own: it must stay as little. */
static void driver_calls(void **state) {
    (void)state;
    struct doubles data = doubles_of(9, "normal", 4096);
    struct rng rng = rng_of(test_seed() + 203);
    const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    const struct oracle_result expected = gpu_expected(&sum, data.host, NULL, data.count);
    reduct_plan *plan = gpu_plan(&sum, data.count);
    const void *x = gpu_pointer(data.device, 0);
    const rd_cu_address workspace = spoiled_workspace(&rng, plan, 0);
    const unsigned ids = gpu.driver->cuCtxGetId != NULL;
    for (int brought = 0; brought < 2; brought++) {
        count_execution(plan, x, brought ? workspace : 0);
        assert_memory_equal(gpu.seen, expected.bytes, sizeof(double));
        assert_int_equal(calls.launch, 1);
        assert_int_equal(calls.current, 1);
        assert_int_equal(calls.id, ids);
        assert_int_equal(calls.push + calls.pop + calls.pointer + calls.clear + calls.wait, 0);
    }
    /* With no context current the plan's becomes it. */
    CU(gpu.driver->cuCtxSetCurrent(NULL));
    count_queueing(plan, x, 0);
    CU(gpu.driver->cuCtxSetCurrent(gpu.primary));
    CU(gpu.driver->cuStreamSynchronize(gpu.stream));
    assert_int_equal(calls.launch, 1);
    assert_int_equal(calls.current + calls.push + calls.pop, 3);
    assert_int_equal(calls.id + calls.pointer + calls.clear + calls.wait, 0);
    /* A call that waits for its result, after one that found its memory. */
    struct test_outcome got = gpu_execute(plan, x, NULL);
    start_counting();
    got = gpu_execute(plan, x, NULL);
    stop_counting();
    test_check(&got, &expected, &sum, "while calls were counted");
    assert_int_equal(calls.launch, 1);
    assert_int_equal(calls.wait, 1);
    assert_int_equal(calls.pointer, 1);
    assert_int_equal(calls.current, 1);
    assert_int_equal(calls.id, ids);
    assert_int_equal(calls.push + calls.pop + calls.clear, 0);
    reduct_plan_destroy(plan);
    gpu_free(workspace);
    doubles_free(&data);
}

/* A graph of an execution that clears its workspace clears it at each launch. */
static void check_clearing_graph(struct rng *rng, const reduct_plan *plan, const void *x, rd_cu_address workspace,
                                 const struct oracle_result *expected) {
    enum { CAPTURE_GLOBAL = 0 };
    rd_cu_graph graph = NULL;
    rd_cu_graph_exec exec = NULL;
    CU(gpu.cuStreamBeginCapture(gpu.stream, CAPTURE_GLOBAL));
    test_status(reduct_cuda_execute(plan, &x, (void *[]){gpu.seen}, NULL, gpu_pointer(workspace, 0), gpu.stream, NULL),
                REDUCT_OK);
    CU(gpu.cuStreamEndCapture(gpu.stream, &graph));
    CU(gpu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned launch = 0; launch < 2 * CONTENTS; launch++) {
        spoil(rng, workspace, reduct_cuda_workspace_size(plan), launch % CONTENTS);
        memset(gpu.seen, ORACLE_UNTOUCHED, ORACLE_RESULT_BYTES);
        CU(gpu.cuGraphLaunch(exec, gpu.stream));
        CU(gpu.driver->cuStreamSynchronize(gpu.stream));
        assert_memory_equal(gpu.seen, expected->bytes, sizeof(double));
    }
    CU(gpu.cuGraphExecDestroy(exec));
    CU(gpu.cuGraphDestroy(graph));
}

/* Executions with more workspaces than the library has stand-ins for clear them before the kernel; others clear nothing. In a
 * context that has none yet. */
static void many_workspaces(void **state) {
    (void)state;
    enum { BROUGHT = RD_CUDA_STAND_INS + 3 };
    const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    struct doubles data = doubles_of(10, "300_binades", gpu.quick ? 20011 : 100003);
    struct rng rng = rng_of(test_seed() + 204);
    const struct oracle_result expected = gpu_expected(&sum, data.host, NULL, data.count);
    rd_cu_context context = NULL;
    rd_cu_stream stream = gpu.stream;
    CU(gpu.cuCtxCreate(&context, 0, gpu.device)); /* and makes it current */
    CU(gpu.driver->cuStreamCreate(&gpu.stream, RD_CU_STREAM_NON_BLOCKING));
    const rd_cu_address copy = gpu_copy_of(data.host, data.count * sizeof(double));
    reduct_plan *plans[RD_CUDA_STAND_INS / RD_CUDA_STAND_INS_STEP + 1];
    const size_t most = sizeof plans / sizeof *plans;
    rd_cu_address workspace[BROUGHT];
    size_t made = 0;
    plans[made++] = gpu_plan(&sum, data.count);
    for (size_t i = 0; i < BROUGHT; i++) {
        const size_t room = made < most ? made * RD_CUDA_STAND_INS_STEP : RD_CUDA_STAND_INS;
        workspace[i] = spoiled_workspace(&rng, plans[0], (unsigned)i % CONTENTS);
        count_execution(plans[0], gpu_pointer(copy, 0), workspace[i]);
        assert_int_equal(calls.clear, i >= room);
        assert_memory_equal(gpu.seen, expected.bytes, sizeof(double));
        if (i < room || made == most)
            continue;
        plans[made++] = gpu_plan(&sum, data.count);
        spoil(&rng, workspace[i], reduct_cuda_workspace_size(plans[0]), (unsigned)i % CONTENTS);
        count_execution(plans[0], gpu_pointer(copy, 0), workspace[i]);
        assert_int_equal(calls.clear, i >= RD_CUDA_STAND_INS);
        assert_memory_equal(gpu.seen, expected.bytes, sizeof(double));
    }
    for (size_t i = 0; i < BROUGHT; i++) { /* each again */
        spoil(&rng, workspace[i], reduct_cuda_workspace_size(plans[0]), (unsigned)(i + 1) % CONTENTS);
        count_execution(plans[0], gpu_pointer(copy, 0), workspace[i]);
        assert_int_equal(calls.clear, i >= RD_CUDA_STAND_INS);
        assert_memory_equal(gpu.seen, expected.bytes, sizeof(double));
    }
    check_clearing_graph(&rng, plans[0], gpu_pointer(copy, 0), workspace[BROUGHT - 1], &expected);
    for (size_t i = 0; i < made; i++)
        reduct_plan_destroy(plans[i]);
    for (size_t i = 0; i < BROUGHT; i++)
        gpu_free(workspace[i]);
    gpu_free(copy);
    CU(gpu.driver->cuStreamDestroy(gpu.stream));
    gpu.stream = stream;
    CU(gpu.cuCtxDestroy(context));
    doubles_free(&data);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Graphs and streams
 * ------------------------------------------------------------------------------------------------------------------ */

/* Three executions in one graph, each one kernel and nothing else; launched again and again as the data change, and what is
 * in the workspace that two of them bring. */
static void graphs(void **state) {
    (void)state;
    enum { PLANS = 3, CAPTURE_GLOBAL = 0 };
    static const reduct_operator ops[PLANS] = {REDUCT_SUM, REDUCT_NORM2, REDUCT_ARGMIN};
    struct doubles data = doubles_of(3, "normal", gpu.quick ? 9001 : 500009);
    struct rng rng = rng_of(test_seed() + 200);
    reduct_plan *plans[PLANS];
    rd_cu_graph graph = NULL;
    rd_cu_graph_exec exec = NULL;
    size_t nodes = 0;
    const void *x = gpu_pointer(data.device, 0);
    for (int i = 0; i < PLANS; i++) {
        const reduct_reduction reduction = test_reduction(ops[i], REDUCT_F64, REDUCT_DEFAULT);
        plans[i] = gpu_plan(&reduction, data.count);
    }
    const size_t size = reduct_cuda_workspace_size(plans[0]);
    const rd_cu_address workspace = gpu_alloc(size);
    CU(gpu.cuStreamBeginCapture(gpu.stream, CAPTURE_GLOBAL));
    for (int i = 0; i < PLANS; i++)
        test_status(reduct_cuda_execute(plans[i], &x, (void *[]){gpu.seen + 8 * i},
                                        (reduct_cuda_outcome *)(void *)(gpu.seen + 64 + 16 * i),
                                        i ? gpu_pointer(workspace, 0) : NULL, gpu.stream, NULL),
                    REDUCT_OK);
    CU(gpu.cuStreamEndCapture(gpu.stream, &graph));
    CU(gpu.cuGraphGetNodes(graph, NULL, &nodes));
    assert_int_equal(nodes, PLANS);
    CU(gpu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int launch = 0; launch < 4; launch++) {
        distribution_named(launch & 1 ? "300_binades" : "uniform")
            ->fill(&rng, test_type(REDUCT_F64), data.host, NULL, data.count);
        gpu_upload(data.device, data.host, data.count * sizeof(double));
        spoil(&rng, workspace, size, (unsigned)launch % CONTENTS);
        memset(gpu.seen, ORACLE_UNTOUCHED, 256);
        CU(gpu.cuGraphLaunch(exec, gpu.stream));
        CU(gpu.driver->cuStreamSynchronize(gpu.stream));
        for (int i = 0; i < PLANS; i++) {
            const reduct_reduction reduction = test_reduction(ops[i], REDUCT_F64, REDUCT_DEFAULT);
            const struct oracle_result expected = gpu_expected(&reduction, data.host, NULL, data.count);
            assert_memory_equal(gpu.seen + 8 * i, expected.bytes, 8);
            assert_int_equal(((reduct_cuda_outcome *)(void *)(gpu.seen + 64 + 16 * i))->status, REDUCT_OK);
        }
    }
    CU(gpu.cuGraphExecDestroy(exec));
    CU(gpu.cuGraphDestroy(graph));
    for (int i = 0; i < PLANS; i++)
        reduct_plan_destroy(plans[i]);
    gpu_free(workspace);
    doubles_free(&data);
}

/* Bounds that change on the device between launches of a graph, which has been told nothing of how long segments are: long ones, of
 * which those that overlap are more than a plan has room for, and short ones. In the plan's own memory, and in a workspace. Sums of small
 * integers, and the first of the largest. Segments are anywhere, or `adjacent`. */
static void check_lengths(bool adjacent) {
    enum { COUNT = 40000, SEGMENTS = 300, ROUNDS = 5, CAPTURE_GLOBAL = 0 };
    struct rng rng = rng_of(test_seed() + 203);
    const reduct_reduction reductions[2] = {test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT),
                                            test_reduction(REDUCT_ARGMAX, REDUCT_F64, REDUCT_DEFAULT)};
    const reduct_segments segments = {
        .count = SEGMENTS, .elements = COUNT, .index = REDUCT_U32, .with_ends = !adjacent};
    const reduct_plan_options options = {.reductions = reductions,
                                         .reduction_count = 2,
                                         .kind = REDUCT_SEGMENTS,
                                         .segments = &segments,
                                         .device = gpu.name};
    double *x = test_alloc(COUNT * sizeof *x);
    for (size_t i = 0; i < COUNT; i++)
        x[i] = (double)rng_below(&rng, 1000) - 400;
    reduct_plan *plan = NULL;
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    const size_t bytes = reduct_cuda_workspace_size(plan);
    const rd_cu_address device = gpu_alloc(COUNT * sizeof *x), bounds = gpu_alloc(2 * SEGMENTS * sizeof(uint32_t)),
                        results = gpu_alloc(2 * SEGMENTS * sizeof(double)), workspace = gpu_alloc(bytes + 8);
    const void *inputs[] = {gpu_pointer(device, 0), gpu_pointer(bounds, 0),
                            gpu_pointer(bounds, SEGMENTS * sizeof(uint32_t))};
    void *to[] = {gpu_pointer(results, 0), gpu_pointer(results, SEGMENTS * sizeof(double))};
    gpu_upload(device, x, COUNT * sizeof *x);
    for (int own = 0; own < 2; own++) {
        rd_cu_graph graph = NULL;
        rd_cu_graph_exec exec = NULL;
        spoil(&rng, workspace, bytes, 1);
        CU(gpu.cuStreamBeginCapture(gpu.stream, CAPTURE_GLOBAL));
        test_status(
            reduct_cuda_execute(plan, inputs, to, NULL, own ? NULL : gpu_pointer(workspace, 0), gpu.stream, NULL),
            REDUCT_OK);
        CU(gpu.cuStreamEndCapture(gpu.stream, &graph));
        CU(gpu.cuGraphInstantiateWithFlags(&exec, graph, 0));
        for (int round = 0; round < ROUNDS; round++) {
            uint32_t bound[2][SEGMENTS], at = (uint32_t)rng_below(&rng, 50);
            double sum[SEGMENTS];
            uint64_t place[SEGMENTS], words[RD_CUDA_CUT_EXTRA]; /* with which the workspace begins */
            for (size_t s = 0; s < SEGMENTS; s++) {
                const uint32_t usual = rng_below(&rng, 300) < 60 * (uint64_t)round ? COUNT / 4 : 50,
                               left = COUNT - at - (uint32_t)(SEGMENTS - 1 - s),
                               most = adjacent && left < usual ? left : usual;
                bound[0][s] = adjacent ? at : (uint32_t)rng_below(&rng, COUNT - most);
                at = bound[1][s] = bound[0][s] + 1 + (uint32_t)rng_below(&rng, most);
            }
            if (adjacent)
                gpu_upload(bounds + sizeof *bound[1], bound[1], sizeof bound[1]);
            gpu_upload(bounds, bound, adjacent ? sizeof *bound[0] : sizeof bound);
            CU(gpu.cuGraphLaunch(exec, gpu.stream));
            CU(gpu.driver->cuStreamSynchronize(gpu.stream));
            gpu_download(sum, results, sizeof sum);
            gpu_download(place, results + sizeof sum, sizeof place);
            gpu_download(words, workspace, sizeof words);
            for (size_t w = 0; !own && w < RD_CUDA_CUT_EXTRA; w++)
                assert_int_equal(words[w], 0);
            for (size_t s = 0; s < SEGMENTS; s++) {
                double total = 0;
                uint64_t first = 0;
                const double *of = x + bound[0][s];
                for (uint64_t i = 0; i < bound[1][s] - bound[0][s]; i++) {
                    total += of[i];
                    first = of[i] > of[first] ? i : first;
                }
                if (sum[s] != total || place[s] != first)
                    test_fail("segment %zu of %u elements, launch %d: %g and place %llu, expected %g and %llu", s,
                              bound[1][s] - bound[0][s], round, sum[s], (unsigned long long)place[s], total,
                              (unsigned long long)first);
            }
        }
        CU(gpu.cuGraphExecDestroy(exec));
        CU(gpu.cuGraphDestroy(graph));
    }
    reduct_plan_destroy(plan);
    gpu_free(device);
    gpu_free(bounds);
    gpu_free(results);
    gpu_free(workspace);
    free(x);
}

static void lengths_of_segments(void **state) {
    (void)state;
    check_lengths(false);
    check_lengths(true);
}

/* Masks in device memory, of plans that are queued: rows, and segments whose bounds lie before the mask. As on the CPU. */
enum { MASKED_ROWS = 6, MASKED_COLUMNS = 700, MASKED_REDUCTIONS = 4, MASKED_COUNT = MASKED_ROWS * MASKED_COLUMNS };

/* What an execution writes. */
struct masked_results {
    double result[MASKED_REDUCTIONS][MASKED_ROWS];
    reduct_cuda_outcome outcome[MASKED_REDUCTIONS][MASKED_ROWS];
};

static void check_masked(reduct_plan_options options, const double *x, const unsigned char *mask,
                         const uint32_t *offsets, rd_cu_address device) {
    struct masked_results expected, *got;
    const size_t x_bytes = MASKED_COUNT * sizeof *x,
                 offset_bytes = (MASKED_ROWS + 2) * sizeof *offsets; /* so that results are aligned */
    const bool segmented = options.kind == REDUCT_SEGMENTS;
    const rd_cu_address there = device + x_bytes + offset_bytes, results = there + MASKED_COUNT + 8;
    void *to[2][MASKED_REDUCTIONS];
    reduct_outcome *told[MASKED_REDUCTIONS];
    memset(&expected, 0, sizeof expected);
    got = test_alloc(sizeof *got);
    gpu_upload(device, x, x_bytes);
    gpu_upload(device + x_bytes, offsets, (MASKED_ROWS + 1) * sizeof *offsets);
    gpu_upload(there, mask, MASKED_COUNT + 8);
    gpu_upload(results, &expected, sizeof expected);
    for (size_t i = 0; i < MASKED_REDUCTIONS; i++) {
        to[0][i] = expected.result[i];
        to[1][i] = gpu_pointer(results, offsetof(struct masked_results, result) + i * sizeof expected.result[i]);
        told[i] = (reduct_outcome *)(void *)expected.outcome[i];
    }
    const void *here[] = {x, segmented ? (const void *)offsets : mask, mask},
               *inputs[] = {gpu_pointer(device, 0), gpu_pointer(segmented ? device + x_bytes : there, 0),
                            gpu_pointer(there, 0)};
    reduct_plan *plan = NULL;
    options.device = "cpu";
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    test_status(reduct_plan_execute_each(plan, here, to[0], told, NULL, NULL), REDUCT_OK);
    reduct_plan_destroy(plan);
    options.device = gpu.name;
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    test_status(reduct_cuda_execute(plan, inputs, to[1], gpu_pointer(results, offsetof(struct masked_results, outcome)),
                                    NULL, gpu.stream, NULL),
                REDUCT_OK);
    CU(gpu.driver->cuStreamSynchronize(gpu.stream));
    inputs[segmented ? 2 : 1] = NULL;
    test_status(reduct_cuda_execute(plan, inputs, to[1], NULL, NULL, gpu.stream, NULL), REDUCT_ERROR_ARGUMENT);
    reduct_plan_destroy(plan);
    gpu_download(got, results, sizeof *got);
    assert_memory_equal(got, &expected, sizeof expected);
    free(got);
}

static void masks(void **state) {
    (void)state;
    static const uint32_t OFFSETS[MASKED_ROWS + 1] = {3, 700, 700, 701, 2900, 2909, MASKED_COUNT};
    const reduct_reduction reductions[MASKED_REDUCTIONS] = {test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT),
                                                            test_reduction(REDUCT_STD, REDUCT_F64, REDUCT_DEFAULT),
                                                            test_reduction(REDUCT_ARGMAX, REDUCT_F64, REDUCT_DEFAULT),
                                                            test_reduction(REDUCT_PRODUCT, REDUCT_F64, REDUCT_DEFAULT)};
    const reduct_segments segments = {.count = MASKED_ROWS, .elements = MASKED_COUNT, .index = REDUCT_U32};
    struct doubles data = doubles_of(9, "normal", MASKED_COUNT);
    struct rng rng = rng_of(test_seed() + 201);
    unsigned char mask[MASKED_COUNT + 8];
    const rd_cu_address device =
        gpu_alloc(MASKED_COUNT * sizeof(double) + 2 * sizeof OFFSETS + sizeof mask + sizeof(struct masked_results));
    for (size_t i = 0; i < sizeof mask; i++)
        mask[i] = (unsigned char)(i < MASKED_COLUMNS ? 0 : rng_below(&rng, 2) * (1 + rng_below(&rng, 255)));
    for (unsigned k = 0; k < 4; k++)
        check_masked((reduct_plan_options){.reductions = reductions,
                                           .reduction_count = MASKED_REDUCTIONS,
                                           .kind = k & 1 ? REDUCT_SEGMENTS : REDUCT_SHAPE,
                                           .shape = {MASKED_ROWS, MASKED_COLUMNS, 1, MASKED_COLUMNS, 1, 0},
                                           .segments = &segments,
                                           .mask = k & 2 ? REDUCT_MASK_BITS : REDUCT_MASK_BYTES,
                                           .mask_offset = 1 + k},
                     data.host, mask, OFFSETS, device);
    gpu_free(device);
    doubles_free(&data);
}

/* Executions in one stream of which each reads what the one before wrote, the last element: launches may overlap, but must
 * not be seen to. Of small integers, so that every mode is exact. */
static void chained(void **state) {
    (void)state;
    enum { LINKS = 24, MOST = 300007, CAPTURE_GLOBAL = 0 };
    static const struct {
        reduct_operator op;
        reduct_mode mode;
    } links[] = {{REDUCT_SUM, REDUCT_EXACT}, {REDUCT_MAX, REDUCT_EXACT},   {REDUCT_SUM, REDUCT_FAST},
                 {REDUCT_SUM, REDUCT_FAST},  {REDUCT_NORM1, REDUCT_EXACT}, {REDUCT_MIN, REDUCT_EXACT}};
    static const size_t sizes[] = {100, 20011, MOST};
    struct rng rng = rng_of(test_seed() + 201);
    double *host = test_alloc((MOST + LINKS) * sizeof *host);
    for (size_t s = 0; s < (gpu.quick ? 2 : sizeof sizes / sizeof *sizes); s++) {
        const size_t count = sizes[s];
        const size_t rounds = gpu.quick ? 2 : 40;
        double total = 0, most = 0, seen[LINKS];
        for (size_t i = 0; i < count; i++) {
            host[i] = i ? (double)(1 + rng_below(&rng, 100)) : 1;
            total += host[i];
            most = host[i] > most ? host[i] : most;
        }
        rd_cu_address device = gpu_copy_of(host, (count + LINKS) * sizeof *host);
        reduct_plan *plans[LINKS];
        for (size_t i = 0; i < LINKS; i++) {
            const size_t kind = i % (sizeof links / sizeof *links);
            reduct_reduction reduction = test_reduction(links[kind].op, REDUCT_F64, REDUCT_DEFAULT);
            reduction.mode = links[kind].mode;
            plans[i] = gpu_plan(&reduction, count + i);
            const double link = reduction.op == REDUCT_MAX ? most : reduction.op == REDUCT_MIN ? 1 : total;
            host[count + i] = link;
            total += link;
            most = link > most ? link : most;
        }
        const void *x = gpu_pointer(device, 0);
        rd_cu_graph graph = NULL;
        rd_cu_graph_exec exec = NULL;
        for (size_t round = 0; round < 2 * rounds; round++) { /* half of them as a graph */
            gpu_fill(device + count * sizeof *host, 0xff, LINKS * sizeof *host);
            if (round == rounds)
                CU(gpu.cuStreamBeginCapture(gpu.stream, CAPTURE_GLOBAL));
            for (size_t i = 0; i < LINKS && round <= rounds; i++)
                test_status(reduct_cuda_execute(plans[i], &x,
                                                (void *[]){gpu_pointer(device, (count + i) * sizeof *host)}, NULL, NULL,
                                                gpu.stream, NULL),
                            REDUCT_OK);
            if (round == rounds) {
                CU(gpu.cuStreamEndCapture(gpu.stream, &graph));
                CU(gpu.cuGraphInstantiateWithFlags(&exec, graph, 0));
            }
            if (round >= rounds)
                CU(gpu.cuGraphLaunch(exec, gpu.stream));
            CU(gpu.driver->cuStreamSynchronize(gpu.stream));
            gpu_download(seen, device + count * sizeof *host, sizeof seen);
            for (size_t i = 0; i < LINKS; i++)
                if (memcmp(&seen[i], &host[count + i], sizeof *seen))
                    test_fail("%zu elements, round %zu, link %zu: %a; expected %a", count, round, i, seen[i],
                              host[count + i]);
        }
        CU(gpu.cuGraphExecDestroy(exec));
        CU(gpu.cuGraphDestroy(graph));
        for (size_t i = 0; i < LINKS; i++)
            reduct_plan_destroy(plans[i]);
        gpu_free(device);
    }
    free(host);
}

/* One plan in many streams at once, each with a workspace, which holds anything, and an array of results of its own. */
static void streams(void **state) {
    (void)state;
    enum { STREAMS = 16, RUNS = 32 };
    struct doubles data = doubles_of(4, "300_binades", gpu.quick ? 5003 : 400009);
    struct rng rng = rng_of(test_seed() + 205);
    const int runs = gpu.quick ? 3 : RUNS;
    rd_cu_stream stream[STREAMS];
    rd_cu_address workspace[STREAMS], result[STREAMS];
    for (int mode = REDUCT_EXACT; mode <= REDUCT_FAST; mode++) {
        reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
        sum.mode = (reduct_mode)mode;
        reduct_plan *plan = gpu_plan(&sum, data.count);
        const void *x = gpu_pointer(data.device, 0);
        const struct test_outcome one = gpu_run(plan, x, NULL);
        for (int s = 0; s < STREAMS; s++) {
            CU(gpu.driver->cuStreamCreate(&stream[s], RD_CU_STREAM_NON_BLOCKING));
            workspace[s] = spoiled_workspace(&rng, plan, (unsigned)s % CONTENTS);
            result[s] = gpu_alloc(RUNS * sizeof(double));
            gpu_fill(result[s], ORACLE_UNTOUCHED, RUNS * sizeof(double));
        }
        for (int run = 0; run < runs; run++)
            for (int s = 0; s < STREAMS; s++)
                test_status(reduct_cuda_execute(plan, &x,
                                                (void *[]){gpu_pointer(result[s], (size_t)run * sizeof(double))}, NULL,
                                                gpu_pointer(workspace[s], 0), stream[s], NULL),
                            REDUCT_OK);
        for (int s = 0; s < STREAMS; s++) {
            double seen[RUNS];
            CU(gpu.driver->cuStreamSynchronize(stream[s]));
            gpu_download(seen, result[s], sizeof seen);
            for (int run = 0; run < runs; run++)
                assert_memory_equal(&seen[run], one.bytes, sizeof(double));
            CU(gpu.driver->cuStreamDestroy(stream[s]));
            gpu_free(workspace[s]);
            gpu_free(result[s]);
        }
        reduct_plan_destroy(plan);
    }
    doubles_free(&data);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Threads
 * ------------------------------------------------------------------------------------------------------------------ */

enum { THREADS = 8, THREAD_OPS = 4 };
static const reduct_operator thread_ops[THREAD_OPS] = {REDUCT_SUM, REDUCT_STD, REDUCT_ARGMAX, REDUCT_NORM1};

struct share {
    const struct doubles *data;
    reduct_plan *const *plans;
    const struct oracle_result *expected;
    int rounds, wrong;
};

/* An accumulator of the device: a part from the host, a part that is there, one that another accumulator brings. */
static bool accumulates(const struct share *share, int which, size_t cut) {
    const reduct_reduction reduction = test_reduction(thread_ops[which], REDUCT_F64, REDUCT_DEFAULT);
    const double *host = share->data->host, *there = gpu_pointer(share->data->device, 0);
    const size_t count = share->data->count, half = cut / 2;
    reduct_accumulator *whole = NULL, *rest = NULL;
    struct test_outcome got = test_outcome();
    bool done =
        reduct_accumulator_create(
            &(reduct_accumulator_options){.reduction = &reduction, .device = gpu.name, .threads = 1}, &whole, NULL) ==
            REDUCT_OK &&
        reduct_accumulator_create(
            &(reduct_accumulator_options){.reduction = &reduction, .device = cut & 1 ? gpu.name : "cpu", .threads = 1},
            &rest, NULL) == REDUCT_OK &&
        reduct_accumulator_add(whole, host, NULL, half, NULL) == REDUCT_OK &&
        reduct_accumulator_add(whole, there + half, NULL, cut - half, NULL) == REDUCT_OK &&
        reduct_accumulator_add(rest, host + cut, NULL, count - cut, NULL) == REDUCT_OK &&
        reduct_accumulator_merge(whole, rest, NULL) == REDUCT_OK;
    got.status = reduct_accumulator_result(whole, REDUCT_DEFAULT, got.bytes, &got.error);
    reduct_accumulator_destroy(whole);
    reduct_accumulator_destroy(rest);
    return done && test_agrees(&got, &share->expected[which]);
}

static void *work(void *argument) {
    struct share *share = argument;
    struct rng rng = rng_of((uint64_t)(uintptr_t)argument);
    for (int round = 0; round < share->rounds; round++)
        for (int which = 0; which < THREAD_OPS; which++) {
            const struct test_outcome here = gpu_execute(share->plans[which], share->data->host, NULL);
            const struct test_outcome there =
                gpu_execute(share->plans[which], gpu_pointer(share->data->device, 0), NULL);
            share->wrong += !test_agrees(&here, &share->expected[which]);
            share->wrong += !test_agrees(&there, &share->expected[which]);
            share->wrong += !accumulates(share, which, rng_below(&rng, share->data->count));
        }
    return NULL;
}

/* Many threads share plans and have accumulators of their own, on data here and there. */
static void threads(void **state) {
    (void)state;
    struct doubles data = doubles_of(5, "jumps", gpu.quick ? 3001 : 200003);
    reduct_plan *plans[THREAD_OPS];
    struct oracle_result expected[THREAD_OPS];
    for (int i = 0; i < THREAD_OPS; i++) {
        const reduct_reduction reduction = test_reduction(thread_ops[i], REDUCT_F64, REDUCT_DEFAULT);
        plans[i] = gpu_plan(&reduction, data.count);
        expected[i] = gpu_expected(&reduction, data.host, NULL, data.count);
    }
    struct share shares[THREADS];
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        shares[i] = (struct share){&data, plans, expected, gpu.quick ? 1 : 10, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, work, &shares[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++)
        if (shares[i].wrong)
            test_fail("%d wrong results on thread %d", shares[i].wrong, i);
    for (int i = 0; i < THREAD_OPS; i++)
        reduct_plan_destroy(plans[i]);
    doubles_free(&data);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Data on the host
 * ------------------------------------------------------------------------------------------------------------------ */

/* Fills an array with copies of an odd number of elements; the last but one is the greatest. */
static void fill_long(struct rng *rng, const struct test_type *type, unsigned char *x, size_t count) {
    const size_t period = count < 100003 ? count : 100003, bytes = count * type->size;
    distribution_named(type->class == FLOAT ? "60_binades" : "small_integer")->fill(rng, type, x, NULL, period);
    for (size_t filled = period * type->size; filled < bytes;) {
        const size_t more = bytes - filled < filled ? bytes - filled : filled;
        memcpy(x + filled, x, more);
        filled += more;
    }
    if (count > 2 && type->class == FLOAT)
        values_put(type, x, count - 2, 1e30);
    else if (count > 2)
        values_put_bits(type, x, count - 2, (UINT64_C(1) << (8 * type->size - 1)) - 1);
}

static void check_host(const struct test_type *type, const unsigned char *x, size_t count) {
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_ARGMAX, REDUCT_DOT, REDUCT_VAR};
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        const reduct_reduction reduction = test_reduction(ops[o], type->type, REDUCT_DEFAULT);
        const void *y = oracle_inputs(ops[o]) == 2 ? x : NULL;
        const struct oracle_result expected = gpu_expected(&reduction, x, y, count);
        reduct_plan *plan = gpu_plan(&reduction, count);
        const struct test_outcome got = gpu_execute(plan, x, y);
        test_check(&got, &expected, &reduction, "%zu elements from the host", count);
        reduct_plan_destroy(plan);
    }
}

/* Arrays in host memory, page-locked or not, around the size of a staging buffer and several times as large. */
static void host_data(void **state) {
    (void)state;
    enum { BUFFER = 32 << 20 };
    static const reduct_type types[] = {REDUCT_F64, REDUCT_F32, REDUCT_U8, REDUCT_I16};
    const size_t most = gpu.quick ? 70001 : (size_t)3 * BUFFER + 123457;
    struct rng rng = rng_of(test_seed() + 300);
    void *locked = NULL;
    CU(gpu.driver->cuMemHostAlloc(&locked, most, 0));
    unsigned char *pageable = test_alloc(most);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const struct test_type *type = test_type(types[t]);
        const size_t whole = BUFFER / type->size, half = whole / 2, all = most / type->size;
        const size_t sizes[] = {3, 1000, half - 1, half + 1, whole - 1, whole, whole + 1, 2 * whole + 1, all};
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const size_t count = sizes[s] < all ? sizes[s] : all;
            unsigned char *x = (s + t) % 3 ? pageable : locked;
            if (gpu.quick && sizes[s] > all)
                continue;
            fill_long(&rng, type, x, count);
            check_host(type, x, count);
            check_host(type, x + type->size, count - 1);
        }
    }
    free(pageable);
    CU(gpu.driver->cuMemFreeHost(locked));
}

/* One array here and the other there is more than a call can mean. */
static void split_data(void **state) {
    (void)state;
    struct doubles data = doubles_of(6, "normal", 1000);
    const reduct_reduction dot = test_reduction(REDUCT_DOT, REDUCT_F64, REDUCT_DEFAULT);
    reduct_plan *plan = gpu_plan(&dot, data.count);
    const void *here = data.host, *there = gpu_pointer(data.device, 0);
    for (int i = 0; i < 2; i++) {
        const struct test_outcome got = gpu_execute(plan, i ? here : there, i ? there : here);
        assert_int_equal(got.status, REDUCT_ERROR_ARGUMENT);
        assert_true(strstr(got.error.message, "memory") != NULL);
    }
    reduct_plan_destroy(plan);
    doubles_free(&data);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Contexts
 * ------------------------------------------------------------------------------------------------------------------ */

static void check_current(rd_cu_context expected) {
    rd_cu_context current = NULL;
    CU(gpu.driver->cuCtxGetCurrent(&current));
    assert_ptr_equal(current, expected);
}

/* A plan belongs to the context that was current where it was made, whatever is current later; a context that was
 * destroyed is not taken for one that got its handle. */
static void contexts(void **state) {
    (void)state;
    struct doubles data = doubles_of(7, "60_binades", gpu.quick ? 5003 : 100003);
    const reduct_reduction reduction = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    const struct oracle_result expected = gpu_expected(&reduction, data.host, NULL, data.count);
    reduct_plan *plan = gpu_plan(&reduction, data.count);
    for (int round = 0; round < 3; round++) {
        rd_cu_context second = NULL;
        CU(gpu.cuCtxCreate(&second, 0, gpu.device)); /* and makes it current */
        rd_cu_address x = 0;
        CU(gpu.driver->cuMemAlloc(&x, data.count * sizeof(double)));
        CU(gpu.driver->cuMemcpyHtoDAsync(x, data.host, data.count * sizeof(double), NULL));
        CU(gpu.driver->cuStreamSynchronize(NULL));
        reduct_plan *own = gpu_plan(&reduction, data.count);
        check_current(second);
        const struct test_outcome in_second = gpu_run_in(own, gpu_pointer(x, 0), NULL, NULL);
        test_check(&in_second, &expected, &reduction, "in a second context");
        const struct test_outcome waited = gpu_execute(own, gpu_pointer(x, 0), NULL);
        test_check(&waited, &expected, &reduction, "in a second context, waiting");
        const struct test_outcome streamed = gpu_execute(own, data.host, NULL);
        test_check(&streamed, &expected, &reduction, "in a second context, from the host");
        const struct test_outcome in_first = gpu_run(plan, gpu_pointer(data.device, 0), NULL);
        test_check(&in_first, &expected, &reduction, "in the first context while the second is current");
        check_current(second);
        CU(gpu.driver->cuMemFree(x));
        reduct_plan_destroy(own);
        CU(gpu.cuCtxDestroy(second));
        check_current(gpu.primary);
        const struct test_outcome again = gpu_run(plan, gpu_pointer(data.device, 0), NULL);
        test_check(&again, &expected, &reduction, "after a second context");
    }
    reduct_plan_destroy(plan);
    doubles_free(&data);
}

/* With no context current, calls use the device's primary one, and leave none. */
static void no_context(void **state) {
    (void)state;
    struct doubles data = doubles_of(8, "normal", 10007);
    const reduct_reduction reduction = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    const struct oracle_result expected = gpu_expected(&reduction, data.host, NULL, data.count);
    CU(gpu.driver->cuCtxSetCurrent(NULL));
    reduct_plan *plan = gpu_plan(&reduction, data.count);
    const struct test_outcome here = gpu_execute(plan, data.host, NULL);
    const struct test_outcome there = gpu_execute(plan, gpu_pointer(data.device, 0), NULL);
    check_current(NULL);
    reduct_plan_destroy(plan);
    CU(gpu.driver->cuCtxSetCurrent(gpu.primary));
    test_check(&here, &expected, &reduction, "no context, from the host");
    test_check(&there, &expected, &reduction, "no context, from the device");
    doubles_free(&data);
}

int test_cuda_calls(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(arguments),
        cmocka_unit_test(nothing),
        cmocka_unit_test(outcomes),
        cmocka_unit_test(kinds_of_memory),
        cmocka_unit_test(workspaces),
        cmocka_unit_test(driver_calls),
        cmocka_unit_test(many_workspaces),
        cmocka_unit_test(graphs),
        cmocka_unit_test(chained),
        cmocka_unit_test(streams),
        cmocka_unit_test(threads),
        cmocka_unit_test(host_data),
        cmocka_unit_test(split_data),
        cmocka_unit_test(contexts),
        cmocka_unit_test(no_context),
        cmocka_unit_test(masks),
        cmocka_unit_test(operators_of_many),
        cmocka_unit_test(lengths_of_segments),
    };
    return cmocka_run_group_tests_name("cuda: calls", tests, NULL, NULL);
}
