/* What the ladders of rows of CUDA and Vulkan share: the rungs, who takes a row in each, and what the sums are. */
#ifndef LADDER_ROWS_H
#define LADDER_ROWS_H

#include "ladder/many.h"

/* Who takes a row. */
typedef enum rows_cover { A_THREAD, A_BLOCK, A_WARP, SOME_LANES, VECTOR_LANES, TILES, LIBRARY } rows_cover;

typedef struct rows_rung {
    ladder_step step;
    rows_cover cover;
} rows_rung;

/* In order; the library's, which is CUDA's alone, is the last one. */
enum { ROWS_RUNGS = 7 };
extern const rows_rung rows_rungs[ROWS_RUNGS];

enum {
    ROWS_THREADS = 256,
    ROWS_VECTOR = 16,
    ROWS_TILE = 32
}; /* as in cuda/rows/ and glsl/rows/; bytes of a vector; columns */

/* A matrix, and what is summed of it. */
typedef struct rows_matrix {
    reduct_type type;
    uint64_t rows, columns;
    bool by_columns; /* the sums are of columns */
} rows_matrix;

/* Threads that share a row, where a warp has `warp` of them. */
unsigned rows_lanes(const rows_matrix *matrix, rows_cover cover, unsigned warp);

/* How many tiles lie above each other: as many as make a block for each that the device holds, but none of few rows. */
uint64_t rows_tiles(const rows_matrix *matrix, uint64_t resident);

/* Whether each row begins at a multiple of a vector; if not, one sentence in `why`. */
bool rows_begin_at_vectors(const rows_matrix *matrix, char *why, size_t room);

/* Additions that an element goes through, at most: with so many lanes to a row, or tiles above each other. */
double rows_terms(const rows_matrix *matrix, unsigned lanes, uint64_t tiles);

/* What a report's row says of who took a row; `tiles` as above, 0 where the sums are of rows. */
void rows_describe(unsigned lanes, uint64_t tiles, report_row *row);

/* The sums of all rows and of all columns of the ladder's data, seen as a matrix; found once for all rungs, in the order of
 * memory. */
typedef struct rows_sums {
    many_units *rows, *columns;
} rows_sums;

rows_sums rows_sums_create(const ladder_data *data, uint64_t rows, uint64_t columns);
void rows_sums_destroy(rows_sums *sums);

#endif
