/* The exact rung on Vulkan and its dot product of f32, bit for bit: against the oracle, which shares no code with it, and
 * against the library, for every distribution of values.c, through both windows, in one piece and in several, alone and
 * again on what a run has left behind. Runs on the first Vulkan device; fails where there is none, since whoever runs this means to have one.
 *
 * From the survival list: "0, 1, and one below, at and above every vector, unroll ... and tile boundary"; all of "Values";
 * "Same bits". */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

#include "ladder/vulkan_exact.h"

#define AROUND(n) (n) - 1, (n), (n) + 1
/* clang-format off */
static const size_t sizes[] = {
    0, 1, 2, 3, 4, 5, 100, AROUND(256), 1000, AROUND(2048), AROUND(4096), 5000, AROUND(8192), AROUND(65536), 300007,
};
/* clang-format on */
enum { LARGEST = 1 << 20 };

struct bench {
    vulkan_lab lab;
    struct rng rng;
    struct oracle oracle;
    void *x, *y;
    uint64_t cases;
};

static int start(void **state) {
    struct bench *bench = test_alloc(sizeof *bench);
    reduct_error error;
    *bench = (struct bench){.rng = rng_of(test_seed()),
                            .x = test_alloc(LARGEST * sizeof(double)),
                            .y = test_alloc(LARGEST * sizeof(float))};
    oracle_init(&bench->oracle);
    if (vulkan_lab_open(&bench->lab, "vulkan:0", VULKAN_GLSL, &error) != REDUCT_OK) {
        print_error("%s\n", error.message);
        return -1;
    }
    print_message("%s: f64 %s\n", bench->lab.facts->name, bench->lab.facts->f64 ? "yes" : "no, so no window in f64");
    *state = bench;
    return 0;
}

static int stop(void **state) {
    struct bench *bench = *state;
    print_message("%llu cases\n", (unsigned long long)bench->cases);
    vulkan_lab_close(&bench->lab);
    oracle_clear(&bench->oracle);
    free(bench->x);
    free(bench->y);
    free(bench);
    return 0;
}

/* The sum of what is in bench->x, or its dot product with bench->y, in pieces of at most that many bytes; 0 for one
 * piece. */
static void check_window(struct bench *bench, const reduct_reduction *reduction, size_t count,
                         vulkan_exact_window window, uint64_t piece_most, const struct oracle_result *expected,
                         const char *what) {
    char why[240];
    gpu_vulkan *device = bench->lab.device;
    const bool is_dot = reduction->op == REDUCT_DOT;
    const uint64_t bytes = count * test_type(reduction->element)->size;
    gpu_vulkan_input input = gpu_vulkan_input_create(device, bench->x, bytes, false, piece_most), other = {0};
    if (is_dot)
        other = gpu_vulkan_input_create(device, bench->y, bytes, false, piece_most);
    vulkan_exact *exact =
        is_dot ? vulkan_exact_create_dot(&bench->lab, &input, &other, window, why, sizeof why)
               : vulkan_exact_create(&bench->lab, reduction->element, &input, window, 0, why, sizeof why);
    if (!exact)
        test_fail("%s", why);
    for (int run = 0; run < 2; run++) {
        struct test_outcome got = test_outcome();
        vulkan_exact_run(exact, 0);
        vulkan_exact_result(exact, got.bytes);
        if (gpu_vulkan_error(device))
            test_fail("%s", gpu_vulkan_error(device));
        test_check(&got, expected, reduction, "%zu %s, window %d, pieces of %llu bytes, run %d", count, what,
                   (int)window, (unsigned long long)piece_most, run);
        bench->cases++;
    }
    vulkan_exact_destroy(exact);
    gpu_vulkan_input_destroy(device, &other);
    gpu_vulkan_input_destroy(device, &input);
}

static void check_reduction(struct bench *bench, const reduct_reduction *reduction, size_t count, const char *what) {
    const void *const y = reduction->op == REDUCT_DOT ? bench->y : NULL;
    oracle_read(&bench->oracle, reduction->element, bench->x, y, count);
    struct oracle_result expected = oracle_expect(&bench->oracle, reduction);
    const struct test_outcome library = test_run(reduction, "cpu", 1, bench->x, y, count);
    test_check(&library, &expected, reduction, "%zu %s, by the library", count, what);
    uint64_t pieces = rng_below(&bench->rng, 3) ? 0 : 256 * (1 + rng_below(&bench->rng, 40 + count / 64));
    check_window(bench, reduction, count, VULKAN_EXACT_U32, pieces, &expected, what);
    if (bench->lab.facts->f64)
        check_window(bench, reduction, count, VULKAN_EXACT_F64, pieces, &expected, what);
}

static void check_data(struct bench *bench, const struct test_type *type, size_t count, const char *what) {
    const reduct_reduction sum = test_reduction(REDUCT_SUM, type->type, type->type);
    check_reduction(bench, &sum, count, what);
}

static void check_dot(struct bench *bench, size_t count, const char *what) {
    const reduct_reduction dot = test_reduction(REDUCT_DOT, REDUCT_F32, REDUCT_F64);
    check_reduction(bench, &dot, count, what);
}

static void check_distributions(struct bench *bench, reduct_type element, bool is_dot) {
    const struct test_type *type = test_type(element);
    for (size_t d = 0; d < distribution_count; d++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const double share = 4 * test_scale() * (sizes[s] > 3000 ? 3000.0 / (double)sizes[s] : 1);
            if (!distribution_suits(&distributions[d], type) || rng_unit(&bench->rng) >= share)
                continue;
            distributions[d].fill(&bench->rng, type, bench->x, is_dot ? bench->y : NULL, sizes[s]);
            if (is_dot)
                check_dot(bench, sizes[s], distributions[d].name);
            else
                check_data(bench, type, sizes[s], distributions[d].name);
        }
}

static void f32(void **state) {
    check_distributions(*state, REDUCT_F32, false);
}

static void f64(void **state) {
    check_distributions(*state, REDUCT_F64, false);
}

static void dot(void **state) {
    check_distributions(*state, REDUCT_F32, true);
}

/* Random bits around an exponent that moves through the whole range: windows at, below and above both of their ends, the
 * ties and carries of their edges, growth and decline from tile to tile. */
static void exponents(void **state) {
    enum { COUNT = 20000 };
    struct bench *bench = *state;
    for (int wide = 0; wide < 2; wide++) {
        const struct test_type *type = test_type(wide ? REDUCT_F64 : REDUCT_F32);
        const unsigned fraction = wide ? 52 : 23, most = wide ? 2046 : 254;
        const uint64_t least_rounds = 24, rounds = test_scaled(60, least_rounds);
        for (uint64_t round = 0; round < rounds; round++) {
            const uint64_t low = round * most / rounds, spread = 1 + rng_below(&bench->rng, round % 2 ? 70 : 24);
            const bool ones = rng_below(&bench->rng, 3) == 0; /* the largest significands, all of one sign */
            for (size_t i = 0; i < COUNT; i++) {
                uint64_t exponent = low + rng_below(&bench->rng, spread), bits = rng_next(&bench->rng);
                exponent = exponent > most ? most : exponent;
                bits = ones ? (UINT64_C(1) << fraction) - 1 : bits & ((UINT64_C(1) << fraction) - 1);
                const uint64_t sign = ones ? round & 1 : rng_below(&bench->rng, 2);
                values_put_bits(type, bench->x, i, sign << (8 * type->size - 1) | exponent << fraction | bits);
            }
            check_data(bench, type, COUNT - rng_below(&bench->rng, 3000), "exponents around one");
        }
    }
}

/* Factors whose exponents are around two that move through the whole range, subnormals, infinities and NaNs included, so
 * that products do so too; once the largest significands of one sign, many of them at the very top of a window. */
static void factors(void **state) {
    enum { COUNT = 30000 };
    struct bench *bench = *state;
    const struct test_type *type = test_type(REDUCT_F32);
    const uint64_t least_rounds = 24, rounds = test_scaled(120, least_rounds);
    for (uint64_t round = 0; round < rounds; round++) {
        const bool specials = rng_below(&bench->rng, 6) == 0, ones = rng_below(&bench->rng, 3) == 0;
        const uint64_t low[2] = {round * 254 / rounds, rng_below(&bench->rng, 255)};
        const uint64_t spread = ones ? 1 + rng_below(&bench->rng, 3) : 1 + rng_below(&bench->rng, round % 2 ? 40 : 12);
        for (size_t i = 0; i < 2 * (size_t)COUNT; i++) {
            uint64_t exponent = low[i % 2] + rng_below(&bench->rng, spread), most = specials ? 255 : 254;
            uint64_t bits = ones ? (1 << 23) - 1 : rng_next(&bench->rng) & ((1 << 23) - 1);
            exponent = exponent > most ? most : exponent;
            if (specials && rng_below(&bench->rng, 4) == 0)
                bits = 0; /* zeros and infinities */
            const uint64_t sign = ones ? 0 : rng_below(&bench->rng, 2) << 31;
            values_put_bits(type, i % 2 ? bench->y : bench->x, i / 2, sign | exponent << 23 | bits);
        }
        check_dot(bench, COUNT - rng_below(&bench->rng, 3000), "factors around two exponents");
    }
}

/* As much as fits into windows before they are emptied: many tiles for each invocation, of the largest significands and of
 * one sign; right at the top, and far below an element that keeps the window up. */
static void crowded(void **state) {
    enum { COUNT = 1 << 20, FIRST = COUNT / 4 };
    struct bench *bench = *state;
    for (int wide = 0; wide < 2; wide++)
        for (unsigned below = 0; below < 30; below += below ? 1 + (unsigned)rng_below(&bench->rng, 2) : 18) {
            const struct test_type *type = test_type(wide ? REDUCT_F64 : REDUCT_F32);
            const unsigned fraction = wide ? 52 : 23;
            const uint64_t sign = rng_below(&bench->rng, 2), ones = (UINT64_C(1) << fraction) - 1;
            for (size_t i = 0; i < COUNT; i++) {
                /* At first one less, and windows open one above the highest: the others are at the very top. */
                uint64_t exponent = i < FIRST ? 119 : i % 8 ? 120 - below : 120;
                values_put_bits(type, bench->x, i, sign << (8 * type->size - 1) | exponent << fraction | ones);
            }
            check_data(bench, type, COUNT, "crowded");
        }
}

/* A significand, leading one included, whose product with that of `other`, an odd one, ends with 22 ones. */
static uint32_t factor_to_ones(uint32_t other) {
    uint32_t inverse = other; /* right in 3 bits, then in twice as many each time */
    for (int i = 0; i < 4; i++)
        inverse *= 2 - other * inverse;
    return (0u - inverse) % (1u << 22) | 3u << 22;
}

/* The same of products: of the largest significands, which fill the upper part of a window, and of those that end with
 * ones, which fill the lower one. */
static void crowded_dot(void **state) {
    enum { COUNT = 1 << 20, FIRST = COUNT / 4, ONES = (1 << 24) - 1, ONE = 1 << 23 };
    struct bench *bench = *state;
    const struct test_type *type = test_type(REDUCT_F32);
    for (int ends = 0; ends < 2; ends++)
        for (unsigned below = 0; below < 32; below += below ? 1 + (unsigned)rng_below(&bench->rng, 3) : 17) {
            const uint64_t sign = rng_below(&bench->rng, 2) << 31;
            for (size_t i = 0; i < COUNT; i++) {
                const uint64_t exponent = i < FIRST ? 119 : i % 8 ? 120 - below : 120;
                const uint32_t factor = ends ? ONES - 2 * (uint32_t)rng_below(&bench->rng, 1000) : ONES;
                values_put_bits(type, bench->x, i, sign | exponent << 23 | factor % ONE);
                values_put_bits(type, bench->y, i, 127 << 23 | (ends ? factor_to_ones(factor) : ONES) % ONE);
            }
            check_dot(bench, COUNT, "crowded");
        }
}

/* Integers, whose sum is taken modulo 2^32. */
static void i32(void **state) {
    struct bench *bench = *state;
    const struct test_type *type = test_type(REDUCT_I32);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int kind = 0; kind < 3; kind++) {
            char why[240];
            uint32_t sum = 0, got;
            for (size_t i = 0; i < sizes[s]; i++) {
                uint32_t bits = kind == 0   ? (uint32_t)rng_next(&bench->rng)
                                : kind == 1 ? UINT32_C(0x80000000)
                                            : UINT32_C(0x7fffffff);
                values_put_bits(type, bench->x, i, bits);
                sum += bits;
            }
            gpu_vulkan_input input = gpu_vulkan_input_create(bench->lab.device, bench->x, sizes[s] * 4, false, 0);
            vulkan_exact *exact =
                vulkan_exact_create(&bench->lab, REDUCT_I32, &input, VULKAN_EXACT_BEST, 0, why, sizeof why);
            if (!exact)
                test_fail("%s", why);
            vulkan_exact_run(exact, 0);
            vulkan_exact_result(exact, &got);
            if (got != sum)
                test_fail("%zu integers of kind %d: %u instead of %u", sizes[s], kind, got, sum);
            vulkan_exact_destroy(exact);
            gpu_vulkan_input_destroy(bench->lab.device, &input);
            bench->cases++;
        }
}

/* Whether a result in a module has a decoration: OpDecorate is instruction 71. */
static bool is_decorated(const rd_vulkan_shader *shader, uint32_t result, uint32_t decoration) {
    for (size_t i = 5; i < shader->bytes / 4; i += shader->words[i] >> 16)
        if ((shader->words[i] & 0xffff) == 71 && shader->words[i + 1] == result && shader->words[i + 2] == decoration)
            return true;
    return false;
}

/* Every addition and subtraction of floats (instructions 129 and 131) must be marked NoContraction (42), or a driver may
 * regroup them: optimisers have been seen to lose that on the way. */
static void precise(void **state) {
    static const char *const names[] = {"glsl/exact_f64_f32", "glsl/exact_f64_f64", "glsl/exact_f64_dot"};
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        const rd_vulkan_shader *shader = rd_vulkan_shader_find(ladder_vulkan_shaders, names[n]);
        unsigned additions = 0;
        assert_non_null(shader);
        for (size_t i = 5; i < shader->bytes / 4; i += shader->words[i] >> 16) {
            const uint32_t instruction = shader->words[i] & 0xffff;
            if (instruction != 129 && instruction != 131)
                continue;
            additions++;
            if (!is_decorated(shader, shader->words[i + 2], 42))
                test_fail("%s: an addition without NoContraction, result %u", names[n], shader->words[i + 2]);
        }
        assert_true(additions > 0);
    }
}

/* What cannot be is refused with a sentence. */
static void refusals(void **state) {
    struct bench *bench = *state;
    char why[240] = "";
    gpu_vulkan_input input = gpu_vulkan_input_create(bench->lab.device, "12345678", 8, false, 0);
    assert_null(vulkan_exact_create(&bench->lab, REDUCT_F32, &input, VULKAN_EXACT_BEST, 128, why, sizeof why));
    assert_string_equal(why, "compiled for groups of 256");
    assert_null(vulkan_exact_create(&bench->lab, REDUCT_I32, &input, VULKAN_EXACT_F64, 0, why, sizeof why));
    assert_string_equal(why, "integers need no window in f64");
    gpu_vulkan_input_destroy(bench->lab.device, &input);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(f32),         cmocka_unit_test(f64),
                                       cmocka_unit_test(dot),         cmocka_unit_test(exponents),
                                       cmocka_unit_test(factors),     cmocka_unit_test(crowded),
                                       cmocka_unit_test(crowded_dot), cmocka_unit_test(i32),
                                       cmocka_unit_test(precise),     cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, start, stop);
}
