/* Columns of Arrow, through its C data interface, https://arrow.apache.org/docs/format/CDataInterface.html, whose structures
 * these are. A chunk becomes a view of its values, one of the bytes of its validity bitmap, and the number of the first bit
 * there. */
#include "core.h"

#include <string.h>

struct arrow_schema {
    const char *format, *name, *metadata;
    int64_t flags, children_count;
    struct arrow_schema **children, *dictionary;
    void (*release)(struct arrow_schema *);
    void *private_data;
};

struct arrow_array {
    int64_t length, null_count, offset, buffer_count, children_count;
    const void **buffers;
    struct arrow_array **children, *dictionary;
    void (*release)(struct arrow_array *);
    void *private_data;
};

struct arrow_stream {
    int (*get_schema)(struct arrow_stream *, struct arrow_schema *out);
    int (*get_next)(struct arrow_stream *, struct arrow_array *out);
    const char *(*get_last_error)(struct arrow_stream *);
    void (*release)(struct arrow_stream *);
    void *private_data;
};

static reduct_type type_of(const struct arrow_schema *schema, bool *is_bits) {
    static const char letters[] = "gfecsilCSIL";
    static const reduct_type types[] = {REDUCT_F64, REDUCT_F32, REDUCT_F16, REDUCT_I8,  REDUCT_I16, REDUCT_I32,
                                        REDUCT_I64, REDUCT_U8,  REDUCT_U16, REDUCT_U32, REDUCT_U64};
    const char *format = schema->format, *found = *format && !format[1] ? strchr(letters, *format) : NULL;
    *is_bits = !strcmp(format, "b");
    if (schema->dictionary)
        return REDUCT_DEFAULT;
    return *is_bits ? REDUCT_BOOL : found ? types[found - letters] : REDUCT_DEFAULT;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * A chunk is kept in a capsule, which gives it back
 * ------------------------------------------------------------------------------------------------------------------ */

static const char chunk_name[] = "pyreduct.arrow_array";

static void give_back(PyObject *capsule) {
    struct arrow_array *array = PyCapsule_GetPointer(capsule, chunk_name);
    if (array->release)
        array->release(array);
    PyMem_Free(array);
}

/* Takes over what `source` holds. */
static PyObject *keep(struct arrow_array *source) {
    struct arrow_array *array = PyMem_Malloc(sizeof *array);
    if (!array)
        return PyErr_NoMemory();
    *array = *source;
    source->release = NULL;
    PyObject *capsule = PyCapsule_New(array, chunk_name, give_back);
    if (!capsule && array->release)
        array->release(array);
    if (!capsule)
        PyMem_Free(array);
    return capsule;
}

static void fill(struct view *view, reduct_type type, const void *data, int64_t length, PyObject *owner) {
    view->type = type;
    view->data = (char *)(uintptr_t)data;
    view->device = -1;
    view->readonly = true;
    view->rank = 1;
    view->lengths[0] = length;
    view->strides[0] = 1;
    view->owner = Py_NewRef(owner);
    view_settle(view);
}

/* Truth values are bits there, and bytes here. */
static bool unpack(struct view *view, const unsigned char *bits, int64_t offset) {
    view->copy = PyMem_Malloc(view->lengths[0] ? (size_t)view->lengths[0] : 1);
    if (!view->copy) {
        PyErr_NoMemory();
        return false;
    }
    view->data = view->copy;
    for (int64_t index = 0; index < view->lengths[0]; index++)
        view->data[index] = bits[(index + offset) / 8] >> (index + offset) % 8 & 1;
    return true;
}

/* (values, validity or None, first bit) */
static PyObject *read_chunk(struct state *state, const struct arrow_schema *schema, struct arrow_array *source) {
    bool is_bits;
    reduct_type type = type_of(schema, &is_bits);
    if (!type || source->buffer_count != 2) {
        return PyErr_Format(
            PyExc_TypeError,
            "x: a column of Arrow's format '%s'; expected numbers or truth values, without a dictionary",
            schema->format);
    }
    PyObject *owner = keep(source);
    struct view *values, *validity;
    PyObject *values_object = owner ? view_new(state, &values) : NULL;
    PyObject *validity_object = values_object ? view_new(state, &validity) : NULL;
    PyObject *chunk = NULL;
    if (validity_object) {
        const struct arrow_array *array = PyCapsule_GetPointer(owner, chunk_name);
        const char *data = array->buffers[1];
        size_t skipped = is_bits ? 0 : (size_t)array->offset * reduct_type_size(type);
        fill(values, type, data ? data + skipped : NULL, array->length, owner);
        bool masked = array->buffers[0] && array->null_count != 0;
        fill(validity, REDUCT_U8, array->buffers[0], (array->offset + array->length + 7) / 8, owner);
        if (!is_bits || unpack(values, array->buffers[1], array->offset))
            chunk = Py_BuildValue("(OOL)", values_object, masked ? validity_object : Py_None, (long long)array->offset);
    }
    Py_XDECREF(validity_object);
    Py_XDECREF(values_object);
    Py_XDECREF(owner);
    return chunk;
}

PyObject *arrow_array(PyObject *module, PyObject *arguments) {
    PyObject *schema_capsule, *array_capsule;
    if (!PyArg_ParseTuple(arguments, "OO", &schema_capsule, &array_capsule))
        return NULL;
    struct arrow_schema *schema = PyCapsule_GetPointer(schema_capsule, "arrow_schema");
    struct arrow_array *array = schema ? PyCapsule_GetPointer(array_capsule, "arrow_array") : NULL;
    return array ? read_chunk(PyModule_GetState(module), schema, array) : NULL;
}

static bool append_chunks(struct state *state, struct arrow_stream *stream, const struct arrow_schema *schema,
                          PyObject *list) {
    for (;;) {
        struct arrow_array array = {0};
        if (stream->get_next(stream, &array) != 0) {
            const char *why = stream->get_last_error(stream);
            PyErr_Format(PyExc_ValueError, "x: the stream of Arrow's columns failed: %s",
                         why ? why : "no reason given");
            return false;
        }
        if (!array.release)
            return true;
        PyObject *chunk = read_chunk(state, schema, &array);
        bool added = chunk && PyList_Append(list, chunk) == 0;
        Py_XDECREF(chunk);
        if (array.release)
            array.release(&array);
        if (!added)
            return false;
    }
}

PyObject *arrow_stream(PyObject *module, PyObject *capsule) {
    struct arrow_stream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!stream)
        return NULL;
    struct arrow_schema schema = {0};
    if (stream->get_schema(stream, &schema) != 0)
        return PyErr_Format(PyExc_ValueError, "x: the stream of Arrow's columns has no schema");
    PyObject *list = PyList_New(0);
    if (list && !append_chunks(PyModule_GetState(module), stream, &schema, list))
        Py_CLEAR(list);
    bool is_bits;
    const char *name = reduct_type_name(type_of(&schema, &is_bits));
    PyObject *result = list ? Py_BuildValue("(zO)", name, list) : NULL;
    Py_XDECREF(list);
    if (schema.release)
        schema.release(&schema);
    return result;
}
