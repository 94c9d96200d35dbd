/* A file for readers to read, which misbehaves as asked: through a mapping, without one, or through a pipe; in short reads
 * and interrupted ones; growing, or cut short, while it is read. What the readers say is caught.
 *
 * The readers' own calls of read(), mmap(), _exit() and write(), and of fail() and misuse(), come to stage.c by the linker
 * (--wrap). */
#ifndef REDUCT_FUZZ_STAGE_H
#define REDUCT_FUZZ_STAGE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stage_way { STAGE_MAPPED, STAGE_READ, STAGE_PIPE, STAGE_WAYS };

struct stage {
    enum stage_way way;
    const uint8_t *data; /* what the file holds in the end, or at most, */
    size_t size;         /* at first, */
    size_t later;        /* and after `calls` more reads, mappings and stage_tick()s */
    unsigned calls;
    size_t read_most;   /* bytes that a read() gives; 0 for all */
    unsigned interrupt; /* after so many reads one is interrupted; 0 for none */

    char path[64];
    int fd;
    unsigned reads;
    char said[8192]; /* the last message */
    sigjmp_buf escape;
    bool guarded; /* an _exit(), as after SIGBUS, goes to `escape` */
};

/* The one stage. */
extern struct stage stage;

/* Fill in what is above the path, then open. */
void stage_open(void);
void stage_close(void);

/* Time passes for the file. */
void stage_tick(void);

#endif
