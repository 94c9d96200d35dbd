/* Arrays through DLPack. */
#include "core.h"
#include "dlpack.h"

#include <string.h>

static reduct_type type_of(const struct dlpack_tensor *tensor) {
    static const reduct_type table[][4] = {
        [DLPACK_INT] = {REDUCT_I8, REDUCT_I16, REDUCT_I32, REDUCT_I64},
        [DLPACK_UINT] = {REDUCT_U8, REDUCT_U16, REDUCT_U32, REDUCT_U64},
        [DLPACK_FLOAT] = {REDUCT_DEFAULT, REDUCT_F16, REDUCT_F32, REDUCT_F64},
        [DLPACK_BFLOAT] = {REDUCT_DEFAULT, REDUCT_BF16},
        [DLPACK_BOOL] = {REDUCT_BOOL},
    };
    unsigned size = 0; /* the binary logarithm of the bytes */
    while (size < 4 && 8u << size != tensor->type.bits)
        size++;
    if (size == 4 || tensor->type.lanes != 1 || tensor->type.code >= sizeof table / sizeof *table)
        return REDUCT_DEFAULT;
    return table[tensor->type.code][size];
}

static bool read_device(const struct dlpack_tensor *tensor, const char *name, struct view *view) {
    switch (tensor->device.type) {
    case DLPACK_CPU:
    case DLPACK_CUDA_HOST:
        view->device = -1;
        return true;
    case DLPACK_CUDA:
    case DLPACK_CUDA_MANAGED:
        view->device = tensor->device.number;
        return true;
    default:
        PyErr_Format(PyExc_TypeError, "%s: memory of DLPack's device type %d; expected a CPU's or a CUDA device's",
                     name, (int)tensor->device.type);
        return false;
    }
}

/* What is wrong with the type, in the names that it has elsewhere. */
static void refuse_type(const struct dlpack_tensor *tensor, const char *name) {
    static const char *const names[] = {"int",
                                        "uint",
                                        "float",
                                        "opaque",
                                        "bfloat",
                                        "complex",
                                        "bool",
                                        "float8_e3m4",
                                        "float8_e4m3",
                                        "float8_e4m3b11fnuz",
                                        "float8_e4m3fn",
                                        "float8_e4m3fnuz",
                                        "float8_e5m2",
                                        "float8_e5m2fnuz",
                                        "float8_e8m0fnu",
                                        "float6_e2m3fn",
                                        "float6_e3m2fn",
                                        "float4_e2m1fn"};
    char type[48], lanes[24] = "";
    const unsigned code = tensor->type.code;
    if (code >= sizeof names / sizeof *names)
        PyOS_snprintf(type, sizeof type, "DLPack's type code %u with %u bits", code, (unsigned)tensor->type.bits);
    else if (strpbrk(names[code], "864"))
        PyOS_snprintf(type, sizeof type, "%s", names[code]); /* which says the bits */
    else
        PyOS_snprintf(type, sizeof type, "%s%u", names[code], (unsigned)tensor->type.bits);
    if (tensor->type.lanes != 1)
        PyOS_snprintf(lanes, sizeof lanes, " in %u lanes", (unsigned)tensor->type.lanes);
    PyErr_Format(PyExc_TypeError,
                 "%s: elements of %s%s; expected real floats of 16 to 64 bits, bfloat16, integers or bool", name, type,
                 lanes);
}

bool view_of_tensor(const struct dlpack_tensor *tensor, const char *name, struct view *view) {
    view->type = type_of(tensor);
    if (!view->type) {
        refuse_type(tensor, name);
        return false;
    }
    if (!read_device(tensor, name, view))
        return false;
    if (tensor->rank < 0 || tensor->rank > REDUCT_RANK_MAX) {
        PyErr_Format(PyExc_ValueError, "%s: %d axes; expected at most %d", name, (int)tensor->rank, REDUCT_RANK_MAX);
        return false;
    }
    view->rank = tensor->rank;
    view->data = (char *)tensor->data + (tensor->data ? tensor->offset : 0);
    int64_t stride = 1;
    for (int axis = view->rank; axis-- > 0;) {
        if (tensor->lengths[axis] < 0) {
            PyErr_Format(PyExc_ValueError, "%s: an axis of %lld elements", name, (long long)tensor->lengths[axis]);
            return false;
        }
        view->lengths[axis] = tensor->lengths[axis];
        view->strides[axis] = tensor->lengths[axis] <= 1 ? 0 : tensor->strides ? tensor->strides[axis] : stride;
        stride *= tensor->lengths[axis] > 1 ? tensor->lengths[axis] : 1;
    }
    view_settle(view);
    size_t size = reduct_type_size(view->type);
    if (view_count(view) == 0 || (view->data && (uintptr_t)view->data % size == 0))
        return true;
    PyErr_Format(PyExc_ValueError, "%s: elements at address %p, which is not aligned to their %zu bytes", name,
                 view->data, size);
    return false;
}

bool view_of_capsule(PyObject *capsule, const char *name, struct view *view) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        struct dlpack_versioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (managed->version.major != DLPACK_MAJOR_VERSION) {
            PyErr_Format(PyExc_BufferError, "%s: DLPack version %u.%u; expected %d", name, managed->version.major,
                         managed->version.minor, DLPACK_MAJOR_VERSION);
            return false; /* the capsule's destructor releases it */
        }
        if (!view_of_tensor(&managed->tensor, name, view) || PyCapsule_SetName(capsule, "used_dltensor_versioned") != 0)
            return false;
        view->readonly = managed->flags & (DLPACK_READ_ONLY | DLPACK_IS_COPIED); /* what a copy is told nobody hears */
        view->versioned = true;
        view->managed = managed;
        return true;
    }
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        struct dlpack_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
        if (!view_of_tensor(&managed->tensor, name, view) || PyCapsule_SetName(capsule, "used_dltensor") != 0)
            return false;
        view->readonly = true; /* for all that is known */
        view->managed = managed;
        return true;
    }
    PyErr_Format(PyExc_TypeError, "%s: __dlpack__() returned no capsule of an unused DLPack tensor", name);
    return false;
}

void view_release_managed(struct view *view) {
    if (!view->managed)
        return;
    if (view->versioned) {
        struct dlpack_versioned *managed = view->managed;
        if (managed->release)
            managed->release(managed);
    } else {
        struct dlpack_managed *managed = view->managed;
        if (managed->release)
            managed->release(managed);
    }
    view->managed = NULL;
}
