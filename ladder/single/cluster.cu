// Rung cluster: blocks that read each other's shared memory.
//
// Idea: since Hopper (2022) up to eight blocks can be launched as a cluster. They run at the same time, on
// multiprocessors that lie next to each other, can wait for each other, and can read each other's shared memory
// ("distributed shared memory"). So eight blocks become one number without a detour through global memory.
//
//   block     0   1   2   3   4   5   6   7      each leaves its sum in its own shared memory
//   block 0   reads all eight, and delivers one sum for the cluster
//
// Phases:
//   1. as vector-loads, down to one sum per block, in a shared variable
//   2. the cluster waits; lanes 0 to 7 of the first block read a block's sum each (map_shared_rank) and add them
//   3. the cluster waits again: a block that ends takes its shared memory with it, so nobody may leave before it is read
//   4. one deliver per cluster: an eighth of the block sums, whatever the finish
//
// What it fixes: with the finish atomic an eighth of the atomic additions, with the others an eighth of the block sums.
//
// When it loses: a sum has so few block sums that fewer do not show. Clusters take room on neighbouring multiprocessors, so
// that some may stay empty. Nothing before compute capability 9.0.
//
// Elsewhere: CUDA C++ Programming Guide, "Thread Block Clusters" (its example is a histogram).
//
// This file compiles alone, and is made by ladder/single.py from ladder/cuda/cluster.cu:
//
//     nvcc -O3 -arch=sm_90 cluster.cu && ./a.out

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 900
#error "compile this with -arch=sm_90 or a newer one: it needs a GPU of compute capability 9.0"
#endif

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cooperative_groups.h>
#include <stdint.h>
#include <string.h>

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
// vector_loads.cuh
// ---------------------------------------------------------------------------------------------------------------------

// 16 bytes per load, several loads under way: what the rung `vector-loads` teaches, used again by `one-launch`.

// Loads that a thread has under way at once. Memory answers after hundreds of cycles; what keeps it busy is the number
// of bytes that have been asked for: threads x loads x 16.
constexpr unsigned LOADS = 4;

// The elements of a 16-byte vector.
template <typename T> struct pack {
    static constexpr unsigned COUNT = 16 / sizeof(T);
    T value[COUNT];
};

// Read once and never again: __ldcs asks the caches to give it up first.
template <typename T> __device__ pack<T> load_pack(const uint4 *vector) {
    uint4 bits = __ldcs(vector);
    pack<T> elements;
    memcpy(&elements, &bits, sizeof bits);
    return elements;
}

// This thread's share of the sum of all elements; `input` is aligned to 16 bytes. The block takes tiles of LOADS
// vectors per thread, and steps over the tiles of the other blocks. Vectors beyond the end count as zeros, so that the
// last tile needs no loop of its own.
template <typename T> __device__ T sum_vectors(const T *input, uint64_t n) {
    const uint4 *vectors = reinterpret_cast<const uint4 *>(input);
    uint64_t count = n / pack<T>::COUNT, tile = uint64_t(blockDim.x) * LOADS;
    T sum[LOADS] = {};

    for (uint64_t i = blockIdx.x * tile + threadIdx.x; i < count; i += gridDim.x * tile) {
        pack<T> loaded[LOADS];
#pragma unroll
        for (unsigned k = 0; k < LOADS; k++) {
            uint64_t at = i + k * blockDim.x;
            loaded[k] = at < count ? load_pack<T>(&vectors[at]) : pack<T>{};
        }
#pragma unroll
        for (unsigned k = 0; k < LOADS; k++)
#pragma unroll
            for (T x : loaded[k].value)
                sum[k] += x;
    }

    uint64_t rest = count * pack<T>::COUNT + global_thread(); // the last elements, which fill no vector
    if (rest < n)
        sum[0] += input[rest];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// ---------------------------------------------------------------------------------------------------------------------
// The rung: cluster.cu
// ---------------------------------------------------------------------------------------------------------------------

// Also known to the host: cuda_rungs.c.
constexpr unsigned CLUSTER = 8;

template <typename T, finish F> __device__ void cluster(const T *input, uint64_t n, outlet<T> out) {
#if __CUDA_ARCH__ >= 900
    __shared__ T slot;
    auto blocks = cooperative_groups::this_cluster();
    T sum = block_sum(sum_vectors(input, n));
    if (threadIdx.x == 0)
        slot = sum;

    blocks.sync();
    bool is_first = blocks.block_rank() == 0;
    if (is_first && threadIdx.x < 32)
        sum = warp_sum(threadIdx.x < CLUSTER ? *blocks.map_shared_rank(&slot, threadIdx.x) : T(0), 32);
    blocks.sync();
    if (is_first)
        deliver_as<F>(blockIdx.x / CLUSTER, gridDim.x / CLUSTER, sum, out);
#endif
}

// ---------------------------------------------------------------------------------------------------------------------
// How it is launched
// ---------------------------------------------------------------------------------------------------------------------

constexpr const char *RUNG = "cluster";
constexpr unsigned THREADS = 256; // of a block
// As many blocks as the device holds at once.
constexpr bool WALKS = true;
// Blocks come in multiples of this.
constexpr unsigned TOGETHER = CLUSTER;

template <typename T>
__global__ void __launch_bounds__(1024) __cluster_dims__(CLUSTER) kernel(T *input, uint64_t n, outlet<T> out) {
    cluster<T, LAST_BLOCK>(input, n, out);
}

template <typename T> uint64_t blocks_wanted(uint64_t n) {
    constexpr uint64_t PER_BLOCK = THREADS * LOADS * (16 / sizeof(T));
    return (n + PER_BLOCK - 1) / PER_BLOCK;
}

template <typename T> constexpr size_t shared_bytes() {
    return 0;
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
        int clusters; // fewer blocks than there would be without
        cudaLaunchConfig_t config = {TOGETHER, THREADS, shared_bytes<T>()};
        CHECK(cudaOccupancyMaxActiveClusters(&clusters, kernel<T>, &config));
        uint64_t most = uint64_t(clusters) * TOGETHER;
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
