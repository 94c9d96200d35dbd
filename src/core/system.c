/* Linux by its system calls, everything else by POSIX. */
#include "core/system.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

void rd_yield(void) {
    sched_yield();
}

void *rd_large_alloc(size_t bytes) {
    const size_t size = (bytes + RD_LARGE_PAGE - 1) / RD_LARGE_PAGE * RD_LARGE_PAGE;
    void *memory = size < bytes ? NULL : aligned_alloc(RD_LARGE_PAGE, size);
#ifdef MADV_HUGEPAGE
    if (memory)
        (void)madvise(memory, size, MADV_HUGEPAGE);
#endif
    return memory;
}

uint64_t rd_clock(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>

_Static_assert(sizeof(struct rd_affinity) == sizeof(cpu_set_t), "an affinity is a cpu_set_t");
_Static_assert(sizeof(atomic_uint) == 4, "the kernel compares 32 bits");

/* The start of a file of the kernel's; false if it cannot be read. */
static bool read_file(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t length = read(file, text, size - 1);
    close(file);
    text[length > 0 ? length : 0] = 0;
    return length > 0;
}

/* Processors' worth of time that one control group grants, rounded up: its cpu.max holds microseconds of time and of the
 * period, or "max". */
static unsigned group_quota(const char *path) {
    char file[1024], text[64], *end;
    snprintf(file, sizeof file, "/sys/fs/cgroup%s/cpu.max", path);
    if (!read_file(file, text, sizeof text))
        return UINT_MAX;
    unsigned long long time = strtoull(text, &end, 10), period = end > text ? strtoull(end, NULL, 10) : 0;
    unsigned long long processors = period ? (time + period - 1) / period : UINT_MAX;
    return processors < 1 ? 1 : processors < UINT_MAX ? (unsigned)processors : UINT_MAX;
}

/* The least that this process's control group and those around it grant. */
static unsigned find_quota(void) {
    char groups[1024], *path, *end;
    unsigned least = group_quota("");
    if (!read_file("/proc/self/cgroup", groups, sizeof groups) || !(path = strstr(groups, "0::/")))
        return least;
    path += 3;
    path[strcspn(path, "\n")] = 0;
    for (; (end = strrchr(path, '/')) && end[1]; *end = 0) {
        unsigned quota = group_quota(path);
        least = quota < least ? quota : least;
    }
    return least;
}

/* Looked up once: it takes longer than a small reduction. */
static unsigned quota(void) {
    static atomic_uint found;
    unsigned value = atomic_load_explicit(&found, memory_order_relaxed);
    if (!value) {
        value = find_quota();
        atomic_store_explicit(&found, value, memory_order_relaxed);
    }
    return value;
}

unsigned rd_affinity_get(struct rd_affinity *affinity) {
    cpu_set_t set;
    CPU_ZERO(&set);
    unsigned processors = 0, granted = quota();
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        processors = (unsigned)CPU_COUNT(&set);
    else { /* more processors than the set has room for */
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        processors = online > 0 ? (unsigned)online : 1;
    }
    memcpy(affinity, &set, sizeof set);
    return processors < granted ? (processors ? processors : 1) : granted;
}

void rd_affinity_set(const struct rd_affinity *affinity) {
    cpu_set_t set;
    memcpy(&set, affinity, sizeof set);
    if (CPU_COUNT(&set))
        sched_setaffinity(0, sizeof set, &set);
}

void rd_sleep(atomic_uint *word, unsigned value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void rd_wake(atomic_uint *word, unsigned most) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, most < INT_MAX ? most : INT_MAX, NULL, NULL, 0);
}

#else

unsigned rd_affinity_get(struct rd_affinity *affinity) {
    memset(affinity, 0, sizeof *affinity);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

void rd_affinity_set(const struct rd_affinity *affinity) {
    (void)affinity;
}

/* One condition for all words: whoever is woken looks again at his own. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void rd_sleep(atomic_uint *word, unsigned value) {
    pthread_mutex_lock(&lock);
    if (atomic_load(word) == value)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

void rd_wake(atomic_uint *word, unsigned most) {
    (void)word, (void)most;
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}
#endif
