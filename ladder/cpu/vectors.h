/* Rung: vectors.
 *
 * The idea. One instruction adds a whole vector of numbers: 4 f32 with what every x86-64 has, 8 with AVX2, 16 with
 * AVX-512. Eight vectors are summed in turn, for the same reason as eight numbers on the rung before.
 *
 * What it fixes. Arithmetic is no longer what limits: data in the nearest cache are read as fast as the processor can
 * load, and data in memory as fast as one core can ask for them. Only more cores, or fewer bytes, help from here on.
 *
 * When it loses. An instruction that the processor does not have ends the program. So this file is compiled once per
 * instruction set, and the one to run is chosen when it runs. */
typedef T NAME(vector) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));

static T NAME(vectors)(const T *x, size_t n) {
    enum { VECTORS = 8, LANES = VECTOR_BYTES / sizeof(T), STEP = VECTORS * LANES };
    NAME(vector) sum[VECTORS] = {{0}};
    size_t i = 0;
    for (; i + STEP <= n; i += STEP)
        for (size_t j = 0; j < VECTORS; j++)
            sum[j] += *(const NAME(vector) *)(x + i + j * LANES);
    T total = 0;
    for (; i < n; i++)
        total += x[i];
    for (size_t j = 0; j < VECTORS; j++)
        for (size_t lane = 0; lane < LANES; lane++)
            total += sum[j][lane];
    return total;
}
