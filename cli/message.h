/* What the command says on standard error, and the exit statuses that go with it.
 *
 * Whatever fails says so at once, where it is known best, and hands the exit status up; nobody reports it twice. */
#ifndef REDUCT_CLI_MESSAGE_H
#define REDUCT_CLI_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Every function of the command that can fail returns one of these. */
enum outcome {
    DONE = 0,
    FAILED = 1,       /* the data or the system */
    MISUSED = 2,      /* the command line */
    INTERRUPTED = 130 /* by SIGINT */
};

/* Says "reduct: ...", on a line of its own, and returns FAILED. */
enum outcome fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for a wrong command line: points to the help and returns MISUSED. */
enum outcome misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says that memory ran out and returns FAILED. */
enum outcome fail_memory(void);

/* Whether nothing is said, as when a failure leads to another way. Returns what held before. */
bool message_silence(bool silent);

/* Room for what quote() writes. */
#define QUOTED 200

/* 'text' as it may be shown on a terminal: in quotes, shortened, what is not printable escaped. Returns `quoted`. */
const char *quote(char quoted[QUOTED], const char *text, size_t size);

#endif
