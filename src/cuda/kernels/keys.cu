/* Keys in device memory: runs of equal ones, and numbers for those that come in any order. See keys.h. */
#include "keys.h"

#include "meeting.cuh"

namespace {

typedef rd_cuda_keys Keys;

constexpr u64 NONE = UINT64_MAX;

__device__ __forceinline__ unsigned lanes_below() {
    return (1u << lane_index()) - 1;
}

__device__ __forceinline__ int count_bits(u64 word) {
    return __popc((unsigned)word) + __popc((unsigned)(word >> 32));
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Scans
 * ------------------------------------------------------------------------------------------------------------------ */

/* The states of tiles: a sum of this tile, or of all up to its end. A word says all, so that no other need be seen in time. */
constexpr u64 PARTIAL = (u64)1 << 62, COMPLETE = (u64)1 << 63, SUM = PARTIAL - 1;

/* The number of the next tile, for a block. Whatever order blocks begin in, all tiles below it are of blocks that run or have ended. */
__device__ __forceinline__ u64 take_tile(uint64_t *ticket) {
    __shared__ u64 tile;
    if (threadIdx.x == 0)
        tile = atomicAdd(reinterpret_cast<u64 *>(ticket), 1ull);
    __syncthreads();
    return tile;
}

/* The sum of all tiles below one whose own is `sum`, in all lanes. By a warp, which looks at 32 tiles at a time. */
__device__ __forceinline__ u64 sum_below(uint64_t *state, u64 tile, u64 sum) {
    if (lane_index() == 0)
        *const_cast<volatile uint64_t *>(&state[tile]) = (tile ? PARTIAL : COMPLETE) | sum;
    u64 before = 0;
    i64 at = (i64)tile - 1 - lane_index();
    bool done = tile == 0;
    for (unsigned tries = 0; !done; tries++) {
        stop_after(tries);
        const u64 word = at >= 0 ? read_word(&state[at]) : COMPLETE;
        const unsigned complete = __ballot_sync(ALL, (word & COMPLETE) != 0), there = __ballot_sync(ALL, word != 0),
                       wanted = complete ? complete ^ (complete - 1) : ALL; /* up to the first that is complete */
        if (wanted & ~there)
            continue;
        before += warp_add(wanted >> lane_index() & 1 ? word & SUM : 0);
        done = complete != 0;
        at -= 32;
        tries = 0;
    }
    if (lane_index() == 0 && tile)
        *const_cast<volatile uint64_t *>(&state[tile]) = COMPLETE | (before + sum);
    return before;
}

/* What comes before a warp's own, in this block and in tiles below. By the whole block, once. */
__device__ __forceinline__ u64 scan(uint64_t *state, u64 tile, unsigned own, u64 &up_to_end) {
    __shared__ unsigned of_warp[WARPS];
    __shared__ u64 below, end;
    if (lane_index() == 0)
        of_warp[warp_index()] = own;
    __syncthreads();
    if (warp_index() == 0) {
        unsigned sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum += of_warp[w];
        const u64 before = sum_below(state, tile, sum);
        if (lane_index() == 0) {
            below = before;
            end = before + sum;
        }
    }
    __syncthreads();
    u64 before = below;
    for (int w = 0; w < warp_index(); w++)
        before += of_warp[w];
    up_to_end = end;
    return before;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Runs
 * ------------------------------------------------------------------------------------------------------------------ */

/* Which keys of a row of 32, of which those up to `count` are there, begin a run. `before` is the key before the row. */
template <class Key>
__device__ __forceinline__ unsigned find_begins(Key key, Key before, u64 index, u64 first_of_all, u64 count) {
    Key previous = __shfl_up_sync(ALL, key, 1);
    if (lane_index() == 0)
        previous = before;
    return __ballot_sync(ALL, index < count && (index == first_of_all || key != previous));
}

template <class Key> __device__ __forceinline__ void put_run(const Keys &keys, u64 run, u64 index, Key key) {
    if (keys.offsets && run <= keys.room)
        keys.offsets[run] = index;
    if (keys.unique && run < keys.room)
        static_cast<Key *>(keys.unique)[run] = key;
}

template <class Key> __device__ __forceinline__ void find_runs(const Keys &keys) {
    constexpr int ROWS = RD_CUDA_KEYS_RUN_ROWS;
    const Key *array = static_cast<const Key *>(keys.array);
    const u64 tile = take_tile(&keys.notes->ticket[0]),
              first = tile * RD_CUDA_KEYS_RUN_TILE + (u64)warp_index() * (32 * ROWS) + lane_index();
    Key key[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        key[r] = first + 32 * r < keys.count ? __ldcs(array + first + 32 * r) : 0;
    Key before = lane_index() == 0 && first && first < keys.count ? array[first - 1] : 0;
    unsigned begins[ROWS], own = 0;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        begins[r] = find_begins(key[r], before, first + 32 * r, 0, keys.count);
        before = __shfl_sync(ALL, key[r], 31);
        own += __popc(begins[r]);
    }
    u64 end, run = scan(keys.state, tile, own, end);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (begins[r] >> lane_index() & 1)
            put_run(keys, run + __popc(begins[r] & lanes_below()), first + 32 * r, key[r]);
        run += __popc(begins[r]);
    }
    if (tile == gridDim.x - 1 && threadIdx.x == 0)
        *keys.found = keys.notes->taken = end;
}

/* Offsets beyond the last run, so that segments which are not there are empty. */
__device__ __forceinline__ void fill_offsets(const Keys &keys) {
    const u64 step = (u64)gridDim.x * THREADS;
    for (u64 i = keys.notes->taken + (u64)blockIdx.x * THREADS + threadIdx.x; i <= keys.room; i += step)
        keys.offsets[i] = keys.count;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The hash table
 * ------------------------------------------------------------------------------------------------------------------ */

/* More keys came than there is room for. Never wrong when it is true; known for certain when all are in the table. */
__device__ __forceinline__ bool is_over(const Keys &keys) {
    return read_word(&keys.notes->taken) > keys.room;
}

/* The finalisers of MurmurHash3 (A. Appleby): every bit of the key reaches every bit of the hash. */
__device__ __forceinline__ u64 hash_of(u64 key) {
    key = (key ^ key >> 33) * 0xff51afd7ed558ccd;
    key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53;
    return key ^ key >> 33;
}
__device__ __forceinline__ unsigned hash_of(unsigned key) {
    key = (key ^ key >> 16) * 0x85ebca6b;
    key = (key ^ key >> 13) * 0xc2b2ae35;
    return key ^ key >> 16;
}

/* Tells now and then how many slots the block took. */
__device__ __forceinline__ void take_slot(const Keys &keys, unsigned &taken) {
    if (atomicAdd(&taken, 1u) % RD_CUDA_KEYS_TOLD == RD_CUDA_KEYS_TOLD - 1)
        atomicAdd(reinterpret_cast<u64 *>(&keys.notes->taken), (u64)RD_CUDA_KEYS_TOLD);
}

/* Slots of one word. Places are of less than 32 bits, of which all ones is none: so is no word. */
struct Narrow {
    typedef unsigned Key;

    /* Whether the slot is the key's, or becomes so. */
    static __device__ __forceinline__ bool enter(const Keys &keys, u64 slot, Key key, u64 place, unsigned &taken) {
        u64 *at = reinterpret_cast<u64 *>(keys.slots) + slot;
        const u64 word = (u64)key << 32 | place;
        u64 was = *at; /* what was there once will do: words only become less, and keys stay */
        if (was == NONE) {
            was = atomicCAS(at, NONE, word);
            if (was == NONE)
                take_slot(keys, taken);
        }
        if (was != NONE && was >> 32 != key)
            return false;
        if (was != NONE && was > word)
            atomicMin(at, word);
        return true;
    }
    static __device__ __forceinline__ u64 slots(const Keys &keys) {
        return keys.last + 1;
    }
    static __device__ __forceinline__ bool own_slot(Key) {
        return false;
    }
    static __device__ __forceinline__ Key key(const Keys &keys, u64 slot) {
        return (Key)(keys.slots[slot] >> 32);
    }
    static __device__ __forceinline__ u64 place(const Keys &keys, u64 slot) {
        return keys.slots[slot] == NONE ? NONE : (unsigned)keys.slots[slot];
    }
    static __device__ __forceinline__ void put_number(const Keys &keys, u64 slot, unsigned number) {
        reinterpret_cast<uint32_t *>(keys.slots)[2 * slot] = number;
    }
    static __device__ __forceinline__ unsigned number(const Keys &keys, u64 slot) {
        return reinterpret_cast<const uint32_t *>(keys.slots)[2 * slot];
    }
};

/* Slots of two words, with one besides for the key that is all ones. */
template <class K> struct Wide {
    typedef K Key;

    static __device__ __forceinline__ bool enter(const Keys &keys, u64 slot, Key key, u64 place, unsigned &taken) {
        u64 *at = reinterpret_cast<u64 *>(keys.slots) + 2 * slot;
        if (slot <= keys.last) {
            u64 was = *at;
            if (was == NONE) {
                was = atomicCAS(at, NONE, (u64)key);
                if (was == NONE)
                    take_slot(keys, taken);
            }
            if (was != NONE && was != key)
                return false;
        }
        const u64 was = at[1] > place ? atomicMin(at + 1, place) : place;
        if (slot > keys.last && was == NONE)
            take_slot(keys, taken);
        return true;
    }
    static __device__ __forceinline__ u64 slots(const Keys &keys) {
        return keys.last + 2;
    }
    static __device__ __forceinline__ bool own_slot(Key key) {
        return key == NONE;
    }
    static __device__ __forceinline__ Key key(const Keys &keys, u64 slot) {
        return (Key)keys.slots[2 * slot]; /* of its own slot all ones, too */
    }
    static __device__ __forceinline__ u64 place(const Keys &keys, u64 slot) {
        return keys.slots[2 * slot + 1];
    }
    static __device__ __forceinline__ void put_number(const Keys &keys, u64 slot, unsigned number) {
        keys.slots[2 * slot + 1] = number;
    }
    static __device__ __forceinline__ unsigned number(const Keys &keys, u64 slot) {
        return (unsigned)keys.slots[2 * slot + 1];
    }
};

/* Slots that are looked at before it is asked whether there is a place at all. */
constexpr unsigned PATIENCE = 16;

/* The slot of a key. Where more keys came than there is room for, any slot. */
template <class Table>
__device__ __forceinline__ unsigned find_slot(const Keys &keys, typename Table::Key key, u64 place, unsigned &taken) {
    u64 slot = Table::own_slot(key) ? keys.last + 1 : hash_of(key) & keys.last;
    for (u64 tried = 1; !Table::enter(keys, slot, key, place, taken); tried++) {
        if (tried > keys.last || (tried % PATIENCE == 0 && is_over(keys)))
            return 0;
        slot = (slot + 1) & keys.last;
    }
    return (unsigned)slot;
}

/* Calls use(first) for the elements of this block, by warps: those of a lane begin at `first`, 32 apart. */
template <class Use> __device__ __forceinline__ void for_tiles(const Keys &keys, Use use) {
    const u64 own = (u64)warp_index() * (32 * RD_CUDA_KEYS_ROWS) + lane_index();
    for (u64 tile = (u64)blockIdx.x * RD_CUDA_KEYS_TILE; tile < keys.count; tile += (u64)gridDim.x * RD_CUDA_KEYS_TILE)
        use(tile + own);
}

/* Enters all keys. Of equal ones that follow each other in a row, the first looks for the slot: it has their least place. */
template <class Table> __device__ __forceinline__ void enter_all(const Keys &keys) {
    typedef typename Table::Key Key;
    __shared__ unsigned taken;
    if (threadIdx.x == 0)
        taken = 0;
    __syncthreads();
    for_tiles(keys, [&](u64 first) {
        if (__any_sync(ALL, is_over(keys)))
            return;
        const Key *array = static_cast<const Key *>(keys.array);
        Key key[RD_CUDA_KEYS_ROWS];
#pragma unroll
        for (int r = 0; r < RD_CUDA_KEYS_ROWS; r++)
            key[r] = first + 32 * r < keys.count ? __ldcs(array + first + 32 * r) : 0;
#pragma unroll
        for (int r = 0; r < RD_CUDA_KEYS_ROWS; r++) {
            const u64 i = first + 32 * r;
            const unsigned begins = find_begins(key[r], key[r], i, i - lane_index(), keys.count);
            unsigned slot = 0;
            if (begins >> lane_index() & 1)
                slot = find_slot<Table>(keys, key[r], i, taken);
            slot = __shfl_sync(ALL, slot, 31 - __clz((int)(begins & (lanes_below() << 1 | 1))));
            if (i < keys.count)
                keys.indices[i] = slot;
        }
    });
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(reinterpret_cast<u64 *>(&keys.notes->taken), (u64)(taken % RD_CUDA_KEYS_TOLD));
}

/* Calls use(slot) for all slots of the table, shared out over the grid. */
template <class Table, class Use> __device__ __forceinline__ void for_slots(const Keys &keys, Use use) {
    for (u64 slot = (u64)blockIdx.x * THREADS + threadIdx.x; slot < Table::slots(keys);
         slot += (u64)gridDim.x * THREADS)
        use(slot);
}

template <class Table> __device__ __forceinline__ void mark_firsts(const Keys &keys) {
    if (is_over(keys))
        return;
    for_slots<Table>(keys, [&](u64 slot) {
        const u64 place = Table::place(keys, slot);
        if (place != NONE)
            atomicOr(reinterpret_cast<u64 *>(&keys.firsts[place / 64]), (u64)1 << place % 64);
    });
}

/* For each word, how many bits are set below; and how many there are in all. */
__device__ __forceinline__ void count_firsts(const Keys &keys) {
    constexpr int ROWS = RD_CUDA_KEYS_BIT_ROWS;
    const u64 words = (keys.count + 63) / 64;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *keys.found = is_over(keys) ? NONE : keys.notes->taken;
    if (is_over(keys))
        return;
    const u64 tile = take_tile(&keys.notes->ticket[0]),
              first = tile * RD_CUDA_KEYS_BIT_TILE + (u64)warp_index() * (32 * ROWS) + lane_index();
    unsigned up_to[ROWS], sum[ROWS], own = 0; /* up_to: the lane's own bits, and those of lanes below */
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        sum[r] = first + 32 * r < words ? count_bits(keys.firsts[first + 32 * r]) : 0;
        up_to[r] = sum[r];
#pragma unroll
        for (int by = 1; by < 32; by *= 2) {
            const unsigned other = __shfl_up_sync(ALL, up_to[r], by);
            up_to[r] += lane_index() >= by ? other : 0;
        }
        own += __shfl_sync(ALL, up_to[r], 31);
    }
    u64 end, below = scan(keys.state, tile, own, end);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (first + 32 * r < words)
            keys.below[first + 32 * r] = (unsigned)below + up_to[r] - sum[r];
        below += __shfl_sync(ALL, up_to[r], 31);
    }
}

/* Each slot gets its key's number in place of where that came first. */
template <class Table> __device__ __forceinline__ void number_slots(const Keys &keys) {
    typedef typename Table::Key Key;
    Key *unique = static_cast<Key *>(keys.rank ? keys.to_key : keys.unique);
    if (is_over(keys))
        return;
    for_slots<Table>(keys, [&](u64 slot) {
        const u64 place = Table::place(keys, slot);
        if (place == NONE)
            return;
        const u64 bits = keys.firsts[place / 64] & (((u64)1 << place % 64) - 1);
        const unsigned number = keys.below[place / 64] + count_bits(bits);
        if (unique)
            unique[number] = Table::key(keys, slot);
        Table::put_number(keys, slot, number);
    });
}

template <class Table> __device__ __forceinline__ void write_indices(const Keys &keys) {
    const bool over = is_over(keys);
    for_tiles(keys, [&](u64 first) {
        unsigned index[RD_CUDA_KEYS_ROWS];
#pragma unroll
        for (int r = 0; r < RD_CUDA_KEYS_ROWS; r++)
            index[r] = !over && first + 32 * r < keys.count ? keys.indices[first + 32 * r] : 0;
#pragma unroll
        for (int r = 0; r < RD_CUDA_KEYS_ROWS; r++)
            index[r] = over ? UINT32_MAX : Table::number(keys, index[r]);
#pragma unroll
        for (int r = 0; r < RD_CUDA_KEYS_ROWS; r++)
            if (first + 32 * r < keys.count)
                keys.indices[first + 32 * r] = keys.rank && !over ? keys.rank[index[r]] : index[r];
    });
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Ascending order
 * ------------------------------------------------------------------------------------------------------------------ */

constexpr int DIGITS = RD_CUDA_KEYS_DIGITS;
static_assert(DIGITS == THREADS, "each thread of a block has a digit");

template <class Key> __device__ __forceinline__ unsigned digit_of(const Keys &keys, Key key, unsigned pass) {
    return (unsigned)((key ^ (Key)keys.sign) >> (8 * pass)) & (DIGITS - 1);
}

/* How many keys have which digit, of all passes. */
template <class Key> __device__ __forceinline__ void count_digits(const Keys &keys) {
    __shared__ unsigned counts[sizeof(Key)][DIGITS];
    const Key *from = static_cast<const Key *>(keys.from_key);
    const u64 count = is_over(keys) ? 0 : keys.notes->taken;
    for (unsigned pass = 0; pass < sizeof(Key); pass++)
        counts[pass][threadIdx.x] = 0;
    __syncthreads();
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < count; i += (u64)gridDim.x * THREADS)
        for (unsigned pass = 0; pass < sizeof(Key); pass++)
            atomicAdd(&counts[pass][digit_of(keys, from[i], pass)], 1u);
    __syncthreads();
    for (unsigned pass = 0; pass < sizeof(Key); pass++)
        if (counts[pass][threadIdx.x])
            atomicAdd(reinterpret_cast<u64 *>(&keys.notes->digits[pass][threadIdx.x]), (u64)counts[pass][threadIdx.x]);
}

/* The lanes whose digit is this lane's. */
__device__ __forceinline__ unsigned find_peers(unsigned digit, bool is_there) {
    unsigned peers = __ballot_sync(ALL, is_there);
#pragma unroll
    for (int bit = 0; bit < 8; bit++) {
        const unsigned set = __ballot_sync(ALL, digit >> bit & 1);
        peers &= digit >> bit & 1 ? set : ~set;
    }
    return peers;
}

/* The sum of all tiles below, of the digit that each lane has; as sum_below(), but with a state for each digit. */
__device__ __forceinline__ u64 digits_below(uint64_t *state, u64 tile, u64 sum) {
    volatile uint64_t *own = &state[tile * DIGITS + threadIdx.x];
    *own = (tile ? PARTIAL : COMPLETE) | sum;
    u64 before = 0;
    i64 at = (i64)tile - 1;
    for (unsigned tries = 0; __any_sync(ALL, at >= 0); tries++) {
        stop_after(tries);
        const u64 word = at >= 0 ? read_word(&state[(u64)at * DIGITS + threadIdx.x]) : PARTIAL;
        if (!word)
            continue;
        before += word & SUM;
        at = word & COMPLETE ? -1 : at - 1;
        tries = 0;
    }
    if (tile)
        *own = COMPLETE | (before + sum);
    return before;
}

/* How many keys have lower digits than this thread's. By the whole block. */
__device__ __forceinline__ u64 lower_digits(const Keys &keys) {
    __shared__ u64 of_warp[WARPS];
    const u64 own = keys.notes->digits[keys.pass][threadIdx.x];
    u64 up_to = own;
    for (int by = 1; by < 32; by *= 2) {
        const u64 other = __shfl_up_sync(ALL, up_to, by);
        up_to += lane_index() >= by ? other : 0;
    }
    if (lane_index() == 31)
        of_warp[warp_index()] = up_to;
    __syncthreads();
    for (int w = 0; w < warp_index(); w++)
        up_to += of_warp[w];
    return up_to - own;
}

/* One pass: keys go to where those of lower digits, those of tiles below, and those before in the tile, leave off. */
template <class Key> __device__ __forceinline__ void sort_by_digit(const Keys &keys) {
    constexpr int ROWS = RD_CUDA_KEYS_SORT_ROWS;
    __shared__ unsigned counts[WARPS][DIGITS];
    __shared__ u64 begin[DIGITS];
    const u64 count = is_over(keys) ? 0 : keys.notes->taken, tile = take_tile(&keys.notes->ticket[1 + keys.pass]),
              first = tile * RD_CUDA_KEYS_SORT_TILE + (u64)warp_index() * (32 * ROWS) + lane_index();
    if (tile * RD_CUDA_KEYS_SORT_TILE >= count)
        return;
    const Key *from = static_cast<const Key *>(keys.from_key);
    for (int w = 0; w < WARPS; w++)
        counts[w][threadIdx.x] = 0;
    __syncthreads();
    Key key[ROWS];
    unsigned digit[ROWS], before[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const bool is_there = first + 32 * r < count;
        key[r] = is_there ? from[first + 32 * r] : 0;
        digit[r] = digit_of(keys, key[r], keys.pass);
        const unsigned peers = find_peers(digit[r], is_there);
        before[r] = counts[warp_index()][digit[r]] + __popc(peers & lanes_below());
        __syncwarp();
        if (is_there && !(peers & lanes_below()))
            counts[warp_index()][digit[r]] += __popc(peers);
        __syncwarp();
    }
    const u64 lower = lower_digits(keys);
    unsigned sum = 0;
    for (int w = 0; w < WARPS; w++) {
        const unsigned own = counts[w][threadIdx.x];
        counts[w][threadIdx.x] = sum;
        sum += own;
    }
    begin[threadIdx.x] = lower + digits_below(keys.state, tile, sum);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const u64 i = first + 32 * r;
        if (i >= count)
            continue;
        const u64 to = begin[digit[r]] + counts[warp_index()][digit[r]] + before[r];
        const unsigned number = keys.pass ? keys.from_number[i] : (unsigned)i;
        if (keys.to_key)
            static_cast<Key *>(keys.to_key)[to] = key[r];
        if (keys.is_last)
            keys.rank[number] = (unsigned)to;
        else
            keys.to_number[to] = number;
    }
}

} // namespace

#define KERNEL(NAME, ...)                                                                                              \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS) NAME(const __grid_constant__ rd_cuda_keys keys) {    \
        __VA_ARGS__(keys);                                                                                             \
    }
#define TABLE_KERNELS(NAME, ...)                                                                                       \
    KERNEL(keys_enter_##NAME, enter_all<__VA_ARGS__>)                                                                  \
    KERNEL(keys_mark_##NAME, mark_firsts<__VA_ARGS__>)                                                                 \
    KERNEL(keys_number_##NAME, number_slots<__VA_ARGS__>)                                                              \
    KERNEL(keys_write_##NAME, write_indices<__VA_ARGS__>)

KERNEL(keys_runs_32, find_runs<unsigned>)
KERNEL(keys_runs_64, find_runs<u64>)
KERNEL(keys_fill, fill_offsets)
TABLE_KERNELS(narrow, Narrow)
TABLE_KERNELS(wide_32, Wide<unsigned>)
TABLE_KERNELS(wide_64, Wide<u64>)
KERNEL(keys_count, count_firsts)
KERNEL(keys_digits_32, count_digits<unsigned>)
KERNEL(keys_digits_64, count_digits<u64>)
KERNEL(keys_sort_32, sort_by_digit<unsigned>)
KERNEL(keys_sort_64, sort_by_digit<u64>)
