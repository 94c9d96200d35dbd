/* Accumulators: however data is cut, permuted, added, merged, saved and loaded in between, on whatever device, the bits
 * are those of one pass, which are the oracle's.
 *
 * From the survival list: "Same bits: every permutation and partition of the data, merged in any order, saved and
 * loaded in between".
 */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

enum { MOST = 5000, PARTS = 9, SAVED = 4096 };

static const char *devices[TEST_MAX_DEVICES];
static size_t device_count;

static int find_devices(void **state) {
    (void)state;
    device_count = test_devices(devices);
    return 0;
}

static const char *any_device(struct rng *rng) {
    return devices[rng_below(rng, device_count)];
}

static reduct_accumulator *make(const reduct_reduction *reduction, const char *device, unsigned threads) {
    reduct_accumulator *accumulator = NULL;
    reduct_error error = {0};
    const reduct_status status = reduct_accumulator_create(
        &(reduct_accumulator_options){.reduction = reduction, .device = device, .threads = threads}, &accumulator,
        &error);
    if (status != REDUCT_OK)
        test_fail("no accumulator for %s of %s: %s", reduct_operator_name(reduction->op),
                  reduct_type_name(reduction->element), error.message);
    return accumulator;
}

static size_t save(const reduct_accumulator *accumulator, unsigned char bytes[SAVED]) {
    size_t needed = 0, size = SAVED;
    test_status(reduct_accumulator_save(accumulator, NULL, &needed, NULL), REDUCT_OK);
    test_status(reduct_accumulator_save(accumulator, bytes, &size, NULL), REDUCT_OK);
    assert_int_equal(needed, size);
    return size;
}

static void assert_same_state(const reduct_accumulator *a, const reduct_accumulator *b) {
    unsigned char bytes_a[SAVED], bytes_b[SAVED];
    const size_t size_a = save(a, bytes_a), size_b = save(b, bytes_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(bytes_a, bytes_b, size_a);
}

/* Replaces an accumulator by a loaded copy of its saved bytes. */
static void through_bytes(struct rng *rng, reduct_accumulator **accumulator) {
    unsigned char bytes[SAVED];
    const size_t size = save(*accumulator, bytes);
    reduct_accumulator *loaded = NULL;
    const char *device = any_device(rng);
    test_status(reduct_accumulator_load(bytes, size, &(reduct_accumulator_options){.device = device, .threads = 1},
                                        &loaded, NULL),
                REDUCT_OK);
    assert_same_state(*accumulator, loaded);
    reduct_accumulator_destroy(*accumulator);
    *accumulator = loaded;
}

/* Every result type that the operator has, against the oracle. */
static void check_results(const reduct_accumulator *accumulator, const struct oracle *oracle,
                          const reduct_reduction *reduction, const char *what) {
    for (size_t i = 0; i < test_type_count; i++) {
        if (!oracle_has_result(reduction->op, reduction->element, test_types[i].type))
            continue;
        reduct_reduction as = *reduction;
        as.result = test_types[i].type;
        const struct oracle_result expected = oracle_expect(oracle, &as);
        struct test_outcome got = test_outcome();
        got.status = reduct_accumulator_result(accumulator, as.result, got.bytes, &got.error);
        test_check(&got, &expected, &as, "%s", what);
    }
    assert_int_equal(reduct_accumulator_count(accumulator),
                     reduction->nan == REDUCT_NAN_IGNORE ? oracle->elements - oracle->nans : oracle->elements);
}

struct data {
    const struct test_type *type;
    const struct distribution *distribution;
    size_t count;
    double x[MOST], y[MOST]; /* room for every type */
};

static void fill(struct rng *rng, struct data *data, const struct test_type *type) {
    do
        data->distribution = &distributions[rng_below(rng, distribution_count)];
    while (!distribution_suits(data->distribution, type));
    data->type = type;
    data->count = rng_below(rng, rng_below(rng, 3) ? 200 : MOST);
    data->distribution->fill(rng, type, data->x, data->y, data->count);
}

static const void *element_at(const struct data *data, const double *array, size_t index) {
    return (const char *)array + index * data->type->size;
}

/* A random reduction of an element type. ERROR is left to a test of its own. */
static reduct_reduction any_reduction(struct rng *rng, const struct test_type *type) {
    reduct_operator op;
    do
        op = test_operators[rng_below(rng, test_operator_count)].op;
    while (!oracle_has(op, type->type));
    reduct_reduction reduction = test_reduction(op, type->type, REDUCT_DEFAULT);
    reduction.nan = rng_next(rng) & 1 ? REDUCT_NAN_PROPAGATE : REDUCT_NAN_IGNORE;
    reduction.flags = (uint32_t)rng_below(rng, 4);
    return reduction;
}

/* Products of floats have a tree of their own: in pieces and merged where that can be, they are in test_product.c. */
static bool has_tree(const reduct_reduction *reduction) {
    return reduction->op == REDUCT_PRODUCT && test_type(reduction->element)->class == FLOAT;
}

static bool depends_on_order(reduct_operator op) {
    return op == REDUCT_ARGMIN || op == REDUCT_ARGMAX;
}

static void add(reduct_accumulator *accumulator, const struct data *data, reduct_operator op, size_t first,
                size_t last) {
    const bool two = test_operator(op)->inputs == 2;
    test_status(reduct_accumulator_add(accumulator, element_at(data, data->x, first),
                                       two ? element_at(data, data->y, first) : NULL, last - first, NULL),
                REDUCT_OK);
}

/* Data in PARTS parts, some empty, each added in two steps, each to an accumulator of its own. */
static void make_parts(struct rng *rng, const struct data *data, const reduct_reduction *reduction,
                       reduct_accumulator *parts[PARTS]) {
    size_t first = 0;
    for (size_t p = 0; p < PARTS; p++) {
        const size_t last = p == PARTS - 1 ? data->count : first + rng_below(rng, data->count - first + 1);
        const size_t middle = first + rng_below(rng, last - first + 1);
        parts[p] = make(reduction, any_device(rng), 1);
        add(parts[p], data, reduction->op, first, middle);
        add(parts[p], data, reduction->op, middle, last);
        first = last;
    }
}

/* Merges all parts into parts[0], in random association and, unless `in_order`, random order. */
static void merge_parts(struct rng *rng, bool in_order, reduct_accumulator *parts[PARTS]) {
    for (size_t left = PARTS; left > 1; left--) {
        size_t into = rng_below(rng, left - 1), from = into + 1;
        if (!in_order && rng_next(rng) & 1) {
            from = rng_below(rng, left - 1);
            into = left - 1;
        }
        if (rng_below(rng, 3) == 0)
            through_bytes(rng, &parts[rng_next(rng) & 1 ? into : from]);
        test_status(reduct_accumulator_merge(parts[into], parts[from], NULL), REDUCT_OK);
        reduct_accumulator_destroy(parts[from]);
        memmove(parts + from, parts + from + 1, (left - from - 1) * sizeof *parts);
    }
}

static void split_and_merged(void **state) {
    (void)state;
    static struct data data;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed());
    struct oracle oracle;
    oracle_init(&oracle);
    for (uint64_t round = test_scaled(6000, 300); round-- > 0;) {
        fill(&rng, &data, elements[rng_below(&rng, element_count)]);
        const reduct_reduction reduction = any_reduction(&rng, data.type);
        if (has_tree(&reduction))
            continue;
        oracle_read(&oracle, data.type->type, data.x, test_operator(reduction.op)->inputs == 2 ? data.y : NULL,
                    data.count);

        reduct_accumulator *whole = make(&reduction, any_device(&rng), 1), *parts[PARTS];
        add(whole, &data, reduction.op, 0, data.count);
        check_results(whole, &oracle, &reduction, data.distribution->name);

        make_parts(&rng, &data, &reduction, parts);
        const bool in_order = depends_on_order(reduction.op) || rng_next(&rng) & 1;
        merge_parts(&rng, in_order, parts);
        check_results(parts[0], &oracle, &reduction, data.distribution->name);
        if (in_order || !depends_on_order(reduction.op))
            assert_same_state(whole, parts[0]);
        reduct_accumulator_destroy(whole);
        reduct_accumulator_destroy(parts[0]);
    }
    oracle_clear(&oracle);
}

static void permuted(void **state) {
    (void)state;
    static struct data data;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 1);
    struct oracle oracle;
    oracle_init(&oracle);
    for (uint64_t round = test_scaled(1500, 100); round-- > 0;) {
        fill(&rng, &data, elements[rng_below(&rng, element_count)]);
        reduct_reduction reduction = any_reduction(&rng, data.type);
        const bool two = test_operator(reduction.op)->inputs == 2;
        if (depends_on_order(reduction.op) || has_tree(&reduction))
            continue;
        oracle_read(&oracle, data.type->type, data.x, two ? data.y : NULL, data.count);
        const struct oracle_result expected = oracle_expect(&oracle, &reduction);
        for (int i = 0; i < 3; i++) {
            values_shuffle(&rng, data.type, data.x, two ? data.y : NULL, data.count);
            const struct test_outcome got =
                test_run(&reduction, any_device(&rng), 1, data.x, two ? data.y : NULL, data.count);
            test_check(&got, &expected, &reduction, "%zu %s, shuffled", data.count, data.distribution->name);
        }
    }
    oracle_clear(&oracle);
}

/* Merged with itself, an accumulator holds its data twice; 50 times over, a few thousand elements become 10^18, more
 * than any limb can take without carrying. */
static void merged_with_itself(void **state) {
    (void)state;
    static struct data data;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 2);
    struct oracle oracle;
    oracle_init(&oracle);
    for (uint64_t round = test_scaled(1500, 200); round-- > 0;) {
        const unsigned doublings = rng_next(&rng) & 1 ? 1 : 50;
        fill(&rng, &data, elements[rng_below(&rng, element_count)]);
        const reduct_reduction reduction = any_reduction(&rng, data.type);
        if (has_tree(&reduction))
            continue;
        oracle_read(&oracle, data.type->type, data.x, test_operator(reduction.op)->inputs == 2 ? data.y : NULL,
                    data.count);
        oracle_repeat(&oracle, doublings);
        reduct_accumulator *accumulator = make(&reduction, any_device(&rng), 1);
        add(accumulator, &data, reduction.op, 0, data.count);
        for (unsigned i = 0; i < doublings; i++)
            test_status(reduct_accumulator_merge(accumulator, accumulator, NULL), REDUCT_OK);
        check_results(accumulator, &oracle, &reduction, data.distribution->name);
        through_bytes(&rng, &accumulator);
        check_results(accumulator, &oracle, &reduction, data.distribution->name);
        reduct_accumulator_destroy(accumulator);
    }
    oracle_clear(&oracle);
}

/* One element of the largest magnitude, merged until there are as many as there may be: that is saved and loaded, and more
 * is refused. */
static void check_most(struct rng *rng, const struct test_type *type, reduct_reduction reduction, bool negative) {
    double x[1], y[1];
    reduct_error error = {0};
    const uint64_t top = (uint64_t)1 << (8 * type->size - 1), largest = values_infinity(type) - 1;
    const uint64_t bits = type->class == FLOAT ? largest | (negative ? top : 0) : negative ? top : top - 1;
    values_put_bits(type, x, 0, type->class == UNSIGNED ? top | (top - 1) : bits);
    memcpy(y, x, sizeof y);
    const void *second = test_operator(reduction.op)->inputs == 2 ? y : NULL;
    reduct_accumulator *accumulator = make(&reduction, any_device(rng), 1);
    test_status(reduct_accumulator_add(accumulator, x, second, 1, NULL), REDUCT_OK);
    for (unsigned doublings = 0; doublings < 63; doublings++)
        test_status(reduct_accumulator_merge(accumulator, accumulator, NULL), REDUCT_OK);
    through_bytes(rng, &accumulator);
    test_status(reduct_accumulator_add(accumulator, x, second, 1, &error), REDUCT_ERROR_TOO_LARGE);
    assert_non_null(strstr(error.message, "2^63"));
    test_status(reduct_accumulator_merge(accumulator, accumulator, &error), REDUCT_ERROR_TOO_LARGE);
    assert_non_null(strstr(error.message, "2^63"));
    assert_true(reduct_accumulator_count(accumulator) == (uint64_t)1 << 63);
    reduct_accumulator_destroy(accumulator);
}

static void as_many_as_can_be(void **state) {
    (void)state;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 6);
    for (size_t e = 0; e < element_count; e++)
        for (size_t o = 0; o < test_operator_count; o++) {
            reduct_reduction reduction = test_reduction(test_operators[o].op, elements[e]->type, REDUCT_DEFAULT);
            if (has_tree(&reduction) || !oracle_has(reduction.op, reduction.element))
                continue;
            check_most(&rng, elements[e], reduction, false);
            check_most(&rng, elements[e], reduction, true);
        }
}

/* Many small additions in a row, results read in between. */
static void streamed(void **state) {
    (void)state;
    static struct data data;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 3);
    struct oracle oracle;
    oracle_init(&oracle);
    for (uint64_t round = test_scaled(300, 30); round-- > 0;) {
        fill(&rng, &data, elements[rng_below(&rng, element_count)]);
        const reduct_reduction reduction = any_reduction(&rng, data.type);
        const bool two = test_operator(reduction.op)->inputs == 2;
        reduct_accumulator *accumulator = make(&reduction, any_device(&rng), 1);
        oracle_read(&oracle, data.type->type, data.x, two ? data.y : NULL, 0);
        oracle.pairs = two;
        for (size_t first = 0; first < data.count;) {
            size_t last = first + 1 + rng_below(&rng, 60);
            last = last < data.count ? last : data.count;
            add(accumulator, &data, reduction.op, first, last);
            oracle_read_more(&oracle, element_at(&data, data.x, first), two ? element_at(&data, data.y, first) : NULL,
                             last - first);
            if (rng_below(&rng, 10) == 0)
                check_results(accumulator, &oracle, &reduction, data.distribution->name);
            first = last;
        }
        check_results(accumulator, &oracle, &reduction, data.distribution->name);
        reduct_accumulator *fresh = make(&reduction, any_device(&rng), 1);
        reduct_accumulator_reset(accumulator);
        assert_same_state(accumulator, fresh);
        reduct_accumulator_destroy(fresh);
        reduct_accumulator_destroy(accumulator);
    }
    oracle_clear(&oracle);
}

static void empty(void **state) {
    (void)state;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct oracle oracle;
    oracle_init(&oracle);
    for (size_t o = 0; o < test_operator_count; o++)
        for (size_t e = 0; e < element_count; e++) {
            const reduct_reduction reduction = test_reduction(test_operators[o].op, elements[e]->type, REDUCT_DEFAULT);
            if (!oracle_has(reduction.op, reduction.element))
                continue;
            oracle_read(&oracle, reduction.element, "", test_operators[o].inputs == 2 ? "" : NULL, 0);
            reduct_accumulator *accumulator = make(&reduction, "cpu", 0);
            check_results(accumulator, &oracle, &reduction, "nothing added");
            test_status(reduct_accumulator_add(accumulator, NULL, NULL, 0, NULL), REDUCT_OK);
            check_results(accumulator, &oracle, &reduction, "nothing, added");
            reduct_accumulator_destroy(accumulator);
        }
    oracle_clear(&oracle);
}

/* Under REDUCT_NAN_ERROR an addition with a NaN fails with its index, counted from the first element ever added, and
 * leaves everything as it was. */
static void nan_refused(void **state) {
    (void)state;
    static const reduct_type floats[] = {REDUCT_F64, REDUCT_F32};
    struct rng rng = rng_of(test_seed() + 4);
    double x[600], y[600];
    for (size_t o = 0; o < test_operator_count; o++)
        for (size_t t = 0; t < 2; t++)
            for (size_t d = 0; d < device_count; d++) {
                const struct test_type *type = test_type(floats[t]);
                const bool two = test_operators[o].inputs == 2;
                if (!oracle_has(test_operators[o].op, floats[t]))
                    continue;
                reduct_reduction reduction = test_reduction(test_operators[o].op, floats[t], REDUCT_DEFAULT);
                reduction.nan = REDUCT_NAN_ERROR;
                const size_t count = 2 + rng_below(&rng, 598), at = rng_below(&rng, count);
                distribution_named("normal")->fill(&rng, type, x, y, count);
                reduct_accumulator *accumulator = make(&reduction, devices[d], 1), *same = make(&reduction, "cpu", 1);
                test_status(reduct_accumulator_add(accumulator, x, two ? y : NULL, count, NULL), REDUCT_OK);
                test_status(reduct_accumulator_add(same, x, two ? y : NULL, count, NULL), REDUCT_OK);
                values_put_bits(type, two && rng_next(&rng) & 1 ? y : x, at, values_nan(&rng, type));
                values_put_bits(type, x, count - 1, values_nan(&rng, type));
                reduct_error error = {0};
                test_status(reduct_accumulator_add(accumulator, x, two ? y : NULL, count, &error), REDUCT_ERROR_NAN);
                assert_int_equal(error.status, REDUCT_ERROR_NAN);
                assert_int_equal(error.index, count + at);
                assert_same_state(accumulator, same);
                reduct_accumulator_destroy(accumulator);
                reduct_accumulator_destroy(same);
            }
}

/* Only accumulators of the same reduction merge; the result type and the device may differ. */
static void mismatches(void **state) {
    (void)state;
    const double x[] = {1, 2, 3};
    const reduct_reduction base = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    reduct_reduction others[5];
    for (size_t i = 0; i < 5; i++)
        others[i] = base;
    others[0].op = REDUCT_MEAN;
    others[1].element = REDUCT_F32;
    others[2].mode = REDUCT_FAST;
    others[3].nan = REDUCT_NAN_IGNORE;
    others[4].flags = REDUCT_WRAP;
    reduct_accumulator *a = make(&base, "cpu", 1), *same = make(&base, "cpu", 1);
    test_status(reduct_accumulator_add(a, x, NULL, 3, NULL), REDUCT_OK);
    test_status(reduct_accumulator_add(same, x, NULL, 3, NULL), REDUCT_OK);
    for (size_t i = 0; i < 5; i++) {
        others[i].result = REDUCT_DEFAULT;
        reduct_accumulator *b = make(&others[i], "cpu", 1);
        reduct_error error = {0};
        test_status(reduct_accumulator_merge(a, b, &error), REDUCT_ERROR_MISMATCH);
        assert_int_equal(error.status, REDUCT_ERROR_MISMATCH);
        assert_true(error.message[0] != 0);
        test_status(reduct_accumulator_merge(b, a, NULL), REDUCT_ERROR_MISMATCH);
        assert_int_equal(reduct_accumulator_count(b), 0);
        assert_same_state(a, same);
        reduct_accumulator_destroy(b);
    }
    reduct_reduction single = base;
    single.result = REDUCT_F32;
    reduct_accumulator *b = make(&single, "cpu:portable", 3);
    test_status(reduct_accumulator_merge(b, a, NULL), REDUCT_OK);
    float sum = 0;
    test_status(reduct_accumulator_result(b, REDUCT_DEFAULT, &sum, NULL), REDUCT_OK);
    assert_true(sum == 6);
    assert_int_equal(reduct_accumulator_reduction(b).result, REDUCT_F32);
    reduct_accumulator_destroy(a);
    reduct_accumulator_destroy(b);
    reduct_accumulator_destroy(same);
}

/* A fast sum saved, loaded and continued is the fast sum that was not. */
static void fast_saved(void **state) {
    (void)state;
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_MEAN, REDUCT_VAR,   REDUCT_STD,  REDUCT_SUMSQ,
                                          REDUCT_DOT, REDUCT_RMS,  REDUCT_NORM1, REDUCT_NORM2};
    struct rng rng = rng_of(test_seed() + 5);
    double x[1000], y[1000];
    distribution_named("normal")->fill(&rng, test_type(REDUCT_F64), x, y, 1000);
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
        reduct_reduction reduction = test_reduction(ops[o], REDUCT_F64, REDUCT_DEFAULT);
        reduction.mode = REDUCT_FAST;
        const double *second = oracle_inputs(ops[o]) == 2 ? y : NULL;
        reduct_accumulator *plain = make(&reduction, devices[0], 1), *saved = make(&reduction, devices[0], 1);
        for (size_t i = 0; i < 1000; i += 250) {
            test_status(reduct_accumulator_add(plain, x + i, second ? second + i : NULL, 250, NULL), REDUCT_OK);
            test_status(reduct_accumulator_add(saved, x + i, second ? second + i : NULL, 250, NULL), REDUCT_OK);
            through_bytes(&rng, &saved);
        }
        double a = 0, b = 1;
        test_status(reduct_accumulator_result(plain, REDUCT_F64, &a, NULL), REDUCT_OK);
        test_status(reduct_accumulator_result(saved, REDUCT_F64, &b, NULL), REDUCT_OK);
        assert_memory_equal(&a, &b, sizeof a);
        reduct_accumulator_destroy(plain);
        reduct_accumulator_destroy(saved);
    }
}

/* What a mask lets count of some data, side by side, and where each of it was. Returns how many. */
static size_t keep(const struct data *data, reduct_mask kind, const unsigned char *mask, uint64_t offset,
                   struct data *kept, uint64_t *places) {
    const size_t size = data->type->size;
    size_t count = 0;
    for (size_t i = 0; i < data->count; i++) {
        const uint64_t at = offset + i;
        if (kind == REDUCT_MASK_BYTES ? mask[at] == 0 : !(mask[at / 8] >> at % 8 & 1))
            continue;
        memcpy((char *)kept->x + count * size, element_at(data, data->x, i), size);
        memcpy((char *)kept->y + count * size, element_at(data, data->y, i), size);
        places[count++] = i;
    }
    return count;
}

static void add_masked(reduct_accumulator *accumulator, const struct data *data, reduct_operator op, reduct_mask kind,
                       const unsigned char *mask, uint64_t offset, size_t first, size_t last) {
    test_status(reduct_accumulator_add_masked(accumulator, element_at(data, data->x, first),
                                              test_operator(op)->inputs == 2 ? element_at(data, data->y, first) : NULL,
                                              last - first, kind, mask, offset + first, NULL),
                REDUCT_OK);
}

/* The result is the oracle's for what is kept; of an index, where that was. */
static void check_kept(const reduct_accumulator *masked, const reduct_reduction *reduction, const struct data *kept,
                       size_t count, const uint64_t *places) {
    struct oracle oracle;
    oracle_init(&oracle);
    oracle_read(&oracle, kept->type->type, kept->x, test_operator(reduction->op)->inputs == 2 ? kept->y : NULL, count);
    reduct_reduction resolved = *reduction;
    resolved.result = oracle_default_result(reduction->op, reduction->element);
    struct oracle_result expected = oracle_expect(&oracle, &resolved);
    uint64_t index;
    if (expected.status == REDUCT_OK && depends_on_order(reduction->op)) {
        memcpy(&index, expected.bytes, sizeof index);
        memcpy(expected.bytes, &places[index], sizeof index);
    }
    struct test_outcome got = test_outcome();
    got.status = reduct_accumulator_result(masked, REDUCT_DEFAULT, got.bytes, &got.error);
    test_check(&got, &expected, &resolved, "%zu kept", count);
    assert_int_equal(reduct_accumulator_count(masked),
                     reduction->nan == REDUCT_NAN_IGNORE ? oracle.elements - oracle.nans : oracle.elements);
    oracle_clear(&oracle);
}

/* What a mask takes out is as if it had never been added, but for the index. */
static void masked(void **state) {
    (void)state;
    static struct data data, kept;
    static unsigned char mask[MOST + 64];
    static uint64_t places[MOST];
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 6);
    for (uint64_t round = test_scaled(1500, 100); round-- > 0;) {
        fill(&rng, &data, elements[rng_below(&rng, element_count)]);
        const reduct_reduction reduction = any_reduction(&rng, data.type);
        const reduct_mask kind = rng_next(&rng) & 1 ? REDUCT_MASK_BYTES : REDUCT_MASK_BITS;
        const uint64_t offset = rng_below(&rng, 64);
        const size_t cut = rng_below(&rng, data.count + 1);
        for (size_t i = 0; i < sizeof mask; i++)
            mask[i] = rng_below(&rng, 3) ? (unsigned char)rng_next(&rng) : 0;
        reduct_accumulator *whole = make(&reduction, any_device(&rng), 1), *cpu = make(&reduction, "cpu", 1);
        add_masked(whole, &data, reduction.op, kind, mask, offset, 0, cut);
        through_bytes(&rng, &whole);
        add_masked(whole, &data, reduction.op, kind, mask, offset, cut, data.count);
        add_masked(cpu, &data, reduction.op, kind, mask, offset, 0, data.count);
        assert_same_state(whole, cpu);
        kept.type = data.type;
        if (!has_tree(&reduction)) /* in which what is masked out is a factor of 1 */
            check_kept(whole, &reduction, &kept, keep(&data, kind, mask, offset, &kept, places), places);
        reduct_accumulator_destroy(whole);
        reduct_accumulator_destroy(cpu);
    }
}

/* Where there is no mask all that is added counts. */
static void not_masked(void **state) {
    (void)state;
    static struct data data;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 7);
    for (uint64_t round = test_scaled(200, 20); round-- > 0;) {
        fill(&rng, &data, elements[rng_below(&rng, element_count)]);
        const reduct_reduction reduction = any_reduction(&rng, data.type);
        const char *device = any_device(&rng);
        const void *y = test_operator(reduction.op)->inputs == 2 ? data.y : NULL;
        reduct_accumulator *added = make(&reduction, device, 1), *same = make(&reduction, device, 1);
        for (int i = 0; i < 2; i++) {
            test_status(reduct_accumulator_add(added, data.x, y, data.count, NULL), REDUCT_OK);
            test_status(reduct_accumulator_add_masked(same, data.x, y, data.count, REDUCT_MASK_NONE, NULL, 0, NULL),
                        REDUCT_OK);
        }
        assert_same_state(added, same);
        reduct_accumulator_destroy(added);
        reduct_accumulator_destroy(same);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_masked),
        cmocka_unit_test(masked),
        cmocka_unit_test(split_and_merged),
        cmocka_unit_test(permuted),
        cmocka_unit_test(merged_with_itself),
        cmocka_unit_test(streamed),
        cmocka_unit_test(empty),
        cmocka_unit_test(nan_refused),
        cmocka_unit_test(mismatches),
        cmocka_unit_test(fast_saved),
        cmocka_unit_test(as_many_as_can_be),
    };
    return cmocka_run_group_tests_name("accumulator", tests, find_devices, NULL);
}
