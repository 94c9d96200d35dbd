"""The functions of the package with all that can be asked of them. The ones of the same names in the module _core come first, do
whole arrays and lists, and call these for everything else."""
from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

from . import _core, _cuda
from ._kinds import array_of, index_of, kind_of, numbers_as, type_of
from ._types import FLOATS, INTEGERS, SIZES, UNSIGNED

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
    number = index_of(axis, "axis", "an integer, a tuple of them or None")
    if not -rank <= number < rank:
        raise AxisError(f"axis: {number} is out of bounds for an array of {rank} axes")
    return number % rank


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
    axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
    if axis is None or isinstance(axis, tuple):
        raise ValueError("weights: one axis of them belongs to one axis of x; expected an integer as axis")
    place = _one_axis(axis, len(shape))
    if weights.shape != (shape[place],):
        raise ValueError(f"weights: shape {weights.shape}; expected {(shape[place],)}, or {shape}")
    return tuple(weights.strides[0] if each == place else 0 for each in range(len(shape)))


def _without_true(where: Any) -> Any:
    """where, which NumPy has as True where nothing is left out."""
    return None if where is True else where


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


_SHORT = {"f64": "f32", "i64": "i32", "u64": "u32"}


@functools.lru_cache(maxsize=4096)
def result_types(
    op: str, element: str, dtype: str | None, mode: str, nan: str, flags: int, signed: bool, widest: int
) -> tuple[str, str]:  # fmt: skip
    """The library's result type, and the one that arrays of results are of. That may be a narrower one of integers, which results have to
    fit: where it was asked for, or where such arrays have no elements of 64 bits, but only of this many bytes."""
    if dtype is not None and widest < SIZES[dtype] == 8:
        raise TypeError(f"dtype: {dtype}; these arrays hold no 64 bits, expected at most {_SHORT[dtype]} (JAX has them with the option jax_enable_x64)")
    usual = result_type(op, element, None, mode, nan, flags, signed)
    stored = dtype or _stored(op, usual)
    if dtype is None and SIZES[stored] == 8:
        stored = _SHORT[stored] if widest < 8 else stored
    if usual in ("i64", "u64") and (stored == _stored(op, usual) or (stored in INTEGERS and SIZES[stored] < 8)):
        return usual, stored
    return result_type(op, element, stored, mode, nan, flags, signed), stored


def _check_out(view: Any, kind: str, shape: tuple[int, ...]) -> None:
    if view.shape != shape:
        raise ValueError(f"out: shape {view.shape}; expected {shape}")
    if view.type != kind:
        raise TypeError(f"out: elements of {view.type}; expected {kind}")


def _device(views: list[Any]) -> str:
    number = views[0].device
    for view in views:
        if view.device != number:
            names = ("cpu" if each < 0 else f"cuda:{each}" for each in (number, view.device))
            raise ValueError(f"arrays on different devices: {' and '.join(names)}")
    return "cpu" if number < 0 else f"cuda:{number}"


def _run(plan: Any, inputs: tuple[Any, ...], results: tuple[Any, ...], x: Any, kind: Any, fallible: bool, check: bool) -> None:
    if inputs[0].device >= 0 and results[0].device >= 0:
        _cuda.queue(plan, inputs, results, x, kind, fallible and check)
    else:
        plan.execute(inputs, results, check)


def _can_fail(reductions: tuple[Any, ...]) -> bool:
    """Whether the data decide about success: integer results may overflow, NaN be an error, or leave too few elements."""
    return any(nan != "propagate" or (op in _WIDENED and result not in FLOATS) for op, _, result, _, nan, _ in reductions)


@functools.lru_cache(maxsize=1024)
def _prepare(
    ops: tuple[str, ...], element: str, shape: tuple[int, ...], strides: tuple[tuple[int, ...], ...], axes: int, wanted: str | None,
    keepdims: bool, nan: str, mode: str, flags: int, signed: bool, widest: int, mask_strides: tuple[int, ...] | None, device: str,
    result_strides: tuple[int, ...] | None,
) -> tuple[Any, tuple[int, ...], tuple[str, ...], tuple[str, ...], bool]:  # fmt: skip
    """All that does not depend on the data: the plan, the shape and the types of results, and whether the data can make it fail."""
    types = tuple([result_types(op, element, wanted, mode, nan, flags, signed, widest) for op in ops])
    reductions, formed, stored = _reductions(ops, element, types, mode, nan, flags)
    plan = _core.Plan(reductions, shape, strides, axes, result_strides, int(mask_strides is not None), mask_strides, device)
    return plan, _result_shape(shape, axes, keepdims), formed, stored, _can_fail(reductions)


@functools.lru_cache(maxsize=4096)
def _reductions(
    ops: tuple[str, ...], element: str, types: tuple[tuple[str, str], ...], mode: str, nan: str, flags: int
) -> tuple[tuple[Any, ...], tuple[str, ...], tuple[str, ...]]:
    """For the library; then the types of what it writes, and of the arrays that come of that."""
    reductions = tuple((op, element, result, mode, nan, flags) for op, (result, _) in zip(ops, types))
    stored = tuple(stored for _, stored in types)
    formed = tuple(stored if SIZES[stored] == SIZES[result] else result for result, stored in types)
    return reductions, formed, stored


def _inputs_of(
    ops: tuple[str, ...], x: Any, view: Any, y: Any, axis: Any, broadcast: bool, name: str
) -> tuple[list[Any], tuple[int, ...], tuple[Any, ...]]:
    """Views of x and y, the shape that they are reduced in, and their strides there. Numbers of Python are of the other array's type, and
    of two lists of the wider one. Weights of another type are made ones of x's, if they are equal to such."""
    other = kind_of(y).view(y, name)
    if other.type != view.type:
        lists = isinstance(x, (list, tuple)), isinstance(y, (list, tuple))
        wanted = min(view.type, other.type, key=("f64", "i64", "bool").index) if all(lists) else other.type if lists[0] else view.type
        if lists[0] and view.type != wanted:
            view = numbers_as(x, wanted, "x")
        if lists[1] and other.type != wanted:
            other = numbers_as(y, wanted, name)
    if other.type != view.type and name == "weights":
        kind = kind_of(y)
        same = kind.exactly(y, view.type)
        if same is None:
            raise TypeError(f"weights: elements of {other.type}; expected {view.type}, as x has, or what is equal to such")
        other = kind.view(same, name)
    if other.type != view.type:
        raise TypeError(f"{name}: elements of {other.type}; expected {view.type}, as x has")
    shape = _common(view.shape, other.shape) if broadcast else view.shape
    along = ops == ("weighted_mean",) and len(other.shape) == 1 != len(shape)
    strides = _broadcast(view, shape, "x"), _along(other, shape, axis) if along else _broadcast(other, shape, name)
    return [view, other], shape, strides


class Prepared(NamedTuple):
    """A call before it is run."""

    plan: Any
    inputs: tuple[Any, ...]  # views
    names: tuple[str, ...]  # and which of the arguments each is of
    shape: tuple[int, ...]  # of results
    formed: tuple[str, ...]  # types of what the plan writes
    types: tuple[str, ...]  # of results
    kind: Any  # of x and of results
    fallible: bool  # whether the data decide about success
    target: Any = None  # a view of out
    direct: bool = False  # whether results are written there at once
    copied: bool = False  # whether inputs are copies of what was given


def _prepared(
    x: Any, ops: tuple[str, ...], y: Any = None, *, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
    where: Any = None, nan: str = "propagate", mode: str = "exact", flags: int = 0, broadcast: bool = False, second: str = "y",
) -> Prepared:  # fmt: skip
    kind = kind_of(x)
    view, where = kind.view(x, "x"), _without_true(where)
    shape, mask_strides, target, names = view.shape, None, None, ["x"]
    if y is None:
        inputs, strides = [view], (view.strides,)
    else:
        inputs, shape, strides = _inputs_of(ops, x, view, y, axis, broadcast, "weights" if second == "weights" else "y")
        view = inputs[0]
        names.append(second)
    if where is not None:
        inputs.append(_mask_of(where))
        names.append("where")
        mask_strides = _broadcast(inputs[-1], shape, "where")
    wanted, axes, devices = type_of(dtype), axes_of(axis, len(shape)), inputs
    if out is not None:
        target = kind_of(out).writable(out, "out")
        if target.device >= 0 and not kind.queues:
            raise TypeError(f"out: on a CUDA device; expected host memory, where results of a {type(x).__name__} are formed")
        wanted, devices = wanted or (None if ops[0] in _COUNTS else target.type), [*inputs, target]
    widest = kind.widest(x) if target is None else 8
    common = (ops, view.type, shape, strides, axes, wanted, bool(keepdims), nan, mode, flags, kind.signed, widest, mask_strides, _device(devices))
    plan, results, formed, types, fallible = _prepare(*common, None)
    direct = False
    if target is not None:
        _check_out(target, types[0], results)
        direct = formed == types and not plan.may_stop and not any(target.overlaps(each) for each in inputs)
        if direct and not target.contiguous:
            kept = tuple(stride for place, stride in enumerate(target.strides) if not keepdims or not axes >> place & 1)
            plan = _prepare(*common, kept)[0]
    return Prepared(plan, tuple(inputs), tuple(names), results, formed, types, kind, fallible, target, direct)


def _results(call: Prepared, ops: tuple[str, ...], x: Any, check: bool) -> list[tuple[Any, Any]]:
    """Executes what is prepared: each result as an array of its kind, and a view of it."""
    made = [call.kind.output(call.shape, each, x) for each in call.formed]
    if call.plan is not None:
        _run(call.plan, call.inputs, tuple([view for _, view in made]), x, call.kind, call.fallible, check)
    if call.formed == call.types:
        return made
    return [pair if formed == stored else _narrowed(call, pair, op, stored, x, check) for pair, op, formed, stored in zip(made, ops, call.formed, call.types)]


def _narrowed(call: Prepared, made: tuple[Any, Any], op: str, stored: str, x: Any, check: bool) -> tuple[Any, Any]:
    """Integers that must fit a narrower type."""
    array, view = made
    if view.device >= 0:
        narrow, fits = call.kind.narrowed(array, stored, check)
        if not fits:
            raise _core.ResultOverflowError(f"{op}: a result does not fit {stored}; a wider result type holds it")
        return narrow, call.kind.view(narrow, "out")
    narrow, target = call.kind.output(call.shape, stored, x)
    target.narrow(view, op, check)
    return narrow, target


def reduce(x: Any, ops: tuple[str, ...], y: Any = None, *, out: Any = None, check: bool = True, **options: Any) -> list[Any]:
    """All operators in one pass."""
    call = _prepared(x, ops, y, out=out, **options)
    if call.direct:
        _run(call.plan, call.inputs, (call.target,), x, call.kind, call.fallible, check)
        return [out]
    made = _results(call, ops, x, check)
    if call.target is None:
        return _finished(call, made)
    if call.target.device < 0:
        call.target.assign(made[0][1])
    else:
        out[...] = call.kind.finish(made[0][0], call.types[0])
    return [out]


def _finished(call: Prepared, made: list[tuple[Any, Any]]) -> list[Any]:
    return [call.kind.finish(array, each) for (array, _), each in zip(made, call.types)]


def _reduced(x: Any, ops: tuple[str, ...], y: Any = None, **options: Any) -> Any:
    return reduce(x, ops, y, **options)[0]


def _only_prepared(x: Any, ops: tuple[str, ...], y: Any = None, *, check: bool = True, **options: Any) -> Prepared:
    return _prepared(x, ops, y, **options)


def _common(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    rank = max(len(first), len(second))
    pairs = zip((1,) * (rank - len(first)) + first, (1,) * (rank - len(second)) + second)
    return tuple(b if a == 1 else a for a, b in pairs)


# ------------------------------------------------------------------------------------------------------------------------------
# The functions, in whose signatures NumPy's order is kept. What they do with their arguments is _reduced() or, for calls that are made
# again, _only_prepared().
# ------------------------------------------------------------------------------------------------------------------------------


def _numeric(op: str, act: Any) -> Any:
    def function(x, axis=None, dtype=None, out=None, keepdims=False, *, where=None, nan="propagate", mode="exact", check=True):  # type: ignore[no-untyped-def]
        return act(x, (op,), axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where, nan=nan, mode=mode, check=check)

    return function


def _flags_of(ddof: Any, name: str = "ddof") -> int:
    number = ddof if isinstance(ddof, (int, float)) else getattr(ddof, "__index__", lambda: None)()
    if number not in (0, 1):
        raise ValueError(f"{name}: {ddof!r}; expected 0, of a population, or 1, of a sample")
    return POPULATION if number == 0 else 0


def _spread(op: str, act: Any) -> Any:
    def function(  # type: ignore[no-untyped-def]
        x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, correction=None, where=None, nan="propagate", mode="exact", check=True,
    ):  # fmt: skip
        if correction is not None and _flags_of(ddof) != POPULATION:
            raise ValueError(f"ddof, correction: {ddof!r} and {correction!r}; expected one of them, which mean the same")
        flags = _flags_of(ddof) if correction is None else _flags_of(correction, "correction")
        return act(x, (op,), axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where, nan=nan, mode=mode, check=check, flags=flags)

    return function


def _extreme(op: str, act: Any) -> Any:
    def function(x, axis=None, out=None, keepdims=False, *, where=None, nan="propagate", mode="exact", check=True):  # type: ignore[no-untyped-def]
        return act(x, (op,), axis=axis, out=out, keepdims=keepdims, where=where, nan=nan, mode=mode, check=check)

    return function


def _truth(op: str, act: Any) -> Any:
    def function(x, axis=None, out=None, keepdims=False, *, where=None, nan="propagate", check=True):  # type: ignore[no-untyped-def]
        return act(x, (op,), axis=axis, out=out, keepdims=keepdims, where=where, nan=nan, check=check)

    return function


def _range(act: Any) -> Any:
    def function(x, axis=None, out=None, keepdims=False, *, dtype=None, where=None, nan="propagate", mode="exact", check=True):  # type: ignore[no-untyped-def]
        return act(x, ("ptp",), axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where, nan=nan, mode=mode, check=check)

    return function


def _index(op: str, act: Any) -> Any:
    def function(x, axis=None, out=None, *, keepdims=False, where=None, nan="propagate", check=True):  # type: ignore[no-untyped-def]
        return act(x, (op,), axis=axis, out=out, keepdims=keepdims, where=where, nan=nan, check=check)

    return function


def _count_nonzero(act: Any) -> Any:
    def function(x, axis=None, *, keepdims=False, out=None, where=None, nan="propagate", check=True):  # type: ignore[no-untyped-def]
        return act(x, ("count_nonzero",), axis=axis, out=out, keepdims=keepdims, where=where, nan=nan, check=check)

    return function


_NORMS = {1: "norm1", 2: "norm2", math.inf: "norminf"}


def _norm(act: Any) -> Any:
    def function(x, ord=2, axis=None, keepdims=False, *, dtype=None, out=None, where=None, nan="propagate", mode="exact", check=True):  # type: ignore[no-untyped-def]
        op = _NORMS.get(2 if ord is None else ord)
        if op is None:
            raise ValueError(f"ord: {ord!r}; expected 1, 2 or math.inf")
        return act(x, (op,), axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where, nan=nan, mode=mode, check=check)

    return function


def _dot(act: Any) -> Any:
    def function(x, y, *, dtype=None, out=None, where=None, nan="propagate", mode="exact", check=True):  # type: ignore[no-untyped-def]
        shapes = kind_of(x).view(x, "x").shape, kind_of(y).view(y, "y").shape
        if len(shapes[0]) != 1 or shapes[0] != shapes[1]:
            raise ValueError(f"x, y: shapes {shapes[0]} and {shapes[1]}; expected two of one axis and of one length (vecdot() takes more)")
        return act(x, ("dot",), y, dtype=dtype, out=out, where=where, nan=nan, mode=mode, check=check)

    return function


def vecdot(x, y, *, axis=-1, keepdims=False, dtype=None, out=None, where=None, nan="propagate", mode="exact", check=True):  # type: ignore[no-untyped-def]
    """Dot products along axes, which follow the rules of broadcasting; each is rounded once."""
    return _reduced(x, ("dot",), y, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where, nan=nan, mode=mode, check=check,
                    broadcast=True)  # fmt: skip


def average(x, axis=None, weights=None, *, keepdims=False, dtype=None, out=None, where=None, nan="propagate", check=True):  # type: ignore[no-untyped-def]
    """Mean weighted by a second array of the same type, or of numbers that are equal to such, rounded once; the mean without one. Weights of
    one axis belong to the axis that is reduced; others have the shape of x."""
    if weights is None:
        return _reduced(x, ("mean",), axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where, nan=nan, check=check)
    return _reduced(x, ("weighted_mean",), weights, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where, nan=nan,
                    check=check, second="weights")  # fmt: skip


def count(x, axis=None, *, keepdims=False, out=None, where=None, check=True):  # type: ignore[no-untyped-def]
    """Number of elements that are not NaN."""
    return _reduced(x, ("count",), axis=axis, out=out, keepdims=keepdims, where=where, check=check)


def minmax(x, axis=None, *, keepdims=False, where=None, nan="propagate", check=True):  # type: ignore[no-untyped-def]
    """Smallest and largest element, in one pass."""
    return several(x, ("min", "max"), axis, keepdims=keepdims, where=where, nan=nan, check=check)


_ALIASES = {"prod": "product", "norm": "norm2"}


def _operator(op: str, name: str) -> str:
    if not isinstance(op, str):
        raise TypeError(f"{name}: {op!r}; expected the name of a reduction")
    op = _ALIASES.get(op, op)
    if _INPUTS.get(op) != 1 or op == "minmax":
        raise ValueError(f"{name}: {op!r}; expected the name of a reduction of one array, with one result")
    return op


def _operators(ops: Any) -> tuple[str, ...]:
    if isinstance(ops, str):
        raise TypeError(f"ops: {ops!r}; expected several names, as [{ops!r}]")
    if not hasattr(ops, "__iter__"):
        raise TypeError(f"ops: {ops!r}; expected several names, as ['sum', 'max']")
    return tuple(_operator(op, "ops") for op in ops)


def by_name(
    x: Any, op: str, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None,
    nan: str = "propagate", mode: str = "exact", ddof: Any = 0, check: bool = True,
) -> Any:  # fmt: skip
    """The reduction that has this name, such as "xor", "or" and "norm1", which are no functions here."""
    ops = (_operator(op, "op"),)
    return _reduced(x, ops, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where, nan=nan, mode=mode, flags=_flags_of(ddof), check=check)



def several(
    x: Any, ops: Any, axis: Any = None, *, keepdims: bool = False, where: Any = None, nan: str = "propagate", mode: str = "exact",
    ddof: Any = 0, check: bool = True,
) -> tuple[Any, ...]:  # fmt: skip
    """Several reductions of the same data in one pass: a tuple of results, in the order of the operators' names."""
    return tuple(reduce(x, _operators(ops), axis=axis, keepdims=keepdims, where=where, nan=nan, mode=mode, flags=_flags_of(ddof), check=check))


# ------------------------------------------------------------------------------------------------------------------------------
# NaN left out
# ------------------------------------------------------------------------------------------------------------------------------


def _numeric_without_nan(name: str) -> Any:
    def function(x, axis=None, dtype=None, out=None, keepdims=False, *, where=None, mode="exact", check=True):  # type: ignore[no-untyped-def]
        return FUNCTIONS[name](x, axis, dtype, out, keepdims, where=where, nan="ignore", mode=mode, check=check)

    return function


def _spread_without_nan(name: str) -> Any:
    def function(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, correction=None, where=None, mode="exact", check=True):  # type: ignore[no-untyped-def]
        return FUNCTIONS[name](x, axis, dtype, out, ddof, keepdims, correction=correction, where=where, nan="ignore", mode=mode, check=check)

    return function


def _extreme_without_nan(name: str) -> Any:
    def function(x, axis=None, out=None, keepdims=False, *, where=None, check=True):  # type: ignore[no-untyped-def]
        return FUNCTIONS[name](x, axis, out, keepdims, where=where, nan="ignore", check=check)

    return function


def _index_without_nan(name: str) -> Any:
    def function(x, axis=None, out=None, *, keepdims=False, where=None, check=True):  # type: ignore[no-untyped-def]
        return FUNCTIONS[name](x, axis, out, keepdims=keepdims, where=where, nan="ignore", check=check)

    return function


# ------------------------------------------------------------------------------------------------------------------------------
# Segments
# ------------------------------------------------------------------------------------------------------------------------------


class Packed:
    """Views whose elements lie one after another: of what was given, or of copies."""

    def __init__(self) -> None:
        self.copied = False

    def view(self, array: Any, name: str) -> Any:
        kind = kind_of(array)
        return self.of(array, kind.view(array, name), name)

    def of(self, array: Any, view: Any, name: str) -> Any:
        if view.contiguous:
            return view
        self.copied = True
        if view.device < 0:
            return view.packed()
        kind = kind_of(array)
        if not hasattr(kind, "packed"):
            raise TypeError(f"{name}: strides {view.strides}; expected elements one after another on a CUDA device")
        return kind.view(kind.packed(array), name)


def _segment_inputs(
    packed: Packed, view: Any, offsets: Any, begins: Any, ends: Any, length: Any
) -> tuple[list[Any], int, str | None, int]:
    """Views of the bounds, the number of segments, the bounds' type, the length of each segment."""
    given = (offsets is not None, begins is not None, ends is not None, length is not None)
    if given == (False, False, False, True):
        each = index_of(length, "length")
        if each <= 0 or view.shape[0] % each:
            raise ValueError(f"length: {each}; expected one that divides the {view.shape[0]} elements")
        return [], view.shape[0] // each, None, each
    if given not in ((True, False, False, False), (False, True, True, False)):
        raise TypeError("expected offsets, or begins and ends, or length")
    bounds = [packed.view(each, name) for each, name in ((offsets, "offsets"), (begins, "begins"), (ends, "ends")) if each is not None]
    for each in bounds:
        if each.type not in ("i32", "u32", "i64", "u64") or len(each.shape) != 1:
            raise TypeError(f"bounds of segments: {each.type} with shape {each.shape}; expected one axis of i32, u32, i64 or u64")
        if each.type != bounds[0].type or each.shape != bounds[0].shape:
            raise ValueError(f"begins, ends: {bounds[0].type} with shape {bounds[0].shape} and {each.type} with {each.shape}; expected the same")
    segments = bounds[0].shape[0] - (len(bounds) == 1)
    if segments < 0:
        raise ValueError("offsets: none; expected one more than there are segments")
    return bounds, segments, bounds[0].type, 0


def _prepared_segments(
    x: Any, op: str, offsets: Any = None, *, begins: Any = None, ends: Any = None, length: Any = None, dtype: Any = None, where: Any = None,
    nan: str = "propagate", mode: str = "exact", ddof: Any = 0, check: bool = True,
) -> Prepared:  # fmt: skip
    op, packed, where = _operator(op, "op"), Packed(), _without_true(where)
    kind = kind_of(x)
    view = packed.view(x, "x")
    if len(view.shape) != 1:
        raise ValueError(f"x: shape {view.shape}; expected one axis")
    bounds, segments, index, each = _segment_inputs(packed, view, offsets, begins, ends, length)
    flags = _flags_of(ddof)
    types = (result_types(op, view.type, type_of(dtype), mode, nan, flags, kind.signed, kind.widest(x)),)
    inputs = [view, *bounds]
    names = ["x", *(("offsets",), ("begins", "ends"))[begins is not None][: len(bounds)]]
    if where is not None:
        inputs.append(packed.of(where, _mask_of(where), "where"))
        names.append("where")
        if inputs[-1].shape != view.shape:
            raise ValueError(f"where: shape {inputs[-1].shape}; expected {view.shape}, as x has")
    reductions, formed, stored = _reductions((op,), view.type, types, mode, nan, flags)
    plan = _segments_plan(reductions, segments, view.shape[0], index, each, begins is not None, int(where is not None), 0, _device(inputs))
    fallible = index is not None or _can_fail(reductions)
    return Prepared(plan, tuple(inputs), tuple(names), (segments,), formed, stored, kind, fallible, copied=packed.copied)


def segment_reduce(
    x: Any, op: str, offsets: Any = None, *, begins: Any = None, ends: Any = None, length: Any = None, dtype: Any = None, where: Any = None,
    nan: str = "propagate", mode: str = "exact", ddof: Any = 0, check: bool = True,
) -> Any:  # fmt: skip
    """Reduces stretches of an array of one axis to one result each. Segment i is x[offsets[i]:offsets[i + 1]], or
    x[begins[i]:ends[i]], or the i-th of those with this length."""
    call = _prepared_segments(
        x, op, offsets, begins=begins, ends=ends, length=length, dtype=dtype, where=where, nan=nan, mode=mode, ddof=ddof
    )
    return _finished(call, _results(call, (op,), x, check))[0]


def _segment(op: str) -> Any:
    def function(  # type: ignore[no-untyped-def]
        x, offsets=None, *, begins=None, ends=None, length=None, dtype=None, where=None, nan="propagate", mode="exact", ddof=0, check=True
    ):
        return segment_reduce(x, op, offsets, begins=begins, ends=ends, length=length, dtype=dtype, where=where, nan=nan, mode=mode, ddof=ddof,
                              check=check)  # fmt: skip

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


def _prepared_groups(
    x: Any, ops: Any, ids: Any, n: Any, *, initial: Any = None, skip: bool = False, dtype: Any = None, where: Any = None,
    nan: str = "propagate", ddof: Any = 0, check: bool = True,
) -> Prepared:  # fmt: skip
    names, packed, where = _operators(ops), Packed(), _without_true(where)
    kind = kind_of(_like(x, initial))
    view, index = packed.view(x, "x"), packed.view(ids, "ids")
    groups = index_of(n, "n")
    if groups < 0:
        raise ValueError(f"n: {groups}; expected how many groups there are")
    if not view.shape:
        raise ValueError("x: a number; expected an array of one axis or more")
    if index.type not in ("u8", "u16", "u32", "u64", "i32", "i64"):
        raise TypeError(f"ids: elements of {index.type}; expected u8 to u64, i32 or i64")
    if index.shape != view.shape[:1]:
        raise ValueError(f"ids: shape {index.shape}; expected {view.shape[:1]}, one for each element or row")
    shape = (groups, *view.shape[1:])
    inputs, given = [view, index], ["x", "ids"]
    if where is not None:
        inputs.append(packed.of(where, _mask_of(where), "where"))
        given.append("where")
        if len(view.shape) > 1 or inputs[-1].shape != view.shape:
            raise ValueError(f"where: shape {inputs[-1].shape}; expected one axis, for an x of one, which has shape {view.shape}")
    if initial is not None:
        inputs.append(packed.view(initial, "initial"))
        given.append("initial")
        if inputs[-1].type != view.type or inputs[-1].shape != shape:
            raise ValueError(f"initial: {inputs[-1].type} with shape {inputs[-1].shape}; expected {view.type} with {shape}")
    flags = _flags_of(ddof)
    widest = kind.widest(_like(x, initial))
    types = tuple([result_types(op, view.type, type_of(dtype), "exact", nan, flags, kind.signed, widest) for op in names])
    reductions, formed, stored = _reductions(names, view.type, types, "exact", nan, flags)
    width = math.prod(view.shape[1:]) if len(view.shape) > 1 else 0
    plan = None
    if 0 not in shape[1:]:
        plan = _groups_plan(reductions, groups, view.shape[0], index.type, width, skip, initial is not None, int(where is not None),
                            _device(inputs))  # fmt: skip
    return Prepared(plan, tuple(inputs), tuple(given), shape, formed, stored, kind, True, copied=packed.copied)


def _like(x: Any, initial: Any) -> Any:
    """What results are like: x, but of numbers of Python what they are added to."""
    return initial if initial is not None and isinstance(x, (list, tuple, memoryview)) else x


def group_several(
    x: Any, ops: Any, ids: Any, n: Any, *, initial: Any = None, skip: bool = False, dtype: Any = None, where: Any = None,
    nan: str = "propagate", ddof: Any = 0, check: bool = True,
) -> tuple[Any, ...]:  # fmt: skip
    """Several reductions of each group in one call: a tuple of results, in the order of the operators' names."""
    call = _prepared_groups(x, ops, ids, n, initial=initial, skip=skip, dtype=dtype, where=where, nan=nan, ddof=ddof)
    if call.plan is None:
        group_reduce(ids, "count", ids, n, skip=skip, check=check)  # rows are empty: what is left to look at is whether there are such groups
    return tuple(_finished(call, _results(call, _operators(ops), _like(x, initial), check)))


def _group(op: str) -> Any:
    def function(x, ids, n, *, initial=None, skip=False, dtype=None, where=None, nan="propagate", ddof=0, check=True):  # type: ignore[no-untyped-def]
        return group_reduce(x, op, ids, n, initial=initial, skip=skip, dtype=dtype, where=where, nan=nan, ddof=ddof, check=check)

    return function


def _index_add(act: Any) -> Any:
    def function(x, ids, values, *, check=True):  # type: ignore[no-untyped-def]
        view, added = kind_of(x).view(x, "x"), kind_of(values).view(values, "values")
        if not view.shape:
            raise ValueError("x: a number; expected an array of one axis or more")
        if added.type != view.type and isinstance(values, (list, tuple)):
            values = array_of(values, view.type, "values")
        elif added.type != view.type or added.shape[1:] != view.shape[1:] or not added.shape:
            rows = f"(n, {', '.join(map(str, view.shape[1:]))})" if len(view.shape) > 1 else "(n,)"
            raise ValueError(f"values: {added.type} with shape {added.shape}; expected {view.type} with {rows}, as x has {view.shape}")
        op = "any" if view.type == "bool" else "sum"  # as NumPy and PyTorch add truth values
        return act(values, (op,), ids, view.shape[0], initial=x, dtype=view.type, check=check)

    return function


def _named(functions: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    """The functions with these names, by which messages speak of them and they are pickled."""
    for name, function in functions.items():
        function.__name__ = function.__qualname__ = name
        function.__module__ = "pyreduct"
        function.__doc__ = text
    return functions


def _functions(act: Any) -> dict[str, Any]:
    """By the names that they have in the package, which are those of Python's own functions."""
    return _named({
        "sum": _numeric("sum", act),
        "prod": _numeric("product", act),
        "mean": _numeric("mean", act),
        "rms": _numeric("rms", act),
        "sumsq": _numeric("sumsq", act),
        "var": _spread("var", act),
        "std": _spread("std", act),
        "min": _extreme("min", act),
        "max": _extreme("max", act),
        "ptp": _range(act),
        "argmin": _index("argmin", act),
        "argmax": _index("argmax", act),
        "any": _truth("any", act),
        "all": _truth("all", act),
        "count_nonzero": _count_nonzero(act),
        "norm": _norm(act),
        "dot": _dot(act),
    })  # fmt: skip


GROUPED = ("sum", "prod", "mean", "var", "std", "rms", "norm", "min", "max", "ptp", "argmin", "argmax", "any", "all", "count_nonzero")

FUNCTIONS = _functions(_reduced)
for _names, _make in (
    (("sum", "prod", "mean"), _numeric_without_nan),
    (("var", "std"), _spread_without_nan),
    (("min", "max"), _extreme_without_nan),
    (("argmin", "argmax"), _index_without_nan),
):
    for _name in _names:
        FUNCTIONS |= _named({f"nan{_name}": _make(_name)}, f"{_name}() of the elements that are not NaN.")
for _name in GROUPED:
    FUNCTIONS |= _named({f"segment_{_name}": _segment(_name)}, f"segment_reduce() with the operator {_name!r}.")
    FUNCTIONS |= _named({f"group_{_name}": _group(_name)}, f"group_reduce() with the operator {_name!r}.")
FUNCTIONS |= _named({"index_add": _index_add(lambda *arguments, **options: group_several(*arguments, **options)[0])})
_named({"reduce": by_name}, by_name.__doc__)


# ------------------------------------------------------------------------------------------------------------------------------
# Calls that are made again: what is found out once
# ------------------------------------------------------------------------------------------------------------------------------


def _prepared_sum_of_groups(x: Any, ids: Any, n: Any, **options: Any) -> Prepared:
    return _prepared_groups(x, ("sum",), ids, n, **options)


def _prepared_sum_of_segments(x: Any, offsets: Any = None, **options: Any) -> Prepared:
    return _prepared_segments(x, "sum", offsets, **options)


PREPARED = _functions(_only_prepared)
PREPARED |= {"index_add": _index_add(_prepared_groups), "group_sum": _prepared_sum_of_groups, "segment_sum": _prepared_sum_of_segments}
_RENAMED = {"index_add": {"x": "values", "initial": "x"}}  # arguments that have other names in what index_add() calls


def remember(name: str, arguments: tuple[Any, ...], keywords: tuple[str, ...] | None) -> Any:
    """For a function of _core, whose last arguments have these keywords: what serves all calls like this one, as again.c reads it. None
    if such calls are for the functions above, as those are that look at signals."""
    function, named = PREPARED[name], keywords or ()
    plain = len(arguments) - len(named)
    options = dict(zip(named, arguments[plain:]))
    prepared = function(*arguments[:plain], **options)
    plan, inputs, names, shape, formed, types, kind, fallible, target, direct, copied = prepared
    on_device = inputs[0].device >= 0
    if plan is None or copied or plan.may_stop or formed != types or (target is not None and not direct):
        return None
    recipe = kind.recipe(shape, types[0], inputs[0].device) if hasattr(kind, "recipe") else None
    if recipe is None:
        return None
    code = function.__code__
    given = [*code.co_varnames[: code.co_argcount][:plain], *named]
    renamed = _RENAMED.get(name, {})
    places = tuple(given.index(renamed.get(each, each)) for each in names)
    number = types[0] if kind.numbers and not shape and target is None else None
    check = options.get("check", True) and (fallible or not on_device)
    return plan, places, -1 if target is None else given.index("out"), number, recipe, kind, check
