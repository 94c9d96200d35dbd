/* One number of any type, as a number of Python's or NumPy's. */
#include "core.h"

#include <math.h>
#include <string.h>

/* Of a binary format of 16 bits: its value. */
static double half(uint16_t bits, int precision) {
    int fraction_bits = precision - 1, exponent_bits = 15 - fraction_bits;
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    int fraction = bits & ((1 << fraction_bits) - 1);
    double value;
    if (exponent == (1 << exponent_bits) - 1)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, 1 - bias - fraction_bits);
    else
        value = ldexp(fraction | 1 << fraction_bits, exponent - bias - fraction_bits);
    return bits >> 15 ? -value : value;
}

/* Words of 64 bits, least significant first. */
static PyObject *wide(const void *bytes, int words, bool is_signed) {
    uint64_t word[4];
    memcpy(word, bytes, (size_t)words * sizeof *word);
    PyObject *number =
        is_signed ? PyLong_FromLongLong((int64_t)word[words - 1]) : PyLong_FromUnsignedLongLong(word[words - 1]);
    PyObject *shift = PyLong_FromLong(64);
    for (int which = words - 1; number && shift && which-- > 0;) {
        PyObject *low = PyLong_FromUnsignedLongLong(word[which]);
        PyObject *high = low ? PyNumber_Lshift(number, shift) : NULL;
        Py_DecRef(number);
        number = high ? PyNumber_Or(high, low) : NULL;
        Py_XDECREF(high);
        Py_XDECREF(low);
    }
    Py_XDECREF(shift);
    return number;
}

#define NUMBER(c_type, make)                                                                                           \
    {                                                                                                                  \
        c_type value;                                                                                                  \
        memcpy(&value, bytes, sizeof value);                                                                           \
        return make;                                                                                                   \
    }

PyObject *number_of(reduct_type type, const void *bytes) {
    switch (type) {
    case REDUCT_F64:
        NUMBER(double, PyFloat_FromDouble(value))
    case REDUCT_F32:
        NUMBER(float, PyFloat_FromDouble((double)value))
    case REDUCT_F16:
        NUMBER(uint16_t, PyFloat_FromDouble(half(value, 11)))
    case REDUCT_BF16:
        NUMBER(uint16_t, PyFloat_FromDouble(half(value, 8)))
    case REDUCT_I8:
        NUMBER(int8_t, PyLong_FromLong(value))
    case REDUCT_I16:
        NUMBER(int16_t, PyLong_FromLong(value))
    case REDUCT_I32:
        NUMBER(int32_t, PyLong_FromLong(value))
    case REDUCT_I64:
        NUMBER(int64_t, PyLong_FromLongLong(value))
    case REDUCT_U8:
        NUMBER(uint8_t, PyLong_FromLong(value))
    case REDUCT_U16:
        NUMBER(uint16_t, PyLong_FromLong(value))
    case REDUCT_U32:
        NUMBER(uint32_t, PyLong_FromUnsignedLong(value))
    case REDUCT_U64:
        NUMBER(uint64_t, PyLong_FromUnsignedLongLong(value))
    case REDUCT_BOOL:
        NUMBER(uint8_t, PyBool_FromLong(value))
    case REDUCT_I128:
        return wide(bytes, 2, true);
    case REDUCT_U128:
        return wide(bytes, 2, false);
    case REDUCT_I256:
        return wide(bytes, 4, true);
    case REDUCT_DEFAULT:
        break;
    }
    PyErr_SetString(PyExc_SystemError, "a number of no type");
    return NULL;
}

PyObject *numpy_number(struct state *state, reduct_type type, const void *bytes) {
    PyObject *number = number_of(type, bytes), *arguments = number ? PyTuple_New(1) : NULL;
    if (!arguments) {
        Py_XDECREF(number);
        return NULL;
    }
    PyTuple_SetItem(arguments, 0, number);
    /* To call the class does no more, but takes longer. */
    PyObject *scalar = state->make_scalar[type]((PyTypeObject *)state->scalars[type], arguments, NULL);
    Py_DecRef(arguments);
    return scalar;
}
