/* Between the Fortran module and the library: each function is bound by an interface in reduct_engine.f90. Null descriptors are
 * absent arguments. On failure outputs are untouched, unless options say otherwise, and `error` is filled in. */
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

/* The library's type of an array's elements; REDUCT_DEFAULT where it has none. */
reduct_type reduct_fortran_type(const CFI_cdesc_t *array);

reduct_status reduct_fortran_create(const reduct_fortran_options *options, int element,
                                    reduct_accumulator **accumulator, reduct_error *error);
reduct_status reduct_fortran_copy(const reduct_accumulator *from, reduct_accumulator **to, reduct_error *error);
reduct_status reduct_fortran_add(reduct_accumulator *accumulator, const CFI_cdesc_t *x, const CFI_cdesc_t *y,
                                 const CFI_cdesc_t *mask, reduct_error *error);
reduct_status reduct_fortran_result(const reduct_accumulator *accumulator, CFI_cdesc_t *result, reduct_error *error);

#endif
