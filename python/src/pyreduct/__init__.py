"""Exact reductions of arrays: sums, means, norms, dot products that are correctly rounded, and so the same bits on every machine,
in any order, in one piece or merged from many.

    >>> import pyreduct
    >>> pyreduct.sum([1e100, 1.0, -1e100, 0.1, 0.2])
    1.3
"""
from ._core import VERSION as _VERSION
from ._core import (
    ArgumentError,
    CorruptError,
    DeviceLostError,
    EmptyError,
    Error,
    MismatchError,
    NanError,
    NoDeviceError,
    OutOfMemoryError,
    ResultOverflowError,
    TooLargeError,
    UnsupportedError,
    VersionError,
    all,
    any,
    argmax,
    argmin,
    count_nonzero,
    dot,
    group_sum,
    index_add,
    max,
    mean,
    min,
    norm,
    prod,
    ptp,
    rms,
    segment_sum,
    std,
    sum,
    sumsq,
    var,
)
from ._accumulator import Accumulator
from ._functions import FUNCTIONS as _FUNCTIONS
from ._functions import by_name as reduce
from ._functions import AxisError, average, count, group_reduce, minmax, segment_reduce, several, vecdot
from ._groups import Groups, group_by
from ._table import Table

__version__ = _VERSION

for _name in _FUNCTIONS:  # nansum, segment_sum and their kin, which are made from the others
    globals().setdefault(_name, _FUNCTIONS[_name])
del _name

__all__ = [_name for _name in globals() if not _name.startswith("_")]
