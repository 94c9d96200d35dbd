"""Partial results that can be added to, merged, saved and loaded."""
from __future__ import annotations

from typing import Any

from . import _core
from ._functions import _ALIASES, _INPUTS, _broadcast, _flags_of, _mask_of
from ._kinds import Numbers, kind_of, type_of
from ._types import type_name


def elements_of(x: Any, dtype: str, name: str) -> Any:
    """A view of what is added; numbers of Python are of the type that is wanted."""
    kind = kind_of(x)
    return kind.view(x, name, dtype) if isinstance(kind, Numbers) else kind.view(x, name)


def check_second(y: Any, op: str) -> None:
    """Whether there is a second array where the operator reads pairs, and there alone."""
    if (y is not None) != (_INPUTS[op] == 2):
        found = f"found none; {op} reads pairs of elements, of two arrays" if y is None else f"{op} reads the elements of one array"
        raise TypeError(f"y: {found}")


def repeated(view: Any, shape: tuple[int, ...], name: str) -> Any:
    """The view as one of this shape, by the rules of broadcasting."""
    return view if view.shape == shape else _core.View.repeat(view, shape, _broadcast(view, shape, name))


class Accumulator:
    """A partial result of one reduction: data are added piece by piece, accumulators are merged, in any order, and the result has the
    bits that a single pass would have given.

    >>> left, right = Accumulator("sum", "f64"), Accumulator("sum", "f64")
    >>> left.add([1e100, 0.1]).add([0.2])
    Accumulator('sum', 'f64', count=3)
    >>> right.add([-1e100, 1.0])
    Accumulator('sum', 'f64', count=2)
    >>> (left + right).result()
    1.3

    It can be pickled; bytes(accumulator) and Accumulator.from_bytes() serve other ways to carry it. Of argmin, argmax and prod, what is
    added or merged follows what is there. Results are numbers of Python.
    """

    __slots__ = ("_state", "_device")

    def __init__(self, operator: str, dtype: Any = "f64", *, result: Any = None, nan: str = "propagate", mode: str = "exact",
                 ddof: int = 0, device: str = "cpu") -> None:  # fmt: skip
        reduction = (_ALIASES.get(operator, operator), type_name(dtype), type_of(result), mode, nan, _flags_of(ddof))
        self._state = _core.Accumulator(reduction, device)
        self._device = device

    @classmethod
    def from_bytes(cls, data: Any, *, device: str = "cpu") -> Accumulator:
        """What bytes() of an accumulator gave, on any machine."""
        self = cls.__new__(cls)
        self._state = _core.Accumulator.load(data, device)
        self._device = device
        return self

    def add(self, x: Any, y: Any = None, *, where: Any = None) -> Accumulator:
        """Adds an array, or for dot and weighted_mean the pairs of two, all of its elements or those that where says; returns itself."""
        check_second(y, self.operator)
        views = [self._view(x, "x"), None if y is None else self._view(y, "y"), None]
        if where is not None:
            views[2] = repeated(_mask_of(where), views[0].shape, "where")
        self._state.add(*views)
        return self

    def _view(self, x: Any, name: str) -> Any:
        view = elements_of(x, self.dtype, name)
        if view.device >= 0:
            if self._device == "cpu":
                raise ValueError(f"{name}: on a CUDA device; expected an accumulator with device='cuda:{view.device}', or host memory")
            kind_of(x).synchronize(x)
        return view

    def __add__(self, other: Accumulator) -> Accumulator:
        return self.copy().__iadd__(other)

    def __radd__(self, other: Any) -> Accumulator:
        return self.copy() if type(other) is int and other == 0 else NotImplemented  # where Python's sum() starts

    def __iadd__(self, other: Accumulator) -> Accumulator:
        if not isinstance(other, Accumulator):
            return NotImplemented
        self._state.merge(other._state)
        return self

    def result(self, dtype: Any = None) -> Any:
        """The result so far, rounded once to a type: a number, of minmax a pair. More can be added."""
        return self._state.result(type_of(dtype))

    def reset(self) -> None:
        """Back to no elements."""
        self._state.reset()

    def copy(self) -> Accumulator:
        return type(self).from_bytes(bytes(self), device=self._device)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Accumulator:
        return self.copy()

    @property
    def operator(self) -> str:
        return str(self._state.reduction[0])

    @property
    def dtype(self) -> str:
        """Name of the type of the elements, such as 'f64'."""
        return str(self._state.reduction[1])

    @property
    def count(self) -> int:
        """Elements added so far; those that were masked out, and NaN under nan='ignore', are not counted."""
        return int(self._state.count)

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return True  # also of no elements

    def __bytes__(self) -> bytes:
        return bytes(self._state.save())

    def __reduce__(self) -> Any:
        return _restore, (type(self), bytes(self), self._device)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Accumulator):
            return NotImplemented
        return bytes(self) == bytes(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        op, element, _, mode, nan, _ = self._state.reduction
        options = "".join(f", {name}={value!r}" for name, value, default in (("mode", mode, "exact"), ("nan", nan, "propagate")) if value != default)
        return f"Accumulator({op!r}, {element!r}{options}, count={self.count})"


def _restore(cls: Any, data: bytes, device: str) -> Any:
    return cls.from_bytes(data, device=device)
