/* Where ranks sum arrays element by element: windows of exponents, words that add, and what these come to. See each.h. Of all three
 * kernels a block takes elements that follow each other, in turns. */
#include "each.h"

#include <reduct/reduct.h>

#include "block.cuh"

namespace {

constexpr int COUNTERS = 4;

struct Double {
    typedef u64 Bits;
    static constexpr int STORED = 52, SPECIAL = 2047;
    static constexpr Bits SIGN = (u64)1 << 63, NOT_A_NUMBER = 0x7ff8000000000000;
};
struct Float {
    typedef unsigned Bits;
    static constexpr int STORED = 23, SPECIAL = 255;
    static constexpr Bits SIGN = 1u << 31, NOT_A_NUMBER = 0x7fc00000;
};

/* The exponent field of what is finite; subnormal numbers have that of field 1. */
template <class F> __device__ __forceinline__ int field_of(typename F::Bits magnitude) {
    const int field = (int)(magnitude >> F::STORED);
    return field ? field : 1;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Windows
 * ------------------------------------------------------------------------------------------------------------------ */

template <class F> __device__ __forceinline__ void find_window(const rd_cuda_each &each) {
    __shared__ int high, minus_low;
    const typename F::Bits *x = static_cast<const typename F::Bits *>(each.x);
    const u64 first = (u64)blockIdx.x * RD_CUDA_EACH_WINDOW;
    if (threadIdx.x == 0) {
        high = 1;
        minus_low = RD_CUDA_EACH_NONE;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *each.unfit = UINT64_MAX;
    __syncthreads();
    int most = 1, least = RD_CUDA_EACH_NONE;
    for (int i = threadIdx.x; i < RD_CUDA_EACH_WINDOW && first + i < each.count; i += THREADS) {
        const typename F::Bits magnitude = x[first + i] & (F::SIGN - 1);
        const int field = field_of<F>(magnitude);
        if (magnitude == 0 || field == F::SPECIAL)
            continue;
        most = most > field ? most : field;
        least = least > -field ? least : -field;
    }
    atomicMax(&high, most);
    atomicMax(&minus_low, least);
    __syncthreads();
    if (threadIdx.x == 0) {
        each.window[2 * (u64)blockIdx.x] = high;
        each.window[2 * (u64)blockIdx.x + 1] = minus_low;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * To words
 * ------------------------------------------------------------------------------------------------------------------ */

struct Layout {
    int low, below, digit; /* bits: of all counters; of a digit */
    bool fits;
};

template <class F> __device__ __forceinline__ Layout layout_of(const rd_cuda_each &each, u64 window) {
    const int high = each.window[2 * window], minus_low = each.window[2 * window + 1];
    Layout layout;
    layout.low = minus_low == RD_CUDA_EACH_NONE ? 1 : -minus_low;
    layout.below = COUNTERS * (each.rank_bits + 1);
    layout.digit = 63 - each.rank_bits;
    layout.fits = minus_low == RD_CUDA_EACH_NONE || /* counters do always */
                  layout.below + high - layout.low + F::STORED + 1 <= each.words * layout.digit;
    return layout;
}

/* Digit number `w` of a significand that stands `at` bits above the lowest. */
__device__ __forceinline__ int64_t digit_of(u64 significand, int at, int w, int digit) {
    const int shift = at - w * digit;
    const u64 mask = ((u64)1 << digit) - 1;
    if (shift <= -64 || shift >= digit)
        return 0;
    return (int64_t)((shift < 0 ? significand >> -shift : significand << shift) & mask);
}

template <class F>
__device__ __forceinline__ void pack(const rd_cuda_each &each, const Layout &layout, u64 i, typename F::Bits bits) {
    const typename F::Bits magnitude = bits & (F::SIGN - 1), infinity = (typename F::Bits)F::SPECIAL << F::STORED;
    const bool negative = (bits & F::SIGN) != 0, finite = magnitude < infinity;
    const int field = field_of<F>(magnitude), width = each.rank_bits + 1;
    u64 significand = magnitude & (((typename F::Bits)1 << F::STORED) - 1);
    significand |= (u64)(magnitude >> F::STORED != 0) << F::STORED;
    int64_t counters = magnitude != 0 || !negative;
    if (magnitude > infinity)
        counters |= (int64_t)1 << width;
    if (magnitude == infinity)
        counters |= (int64_t)1 << (negative ? 3 : 2) * width;
    const int at = layout.below + field - layout.low;
    for (int w = 0; w < each.words; w++) {
        const int64_t digit = finite && magnitude && layout.fits ? digit_of(significand, at, w, layout.digit) : 0;
        each.word[(u64)w * each.count + i] = (negative ? -digit : digit) + (w == 0 ? counters : 0);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * From words
 * ------------------------------------------------------------------------------------------------------------------ */

/* Carries, so that all digits are less than their base and not negative; returns what is left above them. */
__device__ __forceinline__ int64_t carry(int64_t *digit, int words, int bits) {
    int64_t above = 0;
#pragma unroll
    for (int w = 0; w < words; w++) {
        const int64_t sum = digit[w] + above;
        digit[w] = sum & (int64_t)(((u64)1 << bits) - 1);
        above = sum >> bits;
    }
    return above;
}

/* The place of the first bit of a magnitude; -1 where it is zero. */
__device__ __forceinline__ int lead_of(const int64_t *digit, int digits, int bits) {
    int lead = -1;
#pragma unroll
    for (int d = 0; d < digits; d++)
        lead = digit[d] ? d * bits + 63 - __clzll(digit[d]) : lead;
    return lead;
}

/* A magnitude whose first bit is there, rounded to nearest, ties to even. Bit number layout.below is the lowest one that exponent
 * field layout.low has. */
template <class F>
__device__ __forceinline__ typename F::Bits round_digits(const int64_t *digit, int digits, int lead,
                                                         const Layout &layout) {
    typedef typename F::Bits Bits;
    u64 left = 0; /* 64 bits, the first one set */
    bool more = false;
#pragma unroll
    for (int d = 0; d < digits; d++) {
        const int shift = d * layout.digit - lead + 63;
        const u64 bits = (u64)digit[d];
        if (bits == 0) /* as all above the first bit */
            continue;
        if (shift >= 0) {
            left |= bits << shift;
        } else if (shift > -64) {
            left |= bits >> -shift;
            more = more || bits << (64 + shift) != 0;
        } else {
            more = true;
        }
    }
    const int field = lead - layout.below + layout.low - F::STORED, drop = 63 - F::STORED;
    if (field < 1) /* exact */
        return (Bits)(left >> (drop + 1 - field));
    const u64 kept = left >> drop, rest = left & (((u64)1 << drop) - 1), half = (u64)1 << (drop - 1);
    const u64 up = rest > half || (rest == half && (more || (kept & 1)));
    const u64 bits = ((u64)(field - 1) << F::STORED) + kept + up; /* a carry goes on into the exponent */
    const u64 infinity = (u64)F::SPECIAL << F::STORED;
    return (Bits)(field >= F::SPECIAL || bits > infinity ? infinity : bits);
}

/* What words of all ranks come to; `digit` has room for one more. */
template <class F>
__device__ __forceinline__ typename F::Bits unpack(int64_t *digit, int words, const Layout &layout, int rank_bits) {
    typedef typename F::Bits Bits;
    const int width = rank_bits + 1;
    const u64 counters = (u64)digit[0] & (((u64)1 << layout.below) - 1), mask = ((u64)1 << width) - 1;
    const bool nonzero = counters & mask, nan = counters >> width & mask, plus = counters >> 2 * width & mask,
               minus = counters >> 3 * width & mask;
    const Bits infinity = (Bits)F::SPECIAL << F::STORED, sign = F::SIGN;
    if (nan || (plus && minus))
        return F::NOT_A_NUMBER;
    if (plus || minus)
        return minus ? sign | infinity : infinity;
    digit[0] -= (int64_t)counters;
    int64_t above = carry(digit, words, layout.digit);
    const bool negative = above < 0;
    if (negative) {
#pragma unroll
        for (int w = 0; w < words; w++)
            digit[w] = -digit[w];
        above = -above + carry(digit, words, layout.digit);
    }
    digit[words] = above;
    const int lead = lead_of(digit, words + 1, layout.digit);
    if (lead < 0)
        return nonzero ? 0 : sign;
    return (negative ? sign : 0) | round_digits<F>(digit, words + 1, lead, layout);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Kernels
 * ------------------------------------------------------------------------------------------------------------------ */

/* Calls use(i) for the elements of this block, a quarter of a window; without a division. */
constexpr int SHARE = RD_CUDA_EACH_WINDOW / 4;
static_assert(SHARE % THREADS == 0, "a share is some elements for each thread");

template <class Use> __device__ __forceinline__ void for_share(const rd_cuda_each &each, Use use) {
    const u64 first = (u64)blockIdx.x * SHARE;
    for (int i = threadIdx.x; i < SHARE; i += THREADS)
        if (first + i < each.count)
            use(first + i);
}

template <class F> __device__ __forceinline__ void pack_all(const rd_cuda_each &each) {
    const Layout layout = layout_of<F>(each, blockIdx.x / 4);
    const typename F::Bits *x = static_cast<const typename F::Bits *>(each.x);
    if (!layout.fits && threadIdx.x == 0)
        atomicMin(reinterpret_cast<u64 *>(each.unfit), (u64)(blockIdx.x / 4));
    for_share(each, [&](u64 i) { pack<F>(each, layout, i, x[i]); });
}

__device__ __forceinline__ void tell(const rd_cuda_each &each, u64 unfit) {
    if (!each.outcome || blockIdx.x != 0 || threadIdx.x != 0)
        return;
    each.outcome->status = unfit == UINT64_MAX ? REDUCT_OK : REDUCT_ERROR_UNSUPPORTED;
    each.outcome->reserved = 0;
    each.outcome->index = unfit == UINT64_MAX ? UINT64_MAX : unfit * RD_CUDA_EACH_WINDOW;
}

template <class F, int MOST> __device__ __forceinline__ void unpack_as(const rd_cuda_each &each, int words) {
    const Layout layout = layout_of<F>(each, blockIdx.x / 4);
    typename F::Bits *results = static_cast<typename F::Bits *>(each.results);
    for_share(each, [&](u64 i) {
        int64_t digit[MOST + 1];
#pragma unroll
        for (int w = 0; w < words; w++)
            digit[w] = each.word[(u64)w * each.count + i];
        results[i] = unpack<F>(digit, words, layout, each.rank_bits);
    });
}

/* With the usual numbers of words as constants, all digits are in registers. */
template <class F> __device__ __forceinline__ void unpack_all(const rd_cuda_each &each) {
    const u64 unfit = *each.unfit;
    tell(each, unfit);
    if (unfit != UINT64_MAX)
        return;
    if (each.words == 2)
        unpack_as<F, 2>(each, 2);
    else if (each.words == 3)
        unpack_as<F, 3>(each, 3);
    else
        unpack_as<F, RD_CUDA_EACH_WORDS>(each, each.words);
}

} // namespace

#define KERNEL(NAME, FUNCTION)                                                                                         \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS) NAME(const __grid_constant__ rd_cuda_each each) {    \
        FUNCTION(each);                                                                                                \
    }

KERNEL(each_window_f64, find_window<Double>)
KERNEL(each_window_f32, find_window<Float>)
KERNEL(each_pack_f64, pack_all<Double>)
KERNEL(each_pack_f32, pack_all<Float>)
KERNEL(each_unpack_f64, unpack_all<Double>)
KERNEL(each_unpack_f32, unpack_all<Float>)
