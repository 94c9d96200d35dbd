/* The vector rung for each element type and one instruction set. The file that includes this is compiled with that
 * set's flags, and defines
 *
 *   VECTOR_BYTES   of a vector
 *   VECTOR_TABLE   the name of the table to define
 *   VECTOR_SET     its name as text
 */
#include "ladder/cpu/cpu.h"

#include "ladder/cpu/names.h"

#define T      int32_t
#define SUFFIX i32
#include "ladder/cpu/vectors.h"
CPU_SUM(vectors)
#undef T
#undef SUFFIX

#define T      float
#define SUFFIX f32
#include "ladder/cpu/vectors.h"
CPU_SUM(vectors)
#undef T
#undef SUFFIX

#define T      double
#define SUFFIX f64
#include "ladder/cpu/vectors.h"
CPU_SUM(vectors)
#undef T
#undef SUFFIX

/* The limit: what reading alone takes. Bits are combined so that no load can be left out. Asking for memory 4 KiB ahead
 * pays where it comes from far away (the processor's own guesses stop at the end of a page), and costs in the caches. */
typedef uint64_t words __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

static inline void read_with(const void *x, size_t n, int ahead, void *result) {
    enum { VECTORS = 8, LANES = VECTOR_BYTES / 8, STEP = VECTORS * LANES, AHEAD = 4096 / 8 };
    const uint64_t *from = x;
    words seen[VECTORS] = {{0}};
    for (size_t i = 0; i + STEP <= n; i += STEP)
        for (size_t j = 0; j < VECTORS; j++) {
            if (ahead)
                __builtin_prefetch(from + i + j * LANES + AHEAD);
            seen[j] ^= *(const words *)(from + i + j * LANES);
        }
    uint64_t all = 0;
    for (size_t j = 0; j < VECTORS; j++)
        for (size_t lane = 0; lane < LANES; lane++)
            all ^= seen[j][lane];
    *(uint64_t *)result = all;
}

static void read_plain(const void *x, size_t n, void *result) {
    read_with(x, n, 0, result);
}

static void read_ahead(const void *x, size_t n, void *result) {
    read_with(x, n, 1, result);
}

const cpu_vectors VECTOR_TABLE = {.name = VECTOR_SET,
                                  .sum = {run_vectors_i32, run_vectors_f32, run_vectors_f64},
                                  .read = {read_plain, read_ahead},
                                  .bytes = VECTOR_BYTES};
