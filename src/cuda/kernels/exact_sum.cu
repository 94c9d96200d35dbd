/* Exact sums of f64 and f32, and of i32, in one launch.
 *
 * Overview. Each thread keeps K running sums in f64, the slices of a window (docs/how-it-works.md): slice k starts
 * at 1.5 * 2^52 units, so that adding a term rounds it to whole units, exactly, and what is left over goes on to slice
 * k + 1, whose unit is 2^STEP times smaller. A window is good for terms below 2^(unit + HEAD + 1) and ADDS_MAX
 * additions. Threads of a warp share the unit.
 *
 * Phases.
 *   1. A warp loads a tile into registers, finds its largest exponent, and moves the window if the tile needs it.
 *   2. It adds the tile. If nothing is left over after the last slice, the tile is done; this is the case for most
 * data.
 *   3. Otherwise the tile, still in registers, is split again and again, each time with a window at the largest
 * exponent that is left.
 *   4. At the end slices, now integers, are added up over the warp and the block, in registers where all warps ended
 * with the same unit, and otherwise in limbs in shared memory; then over the grid by integer atomics, whose order
 * cannot matter.
 *   5. The last block to finish rounds the limbs, once.
 *
 * Verification. |term| < 2^(unit + HEAD + 1) and at most ADDS_MAX = 2^10 additions keep a slice within 2^51 units of
 * its start, hence in its binade, where every addition rounds to a multiple of the unit and t - (t - a) style
 * differences are exact. What is left after slice k is at most half a unit, 2^(STEP - 1) of the next one, so slice k +
 * 1 is safe for as many additions.
 */
#include "exact_sum.h"

typedef unsigned long long u64;
typedef long long i64;

namespace {

constexpr int THREADS = RD_CUDA_EXACT_THREADS, WARPS = THREADS / 32, VECTORS = RD_CUDA_EXACT_VECTORS;
constexpr int SLICES = 2, STEP = 42, HEAD = 40, ADDS_MAX = 1024;
constexpr int START =
    36; /* a window opens with its unit so far below the largest exponent: HEAD - START binades to grow */
constexpr unsigned ALL = 0xffffffff;

static_assert(HEAD + 1 + 10 <= 51, "ADDS_MAX terms keep a slice in its binade");
static_assert(STEP - 1 + 10 <= 51, "so do their remainders");

/* Limb i stands for 2^(32 i - 1074); 2098 bits of f64, and room for 2^64 of them. */
constexpr int LIMBS = 68;
constexpr int LOWEST = -1074;
constexpr int UNIT_MIN = LOWEST + STEP * (SLICES - 1);
constexpr int NO_UNIT = -100000;

enum { SAW_NAN = 1, SAW_PLUS = 2, SAW_MINUS = 4, SAW_NONZERO = 8 };

struct Workspace {
    u64 limb[LIMBS];
    unsigned saw, ticket;
};
static_assert(sizeof(Workspace) <= RD_CUDA_EXACT_WORKSPACE, "workspace");

/* ---------------------------------------------------------------------------------------------------------------------
 * Limbs
 * ------------------------------------------------------------------------------------------------------------------ */

/* Adds value * 2^exponent to limbs in shared or global memory. Limbs are 64 bits wide and stand for 32: carries wait
 * until the end. */
__device__ void deposit(u64 *limb, i64 value, int exponent) {
    if (value == 0)
        return;
    u64 magnitude = value < 0 ? 0 - (u64)value : (u64)value;
    int i = (exponent - LOWEST) >> 5, shift = (exponent - LOWEST) & 31;
    u64 low = magnitude << shift, high = shift ? magnitude >> (64 - shift) : 0;
    u64 part[3] = {low & 0xffffffff, low >> 32, high};
    for (int k = 0; k < 3; k++)
        if (part[k])
            atomicAdd(&limb[i + k], value < 0 ? 0 - part[k] : part[k]);
}

/* Adds one double to limbs, or to the record of what was not finite. */
__device__ __noinline__ void deposit_double(u64 *limb, unsigned *saw, double x) {
    u64 bits = (u64)__double_as_longlong(x);
    int field = (int)(bits >> 52) & 0x7ff;
    i64 significand = (i64)(bits & 0xfffffffffffff);
    bool negative = bits >> 63;
    if (bits != (u64)1 << 63)
        atomicOr(saw, SAW_NONZERO);
    if (field == 0x7ff) {
        atomicOr(saw, significand ? SAW_NAN : negative ? SAW_MINUS : SAW_PLUS);
        return;
    }
    if (field)
        significand |= (i64)1 << 52;
    deposit(limb, negative ? -significand : significand, (field ? field : 1) - 1075);
}

/* Rounds the number in limbs first to last (all others are zero) to `precision` bits, ties to even, with the smallest
 * subnormal 2^lowest. One thread; destroys the limbs. */
__device__ double round_limbs(u64 *limb, int first, int last, int precision, int lowest) {
    i64 carry = 0;
    for (int i = first; i <= last || ((carry != 0 && carry != -1) && i < LIMBS); i++) {
        i64 v = (i64)limb[i] + carry;
        carry = v >> 32;
        limb[i] = (u64)v & 0xffffffff;
        last = i > last ? i : last;
    }
    bool negative = carry < 0;
    if (negative) {
        u64 borrow = 1;
        for (int i = first; i <= last; i++) {
            u64 v = (~limb[i] & 0xffffffff) + borrow;
            limb[i] = v & 0xffffffff;
            borrow = v >> 32;
        }
    }
    int top = last;
    while (top >= first && limb[top] == 0)
        top--;
    if (top < first)
        return 0.0;
    /* The leading 96 bits, and whether anything is below them. */
    auto at = [&](int i) -> unsigned __int128 { return i >= first ? limb[i] : 0; };
    unsigned __int128 leading = at(top) << 64 | at(top - 1) << 32 | at(top - 2);
    bool below = false;
    for (int i = first; i < top - 2; i++)
        below = below || limb[i];
    int exponent = 32 * (top - 2) + LOWEST; /* of bit 0 of `leading` */
    int length = 96 - __clz((unsigned)limb[top]);
    int place = max(exponent + length - precision, lowest), cut = place - exponent;
    u64 significand;
    if (cut <= 0) {
        significand = (u64)(leading << -cut); /* fewer bits than the significand has: nothing is below */
    } else {
        unsigned __int128 rest = leading & (((unsigned __int128)1 << cut) - 1),
                          half = (unsigned __int128)1 << (cut - 1);
        significand = (u64)(leading >> cut);
        if (rest > half || (rest == half && (below || (significand & 1))))
            significand++;
    }
    double value = scalbn((double)significand, place);
    return negative ? -value : value;
}

/* The sum, from limbs and what was seen. */
template <class T> __device__ double finish(u64 *limb, int first, int last, unsigned saw, bool any) {
    constexpr bool wide = sizeof(T) == 8;
    if ((saw & SAW_NAN) || (saw & (SAW_PLUS | SAW_MINUS)) == (SAW_PLUS | SAW_MINUS))
        return __longlong_as_double(0x7ff8000000000000);
    if (saw & (SAW_PLUS | SAW_MINUS))
        return __longlong_as_double(saw & SAW_PLUS ? 0x7ff0000000000000 : (i64)0xfff0000000000000);
    double value = round_limbs(limb, first, last, wide ? 53 : 24, wide ? -1074 : -149);
    return value == 0 && !(saw & SAW_NONZERO) && any ? -0.0 : value;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Windows
 * ------------------------------------------------------------------------------------------------------------------ */

template <class T> __device__ T warp_add(T value) {
    for (int offset = 16; offset; offset /= 2)
        value += __shfl_xor_sync(ALL, value, offset);
    return value;
}

/* One thread's part of its warp's window. */
struct Window {
    double slice[SLICES]; /* since the last normalisation */
    i64 units[SLICES];    /* before that, in units */
    int unit;             /* exponent of one unit of slice 0; the same over the warp */
    int adds;

    __device__ i64 start_bits(int k) const {
        return ((i64)(52 + unit - STEP * k + 1023) << 52) | (i64)1 << 51;
    }

    __device__ void open(int at) {
        unit = at;
        adds = 0;
#pragma unroll
        for (int k = 0; k < SLICES; k++) {
            slice[k] = __longlong_as_double(start_bits(k));
            units[k] = 0;
        }
    }

    /* Moves what the slices hold into integers; the bits of doubles in one binade differ by their distance in units. */
    __device__ void normalise() {
        adds = 0;
#pragma unroll
        for (int k = 0; k < SLICES; k++) {
            units[k] += __double_as_longlong(slice[k]) - start_bits(k);
            slice[k] = __longlong_as_double(start_bits(k));
        }
    }

    /* Splits one term over the slices; returns what is left. */
    static __device__ __forceinline__ double split(double *into, double term) {
#pragma unroll
        for (int k = 0; k < SLICES; k++) {
            double sum = into[k] + term;
            term -= sum - into[k];
            into[k] = sum;
        }
        return term;
    }

    /* Brings the whole warp's sums home into limbs. */
    __device__ void flush(u64 *limb, unsigned *used) {
        normalise();
#pragma unroll
        for (int k = 0; k < SLICES; k++) {
            i64 sum = warp_add(units[k]);
            units[k] = 0;
            if ((threadIdx.x & 31) == 0 && sum) {
                deposit(limb, sum, unit - STEP * k);
                atomicOr(used, 1);
            }
        }
    }
};

/* A tile: what a thread holds in registers at once. */
template <class T> struct Tile {
    static constexpr int PER_VECTOR = 16 / sizeof(T), COUNT = VECTORS * PER_VECTOR;
    uint4 vector[VECTORS];

    __device__ double get(int i) const {
        return (double)reinterpret_cast<const T *>(&vector[i / PER_VECTOR])[i % PER_VECTOR];
    }

    /* The upper word of an element without its sign: orders magnitudes, and holds the whole of a float. */
    __device__ unsigned upper(int i) const {
        const unsigned *word = reinterpret_cast<const unsigned *>(&vector[i / PER_VECTOR]);
        return word[sizeof(T) == 8 ? 2 * (i % PER_VECTOR) + 1 : i % PER_VECTOR] & 0x7fffffff;
    }

    /* Elements beyond the data are -0, which adds nothing, not even the sign of a zero sum. */
    __device__ void load(const uint4 *x, u64 vectors, u64 base) {
        const unsigned sign = 0x80000000;
        const uint4 minus_zero = sizeof(T) == 8 ? make_uint4(0, sign, 0, sign) : make_uint4(sign, sign, sign, sign);
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            u64 at = base + (u64)v * THREADS;
            vector[v] = at < vectors ? __ldcs(x + at) : minus_zero;
        }
    }
};

/* The exponent of the largest element, or a bound for subnormals, from its upper word. */
template <class T> __device__ int exponent_of(unsigned upper) {
    if (sizeof(T) == 8)
        return max((int)(upper >> 20), 1) - 1023;
    return max((int)(upper >> 23), 1) - 127;
}

/* The largest exponent that a window can hold without reaching the end of f64's: infinities and NaNs are beyond. */
template <class T> constexpr int EXPONENT_MAX = sizeof(T) == 8 ? 1000 : 127;

/* What a block keeps in shared memory. */
struct Shared {
    u64 limb[LIMBS];
    unsigned saw, used; /* used: some limb may not be zero */
    bool last;
    int unit[WARPS];
    i64 units[WARPS][SLICES];
};

/* Phase 3: the terms of a tile, in registers, window by window from the largest exponent left. */
template <class T> __device__ __noinline__ void add_wide_tile(Tile<T> tile, Shared &shared) {
    Window window;
    double rest[Tile<T>::COUNT];
#pragma unroll
    for (int i = 0; i < Tile<T>::COUNT; i++)
        rest[i] = tile.get(i);
    for (;;) {
        unsigned upper = 0, lower = 0;
#pragma unroll
        for (int i = 0; i < Tile<T>::COUNT; i++) {
            upper = max(upper, (unsigned)__double2hiint(rest[i]) & 0x7fffffff);
            lower |= (unsigned)__double2loint(rest[i]);
        }
        upper = __reduce_max_sync(ALL, upper);
        if (upper == 0 && !__any_sync(ALL, lower))
            break;
        window.open(max(exponent_of<double>(upper) - START, UNIT_MIN));
#pragma unroll
        for (int i = 0; i < Tile<T>::COUNT; i++)
            rest[i] = Window::split(window.slice, rest[i]);
        window.flush(shared.limb, &shared.used);
    }
}

/* Adds a warp's tile to the slices if nothing is left over; says whether that was so. */
template <class T> __device__ __forceinline__ bool fits(Window &window, const Tile<T> &tile) {
    double slice[SLICES];
#pragma unroll
    for (int k = 0; k < SLICES; k++)
        slice[k] = window.slice[k];
    unsigned left = 0, left_above = 0;
#pragma unroll
    for (int i = 0; i < Tile<T>::COUNT; i++) {
        double rest = Window::split(slice, tile.get(i));
        left |= (unsigned)__double2loint(rest);
        left_above |= (unsigned)__double2hiint(rest);
    }
    if (__any_sync(ALL, left | (left_above & 0x7fffffff))) /* the sign of a zero does not matter */
        return false;
#pragma unroll
    for (int k = 0; k < SLICES; k++)
        window.slice[k] = slice[k];
    return true;
}

/* Whether a warp's tile holds nothing but zeros; notes if one of them is +0. */
template <class T> __device__ bool zeros_only(const Tile<T> &tile, unsigned &saw) {
    bool other = false, plus = false;
#pragma unroll
    for (int i = 0; i < Tile<T>::COUNT; i++) {
        double x = tile.get(i);
        other = other || x != 0;
        plus = plus || __double_as_longlong(x) == 0;
    }
    if (__any_sync(ALL, plus))
        saw |= SAW_NONZERO;
    return !__any_sync(ALL, other);
}

/* Deposits a tile one element at a time. Read again, since it is rare and registers can only be indexed by constants. */
template <class T> __device__ __noinline__ void deposit_tile(const uint4 *x, u64 vectors, u64 base, Shared &shared) {
    for (int v = 0; v < VECTORS; v++) {
        u64 at = base + (u64)v * THREADS;
        if (at >= vectors)
            break;
        const T *element = reinterpret_cast<const T *>(x + at);
        for (int i = 0; i < Tile<T>::PER_VECTOR; i++)
            deposit_double(shared.limb, &shared.saw, (double)element[i]);
    }
    atomicOr(&shared.used, 1);
}

/* Phases 1 to 3 for one tile of a warp. `open` tells whether the window has been placed. */
template <class T>
__device__ __forceinline__ void add_tile(Window &window, bool &open, const Tile<T> &tile, const uint4 *x, u64 vectors,
                                         u64 base, Shared &shared, unsigned &saw) {
    unsigned upper = 0;
#pragma unroll
    for (int i = 0; i < Tile<T>::COUNT; i++)
        upper = max(upper, tile.upper(i));
    upper = __reduce_max_sync(ALL, upper);
    int exponent = exponent_of<T>(upper);
    if (upper == 0 && zeros_only(tile, saw))
        return;
    if (exponent > EXPONENT_MAX<T> || upper == 0) { /* rare: not finite, near overflow, or below 2^-1042 */
        deposit_tile<T>(x, vectors, base, shared);
        return;
    }
    saw |= SAW_NONZERO;
    if (!open || exponent > window.unit + HEAD) {
        if (open)
            window.flush(shared.limb, &shared.used);
        window.open(max(exponent - START, UNIT_MIN));
        open = true;
    }
    if (!fits(window, tile)) {
        window.flush(shared.limb, &shared.used);
        add_wide_tile(tile, shared);
        open = false;
        return;
    }
    window.adds += Tile<T>::COUNT;
    if (window.adds > ADDS_MAX - Tile<T>::COUNT)
        window.normalise();
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Block and grid
 * ------------------------------------------------------------------------------------------------------------------ */

/* Phase 4, in the block: the warps' sums into limbs of the block (a grid of one) or straight into those of the grid. */
__device__ void combine_warps(Window &window, bool open, Shared &shared, u64 *into) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    window.normalise();
#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        i64 sum = open ? warp_add(window.units[k]) : 0;
        if (lane == 0)
            shared.units[warp][k] = sum;
    }
    if (lane == 0)
        shared.unit[warp] = open ? window.unit : NO_UNIT;
    __syncthreads();
    if (warp != 0)
        return;
    int unit = lane < WARPS ? shared.unit[lane] : NO_UNIT;
    int highest = __reduce_max_sync(ALL, unit);
    bool same = __all_sync(ALL, unit == highest || unit == NO_UNIT);
#pragma unroll
    for (int k = 0; k < SLICES; k++) {
        i64 sum = unit == NO_UNIT ? 0 : shared.units[lane & (WARPS - 1)][k];
        if (same)
            sum = warp_add(sum);
        if (same ? lane == 0 && highest != NO_UNIT : unit != NO_UNIT)
            deposit(into, sum, (same ? highest : unit) - STEP * k);
    }
}

/* Phase 5: reads the grid's limbs, clears them for the next launch, and rounds. */
template <class T> __device__ void round_grid(Shared &shared, Workspace *grid, bool alone, bool any, T *result) {
    if (!alone) {
        for (int i = threadIdx.x; i < LIMBS; i += THREADS) {
            shared.limb[i] = __ldcg(&grid->limb[i]);
            grid->limb[i] = 0;
        }
        __syncthreads();
    }
    if (threadIdx.x >= 32)
        return;
    int first = LIMBS, last = -1;
    for (int i = threadIdx.x; i < LIMBS; i += 32)
        if (shared.limb[i]) {
            first = min(first, i);
            last = max(last, i);
        }
    first = __reduce_min_sync(ALL, first);
    last = __reduce_max_sync(ALL, last);
    if (threadIdx.x == 0) {
        unsigned saw = alone ? shared.saw : __ldcg(&grid->saw);
        *result = (T)finish<T>(shared.limb, first, last, saw, any);
        grid->saw = 0;
        grid->ticket = 0;
    }
}

template <class T> __device__ void exact_sum(const T *x, u64 n, T *result, Workspace *grid) {
    __shared__ Shared shared;
    for (int i = threadIdx.x; i < LIMBS; i += THREADS)
        shared.limb[i] = 0;
    if (threadIdx.x == 0)
        shared.saw = shared.used = 0;
    __syncthreads();

    /* Elements before the first 16-byte boundary, and after the last. */
    constexpr int PER_VECTOR = Tile<T>::PER_VECTOR;
    u64 head = min(n, (u64)((16 - (u64)x % 16) % 16 / sizeof(T)));
    u64 vectors = (n - head) / PER_VECTOR, tail = head + vectors * PER_VECTOR;
    if (blockIdx.x == 0) {
        u64 at = threadIdx.x < head ? threadIdx.x : tail + threadIdx.x - head;
        if (at < n && threadIdx.x < head + (n - tail)) {
            deposit_double(shared.limb, &shared.saw, (double)x[at]);
            atomicOr(&shared.used, 1);
        }
    }

    const uint4 *vector = reinterpret_cast<const uint4 *>(x + head);
    u64 step = (u64)gridDim.x * THREADS * VECTORS, base = (u64)blockIdx.x * THREADS * VECTORS + threadIdx.x;
    Window window;
    Tile<T> tile;
    bool open = false;
    unsigned saw = 0;
    window.open(UNIT_MIN);
    for (u64 first = (u64)blockIdx.x * THREADS * VECTORS; first < vectors; first += step, base += step) {
        tile.load(vector, vectors, base);
        add_tile(window, open, tile, vector, vectors, base, shared, saw);
    }
    if (saw && (threadIdx.x & 31) == 0)
        atomicOr(&shared.saw, saw);

    bool alone = gridDim.x == 1;
    combine_warps(window, open, shared, alone ? shared.limb : grid->limb);
    __syncthreads();
    if (!alone) {
        if (shared.used)
            for (int i = threadIdx.x; i < LIMBS; i += THREADS)
                if (shared.limb[i])
                    atomicAdd(&grid->limb[i], shared.limb[i]);
        if (threadIdx.x == 0 && shared.saw)
            atomicOr(&grid->saw, shared.saw);
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            shared.last = atomicAdd(&grid->ticket, 1) == gridDim.x - 1;
        __syncthreads();
        if (!shared.last)
            return;
        __threadfence();
    }
    round_grid(shared, grid, alone, n > 0, result);
}

} // namespace

extern "C" {

__global__ void __launch_bounds__(THREADS, RD_CUDA_EXACT_RESIDENT)
    rd_cuda_exact_sum_f64(const double *x, u64 n, double *result, void *workspace) {
    exact_sum(x, n, result, static_cast<Workspace *>(workspace));
}

__global__ void __launch_bounds__(THREADS, RD_CUDA_EXACT_RESIDENT)
    rd_cuda_exact_sum_f32(const float *x, u64 n, float *result, void *workspace) {
    exact_sum(x, n, result, static_cast<Workspace *>(workspace));
}

/* Integers need no window: 64-bit sums, added by atomics; the last block reads and clears. */
__global__ void __launch_bounds__(THREADS, RD_CUDA_EXACT_RESIDENT)
    rd_cuda_sum_i32(const int *x, u64 n, i64 *result, void *workspace) {
    Workspace *grid = static_cast<Workspace *>(workspace);
    u64 head = min(n, (u64)((16 - (u64)x % 16) % 16 / sizeof(int)));
    u64 vectors = (n - head) / 4, tail = head + vectors * 4;
    u64 step = (u64)gridDim.x * THREADS * VECTORS, base = (u64)blockIdx.x * THREADS * VECTORS + threadIdx.x;
    const int4 *vector = reinterpret_cast<const int4 *>(x + head);
    i64 sum = 0;
    if (blockIdx.x == 0) {
        u64 at = threadIdx.x < head ? threadIdx.x : tail + threadIdx.x - head;
        if (at < n && threadIdx.x < head + (n - tail))
            sum = x[at];
    }
    for (; base < vectors; base += step) {
        int4 v[VECTORS];
#pragma unroll
        for (int i = 0; i < VECTORS; i++) {
            u64 at = base + (u64)i * THREADS;
            v[i] = at < vectors ? __ldcs(vector + at) : make_int4(0, 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < VECTORS; i++)
            sum += (i64)v[i].x + v[i].y + v[i].z + v[i].w;
    }
    __shared__ i64 part[WARPS];
    sum = warp_add(sum);
    if ((threadIdx.x & 31) == 0)
        part[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    for (int i = 1; i < WARPS; i++)
        sum += part[i];
    atomicAdd(&grid->limb[0], (u64)sum);
    __threadfence();
    if (atomicAdd(&grid->ticket, 1) == gridDim.x - 1) {
        __threadfence();
        *result = (i64)atomicExch(&grid->limb[0], 0);
        grid->ticket = 0;
    }
}
}
