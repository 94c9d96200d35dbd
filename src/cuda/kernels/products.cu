/* Products of floats by the tree that arithmetic/product.h defines, so that every device gives the same bits,
 * and of integers in 256 bits.
 *
 * Floats. A block of the tree has 64 columns, each a running product of 64 factors (arithmetic/product.h calls them lanes, which
 * are threads of a warp here). So a warp takes a block, two columns to a thread: columns t and t + 32, whose elements stand
 * together over the warp at any alignment. Significands of 64 factors stay below 2^64; exponents are added apart, as
 * integers, and signs by parity.
 *   1. A warp multiplies the blocks of a run, an aligned subtree, and combines them as a binary counter does: lane k holds
 *      the product of the last 2^k blocks that wait for their neighbour.
 *   2. Products of runs, of the subtrees of a run that is cut short, and the columns of a block that is, go to the
 *      workspace.
 *   3. The last block combines runs pairwise, level by level.
 *
 * Integers. A thread multiplies eight bytes' worth of magnitudes, which fit 64 bits, and by that its product of 256.
 * Once this has overflowed nothing but zeros and signs matter, unless the result shall wrap. */
#include "delivery.cuh"
#include "meeting.cuh"
#include "whole.cuh"

namespace {

/* ---------------------------------------------------------------------------------------------------------------------
 * The end: by one thread of the last block, for whichever product
 * ------------------------------------------------------------------------------------------------------------------ */

__device__ uint32_t round_product(struct rd_product &product, u64 nans, const struct rd_type &type, bool,
                                  uint64_t *word) {
    __shared__ struct rd_big room; /* the stack of a thread is small, and lies in device memory */
    word[0] = rd_finish_product(&product, nans, &type, &room);
    return REDUCT_OK;
}

__device__ uint32_t round_product(struct rd_whole &product, u64, const struct rd_type &type, bool wrap,
                                  uint64_t *word) {
    if (!rd_finish_whole(&product, &type, word) && !wrap)
        return REDUCT_ERROR_OVERFLOW;
    return REDUCT_OK;
}

template <class P>
__device__ __noinline__ void finish_product(const rd_cuda_call &call, const rd_cuda_partial &partial, P &product) {
    const struct rd_type type = result_type(call);
    uint64_t words[4] = {0, 0, 0, 0};
    u64 index = call.nan == REDUCT_NAN_ERROR ? partial.nan_index : UINT64_MAX;
    uint32_t status = REDUCT_OK;
    if (index != UINT64_MAX)
        status = REDUCT_ERROR_NAN;
    else if (call.count - partial.ignored < call.minimum)
        status = REDUCT_ERROR_EMPTY;
    else
        status = round_product(product, partial.nans, type, call.wrap, words);
    if (status == REDUCT_OK)
        store_result(call.result, words, call.result_bytes);
    tell_outcome(call, status, index);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Floats
 * ------------------------------------------------------------------------------------------------------------------ */

constexpr int RUNS_MAX = RD_CUDA_RUNS_MAX;

/* Words of the workspace's slots: products of runs, of subtrees of the last run, of columns of the last block. */
constexpr int SUBTREES_AT = RUNS_MAX, COLUMNS_AT = SUBTREES_AT + 32;
static_assert(COLUMNS_AT + RD_PRODUCT_LANES <= RD_CUDA_SLOT_WORDS * RD_CUDA_BLOCKS, "slots hold what blocks leave");

/* Limbs count in place of adding: what all blocks saw, in whatever order. */
enum { EXPONENT, NEGATIVES, ZEROS, INFINITIES };

/* How the factors of a launch are shared out. */
struct Plan {
    u64 full;  /* blocks of the tree that have all their factors, or will get no others: what is missing is 1 */
    int level; /* of runs of 2^level blocks */
    u64 runs, items;
    bool cut; /* the last item is a block without all its factors, to which others may come */

    __device__ explicit Plan(const rd_cuda_call &call) : level(0) {
        cut = call.partial && call.count % RD_PRODUCT_BLOCK != 0;
        full = call.count / RD_PRODUCT_BLOCK + (!cut && call.count % RD_PRODUCT_BLOCK != 0);
        while (full >> level > RUNS_MAX)
            level++;
        runs = full >> level;
        items = runs + (runs << level != full) + cut;
    }
};

/* What is no normal number multiplies by this. */
struct Special {
    double significand;
    int64_t exponent;
    unsigned negative;
};

__device__ __noinline__ Special take_special(Block &block, const rd_cuda_call &call, double x, u64 index) {
    int64_t *seen = block.partial.limb[0];
    u64 bits = bits_of(x), fraction = bits & FRACTION;
    Special special = {1, 0, (unsigned)(bits >> 63)};
    raise_flag(block.used);
    if (x != x) {
        special.negative = 0;
        count(call.nan == REDUCT_NAN_IGNORE ? block.partial.ignored : block.partial.nans, 1);
        if (call.nan == REDUCT_NAN_ERROR)
            note_nan(block, index);
    } else if ((bits >> 52 & 0x7ff) == 0x7ff) {
        atomicAdd(reinterpret_cast<u64 *>(&seen[INFINITIES]), 1);
    } else if (fraction == 0) {
        atomicAdd(reinterpret_cast<u64 *>(&seen[ZEROS]), 1);
    } else {
        special.significand = take_subnormal(fraction, &special.exponent);
    }
    return special;
}

/* A thread's part of a block: the products of two columns, and the exponents and signs of all its factors so far. */
struct Columns {
    double low, high;
    int64_t exponent;
    unsigned negative;

    __device__ __forceinline__ void take(Block &block, const rd_cuda_call &call, double &column, double x, u64 index) {
        int field = (int)(bits_of(x) >> 52) & 0x7ff;
        if (field != 0 && field != 0x7ff) {
            column *= from_bits((bits_of(x) & FRACTION) | ONE);
            exponent += field - 1023;
            negative ^= (unsigned)(bits_of(x) >> 63);
        } else {
            Special special = take_special(block, call, x, index);
            column *= special.significand;
            exponent += special.exponent;
            negative ^= special.negative;
        }
    }

    /* The block at x, of which `there` factors are; others are 1. */
    template <class T>
    __device__ __forceinline__ void multiply_block(Block &block, const rd_cuda_call &call, const T *x, int there,
                                                   u64 index) {
        constexpr int ROWS = RD_CUDA_PRODUCT_ROWS;
        low = high = 1;
#pragma unroll 1
        for (int row = 0; row < RD_PRODUCT_BLOCK / RD_PRODUCT_LANES; row += ROWS) {
            T factor[ROWS][2];
            int first = row * RD_PRODUCT_LANES + lane_index();
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    int i = first + r * RD_PRODUCT_LANES + h * 32;
                    factor[r][h] = i < there ? __ldcs(x + i) : (T)1;
                }
            bool special = false;
            int exponents = 0;
            unsigned signs = 0;
            double products[2] = {low, high};
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    u64 bits = bits_of((double)factor[r][h]);
                    int field = (int)(bits >> 52) & 0x7ff;
                    special = special || (unsigned)(field - 1) >= 0x7fe;
                    exponents += field - 1023;
                    signs ^= (unsigned)(bits >> 32);
                    products[h] *= from_bits((bits & FRACTION) | ONE);
                }
            if (!special) {
                low = products[0];
                high = products[1];
                exponent += exponents;
                negative ^= signs >> 31;
                continue;
            }
#pragma unroll 1
            for (int i = 0; i < 2 * ROWS; i++) { /* from memory again: seldom, and registers have no index */
                int at = first + i / 2 * RD_PRODUCT_LANES + i % 2 * 32;
                if (at < there)
                    take(block, call, i % 2 ? high : low, (double)x[at], index + at);
            }
        }
    }

    /* Brings both to [1, 2). */
    __device__ __forceinline__ void scale() {
        low = take_exponent(low, &exponent);
        high = take_exponent(high, &exponent);
    }

    /* The product of the block's columns, in all threads of the warp. */
    __device__ __forceinline__ double close() {
        scale();
        double product = low * high;
#pragma unroll
        for (int distance = 16; distance; distance /= 2)
            product *= __shfl_xor_sync(ALL, product, distance);
        int64_t shift = 0;
        product = take_exponent(product, &shift);
        exponent += lane_index() == 0 ? shift : 0;
        return product;
    }
};

/* Phases 1 and 2. */
template <class T>
__device__ __forceinline__ void multiply_runs(Block &block, const rd_cuda_call &call, const Plan &plan) {
    uint64_t *node = &call.workspace->slot[0][0];
    const T *x = static_cast<const T *>(call.x);
    Columns columns = {1, 1, 0, 0};
    for (u64 item = warp_index() * (u64)gridDim.x + blockIdx.x; item < plan.items; item += (u64)gridDim.x * WARPS) {
        if (plan.cut && item == plan.items - 1) {
            u64 at = plan.full * RD_PRODUCT_BLOCK;
            columns.multiply_block(block, call, x + at, (int)(call.count - at), call.first + at);
            columns.scale();
            node[COLUMNS_AT + lane_index()] = bits_of(columns.low);
            node[COLUMNS_AT + 32 + lane_index()] = bits_of(columns.high);
            continue;
        }
        u64 first = item << plan.level, blocks = min((u64)1 << plan.level, plan.full - first);
        double waiting = 1, product = 1; /* lane k: of the last 2^k blocks, if bit k of their number is set */
        for (u64 b = 0; b < blocks; b++) {
            u64 at = (first + b) * RD_PRODUCT_BLOCK;
            columns.multiply_block(block, call, x + at, (int)min(call.count - at, (u64)RD_PRODUCT_BLOCK),
                                   call.first + at);
            product = columns.close();
            int level = 0;
            for (; b >> level & 1; level++) {
                int64_t shift = 0;
                product = multiply(__shfl_sync(ALL, waiting, level), product, &shift);
                columns.exponent += lane_index() == 0 ? shift : 0;
            }
            waiting = lane_index() == level ? product : waiting;
        }
        if (item >= plan.runs)
            node[SUBTREES_AT + lane_index()] = bits_of(waiting);
        else if (lane_index() == 0)
            node[item] = bits_of(product);
    }
    i64 exponent = warp_add(columns.exponent);
    unsigned negatives = __popc(__ballot_sync(ALL, columns.negative));
    if (lane_index() == 0) {
        int64_t *seen = block.partial.limb[0];
        atomicAdd(reinterpret_cast<u64 *>(&seen[EXPONENT]), (u64)exponent);
        atomicAdd(reinterpret_cast<u64 *>(&seen[NEGATIVES]), (u64)negatives);
        raise_flag(block.used);
    }
}

/* Combines the nodes i and i + 1 of a level that has `count`, where both are there; a last one that has no neighbour is
 * a subtree of the whole. */
__device__ __forceinline__ double join(double left, double right, u64 i, u64 count, double &subtree,
                                       int64_t &exponent) {
    if (i + 1 < count)
        return multiply(left, right, &exponent);
    if (i + 1 == count)
        subtree = left;
    return 1;
}

/* Phase 3: the product of all, in shared memory. */
__device__ void combine_runs(const rd_cuda_call &call, const Plan &plan, struct rd_product &product, double *nodes,
                             u64 *exponent) {
    const u64 *from = reinterpret_cast<const u64 *>(&call.workspace->slot[0][0]);
    const unsigned t = threadIdx.x;
    constexpr int OWNED = RUNS_MAX / THREADS;
    double own[OWNED];
    int64_t shift = 0;
#pragma unroll
    for (int i = 0; i < OWNED; i++)
        own[i] = OWNED * t + i < plan.runs ? from_bits(__ldcg(from + OWNED * t + i)) : 1;
    if (t < 32 && plan.full >> t & 1 && (int)t < plan.level)
        product.subtree[t] = from_bits(__ldcg(from + SUBTREES_AT + t));
    if (t < RD_PRODUCT_LANES)
        product.lane[t] = plan.cut ? from_bits(__ldcg(from + COLUMNS_AT + t)) : 1;
    u64 count = plan.runs;
    double *subtree = &product.subtree[plan.level];
#pragma unroll
    for (int width = OWNED; width > 1; width /= 2, count /= 2, subtree++)
#pragma unroll
        for (int i = 0; i < width; i += 2)
            own[i / 2] = join(own[i], own[i + 1], (u64)width * t + i, count, *subtree, shift);
    nodes[t] = own[0];
    for (unsigned width = THREADS; count; width /= 2, count /= 2, subtree++) {
        __syncthreads();
        double joined = 1;
        if (2 * t < width)
            joined = join(nodes[2 * t], width > 1 ? nodes[2 * t + 1] : 1, 2 * t, count, *subtree, shift);
        __syncthreads();
        nodes[t] = joined;
    }
    atomicAdd(exponent, (u64)shift);
    __syncthreads();
}

/* Leaves the partial result for the host. */
__device__ void hand_over_product(const rd_cuda_call &call, const rd_cuda_partial &partial,
                                  const struct rd_product &product, i64 exponent) {
    rd_cuda_partial &to = *call.partial;
    for (int i = threadIdx.x; i < RD_PRODUCT_LANES; i += THREADS)
        to.product.lane[i] = product.lane[i];
    for (int i = threadIdx.x; i < RD_PRODUCT_LEVELS; i += THREADS)
        to.product.subtree[i] = product.subtree[i];
    if (threadIdx.x == 0) {
        to.product.exponent = exponent;
        to.product.count = product.count;
        to.product.negative = product.negative;
        to.product.zero = product.zero;
        to.product.infinite = product.infinite;
        to.ignored = partial.ignored;
        to.nans = partial.nans;
        to.plus_infinities = to.minus_infinities = 0;
        to.nonzero = to.found = 0;
        to.nan_index = partial.nan_index;
    }
}

template <class T> __device__ __forceinline__ void multiply_floats(const rd_cuda_call &call) {
    __shared__ Block block;
    __shared__ double nodes[THREADS];
    __shared__ struct rd_product product;
    __shared__ u64 exponent;
    open_block(block);
    wait_for_previous();
    let_next_come();
    const Plan plan(call);
    multiply_runs<T>(block, call, plan);
    __syncthreads();
    if (!close_block(block, call.workspace))
        return;
    collect(block, call.workspace);

    if (threadIdx.x < RD_PRODUCT_LEVELS)
        product.subtree[threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        const int64_t *seen = block.partial.limb[0];
        exponent = (u64)seen[EXPONENT];
        product.negative = seen[NEGATIVES] & 1;
        product.zero = seen[ZEROS] != 0;
        product.infinite = seen[INFINITIES] != 0;
        product.count = plan.cut ? call.count : plan.full * RD_PRODUCT_BLOCK;
    }
    __syncthreads();
    combine_runs(call, plan, product, nodes, &exponent);
    if (call.partial)
        hand_over_product(call, block.partial, product, (i64)exponent);
    else if (threadIdx.x == 0) {
        product.exponent = (i64)exponent;
        finish_product(call, block.partial, product);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Integers
 * ------------------------------------------------------------------------------------------------------------------ */

/* Over the block: `all[0]`. */
__device__ __noinline__ void multiply_all(struct rd_whole *all, bool wrap) {
    for (unsigned half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            rd_whole_multiply(&all[threadIdx.x], &all[threadIdx.x + half], wrap);
    }
    __syncthreads();
}

__device__ void put_whole(rd_cuda_workspace *workspace, const struct rd_whole &whole) {
    for (int i = 0; i < 4; i++)
        put_slot(workspace, i, whole.magnitude[i]);
    put_slot(workspace, 4, (u64)whole.negative | (u64)whole.overflow << 1);
}

__device__ struct rd_whole get_whole(const rd_cuda_workspace *workspace, unsigned of_block) {
    u64 flags = get_slot(workspace, 4, of_block);
    struct rd_whole whole = {{0, 0, 0, 0}, (flags & 1) != 0, (flags & 2) != 0};
    for (int i = 0; i < 4; i++)
        whole.magnitude[i] = get_slot(workspace, i, of_block);
    return whole;
}

/* How elements enter the thread's product: for_tiles(). */
template <class T> struct Entry {
    static constexpr int VECTORS = RD_CUDA_VECTORS(RD_INTEGER_PRODUCT, RD_IDENTITY);
    const rd_cuda_call &call;
    const Span<T> &span;
    Vector<T> ones;
    Whole product;

    __device__ __forceinline__ Entry(const rd_cuda_call &c, const Span<T> &s)
        : call(c), span(s), product{{1, 0, 0, 0}, false, false, 0} {
#pragma unroll
        for (int i = 0; i < Span<T>::PER_VECTOR; i++)
            ones.element[i] = 1;
    }

    __device__ __forceinline__ uint4 padding() const {
        return ones.bits;
    }

    __device__ __forceinline__ void take_stray(u64 at) {
        Vector<T> stray = ones;
        stray.element[0] = span.x[at];
        product.take<T>(stray, call.wrap);
    }

    __device__ __forceinline__ void take(const Tile<T, VECTORS> &tile, const Tile<T, VECTORS> &, u64) {
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            product.take<T>(tile.vector[v], call.wrap);
    }
};

template <class T> __device__ __forceinline__ void multiply_integers(const rd_cuda_call &call) {
    __shared__ Block block;
    __shared__ struct rd_whole all[THREADS];
    const Span<T> span(call.x, call.count, true);
    NoRing no_ring;
    begin<false, Entry<T>::VECTORS>(call, span, block);
    Entry<T> entry(call, span);
    span.for_strays(entry);
    for_tiles<false, T, Entry<T>::VECTORS>(call, span, no_ring, entry);

    all[threadIdx.x] = entry.product.value(call.wrap);
    multiply_all(all, call.wrap);
    if (threadIdx.x == 0)
        put_whole(call.workspace, all[0]);
    if (!close_block(block, call.workspace))
        return;
    struct rd_whole own = {{1, 0, 0, 0}, false, false};
    for (unsigned b = threadIdx.x; b < gridDim.x; b += THREADS) {
        struct rd_whole other = get_whole(call.workspace, b);
        rd_whole_multiply(&own, &other, call.wrap);
    }
    all[threadIdx.x] = own;
    multiply_all(all, call.wrap);
    if (threadIdx.x != 0)
        return;
    if (call.partial) {
        *call.partial = block.partial; /* as there is no NaN and no sum, nothing but empty */
        call.partial->whole = all[0];
    } else {
        finish_product(call, block.partial, all[0]);
    }
}

} // namespace

#define KERNEL(name, TYPE, FORM) RD_CUDA_KERNEL(product_##name, RD_CUDA_RESIDENT_PRODUCTS, FORM<TYPE>)

KERNEL(f64, double, multiply_floats)
KERNEL(f32, float, multiply_floats)
KERNEL(f16, F16, multiply_floats)
KERNEL(bf16, BF16, multiply_floats)
KERNEL(i8, int8_t, multiply_integers)
KERNEL(i16, int16_t, multiply_integers)
KERNEL(i32, int32_t, multiply_integers)
KERNEL(i64, i64, multiply_integers)
KERNEL(u8, uint8_t, multiply_integers)
KERNEL(u16, uint16_t, multiply_integers)
KERNEL(u32, uint32_t, multiply_integers)
KERNEL(u64, u64, multiply_integers)
KERNEL(bool, Truth, multiply_integers)
