/* Times exact reductions over ranks beside plain ones of doubles by MPI itself, in turns within one run:
 *
 *   mpirun -n RANKS bench_mpi_openmpi [SECONDS [one | fields | tables]]
 *
 * Each case has two lines, the least and the median of many runs, in microseconds, on the rank that took longest. SECONDS are spent on each, 0.5
 * unless said; `one` leaves it at sums of one number for each rank, `fields` at those of many fields in one call, `tables` at groups.
 * docs/scaling.md explains them and what follows. */
#include <reduct/mpi.h>

#include "arguments.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A short message has 8 words: what MPI takes to add these up itself. */
enum { GROUPS = 1 << 20, MESSAGE = 8, SIZES = 6, KINDS = 4, RUNS = 1 << 17, RUNS_LEAST = 5, FIELDS = 1000, EACH = 20 };

struct data {
    double *x, *results;
    int64_t *words, *sums;
    size_t count;
    reduct_table *
        table; /* of GROUPS groups, to which `groups` are the indices; null: there is none to be filled before each call */
    uint32_t *groups;
};

typedef void work(struct data *data);

static void stop_unless(reduct_status status, const reduct_error *error) {
    if (status == REDUCT_OK)
        return;
    fprintf(stderr, "bench: %s\n", error->message);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void plain(struct data *data) {
    MPI_Allreduce(data->x, data->results, (int)data->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void integers(struct data *data) {
    MPI_Allreduce(data->words, data->sums, (int)data->count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static void exact_scalar(struct data *data) {
    static const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_mpi_field field = {.reduction = &sum, .x = data->x, .count = 1, .result = data->results};
    reduct_error error;
    stop_unless(reduct_mpi_allreduce(&field, 1, MPI_COMM_WORLD, &error), &error);
}

/* The part of the above that is not MPI's. */
static void exact_alone(struct data *data) {
    static const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    const reduct_mpi_field field = {.reduction = &sum, .x = data->x, .count = 1, .result = data->results};
    reduct_error error;
    stop_unless(reduct_mpi_allreduce(&field, 1, MPI_COMM_SELF, &error), &error);
}

/* Many sums in one call, of which each rank has one number, or so many that they take accumulators. */
static void exact_fields_of(struct data *data, size_t each) {
    static const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    static reduct_mpi_field fields[FIELDS];
    reduct_error error;
    for (size_t i = 0; i < data->count; i++)
        fields[i] = (reduct_mpi_field){
            .reduction = &sum, .x = data->x + i * each, .count = each, .result = data->results + i, .device = "cpu"};
    stop_unless(reduct_mpi_allreduce(fields, data->count, MPI_COMM_WORLD, &error), &error);
}

static void exact_fields(struct data *data) {
    exact_fields_of(data, 1);
}

static void exact_long_fields(struct data *data) {
    exact_fields_of(data, EACH);
}

static void exact_each(struct data *data) {
    reduct_error error;
    stop_unless(reduct_mpi_allreduce_each(REDUCT_F64, data->x, data->results, data->count, MPI_COMM_WORLD, &error),
                &error);
}

/* A table of as many groups as there are numbers, of one each. */
static void fill_table(struct data *data) {
    const reduct_table_batch batch = {.x = data->x, .count = GROUPS, .indices = data->groups, .index = REDUCT_U32};
    reduct_error error;
    reduct_table_reset(data->table);
    stop_unless(reduct_table_add(data->table, &batch, &error), &error);
}

static void exact_table(struct data *data) {
    reduct_error error;
    stop_unless(reduct_mpi_allreduce_table(data->table, MPI_COMM_WORLD, &error), &error);
}

/* Seconds that one call takes. */
static double time_of(work *call, struct data *data, size_t count) {
    data->count = count;
    double began = MPI_Wtime();
    call(data);
    return MPI_Wtime() - began;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least and the median time of several kinds of work. */
struct times {
    double least[KINDS], median[KINDS];
};

/* They are taken in turns; all ranks begin each together, and the last to end counts. */
static struct times measure(work *const *works, size_t kinds, struct data *data, const size_t *counts, double seconds) {
    static double all[KINDS][RUNS];
    struct times times;
    int runs = 0;
    for (size_t k = 0; k < kinds; k++)
        time_of(works[k], data, counts[k]); /* for the first time all is slower */
    for (double began = MPI_Wtime(), spent = 0; runs < RUNS_LEAST || (spent < seconds && runs < RUNS);) {
        for (int turn = 0; turn < 20 && runs < RUNS; turn++) {
            for (size_t k = 0; k < kinds; k++) {
                if (data->table)
                    fill_table(data);
                MPI_Barrier(MPI_COMM_WORLD);
                double time = time_of(works[k], data, counts[k]);
                MPI_Allreduce(&time, &all[k][runs], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            }
            runs++;
            if (counts[0] > 1000)
                break;
        }
        spent = MPI_Wtime() - began;
        MPI_Bcast(&spent, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    for (size_t k = 0; k < kinds; k++) {
        qsort(all[k], (size_t)runs, sizeof **all, compare);
        times.least[k] = all[k][0];
        times.median[k] = all[k][runs / 2];
    }
    return times;
}

static void print_line(const char *what, const char *which, size_t count, const double *time, size_t kinds) {
    printf("%-20s %-7s %8zu", what, which, count);
    for (size_t k = 0; k < kinds; k++)
        printf(" %10.3f", 1e6 * time[k]);
    printf("%*s   %5.2f\n", (int)(KINDS - kinds) * 11, "", time[1] / time[0]);
}

static void print(int rank, const char *what, size_t count, const struct times *times, size_t kinds) {
    if (rank != 0)
        return;
    print_line(what, "least", count, times->least, kinds);
    print_line("", "median", count, times->median, kinds);
    fflush(stdout);
}

/* Tables, which are filled anew for each run, beside as many doubles. */
static void run_tables(int rank, double seconds, struct data *data) {
    static const reduct_reduction sum = {.op = REDUCT_SUM, .element = REDUCT_F64};
    static const size_t COUNTS[] = {GROUPS, GROUPS};
    const reduct_table_options options = {.reductions = &sum, .reduction_count = 1, .groups = GROUPS, .device = "cpu"};
    reduct_error error;
    data->groups = malloc(GROUPS * sizeof *data->groups);
    if (!data->groups)
        stop_unless(REDUCT_ERROR_OUT_OF_MEMORY, &(reduct_error){.message = "memory"});
    for (uint32_t i = 0; i < GROUPS; i++)
        data->groups[i] = i;
    stop_unless(reduct_table_create(&options, &data->table, &error), &error);
    const struct times times = measure((work *const[]){plain, exact_table}, 2, data, COUNTS, seconds);
    print(rank, "2^20 groups", GROUPS, &times, 2);
    reduct_table_destroy(data->table);
    data->table = NULL;
    free(data->groups);
}

static void run_fields(int rank, double seconds, struct data *data) {
    static const size_t COUNTS[] = {8, 20, 100, 250, FIELDS};
    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++) {
        const size_t counts[] = {COUNTS[i], COUNTS[i], COUNTS[i]};
        struct times times = measure((work *const[]){plain, exact_fields, exact_long_fields}, 3, data, counts, seconds);
        print(rank, "fields in one call", COUNTS[i], &times, 3);
    }
}

/* Whether a part was asked for: all are where `only` is empty. */
static bool wants(const char *only, const char *part) {
    return !*only || strcmp(only, part) == 0;
}

static void run(int rank, double seconds, const char *only) {
    static const size_t ONE[] = {1, 1, MESSAGE, 1}, MANY[] = {GROUPS, GROUPS};
    struct data data = {.x = malloc(GROUPS * sizeof(double)),
                        .results = malloc(GROUPS * sizeof(double)),
                        .words = calloc(GROUPS, sizeof(int64_t)),
                        .sums = calloc(GROUPS, sizeof(int64_t))};
    struct times times;
    if (!data.x || !data.results || !data.words || !data.sums)
        stop_unless(REDUCT_ERROR_OUT_OF_MEMORY, &(reduct_error){.message = "memory"});
    for (size_t i = 0; i < GROUPS; i++)
        data.x[i] = (double)((i * 2654435761U + (unsigned)rank) % 1000003) / 1000003 - 0.5;
    if (rank == 0)
        printf("%-28s %8s %10s %10s %10s %10s   ratio\n", "case", "numbers", "plain", "exact", "8 words", "alone");
    if (wants(only, "one")) {
        times = measure((work *const[]){plain, exact_scalar, integers, exact_alone}, KINDS, &data, ONE, seconds);
        print(rank, "one sum of doubles", 1, &times, KINDS);
    }
    if (wants(only, "tables"))
        run_tables(rank, seconds, &data);
    if (wants(only, "fields"))
        run_fields(rank, seconds, &data);
    if (!*only) {
        times = measure((work *const[]){plain, exact_each}, 2, &data, MANY, seconds);
        print(rank, "2^20 sums of doubles", GROUPS, &times, 2);
    }
    for (size_t i = 0, count = 8; i < SIZES && !*only; i++, count *= 8) {
        times = measure((work *const[]){plain, exact_each}, 2, &data, (size_t[]){count, count}, seconds);
        print(rank, "sums of doubles", count, &times, 2);
    }
    free(data.x);
    free(data.results);
    free(data.words);
    free(data.sums);
}

/* Reads the arguments, or writes what is wrong with them. */
static bool read_arguments(int argc, char **argv, double *seconds, const char **only, char *why, size_t room) {
    static const char *const PARTS[] = {"one", "fields", "tables"};
    *seconds = 0.5;
    *only = argc > 2 ? argv[2] : "";
    if (argc > 1 && !read_number(argv[1], 0, SECONDS_MOST, seconds)) {
        snprintf(why, room, "SECONDS: '%.60s'; expected a number from 0 to %d", argv[1], SECONDS_MOST);
        return false;
    }
    bool known = argc <= 2;
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
        known = known || strcmp(*only, PARTS[i]) == 0;
    if (!known)
        snprintf(why, room, "part: '%.60s'; expected one, fields, tables or none", *only);
    else if (argc > 3)
        snprintf(why, room, "arguments: '%.60s'; expected at most two", argv[3]);
    return known && argc <= 3;
}

int main(int argc, char **argv) {
    int rank, size;
    double seconds;
    const char *only;
    char why[200];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const bool runs = read_arguments(argc, argv, &seconds, &only, why, sizeof why); /* the same on all ranks */
    if (rank == 0 && !runs)
        fprintf(stderr, "bench: %s\n", why);
    if (rank == 0 && runs)
        printf("%d ranks, microseconds\n", size);
    if (runs)
        run(rank, seconds, only);
    MPI_Finalize();
    return !runs;
}
