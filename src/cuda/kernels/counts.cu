/* Counts: how many elements are zero, and how many are NaN, from which count, count_nonzero, any and all follow, and bits of bool.
 *
 * Overview. A thread counts over its tiles, one- and two-byte elements several at a time; blocks leave two words. Only where a NaN
 * is an error does it matter where the first is, and a tile that has one is looked through again. */
#include "reduce.cuh"

namespace {

__device__ __forceinline__ u64 bits_of(double x) {
    return (u64)__double_as_longlong(x);
}
__device__ __forceinline__ unsigned bits_of(float x) {
    return __float_as_uint(x);
}

template <class T> __device__ __forceinline__ bool is_zero(T x) {
    if constexpr (IS_HALF<T>)
        return (x.bits & 0x7fff) == 0;
    else if constexpr (IS_FLOAT<T>)
        return bits_of(x) << 1 == 0; /* whatever is made of subnormal numbers */
    else
        return x == 0;
}

template <class T> __device__ __forceinline__ bool is_nan(T x) {
    if constexpr (IS_HALF<T>)
        return (x.bits & 0x7fff) > T::INFINITE;
    else
        return IS_FLOAT<T> && x != x;
}

/* Zeros and NaNs among some elements. */
struct Tally {
    u64 zeros, nans;

    /* As words that are not zero: less than 2^63 each. */
    static constexpr int WORDS = 2;
    __device__ __forceinline__ void leave(const Block &block, rd_cuda_workspace *workspace) const {
        const u64 word[WORDS] = {zeros ^ TAG, nans ^ TAG};
        leave_words(block, workspace, word);
    }
    __device__ __forceinline__ void take(const u64 (&word)[WORDS]) {
        zeros += word[0] ^ TAG;
        nans += word[1] ^ TAG;
    }
};

template <class T> struct Count {
    typedef T Element;
    typedef NoRing Ring;
    static constexpr int VECTORS = RD_CUDA_VECTORS(RD_COUNT, RD_NONZERO);
    static constexpr bool PAIRS = false, CLAIMS = false, COUNTS = true, STRAYS_LAST = false;
    typedef Tile<T, VECTORS> Part;

    /* What a block's warps have counted; in the last block, what the grid has besides. */
    struct OfWarps {
        Tally tally[2][WARPS];
    };

    const rd_cuda_call &call;
    const Span<T> &span;
    Block &block;
    OfWarps &of_warps;
    Tally tally;

    __device__ __forceinline__ Count(const rd_cuda_call &c, const Span<T> &s, Block &b, OfWarps &memory)
        : call(c), span(s), block(b), of_warps(memory), tally{0, 0} {
    }

    __device__ __forceinline__ void take_nan(u64 index) {
        if (call.nan == REDUCT_NAN_ERROR)
            note_nan(block, index);
    }

    __device__ __forceinline__ void take_stray(u64 at) {
        tally.zeros += is_zero(span.x[at]);
        tally.nans += is_nan(span.x[at]);
        if (is_nan(span.x[at]))
            take_nan(call.first + at);
    }

    /* Neither zero nor NaN in any type. */
    static __device__ __forceinline__ uint4 padding() {
        return make_uint4(0x01010101, 0x01010101, 0x01010101, 0x01010101);
    }

    /* Zeros of a vector, by their bits where several are in a word. */
    static __device__ __forceinline__ int zeros_of(const Vector<T> &vector) {
        int zeros = 0;
        if constexpr (sizeof(T) <= 2) {
#pragma unroll
            for (int w = 0; w < 4; w++)
                zeros += __popc(sizeof(T) == 1 ? __vcmpeq4(vector.word[w], 0)
                                               : __vcmpeq2(vector.word[w] & (IS_HALF<T> ? 0x7fff7fff : 0xffffffff), 0));
            zeros /= 8 * (int)sizeof(T);
        } else {
#pragma unroll
            for (int i = 0; i < 16 / (int)sizeof(T); i++)
                zeros += is_zero(vector.element[i]);
        }
        return zeros;
    }

    __device__ __forceinline__ void take(const Part &tile, const Part &, u64 index) {
        int zeros = 0, nans = 0;
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            zeros += zeros_of(tile.vector[v]);
        tally.zeros += (u64)zeros;
        if constexpr (IS_FLOAT<T>) {
#pragma unroll
            for (int i = 0; i < Part::COUNT; i++)
                nans += is_nan(tile.get(i));
            tally.nans += (u64)nans;
            if (nans && call.nan == REDUCT_NAN_ERROR)
                find_nan(block, call, index, span.tail);
        }
    }

    /* Notes the first NaN of a tile, whose vectors end before element `tail` of the array. It is read again, so that tiles need
     * registers no longer than it takes to count. */
    static __device__ __noinline__ void find_nan(Block &block, const rd_cuda_call &call, u64 index, u64 tail) {
        const T *x = static_cast<const T *>(call.x);
#pragma unroll 1
        for (int i = 0; i < Part::COUNT; i++) {
            const u64 at = index - call.first + Part::place(i);
            if (at < tail && is_nan(x[at])) {
                note_nan(block, call.first + at);
                return;
            }
        }
    }

    /* Over the block, in all threads. */
    static __device__ __forceinline__ Tally block_add(const Tally &own, Tally *of_warps) {
        const Tally warp = {warp_add(own.zeros), warp_add(own.nans)};
        if (lane_index() == 0)
            of_warps[warp_index()] = warp;
        __syncthreads();
        Tally sum = {0, 0};
        for (int w = 0; w < WARPS; w++) {
            sum.zeros += of_warps[w].zeros;
            sum.nans += of_warps[w].nans;
        }
        return sum;
    }

    __device__ __forceinline__ Tally close() const {
        return block_add(tally, of_warps.tally[0]);
    }

    __device__ __forceinline__ void leave(const Tally &sum) const {
        if (warp_index() == 0)
            sum.leave(block, call.workspace);
    }

    __device__ __forceinline__ Tally gather() const {
        Tally sum = {0, 0};
        for_words_left<Tally::WORDS>(block, call.workspace, [&](const u64(&word)[Tally::WORDS]) { sum.take(word); });
        return block_add(sum, of_warps.tally[1]);
    }

    __device__ __forceinline__ void deliver(const Tally &sum, bool, FinishRoom &) const {
        rd_cuda_partial &partial = block.partial;
        const bool ignore = call.nan == REDUCT_NAN_IGNORE;
        const u64 absent = ignore || call.transform == RD_PRESENT ? sum.nans : 0,
                  counted = call.count - absent - (call.transform == RD_PRESENT ? 0 : sum.zeros);
        const u64 bits = call.combine == RD_OR ? counted != 0 : call.combine == RD_AND ? sum.zeros == 0 : counted & 1;
        if (threadIdx.x == 0 && call.partial) {
            partial.ignored = ignore ? sum.nans : 0;
            partial.counted = counted;
            partial.bits = bits;
        } else if (threadIdx.x == 0) {
            const uint64_t result = call.combine == RD_ADD ? counted : bits;
            const bool failed = call.nan == REDUCT_NAN_ERROR && sum.nans;
            if (!failed)
                store_result(call.result, &result, call.result_bytes);
            tell_outcome(call, failed ? REDUCT_ERROR_NAN : REDUCT_OK, partial.nan_index);
        }
        if (call.partial)
            hand_over(call, partial);
    }
};

} // namespace

#define KERNEL(name, TYPE) RD_CUDA_KERNEL(count_##name, RD_CUDA_RESIDENT_COUNTS, reduce<Count<TYPE>>)

KERNEL(f64, double)
KERNEL(f32, float)
KERNEL(f16, F16)
KERNEL(bf16, BF16)
KERNEL(i8, int8_t)
KERNEL(i16, int16_t)
KERNEL(i32, int32_t)
KERNEL(i64, i64)
KERNEL(u8, uint8_t)
KERNEL(u16, uint16_t)
KERNEL(u32, uint32_t)
KERNEL(u64, u64)
KERNEL(bool, Truth)
