/* For tests of what Fortran programs call over ranks: memory that runs out, as the linker has malloc() of what is linked statically call the
 * function here (--wrap), and how many collectives there were. */
#include "../mpi/calls.h"

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void fail_allocation(int bytes);
int allocation_failed(void);
int collectives(void);

static size_t least; /* 0: none fails */
static bool failed;

/* The next one of at least so many bytes fails. */
void fail_allocation(int bytes) {
    least = (size_t)bytes;
    failed = false;
}

/* Whether it did; none does from now on. */
int allocation_failed(void) {
    least = 0;
    return failed;
}

void *__wrap_malloc(size_t bytes) {
    const bool fails = least && bytes >= least;
    if (fails) {
        failed = true;
        least = 0;
    }
    return fails ? NULL : __real_malloc(bytes);
}

int collectives(void) {
    return (int)calls_made();
}
