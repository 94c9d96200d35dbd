/* Families: reductions that keep the same state and run the same code (core/reduction.h names them). Each has one file here,
 * which says all that is particular to it on the host: what of a partial result is its own, the identity, how two meet, what
 * the result is, what is saved and what of it can be true. Everything else asks the family. How elements enter is the
 * backends' business, with a file or kernel per family each.
 *
 * A partial result's counts (seen, ignored, nans, infinities, nonzero, nan_index) belong to all families: see
 * state/partial.h, whose functions call these. */
#ifndef RD_FAMILY_H
#define RD_FAMILY_H

#include "state/partial.h"
#include "state/walk.h"
#include "state/wire.h"

struct rd_family_code {
    /* The identity. */
    void (*init)(struct rd_partial *partial);

    /* The state of `partial` with that of `other` after it, which may be the same object. Counts are still as they were. */
    void (*merge)(struct rd_partial *partial, const struct rd_partial *other);

    /* Rounds into `type`, which the reduction has, at `result`. There are as many elements as the operator needs. */
    reduct_status (*finish)(const struct rd_partial *partial, const struct rd_type *type, void *result,
                            reduct_error *error);

    /* Visits the state's saved words. */
    void (*walk)(struct rd_walk *walk, struct rd_partial *partial);

    /* Visits the state's words on the wire, behind those of the counts. Null where its saved words are merged in order. */
    void (*wire)(struct rd_wire *wire, struct rd_partial *partial);

    /* Brings the state into the one form that its data have, however they were split. Null where it is always in that form. */
    void (*canonicalise)(struct rd_partial *partial);

    /* Whether a loaded state is one that some data could have given; counts have been checked. Null where any is. */
    bool (*is_plausible)(const struct rd_partial *partial);

    /* Whether the state goes on from the one before it rather than from the identity: rd_partial_begin(). Then `alignment` is
     * what the count before must be a multiple of for `other` to follow. */
    bool continues;
    uint64_t (*alignment)(const struct rd_partial *other);
};

extern const struct rd_family_code rd_exact_sum, rd_fast_sum, rd_integer_sum, rd_extreme_family, rd_float_product,
    rd_integer_product, rd_count_family, rd_bits_family;

const struct rd_family_code *rd_family_code(const reduct_reduction *reduction);

/* What several families have in common. */

/* Writes the low bytes of a result. */
void rd_store(void *result, uint64_t bits, int bytes);

/* Writes what stands in place of a result that failed: NaNs or, of an integer type, zeros. */
void rd_store_failed(const reduct_reduction *reduction, void *result);

/* What finishing sums needs to know of them. */
struct rd_finish_room;
struct rd_total rd_total_of(struct rd_partial *partial, struct rd_finish_room *room);

/* Whether an integer fits its result type, or need not; `nor_any` if it does not fit any. */
reduct_status rd_check_fit(const struct rd_partial *partial, bool fits, const struct rd_type *type, bool nor_any,
                           reduct_error *error);

/* The same for sums of floats and of integers: limbs, and those of squares for moments. */
void rd_sums_init(struct rd_partial *partial);
void rd_sums_merge(struct rd_partial *partial, const struct rd_partial *other);
void rd_sums_walk(struct rd_walk *walk, struct rd_partial *partial);
void rd_sums_wire(struct rd_wire *wire, struct rd_partial *partial);
void rd_sums_canonicalise(struct rd_partial *partial);
bool rd_sums_are_plausible(const struct rd_partial *partial);

#endif
