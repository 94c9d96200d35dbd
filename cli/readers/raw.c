/* Raw binary: elements one after another. Also reads the elements of .npy files. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../parallel.h"
#include "reader.h"

/* Bytes that one thread swaps at a time. */
#define PIECE ((size_t)1 << 20)

/* ---------------------------------------------------------------------------------------------------------------------
 * The other byte order, and data at odd addresses
 * ------------------------------------------------------------------------------------------------------------------ */

struct piece {
    const unsigned char *from;
    unsigned char *to;
    size_t bytes, element;
    bool swap;
};

#define SWAP(bits)                                                                                                     \
    for (size_t i = 0; i < bytes; i += sizeof(uint##bits##_t)) {                                                       \
        uint##bits##_t value;                                                                                          \
        memcpy(&value, from + i, sizeof value);                                                                        \
        value = __builtin_bswap##bits(value);                                                                          \
        memcpy(to + i, &value, sizeof value);                                                                          \
    }

void raw_swap(const unsigned char *from, unsigned char *to, size_t bytes, size_t element) {
    if (element == 8)
        SWAP(64)
    else if (element == 4)
        SWAP(32)
    else if (element == 2)
        SWAP(16)
}

static void convert(void *item) {
    struct piece *piece = item;
    if (piece->swap)
        raw_swap(piece->from, piece->to, piece->bytes, piece->element);
    else
        memcpy(piece->to, piece->from, piece->bytes);
}

/* Puts up to `count` elements at the source into the copy, as this machine has them; how many it took. */
static enum outcome convert_elements(struct reader *reader, size_t *count) {
    struct raw_state *raw = &reader->raw;
    size_t element = reduct_type_size(reader->type);
    size_t bytes = *count * element;
    if (bytes > reader->threads * PIECE)
        bytes = reader->threads * PIECE;
    if (raw->room < bytes) {
        free(raw->copy);
        raw->copy = aligned_alloc(64, (bytes + 63) / 64 * 64);
        raw->room = raw->copy ? bytes : 0;
        if (!raw->copy)
            return fail_memory();
    }
    struct piece pieces[PARALLEL_MOST];
    size_t used = 0;
    for (size_t done = 0; done < bytes; done += PIECE, used++)
        pieces[used] = (struct piece){.from = reader->source.data + done,
                                      .to = (unsigned char *)raw->copy + done,
                                      .bytes = bytes - done < PIECE ? bytes - done : PIECE,
                                      .element = element,
                                      .swap = raw->swap};
    parallel_for(pieces, used, sizeof *pieces, convert);
    *count = bytes / element;
    return DONE;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------------------------------------------------------ */

enum outcome raw_finish(struct reader *reader) {
    struct source *source = &reader->source;
    enum outcome outcome = source_peek(source, 1, 0);
    if (outcome == DONE && source->available > 0)
        outcome = fail("%s: more bytes follow the %" PRIu64 " elements that the header announces", source->name,
                       reader->count);
    return outcome;
}

/* At the end: nothing may be missing, and, where the elements must be alone, nothing may be left. */
static enum outcome check_end(struct reader *reader, uint64_t done) {
    struct source *source = &reader->source;
    if (reader->raw.left == 0 && reader->raw.alone)
        return raw_finish(reader);
    if (source->available > 0 && reader->raw.left > 0)
        return fail(
            "%s: the last element is cut short: %zu of the %zu bytes of an %s, after %" PRIu64 " whole elements",
            source->name, source->available, reduct_type_size(reader->type), reduct_type_name(reader->type), done);
    if (reader->raw.left != 0 && reader->raw.left != COUNT_UNKNOWN)
        return fail("%s: ends after %" PRIu64 " elements; expected %" PRIu64, source->name, done, reader->count);
    return DONE;
}

/* Sees to it that elements are in hand, and how many to hand out: whole blocks, if there are blocks. */
static enum outcome take_elements(struct reader *reader, size_t *count) {
    uint64_t left = reader->raw.left, before = reader->block_first + reader->chunk_first;
    uint64_t wanted = reader->block ? reader->block - before % reader->block : 1;
    size_t element = reduct_type_size(reader->type);
    *count = 0;
    if (left == 0)
        return DONE;
    enum outcome outcome = source_peek(&reader->source, (size_t)(wanted < left ? wanted : left) * element, 0);
    uint64_t here = reader->source.available / element;
    *count = (size_t)(here < left ? here : left);
    if (reader->block && *count > wanted)
        *count -= (size_t)((before + *count) % reader->block);
    return outcome;
}

static enum outcome raw_next(struct reader *reader, struct chunk *chunk) {
    struct raw_state *raw = &reader->raw;
    struct source *source = &reader->source;
    size_t element = reduct_type_size(reader->type), count;
    source_consume(source, raw->pending);
    raw->pending = 0;
    enum outcome outcome = take_elements(reader, &count);
    if (outcome != DONE)
        return outcome;
    if (count == 0)
        return check_end(reader, reader->chunk_first);
    chunk->data = source->data;
    if (raw->swap || (uintptr_t)source->data % element != 0) {
        outcome = convert_elements(reader, &count);
        if (outcome != DONE)
            return outcome;
        chunk->data = raw->copy;
    }
    chunk->count = count;
    raw->pending = count * element;
    if (raw->left != COUNT_UNKNOWN)
        raw->left -= count;
    else if (source->ended && source->available == raw->pending)
        reader->count = reader->chunk_first + count;
    return DONE;
}

static void raw_close(struct reader *reader) {
    free(reader->raw.copy);
}

/* The first element of a part: parts differ by one element at most. */
static uint64_t first_of(uint64_t count, unsigned part, unsigned parts) {
    uint64_t each = count / parts, more = count % parts;
    return each * part + (part < more ? part : more);
}

/* That nothing follows the elements is for the last part to see. */
static bool raw_take_part(struct reader *reader, unsigned part, unsigned parts) {
    uint64_t first = first_of(reader->count, part, parts), end = first_of(reader->count, part + 1, parts), skipped;
    uint64_t bytes = first * reduct_type_size(reader->type);
    if (source_skip(&reader->source, bytes, &skipped) != DONE || skipped != bytes)
        return false;
    reader->raw.left = end - first;
    reader->raw.alone = reader->raw.alone && part + 1 == parts;
    reader->chunk_first = first;
    return true;
}

static const struct reader_class RAW = {.next = raw_next, .close = raw_close, .take_part = raw_take_part};

void raw_start(struct reader *reader, bool swap, bool alone) {
    reader->class = &RAW;
    reader->raw = (struct raw_state){.left = reader->count, .swap = swap, .alone = alone};
}

/* What a file of known size holds after the offset must be what is asked for. */
static enum outcome check_size(struct reader *reader, const struct input_options *options) {
    uint64_t bytes = reader->source.size - reader->source.position;
    size_t element = reduct_type_size(reader->type);
    if (options->has_count && bytes / element < options->count)
        return fail("%s: --count asks for %" PRIu64 " %s elements; the %" PRIu64 " bytes%s hold %" PRIu64,
                    reader_name(reader), options->count, reduct_type_name(reader->type), bytes,
                    options->has_offset ? " after the offset" : "", bytes / element);
    if (!options->has_count && bytes % element != 0)
        return fail("%s: %" PRIu64 " bytes%s are not a whole number of %s elements, %zu bytes each",
                    reader_name(reader), bytes, options->has_offset ? " after the offset" : "",
                    reduct_type_name(reader->type), element);
    reader->count = options->has_count ? options->count : bytes / element;
    return DONE;
}

enum outcome raw_open(struct reader *reader, const struct input_options *options) {
    if (!reader->type_said)
        return misuse("%s: raw binary does not say what it holds; give its element type, as in --type f64",
                      reader_name(reader));
    uint64_t skipped;
    enum outcome outcome = source_skip(&reader->source, options->offset, &skipped);
    if (outcome != DONE)
        return outcome;
    if (skipped < options->offset)
        return fail("%s: --offset skips %" PRIu64 " bytes, but there are only %" PRIu64, reader_name(reader),
                    options->offset, skipped);
    reader->count = options->has_count ? options->count : COUNT_UNKNOWN;
    if (reader->source.size != SOURCE_SIZE_UNKNOWN) {
        outcome = check_size(reader, options);
        if (outcome != DONE)
            return outcome;
    }
    const enum byte_order native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ORDER_LITTLE : ORDER_BIG;
    bool swap = (options->order == ORDER_LITTLE || options->order == ORDER_BIG) && options->order != native;
    raw_start(reader, swap && reduct_type_size(reader->type) > 1, false);
    return DONE;
}
