/* What all ladders share: passes, names, data, the judge; and the CPU's loops for every short length. */
#include "ladder/ladder.h"
#include "ladder/mine.h"
#include "measure/data.h"
#include "report/judge.h"

#include "ladder/cpu/cpu.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Passes
 * ------------------------------------------------------------------------------------------------------------------ */

static unsigned divide_repeatedly(uint64_t n, uint64_t g) {
    unsigned passes = 0;
    for (; n > 1; passes++)
        n = n / g + (n % g != 0);
    return passes;
}

static void passes_of_small_sizes(void **state) {
    (void)state;
    for (uint64_t g = 2; g <= 260; g++)
        for (uint64_t n = 0; n <= 3000; n++)
            assert_int_equal(ladder_passes(n, g), divide_repeatedly(n, g));
}

/* Floating logarithms are wrong here: at exact powers and one beside them. */
static void passes_at_exact_powers(void **state) {
    (void)state;
    for (uint64_t g = 2; g <= 2048; g++) {
        unsigned exponent = 0;
        for (uint64_t power = 1;; power *= g, exponent++) {
            assert_int_equal(ladder_passes(power, g), exponent);
            assert_int_equal(ladder_passes(power - 1, g), divide_repeatedly(power - 1, g));
            assert_int_equal(ladder_passes(power + 1, g), exponent + 1);
            if (power > UINT64_MAX / g)
                break;
        }
    }
    assert_int_equal(ladder_passes(UINT64_MAX, 2), 64);
    assert_int_equal(ladder_passes(UINT64_MAX, UINT64_C(1) << 63), 2);
    assert_int_equal(ladder_passes(UINT64_C(1) << 63, UINT64_C(1) << 63), 1);
}

static void passes_without_a_group(void **state) {
    (void)state;
    assert_int_equal(ladder_passes(1000, 0), 0);
    assert_int_equal(ladder_passes(1000, 1), 0);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * A reader's kernel among the rungs
 * ------------------------------------------------------------------------------------------------------------------ */

static report_row timed(const char *group, const char *name, reduct_type type, uint64_t n, double seconds) {
    report_row row = ladder_row(group, name, "cuda:0", "cuda", type, n);
    row.seconds = seconds;
    row.of_limit = 1 / seconds / 10;
    row.verdict = REPORT_RIGHT;
    return row;
}

static void mine_has_its_place(void **state) {
    (void)state;
    report *r = report_create("", "");
    const report_row rows[] = {
        timed("rungs", "slow", REDUCT_F32, 1000, 8),  timed("rungs", "middle", REDUCT_F32, 1000, 4),
        timed("rungs", "fast", REDUCT_F32, 1000, 2),  timed("rungs", "shorter", REDUCT_F32, 100, 3),
        timed("rungs", "other", REDUCT_F64, 1000, 3), timed("peers", "library", REDUCT_F32, 1000, 3)};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        report_add_row(r, &rows[i]);
    const struct {
        double seconds;
        const char *note;
    } cases[] = {{3, "faster than middle, slower than fast"},
                 {5, "faster than slow, slower than middle"},
                 {1, "faster than all, by time next to fast"},
                 {9, "slower than all, by time next to slow"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        report_row mine = timed("rungs", "mine", REDUCT_F32, 1000, cases[i].seconds);
        mine.of_limit = -1;
        ladder_mine_place(&mine, r);
        assert_string_equal(mine.note, cases[i].note);
        assert_true(fabs(mine.of_limit - 0.1 / cases[i].seconds) < 1e-12);
    }
    report_row alone = timed("rungs", "mine", REDUCT_I32, 1000, 1);
    ladder_mine_place(&alone, r);
    assert_string_equal(alone.note, "");
    report_destroy(r);
}

/* Among rungs that are launched again, as it is, where there are any; with their finishes in any case. */
static void mine_has_its_place_among_its_like(void **state) {
    (void)state;
    report_row rows[] = {timed("rungs", "slow", REDUCT_F32, 1000, 8), timed("rungs", "middle", REDUCT_F32, 1000, 4),
                         timed("rungs", "fast", REDUCT_F32, 1000, 2)};
    const struct {
        double seconds;
        const char *finishes[3], *note;
    } cases[] = {{3,
                  {"recursive", "last-block", "second-launch"},
                  "faster than slow (recursive), slower than fast (second-launch)"},
                 {1,
                  {"recursive", "second-launch", "last-block"},
                  "faster than all that are launched again, by time next to middle (second-launch)"},
                 {3, {"atomic", "last-block", "host"}, "faster than middle (last-block), slower than fast (host)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        report *r = report_create("", "");
        for (size_t k = 0; k < 3; k++) {
            snprintf(rows[k].variant, sizeof rows[k].variant, "%s", cases[i].finishes[k]);
            report_add_row(r, &rows[k]);
        }
        report_row mine = timed("rungs", "mine", REDUCT_F32, 1000, cases[i].seconds);
        snprintf(mine.variant, sizeof mine.variant, "recursive");
        ladder_mine_place(&mine, r);
        assert_string_equal(mine.note, cases[i].note);
        report_destroy(r);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------------------------------------------------------ */

static void finishes_have_names(void **state) {
    (void)state;
    for (int i = LADDER_FINISH_DEFAULT + 1; i < LADDER_FINISHES; i++) {
        ladder_finish finish = LADDER_FINISH_DEFAULT;
        assert_int_equal(ladder_finish_parse(ladder_finish_name((ladder_finish)i), &finish), 0);
        assert_int_equal(finish, i);
    }
    static const char *const unknown[] = {"", "default", "Host", "host ", "all"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        ladder_finish finish = LADDER_FINISH_ATOMIC;
        assert_int_equal(ladder_finish_parse(unknown[i], &finish), -1);
        assert_int_equal(finish, LADDER_FINISH_ATOMIC);
    }
}

static void rungs_have_names_of_their_own(void **state) {
    (void)state;
    assert_true(LADDER_RUNGS > 20);
    for (size_t i = 0; i < LADDER_RUNGS; i++) {
        const ladder_rung *rung = &ladder_rungs[i];
        assert_true(*rung->name && *rung->idea);
        assert_true(strlen(rung->name) < sizeof((report_row *)0)->name);
        for (size_t j = 0; j < i; j++)
            assert_true(rung->kind != ladder_rungs[j].kind || strcmp(rung->name, ladder_rungs[j].name) != 0);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Data
 * ------------------------------------------------------------------------------------------------------------------ */

/* Sums of steps of 2^-24 are exact in f64 up to 2^29 elements. */
static void data_and_their_sums(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 1000, 70001, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ladder_data integers, floats, doubles;
        int64_t sum = 0;
        double real = 0, magnitude = 0;
        assert_int_equal(ladder_data_create(&integers, REDUCT_I32, sizes[i]), 0);
        assert_int_equal(ladder_data_create(&floats, REDUCT_F32, sizes[i]), 0);
        assert_int_equal(ladder_data_create(&doubles, REDUCT_F64, sizes[i]), 0);
        for (uint64_t k = 0; k < sizes[i]; k++) {
            int32_t integer = ((int32_t *)integers.values)[k];
            float number = ((float *)floats.values)[k];
            assert_in_range(integer + 512, 0, 1023);
            assert_true(number >= 0 && number < 1);
            assert_true(((double *)doubles.values)[k] >= 0 && ((double *)doubles.values)[k] < 1);
            sum += integer;
            magnitude += abs(integer);
            real += (double)number;
        }
        assert_int_equal(integers.integer, sum);
        assert_true(integers.magnitude == magnitude);
        assert_true(floats.real == (double)(float)real && floats.magnitude == floats.real);
        assert_true((double)strtof(floats.exact, NULL) == floats.real);
        assert_true(strtod(doubles.exact, NULL) == doubles.real);
        assert_int_equal(strtol(integers.exact, NULL, 10), sum);
        ladder_data_destroy(&integers);
        ladder_data_destroy(&floats);
        ladder_data_destroy(&doubles);
        ladder_data_destroy(&doubles);
    }
}

/* Longer data begin with shorter, however many threads made them. */
static void data_do_not_depend_on_their_length(void **state) {
    (void)state;
    ladder_data few, many;
    assert_int_equal(ladder_data_create(&few, REDUCT_F64, 5000), 0);
    assert_int_equal(ladder_data_create(&many, REDUCT_F64, (1 << 20) + 3), 0);
    assert_memory_equal(few.values, many.values, 5000 * sizeof(double));
    ladder_data_destroy(&few);
    ladder_data_destroy(&many);
}

/* Each large number has its negative as far from the other end; what is left over is small, and so is the sum. */
static void data_that_cancel(void **state) {
    (void)state;
    static const uint64_t sizes[] = {0, 1, 2, 999, 70000, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ladder_data singles, doubles, integers, uniform;
        const uint64_t n = sizes[i];
        double rest = 0;
        assert_int_equal(ladder_data_create_cancelling(&singles, REDUCT_F32, n), 0);
        assert_int_equal(ladder_data_create_cancelling(&doubles, REDUCT_F64, n), 0);
        for (uint64_t k = 0; k < n; k++) {
            float single = ((float *)singles.values)[k], other = ((float *)singles.values)[n - 1 - k];
            double number = ((double *)doubles.values)[k];
            bool pair = k != n - 1 - k && single == -other && number == -((double *)doubles.values)[n - 1 - k];
            assert_true(pair || (single >= 0 && single < 0x1p-8f && number >= 0 && number < 0x1p-8));
            assert_true(fabs(number) < 0x1p15);
            rest += pair ? 0 : (double)single; /* of few bits: exact */
        }
        assert_true(singles.real == (double)(float)rest);
        assert_true(n < 1000 || singles.magnitude > 0x1p20 * singles.real);
        assert_true(n < 1000 || doubles.magnitude > 0x1p20 * doubles.real);
        assert_int_equal(ladder_data_create_cancelling(&integers, REDUCT_I32, n), 0); /* which are as always */
        assert_int_equal(ladder_data_create(&uniform, REDUCT_I32, n), 0);
        assert_memory_equal(integers.values, uniform.values, n * sizeof(int32_t));
        ladder_data_destroy(&singles);
        ladder_data_destroy(&doubles);
        ladder_data_destroy(&integers);
        ladder_data_destroy(&uniform);
    }
}

static void data_that_fit_nowhere(void **state) {
    (void)state;
    ladder_data data;
    assert_int_equal(ladder_data_create(&data, REDUCT_F64, UINT64_MAX), -1);
    assert_null(data.values);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The judge
 * ------------------------------------------------------------------------------------------------------------------ */

static void judge_integers(void **state) {
    (void)state;
    ladder_data data = {.type = REDUCT_I32, .integer = -7, .exact = "-7"};
    report_row row = report_row_empty();
    int32_t result = -7;
    ladder_judge(&row, &data, &result, 0);
    assert_int_equal(row.verdict, REPORT_RIGHT);
    assert_true(row.ulp < 0);
    result = -8;
    ladder_judge(&row, &data, &result, 1e9);
    assert_int_equal(row.verdict, REPORT_WRONG);
    assert_string_equal(row.expected, "-7");
    assert_string_equal(row.got, "-8");
}

static report_verdict judge_f32(float result, double terms, double *ulp) {
    ladder_data data = {.type = REDUCT_F32, .real = 1.5, .exact = "1.5", .magnitude = 1.5};
    report_row row = report_row_empty();
    ladder_judge(&row, &data, &result, terms);
    *ulp = row.ulp;
    return row.verdict;
}

static void judge_floats(void **state) {
    (void)state;
    double ulp;
    assert_int_equal(judge_f32(1.5f, 0, &ulp), REPORT_RIGHT);
    assert_true(ulp == 0);
    assert_int_equal(judge_f32(nextafterf(1.5f, 2), 0, &ulp), REPORT_WRONG);
    assert_true(ulp == 1);
    assert_int_equal(judge_f32(nextafterf(1.5f, 2), 10, &ulp), REPORT_WITHIN_BOUND);
    /* 10 terms: 10 * 2^-24 * 1.5 is 7.5 units of 2^-23, and half a unit more. */
    assert_int_equal(judge_f32(1.5f - 8 * 0x1p-23f, 10, &ulp), REPORT_WITHIN_BOUND);
    assert_true(ulp == 8);
    assert_int_equal(judge_f32(1.5f - 9 * 0x1p-23f, 10, &ulp), REPORT_WRONG);
    assert_int_equal(judge_f32(NAN, 1e30, &ulp), REPORT_WRONG);
    assert_int_equal(judge_f32(INFINITY, 1e30, &ulp), REPORT_WRONG);
}

/* Errors are from the exact value, of which the correctly rounded one is at most half a unit off. */
static void judge_from_the_exact_value(void **state) {
    (void)state;
    ladder_data data = {.type = REDUCT_F64, .real = 1, .rest = 0.25 * 0x1p-52, .exact = "1", .magnitude = 1};
    report_row row = report_row_empty();
    ladder_judge(&row, &data, &(double){1}, 0);
    assert_int_equal(row.verdict, REPORT_RIGHT);
    assert_true(row.ulp == 0.25);
    ladder_judge(&row, &data, &(double){1 + 0x1p-52}, 2);
    assert_int_equal(row.verdict, REPORT_WITHIN_BOUND);
    assert_true(row.ulp == 0.75);
    data.rest = NAN; /* not known */
    ladder_judge(&row, &data, &(double){1}, 0);
    assert_int_equal(row.verdict, REPORT_RIGHT);
    assert_true(row.ulp < 0);
}

/* What rounding took off, of a reduction of x and y. */
static double rest_of(reduct_operator op, const double *x, const double *y, size_t n) {
    judge_exact exact = {.type = REDUCT_F64};
    assert_int_equal(reduct_reduce(op, REDUCT_F64, x, y, n, &exact.value), REDUCT_OK);
    assert_int_equal(judge_find_rest(&exact, op, REDUCT_F64, x, y, n), REDUCT_OK);
    return exact.rest;
}

static void rests_of_sums(void **state) {
    (void)state;
    const double above[] = {1, 1.5 * 0x1p-53}, cancelled[] = {1e300, 1, -1e300, 0x1p-60, -0x1p-114}, wide = 0x1p27 + 1;
    assert_true(rest_of(REDUCT_SUM, above, NULL, 2) == -0x1p-54);
    assert_true(rest_of(REDUCT_NORM1, above, NULL, 2) == -0x1p-54);
    assert_true(rest_of(REDUCT_SUM, cancelled, NULL, 5) == 0x1p-60 - 0x1p-114);
    assert_true(rest_of(REDUCT_DOT, &wide, &wide, 1) == 1);
    assert_true(rest_of(REDUCT_SUMSQ, &wide, NULL, 1) == 1);
    assert_true(rest_of(REDUCT_SUM, NULL, NULL, 0) == 0);
    assert_true(rest_of(REDUCT_MAX, above, NULL, 2) == 0);
    assert_true(isnan(rest_of(REDUCT_SUM, (const double[]){1e308, 1e308}, NULL, 2))); /* out of range */
}

/* Beside long double, whose 11 digits more say a 2000th of a unit. */
static void rests_of_roots_and_means(void **state) {
    (void)state;
    if (LDBL_MANT_DIG < 64) {
        print_message("skipped: long double is no wider than double here\n");
        skip();
    }
    const double x[] = {1, 2, 4}, near = 0x1p-60;
    const struct {
        reduct_operator op;
        long double exact;
    } cases[] = {{REDUCT_MEAN, 7.0L / 3},
                 {REDUCT_VAR, 7.0L / 3},
                 {REDUCT_STD, sqrtl(7.0L / 3)},
                 {REDUCT_NORM2, sqrtl(21)},
                 {REDUCT_RMS, sqrtl(7)}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double rest = (double)(cases[i].exact - (long double)(double)cases[i].exact);
        assert_true(rest != 0 && fabs(rest_of(cases[i].op, x, NULL, 3) - rest) < near * 4);
    }
}

/* Of f32 the same sums as f64, where nothing is rounded off. */
static void rests_of_f32(void **state) {
    (void)state;
    const float x[] = {1, 1.5f * 0x1p-24f};
    judge_exact exact = {.type = REDUCT_F32, .value.f32 = 1 + 0x1p-23f};
    assert_int_equal(judge_find_rest(&exact, REDUCT_SUM, REDUCT_F32, x, NULL, 2), REDUCT_OK);
    assert_true(exact.rest == -0x1p-25);
    assert_true(judge_result(&exact, &exact.value, 0).ulp == 0.25);
}

/* One number as one of another type, as the library rounds it. */
static void convert(reduct_type from, const void *x, reduct_type to, void *result) {
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = from, .result = to};
    const reduct_plan_options options = {
        .reductions = &sum, .reduction_count = 1, .shape = {.n = 1}, .device = "cpu", .threads = 1};
    reduct_plan *plan = NULL;
    assert_int_equal(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    assert_int_equal(reduct_plan_execute(plan, &x, &result, NULL, NULL), REDUCT_OK);
    reduct_plan_destroy(plan);
}

/* All numbers of 16 bits are what the library takes them for, and read back from their text. */
static void judge_halves(void **state) {
    (void)state;
    static const reduct_type types[] = {REDUCT_F16, REDUCT_BF16};
    for (int t = 0; t < 2; t++)
        for (unsigned number = 0; number < 1 << 16; number++) {
            const uint16_t bits = (uint16_t)number;
            uint16_t back = 0;
            char text[48];
            double value = 0;
            convert(types[t], &bits, REDUCT_F64, &value);
            const double got = judge_real(types[t], &bits);
            if (isnan(value)) {
                assert_true(isnan(got));
                continue;
            }
            assert_true(got == value && signbit(got) == signbit(value));
            value = strtod(judge_text(types[t], &bits, text, sizeof text), NULL);
            convert(REDUCT_F64, &value, types[t], &back);
            assert_int_equal(back, bits);
        }
    assert_true(judge_roundoff(REDUCT_F16) == 0x1p-11 && judge_roundoff(REDUCT_BF16) == 0x1p-8);
    assert_true(judge_unit(REDUCT_F16, 1) == 0x1p-10 && judge_unit(REDUCT_F16, 0x1p-20) == 0x1p-24);
    assert_true(judge_unit(REDUCT_BF16, 1) == 0x1p-7 && judge_unit(REDUCT_BF16, 0) == 0x1p-133);
    const uint16_t x[] = {0x3c00, 0x1000}; /* 1, 2^-11: half a unit */
    judge_exact exact = {.type = REDUCT_F16};
    memcpy(&exact.value, x, sizeof *x);
    assert_int_equal(judge_find_rest(&exact, REDUCT_SUM, REDUCT_F16, x, NULL, 2), REDUCT_OK);
    assert_true(exact.rest == 0x1p-11);
    assert_true(judge_result(&exact, x, 0).ulp == 0.5);
}

/* Numbers of all sizes are rounded to 16 bits as the library rounds them. */
static void rounded_to_halves(void **state) {
    (void)state;
    static const double special[] = {
        0,      -0.0,    INFINITY, -INFINITY,      NAN,         1,        65504,    65519,      65520,
        -65520, 0x1p-24, 0x1p-25,  0x1.000001p-25, 0x1.ffep-15, 0x1p-133, 0x1p-134, 0x1.ffp127, -0x1p200};
    enum { SPECIAL = sizeof special / sizeof *special };
    measure_random random = measure_random_seed(3);
    for (int i = 0; i < 20000; i++) {
        const double value = i < SPECIAL ? special[i]
                                         : ldexp(2 * measure_random_uniform(&random) - 1,
                                                 (int)(measure_random_bits(&random) % 300) - 150);
        uint16_t f16 = 0, bf16 = 0;
        convert(REDUCT_F64, &value, REDUCT_F16, &f16);
        convert(REDUCT_F64, &value, REDUCT_BF16, &bf16);
        assert_int_equal(measure_f16(value), f16);
        assert_int_equal(measure_bf16(value), bf16);
    }
}

/* Data of 16 bits are those of f64, rounded as the library does it; or their bits are drawn, over all exponents that they are said to
 * have. */
static void half_data(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    static uint16_t half[COUNT];
    static double real[COUNT];
    measure_team *team = measure_team_create(1);
    for (int t = 0; t < 2; t++)
        for (int data = 0; data < MEASURE_DATA_COUNT; data++) {
            const reduct_type type = t ? REDUCT_BF16 : REDUCT_F16;
            (t ? measure_fill_bf16 : measure_fill_f16)(half, COUNT, (measure_data)data, 7, team);
            measure_fill_f64(real, COUNT, (measure_data)data, 7, team);
            const int stored = t ? 7 : 10, most = t ? 255 : 31;
            int least = most, greatest = 0;
            for (size_t i = 0; i < COUNT; i++) {
                uint16_t expected = half[i];
                const int exponent = half[i] >> stored & most;
                if (data == MEASURE_UNIFORM || data == MEASURE_NORMAL)
                    convert(REDUCT_F64, &real[i], type, &expected);
                assert_int_equal(half[i], expected);
                least = exponent < least ? exponent : least;
                greatest = exponent > greatest ? exponent : greatest;
            }
            if (data == MEASURE_FULL)
                assert_true(least == 0 && greatest == most - 1);
            if (data == MEASURE_WIDE)
                assert_true(least == (t ? 127 - 30 : 1) && greatest == (t ? 127 + 29 : 30));
            if (data == MEASURE_RANGE40)
                assert_true(least == (t ? 127 - 20 : 1) && greatest == (t ? 127 + 19 : 30));
        }
    measure_team_destroy(team);
}

static void judge_doubles(void **state) {
    (void)state;
    ladder_data data = {.type = REDUCT_F64, .real = 0.1, .exact = "0.1", .magnitude = 0.1};
    report_row row = report_row_empty();
    double result = nextafter(0.1, 1);
    ladder_judge(&row, &data, &result, 0);
    assert_int_equal(row.verdict, REPORT_WRONG);
    assert_true(row.ulp == 1);
    assert_string_equal(row.got, "0.10000000000000002");
    result = 0.1;
    ladder_judge(&row, &data, &result, 0);
    assert_int_equal(row.verdict, REPORT_RIGHT);
    assert_string_equal(row.got, "0.1");
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The CPU's loops: whole numbers, which every order adds exactly, at every length and alignment
 * ------------------------------------------------------------------------------------------------------------------ */

enum { LENGTH = 700 };

static void check_loop(cpu_sum *sum, int type) {
    static int32_t integers[LENGTH + 3];
    static float floats[LENGTH + 3];
    static double doubles[LENGTH + 3];
    for (int i = 0; i < LENGTH + 3; i++)
        doubles[i] = floats[i] = (float)(integers[i] = (i * 37) % 1024 - 512);
    for (size_t offset = 0; sum && offset < 3; offset++) {
        int32_t expected = 0;
        for (size_t n = 0; n <= LENGTH; n++) {
            union {
                int32_t i32;
                float f32;
                double f64;
            } result = {.f64 = NAN};
            const void *from[] = {integers + offset, floats + offset, doubles + offset};
            sum(from[type], n, &result);
            double got = type == CPU_I32 ? result.i32 : type == CPU_F32 ? (double)result.f32 : result.f64;
            assert_true(got == expected);
            expected += integers[offset + n];
        }
    }
}

static void loops_add_everything_once(void **state) {
    (void)state;
    for (int type = 0; type < CPU_TYPES; type++) {
        check_loop(cpu_plain[type], type);
        check_loop(cpu_accumulators[type], type);
        check_loop(cpu_std_accumulate[type], type);
        check_loop(cpu_std_reduce[type], type);
        if (cpu_std_reduce_par[type])
            check_loop(cpu_std_reduce_par[type], type);
        check_loop(cpu_kahan[type], type);
        check_loop(cpu_pairwise[type], type);
        check_loop(cpu_vectors_baseline.sum[type], type);
        check_loop(cpu_vectors_best()->sum[type], type);
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2"))
            check_loop(cpu_vectors_avx2.sum[type], type);
#endif
    }
}

static void integers_have_nothing_to_compensate(void **state) {
    (void)state;
    assert_null(cpu_kahan[CPU_I32]);
    assert_null(cpu_pairwise[CPU_I32]);
}

/* Kahan's gift: ten million times 0.1 in f32. */
static void kahan_keeps_what_plain_loses(void **state) {
    (void)state;
    enum { N = 10000000 };
    float *values = malloc(N * sizeof *values), plain, kahan;
    assert_non_null(values);
    for (int i = 0; i < N; i++)
        values[i] = 0.1f;
    cpu_plain[CPU_F32](values, N, &plain);
    cpu_kahan[CPU_F32](values, N, &kahan);
    assert_true(fabs((double)plain - 1e6) > 50000);
    assert_true(fabs((double)kahan - N * (double)0.1f) <= 0.0625); /* a unit in the last place of 1e6 */
    free(values);
}

static void threads_share_and_add(void **state) {
    (void)state;
    enum { N = 100003, MEMBERS = 5 };
    double *values = malloc(N * sizeof *values), result;
    assert_non_null(values);
    for (int i = 0; i < N; i++)
        values[i] = i;
    cpu_team team = {measure_team_create(MEMBERS), MEMBERS};
    for (size_t n = 0; n <= N; n += n < 10 ? 1 : 9999) {
        cpu_threads_sum(cpu_plain[CPU_F64], CPU_F64, values, n, &team, &result);
        assert_true(result == (double)n * ((double)n - 1) / 2);
    }
    measure_team_destroy(team.team);
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_of_small_sizes),
        cmocka_unit_test(passes_at_exact_powers),
        cmocka_unit_test(passes_without_a_group),
        cmocka_unit_test(mine_has_its_place),
        cmocka_unit_test(mine_has_its_place_among_its_like),
        cmocka_unit_test(finishes_have_names),
        cmocka_unit_test(rungs_have_names_of_their_own),
        cmocka_unit_test(data_and_their_sums),
        cmocka_unit_test(data_do_not_depend_on_their_length),
        cmocka_unit_test(data_that_cancel),
        cmocka_unit_test(data_that_fit_nowhere),
        cmocka_unit_test(judge_integers),
        cmocka_unit_test(judge_floats),
        cmocka_unit_test(judge_doubles),
        cmocka_unit_test(judge_from_the_exact_value),
        cmocka_unit_test(judge_halves),
        cmocka_unit_test(rounded_to_halves),
        cmocka_unit_test(half_data),
        cmocka_unit_test(rests_of_sums),
        cmocka_unit_test(rests_of_roots_and_means),
        cmocka_unit_test(rests_of_f32),
        cmocka_unit_test(loops_add_everything_once),
        cmocka_unit_test(integers_have_nothing_to_compensate),
        cmocka_unit_test(kahan_keeps_what_plain_loses),
        cmocka_unit_test(threads_share_and_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
