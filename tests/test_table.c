/* Tables of accumulators, and keys: each group has the bits of one pass over its elements, however these came, went, were merged
 * and saved.
 *
 * From the survival list: "Splits and merges", "Threads", "Files and streams: truncated data, huge claims", "Faults: the Nth
 * allocation fails". / */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/pending.h"
#include "cuda/table.h"
#include "cuda_support.h"

enum { GROUPS = 7, MOST = 3000, REDUCTIONS = 3 };

/* ---------------------------------------------------------------------------------------------------------------------
 * Memory that runs out: the linker diverts malloc and calloc (--wrap)
 * ------------------------------------------------------------------------------------------------------------------ */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

static long allocations_left = -1; /* until one fails, never while negative */

static bool fails(void) {
    if (allocations_left == 0)
        return true;
    allocations_left -= allocations_left > 0;
    return false;
}

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Devices
 * ------------------------------------------------------------------------------------------------------------------ */

static const char *devices[TEST_MAX_DEVICES];
static size_t device_count;

static bool is_cuda(const char *device) {
    return device && strncmp(device, "cuda", 4) == 0;
}

/* One of the devices to test; every now and then the CPU, as tables of different devices are merged and load each other's bytes. */
static const char *any_device(struct rng *rng) {
    return rng_below(rng, 5) ? devices[rng_below(rng, device_count)] : "cpu";
}

static int find_devices(void **state) {
    (void)state;
    const char *why;
    bool any = false;
    device_count = test_devices(devices);
    for (size_t i = 0; i < device_count; i++)
        any = any || is_cuda(devices[i]);
    if (any && !gpu_open(&why)) {
        print_message("%s\n", why);
        return -1;
    }
    return 0;
}

/* Arrays where a call has them: any of them in the memory of a device, if there is one. */
struct arrays {
    rd_cu_address there[4];
    size_t count;
};

static const void *put(struct rng *rng, struct arrays *arrays, const char *device, const void *array, size_t bytes) {
    if (!is_cuda(device) || !array || !rng_below(rng, 4))
        return array;
    const rd_cu_address there = gpu_copy_of(array, bytes ? bytes : 1);
    arrays->there[arrays->count++] = there;
    return gpu_pointer(there, 0);
}

static void put_batch(struct rng *rng, struct arrays *arrays, const char *device, reduct_table_batch *batch,
                      size_t element, size_t mask_bytes) {
    arrays->count = 0;
    batch->x = put(rng, arrays, device, batch->x, batch->count * element);
    batch->y = put(rng, arrays, device, batch->y, batch->count * element);
    if (batch->index)
        batch->indices = put(rng, arrays, device, batch->indices, batch->count * reduct_type_size(batch->index));
    if (batch->mask_kind)
        batch->mask = put(rng, arrays, device, batch->mask, mask_bytes);
}

static void drop(struct arrays *arrays) {
    while (arrays->count)
        gpu_free(arrays->there[--arrays->count]);
}

/* Whether batches of a few elements go to the device, too. */
static void choose_way(struct rng *rng) {
    rd_cuda_table_least = rng_below(rng, 4) ? 0 : 1 << 14;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * A table, and beside it the list of its elements
 * ------------------------------------------------------------------------------------------------------------------ */

struct work {
    reduct_reduction reduction[REDUCTIONS];
    const struct test_type *type;
    bool two;
    reduct_table *table;
    const char *device;
    uint64_t groups;
    size_t count;
    uint64_t index[MOST]; /* of each element; UINT64_MAX: it is in no group */
    double x[MOST], y[MOST];
};

static struct work ours, theirs;

static void *at(const struct work *work, const double *array, size_t i) {
    return (char *)(uintptr_t)array + i * work->type->size;
}

static reduct_table *make_table(const struct work *work, const char *device, uint64_t groups, unsigned threads) {
    reduct_table *table = NULL;
    test_status(reduct_table_create(&(reduct_table_options){.reductions = work->reduction,
                                                            .reduction_count = REDUCTIONS,
                                                            .groups = groups,
                                                            .device = device,
                                                            .threads = threads},
                                    &table, NULL),
                REDUCT_OK);
    return table;
}

/* Several reductions of one type and policy. */
static void begin(struct rng *rng, struct work *work) {
    do
        work->type = &test_types[rng_below(rng, test_type_count)];
    while (!work->type->element);
    const reduct_nan nan = (reduct_nan)rng_below(rng, 3);
    const bool all_remove = rng_next(rng) & 1;
    work->two = false;
    for (size_t i = 0; i < REDUCTIONS; i++) {
        reduct_reduction *reduction = &work->reduction[i];
        reduct_operator op;
        do {
            op = test_operators[rng_below(rng, test_operator_count)].op;
            *reduction = (reduct_reduction){.op = op, .element = work->type->type};
        } while (op == REDUCT_PRODUCT || !oracle_has(op, work->type->type) || (all_remove && !test_removes(reduction)));
        *reduction = test_reduction(op, work->type->type, REDUCT_DEFAULT);
        reduction->nan = nan;
        reduction->flags = (uint32_t)rng_below(rng, 4);
        work->two |= test_operator(op)->inputs == 2;
    }
    work->groups = 1 + rng_below(rng, GROUPS);
    work->count = 0;
    work->device = any_device(rng);
    work->table = make_table(work, work->device, work->groups, (unsigned)rng_below(rng, 4));
    choose_way(rng);
}

/* The elements of a group, one after another; where each was is kept for indices. */
static size_t elements_of(const struct work *work, uint64_t group, double *x, double *y, uint64_t *place) {
    size_t count = 0;
    for (size_t i = 0; i < work->count; i++)
        if (work->index[i] == group) {
            memcpy(at(work, x, count), at(work, work->x, i), work->type->size);
            memcpy(at(work, y, count), at(work, work->y, i), work->type->size);
            place[count++] = i;
        }
    return count;
}

static void check_group(const struct work *work, struct oracle *oracle, const unsigned char *results,
                        const reduct_outcome *outcomes, size_t which, uint64_t group) {
    static double x[MOST], y[MOST];
    static uint64_t place[MOST];
    const reduct_reduction *as = &work->reduction[which];
    const bool two = test_operator(as->op)->inputs == 2;
    const size_t count = elements_of(work, group, x, y, place), size = oracle_result_size(as);
    oracle_read(oracle, work->type->type, x, two ? y : NULL, count);
    struct oracle_result expected = oracle_expect(oracle, as);
    if (expected.status == REDUCT_OK && (as->op == REDUCT_ARGMIN || as->op == REDUCT_ARGMAX)) {
        uint64_t index;
        memcpy(&index, expected.bytes, sizeof index);
        memcpy(expected.bytes, &place[index], sizeof index);
    }
    assert_int_equal(outcomes[group].status, expected.status);
    assert_int_equal(outcomes[group].index, UINT64_MAX);
    if (expected.status == REDUCT_OK && memcmp(results + group * size, expected.bytes, size) != 0)
        test_fail("%s of %zu %s in group %d: other bits than the oracle's", reduct_operator_name(as->op), count,
                  work->type->name, (int)group);
    const uint64_t ignored = as->nan == REDUCT_NAN_IGNORE ? oracle->nans : 0;
    assert_int_equal(reduct_table_count(work->table, which, group), count - ignored);
}

static void check(const struct work *work) {
    struct oracle oracle;
    oracle_init(&oracle);
    for (size_t which = 0; which < REDUCTIONS; which++) {
        unsigned char results[GROUPS * ORACLE_RESULT_BYTES] = {0};
        reduct_outcome outcomes[GROUPS];
        const bool there = is_cuda(work->device) && which % 2;
        const rd_cu_address memory = there ? gpu_copy_of(results, sizeof results) : 0;
        test_status(reduct_table_result(work->table, which, REDUCT_DEFAULT, 0, work->groups,
                                        there ? gpu_pointer(memory, 0) : results, outcomes, NULL),
                    REDUCT_OK);
        if (there) {
            gpu_download(results, memory, sizeof results);
            gpu_free(memory);
        }
        for (uint64_t g = 0; g < work->groups; g++)
            check_group(work, &oracle, results, outcomes, which, g);
    }
    oracle_clear(&oracle);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What is done to it
 * ------------------------------------------------------------------------------------------------------------------ */

static const reduct_type index_types[] = {REDUCT_U8, REDUCT_U16, REDUCT_U32, REDUCT_U64, REDUCT_I32, REDUCT_I64};

/* Indices as numbers of a type: those of no group become one that is too large or, of signed ones, negative. */
static void put_indices(struct rng *rng, const uint64_t *index, size_t count, reduct_type type, void *indices) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t value = index[i] != UINT64_MAX ? index[i]
                               : (type == REDUCT_I32 || type == REDUCT_I64) && rng_next(rng) & 1
                                   ? UINT64_MAX
                                   : 100 + rng_below(rng, 20);
        memcpy((char *)indices + i * reduct_type_size(type), &value, reduct_type_size(type));
    }
}

static void make_elements(struct rng *rng, struct work *work, size_t count) {
    const struct distribution *distribution;
    void *x = at(work, work->x, work->count), *y = at(work, work->y, work->count);
    do
        distribution = &distributions[rng_below(rng, distribution_count)];
    while (!distribution_suits(distribution, work->type));
    distribution->fill(rng, work->type, x, y, count);
    for (size_t i = 0; work->reduction[0].nan == REDUCT_NAN_ERROR && work->type->class == FLOAT && i < count; i++) {
        if (oracle_decode(work->type->type, x, i).kind == ORACLE_NAN)
            values_put(work->type, x, i, 1);
        if (oracle_decode(work->type->type, y, i).kind == ORACLE_NAN)
            values_put(work->type, y, i, 1);
    }
}

static void add(struct rng *rng, struct work *work) {
    static uint64_t indices[MOST];
    unsigned char mask[MOST];
    const size_t first = work->count, count = rng_below(rng, 6) ? rng_below(rng, 200) : rng_below(rng, 1500);
    if (count > MOST - first)
        return;
    make_elements(rng, work, count);
    reduct_table_batch batch = {.x = at(work, work->x, first),
                                .y = work->two ? at(work, work->y, first) : NULL,
                                .count = count,
                                .indices = indices,
                                .index = index_types[rng_below(rng, 6)],
                                .skip = (int)rng_below(rng, 2),
                                .mask_kind = (reduct_mask)rng_below(rng, 3),
                                .mask = mask};
    batch.mask_offset = batch.mask_kind ? rng_below(rng, 9) : 0;
    for (size_t i = 0; i < count; i++)
        work->index[first + i] = batch.skip && !rng_below(rng, 5) ? UINT64_MAX : rng_below(rng, work->groups);
    put_indices(rng, work->index + first, count, batch.index, indices);
    for (size_t i = 0; i < sizeof mask; i++)
        mask[i] = rng_below(rng, 3) ? (unsigned char)rng_next(rng) : 0;
    for (size_t i = 0; i < count && batch.mask_kind; i++) {
        const size_t entry = batch.mask_offset + i;
        if (entry >= MOST * (batch.mask_kind == REDUCT_MASK_BITS ? 8 : 1))
            return;
        if (batch.mask_kind == REDUCT_MASK_BYTES ? !mask[entry] : !(mask[entry / 8] >> entry % 8 & 1))
            work->index[first + i] = UINT64_MAX;
    }
    struct arrays arrays;
    put_batch(rng, &arrays, work->device, &batch, work->type->size, sizeof mask);
    test_status(reduct_table_add(work->table, &batch, NULL), REDUCT_OK);
    drop(&arrays);
    work->count += count;
}

static void add_group(struct rng *rng, struct work *work) {
    const size_t count = rng_below(rng, 100), first = work->count;
    const uint64_t group = rng_below(rng, work->groups);
    if (count > MOST - first)
        return;
    make_elements(rng, work, count);
    for (size_t i = 0; i < count; i++)
        work->index[first + i] = group;
    reduct_table_batch batch = {
        .x = at(work, work->x, first), .y = work->two ? at(work, work->y, first) : NULL, .count = count};
    struct arrays arrays;
    put_batch(rng, &arrays, work->device, &batch, work->type->size, 0);
    test_status(reduct_table_add_group(work->table, group, batch.x, batch.y, count, NULL), REDUCT_OK);
    drop(&arrays);
    work->count += count;
}

/* A stretch of what came, whenever that was. */
static void take_out(struct rng *rng, struct work *work) {
    static uint64_t indices[MOST];
    const size_t first = rng_below(rng, work->count + 1), count = rng_below(rng, work->count - first + 1);
    reduct_table_batch batch = {.x = at(work, work->x, first),
                                .y = work->two ? at(work, work->y, first) : NULL,
                                .count = count,
                                .indices = indices,
                                .index = REDUCT_U64,
                                .skip = 1};
    struct arrays arrays;
    memcpy(indices, work->index + first, count * sizeof *indices);
    bool possible = true;
    for (size_t i = 0; i < REDUCTIONS; i++)
        possible &= test_removes(&work->reduction[i]);
    put_batch(rng, &arrays, work->device, &batch, work->type->size, 0);
    test_status(reduct_table_remove(work->table, &batch, NULL), possible ? REDUCT_OK : REDUCT_ERROR_UNSUPPORTED);
    drop(&arrays);
    for (size_t i = 0; possible && i < count; i++)
        work->index[first + i] = UINT64_MAX;
}

static size_t save(const reduct_table *table, unsigned char **bytes) {
    size_t size = 0;
    test_status(reduct_table_save(table, NULL, &size, NULL), REDUCT_OK);
    *bytes = test_alloc(size);
    test_status(reduct_table_save(table, *bytes, &size, NULL), REDUCT_OK);
    return size;
}

static void through_bytes(struct rng *rng, struct work *work) {
    unsigned char *bytes, *again;
    const size_t size = save(work->table, &bytes);
    reduct_table_destroy(work->table);
    work->device = any_device(rng);
    test_status(reduct_table_load(bytes, size, &(reduct_table_options){.device = work->device}, &work->table, NULL),
                REDUCT_OK);
    assert_int_equal(save(work->table, &again), size);
    assert_memory_equal(bytes, again, size);
    assert_int_equal(reduct_table_groups(work->table), work->groups);
    assert_int_equal(reduct_table_reductions(work->table), REDUCTIONS);
    free(bytes);
    free(again);
}

/* With another table of the same reductions, whose groups go anywhere. */
static void merge(struct rng *rng, struct work *work) {
    uint64_t mapping[GROUPS];
    theirs = *work;
    theirs.groups = 1 + rng_below(rng, GROUPS);
    theirs.count = 0;
    theirs.device = any_device(rng);
    theirs.table = make_table(&theirs, theirs.device, theirs.groups, 1);
    add(rng, &theirs);
    for (uint64_t g = 0; g < theirs.groups; g++)
        mapping[g] = rng_below(rng, work->groups);
    if (theirs.count <= MOST - work->count) {
        const bool mapped = theirs.groups > work->groups || rng_next(rng) & 1;
        test_status(reduct_table_merge(work->table, theirs.table, mapped ? mapping : NULL, NULL), REDUCT_OK);
        for (size_t i = 0; i < theirs.count; i++) {
            memcpy(at(work, work->x, work->count), at(&theirs, theirs.x, i), work->type->size);
            memcpy(at(work, work->y, work->count), at(&theirs, theirs.y, i), work->type->size);
            work->index[work->count++] = theirs.index[i] == UINT64_MAX ? UINT64_MAX
                                         : mapped                      ? mapping[theirs.index[i]]
                                                                       : theirs.index[i];
        }
    }
    reduct_table_destroy(theirs.table);
}

/* Bytes of a table that got all at once, and what was taken out never. Of indices only the places are the same. */
static void check_bytes(const struct work *work) {
    unsigned char *got, *expected;
    reduct_table *once = make_table(work, "cpu", work->groups, 1);
    const reduct_table_batch batch = {.x = work->x,
                                      .y = work->two ? work->y : NULL,
                                      .count = work->count,
                                      .indices = work->index,
                                      .index = REDUCT_U64,
                                      .skip = 1};
    test_status(reduct_table_add(once, &batch, NULL), REDUCT_OK);
    const size_t size = save(work->table, &got);
    assert_int_equal(save(once, &expected), size);
    assert_memory_equal(got, expected, size);
    free(got);
    free(expected);
    reduct_table_destroy(once);
}

static void any_steps(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed());
    for (uint64_t round = test_scaled(400, 20); round > 0; round--) {
        begin(&rng, &ours);
        for (int step = 0; step < 12; step++)
            switch (rng_below(&rng, 8)) {
            case 0:
            case 1:
            case 2:
                add(&rng, &ours);
                break;
            case 3:
                add_group(&rng, &ours);
                break;
            case 4:
                take_out(&rng, &ours);
                break;
            case 5:
                through_bytes(&rng, &ours);
                break;
            case 6:
                merge(&rng, &ours);
                break;
            default:
                if (ours.groups < GROUPS)
                    test_status(reduct_table_resize(ours.table, ++ours.groups, NULL), REDUCT_OK);
            }
        check(&ours);
        check_bytes(&ours);
        reduct_table_destroy(ours.table);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Many groups, threads, failures
 * ------------------------------------------------------------------------------------------------------------------ */

enum { MANY = 1000003, BIG = 3000000 };

/* Sums of values over 60 binades in a million groups, on any number of threads; what is merged from parts; and what is left of
 * it when half has been taken out. */
static void many_groups_on(const char *device) {
    const uint64_t groups = test_scaled(MANY, 5003), count = test_scaled(BIG, 100000);
    const reduct_reduction reductions[2] = {{.op = REDUCT_SUM, .element = REDUCT_F64},
                                            {.op = REDUCT_COUNT, .element = REDUCT_F64}};
    struct rng rng = rng_of(test_seed() + 1);
    double *x = test_alloc(count * sizeof *x), result, expected = 0;
    uint32_t *index = test_alloc(count * sizeof *index);
    unsigned char *bytes[3];
    size_t size[3];
    distribution_named("60_binades")->fill(&rng, test_type(REDUCT_F64), x, NULL, count);
    for (uint64_t i = 0; i < count; i++)
        index[i] = (uint32_t)rng_below(&rng, groups);
    for (unsigned t = 0; t < 3;
         t++) { /* one thread, four, and half of it twice, of which the second half is taken out again */
        reduct_table *table = NULL;
        struct arrays arrays;
        reduct_table_batch batch = {.x = x, .count = count, .indices = index, .index = REDUCT_U32};
        put_batch(&rng, &arrays, device, &batch, sizeof *x, 0);
        test_status(reduct_table_create(&(reduct_table_options){.reductions = reductions,
                                                                .reduction_count = 2,
                                                                .groups = groups,
                                                                .device = t ? device : "cpu",
                                                                .threads = t == 1 ? 4 : 1},
                                        &table, NULL),
                    REDUCT_OK);
        if (!t) /* as the others are to be */
            batch.x = x, batch.indices = index;
        test_status(reduct_table_add(table, &batch, NULL), REDUCT_OK);
        if (t == 2) {
            batch.count = count / 2;
            test_status(reduct_table_add(table, &batch, NULL), REDUCT_OK);
            test_status(reduct_table_remove(table, &batch, NULL), REDUCT_OK);
        }
        size[t] = save(table, &bytes[t]);
        assert_int_equal(size[t], size[0]);
        assert_memory_equal(bytes[t], bytes[0], size[0]);
        test_status(reduct_table_result(table, 0, REDUCT_DEFAULT, index[0], 1, &result, NULL, NULL), REDUCT_OK);
        reduct_table_destroy(table);
        drop(&arrays);
    }
    size_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        if (index[i] == index[0])
            x[kept++] = x[i];
    test_status(reduct_sum_f64(x, kept, &expected), REDUCT_OK);
    assert_memory_equal(&result, &expected, sizeof result);
    for (unsigned t = 0; t < 3; t++)
        free(bytes[t]);
    free(x);
    free(index);
}

static void many_groups(void **state) {
    (void)state;
    rd_cuda_table_least = 0;
    for (size_t i = 0; i < (is_cuda(devices[0]) ? device_count : 1); i++)
        many_groups_on(devices[i]);
}

/* Variances and dot products of values of any exponent in so many groups that a device has room for the planes of some at a time. */
static void wide_groups(void **state) {
    (void)state;
    enum { WIDE = 20011, ELEMENTS = 25000 };
    const reduct_reduction reductions[2] = {{.op = REDUCT_VAR, .element = REDUCT_F64, .result = REDUCT_F64},
                                            {.op = REDUCT_DOT, .element = REDUCT_F64, .nan = REDUCT_NAN_IGNORE}};
    struct rng rng = rng_of(test_seed() + 5);
    double *x = test_alloc(ELEMENTS * sizeof *x), *y = test_alloc(ELEMENTS * sizeof *y);
    uint32_t *index = test_alloc(ELEMENTS * sizeof *index);
    unsigned char *bytes[2];
    size_t size[2];
    rd_cuda_table_least = 0;
    for (size_t i = 0; i < ELEMENTS; i++) {
        const uint64_t bits[2] = {rng_next(&rng), rng_next(&rng)}; /* of NaNs, infinities and zeros there are few */
        memcpy(&x[i], &bits[0], sizeof bits[0]);
        memcpy(&y[i], &bits[1], sizeof bits[1]);
        if (!rng_below(&rng, 50))
            x[i] = rng_next(&rng) & 1 ? -0.0 : NAN;
        index[i] = (uint32_t)rng_below(&rng, WIDE);
    }
    for (int i = 0; i < 2; i++) {
        reduct_table *table = NULL;
        struct arrays arrays;
        reduct_table_batch batch = {.x = x, .y = y, .count = ELEMENTS, .indices = index, .index = REDUCT_U32};
        const char *device = i ? devices[0] : "cpu";
        put_batch(&rng, &arrays, device, &batch, sizeof *x, 0);
        test_status(
            reduct_table_create(
                &(reduct_table_options){
                    .reductions = reductions, .reduction_count = 2, .groups = WIDE, .device = device, .threads = 3},
                &table, NULL),
            REDUCT_OK);
        for (int times = 0; times < 2; times++)
            test_status(reduct_table_add(table, &batch, NULL), REDUCT_OK);
        test_status(reduct_table_remove(table, &batch, NULL), REDUCT_OK);
        drop(&arrays);
        size[i] = save(table, &bytes[i]);
        reduct_table_destroy(table);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    for (int i = 0; i < 2; i++)
        free(bytes[i]);
    free(x);
    free(y);
    free(index);
}

/* Elements whose exponents range so widely that every group spills, with a NaN and infinities among them. */
/* Sums that double with each merge pass every place in the words of their groups: the larger of two terms, and the smaller one, which keeps words
 * where they are, leaves no trace in what is rounded. */
static void doubled(void **state) {
    (void)state;
    enum { EACH = 130, TYPES_OF_SUMS = 3 };
    static const reduct_operator ops[TYPES_OF_SUMS] = {REDUCT_SUM, REDUCT_SUMSQ, REDUCT_SUM};
    static const reduct_type types[TYPES_OF_SUMS] = {REDUCT_F64, REDUCT_F64, REDUCT_F32};
    for (int t = 0; t < TYPES_OF_SUMS; t++) {
        const reduct_reduction reduction = {.op = ops[t], .element = types[t], .result = REDUCT_F64};
        const reduct_table_options options = {
            .reductions = &reduction, .reduction_count = 1, .groups = 4 * EACH, .device = "cpu", .threads = 1};
        reduct_table *table = NULL, *other = NULL;
        double expected[4 * EACH], results[4 * EACH];
        assert_int_equal(reduct_table_create(&options, &table, NULL), REDUCT_OK);
        assert_int_equal(reduct_table_create(&options, &other, NULL), REDUCT_OK);
        for (uint64_t g = 0; g < 4 * EACH; g++) {
            const double small = ldexp(g % 4 < 2 ? 1 : 1 + 0x1p-20, (int)(g / 4) - EACH) * (g % 2 ? -1 : 1);
            const double x[] = {small, ldexp(small, 70 + (int)(g % 3) * 20)};
            const float narrow[] = {(float)x[0], (float)x[1]};
            expected[g] = ops[t] == REDUCT_SUMSQ ? x[1] * x[1] : x[1];
            for (int i = 0; i < 2; i++)
                assert_int_equal(reduct_table_add_group(table, g,
                                                        types[t] == REDUCT_F32 ? (const void *)&narrow[i] : &x[i], NULL,
                                                        1, NULL),
                                 REDUCT_OK);
        }
        for (int times = 1; times < 51; times++) { /* as many as 2^63 elements allow */
            reduct_table_reset(other);
            assert_int_equal(reduct_table_merge(other, table, NULL, NULL), REDUCT_OK);
            assert_int_equal(reduct_table_merge(table, other, NULL, NULL), REDUCT_OK);
            assert_int_equal(reduct_table_result(table, 0, REDUCT_F64, 0, 4 * EACH, results, NULL, NULL), REDUCT_OK);
            for (uint64_t g = 0; g < 4 * EACH; g++)
                if (results[g] != ldexp(expected[g], times))
                    fail_msg("%s of %s: group %d is %a, expected %a", reduct_operator_name(ops[t]),
                             reduct_type_name(types[t]), (int)g, results[g], ldexp(expected[g], times));
        }
        reduct_table_destroy(other);
        reduct_table_destroy(table);
    }
}

/* Tables exchange all that they hold, and nothing else. */
static void swapped(void **state) {
    (void)state;
    const reduct_reduction sums[] = {{.op = REDUCT_SUM, .element = REDUCT_F64},
                                     {.op = REDUCT_ARGMAX, .element = REDUCT_F64}},
                           other_sum = {.op = REDUCT_MEAN, .element = REDUCT_F32};
    reduct_table_options options = {
        .reductions = sums, .reduction_count = 2, .groups = 1, .device = "cpu", .threads = 1};
    const double x[] = {1, 0x1p900, 3, 0x1p-900};
    reduct_table *table = NULL, *other = NULL, *wrong = NULL;
    reduct_error error;
    double total = 0;
    uint64_t place = 0;
    assert_int_equal(reduct_table_create(&options, &table, NULL), REDUCT_OK);
    options.groups = 5;
    assert_int_equal(reduct_table_create(&options, &other, NULL), REDUCT_OK);
    options.reductions = &other_sum;
    options.reduction_count = 1;
    assert_int_equal(reduct_table_create(&options, &wrong, NULL), REDUCT_OK);
    assert_int_equal(reduct_table_add_group(table, 0, x, NULL, 4, NULL), REDUCT_OK);
    assert_int_equal(reduct_table_add_group(other, 4, x, NULL, 1, NULL), REDUCT_OK);
    unsigned char *bytes[2], *again[2];
    const size_t sizes[] = {save(table, &bytes[0]), save(other, &bytes[1])};
    assert_int_equal(reduct_table_swap(table, wrong, &error), REDUCT_ERROR_MISMATCH);
    assert_int_equal(reduct_table_swap(table, NULL, &error), REDUCT_ERROR_ARGUMENT);
    assert_int_equal(reduct_table_swap(NULL, table, &error), REDUCT_ERROR_ARGUMENT);
    assert_int_equal(reduct_table_swap(table, table, NULL), REDUCT_OK);
    assert_int_equal(reduct_table_swap(table, other, NULL), REDUCT_OK);
    assert_int_equal(save(other, &again[0]), sizes[0]);
    assert_int_equal(save(table, &again[1]), sizes[1]);
    assert_memory_equal(bytes[0], again[0], sizes[0]);
    assert_memory_equal(bytes[1], again[1], sizes[1]);
    /* Places go on from what each has been given. */
    assert_int_equal(reduct_table_add_group(other, 0, (double[]){0x1p901}, NULL, 1, NULL), REDUCT_OK);
    assert_int_equal(reduct_table_result(other, 1, REDUCT_DEFAULT, 0, 1, &place, NULL, NULL), REDUCT_OK);
    assert_int_equal(reduct_table_result(other, 0, REDUCT_DEFAULT, 0, 1, &total, NULL, NULL), REDUCT_OK);
    assert_true(place == 4 && total == 0x3p900);
    for (int i = 0; i < 2; i++) {
        free(bytes[i]);
        free(again[i]);
    }
    reduct_table_destroy(table);
    reduct_table_destroy(other);
    reduct_table_destroy(wrong);
}

static void fill_widely(double *x, uint64_t *index, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = i % 41 == 40 ? (uint64_t)0x7ff << 52 : (uint64_t)(1 + i * 977 % 2046) << 52 | i;
        memcpy(&x[i], &bits, sizeof bits);
        index[i] = i % 5;
    }
}

/* The Nth allocation fails, for every N: then the table is as it was, whether it is added to, taken from or merged. */
static void no_memory(void **state) {
    (void)state;
    enum { COUNT = 2500 };
    static const reduct_operator ops[] = {REDUCT_VAR, REDUCT_MAX, REDUCT_SUMSQ};
    static double x[COUNT];
    static uint64_t index[COUNT];
    reduct_reduction reductions[3];
    for (size_t i = 0; i < 3; i++)
        reductions[i] = test_reduction(ops[i], REDUCT_F64, REDUCT_DEFAULT);
    const reduct_table_options options = {
        .reductions = reductions, .reduction_count = 3, .groups = 5, .device = devices[0], .threads = 1};
    rd_cuda_table_least = 0;
    fill_widely(x, index, COUNT);
    for (int what = 0; what < 2; what++) {
        bool failed = true;
        for (long n = 0; failed; n++) {
            reduct_table *table = NULL, *more = NULL;
            unsigned char *before, *after;
            reduct_table_batch batch = {.x = x, .count = 20, .indices = index, .index = REDUCT_U64};
            test_status(reduct_table_create(&options, &table, NULL), REDUCT_OK);
            test_status(reduct_table_create(&options, &more, NULL), REDUCT_OK);
            test_status(reduct_table_add(table,
                                         &(reduct_table_batch){.x = (double[]){1, -0.0, 3},
                                                               .count = 3,
                                                               .indices = (uint64_t[]){0, 1, 4},
                                                               .index = REDUCT_U64},
                                         NULL),
                        REDUCT_OK);
            batch.count = COUNT;
            test_status(reduct_table_add(more, &batch, NULL), REDUCT_OK);
            const size_t size = save(table, &before);
            allocations_left = n;
            const reduct_status status =
                what ? reduct_table_merge(table, more, NULL, NULL) : reduct_table_add(table, &batch, NULL);
            allocations_left = -1;
            failed = status != REDUCT_OK;
            test_status(status, failed ? REDUCT_ERROR_OUT_OF_MEMORY : REDUCT_OK);
            if (failed) {
                assert_int_equal(save(table, &after), size);
                assert_memory_equal(before, after, size);
                free(after);
            }
            free(before);
            reduct_table_destroy(table);
            reduct_table_destroy(more);
            assert_true(n < 100 && (failed || n > 4));
        }
    }
}

/* What is not there, or has no group, or is refused, leaves all as it was. */
static void refused(void **state) {
    (void)state;
    reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    const double x[4] = {1, 1e300, -0.0, 1e-300};
    uint8_t index[4] = {0, 1, 1, 0};
    unsigned char *before, *after;
    reduct_error error;
    rd_cuda_table_least = 0;
    for (int nan = 0; nan < 2; nan++) {
        reduct_table *table = NULL;
        sum.nan = nan ? REDUCT_NAN_ERROR : REDUCT_NAN_PROPAGATE;
        test_status(
            reduct_table_create(
                &(reduct_table_options){.reductions = &sum, .reduction_count = 1, .groups = 2, .device = devices[0]},
                &table, NULL),
            REDUCT_OK);
        reduct_table_batch batch = {.x = x, .count = 4, .indices = index, .index = REDUCT_U8};
        test_status(reduct_table_add(table, &batch, NULL), REDUCT_OK);
        const size_t size = save(table, &before);
        const double bad[4] = {4, 5, NAN, 6};
        batch.x = bad;
        test_status(nan ? reduct_table_add(table, &batch, &error) : reduct_table_remove(table, &batch, &error),
                    nan ? REDUCT_ERROR_NAN : REDUCT_ERROR_ARGUMENT);
        assert_int_equal(error.index, 2);
        index[3] = 2;
        batch.x = x;
        test_status(reduct_table_add(table, &batch, &error), REDUCT_ERROR_ARGUMENT);
        assert_int_equal(error.index, 3);
        index[3] = 0;
        assert_int_equal(save(table, &after), size);
        assert_memory_equal(before, after, size);
        free(before);
        free(after);
        reduct_table_destroy(table);
    }
}

static void assert_said(const reduct_error *error, const char *said) {
    if (error->status != REDUCT_ERROR_ARGUMENT || strncmp(error->message, said, strlen(said)) != 0)
        test_fail("refused with \"%s\"; expected \"%s...\"", error->message, said);
}

/* Types are named; what is none has only its number. */
static void refused_types(void **state) {
    (void)state;
    const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    const double x = 1;
    const uint32_t index = 0;
    uint64_t found;
    reduct_error error;
    reduct_keys *keys = NULL;
    reduct_table *table = NULL;
    reduct_table_batch batch = {.x = &x, .count = 1, .indices = &index, .index = REDUCT_F32};
    reduct_keys_create(REDUCT_F16, &keys, &error);
    assert_said(&error, "type: f16; expected i32");
    reduct_keys_create((reduct_type)99, &keys, &error);
    assert_said(&error, "type: 99; expected i32");
    assert_null(keys);
    reduct_keys_runs(REDUCT_U8, &index, 1, NULL, NULL, &found, &error);
    assert_said(&error, "type: u8; expected i32");
    test_status(reduct_keys_create(REDUCT_U32, &keys, NULL), REDUCT_OK);
    reduct_keys_add(keys, &index, 1, REDUCT_I64, &found, &error);
    assert_said(&error, "index: i64; expected u32 or u64");
    reduct_keys_destroy(keys);
    test_status(reduct_table_create(&(reduct_table_options){.reductions = &sum, .reduction_count = 1, .groups = 2},
                                    &table, NULL),
                REDUCT_OK);
    reduct_table_add(table, &batch, &error);
    assert_said(&error, "index: f32; expected u8");
    batch.index = REDUCT_DEFAULT;
    reduct_table_add(table, &batch, &error);
    assert_said(&error, "index: 0; expected u8");
    reduct_table_destroy(table);
}

/* Of two tables the one with more groups; of a batch without a mask its offset there. */
static void refused_arguments(void **state) {
    (void)state;
    const reduct_reduction sum = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
    const double x = 1;
    const uint32_t index = 0;
    const uint64_t mapping[5] = {0, 1, 3, 2, 1};
    reduct_error error;
    reduct_table *table[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        test_status(
            reduct_table_create(&(reduct_table_options){.reductions = &sum, .reduction_count = 1, .groups = i ? 5 : 3},
                                &table[i], NULL),
            REDUCT_OK);
    reduct_table_merge(table[0], table[1], NULL, &error);
    assert_said(&error, "other: has 5 groups, more than the 3 of this table");
    assert_int_equal(error.index, 3);
    reduct_table_merge(table[0], table[1], mapping, &error);
    assert_said(&error, "mapping: group 2 is to be 3 of 3");
    assert_int_equal(error.index, 2);
    reduct_table_merge(table[0], table[0], NULL, &error);
    assert_said(&error, "other: the table itself");
    test_status(reduct_table_merge(table[1], table[0], NULL, NULL), REDUCT_OK);
    reduct_table_batch batch = {.x = &x, .count = 1, .indices = &index, .index = REDUCT_U32, .mask_offset = 7};
    reduct_table_add(table[0], &batch, &error);
    assert_said(&error, "mask_offset: 7; expected 0 without a mask");
    reduct_table_remove(table[0], &batch, &error);
    assert_said(&error, "mask_offset: 7; expected 0 without a mask");
    reduct_table_destroy(table[0]);
    reduct_table_destroy(table[1]);
}

/* Of an index outside and a NaN the first one is named. Only the arrays count that a reduction reads which refuses NaNs. */
static void refused_first(void **state) {
    (void)state;
    reduct_reduction reductions[2] = {test_reduction(REDUCT_SUM, REDUCT_F32, REDUCT_DEFAULT),
                                      test_reduction(REDUCT_DOT, REDUCT_F32, REDUCT_DEFAULT)};
    rd_cuda_table_least = 0;
    for (int which = 0; which < 2; which++)
        for (int outside = 0; outside < 4; outside++) {
            reduct_table *table = NULL;
            reduct_error error;
            float x[4] = {1, 2, NAN, 3}, y[4] = {1, NAN, 2, 3};
            int32_t index[4] = {0, 1, 1, 0};
            const int nan = which ? 1 : 2, first = outside < nan ? outside : nan;
            reductions[which].nan = REDUCT_NAN_ERROR;
            reductions[!which].nan = REDUCT_NAN_PROPAGATE;
            index[outside] = outside % 2 ? -1 : 2;
            test_status(reduct_table_create(
                            &(reduct_table_options){
                                .reductions = reductions, .reduction_count = 2, .groups = 2, .device = devices[0]},
                            &table, NULL),
                        REDUCT_OK);
            reduct_table_batch batch = {.x = x, .y = y, .count = 4, .indices = index, .index = REDUCT_I32};
            test_status(reduct_table_add(table, &batch, &error),
                        outside <= nan ? REDUCT_ERROR_ARGUMENT : REDUCT_ERROR_NAN);
            assert_int_equal(error.index, first);
            batch.skip = 1; /* then only the NaN is left, unless its own index is outside */
            if (which)
                x[1] = 0;
            else
                x[2] = 0;
            y[1] = which ? 0 : NAN;
            batch.count = which ? 2 : 4;
            test_status(reduct_table_add(table, &batch, &error), REDUCT_OK);
            reduct_table_destroy(table);
        }
}

/* Every byte changed, every length: said to be damaged, and nothing else happens. */
static void damaged(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 2);
    for (int round = 0; round < 10; round++) {
        unsigned char *bytes;
        reduct_table *table = NULL;
        begin(&rng, &ours);
        add(&rng, &ours);
        const size_t size = save(ours.table, &bytes), step = 1 + size / 500;
        for (size_t i = 0; i < size; i += step) {
            const unsigned char was = bytes[i];
            bytes[i] ^= (unsigned char)(1 + rng_below(&rng, 255));
            const reduct_status status = reduct_table_load(bytes, size, NULL, &table, NULL);
            assert_true((status == REDUCT_ERROR_CORRUPT || status == REDUCT_ERROR_VERSION) && !table);
            bytes[i] = was;
            unsigned char *cut = test_alloc(i);
            memcpy(cut, bytes, i);
            test_status(reduct_table_load(cut, i, NULL, &table, NULL), REDUCT_ERROR_CORRUPT);
            free(cut);
        }
        free(bytes);
        reduct_table_destroy(ours.table);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What stays on a device
 * ------------------------------------------------------------------------------------------------------------------ */

enum { TWINS = 3, TWIN_MOST = 400, TWIN_GROUPS = 40 };

/* Tables on a device, and beside each one on the CPU that is given the same. */
struct twins {
    const struct test_type *type;
    reduct_reduction reduction[REDUCTIONS];
    size_t reductions;
    reduct_table *there[TWINS], *here[TWINS];
    uint64_t groups[TWINS];
    size_t added[TWINS]; /* elements of the last batch, for it to be taken out again */
    double x[TWINS][TWIN_MOST], y[TWINS][TWIN_MOST];
    uint32_t index[TWINS][TWIN_MOST];
    int kept, answered; /* batches of which nothing came to the host, and results for which nothing had to */
};

static reduct_table *make_twin(const struct twins *twins, const char *device, uint64_t groups) {
    reduct_table *table = NULL;
    test_status(reduct_table_create(&(reduct_table_options){.reductions = twins->reduction,
                                                            .reduction_count = twins->reductions,
                                                            .groups = groups,
                                                            .device = device,
                                                            .threads = 2},
                                    &table, NULL),
                REDUCT_OK);
    return table;
}

/* Sums of all kinds, of floats and integers. */
static void begin_twins(struct rng *rng, struct twins *twins) {
    static const reduct_operator ops[] = {REDUCT_SUM,   REDUCT_MEAN, REDUCT_NORM1, REDUCT_SUMSQ,
                                          REDUCT_NORM2, REDUCT_DOT,  REDUCT_VAR,   REDUCT_WEIGHTED_MEAN};
    static const reduct_type types[] = {REDUCT_F64,  REDUCT_F64, REDUCT_F32, REDUCT_F16,
                                        REDUCT_BF16, REDUCT_I64, REDUCT_U8};
    twins->type = test_type(types[rng_below(rng, sizeof types / sizeof *types)]);
    twins->reductions = 1 + rng_below(rng, REDUCTIONS);
    for (size_t i = 0; i < twins->reductions; i++)
        do
            twins->reduction[i] =
                test_reduction(ops[rng_below(rng, sizeof ops / sizeof *ops)], twins->type->type, REDUCT_DEFAULT);
        while (!oracle_has(twins->reduction[i].op, twins->type->type));
    const reduct_nan nan = twins->type->class == FLOAT ? (reduct_nan)rng_below(rng, 3) : REDUCT_NAN_PROPAGATE;
    for (size_t i = 0; i < twins->reductions; i++)
        twins->reduction[i].nan = nan;
    for (int t = 0; t < TWINS; t++) {
        twins->groups[t] = 1 + rng_below(rng, rng_next(rng) & 1 ? GROUPS : TWIN_GROUPS);
        twins->there[t] = make_twin(twins, devices[0], twins->groups[t]);
        twins->here[t] = make_twin(twins, "cpu", twins->groups[t]);
        twins->added[t] = 0;
    }
}

/* Values near each other, mostly; of exponents that now and then are far from those before; seldom one that is special. Integers may all be
 * even, or so large that sums do not fit. */
static void make_twin_elements(struct rng *rng, struct twins *twins, int t, size_t count) {
    static const int exponents[] = {0, 0, 0, 0, 1, -1, 3, -40, 60, -130, 200};
    const int exponent = exponents[rng_below(rng, sizeof exponents / sizeof *exponents)];
    const bool special = !rng_below(rng, 12) && twins->reduction[0].nan != REDUCT_NAN_ERROR;
    for (size_t i = 0; i < count; i++) {
        const double value[2] = {(double)(1 + rng_below(rng, 100)) * (rng_next(rng) & 1 ? 1 : -1),
                                 (double)(1 + rng_below(rng, 100))};
        const bool is_float = twins->type->class == FLOAT;
        const double at = !is_float               ? exponent == 60 && twins->type->size == 8 ? 0x1p56
                                                    : exponent                               ? 1
                                                                                             : 2
                          : twins->type->size > 2 ? ldexp(1, exponent / (twins->type->size == 8 ? 1 : 4))
                                                  : 1;
        values_put(twins->type, twins->x[t], i, value[!is_float] * at);
        values_put(twins->type, twins->y[t], i, value[1]);
        twins->index[t][i] = (uint32_t)rng_below(rng, twins->groups[t]);
    }
    if (special && twins->type->class == FLOAT && count)
        values_put(twins->type, twins->x[t], rng_below(rng, count), rng_next(rng) & 1 ? -0.0 : (double)INFINITY);
}

static void add_to_twins(struct rng *rng, struct twins *twins, int t, bool removes) {
    const size_t count = removes             ? twins->added[t]
                         : rng_below(rng, 3) ? rng_below(rng, TWIN_MOST)
                                             : twins->groups[t] + rng_below(rng, 5);
    bool two = false;
    for (size_t i = 0; i < twins->reductions; i++)
        two |= test_operator(twins->reduction[i].op)->inputs == 2;
    if (!removes)
        make_twin_elements(rng, twins, t, count);
    reduct_table_batch batch = {.x = twins->x[t],
                                .y = two ? twins->y[t] : NULL,
                                .count = count,
                                .indices = twins->index[t],
                                .index = REDUCT_U32};
    const bool pending = rd_cuda_pending_of(twins->there[t]) != NULL, filled = twins->there[t]->rows.used;
    rd_cuda_table_least = rng_below(rng, 6) ? 0 : 1 << 14;
    struct arrays arrays;
    reduct_status (*change)(reduct_table *, const reduct_table_batch *, reduct_error *) =
        removes ? reduct_table_remove : reduct_table_add;
    test_status(change(twins->here[t], &batch, NULL), REDUCT_OK);
    put_batch(rng, &arrays, devices[0], &batch, twins->type->size, 0);
    test_status(change(twins->there[t], &batch, NULL), REDUCT_OK);
    drop(&arrays);
    twins->added[t] = removes ? 0 : count;
    twins->kept += !filled && !twins->there[t]->rows.used && rd_cuda_pending_of(twins->there[t]);
    if (removes && count) /* of what is pending nothing is taken out */
        assert_true(!rd_cuda_pending_of(twins->there[t]) || !pending);
}

static void compare_twins(const struct twins *twins, int t) {
    unsigned char *got, *expected;
    const size_t size = save(twins->here[t], &expected);
    assert_int_equal(save(twins->there[t], &got), size);
    assert_memory_equal(got, expected, size);
    assert_null(rd_cuda_pending_of(twins->there[t]));
    free(got);
    free(expected);
}

static void grow_twins(struct rng *rng, struct twins *twins, int t) {
    twins->groups[t] += rng_below(rng, 3);
    test_status(reduct_table_resize(twins->here[t], twins->groups[t], NULL), REDUCT_OK);
    test_status(reduct_table_resize(twins->there[t], twins->groups[t], NULL), REDUCT_OK);
}

static void merge_twins(struct twins *twins, int t, int other) {
    if (other == t || twins->groups[other] > twins->groups[t])
        return;
    test_status(reduct_table_merge(twins->here[t], twins->here[other], NULL, NULL), REDUCT_OK);
    test_status(reduct_table_merge(twins->there[t], twins->there[other], NULL, NULL), REDUCT_OK);
}

/* A device's with the CPU's, too: what is pending goes with all else. */
static void swap_twins(struct twins *twins, int t) {
    test_status(reduct_table_swap(twins->here[t], twins->there[t], NULL), REDUCT_OK);
}

/* One result of two tables: of some of the groups, in the memory of either, with outcomes or an error. */
static void compare_result(struct rng *rng, struct twins *twins, int t, size_t which) {
    enum { ROOM = GROUPS + 100 };
    static const reduct_type types[] = {REDUCT_DEFAULT, REDUCT_DEFAULT, REDUCT_F64, REDUCT_F32, REDUCT_F16, REDUCT_I64};
    unsigned char results[2][ROOM * 32];
    reduct_outcome outcomes[2][ROOM];
    reduct_error errors[2];
    reduct_status status[2];
    const bool each = rng_next(rng) & 1, there = rng_next(rng) & 1, all = rng_next(rng) & 1;
    const uint64_t first = all ? 0 : rng_below(rng, twins->groups[t] + 1),
                   count = all ? twins->groups[t] : rng_below(rng, twins->groups[t] - first + 1);
    const reduct_type type = types[rng_below(rng, sizeof types / sizeof *types)];
    reduct_table *const tables[2] = {twins->there[t], twins->here[t]};
    memset(results, 0xab, sizeof results);
    memset(outcomes, 0, sizeof outcomes);
    memset(errors, 0, sizeof errors);
    for (int i = 0; i < 2; i++) {
        const bool pending = rd_cuda_pending_of(tables[i]), own = pending && !tables[i]->rows.used;
        const rd_cu_address memory =
            there && is_cuda(tables[i]->device.name) ? gpu_copy_of(results[i], sizeof results[i]) : 0;
        status[i] =
            reduct_table_result(tables[i], which, type, first, count, memory ? gpu_pointer(memory, 0) : results[i],
                                each ? outcomes[i] : NULL, &errors[i]);
        if (memory) {
            gpu_download(results[i], memory, sizeof results[i]);
            gpu_free(memory);
        }
        twins->answered += own && count && rd_cuda_pending_of(tables[i]) != NULL;
    }
    assert_int_equal(status[0], status[1]);
    assert_memory_equal(results[0], results[1], sizeof results[0]);
    assert_memory_equal(outcomes[0], outcomes[1], sizeof outcomes[0]);
    if (status[0] != REDUCT_OK) {
        assert_string_equal(errors[0].message, errors[1].message);
        assert_int_equal(errors[0].index, errors[1].index);
    }
}

static void compare_results(struct rng *rng, struct twins *twins, int t) {
    for (size_t which = 0; which < twins->reductions; which++) {
        compare_result(rng, twins, t, which);
        for (uint64_t g = 0; g < twins->groups[t] && !rng_below(rng, 4); g++)
            assert_int_equal(reduct_table_count(twins->there[t], which, g),
                             reduct_table_count(twins->here[t], which, g));
    }
}

static void any_twin_step(struct rng *rng, struct twins *twins) {
    const int t = (int)rng_below(rng, TWINS);
    switch (rng_below(rng, 24)) {
    case 0:
        add_to_twins(rng, twins, t, true);
        break;
    case 1:
        grow_twins(rng, twins, t);
        break;
    case 2:
        merge_twins(twins, t, (int)rng_below(rng, TWINS));
        break;
    case 3:
        swap_twins(twins, t);
        break;
    case 4:
    case 7:
        compare_results(rng, twins, t);
        break;
    case 5:
        reduct_table_reset(twins->here[t]);
        reduct_table_reset(twins->there[t]);
        twins->added[t] = 0;
        break;
    case 6:
        compare_twins(twins, t);
        break;
    default:
        add_to_twins(rng, twins, t, false);
    }
}

/* Batches that stay on the device, between all that needs the groups on the host. */
static void kept_on_device(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 6);
    static struct twins twins;
    const uint64_t rounds = test_scaled(300, 20);
    if (!is_cuda(devices[0]))
        skip();
    for (uint64_t round = 0; round < rounds; round++) {
        begin_twins(&rng, &twins);
        for (int t = 0; t < TWINS; t++) { /* of one batch: some groups may hold nothing */
            add_to_twins(&rng, &twins, t, false);
            compare_results(&rng, &twins, t);
        }
        for (int step = 0; step < 30; step++)
            any_twin_step(&rng, &twins);
        for (int t = 0; t < TWINS; t++) {
            compare_twins(&twins, t);
            reduct_table_destroy(twins.there[t]);
            reduct_table_destroy(twins.here[t]);
        }
    }
    assert_true((uint64_t)twins.kept > 3 * rounds && (uint64_t)twins.answered > rounds / 20);
}

/* Two states whose groups range so widely that their cells spill, but not too widely for the device. */
static reduct_table *make_wide(uint64_t *index) {
    static const reduct_reduction reductions[2] = {{.op = REDUCT_SUM, .element = REDUCT_F64, .result = REDUCT_F64},
                                                   {.op = REDUCT_NORM1, .element = REDUCT_F64, .result = REDUCT_F64}};
    reduct_table *table = NULL;
    test_status(
        reduct_table_create(
            &(reduct_table_options){
                .reductions = reductions, .reduction_count = 2, .groups = 5, .device = devices[0], .threads = 1},
            &table, NULL),
        REDUCT_OK);
    for (int batch = 0; batch < 2; batch++) {
        double x[20];
        for (int i = 0; i < 20; i++) {
            x[i] = ldexp(1 + i / 3.0, batch ? -160 : 0);
            index[i] = (uint64_t)i % 5;
        }
        test_status(reduct_table_add(
                        table, &(reduct_table_batch){.x = x, .count = 20, .indices = index, .index = REDUCT_U64}, NULL),
                    REDUCT_OK);
    }
    return table;
}

/* Where there is no memory to bring home what is pending, it stays, whoever wanted it. */
static void kept_without_memory(void **state) {
    (void)state;
    enum { ASKERS = 5 };
    uint64_t index[20];
    if (!is_cuda(devices[0]))
        skip();
    rd_cuda_table_least = 0;
    for (int who = 0; who < ASKERS; who++) {
        bool failed = true;
        for (long n = 0; failed; n++) {
            reduct_table *table = make_wide(index), *again = make_wide(index), *third = make_wide(index);
            unsigned char *got, *expected;
            double results[5] = {7, 7, 7, 7, 7};
            size_t size = 0;
            assert_non_null(rd_cuda_pending_of(table));
            assert_false(table->rows.used);
            rd_cuda_table_least = 1 << 14; /* removed on the host */
            allocations_left = n;
            const reduct_status status =
                who == 0   ? reduct_table_result(table, 0, REDUCT_DEFAULT, 0, 5, results, NULL, NULL)
                : who == 1 ? reduct_table_save(table, NULL, &size, NULL)
                : who == 2 ? reduct_table_merge(third, table, NULL, NULL)
                : who == 3
                    ? reduct_table_remove(
                          table,
                          &(reduct_table_batch){
                              .x = (double[]){ldexp(1, -160)}, .count = 1, .indices = index, .index = REDUCT_U64},
                          NULL)
                : reduct_table_count(table, 0, 0) == 8 ? REDUCT_OK
                                                       : REDUCT_ERROR_OUT_OF_MEMORY;
            allocations_left = -1;
            rd_cuda_table_least = 0;
            failed = status != REDUCT_OK;
            test_status(status, failed ? REDUCT_ERROR_OUT_OF_MEMORY : REDUCT_OK);
            if (failed && who == 0)
                assert_true(results[0] == 7 && results[4] == 7);
            if (who == 3 && !failed) /* it goes back */
                test_status(reduct_table_add(
                                table,
                                &(reduct_table_batch){
                                    .x = (double[]){ldexp(1, -160)}, .count = 1, .indices = index, .index = REDUCT_U64},
                                NULL),
                            REDUCT_OK);
            const size_t bytes = save(again, &expected);
            assert_int_equal(save(table, &got), bytes);
            assert_memory_equal(got, expected, bytes);
            free(got);
            if (failed && who == 2) {
                assert_int_equal(save(third, &got), bytes);
                assert_memory_equal(got, expected, bytes);
                free(got);
            }
            free(expected);
            reduct_table_destroy(table);
            reduct_table_destroy(again);
            reduct_table_destroy(third);
            assert_true(n < 100 && (failed || n > 4));
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Keys
 * ------------------------------------------------------------------------------------------------------------------ */

static uint64_t number_at(const void *array, size_t bytes, size_t i) {
    uint64_t number = 0;
    memcpy(&number, (const char *)array + i * bytes, bytes);
    return number;
}

/* Keys from a few, from many, and all alike but for their high or low bits. */
static void make_keys(struct rng *rng, size_t bytes, void *array, size_t count) {
    const uint64_t few = 1 + rng_below(rng, 2000);
    const int shift = (int)rng_below(rng, 8 * bytes);
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = (rng_below(rng, few) - few / 2) << shift;
        memcpy((char *)array + i * bytes, &key, bytes);
    }
}

static bool in_order(reduct_type type, uint64_t a, uint64_t b) {
    return type == REDUCT_I32 ? (int32_t)a < (int32_t)b : type == REDUCT_I64 ? (int64_t)a < (int64_t)b : a < b;
}

static void check_order(const reduct_keys *keys, reduct_type type) {
    const size_t count = reduct_keys_count(keys), bytes = reduct_type_size(type);
    uint64_t *order = test_alloc((count + 1) * sizeof *order);
    void *all = test_alloc((count + 1) * bytes);
    test_status(reduct_keys_order(keys, order, NULL), REDUCT_OK);
    test_status(reduct_keys_get(keys, 0, count, all, NULL), REDUCT_OK);
    for (size_t i = 1; i < count; i++)
        assert_true(in_order(type, number_at(all, bytes, order[i - 1]), number_at(all, bytes, order[i])));
    free(order);
    free(all);
}

/* Against looking through all that came before. */
static void numbered(void **state) {
    (void)state;
    enum { COUNT = 1500 };
    static const reduct_type types[] = {REDUCT_I32, REDUCT_U32, REDUCT_I64, REDUCT_U64};
    static uint64_t array[COUNT], indices[COUNT], found[COUNT], known[4 * COUNT];
    struct rng rng = rng_of(test_seed() + 3);
    for (uint64_t round = test_scaled(60, 8); round > 0; round--) {
        const reduct_type type = types[round % 4], index = round & 4 ? REDUCT_U32 : REDUCT_U64;
        const size_t bytes = reduct_type_size(type), wide = reduct_type_size(index);
        size_t count = 0;
        reduct_keys *keys = NULL;
        test_status(reduct_keys_create(type, &keys, NULL), REDUCT_OK);
        for (int batch = 0; batch < 4; batch++) {
            make_keys(&rng, bytes, array, COUNT);
            test_status(reduct_keys_find(keys, array, COUNT, index, found, NULL), REDUCT_OK);
            const size_t before = count;
            test_status(reduct_keys_add(keys, array, COUNT, index, indices, NULL), REDUCT_OK);
            for (size_t i = 0; i < COUNT; i++) {
                const uint64_t key = number_at(array, bytes, i), number = number_at(indices, wide, i);
                assert_true(number <= count);
                if (number == count) {
                    for (size_t k = 0; k < count; k++)
                        assert_true(known[k] != key);
                    known[count++] = key;
                }
                assert_true(known[number] == key);
                const uint64_t none = UINT64_MAX >> (64 - 8 * wide);
                assert_true(number_at(found, wide, i) == (number < before ? number : none));
            }
            assert_int_equal(reduct_keys_count(keys), count);
        }
        check_order(keys, type);
        reduct_keys_destroy(keys);
    }
}

/* Out of memory, all keys are as they were. */
static void keys_without_memory(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    static uint64_t array[COUNT], indices[COUNT];
    reduct_keys *keys = NULL;
    for (size_t i = 0; i < COUNT; i++)
        array[i] = i * i;
    test_status(reduct_keys_create(REDUCT_U64, &keys, NULL), REDUCT_OK);
    test_status(reduct_keys_add(keys, array, 10, REDUCT_U64, indices, NULL), REDUCT_OK);
    for (long n = 0; n < 4; n++) {
        allocations_left = n;
        const reduct_status status = reduct_keys_add(keys, array, COUNT, REDUCT_U64, indices, NULL);
        allocations_left = -1;
        test_status(status, REDUCT_ERROR_OUT_OF_MEMORY);
        assert_int_equal(reduct_keys_count(keys), 10);
        test_status(reduct_keys_find(keys, array + 9, 2, REDUCT_U64, indices, NULL), REDUCT_OK);
        assert_true(indices[0] == 9 && indices[1] == UINT64_MAX);
    }
    test_status(reduct_keys_add(keys, array, COUNT, REDUCT_U64, indices, NULL), REDUCT_OK);
    assert_int_equal(reduct_keys_count(keys), COUNT);
    reduct_keys_destroy(keys);
}

static void runs(void **state) {
    (void)state;
    const int32_t array[] = {5, 5, -1, -1, -1, 5, 7};
    uint64_t offsets[8], found = 99;
    int32_t unique[7];
    test_status(reduct_keys_runs(REDUCT_I32, array, 7, offsets, unique, &found, NULL), REDUCT_OK);
    assert_int_equal(found, 4);
    assert_memory_equal(offsets, ((uint64_t[]){0, 2, 5, 6, 7}), 5 * sizeof *offsets);
    assert_memory_equal(unique, ((int32_t[]){5, -1, 5, 7}), 4 * sizeof *unique);
    test_status(reduct_keys_runs(REDUCT_I32, array, 7, NULL, NULL, &found, NULL), REDUCT_OK);
    assert_int_equal(found, 4);
    test_status(reduct_keys_runs(REDUCT_I32, NULL, 0, offsets, NULL, &found, NULL), REDUCT_OK);
    assert_true(found == 0 && offsets[0] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_steps),      cmocka_unit_test(many_groups),
        cmocka_unit_test(wide_groups),    cmocka_unit_test(no_memory),
        cmocka_unit_test(refused),        cmocka_unit_test(refused_first),
        cmocka_unit_test(refused_types),  cmocka_unit_test(refused_arguments),
        cmocka_unit_test(doubled),        cmocka_unit_test(damaged),
        cmocka_unit_test(numbered),       cmocka_unit_test(swapped),
        cmocka_unit_test(runs),           cmocka_unit_test(keys_without_memory),
        cmocka_unit_test(kept_on_device), cmocka_unit_test(kept_without_memory),
    };
    return cmocka_run_group_tests_name("table", tests, find_devices, NULL);
}
