/* Tables of states: see table.h. */
#include "mpi/table.h"

#include "mpi/message.h"

#include <stdlib.h>

/* Words that are sent in one piece: few enough to stay in the cache between being gathered, reduced and put back. */
enum { PIECE = 1 << 15 };

void rm_find_used(const uint64_t seen[RM_ROW], uint64_t used[RM_BITS]) {
    for (size_t c = 0; c < RM_ROW; c++)
        used[c / 64] |= (uint64_t)(seen[c] != 0) << (c % 64);
}

void rm_columns_of(struct rm_columns *columns, const uint64_t bits[RM_BITS], size_t count) {
    columns->count = 0;
    for (size_t c = 0; c < count; c++)
        if (bits[c / 64] >> (c % 64) & 1)
            columns->at[columns->count++] = (uint16_t)c;
}

static void gather(int64_t *piece, const int64_t *words, size_t rows, size_t width, const struct rm_columns *columns) {
    for (size_t r = 0; r < rows; r++, words += width)
        for (size_t c = 0; c < columns->count; c++)
            *piece++ = words[columns->at[c]];
}

static void put_back(const int64_t *piece, int64_t *words, size_t rows, size_t width,
                     const struct rm_columns *columns) {
    for (size_t r = 0; r < rows; r++, words += width)
        for (size_t c = 0; c < columns->count; c++)
            words[columns->at[c]] = *piece++;
}

int rm_merge_words(const int64_t *sent, int64_t *received, int count, MPI_Datatype type, MPI_Op operation,
                   enum rm_kind kind, MPI_Comm comm) {
    switch (kind) {
    case RM_SCAN:
        return MPI_Scan(sent, received, count, type, operation, comm);
    case RM_EXSCAN:
        return MPI_Exscan(sent, received, count, type, operation, comm);
    case RM_ALLREDUCE:
        break;
    }
    return MPI_Allreduce(sent, received, count, type, operation, comm);
}

static int reduce_columns(const struct rm_table *table, const struct rm_columns *columns, MPI_Op operation,
                          enum rm_kind kind, bool writes, int64_t *piece, MPI_Comm comm) {
    int code = MPI_SUCCESS;
    if (columns->count == 0)
        return code;
    size_t most = PIECE / columns->count;
    for (size_t done = 0, some; done < table->rows && code == MPI_SUCCESS; done += some) {
        int64_t *words = table->words + done * table->width;
        some = table->rows - done < most ? table->rows - done : most;
        gather(piece, words, some, table->width, columns);
        code = rm_merge_words(MPI_IN_PLACE, piece, (int)(some * columns->count), MPI_INT64_T, operation, kind, comm);
        if (writes)
            put_back(piece, words, some, table->width, columns);
    }
    return code;
}

/* Those that do not add, of which zero is a value as any other. */
static void find_rest(const struct rm_table *table, struct rm_columns *columns) {
    columns->count = 0;
    for (size_t c = table->added; c < table->width; c++)
        columns->at[columns->count++] = (uint16_t)c;
}

static reduct_reduction planned(const void *what, size_t i) {
    (void)i; /* there is one */
    return *(const reduct_reduction *)what;
}

/* Whether all ranks are well and have tables of that shape, and which of the columns that add are used on any of them. */
static reduct_status poll(const struct rm_table *table, const struct rm_failure *failure,
                          const reduct_mpi_field *fields, MPI_Comm comm, struct rm_columns *columns,
                          reduct_error *error) {
    uint64_t used[RM_BITS] = {0}, seen[RM_ROW] = {0};
    for (size_t r = 0; r < table->rows && failure->error.status == REDUCT_OK; r++)
        rm_see(seen, table->words + r * table->width, table->added);
    rm_find_used(seen, used);
    const struct rm_plan plan = {.signature = table->reduction ? rm_sign(table->rows, table->reduction) : 0,
                                 .counted = "rows",
                                 .number = table->rows,
                                 .name = "reduction",
                                 .count = 1,
                                 .reduction = planned,
                                 .what = table->reduction};
    reduct_status status = rm_poll(failure, &plan, used, fields, comm, error);
    rm_columns_of(columns, used, table->added);
    return status;
}

static int64_t *allocate(size_t words, struct rm_failure *failure) {
    int64_t *made = malloc(words * sizeof *made);
    if (!made)
        rm_note_no_memory(failure, words * sizeof *made);
    return made;
}

reduct_status rm_table_reduce(const struct rm_table *table, enum rm_kind kind, int root,
                              const struct rm_failure *failure, const reduct_mpi_field *fields, MPI_Comm comm,
                              reduct_error *error) {
    struct rm_failure own = *failure;
    struct rm_columns columns;
    int rank = 0;
    int64_t *piece = allocate(PIECE, &own);
    reduct_status status = poll(table, &own, fields, comm, &columns, error);
    if (status != REDUCT_OK) {
        free(piece);
        return status;
    }
    int code = root < 0 ? MPI_SUCCESS : MPI_Comm_rank(comm, &rank);
    const bool writes = root < 0 || root == rank;
    if (code == MPI_SUCCESS)
        code = reduce_columns(table, &columns, MPI_SUM, kind, writes, piece, comm);
    find_rest(table, &columns);
    if (code == MPI_SUCCESS)
        code = reduce_columns(table, &columns, table->operation, kind, writes, piece, comm);
    free(piece);
    return rm_check(code, error);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Under way
 * ------------------------------------------------------------------------------------------------------------------ */

static size_t calls_for(size_t words) {
    return words / RM_CALL_MOST + (words % RM_CALL_MOST != 0);
}

static int begin_words(int64_t *words, size_t count, MPI_Op operation, MPI_Comm comm, MPI_Request *requests,
                       int *begun) {
    int code = MPI_SUCCESS;
    for (size_t done = 0, some; done < count && code == MPI_SUCCESS; done += some) {
        some = count - done < RM_CALL_MOST ? count - done : RM_CALL_MOST;
        code =
            MPI_Iallreduce(MPI_IN_PLACE, words + done, (int)some, MPI_INT64_T, operation, comm, &requests[(*begun)++]);
    }
    return code;
}

reduct_status rm_table_begin(struct rm_table_request *begun, const struct rm_table *table,
                             const struct rm_failure *failure, MPI_Comm comm, MPI_Request requests[RM_CALLS],
                             int *count, reduct_error *error) {
    struct rm_failure own = *failure;
    *begun = (struct rm_table_request){.table = *table};
    *count = 0;
    reduct_status status = poll(table, &own, NULL, comm, &begun->added, error);
    if (status != REDUCT_OK)
        return status;
    find_rest(table, &begun->rest);
    const size_t added = table->rows * begun->added.count, rest = table->rows * begun->rest.count;
    if (calls_for(added) + calls_for(rest) > RM_CALLS)
        return rm_fail(error, REDUCT_ERROR_TOO_LARGE,
                       "rows: %zu, of %zu words that are sent, are too many to go on with", table->rows,
                       begun->added.count + begun->rest.count);
    begun->sent = allocate(added + rest ? added + rest : 1, &own);
    status = rm_agree(&own, NULL, comm, error);
    if (status == REDUCT_OK) {
        gather(begun->sent, table->words, table->rows, table->width, &begun->added);
        gather(begun->sent + added, table->words, table->rows, table->width, &begun->rest);
        int code = begin_words(begun->sent, added, MPI_SUM, comm, requests, count);
        if (code == MPI_SUCCESS)
            code = begin_words(begun->sent + added, rest, table->operation, comm, requests, count);
        status = rm_check(code, error);
    }
    if (status != REDUCT_OK)
        free(begun->sent);
    return status;
}

reduct_status rm_table_end(struct rm_table_request *begun, int code, reduct_error *error) {
    const struct rm_table *table = &begun->table;
    if (code == MPI_SUCCESS) {
        put_back(begun->sent, table->words, table->rows, table->width, &begun->added);
        put_back(begun->sent + table->rows * begun->added.count, table->words, table->rows, table->width, &begun->rest);
    }
    free(begun->sent);
    return rm_check(code, error);
}
