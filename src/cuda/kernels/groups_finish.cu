/* The beginning and the end of passes over groups, for all types of elements.
 *
 * groups_begin clears what must be zero, while a block of each scan of floats guesses where its window lies, and how many elements do not fit it.
 *
 * groups_finish rounds. Where something was put aside, which the headers say, it is added before, by all blocks of the launch. These must wait for
 * each other then, but no block waits for one that has not begun: a step's shares are claimed, by whichever blocks are there, and a block
 * that finds none left waits for those that claimed them, which run and wait for nobody. So it ends however many blocks a device holds
 * at once, and whatever else runs on it. */
#include "delivery.cuh"
#include "groups_terms.cuh"

namespace {

/* ---------------------------------------------------------------------------------------------------------------------
 * The window's place
 * ------------------------------------------------------------------------------------------------------------------ */

/* Elements of a sample, so many of them side by side, as they lie in memory; how far above its largest exponent the window ends, if there are
 * more. */
constexpr int SAMPLES = 16 * GROUP_THREADS, TOGETHER_LOG2 = 2, MARGIN = 1, MARGIN_PRODUCTS = 2;

/* Of neighbours, so many in a hundred must be of different buckets for results to be scattered. */
constexpr u64 APART_PERCENT = 50;

/* Whether two elements are of different buckets. */
__device__ __forceinline__ bool are_apart(const rd_cuda_groups &groups, u64 a, u64 b) {
    const unsigned result = result_of(groups, a), other = result_of(groups, b);
    return result != NOWHERE && other != NOWHERE && (result ^ other) >> groups.buckets.size_log2[0] != 0;
}

/* What a block has seen of its sample: where terms end, and the highest of these places; pairs that are apart; results that came before;
 * terms that are to be put aside, and those that take more than the usual. */
struct Seen {
    int16_t end[SAMPLES];
    int most;
    unsigned apart, again, aside, slow;
};
constexpr int16_t NO_END = INT16_MIN;

/* Where elements of a sample are: all, or some at places evenly apart. */
struct Places {
    unsigned samples, together_log2, places, left;
    u64 apart;

    __device__ __forceinline__ Places(u64 count, unsigned most)
        : samples((unsigned)min(count, (u64)most)), together_log2(samples < count ? TOGETHER_LOG2 : 0),
          places(samples >> together_log2), left(places ? (unsigned)(count % places) : 0),
          apart(places ? count / places : 0) {
    }
    /* The quotient and the remainder apart, as the product of both would not fit. */
    __device__ __forceinline__ u64 begin(unsigned place) const {
        return apart * place + left * place / places;
    }
    __device__ __forceinline__ u64 of(unsigned sample) const {
        return begin(sample >> together_log2) + (sample & ((1u << together_log2) - 1));
    }
};

/* Whether results lie scattered over their buckets, as pairs of neighbours at the sample's places say; and so that a table would find few of
 * them again, unless it is the cache that has no room. By a block, when it has counted what it has seen: marks of results take the room
 * of ends, bits of which each result has one that others may share. */
constexpr unsigned MARKS_LOG2 = 18;
__device__ __forceinline__ bool is_scattered(const rd_cuda_groups &groups, const Places &places, Seen &seen) {
    unsigned *const marks = reinterpret_cast<unsigned *>(seen.end), apart = 0, again = 0;
    static_assert(sizeof seen.end >= (1u << MARKS_LOG2) / 8, "marks have room");
    for (unsigned word = threadIdx.x; word < (1u << MARKS_LOG2) / 32; word += GROUP_THREADS)
        marks[word] = 0;
    __syncthreads();
    for (unsigned place = threadIdx.x; place < places.places; place += GROUP_THREADS) {
        const u64 at = places.begin(place);
        apart += are_apart(groups, at, at + 1 < groups.call.count ? at + 1 : at);
    }
    if (!groups.buckets.beyond_cache) {
        constexpr int OF_THREAD = SAMPLES / GROUP_THREADS; /* all on their way at once */
        unsigned result[OF_THREAD];
#pragma unroll
        for (int i = 0; i < OF_THREAD; i++) {
            const unsigned sample = i * GROUP_THREADS + threadIdx.x;
            result[i] = sample < places.samples ? result_of(groups, places.of(sample)) : NOWHERE;
        }
#pragma unroll
        for (int i = 0; i < OF_THREAD; i++) {
            const unsigned mark = result[i] * 2654435769u >> (32 - MARKS_LOG2);
            again += result[i] != NOWHERE && atomicOr(marks + mark / 32, 1u << mark % 32) >> mark % 32 & 1;
        }
    }
    if (apart)
        atomicAdd(&seen.apart, apart);
    if (again)
        atomicAdd(&seen.again, again);
    __syncthreads();
    return seen.apart * (u64)100 >= places.places * APART_PERCENT && seen.again * FOUND_LEAST < places.samples;
}

/* Of the sample, what a window that ends at `top` does not hold, and what the table does not take. Terms are taken to be as long as
 * they can be, but for bits below the lowest that any has. */
template <class T>
__device__ __forceinline__ void count_slow(unsigned samples, int top, int step, int least, Seen &seen) {
    const int lowest = top - step * T::WINDOW,
              quick = T::TABLED ? lowest + step * T::QUICK - below_planes<T>(step) : top;
    unsigned aside = 0, slow = 0;
    for (unsigned s = threadIdx.x; s < samples; s += GROUP_THREADS) {
        const int end = seen.end[s], begin = max(end - T::LENGTH, least);
        if (end == NO_END)
            continue;
        aside += end > top || begin < lowest;
        slow += end > top || begin < quick;
    }
    if (aside)
        atomicAdd(&seen.aside, aside);
    if (slow)
        atomicAdd(&seen.slow, slow);
    __syncthreads();
}

/* By a block, for a scan of floats. */
template <class T> __device__ __forceinline__ void guess_with(const rd_cuda_groups &groups, Seen &seen) {
    const rd_cuda_groups_grid &grid = groups.grid[0];
    const u64 count = groups.call.count;
    const Places places(count, SAMPLES);
    const unsigned samples = places.samples;
    if (threadIdx.x == 0) {
        seen.most = NO_END;
        seen.apart = seen.again = seen.aside = seen.slow = 0;
    }
    __syncthreads();
    int own = NO_END;
#pragma unroll 4
    for (unsigned s = threadIdx.x; s < samples; s += GROUP_THREADS) {
        const u64 at = places.of(s);
        const typename T::Bits x = element_at<T>(groups.call.x, at);
        const Term term = T::of(groups, x, groups.call.y ? element_at<T>(groups.call.y, at) : x);
        const bool counts = term.special == FINITE && !term.is_zero() && is_counted(groups, at);
        const int end = counts ? term.exponent + term.length() : NO_END;
        own = max(own, end);
        seen.end[s] = (int16_t)end;
    }
    if (own != NO_END)
        atomicMax(&seen.most, own);
    __syncthreads();
    const int step = (int)groups.step, window = step * T::WINDOW, most = seen.most;
    int top = most == NO_END ? 0 : most + (samples < count ? T::PRODUCTS ? MARGIN_PRODUCTS : MARGIN : 0);
    top = max(min(top, grid.highest), grid.lowest + window);
    count_slow<T>(samples, top, step, grid.lowest, seen);
    const bool overflows = seen.aside * count > (u64)grid.aside_room * samples,
               crowded =
                   groups.own_rest && seen.slow * count > (u64)RD_CUDA_GROUPS_SLOW_EACH * groups.results * samples,
               open = groups.rest_room >= groups.results && (overflows || crowded);
    const bool scattered =
        groups.buckets.counts && (open || !groups.buckets.only_open) && is_scattered(groups, places, seen);
    if (threadIdx.x != 0)
        return;
    grid.header->unit = top - window;
    grid.header->first = (top - window - grid.lowest + step - 1) / step;
    grid.header->scattered = scattered;
    if (open) {
        grid.header->open = 2 * seen.slow >= samples ? RD_CUDA_GROUPS_OPEN_TO_ALL : RD_CUDA_GROUPS_OPEN_TO_REST;
        grid.header->low_below = UINT32_MAX;
        grid.header->high_above = grid.rest_planes;
    }
}

__device__ __forceinline__ void guess(const rd_cuda_groups &groups) {
    __shared__ Seen room;
    Seen &seen = room;
    with_terms_of_floats(groups, [&](auto terms) { guess_with<decltype(terms)>(groups, seen); });
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What was put aside
 * ------------------------------------------------------------------------------------------------------------------ */

/* Which planes of the rest elements reached: from `low` to below `high`. */
struct Reach {
    int low, high;

    __device__ __forceinline__ explicit Reach(const rd_cuda_groups_grid &grid) : low(0), high(0) {
        if (grid.rest && grid.header->high_above) {
            low = (int)(UINT32_MAX - grid.header->low_below);
            high = (int)grid.header->high_above;
        }
    }
};

/* A block's share of the planes that are reached, of all scans. */
__device__ __forceinline__ void clear_share(const rd_cuda_groups_all &all, unsigned share, unsigned shares) {
    for (unsigned scan = 0; scan < all.scans; scan++) {
        const rd_cuda_groups &groups = all.of[scan][0];
        const Reach reach(groups.grid[0]);
        if (!groups.grid[0].header->open)
            clear_rest(groups, reach.low, reach.high, share, shares);
    }
}

/* Whether a scan of floats has something of which `says` is true. */
template <class Says> __device__ __forceinline__ bool any_scan(const rd_cuda_groups_all &all, Says says) {
    bool any = false;
    for (unsigned scan = 0; scan < all.scans; scan++) {
        const rd_cuda_groups_grid &grid = all.of[scan][0].grid[0];
        any = any || (grid.rest && says(*grid.header));
    }
    return any;
}

/* Whether some term was -0. */
__device__ __forceinline__ bool has_minus_zero(const rd_cuda_groups_all &all) {
    return any_scan(all, [](const rd_cuda_groups_header &header) { return header.minus_zero != 0; });
}

/* Whether something was put aside, of one scan; and of any, or might have to be looked at again. */
__device__ __forceinline__ bool is_put_aside(const rd_cuda_groups_header &header) {
    return header.high_above && !header.open;
}
__device__ __forceinline__ bool has_aside(const rd_cuda_groups_all &all) {
    return any_scan(all, [](const rd_cuda_groups_header &header) { return is_put_aside(header) || header.minus_zero; });
}

/* Whether a result has anything in the rest. */
__device__ __forceinline__ bool has_rest(const rd_cuda_groups &groups, const rd_cuda_groups_grid &grid, u64 result) {
    const Reach reach(grid);
    u64 any = 0;
#pragma unroll 4
    for (int k = reach.low; k < reach.high; k++)
        any |= grid.rest[k * groups.rest_room + (result - groups.rest_first)];
    return any != 0;
}

/* Of a block's share of the results in question, those that had a term of -0: what the planes hold of them, if it is anything, says that
 * they had others. */
__device__ __forceinline__ void doubt_share(const rd_cuda_groups_all &all, unsigned share, unsigned shares) {
    for (unsigned scan = 0; scan < all.scans; scan++) {
        const rd_cuda_groups &groups = all.of[scan][0];
        const rd_cuda_groups_grid &grid = groups.grid[0];
        const u64 end = min(groups.results, groups.rest_first + groups.rest_room), step = (u64)shares * blockDim.x;
        if (!grid.header->minus_zero)
            continue;
        for (u64 result = groups.rest_first + (u64)share * blockDim.x + threadIdx.x; result < end; result += step) {
            const unsigned notes = glance(groups.notes + result);
            if ((notes & (RD_CUDA_GROUPS_MINUS_ZERO | RD_CUDA_GROUPS_OTHER)) != RD_CUDA_GROUPS_MINUS_ZERO)
                continue;
            bool other = grid.header->open && has_rest(groups, grid, result);
            for (unsigned k = 0; k < grid.window_planes; k++)
                other = other || grid.window[k * groups.results + result] != 0;
            if (other)
                set_note(groups, (unsigned)result, RD_CUDA_GROUPS_OTHER);
            else
                raise_to(&grid.header->doubtful, 1);
        }
    }
}

/* An element of a number: of those that were moved, if it is `moved`. */
template <class T>
__device__ __forceinline__ void take_aside(const rd_cuda_groups &groups, const Window &window, bool doubtful,
                                           bool moved, u64 number) {
    const unsigned result = moved ? groups.buckets.result[number] : result_of(groups, number);
    if (result == NOWHERE || result - groups.rest_first >= groups.rest_room)
        return;
    const void *const x_array = moved ? groups.buckets.moved[0] : groups.call.x, *const y_array =
                                                                                     moved && groups.call.y
                                                                                         ? groups.buckets.moved[1]
                                                                                         : groups.call.y;
    const typename T::Bits x = element_at<T>(x_array, number);
    const Term term = T::of(groups, x, y_array ? element_at<T>(y_array, number) : x);
    const bool zero = term.special == FINITE && term.is_zero();
    if (doubtful && !(zero && term.negative) && glance(groups.notes + result) & RD_CUDA_GROUPS_MINUS_ZERO &&
        !groups.of_weights && !(term.special == NO_NUMBER && groups.call.nan == REDUCT_NAN_IGNORE))
        set_note(groups, result, RD_CUDA_GROUPS_OTHER);
    if (term.special != FINITE || zero || window.open || window.holds(term, T::WINDOW))
        return;
    for_digits<T>(T::whole(term), window.place_in_rest(term), window.step, 1.0f / (float)window.step,
                  [&](int plane, u64 digit) {
                      add_word(groups.grid[0].rest + plane * groups.rest_room + (result - groups.rest_first), digit,
                               term.negative);
                  });
}

/* A block's share of the elements in question, of one scan. */
template <class T>
__device__ __forceinline__ void fill_with(const rd_cuda_groups &groups, unsigned share, unsigned shares) {
    const rd_cuda_groups_grid &grid = groups.grid[0];
    const unsigned aside = grid.header->aside;
    const bool doubtful = glance(&grid.header->doubtful) != 0, all = doubtful || aside > grid.aside_room,
               moved = !all && are_moved(groups);
    const Window window(groups);
    const u64 count = all ? groups.call.count : window.open ? 0 : aside, step = (u64)shares * blockDim.x;
    for (u64 i = (u64)share * blockDim.x + threadIdx.x; i < count; i += step)
        take_aside<T>(groups, window, doubtful, moved, all ? i : grid.aside[i]);
}

/* The same of all scans. */
__device__ __noinline__ void fill_share(const rd_cuda_groups_all &all, unsigned share, unsigned shares) {
    for (unsigned scan = 0; scan < all.scans; scan++)
        for (unsigned initial = 0; initial <= all.with_initial; initial++) {
            const rd_cuda_groups &groups = all.of[scan][initial];
            with_terms_of_floats(groups, [&](auto terms) { fill_with<decltype(terms)>(groups, share, shares); });
        }
}

/* Fills the rest of the planes for the results in question, and finds out which of these are -0. By all blocks of a launch. */
__device__ __noinline__ void fill_rest(const rd_cuda_groups_all &all) {
    __shared__ u64 claimed;
    rd_cuda_groups_header &header = *all.of[0][0].grid[0].header;
    if (has_minus_zero(all))
        share_out(header, RD_CUDA_GROUPS_DOUBT, claimed,
                  [&](unsigned share, unsigned shares) { doubt_share(all, share, shares); });
    if (any_scan(all, [](const rd_cuda_groups_header &of) { return is_put_aside(of) || glance(&of.doubtful); })) {
        share_out(header, RD_CUDA_GROUPS_CLEAR, claimed,
                  [&](unsigned share, unsigned shares) { clear_share(all, share, shares); });
        share_out(header, RD_CUDA_GROUPS_FILL, claimed,
                  [&](unsigned share, unsigned shares) { fill_share(all, share, shares); });
    }
    if (threadIdx.x == 0 && take_ticket(&header.left, 1) == gridDim.x) { /* nobody looks at these any more */
        for (int step = 0; step < RD_CUDA_GROUPS_STEPS; step++)
            header.claimed[step] = header.done[step] = 0;
        for (unsigned scan = 0; scan < all.scans; scan++)
            all.of[scan][0].grid[0].header->doubtful = 0;
        header.left = 0;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Rounding
 * ------------------------------------------------------------------------------------------------------------------ */

/* Threads of a block that rounds: few, as each warp has room for sums of any size. */
constexpr int ROUNDING_THREADS = RD_CUDA_GROUPS_ROUNDING, ROUNDING_WARPS = ROUNDING_THREADS / 32;

/* Blocks that a multiprocessor shall hold, for the compiler to take the registers that rounding needs. */
constexpr int ROUNDING_RESIDENT = 6;

constexpr unsigned FINISHES = FINISHES_OF<RD_IDENTITY, RD_ADD> | FINISHES_OF<RD_SQUARE, RD_ADD>,
                   MOMENT_FINISHES = FINISHES_OF<RD_MOMENTS, RD_ADD>;

/* What a kernel finishes: weighted means have one of their own. */
enum Finished { SUMS, WEIGHTED_MEANS };

/* Adds to an integer of W words in two's complement. */
template <int W> __device__ __forceinline__ void add_small(u64 (&word)[W], i64 value) {
    const u64 above = (u64)(value >> 63);
    unsigned __int128 sum = (u64)value;
#pragma unroll
    for (int w = 0; w < W; w++) {
        sum += word[w];
        word[w] = (u64)sum;
        sum = (sum >> 64) + above;
    }
}

/* A result's window as an integer of W words in two's complement; at most 63 bits more than its planes have. */
template <int W>
__device__ __forceinline__ void gather(const rd_cuda_groups &groups, const rd_cuda_groups_grid &grid, u64 result,
                                       u64 (&word)[W]) {
#pragma unroll
    for (int w = 0; w < W; w++)
        word[w] = 0;
    for (int k = (int)grid.window_planes - 1; k >= 0; k--) {
        const i64 digit = (i64)grid.window[k * groups.results + result];
        unsigned __int128 sum = (u64)digit;
        const u64 above = (u64)(digit >> 63);
        const int step = (int)groups.step;
        u64 lower = 0;
#pragma unroll
        for (int w = 0; w < W; w++) {
            const u64 shifted = word[w] << step | lower >> (64 - step);
            lower = word[w];
            sum += shifted;
            word[w] = (u64)sum;
            sum = (sum >> 64) + (w + 1 < W ? above : 0);
        }
    }
}

/* What the window and the rest hold together of a plane: as much as if either held it all. */
__device__ __forceinline__ i64 digit_at(const rd_cuda_groups &groups, const rd_cuda_groups_grid &grid,
                                        const Reach &reach, int plane, u64 result) {
    const int own = plane - grid.header->first;
    u64 digit = own >= 0 && own < (int)grid.window_planes ? grid.window[own * groups.results + result] : 0;
    if (plane >= reach.low && plane < reach.high)
        digit += grid.rest[plane * groups.rest_room + (result - groups.rest_first)];
    return (i64)digit;
}

/* A result's planes as an integer of W words in two's complement, times 2^unit, to which a positive part of 1 is to be added if there is
 * `more`; then it has at least 64 * (W - 1) + 20 bits. */
template <int W>
__device__ __noinline__ void gather_planes(const rd_cuda_groups &groups, const rd_cuda_groups_grid &grid, u64 result,
                                           u64 (&word)[W], int &unit, bool &more) {
    const Reach reach(grid);
    const int first = grid.header->first, step = (int)groups.step, spare = 61 - step;
    const u64 mask = ((u64)1 << step) - 1;
    const int end = max(reach.high, first + (int)grid.window_planes);
    int low = end, plane = end - 1;
#pragma unroll 4
    for (int k = min(reach.low, first); k < end; k++)
        if (digit_at(groups, grid, reach, k, result) != 0) {
            low = min(low, k);
            plane = k;
        }
#pragma unroll
    for (int w = 0; w < W; w++)
        word[w] = 0;
    for (; plane >= low; plane--) {
        const i64 top = (i64)word[W - 1] >> spare;
        if (top != 0 && top != -1)
            break;
        shift_words(word, step);
        add_small(word, digit_at(groups, grid, reach, plane, result));
    }
    /* What is carried from the planes below is less than the number of elements. */
    i64 carry = 0;
    more = false;
#pragma unroll 4
    for (int below = low; below <= plane; below++) {
        const i64 digit = digit_at(groups, grid, reach, below, result) + carry;
        more = more || (digit & (i64)mask) != 0;
        carry = digit >> step;
    }
    add_small(word, carry);
    unit = grid.header->unit + (plane + 1 - first) * step;
}

/* The same, by the shorter way where the window holds it all. What a function that is no kernel's own writes lies in memory: the longer way has
 * words of its own, so that those of the shorter one stay in registers. */
template <int W>
__device__ __forceinline__ void gather_all(const rd_cuda_groups &groups, const rd_cuda_groups_grid &grid, u64 result,
                                           u64 (&word)[W], int &unit, bool &more) {
    if (has_rest(groups, grid, result)) {
        u64 own[W];
        int own_unit;
        bool own_more;
        gather_planes(groups, grid, result, own, own_unit, own_more);
#pragma unroll
        for (int w = 0; w < W; w++)
            word[w] = own[w];
        unit = own_unit;
        more = own_more;
        return;
    }
    gather(groups, grid, result, word);
    unit = grid.header->unit;
    more = false;
}

/* The whole of a result's grid as a sum in limbs. */
__device__ __noinline__ void gather_limbs(const rd_cuda_groups &groups, const rd_cuda_groups_grid &grid, u64 result,
                                          struct rd_sum &sum) {
    const Reach reach(grid);
    const int unit = grid.header->unit, step = (int)groups.step, base = unit - grid.header->first * step;
    sum.first = grid.lowest >= 0 ? 0 : -((31 - grid.lowest) / 32);
    sum.length = min((grid.highest + 64 - 32 * sum.first) / 32 + 3, (int)RD_LIMBS);
    sum.pending = 0;
    for (int i = 0; i < sum.length; i++)
        sum.limb[i] = 0;
    for (int k = 0; k < (int)grid.window_planes; k++)
        rd_sum_add(&sum, (i64)grid.window[k * groups.results + result], unit + k * step);
    for (int k = reach.low; k < reach.high; k++)
        rd_sum_add(&sum, (i64)grid.rest[k * groups.rest_room + (result - groups.rest_first)], base + k * step);
}

__device__ __forceinline__ u64 nan_bits(const rd_cuda_call &call) {
    const struct rd_type type = result_type(call);
    return rd_nan_bits(&type);
}

__device__ __forceinline__ bool is_minus_zero(unsigned notes) {
    return (notes & (RD_CUDA_GROUPS_MINUS_ZERO | RD_CUDA_GROUPS_OTHER)) == RD_CUDA_GROUPS_MINUS_ZERO;
}

/* A sum of floats that is not finite; false if it is. */
__device__ __forceinline__ bool round_special(const rd_cuda_call &call, unsigned notes, u64 &bits) {
    const unsigned infinities = notes & (RD_CUDA_GROUPS_PLUS | RD_CUDA_GROUPS_MINUS);
    const bool both = infinities == (RD_CUDA_GROUPS_PLUS | RD_CUDA_GROUPS_MINUS);
    if (notes & RD_CUDA_GROUPS_NAN || both || (infinities && call.transform == RD_MOMENTS)) {
        bits = nan_bits(call);
        return true;
    }
    bits = (u64)(2 * call.result_max_exponent + 1) << (call.result_precision - 1);
    if (infinities == RD_CUDA_GROUPS_MINUS)
        bits |= (u64)1 << (8 * call.result_bytes - 1);
    return infinities != 0;
}

/* A sum of floats, or what is made of two, from few words. False where those do not hold the two. Of one they hold as much as decides how it
 * is rounded, as do its quotient by a count and the root of that: where these might be rounded either way there would be an integer of at
 * most 2 * 54 + 37 bits times a power of two, which is none of those between the integer of 212 bits and more and the next one. */
__device__ __forceinline__ bool round_few(const rd_cuda_groups &groups, const rd_cuda_call &own, u64 result,
                                          bool negative_zero, u64 &bits) {
    const rd_cuda_groups_grid *grid = groups.grid;
    int unit, squares_unit;
    bool more, more_squares;
    if (own.transform != RD_MOMENTS) {
        u64 word[4];
        gather_all(groups, grid[0], result, word, unit, more);
        if (more) {
            shift_words(word, 1);
            word[0] |= 1;
            unit--;
        }
        bits = round_words<FINISHES>(word, unit, own, negative_zero);
        return true;
    }
    u64 sum[3], squares[4];
    gather_all(groups, grid[0], result, sum, unit, more);
    gather_all(groups, grid[1], result, squares, squares_unit, more_squares);
    return !more && !more_squares && round_moments<MOMENT_FINISHES>(sum, unit, squares, squares_unit, own, bits);
}

/* Shifts a number other than zero to the left until its highest bit is set; returns how far. */
__device__ __forceinline__ int align(u64 (&word)[4]) {
    int shift = 0;
    for (; word[3] == 0; shift += 64)
        shift_words(word, 64);
    const int zeros = __clzll((i64)word[3]);
    shift_words(word, zeros);
    return shift + zeros;
}

/* Rounds the quotient of two numbers other than zero, times 2^exponent: as many bits as rounding needs, one after another, and whether
 * there are more. */
__device__ __forceinline__ u64 round_quotient(u64 (&rest)[4], u64 (&divisor)[4], int exponent, u64 sign,
                                              const rd_cuda_call &call) {
    constexpr int BITS = 66;
    unsigned __int128 quotient = 0;
    bool carry = false;
    exponent -= align(rest);
    exponent += align(divisor);
#pragma unroll 1
    for (int i = 0; i < BITS; i++) {
        u64 less[4];
        bool borrow = false;
#pragma unroll
        for (int w = 0; w < 4; w++) {
            less[w] = rest[w] - divisor[w] - borrow;
            borrow = rest[w] < divisor[w] || (rest[w] == divisor[w] && borrow);
        }
        const bool fits = carry || !borrow;
        quotient = quotient << 1 | fits;
#pragma unroll
        for (int w = 0; w < 4; w++)
            rest[w] = fits ? less[w] : rest[w];
        carry = rest[3] >> 63;
        shift_words(rest, 1);
    }
    quotient <<= 128 - BITS;
    Leading leading = {{0, (u64)quotient, (u64)(quotient >> 64)},
                       exponent - (BITS - 1) - (128 - BITS) - 64,
                       carry || (rest[0] | rest[1] | rest[2] | rest[3]) != 0};
    leading.shift(__clzll((i64)leading.word[2]));
    return round_leading(leading, sign, call);
}

/* The same as rd_finish_quotient(), of sums in few words. False where those do not hold them. */
__device__ __forceinline__ bool round_weighted(const rd_cuda_groups &groups, const rd_cuda_call &own, u64 result,
                                               unsigned notes, u64 &bits) {
    const rd_cuda_groups_grid *grid = groups.grid;
    const bool plus = notes & RD_CUDA_GROUPS_PLUS, minus = notes & RD_CUDA_GROUPS_MINUS, infinite = plus || minus;
    u64 weights[4], products[4];
    bits = nan_bits(own);
    if (notes & RD_CUDA_GROUPS_NAN || (plus && minus))
        return true;
    int units[2];
    bool more[2];
    gather_all(groups, grid[0], result, weights, units[0], more[0]);
    gather_all(groups, grid[1], result, products, units[1], more[1]);
    if (more[0] || more[1])
        return false;
    const bool over_negative = take_magnitude(weights), negative = infinite ? minus : take_magnitude(products),
               no_weights = (weights[0] | weights[1] | weights[2] | weights[3]) == 0,
               no_products = !infinite && (products[0] | products[1] | products[2] | products[3]) == 0;
    const u64 minus_sign = (u64)1 << (8 * own.result_bytes - 1), sign = negative != over_negative ? minus_sign : 0;
    if (no_products && no_weights)
        return true;
    if (no_products)
        bits = own.is_float && !is_minus_zero(notes) == over_negative ? minus_sign : 0;
    else if (infinite || no_weights)
        bits = sign | (u64)(2 * own.result_max_exponent + 1) << (own.result_precision - 1);
    else
        bits = round_quotient(products, weights, units[1] - units[0], sign, own);
    return true;
}

/* What is made of two sums, in limbs. */
__device__ __noinline__ u64 round_all(const rd_cuda_groups &groups, const rd_cuda_call &own, u64 result,
                                      FinishRoom &room) {
    const struct rd_type type = result_type(own);
    struct rd_total total = {};
    gather_limbs(groups, groups.grid[0], result, room.sum);
    gather_limbs(groups, groups.grid[1], result, room.squares);
    total.transform = (enum rd_transform)own.transform;
    total.finish = (enum rd_finish)own.finish;
    total.population = own.population;
    total.is_float = own.is_float;
    total.count = own.count;
    total.sum = &room.sum;
    total.squares = &room.squares;
    total.room = &room.big;
    return rd_finish_moments(&total, &type);
}

/* The same of a weighted mean. */
__device__ __noinline__ u64 round_all_weighted(const rd_cuda_groups &groups, const rd_cuda_call &own, u64 result,
                                               unsigned notes, FinishRoom &room) {
    const struct rd_type type = result_type(own);
    struct rd_total total = {};
    gather_limbs(groups, groups.grid[0], result, room.sum);
    gather_limbs(groups, groups.grid[1], result, room.squares);
    total.is_float = own.is_float;
    total.nonzero = !is_minus_zero(notes);
    total.plus_infinities = (notes & RD_CUDA_GROUPS_PLUS) != 0;
    total.minus_infinities = (notes & RD_CUDA_GROUPS_MINUS) != 0;
    total.sum = &room.sum;
    total.squares = &room.squares;
    total.room = &room.big;
    return rd_finish_quotient(&total, &type);
}

/* A sum of integers. */
__device__ __forceinline__ unsigned round_integers(const rd_cuda_groups &groups, const rd_cuda_call &own, u64 result,
                                                   uint64_t (&word)[4]) {
    if (own.transform == RD_MOMENTS) {
        u64 sum[3], squares[4], bits = 0;
        gather(groups, groups.grid[0], result, sum);
        gather(groups, groups.grid[1], result, squares);
        round_moments<MOMENT_FINISHES>(sum, 0, squares, 0, own, bits);
        word[0] = bits;
        return REDUCT_OK;
    }
    u64 sum[4];
    gather(groups, groups.grid[0], result, sum);
    if (own.result_class == RD_FLOAT)
        word[0] = round_words<FINISHES>(sum, 0, own, false);
    else if (!to_result(sum, own, word) && !own.wrap)
        return REDUCT_ERROR_OVERFLOW;
    return REDUCT_OK;
}

/* One result, but for those that few words do not hold. */
struct Rounded {
    uint64_t word[4];
    unsigned status;
    u64 nan_index;
    bool alone; /* it is to be rounded in limbs */
};

template <Finished FINISHED>
__device__ __forceinline__ Rounded round_one(const rd_cuda_groups &groups, rd_cuda_call &own, u64 result,
                                             unsigned notes) {
    Rounded rounded = {{0, 0, 0, 0}, REDUCT_OK, UINT64_MAX, false};
    const u64 nan_below = groups.nan_below ? groups.nan_below[result] : 0;
    own.count = groups.counted ? groups.counted[result] : 1;
    if (own.count < own.minimum)
        rounded.status = REDUCT_ERROR_EMPTY;
    else if (nan_below)
        rounded.status = REDUCT_ERROR_NAN;
    if (rounded.status != REDUCT_OK) {
        rounded.nan_index = nan_index_of(nan_below);
        return rounded;
    }
    u64 bits;
    if constexpr (FINISHED == WEIGHTED_MEANS) {
        rounded.alone = !round_weighted(groups, own, result, notes, bits);
        rounded.word[0] = bits;
    } else if (!own.is_float) {
        rounded.status = round_integers(groups, own, result, rounded.word);
    } else {
        if (!round_special(own, notes, bits) && !round_few(groups, own, result, is_minus_zero(notes), bits))
            rounded.alone = true;
        rounded.word[0] = bits;
    }
    return rounded;
}

/* Whether results usually are sums of what windows of a few planes hold, and nothing else. */
__device__ __forceinline__ bool are_plain_sums(const rd_cuda_groups &groups) {
    const Reach reach(groups.grid[0]);
    return groups.call.is_float && groups.call.transform != RD_MOMENTS && groups.call.finish == RD_VALUE &&
           !groups.counted && !groups.nan_below && groups.grid[0].window_planes <= 3 && reach.low >= reach.high;
}

/* Such a result, of which nothing was noted, in few steps; false if it is none of the usual. */
__device__ __forceinline__ bool round_plainly(const rd_cuda_groups &groups, u64 result, u64 &bits) {
    const rd_cuda_groups_grid &grid = groups.grid[0];
    const int step = (int)groups.step;
    const i64 low = (i64)grid.window[result], middle = (i64)grid.window[groups.results + result],
              high = grid.window_planes > 2 ? (i64)grid.window[2 * groups.results + result] : 0;
    __int128 upper = ((__int128)high << step) + middle + (low >> step);
    u64 rest = low & (((u64)1 << step) - 1);
    int exponent = grid.header->unit + step;
    if (upper == (i64)upper) { /* with all that there is: at most 103 bits, of which 64 and more are wanted */
        upper = (upper << step) + (i64)rest;
        exponent -= step;
        rest = 0;
        if (upper == (i64)upper) {
            upper <<= 63;
            exponent -= 63;
        }
    }
    bits = 0;
    return upper == 0 || round_upper(upper, rest != 0, exponent, groups.call, bits);
}

/* Writes a result and what became of it. */
__device__ __forceinline__ void put(const rd_cuda_groups &groups, Rounded &rounded, u64 result) {
    const rd_cuda_call &call = groups.call;
    if (rounded.status != REDUCT_OK) {
        rounded.word[0] = call.result_class == RD_FLOAT ? nan_bits(call) : 0;
        rounded.word[1] = rounded.word[2] = rounded.word[3] = 0;
    }
    store_result(static_cast<unsigned char *>(call.result) + result * call.result_bytes, rounded.word,
                 call.result_bytes);
    tell_of(groups, result, rounded.status, rounded.nan_index);
}

/* One after the other of those that are to be rounded alone, in the room of their warp. By whole warps. */
template <Finished FINISHED>
__device__ __forceinline__ void round_alone(const rd_cuda_groups &groups, const rd_cuda_call &own, u64 result,
                                            unsigned notes, Rounded &rounded, FinishRoom &room) {
    for (unsigned left = __ballot_sync(ALL, rounded.alone); left; left &= left - 1) {
        if (lane_index() == __ffs((int)left) - 1) {
            rounded.word[0] = FINISHED == WEIGHTED_MEANS ? round_all_weighted(groups, own, result, notes, room)
                                                         : round_all(groups, own, result, room);
            put(groups, rounded, result);
        }
        __syncwarp();
    }
}

template <Finished FINISHED> __device__ __forceinline__ void finish(const rd_cuda_groups_all &all) {
    __shared__ FinishRoom rooms[ROUNDING_WARPS];
    const rd_cuda_groups &groups = all.of[0][0];
    wait_for_previous();
    let_next_come();
    if (is_refused(groups))
        return;
    if (has_aside(all))
        fill_rest(all);
    const u64 end = min(groups.results, groups.rest_first + groups.rest_room), step = (u64)gridDim.x * ROUNDING_THREADS;
    const bool plain = FINISHED == SUMS && are_plain_sums(groups);
    for (u64 first = groups.rest_first + (u64)blockIdx.x * ROUNDING_THREADS; first < end; first += step) {
        const u64 result = first + threadIdx.x;
        const unsigned notes = result < end && groups.call.is_float ? groups.notes[result] : 0;
        u64 bits = 0;
        const bool done = plain && result < end && notes == 0 && round_plainly(groups, result, bits);
        if (done) {
            const uint64_t word = bits;
            store_result(static_cast<unsigned char *>(groups.call.result) + result * groups.call.result_bytes, &word,
                         groups.call.result_bytes);
            tell_of(groups, result, REDUCT_OK, UINT64_MAX);
        }
        if (__all_sync(ALL, done || result >= end))
            continue;
        Rounded rounded;
        rounded.alone = false;
        rd_cuda_call own = groups.call;
        if (result < end && !done) {
            rounded = round_one<FINISHED>(groups, own, result, notes);
            if (!rounded.alone)
                put(groups, rounded, result);
        }
        round_alone<FINISHED>(groups, own, result, notes, rounded, rooms[warp_index()]);
    }
}

} // namespace

/* The first blocks have a scan each. */
extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_THREADS, 1)
    groups_begin(const __grid_constant__ rd_cuda_groups_all all) {
    constexpr unsigned HEADER = RD_CUDA_GROUPS_HEADER_BYTES / sizeof(uint4);
    const rd_cuda_groups &first = all.of[0][0];
    wait_for_previous();
    let_next_come();
    if (blockIdx.x >= all.scans) {
        clear_zeros(first, all.scans * HEADER, first.zero_vectors, blockIdx.x - all.scans, gridDim.x - all.scans);
        return;
    }
    const rd_cuda_groups &groups = all.of[blockIdx.x][first.call.count == 0 && all.with_initial];
    clear_zeros(first, blockIdx.x * HEADER, (blockIdx.x + 1) * HEADER, 0, 1);
    __syncthreads();
    if (groups.grid[0].rest)
        guess(groups);
}

extern "C" __global__ void __launch_bounds__(ROUNDING_THREADS, ROUNDING_RESIDENT)
    groups_finish(const __grid_constant__ rd_cuda_groups_all all) {
    finish<SUMS>(all);
}

extern "C" __global__ void __launch_bounds__(ROUNDING_THREADS, ROUNDING_RESIDENT)
    groups_finish_weighted(const __grid_constant__ rd_cuda_groups_all all) {
    finish<WEIGHTED_MEANS>(all);
}

/* The rest of the planes alone, where these are fetched. */
extern "C" __global__ void __launch_bounds__(ROUNDING_THREADS)
    groups_rest(const __grid_constant__ rd_cuda_groups_all all) {
    if (has_aside(all))
        fill_rest(all);
}
