/* MPI, opened at run time: what a program needs to be one of several ranks without being linked with any MPI library. OpenMPI and
 * MPICH differ in binary form; libreduct_mpi is there for each of them, and the launcher's environment says which one it
 * takes. */
#ifndef RD_DRIVERS_MPI_H
#define RD_DRIVERS_MPI_H

#include <stddef.h>

/* What libreduct_mpi_* offers, by the name RD_MPI_RANKS. Where MPI fails it ends the program, and the launcher the other
 * ranks. */
struct rd_mpi_ranks {
    int size_of_this;                                         /* sizeof(struct rd_mpi_ranks): no other version */
    void (*open)(int *rank, int *size);                       /* initialises MPI */
    int (*least)(int mine);                                   /* of all ranks */
    void (*gather)(const void *mine, size_t size, void *all); /* at rank 0, where `all` holds that many for each rank */
    void (*share)(void *bytes, size_t size);                  /* from rank 0; the others sleep until they come */
    void (*close)(void);
};
#define RD_MPI_RANKS "reduct_mpi_ranks"

/* What a launcher says to the processes that it starts. */
struct rd_mpi_launcher {
    int rank, size;      /* 0 and 1 where there is none */
    const char *library; /* openmpi or mpich; null where the launcher offers no connection to either */
};
struct rd_mpi_launcher rd_mpi_launcher(void);

/* Loads the library for a launcher: from the folder of the program, from ../lib beside it, or from where the loader looks. Null,
 * with the reason in `why`, where there is none. */
const struct rd_mpi_ranks *rd_mpi_load(const char *library, char why[512]);

/* Ends all ranks, where the launcher can be told so without its MPI library: MPICH's and its kin, which otherwise wait for a rank that ends
 * before it has joined the others. Elsewhere nothing happens. */
void rd_mpi_abort(void);

#endif
