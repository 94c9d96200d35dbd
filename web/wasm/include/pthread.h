/* Of POSIX threads, what src/cpu/ uses, where there is one thread: a lock has nothing to do, and no thread can be created,
 * which the library takes as it does everywhere, by going on with those that it has. */
#ifndef REDUCT_WASM_PTHREAD_H
#define REDUCT_WASM_PTHREAD_H

#include <errno.h>

typedef struct {
    int unused;
} pthread_mutex_t;

typedef int reduct_wasm_thread, reduct_wasm_attributes;
#define pthread_t      reduct_wasm_thread
#define pthread_attr_t reduct_wasm_attributes

#define pthread_mutex_init(mutex, attributes) ((void)(mutex))
#define pthread_mutex_lock(mutex)             ((void)(mutex))
#define pthread_mutex_unlock(mutex)           ((void)(mutex))
#define pthread_mutex_destroy(mutex)          ((void)(mutex))

#define pthread_attr_init(attributes)                ((void)(attributes), 0)
#define pthread_attr_setstacksize(attributes, bytes) ((void)(attributes), (void)(bytes))
#define pthread_attr_destroy(attributes)             ((void)(attributes))

#define pthread_create(thread, attributes, run, context)                                                               \
    ((void)(thread), (void)(attributes), (void)(run), (void)(context), EAGAIN)
#define pthread_join(thread, result) ((void)(thread))

#endif
