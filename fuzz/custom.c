/* Fuzz target: operators of the caller's own, against a fold of the tree that the header documents.
 *
 * The operator is a hash that knows how it was grouped: neither associative nor commutative, over elements and states of any
 * size. The header of the input chooses sizes, threads, the length, and elements that make accumulate() fail; what
 * follows are the elements, over and over. The fold is a recursion from the top of the tree, written from the header's
 * words alone.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reduct/reduct.h>

#include "fuzz.h"
#include "values.h"

enum { BLOCK = 4096, STATE_MOST = 200, SEED = 1 };

struct work {
    size_t element_size, state_size;
    uint64_t bad; /* a block fails where its hash is 0 modulo this; 0 for never */
    int code;
};

static uint64_t mix(uint64_t a, uint64_t b) {
    const uint64_t z = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
    return (z ^ z >> 33) + a;
}

/* The hash of a block of elements. */
static uint64_t hash_block(const struct work *work, const uint8_t *elements, size_t count, uint64_t hash) {
    for (size_t i = 0; i < count * work->element_size; i++)
        hash = mix(hash, elements[i]);
    return mix(hash, count);
}

static bool is_bad(const struct work *work, uint64_t hash) {
    return work->bad && hash % work->bad == 0;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The operator. A state is a hash, and a run of bytes that follow from it, to see that all of it is kept.
 * ------------------------------------------------------------------------------------------------------------------ */

static void put_state(const struct work *work, uint8_t *state, uint64_t hash) {
    memcpy(state, &hash, sizeof hash);
    for (size_t i = sizeof hash; i < work->state_size; i++)
        state[i] = (uint8_t)(hash >> i % 57);
}

/* The hash of a state, which must be whole, and lie where the header says. */
static uint64_t get_state(const struct work *work, const uint8_t *state) {
    uint64_t hash;
    FUZZ_REQUIRE((uintptr_t)state % 64 == 0);
    memcpy(&hash, state, sizeof hash);
    for (size_t i = sizeof hash; i < work->state_size; i++)
        FUZZ_REQUIRE(state[i] == (uint8_t)(hash >> i % 57));
    return hash;
}

static int identity(void *state, void *context) {
    FUZZ_REQUIRE((uintptr_t)state % 64 == 0);
    put_state(context, state, SEED);
    return 0;
}

static int accumulate(void *state, const void *elements, size_t count, void *context) {
    const struct work *work = context;
    FUZZ_REQUIRE(count >= 1 && count <= BLOCK && get_state(work, state) == SEED); /* a whole block, from the identity */
    const uint64_t hash = hash_block(work, elements, count, SEED);
    put_state(work, state, hash);
    return is_bad(work, hash) ? work->code : 0;
}

static int combine(void *left, const void *right, void *context) {
    const struct work *work = context;
    put_state(work, left, mix(get_state(work, left), mix(get_state(work, right), 77)));
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The tree
 * ------------------------------------------------------------------------------------------------------------------ */

/* Folds some blocks; notes the first that fails. */
static uint64_t fold(const struct work *work, const uint8_t *elements, uint64_t count, uint64_t first,
                     uint64_t *failed) {
    if (count <= BLOCK) {
        const uint64_t hash = count ? hash_block(work, elements, (size_t)count, SEED) : SEED;
        if (count && is_bad(work, hash) && first < *failed)
            *failed = first;
        return hash;
    }
    uint64_t left = BLOCK; /* the largest power of two of blocks that leaves something over */
    while (2 * left < count)
        left *= 2;
    const uint64_t a = fold(work, elements, left, first, failed);
    return mix(a, mix(fold(work, elements + left * work->element_size, count - left, first + left, failed), 77));
}

static void check(struct work *work, const uint8_t *elements, uint64_t count, unsigned threads) {
    _Alignas(64) uint8_t result[STATE_MOST + 64];
    reduct_error error = {.index = 7};
    uint64_t failed = UINT64_MAX;
    const reduct_custom custom = {.element_size = work->element_size,
                                  .state_size = work->state_size,
                                  .identity = identity,
                                  .accumulate = accumulate,
                                  .combine = combine,
                                  .context = work,
                                  .threads = threads};
    memset(result, 0xa5, sizeof result);
    const reduct_status status = reduct_reduce_custom(&custom, elements, count, result, &error);
    const uint64_t expected = fold(work, elements, count, 0, &failed);
    if (failed != UINT64_MAX) {
        FUZZ_REQUIRE(status == REDUCT_ERROR_CALLBACK && error.index == failed && result[0] == 0xa5);
    } else {
        FUZZ_REQUIRE(status == REDUCT_OK);
        FUZZ_REQUIRE(get_state(work, result) == expected);
    }
    FUZZ_REQUIRE(result[work->state_size] == 0xa5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input input = {data, size};
    struct work work = {.element_size = 1 + fuzz_byte(&input) % 12};
    work.state_size = sizeof(uint64_t) + fuzz_byte(&input) % (STATE_MOST - sizeof(uint64_t));
    const unsigned threads = fuzz_byte(&input) % 5, failing = fuzz_byte(&input);
    work.bad = failing < 128 ? 0 : (uint64_t)1 << failing % 8;
    work.code = (int)failing + 1;
    uint64_t count = fuzz_size(&input) % (5 * BLOCK);
    if (count % 256 == 255) /* more blocks than there are pieces */
        count += (uint64_t)256 * BLOCK / (work.element_size < 3 ? 1 : 16);
    uint8_t *elements = malloc(count * work.element_size + 1);
    FUZZ_REQUIRE(elements);
    for (size_t i = 0; i < count * work.element_size; i++)
        elements[i] = (uint8_t)((input.size ? input.data[i % input.size] : 0) + i / BLOCK);
    check(&work, elements, count, threads);
    free(elements);
    return 0;
}

size_t fuzz_start(uint64_t number, uint8_t *data) {
    struct rng rng = rng_of(number);
    const size_t size = 6 + rng_below(&rng, 40);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)rng_next(&rng);
    if (rng_below(&rng, 4))
        data[5] = (uint8_t)(rng_below(&rng, 6) * BLOCK >> 8); /* near the ends of blocks */
    if (rng_below(&rng, 4))
        data[4] = (uint8_t)rng_below(&rng, 3);
    return size;
}
