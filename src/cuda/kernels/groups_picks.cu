/* Extremes, their places, counts, truth values and bits by groups: one word for each result, which elements change by atomic operations that
 * may come in any order. By the elements' size, as the rest of their type is known when the kernel runs.
 *
 * A scan makes of each element a word in which 0 says nothing:
 *
 *   RANK    how good it is, of an order in which the best is greatest. An element of rank 0 is noted
 *   FIRST   its rank, and below it ~row in 32 bits: the greatest is the first of the best. Rows are fewer than these bits have values, so that
 *           none is 0. Where they are not, or ranks take 64 bits, there are two scans, of RANK and of
 *   PLACE   ~row, where its rank is that of the result, which the scan before has found
 *   COUNT   1, if it counts
 *   BITS    its bits; `and` is what `or` makes of complements
 *
 * Words of one result side by side in a lane are combined first; then they go to a table in shared memory (groups.cuh), or, where a result
 * has no slot, to its plane. Most extremes are seen to change nothing by a glance. */
#include "delivery.cuh"
#include "groups.cuh"
#include "order.cuh"
#include "range.cuh"

namespace {

enum Pick { RANK, FIRST, PLACE, COUNT, BITS };

template <int BYTES, Pick PICK> struct Picks {
    typedef Word<BYTES> Bits;
    static constexpr Bits SIGN = (Bits)1 << (8 * BYTES - 1), MASK = SIGN | (SIGN - 1);
    const rd_cuda_groups &groups;
    const Order<BYTES> order;

    __device__ __forceinline__ explicit Picks(const rd_cuda_groups &g)
        : groups(g), order(g.call, g.is_signed, g.infinity) {
    }

    __device__ __forceinline__ bool is_nan(Bits bits) const {
        return groups.call.is_float && (bits & ~SIGN) > (Bits)groups.infinity;
    }
    __device__ __forceinline__ bool is_zero(Bits bits) const {
        return (groups.call.is_float ? bits & ~SIGN : bits) == 0;
    }

    __device__ __forceinline__ u64 word(Bits bits, unsigned result, u64 element) const {
        const rd_cuda_call &call = groups.call;
        if constexpr (PICK == BITS)
            return bits ^ (call.combine == RD_AND ? MASK : 0);
        const bool nan = is_nan(bits), ignored = nan && call.nan == REDUCT_NAN_IGNORE;
        if (PICK != PLACE && nan && !ignored)
            note_nan_at(groups, result, element);
        if constexpr (PICK == COUNT) {
            if (call.transform == RD_PRESENT)
                return !nan;
            return call.combine == RD_AND ? is_zero(bits) : !is_zero(bits) && !ignored;
        }
        if (nan)
            return 0;
        const u64 rank = MASK - order.key(groups.is_truth ? bits != 0 : bits);
        if constexpr (PICK == FIRST)
            return rank << 32 | (unsigned)~divide(element, groups.width);
        if constexpr (PICK == PLACE) /* nobody changes ranks any more, so that they may be had from the nearest cache */
            return rank == groups.grid[1].window[result] ? ~divide(element, groups.width) : 0;
        if (rank == 0)
            set_note(groups, result, RD_CUDA_GROUPS_FOUND);
        return rank;
    }

    __device__ __forceinline__ u64 combine(u64 a, u64 b) const {
        if constexpr (PICK == COUNT)
            return a + b;
        else if constexpr (PICK == BITS)
            return groups.call.combine == RD_XOR ? a ^ b : a | b;
        else
            return max(a, b);
    }

    /* To a plane. */
    __device__ __forceinline__ void put(unsigned result, u64 value) const {
        uint64_t *at = groups.grid[0].window + result;
        if constexpr (PICK == COUNT)
            atomicAdd(reinterpret_cast<u64 *>(at), value);
        else if constexpr (PICK != BITS)
            raise_to(at, value);
        else if (groups.call.combine == RD_XOR)
            atomicXor(reinterpret_cast<u64 *>(at), value);
        else if ((glance(at) & value) != value)
            atomicOr(reinterpret_cast<u64 *>(at), value);
    }

    /* To a slot: two words, as shared memory has few operations on longer ones. A chunk's count fits one. */
    __device__ __forceinline__ void put_in_slot(u64 *slot, u64 value) const {
        unsigned *half = reinterpret_cast<unsigned *>(slot);
        if constexpr (PICK == COUNT) {
            atomicAdd(half, (unsigned)value);
        } else if constexpr (PICK != BITS) {
            if (*const_cast<volatile u64 *>(slot) < value)
                atomicMax(slot, value);
        } else {
#pragma unroll
            for (int i = 0; i < (BYTES == 8 ? 2 : 1); i++) {
                const unsigned own = (unsigned)(value >> (32 * i));
                if (own && groups.call.combine == RD_XOR)
                    atomicXor(half + i, own);
                else if (own)
                    atomicOr(half + i, own);
            }
        }
    }
};

/* Slots begin with pairs of words, so that these are aligned; then come the words of their owners, if there are any. */
template <int BYTES, Pick PICK> __device__ __forceinline__ void add(const rd_cuda_groups &groups) {
    constexpr int EACH = RD_CUDA_GROUPS_EACH(BYTES, 0);
    extern __shared__ __align__(16) unsigned char room[];
    u64 *const values = reinterpret_cast<u64 *>(room);
    const Slots table(groups, reinterpret_cast<unsigned *>(values + groups.slots), 0);
    const Picks<BYTES, PICK> picks(groups);
    const u64 tiles = (groups.call.count + 32 * EACH - 1) / (32 * EACH),
              chunks = (tiles + groups.chunk - 1) / groups.chunk;
    bool tabled = groups.slots != 0;
    unsigned found = 0;
    for (unsigned i = threadIdx.x; i < groups.slots; i += GROUP_THREADS)
        values[i] = 0;
    table.open(0);
    wait_for_previous();
    let_next_come();
#pragma unroll 1
    for (u64 chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
        for_tiles<BYTES, false, EACH>(groups, chunk, [&](const auto &loaded, u64 first) {
            unsigned result[EACH], own = 0;
            u64 word[EACH];
            loaded.find(groups, first, result);
#pragma unroll
            for (int i = 0; i < EACH; i++)
                word[i] = result[i] == NOWHERE ? 0 : picks.word(loaded.x[i], result[i], first + i);
#pragma unroll
            for (int i = 0; i + 1 < EACH; i++)
                if (result[i] == result[i + 1]) {
                    word[i + 1] = picks.combine(word[i], word[i + 1]);
                    word[i] = 0;
                }
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                if (!word[i])
                    continue;
                bool known = false;
                const unsigned slot = tabled ? table.find(result[i], known) : table.slots;
                own += SOUGHT + (unsigned)known;
                if (slot < table.slots)
                    picks.put_in_slot(values + slot, word[i]);
                else
                    picks.put(result[i], word[i]);
            }
            __syncwarp();
            tabled = is_of_use(tabled, own, found);
        });
        __syncthreads();
        for (unsigned slot = threadIdx.x; slot < groups.slots; slot += GROUP_THREADS)
            if (values[slot]) {
                picks.put(table.owner_of(slot), values[slot]);
                values[slot] = 0;
            }
        __syncthreads();
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Results
 * ------------------------------------------------------------------------------------------------------------------ */

/* What a result's word stands for, where there is no NaN. */
template <int BYTES> __device__ __forceinline__ u64 value_of(const rd_cuda_groups &groups, u64 word, u64 result) {
    typedef Picks<BYTES, RANK> Ranks;
    const rd_cuda_call &call = groups.call;
    if (groups.is_pick == RD_CUDA_GROUPS_FIRST)
        return RD_CUDA_GROUPS_ROW(word);
    if (groups.is_pick == RD_CUDA_GROUPS_EXTREME)
        return call.finish == RD_INDEX ? ~groups.grid[1].window[result]
                                       : Ranks(groups).order.element((Word<BYTES>)(Ranks::MASK - word));
    if (groups.is_pick == RD_CUDA_GROUPS_BITS)
        return word ^ (call.combine == RD_AND ? Ranks::MASK : 0);
    switch (call.combine) {
    case RD_OR:
        return word != 0;
    case RD_AND:
        return word == 0;
    case RD_XOR:
        return word & 1;
    default:
        return word;
    }
}

/* The least and the greatest of a result, or how far they are apart. The words of the greatest are keys of the order of the least. */
template <int BYTES>
__device__ __forceinline__ void take_both(const rd_cuda_groups &groups, u64 word, u64 result, uint64_t (&bits)[4]) {
    typedef Picks<BYTES, RANK> Ranks;
    const rd_cuda_call &call = groups.call;
    const Order<BYTES> order = Ranks(groups).order;
    bits[0] = order.element((Word<BYTES>)(Ranks::MASK - word));
    bits[1] = order.element((Word<BYTES>)groups.grid[1].window[result]);
    if (call.finish == RD_RANGE)
        bits[0] = call.is_float ? range_of_floats(call, groups.infinity, bits[0], bits[1]) : bits[1] - bits[0];
}

template <int BYTES> __device__ __forceinline__ void finish_picks(const rd_cuda_groups &groups) {
    const rd_cuda_call &call = groups.call;
    if (is_refused(groups))
        return;
    const bool extreme = groups.is_pick == RD_CUDA_GROUPS_EXTREME || groups.is_pick == RD_CUDA_GROUPS_FIRST,
               both = groups.is_both;
    const unsigned outputs = both && call.finish == RD_VALUE ? 2 : 1;
    const u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 result = (u64)blockIdx.x * blockDim.x + threadIdx.x; result < groups.results; result += step) {
        const u64 word = groups.grid[0].window[result], nan_below = groups.nan_below ? groups.nan_below[result] : 0;
        const bool found = !extreme || word || groups.notes[result] & RD_CUDA_GROUPS_FOUND;
        unsigned status = REDUCT_OK;
        uint64_t bits[4] = {0, 0, 0, 0};
        if (nan_below && call.nan == REDUCT_NAN_ERROR)
            status = REDUCT_ERROR_NAN;
        else if (!found && !nan_below && call.minimum)
            status = REDUCT_ERROR_EMPTY;
        if (status != REDUCT_OK || (extreme && nan_below)) {
            const struct rd_type type = result_type(call);
            bits[0] = bits[1] = call.result_class == RD_FLOAT           ? rd_nan_bits(&type)
                                : status == REDUCT_OK /* of an index */ ? nan_index_of(nan_below)
                                                                        : 0;
        } else if (found && both) {
            take_both<BYTES>(groups, word, result, bits);
        } else if (found) {
            bits[0] = value_of<BYTES>(groups, word, result);
        }
        unsigned char *to = static_cast<unsigned char *>(call.result) + result * outputs * call.result_bytes;
        for (unsigned i = 0; i < outputs; i++)
            store_result(to + i * call.result_bytes, bits + i, call.result_bytes);
        tell_of(groups, result, status, nan_index_of(nan_below));
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Few elements of few results: all of it by one block
 * ------------------------------------------------------------------------------------------------------------------ */

/* Each result has a pair of words in shared memory. */
template <int BYTES, Pick PICK> __device__ __forceinline__ void pick_all(const rd_cuda_groups &groups, u64 *values) {
    const Picks<BYTES, PICK> picks(groups);
    for (u64 number = threadIdx.x; number < groups.call.count; number += RD_CUDA_GROUPS_ALONE_THREADS) {
        const Word<BYTES> bits = __ldcs(static_cast<const Stored<BYTES> *>(groups.call.x) + number);
        const unsigned result = result_of<false>(groups, number);
        const u64 word = result == NOWHERE ? 0 : picks.word(bits, result, number);
        if (word)
            picks.put_in_slot(values + result, word);
    }
}

template <int BYTES> __device__ __forceinline__ void pick_alone(const rd_cuda_groups_all &all) {
    __shared__ u64 values[RD_CUDA_GROUPS_ALONE_RESULTS];
    const rd_cuda_groups &first = all.of[0][0];
    const unsigned results = (unsigned)first.results;
    wait_for_previous();
    let_next_come();
    clear_zeros(first, 0, first.zero_vectors, 0, 1);
    for (unsigned scan = 0; scan < all.scans; scan++) {
        for (unsigned r = threadIdx.x; r < results; r += RD_CUDA_GROUPS_ALONE_THREADS)
            values[r] = 0;
        __syncthreads();
        for (unsigned initial = 0; initial <= all.with_initial; initial++) {
            const rd_cuda_groups &groups = all.of[scan][initial];
            if (groups.is_pick == RD_CUDA_GROUPS_COUNTS)
                pick_all<BYTES, COUNT>(groups, values);
            else if (groups.is_pick == RD_CUDA_GROUPS_BITS)
                pick_all<BYTES, BITS>(groups, values);
            else if (BYTES < 8 && groups.is_pick == RD_CUDA_GROUPS_FIRST)
                pick_all<BYTES, FIRST>(groups, values);
            else if (scan == 0 || groups.is_both)
                pick_all<BYTES, RANK>(groups, values);
            else
                pick_all<BYTES, PLACE>(groups, values);
        }
        __syncthreads();
        for (unsigned r = threadIdx.x; r < results; r += RD_CUDA_GROUPS_ALONE_THREADS)
            all.of[scan][0].grid[0].window[r] = values[r];
        __syncthreads();
    }
    finish_picks<BYTES>(first);
}

} // namespace

#define SCAN(NAME, BYTES, PICK)                                                                                        \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_THREADS, 1)                                            \
        groups_add_##NAME##_##BYTES(const __grid_constant__ rd_cuda_groups groups) {                                   \
        add<BYTES, PICK>(groups);                                                                                      \
    }
#define KERNELS(BYTES)                                                                                                 \
    SCAN(rank, BYTES, RANK)                                                                                            \
    SCAN(place, BYTES, PLACE)                                                                                          \
    SCAN(count, BYTES, COUNT)                                                                                          \
    SCAN(bits, BYTES, BITS)                                                                                            \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS)                                                      \
        groups_finish_##BYTES(const __grid_constant__ rd_cuda_groups_all all) {                                        \
        wait_for_previous();                                                                                           \
        let_next_come();                                                                                               \
        finish_picks<BYTES>(all.of[0][0]);                                                                             \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_ALONE_THREADS, 1)                                      \
        groups_alone_##BYTES(const __grid_constant__ rd_cuda_groups_all all) {                                         \
        pick_alone<BYTES>(all);                                                                                        \
    }

KERNELS(1)
KERNELS(2)
KERNELS(4)
KERNELS(8)
SCAN(first, 1, FIRST)
SCAN(first, 2, FIRST)
SCAN(first, 4, FIRST)
