/* The C part of pyreduct: arrays in (view.c, dlpack.c), whole arrays fast (calls.c), calls made again (again.c), plans (plan.c) and
 * their long calls' look at signals (watch.c), accumulators (accumulator.c), tables of them (table.c). Everything that NumPy's interface
 * asks beyond that, axes, keywords, kinds of arrays, is Python (pyreduct/_functions.py). */
#ifndef PYREDUCT_CORE_H
#define PYREDUCT_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <reduct/cuda.h>
#include <reduct/reduct.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Calls of more elements than this are long: some tens of milliseconds at the speed of memory. */
enum { LONG_ELEMENTS = 1 << 27 };

enum { TYPES = REDUCT_BOOL + 1, STATUSES = REDUCT_ERROR_CALLBACK + 1 };

/* Of one module object, one per interpreter. */
struct state {
    PyObject *errors[STATUSES]; /* an exception class for each status but REDUCT_OK */
    PyTypeObject *view, *plan, *accumulator, *table;
    uint64_t longest;              /* call that does not look at signals, in elements */
    _Atomic(PyObject *) functions; /* the general ones by name, once one was needed */
    _Atomic(PyObject *) ndarray;   /* numpy.ndarray, once an array of it was seen */
    PyObject *scalars[TYPES];      /* then also numpy.float64 and so on, by type, and what makes objects of them */
    newfunc make_scalar[TYPES];
    struct again *again;
    PyThread_type_lock lock; /* of what is written here once in use, and of queueing in memory that calls share */
};

/* An array of somebody else's memory. */
struct view {
    reduct_type type;
    bool readonly;
    int device; /* -1: host memory; else the number of a CUDA device */
    int rank;
    char *data;
    int64_t lengths[REDUCT_RANK_MAX];
    int64_t strides[REDUCT_RANK_MAX]; /* elements */
    Py_buffer buffer;                 /* released with the view, if it holds one (buffer.obj) */
    PyObject *owner;                  /* kept as long as the view, or null */
    void *managed;                    /* of DLPack, returned with the view, or null */
    bool versioned;                   /* whether that is a DLManagedTensorVersioned */
    void *copy;                       /* freed with the view, or null */
};

/* view.c: all fill a view that is zero, or raise and leave nothing to release. */
bool view_of_buffer(PyObject *object, bool writable, const char *name, struct view *view);
bool view_of_numbers(PyObject *sequence, const char *name, struct view *view);
void view_settle(struct view *view); /* the last step of each */
void view_release(struct view *view);
int64_t view_count(const struct view *view);
bool view_is_contiguous(const struct view *view);
struct view *view_in(struct state *state, PyObject *object, const char *name);
bool view_or_none(struct state *state, PyObject *object, const char *name, const struct view **view);
bool view_same_lengths(const struct view *x, const struct view *other); /* other: or null */
bool view_fits(const struct view *x, const struct view *other,
               const char *name);                                   /* the same, or raises what is wrong */
bool view_overlaps(const struct view *x, const struct view *other); /* whether both may have memory in common */
PyObject *view_type(PyObject *module);
/* Whether the Python object is an integer that int64_t holds, and it; raises what says so otherwise. */
bool read_int64(PyObject *object, int64_t *value);

/* Goes through a view in C order. */
struct walk {
    const struct view *view;
    const char *at;
    int64_t index[REDUCT_RANK_MAX];
};

/* Copies the next `count` elements. */
void view_gather(struct walk *walk, char *to, int64_t count);

/* An object of class View, and its view. */
PyObject *view_new(struct state *state, struct view **view);

/* arrow.c: functions of the module */
PyObject *arrow_array(PyObject *module, PyObject *arguments);
PyObject *arrow_stream(PyObject *module, PyObject *capsule);

/* keys.c: number_keys(type, [(keys, validity or None, first bit)], ids, sorted), which writes the number of each key and returns the
 * bytes of all different ones. */
PyObject *number_keys(PyObject *module, PyObject *arguments);
/* cuda_number_keys(keys, ids, unique, sorted, found, workspace, stream), which queues the same on a CUDA device, of which the last three
 * are addresses; unique says how much room there is. Returns the bytes of workspace that it takes: with none, that is all it does. */
PyObject *cuda_number_keys(PyObject *module, PyObject *arguments);

/* dlpack.c */
struct dlpack_tensor;
bool view_of_tensor(const struct dlpack_tensor *tensor, const char *name, struct view *view);
bool view_of_capsule(PyObject *capsule, const char *name, struct view *view);
void view_release_managed(struct view *view);

/* module.c */
PyObject *raise_status(struct state *state, reduct_status status, const reduct_error *error);
bool parse_type(PyObject *name, reduct_type *type);
/* A tuple (operator, element, result or None, mode, nan, flags) of names, and a number. */
bool parse_reduction(PyObject *tuple, reduct_reduction *reduction);
PyObject *reduction_tuple(const reduct_reduction *reduction);

/* Keeps what a thread has found, if no other one was faster: what is kept, or null where `found`, whose reference is taken over, is. */
PyObject *keep_first(_Atomic(PyObject *) *place, PyObject *found);

/* Locks of objects that the library lets one thread use at a time. A thread that waits lets others run, as the one that has the
 * lock may need to. */
void lock_wait(PyThread_type_lock lock);

/* watch.c: looks at signals while a long call runs. */
struct watch {
    PyThreadState *thread;
    unsigned long owner; /* the thread that looks */
    int64_t looked;      /* when, in milliseconds */
    bool locked;         /* handlers may wait for what this thread has locked: they run after the call */
    atomic_bool stops;
};

/* Releases the interpreter's lock; takes it again, and says whether the call was to stop: a handler raised an exception or, where none
 * could run, there was a Control-C. */
void watch_begin(struct watch *watch, bool locked);
bool watch_end(struct watch *watch);

/* After a call that was to stop, once nothing is locked: runs the handlers of a Control-C. False if one raised an exception;
 * otherwise the call goes on. */
bool watch_handle(void);

/* An executor's stop(). */
int watch_stops(void *watch);

/* number.c: one number of any type, as Python's int, float or bool, or as NumPy's, once an array of it was seen. */
PyObject *number_of(reduct_type type, const void *bytes);
PyObject *numpy_number(struct state *state, reduct_type type, const void *bytes);

/* calls.c */
extern PyMethodDef call_methods[];

/* again.c: the result of a call like an earlier one, or null without an exception if it is for the general function of this name. */
PyObject *call_again(struct state *state, const char *name, PyObject *const *arguments, Py_ssize_t count,
                     PyObject *names);
PyObject *use_tensors(PyObject *module, PyObject *class);
PyObject *use_cupy(PyObject *module, PyObject *arguments);
bool again_begin(struct state *state); /* false with an exception */
int again_traverse(struct state *state, visitproc visit, void *arg);
void again_clear(struct state *state);
void again_forget(struct state *state);

/* plan.c: executions without the interpreter's lock, if they are long. Without check results that the data make fail become NaN, of integer
 * types 0. */
reduct_status plan_execute(PyObject *plan, const void *const *inputs, void *const *results, bool check,
                           reduct_error *error);
reduct_status plan_queue(PyObject *plan, const void *const *inputs, void *const *results, bool check, void *workspace,
                         void *stream, reduct_error *error);
size_t plan_workspace(PyObject *plan);

/* plan.c, accumulator.c, table.c */
PyObject *plan_type(PyObject *module);
PyObject *accumulator_type(PyObject *module);
PyObject *table_type(PyObject *module);

#endif
