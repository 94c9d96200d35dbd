/* The .npy format: npy_parse() for the header, after which the elements are read as raw binary. */
#include "npy.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reader.h"

/* ---------------------------------------------------------------------------------------------------------------------
 * The dictionary: a Python literal of which only what NumPy writes is understood
 * ------------------------------------------------------------------------------------------------------------------ */

struct cursor {
    const char *at, *end;
    char *problem;
};

static bool refuse(struct cursor *cursor, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(struct cursor *cursor, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cursor->problem, NPY_PROBLEM, format, arguments);
    va_end(arguments);
    return false;
}

/* Refuses what is at the cursor. */
static bool unexpected(struct cursor *cursor, const char *expected) {
    char found[QUOTED];
    size_t left = (size_t)(cursor->end - cursor->at);
    if (left == 0)
        return refuse(cursor, "the header ends where %s was expected", expected);
    return refuse(cursor, "the header has %s where %s was expected", quote(found, cursor->at, left < 16 ? left : 16),
                  expected);
}

static void skip_space(struct cursor *cursor) {
    while (cursor->at < cursor->end && memchr(" \t\r\n", *cursor->at, 4))
        cursor->at++;
}

/* Consumes a word if it comes next. */
static bool accept(struct cursor *cursor, const char *word) {
    skip_space(cursor);
    size_t size = strlen(word);
    if ((size_t)(cursor->end - cursor->at) < size || memcmp(cursor->at, word, size) != 0)
        return false;
    cursor->at += size;
    return true;
}

static bool expect(struct cursor *cursor, const char *word) {
    char expected[16];
    snprintf(expected, sizeof expected, "'%s'", word);
    return accept(cursor, word) || unexpected(cursor, expected);
}

/* A string without escapes, in either kind of quotes. */
static bool parse_string(struct cursor *cursor, const char **text, size_t *size, const char *expected) {
    skip_space(cursor);
    if (cursor->at == cursor->end || (*cursor->at != '\'' && *cursor->at != '"'))
        return unexpected(cursor, expected);
    const char *begin = cursor->at + 1;
    const char *close = memchr(begin, *cursor->at, (size_t)(cursor->end - begin));
    if (!close)
        return refuse(cursor, "the header has a string that does not end");
    *text = begin;
    *size = (size_t)(close - begin);
    cursor->at = close + 1;
    return true;
}

static bool parse_unsigned(struct cursor *cursor, uint64_t *value) {
    skip_space(cursor);
    if (cursor->at == cursor->end || *cursor->at < '0' || *cursor->at > '9')
        return unexpected(cursor, "a length of an axis");
    const char *first = cursor->at;
    *value = 0;
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++) {
        if (__builtin_mul_overflow(*value, (uint64_t)10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*cursor->at - '0'), value))
            return refuse(cursor, "an axis is longer than any memory");
    }
    if (*first == '0' && *value > 0)
        return refuse(cursor, "an axis has a length with a leading 0");
    accept(cursor, "L"); /* as Python 2 wrote long integers */
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The entries
 * ------------------------------------------------------------------------------------------------------------------ */

/* Why arrays of a kind are refused; null for the kinds of numbers that can be read. */
static const char *kind_refused(char kind) {
    switch (kind) {
    case 'f':
    case 'i':
    case 'u':
    case 'b':
        return NULL;
    case 'c':
        return "complex numbers; reduce a.real and a.imag";
    case 'O':
        return "Python objects, which cannot be read without running Python";
    case 'S':
    case 'a':
    case 'U':
        return "strings";
    case 'V':
        return "structured or untyped data; save one field of numbers";
    case 'M':
    case 'm':
        return "dates or times; convert them, as in a.astype('i8')";
    default:
        return "a type unknown here";
    }
}

/* The type of numbers of a kind, in so many bytes. */
static reduct_type type_of(char kind, size_t bytes) {
    static const struct {
        char kind;
        size_t bytes;
        reduct_type type;
    } TYPES[] = {{'f', 8, REDUCT_F64},  {'f', 4, REDUCT_F32}, {'f', 2, REDUCT_F16}, {'V', 2, REDUCT_BF16},
                 {'b', 1, REDUCT_BOOL}, {'i', 1, REDUCT_I8},  {'i', 2, REDUCT_I16}, {'i', 4, REDUCT_I32},
                 {'i', 8, REDUCT_I64},  {'u', 1, REDUCT_U8},  {'u', 2, REDUCT_U16}, {'u', 4, REDUCT_U32},
                 {'u', 8, REDUCT_U64}};
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        if (TYPES[i].kind == kind && TYPES[i].bytes == bytes)
            return TYPES[i].type;
    }
    return REDUCT_DEFAULT;
}

/* 'descr': byte order, kind and bytes of an element, such as '<f8'. */
static bool parse_descr(struct cursor *cursor, struct npy_header *header) {
    if (accept(cursor, "["))
        return refuse(cursor, "the elements are structured, which cannot be reduced; save one field of numbers");
    const char *text = NULL;
    size_t size = 0;
    char shown[QUOTED];
    if (!parse_string(cursor, &text, &size, "the element type"))
        return false;
    quote(shown, text, size);
    char order = 0;
    if (size > 0 && memchr("<>|=", text[0], 4)) {
        order = *text++;
        size--;
    }
    const bool pairs = size == 2 && memcmp(text, "V2", 2) == 0;
    const char *reason = pairs ? NULL : size > 0 ? kind_refused(text[0]) : "a type unknown here";
    if (reason)
        return refuse(cursor, "the elements are %s: %s", shown, reason);
    header->type = size == 2 ? type_of(text[0], (size_t)(text[1] - '0')) : REDUCT_DEFAULT;
    if (header->type == REDUCT_DEFAULT)
        return refuse(cursor, "the elements are %s: numbers of a width that cannot be read; convert them, as in %s",
                      shown, text[0] == 'f' ? "a.astype('f4') or 'f8'" : "a.astype('i8')");
    const char native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    header->untyped =
        pairs && order != '<' && order != '>'; /* an order is what ml_dtypes' bfloat16 has, not plain bytes */
    header->swap = (order == '<' || order == '>') && order != native && reduct_type_size(header->type) > 1;
    return true;
}

static bool parse_fortran(struct cursor *cursor, struct npy_header *header) {
    header->layout.fortran = accept(cursor, "True");
    return header->layout.fortran || accept(cursor, "False") || unexpected(cursor, "True or False");
}

/* 'shape': a tuple of lengths, which of one length has a comma: (3,). */
static bool parse_shape(struct cursor *cursor, struct npy_header *header) {
    struct layout *layout = &header->layout;
    if (!expect(cursor, "("))
        return false;
    for (layout->rank = 0; !accept(cursor, ")"); layout->rank++) {
        if (layout->rank == LAYOUT_MOST)
            return refuse(cursor, "the array has more than %d axes", LAYOUT_MOST);
        if (accept(cursor, "-"))
            return refuse(cursor, "an axis has a negative length");
        if (!parse_unsigned(cursor, &layout->shape[layout->rank]))
            return false;
        if (!accept(cursor, ",")) {
            if (layout->rank++ == 0 && cursor->at < cursor->end && *cursor->at == ')')
                return refuse(cursor, "the shape is a number in brackets; expected a tuple, as in (%" PRIu64 ",)",
                              layout->shape[0]);
            return expect(cursor, ")");
        }
    }
    return true;
}

/* Multiplies the lengths; an array with an empty axis is empty, however long the others. */
static bool count_elements(struct cursor *cursor, struct npy_header *header) {
    const struct layout *layout = &header->layout;
    bool overflow = false;
    header->count = 1;
    for (unsigned i = 0; i < layout->rank; i++) {
        if (layout->shape[i] == 0) {
            header->count = 0;
            return true;
        }
        overflow = __builtin_mul_overflow(header->count, layout->shape[i], &header->count) || overflow;
    }
    uint64_t bytes;
    overflow = __builtin_mul_overflow(header->count, (uint64_t)reduct_type_size(header->type), &bytes) || overflow;
    if (overflow || bytes > INT64_MAX)
        return refuse(cursor, "the shape is larger than any memory: the product of its lengths overflows");
    return true;
}

static bool parse_entry(struct cursor *cursor, struct npy_header *header, bool seen[3]) {
    static const struct {
        const char *key;
        bool (*parse)(struct cursor *cursor, struct npy_header *header);
    } ENTRIES[3] = {{"descr", parse_descr}, {"fortran_order", parse_fortran}, {"shape", parse_shape}};
    const char *key = NULL;
    size_t size = 0;
    char shown[QUOTED];
    if (!parse_string(cursor, &key, &size, "a key"))
        return false;
    for (size_t i = 0; i < 3; i++) {
        if (strlen(ENTRIES[i].key) != size || memcmp(ENTRIES[i].key, key, size) != 0)
            continue;
        if (seen[i])
            return refuse(cursor, "the header has '%s' twice", ENTRIES[i].key);
        seen[i] = true;
        return expect(cursor, ":") && ENTRIES[i].parse(cursor, header);
    }
    return refuse(cursor, "the header has the unknown key %s", quote(shown, key, size));
}

/* Axes of more than one element: with fewer than two, both orders are the same. */
static unsigned long_axes(const struct layout *layout) {
    unsigned count = 0;
    for (unsigned i = 0; i < layout->rank; i++)
        count += layout->shape[i] > 1;
    return count;
}

bool npy_parse(const char *text, size_t size, struct npy_header *header, char problem[NPY_PROBLEM]) {
    struct cursor cursor = {text, text + size, problem};
    bool seen[3] = {false, false, false};
    *header = (struct npy_header){.type = REDUCT_DEFAULT};
    if (!expect(&cursor, "{"))
        return false;
    while (!accept(&cursor, "}")) {
        if (!parse_entry(&cursor, header, seen))
            return false;
        if (!accept(&cursor, ",")) {
            if (!expect(&cursor, "}"))
                return false;
            break;
        }
    }
    if (!seen[0] || !seen[1] || !seen[2])
        return refuse(&cursor, "the header lacks '%s'", !seen[0] ? "descr" : !seen[1] ? "fortran_order" : "shape");
    skip_space(&cursor);
    if (cursor.at != cursor.end)
        return unexpected(&cursor, "its end");
    header->layout.shaped = true;
    header->layout.fortran = header->layout.fortran && long_axes(&header->layout) > 1;
    return count_elements(&cursor, header);
}

uint64_t layout_index(const struct layout *layout, uint64_t position) {
    if (!layout->fortran)
        return position;
    uint64_t stride = 1, index = 0;
    for (unsigned i = 0; i < layout->rank; i++)
        stride *= layout->shape[i];
    for (unsigned i = 0; i < layout->rank; i++) {
        stride /= layout->shape[i];
        index += position % layout->shape[i] * stride;
        position /= layout->shape[i];
    }
    return index;
}

bool layout_same_shape(const struct layout *a, const struct layout *b) {
    return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

const char *layout_text(const struct layout *layout, char text[LAYOUT_TEXT]) {
    size_t used = 1;
    strcpy(text, "(");
    for (unsigned i = 0; i < layout->rank; i++)
        used += (size_t)snprintf(text + used, LAYOUT_TEXT - used, "%s%" PRIu64, i > 0 ? ", " : "", layout->shape[i]);
    snprintf(text + used, LAYOUT_TEXT - used, layout->rank == 1 ? ",)" : ")");
    return text;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The file
 * ------------------------------------------------------------------------------------------------------------------ */

/* No header that NumPy writes for numbers comes near. */
#define HEADER_MOST ((uint64_t)1 << 20)

/* Finds the dictionary after the magic: a version, and the header's length in two or four bytes. */
static enum outcome read_header(struct reader *reader, struct npy_header *header) {
    struct source *source = &reader->source;
    enum outcome outcome = source_peek(source, 12, 12);
    if (outcome != DONE)
        return outcome;
    const unsigned char *data = source->data;
    if (source->available >= 8 && (data[6] < 1 || data[6] > 3 || data[7] != 0))
        return fail("%s: .npy version %d.%d; expected 1.0, 2.0 or 3.0", source->name, data[6], data[7]);
    if (source->available < 12)
        return fail("%s: the .npy header is cut short after %zu bytes", source->name, source->available);
    size_t before = data[6] == 1 ? 10 : 12;
    uint64_t length = data[8] | (uint64_t)data[9] << 8;
    if (data[6] > 1)
        length |= (uint64_t)data[10] << 16 | (uint64_t)data[11] << 24;
    if (length > HEADER_MOST)
        return fail("%s: the .npy header claims %" PRIu64 " bytes; expected at most %" PRIu64, source->name, length,
                    HEADER_MOST);
    outcome = source_peek(source, before + (size_t)length, 0);
    if (outcome != DONE)
        return outcome;
    if (source->available < before + length)
        return fail("%s: the .npy header claims %" PRIu64 " bytes, but only %zu follow", source->name, length,
                    source->available - before);
    char problem[NPY_PROBLEM];
    if (!npy_parse((const char *)source->data + before, (size_t)length, header, problem))
        return fail("%s: %s", source->name, problem);
    source_consume(source, before + (size_t)length);
    return DONE;
}

enum outcome npy_open(struct reader *reader, const struct input_options *options) {
    struct source *source = &reader->source;
    if (raw_option(options))
        return misuse(
            "%s: %s is a .npy file, whose header says what is where; to read it as raw binary give --format raw",
            raw_option(options), source->name);
    struct npy_header header;
    enum outcome outcome = read_header(reader, &header);
    if (outcome != DONE)
        return outcome;
    if (header.untyped && !reader->type_said)
        return fail(
            "%s: the elements are '|V2', two bytes each that may be anything; if they are bfloat16, give --type bf16",
            source->name);
    if (reader->type_said && options->type != header.type)
        return misuse("--type: %s was given, but %s holds %s", reduct_type_name(options->type), source->name,
                      reduct_type_name(header.type));
    reader->type = header.type;
    reader->count = header.count;
    reader->layout = header.layout;
    uint64_t bytes = header.count * reduct_type_size(header.type);
    if (source->size != SOURCE_SIZE_UNKNOWN && source->size - source->position != bytes)
        return fail("%s: the .npy header announces %" PRIu64 " %s elements, %" PRIu64 " bytes, but %" PRIu64
                    " bytes follow it",
                    source->name, header.count, reduct_type_name(header.type), bytes, source->size - source->position);
    raw_start(reader, header.swap, true);
    return DONE;
}
