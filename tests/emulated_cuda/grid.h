/* Grids of CUDA threads on one thread of the host, for kernels that were compiled for the host: see language.h.
 *
 * The threads of a block are fibers, each with a stack of its own: one runs until it has to wait, at a barrier or for the
 * rest of its warp, or until it gives way at an atomic operation, as it does now and then. Two blocks of a grid are under
 * way at a time; one gives way to the other, now and then, at fences and at atomic operations on global memory. Which
 * thread goes on is drawn, anew whenever a warp or a block has met: warps get ahead of each other, lanes and blocks go in
 * another order, so that what depends on order shows. The draws follow from the number of the launch on its thread and
 * from REDUCT_TEST_SEED, hence are the same every time.
 *
 * Where no thread of a block can go on, the places in the source where each of them waits are printed, and the program
 * ends. So it does at collectives where lanes of a warp meet at different ones, and at barriers where threads of a block
 * do: CUDA leaves undefined what happens then. */
#ifndef EMULATED_CUDA_GRID_H
#define EMULATED_CUDA_GRID_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* kernels have it from the library that loads them */

enum { EMULATED_WARP = 32, EMULATED_THREADS_MOST = 1024 };

/* What a thread knows of itself: threadIdx, blockIdx, blockDim, gridDim. Grids have one dimension. */
struct emulated_index {
    unsigned x, y, z;
};
struct emulated_thread {
    struct emulated_index thread, block, threads, blocks;
};
extern __thread const struct emulated_thread *emulated_self;

/* A place in the source. */
struct emulated_place {
    const char *what; /* the function that CUDA has there */
    const char *file;
    int line;
};

/* A grid: `body(argument)` is called by every thread of it. `shared` is what a block's variables in shared memory are in,
 * filled with EMULATED_FRESH before each block, as is its dynamic shared memory. Any number of threads of the host may run grids at once. */
struct emulated_grid {
    void (*body)(void *argument);
    void *argument;
    unsigned blocks, threads; /* threads: a multiple of EMULATED_WARP */
    void *shared;
    size_t shared_bytes, dynamic_bytes;
};
void emulated_run(const struct emulated_grid *grid);

/* Dynamic shared memory of the block that runs. */
void *emulated_dynamic(void);

/* What fresh memory is filled with. */
enum { EMULATED_FRESH = 0xa5 };

/* __syncthreads(). */
void emulated_barrier(struct emulated_place place);

/* The lanes of a warp meet, each with a value: `values`, by lane. The last to come calls `combine`, if there is one, which
 * may change them before anyone has seen them. They are there until the lane meets others again. */
typedef void emulated_combine(uint64_t values[EMULATED_WARP]);
const uint64_t *emulated_meet(struct emulated_place place, unsigned mask, uint64_t value, emulated_combine *combine);

/* Before an atomic operation: perhaps others go first. */
void emulated_give_way(const void *address);

/* __threadfence(): a good place for another block to go first. */
void emulated_fence(void);

/* Copies that the running thread orders, by groups. They are made when it waits for them: for all groups but the last ones, so many of
 * which may be under way. Until then nothing is known of what is in their place. It must not end before. */
void emulated_copy(struct emulated_place place, void *to, const void *from, unsigned bytes);
void emulated_end_group(void);
void emulated_wait_for_groups(unsigned under_way);

/* Ends the program: a sentence about what the running thread did at `place`. */
void emulated_fail(struct emulated_place place, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
