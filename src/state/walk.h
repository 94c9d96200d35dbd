/* The saved form is counted, written and read by one walk over its words, so that the three cannot disagree. All numbers are
 * little-endian. */
#ifndef RD_WALK_H
#define RD_WALK_H

#include <stddef.h>
#include <stdint.h>

struct rd_walk {
    enum { RD_COUNTING, RD_WRITING, RD_READING } doing;
    unsigned char *at; /* not used while counting */
    size_t bytes;      /* visited so far */
};

/* The low bytes of a number. */
void rd_walk_bytes(struct rd_walk *walk, uint64_t *value, int bytes);

void rd_walk_word(struct rd_walk *walk, uint64_t *value);
void rd_walk_double(struct rd_walk *walk, double *value);

#endif
