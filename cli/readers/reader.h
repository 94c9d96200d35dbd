/* Elements out of files, whatever their format: opened, then handed out chunk by chunk.
 *
 * A format is one file here that fills in a reader: its element type, how many there are where that is known, and the
 * functions by which chunks are read. open.c decides by content which one it is. */
#ifndef REDUCT_CLI_READER_H
#define REDUCT_CLI_READER_H

#include <reduct/reduct.h>

#include "../message.h"
#include "npy.h"
#include "source.h"

/* --format, --byte-order. */
enum format { FORMAT_AUTO, FORMAT_NPY, FORMAT_RAW, FORMAT_TEXT };
enum byte_order { ORDER_UNSAID, ORDER_LITTLE, ORDER_BIG, ORDER_NATIVE };

/* What the command line says about its inputs. */
struct input_options {
    enum format format;
    enum byte_order order;
    reduct_type type; /* REDUCT_DEFAULT if not said */
    bool has_offset, has_count;
    uint64_t offset; /* bytes */
    uint64_t count;  /* elements */
    unsigned threads;
    bool matrix; /* text: lines are rows, all of one length */
    bool widens; /* text of i64: it is u64 where some number is above 2^63 - 1 and none is negative */
    bool or_npy; /* a .npy file is one whatever the format and the type, and has its own type */
};

/* The first option given that only raw binary has, null if there is none. */
static inline const char *raw_option(const struct input_options *options) {
    return options->has_offset              ? "--offset"
           : options->has_count             ? "--count"
           : options->order != ORDER_UNSAID ? "--byte-order"
                                            : NULL;
}

/* Elements in memory, aligned to their type, valid until the next call on the reader. */
struct chunk {
    const void *data;
    uint64_t count; /* 0 at the end of the input */
};

#define COUNT_UNKNOWN UINT64_MAX

/* Enough for any place(). */
#define PLACE 8192

struct reader;
struct text_piece;

struct reader_class {
    enum outcome (*next)(struct reader *reader, struct chunk *chunk);
    /* Says where element `index` of the chunk in hand is, as messages begin: the file and what leads to the element.
     * Null for the standard way, its number. */
    void (*place)(const struct reader *reader, uint64_t index, char place[PLACE]);
    void (*close)(struct reader *reader);
    /* See reader_take_part(): the source is a file, mapped. */
    bool (*take_part)(struct reader *reader, unsigned part, unsigned parts);
};

/* Elements stored one after another in binary: raw.c, and npy.c after its header. */
struct raw_state {
    uint64_t left;  /* elements to come, or COUNT_UNKNOWN */
    size_t pending; /* bytes of the chunk handed out last */
    bool swap;      /* the file has the other byte order */
    bool alone;     /* nothing may follow the elements */
    void *copy;     /* swapped or aligned elements */
    size_t room;    /* bytes there */
};

/* An array in Fortran order that is handed out in C order: order.c. */
struct order_state {
    struct layout layout;
    const unsigned char *elements; /* all of them, as they lie */
    bool swap;
    unsigned char *copy; /* the chunk */
};

/* Where a number is in text, counted from 1; a line of 0 for none. */
struct text_position {
    uint64_t line, column;
};

/* Text, parsed by several threads: text.c. */
struct text_state {
    struct text_piece *pieces;
    size_t piece_count;                   /* parsed of the block in hand */
    size_t next;                          /* the first that was not handed out */
    size_t block;                         /* bytes in all of them */
    uint64_t line;                        /* lines before the block */
    uint64_t line_start;                  /* position of the first byte of the line in which the block begins */
    bool matrix;                          /* lines are rows */
    uint64_t rows;                        /* lines that hold numbers, so far */
    uint64_t columns;                     /* numbers of the first of them */
    uint64_t in_row;                      /* numbers of the line in hand */
    bool widens;                          /* as the options say */
    struct text_position negative, large; /* the first below 0, and the first above 2^63 - 1, where it widens */
};

struct reader {
    struct source source;
    const struct reader_class *class;
    reduct_type type;
    uint64_t count;       /* elements in all, or COUNT_UNKNOWN as long as it is */
    uint64_t chunk_first; /* elements before the chunk in hand */
    uint64_t chunk_count; /* elements of the chunk in hand */
    struct layout layout; /* npy: the array's axes; of a matrix in text once it has ended; otherwise of rank 0 */
    uint64_t block;       /* see reader_in_blocks(); 0 if it was not called */
    uint64_t block_first;
    unsigned threads;
    enum format format; /* that was said or found */
    bool type_said;     /* by --type */
    union {
        struct raw_state raw;
        struct order_state order;
        struct text_state text;
    };
};

/* Opens an input and finds out what it holds. The reader must stay where it is. Close it also after a failure. */
enum outcome reader_open(struct reader *reader, const char *path, const struct input_options *options);
void reader_close(struct reader *reader);

enum outcome reader_next(struct reader *reader, struct chunk *chunk);

/* Sees to it that elements come in the order of their indices (C order) whatever the order in which the file has them.
 * To be called before the first chunk. What comes through a pipe in another order is then kept in memory as a whole. */
enum outcome reader_in_order(struct reader *reader);

/* Restricts what comes to part number `part` of so many: of binary elements as many as of any other, of text what begins within
 * as many bytes. False where it cannot be cut: a pipe. To be called before the first chunk. Elements count from the first one of
 * the input all the same, where their number is known. */
bool reader_take_part(struct reader *reader, unsigned part, unsigned parts);

/* Asks for chunks that end where blocks of so many elements do, which are counted from `first` elements before this
 * input. Elements that are read as they are, in binary, then come so; others may come as they do. To be called before
 * the first chunk. */
static inline void reader_in_blocks(struct reader *reader, uint64_t block, uint64_t first) {
    reader->block = block;
    reader->block_first = first % block;
}

/* True if it is known that no element follows the chunk in hand. */
static inline bool reader_is_last_chunk(const struct reader *reader) {
    return reader->count != COUNT_UNKNOWN && reader->chunk_first + reader->chunk_count == reader->count;
}

/* Where an element of the chunk in hand comes from, for messages: "FILE:LINE:COLUMN", or "FILE: element N". */
void reader_place(const struct reader *reader, uint64_t index, char place[PLACE]);

/* The name of the input, for messages. */
static inline const char *reader_name(const struct reader *reader) {
    return reader->source.name;
}

/* The formats, with the source at the first byte. `raw_start` begins reading binary elements at the source's position;
 * with `alone`, `reader->count` of them are all that may be there. */
enum outcome npy_open(struct reader *reader, const struct input_options *options);
enum outcome raw_open(struct reader *reader, const struct input_options *options);
enum outcome text_open(struct reader *reader, const struct input_options *options);
void raw_start(struct reader *reader, bool swap, bool alone);

/* Refuses bytes that follow elements which must be alone. */
enum outcome raw_finish(struct reader *reader);

/* Turns the byte order of elements round, also where they are. */
void raw_swap(const unsigned char *from, unsigned char *to, size_t bytes, size_t element);

/* True if bytes may be text: UTF-8 without control characters other than white space. */
bool text_is_plausible(const unsigned char *data, size_t size);

#endif
