/* The class Plan: what the library's plans are, made from shapes and executed on views. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { INPUTS_MAX = 5, REDUCTIONS_MAX = 64 };

/* What a plan is made from, as Python gives it. */
struct request {
    reduct_reduction reductions[REDUCTIONS_MAX];
    uint64_t lengths[REDUCT_RANK_MAX];
    int64_t strides[2][REDUCT_RANK_MAX];
    int64_t result_strides[REDUCT_RANK_MAX], mask_strides[REDUCT_RANK_MAX];
    reduct_array array;
    reduct_segments segments;
    reduct_groups groups;
    reduct_plan_options options;
};

struct plan_object {
    PyObject_HEAD reduct_plan *plan;
    uint64_t elements; /* read by an execution, about */
    size_t reductions;
    struct request *request; /* of one whose executions look at signals, or null */
};

static bool read_reductions(PyObject *tuple, struct request *request) {
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 1 || count > REDUCTIONS_MAX) {
        PyErr_Format(PyExc_ValueError, "ops: %zd operators; expected 1 to %d", count, REDUCTIONS_MAX);
        return false;
    }
    for (Py_ssize_t which = 0; which < count; which++)
        if (!parse_reduction(PyTuple_GetItem(tuple, which), &request->reductions[which]))
            return false;
    request->options.reductions = request->reductions;
    request->options.reduction_count = (size_t)count;
    return true;
}

static bool read_tuple(PyObject *tuple, int64_t numbers[REDUCT_RANK_MAX], Py_ssize_t expected) {
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != expected) {
        PyErr_Format(PyExc_ValueError, "expected a tuple of %zd numbers", expected);
        return false;
    }
    for (Py_ssize_t index = 0; index < expected; index++)
        if (!read_int64(PyTuple_GetItem(tuple, index), &numbers[index]))
            return false;
    return true;
}

static bool read_inputs(PyObject *tuple, struct request *request) {
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count > 2) {
        PyErr_SetString(PyExc_ValueError, "expected strides of one or two inputs");
        return false;
    }
    for (Py_ssize_t which = 0; which < count; which++) {
        if (!read_tuple(PyTuple_GetItem(tuple, which), request->strides[which], request->array.rank))
            return false;
        request->array.strides[which] = request->strides[which];
    }
    return true;
}

/* Whether it is one result of elements one after another, which the library has a shorter way for. Of less than two elements there may be
 * no result, which the shorter way refuses before it is known whether that is an error. */
static bool is_whole(const struct request *request, uint64_t elements) {
    const reduct_array *array = &request->array;
    uint64_t all = array->rank == REDUCT_RANK_MAX ? UINT64_MAX : ((uint64_t)1 << array->rank) - 1;
    if (elements < 2 || request->options.reduction_count != 1 || request->options.mask || (array->axes & all) != all)
        return false;
    for (int input = 0; input < 2 && array->strides[input]; input++) {
        uint64_t stride = 1;
        for (unsigned axis = array->rank; axis-- > 0; stride *= array->lengths[axis])
            if (array->lengths[axis] > 1 && (uint64_t)array->strides[input][axis] != stride)
                return false;
    }
    return true;
}

/* A copy of the request for a plan whose executions take long; false with an exception. */
static bool keep_request(struct plan_object *self, const struct request *request, uint64_t longest) {
    if (self->elements <= longest || strcmp(request->options.device, "cpu") != 0)
        return true;
    struct request *kept = self->request = PyMem_Malloc(sizeof *request);
    if (!kept) {
        PyErr_NoMemory();
        return false;
    }
    memcpy(kept, request, sizeof *kept);
    kept->options.device = "cpu";
    kept->options.reductions = kept->reductions;
    kept->options.array = request->options.array ? &kept->array : NULL;
    kept->options.segments = request->options.segments ? &kept->segments : NULL;
    kept->options.groups = request->options.groups ? &kept->groups : NULL;
    kept->array.lengths = kept->lengths;
    for (int input = 0; input < 2; input++)
        kept->array.strides[input] = request->array.strides[input] ? kept->strides[input] : NULL;
    kept->array.result_strides = request->array.result_strides ? kept->result_strides : NULL;
    kept->array.mask_strides = request->array.mask_strides ? kept->mask_strides : NULL;
    return true;
}

static PyObject *create(PyTypeObject *type, const struct request *request, uint64_t elements) {
    struct state *state = PyType_GetModuleState(type);
    struct plan_object *self = (struct plan_object *)PyType_GenericAlloc(type, 0);
    if (!self)
        return NULL;
    reduct_error error = {0};
    reduct_status status = reduct_plan_create(&request->options, &self->plan, &error);
    self->elements = elements;
    self->reductions = request->options.reduction_count;
    if (status != REDUCT_OK)
        raise_status(state, status, &error);
    else if (keep_request(self, request, state->longest))
        return (PyObject *)self;
    Py_DecRef((PyObject *)self);
    return NULL;
}

/* Plan(reductions, lengths, strides, axes, result_strides, mask, mask_strides, device) */
static PyObject *new_plan(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    (void)keywords;
    PyObject *reductions, *lengths, *strides, *result_strides, *mask_strides;
    unsigned long long axes;
    int mask;
    struct request request = {0};
    if (!PyArg_ParseTuple(arguments, "O!O!O!KOiOs", &PyTuple_Type, &reductions, &PyTuple_Type, &lengths, &PyTuple_Type,
                          &strides, &axes, &result_strides, &mask, &mask_strides, &request.options.device) ||
        !read_reductions(reductions, &request))
        return NULL;
    Py_ssize_t rank = PyTuple_Size(lengths), kept = 0;
    if (rank > REDUCT_RANK_MAX)
        return PyErr_Format(PyExc_ValueError, "%zd axes; expected at most %d", rank, REDUCT_RANK_MAX);
    for (Py_ssize_t axis = 0; axis < rank; axis++)
        kept += !(axes >> axis & 1);
    request.array.rank = (unsigned)rank;
    request.array.lengths = request.lengths;
    request.array.axes = axes;
    request.options.kind = REDUCT_ARRAY;
    request.options.array = &request.array;
    request.options.mask = (reduct_mask)mask;
    if (!read_tuple(lengths, (int64_t *)request.lengths, rank) || !read_inputs(strides, &request) ||
        (result_strides != Py_None && !read_tuple(result_strides, request.result_strides, kept)) ||
        (mask_strides != Py_None && !read_tuple(mask_strides, request.mask_strides, rank)))
        return NULL;
    if (result_strides != Py_None) {
        for (Py_ssize_t axis = rank; axis-- > 0;) /* from those that stay to all: each moves up or stays where it is */
            if (!(axes >> axis & 1))
                request.result_strides[axis] = request.result_strides[--kept];
        request.array.result_strides = request.result_strides;
    }
    if (mask_strides != Py_None)
        request.array.mask_strides = request.mask_strides;
    uint64_t elements = 1;
    for (unsigned axis = 0; axis < request.array.rank; axis++)
        elements *= request.lengths[axis];
    if (is_whole(&request, elements)) {
        request.options.kind = REDUCT_WHOLE;
        request.options.shape.n = elements;
    }
    return create(type, &request, elements);
}

/* segments(reductions, count, elements, index, length, with_ends, mask, mask_offset, device) */
static PyObject *new_segments(PyObject *type, PyObject *arguments) {
    PyObject *reductions, *index;
    unsigned long long count, elements, length, mask_offset;
    int mask;
    struct request request = {0};
    reduct_segments *segments = &request.segments;
    if (!PyArg_ParseTuple(arguments, "O!KKOKpiKs", &PyTuple_Type, &reductions, &count, &elements, &index, &length,
                          &segments->with_ends, &mask, &mask_offset, &request.options.device) ||
        !read_reductions(reductions, &request) || (index != Py_None && !parse_type(index, &segments->index)))
        return NULL;
    segments->count = count;
    segments->elements = elements;
    segments->length = length;
    request.options.kind = REDUCT_SEGMENTS;
    request.options.segments = segments;
    request.options.mask = (reduct_mask)mask;
    request.options.mask_offset = mask_offset;
    return create((PyTypeObject *)type, &request, elements);
}

/* groups(reductions, count, elements, index, width, skip, with_initial, mask, device) */
static PyObject *new_groups(PyObject *type, PyObject *arguments) {
    PyObject *reductions, *index;
    unsigned long long count, elements, width;
    int mask;
    struct request request = {0};
    reduct_groups *groups = &request.groups;
    if (!PyArg_ParseTuple(arguments, "O!KKOKppis", &PyTuple_Type, &reductions, &count, &elements, &index, &width,
                          &groups->skip, &groups->with_initial, &mask, &request.options.device) ||
        !read_reductions(reductions, &request) || !parse_type(index, &groups->index))
        return NULL;
    groups->count = count;
    groups->elements = elements;
    groups->width = width;
    request.options.kind = REDUCT_GROUPS;
    request.options.groups = groups;
    request.options.mask = (reduct_mask)mask;
    return create((PyTypeObject *)type, &request, width ? elements * width : elements);
}

/* The addresses of a tuple of views; returns how many, or -1 with an exception. */
static int addresses(struct state *state, PyObject *tuple, void **data, int most) {
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count > most) {
        PyErr_Format(PyExc_ValueError, "%zd arrays; expected at most %d", count, most);
        return -1;
    }
    for (Py_ssize_t which = 0; which < count; which++) {
        struct view *view = view_in(state, PyTuple_GetItem(tuple, which), "arrays");
        if (!view)
            return -1;
        data[which] = view->data;
    }
    return (int)count;
}

/* Below this many elements it costs more to let other threads run than to keep them waiting. */
enum { RELEASING = 1024 };

/* Results that fail become NaN, of integer types 0. */
static reduct_status execute_each(const reduct_plan *plan, size_t reductions, const void *const *inputs,
                                  void *const *results, reduct_error *error) {
    reduct_outcome *outcomes[REDUCTIONS_MAX];
    size_t count = (size_t)reduct_plan_result_count(plan);
    reduct_outcome *all = malloc((reductions * count + 1) * sizeof *all);
    if (!all)
        return REDUCT_ERROR_OUT_OF_MEMORY;
    for (size_t which = 0; which < reductions; which++)
        outcomes[which] = all + which * count;
    reduct_status status = reduct_plan_execute_each(plan, inputs, results, outcomes, NULL, error);
    free(all);
    return status;
}

/* Without check, what the data alone make fail is written, in a second run, as the first one wrote nothing. */
static reduct_status execute_plan(const reduct_plan *plan, size_t reductions, const void *const *inputs,
                                  void *const *results, bool check, reduct_error *error) {
    reduct_status status = reduct_plan_execute(plan, inputs, results, NULL, error);
    bool by_data = status == REDUCT_ERROR_EMPTY || status == REDUCT_ERROR_OVERFLOW || status == REDUCT_ERROR_NAN;
    return check || !by_data ? status : execute_each(plan, reductions, inputs, results, error);
}

/* By a plan of its own, which has its own watch. */
static reduct_status execute_watched(const struct request *request, const void *const *inputs, void *const *results,
                                     bool check, bool *interrupted, reduct_error *error) {
    struct watch watch;
    const reduct_executor executor = {.stop = watch_stops, .context = &watch};
    reduct_plan_options options = request->options;
    options.executor = &executor;
    reduct_plan *plan;
    reduct_status status = reduct_plan_create(&options, &plan, error);
    if (status != REDUCT_OK)
        return status;
    watch_begin(&watch, false);
    status = execute_plan(plan, options.reduction_count, inputs, results, check, error);
    *interrupted = watch_end(&watch);
    reduct_plan_destroy(plan);
    return status;
}

reduct_status plan_execute(PyObject *plan, const void *const *inputs, void *const *results, bool check,
                           reduct_error *error) {
    const struct plan_object *self = (const struct plan_object *)plan;
    PyThreadState *thread = self->elements >= RELEASING ? PyEval_SaveThread() : NULL;
    reduct_status status = execute_plan(self->plan, self->reductions, inputs, results, check, error);
    if (thread)
        PyEval_RestoreThread(thread);
    return status;
}

/* execute(inputs, results, check, times): more than once to measure what it takes without Python. */
static PyObject *execute(PyObject *object, PyObject *arguments) {
    struct plan_object *self = (struct plan_object *)object;
    struct state *state = PyType_GetModuleState(Py_TYPE(object));
    PyObject *input_views, *result_views;
    int check;
    unsigned long long times = 1;
    void *inputs[INPUTS_MAX] = {NULL}, *results[REDUCTIONS_MAX];
    if (!PyArg_ParseTuple(arguments, "O!O!p|K", &PyTuple_Type, &input_views, &PyTuple_Type, &result_views, &check,
                          &times) ||
        addresses(state, input_views, inputs, INPUTS_MAX) < 0 ||
        addresses(state, result_views, results, REDUCTIONS_MAX) < 0)
        return NULL;
    bool interrupted = false;
    reduct_error error = {0};
    reduct_status status;
    if (self->request) {
        status = execute_watched(self->request, (const void *const *)inputs, results, check != 0, &interrupted, &error);
    } else {
        do
            status = plan_execute(object, (const void *const *)inputs, results, check != 0, &error);
        while (status == REDUCT_OK && times-- > 1);
    }
    if (interrupted)
        return NULL;
    if (status != REDUCT_OK)
        return raise_status(state, status, &error);
    Py_RETURN_NONE;
}

/* Lets other threads run also where it waits only for an earlier one, as a stream that is full does. */
reduct_status plan_queue(PyObject *plan, const void *const *inputs, void *const *results, bool check, void *workspace,
                         void *stream, reduct_error *error) {
    const reduct_plan *queued = ((struct plan_object *)plan)->plan;
    reduct_status status;
    Py_BEGIN_ALLOW_THREADS status = check
                                        ? reduct_cuda_execute_checked(queued, inputs, results, workspace, stream, error)
                                        : reduct_cuda_execute(queued, inputs, results, NULL, workspace, stream, error);
    Py_END_ALLOW_THREADS return status;
}

size_t plan_workspace(PyObject *plan) {
    return reduct_cuda_workspace_size(((struct plan_object *)plan)->plan);
}

/* queue(inputs, results, check, workspace, stream, times): workspace is an address, or 0 for the plan's own; more than once to measure
 * what it takes without Python. */
static PyObject *queue(PyObject *object, PyObject *arguments) {
    struct state *state = PyType_GetModuleState(Py_TYPE(object));
    PyObject *input_views, *result_views;
    int check;
    unsigned long long workspace, stream, times = 1;
    void *inputs[INPUTS_MAX] = {NULL}, *results[REDUCTIONS_MAX];
    if (!PyArg_ParseTuple(arguments, "O!O!pKK|K", &PyTuple_Type, &input_views, &PyTuple_Type, &result_views, &check,
                          &workspace, &stream, &times) ||
        addresses(state, input_views, inputs, INPUTS_MAX) < 0 ||
        addresses(state, result_views, results, REDUCTIONS_MAX) < 0)
        return NULL;
    reduct_error error = {0};
    reduct_status status;
    do
        status = plan_queue(object, (const void *const *)inputs, results, check != 0, (void *)(uintptr_t)workspace,
                            (void *)(uintptr_t)stream, &error);
    while (status == REDUCT_OK && times-- > 1);
    if (status != REDUCT_OK)
        return raise_status(state, status, &error);
    Py_RETURN_NONE;
}

static void deallocate(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    reduct_plan_destroy(((struct plan_object *)object)->plan);
    PyMem_Free(((struct plan_object *)object)->request);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DecRef((PyObject *)type);
}

static PyObject *get_device(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(reduct_plan_device(((struct plan_object *)self)->plan));
}

static PyObject *get_workspace(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromSize_t(plan_workspace(self));
}

static PyObject *get_may_stop(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(((struct plan_object *)self)->request != NULL);
}

static PyMethodDef methods[] = {
    {"segments", new_segments, METH_VARARGS | METH_CLASS,
     "segments(reductions, count, elements, index, length, with_ends, mask, mask_offset, device)"},
    {"groups", new_groups, METH_VARARGS | METH_CLASS,
     "groups(reductions, count, elements, index, width, skip, with_initial, mask, device)"},
    {"execute", execute, METH_VARARGS,
     "execute(inputs, results, check, times=1): without check what fails becomes NaN, or 0"},
    {"queue", queue, METH_VARARGS,
     "queue(inputs, results, check, workspace, stream, times=1): asynchronously, on a CUDA device; to check it waits"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"device", get_device, NULL, "what it runs on, such as 'cpu:avx512'", NULL},
    {"may_stop", get_may_stop, NULL,
     "whether execute() looks at signals meanwhile, and may stop with results half written", NULL},
    {"workspace", get_workspace, NULL, "bytes of device memory that queue() wants as its workspace", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Plan(reductions, lengths, strides, axes, result_strides, mask, mask_strides, device)"},
    {Py_tp_new, new_plan},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_dealloc, deallocate},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "pyreduct._core.Plan",
    .basicsize = sizeof(struct plan_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

PyObject *plan_type(PyObject *module) {
    return PyType_FromModuleAndSpec(module, &spec, NULL);
}
