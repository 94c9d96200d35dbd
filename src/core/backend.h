/* What a backend is: the code that drives one kind of device, as a table of functions. The list of backends is
 * src/backends.c; adding one touches its own folder and that list. */
#ifndef RD_BACKEND_H
#define RD_BACKEND_H

#include "core/tables.h"

struct rd_partial;
struct rd_many;
struct rd_execution;
struct rd_table_change;

/* One device of a backend, chosen by name; lives as long as the process. */
struct rd_device {
    const struct rd_backend *backend;
    const char *name;    /* "cpu:avx512" */
    const void *private; /* the backend's own */
};

/* The threads of a call: at most so many, 0 for as many as pay; run by the executor, or by the library's team where that is null
 * or has no way to run any. */
struct rd_crew {
    unsigned threads;
    const reduct_executor *executor;
};

/* Where the options of plans and accumulators say that a reduction runs. */
struct rd_place {
    const char *device;
    const void *example;
    struct rd_crew crew;
};

/* Who prepares a reduction: an accumulator or a single call; a plan of a whole array, which may be executed in a stream; a plan of
 * many, of which prepare_many() finds what the device needs. */
enum rd_use { RD_FOR_ARRAYS, RD_FOR_PLAN, RD_FOR_MANY };

/* A reduction made ready for a device, for arrays of any length: what plans and accumulators hold, and single calls make on
 * their stack. Immutable once prepared, so that many threads may use it at once. */
struct rd_prepared {
    struct rd_device device;
    reduct_reduction reduction; /* resolved */
    struct rd_crew crew;
    enum rd_use use;
    void *kept; /* the backend's own */
};

struct rd_backend {
    const char *name; /* "cpu" */

    /* The device that `rest`, what follows the backend's name and a colon, stands for; null for the best one. */
    reduct_status (*open)(const char *rest, struct rd_device *device, reduct_error *error);

    /* The number of the device in whose memory an address lies, or -1. Null where data are never in a device's own memory. */
    int (*owner)(const void *memory);

    /* Copies from host memory into that of the device of this number. Null where owner() is. */
    reduct_status (*put)(int device, void *to, const void *from, size_t bytes, reduct_error *error);

    /* Checks that the device does the reduction, and finds all that need not be found at each execution: everything but
     * `kept` is set. */
    reduct_status (*prepare)(struct rd_prepared *prepared, reduct_error *error);

    /* Frees what is kept. Null for backends that keep nothing. */
    void (*release)(struct rd_prepared *prepared);

    /* Whether a plan of one whole array is one of many, as accumulate() does not know its reduction. Null where none is. */
    bool (*only_many)(const reduct_reduction *reduction);

    /* Scratch bytes, a multiple of 64, that accumulate() wants of the caller for so many elements; 0 where it needs none. */
    size_t (*workspace)(const struct rd_prepared *prepared, uint64_t count);

    /* Adds `count` elements to a partial result that holds none yet, but for a product of floats, which goes on from
     * what `product` holds. Without a workspace it finds memory itself. On failure the partial result is of no use. */
    reduct_status (*accumulate)(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                                void *workspace, struct rd_partial *partial, reduct_error *error);

    /* accumulate() of the elements that a mask lets count, from its entry number `offset` on. */
    reduct_status (*accumulate_masked)(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count,
                                       reduct_mask kind, const void *mask, uint64_t offset, struct rd_partial *partial,
                                       reduct_error *error);

    /* Writes the result of a reduction where that is so small and ordinary that it is done in less time than
     * preparing the above takes; otherwise returns false, and has done nothing. Null where there is no such way. */
    bool (*answer)(const struct rd_prepared *prepared, const void *x, const void *y, uint64_t count, void *result);

    /* Finds what need not be found at each execution of a plan of many, whose states are prepared: into its `kept`, which is to be
     * released before they are. Null where nothing is kept. */
    reduct_status (*prepare_many)(struct rd_many *many, reduct_error *error);
    void (*release_many)(struct rd_many *many);

    /* Executes a plan of many (core/many.h), whose pointers have been checked. Null where only whole arrays are reduced. */
    reduct_status (*execute_many)(const struct rd_many *many, const struct rd_execution *execution,
                                  reduct_error *error);

    /* Adds elements to a table of a device, or takes them out (state/table.h), wherever they are. Null where all are in host memory. */
    reduct_status (*change_table)(const struct rd_device *device, reduct_table *table,
                                  const struct rd_table_change *change, reduct_error *error);
};

/* All backends, the preferred one first; ends with null. */
extern const struct rd_backend *const rd_backends[];

/* Finds the device that a name stands for: null, "auto", "cpu", "cpu:avx2" and so on. "auto" is the device in whose memory the
 * example lies, if it is in one's. */
reduct_status rd_device_open(const char *name, const void *example, struct rd_device *device, reduct_error *error);

/* Opens the device and prepares a resolved reduction on it. To be released. */
reduct_status rd_prepare(const reduct_reduction *reduction, const struct rd_place *place, enum rd_use use,
                         struct rd_prepared *prepared, reduct_error *error);
void rd_release(struct rd_prepared *prepared);

#endif
