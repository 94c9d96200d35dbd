/* The class Table of C, over which pyreduct/_table.py has the one that users see. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REDUCTIONS_MAX = 64 };

struct table_object {
    PyObject_HEAD reduct_table *table;
    PyThread_type_lock lock; /* the library's are used by one thread at a time */
};

#define SELF(object) ((struct table_object *)(object))

static struct table_object *allocate(PyTypeObject *type) {
    struct table_object *self = (struct table_object *)PyType_GenericAlloc(type, 0);
    if (!self)
        return NULL;
    self->lock = PyThread_allocate_lock();
    if (self->lock)
        return self;
    Py_DecRef((PyObject *)self);
    PyErr_NoMemory();
    return NULL;
}

static void deallocate(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    reduct_table_destroy(SELF(object)->table);
    if (SELF(object)->lock)
        PyThread_free_lock(SELF(object)->lock);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DecRef((PyObject *)type);
}

static PyObject *made(struct table_object *self, reduct_status status, const reduct_error *error) {
    if (status == REDUCT_OK)
        return (PyObject *)self;
    raise_status(PyType_GetModuleState(Py_TYPE((PyObject *)self)), status, error);
    Py_DecRef((PyObject *)self);
    return NULL;
}

/* Table(reductions, groups, device) */
static PyObject *new_table(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    (void)keywords;
    PyObject *tuple;
    unsigned long long groups;
    const char *device;
    reduct_reduction reductions[REDUCTIONS_MAX] = {{0}};
    if (!PyArg_ParseTuple(arguments, "O!Ks", &PyTuple_Type, &tuple, &groups, &device))
        return NULL;
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 1 || count > REDUCTIONS_MAX)
        return PyErr_Format(PyExc_ValueError, "operator: %zd of them; expected 1 to %d", count, REDUCTIONS_MAX);
    for (Py_ssize_t which = 0; which < count; which++)
        if (!parse_reduction(PyTuple_GetItem(tuple, which), &reductions[which]))
            return NULL;
    reduct_table_options options = {
        .reductions = reductions, .reduction_count = (size_t)count, .groups = groups, .device = device};
    struct table_object *self = allocate(type);
    reduct_error error = {0};
    return self ? made(self, reduct_table_create(&options, &self->table, &error), &error) : NULL;
}

/* load(bytes, device) */
static PyObject *load(PyObject *type, PyObject *arguments) {
    Py_buffer bytes;
    reduct_table_options options = {.reductions = NULL};
    if (!PyArg_ParseTuple(arguments, "y*s", &bytes, &options.device))
        return NULL;
    struct table_object *self = allocate((PyTypeObject *)type);
    PyObject *result = NULL;
    if (self) {
        reduct_error error = {0};
        reduct_status status;
        Py_BEGIN_ALLOW_THREADS status = reduct_table_load(bytes.buf, (size_t)bytes.len, &options, &self->table, &error);
        Py_END_ALLOW_THREADS result = made(self, status, &error);
    }
    PyBuffer_Release(&bytes);
    return result;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Adding and taking out
 * ------------------------------------------------------------------------------------------------------------------ */

enum { X, Y, IDS, MASK, ARRAYS };

/* Where the elements of an array lie one after another: a copy, which the caller frees, if they do not yet. */
static const void *dense(const struct view *view, void **copy) {
    *copy = NULL;
    if (!view || view_is_contiguous(view))
        return view ? view->data : NULL;
    int64_t count = view_count(view);
    *copy = malloc((size_t)count * reduct_type_size(view->type));
    if (*copy)
        view_gather(&(struct walk){.view = view, .at = view->data}, *copy, count);
    return *copy;
}

/* What goes to a table, or out of it. */
struct change {
    reduct_table *table;
    const struct view *views[ARRAYS];
    uint64_t group; /* of all elements, if they have no numbers */
    reduct_table_batch batch;
    bool take_out;
    struct watch *watch; /* or null */
};

/* Elements between two questions whether to stop. */
enum { STEP = 1 << 22 };

static reduct_status change_batch(const struct change *change, const reduct_table_batch *batch, reduct_error *error) {
    if (!change->views[IDS])
        return reduct_table_add_group(change->table, change->group, batch->x, batch->y, batch->count, error);
    return change->take_out ? reduct_table_remove(change->table, batch, error)
                            : reduct_table_add(change->table, batch, error);
}

static const void *after(const void *array, const struct view *view, uint64_t count) {
    return view ? (const char *)array + count * reduct_type_size(view->type) : NULL;
}

/* In steps, each of them as a whole or not at all. */
static reduct_status change_steps(const struct change *change, reduct_error *error) {
    const reduct_table_batch *all = &change->batch;
    reduct_table_batch batch = *all;
    reduct_status status = REDUCT_OK;
    for (uint64_t done = 0; done < all->count && status == REDUCT_OK; done += batch.count) {
        if (watch_stops(change->watch))
            return REDUCT_ERROR_CALLBACK;
        batch.count = all->count - done < STEP ? all->count - done : STEP;
        batch.x = after(all->x, change->views[X], done);
        batch.y = after(all->y, change->views[Y], done);
        batch.indices = after(all->indices, change->views[IDS], done);
        batch.mask_offset = all->mask_offset + (all->mask ? done : 0);
        status = change_batch(change, &batch, error);
    }
    return status;
}

/* A table that holds the same, or null. */
static reduct_table *copy_of(const reduct_table *table, reduct_error *error) {
    reduct_reduction reductions[REDUCTIONS_MAX];
    reduct_table_options options = {.reductions = reductions,
                                    .reduction_count = reduct_table_reductions(table),
                                    .groups = reduct_table_groups(table),
                                    .device = "cpu"};
    for (size_t which = 0; which < options.reduction_count; which++)
        reductions[which] = reduct_table_reduction(table, which);
    reduct_table *copy = NULL;
    if (reduct_table_create(&options, &copy, error) == REDUCT_OK &&
        reduct_table_merge(copy, table, NULL, error) == REDUCT_OK)
        return copy;
    reduct_table_destroy(copy);
    return NULL;
}

/* What takes long, also as a whole or not at all: what was there before is kept meanwhile. Where it fails, but was not to stop, all at
 * once tells what is wrong. */
static reduct_status change_long(const struct change *change, reduct_error *error) {
    reduct_table *before = copy_of(change->table, error);
    if (!before)
        return REDUCT_ERROR_OUT_OF_MEMORY;
    reduct_status status = change_steps(change, error);
    if (status != REDUCT_OK) {
        reduct_table_reset(change->table);
        (void)reduct_table_merge(change->table, before, NULL, NULL); /* into nothing all can be merged */
    }
    reduct_table_destroy(before);
    return status == REDUCT_OK || status == REDUCT_ERROR_CALLBACK ? status
                                                                  : change_batch(change, &change->batch, error);
}

static reduct_status change_all(struct change *change, reduct_error *error) {
    const void *data[ARRAYS];
    void *copies[ARRAYS];
    bool missing = false;
    for (int which = 0; which < ARRAYS; which++) {
        data[which] = dense(change->views[which], &copies[which]);
        missing = missing || (change->views[which] && !data[which]);
    }
    change->batch.x = data[X];
    change->batch.y = data[Y];
    change->batch.indices = data[IDS];
    change->batch.mask = data[MASK];
    reduct_status status = missing         ? REDUCT_ERROR_OUT_OF_MEMORY
                           : change->watch ? change_long(change, error)
                                           : change_batch(change, &change->batch, error);
    for (int which = 0; which < ARRAYS; which++)
        free(copies[which]);
    return status;
}

/* Without the interpreter's lock. Where there is a Control-C nothing changed: after its handler has run all is done anew, unless that
 * raises an exception. */
static PyObject *run(struct table_object *self, struct change *change) {
    struct state *state = PyType_GetModuleState(Py_TYPE((PyObject *)self));
    struct watch watch;
    reduct_error error = {0};
    reduct_status status;
    bool interrupted;
    change->table = self->table;
    change->watch = change->batch.count > state->longest ? &watch : NULL;
    do {
        lock_wait(self->lock);
        watch_begin(&watch, true);
        status = change_all(change, &error);
        interrupted = watch_end(&watch);
        PyThread_release_lock(self->lock);
        if (interrupted && !watch_handle())
            return NULL;
    } while (interrupted);
    if (status != REDUCT_OK)
        return raise_status(state, status, &error);
    Py_RETURN_NONE;
}

/* Whether the library may read these arrays as the table's elements. */
static bool check_elements(const reduct_table *table, const struct view *const views[ARRAYS]) {
    static const char *const names[] = {"x", "y"};
    reduct_type element = reduct_table_reduction(table, 0).element;
    for (int which = X; which < ARRAYS; which++)
        if (views[which] && views[which]->device >= 0 && !view_is_contiguous(views[which])) {
            PyErr_SetString(PyExc_TypeError, "an array on a CUDA device whose elements do not lie one after another");
            return false;
        }
    for (int which = X; which <= Y; which++)
        if (views[which] && views[which]->type != element) {
            PyErr_Format(PyExc_TypeError, "%s: elements of %s; this table takes %s", names[which],
                         reduct_type_name(views[which]->type), reduct_type_name(element));
            return false;
        }
    return view_fits(views[X], views[Y], "y") && view_fits(views[X], views[IDS], "ids");
}

/* change(x, y, ids, mask, first, skip, take_out): views, or None. The mask is of bytes where `first` is negative, and otherwise of
 * bits, from that one on. */
static PyObject *change_elements(PyObject *object, PyObject *arguments) {
    struct state *state = PyType_GetModuleState(Py_TYPE(object));
    PyObject *x, *y, *ids, *mask;
    long long first;
    int skip, take_out;
    struct change change = {NULL};
    const struct view **views = change.views;
    if (!PyArg_ParseTuple(arguments, "OOOOLpp", &x, &y, &ids, &mask, &first, &skip, &take_out) ||
        !(views[X] = view_in(state, x, "x")) || !view_or_none(state, y, "y", &views[Y]) ||
        !(views[IDS] = view_in(state, ids, "ids")) || !view_or_none(state, mask, "where", &views[MASK]) ||
        !check_elements(SELF(object)->table, views))
        return NULL;
    if (first < 0 && !view_fits(views[X], views[MASK], "where"))
        return NULL;
    change.take_out = take_out;
    change.batch =
        (reduct_table_batch){.count = (uint64_t)view_count(views[X]), .index = views[IDS]->type, .skip = skip};
    if (views[MASK]) {
        change.batch.mask_kind = first < 0 ? REDUCT_MASK_BYTES : REDUCT_MASK_BITS;
        change.batch.mask_offset = first < 0 ? 0 : (uint64_t)first;
    }
    return run(SELF(object), &change);
}

/* add_group(group, x, y): views, or for y None */
static PyObject *add_group(PyObject *object, PyObject *arguments) {
    struct state *state = PyType_GetModuleState(Py_TYPE(object));
    PyObject *x, *y;
    unsigned long long group;
    struct change change = {NULL};
    if (!PyArg_ParseTuple(arguments, "KOO", &group, &x, &y) || !(change.views[X] = view_in(state, x, "x")) ||
        !view_or_none(state, y, "y", &change.views[Y]) || !check_elements(SELF(object)->table, change.views))
        return NULL;
    change.group = group;
    change.batch.count = (uint64_t)view_count(change.views[X]);
    return run(SELF(object), &change);
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Results
 * ------------------------------------------------------------------------------------------------------------------ */

static bool check_target(const struct view *target, uint64_t groups, size_t size) {
    bool fits = !target->readonly && target->device < 0 && view_is_contiguous(target) && size &&
                (uint64_t)view_count(target) == groups && reduct_type_size(target->type) == size;
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "the table changed meanwhile");
    return fits;
}

/* The library's error of a group, with the group in its message. */
static void name_group(reduct_error *error) {
    char message[sizeof error->message];
    if (error->index == UINT64_MAX)
        return;
    memcpy(message, error->message, sizeof message);
    snprintf(error->message, sizeof error->message, "group %llu: %.*s", (unsigned long long)error->index,
             (int)sizeof message - 32, message);
}

/* result(which, type or None, target, check): of all groups; without check those that fail become NaN, or 0. */
static PyObject *result(PyObject *object, PyObject *arguments) {
    struct state *state = PyType_GetModuleState(Py_TYPE(object));
    Py_ssize_t which;
    PyObject *name, *view;
    int check;
    reduct_type type = REDUCT_DEFAULT;
    if (!PyArg_ParseTuple(arguments, "nOOp", &which, &name, &view, &check) ||
        (name != Py_None && !parse_type(name, &type)))
        return NULL;
    const struct view *target = view_in(state, view, "target");
    if (!target)
        return NULL;
    const reduct_table *table = SELF(object)->table;
    reduct_error error = {0};
    reduct_status status = REDUCT_OK;
    lock_wait(SELF(object)->lock);
    uint64_t groups = reduct_table_groups(table);
    size_t size = reduct_type_size(type ? type : reduct_table_reduction(table, (size_t)which).result);
    bool fits = check_target(target, groups, size);
    if (fits) {
        Py_BEGIN_ALLOW_THREADS reduct_outcome *outcomes = check ? NULL : malloc((groups + 1) * sizeof *outcomes);
        status = !check && !outcomes
                     ? REDUCT_ERROR_OUT_OF_MEMORY
                     : reduct_table_result(table, (size_t)which, type, 0, groups, target->data, outcomes, &error);
        free(outcomes);
        Py_END_ALLOW_THREADS
    }
    PyThread_release_lock(SELF(object)->lock);
    if (!fits)
        return NULL;
    if (status != REDUCT_OK) {
        name_group(&error);
        return raise_status(state, status, &error);
    }
    Py_RETURN_NONE;
}

/* counts(which, target): elements that count of each group. */
static PyObject *counts(PyObject *object, PyObject *arguments) {
    struct state *state = PyType_GetModuleState(Py_TYPE(object));
    Py_ssize_t which;
    PyObject *view;
    if (!PyArg_ParseTuple(arguments, "nO", &which, &view))
        return NULL;
    const struct view *target = view_in(state, view, "target");
    if (!target)
        return NULL;
    lock_wait(SELF(object)->lock);
    uint64_t groups = reduct_table_groups(SELF(object)->table);
    bool fits = check_target(target, groups, sizeof(uint64_t));
    for (uint64_t group = 0; fits && group < groups; group++)
        ((uint64_t *)(void *)target->data)[group] = reduct_table_count(SELF(object)->table, (size_t)which, group);
    PyThread_release_lock(SELF(object)->lock);
    if (!fits)
        return NULL;
    Py_RETURN_NONE;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The rest
 * ------------------------------------------------------------------------------------------------------------------ */

static PyObject *saved(struct table_object *self) {
    struct state *state = PyType_GetModuleState(Py_TYPE((PyObject *)self));
    reduct_error error = {0};
    size_t size = 0;
    reduct_status status = reduct_table_save(self->table, NULL, &size, &error);
    char *bytes = status == REDUCT_OK ? PyMem_Malloc(size) : NULL;
    if (status == REDUCT_OK && !bytes)
        return PyErr_NoMemory();
    if (bytes)
        status = reduct_table_save(self->table, bytes, &size, &error);
    PyObject *result =
        status == REDUCT_OK ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size) : raise_status(state, status, &error);
    PyMem_Free(bytes);
    return result;
}

static PyObject *save(PyObject *object, PyObject *unused) {
    (void)unused;
    lock_wait(SELF(object)->lock);
    PyObject *bytes = saved(SELF(object));
    PyThread_release_lock(SELF(object)->lock);
    return bytes;
}

/* merge(other, mapping or None). Of two tables that of the lower address is locked first, so that no two threads wait for each
 * other. */
static PyObject *merge(PyObject *object, PyObject *arguments) {
    struct state *state = PyType_GetModuleState(Py_TYPE(object));
    PyObject *other, *view;
    const struct view *mapping;
    if (!PyArg_ParseTuple(arguments, "O!O", state->table, &other, &view) ||
        !view_or_none(state, view, "mapping", &mapping))
        return NULL;
    if (object == other) {
        PyErr_SetString(PyExc_ValueError, "other: the table itself");
        return NULL;
    }
    bool after = (uintptr_t)object > (uintptr_t)other, fits = true;
    reduct_error error = {0};
    reduct_status status = REDUCT_OK;
    lock_wait(SELF(after ? other : object)->lock);
    lock_wait(SELF(after ? object : other)->lock);
    if (mapping)
        fits = mapping->device < 0 && view_is_contiguous(mapping) &&
               (mapping->type == REDUCT_I64 || mapping->type == REDUCT_U64) &&
               (uint64_t)view_count(mapping) == reduct_table_groups(SELF(other)->table);
    if (fits) {
        Py_BEGIN_ALLOW_THREADS status =
            reduct_table_merge(SELF(object)->table, SELF(other)->table,
                               mapping ? (const uint64_t *)(const void *)mapping->data : NULL, &error);
        Py_END_ALLOW_THREADS
    }
    PyThread_release_lock(SELF(after ? object : other)->lock);
    PyThread_release_lock(SELF(after ? other : object)->lock);
    if (!fits)
        PyErr_Format(PyExc_ValueError,
                     "mapping: %lld numbers of %s; expected an i64 or u64 for each group of the other table",
                     (long long)view_count(mapping), reduct_type_name(mapping->type));
    if (!fits || status != REDUCT_OK)
        return fits ? raise_status(state, status, &error) : NULL;
    Py_RETURN_NONE;
}

static PyObject *resize(PyObject *object, PyObject *number) {
    unsigned long long groups = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred())
        return NULL;
    reduct_error error = {0};
    lock_wait(SELF(object)->lock);
    reduct_status status = reduct_table_resize(SELF(object)->table, groups, &error);
    PyThread_release_lock(SELF(object)->lock);
    if (status != REDUCT_OK)
        return raise_status(PyType_GetModuleState(Py_TYPE(object)), status, &error);
    Py_RETURN_NONE;
}

static PyObject *reset(PyObject *object, PyObject *unused) {
    (void)unused;
    lock_wait(SELF(object)->lock);
    reduct_table_reset(SELF(object)->table);
    PyThread_release_lock(SELF(object)->lock);
    Py_RETURN_NONE;
}

static PyObject *get_groups(PyObject *object, void *unused) {
    (void)unused;
    lock_wait(SELF(object)->lock);
    uint64_t groups = reduct_table_groups(SELF(object)->table);
    PyThread_release_lock(SELF(object)->lock);
    return PyLong_FromUnsignedLongLong(groups);
}

/* These never change. */
static PyObject *get_reductions(PyObject *object, void *unused) {
    (void)unused;
    const reduct_table *table = SELF(object)->table;
    Py_ssize_t count = (Py_ssize_t)reduct_table_reductions(table);
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t which = 0; tuple && which < count; which++) {
        reduct_reduction reduction = reduct_table_reduction(table, (size_t)which);
        PyObject *one = reduction_tuple(&reduction);
        if (!one || PyTuple_SetItem(tuple, which, one) != 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyMethodDef methods[] = {
    {"load", load, METH_VARARGS | METH_CLASS, "load(bytes, device)"},
    {"save", save, METH_NOARGS, "save(): bytes"},
    {"change", change_elements, METH_VARARGS, "change(x, y, ids, mask, first, skip, take_out): adds or takes out"},
    {"add_group", add_group, METH_VARARGS, "add_group(group, x, y)"},
    {"merge", merge, METH_VARARGS, "merge(other, mapping)"},
    {"result", result, METH_VARARGS, "result(which, type or None, target, check)"},
    {"counts", counts, METH_VARARGS, "counts(which, target)"},
    {"resize", resize, METH_O, "resize(groups)"},
    {"reset", reset, METH_NOARGS, "reset(): back to no elements"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"groups", get_groups, NULL, "how many", NULL},
    {"reductions", get_reductions, NULL, "a tuple of (operator, element, result, mode, nan, flags)", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Table(reductions, groups, device)"},
    {Py_tp_new, new_table},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_dealloc, deallocate},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "pyreduct._core.Table",
    .basicsize = sizeof(struct table_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

PyObject *table_type(PyObject *module) {
    return PyType_FromModuleAndSpec(module, &spec, NULL);
}
