/* One execution of a plan of many on the CPU, shared by the threads that work on it: what many.c, which cuts and does the work,
 * and side.c and side_extremes.c, which have faster ways for columns and for few elements, have in common. */
#ifndef RD_JOB_H
#define RD_JOB_H

#include "core/many.h"
#include "cpu/mask.h"
#include "cpu/numbers.h"
#include "cpu/room.h"

#include <pthread.h>
#include <stdatomic.h>

struct rd_failure {
    uint64_t result;
    size_t which;
    reduct_status status;
    reduct_error error;
};

struct rd_job {
    const struct rd_many *many;
    const struct rd_execution *execution;
    size_t bytes;          /* of an element */
    bool contiguous;       /* elements of a result lie one after another */
    bool direct, together; /* so they do, and all count; results of a unit are gathered together */
    bool side, extremes;   /* sums, or extremes, of a unit are formed side by side, in rows of `row` results */
    uint64_t row;
    uint64_t tile, parts, part; /* results of a unit; parts of a result, elements of each */
    uint64_t units;
    uint64_t longest; /* a segment of more elements than this is left for all threads */
    /* Null, or of each element, as segments have them, its place in the array that the caller knows. */
    const uint64_t *places;
    const struct rd_results *made; /* or null: where results come from that were reduced elsewhere */
    struct rd_partial *partials;   /* of results in parts: by result, part, state */
    unsigned char **held;          /* by reduction: where results wait until none can fail any more; or null */
    atomic_ullong next;            /* unit */
    atomic_bool lacks_memory;
    pthread_mutex_t lock; /* of `failure` */
    struct rd_failure failure;
};

/* What a thread works with. */
struct rd_desk {
    struct rd_room *room;
    struct rd_partial *state;   /* by result of those together, state */
    unsigned char *gathered[2]; /* by input: of each result */
    struct rd_mask_room *mask;  /* where there is one */
    void *side;                 /* what side.c or side_extremes.c works in, aligned to 64 */
};

/* Where the elements of a result begin, in each input, and where the result goes. */
struct rd_source {
    const unsigned char *input[2];
    uint64_t count;
    int64_t offset, mask; /* in the results; in the mask */
};
struct rd_source rd_job_source(const struct rd_job *job, uint64_t result);

/* Reduces a part of a result in the ordinary way, and writes what comes of it where it is the only part. */
void rd_job_reduce(struct rd_job *job, const struct rd_desk *desk, uint64_t result, uint64_t part);

/* Elements after which is asked whether to stop: some tenths of a millisecond. */
enum { RD_STOPPING_STEP = 1 << 20 };

/* Whether what is left shall not be done; of a result's elements, now and then. */
bool rd_job_stops(const struct rd_job *job);
bool rd_job_stops_after(const struct rd_job *job, uint64_t done);

/* Units of columns that so many threads should find: two each, as more would leave too little of each row to a unit. */
static inline uint64_t rd_job_units(unsigned threads) {
    return threads > 1 ? 2 * threads : 1;
}

/* Columns that are a unit: as many as leave these units, but some groups of them, up to `most`, so that much of each row is read before
 * the next row. Where that leaves less than a unit for each thread, although columns are cut into so many parts, only so many columns that
 * it does not, but a multiple of `narrow`. */
static inline uint64_t rd_job_columns(uint64_t columns, uint64_t group, uint64_t most, uint64_t narrow,
                                      unsigned threads, uint64_t parts) {
    const uint64_t wanted = rd_divide_up(threads, parts),
                   groups = rd_divide_up(columns, group * rd_job_units(threads)) * group;
    if (columns < group * wanted)
        return rd_divide_up(rd_divide_up(columns, wanted), narrow) * narrow;
    return groups > most ? most : groups;
}

/* States of no elements. */
void rd_job_init_states(const struct rd_job *job, struct rd_partial *state);

/* Adds elements that lie one after another to all states of a result. */
void rd_job_add(struct rd_job *job, const struct rd_desk *desk, struct rd_partial *state, const unsigned char *x,
                const unsigned char *y, uint64_t count);

/* Copies the elements number `first` and so on of a result, in their order. `from`: its first element. */
void rd_job_gather(const struct rd_layout *layout, unsigned input, size_t bytes, const unsigned char *from,
                   uint64_t first, uint64_t count, unsigned char *to);

/* Rounds all reductions of one result from its states, and writes them. */
void rd_job_finish(struct rd_job *job, uint64_t result, int64_t offset, struct rd_partial *state);

/* Says of results of a reduction, which were written elsewhere, that they are there: of all, or of those that are 0 in `left`. */
void rd_job_succeed(const struct rd_job *job, size_t which, uint64_t first, uint64_t results, const int64_t *left);

/* Where a result is to be written: where it belongs or, unless `final`, where it waits. */
unsigned char *rd_job_place(const struct rd_job *job, uint64_t result, int64_t offset, size_t which, bool final);

#endif
