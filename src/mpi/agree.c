/* Failures that all ranks must learn of: see agree.h. */
#include "mpi/agree.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

reduct_status rm_fail(reduct_error *error, reduct_status status, const char *format, ...) {
    if (!error)
        return status;
    va_list arguments;
    va_start(arguments, format);
    *error = (reduct_error){.status = status, .index = UINT64_MAX};
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

void rm_name_item(reduct_error *error, const char *array, size_t item, size_t count) {
    reduct_error own;
    if (!error || count < 2)
        return;
    own = *error;
    snprintf(error->message, sizeof error->message, "%s[%zu]: %.180s", array, item, own.message);
}

void rm_note(struct rm_failure *failure, size_t field, const reduct_error *error) {
    if (failure->error.status == REDUCT_OK)
        *failure = (struct rm_failure){field, *error};
}

void rm_note_no_memory(struct rm_failure *failure, uint64_t bytes) {
    reduct_error error;
    rm_fail(&error, REDUCT_ERROR_OUT_OF_MEMORY, "%llu bytes could not be allocated", (unsigned long long)bytes);
    rm_note(failure, 0, &error);
}

reduct_status rm_mismatch(reduct_error *error) {
    return rm_fail(error, REDUCT_ERROR_MISMATCH, "reductions: not the same on all ranks");
}

reduct_status rm_check(int code, reduct_error *error) {
    if (code == MPI_SUCCESS)
        return REDUCT_OK;
    char text[MPI_MAX_ERROR_STRING] = "unknown";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return rm_fail(error, REDUCT_ERROR_DEVICE_LOST, "MPI: %.200s", text);
}

reduct_status rm_check_communicator(MPI_Comm comm, reduct_error *error) {
    int between = 0;
    if (comm == MPI_COMM_NULL)
        return rm_fail(error, REDUCT_ERROR_ARGUMENT, "comm: null communicator");
    reduct_status status = rm_check(MPI_Comm_test_inter(comm, &between), error);
    if (between)
        return rm_fail(error, REDUCT_ERROR_UNSUPPORTED, "comm: is between two groups of ranks; expected one group");
    return status;
}

/* What a rank found, as all ranks say it. */
static reduct_status say(reduct_error *error, int rank, reduct_status status, uint64_t index, const char *message) {
    if (index == UINT64_MAX)
        rm_fail(error, status, "rank %d: %.200s", rank, message);
    else
        rm_fail(error, status, "rank %d: %.180s there, %llu of all", rank, message, (unsigned long long)index);
    if (error)
        error->index = index;
    return status;
}

/* What is sent of a failure. */
struct record {
    int64_t status;
    uint64_t field, index;
    char message[240];
};

reduct_status rm_agree(const struct rm_failure *failure, const reduct_mpi_field *fields, MPI_Comm comm,
                       reduct_error *error) {
    int rank, first;
    int code = MPI_Comm_rank(comm, &rank), mine = failure->error.status == REDUCT_OK ? INT_MAX : rank;
    if (code == MPI_SUCCESS)
        code = MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    if (code != MPI_SUCCESS)
        return rm_check(code, error);
    if (first == INT_MAX)
        return REDUCT_OK;
    struct record record = {.status = failure->error.status, .field = failure->field, .index = failure->error.index};
    memcpy(record.message, failure->error.message, sizeof record.message);
    code = MPI_Bcast(&record, sizeof record, MPI_BYTE, first, comm);
    if (code == MPI_SUCCESS && record.index != UINT64_MAX) {
        uint64_t own = fields && rank < first ? fields[record.field].count : 0, before = 0;
        code = MPI_Allreduce(&own, &before, 1, MPI_UINT64_T, MPI_SUM, comm);
        record.index += before;
    }
    if (code != MPI_SUCCESS)
        return rm_check(code, error);
    return say(error, first, (reduct_status)record.status, record.index, record.message);
}

reduct_status rm_poll(const struct rm_failure *failure, uint64_t signature, uint64_t bits[RM_BITS],
                      const reduct_mpi_field *fields, MPI_Comm comm, reduct_error *error) {
    /* No bit is set both in some signature and in the complement of another only if all signatures are alike. */
    uint64_t own[3 + RM_BITS] = {failure->error.status != REDUCT_OK, signature, ~signature}, all[3 + RM_BITS] = {0};
    if (bits)
        memcpy(own + 3, bits, RM_BITS * sizeof *bits);
    int code = MPI_Allreduce(own, all, bits ? 3 + RM_BITS : 3, MPI_UINT64_T, MPI_BOR, comm);
    if (code != MPI_SUCCESS)
        return rm_check(code, error);
    if (all[0])
        return rm_agree(failure, fields, comm, error);
    if (all[1] & all[2])
        return rm_mismatch(error);
    if (bits)
        memcpy(bits, all + 3, RM_BITS * sizeof *bits);
    return REDUCT_OK;
}

size_t rm_report_size(size_t fields) {
    return sizeof(struct rm_report) + fields * sizeof(uint64_t);
}

void rm_report_fill(struct rm_report *report, const struct rm_failure *failure, const reduct_mpi_field *fields,
                    size_t count, int rank) {
    bool failed = failure->error.status != REDUCT_OK;
    *report = (struct rm_report){.rank = failed ? rank : -1,
                                 .status = failure->error.status,
                                 .field = failure->field,
                                 .index = failure->error.index,
                                 .fields = count};
    memcpy(report->message, failure->error.message, sizeof report->message);
    for (size_t i = 0; i < count; i++)
        report->counts[i] = fields ? fields[i].count : 0;
}

static void merge_report(const struct rm_report *first, struct rm_report *second) {
    if (first->rank >= 0) {
        memcpy(second, first, sizeof *first);
    } else if (second->rank >= 0 && second->index != UINT64_MAX) {
        second->index += first->counts[second->field];
    }
    for (uint64_t i = 0; i < second->fields; i++)
        second->counts[i] += first->counts[i];
}

void rm_report_merge(void *first, void *second, int *count, MPI_Datatype *type) {
    (void)type; /* one report in bytes */
    for (int i = 0; i < *count; i++) {
        const struct rm_report *a = first;
        struct rm_report *b = second;
        size_t size = rm_report_size(a->fields);
        merge_report(a, b);
        first = (char *)first + size;
        second = (char *)second + size;
    }
}

reduct_status rm_report_status(const struct rm_report *report, reduct_error *error) {
    if (report->rank < 0)
        return REDUCT_OK;
    return say(error, (int)report->rank, (reduct_status)report->status, report->index, report->message);
}
