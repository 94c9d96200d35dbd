/* argmin and argmax over many chunks.
 *
 * The library finds the extreme of each chunk. What it cannot know is where a chunk's elements belong: in a file in
 * Fortran order the first element in memory is not the first in C order, by which an index counts. So the best element
 * so far is kept here, and where a chunk has one as good, all of its equals are looked at for the smallest index. */
#ifndef REDUCT_CLI_EXTREME_H
#define REDUCT_CLI_EXTREME_H

#include "readers/reader.h"

struct extreme {
    reduct_accumulator *accumulator; /* of argmin or argmax */
    reduct_type type;
    bool least; /* argmin */
    bool found;
    uint64_t rank;  /* of the best element: smaller is better */
    uint64_t index; /* of the best element, over all inputs */
    uint64_t base;  /* elements of earlier inputs */
};

/* Takes elements of the chunk in hand of a reader, or all of it: `first` of the input lie before them. */
reduct_status extreme_add(struct extreme *extreme, const struct reader *reader, const struct chunk *elements,
                          uint64_t first, reduct_error *error);

/* Takes what was found elsewhere among the same inputs. */
void extreme_merge(struct extreme *extreme, const struct extreme *other);

/* The index; fails as the library does if there is none. */
reduct_status extreme_result(struct extreme *extreme, uint64_t *index, reduct_error *error);

#endif
