/* Calls made again: with the same options as an earlier one, and arrays of the same types, shapes and strides, on the same devices. What
 * was found out then (remember() in pyreduct/_functions.py) is kept by what such calls have in common: a plan, and how room for the
 * result is made. */
#include "core.h"
#include "dlpack.h"

#include <string.h>

enum { ARRAYS = 4, INPUTS = 4, KEPT = 4096, ROOMS = 32 };

/* Of the calls that were made last, some are found again without any object being made for that: those that a few words describe, options by
 * which object they are. Each has one place, which the next one with the same hash takes. */
enum { RECENT_BITS = 6, WORDS = 64 };

/* Larger workspaces are of the caller's allocator each time. */
enum { ROOM_LEAST = 1 << 20, ROOM_MOST = 1 << 26 };

/* What is kept of a call. */
struct kept {
    PyObject *plan;
    int input_count, inputs[INPUTS], out; /* places among the call's arguments; -1: the result is a new array */
    reduct_type number;                   /* of NumPy's number that the result is, or 0 */
    size_t workspace;
    bool check;                            /* what the data make of it is an error; on a GPU it is waited for */
    PyObject *make, *arguments, *keywords; /* what is called for a new array */
    PyObject *kind;                        /* that of x */
};

/* Device memory that calls in a stream take as their workspace one after another, from the allocator of the arrays' library. */
struct room {
    int device;
    void *stream;
    PyObject *keeper; /* keeps the stream from ending, so that no other one gets its address; or null */
    size_t size;
    void *address;
    PyObject *owner;
};

/* What of CuPy is called or looked at, in the order in which use_cupy() gets it; then its types of elements, by those of the library. */
enum { CUPY_CLASS, CUPY_STREAM, CUPY_GET_DEVICE, CUPY_GET_STREAM, CUPY_TYPES };

/* Attributes of its objects. */
#define CUPY_NAMES NAME(data) NAME(ptr) NAME(device_id) NAME(shape) NAME(strides) NAME(dtype) NAME(is_capturing)
enum {
#define NAME(name) NAME_##name,
    CUPY_NAMES
#undef NAME
        NAMES
};

struct recent {
    uint64_t count, word[WORDS]; /* of a description */
    PyObject *key;               /* in calls; holds the objects that are described */
    PyObject *kept;
};

struct again {
    const struct dlpack_exchange *exchange; /* of tensors */
    _Atomic(PyObject *) tensor;             /* their class, or null */
    PyObject *is_negated;                   /* the name of its method */
    _Atomic(PyObject *) cupy;               /* a tuple, or null */
    PyObject *names[NAMES];
    PyObject *calls;
    struct recent recent[1 << RECENT_BITS]; /* not where threads run at once */
    _Atomic(PyObject *) remember;
    struct room rooms[ROOMS];
    int room_count;
};

/* ---------------------------------------------------------------------------------------------------------------------
 * What the module has of it
 * ------------------------------------------------------------------------------------------------------------------ */

bool again_begin(struct state *state) {
    struct again *again = state->again = PyMem_Calloc(1, sizeof *again);
    if (again) {
        again->calls = PyDict_New();
        again->is_negated = PyUnicode_InternFromString("is_neg");
    }
    bool made = again && again->calls && again->is_negated;
#define NAME(name) made = made && (again->names[NAME_##name] = PyUnicode_InternFromString(#name));
    CUPY_NAMES
#undef NAME
    if (made)
        return true;
    if (!PyErr_Occurred())
        PyErr_NoMemory();
    return false;
}

int again_traverse(struct state *state, visitproc visit, void *arg) {
    struct again *again = state->again;
    if (!again)
        return 0;
    Py_VISIT(again->tensor);
    Py_VISIT(again->cupy);
    Py_VISIT(again->calls);
    for (int place = 0; place < 1 << RECENT_BITS; place++) {
        Py_VISIT(again->recent[place].key);
        Py_VISIT(again->recent[place].kept);
    }
    Py_VISIT(again->remember);
    for (int room = 0; room < again->room_count; room++) {
        Py_VISIT(again->rooms[room].owner);
        Py_VISIT(again->rooms[room].keeper);
    }
    return 0;
}

static void forget_recent(struct again *again) {
    for (int place = 0; place < 1 << RECENT_BITS; place++) {
        Py_CLEAR(again->recent[place].key);
        Py_CLEAR(again->recent[place].kept);
    }
}

void again_clear(struct state *state) {
    struct again *again = state->again;
    if (!again)
        return;
    forget_recent(again);
    Py_XDECREF(atomic_exchange(&again->tensor, NULL));
    Py_XDECREF(atomic_exchange(&again->cupy, NULL));
    Py_XDECREF(atomic_exchange(&again->remember, NULL));
    Py_CLEAR(again->calls);
    Py_CLEAR(again->is_negated);
    for (int name = 0; name < NAMES; name++)
        Py_CLEAR(again->names[name]);
    while (again->room_count > 0) {
        struct room *room = &again->rooms[--again->room_count];
        Py_CLEAR(room->owner);
        Py_CLEAR(room->keeper);
    }
}

void again_forget(struct state *state) {
    PyDict_Clear(state->again->calls);
    forget_recent(state->again);
}

/* use_tensors(class): what has DLPack's functions in C, if it has them in a version that is known. */
PyObject *use_tensors(PyObject *module, PyObject *class) {
    struct again *again = ((struct state *)PyModule_GetState(module))->again;
    PyObject *capsule = PyType_Check(class) ? PyObject_GetAttrString(class, "__dlpack_c_exchange_api__") : NULL;
    const struct dlpack_exchange *exchange = capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api")
                                                 ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api")
                                                 : NULL;
    PyErr_Clear();
    Py_XDECREF(capsule); /* what it points to stays */
    while (exchange && exchange->version.major != DLPACK_MAJOR_VERSION)
        exchange = exchange->previous;
    bool usable = exchange && exchange->view && exchange->stream;
    if (usable && !again->tensor) {
        again->exchange = exchange;
        (void)keep_first(&again->tensor, Py_NewRef(class));
    }
    return PyBool_FromLong(usable);
}

/* use_cupy(class, class of streams, function that returns the current device's number, function that returns its current stream, types):
 * what has no such functions, and is read by its attributes; types is a dict, by the names of the library's types. */
PyObject *use_cupy(PyObject *module, PyObject *arguments) {
    struct again *again = ((struct state *)PyModule_GetState(module))->again;
    PyObject *given[CUPY_TYPES], *types;
    if (!PyArg_ParseTuple(arguments, "O!O!OOO!", &PyType_Type, &given[CUPY_CLASS], &PyType_Type, &given[CUPY_STREAM],
                          &given[CUPY_GET_DEVICE], &given[CUPY_GET_STREAM], &PyDict_Type, &types))
        return NULL;
    PyObject *cupy = PyTuple_New(CUPY_TYPES + TYPES);
    for (Py_ssize_t place = 0; cupy && place < CUPY_TYPES; place++)
        PyTuple_SetItem(cupy, place, Py_NewRef(given[place]));
    for (int type = 0; cupy && type < TYPES; type++) {
        const char *name = reduct_type_name((reduct_type)type);
        PyObject *found = name ? PyDict_GetItemString(types, name) : NULL;
        PyTuple_SetItem(cupy, CUPY_TYPES + type, Py_NewRef(found ? found : Py_None));
    }
    if (!cupy)
        return NULL;
    (void)keep_first(&again->cupy, cupy);
    Py_RETURN_NONE;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Arguments
 * ------------------------------------------------------------------------------------------------------------------ */

struct call {
    struct state *state;
    const char *name; /* of the function */
    PyObject *const *arguments;
    Py_ssize_t count; /* of all, those with names last */
    PyObject *names;  /* or null */
    int arrays, places[ARRAYS];
    PyObject *objects[ARRAYS];
    struct view views[ARRAYS];
};

static void clear_view(struct view *view) {
    view->buffer.obj = view->owner = NULL;
    view->managed = view->copy = NULL;
}

/* A tensor may stand for the negated numbers of its memory. */
static bool is_negated(const struct again *again, PyObject *tensor) {
    PyObject *answer = PyObject_CallMethodObjArgs(tensor, again->is_negated, NULL);
    bool negated = answer != Py_False;
    Py_XDECREF(answer);
    return negated;
}

static bool is_cupy(const struct again *again, PyObject *object) {
    PyObject *cupy = again->cupy;
    return cupy && (PyObject *)Py_TYPE(object) == PyTuple_GetItem(cupy, CUPY_CLASS);
}

/* An attribute that is an integer. */
static bool read_number(PyObject *object, PyObject *name, int64_t *number) {
    PyObject *value = PyObject_GetAttr(object, name);
    bool is_read = value && PyLong_Check(value) && read_int64(value, number);
    Py_XDECREF(value);
    return is_read;
}

/* An attribute that is a tuple of integers: how many there are, or -1. */
static int read_numbers(PyObject *object, PyObject *name, int64_t *numbers) {
    PyObject *tuple = PyObject_GetAttr(object, name);
    Py_ssize_t count = tuple && PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
    if (count > REDUCT_RANK_MAX)
        count = -1;
    for (Py_ssize_t axis = 0; axis < count; axis++)
        if (!read_int64(PyTuple_GetItem(tuple, axis), &numbers[axis]))
            count = -1;
    Py_XDECREF(tuple);
    return (int)count;
}

static reduct_type type_of_cupy(const struct again *again, PyObject *object) {
    PyObject *dtype = PyObject_GetAttr(object, again->names[NAME_dtype]), *cupy = again->cupy;
    int type = dtype ? TYPES : REDUCT_DEFAULT;
    while (type > REDUCT_DEFAULT && PyTuple_GetItem(cupy, CUPY_TYPES + type - 1) != dtype)
        type--;
    Py_XDECREF(dtype); /* which the tuple has, too */
    return type > REDUCT_DEFAULT ? (reduct_type)(type - 1) : REDUCT_DEFAULT;
}

/* From the attributes of an array of CuPy; false, perhaps with an exception, where they are not as expected. */
static bool view_of_cupy(const struct again *again, PyObject *object, struct view *view) {
    PyObject *const *names = again->names, *data = PyObject_GetAttr(object, names[NAME_data]);
    int64_t address = 0, device = -1;
    bool is_read =
        data && read_number(data, names[NAME_ptr], &address) && read_number(data, names[NAME_device_id], &device);
    Py_XDECREF(data); /* the array has it */
    if (!is_read || device < 0 || device > INT16_MAX)
        return false;
    view->type = type_of_cupy(again, object);
    view->rank = read_numbers(object, names[NAME_shape], view->lengths);
    if (!view->type || view->rank < 0 || read_numbers(object, names[NAME_strides], view->strides) != view->rank)
        return false;
    const int64_t size = (int64_t)reduct_type_size(view->type);
    for (int axis = 0; axis < view->rank; axis++) {
        if (view->lengths[axis] > 1 && view->strides[axis] % size != 0)
            return false;
        view->strides[axis] = view->lengths[axis] > 1 ? view->strides[axis] / size : 0;
    }
    view->readonly = false;
    view->device = (int)device;
    view->data = (char *)(uintptr_t)address;
    view_settle(view);
    return view_count(view) == 0 || (view->data && (uintptr_t)view->data % (uintptr_t)size == 0);
}

enum kind { NO_ARRAY, ARRAY, UNKNOWN };

static bool read_tensor(const struct again *again, PyObject *object, struct view *view) {
    struct dlpack_tensor tensor;
    return again->exchange->view(object, &tensor) == 0 && view_of_tensor(&tensor, "x", view);
}

/* Without an exception; what other arrays there are, and those that cannot be read, are for the general functions. */
static enum kind read_array(struct state *state, PyObject *object, struct view *view) {
    const struct again *again = state->again;
    clear_view(view);
    bool is_read;
    if ((PyObject *)Py_TYPE(object) == state->ndarray) {
        is_read = view_of_buffer(object, false, "x", view);
    } else if ((PyObject *)Py_TYPE(object) == again->tensor) {
        is_read = read_tensor(again, object, view) && !is_negated(again, object);
    } else if (is_cupy(again, object)) {
        is_read = view_of_cupy(again, object, view);
    } else {
        return NO_ARRAY;
    }
    if (is_read)
        return ARRAY;
    PyErr_Clear();
    return UNKNOWN;
}

/* Whether it is compared by value, and of no float type: 1.0 is no axis, but equal to 1. */
static bool is_option(PyObject *object) {
    if (object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object) || PyUnicode_CheckExact(object) ||
        PyType_Check(object))
        return true;
    if (!PyTuple_CheckExact(object))
        return false;
    for (Py_ssize_t index = 0; index < PyTuple_Size(object); index++)
        if (!PyLong_CheckExact(PyTuple_GetItem(object, index)))
            return false;
    return true;
}

/* The number of the array at a place among the arguments, or -1. */
static int array_at(const struct call *call, int place) {
    for (int array = 0; array < call->arrays; array++)
        if (call->places[array] == place)
            return array;
    return -1;
}

/* Looks at the arguments; false, without an exception, if the call is for the general function. */
static bool read_arguments(struct call *call) {
    for (int place = 0; place < call->count; place++) {
        PyObject *argument = call->arguments[place];
        enum kind kind = UNKNOWN;
        if (call->arrays < ARRAYS)
            kind = read_array(call->state, argument, &call->views[call->arrays]);
        if (kind == UNKNOWN)
            return false;
        if (kind == ARRAY) {
            call->places[call->arrays] = place;
            call->objects[call->arrays++] = argument;
        }
    }
    return call->arrays > 0;
}

static int64_t *describe(int64_t *to, int place, const struct view *view) {
    *to++ = place;
    *to++ = (int64_t)view->type | (int64_t)view->rank << 8 | (int64_t)view->device << 16;
    memcpy(to, view->lengths, (size_t)view->rank * sizeof *to);
    memcpy(to + view->rank, view->strides, (size_t)view->rank * sizeof *to);
    return to + 2 * view->rank;
}

enum { ARRAY_WORDS = 2 + 2 * REDUCT_RANK_MAX };

/* What this call has in common with those that are alike: options, classes of arrays, of whose kind results are, too, bytes that describe these and the
 * function, and the names of keywords. Null without an exception if it is for the general function. */
static PyObject *key_of(const struct call *call) {
    int64_t described[1 + ARRAYS * ARRAY_WORDS], *end = described;
    PyObject *key = PyTuple_New(call->count + 2);
    *end++ = (int64_t)(intptr_t)call->name;
    for (int place = 0; key && place < call->count; place++) {
        PyObject *option = call->arguments[place];
        const int array = array_at(call, place);
        if (array >= 0) {
            end = describe(end, place, &call->views[array]);
            option = (PyObject *)Py_TYPE(option);
        } else if (!is_option(option)) {
            Py_DecRef(key);
            return NULL;
        }
        PyTuple_SetItem(key, place, Py_NewRef(option));
    }
    PyObject *bytes =
        key ? PyBytes_FromStringAndSize((const char *)described, (end - described) * (Py_ssize_t)sizeof *end) : NULL;
    if (!bytes) {
        PyErr_Clear();
        Py_XDECREF(key);
        return NULL;
    }
    PyTuple_SetItem(key, call->count, bytes);
    PyTuple_SetItem(key, call->count + 1, Py_NewRef(call->names ? call->names : Py_None));
    return key;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What is kept
 * ------------------------------------------------------------------------------------------------------------------ */

static const char kept_name[] = "pyreduct.kept";

static void free_kept(PyObject *capsule) {
    struct kept *kept = PyCapsule_GetPointer(capsule, kept_name);
    Py_XDECREF(kept->plan);
    Py_XDECREF(kept->make);
    Py_XDECREF(kept->arguments);
    Py_XDECREF(kept->keywords);
    Py_XDECREF(kept->kind);
    PyMem_Free(kept);
}

/* From remember()'s (plan, places of inputs, place of out, type of a number or None, (function, arguments, keywords), kind, check). None if an
 * input is no array here, such as a tuple of numbers. */
static PyObject *keep(const struct call *call, PyObject *tuple) {
    struct state *state = call->state;
    PyObject *places, *number;
    struct kept made = {0};
    int check;
    if (!PyArg_ParseTuple(tuple, "O!O!iO(OO!O!)Op", state->plan, &made.plan, &PyTuple_Type, &places, &made.out, &number,
                          &made.make, &PyTuple_Type, &made.arguments, &PyDict_Type, &made.keywords, &made.kind,
                          &check) ||
        (number != Py_None && !parse_type(number, &made.number)))
        return NULL;
    made.input_count = (int)PyTuple_Size(places);
    bool usable = made.input_count > 0 && made.input_count <= INPUTS && (made.out < 0 || array_at(call, made.out) >= 0);
    for (int which = 0; usable && which < made.input_count; which++) {
        made.inputs[which] = (int)PyLong_AsLong(PyTuple_GetItem(places, which));
        usable = array_at(call, made.inputs[which]) >= 0;
    }
    if (!usable)
        return Py_NewRef(Py_None);
    made.workspace = plan_workspace(made.plan);
    made.check = check != 0;
    struct kept *kept = PyMem_Malloc(sizeof *kept);
    if (!kept)
        return NULL;
    *kept = made;
    PyObject *capsule = PyCapsule_New(kept, kept_name, free_kept);
    if (!capsule) {
        PyMem_Free(kept);
        return NULL;
    }
    Py_INCREF(kept->plan);
    Py_INCREF(kept->make);
    Py_INCREF(kept->arguments);
    Py_INCREF(kept->keywords);
    Py_INCREF(kept->kind);
    return capsule;
}

/* Asks Python about a call of this kind: what is kept of it, or None, which is for the general function. */
static PyObject *ask(const struct call *call) {
    struct again *again = call->state->again;
    PyObject *remember = again->remember;
    if (!remember) {
        PyObject *module = PyImport_ImportModule("pyreduct._functions");
        remember = keep_first(&again->remember, module ? PyObject_GetAttrString(module, "remember") : NULL);
        Py_XDECREF(module);
    }
    PyObject *all = PyTuple_New(call->count), *answer = NULL, *kept = NULL;
    for (Py_ssize_t index = 0; all && index < call->count; index++)
        PyTuple_SetItem(all, index, Py_NewRef(call->arguments[index]));
    if (all && remember)
        answer = PyObject_CallFunction(remember, "sOO", call->name, all, call->names ? call->names : Py_None);
    if (answer)
        kept = answer == Py_None ? Py_NewRef(Py_None) : keep(call, answer);
    Py_XDECREF(answer);
    Py_XDECREF(all);
    PyErr_Clear(); /* the general function says what is wrong */
    return kept;
}

/* A new reference. */
static PyObject *find(PyObject *calls, PyObject *key) {
#ifdef Py_GIL_DISABLED
    PyObject *found;
    (void)PyDict_GetItemRef(calls, key, &found);
    return found;
#else
    return Py_XNewRef(PyDict_GetItemWithError(calls, key));
#endif
}

static PyObject *kept_by_key(const struct call *call, PyObject *key) {
    PyObject *calls = call->state->again->calls, *kept = find(calls, key);
    if (kept)
        return kept;
    PyErr_Clear();
    kept = ask(call);
    if (kept) {
        if (PyDict_Size(calls) >= KEPT)
            PyDict_Clear(calls);
        if (PyDict_SetItem(calls, key, kept) != 0)
            PyErr_Clear();
    }
    return kept;
}

#ifdef Py_GIL_DISABLED
static PyObject *kept_of(const struct call *call) {
    PyObject *key = key_of(call), *kept = key ? kept_by_key(call, key) : NULL;
    Py_XDECREF(key);
    return kept;
}
#else
/* The same for this very call: which objects options and names are, instead of what they are. Returns how many words it takes, or 0 for
 * more than there is room for. */
static uint64_t describe_call(const struct call *call, int64_t word[WORDS]) {
    const Py_ssize_t named = call->names ? PyTuple_Size(call->names) : 0;
    uint64_t most = 2 + 2 * (uint64_t)call->count + (uint64_t)named;
    for (int array = 0; array < call->arrays; array++)
        most += 1 + 2 * (uint64_t)call->views[array].rank;
    if (most > WORDS)
        return 0;
    int64_t *end = word;
    *end++ = (int64_t)(intptr_t)call->name;
    *end++ = call->count << 8 | named;
    for (int place = 0; place < call->count; place++) {
        PyObject *option = call->arguments[place];
        const int array = array_at(call, place);
        if (array >= 0) {
            end = describe(end, place, &call->views[array]);
            option = (PyObject *)Py_TYPE(option);
        }
        *end++ = (int64_t)(intptr_t)option;
    }
    for (Py_ssize_t name = 0; name < named; name++)
        *end++ = (int64_t)(intptr_t)PyTuple_GetItem(call->names, name);
    return (uint64_t)(end - word);
}

/* Multiplied by the golden ratio of 2^64, a word's highest bits depend on all of it: D. E. Knuth, "The Art of Computer Programming", vol. 3,
 * 6.4. */
static size_t place_of(const int64_t *word, uint64_t count) {
    uint64_t hash = 0;
    for (uint64_t at = 0; at < count; at++)
        hash = (hash << 7 | hash >> 57) ^ (uint64_t)word[at];
    return (size_t)(hash * 0x9e3779b97f4a7c15u >> (64 - RECENT_BITS));
}

static PyObject *kept_of(const struct call *call) {
    int64_t word[WORDS];
    const uint64_t count = describe_call(call, word);
    struct recent *recent = count ? &call->state->again->recent[place_of(word, count)] : NULL;
    if (recent && recent->kept && recent->count == count && memcmp(recent->word, word, count * sizeof *word) == 0)
        return Py_NewRef(recent->kept);
    PyObject *key = key_of(call), *kept = key ? kept_by_key(call, key) : NULL;
    if (kept && recent) {
        PyObject *key_before = recent->key, *kept_before = recent->kept;
        recent->count = count;
        memcpy(recent->word, word, count * sizeof *word);
        recent->key = Py_NewRef(key);
        recent->kept = Py_NewRef(kept);
        Py_XDECREF(key_before);
        Py_XDECREF(kept_before);
    }
    Py_XDECREF(key);
    return kept;
}
#endif

/* ---------------------------------------------------------------------------------------------------------------------
 * Queueing
 * ------------------------------------------------------------------------------------------------------------------ */

/* The current stream of a device, as the library of an array has it. */
struct stream {
    void *handle;
    PyObject *object; /* CuPy's, or null */
};

/* False, perhaps with an exception, if it is none that memory is kept for: of another device, of a thread, or one of which nobody knows when it
 * ends. */
static bool current_stream(const struct again *again, PyObject *like, int device, struct stream *stream) {
    enum { PER_THREAD = 2 }; /* of CUDA's handles that stand for a stream */
    *stream = (struct stream){0};
    if (!is_cupy(again, like))
        return again->exchange->stream(DLPACK_CUDA, device, &stream->handle) == 0;
    PyObject *cupy = again->cupy, *number = PyObject_CallNoArgs(PyTuple_GetItem(cupy, CUPY_GET_DEVICE));
    int64_t current = -1, handle = 0;
    bool found = number && read_int64(number, &current) && current == device;
    Py_XDECREF(number);
    if (!found)
        return false;
    stream->object = PyObject_CallNoArgs(PyTuple_GetItem(cupy, CUPY_GET_STREAM));
    found = stream->object && (PyObject *)Py_TYPE(stream->object) == PyTuple_GetItem(cupy, CUPY_STREAM) &&
            read_number(stream->object, again->names[NAME_ptr], &handle) && handle != PER_THREAD;
    stream->handle = (void *)(intptr_t)handle;
    if (!found)
        Py_CLEAR(stream->object);
    return found;
}

static struct room *find_room(struct again *again, int device, const struct stream *stream) {
    for (int at = 0; at < again->room_count; at++) {
        struct room *room = &again->rooms[at];
        if (room->device == device && room->stream == stream->handle && room->keeper == stream->object)
            return room;
    }
    return NULL;
}

/* Memory of the allocator of the arrays' library, in the order of the current stream: a pair, of what owns it and its address. */
static PyObject *make_scratch(const struct kept *kept, size_t size, PyObject *like, PyObject **owner, void **address) {
    PyObject *pair = PyObject_CallMethod(kept->kind, "scratch", "nO", (Py_ssize_t)size, like);
    unsigned long long number;
    if (pair && !PyArg_ParseTuple(pair, "OK", owner, &number))
        Py_CLEAR(pair);
    if (pair)
        *address = (void *)(uintptr_t)number;
    return pair;
}

/* New memory for this stream, which is the current one. What was there before is given back when it no longer is found; it was
 * used in this stream alone, in whose order its allocator gives it to others. */
static bool make_room(struct state *state, const struct kept *kept, PyObject *like, int device,
                      const struct stream *stream) {
    struct again *again = state->again;
    size_t size = kept->workspace < ROOM_LEAST ? ROOM_LEAST : kept->workspace;
    PyObject *owner;
    void *address;
    PyObject *pair = make_scratch(kept, size, like, &owner, &address);
    bool made = pair != NULL;
    if (made) {
        lock_wait(state->lock);
        struct room *room = find_room(again, device, stream);
        PyObject *before = room ? room->owner : NULL;
        if (!room && again->room_count < ROOMS) {
            room = &again->rooms[again->room_count++];
            *room = (struct room){.device = device, .stream = stream->handle, .keeper = Py_XNewRef(stream->object)};
        }
        if (room) {
            room->size = size;
            room->address = address;
            room->owner = Py_NewRef(owner);
        }
        PyThread_release_lock(state->lock);
        Py_XDECREF(before);
        made = room != NULL;
    }
    Py_XDECREF(pair);
    return made;
}

/* Memory that a graph uses must stay as it is until the graph is gone: it is the allocator's. */
static bool is_captured(const struct again *again, const struct kept *kept, PyObject *like,
                        const struct stream *stream) {
    PyObject *answer = stream->object
                           ? PyObject_CallMethodObjArgs(stream->object, again->names[NAME_is_capturing], NULL)
                           : PyObject_CallMethod(kept->kind, "capturing", "O", like);
    bool captured = answer != Py_False;
    Py_XDECREF(answer);
    return captured;
}

/* In that stream, with a workspace that is given back at once. */
static bool queue_with_scratch(const struct kept *kept, PyObject *like, const struct stream *stream,
                               const void *const *inputs, void *const *results, reduct_status *status,
                               reduct_error *error) {
    PyObject *owner;
    void *address;
    PyObject *pair = make_scratch(kept, kept->workspace, like, &owner, &address);
    if (pair)
        *status = plan_queue(kept->plan, inputs, results, false, address, stream->handle, error);
    Py_XDECREF(pair);
    return pair != NULL;
}

/* In that stream, with a workspace that is kept for it, unless that is large, or a graph's. */
static bool queue_with_room(struct state *state, const struct kept *kept, PyObject *like, int device,
                            const struct stream *stream, const void *const *inputs, void *const *results,
                            reduct_status *status, reduct_error *error) {
    struct again *again = state->again;
    if (kept->workspace > ROOM_MOST || (stream->handle && is_captured(again, kept, like, stream)))
        return !PyErr_Occurred() && queue_with_scratch(kept, like, stream, inputs, results, status, error);
    for (int tries = 0; tries < 2; tries++) {
        lock_wait(state->lock);
        const struct room *room = find_room(again, device, stream);
        bool fits = room && room->size >= kept->workspace;
        if (fits)
            *status = plan_queue(kept->plan, inputs, results, false, room->address, stream->handle, error);
        PyThread_release_lock(state->lock);
        if (fits)
            return true;
        if (!make_room(state, kept, like, device, stream))
            return false;
    }
    return false;
}

/* False, perhaps with an exception, if it is for the general function. What waits takes a workspace of the library's: others would wait for
 * one that is kept here as long. */
static bool queue(struct state *state, const struct kept *kept, PyObject *like, int device, const void *const *inputs,
                  void *const *results, reduct_status *status, reduct_error *error) {
    struct stream stream;
    bool queued = current_stream(state->again, like, device, &stream);
    if (queued && kept->workspace && !kept->check)
        queued = queue_with_room(state, kept, like, device, &stream, inputs, results, status, error);
    else if (queued)
        *status = plan_queue(kept->plan, inputs, results, kept->check, NULL, stream.handle, error);
    Py_XDECREF(stream.object);
    return queued;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The call
 * ------------------------------------------------------------------------------------------------------------------ */

/* Whether the result can be written there while inputs are read. */
static bool read_out(struct call *call, const struct kept *kept, int array) {
    PyObject *object = call->objects[array];
    if ((PyObject *)Py_TYPE(object) == call->state->ndarray) {
        if (call->views[array].buffer.readonly || call->views[array].copy)
            return false;
    } else if ((PyObject *)Py_TYPE(object) == call->state->again->tensor) {
        PyObject *requires = PyObject_GetAttrString(object, "requires_grad");
        bool does = requires != Py_False;
        Py_XDECREF(requires);
        if (does)
            return false;
    }
    for (int which = 0; which < kept->input_count; which++)
        if (view_overlaps(&call->views[array], &call->views[array_at(call, kept->inputs[which])]))
            return false;
    return true;
}

/* Where the elements of a new array are to be written, which must be on that device. */
static bool target_in(struct state *state, PyObject *array, int device, void **target) {
    if ((PyObject *)Py_TYPE(array) == state->ndarray) { /* of which no more is asked, as describing it takes a while */
        Py_buffer buffer;
        if (device >= 0 || PyObject_GetBuffer(array, &buffer, PyBUF_WRITABLE) != 0)
            return false;
        *target = buffer.buf;
        PyBuffer_Release(&buffer); /* the array stays */
        return true;
    }
    struct view view;
    clear_view(&view);
    if ((PyObject *)Py_TYPE(array) == state->again->tensor ? !read_tensor(state->again, array, &view)
                                                           : read_array(state, array, &view) != ARRAY)
        return false;
    *target = view.data;
    bool is_there = view.device == device; /* CuPy makes it on the current one */
    view_release(&view);
    return is_there;
}

static PyObject *run(struct call *call, const struct kept *kept) {
    struct state *state = call->state;
    const void *inputs[INPUTS];
    const struct view *first = &call->views[array_at(call, kept->inputs[0])];
    for (int which = 0; which < kept->input_count; which++)
        inputs[which] = call->views[array_at(call, kept->inputs[which])].data;
    uint64_t number[4];
    void *target = number;
    PyObject *result = NULL;
    if (kept->out >= 0) {
        int array = array_at(call, kept->out);
        if (!read_out(call, kept, array))
            return NULL;
        target = call->views[array].data;
        result = Py_NewRef(call->objects[array]);
    } else if (!kept->number) {
        result = PyObject_Call(kept->make, kept->arguments, kept->keywords);
        if (!result || !target_in(state, result, first->device, &target)) {
            PyErr_Clear();
            Py_XDECREF(result);
            return NULL;
        }
    }
    reduct_error error = {0};
    reduct_status status = REDUCT_OK;
    bool done = true;
    if (first->device < 0)
        status = plan_execute(kept->plan, inputs, &target, kept->check, &error);
    else
        done = queue(state, kept, call->objects[array_at(call, kept->inputs[0])], first->device, inputs, &target,
                     &status, &error);
    if (!done || status != REDUCT_OK) {
        PyErr_Clear();
        Py_XDECREF(result);
        return done ? raise_status(state, status, &error) : NULL;
    }
    return kept->number ? numpy_number(state, kept->number, number) : result;
}

PyObject *call_again(struct state *state, const char *name, PyObject *const *arguments, Py_ssize_t count,
                     PyObject *names) {
    struct call call; /* its views are written when they are read */
    call.state = state;
    call.name = name;
    call.arguments = arguments;
    call.count = count + (names ? PyTuple_Size(names) : 0);
    call.names = names;
    call.arrays = 0;
    PyObject *kept = read_arguments(&call) ? kept_of(&call) : NULL, *result = NULL;
    if (kept && kept != Py_None)
        result = run(&call, PyCapsule_GetPointer(kept, kept_name));
    Py_XDECREF(kept);
    for (int array = 0; array < call.arrays; array++)
        view_release(&call.views[array]);
    return result;
}
