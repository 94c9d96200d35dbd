/* An exact all-reduce of arrays, element by element: what MPI_Allreduce with MPI_SUM does, but for the rounding.
 *
 * Elements go in blocks. Ranks first agree, with one exchange of two small numbers for each block, on the window of bits that
 * all elements of a block lie in. That decides in which form the block is sent, for MPI to add up, and rounded once:
 *
 * Slices. Most blocks of doubles. An element is the sum of two doubles of which each is a small multiple of a power of two that
 * all ranks share, so that MPI's sums of them are exact in any order. The sum of the two sums is then rounded by the processor,
 * in one addition. A float needs one such slice, itself as a double.
 *
 * Fixed point, in one or two 64-bit integers: what lies in so few bits that one of them will do, or is too small, too large or
 * too wide for slices. A word, with P = 2^p ranks at most, has 63 - p bits, so that P of them add up within an int64. The lowest
 * p + 1 bits of the first one count the ranks whose element is other than -0: only a sum of -0 alone is -0. The value stands
 * above them, in two's complement:
 *
 *     one word     value * 2^(p + 1) + 1
 *     two words    the low 63 - p bits of that, not negative; and what is above them, with the sign
 *
 * Words of accumulators: blocks whose elements range more widely still, or are infinite or NaN. */
#include "core/environment.h"
#include "mpi/device.h"
#include "mpi/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

/* Elements of a block, and blocks that are sent at once: few enough to stay in the cache from being packed to being unpacked. */
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
    void *piece;                 /* PIECE words, or doubles */
    unsigned char *there, *host; /* results in a GPU's memory; memory for them and for data from there, or null */
};

/* How a block is sent: as so many words for each element, 0 where it goes as accumulators' words. */
struct form {
    bool slices;
    size_t words;
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

/* The upper half of a double's bits, or all of a float's: what compares as the magnitude does, 0 for zero alone. */
INLINED int32_t upper_magnitude(const unsigned char *x, struct format format, uint64_t i) {
    uint64_t bits = bits_at(x, format, i);
    if (format.bytes == 4)
        return (int32_t)((uint32_t)bits & INT32_MAX);
    return (int32_t)((uint32_t)(bits >> 32) & INT32_MAX) | ((uint32_t)bits != 0);
}

INLINED struct window window_as(const struct each *each, struct format format, size_t block) {
    const unsigned char *x = each->x;
    const int below = format.stored - (format.bytes == 8 ? 32 : 0); /* bits under the exponent */
    int32_t largest = 0, smallest = INT32_MAX;
    for (uint64_t i = (uint64_t)block * BLOCK, end = end_of(each, block); i < end; i++) {
        int32_t magnitude = upper_magnitude(x, format, i), other = magnitude ? magnitude : INT32_MAX;
        largest = magnitude > largest ? magnitude : largest;
        smallest = other < smallest ? other : smallest;
    }
    int32_t high = largest >> below, low = smallest >> below;
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

/* p for slices: elements must be less than 2^51 units of the first one, and are less than 2^(53 - p). */
static int slice_headroom(const struct each *each) {
    return each->headroom < 2 ? 2 : each->headroom;
}

/* Whether MPI's sums of slices are exact and, like the slices, neither subnormal nor infinite: some hardware that adds for MPI
 * flushes what is subnormal. Below, u is the unit of a slice: all values are multiples of it, and their sums are exact up to 2^53 u. */
static bool slices_suit(const struct each *each, int high, int low) {
    const int p = slice_headroom(each);
    /* Sums of P floats: less than 2^(high + 1 + p), while u = 2^(low - 23). */
    if (each->format.bytes == 4)
        return high + 1 + p <= low - F32.stored + 53;
    /* The first slice is x rounded to a multiple of u = 2^(high + p - 52), so the sum is at most 2^(high + 1 + p) = 2^53 u. What is
     * left is at most u / 2, so its sum at most 2^(high + 2 p - 53), while its unit is 2^(low - 52). */
    return high + 2 * p - 53 <= low - F64.stored + 53 && high + 1 + p < F64.special && low > F64.stored;
}

static struct form form_of(const struct each *each, const struct window *window) {
    const int high = window->high, low = low_of(window);
    const int bits = high - low + each->format.stored + 2; /* with the sign */
    const int value = bits + each->headroom + 1, word = 63 - each->headroom;
    const bool slices = slices_suit(each, high, low);
    if (high == each->format.special)
        return (struct form){false, 0};
    if (slices && each->format.bytes == 4)
        return (struct form){true, 1};
    if (value <= word)
        return (struct form){false, 1};
    if (slices)
        return (struct form){true, 2};
    return (struct form){false, value <= 2 * word ? 2 : 0};
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

INLINED void pack_as(const struct each *each, struct format format, size_t words, size_t block, int64_t *piece) {
    const int low = low_of(&each->windows[block]), below = each->headroom + 1, word = 64 - below;
    const unsigned char *x = each->x;
    for (uint64_t i = (uint64_t)block * BLOCK, end = end_of(each, block); i < end; i++, piece += words) {
        wide fixed = fixed_of(format, words, bits_at(x, format, i), low, below);
        piece[0] = words == 1 ? (int64_t)fixed : (int64_t)((uint64_t)fixed & (((uint64_t)1 << word) - 1));
        if (words == 2)
            piece[1] = (int64_t)(fixed >> word);
    }
}

static void pack_fixed(const struct each *each, size_t block, size_t words, int64_t *piece) {
    if (each->format.bytes == 8)
        words == 1 ? pack_as(each, F64, 1, block, piece) : pack_as(each, F64, 2, block, piece);
    else
        words == 1 ? pack_as(each, F32, 1, block, piece) : pack_as(each, F32, 2, block, piece);
}

INLINED void unpack_as(const struct each *each, struct format format, size_t words, size_t block,
                       const int64_t *piece) {
    const int low = low_of(&each->windows[block]), below = each->headroom + 1, word = 64 - below;
    unsigned char *result = each->result;
    for (uint64_t i = (uint64_t)block * BLOCK, end = end_of(each, block); i < end; i++, piece += words) {
        wide sum = piece[0];
        if (words == 2)
            sum += (wide)((unsigned_wide)(wide)piece[1] << word);
        put_bits(result, format, i, rounded(format, sum, low, below));
    }
}

static void unpack_fixed(const struct each *each, size_t block, size_t words, const int64_t *piece) {
    if (each->format.bytes == 8)
        words == 1 ? unpack_as(each, F64, 1, block, piece) : unpack_as(each, F64, 2, block, piece);
    else
        words == 1 ? unpack_as(each, F32, 1, block, piece) : unpack_as(each, F32, 2, block, piece);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Slices: the first ones of all elements of a block, then the second ones
 * ------------------------------------------------------------------------------------------------------------------ */

/* Adding the anchor to an element and taking it off again rounds the element to a multiple of the anchor's last bit. The sign is
 * that of the element even where nothing else is left of it: then only sums of -0 alone are -0. */
static void pack_doubles(const unsigned char *restrict x, uint64_t count, double anchor, double *restrict first,
                         double *restrict second) {
    for (uint64_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, x + 8 * i, 8);
        double rounded = (value + anchor) - anchor;
        first[i] = copysign(rounded, value);
        second[i] = value - rounded;
    }
}

static void unpack_doubles(unsigned char *restrict result, uint64_t count, const double *restrict first,
                           const double *restrict second) {
    for (uint64_t i = 0; i < count; i++) {
        double sum = first[i] + second[i];
        memcpy(result + 8 * i, &sum, 8);
    }
}

static void pack_floats(const unsigned char *restrict x, uint64_t count, double *restrict slices) {
    for (uint64_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, x + 4 * i, 4);
        slices[i] = value;
    }
}

static void unpack_floats(unsigned char *restrict result, uint64_t count, const double *restrict slices) {
    for (uint64_t i = 0; i < count; i++) {
        float sum = (float)slices[i];
        memcpy(result + 4 * i, &sum, 4);
    }
}

/* 1.5 * 2^52 units of the first slice: adding up to 2^51 units to it leaves its exponent as it is. */
static double anchor_of(const struct each *each, size_t block) {
    uint64_t field = (uint64_t)(each->windows[block].high + slice_headroom(each)), half = (uint64_t)1 << 51;
    uint64_t bits = field << 52 | half;
    double anchor;
    memcpy(&anchor, &bits, sizeof anchor);
    return anchor;
}

static void pack_slices(const struct each *each, size_t block, double *piece) {
    const uint64_t first = (uint64_t)block * BLOCK, count = end_of(each, block) - first;
    if (each->format.bytes == 8)
        pack_doubles(each->x + 8 * first, count, anchor_of(each, block), piece, piece + count);
    else
        pack_floats(each->x + 4 * first, count, piece);
}

static void unpack_slices(const struct each *each, size_t block, const double *piece) {
    const uint64_t first = (uint64_t)block * BLOCK, count = end_of(each, block) - first;
    if (each->format.bytes == 8)
        unpack_doubles(each->result + 8 * first, count, piece, piece + count);
    else
        unpack_floats(each->result + 4 * first, count, piece);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Blocks
 * ------------------------------------------------------------------------------------------------------------------ */

/* Sends some blocks that follow each other and have the same form. */
static int reduce_alike(const struct each *each, size_t first, size_t last, struct form form) {
    const size_t some = BLOCK * form.words,
                 words = (size_t)(end_of(each, last - 1) - (uint64_t)first * BLOCK) * form.words;
    double *slices = each->piece;
    int64_t *fixed = each->piece;
    for (size_t block = first; block < last; block++)
        if (form.slices)
            pack_slices(each, block, slices + (block - first) * some);
        else
            pack_fixed(each, block, form.words, fixed + (block - first) * some);
    int code = MPI_Allreduce(MPI_IN_PLACE, each->piece, (int)words, form.slices ? MPI_DOUBLE : MPI_INT64_T, MPI_SUM,
                             each->comm);
    for (size_t block = first; block < last && code == MPI_SUCCESS; block++)
        if (form.slices)
            unpack_slices(each, block, slices + (block - first) * some);
        else
            unpack_fixed(each, block, form.words, fixed + (block - first) * some);
    return code;
}

/* From block `first` on as many as go at once, those that go the long way left out. Returns where the next begin. */
static size_t reduce_blocks(const struct each *each, size_t first, int *code) {
    const struct form form = form_of(each, &each->windows[first]);
    size_t last = first + 1;
    for (; last < each->blocks && last - first < BLOCKS; last++) {
        struct form next = form_of(each, &each->windows[last]);
        if (next.words != form.words || next.slices != form.slices)
            break;
    }
    if (form.words)
        *code = reduce_alike(each, first, last, form);
    return last;
}

/* A block the long way: its elements' accumulators as a table. */
static reduct_status reduce_widely(const struct each *each, size_t block, size_t width, reduct_accumulator *accumulator,
                                   int64_t *table, reduct_error *error) {
    static const struct rm_failure NONE;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = each->type};
    uint64_t first = (uint64_t)block * BLOCK, rows = end_of(each, block) - first;
    size_t size = (size_t)each->format.bytes;
    for (uint64_t i = 0; i < rows; i++) {
        reduct_accumulator_reset(accumulator);
        reduct_accumulator_add(accumulator, each->x + (first + i) * size, NULL, 1, NULL);
        reduct_accumulator_pack(accumulator, table + i * width, NULL);
    }
    reduct_status status = rm_table_reduce(&(struct rm_table){table, (size_t)rows, width, width, MPI_SUM, &sum},
                                           RM_ALLREDUCE, -1, &NONE, NULL, each->comm, error);
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
        some += form_of(each, &each->windows[block]).words == 0;
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
    status =
        rm_poll(&failure, &(struct rm_plan){.signature = some}, NULL, NULL, each->comm, error); /* as many on all */
    for (size_t block = 0; block < each->blocks && status == REDUCT_OK; block++)
        if (form_of(each, &each->windows[block]).words == 0)
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
    for (size_t block = 0; block < each->blocks && status == REDUCT_OK;) {
        block = reduce_blocks(each, block, &code);
        status = rm_check(code, error);
    }
    return status;
}

/* Where data are in a GPU's memory, or results are to be, puts memory of the host in their place. */
static void stage(struct each *each, reduct_error *error) {
    const bool from_there = rm_on_device(each->x), to_there = rm_on_device(each->result);
    const size_t bytes = (size_t)each->count * (size_t)each->format.bytes;
    if (!each->count || (!from_there && !to_there))
        return;
    each->host = malloc(bytes);
    if (!each->host) {
        rm_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "%zu bytes could not be allocated", bytes);
        return;
    }
    if (from_there && !rm_from_device(each->host, each->x, bytes, error))
        return;
    each->there = to_there ? each->result : NULL;
    each->x = from_there ? each->host : each->x;
    each->result = to_there ? each->host : each->result;
}

/* What this rank lacks, or has wrong. */
static void check(struct each *each, struct rm_failure *failure) {
    reduct_error error = {.status = REDUCT_OK};
    if (each->type != REDUCT_F64 && each->type != REDUCT_F32)
        rm_fail(&error, reduct_type_name(each->type) ? REDUCT_ERROR_UNSUPPORTED : REDUCT_ERROR_ARGUMENT,
                "type: %s; expected f64 or f32", reduct_type_name(each->type) ? reduct_type_name(each->type) : "none");
    else if (each->count && (!each->x || !each->result))
        rm_fail(&error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", each->x ? "results" : "x");
    else if (each->count > (uint64_t)PTRDIFF_MAX / 8)
        rm_fail(&error, REDUCT_ERROR_TOO_LARGE, "count: no memory holds so many");
    if (error.status == REDUCT_OK)
        stage(each, &error);
    if (error.status == REDUCT_OK) {
        each->windows = malloc((each->blocks + 1) * sizeof *each->windows);
        each->piece = malloc(PIECE * sizeof(int64_t));
        if (!each->windows || !each->piece)
            rm_fail(&error, REDUCT_ERROR_OUT_OF_MEMORY, "memory for %zu blocks could not be allocated", each->blocks);
    }
    if (error.status != REDUCT_OK)
        rm_note(failure, 0, &error);
}

static reduct_reduction planned(const void *what, size_t i) {
    (void)i; /* there is one */
    return (reduct_reduction){.op = REDUCT_SUM, .element = ((const struct each *)what)->type};
}

static struct rm_plan plan_of(const struct each *each) {
    return (struct rm_plan){.signature = each->count ^ (uint64_t)each->type << 56,
                            .counted = "count",
                            .number = each->count,
                            .name = "type",
                            .count = 1,
                            .reduction = planned,
                            .what = each};
}

reduct_status reduct_mpi_allreduce_each(reduct_type type, const void *x, void *results, uint64_t count, MPI_Comm comm,
                                        reduct_error *error) {
    reduct_status status = rm_check_communicator(comm, error);
    if (status != REDUCT_OK)
        return status;
    struct rm_failure failure = {0};
    int size = 1;
    struct each each = {.type = type,
                        .format = type == REDUCT_F64 ? F64 : F32,
                        .x = x,
                        .result = results,
                        .count = count,
                        .blocks = (size_t)(count / BLOCK + (count % BLOCK != 0)),
                        .comm = comm};
    status = rm_check(MPI_Comm_size(comm, &size), error);
    if (status != REDUCT_OK)
        return status;
    while ((int64_t)1 << each.headroom < size)
        each.headroom++;
    check(&each, &failure);
    const struct rm_plan plan = plan_of(&each);
    status = rm_poll(&failure, &plan, NULL, NULL, comm, error);
    if (status == REDUCT_OK) {
        const rd_environment caller = rd_environment_enter(); /* for slices, and for MPI's sums of them */
        status = reduce(&each, error);
        rd_environment_leave(caller);
    }
    if (status == REDUCT_OK && each.there &&
        !rm_to_device(each.there, each.host, (size_t)count * (size_t)each.format.bytes, error))
        status = REDUCT_ERROR_DEVICE_LOST;
    free(each.host);
    free(each.windows);
    free(each.piece);
    return status;
}
