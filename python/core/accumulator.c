/* The class Accumulator of C, over which pyreduct/_accumulator.py has the one that users see. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

struct accumulator_object {
    PyObject_HEAD reduct_accumulator *accumulator;
    PyThread_type_lock lock; /* the library's are used by one thread at a time */
    struct watch *watch;     /* of the call that has the lock, or null */
};

#define SELF(object) ((struct accumulator_object *)(object))

static void lock(struct accumulator_object *self) {
    lock_wait(self->lock);
}

static void unlock(struct accumulator_object *self) {
    PyThread_release_lock(self->lock);
}

static struct accumulator_object *allocate(PyTypeObject *type) {
    struct accumulator_object *self = (struct accumulator_object *)PyType_GenericAlloc(type, 0);
    if (!self)
        return NULL;
    self->lock = PyThread_allocate_lock();
    if (self->lock)
        return self;
    Py_DecRef((PyObject *)self);
    PyErr_NoMemory();
    return NULL;
}

static int stops(void *context) {
    struct accumulator_object *self = context;
    return self->watch && watch_stops(self->watch);
}

static PyObject *made(struct accumulator_object *self, reduct_status status, const reduct_error *error) {
    if (status == REDUCT_OK)
        return (PyObject *)self;
    raise_status(PyType_GetModuleState(Py_TYPE((PyObject *)self)), status, error);
    Py_DecRef((PyObject *)self);
    return NULL;
}

/* Accumulator(reduction, device) */
static PyObject *new_accumulator(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    (void)keywords;
    PyObject *tuple;
    reduct_reduction reduction = {0};
    reduct_accumulator_options options = {.reduction = &reduction};
    if (!PyArg_ParseTuple(arguments, "O!s", &PyTuple_Type, &tuple, &options.device) ||
        !parse_reduction(tuple, &reduction))
        return NULL;
    struct accumulator_object *self = allocate(type);
    const reduct_executor executor = {.stop = stops, .context = self};
    options.executor = &executor;
    reduct_error error = {0};
    return self ? made(self, reduct_accumulator_create(&options, &self->accumulator, &error), &error) : NULL;
}

/* load(bytes, device) */
static PyObject *load(PyObject *type, PyObject *arguments) {
    Py_buffer bytes;
    reduct_accumulator_options options = {0};
    if (!PyArg_ParseTuple(arguments, "y*s", &bytes, &options.device))
        return NULL;
    struct accumulator_object *self = allocate((PyTypeObject *)type);
    const reduct_executor executor = {.stop = stops, .context = self};
    options.executor = &executor;
    reduct_error error = {0};
    PyObject *result = NULL;
    if (self)
        result = made(self, reduct_accumulator_load(bytes.buf, (size_t)bytes.len, &options, &self->accumulator, &error),
                      &error);
    PyBuffer_Release(&bytes);
    return result;
}

static void deallocate(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    reduct_accumulator_destroy(SELF(object)->accumulator);
    if (SELF(object)->lock)
        PyThread_free_lock(SELF(object)->lock);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DecRef((PyObject *)type);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Adding: elements that do not lie one after another are gathered piece by piece
 * ------------------------------------------------------------------------------------------------------------------ */

enum { PIECE = 16384 };

/* x, y and the mask, of one shape; the last two may be null. */
struct addition {
    reduct_accumulator *accumulator;
    const struct view *views[3];
    reduct_mask kind; /* of the mask; bits count from `first` on */
    uint64_t first;
    struct watch *watch; /* or null */
};

static reduct_status add_at(const struct addition *addition, void *const data[3], uint64_t count, reduct_error *error) {
    if (!addition->views[2])
        return reduct_accumulator_add(addition->accumulator, data[0], data[1], count, error);
    return reduct_accumulator_add_masked(addition->accumulator, data[0], data[1], count, addition->kind, data[2],
                                         addition->first, error);
}

static reduct_status add_gathered(const struct addition *addition, char *room, reduct_error *error) {
    struct walk walks[3];
    void *data[3] = {NULL};
    for (int which = 0; which < 3; which++)
        if (addition->views[which]) {
            walks[which] = (struct walk){.view = addition->views[which], .at = addition->views[which]->data};
            data[which] = room + which * PIECE * sizeof(double);
        }
    int64_t left = view_count(addition->views[0]);
    reduct_status status = REDUCT_OK;
    while (left > 0 && status == REDUCT_OK) {
        int64_t count = left < PIECE ? left : PIECE;
        for (int which = 0; which < 3; which++)
            if (addition->views[which])
                view_gather(&walks[which], data[which], count);
        status = add_at(addition, data, (uint64_t)count, error);
        left -= count;
        if (addition->watch && watch_stops(addition->watch))
            return REDUCT_ERROR_CALLBACK;
    }
    return status;
}

/* As a whole or not at all: what is gathered goes to an accumulator of its own first. */
static reduct_status add_strided(const struct addition *addition, reduct_error *error) {
    reduct_reduction reduction = reduct_accumulator_reduction(addition->accumulator);
    reduct_accumulator_options options = {.reduction = &reduction, .device = "cpu"};
    struct addition part = *addition;
    reduct_status status = reduct_accumulator_create(&options, &part.accumulator, error);
    if (status != REDUCT_OK)
        return status;
    char *room = malloc(3 * PIECE * sizeof(double));
    status = room ? add_gathered(&part, room, error) : REDUCT_ERROR_OUT_OF_MEMORY;
    free(room);
    if (status == REDUCT_OK)
        status = reduct_accumulator_merge(addition->accumulator, part.accumulator, error);
    reduct_accumulator_destroy(part.accumulator);
    return status;
}

static reduct_status add_all(const struct addition *addition, reduct_error *error) {
    void *data[3] = {NULL};
    bool contiguous = true;
    for (int which = 0; which < 3; which++)
        if (addition->views[which]) {
            contiguous = contiguous && view_is_contiguous(addition->views[which]);
            data[which] = addition->views[which]->data;
        }
    if (!contiguous)
        return add_strided(addition, error);
    return add_at(addition, data, (uint64_t)view_count(addition->views[0]), error);
}

/* Whether the library may read these arrays as the accumulator's elements. */
static bool check_addition(const reduct_accumulator *accumulator, const struct addition *addition) {
    const struct view *x = addition->views[0], *y = addition->views[1], *mask = addition->views[2];
    reduct_reduction reduction = reduct_accumulator_reduction(accumulator);
    const char *expected = reduct_type_name(reduction.element);
    if (x->type != reduction.element || (y && y->type != reduction.element)) {
        const struct view *wrong = x->type != reduction.element ? x : y;
        PyErr_Format(PyExc_TypeError, "%s: elements of %s; this accumulator takes %s", wrong == x ? "x" : "y",
                     reduct_type_name(wrong->type), expected);
        return false;
    }
    if (!view_fits(x, y, "y") || !view_fits(x, mask, "where"))
        return false;
    bool device = x->device >= 0 || (y && y->device >= 0) || (mask && mask->device >= 0);
    if (device && (mask || !view_is_contiguous(x) || (y && !view_is_contiguous(y)))) {
        PyErr_SetString(PyExc_TypeError, "arrays on a CUDA device are added without where=, and contiguous");
        return false;
    }
    return true;
}

/* Adds without the interpreter's lock. Where there is a Control-C nothing was added: after its handler has run all is added anew, unless
 * that raises an exception. */
static PyObject *run(struct accumulator_object *self, struct addition *addition) {
    struct state *state = PyType_GetModuleState(Py_TYPE((PyObject *)self));
    const bool is_long = (uint64_t)view_count(addition->views[0]) > state->longest;
    struct watch watch;
    reduct_error error = {0};
    reduct_status status;
    bool interrupted;
    addition->accumulator = self->accumulator;
    do {
        lock(self);
        watch_begin(&watch, true);
        addition->watch = self->watch = is_long ? &watch : NULL;
        status = add_all(addition, &error);
        self->watch = NULL;
        interrupted = watch_end(&watch);
        unlock(self);
        if (interrupted && !watch_handle())
            return NULL;
    } while (interrupted);
    if (status != REDUCT_OK)
        return raise_status(state, status, &error);
    Py_RETURN_NONE;
}

/* add(x, y, mask): views, or None */
static PyObject *add(PyObject *object, PyObject *arguments) {
    struct state *state = PyType_GetModuleState(Py_TYPE(object));
    PyObject *x, *y, *mask;
    struct addition addition = {.kind = REDUCT_MASK_BYTES};
    if (!PyArg_ParseTuple(arguments, "OOO", &x, &y, &mask) || !(addition.views[0] = view_in(state, x, "x")) ||
        !view_or_none(state, y, "y", &addition.views[1]) || !view_or_none(state, mask, "where", &addition.views[2]) ||
        !check_addition(SELF(object)->accumulator, &addition))
        return NULL;
    return run(SELF(object), &addition);
}

/* add_valid(x, validity, first): of a column of Arrow, what the bits from `first` on say. */
static PyObject *add_valid(PyObject *object, PyObject *arguments) {
    struct state *state = PyType_GetModuleState(Py_TYPE(object));
    PyObject *x, *validity;
    unsigned long long first;
    struct addition addition = {.kind = REDUCT_MASK_BITS};
    if (!PyArg_ParseTuple(arguments, "OOK", &x, &validity, &first) || !(addition.views[0] = view_in(state, x, "x")) ||
        !check_addition(SELF(object)->accumulator, &addition) ||
        !(addition.views[2] = view_in(state, validity, "validity")))
        return NULL;
    addition.first = first;
    return run(SELF(object), &addition);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The rest
 * ------------------------------------------------------------------------------------------------------------------ */

static PyObject *saved(struct accumulator_object *self) {
    struct state *state = PyType_GetModuleState(Py_TYPE((PyObject *)self));
    reduct_error error = {0};
    size_t size = 0;
    reduct_status status = reduct_accumulator_save(self->accumulator, NULL, &size, &error);
    char *bytes = status == REDUCT_OK ? PyMem_Malloc(size) : NULL;
    if (status == REDUCT_OK && !bytes)
        return PyErr_NoMemory();
    if (bytes)
        status = reduct_accumulator_save(self->accumulator, bytes, &size, &error);
    PyObject *result =
        status == REDUCT_OK ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size) : raise_status(state, status, &error);
    PyMem_Free(bytes);
    return result;
}

static PyObject *save(PyObject *object, PyObject *unused) {
    (void)unused;
    lock(SELF(object));
    PyObject *bytes = saved(SELF(object));
    unlock(SELF(object));
    return bytes;
}

/* Two accumulators are never locked at once, so that no two threads wait for each other: the other one is copied first. */
static PyObject *merge(PyObject *object, PyObject *other) {
    struct state *state = PyType_GetModuleState(Py_TYPE(object));
    if (!PyObject_TypeCheck(other, state->accumulator))
        return PyErr_Format(PyExc_TypeError, "expected an Accumulator");
    PyObject *bytes = save(other, NULL);
    char *data;
    Py_ssize_t size;
    if (!bytes || PyBytes_AsStringAndSize(bytes, &data, &size) != 0)
        return NULL;
    reduct_accumulator_options options = {.device = "cpu"};
    reduct_accumulator *copy = NULL;
    reduct_error error = {0};
    reduct_status status = reduct_accumulator_load(data, (size_t)size, &options, &copy, &error);
    Py_DecRef(bytes);
    lock(SELF(object));
    if (status == REDUCT_OK)
        status = reduct_accumulator_merge(SELF(object)->accumulator, copy, &error);
    unlock(SELF(object));
    reduct_accumulator_destroy(copy);
    if (status != REDUCT_OK)
        return raise_status(state, status, &error);
    Py_RETURN_NONE;
}

/* result(type or None): a number, or for minmax a pair. */
static PyObject *result(PyObject *object, PyObject *name) {
    struct state *state = PyType_GetModuleState(Py_TYPE(object));
    reduct_type type = REDUCT_DEFAULT;
    if (name != Py_None && !parse_type(name, &type))
        return NULL;
    uint64_t value[8] = {0};
    reduct_error error = {0};
    lock(SELF(object));
    reduct_status status = reduct_accumulator_result(SELF(object)->accumulator, type, value, &error);
    unlock(SELF(object));
    if (status != REDUCT_OK)
        return raise_status(state, status, &error);
    reduct_reduction reduction = reduct_accumulator_reduction(SELF(object)->accumulator);
    type = type ? type : reduction.result;
    if (reduct_operator_outputs(reduction.op) == 1)
        return number_of(type, value);
    PyObject *least = number_of(type, value), *greatest = number_of(type, (char *)value + reduct_type_size(type));
    PyObject *pair = least && greatest ? PyTuple_Pack(2, least, greatest) : NULL;
    Py_XDECREF(least);
    Py_XDECREF(greatest);
    return pair;
}

static PyObject *reset(PyObject *object, PyObject *unused) {
    (void)unused;
    lock(SELF(object));
    reduct_accumulator_reset(SELF(object)->accumulator);
    unlock(SELF(object));
    Py_RETURN_NONE;
}

static PyObject *get_count(PyObject *object, void *unused) {
    (void)unused;
    lock(SELF(object));
    uint64_t count = reduct_accumulator_count(SELF(object)->accumulator);
    unlock(SELF(object));
    return PyLong_FromUnsignedLongLong(count);
}

static PyObject *get_reduction(PyObject *object, void *unused) {
    (void)unused;
    reduct_reduction reduction = reduct_accumulator_reduction(SELF(object)->accumulator);
    return reduction_tuple(&reduction);
}

static PyMethodDef methods[] = {
    {"load", load, METH_VARARGS | METH_CLASS, "load(bytes, device)"},
    {"save", save, METH_NOARGS, "save(): bytes"},
    {"add", add, METH_VARARGS, "add(x, y, mask): views, or None"},
    {"add_valid", add_valid, METH_VARARGS, "add_valid(x, validity, first): what bits say"},
    {"merge", merge, METH_O, "merge(other)"},
    {"result", result, METH_O, "result(type or None)"},
    {"reset", reset, METH_NOARGS, "reset(): back to no elements"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"count", get_count, NULL, "elements added so far", NULL},
    {"reduction", get_reduction, NULL, "(operator, element, result, mode, nan, flags)", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Accumulator(reduction, device)"},
    {Py_tp_new, new_accumulator},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_dealloc, deallocate},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "pyreduct._core.Accumulator",
    .basicsize = sizeof(struct accumulator_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

PyObject *accumulator_type(PyObject *module) {
    return PyType_FromModuleAndSpec(module, &spec, NULL);
}
