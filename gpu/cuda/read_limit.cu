// Reads an array and does next to no arithmetic: the bandwidth that no reduction can exceed.
#include <stdint.h>

constexpr int LOADS = 8; // 16-byte loads in flight, per thread

// Vectors in tiles of LOADS per thread, a tile's vectors a block apart. Their sum is stored if it is one certain number, so
// that the compiler must keep the loads.
extern "C" __global__ void __launch_bounds__(1024) read_limit(const uint4 *from, uint64_t vectors, uint32_t *sink) {
    uint64_t tile = (uint64_t)blockDim.x * LOADS, step = gridDim.x * tile;
    uint32_t sum = 0;
    for (uint64_t base = blockIdx.x * tile + threadIdx.x; base < vectors; base += step) {
        uint4 v[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            uint64_t at = base + (uint64_t)i * blockDim.x;
            v[i] = at < vectors ? __ldcs(from + at) : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            sum += v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
    }
    if (sum == 0x9e3779b9)
        *sink = sum;
}
