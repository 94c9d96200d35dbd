/* Where bytes come from: a file, standard input, a pipe.
 *
 * A source shows a stretch of its bytes, of which the reader consumes as many as it can use; the rest is shown again,
 * with more behind it. Regular files are mapped a window at a time and everything else is read into a buffer, so that
 * memory stays bounded whatever the size. */
#ifndef REDUCT_CLI_SOURCE_H
#define REDUCT_CLI_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../message.h"

#define SOURCE_SIZE_UNKNOWN UINT64_MAX

struct source {
    const char *name;  /* for messages: the path, or what stands for standard input */
    uint64_t size;     /* bytes in all, or SOURCE_SIZE_UNKNOWN */
    uint64_t position; /* bytes consumed */

    const unsigned char *data; /* bytes in hand, not consumed */
    size_t available;          /* how many */
    bool ended;                /* nothing follows them */

    int fd;
    bool mapped;    /* by windows, otherwise read into the buffer */
    uint64_t start; /* of the data within the file: standard input may have been read from before */
    void *window;
    size_t window_size;
    unsigned char *buffer;
    size_t capacity;
};

/* Opens a path, or standard input for "-". The path must outlive the source. */
enum outcome source_open(struct source *source, const char *path);
void source_close(struct source *source);

/* Sees to it that at least `least` bytes are in hand, unless the input ends before, and up to `wish` if they come
 * without a pause (a person at a terminal is answered, a stream is taken in large pieces). */
enum outcome source_peek(struct source *source, size_t least, size_t wish);

/* Says that bytes in hand are not needed for now: memory that holds those of a large file is free for others. */
void source_forget(const struct source *source);

/* Takes bytes in hand. */
void source_consume(struct source *source, size_t bytes);

/* Consumes bytes unseen; `*skipped` is smaller than `bytes` only where the input ends. */
enum outcome source_skip(struct source *source, uint64_t bytes, uint64_t *skipped);

/* A second look at a mapped file, from where the source is, which sees it as before; to be ended by source_end_look(). */
struct source source_look(const struct source *source);
void source_end_look(struct source *look);

/* Lets a file whose size is known end at a position that has not been passed. */
void source_cut(struct source *source, uint64_t size);

/* True if a file has become longer since the end that the source has seen, or will see. */
bool source_has_grown(const struct source *source);

/* When all has been read: refuses a file, whose size was known, that has become shorter. Whole pages that went missing end the command when they
 * are touched, but the rest of its last page reads as zeros. */
enum outcome source_check_length(const struct source *source);

/* True if a person types the input. */
bool source_is_terminal(const struct source *source);

#endif
