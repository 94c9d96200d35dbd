/* reduct with MPI: arrays that are spread over the ranks of a communicator, reduced exactly.
 *
 * Every rank gives its part, and in the order of the ranks the parts are one array, however long each is, none included. The
 * results are those of one rank that has it all, to the last bit: MPI adds integers, the words of accumulators (see
 * reduct_accumulator_pack()), which do not depend on how it does so. Mode fast depends on the parts, within its error bound.
 * Products of floats are refused, because what some parts come to does not say what they do in another place.
 *
 *     reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
 *     double total;
 *     reduct_mpi_field field = {.reduction = &sum, .x = values, .count = count, .result = &total};
 *     status = reduct_mpi_allreduce(&field, 1, MPI_COMM_WORLD, &error);
 *
 * All functions but reduct_mpi_wait() and reduct_mpi_test() are collective: all ranks of the communicator call them, in the same
 * order, with the same reductions, as many fields and the same root. Whatever one of them has wrong, a null pointer, a root that is no
 * rank, a reduction that is refused, a NaN, memory that runs out, is no reason for it to stay away: all ranks return the same status, the
 * same index, that of an element of the whole array, and the same message, which names the first rank that failed, and the field if there are several. Outputs are then
 * untouched on all of them. Reductions that are not the same on all ranks are REDUCT_ERROR_MISMATCH, and so are counts and rows that have to be; the message
 * names the first rank that differs from rank 0, and what it has. How many fields there are, and which communicator, ranks must agree on.
 *
 * MPI's own failures end the program, unless the communicator's error handler is another: then they are REDUCT_ERROR_DEVICE_LOST
 * on the ranks that see them. A program may hold any number of communicators, each of one group (those between two groups are
 * REDUCT_ERROR_UNSUPPORTED); the functions are as safe among threads as the MPI
 * library that was initialised. Compile and link it with mpicc; libreduct_mpi is built for one MPI library, of which its name
 * tells.
 */
#ifndef REDUCT_MPI_H
#define REDUCT_MPI_H

#include <reduct/reduct.h>

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef REDUCT_MPI_API
#define REDUCT_MPI_API __attribute__((visibility("default")))
#endif

/* A reduction of an array that is spread over ranks. Zero-initialise it, then set what matters. */
typedef struct reduct_mpi_field {
    const reduct_reduction *reduction; /* the same on all ranks */
    const void *x, *y;                 /* this rank's part; y of operators that read two arrays, otherwise null */
    uint64_t count;                    /* of elements in it, on each rank another if need be */
    void *result;                      /* where the result goes, of the reduction's result type */
    const char *device;                /* as in reduct_accumulator_options; null: where x lies */
    uint64_t reserved[4];              /* zero */
} reduct_mpi_field;

/* Reduces each of the fields over all ranks, with one all-reduce for all of them; every rank gets all results. That one is a short
 * message, whose length depends on the number of fields alone, as a rank whose `fields` are null takes part, too. Sums of all types have
 * room in it (292 at most), and products of f64, as in dot and norm2, where there are few fields; it does unless a rank's sum of f64
 * has bits below 2^-128 or above 2^64, of products below 2^-256 or above 2^128 (f32: 2^-96 and 2^96, 2^-192 and 2^192), or a rank's
 * elements are infinite, NaN, left out or all -0, or 2^32 of them and more. Otherwise there is one all-reduce more, as there is for what does
 * not add, such as extremes. Before one of more than 2048 words (as reduct_reduction_words() says) comes a small one. Fails with
 * REDUCT_ERROR_ARGUMENT, _UNSUPPORTED, _MISMATCH, _NO_DEVICE, _DEVICE_LOST, _OUT_OF_MEMORY, _TOO_LARGE, _EMPTY, _OVERFLOW or _NAN. */
REDUCT_MPI_API reduct_status reduct_mpi_allreduce(const reduct_mpi_field *fields, size_t count, MPI_Comm comm,
                                                  reduct_error *error);

/* Takes part in a reduct_mpi_allreduce() of so many fields, in the place of it, as a rank that has failed already and so has no fields: no other rank waits
 * for it, and all return what the first rank that failed found; `reason`, if that is this one. */
REDUCT_MPI_API reduct_status reduct_mpi_allreduce_failed(const reduct_error *reason, size_t count, MPI_Comm comm,
                                                         reduct_error *error);

/* A reduct_mpi_allreduce() with results for rank `root` alone; others' `result` may be null. It takes as long, since all ranks learn of
 * errors. */
REDUCT_MPI_API reduct_status reduct_mpi_reduce(const reduct_mpi_field *fields, size_t count, int root, MPI_Comm comm,
                                               reduct_error *error);

/* The same with results of the parts up to and with each rank's own; where one of them fails, all ranks do. Ranks ask each other before, and
 * after. */
REDUCT_MPI_API reduct_status reduct_mpi_scan(const reduct_mpi_field *fields, size_t count, MPI_Comm comm,
                                             reduct_error *error);

/* The same of the parts before each rank's own: rank 0 gets the result of nothing. */
REDUCT_MPI_API reduct_status reduct_mpi_exscan(const reduct_mpi_field *fields, size_t count, MPI_Comm comm,
                                               reduct_error *error);

/* The same for accumulators: in the place of what each held comes what all ranks' hold together. The reductions are those of the
 * accumulators, the same on all ranks. Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED, _DEVICE_LOST, _OUT_OF_MEMORY or _TOO_LARGE
 * (more than 2^63 elements in all). */
REDUCT_MPI_API reduct_status reduct_mpi_allreduce_accumulators(reduct_accumulator *const *accumulators, size_t count,
                                                               MPI_Comm comm, reduct_error *error);
REDUCT_MPI_API reduct_status reduct_mpi_reduce_accumulators(reduct_accumulator *const *accumulators, size_t count,
                                                            int root, MPI_Comm comm, reduct_error *error);
REDUCT_MPI_API reduct_status reduct_mpi_scan_accumulators(reduct_accumulator *const *accumulators, size_t count,
                                                          MPI_Comm comm, reduct_error *error);
REDUCT_MPI_API reduct_status reduct_mpi_exscan_accumulators(reduct_accumulator *const *accumulators, size_t count,
                                                            MPI_Comm comm, reduct_error *error);

/* The same for tables of accumulators (reduct_table): in the place of what each group held comes what that group holds on all ranks
 * together, in their order; argmin and argmax tell places in all that the ranks' tables were given. The reductions are the same on all
 * ranks, and group g means the same everywhere; tables with fewer groups get as many as the largest one has. Ranks first tell each other
 * in which range of bits the groups of each 4096 lie; a group's sum then takes one word of a message, or a few, and those that range far
 * more widely than others go apart. Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED, _MISMATCH (other reductions), _TOO_LARGE (more than
 * 2^63 elements in all), _DEVICE_LOST or _OUT_OF_MEMORY; what the tables held is then as it was, but there may be more groups that hold
 * nothing, and of _DEVICE_LOST the table is of no use until it is reset. */
REDUCT_MPI_API reduct_status reduct_mpi_allreduce_table(reduct_table *table, MPI_Comm comm, reduct_error *error);
REDUCT_MPI_API reduct_status reduct_mpi_reduce_table(reduct_table *table, int root, MPI_Comm comm, reduct_error *error);
REDUCT_MPI_API reduct_status reduct_mpi_scan_table(reduct_table *table, MPI_Comm comm, reduct_error *error);
REDUCT_MPI_API reduct_status reduct_mpi_exscan_table(reduct_table *table, MPI_Comm comm, reduct_error *error);

/* The same for tables of words, as they are made elsewhere: `rows` times the words of an accumulator of the reduction, one after
 * another, are merged in place with those of the other ranks. A small exchange comes first, of which words are zero everywhere: these
 * are not sent. Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED (also of words that merge in order), _MISMATCH (other rows or reductions),
 * _DEVICE_LOST or _OUT_OF_MEMORY. */
REDUCT_MPI_API reduct_status reduct_mpi_allreduce_words(const reduct_reduction *reduction, int64_t *words,
                                                        uint64_t rows, MPI_Comm comm, reduct_error *error);
REDUCT_MPI_API reduct_status reduct_mpi_reduce_words(const reduct_reduction *reduction, int64_t *words, uint64_t rows,
                                                     int root, MPI_Comm comm, reduct_error *error);
REDUCT_MPI_API reduct_status reduct_mpi_scan_words(const reduct_reduction *reduction, int64_t *words, uint64_t rows,
                                                   MPI_Comm comm, reduct_error *error);
REDUCT_MPI_API reduct_status reduct_mpi_exscan_words(const reduct_reduction *reduction, int64_t *words, uint64_t rows,
                                                     MPI_Comm comm, reduct_error *error);

/* Sums arrays element by element, as MPI_Allreduce() does with MPI_SUM, but exactly: results[i] is the sum of x[i] of all ranks,
 * rounded once. `type` is REDUCT_F64 or REDUCT_F32; `count` is the same on all ranks; results may be where x is. An element takes
 * 8 or 16 bytes of a message where the 4096 that it lies among are finite and of similar size, and some hundred bytes otherwise.
 * Arrays in a GPU's memory, which must be complete there, go by way of the host's, of which a call then takes as much; a GPU that fails
 * to take results is REDUCT_ERROR_DEVICE_LOST on its rank.
 * Fails with REDUCT_ERROR_ARGUMENT, _UNSUPPORTED, _TOO_LARGE, _MISMATCH (other counts), _DEVICE_LOST or _OUT_OF_MEMORY. */
REDUCT_MPI_API reduct_status reduct_mpi_allreduce_each(reduct_type type, const void *x, void *results, uint64_t count,
                                                       MPI_Comm comm, reduct_error *error);

/* An all-reduce under way. */
typedef struct reduct_mpi_request reduct_mpi_request;

/* Begins a reduct_mpi_allreduce(): reduces this rank's part and lets MPI do the rest while the program goes on. The fields, but
 * not what they point to, are copied; results must stay until the request has ended. Of more than 9 fields, ranks first wait for each
 * other to know that all have the memory. Fails as reduct_mpi_allreduce() does before it could begin; what is
 * known later, reduct_mpi_wait() tells. */
REDUCT_MPI_API reduct_status reduct_mpi_iallreduce(const reduct_mpi_field *fields, size_t count, MPI_Comm comm,
                                                   reduct_mpi_request **request, reduct_error *error);

/* The same for accumulators, which, with the array that names them, must stay as they are until the request has ended: only then comes in
 * their place what all ranks' hold together. Ranks wait for each other to begin. Fails as
 * reduct_mpi_allreduce_accumulators() does. */
REDUCT_MPI_API reduct_status reduct_mpi_iallreduce_accumulators(reduct_accumulator *const *accumulators, size_t count,
                                                                MPI_Comm comm, reduct_mpi_request **request,
                                                                reduct_error *error);

/* The same for a table, which must stay as it is until the request has ended. Ranks wait for each other to begin, and each then takes
 * memory for all words that are sent, which are as many as those of reduct_mpi_allreduce_table() in all. Fails as that does, and with
 * REDUCT_ERROR_TOO_LARGE of more than some 2^33 words. */
REDUCT_MPI_API reduct_status reduct_mpi_iallreduce_table(reduct_table *table, MPI_Comm comm,
                                                         reduct_mpi_request **request, reduct_error *error);

/* The same for tables of words, which change only when the request has ended, and must stay as they are until then. Ranks wait for
 * each other to begin. Fails as reduct_mpi_allreduce_words() does, and with REDUCT_ERROR_TOO_LARGE of more than some 2^34 words. */
REDUCT_MPI_API reduct_status reduct_mpi_iallreduce_words(const reduct_reduction *reduction, int64_t *words,
                                                         uint64_t rows, MPI_Comm comm, reduct_mpi_request **request,
                                                         reduct_error *error);

/* Waits for it, writes the results and frees the request. Fails as the all-reduce does that waits by itself. */
REDUCT_MPI_API reduct_status reduct_mpi_wait(reduct_mpi_request *request, reduct_error *error);

/* Whether reduct_mpi_wait() would return at once: writes 1 or 0. Fails with REDUCT_ERROR_ARGUMENT or _DEVICE_LOST. */
REDUCT_MPI_API reduct_status reduct_mpi_test(reduct_mpi_request *request, int *done, reduct_error *error);

#ifdef __cplusplus
}
#endif
#endif
