/* The exact sums on CUDA devices: what a launch of the kernels in exact_sum.cu takes. Plain C, shared by the kernels
 * and by whoever launches them.
 *
 *   extern "C" __global__ void rd_cuda_exact_sum_f64(const double *x, uint64_t n, double *result, void *workspace);
 *   extern "C" __global__ void rd_cuda_exact_sum_f32(const float *x, uint64_t n, float *result, void *workspace);
 *   extern "C" __global__ void rd_cuda_sum_i32(const int32_t *x, uint64_t n, int64_t *result, void *workspace);
 *
 * x: n elements in device memory, aligned to the element; any n. result: one number in device memory, correctly rounded
 * (i32: exact, for n below 2^32). One launch does it all, whatever the number of blocks: at most rd_cuda_exact_blocks()
 * are of use. Launches that share a workspace must not overlap. */
#ifndef RD_CUDA_EXACT_SUM_H
#define RD_CUDA_EXACT_SUM_H

#include <stdint.h>

/* Threads per block: fixed, the kernels are compiled for it. Blocks per multiprocessor that are resident at once. */
enum { RD_CUDA_EXACT_THREADS = 256, RD_CUDA_EXACT_RESIDENT = 4 };

/* 16-byte vectors that a thread loads at once: a tile. */
enum { RD_CUDA_EXACT_VECTORS = 4 };

/* Bytes of workspace. All zero before the first launch; the kernels leave it so. */
enum { RD_CUDA_EXACT_WORKSPACE = 1024 };

/* The number of blocks for n elements of so many bytes on a device with so many multiprocessors. */
static inline uint32_t rd_cuda_exact_blocks(uint64_t n, uint32_t element_bytes, uint32_t multiprocessors) {
    uint64_t per_block = (uint64_t)RD_CUDA_EXACT_THREADS * RD_CUDA_EXACT_VECTORS * (16 / element_bytes);
    uint64_t wanted = n / per_block + (n % per_block != 0), most = (uint64_t)multiprocessors * RD_CUDA_EXACT_RESIDENT;
    return (uint32_t)(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

#endif
