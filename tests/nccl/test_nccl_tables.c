/* Tables of accumulators over GPUs through reduct/nccl.h: what all ranks hold together is what the oracle says of all elements, on up to four
 * ranks, which threads have or one thread has. With the emulated NCCL (nccl.c) any number of ranks share a device; with NCCL itself
 * there are as many ranks as the machine has GPUs, at most. Without either it says so and ends with status 77.
 *
 * From the survival list: "Same bits: every permutation and partition of the data, merged in any order", "Faults: the Nth allocation fails".
 */
#include <reduct/nccl.h>

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/pending.h"
#include "cuda/table.h"
#include "cuda_support.h"
#include "drivers/nccl.h"

enum { RANKS = 4, REDUCTIONS = 32, MOST = 1500, EVERYONE = -1, TOGETHER = -2, SKIPPED = 77, PATIENCE = 120 };

static const rd_nccl *nccl;
static int most_ranks;
static void (*break_emulated)(struct ncclComm *comm); /* null: NCCL is no emulated one */
static void (*break_after)(struct ncclComm *comm, int rounds);

/* ---------------------------------------------------------------------------------------------------------------------
 * Memory that runs out, of one thread: the linker diverts malloc and its kin (--wrap)
 * ------------------------------------------------------------------------------------------------------------------ */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static _Thread_local long allocations_left = -1; /* until one fails, never while negative */

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
 * Ranks
 * ------------------------------------------------------------------------------------------------------------------ */

struct rank {
    int device;
    rd_cu_context context;
    rd_cu_stream stream;
    struct ncclComm *comm;
    reduct_table *table;
    int root; /* whose result it is, or for whom else */
    long allocations;
    reduct_error error; /* what the call said; status and message */
    pthread_t thread;
};

struct ranks {
    int count;
    struct rank of[RANKS];
};

static void open_ranks(struct ranks *ranks, int count) {
    struct ncclComm *comms[RANKS];
    int devices[RANKS] = {0};
    *ranks = (struct ranks){.count = count};
    for (int r = 0; r < count; r++) {
        struct rank *rank = &ranks->of[r];
        rd_cu_device device;
        rank->device = devices[r] = r % gpu.driver->devices;
        CU(gpu.driver->cuDeviceGet(&device, rank->device));
        CU(gpu.driver->cuDevicePrimaryCtxRetain(&rank->context, device));
        CU(gpu.driver->cuCtxSetCurrent(rank->context));
        CU(gpu.driver->cuStreamCreate(&rank->stream, RD_CU_STREAM_NON_BLOCKING));
        rank->allocations = -1;
    }
    assert_int_equal(nccl->ncclCommInitAll(comms, count, devices), RD_NCCL_SUCCESS);
    for (int r = 0; r < count; r++)
        ranks->of[r].comm = comms[r];
    CU(gpu.driver->cuCtxSetCurrent(gpu.primary));
}

static void close_ranks(struct ranks *ranks) {
    for (int r = 0; r < ranks->count; r++) {
        struct rank *rank = &ranks->of[r];
        CU(gpu.driver->cuCtxSetCurrent(rank->context));
        CU(gpu.driver->cuStreamSynchronize(rank->stream)); /* of which a call that failed may have left something */
        assert_int_equal(nccl->ncclCommDestroy(rank->comm), RD_NCCL_SUCCESS);
        CU(gpu.driver->cuStreamDestroy(rank->stream));
    }
    CU(gpu.driver->cuCtxSetCurrent(gpu.primary));
}

/* Those that tests share, of each number of ranks: NCCL takes most of a second to open a communicator and to end it. */
static struct ranks shared[RANKS + 1];

static struct ranks shared_ranks(int count) {
    if (!shared[count].count)
        open_ranks(&shared[count], count);
    return shared[count];
}

static void close_shared_ranks(void) {
    for (int count = 1; count <= RANKS; count++)
        if (shared[count].count)
            close_ranks(&shared[count]);
}

static void *reduce_one(void *argument) {
    struct rank *rank = argument;
    reduct_error error = {.status = REDUCT_OK};
    CU(gpu.driver->cuCtxSetCurrent(rank->context));
    allocations_left = rank->allocations;
    const reduct_status status =
        rank->root == EVERYONE ? reduct_nccl_allreduce_table(rank->table, rank->comm, rank->stream, &error)
                               : reduct_nccl_reduce_table(rank->table, rank->root, rank->comm, rank->stream, &error);
    allocations_left = -1;
    rank->error = error;
    rank->error.status = status;
    return NULL;
}

/* A thread for each. Ranks that wait for one that never comes end the program. */
static void reduce_apart(struct ranks *ranks) {
    alarm(PATIENCE);
    for (int r = 0; r < ranks->count; r++)
        assert_int_equal(pthread_create(&ranks->of[r].thread, NULL, reduce_one, &ranks->of[r]), 0);
    for (int r = 0; r < ranks->count; r++)
        pthread_join(ranks->of[r].thread, NULL);
    alarm(0);
}

static void reduce_together(struct ranks *ranks) {
    reduct_nccl_table all[RANKS];
    reduct_error error = {.status = REDUCT_OK};
    for (int r = 0; r < ranks->count; r++)
        all[r] =
            (reduct_nccl_table){.table = ranks->of[r].table, .comm = ranks->of[r].comm, .stream = ranks->of[r].stream};
    alarm(PATIENCE);
    error.status = reduct_nccl_allreduce_table_ranks(all, (size_t)ranks->count, &error);
    alarm(0);
    for (int r = 0; r < ranks->count; r++)
        ranks->of[r].error = error;
}

/* In one of the ways: EVERYONE, TOGETHER, or a root. */
static void reduce_ranks(struct ranks *ranks, int way) {
    for (int r = 0; r < ranks->count; r++)
        ranks->of[r].root = way;
    if (way == TOGETHER)
        reduce_together(ranks);
    else
        reduce_apart(ranks);
}

static bool gets(int way, int rank) {
    return way < 0 || way == rank;
}

/* All ranks say the same. */
static void assert_failed(const struct ranks *ranks, reduct_status status, const char *named) {
    for (int r = 0; r < ranks->count; r++) {
        const reduct_error *error = &ranks->of[r].error;
        if (error->status != status || !strstr(error->message, named))
            test_fail("rank %d: expected status %d and '%s', got %d: %s", r, (int)status, named, (int)error->status,
                      error->message);
        assert_string_equal(error->message, ranks->of[0].error.message);
    }
}

static void assert_all_well(const struct ranks *ranks) {
    for (int r = 0; r < ranks->count; r++)
        if (ranks->of[r].error.status != REDUCT_OK)
            test_fail("rank %d of %d: status %d: %s", r, ranks->count, (int)ranks->of[r].error.status,
                      ranks->of[r].error.message);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Elements that have groups, and what is asked of them
 * ------------------------------------------------------------------------------------------------------------------ */

struct grouped {
    const struct test_type *type;
    double *x, *y; /* room for every type */
    uint32_t *group;
    size_t cut[RANKS + 1]; /* whose they are */
    uint64_t own[RANKS];   /* groups of each rank's table */
    uint64_t groups;       /* of the table that has most */
    reduct_reduction reduction[REDUCTIONS];
    size_t reductions;
    bool two;
    struct oracle oracle;
};

static void *element_at(const struct grouped *all, double *array, size_t index) {
    return (char *)array + index * all->type->size;
}

/* A table of the elements of [first, last). */
static reduct_table *table_of(const struct grouped *all, const char *device, uint64_t groups, size_t first,
                              size_t last) {
    const reduct_table_options options = {.reductions = all->reduction,
                                          .reduction_count = all->reductions,
                                          .groups = groups,
                                          .device = device,
                                          .threads = 1};
    const reduct_table_batch batch = {.x = element_at(all, all->x, first),
                                      .y = all->two ? element_at(all, all->y, first) : NULL,
                                      .count = last - first,
                                      .indices = all->group + first,
                                      .index = REDUCT_U32};
    reduct_table *made = NULL;
    reduct_error error = {.message = ""};
    if (reduct_table_create(&options, &made, &error) != REDUCT_OK ||
        reduct_table_add(made, &batch, &error) != REDUCT_OK)
        test_fail("a table of %s on %s: %s", all->type->name, device, error.message);
    return made;
}

static bool has_tables(const reduct_reduction *reduction) {
    size_t bytes;
    return reduct_state_size(reduction, &bytes, NULL) == REDUCT_OK;
}

static void ask(struct grouped *all, reduct_reduction reduction) {
    all->reduction[all->reductions++] = reduction;
    all->two = all->two || test_operator(reduction.op)->inputs == 2;
}

static reduct_reduction any_reduction(struct rng *rng, const struct test_type *type, reduct_nan nan) {
    reduct_reduction reduction;
    do {
        const reduct_operator op = test_operators[rng_below(rng, test_operator_count)].op;
        reduction = (reduct_reduction){.op = op, .element = type->type};
    } while (!oracle_has(reduction.op, type->type) || !has_tables(&reduction));
    reduction = test_reduction(reduction.op, type->type, test_pick_result(rng, reduction.op, type->type));
    reduction.nan = nan;
    reduction.flags = (uint32_t)rng_below(rng, 4);
    return reduction;
}

static const struct distribution *any_distribution(struct rng *rng, const struct test_type *type) {
    const struct distribution *distribution;
    do
        distribution = &distributions[rng_below(rng, distribution_count)];
    while (!distribution_suits(distribution, type));
    return distribution;
}

static void open_grouped(struct grouped *all, size_t most) {
    all->x = test_alloc(most * sizeof *all->x);
    all->y = test_alloc(most * sizeof *all->y);
    all->group = test_alloc(most * sizeof *all->group);
}

static void close_grouped(struct grouped *all) {
    free(all->x);
    free(all->y);
    free(all->group);
}

/* Few groups, of which ranks have different numbers; without NaN where `tame`, as tables then refuse these. */
static void fill_few(struct rng *rng, struct grouped *all, int ranks, bool tame) {
    enum { GROUPS = 12 };
    const struct distribution *distribution;
    do
        distribution = any_distribution(rng, all->type);
    while (tame && !distribution->tame);
    const size_t count = rng_below(rng, MOST);
    distribution->fill(rng, all->type, all->x, all->y, count);
    all->groups = 0;
    for (int r = 0; r < ranks; r++) {
        const uint64_t groups = rng_below(rng, 20) ? 1 + rng_below(rng, GROUPS) : 0;
        all->cut[r + 1] = groups == 0      ? all->cut[r]
                          : r + 1 == ranks ? count
                                           : all->cut[r] + rng_below(rng, count - all->cut[r] + 1);
        for (size_t i = all->cut[r]; i < all->cut[r + 1]; i++)
            all->group[i] = (uint32_t)rng_below(rng, groups);
        all->own[r] = groups;
        all->groups = groups > all->groups ? groups : all->groups;
    }
}

/* Many groups, in stretches whose elements are of one kind, on all ranks, but for some here and there that are of another. */
static void fill_many(struct rng *rng, struct grouped *all, int ranks, uint64_t groups) {
    enum { STRETCH = 6000, ODD = 50 };
    const uint64_t kinds = rng_next(rng);
    size_t count = 0;
    all->groups = groups;
    for (int r = 0; r < ranks; r++) {
        struct rng stretches = rng_of(kinds); /* the same on all ranks */
        const uint64_t own = r == ranks / 2 ? groups : groups - rng_below(rng, groups / 4);
        all->own[r] = own;
        for (uint64_t first = 0, some; first < own; first += some) {
            const uint64_t of_kind = 1 + rng_below(&stretches, STRETCH);
            const struct distribution *kind = any_distribution(&stretches, all->type),
                                      *other = any_distribution(&stretches, all->type);
            some = of_kind < own - first ? of_kind : own - first;
            const size_t elements = (size_t)rng_below(rng, some + 1), odd = elements / ODD;
            kind->fill(rng, all->type, element_at(all, all->x, count), element_at(all, all->y, count), elements - odd);
            other->fill(rng, all->type, element_at(all, all->x, count + elements - odd),
                        element_at(all, all->y, count + elements - odd), odd);
            for (size_t i = 0; i < elements; i++)
                all->group[count++] = (uint32_t)(first + rng_below(rng, some));
        }
        all->cut[r + 1] = count;
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What the oracle says, and one table that was given everything
 * ------------------------------------------------------------------------------------------------------------------ */

/* The first `ranks` hold all elements together. */
static void check_group(struct grouped *all, const reduct_table *table, size_t which, uint64_t group, size_t last,
                        const char *where) {
    static double x[MOST], y[MOST];
    static uint64_t place[MOST];
    const struct test_type *type = all->type;
    const reduct_reduction *reduction = &all->reduction[which];
    const bool index = reduction->op == REDUCT_ARGMIN || reduction->op == REDUCT_ARGMAX;
    size_t count = 0;
    for (size_t i = 0; i < last && count < MOST; i++)
        if (all->group[i] == group) {
            values_put_bits(type, x, count, values_bits(type, all->x, i));
            values_put_bits(type, y, count, values_bits(type, all->y, i));
            place[count++] = i;
        }
    oracle_read(&all->oracle, type->type, x, test_operator(reduction->op)->inputs == 2 ? y : NULL, count);
    struct oracle_result expected = oracle_expect(&all->oracle, reduction);
    struct test_outcome got = test_outcome();
    got.status = reduct_table_result(table, which, REDUCT_DEFAULT, group, 1, got.bytes, NULL, &got.error);
    if (index && expected.status == REDUCT_OK)
        memcpy(expected.bytes, &place[*(uint64_t *)(void *)expected.bytes], sizeof *place);
    if (got.status != expected.status || memcmp(got.bytes, expected.bytes, sizeof got.bytes) != 0)
        test_fail("%s of %s, %s, group %llu of %llu elements: status %d rather than %d, or other bits",
                  reduct_operator_name(reduction->op), type->name, where, (unsigned long long)group,
                  (unsigned long long)count, (int)got.status, (int)expected.status);
}

static unsigned char *bytes_of(const reduct_table *table, size_t *bytes) {
    test_status(reduct_table_save(table, NULL, bytes, NULL), REDUCT_OK);
    unsigned char *saved = test_alloc(*bytes);
    test_status(reduct_table_save(table, saved, bytes, NULL), REDUCT_OK);
    return saved;
}

static void assert_holds(const reduct_table *table, const unsigned char *bytes, size_t count, const char *where) {
    size_t own;
    unsigned char *saved = bytes_of(table, &own);
    if (own != count || memcmp(saved, bytes, count) != 0)
        test_fail("%s: the table does not hold what it should", where);
    free(saved);
}

/* Reduces in one of the ways; each group of the first, or so many of them, are the oracle's, and all that is saved is what one table
 * saves. Ranks that get nothing have what they had. */
static void check_tables(struct rng *rng, struct grouped *all, struct ranks *ranks, int way, uint64_t checked) {
    unsigned char *before[RANKS];
    size_t bytes_before[RANKS], bytes = 0;
    const size_t last = all->cut[ranks->count];
    char where[64];
    for (int r = 0; r < ranks->count; r++) {
        char name[16];
        snprintf(name, sizeof name, "cuda:%d", ranks->of[r].device);
        ranks->of[r].table = table_of(all, rng_below(rng, 4) ? "cpu" : name, all->own[r], all->cut[r], all->cut[r + 1]);
        before[r] = bytes_of(ranks->of[r].table, &bytes_before[r]);
    }
    reduct_table *whole = table_of(all, "cpu", all->groups, 0, last);
    unsigned char *expected = bytes_of(whole, &bytes);
    reduce_ranks(ranks, way);
    assert_all_well(ranks);
    for (int r = 0, first = 1; r < ranks->count; r++) {
        const reduct_table *table = ranks->of[r].table;
        snprintf(where, sizeof where, "rank %d of %d, way %d", r, ranks->count, way);
        assert_holds(table, gets(way, r) ? expected : before[r], gets(way, r) ? bytes : bytes_before[r], where);
        if (!gets(way, r) || !first) /* others hold the same */
            continue;
        first = 0;
        assert_true(reduct_table_groups(table) == all->groups);
        for (size_t which = 0; which < all->reductions; which++)
            for (uint64_t g = 0; g < all->groups && g < checked; g++)
                check_group(all, table, which, all->groups > checked ? rng_below(rng, all->groups) : g, last, where);
    }
    for (int r = 0; r < ranks->count; r++) {
        free(before[r]);
        reduct_table_destroy(ranks->of[r].table);
    }
    reduct_table_destroy(whole);
    free(expected);
}

static int any_way(struct rng *rng, int ranks) {
    return TOGETHER + (int)rng_below(rng, 2 + (uint64_t)ranks);
}

/* Every operator that tables have of every type, with every policy for NaN, in one table; on every number of ranks. */
static void products(void **state) {
    (void)state;
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 510);
    static struct grouped all;
    open_grouped(&all, MOST);
    oracle_init(&all.oracle);
    for (int count = 1; count <= most_ranks; count++) {
        struct ranks ranks = shared_ranks(count);
        for (size_t t = 0; t < element_count; t++)
            for (int nan = 0; nan < (elements[t]->class == FLOAT ? 3 : 1); nan++)
                for (uint32_t flags = 0; flags < 2; flags++) {
                    all.type = elements[t];
                    all.reductions = 0;
                    all.two = false;
                    for (size_t o = 0; o < test_operator_count; o++) {
                        reduct_reduction reduction = {.op = test_operators[o].op, .element = all.type->type};
                        if (!oracle_has(reduction.op, all.type->type) || !has_tables(&reduction))
                            continue;
                        reduction = test_reduction(reduction.op, all.type->type,
                                                   test_pick_result(&rng, reduction.op, all.type->type));
                        reduction.nan = (reduct_nan)nan;
                        reduction.flags =
                            flags ? (uint32_t)rng_below(&rng, 4) : 0; /* 0: integers that do not fit fail */
                        ask(&all, reduction);
                    }
                    assert_in_range(all.reductions, 10, REDUCTIONS);
                    fill_few(&rng, &all, count, nan == REDUCT_NAN_ERROR);
                    check_tables(&rng, &all, &ranks, any_way(&rng, count), UINT64_MAX);
                }
    }
    oracle_clear(&all.oracle);
    close_grouped(&all);
}

/* So many groups that they go in several blocks and messages. */
static void long_tables(void **state) {
    (void)state;
    enum { SOME = 9000, MANY = 150000, CHECKED = 10, ASKED = 3 };
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    struct rng rng = rng_of(test_seed() + 511);
    static struct grouped all;
    open_grouped(&all, RANKS * MANY);
    oracle_init(&all.oracle);
    for (uint64_t i = 0, times = test_scaled(24, 6); i < times; i++) {
        const int count = most_ranks - (int)(i / 3 % (uint64_t)most_ranks);
        const reduct_nan nan = rng_below(&rng, 2) ? REDUCT_NAN_IGNORE : REDUCT_NAN_PROPAGATE;
        struct ranks ranks = shared_ranks(count);
        all.type = rng_below(&rng, 2) ? test_type(REDUCT_F64) : elements[rng_below(&rng, element_count)];
        all.reductions = 0;
        all.two = false;
        for (size_t k = 0; k < ASKED; k++)
            ask(&all, any_reduction(&rng, all.type, nan));
        fill_many(&rng, &all, count, i % 6 ? SOME : MANY);
        check_tables(&rng, &all, &ranks, any_way(&rng, count), CHECKED);
    }
    oracle_clear(&all.oracle);
    close_grouped(&all);
}

/* Bits that more than one rank has, in long tables: what is counted for each is zero, odd or even. */
static void bits(void **state) {
    (void)state;
    enum { GROUPS = 70000 };
    static const reduct_operator ops[] = {REDUCT_AND, REDUCT_OR, REDUCT_XOR, REDUCT_ARGMAX};
    struct rng rng = rng_of(test_seed() + 512);
    for (int count = 1; count <= most_ranks; count++) {
        uint64_t *x = test_alloc(GROUPS * sizeof *x), *expected = test_alloc(4 * GROUPS * sizeof *expected);
        uint32_t *group = test_alloc(GROUPS * sizeof *group);
        uint64_t *best = test_alloc(GROUPS * sizeof *best);
        reduct_reduction reductions[4];
        struct ranks ranks = shared_ranks(count);
        for (size_t o = 0; o < 4; o++)
            reductions[o] = test_reduction(ops[o], REDUCT_U64, REDUCT_DEFAULT);
        for (int r = 0; r < count; r++) {
            for (size_t g = 0; g < GROUPS; g++) {
                const uint64_t kind = rng_below(&rng, 4);
                x[g] = kind == 0 ? 0 : kind == 1 ? UINT64_MAX : kind == 2 ? (uint64_t)1 << 63 : rng_next(&rng);
                group[g] = (uint32_t)g;
                expected[g] = r ? expected[g] & x[g] : x[g];
                expected[GROUPS + g] = (r ? expected[GROUPS + g] : 0) | x[g];
                expected[2 * GROUPS + g] = (r ? expected[2 * GROUPS + g] : 0) ^ x[g];
                if (r == 0 || x[g] > best[g]) {
                    best[g] = x[g];
                    expected[3 * GROUPS + g] = (uint64_t)r * GROUPS + g;
                }
            }
            const reduct_table_options options = {
                .reductions = reductions, .reduction_count = 4, .groups = GROUPS, .device = "cpu", .threads = 1};
            const reduct_table_batch batch = {.x = x, .count = GROUPS, .indices = group, .index = REDUCT_U32};
            test_status(reduct_table_create(&options, &ranks.of[r].table, NULL), REDUCT_OK);
            test_status(reduct_table_add(ranks.of[r].table, &batch, NULL), REDUCT_OK);
        }
        reduce_ranks(&ranks, EVERYONE);
        assert_all_well(&ranks);
        for (int r = 0; r < count; r++) {
            for (size_t o = 0; o < 4; o++) {
                test_status(reduct_table_result(ranks.of[r].table, o, REDUCT_DEFAULT, 0, GROUPS, x, NULL, NULL),
                            REDUCT_OK);
                assert_memory_equal(x, expected + o * GROUPS, GROUPS * sizeof *x);
            }
            reduct_table_destroy(ranks.of[r].table);
        }
        free(x);
        free(expected);
        free(group);
        free(best);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Tables that devices have
 * ------------------------------------------------------------------------------------------------------------------ */

/* What a rank's table is like: all of it pending; of which some is on the host, too; on the host alone; of values that are a little, or
 * too far, from those of others: for the memory that these have, or for any. */
enum kind { PENDING, BESIDE, AT_HOME, NEAR, FAR, FARTHEST, KINDS };

/* One table of each rank, another of the same, and the CPU's of what all have. */
struct devices {
    struct ranks *ranks;
    reduct_reduction reduction[REDUCTIONS];
    size_t reductions;
    const struct test_type *type;
    uint64_t groups;
    reduct_table *again[RANKS], *whole;
};

static reduct_table *table_on(const struct devices *all, const char *device) {
    const reduct_table_options options = {.reductions = all->reduction,
                                          .reduction_count = all->reductions,
                                          .groups = all->groups,
                                          .device = device,
                                          .threads = 1};
    reduct_table *made = NULL;
    test_status(reduct_table_create(&options, &made, NULL), REDUCT_OK);
    return made;
}

static void add_batch(struct rng *rng, const struct devices *all, int rank, int exponent) {
    enum { COUNT = 300 };
    double x[COUNT], y[COUNT];
    uint32_t group[COUNT];
    const bool is_float = all->type->class == FLOAT;
    bool two = false;
    for (size_t i = 0; i < all->reductions; i++)
        two = two || test_operator(all->reduction[i].op)->inputs == 2;
    for (size_t i = 0; i < COUNT; i++) {
        const double value = (double)(1 + rng_below(rng, 1000));
        values_put(all->type, x, i, is_float ? ldexp(rng_next(rng) & 1 ? value : -value, exponent) : value / 10);
        values_put(all->type, y, i, (double)(1 + rng_below(rng, 100)));
        group[i] = (uint32_t)rng_below(rng, all->groups);
    }
    const reduct_table_batch batch = {
        .x = x, .y = two ? y : NULL, .count = COUNT, .indices = group, .index = REDUCT_U32};
    reduct_table *const tables[] = {all->ranks->of[rank].table, all->again[rank], all->whole};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        test_status(reduct_table_add(tables[t], &batch, NULL), REDUCT_OK);
}

/* Two batches each, of which the second may go to the host. */
static void fill_devices(struct rng *rng, struct devices *all, const enum kind *kinds) {
    const bool is_long = all->type->size == 8;
    const int exponents[KINDS] = {[FAR] = is_long ? -250 : -90, [FARTHEST] = is_long ? -700 : -90};
    for (int r = 0; r < all->ranks->count; r++) {
        const enum kind kind = kinds[r];
        char name[16];
        snprintf(name, sizeof name, "cuda:%d", all->ranks->of[r].device);
        all->ranks->of[r].table = table_on(all, kind == AT_HOME ? "cpu" : name);
        all->again[r] = table_on(all, "cpu");
        for (int batch = 0; batch < 2; batch++) {
            rd_cuda_table_least = kind == BESIDE && batch ? 1 << 14 : 200;
            add_batch(rng, all, r, kind == NEAR ? r - 5 : exponents[kind]);
        }
        rd_cuda_table_least = 200;
    }
}

static struct rd_cuda_context *context_of(const struct rank *rank) {
    const struct rd_cuda_pending *pending = rd_cuda_pending_of(rank->table);
    return pending ? pending->context : NULL;
}

static bool is_pending(const struct rank *rank) {
    return rd_cuda_pending_all(rank->table, context_of(rank)) != NULL;
}

static void assert_same(const reduct_table *table, const reduct_table *expected, const char *where) {
    size_t bytes;
    unsigned char *saved = bytes_of(expected, &bytes);
    assert_holds(table, saved, bytes, where);
    free(saved);
}

/* Reduces in one of the ways, and again: the second time to what the first one came to on as many ranks as get it. */
static void reduce_devices(struct rng *rng, struct devices *all, const enum kind *kinds, int way) {
    struct ranks *ranks = all->ranks;
    bool pending = true, far = false;
    char where[64];
    all->whole = table_on(all, "cpu");
    fill_devices(rng, all, kinds);
    for (int r = 0; r < ranks->count; r++) {
        pending = pending && is_pending(&ranks->of[r]);
        far = far || kinds[r] >= FAR;
        assert_true(is_pending(&ranks->of[r]) == (kinds[r] != BESIDE && kinds[r] != AT_HOME));
    }
    for (int times = 0; times < 2; times++) {
        reduct_table *sum = table_on(all, "cpu");
        for (int r = 0; r < ranks->count; r++)
            test_status(reduct_table_merge(sum, all->again[r], NULL, NULL), REDUCT_OK);
        assert_same(sum, times ? sum : all->whole, "the sum");
        reduce_ranks(ranks, way);
        assert_all_well(ranks);
        for (int r = 0; r < ranks->count; r++) {
            if (gets(way, r)) {
                test_status(reduct_table_swap(all->again[r], sum, NULL), REDUCT_OK);
                reduct_table_reset(sum);
                test_status(reduct_table_merge(sum, all->again[r], NULL, NULL), REDUCT_OK);
            }
            if (!far) /* nothing of it came to the host; of what was there all did */
                assert_true(is_pending(&ranks->of[r]) == (pending && all->reductions < 9));
        }
        reduct_table_destroy(sum);
    }
    if (pending && !far && rng_next(rng) & 1) /* goes on being added to */
        for (int r = 0; r < ranks->count; r++)
            add_batch(rng, all, r, 0);
    for (int r = 0; r < ranks->count; r++) {
        snprintf(where, sizeof where, "rank %d of %d, way %d", r, ranks->count, way);
        assert_same(ranks->of[r].table, all->again[r], where);
        reduct_table_destroy(ranks->of[r].table);
        reduct_table_destroy(all->again[r]);
    }
    reduct_table_destroy(all->whole);
}

/* Sums that are pending on all ranks stay on the devices; others go the other way, with the same bits. */
static void on_devices(void **state) {
    (void)state;
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_MEAN, REDUCT_NORM1,        REDUCT_SUMSQ,
                                          REDUCT_DOT, REDUCT_VAR,  REDUCT_WEIGHTED_MEAN};
    static const reduct_type types[] = {REDUCT_F64, REDUCT_F64, REDUCT_F32, REDUCT_I32};
    struct rng rng = rng_of(test_seed() + 514);
    for (uint64_t i = test_scaled(120, 30); i-- > 0;) {
        struct ranks ranks = shared_ranks(1 + (int)rng_below(&rng, (uint64_t)most_ranks));
        struct devices all = {.ranks = &ranks, .groups = rng_next(&rng) & 1 ? 1 + rng_below(&rng, 40) : 250};
        enum kind kinds[RANKS];
        all.type = test_type(types[rng_below(&rng, sizeof types / sizeof *types)]);
        const size_t count = 1 + rng_below(&rng, 3);
        for (size_t o = 0; o < sizeof ops / sizeof *ops && all.reductions < count; o++)
            if (oracle_has(ops[o], all.type->type) && (rng_below(&rng, 3) == 0 || all.reductions == 0))
                all.reduction[all.reductions++] = test_reduction(ops[o], all.type->type, REDUCT_DEFAULT);
        const uint64_t mixed = rng_below(&rng, 4);
        for (int r = 0; r < ranks.count; r++)
            kinds[r] = mixed == 0           ? (enum kind)rng_below(&rng, KINDS)
                       : mixed == 1         ? rng_next(&rng) & 1 ? FAR : PENDING
                       : rng_next(&rng) & 1 ? NEAR
                                            : PENDING;
        for (int r = 0; r < ranks.count; r++)
            if (kinds[r] >= FAR && all.type->class != FLOAT)
                kinds[r] = PENDING;
        reduce_devices(&rng, &all, kinds, any_way(&rng, ranks.count));
    }
}

/* Ranks whose tables have other groups, or more states than are told of: the other way. */
static void not_on_devices(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 515);
    struct ranks ranks = shared_ranks(most_ranks);
    struct devices all = {.ranks = &ranks, .groups = 20, .type = test_type(REDUCT_F64)};
    enum kind kinds[RANKS] = {PENDING};
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_NORM1, REDUCT_SUMSQ, REDUCT_DOT, REDUCT_WEIGHTED_MEAN};
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) /* a state each */
        for (int nan = 0; nan < 2; nan++) {
            all.reduction[all.reductions] = test_reduction(ops[o], REDUCT_F64, REDUCT_DEFAULT);
            all.reduction[all.reductions++].nan = (reduct_nan)nan;
        }
    reduce_devices(&rng, &all, kinds, EVERYONE);
    all.reductions = 1;
    all.whole = table_on(&all, "cpu");
    fill_devices(&rng, &all, kinds);
    const int last = ranks.count - 1;
    test_status(reduct_table_resize(ranks.of[last].table, 25, NULL), REDUCT_OK);
    test_status(reduct_table_resize(all.whole, 25, NULL), REDUCT_OK);
    add_batch(&rng, &all, last, 0);
    assert_true(is_pending(&ranks.of[last]));
    reduce_ranks(&ranks, TOGETHER);
    assert_all_well(&ranks);
    for (int r = 0; r < ranks.count; r++) {
        assert_same(ranks.of[r].table, all.whole, "more groups on one rank");
        reduct_table_destroy(ranks.of[r].table);
        reduct_table_destroy(all.again[r]);
    }
    reduct_table_destroy(all.whole);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Errors: whatever one rank meets, all say
 * ------------------------------------------------------------------------------------------------------------------ */

static reduct_table *small_table(const reduct_reduction *reduction, uint64_t groups) {
    const reduct_table_options options = {
        .reductions = reduction, .reduction_count = 1, .groups = groups, .device = "cpu", .threads = 1};
    reduct_table *made = NULL;
    test_status(reduct_table_create(&options, &made, NULL), REDUCT_OK);
    return made;
}

static const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64},
                              greatest = {.op = REDUCT_MAX, .element = REDUCT_F64};

/* Gives each rank a table of one group, which holds 1. */
static void make_small(struct ranks *ranks) {
    static const double one = 1;
    for (int r = 0; r < ranks->count; r++) {
        ranks->of[r].table = small_table(&sum, 1);
        test_status(reduct_table_add_group(ranks->of[r].table, 0, &one, NULL, 1, NULL), REDUCT_OK);
    }
}

static void destroy_tables(struct ranks *ranks) {
    for (int r = 0; r < ranks->count; r++)
        reduct_table_destroy(ranks->of[r].table);
}

static double value_of(const reduct_table *table) {
    double value = 0;
    test_status(reduct_table_result(table, 0, REDUCT_DEFAULT, 0, 1, &value, NULL, NULL), REDUCT_OK);
    return value;
}

static void all_say(void **state) {
    (void)state;
    struct ranks ranks = shared_ranks(most_ranks);
    char named[32];
    make_small(&ranks);
    struct rank *last = &ranks.of[ranks.count - 1];
    reduct_table *own = last->table, *other = small_table(&greatest, 1);
    static const int ways[] = {EVERYONE, 0, TOGETHER};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        snprintf(named, sizeof named, "rank %d: table: null", ranks.count - 1);
        last->table = NULL;
        reduce_ranks(&ranks, ways[w]);
        assert_failed(&ranks, REDUCT_ERROR_ARGUMENT, named);
        last->table = other;
        if (ranks.count > 1) {
            reduce_ranks(&ranks, ways[w]);
            assert_failed(&ranks, REDUCT_ERROR_MISMATCH, "reductions");
        }
        last->table = own;
    }
    static const int roots[] = {-1, -2, INT32_MIN, INT32_MAX, RANKS};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        for (int r = 0; r < ranks.count; r++)
            ranks.of[r].root = roots[i];
        if (roots[i] == EVERYONE) { /* which reduce_one() takes for all */
            reduct_error error;
            if (ranks.count == 1)
                test_status(reduct_nccl_reduce_table(own, -1, last->comm, last->stream, &error), REDUCT_ERROR_ARGUMENT);
            continue;
        }
        reduce_apart(&ranks);
        assert_failed(&ranks, REDUCT_ERROR_ARGUMENT, "rank 0: root");
    }
    for (int r = 0; r < ranks.count; r++)
        ranks.of[r].root = r ? 1 : 0;
    reduce_apart(&ranks);
    if (ranks.count > 1)
        assert_failed(&ranks, REDUCT_ERROR_MISMATCH, "root");
    for (int r = 0; r < ranks.count; r++)
        ranks.of[r].root = r ? 0 : EVERYONE;
    if (ranks.count > 1) {
        reduce_apart(&ranks);
        assert_failed(&ranks, REDUCT_ERROR_MISMATCH, "root");
        for (int r = 0; r < ranks.count; r++)
            assert_true(value_of(ranks.of[r].table) == 1);
    }
    destroy_tables(&ranks); /* all is well after that */
    make_small(&ranks);
    reduce_ranks(&ranks, EVERYONE);
    assert_all_well(&ranks);
    for (int r = 0; r < ranks.count; r++)
        assert_true(value_of(ranks.of[r].table) == ranks.count);
    reduct_table_destroy(other);
    destroy_tables(&ranks);
}

/* 2^62 elements on each rank: together more than 2^63 on three, and as many on two. */
static void too_many(void **state) {
    (void)state;
    struct ranks ranks = shared_ranks(most_ranks);
    make_small(&ranks);
    reduct_table *doubling = small_table(&sum, 1);
    for (int r = 0; r < ranks.count; r++)
        for (int i = 0; i < 62; i++) {
            reduct_table_reset(doubling);
            test_status(reduct_table_merge(doubling, ranks.of[r].table, NULL, NULL), REDUCT_OK);
            test_status(reduct_table_merge(ranks.of[r].table, doubling, NULL, NULL), REDUCT_OK);
        }
    reduce_ranks(&ranks, EVERYONE);
    if (ranks.count > 2)
        assert_failed(&ranks, REDUCT_ERROR_TOO_LARGE, "2^63");
    else
        assert_all_well(&ranks);
    for (int r = 0; r < ranks.count; r++)
        assert_true(reduct_table_count(ranks.of[r].table, 0, 0) ==
                    (ranks.count > 2 ? (uint64_t)1 << 62 : (uint64_t)ranks.count << 62));
    reduct_table_destroy(doubling);
    destroy_tables(&ranks);
}

/* A sum of integers that fits on each rank and not in all: a result that fails, alike on all ranks; other groups' do not. */
static void overflow(void **state) {
    (void)state;
    static const int64_t x[] = {INT64_MAX, 5};
    static const uint32_t group[] = {0, 1};
    const reduct_reduction of_integers = test_reduction(REDUCT_SUM, REDUCT_I64, REDUCT_DEFAULT);
    const reduct_table_batch batch = {.x = x, .count = 2, .indices = group, .index = REDUCT_U32};
    struct ranks ranks = shared_ranks(most_ranks);
    for (int r = 0; r < ranks.count; r++) {
        ranks.of[r].table = small_table(&of_integers, 2);
        test_status(reduct_table_add(ranks.of[r].table, &batch, NULL), REDUCT_OK);
    }
    reduce_ranks(&ranks, EVERYONE);
    assert_all_well(&ranks);
    for (int r = 0; r < ranks.count; r++) {
        int64_t got = 77;
        test_status(reduct_table_result(ranks.of[r].table, 0, REDUCT_DEFAULT, 0, 1, &got, NULL, NULL),
                    ranks.count > 1 ? REDUCT_ERROR_OVERFLOW : REDUCT_OK);
        assert_true(got == (ranks.count > 1 ? 77 : INT64_MAX));
        test_status(reduct_table_result(ranks.of[r].table, 0, REDUCT_DEFAULT, 1, 1, &got, NULL, NULL), REDUCT_OK);
        assert_true(got == 5 * ranks.count);
    }
    destroy_tables(&ranks);
}

/* Memory that runs out on one rank, wherever it does. */
static void no_memory(void **state) {
    (void)state;
    struct rng rng = rng_of(test_seed() + 513);
    static struct grouped all;
    struct ranks ranks = shared_ranks(most_ranks);
    uint64_t failed = 0;
    open_grouped(&all, MOST);
    make_small(&ranks);
    reduce_ranks(&ranks, EVERYONE); /* so that devices have what ranks could not take part without */
    assert_all_well(&ranks);
    destroy_tables(&ranks);
    for (uint64_t i = test_scaled(8, 2); i-- > 0;) {
        all.type = test_type(REDUCT_F64);
        all.reductions = 0;
        all.two = false;
        ask(&all, test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT));
        ask(&all, any_reduction(&rng, all.type, REDUCT_NAN_PROPAGATE));
        fill_few(&rng, &all, ranks.count, false);
        struct rank *failing = &ranks.of[rng_below(&rng, (uint64_t)ranks.count)];
        unsigned char *before[RANKS];
        size_t bytes[RANKS];
        for (int r = 0; r < ranks.count; r++) { /* with as many groups as they grow to in any case */
            ranks.of[r].table = table_of(&all, "cpu", all.own[r], all.cut[r], all.cut[r + 1]);
            test_status(reduct_table_resize(ranks.of[r].table, all.groups, NULL), REDUCT_OK);
            before[r] = bytes_of(ranks.of[r].table, &bytes[r]);
        }
        for (long n = 0, done = 0; !done; n++) {
            failing->allocations = n;
            reduce_ranks(&ranks, EVERYONE);
            done = failing->error.status == REDUCT_OK;
            if (done)
                assert_all_well(&ranks);
            else
                assert_failed(&ranks, REDUCT_ERROR_OUT_OF_MEMORY, "rank ");
            for (int r = 0; r < ranks.count && !done; r++)
                assert_holds(ranks.of[r].table, before[r], bytes[r], "without memory");
            failed += !done;
        }
        failing->allocations = -1;
        for (int r = 0; r < ranks.count; r++) {
            reduct_table_destroy(ranks.of[r].table);
            free(before[r]);
        }
    }
    assert_true(failed > 10);
    close_grouped(&all);
}

static void check_refused(const reduct_nccl_table *ranks, size_t count, reduct_status status, const char *named) {
    reduct_error error = {.message = ""};
    if (reduct_nccl_allreduce_table_ranks(ranks, count, &error) != status || !strstr(error.message, named))
        test_fail("expected status %d and '%s', got %d: %s", (int)status, named, (int)error.status, error.message);
    assert_int_equal(reduct_nccl_allreduce_table_ranks(ranks, count, NULL), status);
}

static void refused(void **state) {
    (void)state;
    struct ranks ranks = shared_ranks(most_ranks);
    reduct_nccl_table all[RANKS];
    rd_cu_graph graph = NULL;
    reduct_error error;
    make_small(&ranks);
    for (int r = 0; r < ranks.count; r++)
        all[r] = (reduct_nccl_table){ranks.of[r].table, ranks.of[r].comm, ranks.of[r].stream, {0}};
    const size_t count = (size_t)ranks.count, last = count - 1;
    check_refused(NULL, 1, REDUCT_ERROR_ARGUMENT, "ranks: null pointer");
    check_refused(all, 0, REDUCT_ERROR_ARGUMENT, "rank_count");
    char named[32];
    snprintf(named, sizeof named, "ranks[%zu].comm", last);
    all[last].comm = NULL;
    check_refused(all, count, REDUCT_ERROR_ARGUMENT, named);
    test_status(reduct_nccl_allreduce_table(all[0].table, NULL, NULL, &error), REDUCT_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "comm: null pointer"));
    all[last].comm = ranks.of[last].comm;
    all[last].reserved[3] = 1;
    check_refused(all, count, REDUCT_ERROR_ARGUMENT, "reserved");
    all[last].reserved[3] = 0;
    if (count > 1) {
        all[last].table = all[0].table;
        check_refused(all, count, REDUCT_ERROR_ARGUMENT, "table: is that of rank 0, too");
        all[last].table = ranks.of[last].table;
    }
    CU(gpu.driver->cuCtxSetCurrent(ranks.of[last].context));
    CU(gpu.cuStreamBeginCapture(ranks.of[last].stream, 0));
    snprintf(named, sizeof named, "ranks[%zu].stream", last);
    check_refused(all, count, REDUCT_ERROR_UNSUPPORTED, named);
    CU(gpu.cuStreamEndCapture(ranks.of[last].stream, &graph));
    CU(gpu.cuGraphDestroy(graph));
    CU(gpu.driver->cuCtxSetCurrent(gpu.primary));
    for (int r = 0; r < ranks.count; r++)
        assert_true(value_of(ranks.of[r].table) == 1);
    test_status(reduct_nccl_allreduce_table_ranks(all, count, NULL), REDUCT_OK);
    for (int r = 0; r < ranks.count; r++)
        assert_true(value_of(ranks.of[r].table) == ranks.count);
    destroy_tables(&ranks);
}

/* A communicator that NCCL says is broken ends the call. */
static void broken(void **state) {
    (void)state;
    struct ranks ranks;
    if (!break_emulated)
        skip(); /* as what is left of NCCL would be waited for */
    open_ranks(&ranks, most_ranks);
    make_small(&ranks);
    break_emulated(ranks.of[0].comm);
    reduce_ranks(&ranks, EVERYONE);
    assert_failed(&ranks, REDUCT_ERROR_DEVICE_LOST, "NCCL");
    destroy_tables(&ranks);
    close_ranks(&ranks);
}

/* The same when ranks have told each other that all they hold is pending: the tables are of no use until they are reset. */
static void broken_on_devices(void **state) {
    (void)state;
    static const int ways[] = {TOGETHER, EVERYONE, 0};
    if (!break_after)
        skip();
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct rng rng = rng_of(test_seed() + 516);
        struct ranks ranks;
        struct devices all = {.ranks = &ranks, .groups = 20, .type = test_type(REDUCT_F64)};
        enum kind kinds[RANKS] = {PENDING};
        open_ranks(&ranks, most_ranks);
        all.reduction[all.reductions++] = test_reduction(REDUCT_VAR, REDUCT_F64, REDUCT_DEFAULT);
        all.whole = table_on(&all, "cpu");
        fill_devices(&rng, &all, kinds);
        break_after(ranks.of[0].comm, 1);
        reduce_ranks(&ranks, ways[w]);
        assert_failed(&ranks, REDUCT_ERROR_DEVICE_LOST, "NCCL");
        reduct_table_destroy(all.whole);
        all.whole = table_on(&all, "cpu");
        for (int r = 0; r < ranks.count; r++) {
            if (ways[w] == TOGETHER)
                assert_false(is_pending(&ranks.of[r]));
            reduct_table_reset(ranks.of[r].table);
            reduct_table_reset(all.again[r]);
            add_batch(&rng, &all, r, 0);
            assert_true(is_pending(&ranks.of[r]));
            assert_same(ranks.of[r].table, all.again[r], "after a reset");
            reduct_table_destroy(ranks.of[r].table);
            reduct_table_destroy(all.again[r]);
        }
        reduct_table_destroy(all.whole);
        close_ranks(&ranks);
    }
}

int main(void) {
    const char *why = "";
    if (!gpu_open(&why) || !(nccl = rd_nccl_open(&why))) {
        printf("tables over GPUs: not tested: %s\n", why);
        return getenv("REDUCT_REQUIRE_GPU") && !gpu.driver ? 1 : SKIPPED;
    }
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL), *found = NULL;
    if (library && (found = dlsym(library, "emulated_nccl_break")))
        memcpy(&break_emulated, &found, sizeof found);
    if (library && (found = dlsym(library, "emulated_nccl_break_after")))
        memcpy(&break_after, &found, sizeof found);
    most_ranks = break_emulated || gpu.driver->devices > RANKS ? RANKS : gpu.driver->devices;
    rd_cuda_table_least = 200; /* so that some batches go to the device */
    if (most_ranks < 2)
        printf("tables over GPUs: not tested with more than one rank: there is one GPU\n");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),   cmocka_unit_test(long_tables),    cmocka_unit_test(bits),
        cmocka_unit_test(all_say),    cmocka_unit_test(too_many),       cmocka_unit_test(overflow),
        cmocka_unit_test(no_memory),  cmocka_unit_test(refused),        cmocka_unit_test(broken),
        cmocka_unit_test(on_devices), cmocka_unit_test(not_on_devices), cmocka_unit_test(broken_on_devices),
    };
    const int failed = cmocka_run_group_tests_name("nccl_tables", tests, NULL, NULL);
    if (!failed) /* otherwise a stream might never be done */
        close_shared_ranks();
    return failed;
}
