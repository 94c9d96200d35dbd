/* Text: numbers separated by white space.
 *
 * A block of the input that ends with white space is cut, at white space, into one piece per thread; each is parsed
 * into its own array, and the arrays are handed out in order. Lines are counted on the way, so that messages can say
 * where a bad number stands. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../number.h"
#include "../parallel.h"
#include "reader.h"

/* Bytes of text for one thread. */
#define PIECE ((size_t)1 << 20)

/* The longest number taken. Exact decimals of doubles have up to 1077 characters. */
#define TOKEN_MOST ((size_t)64 << 10)

struct text_piece {
    const char *begin, *end;
    reduct_type type;
    void *values;
    size_t count, room;     /* of values */
    uint64_t lines;         /* line ends within */
    const char *line_start; /* after the last of them; null if there is none */
    const char *bad;        /* the number that stopped the parser; null if all is well */
    enum number_status status;
    bool widens;
    const char *negative, *large; /* the first such number, where it widens */
    bool changed;                 /* more numbers than there can be: the text is not the one that was cut */
};

static const char *token_end(const char *text, const char *end) {
    while (text < end && !number_is_space(*text))
        text++;
    return text;
}

static const char *last_token(const char *text, const char *end) {
    while (end > text && !number_is_space(end[-1]))
        end--;
    return end;
}

static const char *skip_space(const char *text, const char *end) {
    while (text < end && number_is_space(*text))
        text++;
    return text;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Pieces
 * ------------------------------------------------------------------------------------------------------------------ */

static void count_lines(struct text_piece *piece) {
    const char *last = piece->end;
    piece->lines = 0;
    for (const char *p = piece->begin; p < piece->end; p++)
        piece->lines += *p == '\n';
    while (last > piece->begin && last[-1] != '\n')
        last--;
    piece->line_start = last > piece->begin ? last : NULL;
}

/* A number, of i64 or else of u64 where text widens: those that both have are the same bits. */
static enum number_status parse_number(struct text_piece *piece, const char *text, const char **stop, void *value) {
    enum number_status status = number_parse(piece->type, text, piece->end, stop, value);
    if (!piece->widens)
        return status;
    int64_t number = 0;
    if (status == NUMBER_READ)
        memcpy(&number, value, sizeof number);
    if (number < 0 && !piece->negative)
        piece->negative = text;
    if (status != NUMBER_TOO_LARGE)
        return status;
    status = number_parse(REDUCT_U64, text, piece->end, stop, value);
    if (status == NUMBER_READ && !piece->large)
        piece->large = text;
    return status;
}

static void parse_piece(void *item) {
    struct text_piece *piece = item;
    size_t size = reduct_type_size(piece->type);
    char *value = piece->values;
    const char *text = skip_space(piece->begin, piece->end);
    while (text < piece->end) {
        const char *stop;
        if ((size_t)(value - (char *)piece->values) == piece->room * size) {
            piece->changed = true;
            break;
        }
        piece->status = parse_number(piece, text, &stop, value);
        if (piece->status != NUMBER_READ || (size_t)(stop - text) > TOKEN_MOST) {
            piece->bad = text;
            break;
        }
        value += size;
        text = skip_space(stop, piece->end);
    }
    piece->count = (size_t)(value - (char *)piece->values) / size;
    count_lines(piece);
}

/* Cuts the block into pieces. A piece is PIECE bytes and what completes its last number, so PIECE / 2 + 1 numbers at
 * most, unless another program writes to the file meanwhile. */
static enum outcome cut_block(struct reader *reader, size_t size) {
    struct text_state *text = &reader->text;
    const char *begin = (const char *)reader->source.data, *end = begin + size;
    text->piece_count = 0;
    text->next = 0;
    text->block = 0;
    while (begin < end && text->piece_count < reader->threads) {
        struct text_piece *piece = &text->pieces[text->piece_count];
        const char *cut = (size_t)(end - begin) > PIECE ? token_end(begin + PIECE, end) : end;
        const size_t room = PIECE / 2 + 1;
        void *values = piece->values ? piece->values : malloc(room * reduct_type_size(reader->type));
        if (!values)
            return fail_memory();
        *piece = (struct text_piece){.begin = begin,
                                     .end = cut,
                                     .type = text->widens ? REDUCT_I64 : reader->type,
                                     .values = values,
                                     .room = room,
                                     .widens = text->widens};
        text->piece_count++;
        text->block += (size_t)(cut - begin);
        begin = cut;
    }
    return DONE;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------------------------------------------------------ */

/* Where a byte of the block is. */
static struct text_position find_byte(const struct reader *reader, const char *at) {
    const char *block = (const char *)reader->source.data;
    uint64_t line = reader->text.line + 1, line_start = reader->text.line_start;
    for (const char *p = block; p < at; p++) {
        if (*p == '\n') {
            line++;
            line_start = reader->source.position + (uint64_t)(p + 1 - block);
        }
    }
    return (struct text_position){line, reader->source.position + (uint64_t)(at - block) - line_start + 1};
}

static void place_byte(const struct reader *reader, const char *at, char place[PLACE]) {
    const struct text_position position = find_byte(reader, at);
    snprintf(place, PLACE, "%s:%" PRIu64 ":%" PRIu64, reader_name(reader), position.line, position.column);
}

/* Bytes of the UTF-8 character that a byte begins; 0 if it begins none. */
static size_t utf8_size(unsigned char byte) {
    if (byte < 0x80)
        return 1;
    if (byte < 0xc2)
        return 0;
    return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 0;
}

bool text_is_plausible(const unsigned char *data, size_t size) {
    for (size_t i = 0; i < size;) {
        size_t length = utf8_size(data[i]);
        if (length == 0 || (data[i] < 0x20 && !number_is_space((char)data[i])) || data[i] == 0x7f)
            return false;
        for (size_t k = 1; k < length && i + k < size; k++) {
            if ((data[i + k] & 0xc0) != 0x80)
                return false;
        }
        i += length;
    }
    return true;
}

static enum outcome refuse_number(const struct reader *reader, const char *bad, const char *end,
                                  enum number_status status) {
    char place[PLACE], found[QUOTED];
    const char *type = reduct_type_name(reader->type);
    end = token_end(bad, end);
    place_byte(reader, bad, place);
    quote(found, bad, (size_t)(end - bad));
    if ((size_t)(end - bad) > TOKEN_MOST)
        return fail("%s: %s is not a number: it is longer than %zu characters", place, found, TOKEN_MOST);
    if (status == NUMBER_TOO_LARGE && reader->text.widens)
        return fail("%s: %s fits neither i64 nor u64", place, found);
    if (status == NUMBER_TOO_LARGE)
        return fail("%s: %s does not fit %s (%s)", place, found, type, reduct_type_text(reader->type));
    if (!text_is_plausible((const unsigned char *)bad, (size_t)(end - bad)))
        return fail("%s: %s is not text; expected a number. For raw binary give %s", place, found,
                    reader->type_said ? "--format raw" : "the type of its elements, as in --type f64");
    if (memchr(bad, ',', (size_t)(end - bad)) || memchr(bad, ';', (size_t)(end - bad)))
        return fail("%s: %s is not a number; expected white space between numbers, no commas, and decimal points",
                    place, found);
    if (reader->type == REDUCT_BOOL)
        return fail("%s: %s is not a truth value; expected 0, 1, false or true, between white space", place, found);
    if (reduct_type_is_float(reader->type))
        return fail("%s: %s is not a number; expected one such as -1.5e3, 0x1.8p3, inf or nan", place, found);
    if (reader->text.widens)
        return fail("%s: %s is not a whole number; expected one that fits i64 or u64", place, found);
    return fail("%s: %s is not a whole number; expected %s (%s)", place, found, type, reduct_type_text(reader->type));
}

static void text_place(const struct reader *reader, uint64_t index, char place[PLACE]) {
    const struct text_piece *piece = &reader->text.pieces[reader->text.next - 1];
    const char *text = skip_space(piece->begin, piece->end);
    for (; index > 0; index--)
        text = skip_space(token_end(text, piece->end), piece->end);
    place_byte(reader, text, place);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------------------------------------------------ */

/* Takes the block that was handed out and moves the line count behind it. */
static void consume_block(struct reader *reader) {
    struct text_state *text = &reader->text;
    const char *block = (const char *)reader->source.data;
    for (size_t i = 0; i < text->piece_count; i++) {
        const struct text_piece *piece = &text->pieces[i];
        text->line += piece->lines;
        if (piece->line_start)
            text->line_start = reader->source.position + (uint64_t)(piece->line_start - block);
    }
    source_consume(&reader->source, text->block);
    text->block = text->piece_count = text->next = 0;
}

/* At the end of the input: what a file had when it was opened may end within a number of which more is there by now. */
static enum outcome check_end(const struct reader *reader) {
    const struct source *source = &reader->source;
    const char *data = (const char *)source->data, *end = data + source->available;
    if (source->available == 0 || number_is_space(end[-1]) || !source_has_grown(source))
        return DONE;
    char place[PLACE], found[QUOTED];
    const char *last = last_token(data, end);
    place_byte(reader, last, place);
    return fail(
        "%s: %s may be the beginning of a longer number, as the file grew while it was read; expected a file that "
        "is complete",
        place, quote(found, last, (size_t)(end - last)));
}

/* Brings a block that ends where a number does; `*size` is 0 at the end of the input. */
static enum outcome next_block(struct reader *reader, size_t *size) {
    struct source *source = &reader->source;
    size_t least = 1;
    for (;;) {
        enum outcome outcome = source_peek(source, least, reader->threads * PIECE);
        if (outcome != DONE)
            return outcome;
        *size = source->available;
        if (source->ended)
            return check_end(reader);
        const char *data = (const char *)source->data;
        while (*size > 0 && source->available - *size <= TOKEN_MOST && !number_is_space(data[*size - 1]))
            --*size;
        if (*size > 0 && number_is_space(data[*size - 1]))
            return DONE;
        if (source->available > TOKEN_MOST)
            return refuse_number(reader, last_token(data, data + source->available), data + source->available,
                                 NUMBER_BAD);
        least = source->available + 1;
    }
}

/* At the end of a line of a matrix, which `at` points to. */
static enum outcome end_row(struct reader *reader, const char *at) {
    struct text_state *text = &reader->text;
    if (text->in_row == 0)
        return DONE;
    if (text->rows == 0)
        text->columns = text->in_row;
    if (text->in_row != text->columns) {
        char place[PLACE];
        place_byte(reader, at, place);
        return fail("%s: a line of %" PRIu64 " number%s; expected %" PRIu64 ", as in the first", place, text->in_row,
                    text->in_row == 1 ? "" : "s", text->columns);
    }
    text->rows++;
    text->in_row = 0;
    return DONE;
}

/* Counts the numbers of each line of a piece. Lines may go on in the next one. */
static enum outcome count_rows(struct reader *reader, const struct text_piece *piece) {
    enum outcome outcome = DONE;
    for (const char *p = piece->begin; p < piece->end && outcome == DONE;) {
        if (*p == '\n')
            outcome = end_row(reader, p);
        if (number_is_space(*p)) {
            p++;
            continue;
        }
        reader->text.in_row++; /* pieces end where numbers do */
        p = token_end(p, piece->end);
    }
    return outcome;
}

/* The shape of a matrix whose text has ended. */
static enum outcome end_matrix(struct reader *reader) {
    const struct text_state *text = &reader->text;
    enum outcome outcome = end_row(reader, (const char *)reader->source.data);
    reader->layout = (struct layout){.shaped = true, .rank = 2, .shape = {text->rows, text->columns}};
    return outcome;
}

/* Where a number of a piece is above 2^63 - 1 the elements are u64, of which none can be negative. */
static enum outcome widen(struct reader *reader, const struct text_piece *piece) {
    struct text_position *negative = &reader->text.negative, *large = &reader->text.large;
    if (piece->negative && !negative->line)
        *negative = find_byte(reader, piece->negative);
    if (piece->large && !large->line)
        *large = find_byte(reader, piece->large);
    if (!large->line)
        return DONE;
    reader->type = REDUCT_U64;
    if (!negative->line)
        return DONE;
    return fail("%s: the number at %" PRIu64 ":%" PRIu64 " is above 2^63 - 1, the one at %" PRIu64 ":%" PRIu64
                " negative; expected all to fit i64, or all u64",
                reader_name(reader), large->line, large->column, negative->line, negative->column);
}

static enum outcome parse_block(struct reader *reader) {
    struct text_state *text = &reader->text;
    consume_block(reader);
    size_t size;
    enum outcome outcome = next_block(reader, &size);
    if (outcome == DONE)
        outcome = cut_block(reader, size);
    if (outcome != DONE)
        return outcome;
    parallel_for(text->pieces, text->piece_count, sizeof *text->pieces, parse_piece);
    for (size_t i = 0; i < text->piece_count; i++) {
        if (text->pieces[i].changed)
            return fail("%s: the file was changed while it was read; expected it to stay as it is",
                        reader_name(reader));
        if (text->pieces[i].bad)
            return refuse_number(reader, text->pieces[i].bad, text->pieces[i].end, text->pieces[i].status);
        outcome = widen(reader, &text->pieces[i]);
        if (outcome != DONE)
            return outcome;
    }
    for (size_t i = 0; text->matrix && i < text->piece_count && outcome == DONE; i++)
        outcome = count_rows(reader, &text->pieces[i]);
    return outcome != DONE || size > 0 || !text->matrix ? outcome : end_matrix(reader);
}

static enum outcome text_next(struct reader *reader, struct chunk *chunk) {
    struct text_state *text = &reader->text;
    for (;;) {
        while (text->next < text->piece_count) {
            const struct text_piece *piece = &text->pieces[text->next++];
            *chunk = (struct chunk){piece->values, piece->count};
            if (piece->count > 0)
                return DONE;
        }
        enum outcome outcome = parse_block(reader);
        if (outcome != DONE || text->piece_count == 0)
            return outcome;
    }
}

static void text_close(struct reader *reader) {
    for (size_t i = 0; reader->text.pieces && i < reader->threads; i++)
        free(reader->text.pieces[i].values);
    free(reader->text.pieces);
}

/* Moves to where the number ends that the byte before the position belongs to. */
static bool skip_number(struct source *source, uint64_t position) {
    uint64_t skipped;
    if (position <= source->position) /* the beginning, behind a mark */
        return true;
    source_skip(source, position - 1 - source->position, &skipped);
    for (size_t most = TOKEN_MOST + 2; most > 0; most--) {
        if (source_peek(source, 1, 0) != DONE)
            return false;
        if (source->available == 0)
            return true;
        bool ends = number_is_space((char)*source->data);
        source_consume(source, 1);
        if (ends)
            return true;
    }
    return false;
}

/* Numbers belong to the part in which they begin; where the next one's begin the file ends for this one. */
static bool text_take_part(struct reader *reader, unsigned part, unsigned parts) {
    struct source *source = &reader->source, end = source_look(source);
    uint64_t each = source->size / parts, size = source->size;
    bool found = part + 1 == parts || skip_number(&end, each * (part + 1));
    size = part + 1 == parts ? size : end.position;
    source_end_look(&end);
    if (!found || !skip_number(source, each * part))
        return false;
    source_cut(source, size);
    return true;
}

static const struct reader_class TEXT = {
    .next = text_next, .place = text_place, .close = text_close, .take_part = text_take_part};

enum outcome text_open(struct reader *reader, const struct input_options *options) {
    if (raw_option(options))
        return misuse("%s: only raw binary has it, %s is read as text", raw_option(options), reader_name(reader));
    if (!reader->type_said)
        reader->type = REDUCT_F64;
    if (!number_can_parse(reader->type))
        return misuse("--type: %s cannot be read from text", reduct_type_name(reader->type));
    reader->count = COUNT_UNKNOWN;
    reader->class = &TEXT;
    reader->text = (struct text_state){.pieces = calloc(reader->threads, sizeof *reader->text.pieces),
                                       .matrix = options->matrix,
                                       .widens = options->widens};
    if (!reader->text.pieces)
        return fail_memory();
    enum outcome outcome = source_peek(&reader->source, 1, 0);
    static const unsigned char MARK[] = {0xef, 0xbb, 0xbf}; /* some editors begin UTF-8 with it */
    if (outcome == DONE && reader->source.available > 0 && reader->source.data[0] == MARK[0])
        outcome = source_peek(&reader->source, sizeof MARK, 0);
    if (outcome == DONE && reader->source.available >= sizeof MARK &&
        memcmp(reader->source.data, MARK, sizeof MARK) == 0) {
        source_consume(&reader->source, sizeof MARK);
        reader->text.line_start = sizeof MARK;
    }
    return outcome;
}
