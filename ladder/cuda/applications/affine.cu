// Application affine: a custom operator done right.
//
// Element i is the map x -> a x + b, modulo 2^32, and the reduction is their composition, the first map applied first:
//
//   (a1, b1) then (a2, b2)   is   x -> a2 (a1 x + b1) + b2,   that is   (a2 a1, a2 b1 + b2)
//
// Composition is associative, so any tree will do; it is not commutative, so the tree must keep the order. A grid that
// strides mixes the order up. Here every warp walks over a stretch of its own, 128 maps at a time, four neighbours to a
// lane, and stretches lie in the order of warps and blocks.
//
// With equal elements this jumps a linear congruential generator ahead by n steps.
#include "operator.cuh"

struct affine {
    struct map {
        uint32_t a, b;
    };

    using part = map;
    using result = map;
    static __device__ part identity() {
        return {1, 0};
    }
    static __device__ part combine(part first, part second) {
        return {second.a * first.a, second.a * first.b + second.b};
    }
    static __device__ result finish(part total, uint64_t) {
        return total;
    }
};

// Four neighbouring maps in order; beyond the end the identity. Whole quadruples are two 16-byte loads.
__device__ affine::map four_maps(const affine::map *maps, uint64_t i, uint64_t end) {
    affine::map four[4];
    if (i + 4 <= end) {
        const uint4 *vectors = reinterpret_cast<const uint4 *>(maps + i);
        uint4 low = __ldcs(&vectors[0]), high = __ldcs(&vectors[1]);
        memcpy(&four[0], &low, sizeof low);
        memcpy(&four[2], &high, sizeof high);
    } else {
        for (unsigned k = 0; k < 4; k++)
            four[k] = i + k < end ? maps[i + k] : affine::identity();
    }
    return affine::combine(affine::combine(four[0], four[1]), affine::combine(four[2], four[3]));
}

extern "C" __global__ void __launch_bounds__(THREADS)
    affine_i32(const affine::map *maps, const void *, uint64_t n, affine::map *partials, affine::map *result,
               unsigned *ticket) {
    constexpr unsigned STEP = 4 * 32;
    uint64_t warps = uint64_t(gridDim.x) * WARPS, warp = uint64_t(blockIdx.x) * WARPS + threadIdx.x / 32;
    uint64_t stretch = (n / STEP / warps + 1) * STEP, begin = warp * stretch, end = min(n, begin + stretch);

    affine::map mine = affine::identity(); // of the warp's stretch so far, in lane 0; the identity in other lanes
    for (uint64_t i = begin; i < end; i += STEP) {
        affine::map here = combine_warp<affine>(four_maps(maps, i + 4 * (threadIdx.x % 32), end));
        if (threadIdx.x % 32 == 0)
            mine = affine::combine(mine, here);
    }
    combine_grid<affine>(mine, n, partials, result, ticket);
}
