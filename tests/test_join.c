/* Tables of many processes, merged by words that others add: what all have together is what merging one after another gives, however many
 * processes there could be, and whatever some lack.
 *
 * From the survival list: "Same bits: every permutation and partition of the data, merged in any order", "Faults: the Nth allocation fails".
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "state/cell_words.h"
#include "state/join.h"
#include "state/table.h"
#include "support.h"
#include "values.h"

enum { PARTS = 4, REDUCTIONS = 3, MOST = 9000 };

/* ---------------------------------------------------------------------------------------------------------------------
 * Memory that runs out: the linker diverts malloc and its kin (--wrap)
 * ------------------------------------------------------------------------------------------------------------------ */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static long allocations_left = -1; /* until one fails, never while negative */

static bool fails(void) {
    if (allocations_left < 0)
        return false;
    return allocations_left-- == 0;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------------------------------------------------------ */

struct parts {
    const struct test_type *type;
    reduct_reduction reduction[REDUCTIONS];
    size_t reductions, count;
    bool two;
    reduct_table *table[PARTS];
};

static reduct_table *make(const struct parts *parts, uint64_t groups) {
    const reduct_table_options options = {.reductions = parts->reduction,
                                          .reduction_count = parts->reductions,
                                          .groups = groups,
                                          .device = "cpu",
                                          .threads = 1};
    reduct_table *made = NULL;
    reduct_error error;
    if (reduct_table_create(&options, &made, &error) != REDUCT_OK)
        fail_msg("%s", error.message);
    return made;
}

static void choose(struct rng *rng, struct parts *parts) {
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    const reduct_nan nan = rng_below(rng, 2) ? REDUCT_NAN_IGNORE : REDUCT_NAN_PROPAGATE;
    parts->type = rng_below(rng, 2) ? test_type(REDUCT_F64) : elements[rng_below(rng, element_count)];
    parts->reductions = 1 + rng_below(rng, REDUCTIONS);
    parts->count = 1 + rng_below(rng, PARTS);
    parts->two = false;
    for (size_t i = 0; i < parts->reductions;) {
        const struct test_operator *op = &test_operators[rng_below(rng, test_operator_count)];
        reduct_reduction reduction = {.op = op->op, .element = parts->type->type, .nan = nan};
        size_t bytes;
        if (reduct_state_size(&reduction, &bytes, NULL) != REDUCT_OK)
            continue;
        parts->reduction[i++] = reduction;
        parts->two = parts->two || op->inputs == 2;
    }
}

/* Elements of one distribution for groups [first, first + some), about as many as groups. */
static void add_some(struct rng *rng, const struct parts *parts, reduct_table *table, uint64_t first, uint64_t some) {
    static double x[MOST], y[MOST];
    static uint32_t group[MOST];
    const struct distribution *distribution;
    do
        distribution = &distributions[rng_below(rng, distribution_count)];
    while (!distribution_suits(distribution, parts->type));
    const size_t count = (size_t)rng_below(rng, (some < MOST / 2 ? 2 * some : MOST) + 1);
    distribution->fill(rng, parts->type, x, y, count);
    for (size_t i = 0; i < count; i++)
        group[i] = (uint32_t)(first + rng_below(rng, some));
    const reduct_table_batch batch = {
        .x = x, .y = parts->two ? y : NULL, .count = count, .indices = group, .index = REDUCT_U32};
    test_status(reduct_table_add(table, &batch, NULL), REDUCT_OK);
}

/* The same element so often that counts of it, or of its kind, need many bits: -0, NaN, infinity, a power of two that is negative. */
static void add_often(struct rng *rng, const struct parts *parts, reduct_table *table, uint64_t group) {
    static double x[MOST], y[MOST];
    static const double kinds[] = {-0.0, NAN, INFINITY, -INFINITY, -1, -0x1p10, 0};
    const double value = kinds[rng_below(rng, sizeof kinds / sizeof *kinds)];
    const size_t count = 1 + rng_below(rng, MOST - 1);
    for (size_t i = 0; i < count; i++) {
        values_put(parts->type, x, i, parts->type->class == FLOAT ? value : 1);
        values_put(parts->type, y, i, 1);
    }
    for (uint64_t times = 1 + rng_below(rng, 10); times-- > 0;)
        test_status(reduct_table_add_group(table, group, x, parts->two ? y : NULL, count, NULL), REDUCT_OK);
}

static void fill(struct rng *rng, struct parts *parts) {
    const uint64_t most = rng_below(rng, 3) ? 1 + rng_below(rng, 30) : 4000 + rng_below(rng, MOST - 4000);
    for (size_t p = 0; p < parts->count; p++) {
        const uint64_t groups = rng_below(rng, 2) ? most : rng_below(rng, most + 1);
        parts->table[p] = make(parts, groups);
        for (uint64_t first = 0, some; first < groups; first += some) {
            some = 1 + rng_below(rng, most);
            some = some < groups - first ? some : groups - first;
            if (rng_below(rng, 4))
                add_some(rng, parts, parts->table[p], first, some);
        }
        for (uint64_t often = groups ? rng_below(rng, 3) : 0; often-- > 0;)
            add_often(rng, parts, parts->table[p], rng_below(rng, groups));
    }
}

static void destroy(struct parts *parts) {
    for (size_t p = 0; p < parts->count; p++)
        reduct_table_destroy(parts->table[p]);
}

static unsigned char *saved(const reduct_table *table, size_t *bytes) {
    test_status(reduct_table_save(table, NULL, bytes, NULL), REDUCT_OK);
    unsigned char *made = malloc(*bytes);
    assert_non_null(made);
    test_status(reduct_table_save(table, made, bytes, NULL), REDUCT_OK);
    return made;
}

static void assert_saved(const reduct_table *table, const unsigned char *expected, size_t bytes) {
    size_t own;
    unsigned char *made = saved(table, &own);
    assert_int_equal(own, bytes);
    assert_memory_equal(made, expected, bytes);
    free(made);
}

static uint64_t most_groups(const struct parts *parts) {
    uint64_t most = 0;
    for (size_t p = 0; p < parts->count; p++)
        most = reduct_table_groups(parts->table[p]) > most ? reduct_table_groups(parts->table[p]) : most;
    return most;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What moves words
 * ------------------------------------------------------------------------------------------------------------------ */

/* Merges words into others. */
static void merge(const struct rd_join_message *message, int64_t *words, const int64_t *others) {
    for (uint64_t i = 0; i < message->count; i += message->width)
        switch (message->merge) {
        case REDUCT_MERGE_ADD: {
            int64_t sum;
            assert_false(__builtin_add_overflow(words[i], others[i], &sum));
            words[i] = sum;
            break;
        }
        case REDUCT_MERGE_LEAST:
            if (others[i] < words[i] ||
                (message->width == 2 && others[i] == words[i] && others[i + 1] < words[i + 1])) {
                words[i] = others[i];
                if (message->width == 2)
                    words[i + 1] = others[i + 1];
            }
            break;
        case REDUCT_MERGE_OR:
            words[i] |= others[i];
            break;
        case REDUCT_MERGE_XOR:
            words[i] ^= others[i];
            break;
        case REDUCT_MERGE_AND:
        case REDUCT_MERGE_IN_ORDER:
            fail();
        }
}

static void assert_alike(const struct rd_join_message *a, const struct rd_join_message *b) {
    assert_true(a->count == b->count && a->width == b->width && a->merge == b->merge);
}

static void ask_all(struct rd_join **joins, size_t count) {
    struct rd_join_message first, other;
    while (reduct_joining.ask(joins[0], &first)) {
        struct rd_join_message all[PARTS] = {first};
        for (size_t p = 1; p < count; p++) {
            assert_true(reduct_joining.ask(joins[p], &all[p]));
            assert_alike(&first, &all[p]);
            merge(&first, first.words, all[p].words);
        }
        for (size_t p = 1; p < count; p++)
            memcpy(all[p].words, first.words, (size_t)first.count * sizeof *first.words);
    }
    for (size_t p = 1; p < count; p++)
        assert_false(reduct_joining.ask(joins[p], &other));
}

/* All ask for a part that the first says is next, and get what all have. */
static void move_all(struct rd_join **joins, size_t count, bool aside) {
    static int64_t sums[RD_JOIN_PART], words[RD_JOIN_PART];
    struct rd_join_part part[PARTS];
    memset(part, 0, sizeof part);
    while (reduct_joining.next(joins[0], aside, &part[0])) {
        assert_true(part[0].message.count && part[0].message.count <= RD_JOIN_PART);
        reduct_joining.pack(joins[0], &part[0], sums);
        for (size_t p = 1; p < count; p++) {
            assert_true(reduct_joining.next(joins[p], aside, &part[p]));
            assert_alike(&part[0].message, &part[p].message);
            reduct_joining.pack(joins[p], &part[p], words);
            merge(&part[0].message, sums, words);
        }
        for (size_t p = 0; p < count; p++)
            reduct_joining.unpack(joins[p], &part[p], sums);
    }
}

/* Joins all tables, of as many parts as there could be; what some lacks is the status. */
static reduct_status join(const struct parts *parts, uint64_t possible, size_t failing, long allocations) {
    struct rd_join *joins[PARTS] = {NULL};
    const uint64_t groups = most_groups(parts);
    uint64_t seen = 0;
    reduct_status status = REDUCT_OK;
    reduct_error error;
    for (size_t p = 0; p < parts->count; p++) {
        allocations_left = p == failing ? allocations : -1;
        const reduct_status own = reduct_joining.open(parts->table[p], possible, groups, seen, &joins[p], &error);
        allocations = p == failing ? allocations_left : allocations;
        allocations_left = -1;
        status = own != REDUCT_OK ? own : status;
        seen += reduct_joining.seen(parts->table[p]);
    }
    if (status == REDUCT_OK) {
        allocations_left = failing < parts->count ? allocations : -1; /* of any of them from here on */
        ask_all(joins, parts->count);
        move_all(joins, parts->count, true);
        for (size_t p = 0; p < parts->count; p++) {
            const reduct_status own = reduct_joining.settle(joins[p], true, &error);
            status = own != REDUCT_OK ? own : status;
        }
        allocations_left = -1;
    }
    if (status == REDUCT_OK)
        move_all(joins, parts->count, false);
    for (size_t p = 0; p < parts->count; p++)
        if (status == REDUCT_OK)
            reduct_joining.finish(joins[p], seen);
        else
            reduct_joining.close(joins[p]);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Tests
 * ------------------------------------------------------------------------------------------------------------------ */

static unsigned char *expect(const struct parts *parts, size_t *bytes) {
    reduct_table *all = make(parts, most_groups(parts));
    for (size_t p = 0; p < parts->count; p++)
        test_status(reduct_table_merge(all, parts->table[p], NULL, NULL), REDUCT_OK);
    unsigned char *made = saved(all, bytes);
    reduct_table_destroy(all);
    return made;
}

/* What all tables have is what merging them gives, of so many parts as there could be. */
static void assert_joins(struct parts *parts, uint64_t possible) {
    size_t bytes;
    unsigned char *expected = expect(parts, &bytes);
    test_status(join(parts, possible, PARTS, -1), REDUCT_OK);
    for (size_t p = 0; p < parts->count; p++)
        assert_saved(parts->table[p], expected, bytes);
    free(expected);
    destroy(parts);
}

static void any_tables(void **state) {
    (void)state;
    static const uint64_t possible[] = {0, 5, 1000, 1 << 16, 1 << 20, INT32_MAX};
    struct rng rng = rng_of(test_seed());
    for (uint64_t i = test_scaled(400, 20); i-- > 0;) {
        struct parts parts;
        choose(&rng, &parts);
        fill(&rng, &parts);
        const uint64_t most = possible[rng_below(&rng, sizeof possible / sizeof *possible)];
        assert_joins(&parts, most ? most : parts.count);
    }
}

/* One power of two in a group, of either sign, and another one, from near to too far away for one window, in the next: sums of two parts that
 * cancel, or need one bit more than a word has. */
static void powers(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 2);
    struct parts parts = {.type = test_type(REDUCT_F64), .reductions = 1, .count = 2};
    parts.reduction[0] = (reduct_reduction){.op = REDUCT_SUM, .element = REDUCT_F64};
    for (int exponent = -1074; exponent < 1024; exponent++)
        for (int kind = 0; kind < 4; kind++)
            for (int apart = 0; apart < 280; apart += 1 + (exponent & 63)) {
                if (rng_unit(&rng) >= 10 * test_scale())
                    continue;
                const double power = ldexp(kind & 1 ? 1 : -1, exponent),
                             low = ldexp(kind & 1 ? -1 : 1, exponent - apart);
                const double cancelled = kind & 2 ? power : -power;
                for (size_t p = 0; p < parts.count; p++) {
                    parts.table[p] = make(&parts, 2);
                    test_status(reduct_table_add_group(parts.table[p], 0, p ? &cancelled : &power, NULL, 1, NULL),
                                REDUCT_OK);
                    test_status(reduct_table_add_group(parts.table[p], 1, &low, NULL, 1, NULL), REDUCT_OK);
                }
                assert_joins(&parts, exponent % 3 ? 2 : 1 << 18);
            }
}

/* A window has words that there are: those of a cell that needs room for all exponents. */
static void assert_windows(const reduct_table *table) {
    const struct rd_rows *rows;
    test_status(rd_table_rows(table, &rows, NULL), REDUCT_OK);
    for (size_t s = 0; s < table->states; s++)
        for (uint64_t g = 0; g < table->groups && table->cells[s].kind == RD_CELL_SUMS; g++)
            for (int f = 0; f < table->cells[s].fields; f++) {
                const struct rd_field field = rd_field_of(&table->cells[s], rd_table_cell(rows, s, g), f);
                assert_true(field.first == RD_NO_WINDOW || field.first + field.words <= table->cells[s].full[f]);
            }
}

/* One element for each of two groups. */
static void add_to_both(const struct parts *parts, reduct_table *table, double first, double second) {
    double x[2];
    values_put(parts->type, x, 0, first);
    values_put(parts->type, x, 1, second);
    for (uint64_t g = 0; g < 2; g++) {
        const void *at = (const char *)x + g * parts->type->size;
        test_status(reduct_table_add_group(table, g, at, parts->two ? at : NULL, 1, NULL), REDUCT_OK);
    }
}

/* Numbers at one end of a type's range, where windows end, and after they have been joined one from the other end: what was joined goes on to be
 * what it was when it needs room for all exponents. */
static void ends(void **state) {
    (void)state;
    enum { NEAR = 200 };
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_SUMSQ, REDUCT_VAR, REDUCT_NORM1};
    static const reduct_type types[] = {REDUCT_F64, REDUCT_F32, REDUCT_F16, REDUCT_BF16};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            for (int near = 0; near < NEAR; near++)
                for (int top = 0; top < 2; top++) {
                    struct parts parts = {.type = test_type(types[t]), .reductions = 1, .count = 2};
                    const int high = parts.type->max_exponent,
                              low = 2 - parts.type->max_exponent - parts.type->precision;
                    if (near > high - low)
                        continue;
                    const double number = ldexp(1, top ? high - near : low + near), other = ldexp(1, top ? low : high);
                    size_t bytes;
                    parts.reduction[0] = (reduct_reduction){.op = ops[o], .element = types[t]};
                    for (size_t p = 0; p < parts.count; p++) {
                        parts.table[p] = make(&parts, 2);
                        add_to_both(&parts, parts.table[p], number, p ? -number : number);
                    }
                    reduct_table *all = make(&parts, 2);
                    for (size_t p = 0; p < parts.count; p++)
                        test_status(reduct_table_merge(all, parts.table[p], NULL, NULL), REDUCT_OK);
                    test_status(join(&parts, near % 3 ? 2 : 1 << 18, PARTS, -1), REDUCT_OK);
                    for (size_t p = 0; p < parts.count; p++)
                        assert_windows(parts.table[p]);
                    add_to_both(&parts, all, other, other);
                    unsigned char *expected = saved(all, &bytes);
                    for (size_t p = 0; p < parts.count; p++) {
                        add_to_both(&parts, parts.table[p], other, other);
                        assert_saved(parts.table[p], expected, bytes);
                    }
                    free(expected);
                    reduct_table_destroy(all);
                    destroy(&parts);
                }
}

/* So many elements of a kind that counts of all parts need more bits than a cell has for them, or than those of each. */
static void counts(void **state) {
    (void)state;
    static const double kinds[] = {-0.0, NAN, INFINITY, -INFINITY, 1};
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_VAR, REDUCT_COUNT, REDUCT_MAX, REDUCT_ARGMIN};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            for (int doublings = 14; doublings <= 62; doublings += doublings < 17 || doublings > 30 ? 1 : 14)
                for (int ignores = 0; ignores < 2; ignores++) {
                    struct parts parts = {.type = test_type(REDUCT_F64), .reductions = 1, .count = 2};
                    parts.reduction[0] = (reduct_reduction){
                        .op = ops[o], .element = REDUCT_F64, .nan = ignores ? REDUCT_NAN_IGNORE : REDUCT_NAN_PROPAGATE};
                    for (size_t p = 0; p < parts.count; p++) {
                        reduct_table *doubled = make(&parts, 1);
                        parts.table[p] = make(&parts, 1);
                        test_status(reduct_table_add_group(parts.table[p], 0, &kinds[k], NULL, 1, NULL), REDUCT_OK);
                        for (int i = 0; i < doublings; i++) {
                            reduct_table_reset(doubled);
                            test_status(reduct_table_merge(doubled, parts.table[p], NULL, NULL), REDUCT_OK);
                            test_status(reduct_table_merge(parts.table[p], doubled, NULL, NULL), REDUCT_OK);
                        }
                        reduct_table_destroy(doubled);
                    }
                    assert_joins(&parts, doublings % 2 ? 2 : 300);
                }
}

static void no_memory(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 1);
    for (uint64_t i = test_scaled(60, 5); i-- > 0;) {
        struct parts parts;
        size_t bytes;
        choose(&rng, &parts);
        fill(&rng, &parts);
        unsigned char *expected = expect(&parts, &bytes), *before[PARTS];
        size_t bytes_before[PARTS];
        const uint64_t most = most_groups(&parts);
        for (size_t p = 0; p < parts.count; p++) { /* as they grow in any case */
            test_status(reduct_table_resize(parts.table[p], most, NULL), REDUCT_OK);
            before[p] = saved(parts.table[p], &bytes_before[p]);
        }
        const size_t failing = (size_t)rng_below(&rng, parts.count);
        reduct_status status;
        for (long n = 0; (status = join(&parts, parts.count, failing, n)) != REDUCT_OK;
             n += 1 + (long)rng_below(&rng, (uint64_t)n + 1)) {
            assert_int_equal(status, REDUCT_ERROR_OUT_OF_MEMORY);
            for (size_t p = 0; p < parts.count; p++)
                assert_saved(parts.table[p], before[p], bytes_before[p]);
        }
        for (size_t p = 0; p < parts.count; p++) {
            assert_saved(parts.table[p], expected, bytes);
            free(before[p]);
        }
        free(expected);
        destroy(&parts);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_tables), cmocka_unit_test(powers), cmocka_unit_test(ends),
                                       cmocka_unit_test(counts), cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests_name("join", tests, NULL, NULL);
}
