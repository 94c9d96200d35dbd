/* Failures that all ranks must learn of. A rank that fails goes on taking part in what all do, with a message that says so; then
 * all find out here which rank is the first that failed, and what it has to say. */
#ifndef RM_AGREE_H
#define RM_AGREE_H

#include <reduct/mpi.h>

#include <stdbool.h>

/* What failed on this rank: status REDUCT_OK if nothing did. */
struct rm_failure {
    size_t field; /* that it was found in */
    reduct_error error;
};

/* Fills `error`, where there is one, and returns `status`. */
reduct_status rm_fail(reduct_error *error, reduct_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Says first which one of several it was: "fields[2]: ...". `array` is what the caller knows them by. */
void rm_name_item(reduct_error *error, const char *array, size_t item, size_t count);

/* Notes a failure, unless there was one before. */
void rm_note(struct rm_failure *failure, size_t field, const reduct_error *error);

/* The same of so many bytes that could not be allocated. */
void rm_note_no_memory(struct rm_failure *failure, uint64_t bytes);

/* What ranks are about to do, which has to be the same on all: how many of something, and reductions. */
struct rm_plan {
    uint64_t signature; /* stands for all of it */
    const char *counted;
    uint64_t number;
    const char *name; /* of the reductions: of an array, or of the only one */
    bool is_array;
    size_t count;
    reduct_reduction (*reduction)(const void *what, size_t i);
    const void *what;
};

/* Which reduction it is, as far as merging must know, in one word; and from such a word. */
int64_t rm_describe(const reduct_reduction *reduction);
reduct_reduction rm_described(int64_t word);

/* Where plans are not the same on all ranks: says which rank is the first that has another one than rank 0, and what differs. Collective. */
reduct_status rm_mismatch(const struct rm_plan *plan, MPI_Comm comm, reduct_error *error);

/* What MPI returned, as a status. */
reduct_status rm_check(int code, reduct_error *error);

/* Whether a communicator is one that reductions are for: ranks of one group. */
reduct_status rm_check_communicator(MPI_Comm comm, reduct_error *error);

/* Finds out what the first rank that failed found, and returns that on all ranks; REDUCT_OK where none did. `fields` tell how
 * many elements come before those of a rank; null where no failure has an index, and on a rank that has none. Collective. */
reduct_status rm_agree(const struct rm_failure *failure, const reduct_mpi_field *fields, MPI_Comm comm,
                       reduct_error *error);

/* Bits that ranks tell each other while they look: one for each word of a row. */
enum { RM_ROW = 512, RM_BITS = RM_ROW / 64 };

/* A quick look whether all is well on all ranks, and whether they are about to do the same; if not, what rm_agree() or rm_mismatch()
 * says. Where all is well, `bits` become those that any rank has set; null, on all ranks or none, where there is nothing
 * to tell. Collective. */
reduct_status rm_poll(const struct rm_failure *failure, const struct rm_plan *plan, uint64_t bits[RM_BITS],
                      const reduct_mpi_field *fields, MPI_Comm comm, reduct_error *error);

/* ---------------------------------------------------------------------------------------------------------------------
 * The same in one all-reduce, for those that are begun and waited for later
 * ------------------------------------------------------------------------------------------------------------------ */

/* What some ranks in a row found, by the first of them that failed. */
struct rm_report {
    int64_t rank; /* it, or -1 if none did */
    int64_t status;
    uint64_t field, index; /* the index among the elements of all these ranks */
    char message[240];
    int64_t first; /* of these ranks, */
    int64_t other; /* and the first of them that has another reduction than that one, or -1; */
    uint64_t item; /* of this field */
    int64_t differs;
    uint64_t fields;
    uint64_t words[]; /* of each field the elements of all these ranks; then of each the reduction of the first */
};

size_t rm_report_size(size_t fields);

void rm_report_fill(struct rm_report *report, const struct rm_failure *failure, const reduct_mpi_field *fields,
                    const struct rm_plan *plan, int rank);

/* Merges, as an MPI operation, reports of ranks in order. */
void rm_report_merge(void *first, void *second, int *count, MPI_Datatype *type);

/* What it says in the end. */
reduct_status rm_report_status(const struct rm_report *report, reduct_error *error);

#endif
