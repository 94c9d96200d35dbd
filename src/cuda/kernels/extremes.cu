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
#include "extremes.cuh"
#include "reduce.cuh"

namespace {

/* The smaller of three, in each half. */
__device__ __forceinline__ unsigned least_halves(unsigned a, unsigned b, unsigned c) {
#if __CUDA_ARCH__ >= 900
    return __vimin3_u16x2(a, b, c);
#else
    return __vminu2(__vminu2(a, b), c);
#endif
}

template <class T, int V> struct Search {
    typedef Order<T> O;
    typedef typename O::Key Key;
    typedef Tile<T, V> Part;
    /* What is kept is the index of a tile's first element; the place in it is found at the end. */
    static constexpr bool LATE = sizeof(T) <= 2;
    Block &block;
    const rd_cuda_call &call;
    bool absolute;
    Key flip; /* for the greatest: all bits */
    Best<Key> best;
    /* The best key that any lane of the warp has, if any has one. What is no better need not be kept: it comes later. */
    Key bar;
    bool barred;

    static __device__ __forceinline__ Best<Key> nothing() {
        return {O::MASK, UINT64_MAX};
    }

    __device__ Search(Block &b, const rd_cuda_call &c)
        : block(b), call(c), absolute(c.transform == RD_ABSOLUTE), flip(c.combine == RD_GREATEST ? O::MASK : 0),
          best(nothing()), bar(O::MASK), barred(false) {
    }

    __device__ __forceinline__ Key key(T x) const {
        return O::key(x, absolute) ^ flip;
    }

    /* A word of small elements as integers that order as they do, or as their magnitudes. */
    __device__ __forceinline__ unsigned as_integers(unsigned word) const {
        if constexpr (IS_HALF<T>)
            return absolute ? word & 0x7fff7fff : word ^ (word >> 15 & 0x00010001) * 0x7fff;
        else if constexpr (IS_TRUTH<T>)
            return truths(word);
        else if (IS_SIGNED<T> && absolute)
            return sizeof(T) == 1 ? __vabs4(word) : __vabs2(word);
        else
            return word;
    }

    /* Whether one of two halves is NaN: its magnitude is greater than that of infinity. */
    static __device__ __forceinline__ bool has_nan_half(unsigned word) {
        if constexpr (IS_HALF<T>)
            return ((word & 0x7fff7fff) + (0x7fff - T::INFINITE) * 0x00010001) & 0x80008000;
        else
            return false;
    }

    /* The best key of small elements, two halves at a time; and whether one is NaN. */
    __device__ __forceinline__ Key best_of_small(const Part &tile, bool &nan) const {
        unsigned halves = 0xffffffff;
        const unsigned sign = IS_HALF<T>                  ? 0x80008000
                              : absolute || !IS_SIGNED<T> ? 0
                              : sizeof(T) == 1            ? 0x80808080
                                                          : 0x80008000;
        const unsigned turn = sign ^ (unsigned)(flip ? 0xffffffff : 0);
#pragma unroll
        for (int v = 0; v < V; v++)
#pragma unroll
            for (int w = 0; w < 4; w += sizeof(T)) {
                const unsigned word = as_integers(tile.vector[v].word[w]) ^ turn;
                nan = nan || has_nan_half(tile.vector[v].word[w]);
                if constexpr (sizeof(T) == 1) {
                    halves = least_halves(halves, word & 0x00ff00ff, word >> 8 & 0x00ff00ff);
                } else {
                    const unsigned next = as_integers(tile.vector[v].word[w + 1]) ^ turn;
                    nan = nan || has_nan_half(tile.vector[v].word[w + 1]);
                    halves = least_halves(halves, word, next);
                }
            }
        return smaller(halves & 0xffff, halves >> 16);
    }

    /* One element, known by its index in the array; `at` is what is kept if it is best. */
    __device__ __forceinline__ void take_one(T x, u64 index, u64 at) {
        if (!O::is_nan(x)) {
            best.take(key(x), at);
        } else {
            raise_flag(block.used);
            if (call.nan == REDUCT_NAN_IGNORE)
                count(block.partial.ignored, 1);
            else
                note_nan(block, index);
        }
    }

    /* Element by element, up to the index where the vectors end; what is beyond was loaded to fill the tile. They are read
     * again: so tiles need registers no longer than it takes to bound them. */
    static __device__ __noinline__ Best<Key> take_slowly(Block &block, const rd_cuda_call &call, Best<Key> best,
                                                         u64 index, u64 end) {
        Search search(block, call);
        search.best = best;
#pragma unroll 1
        for (int i = 0; i < Part::COUNT && index + Part::place(i) < end; i++) {
            u64 at = index + Part::place(i);
            search.take_one(static_cast<const T *>(call.x)[at - call.first], at, LATE ? index : at);
        }
        return search.best;
    }

    /* Of floats: the magnitude where that is asked for, and the opposite where the greatest is. */
    __device__ __forceinline__ float turn(float x) const {
        return __uint_as_float((__float_as_uint(x) & (absolute ? 0x7fffffffu : 0xffffffffu)) ^
                               ((unsigned)flip & 0x80000000u));
    }

    /* The best key of the tile, and whether the tile may hold NaNs. Of floats of eight bytes, from the upper halves alone, a
     * key that none is better than. */
    __device__ __forceinline__ Key bound(const Part &tile, bool &suspect) const {
        suspect = false;
        if constexpr (sizeof(T) <= 2) {
            return best_of_small(tile, suspect);
        } else if constexpr (!IS_FLOAT<T>) {
            Key least = O::MASK;
            if (IS_SIGNED<T> && absolute) {
#pragma unroll
                for (int i = 0; i < Part::COUNT; i++)
                    least = smaller(least, O::key(tile.get(i), true) ^ flip);
            } else {
                const Key turn = flip ^ O::key(0, false);
#pragma unroll
                for (int i = 0; i < Part::COUNT; i++)
                    least = smaller(least, O::bits(tile.get(i)) ^ turn);
            }
            return least;
        } else if constexpr (sizeof(T) == 4) {
            float least = turn(tile.get(0));
#pragma unroll
            for (int i = 1; i < Part::COUNT; i++)
                least = min_or_nan(least, turn(tile.get(i)));
            suspect = least != least;
            return O::key(least, false); /* keys of opposite numbers are each other's complements */
        } else {
            unsigned least = 0xffffffff, greatest = 0;
#pragma unroll
            for (int v = 0; v < V; v++)
#pragma unroll
                for (int w = 1; w < 4; w += 2) {
                    unsigned k = O::upper_key(tile.vector[v].word[w], absolute);
                    least = smaller(least, k);
                    greatest = larger(greatest, k);
                }
            suspect = O::upper_may_be_nan(least, greatest);
            return (Key)(flip ? ~greatest : least) << 32;
        }
    }

    /* The index is that of the tile's first element; vectors end before `end`. */
    __device__ __forceinline__ void take(const Part &tile, u64 index, u64 end) {
        bool suspect;
        Key limit = bound(tile, suspect);
        if (!__any_sync(ALL, suspect || limit < bar || !barred))
            return;
        if (suspect) {
            best = take_slowly(block, call, best, index, end);
        } else if (limit < best.key || best.index == UINT64_MAX) {
            int first = 0;
            if constexpr (IS_FLOAT<T> && sizeof(T) == 8) {
                limit = key(tile.get(0));
#pragma unroll
                for (int i = 1; i < Part::COUNT; i++) {
                    Key k = key(tile.get(i));
                    first = k < limit ? i : first;
                    limit = smaller(limit, k);
                }
            } else if constexpr (!LATE) { /* without keys: compilers would keep those from before */
                const Key bits = O::element(limit ^ flip, absolute), opposite = O::opposite(bits, absolute);
#pragma unroll
                for (int i = Part::COUNT - 1; i >= 0; i--) {
                    Key b = O::bits(tile.get(i));
                    first = b == bits || b == opposite ? i : first;
                }
            }
            if (limit < best.key || best.index == UINT64_MAX)
                best = {limit, index + (LATE ? 0 : Part::place(first))};
        }
        bar = warp_least(best.key);
        barred = __any_sync(ALL, best.index != UINT64_MAX);
    }

    /* Where the block's tile begins that holds the thread's at this index. */
    static __device__ __forceinline__ u64 begin_of(u64 index) {
        return index - threadIdx.x * (u64)Part::PER_VECTOR;
    }

    /* The first of the small elements of the tile at an index that has the key; UINT64_MAX if none before `end` has. */
    __device__ __forceinline__ u64 place_of(Key wanted, u64 index, u64 end) const {
        const uint4 *x = reinterpret_cast<const uint4 *>(static_cast<const T *>(call.x) + (index - call.first));
        const unsigned bits = O::element(wanted ^ flip, absolute) & O::MASK, opposite = O::opposite(bits, absolute);
        u64 found = UINT64_MAX;
#pragma unroll 1
        for (int v = 0; v < V && found == UINT64_MAX; v++) {
            u64 at = index + Part::place(v * Part::PER_VECTOR);
            if (at >= end)
                break;
            Vector<T> vector;
            vector.bits = __ldcg(x + v * THREADS);
#pragma unroll
            for (int w = 3; w >= 0; w--) {
                const unsigned word = IS_TRUTH<T> ? truths(vector.word[w]) : vector.word[w];
                unsigned equal = equal_to(word, bits) | equal_to(word, opposite);
                if (equal)
                    found = at + w * (4 / sizeof(T)) + (__ffs((int)equal) - 1) / O::BITS;
            }
        }
        return found;
    }

    /* All bits of the elements in a word that are equal to one. */
    static __device__ __forceinline__ unsigned equal_to(unsigned word, unsigned element) {
        return sizeof(T) == 1 ? __vcmpeq4(word, element * 0x01010101) : __vcmpeq2(word, element * 0x00010001);
    }
};

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
        : Base(block, call), span(s), of_warps(memory), end(call.first + s.tail) {
    }

    /* What comes again is no better than itself, nor earlier. */
    static __device__ __forceinline__ LastAgain padding() {
        return LastAgain();
    }

    __device__ __forceinline__ void take(const Part &tile, const Part &, u64 index) {
        Base::take(tile, index, end);
    }

    __device__ __forceinline__ void take_stray(u64 at) {
        Base::take_one(span.x[at], this->call.first + at, this->call.first + at);
    }

    /* Strays come here, apart from tiles, as it is known where they are. */
    __device__ __forceinline__ Best<Key> close() {
        const Best<Key> own = this->best;
        this->best = Base::nothing();
        span.for_strays(*this);
        const Best<Key> stray = this->best;
        Best<Key> best = own;
        if (Base::LATE && own.index != UINT64_MAX)
            best.index = Base::begin_of(own.index);
        const Best<Key> tile = best;
        best.take(stray.key, stray.index);
        merge_block(best, of_warps.best[0]);
        if constexpr (Base::LATE) {
            /* Tiles follow each other, so the first of the best has the place. */
            if (this->call.finish == RD_INDEX || this->call.partial) {
                u64 place = stray.key == best.key && stray.index == best.index ? stray.index : UINT64_MAX;
                if (tile.key == best.key && tile.index == best.index && tile.index != UINT64_MAX)
                    place = smaller(place, Base::place_of(best.key, own.index, end));
                best.index = place;
                merge_block(best, of_warps.best[1]);
            }
        }
        return best;
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
