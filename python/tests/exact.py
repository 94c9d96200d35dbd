"""What results must be, in fractions of Python: no code in common with the library."""
from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

PRECISION = {"float64": (53, -1074, 1023), "float32": (24, -149, 127), "float16": (11, -24, 15)}


def rounded(value, dtype):
    """A fraction in a NumPy float type, ties to even."""
    precision, least, greatest = PRECISION[np.dtype(dtype).name]
    if value == 0:
        return np.dtype(dtype).type(0)
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    step = max(exponent - precision + 1, least)
    number = round(size / Fraction(2) ** step) * Fraction(2) ** step  # Python rounds ties to even
    result = math.inf if number >= Fraction(2) ** (greatest + 1) else float(number)
    return np.dtype(dtype).type(result if value > 0 else -result)


def rounded_root(value, dtype):
    """The square root of a fraction, correctly rounded: an integer root with many more bits than are kept, which is never a tie of
    what it is rounded to unless it is exact."""
    if value == 0:
        return np.dtype(dtype).type(0)
    scale = 4 ** (300 + max(0, value.denominator.bit_length() - value.numerator.bit_length()))
    root = math.isqrt(value.numerator * scale // value.denominator)
    exact = Fraction(root) ** 2 == value * scale
    return rounded(Fraction(2 * root + (not exact), 2 * math.isqrt(scale)), dtype)


def fractions(values):
    return [Fraction(float(value)) for value in values]


def total(values):
    return sum(fractions(values), Fraction(0))


def mean(values):
    return total(values) / len(values)


def variance(values, ddof):
    middle = mean(values)
    return sum(((value - middle) ** 2 for value in fractions(values)), Fraction(0)) / (len(values) - ddof)


def same(a, b):
    """Equal bits, of floats, arrays of them and numbers; all NaNs are one."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, b.dtype, a.shape, b.shape)
    if a.dtype.kind == "f":
        assert np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a), np.signbit(b)), (a, b)
    else:
        assert np.array_equal(a, b), (a, b)
