/* What the ladders of rows share: see rows.h. */
#include "ladder/rows.h"

#include "gpu/whole.h"
#include "program/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOADS = 4, CHUNK_LEAST = 64 }; /* vectors that a lane has under way, as in the kernels; rows of a tile */

const rows_rung rows_rungs[ROWS_RUNGS] = {{LADDER_ROW_THREAD, A_THREAD},      {LADDER_ROW_BLOCK, A_BLOCK},
                                          {LADDER_ROW_WARP, A_WARP},          {LADDER_ROWS_PER_WARP, SOME_LANES},
                                          {LADDER_ROW_VECTORS, VECTOR_LANES}, {LADDER_COLUMN_TILES, TILES},
                                          {LADDER_ROW_EXACT, LIBRARY}};

/* The greatest power of two that is at most x, within 1 and `most`. */
static unsigned power_within(uint64_t x, unsigned most) {
    unsigned power = 1;
    while (power < most && 2 * (uint64_t)power <= x)
        power *= 2;
    return power;
}

unsigned rows_lanes(const rows_matrix *matrix, rows_cover cover, unsigned warp) {
    uint64_t vectors = matrix->columns * reduct_type_size(matrix->type) / ROWS_VECTOR;
    switch (cover) {
    case A_THREAD:
        return 1;
    case A_BLOCK:
        return ROWS_THREADS;
    case SOME_LANES:
        return matrix->columns < 4 ? 2 : power_within(matrix->columns, warp / 2);
    case VECTOR_LANES:
        return power_within(gpu_ceil_divide(vectors, LOADS), warp);
    default:
        return warp;
    }
}

uint64_t rows_tiles(const rows_matrix *matrix, uint64_t resident) {
    uint64_t across = gpu_ceil_divide(matrix->columns, ROWS_TILE);
    uint64_t wanted = gpu_ceil_divide(resident, across ? across : 1), most = matrix->rows / CHUNK_LEAST;
    return gpu_least(wanted, most) ? gpu_least(wanted, most) : 1;
}

bool rows_begin_at_vectors(const rows_matrix *matrix, char *why, size_t room) {
    if (matrix->columns * reduct_type_size(matrix->type) % ROWS_VECTOR == 0)
        return true;
    snprintf(why, room, "rows of %llu elements do not begin at multiples of 16 bytes",
             (unsigned long long)matrix->columns);
    return false;
}

double rows_terms(const rows_matrix *matrix, unsigned lanes, uint64_t tiles) {
    const unsigned at_once = ROWS_THREADS / ROWS_TILE;
    if (matrix->by_columns) /* and the last tile is longer by what is left over */
        return (double)(2 * gpu_ceil_divide(matrix->rows, tiles) / at_once + at_once + tiles + 1);
    return (double)(gpu_ceil_divide(matrix->columns, lanes) + gpu_ceil_log2(lanes) + 8);
}

void rows_describe(unsigned lanes, uint64_t tiles, report_row *row) {
    snprintf(row->variant, sizeof row->variant, "%s", tiles ? "sums of columns" : "sums of rows");
    if (tiles)
        snprintf(row->note, sizeof row->note, "%llu tiles above each other", (unsigned long long)tiles);
    else if (lanes == 1)
        snprintf(row->note, sizeof row->note, "a thread per row");
    else if (lanes)
        snprintf(row->note, sizeof row->note, "%u threads per row", lanes);
}

rows_sums rows_sums_create(const ladder_data *data, uint64_t rows, uint64_t columns) {
    rows_sums sums = {program_allocate((rows ? rows : 1) * sizeof *sums.rows),
                      program_allocate((columns ? columns : 1) * sizeof *sums.columns)};
    memset(sums.columns, 0, columns * sizeof *sums.columns);
    for (uint64_t r = 0; r < rows; r++) {
        many_units row = 0;
        for (uint64_t c = 0; c < columns; c++) {
            many_units units = many_units_at(data, r * columns + c);
            row += units;
            sums.columns[c] += units;
        }
        sums.rows[r] = row;
    }
    return sums;
}

void rows_sums_destroy(rows_sums *sums) {
    free(sums->rows);
    free(sums->columns);
    *sums = (rows_sums){0};
}
