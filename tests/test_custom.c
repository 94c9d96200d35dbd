/* Operators of the caller's own: the tree that the header promises, the same on any number of threads, also for operators
 * that are not associative; the order of elements; failures of the caller's functions; bad arguments.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"

enum { BLOCK = 4096, MOST = 300 * BLOCK, THREADS = 16 };

static const size_t sizes[] = {0,
                               1,
                               2,
                               77,
                               BLOCK - 1,
                               BLOCK,
                               BLOCK + 1,
                               2 * BLOCK,
                               3 * BLOCK,
                               5 * BLOCK,
                               7 * BLOCK + 9,
                               8 * BLOCK,
                               100 * BLOCK + 3,
                               255 * BLOCK,
                               256 * BLOCK,
                               256 * BLOCK + 1,
                               257 * BLOCK,
                               258 * BLOCK + 1,
                               MOST - 5};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* ---------------------------------------------------------------------------------------------------------------------
 * The tree itself. A state is what a run of elements hashes to, in a way that knows how it was grouped.
 * ------------------------------------------------------------------------------------------------------------------ */

struct run {
    uint64_t first, count, hash; /* of the elements first, first + 1, ... */
};

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t z = a * UINT64_C(0x9e3779b97f4a7c15) ^ (b + UINT64_C(0xbf58476d1ce4e5b9) + (a << 6));
    return (z ^ z >> 29) * UINT64_C(0x94d049bb133111eb);
}

static int run_identity(void *state, void *context) {
    (void)context;
    *(struct run *)state = (struct run){0, 0, 1};
    return (uintptr_t)state % 64 != 0;
}

static int run_accumulate(void *state, const void *elements, size_t count, void *context) {
    struct run *run = state;
    const uint32_t *x = elements;
    atomic_fetch_add((atomic_ulong *)context, count);
    if (!count || count > BLOCK || run->count)
        return 1;
    *run = (struct run){x[0], count, 1};
    for (size_t i = 0; i < count; i++)
        run->hash = mix(run->hash, x[i]);
    return 0;
}

static int run_combine(void *left, const void *right, void *context) {
    (void)context;
    struct run *a = left;
    const struct run *b = right;
    if (a->first + a->count != b->first || !a->count || !b->count)
        return 2; /* not neighbours, or nothing there */
    *a = (struct run){a->first, a->count + b->count, mix(a->hash, mix(b->hash, 12345))};
    return 0;
}

/* The tree from above: to the left the largest power of two of blocks that leaves something over. */
static uint64_t tree_hash(const uint32_t *x, size_t count) {
    uint64_t hash = 1;
    for (size_t i = 0; i < count && count <= BLOCK; i++)
        hash = mix(hash, x[i]);
    if (count <= BLOCK)
        return hash;
    size_t left = BLOCK;
    while (2 * left < count)
        left *= 2;
    return mix(tree_hash(x, left), mix(tree_hash(x + left, count - left), 12345));
}

static void the_tree(void **state) {
    (void)state;
    uint32_t *x = test_alloc(MOST * sizeof *x);
    atomic_ulong elements = 0;
    for (size_t i = 0; i < MOST; i++)
        x[i] = (uint32_t)i;
    for (size_t s = 0; s < SIZES; s++)
        for (unsigned threads = 0; threads <= THREADS; threads += 1 + (test_scale() < 1) * 4) {
            const reduct_custom custom = {.element_size = sizeof *x,
                                          .state_size = sizeof(struct run),
                                          .identity = run_identity,
                                          .accumulate = run_accumulate,
                                          .combine = run_combine,
                                          .context = &elements,
                                          .threads = threads};
            struct run got = {7, 7, 7};
            reduct_error error = {0};
            atomic_store(&elements, 0);
            if (reduct_reduce_custom(&custom, x, sizes[s], &got, &error) != REDUCT_OK)
                test_fail("%zu elements on %u threads: %s", sizes[s], threads, error.message);
            if (got.hash != tree_hash(x, sizes[s]) || got.count != sizes[s] || atomic_load(&elements) != sizes[s])
                test_fail("%zu elements on %u threads: another tree than the one promised", sizes[s], threads);
        }
    free(x);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Operators that mean something
 * ------------------------------------------------------------------------------------------------------------------ */

/* 2 x 2 matrices modulo 2^64: associative, not commutative. */
struct matrix {
    uint64_t a, b, c, d;
};

static struct matrix times(struct matrix m, struct matrix n) {
    return (struct matrix){m.a * n.a + m.b * n.c, m.a * n.b + m.b * n.d, m.c * n.a + m.d * n.c, m.c * n.b + m.d * n.d};
}

static int matrix_identity(void *state, void *context) {
    (void)context;
    *(struct matrix *)state = (struct matrix){1, 0, 0, 1};
    return 0;
}

static int matrix_accumulate(void *state, const void *elements, size_t count, void *context) {
    (void)context;
    const struct matrix *m = elements;
    for (size_t i = 0; i < count; i++)
        *(struct matrix *)state = times(*(struct matrix *)state, m[i]);
    return 0;
}

static int matrix_combine(void *left, const void *right, void *context) {
    (void)context;
    *(struct matrix *)left = times(*(struct matrix *)left, *(const struct matrix *)right);
    return 0;
}

static void matrices(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed());
    struct matrix *m = test_alloc(MOST * sizeof *m);
    for (size_t i = 0; i < MOST; i++)
        m[i] = (struct matrix){rng_next(&rng) | 1, rng_next(&rng), 2 * rng_next(&rng), rng_next(&rng) | 1};
    for (size_t s = 0; s < SIZES; s++) {
        struct matrix expected = {1, 0, 0, 1};
        for (size_t i = 0; i < sizes[s]; i++)
            expected = times(expected, m[i]);
        for (unsigned threads = 0; threads <= THREADS; threads += 4) {
            const reduct_custom custom = {.element_size = sizeof *m,
                                          .state_size = sizeof *m,
                                          .identity = matrix_identity,
                                          .accumulate = matrix_accumulate,
                                          .combine = matrix_combine,
                                          .threads = threads};
            struct matrix got;
            test_status(reduct_reduce_custom(&custom, m, sizes[s], &got, NULL), REDUCT_OK);
            assert_memory_equal(&got, &expected, sizeof got);
        }
    }
    free(m);
}

/* Sums of floats: nearly associative, so that the tree shows in the last bits, and must be the same one. */
static int sum_identity(void *state, void *context) {
    (void)context;
    *(float *)state = 0;
    return 0;
}

static int sum_accumulate(void *state, const void *elements, size_t count, void *context) {
    (void)context;
    for (size_t i = 0; i < count; i++)
        *(float *)state += ((const float *)elements)[i];
    return 0;
}

static int sum_combine(void *left, const void *right, void *context) {
    (void)context;
    *(float *)left += *(const float *)right;
    return 0;
}

static void float_sums(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 1);
    float *x = test_alloc(MOST * sizeof *x), one = 0;
    size_t differ = 0;
    distribution_named("normal")->fill(&rng, test_type(REDUCT_F32), x, NULL, MOST);
    for (size_t s = 0; s < SIZES; s++)
        for (unsigned threads = 1; threads <= THREADS; threads++) {
            const reduct_custom custom = {.element_size = sizeof *x,
                                          .state_size = sizeof *x,
                                          .identity = sum_identity,
                                          .accumulate = sum_accumulate,
                                          .combine = sum_combine,
                                          .threads = threads};
            float got = 0, in_order = 0;
            test_status(reduct_reduce_custom(&custom, x, sizes[s], &got, NULL), REDUCT_OK);
            one = threads == 1 ? got : one;
            assert_memory_equal(&got, &one, sizeof got);
            for (size_t i = 0; i < sizes[s]; i++)
                in_order += x[i];
            differ += in_order != got;
        }
    assert_true(differ > 0); /* or this shows nothing */
    free(x);
}

/* Elements and states of any size: the last element and the length, in states of 100 bytes, from elements of 3. */
struct last {
    unsigned char element[3], padding[89];
    uint32_t low, high;
};

static int last_identity(void *state, void *context) {
    (void)context;
    memset(state, 0, sizeof(struct last));
    return 0;
}

static int last_accumulate(void *state, const void *elements, size_t count, void *context) {
    (void)context;
    struct last *last = state;
    memcpy(last->element, (const unsigned char *)elements + 3 * (count - 1), 3);
    last->low += (uint32_t)count;
    return 0;
}

static int last_combine(void *left, const void *right, void *context) {
    (void)context;
    const uint32_t count = ((struct last *)left)->low;
    memcpy(left, right, sizeof(struct last));
    ((struct last *)left)->low += count;
    return 0;
}

static void odd_sizes(void **state) {
    (void)state;
    unsigned char *x = test_alloc(3 * MOST + 1);
    for (size_t i = 0; i < 3 * MOST + 1; i++)
        x[i] = (unsigned char)(i * 7 + i / 256);
    for (size_t s = 1; s < SIZES; s++) {
        const reduct_custom custom = {.element_size = 3,
                                      .state_size = sizeof(struct last),
                                      .identity = last_identity,
                                      .accumulate = last_accumulate,
                                      .combine = last_combine,
                                      .threads = 5};
        struct last got;
        test_status(reduct_reduce_custom(&custom, x + 1, sizes[s], &got, NULL), REDUCT_OK);
        assert_memory_equal(got.element, x + 1 + 3 * (sizes[s] - 1), 3);
        assert_int_equal(got.low, sizes[s]);
    }
    free(x);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Failures
 * ------------------------------------------------------------------------------------------------------------------ */

/* Fails for the elements that are marked, or when runs meet at a marked place. */
struct marks {
    int identity;         /* what identity() returns */
    uint64_t at[2], meet; /* elements, a first element of a right operand */
};

static int marked_identity(void *state, void *context) {
    *(uint64_t *)state = 0;
    return ((struct marks *)context)->identity;
}

static int marked_accumulate(void *state, const void *elements, size_t count, void *context) {
    const struct marks *marks = context;
    const uint64_t *x = elements;
    *(uint64_t *)state = x[0];
    for (int i = 0; i < 2; i++)
        if (marks->at[i] >= x[0] && marks->at[i] < x[0] + count)
            return 100 + i;
    return 0;
}

static int marked_combine(void *left, const void *right, void *context) {
    (void)left;
    return *(const uint64_t *)right == ((struct marks *)context)->meet ? -7 : 0;
}

static void check_failure(struct marks marks, const uint64_t *x, size_t count, uint64_t index, const char *words) {
    for (unsigned threads = 1; threads <= THREADS; threads++)
        for (int run = 0; run < 5; run++) {
            const reduct_custom custom = {.element_size = sizeof *x,
                                          .state_size = sizeof *x,
                                          .identity = marked_identity,
                                          .accumulate = marked_accumulate,
                                          .combine = marked_combine,
                                          .context = &marks,
                                          .threads = threads};
            uint64_t result = 77;
            reduct_error error = {0};
            test_status(reduct_reduce_custom(&custom, x, count, &result, &error), REDUCT_ERROR_CALLBACK);
            if (error.status != REDUCT_ERROR_CALLBACK || error.index != index || strcmp(error.message, words) != 0)
                test_fail("on %u threads: %s (index %llu)", threads, error.message, (unsigned long long)error.index);
            assert_int_equal(result, 77);
        }
}

static void failures(void **state) {
    (void)state;
    const uint64_t none = UINT64_MAX;
    uint64_t *x = test_alloc(MOST * sizeof *x);
    for (size_t i = 0; i < MOST; i++)
        x[i] = i;
    check_failure((struct marks){0, {5000, 5001}, none}, x, MOST, BLOCK,
                  "accumulate: the operator's function returned 100 for elements 4096 to 8191");
    check_failure((struct marks){0, {MOST - 1, 30 * BLOCK}, none}, x, MOST, 30 * BLOCK,
                  "accumulate: the operator's function returned 101 for elements 122880 to 126975");
    check_failure((struct marks){0, {BLOCK + 3, none}, none}, x, BLOCK + 5, BLOCK,
                  "accumulate: the operator's function returned 100 for elements 4096 to 4100");
    check_failure((struct marks){0, {none, none}, BLOCK}, x, MOST, UINT64_MAX,
                  "combine: the operator's function returned -7");
    check_failure((struct marks){0, {none, none}, 256 * BLOCK}, x, MOST, UINT64_MAX,
                  "combine: the operator's function returned -7");
    check_failure((struct marks){-1, {none, none}, none}, x, MOST, UINT64_MAX,
                  "identity: the operator's function returned -1");
    check_failure((struct marks){-1, {none, none}, none}, x, 0, UINT64_MAX,
                  "identity: the operator's function returned -1");
    free(x);
}

static void bad_arguments(void **state) {
    (void)state;
    const reduct_custom good = {.element_size = sizeof(float),
                                .state_size = sizeof(float),
                                .identity = sum_identity,
                                .accumulate = sum_accumulate,
                                .combine = sum_combine};
    const float x[] = {1, 2};
    float result = 77;
    reduct_custom bad[7];
    for (size_t i = 0; i < 7; i++)
        bad[i] = good;
    bad[0].element_size = 0;
    bad[1].state_size = 0;
    bad[2].identity = NULL;
    bad[3].accumulate = NULL;
    bad[4].combine = NULL;
    bad[5].reserved[7] = 1;
    static const char *const words[] = {
        "element_size: ", "state_size: ", "identity: ", "accumulate: ", "combine: ", "reserved: "};
    for (size_t i = 0; i < 6; i++) {
        reduct_error error = {0};
        test_status(reduct_reduce_custom(&bad[i], x, 2, &result, &error), REDUCT_ERROR_ARGUMENT);
        if (strncmp(error.message, words[i], strlen(words[i])) != 0)
            test_fail("%s: said %s", words[i], error.message);
    }
    bad[6].state_size = SIZE_MAX / 2 - 64;
    test_status(reduct_reduce_custom(&bad[6], x, 2, &result, NULL), REDUCT_ERROR_TOO_LARGE);
    bad[6].state_size = SIZE_MAX;
    test_status(reduct_reduce_custom(&bad[6], x, 2, &result, NULL), REDUCT_ERROR_TOO_LARGE);
    test_status(reduct_reduce_custom(NULL, x, 2, &result, NULL), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_reduce_custom(&good, NULL, 2, &result, NULL), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_reduce_custom(&good, x, 2, NULL, NULL), REDUCT_ERROR_ARGUMENT);
    test_status(reduct_reduce_custom(&good, x, SIZE_MAX / 4, &result, NULL), REDUCT_ERROR_TOO_LARGE);
    assert_true(result == 77);
    test_status(reduct_reduce_custom(&good, NULL, 0, &result, NULL), REDUCT_OK);
    assert_true(result == 0);
    test_status(reduct_reduce_custom(&good, x, 2, &result, NULL), REDUCT_OK);
    assert_true(result == 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tree),  cmocka_unit_test(matrices), cmocka_unit_test(float_sums),
        cmocka_unit_test(odd_sizes), cmocka_unit_test(failures), cmocka_unit_test(bad_arguments),
    };
    return cmocka_run_group_tests_name("custom", tests, NULL, NULL);
}
