/* What pieces of one result leave in their table: see pieces.h. */
#include "cuda/pieces.h"

#include "core/reduction.h"
#include "core/status.h"
#include "cuda/many.h"
#include "family/family.h"

#include <stdlib.h>
#include <string.h>

/* One table, and how it was come to. */
struct table {
    reduct_reduction reduction;
    uint64_t came; /* pieces */
    size_t words;
};

struct rd_cuda_pieces {
    uint64_t count;
    bool masked;
    unsigned tables;
    struct table
        table[2]; /* of what is wanted; and of a count, where its kernel does not say how many elements are absent */
    struct rd_partial part;
    struct rd_many many; /* of the table that is being filled */
    struct rd_cuda_pass pass;
};

bool rd_cuda_takes_pieces(const struct rd_cuda_launch *launch, const struct rd_cuda_array *array) {
    return array->kind != REDUCT_MASK_NONE || !launch->function;
}

void rd_cuda_pieces_drop(struct rd_cuda_pieces *pieces) {
    free(pieces);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Filling tables
 * ------------------------------------------------------------------------------------------------------------------ */

/* Kernels of these leave no word of what is masked out, or of NaNs that are ignored. */
static bool wants_count(const reduct_reduction *reduction, bool masked) {
    const enum rd_family family = rd_family(reduction);
    const bool ignores = rd_type(reduction->element)->kind == RD_FLOAT && reduction->nan == REDUCT_NAN_IGNORE;
    return (family == RD_EXTREME && (masked || ignores)) || (family == RD_INTEGER_PRODUCT && masked);
}

static void describe(struct rd_many *many, reduct_reduction *reduction, const struct rd_cuda_array *array) {
    *many = (struct rd_many){.reductions = 1,
                             .reduction = reduction,
                             .inputs = rd_operator(reduction->op)->inputs,
                             .mask = array->kind,
                             .mask_offset = array->offset,
                             .layout = {.results = 1, .count = array->count}};
    if (array->count > 1) { /* axes are longer */
        many->layout.reduced_axes = 1;
        many->layout.reduced[0] = (struct rd_axis){.length = array->count, .stride = {1, 1, 1}};
    }
}

/* Fills a table that lies so many words behind the beginning of the workspace. */
static reduct_status fill_table(struct rd_cuda_context *context, const struct rd_cuda_array *array, size_t behind,
                                struct rd_cuda_channel *channel, struct rd_cuda_pieces *pieces, struct table *table,
                                reduct_error *error) {
    memset(&pieces->pass, 0, sizeof pieces->pass);
    describe(&pieces->many, &table->reduction, array);
    reduct_status status = rd_cuda_pass_prepare(context, &pieces->many, 0, true, &pieces->pass, error);
    if (status != REDUCT_OK)
        return status;
    const struct rd_cuda_addresses addresses = {.input = {array->x, pieces->many.inputs == 2 ? array->y : NULL},
                                                .mask = array->mask,
                                                .table = (uint64_t *)(uintptr_t)channel->workspace + behind};
    table->came = pieces->pass.came;
    table->words = pieces->pass.table_bytes / sizeof(uint64_t);
    const rd_cu_result result =
        rd_cuda_pass_start(context, &pieces->many, &pieces->pass, &addresses, true, channel->stream);
    return result == RD_CU_SUCCESS ? REDUCT_OK : rd_cuda_fail(context->device, result, "to reduce", error);
}

reduct_status rd_cuda_pieces_start(struct rd_cuda_context *context, const reduct_reduction *reduction,
                                   const struct rd_cuda_array *array, struct rd_cuda_channel *channel,
                                   struct rd_cuda_pieces **started, reduct_error *error) {
    struct rd_cuda_pieces *pieces = malloc(sizeof *pieces);
    if (!pieces)
        return rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "%zu bytes could not be allocated", sizeof *pieces);
    pieces->count = array->count;
    pieces->masked = array->kind != REDUCT_MASK_NONE;
    pieces->tables = 1 + wants_count(reduction, pieces->masked);
    pieces->table[0].reduction = pieces->table[1].reduction = *reduction;
    pieces->table[0].reduction.mode = REDUCT_EXACT;
    pieces->table[1].reduction.op = REDUCT_COUNT;
    pieces->table[1].reduction.result = REDUCT_U64;
    reduct_status status = fill_table(context, array, 0, channel, pieces, &pieces->table[0], error);
    if (status == REDUCT_OK && pieces->tables == 2)
        status = fill_table(context, array, pieces->table[0].words, channel, pieces, &pieces->table[1], error);
    if (status == REDUCT_OK)
        *started = pieces;
    else
        free(pieces);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Sums
 * ------------------------------------------------------------------------------------------------------------------ */

/* Slices of a grid. Returns whether any holds something. */
static bool add_slices(struct rd_sum *sum, const uint64_t *words, unsigned slices, int lowest) {
    bool any = false;
    for (unsigned m = 0; m < slices; m++)
        if (words[m]) {
            rd_sum_add(sum, (int64_t)words[m], lowest + RD_CUDA_GRID_STEP * (int)m);
            any = true;
        }
    return any;
}

/* Sums of floats. Where only zeros came the kernels tell their signs where the result depends on them; and only that something came
 * that is not finite, not how often. */
static bool read_floats(const struct table *table, const uint64_t *words, struct rd_partial *part) {
    const enum rd_transform transform = rd_operator(table->reduction.op)->transform;
    const bool wide = rd_type(table->reduction.element)->bytes == 8,
               both = transform == RD_MOMENTS || transform == RD_WEIGHTED,
               products = both || transform == RD_SQUARE || transform == RD_TIMES;
    const int of_elements = wide ? RD_CUDA_LOWEST_F64 : RD_CUDA_LOWEST_F32,
              of_products = wide ? RD_CUDA_LOWEST_F64 : RD_CUDA_LOWEST_F32_SQUARES;
    const unsigned elements = wide ? RD_CUDA_GRID_F64 : RD_CUDA_GRID_F32,
                   squares = wide ? RD_CUDA_GRID_F64 : RD_CUDA_GRID_F32_SQUARES;
    const uint64_t *extra = words + (!products || both ? elements : 0) + (products ? squares : 0);
    const uint64_t flags = extra[RD_CUDA_TABLE_FLAGS];
    bool any = false;
    if (flags & ~(uint64_t)RD_CUDA_OTHER_CAME)
        return false;
    if (!products || both)
        any = add_slices(&part->sum, words, elements, of_elements);
    if (products)
        any =
            add_slices(both ? &part->squares : &part->sum, words + (both ? elements : 0), squares, of_products) || any;
    part->ignored = extra[RD_CUDA_TABLE_NANS];
    if (transform == RD_IDENTITY || rd_operator(table->reduction.op)->inputs == 2) {
        part->nonzero = flags != 0;
        return true;
    }
    part->nonzero = any;
    return any;
}

/* Digits of 32 bits, in words with a sign, that all pieces were added to. */
static void add_digits(struct rd_sum *sum, const uint64_t *word, int digits) {
    for (int d = 0; d < digits; d++)
        rd_sum_add(sum, (int64_t)word[d], 32 * d);
}

static void read_integers(const struct table *table, const uint64_t *words, bool masked, struct rd_partial *part) {
    const enum rd_transform transform = rd_operator(table->reduction.op)->transform;
    const bool both = transform == RD_MOMENTS || transform == RD_WEIGHTED,
               products = both || transform == RD_SQUARE || transform == RD_TIMES;
    const uint64_t *slot = words + RD_CUDA_SLOTS_EXTRA;
    if (!products || both)
        add_digits(&part->sum, slot, RD_CUDA_DIGITS_OF_SUM);
    if (products)
        add_digits(both ? &part->squares : &part->sum, slot + RD_CUDA_DIGITS_OF_SUM,
                   RD_CUDA_SLOT_INTEGER_SUM - RD_CUDA_DIGITS_OF_SUM);
    part->ignored += masked ? slot[RD_CUDA_SLOT_INTEGER_SUM] : 0;
}

/* Of an exact sum what a fast one holds. */
static void make_fast(struct rd_partial *part, const reduct_reduction *reduction) {
    static const reduct_operator plain[] = {[RD_IDENTITY] = REDUCT_SUM,
                                            [RD_ABSOLUTE] = REDUCT_NORM1,
                                            [RD_SQUARE] = REDUCT_SUMSQ,
                                            [RD_TIMES] = REDUCT_DOT,
                                            [RD_MOMENTS] = REDUCT_VAR};
    const enum rd_transform transform = rd_operator(reduction->op)->transform;
    const uint64_t seen = part->seen, ignored = part->ignored;
    double high = 0, low = 0;
    if (seen > ignored) {
        part->reduction.op = plain[transform];
        part->reduction.flags |= REDUCT_POPULATION;
        part->reduction.result = REDUCT_F64;
        (void)rd_partial_finish(part, REDUCT_F64, transform == RD_MOMENTS ? &low : &high, NULL);
        low *= (double)(seen - ignored);
        part->reduction.op = REDUCT_MEAN;
        if (transform == RD_MOMENTS)
            (void)rd_partial_finish(part, REDUCT_F64, &high, NULL);
    }
    rd_partial_init(part, reduction);
    part->seen = seen;
    part->ignored = ignored;
    if (seen > ignored) {
        part->high = high;
        part->low = low;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Others
 * ------------------------------------------------------------------------------------------------------------------ */

static uint64_t all_bits(const struct rd_type *type) {
    return UINT64_MAX >> (64 - 8 * type->bytes);
}

/* The element that kernels have this key for, of which the smallest is best (kernels/order.cuh). */
static uint64_t element_of(uint64_t key, const reduct_reduction *reduction) {
    const struct rd_operator *op = rd_operator(reduction->op);
    const struct rd_type *type = rd_type(reduction->element);
    const uint64_t all = all_bits(type), sign = all ^ all >> 1;
    key ^= op->combine == RD_GREATEST ? all : 0;
    switch (type->kind) {
    case RD_FLOAT:
        return key & sign ? key & ~sign : ~key & all;
    case RD_SIGNED:
        return op->transform == RD_ABSOLUTE ? key : key ^ sign;
    case RD_UNSIGNED:
        break;
    }
    return key;
}

static void note_nan(struct rd_partial *part, uint64_t index) {
    part->nan_index = index < part->nan_index ? index : part->nan_index;
}

static void read_both(const struct table *table, const uint64_t *words, struct rd_partial *part) {
    const uint64_t *slot = words + RD_CUDA_SLOTS_EXTRA, least = slot[0] ^ all_bits(rd_type(table->reduction.element));
    if (least <= slot[1])
        rd_partial_take_both(part, element_of(least, &table->reduction), element_of(slot[1], &table->reduction));
    note_nan(part, ~slot[2]);
}

/* Kernels say how pieces meet: all in one slot, in words that are complements, where a key and an index are a word, or only the key is
 * wanted; else each has its own. */
static void read_extremes(const struct table *table, const uint64_t *words, uint64_t count, struct rd_partial *part) {
    const bool is_short = rd_type(table->reduction.element)->bytes < 8,
               wants_index = rd_operator(table->reduction.op)->finish == RD_INDEX;
    const uint64_t *slot = words + RD_CUDA_SLOTS_EXTRA;
    if (is_short ? count >> 31 == 0 : !wants_index) {
        const uint64_t best = ~slot[0];
        if (is_short ? best != UINT64_MAX : slot[1] != 0)
            rd_partial_take(part, element_of(is_short ? best >> 32 : best, &table->reduction),
                            is_short && wants_index ? best & 0xffffffff : 0);
        note_nan(part, ~slot[2]);
        return;
    }
    for (uint64_t i = 0; i < table->came; i++, slot += RD_CUDA_SLOT_EXTREME) {
        if (slot[1] != UINT64_MAX)
            rd_partial_take(part, element_of(slot[0], &table->reduction), wants_index ? slot[1] : 0);
        note_nan(part, slot[2]);
    }
}

/* What kernels count. */
struct tally {
    uint64_t zeros, nans, nan_index, bits, left_out;
};

static struct tally tally_of(const uint64_t *words, bool masked) {
    const uint64_t *slot = words + RD_CUDA_SLOTS_EXTRA;
    return (struct tally){slot[0], slot[1], ~slot[2], slot[3], masked ? slot[RD_CUDA_SLOT_COUNT] : 0};
}

static void count_absent(const struct tally *tally, struct rd_partial *part) {
    part->ignored = tally->left_out + (part->reduction.nan == REDUCT_NAN_IGNORE ? tally->nans : 0);
}

static void read_counts(const struct table *table, const uint64_t *words, const struct rd_cuda_pieces *pieces,
                        struct rd_partial *part) {
    const struct rd_operator *op = rd_operator(table->reduction.op);
    const struct tally tally = tally_of(words, pieces->masked);
    const bool present = op->transform == RD_PRESENT;
    const uint64_t absent = present || table->reduction.nan == REDUCT_NAN_IGNORE ? tally.nans : 0;
    count_absent(&tally, part);
    part->counted = pieces->count - tally.left_out - absent - (present ? 0 : tally.zeros);
    if (!rd_is_truth(&table->reduction))
        part->bits = op->combine == RD_AND ? ~tally.bits & all_bits(rd_type(table->reduction.element)) : tally.bits;
    else
        part->bits = op->combine == RD_OR    ? part->counted != 0
                     : op->combine == RD_AND ? tally.zeros == 0
                                             : part->counted & 1;
    if (table->reduction.nan == REDUCT_NAN_ERROR)
        note_nan(part, tally.nan_index);
}

static void read_products(const struct table *table, const uint64_t *words, struct rd_partial *part) {
    const uint64_t *slot = words + RD_CUDA_SLOTS_EXTRA;
    for (uint64_t i = 0; i < table->came; i++, slot += RD_CUDA_SLOT_INTEGER_PRODUCT) {
        struct rd_whole whole = {.negative = slot[4] & 1, .overflow = slot[4] & 2};
        memcpy(whole.magnitude, slot, sizeof whole.magnitude);
        rd_whole_multiply(&part->whole, &whole, table->reduction.flags & REDUCT_WRAP);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Taking
 * ------------------------------------------------------------------------------------------------------------------ */

static bool read_table(const struct rd_cuda_pieces *pieces, const uint64_t *words, struct rd_partial *part) {
    const struct table *table = &pieces->table[0];
    rd_partial_init(part, &table->reduction);
    part->seen = pieces->count;
    switch (rd_family(&table->reduction)) {
    case RD_EXACT_SUM:
        return read_floats(table, words, part);
    case RD_INTEGER_SUM:
        read_integers(table, words, pieces->masked, part);
        break;
    case RD_EXTREME:
        if (rd_operator(table->reduction.op)->combine == RD_BOTH)
            read_both(table, words, part);
        else
            read_extremes(table, words, pieces->count, part);
        break;
    case RD_COUNT:
    case RD_BITS:
        read_counts(table, words, pieces, part);
        break;
    case RD_INTEGER_PRODUCT:
        read_products(table, words, part);
        break;
    case RD_FAST_SUM:      /* exact here */
    case RD_FLOAT_PRODUCT: /* not cut into pieces */
        return false;
    }
    if (pieces->tables == 2) {
        const struct tally tally = tally_of(words + table->words, pieces->masked);
        count_absent(&tally, part);
    }
    return true;
}

/* Copies the tables, and leaves zero. */
static rd_cu_result fetch(const struct rd_cuda_device *device, const struct rd_cuda_channel *channel, uint64_t *words,
                          size_t bytes) {
    const rd_cuda_driver *driver = device->driver;
    rd_cu_result result = driver->cuMemcpyDtoHAsync(words, channel->workspace, bytes, channel->stream);
    if (result == RD_CU_SUCCESS)
        result = driver->cuMemsetD8Async(channel->workspace, 0, bytes, channel->stream);
    return result == RD_CU_SUCCESS ? driver->cuStreamSynchronize(channel->stream) : result;
}

reduct_status rd_cuda_pieces_take(struct rd_cuda_context *context, struct rd_cuda_channel *channel,
                                  struct rd_cuda_pieces *pieces, struct rd_partial *partial, bool *known,
                                  reduct_error *error) {
    const size_t bytes =
        (pieces->table[0].words + (pieces->tables == 2 ? pieces->table[1].words : 0)) * sizeof(uint64_t);
    uint64_t *words = malloc(bytes);
    reduct_status status = REDUCT_OK;
    rd_cu_result result = RD_CU_SUCCESS;
    if (!words)
        status = rd_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "%zu bytes could not be allocated", bytes);
    else if ((result = fetch(context->device, channel, words, bytes)) != RD_CU_SUCCESS)
        status = rd_cuda_fail(context->device, result, "to reduce", error);
    else if ((*known = read_table(pieces, words, &pieces->part))) {
        if (rd_family(&partial->reduction) == RD_FAST_SUM)
            make_fast(&pieces->part, &partial->reduction);
        rd_partial_merge(partial, &pieces->part);
    }
    free(words);
    free(pieces);
    return status;
}
