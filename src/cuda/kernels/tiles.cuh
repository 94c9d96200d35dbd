/* How a kernel reads its arrays: as vectors, of which each thread loads several at once, a tile of the block.
 *
 * Tiles come in turn: block b takes tiles b, b + blocks, b + 2 * blocks and so on. Where there is a ring, the last ones go to
 * whichever block is free. Elements before the first vector and after the last, the strays, are the first block's. */
#pragma once

#include "elements.cuh"
#include "ring.cuh"

namespace {

/* An array as 16-byte vectors, from the first cache line on, which warps then load whole: with a head before it and a tail
 * after the last vector. If `wide`, large arrays begin where what a warp loads at once is aligned (RD_CUDA_WIDE_BYTES). */
constexpr unsigned LINE = RD_CUDA_LINE, WARP_LINES = RD_CUDA_WARP_LINES;
constexpr u64 WIDE_BYTES = RD_CUDA_WIDE_BYTES;

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

    /* Calls family.take_stray(at) for the elements outside vectors: the first block does. */
    template <class Family> __device__ __forceinline__ void for_strays(Family &family) const {
        const unsigned strays = (unsigned)(n - vectors * PER_VECTOR);
        if (blockIdx.x == 0)
            for (unsigned i = threadIdx.x; i < strays; i += THREADS)
                family.take_stray(i < head ? (u64)i : tail + (i - head));
    }
};

template <class T> union Vector {
    uint4 bits;
    unsigned word[4];
    T element[16 / sizeof(T)];
};

/* Padding for a family to which elements may come twice: the last vector again. */
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
    /* `left` vectors are there, from `x` on, this thread's first; others are `padding`. (Whole tiles could do without the
     * comparisons, but would take longer: where two paths join, compilers wait for all loads.) */
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
    static __device__ __forceinline__ u64 place(unsigned i) {
        return (u64)(i / PER_VECTOR) * THREADS * PER_VECTOR + i % PER_VECTOR;
    }
};

/* Has the block's first tile fetched into the L2 cache, by one thread. This may happen before the previous launch has ended:
 * all multiprocessors share that cache, so what is fetched is right even if that launch writes it later. */
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

/* Elements outside vectors as a tile of their own, the first block's last, of which each thread has at most one: for a family
 * that takes much longer for single elements than for those of a tile. */
template <class T> struct StrayTile {
    static constexpr bool THERE = true;
    T x, y;       /* the thread's, or what fills tiles */
    u64 at;       /* where it is; the end of the array where the thread has none */
    bool pending; /* of the block */
    const T *from, *other;

    __device__ __forceinline__ void take_stray(u64 stray) {
        at = stray;
        x = from[stray];
        y = other ? other[stray] : (T)0;
    }

    /* At most a cache line before the vectors, and less than a vector after them. */
    static_assert(LINE / sizeof(T) + 16 / sizeof(T) <= THREADS, "there is a thread for each");

    __device__ __forceinline__ StrayTile(const Span<T> &span, const T *other_, T filling)
        : x(filling), y((T)0), at(span.n), pending(false), from(span.x), other(other_) {
        span.for_strays(*this);
        pending = blockIdx.x == 0 && span.n != span.vectors * Span<T>::PER_VECTOR;
    }
};

/* For families that take them one by one. */
struct NoStrayTile {
    static constexpr bool THERE = false, pending = false;
};

/* Calls family.take(x, y, index) for every tile of the block: index is that of the thread's first element; y is that of
 * pairs. family.padding() is what fills the last tile's vectors. Whole tiles come through the ring, where there is one: first
 * those whose turn it is, then what the block claims. */
template <bool PAIRS, class T, int V, class R, class Family, class S = NoStrayTile>
__device__ __forceinline__ void for_tiles(const rd_cuda_call &call, const Span<T> &span, R &ring, Family &family,
                                          S strays = S()) {
    constexpr i64 TILE = (i64)THREADS * V;
    const uint4 zero = make_uint4(0, 0, 0, 0);
    const u64 begin = blockIdx.x * (u64)TILE + threadIdx.x;
    const uint4 *x = span.vector() + begin;
    const T *y = static_cast<const T *>(call.y) + span.head + begin * Span<T>::PER_VECTOR;
    const bool aligned = ((u64)y & 15) == 0;
    const i64 step = (i64)gridDim.x * TILE;
    i64 left = (i64)(span.vectors - begin); /* vectors from this thread's first on */
    /* Two loops: in one for both ways, compilers would wait for all loads where these join. */
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
                    else if (next < whole) /* otherwise nothing is left to claim */
                        next = call.turns * gridDim.x + atomicAdd(reinterpret_cast<u64 *>(&call.workspace->claimed), 1);
                }
                parity ^= i == R::TILES - 1;
                i = i == R::TILES - 1 ? 0 : i + 1;
                family.take(tile, none, call.first + span.head + (number * TILE + threadIdx.x) * Span<T>::PER_VECTOR);
            }
            /* What is less than a tile is the first block's. */
            x = span.vector() + whole * TILE + threadIdx.x;
            left = (blockIdx.x == 0 ? (i64)(span.vectors - whole * TILE) : 0) - (i64)threadIdx.x;
        }
    }
    while (left + (int)threadIdx.x > 0 || strays.pending) {
        Tile<T, V> tile, other;
        const int here = (int)(left < TILE ? left : TILE);
        tile.load(x, here, family.padding());
        if constexpr (PAIRS) {
            if (aligned)
                other.load(reinterpret_cast<const uint4 *>(y), here, zero);
            else
                other.load_elements(y, here, zero);
            y += step * Span<T>::PER_VECTOR;
        }
        u64 at = (u64)(reinterpret_cast<const T *>(x) - span.x);
        if constexpr (S::THERE) { /* without a branch: where paths join, compilers wait for all loads */
            const bool turn = left + (int)threadIdx.x <= 0;
            tile.set(0, turn ? strays.x : tile.get(0));
            if (PAIRS)
                other.set(0, turn ? strays.y : other.get(0));
            at = turn ? strays.at : at;
            strays.pending = strays.pending && !turn;
        }
        family.take(tile, other, call.first + at);
        x += step;
        left -= step;
    }
}

} // namespace
