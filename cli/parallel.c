/* Threads for parsing and byte swapping: see parallel.h. The library has its own for the reductions. */
#include "parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

/* Those that the process may use, where the system tells; otherwise those that there are. */
static unsigned count_processors(void) {
#if defined(__linux__)
    cpu_set_t processors;
    if (sched_getaffinity(0, sizeof processors, &processors) == 0) /* not beyond CPU_SETSIZE processors */
        return (unsigned)CPU_COUNT(&processors);
#endif
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}

unsigned parallel_threads(unsigned requested) {
    if (requested == 0)
        requested = count_processors();
    return requested < PARALLEL_MOST ? requested : PARALLEL_MOST;
}

struct task {
    void (*work)(void *item);
    void *item;
    pthread_t thread;
    bool started;
};

static void *run_task(void *argument) {
    struct task *task = argument;
    task->work(task->item);
    return NULL;
}

void parallel_for(void *items, size_t count, size_t size, void (*work)(void *item)) {
    struct task tasks[PARALLEL_MOST];
    for (size_t i = 1; i < count; i++) {
        tasks[i] = (struct task){.work = work, .item = (char *)items + i * size};
        tasks[i].started = pthread_create(&tasks[i].thread, NULL, run_task, &tasks[i]) == 0;
        if (!tasks[i].started)
            work(tasks[i].item);
    }
    if (count > 0)
        work(items);
    for (size_t i = 1; i < count; i++) {
        if (tasks[i].started)
            pthread_join(tasks[i].thread, NULL);
    }
}
