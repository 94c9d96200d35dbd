/* Reductions over ranks of data in a GPU's memory: started by an MPI launcher on any number of ranks, each with an emulated GPU. Its
 * memory is the host's, so that the driver is asked whether it did what a real one would have to. */
#include <reduct/mpi.h>

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_support.h"

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: rank %d of %d: %s\n", __FILE__, __LINE__, rank, size, #condition);                 \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                              \
        }                                                                                                              \
    } while (0)

enum { EACH = 9001, MOST = 16 * EACH };

static int rank, size;
static unsigned long long (*launches)(int device), (*copies)(void); /* so far */

static void find(const char *name, void *function) {
    void *found = dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), name);
    CHECK(found);
    memcpy(function, &found, sizeof found);
}
static double all[MOST]; /* of all ranks, one after another */

/* Parts of so many elements of each rank, on the GPUs of those ranks whose bit is set. */
static void fields(size_t count, unsigned there) {
    static const reduct_operator OPS[] = {REDUCT_SUM, REDUCT_ARGMAX, REDUCT_STD, REDUCT_DOT};
    const double *own = all + (size_t)rank * count;
    const rd_cu_address copy = gpu_copy_of(own, count * sizeof *own);
    const void *x = there >> rank & 1 ? gpu_pointer(copy, 0) : (const void *)own;
    for (size_t o = 0; o < sizeof OPS / sizeof *OPS; o++) {
        const reduct_reduction reduction = test_reduction(OPS[o], REDUCT_F64, REDUCT_DEFAULT);
        const bool two = test_operator(OPS[o])->inputs == 2;
        const struct oracle_result expected = gpu_expected(&reduction, all, two ? all : NULL, count * (size_t)size);
        unsigned char result[8];
        reduct_mpi_field field = {
            .reduction = &reduction, .x = x, .y = two ? x : NULL, .count = count, .result = result};
        const unsigned long long before = launches(0);
        CHECK(reduct_mpi_allreduce(&field, 1, MPI_COMM_WORLD, NULL) == REDUCT_OK);
        CHECK((launches(0) > before) == (there >> rank & 1));
        CHECK(memcmp(result, expected.bytes, sizeof result) == 0);
    }
    gpu_free(copy);
}

/* A pair of which one array is on the GPU of one rank: an error of all ranks. */
static void apart(void) {
    const rd_cu_address copy = gpu_copy_of(all, 100 * sizeof *all);
    const reduct_reduction dot = test_reduction(REDUCT_DOT, REDUCT_F64, REDUCT_DEFAULT);
    double result = 7;
    const reduct_mpi_field field = {.reduction = &dot,
                                    .x = gpu_pointer(copy, 0),
                                    .y = rank == size - 1 ? (const void *)all : gpu_pointer(copy, 0),
                                    .count = 100,
                                    .result = &result};
    reduct_error error;
    CHECK(reduct_mpi_allreduce(&field, 1, MPI_COMM_WORLD, &error) == REDUCT_ERROR_ARGUMENT);
    CHECK(strstr(error.message, "in host memory") && result == 7);
    gpu_free(copy);
}

/* Element by element, from and to either memory. */
static void each(bool from_there, bool to_there, bool in_place) {
    static double expected[EACH], got[EACH];
    const double *own = all + (size_t)rank * EACH;
    const rd_cu_address copy = gpu_copy_of(own, sizeof got), sums = gpu_alloc(sizeof got);
    CHECK(reduct_mpi_allreduce_each(REDUCT_F64, own, expected, EACH, MPI_COMM_WORLD, NULL) == REDUCT_OK);
    const void *x = from_there ? gpu_pointer(copy, 0) : (const void *)own;
    void *results = in_place ? gpu_pointer(copy, 0) : to_there ? gpu_pointer(sums, 0) : (void *)got;
    const unsigned long long before = copies();
    CHECK(reduct_mpi_allreduce_each(REDUCT_F64, x, results, EACH, MPI_COMM_WORLD, NULL) == REDUCT_OK);
    CHECK(copies() == before + from_there + to_there);
    if (to_there)
        gpu_download(got, in_place ? copy : sums, sizeof got);
    CHECK(memcmp(got, expected, sizeof got) == 0);
    gpu_free(copy);
    gpu_free(sums);
}

/* On a thread, or rank, on which no context is current; the same afterwards. */
static void without_context(void) {
    rd_cu_context context;
    double before = all[rank], sum = 0;
    const rd_cu_address copy = gpu_copy_of(&before, sizeof before);
    CU(gpu.driver->cuCtxSetCurrent(NULL));
    const reduct_status status =
        reduct_mpi_allreduce_each(REDUCT_F64, gpu_pointer(copy, 0), &sum, 1, MPI_COMM_WORLD, NULL);
    CU(gpu.driver->cuCtxGetCurrent(&context));
    CHECK(status == REDUCT_OK && !context && !isnan(sum));
    CU(gpu.driver->cuCtxSetCurrent(gpu.primary));
    gpu_free(copy);
}

int main(int argc, char **argv) {
    const char *why = "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!gpu_open(&why)) {
        fprintf(stderr, "no GPU: %s\n", why);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    find("emulated_cuda_launches", &launches);
    find("emulated_cuda_copies", &copies);
    struct rng rng = rng_of(test_seed());
    for (size_t i = 0; i < MOST; i++)
        all[i] = ldexp(rng_unit(&rng) - 0.5, (int)rng_below(&rng, 50));
    fields(5000, ~0U);
    fields(5000, 2);
    fields(3, ~0U);
    fields(3, 1);
    apart();
    each(true, true, false);
    each(true, true, true);
    each(true, false, false);
    each(false, true, false);
    without_context();
    if (rank == 0)
        printf("%d ranks: done\n", size);
    MPI_Finalize();
    return 0;
}
