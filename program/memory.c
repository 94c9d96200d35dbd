/* Allocation that ends the program on failure; only for programs, never for the library. */
#include "program/memory.h"

#include <stdio.h>
#include <stdlib.h>

static void *or_exit(void *pointer, size_t size) {
    if (!pointer) {
        fprintf(stderr, "out of memory: %zu bytes were needed\n", size);
        exit(1);
    }
    return pointer;
}

void *program_allocate(size_t size) {
    size_t room = (size + 64) / 64 * 64; /* aligned_alloc wants a multiple of the alignment; never 0 bytes */
    return or_exit(room < size ? NULL : aligned_alloc(64, room), size);
}

void *program_reallocate(void *pointer, size_t size) {
    return or_exit(realloc(pointer, size ? size : 1), size);
}
