"""The functions of the package with all that can be asked of them. The ones of the same names in the module _core come first, do
whole arrays and lists, and call these for everything else."""
from __future__ import annotations

import functools
import math
from typing import Any

from . import _core, _cuda
from ._kinds import kind_of, type_of
from ._types import FLOATS, UNSIGNED

POPULATION = 1  # a flag of reductions

_ALL_AXES = 2**64 - 1
_INPUTS = {name: inputs for name, inputs, _ in _core.OPERATORS}
_COUNTS = frozenset(["argmin", "argmax", "count", "count_nonzero"])  # u64 in the library, int64 here
_WIDENED = frozenset(["sum", "sumsq", "norm1", "dot", "product"])

_segments_plan = functools.lru_cache(maxsize=512)(_core.Plan.segments)
_groups_plan = functools.lru_cache(maxsize=512)(_core.Plan.groups)
_resolve = functools.lru_cache(maxsize=4096)(_core.resolve)


class AxisError(ValueError, IndexError):
    """An axis that the array has not, or that was named twice."""


# ------------------------------------------------------------------------------------------------------------------------------
# Shapes
# ------------------------------------------------------------------------------------------------------------------------------


def _one_axis(axis: Any, rank: int) -> int:
    number = axis.__index__()
    if not -rank <= number < rank:
        raise AxisError(f"axis: {number} is out of bounds for an array of {rank} axes")
    return int(number) % rank


def axes_of(axis: Any, rank: int) -> int:
    """A bit for each axis that is reduced."""
    if axis is None:
        return _ALL_AXES
    if not isinstance(axis, tuple):
        return 1 << _one_axis(axis, rank)
    bits = 0
    for one in axis:
        bit = 1 << _one_axis(one, rank)
        if bits & bit:
            raise AxisError(f"axis: {axis} names an axis twice")
        bits |= bit
    return bits


def _result_shape(shape: tuple[int, ...], axes: int, keepdims: bool) -> tuple[int, ...]:
    if keepdims:
        return tuple(1 if axes >> axis & 1 else length for axis, length in enumerate(shape))
    return tuple(length for axis, length in enumerate(shape) if not axes >> axis & 1)


def _broadcast(view: Any, shape: tuple[int, ...], name: str) -> tuple[int, ...]:
    """The view's strides as those of an array of this shape, repeated along axes that it lacks."""
    missing = len(shape) - len(view.shape)
    for length, wanted in zip(view.shape, shape[max(missing, 0) :]):
        if length not in (1, wanted):
            missing = -1
    if missing < 0:
        raise ValueError(f"{name}: shape {view.shape} cannot be broadcast to {shape}")
    return (0,) * missing + tuple(stride if length != 1 else 0 for length, stride in zip(view.shape, view.strides))


def _along(weights: Any, shape: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    """The strides of weights of one axis, which belong to the one that is reduced."""
    if axis is None or isinstance(axis, tuple):
        raise ValueError("weights: one axis of them belongs to one axis of x; expected an integer as axis")
    place = _one_axis(axis, len(shape))
    if weights.shape != (shape[place],):
        raise ValueError(f"weights: shape {weights.shape}; expected {(shape[place],)}, or {shape}")
    return tuple(weights.strides[0] if each == place else 0 for each in range(len(shape)))


def _mask_of(where: Any, name: str = "where") -> Any:
    view = kind_of(where).view(where, name)
    if view.type != "bool":
        raise TypeError(f"{name}: elements of {view.type}; expected bool")
    return view


# ------------------------------------------------------------------------------------------------------------------------------
# Running
# ------------------------------------------------------------------------------------------------------------------------------


def result_type(op: str, element: str, dtype: str | None, mode: str, nan: str, flags: int, signed: bool) -> str:
    """The library's result type; by default signed where NumPy, or PyTorch, has it so."""
    if dtype is None and op in _WIDENED and (element == "bool" or (signed and element not in FLOATS)):
        dtype = "i64"
    return str(_resolve((op, element, dtype, mode, nan, flags)))


def _stored(op: str, kind: str) -> str:
    return "i64" if op in _COUNTS else kind


def _check_out(view: Any, kind: str, shape: tuple[int, ...]) -> None:
    if view.shape != shape:
        raise ValueError(f"out: shape {view.shape}; expected {shape}")
    if view.type != kind:
        raise TypeError(f"out: elements of {view.type}; expected {kind}")


def _device(views: list[Any]) -> str:
    number = views[0].device
    for view in views:
        if view.device != number:
            raise ValueError("arrays on different devices")
    return "cpu" if number < 0 else f"cuda:{number}"


def _run(
    plan: Any, inputs: tuple[Any, ...], results: tuple[Any, ...], x: Any, kind: Any, fallible: bool, check: bool, shape: tuple[int, ...]
) -> None:
    if inputs[0].device >= 0 and results[0].device >= 0:
        _cuda.queue(plan, inputs, results, x, kind, fallible and check, math.prod(shape))
    else:
        plan.execute(inputs, results)


def _can_fail(reductions: tuple[Any, ...]) -> bool:
    """Whether the data decide about success: integer results may overflow, NaN be an error, or leave too few elements."""
    return any(nan != "propagate" or (op in _WIDENED and result not in FLOATS) for op, _, result, _, nan, _ in reductions)


@functools.lru_cache(maxsize=1024)
def _prepare(
    ops: tuple[str, ...], element: str, shape: tuple[int, ...], strides: tuple[tuple[int, ...], ...], axes: int, wanted: str | None,
    keepdims: bool, nan: str, mode: str, flags: int, signed: bool, mask_strides: tuple[int, ...] | None, device: str,
    result_strides: tuple[int, ...] | None,
) -> tuple[Any, tuple[int, ...], tuple[str, ...], bool]:  # fmt: skip
    """All that does not depend on the data: the plan, the shape and the types of results, and whether the data can make it fail."""
    types = [result_type(op, element, wanted, mode, nan, flags, signed) for op in ops]
    reductions = tuple((op, element, result, mode, nan, flags) for op, result in zip(ops, types))
    plan = _core.Plan(reductions, shape, strides, axes, result_strides, int(mask_strides is not None), mask_strides, device)
    stored = tuple(_stored(op, result) for op, result in zip(ops, types))
    return plan, _result_shape(shape, axes, keepdims), stored, _can_fail(reductions)


def _inputs_of(ops: tuple[str, ...], view: Any, y: Any, axis: Any, broadcast: bool) -> tuple[list[Any], tuple[int, ...], tuple[Any, ...]]:
    """Views of x and y, the shape that they are reduced in, and their strides there."""
    other = kind_of(y).view(y, "y")
    if other.type != view.type:
        raise TypeError(f"y: elements of {other.type}; expected {view.type}, as x has")
    shape = _common(view.shape, other.shape) if broadcast else view.shape
    along = ops == ("weighted_mean",) and len(other.shape) == 1 != len(shape)
    strides = _broadcast(view, shape, "x"), _along(other, shape, axis) if along else _broadcast(other, shape, "y")
    return [view, other], shape, strides


def reduce(
    x: Any, ops: tuple[str, ...], y: Any = None, *, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
    where: Any = None, nan: str = "propagate", mode: str = "exact", flags: int = 0, check: bool = True, broadcast: bool = False,
) -> list[Any]:  # fmt: skip
    """All operators in one pass."""
    kind = kind_of(x)
    view = kind.view(x, "x")
    shape, mask_strides = view.shape, None
    if y is None:
        inputs, strides = [view], (view.strides,)
    else:
        inputs, shape, strides = _inputs_of(ops, view, y, axis, broadcast)
    if where is not None:
        inputs.append(_mask_of(where))
        mask_strides = _broadcast(inputs[-1], shape, "where")
    if out is not None:
        return [_reduce_to(out, x, kind, ops, inputs, shape, strides, axis, dtype, keepdims, nan, mode, flags, mask_strides, check)]
    plan, results, types, fallible = _prepare(
        ops, view.type, shape, strides, axes_of(axis, len(shape)), type_of(dtype), bool(keepdims), nan, mode, flags, kind.signed,
        mask_strides, _device(inputs), None,
    )  # fmt: skip
    made = [kind.output(results, each, x) for each in types]
    _run(plan, tuple(inputs), tuple([each for _, each in made]), x, kind, fallible, check, results)
    return [kind.finish(array, each) for (array, _), each in zip(made, types)]


def _reduce_to(
    out: Any, x: Any, kind: Any, ops: tuple[str, ...], inputs: list[Any], shape: tuple[int, ...], strides: tuple[Any, ...], axis: Any,
    dtype: Any, keepdims: bool, nan: str, mode: str, flags: int, mask_strides: Any, check: bool,
) -> Any:  # fmt: skip
    """The same of one operator, into an array that there is."""
    target = kind_of(out).writable(out, "out")
    if target.device >= 0 and not kind.queues:
        raise TypeError(f"out: on a CUDA device; expected host memory, where results of a {type(x).__name__} are formed")
    wanted = type_of(dtype) or (None if ops[0] in _COUNTS else target.type)
    axes = axes_of(axis, len(shape))
    common = (ops, inputs[0].type, shape, strides, axes, wanted, bool(keepdims), nan, mode, flags, kind.signed, mask_strides, _device([*inputs, target]))
    plan, results, types, fallible = _prepare(*common, None)
    _check_out(target, types[0], results)
    if plan.may_stop or any(target.overlaps(each) for each in inputs):
        made, room = kind.output(results, types[0], x)
        _run(plan, tuple(inputs), (room,), x, kind, fallible, check, results)
        if target.device < 0:
            target.assign(room)
        else:
            out[...] = kind.finish(made, types[0])
        return out
    if not target.contiguous:
        kept = tuple(stride for place, stride in enumerate(target.strides) if not keepdims or not axes >> place & 1)
        plan = _prepare(*common, kept)[0]
    _run(plan, tuple(inputs), (target,), x, kind, fallible, check, results)
    return out


def _common(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    rank = max(len(first), len(second))
    pairs = zip((1,) * (rank - len(first)) + first, (1,) * (rank - len(second)) + second)
    return tuple(b if a == 1 else a for a, b in pairs)


def _one(x: Any, op: str, axis: Any, dtype: Any, out: Any, keepdims: bool, where: Any, nan: str, mode: str, check: bool, flags: int = 0) -> Any:
    return reduce(x, (op,), axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where, nan=nan, mode=mode, flags=flags, check=check)[0]


# ------------------------------------------------------------------------------------------------------------------------------
# The functions, in whose signatures NumPy's order is kept
# ------------------------------------------------------------------------------------------------------------------------------


def _numeric(op: str) -> Any:
    def function(x, axis=None, dtype=None, out=None, keepdims=False, *, where=None, nan="propagate", mode="exact", check=True):  # type: ignore[no-untyped-def]
        return _one(x, op, axis, dtype, out, keepdims, where, nan, mode, check)

    return function


def _flags_of(ddof: Any) -> int:
    if ddof not in (0, 1):
        raise ValueError(f"ddof: {ddof!r}; expected 0, of a population, or 1, of a sample")
    return POPULATION if ddof == 0 else 0


def _spread(op: str) -> Any:
    def function(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, nan="propagate", mode="exact", check=True):  # type: ignore[no-untyped-def]
        return _one(x, op, axis, dtype, out, keepdims, where, nan, mode, check, _flags_of(ddof))

    return function


def _extreme(op: str) -> Any:
    def function(x, axis=None, out=None, keepdims=False, *, dtype=None, where=None, nan="propagate", mode="exact", check=True):  # type: ignore[no-untyped-def]
        return _one(x, op, axis, dtype, out, keepdims, where, nan, mode, check)

    return function


_NORMS = {1: "norm1", 2: "norm2", math.inf: "norminf"}


def norm(x, ord=2, axis=None, keepdims=False, *, dtype=None, out=None, where=None, nan="propagate", mode="exact", check=True):  # type: ignore[no-untyped-def]
    op = _NORMS.get(2 if ord is None else ord)
    if op is None:
        raise ValueError(f"ord: {ord!r}; expected 1, 2 or math.inf")
    return _one(x, op, axis, dtype, out, keepdims, where, nan, mode, check)


def dot(x, y, *, dtype=None, out=None, where=None, nan="propagate", mode="exact", check=True):  # type: ignore[no-untyped-def]
    shapes = kind_of(x).view(x, "x").shape, kind_of(y).view(y, "y").shape
    if len(shapes[0]) != 1 or shapes[0] != shapes[1]:
        raise ValueError(f"x, y: shapes {shapes[0]} and {shapes[1]}; expected two of one axis and of one length (vecdot() takes more)")
    return reduce(x, ("dot",), y, dtype=dtype, out=out, where=where, nan=nan, mode=mode, check=check)[0]


def vecdot(x, y, *, axis=-1, keepdims=False, dtype=None, out=None, where=None, nan="propagate", mode="exact", check=True):  # type: ignore[no-untyped-def]
    """Dot products along axes, which follow the rules of broadcasting; each is rounded once."""
    return reduce(x, ("dot",), y, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where, nan=nan, mode=mode, check=check,
                  broadcast=True)[0]  # fmt: skip


def average(x, axis=None, weights=None, *, keepdims=False, dtype=None, out=None, where=None, nan="propagate", check=True):  # type: ignore[no-untyped-def]
    """Mean weighted by a second array of the same type, rounded once; the mean without one. Weights of one axis belong to the axis
    that is reduced; others have the shape of x."""
    if weights is None:
        return _one(x, "mean", axis, dtype, out, keepdims, where, nan, "exact", check)
    return reduce(x, ("weighted_mean",), weights, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where, nan=nan,
                  check=check)[0]  # fmt: skip


def count(x, axis=None, *, keepdims=False, out=None, where=None, check=True):  # type: ignore[no-untyped-def]
    """Number of elements that are not NaN."""
    return _one(x, "count", axis, None, out, keepdims, where, "propagate", "exact", check)


def minmax(x, axis=None, *, keepdims=False, where=None, nan="propagate", check=True):  # type: ignore[no-untyped-def]
    """Smallest and largest element, in one pass."""
    return several(x, ("min", "max"), axis, keepdims=keepdims, where=where, nan=nan, check=check)


_ALIASES = {"prod": "product", "norm": "norm2"}


def several(
    x: Any, ops: Any, axis: Any = None, *, keepdims: bool = False, where: Any = None, nan: str = "propagate", mode: str = "exact",
    ddof: Any = 0, check: bool = True,
) -> tuple[Any, ...]:  # fmt: skip
    """Several reductions of the same data in one pass: a tuple of results, in the order of the operators' names."""
    names = tuple(_ALIASES.get(op, op) for op in ops)
    for op in names:
        if _INPUTS.get(op) != 1 or op == "minmax":
            raise ValueError(f"ops: {op!r}; expected names of reductions of one array, with one result")
    return tuple(reduce(x, names, axis=axis, keepdims=keepdims, where=where, nan=nan, mode=mode, flags=_flags_of(ddof), check=check))


# ------------------------------------------------------------------------------------------------------------------------------
# NaN left out
# ------------------------------------------------------------------------------------------------------------------------------


def _without_nan(name: str) -> Any:
    def function(x, *arguments, **keywords):  # type: ignore[no-untyped-def]
        if "nan" in keywords:
            raise TypeError(f"nan{name}() leaves NaN out: nan= is for {name}()")
        return FUNCTIONS[name](x, *arguments, nan="ignore", **keywords)

    function.__name__ = function.__qualname__ = f"nan{name}"
    function.__doc__ = f"{name}() of the elements that are not NaN."
    return function


# ------------------------------------------------------------------------------------------------------------------------------
# Segments
# ------------------------------------------------------------------------------------------------------------------------------


def _segment_inputs(kind: Any, view: Any, offsets: Any, begins: Any, ends: Any, length: Any) -> tuple[list[Any], int, str | None, int]:
    """Views of the bounds, the number of segments, the bounds' type, the length of each segment."""
    given = (offsets is not None, begins is not None, ends is not None, length is not None)
    if given == (False, False, False, True):
        each = length.__index__()
        if each <= 0 or view.shape[0] % each:
            raise ValueError(f"length: {each}; expected one that divides the {view.shape[0]} elements")
        return [], view.shape[0] // each, None, each
    if given not in ((True, False, False, False), (False, True, True, False)):
        raise TypeError("expected offsets, or begins and ends, or length")
    bounds = [kind_of(each).view(each, name) for each, name in ((offsets, "offsets"), (begins, "begins"), (ends, "ends")) if each is not None]
    for each in bounds:
        if each.type not in ("i32", "u32", "i64", "u64") or len(each.shape) != 1 or not each.contiguous:
            raise TypeError(f"bounds of segments: {each.type} with shape {each.shape}; expected one contiguous axis of i32, u32, i64 or u64")
        if each.type != bounds[0].type or each.shape != bounds[0].shape:
            raise ValueError("begins, ends: of different types or lengths")
    segments = bounds[0].shape[0] - (len(bounds) == 1)
    if segments < 0:
        raise ValueError("offsets: none; expected one more than there are segments")
    return bounds, segments, bounds[0].type, 0


def segment_reduce(
    x: Any, op: str, offsets: Any = None, *, begins: Any = None, ends: Any = None, length: Any = None, dtype: Any = None, where: Any = None,
    nan: str = "propagate", mode: str = "exact", ddof: Any = 0, check: bool = True,
) -> Any:  # fmt: skip
    """Reduces stretches of an array of one axis to one result each. Segment i is x[offsets[i]:offsets[i + 1]], or
    x[begins[i]:ends[i]], or the i-th of those with this length."""
    op = _ALIASES.get(op, op)
    if _INPUTS.get(op) != 1 or op == "minmax":
        raise ValueError(f"op: {op!r}; expected the name of a reduction of one array, with one result")
    kind = kind_of(x)
    view = kind.view(x, "x")
    if len(view.shape) != 1 or not view.contiguous:
        raise ValueError(f"x: shape {view.shape}; expected one contiguous axis")
    bounds, segments, index, each = _segment_inputs(kind, view, offsets, begins, ends, length)
    flags = _flags_of(ddof)
    result = result_type(op, view.type, type_of(dtype), mode, nan, flags, kind.signed)
    inputs = [view, *bounds]
    if where is not None:
        inputs.append(_mask_of(where))
        if inputs[-1].shape != view.shape or not inputs[-1].contiguous:
            raise ValueError(f"where: shape {inputs[-1].shape}; expected that of x, contiguous")
    reductions = ((op, view.type, result, mode, nan, flags),)
    plan = _segments_plan(reductions, segments, view.shape[0], index, each, begins is not None, int(where is not None), 0, _device(inputs))
    made, target = kind.output((segments,), _stored(op, result), x)
    _run(plan, tuple(inputs), (target,), x, kind, index is not None or _can_fail(reductions), check, (segments,))
    return kind.finish(made, _stored(op, result))


def _segment(op: str) -> Any:
    def function(x, offsets=None, **keywords):  # type: ignore[no-untyped-def]
        return segment_reduce(x, op, offsets, **keywords)

    function.__name__ = function.__qualname__ = f"segment_{op}"
    function.__doc__ = f"segment_reduce() with the operator {op!r}."
    return function


# ------------------------------------------------------------------------------------------------------------------------------
# Groups
# ------------------------------------------------------------------------------------------------------------------------------


def group_reduce(
    x: Any, op: str, ids: Any, n: Any, *, initial: Any = None, skip: bool = False, dtype: Any = None, where: Any = None,
    nan: str = "propagate", ddof: Any = 0, check: bool = True,
) -> Any:  # fmt: skip
    """Reduces the elements of each of n groups, or the rows x[i] of an array of more axes, to one result: ids[i] is the number of the
    group of x[i], in any order. initial has one more element for each result; skip leaves out ids that are no group's number."""
    return group_several(x, (op,), ids, n, initial=initial, skip=skip, dtype=dtype, where=where, nan=nan, ddof=ddof, check=check)[0]


def group_several(
    x: Any, ops: Any, ids: Any, n: Any, *, initial: Any = None, skip: bool = False, dtype: Any = None, where: Any = None,
    nan: str = "propagate", ddof: Any = 0, check: bool = True,
) -> tuple[Any, ...]:  # fmt: skip
    """Several reductions of each group in one call: a tuple of results, in the order of the operators' names."""
    names = [_ALIASES.get(op, op) for op in ops]
    for op in names:
        if _INPUTS.get(op) != 1 or op == "minmax":
            raise ValueError(f"op: {op!r}; expected the name of a reduction of one array, with one result")
    kind = kind_of(x)
    view, index = kind.view(x, "x"), kind_of(ids).view(ids, "ids")
    groups = n.__index__()
    if groups < 0:
        raise ValueError(f"n: {groups}; expected how many groups there are")
    if not view.shape or not view.contiguous:
        raise ValueError(f"x: shape {view.shape}; expected a contiguous array of one axis or more")
    if index.type not in ("u8", "u16", "u32", "u64", "i32", "i64") or index.shape != view.shape[:1] or not index.contiguous:
        raise TypeError(f"ids: {index.type} with shape {index.shape}; expected {view.shape[:1]}, contiguous, of u8 to u64, i32 or i64")
    shape = (groups, *view.shape[1:])
    inputs = [view, index]
    if where is not None:
        inputs.append(_mask_of(where))
        if len(view.shape) > 1 or inputs[-1].shape != view.shape or not inputs[-1].contiguous:
            raise ValueError("where: expected one axis, contiguous, for an x of one")
    if initial is not None:
        inputs.append(kind_of(initial).view(initial, "initial"))
        if inputs[-1].type != view.type or inputs[-1].shape != shape or not inputs[-1].contiguous:
            raise ValueError(f"initial: {inputs[-1].type} with shape {inputs[-1].shape}; expected {view.type} with {shape}, contiguous")
    flags = _flags_of(ddof)
    results = [result_type(op, view.type, type_of(dtype), "exact", nan, flags, kind.signed) for op in names]
    reductions = tuple((op, view.type, result, "exact", nan, flags) for op, result in zip(names, results))
    width = math.prod(view.shape[1:]) if len(view.shape) > 1 else 0
    stored = [_stored(op, result) for op, result in zip(names, results)]
    made = [kind.output(shape, each, x) for each in stored]
    if 0 not in shape[1:]:
        plan = _groups_plan(reductions, groups, view.shape[0], index.type, width, skip, initial is not None, int(where is not None),
                            _device(inputs))  # fmt: skip
        _run(plan, tuple(inputs), tuple(target for _, target in made), x, kind, True, check, shape)
    return tuple(kind.finish(array, each) for (array, _), each in zip(made, stored))


def _group(op: str) -> Any:
    def function(x, ids, n, **keywords):  # type: ignore[no-untyped-def]
        return group_reduce(x, op, ids, n, **keywords)

    function.__name__ = function.__qualname__ = f"group_{op}"
    function.__doc__ = f"group_reduce() with the operator {op!r}."
    return function


def index_add(x: Any, ids: Any, values: Any, *, check: bool = True) -> Any:
    """x with each values[i] added to x[ids[i]], where an id may come any number of times: each result is rounded once."""
    view = kind_of(x).view(x, "x")
    return group_reduce(values, "sum", ids, view.shape[0], initial=x, dtype=view.type, check=check)


# By the names that they have in the package, which are those of Python's own functions.
FUNCTIONS = {
    "sum": _numeric("sum"),
    "prod": _numeric("product"),
    "mean": _numeric("mean"),
    "rms": _numeric("rms"),
    "sumsq": _numeric("sumsq"),
    "var": _spread("var"),
    "std": _spread("std"),
    "min": _extreme("min"),
    "max": _extreme("max"),
    "ptp": _extreme("ptp"),
    "argmin": _extreme("argmin"),
    "argmax": _extreme("argmax"),
    "any": _extreme("any"),
    "all": _extreme("all"),
    "count_nonzero": _extreme("count_nonzero"),
    "norm": norm,
    "dot": dot,
}
for _name, _function in FUNCTIONS.items():
    _function.__name__ = _function.__qualname__ = _name
FUNCTIONS |= {f"nan{name}": _without_nan(name) for name in ("sum", "prod", "mean", "var", "std", "min", "max", "argmin", "argmax")}
FUNCTIONS |= {f"segment_{op}": _segment(op) for op in ("sum", "prod", "mean", "var", "std", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero")}
FUNCTIONS |= {f"group_{op}": _group(op) for op in ("sum", "prod", "mean", "var", "std", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero")}
