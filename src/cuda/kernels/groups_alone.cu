/* Sums by groups of few elements into few results, by one block in one launch: all that launches after each other do for more of them (groups_sums.cuh),
 * with the same bits. Each thread takes one element at a time; digits of all planes of the window are added in shared memory, in two words as in
 * tables there, of which few results have copies for lanes of a warp. */
#include "groups_ends.cuh"

namespace {

constexpr int ALONE_THREADS = RD_CUDA_GROUPS_ALONE_THREADS, ALONE_WARPS = ALONE_THREADS / 32,
              ALONE_WORDS = RD_CUDA_GROUPS_ALONE_WORDS;

/* Rooms for results that few words do not hold, in the same memory. */
constexpr int ALONE_ROOMS = ALONE_WARPS / 2;
static_assert(ALONE_ROOMS * sizeof(FinishRoom) <= ALONE_WORDS * sizeof(unsigned), "rooms are where sums were");

/* The window's planes in shared memory: of each the lower words of all slots, and the upper ones; then counts. Slots of one result lie side by side. */
struct Sums {
    const rd_cuda_groups &groups;
    unsigned *const words;
    unsigned copies_log2, slots;

    __device__ __forceinline__ Sums(const rd_cuda_groups &g, unsigned *room)
        : groups(g), words(room), copies_log2(0), slots((unsigned)g.results) {
        while (copies_log2 < RD_CUDA_GROUPS_COPIES_LOG2 && 2 * slots * arrays() <= (unsigned)ALONE_WORDS)
            copies_log2++, slots *= 2;
    }
    __device__ __forceinline__ unsigned arrays() const {
        return RD_CUDA_GROUPS_PIECES * groups.grid[0].window_planes + (groups.counted != nullptr);
    }
    __device__ __forceinline__ unsigned *array(unsigned which) const {
        return words + which * slots;
    }
    __device__ __forceinline__ unsigned slot_of(unsigned result) const {
        return result << copies_log2 | (lane_index() & ((1 << copies_log2) - 1));
    }

    __device__ __forceinline__ void open() const {
        for (unsigned i = threadIdx.x; i < slots * arrays(); i += ALONE_THREADS)
            words[i] = 0;
        __syncthreads();
    }
    /* A digit; what is carried over follows from what was there before. */
    __device__ __forceinline__ void add(int plane, unsigned slot, u64 magnitude, bool negative) const {
        if (!magnitude)
            return;
        const u64 digit = negative ? 0 - magnitude : magnitude;
        unsigned *const low = array(RD_CUDA_GROUPS_PIECES * plane) + slot;
        const unsigned own = (unsigned)digit, before = atomicAdd(low, own),
                       upper = (unsigned)(digit >> 32) + (before + own < own);
        if (upper)
            atomicAdd(low + slots, upper);
    }
    __device__ __forceinline__ void count(unsigned slot) const {
        if (groups.counted)
            atomicAdd(array(RD_CUDA_GROUPS_PIECES * groups.grid[0].window_planes) + slot, 1u);
    }

    /* All of it, to the planes. By the whole block, and whole warps, as lanes side by side have copies of one result. */
    __device__ __forceinline__ void close() const {
        __syncthreads();
        for (unsigned first = 0; first < slots; first += ALONE_THREADS) {
            const unsigned slot = first + threadIdx.x, result = slot >> copies_log2;
            const bool there = slot < slots, own = there && (slot & ((1 << copies_log2) - 1)) == 0;
            for (unsigned k = 0; k < groups.grid[0].window_planes; k++) {
                const unsigned *at = array(RD_CUDA_GROUPS_PIECES * k) + slot;
                const u64 sum = add_copies(there ? (u64)at[slots] << 32 | at[0] : 0);
                if (own)
                    groups.grid[0].window[k * groups.results + result] = sum;
            }
            if (groups.counted) {
                const unsigned *at = array(RD_CUDA_GROUPS_PIECES * groups.grid[0].window_planes) + slot;
                const u64 count = add_copies(there ? *at : 0);
                if (own)
                    groups.counted[result] = count;
            }
        }
        __syncthreads();
    }
    __device__ __forceinline__ u64 add_copies(u64 word) const {
        for (int by = 1; by < 1 << copies_log2; by *= 2)
            word += __shfl_xor_sync(ALL, word, by);
        return word;
    }
};

/* Integers are taken as those of 8 bytes with the same value, whatever their size: their terms fit the planes that there are. */
template <class T>
__device__ __forceinline__ typename T::Bits bits_at(const rd_cuda_groups &groups, const void *array, u64 number) {
    if constexpr (T::OF_FLOATS) {
        return element_at<T>(array, number);
    } else {
        const int above = 64 - 8 * groups.element_bytes;
        const u64 bits = groups.element_bytes == 8   ? __ldcs(static_cast<const u64 *>(array) + number)
                         : groups.element_bytes == 4 ? __ldcs(static_cast<const unsigned *>(array) + number)
                         : groups.element_bytes == 2 ? __ldcs(static_cast<const uint16_t *>(array) + number)
                                                     : __ldcs(static_cast<const uint8_t *>(array) + number);
        return groups.is_signed ? (u64)((i64)(bits << above) >> above) : bits;
    }
}

/* An element on its way. */
template <class T> struct Coming {
    typename T::Bits x, y;
    unsigned result;

    __device__ __forceinline__ void load(const rd_cuda_groups &groups, u64 number) {
        result = NOWHERE;
        if (number >= groups.call.count)
            return;
        x = bits_at<T>(groups, groups.call.x, number);
        y = T::PRODUCTS && groups.call.y ? bits_at<T>(groups, groups.call.y, number) : x;
        result = find_result(groups, number);
    }
};

template <class T> __device__ __forceinline__ void add_all(const rd_cuda_groups &groups, const Sums &sums) {
    const Window window(groups);
    Coming<T> next;
    next.load(groups, threadIdx.x);
#pragma unroll 1
    for (u64 number = threadIdx.x; number < groups.call.count; number += ALONE_THREADS) {
        const Coming<T> own = next;
        next.load(groups, number + ALONE_THREADS);
        if (own.result == NOWHERE)
            continue;
        const Term term = T::of(groups, own.x, own.y);
        const unsigned slot = sums.slot_of(own.result);
        bool counts = true;
        if (term.special == FINITE && !term.is_zero() && window.holds(term, T::WINDOW)) {
#pragma unroll
            for (int k = 0; k < T::WINDOW; k++)
                sums.add(k, slot, digit_of(term, window.place(term), k, window.step), term.negative);
        } else {
            counts = add_slowly<T>(groups, own.x, own.y, own.result, number);
        }
        if (counts)
            sums.count(slot);
    }
}

__device__ __forceinline__ void add_scan(const rd_cuda_groups_all &all, unsigned scan, unsigned *room) {
    const Sums sums(all.of[scan][0], room);
    sums.open();
    for (unsigned initial = 0; initial <= all.with_initial; initial++) {
        const rd_cuda_groups &groups = all.of[scan][initial];
        const auto add = [&](auto terms) { add_all<decltype(terms)>(groups, sums); };
        if (groups.call.is_float)
            with_terms_of_floats(groups, add);
        else
            with_terms_or_products<INTEGERS, 8>(groups, add);
    }
    sums.close();
}

} // namespace

extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_ALONE_THREADS, 1)
    groups_alone(const __grid_constant__ rd_cuda_groups_all all) {
    __shared__ __align__(16) unsigned room[ALONE_WORDS];
    FinishRoom *rooms = reinterpret_cast<FinishRoom *>(room);
    const rd_cuda_groups &first = all.of[0][0];
    wait_for_previous();
    let_next_come();
    clear_zeros(first, 0, first.zero_vectors, 0, 1);
    __syncthreads();
    for (unsigned scan = 0; scan < all.scans; scan++) {
        const rd_cuda_groups &groups = all.of[scan][first.call.count == 0 && all.with_initial];
        if (groups.grid[0].rest)
            guess(groups);
        __syncthreads();
        add_scan(all, scan, room);
    }
    if (is_refused(first))
        return;
    if (has_aside(all)) {
        clear_share(all, 0, 1);
        __syncthreads();
        fill_share(all, 0, 1);
        __syncthreads();
    }
    if (first.call.transform == RD_WEIGHTED)
        finish_results<WEIGHTED_MEANS, ALONE_WARPS, ALONE_ROOMS>(first, rooms);
    else
        finish_results<SUMS, ALONE_WARPS, ALONE_ROOMS>(first, rooms);
}
