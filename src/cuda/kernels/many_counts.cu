/* Counts, truth values and bitwise and, or and exclusive or, many results. Zeros and NaNs are counted, from which counts follow,
 * and any and all; bits meet as in bits.cu: and is what or makes of complements. */
#include "many_slots.cuh"

namespace {

/* Whether a reduction's result is formed of the elements' bits. */
__device__ __forceinline__ bool takes_bits(const rd_cuda_many &many) {
    return many.call.combine != RD_ADD && many.call.transform != RD_NONZERO && !many.is_truth;
}

struct Tally {
    static constexpr int WORDS = RD_CUDA_SLOT_COUNT;
    u64 zeros, nans, nan_index, bits;

    static __device__ __forceinline__ Tally none() {
        return {0, 0, UINT64_MAX, 0};
    }
    __device__ __forceinline__ void merge(const Tally &other, const rd_cuda_many &many) {
        zeros += other.zeros;
        nans += other.nans;
        nan_index = min(nan_index, other.nan_index);
        bits = many.call.combine == RD_XOR ? bits ^ other.bits : bits | other.bits;
    }
    __device__ __forceinline__ Tally from_lane(int by) const {
        return {__shfl_xor_sync(ALL, zeros, by), __shfl_xor_sync(ALL, nans, by), __shfl_xor_sync(ALL, nan_index, by),
                __shfl_xor_sync(ALL, bits, by)};
    }
    __device__ __forceinline__ void put(u64 *word) const {
        word[0] = zeros;
        word[1] = nans;
        word[2] = nan_index;
        word[3] = bits;
    }
    static __device__ __forceinline__ Tally get(const u64 *word) {
        return {__ldcg(word), __ldcg(word + 1), __ldcg(word + 2), __ldcg(word + 3)};
    }
};

template <int BYTES> struct CountState {
    typedef Raw<BYTES> Stored;
    typedef ItemOf<BYTES> Element;
    typedef Word<BYTES> Bits;
    typedef Tally Kept;
    typedef NoneShared Shared;
    static constexpr bool PAIRS = false;
    static constexpr int COUNT = RD_CUDA_MANY_COUNT(BYTES), PER_VECTOR = 16 / BYTES;
    static constexpr Bits SIGN = (Bits)1 << (8 * BYTES - 1), MASK = SIGN | (SIGN - 1);

    const rd_cuda_many &many;
    Tally tally;

    static __device__ __forceinline__ Element padding() {
        return no_item<BYTES>();
    }
    static __device__ __forceinline__ void open(Shared &) {
    }
    __device__ __forceinline__ explicit CountState(const rd_cuda_many &m, Shared &) : many(m) {
        reset();
    }
    __device__ __forceinline__ void reset() {
        tally = Tally::none();
    }

    __device__ __forceinline__ void take_bits(const Element (&x)[COUNT]) {
        const Bits flip = many.call.combine == RD_AND ? MASK : 0;
        Bits bits = 0;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const Bits own = is_there(x[i]) ? bits_in(many, x[i]) ^ flip : 0;
            bits = many.call.combine == RD_XOR ? bits ^ own : bits | own;
        }
        tally.bits = many.call.combine == RD_XOR ? tally.bits ^ bits : tally.bits | bits;
    }

    /* Of floats their magnitudes tell. */
    __device__ __forceinline__ void count(const Element (&x)[COUNT], u64 first) {
        const Bits mask = many.call.is_float ? ~SIGN : MASK, largest = many.call.is_float ? (Bits)many.infinity : MASK;
        unsigned zeros = 0, nans = 0;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const Bits bits = bits_in(many, x[i]) & mask;
            zeros += is_there(x[i]) && bits == 0;
            nans += is_there(x[i]) && bits > largest;
        }
        tally.zeros += zeros;
        tally.nans += nans;
        if (!nans || tally.nan_index != UINT64_MAX)
            return;
        const Places places = places_of<PER_VECTOR>(many, Lane(many));
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            if (is_there(x[i]) && (bits_in(many, x[i]) & mask) > largest)
                tally.nan_index = min(tally.nan_index, first + places.of<PER_VECTOR>(i));
    }

    template <int N> __device__ __forceinline__ void take(const Element (&x)[COUNT], const Element (&)[N], u64 first) {
        if (takes_bits(many))
            take_bits(x);
        else
            count(x, first);
    }

    __device__ __forceinline__ bool take_alone(const Element (&)[COUNT], int, int, bool, Kept &) {
        return false;
    }

    __device__ __forceinline__ void merge(int from, int to, bool mine, Kept &kept) {
        merge_lanes(many, tally, from, to);
        if (mine)
            kept = tally;
    }

    static __device__ __forceinline__ u64 value_of(const rd_cuda_many &many, const Tally &tally, u64 count) {
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
        uint64_t word[4] = {value_of(many, kept, source.count), 0, 0, 0};
        put_result(many, source, result, status_of(many, source, source.count, nan_index), word, nan_index);
    }

    static __device__ __forceinline__ void finish_all(const rd_cuda_many &many, Shared &, Kept &kept, u64 result) {
        finish_in_slots<CountState>(many, kept, result);
    }
};

} // namespace

RD_CUDA_MANY_KERNEL(many_count_1, RD_CUDA_RESIDENT_MANY, CountState<1>)
RD_CUDA_MANY_KERNEL(many_count_2, RD_CUDA_RESIDENT_MANY, CountState<2>)
RD_CUDA_MANY_KERNEL(many_count_4, RD_CUDA_RESIDENT_MANY, CountState<4>)
RD_CUDA_MANY_KERNEL(many_count_8, RD_CUDA_RESIDENT_MANY, CountState<8>)
