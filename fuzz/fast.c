/* Fuzz target: fast mode against its bound.
 *
 * A header chooses the operator, the types, the NaN policy, the flags, the length and where to cut; what follows is the
 * data, as often over as the length wants, so that it goes beyond a block. A plan on every device, and accumulators that
 * got it in pieces, must be as near the exact value (MPFR) as reduct_mode's comment says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "fuzz.h"
#include "support.h"
#include "values.h"

enum { DEVICES = 3, CUTS = 3, MOST = 20000 };
static const char *const devices[DEVICES] = {"cpu:portable", "cpu:avx2", "cpu:avx512"};

struct work {
    reduct_reduction reduction;
    size_t size, count; /* bytes of an element, elements */
    char *x, *y;        /* y null for one array */
    struct oracle oracle;
};

static void check(const struct work *work, uint64_t steps, const struct test_outcome *got, const char *what) {
    char why[BOUND_WHY];
    const reduct_reduction *reduction = &work->reduction;
    if (bound_holds(&work->oracle, reduction, steps, got, why))
        return;
    fprintf(stderr, "fast %s of %zu %s as %s (nan %s, flags %u) on %s: %s\n", reduct_operator_name(reduction->op),
            work->count, reduct_type_name(reduction->element), reduct_type_name(reduction->result),
            reduct_nan_name(reduction->nan), (unsigned)reduction->flags, what, why);
    abort();
}

/* A new accumulator with a stretch of the data. */
static reduct_status add_stretch(const struct work *work, size_t first, size_t last, reduct_accumulator **made) {
    FUZZ_REQUIRE(!reduct_accumulator_create(
        &(reduct_accumulator_options){.reduction = &work->reduction, .device = "cpu", .threads = 1}, made, NULL));
    return reduct_accumulator_add(*made, work->x + first * work->size, work->y ? work->y + first * work->size : NULL,
                                  last - first, NULL);
}

/* Pieces, each in an accumulator of its own, merged in order. A NaN that is an error ends it: its piece is refused. */
static void check_pieces(const struct work *work, const size_t cut[CUTS]) {
    reduct_accumulator *total = NULL, *other;
    struct test_outcome got = test_outcome();
    bool merges = true;
    FUZZ_REQUIRE(!reduct_accumulator_create(
        &(reduct_accumulator_options){.reduction = &work->reduction, .device = "cpu", .threads = 1}, &total, NULL));
    for (size_t i = 0, first = 0; i <= CUTS && merges && !got.status; i++) {
        const size_t last = i < CUTS ? first + cut[i] % (work->count - first + 1) : work->count;
        got.status = add_stretch(work, first, last, &other);
        if (!got.status)
            merges = reduct_accumulator_merge(total, other, NULL) == REDUCT_OK; /* not products that do not meet */
        reduct_accumulator_destroy(other);
        first = last;
    }
    if (got.status)
        FUZZ_REQUIRE(got.status == REDUCT_ERROR_NAN && work->reduction.nan == REDUCT_NAN_ERROR && work->oracle.nans);
    else if (merges)
        got.status = reduct_accumulator_result(total, REDUCT_DEFAULT, got.bytes, &got.error);
    if (merges && got.status != REDUCT_ERROR_NAN)
        check(work, 2 * CUTS + 2, &got, "accumulators");
    reduct_accumulator_destroy(total);
}

/* What the header says; false for what no version could do. */
static bool choose(struct fuzz_input *input, struct work *work, size_t cut[CUTS]) {
    const struct test_type *element = &test_types[fuzz_byte(input) % 2]; /* f64, f32 */
    const struct test_operator *op = &test_operators[fuzz_byte(input) % test_operator_count];
    const struct test_type *result = &test_types[fuzz_byte(input) % test_type_count];
    work->reduction = (reduct_reduction){.op = op->op, .element = element->type, .mode = REDUCT_FAST};
    work->reduction.result = oracle_has_result(op->op, element->type, result->type)
                                 ? result->type
                                 : oracle_default_result(op->op, element->type);
    work->reduction.nan = (reduct_nan)(fuzz_byte(input) % 3);
    work->reduction.flags = fuzz_byte(input) % 4;
    work->size = element->size;
    work->count = fuzz_size(input) % MOST;
    for (size_t i = 0; i < CUTS; i++)
        cut[i] = fuzz_size(input);
    return input->size >= element->size && oracle_has(op->op, element->type);
}

/* Repeats what is left of the input; the second array begins one element on. */
static char *fill(const struct work *work, const struct fuzz_input *input, size_t shift) {
    const size_t distinct = input->size / work->size;
    char *array = malloc(work->count * work->size + 1);
    FUZZ_REQUIRE(array);
    for (size_t i = 0; i < work->count; i++)
        memcpy(array + i * work->size, input->data + (i + shift) % distinct * work->size, work->size);
    return array;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    struct work work;
    size_t cut[CUTS];
    if (!choose(&input, &work, cut))
        return 0;
    work.x = fill(&work, &input, 0);
    work.y = oracle_inputs(work.reduction.op) == 2 ? fill(&work, &input, 1) : NULL;
    oracle_init(&work.oracle);
    oracle_read(&work.oracle, work.reduction.element, work.x, work.y, work.count);
    for (size_t d = 0; d < DEVICES; d++) {
        const struct test_outcome got =
            test_run(&work.reduction, devices[d], 1 + (unsigned)d, work.x, work.y, work.count);
        if (got.status != REDUCT_ERROR_NO_DEVICE)
            check(&work, 1, &got, devices[d]);
    }
    check_pieces(&work, cut);
    oracle_clear(&work.oracle);
    free(work.x);
    free(work.y);
    return 0;
}

size_t fuzz_start(uint64_t number, uint8_t *data) {
    enum { HEADER = 7 + 2 * CUTS, ELEMENTS = 50 };
    struct rng rng = rng_of(number);
    for (size_t i = 0; i < HEADER; i++)
        data[i] = (uint8_t)rng_next(&rng);
    if (rng_below(&rng, 3)) /* mostly few elements */
        data[6] = 0;
    if (rng_next(&rng) & 1) /* and of one type */
        data[2] = data[0] % 2;
    const struct test_type *type = &test_types[data[0] % 2];
    const struct distribution *distribution;
    do
        distribution = &distributions[rng_below(&rng, distribution_count)];
    while (!distribution_suits(distribution, type));
    double x[ELEMENTS];
    const size_t count = 1 + rng_below(&rng, ELEMENTS);
    distribution->fill(&rng, type, x, NULL, count);
    memcpy(data + HEADER, x, count * type->size);
    return HEADER + count * type->size;
}
