/* Reductions over ranks: started by an MPI launcher on any number of ranks, of which each knows all of the data and so what must
 * come out, to the last bit. The first argument chooses what is tested: see main().
 *
 * From the survival list: "Same bits: every permutation and partition of the data, merged in any order".
 */
#include <reduct/mpi.h>

#include <dlfcn.h>
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calls.h"
#include "support.h"
#include "values.h"

enum { MOST = 2000, LONG = 5000, FIELDS_MOST = 6, RESULT = 64 };

static MPI_Comm ranks; /* that a test is about: all, or some of them */
static int rank, size, all_ranks;

#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: rank %d of %d: %s: ", __FILE__, __LINE__, rank, size, #condition);                 \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fputc('\n', stderr);                                                                                       \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                              \
        }                                                                                                              \
    } while (0)

/* ---------------------------------------------------------------------------------------------------------------------
 * Data, and how they are split: alike on all ranks, as all draw the same numbers
 * ------------------------------------------------------------------------------------------------------------------ */

struct data {
    const struct test_type *type;
    double x[LONG], y[LONG]; /* room for every type */
    size_t count;
    size_t *cut; /* where each rank's part begins; one more */
};

static void fill(struct rng *rng, struct data *data, const struct test_type *type) {
    const struct distribution *distribution;
    do
        distribution = &distributions[rng_below(rng, distribution_count)];
    while (!distribution_suits(distribution, type));
    data->type = type;
    data->count = rng_below(rng, rng_below(rng, 3) ? 60 : MOST);
    distribution->fill(rng, type, data->x, data->y, data->count);
    data->cut = data->cut ? data->cut : malloc(((size_t)all_ranks + 1) * sizeof *data->cut);
    data->cut[0] = 0;
    for (int r = 1; r < size; r++)
        data->cut[r] = data->cut[r - 1] + rng_below(rng, data->count - data->cut[r - 1] + 1);
    data->cut[size] = data->count;
}

static const void *at(const struct data *data, const double *array, size_t index) {
    return (const char *)array + index * data->type->size;
}

static reduct_mpi_field field_of(const struct data *data, const reduct_reduction *reduction, void *result) {
    const bool two = test_operator(reduction->op)->inputs == 2;
    const size_t first = data->cut[rank];
    return (reduct_mpi_field){.reduction = reduction,
                              .x = at(data, data->x, first),
                              .y = two ? at(data, data->y, first) : NULL,
                              .count = data->cut[rank + 1] - first,
                              .result = result};
}

static reduct_accumulator *accumulate(const struct data *data, const reduct_reduction *reduction, size_t first,
                                      size_t last, reduct_status *status, reduct_error *error) {
    reduct_accumulator *made = NULL;
    const bool two = test_operator(reduction->op)->inputs == 2;
    const reduct_accumulator_options options = {.reduction = reduction, .device = "cpu", .threads = 1};
    CHECK(reduct_accumulator_create(&options, &made, NULL) == REDUCT_OK, "no accumulator");
    *status = reduct_accumulator_add(made, at(data, data->x, first), two ? at(data, data->y, first) : NULL,
                                     last - first, error);
    return made;
}

/* What one process says of elements [0, last): the status, the index, and the result. */
static reduct_status expect(const struct data *data, const reduct_reduction *reduction, size_t last,
                            unsigned char result[RESULT], uint64_t *index) {
    reduct_error error = {.index = UINT64_MAX};
    reduct_status status;
    reduct_accumulator *all = accumulate(data, reduction, 0, last, &status, &error);
    if (status == REDUCT_OK)
        status = reduct_accumulator_result(all, REDUCT_DEFAULT, result, &error);
    *index = error.index;
    reduct_accumulator_destroy(all);
    return status;
}

static bool has_words(const reduct_reduction *reduction) {
    reduct_words form;
    return reduct_reduction_words(reduction, &form, NULL) == REDUCT_OK;
}

static reduct_reduction any_reduction(struct rng *rng, const struct test_type *type) {
    reduct_reduction reduction;
    do {
        const reduct_operator op = test_operators[rng_below(rng, test_operator_count)].op;
        if (!oracle_has(op, type->type))
            continue;
        reduction = test_reduction(op, type->type, REDUCT_DEFAULT);
        if (has_words(&reduction))
            break;
    } while (true);
    reduction.nan = (reduct_nan)rng_below(rng, 3);
    reduction.flags = (uint32_t)rng_below(rng, 4);
    return reduction;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Every split of data of all kinds
 * ------------------------------------------------------------------------------------------------------------------ */

typedef reduct_status call(const reduct_mpi_field *fields, size_t count, MPI_Comm comm, reduct_error *error);

static reduct_status call_last(const reduct_mpi_field *fields, size_t count, MPI_Comm comm, reduct_error *error) {
    return reduct_mpi_reduce(fields, count, size - 1, comm, error);
}

/* Ends what was begun with that status, if it was. */
static reduct_status end(reduct_status status, reduct_mpi_request *const *request, reduct_error *error) {
    for (int done = 0; status == REDUCT_OK && !done;)
        CHECK(reduct_mpi_test(*request, &done, NULL) == REDUCT_OK, "test");
    return status == REDUCT_OK ? reduct_mpi_wait(*request, error) : status;
}

static reduct_status call_later(const reduct_mpi_field *fields, size_t count, MPI_Comm comm, reduct_error *error) {
    reduct_mpi_request *request = NULL;
    return end(reduct_mpi_iallreduce(fields, count, comm, &request, error), &request, error);
}

/* The elements whose result a call gives to this rank; SIZE_MAX if none. */
static size_t elements_of(call *function, const struct data *data, int of) {
    if (function == reduct_mpi_scan)
        return data->cut[of + 1];
    if (function == reduct_mpi_exscan)
        return data->cut[of];
    return function != call_last || of == size - 1 ? data->count : SIZE_MAX;
}

static reduct_status accumulators_later(reduct_accumulator *const *accumulators, size_t count, MPI_Comm comm,
                                        reduct_error *error) {
    reduct_mpi_request *request = NULL;
    return end(reduct_mpi_iallreduce_accumulators(accumulators, count, comm, &request, error), &request, error);
}

/* What all ranks must say: the first that fails speaks. Of fields of which several fail that is one or the other. */
static void check_call(call *function, const struct data *data, const reduct_reduction *reductions, size_t count) {
    unsigned char results[FIELDS_MOST][RESULT], untouched[RESULT];
    reduct_mpi_field fields[FIELDS_MOST];
    memset(results, 0x5A, sizeof results);
    memset(untouched, 0x5A, sizeof untouched);
    for (size_t i = 0; i < count; i++)
        fields[i] = field_of(data, &reductions[i], results[i]);
    reduct_error error = {.index = 77};
    const reduct_status got = function(fields, count, ranks, &error);
    bool fails = false, found = false;
    for (size_t i = 0; i < count; i++)
        for (int r = 0; r < size; r++) {
            unsigned char expected[RESULT];
            uint64_t index;
            const size_t last = elements_of(function, data, r);
            const reduct_status status =
                expect(data, &reductions[i], last == SIZE_MAX ? data->count : last, expected, &index);
            fails = fails || status != REDUCT_OK;
            found = found || (status == got && index == error.index);
        }
    CHECK(fails == (got != REDUCT_OK), "status %d: %s", got, got ? error.message : "");
    CHECK(!fails || found, "status %d, index %llu, which is not what one process says: %s", got,
          (unsigned long long)error.index, error.message);
    for (size_t i = 0; i < count; i++) {
        unsigned char expected[RESULT];
        uint64_t index;
        memset(expected, 0x5A, sizeof expected);
        const size_t last = elements_of(function, data, rank);
        if (!fails && last != SIZE_MAX)
            expect(data, &reductions[i], last, expected, &index);
        CHECK(memcmp(results[i], expected, RESULT) == 0, "%s of %s, %zu fields: not the bits of one process",
              reduct_operator_name(reductions[i].op), data->type->name, count);
    }
    struct {
        int64_t status;
        uint64_t index;
        char message[240];
    } mine = {.status = got}, first;
    if (got != REDUCT_OK) {
        mine.index = error.index;
        memcpy(mine.message, error.message, strlen(error.message));
    }
    first = mine;
    MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, ranks);
    CHECK(memcmp(&first, &mine, sizeof first) == 0, "'%s' here, '%s' on rank 0", mine.message, first.message);
}

static void splits(struct rng *rng, uint64_t times) {
    static call *const calls[] = {reduct_mpi_allreduce, call_last, reduct_mpi_scan, reduct_mpi_exscan, call_later};
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    static struct data data;
    for (uint64_t i = 0; i < times; i++) {
        reduct_reduction reductions[FIELDS_MOST];
        fill(rng, &data, elements[rng_below(rng, element_count)]);
        const size_t count = rng_next(rng) & 1 ? 1 : 1 + rng_below(rng, FIELDS_MOST);
        for (size_t k = 0; k < count; k++)
            reductions[k] = any_reduction(rng, data.type);
        check_call(calls[rng_below(rng, 5)], &data, reductions, count);
    }
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Accumulators and tables
 * ------------------------------------------------------------------------------------------------------------------ */

/* A double of which little is usual: at the edges of what short messages hold, halfway between others, zero, not finite. */
static double odd_double(struct rng *rng) {
    const double sign = rng_below(rng, 2) ? -1 : 1, unit = ldexp(1, (int)rng_below(rng, 60) - 30);
    switch (rng_below(rng, 40)) {
    case 0:
        return sign * ldexp(1, 64 - (int)rng_below(rng, 2));
    case 1:
        return sign * ldexp(1, -128 - (int)rng_below(rng, 2));
    case 2:
        return sign * ldexp(0x1fffffffffffff, 11 + (int)rng_below(rng, 2));
    case 3:
        return rng_below(rng, 8) ? sign * 0.0 : sign * DBL_TRUE_MIN;
    case 4:
        return rng_below(rng, 8) ? sign * 0.0 : sign * (double)INFINITY;
    case 5:
        return rng_below(rng, 8) ? sign * 0.0 : (double)NAN;
    case 6:
        return sign * ldexp(1, (int)rng_below(rng, 190) - 127);
    case 7:
        return sign * (unit + unit * DBL_EPSILON);
    case 8:
        return sign * unit * DBL_EPSILON / 2;
    default:
        return sign * unit * (rng_below(rng, 2) ? 1 : rng_unit(rng));
    }
}

/* One, half a step of its neighbours, and what decides where that is rounded to. */
static double tie(struct rng *rng) {
    const int exponents[] = {0, -53, -100 - (int)rng_below(rng, 28)};
    return ldexp(rng_below(rng, 4) ? 1 : -1, exponents[rng_below(rng, 3)]);
}

/* Sums of few doubles, which need no accumulators, in any rounding mode; all zeros, too. */
static void few(struct rng *rng, uint64_t times) {
    static const int MODES[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static struct data data;
    for (uint64_t i = 0; i < times; i++) {
        reduct_reduction reductions[FIELDS_MOST + 2];
        reduct_mpi_field fields[FIELDS_MOST + 2];
        double results[FIELDS_MOST + 2];
        fill(rng, &data, test_type(REDUCT_F64));
        const uint64_t kind = rng_below(rng, 6), each = 1 + rng_below(rng, 18);
        const size_t count = 1 + rng_below(rng, FIELDS_MOST + 2);
        for (int r = 0; r < size; r++)
            data.cut[r + 1] = data.cut[r] + (kind == 1 ? 1 : rng_below(rng, each + 1));
        data.count = data.cut[size];
        for (size_t k = 0; k < data.count; k++)
            data.x[k] = kind == 0 ? rng_below(rng, 20) ? -0.0 : 0.0 : kind == 2 ? tie(rng) : odd_double(rng);
        for (size_t f = 0; f < count; f++) {
            reductions[f] = test_reduction(REDUCT_SUM, REDUCT_F64, REDUCT_DEFAULT);
            fields[f] = field_of(&data, &reductions[f], &results[f]);
            fields[f].device = rng_below(rng, 2) ? "cpu" : NULL;
        }
        unsigned char expected[RESULT];
        uint64_t index;
        expect(&data, &reductions[0], data.count, expected, &index);
        const int mode = fegetround();
        fesetround(MODES[i % 4]);
        const reduct_status status = reduct_mpi_allreduce(fields, count, ranks, NULL);
        fesetround(mode);
        CHECK(status == REDUCT_OK, "status %d", (int)status);
        for (size_t f = 0; f < count; f++)
            CHECK(memcmp(&results[f], expected, sizeof *results) == 0, "%a of few; one process says otherwise",
                  results[f]);
    }
}

static void assert_same(const reduct_accumulator *a, const reduct_accumulator *b, const char *what) {
    unsigned char bytes[2][4096];
    size_t sizes[2] = {sizeof bytes[0], sizeof bytes[1]};
    CHECK(reduct_accumulator_save(a, bytes[0], &sizes[0], NULL) == REDUCT_OK, "save");
    CHECK(reduct_accumulator_save(b, bytes[1], &sizes[1], NULL) == REDUCT_OK, "save");
    CHECK(sizes[0] == sizes[1] && memcmp(bytes[0], bytes[1], sizes[0]) == 0, "%s: not the state of one process", what);
}

static void check_accumulators(struct rng *rng, const struct data *data, const reduct_reduction *reductions,
                               size_t count) {
    reduct_accumulator *parts[40], *whole;
    const size_t first = data->cut[rank], last = data->cut[rank + 1];
    const uint64_t kind = rng_below(rng, 5);
    const int root = (int)rng_below(rng, (uint64_t)size);
    reduct_status status;
    for (size_t i = 0; i < count; i++)
        parts[i] = accumulate(data, &reductions[i], first, last, &status, NULL);
    status = kind == 0   ? reduct_mpi_allreduce_accumulators(parts, count, ranks, NULL)
             : kind == 1 ? reduct_mpi_reduce_accumulators(parts, count, root, ranks, NULL)
             : kind == 2 ? reduct_mpi_scan_accumulators(parts, count, ranks, NULL)
             : kind == 4 ? accumulators_later(parts, count, ranks, NULL)
                         : reduct_mpi_exscan_accumulators(parts, count, ranks, NULL);
    CHECK(status == REDUCT_OK, "status %d", status);
    const bool own = kind == 1 && rank != root;
    for (size_t i = 0; i < count; i++) {
        whole = accumulate(data, &reductions[i], own ? first : 0,
                           kind == 3          ? first
                           : kind == 2 || own ? last
                                              : data->count,
                           &status, NULL);
        assert_same(parts[i], whole, "accumulators");
        reduct_accumulator_destroy(whole);
        reduct_accumulator_destroy(parts[i]);
    }
}

static void accumulators(struct rng *rng, uint64_t times) {
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    static struct data data;
    for (uint64_t i = 0; i < times; i++) {
        reduct_reduction reductions[40];
        fill(rng, &data, elements[rng_below(rng, element_count)]);
        const size_t count = rng_next(rng) & 1 ? 1 : 1 + rng_below(rng, 40);
        const bool alike = rng_next(rng) & 1;
        for (size_t k = 0; k < count; k++) {
            reductions[k] = alike && k ? reductions[0] : any_reduction(rng, data.type);
            reductions[k].nan = REDUCT_NAN_PROPAGATE;
        }
        check_accumulators(rng, &data, reductions, count);
    }
}

/* Sums of doubles go in a short message where they lie in the middle of all exponents on all ranks: data within it, at its edges,
 * and on some ranks outside. */
static void middles(struct rng *rng, uint64_t times) {
    static const reduct_operator OPERATORS[] = {REDUCT_SUM,   REDUCT_MEAN, REDUCT_NORM1,
                                                REDUCT_SUMSQ, REDUCT_DOT,  REDUCT_NORM2};
    struct data data = {.cut = NULL};
    for (uint64_t i = 0; i < times; i++) {
        fill(rng, &data, test_type(REDUCT_F64));
        const size_t last = data.count < 40 ? data.count : 40; /* few, so that some ranks have none that is outside */
        const int center = rng_below(rng, 2) ? (int)rng_below(rng, 80) - 60 : (int)rng_below(rng, 400) - 200;
        for (size_t k = 0; k < last && i % 4; k++)
            data.x[k] = ldexp(rng_unit(rng) - 0.5, rng_below(rng, 20) ? center : -center),
            data.y[k] = ldexp(rng_unit(rng) - 0.5, center);
        const bool products = rng_below(rng, 2);
        const size_t fields = 1 + rng_below(rng, 3);
        reduct_reduction reductions[3];
        reduct_mpi_field given[3];
        double results[3] = {0};
        for (size_t f = 0; f < fields; f++) {
            reductions[f] =
                (reduct_reduction){.op = OPERATORS[3 * products + rng_below(rng, 3)], .element = REDUCT_F64};
            given[f] = field_of(&data, &reductions[f], &results[f]);
        }
        reduct_error error;
        const reduct_status status = reduct_mpi_allreduce(given, fields, ranks, &error);
        for (size_t f = 0; f < fields; f++) {
            unsigned char expected[RESULT];
            uint64_t index;
            const reduct_status wanted = expect(&data, &reductions[f], data.count, expected, &index);
            if (status != REDUCT_OK && wanted == REDUCT_OK)
                continue; /* another field */
            CHECK(status == wanted, "status %d rather than %d", (int)status, (int)wanted);
            CHECK(status != REDUCT_OK || memcmp(&results[f], expected, sizeof *results) == 0,
                  "%s about 2^%d: not the bits of one process", reduct_operator_name(reductions[f].op), center);
        }
    }
    free(data.cut);
}

/* What is called of accumulators, tables and words: whose results a rank then has, of its elements [first, last). */
enum { ALL, ROOT, SCAN, EXSCAN, LATER, KINDS };

static void elements_held(uint64_t kind, int root, const size_t *cut, size_t *first, size_t *last) {
    const bool own = kind == ROOT && rank != root;
    *first = own ? cut[rank] : 0;
    *last = kind == EXSCAN ? cut[rank] : kind == SCAN || own ? cut[rank + 1] : cut[size];
}

static reduct_status merge_words(uint64_t kind, int root, const reduct_reduction *reduction, int64_t *words,
                                 uint64_t rows) {
    reduct_mpi_request *request = NULL;
    switch (kind) {
    case ROOT:
        return reduct_mpi_reduce_words(reduction, words, rows, root, ranks, NULL);
    case SCAN:
        return reduct_mpi_scan_words(reduction, words, rows, ranks, NULL);
    case EXSCAN:
        return reduct_mpi_exscan_words(reduction, words, rows, ranks, NULL);
    case LATER:
        return end(reduct_mpi_iallreduce_words(reduction, words, rows, ranks, &request, NULL), &request, NULL);
    default:
        return reduct_mpi_allreduce_words(reduction, words, rows, ranks, NULL);
    }
}

static size_t within(size_t at, size_t begin, size_t end) {
    return at < begin ? begin : at > end ? end : at;
}

/* Rows of words that each are of some of the data. */
static void words(struct rng *rng, uint64_t times) {
    enum { ROWS = 700 };
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    static struct data data;
    for (uint64_t i = 0; i < times; i++) {
        reduct_words form;
        reduct_reduction reduction;
        fill(rng, &data, elements[rng_below(rng, element_count)]);
        do
            reduction = any_reduction(rng, data.type);
        while (reduct_reduction_words(&reduction, &form, NULL) != REDUCT_OK || form.rest == REDUCT_MERGE_IN_ORDER);
        reduction.nan = REDUCT_NAN_PROPAGATE;
        const size_t rows = 1 + rng_below(rng, ROWS), step = data.count / rows + 1;
        const uint64_t kind = rng_below(rng, KINDS);
        const int root = (int)rng_below(rng, (uint64_t)size);
        int64_t *table = malloc(rows * form.count * sizeof *table);
        size_t first = 0, last = 0;
        elements_held(kind, root, data.cut, &first, &last);
        for (size_t r = 0; r < rows; r++) {
            const size_t begin = within(r * step, 0, data.count), end = within(begin + step, 0, data.count);
            reduct_status status;
            reduct_accumulator *part = accumulate(&data, &reduction, within(data.cut[rank], begin, end),
                                                  within(data.cut[rank + 1], begin, end), &status, NULL);
            CHECK(reduct_accumulator_pack(part, table + r * form.count, NULL) == REDUCT_OK, "pack");
            reduct_accumulator_destroy(part);
        }
        CHECK(merge_words(kind, root, &reduction, table, rows) == REDUCT_OK, "words");
        for (size_t r = 0; r < rows; r++) {
            const size_t begin = within(r * step, 0, data.count), end = within(begin + step, 0, data.count);
            reduct_status status;
            reduct_accumulator *whole = accumulate(&data, &reduction, within(first, begin, end),
                                                   within(last, begin, end), &status, NULL),
                               *row = accumulate(&data, &reduction, 0, 0, &status, NULL);
            CHECK(reduct_accumulator_unpack(row, table + r * form.count, NULL) == REDUCT_OK, "unpack");
            assert_same(row, whole, "a row");
            reduct_accumulator_destroy(whole);
            reduct_accumulator_destroy(row);
        }
        free(table);
    }
}

enum { GROUPS = 20, REDUCTIONS = 3 };

/* Elements that have groups, and what is asked of them. */
struct grouped {
    const struct test_type *type;
    double *x, *y; /* room for every type */
    uint32_t *group;
    size_t *cut;
    reduct_reduction reduction[REDUCTIONS];
    bool two;
    uint64_t groups, own; /* of the table that has most; of this rank's */
    struct oracle oracle;
};

static const void *element_at(const struct grouped *all, const double *array, size_t index) {
    return (const char *)array + index * all->type->size;
}

/* A table of the elements of [first, last). */
static reduct_table *table_of(const struct grouped *all, uint64_t groups, size_t first, size_t last) {
    const reduct_table_options options = {
        .reductions = all->reduction, .reduction_count = REDUCTIONS, .groups = groups, .device = "cpu", .threads = 1};
    const reduct_table_batch batch = {.x = element_at(all, all->x, first),
                                      .y = all->two ? element_at(all, all->y, first) : NULL,
                                      .count = last - first,
                                      .indices = all->group + first,
                                      .index = REDUCT_U32};
    reduct_table *made = NULL;
    CHECK(reduct_table_create(&options, &made, NULL) == REDUCT_OK, "no table");
    CHECK(reduct_table_add(made, &batch, NULL) == REDUCT_OK, "adding to a table");
    return made;
}

/* Any reductions that tables have. */
static void fill_reductions(struct rng *rng, struct grouped *all) {
    const reduct_nan nan = rng_below(rng, 2) ? REDUCT_NAN_IGNORE : REDUCT_NAN_PROPAGATE;
    all->two = false;
    for (size_t i = 0; i < REDUCTIONS; i++) {
        size_t bytes;
        do
            all->reduction[i] = any_reduction(rng, all->type);
        while (reduct_state_size(&all->reduction[i], &bytes, NULL) != REDUCT_OK);
        all->reduction[i].nan = nan;
        all->two = all->two || test_operator(all->reduction[i].op)->inputs == 2;
    }
}

/* Few groups, of which ranks have different numbers. */
static void fill_groups(struct rng *rng, struct grouped *all, const struct test_type *type) {
    static struct data data;
    static uint32_t group[MOST];
    fill(rng, &data, type);
    all->type = type;
    all->x = data.x;
    all->y = data.y;
    all->group = group;
    all->cut = data.cut;
    fill_reductions(rng, all);
    all->groups = 0;
    for (int r = 0; r < size; r++) {
        const uint64_t groups = 1 + rng_below(rng, GROUPS);
        for (size_t i = data.cut[r]; i < data.cut[r + 1]; i++)
            group[i] = (uint32_t)rng_below(rng, groups);
        all->own = r == rank ? groups : all->own;
        all->groups = groups > all->groups ? groups : all->groups;
    }
}

static void *allocated(size_t bytes) {
    void *made = malloc(bytes);
    CHECK(made, "%zu bytes", bytes);
    return made;
}

/* Many groups, in stretches whose elements are of one kind, on all ranks, but for some here and there that are of another: some stretches lie
 * in few bits, others range widely, or are of infinities, NaN and zeros. Some groups have no element on some ranks, or on none. */
static void fill_many_groups(struct rng *rng, struct grouped *all, const struct test_type *type, uint64_t groups) {
    enum { STRETCH = 6000, ODD = 50 };
    size_t count = 0;
    all->type = type;
    all->groups = groups;
    fill_reductions(rng, all);
    const size_t most = (size_t)size * (size_t)groups;
    all->x = allocated(most * sizeof *all->x);
    all->y = allocated(most * sizeof *all->y);
    all->group = allocated(most * sizeof *all->group);
    all->cut = allocated(((size_t)size + 1) * sizeof *all->cut);
    const uint64_t kinds = rng_next(rng);
    for (int r = 0; r < size; r++) {
        struct rng stretches = rng_of(kinds); /* the same on all ranks */
        const uint64_t own = r == size / 2 ? groups : groups - rng_below(rng, groups / 4);
        all->cut[r] = count;
        all->own = r == rank ? own : all->own;
        for (uint64_t first = 0, some; first < own; first += some) {
            const uint64_t of_kind = 1 + rng_below(&stretches, STRETCH);
            const struct distribution *kind, *other;
            do
                kind = &distributions[rng_below(&stretches, distribution_count)];
            while (!distribution_suits(kind, type));
            do
                other = &distributions[rng_below(&stretches, distribution_count)];
            while (!distribution_suits(other, type));
            some = of_kind < own - first ? of_kind : own - first;
            const size_t elements = (size_t)rng_below(rng, some + 1), odd = elements / ODD;
            char *x = (char *)all->x + count * type->size, *y = (char *)all->y + count * type->size;
            kind->fill(rng, type, x, y, elements - odd);
            other->fill(rng, type, x + (elements - odd) * type->size, y + (elements - odd) * type->size, odd);
            for (size_t i = 0; i < elements; i++)
                all->group[count++] = (uint32_t)(first + rng_below(rng, some));
        }
    }
    all->cut[size] = count;
}

static void free_many_groups(struct grouped *all) {
    free(all->x);
    free(all->y);
    free(all->group);
    free(all->cut);
}

/* What the oracle, which has none of the library's code, says of a group of [first, last). */
static void check_group(struct grouped *all, const reduct_table *table, size_t which, uint64_t group, size_t first,
                        size_t last) {
    static double x[MOST], y[MOST];
    static uint64_t place[MOST];
    const struct test_type *type = all->type;
    const reduct_reduction *reduction = &all->reduction[which];
    const bool index = reduction->op == REDUCT_ARGMIN || reduction->op == REDUCT_ARGMAX;
    size_t count = 0;
    for (size_t i = first; i < last && count < MOST; i++)
        if (all->group[i] == group) {
            values_put_bits(type, x, count, values_bits(type, all->x, i));
            values_put_bits(type, y, count, values_bits(type, all->y, i));
            place[count++] = i - first;
        }
    oracle_read(&all->oracle, type->type, x, test_operator(reduction->op)->inputs == 2 ? y : NULL, count);
    struct oracle_result expected = oracle_expect(&all->oracle, reduction);
    struct test_outcome got = test_outcome();
    got.status = reduct_table_result(table, which, REDUCT_DEFAULT, group, 1, got.bytes, NULL, &got.error);
    if (index && expected.status == REDUCT_OK)
        memcpy(expected.bytes, &place[*(uint64_t *)(void *)expected.bytes], sizeof *place);
    CHECK(got.status == expected.status && memcmp(got.bytes, expected.bytes, sizeof got.bytes) == 0,
          "%s of %s, group %llu: not what the oracle says", reduct_operator_name(reduction->op), type->name,
          (unsigned long long)group);
}

static unsigned char *bytes_of(const reduct_table *table, size_t *bytes) {
    CHECK(reduct_table_save(table, NULL, bytes, NULL) == REDUCT_OK, "save");
    unsigned char *saved = malloc(*bytes);
    CHECK(reduct_table_save(table, saved, bytes, NULL) == REDUCT_OK, "save");
    return saved;
}

static bool holds(const reduct_table *table, const unsigned char *bytes, size_t count) {
    size_t own;
    unsigned char *saved = bytes_of(table, &own);
    const bool same = own == count && memcmp(saved, bytes, count) == 0;
    free(saved);
    return same;
}

static reduct_status merge_tables(uint64_t kind, int root, reduct_table *table) {
    reduct_mpi_request *request = NULL;
    switch (kind) {
    case ROOT:
        return reduct_mpi_reduce_table(table, root, ranks, NULL);
    case SCAN:
        return reduct_mpi_scan_table(table, ranks, NULL);
    case EXSCAN:
        return reduct_mpi_exscan_table(table, ranks, NULL);
    case LATER:
        return end(reduct_mpi_iallreduce_table(table, ranks, &request, NULL), &request, NULL);
    default:
        return reduct_mpi_allreduce_table(table, ranks, NULL);
    }
}

/* Each group's results, or those of some groups, are the oracle's, and what is saved is what one process saves. */
static void check_tables(struct rng *rng, struct grouped *all, uint64_t checked) {
    const uint64_t kind = rng_below(rng, KINDS);
    const int root = (int)rng_below(rng, (uint64_t)size);
    const uint64_t groups = kind == ROOT && rank != root ? all->own : all->groups;
    size_t first = 0, last = 0, bytes = 0;
    reduct_table *table = table_of(all, all->own, all->cut[rank], all->cut[rank + 1]);
    CHECK(merge_tables(kind, root, table) == REDUCT_OK, "a table");
    elements_held(kind, root, all->cut, &first, &last);
    CHECK(reduct_table_groups(table) == groups, "%llu groups rather than %llu",
          (unsigned long long)reduct_table_groups(table), (unsigned long long)groups);
    for (size_t which = 0; which < REDUCTIONS; which++)
        for (uint64_t g = 0; g < groups && g < checked; g++)
            check_group(all, table, which, groups > checked ? rng_below(rng, all->groups) % groups : g, first, last);
    reduct_table *whole = table_of(all, groups, first, last);
    unsigned char *expected = bytes_of(whole, &bytes);
    CHECK(holds(table, expected, bytes), "not what one process saves");
    free(expected);
    reduct_table_destroy(whole);
    reduct_table_destroy(table);
}

static void tables(struct rng *rng, uint64_t times) {
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    static struct grouped all;
    oracle_init(&all.oracle);
    for (uint64_t i = 0; i < times; i++) {
        fill_groups(rng, &all, elements[rng_below(rng, element_count)]);
        check_tables(rng, &all, UINT64_MAX);
    }
    oracle_clear(&all.oracle);
}

/* So many groups that they go in several blocks, and of few ranks in several messages. */
static void long_tables(struct rng *rng, uint64_t times) {
    enum { SOME = 9000, MANY = 70000, CHECKED = 20 };
    const struct test_type *elements[TEST_MAX_TYPES];
    const size_t element_count = test_elements(elements);
    static struct grouped all;
    oracle_init(&all.oracle);
    for (uint64_t i = 0; i < times; i++) {
        const struct test_type *type =
            rng_below(rng, 2) ? test_type(REDUCT_F64) : elements[rng_below(rng, element_count)];
        fill_many_groups(rng, &all, type, i % 4 || size > 4 ? SOME : MANY);
        check_tables(rng, &all, CHECKED);
        free_many_groups(&all);
    }
    oracle_clear(&all.oracle);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Errors: whatever one rank meets, all say
 * ------------------------------------------------------------------------------------------------------------------ */

static void expect_error(reduct_status got, reduct_status expected, const reduct_error *error, uint64_t index,
                         int first) {
    char prefix[32];
    snprintf(prefix, sizeof prefix, "rank %d: ", first);
    CHECK(got == expected && error->status == expected, "status %d, expected %d: %s", got, expected, error->message);
    CHECK(error->index == index, "index %llu, expected %llu", (unsigned long long)error->index,
          (unsigned long long)index);
    CHECK(first < 0 || strncmp(error->message, prefix, strlen(prefix)) == 0, "'%s', expected of rank %d",
          error->message, first);
}

static void expect_words(const reduct_error *error, const char *words) {
    CHECK(strstr(error->message, words), "'%s', expected '%s' in it", error->message, words);
}

static void errors(call *function) {
    reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64, .nan = REDUCT_NAN_ERROR},
                     bytes = {.op = REDUCT_SUM, .element = REDUCT_I64},
                     mean = {.op = REDUCT_MEAN, .element = REDUCT_F32},
                     product = {.op = REDUCT_PRODUCT, .element = REDUCT_F64};
    double x[3] = {1, 2, 3}, total = -1;
    int64_t large = INT64_MAX, whole = -1;
    float nothing = -1;
    const int last = size - 1;
    reduct_error error;
    x[1] = rank >= last - 1 ? NAN : 2; /* on two ranks, where there are as many: the first one counts */
    reduct_mpi_field field = {.reduction = &sum, .x = x, .count = 3, .result = &total};
    const int nan_rank = last ? last - 1 : 0;
    expect_error(function(&field, 1, ranks, &error), REDUCT_ERROR_NAN, &error, 3 * (uint64_t)nan_rank + 1, nan_rank);
    x[1] = 2;
    field.x = rank == last ? NULL : x;
    expect_error(function(&field, 1, ranks, &error), REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, last);
    field.x = x;
    field.device = rank == last ? "nowhere" : NULL;
    reduct_status status = function(&field, 1, ranks, &error);
    CHECK(status == REDUCT_ERROR_NO_DEVICE || status == REDUCT_ERROR_ARGUMENT, "status %d: %s", status, error.message);
    expect_error(status, status, &error, UINT64_MAX, last);
    field.device = NULL;
    reduct_mpi_field overflow = {.reduction = &bytes, .x = &large, .count = 1, .result = &whole};
    reduct_mpi_field both[2] = {field, overflow};
    if (size > 1) {
        expect_error(function(both, 2, ranks, &error), REDUCT_ERROR_OVERFLOW, &error, UINT64_MAX, -1);
        expect_words(&error, "fields[1]: ");
    }
    both[1].reduction = &product;
    expect_error(function(both, 2, ranks, &error), REDUCT_ERROR_UNSUPPORTED, &error, UINT64_MAX, 0);
    expect_words(&error, "rank 0: fields[1]: ");
    reduct_mpi_field empty = {.reduction = &mean, .result = &nothing};
    expect_error(function(&empty, 1, ranks, &error), REDUCT_ERROR_EMPTY, &error, UINT64_MAX, -1);
    field.reduction = &product;
    expect_error(function(&field, 1, ranks, &error), REDUCT_ERROR_UNSUPPORTED, &error, UINT64_MAX, -1);
    CHECK(function(&field, 1, MPI_COMM_NULL, &error) == REDUCT_ERROR_ARGUMENT, "no communicator");
    expect_error(function(NULL, 1, ranks, &error), REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, 0);
    CHECK(function(&field, 0, ranks, &error) == REDUCT_ERROR_ARGUMENT, "no fields");
    CHECK(total == -1 && whole == -1 && nothing == -1, "an output was touched");
}

/* Many fields, of which the words need memory of their own; a failure in the last. */
static void errors_of_many(void) {
    enum { MANY = 100 };
    reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64, .nan = REDUCT_NAN_ERROR};
    double x[2] = {0.1, 0.2}, results[MANY], bad[2] = {1, NAN};
    reduct_mpi_field fields[MANY];
    reduct_error error;
    for (int i = 0; i < MANY; i++)
        fields[i] = (reduct_mpi_field){.reduction = &sum, .x = x, .count = 2, .result = &results[i]};
    CHECK(reduct_mpi_allreduce(fields, MANY, ranks, &error) == REDUCT_OK, "%s", error.message);
    CHECK(call_later(fields, MANY, ranks, &error) == REDUCT_OK, "%s", error.message);
    fields[MANY - 1].x = rank == size - 1 ? bad : x;
    const uint64_t index = 2 * (uint64_t)(size - 1) + 1;
    expect_error(reduct_mpi_allreduce(fields, MANY, ranks, &error), REDUCT_ERROR_NAN, &error, index, size - 1);
    expect_words(&error, "fields[99]: element 1 ");
    expect_error(call_later(fields, MANY, ranks, &error), REDUCT_ERROR_NAN, &error, index, size - 1);
    expect_error(reduct_mpi_scan(fields, MANY, ranks, &error), REDUCT_ERROR_NAN, &error, index, size - 1);
}

/* Sums of which one rank is not told, or not of the last: of as many as have room in one message, and of more. */
static void errors_of_missing(call *function) {
    enum { MANY = 300 };
    static const size_t COUNTS[] = {1, 3, 7, MANY};
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64, .nan = REDUCT_NAN_ERROR};
    double x[20] = {1, 2}, results[MANY];
    reduct_mpi_field fields[MANY];
    reduct_error error;
    for (int i = 0; i < MANY; i++)
        fields[i] = (reduct_mpi_field){.reduction = &sum, .x = x, .count = rank % 2 ? 20 : 1, .result = &results[i]};
    for (size_t k = 0; k < sizeof COUNTS / sizeof *COUNTS; k++) {
        const size_t last = COUNTS[k] - 1;
        results[last] = 7;
        expect_error(function(rank == size - 1 ? NULL : fields, COUNTS[k], ranks, &error), REDUCT_ERROR_ARGUMENT,
                     &error, UINT64_MAX, size - 1);
        fields[last].reduction = rank == 0 ? NULL : &sum;
        expect_error(function(fields, COUNTS[k], ranks, &error), REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, 0);
        fields[last].reduction = &sum;
        /* A rank without fields does not know how many elements come before another's NaN. */
        x[0] = rank == 1 ? NAN : 1;
        if (size > 2 && function != call_later) /* which looks for such ranks before it reads the elements of many */
            expect_error(function(rank == size - 1 ? NULL : fields, COUNTS[k], ranks, &error), REDUCT_ERROR_NAN, &error,
                         1, 1);
        x[0] = 1;
        CHECK(results[last] == 7, "an output was touched");
        CHECK(function(fields, COUNTS[k], ranks, &error) == REDUCT_OK, "%s", error.message);
    }
}

/* A rank that failed before it had fields, and says why; the first one has no reason. */
static void errors_of_failed(void) {
    enum { MANY = 300 };
    static const size_t COUNTS[] = {1, 20, MANY};
    const reduct_reduction max = {.op = REDUCT_MAX, .element = REDUCT_F32};
    const reduct_error reason = {.status = REDUCT_ERROR_NO_DEVICE, .index = 5, .message = "my reason"};
    const float x = 1;
    float results[MANY] = {0};
    reduct_mpi_field fields[MANY];
    reduct_error error;
    for (int i = 0; i < MANY; i++)
        fields[i] = (reduct_mpi_field){.reduction = &max, .x = &x, .count = 1, .result = &results[i]};
    for (size_t k = 0; k < sizeof COUNTS / sizeof *COUNTS; k++) {
        expect_error(rank == size - 1 ? reduct_mpi_allreduce_failed(&reason, COUNTS[k], ranks, &error)
                                      : reduct_mpi_allreduce(fields, COUNTS[k], ranks, &error),
                     REDUCT_ERROR_NO_DEVICE, &error, UINT64_MAX, size - 1);
        expect_words(&error, "my reason");
        expect_error(rank == 0 ? reduct_mpi_allreduce_failed(NULL, COUNTS[k], ranks, &error)
                               : reduct_mpi_allreduce(fields, COUNTS[k], ranks, &error),
                     REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, 0);
    }
    CHECK(reduct_mpi_allreduce_failed(&reason, 1, MPI_COMM_NULL, &error) == REDUCT_ERROR_ARGUMENT, "no communicator");
}

/* The same of what is not sums of f64, which a rank without fields takes them for: of every family, those that are refused too; and ranks whose
 * reductions are others. */
static void errors_of_families(call *function, size_t first) {
    enum { MANY = 300 };
    static const size_t COUNTS[] = {1, 7, 10, MANY};
    static const reduct_reduction FAMILIES[] = {{.op = REDUCT_PRODUCT, .element = REDUCT_F64},
                                                {.op = REDUCT_PRODUCT, .element = REDUCT_I32},
                                                {.op = REDUCT_SUM, .element = REDUCT_F64, .mode = REDUCT_FAST},
                                                {.op = REDUCT_SUM, .element = REDUCT_F32},
                                                {.op = REDUCT_SUM, .element = REDUCT_I64},
                                                {.op = REDUCT_NORM2, .element = REDUCT_F64},
                                                {.op = REDUCT_VAR, .element = REDUCT_F64},
                                                {.op = REDUCT_MAX, .element = REDUCT_F64},
                                                {.op = REDUCT_MINMAX, .element = REDUCT_U8},
                                                {.op = REDUCT_ARGMIN, .element = REDUCT_F64},
                                                {.op = REDUCT_ANY, .element = REDUCT_BOOL},
                                                {.op = REDUCT_XOR, .element = REDUCT_I16},
                                                {.op = REDUCT_COUNT, .element = REDUCT_F16}};
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const double x[2] = {0};
    static unsigned char results[MANY][RESULT];
    reduct_mpi_field fields[MANY];
    reduct_error error;
    const int last = size - 1;
    for (size_t f = 0; f < sizeof FAMILIES / sizeof *FAMILIES; f++)
        for (size_t k = (first + f) % 4; k < 4; k += 2) { /* half of them, the others with another call */
            const size_t count = COUNTS[k];
            const bool refused = f == 0 && size > 1; /* by the first rank, before it is known that the last has none */
            for (size_t i = 0; i < count; i++)
                fields[i] = (reduct_mpi_field){.reduction = &FAMILIES[f], .x = x, .count = 2, .result = results[i]};
            expect_error(function(rank == last ? NULL : fields, count, ranks, &error),
                         refused ? REDUCT_ERROR_UNSUPPORTED : REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX,
                         refused ? 0 : last);
            fields[count - 1].reduction = rank == 0 ? NULL : &FAMILIES[f];
            expect_error(function(fields, count, ranks, &error), REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, 0);
            fields[count - 1].reduction = rank == last ? &sum : &FAMILIES[f];
            if (size > 1)
                expect_error(function(fields, count, ranks, &error),
                             f ? REDUCT_ERROR_MISMATCH : REDUCT_ERROR_UNSUPPORTED, &error, UINT64_MAX, f ? -1 : 0);
            fields[count - 1].reduction = &FAMILIES[f];
            if (function == reduct_mpi_exscan) /* of no elements on the first rank, which some refuse */
                continue;
            const reduct_status status = function(fields, count, ranks, &error);
            CHECK(status == (f ? REDUCT_OK : REDUCT_ERROR_UNSUPPORTED), "%s: %d: %s",
                  reduct_operator_name(FAMILIES[f].op), (int)status, error.message);
        }
}

/* Fields of which some rank has another one than rank 0, or each rank, or one rank another in the middle of many. */
static void errors_of_others(call *function) {
    enum { MANY = 1100, OPS = 6 };
    static const size_t COUNTS[] = {1, 5, 12, MANY};
    static const reduct_operator ops[OPS] = {REDUCT_SUM,   REDUCT_MEAN,  REDUCT_SUMSQ,
                                             REDUCT_NORM1, REDUCT_NORM2, REDUCT_COUNT_NONZERO};
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F32},
                           other = {.op = REDUCT_MAX, .element = REDUCT_F64, .nan = REDUCT_NAN_IGNORE};
    static double results[MANY];
    static reduct_mpi_field fields[MANY];
    const double x = 1;
    char words[96];
    reduct_error error;
    if (size == 1)
        return;
    for (size_t k = 0; k < sizeof COUNTS / sizeof *COUNTS; k++) {
        const size_t which = COUNTS[k] * 3 / 4;
        for (size_t i = 0; i < COUNTS[k]; i++)
            fields[i] = (reduct_mpi_field){
                .reduction = rank > 0 && i >= which ? &other : &sum, .x = &x, .count = 1, .result = &results[i]};
        expect_error(function(fields, COUNTS[k], ranks, &error), REDUCT_ERROR_MISMATCH, &error, UINT64_MAX, 1);
        snprintf(words, sizeof words, "fields[%zu]: max of f64, nan ignore; expected sum of f32, as on rank 0", which);
        expect_words(&error, words);
    }
    const reduct_reduction unlike = {.op = REDUCT_SUM, .element = REDUCT_F64, .flags = (uint32_t)(rank < 3 ? rank : 2)};
    fields[0] = (reduct_mpi_field){.reduction = &unlike, .x = &x, .count = 1, .result = &results[0]};
    expect_error(function(fields, 1, ranks, &error), REDUCT_ERROR_MISMATCH, &error, UINT64_MAX, 1);
    for (int shift = 0; shift < OPS; shift++)
        for (int step = 1; step < OPS; step++) {
            const reduct_reduction own = {.op = ops[(shift + step * (rank < 3 ? rank : 2)) % OPS],
                                          .element = REDUCT_F64};
            fields[0] = (reduct_mpi_field){.reduction = &own, .x = &x, .count = 1, .result = &results[0]};
            expect_error(function(fields, 1, ranks, &error), REDUCT_ERROR_MISMATCH, &error, UINT64_MAX, 1);
        }
}

static void errors_of_accumulators(void) {
    reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_I8}, other = {.op = REDUCT_MAX, .element = REDUCT_I8};
    reduct_error error;
    reduct_status status;
    static struct data data = {.count = 1};
    data.type = test_type(REDUCT_I8);
    reduct_accumulator *one = accumulate(&data, rank == size - 1 ? &other : &sum, 0, 1, &status, NULL), *none = NULL;
    if (size > 1)
        expect_error(reduct_mpi_allreduce_accumulators(&one, 1, ranks, &error), REDUCT_ERROR_MISMATCH, &error,
                     UINT64_MAX, size - 1);
    if (size > 1) {
        expect_words(&error, ": accumulators[0]: max of i8; expected sum of i8, as on rank 0");
        expect_error(accumulators_later(&one, 1, ranks, &error), REDUCT_ERROR_MISMATCH, &error, UINT64_MAX, size - 1);
        reduct_accumulator *const two[] = {one, one};
        expect_error(reduct_mpi_scan_accumulators(two, rank == size - 1 ? 2 : 1, ranks, &error), REDUCT_ERROR_MISMATCH,
                     &error, UINT64_MAX, size - 1);
        expect_words(&error, ": accumulators: 2; expected 1, as on rank 0");
    }
    reduct_mpi_request *request = NULL;
    expect_error(accumulators_later(rank == size - 1 ? &none : &one, 1, ranks, &error), REDUCT_ERROR_ARGUMENT, &error,
                 UINT64_MAX, size - 1);
    expect_error(reduct_mpi_iallreduce_accumulators(&one, 1, ranks, rank == size - 1 ? NULL : &request, &error),
                 REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, size - 1);
    CHECK(!request, "a request was made");
    expect_error(reduct_mpi_scan_accumulators(rank == size - 1 ? &none : &one, 1, ranks, &error), REDUCT_ERROR_ARGUMENT,
                 &error, UINT64_MAX, size - 1);
    reduct_accumulator_destroy(one);
    one = accumulate(&data, &sum, 0, 1, &status, NULL);
    for (int i = 0; i < 63; i++)
        CHECK(reduct_accumulator_merge(one, one, NULL) == REDUCT_OK, "merge");
    if (size > 1)
        expect_error(reduct_mpi_allreduce_accumulators(&one, 1, ranks, &error), REDUCT_ERROR_TOO_LARGE, &error,
                     UINT64_MAX, -1);
    if (size > 1)
        expect_error(accumulators_later(&one, 1, ranks, &error), REDUCT_ERROR_TOO_LARGE, &error, UINT64_MAX, -1);
    CHECK(reduct_accumulator_count(one) == (uint64_t)1 << 63, "changed");
    reduct_accumulator_destroy(one);
    int64_t words[16] = {0};
    expect_error(reduct_mpi_allreduce_words(&sum, rank == size - 1 ? NULL : words, 1, ranks, &error),
                 REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, size - 1);
    expect_error(reduct_mpi_scan_words(rank == size - 1 ? NULL : &sum, words, 1, ranks, &error), REDUCT_ERROR_ARGUMENT,
                 &error, UINT64_MAX, size - 1);
}

/* A root that is no rank, as one of the ranks has it. */
static void errors_of_roots(void) {
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const double x = 1;
    double total = 7;
    int64_t words[75] = {0};
    const reduct_mpi_field field = {.reduction = &sum, .x = &x, .count = 1, .result = &total};
    const reduct_table_options options = {.reductions = &sum, .reduction_count = 1, .groups = 1, .device = "cpu"};
    reduct_status status;
    reduct_error error;
    static struct data data = {.count = 1};
    data.type = test_type(REDUCT_F64);
    reduct_accumulator *one = accumulate(&data, &sum, 0, 1, &status, NULL);
    reduct_table *table = NULL;
    CHECK(reduct_table_create(&options, &table, NULL) == REDUCT_OK, "no table");
    for (int wrong = -1; wrong <= size; wrong += size + 1) {
        const int root = rank == size - 1 ? wrong : 0;
        expect_error(reduct_mpi_reduce(&field, 1, root, ranks, &error), REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX,
                     size - 1);
        expect_error(reduct_mpi_reduce_accumulators(&one, 1, root, ranks, &error), REDUCT_ERROR_ARGUMENT, &error,
                     UINT64_MAX, size - 1);
        expect_error(reduct_mpi_reduce_words(&sum, words, 1, root, ranks, &error), REDUCT_ERROR_ARGUMENT, &error,
                     UINT64_MAX, size - 1);
        expect_error(reduct_mpi_reduce_table(table, root, ranks, &error), REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX,
                     size - 1);
    }
    expect_error(reduct_mpi_allreduce_each(rank == size - 1 ? REDUCT_F16 : REDUCT_F64, &x, &total, 1, ranks, &error),
                 REDUCT_ERROR_UNSUPPORTED, &error, UINT64_MAX, size - 1);
    CHECK(total == 7, "an output was touched");
    reduct_table_destroy(table);
    reduct_accumulator_destroy(one);
}

/* What differs between ranks, and what is too much. */
static void errors_of_tables(void) {
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64},
                           other = {.op = REDUCT_MAX, .element = REDUCT_F64},
                           place = {.op = REDUCT_ARGMAX, .element = REDUCT_F64};
    const bool last = rank == size - 1;
    reduct_table_options options = {.reductions = last ? &other : &sum, .reduction_count = 1, .groups = 1};
    reduct_table *table = NULL, *doubling = NULL;
    reduct_mpi_request *request = NULL;
    reduct_error error;
    int64_t words[512] = {0};
    CHECK(reduct_table_create(&options, &table, NULL) == REDUCT_OK, "no table");
    if (size > 1) {
        expect_error(reduct_mpi_scan_table(table, ranks, &error), REDUCT_ERROR_MISMATCH, &error, UINT64_MAX, size - 1);
        expect_words(&error, ": table: reductions[0]: max of f64; expected sum of f64, as on rank 0");
        expect_error(reduct_mpi_iallreduce_table(table, ranks, &request, &error), REDUCT_ERROR_MISMATCH, &error,
                     UINT64_MAX, size - 1);
        expect_error(reduct_mpi_scan_words(&sum, words, last ? 2 : 1, ranks, &error), REDUCT_ERROR_MISMATCH, &error,
                     UINT64_MAX, size - 1);
        expect_words(&error, ": rows: 2; expected 1, as on rank 0");
        expect_error(reduct_mpi_iallreduce_words(last ? &other : &sum, words, 1, ranks, &request, &error),
                     REDUCT_ERROR_MISMATCH, &error, UINT64_MAX, size - 1);
        expect_words(&error, ": reduction: max of f64; expected sum of f64, as on rank 0");
    }
    expect_error(reduct_mpi_allreduce_table(last ? NULL : table, ranks, &error), REDUCT_ERROR_ARGUMENT, &error,
                 UINT64_MAX, size - 1);
    expect_error(reduct_mpi_iallreduce_table(last ? NULL : table, ranks, &request, &error), REDUCT_ERROR_ARGUMENT,
                 &error, UINT64_MAX, size - 1);
    expect_error(reduct_mpi_iallreduce_table(table, ranks, last ? NULL : &request, &error), REDUCT_ERROR_ARGUMENT,
                 &error, UINT64_MAX, size - 1);
    expect_error(reduct_mpi_reduce_table(table, size, ranks, &error), REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, -1);
    expect_error(reduct_mpi_reduce_words(&sum, words, 1, -1, ranks, &error), REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX,
                 -1);
    expect_error(reduct_mpi_exscan_words(&sum, last ? NULL : words, 1, ranks, &error), REDUCT_ERROR_ARGUMENT, &error,
                 UINT64_MAX, size - 1);
    expect_error(reduct_mpi_iallreduce_words(&sum, words, 1, ranks, last ? NULL : &request, &error),
                 REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, size - 1);
    expect_error(reduct_mpi_scan_words(&place, words, 1, ranks, &error), REDUCT_ERROR_UNSUPPORTED, &error, UINT64_MAX,
                 -1);
    CHECK(!request, "a request was made");
    reduct_table_destroy(table);
    /* 2^62 elements, and as many again on the next rank but one */
    options.reductions = &sum;
    const double one = 1;
    CHECK(reduct_table_create(&options, &table, NULL) == REDUCT_OK, "no table");
    CHECK(reduct_table_create(&options, &doubling, NULL) == REDUCT_OK, "no table");
    CHECK(reduct_table_add_group(table, 0, &one, NULL, 1, NULL) == REDUCT_OK, "add");
    for (int i = 0; i < 62; i++) {
        reduct_table_reset(doubling);
        CHECK(reduct_table_merge(doubling, table, NULL, NULL) == REDUCT_OK, "merge");
        CHECK(reduct_table_merge(table, doubling, NULL, NULL) == REDUCT_OK, "merge");
    }
    if (size > 2) {
        const reduct_status status = reduct_mpi_allreduce_table(table, ranks, &error);
        expect_error(status, REDUCT_ERROR_TOO_LARGE, &error, UINT64_MAX, -1);
        expect_error(reduct_mpi_scan_table(table, ranks, &error), REDUCT_ERROR_TOO_LARGE, &error, UINT64_MAX, -1);
        expect_error(reduct_mpi_iallreduce_table(table, ranks, &request, &error), REDUCT_ERROR_TOO_LARGE, &error,
                     UINT64_MAX, -1);
    }
    CHECK(reduct_table_count(table, 0, 0) == (uint64_t)1 << 62, "changed");
    reduct_table_destroy(doubling);
    reduct_table_destroy(table);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Memory that runs out on one rank: malloc and its kin here are those that all libraries call, and fail for ours
 * ------------------------------------------------------------------------------------------------------------------ */

#ifdef __GLIBC__
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static long allocations_left = -1; /* until one fails, never while negative */
static bool has_failed;

/* Whether this call, from there, is the one that fails. */
static bool runs_out(const void *caller) {
    Dl_info from;
    if (allocations_left < 0 || !dladdr(caller, &from) || !from.dli_fname || !strstr(from.dli_fname, "/libreduct"))
        return false;
    has_failed = has_failed || allocations_left == 0;
    return allocations_left-- == 0;
}

#define FOR_ALL __attribute__((visibility("default")))

FOR_ALL void *malloc(size_t bytes) {
    return runs_out(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

FOR_ALL void *calloc(size_t count, size_t bytes) {
    return runs_out(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

FOR_ALL void *aligned_alloc(size_t alignment, size_t bytes) {
    return runs_out(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

enum { MANY_FIELDS = 330, SOME_FIELDS = 30, FIELD_CALLS = 6, CALLS = 2 * KINDS + FIELD_CALLS };

/* Calls number `which`: of a table, of words, of fields and of accumulators. The last of many fields are small, and of some are all. */
static reduct_status call_of(int which, int root, reduct_table *table, int64_t *words, const reduct_mpi_field *fields,
                             reduct_accumulator *const *accumulators) {
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    if (which < KINDS)
        return merge_tables((uint64_t)which, root, table);
    if (which < 2 * KINDS)
        return merge_words((uint64_t)which - KINDS, root, &sum, words, SOME_FIELDS);
    switch (which - 2 * KINDS) {
    case 0: /* that fit in a short message, which has room */
        return reduct_mpi_allreduce(fields + MANY_FIELDS - SOME_FIELDS, SOME_FIELDS, ranks, NULL);
    case 1: /* and do not */
        return reduct_mpi_allreduce(fields, SOME_FIELDS, ranks, NULL);
    case 2: /* one that needs memory */
        return reduct_mpi_allreduce(fields + SOME_FIELDS, MANY_FIELDS - SOME_FIELDS, ranks, NULL);
    case 3: /* and does not do */
        return reduct_mpi_allreduce(fields, MANY_FIELDS, ranks, NULL);
    case 4:
        return call_later(fields, SOME_FIELDS, ranks, NULL);
    default:
        return reduct_mpi_scan_accumulators(accumulators, SOME_FIELDS, ranks, NULL);
    }
}

/* Allocations of each call fail on some rank: all ranks say so, and what was there is as it was. Values range so widely that
 * groups need memory of their own. */
static void memory(struct rng *rng, uint64_t times) {
    static const double x[] = {0x1p1000, 1, 0x1p-1000}, some[20] = {1, 2, 3};
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_table_options options = {
        .reductions = &sum, .reduction_count = 1, .groups = 2, .device = "cpu", .threads = 1};
    const reduct_accumulator_options plain_options = {.reduction = &sum, .device = "cpu", .threads = 1};
    reduct_table *table = NULL;
    reduct_accumulator *accumulators[SOME_FIELDS];
    reduct_mpi_field fields[MANY_FIELDS];
    double results[MANY_FIELDS];
    CHECK(reduct_table_create(&options, &table, NULL) == REDUCT_OK, "no table");
    for (uint64_t g = 0; g < 2; g++)
        CHECK(reduct_table_add_group(table, g, x, NULL, 3, NULL) == REDUCT_OK, "add");
    for (int i = 0; i < MANY_FIELDS; i++) /* every other rank has accumulators of them */
        fields[i] = (reduct_mpi_field){.reduction = &sum,
                                       .x = i < SOME_FIELDS ? x : some,
                                       .count = i < SOME_FIELDS || rank % 2 ? 3 : 20,
                                       .result = &results[i],
                                       .device = "cpu"};
    for (int i = 0; i < SOME_FIELDS; i++) {
        CHECK(reduct_accumulator_create(&plain_options, &accumulators[i], NULL) == REDUCT_OK, "no accumulator");
    }
    for (int which = 0; which < CALLS; which++)
        for (uint64_t i = 0; i < times; i++) {
            const int failing = (int)rng_below(rng, (uint64_t)size), root = size / 2;
            bool fails = true;
            long n = 0;
            for (; fails; n += 1 + (long)rng_below(rng, (uint64_t)n / 2 + 1)) {
                static int64_t words[SOME_FIELDS * 75];
                memset(words, 0, sizeof words);
                size_t bytes = 0;
                unsigned char *before = bytes_of(table, &bytes);
                has_failed = false;
                allocations_left = rank == failing ? n : -1;
                const reduct_status status = call_of(which, root, table, words, fields, accumulators);
                allocations_left = -1;
                fails = has_failed;
                MPI_Bcast(&fails, 1, MPI_C_BOOL, failing, ranks);
                /* In reduct_mpi_wait() ranks are on their own. */
                int as_failing = (int)status;
                MPI_Bcast(&as_failing, 1, MPI_INT, failing, ranks);
                const bool other_way = which >= 2 * KINDS && which < 2 * KINDS + 4; /* it can do with less */
                CHECK(as_failing == (fails ? REDUCT_ERROR_OUT_OF_MEMORY : REDUCT_OK) ||
                          (other_way && as_failing == REDUCT_OK),
                      "call %d, allocation %ld: %d", which, n, as_failing);
                CHECK((int)status == as_failing || (which == LATER && status == REDUCT_OK),
                      "call %d, allocation %ld: %d here, %d on rank %d", which, n, (int)status, as_failing, failing);
                CHECK(status == REDUCT_OK || holds(table, before, bytes), "call %d, allocation %ld: changed", which, n);
                if (status == REDUCT_OK && which < KINDS) { /* begin again */
                    reduct_table_reset(table);
                    for (uint64_t g = 0; g < 2; g++)
                        CHECK(reduct_table_add_group(table, g, x, NULL, 3, NULL) == REDUCT_OK, "add");
                }
                free(before);
            }
            CHECK(n > 1 || which >= 2 * KINDS, "call %d: no allocation failed", which);
        }
    for (int i = 0; i < SOME_FIELDS; i++)
        reduct_accumulator_destroy(accumulators[i]);
    reduct_table_destroy(table);
}
#else
static void memory(struct rng *rng, uint64_t times) {
    (void)rng, (void)times;
}
#endif

static void all_errors(struct rng *rng, uint64_t times) {
    (void)rng;
    static call *const calls[] = {reduct_mpi_allreduce, call_last, reduct_mpi_scan, reduct_mpi_exscan, call_later};
    for (uint64_t i = 0; i < times; i++)
        for (size_t c = 0; c < 5; c++)
            if (calls[c] != reduct_mpi_exscan) /* whose last rank's part is in no result */
                errors(calls[c]);
    for (size_t c = 0; c < 5; c++)
        if (calls[c] != reduct_mpi_exscan)
            errors_of_missing(calls[c]);
    for (size_t c = 0; c < 5; c++)
        errors_of_families(calls[c], c);
    for (size_t c = 0; c < 5; c++)
        errors_of_others(calls[c]);
    errors_of_failed();
    errors_of_many();
    errors_of_accumulators();
    errors_of_roots();
    errors_of_tables();
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Beside what MPI does
 * ------------------------------------------------------------------------------------------------------------------ */

/* A sum of doubles by MPI depends on how they are split; ours does not. */
static void plain(struct rng *rng, uint64_t times) {
    (void)times;
    static struct data data;
    double first = 0;
    bool differs = false;
    reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    data.type = test_type(REDUCT_F64);
    data.count = MOST;
    data.cut = malloc(((size_t)size + 1) * sizeof *data.cut);
    for (size_t i = 0; i < MOST; i++)
        data.x[i] = (rng_unit(rng) - 0.5) * ldexp(1, (int)rng_below(rng, 40));
    for (int split = 0; split < 50; split++) {
        data.cut[0] = 0;
        for (int r = 1; r < size; r++)
            data.cut[r] = data.cut[r - 1] + rng_below(rng, data.count - data.cut[r - 1] + 1);
        data.cut[size] = data.count;
        double mine = 0, all, exact;
        unsigned char expected[RESULT];
        uint64_t index;
        for (size_t i = data.cut[rank]; i < data.cut[rank + 1]; i++)
            mine += data.x[i];
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, ranks);
        const reduct_mpi_field field = field_of(&data, &sum, &exact);
        CHECK(reduct_mpi_allreduce(&field, 1, ranks, NULL) == REDUCT_OK, "sum");
        expect(&data, &sum, MOST, expected, &index);
        CHECK(memcmp(&exact, expected, sizeof exact) == 0, "%.17g", exact);
        first = split ? first : all;
        differs = differs || all != first;
    }
    CHECK(size == 1 || differs, "MPI's sum did not depend on the split: the data are too tame");
}

/* One of what is at the edges of a window of `spread` powers of two from `center` down, or just too small for the upper of two
 * slices of it: powers of two, with nothing, the last bit or all bits below. */
static double edge_value(struct rng *rng, const struct test_type *type, int center, int middle, int spread) {
    const double last = ldexp(1, type->size == 8 ? -52 : -23);
    const double significands[] = {1, 1 + last, 2 - last}, significand = significands[rng_below(rng, 3)];
    const int exponents[] = {center, middle, center - spread};
    return ldexp(rng_below(rng, 2) ? significand : -significand, exponents[rng_below(rng, 3)]);
}

static double zero_value(struct rng *rng) {
    return rng_below(rng, 4) ? -0.0 : 0.0;
}

/* Arrays element by element: of all kinds of data, in windows that are narrow and wide, in place,
 * and whatever way the caller rounds. */
static void each(struct rng *rng, uint64_t times) {
    static const int ROUNDINGS[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    enum { COUNT = 9000 }; /* some blocks, the last of them not full */
    static double all[64][COUNT], results[COUNT];
    static unsigned char expected[COUNT][RESULT];
    const int parts = size < 64 ? size : 64;
    for (uint64_t i = 0; i < times; i++) {
        const struct test_type *type = test_type(rng_next(rng) & 1 ? REDUCT_F64 : REDUCT_F32);
        const reduct_reduction sum = {.op = REDUCT_SUM, .element = type->type};
        const struct distribution *distribution;
        do
            distribution = &distributions[rng_below(rng, distribution_count)];
        while (!distribution_suits(distribution, type));
        const uint64_t kind = rng_below(rng, 5), count = rng_below(rng, rng_below(rng, 10) ? 50 : COUNT + 1);
        const int most = type->max_exponent,
                  center = rng_below(rng, 4) ? (int)rng_below(rng, 2 * (uint64_t)most) - most
                                             : most - 1 - (int)rng_below(rng, 4),
                  spread = 1 + (int)rng_below(rng, 90), depth = 46 + (int)rng_below(rng, 8),
                  middle = center - (depth < spread ? depth : spread);
        for (int r = 0; r < parts; r++) {
            distribution->fill(rng, type, all[r], NULL, count);
            /* of similar size; multiples of what cancels; zeros of both signs; edges, and zeros between them */
            for (size_t k = 0; k < count && kind; k++)
                values_put(type, all[r], k,
                           kind == 1   ? ldexp(rng_unit(rng) - 0.5, center - (int)rng_below(rng, (uint64_t)spread))
                           : kind == 2 ? ldexp((double)rng_below(rng, 7) - 3, center)
                           : kind == 3 || k % 8 == 0 ? zero_value(rng)
                                                     : edge_value(rng, type, center, middle, spread));
        }
        for (size_t k = 0; k < count; k++) {
            struct data one = {.type = type};
            for (int r = 0; r < parts; r++)
                values_put_bits(type, one.x, (size_t)r, values_bits(type, all[r], k));
            uint64_t index;
            CHECK(expect(&one, &sum, (size_t)parts, expected[k], &index) == REDUCT_OK, "one element");
        }
        memset(results, 0x5A, sizeof results);
        if (rng_next(rng) & 1)
            memcpy(results, all[rank], sizeof results);
        const bool in_place = memcmp(results, all[rank], sizeof results) == 0;
        const int rounding = ROUNDINGS[rng_below(rng, 4)];
        fesetround(rounding);
        const reduct_status status =
            reduct_mpi_allreduce_each(type->type, in_place ? results : all[rank], results, count, ranks, NULL);
        CHECK(fegetround() == rounding, "not the caller's rounding");
        fesetround(FE_TONEAREST);
        CHECK(status == REDUCT_OK, "each");
        for (size_t k = 0; k < count; k++)
            CHECK(memcmp((const char *)results + k * type->size, expected[k], type->size) == 0,
                  "%s, element %zu of kind %d: not the bits of one process", type->name, k, (int)kind);
    }
    reduct_error error;
    CHECK(reduct_mpi_allreduce_each(REDUCT_F16, all[0], results, 1, ranks, &error) == REDUCT_ERROR_UNSUPPORTED, "f16");
    expect_error(reduct_mpi_allreduce_each(REDUCT_F64, rank == size - 1 ? NULL : all[0], results, 1, ranks, &error),
                 REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, size - 1);
    if (size > 1) {
        expect_error(reduct_mpi_allreduce_each(REDUCT_F64, all[0], results, rank == 0, ranks, &error),
                     REDUCT_ERROR_MISMATCH, &error, UINT64_MAX, 1);
        expect_words(&error, ": count: 0; expected 1, as on rank 0");
        expect_error(reduct_mpi_allreduce_each(rank ? REDUCT_F32 : REDUCT_F64, all[0], results, 1, ranks, &error),
                     REDUCT_ERROR_MISMATCH, &error, UINT64_MAX, 1);
    }
}

/* One of each kind: what adds takes one if it is of ordinary size and has room in the first message; all else takes two. */
static void counted_families(void) {
    static const struct {
        reduct_reduction reduction;
        long one, two; /* collectives of one field, and of two */
    } FAMILIES[] = {{{.op = REDUCT_SUM, .element = REDUCT_F32}, 1, 1},
                    {{.op = REDUCT_SUM, .element = REDUCT_BF16}, 1, 1},
                    {{.op = REDUCT_SUM, .element = REDUCT_F16}, 1, 1},
                    {{.op = REDUCT_SUM, .element = REDUCT_I64}, 1, 1},
                    {{.op = REDUCT_SUMSQ, .element = REDUCT_U32}, 1, 1},
                    {{.op = REDUCT_NORM2, .element = REDUCT_F32}, 1, 1},
                    {{.op = REDUCT_NORM2, .element = REDUCT_F64}, 1, 1},
                    {{.op = REDUCT_VAR, .element = REDUCT_F16}, 1, 1},
                    {{.op = REDUCT_VAR, .element = REDUCT_F32}, 2, 2},
                    {{.op = REDUCT_VAR, .element = REDUCT_F64}, 2, 2},
                    {{.op = REDUCT_COUNT_NONZERO, .element = REDUCT_F64}, 1, 1},
                    {{.op = REDUCT_MAX, .element = REDUCT_F64}, 2, 2},
                    {{.op = REDUCT_ARGMAX, .element = REDUCT_F64}, 2, 2},
                    {{.op = REDUCT_ANY, .element = REDUCT_U8}, 2, 2},
                    {{.op = REDUCT_PRODUCT, .element = REDUCT_I32}, 2, 2}};
    static const uint64_t floats[] = {0x3f803f803f803f80, 0x3f803f803f803f80}, integers[] = {1, 1}; /* of any size */
    unsigned char results[2][RESULT];
    reduct_mpi_field fields[2];
    for (size_t f = 0; f < sizeof FAMILIES / sizeof *FAMILIES; f++)
        for (size_t count = 1; count <= 2; count++) {
            const reduct_type type = FAMILIES[f].reduction.element;
            const bool is_whole = type == REDUCT_I32 || type == REDUCT_I64 || type == REDUCT_U8 || type == REDUCT_U32;
            for (size_t i = 0; i < count; i++)
                fields[i] = (reduct_mpi_field){.reduction = &FAMILIES[f].reduction,
                                               .x = is_whole ? integers : floats,
                                               .count = 2,
                                               .result = results[i],
                                               .device = "cpu"};
            const long before = calls_made(), wanted = count == 1 ? FAMILIES[f].one : FAMILIES[f].two;
            CHECK(reduct_mpi_allreduce(fields, count, ranks, NULL) == REDUCT_OK, "family %zu", f);
            CHECK(calls_made() - before == wanted, "%s of %s, %zu fields: %ld collectives rather than %ld",
                  reduct_operator_name(FAMILIES[f].reduction.op), reduct_type_name(FAMILIES[f].reduction.element),
                  count, calls_made() - before, wanted);
        }
}

/* Collectives that a call takes: one for what every rank has room for, and a small one before the one of more. Where sums are not of
 * ordinary size, the short message was in vain, or what was asked before it. */
static void counted(struct rng *rng, uint64_t times) {
    enum { MANY = 1000 };
    static const struct {
        size_t count;
        bool ordinary;
        long most;
    } CASES[] = {{1, true, 1},   {6, true, 1},   {7, true, 1},    {16, true, 1},   {17, true, 1},
                 {100, true, 1}, {292, true, 1}, {293, true, 2},  {MANY, true, 2}, {1, false, 2},
                 {27, false, 2}, {28, false, 3}, {100, false, 3}, {300, false, 3}, {MANY, false, 3}};
    static const size_t LENGTHS[] = {1, 16, 17, 40}; /* and one that is too long to be tried first */
    static struct data data;
    static reduct_mpi_field fields[MANY];
    static double results[MANY];
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64},
                           norm = {.op = REDUCT_NORM2, .element = REDUCT_F64},
                           many = {.op = REDUCT_COUNT_NONZERO, .element = REDUCT_F64};
    data.cut = data.cut ? data.cut : malloc(((size_t)all_ranks + 1) * sizeof *data.cut);
    data.type = test_type(REDUCT_F64);
    for (uint64_t i = 0; i < times; i++)
        for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
            data.cut[0] = 0;
            for (int r = 0; r < size; r++)
                data.cut[r + 1] = data.cut[r] + LENGTHS[rng_below(rng, 4)] + (r == size - 1 && i % 2 ? 4097 : 0);
            data.count = data.cut[size];
            for (size_t k = 0; k < data.count; k++)
                data.x[k] = (1 + rng_unit(rng)) * ldexp(rng_below(rng, 2) ? 1 : -1, (int)rng_below(rng, 60) - 30);
            if (!CASES[c].ordinary)
                data.x[rng_below(rng, data.count)] = ldexp(1, rng_below(rng, 2) ? 500 : -500);
            unsigned char expected[RESULT];
            uint64_t index;
            expect(&data, &sum, data.count, expected, &index);
            for (size_t f = 0; f < CASES[c].count; f++)
                fields[f] = field_of(&data, &sum, &results[f]);
            memset(results, 0x5A, sizeof results);
            const long before = calls_made();
            CHECK(reduct_mpi_allreduce(fields, CASES[c].count, ranks, NULL) == REDUCT_OK, "%zu sums", CASES[c].count);
            const long made = calls_made() - before;
            CHECK(made == CASES[c].most, "%zu %s sums: %ld collectives rather than %ld", CASES[c].count,
                  CASES[c].ordinary ? "ordinary" : "other", made, CASES[c].most);
            for (size_t f = 0; f < CASES[c].count; f++)
                CHECK(memcmp(&results[f], expected, sizeof *results) == 0, "number %zu of %zu: %a", f, CASES[c].count,
                      results[f]);
        }
    /* Of several kinds, that add; and accumulators, for which ranks ask first. */
    double length;
    uint64_t nonzero;
    fields[1] = field_of(&data, &norm, &length);
    fields[2] = field_of(&data, &many, &nonzero);
    for (size_t k = 0; k < data.count; k++)
        data.x[k] = 3;
    long before = calls_made();
    CHECK(reduct_mpi_allreduce(fields, 3, ranks, NULL) == REDUCT_OK, "three kinds");
    CHECK(calls_made() - before == 1, "three kinds: %ld collectives", calls_made() - before);
    CHECK(results[0] == 3 * (double)data.count && nonzero == data.count && length == sqrt(9 * (double)data.count),
          "three kinds: %g, %g", results[0], length);
    counted_families();
    reduct_accumulator *accumulators[40];
    reduct_status status;
    for (int k = 0; k < 40; k++)
        accumulators[k] = accumulate(&data, &sum, 0, data.count, &status, NULL);
    before = calls_made();
    CHECK(reduct_mpi_allreduce_accumulators(accumulators, 40, ranks, NULL) == REDUCT_OK, "accumulators");
    CHECK(calls_made() - before == 2, "accumulators: %ld collectives", calls_made() - before);
    for (int k = 0; k < 40; k++)
        reduct_accumulator_destroy(accumulators[k]);
}

/* Rows of a matrix of which each rank holds some columns, as in tensor-parallel programs: docs/mpi.md has the recipe. */
static void rows(struct rng *rng, uint64_t times) {
    enum { ROWS = 20, COLUMNS = 96 };
    static const reduct_operator ops[] = {REDUCT_SUM, REDUCT_NORM2, REDUCT_MEAN};
    for (uint64_t i = 0; i < times; i++) {
        static float matrix[ROWS][COLUMNS];
        reduct_mpi_field fields[3 * ROWS];
        float split[3 * ROWS], whole[3 * ROWS];
        reduct_reduction reductions[3];
        const size_t first = (size_t)rank * COLUMNS / (size_t)size, last = ((size_t)rank + 1) * COLUMNS / (size_t)size;
        for (size_t r = 0; r < ROWS; r++)
            for (size_t c = 0; c < COLUMNS; c++)
                matrix[r][c] = (float)((rng_unit(rng) - 0.5) * ldexp(1, (int)rng_below(rng, 30)));
        for (size_t k = 0; k < 3; k++)
            reductions[k] = (reduct_reduction){.op = ops[k], .element = REDUCT_F32};
        for (size_t k = 0; k < 3; k++)
            for (size_t r = 0; r < ROWS; r++) {
                fields[k * ROWS + r] = (reduct_mpi_field){.reduction = &reductions[k],
                                                          .x = &matrix[r][first],
                                                          .count = last - first,
                                                          .result = &split[k * ROWS + r]};
                CHECK(reduct_reduce(ops[k], REDUCT_F32, matrix[r], NULL, COLUMNS, &whole[k * ROWS + r]) == REDUCT_OK,
                      "row");
            }
        CHECK(reduct_mpi_allreduce(fields, 3 * ROWS, ranks, NULL) == REDUCT_OK, "rows");
        CHECK(memcmp(split, whole, sizeof whole) == 0, "rows that are split have other bits");
    }
}

/* Each half of the ranks on one side. Refused by all alike, whatever is reduced. */
static void between_groups(void) {
    MPI_Comm half, between;
    const bool upper = rank >= size / 2;
    const double x = 1;
    double total = 7;
    int64_t words[256] = {0};
    reduct_accumulator *none = NULL;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_mpi_field field = {.reduction = &sum, .x = &x, .count = 1, .result = &total};
    MPI_Comm_split(ranks, upper, rank, &half);
    MPI_Intercomm_create(half, 0, ranks, upper ? 0 : size / 2, 5, &between);
    CHECK(reduct_mpi_allreduce(&field, 1, between, NULL) == REDUCT_ERROR_UNSUPPORTED && total == 7, "between");
    CHECK(reduct_mpi_reduce(&field, 1, 0, between, NULL) == REDUCT_ERROR_UNSUPPORTED, "between");
    CHECK(reduct_mpi_allreduce_accumulators(&none, 1, between, NULL) == REDUCT_ERROR_UNSUPPORTED, "between");
    CHECK(reduct_mpi_allreduce_words(&sum, words, 1, between, NULL) == REDUCT_ERROR_UNSUPPORTED, "between");
    CHECK(reduct_mpi_scan_words(&sum, words, 1, between, NULL) == REDUCT_ERROR_UNSUPPORTED, "between");
    CHECK(reduct_mpi_allreduce_table(NULL, between, NULL) == REDUCT_ERROR_UNSUPPORTED, "between");
    CHECK(reduct_mpi_allreduce_each(REDUCT_F64, &x, &total, 1, between, NULL) == REDUCT_ERROR_UNSUPPORTED, "between");
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* Other communicators: ranks in reverse, one rank alone. */
static void communicators(struct rng *rng, uint64_t times) {
    (void)rng, (void)times;
    MPI_Comm reversed;
    MPI_Comm_split(ranks, 0, size - rank, &reversed);
    const int32_t x = rank == 0 ? 7 : 1;
    uint64_t where, alone;
    reduct_reduction argmax = {.op = REDUCT_ARGMAX, .element = REDUCT_I32};
    reduct_mpi_field field = {.reduction = &argmax, .x = &x, .count = 1, .result = &where};
    CHECK(reduct_mpi_allreduce(&field, 1, reversed, NULL) == REDUCT_OK, "argmax");
    CHECK(where == (uint64_t)size - 1, "at %llu", (unsigned long long)where);
    field.result = &alone;
    CHECK(reduct_mpi_allreduce(&field, 1, MPI_COMM_SELF, NULL) == REDUCT_OK && alone == 0, "alone");
    MPI_Comm_free(&reversed);
    if (size > 1)
        between_groups();
}

/* Parts of more than 2^31 elements, of which few are not zero, so that hardly any memory is behind them. */
static void huge(struct rng *rng, uint64_t times) {
    (void)rng, (void)times;
    const uint64_t count = ((uint64_t)1 << 31) + 5;
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_I8, .result = REDUCT_I64},
                           argmax = {.op = REDUCT_ARGMAX, .element = REDUCT_I8},
                           counted = {.op = REDUCT_COUNT, .element = REDUCT_I8};
    int8_t *x = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int64_t total = 0;
    uint64_t where = 0, elements = 0;
    CHECK(x != MAP_FAILED, "no memory");
    x[count - 1] = (int8_t)(rank + 1);
    x[count / 2] = -1;
    const reduct_mpi_field fields[] = {
        {.reduction = &sum, .x = x, .count = count, .result = &total, .device = "cpu"},
        {.reduction = &argmax, .x = x, .count = count, .result = &where, .device = "cpu"},
        {.reduction = &counted, .x = x, .count = count, .result = &elements, .device = "cpu"}};
    CHECK(reduct_mpi_allreduce(fields, 3, ranks, NULL) == REDUCT_OK, "huge");
    CHECK(total == (int64_t)size * (size + 1) / 2 - size, "sum: %lld", (long long)total);
    CHECK(where == (uint64_t)size * count - 1, "argmax: %llu", (unsigned long long)where);
    CHECK(elements == (uint64_t)size * count, "count: %llu", (unsigned long long)elements);
    munmap(x, count);
}

/* A rank that dies while the others wait for it. All say who they are before it does. */
static void wait_for_dead(int dying, int deadly, size_t count) {
    enum { MANY = 300 };
    const double x = 1;
    double totals[MANY];
    const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    reduct_mpi_field fields[MANY];
    for (size_t i = 0; i < count; i++)
        fields[i] = (reduct_mpi_field){.reduction = &sum, .x = &x, .count = 1, .result = &totals[i]};
    printf("process %ld\n", (long)getpid());
    fflush(stdout);
    CHECK(reduct_mpi_allreduce(fields, count, ranks, NULL) == REDUCT_OK, "sum");
    if (rank == dying)
        raise(deadly);
    reduct_mpi_allreduce(fields, count, ranks, NULL);
    puts("went on without the rank that died");
    fflush(stdout);
}

static void killed(struct rng *rng, uint64_t times) {
    (void)rng, (void)times;
    wait_for_dead(size - 1, SIGABRT, 1);
}

static void killed_first(struct rng *rng, uint64_t times) {
    (void)rng, (void)times;
    wait_for_dead(0, SIGKILL, 300);
}

/* When a test runs that is not asked for by its name: on all ranks, also on parts of them (what is about bits, whose number of ranks must not
 * matter), or never. */
enum when { ON_ALL, ON_PARTS, APART };

static const struct test {
    const char *name;
    void (*test)(struct rng *rng, uint64_t times);
    uint64_t times;
    enum when when;
} TESTS[] = {{"splits", splits, 300, ON_PARTS},
             {"middles", middles, 400, ON_PARTS},
             {"few", few, 800, ON_PARTS},
             {"counted", counted, 10, ON_ALL},
             {"accumulators", accumulators, 60, ON_PARTS},
             {"words", words, 30, ON_PARTS},
             {"tables", tables, 80, ON_PARTS},
             {"long-tables", long_tables, 40, ON_ALL},
             {"each", each, 600, ON_PARTS},
             {"errors", all_errors, 3, ON_ALL},
             {"memory", memory, 4, ON_ALL},
             {"plain", plain, 1, ON_ALL},
             {"rows", rows, 5, ON_PARTS},
             {"communicators", communicators, 1, ON_ALL},
             {"killed", killed, 1, APART},
             {"killed-first", killed_first, 1, APART},
             {"huge", huge, 1, APART}};

/* One of the tests, or all that run then, on the ranks of a communicator. */
static void run(MPI_Comm some, const char *name, enum when when) {
    ranks = some;
    MPI_Comm_rank(ranks, &rank);
    MPI_Comm_size(ranks, &size);
    for (size_t i = 0; i < sizeof TESTS / sizeof *TESTS; i++) {
        struct rng rng = rng_of(test_seed() + i);
        const bool long_waits =
            TESTS[i].test == memory && size > 5; /* many short calls, for which ranks wait their turn */
        const bool due = TESTS[i].when == ON_PARTS || (TESTS[i].when == when && !long_waits);
        if (name ? strcmp(name, TESTS[i].name) == 0 : due)
            TESTS[i].test(&rng, test_scaled(TESTS[i].times, 1));
    }
}

/* The same on communicators of every size up to that of all ranks: these are cut in two, at every place, and the halves run side by side. */
static void run_parts(const char *name) {
    int all_rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &all_rank);
    for (int cut = all_ranks; 2 * cut >= all_ranks; cut--) {
        MPI_Comm part;
        MPI_Comm_split(MPI_COMM_WORLD, all_rank < cut, all_rank, &part);
        run(part, name, ON_PARTS);
        MPI_Comm_free(&part);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
    if (argc > 1 && strcmp(argv[1], "parts") == 0)
        run_parts(argc > 2 ? argv[2] : NULL);
    else
        run(MPI_COMM_WORLD, argc > 1 ? argv[1] : NULL, ON_ALL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("%d ranks: done\n", all_ranks);
    MPI_Finalize();
    return 0;
}
