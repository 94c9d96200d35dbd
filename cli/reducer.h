/* Chunks in, one result out. */
#ifndef REDUCT_CLI_REDUCER_H
#define REDUCT_CLI_REDUCER_H

#include "extreme.h"
#include "options.h"

/* One input and how far it has been reduced. */
struct input {
    struct reader reader;
    struct chunk chunk;
    uint64_t used; /* elements of the chunk that are done */
};

/* Elements waiting for the rest of a piece. */
struct stage {
    char *data[2];  /* one array for each input */
    uint64_t count; /* elements in each */
};

struct reducer {
    reduct_reduction reduction;
    reduct_accumulator *accumulator;
    uint64_t added; /* elements in the accumulator */
    bool in_blocks; /* a fast sum, which would show how its data was split */
    reduct_accumulator *block;
    uint64_t in_block; /* elements there */
    uint64_t piece;    /* elements that are added to it at once */
    struct stage stage;
    bool last_input;
    bool index; /* an argmin or argmax, which has a better way to add up chunks */
    struct extreme extreme;
};

/* The reduction that the options ask for, its result type resolved: as asked for; otherwise the widest that the operator has, so
 * that nothing is lost, unless a file is to hold it; otherwise its default. `name` is the input's, for messages. */
enum outcome reducer_resolve(const struct options *options, reduct_operator op, reduct_type type, const char *name,
                             reduct_reduction *reduction);

/* Passes on what the library says of an input or an option. It is the command line's fault where what was asked for does not
 * exist. */
enum outcome pass_on(const char *where, const reduct_error *error);

/* Prepares for elements of a type, as found in the input of that name. */
enum outcome reducer_open(struct reducer *reducer, const struct options *options, reduct_operator op, reduct_type type,
                          const char *name);
void reducer_close(struct reducer *reducer);

/* Says how an input is read best, of which it is said whether it is the last. To be called before its first chunk. */
void reducer_begin_input(struct reducer *reducer, struct input *input, bool last);

/* Reduces the next `count` elements of as many inputs as the operator has, which are the first of those there are. */
enum outcome reducer_add(struct reducer *reducer, const struct input *inputs, uint64_t count);

/* Says that an input has ended. */
void reducer_end_input(struct reducer *reducer, const struct input *input);

/* Room for a reducer's state: a saved accumulator, or an index. */
enum { REDUCER_STATE = 4096 };

/* Whether what is reduced in parts, on several ranks, comes to the same bits. */
bool reducer_has_parts(const struct reducer *reducer);

/* What it has reduced so far, as bytes; and what another of the same kind has, of elements that follow those of this one. */
enum outcome reducer_save(const struct reducer *reducer, unsigned char state[REDUCER_STATE]);
enum outcome reducer_merge(struct reducer *reducer, const unsigned char state[REDUCER_STATE]);

/* Room for a number of any type, or for two of an element type. */
union result {
    uint64_t word[4];
    double f64;
};

/* The result, of the type `reducer->reduction.result`, with as many values as the operator gives. That elements are too few for it
 * is a failure, or is told where `missing` is not null. */
enum outcome reducer_result(struct reducer *reducer, const char *name, union result *result, bool *missing);

#endif
