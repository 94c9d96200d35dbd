/* Opening inputs: which format it is, by content. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../parallel.h"
#include "reader.h"
#include "signature.h"

/* So much is looked at to tell text from binary. */
#define SAMPLE ((size_t)4096)

static enum outcome has_magic(struct source *source, bool *npy) {
    static const char MAGIC[] = "\x93NUMPY";
    const size_t size = sizeof MAGIC - 1;
    *npy = false;
    enum outcome outcome = source_peek(source, 1, 0);
    if (outcome == DONE && source->available > 0 && source->data[0] == (unsigned char)MAGIC[0])
        outcome = source_peek(source, size, 0);
    if (outcome == DONE)
        *npy = source->available >= size && memcmp(source->data, MAGIC, size) == 0;
    return outcome;
}

/* The rule that the help explains. Where text and binary cannot be told apart it is text: what is taken for text by
 * mistake fails at the first thing that is no number, what is taken for binary by mistake gives a wrong result. */
static enum outcome detect(struct reader *reader, const struct input_options *options, enum format *format) {
    struct source *source = &reader->source;
    bool npy;
    enum outcome outcome = has_magic(source, &npy);
    *format = npy ? FORMAT_NPY : raw_option(options) ? FORMAT_RAW : FORMAT_TEXT;
    if (outcome != DONE || *format != FORMAT_TEXT || !reader->type_said || source_is_terminal(source))
        return outcome;
    outcome = source_peek(source, SAMPLE, 0);
    if (outcome == DONE && !text_is_plausible(source->data, source->available < SAMPLE ? source->available : SAMPLE))
        *format = FORMAT_RAW;
    return outcome;
}

/* What a .npy file holds it says itself. */
static enum outcome detect_npy(struct reader *reader, enum format *format) {
    bool npy;
    enum outcome outcome = has_magic(&reader->source, &npy);
    if (npy) {
        *format = FORMAT_NPY;
        reader->type_said = false;
    }
    return outcome;
}

static enum outcome open_npy_said(struct reader *reader, const struct input_options *options) {
    bool npy;
    enum outcome outcome = has_magic(&reader->source, &npy);
    if (outcome == DONE && !npy)
        outcome = fail("%s: not a .npy file: it does not begin with \\x93NUMPY", reader_name(reader));
    return outcome == DONE ? npy_open(reader, options) : outcome;
}

enum outcome reader_open(struct reader *reader, const char *path, const struct input_options *options) {
    *reader = (struct reader){
        .type = options->type, .type_said = options->type, .threads = parallel_threads(options->threads)};
    enum outcome outcome = source_open(&reader->source, path);
    if (outcome != DONE)
        return outcome;
    enum format format = options->format;
    if (options->or_npy)
        outcome = detect_npy(reader, &format);
    if (outcome != DONE)
        return outcome;
    if (format != FORMAT_RAW && !raw_option(options)) /* which say that the bytes are meant as they are */
        outcome = signature_refuse(&reader->source, reader->type_said);
    if (outcome == DONE && format == FORMAT_AUTO)
        outcome = detect(reader, options, &format);
    if (outcome != DONE)
        return outcome;
    reader->format = format;
    switch (format) {
    case FORMAT_NPY:
        return open_npy_said(reader, options);
    case FORMAT_RAW:
        return raw_open(reader, options);
    default:
        return text_open(reader, options);
    }
}

void reader_close(struct reader *reader) {
    if (reader->class)
        reader->class->close(reader);
    source_close(&reader->source);
}

bool reader_take_part(struct reader *reader, unsigned part, unsigned parts) {
    return reader->source.mapped && reader->class->take_part && reader->class->take_part(reader, part, parts);
}

enum outcome reader_next(struct reader *reader, struct chunk *chunk) {
    *chunk = (struct chunk){NULL, 0};
    reader->chunk_first += reader->chunk_count;
    reader->chunk_count = 0;
    enum outcome outcome = reader->class->next(reader, chunk);
    if (outcome == DONE)
        reader->chunk_count = chunk->count;
    return outcome;
}

void reader_place(const struct reader *reader, uint64_t index, char place[PLACE]) {
    if (reader->class->place)
        reader->class->place(reader, index, place);
    else
        snprintf(place, PLACE, "%s: element %" PRIu64, reader_name(reader),
                 layout_index(&reader->layout, reader->chunk_first + index));
}
