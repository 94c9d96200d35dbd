/* Fast sums of f64 and f32 elements, of their squares and products, and fast moments: plain hardware arithmetic, the
 * same bits run to run on the same device.
 *
 * Sums. A thread adds the terms of a tile pairwise in the element type, and tiles with compensation in f64 (2Sum: D. E.
 * Knuth, "The Art of Computer Programming", volume 2, section 4.2.2), so that the error does not grow with the number of
 * elements. Threads, warps and blocks are added in a fixed order.
 *
 * Moments. A thread adds differences from its own first element, and their squares, in f64; means and squared deviations
 * of threads, warps and blocks are merged as T. F. Chan, G. H. Golub, R. J. LeVeque do in "Updating formulae and a
 * pairwise algorithm for computing sample variances", 1979.
 *
 * Without NaN policy nothing looks at single elements; otherwise a tile whose sum is NaN is read and added again without
 * its NaN elements. */
#include "common.cuh"

namespace {

/* ---------------------------------------------------------------------------------------------------------------------
 * Sums
 * ------------------------------------------------------------------------------------------------------------------ */

struct Compensated {
    double high, low;

    __device__ __forceinline__ void add(double term) {
        double sum = high + term, rest = sum - high;
        low += (high - (sum - rest)) + (term - rest);
        high = sum;
    }
    /* -0 stays what it is, infinities too. */
    __device__ __forceinline__ double value() const {
        return low != 0 && fabs(high) < __longlong_as_double(0x7ff0000000000000) ? high + low : high;
    }
};

/* What is left of a thread, a warp, a block: a plain sum. */
struct Sum {
    double sum;

    __device__ __forceinline__ void merge(const Sum &other) {
        sum += other.sum;
    }
    __device__ __forceinline__ void merge_lanes(int distance) {
        sum += __shfl_xor_sync(ALL, sum, distance);
    }
    static __device__ Sum none() {
        return {-0.0}; /* the identity of addition */
    }
    static constexpr int WORDS = 1, UNROLL = 32;
    __device__ void put(double *word) const {
        word[0] = sum;
    }
    static __device__ Sum from(const double *word) {
        return {word[0]};
    }
    __device__ void deliver(rd_cuda_partial &partial) const {
        partial.high = sum;
        partial.low = 0;
    }
};

/* What a NaN element does where it does not propagate. */
__device__ void drop_nan(Block &block, const rd_cuda_call &call, u64 index) {
    raise_flag(block.used);
    if (call.nan == REDUCT_NAN_IGNORE)
        count(block.partial.ignored, 1);
    else
        note_nan(block, index);
}

template <class T, int TRANSFORM> struct Terms {
    static constexpr bool PAIRS = TRANSFORM == RD_PRODUCT;
    static constexpr int VECTORS = RD_CUDA_VECTORS(RD_FAST_SUM, TRANSFORM);
    typedef Tile<T, VECTORS> Part;

    static __device__ __forceinline__ T term(T x, T y) {
        return TRANSFORM == RD_IDENTITY   ? x
               : TRANSFORM == RD_ABSOLUTE ? (T)fabs(x)
               : TRANSFORM == RD_SQUARE   ? x * x
                                          : x * y;
    }

    static __device__ __forceinline__ T sum(const Part &x, const Part &y) {
        return pairwise<Part::COUNT>(x, y, 0);
    }

    template <int N> static __device__ __forceinline__ T pairwise(const Part &x, const Part &y, int first) {
        if constexpr (N == 1)
            return term(x.get(first), PAIRS ? y.get(first) : (T)0);
        else
            return pairwise<N / 2>(x, y, first) + pairwise<N / 2>(x, y, first + N / 2);
    }

    /* The sum of the first `count` elements of a tile, known by its index, that come before `end`; without NaN elements,
     * unless NaN propagates. They are read again: so tiles need registers no longer than it takes to add them. */
    static __device__ __noinline__ double sum_numbers(Block &block, const rd_cuda_call &call, u64 index, int count,
                                                      u64 end) {
        double sum = -0.0;
        for (int i = 0; i < count && index + Part::place(i) < end; i++) {
            u64 at = index + Part::place(i) - call.first;
            T x = static_cast<const T *>(call.x)[at], y = PAIRS ? static_cast<const T *>(call.y)[at] : (T)0;
            if (call.nan != REDUCT_NAN_PROPAGATE && (x != x || y != y))
                drop_nan(block, call, index + Part::place(i));
            else
                sum += (double)term(x, y);
        }
        return sum;
    }
};

template <class T, int TRANSFORM> __device__ __forceinline__ Sum sum_terms(Block &block, const rd_cuda_call &call) {
    typedef Terms<T, TRANSFORM> Method;
    typedef typename Method::Part Part;
    const Span<T> span(call.x, call.count, true);
    __shared__ RingOf<RD_FAST_SUM, TRANSFORM> ring;
    const u64 end = call.first + span.tail;
    const unsigned sign = 0x80000000;
    const uint4 minus_zero = sizeof(T) == 8 ? make_uint4(0, sign, 0, sign) : make_uint4(sign, sign, sign, sign);
    Compensated total = {-0.0, 0.0};
    begin<Method::PAIRS, Method::VECTORS>(call, span, block);
    span.for_strays(
        [&](u64 at) { total.add(Method::sum_numbers(block, call, call.first + at, 1, call.first + at + 1)); });
    for_tiles<Method::PAIRS, T, Method::VECTORS>(call, span, ring, minus_zero, [&](Part &x, Part &y, u64 index) {
        double sum = (double)Method::sum(x, y);
        if (call.nan != REDUCT_NAN_PROPAGATE && sum != sum)
            sum = Method::sum_numbers(block, call, index, Part::COUNT, end);
        total.add(sum);
    });
    return {total.value()};
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Moments
 * ------------------------------------------------------------------------------------------------------------------ */

struct Deviations {
    double count, mean, squares; /* squares of deviations from the mean */

    __device__ void merge(const Deviations &other) {
        if (other.count == 0)
            return;
        if (count == 0) {
            *this = other;
            return;
        }
        double total = count + other.count, delta = other.mean - mean;
        mean += delta * (other.count / total);
        squares += other.squares + delta * delta * (count * (other.count / total));
        count = total;
    }
    /* The lower lane's first, in both, so that both compute the same. */
    __device__ __forceinline__ void merge_lanes(int distance) {
        Deviations other = {__shfl_xor_sync(ALL, count, distance), __shfl_xor_sync(ALL, mean, distance),
                            __shfl_xor_sync(ALL, squares, distance)};
        if (lane_index() & distance) {
            Deviations own = *this;
            *this = other;
            merge(own);
        } else {
            merge(other);
        }
    }
    static __device__ Deviations none() {
        return {0, 0, 0};
    }
    static constexpr int WORDS = 3, UNROLL = 1; /* what runs once takes as long as it is: code must come from memory */
    __device__ void put(double *word) const {
        word[0] = count;
        word[1] = mean;
        word[2] = squares;
    }
    static __device__ Deviations from(const double *word) {
        return {word[0], word[1], word[2]};
    }
    __device__ void deliver(rd_cuda_partial &partial) const {
        partial.high = mean;
        partial.low = squares;
    }
};

template <class T> __device__ __forceinline__ Deviations sum_deviations(Block &block, const rd_cuda_call &call) {
    typedef Tile<T, RD_CUDA_VECTORS(RD_FAST_SUM, RD_MOMENTS)> Part;
    const Span<T> span(call.x, call.count, true);
    __shared__ RingOf<RD_FAST_SUM, RD_MOMENTS> ring;
    const u64 end = call.first + span.tail;
    u64 count = 0;
    double pivot = 0, sum = 0, squares = 0;
    auto add = [&](T element, u64 index) {
        if (call.nan != REDUCT_NAN_PROPAGATE && element != element) {
            drop_nan(block, call, index);
            return;
        }
        if (count++ == 0)
            pivot = (double)element;
        double difference = (double)element - pivot;
        sum += difference;
        squares += difference * difference;
    };
    begin<false, Part::VECTORS>(call, span, block);
    span.for_strays([&](u64 at) { add(span.x[at], call.first + at); });
    for_tiles<false, T, Part::VECTORS>(call, span, ring, make_uint4(0, 0, 0, 0), [&](Part &x, Part &, u64 index) {
        const double center = count ? pivot : (double)x.get(0);
        double tile_sum = 0, tile_squares = 0;
#pragma unroll
        for (int i = 0; i < Part::COUNT; i++) {
            const double difference = (double)x.get(i) - center;
            tile_sum += difference;
            tile_squares += difference * difference;
        }
        const bool whole = index + Part::place(Part::COUNT - 1) < end;
        if (whole && (call.nan == REDUCT_NAN_PROPAGATE || tile_squares == tile_squares)) {
            pivot = center;
            count += Part::COUNT;
            sum += tile_sum;
            squares += tile_squares;
        } else {
#pragma unroll
            for (int i = 0; i < Part::COUNT; i++)
                if (index + Part::place(i) < end)
                    add(x.get(i), index + Part::place(i));
        }
    });
    if (count == 0)
        return Deviations::none();
    double n = (double)count;
    return {n, pivot + sum / n, squares - sum * (sum / n)};
}

/* ---------------------------------------------------------------------------------------------------------------------
 * From threads to the result
 * ------------------------------------------------------------------------------------------------------------------ */

/* Over the block, in a fixed order; held by warp 0. */
template <class P> __device__ __forceinline__ void merge_block(P &part, double (*words)[P::WORDS]) {
#pragma unroll P::UNROLL
    for (int distance = 1; distance < 32; distance *= 2)
        part.merge_lanes(distance);
    if (lane_index() == 0)
        part.put(words[warp_index()]);
    __syncthreads();
    if (warp_index() == 0) {
        part = P::from(words[0]);
#pragma unroll P::UNROLL
        for (int w = 1; w < WARPS; w++)
            part.merge(P::from(words[w]));
    }
}

/* Sums in words that are not zero: complements, as NaN is the one that there is. */
__device__ __forceinline__ u64 word_of(double value) {
    return value != value ? ~(u64)0x7ff8000000000000 : ~(u64)__double_as_longlong(value);
}
__device__ __forceinline__ double value_of(u64 word) {
    return __longlong_as_double((i64)~word);
}

/* By warp 0, whose first lane has the sum. */
template <class P>
__device__ __forceinline__ void leave_sum(const Block &block, rd_cuda_workspace *workspace, const P &part) {
    double value[P::WORDS];
    u64 word[P::WORDS];
    part.put(value);
#pragma unroll
    for (int w = 0; w < P::WORDS; w++)
        word[w] = word_of(value[w]);
    leave_words(block, workspace, word);
}

/* What the blocks left that the thread looks after, in a fixed order. By all threads of the last block. */
template <class P> __device__ __forceinline__ P take_sums(Block &block, rd_cuda_workspace *workspace) {
    P part = P::none();
    for_words_left<P::WORDS>(block, workspace, [&](const u64(&word)[P::WORDS]) {
        double value[P::WORDS];
#pragma unroll
        for (int w = 0; w < P::WORDS; w++)
            value[w] = value_of(word[w]);
        part.merge(P::from(value));
    });
    return part;
}

template <unsigned FINISHES, class P>
__device__ __forceinline__ void end(const rd_cuda_call &call, Block &block, FinishRoom &room, P part) {
    __shared__ double words[2][WARPS][P::WORDS];
    merge_block(part, words[0]);
    bool used = block.used;
    if (gridDim.x > 1) {
        if (warp_index() == 0)
            leave_sum(block, call.workspace, part);
        if (!takes_words())
            return;
        part = take_sums<P>(block, call.workspace);
        merge_block(part, words[1]);
        used = collect(block, call.workspace);
    } else if (threadIdx.x == 0) {
        block.partial.nan_index = ~block.nan_below;
    }
    if (threadIdx.x == 0) {
        part.deliver(block.partial);
        if (!used && is_short(call) && has_float(call)) {
            double high = block.partial.high, low = block.partial.low;
            if (call.finish != RD_VALUE || call.count == 0)
                high = fast_value((enum rd_finish)call.finish, call.population, call.count, high, low);
            deliver_short(call, float_bits(call, high));
        }
    }
    if (used || !is_short(call) || !has_float(call))
        deliver<FAST_SUMS, FINISHES>(call, block, room, 0, 0);
}

template <class T, int TRANSFORM> __device__ __forceinline__ void fast(const rd_cuda_call &call) {
    __shared__ Block block;
    __shared__ FinishRoom room;
    constexpr unsigned FINISHES = FINISHES_OF<TRANSFORM, RD_ADD>;
    if constexpr (TRANSFORM == RD_MOMENTS)
        end<FINISHES>(call, block, room, sum_deviations<T>(block, call));
    else
        end<FINISHES>(call, block, room, sum_terms<T, TRANSFORM>(block, call));
}

} // namespace

#define KERNEL(NAME, TYPE, TRANSFORM) RD_CUDA_KERNEL(NAME, 4, fast<TYPE, TRANSFORM>)
#define KERNELS(name, TYPE)                                                                                            \
    KERNEL(fast_identity_##name, TYPE, RD_IDENTITY)                                                                    \
    KERNEL(fast_absolute_##name, TYPE, RD_ABSOLUTE)                                                                    \
    KERNEL(fast_square_##name, TYPE, RD_SQUARE)                                                                        \
    KERNEL(fast_product_##name, TYPE, RD_PRODUCT)                                                                      \
    KERNEL(fast_moments_##name, TYPE, RD_MOMENTS)

KERNELS(f64, double)
KERNELS(f32, float)
