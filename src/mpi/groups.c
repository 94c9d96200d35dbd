/* Tables of accumulators over ranks: see groups.h. */
#include "mpi/groups.h"

#include "state/join.h"

#include <stdlib.h>

/* Operations that merge words: one for each way, and one of ours for pairs. */
enum { SUMS, LEAST, LEAST_PAIRS, ORS, XORS, WAYS };

/* A call. A rank that has failed goes on taking part. */
struct call {
    MPI_Comm comm;
    enum rm_kind kind;
    int rank, ranks, root;
    bool writes; /* the result is for this rank, too, and comes from the others */
    struct rm_failure failure;
    struct rd_join *join;
    int64_t *words;        /* of a part */
    uint64_t before, seen; /* elements of the ranks before, and of those whose result this rank gets */
    MPI_Datatype pair;
    MPI_Op lesser;
};

/* Notes a failure that is no single element's. */
static void note(struct rm_failure *failure, reduct_error *error) {
    error->index = UINT64_MAX;
    rm_note(failure, 0, error);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Words
 * ------------------------------------------------------------------------------------------------------------------ */

/* As an MPI operation: of two pairs the lesser, by the first words, or where these are alike by the second ones. */
static void take_lesser(void *first, void *second, int *count, MPI_Datatype *type) {
    const int64_t *a = first;
    int64_t *b = second;
    (void)type; /* a pair */
    for (int i = 0; i < *count; i++, a += 2, b += 2)
        if (a[0] < b[0] || (a[0] == b[0] && a[1] < b[1])) {
            b[0] = a[0];
            b[1] = a[1];
        }
}

static int way_of(const struct rd_join_message *message) {
    switch (message->merge) {
    case REDUCT_MERGE_LEAST:
        return message->width == 2 ? LEAST_PAIRS : LEAST;
    case REDUCT_MERGE_OR:
        return ORS;
    case REDUCT_MERGE_XOR:
        return XORS;
    case REDUCT_MERGE_ADD:
    case REDUCT_MERGE_AND:
    case REDUCT_MERGE_IN_ORDER:
        break;
    }
    return SUMS;
}

static MPI_Op operation_of(int way, MPI_Op lesser) {
    const MPI_Op operations[WAYS] = {MPI_SUM, MPI_MIN, lesser, MPI_BOR, MPI_BXOR};
    return operations[way];
}

/* What pairs take: on all ranks, or none. */
static int make_pairs(const reduct_table *table, MPI_Datatype *pair, MPI_Op *lesser) {
    if (!reduct_joining.tells_places(table))
        return MPI_SUCCESS;
    int code = MPI_Type_contiguous(2, MPI_INT64_T, pair);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(pair);
    return code == MPI_SUCCESS ? MPI_Op_create(take_lesser, 1, lesser) : code;
}

static void free_pairs(MPI_Datatype *pair, MPI_Op *lesser) {
    if (*pair != MPI_DATATYPE_NULL)
        MPI_Type_free(pair);
    if (*lesser != MPI_OP_NULL)
        MPI_Op_free(lesser);
}

/* Numbers that all ranks have to know, however many there are. */
static int merge_for_all(const struct rd_join_message *message, MPI_Comm comm) {
    int code = MPI_SUCCESS;
    for (uint64_t done = 0, some; done < message->count && code == MPI_SUCCESS; done += some) {
        some = message->count - done < RM_CALL_MOST ? message->count - done : RM_CALL_MOST;
        code = MPI_Allreduce(MPI_IN_PLACE, message->words + done, (int)some, MPI_INT64_T,
                             operation_of(way_of(message), MPI_OP_NULL), comm);
    }
    return code;
}

/* A part, for those ranks that are to have it. */
static int merge_part(const struct call *call, const struct rd_join_message *message) {
    const bool pairs = message->width == 2, sends = call->root >= 0 && call->rank != call->root;
    const MPI_Op operation = operation_of(way_of(message), call->lesser);
    const MPI_Datatype type = pairs ? call->pair : MPI_INT64_T;
    const int count = (int)(message->count / message->width);
    if (call->root >= 0)
        return MPI_Reduce(sends ? call->words : MPI_IN_PLACE, sends ? NULL : call->words, count, type, operation,
                          call->root, call->comm);
    return rm_merge_words(MPI_IN_PLACE, call->words, count, type, operation, call->kind, call->comm);
}

static int merge_parts(const struct call *call, bool aside) {
    int code = MPI_SUCCESS;
    struct rd_join_part part = {.count = 0};
    while (code == MPI_SUCCESS && reduct_joining.next(call->join, aside, &part)) {
        reduct_joining.pack(call->join, &part, call->words);
        code = merge_part(call, &part.message);
        if (code == MPI_SUCCESS && call->writes)
            reduct_joining.unpack(call->join, &part, call->words);
    }
    return code;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Calls
 * ------------------------------------------------------------------------------------------------------------------ */

/* Elements of all tables, which must be 2^63 at most; and of those before this rank's. Halves of 32 bits add without overflow. */
static reduct_status count_seen(struct call *call, const reduct_table *table, reduct_error *error) {
    const uint64_t seen = reduct_joining.seen(table), own[2] = {seen & UINT32_MAX, seen >> 32};
    uint64_t all[2] = {0}, before[2] = {0};
    int code = MPI_Allreduce(own, all, 2, MPI_UINT64_T, MPI_SUM, call->comm);
    if (code == MPI_SUCCESS && (call->kind != RM_ALLREDUCE || reduct_joining.tells_places(table)))
        code = MPI_Exscan(own, before, 2, MPI_UINT64_T, MPI_SUM, call->comm);
    if (code != MPI_SUCCESS)
        return rm_check(code, error);
    const uint64_t high = all[1] + (all[0] >> 32), low = all[0] & UINT32_MAX, most = (uint64_t)1 << 31;
    if (high > most || (high == most && low))
        return rm_fail(error, REDUCT_ERROR_TOO_LARGE, "table: more than 2^63 elements on all ranks together");
    call->before = call->rank ? (before[1] << 32) + before[0] : 0;
    call->seen = call->kind == RM_SCAN     ? call->before + seen
                 : call->kind == RM_EXSCAN ? call->before
                                           : (high << 32) + low;
    return REDUCT_OK;
}

static reduct_reduction planned(const void *what, size_t i) {
    return reduct_table_reduction(what, i);
}

/* Whether all ranks have a table, and of the same reductions; and the most groups that one has. */
static reduct_status open_tables(const reduct_table *table, struct rm_failure *failure, uint64_t *groups, MPI_Comm comm,
                                 reduct_error *error) {
    uint64_t own = reduct_table_groups(table);
    struct rm_plan plan = {.counted = "table: reductions",
                           .number = reduct_table_reductions(table),
                           .name = "table: reductions",
                           .is_array = true,
                           .count = reduct_table_reductions(table),
                           .reduction = planned,
                           .what = table};
    reduct_error local;
    if (!table) {
        rm_fail(&local, REDUCT_ERROR_ARGUMENT, "table: null pointer");
        rm_note(failure, 0, &local);
    }
    if (reduct_joining.size_of_this != sizeof reduct_joining) {
        rm_fail(&local, REDUCT_ERROR_UNSUPPORTED, "table: libreduct is of another version than libreduct_mpi");
        rm_note(failure, 0, &local);
    } else if (table) {
        plan.signature = reduct_joining.signature(table);
    }
    reduct_status status = rm_poll(failure, &plan, NULL, NULL, comm, error);
    return status == REDUCT_OK ? rm_check(MPI_Allreduce(&own, groups, 1, MPI_UINT64_T, MPI_MAX, comm), error) : status;
}

/* Finds out what cells are like on all ranks, and merges those that were put aside. What fails here on a rank is noted. */
static reduct_status prepare(struct call *call, reduct_table *table, uint64_t groups, reduct_error *error) {
    struct rd_join_message message;
    reduct_error local;
    call->words = malloc(RD_JOIN_PART * sizeof *call->words);
    if (!call->words)
        rm_note_no_memory(&call->failure, RD_JOIN_PART * sizeof *call->words);
    if (reduct_joining.open(table, (uint64_t)call->ranks, groups, call->before, &call->join, &local) != REDUCT_OK)
        note(&call->failure, &local);
    reduct_status status = rm_agree(&call->failure, NULL, call->comm, error);
    if (status != REDUCT_OK)
        return status;
    int code = make_pairs(table, &call->pair, &call->lesser);
    while (code == MPI_SUCCESS && reduct_joining.ask(call->join, &message))
        code = merge_for_all(&message, call->comm);
    if (code == MPI_SUCCESS)
        code = merge_parts(call, true);
    if (reduct_joining.settle(call->join, call->root < 0 || call->rank == call->root, &local) != REDUCT_OK)
        note(&call->failure, &local);
    return rm_check(code, error);
}

/* All but what ends a call; what fails on one rank alone is noted, and ranks have to agree on it. */
static reduct_status open_call(struct call *call, reduct_table *table, reduct_error *error) {
    uint64_t groups = 0;
    reduct_status status = open_tables(table, &call->failure, &groups, call->comm, error);
    int code = status == REDUCT_OK ? MPI_Comm_rank(call->comm, &call->rank) : MPI_SUCCESS;
    if (status == REDUCT_OK && code == MPI_SUCCESS)
        code = MPI_Comm_size(call->comm, &call->ranks);
    if (status == REDUCT_OK)
        status = rm_check(code, error);
    if (status == REDUCT_OK)
        status = count_seen(call, table, error);
    call->writes = call->root >= 0 ? call->rank == call->root : call->kind != RM_EXSCAN || call->rank;
    return status == REDUCT_OK ? prepare(call, table, groups, error) : status;
}

static void close_call(struct call *call) {
    reduct_joining.close(call->join);
    free(call->words);
    free_pairs(&call->pair, &call->lesser);
}

reduct_status rm_groups_reduce(reduct_table *table, enum rm_kind kind, int root, const struct rm_failure *failure,
                               MPI_Comm comm, reduct_error *error) {
    struct call call = {.comm = comm,
                        .kind = kind,
                        .root = root,
                        .failure = *failure,
                        .pair = MPI_DATATYPE_NULL,
                        .lesser = MPI_OP_NULL};
    reduct_status status = open_call(&call, table, error);
    if (status == REDUCT_OK)
        status = rm_agree(&call.failure, NULL, comm, error);
    if (status == REDUCT_OK)
        status = rm_check(merge_parts(&call, false), error);
    if (status == REDUCT_OK && kind == RM_EXSCAN && call.rank == 0)
        reduct_table_reset(table);
    if (status == REDUCT_OK && (call.writes || kind == RM_EXSCAN)) {
        reduct_joining.finish(call.join, call.seen);
        call.join = NULL;
    }
    close_call(&call);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Under way: all parts at once, in the memory that they take
 * ------------------------------------------------------------------------------------------------------------------ */

/* Words of each way, and where they begin. */
struct ways {
    uint64_t count[WAYS], first[WAYS], all;
};

static struct ways find_ways(const struct rd_join *join) {
    struct ways ways = {.all = 0};
    struct rd_join_part part = {.count = 0};
    while (reduct_joining.next(join, false, &part))
        ways.count[way_of(&part.message)] += part.message.count;
    for (int w = 0; w < WAYS; w++) {
        ways.first[w] = ways.all;
        ways.all += ways.count[w];
    }
    return ways;
}

/* Writes all parts to where they are sent from, or reads what has come there. */
static void walk_parts(struct rd_join *join, int64_t *words, bool packs) {
    struct ways ways = find_ways(join);
    struct rd_join_part part = {.count = 0};
    while (reduct_joining.next(join, false, &part)) {
        uint64_t *at = &ways.first[way_of(&part.message)];
        if (packs)
            reduct_joining.pack(join, &part, words + *at);
        else
            reduct_joining.unpack(join, &part, words + *at);
        *at += part.message.count;
    }
}

static int begin(const struct rm_groups *groups, const struct ways *ways, MPI_Comm comm, MPI_Request *requests,
                 int *begun) {
    int code = MPI_SUCCESS;
    for (int w = 0; w < WAYS; w++) {
        const uint64_t width = w == LEAST_PAIRS ? 2 : 1, most = RM_CALL_MOST * width;
        for (uint64_t done = 0, some; done < ways->count[w] && code == MPI_SUCCESS; done += some) {
            some = ways->count[w] - done < most ? ways->count[w] - done : most;
            code = MPI_Iallreduce(MPI_IN_PLACE, groups->words + ways->first[w] + done, (int)(some / width),
                                  w == LEAST_PAIRS ? groups->pair : MPI_INT64_T, operation_of(w, groups->lesser), comm,
                                  &requests[(*begun)++]);
        }
    }
    return code;
}

/* Whether there are calls enough for so many words, some of which are not full for each way. */
static reduct_status check_calls(const struct ways *ways, reduct_error *error) {
    if (ways->all <= (RM_CALLS - WAYS) * RM_CALL_MOST)
        return REDUCT_OK;
    return rm_fail(error, REDUCT_ERROR_TOO_LARGE, "table: %llu words are too many to go on with",
                   (unsigned long long)ways->all);
}

static void free_groups(struct rm_groups *groups) {
    reduct_joining.close(groups->join);
    free(groups->words);
    free_pairs(&groups->pair, &groups->lesser);
}

reduct_status rm_groups_begin(struct rm_groups *groups, reduct_table *table, const struct rm_failure *failure,
                              MPI_Comm comm, MPI_Request requests[RM_CALLS], int *count, reduct_error *error) {
    struct call call = {.comm = comm,
                        .kind = RM_ALLREDUCE,
                        .root = -1,
                        .failure = *failure,
                        .pair = MPI_DATATYPE_NULL,
                        .lesser = MPI_OP_NULL};
    struct ways ways = {.all = 0};
    *count = 0;
    reduct_status status = open_call(&call, table, error);
    free(call.words);
    *groups = (struct rm_groups){.join = call.join, .seen = call.seen, .pair = call.pair, .lesser = call.lesser};
    if (status == REDUCT_OK) {
        ways = find_ways(call.join);
        status = check_calls(&ways, error); /* the same on all ranks */
    }
    if (status == REDUCT_OK) {
        groups->words = malloc((size_t)(ways.all + 1) * sizeof *groups->words);
        if (!groups->words)
            rm_note_no_memory(&call.failure, ways.all * sizeof *groups->words);
        status = rm_agree(&call.failure, NULL, comm, error);
    }
    if (status == REDUCT_OK) {
        walk_parts(call.join, groups->words, true);
        status = rm_check(begin(groups, &ways, comm, requests, count), error);
    }
    if (status != REDUCT_OK)
        free_groups(groups);
    return status;
}

reduct_status rm_groups_end(struct rm_groups *groups, int code, reduct_error *error) {
    if (code == MPI_SUCCESS) {
        walk_parts(groups->join, groups->words, false);
        reduct_joining.finish(groups->join, groups->seen);
        groups->join = NULL;
    }
    free_groups(groups);
    return rm_check(code, error);
}
