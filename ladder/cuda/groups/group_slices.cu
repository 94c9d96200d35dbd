// Rung group-slices: sums of integers, which no order changes.
//
// Idea: the order of atomic additions cannot be had for nothing, so make it mean nothing. An element is cut into two integers, in
// units of 2^-30 and of 2^-60, and each of them is added to one of its group. Integer sums are exact: whoever comes first, the two
// end up the same, and a second launch makes one number of them, rounded once.
//
//   x = 0.1    high = 107374182    low = 429496736    x = (high 2^30 + low) 2^-60 exactly
//
// Phases:
//   1. walk; cut; two atomic additions of 64 bits each
//   2. second launch: high and low of each group become one integer of 128 bits, which is rounded to the element type
//
// What it fixes: the same bits on every run, on every device, in any order of the elements: those of the exact sum.
//
// When it loses: two additions per element, so all that is said of group-global holds twice. It is for numbers below 2 in
// magnitude that have no bits below 2^-60, up to 2^32 of them: as the ladder's are. The library finds units that suit the data, and
// another place for what does not fit; and it keeps copies in shared memory, which cannot change the bits of integers either.
#include "groups.cuh"

struct slices {
    u64 high, low;
};

__device__ inline slices cut(f64 x) {
    long long high = static_cast<long long>(x * 0x1p30);
    return {u64(high), u64(static_cast<long long>((x - f64(high) * 0x1p-30) * 0x1p60))};
}
__device__ inline slices cut(f32 x) {
    return cut(f64(x));
}
__device__ inline slices cut(i32 x) {
    return {x, 0};
}

// The sums of a group's slices as one number of units of 2^-60, rounded to T: its magnitude is moved into 64 bits, of which the
// last one says whether there was more below; so that the conversion rounds as it would have rounded all of it.
template <typename T> struct join {
    __device__ static T number(u64 high, u64 low) {
        u64 bottom = (high << 30) + low;
        // The upper half: what is moved out of `high`, the sign of `low`, and the carry.
        u64 top = u64(static_cast<long long>(high) >> 34) + u64(static_cast<long long>(low) >> 63) + (bottom < low);
        bool negative = static_cast<long long>(top) < 0;
        if (negative) {
            bottom = 0 - bottom;
            top = ~top + (bottom == 0);
        }
        int moved = top ? 64 - __clzll(top) : 0;
        u64 kept = moved ? (top << (64 - moved)) | (bottom >> moved) : bottom;
        bool more = moved && bottom << (64 - moved);
        T magnitude = T(kept | more) * T(exp2(f64(moved - 60)));
        return negative ? -magnitude : magnitude;
    }
};
template <> struct join<i32> {
    __device__ static i32 number(u64 high, u64) {
        return i32(high);
    }
};

// `sums` are two per group: all the high ones, then all the low ones.
template <typename T>
__device__ void group_slices(const unsigned *keys, const T *values, uint64_t n, uint64_t groups, u64 *sums) {
    for (uint64_t i = global_thread(); i < n; i += grid_threads()) {
        slices cuts = cut(values[i]);
        atomicAdd(&sums[keys[i]], cuts.high);
        atomicAdd(&sums[groups + keys[i]], cuts.low);
    }
}

template <typename T> __device__ void group_finish(const u64 *sums, uint64_t groups, T *result) {
    for (uint64_t g = global_thread(); g < groups; g += grid_threads())
        result[g] = join<T>::number(sums[g], sums[groups + g]);
}

#define SLICES(TYPE)                                                                                                   \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        group_slices_##TYPE(const unsigned *keys, const TYPE *values, uint64_t n, uint64_t groups, u64 *sums) {        \
        group_slices(keys, values, n, groups, sums);                                                                   \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(256)                                                                  \
        group_finish_##TYPE(const u64 *sums, uint64_t groups, TYPE *result) {                                          \
        group_finish(sums, groups, result);                                                                            \
    }
SLICES(i32)
SLICES(f32)
SLICES(f64)
