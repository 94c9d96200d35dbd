// What clusters cost: the rung `cluster` with clusters of several sizes, as many blocks as there would be without and as many
// as the driver has room for, with its waits and without. For docs/ladder/cluster.md.
//
// A clock in each block says when it began and on which multiprocessor: how many begin late, and how many multiprocessors have
// no block at first.
#include <cooperative_groups.h>
#include <set>

#include "experiment.cuh"
#include "rung.cuh"
#include "vector_loads.cuh"

constexpr unsigned THREADS = 256;

struct begun {
    unsigned long long at; // nanoseconds
    unsigned multiprocessor;
};

__device__ inline begun begin_here() {
    begun b;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(b.at));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(b.multiprocessor));
    return b;
}

// WAITS: as the rung. Otherwise each block delivers its own sum, whatever the launch. `clocks` may be null.
template <bool WAITS>
__global__ void __launch_bounds__(1024) sum_up(const f32 *input, uint64_t n, outlet<f32> out, begun *clocks) {
    if (clocks && threadIdx.x == 0)
        clocks[blockIdx.x] = begin_here();
    f32 sum = block_sum(sum_vectors(input, n));
    if constexpr (!WAITS) {
        deliver<LAST_BLOCK>(sum, out);
    } else {
        __shared__ f32 slot;
        auto blocks = cooperative_groups::this_cluster();
        unsigned size = blocks.num_blocks();
        if (threadIdx.x == 0)
            slot = sum;
        blocks.sync();
        bool is_first = blocks.block_rank() == 0;
        if (is_first && threadIdx.x < 32)
            sum = warp_sum(threadIdx.x < size ? *blocks.map_shared_rank(&slot, threadIdx.x) : 0.0f, 32);
        blocks.sync();
        if (is_first)
            deliver_as<LAST_BLOCK>(blockIdx.x / size, gridDim.x / size, sum, out);
    }
}

using kernel = void (*)(const f32 *, uint64_t, outlet<f32>, begun *);

// A launch in clusters; without for a cluster of 0.
struct grid {
    unsigned cluster, blocks;
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config() {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = cluster;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        cudaLaunchConfig_t config = {blocks, THREADS};
        config.attrs = &attribute;
        config.numAttrs = cluster != 0;
        return config;
    }
};

static f32 *input;
static outlet<f32> out;
static const uint64_t MOST = 256 << 20;

static void launch(kernel k, grid g, const f32 *from, uint64_t n, begun *clocks) {
    cudaLaunchConfig_t config = g.config();
    CHECK(cudaLaunchKernelEx(&config, k, from, n, out, clocks));
}

// The parts of the array take turns, so that none of it comes from the cache.
static double time_of(kernel k, grid g, uint64_t n) {
    uint64_t run = 0, parts = MOST / n;
    return microseconds([&] { launch(k, g, input + run++ % parts * n, n, nullptr); },
                        int(std::min<uint64_t>(4 * parts, 200)));
}

static void look_at_clocks(kernel k, grid g) {
    std::vector<begun> clocks(g.blocks);
    begun *on_device = zeros<begun>(g.blocks);
    launch(k, g, input, MOST, on_device);
    CHECK(cudaMemcpy(clocks.data(), on_device, g.blocks * sizeof(begun), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(on_device));
    unsigned long long first = clocks[0].at;
    for (const begun &b : clocks)
        first = std::min(first, b.at);
    std::set<unsigned> busy;
    unsigned late = 0;
    for (const begun &b : clocks)
        if (b.at - first > 50000) // all that begin at once do within microseconds
            late++;
        else
            busy.insert(b.multiprocessor);
    printf("%u blocks in clusters of %u: %u begin late, %u multiprocessors are empty till then\n", g.blocks, g.cluster,
           late, multiprocessors() - unsigned(busy.size()));
}

int main() {
    input = zeros<f32>(MOST);
    out = {zeros<f32>(4096), zeros<f32>(1), zeros<unsigned>(1)};
    for (kernel k : {sum_up<false>, sum_up<true>})
        CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    const unsigned all = resident_blocks(sum_up<true>, THREADS), few = (1 << 20) / (THREADS * LOADS * 4);
    printf("no clusters: %u blocks at once; 256 Mi %.1f us; 1 Mi %.2f us\n", all,
           time_of(sum_up<false>, {0, all}, MOST), time_of(sum_up<false>, {0, few}, 1 << 20));
    for (unsigned cluster : {2, 4, 8, 16}) {
        int clusters;
        grid g = {cluster, all};
        cudaLaunchConfig_t config = g.config();
        CHECK(cudaOccupancyMaxActiveClusters(&clusters, sum_up<true>, &config));
        unsigned fit = unsigned(clusters) * cluster;
        printf("clusters of %u: %u blocks at once; 256 Mi with %u blocks %.1f us, with as many as fit %.1f us, where "
               "nobody waits "
               "%.1f us; 1 Mi %.2f us, where nobody waits %.2f us\n",
               cluster, fit, all, time_of(sum_up<true>, g, MOST), time_of(sum_up<true>, {cluster, fit}, MOST),
               time_of(sum_up<false>, {cluster, fit}, MOST), time_of(sum_up<true>, {cluster, few}, 1 << 20),
               time_of(sum_up<false>, {cluster, few}, 1 << 20));
        look_at_clocks(sum_up<true>, g);
    }
    return 0;
}
