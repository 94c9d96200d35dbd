/* Memory for programs: where there is none, they say so and stop. */
#ifndef PROGRAM_MEMORY_H
#define PROGRAM_MEMORY_H

#include <stddef.h>

/* `size` bytes aligned to 64, to be freed with free(); never null. When there is no memory, the program ends with a
 * message on standard error and status 1. */
void *program_allocate(size_t size);

/* `pointer` (or null) grown or shrunk to `size` bytes, on the same terms but without the alignment. */
void *program_reallocate(void *pointer, size_t size);

#endif
