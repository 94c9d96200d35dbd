/* Fuzz target: trees of merges.
 *
 * The header chooses a reduction of any operator, type, mode and policy; the rest is a program over a few accumulators:
 * elements are added to one, one is merged into another or into itself, saved and loaded, reset. Beside each accumulator
 * goes the list of its elements, in order. In the end, and now and then, its results of all types must be what the oracle
 * makes of that list, in fast mode within the bound, and in exact mode its saved bytes those of an accumulator that got the
 * list at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "fuzz.h"
#include "support.h"
#include "values.h"

enum { ACCUMULATORS = 3, MOST = 12000, SAVED = 4096, BLOCK = 4096, STEPS_MOST = 40, CHECKS_MOST = 4 };

struct node {
    reduct_accumulator *accumulator;
    char *x, *y; /* the elements, MOST at most */
    size_t count;
    uint64_t steps; /* additions and merges */
};

struct work {
    reduct_reduction reduction;
    const struct test_type *type;
    bool two;
    struct node node[ACCUMULATORS];
    struct oracle oracle;
};

/* ---------------------------------------------------------------------------------------------------------------------
 * Checks
 * ------------------------------------------------------------------------------------------------------------------ */

static void disagree(const struct work *work, const reduct_reduction *as, size_t count, const char *why) {
    fprintf(stderr, "%s of %zu %s as %s (%s, nan %s, flags %u): %s\n", reduct_operator_name(as->op), count,
            work->type->name, reduct_type_name(as->result), reduct_mode_name(as->mode), reduct_nan_name(as->nan),
            (unsigned)as->flags, why);
    abort();
}

/* Every result type that the operator has. */
static void check_results(struct work *work, const struct node *node) {
    char why[BOUND_WHY] = "other bits than the oracle's";
    oracle_read(&work->oracle, work->type->type, node->x, work->two ? node->y : NULL, node->count);
    for (size_t i = 0; i < test_type_count; i++) {
        reduct_reduction as = work->reduction;
        as.result = test_types[i].type;
        if (!oracle_has_result(as.op, as.element, as.result))
            continue;
        struct test_outcome got = test_outcome();
        got.status = reduct_accumulator_result(node->accumulator, as.result, got.bytes, &got.error);
        const struct oracle_result expected = oracle_expect(&work->oracle, &as);
        if (as.mode == REDUCT_FAST ? !bound_holds(&work->oracle, &as, node->steps, &got, why)
                                   : !test_agrees(&got, &expected))
            disagree(work, &as, node->count, why);
    }
    const uint64_t ignored = work->reduction.nan == REDUCT_NAN_IGNORE ? work->oracle.nans : 0;
    FUZZ_REQUIRE(reduct_accumulator_count(node->accumulator) == node->count - ignored);
}

static reduct_accumulator *make(const struct work *work, unsigned device) {
    static const char *const devices[] = {"cpu", "cpu:portable", "cpu:avx2", "cpu:avx512"};
    reduct_accumulator *made = NULL;
    if (reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &work->reduction,
                                                                .device = devices[device % 4],
                                                                .threads = 1 + device % 2},
                                  &made, NULL))
        reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &work->reduction, .threads = 1}, &made,
                                  NULL); /* without AVX */
    return made;
}

static size_t save(const reduct_accumulator *accumulator, unsigned char bytes[SAVED]) {
    size_t size = SAVED;
    FUZZ_REQUIRE(reduct_accumulator_save(accumulator, bytes, &size, NULL) == REDUCT_OK);
    return size;
}

/* "In exact mode equal data give equal bytes, however it was split." */
static void check_bytes(const struct work *work, const struct node *node) {
    unsigned char got[SAVED], expected[SAVED];
    reduct_accumulator *once = make(work, 0);
    if (work->reduction.mode == REDUCT_EXACT) {
        FUZZ_REQUIRE(!reduct_accumulator_add(once, node->x, work->two ? node->y : NULL, node->count, NULL));
        const size_t size = save(once, expected);
        if (save(node->accumulator, got) != size || memcmp(got, expected, size) != 0)
            disagree(work, &work->reduction, node->count, "other saved bytes than those of one addition");
    }
    reduct_accumulator_destroy(once);
}

static void check(struct work *work, const struct node *node) {
    check_results(work, node);
    check_bytes(work, node);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Steps
 * ------------------------------------------------------------------------------------------------------------------ */

/* The first NaN of some elements, or `count`. */
static size_t find_nan(const struct work *work, const char *x, const char *y, size_t count) {
    size_t i = 0;
    while (i < count && oracle_decode(work->type->type, x, i).kind != ORACLE_NAN &&
           (!work->two || oracle_decode(work->type->type, y, i).kind != ORACLE_NAN))
        i++;
    return i;
}

/* A few elements, or a few thousand: a pattern from the input, over and over. */
static void add(struct work *work, struct node *node, struct fuzz_input *input) {
    const unsigned how = fuzz_byte(input);
    const size_t size = work->type->size;
    size_t count = how < 192 ? how % 24 : how < 250 ? BLOCK / 2 * (how % 4) + how % 3 : 2 * BLOCK;
    const size_t distinct = input->size / size < 1 + how % 7 ? input->size / size : 1 + how % 7;
    if (!distinct || count > MOST - node->count)
        return;
    char *x = node->x + node->count * size, *y = node->y + node->count * size;
    for (size_t i = 0; i < count; i++) {
        memcpy(x + i * size, input->data + i % distinct * size, size);
        memcpy(y + i * size, input->data + (i + 1) % distinct * size, size);
    }
    input->data += distinct * size;
    input->size -= distinct * size;
    const size_t nan = work->type->class == FLOAT ? find_nan(work, x, y, count) : count;
    reduct_error error = {.index = 0};
    const reduct_status status = reduct_accumulator_add(node->accumulator, x, work->two ? y : NULL, count, &error);
    if (work->reduction.nan == REDUCT_NAN_ERROR && nan < count) {
        FUZZ_REQUIRE(status == REDUCT_ERROR_NAN && error.index == node->count + nan);
        count = 0;
    } else {
        FUZZ_REQUIRE(status == REDUCT_OK);
    }
    node->count += count;
    node->steps++;
}

/* The rule for products of floats, as the header has it. */
static bool may_merge(const struct work *work, size_t before, size_t count) {
    if (work->reduction.op != REDUCT_PRODUCT || work->type->class != FLOAT || !count)
        return true;
    size_t power = 1;
    while (2 * power <= count / BLOCK)
        power *= 2;
    return before % (BLOCK * power) == 0;
}

static void merge(struct work *work, struct node *node, const struct node *other) {
    const size_t size = work->type->size, count = other->count;
    if (count > MOST - node->count)
        return;
    const reduct_status status = reduct_accumulator_merge(node->accumulator, other->accumulator, NULL);
    FUZZ_REQUIRE(status == (may_merge(work, node->count, count) ? REDUCT_OK : REDUCT_ERROR_UNSUPPORTED));
    if (status)
        return;
    memcpy(node->x + node->count * size, other->x, count * size);
    memcpy(node->y + node->count * size, other->y, count * size);
    node->count += count;
    node->steps += other->steps + 1;
}

static void through_bytes(struct node *node) {
    unsigned char bytes[SAVED], again[SAVED];
    reduct_accumulator *loaded = NULL;
    const size_t size = save(node->accumulator, bytes);
    FUZZ_REQUIRE(!reduct_accumulator_load(bytes, size, &(reduct_accumulator_options){.device = "cpu", .threads = 1},
                                          &loaded, NULL));
    FUZZ_REQUIRE(save(loaded, again) == size && memcmp(bytes, again, size) == 0);
    reduct_accumulator_destroy(node->accumulator);
    node->accumulator = loaded;
}

static void reset(struct node *node) {
    reduct_accumulator_reset(node->accumulator);
    node->count = 0;
    node->steps = 1;
}

static void run(struct work *work, struct fuzz_input *input) {
    for (int step = 0, checks = 0; step < STEPS_MOST && input->size; step++) {
        const unsigned code = fuzz_byte(input);
        struct node *node = &work->node[code % ACCUMULATORS];
        switch (code / 8 % 8) {
        case 0:
        case 1:
            merge(work, node, &work->node[code / 64 % ACCUMULATORS]);
            break;
        case 2:
            through_bytes(node);
            break;
        case 3:
            if (code >= 224)
                reset(node);
            else if (checks++ < CHECKS_MOST)
                check(work, node);
            break;
        default:
            add(work, node, input);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* What the header says; false for what this version does not do. */
static bool choose(struct work *work, struct fuzz_input *input) {
    work->type = &test_types[fuzz_byte(input) % test_type_count];
    work->reduction.op = test_operators[fuzz_byte(input) % test_operator_count].op;
    work->two = oracle_inputs(work->reduction.op) == 2;
    const unsigned rest = fuzz_byte(input);
    if (!work->type->required || !oracle_has(work->reduction.op, work->type->type))
        return false;
    work->reduction = test_reduction(work->reduction.op, work->type->type, REDUCT_DEFAULT);
    work->reduction.mode = (reduct_mode)(rest % 2);
    work->reduction.nan = (reduct_nan)(rest / 2 % 3);
    work->reduction.flags = rest / 8 % 4;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static _Alignas(64) char room[2 * ACCUMULATORS][MOST * sizeof(double)];
    struct fuzz_input input = {data, size};
    struct work work;
    if (!choose(&work, &input))
        return 0;
    oracle_init(&work.oracle);
    for (size_t i = 0; i < ACCUMULATORS; i++)
        work.node[i] = (struct node){make(&work, fuzz_byte(&input)), room[2 * i], room[2 * i + 1], 0, 1};
    run(&work, &input);
    for (size_t i = 0; i < ACCUMULATORS; i++) {
        check(&work, &work.node[i]);
        reduct_accumulator_destroy(work.node[i].accumulator);
    }
    oracle_clear(&work.oracle);
    return 0;
}

size_t fuzz_start(uint64_t number, uint8_t *data) {
    enum { HEADER = 3 + ACCUMULATORS, STEPS = 12 };
    struct rng rng = rng_of(number);
    double x[8];
    size_t used = HEADER;
    for (size_t i = 0; i < HEADER; i++)
        data[i] = (uint8_t)rng_next(&rng);
    const struct test_type *type = &test_types[data[0] % test_type_count];
    if (!type->element)
        return HEADER;
    for (size_t step = rng_below(&rng, STEPS); step > 0; step--) {
        const struct distribution *distribution;
        do
            distribution = &distributions[rng_below(&rng, distribution_count)];
        while (!distribution_suits(distribution, type));
        distribution->fill(&rng, type, x, NULL, 8);
        data[used++] = (uint8_t)rng_next(&rng);
        data[used++] = (uint8_t)rng_next(&rng);
        memcpy(data + used, x, 7 * type->size);
        used += 7 * type->size;
    }
    return used;
}
