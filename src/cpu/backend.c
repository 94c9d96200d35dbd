/* The CPU backend: shares the data out in pieces to threads, and each piece to the kernels that its reduction needs.
 *
 * The pieces depend on the number of elements alone. Exact results do not care; fast sums are added piece by piece in
 * order, so they do not depend on threads either. Pieces of products of floats are whole subtrees of their tree. */
#include "cpu/backend.h"

#include "core/environment.h"
#include "core/status.h"
#include "cpu/features.h"
#include "cpu/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { PIECES_MAX = 256, PIECE_MIN = 1 << 16 };

/* Products of floats: more pieces, because what is left over beyond the last whole one falls to a single thread. */
enum { SUBTREES_MAX = 512, SUBTREE_LEVEL_MIN = 4 };

/* The fast result of one piece. */
struct fast {
    double high, low; /* these as in rd_partial */
    uint64_t ignored, nan_index;
};

/* The product of one piece. */
struct subtree {
    struct rd_factor factor;
    uint64_t nans, nan_index;
};

/* One call, shared by its threads. */
struct call {
    const struct rd_kernels *kernels;
    const unsigned char *x, *y;
    uint64_t first, count, piece, pieces; /* the index of the first element is not 0 where others went before */
    atomic_uint_fast64_t next;
    pthread_mutex_t lock; /* of `total` */
    struct rd_partial *total;
    union {
        struct fast fast[PIECES_MAX];
        struct subtree subtree[SUBTREES_MAX];
    };
};

/* Part of the data. */
struct range {
    const unsigned char *x, *y;
    uint64_t first, count;
};

static size_t element_size(const struct rd_partial *partial) {
    return rd_type(partial->reduction.element)->bytes;
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* Whether element i of floats at x is NaN. */
static bool is_nan(const void *x, uint64_t i, size_t bytes) {
    if (bytes == 8) {
        uint64_t bits;
        memcpy(&bits, (const unsigned char *)x + 8 * i, sizeof bits);
        return bits << 1 > (uint64_t)0x7ff << 53;
    }
    uint32_t bits;
    memcpy(&bits, (const unsigned char *)x + 4 * i, sizeof bits);
    return bits << 1 > (uint32_t)0xff << 24;
}

/* Whether element i of a range of floats is NaN: of a pair, either. */
static bool range_nan(const struct range *range, uint64_t i, size_t bytes) {
    return is_nan(range->x, i, bytes) || (range->y && is_nan(range->y, i, bytes));
}

/* The index of the first NaN of a range of floats, or UINT64_MAX. */
static uint64_t first_nan(const struct range *range, size_t bytes) {
    for (uint64_t i = 0; i < range->count; i++)
        if (range_nan(range, i, bytes))
            return range->first + i;
    return UINT64_MAX;
}

static void note_nan(struct rd_partial *partial, uint64_t index) {
    if (index < partial->nan_index)
        partial->nan_index = index;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Exact sums
 * ------------------------------------------------------------------------------------------------------------------ */

/* Whether term i of a range of floats, an element or a product, is anything but -0. A NaN that is ignored is no term.
 */
static bool is_nonzero(const struct range *range, uint64_t i, size_t bytes, bool ignore_nan) {
    double x, y = 1;
    if (ignore_nan && range_nan(range, i, bytes))
        return false;
    if (bytes == 8) {
        x = ((const double *)(const void *)range->x)[i];
        y = range->y ? ((const double *)(const void *)range->y)[i] : y;
    } else {
        x = (double)((const float *)(const void *)range->x)[i];
        y = range->y ? (double)((const float *)(const void *)range->y)[i] : y;
    }
    return (x != 0 && y != 0) || !__builtin_signbit(x) == !__builtin_signbit(y);
}

/* Looks for a term that is not -0, most often the first one. */
static void find_nonzero(struct rd_partial *partial, const struct range *range, size_t bytes) {
    bool ignore = partial->reduction.nan == REDUCT_NAN_IGNORE;
    for (uint64_t i = 0; i < range->count && !partial->nonzero; i++)
        partial->nonzero = is_nonzero(range, i, bytes, ignore);
}

static void window_init(struct rd_window *w, int lowest, struct rd_sum *sum) {
    w->level = RD_CLOSED;
    w->lowest = lowest;
    w->added = w->held = 0;
    w->sum = sum;
    w->bins_ready = false;
    w->bins.used = 0;
}

static void scratch_init(struct rd_scratch *scratch, const reduct_reduction *reduction) {
    const struct rd_operator *op = rd_operator(reduction->op);
    bool moments = op->transform == RD_MOMENTS;
    bool elements = moments || op->transform == RD_IDENTITY || op->transform == RD_ABSOLUTE;
    rd_partial_init(&scratch->partial, reduction);
    /* 24-bit elements mostly fit one slice; 53-bit elements and all products need two. */
    window_init(&scratch->terms, elements && reduction->element == REDUCT_F32 ? 1 : 2, &scratch->partial.sum);
    window_init(&scratch->squares, 2, &scratch->partial.squares);
    window_init(&scratch->errors, 2, moments ? &scratch->partial.squares : &scratch->partial.sum);
}

static void add_exact(const struct call *call, struct rd_scratch *scratch, const struct range *range) {
    struct rd_partial *partial = &scratch->partial;
    reduct_type element = partial->reduction.element;
    enum rd_transform transform = rd_operator(partial->reduction.op)->transform;
    size_t bytes = element_size(partial);
    if (call->kernels->add_integer[element]) {
        call->kernels->add_integer[element](partial, transform, range->x, range->y, range->count);
        return;
    }
    uint64_t nans = partial->nans;
    find_nonzero(partial, range, bytes);
    if (element == REDUCT_F64)
        call->kernels->add_f64(scratch, transform, (const void *)range->x, (const void *)range->y, range->count);
    else
        call->kernels->add_f32(scratch, transform, (const void *)range->x, (const void *)range->y, range->count);
    if (partial->nans > nans && partial->reduction.nan == REDUCT_NAN_ERROR)
        note_nan(partial, first_nan(range, bytes));
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Extremes
 * ------------------------------------------------------------------------------------------------------------------ */

/* Blocks stay in the first-level cache, to be searched for the index of a new extreme. */
enum { EXTREMES_BYTES = 1 << 14 };

/* The index of the first element with these bits; there is one. */
static uint64_t find_bits(const void *x, uint64_t bits, size_t bytes) {
    uint64_t i = 0;
    switch (bytes) {
    case 1:
        while (((const uint8_t *)x)[i] != bits)
            i++;
        break;
    case 2:
        while (((const uint16_t *)x)[i] != bits)
            i++;
        break;
    case 4:
        while (((const uint32_t *)x)[i] != bits)
            i++;
        break;
    default:
        while (((const uint64_t *)x)[i] != bits)
            i++;
    }
    return i;
}

/* Takes the extreme of a block without NaNs. Its index is looked for only where that is wanted and the extreme is new.
 */
static void take_extreme(struct rd_partial *partial, const struct range *block, uint64_t bits) {
    rd_partial_take(partial, bits, block->first);
    bool is_new = partial->index == block->first; /* blocks come in ascending order, and no two start alike */
    if (is_new && rd_operator(partial->reduction.op)->finish == RD_INDEX)
        partial->index += find_bits(block->x, bits, element_size(partial));
}

/* Takes the elements of a block one by one, leaving out its NaNs. */
static void take_numbers(const struct call *call, struct rd_partial *partial, const struct range *block) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    size_t bytes = element_size(partial);
    for (uint64_t i = 0; i < block->count; i++) {
        struct rd_extremes one;
        if (is_nan(block->x, i, bytes)) {
            partial->ignored++;
            continue;
        }
        call->kernels->extremes[partial->reduction.element](block->x + i * bytes, 1, op->transform == RD_ABSOLUTE,
                                                            &one);
        rd_partial_take(partial, op->combine == RD_LEAST ? one.least : one.greatest, block->first + i);
    }
}

static void add_extremes(const struct call *call, struct rd_partial *partial, const struct range *range) {
    const struct rd_operator *op = rd_operator(partial->reduction.op);
    size_t bytes = element_size(partial);
    uint64_t step = EXTREMES_BYTES / bytes;
    for (uint64_t at = 0; at < range->count; at += step) {
        uint64_t count = range->count - at < step ? range->count - at : step;
        struct range block = {range->x + at * bytes, NULL, range->first + at, count};
        struct rd_extremes extremes;
        call->kernels->extremes[partial->reduction.element](block.x, count, op->transform == RD_ABSOLUTE, &extremes);
        if (!extremes.nan) {
            take_extreme(partial, &block, op->combine == RD_LEAST ? extremes.least : extremes.greatest);
        } else if (partial->reduction.nan == REDUCT_NAN_IGNORE) {
            take_numbers(call, partial, &block);
        } else {
            note_nan(partial, first_nan(&block, bytes));
            return; /* nothing that follows can matter */
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Fast sums
 * ------------------------------------------------------------------------------------------------------------------ */

/* Adds a block in the hardware's arithmetic; returns whether a NaN came of it. */
static bool add_fast_block(const struct call *call, struct rd_partial *piece, const struct range *block) {
    bool single = piece->reduction.element == REDUCT_F32;
    enum rd_transform transform = rd_operator(piece->reduction.op)->transform;
    const void *x = block->x, *y = block->y;
    double value;
    if (transform == RD_MOMENTS) {
        double mean;
        value = single ? call->kernels->fast_moments_f32(x, block->count, &mean)
                       : call->kernels->fast_moments_f64(x, block->count, &mean);
        if (value == value || piece->reduction.nan == REDUCT_NAN_PROPAGATE)
            rd_partial_add_moments(piece, rd_partial_count(piece), block->count, mean, value);
    } else {
        value = single ? call->kernels->fast_f32(transform, x, y, block->count)
                       : call->kernels->fast_f64(transform, x, y, block->count);
        if (value == value || piece->reduction.nan == REDUCT_NAN_PROPAGATE)
            rd_partial_add_fast(piece, value, 0);
    }
    return value != value;
}

/* Copies what is not NaN; returns how much. */
static uint64_t compact(const struct range *block, size_t bytes, unsigned char *x, unsigned char *y) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < block->count; i++) {
        if (range_nan(block, i, bytes))
            continue;
        memcpy(x + kept * bytes, block->x + i * bytes, bytes);
        if (block->y)
            memcpy(y + kept * bytes, block->y + i * bytes, bytes);
        kept++;
    }
    return kept;
}

/* A block that gave NaN, once more: without NaN elements, or with a note of the first. What is left may still give NaN.
 */
static void add_fast_again(const struct call *call, struct rd_partial *piece, const struct range *block) {
    _Alignas(64) unsigned char x[RD_FAST_BLOCK * sizeof(double)], y[RD_FAST_BLOCK * sizeof(double)];
    size_t bytes = element_size(piece);
    struct range numbers = {x, block->y ? y : NULL, block->first, compact(block, bytes, x, y)};
    if (piece->reduction.nan == REDUCT_NAN_ERROR)
        note_nan(piece, first_nan(block, bytes));
    piece->reduction.nan = REDUCT_NAN_PROPAGATE;
    if (numbers.count)
        add_fast_block(call, piece, &numbers);
    piece->ignored += block->count - numbers.count; /* like `seen`, raised when the block is in */
}

static void add_fast(const struct call *call, struct rd_partial *piece, const struct range *range) {
    size_t bytes = element_size(piece);
    reduct_nan policy = piece->reduction.nan;
    for (uint64_t at = 0; at < range->count; at += RD_FAST_BLOCK) {
        uint64_t count = range->count - at < RD_FAST_BLOCK ? range->count - at : RD_FAST_BLOCK;
        struct range block = {range->x + at * bytes, range->y ? range->y + at * bytes : NULL, range->first + at, count};
        if (add_fast_block(call, piece, &block) && policy != REDUCT_NAN_PROPAGATE) {
            add_fast_again(call, piece, &block);
            piece->reduction.nan = policy;
        }
        piece->seen += count;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Products of floats
 * ------------------------------------------------------------------------------------------------------------------ */

static void take_nans(struct rd_partial *partial, uint64_t nans, uint64_t index) {
    if (partial->reduction.nan == REDUCT_NAN_IGNORE) {
        partial->ignored += nans;
        return;
    }
    partial->nans += nans;
    note_nan(partial, index);
}

/* Elements one by one: what is left of a block, or a block in which some are not normal numbers. */
static void multiply_singly(struct rd_partial *partial, const struct range *range) {
    uint64_t nans = rd_product_add(&partial->product, partial->reduction.element, range->x, range->count);
    if (nans)
        take_nans(partial, nans, first_nan(range, element_size(partial)));
}

static bool multiply_block(const struct call *call, struct rd_product *product, reduct_type element, const void *x) {
    struct rd_factor factor;
    if (!(element == REDUCT_F64 ? call->kernels->multiply_f64(x, &factor) : call->kernels->multiply_f32(x, &factor)))
        return false;
    rd_product_push(product, &factor, 0);
    return true;
}

/* Goes on with a product wherever it stands in its tree. */
static void multiply(const struct call *call, struct rd_partial *partial, const struct range *range) {
    size_t bytes = element_size(partial);
    for (uint64_t at = 0, count; at < range->count; at += count) {
        uint64_t left = range->count - at, room = RD_PRODUCT_BLOCK - partial->product.count % RD_PRODUCT_BLOCK;
        count = left < room ? left : room;
        struct range block = {range->x + at * bytes, NULL, range->first + at, count};
        if (count < RD_PRODUCT_BLOCK || !multiply_block(call, &partial->product, partial->reduction.element, block.x))
            multiply_singly(partial, &block);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Sharing out
 * ------------------------------------------------------------------------------------------------------------------ */

/* The next piece of the data, if any. */
static bool next_piece(struct call *call, size_t bytes, uint64_t *number, struct range *range) {
    *number = atomic_fetch_add_explicit(&call->next, 1, memory_order_relaxed);
    if (*number >= call->pieces)
        return false;
    uint64_t first = *number * call->piece, left = call->count - first;
    *range = (struct range){call->x + first * bytes, call->y ? call->y + first * bytes : NULL, call->first + first,
                            left < call->piece ? left : call->piece};
    return true;
}

static void merge_into_total(struct call *call, const struct rd_partial *partial) {
    pthread_mutex_lock(&call->lock);
    rd_partial_merge(call->total, partial);
    pthread_mutex_unlock(&call->lock);
}

/* Indices in `partial` count from the start of the call, and `seen` is zero until the end: merging leaves them as they
 * are. */
static void work_exactly(void *context) {
    struct call *call = context;
    struct rd_scratch scratch;
    struct range range;
    uint64_t number;
    scratch_init(&scratch, &call->total->reduction);
    while (next_piece(call, element_size(call->total), &number, &range))
        add_exact(call, &scratch, &range);
    call->kernels->finish(&scratch);
    merge_into_total(call, &scratch.partial);
}

static void work_on_extremes(void *context) {
    struct call *call = context;
    struct rd_partial partial;
    struct range range;
    uint64_t number;
    rd_partial_init(&partial, &call->total->reduction);
    while (next_piece(call, element_size(call->total), &number, &range))
        if (partial.nan_index == UINT64_MAX)
            add_extremes(call, &partial, &range);
    merge_into_total(call, &partial);
}

static void work_fast(void *context) {
    struct call *call = context;
    struct rd_partial piece;
    struct range range;
    uint64_t number;
    while (next_piece(call, element_size(call->total), &number, &range)) {
        rd_partial_init(&piece, &call->total->reduction);
        add_fast(call, &piece, &range);
        call->fast[number] = (struct fast){piece.high, piece.low, piece.ignored, piece.nan_index};
    }
}

/* Products of integers. */
static void work_on_integers(void *context) {
    struct call *call = context;
    struct rd_partial partial;
    struct range range;
    uint64_t number;
    rd_partial_init(&partial, &call->total->reduction);
    while (next_piece(call, element_size(call->total), &number, &range))
        call->kernels->multiply_integer[partial.reduction.element](&partial.whole, range.x, range.count,
                                                                   partial.reduction.flags & REDUCT_WRAP);
    merge_into_total(call, &partial);
}

/* Products of floats: every piece is a subtree. */
static void work_on_subtrees(void *context) {
    struct call *call = context;
    struct rd_partial piece;
    struct range range;
    uint64_t number;
    unsigned level = (unsigned)__builtin_ctzll(call->piece / RD_PRODUCT_BLOCK);
    while (next_piece(call, element_size(call->total), &number, &range)) {
        rd_partial_init(&piece, &call->total->reduction);
        multiply(call, &piece, &range);
        call->subtree[number] =
            (struct subtree){rd_product_factor(&piece.product, level), piece.nans + piece.ignored, piece.nan_index};
    }
}

/* Adds the pieces in order. */
static void merge_fast(struct call *call) {
    struct rd_partial *total = call->total;
    bool moments = rd_operator(total->reduction.op)->transform == RD_MOMENTS;
    for (uint64_t i = 0; i < call->pieces; i++) {
        const struct fast *fast = &call->fast[i];
        uint64_t left = call->count - i * call->piece, count = left < call->piece ? left : call->piece;
        if (moments)
            rd_partial_add_moments(total, rd_partial_count(total), count - fast->ignored, fast->high, fast->low);
        else
            rd_partial_add_fast(total, fast->high, fast->low);
        note_nan(total, fast->nan_index);
        total->seen += count;
        total->ignored += fast->ignored;
    }
}

/* Every worker runs in the environment that the kernels need. */
struct environment_call {
    void (*work)(void *);
    struct call *call;
};

static void work_in_environment(void *context) {
    struct environment_call *inner = context;
    rd_environment caller = rd_environment_enter();
    inner->work(inner->call);
    rd_environment_leave(caller);
}

/* Runs `work` on as many threads as pay for the pieces of a call. */
static void share(struct call *call, unsigned threads, void (*work)(void *)) {
    struct environment_call inner = {work, call};
    uint64_t bytes = call->count * element_size(call->total) * rd_operator(call->total->reduction.op)->inputs;
    atomic_init(&call->next, 0);
    pthread_mutex_init(&call->lock, NULL);
    rd_parallel(rd_parallel_threads(threads, call->pieces, bytes), work_in_environment, &inner);
    pthread_mutex_destroy(&call->lock);
}

/* A product of floats: up to where whole subtrees of the size of a piece begin, these on threads, and what is left. */
static void accumulate_product(struct call *call, unsigned threads) {
    struct rd_partial *total = call->total;
    size_t bytes = element_size(total);
    unsigned level = SUBTREE_LEVEL_MIN;
    while (call->count / RD_PRODUCT_BLOCK >> level > SUBTREES_MAX)
        level++;
    uint64_t count = call->count, piece = (uint64_t)RD_PRODUCT_BLOCK << level;
    uint64_t head = -total->product.count % piece;
    head = head < count ? head : count;
    uint64_t pieces = (count - head) / piece, body = pieces * piece;
    struct range before = {call->x, NULL, 0, head};
    struct range after = {call->x + (head + body) * bytes, NULL, head + body, count - head - body};

    rd_environment caller = rd_environment_enter();
    multiply(call, total, &before);
    if (pieces) {
        call->x += head * bytes;
        call->first = head;
        call->count = body;
        call->piece = piece;
        call->pieces = pieces;
        share(call, threads, work_on_subtrees);
    }
    for (uint64_t i = 0; i < pieces; i++) {
        rd_product_push(&total->product, &call->subtree[i].factor, level);
        if (call->subtree[i].nans)
            take_nans(total, call->subtree[i].nans, call->subtree[i].nan_index);
    }
    multiply(call, total, &after);
    rd_environment_leave(caller);
}

/* Everything else: pieces of any length. */
static void accumulate_pieces(struct call *call, unsigned threads) {
    const struct rd_operator *op = rd_operator(call->total->reduction.op);
    bool fast = !rd_is_exact(&call->total->reduction);
    uint64_t piece = (call->count + PIECES_MAX - 1) / PIECES_MAX;
    call->piece = piece < PIECE_MIN ? PIECE_MIN : (piece + RD_FAST_BLOCK - 1) / RD_FAST_BLOCK * RD_FAST_BLOCK;
    call->pieces = (call->count + call->piece - 1) / call->piece;
    share(call, threads,
          rd_is_extreme(op)            ? work_on_extremes
          : op->combine == RD_MULTIPLY ? work_on_integers
          : fast                       ? work_fast
                                       : work_exactly);
    if (fast) {
        rd_environment caller = rd_environment_enter();
        merge_fast(call);
        rd_environment_leave(caller);
    }
}

static reduct_status cpu_accumulate(const struct rd_device *device, const void *x, const void *y, uint64_t count,
                                    unsigned threads, void *workspace, struct rd_partial *partial,
                                    reduct_error *error) {
    (void)workspace;
    (void)error;
    if (!count)
        return REDUCT_OK;
    struct call call;
    call.kernels = device->private;
    call.x = x;
    call.y = y;
    call.first = 0;
    call.count = count;
    call.total = partial;
    bool product = rd_operator(partial->reduction.op)->combine == RD_MULTIPLY;
    if (product && rd_type(partial->reduction.element)->kind == RD_FLOAT)
        accumulate_product(&call, threads);
    else
        accumulate_pieces(&call, threads);
    partial->seen = count;
    return REDUCT_OK;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static reduct_status cpu_open(const char *rest, struct rd_device *device, reduct_error *error) {
    const struct rd_kernels *kernels = rest ? rd_kernels_find(rest) : rd_kernels_best();
    if (!kernels) {
        char here[128];
        rd_kernels_list(here, sizeof here);
        return rd_fail(error, REDUCT_ERROR_NO_DEVICE, "device: \"cpu:%s\" is not here; this processor runs %s", rest,
                       here);
    }
    *device = (struct rd_device){&rd_cpu_backend, kernels->name, kernels};
    return REDUCT_OK;
}

static reduct_status cpu_supports(const struct rd_device *device, const reduct_reduction *reduction,
                                  reduct_error *error) {
    const struct rd_kernels *kernels = device->private;
    if (kernels->extremes[reduction->element])
        return REDUCT_OK;
    return rd_fail(error, REDUCT_ERROR_UNSUPPORTED, "element: %s does not reduce %s elements in this version",
                   device->name, rd_type(reduction->element)->name);
}

static size_t cpu_workspace(const struct rd_device *device, const reduct_reduction *reduction, uint64_t count,
                            unsigned threads) {
    (void)device;
    (void)reduction;
    (void)count;
    (void)threads;
    return 0; /* threads bring their stacks */
}

const struct rd_backend rd_cpu_backend = {.name = "cpu",
                                          .open = cpu_open,
                                          .supports = cpu_supports,
                                          .workspace = cpu_workspace,
                                          .accumulate = cpu_accumulate};
