// What it is worth that a block's size is known when its kernel is compiled: the rung `halving`, whose loop begins at
// `blockDim.x`, which is read when it runs, or at `BLOCK_SIZE`, a parameter of the template, so that the steps are written out.
// For docs/tutorials.md, section E.
//
//     ./a.out           prints the times
//     ./a.out --json    prints them as results/adopt.py takes them
#include <cstring>

#include "experiment.cuh"

// In the order in which the table has them.
enum size_in_loop { READ, KNOWN };

template <unsigned BLOCK_SIZE, size_in_loop SIZE>
__global__ void __launch_bounds__(BLOCK_SIZE) halving(const float *input, unsigned n, float *sums) {
    __shared__ float shared[BLOCK_SIZE];
    unsigned tid = threadIdx.x, i = blockIdx.x * BLOCK_SIZE + tid;
    shared[tid] = i < n ? input[i] : 0.0f;
    __syncthreads();
    for (unsigned s = (SIZE == KNOWN ? BLOCK_SIZE : blockDim.x) / 2; s > 0; s /= 2) {
        if (tid < s)
            shared[tid] += shared[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = shared[0];
}

// 0 to 999 in turn: sums of whole numbers below 2^24 are exact in whatever order.
__global__ void fill(float *values, uint64_t count) {
    for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < count; i += uint64_t(gridDim.x) * blockDim.x)
        values[i] = float(i % 1000);
}

using kernel = void (*)(const float *, unsigned, float *);

static void check_sums(kernel sum, unsigned threads, const float *input, unsigned n, float *sums) {
    unsigned blocks = n / threads;
    std::vector<float> found(blocks);
    sum<<<blocks, threads>>>(input, n, sums);
    CHECK(cudaMemcpy(found.data(), sums, blocks * sizeof(float), cudaMemcpyDeviceToHost));
    for (unsigned b = 0; b < blocks; b++) {
        unsigned expected = 0;
        for (unsigned t = 0; t < threads; t++)
            expected += (b * threads + t) % 1000;
        if (found[b] != float(expected)) {
            fprintf(stderr, "block %u of %u threads: %g instead of %u\n", b, threads, found[b], expected);
            exit(1);
        }
    }
}

int main(int count, char **arguments) {
    const unsigned MI = 1 << 20, sizes[] = {4 * MI, 10 * MI, 32 * MI}, most = 32 * MI;
    const uint64_t room = 3 * uint64_t(most); // beyond any L2 cache, with arrays of every size one after the other
    const struct {
        unsigned threads;
        const char *in_loop;
        kernel sum;
    } ways[] = {{256, "`blockDim.x`", halving<256, READ>},
                {256, "`BLOCK_SIZE`", halving<256, KNOWN>},
                {1024, "`blockDim.x`", halving<1024, READ>},
                {1024, "`BLOCK_SIZE`", halving<1024, KNOWN>}};
    experiment table("static-blocks", "in the loop", count > 1 && strcmp(arguments[1], "--json") == 0);
    float *values = zeros<float>(room), *sums = zeros<float>(most / 256);
    fill<<<8 * multiprocessors(), 256>>>(values, room);
    for (auto &way : ways)
        check_sums(way.sum, way.threads, values, sizes[0], sums);
    for (unsigned n : sizes) {
        char column[16];
        snprintf(column, sizeof column, "%u Mi", n / MI);
        for (auto &way : ways) {
            unsigned run = 0, copies = unsigned(room / n);
            char row[40];
            snprintf(row, sizeof row, "%s, %u threads", way.in_loop, way.threads);
            table.add(row, column, "s",
                      1e-6 * microseconds(
                                 [&] {
                                     way.sum<<<n / way.threads, way.threads>>>(values + run++ % copies * uint64_t(n), n,
                                                                               sums);
                                 },
                                 48));
        }
    }
    return 0;
}
