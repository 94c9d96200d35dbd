/* Walking over saved words. */
#include "state/walk.h"

#include <string.h>

void rd_walk_bytes(struct rd_walk *walk, uint64_t *value, int bytes) {
    if (walk->doing == RD_READING)
        *value = 0;
    for (int i = 0; i < bytes; i++) {
        if (walk->doing == RD_READING)
            *value |= (uint64_t)walk->at[i] << (8 * i);
        else if (walk->doing == RD_WRITING)
            walk->at[i] = (unsigned char)(*value >> (8 * i));
    }
    if (walk->doing != RD_COUNTING) /* where there is nothing to point to */
        walk->at += bytes;
    walk->bytes += (size_t)bytes;
}

void rd_walk_word(struct rd_walk *walk, uint64_t *value) {
    rd_walk_bytes(walk, value, 8);
}

void rd_walk_double(struct rd_walk *walk, double *value) {
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    rd_walk_word(walk, &bits);
    memcpy(value, &bits, sizeof bits);
}
