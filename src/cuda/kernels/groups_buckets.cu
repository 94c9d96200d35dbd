/* Elements by groups that come in no order, where there are more groups than a block's table has room for: before they are added, they are
 * moved to buckets (groups.h), so that each block needs a table for few of them.
 *
 * groups_count counts the elements of each bucket, and says where it begins, and what items there are. groups_move takes tiles: each element gets
 * a place among those of its bucket in the tile, in shared memory, and so do the buckets one behind another; from there what is of one bucket goes
 * to memory side by side. Where that is, an atomic addition for each bucket of a tile says: so elements come in any order, as exact sums
 * may take them. Indices outside are refused here, and NaNs noted, as only here is known where they stand. */
#include "groups.cuh"
#include "meeting.cuh"
#include "tuning.h"

namespace {

constexpr int MOVE_THREADS = RD_CUDA_GROUPS_MOVE_THREADS, MOVE_WARPS = MOVE_THREADS / 32;
constexpr int BUCKETS = RD_CUDA_GROUPS_BUCKETS, OF_THREAD = BUCKETS / MOVE_THREADS; /* side by side */
constexpr int EACH = RD_CUDA_GROUPS_ROW_EACH, ROWS = RD_CUDA_GROUPS_ROWS, ROW = RD_CUDA_GROUPS_ROW;
static_assert(ROW == EACH * MOVE_THREADS, "a row has so many of each thread");

__device__ __forceinline__ unsigned size_log2_of(const rd_cuda_groups &groups) {
    return groups.buckets.size_log2[is_open_anywhere(groups)];
}

/* What comes before a thread's own, and what all have. By the whole block, of which `of_warp` is a room. */
__device__ __forceinline__ u64 sum_before(u64 own, u64 (&of_warp)[MOVE_WARPS], u64 &all) {
    u64 up_to = own;
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        const u64 other = __shfl_up_sync(ALL, up_to, by);
        up_to += lane_index() >= by ? other : 0;
    }
    __syncthreads(); /* the room has been read before */
    if (lane_index() == 31)
        of_warp[warp_index()] = up_to;
    __syncthreads();
    const u64 sum = lane_index() < MOVE_WARPS ? of_warp[lane_index()] : 0;
    u64 up_to_warp = sum;
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        const u64 other = __shfl_up_sync(ALL, up_to_warp, by);
        up_to_warp += lane_index() >= by ? other : 0;
    }
    all = __shfl_sync(ALL, up_to_warp, 31);
    return __shfl_sync(ALL, up_to_warp - sum, warp_index()) + up_to - own;
}
static_assert(MOVE_WARPS <= 32, "a warp has a lane for each of a block");

/* Results of elements side by side, for tiles that are counted. */
struct LoadedResults {
    Results<EACH> results;
    unsigned left, present;

    __device__ __forceinline__ void load(const rd_cuda_groups &groups, u64 first) {
        const u64 count = groups.call.count;
        left = first < count ? (unsigned)min(count - first, (u64)EACH) : 0;
        results.load(groups, first, left);
        present = find_present<EACH>(groups, first, left);
    }
    __device__ __forceinline__ void find(const rd_cuda_groups &groups, u64 first, unsigned (&result)[EACH]) const {
        results.find(groups, first, left, present, result);
    }
};

/* Where buckets begin, and items, when all have counted. By the last block, with a room of a word for each warp. */
__device__ __forceinline__ void place_buckets(const rd_cuda_groups &groups, u64 (&of_warp)[MOVE_WARPS]) {
    const rd_cuda_groups_buckets &buckets = groups.buckets;
    constexpr unsigned ALIGNED = RD_CUDA_GROUPS_BUCKET_ALIGNED;
    unsigned count[OF_THREAD];
    u64 own = 0, all;
#pragma unroll
    for (int i = 0; i < OF_THREAD; i++) {
        count[i] = __ldcg(buckets.counts->elements + threadIdx.x * OF_THREAD + i);
        own +=
            (u64)((count[i] + buckets.item - 1) / buckets.item) << 32 | ((count[i] + ALIGNED - 1) / ALIGNED * ALIGNED);
    }
    u64 before = sum_before(own, of_warp, all);
#pragma unroll 1
    for (int i = 0; i < OF_THREAD; i++) {
        unsigned begin = (unsigned)before, item = (unsigned)(before >> 32);
        const unsigned bucket = threadIdx.x * OF_THREAD + i, number = buckets.counts->elements[bucket],
                       end = begin + number;
        buckets.next[bucket] = begin;
        before += (number + ALIGNED - 1) / ALIGNED * ALIGNED;
        for (; begin < end; begin += min(buckets.item, end - begin), item++, before += (u64)1 << 32)
            buckets.items[item] = {bucket, begin, begin + min(buckets.item, end - begin)};
    }
    if (threadIdx.x == 0)
        buckets.counts->items = (unsigned)(all >> 32);
}

/* What a block that moves tiles has in shared memory: for each bucket where it begins in the tile, and how far from there to where its elements
 * go; the results of a tile's elements by bucket; and elements of an array in the same order. */
template <int BYTES> struct Staged {
    unsigned begin[BUCKETS], way[BUCKETS];

    __device__ __forceinline__ unsigned *results() {
        return reinterpret_cast<unsigned *>(this + 1);
    }
    __device__ __forceinline__ Stored<BYTES> *elements(unsigned rows) {
        return reinterpret_cast<Stored<BYTES> *>(results() + rows * ROW);
    }
};

/* Where a tile's buckets begin, and where they go. By the whole block. Returns how many elements there are. */
template <int BYTES>
__device__ __forceinline__ unsigned place_in_tile(const rd_cuda_groups &groups, Staged<BYTES> &staged,
                                                  u64 (&of_warp)[MOVE_WARPS]) {
    unsigned own[OF_THREAD], to[OF_THREAD];
    u64 sum = 0, all;
#pragma unroll
    for (int i = 0; i < OF_THREAD; i++) {
        own[i] = staged.begin[threadIdx.x * OF_THREAD + i];
        to[i] = own[i] ? atomicAdd(groups.buckets.next + threadIdx.x * OF_THREAD + i, own[i]) : 0;
        sum += own[i];
    }
    unsigned before = (unsigned)sum_before(sum, of_warp, all);
#pragma unroll
    for (int i = 0; i < OF_THREAD; i++) {
        const unsigned bucket = threadIdx.x * OF_THREAD + i;
        staged.begin[bucket] = before;
        staged.way[bucket] = to[i] - before;
        before += own[i];
    }
    return (unsigned)all;
}

/* Where a thread's elements of a tile stand in it, by bucket: two in a word, as there are few registers; or nowhere. */
struct PlacesInTile {
    static constexpr unsigned NO_PLACE = 0xffff;
    unsigned word[ROWS][EACH / 2];
    static_assert(ROWS * ROW <= NO_PLACE, "places fit half of a word");

    __device__ __forceinline__ void set(int r, int i, unsigned place) {
        word[r][i / 2] = i % 2 ? (word[r][i / 2] & 0xffff) | place << 16 : (word[r][i / 2] & 0xffff0000) | place;
    }
    __device__ __forceinline__ unsigned operator()(int r, int i) const {
        return i % 2 ? word[r][i / 2] >> 16 : word[r][i / 2] & 0xffff;
    }
};

/* A thread's elements of a row of a tile, of one array. */
template <int BYTES>
__device__ __forceinline__ void load_row(const rd_cuda_groups &groups, const void *from, u64 first,
                                         Packed<BYTES, EACH> &packed) {
    const u64 count = groups.call.count;
    packed.load(from, first, first < count ? (unsigned)min(count - first, (u64)EACH) : 0, groups.vectors);
}

/* To where they stand in the tile. */
template <int BYTES>
__device__ __forceinline__ void stage_row(const rd_cuda_groups &groups, Stored<BYTES> *elements, u64 first,
                                          const Packed<BYTES, EACH> &packed, const PlacesInTile &places, int r) {
#pragma unroll
    for (int i = 0; i < EACH; i++)
        if (const unsigned place = places(r, i); place != PlacesInTile::NO_PLACE) {
            const Word<BYTES> bits = packed[i];
            elements[place] = (Stored<BYTES>)bits;
            if (groups.nan_below && ((u64)bits & (((u64)1 << (8 * BYTES - 1)) - 1)) > groups.infinity)
                note_nan_at(groups, result_of(groups, first + i), first + i);
        }
}

/* A tile's elements that stand by bucket, to memory. By the whole block. */
template <int BYTES>
__device__ __forceinline__ void leave_tile(const rd_cuda_groups &groups, Staged<BYTES> &staged, unsigned all,
                                           unsigned size_log2, void *to) {
    Stored<BYTES> *const elements = staged.elements(groups.buckets.rows), *const moved =
                                                                              static_cast<Stored<BYTES> *>(to);
    __syncthreads();
#pragma unroll 4
    for (unsigned at = threadIdx.x; at < all; at += MOVE_THREADS)
        moved[staged.way[staged.results()[at] >> size_log2] + at] = elements[at];
    __syncthreads();
}

/* Whether a tile's elements lie plainly, and all are there. */
__device__ __forceinline__ bool is_plain_tile(const rd_cuda_groups &groups, u64 tile) {
    return groups.plain && groups.vectors && (tile + 1) * groups.buckets.rows * ROW <= groups.call.count;
}

/* The results of a tile's elements. Where these lie plainly, all are on their way at once. */
__device__ __forceinline__ void find_in_tile(const rd_cuda_groups &groups, u64 tile, unsigned (&result)[ROWS][EACH]) {
    const unsigned rows = groups.buckets.rows;
    const u64 begin = tile * rows * ROW + threadIdx.x * EACH;
    if (is_plain_tile(groups, tile)) {
        Packed<4, EACH> index[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            index[r].load(groups.indices, begin + r * ROW, (unsigned)r < rows ? EACH : 0, (unsigned)r < rows);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            Results<EACH>::take(groups, index[r], begin + r * ROW, (unsigned)r < rows ? (1u << EACH) - 1 : 0,
                                result[r]);
        return;
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        LoadedResults loaded;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            result[r][i] = NOWHERE;
        if ((unsigned)r < rows) {
            loaded.load(groups, begin + r * ROW);
            loaded.find(groups, begin + r * ROW, result[r]);
        }
    }
}

/* All tiles of a block. */
template <int BYTES> __device__ __forceinline__ void move(const rd_cuda_groups &groups) {
    extern __shared__ __align__(16) unsigned char shared_room[];
    __shared__ u64 of_warp[MOVE_WARPS];
    Staged<BYTES> &staged = *reinterpret_cast<Staged<BYTES> *>(shared_room);
    const rd_cuda_groups_buckets &buckets = groups.buckets;
    const unsigned size_log2 = size_log2_of(groups), rows = buckets.rows;
    constexpr bool EARLY =
        BYTES <= 4; /* elements are loaded before it is known where they go: if there are registers for them */
#pragma unroll 1
    for (u64 tile = blockIdx.x; tile < buckets.tiles; tile += gridDim.x) {
        const u64 begin = tile * rows * ROW + threadIdx.x * EACH;
        unsigned result[ROWS][EACH];
        PlacesInTile places = {};
        for (unsigned b = threadIdx.x; b < BUCKETS; b += MOVE_THREADS)
            staged.begin[b] = 0;
        __syncthreads();
        find_in_tile(groups, tile, result);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int i = 0; i < EACH; i++)
                places.set(r, i,
                           result[r][i] != NOWHERE ? atomicAdd(staged.begin + (result[r][i] >> size_log2), 1u)
                                                   : PlacesInTile::NO_PLACE);
        Packed<BYTES, EACH> packed[EARLY ? ROWS : 1];
#pragma unroll
        for (int r = 0; EARLY && r < ROWS; r++)
            if ((unsigned)r < rows)
                load_row(groups, groups.call.x, begin + r * ROW, packed[r]);
        __syncthreads();
        const unsigned all = place_in_tile(groups, staged, of_warp);
        __syncthreads();
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                unsigned place = places(r, i);
                if (place != PlacesInTile::NO_PLACE) {
                    place += staged.begin[result[r][i] >> size_log2];
                    staged.results()[place] = result[r][i];
                }
                places.set(r, i, place);
            }
        __syncthreads();
#pragma unroll 4
        for (unsigned at = threadIdx.x; at < all; at += MOVE_THREADS)
            buckets.result[staged.way[staged.results()[at] >> size_log2] + at] = staged.results()[at];
#pragma unroll 1
        for (int which = 0; which < (groups.call.y ? 2 : 1); which++) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if ((unsigned)r >= rows)
                    break;
                Packed<BYTES, EACH> &own = packed[EARLY ? r : 0];
                if (!EARLY || which)
                    load_row(groups, which ? groups.call.y : groups.call.x, begin + r * ROW, own);
                stage_row<BYTES>(groups, staged.elements(rows), begin + r * ROW, own, places, r);
            }
            leave_tile(groups, staged, all, size_log2, buckets.moved[which]);
        }
    }
}

} // namespace

extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_MOVE_THREADS, 1)
    groups_count(const __grid_constant__ rd_cuda_groups groups) {
    __shared__ unsigned counts[BUCKETS];
    __shared__ u64 of_warp[MOVE_WARPS];
    __shared__ bool last;
    rd_cuda_groups_counts &all = *groups.buckets.counts;
    for (unsigned b = threadIdx.x; b < BUCKETS; b += MOVE_THREADS)
        counts[b] = 0;
    __syncthreads();
    wait_for_previous();
    let_next_come();
    if (!are_moved(groups))
        return;
    const unsigned size_log2 = size_log2_of(groups);
    const u64 tiles = (groups.call.count + 32 * EACH - 1) / (32 * EACH),
              begin = tiles / gridDim.x * blockIdx.x + min((u64)blockIdx.x, tiles % gridDim.x),
              end = begin + tiles / gridDim.x + (blockIdx.x < tiles % gridDim.x);
    for_some_tiles<LoadedResults, EACH, MOVE_WARPS>(groups, begin, end, 0, [&](const LoadedResults &loaded, u64 first) {
        unsigned result[EACH];
        loaded.find(groups, first, result);
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (result[i] != NOWHERE)
                atomicAdd(counts + (result[i] >> size_log2), 1u);
    });
    __syncthreads();
    for (unsigned b = threadIdx.x; b < BUCKETS; b += MOVE_THREADS)
        if (counts[b])
            atomicAdd(all.elements + b, counts[b]);
    __syncthreads();
    if (threadIdx.x == 0)
        last = take_ticket(&all.counted, 1) == gridDim.x;
    __syncthreads();
    if (last)
        place_buckets(groups, of_warp);
}

#define RD_CUDA_GROUPS_MOVE(BYTES)                                                                                     \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_MOVE_THREADS, 1)                                       \
        groups_move_##BYTES(const __grid_constant__ rd_cuda_groups groups) {                                           \
        wait_for_previous();                                                                                           \
        let_next_come();                                                                                               \
        if (are_moved(groups))                                                                                         \
            move<BYTES>(groups);                                                                                       \
    }
RD_CUDA_GROUPS_MOVE(2)
RD_CUDA_GROUPS_MOVE(4)
RD_CUDA_GROUPS_MOVE(8)
