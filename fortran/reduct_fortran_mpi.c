/* What the Fortran modules call for arrays that are spread over ranks: communicators come as Fortran's integers. A rank on which
 * something is wrong takes part all the same, with fields that fail, so that no other waits for it. */
#include "reduct_fortran.h"

#include <limits.h>
#include <reduct/mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

reduct_status reduct_fortran_allreduce(const reduct_fortran_options *options, const CFI_cdesc_t *x, CFI_cdesc_t *result,
                                       const CFI_cdesc_t *y, const int *dims, int count, const CFI_cdesc_t *mask,
                                       MPI_Fint comm, reduct_error *error);
reduct_status reduct_fortran_allreduce_accumulator(reduct_accumulator *accumulator, MPI_Fint comm, reduct_error *error);
reduct_status reduct_fortran_reprosum(const double *values, int summands, int length, int fields, int refuse_nan,
                                      const MPI_Fint *comm, double *sums, double *largest, int *most, double *plain,
                                      reduct_error *error);

/* So many fields need no memory of their own. */
enum { FEW = 40 };

/* Whether all ranks have the memory for what is more: they ask each other, as one that has not could take part in nothing else. */
static reduct_status agree_on_memory(bool has, uint64_t fields, MPI_Comm comm, reduct_error *error) {
    int rank = 0, first = INT_MAX;
    int code = MPI_Comm_rank(comm, &rank);
    const int mine = has ? INT_MAX : rank;
    if (code == MPI_SUCCESS)
        code = MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    if (code != MPI_SUCCESS)
        return reduct_fortran_fail(error, REDUCT_ERROR_DEVICE_LOST, "MPI: an all-reduce failed");
    if (first == INT_MAX)
        return REDUCT_OK;
    return reduct_fortran_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "rank %d: no memory for %llu fields", first,
                               (unsigned long long)fields);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Arrays
 * ------------------------------------------------------------------------------------------------------------------ */

/* A part of an array, and what was allocated for it. */
struct part {
    const void *elements[2];
    void *copies[2];
    uint64_t count;
};

/* What some fields take: their parts, what is sent of them, and results. */
struct room {
    struct part parts[FEW];
    reduct_mpi_field fields[FEW];
    reduct_i256 results[FEW][2];
};

/* The elements that become one result: of all axes that are reduced, at the place of the others that `field` says. */
static CFI_cdesc_t *part_of(const CFI_cdesc_t *array, uint64_t axes, uint64_t field, CFI_cdesc_t *part) {
    char *base = array->base_addr;
    memcpy(part, array, sizeof *array);
    part->rank = 0;
    for (int k = 0; k < array->rank; k++) {
        if (axes >> k & 1) {
            part->dim[part->rank++] = array->dim[k];
        } else {
            base += (CFI_index_t)(field % (uint64_t)array->dim[k].extent) * array->dim[k].sm;
            field /= (uint64_t)array->dim[k].extent;
        }
    }
    part->base_addr = base;
    return part;
}

/* Moves the elements that a mask lets count together, in a copy. Returns how many they are. */
static uint64_t compress(void *copy, const void *elements, size_t bytes, uint64_t count, const CFI_cdesc_t *mask) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        if (*(mask->rank ? reduct_fortran_place(mask, i) : (char *)mask->base_addr))
            memmove((char *)copy + kept++ * bytes, (const char *)elements + i * bytes, bytes);
    return kept;
}

static reduct_status take(const reduct_fortran_call *call, uint64_t field, struct part *part, reduct_error *error) {
    CFI_CDESC_T(CFI_MAX_RANK) room[3];
    const CFI_cdesc_t *arrays[2] = {call->x, call->y}, *mask = NULL;
    size_t bytes = reduct_type_size(call->reduction.element);
    if (call->mask)
        mask = call->mask->rank ? part_of(call->mask, call->axes, field, (CFI_cdesc_t *)&room[2]) : call->mask;
    for (int i = 0; i < 2 && arrays[i]; i++) {
        const CFI_cdesc_t *own = part_of(arrays[i], call->axes, field, (CFI_cdesc_t *)&room[i]);
        uint64_t count = reduct_fortran_elements(own);
        reduct_status status = reduct_fortran_gather(own, bytes, &part->elements[i], &part->copies[i], error);
        if (status != REDUCT_OK)
            return status;
        if (mask && !part->copies[i] && !(part->copies[i] = malloc(count * bytes + 1)))
            return reduct_fortran_fail(error, REDUCT_ERROR_OUT_OF_MEMORY, "no memory for a copy of %llu elements",
                                       (unsigned long long)count);
        part->count = mask ? compress(part->copies[i], part->elements[i], bytes, count, mask) : count;
        if (mask)
            part->elements[i] = part->copies[i];
    }
    return REDUCT_OK;
}

/* What a mask leaves out is not sent, so that it could not be counted in an index. */
static reduct_status check_mask(const reduct_fortran_call *call, reduct_error *error) {
    bool index = call->reduction.op == REDUCT_ARGMIN || call->reduction.op == REDUCT_ARGMAX;
    if (call->mask && index)
        return reduct_fortran_fail(error, REDUCT_ERROR_UNSUPPORTED, "mask: %s over ranks takes none",
                                   reduct_operator_name(call->reduction.op));
    return REDUCT_OK;
}

/* All fields of a call through one all-reduce. `failed`: this rank has nothing to give but that it failed. */
static reduct_status send(const reduct_fortran_call *call, uint64_t count, bool failed, char *raw, struct part *parts,
                          reduct_mpi_field *fields, MPI_Comm comm, reduct_error *error) {
    size_t step = reduct_type_size(call->reduction.result) * (size_t)reduct_operator_outputs(call->reduction.op);
    reduct_error own = {.status = REDUCT_OK};
    for (uint64_t i = 0; i < count && !failed; i++)
        failed = take(call, i, &parts[i], &own) != REDUCT_OK;
    for (uint64_t i = 0; i < count; i++)
        fields[i] = (reduct_mpi_field){.reduction = &call->reduction,
                                       .x = failed ? NULL : parts[i].elements[0],
                                       .y = failed ? NULL : parts[i].elements[1],
                                       .count = failed ? 1 : parts[i].count,
                                       .result = raw + i * step};
    reduct_status status = reduct_mpi_allreduce(fields, count, comm, error);
    if (own.status != REDUCT_OK)
        *error = own;
    return own.status != REDUCT_OK ? own.status : status;
}

reduct_status reduct_fortran_allreduce(const reduct_fortran_options *options, const CFI_cdesc_t *x, CFI_cdesc_t *result,
                                       const CFI_cdesc_t *y, const int *dims, int count, const CFI_cdesc_t *mask,
                                       MPI_Fint comm, reduct_error *error) {
    reduct_fortran_call call = {.x = x, .y = y, .mask = mask, .result = result};
    reduct_error own = {.status = REDUCT_OK}, ignored;
    reduct_status status = reduct_fortran_prepare(options, dims, count, &call, &own);
    if (status == REDUCT_OK)
        status = check_mask(&call, &own);
    if (call.reduction.result == REDUCT_DEFAULT)
        reduct_reduction_resolve(&call.reduction, &ignored);
    int outputs = reduct_operator_outputs(call.reduction.op);
    uint64_t all = outputs ? reduct_fortran_elements(result) / (unsigned)outputs : 0;
    struct room here, *rooms = &here, *more = NULL; /* by the pieces of so many fields */
    reduct_status agreed = REDUCT_OK;
    if (all > FEW) {
        rooms = more = malloc((all / FEW + 1) * sizeof *more);
        agreed = agree_on_memory(more, all, MPI_Comm_f2c(comm), error);
    }
    if (all && agreed == REDUCT_OK) {
        struct part *parts = (struct part *)(void *)rooms;
        reduct_mpi_field *fields = (reduct_mpi_field *)(void *)(parts + all);
        char *raw = (char *)(fields + all);
        memset(parts, 0, all * sizeof *parts);
        agreed = send(&call, all, status != REDUCT_OK, raw, parts, fields, MPI_Comm_f2c(comm), error);
        if (status == REDUCT_OK && agreed == REDUCT_OK)
            status = reduct_fortran_deliver(&call, raw, error);
        for (uint64_t i = 0; i < all; i++)
            for (int k = 0; k < 2; k++)
                free(parts[i].copies[k]);
    }
    free(more);
    if (own.status != REDUCT_OK)
        *error = own;
    return status == REDUCT_OK ? agreed : status;
}

reduct_status reduct_fortran_allreduce_accumulator(reduct_accumulator *accumulator, MPI_Fint comm,
                                                   reduct_error *error) {
    return reduct_mpi_allreduce_accumulators(&accumulator, 1, MPI_Comm_f2c(comm), error);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Fields of a climate model
 * ------------------------------------------------------------------------------------------------------------------ */

/* Sums as a loop and MPI make them, to compare with. */
static reduct_status sum_plainly(const double *values, int summands, int length, int fields, MPI_Comm comm,
                                 double *plain, reduct_error *error) {
    for (int i = 0; i < fields; i++) {
        plain[i] = 0;
        for (int k = 0; k < summands; k++)
            plain[i] += values[(size_t)i * (size_t)length + (size_t)k];
    }
    if (MPI_Allreduce(MPI_IN_PLACE, plain, fields, MPI_DOUBLE, MPI_SUM, comm) != MPI_SUCCESS)
        return reduct_fortran_fail(error, REDUCT_ERROR_DEVICE_LOST, "MPI: an all-reduce failed");
    return REDUCT_OK;
}

/* Sums of `fields` columns of which `summands` of `length` numbers count. One all-reduce gives them and, where they are not null,
 * the largest magnitude of each and the most summands that a rank has, after a small one where they are many; another one `plain`, if that is
 * not null. A null communicator is that of all ranks. */
reduct_status reduct_fortran_reprosum(const double *values, int summands, int length, int fields, int refuse_nan,
                                      const MPI_Fint *comm, double *sums, double *largest, int *most, double *plain,
                                      reduct_error *error) {
    MPI_Comm ranks = comm ? MPI_Comm_f2c(*comm) : MPI_COMM_WORLD;
    reduct_nan nan = refuse_nan ? REDUCT_NAN_ERROR : REDUCT_NAN_PROPAGATE;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64, .nan = nan},
                           norm = {.op = REDUCT_NORMINF, .element = REDUCT_F64, .nan = nan},
                           max = {.op = REDUCT_MAX, .element = REDUCT_I32};
    if (fields <= 0)
        return REDUCT_OK;
    const size_t most_fields = (size_t)fields * (largest ? 2 : 1) + (most ? 1 : 0);
    size_t count = 0;
    reduct_mpi_field here[FEW], *all = here, *more = NULL;
    int32_t own = summands, greatest = 0;
    reduct_status status = REDUCT_OK;
    if (most_fields > FEW) {
        all = more = malloc(most_fields * sizeof *more);
        status = agree_on_memory(more, most_fields, ranks, error);
    }
    if (status != REDUCT_OK) {
        free(more);
        return status;
    }
    for (int i = 0; i < fields; i++)
        all[count++] = (reduct_mpi_field){.reduction = &sum,
                                          .x = values + (size_t)i * (size_t)length,
                                          .count = (uint64_t)summands,
                                          .result = &sums[i]};
    for (int i = 0; i < fields && largest; i++)
        all[count++] = (reduct_mpi_field){.reduction = &norm,
                                          .x = values + (size_t)i * (size_t)length,
                                          .count = (uint64_t)summands,
                                          .result = &largest[i]};
    if (most)
        all[count++] = (reduct_mpi_field){.reduction = &max, .x = &own, .count = 1, .result = &greatest};
    status = reduct_mpi_allreduce(all, count, ranks, error);
    if (status == REDUCT_OK && most)
        *most = greatest;
    if (status == REDUCT_OK && plain)
        status = sum_plainly(values, summands, length, fields, ranks, plain, error);
    free(more);
    return status;
}
