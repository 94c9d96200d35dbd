/* How a thread looks for the least or the greatest element, or magnitude, in tiles of one type: see extremes.cu. */
#pragma once

#include "extremes.cuh"

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

    __device__ Search(Block &b, const rd_cuda_call &c, bool greatest)
        : block(b), call(c), absolute(c.transform == RD_ABSOLUTE), flip(greatest ? O::MASK : 0), best(nothing()),
          bar(O::MASK), barred(false) {
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
    static __device__ __noinline__ Best<Key> take_slowly(Block &block, const rd_cuda_call &call, bool greatest,
                                                         Best<Key> best, u64 index, u64 end) {
        Search search(block, call, greatest);
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
            best = take_slowly(block, call, flip != 0, best, index, end);
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
        raise_bar();
    }

    /* The same of a tile of which some is padding. */
    __device__ __forceinline__ void take_some(u64 index, u64 end) {
        best = take_slowly(block, call, flip != 0, best, index, end);
        raise_bar();
    }

    __device__ __forceinline__ void raise_bar() {
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

    struct Strays {
        Search &search;
        const Span<T> &span;
        __device__ __forceinline__ void take_stray(u64 at) {
            const u64 index = search.call.first + at;
            search.take_one(span.x[at], index, index);
        }
    };

    /* The end of a block: what it has found, its place too if that is wanted. Strays come here, apart from tiles, as it is known where
     * they are. */
    __device__ __forceinline__ Best<Key> meet_block(const Span<T> &span, u64 end, bool wants_place,
                                                    Best<Key> (*of_warps)[WARPS]) {
        const Best<Key> own = best;
        best = nothing();
        Strays strays = {*this, span};
        span.for_strays(strays);
        const Best<Key> stray = best;
        Best<Key> all = own;
        if (LATE && own.index != UINT64_MAX)
            all.index = begin_of(own.index);
        const Best<Key> tile = all;
        all.take(stray.key, stray.index);
        merge_block(all, of_warps[0]);
        if constexpr (LATE) {
            /* Tiles follow each other, so the first of the best has the place. */
            if (wants_place) {
                u64 place = stray.key == all.key && stray.index == all.index ? stray.index : UINT64_MAX;
                if (tile.key == all.key && tile.index == all.index && tile.index != UINT64_MAX)
                    place = smaller(place, place_of(all.key, own.index, end));
                all.index = place;
                merge_block(all, of_warps[1]);
            }
        }
        return all;
    }
};

} // namespace
