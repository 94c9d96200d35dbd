/* What the Fortran modules call for arrays that are spread over ranks: communicators come as Fortran's integers. A rank on which
 * something is wrong takes part all the same, as one that failed, so that no other waits for it. */
#include "reduct_fortran.h"

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

/* All results of a call through one all-reduce of `count` fields; those that are more than the results count nothing. `own` is what this rank
 * found wrong with it so far. */
static reduct_status send(const reduct_fortran_call *call, uint64_t results, uint64_t count, reduct_error *own,
                          char *raw, struct part *parts, reduct_mpi_field *fields, MPI_Comm comm, reduct_error *error) {
    static const reduct_reduction NOTHING = {.op = REDUCT_COUNT, .element = REDUCT_F64};
    const size_t step = reduct_type_size(call->reduction.result) * (size_t)reduct_operator_outputs(call->reduction.op);
    uint64_t none;
    for (uint64_t i = 0; i < results && own->status == REDUCT_OK; i++)
        take(call, i, &parts[i], own);
    if (own->status != REDUCT_OK)
        return reduct_mpi_allreduce_failed(own, count, comm, error);
    for (uint64_t i = 0; i < count; i++)
        fields[i] = i < results ? (reduct_mpi_field){.reduction = &call->reduction,
                                                     .x = parts[i].elements[0],
                                                     .y = parts[i].elements[1],
                                                     .count = parts[i].count,
                                                     .result = raw + i * step}
                                : (reduct_mpi_field){.reduction = &NOTHING, .result = &none};
    return reduct_mpi_allreduce(fields, count, comm, error);
}

/* How many fields there are, all ranks must know, whatever is wrong on some: as many as the result has elements, of pairs, too, and one of a
 * result that has none. */
reduct_status reduct_fortran_allreduce(const reduct_fortran_options *options, const CFI_cdesc_t *x, CFI_cdesc_t *result,
                                       const CFI_cdesc_t *y, const int *dims, int count, const CFI_cdesc_t *mask,
                                       MPI_Fint comm, reduct_error *error) {
    reduct_fortran_call call = {.x = x, .y = y, .mask = mask, .result = result};
    reduct_error own = {.status = REDUCT_OK};
    const uint64_t elements = reduct_fortran_elements(result), all = elements ? elements : 1;
    struct room here, *rooms, *more = NULL; /* by the pieces of so many fields */
    uint64_t results = 0;
    if (all > FEW)
        more = malloc((all / FEW + 1) * sizeof *more);
    rooms = more ? more : &here;
    if (all > FEW && !more)
        reduct_fortran_fail(&own, REDUCT_ERROR_OUT_OF_MEMORY, "no memory for %llu fields", (unsigned long long)all);
    else if (reduct_fortran_prepare(options, dims, count, &call, &own) == REDUCT_OK &&
             check_mask(&call, &own) == REDUCT_OK)
        results = elements / (unsigned)reduct_operator_outputs(call.reduction.op);
    struct part *parts = (struct part *)(void *)rooms;
    reduct_mpi_field *fields = (reduct_mpi_field *)(void *)(parts + results);
    char *raw = (char *)(fields + (results ? all : 1));
    if (results)
        memset(parts, 0, results * sizeof *parts);
    reduct_status status = send(&call, results, all, &own, raw, parts, fields, MPI_Comm_f2c(comm), error);
    if (status == REDUCT_OK)
        status = reduct_fortran_deliver(&call, raw, error);
    for (uint64_t i = 0; i < results; i++)
        for (int k = 0; k < 2; k++)
            free(parts[i].copies[k]);
    free(more);
    return status;
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
 * the largest magnitude of each and the most summands that a rank has; another one `plain`, if that is not null. A null communicator is that of all ranks. */
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
    if (most_fields > FEW && !(all = more = malloc(most_fields * sizeof *more))) {
        reduct_error lacking;
        reduct_fortran_fail(&lacking, REDUCT_ERROR_OUT_OF_MEMORY, "no memory for %llu fields",
                            (unsigned long long)most_fields);
        return reduct_mpi_allreduce_failed(&lacking, most_fields, ranks, error);
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
    reduct_status status = reduct_mpi_allreduce(all, count, ranks, error);
    if (status == REDUCT_OK && most)
        *most = greatest;
    if (status == REDUCT_OK && plain)
        status = sum_plainly(values, summands, length, fields, ranks, plain, error);
    free(more);
    return status;
}
