/* The command under an MPI launcher: see ranks.h. */
#include "ranks.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drivers/mpi.h"

static const struct rd_mpi_ranks *mpi; /* once the ranks are connected */
static const char *library;
static bool tried, lacks; /* to connect them; the library for it */
static int errors = -1;   /* standard error, while what is said is kept, */
static int kept = -1;     /* and where it can be read */

/* Lets what is written to a stream go nowhere. */
static void silence(int stream) {
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, stream);
    if (nowhere > STDERR_FILENO)
        close(nowhere);
}

/* Keeps what is said in a pipe; what it has no room for is lost. */
static void keep_errors(void) {
    int ends[2];
    errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    silence(STDERR_FILENO);
    if (pipe(ends) != 0)
        return;
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    kept = ends[0];
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
}

/* Standard error is again what it was. */
static void free_errors(void) {
    if (errors < 0)
        return;
    dup2(errors, STDERR_FILENO);
    close(errors);
    errors = -1;
}

/* Says what was kept. */
static void say_kept(void) {
    char text[4096];
    free_errors();
    for (ssize_t size; kept >= 0 && (size = read(kept, text, sizeof text)) > 0;)
        fwrite(text, 1, (size_t)size, stderr);
}

enum outcome ranks_find(struct ranks *ranks) {
    const char *wish = getenv("REDUCT_RANKS");
    struct rd_mpi_launcher launcher = rd_mpi_launcher();
    char found[QUOTED];
    *ranks = (struct ranks){0, 1};
    if (wish && strcmp(wish, "alone") == 0)
        return DONE;
    library = launcher.library;
    *ranks = (struct ranks){launcher.rank, launcher.size};
    if (launcher.rank > 0) {
        silence(STDOUT_FILENO);
        keep_errors();
    }
    return wish && *wish ? fail("REDUCT_RANKS in the environment: found %s; expected alone, or nothing",
                                quote(found, wish, strlen(wish)))
                         : DONE;
}

/* FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo, 1991) of some bytes more. */
static uint64_t hash_more(uint64_t hash, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
    return hash;
}

static const uint64_t HASH_OF_NOTHING = 0xcbf29ce484222325;

static bool is_same(uint64_t mine) {
    uint64_t first = mine; /* that of rank 0 */
    mpi->share(&first, sizeof first);
    return ranks_all(first == mine);
}

bool ranks_same(size_t count, const char *const *words) {
    uint64_t hash = HASH_OF_NOTHING;
    for (size_t i = 0; i < count; i++)
        hash = hash_more(hash, words[i], strlen(words[i]) + 1);
    return is_same(hash);
}

/* Says of a file which rank is the first that has another size of it than rank 0. */
static enum outcome say_size(const struct ranks *ranks, const char *name, uint64_t mine) {
    uint64_t *all = ranks->rank == 0 ? malloc((size_t)ranks->size * sizeof *all) : NULL;
    if (!ranks_all(all || ranks->rank > 0)) {
        free(all);
        return fail_memory();
    }
    ranks_gather(&mine, sizeof mine, all);
    for (int r = 1; all && r < ranks->size; r++)
        if (all[r] != mine) {
            fail("%s: %" PRIu64 " bytes on rank %d; expected %" PRIu64 ", as on rank 0", name, all[r], r, mine);
            break;
        }
    free(all);
    return FAILED;
}

enum outcome ranks_check_sizes(const struct ranks *ranks, size_t count, const char *const *names,
                               const uint64_t *sizes) {
    if (is_same(hash_more(HASH_OF_NOTHING, sizes, count * sizeof *sizes)))
        return DONE;
    size_t same = 0; /* so many at the beginning; of one more than `other` they are not */
    for (size_t other = count - 1; same < other;) {
        size_t middle = same + (other - same) / 2;
        if (is_same(hash_more(HASH_OF_NOTHING, sizes, (middle + 1) * sizeof *sizes)))
            same = middle + 1;
        else
            other = middle;
    }
    return say_size(ranks, names[same], sizes[same]);
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

static enum outcome connect(const struct ranks *ranks) {
    char why[512];
    tried = true;
    if (!library)
        return fail("%d ranks, but their launcher connects them to no MPI library; expected mpirun, or srun with "
                    "--mpi=pmix or --mpi=pmi2",
                    ranks->size);
    mpi = rd_mpi_load(library, why);
    lacks = !mpi;
    if (lacks)
        return fail("%d ranks under %s, but libreduct_mpi_%s cannot be used: %s", ranks->size, launcher_of(library),
                    library, why);
    return join(ranks);
}

/* What became of all ranks up to here: where some have failed the first of them says why, which rank 0 has done at once. */
static enum outcome agree(const struct ranks *ranks, enum outcome outcome) {
    int first = mpi->least(outcome == DONE ? ranks->size : ranks->rank);
    if (first == ranks->size)
        return DONE;
    if (first == ranks->rank && first > 0)
        say_kept();
    return ranks_close(outcome == DONE ? FAILED : outcome);
}

enum outcome ranks_open(struct ranks *ranks, int argc, char **argv) {
    if (ranks->size == 1)
        return DONE;
    enum outcome outcome = connect(ranks);
    if (outcome == DONE)
        outcome = agree(ranks, DONE);
    else
        return outcome;
    if (outcome == DONE && !ranks_same((size_t)argc, (const char *const *)argv))
        outcome = ranks_close(fail("the ranks have different command lines; with REDUCT_RANKS=alone in the environment "
                                   "each reduces by itself"));
    free_errors(); /* what happens from here on is for everyone to know */
    return outcome;
}

/* Without a connection. Mostly all ranks fail alike: the first has the time to say why and to end them all, or its launcher does that as soon
 * as one has failed. A rank that is left then is one of few that lack the library, for which the others wait. */
static void end_apart(const struct ranks *ranks) {
    static const struct timespec first = {.tv_sec = 5}, said = {.tv_nsec = 500000000};
    if (ranks->rank > 0)
        nanosleep(&first, NULL);
    if (!lacks)
        return;
    say_kept();
    nanosleep(&said, NULL); /* what is on its way through the launcher when that ends is lost */
    rd_mpi_abort();
}

enum outcome ranks_fail(const struct ranks *ranks, enum outcome outcome) {
    if (ranks->size == 1 || mpi)
        return outcome;
    bool before = message_silence(true); /* it has failed already */
    bool connected = !tried && connect(ranks) == DONE;
    message_silence(before);
    if (connected)
        return agree(ranks, outcome);
    end_apart(ranks);
    return outcome;
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
