// Rung row-vectors: 16 bytes per load.
//
// Idea: as rows-per-warp, but each lane reads 16 bytes at a time: four floats, two doubles. A row of 64 floats is 16 such
// loads: four lanes ask for four each before they add, and a warp has eight rows under way at once.
//
// Phases: walk and add, vector by vector; group_sum() over the row's lanes; store.
//
// What it fixes: too few bytes under way, as in vector-loads.
//
// When it loses: each row must begin at a multiple of 16 bytes, so the length of a row must be a multiple of 16 bytes, too.
#include "../vector_loads.cuh"
#include "rows.cuh"

template <unsigned LANES, typename T>
__device__ void row_vectors(const T *input, uint64_t rows, uint64_t columns, T *result) {
    constexpr unsigned ROWS_AT_ONCE = 32 / LANES;
    const uint4 *vectors = reinterpret_cast<const uint4 *>(input);
    uint64_t warp = global_thread() / 32, warps = grid_threads() / 32, length = columns / pack<T>::COUNT;
    unsigned lane = lane_of_warp() % LANES, group = lane_of_warp() / LANES;
    for (uint64_t first = warp * ROWS_AT_ONCE; first < rows; first += warps * ROWS_AT_ONCE) {
        uint64_t row = first + group;
        T sum[LOADS] = {};
        for (uint64_t i = lane; row < rows && i < length; i += LOADS * LANES) {
            pack<T> loaded[LOADS];
#pragma unroll
            for (unsigned k = 0; k < LOADS; k++) {
                uint64_t at = i + k * LANES;
                loaded[k] = at < length ? load_pack<T>(&vectors[row * length + at]) : pack<T>{};
            }
#pragma unroll
            for (unsigned k = 0; k < LOADS; k++)
#pragma unroll
                for (T x : loaded[k].value)
                    sum[k] += x;
        }
        T total = group_sum<LANES>((sum[0] + sum[1]) + (sum[2] + sum[3]));
        if (lane == 0 && row < rows)
            result[row] = total;
    }
}

ROWS_LANES(row_vectors, 1)
ROWS_LANES(row_vectors, 2)
ROWS_LANES(row_vectors, 4)
ROWS_LANES(row_vectors, 8)
ROWS_LANES(row_vectors, 16)
ROWS_LANES(row_vectors, 32)
