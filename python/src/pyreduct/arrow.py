"""Reductions of columns with nulls: of PyArrow, Polars, pandas, and whatever else has Arrow's C data interface. Values and validity
bitmaps are read where they are. Nulls count as absent, except that indices count them. Results are numbers of Python.

    >>> import pyarrow as pa, pyreduct.arrow
    >>> pyreduct.arrow.mean(pa.array([1.0, None, 4.0]))
    2.5
"""
from __future__ import annotations

import builtins
from typing import Any

from . import _core
from ._accumulator import Accumulator
from ._functions import _ALIASES, _INPUTS
from ._groups import number_keys
from ._table import Table, host_kind, ids_of

__all__ = ["accumulate", "group_by", "reduce"]


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


def accumulate(state: Accumulator | None, x: Any, op: str | None = None, **options: Any) -> Accumulator:
    """Adds a column to an accumulator, or to a new one for its type, of sums or of the operator that is named; options are the accumulator's."""
    kind, chunks = _chunks(x)
    if state is not None and options:
        raise TypeError(f"{', '.join(options)}: for a new accumulator; expected none for one that there is")
    if state is None:
        state = Accumulator("sum" if op is None else op, kind, **options)
    elif op is not None and _ALIASES.get(op, op) != state.operator:
        raise ValueError(f"op: {op!r}; expected {state.operator!r}, which the accumulator has")
    if _INPUTS[state.operator] != 1:
        raise TypeError(f"op: {state.operator} reads pairs of elements; expected a reduction of one column")
    for values, validity, first in chunks:
        if validity is None:
            state._state.add(values, None, None)
        else:
            state._state.add_valid(values, validity, first)
    return state


def reduce(x: Any, op: str, *, dtype: Any = None, nan: str = "propagate", mode: str = "exact", ddof: int = 0) -> Any:
    """One reduction of a column; op as Accumulator has it."""
    return accumulate(None, x, op, nan=nan, mode=mode, ddof=ddof).result(dtype)


def _length(chunks: list[Any]) -> int:
    return builtins.sum(values.shape[0] for values, _, _ in chunks)


def group_by(
    keys: Any, x: Any, op: Any = "sum", *, sort: bool = False, dtype: Any = None, nan: str = "propagate", ddof: int = 0, check: bool = True
) -> tuple[Any, Any]:
    """Reduces a column by equal keys of another, integers of 32 or 64 bits: the keys, in order of first appearance or sorted, and the
    result of each, of several operators a tuple. Rows without a key belong to no group; a group without values has the result of
    nothing, which raises where there is none, and without check is NaN, of integers 0."""
    try:
        key_type, key_chunks = _chunks(keys)
    except TypeError as error:
        raise TypeError(f"keys: expected integers of 32 or 64 bits; {error}") from None
    kind, chunks = _chunks(x)
    rows = _length(key_chunks)
    if rows != _length(chunks):
        raise ValueError(f"keys, x: {rows} and {_length(chunks)} rows; expected as many")
    names, ids, groups = number_keys(host_kind(), key_type, key_chunks, rows, sort, None)
    table, done = Table(op, kind, groups, nan=nan, ddof=ddof), 0
    for values, validity, first in chunks:
        part = ids[done : done + values.shape[0]]
        done += len(part)
        table._state.change(values, None, ids_of(part, "ids"), validity, -1 if validity is None else first, True, False)
    return names, table.result(dtype, check=check)


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
