/* The command under an MPI launcher: see ranks.h. */
#include "ranks.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drivers/mpi.h"

static const struct rd_mpi_ranks *mpi;
static const char *library;
static int errors = -1; /* standard error, while nothing is said */

static void silence(int stream) {
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, stream);
    if (nowhere > STDERR_FILENO)
        close(nowhere);
}

struct ranks ranks_find(void) {
    const char *wish = getenv("REDUCT_RANKS");
    struct rd_mpi_launcher launcher = rd_mpi_launcher();
    if (wish && strcmp(wish, "alone") == 0)
        return (struct ranks){0, 1};
    library = launcher.library;
    if (launcher.rank > 0) {
        errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        silence(STDOUT_FILENO);
        silence(STDERR_FILENO);
    }
    return (struct ranks){launcher.rank, launcher.size};
}

/* FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo, 1991). */
static uint64_t hash_of(size_t count, const char *const *words) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < count; i++)
        for (const char *c = words[i];; c++) {
            hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
            if (!*c)
                break;
        }
    return hash;
}

bool ranks_same(size_t count, const char *const *words) {
    uint64_t mine = hash_of(count, words), first = mine; /* that of rank 0 */
    mpi->share(&first, sizeof first);
    return ranks_all(first == mine);
}

/* How launchers are told apart. */
static const char *launcher_of(const char *name) {
    return strcmp(name, "openmpi") == 0 ? "OpenMPI's mpirun or srun --mpi=pmix" : "MPICH's mpirun or srun --mpi=pmi2";
}

/* A library that does not understand the launcher takes each process for the only one, and each would reduce all there is. */
static enum outcome join(const struct ranks *ranks) {
    int rank = 0, size = 1;
    mpi->open(&rank, &size);
    if (rank == ranks->rank && size == ranks->size)
        return DONE;
    mpi->close();
    mpi = NULL;
    return fail("%d ranks under %s, of which this is number %d, but to MPI it is number %d of %d: the MPI library that "
                "libreduct_mpi_%s uses does not fit the launcher",
                ranks->size, launcher_of(library), ranks->rank, rank, size, library);
}

static enum outcome connect(const struct ranks *ranks, int argc, char **argv) {
    char why[512];
    if (!library)
        return fail("%d ranks, but their launcher connects them to no MPI library; expected mpirun, or srun with "
                    "--mpi=pmix or --mpi=pmi2",
                    ranks->size);
    mpi = rd_mpi_load(library, why);
    if (!mpi)
        return fail("%d ranks under %s, but libreduct_mpi_%s cannot be used: %s", ranks->size, launcher_of(library),
                    library, why);
    if (join(ranks) != DONE)
        return FAILED;
    if (ranks_same((size_t)argc, (const char *const *)argv))
        return DONE;
    return ranks_close(fail("the ranks have different command lines; with REDUCT_RANKS=alone in the environment each "
                            "reduces by itself"));
}

enum outcome ranks_open(struct ranks *ranks, int argc, char **argv) {
    if (ranks->size == 1)
        return DONE;
    enum outcome outcome = connect(ranks, argc, argv);
    if (errors >= 0) { /* what happens from here on is for everyone to know */
        dup2(errors, STDERR_FILENO);
        close(errors);
    }
    return outcome;
}

void ranks_linger(const struct ranks *ranks) {
    static const struct timespec pause = {.tv_sec = 5};
    if (ranks->rank > 0 && !mpi)
        nanosleep(&pause, NULL);
}

bool ranks_all(bool mine) {
    return mpi->least(mine) != 0;
}

void ranks_gather(const void *mine, size_t size, void *all) {
    mpi->gather(mine, size, all);
}

enum outcome ranks_close(enum outcome outcome) {
    int status = (int)outcome;
    mpi->share(&status, sizeof status);
    mpi->close();
    return (enum outcome)status;
}
