/* An exact all-reduce of arrays, element by element: what MPI_Allreduce with MPI_SUM does, but for the rounding.
 *
 * Elements go in blocks. Ranks first agree, with one exchange of two small numbers for each block, on the window of bits that
 * all elements of a block lie in. Where that is narrow, as it is for most data, an element is sent as a fixed-point number in one
 * or two 64-bit words that MPI adds, and rounded once. Blocks whose elements range more widely, or are infinite or NaN, go the
 * long way, as words of accumulators.
 *
 * A word, with P = 2^p ranks at most, has 63 - p bits, so that P of them add up within an int64. The lowest p + 1 bits of the
 * first one count the ranks whose element is other than -0: only a sum of -0 alone is -0. The value stands above them, in two's
 * complement:
 *
 *     one word     value * 2^(p + 1) + 1
 *     two words    the low 63 - p bits of that, not negative; and what is above them, with the sign */
#include "mpi/table.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

/* Elements of a block, and blocks that are sent at once. */
enum { BLOCK = 1 << 12, BLOCKS = 16, PIECE = BLOCK * BLOCKS * 2 };

/* A floating-point type: bits of the significand that are stored, the exponent field of what is not finite. Where time is spent,
 * functions are inlined with the format and the number of words as constants. */
struct format {
    int stored, special, bytes;
};
static const struct format F64 = {52, 2047, 8}, F32 = {23, 255, 4};
#define INLINED static inline __attribute__((always_inline))

/* What ranks agree on for a block: the largest exponent field, and the smallest of elements that are not zero, negated, so that
 * both are greatest values. Subnormal numbers have the exponent of field 1. */
struct window {
    int32_t high, minus_low;
};
enum { NO_LOW = INT32_MIN / 2 }; /* where all elements are zero */

struct each {
    reduct_type type;
    struct format format;
    const unsigned char *x;
    unsigned char *result;
    uint64_t count;
    size_t blocks;
    int headroom; /* p */
    MPI_Comm comm;
    struct window *windows;
    int64_t *piece;
};

INLINED uint64_t bits_at(const unsigned char *x, struct format format, uint64_t i) {
    if (format.bytes == 8) {
        uint64_t bits;
        memcpy(&bits, x + 8 * i, 8);
        return bits;
    }
    uint32_t bits;
    memcpy(&bits, x + 4 * i, 4);
    return bits;
}

INLINED void put_bits(unsigned char *result, struct format format, uint64_t i, uint64_t bits) {
    if (format.bytes == 8)
        memcpy(result + 8 * i, &bits, 8);
    else
        memcpy(result + 4 * i, &(uint32_t){(uint32_t)bits}, 4);
}

static uint64_t end_of(const struct each *each, size_t block) {
    uint64_t end = ((uint64_t)block + 1) * BLOCK;
    return end < each->count ? end : each->count;
}

INLINED uint64_t sign_of(struct format format) {
    return (uint64_t)1 << (8 * format.bytes - 1);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Windows
 * ------------------------------------------------------------------------------------------------------------------ */

INLINED struct window window_as(const struct each *each, struct format format, size_t block) {
    const unsigned char *x = each->x;
    uint64_t largest = 0, smallest = UINT64_MAX, mask = sign_of(format) - 1;
    for (uint64_t i = (uint64_t)block * BLOCK, end = end_of(each, block); i < end; i++) {
        uint64_t magnitude = bits_at(x, format, i) & mask, less = magnitude - 1; /* zero is no smallest */
        largest = magnitude > largest ? magnitude : largest;
        smallest = less < smallest ? less : smallest;
    }
    int32_t high = (int32_t)(largest >> format.stored), low = (int32_t)((smallest + 1) >> format.stored);
    if (largest == 0)
        return (struct window){1, NO_LOW};
    return (struct window){high ? high : 1, -(low ? low : 1)};
}

static struct window window_of(const struct each *each, size_t block) {
    return each->format.bytes == 8 ? window_as(each, F64, block) : window_as(each, F32, block);
}

/* Where all elements of a block are zero, anything will do. */
static int low_of(const struct window *window) {
    return window->minus_low == NO_LOW ? window->high : -window->minus_low;
}

/* Words that each element of a block takes; 0: the long way. */
static size_t words_of(const struct each *each, const struct window *window) {
    int bits = window->high - low_of(window) + each->format.stored + 2; /* with the sign */
    int value = bits + each->headroom + 1, word = 63 - each->headroom;
    if (window->high == each->format.special)
        return 0;
    return value <= word ? 1 : value <= 2 * word ? 2 : 0;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Fixed point
 * ------------------------------------------------------------------------------------------------------------------ */

/* An element in units of the lowest bit of field `low`, above the count, which takes the lowest `below` bits. Without a branch on
 * the sign, which is hard to foresee. */
INLINED wide fixed_of(struct format format, size_t words, uint64_t bits, int low, int below) {
    bool negative = bits & sign_of(format);
    uint64_t magnitude = bits & (sign_of(format) - 1), field = magnitude >> format.stored;
    uint64_t significand = magnitude & (((uint64_t)1 << format.stored) - 1);
    significand |= (uint64_t)(field != 0) << format.stored;
    int shift = (int)(field + !field) - low;
    shift = below + (shift < 0 ? 0 : shift); /* zero lies below all */
    uint64_t counted = magnitude != 0 || !negative;
    if (words == 1) {
        uint64_t value = significand << shift, minus = -(uint64_t)negative;
        return (int64_t)(((value ^ minus) - minus) + counted);
    }
    unsigned_wide value = (unsigned_wide)significand << shift, minus = -(unsigned_wide)negative;
    return (wide)(((value ^ minus) - minus) + counted);
}

/* A magnitude other than zero, rounded to nearest, ties to even. */
INLINED uint64_t round_magnitude(struct format format, unsigned_wide magnitude, int low) {
    uint64_t upper = (uint64_t)(magnitude >> 64);
    int length = upper ? 128 - __builtin_clzll(upper) : 64 - __builtin_clzll((uint64_t)magnitude);
    int drop = length - 1 - format.stored, field = low + drop;
    if (drop <= 0) { /* exact; the leading bit of a subnormal number stays below the one that is not stored */
        uint64_t significand = (uint64_t)magnitude << (field >= 1 ? -drop : low - 1);
        return field >= 1 ? ((uint64_t)(field - 1) << format.stored) + significand : significand;
    }
    unsigned_wide odd = magnitude >> drop & 1, below_half = ((unsigned_wide)1 << (drop - 1)) - 1;
    uint64_t significand = (uint64_t)((magnitude + below_half + odd) >> drop);
    uint64_t bits = ((uint64_t)(field - 1) << format.stored) + significand; /* a carry goes on into the exponent */
    uint64_t infinity = (uint64_t)format.special << format.stored;
    return bits < infinity ? bits : infinity;
}

/* The bits of a sum of fixed-point numbers. */
INLINED uint64_t rounded(struct format format, wide sum, int low, int below) {
    bool counted = (uint64_t)sum & (((uint64_t)1 << below) - 1);
    wide value = sum >> below;
    uint64_t minus = (uint64_t)(value >> 127), sign = sign_of(format) & (minus | -(uint64_t)!counted);
    unsigned_wide all = (unsigned_wide)(wide)(int64_t)minus;
    return value ? sign | round_magnitude(format, ((unsigned_wide)value ^ all) - all, low) : sign;
}

INLINED int64_t *pack_as(const struct each *each, struct format format, size_t words, size_t block, int64_t *piece) {
    const int low = low_of(&each->windows[block]), below = each->headroom + 1, word = 64 - below;
    const unsigned char *x = each->x;
    for (uint64_t i = (uint64_t)block * BLOCK, end = end_of(each, block); i < end; i++, piece += words) {
        wide fixed = fixed_of(format, words, bits_at(x, format, i), low, below);
        piece[0] = words == 1 ? (int64_t)fixed : (int64_t)((uint64_t)fixed & (((uint64_t)1 << word) - 1));
        if (words == 2)
            piece[1] = (int64_t)(fixed >> word);
    }
    return piece;
}

static int64_t *pack_block(const struct each *each, size_t block, size_t words, int64_t *piece) {
    if (each->format.bytes == 8)
        return words == 1 ? pack_as(each, F64, 1, block, piece) : pack_as(each, F64, 2, block, piece);
    return words == 1 ? pack_as(each, F32, 1, block, piece) : pack_as(each, F32, 2, block, piece);
}

INLINED const int64_t *unpack_as(const struct each *each, struct format format, size_t words, size_t block,
                                 const int64_t *piece) {
    const int low = low_of(&each->windows[block]), below = each->headroom + 1, word = 64 - below;
    unsigned char *result = each->result;
    for (uint64_t i = (uint64_t)block * BLOCK, end = end_of(each, block); i < end; i++, piece += words) {
        wide sum = piece[0];
        if (words == 2)
            sum += (wide)((unsigned_wide)(wide)piece[1] << word);
        put_bits(result, format, i, rounded(format, sum, low, below));
    }
    return piece;
}

static const int64_t *unpack_block(const struct each *each, size_t block, size_t words, const int64_t *piece) {
    if (each->format.bytes == 8)
        return words == 1 ? unpack_as(each, F64, 1, block, piece) : unpack_as(each, F64, 2, block, piece);
    return words == 1 ? unpack_as(each, F32, 1, block, piece) : unpack_as(each, F32, 2, block, piece);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Blocks
 * ------------------------------------------------------------------------------------------------------------------ */

/* Some blocks that follow each other, those that go the long way left out. */
static int reduce_blocks(const struct each *each, size_t first, size_t last) {
    int64_t *end = each->piece;
    for (size_t block = first; block < last; block++) {
        size_t words = words_of(each, &each->windows[block]);
        if (words)
            end = pack_block(each, block, words, end);
    }
    if (end == each->piece)
        return MPI_SUCCESS;
    int code = MPI_Allreduce(MPI_IN_PLACE, each->piece, (int)(end - each->piece), MPI_INT64_T, MPI_SUM, each->comm);
    const int64_t *at = each->piece;
    for (size_t block = first; block < last && code == MPI_SUCCESS; block++) {
        size_t words = words_of(each, &each->windows[block]);
        if (words)
            at = unpack_block(each, block, words, at);
    }
    return code;
}

/* A block the long way: its elements' accumulators as a table. */
static reduct_status reduce_widely(const struct each *each, size_t block, size_t width, reduct_accumulator *accumulator,
                                   int64_t *table, reduct_error *error) {
    static const struct rm_failure NONE;
    uint64_t first = (uint64_t)block * BLOCK, rows = end_of(each, block) - first;
    size_t size = (size_t)each->format.bytes;
    for (uint64_t i = 0; i < rows; i++) {
        reduct_accumulator_reset(accumulator);
        reduct_accumulator_add(accumulator, each->x + (first + i) * size, NULL, 1, NULL);
        reduct_accumulator_pack(accumulator, table + i * width, NULL);
    }
    reduct_status status =
        rm_table_allreduce(table, (size_t)rows, width, width, MPI_SUM, &NONE, NULL, each->comm, error);
    for (uint64_t i = 0; i < rows && status == REDUCT_OK; i++) {
        status = reduct_accumulator_unpack(accumulator, table + i * width, error);
        if (status == REDUCT_OK)
            status = reduct_accumulator_result(accumulator, REDUCT_DEFAULT, each->result + (first + i) * size, error);
    }
    return status;
}

/* Allocates what the blocks that go the long way need, and reduces them. */
static reduct_status reduce_all_widely(const struct each *each, reduct_error *error) {
    size_t some = 0;
    for (size_t block = 0; block < each->blocks; block++)
        some += words_of(each, &each->windows[block]) == 0;
    if (some == 0)
        return REDUCT_OK;
    struct rm_failure failure = {0};
    reduct_error local;
    reduct_words form = {0};
    reduct_accumulator *accumulator = NULL;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = each->type};
    const reduct_accumulator_options options = {.reduction = &sum, .device = "cpu", .threads = 1};
    reduct_status status = reduct_reduction_words(&sum, &form, &local);
    int64_t *table = malloc(BLOCK * form.count * sizeof *table);
    if (!table)
        status = rm_fail(&local, REDUCT_ERROR_OUT_OF_MEMORY, "a table could not be allocated");
    if (status == REDUCT_OK)
        status = reduct_accumulator_create(&options, &accumulator, &local);
    if (status != REDUCT_OK)
        rm_note(&failure, 0, &local);
    status = rm_poll(&failure, some, NULL, each->comm, error);
    for (size_t block = 0; block < each->blocks && status == REDUCT_OK; block++)
        if (words_of(each, &each->windows[block]) == 0)
            status = reduce_widely(each, block, form.count, accumulator, table, error);
    reduct_accumulator_destroy(accumulator);
    free(table);
    return status;
}

/* Results are written only by what cannot fail any more; but for that of MPI. */
static reduct_status reduce(struct each *each, reduct_error *error) {
    for (size_t block = 0; block < each->blocks; block++)
        each->windows[block] = window_of(each, block);
    int code = MPI_SUCCESS;
    enum { AT_ONCE = 1 << 20 };
    for (size_t done = 0; done < each->blocks && code == MPI_SUCCESS; done += AT_ONCE) {
        size_t some = each->blocks - done < AT_ONCE ? each->blocks - done : AT_ONCE;
        code = MPI_Allreduce(MPI_IN_PLACE, each->windows + done, (int)(2 * some), MPI_INT32_T, MPI_MAX, each->comm);
    }
    reduct_status status = rm_check(code, error);
    if (status == REDUCT_OK)
        status = reduce_all_widely(each, error);
    for (size_t block = 0; block < each->blocks && status == REDUCT_OK; block += BLOCKS)
        status =
            rm_check(reduce_blocks(each, block, block + BLOCKS < each->blocks ? block + BLOCKS : each->blocks), error);
    return status;
}

/* What this rank lacks, or has wrong. */
static void check(struct each *each, struct rm_failure *failure) {
    reduct_error error = {.status = REDUCT_OK};
    if (each->count && (!each->x || !each->result))
        rm_fail(&error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", each->x ? "results" : "x");
    else if (each->count > (uint64_t)PTRDIFF_MAX / 8)
        rm_fail(&error, REDUCT_ERROR_TOO_LARGE, "count: no memory holds so many");
    if (error.status == REDUCT_OK) {
        each->windows = malloc((each->blocks + 1) * sizeof *each->windows);
        each->piece = malloc(PIECE * sizeof *each->piece);
        if (!each->windows || !each->piece)
            rm_fail(&error, REDUCT_ERROR_OUT_OF_MEMORY, "memory for %zu blocks could not be allocated", each->blocks);
    }
    if (error.status != REDUCT_OK)
        rm_note(failure, 0, &error);
}

reduct_status reduct_mpi_allreduce_each(reduct_type type, const void *x, void *results, uint64_t count, MPI_Comm comm,
                                        reduct_error *error) {
    if (type != REDUCT_F64 && type != REDUCT_F32)
        return rm_fail(error, reduct_type_name(type) ? REDUCT_ERROR_UNSUPPORTED : REDUCT_ERROR_ARGUMENT,
                       "type: expected f64 or f32");
    if (comm == MPI_COMM_NULL)
        return rm_fail(error, REDUCT_ERROR_ARGUMENT, "comm: null communicator");
    struct rm_failure failure = {0};
    int size = 1;
    struct each each = {.type = type,
                        .format = type == REDUCT_F64 ? F64 : F32,
                        .x = x,
                        .result = results,
                        .count = count,
                        .blocks = (size_t)(count / BLOCK + (count % BLOCK != 0)),
                        .comm = comm};
    reduct_status status = rm_check(MPI_Comm_size(comm, &size), error);
    if (status != REDUCT_OK)
        return status;
    while ((int64_t)1 << each.headroom < size)
        each.headroom++;
    check(&each, &failure);
    status = rm_poll(&failure, count ^ (uint64_t)type << 56, NULL, comm, error);
    if (status == REDUCT_OK)
        status = reduce(&each, error);
    free(each.windows);
    free(each.piece);
    return status;
}
