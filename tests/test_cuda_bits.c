/* Results of reduct_cuda_execute(): every bit of them, and the outcome beside them.
 *
 * Exact results are compared with the oracle, or where the data are large with the CPU, which other tests compare with
 * it; fast ones with themselves, run to run, and with what reduct_plan_execute() gives. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/kernels/call.h"
#include "cuda_support.h"

/* Arrays on the host and the same on the device. */
struct arrays {
    void *x, *y;
    rd_cu_address device_x, device_y;
    size_t bytes;
};

static struct arrays arrays_of(size_t bytes) {
    return (struct arrays){test_alloc(bytes), test_alloc(bytes), gpu_alloc(bytes), gpu_alloc(bytes), bytes};
}

static void arrays_send(const struct arrays *arrays, size_t bytes) {
    gpu_upload(arrays->device_x, arrays->x, bytes);
    gpu_upload(arrays->device_y, arrays->y, bytes);
}

static void arrays_free(const struct arrays *arrays) {
    gpu_free(arrays->device_x);
    gpu_free(arrays->device_y);
    free(arrays->x);
    free(arrays->y);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Every operator, element type, result type and NaN policy
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_type pick_result(struct rng *rng, reduct_operator op, reduct_type element) {
    reduct_type allowed[TEST_MAX_TYPES];
    size_t count = 0;
    for (size_t i = 0; i < test_type_count; i++)
        if (oracle_has_result(op, element, test_types[i].type))
            allowed[count++] = test_types[i].type;
    return allowed[rng_below(rng, count)];
}

struct matrix {
    struct rng rng;
    struct arrays arrays;
    struct oracle single, pairs;
    uint64_t cases;
};

/* The data in the arrays, through every operator and policy. */
static void check_data(struct matrix *matrix, const struct test_type *type, const char *distribution, size_t count) {
    const struct arrays *arrays = &matrix->arrays;
    arrays_send(arrays, count * type->size);
    oracle_read(&matrix->single, type->type, arrays->x, NULL, count);
    oracle_read(&matrix->pairs, type->type, arrays->x, arrays->y, count);
    for (size_t o = 0; o < test_operator_count; o++)
        for (int policy = REDUCT_NAN_PROPAGATE; policy <= REDUCT_NAN_ERROR; policy++) {
            const struct test_operator *op = &test_operators[o];
            const bool two = op->inputs == 2;
            if (!gpu_has(op->op, type->type))
                continue;
            reduct_reduction reduction = {.op = op->op,
                                          .element = type->type,
                                          .result = pick_result(&matrix->rng, op->op, type->type),
                                          .nan = (reduct_nan)policy,
                                          .flags = (uint32_t)rng_below(&matrix->rng, 4)};
            const struct oracle_result expected = oracle_expect(two ? &matrix->pairs : &matrix->single, &reduction);
            if (gpu_always_exact(op->op, type) && rng_below(&matrix->rng, 4) == 0)
                reduction.mode = REDUCT_FAST;
            const struct test_outcome got = gpu_reduce(&reduction, gpu_pointer(arrays->device_x, 0),
                                                       two ? gpu_pointer(arrays->device_y, 0) : NULL, count);
            test_check(&got, &expected, &reduction, "%zu %s", count, distribution);
            matrix->cases++;
        }
}

static void operators_and_types(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 17, 255, 1000, 4097, 20011, 70001};
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct matrix matrix = {.rng = rng_of(test_seed()), .arrays = arrays_of(70001 * sizeof(double))};
    oracle_init(&matrix.single);
    oracle_init(&matrix.pairs);
    for (size_t e = 0; e < element_count; e++)
        for (size_t d = 0; d < distribution_count; d++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                const double share = gpu.quick ? 0.012 * test_scale() : sizes[s] > 5000 ? 0.05 : 0.3;
                if (!distribution_suits(&distributions[d], elements[e]) || rng_unit(&matrix.rng) >= share)
                    continue;
                distributions[d].fill(&matrix.rng, elements[e], matrix.arrays.x, matrix.arrays.y, sizes[s]);
                check_data(&matrix, elements[e], distributions[d].name, sizes[s]);
            }
    oracle_clear(&matrix.single);
    oracle_clear(&matrix.pairs);
    arrays_free(&matrix.arrays);
    print_message("%" PRIu64 " cases\n", matrix.cases);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Fast mode
 * ------------------------------------------------------------------------------------------------------------------ */

/* The first run's bits again and again, from plans made anew and through reduct_plan_execute(). */
static void check_repeats(const reduct_reduction *reduction, const void *x, const void *y, size_t count,
                          const char *distribution) {
    reduct_plan *plan = gpu_plan(reduction, count);
    const struct test_outcome first = gpu_run(plan, x, y);
    struct oracle_result expected = {.status = first.status, .index = first.error.index};
    memcpy(expected.bytes, first.bytes, sizeof expected.bytes);
    for (int run = 0; run < (gpu.quick ? 2 : 10); run++) {
        const struct test_outcome again = run & 1 ? gpu_run(plan, x, y) : gpu_reduce(reduction, x, y, count);
        test_check(&again, &expected, reduction, "%zu %s, run %d against the first", count, distribution, run);
    }
    const struct test_outcome waited = gpu_execute(plan, x, y);
    test_check(&waited, &expected, reduction, "%zu %s, reduct_plan_execute against reduct_cuda_execute", count,
               distribution);
    reduct_plan_destroy(plan);
}

static void fast_repeats(void **state) {
    (void)state;
    static const char *const names[] = {"normal", "60_binades", "nan_middle", "overflow"};
    static const size_t sizes[] = {1, 1000, 65537, 3000017};
    const size_t size_count = gpu.quick ? 2 : sizeof sizes / sizeof *sizes;
    struct rng rng = rng_of(test_seed() + 1);
    struct arrays arrays = arrays_of(sizes[size_count - 1] * sizeof(double));
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t s = 0; s < size_count; s++)
            for (int single = 0; single < 2; single++) {
                const struct test_type *type = test_type(single ? REDUCT_F32 : REDUCT_F64);
                distribution_named(names[n])->fill(&rng, type, arrays.x, arrays.y, sizes[s]);
                arrays_send(&arrays, sizes[s] * type->size);
                for (size_t o = 0; o < test_operator_count; o++) {
                    reduct_reduction reduction = test_reduction(test_operators[o].op, type->type, REDUCT_DEFAULT);
                    if (sizes[s] < test_operators[o].minimum || !gpu_has(reduction.op, type->type))
                        continue;
                    reduction.mode = REDUCT_FAST;
                    reduction.nan = (reduct_nan)rng_below(&rng, 3);
                    check_repeats(&reduction, gpu_pointer(arrays.device_x, 0),
                                  test_operators[o].inputs == 2 ? gpu_pointer(arrays.device_y, 0) : NULL, sizes[s],
                                  names[n]);
                }
            }
    arrays_free(&arrays);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Addresses and sizes
 * ------------------------------------------------------------------------------------------------------------------ */

enum { OFFSETS = 16 };

static void check_offsets(const struct arrays *arrays, const struct test_type *type, const reduct_reduction *reduction,
                          size_t count) {
    const bool two = test_operator(reduction->op)->inputs == 2;
    reduct_plan *plan = gpu_plan(reduction, count);
    for (size_t i = 0; i < OFFSETS; i++)
        for (size_t j = 0; j < (two ? OFFSETS : 1); j++) {
            if (gpu.quick && two && (i * 5 + j) % 7)
                continue;
            const size_t x = i * type->size, y = j * type->size;
            const struct oracle_result expected =
                gpu_expected(reduction, (char *)arrays->x + x, two ? (char *)arrays->y + y : NULL, count);
            const struct test_outcome got =
                gpu_run(plan, gpu_pointer(arrays->device_x, x), two ? gpu_pointer(arrays->device_y, y) : NULL);
            test_check(&got, &expected, reduction, "%zu elements, %zu and %zu beyond an alignment of 256", count, i, j);
        }
    reduct_plan_destroy(plan);
}

static const char *rich_data(const struct test_type *type) {
    return type->class == FLOAT ? "60_binades" : "raw";
}

/* Every element offset of x and of y: short arrays that have no whole vector, and two and a half tiles. */
static void misaligned(void **state) {
    (void)state;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements), most = 40 << 10;
    struct rng rng = rng_of(test_seed() + 2);
    struct arrays arrays = arrays_of(most + OFFSETS * sizeof(double));
    for (size_t e = 0; e < element_count; e++) {
        const struct test_type *type = elements[e];
        distribution_named(rich_data(type))->fill(&rng, type, arrays.x, arrays.y, arrays.bytes / type->size);
        arrays_send(&arrays, arrays.bytes);
        for (size_t o = 0; o < test_operator_count; o++) {
            if ((gpu.quick && (o + e) % 5) || !gpu_has(test_operators[o].op, type->type))
                continue;
            const reduct_reduction reduction = test_reduction(test_operators[o].op, type->type, REDUCT_DEFAULT);
            check_offsets(&arrays, type, &reduction, most / type->size);
            check_offsets(&arrays, type, &reduction, 3 + rng_below(&rng, 40));
        }
    }
    arrays_free(&arrays);
}

/* Large arrays have more elements before their first vector. */
static void misaligned_large(void **state) {
    (void)state;
    enum { BYTES = (1 << 20) + (40 << 10), AT_EDGE = 1024 };
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 9);
    struct arrays arrays = arrays_of(BYTES + AT_EDGE);
    for (size_t e = 0; e < element_count; e++) {
        const struct test_type *type = elements[e];
        const size_t count = BYTES / type->size;
        distribution_named(rich_data(type))->fill(&rng, type, arrays.x, arrays.y, arrays.bytes / type->size);
        arrays_send(&arrays, arrays.bytes);
        for (size_t turn = 0; turn < (gpu.quick ? 1 : 8); turn++) {
            const size_t offset = (1 + rng_below(&rng, AT_EDGE / type->size - 1)) * type->size;
            for (size_t o = 0; o < test_operator_count; o++) {
                const reduct_reduction reduction = test_reduction(test_operators[o].op, type->type, REDUCT_DEFAULT);
                if (test_operators[o].inputs == 2 || (gpu.quick && (o + e) % 5) || !gpu_has(reduction.op, type->type))
                    continue;
                const struct oracle_result expected = gpu_expected(&reduction, (char *)arrays.x + offset, NULL, count);
                const struct test_outcome got =
                    gpu_reduce(&reduction, gpu_pointer(arrays.device_x, offset), NULL, count);
                test_check(&got, &expected, &reduction, "%zu elements, %zu bytes beyond an alignment", count, offset);
            }
        }
    }
    arrays_free(&arrays);
}

/* One NaN, before the first vector or, at some offsets, after the last: at its own index, and alone to be ignored. */
static void nans_at_ends(void **state) {
    (void)state;
    enum { MOST = 40 << 10 };
    static const reduct_type floats[] = {REDUCT_F64, REDUCT_F32};
    static const reduct_nan policies[] = {REDUCT_NAN_IGNORE, REDUCT_NAN_ERROR};
    struct rng rng = rng_of(test_seed() + 10);
    struct arrays arrays = arrays_of(MOST + OFFSETS * sizeof(double));
    for (size_t f = 0; f < 2; f++)
        for (size_t end = 0; end < 2; end++) {
            const struct test_type *type = test_type(floats[f]);
            const size_t count = MOST / type->size;
            distribution_named(rich_data(type))->fill(&rng, type, arrays.x, arrays.y, arrays.bytes / type->size);
            values_put_bits(type, arrays.x, end ? count : OFFSETS - 1, values_nan(&rng, type));
            arrays_send(&arrays, arrays.bytes);
            for (size_t o = 0; o < test_operator_count; o++)
                for (size_t p = 0; p < 2; p++) {
                    reduct_reduction reduction = test_reduction(test_operators[o].op, type->type, REDUCT_DEFAULT);
                    reduction.nan = policies[p];
                    if (gpu_has(reduction.op, type->type) && (!gpu.quick || (o + f + end + p) % 3 == 0))
                        check_offsets(&arrays, type, &reduction, count);
                }
        }
    arrays_free(&arrays);
}

/* One below, at and above: vectors, warps of vectors, blocks of 1, 2 and 4 vectors per thread. */
static size_t small_sizes(size_t element, size_t *sizes) {
    static const size_t bytes[] = {16, 32, 64, 512, 1024, 2048, 4096, 8192, 16384, 32768, 49152, 65536};
    size_t count = 0;
    for (size_t i = 0; i < 20; i++)
        sizes[count++] = i;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        for (size_t n = bytes[i] / element - 1; n <= bytes[i] / element + 1; n++)
            sizes[count++] = n;
    return count;
}

/* The same where grids are full: by 1 to 16 blocks per multiprocessor, of half tiles, and where some go round again. */
static size_t large_sizes(size_t element, size_t *sizes) {
    static const size_t rounds[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 32};
    size_t count = 0;
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++)
        for (int by = -1; by <= 1; by++)
            sizes[count++] = rounds[i] * gpu.multiprocessors * 8192 / element + (size_t)(ptrdiff_t)by;
    return count;
}

enum { SIZES_MOST = 128 };

static void check_sizes(const struct arrays *arrays, const struct test_type *type, const size_t *sizes, size_t count) {
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_DOT, REDUCT_ARGMAX, REDUCT_VAR, REDUCT_PRODUCT};
    for (size_t s = 0; s < count; s++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            const reduct_reduction reduction = test_reduction(ops[o], type->type, REDUCT_DEFAULT);
            const bool two = ops[o] == REDUCT_DOT, costly = sizes[s] * type->size > 1 << 20;
            if ((s + o) % (gpu.quick ? 4 : costly ? 2 : 1)) /* each size sees some of them */
                continue;
            const struct oracle_result expected = gpu_expected(&reduction, arrays->x, two ? arrays->y : NULL, sizes[s]);
            const struct test_outcome got = gpu_reduce(&reduction, gpu_pointer(arrays->device_x, 0),
                                                       two ? gpu_pointer(arrays->device_y, 0) : NULL, sizes[s]);
            test_check(&got, &expected, &reduction, "%zu elements", sizes[s]);
        }
}

static void boundaries(void **state) {
    (void)state;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    const bool large = !gpu.quick || gpu.small;
    const size_t bytes = large ? (size_t)32 * gpu.multiprocessors * 8192 + 64 : 66000;
    struct rng rng = rng_of(test_seed() + 3);
    struct arrays arrays = arrays_of(bytes);
    for (size_t e = 0; e < element_count; e++) {
        size_t sizes[SIZES_MOST];
        const struct test_type *type = elements[e];
        if (gpu.quick && e > 1 && e % 4) /* both floats, and two others */
            continue;
        distribution_named(rich_data(type))->fill(&rng, type, arrays.x, arrays.y, bytes / type->size);
        arrays_send(&arrays, bytes);
        check_sizes(&arrays, type, sizes, small_sizes(type->size, sizes));
        if (large)
            check_sizes(&arrays, type, sizes, large_sizes(type->size, sizes));
    }
    arrays_free(&arrays);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Products: one tree, at sizes where runs of its blocks get longer, and however the data are cut
 * ------------------------------------------------------------------------------------------------------------------ */

enum { BLOCK = 4096, RUNS = 4096 }; /* elements of a block of the tree; the most runs of blocks */

static size_t save_accumulator(reduct_accumulator *accumulator, unsigned char bytes[BLOCK]) {
    size_t size = BLOCK;
    test_status(reduct_accumulator_save(accumulator, bytes, &size, NULL), REDUCT_OK);
    reduct_accumulator_destroy(accumulator);
    return size;
}

/* What an accumulator of `device` holds after `count` elements in pieces that end at `cuts`, which are in order. */
static size_t accumulate_cut(const reduct_reduction *reduction, const char *device, const void *x, size_t count,
                             const size_t *cuts, size_t cut_count, unsigned char bytes[BLOCK]) {
    const size_t size = test_type(reduction->element)->size;
    reduct_accumulator *accumulator = NULL;
    test_status(reduct_accumulator_create(&(reduct_accumulator_options){.reduction = reduction, .device = device},
                                          &accumulator, NULL),
                REDUCT_OK);
    for (size_t i = 0, from = 0; i <= cut_count; i++) {
        const size_t to = i < cut_count ? cuts[i] : count;
        test_status(reduct_accumulator_add(accumulator, (const char *)x + from * size, NULL, to - from, NULL),
                    REDUCT_OK);
        from = to;
    }
    return save_accumulator(accumulator, bytes);
}

static void check_cuts(struct rng *rng, const reduct_reduction *reduction, const struct arrays *arrays, size_t count) {
    unsigned char expected[BLOCK], got[BLOCK];
    size_t cuts[3];
    const size_t size = accumulate_cut(reduction, "cpu", arrays->x, count, NULL, 0, expected);
    for (int i = 0; i < 3; i++)
        cuts[i] = rng_below(rng, count + 1) / (rng_next(rng) & 1 ? BLOCK : 1) * (rng_next(rng) & 1 ? BLOCK : 1) % count;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            if (cuts[j] > cuts[j + 1]) {
                const size_t later = cuts[j];
                cuts[j] = cuts[j + 1];
                cuts[j + 1] = later;
            }
    for (int here = 0; here < 2; here++) {
        const void *x = here ? arrays->x : gpu_pointer(arrays->device_x, 0);
        assert_int_equal(accumulate_cut(reduction, gpu.name, x, count, cuts, 3, got), size);
        if (memcmp(got, expected, size) != 0)
            test_fail("a product of %zu elements %s, cut at %zu, %zu and %zu, is in another state", count,
                      here ? "here" : "there", cuts[0], cuts[1], cuts[2]);
    }
}

static void products(void **state) {
    (void)state;
    static const size_t blocks[] = {1, 2, 3, 33, 200, RUNS, RUNS + 1, 2 * RUNS, 5 * RUNS + 77};
    const size_t block_count = gpu.quick ? 5 : sizeof blocks / sizeof *blocks;
    struct rng rng = rng_of(test_seed() + 4);
    struct arrays arrays = arrays_of((blocks[block_count - 1] * BLOCK + OFFSETS) * sizeof(double));
    for (int single = 0; single < 2; single++) {
        const struct test_type *type = test_type(single ? REDUCT_F32 : REDUCT_F64);
        reduct_reduction product = test_reduction(REDUCT_PRODUCT, type->type, REDUCT_DEFAULT);
        distribution_named("balanced_factors")
            ->fill(&rng, type, arrays.x, arrays.y, blocks[block_count - 1] * BLOCK + OFFSETS);
        arrays_send(&arrays, (blocks[block_count - 1] * BLOCK + OFFSETS) * type->size);
        for (size_t b = 0; b < block_count; b++)
            for (int by = -1; by <= 1; by++) {
                const size_t count = blocks[b] * BLOCK + (size_t)(ptrdiff_t)by, offset = rng_below(&rng, OFFSETS);
                const struct oracle_result expected =
                    gpu_expected(&product, (char *)arrays.x + offset * type->size, NULL, count);
                const struct test_outcome got =
                    gpu_reduce(&product, gpu_pointer(arrays.device_x, offset * type->size), NULL, count);
                test_check(&got, &expected, &product, "%zu elements, the first number %zu", count, offset);
                product.nan = (reduct_nan)rng_below(&rng, 3);
                check_cuts(&rng, &product, &arrays, count);
            }
    }
    arrays_free(&arrays);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Magnitudes: where exact sums of floats go another way (src/cuda/kernels/exact.cuh)
 * ------------------------------------------------------------------------------------------------------------------ */

enum { TILE_BYTES = RD_CUDA_TILE_BYTES(RD_CUDA_VECTORS(RD_EXACT_SUM, RD_IDENTITY)) }; /* products' are half as large */

/* Numbers of two magnitudes, 2^span apart, all of whose bits count; the smaller ones are any, or every other `chunk`. Each
 * comes with its opposite, `half` elements on, but for the last, a small one: that is all that is left of the sum, so
 * that no bit can be lost unseen. The same goes for the sum of products. */
static void fill_span(struct rng *rng, const struct test_type *type, const struct arrays *arrays, size_t half, int span,
                      size_t chunk) {
    const double unit = ldexp(1, 1 - type->precision);
    for (size_t i = 0; i <= half; i++) {
        const bool is_small = i == half || (chunk ? i / chunk % 2 : rng_next(rng) & 1);
        const uint64_t below_one = (rng_next(rng) & ((UINT64_C(1) << (type->precision - 1)) - 1)) | 1;
        const double value = ldexp(1 + (double)below_one * unit, is_small ? -span : 0),
                     sign = rng_next(rng) & 1 ? -1 : 1;
        const size_t last = 2 * half, at = i == half ? last : i;
        values_put(type, arrays->x, at, sign * value);
        values_put(type, arrays->y, at, value);
        if (i < half) {
            values_put(type, arrays->x, i + half, -sign * value);
            values_put(type, arrays->y, i + half, value);
        }
    }
}

static void check_sum_as(const struct arrays *arrays, const struct test_type *type, reduct_type result,
                         reduct_operator op, size_t count, const char *what, int number) {
    const bool two = op == REDUCT_DOT;
    const reduct_reduction reduction = test_reduction(op, type->type, result);
    const struct oracle_result expected = gpu_expected(&reduction, arrays->x, two ? arrays->y : NULL, count);
    const struct test_outcome got =
        gpu_reduce(&reduction, gpu_pointer(arrays->device_x, 0), two ? gpu_pointer(arrays->device_y, 0) : NULL, count);
    test_check(&got, &expected, &reduction, "%zu elements, %s %d", count, what, number);
}

static void check_sum(const struct arrays *arrays, const struct test_type *type, reduct_operator op, size_t count,
                      const char *what, int number) {
    check_sum_as(arrays, type, REDUCT_DEFAULT, op, count, what, number);
}

/* Every span within a warp's part of a tile, between warps, and between tiles: each number of slices, and what is beyond
 * them. */
static void spans(void **state) {
    (void)state;
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_DOT, REDUCT_STD};
    const size_t half = 3 * 4096; /* tiles of f32, of which two of f64 make one */
    const int most = 140, step = gpu.quick && (!gpu.small || test_scale() < 1) ? 7 : 1;
    struct rng rng = rng_of(test_seed() + 4);
    struct arrays arrays = arrays_of((2 * half + 1) * sizeof(double));
    for (int single = 0; single < 2; single++)
        for (int span = 0; span < (single ? 127 : most); span += step)
            for (int pattern = 0; pattern < 4; pattern++) {
                const struct test_type *type = test_type(single ? REDUCT_F32 : REDUCT_F64);
                const size_t chunks[] = {0, 512 / type->size, TILE_BYTES / 2 / type->size, TILE_BYTES / type->size};
                if (gpu.quick && pattern && (span + pattern) % 4)
                    continue;
                fill_span(&rng, type, &arrays, half, span, chunks[pattern]);
                arrays_send(&arrays, (2 * half + 1) * type->size);
                for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
                    check_sum(&arrays, type, ops[o], 2 * half + 1, "a span of", span);
            }
    arrays_free(&arrays);
}

/* Few elements, which one block adds up as integers where they lie no more binades apart than those have room for: as many and a few more or less,
 * nearly all as large as their exponent allows, of one sign or not; the last warp's, or any, may be small, zero or no number. */
static void few_elements(void **state) {
    (void)state;
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_MEAN, REDUCT_NORM1};
    static const reduct_type results[2][3] = {{REDUCT_F64, REDUCT_F32, REDUCT_F64},
                                              {REDUCT_F32, REDUCT_F64, REDUCT_BF16}};
    static const size_t counts[] = {1, 2, 31, 255, 256, 257, 1000, 2047, 2048, 2049, 4000, 4095, 4096, 4097};
    struct rng rng = rng_of(test_seed() + 14);
    struct arrays arrays = arrays_of(5000 * sizeof(double));
    for (int single = 0; single < 2; single++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (uint64_t round = test_scaled(12, 3); round-- > 0;) {
                const struct test_type *type = test_type(single ? REDUCT_F32 : REDUCT_F64);
                const size_t count = counts[c], last = count / 32 * 32;
                const int room = single ? 27 : 63,
                          apart = rng_below(&rng, 3) ? room - 2 + (int)rng_below(&rng, 4) : (int)rng_below(&rng, 120),
                          below = 1 - type->precision,
                          most = rng_below(&rng, 3) ? (int)rng_below(&rng, 100) - 60 : type->max_exponent;
                const bool one_sign = rng_below(&rng, 2), by_warp = rng_below(&rng, 2);
                for (size_t i = 0; i < count; i++) {
                    const bool small = by_warp ? i >= last : rng_below(&rng, 50) == 0;
                    const double size = small ? ldexp(1 + rng_unit(&rng), most - apart)
                                              : ldexp(2 - ldexp((double)rng_below(&rng, 3), below), most);
                    values_put(type, arrays.x, i, one_sign || rng_below(&rng, 2) ? size : -size);
                }
                if (rng_below(&rng, 6) == 0)
                    values_put(type, arrays.x, rng_below(&rng, count), rng_below(&rng, 2) ? (double)NAN : INFINITY);
                if (rng_below(&rng, 3) == 0)
                    values_put(type, arrays.x, rng_below(&rng, count), -0.0);
                arrays_send(&arrays, count * type->size);
                for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
                    check_sum_as(&arrays, type, results[single][rng_below(&rng, 3)], ops[o], count, "few apart by",
                                 apart);
            }
    arrays_free(&arrays);
}

/* Tiles, each of which is one block's, of magnitudes of their own, 2^below[t] down, or of zeros. The later half has
 * the opposites of the earlier one, each in another tile; the last element is all that is left. */
enum { TILES = 12, ZEROS = 1000 };

static void fill_tiles(struct rng *rng, const struct test_type *type, const struct arrays *arrays, const int *below) {
    const size_t tile = TILE_BYTES / type->size, half = TILES / 2 * tile;
    const double unit = ldexp(1, 1 - type->precision);
    int most = 0;
    for (size_t i = 0; i < half; i++) {
        const int down = below[i / tile];
        const uint64_t below_one = rng_next(rng) & ((UINT64_C(1) << (type->precision - 1)) - 1);
        const double value = down == ZEROS ? 0 : ldexp(1 + (double)below_one * unit, -down);
        values_put(type, arrays->x, i, value);
        values_put(type, arrays->x, half + (i + tile) % half, -value);
        most = down != ZEROS && down > most ? down : most;
    }
    for (size_t i = 0; i <= 2 * half; i++)
        values_put(type, arrays->y, i, 1);
    values_put(type, arrays->x, 2 * half, ldexp(1, -most) * unit);
}

/* Blocks that have next to nothing in common: units of their windows, whether they have any, and limbs. */
static void blocks_apart(void **state) {
    (void)state;
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_DOT, REDUCT_NORM2, REDUCT_STD};
    struct rng rng = rng_of(test_seed() + 6);
    struct arrays arrays = arrays_of(TILES * TILE_BYTES + sizeof(double));
    for (int single = 0; single < 2; single++)
        for (int step = 0; step < 24; step += gpu.quick ? 5 : 1)
            for (int pattern = 0; pattern < 4; pattern++) {
                const struct test_type *type = test_type(single ? REDUCT_F32 : REDUCT_F64);
                const size_t count = TILES * TILE_BYTES / type->size + 1;
                int below[TILES / 2];
                for (int t = 0; t < TILES / 2; t++)
                    below[t] = pattern == 0    ? step * t                       /* each further down */
                               : pattern == 1  ? step * (t == 3)                /* one of its own */
                               : pattern == 2  ? t % 2 ? ZEROS : step * (t / 2) /* every other without a window */
                               : t == step % 6 ? 0
                                               : ZEROS;
                fill_tiles(&rng, type, &arrays, below);
                arrays_send(&arrays, count * type->size);
                for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
                    check_sum(&arrays, type, ops[o], count, "tiles apart by", step);
            }
    arrays_free(&arrays);
}

/* One +0 among -0, wherever it is, makes the sum +0. */
static void zeros(void **state) {
    (void)state;
    const size_t count = 5 * 4096;
    struct arrays arrays = arrays_of(count * sizeof(double));
    for (int single = 0; single < 2; single++)
        for (size_t at = 0; at < count; at += 2039) {
            const struct test_type *type = test_type(single ? REDUCT_F32 : REDUCT_F64);
            for (size_t i = 0; i < count; i++) {
                values_put(type, arrays.x, i, i == at ? 0.0 : -0.0);
                values_put(type, arrays.y, i, 1);
            }
            arrays_send(&arrays, count * type->size);
            check_sum(&arrays, type, REDUCT_SUM, count, "+0 at", (int)at);
            check_sum(&arrays, type, REDUCT_DOT, count, "+0 at", (int)at);
        }
    arrays_free(&arrays);
}

/* The sum of so many copies of a value, half a unit of the result, and a trace. */
static void check_tie(const struct arrays *arrays, const struct test_type *element, reduct_type result, double value,
                      size_t copies, double half, double trace, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const double x = i < copies ? value : i == copies ? trace : i == count - 1 ? half : 0;
        values_put(element, arrays->x, i, x);
        values_put(element, arrays->y, i, 1);
    }
    arrays_send(arrays, count * element->size);
    check_sum_as(arrays, element, result, REDUCT_SUM, count, "tie, copies", (int)copies);
    check_sum_as(arrays, element, result, REDUCT_DOT, count, "tie, copies", (int)copies);
}

/* Sums halfway between two results, with a trace to either side or none: of normal numbers, of subnormal ones, and of the
 * greatest and infinity; and such as are far longer than a result. By one block and by several; in whole vectors, as what
 * is outside goes another way. */
static void ties(void **state) {
    (void)state;
    static const reduct_type types[][2] = {
        {REDUCT_F64, REDUCT_F64}, {REDUCT_F32, REDUCT_F32}, {REDUCT_F64, REDUCT_F32}};
    const size_t few = 8, many = 5 * 4096, copies = 1 << 14;
    struct arrays arrays = arrays_of(many * sizeof(double));
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const struct test_type *element = test_type(types[t][0]), *result = test_type(types[t][1]);
        const bool narrows = element->type != result->type;
        const double unit = ldexp(1, 1 - result->precision), far = ldexp(1, element->size == 8 ? -66 : -90),
                     greatest = ldexp(2 - unit, result->max_exponent),
                     least = ldexp(1, 2 - result->max_exponent - result->precision);
        const double values[][2] = {/* and half a unit */
                                    {1, unit / 2},
                                    {1 + unit, unit / 2},
                                    {greatest, ldexp(unit / 2, result->max_exponent)},
                                    {2 * least, least / 2},
                                    {3 * least, least / 2}};
        for (int way = 0; way < 6; way++) {
            const double sign = way & 1 ? -1 : 1, side = way / 2 - 1;
            for (size_t v = 0; v < (narrows ? 5 : 3); v++) { /* no sum of elements lies between subnormal elements */
                const double value = sign * values[v][0], half = sign * values[v][1],
                             trace = side * values[v][1] / 1024;
                check_tie(&arrays, element, result->type, value, 1, half, trace, few);
                check_tie(&arrays, element, result->type, value, 1, half, trace, many);
            }
            for (size_t v = 0; v < 2; v++)
                check_tie(&arrays, element, result->type, sign * values[v][0], copies,
                          sign * values[v][1] * (double)copies, side * far, many);
        }
    }
    arrays_free(&arrays);
}

/* More elements of one sign than a thread may add without pause, 2^rise times as large as the first, where a small device
 * makes do with few. */
static void many_additions(void **state) {
    (void)state;
    const size_t tile = 16384 / sizeof(double), blocks = 4 * gpu.multiprocessors, count = 140 * blocks * tile;
    if (!gpu.small)
        return;
    struct arrays arrays = arrays_of(count * sizeof(double));
    const struct test_type *type = test_type(REDUCT_F64);
    double *x = arrays.x;
    for (int rise = 1; rise < 8; rise++) {
        for (size_t i = 0; i < count; i++)
            x[i] = i < blocks * tile ? 1 + 0x1p-52 : ldexp(2 - 0x1p-52, rise);
        gpu_upload(arrays.device_x, x, count * sizeof *x);
        check_sum(&arrays, type, REDUCT_SUM, count, "rising by", rise);
    }
    arrays_free(&arrays);
}

/* Elements that are better by one step from each tile of a thread to its next, where a small device makes do with few; an
 * odd number of steps, so that every other one does not lead there. */
static void rising(void **state) {
    (void)state;
    static const reduct_type types[] = {REDUCT_I8, REDUCT_U16, REDUCT_I32, REDUCT_I64, REDUCT_F32, REDUCT_F64};
    static const reduct_operator operators[] = {REDUCT_MAX, REDUCT_ARGMAX, REDUCT_MIN, REDUCT_ARGMIN};
    const size_t round = (size_t)32768 * 2 * gpu.multiprocessors, bytes = 10 * round;
    if (!gpu.small)
        return;
    struct arrays arrays = arrays_of(bytes);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int falls = 0; falls < 2; falls++) {
            const struct test_type *type = test_type(types[t]);
            const size_t count = bytes / type->size - 3;
            const bool is_float = type->type == REDUCT_F32 || type->type == REDUCT_F64;
            const double first = is_float ? 1.5 : 20,
                         step = (falls ? -1 : 1) * (is_float ? ldexp(1, 1 - type->precision) : 1);
            for (size_t i = 0; i < count; i++)
                values_put(type, arrays.x, i, first + (double)(i * type->size / round) * step);
            gpu_upload(arrays.device_x, arrays.x, bytes);
            for (size_t o = 0; o < sizeof operators / sizeof *operators; o++)
                check_sum(&arrays, type, operators[o], count, "falls", falls);
        }
    arrays_free(&arrays);
}

/* Fills an array with what it begins with, again and again. */
static void repeat_bytes(void *array, size_t filled, size_t bytes) {
    for (; filled < bytes; filled *= 2)
        memcpy((char *)array + filled, array, filled < bytes - filled ? filled : bytes - filled);
}

/* One plan, again and again: what a run left behind would spoil the next. */
static void check_runs(const reduct_reduction *reduction, const void *x, rd_cu_address device_x, size_t count,
                       int runs) {
    const struct oracle_result expected = gpu_expected(reduction, x, NULL, count);
    reduct_plan *plan = gpu_plan(reduction, count);
    for (int run = 0; run < runs; run++) {
        const struct test_outcome got = gpu_run(plan, gpu_pointer(device_x, 0), NULL);
        test_check(&got, &expected, reduction, "%zu elements, run %d", count, run);
    }
    reduct_plan_destroy(plan);
}

/* Arrays many times as large as the L2 cache, for which kernels have tiles copied into shared memory ahead: exact sums of
 * floats from twice on, extremes from 16 times, other sums from 32. The last tiles go to blocks that claim them. Some tiles
 * range so widely that warps stay behind with them: nothing may come into a tile's place that one has not read. */
static void beyond_caches(void **state) {
    (void)state;
    static const reduct_operator sums[] = {REDUCT_SUM, REDUCT_NORM2, REDUCT_VAR};
    static const struct {
        reduct_operator op;
        reduct_type type;
        double late; /* an element among the last tiles: of extremes the best one */
    } others[] = {{REDUCT_SUM, REDUCT_I8, 1},
                  {REDUCT_SUM, REDUCT_I32, 1},
                  {REDUCT_MEAN, REDUCT_U64, 1},
                  {REDUCT_MAX, REDUCT_F32, 0x1p127},
                  {REDUCT_ARGMIN, REDUCT_F64, -0x1p1023},
                  {REDUCT_ARGMAX, REDUCT_I8, 127},
                  {REDUCT_ARGMIN, REDUCT_I32, -0x1p31},
                  {REDUCT_MIN, REDUCT_U64, 0}};
    const size_t period = (size_t)1 << 20;
    rd_cu_device device;
    int cache;
    if (gpu.quick && !gpu.small) {
        print_message("not tested here, for lack of time: arrays many times as large as the L2 cache\n");
        return;
    }
    CU(gpu.driver->cuCtxGetDevice(&device));
    CU(gpu.driver->cuDeviceGetAttribute(&cache, RD_CU_DEVICE_L2_BYTES, device));
    /* On a device that is small every block takes more tiles than a ring has. */
    const size_t bytes = (gpu.small ? 128 : 33) * (size_t)cache + 5 * sizeof(double),
                 count = gpu.small ? bytes / sizeof(float) : 9 * ((size_t)cache / sizeof(float)) + 5;
    float *x = test_alloc(bytes + period * sizeof *x);
    struct rng rng = rng_of(test_seed() + 9);
    distribution_named("normal")->fill(&rng, test_type(REDUCT_F32), x, NULL, period);
    for (size_t i = 0; i < count; i++)
        x[i] = ldexpf(x[i < period ? i : i - period], i % 8191 == 0 ? -60 : i % 509 == 0 ? -30 : 0);
    repeat_bytes(x, count * sizeof *x, bytes);
    const rd_cu_address device_x = gpu_alloc(bytes);
    gpu_upload(device_x, x, bytes);
    for (size_t o = 0; o < sizeof sums / sizeof *sums; o++) {
        const reduct_reduction reduction = test_reduction(sums[o], REDUCT_F32, REDUCT_DEFAULT);
        check_runs(&reduction, x, device_x, count, gpu.small ? 2 : 20);
    }
    for (size_t o = 0; o < sizeof others / sizeof *others; o++) {
        const reduct_reduction reduction = test_reduction(others[o].op, others[o].type, REDUCT_DEFAULT);
        const struct test_type *type = test_type(others[o].type);
        const size_t elements = bytes / type->size, late = elements - elements / 20;
        values_put(type, x, late, others[o].late);
        gpu_upload(device_x + late * type->size, (char *)x + late * type->size, type->size);
        check_runs(&reduction, x, device_x, elements, gpu.small ? 2 : 5);
    }
    /* Fast sums of small integers are exact in f64, and rounded once. */
    const int pattern = 16;
    for (int i = 0; i < pattern; i++)
        x[i] = (float)(i % 2 ? -i : i + 2);
    repeat_bytes(x, pattern * sizeof *x, bytes);
    gpu_upload(device_x, x, bytes);
    reduct_reduction fast = test_reduction(REDUCT_SUM, REDUCT_F32, REDUCT_DEFAULT);
    fast.mode = REDUCT_FAST;
    check_runs(&fast, x, device_x, bytes / sizeof *x, gpu.small ? 2 : 5);
    gpu_free(device_x);
    free(x);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * More than 2^32 elements
 * ------------------------------------------------------------------------------------------------------------------ */

/* Memory for an array so large; 0, and a message, where the device has less. */
static rd_cu_address huge_alloc(size_t bytes) {
    size_t available = 0, total = 0;
    CU(gpu.driver->cuMemGetInfo(&available, &total));
    if (bytes + ((size_t)1 << 30) < available)
        return gpu_alloc(bytes);
    print_message("not tested here for lack of memory on the device: an array of %zu bytes\n", bytes);
    return 0;
}

static uint64_t whole_result(reduct_operator op, reduct_type element, const void *x, const void *y, uint64_t count) {
    const reduct_reduction reduction = test_reduction(op, element, REDUCT_DEFAULT);
    const struct test_outcome got = gpu_reduce(&reduction, x, y, count);
    uint64_t result = 0;
    test_status(got.status, REDUCT_OK);
    memcpy(&result, got.bytes, test_type(reduction.result)->size);
    return result;
}

/* Bytes, each 3 as a signed and as an unsigned number; the last five special. */
static void huge_bytes(void **state) {
    (void)state;
    const uint64_t count = ((uint64_t)1 << 32) + 5, most = (uint64_t)3 << 32;
    const uint8_t tail[5] = {3, 127, 0, 127, 0};
    const rd_cu_address x = gpu.quick ? 0 : huge_alloc(count);
    if (!x)
        return;
    gpu_fill(x, 3, count);
    gpu_upload(x + count - 5, tail, sizeof tail);
    for (int is_signed = 0; is_signed < 2; is_signed++) {
        const reduct_type type = is_signed ? REDUCT_I8 : REDUCT_U8;
        const void *at = gpu_pointer(x, 0);
        assert_int_equal(whole_result(REDUCT_SUM, type, at, NULL, count), most + 3 + 254);
        assert_int_equal(whole_result(REDUCT_SUMSQ, type, at, NULL, count), 3 * most + 9 + 2 * 16129);
        assert_int_equal(whole_result(REDUCT_DOT, type, at, at, count), 3 * most + 9 + 2 * 16129);
        assert_int_equal(whole_result(REDUCT_ARGMAX, type, at, NULL, count), ((uint64_t)1 << 32) + 1);
        assert_int_equal(whole_result(REDUCT_ARGMIN, type, at, NULL, count), ((uint64_t)1 << 32) + 2);
        assert_int_equal(whole_result(REDUCT_MAX, type, at, NULL, count), 127);
        assert_int_equal(whole_result(REDUCT_MIN, type, at, NULL, count), 0);
        const void *next = gpu_pointer(x, 1); /* all vectors elsewhere */
        assert_int_equal(whole_result(REDUCT_SUM, type, next, NULL, count - 1), most + 254);
        assert_int_equal(whole_result(REDUCT_ARGMIN, type, next, NULL, count - 1), ((uint64_t)1 << 32) + 1);
    }
    gpu_free(x);
}

static double float_sum(reduct_mode mode, const void *x, uint64_t count) {
    reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F32, .result = REDUCT_F64, .mode = mode};
    const struct test_outcome got = gpu_reduce(&sum, x, NULL, count);
    double result;
    test_status(got.status, REDUCT_OK);
    memcpy(&result, got.bytes, sizeof result);
    return result;
}

/* Floats, each 2^-10; the last three cancel but for 2^-149, or end with a NaN. */
static void huge_floats(void **state) {
    (void)state;
    const uint64_t many = (uint64_t)1 << 32, count = many + 3;
    const float tail[3] = {0x1p100F, -0x1p100F, 0x1p-149F}, nan[1] = {NAN};
    const rd_cu_address x = gpu.quick ? 0 : huge_alloc(count * sizeof(float));
    if (!x)
        return;
    const void *at = gpu_pointer(x, 0), *next = gpu_pointer(x, sizeof(float));
    CU(gpu.driver->cuMemsetD32Async(x, 0x3a800000, count, gpu.stream));
    CU(gpu.driver->cuStreamSynchronize(gpu.stream));
    assert_true(float_sum(REDUCT_EXACT, at, count) == 0x1p22 + 3 * 0x1p-10);
    assert_true(fabs(float_sum(REDUCT_FAST, at, count) / 0x1p22 - 1) < 1e-5);
    gpu_upload(x + many * sizeof(float), tail, sizeof tail);
    assert_true(float_sum(REDUCT_EXACT, at, count) == 0x1p22);
    assert_true(float_sum(REDUCT_EXACT, next, count - 1) == 0x1p22 - 0x1p-10);
    assert_int_equal(whole_result(REDUCT_ARGMAX, REDUCT_F32, at, NULL, count), many);
    assert_int_equal(whole_result(REDUCT_ARGMIN, REDUCT_F32, next, NULL, count - 1), many);
    gpu_upload(x + (many + 2) * sizeof(float), nan, sizeof nan);
    assert_int_equal(whole_result(REDUCT_ARGMAX, REDUCT_F32, at, NULL, count), many + 2);
    for (int mode = REDUCT_EXACT; mode <= REDUCT_FAST; mode++) {
        const reduct_reduction strict = {
            .op = REDUCT_SUM, .element = REDUCT_F32, .mode = (reduct_mode)mode, .nan = REDUCT_NAN_ERROR};
        const struct test_outcome got = gpu_reduce(&strict, at, NULL, count);
        assert_int_equal(got.status, REDUCT_ERROR_NAN);
        assert_int_equal(got.error.index, many + 2);
    }
    gpu_free(x);
}

int test_cuda_bits(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_and_types),
        cmocka_unit_test(fast_repeats),
        cmocka_unit_test(misaligned),
        cmocka_unit_test(misaligned_large),
        cmocka_unit_test(nans_at_ends),
        cmocka_unit_test(boundaries),
        cmocka_unit_test(products),
        cmocka_unit_test(spans),
        cmocka_unit_test(few_elements),
        cmocka_unit_test(blocks_apart),
        cmocka_unit_test(zeros),
        cmocka_unit_test(ties),
        cmocka_unit_test(many_additions),
        cmocka_unit_test(rising),
        cmocka_unit_test(beyond_caches),
        cmocka_unit_test(huge_bytes),
        cmocka_unit_test(huge_floats),
    };
    return cmocka_run_group_tests_name("cuda: bits", tests, NULL, NULL);
}
