/* Times exact reductions over ranks beside plain ones of doubles by MPI itself, in turns within one run:
 *
 *   mpirun -n RANKS bench_mpi_openmpi [SECONDS [one]]
 *
 * Each line is one case: the least of many runs, in microseconds, on the rank that took longest. SECONDS are spent on each, 0.5
 * unless said; `one` leaves it at sums of one number for each rank. docs/scaling.md explains them and what follows. */
#include <reduct/mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 1 << 20, STATE = 76, SIZES = 6 };

struct data {
    double *x, *results;
    int64_t *words, *sums;
    size_t count;
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

static void exact_each(struct data *data) {
    reduct_error error;
    stop_unless(reduct_mpi_allreduce_each(REDUCT_F64, data->x, data->results, data->count, MPI_COMM_WORLD, &error),
                &error);
}

/* Seconds that one call takes. */
static double time_of(work *call, struct data *data, size_t count) {
    data->count = count;
    double began = MPI_Wtime();
    call(data);
    return MPI_Wtime() - began;
}

/* The least time of several kinds of work, taken in turns; all ranks begin each together, and the last to end counts. */
static void measure(work *const *works, size_t kinds, struct data *data, const size_t *counts, double seconds,
                    double *least) {
    for (size_t k = 0; k < kinds; k++) {
        least[k] = 1e9;
        time_of(works[k], data, counts[k]); /* for the first time all is slower */
    }
    for (double began = MPI_Wtime(), spent = 0; spent < seconds;) {
        for (int turn = 0; turn < 20; turn++) {
            for (size_t k = 0; k < kinds; k++) {
                MPI_Barrier(MPI_COMM_WORLD);
                double time = time_of(works[k], data, counts[k]);
                MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
                least[k] = time < least[k] ? time : least[k];
            }
            if (counts[0] > 1000)
                break;
        }
        spent = MPI_Wtime() - began;
        MPI_Bcast(&spent, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

static void print(int rank, const char *what, size_t count, const double *least, size_t kinds) {
    if (rank != 0)
        return;
    printf("%-28s %8zu", what, count);
    for (size_t k = 0; k < kinds; k++)
        printf(" %10.2f", 1e6 * least[k]);
    printf("   %5.2f\n", least[1] / least[0]);
    fflush(stdout);
}

static void run(int rank, double seconds, bool only_one) {
    static const size_t ONE[] = {1, 1, STATE, 1}, MANY[] = {GROUPS, GROUPS};
    struct data data = {malloc(GROUPS * sizeof(double)), malloc(GROUPS * sizeof(double)),
                        calloc(GROUPS, sizeof(int64_t)), calloc(GROUPS, sizeof(int64_t)), 0};
    double least[4];
    if (!data.x || !data.results || !data.words || !data.sums)
        stop_unless(REDUCT_ERROR_OUT_OF_MEMORY, &(reduct_error){.message = "memory"});
    for (size_t i = 0; i < GROUPS; i++)
        data.x[i] = (double)((i * 2654435761U + (unsigned)rank) % 1000003) / 1000003 - 0.5;
    if (rank == 0)
        printf("%-28s %8s %10s %10s %10s %10s   ratio\n", "case", "numbers", "plain", "exact", "words", "alone");
    measure((work *const[]){plain, exact_scalar, integers, exact_alone}, 4, &data, ONE, seconds, least);
    print(rank, "one sum of doubles", 1, least, 4);
    if (!only_one) {
        measure((work *const[]){plain, exact_each}, 2, &data, MANY, seconds, least);
        print(rank, "2^20 sums of doubles", GROUPS, least, 2);
    }
    for (size_t i = 0, count = 8; i < SIZES && !only_one; i++, count *= 8) {
        measure((work *const[]){plain, exact_each}, 2, &data, (size_t[]){count, count}, seconds, least);
        print(rank, "sums of doubles", count, least, 2);
    }
    free(data.x);
    free(data.results);
    free(data.words);
    free(data.sums);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        printf("%d ranks, microseconds\n", size);
    run(rank, argc > 1 ? atof(argv[1]) : 0.5, argc > 2);
    MPI_Finalize();
    return 0;
}
