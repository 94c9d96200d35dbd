/* Rung: accumulators.
 *
 * The idea. Eight sums in turn: none waits for another, so that eight additions are under way at once.
 *
 *     sum0 = x0 + x8  + x16 ...
 *     sum1 = x1 + x9  + x17 ...   ...and in the end sum0 + sum1 + ... + sum7
 *
 * What it fixes. The wait for the addition before: latency is hidden behind seven other additions. And, as a gift, each
 * sum is a chain of n / 8 additions, so the bound on its error is eight times smaller.
 *
 * When it loses. Nothing, but the result differs from the plain loop's in its last digits, which is why the compiler
 * did not do it unasked. (Now that the order is written down, it may put the eight sums in vectors, and does.) */
static T NAME(accumulators)(const T *x, size_t n) {
    enum { SUMS = 8 };
    T sum[SUMS] = {0};
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS)
        for (size_t j = 0; j < SUMS; j++)
            sum[j] += x[i + j];
    for (; i < n; i++)
        sum[0] += x[i];
    T total = 0;
    for (size_t j = 0; j < SUMS; j++)
        total += sum[j];
    return total;
}
