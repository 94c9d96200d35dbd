/* The exact rung on a device, against the library: for devices where tests cannot bring their oracle. See vulkan_check.h. */
#include "ladder/vulkan_check.h"

#include "ladder/vulkan_exact.h"
#include "measure/memory.h"

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

static uint64_t mix(uint64_t i) { /* the finaliser of splitmix64, as in ladder.c */
    uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The bits of element i of a type whose fractions have so many bits. */
static uint64_t element(const recipe *r, uint64_t i, uint64_t n, unsigned fraction, uint64_t most) {
    uint64_t sign = UINT64_C(1) << (fraction == 52 ? 63 : 31), infinity = most << fraction;
    uint64_t half = n / 2, twin = r->cancels && i >= half && i < 2 * half ? i - half : i;
    uint64_t random = mix(twin), scale = (most + 1) / 256;
    uint64_t exponent = r->low * scale + (r->spread ? mix(random) % (r->spread * scale + 1) : 0);
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

static void library_sum(reduct_type type, const void *values, uint64_t n, void *sum) {
    if (reduct_reduce(REDUCT_SUM, type, values, NULL, n, sum) != REDUCT_OK)
        memset(sum, 0xa5, reduct_type_size(type));
}

/* Twice, since a run must leave behind what the next one needs. */
static bool agrees(vulkan_lab *lab, reduct_type type, const measure_vulkan_input *input, vulkan_exact_window window,
                   const void *expected, char *why, size_t room) {
    bool right = true;
    vulkan_exact *exact = vulkan_exact_create(lab, type, input, window, 0, why, room);
    for (int run = 0; exact && right && run < 2; run++) {
        uint64_t got = 0, wanted = 0;
        memcpy(&wanted, expected, reduct_type_size(type));
        vulkan_exact_run(exact, 0);
        vulkan_exact_result(exact, &got);
        right = got == wanted && !measure_vulkan_error(lab->device);
        if (!right)
            snprintf(why, room, "%016" PRIx64 " instead of %016" PRIx64 " %s", got, wanted,
                     measure_vulkan_error(lab->device) ? measure_vulkan_error(lab->device) : "");
    }
    vulkan_exact_destroy(exact);
    return exact && right;
}

static void check(vulkan_lab *lab, const recipe *r, reduct_type type, uint64_t n, uint64_t piece_most,
                  unsigned long *passed, unsigned long *failed) {
    char why[300];
    uint64_t bytes = n * reduct_type_size(type), expected = 0;
    void *values = measure_allocate(bytes);
    fill(r, type, n, values);
    library_sum(type, values, n, &expected);
    measure_vulkan_input input = measure_vulkan_input_create(lab->device, values, bytes, false, piece_most);
    for (vulkan_exact_window window = VULKAN_EXACT_F64; window <= VULKAN_EXACT_U32; window++) {
        if (window == VULKAN_EXACT_F64 && !lab->facts->f64)
            continue;
        if (agrees(lab, type, &input, window, &expected, why, sizeof why)) {
            ++*passed;
            continue;
        }
        printf("WRONG  exact %s, %" PRIu64 " %s, window in %s, pieces of %" PRIu64 ": %s\n", reduct_type_name(type), n,
               r->name, window == VULKAN_EXACT_F64 ? "f64" : "32-bit integers", piece_most, why);
        ++*failed;
    }
    measure_vulkan_input_destroy(lab->device, &input);
    free(values);
}

void vulkan_check_exact(vulkan_lab *lab, bool quick, unsigned long *passed, unsigned long *failed) {
    static const uint64_t sizes[] = {1, 2, 5, 1023, 4097, 100003, 3000017, 20000003};
    size_t count = sizeof sizes / sizeof *sizes - (quick ? 2 : 0);
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        for (size_t s = 0; s < count && !measure_vulkan_error(lab->device); s++)
            for (int wide = 0; wide < 2; wide++) /* every other size in pieces */
                check(lab, &recipes[i], wide ? REDUCT_F64 : REDUCT_F32, sizes[s],
                      s % 2 ? 0 : 256 + sizes[s] / 1024 * 1024, passed, failed);
}
