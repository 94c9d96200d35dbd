/* Fuzz target: binary elements out of files, raw and .npy, through windows, reads and pipes.
 *
 * The constants of the readers are small here (targets.cmake). The header of the input chooses the element type, the byte
 * order, --offset and --count, how the file is read, and whether it grows or is cut short meanwhile; what follows are its
 * bytes, over and over. Which elements must come, or that the file must be refused, is worked out from the lengths alone.
 */
#include "readers/reader.h"

#include <inttypes.h>
#include <string.h>

#include "fuzz.h"
#include "stage.h"
#include "support.h"
#include "values.h"

enum { BYTES_MOST = 40000, NPY_HEADER = 128 };

struct work {
    struct input_options options;
    const struct test_type *type;
    bool npy, swap;
    size_t announced; /* npy: elements */
    uint8_t bytes[NPY_HEADER + BYTES_MOST];
    size_t size;             /* in the end, or at most */
    uint8_t got[BYTES_MOST]; /* the elements that came */
    size_t got_size;
    enum outcome outcome;
};

/* ---------------------------------------------------------------------------------------------------------------------
 * What must come
 * ------------------------------------------------------------------------------------------------------------------ */

/* Byte `i` of the elements, which begin `start` bytes into the file. */
static uint8_t expected_byte(const struct work *work, size_t start, size_t i) {
    const size_t element = work->type->size, within = i % element;
    return work->bytes[start + i - within + (work->swap ? element - 1 - within : within)];
}

static size_t start_of(const struct work *work) {
    return work->npy ? NPY_HEADER : work->options.has_offset ? (size_t)work->options.offset : 0;
}

/* How many elements a file of some size has; -1 if it must be refused. */
static int64_t expected_count(const struct work *work, size_t size) {
    const size_t element = work->type->size, start = start_of(work);
    if (size < start)
        return -1;
    const size_t left = size - start, whole = left / element;
    if (work->npy)
        return left == work->announced * element ? (int64_t)work->announced : -1;
    if (work->options.has_count)
        return whole >= work->options.count ? (int64_t)work->options.count : -1;
    return left % element ? -1 : (int64_t)whole;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void take(struct work *work, const struct reader *reader, const struct chunk *chunk) {
    const size_t element = work->type->size, size = (size_t)chunk->count * element;
    char place[PLACE], expected[PLACE];
    FUZZ_REQUIRE((uintptr_t)chunk->data % element == 0 && size <= BYTES_MOST - work->got_size);
    memcpy(work->got + work->got_size, chunk->data, size);
    reader_place(reader, chunk->count - 1, place);
    work->got_size += size;
    snprintf(expected, sizeof expected, "%s: element %zu", stage.path, work->got_size / element - 1);
    FUZZ_REQUIRE(strcmp(place, expected) == 0);
}

static void read_all(struct work *work) {
    static struct reader reader; /* static, as it is used after a jump */
    struct chunk chunk;
    work->got_size = 0;
    stage.guarded = stage.later < stage.size;
    if (!stage.guarded || sigsetjmp(stage.escape, 1) == 0) {
        work->outcome = reader_open(&reader, stage.path, &work->options);
        if (work->outcome == DONE)
            FUZZ_REQUIRE(reader.type == work->type->type);
        while (work->outcome == DONE) {
            stage_tick();
            work->outcome = reader_next(&reader, &chunk);
            if (work->outcome != DONE || chunk.count == 0)
                break;
            take(work, &reader, &chunk);
        }
    } else {
        work->outcome = FAILED; /* the handler has ended the program */
    }
    reader_close(&reader);
}

/* What came, up to where a file was cut short: there a page may end in zeros before it is noticed. */
static void check_elements(const struct work *work, size_t steady_size) {
    const size_t start = start_of(work);
    for (size_t i = 0; i < work->got_size; i++) {
        const size_t element_end = start + i - i % work->type->size + work->type->size;
        FUZZ_REQUIRE(element_end > steady_size || work->got[i] == expected_byte(work, start, i));
    }
}

/* A file that is refused may have given elements before; one that is not gives all. */
static void check(const struct work *work, size_t before, size_t after) {
    const int64_t count = (int64_t)(work->got_size / work->type->size);
    check_elements(work, after < before ? after : work->size);
    if (before == after)
        FUZZ_REQUIRE((work->outcome == DONE) == (expected_count(work, before) >= 0));
    else
        FUZZ_REQUIRE(work->outcome == DONE || work->outcome == FAILED);
    if (work->outcome == DONE)
        FUZZ_REQUIRE(count == expected_count(work, before) || count == expected_count(work, after));
    else
        FUZZ_REQUIRE(stage.guarded || stage.said[0]);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The header
 * ------------------------------------------------------------------------------------------------------------------ */

static void put_npy_header(struct work *work, bool big) {
    static const char kinds[] = {[FLOAT] = 'f', [SIGNED] = 'i', [UNSIGNED] = 'u'};
    const char kind = work->type->type == REDUCT_BF16   ? 'V'
                      : work->type->type == REDUCT_BOOL ? 'b'
                                                        : kinds[work->type->class];
    memset(work->bytes, ' ', NPY_HEADER);
    memcpy(work->bytes, "\x93NUMPY\1\0\x76\0", 10);
    const int length = snprintf((char *)work->bytes + 10, NPY_HEADER - 10,
                                "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (%zu,), }",
                                work->type->size == 1 ? '|'
                                : big                 ? '>'
                                                      : '<',
                                kind, work->type->size, work->announced);
    work->bytes[10 + length] = ' ';
    work->bytes[NPY_HEADER - 1] = '\n';
}

static void set_stage(struct work *work, struct fuzz_input *input) {
    const unsigned how = fuzz_byte(input), change = fuzz_byte(input), read_most = fuzz_byte(input);
    stage = (struct stage){.way = (enum stage_way)(how % STAGE_WAYS),
                           .read_most = read_most,
                           .interrupt = how / 15 % 4,
                           .calls = change % 8,
                           .data = work->bytes,
                           .size = work->size,
                           .later = work->size};
    work->options.threads = 1 + how / 3 % 5;
    const size_t other = fuzz_size(input) % (work->size + 1);
    if (change >= 192 && stage.way != STAGE_PIPE) {
        stage.size = other;
    } else if (change >= 128 && stage.way != STAGE_PIPE) {
        stage.later = other;
        work->options.threads = 1; /* SIGBUS comes to the thread that can jump */
    }
}

/* What the header says; false for what this version does not read. */
static bool choose(struct work *work, struct fuzz_input *input) {
    const unsigned what = fuzz_byte(input), flags = fuzz_byte(input);
    const size_t length = fuzz_size(input) % BYTES_MOST, offset = fuzz_byte(input), count = fuzz_size(input);
    work->type = &test_types[what % test_type_count];
    work->npy = flags & 1;
    work->options = (struct input_options){.format = work->npy ? FORMAT_NPY : FORMAT_RAW,
                                           .type = work->npy ? REDUCT_DEFAULT : work->type->type,
                                           .has_offset = !work->npy && flags & 2,
                                           .has_count = !work->npy && flags & 4,
                                           .offset = !(flags & 2) ? 0
                                                     : flags & 64 ? offset * 100
                                                                  : offset,
                                           .count = count % 6000};
    const bool big = flags & 8;
    work->swap =
        big && (work->npy || flags & 16) && work->type->size > 1; /* these tests run on little-endian machines */
    if (!work->npy && flags & 16)
        work->options.order = big ? ORDER_BIG : ORDER_LITTLE;
    work->size = (work->npy ? NPY_HEADER : 0) + length;
    work->announced = length / work->type->size + (flags & 32 ? count % 3 : 0);
    if (!work->type->required)
        return false;
    if (work->npy)
        put_npy_header(work, big);
    set_stage(work, input);
    for (size_t i = work->size - length; i < work->size; i++)
        work->bytes[i] = input->size ? (uint8_t)(input->data[i % input->size] + i / 256) : (uint8_t)i;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct work work;
    struct fuzz_input input = {data, size};
    if (!choose(&work, &input))
        return 0;
    const size_t before = stage.size, after = stage.later;
    stage_open();
    read_all(&work);
    check(&work, before, after);
    stage_close();
    return 0;
}

size_t fuzz_start(uint64_t number, uint8_t *data) {
    struct rng rng = rng_of(number);
    const size_t size = 12 + rng_below(&rng, 30);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)rng_next(&rng);
    if (rng_next(&rng) & 1) /* a whole number of any elements */
        data[2] &= 0xf8;
    if (rng_below(&rng, 3)) /* most files are small, */
        data[3] &= 15;
    if (rng_below(&rng, 3)) /* and stay as they are */
        data[8] &= 127;
    return size;
}
