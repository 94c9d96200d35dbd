/* What kernels over groups share: how lanes load elements and the results that these belong to, and notes of what came. */
#pragma once

#include "elements.cuh"
#include "grid.cuh"
#include "groups.h"
#include "many.h"

namespace {

constexpr int GROUP_THREADS = RD_CUDA_GROUPS_THREADS, GROUP_WARPS = GROUP_THREADS / 32;
constexpr int EACH = RD_CUDA_GROUPS_COUNT, TILE = 32 * EACH; /* elements of a lane, and of a warp */
constexpr unsigned NOWHERE = 0xffffffff;                     /* an element of no result */

template <int BYTES>
using Stored = typename std::conditional<
    BYTES == 8, u64,
    typename std::conditional<BYTES == 4, unsigned,
                              typename std::conditional<BYTES == 2, uint16_t, uint8_t>::type>::type>::type;

/* A word that others change meanwhile by atomic operations, as it was at some time: enough to see that a change would change nothing.
 * (A plain load would be a race.) */
__device__ __forceinline__ u64 glance(const uint64_t *at) {
    return *const_cast<const volatile uint64_t *>(at);
}
__device__ __forceinline__ unsigned glance(const uint32_t *at) {
    return *const_cast<const volatile uint32_t *>(at);
}

__device__ __forceinline__ void raise_to(uint64_t *at, u64 value) {
    if (glance(at) < value)
        atomicMax(reinterpret_cast<u64 *>(at), value);
}
__device__ __forceinline__ void raise_to(uint32_t *at, unsigned value) {
    if (glance(at) < value)
        atomicMax(at, value);
}
__device__ __forceinline__ void set_note(const rd_cuda_groups &groups, unsigned result, unsigned note) {
    if ((glance(groups.notes + result) & note) != note)
        atomicOr(groups.notes + result, note);
}

/* Elements side by side, of which the last may not be there: those are 0. */
template <int BYTES>
__device__ __forceinline__ void load_elements(const void *array, u64 first, unsigned left, bool vectors,
                                              Word<BYTES> (&x)[EACH]) {
    const Stored<BYTES> *from = static_cast<const Stored<BYTES> *>(array) + first;
    if (!vectors || left < EACH) {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            x[i] = (unsigned)i < left ? (Word<BYTES>)__ldcs(from + i) : 0;
        return;
    }
    if constexpr (BYTES == 8) {
#pragma unroll
        for (int v = 0; v < EACH / 2; v++) {
            const uint4 word = __ldcs(reinterpret_cast<const uint4 *>(from) + v);
            x[2 * v] = (u64)word.y << 32 | word.x;
            x[2 * v + 1] = (u64)word.w << 32 | word.z;
        }
    } else if constexpr (BYTES == 4) {
        const uint4 word = __ldcs(reinterpret_cast<const uint4 *>(from));
        x[0] = word.x;
        x[1] = word.y;
        x[2] = word.z;
        x[3] = word.w;
    } else if constexpr (BYTES == 2) {
        const u64 word = __ldcs(reinterpret_cast<const u64 *>(from));
#pragma unroll
        for (int i = 0; i < EACH; i++)
            x[i] = (unsigned)(word >> (16 * i)) & 0xffff;
    } else {
        const unsigned word = __ldcs(reinterpret_cast<const unsigned *>(from));
#pragma unroll
        for (int i = 0; i < EACH; i++)
            x[i] = word >> (8 * i) & 0xff;
    }
}

/* The group of one row, or NOWHERE. */
__device__ __forceinline__ unsigned group_of(const rd_cuda_groups &groups, u64 row) {
    u64 group = row;
    if (groups.indices) {
        if (groups.index_bytes == 8)
            group = __ldcs(static_cast<const u64 *>(groups.indices) + row);
        else if (groups.index_bytes == 4)
            group = __ldcs(static_cast<const unsigned *>(groups.indices) + row);
        else if (groups.index_bytes == 2)
            group = __ldcs(static_cast<const uint16_t *>(groups.indices) + row);
        else
            group = __ldcs(static_cast<const uint8_t *>(groups.indices) + row);
    }
    return group < groups.limit ? (unsigned)group : NOWHERE;
}

/* Notes an index outside, unless such are skipped. */
__device__ __forceinline__ void refuse(const rd_cuda_groups &groups, u64 row) {
    if (!groups.skip)
        raise_to(&groups.grid[0].header->bad_below, ~row);
}

/* The results of elements side by side. */
__device__ __forceinline__ void load_results(const rd_cuda_groups &groups, u64 first, unsigned left,
                                             unsigned (&result)[EACH]) {
    if (groups.width == 1) {
        u64 wide[EACH];
        if (!groups.indices) {
#pragma unroll
            for (int i = 0; i < EACH; i++)
                wide[i] = first + i;
        } else if (groups.index_bytes == 4) {
            unsigned word[EACH];
            load_elements<4>(groups.indices, first, left, groups.vectors, word);
#pragma unroll
            for (int i = 0; i < EACH; i++)
                wide[i] = word[i];
        } else if (groups.index_bytes == 8) {
            load_elements<8>(groups.indices, first, left, groups.vectors, wide);
        } else {
            unsigned word[EACH];
            if (groups.index_bytes == 2)
                load_elements<2>(groups.indices, first, left, groups.vectors, word);
            else
                load_elements<1>(groups.indices, first, left, groups.vectors, word);
#pragma unroll
            for (int i = 0; i < EACH; i++)
                wide[i] = word[i];
        }
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const bool inside = wide[i] < groups.limit;
            result[i] = inside && (unsigned)i < left ? (unsigned)wide[i] : NOWHERE;
            if (!inside && (unsigned)i < left)
                refuse(groups, first + i);
        }
        return;
    }
    u64 row = first / groups.width, place = first - row * groups.width;
    unsigned group = left ? group_of(groups, row) : NOWHERE;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        if (place == groups.width) {
            place = 0;
            row++;
            group = (unsigned)i < left ? group_of(groups, row) : NOWHERE;
        }
        const bool there = (unsigned)i < left;
        result[i] = there && group != NOWHERE ? (unsigned)(group * groups.width + place) : NOWHERE;
        if (there && group == NOWHERE)
            refuse(groups, row);
        place++;
    }
}

/* The result of one element, of which the index was looked at before. */
__device__ __forceinline__ unsigned result_of(const rd_cuda_groups &groups, u64 element) {
    const u64 row = groups.width == 1 ? element : element / groups.width;
    const unsigned group = group_of(groups, row);
    return group == NOWHERE ? NOWHERE : (unsigned)(group * groups.width + (element - row * groups.width));
}

/* Notes where a NaN is, if it matters. */
__device__ __forceinline__ void note_nan_at(const rd_cuda_groups &groups, unsigned result, u64 element) {
    if (groups.nan_below)
        raise_to(groups.nan_below + result, groups.initial ? UINT64_MAX : ~(element / groups.width + 1));
}

/* A table in shared memory for results as they come: a word for each slot, which says whose it is. What else a slot has lies in arrays
 * of as many words behind these. */
struct Slots {
    const rd_cuda_groups &groups;
    unsigned *const words;
    const unsigned slots;

    __device__ __forceinline__ Slots(const rd_cuda_groups &g, unsigned *room) : groups(g), words(room), slots(g.slots) {
    }
    __device__ __forceinline__ unsigned *array(int which) const {
        return words + (1 + which) * slots;
    }
    /* Without owners, and with zeros. By the whole block. */
    __device__ __forceinline__ void open(unsigned arrays) const {
        for (unsigned i = threadIdx.x; i < slots; i += GROUP_THREADS)
            words[i] = groups.direct ? i : NOWHERE;
        for (unsigned i = threadIdx.x; i < slots * arrays; i += GROUP_THREADS)
            words[slots + i] = 0;
        __syncthreads();
    }
    /* The slot of a result, which it may get now; `slots` if it has none. `known`: it has had one before. */
    __device__ __forceinline__ unsigned find(unsigned result, bool &known) const {
        known = true;
        if (groups.direct)
            return result;
        const unsigned slot = (result * 2654435769u >> 8) & (slots - 1);
        unsigned owner = *const_cast<volatile unsigned *>(words + slot);
        if (owner == NOWHERE) {
            owner = atomicCAS(words + slot, NOWHERE, result);
            known = owner == result;
            owner = owner == NOWHERE ? result : owner;
        }
        return owner == result ? slot : slots;
    }
};

/* A warp gives its table up if, of so many tiles, fewer than one in so many results is found there. */
constexpr unsigned TRIES = 8, FOUND_LEAST = 3;

/* Whether it does: of results that were sought and found, 16 bits each. By whole warps. */
__device__ __forceinline__ bool is_of_use(unsigned found) {
    const unsigned all = warp_add(found);
    return (all & 0xffff) * FOUND_LEAST >= all >> 16;
}

/* What a note of a NaN's place says. */
__device__ __forceinline__ u64 nan_index_of(u64 below) {
    return ~below - 1;
}

/* What became of a result; the index is that of a NaN. */
__device__ __forceinline__ void tell_of(const rd_cuda_groups &groups, u64 result, unsigned status, u64 nan_index) {
    if (groups.call.outcome) {
        rd_cuda_outcome &outcome = groups.call.outcome[result];
        outcome.status = status;
        outcome.reserved = 0;
        outcome.index = status == REDUCT_ERROR_NAN ? nan_index : UINT64_MAX;
    }
    if (status != REDUCT_OK && groups.failure)
        atomicMin(reinterpret_cast<u64 *>(groups.failure), result << 8 | status | RD_CUDA_FAILURE_LATER);
}

/* Whether an index was outside: then no result is written, and every outcome says so. By all blocks that would finish. */
__device__ __forceinline__ bool is_refused(const rd_cuda_groups &groups, unsigned threads) {
    const u64 below = groups.grid[0].header->bad_below;
    if (!below)
        return false;
    const u64 first = (u64)blockIdx.x * threads + threadIdx.x, step = (u64)gridDim.x * threads;
    for (u64 result = first; groups.call.outcome && result < groups.results; result += step) {
        rd_cuda_outcome &outcome = groups.call.outcome[result];
        outcome.status = REDUCT_ERROR_ARGUMENT;
        outcome.reserved = 0;
        outcome.index = ~below;
    }
    if (first == 0 && groups.failure)
        *groups.failure = ~below << 8 | REDUCT_ERROR_ARGUMENT;
    return true;
}

} // namespace
