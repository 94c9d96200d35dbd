/* The kernels, once per instruction set. A file cpu/kernels/NAME.c is compiled with that set's flags, refuses to
 * compile without them, and before including this header defines:
 *
 *   KERNELS         the table to define, such as rd_kernels_avx2
 *   KERNELS_DEVICE  its device name, such as "cpu:avx2"
 *
 *   window_open(w, level, e, negative)
 *       sets w->level and prepares so many slices for terms below 2^(e + 1) in magnitude, most of them negative or not;
 *       false if exponents do not reach that far
 *   add_block(w, x, n, slices, element, absolute)
 *       always inline; adds to so many slices n elements of a floating-point type, n a multiple of RD_LANES, or
 *       their absolute values; true if that was exact, otherwise `w` is as it was. No NaN or infinity passes as exact
 *   window_flush(w)
 *       brings the slices home to w->sum; the window stays open, holding zero
 *   multiply_exactly(x, y, n, product, error)
 *       product[i] + error[i] = x[i] * y[i], n a multiple of RD_LANES, product and error aligned to 64 bytes; false if
 *       one of these might not hold, or a product is not finite
 *   add_product_block(w, errors, x, y, n, element, square)
 *       optional, with HAS_PRODUCT_BLOCK: adds products, squares where `y` is `x`, to two slices of a window, and the rounding errors
 *       of those of doubles to two of another; as add_block()
 *   brief(x, n, element, absolute, high, low)
 *       optional, with HAS_BRIEF, of a set that verifies by flags: always inline; `brief` of cpu/kernels.h, of more than FEW elements
 *   brief_products(x, y, n, element, square, part)
 *       optional, with HAS_BRIEF_PRODUCTS: the same of products, RD_BRIEF at most
 *
 *   sum_in_halves(x, n, absolute)
 *       optional, with HAS_HALVES: always inline; the sum of n f32, a multiple of RD_LANES, or of their absolute values, in the lanes of a vector, for
 *       processors that do halves (cpu/features.h)
 *
 *   HAS_CLOSE, HAS_TRIALS
 *       optional: what cpu/kernels/close.h, trial.h say
 *
 * Everything else is in the files included here, one for each family: plain C that the compiler vectorises for the set. They
 * share one scope and come in this order.
 */
#include "core/environment.h"
#include "cpu/kernels.h"

#include <string.h>

#include "cpu/kernels/common.h"

#include "cpu/kernels/bins.h"
#include "cpu/kernels/close.h"
#include "cpu/kernels/count.h"
#include "cpu/kernels/exact_sum.h"

#include "cpu/kernels/integer_sum.h"

#include "cpu/kernels/extreme.h"
#include "cpu/kernels/extreme_side.h"
#include "cpu/kernels/fast_sum.h"
#include "cpu/kernels/few.h"
#include "cpu/kernels/float_product.h"
#include "cpu/kernels/integer_product.h"
#include "cpu/kernels/pack.h"
#include "cpu/kernels/side.h"
#include "cpu/kernels/side_finish.h"
#include "cpu/kernels/split.h"
#ifdef HAS_TRIALS
#include "cpu/kernels/trial.h"
#endif

#define HIDE(array) __asm__ volatile("" ::"r"(array) : "memory")

/* A window must take what it can hold and refuse what it cannot. Emulators exist that never raise a flag. */
static bool self_test(void) {
    static const struct {
        double added;
        bool fits;
    } cases[] = {{0x1p-80, true}, {0x1p-200, false}, {__builtin_inf(), false}, {__builtin_nan(""), false}};
    struct rd_window w;
    struct rd_sum sum;
    w.sum = &sum;
    w.after = 0;
    bool passed = true;
    rd_environment caller = rd_environment_enter();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        _Alignas(64) double x[2 * RD_LANES] = {1 + 0x1p-50, [RD_LANES] = cases[i].added}; /* both in the first lane */
        HIDE(x); /* or compilers work it all out beforehand, and no flag is ever raised */
        rd_sum_init(&sum, rd_type(REDUCT_F64), false);
        passed &= window_open(&w, 2, 0, false) && window_block(&w, x, 2 * RD_LANES, REDUCT_F64, false) == cases[i].fits;
    }
    _Alignas(64) double factors[RD_LANES] = {0x1.1p0, 0x1p-600}, product[RD_LANES], error[RD_LANES];
    HIDE(factors);
    passed &= !multiply_exactly(factors, factors, RD_LANES, product, error);
    factors[1] = 0;
    HIDE(factors);
    passed &= multiply_exactly(factors, factors, RD_LANES, product, error);
#ifdef HAS_CLOSE
    /* And a multiply-add must round once. */
    double x[] = {1 + 0x1p-30};
    struct rd_close found[2];
    HIDE(x);
    passed &= close_f64(RD_SQUARE, false, x, x, 1, (const int[]){-20, 0}, found) && found[0].units == 1 << 20 &&
              found[0].rest == 0x1p-29 + 0x1p-60;
#endif
    rd_environment_leave(caller);
    return passed;
}

#define INTEGERS(entry)                                                                                                \
    [REDUCT_I8] = entry##_i8, [REDUCT_I16] = entry##_i16, [REDUCT_I32] = entry##_i32, [REDUCT_I64] = entry##_i64,      \
    [REDUCT_U8] = entry##_u8, [REDUCT_U16] = entry##_u16, [REDUCT_U32] = entry##_u32, [REDUCT_U64] = entry##_u64,      \
    [REDUCT_BOOL] = entry##_bool
#define FLOATS(entry)                                                                                                  \
    [REDUCT_F64] = entry##_f64, [REDUCT_F32] = entry##_f32, [REDUCT_F16] = entry##_f16, [REDUCT_BF16] = entry##_bf16
/* Types that have keys: bool, of which one value has many forms, has none. */
#define KEYED(entry)                                                                                                   \
    [REDUCT_I8] = entry##_i8, [REDUCT_I16] = entry##_i16, [REDUCT_I32] = entry##_i32, [REDUCT_I64] = entry##_i64,      \
    [REDUCT_U8] = entry##_u8, [REDUCT_U16] = entry##_u16, [REDUCT_U32] = entry##_u32, [REDUCT_U64] = entry##_u64,      \
    FLOATS(entry)

const struct rd_kernels KERNELS = {
    .name = KERNELS_DEVICE,
    .self_test = self_test,
    .add = {FLOATS(add)},
    .finish = finish,
    .add_side_f64 = add_side_f64,
    .add_side_f32 = add_side_f32,
    .fold_side_f64 = fold_side_f64,
    .fold_side_f32 = fold_side_f32,
    .side_lanes = SIDE_LANES,
#ifdef HAS_TRIALS
    .try_columns = try_columns,
    .try_rows = try_rows,
    .brief_columns = brief_columns,
    .round_columns = round_columns,
#endif
    .hold_side = hold_side,
    .round_side = round_side,
    .finish_side = finish_side,
    .fetch_f64 = fetch_side_f64,
    .fetch_f32 = fetch_side_f32,
    .multiply = multiply_exactly,
    .brief = {FLOATS(brief)},
    .most_products = MOST_PRODUCTS,
    .brief_products = {FLOATS(brief_products)},
#ifdef HAS_CLOSE
    .close = {FLOATS(close)},
#endif
    .add_integer = {INTEGERS(add)},
    .fast_f64 = fast_f64,
    .fast_f32 = fast_f32,
    .fast_moments_f64 = fast_moments_f64,
    .fast_moments_f32 = fast_moments_f32,
    .to_floats = {[REDUCT_F16] = to_floats_f16, [REDUCT_BF16] = to_floats_bf16},
    .multiply_block = {FLOATS(multiply)},
    .multiply_integer = {INTEGERS(multiply)},
    .extreme = {INTEGERS(extreme), FLOATS(extreme)},
    .zeros = {[REDUCT_F64] = count_zeros_f64,
              [REDUCT_F32] = count_zeros_f32,
              [REDUCT_F16] = count_zeros_half,
              [REDUCT_BF16] = count_zeros_half,
              [REDUCT_BOOL] = count_zeros_8,
              [REDUCT_I8] = count_zeros_8,
              [REDUCT_I16] = count_zeros_16,
              [REDUCT_I32] = count_zeros_32,
              [REDUCT_I64] = count_zeros_64,
              [REDUCT_U8] = count_zeros_8,
              [REDUCT_U16] = count_zeros_16,
              [REDUCT_U32] = count_zeros_32,
              [REDUCT_U64] = count_zeros_64},
    .nans = {[REDUCT_F64] = count_nans_f64,
             [REDUCT_F32] = count_nans_f32,
             [REDUCT_F16] = count_nans_f16,
             [REDUCT_BF16] = count_nans_bf16},
    .bits = combine_bits,
    .extreme_columns = {KEYED(extreme_columns)},
    .extreme_rows = {KEYED(extreme_rows)},
    .bits_of_keys = {KEYED(bits_of_keys)},
    .split = {INTEGERS(split), FLOATS(split)},
    .greatest = greatest_number,
    .narrow = narrow_numbers,
    .pack = pack,
    .find = find,
};
