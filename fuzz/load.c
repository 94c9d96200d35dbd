/* Fuzz target: loading an accumulator from any bytes.
 *
 * The first byte says whether the rest is loaded as it is, or with the magic number, the version, the size and the
 * checksum put right, so that the fields behind them are reached. What loads must save to bytes that load again, and
 * everything that can be done with an accumulator must be possible with it.
 *
 * From the survival list: "libFuzzer ... on the accumulator's load".
 */
#include <reduct/reduct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "values.h"

#define require(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

static void broken(const char *condition, int line) {
    fprintf(stderr, "load.c:%d: %s does not hold\n", line, condition);
    abort();
}

static void put_little_endian(uint8_t *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* The saved form is described in src/accumulator.c. */
static void put_right(uint8_t *bytes, size_t size) {
    static const uint8_t start[12] = {0x89, 'r', 'e', 'd', 'u', 'c', 't', '\n', 1, 0, 0, 0};
    uint64_t hash = 0xcbf29ce484222325;
    if (size < 24)
        return;
    memcpy(bytes, start, sizeof start);
    put_little_endian(bytes + 12, size, 4);
    for (size_t i = 0; i < size - 8; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3;
    put_little_endian(bytes + size - 8, hash, 8);
}

static void use(reduct_accumulator *accumulator) {
    const double some[] = {1, -2, 3.5, 4};
    const reduct_reduction reduction = reduct_accumulator_reduction(accumulator);
    unsigned char result[32];
    for (int type = REDUCT_DEFAULT; type <= REDUCT_I256; type++)
        reduct_accumulator_result(accumulator, (reduct_type)type, result, NULL);
    reduct_accumulator_count(accumulator);
    reduct_accumulator_merge(accumulator, accumulator, NULL);
    reduct_accumulator_add(accumulator, some, reduct_operator_inputs(reduction.op) == 2 ? some : NULL, 4, NULL);
    reduct_accumulator_result(accumulator, REDUCT_DEFAULT, result, NULL);
    reduct_accumulator_reset(accumulator);
    require(reduct_accumulator_count(accumulator) == 0);
}

static reduct_accumulator *load(const uint8_t *bytes, size_t size) {
    reduct_accumulator *accumulator = NULL;
    const reduct_status status = reduct_accumulator_load(
        bytes, size, &(reduct_accumulator_options){.device = "cpu", .threads = 1}, &accumulator, NULL);
    require((status == REDUCT_OK) == (accumulator != NULL));
    require(status == REDUCT_OK || status == REDUCT_ERROR_CORRUPT || status == REDUCT_ERROR_VERSION ||
            status == REDUCT_ERROR_UNSUPPORTED);
    return accumulator;
}

/* What loaded saves to bytes of the same size, which load and save to themselves. */
static void check_saved(const reduct_accumulator *accumulator, size_t size) {
    static uint8_t saved[FUZZ_MOST], again[FUZZ_MOST];
    size_t saved_size = sizeof saved, again_size = sizeof again;
    require(reduct_accumulator_save(accumulator, saved, &saved_size, NULL) == REDUCT_OK && saved_size == size);
    reduct_accumulator *second = load(saved, saved_size);
    require(second && reduct_accumulator_save(second, again, &again_size, NULL) == REDUCT_OK);
    require(again_size == size && memcmp(saved, again, size) == 0);
    reduct_accumulator_destroy(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > FUZZ_MOST)
        return 0;
    uint8_t *bytes = malloc(size); /* to the byte, for the address sanitizer; one too many keeps it from being 0 */
    require(bytes);
    const size_t length = size - 1;
    memcpy(bytes, data + 1, length);
    if (data[0] & 1)
        put_right(bytes, length);
    reduct_accumulator *accumulator = load(bytes, length);
    if (accumulator) {
        check_saved(accumulator, length);
        use(accumulator);
    }
    reduct_accumulator_destroy(accumulator);
    free(bytes);
    return 0;
}

/* A saved accumulator of any reduction. */
size_t fuzz_start(uint64_t number, uint8_t *data) {
    struct rng rng = rng_of(number);
    double x[20], y[20];
    const struct test_type *type = &test_types[rng_below(&rng, test_type_count)];
    reduct_reduction reduction = {.op = test_operators[rng_below(&rng, test_operator_count)].op, .element = type->type};
    reduct_accumulator *accumulator = NULL;
    reduction.mode = (reduct_mode)rng_below(&rng, 2);
    reduction.nan = (reduct_nan)rng_below(&rng, 2);
    reduction.flags = (uint32_t)rng_below(&rng, 4);
    data[0] = (uint8_t)rng_below(&rng, 2);
    if (reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &reduction, .device = "cpu", .threads = 1},
                                  &accumulator, NULL) != REDUCT_OK)
        return 1;
    const struct distribution *distribution;
    do
        distribution = &distributions[rng_below(&rng, distribution_count)];
    while (!distribution_suits(distribution, type));
    distribution->fill(&rng, type, x, y, 20);
    size_t size = FUZZ_MOST - 1;
    require(!reduct_accumulator_add(accumulator, x, reduct_operator_inputs(reduction.op) == 2 ? y : NULL, 20, NULL));
    require(!reduct_accumulator_save(accumulator, data + 1, &size, NULL));
    reduct_accumulator_destroy(accumulator);
    return 1 + size;
}
