/* Rung: kahan. For floats: integer sums round nothing off.
 *
 * The idea (William Kahan, 1965). An addition rounds, and what it rounded off can be computed from its own result: keep
 * it, and take it back from the next element.
 *
 *     y = x[i] - lost          what is to be added, less what was added too much before
 *     t = sum + y              rounds
 *     lost = (t - sum) - y     what that rounding changed, exactly as long as |sum| >= |y|
 *
 * What it fixes. The error: two units in the last place of the sum of magnitudes, nearly whatever n is.
 *
 * When it loses. Four additions in a chain instead of one make it four times slower than the plain loop. It is still
 * not exact: cancellation (1e100 + 1 - 1e100) defeats it. And a compiler that is allowed to treat real numbers as
 * associative (-ffast-math) proves that `lost` is zero, and removes it. */
static T NAME(kahan)(const T *x, size_t n) {
    T sum = 0, lost = 0;
    for (size_t i = 0; i < n; i++) {
        T y = x[i] - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    return sum;
}
