/* Fast mode against an oracle: for every operator, NaN policy, element type and device the exact value and the error that
 * the header allows (bound.h), on data of every kind, with NaNs and infinities in every place that a block has, of lengths
 * around the ends of blocks and pieces, in one plan and in accumulators that were split, merged, saved and loaded. That it
 * does not depend on threads or environment is tested with those.
 *
 * From the survival list: "Oracles, independent of our code"; "NaN ... first, middle, last, all".
 */
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "support.h"
#include "values.h"

enum { BLOCK = 4096, PIECE = 1 << 16, MOST = 2 * PIECE + BLOCK + 3, PARTS = 6, SAVED = 4096 };

static const char *devices[TEST_MAX_DEVICES];
static size_t device_count;
static const struct test_type *elements[TEST_MAX_TYPES];
static size_t element_count;

/* Data and what the oracle makes of it, alone and in pairs. */
struct data {
    const struct test_type *type;
    char name[64];
    size_t count;
    double x[MOST], y[MOST]; /* room for every type */
    struct oracle single, pairs;
};
static struct data data;

static int begin(void **state) {
    (void)state;
    device_count = test_devices(devices);
    element_count = test_elements(elements);
    oracle_init(&data.single);
    oracle_init(&data.pairs);
    return 0;
}

static int end(void **state) {
    (void)state;
    oracle_clear(&data.single);
    oracle_clear(&data.pairs);
    mpfr_free_cache();
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Data
 * ------------------------------------------------------------------------------------------------------------------ */

static void fill(struct rng *rng, const struct test_type *type, const struct distribution *distribution, size_t count) {
    data.type = type;
    data.count = count;
    snprintf(data.name, sizeof data.name, "%s", distribution->name);
    distribution->fill(rng, type, data.x, data.y, count);
}

static const struct distribution *any_distribution(struct rng *rng, const struct test_type *type) {
    const struct distribution *distribution;
    do
        distribution = &distributions[rng_below(rng, distribution_count)];
    while (!distribution_suits(distribution, type));
    return distribution;
}

static void read_data(void) {
    oracle_read(&data.single, data.type->type, data.x, NULL, data.count);
    oracle_read(&data.pairs, data.type->type, data.x, data.y, data.count);
}

static void put_nan(struct rng *rng, size_t index) {
    values_put_bits(data.type, data.x, index, values_nan(rng, data.type));
    if (rng_next(rng) & 1) /* of a pair either may be one, or both */
        values_put_bits(data.type, data.y, index, values_nan(rng, data.type));
}

static void put_nans(struct rng *rng, size_t first, size_t count) {
    for (size_t i = first; i < first + count && i < data.count; i++)
        put_nan(rng, i);
}

static void put_infinity(struct rng *rng, bool negative) {
    const uint64_t sign = (uint64_t)negative << (8 * data.type->size - 1);
    values_put_bits(data.type, rng_next(rng) & 1 ? data.x : data.y, rng_below(rng, data.count),
                    values_infinity(data.type) | sign);
}

/* Where NaNs and infinities are put into floats. */
enum special {
    NOTHING,
    FIRST,
    MIDDLE,
    LAST,
    BLOCK_END,
    MANY,
    WHOLE_BLOCK,
    ALL_BUT_ONE,
    ALL,
    PLUS,
    MINUS,
    BOTH,
    MIXED,
    SPECIALS
};

static void put_special(struct rng *rng, enum special special) {
    static const char *const names[SPECIALS] = {"as it is",
                                                "NaN first",
                                                "NaN in the middle",
                                                "NaN last",
                                                "NaN at the end of a block",
                                                "many NaNs",
                                                "a block of NaNs",
                                                "NaNs but for one",
                                                "NaNs only",
                                                "an infinity",
                                                "a negative infinity",
                                                "both infinities",
                                                "infinities and NaNs"};
    const size_t count = data.count;
    const size_t used = strlen(data.name);
    snprintf(data.name + used, sizeof data.name - used, ", %s", names[special]);
    switch (special) {
    case FIRST:
        put_nan(rng, 0);
        break;
    case MIDDLE:
        put_nan(rng, count / 2);
        break;
    case LAST:
        put_nan(rng, count - 1);
        break;
    case BLOCK_END:
        put_nans(rng, BLOCK - 1, 2);
        break;
    case MIXED:
        put_infinity(rng, rng_next(rng) & 1);
        /* fall through */
    case MANY:
        for (size_t i = 0; i < count; i++)
            if (rng_below(rng, 3) == 0)
                put_nan(rng, i);
        break;
    case WHOLE_BLOCK:
        put_nans(rng, count > 2 * BLOCK ? BLOCK : 0, BLOCK);
        break;
    case ALL_BUT_ONE:
        put_nans(rng, 0, count / 2);
        put_nans(rng, count / 2 + 1, count);
        break;
    case ALL:
        put_nans(rng, 0, count);
        break;
    case PLUS:
    case MINUS:
    case BOTH:
        if (special != MINUS)
            put_infinity(rng, false);
        if (special != PLUS)
            put_infinity(rng, true);
        break;
    default:
        break;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * One plan
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_reduction fast(reduct_operator op, reduct_nan nan, reduct_type result) {
    reduct_reduction reduction = test_reduction(op, data.type->type, result);
    reduction.mode = REDUCT_FAST;
    reduction.nan = nan;
    return reduction;
}

static const struct oracle *oracle_of(reduct_operator op) {
    return oracle_inputs(op) == 2 ? &data.pairs : &data.single;
}

static void check_plan(const reduct_reduction *reduction, const char *device, unsigned threads) {
    const double *y = oracle_inputs(reduction->op) == 2 ? data.y : NULL;
    const struct test_outcome got = test_run(reduction, device, threads, data.x, y, data.count);
    bound_check(oracle_of(reduction->op), reduction, 1, &got, "%zu %s, on %s", data.count, data.name, device);
}

/* Two results of the same data in one plan: each within the bound, and with the same bits. */
static void check_rows(const reduct_reduction *reduction, const char *device, unsigned threads) {
    const size_t size = test_type(reduction->result)->size * (size_t)reduct_operator_outputs(reduction->op);
    const reduct_plan_options options = {.reductions = reduction,
                                         .reduction_count = 1,
                                         .kind = REDUCT_SHAPE,
                                         .shape = {.outer = 2, .n = data.count, .inner = 1, .stride = 1},
                                         .device = device,
                                         .threads = threads};
    struct test_outcome got = test_outcome();
    unsigned char results[2 * ORACLE_RESULT_BYTES];
    reduct_plan *plan = NULL;
    test_status(reduct_plan_create(&options, &plan, NULL), REDUCT_OK);
    got.status = reduct_plan_execute(plan, (const void *[]){data.x, data.y}, (void *[]){results}, NULL, &got.error);
    reduct_plan_destroy(plan);
    if (got.status == REDUCT_OK) {
        memcpy(got.bytes, results, size);
        if (memcmp(results, results + size, size))
            test_fail("fast %s of %s: two rows of %zu %s, on %s, differ", reduct_operator_name(reduction->op),
                      data.type->name, data.count, data.name, device);
    }
    bound_check(oracle_of(reduction->op), reduction, 1, &got, "two rows of %zu %s, on %s", data.count, data.name,
                device);
}

/* Slow builds and devices take fewer of the combinations, other ones with each data. */
static bool is_chosen(struct rng *rng) {
    const double share = test_scale() > 0.01 ? test_scale() : 0.01;
    return rng_unit(rng) < share;
}

/* The data at hand with every operator and policy on every device. */
static void check_everything(struct rng *rng) {
    read_data();
    for (size_t d = 0; d < device_count; d++)
        for (size_t o = 0; o < test_operator_count; o++)
            for (int nan = REDUCT_NAN_PROPAGATE; nan <= REDUCT_NAN_ERROR; nan++) {
                if (!is_chosen(rng) || !oracle_has(test_operators[o].op, data.type->type))
                    continue;
                reduct_reduction reduction = fast(test_operators[o].op, (reduct_nan)nan, REDUCT_DEFAULT);
                reduction.flags = rng_next(rng) & 1 ? REDUCT_POPULATION : 0;
                check_plan(&reduction, devices[d], 1 + (unsigned)rng_below(rng, 3));
                if (rng_below(rng, 4) == 0)
                    check_rows(&reduction, devices[d], 1 + (unsigned)rng_below(rng, 3));
                if (data.type->class != FLOAT || !oracle_has_result(reduction.op, data.type->type, REDUCT_F64))
                    continue;
                reduction.result = REDUCT_F64;
                check_plan(&reduction, devices[d], 1);
            }
}

/* NaNs and infinities, few elements and as many as blocks and pieces end at. */
static void specials(void **state) {
    (void)state;
    static const size_t counts[] = {
        1,         2,         3,         63,      64, 65, BLOCK - 1, BLOCK, 5000, BLOCK + 1, 2 * BLOCK + 1,
        3 * BLOCK, PIECE - 1, PIECE + 1, MOST - 5};
    static const char *const names[] = {"normal", "small_integer", "negative_mean", "uniform"};
    struct rng rng = rng_of(test_seed());
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t t = 0; t < element_count; t++)
            for (int special = NOTHING; special < SPECIALS; special++) {
                const size_t rounds = counts[c] < 10 ? 3 : 1;
                if (elements[t]->class != FLOAT || rng_unit(&rng) >= (counts[c] > 2 * BLOCK ? 1 : 20) * test_scale())
                    continue;
                for (size_t round = 0; round < rounds; round++) {
                    fill(&rng, elements[t], distribution_named(names[rng_below(&rng, 4)]), counts[c]);
                    put_special(&rng, (enum special)special);
                    check_everything(&rng);
                }
            }
}

/* Every kind of data, at every length near the ends of blocks and pieces and at any. */
static void all_data(void **state) {
    (void)state;
    static const size_t ends[] = {0, BLOCK, 2 * BLOCK, PIECE, PIECE + BLOCK, 2 * PIECE};
    struct rng rng = rng_of(test_seed() + 1);
    for (size_t d = 0; d < distribution_count; d++)
        for (size_t t = 0; t < element_count; t++)
            for (uint64_t round = test_scaled(8, 2); round-- > 0;) {
                if (!distribution_suits(&distributions[d], elements[t]))
                    continue;
                size_t count = rng_below(&rng, 300);
                if (rng_below(&rng, 3) == 0)
                    count = ends[rng_below(&rng, rng_unit(&rng) < test_scale() ? 6 : 3)] + rng_below(&rng, 5);
                if (count >= BLOCK && rng_next(&rng) & 1)
                    count -= 4;
                fill(&rng, elements[t], &distributions[d], count);
                check_everything(&rng);
            }
}

/* Every length up to where the unrolled loops of the kernels are all in use. */
static void all_lengths(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 2);
    for (size_t count = 0; count < 200; count += 1 + (test_scale() < 1) * 6)
        for (size_t t = 0; t < element_count; t++) {
            fill(&rng, elements[t], any_distribution(&rng, elements[t]), count);
            if (count && elements[t]->class == FLOAT)
                put_special(&rng, (enum special)rng_below(&rng, SPECIALS));
            check_everything(&rng);
        }
}

/* Zeros have signs: on the CPU those of exact mode. On a GPU, where the compensation is added to the end, -0 is lost. */
static void zeros(void **state) {
    (void)state;
    static const char *const names[] = {"plus_zero", "minus_zero", "mixed_zeros"};
    struct rng rng = rng_of(test_seed() + 5);
    for (uint64_t rounds = test_scaled(300, 20), round = 0; round < rounds; round++)
        for (size_t t = 0; t < element_count; t++) {
            if (elements[t]->class != FLOAT)
                continue;
            fill(&rng, elements[t], distribution_named(names[rng_below(&rng, 3)]), rng_below(&rng, 5000));
            if (data.count && round % 4 == 0)
                put_nan(&rng, rng_below(&rng, data.count));
            read_data();
            for (size_t o = 0; o < test_operator_count; o++) {
                if (!oracle_has(test_operators[o].op, data.type->type))
                    continue;
                const char *device = devices[rng_below(&rng, device_count)];
                const reduct_reduction reduction =
                    fast(test_operators[o].op, (reduct_nan)rng_below(&rng, 3), REDUCT_DEFAULT);
                const struct oracle_result expected = oracle_expect(oracle_of(reduction.op), &reduction);
                const double *y = oracle_inputs(reduction.op) == 2 ? data.y : NULL;
                const struct test_outcome got = test_run(&reduction, device, 1, data.x, y, data.count);
                test_check(&got, &expected, &reduction, "%zu %s on %s", data.count, data.name, device);
            }
        }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Accumulators
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_accumulator *make(const reduct_reduction *reduction, const char *device) {
    reduct_accumulator *accumulator = NULL;
    test_status(
        reduct_accumulator_create(&(reduct_accumulator_options){.reduction = reduction, .device = device, .threads = 1},
                                  &accumulator, NULL),
        REDUCT_OK);
    return accumulator;
}

static reduct_status add(reduct_accumulator *accumulator, const reduct_reduction *reduction, size_t first,
                         size_t last) {
    const size_t size = data.type->size;
    const char *x = (const char *)data.x + first * size, *y = (const char *)data.y + first * size;
    return reduct_accumulator_add(accumulator, x, oracle_inputs(reduction->op) == 2 ? y : NULL, last - first, NULL);
}

static void through_bytes(reduct_accumulator **accumulator, const char *device) {
    unsigned char bytes[SAVED];
    size_t size = sizeof bytes;
    reduct_accumulator *loaded = NULL;
    test_status(reduct_accumulator_save(*accumulator, bytes, &size, NULL), REDUCT_OK);
    test_status(reduct_accumulator_load(bytes, size, &(reduct_accumulator_options){.device = device, .threads = 1},
                                        &loaded, NULL),
                REDUCT_OK);
    reduct_accumulator_destroy(*accumulator);
    *accumulator = loaded;
}

/* Where to cut: near the ends of blocks, or anywhere. */
static size_t any_cut(struct rng *rng, size_t first) {
    const size_t left = data.count - first;
    if (left > BLOCK && rng_next(rng) & 1)
        return first + BLOCK - 1 + rng_below(rng, 3) % (left - BLOCK + 2);
    return first + rng_below(rng, left + 1);
}

static bool has_tree(const reduct_reduction *reduction) {
    return reduction->op == REDUCT_PRODUCT && data.type->class == FLOAT; /* merged in test_product.c */
}

/* Parts added to accumulators of their own or to one, and merged in order, with a trip through bytes now and then. Under
 * `error` a part with a NaN is refused: what is tested there is that it is, where the data have one. */
static void check_accumulators(struct rng *rng, const reduct_reduction *reduction) {
    reduct_accumulator *total = make(reduction, devices[rng_below(rng, device_count)]);
    uint64_t steps = 1;
    size_t first = 0;
    for (size_t part = 0; part < PARTS; part++) {
        const size_t last = part == PARTS - 1 ? data.count : any_cut(rng, first);
        const char *device = devices[rng_below(rng, device_count)];
        reduct_accumulator *other = make(reduction, device);
        reduct_accumulator *into = has_tree(reduction) || rng_next(rng) & 1 ? total : other;
        test_status(add(into, reduction, first, last), REDUCT_OK);
        if (rng_below(rng, 3) == 0)
            through_bytes(into == total ? &total : &other, device);
        test_status(reduct_accumulator_merge(total, other, NULL), REDUCT_OK);
        reduct_accumulator_destroy(other);
        first = last;
        steps += 2;
    }
    struct test_outcome got = test_outcome();
    got.status = reduct_accumulator_result(total, REDUCT_DEFAULT, got.bytes, &got.error);
    bound_check(oracle_of(reduction->op), reduction, steps, &got, "%zu %s, in parts", data.count, data.name);
    assert_int_equal(reduct_accumulator_count(total),
                     data.count - (reduction->nan == REDUCT_NAN_IGNORE ? oracle_of(reduction->op)->nans : 0));
    reduct_accumulator_destroy(total);
}

static void in_parts(void **state) {
    (void)state;
    static const size_t most[] = {20, 300, 3 * BLOCK, 3 * BLOCK, PIECE + 2 * BLOCK};
    struct rng rng = rng_of(test_seed() + 3);
    for (size_t t = 0; t < element_count; t++)
        for (uint64_t round = test_scaled(120, 20); round-- > 0;) {
            const size_t count = 1 + rng_below(&rng, most[rng_below(&rng, rng_unit(&rng) < test_scale() ? 5 : 3)]);
            fill(&rng, elements[t], any_distribution(&rng, elements[t]), count);
            if (elements[t]->class == FLOAT && rng_next(&rng) & 1)
                put_special(&rng, (enum special)rng_below(&rng, SPECIALS));
            read_data();
            for (size_t o = 0; o < test_operator_count; o++)
                for (int nan = REDUCT_NAN_PROPAGATE; nan <= REDUCT_NAN_ERROR; nan++) {
                    reduct_reduction reduction = fast(test_operators[o].op, (reduct_nan)nan, REDUCT_DEFAULT);
                    reduction.flags = rng_next(&rng) & 1 ? REDUCT_POPULATION : 0;
                    if (oracle_has(reduction.op, reduction.element) &&
                        (nan != REDUCT_NAN_ERROR || !oracle_of(reduction.op)->nans) && is_chosen(&rng))
                        check_accumulators(&rng, &reduction);
                }
        }
}

/* A NaN under `error` is refused with its index from the first element of all, and leaves the accumulator as it was. */
static void nan_in_parts(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 4);
    for (size_t t = 0; t < element_count; t++)
        for (uint64_t round = test_scaled(20, 4); round-- > 0 && elements[t]->class == FLOAT;) {
            const size_t good = 2 + rng_below(&rng, 2 * BLOCK);
            const size_t at = good + rng_below(&rng, 2 * BLOCK), count = at + 1 + rng_below(&rng, BLOCK);
            fill(&rng, elements[t], distribution_named("normal"), count);
            put_nan(&rng, at);
            data.count = good; /* what is accepted */
            read_data();
            for (size_t o = 0; o < test_operator_count; o++) {
                const reduct_reduction reduction = fast(test_operators[o].op, REDUCT_NAN_ERROR, REDUCT_DEFAULT);
                if (!oracle_has(reduction.op, reduction.element))
                    continue;
                reduct_accumulator *accumulator = make(&reduction, devices[rng_below(&rng, device_count)]);
                struct test_outcome got = test_outcome();
                test_status(add(accumulator, &reduction, 0, good), REDUCT_OK);
                const char *x = (const char *)data.x + good * data.type->size;
                const char *y = (const char *)data.y + good * data.type->size;
                test_status(reduct_accumulator_add(accumulator, x, oracle_inputs(reduction.op) == 2 ? y : NULL,
                                                   count - good, &got.error),
                            REDUCT_ERROR_NAN);
                assert_int_equal(got.error.index, at);
                got.status = reduct_accumulator_result(accumulator, REDUCT_DEFAULT, got.bytes, &got.error);
                bound_check(oracle_of(reduction.op), &reduction, 1, &got, "%zu of %zu, after a NaN at %zu", good, count,
                            at);
                reduct_accumulator_destroy(accumulator);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specials), cmocka_unit_test(all_data), cmocka_unit_test(all_lengths),
        cmocka_unit_test(zeros),    cmocka_unit_test(in_parts), cmocka_unit_test(nan_in_parts),
    };
    return cmocka_run_group_tests_name("fast", tests, begin, end);
}
