"""Accumulators of many groups."""
from __future__ import annotations

from typing import Any

from . import _core
from ._accumulator import check_second, elements_of, repeated
from ._functions import _ALIASES, _flags_of, _mask_of, _stored, result_type
from ._kinds import index_of, kind_named, kind_of, numbers_as, type_of
from ._types import type_name


def host_kind() -> Any:
    """What results are that belong to no array: NumPy's arrays where it is installed, otherwise lists."""
    try:
        return kind_named("numpy")
    except ImportError:
        return kind_named("numbers")


def ids_of(ids: Any, name: str) -> Any:
    """A view of numbers of groups."""
    if isinstance(ids, (list, tuple)):
        return numbers_as(ids, "i64", name)
    return kind_of(ids).view(ids, name)


class Table:
    """Accumulators of groups that are numbered from 0, for one or several operators: data are added, or taken out, with the number of
    each element's group. Results have the bits of a single pass over each group's elements.

    >>> table = Table(["sum", "max"], "f64", 2)
    >>> table.add([1e100, 0.5, -1e100, 1.0], [0, 1, 0, 0])
    Table(('sum', 'max'), 'f64', 2)
    >>> [result.tolist() for result in table.result()]
    [[1.0, 0.5], [1e+100, 0.5]]

    It can be pickled; bytes(table) and Table.from_bytes() serve other ways to carry it. With several operators the
    result is a tuple, in their order. With device="cuda:0" it takes arrays that are there, or on the host; groups and results are
    in the host's memory, and tables of any devices are merged.
    """

    __slots__ = ("_state", "_device")

    def __init__(self, operator: Any, dtype: Any = "f64", groups: int = 0, *, nan: str = "propagate", mode: str = "exact",
                 ddof: int = 0, device: str = "cpu") -> None:  # fmt: skip
        element, flags, count = type_name(dtype), _flags_of(ddof), index_of(groups, "groups")
        if not 0 <= count < 2**63:
            raise ValueError(f"groups: {groups}; expected how many groups there are")
        names = [_ALIASES.get(op, op) for op in ((operator,) if isinstance(operator, str) else operator)]
        if "minmax" in names:
            raise ValueError("operator: 'minmax'; expected 'min' and 'max', which share what they need")
        self._state = _core.Table(
            tuple((op, element, result_type(op, element, None, mode, nan, flags, False), mode, nan, flags) for op in names), count, device
        )
        self._device = device

    @classmethod
    def from_bytes(cls, data: Any, *, device: str = "cpu") -> Table:
        """What bytes() of a table gave, on any machine."""
        self = cls.__new__(cls)
        self._state = _core.Table.load(data, device)
        self._device = device
        return self

    def add(self, x: Any, ids: Any, y: Any = None, *, where: Any = None, skip: bool = False) -> Table:
        """Adds each element of x, or for dot and weighted_mean the pairs of two arrays, to the group whose number ids has for it, all or
        those that where says; skip leaves out ids that are no group's number. Returns itself."""
        return self._change(x, ids, y, where, skip, False)

    def remove(self, x: Any, ids: Any, y: Any = None, *, where: Any = None, skip: bool = False) -> Table:
        """Takes elements out that were added; min, max and their kin, and 'and' and 'or', cannot. Returns itself."""
        return self._change(x, ids, y, where, skip, True)

    def _change(self, x: Any, ids: Any, y: Any, where: Any, skip: bool, take_out: bool) -> Table:
        check_second(y, self.operators[0])
        view = self._here(x, elements_of(x, self.dtype, "x"), "x")
        index = repeated(self._here(ids, ids_of(ids, "ids"), "ids"), view.shape, "ids")
        mask = None if where is None else repeated(self._here(where, _mask_of(where), "where"), view.shape, "where")
        other = None if y is None else self._here(y, elements_of(y, self.dtype, "y"), "y")
        self._state.change(view, other, index, mask, -1, skip, take_out)
        return self

    def _here(self, array: Any, view: Any, name: str) -> Any:
        """The view of an array that the table's device can read."""
        if view.device >= 0:
            if self._device == "cpu":
                raise ValueError(f"{name}: on a CUDA device; expected a table with device='cuda:{view.device}', or host memory")
            kind_of(array).synchronize(array)
        return view

    def add_group(self, group: int, x: Any, y: Any = None) -> Table:
        """Adds all elements to one group; returns itself."""
        check_second(y, self.operators[0])
        view = self._here(x, elements_of(x, self.dtype, "x"), "x")
        other = None if y is None else self._here(y, elements_of(y, self.dtype, "y"), "y")
        self._state.add_group(self._number(group), view, other)
        return self

    def _number(self, group: Any) -> int:
        number = index_of(group, "group")
        if not 0 <= number < len(self):
            raise IndexError(f"group: {number}; expected one of {len(self)}")
        return number

    def merge(self, other: Table, mapping: Any = None) -> Table:
        """Adds all that the other table holds: its group g to group mapping[g], or to group g without one; returns itself."""
        if not isinstance(other, Table):
            raise TypeError(f"other: found {type(other).__name__}; expected a Table")
        state = other.copy()._state if other._state is self._state else other._state
        self._state.merge(state, None if mapping is None else ids_of(mapping, "mapping"))
        return self

    def __add__(self, other: Table) -> Table:
        return self.copy().__iadd__(other)

    def __radd__(self, other: Any) -> Table:
        return self.copy() if type(other) is int and other == 0 else NotImplemented  # where Python's sum() starts

    def __iadd__(self, other: Table) -> Table:
        return self.merge(other) if isinstance(other, Table) else NotImplemented

    def result(self, dtype: Any = None, *, check: bool = True) -> Any:
        """The results of all groups, each rounded once to a type: an array, of several operators a tuple of them. A group that has none
        raises what names it, and has its number as index; without check it becomes NaN, of integer types 0."""
        return self._each(lambda which: self._result(which, type_of(dtype), check))

    def counts(self) -> Any:
        """How many elements each group has; those that were masked out, and NaN under nan='ignore', are not counted."""
        return self._each(self._counts)

    def _each(self, function: Any) -> Any:
        results = tuple(function(which) for which in range(len(self._state.reductions)))
        return results if len(results) > 1 else results[0]

    def _result(self, which: int, wanted: str | None, check: bool) -> Any:
        op, element, result, mode, nan, flags = self._state.reductions[which]
        if wanted is not None:
            result = result_type(op, element, wanted, mode, nan, flags, False)  # or it raises
        kind, stored = host_kind(), _stored(op, result)
        made, view = kind.output((len(self),), stored, None)
        self._state.result(which, wanted, view, check)
        return kind.finish(made, stored)

    def _counts(self, which: int) -> Any:
        kind = host_kind()
        made, view = kind.output((len(self),), "i64", None)
        self._state.counts(which, view)
        return kind.finish(made, "i64")

    def resize(self, groups: int) -> None:
        """Adds groups, which hold nothing, until there are so many."""
        count = index_of(groups, "groups")
        if not 0 <= count < 2**63:
            raise ValueError(f"groups: {count}; expected how many groups there are to be")
        self._state.resize(count)

    def reset(self) -> None:
        """Empties all groups, which stay."""
        self._state.reset()

    def copy(self) -> Table:
        return type(self).from_bytes(bytes(self), device=self._device)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Table:
        return self.copy()

    @property
    def operators(self) -> tuple[str, ...]:
        return tuple(str(reduction[0]) for reduction in self._state.reductions)

    @property
    def dtype(self) -> str:
        """Name of the type of the elements, such as 'f64'."""
        return str(self._state.reductions[0][1])

    def __len__(self) -> int:
        return int(self._state.groups)

    def __bool__(self) -> bool:
        return True  # also of no groups

    def __bytes__(self) -> bytes:
        return bytes(self._state.save())

    def __reduce__(self) -> Any:
        return _restore, (type(self), bytes(self), self._device)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Table):
            return NotImplemented
        return bytes(self) == bytes(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        operators = self.operators
        return f"Table({operators if len(operators) > 1 else operators[0]!r}, {self.dtype!r}, {len(self)})"


def _restore(cls: Any, data: bytes, device: str = "cpu") -> Any:
    return cls.from_bytes(data, device=device)
