/* Fuzz target: text in blocks and pieces, read by several threads.
 *
 * The constants of the readers are small here (CMakeLists.txt), so that short texts are cut in many places. The header of
 * the input chooses the element type, the threads, how the file is read, and whether it grows or is cut short meanwhile;
 * the rest is the text. The numbers that come must be those of a plain walk over the text, each parsed alone (number.c
 * holds the parser against the C library and GMP; plain whole numbers are worked out here); what is refused must be refused
 * for a word that is no number, with its line and column. A file that changes is refused, or read as it was before or
 * after, or up to a white space: but never up to the middle of a number.
 */
#include "readers/reader.h"

#include "number.h"

#include <inttypes.h>
#include <string.h>

#include "fuzz.h"
#include "stage.h"
#include "support.h"
#include "values.h"

enum { NUMBERS_MOST = FUZZ_MOST, TOKEN_MOST = 100 }; /* as targets.cmake makes it */

/* What a text holds, by a plain walk. */
struct plain {
    size_t count; /* numbers before the first word that is none */
    unsigned char value[NUMBERS_MOST][8];
    bool bad; /* there is such a word */
};

/* ---------------------------------------------------------------------------------------------------------------------
 * The plain walk
 * ------------------------------------------------------------------------------------------------------------------ */

/* Digits only, few enough for a double: what they mean. */
static bool read_digits(reduct_type type, const uint8_t *word, size_t size, unsigned char value[8]) {
    uint64_t number = 0;
    const struct test_type *traits = test_type(type);
    for (size_t i = 0; i < size; i++) {
        if (word[i] < '0' || word[i] > '9')
            return false;
        number = 10 * number + (unsigned)(word[i] - '0');
    }
    if (type == REDUCT_F16 || type == REDUCT_BF16 || type == REDUCT_BOOL) /* round further, or know other words */
        return false;
    if (size > 15 || (traits->class != FLOAT && traits->precision < 64 && number >> traits->precision))
        return false;
    const double wide = (double)number;
    const float narrow = (float)number;
    memset(value, 0, 8);
    memcpy(value,
           type == REDUCT_F64   ? (const void *)&wide
           : type == REDUCT_F32 ? (const void *)&narrow
                                : &number,
           traits->size);
    return true;
}

static bool read_word(reduct_type type, const uint8_t *word, size_t size, unsigned char value[8]) {
    static char copy[FUZZ_MOST];
    const char *stop;
    unsigned char plainly[8];
    memset(value, 0, 8);
    memcpy(copy, word, size);
    const bool good =
        number_parse(type, copy, copy + size, &stop, value) == NUMBER_READ && stop == copy + size && size <= TOKEN_MOST;
    if (good && read_digits(type, word, size, plainly))
        FUZZ_REQUIRE(memcmp(value, plainly, 8) == 0);
    return good;
}

static void read_plainly(struct plain *plain, reduct_type type, const uint8_t *text, size_t size) {
    plain->count = 0;
    plain->bad = false;
    for (size_t i = 0; i < size && !plain->bad;) {
        if (number_is_space((char)text[i])) {
            i++;
            continue;
        }
        const size_t first = i;
        while (i < size && !number_is_space((char)text[i]))
            i++;
        plain->bad = !read_word(type, text + first, i - first, plain->value[plain->count]);
        plain->count += !plain->bad;
    }
}

/* Whether a message that gives a line and a column gives those of a word that is no number. */
static bool blames_a_word(reduct_type type, const uint8_t *text, size_t size) {
    uint64_t line, column;
    const size_t name = strlen(stage.path);
    FUZZ_REQUIRE(strncmp(stage.said, stage.path, name) == 0);
    if (sscanf(stage.said + name, ":%" SCNu64 ":%" SCNu64 ": ", &line, &column) != 2)
        return true; /* the file as a whole is to blame */
    size_t at = 0;
    for (; line > 1 && at < size; line--) {
        const uint8_t *end = memchr(text + at, '\n', size - at);
        at = end ? (size_t)(end - text) + 1 : size;
    }
    at += column - 1;
    FUZZ_REQUIRE(line == 1 && column >= 1 && at < size && (at == 0 || number_is_space((char)text[at - 1])));
    size_t end = at;
    unsigned char value[8];
    while (end < size && !number_is_space((char)text[end]))
        end++;
    return end > at && !read_word(type, text + at, end - at, value);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The readers
 * ------------------------------------------------------------------------------------------------------------------ */

/* What came. */
struct got {
    enum outcome outcome;
    size_t count;
    unsigned char value[NUMBERS_MOST][8];
};

static void take(struct got *got, const struct reader *reader, const struct chunk *chunk) {
    const size_t size = reduct_type_size(reader->type);
    char place[PLACE];
    FUZZ_REQUIRE((uintptr_t)chunk->data % size == 0 && chunk->count <= NUMBERS_MOST - got->count);
    for (uint64_t i = 0; i < chunk->count; i++) {
        memset(got->value[got->count], 0, 8);
        memcpy(got->value[got->count++], (const char *)chunk->data + i * size, size);
    }
    if (stage.later == stage.size) { /* the text is still there */
        reader_place(reader, chunk->count - 1, place);
        FUZZ_REQUIRE(strncmp(place, stage.path, strlen(stage.path)) == 0);
    }
}

static void read_all(struct got *got, const struct input_options *options) {
    static struct reader reader; /* static, as it is used after a jump */
    struct chunk chunk;
    got->count = 0;
    stage.guarded = stage.later < stage.size;
    if (!stage.guarded || sigsetjmp(stage.escape, 1) == 0) {
        got->outcome = reader_open(&reader, stage.path, options);
        while (got->outcome == DONE) {
            stage_tick();
            got->outcome = reader_next(&reader, &chunk);
            if (got->outcome != DONE || chunk.count == 0)
                break;
            take(got, &reader, &chunk);
        }
    } else {
        got->outcome = FAILED; /* the handler has ended the program */
    }
    reader_close(&reader);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Both
 * ------------------------------------------------------------------------------------------------------------------ */

static bool begins_alike(const struct got *got, const struct plain *plain) {
    return got->count <= plain->count && memcmp(got->value, plain->value, got->count * sizeof *got->value) == 0;
}

/* All of a text, unless it was refused. */
static void check_steady(const struct got *got, const struct plain *plain, reduct_type type, const uint8_t *text,
                         size_t size) {
    FUZZ_REQUIRE(begins_alike(got, plain));
    if (got->outcome == DONE)
        FUZZ_REQUIRE(!plain->bad && got->count == plain->count);
    else
        FUZZ_REQUIRE(got->outcome == FAILED && plain->bad && blames_a_word(type, text, size));
}

/* Of a text that grew or was cut short, to `shorter`: the longer one's beginning, which ends where a number does. A text may
 * also have been cut short before it was looked at. */
static void check_changed(const struct got *got, const struct plain *longer, const struct plain *shorter) {
    const bool is_shorter = shorter && !shorter->bad && got->count == shorter->count && begins_alike(got, shorter);
    FUZZ_REQUIRE(got->outcome == FAILED || (got->outcome == DONE && (begins_alike(got, longer) || is_shorter)));
}

/* What the header says about the file. */
static void set_stage(struct fuzz_input *input, struct input_options *options) {
    const unsigned how = fuzz_byte(input), change = fuzz_byte(input), read_most = fuzz_byte(input) % 100;
    const size_t other = fuzz_size(input);
    stage = (struct stage){.way = (enum stage_way)(how % STAGE_WAYS),
                           .read_most = read_most,
                           .interrupt = how / 15 % 4,
                           .calls = change % 8,
                           .data = input->data,
                           .size = input->size,
                           .later = input->size};
    options->threads = 1 + how / 3 % 5;
    if (change >= 192 && stage.way != STAGE_PIPE) { /* it grows, before the first number is asked for */
        stage.size = other % (input->size + 1);
        stage.calls = change % 2;
    } else if (change >= 128 && stage.way == STAGE_MAPPED) {
        stage.later = other % (input->size + 1);
        options->threads = 1; /* SIGBUS comes to the thread that can jump */
    }
}

/* Bytes of the mark with which some editors begin UTF-8. */
static size_t mark_size(const uint8_t *text, size_t size) {
    return size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct plain longer, shorter;
    static struct got got;
    struct fuzz_input input = {data, size};
    const struct test_type *type = &test_types[fuzz_byte(&input) % test_type_count];
    struct input_options options = {.format = FORMAT_TEXT, .type = type->type};
    if (size > FUZZ_MOST || !type->required)
        return 0;
    set_stage(&input, &options);
    const bool steady = stage.size == stage.later, grows = stage.later > stage.size;
    const size_t most = grows ? stage.later : stage.size, least = grows ? stage.size : stage.later;
    const size_t mark = mark_size(stage.data, most);
    stage_open();
    read_all(&got, &options);
    stage_close();
    const uint8_t *text = stage.data + mark;
    read_plainly(&longer, type->type, text, most - mark);
    if (steady) {
        check_steady(&got, &longer, type->type, text, most - mark);
    } else if (least >= mark) { /* with less, the mark itself is cut */
        read_plainly(&shorter, type->type, text, least - mark);
        check_changed(&got, &longer, grows ? NULL : &shorter);
    }
    return 0;
}

size_t fuzz_start(uint64_t number, uint8_t *data) {
    static const char *const WORDS[] = {
        "1", "-2",  "3.25", "1e300", "0x1p-3", "nan", "-inf", "12345678901234567890", "99999999999999999999999",
        "x", "7,5", "000"};
    static const char *const SPACES[] = {" ", "\n", "  ", "\r\n", "\t", "\n\n \v\f"};
    struct rng rng = rng_of(number);
    size_t used = 6;
    for (size_t i = 0; i < used; i++)
        data[i] = (uint8_t)rng_next(&rng);
    if (rng_below(&rng, 3))
        data[2] &= 127; /* most texts stay as they are */
    if (rng_below(&rng, 10) == 0) {
        memcpy(data + used, "\xef\xbb\xbf", 3);
        used += 3;
    }
    const size_t kinds = 1 + rng_below(&rng, sizeof WORDS / sizeof *WORDS); /* mostly good ones */
    for (size_t words = rng_below(&rng, 200); words > 0; words--) {
        const char *word = WORDS[rng_below(&rng, kinds)], *space = SPACES[rng_below(&rng, 6)];
        for (size_t times = rng_below(&rng, 60) ? 1 : rng_below(&rng, TOKEN_MOST); times > 0; times--) {
            memcpy(data + used, word, strlen(word));
            used += strlen(word);
            if (used > FUZZ_MOST / 2)
                return used;
        }
        memcpy(data + used, space, strlen(space));
        used += strlen(space);
    }
    return used;
}
