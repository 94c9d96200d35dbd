/* The whole matrix, bit for bit against the oracle: operator x element type x result type x NaN policy x device x size
 * x distribution, all expanded from the library's two tables, so that a new line there is tested from its first day.
 *
 * Names of tests on the command line select them.
 *
 * From the survival list: "0, 1, and one below, at and above every vector, unroll ... and tile boundary"; "non-powers
 * of two everywhere"; all of "Values"; "Same bits: every instruction set". A pair that the library claims and gets
 * wrong is a failure, a pair that it must have and refuses is one, too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

#define AROUND(n) (n) - 1, (n), (n) + 1
/* clang-format off */
static const size_t sizes[] = {
    0, 1, 2, 3, AROUND(4), AROUND(8), AROUND(16), AROUND(32), AROUND(64), AROUND(128), AROUND(256), AROUND(512),
    AROUND(1024), AROUND(2048), AROUND(4096), AROUND(8192), AROUND(12288), AROUND(32768), AROUND(65536), 100003,
};
/* clang-format on */
enum { LARGEST = 3000017 };

struct matrix {
    struct rng rng;
    const char *devices[TEST_MAX_DEVICES];
    size_t device_count;
    struct oracle single, pairs;
    void *x, *y;
    uint64_t cases;
};

static void start(struct matrix *matrix, uint64_t stream) {
    matrix->rng = rng_of(test_seed() + stream);
    matrix->device_count = test_devices(matrix->devices);
    oracle_init(&matrix->single);
    oracle_init(&matrix->pairs);
    matrix->x = test_alloc(LARGEST * sizeof(double));
    matrix->y = test_alloc(LARGEST * sizeof(double));
    matrix->cases = 0;
}

static void stop(struct matrix *matrix) {
    oracle_clear(&matrix->single);
    oracle_clear(&matrix->pairs);
    free(matrix->x);
    free(matrix->y);
    print_message("%llu cases\n", (unsigned long long)matrix->cases);
}

/* One of the result types that the operator has, REDUCT_DEFAULT among them. */
static reduct_type pick_result(struct rng *rng, reduct_operator op, reduct_type element) {
    reduct_type allowed[TEST_MAX_TYPES + 1] = {REDUCT_DEFAULT};
    size_t count = 1;
    for (size_t i = 0; i < test_type_count; i++)
        if (oracle_has_result(op, element, test_types[i].type))
            allowed[count++] = test_types[i].type;
    return allowed[rng_below(rng, count)];
}

/* Whether fast mode is exact as well. */
static bool always_exact(reduct_operator op, const struct test_type *type) {
    return type->class != FLOAT || op == REDUCT_MIN || op == REDUCT_MAX || op == REDUCT_ARGMIN || op == REDUCT_ARGMAX ||
           op == REDUCT_NORMINF || op == REDUCT_PRODUCT || op >= REDUCT_COUNT;
}

/* The data in x and y, through every device, operator and NaN policy. */
static void check_data(struct matrix *matrix, const struct test_type *type, const char *distribution, size_t count,
                       unsigned threads) {
    oracle_read(&matrix->single, type->type, matrix->x, NULL, count);
    oracle_read(&matrix->pairs, type->type, matrix->x, matrix->y, count);
    for (size_t o = 0; o < test_operator_count; o++)
        for (int policy = REDUCT_NAN_PROPAGATE; policy <= REDUCT_NAN_ERROR; policy++) {
            const struct test_operator *op = &test_operators[o];
            if (!oracle_has(op->op, type->type))
                continue;
            reduct_reduction asked = {.op = op->op, .element = type->type, .nan = (reduct_nan)policy};
            asked.result = pick_result(&matrix->rng, op->op, type->type);
            asked.flags = (uint32_t)rng_below(&matrix->rng, 4); /* REDUCT_POPULATION, REDUCT_WRAP */
            if (always_exact(op->op, type) && rng_below(&matrix->rng, 4) == 0)
                asked.mode = REDUCT_FAST;
            reduct_reduction resolved = asked;
            if (asked.result == REDUCT_DEFAULT)
                resolved.result = oracle_default_result(op->op, type->type);
            const bool two = op->inputs == 2;
            const struct oracle_result expected = oracle_expect(two ? &matrix->pairs : &matrix->single, &resolved);
            for (size_t d = 0; d < matrix->device_count; d++) {
                const struct test_outcome got =
                    test_run(&asked, matrix->devices[d], threads, matrix->x, two ? matrix->y : NULL, count);
                test_check(&got, &expected, &resolved, "%zu %s on %s, %u threads", count, distribution,
                           matrix->devices[d], threads);
                matrix->cases++;
            }
        }
}

/* Every distribution and size of one element type; of the costly sizes a sample. */
static void check_element(struct matrix *matrix, const struct test_type *type) {
    for (size_t d = 0; d < distribution_count; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const double share = test_scale() * (sizes[s] > 3000 ? 3000.0 / (double)sizes[s] : 1);
            if (!distribution_suits(&distributions[d], type) || rng_unit(&matrix->rng) >= share)
                continue;
            distributions[d].fill(&matrix->rng, type, matrix->x, matrix->y, sizes[s]);
            check_data(matrix, type, distributions[d].name, sizes[s], sizes[s] > 10000 ? 3 : 1);
        }
}

static void check_matrix(bool floats, uint64_t stream) {
    struct matrix matrix;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    start(&matrix, stream);
    for (uint64_t round = test_scaled(1, 1); round-- > 0;)
        for (size_t e = 0; e < element_count; e++)
            if ((elements[e]->class == FLOAT) == floats)
                check_element(&matrix, elements[e]);
    stop(&matrix);
}

static void floats(void **state) {
    (void)state;
    check_matrix(true, 0);
}

static void integers(void **state) {
    (void)state;
    check_matrix(false, 1);
}

/* Sizes that threads share and that pass every bound on how long anything may accumulate before it is brought home:
 * of every element type the data that fills accumulators fastest, on one thread, and some other, on several. */
static void large(void **state) {
    (void)state;
    static const char *const heavy[] = {"largest_significand", "full_bins",   "overflow", "edge",
                                        "all_least",           "all_greatest"};
    static const char *const other[] = {"normal", "300_binades", "raw", "jumps", "limits", "one_speck", "nan_last"};
    const size_t heavy_count = sizeof heavy / sizeof *heavy;
    struct matrix matrix;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    start(&matrix, 2);
    for (size_t e = 0; e < element_count; e++)
        for (size_t d = 0; d < heavy_count + test_scaled(2, 1); d++) {
            const bool threaded = d >= heavy_count;
            const struct distribution *distribution;
            do
                distribution = distribution_named(threaded ? other[rng_below(&matrix.rng, 7)] : heavy[d]);
            while (threaded && !distribution_suits(distribution, elements[e]));
            if (!distribution_suits(distribution, elements[e]) ||
                (!threaded && rng_unit(&matrix.rng) >= 4 * test_scale()))
                continue;
            const size_t most = threaded && test_scale() >= 1 ? LARGEST : 280007;
            const size_t count = most - rng_below(&matrix.rng, 9000);
            distribution->fill(&matrix.rng, elements[e], matrix.x, matrix.y, count);
            check_data(&matrix, elements[e], distribution->name, count,
                       threaded ? 2 + (unsigned)rng_below(&matrix.rng, 7) : 1);
        }
    stop(&matrix);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Exponents that no window holds, which are added up in bins by exponent
 * ------------------------------------------------------------------------------------------------------------------ */

static void put_pair(struct matrix *matrix, const struct test_type *type, size_t i, double x, double y) {
    values_put(type, matrix->x, i, x);
    values_put(type, matrix->y, i, y);
}

/* Any finite number. */
static double any_number(struct rng *rng, const struct test_type *type) {
    const uint64_t infinity = values_infinity(type);
    uint64_t bits;
    do
        bits = rng_next(rng);
    while ((bits & infinity) == infinity);
    double wide;
    float narrow;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &bits, sizeof narrow);
    return type->size == 8 ? wide : (double)narrow;
}

/* All binades, and what each term adds is taken off again in two parts of other exponents, so that an error anywhere is seen
 * in what remains. */
static void fill_cancelling(struct matrix *matrix, const struct test_type *type, size_t count) {
    size_t i = 0;
    for (; i + 2 < count; i += 3) {
        const double x = any_number(&matrix->rng, type), y = any_number(&matrix->rng, type);
        int exponent = 0;
        const double upper =
            ldexp(trunc(ldexp(frexp(x, &exponent), type->precision / 2)), exponent - type->precision / 2);
        put_pair(matrix, type, i, x, y);
        put_pair(matrix, type, i + 1, -upper, y);
        put_pair(matrix, type, i + 2, upper - x, y);
    }
    for (; i < count; i++)
        put_pair(matrix, type, i, values_tiny(type), 1);
    values_shuffle(&matrix->rng, type, matrix->x, matrix->y, count);
}

/* Nearly nothing but the largest significand; of products with an odd exponent, of which four share bins, the largest sums. In
 * every block something is far below the rest. */
static void fill_largest(struct matrix *matrix, const struct test_type *type, size_t count) {
    const double largest = 2 - ldexp(1, 1 - type->precision);
    for (size_t i = 0; i < count; i++)
        put_pair(matrix, type, i, i % 300 == 7 ? ldexp(largest, -type->max_exponent / 2) : largest, 2 * largest);
}

/* Nearly nothing but subnormal numbers, and in every block something far above them, which cancels. */
static void fill_subnormals(struct matrix *matrix, const struct test_type *type, size_t count) {
    const uint64_t fractions = ((uint64_t)1 << (type->precision - 1)) - 1, sign = (uint64_t)1 << (8 * type->size - 1);
    for (size_t i = 0; i < count; i++) {
        put_pair(matrix, type, i, 0, 1);
        values_put_bits(type, matrix->x, i, rng_next(&matrix->rng) & (fractions | sign));
    }
    for (size_t i = 7; i + 300 < count; i += 600) {
        put_pair(matrix, type, i, values_max(type), 1);
        put_pair(matrix, type, i + 300, -values_max(type), 1);
    }
}

/* Nearly nothing but the largest significand, some binades below which the last element lies, and one in a hundred: about as many as integers
 * of 64 bits or 128 have room for beside it. All of one sign, or not. */
static void fill_spread(struct matrix *matrix, const struct test_type *type, size_t count) {
    static const int APART[] = {26, 27, 28, 29, 30, 62, 63, 64, 65};
    struct rng *rng = &matrix->rng;
    const int apart = APART[rng_below(rng, sizeof APART / sizeof *APART)], most = (int)rng_below(rng, 60) - 20,
              below = 1 - type->precision;
    const bool one_sign = rng_below(rng, 2);
    for (size_t i = 0; i < count; i++) {
        const bool small = rng_below(rng, 100) == 0 || i + 1 == count;
        const double size = small ? ldexp(1 + ldexp(1, below), most - apart) : ldexp(2 - ldexp(1, below), most);
        put_pair(matrix, type, i, one_sign || rng_below(rng, 2) ? size : -size, 1);
    }
}

/* Nearly nothing but zeros, of both signs. */
static void fill_zeros(struct matrix *matrix, const struct test_type *type, size_t count) {
    for (size_t i = 0; i < count; i++)
        put_pair(matrix, type, i, rng_below(&matrix->rng, 2) ? 0.0 : -0.0, rng_below(&matrix->rng, 2) ? 1 : -1);
    for (size_t i = 7; i + 300 < count; i += 600) {
        put_pair(matrix, type, i, values_max(type), 1);
        put_pair(matrix, type, i + 200, values_tiny(type), 1);
        put_pair(matrix, type, i + 300, -values_max(type), 1);
    }
}

/* Data that are binned from the first block to the last, or may be. */
static const struct {
    const char *name;
    void (*fill)(struct matrix *matrix, const struct test_type *type, size_t count);
} far_data[] = {{"all binades, cancelling", fill_cancelling},
                {"the largest significand, and some far below", fill_largest},
                {"subnormal numbers, and some far above", fill_subnormals},
                {"zeros, and some far apart", fill_zeros},
                {"the largest significand, and some below", fill_spread}};

/* NaNs and infinities, of both arrays, here and there after the first blocks: bins are in use by then. */
static void put_specials(struct matrix *matrix, const struct test_type *type, size_t count) {
    const uint64_t sign = (uint64_t)1 << (8 * type->size - 1);
    for (size_t i = count / 2; i < count; i += 1 + rng_below(&matrix->rng, 1500)) {
        void *array = rng_below(&matrix->rng, 2) ? matrix->x : matrix->y;
        const uint64_t infinity = values_infinity(type) | (rng_below(&matrix->rng, 4) ? 0 : sign);
        values_put_bits(type, array, i, rng_below(&matrix->rng, 2) ? infinity : values_nan(&matrix->rng, type));
    }
}

/* Around where bins are used instead of single additions, around blocks and spans, and beyond the 64 blocks after which a
 * window is tried again. One that is long enough for bins of products to be emptied on the way. */
static void far(void **state) {
    (void)state;
    static const size_t counts[] = {AROUND(64),   AROUND(256),  AROUND(512), AROUND(1024),
                                    AROUND(1536), AROUND(4096), 66 * 1024,   70001};
    enum { COUNTS = sizeof counts / sizeof *counts, EMPTIED = 560000 };
    static const reduct_type elements[] = {REDUCT_F64, REDUCT_F32};
    struct matrix matrix;
    start(&matrix, 3);
    for (size_t e = 0; e < 2; e++)
        for (size_t d = 0; d < sizeof far_data / sizeof *far_data; d++)
            for (size_t c = 0; c < COUNTS; c++) {
                const struct test_type *type = test_type(elements[e]);
                if (counts[c] > 10000 && rng_unit(&matrix.rng) >= test_scale())
                    continue;
                far_data[d].fill(&matrix, type, counts[c]);
                check_data(&matrix, type, far_data[d].name, counts[c], 1);
                put_specials(&matrix, type, counts[c]);
                check_data(&matrix, type, far_data[d].name, counts[c], 1);
            }
    if (test_scale() >= 1) {
        fill_largest(&matrix, test_type(REDUCT_F64), EMPTIED);
        check_data(&matrix, test_type(REDUCT_F64), far_data[1].name, EMPTIED, 1);
    }
    stop(&matrix);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What cannot be had
 * ------------------------------------------------------------------------------------------------------------------ */

static bool is_refusal(reduct_status status) {
    return status == REDUCT_ERROR_UNSUPPORTED || status == REDUCT_ERROR_ARGUMENT;
}

static bool is_supported(const struct test_type *type, const struct test_type *const *elements, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (elements[i] == type)
            return true;
    return false;
}

/* A reduction that must be refused: by the check, by a plan, by an accumulator, each with a reason. */
static void check_refused(const reduct_reduction *reduction) {
    const double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const bool dot = test_operator(reduction->op)->inputs == 2;
    const struct test_outcome got = test_run(reduction, "cpu", 1, x, dot ? x : NULL, 2);
    struct oracle_result untouched = {.status = got.status, .index = got.error.index};
    memset(untouched.bytes, ORACLE_UNTOUCHED, sizeof untouched.bytes);
    if (!is_refusal(got.status) || !test_agrees(&got, &untouched) || got.error.status != got.status ||
        !got.error.message[0])
        test_fail("%s of %s as %s: not refused as it should be: status %d, %s", reduct_operator_name(reduction->op),
                  test_type(reduction->element)->name, test_type(reduction->result)->name, (int)got.status,
                  got.error.message);
    reduct_accumulator *accumulator = NULL;
    const reduct_status status = reduct_accumulator_create(
        &(reduct_accumulator_options){.reduction = reduction, .device = "cpu", .threads = 1}, &accumulator, NULL);
    if (!is_refusal(status) || accumulator)
        test_fail("%s of %s as %s: an accumulator gave status %d", reduct_operator_name(reduction->op),
                  test_type(reduction->element)->name, test_type(reduction->result)->name, (int)status);
}

static void refused(void **state) {
    (void)state;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    for (size_t o = 0; o < test_operator_count; o++)
        for (size_t e = 0; e < test_type_count; e++)
            for (size_t r = 0; r < test_type_count; r++) {
                const reduct_reduction reduction = {
                    .op = test_operators[o].op, .element = test_types[e].type, .result = test_types[r].type};
                const bool can = is_supported(&test_types[e], elements, element_count);
                if (!can || !oracle_has_result(reduction.op, reduction.element, reduction.result))
                    check_refused(&reduction);
            }
}

/* What is there resolves to the documented default, and what does not resolve is left as it was. */
static void resolved(void **state) {
    (void)state;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    for (size_t o = 0; o < test_operator_count; o++)
        for (size_t e = 0; e < element_count; e++) {
            reduct_reduction reduction = {.op = test_operators[o].op, .element = elements[e]->type};
            if (!oracle_has(reduction.op, reduction.element)) {
                check_refused(&reduction);
                continue;
            }
            test_status(reduct_reduction_resolve(&reduction, NULL), REDUCT_OK);
            assert_int_equal(reduction.result, oracle_default_result(reduction.op, reduction.element));
            for (size_t r = 0; r < test_type_count; r++) {
                const reduct_type result = test_types[r].type;
                reduct_reduction asked = {.op = reduction.op, .element = reduction.element, .result = result};
                const reduct_reduction before = asked;
                const reduct_status status = reduct_reduction_resolve(&asked, NULL);
                assert_memory_equal(&asked, &before, sizeof asked);
                if ((status == REDUCT_OK) != oracle_has_result(before.op, before.element, result))
                    test_fail("%s of %s as %s: status %d", test_operators[o].name, elements[e]->name,
                              test_types[r].name, (int)status);
            }
        }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats), cmocka_unit_test(integers), cmocka_unit_test(large),
        cmocka_unit_test(far),    cmocka_unit_test(refused),  cmocka_unit_test(resolved),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("matrix", tests, NULL, NULL);
}
