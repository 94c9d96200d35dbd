// A first program: sums ten million floats on a GPU, checks the sum, and times it. It is chapter 0 of the tutorial,
// docs/ladder/start.md.
//
//     nvcc -O3 start.cu -o start && ./start
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Any call can fail, and a program that does not look goes on with garbage.
#define CHECK(call) check(call, #call)
static void check(cudaError_t status, const char *call) {
    if (status != cudaSuccess) {
        fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(status));
        exit(1);
    }
}

constexpr unsigned THREADS = 256; // of a block

// One block adds up THREADS neighbouring elements; its sum goes to sums[blockIdx.x].
__global__ void sum_blocks(const float *input, size_t n, float *sums) {
    __shared__ float shared[THREADS];
    unsigned tid = threadIdx.x;
    size_t i = size_t(blockIdx.x) * THREADS + tid;

    shared[tid] = i < n ? input[i] : 0; // the last block may reach beyond the end
    __syncthreads();                    // everybody has written before anybody reads
    for (unsigned s = THREADS / 2; s > 0; s /= 2) {
        if (tid < s)
            shared[tid] += shared[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = shared[0];
}

int main(int argc, char **argv) {
    const size_t n = argc > 1 ? size_t(atof(argv[1])) : 10 * 1000 * 1000;
    const unsigned blocks = unsigned((n + THREADS - 1) / THREADS);

    // The numbers: multiples of 1/1024, so that a double holds their sum exactly.
    std::vector<float> numbers(n), parts(blocks);
    double expected = 0;
    for (size_t i = 0; i < n; i++) {
        numbers[i] = float(i * 2654435761u % 1024) / 1024;
        expected += numbers[i];
    }

    // Memory on the GPU, and the numbers into it.
    float *input, *sums;
    CHECK(cudaMalloc(&input, n * sizeof *input));
    CHECK(cudaMalloc(&sums, blocks * sizeof *sums));
    CHECK(cudaMemcpy(input, numbers.data(), n * sizeof *input, cudaMemcpyHostToDevice));

    // The launch, which only queues the work; copying the result waits for it.
    sum_blocks<<<blocks, THREADS>>>(input, n, sums);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(parts.data(), sums, blocks * sizeof *sums, cudaMemcpyDeviceToHost));

    // The finish: the blocks' sums become one, here on the CPU. A tree of floats rounds, so it may be off a little.
    double sum = 0;
    for (float part : parts)
        sum += part;
    double error = fabs(sum - expected), bound = 1e-6 * expected;

    // The time: of many launches between two events on the GPU's own clock. The first launch, above, warmed it up.
    const int runs = 100;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < runs; i++)
        sum_blocks<<<blocks, THREADS>>>(input, n, sums);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    double seconds = milliseconds / 1e3 / runs;

    printf("sum %.3f, expected %.3f: %s\n", sum, expected, error <= bound ? "right" : "WRONG");
    printf("%.1f us, %.0f GB/s\n", seconds * 1e6, double(n) * sizeof *input / seconds / 1e9);
    CHECK(cudaFree(input));
    CHECK(cudaFree(sums));
    return error <= bound ? 0 : 1;
}
