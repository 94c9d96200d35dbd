/* Defects that other libraries had, each as a test of ours that names it.
 *
 * From the survival list: "Known defects of others, as tests of ours", those that a CPU can have.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

static const double inf = (double)INFINITY;

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

/* NVIDIA/cccl#1388: the minimum of infinities was FLT_MAX. */
static void min_of_all_infinite(void **state) {
    (void)state;
    for (size_t n = 1; n < 70; n++) {
        float x[70], least, greatest;
        for (size_t i = 0; i < n; i++)
            x[i] = INFINITY;
        test_status(reduct_min_f32(x, n, &least), REDUCT_OK);
        for (size_t i = 0; i < n; i++)
            x[i] = -INFINITY;
        test_status(reduct_max_f32(x, n, &greatest), REDUCT_OK);
        assert_true(least == INFINITY && greatest == -INFINITY);
    }
}

/* kokkos#1048: the identity of max was DBL_MIN, a positive number. */
static void max_of_negative(void **state) {
    (void)state;
    for (size_t n = 1; n < 70; n++) {
        double x[70], greatest;
        int8_t bytes[70], byte;
        for (size_t i = 0; i < n; i++) {
            x[i] = -DBL_MAX;
            bytes[i] = INT8_MIN;
        }
        test_status(reduct_max_f64(x, n, &greatest), REDUCT_OK);
        test_status(reduct_max_i8(bytes, n, &byte), REDUCT_OK);
        assert_true(greatest == -DBL_MAX && byte == INT8_MIN);
    }
}

static void sum_as_half(const float *x, size_t n, uint16_t expected) {
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F32, .result = REDUCT_F16};
    const struct test_outcome got = test_run(&sum, NULL, 0, x, NULL, n);
    uint16_t half;
    memcpy(&half, got.bytes, sizeof half);
    assert_int_equal(got.status, REDUCT_OK);
    assert_int_equal(half, expected);
}

/* pytorch#74438: partial sums of half results were stored in half, stuck at 2048, or overflowed at 65504. */
static void half_partials(void **state) {
    (void)state;
    enum { N = 60000 };
    static float x[N];
    for (size_t i = 0; i < N; i++)
        x[i] = 1;
    sum_as_half(x, 4096, 0x6c00);
    sum_as_half(x, N, 0x7b53);
    for (size_t i = 0; i < N; i++)
        x[i] = i < N / 2 ? 100 : -100;
    sum_as_half(x, N, 0);
}

/* flame/blis#380: argmax of a constant was 2. */
static void argmax_of_constant(void **state) {
    (void)state;
    for (size_t n = 1; n < 300; n++) {
        float x[300];
        uint64_t least = 9, greatest = 9;
        for (size_t i = 0; i < n; i++)
            x[i] = -3;
        test_status(reduct_argmax_f32(x, n, &greatest), REDUCT_OK);
        test_status(reduct_argmin_f32(x, n, &least), REDUCT_OK);
        assert_true(least == 0 && greatest == 0);
    }
}

/* argmin of nothing gave index 1. */
static void empty_argmin(void **state) {
    (void)state;
    uint64_t index = 1234;
    test_status(reduct_argmin_f64(NULL, 0, &index), REDUCT_ERROR_EMPTY);
    test_status(reduct_argmax_i8(NULL, 0, &index), REDUCT_ERROR_EMPTY);
    assert_int_equal(index, 1234);
}

/* numpy#7930: the mean overflowed where the sum did. */
static void mean_that_overflows(void **state) {
    (void)state;
    double x[1000], mean;
    float y[1000], single;
    for (size_t i = 0; i < 1000; i++) {
        x[i] = DBL_MAX;
        y[i] = -FLT_MAX;
    }
    test_status(reduct_mean_f64(x, 1000, &mean), REDUCT_OK);
    test_status(reduct_mean_f32(y, 1000, &single), REDUCT_OK);
    assert_true(mean == DBL_MAX && single == -FLT_MAX);
    test_status(reduct_rms_f64(x, 1000, &mean), REDUCT_OK);
    assert_true(mean == DBL_MAX);
    test_status(reduct_std_f64(x, 1000, &mean), REDUCT_OK);
    assert_true(same_bits(mean, 0));
}

/* sonots/cumo#219: whether a NaN came through min and max depended on where it was. */
static void nan_anywhere(void **state) {
    (void)state;
    for (size_t n = 1; n < 100; n++)
        for (size_t at = 0; at < n; at++) {
            float x[100], least, greatest, sum;
            uint64_t index;
            for (size_t i = 0; i < n; i++)
                x[i] = (float)i;
            x[at] = NAN;
            test_status(reduct_min_f32(x, n, &least), REDUCT_OK);
            test_status(reduct_max_f32(x, n, &greatest), REDUCT_OK);
            test_status(reduct_sum_f32(x, n, &sum), REDUCT_OK);
            test_status(reduct_argmax_f32(x, n, &index), REDUCT_OK);
            assert_true(isnan(least) && isnan(greatest) && isnan(sum) && index == at);
        }
}

/* cccl#6008: the sum of {+0, -0} was a tiny negative number. */
static void signed_zeros(void **state) {
    (void)state;
    const double zeros[] = {0.0, -0.0};
    double sum = 1;
    test_status(reduct_sum_f64(zeros, 2, &sum), REDUCT_OK);
    assert_true(same_bits(sum, 0.0));
    test_status(reduct_sum_f64(zeros + 1, 1, &sum), REDUCT_OK);
    assert_true(same_bits(sum, -0.0));
    test_status(reduct_sum_f64(zeros, 0, &sum), REDUCT_OK);
    assert_true(same_bits(sum, 0.0));
}

/* CCCL's reproducible sum: one +infinity gave NaN, and nothing but zeros gave a denormal. */
static void one_infinity_and_all_zeros(void **state) {
    (void)state;
    static double x[5000];
    for (size_t n = 1; n <= 5000; n = n * 3 + 1) {
        double sum = 1;
        memset(x, 0, sizeof x);
        test_status(reduct_sum_f64(x, n, &sum), REDUCT_OK);
        assert_true(same_bits(sum, 0));
        x[n / 2] = inf;
        test_status(reduct_sum_f64(x, n, &sum), REDUCT_OK);
        assert_true(sum == inf);
    }
}

/* An infinity beyond what is verified at once, where a window of one slice takes it without raising any exception. */
static void infinity_later(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    static float x[COUNT];
    const char *devices[TEST_MAX_DEVICES];
    const size_t device_count = test_devices(devices);
    for (size_t d = 0; d < device_count; d++)
        for (size_t at = 0; at < COUNT; at += 97) {
            const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F32, REDUCT_DEFAULT);
            for (size_t i = 0; i < COUNT; i++)
                x[i] = (float)(i % 17) - 8;
            x[at] = -INFINITY;
            const struct test_outcome got = test_run(&sum, devices[d], 1, x, NULL, COUNT);
            float result;
            memcpy(&result, got.bytes, sizeof result);
            assert_true(got.status == REDUCT_OK && result == -INFINITY);
        }
}

/* The most negative integer has no absolute value in its own type. */
static void absolute_of_least(void **state) {
    (void)state;
    const int64_t x[] = {INT64_MIN};
    const int8_t y[] = {INT8_MIN, INT8_MIN};
    uint64_t magnitude = 0;
    uint8_t byte = 0;
    test_status(reduct_norminf_i64(x, 1, &magnitude), REDUCT_OK);
    assert_int_equal(magnitude, (uint64_t)1 << 63);
    test_status(reduct_norm1_i64(x, 1, &magnitude), REDUCT_OK);
    assert_int_equal(magnitude, (uint64_t)1 << 63);
    test_status(reduct_norminf_i8(y, 2, &byte), REDUCT_OK);
    assert_int_equal(byte, 128);
    test_status(reduct_sumsq_i8(y, 2, &magnitude), REDUCT_OK);
    assert_int_equal(magnitude, 32768);
}

/* Norms that overflow or underflow on the way, the root of a variance rounded twice. */
static void norms_out_of_range(void **state) {
    (void)state;
    const double large[] = {3e300, 4e300}, small[] = {3e-320, 4e-320}, one_third[] = {0, 0, 1};
    double norm, deviation;
    test_status(reduct_norm2_f64(large, 2, &norm), REDUCT_OK);
    assert_true(fabs(norm / 5e300 - 1) < 1e-15);
    test_status(reduct_norm2_f64(small, 2, &norm), REDUCT_OK);
    assert_true(fabs(norm - 5e-320) <= 0x1p-1073);
    test_status(reduct_std_f64(one_third, 3, &deviation), REDUCT_OK);
    assert_true(deviation == 0x1.279a74590331cp-1); /* 1 / sqrt(3) */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(min_of_all_infinite),
        cmocka_unit_test(max_of_negative),
        cmocka_unit_test(half_partials),
        cmocka_unit_test(argmax_of_constant),
        cmocka_unit_test(empty_argmin),
        cmocka_unit_test(mean_that_overflows),
        cmocka_unit_test(nan_anywhere),
        cmocka_unit_test(signed_zeros),
        cmocka_unit_test(one_infinity_and_all_zeros),
        cmocka_unit_test(infinity_later),
        cmocka_unit_test(absolute_of_least),
        cmocka_unit_test(norms_out_of_range),
    };
    return cmocka_run_group_tests_name("defects", tests, NULL, NULL);
}
