/* Tables of accumulators over ranks: see groups.h. */
#include "mpi/groups.h"

#include <limits.h>
#include <stdlib.h>

/* Bytes that are sent in one piece. */
enum { PIECE = 1 << 30 };

/* Bytes that MPI counts as one where those of all ranks are gathered, so that its ints suffice for 128 GiB. */
enum { UNIT = 64 };

/* ---------------------------------------------------------------------------------------------------------------------
 * One rank's table
 * ------------------------------------------------------------------------------------------------------------------ */

/* Notes a failure that is no single element's. */
static void note(struct rm_failure *failure, reduct_error *error) {
    error->index = UINT64_MAX;
    rm_note(failure, 0, error);
}

/* A table of this processor with so many groups that holds the same; null, and a failure is noted, where there is no memory. */
static reduct_table *copy_of(const reduct_table *table, uint64_t groups, struct rm_failure *failure) {
    const size_t count = reduct_table_reductions(table);
    reduct_reduction *reductions = malloc(count * sizeof *reductions);
    reduct_table *copy = NULL;
    reduct_error error;
    if (!reductions) {
        rm_note_no_memory(failure, count * sizeof *reductions);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        reductions[i] = reduct_table_reduction(table, i);
    const reduct_table_options options = {
        .reductions = reductions, .reduction_count = count, .groups = groups, .device = "cpu"};
    reduct_status status = reduct_table_create(&options, &copy, &error);
    free(reductions);
    if (status == REDUCT_OK)
        status = reduct_table_merge(copy, table, NULL, &error);
    if (status == REDUCT_OK)
        return copy;
    reduct_table_destroy(copy);
    note(failure, &error);
    return NULL;
}

/* Saves a table; null, and a failure is noted, where there is no memory. */
static unsigned char *saved(const reduct_table *table, uint64_t *size, struct rm_failure *failure) {
    size_t needed = 0;
    reduct_table_save(table, NULL, &needed, NULL);
    unsigned char *bytes = malloc(needed);
    if (bytes)
        reduct_table_save(table, bytes, &needed, NULL);
    else
        rm_note_no_memory(failure, needed);
    *size = bytes ? needed : 0;
    return bytes;
}

static reduct_table *loaded(const unsigned char *bytes, uint64_t size, struct rm_failure *failure) {
    const reduct_table_options options = {.device = "cpu"};
    reduct_table *table = NULL;
    reduct_error error;
    if (reduct_table_load(bytes, (size_t)size, &options, &table, &error) != REDUCT_OK)
        note(failure, &error);
    return table;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * From rank to rank
 * ------------------------------------------------------------------------------------------------------------------ */

/* A call. A rank that has failed goes on taking part, but has nothing to send. */
struct call {
    MPI_Comm comm; /* one of its own, so that its messages are not taken for the program's */
    int rank, ranks;
    struct rm_failure failure;
    reduct_table *merged; /* what has come together on this rank */
};

static bool failed(const struct call *call) {
    return call->failure.error.status != REDUCT_OK;
}

/* Sends bytes to one rank while it receives from another; MPI_PROC_NULL is none. */
static int swap_bytes(const struct call *call, const unsigned char *sent, uint64_t to_send, int to,
                      unsigned char *received, uint64_t to_receive, int from) {
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && (to_send || to_receive)) {
        const int some = to_send < PIECE ? (int)to_send : PIECE, others = to_receive < PIECE ? (int)to_receive : PIECE;
        code = MPI_Sendrecv(sent, some, MPI_BYTE, some ? to : MPI_PROC_NULL, 0, received, others, MPI_BYTE,
                            others ? from : MPI_PROC_NULL, 0, call->comm, MPI_STATUS_IGNORE);
        to_send -= (unsigned)some;
        to_receive -= (unsigned)others;
        sent = some ? sent + some : sent;
        received = others ? received + others : received;
    }
    return code;
}

/* Sends what has come together to one rank and receives another's, or null; MPI_PROC_NULL is none. Whoever has no memory for what it is
 * to receive says so before it is sent. */
static int swap_tables(struct call *call, int to, int from, reduct_table **other) {
    uint64_t size = 0, coming = 0;
    unsigned char *sent = NULL, *received = NULL;
    int takes = 0, taken = 0;
    *other = NULL;
    if (to != MPI_PROC_NULL && !failed(call))
        sent = saved(call->merged, &size, &call->failure);
    int code =
        MPI_Sendrecv(&size, 1, MPI_UINT64_T, to, 0, &coming, 1, MPI_UINT64_T, from, 0, call->comm, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && coming && !failed(call)) {
        received = malloc((size_t)coming);
        takes = received != NULL;
        if (!received)
            rm_note_no_memory(&call->failure, coming);
    }
    if (code == MPI_SUCCESS)
        code = MPI_Sendrecv(&takes, 1, MPI_INT, from, 0, &taken, 1, MPI_INT, to, 0, call->comm, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS)
        code = swap_bytes(call, sent, taken ? size : 0, to, received, takes ? coming : 0, from);
    if (code == MPI_SUCCESS && received)
        *other = loaded(received, coming, &call->failure);
    free(sent);
    free(received);
    return code;
}

/* Merges a table with what has come together: it is of the ranks after these, or of those before. */
static void merge(struct call *call, reduct_table *other, bool after) {
    reduct_error error;
    if (!other)
        return;
    reduct_table *first = after ? call->merged : other, *last = after ? other : call->merged;
    if (!failed(call) && reduct_table_merge(first, last, NULL, &error) != REDUCT_OK)
        note(&call->failure, &error);
    call->merged = first;
    reduct_table_destroy(last);
}

/* All ranks' to rank 0, along a tree. */
static int reduce(struct call *call) {
    int code = MPI_SUCCESS;
    for (int step = 1; step < call->ranks && code == MPI_SUCCESS && call->rank % step == 0; step *= 2) {
        const bool sends = call->rank % (2 * step);
        const int from = sends || step >= call->ranks - call->rank ? MPI_PROC_NULL : call->rank + step;
        reduct_table *other;
        code = swap_tables(call, sends ? call->rank - step : MPI_PROC_NULL, from, &other);
        merge(call, other, true);
        if (sends || step > INT_MAX / 2)
            break;
    }
    return code;
}

/* All ranks' to all of them, whose number is a power of two: in each step what has come together on as many ranks, side by side, is exchanged
 * with as many more. Less work comes one after another than where one rank merges all, and shares it. */
static int exchange(struct call *call) {
    int code = MPI_SUCCESS;
    for (int step = 1; step < call->ranks && code == MPI_SUCCESS; step *= 2) {
        const int partner = call->rank ^ step;
        reduct_table *other;
        code = swap_tables(call, partner, partner, &other);
        merge(call, other, partner > call->rank);
        if (step > INT_MAX / 2)
            break;
    }
    return code;
}

/* To each rank those up to and with its own: in each step from so many ranks before what has come together there. */
static int scan(struct call *call) {
    int code = MPI_SUCCESS;
    for (int step = 1; step < call->ranks && code == MPI_SUCCESS; step *= 2) {
        reduct_table *other;
        code = swap_tables(call, step < call->ranks - call->rank ? call->rank + step : MPI_PROC_NULL,
                           step <= call->rank ? call->rank - step : MPI_PROC_NULL, &other);
        merge(call, other, false);
        if (step > INT_MAX / 2)
            break;
    }
    return code;
}

/* In the place of what has come together that of the rank before, or nothing. */
static int shift(struct call *call) {
    reduct_table *other;
    const int code = swap_tables(call, call->rank + 1 < call->ranks ? call->rank + 1 : MPI_PROC_NULL,
                                 call->rank ? call->rank - 1 : MPI_PROC_NULL, &other);
    if (call->rank == 0) {
        reduct_table_reset(call->merged);
    } else if (other) {
        reduct_table_destroy(call->merged);
        call->merged = other;
    }
    return code;
}

/* In the place of what has come together that of rank 0, on rank `root` alone. */
static int move(struct call *call, int root) {
    reduct_table *other;
    if (root == 0)
        return MPI_SUCCESS;
    const int code =
        swap_tables(call, call->rank == 0 ? root : MPI_PROC_NULL, call->rank == root ? 0 : MPI_PROC_NULL, &other);
    if (other) {
        reduct_table_destroy(call->merged);
        call->merged = other;
    }
    return code;
}

/* The same on all ranks. Fails on all of them where one lacks memory. */
static reduct_status share(struct call *call, reduct_error *error) {
    uint64_t size = 0;
    unsigned char *bytes = NULL;
    if (call->rank == 0 && !failed(call))
        bytes = saved(call->merged, &size, &call->failure);
    int code = MPI_Bcast(&size, 1, MPI_UINT64_T, 0, call->comm);
    if (code == MPI_SUCCESS && call->rank && !failed(call) && size && !(bytes = malloc((size_t)size)))
        rm_note_no_memory(&call->failure, size);
    reduct_status status = rm_check(code, error);
    if (status == REDUCT_OK)
        status = rm_agree(&call->failure, NULL, call->comm, error);
    for (uint64_t done = 0, some; status == REDUCT_OK && done < size; done += some) {
        some = size - done < PIECE ? size - done : PIECE;
        status = rm_check(MPI_Bcast(bytes + done, (int)some, MPI_BYTE, 0, call->comm), error);
    }
    if (status == REDUCT_OK && call->rank) {
        reduct_table_destroy(call->merged);
        call->merged = loaded(bytes, size, &call->failure);
    }
    free(bytes);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Calls
 * ------------------------------------------------------------------------------------------------------------------ */

/* Whether all ranks have a table, and of the same reductions; and the most groups that one has. */
static reduct_status open_tables(const reduct_table *table, struct rm_failure *failure, uint64_t *groups, MPI_Comm comm,
                                 reduct_error *error) {
    uint64_t signature = RM_SIGNATURE, own = reduct_table_groups(table);
    reduct_error local;
    if (!table) {
        rm_fail(&local, REDUCT_ERROR_ARGUMENT, "table: null pointer");
        rm_note(failure, 0, &local);
    }
    for (size_t i = 0; i < reduct_table_reductions(table); i++) {
        reduct_reduction reduction = reduct_table_reduction(table, i);
        reduction.mode = REDUCT_EXACT; /* of tables the only one, whatever it is called */
        signature = rm_sign(signature, &reduction);
    }
    reduct_status status = rm_poll(failure, signature, NULL, NULL, comm, error);
    return status == REDUCT_OK ? rm_check(MPI_Allreduce(&own, groups, 1, MPI_UINT64_T, MPI_MAX, comm), error) : status;
}

/* Whether an all-reduce is an exchange. */
static bool exchanges(const struct call *call, enum rm_kind kind, int root) {
    return kind == RM_ALLREDUCE && root < 0 && (call->ranks & (call->ranks - 1)) == 0;
}

static int come_together(struct call *call, enum rm_kind kind, int root) {
    if (exchanges(call, kind, root))
        return exchange(call);
    int code = kind == RM_ALLREDUCE ? reduce(call) : scan(call);
    if (code == MPI_SUCCESS && kind == RM_EXSCAN)
        code = shift(call);
    if (code == MPI_SUCCESS && kind == RM_ALLREDUCE && root >= 0)
        code = move(call, root);
    return code;
}

/* Puts what has come together into the table of a rank that is to have it, once all ranks have theirs. */
static reduct_status finish(struct call *call, reduct_table *table, bool writes, reduct_error *error) {
    reduct_status status = rm_agree(&call->failure, NULL, call->comm, error);
    return status == REDUCT_OK && writes ? reduct_table_swap(table, call->merged, error) : status;
}

reduct_status rm_groups_reduce(reduct_table *table, enum rm_kind kind, int root, const struct rm_failure *failure,
                               MPI_Comm comm, reduct_error *error) {
    struct call call = {.comm = MPI_COMM_NULL, .failure = *failure};
    uint64_t groups = 0;
    reduct_status status = open_tables(table, &call.failure, &groups, comm, error);
    if (status != REDUCT_OK)
        return status;
    int code = MPI_Comm_dup(comm, &call.comm);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_rank(call.comm, &call.rank);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(call.comm, &call.ranks);
    call.merged = copy_of(table, groups, &call.failure);
    if (code == MPI_SUCCESS)
        code = come_together(&call, kind, root);
    status = rm_check(code, error);
    if (status == REDUCT_OK && kind == RM_ALLREDUCE && root < 0 && !exchanges(&call, kind, root))
        status = share(&call, error);
    if (status == REDUCT_OK)
        status = finish(&call, table, root < 0 || root == call.rank, error);
    reduct_table_destroy(call.merged);
    if (call.comm != MPI_COMM_NULL)
        MPI_Comm_free(&call.comm);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Under way: every rank gets the bytes of all, as only what MPI does by itself goes on without the program
 * ------------------------------------------------------------------------------------------------------------------ */

static void free_groups(struct rm_groups *groups) {
    reduct_table_destroy(groups->merged);
    free(groups->bytes);
    free(groups->sizes);
    if (groups->unit != MPI_DATATYPE_NULL)
        MPI_Type_free(&groups->unit);
}

/* Where the bytes of each rank go, and the memory for them. */
static reduct_status place(struct rm_groups *groups, struct rm_failure *failure, MPI_Comm comm, reduct_error *error) {
    uint64_t units = 0;
    for (int r = 0; r < groups->ranks; r++) {
        const uint64_t own = (groups->sizes[r] + UNIT - 1) / UNIT;
        if (own > INT_MAX - units)
            return rm_fail(error, REDUCT_ERROR_TOO_LARGE, "table: those of all ranks take more than %llu bytes",
                           (unsigned long long)INT_MAX * UNIT);
        groups->counts[r] = (int)own;
        groups->places[r] = (int)units;
        units += own;
    }
    groups->bytes = malloc((size_t)units * UNIT);
    if (!groups->bytes)
        rm_note_no_memory(failure, units * UNIT);
    return rm_agree(failure, NULL, comm, error);
}

/* All ranks' sizes, of which this one's is 0 where it failed; the failure is agreed on later. */
static reduct_status gather_sizes(struct rm_groups *groups, uint64_t size, struct rm_failure *failure, MPI_Comm comm,
                                  reduct_error *error) {
    const size_t ranks = (size_t)groups->ranks, each = sizeof *groups->sizes + 2 * sizeof *groups->counts;
    groups->sizes = malloc(ranks * each);
    if (!groups->sizes)
        rm_note_no_memory(failure, ranks * each);
    reduct_status status = rm_agree(failure, NULL, comm, error);
    if (status != REDUCT_OK)
        return status;
    groups->counts = (int *)(void *)(groups->sizes + ranks);
    groups->places = groups->counts + ranks;
    return rm_check(MPI_Allgather(&size, 1, MPI_UINT64_T, groups->sizes, 1, MPI_UINT64_T, comm), error);
}

static int begin(struct rm_groups *groups, MPI_Comm comm, MPI_Request *request) {
    int code = MPI_Type_contiguous(UNIT, MPI_BYTE, &groups->unit);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&groups->unit);
    if (code == MPI_SUCCESS)
        code = MPI_Iallgatherv(MPI_IN_PLACE, 0, groups->unit, groups->bytes, groups->counts, groups->places,
                               groups->unit, comm, request);
    return code;
}

reduct_status rm_groups_begin(struct rm_groups *groups, reduct_table *table, const struct rm_failure *failure,
                              MPI_Comm comm, MPI_Request *request, reduct_error *error) {
    struct rm_failure own = *failure;
    uint64_t most = 0, size = 0;
    size_t room = 0;
    int rank = 0;
    *groups = (struct rm_groups){.table = table, .unit = MPI_DATATYPE_NULL};
    reduct_status status = open_tables(table, &own, &most, comm, error);
    if (status != REDUCT_OK)
        return status;
    int code = MPI_Comm_rank(comm, &rank);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(comm, &groups->ranks);
    status = rm_check(code, error);
    reduct_table_save(table, NULL, &room, NULL);
    size = room;
    groups->merged = copy_of(table, most, &own); /* and so there is the memory for it later */
    if (status == REDUCT_OK)
        status = gather_sizes(groups, size, &own, comm, error);
    if (status == REDUCT_OK)
        status = place(groups, &own, comm, error);
    if (status == REDUCT_OK)
        status = reduct_table_save(table, groups->bytes + (size_t)groups->places[rank] * UNIT, &room, error);
    if (status == REDUCT_OK)
        status = rm_check(begin(groups, comm, request), error);
    if (status != REDUCT_OK)
        free_groups(groups);
    return status;
}

/* Merges what has come from all ranks. */
static void merge_all(struct rm_groups *groups, struct rm_failure *failure) {
    reduct_table_reset(groups->merged);
    for (int r = 0; r < groups->ranks && failure->error.status == REDUCT_OK; r++) {
        reduct_error error;
        reduct_table *other = loaded(groups->bytes + (size_t)groups->places[r] * UNIT, groups->sizes[r], failure);
        if (other && reduct_table_merge(groups->merged, other, NULL, &error) != REDUCT_OK)
            note(failure, &error);
        reduct_table_destroy(other);
    }
}

reduct_status rm_groups_end(struct rm_groups *groups, int code, reduct_error *error) {
    struct rm_failure failure = {0};
    reduct_status status = rm_check(code, error);
    if (status == REDUCT_OK)
        merge_all(groups, &failure);
    if (status == REDUCT_OK && (status = failure.error.status) != REDUCT_OK)
        rm_fail(error, status, "%s", failure.error.message);
    else if (status == REDUCT_OK)
        status = reduct_table_swap(groups->table, groups->merged, error);
    free_groups(groups);
    return status;
}
