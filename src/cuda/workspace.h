/* Workspaces: device memory in which the blocks of a launch meet. Kernels need it zero, but for its slots, and leave it so
 * (cuda/kernels/call.h). Plans and synchronous calls have workspaces of their own, which nobody else writes.
 *
 * A workspace that a caller brings may hold anything. Blocks cannot meet there before all of it is cleared, and clearing it
 * before each launch takes as long as a small reduction. So a workspace of the library's own stands in for the caller's: the
 * same one at each execution that brings the same address, and for no other address. Executions that share a workspace must
 * not overlap, so those that share a stand-in do not either: not in several streams, and not in graphs, which keep the
 * stand-in of the execution that was captured. Stand-ins are never taken back, as nobody says when graphs end.
 *
 * They are made where plans are, since executions must not allocate. An address for which none is left is used itself:
 * rd_cuda_stand_in() says so, and then the execution clears it first. */
#ifndef RD_CUDA_WORKSPACE_H
#define RD_CUDA_WORKSPACE_H

#include "drivers/cuda.h"
#include "cuda/kernels/call.h"

#include <stdatomic.h>
#include <stddef.h>

struct rd_cuda_context;

/* The most stand-ins of a context, and how many are made at a time: 5 MiB of device memory. */
enum { RD_CUDA_STAND_INS = 64, RD_CUDA_STAND_INS_STEP = 8 };

struct rd_cuda_stand_ins {
    atomic_uint made; /* a multiple of the step; changed with the context locked */
    rd_cu_address memory[RD_CUDA_STAND_INS / RD_CUDA_STAND_INS_STEP];
    _Atomic(uintptr_t) caller[RD_CUDA_STAND_INS]; /* the address that each stands in for; the first ones; 0: none yet */
};

/* Bytes of a workspace that kernels need zero: all but the slots, which come last. */
enum { RD_CUDA_ZERO_BYTES = offsetof(struct rd_cuda_workspace, slot) };

/* From one workspace to the next where several lie side by side: each at a multiple of 256, as memory of its own would. */
enum { RD_CUDA_WORKSPACE_STRIDE = (sizeof(struct rd_cuda_workspace) + 255) / 256 * 256 };

/* So many workspaces side by side, all zero when this returns; clears them in a stream, and waits for it. On failure the
 * address is 0. With the context current. */
rd_cu_result rd_cuda_workspaces_make(const struct rd_cuda_context *context, unsigned count, rd_cu_stream stream,
                                     rd_cu_address *memory);

/* Makes more stand-ins if few are left. If there is no memory for them, there are no more. With the context current. */
void rd_cuda_stand_ins_reserve(struct rd_cuda_context *context);

/* The workspace that stands in for a caller's, which is not null; null if none is left. */
struct rd_cuda_workspace *rd_cuda_stand_in(struct rd_cuda_context *context, const void *workspace);

#endif
