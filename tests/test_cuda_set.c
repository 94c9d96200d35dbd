/* Several devices under one name. What needs more than one says so where there are fewer; the emulated driver has as many as
 * EMULATED_CUDA_DEVICES says. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_support.h"

enum { BYTES = 5 << 20 }; /* of an array: five pieces and more */

static char all[256]; /* what "cuda:all" is called in full */

static bool has_devices(int least) {
    if (gpu.driver->devices >= least)
        return true;
    printf("SKIPPED: this takes %d CUDA devices; found %d\n", least, gpu.driver->devices);
    return false;
}

/* Launches on a device so far; 0 where the driver does not count them. */
static unsigned long long launches_on(int device) {
    unsigned long long (*count)(int device);
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL),
         *found = library ? dlsym(library, "emulated_cuda_launches") : NULL;
    memcpy(&count, &found, sizeof found);
    return found ? count(device) : 0;
}

/* Data in the memory of a device, to be freed with gpu_free(). */
static rd_cu_address copy_on(int device, const void *from, size_t bytes) {
    rd_cu_device handle;
    rd_cu_context context, popped;
    CU(gpu.driver->cuDeviceGet(&handle, device));
    CU(gpu.driver->cuDevicePrimaryCtxRetain(&context, handle));
    CU(gpu.driver->cuCtxPushCurrent(context));
    rd_cu_address address = gpu_alloc(bytes);
    CU(gpu.driver->cuMemcpyHtoDAsync(address, from, bytes, NULL));
    CU(gpu.driver->cuStreamSynchronize(NULL));
    CU(gpu.driver->cuCtxPopCurrent(&popped));
    return address;
}

/* And back. */
static void copy_from(int device, void *to, rd_cu_address from, size_t bytes) {
    rd_cu_device handle;
    rd_cu_context context, popped;
    CU(gpu.driver->cuDeviceGet(&handle, device));
    CU(gpu.driver->cuDevicePrimaryCtxRetain(&context, handle));
    CU(gpu.driver->cuCtxPushCurrent(context));
    CU(gpu.driver->cuMemcpyDtoHAsync(to, from, bytes, NULL));
    CU(gpu.driver->cuStreamSynchronize(NULL));
    CU(gpu.driver->cuCtxPopCurrent(&popped));
}

static reduct_status open_device(const char *device, char *name, reduct_error *error) {
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_plan_options options = {.reductions = &sum, .reduction_count = 1, .shape = {.n = 1}, .device = device};
    reduct_plan *plan = NULL;
    const reduct_status status = reduct_plan_create(&options, &plan, error);
    snprintf(name, 256, "%s", plan ? reduct_plan_device(plan) : "");
    reduct_plan_destroy(plan);
    return status;
}

static void names(void **state) {
    (void)state;
    char name[256], expected[256] = "cuda:0", missing[64];
    reduct_error error;
    for (int i = 1; i < gpu.driver->devices; i++)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), ",%d", i);
    test_status(open_device("cuda:all", name, &error), REDUCT_OK);
    assert_string_equal(name, expected);
    snprintf(all, sizeof all, "%s", name);
    snprintf(missing, sizeof missing, "cuda:0,%d", gpu.driver->devices);
    static const char *const malformed[] = {"cuda:0,",    "cuda:,0",  "cuda:0,,1", "cuda:0,all",
                                            "cuda:all,0", "cuda:0;1", "cuda:0-1",  "cuda:0,1234"};
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        test_status(open_device(malformed[i], name, &error), REDUCT_ERROR_NO_DEVICE);
    test_status(open_device(missing, name, &error), REDUCT_ERROR_NO_DEVICE);
    assert_non_null(strstr(error.message, "is not here: found"));
    test_status(open_device("cuda:0,0:integer", name, &error), REDUCT_ERROR_NO_DEVICE);
    assert_non_null(strstr(error.message, "names cuda:0 twice"));
    if (!has_devices(2))
        return;
    test_status(open_device("cuda:1,0:integer", name, &error), REDUCT_OK);
    assert_string_equal(name, "cuda:1,0:integer");
}

/* Data on the host, page-locked or not, give the CPU's bits; all devices take part. */
static void host_data(void **state) {
    (void)state;
    static const struct {
        reduct_operator op;
        reduct_type type;
    } cases[] = {{REDUCT_SUM, REDUCT_F64},    {REDUCT_STD, REDUCT_F32},    {REDUCT_DOT, REDUCT_F32},
                 {REDUCT_ARGMIN, REDUCT_I16}, {REDUCT_ARGMAX, REDUCT_F32}, {REDUCT_PRODUCT, REDUCT_F64},
                 {REDUCT_MEAN, REDUCT_BF16},  {REDUCT_SUM, REDUCT_U8},     {REDUCT_XOR, REDUCT_I64},
                 {REDUCT_COUNT, REDUCT_F16},  {REDUCT_PTP, REDUCT_I32},    {REDUCT_PRODUCT, REDUCT_I32}};
    struct rng rng = rng_of(test_seed() + 500);
    void *locked = NULL;
    unsigned char *host = test_alloc(BYTES);
    CU(gpu.driver->cuMemHostAlloc(&locked, BYTES, 0));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct test_type *type = test_type(cases[i].type);
        const uint64_t count = BYTES / type->size - 5;
        const reduct_reduction reduction = test_reduction(cases[i].op, cases[i].type, REDUCT_DEFAULT);
        distribution_named("300_binades")->fill(&rng, type, host, NULL, count);
        memcpy(locked, host, BYTES);
        const void *y = test_operator(cases[i].op)->inputs == 2 ? host : NULL;
        const struct oracle_result expected = gpu_expected(&reduction, host, y, count);
        struct test_outcome got = test_run(&reduction, "cuda:all", 0, host, y, count);
        test_check(&got, &expected, &reduction, "of the host's memory");
        got = test_run(&reduction, "cuda:all", 0, locked, y ? locked : NULL, count);
        test_check(&got, &expected, &reduction, "of page-locked memory");
    }
    for (int d = 0; d < gpu.driver->devices && launches_on(0); d++)
        assert_true(launches_on(d) >= sizeof cases / sizeof *cases);
    CU(gpu.driver->cuMemFreeHost(locked));
    free(host);
}

/* The first of several NaNs, in whichever piece, is the one that is told. */
static void nans(void **state) {
    (void)state;
    enum { COUNT = BYTES / sizeof(double) };
    double *host = test_alloc(BYTES);
    reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    sum.nan = REDUCT_NAN_ERROR;
    memset(host, 0, BYTES);
    for (size_t at = COUNT - 1; at > 1; at /= 3) {
        host[at] = (double)NAN;
        const struct test_outcome got = test_run(&sum, "cuda:all", 0, host, NULL, COUNT);
        test_status(got.status, REDUCT_ERROR_NAN);
        assert_int_equal(got.error.index, at);
    }
    free(host);
}

/* Pieces of an array in the memory of several devices, and on the host, are reduced where they are. */
static void slices(void **state) {
    (void)state;
    enum { COUNT = 30011, CUTS = 5 };
    static const size_t cut[CUTS + 1] = {0, 1, 10000, 10001, 20000, COUNT};
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_ARGMAX, REDUCT_PRODUCT, REDUCT_VAR};
    if (!has_devices(2))
        return;
    struct rng rng = rng_of(test_seed() + 501);
    double *host = test_alloc(COUNT * sizeof *host);
    distribution_named("300_binades")->fill(&rng, test_type(REDUCT_F64), host, NULL, COUNT);
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        const reduct_reduction reduction = test_reduction(ops[o], REDUCT_F64, REDUCT_DEFAULT);
        const struct oracle_result expected = gpu_expected(&reduction, host, NULL, COUNT);
        const reduct_accumulator_options options = {.reduction = &reduction, .device = "cuda:0,1"};
        reduct_accumulator *accumulator = NULL;
        test_status(reduct_accumulator_create(&options, &accumulator, NULL), REDUCT_OK);
        for (int c = 0; c < CUTS; c++) {
            const size_t count = cut[c + 1] - cut[c];
            const unsigned long long before = launches_on(c % 2);
            const rd_cu_address there = copy_on(c % 2, host + cut[c], count * sizeof *host);
            const void *x = c == 2 ? (const void *)(host + cut[c]) : gpu_pointer(there, 0);
            test_status(reduct_accumulator_add(accumulator, x, NULL, count, NULL), REDUCT_OK);
            assert_true(c == 2 || ops[o] == REDUCT_PRODUCT || !launches_on(0) || launches_on(c % 2) > before);
            gpu_free(there);
        }
        struct test_outcome got = test_outcome();
        got.status = reduct_accumulator_result(accumulator, REDUCT_DEFAULT, got.bytes, &got.error);
        test_check(&got, &expected, &reduction, "of slices");
        reduct_accumulator_destroy(accumulator);
    }
    free(host);
}

static reduct_accumulator *accumulator_on(const reduct_reduction *reduction, const char *device) {
    reduct_accumulator *accumulator = NULL;
    test_status(reduct_accumulator_create(&(reduct_accumulator_options){.reduction = reduction, .device = device},
                                          &accumulator, NULL),
                REDUCT_OK);
    return accumulator;
}

static void add(reduct_accumulator *accumulator, const void *x, bool two, uint64_t count, reduct_mask kind,
                const void *mask, uint64_t offset) {
    const void *y = two ? x : NULL;
    test_status(kind ? reduct_accumulator_add_masked(accumulator, x, y, count, kind, mask, offset, NULL)
                     : reduct_accumulator_add(accumulator, x, y, count, NULL),
                REDUCT_OK);
}

static void compare_saved(const reduct_accumulator *got, const reduct_accumulator *expected, const char *what,
                          int kind) {
    unsigned char a[4096], b[4096];
    size_t size_a = sizeof a, size_b = sizeof b;
    test_status(reduct_accumulator_save(got, a, &size_a, NULL), REDUCT_OK);
    test_status(reduct_accumulator_save(expected, b, &size_b, NULL), REDUCT_OK);
    if (size_a != size_b || memcmp(a, b, size_a) != 0)
        test_fail("%s, mask %d: other bytes than the CPU's", what, kind);
}

/* A mask that is in another device's memory than the array. */
static void check_refused(const void *x, const unsigned char *mask) {
    const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F32, REDUCT_DEFAULT);
    const rd_cu_address elsewhere = copy_on(0, mask, 100);
    reduct_accumulator *accumulator = accumulator_on(&sum, "cuda:all");
    reduct_error error = {0};
    test_status(reduct_accumulator_add_masked(accumulator, x, NULL, 100, REDUCT_MASK_BYTES, gpu_pointer(elsewhere, 0),
                                              0, &error),
                REDUCT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "mask: in the memory of cuda:0"));
    reduct_accumulator_destroy(accumulator);
    gpu_free(elsewhere);
}

/* Masked arrays, and operators that whole arrays have no kernels for: a half on the host, one in the memory of the last device. */
static void masks(void **state) {
    (void)state;
    static const reduct_operator ops[] = {REDUCT_SUM,    REDUCT_ARGMAX,        REDUCT_VAR,    REDUCT_PTP,
                                          REDUCT_MINMAX, REDUCT_WEIGHTED_MEAN, REDUCT_PRODUCT};
    enum { ELEMENTS = BYTES / sizeof(float), HALF = ELEMENTS / 2 };
    struct rng rng = rng_of(test_seed() + 502);
    const int last = gpu.driver->devices - 1;
    float *x = test_alloc(BYTES);
    unsigned char *mask = test_alloc(ELEMENTS);
    distribution_named("60_binades")->fill(&rng, test_type(REDUCT_F32), x, NULL, ELEMENTS);
    for (size_t i = 0; i < ELEMENTS; i++)
        mask[i] = (unsigned char)rng_below(&rng, 3);
    const rd_cu_address x_there = copy_on(last, x, BYTES), mask_there = copy_on(last, mask, ELEMENTS);
    const float *there = gpu_pointer(x_there, 0);
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (int kind = REDUCT_MASK_NONE; kind <= REDUCT_MASK_BITS; kind++) {
            const reduct_reduction reduction = test_reduction(ops[o], REDUCT_F32, REDUCT_DEFAULT);
            const bool two = test_operator(ops[o])->inputs == 2;
            reduct_accumulator *got = accumulator_on(&reduction, "cuda:all"),
                               *expected = accumulator_on(&reduction, "cpu");
            add(got, x, two, HALF, (reduct_mask)kind, mask, 0);
            add(got, there + HALF, two, ELEMENTS - HALF, (reduct_mask)kind, gpu_pointer(mask_there, 0), HALF);
            add(expected, x, two, ELEMENTS, (reduct_mask)kind, mask, 0);
            compare_saved(got, expected, test_operator(ops[o])->name, kind);
            reduct_accumulator_destroy(got);
            reduct_accumulator_destroy(expected);
        }
    if (last > 0)
        check_refused(there, mask);
    gpu_free(x_there);
    gpu_free(mask_there);
    free(x);
    free(mask);
}

/* Arrays that no one device has. */
static void apart(void **state) {
    (void)state;
    static const double values[] = {1, 2, 4};
    if (!has_devices(2))
        return;
    const rd_cu_address on[] = {copy_on(0, values, sizeof values), copy_on(1, values, sizeof values)};
    const void *x = gpu_pointer(on[0], 0), *y = gpu_pointer(on[1], 0);
    const reduct_reduction dot = test_reduction(REDUCT_DOT, REDUCT_F64, REDUCT_DEFAULT);
    struct test_outcome got = test_run(&dot, "cuda:all", 0, x, y, 3);
    test_status(got.status, REDUCT_ERROR_ARGUMENT);
    assert_string_equal(got.error.message, "y: in the memory of cuda:1, while x is in that of cuda:0");
    got = test_run(&dot, "cuda:all", 0, y, values, 3);
    test_status(got.status, REDUCT_ERROR_ARGUMENT);
    got = test_run(&dot, "cuda:all", 0, y, y, 3);
    test_status(got.status, REDUCT_OK);
    double result;
    memcpy(&result, got.bytes, sizeof result);
    assert_true(result == 21);
    if (has_devices(3)) {
        got = test_run(&dot, "cuda:0,2", 0, y, y, 3);
        test_status(got.status, REDUCT_ERROR_ARGUMENT);
        assert_string_equal(got.error.message, "x: in the memory of cuda:1, which is none of cuda:0,2");
    }
    gpu_free(on[0]);
    gpu_free(on[1]);
}

/* Plans of many results run where the data are; what executes in a stream is refused. */
static void many(void **state) {
    (void)state;
    enum { ROWS = 7, COLUMNS = 1000 };
    static double values[ROWS * COLUMNS];
    double sums[ROWS], plain[ROWS];
    const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    reduct_plan_options options = {.reductions = &sum,
                                   .reduction_count = 1,
                                   .kind = REDUCT_SHAPE,
                                   .shape = {ROWS, COLUMNS, 1, COLUMNS, 1, 0},
                                   .device = "cpu"};
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        values[i] = (double)i * 0.37 * (i % 2 ? -1e10 : 1);
    reduct_plan *plan = NULL;
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    test_status(reduct_plan_execute(plan, (const void *[]){values}, (void *[]){plain}, NULL, NULL), REDUCT_OK);
    reduct_plan_destroy(plan);
    options.device = "cuda:all";
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    for (int d = -1; d < gpu.driver->devices; d++) {
        const rd_cu_address there = d < 0 ? 0 : copy_on(d, values, sizeof values);
        const void *x = d < 0 ? (const void *)values : gpu_pointer(there, 0);
        memset(sums, 0, sizeof sums);
        test_status(reduct_plan_execute(plan, (const void *[]){x}, (void *[]){sums}, NULL, NULL), REDUCT_OK);
        assert_memory_equal(sums, plain, sizeof sums);
        if (there)
            gpu_free(there);
    }
    if (has_devices(2)) {
        assert_int_equal(reduct_cuda_workspace_size(plan), 0);
        test_status(reduct_cuda_execute(plan, (const void *[]){values}, (void *[]){sums}, NULL, NULL, NULL, NULL),
                    REDUCT_ERROR_ARGUMENT);
    }
    reduct_plan_destroy(plan);
}

/* A batch of a table goes to the device in whose memory it is; what is in several devices' is refused, and results may be in any's. */
static void tables(void **state) {
    (void)state;
    enum { ELEMENTS = 40000 };
    if (!has_devices(2))
        return;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F32};
    float *x = test_alloc(ELEMENTS * sizeof *x), expected[2] = {0}, got[2] = {0};
    uint8_t *index = test_alloc(ELEMENTS);
    reduct_table *table = NULL, *plain = NULL;
    for (size_t i = 0; i < ELEMENTS; i++) {
        x[i] = (float)i * 1e-3f;
        index[i] = (uint8_t)(i % 7 == 3);
    }
    const reduct_table_options options = {.reductions = &sum, .reduction_count = 1, .groups = 2, .device = "cuda:all"};
    reduct_table_options cpu = options;
    cpu.device = "cpu";
    test_status(reduct_table_create(&options, &table, NULL), REDUCT_OK);
    test_status(reduct_table_create(&cpu, &plain, NULL), REDUCT_OK);
    const rd_cu_address here[2] = {copy_on(0, x, ELEMENTS * sizeof *x), copy_on(1, x, ELEMENTS * sizeof *x)},
                        indices = copy_on(1, index, ELEMENTS), results = copy_on(1, got, sizeof got);
    reduct_table_batch batch = {.x = x, .count = ELEMENTS, .indices = index, .index = REDUCT_U8};
    for (int i = 0; i < 2; i++)
        test_status(reduct_table_add(plain, &batch, NULL), REDUCT_OK);
    const unsigned long long before = launches_on(1);
    batch.x = gpu_pointer(here[1], 0);
    batch.indices = gpu_pointer(indices, 0);
    test_status(reduct_table_add(table, &batch, NULL), REDUCT_OK);
    assert_true(launches_on(1) > before || !before);
    batch.x = gpu_pointer(here[0], 0);
    test_status(reduct_table_add(table, &batch, NULL), REDUCT_ERROR_ARGUMENT);
    batch.indices = index;
    test_status(reduct_table_add(table, &batch, NULL), REDUCT_OK);
    test_status(reduct_table_result(plain, 0, REDUCT_DEFAULT, 0, 2, expected, NULL, NULL), REDUCT_OK);
    test_status(reduct_table_result(table, 0, REDUCT_DEFAULT, 0, 2, gpu_pointer(results, 0), NULL, NULL), REDUCT_OK);
    copy_from(1, got, results, sizeof got);
    assert_memory_equal(got, expected, sizeof got);
    gpu_free(here[0]);
    gpu_free(here[1]);
    gpu_free(indices);
    gpu_free(results);
    reduct_table_destroy(table);
    reduct_table_destroy(plain);
    free(index);
    free(x);
}

int test_cuda_set(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names),  cmocka_unit_test(host_data), cmocka_unit_test(nans),
                                       cmocka_unit_test(slices), cmocka_unit_test(masks),     cmocka_unit_test(apart),
                                       cmocka_unit_test(many),   cmocka_unit_test(tables)};
    return cmocka_run_group_tests_name("set", tests, NULL, NULL);
}
