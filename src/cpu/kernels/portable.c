/* Kernels in plain C, for any processor, and for those whose exception flags cannot be trusted (emulators).
 *
 * The window verifies without flags. A slice is a running sum that stays in the binade of 1.5 * 2^52 units, so that
 * adding a term rounds it to whole units: t = S + r, q = t - S, and what remains is r - q, exactly (the error of an
 * addition is representable, and q is a multiple of the unit below 2^53 units). The block is exact if every t stayed in
 * its binade and nothing remained after the last slice. Each block starts the slices afresh and adds them up in
 * integers, so the window as such never runs out of room.
 */
#if __FLT_EVAL_METHOD__ != 0
#error "exact sums need double arithmetic in double precision: compile with -msse2 -mfpmath=sse or the like"
#endif

#include "core/environment.h"
#define KERNELS          rd_kernels_portable
#define KERNELS_DEVICE   "cpu:portable"
#define SIDE_BYTES       16
#define SIDE_MINUS(a, b) ((a) - (b))

#include "cpu/kernels.h"

#include "cpu/kernels/elements.h"

#include <math.h>
#include <string.h>

/* Lanes of this window. A lane adds at most 2^10 terms per span. More lanes than keep the adders busy gain nothing, except
 * in WebAssembly, whose compilers do not unroll: there 32 take two thirds of the time of 4. */
#ifdef __wasm__
enum { LANES = 32 };
#else
enum { LANES = 4 };
#endif
enum { HEAD = 12, STEP = 41 };

_Static_assert(RD_SPAN / LANES <= 1 << (HEAD - 2), "terms below 2^(52 - HEAD) units keep a slice in its binade");
_Static_assert(RD_SPAN / LANES <= 1 << (51 - STEP), "so do remainders of half a unit, 2^STEP times the next one");

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static bool window_open(struct rd_window *w, int level, int e, bool negative) {
    (void)negative; /* slices start afresh with each block, so they do not drift */
    int unit = e + 1 - (52 - HEAD);
    if (unit + 52 > 1022)
        return false;
    for (int k = 0; k < level; k++, unit -= STEP) {
        if (unit < -1074)
            unit = -1074;
        w->scale[k] = unit;
        w->magic[k] = ldexp(1.5, 52 + unit);
        memset(w->units[k], 0, sizeof w->units[k]);
    }
    w->level = level;
    return true;
}

/* One block in `slices` slices, a constant. */
static inline __attribute__((always_inline)) bool add_block(struct rd_window *w, const void *x, size_t n, int slices,
                                                            reduct_type element, bool absolute) {
    double slice[RD_SLICES][LANES];
    uint64_t strayed[RD_SLICES][LANES] = {{0}}, remains[LANES] = {0};
    for (int k = 0; k < slices; k++)
        for (int j = 0; j < LANES; j++)
            slice[k][j] = w->magic[k];
    for (size_t i = 0; i < n; i += LANES)
        for (int j = 0; j < LANES; j++) {
            double rest = rd_element_value(element, x, i + (size_t)j);
            if (absolute)
                rest = fabs(rest);
            for (int k = 0; k < slices; k++) {
                double sum = slice[k][j] + rest;
                rest -= sum - slice[k][j];
                slice[k][j] = sum;
                strayed[k][j] |= bits_of(sum) ^ bits_of(w->magic[k]);
            }
            remains[j] |= bits_of(rest) << 1; /* the sign of a zero does not matter */
        }
    uint64_t bad = 0;
    for (int j = 0; j < LANES; j++) {
        bad |= remains[j];
        for (int k = 0; k < slices; k++)
            bad |= strayed[k][j] >> 52;
    }
    if (bad)
        return false;
    for (int k = 0; k < slices; k++)
        for (int j = 0; j < LANES; j++)
            w->units[k][j] += (int64_t)(bits_of(slice[k][j]) - bits_of(w->magic[k]));
    return true;
}

static void window_flush(struct rd_window *w) {
    for (int k = 0; k < w->level; k++)
        for (int j = 0; j < LANES; j++) {
            rd_sum_add(w->sum, w->units[k][j], w->scale[k]);
            w->units[k][j] = 0;
        }
}

/* x = high + low, 26 bits each: G. W. Veltkamp, 1968; see T. J. Dekker, "A floating-point technique for extending the
 * available precision", 1971. Exact for |x| < 2^996. */
static inline double high_half(double x) {
    double c = 134217729.0 * x; /* 2^27 + 1 */
    return c - (c - x);
}

/* Dekker's product. Exact if the factors can be split, the product is below 2^1022 (halves that were rounded up overflow
 * a little earlier than it does), and its error, a multiple of 2^-104 of it, is not below the subnormals; or if a factor
 * is zero. */
static bool multiply_exactly(const double *x, const double *y, size_t n, double *product, double *error) {
    const uint64_t splittable = (uint64_t)(1023 + 996) << 53, smallest = (uint64_t)(1023 - 968) << 53,
                   largest = (uint64_t)(1023 + 1022) << 53;
    uint64_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        double p = x[i] * y[i];
        double xh = high_half(x[i]), xl = x[i] - xh, yh = high_half(y[i]), yl = y[i] - yh;
        product[i] = p;
        error[i] = ((xh * yh - p) + xh * yl + xl * yh) + xl * yl;
        uint64_t a = bits_of(x[i]) << 1, b = bits_of(y[i]) << 1, c = bits_of(p) << 1;
        bad |= (a >= splittable) | (b >= splittable) | (((c < smallest) | (c >= largest)) & (a != 0) & (b != 0));
    }
    return !bad;
}

#ifdef __aarch64__
/* Sums close by: see cpu/kernels/close.h. */
#include <arm_neon.h>
#define HAS_CLOSE
#define BARRIER(v)           __asm__ volatile("" : "+w"(v)::"memory")
#define close_fused(a, b, c) (doubles) vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b))
#define close_quietly        close_fused
#define close_rest(a, b, c)  -(doubles)vfmsq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b))
#define close_flags_clear()  false
#endif

#include "cpu/kernels/template.h"
