"""Groups that are told by keys."""
from __future__ import annotations

import sys
from typing import Any

from . import _core
from ._functions import Packed, group_reduce, group_several
from ._kinds import kind_of


def _method(op: str) -> Any:
    def method(self, x, *, initial=None, skip=False, dtype=None, where=None, nan="propagate", ddof=0, check=True):  # type: ignore[no-untyped-def]
        return group_reduce(x, op, self.ids, len(self), initial=initial, skip=skip, dtype=dtype, where=where, nan=nan, ddof=ddof, check=check)

    method.__name__ = op
    method.__qualname__ = f"Groups.{op}"
    method.__doc__ = f"group_{op}() of the groups."
    return method


class Groups:
    """The groups of equal keys: keys has each one's key, ids the number of the group of each element. Methods reduce arrays that have an
    element, or a row, for each of these; options are those of group_sum() and its kin."""

    __slots__ = ("keys", "ids", "_count")

    def __init__(self, keys: Any, ids: Any, count: int) -> None:
        self.keys, self.ids, self._count = keys, ids, count

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"<{self._count} groups of {len(self.ids)} elements>"

    def several(
        self, x: Any, ops: Any, *, initial: Any = None, skip: bool = False, dtype: Any = None, where: Any = None, nan: str = "propagate",
        ddof: Any = 0, check: bool = True,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Several reductions of each group in one call: a tuple of results, in the order of the operators' names."""
        return group_several(x, ops, self.ids, self._count, initial=initial, skip=skip, dtype=dtype, where=where, nan=nan, ddof=ddof, check=check)

    sum = _method("sum")
    prod = _method("prod")
    mean = _method("mean")
    var = _method("var")
    std = _method("std")
    rms = _method("rms")
    norm = _method("norm")
    min = _method("min")
    max = _method("max")
    ptp = _method("ptp")
    argmin = _method("argmin")
    argmax = _method("argmax")
    any = _method("any")
    all = _method("all")
    count = _method("count")
    count_nonzero = _method("count_nonzero")


KEY_TYPES = ("i32", "u32", "i64", "u64")


def number_keys(kind: Any, element: str, chunks: list[Any], count: int, sort: bool, like: Any) -> tuple[Any, Any, int]:
    """The keys of all groups and the number of each element's group, as arrays of a kind; and how many groups there are."""
    if element not in KEY_TYPES:
        raise TypeError(f"keys: elements of {element}; expected one of {', '.join(KEY_TYPES)}")
    ids, room = kind.output((count,), "i64", like)
    data = _core.number_keys(element, chunks, room, sort)
    groups = len(data) // (4 if element.endswith("32") else 8)
    keys, room = kind.output((groups,), element, like)
    room.fill(data)
    return kind.finish(keys, element), kind.finish(ids, "i64"), groups


_ROOM, _MORE, _MOST = 1 << 16, 64, 1 << 30  # keys that a device has room for at first, how many times as many then, and at last


def _number_on_device(kind: Any, view: Any, sort: bool, keys: Any) -> tuple[Any, Any, int]:
    """number_keys() on a CUDA device, in the caller's current stream. Waits, as how many keys there are says how large results are."""
    ids, ids_view = kind.output(view.shape, "i32", keys)
    found, found_address = kind.scratch(8, keys)
    most = min(view.shape[0], _MOST)
    room = min(most, _ROOM)
    while True:
        unique, unique_view = kind.output((room,), view.type, keys)
        workspace, address = kind.scratch(_core.cuda_number_keys(view, ids_view, unique_view, sort, 0, 0, 0), keys)
        _core.cuda_number_keys(view, ids_view, unique_view, sort, found_address, address, kind.stream(keys))
        del workspace
        groups = int.from_bytes(kind.to_host(found), sys.byteorder)
        if groups <= room:
            return kind.finish(unique[:groups], view.type), kind.finish(ids, "i32"), groups
        if room == most:
            raise ValueError(f"keys: more than {most} different ones")
        room = min(most, room * _MORE)


def group_by(keys: Any, *, sort: bool = False) -> Groups:
    """Groups by equal keys: integers of 32 or 64 bits, in host memory or, of PyTorch's tensors and CuPy's arrays, on a CUDA device.
    Groups are numbered in order of first appearance, or of their keys.

    >>> groups = group_by([30, 10, 30, 20])
    >>> groups.keys, groups.ids, groups.sum([1e100, 0.5, -1e100, 2.0])
    ([30, 10, 20], [0, 1, 0, 2], [0.0, 0.5, 2.0])
    """
    kind = kind_of(keys)
    view = Packed().view(keys, "keys")
    if len(view.shape) != 1:
        raise ValueError(f"keys: shape {view.shape}; expected one axis")
    if view.device >= 0:
        if not kind.queues:
            raise TypeError("keys: on a CUDA device; expected host memory, a PyTorch tensor or a CuPy array")
        if view.type not in KEY_TYPES:
            raise TypeError(f"keys: elements of {view.type}; expected one of {', '.join(KEY_TYPES)}")
        return Groups(*_number_on_device(kind, view, sort, keys))
    return Groups(*number_keys(kind, view.type, [(view, None, 0)], view.shape[0], sort, keys))
