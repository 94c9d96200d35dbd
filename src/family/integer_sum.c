/* Sums of integers, exact in every mode: limbs, as a number of any type that holds it. */
#include "arithmetic/finish.h"
#include "family/family.h"

#include <string.h>

static reduct_status finish(const struct rd_partial *partial, const struct rd_type *type, void *result,
                            reduct_error *error) {
    if (type->kind == RD_FLOAT)
        return rd_exact_sum.finish(partial, type, result, error);
    struct rd_partial copy = *partial; /* finishing normalises it */
    struct rd_finish_room room;
    struct rd_total total = rd_total_of(&copy, &room);
    uint64_t word[4];
    reduct_status status = rd_check_fit(partial, rd_finish_integer(&total, type, word), type, false, error);
    if (status == REDUCT_OK)
        memcpy(result, word, type->bytes);
    return status;
}

const struct rd_family_code rd_integer_sum = {.init = rd_sums_init,
                                              .merge = rd_sums_merge,
                                              .finish = finish,
                                              .walk = rd_sums_walk,
                                              .wire = rd_sums_wire,
                                              .canonicalise = rd_sums_canonicalise,
                                              .is_plausible = rd_sums_are_plausible};
