/* The state on the wire: a partial result as 64-bit words, most of which merge by adding them, so that any program that adds
 * integers for others (MPI, NCCL, a database) merges partial results. One walk over the words counts, writes and reads
 * them, so that the three cannot disagree.
 *
 * First come words that add: seen, as its low 32 bits and the rest; ignored, nans, plus_infinities, minus_infinities, nonzero;
 * and those of the family. Behind them are the family's other words, which merge by one operation. A family without words of
 * its own (struct rd_family_code) has its saved ones behind the counts, and all are merged by rd_partial_merge().
 *
 * Limbs are written as the digits of the sum's magnitude, each with its sign: below 2^32 in magnitude, so that 2^31 of them
 * add up within an int64, and zero wherever the magnitude does not reach, of negative sums too. */
#ifndef RD_WIRE_H
#define RD_WIRE_H

#include "state/partial.h"

struct rd_wire {
    enum { RD_WIRE_COUNTING, RD_WIRE_WRITING, RD_WIRE_READING } doing;
    int64_t *at;         /* not used while counting */
    size_t count, added; /* words visited so far, and those of them that add */
    reduct_merge rest;   /* how others merge */
    bool damaged;        /* a word read was none that adding could have given */
};

/* The words of a partial result, and the partial result, initialised, of words: it is untouched unless they are sound. */
reduct_status rd_words_of(const struct rd_partial *partial, int64_t *words, reduct_error *error);
reduct_status rd_partial_of(const int64_t *words, struct rd_partial *partial, reduct_error *error);

/* A word that adds. */
void rd_wire_add(struct rd_wire *wire, uint64_t *value);

/* A word that merges by `operation`; behind all that add. */
void rd_wire_rest(struct rd_wire *wire, reduct_merge operation, int64_t *value);

/* The limbs of a sum, normalised. */
void rd_wire_limbs(struct rd_wire *wire, struct rd_sum *sum);

/* The family's saved words, to be merged in order. */
void rd_wire_saved(struct rd_wire *wire, struct rd_partial *partial);

#endif
