/* Long calls on the CPU watch for signals: Control-C is not kept waiting for the end. The library asks now and then whether to stop, on
 * all threads of a call; the one that Python called looks for signals, and the others hear of it. */
#include "core.h"

#include <time.h>

/* How often signals are looked for, in milliseconds: for this the interpreter's lock is needed, which others may have. */
enum { PERIOD = 50 };

static int64_t milliseconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void watch_begin(struct watch *watch, bool locked) {
    watch->locked = locked;
    watch->owner = PyThread_get_thread_ident();
    watch->looked = milliseconds();
    atomic_init(&watch->stops, false);
    watch->thread = PyEval_SaveThread();
}

bool watch_end(struct watch *watch) {
    PyEval_RestoreThread(watch->thread);
    return atomic_load(&watch->stops);
}

bool watch_handle(void) {
    PyErr_SetInterrupt();
    return PyErr_CheckSignals() == 0;
}

int watch_stops(void *context) {
    struct watch *watch = context;
    if (atomic_load_explicit(&watch->stops, memory_order_relaxed))
        return 1;
    if (PyThread_get_thread_ident() != watch->owner)
        return 0;
    int64_t now = milliseconds();
    if (now >= watch->looked && now - watch->looked < PERIOD)
        return 0;
    PyEval_RestoreThread(watch->thread);
    bool stops = watch->locked ? PyOS_InterruptOccurred() != 0 : PyErr_CheckSignals() != 0;
    watch->thread = PyEval_SaveThread();
    watch->looked = milliseconds();
    atomic_store(&watch->stops, stops);
    return stops;
}
