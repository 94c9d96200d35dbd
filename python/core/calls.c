/* The functions of the module, for whole arrays whose elements lie one after another, and for lists: straight to the library.
 * Everything else, keywords above all, is for the functions of the same names in pyreduct/_functions.py. */
#include "core.h"

#include <string.h>

struct function {
    const char *name;
    reduct_operator op; /* 0: of groups */
    bool population;    /* var and std divide by n */
};

/* Below this many elements it costs more to let other threads run than to keep them waiting. */
enum { RELEASING = 1024 };

static reduct_status reduce(const struct function *function, reduct_type type, const void *x, const void *y,
                            size_t count, void *result) {
    if (!function->population)
        return reduct_reduce(function->op, type, x, y, count, result);
    reduct_reduction reduction = {.op = function->op, .element = type, .flags = REDUCT_POPULATION};
    reduct_plan_options options = {
        .reductions = &reduction, .reduction_count = 1, .shape = {.n = count}, .device = "cpu"};
    reduct_plan *plan;
    reduct_status status = reduct_plan_create(&options, &plan, NULL);
    if (status != REDUCT_OK)
        return status;
    status = reduct_plan_execute(plan, &x, &result, NULL, NULL);
    reduct_plan_destroy(plan);
    return status;
}

/* The result, or null without an exception where the general function shall tell what is wrong. */
static PyObject *reduce_views(struct state *state, const struct function *function, const struct view *x,
                              const struct view *y, bool of_numpy) {
    reduct_reduction reduction = {.op = function->op, .element = x->type};
    if (reduct_reduction_resolve(&reduction, NULL) != REDUCT_OK)
        return NULL;
    uint64_t result[4];
    size_t count = (size_t)view_count(x);
    if (count > state->longest)
        return NULL; /* so long that signals must be handled meanwhile */
    PyThreadState *thread = count >= RELEASING ? PyEval_SaveThread() : NULL;
    reduct_status status = reduce(function, x->type, x->data, y ? y->data : NULL, count, result);
    if (thread)
        PyEval_RestoreThread(thread);
    if (status != REDUCT_OK)
        return NULL;
    bool is_count =
        reduction.result == REDUCT_U64 && (reduction.element == REDUCT_BOOL || function->op == REDUCT_ARGMIN ||
                                           function->op == REDUCT_ARGMAX || function->op == REDUCT_COUNT_NONZERO);
    reduct_type type = is_count ? REDUCT_I64 : reduction.result; /* as NumPy counts; as many there cannot be */
    return of_numpy ? numpy_number(state, type, result) : number_of(type, result);
}

/* Whether there is no other reading of this object than as such a buffer; no exception if not. */
static bool take_buffer(struct state *state, PyObject *object, struct view *view) {
    if ((PyObject *)Py_TYPE(object) != state->ndarray)
        return false;
    if (!view_of_buffer(object, false, "x", view)) {
        PyErr_Clear();
        return false;
    }
    if (view->rank > 0 && view_is_contiguous(view))
        return true;
    view_release(view);
    return false;
}

static bool take_list(PyObject *object, const char *name, struct view *view) {
    if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object))
        return false;
    if (view_of_numbers(object, name, view))
        return true;
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Clear(); /* of lists of lists, and of arrays, the general function says more */
    return false;
}

static bool same_shape(const struct view *x, const struct view *y) {
    return x->type == y->type && x->rank == 1 && y->rank == 1 && x->lengths[0] == y->lengths[0];
}

static PyObject *try_arrays(struct state *state, const struct function *function, PyObject *const *arguments,
                            bool pair) {
    struct view x, y; /* only what releasing looks at is cleared: the rest is written before it is read */
    x.buffer.obj = y.buffer.obj = NULL;
    x.owner = y.owner = NULL;
    x.managed = y.managed = x.copy = y.copy = NULL;
    bool of_numpy = take_buffer(state, arguments[0], &x);
    if (!of_numpy && !take_list(arguments[0], "x", &x))
        return NULL;
    PyObject *result = NULL;
    if (!pair) {
        result = reduce_views(state, function, &x, NULL, of_numpy);
    } else if (of_numpy ? take_buffer(state, arguments[1], &y) : take_list(arguments[1], "y", &y)) {
        if (same_shape(&x, &y))
            result = reduce_views(state, function, &x, &y, of_numpy);
        view_release(&y);
    }
    view_release(&x);
    return result;
}

static PyObject *general(struct state *state, const char *name, PyObject *const *arguments, Py_ssize_t count,
                         PyObject *names) {
    PyObject *functions = state->functions;
    if (!functions) {
        PyObject *module = PyImport_ImportModule("pyreduct._functions");
        functions = keep_first(&state->functions, module ? PyObject_GetAttrString(module, "FUNCTIONS") : NULL);
        Py_XDECREF(module);
    }
    PyObject *function = functions ? PyMapping_GetItemString(functions, name) : NULL;
    PyObject *tuple = PyTuple_New(count), *keywords = PyDict_New(), *result = NULL;
    bool ready = function && tuple && keywords;
    for (Py_ssize_t index = 0; ready && index < count; index++)
        ready = PyTuple_SetItem(tuple, index, Py_NewRef(arguments[index])) == 0;
    Py_ssize_t named = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t index = 0; ready && index < named; index++)
        ready = PyDict_SetItem(keywords, PyTuple_GetItem(names, index), arguments[count + index]) == 0;
    if (ready)
        result = PyObject_Call(function, tuple, keywords);
    Py_XDECREF(function);
    Py_XDECREF(tuple);
    Py_XDECREF(keywords);
    return result;
}

static PyObject *call(PyObject *module, const struct function *function, PyObject *const *arguments, Py_ssize_t count,
                      PyObject *names) {
    struct state *state = PyModule_GetState(module);
    int inputs = function->op ? reduct_operator_inputs(function->op) : -1;
    PyObject *result = NULL;
    if (count == inputs && !names)
        result = try_arrays(state, function, arguments, inputs == 2);
    if (!result && !PyErr_Occurred())
        result = call_again(state, function->name, arguments, count, names);
    if (result || PyErr_Occurred())
        return result;
    return general(state, function->name, arguments, count, names);
}

/* FUNCTION(name, operator, population, signature, first line of its text) */
#define REDUCT_GROUPS ((reduct_operator)0)
#define EVERYWHERE    "where=None, nan='propagate', mode='exact', check=True"
#define OPTIONS       ", *, " EVERYWHERE
#define SPREAD        "x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, correction=None, " EVERYWHERE
#define FUNCTIONS                                                                                                      \
    FUNCTION(sum, SUM, false, "x, axis=None, dtype=None, out=None, keepdims=False" OPTIONS, "Sum, rounded once.")      \
    FUNCTION(prod, PRODUCT, false, "x, axis=None, dtype=None, out=None, keepdims=False" OPTIONS,                       \
             "Product: of integers exact, of floats the same bits everywhere.")                                        \
    FUNCTION(mean, MEAN, false, "x, axis=None, dtype=None, out=None, keepdims=False" OPTIONS, "Mean, rounded once.")   \
    FUNCTION(var, VAR, true, SPREAD, "Variance, rounded once; ddof, or correction, is 0 or 1.")                        \
    FUNCTION(std, STD, true, SPREAD, "Standard deviation, rounded once; ddof, or correction, is 0 or 1.")              \
    FUNCTION(rms, RMS, false, "x, axis=None, dtype=None, out=None, keepdims=False" OPTIONS,                            \
             "Root mean square, rounded once.")                                                                        \
    FUNCTION(sumsq, SUMSQ, false, "x, axis=None, dtype=None, out=None, keepdims=False" OPTIONS,                        \
             "Sum of squares, rounded once.")                                                                          \
    FUNCTION(norm, NORM2, false,                                                                                       \
             "x, ord=2, axis=None, keepdims=False, *, dtype=None, out=None, where=None, "                              \
             "nan='propagate', mode='exact', check=True",                                                              \
             "Norm of all elements, rounded once: ord is 1, 2 or math.inf.")                                           \
    FUNCTION(min, MIN, false, "x, axis=None, out=None, keepdims=False" OPTIONS, "Smallest element.")                   \
    FUNCTION(max, MAX, false, "x, axis=None, out=None, keepdims=False" OPTIONS, "Largest element.")                    \
    FUNCTION(ptp, PTP, false,                                                                                          \
             "x, axis=None, out=None, keepdims=False, *, dtype=None, where=None, nan='propagate', "                    \
             "mode='exact', check=True",                                                                               \
             "Largest element less the smallest, rounded once; of signed integers it is unsigned.")                    \
    FUNCTION(argmin, ARGMIN, false,                                                                                    \
             "x, axis=None, out=None, *, keepdims=False, where=None, nan='propagate', "                                \
             "check=True",                                                                                             \
             "Index of the first smallest element.")                                                                   \
    FUNCTION(argmax, ARGMAX, false,                                                                                    \
             "x, axis=None, out=None, *, keepdims=False, where=None, nan='propagate', "                                \
             "check=True",                                                                                             \
             "Index of the first largest element.")                                                                    \
    FUNCTION(count_nonzero, COUNT_NONZERO, false,                                                                      \
             "x, axis=None, *, keepdims=False, out=None, where=None, "                                                 \
             "nan='propagate', check=True",                                                                            \
             "Number of elements that are not zero.")                                                                  \
    FUNCTION(any, ANY, false, "x, axis=None, out=None, keepdims=False, *, where=None, nan='propagate', check=True",    \
             "Whether any element is not zero.")                                                                       \
    FUNCTION(all, ALL, false, "x, axis=None, out=None, keepdims=False, *, where=None, nan='propagate', check=True",    \
             "Whether no element is zero.")                                                                            \
    FUNCTION(dot, DOT, false, "x, y, *, dtype=None, out=None, where=None, nan='propagate', mode='exact', check=True",  \
             "Dot product of two arrays of one axis, rounded once.")                                                   \
    FUNCTION(index_add, GROUPS, false, "x, ids, values, *, check=True",                                                \
             "x with each values[i] added to x[ids[i]], where an id may come any number of times: each result is "     \
             "rounded once.")                                                                                          \
    FUNCTION(group_sum, GROUPS, false,                                                                                 \
             "x, ids, n, *, initial=None, skip=False, dtype=None, where=None, nan='propagate', ddof=0, check=True",    \
             "group_reduce() with the operator 'sum'.")                                                                \
    FUNCTION(segment_sum, GROUPS, false,                                                                               \
             "x, offsets=None, *, begins=None, ends=None, length=None, dtype=None, where=None, nan='propagate', "      \
             "mode='exact', ddof=0, check=True",                                                                       \
             "segment_reduce() with the operator 'sum'.")

#define FUNCTION(name, op, population, signature, text)                                                                \
    static PyObject *call_##name(PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *names) {    \
        static const struct function function = {#name, REDUCT_##op, population};                                      \
        return call(module, &function, arguments, count, names);                                                       \
    }
FUNCTIONS
#undef FUNCTION

#define FUNCTION(name, op, population, signature, text)                                                                \
    {#name, (PyCFunction)(void (*)(void))call_##name, METH_FASTCALL | METH_KEYWORDS,                                   \
     #name "($module, /, " signature ")\n--\n\n" text},
PyMethodDef call_methods[] = {FUNCTIONS{NULL, NULL, 0, NULL}};
