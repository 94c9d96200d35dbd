/* Fuzz target: reductions of any bytes, against the oracle.
 *
 * A header of eight bytes chooses the operator, the types, the NaN policy, the flags and where to cut; what follows is
 * the data, as it is. A plan on every device, and an accumulator that gets the data in two pieces, must both give what
 * the oracle gives.
 *
 * From the survival list: "fuzzing against independent oracles"; "Values", those that nobody thought of.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "support.h"
#include "values.h"

enum { HEADER = 8, DEVICES = 3 };
static const char *const devices[DEVICES] = {"cpu:portable", "cpu:avx2", "cpu:avx512"};

static void require_agreement(const struct test_outcome *got, const struct oracle_result *expected,
                              const reduct_reduction *reduction, const char *what) {
    char got_hex[2 * ORACLE_RESULT_BYTES + 3], expected_hex[2 * ORACLE_RESULT_BYTES + 3];
    if (test_agrees(got, expected))
        return;
    fprintf(stderr, "%s of %s as %s (nan %d, flags %u) on %s:\n  got      %d %s\n  expected %d %s\n",
            reduct_operator_name(reduction->op), reduct_type_name(reduction->element),
            reduct_type_name(reduction->result), (int)reduction->nan, (unsigned)reduction->flags, what,
            (int)got->status, oracle_hex(got_hex, got->bytes, ORACLE_RESULT_BYTES), (int)expected->status,
            oracle_hex(expected_hex, expected->bytes, ORACLE_RESULT_BYTES));
    abort();
}

/* What the header says. False for what no version could do. */
static bool choose(const uint8_t header[HEADER], reduct_reduction *reduction) {
    const struct test_type *element = &test_types[header[1] % test_type_count];
    const struct test_type *result = &test_types[header[2] % test_type_count];
    *reduction = (reduct_reduction){.op = test_operators[header[0] % test_operator_count].op,
                                    .element = element->type,
                                    .result = result->type,
                                    .nan = (reduct_nan)(header[3] % 3),
                                    .flags = header[4] % 4U};
    return element->required && oracle_has_result(reduction->op, element->type, result->type);
}

static struct test_outcome accumulate(const reduct_reduction *reduction, const char *x, const char *y, size_t count,
                                      size_t cut, size_t size) {
    struct test_outcome outcome = test_outcome();
    reduct_accumulator *accumulator = NULL;
    outcome.status = reduct_accumulator_create(&(reduct_accumulator_options){.reduction = reduction, .threads = 1},
                                               &accumulator, &outcome.error);
    if (!outcome.status)
        outcome.status = reduct_accumulator_add(accumulator, x, y, cut, &outcome.error);
    if (!outcome.status)
        outcome.status =
            reduct_accumulator_add(accumulator, x + cut * size, y ? y + cut * size : NULL, count - cut, &outcome.error);
    if (!outcome.status)
        outcome.status = reduct_accumulator_result(accumulator, REDUCT_DEFAULT, outcome.bytes, &outcome.error);
    reduct_accumulator_destroy(accumulator);
    return outcome;
}

static void check(const reduct_reduction *reduction, const uint8_t *data, size_t count, size_t cut) {
    const size_t size = oracle_type_size(reduction->element);
    const bool two = oracle_inputs(reduction->op) == 2;
    /* Copies of exactly this size, for the address sanitizer. */
    char *x = malloc(count * size + 1), *y = malloc(count * size + 1);
    struct oracle oracle;
    if (!x || !y)
        abort();
    memcpy(x, data, count * size);
    memcpy(y, data + (two ? count * size : 0), count * size);
    oracle_init(&oracle);
    oracle_read(&oracle, reduction->element, x, two ? y : NULL, count);
    const struct oracle_result expected = oracle_expect(&oracle, reduction);
    for (size_t d = 0; d < DEVICES; d++) {
        const struct test_outcome got = test_run(reduction, devices[d], 1, x, two ? y : NULL, count);
        if (got.status != REDUCT_ERROR_NO_DEVICE)
            require_agreement(&got, &expected, reduction, devices[d]);
    }
    const struct test_outcome got = accumulate(reduction, x, two ? y : NULL, count, cut, size);
    if (expected.status != REDUCT_ERROR_EMPTY || got.status != REDUCT_ERROR_NAN) /* a plan sees the empty shape first */
        require_agreement(&got, &expected, reduction, "an accumulator");
    oracle_clear(&oracle);
    free(x);
    free(y);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    reduct_reduction reduction;
    if (size < HEADER || !choose(data, &reduction))
        return 0;
    const size_t bytes = oracle_type_size(reduction.element) * (oracle_inputs(reduction.op) == 2 ? 2 : 1);
    const size_t count = (size - HEADER) / bytes;
    check(&reduction, data + HEADER, count, (data[5] | (size_t)data[6] << 8) % (count + 1));
    return 0;
}

size_t fuzz_start(uint64_t number, uint8_t *data) {
    struct rng rng = rng_of(number);
    for (size_t i = 0; i < HEADER; i++)
        data[i] = (uint8_t)rng_next(&rng);
    data[2] = data[1]; /* the element type is a result type more often than not */
    const struct test_type *type = &test_types[data[1] % test_type_count];
    if (!type->element)
        return HEADER;
    const struct distribution *distribution;
    do
        distribution = &distributions[rng_below(&rng, distribution_count)];
    while (!distribution_suits(distribution, type));
    const size_t count = rng_below(&rng, (FUZZ_MOST - HEADER) / type->size);
    distribution->fill(&rng, type, data + HEADER, NULL, count);
    return HEADER + count * type->size;
}
