/* Of POSIX threads, what src/ uses, where there is one thread: a lock has nothing to do. */
#ifndef REDUCT_WASM_PTHREAD_H
#define REDUCT_WASM_PTHREAD_H

typedef struct {
    int unused;
} pthread_mutex_t;

#define pthread_mutex_init(mutex, attributes) ((void)(mutex))
#define pthread_mutex_lock(mutex)             ((void)(mutex))
#define pthread_mutex_unlock(mutex)           ((void)(mutex))
#define pthread_mutex_destroy(mutex)          ((void)(mutex))

#endif
