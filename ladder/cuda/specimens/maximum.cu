// Specimens max-of-bits and max-from-lowest: the maximum of floats by way of integers, and from the wrong start.
//
// The mistakes: B takes atomicMax on the bits of a float, as there is none for floats. The bits of positive floats are
// ordered as the floats are; those of negative floats the other way round, so that the largest pattern belongs to the
// most negative number. And a maximum that starts from -FLT_MAX instead of -infinity is wrong for an array of
// -infinity.
//
// The repair: flip the bits so that their order is that of the floats (ordered_bits), and start from -infinity.
#include "../rung.cuh"

#include <float.h>
#include <math.h>

// Increasing with x over all floats: negative ones with every bit flipped, the others with the sign flipped.
__device__ inline unsigned ordered_bits(f32 x) {
    unsigned bits = __float_as_uint(x);
    return bits & 0x80000000 ? ~bits : bits | 0x80000000;
}

__device__ inline f32 from_ordered_bits(unsigned bits) {
    return __uint_as_float(bits & 0x80000000 ? bits & 0x7fffffff : ~bits);
}

__device__ inline f32 thread_maximum(const f32 *input, uint64_t n, f32 start) {
    f32 most = start;
    for (uint64_t i = global_thread(); i < n; i += grid_threads())
        most = fmaxf(most, input[i]);
    return most;
}

// *result holds a float, and starts with the bits of `start`.
extern "C" __global__ void max_of_bits(const f32 *input, uint64_t n, f32 start, int *result) {
    atomicMax(result, __float_as_int(thread_maximum(input, n, start)));
}

// *result starts with 0, which is below the ordered bits of every float, and is decoded by max_decode.
extern "C" __global__ void max_of_ordered_bits(const f32 *input, uint64_t n, f32 start, unsigned *result) {
    atomicMax(result, ordered_bits(thread_maximum(input, n, start)));
}

extern "C" __global__ void max_decode(const unsigned *from, f32 *to) {
    *to = from_ordered_bits(*from);
}
