/* Rung: pairwise. For floats: integer sums round nothing off.
 *
 * The idea. Sum the two halves, each by halves again, and add the two: a tree, as every GPU reduction is one. Below 128
 * elements the rung of several accumulators takes over, since a call per element would cost more than the addition.
 *
 * What it fixes. Each element passes through about log2(n) additions instead of n, and the error bound grows as slowly.
 * This is how NumPy sums.
 *
 * When it loses. Hardly: nearly as fast as several accumulators. But it is not exact, and any other cut of the data (by
 * threads, by files) gives another tree and other last digits. */
static T NAME(pairwise)(const T *x, size_t n) {
    if (n <= 128)
        return NAME(accumulators)(x, n);
    size_t half = n / 2 / 8 * 8; /* in whole turns of the accumulators */
    return NAME(pairwise)(x, half) + NAME(pairwise)(x + half, n - half);
}
