#include "cuda_support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct gpu gpu = {.name = "cuda:0"};

/* Where gpu_run() has the result and the outcome written, within `gpu.seen`. */
enum { SEEN_OUTCOME = 64, SEEN_BYTES = 4096 };

/* Multiprocessors of a small device. */
enum { SMALL = 8 };

static bool find_functions(const char **why) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
#define GPU_FIND(name, symbol, parameters)                                                                             \
    do {                                                                                                               \
        void *found = library ? dlsym(library, symbol) : NULL;                                                         \
        *why = "the NVIDIA driver lacks " symbol;                                                                      \
        if (!found)                                                                                                    \
            return false;                                                                                              \
        memcpy(&gpu.name, &found, sizeof found); /* POSIX promises that the bytes are the same */                      \
    } while (0);
    GPU_FUNCTIONS(GPU_FIND)
#undef GPU_FIND
    return true;
}

/* Whether the library does anything on the device at all, in its own words. */
static bool library_has_device(const char **why) {
    static reduct_error error;
    const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    reduct_plan *plan = NULL;
    const reduct_status status = gpu_plan_create(&sum, 1, &plan, &error);
    reduct_plan_destroy(plan);
    *why = error.message;
    return status == REDUCT_OK;
}

bool gpu_open(const char **why) {
    gpu.driver = rd_cuda_driver_open(why);
    if (!gpu.driver || !find_functions(why) || !library_has_device(why))
        return false;
    int count = 0;
    CU(gpu.driver->cuDeviceGet(&gpu.device, 0));
    CU(gpu.driver->cuDeviceGetAttribute(&count, RD_CU_DEVICE_MULTIPROCESSORS, gpu.device));
    gpu.multiprocessors = (unsigned)count;
    gpu.small = count <= SMALL;
    CU(gpu.driver->cuDevicePrimaryCtxRetain(&gpu.primary, gpu.device));
    CU(gpu.driver->cuCtxSetCurrent(gpu.primary));
    CU(gpu.driver->cuStreamCreate(&gpu.stream, RD_CU_STREAM_NON_BLOCKING));
    void *seen = NULL;
    CU(gpu.driver->cuMemHostAlloc(&seen, SEEN_BYTES, 0));
    gpu.seen = seen;
    return true;
}

void gpu_check(rd_cu_result result, const char *call, const char *file, int line) {
    char text[160];
    if (result != RD_CU_SUCCESS)
        test_fail("%s:%d: %s: %s", file, line, call, rd_cuda_result_text(gpu.driver, result, text, sizeof text));
}

rd_cu_address gpu_alloc(size_t bytes) {
    rd_cu_address address = 0;
    CU(gpu.driver->cuMemAlloc(&address, bytes ? bytes : 1));
    return address;
}

void gpu_free(rd_cu_address address) {
    CU(gpu.driver->cuMemFree(address));
}

void gpu_upload(rd_cu_address to, const void *from, size_t bytes) {
    if (bytes)
        CU(gpu.driver->cuMemcpyHtoDAsync(to, from, bytes, gpu.stream));
    CU(gpu.driver->cuStreamSynchronize(gpu.stream));
}

void gpu_download(void *to, rd_cu_address from, size_t bytes) {
    if (bytes)
        CU(gpu.driver->cuMemcpyDtoHAsync(to, from, bytes, gpu.stream));
    CU(gpu.driver->cuStreamSynchronize(gpu.stream));
}

void gpu_fill(rd_cu_address address, unsigned char value, size_t bytes) {
    CU(gpu.driver->cuMemsetD8Async(address, value, bytes, gpu.stream));
    CU(gpu.driver->cuStreamSynchronize(gpu.stream));
}

rd_cu_address gpu_copy_of(const void *from, size_t bytes) {
    const rd_cu_address address = gpu_alloc(bytes);
    gpu_upload(address, from, bytes);
    return address;
}

void *gpu_pointer(rd_cu_address address, size_t bytes) {
    return (void *)(uintptr_t)(address + bytes);
}

rd_cu_address gpu_workspace(const reduct_plan *plan) {
    const rd_cu_address workspace = gpu_alloc(reduct_cuda_workspace_size(plan));
    gpu_fill(workspace, 0, reduct_cuda_workspace_size(plan));
    return workspace;
}

reduct_status gpu_plan_create(const reduct_reduction *reduction, uint64_t count, reduct_plan **plan,
                              reduct_error *error) {
    const reduct_plan_options options = {.reductions = reduction,
                                         .reduction_count = 1,
                                         .shape = {.outer = 1, .n = count, .inner = 1, .stride = 1},
                                         .device = gpu.name};
    return reduct_plan_create(&options, plan, error);
}

reduct_plan *gpu_plan(const reduct_reduction *reduction, uint64_t count) {
    reduct_plan *plan = NULL;
    reduct_error error = {.message = ""};
    const reduct_status status = gpu_plan_create(reduction, count, &plan, &error);
    if (status != REDUCT_OK)
        test_fail("a plan for %s of %llu %s: status %d, %s", reduct_operator_name(reduction->op),
                  (unsigned long long)count, reduct_type_name(reduction->element), (int)status, error.message);
    return plan;
}

struct test_outcome gpu_run(const reduct_plan *plan, const void *x, const void *y) {
    return gpu_run_in(plan, x, y, gpu.stream);
}

/* That the same execution, waited for, has this outcome, too. */
static void check_waited(const reduct_plan *plan, const void *const *inputs, rd_cu_stream stream,
                         const struct test_outcome *expected) {
    reduct_error error = {.index = UINT64_MAX};
    memset(gpu.seen, ORACLE_UNTOUCHED, SEEN_BYTES);
    test_status(reduct_cuda_execute_checked(plan, inputs, (void *[]){gpu.seen}, NULL, stream, &error),
                expected->status);
    assert_memory_equal(gpu.seen, expected->bytes, sizeof expected->bytes);
    assert_true(error.index == expected->error.index);
}

struct test_outcome gpu_run_in(const reduct_plan *plan, const void *x, const void *y, rd_cu_stream stream) {
    struct test_outcome got = test_outcome();
    const void *inputs[2] = {x, y};
    void *results[1] = {gpu.seen};
    reduct_cuda_outcome *outcome = (void *)(gpu.seen + SEEN_OUTCOME);
    memset(gpu.seen, ORACLE_UNTOUCHED, SEEN_BYTES);
    got.status = reduct_cuda_execute(plan, inputs, results, outcome, NULL, stream, &got.error);
    if (got.status != REDUCT_OK)
        return got;
    CU(gpu.driver->cuStreamSynchronize(stream));
    got.status = (reduct_status)outcome->status;
    got.error.index = outcome->index;
    memcpy(got.bytes, gpu.seen, sizeof got.bytes);
    assert_int_equal(outcome->reserved, 0);
    if (got.status != REDUCT_ERROR_NAN)
        assert_true(outcome->index == UINT64_MAX);
    for (size_t i = ORACLE_RESULT_BYTES; i < SEEN_BYTES; i++)
        if (gpu.seen[i] != ORACLE_UNTOUCHED && (i < SEEN_OUTCOME || i >= SEEN_OUTCOME + sizeof *outcome))
            test_fail("byte %zu of what surrounds the result and the outcome was written", i);
    check_waited(plan, inputs, stream, &got);
    return got;
}

struct test_outcome gpu_reduce(const reduct_reduction *reduction, const void *x, const void *y, uint64_t count) {
    struct test_outcome got = test_outcome();
    reduct_plan *plan = NULL;
    got.status = gpu_plan_create(reduction, count, &plan, &got.error);
    if (got.status == REDUCT_OK)
        got = gpu_run(plan, x, y);
    reduct_plan_destroy(plan);
    return got;
}

struct test_outcome gpu_execute(const reduct_plan *plan, const void *x, const void *y) {
    struct test_outcome got = test_outcome();
    const void *inputs[2] = {x, y};
    void *results[1] = {got.bytes};
    got.status = reduct_plan_execute(plan, inputs, results, NULL, &got.error);
    return got;
}

struct oracle_result gpu_expected(const reduct_reduction *reduction, const void *x, const void *y, uint64_t count) {
    const struct test_outcome cpu = test_run(reduction, "cpu", 0, x, y, count);
    struct oracle_result expected = {.status = cpu.status, .index = cpu.error.index};
    memcpy(expected.bytes, cpu.bytes, sizeof expected.bytes);
    return expected;
}

bool gpu_always_exact(reduct_operator op, const struct test_type *type) {
    return type->class != FLOAT || op == REDUCT_MIN || op == REDUCT_MAX || op == REDUCT_ARGMIN || op == REDUCT_ARGMAX ||
           op == REDUCT_NORMINF || op == REDUCT_PRODUCT || op >= REDUCT_COUNT;
}

bool gpu_has(reduct_operator op, reduct_type element) {
    return oracle_has(op, element) && op != REDUCT_MINMAX && op != REDUCT_PTP && op != REDUCT_WEIGHTED_MEAN;
}
