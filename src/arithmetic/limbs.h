/* Exact sums: fixed-point numbers wide enough for every sum of their terms, as carry-save limbs.
 *
 * Limb i is an int64 that stands for limb[i] * 2^(32 * (first + i)). In normal form every limb but the last is in [0,
 * 2^32); the last one carries the sign. Between normalisations limbs may hold more, so that adding needs no carries,
 * and adding two sums is adding integers: associative and commutative.
 *
 * Sources: U. Kulisch, "Computer Arithmetic and Validity", 2008 (the long accumulator); R. M. Neal, "Fast exact
 * summation using small and large superaccumulators", 2015 (carry-save chunks).
 */
#ifndef RD_LIMBS_H
#define RD_LIMBS_H

#include "core/tables.h"

/* src/arithmetic is compiled for the host, and for CUDA devices by including its .c files (src/cuda/kernels/finish.cuh), so
 * that there is one exact arithmetic: in these files functions are RD_SHARED, or RD_LOCAL where C would say static.
 * RD_INLINED are shared functions of which a kernel has only those ways that it can take. */
#ifdef __CUDACC__
#define RD_SHARED  static __device__ __noinline__
#define RD_INLINED static __device__ __forceinline__
#define RD_LOCAL   static __device__
#else
#define RD_SHARED
#define RD_INLINED
#define RD_LOCAL static
#endif

/* The widest sum: products of f64 span 2^-2148 to 2^2048; 132 limbs, and two for 2^63 terms. */
enum { RD_LIMBS = 134 };

__extension__ typedef __int128 rd_i128;
__extension__ typedef unsigned __int128 rd_u128;

struct rd_sum {
    int first, length; /* layout */
    int64_t pending;   /* additions since the last normalisation */
    int64_t limb[RD_LIMBS];
};

/* Zero, in the layout for sums of one element type, or of products of two such elements. */
RD_SHARED void rd_sum_init(struct rd_sum *sum, const struct rd_type *element, bool products);

/* Adds value * 2^exponent. Bits below the layout must be zero, as they are for the terms that the layout is for. */
RD_SHARED void rd_sum_add(struct rd_sum *sum, rd_i128 value, int exponent);

/* Adds x * 2^exponent; x must be finite. */
RD_SHARED void rd_sum_add_double(struct rd_sum *sum, double x, int exponent);

/* Adds x * y, exactly also where the product over- or underflows; both must be finite. */
RD_SHARED void rd_sum_add_product(struct rd_sum *sum, double x, double y);

/* Carries, so that every limb but the last is in [0, 2^32). */
RD_SHARED void rd_sum_normalise(struct rd_sum *sum);

/* Adds `other`, of the same layout, to `sum`. */
RD_SHARED void rd_sum_merge(struct rd_sum *sum, const struct rd_sum *other);

#endif
