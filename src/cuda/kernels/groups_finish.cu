/* Memory is cleared; and the end of sums by groups: the rest of the planes is cleared before it is used, if it is, and each result is
 * rounded, once. One kernel serves all types of elements, as planes are the same for all. */
#include "delivery.cuh"
#include "groups.cuh"

namespace {

constexpr unsigned FINISHES = FINISHES_OF<RD_IDENTITY, RD_ADD> | FINISHES_OF<RD_SQUARE, RD_ADD>,
                   MOMENT_FINISHES = FINISHES_OF<RD_MOMENTS, RD_ADD>;

/* Threads of a block that rounds: few, as each warp has room for sums of any size. */
constexpr int ROUNDING_THREADS = RD_CUDA_GROUPS_ROUNDING, ROUNDING_WARPS = ROUNDING_THREADS / 32;

/* Which planes of the rest elements reached: from `low` to below `high`. */
struct Reach {
    int low, high;

    __device__ __forceinline__ explicit Reach(const rd_cuda_groups_grid &grid) : low(0), high(0) {
        if (grid.rest && grid.header->high_above) {
            low = (int)(UINT32_MAX - grid.header->low_below);
            high = (int)grid.header->high_above;
        }
    }
};

/* What must be zero lies together. */
__device__ __forceinline__ void clear_first(const rd_cuda_groups &groups) {
    uint4 *words = reinterpret_cast<uint4 *>(groups.grid[0].header);
    const u64 step = (u64)gridDim.x * THREADS;
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < groups.zero_vectors; i += step)
        words[i] = make_uint4(0, 0, 0, 0);
}

__device__ __forceinline__ void clear_rest(const rd_cuda_groups &groups, const rd_cuda_groups_grid &grid) {
    const Reach reach(grid);
    if (reach.low >= reach.high)
        return;
    uint64_t *words = grid.rest + reach.low * groups.rest_room;
    const u64 count = (u64)(reach.high - reach.low) * groups.rest_room, step = (u64)gridDim.x * THREADS;
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < count; i += step)
        words[i] = 0;
}

/* A result's window as an integer of W words in two's complement; at most 63 bits more than its planes have. */
template <int W>
__device__ __forceinline__ void gather(const rd_cuda_groups &groups, const rd_cuda_groups_grid &grid, u64 result,
                                       u64 (&word)[W]) {
#pragma unroll
    for (int w = 0; w < W; w++)
        word[w] = 0;
    for (int k = (int)grid.window_planes - 1; k >= 0; k--) {
        const i64 digit = (i64)grid.window[k * groups.results + result];
        unsigned __int128 sum = (u64)digit;
        const u64 above = (u64)(digit >> 63);
        const int step = (int)groups.step;
        u64 lower = 0;
#pragma unroll
        for (int w = 0; w < W; w++) {
            const u64 shifted = word[w] << step | lower >> (64 - step);
            lower = word[w];
            sum += shifted;
            word[w] = (u64)sum;
            sum = (sum >> 64) + (w + 1 < W ? above : 0);
        }
    }
}

/* Whether a result has anything in the rest. */
__device__ __forceinline__ bool has_rest(const rd_cuda_groups &groups, const rd_cuda_groups_grid &grid, u64 result) {
    const Reach reach(grid);
    bool any = false;
    for (int k = reach.low; k < reach.high; k++)
        any = any || grid.rest[k * groups.rest_room + (result - groups.rest_first)] != 0;
    return any;
}

/* The whole of a result's grid as a sum in limbs. */
__device__ __noinline__ void gather_all(const rd_cuda_groups &groups, const rd_cuda_groups_grid &grid, u64 result,
                                        struct rd_sum &sum) {
    const Reach reach(grid);
    const int unit = grid.header->unit, step = (int)groups.step, base = unit - grid.header->first * step;
    sum.first = grid.lowest >= 0 ? 0 : -((31 - grid.lowest) / 32);
    sum.length = min((grid.highest + 64 - 32 * sum.first) / 32 + 3, (int)RD_LIMBS);
    sum.pending = 0;
    for (int i = 0; i < sum.length; i++)
        sum.limb[i] = 0;
    for (int k = 0; k < (int)grid.window_planes; k++)
        rd_sum_add(&sum, (i64)grid.window[k * groups.results + result], unit + k * step);
    for (int k = reach.low; k < reach.high; k++)
        rd_sum_add(&sum, (i64)grid.rest[k * groups.rest_room + (result - groups.rest_first)], base + k * step);
}

__device__ __forceinline__ u64 nan_bits(const rd_cuda_call &call) {
    const struct rd_type type = result_type(call);
    return rd_nan_bits(&type);
}

/* A sum of floats that is not finite; false if it is. */
__device__ __forceinline__ bool round_special(const rd_cuda_call &call, unsigned notes, u64 &bits) {
    const unsigned infinities = notes & (RD_CUDA_GROUPS_PLUS | RD_CUDA_GROUPS_MINUS);
    const bool both = infinities == (RD_CUDA_GROUPS_PLUS | RD_CUDA_GROUPS_MINUS);
    if (notes & RD_CUDA_GROUPS_NAN || both || (infinities && call.transform == RD_MOMENTS)) {
        bits = nan_bits(call);
        return true;
    }
    bits = (u64)(2 * call.result_max_exponent + 1) << (call.result_precision - 1);
    if (infinities == RD_CUDA_GROUPS_MINUS)
        bits |= (u64)1 << (8 * call.result_bytes - 1);
    return infinities != 0;
}

/* A sum of floats from few words. False where those do not hold it. */
__device__ __forceinline__ bool round_window(const rd_cuda_groups &groups, const rd_cuda_call &own, u64 result,
                                             bool negative_zero, u64 &bits) {
    const rd_cuda_groups_grid *grid = groups.grid;
    if (has_rest(groups, grid[0], result))
        return false;
    if (own.transform != RD_MOMENTS) {
        u64 word[4];
        gather(groups, grid[0], result, word);
        bits = round_words<FINISHES>(word, grid[0].header->unit, own, negative_zero);
        return true;
    }
    u64 sum[3], squares[4];
    if (has_rest(groups, grid[1], result))
        return false;
    gather(groups, grid[0], result, sum);
    gather(groups, grid[1], result, squares);
    return round_moments<MOMENT_FINISHES>(sum, grid[0].header->unit, squares, grid[1].header->unit, own, bits);
}

__device__ __noinline__ u64 round_all(const rd_cuda_groups &groups, const rd_cuda_call &own, u64 result, bool other,
                                      FinishRoom &room) {
    const struct rd_type type = result_type(own);
    struct rd_total total = {};
    gather_all(groups, groups.grid[0], result, room.sum);
    total.transform = (enum rd_transform)own.transform;
    total.finish = (enum rd_finish)own.finish;
    total.population = own.population;
    total.is_float = own.is_float;
    total.nonzero = other;
    total.count = own.count;
    total.sum = &room.sum;
    total.squares = &room.squares;
    total.room = &room.big;
    if (own.transform != RD_MOMENTS)
        return rd_finish_float(&total, &type);
    gather_all(groups, groups.grid[1], result, room.squares);
    return rd_finish_moments(&total, &type);
}

/* A sum of integers. */
__device__ __forceinline__ unsigned round_integers(const rd_cuda_groups &groups, const rd_cuda_call &own, u64 result,
                                                   uint64_t (&word)[4]) {
    if (own.transform == RD_MOMENTS) {
        u64 sum[3], squares[4], bits = 0;
        gather(groups, groups.grid[0], result, sum);
        gather(groups, groups.grid[1], result, squares);
        round_moments<MOMENT_FINISHES>(sum, 0, squares, 0, own, bits);
        word[0] = bits;
        return REDUCT_OK;
    }
    u64 sum[4];
    gather(groups, groups.grid[0], result, sum);
    if (own.result_class == RD_FLOAT)
        word[0] = round_words<FINISHES>(sum, 0, own, false);
    else if (!to_result(sum, own, word) && !own.wrap)
        return REDUCT_ERROR_OVERFLOW;
    return REDUCT_OK;
}

/* One result, but for those that few words do not hold. */
struct Rounded {
    uint64_t word[4];
    unsigned status;
    u64 nan_index;
    bool alone; /* it is to be rounded in limbs */
};

__device__ __forceinline__ bool is_minus_zero(unsigned notes) {
    return (notes & (RD_CUDA_GROUPS_MINUS_ZERO | RD_CUDA_GROUPS_OTHER)) == RD_CUDA_GROUPS_MINUS_ZERO;
}

__device__ __forceinline__ Rounded round_one(const rd_cuda_groups &groups, rd_cuda_call &own, u64 result,
                                             unsigned notes) {
    Rounded rounded = {{0, 0, 0, 0}, REDUCT_OK, UINT64_MAX, false};
    const u64 nan_below = groups.nan_below ? groups.nan_below[result] : 0;
    own.count = groups.counted ? groups.counted[result] : 1;
    if (own.count < own.minimum)
        rounded.status = REDUCT_ERROR_EMPTY;
    else if (nan_below)
        rounded.status = REDUCT_ERROR_NAN;
    if (rounded.status != REDUCT_OK) {
        rounded.nan_index = nan_index_of(nan_below);
        return rounded;
    }
    if (!own.is_float) {
        rounded.status = round_integers(groups, own, result, rounded.word);
    } else {
        u64 bits;
        if (!round_special(own, notes, bits) && !round_window(groups, own, result, is_minus_zero(notes), bits))
            rounded.alone = true;
        rounded.word[0] = bits;
    }
    return rounded;
}

/* Writes a result and what became of it. */
__device__ __forceinline__ void put(const rd_cuda_groups &groups, Rounded &rounded, u64 result) {
    const rd_cuda_call &call = groups.call;
    if (rounded.status != REDUCT_OK) {
        rounded.word[0] = call.result_class == RD_FLOAT ? nan_bits(call) : 0;
        rounded.word[1] = rounded.word[2] = rounded.word[3] = 0;
    }
    store_result(static_cast<unsigned char *>(call.result) + result * call.result_bytes, rounded.word,
                 call.result_bytes);
    tell_of(groups, result, rounded.status, rounded.nan_index);
}

__device__ __forceinline__ void finish_results(const rd_cuda_groups &groups) {
    __shared__ FinishRoom rooms[ROUNDING_WARPS];
    if (is_refused(groups, ROUNDING_THREADS))
        return;
    FinishRoom &room = rooms[warp_index()];
    const u64 end = min(groups.results, groups.rest_first + groups.rest_room), step = (u64)gridDim.x * ROUNDING_THREADS;
    for (u64 first = groups.rest_first + (u64)blockIdx.x * ROUNDING_THREADS + 32 * warp_index(); first < end;
         first += step) {
        const u64 result = first + lane_index();
        Rounded rounded;
        rounded.alone = false;
        rd_cuda_call own = groups.call;
        const unsigned notes = result < end && own.is_float ? groups.notes[result] : 0;
        if (result < end) {
            rounded = round_one(groups, own, result, notes);
            if (!rounded.alone)
                put(groups, rounded, result);
        }
        /* One after the other, in the room that they share. */
        for (unsigned left = __ballot_sync(ALL, rounded.alone); left; left &= left - 1) {
            if (lane_index() == __ffs((int)left) - 1) {
                rounded.word[0] = round_all(groups, own, result, !is_minus_zero(notes), room);
                put(groups, rounded, result);
            }
            __syncwarp();
        }
    }
}

} // namespace

extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS)
    groups_begin(const __grid_constant__ rd_cuda_groups groups) {
    clear_first(groups);
}

extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS)
    groups_clear(const __grid_constant__ rd_cuda_groups groups) {
    clear_rest(groups, groups.grid[0]);
    clear_rest(groups, groups.grid[1]);
}

extern "C" __global__ void __launch_bounds__(ROUNDING_THREADS)
    groups_finish(const __grid_constant__ rd_cuda_groups groups) {
    finish_results(groups);
}
