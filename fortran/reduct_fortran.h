/* Between the Fortran modules and the library. The functions of the first part are bound by interfaces in reduct_engine.f90, what
 * the others share with reduct_fortran_mpi.c. Null descriptors are absent arguments. On failure outputs are untouched, unless
 * options say otherwise, and `error`, which is never null, is filled in. */
#ifndef REDUCT_FORTRAN_H
#define REDUCT_FORTRAN_H

#include <ISO_Fortran_binding.h>
#include <reduct/reduct.h>

/* What Fortran's optional arguments amount to. */
typedef struct reduct_fortran_options {
    int op, mode, nan;
    int population; /* not 0: var and std divide by n */
    int fill; /* not 0: on failure the result becomes NaN, of integers 0, as a function's result must be something */
} reduct_fortran_options;

/* Reduces the axes of `x` that `dims` lists, counted from 1; all where it is null. */
reduct_status reduct_fortran_reduce(const reduct_fortran_options *options, const CFI_cdesc_t *x, CFI_cdesc_t *result,
                                    const CFI_cdesc_t *y, const int *dims, int count, const CFI_cdesc_t *mask,
                                    reduct_error *error);

reduct_status reduct_fortran_create(const reduct_fortran_options *options, int element,
                                    reduct_accumulator **accumulator, reduct_error *error);
reduct_status reduct_fortran_copy(const reduct_accumulator *from, reduct_accumulator **to, reduct_error *error);
reduct_status reduct_fortran_add(reduct_accumulator *accumulator, const CFI_cdesc_t *x, const CFI_cdesc_t *y,
                                 const CFI_cdesc_t *mask, reduct_error *error);
reduct_status reduct_fortran_result(const reduct_accumulator *accumulator, CFI_cdesc_t *result, reduct_error *error);

/* ---------------------------------------------------------------------------------------------------------------------
 * What they are made of
 * ------------------------------------------------------------------------------------------------------------------ */

/* A call as it is being worked on. */
typedef struct reduct_fortran_call {
    const CFI_cdesc_t *x, *y, *mask;
    CFI_cdesc_t *result;
    reduct_reduction reduction; /* resolved: its result type is what the library writes */
    reduct_type target;         /* type of Fortran's results */
    uint64_t axes;              /* bit k: Fortran's axis k, from 0, is reduced */
    uint64_t results;           /* values in all */
} reduct_fortran_call;

/* Checks the arguments, of which `call` has the descriptors, and fills in the rest of it. */
reduct_status reduct_fortran_prepare(const reduct_fortran_options *options, const int *dims, int count,
                                     reduct_fortran_call *call, reduct_error *error);

/* Copies results to where Fortran wants them; all or, where one does not fit, none. */
reduct_status reduct_fortran_deliver(const reduct_fortran_call *call, const char *raw, reduct_error *error);

/* The elements of an array in one piece, in array element order: its own where they lie so, otherwise copied to `*copy`, which
 * the caller frees. Of logicals, a byte each. */
reduct_status reduct_fortran_gather(const CFI_cdesc_t *array, size_t bytes, const void **elements, void **copy,
                                    reduct_error *error);

/* Where element number `i` of an array, in array element order, lies. */
char *reduct_fortran_place(const CFI_cdesc_t *array, uint64_t i);

uint64_t reduct_fortran_elements(const CFI_cdesc_t *array);

/* Makes results NaN, of integers 0. */
void reduct_fortran_fill(CFI_cdesc_t *result);

/* Writes what failed and returns `status`. */
reduct_status reduct_fortran_fail(reduct_error *error, reduct_status status, const char *format, ...);

#endif
