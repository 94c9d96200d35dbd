/* States: few bytes for each group, with the bits of one pass over its elements, whatever was added, taken out, combined, saved
 * and loaded on the way.
 *
 * From the survival list: "Splits and merges", "Values", "Faults: the Nth allocation fails". / */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

enum { GROUPS = 5, MOST = 600, STATE_WORDS = 16, SAVED = 4096 };

/* ---------------------------------------------------------------------------------------------------------------------
 * Memory that runs out: the linker diverts malloc and its kin (--wrap)
 * ------------------------------------------------------------------------------------------------------------------ */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);

static long allocations_left = -1, allocated; /* until one fails, never while negative; blocks that are not freed */

static bool fails(void) {
    if (allocations_left == 0)
        return true;
    allocations_left -= allocations_left > 0;
    allocated++;
    return false;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
    allocated += memory == NULL;
    return __real_realloc(memory, size);
}

void __wrap_free(void *memory) {
    allocated -= memory != NULL;
    __real_free(memory);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Groups, and beside each the list of its elements
 * ------------------------------------------------------------------------------------------------------------------ */

struct group {
    _Alignas(8) uint64_t state[STATE_WORDS + 1]; /* the last word is watched */
    char *x, *y;                                 /* its elements */
    size_t count;
};

struct work {
    reduct_reduction reduction;
    const struct test_type *type;
    bool two;
    struct group group[GROUPS];
    struct oracle oracle;
};

static void begin(struct work *work, const reduct_reduction *reduction) {
    size_t size = 0;
    memset(work, 0, sizeof *work);
    work->reduction = *reduction;
    work->type = test_type(reduction->element);
    work->two = test_operator(reduction->op)->inputs == 2;
    test_status(reduct_state_size(reduction, &size, NULL), REDUCT_OK);
    assert_true(size % 8 == 0 && size <= sizeof(uint64_t) * STATE_WORDS);
    for (size_t g = 0; g < GROUPS; g++) {
        struct group *group = &work->group[g];
        memset(group->state, 0x3c, sizeof group->state);
        test_status(reduct_state_init(reduction, group->state, NULL), REDUCT_OK);
        for (size_t i = size / 8; i <= STATE_WORDS; i++)
            assert_int_equal(group->state[i], 0x3c3c3c3c3c3c3c3c);
        group->x = test_alloc(MOST * 8);
        group->y = test_alloc(MOST * 8);
    }
    oracle_init(&work->oracle);
}

static void end(struct work *work) {
    for (size_t g = 0; g < GROUPS; g++) {
        test_status(reduct_state_clear(&work->reduction, work->group[g].state, NULL), REDUCT_OK);
        free(work->group[g].x);
        free(work->group[g].y);
    }
    oracle_clear(&work->oracle);
}

static const void *second(const struct work *work, const void *y) {
    return work->two ? y : NULL;
}

static size_t save(const struct work *work, const void *state, unsigned char bytes[SAVED]) {
    size_t size = SAVED;
    memset(bytes, 0x11, SAVED);
    test_status(reduct_state_save(&work->reduction, state, bytes, &size, NULL), REDUCT_OK);
    assert_int_equal(bytes[size], 0x11);
    return size;
}

/* The bytes that one pass over the list, in another order, gives. */
static void check_bytes(struct rng *rng, const struct work *work, const struct group *group) {
    unsigned char got[SAVED], expected[SAVED];
    _Alignas(8) uint64_t once[STATE_WORDS] = {0};
    if (work->reduction.op != REDUCT_ARGMIN && work->reduction.op != REDUCT_ARGMAX)
        values_shuffle(rng, work->type, group->x, work->two ? group->y : NULL, group->count);
    test_status(reduct_state_add(&work->reduction, once, group->x, second(work, group->y), group->count, NULL),
                REDUCT_OK);
    const size_t size = save(work, group->state, got);
    assert_int_equal(save(work, once, expected), size);
    if (memcmp(got, expected, size) != 0)
        test_fail("%s of %zu %s (NaN %s): other bytes than those of one pass", reduct_operator_name(work->reduction.op),
                  group->count, work->type->name, reduct_nan_name(work->reduction.nan));
    test_status(reduct_state_clear(&work->reduction, once, NULL), REDUCT_OK);
}

/* Every result type that the operator has, and the count. */
static void check(struct rng *rng, struct work *work, const struct group *group) {
    uint64_t count = 0;
    oracle_read(&work->oracle, work->type->type, group->x, second(work, group->y), group->count);
    for (size_t i = 0; i < test_type_count; i++) {
        reduct_reduction as = work->reduction;
        as.result = test_types[i].type;
        if (!oracle_has_result(as.op, as.element, as.result))
            continue;
        struct test_outcome got = test_outcome();
        got.status = reduct_state_result(&as, group->state, got.bytes, &got.error);
        const struct oracle_result expected = oracle_expect(&work->oracle, &as);
        test_check(&got, &expected, &as, "a state of %zu elements", group->count);
    }
    const uint64_t ignored = work->reduction.nan == REDUCT_NAN_IGNORE ? work->oracle.nans : 0;
    test_status(reduct_state_count(&work->reduction, group->state, &count, NULL), REDUCT_OK);
    assert_int_equal(count, group->count - ignored);
    check_bytes(rng, work, group);
    assert_int_equal(group->state[STATE_WORDS], 0x3c3c3c3c3c3c3c3c);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What is done to them
 * ------------------------------------------------------------------------------------------------------------------ */

static void append(const struct work *work, struct group *group, const char *x, const char *y, size_t count) {
    const size_t size = work->type->size;
    memcpy(group->x + group->count * size, x, count * size);
    memcpy(group->y + group->count * size, y, count * size);
    group->count += count;
}

/* Elements of any kind, without NaNs where these are refused. */
static size_t make_elements(struct rng *rng, const struct work *work, double *x, double *y, size_t most) {
    const struct distribution *distribution;
    const size_t count = rng_below(rng, most + 1);
    do
        distribution = &distributions[rng_below(rng, distribution_count)];
    while (!distribution_suits(distribution, work->type));
    distribution->fill(rng, work->type, x, y, count);
    for (size_t i = 0; work->reduction.nan == REDUCT_NAN_ERROR && i < count; i++) {
        if (work->type->class == FLOAT && oracle_decode(work->type->type, x, i).kind == ORACLE_NAN)
            values_put(work->type, x, i, 1);
        if (work->type->class == FLOAT && oracle_decode(work->type->type, y, i).kind == ORACLE_NAN)
            values_put(work->type, y, i, 1);
    }
    return count;
}

static void add_each(struct rng *rng, struct work *work) {
    double x[64], y[64];
    void *states[64];
    const size_t size = work->type->size, count = make_elements(rng, work, x, y, 64);
    for (size_t g = 0; g < GROUPS; g++)
        if (work->group[g].count + count > MOST)
            return;
    for (size_t i = 0; i < count; i++)
        states[i] = work->group[rng_below(rng, GROUPS)].state;
    test_status(reduct_state_add_each(&work->reduction, states, x, second(work, y), count, NULL), REDUCT_OK);
    for (size_t i = 0; i < count; i++)
        append(work, (struct group *)states[i], (char *)x + i * size, (char *)y + i * size,
               1); /* which begins with it */
}

static void add_to_one(struct rng *rng, struct work *work, struct group *group) {
    double x[40], y[40];
    const size_t count = make_elements(rng, work, x, y, 40);
    if (group->count + count > MOST)
        return;
    test_status(reduct_state_add(&work->reduction, group->state, x, second(work, y), count, NULL), REDUCT_OK);
    append(work, group, (const char *)x, (const char *)y, count);
}

/* Takes out any part of what is there, and as often all of it. */
static void take_out(struct rng *rng, struct work *work, struct group *group) {
    const size_t size = work->type->size, count = rng_below(rng, 3) ? rng_below(rng, group->count + 1) : group->count;
    void *states[MOST];
    unsigned char before[SAVED], after[SAVED];
    for (size_t i = 0; i < count; i++)
        states[i] = group->state;
    if (!test_removes(&work->reduction)) {
        const size_t saved = save(work, group->state, before);
        test_status(reduct_state_remove(&work->reduction, group->state, group->x, second(work, group->y), count, NULL),
                    REDUCT_ERROR_UNSUPPORTED);
        assert_int_equal(save(work, group->state, after), saved);
        assert_memory_equal(before, after, saved);
        return;
    }
    values_shuffle(rng, work->type, group->x, work->two ? group->y : NULL, group->count);
    group->count -= count;
    const char *x = group->x + group->count * size, *y = group->y + group->count * size;
    test_status(rng_next(rng) & 1 ? reduct_state_remove(&work->reduction, group->state, x, second(work, y), count, NULL)
                                  : reduct_state_remove_each(&work->reduction, states, x, second(work, y), count, NULL),
                REDUCT_OK);
}

static void combine(struct work *work, struct group *group, const struct group *other) {
    if (group->count + other->count > MOST)
        return;
    test_status(reduct_state_combine(&work->reduction, group->state, other->state, NULL), REDUCT_OK);
    append(work, group, other->x, other->y, other->count);
}

static void through_bytes(struct work *work, struct group *group) {
    unsigned char bytes[SAVED], again[SAVED];
    const size_t size = save(work, group->state, bytes);
    test_status(reduct_state_clear(&work->reduction, group->state, NULL), REDUCT_OK);
    test_status(reduct_state_load(&work->reduction, bytes, size, group->state, NULL), REDUCT_OK);
    assert_int_equal(save(work, group->state, again), size);
    assert_memory_equal(bytes, again, size);
}

/* To other bytes, as a hash table that grows does. */
static void move(struct group *group) {
    uint64_t moved[STATE_WORDS];
    memcpy(moved, group->state, sizeof moved);
    memset(group->state, 0x77, sizeof moved);
    memcpy(group->state, moved, sizeof moved);
}

static void run(struct rng *rng, const reduct_reduction *reduction) {
    struct work work;
    const long before = allocated;
    begin(&work, reduction);
    for (int step = 0; step < 30; step++) {
        struct group *group = &work.group[rng_below(rng, GROUPS)];
        switch (rng_below(rng, 8)) {
        case 0:
        case 1:
            add_each(rng, &work);
            break;
        case 2:
            add_to_one(rng, &work, group);
            break;
        case 3:
            take_out(rng, &work, group);
            break;
        case 4:
            combine(&work, group, &work.group[rng_below(rng, GROUPS)]);
            break;
        case 5:
            through_bytes(&work, group);
            break;
        case 6:
            move(group);
            break;
        default:
            check(rng, &work, group);
        }
    }
    for (size_t g = 0; g < GROUPS; g++)
        check(rng, &work, &work.group[g]);
    end(&work);
    assert_int_equal(allocated, before);
}

static void for_each_reduction(struct rng *rng, void (*each)(struct rng *rng, const reduct_reduction *reduction)) {
    for (size_t o = 0; o < test_operator_count; o++)
        for (size_t t = 0; t < test_type_count; t++)
            for (int nan = REDUCT_NAN_PROPAGATE; nan <= REDUCT_NAN_ERROR; nan++) {
                if (test_operators[o].op == REDUCT_PRODUCT || !test_types[t].element ||
                    !oracle_has(test_operators[o].op, test_types[t].type))
                    continue;
                reduct_reduction reduction = test_reduction(test_operators[o].op, test_types[t].type, REDUCT_DEFAULT);
                reduction.nan = (reduct_nan)nan;
                reduction.flags = (uint32_t)rng_below(rng, 4);
                each(rng, &reduction);
            }
}

static void any_steps(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed());
    for (uint64_t round = test_scaled(6, 1); round > 0; round--)
        for_each_reduction(&rng, run);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Extremes
 * ------------------------------------------------------------------------------------------------------------------ */

/* Combined with itself until there are 2^62 elements or more: all words of all fields are in use. */
static void as_many_as_can_be(struct rng *rng, const reduct_reduction *reduction) {
    struct work work;
    const long before = allocated;
    begin(&work, reduction);
    struct group *group = &work.group[0];
    const uint64_t largest = work.type->class == FLOAT ? 0 : UINT64_MAX; /* of signed types the least */
    for (size_t i = 0; i < 3; i++) {
        if (work.type->class == FLOAT) {
            values_put(work.type, group->x, i, i ? values_max(work.type) : values_tiny(work.type));
            values_put(work.type, group->y, i, i ? -values_max(work.type) : values_tiny(work.type));
        } else {
            const uint64_t bits = work.type->class == SIGNED ? (uint64_t)1 << (8 * work.type->size - 1) : largest;
            values_put_bits(work.type, group->x, i, bits);
            values_put_bits(work.type, group->y, i, bits);
        }
    }
    group->count = 3;
    test_status(reduct_state_add(reduction, group->state, group->x, second(&work, group->y), 3, NULL), REDUCT_OK);
    oracle_read(&work.oracle, work.type->type, group->x, second(&work, group->y), 3);
    oracle_repeat(&work.oracle, 61);
    for (int i = 0; i < 61; i++)
        test_status(reduct_state_combine(reduction, group->state, group->state, NULL), REDUCT_OK);
    struct test_outcome got = test_outcome();
    got.status = reduct_state_result(reduction, group->state, got.bytes, &got.error);
    const struct oracle_result expected = oracle_expect(&work.oracle, reduction);
    test_check(&got, &expected, reduction, "three elements 2^61 times");
    test_status(reduct_state_combine(reduction, group->state, group->state, NULL), REDUCT_ERROR_TOO_LARGE);
    through_bytes(&work, group);
    if (test_removes(reduction)) { /* and back: an empty state combined, subtracted element by element, stays exact */
        test_status(reduct_state_remove(reduction, group->state, group->x, second(&work, group->y), 3, NULL),
                    REDUCT_OK);
        test_status(reduct_state_add(reduction, group->state, group->x, second(&work, group->y), 3, NULL), REDUCT_OK);
        struct test_outcome again = test_outcome();
        again.status = reduct_state_result(reduction, group->state, again.bytes, &again.error);
        test_check(&again, &expected, reduction, "three elements 2^61 times, three of them out and in");
    }
    (void)rng;
    end(&work);
    assert_int_equal(allocated, before);
}

static void overflowing(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 1);
    for_each_reduction(&rng, as_many_as_can_be);
}

/* Ever one exponent further: the window goes along while it can, and then spills; out of memory, the state is as it was. */
static void windows(void **state) {
    (void)state;
    const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    for (int direction = -1; direction <= 1; direction += 2)
        for (int removed = 0; removed < 2; removed++) {
            _Alignas(8) uint64_t cell[8] = {0};
            unsigned char before[SAVED], after[SAVED];
            const long at_first = allocated;
            int spilled_at = 0;
            for (int i = 0; i < 900; i++) {
                uint64_t bits = (uint64_t)(1023 + direction * i) << 52;
                double x;
                size_t size = SAVED, again = SAVED;
                memcpy(&x, &bits, sizeof x);
                test_status(reduct_state_save(&sum, cell, before, &size, NULL), REDUCT_OK);
                allocations_left = 0;
                reduct_status status = reduct_state_add(&sum, cell, &x, NULL, 1, NULL);
                allocations_left = -1;
                if (status == REDUCT_ERROR_OUT_OF_MEMORY) {
                    spilled_at = spilled_at ? spilled_at : i;
                    test_status(reduct_state_save(&sum, cell, after, &again, NULL), REDUCT_OK);
                    assert_int_equal(again, size);
                    assert_memory_equal(before, after, size);
                    status = reduct_state_add(&sum, cell, &x, NULL, 1, NULL);
                }
                test_status(status, REDUCT_OK);
                if (removed) /* so that the window follows */
                    test_status(reduct_state_remove(&sum, cell, &x, NULL, 1, NULL), REDUCT_OK);
            }
            assert_true(removed ? spilled_at == 0 : spilled_at > 128 && spilled_at < 260);
            assert_int_equal(allocated - at_first, !removed);
            test_status(reduct_state_clear(&sum, cell, NULL), REDUCT_OK);
            assert_int_equal(allocated, at_first);
        }
}

/* More NaNs, infinities and zeros with a minus than 16 bits count. */
static void many_specials(void **state) {
    (void)state;
    enum { COUNT = 70000 };
    const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    static const double kinds[] = {-0.0, INFINITY, -INFINITY, NAN};
    double *x = test_alloc(COUNT * sizeof *x);
    for (size_t k = 0; k < 4; k++) {
        _Alignas(8) uint64_t cell[8] = {0};
        double result = 1;
        for (size_t i = 0; i < COUNT; i++)
            x[i] = kinds[k];
        test_status(reduct_state_add(&sum, cell, x, NULL, COUNT, NULL), REDUCT_OK);
        test_status(reduct_state_result(&sum, cell, &result, NULL), REDUCT_OK);
        assert_true(k == 3 ? result != result : memcmp(&result, x, sizeof result) == 0);
        test_status(reduct_state_remove(&sum, cell, x, NULL, COUNT, NULL), REDUCT_OK);
        test_status(reduct_state_remove(&sum, cell, x, NULL, 1, NULL), REDUCT_ERROR_ARGUMENT);
        test_status(reduct_state_result(&sum, cell, &result, NULL), REDUCT_OK);
        assert_memory_equal(&result, &(double){0}, sizeof result);
        test_status(reduct_state_clear(&sum, cell, NULL), REDUCT_OK);
    }
    free(x);
}

/* Every byte changed, every length. */
static void damage(struct rng *rng, const reduct_reduction *reduction) {
    struct work work;
    unsigned char bytes[SAVED];
    begin(&work, reduction);
    add_to_one(rng, &work, &work.group[0]);
    const size_t size = save(&work, work.group[0].state, bytes);
    uint64_t *empty = work.group[1].state;
    for (size_t i = 0; i < size; i++) {
        const unsigned char was = bytes[i];
        bytes[i] ^= (unsigned char)(1 + rng_below(rng, 255));
        const reduct_status status = reduct_state_load(reduction, bytes, size, empty, NULL);
        assert_true(status == REDUCT_ERROR_CORRUPT || status == REDUCT_ERROR_VERSION);
        bytes[i] = was;
        unsigned char *cut = test_alloc(i);
        memcpy(cut, bytes, i);
        test_status(reduct_state_load(reduction, cut, i, empty, NULL), REDUCT_ERROR_CORRUPT);
        free(cut);
    }
    reduct_reduction another = *reduction;
    another.nan = (reduct_nan)((reduction->nan + 1) % 3);
    test_status(reduct_state_load(&another, bytes, size, empty, NULL), REDUCT_ERROR_MISMATCH);
    test_status(reduct_state_load(reduction, bytes, size, empty, NULL), REDUCT_OK);
    if (work.group[0].count)
        test_status(reduct_state_load(reduction, bytes, size, empty, NULL), REDUCT_ERROR_ARGUMENT);
    end(&work);
}

static void damaged(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 2);
    for_each_reduction(&rng, damage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_steps),     cmocka_unit_test(overflowing), cmocka_unit_test(windows),
        cmocka_unit_test(many_specials), cmocka_unit_test(damaged),
    };
    return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
