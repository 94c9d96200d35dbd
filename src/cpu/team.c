/* The team of threads.
 *
 * A call announces its job in a slot: the number of helpers wanted, in the slot's state, then a count of announcements for
 * those who wait. A helper that changes the state from "wanted" to "running" by compare-and-swap has joined: the job cannot
 * end before he leaves. The caller works himself; when he finds nothing left to do he withdraws what is still wanted and
 * waits for those who run. Nobody takes a lock on the way: sixteen helpers that wake for one mutex would come one by one.
 */
#include "cpu/team.h"

#include "core/system.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { HELPERS_MAX = RD_TEAM_MAX - 1, SLOTS = 16 };

/* A thread is worth waking for so much data: some microseconds of reading. Who asks for a number of threads gets them for
 * less. */
enum { BYTES_PER_THREAD = 1 << 17, BYTES_PER_REQUESTED_THREAD = 1 << 16 };

/* So many threads are woken at a time: by the caller, and by each who joins while more are wanted. One who wakes all would not
 * get to his work for ten microseconds and more. */
enum { WOKEN_AT_ONCE = 2 };

/* How long helpers look out for the next job, and a caller for the last helper, before they sleep: about as long as it
 * takes to wake a thread and some, so that calls one after another find all awake. */
enum { LOOKOUT_NANOSECONDS = 100000, WAIT_NANOSECONDS = 20000 };

/* A slot's state. */
enum { WANTED = 1, WANTED_MASK = 0xffff, RUNNING = 1 << 16, RUNNING_MASK = 0x7fff << 16 };
#define WAITING 0x80000000u /* the caller sleeps until nobody runs */

struct slot {
    _Alignas(64) atomic_uint state; /* which all who come change, and below what they read */
    atomic_bool taken;
    _Alignas(64) void (*work)(void *context);
    void *context;
    struct rd_affinity affinity;
    fenv_t environment;
};

static struct slot slots[SLOTS];
static atomic_uint announced; /* changes with every job */
static atomic_uint sleeping;  /* helpers that sleep on `announced`, or are about to */
static atomic_uint helpers;   /* created so far */
static pthread_mutex_t growing = PTHREAD_MUTEX_INITIALIZER;
static bool forks_are_handled; /* under `growing` */
static _Thread_local unsigned own_number;

/* Where a calling thread may run, if rd_team_threads() has asked for the call that comes to rd_team_run() next: asking twice
 * would take a noticeable part of the shortest jobs. */
static _Thread_local struct {
    bool known;
    struct rd_affinity affinity;
} asked;

unsigned rd_team_number(void) {
    return own_number;
}

/* 0 for as many as there are processors. */
static unsigned most_of(const struct rd_crew *crew) {
    if (!crew->executor || !crew->executor->run)
        return crew->threads;
    unsigned there = crew->executor->threads ? crew->executor->threads : 1;
    return crew->threads && crew->threads < there ? crew->threads : there;
}

unsigned rd_team_threads(const struct rd_crew *crew, uint64_t pieces, uint64_t bytes) {
    unsigned requested = crew->threads;
    asked.known = false;
    uint64_t useful = bytes / (requested ? BYTES_PER_REQUESTED_THREAD : BYTES_PER_THREAD);
    uint64_t threads = useful < pieces ? useful : pieces;
    if (threads <= 1)
        return 1;
    unsigned most = most_of(crew);
    if (!most) {
        most = rd_affinity_get(&asked.affinity);
        asked.known = true;
    }
    most = most < RD_TEAM_MAX ? most : RD_TEAM_MAX;
    return threads < most ? (unsigned)threads : most;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Helpers
 * ------------------------------------------------------------------------------------------------------------------ */

static void wake_helpers(void) {
    if (atomic_load(&sleeping))
        rd_wake(&announced, WOKEN_AT_ONCE);
}

/* Joins the job of a slot, if helpers are wanted there, and works. */
static bool help(struct slot *slot, struct rd_affinity *own) {
    unsigned state = atomic_load_explicit(&slot->state, memory_order_relaxed);
    do
        if (!(state & WANTED_MASK))
            return false;
    while (!atomic_compare_exchange_weak_explicit(&slot->state, &state, state - WANTED + RUNNING, memory_order_acquire,
                                                  memory_order_relaxed));
    if ((state & WANTED_MASK) > WANTED)
        wake_helpers();
    if (memcmp(own, &slot->affinity, sizeof *own)) {
        rd_affinity_set(&slot->affinity);
        *own = slot->affinity;
    }
    fesetenv(&slot->environment);
    slot->work(slot->context);
    state = atomic_fetch_sub_explicit(&slot->state, RUNNING, memory_order_release) - RUNNING;
    if (state == WAITING)
        rd_wake(&slot->state, 1);
    return true;
}

static bool help_anyone(struct rd_affinity *own) {
    bool helped = false;
    for (size_t i = 0; i < SLOTS; i++)
        helped |= help(&slots[i], own);
    return helped;
}

static void *run_helper(void *argument) {
    struct rd_affinity own;
    own_number = (unsigned)(uintptr_t)argument;
    const unsigned processors = rd_affinity_get(&own);
    for (uint64_t since = rd_clock();;) {
        /* Where there are fewer processors than threads, looking out would keep a thread from its work. */
        const uint64_t lookout = atomic_load(&helpers) < processors ? LOOKOUT_NANOSECONDS : 0;
        unsigned seen = atomic_load(&announced);
        if (help_anyone(&own)) {
            since = rd_clock();
            continue;
        }
        while (atomic_load_explicit(&announced, memory_order_relaxed) == seen && rd_clock() - since < lookout)
            rd_pause();
        if (atomic_load(&announced) != seen)
            continue;
        atomic_fetch_add(&sleeping, 1); /* before the last look, so that who announces after it sees a sleeper */
        while (atomic_load(&announced) == seen)
            rd_sleep(&announced, seen);
        atomic_fetch_sub(&sleeping, 1);
        since = rd_clock();
    }
    return NULL;
}

/* In the child of a fork, none of the helpers is there, and no job but those of threads that are not there either. */
static void forget_all(void) {
    for (size_t i = 0; i < SLOTS; i++) {
        atomic_store(&slots[i].state, 0);
        atomic_store(&slots[i].taken, false);
    }
    atomic_store(&sleeping, 0);
    atomic_store(&helpers, 0);
    pthread_mutex_init(&growing, NULL);
}

/* Sees to it that there are so many helpers, if they can be created. */
static void grow(unsigned wanted) {
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    pthread_attr_t attributes;
    sigset_t all, callers;
    pthread_t thread;
    wanted = wanted < HELPERS_MAX ? wanted : HELPERS_MAX;
    if (atomic_load_explicit(&helpers, memory_order_relaxed) >= wanted)
        return;
    sigfillset(&all); /* signals are for the caller's own threads, but for those that a thread raises itself */
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, &callers);
    pthread_mutex_lock(&growing);
    if (!forks_are_handled)
        forks_are_handled = pthread_atfork(NULL, NULL, forget_all) == 0;
    if (forks_are_handled && pthread_attr_init(&attributes) == 0) {
        pthread_attr_setstacksize(&attributes, RD_TEAM_STACK);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        for (unsigned number = atomic_load(&helpers) + 1;
             number <= wanted && pthread_create(&thread, &attributes, run_helper, (void *)(uintptr_t)number) == 0;
             number++)
            atomic_store(&helpers, number);
        pthread_attr_destroy(&attributes);
    }
    pthread_mutex_unlock(&growing);
    pthread_sigmask(SIG_SETMASK, &callers, NULL);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Callers
 * ------------------------------------------------------------------------------------------------------------------ */

static struct slot *take_slot(void) {
    for (size_t i = 0; i < SLOTS; i++)
        if (!atomic_load_explicit(&slots[i].taken, memory_order_relaxed) &&
            !atomic_exchange_explicit(&slots[i].taken, true, memory_order_acquire))
            return &slots[i];
    return NULL;
}

/* Waits until no helper runs. */
static void wait_for_helpers(struct slot *slot) {
    unsigned state = atomic_fetch_and(&slot->state, ~(unsigned)WANTED_MASK) & ~(unsigned)WANTED_MASK;
    for (uint64_t since = rd_clock(); state && rd_clock() - since < WAIT_NANOSECONDS;) {
        rd_pause();
        state = atomic_load_explicit(&slot->state, memory_order_acquire);
    }
    if (state)
        state = atomic_fetch_or(&slot->state, WAITING) | WAITING;
    while (state & RUNNING_MASK) {
        rd_sleep(&slot->state, state);
        state = atomic_load_explicit(&slot->state, memory_order_acquire);
    }
    atomic_store_explicit(&slot->state, 0, memory_order_relaxed);
}

/* Work for an executor: its threads are numbered as they come, so that each has a number of its own while it works. */
struct foreign {
    void (*work)(void *context);
    void *context;
    atomic_uint next;
};

static void run_foreign(void *argument) {
    struct foreign *foreign = argument;
    unsigned before = own_number; /* an executor may run within a call of another */
    own_number = atomic_fetch_add_explicit(&foreign->next, 1, memory_order_relaxed);
    foreign->work(foreign->context);
    own_number = before;
}

void rd_team_run(const struct rd_crew *crew, unsigned threads, void (*work)(void *context), void *context) {
    if (crew->executor && crew->executor->run && threads > 1) {
        struct foreign foreign = {.work = work, .context = context};
        atomic_init(&foreign.next, 0);
        crew->executor->run(crew->executor->context, threads, run_foreign, &foreign);
        return;
    }
    unsigned wanted = threads < HELPERS_MAX ? threads - 1 : HELPERS_MAX;
    struct slot *slot = threads > 1 ? take_slot() : NULL;
    if (!slot) {
        work(context);
        return;
    }
    grow(wanted);
    slot->work = work;
    slot->context = context;
    if (!asked.known)
        rd_affinity_get(&asked.affinity);
    asked.known = false;
    slot->affinity = asked.affinity;
    fegetenv(&slot->environment);
    atomic_store_explicit(&slot->state, wanted * WANTED, memory_order_release);
    atomic_fetch_add(&announced, 1);
    wake_helpers();
    work(context);
    wait_for_helpers(slot);
    atomic_store_explicit(&slot->taken, false, memory_order_release);
}
