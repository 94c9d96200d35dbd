"""Exact reductions as operators of PyTorch, with its names and defaults: they work under autograd, torch.compile and vmap.

    >>> import torch, pyreduct.torch
    >>> x = torch.tensor([1e8, 1.0, -1e8], requires_grad=True)
    >>> pyreduct.torch.sum(x)
    tensor(1., grad_fn=<GeneratedBackwardFor_pyreduct_sum_defaultBackward>)

deterministic() makes PyTorch's own sums, means, variances and norms exact.
"""
from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, Optional, overload

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode

from . import _core, _functions
from ._kinds import kind_named
from ._types import type_name

__all__ = [
    "deterministic", "index_add", "mean", "norm", "rms", "scatter_add", "segment_reduce", "segment_sum", "std", "sum", "sumsq", "var",
]  # fmt: skip

Dims = Optional[Sequence[int]]
_POPULATION = _functions.POPULATION


def _dims(x: Tensor, dim: Any) -> Dims:
    """Axes as PyTorch reads them: none, or an empty list, are all, and a number has an axis 0, or -1, which is itself."""
    if not isinstance(dim, (int, list, tuple, type(None))):
        raise TypeError(f"dim: {dim!r}; expected an integer, several of them or None")
    dims = None if dim is None else [dim] if isinstance(dim, int) else list(dim)
    return None if not dims or (x.dim() == 0 and all(axis in (0, -1) for axis in dims)) else dims


_FUNCTIONS = {op: getattr(_core, op.rstrip("2")) for op in ("sum", "sumsq", "mean", "norm2", "rms", "var", "std")}


def _reduce(op: str, x: Tensor, dim: Dims, keepdim: bool, dtype: Any = None, flags: int = 0, nan: str = "propagate") -> Tensor:
    dims = _dims(x, dim)
    axis = None if dims is None else tuple(dims)
    options: dict[str, Any] = {"ddof": 0 if flags else 1} if op in ("var", "std") else {}
    if nan != "propagate":
        options["nan"] = nan
    x = x if type(x) is Tensor else x.detach()
    dtype = kind_named("torch").names.get(dtype, dtype)  # by which a call is known that was made before
    try:
        result: Tensor = _FUNCTIONS[op](x, axis=axis, keepdims=keepdim, dtype=dtype, check=False, **options)
    except Exception as error:
        raise _in_words(error)
    return result


def _in_words(error: Exception, **words: str) -> Exception:
    """An error with arguments called as they are here."""
    head, colon, rest = str(error).partition(": ")
    words = {"x": "input", "axis": "dim"} | words
    if colon and head in words:
        error.args = f"{words[head]}: {rest.replace(' as x has', ' as input has')}", *error.args[1:]
    return error


def _fake(op: str, x: Tensor, dim: Dims, keepdim: bool, dtype: Any = None, flags: int = 0) -> Tensor:
    kind = kind_named("torch")
    element = kind.names[x.dtype]
    _, result = _functions.result_types(op, element, None if dtype is None else type_name(dtype), "exact", "propagate", flags, True, 8)
    dims = _dims(x, dim)
    try:
        axes = _functions.axes_of(None if dims is None else tuple(dims), x.dim())
    except Exception as error:
        raise _in_words(error)
    shape = [1 if axes >> axis & 1 else length for axis, length in enumerate(x.shape) if keepdim or not axes >> axis & 1]
    return x.new_empty(shape, dtype=kind.types[result])


def _count(x: Tensor, dim: Dims) -> int:
    return x.numel() if dim is None else _product(x.shape[axis] for axis in dim)


def _product(lengths: Any) -> Any:
    product = 1
    for length in lengths:
        product = product * length
    return product


def _spread(x: Tensor, value: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    """A result's gradient, or the result, as one that each element of x can meet."""
    if keepdim or dim is None:
        return value.reshape([1] * x.dim()) if not keepdim else value
    for axis in sorted(axis % x.dim() for axis in dim):
        value = value.unsqueeze(axis)
    return value


def _batched(op: Any) -> Any:
    """The rule of vmap: one more axis, which is not reduced."""

    def rule(info: Any, in_dims: Any, x: Tensor, dim: Dims, *rest: Any) -> tuple[Tensor, int]:
        x = x.movedim(in_dims[0], 0)
        dims = range(x.dim() - 1) if not dim else [axis % (x.dim() - 1) for axis in dim]
        if not dims:  # numbers, of which there is nothing to reduce but themselves
            return op(x.unsqueeze(-1), [-1], False, *rest[1:]), 0
        return op(x, [axis + 1 for axis in dims], *rest), 0

    return rule


def _differentiable(name: str, op: Any, setup: Any, backward: Any, jvp: Any) -> Any:
    """The operator as it is called. Where torch.func or forward mode takes derivatives, which do not go through operators, it is a function
    of autograd: these are in PyTorch's eager mode alone, and take longer to call."""
    op.register_autograd(backward, setup_context=setup)
    members = {"forward": op, "setup_context": setup, "backward": backward, "jvp": jvp}
    function: Any = type(name, (torch.autograd.Function,), {each: staticmethod(member) for each, member in members.items()} | {"generate_vmap_rule": True})

    def call(*arguments: Any) -> Any:
        return function.apply(*arguments) if _is_transformed() else op(*arguments)

    return call


def _is_transformed() -> bool:
    return torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0


def _save(ctx: Any, *tensors: Tensor) -> None:
    ctx.save_for_backward(*tensors)
    ctx.save_for_forward(*tensors)


def _wide(*tensors: Tensor) -> Any:
    """In which type gradients and statistics are formed: of halves in float32, as PyTorch's layers do."""
    dtype = torch.float32
    for each in tensors:
        dtype = torch.promote_types(dtype, each.dtype)
    return dtype


def _register(name: str, op: Any, fake: Any, gradient: Any) -> Any:
    """An operator by its gradient, which gives for elements of x what their results change by with them, times the results' gradients.
    Results and their gradients come in a wide type and with all axes, so that what is formed of x and them is in that type."""
    op.register_fake(fake)
    torch.library.register_vmap(op, _batched(op))

    def setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, dim, ctx.keepdim, *ctx.rest = inputs
        ctx.dim = _dims(x, dim)
        _save(ctx, x, output)

    def slope(ctx: Any, x: Tensor, output: Tensor, grad: Tensor) -> Tensor:
        meet = [_spread(x, each.to(_wide(x, output)), ctx.dim, ctx.keepdim) for each in (output, grad)]
        result: Tensor = gradient(x, *meet, ctx.dim, *ctx.rest)
        return result

    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        x, output = ctx.saved_tensors
        return (slope(ctx, x, output, grad).to(x.dtype).expand(x.shape), None, None, *(None for _ in ctx.rest))

    def jvp(ctx: Any, tangent: Tensor, *_: Any) -> Any:
        x, output = ctx.saved_tensors
        return _sum(slope(ctx, x, output, torch.ones_like(output)) * tangent, ctx.dim, ctx.keepdim, output.dtype)

    return _differentiable(name, op, setup, backward, jvp)


# ------------------------------------------------------------------------------------------------------------------------------
# The operators
# ------------------------------------------------------------------------------------------------------------------------------


@torch.library.custom_op("pyreduct::sum", mutates_args=())
def _sum_op(input: Tensor, dim: Optional[Sequence[int]], keepdim: bool, dtype: Optional[torch.dtype]) -> Tensor:
    return _reduce("sum", input, dim, keepdim, dtype)


@torch.library.custom_op("pyreduct::sumsq", mutates_args=())
def _sumsq_op(input: Tensor, dim: Optional[Sequence[int]], keepdim: bool, dtype: Optional[torch.dtype]) -> Tensor:
    return _reduce("sumsq", input, dim, keepdim, dtype)


@torch.library.custom_op("pyreduct::mean", mutates_args=())
def _mean_op(input: Tensor, dim: Optional[Sequence[int]], keepdim: bool, dtype: Optional[torch.dtype]) -> Tensor:
    return _reduce("mean", input, dim, keepdim, dtype)


@torch.library.custom_op("pyreduct::norm", mutates_args=())
def _norm_op(input: Tensor, dim: Optional[Sequence[int]], keepdim: bool, dtype: Optional[torch.dtype]) -> Tensor:
    return _reduce("norm2", input, dim, keepdim, dtype)


@torch.library.custom_op("pyreduct::rms", mutates_args=())
def _rms_op(input: Tensor, dim: Optional[Sequence[int]], keepdim: bool, dtype: Optional[torch.dtype]) -> Tensor:
    return _reduce("rms", input, dim, keepdim, dtype)


@torch.library.custom_op("pyreduct::var", mutates_args=())
def _var_op(input: Tensor, dim: Optional[Sequence[int]], keepdim: bool, dtype: Optional[torch.dtype], correction: int) -> Tensor:
    return _reduce("var", input, dim, keepdim, dtype, _functions._flags_of(correction, "correction"))


@torch.library.custom_op("pyreduct::std", mutates_args=())
def _std_op(input: Tensor, dim: Optional[Sequence[int]], keepdim: bool, dtype: Optional[torch.dtype], correction: int) -> Tensor:
    return _reduce("std", input, dim, keepdim, dtype, _functions._flags_of(correction, "correction"))


@torch.library.custom_op("pyreduct::segment_sum", mutates_args=())
def _segment_sum_op(input: Tensor, offsets: Tensor) -> Tensor:
    try:
        result: Tensor = _functions.segment_reduce(input.detach(), "sum", offsets, check=not input.is_cuda)
    except Exception as error:
        raise _in_words(error, **{"bounds of segments": "offsets", "segments": "offsets"})
    return result


def _fakes(op: str) -> Any:
    def fake(x: Tensor, dim: Dims, keepdim: bool, dtype: Any, correction: int = 0) -> Tensor:
        return _fake(op, x, dim, keepdim, dtype, _functions._flags_of(correction, "correction"))

    return fake


def _where_not_zero(numerator: Tensor, denominator: Tensor) -> Tensor:
    """The quotient, and 0 where the denominator is: the gradient of a root at 0, as PyTorch has it."""
    return torch.where(denominator == 0, 0, numerator / denominator)


def _moment(x: Tensor, dim: Dims) -> Tensor:
    result: Tensor = x - _mean(x, dim, True, _wide(x))
    return result


_sum = _register("Sum", _sum_op, _fakes("sum"), lambda x, out, grad, dim, *rest: grad)
_sumsq = _register("Sumsq", _sumsq_op, _fakes("sumsq"), lambda x, out, grad, dim, *rest: x * (2 * grad))
_mean = _register("Mean", _mean_op, _fakes("mean"), lambda x, out, grad, dim, *rest: grad / _count(x, dim))
_norm = _register("Norm", _norm_op, _fakes("norm2"), lambda x, out, grad, dim, *rest: _where_not_zero(x, out) * grad)
_rms = _register("Rms", _rms_op, _fakes("rms"), lambda x, out, grad, dim, *rest: _where_not_zero(x, out) * (grad / _count(x, dim)))
_var = _register("Var", _var_op, _fakes("var"), lambda x, out, grad, dim, _, c: _moment(x, dim) * (2 * grad / (_count(x, dim) - c)))
_std = _register("Std", _std_op, _fakes("std"), lambda x, out, grad, dim, _, c: _where_not_zero(_moment(x, dim), out) * (grad / (_count(x, dim) - c)))


@_segment_sum_op.register_fake
def _(x: Tensor, offsets: Tensor) -> Tensor:
    return x.new_empty([offsets.shape[0] - 1])


def _segment_setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, offsets = inputs
    _save(ctx, offsets)
    ctx.length = x.shape[0]


def _segment_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    """Each element has the gradient of its segment; those before the first and after the last one have none."""
    (offsets,) = ctx.saved_tensors
    places = torch.arange(ctx.length, device=grad.device)
    segment = torch.searchsorted(offsets, places.to(offsets.dtype), right=True) - 1
    inside = (segment >= 0) & (segment < grad.shape[0])
    padded = torch.cat([grad, grad.new_zeros(1)])
    return padded[torch.where(inside, segment, grad.shape[0])], None


def _segment_jvp(ctx: Any, tangent: Tensor, *_: Any) -> Any:
    return _segment_sum(tangent, *ctx.saved_tensors)


_segment_sum = _differentiable("SegmentSum", _segment_sum_op, _segment_setup, _segment_backward, _segment_jvp)


@torch.library.custom_op("pyreduct::index_add", mutates_args=())
def _index_add_op(input: Tensor, index: Tensor, source: Tensor) -> Tensor:
    return _exact_index_add(input, index, source)


def _exact_index_add(x: Tensor, index: Tensor, source: Tensor, word: str = "source") -> Tensor:
    """word: what the caller calls the source."""
    x, index, source = (each.detach().contiguous() for each in (x, index, source))
    try:
        result: Tensor = _core.index_add(x, index, source, check=not (x.is_cuda and torch.cuda.is_current_stream_capturing()))
    except Exception as error:
        raise _in_words(error, ids="index", indices="index", values=word)
    return result


@_index_add_op.register_fake
def _(x: Tensor, index: Tensor, source: Tensor) -> Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _index_add_setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, index, source = inputs
    ctx.shapes = x.shape, source.shape
    _save(ctx, index)


def _index_add_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    (index,) = ctx.saved_tensors
    return grad, None, grad[index]


def _sum_of_tangents(ctx: Any, add: Any, x: Any, source: Any) -> Any:
    """Of what adds to x, whose tangent is None where it has none, as source's is."""
    given = x if source is None else source
    pair = (given.new_zeros(shape) if each is None else each for each, shape in zip((x, source), ctx.shapes))
    return add(*pair, *ctx.saved_tensors)


def _index_add_jvp(ctx: Any, x: Any, _: Any, source: Any) -> Any:
    return _sum_of_tangents(ctx, lambda x, source, index: _index_add(x, index, source), x, source)


_index_add = _differentiable("IndexAdd", _index_add_op, _index_add_setup, _index_add_backward, _index_add_jvp)


@torch.library.custom_op("pyreduct::scatter_add", mutates_args=())
def _scatter_add_op(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return _exact_scatter_add(input, dim, index, src)


def _exact_scatter_add(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    x, index, source = x.detach(), index.detach(), source.detach()
    try:
        dim = _functions._one_axis(dim, x.dim())
    except Exception as error:
        raise _in_words(error)
    if source.dtype != x.dtype:
        raise ValueError(f"src: elements of {source.dtype}; expected {x.dtype}, as input has")
    others = [axis for axis in range(x.dim()) if axis != dim]
    fits = x.dim() == index.dim() == source.dim() and all(n <= m for n, m in zip(index.shape, source.shape))
    if not fits or any(index.shape[axis] > x.shape[axis] for axis in others):
        raise ValueError(f"index: shape {tuple(index.shape)}; expected one within that of src, {tuple(source.shape)}, "
                         f"and but for dim {dim} within that of input, {tuple(x.shape)}")  # fmt: skip
    if index.numel() == 0:
        return x.clone(memory_format=torch.contiguous_format)
    source = source[tuple(slice(length) for length in index.shape)]
    if all(index.shape[axis] == x.shape[axis] and (index.stride(axis) == 0 or index.shape[axis] == 1) for axis in others):
        rows = index[tuple(slice(None) if axis == dim else 0 for axis in range(x.dim()))]  # the same ones in all columns
        return _exact_index_add(x.movedim(dim, 0), rows, source.movedim(dim, 0), "src").movedim(0, dim).contiguous()
    x = x.contiguous()
    place = index * x.stride(dim)
    for axis in others:
        steps = torch.arange(index.shape[axis], device=index.device) * x.stride(axis)
        place = place + steps.reshape([-1 if each == axis else 1 for each in range(x.dim())])
    place = torch.where((index >= 0) & (index < x.shape[dim]), place, -1)  # of no element, which is an error
    return _exact_index_add(x.flatten(), place.flatten(), source.flatten(), "src").reshape(x.shape)


@_scatter_add_op.register_fake
def _(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _scatter_add_setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, ctx.dim, index, source = inputs
    ctx.shapes = x.shape, source.shape
    _save(ctx, index)
    ctx.missing = [source.shape[axis] - index.shape[axis] for axis in range(source.dim())]


def _scatter_add_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    """Elements of src beyond the index have no gradient."""
    (index,) = ctx.saved_tensors
    padding = [each for missing in reversed(ctx.missing) for each in (0, missing)]
    return grad, None, None, torch.nn.functional.pad(grad.gather(ctx.dim, index), padding)


def _scatter_add_jvp(ctx: Any, x: Any, dim: Any, index: Any, source: Any) -> Any:
    return _sum_of_tangents(ctx, lambda x, source, index: _scatter_add(x, ctx.dim, index, source), x, source)


_scatter_add = _differentiable("ScatterAdd", _scatter_add_op, _scatter_add_setup, _scatter_add_backward, _scatter_add_jvp)


_OF_NOTHING = {"sum": 0.0, "mean": float("nan"), "min": float("inf"), "max": float("-inf")}  # as PyTorch has it


@torch.library.custom_op("pyreduct::segment_reduce", mutates_args=())
def _segment_reduce_op(data: Tensor, reduce: str, lengths: Tensor) -> Tensor:
    return _exact_segment_reduce(data, reduce, lengths)


def _are_lengths(x: Tensor, lengths: Tensor) -> bool:
    """Whether these are lengths of stretches of x's first axis that are all of it."""
    return x.dim() > 0 and lengths.dim() == 1 and not lengths.is_floating_point() and not bool((lengths < 0).any()) and int(lengths.sum()) == x.shape[0]


def _exact_segment_reduce(x: Tensor, reduce: str, lengths: Tensor, initial: Any = None) -> Tensor:
    """With an initial value that is one element more of each."""
    x, lengths = x.detach().contiguous(), lengths.detach()
    if reduce not in _OF_NOTHING:
        raise ValueError(f"reduce: {reduce!r}; expected one of {', '.join(_OF_NOTHING)}")
    if not _are_lengths(x, lengths):
        raise ValueError(f"lengths: {lengths.dtype} with shape {tuple(lengths.shape)}; expected one axis of integers whose sum is the length of data's first axis")
    result = x.new_full((len(lengths), *x.shape[1:]), _OF_NOTHING[reduce] if initial is None else initial)
    if x.numel():
        filled = lengths > 0
        each = lengths[filled]
        ids = torch.arange(len(each), device=x.device).repeat_interleave(each)
        result[filled] = _functions.group_reduce(x, reduce, ids, len(each), initial=None if initial is None else result[filled])
    return result


@_segment_reduce_op.register_fake
def _(x: Tensor, reduce: str, lengths: Tensor) -> Tensor:
    return x.new_empty([lengths.shape[0], *x.shape[1:]])


def _segment_reduce_setup(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, ctx.reduce, lengths = inputs
    _save(ctx, x, lengths, output)


def _segment_slope(reduce: str, x: Tensor, lengths: Tensor, output: Tensor, grad: Tensor) -> Tensor:
    """As PyTorch has it: of a minimum or maximum all elements that are equal to it share the gradient."""

    def each(values: Tensor) -> Tensor:
        return values.repeat_interleave(lengths, 0, output_size=x.shape[0])

    if reduce == "sum":
        return each(grad)
    if reduce == "mean":
        return each(grad / lengths.reshape([-1] + [1] * (x.dim() - 1)))
    extreme = (x == each(output)) | x.isnan()
    count = _segment_reduce(extreme.to(grad.dtype), "sum", lengths)
    return torch.where(extreme, each(grad / count), 0)


def _segment_reduce_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    x, lengths, output = ctx.saved_tensors
    return _segment_slope(ctx.reduce, x, lengths, output, grad.to(_wide(x))).to(x.dtype), None, None


def _segment_reduce_jvp(ctx: Any, tangent: Tensor, *_: Any) -> Any:
    x, lengths, output = ctx.saved_tensors
    slope = _segment_slope(ctx.reduce, x, lengths, output, torch.ones_like(output, dtype=_wide(x)))
    return _segment_reduce(slope * tangent, "sum", lengths).to(output.dtype)


_segment_reduce = _differentiable("SegmentReduce", _segment_reduce_op, _segment_reduce_setup, _segment_reduce_backward, _segment_reduce_jvp)


# ------------------------------------------------------------------------------------------------------------------------------
# As users call them
# ------------------------------------------------------------------------------------------------------------------------------


def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum, rounded once to the type."""
    return _sum(input, _dims(input, dim), keepdim, dtype)


def sumsq(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum of squares, rounded once."""
    return _sumsq(input, _dims(input, dim), keepdim, dtype)


def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Mean, rounded once."""
    return _mean(input, _dims(input, dim), keepdim, dtype)


def norm(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Euclidean norm, rounded once."""
    return _norm(input, _dims(input, dim), keepdim, dtype)


def rms(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Root mean square, rounded once."""
    return _rms(input, _dims(input, dim), keepdim, dtype)


def var(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """Variance, of a sample unless told otherwise, rounded once."""
    return _var(input, _dims(input, dim), keepdim, dtype, correction)


def std(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """Standard deviation, of a sample unless told otherwise, rounded once."""
    return _std(input, _dims(input, dim), keepdim, dtype, correction)


def segment_sum(input: Tensor, offsets: Tensor) -> Tensor:
    """Sums of input[offsets[i]:offsets[i + 1]], rounded once each."""
    return _segment_sum(input, offsets)


@overload
def index_add(input: Tensor, index: Tensor, source: Tensor) -> Tensor: ...
@overload
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor: ...
def index_add(input: Tensor, *arguments: Any, **named: Any) -> Tensor:
    """input with each source[i] added to input[index[i]], each result rounded once; or along another axis, dim, as torch.index_add() has
    it: index_add(input, dim, index, source)."""
    names = ("dim", "index", "source")[len(arguments) + len(named) < 3 :]
    given = {**dict(zip(names, arguments)), **named}
    if len(given) != len(names) or len(arguments) + len(named) != len(names) or given.keys() != set(names):
        raise TypeError("index_add(): expected input, index and source, or input, dim, index and source")
    dim, index, source = given.get("dim", 0), given["index"], given["source"]
    if not dim:
        return _index_add(input, index, source)
    return _index_add(input.movedim(dim, 0), index, source.movedim(dim, 0)).movedim(0, dim)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """input with each element of src added at the place that has index instead of its own place along dim, each result rounded once."""
    return _scatter_add(input, dim, index, src)


def segment_reduce(data: Tensor, reduce: str, *, lengths: Optional[Tensor] = None, offsets: Optional[Tensor] = None) -> Tensor:
    """"sum", "mean", "min" or "max" of stretches of the first axis, which follow one another, each rounded once. Those that are empty have
    0, NaN, inf and -inf."""
    return _segment_reduce(data, reduce, _lengths_of(lengths, offsets))


def _lengths_of(lengths: Optional[Tensor], offsets: Optional[Tensor]) -> Tensor:
    if (lengths is None) == (offsets is None):
        raise TypeError("segment_reduce(): expected lengths, or offsets")
    return lengths if lengths is not None else offsets.diff()  # type: ignore[union-attr]


# ------------------------------------------------------------------------------------------------------------------------------
# PyTorch's own operators, exact
# ------------------------------------------------------------------------------------------------------------------------------


def _is_ours(x: Tensor) -> bool:
    """Dense floats in memory that the library reads: not what only has a shape, as while something is compiled, or is a tensor by operators
    of its own."""
    plain = type(x).__torch_dispatch__ is Tensor.__torch_dispatch__
    return plain and x.dtype in _FLOATS and x.layout is torch.strided and x.device.type in ("cpu", "cuda")


_FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _aten_reduction(op: str, nan: str = "propagate") -> Any:
    def function(x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        return _reduce(op, x, dim, keepdim, dtype, 0, nan) if dtype is None or dtype in _FLOATS else NotImplemented

    return function


def _aten_spread(op: str) -> Any:
    def function(x: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
        correction = 1 if correction is None else correction
        if correction not in (0, 1):
            return NotImplemented
        return _reduce(op, x, dim, keepdim, None, _functions._flags_of(correction))

    return function


def _aten_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return _reduce("norm2", x, dim, keepdim, dtype) if ord == 2 and (dtype is None or dtype in _FLOATS) else NotImplemented


def _aten_index_add(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Any:
    """What is added times alpha is rounded before, as PyTorch has it."""
    if x.dim() == 0 or source.dim() == 0 or index.dim() != 1 or source.dtype != x.dtype:
        return NotImplemented
    source = source if alpha == 1 else source * alpha
    return _exact_index_add(x.movedim(dim, 0), index, source.movedim(dim, 0)).movedim(0, dim)


def _aten_scatter_add(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Any:
    are_alike = x.dim() and index.dim() and source.dim() and source.dtype == x.dtype
    return _exact_scatter_add(x, dim, index, source) if are_alike else NotImplemented


def _aten_scatter(x: Tensor, dim: int, index: Tensor, source: Any, *, reduce: str) -> Any:
    if reduce != "add":
        return NotImplemented
    return _aten_scatter_add(x, dim, index, source if isinstance(source, Tensor) else x.new_full(index.shape, source))


def _aten_scatter_reduce(x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True) -> Any:
    if reduce != "sum" or not index.dim():
        return NotImplemented
    return _aten_scatter_add(x if include_self else x.scatter(dim, index, 0), dim, index, source)


def _aten_index_put(x: Tensor, indices: Any, values: Tensor, accumulate: bool = False, unsafe: bool = False) -> Any:
    """As an addition to rows: the axes that indices are of become one."""
    if not accumulate or values.dtype != x.dtype:
        return NotImplemented
    truths = (torch.bool, torch.uint8)
    indexed = builtins.sum(1 if each is None or each.dtype not in truths else each.dim() for each in indices)
    row = x.shape[indexed:]
    places = torch.arange(_product(x.shape[:indexed]), device=x.device).reshape(x.shape[:indexed])
    places = places[tuple(slice(None) if each is None else each for each in indices)]
    values = values.expand(*places.shape, *row)
    return _exact_index_add(x.reshape(-1, *row), places.flatten(), values.reshape(-1, *row)).reshape(x.shape) if values.numel() else x.clone()


def _aten_embedding_backward(grad: Tensor, indices: Tensor, count: int, padding: int, by_frequency: bool) -> Any:
    if by_frequency:
        return NotImplemented
    kept = indices.flatten() != padding
    rows = grad.reshape(-1, grad.shape[-1])[kept]
    return _exact_index_add(grad.new_zeros(count, grad.shape[-1]), indices.flatten()[kept], rows)


def _aten_segment_reduce(
    x: Tensor, reduce: str, *, lengths: Any = None, indices: Any = None, offsets: Any = None, axis: int = 0, unsafe: bool = False, initial: Any = None
) -> Any:
    """Axes before the one that is reduced have lengths of their own, so that all of them are one."""
    given = lengths if lengths is not None else offsets
    if reduce not in _OF_NOTHING or indices is not None or given is None or given.dim() != axis + 1 or (reduce == "mean" and initial):
        return NotImplemented
    each = _lengths_of(lengths, None if lengths is not None else offsets)
    length, total = x.shape[axis], each.sum(-1)
    if axis == 0 and unsafe and 0 <= total <= length:
        x = x[: int(total)]  # what is not checked may be less
    elif bool((total != length).any()):
        return NotImplemented
    rows = x.flatten(0, axis)
    if not _are_lengths(rows, each.flatten()):
        return NotImplemented
    return _exact_segment_reduce(rows, reduce, each.flatten(), initial).reshape(*each.shape, *rows.shape[1:])


def _in_place(function: Any) -> Any:
    def of(x: Tensor, *arguments: Any, **options: Any) -> Any:
        result = function(x, *arguments, **options)
        return result if result is NotImplemented else x.copy_(result)

    return of


def _into(function: Any) -> Any:
    """What writes its result into out, of whose type it then is."""

    def of(x: Tensor, *arguments: Any, out: Tensor, **options: Any) -> Any:
        if not _is_ours(out) or options.get("dtype", out.dtype) not in (None, out.dtype):
            return NotImplemented
        if "dtype" in (function.__kwdefaults__ or ()):
            options["dtype"] = out.dtype
        result = function(x, *arguments, **options)
        if result is NotImplemented or result.dtype != out.dtype:
            return NotImplemented
        if out.shape != result.shape:
            out.resize_(result.shape)
        return out.copy_(result)

    return of


def _last(x: Tensor, shape: Any) -> list[int]:
    return list(range(x.dim() - len(shape), x.dim()))


def _layer_norm(x: Tensor, shape: Any, weight: Any, bias: Any, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    dims, wide = _last(x, shape), _wide(x)
    middle = _reduce("mean", x, dims, True, wide)
    scale = torch.rsqrt(_reduce("var", x, dims, True, wide, _POPULATION) + eps)
    y = (x.to(wide) - middle) * scale
    y = y if weight is None else y * weight
    y = y if bias is None else y + bias
    return y.to(x.dtype), middle, scale


def _layer_norm_backward(
    grad: Tensor, x: Tensor, shape: Any, middle: Tensor, scale: Tensor, weight: Any, bias: Any, mask: Any
) -> tuple[Any, Any, Any]:
    dims, wide = _last(x, shape), _wide(x)
    batch = list(range(x.dim() - len(shape)))
    grad = grad.to(wide)
    normal = (x.to(wide) - middle) * scale
    inner = grad if weight is None else grad * weight
    dx = dweight = dbias = None
    if mask[0]:
        dx = scale * (inner - _reduce("mean", inner, dims, True) - normal * _reduce("mean", inner * normal, dims, True))
        dx = dx.to(x.dtype)
    if mask[1]:
        dweight = (_reduce("sum", grad * normal, batch, False) if batch else grad * normal).to(weight.dtype)
    if mask[2]:
        dbias = (_reduce("sum", grad, batch, False) if batch else grad).to(bias.dtype)
    return dx, dweight, dbias


def _rms_norm(x: Tensor, shape: Any, weight: Any, eps: Any) -> tuple[Tensor, Tensor]:
    dims, wide = _last(x, shape), _wide(x)
    eps = torch.finfo(wide).eps if eps is None else eps
    squares = _reduce("sumsq", x, dims, True, wide) / _count(x, dims)
    scale = torch.rsqrt(squares + eps)
    y = x.to(wide) * scale
    return (y if weight is None else y * weight).to(x.dtype), scale


def _rms_norm_backward(grad: Tensor, x: Tensor, shape: Any, scale: Tensor, weight: Any, mask: Any) -> tuple[Any, Any]:
    dims, wide = _last(x, shape), _wide(x)
    batch = list(range(x.dim() - len(shape)))
    grad = grad.to(wide)
    normal = x.to(wide) * scale
    inner = grad if weight is None else grad * weight
    dx = dweight = None
    if mask[0]:
        dx = (scale * (inner - normal * _reduce("mean", inner * normal, dims, True))).to(x.dtype)
    if mask[1]:
        dweight = (_reduce("sum", grad * normal, batch, False) if batch else grad * normal).to(weight.dtype)
    return dx, dweight


def _table() -> dict[Any, tuple[Any, int]]:
    """Of each operator that is replaced: by what, and the place of the tensor that decides. PyTorch has more of them in later
    versions."""
    aten = torch.ops.aten
    table: dict[Any, tuple[Any, int]] = {
        aten.native_layer_norm.default: (_layer_norm, 0),
        aten.native_layer_norm_backward.default: (_layer_norm_backward, 1),
        aten.embedding_dense_backward.default: (_aten_embedding_backward, 0),
        aten.index_put.default: (_aten_index_put, 0),
        aten._unsafe_index_put.default: (_aten_index_put, 0),
        aten.index_put_.default: (_in_place(_aten_index_put), 0),
        aten._index_put_impl_.default: (_in_place(_aten_index_put), 0),
        aten.scatter.value_reduce: (_aten_scatter, 0),
        aten.scatter_.value_reduce: (_in_place(_aten_scatter), 0),
    }
    for exact, plain, into in (
        (_aten_reduction("sum"), aten.sum.default, aten.sum.out),
        (_aten_reduction("sum"), aten.sum.dim_IntList, aten.sum.IntList_out),
        (_aten_reduction("sum", "ignore"), aten.nansum.default, aten.nansum.out),
        (_aten_reduction("mean"), aten.mean.default, aten.mean.dtype_out),
        (_aten_reduction("mean"), aten.mean.dim, aten.mean.out),
        (_aten_spread("var"), aten.var.correction, aten.var.correction_out),
        (_aten_spread("std"), aten.std.correction, aten.std.correction_out),
        (_aten_norm, aten.linalg_vector_norm.default, aten.linalg_vector_norm.out),
        (_aten_index_add, aten.index_add.default, aten.index_add.out),
        (_aten_scatter_add, aten.scatter_add.default, aten.scatter_add.out),
        (_aten_scatter, aten.scatter.reduce, aten.scatter.reduce_out),
        (_aten_scatter_reduce, aten.scatter_reduce.two, aten.scatter_reduce.two_out),
        (_aten_segment_reduce, aten.segment_reduce.default, aten.segment_reduce.out),
    ):
        table[plain], table[into] = (exact, 0), (_into(exact), 0)
    for exact, in_place in (
        (_aten_index_add, aten.index_add_.default),
        (_aten_scatter_add, aten.scatter_add_.default),
        (_aten_scatter, aten.scatter_.reduce),
        (_aten_scatter_reduce, aten.scatter_reduce_.two),
    ):
        table[in_place] = _in_place(exact), 0
    if hasattr(aten, "_fused_rms_norm"):
        table[aten._fused_rms_norm.default] = (_rms_norm, 0)
        table[aten._fused_rms_norm_backward.default] = (_rms_norm_backward, 1)
    return table


class deterministic(TorchDispatchMode):
    """Within `with deterministic():` PyTorch's sums, means, variances and Euclidean norms, the statistics of LayerNorm and RMSNorm,
    and index_add, scatter_add, segment_reduce, index_put and scatter_reduce where they add are exact, and so the same bits on every device, in
    every batch, in every order; in backward passes, too. For code that is not compiled, in the thread that is within; compiled code calls this
    module's functions."""

    def __init__(self) -> None:
        super().__init__()
        self._replaced = _table()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        exact, place = self._replaced.get(func, (None, 0))
        if exact is not None and len(args) > place and _is_ours(args[place]) and args[place].numel():
            result = exact(*args, **kwargs)
            if result is not NotImplemented:
                return result
        return func(*args, **kwargs)
