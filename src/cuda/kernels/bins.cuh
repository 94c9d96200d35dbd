/* Bins: sums by exponent, in shared memory, for tiles whose terms range more widely than a window. */
#pragma once

#include "block.cuh"
#include "limbs.cuh"

namespace {

/* Sums of integers by exponent, for terms that range too widely. Bin b takes significands shifted left by the lower
 * three bits of their exponent field, the upper ones being b, in pieces of BITS bits; each piece has an int32 of its
 * own, which native atomic additions reach. Copies keep lanes out of each other's way where bins are few. */
template <int BINS, int PIECES, int BITS, int COPIES> struct Bins {
    int piece[PIECES][BINS * COPIES];

    __device__ __forceinline__ void clear() {
        for_words<PIECES * BINS * COPIES>([&](int i) { (&piece[0][0])[i] = 0; });
    }

    __device__ __forceinline__ void add(u64 significand, bool negative, int field) {
        u64 wide = significand << (field & 7);
        int bin = (field >> 3) * COPIES + (lane_index() & (COPIES - 1));
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            int part = (int)((wide >> (BITS * k)) & ((1u << BITS) - 1));
            atomicAdd(&piece[k][bin], negative ? -part : part);
        }
    }

    /* Into limbs; by whichever threads are given. Others may be adding meanwhile. */
    __device__ void flush(int64_t *limb, int first, int lowest, int thread, int threads) {
        for (int i = thread; i < PIECES * BINS * COPIES; i += threads) {
            int sum = atomicExch(&(&piece[0][0])[i], 0);
            int k = i / (BINS * COPIES), bin = i % (BINS * COPIES) / COPIES;
            deposit(limb, first, sum, lowest + 8 * bin + BITS * k);
        }
    }
};

/* 53 + 7 bits in four pieces; 24 + 7 bits in two. */
typedef Bins<256, 4, 15, 1> DoubleBins;
typedef Bins<32, 2, 16, 8> FloatBins;

/* Additions that a warp may make to the bins before it must flush them: all warps together then stay below 2^31. */
constexpr int DOUBLE_BIN_ADDS = 1 << 12, FLOAT_BIN_ADDS = 1 << 14;
static_assert((u64)WARPS * DOUBLE_BIN_ADDS << 15 <= 1u << 31, "pieces do not overflow");
static_assert((u64)WARPS * FLOAT_BIN_ADDS / 8 << 16 <= 1u << 31, "pieces do not overflow");

__device__ __forceinline__ void bin_term(DoubleBins &bins, double x) {
    u64 bits = (u64)__double_as_longlong(x);
    int field = (int)(bits >> 52) & 0x7ff;
    u64 significand = (bits & 0xfffffffffffff) | (u64)(field != 0) << 52;
    bins.add(significand, bits >> 63, field ? field : 1);
}

__device__ __forceinline__ void bin_term(FloatBins &bins, float x) {
    unsigned bits = __float_as_uint(x);
    int field = (int)(bits >> 23) & 0xff;
    unsigned significand = (bits & 0x7fffff) | (unsigned)(field != 0) << 23;
    bins.add(significand, bits >> 31, field ? field : 1);
}

} // namespace
