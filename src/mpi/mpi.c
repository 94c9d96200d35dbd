/* The public functions of reduct/mpi.h: from arrays or accumulators to a message, through MPI, and back to results.
 *
 * What is the same on all ranks is checked first, and may end a call at once. Whatever may differ is noted as a failure and
 * travels with the message; see agree.h. */
#include <reduct/mpi.h>

#include "mpi/agree.h"
#include "mpi/groups.h"
#include "mpi/message.h"
#include "mpi/quick.h"
#include "mpi/table.h"

#include <stdlib.h>
#include <string.h>

/* Room for what is small. It is not cleared, which would take longer than what it is for. */
struct room {
    reduct_accumulator *made[RM_FIELDS];
    reduct_mpi_field fields[RM_FIELDS];
    int64_t words[2 * RM_WORDS];
    uint64_t reports[2 * (sizeof(struct rm_report) / sizeof(uint64_t) + 2 * RM_FIELDS)];
};

static const struct rm_failure NONE;

/* One call: what it reduces. */
struct job {
    MPI_Comm comm;
    int rank;
    struct rm_fields all;
    struct rm_message message;
    struct rm_failure failure;
    reduct_accumulator **made; /* of fields */
    bool writes;               /* this rank gets results */
    struct room *room;
    void *heap;     /* what is not small */
    int64_t *words; /* of a message that is not */
    const reduct_mpi_field *fields;
    struct rm_report *sent, *received;
};

/* Whether all of what is under way later is, whatever the fields are. */
static bool is_small(const struct job *job) {
    return rm_uniform(job->all.count) != 0;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Before
 * ------------------------------------------------------------------------------------------------------------------ */

/* What must be the same on all ranks, so that all end here or none does. */
static reduct_status check_count(size_t count, MPI_Comm comm, reduct_error *error) {
    return count ? rm_check_communicator(comm, error) : rm_fail(error, REDUCT_ERROR_ARGUMENT, "fields: none");
}

/* Notes that a rank was given no fields, or not the reductions of all; it takes part nevertheless, as if they were others. */
static void check_reductions(struct job *job, const reduct_mpi_field *fields, size_t count) {
    reduct_error error;
    if (!fields) {
        rm_fail(&error, REDUCT_ERROR_ARGUMENT, "fields: null pointer");
        rm_note(&job->failure, 0, &error);
    }
    for (size_t i = 0; fields && i < count; i++)
        if (!fields[i].reduction) {
            rm_fail(&error, REDUCT_ERROR_ARGUMENT, "fields[%zu].reduction: null pointer", i);
            rm_note(&job->failure, i, &error);
        }
}

/* Notes what is wrong with a field of this rank. */
static void check_field(struct job *job, size_t i) {
    const reduct_mpi_field *field = &job->fields[i];
    reduct_error error = {.status = REDUCT_OK};
    if (job->writes && !field->result)
        rm_fail(&error, REDUCT_ERROR_ARGUMENT, "fields[%zu].result: null pointer", i);
    for (size_t k = 0; k < sizeof field->reserved / sizeof *field->reserved; k++)
        if (field->reserved[k])
            rm_fail(&error, REDUCT_ERROR_ARGUMENT, "fields[%zu].reserved: not zero", i);
    if (error.status != REDUCT_OK)
        rm_note(&job->failure, i, &error);
}

/* Reduces this rank's part of each field. */
static void add_fields(struct job *job) {
    for (size_t i = 0; i < job->all.count; i++) {
        const reduct_mpi_field *field = &job->fields[i];
        reduct_error error;
        const reduct_accumulator_options options = {
            .reduction = field->reduction, .device = field->device, .example = field->count ? field->x : NULL};
        check_field(job, i);
        reduct_status status = reduct_accumulator_create(&options, &job->made[i], &error);
        if (status == REDUCT_OK)
            status = reduct_accumulator_add(job->made[i], field->x, field->y, field->count, &error);
        if (status != REDUCT_OK) {
            rm_name_item(&error, "fields", i, job->all.count);
            rm_note(&job->failure, i, &error);
        }
    }
}

/* Memory for the message that is sent now. Where there is too little the rank says so: before one that it would have to have in full, or in
 * one that it has room for. */
static void find_words(struct job *job) {
    const size_t words = rm_message_size(&job->message);
    job->message.sent = job->room->words;
    job->message.received = job->room->words + RM_WORDS;
    if (words <= RM_WORDS)
        return;
    job->message.asks = true;
    free(job->words);
    job->words = malloc(2 * words * sizeof *job->words);
    if (!job->words)
        rm_note_no_memory(&job->failure, 2 * words * sizeof *job->words);
    job->message.sent = job->words;
    job->message.received = job->words + (job->words ? words : 0);
}

/* What the fields are, and their message; notes what is wrong with them. */
static void shape_fields(struct job *job, const reduct_mpi_field *fields, size_t count) {
    reduct_error error;
    job->all = (struct rm_fields){fields, NULL, count};
    check_reductions(job, fields, count);
    if (rm_message_shape(&job->message, &job->all, &error) != REDUCT_OK)
        rm_note(&job->failure, 0, &error);
}

/* Starts a call on fields: where all is well this rank's parts have been reduced. */
static void open_fields(struct job *job, const reduct_mpi_field *fields, size_t count) {
    shape_fields(job, fields, count);
    job->fields = fields;
    job->made = count <= RM_FIELDS ? job->room->made : (job->heap = malloc(count * sizeof *job->made));
    if (!job->made)
        rm_note_no_memory(&job->failure, count * sizeof *job->made);
    for (size_t i = 0; job->made && i < count; i++)
        job->made[i] = NULL;
    job->all.accumulators = job->made;
    if (job->failure.error.status == REDUCT_OK)
        add_fields(job);
}

/* The same of a call that goes on later, with copies of what was given and room for the ranks' reports. What is not small is agreed on
 * first. */
static reduct_status open_later(struct job *job, const reduct_mpi_field *fields, size_t count, reduct_error *error) {
    struct room *room = job->room;
    reduct_mpi_field *copy = room->fields;
    const size_t report = rm_report_size(count);
    shape_fields(job, fields, count);
    if (is_small(job))
        rm_message_make_uniform(&job->message);
    find_words(job);
    job->made = room->made;
    job->sent = (struct rm_report *)(void *)room->reports;
    job->received = (struct rm_report *)(void *)(room->reports + sizeof room->reports / 16);
    if (!is_small(job)) {
        const size_t bytes = 2 * report + count * (sizeof *job->made + sizeof *copy);
        char *at = job->heap = malloc(bytes);
        if (!at)
            rm_note_no_memory(&job->failure, bytes);
        const struct rm_plan plan = rm_plan_of(&job->all, job->message.signature);
        reduct_status status = rm_poll(&job->failure, &plan, NULL, NULL, job->comm, error);
        if (status != REDUCT_OK) {
            job->made = NULL; /* none was made */
            return status;
        }
        job->sent = (struct rm_report *)(void *)at;
        job->received = (struct rm_report *)(void *)(at + report);
        copy = (reduct_mpi_field *)(void *)(at + 2 * report);
        job->made = (reduct_accumulator **)(void *)(copy + count);
    }
    for (size_t i = 0; i < count; i++)
        job->made[i] = NULL;
    if (fields)
        memcpy(copy, fields, count * sizeof *fields);
    job->fields = fields ? copy : NULL;
    job->all = (struct rm_fields){job->fields, job->made, count};
    if (job->failure.error.status == REDUCT_OK)
        add_fields(job);
    return REDUCT_OK;
}

static void close_job(struct job *job) {
    for (size_t i = 0; job->made && i < job->all.count; i++)
        reduct_accumulator_destroy(job->made[i]);
    free(job->words);
    free(job->heap);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * After
 * ------------------------------------------------------------------------------------------------------------------ */

/* Writes the results of all fields or, to see whether there are any, to nowhere. */
static reduct_status finish_fields(struct job *job, bool write, reduct_error *error) {
    for (size_t i = 0; i < job->all.count; i++) {
        uint64_t nowhere[8]; /* two results of any type */
        reduct_status status = reduct_accumulator_result(job->made[i], REDUCT_DEFAULT,
                                                         write ? job->fields[i].result : (void *)nowhere, error);
        if (status != REDUCT_OK) {
            rm_name_item(error, "fields", i, job->all.count);
            return status;
        }
    }
    return REDUCT_OK;
}

/* From what was received to states that can be finished. */
static reduct_status take_states(struct job *job, bool nothing, reduct_error *error) {
    reduct_status status = REDUCT_OK;
    if (nothing)
        for (size_t i = 0; i < job->all.count; i++)
            reduct_accumulator_reset(job->made[i]);
    else
        status = rm_message_unpack(&job->message, job->message.received, &job->all, error);
    return status;
}

/* The same, and whether there are results; where nothing may be written unless all of them are there. */
static reduct_status take_fields(struct job *job, bool nothing, reduct_error *error) {
    reduct_status status = take_states(job, nothing, error);
    return status == REDUCT_OK ? finish_fields(job, false, error) : status;
}

/* Where every rank has received the same, all know what became of it. */
static reduct_status end_allreduce(struct job *job, reduct_error *error) {
    reduct_error merging;
    reduct_status status = REDUCT_OK;
    if (!job->message.is_brief && rm_message_status(&job->message, &merging) != REDUCT_OK) {
        status = rm_agree(&job->failure, job->fields, job->comm, error);
        return status == REDUCT_OK ? rm_fail(error, merging.status, "%s", merging.message) : status;
    }
    if (job->all.count > 1)
        status = take_fields(job, false, error);
    else /* one result is written or there is none */
        status = take_states(job, false, error);
    return status == REDUCT_OK && (job->writes || job->all.count == 1) ? finish_fields(job, job->writes, error)
                                                                       : status;
}

/* Where each has received something else, they must ask each other. */
static reduct_status end_scan(struct job *job, bool nothing, reduct_error *error) {
    reduct_error local;
    if (job->failure.error.status == REDUCT_OK) {
        reduct_status status = nothing ? REDUCT_OK : rm_message_status(&job->message, &local);
        if (status == REDUCT_OK)
            status = take_fields(job, nothing, &local);
        if (status != REDUCT_OK)
            rm_note(&job->failure, 0, &local);
    }
    reduct_status status = rm_agree(&job->failure, job->fields, job->comm, error);
    return status == REDUCT_OK ? finish_fields(job, true, error) : status;
}

/* Packs the message and lets the ranks exchange it. */
static reduct_status send(struct job *job, enum rm_kind kind, reduct_error *error) {
    find_words(job);
    rm_message_pack(&job->message, &job->all, job->failure.error.status != REDUCT_OK);
    reduct_status status =
        rm_message_exchange(&job->message, &job->all, &job->failure, job->fields, kind, job->comm, error);
    rm_message_end(&job->message);
    return status;
}

/* With accumulators; `is_long`: a short message was tried, and does not do. */
static __attribute__((noinline)) reduct_status reduce_states(const reduct_mpi_field *fields, size_t count,
                                                             enum rm_kind kind, int rank, bool writes, bool is_long,
                                                             const struct rm_failure *failure, MPI_Comm comm,
                                                             reduct_error *error) {
    struct room room;
    struct job job = {.comm = comm, .rank = rank, .room = &room, .writes = writes, .failure = *failure};
    open_fields(&job, fields, count);
    job.message.is_brief = job.message.brief && kind == RM_ALLREDUCE && !is_long;
    job.message.asks = job.message.asks || kind != RM_ALLREDUCE;
    reduct_status status = send(&job, kind, error);
    if (status == REDUCT_OK && job.message.is_brief && !job.message.fits) {
        job.message.is_brief = false;
        status = send(&job, kind, error);
    }
    if (status == REDUCT_OK)
        status = kind == RM_ALLREDUCE ? end_allreduce(&job, error)
                                      : end_scan(&job, kind == RM_EXSCAN && job.rank == 0, error);
    close_job(&job);
    return status;
}

static reduct_status reduce_fields(const reduct_mpi_field *fields, size_t count, enum rm_kind kind, int root,
                                   const struct rm_failure *failure, MPI_Comm comm, reduct_error *error) {
    int rank = 0; /* where it does not matter */
    reduct_status status = check_count(count, comm, error);
    if (status == REDUCT_OK && (kind != RM_ALLREDUCE || root >= 0))
        status = rm_check(MPI_Comm_rank(comm, &rank), error);
    if (status != REDUCT_OK)
        return status;
    const bool writes = root < 0 || root == rank;
    const enum rm_quick quick = kind == RM_ALLREDUCE && failure->error.status == REDUCT_OK
                                    ? rm_quick_allreduce(fields, count, writes, comm, &status, error)
                                    : RM_QUICK_NOT;
    return quick == RM_QUICK_DONE
               ? status
               : reduce_states(fields, count, kind, rank, writes, quick == RM_QUICK_LONG, failure, comm, error);
}

/* Notes that this rank was given a root that is none. */
static reduct_status check_root(int root, struct rm_failure *failure, MPI_Comm comm, reduct_error *error) {
    int size = 0;
    reduct_error local;
    reduct_status status = rm_check_communicator(comm, error);
    if (status == REDUCT_OK)
        status = rm_check(MPI_Comm_size(comm, &size), error);
    if (status == REDUCT_OK && (root < 0 || root >= size)) {
        rm_fail(&local, REDUCT_ERROR_ARGUMENT, "root: %d; expected a rank from 0 to %d", root, size - 1);
        rm_note(failure, 0, &local);
    }
    return status;
}

reduct_status reduct_mpi_allreduce(const reduct_mpi_field *fields, size_t count, MPI_Comm comm, reduct_error *error) {
    return reduce_fields(fields, count, RM_ALLREDUCE, -1, &NONE, comm, error);
}

reduct_status reduct_mpi_allreduce_failed(const reduct_error *reason, size_t count, MPI_Comm comm,
                                          reduct_error *error) {
    struct rm_failure failure = {0};
    reduct_error local;
    if (reason && reason->status != REDUCT_OK)
        rm_fail(&local, reason->status, "%s", reason->message);
    else
        rm_fail(&local, REDUCT_ERROR_ARGUMENT, "reason: %s", reason ? "no failure" : "null pointer");
    rm_note(&failure, 0, &local);
    return reduce_fields(NULL, count, RM_ALLREDUCE, -1, &failure, comm, error);
}

reduct_status reduct_mpi_reduce(const reduct_mpi_field *fields, size_t count, int root, MPI_Comm comm,
                                reduct_error *error) {
    struct rm_failure failure = {0};
    reduct_status status = check_root(root, &failure, comm, error);
    return status == REDUCT_OK ? reduce_fields(fields, count, RM_ALLREDUCE, root, &failure, comm, error) : status;
}

reduct_status reduct_mpi_scan(const reduct_mpi_field *fields, size_t count, MPI_Comm comm, reduct_error *error) {
    return reduce_fields(fields, count, RM_SCAN, -1, &NONE, comm, error);
}

reduct_status reduct_mpi_exscan(const reduct_mpi_field *fields, size_t count, MPI_Comm comm, reduct_error *error) {
    return reduce_fields(fields, count, RM_EXSCAN, -1, &NONE, comm, error);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Accumulators
 * ------------------------------------------------------------------------------------------------------------------ */

/* Finds out how many words there are, and the memory. A rank without accumulators could not know: so ranks ask each other before they send. */
static void open_accumulators(struct job *job, reduct_accumulator *const *accumulators, size_t count) {
    reduct_error local = {.status = REDUCT_OK};
    job->all = (struct rm_fields){NULL, accumulators, count};
    if (!accumulators || !count)
        rm_fail(&local, REDUCT_ERROR_ARGUMENT, "accumulators: %s", accumulators ? "none" : "null pointer");
    for (size_t i = 0; local.status == REDUCT_OK && i < count; i++)
        if (!accumulators[i])
            rm_fail(&local, REDUCT_ERROR_ARGUMENT, "accumulators[%zu]: null pointer", i);
    if (local.status == REDUCT_OK)
        rm_message_shape(&job->message, &job->all, &local);
    if (local.status != REDUCT_OK)
        rm_note(&job->failure, 0, &local);
    job->message.asks = true;
}

static reduct_status take_accumulators(struct job *job, enum rm_kind kind, reduct_error *error) {
    reduct_error local;
    if (kind == RM_EXSCAN && job->rank == 0) {
        for (size_t i = 0; i < job->all.count; i++)
            reduct_accumulator_reset(job->all.accumulators[i]);
    } else if (rm_message_status(&job->message, &local) != REDUCT_OK) {
        rm_note(&job->failure, 0, &local);
    } else if (rm_message_unpack(&job->message, job->message.received, &job->all, &local) != REDUCT_OK) {
        rm_note(&job->failure, 0, &local);
    }
    reduct_status status;
    if (kind != RM_ALLREDUCE)
        status = rm_agree(&job->failure, NULL, job->comm, error);
    else if ((status = job->failure.error.status) != REDUCT_OK) /* the same on all ranks */
        rm_fail(error, status, "%s", job->failure.error.message);
    if (status != REDUCT_OK || !job->writes)
        rm_message_unpack(&job->message, job->message.sent, &job->all, NULL); /* as they were */
    return status;
}

static reduct_status reduce_accumulators(reduct_accumulator *const *accumulators, size_t count, enum rm_kind kind,
                                         int root, const struct rm_failure *failure, MPI_Comm comm,
                                         reduct_error *error) {
    struct room room;
    struct job job = {.comm = comm, .room = &room, .failure = *failure};
    reduct_status status = rm_check_communicator(comm, error);
    if (status == REDUCT_OK)
        status = rm_check(MPI_Comm_rank(comm, &job.rank), error);
    if (status != REDUCT_OK)
        return status;
    job.writes = root < 0 || root == job.rank;
    open_accumulators(&job, accumulators, count);
    status = send(&job, kind, error);
    if (status == REDUCT_OK)
        status = take_accumulators(&job, kind, error);
    close_job(&job);
    return status;
}

reduct_status reduct_mpi_allreduce_accumulators(reduct_accumulator *const *accumulators, size_t count, MPI_Comm comm,
                                                reduct_error *error) {
    return reduce_accumulators(accumulators, count, RM_ALLREDUCE, -1, &NONE, comm, error);
}

reduct_status reduct_mpi_reduce_accumulators(reduct_accumulator *const *accumulators, size_t count, int root,
                                             MPI_Comm comm, reduct_error *error) {
    struct rm_failure failure = {0};
    reduct_status status = check_root(root, &failure, comm, error);
    return status == REDUCT_OK ? reduce_accumulators(accumulators, count, RM_ALLREDUCE, root, &failure, comm, error)
                               : status;
}

reduct_status reduct_mpi_scan_accumulators(reduct_accumulator *const *accumulators, size_t count, MPI_Comm comm,
                                           reduct_error *error) {
    return reduce_accumulators(accumulators, count, RM_SCAN, -1, &NONE, comm, error);
}

reduct_status reduct_mpi_exscan_accumulators(reduct_accumulator *const *accumulators, size_t count, MPI_Comm comm,
                                             reduct_error *error) {
    return reduce_accumulators(accumulators, count, RM_EXSCAN, -1, &NONE, comm, error);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------------------------------------------------------ */

static MPI_Op operation_of(reduct_merge merge) {
    switch (merge) {
    case REDUCT_MERGE_LEAST:
        return MPI_MIN;
    case REDUCT_MERGE_AND:
        return MPI_BAND;
    case REDUCT_MERGE_OR:
        return MPI_BOR;
    case REDUCT_MERGE_XOR:
        return MPI_BXOR;
    case REDUCT_MERGE_ADD:
    case REDUCT_MERGE_IN_ORDER:
        break;
    }
    return MPI_SUM;
}

/* Finds out what there is to reduce, and notes what is wrong with it. */
static reduct_status open_words(const reduct_reduction *reduction, int64_t *words, uint64_t rows, MPI_Comm comm,
                                struct rm_table *table, struct rm_failure *failure, reduct_error *error) {
    reduct_words form = {0};
    reduct_error local = {.status = REDUCT_OK};
    reduct_status status = rm_check_communicator(comm, error);
    if (status != REDUCT_OK)
        return status;
    if (reduct_reduction_words(reduction, &form, &local) == REDUCT_OK && form.rest == REDUCT_MERGE_IN_ORDER)
        rm_fail(&local, REDUCT_ERROR_UNSUPPORTED,
                "reduction: its words merge in order; accumulators and tables do that");
    else if (local.status == REDUCT_OK && !words && rows)
        rm_fail(&local, REDUCT_ERROR_ARGUMENT, "words: null pointer");
    if (local.status != REDUCT_OK)
        rm_note(failure, 0, &local);
    *table = (struct rm_table){words, rows, form.count, form.added, operation_of(form.rest), reduction};
    return REDUCT_OK;
}

static reduct_status reduce_words(const reduct_reduction *reduction, int64_t *words, uint64_t rows, enum rm_kind kind,
                                  int root, const struct rm_failure *failure, MPI_Comm comm, reduct_error *error) {
    struct rm_failure own = *failure;
    struct rm_table table;
    reduct_status status = open_words(reduction, words, rows, comm, &table, &own, error);
    return status == REDUCT_OK ? rm_table_reduce(&table, kind, root, &own, NULL, comm, error) : status;
}

/* The words of what holds nothing. */
static void pack_nothing(const reduct_reduction *reduction, int64_t empty[RM_ROW], struct rm_failure *failure) {
    const reduct_accumulator_options options = {.reduction = reduction, .device = "cpu", .threads = 1};
    reduct_accumulator *nothing = NULL;
    reduct_error error;
    if (reduct_accumulator_create(&options, &nothing, &error) != REDUCT_OK ||
        reduct_accumulator_pack(nothing, empty, &error) != REDUCT_OK)
        rm_note(failure, 0, &error);
    reduct_accumulator_destroy(nothing);
}

reduct_status reduct_mpi_allreduce_words(const reduct_reduction *reduction, int64_t *words, uint64_t rows,
                                         MPI_Comm comm, reduct_error *error) {
    return reduce_words(reduction, words, rows, RM_ALLREDUCE, -1, &NONE, comm, error);
}

reduct_status reduct_mpi_reduce_words(const reduct_reduction *reduction, int64_t *words, uint64_t rows, int root,
                                      MPI_Comm comm, reduct_error *error) {
    struct rm_failure failure = {0};
    reduct_status status = check_root(root, &failure, comm, error);
    return status == REDUCT_OK ? reduce_words(reduction, words, rows, RM_ALLREDUCE, root, &failure, comm, error)
                               : status;
}

reduct_status reduct_mpi_scan_words(const reduct_reduction *reduction, int64_t *words, uint64_t rows, MPI_Comm comm,
                                    reduct_error *error) {
    return reduce_words(reduction, words, rows, RM_SCAN, -1, &NONE, comm, error);
}

reduct_status reduct_mpi_exscan_words(const reduct_reduction *reduction, int64_t *words, uint64_t rows, MPI_Comm comm,
                                      reduct_error *error) {
    int64_t empty[RM_ROW];
    struct rm_failure failure = {0};
    struct rm_table table;
    int rank = 0;
    reduct_status status = open_words(reduction, words, rows, comm, &table, &failure, error);
    if (status == REDUCT_OK)
        status = rm_check(MPI_Comm_rank(comm, &rank), error);
    if (status == REDUCT_OK && rank == 0)
        pack_nothing(reduction, empty, &failure);
    if (status == REDUCT_OK)
        status = rm_table_reduce(&table, RM_EXSCAN, -1, &failure, NULL, comm, error);
    for (size_t r = 0; status == REDUCT_OK && rank == 0 && r < table.rows; r++)
        memcpy(words + r * table.width, empty, table.width * sizeof *empty);
    return status;
}

reduct_status reduct_mpi_allreduce_table(reduct_table *table, MPI_Comm comm, reduct_error *error) {
    reduct_status status = rm_check_communicator(comm, error);
    return status == REDUCT_OK ? rm_groups_reduce(table, RM_ALLREDUCE, -1, &NONE, comm, error) : status;
}

reduct_status reduct_mpi_reduce_table(reduct_table *table, int root, MPI_Comm comm, reduct_error *error) {
    struct rm_failure failure = {0};
    reduct_status status = check_root(root, &failure, comm, error);
    return status == REDUCT_OK ? rm_groups_reduce(table, RM_ALLREDUCE, root, &failure, comm, error) : status;
}

reduct_status reduct_mpi_scan_table(reduct_table *table, MPI_Comm comm, reduct_error *error) {
    reduct_status status = rm_check_communicator(comm, error);
    return status == REDUCT_OK ? rm_groups_reduce(table, RM_SCAN, -1, &NONE, comm, error) : status;
}

reduct_status reduct_mpi_exscan_table(reduct_table *table, MPI_Comm comm, reduct_error *error) {
    reduct_status status = rm_check_communicator(comm, error);
    return status == REDUCT_OK ? rm_groups_reduce(table, RM_EXSCAN, -1, &NONE, comm, error) : status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * All-reduces under way
 * ------------------------------------------------------------------------------------------------------------------ */

/* What is reduced. Of fields there are reports; for the others ranks have agreed before. */
enum what { FIELDS, ACCUMULATORS, WORDS, TABLE };

struct reduct_mpi_request {
    enum what what;
    MPI_Request requests[RM_CALLS + 1];
    int count;
    union {
        struct {
            struct job job;
            struct room room;
            MPI_Op merge_reports;
            MPI_Datatype report;
        };
        struct rm_table_request words;
        struct rm_groups groups;
    };
};

/* Lets the message and the report go. */
static reduct_status begin(struct reduct_mpi_request *request, reduct_error *error) {
    struct job *job = &request->job;
    size_t size = rm_report_size(job->all.count);
    const struct rm_plan plan = rm_plan_of(&job->all, job->message.signature);
    rm_report_fill(job->sent, &job->failure, job->fields, &plan, job->rank);
    rm_message_pack(&job->message, &job->all, job->failure.error.status != REDUCT_OK);
    reduct_status status = rm_message_begin(&job->message, job->comm, request->requests, &request->count, error);
    if (status != REDUCT_OK)
        return status;
    int code = MPI_Op_create(rm_report_merge, 0, &request->merge_reports);
    if (code == MPI_SUCCESS)
        code = MPI_Type_contiguous((int)size, MPI_BYTE, &request->report);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&request->report);
    if (code == MPI_SUCCESS)
        code = MPI_Iallreduce(job->sent, job->received, 1, request->report, request->merge_reports, job->comm,
                              &request->requests[request->count++]);
    return rm_check(code, error);
}

static reduct_status end_accumulators(struct reduct_mpi_request *request, int code, reduct_error *error) {
    struct job *job = &request->job;
    reduct_status status = rm_check(code, error);
    rm_message_end(&job->message);
    if (status == REDUCT_OK)
        status = take_accumulators(job, RM_ALLREDUCE, error);
    close_job(job);
    return status;
}

static reduct_status end_fields(struct reduct_mpi_request *request, int code, reduct_error *error) {
    struct job *job = &request->job;
    reduct_status status = rm_check(code, error);
    rm_message_end(&job->message);
    MPI_Type_free(&request->report);
    MPI_Op_free(&request->merge_reports);
    if (status == REDUCT_OK)
        status = rm_report_status(job->received, error);
    if (status == REDUCT_OK)
        status = rm_message_status(&job->message, error);
    if (status == REDUCT_OK)
        status = take_fields(job, false, error);
    if (status == REDUCT_OK)
        status = finish_fields(job, true, error);
    close_job(job);
    return status;
}

static reduct_status end(struct reduct_mpi_request *request, reduct_error *error) {
    MPI_Status
        statuses[RM_CALLS + 1]; /* of which nothing is wanted, but compilers take MPICH's way to say so for an array */
    const int code = MPI_Waitall(request->count, request->requests, statuses);
    switch (request->what) {
    case ACCUMULATORS:
        return end_accumulators(request, code, error);
    case WORDS:
        return rm_table_end(&request->words, code, error);
    case TABLE:
        return rm_groups_end(&request->groups, code, error);
    case FIELDS:
        break;
    }
    return end_fields(request, code, error);
}

static reduct_status start(struct reduct_mpi_request *request, const reduct_mpi_field *fields, size_t count,
                           const struct rm_failure *failure, MPI_Comm comm, reduct_error *error) {
    struct job *job = &request->job;
    request->count = 0;
    request->what = FIELDS;
    *job = (struct job){.comm = comm, .room = &request->room, .writes = true, .failure = *failure};
    reduct_status status = rm_check(MPI_Comm_rank(comm, &job->rank), error);
    if (status == REDUCT_OK)
        status = open_later(job, fields, count, error);
    if (status == REDUCT_OK)
        status = begin(request, error);
    if (status != REDUCT_OK)
        close_job(job);
    return status;
}

/* Null, and a failure is noted, where there is no memory, or no place for it. */
static struct reduct_mpi_request *make_request(reduct_mpi_request **request, struct rm_failure *failure) {
    struct reduct_mpi_request *made = request ? malloc(sizeof *made) : NULL;
    reduct_error local;
    if (!request) {
        rm_fail(&local, REDUCT_ERROR_ARGUMENT, "request: null pointer");
        rm_note(failure, 0, &local);
    } else if (!made) {
        rm_note_no_memory(failure, sizeof *made);
    }
    return made;
}

reduct_status reduct_mpi_iallreduce(const reduct_mpi_field *fields, size_t count, MPI_Comm comm,
                                    reduct_mpi_request **request, reduct_error *error) {
    reduct_status status = check_count(count, comm, error);
    if (status != REDUCT_OK)
        return status;
    struct rm_failure failure = {0};
    struct reduct_mpi_request *made = make_request(request, &failure), here;
    status = start(made ? made : &here, fields, count, &failure, comm, error);
    if (status == REDUCT_OK && !made) /* the others learn that this rank cannot go on: it waits for them here */
        status = end(&here, error);
    if (status != REDUCT_OK)
        free(made);
    else
        *request = made;
    return status;
}

reduct_status reduct_mpi_iallreduce_accumulators(reduct_accumulator *const *accumulators, size_t count, MPI_Comm comm,
                                                 reduct_mpi_request **request, reduct_error *error) {
    reduct_status status = rm_check_communicator(comm, error);
    if (status != REDUCT_OK)
        return status;
    struct rm_failure failure = {0};
    struct reduct_mpi_request *made = make_request(request, &failure), here, *used = made ? made : &here;
    struct job *job = &used->job;
    used->count = 0;
    used->what = ACCUMULATORS;
    *job = (struct job){.comm = comm, .room = &used->room, .writes = true, .failure = failure};
    open_accumulators(job, accumulators, count);
    find_words(job);
    const struct rm_plan plan = rm_plan_of(&job->all, job->message.signature);
    status = rm_poll(&job->failure, &plan, NULL, NULL, comm, error);
    if (status == REDUCT_OK) {
        rm_message_pack(&job->message, &job->all, false);
        status = rm_message_begin(&job->message, comm, used->requests, &used->count, error);
    }
    if (status == REDUCT_OK) {
        *request = made;
        return REDUCT_OK;
    }
    close_job(job);
    free(made);
    return status;
}

/* Where a table could not be begun the request is of no use. */
static reduct_status hand_over(struct reduct_mpi_request *made, reduct_status status, reduct_mpi_request **request) {
    if (status == REDUCT_OK)
        *request = made; /* a rank without one has failed, and so have all */
    else
        free(made);
    return status;
}

reduct_status reduct_mpi_iallreduce_words(const reduct_reduction *reduction, int64_t *words, uint64_t rows,
                                          MPI_Comm comm, reduct_mpi_request **request, reduct_error *error) {
    struct rm_failure failure = {0};
    struct rm_table table;
    reduct_status status = open_words(reduction, words, rows, comm, &table, &failure, error);
    if (status != REDUCT_OK)
        return status;
    struct reduct_mpi_request *made = make_request(request, &failure), here, *used = made ? made : &here;
    used->what = WORDS;
    status = rm_table_begin(&used->words, &table, &failure, comm, used->requests, &used->count, error);
    return hand_over(made, status, request);
}

reduct_status reduct_mpi_iallreduce_table(reduct_table *table, MPI_Comm comm, reduct_mpi_request **request,
                                          reduct_error *error) {
    reduct_status status = rm_check_communicator(comm, error);
    if (status != REDUCT_OK)
        return status;
    struct rm_failure failure = {0};
    struct reduct_mpi_request *made = make_request(request, &failure), here, *used = made ? made : &here;
    used->what = TABLE;
    status = rm_groups_begin(&used->groups, table, &failure, comm, used->requests, &used->count, error);
    return hand_over(made, status, request);
}

reduct_status reduct_mpi_wait(reduct_mpi_request *request, reduct_error *error) {
    if (!request)
        return rm_fail(error, REDUCT_ERROR_ARGUMENT, "request: null pointer");
    reduct_status status = end(request, error);
    free(request);
    return status;
}

reduct_status reduct_mpi_test(reduct_mpi_request *request, int *done, reduct_error *error) {
    if (!request || !done)
        return rm_fail(error, REDUCT_ERROR_ARGUMENT, "%s: null pointer", request ? "done" : "request");
    for (int i = 0; i < request->count; i++) {
        int one = 0;
        reduct_status status = rm_check(MPI_Request_get_status(request->requests[i], &one, MPI_STATUS_IGNORE), error);
        if (status != REDUCT_OK)
            return status;
        if (!one) {
            *done = 0;
            return REDUCT_OK;
        }
    }
    *done = 1;
    return REDUCT_OK;
}
