/* MPI, opened at run time: see mpi.h. */
#include "drivers/mpi.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A variable's number, or -1. */
static int number_of(const char *name) {
    const char *text = getenv(name);
    char *end = NULL;
    long number = text && *text ? strtol(text, &end, 10) : -1;
    return end && *end == '\0' && number >= 0 && number < 1 << 30 ? (int)number : -1;
}

/* OpenMPI's launcher, MPICH's and those that are like it, and Slurm's, which offers one of their interfaces (PMIx is what OpenMPI
 * understands, PMI what MPICH does) or none. */
struct rd_mpi_launcher rd_mpi_launcher(void) {
    static const struct {
        const char *rank, *size, *needs, *library;
    } LAUNCHERS[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "openmpi"},
                     {"PMI_RANK", "PMI_SIZE", "PMI_RANK", "mpich"},
                     {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "PMIX_RANK", "openmpi"},
                     {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "PMI_FD", "mpich"},
                     {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", NULL}};
    for (size_t i = 0; i < sizeof LAUNCHERS / sizeof *LAUNCHERS; i++) {
        int rank = number_of(LAUNCHERS[i].rank), size = number_of(LAUNCHERS[i].size);
        if (getenv(LAUNCHERS[i].needs) && rank >= 0 && size > rank)
            return (struct rd_mpi_launcher){rank, size, LAUNCHERS[i].library};
    }
    return (struct rd_mpi_launcher){0, 1, NULL};
}

static void *open_beside(const char *folder, const char *file) {
    char program[4096], path[4608];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        return NULL;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    snprintf(path, sizeof path, "%s/%s%s", program, folder, file);
    return access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
}

const struct rd_mpi_ranks *rd_mpi_load(const char *library, char why[512]) {
    char file[128];
    snprintf(file, sizeof file, "libreduct_mpi_%s.so.%s", library, RD_MPI_ABI);
    void *opened = open_beside("", file); /* RTLD_GLOBAL, since OpenMPI loads parts of itself that expect its names */
    opened = opened ? opened : open_beside("../" RD_MPI_FOLDER "/", file);
    opened = opened ? opened : dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    if (!opened) {
        snprintf(why, 512, "%s", dlerror());
        return NULL;
    }
    const struct rd_mpi_ranks *ranks = dlsym(opened, RD_MPI_RANKS);
    if (ranks && ranks->size_of_this == (int)sizeof *ranks)
        return ranks;
    snprintf(why, 512, "%s is of another version", file);
    return NULL;
}

/* In the words of PMI-1, which begin with a greeting. */
void rd_mpi_abort(void) {
    static const char HELLO[] = "cmd=init pmi_version=1 pmi_subversion=1\n", ABORT[] = "cmd=abort exitcode=1\n";
    char answer[256];
    int launcher = number_of("PMI_FD");
    if (launcher >= 0 && write(launcher, HELLO, sizeof HELLO - 1) > 0 && read(launcher, answer, sizeof answer) > 0 &&
        write(launcher, ABORT, sizeof ABORT - 1) > 0)
        return; /* for the launcher to end this process, too, or not */
}
