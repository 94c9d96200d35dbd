/* What the library asks of an operating system beyond C11 and POSIX threads: which processors it may use, and how to sleep
 * until a number changes. Everything that is one system's own is in system.c. */
#ifndef RD_SYSTEM_H
#define RD_SYSTEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The processors that a thread may run on, where the system lets one ask; all zero elsewhere. */
struct rd_affinity {
    unsigned long mask[1024 / (8 * sizeof(unsigned long))];
};

/* Of the calling thread; returns how many processors that is, at least 1, and not more than the processor time that the
 * process may use (Linux: its control group's quota). */
unsigned rd_affinity_get(struct rd_affinity *affinity);

/* Gives the calling thread this affinity. */
void rd_affinity_set(const struct rd_affinity *affinity);

/* Sleeps while *word is `value`; may also return early. Whoever changes the word calls rd_wake(). */
void rd_sleep(atomic_uint *word, unsigned value);

/* Wakes up to `most` of the threads that sleep on the word. */
void rd_wake(atomic_uint *word, unsigned most);

/* Lets another thread run. */
void rd_yield(void);

/* Memory for at least RD_LARGE_PAGE bytes that is read and written all over: in large pages, where the system has such. To be
 * freed by free(). */
enum { RD_LARGE_PAGE = 1 << 21 };
void *rd_large_alloc(size_t bytes);

/* Nanoseconds of a clock that never goes back. */
uint64_t rd_clock(void);

/* Tells the processor that this is a waiting loop. */
static inline void rd_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
