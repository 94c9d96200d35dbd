/* What kernels over groups share: how lanes load elements and the results that these belong to, and notes of what came. */
#pragma once

#include "divide.cuh"
#include "elements.cuh"
#include "grid.cuh"
#include "groups.h"
#include "many.h"

namespace {

constexpr int GROUP_THREADS = RD_CUDA_GROUPS_THREADS, GROUP_WARPS = GROUP_THREADS / 32;
constexpr unsigned NOWHERE = 0xffffffff; /* an element of no result */

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

/* Elements side by side as they are in memory: what is not there is 0. They are taken apart when they are used, so that what is loaded
 * ahead need not have come before. */
template <int BYTES, int EACH> struct Packed {
    static constexpr int ALL_BYTES = EACH * BYTES, WORDS = ALL_BYTES < 4 ? 1 : ALL_BYTES / 4;
    unsigned word[WORDS];

    __device__ __forceinline__ void load(const void *array, u64 first, unsigned left, bool vectors) {
        const Stored<BYTES> *from = static_cast<const Stored<BYTES> *>(array) + first;
        if (!vectors || left < EACH) {
            load_each(from, left);
            return;
        }
        if constexpr (ALL_BYTES >= 16) {
#pragma unroll
            for (int v = 0; v < WORDS / 4; v++) {
                const uint4 vector = __ldcs(reinterpret_cast<const uint4 *>(from) + v);
                word[4 * v] = vector.x;
                word[4 * v + 1] = vector.y;
                word[4 * v + 2] = vector.z;
                word[4 * v + 3] = vector.w;
            }
        } else if constexpr (ALL_BYTES == 8) {
            const u64 vector = __ldcs(reinterpret_cast<const u64 *>(from));
            word[0] = (unsigned)vector;
            word[1] = (unsigned)(vector >> 32);
        } else if constexpr (ALL_BYTES == 4) {
            word[0] = __ldcs(reinterpret_cast<const unsigned *>(from));
        } else {
            word[0] = __ldcs(reinterpret_cast<const uint16_t *>(from));
        }
    }
    __device__ __forceinline__ void load_each(const Stored<BYTES> *from, unsigned left) {
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            word[w] = 0;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if ((unsigned)i < left) {
                const Word<BYTES> bits = __ldcs(from + i);
                word[i * BYTES / 4] |= (unsigned)bits << (8 * (i * BYTES % 4));
                if constexpr (BYTES == 8)
                    word[2 * i + 1] = (unsigned)(bits >> 32);
            }
    }
    __device__ __forceinline__ Word<BYTES> operator[](int i) const {
        if constexpr (BYTES == 8)
            return (u64)word[2 * i + 1] << 32 | word[2 * i];
        else if constexpr (BYTES == 4)
            return word[i];
        else
            return word[i * BYTES / 4] >> (8 * (i * BYTES % 4)) & ((1u << (8 * BYTES)) - 1);
    }
};

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

/* Whether the mask lets an element count. */
__device__ __forceinline__ bool is_counted(const rd_cuda_groups &groups, u64 element) {
    const u64 entry = groups.mask_offset + element;
    if (!groups.mask)
        return true;
    return groups.mask_bits ? __ldcs(groups.mask + entry / 8) >> entry % 8 & 1 : __ldcs(groups.mask + entry) != 0;
}

/* Of elements side by side those that there are and that count, as bits. */
template <int EACH>
__device__ __forceinline__ unsigned find_present(const rd_cuda_groups &groups, u64 first, unsigned left) {
    unsigned present = (1u << left) - 1;
    if (groups.mask) {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if ((unsigned)i < left && !is_counted(groups, first + i))
                present &= ~(1u << i);
    }
    return present;
}

/* Indices that count, of initial values. */
struct Counting {
    u64 first;
    __device__ __forceinline__ u64 operator[](int i) const {
        return first + i;
    }
};

/* The results of elements side by side: of indices of 4 bytes, which may have been loaded ahead, and of all others. */
template <int EACH> struct Results {
    Packed<4, EACH> ahead;

    static __device__ __forceinline__ bool is_usual(const rd_cuda_groups &groups) {
        return groups.width == 1 && groups.index_bytes == 4 && groups.indices;
    }
    __device__ __forceinline__ void load(const rd_cuda_groups &groups, u64 first, unsigned left) {
        if (is_usual(groups))
            ahead.load(groups.indices, first, left, groups.vectors);
    }

    /* What lies outside is looked at one by one, which is rare. */
    template <class Index>
    static __device__ __forceinline__ void take(const rd_cuda_groups &groups, const Index &index, u64 first,
                                                unsigned present, unsigned (&result)[EACH]) {
        bool outside = false;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            result[i] = present >> i & 1 ? (unsigned)index[i] : NOWHERE;
            outside = outside || !(index[i] < groups.limit);
        }
        if (!outside)
            return;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (!(index[i] < groups.limit)) {
                if (present >> i & 1)
                    refuse(groups, first + i);
                result[i] = NOWHERE;
            }
    }
    template <int BYTES>
    static __device__ __forceinline__ void find_others(const rd_cuda_groups &groups, u64 first, unsigned left,
                                                       unsigned present, unsigned (&result)[EACH]) {
        Packed<BYTES, EACH> index;
        index.load(groups.indices, first, left, groups.vectors);
        take(groups, index, first, present, result);
    }
    /* Of rows, of which elements may begin or end any. */
    static __device__ __forceinline__ void find_in_rows(const rd_cuda_groups &groups, u64 first, unsigned left,
                                                        unsigned present, unsigned (&result)[EACH]) {
        u64 row = divide(first, groups.width), place = first - row * groups.width;
        unsigned group = left ? group_of(groups, row) : NOWHERE;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const bool there = present >> i & 1;
            if (place == groups.width) {
                place = 0;
                row++;
                group = (unsigned)i < left ? group_of(groups, row) : NOWHERE;
            }
            result[i] = there && group != NOWHERE ? (unsigned)(group * groups.width + place) : NOWHERE;
            if (there && group == NOWHERE)
                refuse(groups, row);
            place++;
        }
    }

    __device__ __forceinline__ void find(const rd_cuda_groups &groups, u64 first, unsigned left, unsigned present,
                                         unsigned (&result)[EACH]) const {
        if (is_usual(groups)) {
            take(groups, ahead, first, present, result);
        } else if (groups.width > 1) {
            find_in_rows(groups, first, left, present, result);
        } else if (!groups.indices) {
            take(groups, Counting{first}, first, present, result);
        } else if (groups.index_bytes == 8) {
            find_others<8>(groups, first, left, present, result);
        } else if (groups.index_bytes == 2) {
            find_others<2>(groups, first, left, present, result);
        } else {
            find_others<1>(groups, first, left, present, result);
        }
    }
};

/* Elements of a lane's tile, which may be loaded ahead. */
template <int BYTES, bool PAIRS, int EACH> struct Loaded {
    Packed<BYTES, EACH> x, y; /* only of pairs */
    Results<EACH> results;

    unsigned left, present; /* how many are there; those that count */

    __device__ __forceinline__ void load(const rd_cuda_groups &groups, u64 first) {
        const u64 count = groups.call.count;
        left = first < count ? (unsigned)min(count - first, (u64)EACH) : 0;
        x.load(groups.call.x, first, left, groups.vectors);
        if constexpr (PAIRS)
            if (groups.call.y)
                y.load(groups.call.y, first, left, groups.vectors);
        results.load(groups, first, left);
        present = find_present<EACH>(groups, first, left);
    }
    __device__ __forceinline__ void find(const rd_cuda_groups &groups, u64 first, unsigned (&result)[EACH]) const {
        results.find(groups, first, left, present, result);
    }
};

/* The same where there is no mask, and no row; and where loads are aligned and tiles whole. */
template <int BYTES, bool PAIRS, int EACH> struct LoadedPlainly {
    Packed<BYTES, EACH> x, y;
    Packed<4, EACH> index;

    __device__ __forceinline__ void load(const rd_cuda_groups &groups, u64 first) {
        x.load(groups.call.x, first, EACH, true);
        if constexpr (PAIRS)
            if (groups.call.y)
                y.load(groups.call.y, first, EACH, true);
        index.load(groups.indices, first, EACH, true);
    }
    __device__ __forceinline__ void find(const rd_cuda_groups &groups, u64 first, unsigned (&result)[EACH]) const {
        Results<EACH>::take(groups, index, first, (1u << EACH) - 1, result);
    }
};

/* What elements are loaded from that were moved to buckets: the kernel's arrays, as far as an item goes. */
struct Moved {
    const rd_cuda_groups &groups;
    u64 end;
};
template <int BYTES, bool PAIRS, int EACH> struct LoadedMoved {
    Packed<BYTES, EACH> x, y;
    Packed<4, EACH> of;
    unsigned left;

    __device__ __forceinline__ void load(const Moved &moved, u64 first) {
        const rd_cuda_groups &groups = moved.groups;
        left = first < moved.end ? (unsigned)min(moved.end - first, (u64)EACH) : 0;
        x.load(groups.call.x, first, left, true);
        if constexpr (PAIRS)
            if (groups.call.y)
                y.load(groups.call.y, first, left, true);
        of.load(groups.buckets.result, first, left, true);
    }
    __device__ __forceinline__ void find(unsigned (&result)[EACH]) const {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            result[i] = (unsigned)i < left ? of[i] : NOWHERE;
    }
};

/* Calls take(loaded, first) for each tile of a warp from one to below another, of which tile 0 begins at some element: while one is taken, the next
 * one is on its way. */
template <class Loaded, int EACH, int BLOCK_WARPS = GROUP_WARPS, class From, class Take>
__device__ __forceinline__ void for_some_tiles(const From &from, u64 begin_tile, u64 end_tile, u64 origin, Take take) {
    constexpr u64 TILE = 32 * EACH, STEP = BLOCK_WARPS * TILE;
    const u64 own = begin_tile + warp_index();
    unsigned left = own < end_tile ? ((unsigned)(end_tile - own) + BLOCK_WARPS - 1) / BLOCK_WARPS : 0;
    if (!left)
        return;
    u64 first = origin + own * TILE + lane_index() * EACH;
    Loaded next;
    next.load(from, first);
#pragma unroll 1
    for (; left; left--, first += STEP) {
        const Loaded loaded = next;
        if (left > 1)
            next.load(from, first + STEP);
        take(loaded, first);
    }
}

/* The same for each tile of a chunk. PLAINLY: most of them in fewer steps, should they be plain. */
template <int BYTES, bool PAIRS, int EACH, bool PLAINLY = true, class Take>
__device__ __forceinline__ void for_tiles(const rd_cuda_groups &groups, u64 chunk, Take take) {
    constexpr u64 TILE = 32 * EACH;
    const u64 tiles = (groups.call.count + TILE - 1) / TILE, end = min(tiles, (chunk + 1) * groups.chunk);
    u64 begin = chunk * groups.chunk;
    if (PLAINLY && groups.plain) {
        const u64 whole = min(end, groups.call.count / TILE);
        for_some_tiles<LoadedPlainly<BYTES, PAIRS, EACH>, EACH>(groups, begin, whole, 0, take);
        begin = max(begin, whole);
    }
    if (begin < end)
        for_some_tiles<Loaded<BYTES, PAIRS, EACH>, EACH>(groups, begin, end, 0, take);
}

/* Clears a block's share of what must be zero at first, which lies together: from a vector of 16 bytes on to before another. */
__device__ __forceinline__ void clear_zeros(const rd_cuda_groups &groups, u64 begin, u64 end, unsigned share,
                                            unsigned shares) {
    uint4 *vectors = reinterpret_cast<uint4 *>(groups.grid[0].header);
    for (u64 i = begin + (u64)share * blockDim.x + threadIdx.x; i < end; i += (u64)shares * blockDim.x)
        vectors[i] = make_uint4(0, 0, 0, 0);
}

/* The result of one element; NOWHERE if it does not count. Unless the index was looked at before, one outside is refused. */
template <bool WAS_LOOKED_AT = true>
__device__ __forceinline__ unsigned result_of(const rd_cuda_groups &groups, u64 element) {
    if (!is_counted(groups, element))
        return NOWHERE;
    const u64 row = groups.width == 1 ? element : divide(element, groups.width);
    const unsigned group = group_of(groups, row);
    if (!WAS_LOOKED_AT && group == NOWHERE)
        refuse(groups, row);
    return group == NOWHERE ? NOWHERE : (unsigned)(group * groups.width + (element - row * groups.width));
}

/* Notes where a NaN is, if it matters. */
__device__ __forceinline__ void note_nan_at(const rd_cuda_groups &groups, unsigned result, u64 element) {
    if (groups.nan_below)
        raise_to(groups.nan_below + result, groups.initial ? UINT64_MAX : ~(divide(element, groups.width) + 1));
}

/* Whether the rest of the planes is open in some scan; whether elements were moved to buckets, as some scan said. */
__device__ __forceinline__ bool is_open_anywhere(const rd_cuda_groups &groups) {
    return groups.grid[0].header->open || (groups.grid[1].header && groups.grid[1].header->open);
}
__device__ __forceinline__ bool are_moved(const rd_cuda_groups &groups) {
    const rd_cuda_groups_header *const other = groups.grid[1].header;
    return groups.buckets.counts && (groups.grid[0].header->scattered || (other && other->scattered));
}

/* Whether rows were put in the order of their groups, to be taken so. */
__device__ __forceinline__ bool are_gathered(const rd_cuda_groups &groups) {
    return groups.gathered.begin && !groups.grid[0].header->open;
}

/* A table in shared memory for results as they come: a word for each slot, which says whose it is. What else a slot has lies in arrays
 * of as many words behind these. Where each result has slots of its own, the first ones are those of `base`, and nothing need be said. */
struct Slots {
    const rd_cuda_groups &groups;
    unsigned *const words;
    const unsigned slots, owners, base;

    __device__ __forceinline__ Slots(const rd_cuda_groups &g, unsigned *room, unsigned first_result)
        : groups(g), words(room), slots(g.slots), owners(g.direct ? 0 : g.slots), base(first_result) {
    }
    __device__ __forceinline__ unsigned *array(int which) const {
        return words + owners + which * slots;
    }
    __device__ __forceinline__ unsigned owner_of(unsigned slot) const {
        return groups.direct ? base + (slot >> groups.copies_log2) : words[slot];
    }
    /* Without owners, and with zeros. By the whole block. */
    __device__ __forceinline__ void open(unsigned arrays) const {
        for (unsigned i = threadIdx.x; i < owners; i += GROUP_THREADS)
            words[i] = NOWHERE;
        for (unsigned i = threadIdx.x; i < slots * arrays; i += GROUP_THREADS)
            words[owners + i] = 0;
        __syncthreads();
    }
    /* Of a lane, where each result has slots of its own. */
    __device__ __forceinline__ unsigned find_directly(unsigned result) const {
        return (result - base) << groups.copies_log2 | (lane_index() & ((1 << groups.copies_log2) - 1));
    }
    /* The slot of a result, which it may get now; `slots` if it has none. `known`: it has had one before. */
    __device__ __forceinline__ unsigned find(unsigned result, bool &known) const {
        known = true;
        if (groups.direct)
            return find_directly(result);
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

/* What a lane counts in one word: results that it found, those that it sought, and tiles. The former fit their bits for a warp, too. */
constexpr unsigned SOUGHT = 1u << 13, TRY = 1u << 26;

/* Counts a tile, as long as it matters, and returns whether the table is still of use. By whole warps. */
__device__ __forceinline__ bool is_of_use(bool tabled, unsigned own, unsigned &found) {
    if (found >= TRIES * TRY)
        return tabled;
    found += own + TRY;
    if (!tabled || found < TRIES * TRY)
        return tabled;
    const unsigned all = warp_add(found % TRY);
    return all % SOUGHT * FOUND_LEAST >= all / SOUGHT;
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
__device__ __forceinline__ bool is_refused(const rd_cuda_groups &groups) {
    const u64 below = groups.grid[0].header->bad_below;
    if (!below)
        return false;
    const u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x, step = (u64)gridDim.x * blockDim.x;
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
