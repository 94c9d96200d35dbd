/* Reductions over ranks: started by an MPI launcher on any number of ranks, of which each knows all of the data and so what must
 * come out, to the last bit. The first argument chooses what is tested: see main().
 *
 * From the survival list: "Same bits: every permutation and partition of the data, merged in any order".
 */
#include <reduct/mpi.h>

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support.h"
#include "values.h"

enum { MOST = 2000, FIELDS_MOST = 6, RESULT = 64 };

static int rank, size;

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
    double x[MOST], y[MOST]; /* room for every type */
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
    data->cut = data->cut ? data->cut : malloc(((size_t)size + 1) * sizeof *data->cut);
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

static reduct_status call_later(const reduct_mpi_field *fields, size_t count, MPI_Comm comm, reduct_error *error) {
    reduct_mpi_request *request = NULL;
    reduct_status status = reduct_mpi_iallreduce(fields, count, comm, &request, error);
    for (int done = 0; status == REDUCT_OK && !done;)
        CHECK(reduct_mpi_test(request, &done, NULL) == REDUCT_OK, "test");
    return status == REDUCT_OK ? reduct_mpi_wait(request, error) : status;
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
    reduct_status status = reduct_mpi_iallreduce_accumulators(accumulators, count, comm, &request, error);
    for (int done = 0; status == REDUCT_OK && !done;)
        CHECK(reduct_mpi_test(request, &done, NULL) == REDUCT_OK, "test");
    return status == REDUCT_OK ? reduct_mpi_wait(request, error) : status;
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
    const reduct_status got = function(fields, count, MPI_COMM_WORLD, &error);
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
    MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
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
        const reduct_status status = reduct_mpi_allreduce(fields, count, MPI_COMM_WORLD, NULL);
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
    status = kind == 0   ? reduct_mpi_allreduce_accumulators(parts, count, MPI_COMM_WORLD, NULL)
             : kind == 1 ? reduct_mpi_reduce_accumulators(parts, count, root, MPI_COMM_WORLD, NULL)
             : kind == 2 ? reduct_mpi_scan_accumulators(parts, count, MPI_COMM_WORLD, NULL)
             : kind == 4 ? accumulators_later(parts, count, MPI_COMM_WORLD, NULL)
                         : reduct_mpi_exscan_accumulators(parts, count, MPI_COMM_WORLD, NULL);
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
        const reduct_status status = reduct_mpi_allreduce(given, fields, MPI_COMM_WORLD, &error);
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

/* Rows that each are a sum of some of the data. */
static void tables(struct rng *rng, uint64_t times) {
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
        int64_t *words = malloc(rows * form.count * sizeof *words);
        for (size_t r = 0; r < rows; r++) {
            const size_t begin = r * step < data.count ? r * step : data.count,
                         end = begin + step < data.count ? begin + step : data.count;
            size_t first = data.cut[rank], last = data.cut[rank + 1];
            first = first < begin ? begin : first > end ? end : first;
            last = last < begin ? begin : last > end ? end : last;
            reduct_status status;
            reduct_accumulator *part = accumulate(&data, &reduction, first, last, &status, NULL);
            CHECK(reduct_accumulator_pack(part, words + r * form.count, NULL) == REDUCT_OK, "pack");
            reduct_accumulator_destroy(part);
        }
        CHECK(reduct_mpi_allreduce_words(&reduction, words, rows, MPI_COMM_WORLD, NULL) == REDUCT_OK, "words");
        for (size_t r = 0; r < rows; r++) {
            const size_t begin = r * step < data.count ? r * step : data.count,
                         end = begin + step < data.count ? begin + step : data.count;
            reduct_status status;
            reduct_accumulator *whole = accumulate(&data, &reduction, begin, end, &status, NULL),
                               *row = accumulate(&data, &reduction, 0, 0, &status, NULL);
            CHECK(reduct_accumulator_unpack(row, words + r * form.count, NULL) == REDUCT_OK, "unpack");
            assert_same(row, whole, "a row");
            reduct_accumulator_destroy(whole);
            reduct_accumulator_destroy(row);
        }
        free(words);
    }
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
    expect_error(function(&field, 1, MPI_COMM_WORLD, &error), REDUCT_ERROR_NAN, &error, 3 * (uint64_t)nan_rank + 1,
                 nan_rank);
    x[1] = 2;
    field.x = rank == last ? NULL : x;
    expect_error(function(&field, 1, MPI_COMM_WORLD, &error), REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, last);
    field.x = x;
    field.device = rank == last ? "nowhere" : NULL;
    reduct_status status = function(&field, 1, MPI_COMM_WORLD, &error);
    CHECK(status == REDUCT_ERROR_NO_DEVICE || status == REDUCT_ERROR_ARGUMENT, "status %d: %s", status, error.message);
    expect_error(status, status, &error, UINT64_MAX, last);
    field.device = NULL;
    reduct_mpi_field overflow = {.reduction = &bytes, .x = &large, .count = 1, .result = &whole};
    reduct_mpi_field both[2] = {field, overflow};
    if (size > 1)
        expect_error(function(both, 2, MPI_COMM_WORLD, &error), REDUCT_ERROR_OVERFLOW, &error, UINT64_MAX, -1);
    reduct_mpi_field empty = {.reduction = &mean, .result = &nothing};
    expect_error(function(&empty, 1, MPI_COMM_WORLD, &error), REDUCT_ERROR_EMPTY, &error, UINT64_MAX, -1);
    field.reduction = &product;
    expect_error(function(&field, 1, MPI_COMM_WORLD, &error), REDUCT_ERROR_UNSUPPORTED, &error, UINT64_MAX, -1);
    CHECK(function(&field, 1, MPI_COMM_NULL, &error) == REDUCT_ERROR_ARGUMENT, "no communicator");
    CHECK(function(NULL, 1, MPI_COMM_WORLD, &error) == REDUCT_ERROR_ARGUMENT, "no fields");
    CHECK(function(&field, 0, MPI_COMM_WORLD, &error) == REDUCT_ERROR_ARGUMENT, "no fields");
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
    CHECK(reduct_mpi_allreduce(fields, MANY, MPI_COMM_WORLD, &error) == REDUCT_OK, "%s", error.message);
    CHECK(call_later(fields, MANY, MPI_COMM_WORLD, &error) == REDUCT_OK, "%s", error.message);
    fields[MANY - 1].x = rank == size - 1 ? bad : x;
    const uint64_t index = 2 * (uint64_t)(size - 1) + 1;
    expect_error(reduct_mpi_allreduce(fields, MANY, MPI_COMM_WORLD, &error), REDUCT_ERROR_NAN, &error, index, size - 1);
    expect_error(call_later(fields, MANY, MPI_COMM_WORLD, &error), REDUCT_ERROR_NAN, &error, index, size - 1);
    expect_error(reduct_mpi_scan(fields, MANY, MPI_COMM_WORLD, &error), REDUCT_ERROR_NAN, &error, index, size - 1);
}

static void errors_of_accumulators(void) {
    reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_I8}, other = {.op = REDUCT_MAX, .element = REDUCT_I8};
    reduct_error error;
    reduct_status status;
    static struct data data = {.count = 1};
    data.type = test_type(REDUCT_I8);
    reduct_accumulator *one = accumulate(&data, rank == size - 1 ? &other : &sum, 0, 1, &status, NULL), *none = NULL;
    if (size > 1)
        expect_error(reduct_mpi_allreduce_accumulators(&one, 1, MPI_COMM_WORLD, &error), REDUCT_ERROR_MISMATCH, &error,
                     UINT64_MAX, -1);
    if (size > 1)
        expect_error(accumulators_later(&one, 1, MPI_COMM_WORLD, &error), REDUCT_ERROR_MISMATCH, &error, UINT64_MAX,
                     -1);
    reduct_mpi_request *request = NULL;
    expect_error(accumulators_later(rank == size - 1 ? &none : &one, 1, MPI_COMM_WORLD, &error), REDUCT_ERROR_ARGUMENT,
                 &error, UINT64_MAX, size - 1);
    expect_error(
        reduct_mpi_iallreduce_accumulators(&one, 1, MPI_COMM_WORLD, rank == size - 1 ? NULL : &request, &error),
        REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, size - 1);
    CHECK(!request, "a request was made");
    expect_error(reduct_mpi_scan_accumulators(rank == size - 1 ? &none : &one, 1, MPI_COMM_WORLD, &error),
                 REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, size - 1);
    reduct_accumulator_destroy(one);
    one = accumulate(&data, &sum, 0, 1, &status, NULL);
    for (int i = 0; i < 63; i++)
        CHECK(reduct_accumulator_merge(one, one, NULL) == REDUCT_OK, "merge");
    if (size > 1)
        expect_error(reduct_mpi_allreduce_accumulators(&one, 1, MPI_COMM_WORLD, &error), REDUCT_ERROR_TOO_LARGE, &error,
                     UINT64_MAX, -1);
    if (size > 1)
        expect_error(accumulators_later(&one, 1, MPI_COMM_WORLD, &error), REDUCT_ERROR_TOO_LARGE, &error, UINT64_MAX,
                     -1);
    CHECK(reduct_accumulator_count(one) == (uint64_t)1 << 63, "changed");
    reduct_accumulator_destroy(one);
    int64_t words[16] = {0};
    expect_error(reduct_mpi_allreduce_words(&sum, rank == size - 1 ? NULL : words, 1, MPI_COMM_WORLD, &error),
                 REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, size - 1);
}

static void all_errors(struct rng *rng, uint64_t times) {
    (void)rng;
    static call *const calls[] = {reduct_mpi_allreduce, call_last, reduct_mpi_scan, reduct_mpi_exscan, call_later};
    for (uint64_t i = 0; i < times; i++)
        for (size_t c = 0; c < 5; c++)
            if (calls[c] != reduct_mpi_exscan) /* whose last rank's part is in no result */
                errors(calls[c]);
    errors_of_many();
    errors_of_accumulators();
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
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        const reduct_mpi_field field = field_of(&data, &sum, &exact);
        CHECK(reduct_mpi_allreduce(&field, 1, MPI_COMM_WORLD, NULL) == REDUCT_OK, "sum");
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
    const int ranks = size < 64 ? size : 64;
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
        for (int r = 0; r < ranks; r++) {
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
            for (int r = 0; r < ranks; r++)
                values_put_bits(type, one.x, (size_t)r, values_bits(type, all[r], k));
            uint64_t index;
            CHECK(expect(&one, &sum, (size_t)ranks, expected[k], &index) == REDUCT_OK, "one element");
        }
        memset(results, 0x5A, sizeof results);
        if (rng_next(rng) & 1)
            memcpy(results, all[rank], sizeof results);
        const bool in_place = memcmp(results, all[rank], sizeof results) == 0;
        const int rounding = ROUNDINGS[rng_below(rng, 4)];
        fesetround(rounding);
        const reduct_status status =
            reduct_mpi_allreduce_each(type->type, in_place ? results : all[rank], results, count, MPI_COMM_WORLD, NULL);
        CHECK(fegetround() == rounding, "not the caller's rounding");
        fesetround(FE_TONEAREST);
        CHECK(status == REDUCT_OK, "each");
        for (size_t k = 0; k < count; k++)
            CHECK(memcmp((const char *)results + k * type->size, expected[k], type->size) == 0,
                  "%s, element %zu of kind %d: not the bits of one process", type->name, k, (int)kind);
    }
    reduct_error error;
    CHECK(reduct_mpi_allreduce_each(REDUCT_F16, all[0], results, 1, MPI_COMM_WORLD, &error) == REDUCT_ERROR_UNSUPPORTED,
          "f16");
    expect_error(
        reduct_mpi_allreduce_each(REDUCT_F64, rank == size - 1 ? NULL : all[0], results, 1, MPI_COMM_WORLD, &error),
        REDUCT_ERROR_ARGUMENT, &error, UINT64_MAX, size - 1);
    if (size > 1)
        expect_error(reduct_mpi_allreduce_each(REDUCT_F64, all[0], results, rank == 0, MPI_COMM_WORLD, &error),
                     REDUCT_ERROR_MISMATCH, &error, UINT64_MAX, -1);
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
        CHECK(reduct_mpi_allreduce(fields, 3 * ROWS, MPI_COMM_WORLD, NULL) == REDUCT_OK, "rows");
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
    MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 5, &between);
    CHECK(reduct_mpi_allreduce(&field, 1, between, NULL) == REDUCT_ERROR_UNSUPPORTED && total == 7, "between");
    CHECK(reduct_mpi_reduce(&field, 1, 0, between, NULL) == REDUCT_ERROR_UNSUPPORTED, "between");
    CHECK(reduct_mpi_allreduce_accumulators(&none, 1, between, NULL) == REDUCT_ERROR_UNSUPPORTED, "between");
    CHECK(reduct_mpi_allreduce_words(&sum, words, 1, between, NULL) == REDUCT_ERROR_UNSUPPORTED, "between");
    CHECK(reduct_mpi_allreduce_each(REDUCT_F64, &x, &total, 1, between, NULL) == REDUCT_ERROR_UNSUPPORTED, "between");
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* Other communicators: ranks in reverse, one rank alone. */
static void communicators(struct rng *rng, uint64_t times) {
    (void)rng, (void)times;
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
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
    CHECK(reduct_mpi_allreduce(fields, 3, MPI_COMM_WORLD, NULL) == REDUCT_OK, "huge");
    CHECK(total == (int64_t)size * (size + 1) / 2 - size, "sum: %lld", (long long)total);
    CHECK(where == (uint64_t)size * count - 1, "argmax: %llu", (unsigned long long)where);
    CHECK(elements == (uint64_t)size * count, "count: %llu", (unsigned long long)elements);
    munmap(x, count);
}

/* A rank that dies while the others wait for it. */
static void killed(struct rng *rng, uint64_t times) {
    (void)rng, (void)times;
    const double x = 1;
    double total;
    reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_mpi_field field = {.reduction = &sum, .x = &x, .count = 1, .result = &total};
    CHECK(reduct_mpi_allreduce(&field, 1, MPI_COMM_WORLD, NULL) == REDUCT_OK, "sum");
    if (rank == size - 1)
        abort();
    reduct_mpi_allreduce(&field, 1, MPI_COMM_WORLD, NULL);
    puts("went on without the rank that died");
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*test)(struct rng *rng, uint64_t times);
        uint64_t times;
    } TESTS[] = {{"splits", splits, 300},   {"middles", middles, 400},
                 {"few", few, 800},         {"accumulators", accumulators, 60},
                 {"tables", tables, 10},    {"each", each, 600},
                 {"errors", all_errors, 3}, {"plain", plain, 1},
                 {"rows", rows, 5},         {"communicators", communicators, 1},
                 {"killed", killed, 1},     {"huge", huge, 1}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof TESTS / sizeof *TESTS; i++) {
        struct rng rng = rng_of(test_seed() + i);
        const bool apart = TESTS[i].test == killed || TESTS[i].test == huge;
        if (argc > 1 ? strcmp(argv[1], TESTS[i].name) == 0 : !apart)
            TESTS[i].test(&rng, test_scaled(TESTS[i].times, 1));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks: done\n", size);
    MPI_Finalize();
    return 0;
}
