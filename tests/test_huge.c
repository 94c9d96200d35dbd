/* More than 2^31 and 2^32 elements, and rows, in little memory: one small file, mapped again and again side by side.
 *
 * From the survival list: "more than 2^31 and 2^32 elements".
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support.h"
#include "values.h"

enum { CHUNK = 1 << 26 };

/* `chunks` copies of one chunk, then a page of its own. */
struct repeated {
    unsigned char *chunk; /* shows through at every repetition */
    unsigned char *all, *tail;
    size_t size;
};

static struct repeated repeat(size_t chunks) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct repeated memory = {.size = chunks * CHUNK + page};
    const int file = memfd_create("reduct-test", 0);
    if (file < 0 || ftruncate(file, CHUNK) != 0)
        test_fail("no file in memory");
    memory.all = mmap(NULL, memory.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory.all == MAP_FAILED)
        test_fail("no address space for %zu bytes", memory.size);
    for (size_t i = 0; i < chunks; i++)
        if (mmap(memory.all + i * CHUNK, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
            test_fail("chunk %zu cannot be mapped", i);
    close(file);
    memory.chunk = memory.all;
    memory.tail = memory.all + chunks * CHUNK;
    return memory;
}

/* 2^32 + 5 bytes, each 3, the last five special: extremes that lie beyond 2^32, sums that 32 bits do not hold. */
static void bytes(void **state) {
    (void)state;
    struct repeated memory = repeat(64);
    const size_t count = ((size_t)1 << 32) + 5;
    const uint8_t tail[5] = {3, 255, 0, 255, 0};
    memset(memory.chunk, 3, CHUNK);
    memcpy(memory.tail, tail, sizeof tail);
    const uint8_t *x = memory.all;

    uint64_t sum = 0, index = 0, squares = 0;
    uint8_t extreme = 7;
    double mean = 0;
    test_status(reduct_sum_u8(x, count, &sum), REDUCT_OK);
    assert_int_equal(sum, ((uint64_t)3 << 32) + 3 + 510);
    test_status(reduct_sumsq_u8(x, count, &squares), REDUCT_OK);
    assert_int_equal(squares, ((uint64_t)9 << 32) + 9 + 2 * 65025);
    test_status(reduct_dot_u8(x, x, count, &squares), REDUCT_OK);
    assert_int_equal(squares, ((uint64_t)9 << 32) + 9 + 2 * 65025);
    test_status(reduct_mean_u8(x, count, &mean), REDUCT_OK);
    assert_true(mean == (double)(((uint64_t)3 << 32) + 513) / (double)count); /* both exact in 53 bits */
    test_status(reduct_argmax_u8(x, count, &index), REDUCT_OK);
    assert_int_equal(index, ((uint64_t)1 << 32) + 1);
    test_status(reduct_argmin_u8(x, count, &index), REDUCT_OK);
    assert_int_equal(index, ((uint64_t)1 << 32) + 2);
    test_status(reduct_max_u8(x, count, &extreme), REDUCT_OK);
    assert_int_equal(extreme, 255);
    test_status(reduct_min_u8(x, count, &extreme), REDUCT_OK);
    assert_int_equal(extreme, 0);
    munmap(memory.all, memory.size);
}

/* 2^31 + 7 floats, each 2^-10, then special ones; in both modes. */
static void floats(void **state) {
    (void)state;
    struct repeated memory = repeat(128);
    const size_t count = ((size_t)1 << 31) + 7;
    const float tail[7] = {0x1p-10F, -0x1p-149F, 0x1p100F, 0x1p-10F, -0x1p100F, 0x1p-149F, -0x1p-149F};
    for (size_t i = 0; i < CHUNK / sizeof(float); i++)
        ((float *)(void *)memory.chunk)[i] = 0x1p-10F;
    memcpy(memory.tail, tail, sizeof tail);
    const float *x = (const float *)(const void *)memory.all;

    float result = 0;
    uint64_t index = 0;
    test_status(reduct_sum_f32(x, count, &result), REDUCT_OK);
    assert_true(result == 0x1p21F); /* and 2 * 2^-10 - 2^-149, far below half a unit in the last place */
    test_status(reduct_argmax_f32(x, count, &index), REDUCT_OK);
    assert_int_equal(index, ((uint64_t)1 << 31) + 2);
    test_status(reduct_argmin_f32(x, count, &index), REDUCT_OK);
    assert_int_equal(index, ((uint64_t)1 << 31) + 4);
    munmap(memory.all, memory.size);
}

/* The first NaN lies beyond 2^32. */
static void first_nan(void **state) {
    (void)state;
    struct repeated memory = repeat(256);
    const size_t count = ((size_t)1 << 32) + 3;
    const uint32_t nan = 0xffc00001; /* negative, with a payload */
    memset(memory.chunk, 0, CHUNK);
    memcpy(memory.tail + 4, &nan, sizeof nan);
    reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F32, .nan = REDUCT_NAN_ERROR};
    const struct test_outcome got = test_run(&sum, NULL, 0, memory.all, NULL, count);
    assert_int_equal(got.status, REDUCT_ERROR_NAN);
    assert_int_equal(got.error.index, ((uint64_t)1 << 32) + 1);
    munmap(memory.all, memory.size);
}

/* 2^31 + 7 rows of two floats, whose kernels are the fastest, in memory that repeats, as their results do; the last seven rows are
 * others. */
static void rows(void **state) {
    (void)state;
    enum { LAST = 7, PERIOD = CHUNK / (2 * sizeof(float)), RESULTS = CHUNK / sizeof(float) };
    const uint64_t count = ((uint64_t)1 << 31) + LAST;
    struct repeated memory = repeat(256), home = repeat(128);
    float *x = (float *)(void *)memory.chunk, *last = (float *)(void *)memory.tail;
    const float *results = (const float *)(const void *)home.chunk, *ends = (const float *)(const void *)home.tail;
    for (size_t r = 0; r < PERIOD; r++) {
        x[2 * r] = (float)(r % 251);
        x[2 * r + 1] = (float)(r % 3);
    }
    for (size_t r = 0; r < LAST; r++) {
        last[2 * r] = (float)(100 + r);
        last[2 * r + 1] = (float)(200 + r);
    }
    memset(home.chunk, 255, CHUNK);
    const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F32, REDUCT_DEFAULT);
    const reduct_plan_options options = {.reductions = &sum,
                                         .reduction_count = 1,
                                         .kind = REDUCT_SHAPE,
                                         .shape = {count, 2, 1, 2, 1, 0},
                                         .device = test_device()};
    reduct_plan *plan = NULL;
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    assert_true(reduct_plan_result_count(plan) == count);
    test_status(reduct_plan_execute(plan, (const void *[]){memory.all}, (void *[]){home.all}, NULL, NULL), REDUCT_OK);
    for (size_t r = 0; r < RESULTS; r++) {
        const float expected = x[2 * (r % PERIOD)] + x[2 * (r % PERIOD) + 1];
        if (!(results[r] == expected))
            test_fail("row %zu, or one so many chunks on: %g; expected %g", r, (double)results[r], (double)expected);
    }
    for (size_t r = 0; r < LAST; r++)
        assert_true(ends[r] == (float)(300 + 2 * r));
    reduct_plan_destroy(plan);
    munmap(memory.all, memory.size);
    munmap(home.all, home.size);
}

/* Runs a plan of sums, maxima and places of maxima, and looks at so many of each. */
static void check_many(const reduct_plan_options *options, const void *const *inputs, size_t count,
                       const uint64_t *sums, const uint8_t *maxima, const uint64_t *places) {
    uint64_t sum[4], place[4];
    uint8_t maximum[4];
    reduct_plan *plan = NULL;
    test_status(reduct_plan_create(options, &plan, NULL), REDUCT_OK);
    test_status(reduct_plan_execute(plan, inputs, (void *[]){sum, maximum, place}, NULL, NULL), REDUCT_OK);
    reduct_plan_destroy(plan);
    for (size_t r = 0; r < count; r++)
        if (sum[r] != sums[r] || maximum[r] != maxima[r] || place[r] != places[r])
            test_fail("result %zu: %llu, %u at %llu; expected %llu, %u at %llu", r, (unsigned long long)sum[r],
                      maximum[r], (unsigned long long)place[r], (unsigned long long)sums[r], maxima[r],
                      (unsigned long long)places[r]);
}

/* Segments, columns and masks of 2^32 + 5 bytes, each 3, the last five special. */
static void parts(void **state) {
    (void)state;
    const uint64_t whole = (uint64_t)1 << 32;
    struct repeated memory = repeat(64);
    const uint8_t tail[5] = {3, 255, 0, 254, 0};
    memset(memory.chunk, 3, CHUNK);
    memcpy(memory.tail, tail, sizeof tail);
    const reduct_reduction reductions[] = {{.op = REDUCT_SUM, .element = REDUCT_U8},
                                           {.op = REDUCT_MAX, .element = REDUCT_U8},
                                           {.op = REDUCT_ARGMAX, .element = REDUCT_U8}};
    const reduct_segments segments = {.count = 3, .elements = whole + 5, .index = REDUCT_U64};
    reduct_plan_options options = {.reductions = reductions, .reduction_count = 3, .device = "cpu"};
    const uint64_t offsets[] = {0, 5, whole + 2, whole + 5};

    options.kind = REDUCT_SEGMENTS;
    options.segments = &segments;
    check_many(&options, (const void *[]){memory.all, offsets}, 3, (const uint64_t[]){15, 3 * (whole - 4) + 255, 254},
               (const uint8_t[]){3, 255, 254}, (const uint64_t[]){0, whole - 4, 1});

    options.kind = REDUCT_SHAPE;
    options.shape = (reduct_shape){1, whole / 2 + 2, 2, 0, 2, 1};
    check_many(&options, (const void *[]){memory.all}, 2,
               (const uint64_t[]){3 * (whole / 2 + 1), 3 * (whole / 2) + 255 + 254}, (const uint8_t[]){3, 255},
               (const uint64_t[]){0, whole / 2});

    options.shape = (reduct_shape){.n = whole + 5};
    options.kind = REDUCT_WHOLE;
    options.mask = REDUCT_MASK_BITS; /* the bytes are two bits each */
    check_many(&options, (const void *[]){memory.all, memory.all}, 1, (const uint64_t[]){3 * (whole / 4) + 3 + 255},
               (const uint8_t[]){255}, (const uint64_t[]){whole + 1});
    munmap(memory.all, memory.size);
}

/* Fills `size` bytes, a power of two, with one element. */
static void fill(const struct test_type *type, unsigned char *memory, size_t size, uint64_t bits) {
    values_put_bits(type, memory, 0, bits);
    for (size_t filled = type->size; filled < size; filled *= 2)
        memcpy(memory + filled, memory, filled);
}

/* What adds up fastest: full significands, the ends of the integers' ranges; on one thread of every device, or of one in turn where
 * less is to be done, until whatever is brought home now and then must have been. */
static void heavy(void **state) {
    (void)state;
    enum { SAMPLE = 1 << 16, DOUBLINGS = 12 };
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct repeated memory = repeat((size_t)SAMPLE << DOUBLINGS >> 26);
    struct oracle single, pairs;
    oracle_init(&single);
    oracle_init(&pairs);
    for (size_t e = 0; e < element_count; e++) {
        const struct test_type *type = elements[e];
        const uint64_t sign = (uint64_t)1 << (8 * type->size - 1);
        const uint64_t full = ((uint64_t)type->max_exponent << (type->precision - 1)) |
                              (((uint64_t)1 << (type->precision - 1)) - 1); /* nearly 2 */
        fill(type, memory.chunk, CHUNK, type->class == FLOAT ? full : type->class == SIGNED ? sign : sign | (sign - 1));
        oracle_read(&single, type->type, memory.all, NULL, SAMPLE / type->size);
        oracle_read(&pairs, type->type, memory.all, memory.all, SAMPLE / type->size);
        oracle_repeat(&single, DOUBLINGS);
        oracle_repeat(&pairs, DOUBLINGS);
        static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_NORM1, REDUCT_DOT, REDUCT_VAR};
        for (size_t o = 0; o < 4; o++)
            for (size_t d = 0; d < device_count; d++) {
                if (test_scale() < 1 && (e + o) % device_count != d)
                    continue;
                const bool two = ops[o] == REDUCT_DOT;
                const reduct_type wide = type->class == FLOAT || ops[o] == REDUCT_VAR ? REDUCT_F64 : REDUCT_I256;
                const reduct_reduction reduction = test_reduction(ops[o], type->type, wide);
                const struct oracle_result expected = oracle_expect(two ? &pairs : &single, &reduction);
                const size_t count = ((size_t)SAMPLE << DOUBLINGS) / type->size;
                const struct test_outcome got =
                    test_run(&reduction, devices[d], 1, memory.all, two ? memory.all : NULL, count);
                test_check(&got, &expected, &reduction, "%zu equal elements on %s", count, devices[d]);
            }
    }
    oracle_clear(&single);
    oracle_clear(&pairs);
    munmap(memory.all, memory.size);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heavy),     cmocka_unit_test(bytes), cmocka_unit_test(floats),
        cmocka_unit_test(first_nan), cmocka_unit_test(rows),  cmocka_unit_test(parts),
    };
    return cmocka_run_group_tests_name("huge", tests, NULL, NULL);
}
