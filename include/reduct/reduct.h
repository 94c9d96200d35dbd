/* reduct: exact parallel reductions.
 *
 * A reduction turns many numbers into one: a sum, a mean, a maximum, a norm, a dot product. In the default mode every
 * floating-point sum, mean, variance, norm and dot product is correctly rounded: the infinitely precise result, rounded
 * once to the result type, ties to even. The bits therefore do not depend on the number of threads, the instruction
 * set, the device, or the order of the data.
 *
 *     double total;
 *     reduct_status status = reduct_sum_f64(values, count, &total);
 *
 * Four ways in, from short to general:
 *   1. one call per reduction: reduct_sum_f64() and its kin, at the end of this file
 *   2. a plan: a reduction, a shape and a device, checked and prepared once, executed many times
 *   3. an accumulator: a partial result to which data is added piece by piece, that can be merged with others, saved to
 *      bytes, loaded elsewhere, and rounded at the end; the answer is the one that a single pass would have given
 *   4. an operator of your own, as three functions
 *
 * Special values (floating point). Sum, mean and dot look at their terms (0 * infinity is a NaN term): any NaN gives
 * NaN, infinities of both signs give NaN, otherwise an infinity gives itself. Sums of squares and norms: NaN if any,
 * else +infinity if any infinity. Variance and standard deviation: NaN if there is any NaN or infinity. A NaN result is
 * always the canonical positive quiet NaN. Only the final value can overflow, to infinity. The sum of no elements is
 * +0, of -0 alone -0, of terms that cancel +0. min and max are IEEE 754-2019 minimum and maximum (NaN propagates, -0 <
 * +0), or minimumNumber and maximumNumber where NaN is ignored. argmin and argmax give the first index of the extreme,
 * or of the first NaN where NaN propagates. minmax gives both extremes; ptp what lies between them, rounded once, and NaN
 * where both are the same infinity. count leaves out NaNs; count_nonzero, any and all take them for not zero.
 *
 * A weighted mean is the sum of the products over that of the weights, the second array, rounded once: what IEEE 754 would give
 * for these two sums if they could be held exactly. Weights may be negative. Where they sum to zero the mean is an infinity or,
 * if the products do so too, NaN; where one is infinite it is NaN.
 *
 * Products of floats are not correctly rounded, but the same bits everywhere, in every mode: significands are multiplied
 * in binary64 in one tree that the number of elements alone defines (docs/numerics.md), exponents are added as integers,
 * and only the final value can overflow or underflow. Any NaN, or a zero and an infinity, give NaN; otherwise a zero or an
 * infinity gives itself, with the sign that all signs together make. The product of no elements is 1.
 *
 * Integers are always exact, in every mode.
 *
 * Errors. Every function that can fail returns a reduct_status and, on failure, leaves its outputs untouched, with two
 * exceptions: where an executor stops a plan's execution (REDUCT_ERROR_CALLBACK) some results may be written, and
 * reduct_cuda_execute_checked() writes many results also where some of them fail. The library never prints, exits or
 * aborts, keeps no state that a caller can see, and leaves the floating-point environment (rounding mode, flush-to-zero,
 * exception flags) as it found it, whatever that was; results do not depend on it.
 *
 * Threads. All functions may be called from any number of threads. A plan is immutable and may be executed by many
 * threads at once, each with a workspace of its own. An accumulator may be used by one thread at a time. Large arrays are
 * shared out to threads that the library creates when they are first wanted and keeps for the next call: they sleep in
 * between, block all signals but those of faults, and run on the processors of the thread that calls. A process may fork
 * at any time.
 *
 * Memory. At most 16 KiB of the calling thread's stack are used. Up to 64 elements need no other memory; more may take
 * scratch memory of some 130 KiB for each thread at work, of which a little is kept for the next call.
 */
#ifndef REDUCT_REDUCT_H
#define REDUCT_REDUCT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REDUCT_VERSION_MAJOR 0
#define REDUCT_VERSION_MINOR 1
#define REDUCT_VERSION_PATCH 0

#if defined(REDUCT_STATIC)
#define REDUCT_API
#elif defined(_WIN32)
#define REDUCT_API __declspec(dllimport)
#elif defined(__GNUC__)
#define REDUCT_API __attribute__((visibility("default")))
#else
#define REDUCT_API
#endif

/* Version of the library in use, "major.minor.patch"; the macros above are the version of this header. */
REDUCT_API const char *reduct_version(void);

/* ---------------------------------------------------------------------------------------------------------------------
 * Status
 * ------------------------------------------------------------------------------------------------------------------ */

/* What came of a call. The numbers never change. */
typedef enum reduct_status {
    REDUCT_OK = 0,
    REDUCT_ERROR_ARGUMENT = 1,      /* an argument is outside its domain, or a required pointer is null */
    REDUCT_ERROR_UNSUPPORTED = 2,   /* meaningful, but this library or device does not do it (yet) */
    REDUCT_ERROR_OUT_OF_MEMORY = 3, /* memory could not be allocated */
    REDUCT_ERROR_EMPTY = 4,         /* too few elements for the result to exist: the mean of none, a sample of one */
    REDUCT_ERROR_OVERFLOW = 5,      /* an integer result does not fit its type */
    REDUCT_ERROR_NAN = 6,           /* a NaN was found under REDUCT_NAN_ERROR */
    REDUCT_ERROR_NO_DEVICE = 7,     /* no such device here */
    REDUCT_ERROR_DEVICE_LOST = 8,   /* the device stopped working */
    REDUCT_ERROR_TOO_LARGE = 9,     /* a size that no memory could hold */
    REDUCT_ERROR_CORRUPT = 10,      /* saved bytes are damaged, cut short, or not an accumulator */
    REDUCT_ERROR_VERSION = 11,      /* saved by a newer version of the library */
    REDUCT_ERROR_MISMATCH = 12,     /* accumulators of different reductions cannot be merged */
    REDUCT_ERROR_CALLBACK = 13 /* a function of a custom operator, or stop() of an executor, returned other than 0 */
} reduct_status;

/* One sentence in English for a status; never null, also for numbers that are not a status. Static storage. */
REDUCT_API const char *reduct_status_text(reduct_status status);

/* Details of a failure, owned by the caller. Wherever a function takes a reduct_error, null is allowed. Written only
 * when the function fails. `index` is the first at fault, counted from 0, and UINT64_MAX where none of these is:
 *
 *   REDUCT_ERROR_NAN             the element that is a NaN; of a plan of many, among those of its result, as reduct_outcome has it
 *   REDUCT_ERROR_CALLBACK        the first element that a custom operator's function was given when it failed
 *   REDUCT_ERROR_ARGUMENT        the place of an index that is outside the groups; the segment that is outside its array; the
 *                                element that is to be removed and is not there; the group that reduct_table_merge() has no
 *                                place for
 *   REDUCT_ERROR_OUT_OF_MEMORY   of a table being added to or merged: the element, or the group, that there was no memory for
 *   any, of a table's results    the group whose result fails */
typedef struct reduct_error {
    reduct_status status;
    uint64_t index;       /* of what is at fault, where there is one; otherwise UINT64_MAX */
    char message[240];    /* names the argument, what was found and what was expected; always terminated */
    uint64_t reserved[4]; /* written as zero */
} reduct_error;

/* ---------------------------------------------------------------------------------------------------------------------
 * Types and operators: see reduct/types.def and reduct/operators.def, from which these expand
 * ------------------------------------------------------------------------------------------------------------------ */

/* REDUCT_F64, REDUCT_F32, REDUCT_F16, REDUCT_BF16, REDUCT_I8 to REDUCT_I64, REDUCT_U8 to REDUCT_U64, REDUCT_BOOL and, for
 * results only, REDUCT_I128, REDUCT_U128, REDUCT_I256. */
typedef enum reduct_type {
    REDUCT_DEFAULT = 0, /* as a result type: the default one of the operator and element type */
#define REDUCT_TYPE(ID, name, number, ...) REDUCT_##ID = number,
#include <reduct/types.def>
} reduct_type;

/* REDUCT_SUM, REDUCT_MEAN, REDUCT_VAR, REDUCT_STD, REDUCT_SUMSQ, REDUCT_NORM1, REDUCT_NORM2, REDUCT_NORMINF,
 * REDUCT_RMS, REDUCT_DOT, REDUCT_MIN, REDUCT_MAX, REDUCT_ARGMIN, REDUCT_ARGMAX, REDUCT_PRODUCT, REDUCT_COUNT,
 * REDUCT_COUNT_NONZERO, REDUCT_ANY, REDUCT_ALL, REDUCT_AND, REDUCT_OR, REDUCT_XOR, REDUCT_MINMAX, REDUCT_PTP,
 * REDUCT_WEIGHTED_MEAN. */
typedef enum reduct_operator {
#define REDUCT_OPERATOR(ID, name, number, ...) REDUCT_##ID = number,
#include <reduct/operators.def>
} reduct_operator;

/* Integers wider than the machine's: 64-bit words, least significant first, two's complement where signed. */
typedef struct reduct_i128 {
    uint64_t low;
    int64_t high;
} reduct_i128;
typedef struct reduct_u128 {
    uint64_t low;
    uint64_t high;
} reduct_u128;
typedef struct reduct_i256 {
    uint64_t word[4];
} reduct_i256;

/* Numbers of binary16 and of bfloat16, as their bits, since not every compiler has such types: arrays of _Float16, __fp16 or
 * __bf16 are passed with a cast of their pointer. */
typedef uint16_t reduct_f16;
typedef uint16_t reduct_bf16;

/* A truth value: anything but 0 is true, and counts as the number 1. Arrays of C's bool are passed with a cast. As a result it
 * is 0 or 1. */
typedef uint8_t reduct_bool;

/* How floating-point sums are formed. Weighted means are exact in both modes. */
typedef enum reduct_mode {
    REDUCT_EXACT = 0, /* correctly rounded */
    /* Plain hardware accumulation; the same bits run to run for the same data, split and device. On the CPU: blocks
     * of 4096 elements are summed in 32 (f32: 64) interleaved running sums of the element type, and the block sums
     * are added with compensation in f64, so that the absolute error is at most 140 u * (sum of absolute terms), u =
     * 2^-53 for f64 and 2^-24 for f32, whatever the length, unless a partial sum overflows. Elements of f16 and bf16
     * are widened to f32 first; the result is rounded to its type once more. On CUDA devices: tiles of
     * 4 to 16 elements pairwise in the element type, tiles with compensation in f64, threads and blocks in f64 in a
     * fixed order; the bound is the same. So whole arrays are summed, by plans of one reduction without a mask and by
     * accumulators; plans of rows, columns, other axes, segments or groups, with a mask, or of several reductions form exact
     * sums. Integers are exact all the same. */
    REDUCT_FAST = 1
} reduct_mode;

/* What NaN elements do. Where they propagate they make the result NaN; but for count they are absent, for count_nonzero, any and
 * all not zero. Under ignore they count as absent (also for the mean's divisor; dot and weighted_mean drop the pair). */
typedef enum reduct_nan {
    REDUCT_NAN_PROPAGATE = 0,
    REDUCT_NAN_IGNORE = 1,
    REDUCT_NAN_ERROR = 2 /* the call fails with REDUCT_ERROR_NAN and the index of the first one */
} reduct_nan;

/* Names ("f64", "sum", "exact", "propagate") and back. The name functions return null and the parsers
 * REDUCT_ERROR_ARGUMENT (leaving the output untouched) for what is not in the table; parsing is case-sensitive. */
REDUCT_API const char *reduct_type_name(reduct_type type);
REDUCT_API const char *reduct_operator_name(reduct_operator op);
REDUCT_API const char *reduct_mode_name(reduct_mode mode);
REDUCT_API const char *reduct_nan_name(reduct_nan policy);
REDUCT_API reduct_status reduct_type_parse(const char *name, reduct_type *type);
REDUCT_API reduct_status reduct_operator_parse(const char *name, reduct_operator *op);
REDUCT_API reduct_status reduct_mode_parse(const char *name, reduct_mode *mode);
REDUCT_API reduct_status reduct_nan_parse(const char *name, reduct_nan *policy);

/* One line of English; null for what is not in the table. */
REDUCT_API const char *reduct_type_text(reduct_type type);
REDUCT_API const char *reduct_operator_text(reduct_operator op);

/* Bytes of one number of a type; 0 for what is not in the table. */
REDUCT_API size_t reduct_type_size(reduct_type type);

/* 1 for the floating-point types, else 0. */
REDUCT_API int reduct_type_is_float(reduct_type type);

/* Arrays that an operator reads: 1, for dot and weighted_mean 2; 0 for what is not in the table. */
REDUCT_API int reduct_operator_inputs(reduct_operator op);

/* Values that a result consists of, one after another: 1, for minmax 2, the least first; 0 for what is not in the table. */
REDUCT_API int reduct_operator_outputs(reduct_operator op);

/* ---------------------------------------------------------------------------------------------------------------------
 * Reductions
 * ------------------------------------------------------------------------------------------------------------------ */

/* Flags of a reduction. */
enum {
    REDUCT_POPULATION = 1, /* var and std divide by n, not by n - 1 */
    REDUCT_WRAP = 2        /* an integer result that does not fit is taken modulo 2^bits instead of being an error */
};

/* What to compute. Zero-initialise it, then set what matters.
 *
 * Result types, the default first:
 *   sum, sumsq, dot, norm1       of floats: the element type, any float type
 *                                of integers: i64 for signed, u64 for unsigned elements (sumsq, norm1: u64 for both);
 *                                i64, u64, i128, u128, i256, any float type. The sum of bool counts what is true
 *   product                      of floats: the element type, any float type
 *                                of integers: i64 for signed, u64 for unsigned elements; i64, u64, i128, u128, i256. Of
 *                                bool: 1 if all are true, else 0
 *   mean, var, std, norm2, rms,  of floats: the element type, any float type; of integers: f64, any float type
 *   weighted_mean
 *   min, max, minmax             the element type: of bool whether all are true, whether any is
 *   norminf                      of floats and bool: the element type; of integers: the unsigned type of the same width
 *   ptp                          of floats: the element type, any float type; of bool: bool; of integers: the unsigned
 *                                type of the same width
 *   argmin, argmax               u64
 *   count, count_nonzero         u64
 *   any, all                     bool
 *   and, or, xor                 of integers and bool: the element type; of floats they mean nothing, and are refused
 */
typedef struct reduct_reduction {
    reduct_operator op;
    reduct_type element; /* type of the elements read */
    reduct_type result;  /* REDUCT_DEFAULT or one of the above */
    reduct_mode mode;
    reduct_nan nan;
    uint32_t flags;       /* REDUCT_POPULATION, REDUCT_WRAP */
    uint64_t reserved[4]; /* zero */
} reduct_reduction;

/* Checks a reduction and replaces REDUCT_DEFAULT by the result type that it stands for. On failure
 * (REDUCT_ERROR_ARGUMENT, REDUCT_ERROR_UNSUPPORTED) the reduction is untouched. */
REDUCT_API reduct_status reduct_reduction_resolve(reduct_reduction *reduction, reduct_error *error);

/* ---------------------------------------------------------------------------------------------------------------------
 * Plans
 * ------------------------------------------------------------------------------------------------------------------ */

/* What a plan reduces to what: one result, or many of which each is what a plan of its elements alone would give, to the last
 * bit in mode exact. CUDA devices do all kinds. Of groups they refuse products in this version. */
typedef enum reduct_kind {
    REDUCT_WHOLE = 0,    /* shape.n contiguous elements to one result; nothing else of the shape is read */
    REDUCT_SHAPE = 1,    /* as `shape` says: rows, columns, a middle axis */
    REDUCT_ARRAY = 2,    /* as `array` says: any set of axes of an array of any rank */
    REDUCT_SEGMENTS = 3, /* as `segments` says: stretches of one array, each of a length of its own */
    REDUCT_GROUPS = 4    /* as `groups` says: elements anywhere in one array, each with the number of its group */
} reduct_kind;

/* An array seen as (outer, n, inner): n is reduced away, one result remains for each of outer * inner positions, in that
 * order. The rows of a contiguous matrix are {rows, n, 1, n, 1, 0}, its columns {1, n, columns, 0, columns, 1}. Strides count
 * elements from one to the next, may be negative or zero, and are those of every input; the inputs' pointers are to the element
 * at (0, 0, 0). Any length may be 0. */
typedef struct reduct_shape {
    uint64_t outer, n, inner;
    int64_t outer_stride, stride, inner_stride;
} reduct_shape;

/* The most axes of an array. */
enum { REDUCT_RANK_MAX = 64 };

/* An array of which some axes are reduced away. Elements count in C order of the axes that are: so does the index that argmin
 * and argmax give. A plan keeps a copy of all of it. */
typedef struct reduct_array {
    unsigned rank;             /* 0 to REDUCT_RANK_MAX */
    const uint64_t *lengths;   /* of each axis */
    const int64_t *strides[2]; /* of each input: elements from one to the next, by axis, of any sign; null: C order */
    uint64_t axes;             /* bit k: axis k is reduced; all bits set: all axes are */
    /* By axis, of those that stay: results (of minmax pairs) from one to the next; null: C order. It is not checked whether
     * results lie apart: of those that share a place one stays there, or of a result of several words parts of several, and which
     * may differ from one execution to the next. */
    const int64_t *result_strides;
    const int64_t *mask_strides; /* of a mask, as those of inputs; null: C order */
    uint64_t reserved[3];        /* zero */
} reduct_array;

/* Stretches of an array, which may overlap, and be empty. With an index type: as many begins and as many ends as there are
 * segments, each an array of that type among the inputs; or one more offset than there are segments, where each ends where the
 * next begins. Without one: all have the same length, one after another. */
typedef struct reduct_segments {
    uint64_t count;       /* segments */
    uint64_t elements;    /* of the array: a segment that leaves it is an error that names it */
    reduct_type index;    /* REDUCT_I32, REDUCT_U32, REDUCT_I64 or REDUCT_U64; REDUCT_DEFAULT: all of one length */
    uint64_t length;      /* that length */
    int with_ends;        /* not 0: begins and ends; 0: offsets */
    uint64_t reserved[4]; /* zero */
} reduct_segments;

/* Groups of an array's elements, or of its rows: an index for each says which group it is of. Indices come in any order, sorted
 * or not. The elements of a group count in the array's order, after its initial value. A group of no elements has the result of
 * no elements: a sum of +0, and no minimum (REDUCT_ERROR_EMPTY).
 *
 * An index outside is one below 0 or not below `count`. Unless such are skipped, the execution fails with REDUCT_ERROR_ARGUMENT
 * and the place of the first one, and writes nothing, also where outcomes are asked for. Elements that are masked out are of no
 * group, for products of floats as well: their index may be anything. The index that argmin and argmax give, and that of a NaN,
 * is the element's place in the whole array, or its row; of a NaN among initial values it is UINT64_MAX.
 *
 * Mode fast is done as mode exact: plain sums would depend on how threads meet. */
typedef struct reduct_groups {
    uint64_t count;    /* groups: results are of number 0 to count - 1. May be 0 */
    uint64_t elements; /* of the array; with a width, rows of it: so many indices there are. May be 0 */
    reduct_type index; /* of the indices: REDUCT_U8, _U16, _U32, _U64, _I32 or _I64 */
    uint64_t
        width; /* elements to an index, side by side: an array of elements x width gives count x width results, row by row; 0
                        * counts as 1 */
    int skip; /* not 0: elements whose index is outside are left out; 0: they are an error */
    /* Not 0: the last input holds count x width values of the element type, each of which is one element more of its result, such
     * as existing results to add to. No mask is of them. Refused where a reduction is argmin or argmax, or reads two arrays. The
     * array may be that of the results, where there is one reduction with one value of the element type for each; otherwise it
     * overlaps none. */
    int with_initial;
    uint64_t reserved[4]; /* zero */
} reduct_groups;

/* How a mask says which elements count. One that is masked out is as if it were not there, except that indices count it: of a
 * pair neither is there, and in a product of floats it is a factor of 1 in its place. */
typedef enum reduct_mask {
    REDUCT_MASK_NONE = 0,  /* there is no mask: all elements count */
    REDUCT_MASK_BYTES = 1, /* a byte for each element, which counts unless that is 0 */
    REDUCT_MASK_BITS = 2   /* a bit for each, 1 if it counts: element i has bit i % 8 of byte i / 8, 1 << i % 8 */
} reduct_mask;

/* Threads of the caller's, to be used in place of the library's own, and whether calls shall go on. */
typedef struct reduct_executor {
    /* Calls task(argument) `count` times, on as many threads at once as it likes, and returns when all of these calls have
     * returned. The calls share out the work among themselves: one that comes late finds nothing left to do, so that one
     * after another will do as well. They may come on any thread, and block only for each other, and not for long. Null, where
     * there is a function below, for the library's own threads. */
    void (*run)(void *context, unsigned count, void (*task)(void *argument), void *argument);
    void *context;    /* passed on */
    unsigned threads; /* how many calls may run at once; 0 counts as 1. Of no use without run() */
    /* Null, or asked some hundred times a second while a plan is executed, or an accumulator added to, on the CPU: on any of the
     * threads that work, on several at once. Where it returns other than 0 the call gives up, and fails with
     * REDUCT_ERROR_CALLBACK; until then it shall go on to return that. */
    int (*stop)(void *context);
    uint64_t reserved[3]; /* zero */
} reduct_executor;

/* What a plan is made from. Zero-initialise it, then set what matters: {.reductions = &sum, .reduction_count = 1,
 * .shape = {.n = 1000}} is enough for a sum of 1000 numbers. */
typedef struct reduct_plan_options {
    const reduct_reduction *reductions; /* reductions of the same data in one pass; the plan keeps a copy */
    size_t reduction_count;             /* at least 1 */
    reduct_shape shape;
    /* Where it runs: null or "auto" for the CPU, or for the GPU in whose memory `example` lies; "cpu" for the best kernels of
     * this processor, "cpu:NAME" for the kernels of one instruction set, all giving the same bits: "cpu:portable",
     * "cpu:avx2", "cpu:avx512"; "cuda" or "cuda:N" for an NVIDIA GPU, to which data in host memory are streamed (see
     * reduct/cuda.h). There exact sums of floats are formed in f64 arithmetic or, on GPUs that are slow at it, in integers;
     * "cuda:N:double" and "cuda:N:integer" say which, and give the same bits. "cuda:0,1", or as many as there are, and "cuda:all" are
     * several GPUs: in exact mode the bits are those of one. */
    const char *device;
    unsigned threads; /* most threads to use; 0 for one per processor that the process may run on */
    reduct_kind kind;
    const reduct_array *array;       /* of kind REDUCT_ARRAY */
    const reduct_segments *segments; /* of kind REDUCT_SEGMENTS */
    const void *example;             /* for "auto": an address in memory of the kind that inputs will be in, or null */
    const reduct_executor
        *executor;        /* what runs the CPU's threads, or null for the library's own; the plan keeps a copy */
    reduct_mask mask;     /* which elements count. Where an element's mask lies strides say, as where it lies itself */
    uint64_t mask_offset; /* bytes, or bits, of the mask before that of the element to which inputs' pointers are */
    const reduct_groups *groups; /* of kind REDUCT_GROUPS; the plan keeps a copy */
    uint64_t reserved[5];        /* zero */
} reduct_plan_options;

typedef struct reduct_plan reduct_plan;

/* Checks everything that can be checked without data, and prepares. Destroy the plan when done; null is allowed there.
 * Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED, _NO_DEVICE, _DEVICE_LOST, _TOO_LARGE, _EMPTY or _OUT_OF_MEMORY. _EMPTY: one
 * reduction of a whole array, without a mask, that has too few elements for the operator; of all other plans executions tell. The
 * length tells, so this comes before any data is looked at: a sample variance of a single NaN under REDUCT_NAN_ERROR has no plan.
 * Where executions tell, too, too few elements come before a NaN: what counts is how many a result's row, segment, group and mask
 * leave it, NaNs among them. An accumulator refuses the NaN as it is added. */
REDUCT_API reduct_status reduct_plan_create(const reduct_plan_options *options, reduct_plan **plan,
                                            reduct_error *error);
REDUCT_API void reduct_plan_destroy(reduct_plan *plan);

/* Bytes of scratch memory that one execution needs. */
REDUCT_API size_t reduct_plan_workspace_size(const reduct_plan *plan);

/* The result type of the plan's reduction number `which`, REDUCT_DEFAULT resolved. */
REDUCT_API reduct_type reduct_plan_result_type(const reduct_plan *plan, size_t which);

/* The device and kernels that the plan runs on, such as "cpu:avx512". Valid as long as the plan. */
REDUCT_API const char *reduct_plan_device(const reduct_plan *plan);

/* Results that each reduction of the plan has: 1 for a whole array. */
REDUCT_API uint64_t reduct_plan_result_count(const reduct_plan *plan);

/* Executes a plan. `inputs`: the arrays that its reductions read, each aligned to its element type (no more is needed for full
 * speed): x, then y where one of them reads two; then, for segments with an index type, the offsets, or the begins and the ends,
 * for groups the indices; then the mask, if there is one; then the initial values of groups, if there are any. Null entries are
 * allowed only where there are no elements. `results`: one pointer per reduction, to as many results as the plan keeps, each of
 * its result type, of minmax two values each. `workspace`:
 * reduct_plan_workspace_size() bytes aligned to 64, or null, and the call allocates what it needs. Fails with
 * REDUCT_ERROR_ARGUMENT (also of a segment outside the array, or an index outside the groups), _EMPTY, _OVERFLOW, _NAN,
 * _OUT_OF_MEMORY or _DEVICE_LOST, of several results with that of the first one that fails: of the lowest number, and there of the
 * first reduction; no result is then written. Where an executor stops it, it fails with _CALLBACK, and some results may be
 * written. Synchronous. */
REDUCT_API reduct_status reduct_plan_execute(const reduct_plan *plan, const void *const *inputs, void *const *results,
                                             void *workspace, reduct_error *error);

/* What became of one result. */
typedef struct reduct_outcome {
    uint32_t status;   /* a reduct_status: REDUCT_OK, or _OVERFLOW, _NAN or _EMPTY */
    uint32_t reserved; /* 0 */
    uint64_t
        index; /* among its elements (of a group: in the whole array), of the first NaN with REDUCT_ERROR_NAN, otherwise
                        * UINT64_MAX */
} reduct_outcome;

/* The same with an outcome for each result: `outcomes` has one pointer per reduction, to as many outcomes as there are results,
 * or null. A result that fails is then no failure of the call: its values are written as NaN, of an integer type as 0, and its
 * outcome says why. Of reductions without outcomes it is, as above: the call fails with REDUCT_ERROR_EMPTY, _OVERFLOW or _NAN,
 * and no result is written. Other failures are _ARGUMENT, _OUT_OF_MEMORY, _DEVICE_LOST and _CALLBACK. */
REDUCT_API reduct_status reduct_plan_execute_each(const reduct_plan *plan, const void *const *inputs,
                                                  void *const *results, reduct_outcome *const *outcomes,
                                                  void *workspace, reduct_error *error);

/* ---------------------------------------------------------------------------------------------------------------------
 * Accumulators
 * ------------------------------------------------------------------------------------------------------------------ */

/* A partial result of at most 2^63 elements. In exact mode the order of additions and merges cannot change the result; in
 * fast mode it can, within the error bound. For argmin, argmax and product, what is added or merged counts as following
 * what is already there. */
typedef struct reduct_accumulator reduct_accumulator;

/* What an accumulator is made from. Zero-initialise it, then set what matters. */
typedef struct reduct_accumulator_options {
    const reduct_reduction *reduction; /* the accumulator keeps a copy */
    /* As in reduct_plan_options. */
    const char *device;
    unsigned threads;
    const void *example;
    const reduct_executor *executor;
    uint64_t reserved[8]; /* zero */
} reduct_accumulator_options;

/* An accumulator of no elements. Destroy it when done; null is allowed there. Fails with REDUCT_ERROR_ARGUMENT,
 * _UNSUPPORTED, _NO_DEVICE, _DEVICE_LOST or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_accumulator_create(const reduct_accumulator_options *options,
                                                   reduct_accumulator **accumulator, reduct_error *error);
REDUCT_API void reduct_accumulator_destroy(reduct_accumulator *accumulator);

/* Back to no elements. */
REDUCT_API void reduct_accumulator_reset(reduct_accumulator *accumulator);

/* Adds `count` elements of `x` (and, for dot and weighted_mean, the pairs of `x` and `y`; otherwise `y` is null). Fails with
 * REDUCT_ERROR_ARGUMENT, _NAN, _TOO_LARGE (an array that no memory could hold, or more than 2^63 elements in all),
 * _OUT_OF_MEMORY, _DEVICE_LOST or _CALLBACK (an executor stopped it); the accumulator is then as it was before the call. The index
 * of a NaN counts from the first element ever added. */
REDUCT_API reduct_status reduct_accumulator_add(reduct_accumulator *accumulator, const void *x, const void *y,
                                                uint64_t count, reduct_error *error);

/* The same of the elements that a mask lets count: what it says of element i is its entry number `offset` + i. The others are
 * seen, so that indices count them, but not counted. With REDUCT_MASK_NONE all count, `mask` is not looked at, and `offset` is 0.
 * Where `x` is in a device's memory the mask must be, too. Fails with REDUCT_ERROR_ARGUMENT, _NAN, _TOO_LARGE, _OUT_OF_MEMORY,
 * _DEVICE_LOST or _CALLBACK; the accumulator is then as it was before the call. */
REDUCT_API reduct_status reduct_accumulator_add_masked(reduct_accumulator *accumulator, const void *x, const void *y,
                                                       uint64_t count, reduct_mask kind, const void *mask,
                                                       uint64_t offset, reduct_error *error);

/* Adds all that `other` holds; `other` is unchanged, and may be the accumulator itself. Both must hold the same
 * reduction: operator, element type, mode, NaN policy and flags (the device may differ). A product of floats is merged
 * only where the result is that of a single pass: where the elements before are a multiple of 4096 times the largest
 * power of two that is not larger than the number of full blocks of 4096 in `other`, and at least 1; anything follows
 * where `other` holds nothing. So, to multiply in parts that meet, cut at multiples of a power of two that is not less than
 * the parts. Fails with REDUCT_ERROR_ARGUMENT, _MISMATCH (another reduction), _TOO_LARGE (more than 2^63 elements in all) or
 * _UNSUPPORTED (products that do not meet); the accumulator is then as it was before the call. */
REDUCT_API reduct_status reduct_accumulator_merge(reduct_accumulator *accumulator, const reduct_accumulator *other,
                                                  reduct_error *error);

/* Elements added so far; those that were masked out, and NaNs under ignore, are not counted. */
REDUCT_API uint64_t reduct_accumulator_count(const reduct_accumulator *accumulator);

/* The result so far, rounded to `type` (REDUCT_DEFAULT: the reduction's result type) and written to `result`. The
 * accumulator is unchanged and more can be added. Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED (a result type that
 * the operator does not have), _EMPTY or _OVERFLOW. */
REDUCT_API reduct_status reduct_accumulator_result(const reduct_accumulator *accumulator, reduct_type type,
                                                   void *result, reduct_error *error);

/* Saves an accumulator to bytes that any machine and any later version can load. In exact mode equal data give equal
 * bytes, however it was split, and, where the result does not depend on the order, in any order. `size`: in, the room at
 * `bytes`; out, the bytes written. With `bytes` null, only `*size` is written: the room needed. Fails with
 * REDUCT_ERROR_ARGUMENT, also when the room is too small; nothing is then written. */
REDUCT_API reduct_status reduct_accumulator_save(const reduct_accumulator *accumulator, void *bytes, size_t *size,
                                                 reduct_error *error);

/* Loads what reduct_accumulator_save() wrote, checking every field and a checksum. The bytes say which reduction it is:
 * options->reduction is null; `options` may be null itself, for device "auto". Fails with REDUCT_ERROR_CORRUPT, _VERSION,
 * _ARGUMENT, _UNSUPPORTED (this device does not do the reduction), _NO_DEVICE, _DEVICE_LOST or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_accumulator_load(const void *bytes, size_t size,
                                                 const reduct_accumulator_options *options,
                                                 reduct_accumulator **accumulator, reduct_error *error);

/* The reduction that an accumulator holds, its result type resolved. */
REDUCT_API reduct_reduction reduct_accumulator_reduction(const reduct_accumulator *accumulator);

/* ---------------------------------------------------------------------------------------------------------------------
 * Accumulators on the wire
 * ------------------------------------------------------------------------------------------------------------------ */

/* How words of accumulators merge: what adds, or takes the lesser of, integers for others (MPI, NCCL, a database) thereby merges
 * partial results. */
typedef enum reduct_merge {
    REDUCT_MERGE_ADD = 1,   /* their sum, modulo 2^64 */
    REDUCT_MERGE_LEAST = 2, /* the lesser, as signed numbers */
    REDUCT_MERGE_AND = 3,   /* bit by bit */
    REDUCT_MERGE_OR = 4,
    REDUCT_MERGE_XOR = 5,
    REDUCT_MERGE_IN_ORDER = 6 /* all words of one accumulator with all of another, by reduct_words_merge() */
} reduct_merge;

/* The words of an accumulator of some reduction. Sums of floats in mode exact and what is made of them, all sums of integers, and
 * counts have words that add. So do bits and extremes, with one word more (of minmax and ptp two) that merges by another
 * operation; those of the latter order as their elements do, or the other way round. For argmin, argmax, products of integers and
 * sums in mode fast all words merge at once, in the order of the data. Words that an exact sum has: of f64 75, of f32 18, of
 * f16 11, of integers 11; sumsq and norm2 of f64 141, var of f64 209; min 10. */
typedef struct reduct_words {
    size_t count;         /* in all */
    size_t added;         /* of these, from the first on: those that add */
    reduct_merge rest;    /* how those behind them merge; where there are none, REDUCT_MERGE_ADD */
    uint64_t reserved[4]; /* zero */
} reduct_words;

/* The words that accumulators of a reduction have; as many for all that have the same operator, element type and mode. Fails with
 * REDUCT_ERROR_ARGUMENT or _UNSUPPORTED (also of products of floats, of which only some parts meet: save, load and merge
 * those). */
REDUCT_API reduct_status reduct_reduction_words(const reduct_reduction *reduction, reduct_words *form,
                                                reduct_error *error);

/* Writes an accumulator's words. Words of up to 2^31 accumulators may be added, in any order, before they are unpacked; what was
 * unpacked and packed again counts as one. They hold all of the state but which reduction it is. Fails with REDUCT_ERROR_ARGUMENT
 * or _UNSUPPORTED. */
REDUCT_API reduct_status reduct_accumulator_pack(const reduct_accumulator *accumulator, int64_t *words,
                                                 reduct_error *error);

/* Puts what words hold, packed or merged, in the place of what the accumulator held: it must be of the reduction that they are
 * of. Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED, _TOO_LARGE (more than 2^63 elements in all) or _CORRUPT (words that no data
 * could have given); the accumulator is then as it was. */
REDUCT_API reduct_status reduct_accumulator_unpack(reduct_accumulator *accumulator, const int64_t *words,
                                                   reduct_error *error);

/* Merges, whatever the reduction: `others`, whose elements follow, into `words`. Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED
 * and, where they merge in order, _TOO_LARGE or _CORRUPT; the words are then as they were. */
REDUCT_API reduct_status reduct_words_merge(const reduct_reduction *reduction, int64_t *words, const int64_t *others,
                                            reduct_error *error);

/* ---------------------------------------------------------------------------------------------------------------------
 * States
 * ------------------------------------------------------------------------------------------------------------------ */

/* A state is an accumulator as a few plain bytes, for those who keep one for each of many groups in memory of their own, as
 * databases do in the rows of a hash table. Its results have the bits of an accumulator that holds the same elements, and what
 * was added can be taken out again, exactly, as windows and retractions need it.
 *
 * Every function is told the reduction anew, which must always be the same for a state; result type and flags may differ. All
 * operators have states but product; in mode fast they are exact. Sums, means and norm1 take 64 bytes, the others at most 128. A
 * sum keeps a window of 256 bits around the exponents that its values have, which moves as they come; where they range so widely
 * that they do not fit it, or where 2^16 of them are infinities, NaNs or -0, the state allocates a block of at most 900 bytes
 * and points to it.
 *
 * The bytes of a state must be aligned to 8. They may be moved to another address, but must not be used at both: a pointer may
 * be among them. A state whose bytes are all zero is empty; one that is no longer used must be cleared, or its block is lost. A
 * state may be used by one thread at a time.
 *
 * Functions that fail leave all states as they were. */

/* Bytes of a state. Fails with REDUCT_ERROR_ARGUMENT or _UNSUPPORTED (the operator has no states). */
REDUCT_API reduct_status reduct_state_size(const reduct_reduction *reduction, size_t *size, reduct_error *error);

/* Makes bytes, whatever they were, an empty state. Fails with REDUCT_ERROR_ARGUMENT or _UNSUPPORTED. */
REDUCT_API reduct_status reduct_state_init(const reduct_reduction *reduction, void *state, reduct_error *error);

/* Empties a state and frees its block, if it has one. Fails with REDUCT_ERROR_ARGUMENT or _UNSUPPORTED. */
REDUCT_API reduct_status reduct_state_clear(const reduct_reduction *reduction, void *state, reduct_error *error);

/* Adds `count` elements of `x` (and `y`, for dot and weighted_mean; otherwise null) to one state. Indices that argmin and argmax
 * give count from the first element that the state was ever given. Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED, _NAN,
 * _TOO_LARGE (more than 2^63 elements in a state) or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_state_add(const reduct_reduction *reduction, void *state, const void *x, const void *y,
                                          uint64_t count, reduct_error *error);

/* Adds element i to state states[i], for all i below `count`; states may come more than once. That each is there and aligned is
 * not checked. Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED, _NAN, _TOO_LARGE (of what cannot be taken out again: where a
 * state could not take all `count` elements) or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_state_add_each(const reduct_reduction *reduction, void *const *states, const void *x,
                                               const void *y, uint64_t count, reduct_error *error);

/* Takes elements out that were added before, in any order: infinities and NaNs, too. Of elements that never were there only
 * those are noticed that are infinities or NaNs, or too many. Extremes, `and` and `or` of integers cannot tell what they were
 * before: _UNSUPPORTED. Fails with REDUCT_ERROR_ARGUMENT (also of what is not there), _UNSUPPORTED, _NAN, _TOO_LARGE (an array
 * that no memory could hold) or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_state_remove(const reduct_reduction *reduction, void *state, const void *x,
                                             const void *y, uint64_t count, reduct_error *error);
REDUCT_API reduct_status reduct_state_remove_each(const reduct_reduction *reduction, void *const *states, const void *x,
                                                  const void *y, uint64_t count, reduct_error *error);

/* Adds all that `other` holds, as if its elements followed those of `state`; it is unchanged, and may be `state` itself. Fails
 * with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED, _TOO_LARGE or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_state_combine(const reduct_reduction *reduction, void *state, const void *other,
                                              reduct_error *error);

/* Elements in a state; NaNs under ignore are not counted. Fails with REDUCT_ERROR_ARGUMENT or _UNSUPPORTED. */
REDUCT_API reduct_status reduct_state_count(const reduct_reduction *reduction, const void *state, uint64_t *count,
                                            reduct_error *error);

/* The result, of the reduction's result type, and as reduct_accumulator_result() has it. Fails with REDUCT_ERROR_ARGUMENT,
 * _UNSUPPORTED, _EMPTY or _OVERFLOW. */
REDUCT_API reduct_status reduct_state_result(const reduct_reduction *reduction, const void *state, void *result,
                                             reduct_error *error);

/* Saves a state to bytes that any machine and any later version can load: some 50, and more where it has spilled. Equal data
 * give equal bytes, as for accumulators. `size`: in, the room at `bytes`; out, the bytes written. With `bytes` null, only
 * `*size` is written: the room needed. Fails with REDUCT_ERROR_ARGUMENT, also when the room is too small, or _UNSUPPORTED;
 * nothing is then written. */
REDUCT_API reduct_status reduct_state_save(const reduct_reduction *reduction, const void *state, void *bytes,
                                           size_t *size, reduct_error *error);

/* Loads what reduct_state_save() wrote into an empty state, checking every field and a checksum. Fails with
 * REDUCT_ERROR_CORRUPT, _VERSION, _MISMATCH (a state of another operator, element type or NaN policy), _ARGUMENT (also where the
 * state is not empty), _UNSUPPORTED or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_state_load(const reduct_reduction *reduction, const void *bytes, size_t size,
                                           void *state, reduct_error *error);

/* ---------------------------------------------------------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------------------------------------------------------ */

/* Accumulators for many groups, numbered from 0, of one or more reductions of the same data: what a plan of kind REDUCT_GROUPS
 * does to an array, for data that come piece by piece, and may be taken out again. Each group's results have the bits of a plan
 * of its elements alone. A group takes a state of each reduction (see above), and reductions that are finished from the same
 * state share it. Operators and modes are those that states have. For argmin and argmax, what is added or merged counts as
 * following what is already there; the index is the element's place in all that the table was ever given, whatever its group.
 *
 * A table may be used by one thread at a time; adding uses several where there is much data. Functions that fail leave it as it
 * was.
 *
 * A table of a CUDA device takes arrays in host memory, in that of the device, or some here and some there, and writes results to
 * either; no other table reads a device's memory. All functions wait until they are done. What a device has added to groups may stay in
 * its memory, that of the context that was current then, until a function needs it on the host and brings it there: so tables of any
 * devices are merged, and load what others saved. */
typedef struct reduct_table reduct_table;

/* What a table is made from. Zero-initialise it, then set what matters. */
typedef struct reduct_table_options {
    const reduct_reduction *reductions; /* of one element type; the table keeps a copy */
    size_t reduction_count;             /* at least 1 */
    uint64_t groups;                    /* to begin with */
    const char *device;                 /* as in reduct_plan_options */
    unsigned threads;
    const reduct_executor *executor; /* which tables do not ask to stop */
    uint64_t reserved[8];            /* zero */
} reduct_table_options;

/* A table of groups that hold nothing. Destroy it when done; null is allowed there. Fails with REDUCT_ERROR_ARGUMENT,
 * _UNSUPPORTED, _NO_DEVICE, _DEVICE_LOST, _TOO_LARGE or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_table_create(const reduct_table_options *options, reduct_table **table,
                                             reduct_error *error);
REDUCT_API void reduct_table_destroy(reduct_table *table);

/* Empties all groups, which stay. */
REDUCT_API void reduct_table_reset(reduct_table *table);

/* Adds groups, which hold nothing, until there are so many. Fails with REDUCT_ERROR_ARGUMENT (also where there are more already),
 * _TOO_LARGE or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_table_resize(reduct_table *table, uint64_t groups, reduct_error *error);

/* Groups; reductions, and one of them, resolved; elements that count of a group, for a reduction. 0 for what is not there, or cannot be
 * brought from a device. */
REDUCT_API uint64_t reduct_table_groups(const reduct_table *table);
REDUCT_API size_t reduct_table_reductions(const reduct_table *table);
REDUCT_API reduct_reduction reduct_table_reduction(const reduct_table *table, size_t which);
REDUCT_API uint64_t reduct_table_count(const reduct_table *table, size_t which, uint64_t group);

/* Elements with the numbers of their groups. Zero-initialise it, then set what matters. */
typedef struct reduct_table_batch {
    const void *x, *y; /* y: where a reduction reads two arrays, otherwise null */
    uint64_t count;
    const void *indices; /* the group of each element */
    reduct_type index;   /* their type: REDUCT_U8 to REDUCT_U64, REDUCT_I32 or REDUCT_I64 */
    int skip; /* not 0: elements whose index is no group are left out; 0: they are an error that names the first one */
    reduct_mask
        mask_kind; /* which elements count: what the mask says of element i is its entry number mask_offset + i */
    const void *mask;
    uint64_t mask_offset; /* 0 without a mask */
    uint64_t reserved[4]; /* zero */
} reduct_table_batch;

/* Adds elements to their groups. Indices that a mask leaves out are not looked at. Fails with REDUCT_ERROR_ARGUMENT (also of an
 * index, whose place error->index then is), _NAN (likewise), _TOO_LARGE, _DEVICE_LOST or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_table_add(reduct_table *table, const reduct_table_batch *batch, reduct_error *error);

/* Takes elements out of their groups again, as reduct_state_remove() does. Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED (some
 * reduction removes nothing), _NAN, _TOO_LARGE (the mask), _DEVICE_LOST or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_table_remove(reduct_table *table, const reduct_table_batch *batch, reduct_error *error);

/* Adds an array to one group. Fails with REDUCT_ERROR_ARGUMENT, _NAN, _TOO_LARGE, _DEVICE_LOST or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_table_add_group(reduct_table *table, uint64_t group, const void *x, const void *y,
                                                uint64_t count, reduct_error *error);

/* Adds all that another table of the same reductions holds: its group g to group mapping[g], or to group g where `mapping` is
 * null. Several may go to one. Fails with REDUCT_ERROR_ARGUMENT (also of a table to be merged with itself, and of a group that is
 * to be none of the table's: error->index names it), _MISMATCH, _TOO_LARGE (more than 2^63 elements in all), _DEVICE_LOST or
 * _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_table_merge(reduct_table *table, const reduct_table *other, const uint64_t *mapping,
                                            reduct_error *error);

/* Exchanges what two tables of the same reductions hold, with their groups; devices and threads stay where they are. It takes no memory
 * and hardly any time. Fails with REDUCT_ERROR_ARGUMENT or _MISMATCH. */
REDUCT_API reduct_status reduct_table_swap(reduct_table *table, reduct_table *other, reduct_error *error);

/* The results of reduction number `which` of `count` groups from `first` on, rounded to `type` (REDUCT_DEFAULT: the reduction's
 * result type). With outcomes, one for each group, a result that fails is no failure of the call, as in
 * reduct_plan_execute_each(); without, error->index is the first such group. Outcomes are in host memory. Fails with
 * REDUCT_ERROR_ARGUMENT, _UNSUPPORTED, _EMPTY or _OVERFLOW, and of a device's table _OUT_OF_MEMORY or _DEVICE_LOST; nothing is then
 * written. */
REDUCT_API reduct_status reduct_table_result(const reduct_table *table, size_t which, reduct_type type, uint64_t first,
                                             uint64_t count, void *results, reduct_outcome *outcomes,
                                             reduct_error *error);

/* Saves a table to bytes that any machine and any later version can load: some 30 for a sum of a group. Equal data give equal
 * bytes, as for accumulators. `size` as in reduct_accumulator_save(). Fails with REDUCT_ERROR_ARGUMENT, also when the room is
 * too small, and of a device's table _OUT_OF_MEMORY or _DEVICE_LOST; nothing is then written. */
REDUCT_API reduct_status reduct_table_save(const reduct_table *table, void *bytes, size_t *size, reduct_error *error);

/* Loads what reduct_table_save() wrote, checking every field and a checksum. The bytes say which reductions and how many groups
 * there are: options->reductions is null; `options` may be null itself. Fails with REDUCT_ERROR_CORRUPT, _VERSION, _ARGUMENT,
 * _NO_DEVICE, _DEVICE_LOST or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_table_load(const void *bytes, size_t size, const reduct_table_options *options,
                                           reduct_table **table, reduct_error *error);

/* ---------------------------------------------------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------------------------------------------------ */

/* Keys that are no numbers of groups are given some: 0, 1, 2 and so on in order of their first appearance, the same on every
 * run. The object keeps them from one batch to the next, so that a table can grow with them. Keys are integers of 32 or 64 bits;
 * what has bits of that size otherwise, as floats, is passed as these, and equal where they are. Keys may be used by one thread
 * at a time. */
typedef struct reduct_keys reduct_keys;

/* No keys, of type REDUCT_I32, REDUCT_U32, REDUCT_I64 or REDUCT_U64. Destroy them when done; null is allowed there. Fails with
 * REDUCT_ERROR_ARGUMENT or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_keys_create(reduct_type type, reduct_keys **keys, reduct_error *error);
REDUCT_API void reduct_keys_destroy(reduct_keys *keys);

/* Writes the number of each of `count` keys to `indices`, giving those that are new the next numbers. `index`: REDUCT_U32 or
 * REDUCT_U64. Fails with REDUCT_ERROR_ARGUMENT, _TOO_LARGE (numbers beyond 2^32 - 2 for u32) or _OUT_OF_MEMORY; new keys are
 * then forgotten, and what `indices` holds is of no use. */
REDUCT_API reduct_status reduct_keys_add(reduct_keys *keys, const void *array, uint64_t count, reduct_type index,
                                         void *indices, reduct_error *error);

/* The same without adding any: the number of a key that is not there is the greatest one of its type, which no group has. Fails
 * with REDUCT_ERROR_ARGUMENT. */
REDUCT_API reduct_status reduct_keys_find(const reduct_keys *keys, const void *array, uint64_t count, reduct_type index,
                                          void *indices, reduct_error *error);

/* How many there are. */
REDUCT_API uint64_t reduct_keys_count(const reduct_keys *keys);

/* Writes keys number `first` to `first` + `count` - 1, of their type. Fails with REDUCT_ERROR_ARGUMENT. */
REDUCT_API reduct_status reduct_keys_get(const reduct_keys *keys, uint64_t first, uint64_t count, void *array,
                                         reduct_error *error);

/* Writes the numbers of all keys in ascending order of these. Fails with REDUCT_ERROR_ARGUMENT or _OUT_OF_MEMORY. */
REDUCT_API reduct_status reduct_keys_order(const reduct_keys *keys, uint64_t *order, reduct_error *error);

/* Runs of equal keys, one after another, in an array that need not be sorted: writes where each begins and, after the last,
 * `count` to `offsets`, which are those of REDUCT_SEGMENTS; the key of each to `unique`; and how many there are to `runs`. With
 * room for count + 1 offsets and `count` keys it is enough; `offsets` and `unique` may be null. Fails with
 * REDUCT_ERROR_ARGUMENT. */
REDUCT_API reduct_status reduct_keys_runs(reduct_type type, const void *array, uint64_t count, uint64_t *offsets,
                                          void *unique, uint64_t *runs, reduct_error *error);

/* ---------------------------------------------------------------------------------------------------------------------
 * Operators of your own
 * ------------------------------------------------------------------------------------------------------------------ */

/* An operator as three functions over states, which are plain bytes: the library copies them with memcpy() and forgets
 * them without a word, so they should hold no pointers to what they own. Zero-initialise it, then set what matters.
 *
 * The order of the elements is kept, so that the operator need not be commutative, and the tree is one that their number
 * alone defines: blocks of 4096 elements, each folded in order from the identity; then at each level the pairs (2k, 2k +
 * 1) combined, an unpaired last one passing up as it is. The bits therefore do not depend on threads, whether the operator
 * is associative, as matrix products are, or only nearly, as additions of floats are.
 *
 * Each function returns 0, or anything else to end the reduction in failure. They run on several threads at once, on
 * states of their own but with the same context: what they write there is theirs to guard. Threads that the library
 * creates have 512 KiB of stack and the caller's floating-point environment. The functions must return: they cannot jump
 * or throw through the library. */
typedef struct reduct_custom {
    size_t element_size; /* bytes from one element to the next */
    size_t state_size;   /* bytes of a state; states are aligned to 64 */
    /* Makes `state` the identity: what combine() leaves alone, on either side. */
    int (*identity)(void *state, void *context);
    /* state = state * elements[0] * elements[1] * ... * elements[count - 1]; count is from 1 to 4096. */
    int (*accumulate)(void *state, const void *elements, size_t count, void *context);
    /* left = left * right. */
    int (*combine)(void *left, const void *right, void *context);
    void *context;                   /* passed on */
    unsigned threads;                /* most threads to use; 0 for one per processor where there is much data */
    const reduct_executor *executor; /* as in reduct_plan_options */
    uint64_t reserved[8];            /* zero */
} reduct_custom;

/* Reduces `count` elements and copies the final state to `result`: that of no elements is the identity. One allocation, of
 * at most 256 states and, per thread, one and as many as the binary logarithm of count / 2^20 says. Fails with
 * REDUCT_ERROR_ARGUMENT, _TOO_LARGE, _OUT_OF_MEMORY, or REDUCT_ERROR_CALLBACK, with what was returned by the first
 * function that failed, in the order of the elements, and the index of the first one of its block. `result` is then
 * untouched. Threads: as many calls at once as you like. */
REDUCT_API reduct_status reduct_reduce_custom(const reduct_custom *custom, const void *elements, uint64_t count,
                                              void *result, reduct_error *error);

/* ---------------------------------------------------------------------------------------------------------------------
 * One call
 * ------------------------------------------------------------------------------------------------------------------ */

/* Reduces `count` elements of type `element` at `x` (and `y`, for dot and weighted_mean; otherwise null) with default result
 * type, exactly, NaN propagating, on the CPU with as many threads as pay. Up to 64 elements need no memory. Fails with
 * REDUCT_ERROR_ARGUMENT, _UNSUPPORTED, _EMPTY, _OVERFLOW, _TOO_LARGE or _OUT_OF_MEMORY; the result is then untouched. */
REDUCT_API reduct_status reduct_reduce(reduct_operator op, reduct_type element, const void *x, const void *y,
                                       size_t count, void *result);

/* The same by name for every element type, so that the compiler checks the pointers: reduct_sum_f64(), reduct_dot_f32(),
 * reduct_max_i16() and so on. Sums and products of integers are 64 bits wide, sums of what cannot be negative unsigned; means and
 * roots of integers are double; the largest absolute value and the range are unsigned. var and std are of a sample. minmax writes
 * two values, the least first; weighted_mean takes the weights as y. */

/* What follows is written by scripts/generate from types.def and operators.def. */

/* sum: sum of the elements. */
REDUCT_API reduct_status reduct_sum_f64(const double *x, size_t count, double *result);
REDUCT_API reduct_status reduct_sum_f32(const float *x, size_t count, float *result);
REDUCT_API reduct_status reduct_sum_f16(const reduct_f16 *x, size_t count, reduct_f16 *result);
REDUCT_API reduct_status reduct_sum_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result);
REDUCT_API reduct_status reduct_sum_i8(const int8_t *x, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_sum_i16(const int16_t *x, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_sum_i32(const int32_t *x, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_sum_i64(const int64_t *x, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_sum_u8(const uint8_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_sum_u16(const uint16_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_sum_u32(const uint32_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_sum_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_sum_bool(const reduct_bool *x, size_t count, uint64_t *result);

/* mean: arithmetic mean. */
REDUCT_API reduct_status reduct_mean_f64(const double *x, size_t count, double *result);
REDUCT_API reduct_status reduct_mean_f32(const float *x, size_t count, float *result);
REDUCT_API reduct_status reduct_mean_f16(const reduct_f16 *x, size_t count, reduct_f16 *result);
REDUCT_API reduct_status reduct_mean_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result);
REDUCT_API reduct_status reduct_mean_i8(const int8_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_mean_i16(const int16_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_mean_i32(const int32_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_mean_i64(const int64_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_mean_u8(const uint8_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_mean_u16(const uint16_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_mean_u32(const uint32_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_mean_u64(const uint64_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_mean_bool(const reduct_bool *x, size_t count, double *result);

/* var: variance, of a sample (divided by n - 1) unless told otherwise. */
REDUCT_API reduct_status reduct_var_f64(const double *x, size_t count, double *result);
REDUCT_API reduct_status reduct_var_f32(const float *x, size_t count, float *result);
REDUCT_API reduct_status reduct_var_f16(const reduct_f16 *x, size_t count, reduct_f16 *result);
REDUCT_API reduct_status reduct_var_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result);
REDUCT_API reduct_status reduct_var_i8(const int8_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_var_i16(const int16_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_var_i32(const int32_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_var_i64(const int64_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_var_u8(const uint8_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_var_u16(const uint16_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_var_u32(const uint32_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_var_u64(const uint64_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_var_bool(const reduct_bool *x, size_t count, double *result);

/* std: standard deviation, the square root of the variance. */
REDUCT_API reduct_status reduct_std_f64(const double *x, size_t count, double *result);
REDUCT_API reduct_status reduct_std_f32(const float *x, size_t count, float *result);
REDUCT_API reduct_status reduct_std_f16(const reduct_f16 *x, size_t count, reduct_f16 *result);
REDUCT_API reduct_status reduct_std_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result);
REDUCT_API reduct_status reduct_std_i8(const int8_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_std_i16(const int16_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_std_i32(const int32_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_std_i64(const int64_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_std_u8(const uint8_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_std_u16(const uint16_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_std_u32(const uint32_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_std_u64(const uint64_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_std_bool(const reduct_bool *x, size_t count, double *result);

/* sumsq: sum of squares. */
REDUCT_API reduct_status reduct_sumsq_f64(const double *x, size_t count, double *result);
REDUCT_API reduct_status reduct_sumsq_f32(const float *x, size_t count, float *result);
REDUCT_API reduct_status reduct_sumsq_f16(const reduct_f16 *x, size_t count, reduct_f16 *result);
REDUCT_API reduct_status reduct_sumsq_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result);
REDUCT_API reduct_status reduct_sumsq_i8(const int8_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_sumsq_i16(const int16_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_sumsq_i32(const int32_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_sumsq_i64(const int64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_sumsq_u8(const uint8_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_sumsq_u16(const uint16_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_sumsq_u32(const uint32_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_sumsq_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_sumsq_bool(const reduct_bool *x, size_t count, uint64_t *result);

/* norm1: sum of absolute values. */
REDUCT_API reduct_status reduct_norm1_f64(const double *x, size_t count, double *result);
REDUCT_API reduct_status reduct_norm1_f32(const float *x, size_t count, float *result);
REDUCT_API reduct_status reduct_norm1_f16(const reduct_f16 *x, size_t count, reduct_f16 *result);
REDUCT_API reduct_status reduct_norm1_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result);
REDUCT_API reduct_status reduct_norm1_i8(const int8_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_norm1_i16(const int16_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_norm1_i32(const int32_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_norm1_i64(const int64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_norm1_u8(const uint8_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_norm1_u16(const uint16_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_norm1_u32(const uint32_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_norm1_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_norm1_bool(const reduct_bool *x, size_t count, uint64_t *result);

/* norm2: Euclidean norm, the root of the sum of squares. */
REDUCT_API reduct_status reduct_norm2_f64(const double *x, size_t count, double *result);
REDUCT_API reduct_status reduct_norm2_f32(const float *x, size_t count, float *result);
REDUCT_API reduct_status reduct_norm2_f16(const reduct_f16 *x, size_t count, reduct_f16 *result);
REDUCT_API reduct_status reduct_norm2_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result);
REDUCT_API reduct_status reduct_norm2_i8(const int8_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_norm2_i16(const int16_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_norm2_i32(const int32_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_norm2_i64(const int64_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_norm2_u8(const uint8_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_norm2_u16(const uint16_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_norm2_u32(const uint32_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_norm2_u64(const uint64_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_norm2_bool(const reduct_bool *x, size_t count, double *result);

/* norminf: largest absolute value. */
REDUCT_API reduct_status reduct_norminf_f64(const double *x, size_t count, double *result);
REDUCT_API reduct_status reduct_norminf_f32(const float *x, size_t count, float *result);
REDUCT_API reduct_status reduct_norminf_f16(const reduct_f16 *x, size_t count, reduct_f16 *result);
REDUCT_API reduct_status reduct_norminf_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result);
REDUCT_API reduct_status reduct_norminf_i8(const int8_t *x, size_t count, uint8_t *result);
REDUCT_API reduct_status reduct_norminf_i16(const int16_t *x, size_t count, uint16_t *result);
REDUCT_API reduct_status reduct_norminf_i32(const int32_t *x, size_t count, uint32_t *result);
REDUCT_API reduct_status reduct_norminf_i64(const int64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_norminf_u8(const uint8_t *x, size_t count, uint8_t *result);
REDUCT_API reduct_status reduct_norminf_u16(const uint16_t *x, size_t count, uint16_t *result);
REDUCT_API reduct_status reduct_norminf_u32(const uint32_t *x, size_t count, uint32_t *result);
REDUCT_API reduct_status reduct_norminf_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_norminf_bool(const reduct_bool *x, size_t count, reduct_bool *result);

/* rms: root mean square. */
REDUCT_API reduct_status reduct_rms_f64(const double *x, size_t count, double *result);
REDUCT_API reduct_status reduct_rms_f32(const float *x, size_t count, float *result);
REDUCT_API reduct_status reduct_rms_f16(const reduct_f16 *x, size_t count, reduct_f16 *result);
REDUCT_API reduct_status reduct_rms_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result);
REDUCT_API reduct_status reduct_rms_i8(const int8_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_rms_i16(const int16_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_rms_i32(const int32_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_rms_i64(const int64_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_rms_u8(const uint8_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_rms_u16(const uint16_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_rms_u32(const uint32_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_rms_u64(const uint64_t *x, size_t count, double *result);
REDUCT_API reduct_status reduct_rms_bool(const reduct_bool *x, size_t count, double *result);

/* dot: dot product of two arrays. */
REDUCT_API reduct_status reduct_dot_f64(const double *x, const double *y, size_t count, double *result);
REDUCT_API reduct_status reduct_dot_f32(const float *x, const float *y, size_t count, float *result);
REDUCT_API reduct_status reduct_dot_f16(const reduct_f16 *x, const reduct_f16 *y, size_t count, reduct_f16 *result);
REDUCT_API reduct_status reduct_dot_bf16(const reduct_bf16 *x, const reduct_bf16 *y, size_t count, reduct_bf16 *result);
REDUCT_API reduct_status reduct_dot_i8(const int8_t *x, const int8_t *y, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_dot_i16(const int16_t *x, const int16_t *y, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_dot_i32(const int32_t *x, const int32_t *y, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_dot_i64(const int64_t *x, const int64_t *y, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_dot_u8(const uint8_t *x, const uint8_t *y, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_dot_u16(const uint16_t *x, const uint16_t *y, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_dot_u32(const uint32_t *x, const uint32_t *y, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_dot_u64(const uint64_t *x, const uint64_t *y, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_dot_bool(const reduct_bool *x, const reduct_bool *y, size_t count, uint64_t *result);

/* min: smallest element. */
REDUCT_API reduct_status reduct_min_f64(const double *x, size_t count, double *result);
REDUCT_API reduct_status reduct_min_f32(const float *x, size_t count, float *result);
REDUCT_API reduct_status reduct_min_f16(const reduct_f16 *x, size_t count, reduct_f16 *result);
REDUCT_API reduct_status reduct_min_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result);
REDUCT_API reduct_status reduct_min_i8(const int8_t *x, size_t count, int8_t *result);
REDUCT_API reduct_status reduct_min_i16(const int16_t *x, size_t count, int16_t *result);
REDUCT_API reduct_status reduct_min_i32(const int32_t *x, size_t count, int32_t *result);
REDUCT_API reduct_status reduct_min_i64(const int64_t *x, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_min_u8(const uint8_t *x, size_t count, uint8_t *result);
REDUCT_API reduct_status reduct_min_u16(const uint16_t *x, size_t count, uint16_t *result);
REDUCT_API reduct_status reduct_min_u32(const uint32_t *x, size_t count, uint32_t *result);
REDUCT_API reduct_status reduct_min_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_min_bool(const reduct_bool *x, size_t count, reduct_bool *result);

/* max: largest element. */
REDUCT_API reduct_status reduct_max_f64(const double *x, size_t count, double *result);
REDUCT_API reduct_status reduct_max_f32(const float *x, size_t count, float *result);
REDUCT_API reduct_status reduct_max_f16(const reduct_f16 *x, size_t count, reduct_f16 *result);
REDUCT_API reduct_status reduct_max_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result);
REDUCT_API reduct_status reduct_max_i8(const int8_t *x, size_t count, int8_t *result);
REDUCT_API reduct_status reduct_max_i16(const int16_t *x, size_t count, int16_t *result);
REDUCT_API reduct_status reduct_max_i32(const int32_t *x, size_t count, int32_t *result);
REDUCT_API reduct_status reduct_max_i64(const int64_t *x, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_max_u8(const uint8_t *x, size_t count, uint8_t *result);
REDUCT_API reduct_status reduct_max_u16(const uint16_t *x, size_t count, uint16_t *result);
REDUCT_API reduct_status reduct_max_u32(const uint32_t *x, size_t count, uint32_t *result);
REDUCT_API reduct_status reduct_max_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_max_bool(const reduct_bool *x, size_t count, reduct_bool *result);

/* argmin: index of the first smallest element, from 0. */
REDUCT_API reduct_status reduct_argmin_f64(const double *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmin_f32(const float *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmin_f16(const reduct_f16 *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmin_bf16(const reduct_bf16 *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmin_i8(const int8_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmin_i16(const int16_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmin_i32(const int32_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmin_i64(const int64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmin_u8(const uint8_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmin_u16(const uint16_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmin_u32(const uint32_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmin_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmin_bool(const reduct_bool *x, size_t count, uint64_t *result);

/* argmax: index of the first largest element, from 0. */
REDUCT_API reduct_status reduct_argmax_f64(const double *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmax_f32(const float *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmax_f16(const reduct_f16 *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmax_bf16(const reduct_bf16 *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmax_i8(const int8_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmax_i16(const int16_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmax_i32(const int32_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmax_i64(const int64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmax_u8(const uint8_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmax_u16(const uint16_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmax_u32(const uint32_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmax_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_argmax_bool(const reduct_bool *x, size_t count, uint64_t *result);

/* product: product of the elements. */
REDUCT_API reduct_status reduct_product_f64(const double *x, size_t count, double *result);
REDUCT_API reduct_status reduct_product_f32(const float *x, size_t count, float *result);
REDUCT_API reduct_status reduct_product_f16(const reduct_f16 *x, size_t count, reduct_f16 *result);
REDUCT_API reduct_status reduct_product_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result);
REDUCT_API reduct_status reduct_product_i8(const int8_t *x, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_product_i16(const int16_t *x, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_product_i32(const int32_t *x, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_product_i64(const int64_t *x, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_product_u8(const uint8_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_product_u16(const uint16_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_product_u32(const uint32_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_product_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_product_bool(const reduct_bool *x, size_t count, uint64_t *result);

/* count: number of elements that are not NaN. */
REDUCT_API reduct_status reduct_count_f64(const double *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_f32(const float *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_f16(const reduct_f16 *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_bf16(const reduct_bf16 *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_i8(const int8_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_i16(const int16_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_i32(const int32_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_i64(const int64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_u8(const uint8_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_u16(const uint16_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_u32(const uint32_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_bool(const reduct_bool *x, size_t count, uint64_t *result);

/* count_nonzero: number of elements that are not zero. */
REDUCT_API reduct_status reduct_count_nonzero_f64(const double *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_nonzero_f32(const float *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_nonzero_f16(const reduct_f16 *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_nonzero_bf16(const reduct_bf16 *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_nonzero_i8(const int8_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_nonzero_i16(const int16_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_nonzero_i32(const int32_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_nonzero_i64(const int64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_nonzero_u8(const uint8_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_nonzero_u16(const uint16_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_nonzero_u32(const uint32_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_nonzero_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_count_nonzero_bool(const reduct_bool *x, size_t count, uint64_t *result);

/* any: logical or of the elements, 1 if any is not zero, else 0. */
REDUCT_API reduct_status reduct_any_f64(const double *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_any_f32(const float *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_any_f16(const reduct_f16 *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_any_bf16(const reduct_bf16 *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_any_i8(const int8_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_any_i16(const int16_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_any_i32(const int32_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_any_i64(const int64_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_any_u8(const uint8_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_any_u16(const uint16_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_any_u32(const uint32_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_any_u64(const uint64_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_any_bool(const reduct_bool *x, size_t count, reduct_bool *result);

/* all: logical and of the elements, 1 if none is zero, else 0. */
REDUCT_API reduct_status reduct_all_f64(const double *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_all_f32(const float *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_all_f16(const reduct_f16 *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_all_bf16(const reduct_bf16 *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_all_i8(const int8_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_all_i16(const int16_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_all_i32(const int32_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_all_i64(const int64_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_all_u8(const uint8_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_all_u16(const uint16_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_all_u32(const uint32_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_all_u64(const uint64_t *x, size_t count, reduct_bool *result);
REDUCT_API reduct_status reduct_all_bool(const reduct_bool *x, size_t count, reduct_bool *result);

/* and: bitwise and of integers. */
REDUCT_API reduct_status reduct_and_i8(const int8_t *x, size_t count, int8_t *result);
REDUCT_API reduct_status reduct_and_i16(const int16_t *x, size_t count, int16_t *result);
REDUCT_API reduct_status reduct_and_i32(const int32_t *x, size_t count, int32_t *result);
REDUCT_API reduct_status reduct_and_i64(const int64_t *x, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_and_u8(const uint8_t *x, size_t count, uint8_t *result);
REDUCT_API reduct_status reduct_and_u16(const uint16_t *x, size_t count, uint16_t *result);
REDUCT_API reduct_status reduct_and_u32(const uint32_t *x, size_t count, uint32_t *result);
REDUCT_API reduct_status reduct_and_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_and_bool(const reduct_bool *x, size_t count, reduct_bool *result);

/* or: bitwise or of integers. */
REDUCT_API reduct_status reduct_or_i8(const int8_t *x, size_t count, int8_t *result);
REDUCT_API reduct_status reduct_or_i16(const int16_t *x, size_t count, int16_t *result);
REDUCT_API reduct_status reduct_or_i32(const int32_t *x, size_t count, int32_t *result);
REDUCT_API reduct_status reduct_or_i64(const int64_t *x, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_or_u8(const uint8_t *x, size_t count, uint8_t *result);
REDUCT_API reduct_status reduct_or_u16(const uint16_t *x, size_t count, uint16_t *result);
REDUCT_API reduct_status reduct_or_u32(const uint32_t *x, size_t count, uint32_t *result);
REDUCT_API reduct_status reduct_or_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_or_bool(const reduct_bool *x, size_t count, reduct_bool *result);

/* xor: bitwise exclusive or of integers. */
REDUCT_API reduct_status reduct_xor_i8(const int8_t *x, size_t count, int8_t *result);
REDUCT_API reduct_status reduct_xor_i16(const int16_t *x, size_t count, int16_t *result);
REDUCT_API reduct_status reduct_xor_i32(const int32_t *x, size_t count, int32_t *result);
REDUCT_API reduct_status reduct_xor_i64(const int64_t *x, size_t count, int64_t *result);
REDUCT_API reduct_status reduct_xor_u8(const uint8_t *x, size_t count, uint8_t *result);
REDUCT_API reduct_status reduct_xor_u16(const uint16_t *x, size_t count, uint16_t *result);
REDUCT_API reduct_status reduct_xor_u32(const uint32_t *x, size_t count, uint32_t *result);
REDUCT_API reduct_status reduct_xor_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_xor_bool(const reduct_bool *x, size_t count, reduct_bool *result);

/* minmax: smallest and largest element. */
REDUCT_API reduct_status reduct_minmax_f64(const double *x, size_t count, double result[2]);
REDUCT_API reduct_status reduct_minmax_f32(const float *x, size_t count, float result[2]);
REDUCT_API reduct_status reduct_minmax_f16(const reduct_f16 *x, size_t count, reduct_f16 result[2]);
REDUCT_API reduct_status reduct_minmax_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 result[2]);
REDUCT_API reduct_status reduct_minmax_i8(const int8_t *x, size_t count, int8_t result[2]);
REDUCT_API reduct_status reduct_minmax_i16(const int16_t *x, size_t count, int16_t result[2]);
REDUCT_API reduct_status reduct_minmax_i32(const int32_t *x, size_t count, int32_t result[2]);
REDUCT_API reduct_status reduct_minmax_i64(const int64_t *x, size_t count, int64_t result[2]);
REDUCT_API reduct_status reduct_minmax_u8(const uint8_t *x, size_t count, uint8_t result[2]);
REDUCT_API reduct_status reduct_minmax_u16(const uint16_t *x, size_t count, uint16_t result[2]);
REDUCT_API reduct_status reduct_minmax_u32(const uint32_t *x, size_t count, uint32_t result[2]);
REDUCT_API reduct_status reduct_minmax_u64(const uint64_t *x, size_t count, uint64_t result[2]);
REDUCT_API reduct_status reduct_minmax_bool(const reduct_bool *x, size_t count, reduct_bool result[2]);

/* ptp: range of the elements, the largest less the smallest. */
REDUCT_API reduct_status reduct_ptp_f64(const double *x, size_t count, double *result);
REDUCT_API reduct_status reduct_ptp_f32(const float *x, size_t count, float *result);
REDUCT_API reduct_status reduct_ptp_f16(const reduct_f16 *x, size_t count, reduct_f16 *result);
REDUCT_API reduct_status reduct_ptp_bf16(const reduct_bf16 *x, size_t count, reduct_bf16 *result);
REDUCT_API reduct_status reduct_ptp_i8(const int8_t *x, size_t count, uint8_t *result);
REDUCT_API reduct_status reduct_ptp_i16(const int16_t *x, size_t count, uint16_t *result);
REDUCT_API reduct_status reduct_ptp_i32(const int32_t *x, size_t count, uint32_t *result);
REDUCT_API reduct_status reduct_ptp_i64(const int64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_ptp_u8(const uint8_t *x, size_t count, uint8_t *result);
REDUCT_API reduct_status reduct_ptp_u16(const uint16_t *x, size_t count, uint16_t *result);
REDUCT_API reduct_status reduct_ptp_u32(const uint32_t *x, size_t count, uint32_t *result);
REDUCT_API reduct_status reduct_ptp_u64(const uint64_t *x, size_t count, uint64_t *result);
REDUCT_API reduct_status reduct_ptp_bool(const reduct_bool *x, size_t count, reduct_bool *result);

/* weighted_mean: mean of an array, weighted by a second one. */
REDUCT_API reduct_status reduct_weighted_mean_f64(const double *x, const double *y, size_t count, double *result);
REDUCT_API reduct_status reduct_weighted_mean_f32(const float *x, const float *y, size_t count, float *result);
REDUCT_API reduct_status reduct_weighted_mean_f16(const reduct_f16 *x, const reduct_f16 *y, size_t count,
                                                  reduct_f16 *result);
REDUCT_API reduct_status reduct_weighted_mean_bf16(const reduct_bf16 *x, const reduct_bf16 *y, size_t count,
                                                   reduct_bf16 *result);
REDUCT_API reduct_status reduct_weighted_mean_i8(const int8_t *x, const int8_t *y, size_t count, double *result);
REDUCT_API reduct_status reduct_weighted_mean_i16(const int16_t *x, const int16_t *y, size_t count, double *result);
REDUCT_API reduct_status reduct_weighted_mean_i32(const int32_t *x, const int32_t *y, size_t count, double *result);
REDUCT_API reduct_status reduct_weighted_mean_i64(const int64_t *x, const int64_t *y, size_t count, double *result);
REDUCT_API reduct_status reduct_weighted_mean_u8(const uint8_t *x, const uint8_t *y, size_t count, double *result);
REDUCT_API reduct_status reduct_weighted_mean_u16(const uint16_t *x, const uint16_t *y, size_t count, double *result);
REDUCT_API reduct_status reduct_weighted_mean_u32(const uint32_t *x, const uint32_t *y, size_t count, double *result);
REDUCT_API reduct_status reduct_weighted_mean_u64(const uint64_t *x, const uint64_t *y, size_t count, double *result);
REDUCT_API reduct_status reduct_weighted_mean_bool(const reduct_bool *x, const reduct_bool *y, size_t count,
                                                   double *result);

/* Here ends what scripts/generate writes. */

#ifdef __cplusplus
}
#endif
#endif
