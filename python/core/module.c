/* The module pyreduct._core: exceptions, names, and what the other files define. */
#include "core.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------------------------------
 * Exceptions
 * ------------------------------------------------------------------------------------------------------------------ */

static struct {
    const char *name, *text;
    PyObject **base; /* besides pyreduct.Error */
} const error_classes[STATUSES] = {
    [REDUCT_ERROR_ARGUMENT] = {"pyreduct.ArgumentError", "An argument is outside its domain.", &PyExc_ValueError},
    [REDUCT_ERROR_UNSUPPORTED] = {"pyreduct.UnsupportedError", "Not done for these types, or on this device.",
                                  &PyExc_TypeError},
    [REDUCT_ERROR_OUT_OF_MEMORY] = {"pyreduct.OutOfMemoryError", "Memory could not be allocated.", &PyExc_MemoryError},
    [REDUCT_ERROR_EMPTY] = {"pyreduct.EmptyError", "Too few elements for the result to exist.", &PyExc_ValueError},
    [REDUCT_ERROR_OVERFLOW] = {"pyreduct.ResultOverflowError", "An integer result does not fit its type.",
                               &PyExc_OverflowError},
    [REDUCT_ERROR_NAN] = {"pyreduct.NanError", "A NaN was found under nan='error'; its index is the attribute index.",
                          &PyExc_ValueError},
    [REDUCT_ERROR_NO_DEVICE] = {"pyreduct.NoDeviceError", "No such device here.", &PyExc_RuntimeError},
    [REDUCT_ERROR_DEVICE_LOST] = {"pyreduct.DeviceLostError", "The device stopped working.", &PyExc_RuntimeError},
    [REDUCT_ERROR_TOO_LARGE] = {"pyreduct.TooLargeError", "A size that no memory could hold.", &PyExc_ValueError},
    [REDUCT_ERROR_CORRUPT] = {"pyreduct.CorruptError", "Bytes that are damaged, cut short, or nothing that was saved.",
                              &PyExc_ValueError},
    [REDUCT_ERROR_VERSION] = {"pyreduct.VersionError", "Bytes saved by a newer version of the library.",
                              &PyExc_ValueError},
    [REDUCT_ERROR_MISMATCH] = {"pyreduct.MismatchError",
                               "Accumulators, or tables, of different reductions cannot be merged.", &PyExc_ValueError},
    [REDUCT_ERROR_CALLBACK] = {"pyreduct.CallbackError", "A function of a custom operator failed.",
                               &PyExc_RuntimeError},
};

static PyObject *make_error(PyObject *module, PyObject *base, int status) {
    const char *name = error_classes[status].name;
    PyObject *bases = PyTuple_Pack(2, base, *error_classes[status].base);
    PyObject *error = bases ? PyErr_NewExceptionWithDoc(name, error_classes[status].text, bases, NULL) : NULL;
    Py_XDECREF(bases);
    if (error && PyModule_AddObjectRef(module, strchr(name, '.') + 1, error) != 0)
        Py_CLEAR(error);
    return error;
}

/* Error is in the place of REDUCT_OK. */
static bool make_errors(PyObject *module, struct state *state) {
    state->errors[0] =
        PyErr_NewExceptionWithDoc("pyreduct.Error", "What the library refuses or cannot do.", NULL, NULL);
    if (!state->errors[0] || PyModule_AddObjectRef(module, "Error", state->errors[0]) != 0)
        return false;
    for (int status = 1; status < STATUSES; status++)
        if (!(state->errors[status] = make_error(module, state->errors[0], status)))
            return false;
    return true;
}

PyObject *raise_status(struct state *state, reduct_status status, const reduct_error *error) {
    bool known = status > REDUCT_OK && (int)status < STATUSES;
    const char *message = error && error->status == status ? error->message : reduct_status_text(status);
    PyObject *class = state->errors[known ? status : 0];
    PyObject *exception = PyObject_CallFunction(class, "s", message);
    if (!exception)
        return NULL;
    PyObject *index =
        error && error->index != UINT64_MAX ? PyLong_FromUnsignedLongLong(error->index) : Py_NewRef(Py_None);
    if (index && PyObject_SetAttrString(exception, "index", index) == 0)
        PyErr_SetObject(class, exception);
    Py_XDECREF(index);
    Py_DecRef(exception);
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------------------------------------------------------ */

static const char *text_of(PyObject *object, const char *what) {
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    if (!text && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s: expected a name, found %R", what, object);
    return text;
}

static bool unknown(const char *what, const char *name, const char *expected) {
    if (name)
        PyErr_Format(PyExc_ValueError, "%s: '%s'; expected %s", what, name, expected);
    return false;
}

bool parse_type(PyObject *object, reduct_type *type) {
    const char *name = text_of(object, "dtype");
    return (name && reduct_type_parse(name, type) == REDUCT_OK) ||
           unknown("dtype", name, "a type of numbers, such as 'f64'");
}

bool parse_reduction(PyObject *tuple, reduct_reduction *reduction) {
    PyObject *op, *element, *result, *mode, *nan;
    unsigned flags;
    if (!PyTuple_Check(tuple) || !PyArg_ParseTuple(tuple, "OOOOOI", &op, &element, &result, &mode, &nan, &flags))
        return false;
    const char *name = text_of(op, "operator");
    if (!name || reduct_operator_parse(name, &reduction->op) != REDUCT_OK)
        return unknown("operator", name, "a reduction, such as 'sum'");
    name = text_of(mode, "mode");
    if (!name || reduct_mode_parse(name, &reduction->mode) != REDUCT_OK)
        return unknown("mode", name, "'exact' or 'fast'");
    name = text_of(nan, "nan");
    if (!name || reduct_nan_parse(name, &reduction->nan) != REDUCT_OK)
        return unknown("nan", name, "'propagate', 'ignore' or 'error'");
    reduction->flags = flags;
    return parse_type(element, &reduction->element) && (result == Py_None || parse_type(result, &reduction->result));
}

PyObject *reduction_tuple(const reduct_reduction *reduction) {
    return Py_BuildValue("(sssssI)", reduct_operator_name(reduction->op), reduct_type_name(reduction->element),
                         reduct_type_name(reduction->result), reduct_mode_name(reduction->mode),
                         reduct_nan_name(reduction->nan), reduction->flags);
}

void lock_wait(PyThread_type_lock lock) {
    if (PyThread_acquire_lock(lock, NOWAIT_LOCK))
        return;
    Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS
}

static PyObject *resolve(PyObject *module, PyObject *tuple) {
    reduct_reduction reduction = {0};
    reduct_error error = {0};
    if (!parse_reduction(tuple, &reduction))
        return NULL;
    reduct_status status = reduct_reduction_resolve(&reduction, &error);
    if (status != REDUCT_OK)
        return raise_status(PyModule_GetState(module), status, &error);
    return PyUnicode_FromString(reduct_type_name(reduction.result));
}

PyObject *keep_first(_Atomic(PyObject *) *place, PyObject *found) {
    PyObject *before = NULL;
    if (!found || atomic_compare_exchange_strong(place, &before, found))
        return found;
    Py_DecRef(found);
    return before;
}

/* use_numpy(ndarray, {'f64': float64, ...}): what results of its arrays are. */
static PyObject *use_numpy(PyObject *module, PyObject *arguments) {
    struct state *state = PyModule_GetState(module);
    PyObject *ndarray, *scalars, *found[TYPES] = {NULL};
    if (!PyArg_ParseTuple(arguments, "OO!", &ndarray, &PyDict_Type, &scalars))
        return NULL;
    for (int type = 1; type < TYPES; type++) {
        found[type] = PyDict_GetItemString(scalars, reduct_type_name((reduct_type)type));
        if (found[type] && !PyType_Check(found[type]))
            return PyErr_Format(PyExc_TypeError, "expected types of scalars, found %R", found[type]);
    }
    lock_wait(state->lock); /* and the class comes last: who sees it sees the others */
    for (int type = 1; type < TYPES && !state->ndarray; type++)
        if (found[type]) {
            state->make_scalar[type] = (newfunc)PyType_GetSlot((PyTypeObject *)found[type], Py_tp_new);
            state->scalars[type] = Py_NewRef(found[type]);
        }
    (void)keep_first(&state->ndarray, Py_NewRef(ndarray));
    PyThread_release_lock(state->lock);
    Py_RETURN_NONE;
}

/* number(type, buffer): the number whose bytes these are. */
static PyObject *number(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *name, *result = NULL;
    Py_buffer bytes;
    reduct_type type;
    if (!PyArg_ParseTuple(arguments, "Oy*", &name, &bytes))
        return NULL;
    if (parse_type(name, &type)) {
        if ((size_t)bytes.len == reduct_type_size(type))
            result = number_of(type, bytes.buf);
        else
            PyErr_SetString(PyExc_ValueError, "bytes: not as many as a number of this type has");
    }
    PyBuffer_Release(&bytes);
    return result;
}

/* set_longest(elements): for tests, of how many elements the longest call is that does not look at signals. Plans that there are keep
 * what they have. */
static PyObject *set_longest(PyObject *module, PyObject *elements) {
    unsigned long long longest = PyLong_AsUnsignedLongLong(elements);
    if (PyErr_Occurred())
        return NULL;
    struct state *state = PyModule_GetState(module);
    state->longest = longest;
    again_forget(state);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_longest", set_longest, METH_O, "set_longest(elements): of the longest call that does not look at signals"},
    {"resolve", resolve, METH_O, "resolve(reduction): name of the result type"},
    {"use_tensors", use_tensors, METH_O,
     "use_tensors(class): whether it has DLPack's functions in C, by which calls made again read it"},
    {"use_cupy", use_cupy, METH_VARARGS,
     "use_cupy(ndarray, Stream, getDevice, get_current_stream, {'f64': dtype, ...}): what calls made again read "
     "CuPy by"},
    {"use_numpy", use_numpy, METH_VARARGS, "use_numpy(ndarray, scalars): what results of NumPy's arrays are"},
    {"arrow_array", arrow_array, METH_VARARGS, "arrow_array(schema, array): (values, validity or None, first bit)"},
    {"arrow_stream", arrow_stream, METH_O,
     "arrow_stream(stream): (type or None, [(values, validity or None, first bit)])"},
    {"number_keys", number_keys, METH_VARARGS,
     "number_keys(type, [(keys, validity or None, first bit)], ids, sorted): bytes of the different ones"},
    {"cuda_number_keys", cuda_number_keys, METH_VARARGS,
     "cuda_number_keys(keys, ids, unique, sorted, found, workspace, stream): bytes of the workspace"},
    {"number", number, METH_VARARGS, "number(type, bytes): the number whose bytes these are"},
    {NULL, NULL, 0, NULL},
};

/* ---------------------------------------------------------------------------------------------------------------------
 * The module
 * ------------------------------------------------------------------------------------------------------------------ */

static bool add_names(PyObject *module) {
    PyObject *operators = PyList_New(0), *types = PyList_New(0);
    bool added = operators && types;
    for (int number = 1; added && reduct_operator_name((reduct_operator)number); number++) {
        PyObject *row = Py_BuildValue("(sii)", reduct_operator_name((reduct_operator)number),
                                      reduct_operator_inputs((reduct_operator)number),
                                      reduct_operator_outputs((reduct_operator)number));
        added = row && PyList_Append(operators, row) == 0;
        Py_XDECREF(row);
    }
    for (int number = 1; added && reduct_type_name((reduct_type)number); number++) {
        PyObject *row =
            Py_BuildValue("(sni)", reduct_type_name((reduct_type)number),
                          (Py_ssize_t)reduct_type_size((reduct_type)number), reduct_type_is_float((reduct_type)number));
        added = row && PyList_Append(types, row) == 0;
        Py_XDECREF(row);
    }
    added = added && PyModule_AddObjectRef(module, "OPERATORS", operators) == 0 &&
            PyModule_AddObjectRef(module, "TYPES", types) == 0;
    Py_XDECREF(operators);
    Py_XDECREF(types);
    return added && PyModule_AddStringConstant(module, "VERSION", reduct_version()) == 0;
}

static int execute(PyObject *module) {
    struct state *state = PyModule_GetState(module);
    state->lock = PyThread_allocate_lock();
    if (!state->lock) {
        PyErr_NoMemory();
        return -1;
    }
    if (!again_begin(state) || !make_errors(module, state) || PyModule_AddFunctions(module, call_methods) != 0 ||
        !add_names(module))
        return -1;
    state->longest = LONG_ELEMENTS;
    state->view = (PyTypeObject *)view_type(module);
    state->plan = (PyTypeObject *)plan_type(module);
    state->accumulator = (PyTypeObject *)accumulator_type(module);
    state->table = (PyTypeObject *)table_type(module);
    PyTypeObject *const types[] = {state->view, state->plan, state->accumulator, state->table};
    for (size_t which = 0; which < sizeof types / sizeof *types; which++)
        if (!types[which] || PyModule_AddType(module, types[which]) != 0)
            return -1;
    return 0;
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
    struct state *state = PyModule_GetState(module);
    for (int status = 0; status < STATUSES; status++)
        Py_VISIT(state->errors[status]);
    for (int type = 0; type < TYPES; type++)
        Py_VISIT(state->scalars[type]);
    Py_VISIT(state->view);
    Py_VISIT(state->plan);
    Py_VISIT(state->accumulator);
    Py_VISIT(state->table);
    Py_VISIT(state->functions);
    Py_VISIT(state->ndarray);
    return again_traverse(state, visit, arg);
}

static int clear(PyObject *module) {
    struct state *state = PyModule_GetState(module);
    for (int status = 0; status < STATUSES; status++)
        Py_CLEAR(state->errors[status]);
    for (int type = 0; type < TYPES; type++)
        Py_CLEAR(state->scalars[type]);
    Py_CLEAR(state->view);
    Py_CLEAR(state->plan);
    Py_CLEAR(state->accumulator);
    Py_CLEAR(state->table);
    Py_XDECREF(atomic_exchange(&state->functions, NULL));
    Py_XDECREF(atomic_exchange(&state->ndarray, NULL));
    again_clear(state);
    return 0;
}

static void free_module(void *module) {
    struct state *state = PyModule_GetState(module);
    clear(module);
    PyMem_Free(state->again);
    if (state->lock)
        PyThread_free_lock(state->lock);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,          .m_name = "pyreduct._core", .m_doc = "The part of pyreduct that calls the library.",
    .m_size = sizeof(struct state), .m_methods = methods,       .m_slots = slots,
    .m_traverse = traverse,         .m_clear = clear,           .m_free = free_module,
};

PyMODINIT_FUNC PyInit__core(void); /* no header declares it */

PyMODINIT_FUNC PyInit__core(void) {
    return PyModuleDef_Init(&definition);
}
