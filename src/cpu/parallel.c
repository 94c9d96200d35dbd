/* Threads for one call. */
#include "cpu/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

enum { THREADS_MAX = 256, STACK = 1 << 19 };

/* A thread is worth creating for so much data: about a hundred microseconds of reading. Who asks for a number of
 * threads gets them for less. */
enum { BYTES_PER_THREAD = 4 << 20, BYTES_PER_REQUESTED_THREAD = 1 << 18 };

unsigned rd_processors(void) {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

unsigned rd_parallel_threads(unsigned requested, uint64_t pieces, uint64_t bytes) {
    uint64_t useful = bytes / (requested ? BYTES_PER_REQUESTED_THREAD : BYTES_PER_THREAD);
    uint64_t threads = useful < pieces ? useful : pieces;
    if (threads <= 1)
        return 1;
    unsigned most = requested ? requested : rd_processors();
    return threads < most ? (unsigned)threads : most;
}

struct job {
    void (*work)(void *);
    void *context;
};

static void *run(void *argument) {
    struct job *job = argument;
    job->work(job->context);
    return NULL;
}

void rd_parallel(unsigned threads, void (*work)(void *context), void *context) {
    pthread_t thread[THREADS_MAX];
    struct job job = {work, context};
    unsigned created = 0, wanted = threads < THREADS_MAX ? threads : THREADS_MAX;
    if (wanted > 1) {
        pthread_attr_t attributes;
        sigset_t all, callers;
        sigfillset(&all); /* signals are for the caller's own threads */
        pthread_sigmask(SIG_SETMASK, &all, &callers);
        if (pthread_attr_init(&attributes) == 0) {
            pthread_attr_setstacksize(&attributes, STACK);
            while (created < wanted - 1 && pthread_create(&thread[created], &attributes, run, &job) == 0)
                created++;
            pthread_attr_destroy(&attributes);
        }
        pthread_sigmask(SIG_SETMASK, &callers, NULL);
    }
    work(context);
    for (unsigned i = 0; i < created; i++)
        pthread_join(thread[i], NULL);
}
