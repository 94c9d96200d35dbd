/* Which way the segments of a plan are reduced: see RD_CUDA_WAY_ROWS in many.h. */
#include "many.cuh"

namespace {

constexpr int OFFSETS = RD_CUDA_CHOICE_EACH;

/* Whether those offsets are that the thread looks at. */
template <class T> __device__ __forceinline__ bool are_rows(const rd_cuda_choice &choice) {
    const T *offsets = static_cast<const T *>(choice.offsets);
    const u64 count = choice.segments + 1, step = (u64)gridDim.x * THREADS * OFFSETS;
    bool rows = true;
#pragma unroll 1
    for (u64 first = (u64)blockIdx.x * THREADS * OFFSETS + threadIdx.x; rows && first < count; first += step) {
        T offset[OFFSETS];
#pragma unroll
        for (int i = 0; i < OFFSETS; i++)
            offset[i] = first + i * THREADS < count ? __ldcg(offsets + first + i * THREADS) : 0;
#pragma unroll
        for (int i = 0; i < OFFSETS; i++)
            rows =
                rows && (first + i * THREADS >= count || (u64)(i64)offset[i] == (first + i * THREADS) * choice.length);
    }
    return rows;
}

} // namespace

extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS)
    many_choice(const __grid_constant__ rd_cuda_choice choice) {
    __shared__ bool others;
    if (!threadIdx.x)
        others = false;
    wait_for_previous();
    let_next_come();
    __syncthreads();
    const bool rows = choice.index_bytes == 8 ? are_rows<i64>(choice)
                      : choice.index_signed   ? are_rows<int>(choice)
                                              : are_rows<unsigned>(choice);
    if (__any_sync(ALL, !rows) && lane_index() == 0)
        others = true;
    __syncthreads();
    if (threadIdx.x)
        return;
    u64 *words = reinterpret_cast<u64 *>(choice.words);
    const u64 own = 1 + (others ? RD_CUDA_CHOICE_OTHER : 0), all = atomicAdd(words + RD_CUDA_CHOICE_ENDED, own) + own;
    if ((unsigned)all == gridDim.x) {
        words[RD_CUDA_CHOICE_ENDED] = 0;
        words[RD_CUDA_CHOICE_WAY] = all < RD_CUDA_CHOICE_OTHER ? RD_CUDA_WAY_ROWS : RD_CUDA_WAY_SEGMENTS;
    }
}
