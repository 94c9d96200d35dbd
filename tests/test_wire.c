/* The state on the wire: parts that are packed to words, merged as the form says and unpacked are, to the last bit, what one pass
 * over all data gives.
 *
 * From the survival list: "Same bits: every permutation and partition of the data".
 */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

enum { MOST = 600, PARTS_MOST = 16, WORDS = 512, SAVED = 4096 };

struct state {
    unsigned char bytes[SAVED];
    size_t size;
};

static reduct_accumulator *make(const reduct_reduction *reduction) {
    reduct_accumulator *made = NULL;
    test_status(reduct_accumulator_create(
                    &(reduct_accumulator_options){.reduction = reduction, .device = "cpu", .threads = 1}, &made, NULL),
                REDUCT_OK);
    return made;
}

static struct state state_of(const reduct_accumulator *accumulator) {
    struct state state = {.size = SAVED};
    test_status(reduct_accumulator_save(accumulator, state.bytes, &state.size, NULL), REDUCT_OK);
    return state;
}

static void assert_same(const reduct_accumulator *got, const reduct_accumulator *expected, const char *what) {
    const struct state a = state_of(got), b = state_of(expected);
    const reduct_reduction reduction = reduct_accumulator_reduction(got);
    if (a.size != b.size || memcmp(a.bytes, b.bytes, a.size) != 0)
        test_fail("%s: %s of %s: not the state of one pass", what, reduct_operator_name(reduction.op),
                  reduct_type_name(reduction.element));
}

struct data {
    double x[MOST], y[MOST]; /* room for every type */
    size_t count;
};

static void fill(struct rng *rng, struct data *data, const struct test_type *type) {
    const struct distribution *distribution;
    do
        distribution = &distributions[rng_below(rng, distribution_count)];
    while (!distribution_suits(distribution, type));
    data->count = rng_below(rng, rng_below(rng, 4) ? 40 : MOST);
    distribution->fill(rng, type, data->x, data->y, data->count);
}

static void add(reduct_accumulator *accumulator, const struct data *data, size_t first, size_t last) {
    const reduct_reduction reduction = reduct_accumulator_reduction(accumulator);
    const size_t size = test_type(reduction.element)->size;
    const char *x = (const char *)data->x + first * size, *y = (const char *)data->y + first * size;
    test_status(
        reduct_accumulator_add(accumulator, x, test_operator(reduction.op)->inputs == 2 ? y : NULL, last - first, NULL),
        REDUCT_OK);
}

/* Merges two arrays of words as a program does that knows nothing but the form. */
static void merge(const reduct_reduction *reduction, const reduct_words *form, int64_t *words, const int64_t *others) {
    if (form->rest == REDUCT_MERGE_IN_ORDER) {
        test_status(reduct_words_merge(reduction, words, others, NULL), REDUCT_OK);
        return;
    }
    for (size_t i = 0; i < form->count; i++) {
        const reduct_merge how = i < form->added ? REDUCT_MERGE_ADD : form->rest;
        words[i] = how == REDUCT_MERGE_ADD     ? (int64_t)((uint64_t)words[i] + (uint64_t)others[i])
                   : how == REDUCT_MERGE_LEAST ? (others[i] < words[i] ? others[i] : words[i])
                   : how == REDUCT_MERGE_AND   ? (words[i] & others[i])
                   : how == REDUCT_MERGE_OR    ? (words[i] | others[i])
                                               : (words[i] ^ others[i]);
    }
}

/* Packs parts of the data, some of them empty. */
static size_t pack_parts(struct rng *rng, const reduct_reduction *reduction, const struct data *data,
                         int64_t words[PARTS_MOST][WORDS]) {
    const size_t parts = 1 + rng_below(rng, PARTS_MOST);
    size_t first = 0;
    for (size_t p = 0; p < parts; p++) {
        const size_t last = p == parts - 1 ? data->count : first + rng_below(rng, data->count - first + 1);
        reduct_accumulator *part = make(reduction);
        add(part, data, first, last);
        memset(words[p], 0x5A, sizeof words[p]);
        test_status(reduct_accumulator_pack(part, words[p], NULL), REDUCT_OK);
        reduct_accumulator_destroy(part);
        first = last;
    }
    return parts;
}

/* Neighbours meet in random association and, where the order does not matter, anyone meets anyone. */
static void merge_parts(struct rng *rng, const reduct_reduction *reduction, const reduct_words *form,
                        int64_t words[PARTS_MOST][WORDS], size_t parts) {
    const bool in_order = form->rest == REDUCT_MERGE_IN_ORDER, library = rng_next(rng) & 1;
    for (size_t left = parts; left > 1; left--) {
        size_t into = rng_below(rng, left - 1), from = into + 1;
        if (!in_order) {
            from = left - 1;
            into = rng_below(rng, from);
        }
        if (library)
            test_status(reduct_words_merge(reduction, words[into], words[from], NULL), REDUCT_OK);
        else
            merge(reduction, form, words[into], words[from]);
        memmove(words[from], words[from + 1], (left - from - 1) * sizeof words[0]);
    }
}

static bool is_fast_sum(const reduct_reduction *reduction) {
    const reduct_reduction exact = {.op = reduction->op, .element = reduction->element};
    reduct_words form = {0}, exact_form = {0};
    reduct_reduction_words(reduction, &form, NULL);
    reduct_reduction_words(&exact, &exact_form, NULL);
    return form.rest != exact_form.rest;
}

static void check_parts(struct rng *rng, const reduct_reduction *reduction) {
    static struct data data;
    static int64_t words[PARTS_MOST + 1][WORDS];
    reduct_words form;
    fill(rng, &data, test_type(reduction->element));
    test_status(reduct_reduction_words(reduction, &form, NULL), REDUCT_OK);
    assert_in_range(form.count, 1, WORDS);
    const size_t parts = pack_parts(rng, reduction, &data, words);
    for (size_t i = form.count; i < WORDS; i++)
        assert_int_equal(words[0][i], 0x5A5A5A5A5A5A5A5A); /* written as said and no more */
    merge_parts(rng, reduction, &form, words, parts);
    reduct_accumulator *got = make(reduction), *expected = make(reduction);
    add(got, &data, 0, data.count / 2); /* which is replaced */
    test_status(reduct_accumulator_unpack(got, words[0], NULL), REDUCT_OK);
    add(expected, &data, 0, data.count);
    if (is_fast_sum(reduction))
        assert_int_equal(reduct_accumulator_count(got), reduct_accumulator_count(expected));
    else
        assert_same(got, expected, "merged words");
    reduct_accumulator_destroy(got);
    reduct_accumulator_destroy(expected);
}

/* Of every operator, element type, mode and NaN policy. */
static void for_each(void (*check)(struct rng *rng, const reduct_reduction *reduction)) {
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed());
    for (size_t o = 0; o < test_operator_count; o++)
        for (size_t e = 0; e < element_count; e++)
            for (int choice = 0; choice < 4; choice++) {
                const reduct_operator op = test_operators[o].op;
                if (!oracle_has(op, elements[e]->type) || (op == REDUCT_PRODUCT && elements[e]->class == FLOAT))
                    continue;
                reduct_reduction reduction = test_reduction(op, elements[e]->type, REDUCT_DEFAULT);
                reduction.mode = (reduct_mode)(choice & 1);
                reduction.nan = (reduct_nan)(choice >> 1);
                reduction.flags = (uint32_t)rng_below(&rng, 4);
                check(&rng, &reduction);
            }
}

static void check_all_parts(struct rng *rng, const reduct_reduction *reduction) {
    for (uint64_t i = 0; i < test_scaled(12, 2); i++)
        check_parts(rng, reduction);
}

static void parts(void **state) {
    (void)state;
    for_each(check_all_parts);
}

/* Words that no data gave are refused or are a state; nothing else happens. */
static void check_damaged(struct rng *rng, const reduct_reduction *reduction) {
    static const int64_t ends[] = {INT64_MIN, INT64_MAX, -1, 0, INT64_MAX - INT32_MAX, INT64_MIN + INT32_MAX};
    static struct data data;
    int64_t words[WORDS];
    reduct_words form;
    fill(rng, &data, test_type(reduction->element));
    test_status(reduct_reduction_words(reduction, &form, NULL), REDUCT_OK);
    for (uint64_t i = 0; i < test_scaled(20, 4); i++) {
        reduct_accumulator *accumulator = make(reduction), *same = make(reduction);
        add(accumulator, &data, 0, data.count);
        add(same, &data, 0, data.count);
        test_status(reduct_accumulator_pack(accumulator, words, NULL), REDUCT_OK);
        for (uint64_t changes = 1 + rng_below(rng, rng_next(rng) & 1 ? 3 : form.count); changes > 0; changes--)
            words[rng_below(rng, form.count)] = rng_next(rng) & 1 ? ends[rng_below(rng, 6)] : (int64_t)rng_next(rng);
        const reduct_status status = reduct_accumulator_unpack(accumulator, words, NULL);
        if (status != REDUCT_OK)
            assert_same(accumulator, same, "refused words");
        assert_true(status == REDUCT_OK || status == REDUCT_ERROR_CORRUPT || status == REDUCT_ERROR_TOO_LARGE);
        unsigned char result[ORACLE_RESULT_BYTES];
        reduct_accumulator_result(accumulator, REDUCT_DEFAULT, result, NULL);
        reduct_accumulator_destroy(accumulator);
        reduct_accumulator_destroy(same);
    }
}

static void damaged(void **state) {
    (void)state;
    for_each(check_damaged);
}

/* The most that may be added: 2^31 states of which every digit is as large as it can be, of either sign. */
static void headroom(void **state) {
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        double x[40];
        for (int i = 0; i < 40; i++) /* all bits from 2^1023 down to 2^-1074 */
            x[i] = sign * (i < 39 ? 0x1.fffffffffffffp+1023 : 0x0.fffffffffffffp-1022);
        for (int i = 1; i < 39; i++)
            for (int bits = 0; bits < 53 * i; bits++)
                x[i] /= 2;
        const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
        reduct_accumulator *one = make(&sum), *many = make(&sum);
        int64_t words[WORDS];
        reduct_words form;
        test_status(reduct_accumulator_add(one, x, NULL, 40, NULL), REDUCT_OK);
        test_status(reduct_reduction_words(&sum, &form, NULL), REDUCT_OK);
        test_status(reduct_accumulator_pack(one, words, NULL), REDUCT_OK);
        for (size_t i = 0; i < form.count; i++) {
            assert_in_range(words[i] < 0 ? -words[i] : words[i], 0, UINT32_MAX);
            words[i] *= (int64_t)1 << 31;
        }
        test_status(reduct_accumulator_unpack(many, words, NULL), REDUCT_OK);
        for (int doubled = 0; doubled < 31; doubled++)
            test_status(reduct_accumulator_merge(one, one, NULL), REDUCT_OK);
        assert_same(many, one, "2^31 states");
        reduct_accumulator_destroy(one);
        reduct_accumulator_destroy(many);
    }
}

/* How many words there are, as the header says. */
static void figures(void **state) {
    (void)state;
    static const struct {
        reduct_operator op;
        reduct_type element;
        size_t count, added;
        reduct_merge rest;
    } figures[] = {{REDUCT_SUM, REDUCT_F64, 75, 75, REDUCT_MERGE_ADD},
                   {REDUCT_SUM, REDUCT_F32, 18, 18, REDUCT_MERGE_ADD},
                   {REDUCT_MEAN, REDUCT_F16, 11, 11, REDUCT_MERGE_ADD},
                   {REDUCT_SUM, REDUCT_I64, 11, 11, REDUCT_MERGE_ADD},
                   {REDUCT_NORM2, REDUCT_F64, 141, 141, REDUCT_MERGE_ADD},
                   {REDUCT_SUMSQ, REDUCT_F64, 141, 141, REDUCT_MERGE_ADD},
                   {REDUCT_VAR, REDUCT_F64, 209, 209, REDUCT_MERGE_ADD},
                   {REDUCT_MIN, REDUCT_F32, 10, 9, REDUCT_MERGE_LEAST},
                   {REDUCT_MINMAX, REDUCT_F32, 11, 9, REDUCT_MERGE_LEAST},
                   {REDUCT_ALL, REDUCT_U8, 8, 7, REDUCT_MERGE_AND},
                   {REDUCT_XOR, REDUCT_U8, 8, 7, REDUCT_MERGE_XOR},
                   {REDUCT_ARGMAX, REDUCT_F64, 11, 0, REDUCT_MERGE_IN_ORDER}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        reduct_words form;
        const reduct_reduction reduction = {.op = figures[i].op, .element = figures[i].element};
        test_status(reduct_reduction_words(&reduction, &form, NULL), REDUCT_OK);
        assert_int_equal(form.count, figures[i].count);
        assert_int_equal(form.added, figures[i].added);
        assert_int_equal(form.rest, figures[i].rest);
    }
}

static void refused(void **state) {
    (void)state;
    reduct_error error;
    reduct_words form;
    int64_t words[WORDS] = {0};
    const reduct_reduction product = {.op = REDUCT_PRODUCT, .element = REDUCT_F32},
                           sum = {.op = REDUCT_SUM, .element = REDUCT_F32};
    reduct_accumulator *accumulator = make(&product);
    test_status(reduct_reduction_words(&product, &form, &error), REDUCT_ERROR_UNSUPPORTED);
    test_status(reduct_accumulator_pack(accumulator, words, &error), REDUCT_ERROR_UNSUPPORTED);
    test_status(reduct_accumulator_unpack(accumulator, words, &error), REDUCT_ERROR_UNSUPPORTED);
    test_status(reduct_words_merge(&product, words, words, &error), REDUCT_ERROR_UNSUPPORTED);
    test_status(reduct_words_merge(&sum, NULL, words, &error), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_words_merge(&sum, words, NULL, &error), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_reduction_words(NULL, &form, &error), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_reduction_words(&sum, NULL, &error), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_accumulator_pack(NULL, words, &error), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_accumulator_unpack(accumulator, NULL, &error), REDUCT_ERROR_ARGUMENT);
    reduct_accumulator_destroy(accumulator);
}

/* Elements in all are counted rightly up to the most. */
static void too_many(void **state) {
    (void)state;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_I8};
    reduct_accumulator *half = make(&sum);
    int64_t words[WORDS], both[WORDS];
    reduct_words form;
    test_status(reduct_reduction_words(&sum, &form, NULL), REDUCT_OK);
    test_status(reduct_accumulator_add(half, (const int8_t[]){-1}, NULL, 1, NULL), REDUCT_OK);
    for (int doubled = 0; doubled < 62; doubled++)
        test_status(reduct_accumulator_merge(half, half, NULL), REDUCT_OK);
    test_status(reduct_accumulator_pack(half, words, NULL), REDUCT_OK);
    memcpy(both, words, sizeof both);
    test_status(reduct_words_merge(&sum, both, words, NULL), REDUCT_OK);
    test_status(reduct_accumulator_unpack(half, both, NULL), REDUCT_OK);
    assert_int_equal(reduct_accumulator_count(half), (uint64_t)1 << 63);
    test_status(reduct_words_merge(&sum, both, words, NULL), REDUCT_OK);
    test_status(reduct_accumulator_unpack(half, both, NULL), REDUCT_ERROR_TOO_LARGE);
    assert_int_equal(reduct_accumulator_count(half), (uint64_t)1 << 63);
    reduct_accumulator_destroy(half);
}

/* More than so many terms come to, which could grow out of the words while elements still count. */
static void too_much(void **state) {
    (void)state;
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_SUMSQ, REDUCT_VAR};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (int64_t much = -2; much <= 1; much += 3) {
            const reduct_reduction reduction = {.op = ops[i], .element = REDUCT_F64};
            reduct_accumulator *accumulator = make(&reduction);
            int64_t words[WORDS];
            reduct_words form;
            test_status(reduct_reduction_words(&reduction, &form, NULL), REDUCT_OK);
            test_status(reduct_accumulator_add(accumulator, (const double[]){1}, NULL, 1, NULL), REDUCT_OK);
            test_status(reduct_accumulator_pack(accumulator, words, NULL), REDUCT_OK);
            words[form.count - 1] = much;
            test_status(reduct_accumulator_unpack(accumulator, words, NULL), REDUCT_ERROR_CORRUPT);
            reduct_accumulator_destroy(accumulator);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),   cmocka_unit_test(damaged),  cmocka_unit_test(headroom), cmocka_unit_test(figures),
        cmocka_unit_test(refused), cmocka_unit_test(too_many), cmocka_unit_test(too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
