/* What to measure: lists whose every combination is a case, on CPUs or on one GPU. */
#ifndef BENCH_MATRIX_H
#define BENCH_MATRIX_H

#include "cases.h"

enum { MATRIX_ITEMS = 32, MATRIX_FAULT = 256 }; /* most items of one list; room for what is wrong with it */

typedef enum matrix_list {
    LIST_OP,
    LIST_TYPE,
    LIST_DATA,
    LIST_SIZE,
    LIST_DEVICE,
    LIST_THREADS, /* CPUs */
    LIST_OFFSET,  /* GPUs */
    LIST_SHAPE,   /* of CPUs whole arrays and matrices */
    LIST_CALLS,   /* GPUs */
    LISTS
} matrix_list;

typedef struct bench_matrix {
    unsigned count[LISTS];
    reduct_operator ops[MATRIX_ITEMS];
    bench_others others[MATRIX_ITEMS]; /* GPUs: with each of them */
    reduct_type types[MATRIX_ITEMS];
    measure_data data[MATRIX_ITEMS];
    uint64_t sizes[MATRIX_ITEMS];
    int in_elements[MATRIX_ITEMS]; /* whether a size counts elements and not bytes */
    unsigned offsets[MATRIX_ITEMS];
    bench_shape shapes[MATRIX_ITEMS];
    bool waits[MATRIX_ITEMS]; /* whether each call is waited for */
    char devices[MATRIX_ITEMS][32];
    unsigned threads[MATRIX_ITEMS];
    char absent[240]; /* what the library says of a device that is not here; or empty */
} bench_matrix;

/* A table: what is measured for it, where nothing else is asked for. */
typedef struct matrix_standard {
    const char *title;
    const char *lists[LISTS]; /* op, type, data, size, device, threads, offset, shape, calls; null for none */
} matrix_standard;

/* Sets one list from items separated by commas, or "all"; `gpu` says which of them there are. Returns 0; or -1,
 * with the reason in `fault`, for an unknown item, a device that is not here, an empty list, or too many items. */
int matrix_set(bench_matrix *matrix, int gpu, matrix_list list, const char *text, char fault[MATRIX_FAULT]);

/* The lists asked for, and the standard ones in place of those that are null. What is wrong with one ends the program. */
bench_matrix matrix_make(int gpu, const matrix_standard *standard, const char *const asked[LISTS]);

/* The number of combinations of some lists; and number `number` of them, as an index into each list, which count like
 * digits, the first in `order` fastest. Other lists are at 0. */
size_t matrix_combinations(const bench_matrix *matrix, const matrix_list *order, size_t lists);
void matrix_combination(const bench_matrix *matrix, const matrix_list *order, size_t lists, size_t number,
                        unsigned at[LISTS]);

/* Bytes of size number `at` for a type. */
uint64_t matrix_bytes(const bench_matrix *matrix, unsigned at, reduct_type type);

/* "rows of 64", "64 columns"; empty for a whole array. Returns `text`. */
const char *matrix_shape_text(bench_shape shape, char *text, size_t room);

/* Whether a list of devices is of GPUs. */
int matrix_is_gpu(const char *devices);

/* Threads that "all" stands for: one per processor that the process may run on. */
unsigned matrix_all_threads(void);

#endif
