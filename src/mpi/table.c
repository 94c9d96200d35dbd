/* Tables of states: see table.h. */
#include "mpi/table.h"

#include <stdlib.h>

/* Words that are sent in one piece: few enough to stay in the cache between being gathered, reduced and put back. */
enum { PIECE = 1 << 15 };

/* Columns of one operation. */
struct columns {
    size_t count;
    uint16_t at[RM_ROW];
};

/* Finds the columns of [first, last) of which some word on some rank is not what zero is to the operation. */
static int find_columns(const int64_t *words, size_t rows, size_t width, size_t first, size_t last, MPI_Comm comm,
                        struct columns *columns) {
    uint64_t used[RM_ROW / 64] = {0}, any[RM_ROW];
    for (size_t c = first; c < last; c++)
        any[c] = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = first; c < last; c++)
            any[c] |= (uint64_t)words[r * width + c];
    for (size_t c = first; c < last; c++)
        used[c / 64] |= (uint64_t)(any[c] != 0) << (c % 64);
    int code = MPI_Allreduce(MPI_IN_PLACE, used, RM_ROW / 64, MPI_UINT64_T, MPI_BOR, comm);
    columns->count = 0;
    for (size_t c = first; c < last; c++)
        if (used[c / 64] >> (c % 64) & 1)
            columns->at[columns->count++] = (uint16_t)c;
    return code;
}

static void gather(int64_t *piece, const int64_t *words, size_t rows, size_t width, const struct columns *columns) {
    for (size_t r = 0; r < rows; r++, words += width)
        for (size_t c = 0; c < columns->count; c++)
            *piece++ = words[columns->at[c]];
}

static void put_back(const int64_t *piece, int64_t *words, size_t rows, size_t width, const struct columns *columns) {
    for (size_t r = 0; r < rows; r++, words += width)
        for (size_t c = 0; c < columns->count; c++)
            words[columns->at[c]] = *piece++;
}

static int reduce_columns(int64_t *words, size_t rows, size_t width, const struct columns *columns, MPI_Op operation,
                          int64_t *piece, MPI_Comm comm) {
    int code = MPI_SUCCESS;
    if (columns->count == 0)
        return code;
    size_t most = PIECE / columns->count;
    for (size_t done = 0, some; done < rows && code == MPI_SUCCESS; done += some) {
        some = rows - done < most ? rows - done : most;
        gather(piece, words + done * width, some, width, columns);
        code = MPI_Allreduce(MPI_IN_PLACE, piece, (int)(some * columns->count), MPI_INT64_T, operation, comm);
        put_back(piece, words + done * width, some, width, columns);
    }
    return code;
}

reduct_status rm_table_allreduce(int64_t *words, size_t rows, size_t width, size_t added, MPI_Op operation,
                                 const struct rm_failure *failure, const reduct_mpi_field *fields, MPI_Comm comm,
                                 reduct_error *error) {
    struct rm_failure own = *failure;
    reduct_error local;
    int64_t *piece = malloc(PIECE * sizeof *piece);
    if (!piece) {
        rm_fail(&local, REDUCT_ERROR_OUT_OF_MEMORY, "%zu bytes could not be allocated", PIECE * sizeof *piece);
        rm_note(&own, 0, &local);
    }
    reduct_status status = rm_poll(&own, (uint64_t)rows ^ (uint64_t)width << 48, fields, comm, error);
    if (status != REDUCT_OK) {
        free(piece);
        return status;
    }
    struct columns columns;
    int code = find_columns(words, rows, width, 0, added, comm, &columns);
    if (code == MPI_SUCCESS)
        code = reduce_columns(words, rows, width, &columns, MPI_SUM, piece, comm);
    columns.count = 0;
    for (size_t c = added; c < width; c++) /* where zero is a value as any other */
        columns.at[columns.count++] = (uint16_t)c;
    if (code == MPI_SUCCESS)
        code = reduce_columns(words, rows, width, &columns, operation, piece, comm);
    free(piece);
    return rm_check(code, error);
}
