/* Exact sums of floats: limbs (arithmetic/limbs.h), rounded once. */
#include "arithmetic/finish.h"
#include "family/family.h"

static reduct_status finish(const struct rd_partial *partial, const struct rd_type *type, void *result,
                            reduct_error *error) {
    (void)error;
    struct rd_partial copy = *partial; /* finishing normalises it */
    struct rd_finish_room room;
    struct rd_total total = rd_total_of(&copy, &room);
    rd_store(result,
             total.transform == RD_MOMENTS    ? rd_finish_moments(&total, type)
             : total.transform == RD_WEIGHTED ? rd_finish_quotient(&total, type)
                                              : rd_finish_float(&total, type),
             type->bytes);
    return REDUCT_OK;
}

const struct rd_family_code rd_exact_sum = {.init = rd_sums_init,
                                            .merge = rd_sums_merge,
                                            .finish = finish,
                                            .walk = rd_sums_walk,
                                            .wire = rd_sums_wire,
                                            .canonicalise = rd_sums_canonicalise,
                                            .is_plausible = rd_sums_are_plausible};
