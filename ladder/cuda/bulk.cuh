// Bulk copies from global to shared memory (compute capability 9.0 and later), one instruction a piece: what CUDA C++
// spells cuda::memcpy_async, here in PTX so that nothing is hidden.
//
// An mbarrier is a word in shared memory that counts, in phases: a phase is complete when all expected arrivals have
// come and all expected bytes have been delivered; then the next begins. Waiting is by the parity of the phase.
#pragma once

#include <stdint.h>

#if __CUDA_ARCH__ >= 900
__device__ inline uint64_t shared_address(const void *pointer) {
    return __cvta_generic_to_shared(pointer);
}

// So many arrivals per phase: one, of the thread that announces bytes; or one of each warp that has read them.
__device__ inline void mbarrier_init(uint64_t *barrier, uint32_t arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"l"(shared_address(barrier)), "r"(arrivals) : "memory");
}

// Makes initialised barriers visible to the copy engine.
__device__ inline void mbarrier_init_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// The memory is free for other uses.
__device__ inline void mbarrier_invalidate(uint64_t *barrier) {
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"l"(shared_address(barrier)) : "memory");
}

// One thread arrives, and announces `bytes` that are still to come in this phase.
__device__ inline unsigned long long mbarrier_expect(uint64_t *barrier, uint32_t bytes) {
    unsigned long long state;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
                 : "=l"(state)
                 : "l"(shared_address(barrier)), "r"(bytes)
                 : "memory");
    return state;
}

// Announces `bytes` on the barrier's current phase and orders their copy. Addresses and size: multiples of 16.
__device__ inline void bulk_copy_begin(void *to, const void *from, uint32_t bytes, uint64_t *barrier) {
    mbarrier_expect(barrier, bytes);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"l"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "l"(shared_address(barrier))
                 : "memory");
}

// One thread arrives; what it has read by then is read before the phase is complete. Returns what one could wait for in
// place of a parity.
__device__ inline unsigned long long mbarrier_arrive(uint64_t *barrier) {
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "l"(shared_address(barrier)) : "memory");
    return state;
}

// Returns once the phase of this parity is complete; what was copied can then be read.
__device__ inline void mbarrier_wait(uint64_t *barrier, uint32_t parity) {
    uint32_t done = 0;
    while (!done)
        asm volatile("{ .reg .pred complete; mbarrier.try_wait.parity.shared.b64 complete, [%1], %2;"
                     " selp.u32 %0, 1, 0, complete; }"
                     : "=r"(done)
                     : "l"(shared_address(barrier)), "r"(parity)
                     : "memory");
}
#endif
