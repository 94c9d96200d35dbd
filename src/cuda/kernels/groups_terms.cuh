/* Terms of sums by groups, and what is done with them one by one: see groups_sums.cuh. */
#pragma once

#include "groups.cuh"
#include "meeting.cuh"

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
    static constexpr bool SCALED = OF_FLOATS && !PRODUCTS; /* digits are what a float of another exponent comes to */
    /* Bits of an element's significand, of a term's, and where they are in the element. */
    static constexpr int OWN = CLASS == FLOATS   ? BYTES == 8 ? 53 : 24
                               : CLASS == HALVES ? RD_CUDA_GROUPS_HALF_BITS
                                                 : 8 * BYTES,
                         LENGTH = PRODUCTS ? 2 * OWN : OWN,
                         ONE_PLACE = OF_FLOATS ? OWN - 1 : 0; /* the place of 1 in an element */

    typedef typename std::conditional<(LENGTH <= 64), u64, unsigned __int128>::type Whole; /* of a magnitude */

    static __device__ __forceinline__ Whole whole(const Term &term) {
        if constexpr (LENGTH <= 64)
            return term.low;
        else
            return (Whole)term.high << 64 | term.low;
    }

    static constexpr int BELOW =
        CLASS == HALVES ? 24 - RD_CUDA_GROUPS_HALF_BITS : 0; /* bits of f32 that elements lack */

    /* The bits of the f32 that an element of 4 or 2 bytes is. */
    static __device__ __forceinline__ unsigned to_single(const rd_cuda_groups &groups, Bits bits) {
        if constexpr (CLASS != HALVES)
            return (unsigned)bits;
        F16 f16;
        f16.bits = (uint16_t)bits;
        return groups.call.of_f16 ? __float_as_uint((float)f16) : (unsigned)bits << 16;
    }

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
            const unsigned single = to_single(groups, bits);
            const int field = (int)(single >> 23) & 0xff;
            term.negative = single >> 31;
            term.low = ((single & 0x7fffff) | (unsigned)(field != 0) << 23) >> BELOW;
            term.exponent = max(field, 1) - 150 + BELOW;
            if (field == 0xff)
                term.special = single & 0x7fffff ? NO_NUMBER : INFINITE;
        }
        return term;
    }

    /* The same of an element of a float that is neither zero nor subnormal, nor infinite or a NaN, in fewer steps: of others the exponent lies
     * outside the planes that are tabled, as the lowest of these, with bits below it, is not below the lowest exponent, nor a window's end beyond the highest. */
    static __device__ __forceinline__ Term usual(const rd_cuda_groups &groups, Bits bits) {
        if constexpr (CLASS == INTEGERS) {
            return of(groups, bits, bits);
        } else if constexpr (CLASS == HALVES) {
            const unsigned single = to_single(groups, bits);
            return {((single & 0x7fffff) | 0x800000) >> BELOW, 0, (int)(single >> 23 & 0xff) - 150 + BELOW,
                    single >> 31 != 0 && groups.call.transform != RD_ABSOLUTE, FINITE};
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
                term = {(u64)1 << ONE_PLACE, 0, -ONE_PLACE, false,
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

/* Calls use(Terms) with the terms that a scan has, where these are known when the kernel runs: of a class, and of floats. */
template <Class CLASS, int BYTES, class Use>
__device__ __forceinline__ void with_terms_or_products(const rd_cuda_groups &groups, Use use) {
    if (groups.products)
        use(Terms<CLASS, BYTES, true>());
    else
        use(Terms<CLASS, BYTES, false>());
}
template <class Use> __device__ __forceinline__ void with_terms_of_floats(const rd_cuda_groups &groups, Use use) {
    if (groups.element_bytes == 8)
        with_terms_or_products<FLOATS, 8>(groups, use);
    else if (groups.element_bytes == 4)
        with_terms_or_products<FLOATS, 4>(groups, use);
    else
        with_terms_or_products<HALVES, 2>(groups, use);
}

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

/* To a word in memory, of which functions that are no kernel's own do not know that it lies there: an atomic addition would ask where, and wait for what
 * was there before. */
__device__ __forceinline__ void add_word(uint64_t *at, u64 magnitude, bool negative) {
    if (magnitude)
        asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(at)),
                     "l"(negative ? 0 - magnitude : magnitude)
                     : "memory");
}

/* Bits of a digit that lie below the lowest plane that is tabled: elements that have one digit may be so much smaller. Of a shift that is less than
 * 32 for all of them, which takes fewer steps. */
template <class T> __device__ __forceinline__ int below_planes(int step) {
    return T::OF_FLOATS && T::TABLED == 1 ? min((int)RD_CUDA_GROUPS_TABLE_BITS, T::LENGTH + 31) - step : 0;
}

static_assert((u64)RD_CUDA_GROUPS_CHUNK_ELEMENTS << RD_CUDA_GROUPS_TABLE_BITS <= (u64)1 << 62, "slots hold their sums");
static_assert(RD_CUDA_GROUPS_HALF_BITS + 31 > RD_CUDA_GROUPS_STEP_MOST &&
                  (int)RD_CUDA_GROUPS_TABLE_BITS > (int)RD_CUDA_GROUPS_STEP_MOST &&
                  (int)RD_CUDA_GROUPS_TABLE_BITS - (int)RD_CUDA_GROUPS_STEP_LEAST < (int)RD_CUDA_GROUPS_STEP_LEAST,
              "digits have bits below their plane, all of which are the next one's");

/* Calls add(plane, part) for the parts that a sum of digits has on the planes of the window: of those of one plane, or of two. */
template <class T, class Add> __device__ __forceinline__ void for_parts(i64 sum, int digit, int step, Add add) {
    if constexpr (T::OF_FLOATS && T::TABLED == 1) {
        const int below = below_planes<T>(step);
        const u64 high = (u64)(sum >> below), low = (u64)sum << (64 - below) >> (64 - step);
        if (high)
            add(T::QUICK, high);
        if (low)
            add(T::QUICK - 1, low);
    } else if (sum) {
        add(T::QUICK + digit, (u64)sum);
    }
}

/* Where the window lies, and whether the rest of the planes is open, as the header says. */
struct Window {
    int unit, first, step;
    bool open;

    __device__ __forceinline__ explicit Window(const rd_cuda_groups &groups)
        : unit(groups.grid[0].header->unit), first(groups.grid[0].header->first), step((int)groups.step),
          open(groups.grid[0].header->open != 0) {
    }
    /* Where a term's lowest bit is, and where on the rest of the planes; whether all of its bits lie in so many planes. */
    __device__ __forceinline__ int place(const Term &term) const {
        return term.exponent - unit;
    }
    __device__ __forceinline__ int place_in_rest(const Term &term) const {
        return place(term) + first * step;
    }
    __device__ __forceinline__ bool holds(const Term &term, int planes) const {
        return place(term) >= 0 && place(term) + term.length() <= planes * step;
    }
};

/* Calls take(share, shares) for shares of a step as long as there are any, and waits until all have been done. By the whole block, of which
 * `claimed` is a word that all share. No block waits for one that has not begun. */
template <class Take>
__device__ __forceinline__ void share_out(rd_cuda_groups_header &header, unsigned step, u64 &claimed, Take take) {
    for (;;) {
        __syncthreads(); /* all have read the claim before */
        if (threadIdx.x == 0)
            claimed = atomicAdd(reinterpret_cast<u64 *>(&header.claimed[step]), 1ull);
        __syncthreads();
        const unsigned share = (unsigned)claimed;
        if (share >= gridDim.x)
            break;
        take(share, gridDim.x);
        __syncthreads();
        if (threadIdx.x == 0)
            take_ticket(&header.done[step], 1);
    }
    if (threadIdx.x == 0)
        while (take_ticket(&header.done[step], 0) < gridDim.x)
            ;
    __syncthreads();
}

/* Clears a block's share of the planes of the rest from one on to before another. */
__device__ __forceinline__ void clear_rest(const rd_cuda_groups &groups, unsigned low, unsigned high, unsigned share,
                                           unsigned shares) {
    uint64_t *words = groups.grid[0].rest + low * groups.rest_room;
    const u64 count = (u64)(high - low) * groups.rest_room, step = (u64)shares * blockDim.x;
    for (u64 i = (u64)share * blockDim.x + threadIdx.x; i < count; i += step)
        words[i] = 0;
}

/* Calls add(plane, digit) for each digit other than zero of a term, of the rest of the planes. `per_step` is 1 / step: quotients of places are
 * whole numbers, or differ from them by more than is rounded off. */
template <class T, class Add>
__device__ __forceinline__ void for_digits(typename T::Whole whole, int place, int step, float per_step, Add add) {
    const u64 mask = ((u64)1 << step) - 1;
    int plane = (int)(((float)place + 0.5f) * per_step);
    const int shift = place - plane * step;
    u64 digit = (u64)(whole << shift) & mask;
    whole >>= step - shift;
    for (;; plane++) {
        if (digit)
            add(plane, digit);
        if (!whole)
            break;
        digit = (u64)whole & mask;
        whole >>= step;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Planes that terms go to one by one: the rest, where it is open, or a window
 * ------------------------------------------------------------------------------------------------------------------ */

/* Planes that terms go to one by one, as a block sees them: the rest, where it is open, or a window that has no table. Some of them, or all, a block may have
 * in shared memory, two words for each digit of so many results from `base` on, the lower ones first; digits lie as in memory. Of copies a lane has one;
 * they begin in different banks. */
struct OwnPlanes {
    uint64_t *const planes;
    const unsigned all, below;        /* planes in memory; those of the rest that lie below them */
    const unsigned first, own_planes; /* the block's: from which on, and how many */
    unsigned *const low;
    const unsigned results, base, own_results, words;
    const bool has_own, takes_all; /* the last: even what the table could take */
    const float per_step;

    __device__ __forceinline__ OwnPlanes(const rd_cuda_groups &groups, bool of_window, unsigned first_result,
                                         unsigned own_count)
        : planes(of_window ? groups.grid[0].window : groups.grid[0].rest),
          all(of_window ? groups.grid[0].window_planes : groups.grid[0].rest_planes),
          below(of_window ? (unsigned)groups.grid[0].header->first : 0),
          first(below + (of_window ? 0 : first_of_rest(groups))), own_planes(of_window ? all : groups.own_planes),
          low(own(groups) +
              (lane_index() & ((1 << groups.rest_copies_log2) - 1)) * RD_CUDA_GROUPS_REST_COPY(own_planes * own_count)),
          results((unsigned)groups.results), base(first_result), own_results(own_count), words(own_planes * own_count),
          has_own(of_window ? groups.own_window != 0 : groups.own_rest != 0),
          takes_all(has_own && (of_window || groups.grid[0].header->open == RD_CUDA_GROUPS_OPEN_TO_ALL)),
          per_step(1.0f / (float)groups.step) {
    }
    /* Of the rest a block has those up to one above the window, and below as many as it has room for. */
    static __device__ __forceinline__ unsigned first_of_rest(const rd_cuda_groups &groups) {
        const rd_cuda_groups_grid &grid = groups.grid[0];
        const int end = min(grid.header->first + (int)grid.window_planes + 1, (int)grid.rest_planes);
        return (unsigned)max(end - (int)groups.own_planes, 0);
    }
    static __device__ __forceinline__ unsigned *own(const rd_cuda_groups &groups) {
        extern __shared__ __align__(16) unsigned char shared_room[];
        return reinterpret_cast<unsigned *>(shared_room) + groups.rest_at;
    }

    /* By the whole block. */
    __device__ __forceinline__ void clear_own(const rd_cuda_groups &groups) const {
        const unsigned room = RD_CUDA_GROUPS_REST_COPY(words) << groups.rest_copies_log2;
        for (unsigned i = threadIdx.x; has_own && i < room; i += GROUP_THREADS)
            own(groups)[i] = 0;
        __syncthreads();
    }

    /* A digit to shared memory. What is carried to the upper word follows from what was in the lower one before. */
    __device__ __forceinline__ void add_own(unsigned at, u64 digit, bool negative) const {
        const u64 value = negative ? 0 - digit : digit;
        const unsigned own = (unsigned)value, was = atomicAdd(low + at, own),
                       upper = (unsigned)(value >> 32) + (was + own < own);
        if (upper)
            atomicAdd(low + words + at, upper);
    }

    /* A term other than zero. */
    template <class T>
    __device__ __forceinline__ void add(const Window &window, const Term &term, unsigned result) const {
        for_digits<T>(T::whole(term), window.place_in_rest(term), window.step, per_step, [&](int plane, u64 digit) {
            if (has_own && (unsigned)plane - first < own_planes)
                add_own(((unsigned)plane - first) * own_results + (result - base), digit, term.negative);
            else
                add_word(planes + (u64)((unsigned)plane - below) * results + result, digit, term.negative);
        });
    }

    /* The same in shared memory, where most terms come here: in few steps, of which those of several terms need not wait for each other. False if the block may
     * not have all planes of the term: then nothing was added. */
    template <class T>
    __device__ __forceinline__ bool add_at_once(const Window &window, const Term &term, unsigned result) const {
        constexpr int DIGITS = (T::LENGTH + RD_CUDA_GROUPS_STEP_LEAST - 2) / RD_CUDA_GROUPS_STEP_LEAST + 1;
        const int step = window.step, place = window.place_in_rest(term),
                  plane = (int)(((float)place + 0.5f) * per_step), shift = place - plane * step;
        const unsigned own_plane = (unsigned)plane - first;
        const bool to_the_last = first + own_planes == below + all; /* above which no term has digits */
        if (own_plane >= own_planes || (!to_the_last && own_plane + DIGITS > own_planes))
            return false;
        const u64 mask = ((u64)1 << step) - 1;
        typename T::Whole whole = T::whole(term);
        u64 digit = (u64)(whole << shift) & mask;
        unsigned at = own_plane * own_results + (result - base);
        whole >>= step - shift;
#pragma unroll
        for (int d = 0; d < DIGITS; d++) {
            if (digit)
                add_own(at, digit, term.negative);
            digit = (u64)whole & mask;
            whole >>= step;
            at += own_results;
        }
        return true;
    }

    /* To memory. By the whole block, when it has added all. */
    __device__ __forceinline__ void flush_own(const rd_cuda_groups &groups) const {
        __syncthreads();
        for (unsigned i = threadIdx.x; has_own && i < words; i += GROUP_THREADS) {
            const unsigned *at = own(groups) + i;
            u64 sum = 0;
            for (unsigned copy = 0; copy < 1u << groups.rest_copies_log2; copy++, at += RD_CUDA_GROUPS_REST_COPY(words))
                sum += (u64)at[words] << 32 | at[0];
            const unsigned plane = i / own_results;
            add_word(planes + (u64)(plane + first - below) * results + (base + (i - plane * own_results)), sum, false);
        }
        __syncthreads();
    }
};

/* ---------------------------------------------------------------------------------------------------------------------
 * One term at a time
 * ------------------------------------------------------------------------------------------------------------------ */

/* What a term that the window does not hold will need; its number, for the list. Once that has no room, nobody asks where the others lie. */
__device__ __noinline__ void put_aside(const rd_cuda_groups &groups, const Term term, u64 number) {
    const rd_cuda_groups_grid &grid = groups.grid[0];
    const Window window(groups);
    const int place = window.place_in_rest(term);
    if (glance(&grid.header->aside) > grid.aside_room)
        return;
    const unsigned at = atomicAdd(&grid.header->aside, 1u);
    const bool listed = at < grid.aside_room;
    if (listed)
        grid.aside[at] = number;
    raise_to(&grid.header->low_below, UINT32_MAX - (unsigned)(listed ? place / window.step : 0));
    raise_to(&grid.header->high_above,
             listed ? (unsigned)((place + term.length() - 1) / window.step) + 1 : grid.rest_planes);
}

/* Whether a sum of terms that all are -0 is -0. */
__device__ __forceinline__ bool has_signed_zeros(const rd_cuda_groups &groups) {
    const unsigned transform = groups.call.transform;
    return transform == RD_IDENTITY || transform == RD_TIMES || (transform == RD_WEIGHTED && !groups.of_weights);
}

/* A term that takes more than the usual, straight to the planes. Returns whether the element counts. It is loaded once more, so that those who call
 * need not keep it in registers. */
template <class T> __device__ __noinline__ bool add_slowly(const rd_cuda_groups &groups, unsigned result, u64 number) {
    const typename T::Bits x = element_at<T>(groups.call.x, number),
                           y = groups.call.y ? element_at<T>(groups.call.y, number) : x;
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

} // namespace
