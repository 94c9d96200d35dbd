/* The CPU's ladder for the browser: ways to add up an f32 array, from the plain loop to pairwise sums with vectors. The
 * last rung, the exact sum, is the library, which is in the same module. docs/ladder/cpu.md explains each; ladder/cpu/ has
 * them for every processor. */
#include <stddef.h>
#include <wasm_simd128.h>

#define RUNG(name) __attribute__((export_name("ladder_" #name))) float ladder_##name(const float *x, size_t n)

RUNG(plain);
RUNG(accumulators);
RUNG(vectors);
RUNG(kahan);
RUNG(pairwise);

/* One loop, one sum: every addition waits for the one before. */
float ladder_plain(const float *x, size_t n) {
    float sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* Eight sums in turn: none waits for another. */
float ladder_accumulators(const float *x, size_t n) {
    enum { SUMS = 8 };
    float sum[SUMS] = {0}, total = 0;
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t k = 0; k < SUMS; k++)
            sum[k] += x[i + k];
    for (; i < n; i++)
        total += x[i];
    for (size_t k = 0; k < SUMS; k++)
        total += sum[k];
    return total;
}

/* Eight vectors of four: one instruction adds four numbers, and eight are under way. */
float ladder_vectors(const float *x, size_t n) {
    enum { VECTORS = 8, LANES = 4, STEP = VECTORS * LANES };
    v128_t sum[VECTORS];
    for (size_t k = 0; k < VECTORS; k++)
        sum[k] = wasm_f32x4_splat(0);
    size_t i = 0;
    for (; i + STEP <= n; i += STEP)
        for (size_t k = 0; k < VECTORS; k++)
            sum[k] = wasm_f32x4_add(sum[k], wasm_v128_load(x + i + k * LANES));
    for (size_t k = VECTORS / 2; k > 0; k /= 2)
        for (size_t j = 0; j < k; j++)
            sum[j] = wasm_f32x4_add(sum[j], sum[j + k]);
    float total = 0;
    for (; i < n; i++)
        total += x[i];
    return total + ((wasm_f32x4_extract_lane(sum[0], 0) + wasm_f32x4_extract_lane(sum[0], 1)) +
                    (wasm_f32x4_extract_lane(sum[0], 2) + wasm_f32x4_extract_lane(sum[0], 3)));
}

/* One loop that carries along what each addition rounded off (William Kahan, 1965). */
float ladder_kahan(const float *x, size_t n) {
    float sum = 0, lost = 0;
    for (size_t i = 0; i < n; i++) {
        float y = x[i] - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    return sum;
}

/* Halves of halves, so that rounding errors grow with log n; short pieces by vectors, since a call per element would
 * cost more than the addition. */
float ladder_pairwise(const float *x, size_t n) {
    if (n <= 512)
        return ladder_vectors(x, n);
    size_t half = n / 2 / 32 * 32; /* whole turns of the vectors */
    return ladder_pairwise(x, half) + ladder_pairwise(x + half, n - half);
}
