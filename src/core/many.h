/* Plans of more than one whole array to one result: several reductions of the same data, or several results of each. */
#ifndef RD_MANY_H
#define RD_MANY_H

#include "core/backend.h"
#include "core/layout.h"

struct rd_many {
    size_t reductions, states;
    reduct_reduction *reduction; /* resolved */
    size_t *state_of;            /* which state each of them is finished from: a sum and a mean share one */
    struct rd_prepared *state;
    struct rd_layout layout;  /* of segments with an index type and of groups, only `results` is of use */
    reduct_segments segments; /* of these */
    reduct_groups groups;     /* of these; the width is at least 1 */
    unsigned inputs;          /* 2 if any reduction reads two */
    reduct_mask mask;         /* which elements count */
    uint64_t mask_offset;     /* entries of the mask before that of the first element */
    void *kept;               /* the backend's own */
    bool is_whole; /* of one array to one result: where executions are queued, a failure leaves that as it is */
    bool splits;   /* the elements of a result may be reduced in parts that are merged in order */
};

/* What an execution reads and writes. */
struct rd_execution {
    const unsigned char *input[2];
    const void *begins, *ends; /* of segments: with offsets, `ends` is null */
    const void *indices;       /* of groups */
    const void *mask;          /* or null */
    const void *initial;       /* of groups, or null */
    void *const *results;
    reduct_outcome *const *outcomes; /* null, or with null entries, where a failure is the call's */
};

/* Checks options that make a plan of many, and prepares it. To be released. */
reduct_status rd_many_make(const reduct_plan_options *options, const struct rd_place *place, struct rd_many **many,
                           reduct_error *error);
void rd_many_release(struct rd_many *many);

/* Whether the state of reduction `a` holds all that reduction `b` is finished from. */
bool rd_state_covers(const reduct_reduction *a, const reduct_reduction *b);

/* Whether the data can make results of a reduction fail. */
bool rd_many_may_fail(const struct rd_many *many, size_t which);

/* Whether segments have bounds of their own. */
static inline bool rd_many_is_segmented(const struct rd_many *many) {
    return many->segments.index != REDUCT_DEFAULT;
}

/* Whether elements have the number of their group. */
static inline bool rd_many_is_grouped(const struct rd_many *many) {
    return many->groups.index != REDUCT_DEFAULT;
}

/* Elements of each input that may be read: where it is 0 the input may be null. */
static inline uint64_t rd_many_elements(const struct rd_many *many) {
    return rd_many_is_segmented(many) ? many->segments.elements
           : rd_many_is_grouped(many) ? many->groups.elements * many->groups.width
           : many->layout.results     ? many->layout.count
                                      : 0;
}

#endif
