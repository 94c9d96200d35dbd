/* Several reductions of one array of floats in one pass: see several.h.
 *
 * A tile that is in registers enters exact sums (exact.cuh), and is compared with the least and the greatest element that the
 * warp has seen: only a tile that has a better one is looked at element by element. NaNs are left out here and noted with the
 * sums, from which counts follow, too.
 *
 * Squares are added if any result follows from them; extremes are taken always, which memory leaves time for. */
#include "several.h"

#include "exact.cuh"
#include "extremes.cuh"
#include "many.h"
#include "range.cuh"

namespace {

/* Both extremes of what a warp has seen, in keys of which the smaller is better: those of the greatest are complemented. Elements are
 * taken as T, and read as Stored, in tiles of so many vectors. */
template <class T, class Part, class Stored, int VECTORS> struct Ends {
    typedef Order<T> O;
    typedef typename O::Key Key;
    static constexpr u64 TILE = (u64)THREADS * VECTORS;

    struct Memory {
        u64 index[2][WARPS]; /* of each warp's best */
        Best<Key> best[2][2][WARPS];
    };

    Memory &memory;
    const u64 first, whole; /* the index where vectors begin, and so many elements from there on that are whole tiles */
    const u64 tail, last;   /* the indices where vectors and the array end */
    bool partial;           /* a tile that is not whole is still to come, before a tile of strays */
    Key best[2];            /* the warp's */
    unsigned quiet;         /* tiles whose largest magnitude, as ranges have it, is less have no better element */

    __device__ __forceinline__ Ends(Memory &m, const rd_cuda_call &call, const Span<Stored> &span, bool ring)
        : memory(m), first(call.first + span.head), whole(span.vectors / TILE * TILE * Span<Stored>::PER_VECTOR),
          tail(call.first + span.tail), last(call.first + span.n),
          partial(span.vectors % TILE && (ring ? 0 : span.vectors / TILE % gridDim.x) == blockIdx.x), quiet(0) {
        best[0] = best[1] = O::MASK;
        if (lane_index() == 0)
            memory.index[0][warp_index()] = memory.index[1][warp_index()] = UINT64_MAX;
    }

    /* Whether this lane's part of a tile may have a better element: of doubles by the upper halves of their keys. */
    static __device__ __forceinline__ bool may_be_better(const Part &tile, const Key (&best)[2]) {
        if constexpr (sizeof(T) == 4) {
            float least = tile.get(0), opposite = -least; /* of the greatest */
#pragma unroll
            for (int i = 1; i < Part::COUNT; i++) {
                least = min_or_nan(least, tile.get(i));
                opposite = min_or_nan(opposite, -tile.get(i));
            }
            return least != least || O::key(least, false) < best[0] || O::key(opposite, false) < best[1];
        } else {
            unsigned least = 0xffffffff, greatest = 0;
#pragma unroll
            for (int i = 0; i < Part::COUNT; i++) {
                const unsigned key = O::upper_key((unsigned)(O::bits(tile.get(i)) >> 32), false);
                least = smaller(least, key);
                greatest = larger(greatest, key);
            }
            return (Key)least << 32 < best[0] || (Key)~greatest << 32 < best[1];
        }
    }

    /* The index is that of the lane's first element. Elements of the last tile that are not there are padding; a tile of
     * strays has one element of each lane. */
    template <class Range> __device__ __forceinline__ void take(const Part &tile, u64 index, const Range &range) {
        u64 end = UINT64_MAX;
        if (index - first < whole) {
            if (range.most < quiet || !__any_sync(ALL, may_be_better(tile, best)))
                return;
        } else {
            end = partial ? tail : min(index + 1, last);
            partial = false;
        }
        look(tile, index, end);
    }

    /* Finds the best elements of a tile, of those before an index. */
    __device__ __forceinline__ void look(const Part &tile, u64 index, u64 end) {
        const unsigned there = index < end ? (unsigned)min(end - index, (u64)UINT32_MAX) : 0;
        Key key[2] = {O::MASK, O::MASK};
        unsigned place[2] = {0, 0};
#pragma unroll
        for (int i = 0; i < Part::COUNT; i++) {
            const T x = tile.get(i);
            const unsigned own = (unsigned)Part::place(i);
            const bool counts = own < there && !O::is_nan(x);
            const Key k = O::key(x, false), complement = ~k & O::MASK;
            const bool least = counts && k < key[0], greatest = counts && complement < key[1];
            key[0] = least ? k : key[0];
            place[0] = least ? own : place[0];
            key[1] = greatest ? complement : key[1];
            place[1] = greatest ? own : place[1];
        }
#pragma unroll
        for (int e = 0; e < 2; e++) {
            const Key found = warp_least(key[e]);
            if (found > best[e] || found == O::MASK) /* no number */
                continue;
            const u64 at = warp_least(key[e] == found ? index + place[e] : UINT64_MAX);
            if (lane_index() == 0 &&
                (found < best[e] || at < memory.index[e][warp_index()])) /* strays may be earlier */
                memory.index[e][warp_index()] = at;
            best[e] = found;
        }
        quiet = quiet_below();
    }

    /* Where the least is negative and the greatest positive, the smaller magnitude of the two is that of the larger key. Of
     * doubles ranges have the upper half, with its last bit set if the lower half is not zero. */
    __device__ __forceinline__ unsigned quiet_below() const {
        if ((best[0] | best[1]) & O::SIGN)
            return 0;
        const Key magnitude = ~larger(best[0], best[1]) & ~O::SIGN & O::MASK;
        return sizeof(T) == 8 ? (unsigned)((u64)magnitude >> 32) & ~1u : (unsigned)magnitude + 1;
    }

    /* By the whole block, when all tiles have entered: what it has seen, for the last block to find. */
    __device__ __forceinline__ void close(rd_cuda_workspace *workspace) {
        __syncwarp();
#pragma unroll
        for (int e = 0; e < 2; e++) {
            Best<Key> own = {best[e], memory.index[e][warp_index()]};
            merge_block(own, memory.best[0][e]);
            if (threadIdx.x == 0 && gridDim.x > 1) {
                put_slot(workspace, 2 * e, own.key);
                put_slot(workspace, 2 * e + 1, own.index);
            }
        }
    }

    /* In the last block. */
    __device__ __forceinline__ void gather(const rd_cuda_workspace *workspace, rd_cuda_findings *findings) {
#pragma unroll
        for (int e = 0; e < 2; e++) {
            Best<Key> own = {O::MASK, UINT64_MAX};
            if (gridDim.x == 1)
                own = memory.best[0][e][lane_index() & (WARPS - 1)];
            else
                for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS)
                    own.take((Key)get_slot(workspace, 2 * e, b), get_slot(workspace, 2 * e + 1, b));
            merge_block(own, memory.best[1][e]);
            if (threadIdx.x == 0) {
                findings->end[e].key = own.key;
                findings->end[e].index = own.index;
            }
        }
    }
};

/* Sums and extremes of the tiles that come. */
template <class Sums, class Ends> struct SumsAndEnds {
    Sums &sums;
    Ends &ends;

    static __device__ __forceinline__ uint4 padding() {
        return Sums::padding();
    }
    template <class Part> __device__ __forceinline__ void take(Part &x, Part &y, u64 index) {
        sums.take(x, y, index, [&](const typename Sums::Range &range) { ends.take(x, index, range); });
    }
};

/* The end of a pass: by the last block, of what all have seen. */
template <class Sums, class Ends>
__device__ __forceinline__ void leave_findings(const rd_cuda_call &call, Sums &sums, Ends &ends) {
    rd_cuda_findings *findings = reinterpret_cast<rd_cuda_findings *>(call.partial);
    Block &block = sums.shared.block;
    typename Sums::Totals totals;
    bool used;
    ends.close(call.workspace);
    sums.leaves = true;
    if (!sums.bring_together(totals, used))
        return;
    ends.gather(call.workspace, findings); /* the block meets there */
    const bool in_limbs = used || block.used;
    if (warp_index() == 0)
        findings->piece[lane_index()] = totals.piece;
    if (threadIdx.x == 0) {
        for (int u = 0; u < 2; u++)
            findings->unit[u] = totals.unit[u];
        findings->in_limbs = in_limbs;
        findings->nonzero = block.partial.nonzero;
    }
    __syncthreads();
    if (!in_limbs)
        return;
    if (warp_index() == 0)
        Sums::scatter_totals(sums.shared, totals);
    hand_over(call, block.partial);
}

template <class T, int TRANSFORM> __device__ __forceinline__ void several(const rd_cuda_call &call) {
    typedef Sums<T, TRANSFORM, DoubleWindow, false> Method;
    typedef Ends<T, typename Method::Part, T, Method::VECTORS> Both;
    __shared__ __align__(16) unsigned char memory[sizeof(typename Method::Shared)];
    __shared__ typename Both::Memory of_ends;
    __shared__ RingOf<RD_EXACT_SUM, TRANSFORM> ring;
    Method sums(*reinterpret_cast<typename Method::Shared *>(memory), call);
    const Span<T> span(call.x, call.count, false);
    Both ends(of_ends, call, span, decltype(ring)::THERE && call.turns);
    SumsAndEnds<Method, Both> family = {sums, ends};
    if (threadIdx.x == 0)
        fetch_first_tile<false, Method::VECTORS>(call, span);
    sums.open();
    wait_for_previous();
    const StrayTile<T> strays(span, nullptr, (T)-0.0);
    for_tiles<false, T, Method::VECTORS>(call, span, ring, family, strays);
    let_next_come();
    leave_findings(call, sums, ends);
}

/* The same of elements of 16 bits, which are widened to f32. */
template <int TRANSFORM, class Sums, class Ends> struct WidenedSumsAndEnds {
    typedef Widening<TRANSFORM, F16> OfF16;
    typedef Widening<TRANSFORM, BF16> OfBF16;
    typedef typename OfF16::Raw Raw;
    Sums &sums;
    Ends &ends;
    const bool of_f16;

    static __device__ __forceinline__ uint4 padding() {
        return OfF16::padding();
    }
    __device__ __forceinline__ void take(const Raw &x, const Raw &, u64 index) {
        typename Sums::Part wide = of_f16 ? OfF16::widen(x) : OfBF16::widen(x);
        sums.take(wide, wide, index, [&](const typename Sums::Range &range) { ends.take(wide, index, range); });
    }
};

template <int TRANSFORM> __device__ __forceinline__ void several_halves(const rd_cuda_call &call) {
    typedef Sums<float, TRANSFORM, DoubleWindow, true> Method;
    constexpr int VECTORS = Method::VECTORS / RD_CUDA_FEWER_OF_HALVES;
    typedef Ends<float, typename Method::Part, AnyHalf, VECTORS> Both;
    __shared__ __align__(16) unsigned char memory[sizeof(typename Method::Shared)];
    __shared__ typename Both::Memory of_ends;
    NoRing no_ring;
    Method sums(*reinterpret_cast<typename Method::Shared *>(memory), call);
    const Span<AnyHalf> span(call.x, call.count, false);
    Both ends(of_ends, call, span, false);
    WidenedSumsAndEnds<TRANSFORM, Method, Both> family = {sums, ends, call.of_f16 != 0};
    if (threadIdx.x == 0)
        fetch_first_tile<false, VECTORS>(call, span);
    sums.open();
    wait_for_previous();
    const StrayTile<AnyHalf> strays(span, nullptr, 0x8000);
    for_tiles<false, AnyHalf, VECTORS>(call, span, no_ring, family, strays);
    let_next_come();
    leave_findings(call, sums, ends);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rounding
 * ------------------------------------------------------------------------------------------------------------------ */

/* What rounding a result takes, in shared memory; limbs and counts of the block are the findings'. */
struct AnswerRoom {
    rd_cuda_call call;
    rd_cuda_outcome outcome;
    Block block;
    FinishRoom room;
};

/* How a pass with squares adds; one without leaves the same of the elements, and no squares. */
template <class T> using Moments = Sums<T, RD_MOMENTS, DoubleWindow, false>;

/* A sum, a result of squares, or one of both, by a warp, where the totals are all there is; in registers. False if it needs more
 * than these have room for. */
template <class T>
__device__ __noinline__ bool round_shortly(const rd_cuda_call &call, const rd_cuda_findings &findings) {
    typedef Moments<T> Method;
    const typename Method::Totals totals = {{findings.unit[0], findings.unit[1]}, findings.piece[lane_index()]};
    const __int128 joined = totals.join();
    const int exponent = totals.unit[0] - Method::below_unit(SLICES - 1),
              of_squares = totals.unit[1] - Method::below_unit(Method::SUMS - 1);
    u64 sum[3] = {}, squares[4] = {}, bits = 0;
    bool rounded = true;
    Method::template add_sums<0, SLICES>(sum, joined);
    Method::template add_sums<SLICES, Method::SUMS>(squares, joined);
    if (call.transform == RD_IDENTITY)
        bits = round_words<FINISHES_OF<RD_IDENTITY, RD_ADD>>(sum, exponent, call, !findings.nonzero && call.count != 0);
    else if (call.transform == RD_SQUARE)
        bits = round_words<FINISHES_OF<RD_SQUARE, RD_ADD>>(squares, of_squares, call, false);
    else
        rounded = round_moments<FINISHES_OF<RD_MOMENTS, RD_ADD>>(sum, exponent, squares, of_squares, call, bits);
    if (rounded && lane_index() == 0)
        deliver_short(call, bits);
    return rounded;
}

/* The totals into limbs. By a warp. */
template <class T> __device__ __noinline__ void scatter_findings(Block &block, const rd_cuda_findings &findings) {
    typedef Moments<T> Method;
    const int sum = lane_index() / Method::PIECES;
    if (sum < Method::SUMS && findings.unit[Method::unit_of(sum)] > Method::SPREAD)
        Method::scatter(block, sum, lane_index() % Method::PIECES, findings.piece[lane_index()],
                        findings.unit[Method::unit_of(sum)]);
    __syncwarp();
}

/* The findings as those of the result's own policy. */
__device__ __forceinline__ void apply_policy(const rd_cuda_call &call, rd_cuda_partial &partial) {
    if (call.nan != REDUCT_NAN_IGNORE)
        return;
    partial.ignored = partial.nans;
    partial.nans = 0;
    partial.nan_index = UINT64_MAX;
}

/* The values of both extremes, or their difference: two results, or one. By one thread. */
template <class T>
__device__ void finish_ends(const rd_cuda_call &call, const rd_cuda_partial &partial,
                            const rd_cuda_findings &findings) {
    const struct rd_type type = result_type(call);
    const bool nan = partial.nan_index != UINT64_MAX, fails = nan && call.nan == REDUCT_NAN_ERROR;
    const u64 infinity = (u64)(sizeof(T) == 8 ? 0x7ff : 0xff) << (PRECISION<T> - 1);
    uint64_t value[2] = {element_of<T>(findings.end[0].key, 0), element_of<T>(findings.end[1].key, 1)};
    const uint32_t status = fails                                         ? REDUCT_ERROR_NAN
                            : call.count - partial.ignored < call.minimum ? REDUCT_ERROR_EMPTY
                                                                          : REDUCT_OK;
    if (nan || status != REDUCT_OK)
        value[0] = value[1] = rd_nan_bits(&type);
    else if (call.finish == RD_RANGE)
        value[0] = range_of_floats(call, infinity, value[0], value[1]);
    else
        for (int i = 0; i < 2; i++)
            value[i] = narrow_element(call, value[i]);
    store_result(call.result, &value[0], call.result_bytes);
    if (call.finish != RD_RANGE)
        store_result(static_cast<unsigned char *>(call.result) + call.result_bytes, &value[1], call.result_bytes);
    tell_outcome(call, status, partial.nan_index);
}

/* How many elements are no NaN. By one thread. */
__device__ void finish_count(const rd_cuda_call &call, const rd_cuda_partial &partial, u64 nans) {
    const bool fails = call.nan == REDUCT_NAN_ERROR && nans;
    const uint64_t counted = fails ? 0 : call.count - nans;
    store_result(call.result, &counted, call.result_bytes);
    tell_outcome(call, fails ? REDUCT_ERROR_NAN : REDUCT_OK, partial.nan_index);
}

/* A result that finish() rounds, by a warp. Until then it is what it stays if that fails. */
template <class T>
__device__ void finish_one(const rd_cuda_call &call, rd_cuda_partial &partial, const rd_cuda_findings &findings,
                           FinishRoom &room) {
    if (lane_index() == 0) {
        const struct rd_type type = result_type(call);
        const uint64_t none = call.result_class == RD_FLOAT ? rd_nan_bits(&type) : 0;
        const int end = call.combine == RD_GREATEST;
        store_result(call.result, &none, call.result_bytes);
        partial.found = findings.end[end].index != UINT64_MAX;
        partial.index = findings.end[end].index;
        partial.extreme = narrow_element(call, element_of<T>(findings.end[end].key, end));
        if (call.transform == RD_SQUARE) {
            partial.plus_infinities += partial.minus_infinities;
            partial.minus_infinities = 0;
        }
    }
    if (call.transform == RD_SQUARE)
        for (int i = lane_index(); i < RD_LIMBS; i += 32)
            partial.limb[0][i] = partial.limb[1][i];
    __syncwarp();
    if (call.combine != RD_ADD)
        finish<EXTREMES, FINISHES_OF<RD_IDENTITY, RD_LEAST>>(call, partial, room, 0, 0);
    else if (call.transform == RD_MOMENTS)
        finish<FLOAT_MOMENTS, FINISHES_OF<RD_MOMENTS, RD_ADD>>(call, partial, room, FIRST<T>, 2 * FIRST<T>);
    else
        finish<FLOAT_SUMS, FINISHES_OF<RD_IDENTITY, RD_ADD> | FINISHES_OF<RD_SQUARE, RD_ADD>>(
            call, partial, room, call.transform == RD_SQUARE ? 2 * FIRST<T> : FIRST<T>, 0);
}

/* A result, by a warp; what becomes of it is told in shared memory. */
template <class T> __device__ void finish_any(AnswerRoom &own, const rd_cuda_findings &findings) {
    const rd_cuda_call &call = own.call;
    rd_cuda_partial &partial = own.block.partial;
    const u64 nans = partial.nans;
    const bool adds = call.combine == RD_ADD && call.transform != RD_PRESENT;
    if (adds && !findings.in_limbs && is_short(call) && has_float(call) && round_shortly<T>(call, findings))
        return;
    if (adds && !findings.in_limbs)
        scatter_findings<T>(own.block, findings);
    __syncwarp();
    if (lane_index() == 0)
        apply_policy(call, partial);
    __syncwarp();
    if (adds || call.combine == RD_LEAST || call.combine == RD_GREATEST) {
        finish_one<T>(call, partial, findings, own.room);
    } else if (lane_index() == 0) {
        if (call.combine == RD_BOTH)
            finish_ends<T>(call, partial, findings);
        else
            finish_count(call, partial, nans);
    }
}

/* Each block has a result. */
template <class T> __device__ __forceinline__ void answer(const rd_cuda_answers &answers) {
    __shared__ AnswerRoom own;
    const auto &wanted = answers.answer[blockIdx.x];
    open_block(own.block);
    wait_for_previous();
    let_next_come();
    const rd_cuda_findings &findings = *answers.findings;
    const u64 *from = reinterpret_cast<const u64 *>(&findings.partial);
    if (findings.in_limbs)
        for_words<sizeof(rd_cuda_partial) / sizeof(u64)>(
            [&](int i) { reinterpret_cast<u64 *>(&own.block.partial)[i] = __ldcg(from + i); });
    else if (threadIdx.x == 0)
        own.block.partial.nonzero = findings.nonzero;
    if (threadIdx.x == 0) {
        own.call = wanted.call;
        own.call.outcome = &own.outcome;
    }
    __syncthreads();
    if (warp_index() != 0)
        return;
    finish_any<T>(own, findings);
    __syncwarp();
    if (lane_index() == 0) {
        tell_outcome(wanted.call, own.outcome.status, own.outcome.index);
        if (own.outcome.status != REDUCT_OK && wanted.failure)
            atomicMin(reinterpret_cast<u64 *>(wanted.failure), own.outcome.status | RD_CUDA_FAILURE_LATER);
    }
}

} // namespace

#define KERNELS(name, TYPE)                                                                                            \
    RD_CUDA_KERNEL(several_identity_##name, RD_CUDA_RESIDENT_EXACT, several<TYPE, RD_IDENTITY>)                        \
    RD_CUDA_KERNEL(several_moments_##name, RD_CUDA_RESIDENT_EXACT, several<TYPE, RD_MOMENTS>)                          \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS)                                                      \
        answers_##name(const __grid_constant__ rd_cuda_answers answers) {                                              \
        answer<TYPE>(answers);                                                                                         \
    }

KERNELS(f32, float)
KERNELS(f64, double)
RD_CUDA_KERNEL(several_identity_half, RD_CUDA_RESIDENT_EXACT, several_halves<RD_IDENTITY>)
RD_CUDA_KERNEL(several_moments_half, RD_CUDA_RESIDENT_EXACT, several_halves<RD_MOMENTS>)
