/* Arrays that are written, as NumPy's .npy. */
#ifndef REDUCT_CLI_OUTPUTS_H
#define REDUCT_CLI_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "message.h"

/* The most that are written at once, and room for the lengths of an array in text. */
enum { OUTPUTS_MOST = 32, OUTPUT_SHAPE = 2048 };

struct output {
    const char *path; /* "-" is standard output */
    const char *type; /* as NumPy names it */
    char shape[OUTPUT_SHAPE];
    const void *data;
    size_t bytes;
    /* Those of outputs.c. */
    char *place;  /* the file that is replaced: where the path leads; null where it is written as it is */
    char *beside; /* the name under which it is written first */
    bool made;    /* there is a file of that name */
};

/* Writes them all. A file is written beside the one that was there, and takes its place, its mode and, if it may, its owner when
 * all are complete, so that what fails leaves what was there. What is no file, such as a device or a pipe, is written as it is. */
enum outcome outputs_write(struct output *outputs, size_t count);

/* Removes what is not complete; for a handler of signals, as it calls nothing that may not be called there. */
void outputs_abandon(void);

#endif
