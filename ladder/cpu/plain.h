/* Rung: plain.
 *
 * The idea. One loop, one sum, as everyone writes it first.
 *
 *     sum = ((((x0 + x1) + x2) + x3) + x4) ...
 *
 * What it costs. Every addition needs the result of the one before, and a floating-point addition takes three to five
 * cycles: the processor, which could do eight or more per cycle, waits. The compiler may not help: floating-point
 * addition is not associative, so any other order could be another result. Integers it may reorder, and at -O3 it
 * does: there, this loop is already a vector loop.
 *
 * How wrong. Each element can be rounded in up to n - 1 additions: the error bound grows with n. Once the sum is 2^24
 * times larger than the elements, an f32 sum no longer changes at all.
 *
 * When it wins. When n is small, or nobody waits. It is the clearest. */
static T NAME(plain)(const T *x, size_t n) {
    T sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}
