/* Exact sums of few floats by one block, which is most of the time over before windows, bins and limbs would be set up: no more elements
 * for each thread than fit registers, added up as integers.
 *
 * A warp's unit is the lowest bit of its smallest element other than zero. Elements are whole multiples of it, and as long as the largest is
 * not beyond so many binades, sums of all fit an integer. Sums of warps, brought to the lowest unit of all, meet in shared memory. What is not
 * finite, ranges more widely, or is nothing but zeros, whose sign is another question, is left to the general way. */
#pragma once

#include "finish.cuh"
#include "parts.cuh"

namespace {

template <class T> struct Brief {
    static constexpr bool WIDE = sizeof(T) == 8;
    typedef typename std::conditional<WIDE, unsigned __int128, u64>::type Word; /* of sums, in two's complement */
    typedef typename std::conditional<WIDE, __int128, i64>::type Integer;
    static constexpr int BITS = 8 * (int)sizeof(Word), MOST = RD_CUDA_BRIEF_BYTES / (THREADS * (int)sizeof(T)),
                         LOG2_ELEMENTS = WIDE ? 11 : 12;
    static_assert(MOST * THREADS == 1 << LOG2_ELEMENTS, "so many elements at most");

    typedef FloatRange<T> Range;

    /* Binades from the smallest element to the largest. */
    static constexpr int ROOM = BITS - 1 - PRECISION<T> - LOG2_ELEMENTS;

    /* What warps leave for each other. */
    struct Shared {
        Word sum[WARPS];
        Range range[WARPS];
    };

    /* Sums over lanes travel in pieces, of which 32 fit a word. */
    static constexpr int PIECE_BITS = 27, PIECES = (BITS + PIECE_BITS - 1) / PIECE_BITS;

    static __device__ __forceinline__ Word add_lanes(Word own) {
        Word sum = 0;
#pragma unroll
        for (int p = 0; p < PIECES; p++) {
            const unsigned piece = (unsigned)(own >> (PIECE_BITS * p)) & ((1u << PIECE_BITS) - 1);
            sum += (Word)(unsigned)warp_add_words((int)piece) << (PIECE_BITS * p);
        }
        return sum;
    }

    static __device__ __forceinline__ int unit_of(const Range &range) {
        return range.smallest() - (PRECISION<T> - 1);
    }

    /* By so many bits, as long as there is room. */
    static __device__ __forceinline__ Word raise(Word value, int bits) {
        return value << min(max(bits, 0), ROOM);
    }

    /* A sum as the result's bits. */
    template <unsigned FINISHES>
    static __device__ __forceinline__ u64 round(Word sum, int unit, const rd_cuda_call &call) {
        if (call.finish != RD_VALUE || call.result_precision < PRECISION<T>) {
            constexpr int W = WIDE ? 4 : 3;
            u64 word[W];
#pragma unroll
            for (int i = 0; i < W; i++)
                word[i] = 64 * i < BITS ? (u64)(sum >> (64 * i % BITS)) : (u64)((Integer)sum >> (BITS - 1));
            return round_words<FINISHES>(word, unit, call, false);
        }
        /* Subnormal results are multiples of the same least number as elements, so that nothing is rounded twice. */
        if constexpr (WIDE) {
            const bool negative = (Integer)sum < 0;
            const Word magnitude = negative ? 0 - sum : sum;
            const u64 low = (u64)magnitude, high = (u64)(magnitude >> 64);
            const int shift = high ? __clzll((i64)high) : 64;
            const u64 leading = high == 0 ? low
                                : shift   ? high << shift | low >> (64 - shift)
                                          : high,
                      below = high == 0 ? 0 : low << shift;
            const double value = ldexp((double)(leading | (below != 0)), unit + 64 - shift);
            return (u64)__double_as_longlong(negative ? -value : value);
        } else if (call.result_bytes == 4) {
            return __float_as_uint(ldexpf((float)(i64)sum, unit));
        } else {
            return (u64)__double_as_longlong(ldexp((double)(i64)sum, unit));
        }
    }

    /* By the whole block. False where that is not the way: then nothing has been delivered, and shared memory is free again. */
    template <bool ABSOLUTE, unsigned FINISHES> static __device__ bool run(const rd_cuda_call &call, Shared &shared) {
        const T *x = static_cast<const T *>(call.x) + threadIdx.x;
        const unsigned count = (unsigned)call.count;
        T element[MOST];
#pragma unroll
        for (int k = 0; k < MOST; k++)
            element[k] = k * THREADS + threadIdx.x < count ? __ldcs(x + k * THREADS) : (T)0;
        Range own = Range::none();
#pragma unroll
        for (int k = 0; k < MOST; k++)
            if (k * THREADS < count)
                own.take(Range::key_of(element[k]));
        own = own.over_warp();
        const int unit = unit_of(own);
        Word sum = 0;
#pragma unroll
        for (int k = 0; k < MOST; k++)
            if (k * THREADS < count) {
                const Parts parts(element[k]);
                const Word term = raise((Word)parts.significand, parts.exponent - unit);
                sum += parts.negative && !ABSOLUTE ? 0 - term : term;
            }
        sum = add_lanes(sum);
        if (lane_index() == 0) {
            shared.sum[warp_index()] = sum;
            shared.range[warp_index()] = own;
        }
        __syncthreads();
        const int other = lane_index() % WARPS;
        const Range of_other = shared.range[other], all = of_other.over_warp();
        if (!all.finite() || all.most == 0 || all.largest() - all.smallest() > ROOM) {
            __syncthreads();
            return false;
        }
        if (warp_index() == 0) {
            const Word raised = raise(shared.sum[other], unit_of(of_other) - unit_of(all)),
                       total = add_lanes(lane_index() < WARPS && of_other.most != 0 ? raised : 0);
            if (lane_index() == 0)
                deliver_short(call, round<FINISHES>(total, unit_of(all), call));
        }
        return true;
    }

    static __device__ __forceinline__ bool takes(const rd_cuda_call &call) {
        return gridDim.x == 1 && call.count <= (unsigned)MOST * THREADS && is_short(call) && has_float(call);
    }
};

} // namespace
