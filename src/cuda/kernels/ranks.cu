/* Where ranks meet, each with a GPU of its own: a partial result as words that others can add or gather, and the result of what came
 * of all ranks' words. One block for each field. See ranks.h. */
#include "ranks.h"

#include "arithmetic/order.h"
#include "delivery.cuh"

namespace {

typedef rd_cuda_ranks_field Field;
typedef rd_cuda_ranks_own Own;

constexpr unsigned SUM_FINISHES = FINISHES_OF<RD_IDENTITY, RD_ADD> | FINISHES_OF<RD_ABSOLUTE, RD_ADD> |
                                  FINISHES_OF<RD_SQUARE, RD_ADD> | FINISHES_OF<RD_TIMES, RD_ADD>,
                   MOMENT_FINISHES = FINISHES_OF<RD_MOMENTS, RD_ADD>,
                   EXTREME_FINISHES = FINISHES_OF<RD_IDENTITY, RD_LEAST>;

/* ---------------------------------------------------------------------------------------------------------------------
 * To words
 * ------------------------------------------------------------------------------------------------------------------ */

/* A limb without what it carries, and with what the one below carries. So words are less than 2^33 in magnitude, and those of
 * 2^30 ranks add up within 64 bits. The last limb keeps all that it has, which is little: sums have room to spare there. */
__device__ __forceinline__ int64_t word_of(const int64_t *limb, int i, int limbs) {
    const int64_t own = i < limbs - 1 ? limb[i] & 0xffffffff : limb[i];
    return own + (i > 0 ? limb[i - 1] >> 32 : 0);
}

__device__ void share_counts(const Field &field, const rd_cuda_partial &partial) {
    field.added[0] = (int64_t)field.call.count;
    field.added[1] = (int64_t)partial.ignored;
    field.added[2] = (int64_t)partial.nans;
    field.added[3] = (int64_t)partial.plus_infinities;
    field.added[4] = (int64_t)partial.minus_infinities;
    field.added[5] = partial.nonzero;
    field.added[6] = (int64_t)partial.counted;
}

__device__ void share_own(const Field &field, const rd_cuda_partial &partial) {
    Own own = {field.call.count, partial.nan_index, {}};
    if (field.kind == RD_CUDA_RANKS_EXTREMES) {
        own.word[0] = partial.found;
        own.word[1] = partial.extreme;
        own.word[2] = partial.index;
    } else if (field.kind == RD_CUDA_RANKS_BITS) {
        own.word[0] = partial.bits;
    } else if (field.kind == RD_CUDA_RANKS_PRODUCTS) {
        for (int i = 0; i < 4; i++)
            own.word[i] = partial.whole.magnitude[i];
        own.word[4] = partial.whole.negative | partial.whole.overflow << 1;
    }
    *field.own = own;
}

/* Words where limbs are. */
__device__ void make_small(const Field &field, rd_cuda_partial &partial) {
    static_assert(RD_LIMBS <= THREADS, "a thread has one limb of a sum");
    const int own = threadIdx.x;
    int64_t word[2];
    for (int s = 0; s < 2; s++)
        word[s] = own < field.limbs[s] ? word_of(partial.limb[s], own, field.limbs[s]) : 0;
    __syncthreads();
    for (int s = 0; s < 2; s++)
        if (own < field.limbs[s])
            partial.limb[s][own] = word[s];
}

__device__ __forceinline__ void share(const rd_cuda_ranks &ranks) {
    const Field &field = ranks.field[blockIdx.x];
    rd_cuda_partial &partial = *field.call.partial;
    int64_t *words = field.added + RD_CUDA_RANKS_COUNTS;
    wait_for_previous();
    if (!field.added) {
        make_small(field, partial);
        return;
    }
    for (int s = 0; s < 2; words += field.limbs[s], s++)
        for (int i = threadIdx.x; i < field.limbs[s]; i += THREADS)
            words[i] = word_of(partial.limb[s], i, field.limbs[s]);
    if (threadIdx.x == 0)
        share_counts(field, partial);
    if (threadIdx.x == 0 && field.own)
        share_own(field, partial);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What came, as a partial result
 * ------------------------------------------------------------------------------------------------------------------ */

__device__ __forceinline__ void take_limbs(const Field &field, rd_cuda_partial &partial) {
    const int64_t *words = field.added + RD_CUDA_RANKS_COUNTS;
    for (int s = 0; s < 2; words += field.limbs[s], s++)
        for (int i = threadIdx.x; i < RD_LIMBS; i += THREADS)
            partial.limb[s][i] = i < field.limbs[s] ? words[i] : 0;
}

/* A sum of partial results. */
__device__ __forceinline__ void take_partial(const Field &field, rd_cuda_partial &partial) {
    const u64 *from = reinterpret_cast<const u64 *>(field.call.partial);
    for_words<sizeof partial / sizeof(u64)>([&](int i) { reinterpret_cast<u64 *>(&partial)[i] = from[i]; });
}

__device__ void take_counts(const Field &field, rd_cuda_partial &partial) {
    partial.ignored = (u64)field.added[1];
    partial.nans = (u64)field.added[2];
    partial.plus_infinities = (u64)field.added[3];
    partial.minus_infinities = (u64)field.added[4];
    partial.nonzero = field.added[5] != 0;
    partial.counted = (u64)field.added[6];
}

__device__ void clear_own(rd_cuda_partial &partial) {
    partial.nan_index = UINT64_MAX;
    partial.found = 0;
    partial.extreme = partial.index = partial.bits = 0;
}

__device__ __forceinline__ int64_t order_of(const Field &field, u64 extreme) {
    return rd_order(extreme, (enum rd_class)field.element_class, field.element_bytes);
}

/* Of equal extremes the first stays. */
__device__ void merge_extreme(const Field &field, const Own &own, u64 before, rd_cuda_partial &partial) {
    if (!own.word[0])
        return;
    const int64_t is = order_of(field, own.word[1]), was = order_of(field, partial.extreme);
    if (partial.found && (field.call.combine == RD_LEAST ? is >= was : is <= was))
        return;
    partial.found = 1;
    partial.extreme = own.word[1];
    partial.index = before + own.word[2];
}

__device__ __forceinline__ u64 merge_bits(const Field &field, u64 bits, u64 others) {
    return field.call.combine == RD_AND ? bits & others : field.call.combine == RD_OR ? bits | others : bits ^ others;
}

/* In the order of the ranks, whose elements follow each other. By one thread. */
__device__ void take_own(const rd_cuda_ranks &ranks, const Field &field, rd_cuda_partial &partial,
                         struct rd_whole &whole) {
    u64 before = 0;
    for (unsigned r = 0; r < ranks.ranks; r++) {
        const Own &own = field.own[(size_t)r * ranks.stride];
        if (own.nan_index != UINT64_MAX && partial.nan_index == UINT64_MAX)
            partial.nan_index = before + own.nan_index;
        if (field.kind == RD_CUDA_RANKS_EXTREMES) {
            merge_extreme(field, own, before, partial);
        } else if (field.kind == RD_CUDA_RANKS_BITS) {
            partial.bits = r ? merge_bits(field, partial.bits, own.word[0]) : own.word[0];
        } else if (field.kind == RD_CUDA_RANKS_PRODUCTS) {
            const struct rd_whole other = {
                {own.word[0], own.word[1], own.word[2], own.word[3]}, (own.word[4] & 1) != 0, (own.word[4] & 2) != 0};
            rd_whole_multiply(&whole, &other, field.call.wrap);
        }
        before += own.count;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * To the result
 * ------------------------------------------------------------------------------------------------------------------ */

/* Results that are not floats, of a sum of integers, a product of them, counts and bits. By one thread; whether it fits. */
__device__ bool to_words(const Field &field, const rd_cuda_call &call, const rd_cuda_partial &partial, FinishRoom &room,
                         const struct rd_whole &whole, uint64_t (&word)[4]) {
    const struct rd_type type = result_type(call);
    struct rd_total total = {};
    total.sum = &room.sum;
    total.room = &room.big;
    word[0] = field.kind == RD_CUDA_RANKS_COUNTED ? partial.counted : partial.bits;
    if (field.kind == RD_CUDA_RANKS_SUMS)
        return rd_finish_integer(&total, &type, word) || call.wrap;
    if (field.kind == RD_CUDA_RANKS_PRODUCTS)
        return rd_finish_whole(&whole, &type, word) || call.wrap;
    return true;
}

/* Digits of 32 bits of a sum that is rounded in registers, and ranks of which limbs can be added up with a carry. */
constexpr int FEW_DIGITS = 10;
constexpr unsigned FEW_RANKS = 1 << 20;

/* A sum of floats, and what is made of it, where nothing stands in the way: all terms were numbers, and the limbs in use are few.
 * The general way, by one thread over all limbs, takes longer than the launch. By one thread; false if it is for that way. */
__device__ bool round_few(unsigned ranks, rd_cuda_call &call, const rd_cuda_partial &partial,
                          const struct rd_sum &sum) {
    if (sum.length > FEW_DIGITS || ranks > FEW_RANKS || partial.nans || partial.plus_infinities ||
        partial.minus_infinities || partial.nan_index != UINT64_MAX || call.count - partial.ignored < call.minimum ||
        !has_float(call))
        return false;
    u64 word[FEW_DIGITS / 2];
    i64 carry = 0;
#pragma unroll
    for (int i = 0; i < FEW_DIGITS; i++) {
        carry += i < sum.length ? sum.limb[i] : 0;
        word[i / 2] = i % 2 ? word[i / 2] | (u64)carry << 32 : (unsigned)carry;
        carry >>= 32;
    }
    call.count -= partial.ignored;
    const bool signed_terms = call.transform == RD_IDENTITY || call.transform == RD_TIMES,
               negative_zero = call.is_float && signed_terms && !partial.nonzero && call.count != 0;
    deliver_short(call, round_words<SUM_FINISHES>(word, 32 * sum.first, call, negative_zero));
    return true;
}

/* By a warp. */
__device__ __forceinline__ void finish_sum(const rd_cuda_ranks &ranks, rd_cuda_call &call,
                                           const rd_cuda_partial &partial, FinishRoom &room, int first) {
    narrow(room.sum, partial.limb[0], first);
    __syncwarp();
    const bool done = lane_index() == 0 && round_few(ranks.ranks, call, partial, room.sum);
    if (!__shfl_sync(ALL, done, 0))
        finish<FLOAT_SUMS, SUM_FINISHES>(call, partial, room, first, 0);
}

/* By a warp. */
__device__ void finish_words(const Field &field, const rd_cuda_call &call, const rd_cuda_partial &partial,
                             FinishRoom &room, const struct rd_whole &whole) {
    uint64_t word[4] = {0, 0, 0, 0};
    uint32_t status = REDUCT_ERROR_NAN;
    if (field.kind == RD_CUDA_RANKS_SUMS)
        narrow(room.sum, partial.limb[0], field.first[0]);
    __syncwarp();
    if (lane_index() != 0)
        return;
    if (call.nan != REDUCT_NAN_ERROR || partial.nan_index == UINT64_MAX)
        status = to_words(field, call, partial, room, whole, word) ? REDUCT_OK : REDUCT_ERROR_OVERFLOW;
    if (status == REDUCT_OK)
        store_result(call.result, word, call.result_bytes);
    tell_outcome(call, status, partial.nan_index);
}

__device__ __forceinline__ void round_all(const rd_cuda_ranks &ranks) {
    __shared__ rd_cuda_partial partial;
    __shared__ rd_cuda_call call;
    __shared__ struct rd_whole whole;
    __shared__ FinishRoom room;
    const Field &field = ranks.field[blockIdx.x];
    wait_for_previous();
    let_next_come();
    if (field.added)
        take_limbs(field, partial);
    else
        take_partial(field, partial);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (field.added)
            take_counts(field, partial);
        call = field.call;
        call.partial = nullptr;
        call.count = field.added ? (u64)field.added[0] : partial.counted;
        clear_own(partial);
        whole.magnitude[0] = 1;
        whole.magnitude[1] = whole.magnitude[2] = whole.magnitude[3] = 0;
        whole.negative = whole.overflow = false;
        if (field.own)
            take_own(ranks, field, partial, whole);
    }
    __syncthreads();
    if (warp_index() != 0)
        return;
    if (field.kind == RD_CUDA_RANKS_EXTREMES)
        finish<EXTREMES, EXTREME_FINISHES>(call, partial, room, 0, 0);
    else if (field.kind != RD_CUDA_RANKS_SUMS || call.result_class != RD_FLOAT)
        finish_words(field, call, partial, room, whole);
    else if (call.transform == RD_MOMENTS)
        finish<FLOAT_MOMENTS, MOMENT_FINISHES>(call, partial, room, field.first[0], field.first[1]);
    else
        finish_sum(ranks, call, partial, room, field.first[0]);
}

} // namespace

#define KERNEL(NAME, FUNCTION)                                                                                         \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS) NAME(const __grid_constant__ rd_cuda_ranks ranks) {  \
        FUNCTION(ranks);                                                                                               \
    }

KERNEL(ranks_share, share)
KERNEL(ranks_finish, round_all)
