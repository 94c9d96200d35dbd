/* Keys to numbers of groups. */
#include "core.h"

#include <reduct/cuda.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A stretch of keys, of which a bitmap may say which are valid, and where their numbers go; those that are not are of no group. */
struct stretch {
    const struct view *keys, *validity;
    uint64_t first; /* bit */
    uint64_t *ids;
};

/* Keys between two looks at signals, where a call is long. */
enum { STEP = 1 << 22 };

static reduct_status add_keys(reduct_keys *keys, const char *data, uint64_t count, size_t size, uint64_t *ids,
                              struct watch *watch, reduct_error *error) {
    reduct_status status = REDUCT_OK;
    for (uint64_t done = 0, some; done < count && status == REDUCT_OK; done += some) {
        if (watch_stops(watch))
            return REDUCT_ERROR_CALLBACK;
        some = count - done < STEP ? count - done : STEP;
        status = reduct_keys_add(keys, data + done * size, some, REDUCT_U64, ids + done, error);
    }
    return status;
}

static reduct_status add_stretch(reduct_keys *keys, const struct stretch *stretch, struct watch *watch,
                                 reduct_error *error) {
    uint64_t count = (uint64_t)view_count(stretch->keys);
    size_t size = reduct_type_size(stretch->keys->type);
    if (!stretch->validity)
        return add_keys(keys, stretch->keys->data, count, size, stretch->ids, watch, error);
    const unsigned char *bits = (const unsigned char *)stretch->validity->data;
    reduct_status status = REDUCT_OK;
    for (uint64_t from = 0, to = 0; from < count && status == REDUCT_OK; from = to) {
        bool valid = bits[(stretch->first + from) / 8] >> (stretch->first + from) % 8 & 1;
        for (to = from; to < count && (bits[(stretch->first + to) / 8] >> (stretch->first + to) % 8 & 1) == valid;)
            to++;
        if (valid)
            status =
                add_keys(keys, stretch->keys->data + from * size, to - from, size, stretch->ids + from, watch, error);
        else
            memset(stretch->ids + from, 0xff, (to - from) * sizeof *stretch->ids);
    }
    return status;
}

/* Gives groups the numbers that they have in ascending order of the keys, and writes these in that order. */
static reduct_status sort_groups(const reduct_keys *keys, uint64_t *ids, uint64_t count, size_t size, char *unique,
                                 reduct_error *error) {
    uint64_t groups = reduct_keys_count(keys);
    uint64_t *order = malloc((2 * groups + 1) * sizeof *order), *rank = order ? order + groups : NULL;
    reduct_status status = order ? reduct_keys_order(keys, order, error) : REDUCT_ERROR_OUT_OF_MEMORY;
    for (uint64_t place = 0; status == REDUCT_OK && place < groups; place++) {
        rank[order[place]] = place;
        status = reduct_keys_get(keys, order[place], 1, unique + place * size, error);
    }
    for (uint64_t i = 0; status == REDUCT_OK && i < count; i++)
        ids[i] = ids[i] < groups ? rank[ids[i]] : ids[i];
    free(order);
    return status;
}

/* All stretches of a list of (keys, validity or None, first bit), after one another. */
static bool add_list(struct state *state, reduct_keys *keys, PyObject *list, reduct_type type, const struct view *ids) {
    uint64_t done = 0, count = (uint64_t)view_count(ids);
    for (Py_ssize_t which = 0; which < PyList_Size(list); which++) {
        PyObject *array, *validity;
        unsigned long long first;
        struct stretch stretch = {0};
        if (!PyArg_ParseTuple(PyList_GetItem(list, which), "OOK", &array, &validity, &first) ||
            !(stretch.keys = view_in(state, array, "keys")) ||
            !view_or_none(state, validity, "validity", &stretch.validity))
            return false;
        stretch.first = first;
        stretch.ids = (uint64_t *)(void *)ids->data + done;
        uint64_t length = (uint64_t)view_count(stretch.keys);
        if (stretch.keys->type != type || stretch.keys->device >= 0 || !view_is_contiguous(stretch.keys) ||
            length > count - done) {
            PyErr_SetString(PyExc_ValueError, "keys: expected contiguous arrays of one type in host memory");
            return false;
        }
        reduct_error error = {0};
        reduct_status status;
        struct watch watch;
        watch_begin(&watch, false);
        status = add_stretch(keys, &stretch, &watch, &error);
        if (watch_end(&watch))
            return false;
        if (status != REDUCT_OK) {
            raise_status(state, status, &error);
            return false;
        }
        done += length;
    }
    return true;
}

static PyObject *unique_keys(struct state *state, const reduct_keys *keys, reduct_type type, const struct view *ids,
                             bool sorted) {
    uint64_t groups = reduct_keys_count(keys);
    size_t size = reduct_type_size(type);
    char *unique = malloc(groups * size + 1);
    if (!unique)
        return PyErr_NoMemory();
    reduct_error error = {0};
    reduct_status status;
    Py_BEGIN_ALLOW_THREADS status =
        sorted ? sort_groups(keys, (uint64_t *)(void *)ids->data, (uint64_t)view_count(ids), size, unique, &error)
               : reduct_keys_get(keys, 0, groups, unique, &error);
    Py_END_ALLOW_THREADS PyObject *result = status == REDUCT_OK
                                                ? PyBytes_FromStringAndSize(unique, (Py_ssize_t)(groups * size))
                                                : raise_status(state, status, &error);
    free(unique);
    return result;
}

PyObject *number_keys(PyObject *module, PyObject *arguments) {
    struct state *state = PyModule_GetState(module);
    PyObject *list, *name, *target;
    int sorted;
    reduct_type type;
    if (!PyArg_ParseTuple(arguments, "OO!Op", &name, &PyList_Type, &list, &target, &sorted) || !parse_type(name, &type))
        return NULL;
    const struct view *ids = view_in(state, target, "ids");
    if (!ids)
        return NULL;
    if (ids->readonly || ids->device >= 0 || ids->type != REDUCT_I64 || !view_is_contiguous(ids)) {
        PyErr_SetString(PyExc_ValueError, "ids: expected room for i64 in host memory");
        return NULL;
    }
    reduct_error error = {0};
    reduct_keys *keys = NULL;
    reduct_status status = reduct_keys_create(type, &keys, &error);
    if (status != REDUCT_OK)
        return raise_status(state, status, &error);
    PyObject *result = add_list(state, keys, list, type, ids) ? unique_keys(state, keys, type, ids, sorted) : NULL;
    reduct_keys_destroy(keys);
    return result;
}

static bool are_device_arrays(const struct view *keys, const struct view *ids, const struct view *unique) {
    return keys->device >= 0 && ids->device == keys->device && unique->device == keys->device &&
           unique->type == keys->type && (ids->type == REDUCT_I32 || ids->type == REDUCT_U32) && !ids->readonly &&
           !unique->readonly && view_count(ids) == view_count(keys) && view_is_contiguous(keys) &&
           view_is_contiguous(ids) && view_is_contiguous(unique);
}

PyObject *cuda_number_keys(PyObject *module, PyObject *arguments) {
    struct state *state = PyModule_GetState(module);
    PyObject *array, *numbers, *different;
    unsigned long long found, workspace, stream;
    int sorted;
    const struct view *keys, *ids, *unique;
    if (!PyArg_ParseTuple(arguments, "OOOpKKK", &array, &numbers, &different, &sorted, &found, &workspace, &stream) ||
        !(keys = view_in(state, array, "keys")) || !(ids = view_in(state, numbers, "ids")) ||
        !(unique = view_in(state, different, "unique")))
        return NULL;
    if (!are_device_arrays(keys, ids, unique)) {
        PyErr_SetString(PyExc_ValueError, "keys: expected contiguous arrays on one CUDA device");
        return NULL;
    }
    char device[24];
    snprintf(device, sizeof device, "cuda:%d", keys->device);
    const reduct_cuda_keys_options options = {.kind = sorted ? REDUCT_CUDA_KEYS_ASCENDING : REDUCT_CUDA_KEYS_FIRST,
                                              .type = keys->type,
                                              .count = (uint64_t)view_count(keys),
                                              .room = (uint64_t)view_count(unique),
                                              .device = device};
    reduct_error error = {0};
    reduct_cuda_keys *prepared = NULL;
    size_t bytes = 0;
    reduct_status status;
    Py_BEGIN_ALLOW_THREADS status = reduct_cuda_keys_create(&options, &prepared, &error);
    if (status == REDUCT_OK) {
        bytes = reduct_cuda_keys_workspace_size(prepared);
        if (workspace)
            status = reduct_cuda_keys_group(prepared, keys->data, (uint32_t *)(void *)ids->data, unique->data,
                                            (uint64_t *)(uintptr_t)found, (void *)(uintptr_t)workspace,
                                            (struct CUstream_st *)(uintptr_t)stream, &error);
        reduct_cuda_keys_destroy(prepared);
    }
    Py_END_ALLOW_THREADS return status == REDUCT_OK ? PyLong_FromSize_t(bytes) : raise_status(state, status, &error);
}
