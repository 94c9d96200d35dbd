/* The exact rung on a device, against the library: for devices on which the tests with an oracle do not run. See
 * vulkan_check.h. */
#include "ladder/vulkan_check.h"

#include "ladder/vulkan_exact.h"
#include "measure/data.h"
#include "program/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the elements are made of; `low` and `spread` are exponents as they are stored. */
typedef struct recipe {
    const char *name;
    unsigned low, spread;            /* shares of the whole range, in 1/256 */
    bool cancels, same_sign, zeros;  /* pairs x, -x; all positive; three in four are +0 or -0 */
    bool infinity, both, nan, minus; /* an infinity, two of both signs, a NaN; nothing but -0 */
} recipe;

static const recipe recipes[] = {
    {.name = "around one", .low = 124, .spread = 4},
    {.name = "positive, around one", .low = 124, .spread = 4, .same_sign = true},
    {.name = "over a fifth of the range", .low = 100, .spread = 50},
    {.name = "over the whole range", .low = 0, .spread = 255},
    {.name = "that cancel, over the whole range", .low = 0, .spread = 255, .cancels = true},
    {.name = "that cancel, around one", .low = 126, .spread = 3, .cancels = true},
    {.name = "subnormal", .low = 0, .spread = 0},
    {.name = "next to subnormal", .low = 0, .spread = 14},
    {.name = "next to overflow", .low = 240, .spread = 15},
    {.name = "that overflow", .low = 254, .spread = 1, .same_sign = true},
    {.name = "mostly zeros", .low = 120, .spread = 8, .zeros = true},
    {.name = "-0 alone", .minus = true},
    {.name = "with an infinity", .low = 100, .spread = 50, .infinity = true},
    {.name = "with infinities of both signs", .low = 100, .spread = 50, .infinity = true, .both = true},
    {.name = "with a NaN", .low = 100, .spread = 50, .infinity = true, .nan = true},
};

/* The bits of element i of a type whose fractions have so many bits. */
static uint64_t element(const recipe *r, uint64_t i, uint64_t n, unsigned fraction, uint64_t most) {
    uint64_t sign = UINT64_C(1) << (fraction == 52 ? 63 : 31), infinity = most << fraction;
    uint64_t half = n / 2, twin = r->cancels && i >= half && i < 2 * half ? i - half : i;
    uint64_t random = measure_random_at(twin), scale = (most + 1) / 256;
    uint64_t exponent = r->low * scale + (r->spread ? measure_random_at(random) % (r->spread * scale + 1) : 0);
    uint64_t bits = (exponent < most ? exponent : most - 1) << fraction | random % (UINT64_C(1) << fraction);
    if (r->minus)
        return sign;
    if (r->zeros && random >> 62)
        bits = 0;
    if (r->infinity && i == n / 3)
        return infinity;
    if (r->both && i == n / 2)
        return sign | infinity;
    if (r->nan && i == n - 1)
        return infinity | 1;
    bool negative = r->cancels ? twin != i : !r->same_sign && random >> 61 & 1;
    return negative ? sign | bits : bits;
}

/* What is reduced: f32 or f64, and for a dot product of f32 a second array. */
typedef struct problem {
    reduct_type type, result;
    uint64_t n, piece_most;
    void *values, *others; /* others: null for sums */
} problem;

static void fill(const recipe *r, reduct_type type, uint64_t n, void *to) {
    for (uint64_t i = 0; i < n; i++) {
        uint64_t f64 = type == REDUCT_F64 ? element(r, i, n, 52, 2047) : 0;
        uint32_t f32 = type == REDUCT_F32 ? (uint32_t)element(r, i, n, 23, 255) : 0;
        if (type == REDUCT_F64)
            memcpy((uint64_t *)to + i, &f64, sizeof f64);
        else
            memcpy((uint32_t *)to + i, &f32, sizeof f32);
    }
}

/* The bits of what the library makes of it. */
static uint64_t by_library(const problem *p) {
    const reduct_reduction reduction = {
        .op = p->others ? REDUCT_DOT : REDUCT_SUM, .element = p->type, .result = p->result};
    reduct_accumulator *sum = NULL;
    uint64_t bits = 0;
    if (reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &reduction, .device = "cpu"}, &sum,
                                  NULL) != REDUCT_OK ||
        reduct_accumulator_add(sum, p->values, p->others, p->n, NULL) != REDUCT_OK ||
        reduct_accumulator_result(sum, p->result, &bits, NULL) != REDUCT_OK)
        bits = UINT64_C(0xa5a5a5a5a5a5a5a5);
    reduct_accumulator_destroy(sum);
    return bits;
}

/* Twice, since a run must leave behind what the next one needs. */
static bool agrees(vulkan_lab *lab, vulkan_exact *exact, uint64_t expected, char *why, size_t room) {
    for (int run = 0; exact && run < 2; run++) {
        uint64_t got = 0;
        vulkan_exact_run(exact, 0);
        vulkan_exact_result(exact, &got);
        const char *error = gpu_vulkan_error(lab->device);
        if (got == expected && !error)
            continue;
        snprintf(why, room, "%016" PRIx64 " instead of %016" PRIx64 " %s", got, expected, error ? error : "");
        return false;
    }
    return exact != NULL;
}

static void check_windows(vulkan_lab *lab, const problem *p, const char *data, check_count *tally) {
    uint64_t bytes = p->n * reduct_type_size(p->type), expected = by_library(p);
    gpu_vulkan_input other = {0}, input = gpu_vulkan_input_create(lab->device, p->values, bytes, false, p->piece_most);
    if (p->others)
        other = gpu_vulkan_input_create(lab->device, p->others, bytes, false, p->piece_most);
    for (vulkan_exact_window window = VULKAN_EXACT_F64; window <= VULKAN_EXACT_U32; window++) {
        char why[300];
        if (window == VULKAN_EXACT_F64 && !lab->facts->f64)
            continue;
        vulkan_exact *exact = p->others ? vulkan_exact_create_dot(lab, &input, &other, window, why, sizeof why)
                                        : vulkan_exact_create(lab, p->type, &input, window, 0, why, sizeof why);
        bool right = agrees(lab, exact, expected, why, sizeof why);
        right ? tally->passed++ : tally->failed++;
        if (!right)
            printf("WRONG  exact %s %s, %" PRIu64 " %s, window in %s, pieces of %" PRIu64 ": %s\n",
                   p->others ? "dot" : "sum", reduct_type_name(p->type), p->n, data,
                   window == VULKAN_EXACT_F64 ? "f64" : "32-bit integers", p->piece_most, why);
        vulkan_exact_destroy(exact);
    }
    gpu_vulkan_input_destroy(lab->device, &other);
    gpu_vulkan_input_destroy(lab->device, &input);
}

/* Sums of f32 and of f64; and the dot product of f32 with the data of another recipe. */
static void check(vulkan_lab *lab, const recipe *r, const recipe *other, uint64_t n, uint64_t piece_most,
                  check_count *tally) {
    problem p = {.n = n, .piece_most = piece_most, .values = program_allocate(n * sizeof(double))};
    char data[100];
    for (int wide = 0; wide < 2; wide++) {
        p.type = p.result = wide ? REDUCT_F64 : REDUCT_F32;
        fill(r, p.type, n, p.values);
        check_windows(lab, &p, r->name, tally);
    }
    p.type = REDUCT_F32;
    p.others = program_allocate(n * sizeof(float));
    fill(r, p.type, n, p.values);
    fill(other, p.type, n, p.others);
    snprintf(data, sizeof data, "%s, times those %s", r->name, other->name);
    check_windows(lab, &p, data, tally);
    free(p.others);
    free(p.values);
}

void vulkan_check_exact(vulkan_lab *lab, bool quick, check_count *tally) {
    static const uint64_t sizes[] = {1, 2, 5, 1023, 4097, 100003, 3000017, 20000003};
    size_t count = sizeof sizes / sizeof *sizes - (quick ? 2 : 0), known = sizeof recipes / sizeof *recipes;
    for (size_t i = 0; i < known; i++)
        for (size_t s = 0; s < count && !gpu_vulkan_error(lab->device); s++) /* every other size in pieces */
            check(lab, &recipes[i], &recipes[(i + s) % known], sizes[s], s % 2 ? 0 : 256 + sizes[s] / 1024 * 1024,
                  tally);
}
