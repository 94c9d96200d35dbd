/* Fuzz target: loading a table from any bytes.
 *
 * The first byte says whether the rest is loaded as it is, or with the magic number, the version, the size and the checksum put
 * right, so that the fields behind them are reached. What loads must save to the same bytes, and everything that can be done
 * with a table must be possible with it.
 *
 * From the survival list: "Files and streams: truncated data, huge claims".
 */
#include <reduct/reduct.h>
#include <string.h>

#include "fuzz.h"
#include "values.h"

enum { VERSION = 8, SIZE = 16, LEAST = 48 };

static void put_little_endian(uint8_t *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* The saved form is described in src/state/table_saved.c. */
static void put_right(uint8_t *bytes, size_t size) {
    static const uint8_t start[12] = {0x89, 'r', 'd', 't', 'a', 'b', 'l', '\n', 1, 0, 0, 0};
    uint64_t hash = 0xcbf29ce484222325;
    if (size < LEAST)
        return;
    memcpy(bytes, start, sizeof start);
    put_little_endian(bytes + SIZE, size, 8);
    for (size_t i = 0; i < size - 8; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3;
    put_little_endian(bytes + size - 8, hash, 8);
}

static reduct_table *load(const uint8_t *bytes, size_t size) {
    reduct_table *table = NULL;
    const reduct_status status = reduct_table_load(bytes, size, NULL, &table, NULL);
    FUZZ_REQUIRE((status == REDUCT_OK) == (table != NULL));
    FUZZ_REQUIRE(status == REDUCT_OK || status == REDUCT_ERROR_CORRUPT || status == REDUCT_ERROR_VERSION);
    return table;
}

static void check_saved(const reduct_table *table, const uint8_t *bytes, size_t size) {
    static uint8_t saved[FUZZ_MOST];
    size_t saved_size = sizeof saved;
    FUZZ_REQUIRE(reduct_table_save(table, saved, &saved_size, NULL) == REDUCT_OK);
    FUZZ_REQUIRE(saved_size == size && memcmp(saved, bytes, size) == 0);
}

static bool reads_two(const reduct_table *table) {
    for (size_t which = 0; which < reduct_table_reductions(table); which++)
        if (reduct_operator_inputs(reduct_table_reduction(table, which).op) == 2)
            return true;
    return false;
}

static void use(reduct_table *table, const uint8_t *bytes, size_t size) {
    const double some[] = {1, -2, 3.5, 4};
    const uint8_t indices[] = {0, 1, 0, 2};
    unsigned char result[64];
    reduct_outcome outcome;
    reduct_table *other = load(bytes, size);
    const reduct_table_batch batch = {

        .x = some, .y = reads_two(table) ? some : NULL, .count = 4, .indices = indices, .index = REDUCT_U8, .skip = 1};
    for (size_t which = 0; which < reduct_table_reductions(table); which++)
        for (uint64_t g = 0; g < reduct_table_groups(table); g++) {
            FUZZ_REQUIRE(reduct_table_result(table, which, REDUCT_DEFAULT, g, 1, result, &outcome, NULL) == REDUCT_OK);
            reduct_table_count(table, which, g);
        }
    reduct_table_merge(table, other, NULL, NULL);
    reduct_table_add(table, &batch, NULL);
    reduct_table_remove(table, &batch, NULL);
    reduct_table_reset(table);
    reduct_table_destroy(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > FUZZ_MOST)
        return 0;
    uint8_t *bytes = malloc(size); /* to the byte, for the address sanitizer; one too many keeps it from being 0 */
    FUZZ_REQUIRE(bytes);
    const size_t length = size - 1;
    memcpy(bytes, data + 1, length);
    if (data[0] & 1)
        put_right(bytes, length);
    reduct_table *table = load(bytes, length);
    if (table) {
        check_saved(table, bytes, length);
        use(table, bytes, length);
    }
    reduct_table_destroy(table);
    free(bytes);
    return 0;
}

/* A saved table of any two reductions. */
size_t fuzz_start(uint64_t number, uint8_t *data) {
    struct rng rng = rng_of(number);
    double x[20], y[20];
    uint64_t indices[20];
    const struct test_type *type = &test_types[rng_below(&rng, test_type_count)];
    reduct_reduction reductions[2];
    reduct_table *table = NULL;
    for (size_t i = 0; i < 2; i++)
        reductions[i] = (reduct_reduction){.op = test_operators[rng_below(&rng, test_operator_count)].op,
                                           .element = type->type,
                                           .nan = (reduct_nan)rng_below(&rng, 2),
                                           .flags = (uint32_t)rng_below(&rng, 4)};
    data[0] = (uint8_t)rng_below(&rng, 2);
    if (reduct_table_create(&(reduct_table_options){.reductions = reductions, .reduction_count = 2, .groups = 3},
                            &table, NULL) != REDUCT_OK)
        return 1;
    const struct distribution *distribution;
    do
        distribution = &distributions[rng_below(&rng, distribution_count)];
    while (!distribution_suits(distribution, type));
    distribution->fill(&rng, type, x, y, 20);
    for (size_t i = 0; i < 20; i++)
        indices[i] = rng_below(&rng, 3);
    size_t size = FUZZ_MOST - 1;
    FUZZ_REQUIRE(!reduct_table_add(
        table,
        &(reduct_table_batch){
            .x = x, .y = reads_two(table) ? y : NULL, .count = 20, .indices = indices, .index = REDUCT_U64},
        NULL));
    FUZZ_REQUIRE(!reduct_table_save(table, data + 1, &size, NULL));
    reduct_table_destroy(table);
    return 1 + size;
}
