/* What all kernels of the library share: a block's place in the grid, reductions over warps, the way from blocks to the
 * last block, and from there to the result. */
#pragma once

#include "call.h"
#include "finish.cuh"

#include <type_traits>

namespace {

constexpr int THREADS = RD_CUDA_THREADS, WARPS = RD_CUDA_WARPS;
constexpr unsigned ALL = 0xffffffff;

__device__ __forceinline__ int lane_index() {
    return threadIdx.x & 31;
}
__device__ __forceinline__ int warp_index() {
    return threadIdx.x >> 5;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Launches. Those that follow each other in a stream may overlap, if the host allows it: blocks of the next one come as
 * soon as all of this one say so, and wait until this one has ended and all that it wrote can be seen.
 * ------------------------------------------------------------------------------------------------------------------ */

/* By all threads of every kernel, before anything in global memory is read or written. */
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* By all threads. Not before they have waited, or launches further on come too, and take what this one needs. */
__device__ __forceinline__ void let_next_come() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* A kernel, and the blocks of it that a multiprocessor shall hold, for the compiler to keep to the registers: what measured
 * best. The function comes last, as it may have commas. */
#define RD_CUDA_KERNEL(NAME, BLOCKS, ...)                                                                              \
    extern "C" __global__ void __launch_bounds__(RD_CUDA_THREADS, BLOCKS)                                              \
        NAME(const __grid_constant__ rd_cuda_call call) {                                                              \
        __VA_ARGS__(call);                                                                                             \
    }

/* ---------------------------------------------------------------------------------------------------------------------
 * Warps
 * ------------------------------------------------------------------------------------------------------------------ */

template <class T> __device__ __forceinline__ T warp_add(T value) {
#pragma unroll
    for (int offset = 16; offset; offset /= 2)
        value += __shfl_xor_sync(ALL, value, offset);
    return value;
}

__device__ __forceinline__ unsigned warp_max(unsigned value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(ALL, value);
#else
    for (int offset = 16; offset; offset /= 2)
        value = max(value, __shfl_xor_sync(ALL, value, offset));
    return value;
#endif
}

__device__ __forceinline__ unsigned warp_min(unsigned value) {
    return ~warp_max(~value);
}

__device__ __forceinline__ int warp_add_words(int value) {
#if __CUDA_ARCH__ >= 800
    return (int)__reduce_add_sync(ALL, (unsigned)value);
#else
    return warp_add(value);
#endif
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Vectors
 * ------------------------------------------------------------------------------------------------------------------ */

/* An array as 16-byte vectors, from the first cache line on, which warps then load whole: with a head before it and a tail
 * after the last vector. If `wide`, large arrays begin where what a warp loads at once is aligned: one line later an H200
 * takes 1.3% longer to read 4 GiB. */
constexpr unsigned LINE = 128, WARP_LINES = 4 * LINE;
constexpr u64 WIDE_BYTES = 1 << 20;

template <class T> struct Span {
    static constexpr int PER_VECTOR = 16 / sizeof(T);
    const T *x;
    u64 n, head, vectors, tail;

    __device__ Span(const void *from, u64 count, bool wide) : x(static_cast<const T *>(from)), n(count) {
        const unsigned line = wide && count >= WIDE_BYTES / sizeof(T) ? WARP_LINES : LINE;
        head = min(count, (u64)(-(u64)from % line) / (u64)sizeof(T));
        vectors = (count - head) / PER_VECTOR;
        tail = head + vectors * PER_VECTOR;
    }

    __device__ const uint4 *vector() const {
        return reinterpret_cast<const uint4 *>(x + head);
    }

    /* Calls take(at) for the elements outside vectors: the first block does. */
    template <class Take> __device__ __forceinline__ void for_strays(Take take) const {
        const unsigned strays = (unsigned)(n - vectors * PER_VECTOR);
        if (blockIdx.x == 0)
            for (unsigned i = threadIdx.x; i < strays; i += THREADS)
                take(i < head ? (u64)i : tail + (i - head));
    }
};

template <class T> union Vector {
    uint4 bits;
    unsigned word[4];
    T element[16 / sizeof(T)];
};

/* What fills tiles where elements may come twice: the last vector, again. */
struct LastAgain {};

/* V vectors of a thread, THREADS apart. */
template <class T, int V> struct Tile {
    static constexpr int VECTORS = V, PER_VECTOR = 16 / sizeof(T), COUNT = V * PER_VECTOR;
    Vector<T> vector[V];

    __device__ __forceinline__ T get(int i) const {
        return vector[i / PER_VECTOR].element[i % PER_VECTOR];
    }
    __device__ __forceinline__ void set(int i, T value) {
        vector[i / PER_VECTOR].element[i % PER_VECTOR] = value;
    }
    /* `left` vectors are there, from `x` on, this thread's first; others are `padding`. (A path of its own for whole tiles
     * takes fewer instructions and more time: where paths join, all loads must have arrived.) */
    __device__ __forceinline__ void load(const uint4 *x, int left, uint4 padding) {
#pragma unroll
        for (int v = 0; v < V; v++)
            vector[v].bits = v * THREADS < left ? __ldcs(x + v * THREADS) : padding;
    }
    __device__ __forceinline__ void load(const uint4 *x, int left, LastAgain) {
#pragma unroll
        for (int v = 0; v < V; v++)
            vector[v].bits = __ldcs(x + min(v * THREADS, left - 1));
    }

    /* A whole tile, from shared memory. */
    __device__ __forceinline__ void load_shared(const unsigned char *from) {
#pragma unroll
        for (int v = 0; v < V; v++)
            vector[v].bits = reinterpret_cast<const uint4 *>(from)[threadIdx.x + v * THREADS];
    }

    /* From an address that is aligned to the element only. */
    __device__ __forceinline__ void load_elements(const T *x, int left, uint4 padding) {
#pragma unroll
        for (int v = 0; v < V; v++) {
            vector[v].bits = padding;
            if (v * THREADS < left)
#pragma unroll
                for (int i = 0; i < PER_VECTOR; i++)
                    vector[v].element[i] = __ldcs(x + v * THREADS * PER_VECTOR + i);
        }
    }

    /* Where element i is, counted from the thread's first. */
    static __device__ __forceinline__ u64 place(int i) {
        return (u64)(i / PER_VECTOR) * THREADS * PER_VECTOR + i % PER_VECTOR;
    }
};

/* Tiles in dynamic shared memory, which the copy engine fills while others are added (compute capability 9.0 and later):
 * more is on its way than registers could wait for. `arrived` and `read` are mbarriers: words that count arrivals and
 * bytes, in phases that are told apart by their parity. */
#if __CUDA_ARCH__ >= 900
extern __shared__ __align__(128) unsigned char ring_memory[];

template <int TILE_BYTES> struct Ring {
    static constexpr bool THERE = true;
    static constexpr int TILES = RD_CUDA_RING_TILES;
    __align__(8) u64 arrived[TILES], read[TILES];
    u64 number[TILES]; /* of the tile, in the array */

    __device__ __forceinline__ static u64 shared_address(const void *pointer) {
        return (u64)__cvta_generic_to_shared(pointer);
    }
    __device__ __forceinline__ static unsigned char *tile(int i) {
        return ring_memory + i * TILE_BYTES;
    }

    __device__ __forceinline__ static void arrive(u64 &barrier) {
        u64 state;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "l"(shared_address(&barrier)) : "memory");
        (void)state;
    }

    /* By one thread. */
    __device__ __forceinline__ void open() {
        for (int i = 0; i < TILES; i++) {
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"l"(shared_address(&arrived[i])), "r"(1) : "memory");
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"l"(shared_address(&read[i])), "r"(WARPS) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }

    /* Orders a tile from an address that is a multiple of 16; or none. By one thread. */
    __device__ __forceinline__ void order(int i, const void *from) {
        const u64 to = shared_address(tile(i));
        u64 state;
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;"
                     : "=l"(state)
                     : "l"(shared_address(&arrived[i])), "r"(TILE_BYTES)
                     : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"l"(to),
            "l"(from), "r"(TILE_BYTES), "l"(shared_address(&arrived[i]))
            : "memory");
        (void)state;
    }
    __device__ __forceinline__ void order_none(int i) {
        arrive(arrived[i]);
    }

    /* Lets another tile come into the place of one that the warp has read. (A barrier of the block would not do: it does not
     * wait for loads from shared memory that are queued, say behind atomic additions, and the copy engine may overtake
     * them.) */
    __device__ __forceinline__ void release(int i) {
        __syncwarp();
        if (lane_index() == 0)
            arrive(read[i]);
    }

    /* For the end of a phase of arrived[i] or read[i]. */
    __device__ __forceinline__ static void wait(const u64 &barrier, unsigned parity) {
        unsigned done = 0;
        while (!done)
            asm volatile("{ .reg .pred complete; mbarrier.try_wait.parity.shared.b64 complete, [%1], %2;"
                         "selp.u32 %0, 1, 0, complete; }"
                         : "=r"(done)
                         : "l"(shared_address(&barrier)), "r"(parity)
                         : "memory");
    }
};
#else
template <int TILE_BYTES> struct Ring { static constexpr bool THERE = false; };
#endif

/* For what has enough on its way without. */
struct NoRing {
    static constexpr bool THERE = false;
};

template <int FAMILY, int TRANSFORM>
using RingOf = typename std::conditional<RD_CUDA_HAS_RING(FAMILY, TRANSFORM),
                                         Ring<RD_CUDA_TILE_BYTES(RD_CUDA_VECTORS(FAMILY, TRANSFORM))>, NoRing>::type;

/* Sets the block's first tile on its way to the L2 cache, by one thread: of use before the launch before has ended, even if
 * that writes what is fetched, as all multiprocessors share the cache. */
template <bool PAIRS, int V, class T>
__device__ __forceinline__ void fetch_first_tile(const rd_cuda_call &call, const Span<T> &span) {
#if __CUDA_ARCH__ >= 900
    constexpr u64 TILE = (u64)THREADS * V;
    const u64 begin = blockIdx.x * TILE;
    if (begin < span.vectors) {
        const uint4 *x = span.vector() + begin;
        const T *y = static_cast<const T *>(call.y) + span.head + begin * Span<T>::PER_VECTOR;
        const unsigned bytes = 16 * (unsigned)min(TILE, span.vectors - begin);
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(x), "r"(bytes) : "memory");
        if (PAIRS && ((u64)y & 15) == 0)
            asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(y), "r"(bytes) : "memory");
    }
#endif
}

/* Elements outside vectors that come as a tile of their own, the first block's last, of which each thread has at most one:
 * where single elements would be dear. */
template <class T> struct StrayTile {
    static constexpr bool THERE = true;
    T x, y; /* the thread's, or what fills tiles */
    u64 at;
    bool pending; /* of the block */

    /* At most a cache line before the vectors, and less than a vector after them. */
    static_assert(LINE / sizeof(T) + 16 / sizeof(T) <= THREADS, "there is a thread for each");

    __device__ __forceinline__ StrayTile(const Span<T> &span, const T *other, T filling)
        : x(filling), y((T)0), at(0), pending(false) {
        span.for_strays([&](u64 stray) {
            at = stray;
            x = span.x[stray];
            y = other ? other[stray] : (T)0;
        });
        pending = blockIdx.x == 0 && span.n != span.vectors * Span<T>::PER_VECTOR;
    }
};

/* For what takes them one by one. */
struct NoStrayTile {
    static constexpr bool THERE = false, pending = false;
};

/* Calls take(x, y, index) for every tile of the block: index is that of the thread's first element. y is that of pairs;
 * padding is what fills the last tile's vectors. Whole tiles come through the ring, where there is one: first those whose
 * turn it is, then what the block claims. */
template <bool PAIRS, class T, int V, class R, class P, class Take, class S = NoStrayTile>
__device__ __forceinline__ void for_tiles(const rd_cuda_call &call, const Span<T> &span, R &ring, P padding, Take take,
                                          S strays = S()) {
    constexpr i64 TILE = (i64)THREADS * V;
    const uint4 zero = make_uint4(0, 0, 0, 0);
    const u64 begin = blockIdx.x * (u64)TILE + threadIdx.x;
    const uint4 *x = span.vector() + begin;
    const T *y = static_cast<const T *>(call.y) + span.head + begin * Span<T>::PER_VECTOR;
    const bool aligned = ((u64)y & 15) == 0;
    const i64 step = (i64)gridDim.x * TILE;
    i64 left = (i64)(span.vectors - begin); /* vectors from this thread's first on */
    /* Two loops, since loads must all have arrived where paths join. */
    if constexpr (R::THERE) {
        if (call.turns) {
            const u64 whole = span.vectors / (u64)TILE;
            u64 turn = R::TILES, next = blockIdx.x + turn * gridDim.x; /* the first thread's: the tile to order next */
            const auto order = [&](int i, u64 number) {
                ring.number[i] = number;
                if (number < whole)
                    ring.order(i, span.vector() + number * TILE);
                else
                    ring.order_none(i);
            };
            if (threadIdx.x == 0) {
                ring.open();
                for (int i = 0; i < R::TILES; i++)
                    order(i, blockIdx.x + i * (u64)gridDim.x);
            }
            __syncthreads(); /* barriers are set up */
            unsigned parity = 0;
            for (int i = 0;;) {
                Tile<T, V> tile, none;
                R::wait(ring.arrived[i], parity);
                const u64 number = ring.number[i];
                if (number >= whole)
                    break;
                tile.load_shared(ring.tile(i));
                ring.release(i);
                if (threadIdx.x == 0) {
                    R::wait(ring.read[i], parity);
                    order(i, next);
                    turn++;
                    if (turn < call.turns)
                        next += gridDim.x;
                    else if (next < whole) /* claims none that it would not wait for */
                        next = call.turns * gridDim.x + atomicAdd(reinterpret_cast<u64 *>(&call.workspace->claimed), 1);
                }
                parity ^= i == R::TILES - 1;
                i = i == R::TILES - 1 ? 0 : i + 1;
                take(tile, none, call.first + span.head + (number * TILE + threadIdx.x) * Span<T>::PER_VECTOR);
            }
            /* What is less than a tile is the first block's. */
            x = span.vector() + whole * TILE + threadIdx.x;
            left = (blockIdx.x == 0 ? (i64)(span.vectors - whole * TILE) : 0) - (i64)threadIdx.x;
        }
    }
    while (left + (int)threadIdx.x > 0 || strays.pending) {
        Tile<T, V> tile, other;
        const int here = (int)(left < TILE ? left : TILE);
        tile.load(x, here, padding);
        if constexpr (PAIRS) {
            if (aligned)
                other.load(reinterpret_cast<const uint4 *>(y), here, zero);
            else
                other.load_elements(y, here, zero);
            y += step * Span<T>::PER_VECTOR;
        }
        u64 at = (u64)(reinterpret_cast<const T *>(x) - span.x);
        if constexpr (S::THERE) { /* without a branch, as paths that join wait for loads */
            const bool turn = left + (int)threadIdx.x <= 0;
            tile.set(0, turn ? strays.x : tile.get(0));
            if (PAIRS)
                other.set(0, turn ? strays.y : other.get(0));
            at = turn ? strays.at : at;
            strays.pending = strays.pending && !turn;
        }
        take(tile, other, call.first + at);
        x += step;
        left -= step;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Limbs
 * ------------------------------------------------------------------------------------------------------------------ */

/* Limbs as in arithmetic/limbs.h: 64 bits wide, standing for 32; carries wait until the end. Limb 0 is worth 2^(32 * first).
 * Adds value * 2^exponent, to shared or global memory. */
__device__ __noinline__ void deposit(int64_t *limb, int first, i64 value, int exponent) {
    if (value == 0)
        return;
    u64 magnitude = value < 0 ? 0 - (u64)value : (u64)value;
    int bit = exponent - 32 * first, i = bit >> 5, shift = bit & 31;
    u64 low = magnitude << shift, high = shift ? magnitude >> (64 - shift) : 0;
    u64 part[3] = {low & 0xffffffff, low >> 32, high};
#pragma unroll
    for (int k = 0; k < 3; k++)
        if (part[k])
            atomicAdd(reinterpret_cast<u64 *>(&limb[i + k]), value < 0 ? 0 - part[k] : part[k]);
}

/* Adds value * 2^bit to an integer of W words, least significant first, in two's complement; `bit` is a constant. */
template <int W> __device__ __forceinline__ void add_at(u64 (&word)[W], __int128 value, int bit) {
    const int first = bit / 64, shift = bit % 64;
    const u64 low = (u64)value, high = (u64)(value >> 64), sign = (u64)(value >> 127);
    const u64 part[4] = {low << shift, shift ? high << shift | low >> (64 - shift) : high,
                         shift ? sign << shift | high >> (64 - shift) : sign, sign};
    unsigned __int128 sum = 0;
#pragma unroll
    for (int i = first; i < W; i++) {
        sum = (sum >> 64) + word[i] + part[i - first < 3 ? i - first : 3];
        word[i] = (u64)sum;
    }
}

__device__ void count(uint64_t &counter, u64 amount) {
    atomicAdd(reinterpret_cast<u64 *>(&counter), amount);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Blocks
 * ------------------------------------------------------------------------------------------------------------------ */

/* A block's own partial result, in shared memory. NaN indices are kept as in the workspace: complemented, 0 for none. */
struct Block {
    rd_cuda_partial partial;
    u64 nan_below;
    unsigned used;     /* limbs or counts may not be zero */
    unsigned begun;    /* the launch before has ended; told only where that is of interest */
    unsigned any_used; /* in the last block of the grid: some block's may not be zero */
    bool last;         /* of the grid */
};

/* Tickets count blocks, and in further fields those of them of which something is true: their limbs or counts are used;
 * what kernels have to say besides. */
constexpr int TICKET_BITS = 12, TICKET_USED = 1, TICKET_OWN = 2;
static_assert(RD_CUDA_BLOCKS < 1 << TICKET_BITS, "tickets count all blocks");

__device__ __forceinline__ u64 ticket_if(bool is, int field) {
    return (u64)is << (TICKET_BITS * field);
}
__device__ __forceinline__ unsigned ticket_count(u64 ticket, int field = 0) {
    return (unsigned)(ticket >> (TICKET_BITS * field)) & ((1u << TICKET_BITS) - 1);
}

/* Raised by any thread at any time; atomically, so that no race need be excused. */
template <class F> __device__ __forceinline__ void raise_flag(F &flag) {
    atomicOr(&flag, 1);
}

/* Calls put(i) for i < N, shared out over the block. Without a loop: what runs once takes as long as it is. */
template <int N, class Put> __device__ __forceinline__ void for_words(Put put) {
#pragma unroll
    for (int first = 0; first < N; first += THREADS)
        if (first + (int)threadIdx.x < N)
            put(first + (int)threadIdx.x);
}

/* By the whole block. */
__device__ __forceinline__ void open_block(Block &block) {
    static_assert(sizeof(Block) % sizeof(u64) == 0, "a block is words");
    constexpr int NAN_INDEX = offsetof(Block, partial.nan_index) / sizeof(u64);
    for_words<sizeof(Block) / sizeof(u64)>(
        [&](int i) { reinterpret_cast<u64 *>(&block)[i] = i == NAN_INDEX ? UINT64_MAX : 0; });
    __syncthreads();
}

/* Vectors up to which the first tiles are worth fetching in kernels that begin as below, at once or late: more at once are in
 * the way of the launch before. Late is after so many clock cycles, when that has read its own. */
constexpr u64 FETCH_MOST = (4 << 20) / 16, FETCH_LATE_MOST = (8 << 20) / 16;
constexpr int FETCH_DELAY = 2400;

/* By the last warp, which then waits like the others; not if those have already begun, as there was nothing to wait for. */
template <bool PAIRS, int V, class T>
__device__ __forceinline__ void fetch_late(const rd_cuda_call &call, const Span<T> &span, Block &block) {
#if __CUDA_ARCH__ >= 900
    if (lane_index() == 0) {
        const i64 start = clock64();
        bool begun = false;
        while (!begun && clock64() - start < FETCH_DELAY)
            begun = atomicOr(&block.begun, 0);
        if (!begun)
            fetch_first_tile<PAIRS, V>(call, span);
    }
    __syncwarp(); /* or lanes would load one after another */
#endif
}

/* The beginning of a kernel that reads one array, or two, by tiles; the next launch's blocks come as there is room. */
template <bool PAIRS, int V, class T>
__device__ __forceinline__ void begin(const rd_cuda_call &call, const Span<T> &span, Block &block) {
    const bool late = span.vectors > FETCH_MOST && span.vectors <= FETCH_LATE_MOST / (PAIRS ? 2 : 1);
    if (threadIdx.x == 0 && span.vectors <= FETCH_MOST)
        fetch_first_tile<PAIRS, V>(call, span);
    open_block(block);
    if (late && warp_index() == WARPS - 1)
        fetch_late<PAIRS, V>(call, span, block);
    wait_for_previous();
    if (late && threadIdx.x == 0)
        raise_flag(block.begun);
    let_next_come();
}

/* Notes a NaN at an index. */
__device__ void note_nan(Block &block, u64 index) {
    atomicMax(&block.nan_below, ~index);
    raise_flag(block.used);
}

/* Takes a ticket: returns what there are, with it. What the thread, and those that it has met, did before is seen by
 * whoever takes one later, and by those that it meets then. (Two fences and an addition take twice as long.) */
__device__ __forceinline__ u64 take_ticket(uint64_t *tickets, u64 ticket) {
    u64 before;
    asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(__cvta_generic_to_global(tickets)), "l"(ticket)
                 : "memory");
    return before + ticket;
}

/* Adds what the block has in limbs and counts to the workspace. By a warp. */
__device__ __noinline__ void publish(const Block &block, rd_cuda_workspace *workspace) {
    const rd_cuda_partial &p = block.partial;
    for (int i = lane_index(); i < 2 * RD_LIMBS; i += 32) {
        int64_t limb = (&p.limb[0][0])[i];
        if (limb)
            atomicAdd(reinterpret_cast<u64 *>(&workspace->limb[0][0]) + i, (u64)limb);
    }
    if (lane_index() == 0) {
        count(workspace->ignored, p.ignored);
        count(workspace->nans, p.nans);
        count(workspace->plus_infinities, p.plus_infinities);
        count(workspace->minus_infinities, p.minus_infinities);
        atomicMax(reinterpret_cast<u64 *>(&workspace->nan_below), block.nan_below);
    }
    __syncwarp();
}

/* Hands over what the block has in limbs and counts, and takes a ticket; what it leaves in slots or elsewhere is the
 * caller's, who writes it before, in warp 0. The block has met since other warps had anything to add. True in all threads of
 * the block that is the last of its grid to get there: it sees all that others left. */
__device__ __forceinline__ bool close_block(Block &block, rd_cuda_workspace *workspace) {
    if (warp_index() == 0) {
        __syncwarp();
        const bool used = block.used;
        if (used)
            publish(block, workspace);
        if (lane_index() == 0) {
            const u64 tickets = take_ticket(&workspace->ticket, ticket_if(true, 0) | ticket_if(used, TICKET_USED));
            block.last = ticket_count(tickets) == gridDim.x;
            block.any_used = ticket_count(tickets, TICKET_USED);
            if (block.last)
                workspace->ticket = 0;
        }
    }
    __syncthreads();
    return block.last;
}

/* Words that the last block reads until they are there. */
template <class U> __device__ __forceinline__ u64 read_word(const volatile U *word) {
    return *word;
}

/* They are there soon after the ticket was taken. Where they never are, as the workspace was not zero before the launch, the
 * launch ends with an error. */
__device__ __forceinline__ void stop_after(unsigned tries) {
    if (tries == 1u << 20)
        __trap();
}

/* In the last block: brings home what blocks added to the workspace, and clears it for the next launch. */
__device__ __noinline__ void collect_used(Block &block, rd_cuda_workspace *workspace) {
    rd_cuda_partial &p = block.partial;
    for (int i = threadIdx.x; i < 2 * RD_LIMBS; i += THREADS) {
        u64 *from = reinterpret_cast<u64 *>(&workspace->limb[0][0]) + i;
        (&p.limb[0][0])[i] = (int64_t)__ldcg(from);
        *from = 0;
    }
    if (threadIdx.x == 0) {
        p.ignored = __ldcg(reinterpret_cast<u64 *>(&workspace->ignored));
        p.nans = __ldcg(reinterpret_cast<u64 *>(&workspace->nans));
        p.plus_infinities = __ldcg(reinterpret_cast<u64 *>(&workspace->plus_infinities));
        p.minus_infinities = __ldcg(reinterpret_cast<u64 *>(&workspace->minus_infinities));
        p.nan_index = ~__ldcg(reinterpret_cast<u64 *>(&workspace->nan_below));
        workspace->ignored = workspace->nans = workspace->plus_infinities = workspace->minus_infinities = 0;
        workspace->nan_below = 0;
    }
    __syncthreads();
}

/* Returns whether any did. Where no block added anything, the last one's own limbs and counts are zero, as all are. */
__device__ __forceinline__ bool collect(Block &block, rd_cuda_workspace *workspace) {
    bool used = block.any_used;
    if (used)
        collect_used(block, workspace);
    return used;
}

/* Slots: a word per block for the last block to read. */
__device__ __forceinline__ void put_slot(rd_cuda_workspace *workspace, int word, u64 value) {
    workspace->slot[word][blockIdx.x] = value;
}
__device__ __forceinline__ u64 get_slot(const rd_cuda_workspace *workspace, int word, unsigned block) {
    return __ldcg(reinterpret_cast<const u64 *>(&workspace->slot[word][block]));
}

/* Words that blocks leave for the last one of the grid, which waits for them: all others have begun before it. (Blocks begin
 * in the order of their numbers; D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016,
 * rests on that too.) A ticket would take one more way to memory and back. No word is zero, and all are again when they have
 * been taken. */
constexpr u64 TAG = (u64)1 << 63; /* what makes words of numbers that are smaller */
__device__ __forceinline__ void leave_word(rd_cuda_workspace *workspace, int row, u64 word) {
    workspace->word[row][blockIdx.x] = word;
}

/* Where a block has used its limbs or counts, a mark, which no first word is, takes the place of its words: slots have them. */
constexpr u64 IN_SLOTS = 1;

/* Leaves the words that lane 0 has, and what the block has in limbs and counts. By warp 0; the block has met since other
 * warps had anything to add. */
template <int ROWS>
__device__ __forceinline__ void leave_words(const Block &block, rd_cuda_workspace *workspace, const u64 (&word)[ROWS]) {
    __syncwarp();
    const bool used = block.used;
    if (used)
        publish(block, workspace);
    if (lane_index() == 0) {
        if (used) {
            for (int r = 0; r < ROWS; r++)
                put_slot(workspace, r, word[r]);
            __threadfence();
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            leave_word(workspace, r, used ? IN_SLOTS : word[r]);
    }
}

__device__ __forceinline__ bool takes_words() {
    return blockIdx.x == gridDim.x - 1;
}

/* Takes the words that N blocks left, from number `first` + threadIdx.x on; zeros of blocks that are not there. By whole
 * warps: what follows a loop that some lanes leave earlier takes longer. */
template <int N, int ROWS>
__device__ __forceinline__ void take_words(Block &block, rd_cuda_workspace *workspace, unsigned first,
                                           u64 (&word)[N][ROWS]) {
    const unsigned number = first + threadIdx.x;
    bool missing;
    do {
        missing = false;
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const unsigned b = number + i * THREADS;
                word[i][r] = b < gridDim.x ? read_word(&workspace->word[r][b]) : 0;
            }
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                missing |= number + i * THREADS < gridDim.x && word[i][r] == 0;
    } while (__any_sync(ALL, missing));
#pragma unroll
    for (int i = 0; i < N; i++) {
        const unsigned b = number + i * THREADS;
        if (word[i][0]) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                workspace->word[r][b] = 0;
            if (word[i][0] == IN_SLOTS) {
                __threadfence();
                raise_flag(block.any_used);
#pragma unroll
                for (int r = 0; r < ROWS; r++)
                    word[i][r] = get_slot(workspace, r, b);
            }
        }
    }
}

/* Calls take(word) for the words of every block, shared out over the threads of the last one, to each in a fixed order. They
 * are asked for together, of as many blocks as registers bear: one after another, each would take a way to memory and back.
 * When the block has met after that, no other claims tiles, and any_used is known. */
template <int ROWS, class Take>
__device__ __forceinline__ void for_words_left(Block &block, rd_cuda_workspace *workspace, Take take) {
    constexpr int OWN = ROWS <= 4 ? 4 : 16 / ROWS;
    if (gridDim.x <= THREADS) { /* in less code, which comes from memory first */
        u64 word[1][ROWS];
        take_words(block, workspace, 0, word);
        if (word[0][0])
            take(word[0]);
        return;
    }
    for (unsigned first = 0; first < gridDim.x; first += OWN * THREADS) {
        u64 word[OWN][ROWS];
        take_words(block, workspace, first, word);
#pragma unroll
        for (int i = 0; i < OWN; i++)
            if (word[i][0])
                take(word[i]);
    }
}

/* Leaves a partial result, in shared memory, for the host. By the whole block. */
__device__ __forceinline__ void hand_over(const rd_cuda_call &call, const rd_cuda_partial &partial) {
    __syncthreads();
    const u64 *from = reinterpret_cast<const u64 *>(&partial);
    u64 *to = reinterpret_cast<u64 *>(call.partial);
    for (int i = threadIdx.x; i < (int)(sizeof(rd_cuda_partial) / sizeof(u64)); i += THREADS)
        to[i] = from[i];
}

/* The last block's end: the partial result to where it is wanted, or rounded. `first` is that of the sums' limbs. */
template <Source SOURCE, unsigned FINISHES>
__device__ void deliver(const rd_cuda_call &call, Block &block, FinishRoom &room, int first_of_terms,
                        int first_of_squares) {
    if (call.partial) {
        hand_over(call, block.partial);
        return;
    }
    __syncthreads();
    if (warp_index() == 0)
        finish<SOURCE, FINISHES>(call, block.partial, room, first_of_terms, first_of_squares);
}

} // namespace
