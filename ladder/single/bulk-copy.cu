// Rung bulk-copy: a copy engine fetches, threads only add.
//
// Idea: since Hopper (2022) one instruction of one thread copies kilobytes from global to shared memory while everybody
// does something else. A ring of stages keeps copies on their way; registers hold no loads in flight any more.
//
//   stage     0        1        2        3        4        5
//   tile      k        k+1      k+2      k+3      k+4      k+5        tiles of this block; while tile k is added, five
//             adding   arriving ...                                   are on their way; then tile k + 6 into stage 0
//
// Phases:
//   1. thread 0 sets up two barriers per stage, "arrived" and "read", and orders the first copies
//   2. for each tile: wait until it has arrived, add it, say that it is read; when all warps have said so, thread 0 orders
//      the next tile into the same stage. (__syncthreads() would not do: it does not wait for loads from shared memory
//      that are queued, and the copy engine may overtake them)
//   3. what fills no tile is read directly; then as shuffle
//
// What it fixes: what ordinary loads can have under way is limited by registers and by the queues of the load units.
//
// When it loses: small n, where setting up costs more than it brings; and everything before compute capability 9.0,
// where it does not exist.
//
// Elsewhere: none of the tutorials; the copy engine is younger than they are.
//
// This file compiles alone, and is made by ladder/single.py from ladder/cuda/bulk_copy.cu:
//
//     nvcc -O3 -arch=sm_90 bulk-copy.cu && ./a.out

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 900
#error "compile this with -arch=sm_90 or a newer one: it needs a GPU of compute capability 9.0"
#endif

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <stdint.h>

// ---------------------------------------------------------------------------------------------------------------------
// bulk.cuh
// ---------------------------------------------------------------------------------------------------------------------

// Bulk copies from global to shared memory (compute capability 9.0 and later), one instruction a piece: what CUDA C++
// spells cuda::memcpy_async, here in PTX so that nothing is hidden.
//
// An mbarrier is a word in shared memory that counts, in phases: a phase is complete when all expected arrivals have
// come and all expected bytes have been delivered; then the next begins. Waiting is by the parity of the phase.

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

// ---------------------------------------------------------------------------------------------------------------------
// shuffle.cuh
// ---------------------------------------------------------------------------------------------------------------------

// Sums of a warp and of a block without a tree in shared memory: what the rung `shuffle` teaches, and what every later
// rung and the last-block finish use.
//
// A warp is 32 threads that can read each other's registers: __shfl_down_sync(mask, x, d) gives each lane the x of the
// lane d above it. Every lane named in the mask must take part, and a lane may only be read if it does. The last warp
// of a block of 1000 threads has 8 lanes: a mask of all 32 would name lanes that do not exist, and the sum would take
// in whatever a read of such a lane gives.

// Lanes of this thread's warp: 32, but for the last warp of a block that is no multiple of 32.
__device__ inline unsigned warp_lanes() {
    unsigned first = threadIdx.x & ~31u;
    return min(32u, blockDim.x - first);
}

__device__ inline unsigned lane_mask(unsigned lanes) {
    return lanes == 32 ? ~0u : (1u << lanes) - 1;
}

// The sum over the lanes of a warp, held by lane 0: five steps, no shared memory, no barrier.
//
//   lane      0   1   2   3 ...  16  17 ...
//   d = 16    0+16 1+17 ...                     the upper half is added to the lower
//   d = 8     0+16+8+24 ...                     and so on down to d = 1
template <typename T> __device__ T warp_sum(T sum, unsigned lanes) {
    unsigned lane = threadIdx.x % 32, mask = lane_mask(lanes);
#pragma unroll
    for (unsigned d = 16; d > 0; d /= 2) {
        T above = __shfl_down_sync(mask, sum, d);
        if (lane + d < lanes)
            sum += above;
    }
    return sum;
}

// The sum over a block, held by thread 0: each warp leaves its sum in a slot, and the first warp, which is always
// whole, adds up the slots. One barrier, where a tree in shared memory needs ten.
template <typename T> __device__ T block_sum(T sum) {
    __shared__ T slots[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
    sum = warp_sum(sum, warp_lanes());
    if (lane == 0)
        slots[warp] = sum;
    __syncthreads();
    if (warp == 0)
        sum = warp_sum(lane < warps ? slots[lane] : T(0), 32);
    return sum;
}

// ---------------------------------------------------------------------------------------------------------------------
// rung.cuh
// ---------------------------------------------------------------------------------------------------------------------

// What every rung shares: the element types, shared memory, the ways out of a block, and the macro that makes kernels.
//
// A rung is a device function that reduces what its block is responsible for to one number, held by thread 0, and hands
// it to deliver(). How the blocks' numbers become one is the finish, which is independent of the rung:
//
//   STORE        each block stores its sum; the host adds them, or another launch does (finishes host, second-launch,
//                recursive)
//   ATOMIC       each block adds its sum to the result, which somebody must have cleared before the launch
//   LAST_BLOCK   each block stores its sum and takes a ticket; whoever draws the last one adds up all of them

// i32 is added as unsigned: the sum modulo 2^32, which cannot overflow.
using i32 = unsigned int;
using f32 = float;
using f64 = double;

enum finish { STORE, ATOMIC, LAST_BLOCK };

template <typename T> struct outlet {
    T *partials;      // STORE, LAST_BLOCK: one per block
    T *result;        // ATOMIC, LAST_BLOCK
    unsigned *ticket; // LAST_BLOCK: how many blocks are done; zero before and after every launch
};

// Shared memory whose size the launch decides: blockDim.x elements for the rungs that use it.
template <typename T> __device__ T *shared_memory() {
    extern __shared__ __align__(128) unsigned char dynamic_shared[];
    return reinterpret_cast<T *>(dynamic_shared);
}

// An element, or the identity of addition where there is none: what lets n be any number.
template <typename T> __device__ T load(const T *input, uint64_t i, uint64_t n) {
    return i < n ? input[i] : T(0);
}

// Where this thread stands in the grid: 64 bits, since 2^32 elements are only 16 GiB of f32.
__device__ inline uint64_t global_thread() {
    return uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline uint64_t grid_threads() {
    return uint64_t(gridDim.x) * blockDim.x;
}

// True in every thread of the block that is last of `count` to get here, false in all others.
//
// Thread 0 has stored its block's sum. The fence makes that visible to the device before the ticket is: whoever draws
// the last ticket then sees every sum. atomicInc wraps to zero after count - 1, so nothing has to be cleared. No
// block waits for another, so this is safe however many blocks fit on the device at once.
__device__ inline bool is_last_block(unsigned *ticket, unsigned count) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(ticket, count - 1) == count - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}

// The sum of many numbers by one block, held by thread 0. Read through L2 (__ldcg): L1 may hold what was there before.
template <typename T> __device__ T sum_by_block(const T *values, uint64_t count) {
    T sum = 0;
    for (uint64_t i = threadIdx.x; i < count; i += blockDim.x)
        sum += __ldcg(&values[i]);
    return block_sum(sum);
}

// The way out of block number `block` of `blocks` that leave a sum. Every thread of the block calls this; `sum` matters in
// thread 0 alone.
template <finish F, typename T>
__device__ void deliver_as(unsigned block, unsigned blocks, T sum, const outlet<T> &out) {
    if constexpr (F == ATOMIC) {
        if (threadIdx.x == 0)
            atomicAdd(out.result, sum);
    } else {
        if (threadIdx.x == 0)
            out.partials[block] = sum;
        if constexpr (F == LAST_BLOCK) {
            if (!is_last_block(out.ticket, blocks))
                return;
            // Always in the same order, whichever block is last: the same bits on every run.
            T total = sum_by_block(out.partials, blocks);
            if (threadIdx.x == 0)
                *out.result = total;
        }
    }
}

// The same where every block of the grid leaves one.
template <finish F, typename T> __device__ void deliver(T sum, const outlet<T> &out) {
    deliver_as<F>(blockIdx.x, gridDim.x, sum, out);
}

// ---------------------------------------------------------------------------------------------------------------------
// ring.cuh
// ---------------------------------------------------------------------------------------------------------------------

// A ring of stages in shared memory that the copy engine fills: what the rungs `bulk-copy` and `producer-warp` share.
// They differ in who orders the copies.

// Also known to the host, which asks for the shared memory: cuda_rungs.c.
constexpr unsigned STAGES = 6, STAGE_BYTES = 16 << 10;

#if __CUDA_ARCH__ >= 900
template <typename T> struct ring {
    static constexpr unsigned PER_TILE = STAGE_BYTES / sizeof(T), PER_VECTOR = 16 / sizeof(T);
    T *stages;
    uint64_t *arrived, *read; // a barrier of each kind per stage: the tile is there; all who add have read it
    T sum[PER_VECTOR];        // of this thread

    // By all threads of the block; `readers` warps say that they have read.
    __device__ ring(uint64_t *arrived, uint64_t *read, unsigned readers)
        : stages(shared_memory<T>()), arrived(arrived), read(read), sum{} {
        if (threadIdx.x == 0) {
            for (unsigned stage = 0; stage < STAGES; stage++) {
                mbarrier_init(&arrived[stage], 1);
                mbarrier_init(&read[stage], readers);
            }
            mbarrier_init_fence();
        }
        __syncthreads();
    }

    // By one thread: tile number `tile` of the input into a stage.
    __device__ void order(const T *input, uint64_t tile, unsigned stage) {
        bulk_copy_begin(stages + stage * PER_TILE, input + tile * PER_TILE, STAGE_BYTES, &arrived[stage]);
    }

    // By whole warps, `threads` threads in all, of which this one is number `thread`: waits for a tile, adds it, says that
    // it is read.
    __device__ void add(unsigned stage, unsigned parity, unsigned thread, unsigned threads) {
        mbarrier_wait(&arrived[stage], parity);
        const uint4 *vectors = reinterpret_cast<const uint4 *>(stages + stage * PER_TILE);
#pragma unroll 4
        for (unsigned i = thread; i < STAGE_BYTES / 16; i += threads) {
            T value[PER_VECTOR];
            uint4 bits = vectors[i];
            memcpy(value, &bits, sizeof bits);
#pragma unroll
            for (unsigned k = 0; k < PER_VECTOR; k++)
                sum[k] += value[k];
        }
        __syncwarp();
        if (threadIdx.x % 32 == 0)
            mbarrier_arrive(&read[stage]);
    }

    // By all threads of the block, at the end: the sum of this one, with its share of the elements that fill no tile.
    __device__ T finish(const T *input, uint64_t n) {
        for (uint64_t i = n / PER_TILE * PER_TILE + global_thread(); i < n; i += grid_threads())
            sum[0] += input[i];
        for (unsigned k = 1; k < PER_VECTOR; k++)
            sum[0] += sum[k];
        __syncthreads(); // nobody waits on the barriers any more
        if (threadIdx.x < STAGES) {
            mbarrier_invalidate(&arrived[threadIdx.x]);
            mbarrier_invalidate(&read[threadIdx.x]);
        }
        return sum[0];
    }
};
#endif

// ---------------------------------------------------------------------------------------------------------------------
// The rung: bulk_copy.cu
// ---------------------------------------------------------------------------------------------------------------------

template <typename T, finish F> __device__ void bulk_copy(const T *input, uint64_t n, outlet<T> out) {
#if __CUDA_ARCH__ >= 900
    __shared__ uint64_t arrived[STAGES], read[STAGES];
    ring<T> ring(arrived, read, (blockDim.x + 31) / 32);
    uint64_t tiles = n / ring.PER_TILE;
    auto order = [&](uint64_t tile, unsigned stage) {
        if (threadIdx.x == 0 && tile < tiles)
            ring.order(input, tile, stage);
    };
    for (unsigned stage = 0; stage < STAGES; stage++)
        order(blockIdx.x + uint64_t(stage) * gridDim.x, stage);

    unsigned stage = 0, parity = 0;
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        ring.add(stage, parity, threadIdx.x, blockDim.x);
        if (threadIdx.x == 0)
            mbarrier_wait(&read[stage], parity);
        order(tile + uint64_t(STAGES) * gridDim.x, stage);
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    deliver<F>(block_sum(ring.finish(input, n)), out);
#endif
}

// ---------------------------------------------------------------------------------------------------------------------
// How it is launched
// ---------------------------------------------------------------------------------------------------------------------

constexpr const char *RUNG = "bulk-copy";
constexpr unsigned THREADS = 256; // of a block
// As many blocks as the device holds at once.
constexpr bool WALKS = true;
// Blocks come in multiples of this.
constexpr unsigned TOGETHER = 1;

template <typename T> __global__ void __launch_bounds__(1024) kernel(T *input, uint64_t n, outlet<T> out) {
    bulk_copy<T, LAST_BLOCK>(input, n, out);
}

template <typename T> uint64_t blocks_wanted(uint64_t n) {
    constexpr uint64_t PER_BLOCK = STAGE_BYTES / sizeof(T);
    return (n + PER_BLOCK - 1) / PER_BLOCK;
}

template <typename T> constexpr size_t shared_bytes() {
    return STAGES * STAGE_BYTES;
}

// ---------------------------------------------------------------------------------------------------------------------
// Numbers in, a sum out
// ---------------------------------------------------------------------------------------------------------------------

// Any call can fail, and a program that does not look goes on with garbage.
#define CHECK(call) check(call, #call)
static void check(cudaError_t status, const char *call) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(status));
        exit(1);
    }
}

// Blocks for n elements: of a rung that walks over the array, no more than the device holds at once.
template <typename T> unsigned blocks_for(uint64_t n) {
    uint64_t wanted = blocks_wanted<T>(n);
    if (WALKS) {
        int device, processors, resident;
        CHECK(cudaGetDevice(&device));
        CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel<T>, THREADS, shared_bytes<T>()));
        uint64_t most = uint64_t(processors) * resident;
        wanted = wanted < most ? wanted : most;
    }
    wanted = wanted ? wanted : 1; // an empty array has a sum as well
    return unsigned((wanted + TOGETHER - 1) / TOGETHER * TOGETHER);
}

// Milliseconds of one launch, of as many back to back as last a while.
template <typename Launch> float time_launch(Launch launch) {
    const int runs = 100;
    float milliseconds;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < runs; i++)
        launch();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return milliseconds / runs;
}

// One type: true if the sum is right. Numbers are small integers, and of floats multiples of 1/1024, so that integers
// and doubles on the host hold their sum exactly.
template <typename T> bool run(const char *type, uint64_t n) {
    constexpr bool is_float = T(1) / 2 != 0;
    std::vector<T> numbers(n);
    double exact = 0;
    for (uint64_t i = 0; i < n; i++) {
        unsigned number = unsigned(i * 2654435761u) >> 22;
        numbers[i] = is_float ? T(number) / T(1024) : T(number);
        exact += double(numbers[i]);
    }

    T *input, *partials, *result;
    unsigned *ticket, blocks = blocks_for<T>(n);
    CHECK(cudaMalloc(&input, (n + 1) * sizeof(T)));
    CHECK(cudaMalloc(&partials, blocks * sizeof(T)));
    CHECK(cudaMalloc(&result, sizeof(T)));
    CHECK(cudaMalloc(&ticket, sizeof(unsigned)));
    CHECK(cudaMemset(ticket, 0, sizeof(unsigned)));
    CHECK(cudaMemcpy(input, numbers.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaFuncSetAttribute(kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared_bytes<T>())));
    auto launch = [&] {
        kernel<T><<<blocks, THREADS, shared_bytes<T>()>>>(input, n, outlet<T>{partials, result, ticket});
        CHECK(cudaGetLastError());
    };

    T sum;
    launch();
    CHECK(cudaMemcpy(&sum, result, sizeof(T), cudaMemcpyDeviceToHost));
    // No element passes through more additions than its thread makes, and those of the trees.
    double terms = double(n) / blocks / THREADS + double(blocks) / THREADS + 32;
    double unit = sizeof(T) == 4 ? ldexp(1, -24) : ldexp(1, -53);
    bool right = is_float ? fabs(double(sum) - exact) <= terms * unit * exact : sum == T(uint64_t(exact));
    float milliseconds = time_launch(launch);
    printf("%-20s %s  %llu elements  %-5s  %8.1f us  %5.0f GB/s\n", RUNG, type, (unsigned long long)n,
           right ? "right" : "WRONG", milliseconds * 1e3, double(n) * sizeof(T) / milliseconds / 1e6);
    if (!right)
        printf("    expected %.17g, got %.17g\n", exact, double(sum));

    for (void *memory : {(void *)input, (void *)partials, (void *)result, (void *)ticket})
        CHECK(cudaFree(memory));
    return right;
}

int main(int argc, char **argv) {
    uint64_t n = argc > 1 ? uint64_t(atof(argv[1])) : 32 << 20;
    bool right = run<i32>("i32", n) & run<f32>("f32", n) & run<f64>("f64", n);
    return right ? 0 : 1;
}
