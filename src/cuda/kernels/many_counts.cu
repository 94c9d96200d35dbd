/* Counts, truth values and bitwise and, or and exclusive or, many results. Zeros and NaNs are counted, from which counts follow,
 * and any and all; bits meet as in bits.cu: and is what or makes of complements. */
#include "many_slots.cuh"

namespace {

/* Whether a reduction's result is formed of the elements' bits. */
__device__ __forceinline__ bool takes_bits(const rd_cuda_many &many) {
    return many.call.combine != RD_ADD && many.call.transform != RD_NONZERO && !many.is_truth;
}

template <bool MASKED> struct Tally : LeftOut<MASKED> {
    static constexpr int WORDS = RD_CUDA_SLOT_COUNT + LeftOut<MASKED>::OWN_WORDS;
    static constexpr PartsAdd ADDS = ALWAYS;
    u64 zeros, nans, nan_index, bits;

    static __device__ __forceinline__ Tally none() {
        Tally none;
        none.zeros = none.nans = none.bits = 0;
        none.nan_index = UINT64_MAX;
        return none;
    }
    __device__ __forceinline__ void merge(const Tally &other, const rd_cuda_many &many) {
        zeros += other.zeros;
        nans += other.nans;
        nan_index = min(nan_index, other.nan_index);
        this->merge_left_out(other);
        bits = many.call.combine == RD_XOR ? bits ^ other.bits : bits | other.bits;
    }
    __device__ __forceinline__ Tally from_lane(int by) const {
        Tally other;
        other.zeros = __shfl_xor_sync(ALL, zeros, by);
        other.nans = __shfl_xor_sync(ALL, nans, by);
        other.nan_index = __shfl_xor_sync(ALL, nan_index, by);
        other.bits = __shfl_xor_sync(ALL, bits, by);
        other.left_out_from_lane(*this, by);
        return other;
    }
    __device__ __forceinline__ void add_to(u64 *word, const rd_cuda_many &many) const {
        if (zeros)
            atomicAdd(word, zeros);
        if (nans) {
            atomicAdd(word + 1, nans);
            atomicMax(word + 2, ~nan_index);
        }
        if (bits && many.call.combine == RD_XOR)
            atomicXor(word + 3, bits);
        else if (bits)
            atomicOr(word + 3, bits);
        if (this->left_out())
            atomicAdd(word + 4, this->left_out());
    }
    static __device__ __forceinline__ Tally sum_of(const u64 *word, const rd_cuda_many &) {
        Tally tally;
        tally.zeros = __ldcg(word);
        tally.nans = __ldcg(word + 1);
        tally.nan_index = ~__ldcg(word + 2);
        tally.bits = __ldcg(word + 3);
        tally.get_left_out(word + 4);
        return tally;
    }
};

template <int BYTES, bool WITH_MASK = false> struct CountState {
    typedef Raw<BYTES> Stored;
    typedef Word<BYTES> Element;
    typedef Word<BYTES> Bits;
    typedef Tally<WITH_MASK> Kept;
    typedef JoinedParts<Kept> Shared;
    static constexpr bool PAIRS = false, MASKED = WITH_MASK;
    static constexpr int COUNT = RD_CUDA_MANY_COUNT(BYTES), PER_VECTOR = 16 / BYTES;
    static constexpr Bits SIGN = (Bits)1 << (8 * BYTES - 1), MASK = SIGN | (SIGN - 1);

    const rd_cuda_many &many;
    Kept tally;

    static __device__ __forceinline__ Element padding() {
        return 0;
    }
    static __device__ __forceinline__ void open(Shared &) {
    }
    __device__ __forceinline__ explicit CountState(const rd_cuda_many &m, Shared &) : many(m) {
        reset();
    }
    __device__ __forceinline__ void reset() {
        tally = Kept::none();
    }
    __device__ __forceinline__ void leave_out(unsigned elements) {
        tally.leave_out(elements);
    }

    /* SOME: some elements may be missing. */
    template <bool SOME> __device__ __forceinline__ void take_bits(const Element (&x)[COUNT], unsigned missing) {
        const bool exclusive = many.call.combine == RD_XOR;
        const Bits flip = many.call.combine == RD_AND ? MASK : 0;
        Bits bits = 0;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const Bits own = SOME && missing >> i & 1 ? 0 : x[i] ^ flip;
            bits = exclusive ? bits ^ own : bits | own;
        }
        tally.bits = exclusive ? tally.bits ^ bits : tally.bits | bits;
    }

    /* Of floats their magnitudes tell. */
    template <bool SOME> __device__ __forceinline__ void count(const Element (&x)[COUNT], const TileAt &tile) {
        const Bits mask = many.call.is_float ? ~SIGN : MASK, largest = many.call.is_float ? (Bits)many.infinity : MASK;
        unsigned zeros = 0, nans = 0;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const Bits bits = x[i] & mask;
            const bool there = !(SOME && tile.missing >> i & 1);
            zeros += there && bits == 0;
            nans += there && bits > largest;
        }
        tally.zeros += zeros;
        tally.nans += nans;
        if (!nans || tally.nan_index != UINT64_MAX)
            return;
        const Places places = places_of<PER_VECTOR>(many, Lane(many));
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            if (!(tile.missing >> i & 1) && (x[i] & mask) > largest)
                tally.nan_index = min(tally.nan_index, tile.first + places.of<PER_VECTOR>(i));
    }

    template <bool SOME> __device__ __forceinline__ void take_tile(const Element (&x)[COUNT], const TileAt &tile) {
        if (takes_bits(many))
            take_bits<SOME>(x, tile.missing);
        else
            count<SOME>(x, tile);
    }
    template <int N>
    __device__ __forceinline__ void take(const Element (&x)[COUNT], const Element (&)[N], const TileAt &tile) {
        if (__any_sync(ALL, tile.missing))
            take_tile<true>(x, tile);
        else
            take_tile<false>(x, tile);
    }

    __device__ __forceinline__ bool take_alone(const Element (&)[COUNT], int, int, bool, Kept &) {
        return false;
    }

    __device__ __forceinline__ void merge(int from, int to, bool mine, Kept &kept) {
        if (MASKED || !counts_are_short(many) || __any_sync(ALL, tally.nan_index != UINT64_MAX)) {
            merge_lanes(many, tally, from, to);
        } else if (takes_bits(many)) {
            merge_bits(from, to);
        } else {
#pragma unroll 1
            for (int by = from; by < to; by *= 2)
                tally.zeros += __shfl_xor_sync(ALL, (unsigned)tally.zeros, by);
        }
        if (mine)
            kept = tally;
    }

    __device__ __forceinline__ void merge_bits(int from, int to) {
        Bits bits = (Bits)tally.bits;
#pragma unroll 1
        for (int by = from; by < to; by *= 2) {
            const Bits other = __shfl_xor_sync(ALL, bits, by);
            bits = many.call.combine == RD_XOR ? bits ^ other : bits | other;
        }
        tally.bits = bits;
    }

    static __device__ __forceinline__ u64 value_of(const rd_cuda_many &many, const Kept &tally, u64 count) {
        const rd_cuda_call &call = many.call;
        if (takes_bits(many))
            return tally.bits ^ (call.combine == RD_AND ? MASK : 0);
        const bool present = call.transform == RD_PRESENT;
        const u64 counted =
            count - (present ? 0 : tally.zeros) - (present || call.nan == REDUCT_NAN_IGNORE ? tally.nans : 0);
        switch (call.combine) {
        case RD_OR:
            return counted != 0;
        case RD_AND:
            return tally.zeros == 0;
        case RD_XOR:
            return counted & 1;
        default:
            return counted;
        }
    }

    static __device__ __forceinline__ void finish(const rd_cuda_many &many, const Kept &kept, u64 result) {
        const Elements source = source_of(many, result);
        const u64 nan_index = many.call.nan == REDUCT_NAN_ERROR ? kept.nan_index : UINT64_MAX;
        const u64 count = source.count - kept.left_out();
        put_word(many, source, result, status_of(many, source, count, nan_index), value_of(many, kept, count),
                 nan_index);
    }

    static __device__ __forceinline__ void finish_all(const rd_cuda_many &many, Shared &shared, Kept &kept,
                                                      u64 result) {
        finish_part<CountState>(many, shared, kept, result);
    }
};

} // namespace

#define KERNELS(BYTES)                                                                                                 \
    RD_CUDA_MANY_KERNEL(many_count_##BYTES, RD_CUDA_RESIDENT_MANY, CountState<BYTES>)                                  \
    RD_CUDA_MASKED_KERNEL(masked_count_##BYTES, RD_CUDA_RESIDENT_MANY, CountState<BYTES, true>)

KERNELS(1)
KERNELS(2)
KERNELS(4)
KERNELS(8)
