/* Sizes as people write them: 32Ki, 256 MiB. */
#ifndef PROGRAM_SIZES_H
#define PROGRAM_SIZES_H

#include <stddef.h>
#include <stdint.h>

/* Reads a whole number with an optional binary suffix (K or Ki, M or Mi, G or Gi, T or Ti, all powers of 1024; an
 * optional B after it; in either case; one space before it is fine) and stores it. Returns 0, or -1 and stores nothing
 * when `text` is anything else or too large for 64 bits. */
int program_size_parse(const char *text, uint64_t *size);

/* Writes a size in the largest binary unit that keeps it at 1 or more: "256 MiB", "1.5 KiB", "17 B". At most three
 * digits follow the point, and no zeros at the end. Returns `text`. */
char *program_size_text(uint64_t size, char *text, size_t room);

#endif
