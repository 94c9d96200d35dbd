/* What a backend is: the code that drives one kind of device, as a table of functions. The list of backends is
 * src/backends.c; adding one touches its own folder and that list. */
#ifndef RD_BACKEND_H
#define RD_BACKEND_H

#include "core/tables.h"

struct rd_partial;

/* One device of a backend, chosen by name; lives as long as the process. */
struct rd_device {
    const struct rd_backend *backend;
    const char *name;    /* "cpu:avx512" */
    const void *private; /* the backend's own */
};

struct rd_backend {
    const char *name; /* "cpu" */

    /* The device that `rest`, what follows the backend's name and a colon, stands for; null for the best one. */
    reduct_status (*open)(const char *rest, struct rd_device *device, reduct_error *error);

    /* REDUCT_OK if the device does the reduction, which is resolved. */
    reduct_status (*supports)(const struct rd_device *device, const reduct_reduction *reduction, reduct_error *error);

    /* Scratch bytes, a multiple of 64, that accumulate() wants of the caller for these elements and threads; 0 where it
     * needs none. */
    size_t (*workspace)(const struct rd_device *device, const reduct_reduction *reduction, uint64_t count,
                        unsigned threads);

    /* Adds `count` elements to a partial result that holds none yet, but for a product of floats, which goes on from
     * what `product` holds. Without a workspace it finds memory itself. On failure the partial result is of no use. */
    reduct_status (*accumulate)(const struct rd_device *device, const void *x, const void *y, uint64_t count,
                                unsigned threads, void *workspace, struct rd_partial *partial, reduct_error *error);

    /* Writes the result of a reduction of one array where that is so small and ordinary that it is done in less time than
     * preparing the above takes; otherwise returns false, and has done nothing. Null where there is no such way. */
    bool (*answer)(const struct rd_device *device, const reduct_reduction *reduction, const void *x, uint64_t count,
                   void *result);

    /* What a plan keeps of the backend's, or null where backends keep nothing: made with the plan, freed with it. */
    reduct_status (*prepare)(const struct rd_device *device, const reduct_reduction *reduction, void **kept,
                             reduct_error *error);
    void (*release)(void *kept);
};

/* All backends, the preferred one first; ends with null. */
extern const struct rd_backend *const rd_backends[];

/* Finds the device that a name stands for: null, "auto", "cpu", "cpu:avx2" and so on. */
reduct_status rd_device_open(const char *name, struct rd_device *device, reduct_error *error);

#endif
