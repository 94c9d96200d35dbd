/* Exact sums by groups: elements in any order, added by atomic operations on integers, which may come in any order too.
 *
 * Overview. A term is a significand times a power of two. A grid of planes (groups.h) cuts it into digits of `step` bits, by shifts, and
 * each digit is added to its plane's word of the result. The grid is laid so that its window ends above the largest exponents of a
 * sample: most terms then have one digit (f32) or two (f64). What does not fit the window, beyond the sample or far below it, is put aside:
 * its number goes to a list, and a later launch adds it to the rest of the planes. Where the sample says that the list would overflow, the
 * rest of the planes is open from the beginning, and such terms go there at once: in shared memory, if it has room for all planes of all
 * results. If the list overflows although the sample did not say so, the later launch looks at every element again. So the guess decides how
 * long it takes, never what comes out.
 *
 * Phases.
 *   1. groups_begin: one block takes a sample, and says where the window lies, whether the rest of the planes is open, and whether results
 *      come scattered. Others clear memory meanwhile.
 *   2. groups_add: warps take tiles of 128 elements. Where many lanes go on with the result of the lane before, as in sorted indices, runs
 *      of one result are added up first: what a warp's elements come to up to a run's end, less the same up to the end before. What remains goes to a table in shared memory, where results have slots as they come, or, if
 *      there are few of them, slots of their own, one for each lane if there is room, so that lanes do not wait for each other: digits in
 *      two words of 32 bits, as shared memory adds these fast. Results without a slot go to the planes. A warp that finds few of its
 *      results in the table leaves it alone. Where there are more results than a table has room for, and they come in no order, elements may have
 *      been moved to buckets before (groups_buckets.cu): then groups_moved has a table for each.
 *   3. groups_finish (groups_finish.cu): what was put aside, if anything was; then each result is rounded.
 *
 * Each phase has a launch, the second one for each scan, and one more where there are initial values; blocks of a launch come while the one
 * before ends.
 *
 * Bounds. Fewer than 2^(63 - step) terms of a group keep a plane's word within 63 bits, and so the two words of a slot. Where there is one digit it
 * has more bits in a slot than a plane has (RD_CUDA_GROUPS_TABLE_BITS), as a table is emptied before more is added to it than these
 * allow. Whether the lower one was carried over is known from what an atomic addition found there: each addition carries its own to the upper one.
 *
 * Tables (state/table.h) take the planes as they are, and count what is special in a pass of its own, groups_special, which looks at
 * indices only of what it finds.
 *
 * Zeros. A sum of zero is -0 if no term was other than -0. That a -0 came is noted. Others did where the planes hold anything; where
 * they do not, that is found out by looking at all elements once more, only then. */
#pragma once

#include "groups_terms.cuh"

namespace {

/* ---------------------------------------------------------------------------------------------------------------------
 * Adding
 * ------------------------------------------------------------------------------------------------------------------ */

/* How many elements each of a lane's digits is made of: a byte for each, as a warp has at most 128. Of one each. */
static_assert(32 * RD_CUDA_GROUPS_EACH(1, false) < 256, "a byte counts them");
constexpr unsigned ONE_EACH = 0x01010101;
__device__ __forceinline__ unsigned count_of(unsigned counts, int i) {
    return counts >> 8 * i & 0xff;
}

/* What slots have, beside an owner: a word for each piece of each digit, and one for counts. */
template <class T> struct Table : Slots {
    static constexpr int COUNTS = RD_CUDA_GROUPS_PIECES * T::TABLED;

    __device__ __forceinline__ Table(const rd_cuda_groups &g, unsigned *room, unsigned first_result)
        : Slots(g, room, first_result) {
    }
    __device__ __forceinline__ void open() const {
        Slots::open(COUNTS + (groups.counted != nullptr));
    }

    /* Adds to both words of each digit; what is carried over follows from what was there before. Without branches: whatever comes from no
     * element is zero. */
    template <int EACH>
    __device__ __forceinline__ void add(const unsigned (&slot)[EACH],
                                        const i64 (&digit)[EACH][T::TABLED ? T::TABLED : 1], unsigned counts) const {
        unsigned before[EACH];
#pragma unroll
        for (int d = 0; d < T::TABLED; d++) {
            unsigned *const low = array(RD_CUDA_GROUPS_PIECES * d), *const high = low + slots;
#pragma unroll
            for (int i = 0; i < EACH; i++)
                before[i] = atomicAdd(low + slot[i], (unsigned)digit[i][d]);
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                const unsigned own = (unsigned)digit[i][d],
                               upper = (unsigned)(digit[i][d] >> 32) + (before[i] + own < own);
                if (upper)
                    atomicAdd(high + slot[i], upper);
            }
        }
        if (groups.counted) {
#pragma unroll
            for (int i = 0; i < EACH; i++)
                if (count_of(counts, i))
                    atomicAdd(array(COUNTS) + slot[i], count_of(counts, i));
        }
    }

    /* All that slots hold, to the planes. By the whole block. (As a function that is called it takes no registers from the tiles' loop.) */
    __device__ __noinline__ void flush() const {
        __syncthreads();
        const bool own = (lane_index() & ((1 << groups.copies_log2) - 1)) == 0;
        for (unsigned slot = threadIdx.x; slot < slots; slot += GROUP_THREADS) {
            const unsigned result = owner_of(slot);
#pragma unroll
            for (int d = 0; d < T::TABLED; d++) {
                unsigned *at = array(RD_CUDA_GROUPS_PIECES * d) + slot;
                const u64 sum = add_copies((u64)at[slots] << 32 | at[0]);
                at[0] = at[slots] = 0;
                if (own && result < groups.results)
                    for_parts<T>((i64)sum, d, (int)groups.step, [&](int plane, u64 part) {
                        atomicAdd(reinterpret_cast<u64 *>(groups.grid[0].window + plane * groups.results + result),
                                  part);
                    });
            }
            if (groups.counted) {
                const u64 count = add_copies(array(COUNTS)[slot]);
                array(COUNTS)[slot] = 0;
                if (count && own && result < groups.results)
                    atomicAdd(reinterpret_cast<u64 *>(groups.counted + result), count);
            }
        }
        __syncthreads();
    }
    /* Those of one result, which lanes side by side have. Of copies there are as many as a warp has lanes, or whole warps of slots. */
    __device__ __forceinline__ u64 add_copies(u64 word) const {
        for (int by = 1; by < 1 << groups.copies_log2; by *= 2)
            word += __shfl_xor_sync(ALL, word, by);
        return word;
    }
};

/* Lanes of a warp that go on with the result of the lane before, from which on runs of one result are added up: fewer have too many runs, the more so
 * where each result has a slot, which runs are not much better than. */
__device__ __forceinline__ int joins_least(const rd_cuda_groups &groups) {
    return groups.direct ? 22 : 12;
}

/* What a tile's digits add up to lies below bit 50, so that their number may lie from COUNT_PLACE on. */
constexpr int COUNT_PLACE = 52;
static_assert((i64)32 * RD_CUDA_GROUPS_EACH(1, false) << RD_CUDA_GROUPS_TABLE_BITS <= (i64)1 << (COUNT_PLACE - 2),
              "a sum of digits has room for their number");

/* Where terms go: to the table, and what it does not take to the window's planes; or that to the rest of the planes, as it is open; or all to planes
 * of the window that the block has, as there is no table. */
enum Way { BY_TABLE, OPENLY, BY_OWN_WINDOW };
template <class T> constexpr Way USUAL_WAY = T::TABLED ? BY_TABLE : BY_OWN_WINDOW;
struct NoPlanes {};

/* Number i of a lane's terms, that takes more than the usual. Returns whether the element counts. */
template <class T, Way WAY, class Planes, class Loaded>
__device__ __forceinline__ bool add_another(const rd_cuda_groups &groups, const Window &window, const Planes &planes,
                                            const Loaded &loaded, unsigned of, int i, u64 number) {
    if constexpr (WAY == OPENLY) {
        const typename T::Bits x = loaded.x[i];
        const Term term = T::of(groups, x, T::PRODUCTS && groups.call.y ? loaded.y[i] : x);
        if (term.special == FINITE && !term.is_zero()) {
            planes.template add<T>(window, term, of);
            return true;
        }
    }
    return add_slowly<T>(groups, of, number);
}

/* Where terms go to planes one by one, as most do: all. Returns which elements do not count, as bits. */
template <class T, Way WAY, class Loaded>
__device__ __forceinline__ unsigned take_one_by_one(const rd_cuda_groups &groups, const Window &window,
                                                    const OwnPlanes &planes, const Loaded &loaded,
                                                    const unsigned (&of)[T::EACH], u64 first) {
    unsigned slow = 0, ignored = 0;
#pragma unroll
    for (int i = 0; i < T::EACH; i++) {
        const typename T::Bits x = loaded.x[i];
        const Term term = T::of(groups, x, T::PRODUCTS && groups.call.y ? loaded.y[i] : x);
        const bool usual =
            term.special == FINITE && !term.is_zero() && (WAY == OPENLY || window.holds(term, T::WINDOW));
        slow |= (unsigned)(of[i] != NOWHERE && !(usual && planes.template add_at_once<T>(window, term, of[i]))) << i;
    }
    if (slow) {
#pragma unroll
        for (int i = 0; i < T::EACH; i++)
            if (slow >> i & 1 && !add_another<T, WAY>(groups, window, planes, loaded, of[i], i, first + i))
                ignored |= 1u << i;
    }
    return ignored;
}

/* A lane's elements as digits, by result: what has gone elsewhere is NOWHERE. */
template <class T, int EACH = T::EACH> struct Digits {
    static constexpr int N = T::TABLED ? T::TABLED : 1;
    unsigned result[EACH], counts;
    i64 digit[EACH][N];

    /* The digits of a float that has them: integers, which the same float of another exponent comes to. Returns whether it has: which its exponent
     * says, shifted up so that the sign is lost, as neither that of a zero nor that of an infinity is among those that have. */
    static __device__ __forceinline__ bool take_scaled(const rd_cuda_groups &groups, const Window &window,
                                                       typename T::Bits x, i64 (&digit)[N]) {
        constexpr int PLACES = T::BYTES == 8 ? 20 : 23, BIAS = T::BYTES == 8 ? 1023 : 127; /* of the upper word */
        const int bits = T::TABLED * window.step + below_planes<T>(window.step),
                  lowest = window.unit + (T::QUICK + T::TABLED) * window.step - bits + T::LENGTH - 1 + BIAS;
        const unsigned upper = (T::BYTES == 8 ? (unsigned)((u64)x >> 32) : T::to_single(groups, x)) &
                               (groups.call.transform == RD_ABSOLUTE ? INT32_MAX : UINT32_MAX);
        const bool quick = 2 * upper - ((unsigned)lowest << (PLACES + 1)) < (unsigned)(bits - T::LENGTH + 1)
                                                                                << (PLACES + 1);
        const unsigned scaled = upper + ((unsigned)(T::LENGTH - 1 + BIAS - lowest) << PLACES);
        if constexpr (T::BYTES == 8)
            split(__longlong_as_double((i64)(quick ? (u64)scaled << 32 | (unsigned)x : 0)), window.step, digit);
        else
            digit[0] = (i64)__uint_as_float(quick ? scaled : 0);
        return quick;
    }
    /* An integer as digits, the upper one rounded, so that the lower one may have another sign: by floats that have their lowest bit at 1. */
    static __device__ __forceinline__ void split(double whole, int step, i64 (&digit)[N]) {
        constexpr double LARGE = 0x1.8p52;
        const double large = LARGE + whole * __longlong_as_double((i64)(1023 - step) << 52), upper = large - LARGE,
                     lower = __fma_rn(upper, -__longlong_as_double((i64)(1023 + step) << 52), whole);
        digit[0] = __double_as_longlong(lower + LARGE) - __double_as_longlong(LARGE);
        digit[N - 1] = __double_as_longlong(large) - __double_as_longlong(LARGE);
    }

    /* The same of what may be another term, by shifts. */
    static __device__ __forceinline__ bool take_digits(const rd_cuda_groups &groups, const Window &window,
                                                       typename T::Bits x, typename T::Bits y, i64 (&digit)[N]) {
#pragma unroll
        for (int d = 0; d < N; d++)
            digit[d] = 0;
        Term term;
        if constexpr (T::PRODUCTS)
            term = T::of(groups, x, y);
        else
            term = T::usual(groups, x);
        /* By the length that terms can have, so that nothing need be counted. Products of zeros, infinities and NaNs may have any
         * exponent; elements that are these, of floats, have one outside. */
        const int bits = T::TABLED * window.step + below_planes<T>(window.step),
                  place = window.place(term) - (T::QUICK + T::TABLED) * window.step + bits;
        const bool quick = T::TABLED && bits >= T::LENGTH && (unsigned)place <= (unsigned)(bits - T::LENGTH) &&
                           (!T::PRODUCTS || !T::OF_FLOATS || (term.special == FINITE && !term.is_zero()));
        if constexpr (T::TABLED == 1 && T::LENGTH <= 24) {
            const int sign = term.negative ? -1 : 0, own = quick ? ((int)(unsigned)term.low ^ sign) - sign : 0;
            digit[0] = (i64)((u64)(i64)own << (place & 31));
        } else if (quick) {
            const u64 mask = T::TABLED > 1 ? ((u64)1 << window.step) - 1 : UINT64_MAX;
            const u64 sign = term.negative ? UINT64_MAX : 0;
            digit[0] = (i64)((((term.low << place) & mask) ^ sign) - sign);
            if constexpr (T::TABLED > 1)
                digit[1] = (i64)(((term.low >> (window.step - place)) ^ sign) - sign);
        }
        return quick;
    }

    /* Returns whether anything is left for the table, or for planes, of some lane. */
    template <Way WAY, class Planes, class Loaded>
    __device__ __forceinline__ bool take(const rd_cuda_groups &groups, const Window &window, const Planes &planes,
                                         const Loaded &loaded, const unsigned (&of)[EACH], u64 first) {
        if constexpr (WAY != BY_TABLE)
            if (planes.takes_all) { /* what is left is which results have how many */
                const unsigned ignored = take_one_by_one<T, WAY>(groups, window, planes, loaded, of, first);
                counts = ONE_EACH;
#pragma unroll
                for (int i = 0; i < EACH; i++) {
                    counts -= (ignored >> i & 1) << 8 * i;
                    result[i] = groups.counted ? of[i] : NOWHERE;
#pragma unroll
                    for (int d = 0; d < N; d++)
                        digit[i][d] = 0;
                }
                return groups.counted;
            }
        unsigned slow = 0;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            typename T::Bits x = loaded.x[i], y = x;
            if constexpr (T::PRODUCTS)
                y = groups.call.y ? loaded.y[i] : x;
            result[i] = of[i];
            bool quick;
            if constexpr (T::SCALED)
                quick = take_scaled(groups, window, x, digit[i]);
            else
                quick = take_digits(groups, window, x, y, digit[i]);
            slow |= (unsigned)(!quick && of[i] != NOWHERE) << i;
        }
        counts = ONE_EACH;
        if (slow) {
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                if (slow >> i & 1 && !add_another<T, WAY>(groups, window, planes, loaded, of[i], i, first + i))
                    counts -= 1u << 8 * i;
            }
        }
        return true;
    }

    /* To the table, or to the planes. Returns how many were sought in the table, and of these found; nothing where each has its slot. */
    __device__ __forceinline__ unsigned leave(const rd_cuda_groups &groups, const Table<T> &table, bool tabled) {
        if (T::TABLED && tabled && groups.direct) {
            leave_in_table<true>(table);
            return 0;
        }
        return leave_by_owner(groups, table, tabled);
    }
    __device__ __forceinline__ unsigned leave_by_owner(const rd_cuda_groups &groups, const Table<T> &table,
                                                       bool tabled) {
        const unsigned found = T::TABLED && tabled ? leave_in_table<false>(table) : 0;
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (result[i] != NOWHERE)
                leave_in_planes(groups, i);
        return found;
    }
    /* The same by runs of one result, which go over lanes, if many lanes go on with the result of the lane before; if not, nothing is left, and it
     * returns false. By whole warps. */
    __device__ __forceinline__ bool leave_runs(const rd_cuda_groups &groups, const Table<T> &table, bool tabled,
                                               unsigned &found) {
        constexpr int LAST = EACH - 1;
        const int lane = lane_index();
        const unsigned before = __shfl_up_sync(ALL, result[LAST], 1),
                       going_on = __ballot_sync(ALL, lane > 0 && result[0] != NOWHERE && before == result[0]);
        if (__popc(going_on) < joins_least(groups))
            return false;
        unsigned ends = going_on >> 1 >> lane & 1 ? 0 : 1u << LAST; /* of runs, as bits */
#pragma unroll
        for (int i = 0; i < LAST; i++) {
            ends |= (unsigned)(result[i] != result[i + 1]) << i;
#pragma unroll
            for (int d = 0; d < N; d++)
                digit[i + 1][d] += digit[i][d];
        }
        i64 last[N] = {};
        if (__all_sync(ALL, ends == (lane == 31 ? 1u << LAST : 0)))
            join_lanes(groups);
        else
            join_runs(groups, lane, ends, last);
        do {
            Digits<T, 1> run = take_run(ends, last);
            if constexpr (T::PRODUCTS) /* which need the registers that another way would take */
                found += run.leave_by_owner(groups, table, tabled);
            else
                found += run.leave(groups, table, tabled);
            ends &= ends - 1;
        } while (__any_sync(ALL, ends != 0));
        return true;
    }
    /* Of lanes that all have one result: the last element gets what all come to. */
    __device__ __forceinline__ void join_lanes(const rd_cuda_groups &groups) {
#pragma unroll
        for (int d = 0; d < N; d++)
            digit[EACH - 1][d] = add_lanes(digit[EACH - 1][d]);
        if (groups.counted) {
            unsigned count = 0;
#pragma unroll
            for (int i = 0; i < EACH; i++)
                count += count_of(counts, i);
            digit[EACH - 1][0] += (i64)warp_add_words((int)count) << COUNT_PLACE;
        }
    }
    /* Of numbers of at most 51 bits and a sign. */
    static __device__ __forceinline__ i64 add_lanes(i64 value) {
        constexpr int LOW = 26;
        const int low = warp_add_words((int)(value & ((1 << LOW) - 1))), high = warp_add_words((int)(value >> LOW));
        return (i64)high * (1 << LOW) + low;
    }
    /* `last` is what all elements up to the last end in a lane before come to, as if the lane's first element was the first of all: digits and counts have
     * been, or are, added up from there. Words wrap around. */
    __device__ __forceinline__ void join_runs(const rd_cuda_groups &groups, int lane, unsigned ends, i64 (&last)[N]) {
        if (groups.counted) {
            unsigned count = 0;
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                count += count_of(counts, i);
                digit[i][0] += (i64)count << COUNT_PLACE;
            }
        }
        const unsigned with_ends = __ballot_sync(ALL, ends != 0) & ((1u << lane) - 1);
#pragma unroll
        for (int d = 0; d < N; d++) {
            const i64 all = digit[EACH - 1][d];
            i64 sum = all;
#pragma unroll
            for (int by = 1; by < 32; by *= 2) {
                const i64 other = __shfl_up_sync(ALL, sum, by);
                sum += lane >= by ? other : 0;
            }
            sum -= all;
            i64 end = digit[0][d];
#pragma unroll
            for (int i = 1; i < EACH; i++)
                end = ends >> i & 1 ? digit[i][d] : end;
            last[d] = __shfl_sync(ALL, sum + end, 31 - __clz((int)(with_ends | 1)));
            last[d] = (with_ends ? last[d] : 0) - sum;
        }
    }
    /* The run that ends first in a lane: what all elements up to its end add up to, less the same of the last end. */
    __device__ __forceinline__ Digits<T, 1> take_run(unsigned ends, i64 (&last)[N]) const {
        Digits<T, 1> run = {{NOWHERE}, 0, {}};
        i64 end[N];
#pragma unroll
        for (int d = 0; d < N; d++)
            end[d] = digit[0][d];
#pragma unroll
        for (int i = EACH - 1; i >= 0; i--)
            if (ends >> i & 1) {
                run.result[0] = result[i];
#pragma unroll
                for (int d = 0; d < N; d++)
                    end[d] = digit[i][d];
            }
#pragma unroll
        for (int d = 0; d < N; d++) {
            run.digit[0][d] = end[d] - last[d];
            last[d] = end[d];
        }
        run.counts = (unsigned)((run.digit[0][0] + ((i64)1 << (COUNT_PLACE - 1))) >> 32) >> (COUNT_PLACE - 32);
        run.digit[0][0] -= (i64)run.counts << COUNT_PLACE;
        return run;
    }
    /* What has no slot is left. */
    template <bool DIRECT> __device__ __forceinline__ unsigned leave_in_table(const Table<T> &table) {
        unsigned found = 0, slot[EACH], all = 0;
        i64 own[EACH][N];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            bool known = false, here = result[i] != NOWHERE;
            slot[i] = table.slots;
            if constexpr (DIRECT) {
                slot[i] = table.find_directly(result[i]);
            } else if (here) {
                slot[i] = table.find(result[i], known);
                found += SOUGHT;
                here = slot[i] < table.slots;
            }
            found += known && here;
            result[i] = here ? NOWHERE : result[i];
            slot[i] = here ? slot[i] : lane_index() & (table.slots - 1);
            all |= here ? counts & 0xffu << 8 * i : 0;
#pragma unroll
            for (int d = 0; d < N; d++)
                own[i][d] = here ? digit[i][d] : 0;
        }
        table.add(slot, own, all);
        return found;
    }
    __device__ __forceinline__ void leave_in_planes(const rd_cuda_groups &groups, int i) const {
#pragma unroll
        for (int d = 0; d < T::TABLED; d++)
            for_parts<T>(digit[i][d], d, (int)groups.step, [&](int plane, u64 part) {
                atomicAdd(reinterpret_cast<u64 *>(groups.grid[0].window + plane * groups.results + result[i]), part);
            });
        if (groups.counted && count_of(counts, i))
            atomicAdd(reinterpret_cast<u64 *>(groups.counted + result[i]), (u64)count_of(counts, i));
    }
};

/* All elements of a block, one by one. */
template <class T, Way WAY>
__device__ __forceinline__ void add_all_one_by_one(const rd_cuda_groups &groups, const Window &window,
                                                   const OwnPlanes &planes) {
    const u64 tiles = (groups.call.count + 32 * T::EACH - 1) / (32 * T::EACH);
#pragma unroll 1
    for (u64 chunk = blockIdx.x; chunk * groups.chunk < tiles; chunk += gridDim.x)
        for_tiles<T::BYTES, T::PRODUCTS, T::EACH, false>(groups, chunk, [&](const auto &loaded, u64 first) {
            unsigned of[T::EACH];
            loaded.find(groups, first, of);
            take_one_by_one<T, WAY>(groups, window, planes, loaded, of, first);
        });
}

/* All chunks of a block. */
template <class T, Way WAY, class Planes>
__device__ __forceinline__ void add_chunks(const rd_cuda_groups &groups, const Table<T> &table, const Planes &planes) {
    const Window window(groups);
    if constexpr (WAY != BY_TABLE)
        if (planes.takes_all && !groups.counted) {
            add_all_one_by_one<T, WAY>(groups, window, planes);
            return;
        }
    const u64 tiles = (groups.call.count + 32 * T::EACH - 1) / (32 * T::EACH);
    const unsigned chunks = (unsigned)((tiles + groups.chunk - 1) / groups.chunk); /* few, of many elements each */
    bool tabled = groups.slots != 0;
    unsigned found = 0;
#pragma unroll 1
    for (unsigned chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
        for_tiles<T::BYTES, T::PRODUCTS, T::EACH, WAY == BY_TABLE>(groups, chunk, [&](const auto &loaded, u64 first) {
            Digits<T> digits;
            unsigned result[T::EACH];
            loaded.find(groups, first, result);
            const bool left = digits.template take<WAY>(groups, window, planes, loaded, result, first);
            __syncwarp();
            if (WAY != BY_TABLE && !left)
                return;
            unsigned own = 0;
            if (!digits.leave_runs(groups, table, tabled, own))
                own = digits.leave(groups, table, tabled);
            __syncwarp();
            tabled = is_of_use(tabled, own, found);
        });
        if (groups.slots)
            table.flush();
    }
}

/* Clears the rest of the planes, if this launch is the first that adds to it, with a word that the block shares. */
__device__ __forceinline__ void open_rest(const rd_cuda_groups &groups, unsigned *room) {
    if (groups.opens)
        share_out(
            *groups.grid[0].header, RD_CUDA_GROUPS_OPEN, *reinterpret_cast<u64 *>(room),
            [&](unsigned share, unsigned shares) { clear_rest(groups, 0, groups.grid[0].rest_planes, share, shares); });
}

/* The same where the rest of the planes is open. A function of its own, since the usual way needs all registers. */
template <class T> __device__ __noinline__ void add_openly(const rd_cuda_groups &groups, unsigned *room) {
    const Table<T> table(groups, room, 0);
    const OwnPlanes rest(groups, false, 0, (unsigned)groups.results);
    open_rest(groups, room);
    rest.clear_own(groups);
    table.open();
    add_chunks<T, OPENLY>(groups, table, rest);
    rest.flush_own(groups);
}

template <class T> __device__ __forceinline__ void add(const rd_cuda_groups &groups) {
    extern __shared__ __align__(16) unsigned char shared_room[];
    const Table<T> table(groups, reinterpret_cast<unsigned *>(shared_room), 0);
    table.open(); /* while the launch before ends */
    wait_for_previous();
    let_next_come();
    if (are_moved(groups) || are_gathered(groups))
        return;
    if constexpr (T::OF_FLOATS)
        if (groups.grid[0].header->open) {
            add_openly<T>(groups, table.words);
            return;
        }
    if constexpr (T::TABLED) {
        add_chunks<T, BY_TABLE>(groups, table, NoPlanes());
    } else {
        const OwnPlanes window(groups, true, 0, (unsigned)groups.results);
        window.clear_own(groups);
        add_chunks<T, BY_OWN_WINDOW>(groups, table, window);
        window.flush_own(groups);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Of elements that were moved to buckets (groups_buckets.cu)
 * ------------------------------------------------------------------------------------------------------------------ */

/* Calls take(item) for items as long as there are any. By the whole block, of which `claimed` is a word that all share. */
template <class Take>
__device__ __forceinline__ void for_items(const rd_cuda_groups &groups, unsigned &claimed, Take take) {
    rd_cuda_groups_counts &counts = *groups.buckets.counts;
    for (;;) {
        __syncthreads(); /* all have read the claim before */
        if (threadIdx.x == 0)
            claimed = atomicAdd(&counts.claimed[groups.buckets.scan], 1u);
        __syncthreads();
        const unsigned item = claimed;
        if (item >= counts.items)
            break;
        take(groups.buckets.items[item]);
    }
}

template <class T, Way WAY>
__device__ __forceinline__ void add_items(const rd_cuda_groups &groups, unsigned *room, unsigned &claimed) {
    constexpr int EACH = T::EACH, TILE = 32 * EACH;
    const Window window(groups);
    const unsigned size_log2 = groups.buckets.size_log2[groups.buckets.way];
    for_items(groups, claimed, [&](const rd_cuda_groups_item &item) {
        const unsigned base = item.bucket << size_log2;
        const Table<T> table(groups, room, base);
        const OwnPlanes planes(groups, WAY == BY_OWN_WINDOW, base, 1u << size_log2);
        if (WAY != BY_TABLE)
            planes.clear_own(groups);
        table.open();
        const auto for_item = [&](auto take) {
            for_some_tiles<LoadedMoved<T::BYTES, T::PRODUCTS, EACH>, EACH>(
                Moved{groups, item.end}, 0, (item.end - item.begin + TILE - 1) / TILE, item.begin, take);
        };
        if (WAY != BY_TABLE && planes.takes_all && !groups.counted)
            for_item([&](const auto &loaded, u64 first) {
                unsigned result[EACH];
                loaded.find(result);
                take_one_by_one<T, WAY>(groups, window, planes, loaded, result, first);
            });
        else
            for_item([&](const auto &loaded, u64 first) {
                Digits<T> digits;
                unsigned result[EACH];
                loaded.find(result);
                const bool left = digits.template take<WAY>(groups, window, planes, loaded, result, first);
                __syncwarp();
                if (WAY != BY_TABLE && !left)
                    return;
                unsigned found = 0;
                if (!digits.leave_runs(groups, table, groups.slots != 0, found))
                    digits.leave(groups, table, groups.slots != 0);
                __syncwarp();
            });
        if (groups.slots)
            table.flush();
        if (WAY != BY_TABLE)
            planes.flush_own(groups);
    });
}

template <class T>
__device__ __noinline__ void add_items_openly(const rd_cuda_groups &groups, unsigned *room, unsigned &claimed) {
    open_rest(groups, room);
    add_items<T, OPENLY>(groups, room, claimed);
}

/* Of two ways, with tables for buckets of either size, one does nothing. */
template <class T> __device__ __forceinline__ void add_moved(const rd_cuda_groups &groups) {
    extern __shared__ __align__(16) unsigned char shared_room[];
    __shared__ unsigned claimed;
    unsigned *const words = reinterpret_cast<unsigned *>(shared_room);
    wait_for_previous();
    let_next_come();
    if (!are_moved(groups) || is_open_anywhere(groups) != (groups.buckets.way != 0))
        return;
    if (groups.grid[0].header->open)
        add_items_openly<T>(groups, words, claimed);
    else
        add_items<T, USUAL_WAY<T>>(groups, words, claimed);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Of rows in the order of their groups (groups_rows.cu)
 * ------------------------------------------------------------------------------------------------------------------ */

/* A lane's elements of a row, which begin at some place of it. */
template <class T> struct LoadedRow {
    Packed<T::BYTES, T::EACH> x, y; /* only of pairs */
    unsigned row, group;

    __device__ __forceinline__ void load(const rd_cuda_groups &groups, unsigned number, u64 place, unsigned left) {
        const u64 first = (u64)number * groups.width + place;
        row = number;
        group = group_of(groups, number);
        x.load(groups.call.x, first, left, groups.gathered.vectors);
        if constexpr (T::PRODUCTS)
            if (groups.call.y)
                y.load(groups.call.y, first, left, groups.gathered.vectors);
    }
};

/* What a lane's elements of rows of one group that follow each other come to. There are too few rows for a digit to leave its word. */
template <class T> struct RunOfRows {
    static constexpr int EACH = T::EACH, N = T::TABLED;
    i64 sum[EACH][N];
    unsigned missing[EACH], rows, group; /* missing: rows of which an element does not count */

    __device__ __forceinline__ void begin(unsigned of) {
        group = of;
        rows = 0;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            missing[i] = 0;
#pragma unroll
            for (int d = 0; d < N; d++)
                sum[i][d] = 0;
        }
    }
    __device__ __forceinline__ void add(const rd_cuda_groups &groups, const Window &window, const LoadedRow<T> &loaded,
                                        u64 place, unsigned left) {
        const u64 first = (u64)loaded.row * groups.width + place;
        const unsigned present = find_present<EACH>(groups, first, left),
                       result = (unsigned)(loaded.group * groups.width + place);
        unsigned of[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++)
            of[i] = present >> i & 1 ? result + i : NOWHERE;
        Digits<T> digits;
        digits.template take<BY_TABLE>(groups, window, NoPlanes(), loaded, of, first);
        if (present != (1u << EACH) - 1 || digits.counts != ONE_EACH)
            leave_out(digits, present);
        rows++;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
#pragma unroll
            for (int d = 0; d < N; d++)
                sum[i][d] += digits.digit[i][d];
        }
    }
    /* What is not there, or does not count. */
    __device__ __forceinline__ void leave_out(Digits<T> &digits, unsigned present) {
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const bool there = present >> i & 1;
            missing[i] += !there || !count_of(digits.counts, i);
#pragma unroll
            for (int d = 0; d < N; d++)
                digits.digit[i][d] = there ? digits.digit[i][d] : 0;
        }
    }
    /* To the planes. */
    __device__ __forceinline__ void leave(const rd_cuda_groups &groups, u64 place, unsigned left) const {
        if (rows == 0)
            return;
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const u64 result = group * groups.width + place + i;
            if ((unsigned)i >= left)
                continue;
#pragma unroll
            for (int d = 0; d < N; d++)
                for_parts<T>(sum[i][d], d, (int)groups.step, [&](int plane, u64 part) {
                    atomicAdd(reinterpret_cast<u64 *>(groups.grid[0].window + plane * groups.results + result), part);
                });
            if (groups.counted && rows > missing[i])
                atomicAdd(reinterpret_cast<u64 *>(groups.counted + result), (u64)(rows - missing[i]));
        }
    }
};
static_assert((u64)RD_CUDA_GROUPS_ROWS_EACH << RD_CUDA_GROUPS_TABLE_BITS <= (u64)1 << 62, "a run's sums have room");

/* By teams of lanes, each of which takes a piece of some rows at a time. */
template <class T> __device__ __forceinline__ void gather(const rd_cuda_groups &groups) {
    constexpr unsigned EACH = T::EACH, ONCE = RD_CUDA_GROUPS_ROWS_ONCE;
    wait_for_previous();
    let_next_come();
    if (!are_gathered(groups))
        return;
    const Window window(groups);
    const rd_cuda_groups_rows &rows = groups.gathered;
    const unsigned lanes = 1u << rows.lanes_log2, lane = lane_index() & (lanes - 1);
    const u64 placed = *rows.placed, piece = lanes * EACH, pieces = (groups.width + piece - 1) / piece,
              units = (placed + rows.each - 1) / rows.each * pieces,
              teams = (u64)gridDim.x * GROUP_THREADS >> rows.lanes_log2;
#pragma unroll 1
    for (u64 unit = ((u64)blockIdx.x * GROUP_THREADS + threadIdx.x) >> rows.lanes_log2; unit < units; unit += teams) {
        const u64 of_rows = unit / pieces, place = (unit - of_rows * pieces) * piece + lane * EACH,
                  end = min(placed, (of_rows + 1) * rows.each);
        const unsigned left = place < groups.width ? (unsigned)min(groups.width - place, (u64)EACH) : 0;
        RunOfRows<T> run;
        run.begin(NOWHERE);
#pragma unroll 1
        for (u64 at = of_rows * rows.each; at < end && left; at += ONCE) {
            LoadedRow<T> loaded[ONCE];
#pragma unroll
            for (unsigned i = 0; i < ONCE; i++)
                loaded[i].load(groups, rows.number[min(at + i, end - 1)], place, left);
#pragma unroll
            for (unsigned i = 0; i < ONCE; i++)
                if (at + i < end) {
                    if (loaded[i].group != run.group) {
                        run.leave(groups, place, left);
                        run.begin(loaded[i].group);
                    }
                    run.add(groups, window, loaded[i], place, left);
                }
        }
        run.leave(groups, place, left);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What is special, for tables
 * ------------------------------------------------------------------------------------------------------------------ */

/* Of which planes an element is, as bits; the same as for cells (state/cell.c). */
template <class T>
__device__ __forceinline__ unsigned find_special(const rd_cuda_groups &groups, typename T::Bits x, typename T::Bits y) {
    const unsigned transform = groups.call.transform;
    const bool weighted = transform == RD_WEIGHTED, pair = weighted || transform == RD_TIMES;
    const Term a = T::element(groups, x), b = T::element(groups, y);
    const bool nan = a.special == NO_NUMBER || b.special == NO_NUMBER, zero = a.is_zero() || b.is_zero(),
               negative =
                   (pair ? x ^ y : x) >> (8 * T::BYTES - 1) & 1; /* of a NaN, too, whose sign conversions may lose */
    if (nan && groups.call.nan == REDUCT_NAN_IGNORE)
        return 1u << RD_CUDA_GROUPS_IGNORED;
    const unsigned zeros = zero && negative ? 1u << RD_CUDA_GROUPS_NEGATIVE_ZEROS : 0;
    if (!nan && a.special == FINITE && b.special == FINITE)
        return zeros;
    if (nan || zero || (weighted && b.special == INFINITE))
        return zeros | 1u << RD_CUDA_GROUPS_NANS;
    return negative && transform != RD_ABSOLUTE && transform != RD_SQUARE ? 1u << RD_CUDA_GROUPS_NEGATIVE_INFINITIES
                                                                          : 1u << RD_CUDA_GROUPS_INFINITIES;
}

template <class T> __device__ __forceinline__ void special(const rd_cuda_groups &groups) {
    const u64 count = groups.call.count, step = (u64)gridDim.x * THREADS;
#pragma unroll 4
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < count; i += step) {
        const typename T::Bits x = element_at<T>(groups.call.x, i);
        const unsigned found = find_special<T>(groups, x, groups.call.y ? element_at<T>(groups.call.y, i) : x);
        const unsigned result = found ? result_of(groups, i) : NOWHERE;
        if (result == NOWHERE)
            continue;
        raise_to(&groups.grid[0].header->special, 1);
        for (unsigned plane = 0; plane < RD_CUDA_GROUPS_SPECIALS; plane++)
            if (found >> plane & 1)
                add_word(groups.counted + plane * groups.results + result, 1, false);
    }
}

} // namespace

/* The kernels of a kind of terms: names end alike. */
#define RD_CUDA_GROUPS_ADD(NAME, ...)                                                                                  \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_THREADS, 1)                                            \
        groups_add_##NAME(const __grid_constant__ rd_cuda_groups groups) {                                             \
        add<Terms<__VA_ARGS__>>(groups);                                                                               \
    }
/* Of terms that have digits. */
#define RD_CUDA_GROUPS_GATHER(NAME, ...)                                                                               \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_THREADS, 1)                                            \
        groups_gather_##NAME(const __grid_constant__ rd_cuda_groups groups) {                                          \
        gather<Terms<__VA_ARGS__>>(groups);                                                                            \
    }
#define RD_CUDA_GROUPS_ADD_MOVED(NAME, ...)                                                                            \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_GROUPS_THREADS, 1)                                            \
        groups_moved_##NAME(const __grid_constant__ rd_cuda_groups groups) {                                           \
        add_moved<Terms<__VA_ARGS__>>(groups);                                                                         \
    }
#define RD_CUDA_GROUPS_KERNELS(NAME, ...)                                                                              \
    RD_CUDA_GROUPS_ADD(NAME, __VA_ARGS__)                                                                              \
    RD_CUDA_GROUPS_ADD_MOVED(NAME, __VA_ARGS__)                                                                        \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS)                                                      \
        groups_special_##NAME(const __grid_constant__ rd_cuda_groups groups) {                                         \
        special<Terms<__VA_ARGS__>>(groups);                                                                           \
    }
