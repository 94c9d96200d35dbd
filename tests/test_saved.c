/* Saved accumulators: whatever happens to the bytes, loading says so and nothing else happens.
 *
 * From the survival list: "Files and streams: truncated data, huge claims"; "libFuzzer on the accumulator's load" has
 * its target in fuzz/.
 */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

enum { SAVED = 4096 };

struct saved {
    unsigned char bytes[SAVED];
    size_t size;
    reduct_reduction reduction;
};

/* One saved accumulator per operator, element type and mode in turn, of data that fills every field. */
static void save_some(struct saved *saved, struct rng *rng, const reduct_reduction *reduction) {
    double x[40], y[40];
    const struct test_type *type = test_type(reduction->element);
    const bool two = test_operator(reduction->op)->inputs == 2;
    distribution_named("raw")->fill(rng, type, x, y, 40);
    if (type->class == FLOAT) {
        values_put_bits(type, x, 7, values_nan(rng, type));
        values_put_bits(type, x, 9, values_infinity(type));
    }
    reduct_accumulator *accumulator = NULL;
    test_status(reduct_accumulator_create(
                    &(reduct_accumulator_options){.reduction = reduction, .device = test_device(), .threads = 1},
                    &accumulator, NULL),
                REDUCT_OK);
    test_status(reduct_accumulator_add(accumulator, x, two ? y : NULL, 40, NULL), REDUCT_OK);
    saved->size = SAVED;
    test_status(reduct_accumulator_save(accumulator, saved->bytes, &saved->size, NULL), REDUCT_OK);
    saved->reduction = reduct_accumulator_reduction(accumulator);
    reduct_accumulator_destroy(accumulator);
}

static reduct_status load(const void *bytes, size_t size, reduct_accumulator **accumulator) {
    reduct_error error;
    memset(&error, 0x5A, sizeof error);
    const reduct_status status = reduct_accumulator_load(
        bytes, size, &(reduct_accumulator_options){.device = "cpu", .threads = 1}, accumulator, &error);
    if (status != REDUCT_OK && (error.status != status || !memchr(error.message, 0, sizeof error.message)))
        test_fail("a failed load left an error of status %d", (int)error.status);
    return status;
}

/* Loads from memory that ends exactly where the bytes do, so that a sanitizer sees any reading beyond. */
static void assert_refused(const unsigned char *bytes, size_t size, const char *what, size_t where) {
    unsigned char *exact = test_alloc(size);
    memcpy(exact, bytes, size);
    reduct_accumulator *accumulator = NULL;
    const reduct_status status = load(exact, size, &accumulator);
    free(exact);
    if ((status != REDUCT_ERROR_CORRUPT && status != REDUCT_ERROR_VERSION) || accumulator)
        test_fail("%s at %zu of %zu: status %d", what, where, size, (int)status);
}

static void for_each_reduction(void (*check)(struct rng *rng, const struct saved *saved)) {
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed());
    static struct saved saved;
    for (size_t o = 0; o < test_operator_count; o++)
        for (size_t e = 0; e < element_count; e++)
            for (int mode = REDUCT_EXACT; mode <= REDUCT_FAST; mode++) {
                reduct_reduction reduction = test_reduction(test_operators[o].op, elements[e]->type, REDUCT_DEFAULT);
                reduction.mode = (reduct_mode)mode;
                reduction.flags = (uint32_t)rng_below(&rng, 4);
                if (!oracle_has(reduction.op, reduction.element))
                    continue;
                save_some(&saved, &rng, &reduction);
                check(&rng, &saved);
            }
}

static void check_whole(struct rng *rng, const struct saved *saved) {
    (void)rng;
    reduct_accumulator *accumulator = NULL;
    test_status(load(saved->bytes, saved->size, &accumulator), REDUCT_OK);
    const reduct_reduction reduction = reduct_accumulator_reduction(accumulator);
    assert_memory_equal(&reduction, &saved->reduction, sizeof reduction);
    unsigned char again[SAVED];
    size_t size = SAVED;
    test_status(reduct_accumulator_save(accumulator, again, &size, NULL), REDUCT_OK);
    assert_int_equal(size, saved->size);
    assert_memory_equal(again, saved->bytes, size);
    reduct_accumulator_destroy(accumulator);
}

static void check_flipped(struct rng *rng, const struct saved *saved) {
    unsigned char bytes[SAVED];
    memcpy(bytes, saved->bytes, saved->size);
    for (size_t i = 0; i < saved->size; i++) {
        const unsigned char masks[] = {0xff, (unsigned char)(1U << rng_below(rng, 8)),
                                       (unsigned char)(1 + rng_below(rng, 255))};
        for (size_t m = 0; m < sizeof masks; m++) {
            bytes[i] ^= masks[m];
            assert_refused(bytes, saved->size, "a flipped byte", i);
            bytes[i] ^= masks[m];
        }
    }
}

static void check_cut(struct rng *rng, const struct saved *saved) {
    unsigned char bytes[SAVED + 64] = {0};
    memcpy(bytes, saved->bytes, saved->size);
    for (size_t size = 0; size < saved->size; size++)
        assert_refused(bytes, size, "bytes cut short", size);
    for (size_t more = 1; more < 64; more += 1 + rng_below(rng, 8))
        assert_refused(bytes, saved->size + more, "trailing bytes", saved->size);
    for (size_t i = 0; i + 8 <= saved->size; i += 8) { /* whole words swapped with their neighbours, zeroed, filled */
        memset(bytes + i, i % 16 ? 0xff : 0, 8);
        if (memcmp(bytes, saved->bytes, saved->size) != 0)
            assert_refused(bytes, saved->size, "an overwritten word", i);
        memcpy(bytes + i, saved->bytes + i, 8);
    }
}

static void whole(void **state) {
    (void)state;
    for_each_reduction(check_whole);
}

static void flipped(void **state) {
    (void)state;
    for_each_reduction(check_flipped);
}

static void cut_short(void **state) {
    (void)state;
    for_each_reduction(check_cut);
}

static void noise(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 1);
    unsigned char bytes[1200];
    for (uint64_t round = test_scaled(20000, 1000); round-- > 0;) {
        const size_t size = rng_below(&rng, sizeof bytes);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)rng_next(&rng);
        assert_refused(bytes, size, "noise", 0);
    }
}

/* The room at `bytes` is respected to the byte, and a refusal touches nothing. */
static void room(void **state) {
    (void)state;
    const reduct_reduction reduction = test_reduction(REDUCT_SUM, REDUCT_F32, REDUCT_DEFAULT);
    reduct_accumulator *accumulator = NULL;
    test_status(reduct_accumulator_create(&(reduct_accumulator_options){.reduction = &reduction}, &accumulator, NULL),
                REDUCT_OK);
    size_t needed = 12345;
    test_status(reduct_accumulator_save(accumulator, NULL, &needed, NULL), REDUCT_OK);
    assert_true(needed > 0 && needed < SAVED);
    unsigned char bytes[SAVED], untouched[SAVED];
    memset(bytes, 0x77, sizeof bytes);
    memset(untouched, 0x77, sizeof untouched);
    for (size_t size = 0; size < needed; size++) {
        size_t given = size;
        test_status(reduct_accumulator_save(accumulator, bytes, &given, NULL), REDUCT_ERROR_ARGUMENT);
        assert_int_equal(given, size);
    }
    assert_memory_equal(bytes, untouched, sizeof bytes);
    size_t given = needed;
    test_status(reduct_accumulator_save(accumulator, bytes, &given, NULL), REDUCT_OK);
    assert_int_equal(given, needed);
    assert_memory_equal(bytes + needed, untouched + needed, sizeof bytes - needed);
    given = sizeof bytes;
    test_status(reduct_accumulator_save(accumulator, bytes, &given, NULL), REDUCT_OK);
    assert_int_equal(given, needed);
    test_status(reduct_accumulator_save(NULL, bytes, &given, NULL), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_accumulator_save(accumulator, bytes, NULL, NULL), REDUCT_ERROR_ARGUMENT);
    reduct_accumulator_destroy(accumulator);
}

/* A version that this library does not know is said to be one, whatever follows. */
static void newer_version(void **state) {
    (void)state;
    static struct saved saved;
    struct rng rng = rng_of(test_seed() + 3);
    const reduct_reduction reduction = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    save_some(&saved, &rng, &reduction);
    for (size_t byte = 8; byte < 12; byte++) {
        saved.bytes[byte] ^= 0x42;
        reduct_accumulator *accumulator = NULL;
        test_status(load(saved.bytes, saved.size, &accumulator), REDUCT_ERROR_VERSION);
        saved.bytes[byte] ^= 0x42;
    }
}

#define SEVEN_ONES                                                                                                     \
    "000000000000f03f000000000000f03f000000000000f03f000000000000f03f"                                                 \
    "000000000000f03f000000000000f03f000000000000f03f"
#define SEVEN_ZEROS                                                                                                    \
    "0000000000000000000000000000000000000000000000000000000000000000"                                                 \
    "000000000000000000000000000000000000000000000000"

/* What version 1 saved, kept here for good: every later version loads it, and gives the same results. */
static const struct {
    const char *what, *hex;
    reduct_operator op;
    size_t size;
    uint64_t result;
} kept[] = {
    {"sum of f32 {1.5, -2, NaN, 0x1p-149}, ignoring NaN",
     "897265647563740a01000000b000000001020200010000000000000000000000040000000000000001000000000000000000000000000000"
     "0000000000000000000000000000000001000000000000000008000000000000000000000000000000000000000000000000000000000000"
     "0000008000000000ffffffff00000000ffffffff00000000ffffffff00000000ffffffff00000000ffffffff00000000ffffffffffffffff"
     "3c7fb9ddab4b93d1",
     REDUCT_SUM, 4, 0xbf000000},
    {"argmax of i16 {3, -7, 9, 9}",
     "897265647563740a01000000780000000e060c00000000000000000000000000040000000000000000000000000000000000000000000000"
     "000000000000000000000000000000000000000000000000010000000000000009000000000000000200000000000000ffffffffffffffff"
     "92f5f4e74da19118",
     REDUCT_ARGMAX, 8, 2},
    {"fast mean of f64 {1, 2, 4} as f32",
     "897265647563740a010000006800000002010201000000000000000000000000030000000000000000000000000000000000000000000000"
     "0000000000000000000000000000000000000000000000000000000000001c400000000000000000df687bf030c5d0eb",
     REDUCT_MEAN, 4, 0x40155555},
    {"product of f64 {1.5, -2, 0x1p-1074}",
     "897265647563740a01000000100400000f010100000000000000000000000000030000000000000000000000000000000000000000000000"
     "0000000000000000000000000000000000000000000000000100000000000000cffbffffffffffffffffffffffffffff000000000000f83"
     "f" SEVEN_ONES SEVEN_ONES SEVEN_ONES SEVEN_ONES SEVEN_ONES SEVEN_ONES SEVEN_ONES SEVEN_ONES SEVEN_ONES SEVEN_ZEROS
         SEVEN_ZEROS SEVEN_ZEROS SEVEN_ZEROS SEVEN_ZEROS SEVEN_ZEROS SEVEN_ZEROS
     "000000000000000000000000000000000000000000000000"
     "4b66543fa4bb0bd0",
     REDUCT_PRODUCT, 8, 0x8000000000000003},
    {"product of i16 {3, -7, 100}",
     "897265647563740a01000000800000000f060800000000000000000000000000030000000000000000000000000000000000000000000000"
     "0000000000000000000000000000000000000000000000000100000000000000340800000000000000000000000000000000000000000000"
     "000000000000000023b4e7d44cffcce2",
     REDUCT_PRODUCT, 8, 0xfffffffffffff7cc},
    {"count_nonzero of f32 {1.5, -0, NaN, 3}, ignoring NaN",
     "897265647563740a010000006000000011020c00010000000000000000000000040000000000000001000000000000000000000000000000"
     "0000000000000000000000000000000000000000000000000200000000000000ed53566d2d959078",
     REDUCT_COUNT_NONZERO, 8, 2},
    {"xor of i16 {3, -7, 9, 9}",
     "897265647563740a010000006000000016060600000000000000000000000000040000000000000000000000000000000000000000000000"
     "000000000000000000000000000000000000000000000000faff00000000000015b5cb3d968d1f69",
     REDUCT_XOR, 2, 0xfffa},
    {"minmax of i16 {3, -7, 9, 9}",
     "897265647563740a010000008000000017060600000000000000000000000000040000000000000000000000000000000000000000000000"
     "0000000000000000000000000000000000000000000000000100000000000000f9ff0000000000000000000000000000ffffffffffffffff"
     "0900000000000000ef457e9751a84929",
     REDUCT_MINMAX, 4, 0x9fff9},
    {"weighted_mean of f32 {1.5, -0, NaN, 3} by {1, 2, 1, -4}, ignoring NaN",
     "897265647563740a010000005001000019020200010000000000000000000000040000000000000001000000000000000000000000000000"
     "0000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "0000000000000000ffffffff00000000ffffffff00000000ffffffff00000000ffffffff00000000ffffffff00000000ffffffffffffffff"
     "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "000000000000000000000000000000000000008000000000f5ffffff00000000ffffffff00000000ffffffff00000000ffffffff00000000"
     "ffffffff00000000ffffffff00000000ffffffff00000000ffffffff00000000ffffffff00000000ffffffffffffffffad7da93a0b2e7bbe",
     REDUCT_WEIGHTED_MEAN, 4, 0x41280000},
};

static unsigned digit(char c) {
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

static void version_1(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        unsigned char bytes[SAVED], again[SAVED];
        const size_t size = strlen(kept[i].hex) / 2;
        size_t saved = SAVED;
        for (size_t b = 0; b < size; b++)
            bytes[b] = (unsigned char)(digit(kept[i].hex[2 * b]) << 4 | digit(kept[i].hex[2 * b + 1]));
        reduct_accumulator *accumulator = NULL;
        if (load(bytes, size, &accumulator) != REDUCT_OK)
            test_fail("the %s, saved by version 1, does not load", kept[i].what);
        assert_int_equal(reduct_accumulator_reduction(accumulator).op, kept[i].op);
        unsigned char result[8] = {0};
        test_status(reduct_accumulator_result(accumulator, REDUCT_DEFAULT, result, NULL), REDUCT_OK);
        const struct test_type *type = test_type(kept[i].size == 2   ? REDUCT_U16
                                                 : kept[i].size == 4 ? REDUCT_U32
                                                                     : REDUCT_U64);
        if (values_bits(type, result, 0) != kept[i].result)
            test_fail("the %s, saved by version 1, is 0x%llx now", kept[i].what,
                      (unsigned long long)values_bits(type, result, 0));
        test_status(reduct_accumulator_save(accumulator, again, &saved, NULL), REDUCT_OK);
        assert_int_equal(saved, size);
        assert_memory_equal(again, bytes, size);
        reduct_accumulator_destroy(accumulator);
    }
}

/* Loading names its own bad arguments. */
static void load_arguments(void **state) {
    (void)state;
    static struct saved saved;
    struct rng rng = rng_of(test_seed() + 2);
    const reduct_reduction reduction = test_reduction(REDUCT_VAR, REDUCT_F64, REDUCT_DEFAULT);
    save_some(&saved, &rng, &reduction);
    reduct_accumulator *accumulator = NULL;
    reduct_error error = {0};
    test_status(reduct_accumulator_load(NULL, saved.size, NULL, &accumulator, &error), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_accumulator_load(saved.bytes, saved.size, NULL, NULL, &error), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_accumulator_load(saved.bytes, saved.size, &(reduct_accumulator_options){.device = "cuda:97"},
                                        &accumulator, &error),
                REDUCT_ERROR_NO_DEVICE);
    test_status(reduct_accumulator_load(saved.bytes, saved.size, &(reduct_accumulator_options){.device = "toaster"},
                                        &accumulator, NULL),
                REDUCT_ERROR_NO_DEVICE);
    assert_null(accumulator);
    test_status(reduct_accumulator_load(saved.bytes, saved.size, NULL, &accumulator, NULL), REDUCT_OK);
    reduct_accumulator_destroy(accumulator);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),         cmocka_unit_test(flipped),   cmocka_unit_test(cut_short),
        cmocka_unit_test(noise),         cmocka_unit_test(room),      cmocka_unit_test(load_arguments),
        cmocka_unit_test(newer_version), cmocka_unit_test(version_1),
    };
    return cmocka_run_group_tests_name("saved", tests, NULL, NULL);
}
