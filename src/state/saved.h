/* The saved form of a partial result.
 *
 * All numbers are little-endian: bytes 0-7 magic, 8-11 version, 12-15 total size, 16-20 op, element, result, mode, nan, 21-23
 * zero, 24-27 flags, 28-31 zero; then 64-bit words: seen, ignored, nans, plus_infinities, minus_infinities, nonzero, and those
 * of the family, in the order of its walk():
 *   sums of integers, and exact sums   the limbs, normalised (for var and std also those of the squares; for weighted_mean those of
 *                                      the weights, then those of the products)
 *   fast sums                          high, low as f64 bits
 *   extremes                           found, bits of the extreme, index, index of the first NaN; where both extremes are wanted
 *                                      the extreme is the least, and last come the bits of the greatest
 *   counts                             how many
 *   bits                               these, those above an element's being zero; of any and all one
 *   products of floats                 1 if negative + 2 if there was a zero + 4 if an infinity, exponent (128 bits), lanes,
 *                                      subtrees (arithmetic/product.h)
 *   products of integers               1 if negative + 2 if beyond 256 bits, magnitude (256 bits)
 * last the FNV-1a hash of all that precedes (G. Fowler, L. C. Noll, K.-P. Vo, 1991).
 */
#ifndef RD_SAVED_H
#define RD_SAVED_H

#include "state/partial.h"
#include "state/walk.h"

#include <stddef.h>

/* Bytes of the saved form. */
size_t rd_saved_size(const struct rd_partial *partial);

/* Writes them. Equal data give equal bytes, however they were split, where the result does not depend on the order. */
void rd_saved_write(const struct rd_partial *partial, unsigned char *bytes);

/* Reads and checks them. */
reduct_status rd_saved_read(const void *bytes, size_t size, struct rd_partial *partial, reduct_error *error);

/* Visits a reduction in 16 bytes, as the header above has it. */
void rd_saved_walk_reduction(struct rd_walk *walk, reduct_reduction *reduction);

/* The FNV-1a hash. */
uint64_t rd_saved_hash(const unsigned char *bytes, size_t size);

#endif
