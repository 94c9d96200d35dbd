/* What the kernels of one instruction set offer the CPU backend, and the scratch memory that they share with it.
 *
 * There is one table per instruction set, made by including kernels/template.h in a file compiled with that set's
 * flags. */
#ifndef RD_KERNELS_H
#define RD_KERNELS_H

#include "state/partial.h"

/* Elements per block of the exact sums: data and scratch of one block stay in the first-level cache. Elements that
 * go straight into a window are verified in spans, so that looking at the flags costs nothing next to adding. */
enum { RD_BLOCK = 1024, RD_SPAN = 4096 };

/* The most lanes that the kernels keep, and the most slices. */
enum { RD_LANES = 32, RD_SLICES = 3 };

/* How a window is held: closed, in 1 to RD_SLICES slices, or in bins, for blocks whose exponents range too widely. */
enum { RD_CLOSED = 0, RD_BINNED = RD_SLICES + 1 };

/* Sums by sign and exponent, for terms whose exponents range too widely for windows. */
struct rd_bins {
    _Alignas(
        64) uint64_t elements[2 * 2048]; /* by exponent: sums of significands, modulo 2^64; then the negative ones */
    rd_u128 products[2 * 1024];          /* by four exponents: sums of products of significands; the negative ones */
    size_t entered;                      /* products since their bins were last emptied */
};

/* An exact running sum of doubles: a verified window over a long accumulator (docs/how-it-works.md). */
struct rd_window {
    _Alignas(64) union {
        double lane[RD_SLICES][RD_LANES];   /* kernels that verify by flags: running sums */
        int64_t units[RD_SLICES][RD_LANES]; /* portable kernels: sums in units of the slice */
    };
    double magic[RD_SLICES];  /* what the lanes of a slice started from */
    double factor[RD_SLICES]; /* what the input of a slice is multiplied by, where kernels scale */
    int scale[RD_SLICES];     /* exponent of what one in a lane stands for */
    int level;                /* RD_CLOSED, slices in use, or RD_BINNED */
    int lowest;               /* the level to try first */
    size_t added;             /* elements since the level was taken */
    size_t held;              /* elements since slices were last brought home */
    size_t after;             /* bytes of the array behind the block that comes next, which may be read ahead */
    struct rd_sum *sum;       /* where it all goes */
};

/* What exact sums of floats work in. The arrays are aligned to 64 bytes and hold as many elements as are added at a time, at
 * most RD_BLOCK. */
struct rd_scratch {
    struct rd_partial *partial; /* what all adds up to */
    struct rd_window terms,
        squares;             /* of moments: the elements and their squares; weighted: the weights and the products;
                                      * otherwise only terms */
    struct rd_window errors; /* rounding errors of f64 products */
    double *tail[2];         /* the last elements, of their own type, filled up with zeros */
    double *clean[2];        /* elements, widened, what is not finite taken out */
    double *product[2];      /* products and their rounding errors */
    struct rd_bins *bins;    /* for what no window holds; null where that goes straight into the sums instead */
    size_t beyond;           /* bytes of the array behind what is added */
    bool elements_ready;     /* the bins of elements, of products have been cleared once */
    bool products_ready;
};

/* An extreme of a block: of the elements the lowest or highest one, or the largest of their absolute values. */
enum rd_extreme { RD_LOWEST, RD_HIGHEST, RD_LARGEST };

struct rd_found {
    uint64_t bits;
    bool nan; /* the block holds a NaN; then the bits are of no use */
};

/* How elements become keys, of which the largest is wanted; the index of the first of them. */
struct rd_keys {
    enum rd_extreme which;
    bool is_float, ignore_nan;
    uint64_t first, nan_bits;
};

/* Results that are summed side by side, each in a lane: high + low, exactly, unless something is lost. */
enum { RD_SIDE = 64 };
struct rd_side {
    _Alignas(64) double high[RD_SIDE], low[RD_SIDE];
    int64_t lost[RD_SIDE]; /* 0: nothing */
};

/* What is made of sums side by side: of products (squares, too), what rounding left of these, and terms, each of so many elements (`count`);
 * terms are of use for variances only, of which `freedom` is what the sum of squared deviations is divided by. Both have at most 26
 * bits for these. `signs`: products may come to -0. */
struct rd_side_finish {
    const struct rd_side *terms, *products, *errors;
    enum rd_finish finish;
    bool signs;
    const double *count, *freedom;
};

/* How elements, their absolute values or their squares are summed side by side on trust: in one slice, which is enough for floats
 * that lie near each other, or in two, which hold terms below the transform of 2^(exponent + 1). */
struct rd_trial {
    int slices, exponent;
    bool single, absolute, square;
    bool fresh; /* nothing was added to the sums before */
    bool zeros; /* some sums came to zero */
};

/* What trials work in: for each RD_SIDE results. */
struct rd_trial_sum {
    _Alignas(64) double high[RD_SIDE], low[RD_SIDE];
};

/* How numbers are cut into two integers: the high one in units of magic[0] / (1.5 * 2^52), the low one of magic[1] / (1.5 *
 * 2^52), where they are below `limit` and multiples of the low unit. */
struct rd_slices {
    double magic[2], limit;
};

/* What is said of numbers that were cut: some did not fit, or were not finite; some were -0. */
enum { RD_SPLIT_ODD = 1, RD_SPLIT_MINUS_ZERO = 2 };

/* A sum close by: in units, and what is left; it is at most `slack` from the truth. */
struct rd_close {
    int64_t units;
    double rest, slack;
};

struct rd_kernels {
    const char *name; /* of the device: "cpu:avx2" */

    /* Whether the processor, or what emulates it, computes and raises flags as the kernels assume. */
    bool (*self_test)(void);

    /* Exact sums of floating-point elements, by element type: adds the transform of `count` elements to the windows and the partial
     * result. finish() brings everything home into the partial result. Run within rd_environment_enter(). */
    void (*add[RD_TYPE_END])(struct rd_scratch *scratch, enum rd_transform transform, const void *x, const void *y,
                             size_t count);
    void (*finish)(struct rd_scratch *scratch);

    /* The exact sum of 1 to RD_BRIEF elements, of narrower ones than f64 to RD_BRIEF_NARROW, or of their absolute values, as high + low,
     * without scratch memory. False where that does not hold it, or something is not finite. Run within rd_environment_enter(). */
    bool (*brief[RD_TYPE_END])(const void *x, size_t count, bool absolute, double *high, double *low);

    /* The same of the products of 1 to `most_products` elements, RD_FEW at least, or the squares where `y` is `x`, as the sum of four
     * parts. */
    size_t most_products;
    bool (*brief_products[RD_TYPE_END])(const void *x, const void *y, size_t count, double part[4]);

    /* Sums of products, of squares, or of elements and of their squares (RD_TIMES, RD_SQUARE, RD_MOMENTS), of at most RD_CLOSE elements,
     * in units of 2^unit[0], those of the squares of moments in 2^unit[1], from 2^-900 to 2^900: close by, in less than half of the time
     * that exact ones take; coarse, of elements narrower than f64, to some units. False where units are too small, or something is not
     * finite; `found` is then of no use. By element type, null where there is no such way. Run within rd_environment_enter(). */
    bool (*close[RD_TYPE_END])(enum rd_transform transform, bool coarse, const void *x, const void *y, size_t count,
                               const int unit[2], struct rd_close found[2]);

    /* Sums side by side: adds rows of RD_SIDE elements, `step` elements from one row to the next, or of their absolute
     * values. Run within rd_environment_enter(). fold: of rows of so many elements makes 2 * side_lanes doubles each,
     * aligned to 64 bytes, of the same sum, unless something is lost. hold: makes sums of high * 2^bits + low units, of 12 to 50
     * bits; those that are too large are lost. round: rounds all lanes once, or these divided by a `count` each, if that
     * is not null, to doubles or floats at `to`, aligned to 64 bytes; `left` is 0 for those of which the result is
     * that; true where it is so for all. finish: the same of what is made of several sums. fetch: makes rows of RD_SIDE
     * doubles, lane l of row i of element i * step + l * beside, of at most RD_SIDE lanes; others stay as they are. All arrays of
     * RD_SIDE are aligned to 64 bytes. */
    void (*add_side_f64)(struct rd_side *side, const void *x, ptrdiff_t step, size_t rows, bool absolute);
    void (*add_side_f32)(struct rd_side *side, const void *x, ptrdiff_t step, size_t rows, bool absolute);
    size_t side_lanes;
    void (*fold_side_f64)(const void *x, ptrdiff_t step, size_t rows, size_t count, bool absolute, double *to,
                          int64_t *lost);
    void (*fold_side_f32)(const void *x, ptrdiff_t step, size_t rows, size_t count, bool absolute, double *to,
                          int64_t *lost);
    void (*hold_side)(const int64_t *high, const int64_t *low, int bits, double unit, struct rd_side *side);
    bool (*round_side)(const struct rd_side *side, const double *count, bool single, void *to, int64_t *left);
    bool (*finish_side)(const struct rd_side_finish *how, bool single, void *to, int64_t *left);
    void (*fetch_f64)(const void *x, ptrdiff_t step, ptrdiff_t beside, size_t rows, size_t lanes, double *to);
    void (*fetch_f32)(const void *x, ptrdiff_t step, ptrdiff_t beside, size_t rows, size_t lanes, double *to);

    /* The same faster, on trust; null where there is no such way. Each adds to `side` and, what rounding leaves of squares of doubles, to
     * `errors`, otherwise null; or is false, and adds nothing. Zeros lose their sign: if there are any, `zeros` is set. try_columns: the sums of RD_SIDE
     * columns are `apart` structures from those of the next ones; `room` is for twice as many. try_rows: at most RD_SIDE rows of `count` elements that lie
     * one after another. */
    bool (*try_columns)(struct rd_trial *trial, struct rd_side *side, struct rd_side *errors, size_t apart,
                        size_t columns, const void *x, ptrdiff_t step, size_t rows, struct rd_trial_sum *room);
    bool (*try_rows)(struct rd_trial *trial, struct rd_side *side, struct rd_side *errors, const void *x,
                     ptrdiff_t step, size_t rows, size_t count, struct rd_trial_sum room[2]);

    /* The same of columns of few elements, all of them at once: high[c] + low[c] is the sum of column c. `high` and `low`
     * are aligned to 64 bytes, and have room for a multiple of RD_SIDE columns; `low` is not written in one slice. In one
     * slice of doubles the sum is rounded: of at most two rows, that is once. round_columns: rounds them, divided or not as
     * above, to doubles or floats at `to`; `low` may be null, for 0. False if some are left that are not simple to round,
     * with those of no use. */
    bool (*brief_columns)(const struct rd_trial *trial, const void *x, ptrdiff_t step, size_t rows, size_t columns,
                          double *high, double *low);
    bool (*round_columns)(const double *high, const double *low, size_t columns, double count, bool single, void *to);

    /* product[i] + error[i] = x[i] * y[i], `count` a multiple of RD_LANES, these aligned to 64 bytes; false if one of these might not
     * hold, or a product is not finite. Run within rd_environment_enter(). */
    bool (*multiply)(const double *x, const double *y, size_t count, double *product, double *error);

    /* Exact sums of integers, by element type. */
    void (*add_integer[RD_TYPE_END])(struct rd_partial *partial, enum rd_transform transform, const void *x,
                                     const void *y, size_t count);

    /* Fast sums of at most RD_FAST_BLOCK elements, in the element type's arithmetic. */
    double (*fast_f64)(enum rd_transform transform, const double *x, const double *y, size_t count);
    double (*fast_f32)(enum rd_transform transform, const float *x, const float *y, size_t count);

    /* Mean and sum of squared deviations of at most RD_FAST_BLOCK elements; `room` holds as many. */
    double (*fast_moments_f64)(const double *x, size_t count, double *room, double *mean);
    double (*fast_moments_f32)(const float *x, size_t count, double *room, double *mean);

    /* Elements of 16 bits as floats, by element type. Run within rd_environment_enter(). */
    void (*to_floats[RD_TYPE_END])(const void *x, size_t count, float *to);

    /* The product of one block of RD_PRODUCT_BLOCK floats, by element type. False if one of them is zero, infinite, NaN or, of f64,
     * a subnormal number; `factor` is then of no use. So many bytes of the array come after the block. Run within rd_environment_enter(). */
    bool (*multiply_block[RD_TYPE_END])(const void *x, size_t after, struct rd_factor *factor);

    /* Products of integers, by element type. `wrap` as in rd_whole_multiply(). */
    void (*multiply_integer[RD_TYPE_END])(struct rd_whole *whole, const void *x, size_t count, bool wrap);

    /* An extreme of at least one element, by element type. Run within rd_environment_enter(). */
    void (*extreme[RD_TYPE_END])(const void *x, size_t count, enum rd_extreme which, struct rd_found *found);

    /* How many elements are zero; how many are NaN, of floats only. By element type. Run within rd_environment_enter(). */
    size_t (*zeros[RD_TYPE_END])(const void *x, size_t count);
    size_t (*nans[RD_TYPE_END])(const void *x, size_t count);

    /* And, or, exclusive or of all elements, of so many bytes each; not of bool. */
    uint64_t (*bits)(const void *x, size_t count, size_t bytes, enum rd_combine combine);

    /* Extremes side by side, by element type, null where there are none: puts the key of each column of `rows` rows, `step`
     * elements from one to the next, or of each row of `count` elements, into `best` where it is greater, and its index into
     * `index`, unless that is null; where keys->first is 0, whatever was there. Keys are as wide as elements. `room`: for
     * two elements of each column. bits_of_keys: what elements of these keys are, or absolute values; NaNs are
     * keys->nan_bits. True if there are some: where NaNs are ignored, results without an element. */
    void (*extreme_columns[RD_TYPE_END])(const struct rd_keys *keys, const void *x, ptrdiff_t step, size_t rows,
                                         size_t columns, void *room, void *best, uint64_t *index);
    void (*extreme_rows[RD_TYPE_END])(const struct rd_keys *keys, const void *x, ptrdiff_t step, size_t rows,
                                      size_t count, void *best, uint64_t *index);
    bool (*bits_of_keys[RD_TYPE_END])(const struct rd_keys *keys, const void *best, size_t count, void *to);

    /* Cuts terms into pairs of integers, by element type; pairs of those that do not fit are of no use. Of integers, in units of 2^32 and 1. At most
     * RD_PAIRS more than `count` are written. Terms: elements, absolute values; of floats but f64 and of integers of at most 32 bits also squares and products.
     * Run within rd_environment_enter(). */
    unsigned (*split[RD_TYPE_END])(const struct rd_slices *slices, enum rd_transform transform, const void *x,
                                   const void *y, size_t count, int64_t (*pair)[2]);

    /* The greatest of numbers, 0 of none. */
    uint32_t (*greatest)(const uint32_t *x, size_t count);

    /* Copies numbers, of which the upper half is lost; the greatest of them, 0 of none, UINT64_MAX where something is lost. */
    uint64_t (*narrow)(const uint64_t *x, size_t count, uint32_t *to);

    /* Moves elements of so many bytes whose bits are set together, and returns how many they are; beyond these as much as 64 bytes may
     * be written. Bits beyond the last element are 0. */
    size_t (*pack)(const void *x, const uint64_t *keep, size_t count, size_t bytes, void *to);

    /* The index of the first of `count` elements that has these bits, of bool this value, or `count`. */
    size_t (*find)(const void *x, size_t count, uint64_t bits, reduct_type element);
};

enum {
    RD_FAST_BLOCK = 4096,
    RD_BRIEF = 4096,
    RD_BRIEF_NARROW = 1 << 14,
    RD_FEW = 512,
    RD_PAIRS = 8,
    RD_CLOSE = 1 << 15
};

extern const struct rd_kernels rd_kernels_portable;
#ifdef RD_X86
extern const struct rd_kernels rd_kernels_avx2, rd_kernels_avx512;
#endif

#endif
