/* What the command needs of MPI under a launcher: see drivers/mpi.h. */
#include "drivers/mpi.h"

#include <mpi.h>
#include <time.h>

static void open_ranks(int *rank, int *size) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
}

/* Waits without keeping a processor busy that another rank may need. */
static void wait_for(MPI_Request *request) {
    static const struct timespec pause = {.tv_nsec = 1000000};
    for (int done = 0;;) {
        MPI_Status status;
        MPI_Test(request, &done, &status);
        if (done)
            return;
        nanosleep(&pause, NULL);
    }
}

static int least(int mine) {
    int all;
    MPI_Request request;
    MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    wait_for(&request);
    return all;
}

static void gather(const void *mine, size_t size, void *all) {
    MPI_Gather(mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void share(void *bytes, size_t size) {
    MPI_Request request;
    MPI_Ibcast(bytes, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    wait_for(&request);
}

static void close_ranks(void) {
    MPI_Finalize();
}

extern const struct rd_mpi_ranks reduct_mpi_ranks;
__attribute__((visibility("default")))
const struct rd_mpi_ranks reduct_mpi_ranks = {.size_of_this = sizeof(struct rd_mpi_ranks),
                                              .open = open_ranks,
                                              .least = least,
                                              .gather = gather,
                                              .share = share,
                                              .close = close_ranks};
