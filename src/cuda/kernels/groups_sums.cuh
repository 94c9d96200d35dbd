/* Exact sums by groups: elements in any order, added by atomic operations on integers, which may come in any order too.
 *
 * Overview. A term is a significand times a power of two. A grid of planes (groups.h) cuts it into digits of `step` bits, by shifts, and
 * each digit is added to its plane's word of the result. The grid is laid so that its window ends above the largest exponents of a
 * sample: most terms then have one digit (f32) or two (f64). What does not fit the window, beyond the sample or far below it, is put aside:
 * its number goes to a list, and a launch after this one adds it to the rest of the planes. If the list overflows, that launch looks at
 * every element again. So the guess decides how long it takes, never what comes out.
 *
 * Phases.
 *   1. groups_guess: one block takes a sample, and says where the window lies.
 *   2. groups_add: warps take tiles of 128 elements. Neighbours of one result, in a lane and then across the lanes, are added up first, so
 *      that sorted indices, or all elements in one group, cost no more than reading. What remains goes to a table in shared memory, where results
 *      have slots as they come: digits in three pieces of 14 bits and more, as 32-bit atomics are fast there. Results without
 *      a slot go to the planes. A warp that finds few of its results in the table leaves it alone.
 *   3. groups_rest: what was put aside.
 *
 * Bounds. Fewer than 2^(63 - step) terms of a group keep a plane's word within 63 bits. Of at most 2^18 terms in a table's slot
 * a piece of 14 bits has at most 2^32 - 2^18; the uppermost has what is above 28 of at most 40 bits: 2^30. Terms that were added up before
 * count as those that they are made of.
 *
 * Zeros. A sum of zero is -0 if no term was other than -0. That a -0 came is noted; whether others did is found out by looking at all
 * elements once more, only then. */
#pragma once

#include "groups.cuh"

namespace {

enum Special : uint8_t { FINITE, INFINITE, NO_NUMBER };

/* What is added: its magnitude is (high, low) * 2^exponent. */
struct Term {
    u64 low, high;
    int exponent;
    bool negative;
    Special special;

    __device__ __forceinline__ bool is_zero() const {
        return (low | high) == 0;
    }
    __device__ __forceinline__ int length() const {
        return high ? 128 - __clzll((i64)high) : 64 - __clzll((i64)low);
    }
};

/* Floats of 4 and 8 bytes, halves of either kind, and integers. */
enum Class { FLOATS, HALVES, INTEGERS };

template <Class CLASS, int BYTES_, bool PRODUCTS_> struct Terms {
    static constexpr int BYTES = BYTES_;
    static constexpr bool PRODUCTS = PRODUCTS_, OF_FLOATS = CLASS != INTEGERS;
    typedef Word<BYTES> Bits;
    static constexpr int EACH = RD_CUDA_GROUPS_EACH(BYTES, PRODUCTS); /* elements of a lane */
    static constexpr int WINDOW = RD_CUDA_GROUPS_WINDOW(BYTES, PRODUCTS),
                         TABLED = RD_CUDA_GROUPS_TABLED(BYTES, PRODUCTS),
                         QUICK = OF_FLOATS ? WINDOW - TABLED : 0; /* the lowest plane of those tabled */
    /* Bits of an element's significand, of a term's, and where they are in the element. */
    static constexpr int OWN = CLASS == FLOATS   ? BYTES == 8 ? 53 : 24
                               : CLASS == HALVES ? 11
                                                 : 8 * BYTES,
                         LENGTH = PRODUCTS ? 2 * OWN : OWN,
                         ONE = OF_FLOATS ? OWN - 1 : 0; /* the place of 1 in an element */

    static __device__ __forceinline__ Term element(const rd_cuda_groups &groups, Bits bits) {
        Term term = {0, 0, 0, false, FINITE};
        if constexpr (CLASS == INTEGERS) {
            i64 value = (i64)bits;
            if (groups.is_truth)
                value = bits != 0;
            else if (groups.is_signed)
                value = BYTES == 8 ? value : (i64)((u64)bits << (64 - 8 * BYTES)) >> (64 - 8 * BYTES);
            term.negative = groups.is_signed && value < 0;
            term.low = term.negative ? 0 - (u64)value : (u64)value;
        } else if constexpr (BYTES == 8) {
            const int field = (int)(bits >> 52) & 0x7ff;
            term.negative = bits >> 63;
            term.low = (bits & 0xfffffffffffff) | (u64)(field != 0) << 52;
            term.exponent = max(field, 1) - 1075;
            if (field == 0x7ff)
                term.special = bits & 0xfffffffffffff ? NO_NUMBER : INFINITE;
        } else {
            unsigned single = (unsigned)bits;
            int below = 0; /* bits that halves lack */
            if constexpr (CLASS == HALVES) {
                F16 f16;
                f16.bits = (uint16_t)bits;
                single = groups.call.of_f16 ? __float_as_uint((float)f16) : (unsigned)bits << 16;
                below = groups.call.of_f16 ? 13 : 16;
            }
            const int field = (int)(single >> 23) & 0xff;
            term.negative = single >> 31;
            term.low = ((single & 0x7fffff) | (unsigned)(field != 0) << 23) >> below;
            term.exponent = max(field, 1) - 150 + below;
            if (field == 0xff)
                term.special = single & 0x7fffff ? NO_NUMBER : INFINITE;
        }
        return term;
    }

    /* The same of an element of a float that is neither zero nor subnormal, nor infinite or a NaN, in fewer steps: of others the exponent lies
     * outside the planes that are tabled, as a window's lowest plane is not below the lowest exponent, nor its end beyond the highest. */
    static __device__ __forceinline__ Term usual(const rd_cuda_groups &groups, Bits bits) {
        if constexpr (CLASS != FLOATS) {
            return of(groups, bits, bits);
        } else {
            constexpr int PLACES = OWN - 1, FIELDS = 8 * BYTES - OWN; /* bits of the fraction, and of the exponent */
            const int field = (int)(bits >> PLACES) & ((1 << FIELDS) - 1);
            return {(bits & (((Bits)1 << PLACES) - 1)) | (Bits)1 << PLACES, 0, field - (1 << (FIELDS - 1)) + 2 - OWN,
                    bits >> (8 * BYTES - 1) != 0 && groups.call.transform != RD_ABSOLUTE, FINITE};
        }
    }

    /* Of an element, or of two; of squares `y` is `x`. */
    static __device__ __forceinline__ Term of(const rd_cuda_groups &groups, Bits x, Bits y) {
        Term term = element(groups, x);
        if constexpr (PRODUCTS) {
            const Term other = element(groups, y);
            if (groups.of_weights) /* times one, as long as elements are. An infinite weight makes the mean NaN */
                term = {(u64)1 << ONE, 0, -ONE, false,
                        term.special == NO_NUMBER || other.special != FINITE ? NO_NUMBER : FINITE};
            if (term.special == NO_NUMBER || other.special == NO_NUMBER ||
                (term.special != other.special && (term.is_zero() || other.is_zero())))
                term.special = NO_NUMBER;
            else if (other.special == INFINITE)
                term.special = INFINITE;
            term.high = BYTES == 8 ? __umul64hi(term.low, other.low) : 0;
            term.low *= other.low;
            term.exponent += other.exponent;
            term.negative = term.negative != other.negative;
        } else if (groups.call.transform == RD_ABSOLUTE) {
            term.negative = false;
        }
        return term;
    }
    /* Whether an element is a NaN, which policies count; not a product that is one. */
    static __device__ __forceinline__ bool has_nan(const rd_cuda_groups &groups, Bits x, Bits y) {
        return OF_FLOATS &&
               (element(groups, x).special == NO_NUMBER || (PRODUCTS && element(groups, y).special == NO_NUMBER));
    }
};

template <class T> __device__ __forceinline__ typename T::Bits element_at(const void *array, u64 at) {
    return (typename T::Bits)__ldcs(static_cast<const Stored<T::BYTES> *>(array) + at);
}

/* Digit `plane` of a term whose lowest bit lies at `place` of a grid's lowest plane. */
__device__ __forceinline__ u64 digit_of(const Term &term, int place, int plane, int step) {
    const int shift = place - plane * step, down = -shift;
    const u64 mask = ((u64)1 << step) - 1;
    if (shift >= step || down >= 128)
        return 0;
    if (shift >= 0)
        return (term.low << shift) & mask;
    if (down >= 64)
        return (term.high >> (down - 64)) & mask;
    return (term.low >> down | term.high << (64 - down)) & mask;
}

__device__ __forceinline__ void add_word(uint64_t *at, u64 magnitude, bool negative) {
    if (magnitude)
        atomicAdd(reinterpret_cast<u64 *>(at), negative ? 0 - magnitude : magnitude);
}

/* Where the window lies, as the header says. */
struct Window {
    int unit, first, step;

    __device__ __forceinline__ explicit Window(const rd_cuda_groups &groups)
        : unit(groups.grid[0].header->unit), first(groups.grid[0].header->first), step((int)groups.step) {
    }
    /* Where a term's lowest bit is; whether all of its bits lie in so many planes. */
    __device__ __forceinline__ int place(const Term &term) const {
        return term.exponent - unit;
    }
    __device__ __forceinline__ bool holds(const Term &term, int planes) const {
        return place(term) >= 0 && place(term) + term.length() <= planes * step;
    }
};

/* ---------------------------------------------------------------------------------------------------------------------
 * The window's place
 * ------------------------------------------------------------------------------------------------------------------ */

/* Elements of a sample; how far above its largest exponent the window ends, if there are more. */
constexpr int SAMPLES = 16 * GROUP_THREADS, MARGIN = 1, MARGIN_PRODUCTS = 2;

template <class T> __device__ __forceinline__ void guess(const rd_cuda_groups &groups) {
    __shared__ int most;
    const rd_cuda_groups_grid &grid = groups.grid[0];
    const u64 count = groups.call.count, samples = min(count, (u64)SAMPLES);
    if (threadIdx.x == 0)
        most = INT32_MIN;
    __syncthreads();
    int own = INT32_MIN;
    for (u64 s = threadIdx.x; s < samples; s += GROUP_THREADS) {
        /* Evenly apart; the quotient and the remainder apart, as the product of both would not fit. */
        const u64 at = count / samples * s + count % samples * s / samples;
        const typename T::Bits x = element_at<T>(groups.call.x, at);
        const Term term = T::of(groups, x, groups.call.y ? element_at<T>(groups.call.y, at) : x);
        if (term.special == FINITE && !term.is_zero() && is_counted(groups, at))
            own = max(own, term.exponent + term.length());
    }
    if (own != INT32_MIN)
        atomicMax(&most, own);
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    const int step = (int)groups.step, window = step * T::WINDOW;
    int top = most == INT32_MIN ? 0 : most + (samples < count ? T::PRODUCTS ? MARGIN_PRODUCTS : MARGIN : 0);
    top = max(min(top, grid.highest), grid.lowest + window);
    grid.header->unit = top - window;
    grid.header->first = (top - window - grid.lowest + step - 1) / step;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Adding
 * ------------------------------------------------------------------------------------------------------------------ */

/* What slots have: a word for each piece of each digit, and one for counts. */
template <class T> struct Table : Slots {
    static constexpr int COUNTS = RD_CUDA_GROUPS_PIECES * T::TABLED;

    __device__ __forceinline__ Table(const rd_cuda_groups &g, unsigned *room) : Slots(g, room) {
    }
    __device__ __forceinline__ void open() const {
        Slots::open(COUNTS + (groups.counted != nullptr));
    }

    __device__ __forceinline__ void add(unsigned slot, const i64 (&digit)[T::TABLED ? T::TABLED : 1],
                                        unsigned count) const {
        constexpr int BITS = RD_CUDA_GROUPS_PIECE_BITS;
        constexpr unsigned MASK = (1u << BITS) - 1;
#pragma unroll
        for (int d = 0; d < T::TABLED; d++) {
            unsigned *at = array(RD_CUDA_GROUPS_PIECES * d) + slot;
            atomicAdd(at, (unsigned)digit[d] & MASK);
            atomicAdd(at + slots, (unsigned)(digit[d] >> BITS) & MASK);
            atomicAdd(at + 2 * slots, (unsigned)(int)(digit[d] >> (2 * BITS)));
        }
        if (groups.counted)
            atomicAdd(array(COUNTS) + slot, count);
    }

    /* All that slots hold, to the planes. By the whole block. */
    __device__ __forceinline__ void flush() const {
        __syncthreads();
        for (unsigned slot = threadIdx.x; slot < slots; slot += GROUP_THREADS) {
            const unsigned result = words[slot];
            if (result >= groups.results)
                continue;
#pragma unroll
            for (int d = 0; d < T::TABLED; d++) {
                unsigned *at = array(RD_CUDA_GROUPS_PIECES * d) + slot;
                const i64 sum = (i64)at[0] + ((i64)at[slots] << RD_CUDA_GROUPS_PIECE_BITS) +
                                (i64)((u64)(i64)(int)at[2 * slots] << (2 * RD_CUDA_GROUPS_PIECE_BITS));
                at[0] = at[slots] = at[2 * slots] = 0;
                if (sum)
                    atomicAdd(reinterpret_cast<u64 *>(groups.grid[0].window + (T::QUICK + d) * groups.results + result),
                              (u64)sum);
            }
            if (groups.counted) {
                const unsigned count = array(COUNTS)[slot];
                array(COUNTS)[slot] = 0;
                if (count)
                    atomicAdd(reinterpret_cast<u64 *>(groups.counted + result), (u64)count);
            }
        }
        __syncthreads();
    }
};

/* What a term that the window does not hold will need; its number, for the list. */
__device__ __noinline__ void put_aside(const rd_cuda_groups &groups, const Term term, u64 number) {
    const rd_cuda_groups_grid &grid = groups.grid[0];
    const Window window(groups);
    const int place = window.place(term) + window.first * window.step;
    raise_to(&grid.header->low_below, UINT32_MAX - (unsigned)(place / window.step));
    raise_to(&grid.header->high_above, (unsigned)((place + term.length() - 1) / window.step) + 1);
    if (glance(&grid.header->aside) <= grid.aside_room) {
        const unsigned at = atomicAdd(&grid.header->aside, 1u);
        if (at < grid.aside_room)
            grid.aside[at] = number;
    }
}

/* Whether a sum of terms that all are -0 is -0. */
__device__ __forceinline__ bool has_signed_zeros(const rd_cuda_groups &groups) {
    const unsigned transform = groups.call.transform;
    return transform == RD_IDENTITY || transform == RD_PRODUCT || (transform == RD_WEIGHTED && !groups.of_weights);
}

/* A term that takes more than the usual, straight to the planes. Returns whether the element counts. */
template <class T>
__device__ __noinline__ bool add_slowly(const rd_cuda_groups &groups, typename T::Bits x, typename T::Bits y,
                                        unsigned result, u64 number) {
    const Term term = T::of(groups, x, y);
    const Window window(groups);
    if (T::OF_FLOATS && term.special != FINITE) {
        if (T::has_nan(groups, x, y)) {
            if (groups.call.nan == REDUCT_NAN_IGNORE)
                return false;
            note_nan_at(groups, result, number);
        }
        set_note(groups, result,
                 term.special == NO_NUMBER ? RD_CUDA_GROUPS_NAN
                 : term.negative           ? RD_CUDA_GROUPS_MINUS
                                           : RD_CUDA_GROUPS_PLUS);
    } else if (term.is_zero()) {
        if (T::OF_FLOATS && term.negative && has_signed_zeros(groups)) {
            set_note(groups, result, RD_CUDA_GROUPS_MINUS_ZERO);
            raise_to(&groups.grid[0].header->minus_zero, 1);
        }
    } else if (window.holds(term, T::WINDOW)) {
#pragma unroll
        for (int k = 0; k < T::WINDOW; k++)
            add_word(groups.grid[0].window + k * groups.results + result,
                     digit_of(term, window.place(term), k, window.step), term.negative);
    } else {
        put_aside(groups, term, number);
    }
    return true;
}

/* A lane's elements as digits, by result: what has gone elsewhere is NOWHERE. */
template <class T> struct Digits {
    static constexpr int N = T::TABLED ? T::TABLED : 1, EACH = T::EACH;
    unsigned result[EACH], count[EACH];
    i64 digit[EACH][N];

    __device__ __forceinline__ void move(int from, int to) {
#pragma unroll
        for (int d = 0; d < N; d++)
            digit[to][d] += digit[from][d];
        count[to] += count[from];
        result[from] = NOWHERE;
    }

    __device__ __forceinline__ void take(const rd_cuda_groups &groups, const Window &window,
                                         const Loaded<T::BYTES, T::PRODUCTS, T::EACH> &loaded,
                                         const unsigned (&of)[EACH], u64 first) {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            typename T::Bits x = loaded.x[i], y = x;
            if constexpr (T::PRODUCTS)
                y = groups.call.y ? loaded.y[i] : x;
            result[i] = of[i];
            count[i] = 1;
#pragma unroll
            for (int d = 0; d < N; d++)
                digit[i][d] = 0;
            Term term;
            if constexpr (T::PRODUCTS)
                term = T::of(groups, x, y);
            else
                term = T::usual(groups, x);
            /* By the length that terms can have, so that nothing need be counted. Products of zeros, infinities and NaNs may have any
             * exponent; elements that are these, of floats, have one outside. */
            const int place = window.place(term) - T::QUICK * window.step;
            const bool quick = T::TABLED && T::TABLED * window.step >= T::LENGTH &&
                               (unsigned)place <= (unsigned)(T::TABLED * window.step - T::LENGTH) &&
                               (!T::PRODUCTS || !T::OF_FLOATS || (term.special == FINITE && !term.is_zero()));
            if (quick) {
                const u64 mask = T::TABLED > 1 ? ((u64)1 << window.step) - 1 : UINT64_MAX;
                const u64 sign = term.negative ? UINT64_MAX : 0;
                digit[i][0] = (i64)((((term.low << place) & mask) ^ sign) - sign);
                if constexpr (T::TABLED > 1)
                    digit[i][1] = (i64)(((term.low >> (window.step - place)) ^ sign) - sign);
            } else if (result[i] != NOWHERE) {
                count[i] = add_slowly<T>(groups, x, y, result[i], first + i);
            }
        }
    }

    /* Adds up runs of one result within lanes and from lane to lane, if there are enough of them. By whole warps, with the results as
     * they were loaded. */
    __device__ __forceinline__ void join_lanes(const unsigned (&loaded)[EACH]) {
        const int lane = lane_index();
        const unsigned before = __shfl_up_sync(ALL, loaded[EACH - 1], 1);
        const bool joined = lane > 0 && loaded[0] != NOWHERE && before == loaded[0];
        const unsigned joins = __ballot_sync(ALL, joined);
        if (__popc(joins) < 16)
            return;
#pragma unroll
        for (int i = 0; i + 1 < EACH; i++)
            if (result[i] == result[i + 1] && result[i] != NOWHERE)
                move(i, i + 1);
        bool through = joined;
#pragma unroll
        for (int i = 0; i + 1 < EACH; i++)
            through = through && loaded[i] == loaded[i + 1];
        /* Sums of last runs, over the lanes through which they go. */
        const unsigned starts = ~__ballot_sync(ALL, through);
        const unsigned upto = starts & (ALL >> (31 - lane));
        const int start = upto ? 31 - __clz((int)upto) : 0;
        i64 sum[N];
        unsigned counts = count[EACH - 1];
#pragma unroll
        for (int d = 0; d < N; d++)
            sum[d] = digit[EACH - 1][d];
#pragma unroll 1
        for (int by = 1; by < 32; by *= 2) {
            const bool add = lane - by >= start;
            const unsigned more = __shfl_up_sync(ALL, counts, by);
            counts += add ? more : 0;
#pragma unroll
            for (int d = 0; d < N; d++) {
                const i64 other = __shfl_up_sync(ALL, sum[d], by);
                sum[d] += add ? other : 0;
            }
        }
        /* A run that ends within a lane takes what came from before it; one that goes on leaves the lane. */
        bool wanted = joined && !through;
        const unsigned counts_before = __shfl_up_sync(ALL, counts, 1);
        i64 sum_before[N];
#pragma unroll
        for (int d = 0; d < N; d++)
            sum_before[d] = __shfl_up_sync(ALL, sum[d], 1);
#pragma unroll
        for (int d = 0; d < N; d++)
            digit[EACH - 1][d] = sum[d];
        count[EACH - 1] = counts;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (wanted && result[i] != NOWHERE) {
                wanted = false;
                count[i] += counts_before;
#pragma unroll
                for (int d = 0; d < N; d++)
                    digit[i][d] += sum_before[d];
            }
        if (lane < 31 && joins >> (lane + 1) & 1)
            result[EACH - 1] = NOWHERE;
    }

    /* To the table, or to the planes. Returns how many were sought in the table, and of these found, as 2 * 16 bits. */
    __device__ __forceinline__ unsigned leave(const rd_cuda_groups &groups, const Table<T> &table, bool tabled) const {
        unsigned found = 0;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            if (result[i] == NOWHERE)
                continue;
            if (T::TABLED && tabled) {
                bool known;
                const unsigned slot = table.find(result[i], known);
                found += 1u << 16;
                if (slot < table.slots) {
                    table.add(slot, digit[i], count[i]);
                    found += known;
                    continue;
                }
            }
#pragma unroll
            for (int d = 0; d < T::TABLED; d++)
                if (digit[i][d])
                    atomicAdd(
                        reinterpret_cast<u64 *>(groups.grid[0].window + (T::QUICK + d) * groups.results + result[i]),
                        (u64)digit[i][d]);
            if (groups.counted && count[i])
                atomicAdd(reinterpret_cast<u64 *>(groups.counted + result[i]), (u64)count[i]);
        }
        return found;
    }
};

template <class T> __device__ __forceinline__ void add(const rd_cuda_groups &groups) {
    extern __shared__ __align__(16) unsigned char room[];
    const Table<T> table(groups, reinterpret_cast<unsigned *>(room));
    const Window window(groups);
    const u64 tiles = (groups.call.count + 32 * T::EACH - 1) / (32 * T::EACH),
              chunks = (tiles + groups.chunk - 1) / groups.chunk;
    bool tabled = groups.slots != 0;
    unsigned tries = 0, found = 0;
    table.open();
#pragma unroll 1
    for (u64 chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
        for_tiles<T::BYTES, T::PRODUCTS, T::EACH>(groups, chunk,
                                                  [&](const Loaded<T::BYTES, T::PRODUCTS, T::EACH> &loaded, u64 first) {
                                                      unsigned result[T::EACH];
                                                      loaded.find(groups, first, result);
                                                      Digits<T> digits;
                                                      digits.take(groups, window, loaded, result, first);
                                                      __syncwarp();
                                                      digits.join_lanes(result);
                                                      found += digits.leave(groups, table, tabled);
                                                      __syncwarp();
                                                      if (tabled && !groups.direct && ++tries == TRIES)
                                                          tabled = is_of_use(found);
                                                  });
        if (groups.slots)
            table.flush();
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What was put aside
 * ------------------------------------------------------------------------------------------------------------------ */

template <class T>
__device__ __forceinline__ void add_to_rest(const rd_cuda_groups &groups, const Window &window, u64 number) {
    const unsigned result = result_of(groups, number);
    if (result == NOWHERE || result - groups.rest_first >= groups.rest_room)
        return;
    const typename T::Bits x = element_at<T>(groups.call.x, number);
    const Term term = T::of(groups, x, groups.call.y ? element_at<T>(groups.call.y, number) : x);
    const bool zero = term.special == FINITE && term.is_zero();
    if (!(zero && term.negative) && glance(groups.notes + result) & RD_CUDA_GROUPS_MINUS_ZERO && !groups.of_weights &&
        !(term.special == NO_NUMBER && groups.call.nan == REDUCT_NAN_IGNORE))
        set_note(groups, result, RD_CUDA_GROUPS_OTHER);
    if (term.special != FINITE || zero || window.holds(term, T::WINDOW))
        return;
    const int place = window.place(term) + window.first * window.step, end = place + term.length();
    for (int plane = place / window.step; plane * window.step < end; plane++)
        add_word(groups.grid[0].rest + plane * groups.rest_room + (result - groups.rest_first),
                 digit_of(term, place, plane, window.step), term.negative);
}

template <class T> __device__ __forceinline__ void rest(const rd_cuda_groups &groups) {
    const rd_cuda_groups_grid &grid = groups.grid[0];
    const unsigned aside = grid.header->aside;
    const bool all = grid.header->minus_zero || aside > grid.aside_room;
    const Window window(groups);
    const u64 count = all ? groups.call.count : aside, step = (u64)gridDim.x * THREADS;
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < count; i += step)
        add_to_rest<T>(groups, window, all ? i : grid.aside[i]);
}

} // namespace

/* The kernels of a kind of terms: names end alike. */
#define RD_CUDA_GROUPS_ADD(NAME, ...)                                                                                  \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_THREADS, 1)                                            \
        groups_add_##NAME(const __grid_constant__ rd_cuda_groups groups) {                                             \
        add<Terms<__VA_ARGS__>>(groups);                                                                               \
    }
#define RD_CUDA_GROUPS_KERNELS(NAME, ...)                                                                              \
    RD_CUDA_GROUPS_ADD(NAME, __VA_ARGS__)                                                                              \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_THREADS, 1)                                            \
        groups_guess_##NAME(const __grid_constant__ rd_cuda_groups groups) {                                           \
        guess<Terms<__VA_ARGS__>>(groups);                                                                             \
    }                                                                                                                  \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS)                                                      \
        groups_rest_##NAME(const __grid_constant__ rd_cuda_groups groups) {                                            \
        rest<Terms<__VA_ARGS__>>(groups);                                                                              \
    }
