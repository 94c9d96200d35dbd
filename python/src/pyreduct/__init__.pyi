"""Exact reductions of arrays."""

from typing import Any, Literal, Protocol, SupportsIndex

from ._accumulator import Accumulator as Accumulator
from ._core import ArgumentError as ArgumentError
from ._core import CorruptError as CorruptError
from ._core import DeviceLostError as DeviceLostError
from ._core import EmptyError as EmptyError
from ._core import Error as Error
from ._core import MismatchError as MismatchError
from ._core import NanError as NanError
from ._core import NoDeviceError as NoDeviceError
from ._core import OutOfMemoryError as OutOfMemoryError
from ._core import ResultOverflowError as ResultOverflowError
from ._core import TooLargeError as TooLargeError
from ._core import UnsupportedError as UnsupportedError
from ._core import VersionError as VersionError
from ._functions import AxisError as AxisError
from ._groups import Groups as Groups
from ._groups import group_by as group_by
from ._table import Table as Table

__version__: str

# Results are arrays of the kind of the first argument, or its numbers: what no type says in general.
_Axis = SupportsIndex | tuple[SupportsIndex, ...] | None
_Nan = Literal["propagate", "ignore", "error"]
_Mode = Literal["exact", "fast"]

class _Numeric(Protocol):
    def __call__(
        self, x: Any, axis: _Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None,
        nan: _Nan = "propagate", mode: _Mode = "exact", check: bool = True,
    ) -> Any: ...  # fmt: skip

class _Spread(Protocol):
    def __call__(
        self, x: Any, axis: _Axis = None, dtype: Any = None, out: Any = None, ddof: Literal[0, 1] = 0, keepdims: bool = False, *,
        correction: Literal[0, 1] | None = None, where: Any = None, nan: _Nan = "propagate", mode: _Mode = "exact", check: bool = True,
    ) -> Any: ...  # fmt: skip

class _Extreme(Protocol):
    def __call__(
        self, x: Any, axis: _Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = None, nan: _Nan = "propagate",
        mode: _Mode = "exact", check: bool = True,
    ) -> Any: ...  # fmt: skip

class _Index(Protocol):
    def __call__(
        self, x: Any, axis: _Axis = None, out: Any = None, *, keepdims: bool = False, where: Any = None, nan: _Nan = "propagate", check: bool = True
    ) -> Any: ...

class _Truth(Protocol):
    def __call__(
        self, x: Any, axis: _Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = None, nan: _Nan = "propagate", check: bool = True
    ) -> Any: ...

class _NumericWithoutNan(Protocol):
    def __call__(
        self, x: Any, axis: _Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None,
        mode: _Mode = "exact", check: bool = True,
    ) -> Any: ...  # fmt: skip

class _SpreadWithoutNan(Protocol):
    def __call__(
        self, x: Any, axis: _Axis = None, dtype: Any = None, out: Any = None, ddof: Literal[0, 1] = 0, keepdims: bool = False, *,
        correction: Literal[0, 1] | None = None, where: Any = None, mode: _Mode = "exact", check: bool = True,
    ) -> Any: ...  # fmt: skip

class _ExtremeWithoutNan(Protocol):
    def __call__(
        self, x: Any, axis: _Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = None, check: bool = True
    ) -> Any: ...

class _IndexWithoutNan(Protocol):
    def __call__(
        self, x: Any, axis: _Axis = None, out: Any = None, *, keepdims: bool = False, where: Any = None, check: bool = True
    ) -> Any: ...

class _Segment(Protocol):
    def __call__(
        self, x: Any, offsets: Any = None, *, begins: Any = None, ends: Any = None, length: int | None = None, dtype: Any = None,
        where: Any = None, nan: _Nan = "propagate", mode: _Mode = "exact", ddof: Literal[0, 1] = 0, check: bool = True,
    ) -> Any: ...  # fmt: skip

class _Group(Protocol):
    def __call__(
        self, x: Any, ids: Any, n: SupportsIndex, *, initial: Any = None, skip: bool = False, dtype: Any = None, where: Any = None,
        nan: _Nan = "propagate", ddof: Literal[0, 1] = 0, check: bool = True,
    ) -> Any: ...  # fmt: skip

sum: _Numeric
prod: _Numeric
mean: _Numeric
rms: _Numeric
sumsq: _Numeric
var: _Spread
std: _Spread
min: _Extreme
max: _Extreme
argmin: _Index
argmax: _Index
any: _Truth
all: _Truth
nansum: _NumericWithoutNan
nanprod: _NumericWithoutNan
nanmean: _NumericWithoutNan
nanvar: _SpreadWithoutNan
nanstd: _SpreadWithoutNan
nanmin: _ExtremeWithoutNan
nanmax: _ExtremeWithoutNan
nanargmin: _IndexWithoutNan
nanargmax: _IndexWithoutNan
segment_sum: _Segment
segment_prod: _Segment
segment_mean: _Segment
segment_var: _Segment
segment_std: _Segment
segment_rms: _Segment
segment_norm: _Segment
segment_min: _Segment
segment_max: _Segment
segment_ptp: _Segment
segment_argmin: _Segment
segment_argmax: _Segment
segment_any: _Segment
segment_all: _Segment
segment_count_nonzero: _Segment
group_sum: _Group
group_prod: _Group
group_mean: _Group
group_var: _Group
group_std: _Group
group_rms: _Group
group_norm: _Group
group_min: _Group
group_max: _Group
group_ptp: _Group
group_argmin: _Group
group_argmax: _Group
group_any: _Group
group_all: _Group
group_count_nonzero: _Group

def group_reduce(
    x: Any, op: str, ids: Any, n: SupportsIndex, *, initial: Any = None, skip: bool = False, dtype: Any = None, where: Any = None,
    nan: _Nan = "propagate", ddof: Literal[0, 1] = 0, check: bool = True,
) -> Any: ...  # fmt: skip
def index_add(x: Any, ids: Any, values: Any, *, check: bool = True) -> Any: ...
def ptp(
    x: Any, axis: _Axis = None, out: Any = None, keepdims: bool = False, *, dtype: Any = None, where: Any = None, nan: _Nan = "propagate",
    mode: _Mode = "exact", check: bool = True,
) -> Any: ...  # fmt: skip
def count_nonzero(
    x: Any, axis: _Axis = None, *, keepdims: bool = False, out: Any = None, where: Any = None, nan: _Nan = "propagate", check: bool = True
) -> Any: ...
def norm(
    x: Any, ord: float | None = 2, axis: _Axis = None, keepdims: bool = False, *, dtype: Any = None, out: Any = None, where: Any = None,
    nan: _Nan = "propagate", mode: _Mode = "exact", check: bool = True,
) -> Any: ...  # fmt: skip
def dot(
    x: Any, y: Any, *, dtype: Any = None, out: Any = None, where: Any = None, nan: _Nan = "propagate", mode: _Mode = "exact", check: bool = True
) -> Any: ...
def vecdot(
    x: Any, y: Any, *, axis: _Axis = -1, keepdims: bool = False, dtype: Any = None, out: Any = None, where: Any = None,
    nan: _Nan = "propagate", mode: _Mode = "exact", check: bool = True,
) -> Any: ...  # fmt: skip
def average(
    x: Any, axis: _Axis = None, weights: Any = None, *, keepdims: bool = False, dtype: Any = None, out: Any = None, where: Any = None,
    nan: _Nan = "propagate", check: bool = True,
) -> Any: ...  # fmt: skip
def count(x: Any, axis: _Axis = None, *, keepdims: bool = False, out: Any = None, where: Any = None, check: bool = True) -> Any: ...
def minmax(
    x: Any, axis: _Axis = None, *, keepdims: bool = False, where: Any = None, nan: _Nan = "propagate", check: bool = True
) -> tuple[Any, Any]: ...
def several(  # a string goes through as several, and is none
    x: Any, ops: list[str] | tuple[str, ...], axis: _Axis = None, *, keepdims: bool = False, where: Any = None, nan: _Nan = "propagate",
    mode: _Mode = "exact", ddof: Literal[0, 1] = 0, check: bool = True,
) -> tuple[Any, ...]: ...  # fmt: skip
def reduce(
    x: Any, op: str, axis: _Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None,
    nan: _Nan = "propagate", mode: _Mode = "exact", ddof: Literal[0, 1] = 0, check: bool = True,
) -> Any: ...  # fmt: skip
def segment_reduce(
    x: Any, op: str, offsets: Any = None, *, begins: Any = None, ends: Any = None, length: int | None = None, dtype: Any = None,
    where: Any = None, nan: _Nan = "propagate", mode: _Mode = "exact", ddof: Literal[0, 1] = 0, check: bool = True,
) -> Any: ...  # fmt: skip
