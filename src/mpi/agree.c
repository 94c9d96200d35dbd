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

/* ---------------------------------------------------------------------------------------------------------------------
 * What ranks are about to do
 * ------------------------------------------------------------------------------------------------------------------ */

int64_t rm_describe(const reduct_reduction *reduction) {
    return (int64_t)((uint64_t)reduction->op | (uint64_t)reduction->element << 8 | (uint64_t)reduction->mode << 16 |
                     (uint64_t)reduction->nan << 24 | (uint64_t)reduction->flags << 32);
}

reduct_reduction rm_described(int64_t word) {
    uint64_t bits = (uint64_t)word;
    return (reduct_reduction){.op = (reduct_operator)(bits & 255),
                              .element = (reduct_type)(bits >> 8 & 255),
                              .mode = (reduct_mode)(bits >> 16 & 255),
                              .nan = (reduct_nan)(bits >> 24 & 255),
                              .flags = (uint32_t)(bits >> 32)};
}

/* Room for a reduction in words, and for what differs. */
enum { WORDS = 80, DIFFERS = 240 };

static const char *in_words(int64_t word, char text[WORDS]) {
    const reduct_reduction reduction = rm_described(word);
    const char *op = reduct_operator_name(reduction.op), *type = reduct_type_name(reduction.element),
               *mode = reduction.mode ? reduct_mode_name(reduction.mode) : NULL,
               *nan = reduction.nan ? reduct_nan_name(reduction.nan) : NULL;
    snprintf(text, WORDS, "%s of %s%s%s%s%s%s%s", op ? op : "nothing", type ? type : "nothing", mode ? ", mode " : "",
             mode ? mode : "", nan ? ", nan " : "", nan ? nan : "",
             reduction.flags & REDUCT_POPULATION ? ", population" : "", reduction.flags & REDUCT_WRAP ? ", wrap" : "");
    return text;
}

static void say_reductions(const char *name, bool is_array, size_t i, int64_t mine, int64_t first, char text[DIFFERS]) {
    char here[WORDS], there[WORDS], index[32] = "";
    if (is_array)
        snprintf(index, sizeof index, "[%zu]", i);
    snprintf(text, DIFFERS, "%s%s: %s; expected %s, as on rank 0", name, index, in_words(mine, here),
             in_words(first, there));
}

/* Finds what a rank has otherwise than rank 0, which tells of some of its reductions at a time. */
static int compare(const struct rm_plan *plan, int rank, MPI_Comm comm, bool *differs, char text[DIFFERS]) {
    enum { SOME = 512 };
    uint64_t sizes[2] = {plan->number, plan->count};
    int64_t words[SOME];
    int code = MPI_Bcast(sizes, 2, MPI_UINT64_T, 0, comm);
    *differs = code == MPI_SUCCESS && sizes[0] != plan->number;
    if (*differs)
        snprintf(text, DIFFERS, "%s: %llu; expected %llu, as on rank 0", plan->counted,
                 (unsigned long long)plan->number, (unsigned long long)sizes[0]);
    for (size_t done = 0, some; done < sizes[1] && code == MPI_SUCCESS; done += some) {
        some = sizes[1] - done < SOME ? (size_t)(sizes[1] - done) : SOME;
        for (size_t i = 0; i < some && rank == 0; i++) {
            const reduct_reduction reduction = plan->reduction(plan->what, done + i);
            words[i] = rm_describe(&reduction);
        }
        code = MPI_Bcast(words, (int)some, MPI_INT64_T, 0, comm);
        for (size_t i = 0; i < some && done + i < plan->count && !*differs && code == MPI_SUCCESS; i++) {
            const reduct_reduction reduction = plan->reduction(plan->what, done + i);
            *differs = rm_describe(&reduction) != words[i];
            if (*differs)
                say_reductions(plan->name, plan->is_array, done + i, rm_describe(&reduction), words[i], text);
        }
    }
    return code;
}

reduct_status rm_mismatch(const struct rm_plan *plan, MPI_Comm comm, reduct_error *error) {
    int rank, first = INT_MAX;
    bool differs = false;
    char text[DIFFERS] = "";
    int code = MPI_Comm_rank(comm, &rank);
    if (code == MPI_SUCCESS)
        code = compare(plan, rank, comm, &differs, text);
    const int mine = differs ? rank : INT_MAX;
    if (code == MPI_SUCCESS)
        code = MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    if (code == MPI_SUCCESS && first != INT_MAX)
        code = MPI_Bcast(text, sizeof text, MPI_BYTE, first, comm);
    if (code != MPI_SUCCESS)
        return rm_check(code, error);
    if (first == INT_MAX) /* what differs is no part of the plan */
        return rm_fail(error, REDUCT_ERROR_MISMATCH, "reductions: not the same on all ranks");
    return say(error, first, REDUCT_ERROR_MISMATCH, UINT64_MAX, text);
}

reduct_status rm_poll(const struct rm_failure *failure, const struct rm_plan *plan, uint64_t bits[RM_BITS],
                      const reduct_mpi_field *fields, MPI_Comm comm, reduct_error *error) {
    const uint64_t signature = plan->signature;
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
        return rm_mismatch(plan, comm, error);
    if (bits)
        memcpy(bits, all + 3, RM_BITS * sizeof *bits);
    return REDUCT_OK;
}

size_t rm_report_size(size_t fields) {
    return sizeof(struct rm_report) + 2 * fields * sizeof(uint64_t);
}

void rm_report_fill(struct rm_report *report, const struct rm_failure *failure, const reduct_mpi_field *fields,
                    const struct rm_plan *plan, int rank) {
    bool failed = failure->error.status != REDUCT_OK;
    *report = (struct rm_report){.rank = failed ? rank : -1,
                                 .status = failure->error.status,
                                 .field = failure->field,
                                 .index = failure->error.index,
                                 .first = rank,
                                 .other = -1,
                                 .fields = plan->count};
    memcpy(report->message, failure->error.message, sizeof report->message);
    for (size_t i = 0; i < plan->count; i++) {
        const reduct_reduction reduction = plan->reduction(plan->what, i);
        report->words[i] = fields ? fields[i].count : 0;
        report->words[plan->count + i] = (uint64_t)rm_describe(&reduction);
    }
}

/* Which of all these ranks is the first that has another reduction than the first one. */
static void merge_other(const struct rm_report *first, struct rm_report *second) {
    const uint64_t *a = first->words + first->fields;
    uint64_t *b = second->words + second->fields;
    uint64_t i = 0;
    while (i < second->fields && a[i] == b[i])
        i++;
    if (first->other >= 0) {
        second->other = first->other;
        second->item = first->item;
        second->differs = first->differs;
    } else if (i < second->fields) {
        second->other = second->first;
        second->item = i;
        second->differs = (int64_t)b[i];
    }
    memcpy(b, a, second->fields * sizeof *b);
    second->first = first->first;
}

static void merge_report(const struct rm_report *first, struct rm_report *second) {
    merge_other(first, second);
    if (first->rank >= 0) {
        second->rank = first->rank;
        second->status = first->status;
        second->field = first->field;
        second->index = first->index;
        memcpy(second->message, first->message, sizeof second->message);
    } else if (second->rank >= 0 && second->index != UINT64_MAX) {
        second->index += first->words[second->field];
    }
    for (uint64_t i = 0; i < second->fields; i++)
        second->words[i] += first->words[i];
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
    char text[DIFFERS];
    if (report->rank >= 0)
        return say(error, (int)report->rank, (reduct_status)report->status, report->index, report->message);
    if (report->other < 0)
        return REDUCT_OK;
    say_reductions("fields", true, (size_t)report->item, report->differs,
                   (int64_t)report->words[report->fields + report->item], text);
    return say(error, (int)report->other, REDUCT_ERROR_MISMATCH, UINT64_MAX, text);
}
