/* The result of a row depends on its elements alone: alone, in batches of 1 to 10^6 rows, at every alignment, as a row, a column, a
 * segment or a group, and split into 2 to 8 parts that are merged, it has the same bits, which are the oracle's; on every device. Of
 * products of floats, whose parts do not always meet, parts are left out.
 *
 * From the survival list: "Same bits: every permutation and partition of the data, merged in any order", "every misalignment down to one
 * element". */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

enum { LONGEST = 3000, ALIGNMENTS = 64, BATCH_BYTES = 1 << 26 };

static const char *devices[TEST_MAX_DEVICES];
static size_t device_count;

static int find_devices(void **state) {
    (void)state;
    device_count = test_devices(devices);
    return 0;
}

/* A row, and what it must come to. */
struct row {
    reduct_reduction reduction;
    const struct test_type *type;
    const char *device, *values;
    size_t count, bytes; /* of the row; of the result */
    double x[LONGEST], y[LONGEST];
    struct oracle_result expected;
};

static bool has_two(const struct row *row) {
    return test_operator(row->reduction.op)->inputs == 2;
}

static void check(const struct row *row, const void *result, const reduct_outcome *outcome, const char *how,
                  uint64_t number) {
    if (outcome->status != (uint32_t)row->expected.status ||
        (outcome->status == REDUCT_OK && memcmp(result, row->expected.bytes, row->bytes) != 0))
        test_fail("%s of %zu %s %s on %s, %s (%llu): other bits, or status %u; expected status %d",
                  test_operator(row->reduction.op)->name, row->count, row->values, row->type->name, row->device, how,
                  (unsigned long long)number, outcome->status, (int)row->expected.status);
}

static struct row *make_row(struct rng *rng, struct row *row, const struct test_type *type) {
    const struct distribution *distribution;
    struct oracle oracle;
    do
        distribution = &distributions[rng_below(rng, distribution_count)];
    while (!distribution_suits(distribution, type));
    do
        row->reduction.op = test_operators[rng_below(rng, test_operator_count)].op;
    while (!oracle_has(row->reduction.op, type->type));
    row->reduction = test_reduction(row->reduction.op, type->type, REDUCT_DEFAULT);
    row->reduction.nan = rng_below(rng, 2) ? REDUCT_NAN_PROPAGATE : REDUCT_NAN_IGNORE;
    row->reduction.flags = REDUCT_WRAP;
    row->type = type;
    row->values = distribution->name;
    row->device = devices[rng_below(rng, device_count)];
    row->count = 1 + rng_below(rng, rng_below(rng, 2) ? 70 : LONGEST);
    distribution->fill(rng, type, row->x, row->y, row->count);
    row->bytes = (size_t)reduct_operator_outputs(row->reduction.op) *
                 test_type(oracle_default_result(row->reduction.op, type->type))->size;
    oracle_init(&oracle);
    oracle_read(&oracle, type->type, row->x, has_two(row) ? row->y : NULL, row->count);
    reduct_reduction resolved = row->reduction;
    resolved.result = oracle_default_result(row->reduction.op, type->type);
    row->expected = oracle_expect(&oracle, &resolved);
    oracle_clear(&oracle);
    return row;
}

/* Executes a plan and looks at one of its results. */
static void run(const struct row *row, const reduct_plan_options *options, const void *const *inputs, uint64_t results,
                uint64_t which, const char *how) {
    reduct_plan *plan = NULL;
    unsigned char *all = test_alloc(results * row->bytes + 1);
    reduct_outcome *outcome = test_alloc(results * sizeof *outcome);
    void *to = all;
    const reduct_status made = reduct_plan_create(options, &plan, NULL);
    if (made == REDUCT_ERROR_EMPTY) /* of a whole array that is known beforehand */
        outcome[which] = (reduct_outcome){.status = REDUCT_ERROR_EMPTY};
    else
        test_status(made, REDUCT_OK);
    if (made == REDUCT_OK)
        test_status(reduct_plan_execute_each(plan, inputs, &to, &outcome, NULL, NULL), REDUCT_OK);
    check(row, all + which * row->bytes, &outcome[which], how, results);
    reduct_plan_destroy(plan);
    free(all);
    free(outcome);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Batches
 * ------------------------------------------------------------------------------------------------------------------ */

/* Among so many rows of other numbers; `columns`: as one of so many columns. */
static void check_batch(struct rng *rng, const struct row *row, uint64_t rows, bool columns) {
    const size_t size = row->type->size, shift = rng_below(rng, ALIGNMENTS), elements = rows * row->count + shift;
    const uint64_t which = rng_below(rng, rows);
    unsigned char *x = test_alloc(elements * size), *y = test_alloc(elements * size);
    memset(x, 1, elements * size);
    memset(y, 1, elements * size);
    for (size_t i = 0; i < row->count; i++) {
        const size_t at = (shift + (columns ? i * rows + which : which * row->count + i)) * size;
        memcpy(x + at, (const char *)row->x + i * size, size);
        memcpy(y + at, (const char *)row->y + i * size, size);
    }
    const reduct_plan_options options = {.reductions = &row->reduction,
                                         .reduction_count = 1,
                                         .kind = REDUCT_SHAPE,
                                         .shape = columns
                                                      ? (reduct_shape){1, row->count, rows, 0, (int64_t)rows, 1}
                                                      : (reduct_shape){rows, row->count, 1, (int64_t)row->count, 1, 0},
                                         .device = row->device};
    run(row, &options, (const void *[]){x + shift * size, y + shift * size}, rows, which,
        columns ? "as a column" : "as a row");
    free(x);
    free(y);
}

static void batches(void **state) {
    (void)state;
    static const uint64_t counts[] = {1, 2, 3, 7, 32, 100, 1000, 10000, 100000, 1000000};
    static struct row row;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed());
    for (uint64_t round = test_scaled(60, 13); round-- > 0;) {
        make_row(&rng, &row, elements[round % element_count]);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            const double share = counts[c] > 1000 ? test_scale() * 1000 / (double)counts[c] : 1;
            const bool is_small = counts[c] * row.count * row.type->size <= (uint64_t)BATCH_BYTES;
            if (is_small && (round == 0 || rng_unit(&rng) < share))
                check_batch(&rng, &row, counts[c], rng_below(&rng, 2));
        }
    }
}

/* The largest batch, of short rows. */
static void millions(void **state) {
    (void)state;
    static struct row row;
    struct rng rng = rng_of(test_seed() + 1);
    const uint64_t rows = test_scale() >= 1 ? 1000000 : test_scale() >= 0.02 ? 20000 : 2000;
    for (int i = 0; i < 4; i++) {
        do
            make_row(&rng, &row, test_type(i % 2 ? REDUCT_F64 : REDUCT_F32));
        while (row.count > 16);
        check_batch(&rng, &row, rows, i >= 2);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Alignments, segments and groups, parts
 * ------------------------------------------------------------------------------------------------------------------ */

static void check_alone(const struct row *row, size_t shift) {
    const size_t size = row->type->size, room = (shift + row->count) * size;
    unsigned char *x = test_alloc(room), *y = test_alloc(room);
    memcpy(x + shift * size, row->x, row->count * size);
    memcpy(y + shift * size, row->y, row->count * size);
    const reduct_plan_options options = {
        .reductions = &row->reduction, .reduction_count = 1, .shape = {.n = row->count}, .device = row->device};
    run(row, &options, (const void *[]){x + shift * size, has_two(row) ? y + shift * size : NULL}, 1, 0,
        "at an alignment");
    free(x);
    free(y);
}

static void alignments(void **state) {
    (void)state;
    static struct row row;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 2);
    for (uint64_t round = test_scaled(130, 13); round-- > 0;) {
        make_row(&rng, &row, elements[round % element_count]);
        const size_t step = test_scale() >= 1 ? 1 : 7;
        for (size_t shift = 0; shift < ALIGNMENTS; shift += step)
            check_alone(&row, shift);
    }
}

/* The middle one of three segments, and of two groups whose elements take turns. */
static void check_segment(const struct row *row, size_t before, size_t after) {
    const size_t size = row->type->size, room = before + row->count + after;
    unsigned char *x = test_alloc(room * size), *y = test_alloc(room * size);
    const uint32_t offsets[] = {0, (uint32_t)before, (uint32_t)(before + row->count), (uint32_t)room};
    memset(x, 1, room * size);
    memset(y, 1, room * size);
    memcpy(x + before * size, row->x, row->count * size);
    memcpy(y + before * size, row->y, row->count * size);
    const reduct_segments segments = {.count = 3, .elements = room, .index = REDUCT_U32};
    const reduct_plan_options options = {.reductions = &row->reduction,
                                         .reduction_count = 1,
                                         .kind = REDUCT_SEGMENTS,
                                         .segments = &segments,
                                         .device = row->device};
    const void *inputs[3] = {x, y, offsets};
    if (!has_two(row))
        inputs[1] = offsets;
    run(row, &options, inputs, 3, 1, "as a segment");
    free(x);
    free(y);
}

static bool has_tree(const struct row *row) {
    return row->reduction.op == REDUCT_PRODUCT && row->type->class == FLOAT;
}

static void check_group(const struct row *row) {
    const size_t size = row->type->size, room = 2 * row->count;
    unsigned char *x = test_alloc(room * size), *y = test_alloc(room * size), *group = test_alloc(room);
    memset(x, 1, room * size);
    memset(y, 1, room * size);
    for (size_t i = 0; i < row->count; i++) {
        group[2 * i] = 1;
        group[2 * i + 1] = 0;
        memcpy(x + 2 * i * size, (const char *)row->x + i * size, size);
        memcpy(y + 2 * i * size, (const char *)row->y + i * size, size);
    }
    const reduct_groups groups = {.count = 2, .elements = room, .index = REDUCT_U8};
    const reduct_plan_options options = {.reductions = &row->reduction,
                                         .reduction_count = 1,
                                         .kind = REDUCT_GROUPS,
                                         .groups = &groups,
                                         .device = row->device};
    const void *inputs[3] = {x, y, group};
    if (!has_two(row))
        inputs[1] = group;
    run(row, &options, inputs, 2, 1, "as a group");
    free(x);
    free(y);
    free(group);
}

/* Into so many parts, each an accumulator on a device of its own, which are merged two by two. */
static void check_parts(struct rng *rng, const struct row *row, size_t parts) {
    const size_t size = row->type->size;
    reduct_accumulator *part[8] = {NULL};
    size_t first = 0;
    for (size_t p = 0; p < parts; p++) {
        const size_t count = p + 1 == parts ? row->count - first : rng_below(rng, row->count - first + 1);
        const reduct_accumulator_options options = {.reduction = &row->reduction,
                                                    .device = devices[rng_below(rng, device_count)]};
        test_status(reduct_accumulator_create(&options, &part[p], NULL), REDUCT_OK);
        test_status(reduct_accumulator_add(part[p], (const char *)row->x + first * size,
                                           has_two(row) ? (const char *)row->y + first * size : NULL, count, NULL),
                    REDUCT_OK);
        first += count;
    }
    for (size_t by = 1; by < parts; by *= 2)
        for (size_t p = 0; p + by < parts; p += 2 * by) {
            test_status(reduct_accumulator_merge(part[p], part[p + by], NULL), REDUCT_OK);
            reduct_accumulator_destroy(part[p + by]);
        }
    unsigned char result[ORACLE_RESULT_BYTES];
    const reduct_outcome outcome = {.status =
                                        (uint32_t)reduct_accumulator_result(part[0], REDUCT_DEFAULT, result, NULL)};
    check(row, result, &outcome, "in merged parts", parts);
    reduct_accumulator_destroy(part[0]);
}

static void elsewhere(void **state) {
    (void)state;
    static struct row row;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 3);
    for (uint64_t round = test_scaled(1300, test_fewest(130)); round-- > 0;) {
        make_row(&rng, &row, elements[round % element_count]);
        check_segment(&row, rng_below(&rng, 40), rng_below(&rng, 40));
        if (has_tree(&row))
            continue;
        /* Indices of groups count the elements of all; CUDA has no products of groups. */
        if (row.reduction.op != REDUCT_ARGMIN && row.reduction.op != REDUCT_ARGMAX &&
            (row.reduction.op != REDUCT_PRODUCT || strncmp(row.device, "cuda", 4) != 0))
            check_group(&row);
        for (size_t parts = 2; parts <= 8; parts++)
            check_parts(&rng, &row, parts);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(batches), cmocka_unit_test(millions),
                                       cmocka_unit_test(alignments), cmocka_unit_test(elsewhere)};
    return cmocka_run_group_tests_name("invariance", tests, find_devices, NULL);
}
