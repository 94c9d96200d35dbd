/* Extremes: the least and greatest element or magnitude, and where the first of them is.
 *
 * Overview. Elements become unsigned keys that order as wanted: for the least element the smallest key is best, for the
 * greatest the same with all bits flipped. A thread finds the best key of a tile, which seldom beats what its warp has seen
 * before; only then is it kept, with its place. Ties keep the earlier one. One- and two-byte elements are compared two at a
 * time, and so many are in a tile that their places are not looked for before the end: where the index is asked for,
 * threads whose key is the block's best then read their tile again.
 *
 * NaNs, as keys, lie beyond the infinities at both ends, so that the least and the greatest key of a tile tell whether it
 * has any. */
#include "reduce.cuh"
#include "search.cuh"

namespace {

template <class T> struct Extreme : Search<T, RD_CUDA_VECTORS(RD_EXTREME, RD_IDENTITY)> {
    typedef T Element;
    typedef RingOf<RD_EXTREME, RD_IDENTITY> Ring;
    static constexpr int VECTORS = RD_CUDA_VECTORS(RD_EXTREME, RD_IDENTITY);
    static constexpr bool PAIRS = false, CLAIMS = true, COUNTS = true, STRAYS_LAST = true;
    typedef Search<T, VECTORS> Base;
    typedef typename Base::Key Key;
    typedef typename Base::Part Part;

    /* What a block's warps have found; where it is, of what is found late; in the last block, what the grid has found. */
    struct OfWarps {
        Best<Key> best[3][WARPS];
    };

    const Span<T> &span;
    OfWarps &of_warps;
    const u64 end; /* the index where vectors end */

    __device__ __forceinline__ Extreme(const rd_cuda_call &call, const Span<T> &s, Block &block, OfWarps &memory)
        : Base(block, call, call.combine == RD_GREATEST), span(s), of_warps(memory), end(call.first + s.tail) {
    }

    /* What comes again is no better than itself, nor earlier. */
    static __device__ __forceinline__ LastAgain padding() {
        return LastAgain();
    }

    __device__ __forceinline__ void take(const Part &tile, const Part &, u64 index) {
        Base::take(tile, index, end);
    }

    __device__ __forceinline__ Best<Key> close() {
        return Base::meet_block(span, end, this->call.finish == RD_INDEX || this->call.partial, of_warps.best);
    }

    __device__ __forceinline__ void leave(const Best<Key> &best) const {
        if (warp_index() == 0)
            best.leave(this->block, this->call.workspace);
    }

    __device__ __forceinline__ Best<Key> gather() const {
        Best<Key> best = Base::nothing();
        for_words_left<Best<Key>::WORDS>(this->block, this->call.workspace, [&](const u64(&word)[Best<Key>::WORDS]) {
            const Best<Key> other = Best<Key>::from(word);
            best.take(other.key, other.index);
        });
        merge_block(best, of_warps.best[2]);
        return best;
    }

    __device__ __forceinline__ void deliver(const Best<Key> &best, bool used, FinishRoom &room) const {
        const rd_cuda_call &call = this->call;
        const bool found = best.index != UINT64_MAX;
        const u64 extreme = Order<T>::element((best.key ^ this->flip) & Order<T>::MASK, this->absolute);
        if (!used && is_short(call)) {
            if (threadIdx.x == 0)
                deliver_short(call, call.finish == RD_INDEX ? best.index : found ? extreme : 0);
            return;
        }
        rd_cuda_partial &partial = this->block.partial;
        if (threadIdx.x == 0) {
            partial.found = found;
            partial.index = best.index;
            partial.extreme = extreme;
        }
        ::deliver<EXTREMES, FINISHES_OF<RD_IDENTITY, RD_LEAST>>(call, this->block, room, 0, 0);
    }
};

} // namespace

#define KERNEL(name, TYPE) RD_CUDA_KERNEL(extreme_##name, RD_CUDA_RESIDENT_EXTREMES, reduce<Extreme<TYPE>>)

KERNEL(f64, double)
KERNEL(f32, float)
KERNEL(f16, F16)
KERNEL(bf16, BF16)
KERNEL(i8, int8_t)
KERNEL(i16, int16_t)
KERNEL(i32, int32_t)
KERNEL(i64, i64)
KERNEL(u8, uint8_t)
KERNEL(u16, uint16_t)
KERNEL(u32, uint32_t)
KERNEL(u64, u64)
KERNEL(bool, Truth)
