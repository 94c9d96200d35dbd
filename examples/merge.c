/* Partial results. Two accumulators each take a part of the data, as two processes or two machines would; one is saved
 * to bytes, loaded, and merged into the other. The result has the bits of one pass over everything. */
#include <reduct/reduct.h>

#include <stdio.h>
#include <stdlib.h>

static const double values[] = {3.14159, -2.71828e8, 1.41421e-9, 1.61803, 2.71828e8, 0.57721, 6.02214e23, -6.02214e23};
enum { COUNT = sizeof values / sizeof *values, HALF = COUNT / 2 };

static void or_exit(reduct_status status, const reduct_error *error) {
    if (status != REDUCT_OK) {
        fprintf(stderr, "%s: %s\n", reduct_status_text(status), error->message);
        exit(1);
    }
}

static reduct_accumulator *accumulate(const double *x, size_t count) {
    const reduct_reduction mean = {.op = REDUCT_MEAN, .element = REDUCT_F64};
    reduct_accumulator *accumulator;
    reduct_error error = {0};
    or_exit(reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &mean}, &accumulator, &error), &error);
    or_exit(reduct_accumulator_add(accumulator, x, NULL, count, &error), &error);
    return accumulator;
}

/* What would travel through a file or over a network. */
static reduct_accumulator *send(const reduct_accumulator *accumulator) {
    size_t size;
    reduct_error error = {0};
    reduct_accumulator *copy;
    or_exit(reduct_accumulator_save(accumulator, NULL, &size, NULL), &error);
    void *bytes = malloc(size);
    if (!bytes)
        or_exit(REDUCT_ERROR_OUT_OF_MEMORY, &error);
    or_exit(reduct_accumulator_save(accumulator, bytes, &size, NULL), &error);
    printf("%zu bytes saved\n", size);
    or_exit(reduct_accumulator_load(bytes, size, NULL, &copy, &error), &error);
    free(bytes);
    return copy;
}

int main(void) {
    reduct_error error = {0};
    reduct_accumulator *here = accumulate(values, HALF);
    reduct_accumulator *there = accumulate(values + HALF, COUNT - HALF);
    reduct_accumulator *arrived = send(there);
    double merged, once;
    or_exit(reduct_accumulator_merge(here, arrived, &error), &error);
    or_exit(reduct_accumulator_result(here, REDUCT_DEFAULT, &merged, &error), &error);
    or_exit(reduct_mean_f64(values, COUNT, &once), &error);
    printf("mean of the parts, merged  %.17g\n", merged);
    printf("mean of the whole          %.17g\n", once);
    reduct_accumulator_destroy(here);
    reduct_accumulator_destroy(there);
    reduct_accumulator_destroy(arrived);
    return merged == once ? 0 : 1;
}
