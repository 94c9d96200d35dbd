/* Wide integers: limbs as in arithmetic/limbs.h, 64 bits wide, standing for 32, whose carries wait until the end; and plain
 * integers of several words. */
#pragma once

#include "grid.cuh"

namespace {

/* Limbs as in arithmetic/limbs.h: 64 bits wide, standing for 32; carries wait until the end. Limb 0 is worth 2^(32 * first).
 * Adds value * 2^exponent, to shared or global memory. */
__device__ __noinline__ void deposit(int64_t *limb, int first, i64 value, int exponent) {
    if (value == 0)
        return;
    u64 magnitude = value < 0 ? 0 - (u64)value : (u64)value;
    int bit = exponent - 32 * first, i = bit >> 5, shift = bit & 31;
    u64 low = magnitude << shift, high = shift ? magnitude >> (64 - shift) : 0;
    u64 part[3] = {low & 0xffffffff, low >> 32, high};
#pragma unroll
    for (int k = 0; k < 3; k++)
        if (part[k])
            atomicAdd(reinterpret_cast<u64 *>(&limb[i + k]), value < 0 ? 0 - part[k] : part[k]);
}

/* Adds value * 2^bit to an integer of W words, least significant first, in two's complement; `bit` is a constant. */
template <int W> __device__ __forceinline__ void add_at(u64 (&word)[W], __int128 value, int bit) {
    const int first = bit / 64, shift = bit % 64;
    const u64 low = (u64)value, high = (u64)(value >> 64), sign = (u64)(value >> 127);
    const u64 part[4] = {low << shift, shift ? high << shift | low >> (64 - shift) : high,
                         shift ? sign << shift | high >> (64 - shift) : sign, sign};
    unsigned __int128 sum = 0;
#pragma unroll
    for (int i = first; i < W; i++) {
        sum = (sum >> 64) + word[i] + part[i - first < 3 ? i - first : 3];
        word[i] = (u64)sum;
    }
}

} // namespace
