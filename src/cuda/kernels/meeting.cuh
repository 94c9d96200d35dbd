/* How blocks meet: what each leaves in the workspace for the last one, which reads it when it is there. Limbs and counts are
 * added up there by whoever has any, which is seldom. Besides, blocks meet in one of three ways:
 *   - words, which are not zero once they are there: the last block of the grid waits for those of all others;
 *   - slots, which are written before a ticket is taken: the block that takes the last ticket reads them;
 *   - frames, in exact.cuh. */
#pragma once

#include "block.cuh"

namespace {

/* Tickets count blocks, and in further fields those of them of which something is true: their limbs or counts are used;
 * what kernels have to say besides. */
constexpr int TICKET_BITS = 12, TICKET_USED = 1, TICKET_OWN = 2;
static_assert(RD_CUDA_BLOCKS < 1 << TICKET_BITS, "tickets count all blocks");

__device__ __forceinline__ u64 ticket_if(bool is, int field) {
    return (u64)is << (TICKET_BITS * field);
}
__device__ __forceinline__ unsigned ticket_count(u64 ticket, int field = 0) {
    return (unsigned)(ticket >> (TICKET_BITS * field)) & ((1u << TICKET_BITS) - 1);
}

/* Takes a ticket: returns what there are, with it. What the thread, and those that it has met, did before is seen by
 * whoever takes one later, and by those that it meets then. (Two fences and an addition take twice as long.) */
__device__ __forceinline__ u64 take_ticket(uint64_t *tickets, u64 ticket) {
    u64 before;
    asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(__cvta_generic_to_global(tickets)), "l"(ticket)
                 : "memory");
    return before + ticket;
}

/* Adds what the block has in limbs and counts to the workspace. By a warp. */
__device__ __noinline__ void publish(const Block &block, rd_cuda_workspace *workspace) {
    const rd_cuda_partial &p = block.partial;
    for (int i = lane_index(); i < 2 * RD_LIMBS; i += 32) {
        int64_t limb = (&p.limb[0][0])[i];
        if (limb)
            atomicAdd(reinterpret_cast<u64 *>(&workspace->limb[0][0]) + i, (u64)limb);
    }
    if (lane_index() == 0) {
        count(workspace->ignored, p.ignored);
        count(workspace->nans, p.nans);
        count(workspace->plus_infinities, p.plus_infinities);
        count(workspace->minus_infinities, p.minus_infinities);
        atomicMax(reinterpret_cast<u64 *>(&workspace->nan_below), block.nan_below);
    }
    __syncwarp();
}

/* Hands over what the block has in limbs and counts, and takes a ticket; what it leaves in slots or elsewhere is the
 * caller's, who writes it before, in warp 0. The block has met since other warps had anything to add. True in all threads of
 * the block that is the last of its grid to get there: it sees all that others left. */
__device__ __forceinline__ bool close_block(Block &block, rd_cuda_workspace *workspace) {
    if (warp_index() == 0) {
        __syncwarp();
        const bool used = block.used;
        if (used)
            publish(block, workspace);
        if (lane_index() == 0) {
            const u64 tickets = take_ticket(&workspace->ticket, ticket_if(true, 0) | ticket_if(used, TICKET_USED));
            block.last = ticket_count(tickets) == gridDim.x;
            block.any_used = ticket_count(tickets, TICKET_USED);
            if (block.last)
                workspace->ticket = 0;
        }
    }
    __syncthreads();
    return block.last;
}

/* Words that the last block reads until they are there. */
template <class U> __device__ __forceinline__ u64 read_word(const volatile U *word) {
    return *word;
}

/* They are there soon after the ticket was taken. If they never come, because launches that share a workspace overlapped, the
 * launch ends with an error after this many tries. */
__device__ __forceinline__ void stop_after(unsigned tries) {
    if (tries == 1u << 20)
        __trap();
}

/* In the last block: brings home what blocks added to the workspace, and clears it for the next launch. */
__device__ __noinline__ void collect_used(Block &block, rd_cuda_workspace *workspace) {
    rd_cuda_partial &p = block.partial;
    for (int i = threadIdx.x; i < 2 * RD_LIMBS; i += THREADS) {
        u64 *from = reinterpret_cast<u64 *>(&workspace->limb[0][0]) + i;
        (&p.limb[0][0])[i] = (int64_t)__ldcg(from);
        *from = 0;
    }
    if (threadIdx.x == 0) {
        p.ignored = __ldcg(reinterpret_cast<u64 *>(&workspace->ignored));
        p.nans = __ldcg(reinterpret_cast<u64 *>(&workspace->nans));
        p.plus_infinities = __ldcg(reinterpret_cast<u64 *>(&workspace->plus_infinities));
        p.minus_infinities = __ldcg(reinterpret_cast<u64 *>(&workspace->minus_infinities));
        p.nan_index = ~__ldcg(reinterpret_cast<u64 *>(&workspace->nan_below));
        workspace->ignored = workspace->nans = workspace->plus_infinities = workspace->minus_infinities = 0;
        workspace->nan_below = 0;
    }
    __syncthreads();
}

/* Returns whether any did. Where no block added anything, the last one's own limbs and counts are zero, as all are. */
__device__ __forceinline__ bool collect(Block &block, rd_cuda_workspace *workspace) {
    bool used = block.any_used;
    if (used)
        collect_used(block, workspace);
    return used;
}

/* Slots: a word per block for the last block to read. */
__device__ __forceinline__ void put_slot(rd_cuda_workspace *workspace, int word, u64 value) {
    workspace->slot[word][blockIdx.x] = value;
}
__device__ __forceinline__ u64 get_slot(const rd_cuda_workspace *workspace, int word, unsigned block) {
    return __ldcg(reinterpret_cast<const u64 *>(&workspace->slot[word][block]));
}

/* Words that blocks leave for the last one of the grid, which waits for them: all others have begun before it. (Blocks begin
 * in the order of their numbers; D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016,
 * rests on that too.) A ticket would take one more way to memory and back. No word is zero, and all are again when they have
 * been taken. */
constexpr u64 TAG = (u64)1 << 63; /* what makes words of numbers that are smaller */
__device__ __forceinline__ void leave_word(rd_cuda_workspace *workspace, int row, u64 word) {
    workspace->word[row][blockIdx.x] = word;
}

/* Where a block has used its limbs or counts, a mark, which no first word is, takes the place of its words: slots have them. */
constexpr u64 IN_SLOTS = 1;

/* Leaves the words that lane 0 has, and what the block has in limbs and counts. By warp 0; the block has met since other
 * warps had anything to add. */
template <int ROWS>
__device__ __forceinline__ void leave_words(const Block &block, rd_cuda_workspace *workspace, const u64 (&word)[ROWS]) {
    __syncwarp();
    const bool used = block.used;
    if (used)
        publish(block, workspace);
    if (lane_index() == 0) {
        if (used) {
            for (int r = 0; r < ROWS; r++)
                put_slot(workspace, r, word[r]);
            __threadfence();
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            leave_word(workspace, r, used ? IN_SLOTS : word[r]);
    }
}

__device__ __forceinline__ bool takes_words() {
    return blockIdx.x == gridDim.x - 1;
}

/* Takes the words that N blocks left, from number `first` + threadIdx.x on; zeros of blocks that are not there. All
 * lanes of a warp leave the loop together: if they left it one by one, what follows would run once for each. */
template <int N, int ROWS>
__device__ __forceinline__ void take_words(Block &block, rd_cuda_workspace *workspace, unsigned first,
                                           u64 (&word)[N][ROWS]) {
    const unsigned number = first + threadIdx.x;
    bool missing;
    do {
        missing = false;
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const unsigned b = number + i * THREADS;
                word[i][r] = b < gridDim.x ? read_word(&workspace->word[r][b]) : 0;
            }
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                missing |= number + i * THREADS < gridDim.x && word[i][r] == 0;
    } while (__any_sync(ALL, missing));
#pragma unroll
    for (int i = 0; i < N; i++) {
        const unsigned b = number + i * THREADS;
        if (word[i][0]) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                workspace->word[r][b] = 0;
            if (word[i][0] == IN_SLOTS) {
                __threadfence();
                raise_flag(block.any_used);
#pragma unroll
                for (int r = 0; r < ROWS; r++)
                    word[i][r] = get_slot(workspace, r, b);
            }
        }
    }
}

/* Calls take(word) for the words of every block, shared out over the threads of the last one, to each in a fixed order. They
 * are asked for together, of as many blocks as registers bear: one after another, each would take a way to memory and back.
 * When the block has met after that, no other claims tiles, and any_used is known. */
template <int ROWS, class Take>
__device__ __forceinline__ void for_words_left(Block &block, rd_cuda_workspace *workspace, Take take) {
    constexpr int OWN = ROWS <= 4 ? 4 : 16 / ROWS;
    if (gridDim.x <= THREADS) { /* with less code, since code has to come from memory, too */
        u64 word[1][ROWS];
        take_words(block, workspace, 0, word);
        if (word[0][0])
            take(word[0]);
        return;
    }
    for (unsigned first = 0; first < gridDim.x; first += OWN * THREADS) {
        u64 word[OWN][ROWS];
        take_words(block, workspace, first, word);
#pragma unroll
        for (int i = 0; i < OWN; i++)
            if (word[i][0])
                take(word[i]);
    }
}

} // namespace
