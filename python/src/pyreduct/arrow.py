"""Reductions of columns with nulls: of PyArrow, Polars, pandas, and whatever else has Arrow's C data interface. Values and validity
bitmaps are read where they are. Nulls count as absent, except that indices count them. Results are numbers of Python.

    >>> import pyarrow as pa, pyreduct.arrow
    >>> pyreduct.arrow.mean(pa.array([1.0, None, 4.0]))
    2.5
"""
from __future__ import annotations

from typing import Any

from . import _core
from ._accumulator import Accumulator
from ._functions import _ALIASES

__all__ = ["accumulate", "reduce"]


def _chunks(x: Any) -> tuple[str, list[Any]]:
    if hasattr(x, "__arrow_c_array__"):
        chunk = _core.arrow_array(*x.__arrow_c_array__())
        return chunk[0].type, [chunk]
    if hasattr(x, "__arrow_c_stream__"):
        kind, chunks = _core.arrow_stream(x.__arrow_c_stream__())
        if kind is not None:
            return kind, chunks
        raise TypeError("x: a column of Arrow that is not of numbers or truth values")
    raise TypeError(f"x: found {type(x).__name__}; expected a column with Arrow's C data interface (__arrow_c_array__ or __arrow_c_stream__)")


def accumulate(state: Accumulator | None, x: Any, op: str = "sum", **options: Any) -> Accumulator:
    """Adds a column to an accumulator, or to a new one for its type; options are the accumulator's."""
    kind, chunks = _chunks(x)
    if state is None:
        state = Accumulator(op, kind, **options)
    for values, validity, first in chunks:
        if validity is None:
            state._state.add(values, None, None)
        else:
            state._state.add_valid(values, validity, first)
    return state


def reduce(x: Any, op: str, *, dtype: Any = None, nan: str = "propagate", mode: str = "exact", ddof: int = 0) -> Any:
    """One reduction of a column; op as Accumulator has it."""
    return accumulate(None, x, op, nan=nan, mode=mode, ddof=ddof).result(dtype)


def _named(op: str) -> Any:
    def function(x: Any, *, dtype: Any = None, nan: str = "propagate", mode: str = "exact", ddof: int = 0) -> Any:
        return reduce(x, op, dtype=dtype, nan=nan, mode=mode, ddof=ddof)

    function.__doc__ = f"reduce() with the operator {op!r}."
    return function


for _name in ("sum", "prod", "mean", "var", "std", "min", "max", "ptp", "rms", "sumsq", "norm", "argmin", "argmax", "count", "count_nonzero",
              "any", "all", "minmax"):  # fmt: skip
    _function = _named(_ALIASES.get(_name, _name))
    _function.__name__ = _function.__qualname__ = _name
    globals()[_name] = _function
    __all__.append(_name)
