/* Tiles in dynamic shared memory, which the copy engine fills while others are added (compute capability 9.0 and later): it
 * keeps more loads on their way than a thread has registers for. */
#pragma once

#include "grid.cuh"

#include <type_traits>

namespace {

/* The ring of a kernel: `arrived` and `read` are mbarriers, words that count arrivals and bytes, in phases that are told apart
 * by their parity. */
#if __CUDA_ARCH__ >= 900
extern __shared__ __align__(128) unsigned char ring_memory[];

template <int TILE_BYTES> struct Ring {
    static constexpr bool THERE = true;
    static constexpr int TILES = RD_CUDA_RING_TILES;
    __align__(8) u64 arrived[TILES], read[TILES];
    u64 number[TILES]; /* of the tile, in the array */

    __device__ __forceinline__ static u64 shared_address(const void *pointer) {
        return (u64)__cvta_generic_to_shared(pointer);
    }
    __device__ __forceinline__ static unsigned char *tile(int i) {
        return ring_memory + i * TILE_BYTES;
    }

    __device__ __forceinline__ static void arrive(u64 &barrier) {
        u64 state;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "l"(shared_address(&barrier)) : "memory");
        (void)state;
    }

    /* By one thread. */
    __device__ __forceinline__ void open() {
        for (int i = 0; i < TILES; i++) {
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"l"(shared_address(&arrived[i])), "r"(1) : "memory");
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"l"(shared_address(&read[i])), "r"(WARPS) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }

    /* Orders a tile from an address that is a multiple of 16; or none. By one thread. */
    __device__ __forceinline__ void order(int i, const void *from) {
        const u64 to = shared_address(tile(i));
        u64 state;
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
                     : "=l"(state)
                     : "l"(shared_address(&arrived[i])), "r"(TILE_BYTES)
                     : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"l"(to),
            "l"(from), "r"(TILE_BYTES), "l"(shared_address(&arrived[i]))
            : "memory");
        (void)state;
    }
    __device__ __forceinline__ void order_none(int i) {
        arrive(arrived[i]);
    }

    /* Lets another tile come into the place of one that the warp has read. (A barrier of the block would not do: it does not
     * wait for loads from shared memory that are queued, say behind atomic additions, and the copy engine may overtake
     * them.) */
    __device__ __forceinline__ void release(int i) {
        __syncwarp();
        if (lane_index() == 0)
            arrive(read[i]);
    }

    /* For the end of a phase of arrived[i] or read[i]. */
    __device__ __forceinline__ static void wait(const u64 &barrier, unsigned parity) {
        unsigned done = 0;
        while (!done)
            asm volatile("{ .reg .pred complete; mbarrier.try_wait.parity.shared.b64 complete, [%1], %2;"
                         "selp.u32 %0, 1, 0, complete; }"
                         : "=r"(done)
                         : "l"(shared_address(&barrier)), "r"(parity)
                         : "memory");
    }
};
#else
template <int TILE_BYTES> struct Ring { static constexpr bool THERE = false; };
#endif

/* For kernels without a ring: the loads of their threads keep memory busy. */
struct NoRing {
    static constexpr bool THERE = false;
};

/* FEWER: of so many times fewer vectors. */
template <int FAMILY, int TRANSFORM, int FEWER = 1>
using RingOf =
    typename std::conditional<RD_CUDA_HAS_RING(FAMILY, TRANSFORM),
                              Ring<RD_CUDA_TILE_BYTES(RD_CUDA_VECTORS(FAMILY, TRANSFORM) / FEWER)>, NoRing>::type;

} // namespace
