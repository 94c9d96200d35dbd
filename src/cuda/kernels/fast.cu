/* Fast sums of floats, of their squares and products, and fast moments: plain hardware arithmetic, that of f32 for elements of
 * 16 bits, the same bits run to run on the same device.
 *
 * Sums. A thread adds the terms of a tile pairwise in the element type, and tiles with compensation in f64 (2Sum: D. E.
 * Knuth, "The Art of Computer Programming", volume 2, section 4.2.2), so that the error does not grow with the number of
 * elements. Threads, warps and blocks are added in a fixed order.
 *
 * Moments. A thread adds differences from its own first element, and their squares, in f64; means and squared deviations
 * of threads, warps and blocks are merged as T. F. Chan, G. H. Golub, R. J. LeVeque do in "Updating formulae and a
 * pairwise algorithm for computing sample variances", 1979.
 *
 * Under the NaN policy that propagates nothing looks at single elements. Otherwise a tile whose sum is NaN is read and added
 * again without its NaN elements. */
#include "reduce.cuh"

namespace {

/* ---------------------------------------------------------------------------------------------------------------------
 * What both families have in common: from threads to the result, by partial results of type P
 * ------------------------------------------------------------------------------------------------------------------ */

/* Over the block, in a fixed order; held by warp 0. In the last block this comes twice, in rounds 0 and 1. */
template <class P> __device__ __forceinline__ void merge_block(P &part, int round) {
    __shared__ double of_warps[2][WARPS][P::WORDS];
    double(*words)[P::WORDS] = of_warps[round];
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

template <class T, int TRANSFORM, class P> struct Fast {
    typedef T Element;
    typedef RingOf<RD_FAST_SUM, TRANSFORM> Ring;
    static constexpr int VECTORS = RD_CUDA_VECTORS(RD_FAST_SUM, TRANSFORM);
    static constexpr bool PAIRS = TRANSFORM == RD_TIMES, CLAIMS = false, COUNTS = true, STRAYS_LAST = false;
    static constexpr unsigned FINISHES = FINISHES_OF<TRANSFORM, RD_ADD>;
    typedef Tile<T, VECTORS> Part;

    struct OfWarps {}; /* merge_block() has its own */

    const rd_cuda_call &call;
    const Span<T> &span;
    Block &block;
    const u64 end; /* the index where vectors end */

    __device__ __forceinline__ Fast(const rd_cuda_call &c, const Span<T> &s, Block &b, OfWarps &)
        : call(c), span(s), block(b), end(c.first + s.tail) {
    }

    /* The sum of all threads', in warp 0. */
    __device__ __forceinline__ P close_threads(P part) const {
        merge_block(part, 0);
        return part;
    }

    /* By warp 0, whose first lane has the sum. */
    __device__ __forceinline__ void leave(const P &part) const {
        if (warp_index() != 0)
            return;
        rd_cuda_workspace *workspace = call.workspace;
        double value[P::WORDS];
        u64 word[P::WORDS];
        part.put(value);
#pragma unroll
        for (int w = 0; w < P::WORDS; w++)
            word[w] = word_of(value[w]);
        leave_words(block, workspace, word);
    }

    /* In a fixed order. */
    __device__ __forceinline__ P gather() const {
        P part = P::none();
        for_words_left<P::WORDS>(block, call.workspace, [&](const u64(&word)[P::WORDS]) {
            double value[P::WORDS];
#pragma unroll
            for (int w = 0; w < P::WORDS; w++)
                value[w] = value_of(word[w]);
            part.merge(P::from(value));
        });
        merge_block(part, 1);
        return part;
    }

    __device__ __forceinline__ void deliver(const P &part, bool used, FinishRoom &room) const {
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
            ::deliver<FAST_SUMS, FINISHES>(call, block, room, 0, 0);
    }
};

/* ---------------------------------------------------------------------------------------------------------------------
 * Sums
 * ------------------------------------------------------------------------------------------------------------------ */

struct Compensated {
    double low, high;

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

/* What a thread, a warp, a block comes to: a plain sum. Of `put` and `from`: the words that travel. */
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

template <class T, int TRANSFORM> struct FastSum : Fast<T, TRANSFORM, Sum> {
    typedef Fast<T, TRANSFORM, Sum> Base;
    typedef typename Base::Part Part;
    typedef typename std::conditional<IS_HALF<T>, float, T>::type Number;
    static constexpr bool PAIRS = Base::PAIRS;
    Compensated total;

    __device__ __forceinline__ FastSum(const rd_cuda_call &call, const Span<T> &span, Block &block,
                                       typename Base::OfWarps &of_warps)
        : Base(call, span, block, of_warps), total{0.0, -0.0} {
    }

    static __device__ __forceinline__ Number term(Number x, Number y) {
        return TRANSFORM == RD_IDENTITY   ? x
               : TRANSFORM == RD_ABSOLUTE ? (Number)fabs(x)
               : TRANSFORM == RD_SQUARE   ? x * x
                                          : x * y;
    }

    static __device__ __forceinline__ Number sum_tile(const Part &x, const Part &y) {
        return pairwise<Part::COUNT>(x, y, 0);
    }

    template <int N> static __device__ __forceinline__ Number pairwise(const Part &x, const Part &y, int first) {
        if constexpr (N == 1)
            return term(x.get(first), PAIRS ? (Number)y.get(first) : (Number)0);
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
            const Number x = static_cast<const T *>(call.x)[at],
                         y = PAIRS ? (Number) static_cast<const T *>(call.y)[at] : (Number)0;
            if (call.nan != REDUCT_NAN_PROPAGATE && (x != x || y != y))
                drop_nan(block, call, index + Part::place(i));
            else
                sum += (double)term(x, y);
        }
        return sum;
    }

    static __device__ __forceinline__ uint4 padding() { /* -0 adds nothing */
        const unsigned sign = IS_HALF<T> ? 0x80008000 : 0x80000000;
        return sizeof(T) == 8 ? make_uint4(0, sign, 0, sign) : make_uint4(sign, sign, sign, sign);
    }

    __device__ __forceinline__ void take_stray(u64 at) {
        const u64 index = this->call.first + at;
        total.add(sum_numbers(this->block, this->call, index, 1, index + 1));
    }

    __device__ __forceinline__ void take(const Part &x, const Part &y, u64 index) {
        double sum = (double)sum_tile(x, y);
        if (this->call.nan != REDUCT_NAN_PROPAGATE && sum != sum)
            sum = sum_numbers(this->block, this->call, index, Part::COUNT, this->end);
        total.add(sum);
    }

    __device__ __forceinline__ Sum close() const {
        return this->close_threads({total.value()});
    }
};

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
    /* Both lanes merge what the lower one has with what the other has, in this order, so that both get the same. */
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
    static constexpr int
        WORDS = 3,
        UNROLL = 1; /* code that runs once takes as long as it takes to come from memory: less of it is faster */
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

template <class T> struct FastMoments : Fast<T, RD_MOMENTS, Deviations> {
    typedef Fast<T, RD_MOMENTS, Deviations> Base;
    typedef typename Base::Part Part;
    u64 count;
    double pivot, sum, squares; /* of differences from the pivot */

    __device__ __forceinline__ FastMoments(const rd_cuda_call &call, const Span<T> &span, Block &block,
                                           typename Base::OfWarps &of_warps)
        : Base(call, span, block, of_warps), count(0), pivot(0), sum(0), squares(0) {
    }

    static __device__ __forceinline__ uint4 padding() {
        return make_uint4(0, 0, 0, 0);
    }

    __device__ __forceinline__ void add(T element, u64 index) {
        if (this->call.nan != REDUCT_NAN_PROPAGATE && element != element) {
            drop_nan(this->block, this->call, index);
            return;
        }
        if (count++ == 0)
            pivot = (double)element;
        double difference = (double)element - pivot;
        sum += difference;
        squares += difference * difference;
    }

    __device__ __forceinline__ void take_stray(u64 at) {
        add(this->span.x[at], this->call.first + at);
    }

    __device__ __forceinline__ void take(const Part &x, const Part &, u64 index) {
        const double center = count ? pivot : (double)x.get(0);
        double tile_sum = 0, tile_squares = 0;
#pragma unroll
        for (int i = 0; i < Part::COUNT; i++) {
            const double difference = (double)x.get(i) - center;
            tile_sum += difference;
            tile_squares += difference * difference;
        }
        const bool whole = index + Part::place(Part::COUNT - 1) < this->end;
        if (whole && (this->call.nan == REDUCT_NAN_PROPAGATE || tile_squares == tile_squares)) {
            pivot = center;
            count += Part::COUNT;
            sum += tile_sum;
            squares += tile_squares;
        } else {
#pragma unroll
            for (int i = 0; i < Part::COUNT; i++)
                if (index + Part::place(i) < this->end)
                    add(x.get(i), index + Part::place(i));
        }
    }

    __device__ __forceinline__ Deviations deviations() const {
        if (count == 0)
            return Deviations::none();
        double n = (double)count;
        return {n, pivot + sum / n, squares - sum * (sum / n)};
    }

    __device__ __forceinline__ Deviations close() const {
        return this->close_threads(deviations());
    }
};

} // namespace

#define KERNEL(NAME, ...) RD_CUDA_KERNEL(NAME, RD_CUDA_RESIDENT_FAST, reduce<__VA_ARGS__>)
#define KERNELS(name, TYPE)                                                                                            \
    KERNEL(fast_identity_##name, FastSum<TYPE, RD_IDENTITY>)                                                           \
    KERNEL(fast_absolute_##name, FastSum<TYPE, RD_ABSOLUTE>)                                                           \
    KERNEL(fast_square_##name, FastSum<TYPE, RD_SQUARE>)                                                               \
    KERNEL(fast_times_##name, FastSum<TYPE, RD_TIMES>)                                                                 \
    KERNEL(fast_moments_##name, FastMoments<TYPE>)

KERNELS(f64, double)
KERNELS(f32, float)
KERNELS(f16, F16)
KERNELS(bf16, BF16)
