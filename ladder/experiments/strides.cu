// What it is worth that the compiler knows the stride of a loop, and what a tree costs: `row-block` in four ways. For
// docs/ladder/rows.md.
#include "experiment.cuh"
#include "rung.cuh"

constexpr unsigned THREADS = 256;

// `halving`, as GLSL's rung has it.
__device__ f32 tree_sum(f32 sum) {
    __shared__ f32 values[THREADS];
    unsigned tid = threadIdx.x;
    values[tid] = sum;
    __syncthreads();
    for (unsigned left = blockDim.x; left > 1;) {
        unsigned upper = (left + 1) / 2;
        if (tid + upper < left)
            values[tid] += values[tid + upper];
        __syncthreads();
        left = upper;
    }
    return values[0];
}

enum how { AS_RUNG, CONSTANT, CONSTANT_ROLLED, TREE };

template <how HOW>
__global__ void __launch_bounds__(THREADS) sum_rows(const f32 *input, uint64_t rows, uint64_t columns, f32 *result) {
    for (uint64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        f32 sum = 0;
        if constexpr (HOW == CONSTANT) {
            for (uint64_t i = threadIdx.x; i < columns; i += THREADS)
                sum += input[row * columns + i];
        } else if constexpr (HOW == CONSTANT_ROLLED) {
#pragma unroll 1
            for (uint64_t i = threadIdx.x; i < columns; i += THREADS)
                sum += input[row * columns + i];
        } else {
            for (uint64_t i = threadIdx.x; i < columns; i += blockDim.x)
                sum += input[row * columns + i];
        }
        sum = HOW == TREE ? tree_sum(sum) : block_sum(sum);
        if (threadIdx.x == 0)
            result[row] = sum;
        __syncthreads();
    }
}

int main() {
    const uint64_t n = 32 << 20;
    f32 *input = zeros<f32>(n), *result = zeros<f32>(n / 16);
    auto show = [&](const char *what, auto kernel) {
        printf("%-24s", what);
        for (uint64_t columns : {16, 1024, 4096, 65536}) {
            unsigned blocks = unsigned(std::min<uint64_t>(n / columns, resident_blocks(kernel, THREADS)));
            printf("  %6llu: %7.1f us", (unsigned long long)columns,
                   microseconds([&] { kernel<<<blocks, THREADS>>>(input, n / columns, columns, result); }, 4));
        }
        printf("\n");
    };
    show("as the rung", sum_rows<AS_RUNG>);
    show("stride a constant", sum_rows<CONSTANT>);
    show("the same, not unrolled", sum_rows<CONSTANT_ROLLED>);
    show("a tree at the end", sum_rows<TREE>);
    return 0;
}
