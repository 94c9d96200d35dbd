/* Arrays of any kind as pointers, lengths and strides. */
#include "core.h"

#include <math.h>
#include <string.h>

/* Of a format of the struct module, that of one number of this many bytes, in the machine's order: its type. */
static reduct_type type_of_format(const char *format, Py_ssize_t size) {
    static const reduct_type sign[] = {REDUCT_I8, REDUCT_I16, REDUCT_I32, REDUCT_I64};
    static const reduct_type plain[] = {REDUCT_U8, REDUCT_U16, REDUCT_U32, REDUCT_U64};
    if (!format)
        format = "B";
    if (*format == '@' || *format == '=' || *format == '<' || *format == '^')
        format++;
    if (!*format || format[1])
        return REDUCT_DEFAULT;
    if (*format == 'd' && size == 8) /* the most frequent one first */
        return REDUCT_F64;
    if (*format == 'f' && size == 4)
        return REDUCT_F32;
    if (*format == 'e' && size == 2)
        return REDUCT_F16;
    if (*format == '?' && size == 1)
        return REDUCT_BOOL;
    unsigned log = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : 4;
    if (log < 4 && strchr("bhilqn", *format))
        return sign[log];
    return log < 4 && strchr("BHILQN", *format) ? plain[log] : REDUCT_DEFAULT;
}

static void refuse_format(const char *format, const char *name) {
    bool swapped = format && (*format == '>' || *format == '!');
    PyErr_Format(PyExc_TypeError,
                 "%s: elements of format '%s'%s; expected real floats of 16 to 64 bits, integers or bool, %s", name,
                 format ? format : "", swapped ? ", which are byte-swapped" : "", "in the machine's byte order");
}

/* Arrays without elements may be at any address, or none; the library wants one that is aligned, or on a device none. */
void view_settle(struct view *view) {
    static uint64_t nothing[4];
    if (view_count(view) == 0)
        view->data = view->device < 0 ? (char *)nothing : NULL;
}

/* Whether elements lie at multiples of their size, and whole strides apart. */
static bool is_aligned(const Py_buffer *buffer, const struct view *view) {
    bool aligned = (uintptr_t)buffer->buf % (uintptr_t)buffer->itemsize == 0;
    for (int axis = 0; axis < view->rank; axis++)
        aligned =
            aligned && (view->lengths[axis] <= 1 || !buffer->strides || buffer->strides[axis] % buffer->itemsize == 0);
    return aligned || view_count(view) == 0;
}

/* What lies askew is copied, as the library reads no such thing. */
static bool take_copy(struct view *view, const char *name) {
    if (!view->readonly) {
        PyErr_Format(PyExc_TypeError, "%s: elements that are not aligned cannot be written", name);
        return false;
    }
    view->copy = PyMem_Malloc((size_t)view->buffer.len);
    if (!view->copy) {
        PyErr_NoMemory();
        return false;
    }
    if (PyBuffer_ToContiguous(view->copy, &view->buffer, view->buffer.len, 'C') != 0)
        return false;
    view->data = view->copy;
    int64_t stride = 1;
    for (int axis = view->rank; axis-- > 0; stride *= view->lengths[axis])
        view->strides[axis] = stride;
    return true;
}

static bool read_buffer(const char *name, struct view *view) {
    const Py_buffer *buffer = &view->buffer;
    view->type = type_of_format(buffer->format, buffer->itemsize);
    if (!view->type) {
        refuse_format(buffer->format, name);
        return false;
    }
    if (buffer->ndim > REDUCT_RANK_MAX) {
        PyErr_Format(PyExc_ValueError, "%s: %d axes; expected at most %d", name, buffer->ndim, REDUCT_RANK_MAX);
        return false;
    }
    view->device = -1;
    view->rank = buffer->ndim;
    view->data = buffer->buf;
    int64_t stride = 1;
    for (int axis = view->rank; axis-- > 0; stride *= view->lengths[axis]) {
        view->lengths[axis] = buffer->shape[axis];
        /* ctypes gives no strides, though they were asked for. */
        int64_t given = buffer->strides ? buffer->strides[axis] / buffer->itemsize : stride;
        view->strides[axis] = buffer->shape[axis] > 1 ? given : 0;
    }
    view_settle(view);
    return is_aligned(buffer, view) || take_copy(view, name);
}

bool view_of_buffer(PyObject *object, bool writable, const char *name, struct view *view) {
    if (PyObject_GetBuffer(object, &view->buffer, writable ? PyBUF_RECORDS : PyBUF_RECORDS_RO) != 0) {
        if (writable && (PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_ValueError))) {
            PyErr_Clear(); /* which says no name */
            PyErr_Format(PyExc_ValueError, "%s: read-only; expected an array that can be written", name);
        }
        return false;
    }
    view->readonly = !writable;
    if (read_buffer(name, view))
        return true;
    view_release(view);
    return false;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * Lists and tuples of numbers. Items are asked for one by one, as what they run may change the list.
 * ------------------------------------------------------------------------------------------------------------------ */

static PyObject *item(PyObject *sequence, Py_ssize_t index) {
#ifdef Py_GIL_DISABLED
    if (PyList_Check(sequence))
        return PyList_GetItemRef(sequence, index);
#endif
    return PySequence_GetItem(sequence, index);
}

/* What stands for an integer, as NumPy's do, as Python's own. Other things that say so, as arrays of one float, are none. Takes the
 * reference over. */
static PyObject *as_integer(PyObject *number) {
    PyObject *integer = PyIndex_Check(number) ? PyNumber_Index(number) : NULL;
    if (!integer && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError))) {
        PyErr_Clear();
        return number;
    }
    Py_DecRef(number);
    return integer;
}

/* Of Python's own numbers; REDUCT_DEFAULT of others. */
static inline reduct_type type_of_own(PyObject *number) {
    return PyFloat_CheckExact(number) ? REDUCT_F64
           : PyBool_Check(number)     ? REDUCT_BOOL
           : PyLong_Check(number)     ? REDUCT_I64
                                      : REDUCT_DEFAULT;
}

/* The next item, and its type. */
static inline PyObject *number_at(PyObject *sequence, Py_ssize_t index, reduct_type *type) {
    PyObject *number = item(sequence, index);
    *type = number ? type_of_own(number) : REDUCT_F64;
    if (*type)
        return number;
    number = as_integer(number);
    *type = number && PyLong_Check(number) ? REDUCT_I64 : REDUCT_F64;
    return number;
}

bool read_int64(PyObject *object, int64_t *value) {
    long long number = PyLong_AsLongLong(object);
    if (number == -1 && PyErr_Occurred())
        return false;
    *value = number;
    return true;
}

/* An integer among floats, which must be one. */
static bool write_exactly(PyObject *number, const char *name, double *to) {
    *to = PyLong_AsDouble(number);
    if (*to == -1 && PyErr_Occurred())
        PyErr_Clear(); /* it is beyond them */
    else if (fabs(*to) < 0x1p53)
        return true;
    PyObject *same = isinf(*to) ? NULL : PyLong_FromDouble(*to);
    const int equal = same ? PyObject_RichCompareBool(same, number, Py_EQ) : 0;
    Py_XDECREF(same);
    if (equal == 0)
        PyErr_Format(PyExc_OverflowError,
                     "%s: the integer %R among floats, of which none is equal to it; expected floats alone", name,
                     number);
    return equal > 0;
}

static bool write_number(PyObject *number, reduct_type type, const char *name, struct view *view, Py_ssize_t index) {
    if (view->type == REDUCT_BOOL) {
        view->data[index] = number == Py_True;
        return true;
    }
    if (view->type == REDUCT_I64) {
        if (read_int64(number, (int64_t *)(void *)view->data + index))
            return true;
        if (PyErr_ExceptionMatches(PyExc_OverflowError))
            PyErr_Format(PyExc_OverflowError,
                         "%s: an integer beyond 64 bits; expected ones from -2^63 to 2^63 - 1, or floats", name);
        return false;
    }
    double *to = (double *)(void *)view->data + index;
    if (type == REDUCT_I64)
        return write_exactly(number, name, to);
    double value = *to = PyFloat_AsDouble(number);
    return value != -1 || !PyErr_Occurred();
}

/* Signals are handled after so many numbers, which take about a millisecond. */
enum { LOOKING = 1 << 16 };

/* Writes the numbers up to the first one that is of a wider type, which the view then has: 1 if there is one, -1 if there was an
 * error. */
static int write_numbers(PyObject *sequence, const char *name, Py_ssize_t count, struct view *view) {
    for (Py_ssize_t index = 0; index < count; index++) {
        if (index % LOOKING == LOOKING - 1 && PyErr_CheckSignals() != 0)
            return -1;
        reduct_type type;
        PyObject *number = number_at(sequence, index, &type);
        if (!number)
            return -1;
        bool wider = view->type == REDUCT_BOOL ? type != REDUCT_BOOL : view->type == REDUCT_I64 && type == REDUCT_F64;
        bool written = !wider && write_number(number, type, name, view, index);
        Py_DecRef(number);
        if (wider) {
            view->type = type;
            return 1;
        }
        if (!written)
            return -1;
    }
    return 0;
}

bool view_of_numbers(PyObject *sequence, const char *name, struct view *view) {
    Py_ssize_t count = PySequence_Size(sequence);
    if (count < 0)
        return false;
    view->copy = PyMem_Malloc(count ? (size_t)count * sizeof(double) : 1);
    if (!view->copy) {
        PyErr_NoMemory();
        return false;
    }
    view->data = view->copy;
    view->device = -1;
    view->readonly = true;
    view->rank = 1;
    view->lengths[0] = count;
    view->strides[0] = 1;
    view->type = REDUCT_F64;
    PyObject *first = count ? number_at(sequence, 0, &view->type) : NULL;
    Py_XDECREF(first);
    int outcome = PyErr_Occurred() ? -1 : 1;
    while (outcome == 1)
        outcome = write_numbers(sequence, name, count, view);
    if (outcome == 0)
        return true;
    view_release(view);
    return false;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * What all of them have
 * ------------------------------------------------------------------------------------------------------------------ */

void view_release(struct view *view) {
    if (view->buffer.obj)
        PyBuffer_Release(&view->buffer);
    view_release_managed(view);
    Py_CLEAR(view->owner);
    PyMem_Free(view->copy);
    view->copy = NULL;
}

int64_t view_count(const struct view *view) {
    int64_t count = 1;
    for (int axis = 0; axis < view->rank; axis++)
        count *= view->lengths[axis];
    return count;
}

bool view_is_contiguous(const struct view *view) {
    int64_t stride = 1;
    for (int axis = view->rank; axis-- > 0; stride *= view->lengths[axis])
        if (view->lengths[axis] > 1 && view->strides[axis] != stride)
            return view_count(view) == 0;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------------
 * The class View
 * ------------------------------------------------------------------------------------------------------------------ */

static void walk_on(struct walk *walk, int64_t size) {
    const struct view *view = walk->view;
    for (int axis = view->rank; axis-- > 0;) {
        walk->at += view->strides[axis] * size;
        if (++walk->index[axis] < view->lengths[axis])
            break;
        walk->at -= view->strides[axis] * size * view->lengths[axis];
        walk->index[axis] = 0;
    }
}

void view_gather(struct walk *walk, char *to, int64_t count) {
    int64_t size = (int64_t)reduct_type_size(walk->view->type);
    for (; count-- > 0; to += size) {
        memcpy(to, walk->at, (size_t)size);
        walk_on(walk, size);
    }
}

struct view_object {
    PyObject_HEAD struct view view;
};

struct view *view_in(struct state *state, PyObject *object, const char *name) {
    if (object && PyObject_TypeCheck(object, state->view))
        return &((struct view_object *)object)->view;
    PyErr_Format(PyExc_TypeError, "%s: expected a View", name);
    return NULL;
}

bool view_or_none(struct state *state, PyObject *object, const char *name, const struct view **view) {
    *view = NULL;
    return object == Py_None || (*view = view_in(state, object, name));
}

bool view_same_lengths(const struct view *x, const struct view *other) {
    bool same = !other || other->rank == x->rank;
    for (int axis = 0; same && other && axis < x->rank; axis++)
        same = x->lengths[axis] == other->lengths[axis];
    return same;
}

static struct view_object *new_view(PyTypeObject *type) {
    struct view_object *self = (struct view_object *)PyType_GenericAlloc(type, 0);
    return self;
}

PyObject *view_new(struct state *state, struct view **view) {
    struct view_object *self = new_view(state->view);
    if (self)
        *view = &self->view;
    return (PyObject *)self;
}

static PyObject *finished(struct view_object *self, bool filled) {
    if (filled)
        return (PyObject *)self;
    Py_DecRef((PyObject *)self);
    return NULL;
}

static PyObject *make_buffer(PyObject *type, PyObject *arguments) {
    PyObject *object;
    int writable = 0;
    const char *name = "x";
    if (!PyArg_ParseTuple(arguments, "O|ps", &object, &writable, &name))
        return NULL;
    struct view_object *self = new_view((PyTypeObject *)type);
    return self ? finished(self, view_of_buffer(object, writable, name, &self->view)) : NULL;
}

static PyObject *make_numbers(PyObject *type, PyObject *arguments) {
    PyObject *sequence;
    const char *name;
    if (!PyArg_ParseTuple(arguments, "Os", &sequence, &name))
        return NULL;
    struct view_object *self = new_view((PyTypeObject *)type);
    return self ? finished(self, view_of_numbers(sequence, name, &self->view)) : NULL;
}

static PyObject *make_capsule(PyObject *type, PyObject *arguments) {
    PyObject *capsule;
    const char *name;
    if (!PyArg_ParseTuple(arguments, "Os", &capsule, &name))
        return NULL;
    struct view_object *self = new_view((PyTypeObject *)type);
    return self ? finished(self, view_of_capsule(capsule, name, &self->view)) : NULL;
}

/* Reads a tuple of integers; returns how many there are, or -1 with an exception. */
static int read_numbers(PyObject *tuple, int64_t numbers[REDUCT_RANK_MAX]) {
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count > REDUCT_RANK_MAX) {
        PyErr_Format(PyExc_ValueError, "%zd axes; expected at most %d", count, REDUCT_RANK_MAX);
        return -1;
    }
    for (Py_ssize_t axis = 0; axis < count; axis++)
        if (!read_int64(PyTuple_GetItem(tuple, axis), &numbers[axis]))
            return -1;
    return (int)count;
}

static bool read_strides(PyObject *strides, struct view *view) {
    if (strides == Py_None) {
        int64_t stride = 1;
        for (int axis = view->rank; axis-- > 0; stride *= view->lengths[axis])
            view->strides[axis] = stride;
        return true;
    }
    int count = read_numbers(strides, view->strides);
    if (count >= 0 && count != view->rank)
        PyErr_Format(PyExc_ValueError, "%d strides for %d axes", count, view->rank);
    return count == view->rank;
}

/* pointer(address, type, lengths, strides, readonly, device, owner): the caller vouches for the memory. */
static PyObject *make_pointer(PyObject *type, PyObject *arguments) {
    unsigned long long address;
    PyObject *name, *lengths, *strides, *owner;
    int readonly, device;
    if (!PyArg_ParseTuple(arguments, "KOO!OpiO", &address, &name, &PyTuple_Type, &lengths, &strides, &readonly, &device,
                          &owner))
        return NULL;
    struct view_object *self = new_view((PyTypeObject *)type);
    if (!self)
        return NULL;
    struct view *view = &self->view;
    view->data = (char *)(uintptr_t)address;
    view->readonly = readonly;
    view->device = device;
    view->owner = Py_NewRef(owner);
    view->rank = read_numbers(lengths, view->lengths);
    bool filled = parse_type(name, &view->type) && view->rank >= 0 && read_strides(strides, view);
    if (!filled)
        return finished(self, false);
    size_t size = reduct_type_size(view->type), alignment = size < sizeof(uint64_t) ? size : sizeof(uint64_t);
    view_settle(view);
    filled = (uintptr_t)view->data % alignment == 0;
    if (!filled)
        PyErr_Format(PyExc_ValueError, "x: elements at address %p, which is not aligned to their %zu bytes", view->data,
                     size);
    return finished(self, filled);
}

/* repeat(view, lengths, strides): the same memory with other axes, for broadcasting. */
static PyObject *make_repeat(PyObject *type, PyObject *arguments) {
    PyObject *other, *lengths, *strides;
    if (!PyArg_ParseTuple(arguments, "O!O!O", type, &other, &PyTuple_Type, &lengths, &strides))
        return NULL;
    struct view_object *self = new_view((PyTypeObject *)type);
    if (!self)
        return NULL;
    const struct view *source = &((struct view_object *)other)->view;
    struct view *view = &self->view;
    view->type = source->type;
    view->data = source->data;
    view->readonly = true;
    view->device = source->device;
    view->owner = Py_NewRef(other);
    view->rank = read_numbers(lengths, view->lengths);
    return finished(self, view->rank >= 0 && read_strides(strides, view));
}

static void deallocate(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    view_release(&((struct view_object *)object)->view);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DecRef((PyObject *)type);
}

static PyObject *tuple_of(const int64_t *numbers, int count) {
    PyObject *tuple = PyTuple_New(count);
    for (int axis = 0; tuple && axis < count; axis++) {
        PyObject *number = PyLong_FromLongLong(numbers[axis]);
        if (!number || PyTuple_SetItem(tuple, axis, number) != 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

bool view_fits(const struct view *x, const struct view *other, const char *name) {
    if (view_same_lengths(x, other))
        return true;
    PyObject *found = tuple_of(other->lengths, other->rank), *expected = tuple_of(x->lengths, x->rank);
    if (found && expected)
        PyErr_Format(PyExc_ValueError, "%s: shape %R; expected %R, as x has", name, found, expected);
    Py_XDECREF(found);
    Py_XDECREF(expected);
    return false;
}

#define VIEW(object) (&((struct view_object *)(object))->view)

static PyObject *get_type(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(reduct_type_name(VIEW(self)->type));
}

static PyObject *get_shape(PyObject *self, void *unused) {
    (void)unused;
    return tuple_of(VIEW(self)->lengths, VIEW(self)->rank);
}

static PyObject *get_strides(PyObject *self, void *unused) {
    (void)unused;
    return tuple_of(VIEW(self)->strides, VIEW(self)->rank);
}

static PyObject *get_device(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(VIEW(self)->device);
}

static PyObject *get_readonly(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(VIEW(self)->readonly);
}

static PyObject *get_contiguous(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(view_is_contiguous(VIEW(self)));
}

/* The lowest and the highest address of any element's first byte; of no elements both are 0. */
static void extent(const struct view *view, int64_t range[2]) {
    int64_t size = (int64_t)reduct_type_size(view->type);
    range[0] = range[1] = view_count(view) ? (int64_t)(uintptr_t)view->data : 0;
    for (int axis = 0; range[0] && axis < view->rank; axis++) {
        int64_t reach = (view->lengths[axis] - 1) * view->strides[axis] * size;
        range[reach > 0] += reach;
    }
}

bool view_overlaps(const struct view *x, const struct view *other) {
    int64_t ours[2], theirs[2];
    extent(x, ours);
    extent(other, theirs);
    int64_t size = (int64_t)reduct_type_size(x->type), other_size = (int64_t)reduct_type_size(other->type);
    return ours[0] < theirs[1] + other_size && theirs[0] < ours[1] + size && ours[0] && theirs[0];
}

static PyObject *overlaps(PyObject *self, PyObject *other) {
    if (Py_TYPE(self) == Py_TYPE(other))
        return PyBool_FromLong(view_overlaps(VIEW(self), VIEW(other)));
    PyErr_SetString(PyExc_TypeError, "expected a View");
    return NULL;
}

/* fill(bytes): writes all elements. */
static PyObject *fill(PyObject *self, PyObject *object) {
    const struct view *view = VIEW(self);
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(object, &bytes, &size) != 0)
        return NULL;
    if (view->readonly || view->device >= 0 || !view_is_contiguous(view) ||
        (size_t)size != (size_t)view_count(view) * reduct_type_size(view->type)) {
        PyErr_SetString(PyExc_ValueError, "expected as many bytes as an array that may be written has in host memory");
        return NULL;
    }
    memcpy(view->data, bytes, (size_t)size);
    Py_RETURN_NONE;
}

/* assign(view): writes the elements of a contiguous view of the same type and shape, both in host memory. */
static PyObject *assign(PyObject *self, PyObject *other) {
    if (Py_TYPE(self) != Py_TYPE(other)) {
        PyErr_SetString(PyExc_TypeError, "expected a View");
        return NULL;
    }
    const struct view *to = VIEW(self), *from = VIEW(other);
    if (to->readonly || to->device >= 0 || from->device >= 0 || to->type != from->type || !view_is_contiguous(from) ||
        !view_same_lengths(to, from)) {
        PyErr_SetString(PyExc_ValueError, "expected views of one type and shape in host memory");
        return NULL;
    }
    size_t size = reduct_type_size(to->type);
    struct walk walk = {.view = to, .at = to->data};
    for (int64_t index = 0; index < view_count(from); index++) {
        memcpy(to->data + (walk.at - to->data), from->data + (size_t)index * size, size);
        walk_on(&walk, (int64_t)size);
    }
    Py_RETURN_NONE;
}

static bool fits_in(reduct_type type, bool is_signed, uint64_t bits) {
    const unsigned width = 8 * (unsigned)reduct_type_size(type);
    const bool is_negative = is_signed && bits >> 63;
    switch (type) {
    case REDUCT_I8:
    case REDUCT_I16:
    case REDUCT_I32:
        return (is_negative ? ~bits : bits) >> (width - 1) == 0;
    case REDUCT_U8:
    case REDUCT_U16:
    case REDUCT_U32:
        return !is_negative && bits >> width == 0;
    default:
        return false;
    }
}

static void write_narrow(reduct_type type, uint64_t bits, char *to) {
    const uint8_t one = (uint8_t)bits;
    const uint16_t two = (uint16_t)bits;
    const uint32_t four = (uint32_t)bits;
    const size_t size = reduct_type_size(type);
    memcpy(to, size == 1 ? (const void *)&one : size == 2 ? (const void *)&two : (const void *)&four, size);
}

/* narrow(view, name, check): writes the integers of a contiguous view of i64 or u64 of the same shape, both in host memory, as ones of this
 * contiguous view's type of less bits. What does not fit raises what names the result and writes nothing; without check it is 0. */
static PyObject *narrow(PyObject *self, PyObject *arguments) {
    struct state *state = PyType_GetModuleState(Py_TYPE(self));
    PyObject *other;
    const char *name;
    int check;
    if (!PyArg_ParseTuple(arguments, "O!sp", Py_TYPE(self), &other, &name, &check))
        return NULL;
    const struct view *to = VIEW(self), *from = VIEW(other);
    if (to->readonly || to->device >= 0 || from->device >= 0 || !view_is_contiguous(to) || !view_is_contiguous(from) ||
        (from->type != REDUCT_I64 && from->type != REDUCT_U64) || reduct_type_size(to->type) >= sizeof(uint64_t) ||
        !view_same_lengths(to, from)) {
        PyErr_SetString(PyExc_ValueError, "expected contiguous views of integers and one shape in host memory");
        return NULL;
    }
    const uint64_t *bits = (const uint64_t *)(const void *)from->data;
    const bool is_signed = from->type == REDUCT_I64;
    const int64_t count = view_count(from);
    for (int64_t index = 0; check && index < count; index++)
        if (!fits_in(to->type, is_signed, bits[index])) {
            reduct_error error = {.status = REDUCT_ERROR_OVERFLOW, .index = from->rank ? (uint64_t)index : UINT64_MAX};
            char which[32] = "the result";
            if (from->rank)
                PyOS_snprintf(which, sizeof which, "result %lld", (long long)index);
            PyOS_snprintf(error.message, sizeof error.message, "%s: %s does not fit %s; a wider result type holds it",
                          name, which, reduct_type_name(to->type));
            return raise_status(state, REDUCT_ERROR_OVERFLOW, &error);
        }
    for (int64_t index = 0; index < count; index++)
        write_narrow(to->type, fits_in(to->type, is_signed, bits[index]) ? bits[index] : 0,
                     to->data + (size_t)index * reduct_type_size(to->type));
    Py_RETURN_NONE;
}

/* packed(): a copy in C order without gaps, of a view in host memory. */
static PyObject *packed(PyObject *object, PyObject *unused) {
    (void)unused;
    const struct view *from = VIEW(object);
    if (from->device >= 0) {
        PyErr_SetString(PyExc_ValueError, "expected a view in host memory");
        return NULL;
    }
    struct view_object *self = new_view(Py_TYPE(object));
    if (!self)
        return NULL;
    struct view *to = &self->view;
    int64_t count = view_count(from), stride = 1;
    to->type = from->type;
    to->device = -1;
    to->readonly = true;
    to->rank = from->rank;
    for (int axis = to->rank; axis-- > 0; stride *= to->lengths[axis]) {
        to->lengths[axis] = from->lengths[axis];
        to->strides[axis] = stride;
    }
    to->data = to->copy = PyMem_Malloc(count ? (size_t)count * reduct_type_size(from->type) : 1);
    if (!to->copy) {
        Py_DecRef((PyObject *)self);
        return PyErr_NoMemory();
    }
    view_settle(to);
    struct walk walk = {.view = from, .at = from->data};
    view_gather(&walk, to->data, count);
    return (PyObject *)self;
}

static PyMethodDef methods[] = {
    {"buffer", make_buffer, METH_VARARGS | METH_CLASS,
     "buffer(object, writable=False, name='x'): through the buffer protocol"},
    {"numbers", make_numbers, METH_VARARGS | METH_CLASS,
     "numbers(sequence, name): a copy of a list or tuple of numbers"},
    {"capsule", make_capsule, METH_VARARGS | METH_CLASS, "capsule(capsule, name): what __dlpack__() returned"},
    {"pointer", make_pointer, METH_VARARGS | METH_CLASS,
     "pointer(address, type, shape, strides, readonly, device, owner)"},
    {"repeat", make_repeat, METH_VARARGS | METH_CLASS, "repeat(view, shape, strides): the same memory with other axes"},
    {"overlaps", overlaps, METH_O, "overlaps(view): whether both may have memory in common"},
    {"assign", assign, METH_O, "assign(view): writes the elements of a contiguous view of this type and shape"},
    {"narrow", narrow, METH_VARARGS, "narrow(view, name, check): writes 64-bit integers as ones that they must fit"},
    {"packed", packed, METH_NOARGS, "packed(): a copy of host memory in C order without gaps"},
    {"fill", fill, METH_O, "fill(bytes): writes all elements"},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"type", get_type, NULL, "name of the elements' type, such as 'f64'", NULL},
    {"shape", get_shape, NULL, "length of each axis", NULL},
    {"strides", get_strides, NULL, "elements from one to the next, by axis", NULL},
    {"device", get_device, NULL, "-1 for host memory, otherwise the number of a CUDA device", NULL},
    {"readonly", get_readonly, NULL, "whether it may not be written", NULL},
    {"contiguous", get_contiguous, NULL, "whether elements lie in C order without gaps", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "An array of somebody else's memory."},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_dealloc, deallocate},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "pyreduct._core.View",
    .basicsize = sizeof(struct view_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

PyObject *view_type(PyObject *module) {
    return PyType_FromModuleAndSpec(module, &spec, NULL);
}
