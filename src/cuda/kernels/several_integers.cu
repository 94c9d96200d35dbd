/* Several reductions of one array of integers in one pass: see several.h.
 *
 * A tile that is in registers enters sums (integers.cuh), and is searched for its least and its greatest element (search.cuh). Squares
 * are added if any result follows from them. Blocks meet in slots. */
#include "reduce.cuh"
#include "integer_results.cuh"
#include "integers.cuh"
#include "many.h"
#include "search.cuh"
#include "several.h"

namespace {

template <class T> struct SumsAndEnds {
    static constexpr int VECTORS = RD_CUDA_VECTORS(RD_EXACT_SUM, RD_MOMENTS);
    typedef Tile<T, VECTORS> Part;
    typedef Search<T, VECTORS> End;
    typedef typename End::Key Key;
    static constexpr int T_WORDS = TERM_WORDS<T> + 1, P_WORDS = PRODUCT_WORDS<T> + 1, WORDS = T_WORDS + P_WORDS;
    static_assert(WORDS + 4 <= RD_CUDA_SLOT_WORDS, "a block's slots hold its sums and ends");

    /* What warps leave for each other; in the last block, of the grid besides. */
    struct OfWarps {
        i64 sum[2][WORDS][WARPS];
        Best<Key> best[2][3][WARPS];
    };

    const rd_cuda_call &call;
    const Span<T> &span;
    Block &block;
    OfWarps &of_warps;
    const bool squares;
    const u64 first, whole,
        end; /* where vectors begin, so many elements from there on that are whole tiles, where vectors end */
    i64 terms[TERM_WORDS<T>], products[PRODUCT_WORDS<T>];
    End least, greatest;

    __device__ __forceinline__ SumsAndEnds(const rd_cuda_call &c, const Span<T> &s, Block &b, OfWarps &memory)
        : call(c), span(s), block(b), of_warps(memory), squares(c.transform == RD_MOMENTS), first(c.first + s.head),
          whole(s.vectors / (THREADS * VECTORS) * (THREADS * VECTORS) * Span<T>::PER_VECTOR),
          end(c.first + s.tail), terms{}, products{}, least(b, c, false), greatest(b, c, true) {
    }

    static __device__ __forceinline__ uint4 padding() {
        return make_uint4(0, 0, 0, 0);
    }

    __device__ __forceinline__ void add(const Part &x) {
        if (squares) {
#pragma unroll
            for (int v = 0; v < VECTORS; v++)
                add_vector<T, RD_MOMENTS>(terms, products, x.vector[v], x.vector[v]);
        } else {
#pragma unroll
            for (int v = 0; v < VECTORS; v++)
                add_vector<T, RD_IDENTITY>(terms, products, x.vector[v], x.vector[v]);
        }
    }

    __device__ __forceinline__ void take(const Part &x, const Part &, u64 index) {
        add(x);
        if (index - first < whole) {
            least.take(x, index, end);
            greatest.take(x, index, end);
        } else {
            least.take_some(index, end);
            greatest.take_some(index, end);
        }
    }

    __device__ __forceinline__ void take_stray(u64 at) {
        add_one<T, RD_MOMENTS>(terms, products, span.x[at], (T)0);
    }

    /* Words of the block's sums, of which thread w gets number w. */
    __device__ __forceinline__ i64 close() {
        i64 carried[WORDS];
        span.for_strays(*this);
        carry<TERM_WORDS<T>>(terms, carried);
        carry<PRODUCT_WORDS<T>>(products, carried + T_WORDS);
        return block_add(carried, of_warps.sum[0]);
    }

    __device__ __forceinline__ void leave(i64 sum, const Best<Key> &low, const Best<Key> &high) const {
        if (threadIdx.x < WORDS)
            put_slot(call.workspace, threadIdx.x, (u64)sum);
        if (threadIdx.x == 0) {
            put_slot(call.workspace, WORDS, low.key);
            put_slot(call.workspace, WORDS + 1, low.index);
            put_slot(call.workspace, WORDS + 2, high.key);
            put_slot(call.workspace, WORDS + 3, high.index);
        }
    }

    /* What all blocks left. */
    __device__ __forceinline__ i64 gather(Best<Key> &low, Best<Key> &high) const {
        const rd_cuda_workspace *from = call.workspace;
        i64 total[WORDS] = {};
        low = high = End::nothing();
        for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS) {
#pragma unroll
            for (int w = 0; w < WORDS; w++)
                total[w] += (i64)get_slot(from, w, b);
            low.take((Key)get_slot(from, WORDS, b), get_slot(from, WORDS + 1, b));
            high.take((Key)get_slot(from, WORDS + 2, b), get_slot(from, WORDS + 3, b));
        }
        merge_block(low, of_warps.best[0][2]);
        merge_block(high, of_warps.best[1][2]);
        return block_add(total, of_warps.sum[1]);
    }

    /* By warp 0. */
    static __device__ __forceinline__ void put(rd_cuda_findings *findings, i64 word, const Best<Key> &low,
                                               const Best<Key> &high) {
        u64 sum[3] = {}, squares[4] = {};
        gather_words<0, T_WORDS>(sum, word);
        gather_words<T_WORDS, P_WORDS>(squares, word);
        if (lane_index() != 0)
            return;
        for (int w = 0; w < 2; w++)
            findings->terms[w] = sum[w];
        for (int w = 0; w < 3; w++)
            findings->squares[w] = squares[w];
        findings->end[0].key = low.key;
        findings->end[0].index = low.index;
        findings->end[1].key = high.key;
        findings->end[1].index = high.index;
    }
};

template <class T> __device__ __forceinline__ void several_integers(const rd_cuda_call &call) {
    typedef SumsAndEnds<T> Family;
    __shared__ Block block;
    __shared__ typename Family::OfWarps of_warps;
    __shared__ RingOf<RD_EXACT_SUM, RD_MOMENTS> ring;
    const Span<T> span(call.x, call.count, true);
    Family family(call, span, block, of_warps);
    begin<false, Family::VECTORS>(call, span, block);
    for_tiles<false, T, Family::VECTORS>(call, span, ring, family);
    i64 sum = family.close();
    Best<typename Family::Key> low = family.least.meet_block(span, family.end, true, of_warps.best[0]),
                               high = family.greatest.meet_block(span, family.end, true, of_warps.best[1]);
    if (gridDim.x > 1) {
        if (warp_index() == 0)
            family.leave(sum, low, high);
        if (!close_block(block, call.workspace))
            return;
        sum = family.gather(low, high);
        if (threadIdx.x == 0)
            call.workspace->claimed = 0;
    }
    if (warp_index() == 0)
        Family::put(reinterpret_cast<rd_cuda_findings *>(call.partial), sum, low, high);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rounding
 * ------------------------------------------------------------------------------------------------------------------ */

/* The element that a key stands for, of the type of the result. */
__device__ __forceinline__ u64 element_of(const rd_cuda_call &call, u64 key, bool greatest) {
    const u64 sign = (u64)1 << (8 * call.result_bytes - 1), mask = sign | (sign - 1);
    key = greatest ? ~key & mask : key;
    return call.result_class == RD_SIGNED ? key ^ sign : key;
}

/* One value, or both of minmax. */
__device__ __forceinline__ unsigned find_values(const rd_cuda_call &call, const rd_cuda_findings &findings,
                                                uint64_t (&value)[4]) {
    const u64 least = __ldcg(reinterpret_cast<const u64 *>(&findings.end[0].key)),
              greatest = __ldcg(reinterpret_cast<const u64 *>(&findings.end[1].key));
    switch (call.combine) {
    case RD_LEAST:
    case RD_GREATEST:
        if (call.finish == RD_INDEX)
            value[0] = __ldcg(reinterpret_cast<const u64 *>(&findings.end[call.combine == RD_GREATEST].index));
        else
            value[0] = element_of(call, call.combine == RD_GREATEST ? greatest : least, call.combine == RD_GREATEST);
        return REDUCT_OK;
    case RD_BOTH:
        value[0] = call.finish == RD_RANGE ? ~greatest - least : element_of(call, least, false);
        value[1] = element_of(call, greatest, true);
        return REDUCT_OK;
    default:
        break;
    }
    if (call.transform == RD_PRESENT) {
        value[0] = call.count;
        return REDUCT_OK;
    }
    const u64 *terms = reinterpret_cast<const u64 *>(findings.terms),
              *squares = reinterpret_cast<const u64 *>(findings.squares);
    const __int128 sum = (__int128)((unsigned __int128)__ldcg(terms + 1) << 64 | __ldcg(terms));
    const u64 products[3] = {__ldcg(squares), __ldcg(squares + 1), __ldcg(squares + 2)};
    return finish_integers(call, sum, products, value);
}

/* By one thread. */
__device__ __forceinline__ void answer(const rd_cuda_call &call, const rd_cuda_findings &findings, uint64_t *failure) {
    const bool two = call.combine == RD_BOTH && call.finish != RD_RANGE;
    const struct rd_type type = result_type(call);
    uint64_t value[4] = {0, 0, 0, 0};
    const unsigned status =
        call.count < call.minimum ? (unsigned)REDUCT_ERROR_EMPTY : find_values(call, findings, value);
    if (status != REDUCT_OK) {
        value[0] = call.result_class == RD_FLOAT ? rd_nan_bits(&type) : 0;
        value[1] = value[2] = value[3] = 0;
        if (failure)
            atomicMin(reinterpret_cast<u64 *>(failure), status | RD_CUDA_FAILURE_LATER);
    }
    store_result(call.result, value, call.result_bytes);
    if (two)
        store_result(static_cast<unsigned char *>(call.result) + call.result_bytes, &value[1], call.result_bytes);
    tell_outcome(call, status, UINT64_MAX);
}

} // namespace

#define KERNEL(name, TYPE) RD_CUDA_KERNEL(several_##name, RD_CUDA_RESIDENT_EXACT, several_integers<TYPE>)

KERNEL(i8, int8_t)
KERNEL(i16, int16_t)
KERNEL(i32, int32_t)
KERNEL(i64, i64)
KERNEL(u8, uint8_t)
KERNEL(u16, uint16_t)
KERNEL(u32, uint32_t)
KERNEL(u64, u64)
KERNEL(bool, Truth)

/* Each block has a result. */
extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS)
    answers_integers(const __grid_constant__ rd_cuda_answers answers) {
    wait_for_previous();
    let_next_come();
    if (threadIdx.x == 0)
        answer(answers.answer[blockIdx.x].call, *answers.findings, answers.answer[blockIdx.x].failure);
}
