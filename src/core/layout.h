/* Where the elements of each result lie: kinds of plans as axes that stay and axes that are reduced, checked, and with all that
 * can be one axis made one. */
#ifndef RD_LAYOUT_H
#define RD_LAYOUT_H

#include <reduct/reduct.h>

#include <stdbool.h>

/* Strides and offsets are of two inputs and, last, of the mask. */
enum { RD_MASK = 2, RD_ARRAYS = 3 };

struct rd_axis {
    uint64_t length;
    int64_t stride[RD_ARRAYS]; /* in elements; of axes that stay, below, also of the results */
    int64_t result_stride;
};

/* Axes are outermost first, and longer than 1. */
struct rd_layout {
    unsigned kept_axes, reduced_axes;
    struct rd_axis kept[REDUCT_RANK_MAX], reduced[REDUCT_RANK_MAX];
    uint64_t results, count;  /* results, and elements of each: the products of the lengths */
    int64_t first[RD_ARRAYS]; /* from an input's pointer to the first element, where axes were turned round */
};

/* Where an element, or a result, lies. */
struct rd_offsets {
    int64_t input[RD_ARRAYS], result;
};

/* Of kinds REDUCT_WHOLE, REDUCT_SHAPE, REDUCT_ARRAY, and of segments of one length. `bytes`: of an element; `inputs` that are read.
 * Fails where an argument is wrong or no memory could hold what it says. */
reduct_status rd_layout_make(const reduct_plan_options *options, size_t bytes, unsigned inputs,
                             struct rd_layout *layout, reduct_error *error);

/* Puts the reduced axes into the order in which they lie in memory, and turns round those that run backwards: for reductions to
 * which the order of elements means nothing. */
void rd_layout_reorder(struct rd_layout *layout);

/* Where result number `at` lies, and its first element. */
struct rd_offsets rd_layout_result(const struct rd_layout *layout, uint64_t at);

/* Goes through the elements of a result in their order, by runs along the innermost axis that is reduced. */
struct rd_cursor {
    uint64_t place[REDUCT_RANK_MAX]; /* by axis */
    int64_t offset[RD_ARRAYS];       /* from the result's first element */
};

/* To element number `first`. */
void rd_cursor_start(const struct rd_layout *layout, uint64_t first, struct rd_cursor *cursor);

/* Elements of the run that are left, at most `most`. */
uint64_t rd_cursor_run(const struct rd_layout *layout, const struct rd_cursor *cursor, uint64_t most);

/* On by so many, at most to the end of the run. */
void rd_cursor_advance(const struct rd_layout *layout, uint64_t by, struct rd_cursor *cursor);

/* Elements from one of a run to the next. */
static inline int64_t rd_cursor_step(const struct rd_layout *layout, unsigned input) {
    return layout->reduced_axes ? layout->reduced[layout->reduced_axes - 1].stride[input] : 0;
}

#endif
