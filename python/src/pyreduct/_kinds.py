"""Kinds of arrays: how each is looked into, and how results of its kind are made.

A kind has: view(x, name), a View of x's memory; writable(x, name), one that may be written; output(shape, type, like), a new
array and a View of it; finish(array, type), what the caller gets; recipe(shape, type, device), the function, arguments and keywords
that make an array of which that is true as it is, or None; numbers, whether results of no axes are numbers instead; signed, whether sums of unsigned elements are signed;
widest(x), how many bytes an element of what is like x may have, 8 or 4; exactly(x, type), the same numbers as ones of another type, or None;
queues, whether executions on arrays of a CUDA device are queued in the
current stream, with scratch(), stream(), capturing() and to_host() for it, packed(x), a copy there whose elements lie one after another, and
narrowed(array, type, check), integers in a narrower type and whether they fit, which is looked at to check alone.
"""
from __future__ import annotations

import array as _array
import functools
import math
import operator
import struct
import sys
from typing import Any

from . import _core
from ._types import LONG, SIZES, WIDE, of_interface, type_name

View = _core.View


def index_of(value: Any, name: str, expected: str = "an integer") -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r}; expected {expected}") from None


def _refusal(numbers: Any, code: str, expected: str, name: str) -> Exception:
    """What is wrong with the first of these numbers that the format has not."""
    for number in numbers:
        try:
            struct.pack(f"={code}", number)
        except (struct.error, TypeError, OverflowError):
            beyond = hasattr(number, "__index__") or (code in "fd" and isinstance(number, float))
            return (OverflowError if beyond else TypeError)(f"{name}: {number!r}; {expected}")
    return TypeError(f"{name}: {expected}")


def array_of(numbers: Any, kind: str, name: str) -> memoryview:
    """A list's or tuple's numbers as ones of this type, which integers must be exactly."""
    code = Buffer.formats.get(kind)
    if code is None or code == "e":  # a memoryview of which is had from Python 3.12 on
        raise TypeError(f"{name}: numbers of Python; expected an array of {kind}")
    try:
        data = bytearray(struct.pack(f"={len(numbers)}{code}", *numbers))
    except (struct.error, TypeError, OverflowError):
        raise _refusal(numbers, code, f"expected numbers that {kind} can be", name) from None
    result = memoryview(data).cast(code)
    made = result.tolist()
    if made != list(numbers):
        for number, same in zip(numbers, made):
            if hasattr(number, "__index__") and number != same:
                raise OverflowError(f"{name}: the integer {number}, which no {kind} is equal to; expected numbers that {kind} can be")
    return result


def numbers_as(numbers: Any, kind: str, name: str) -> Any:
    """A view of a list's or tuple's numbers as ones of this type."""
    return View.buffer(array_of(numbers, kind, name), False, name)


def _strides_of(interface: dict[str, Any], size: int, name: str) -> tuple[int, ...] | None:
    strides = interface.get("strides")
    if strides is None:
        return None
    if any(stride % size for stride, length in zip(strides, interface["shape"]) if length > 1):
        raise TypeError(f"{name}: strides {strides}, which are no multiples of the {size} bytes of an element")
    return tuple(stride // size for stride in strides)


def _of_interface(interface: dict[str, Any], device: int, owner: Any, name: str, kind: str | None = None) -> Any:
    address, readonly = interface["data"]
    kind = kind or of_interface(interface["typestr"], name)
    strides = _strides_of(interface, SIZES[kind], name)
    return View.pointer(address or 0, kind, tuple(interface["shape"]), strides, readonly, device, owner)


class Kind:
    """What most kinds have."""

    numbers = False
    signed = False
    queues = False

    def widest(self, x: Any) -> int:
        return 8

    def exactly(self, x: Any, kind: str) -> Any:
        return None


def _if_equal(x: Any, made: Any, back: Any) -> Any:
    """What was made of x, if it is the same numbers: by themselves, of which some are rounded to compare them, and made what they were."""
    same = (made == x) & (back == x)
    return made if bool((same | ((x != x) & (made != made))).all()) else None


class NumPy(Kind):
    """numpy.ndarray and NumPy's scalars. numpy.bool of bytes and bfloat16 of the package ml_dtypes are among the types."""

    numbers = True

    def __init__(self) -> None:
        import numpy

        self.numpy = numpy
        self.ndarray = numpy.ndarray
        self.types = {short: numpy.dtype(long) for short, long in LONG.items() if short != "bf16"}
        self.read = frozenset(self.types.values())
        _core.use_numpy(numpy.ndarray, {short: dtype.type for short, dtype in self.types.items()})

    def dtype(self, kind: str) -> Any:
        if kind == "bf16":
            import ml_dtypes

            return ml_dtypes.bfloat16
        return self.types[kind]

    def _look(self, x: Any, writable: bool, name: str) -> Any:
        if type(x) is self.ndarray and x.dtype in self.read:
            return View.buffer(x, writable, name)
        x = self.numpy.asanyarray(x)
        if isinstance(x, self.numpy.ma.MaskedArray):
            raise TypeError(f"{name}: a masked array; pass its data, and where=~x.mask")
        if x.dtype.name == "bfloat16":
            bits = x.view(self.numpy.uint16)
            if writable and not bits.flags.writeable:
                raise ValueError(f"{name}: read-only; expected an array that can be written")
            return _of_interface(bits.__array_interface__, -1, bits, name, "bf16")
        if x.dtype.kind in "mM":
            raise TypeError(f"{name}: elements of {x.dtype}; expected numbers, such as x.view('int64') of them")
        if x.dtype not in self.read:
            swapped = "" if x.dtype.isnative else ", which are byte-swapped"
            raise TypeError(f"{name}: elements of {x.dtype}{swapped}; expected real floats of 16 to 64 bits, integers or bool, in the machine's byte order")
        return View.buffer(x, writable, name)

    def view(self, x: Any, name: str) -> Any:
        return self._look(x, False, name)

    def writable(self, x: Any, name: str) -> Any:
        return self._look(x, True, name)

    def output(self, shape: tuple[int, ...], kind: str, like: Any) -> tuple[Any, Any]:
        if kind in WIDE:
            made = self.numpy.empty((*shape, SIZES[kind] // 8), "u8")
            return made, View.pointer(made.ctypes.data, kind, shape, None, False, -1, made)
        made = self.numpy.empty(shape, self.dtype(kind))
        return made, self.writable(made, "out")

    def exactly(self, x: Any, kind: str) -> Any:
        x = self.numpy.asarray(x)
        with self.numpy.errstate(all="ignore"):
            made = x.astype(self.dtype(kind))
            return _if_equal(x, made, made.astype(x.dtype))

    def recipe(self, shape: tuple[int, ...], kind: str, device: int) -> Any:
        return (self.numpy.empty, (shape, self.types[kind]), {}) if kind in self.types else None

    def finish(self, made: Any, kind: str) -> Any:
        if kind in WIDE:
            flat = made.reshape(-1, SIZES[kind] // 8)
            numbers = self.numpy.empty(len(flat), object)
            numbers[:] = [_core.number(kind, row.tobytes()) for row in flat]
            made = numbers.reshape(made.shape[:-1])
        return made[()]


class Torch(Kind):
    """torch.Tensor, on a CPU or a CUDA device."""

    signed = True  # torch.uint64 has few functions
    queues = True

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.types = {short: getattr(torch, long) for short, long in LONG.items() if hasattr(torch, long)}
        self.names = {dtype: short for short, dtype in self.types.items()}
        self.exchanges = _core.use_tensors(torch.Tensor)

    def dtype(self, kind: str) -> Any:
        return self.types[kind]

    def view(self, x: Any, name: str) -> Any:
        kind = self.names.get(x.dtype)
        if kind is None or x.layout is not self.torch.strided:
            raise TypeError(f"{name}: a tensor of {x.dtype} and {x.layout}; expected a dense one of real numbers")
        place = x.device
        if place.type not in ("cpu", "cuda"):
            raise TypeError(f"{name}: a tensor on '{place}'; expected a CPU or a CUDA device")
        if type(x) is not self.torch.Tensor and x.untyped_storage().device != place:
            raise TypeError(f"{name}: a {type(x).__name__}, which has no elements on '{place}'; expected a tensor with memory")
        if x.is_neg():
            x = x.resolve_neg()
        return View.pointer(x.data_ptr(), kind, tuple(x.shape), x.stride(), False, -1 if place.type == "cpu" else place.index, x)

    def writable(self, x: Any, name: str) -> Any:
        if x.requires_grad or x.is_neg():
            raise ValueError(f"{name}: a tensor that requires a gradient, or of negated memory, cannot be written")
        return self.view(x, name)

    def output(self, shape: tuple[int, ...], kind: str, like: Any) -> tuple[Any, Any]:
        if kind in WIDE:
            raise TypeError(f"dtype: PyTorch has no '{kind}'")
        made = self.torch.empty(shape, dtype=self.types[kind], device=like.device)
        return made, self.view(made, "out")

    def exactly(self, x: Any, kind: str) -> Any:
        made = x.to(self.types[kind])
        return _if_equal(x, made, made.to(x.dtype))

    def recipe(self, shape: tuple[int, ...], kind: str, device: int) -> Any:
        if not self.exchanges or kind not in self.types:
            return None
        place = self.torch.device("cpu") if device < 0 else self.torch.device("cuda", device)
        made = {"dtype": self.types[kind], "device": place}
        few = math.prod(shape) < 2
        # In little more than half the time of empty() with options. Of one element that stands for many, preserving its strides gives C order.
        return self.torch.empty_like, (self.torch.empty(shape, **made) if few else self.torch.empty((), **made).expand(shape),), {}

    def finish(self, made: Any, kind: str) -> Any:
        return made

    def scratch(self, size: int, like: Any) -> tuple[Any, int]:
        made = self.torch.empty(size, dtype=self.torch.uint8, device=like.device)
        return made, made.data_ptr()

    def stream(self, like: Any) -> int:
        return int(self.torch.cuda.current_stream(like.device).cuda_stream)

    def capturing(self, like: Any) -> bool:
        with self.torch.cuda.device(like.device):
            return bool(self.torch.cuda.is_current_stream_capturing())

    def packed(self, x: Any) -> Any:
        return x.contiguous()

    def narrowed(self, made: Any, kind: str, check: bool) -> tuple[Any, bool]:
        narrow = made.to(self.types[kind])
        fits = narrow == made
        return self.torch.where(fits, narrow, 0), not check or bool(fits.all())

    def synchronize(self, like: Any) -> None:
        self.torch.cuda.current_stream(like.device).synchronize()

    def to_host(self, made: Any) -> bytes:
        return bytes(made.cpu().numpy())


class CuPy(Kind):
    """cupy.ndarray; what else has __cuda_array_interface__ is looked at through CuPy."""

    queues = True

    def __init__(self) -> None:
        try:
            import cupy
        except ImportError:
            raise ImportError("what has __cuda_array_interface__ alone is read by CuPy, which makes its results, too, and is not installed; expected CuPy, "
                              "or an array with DLPack") from None

        self.cupy = cupy
        self.types = {short: cupy.dtype(long) for short, long in LONG.items() if short != "bf16"}
        _core.use_cupy(cupy.ndarray, cupy.cuda.Stream, cupy.cuda.runtime.getDevice, cupy.cuda.get_current_stream, self.types)

    def dtype(self, kind: str) -> Any:
        return self.types[kind] if kind in self.types else self.cupy.dtype(LONG[kind])

    def _array(self, x: Any) -> Any:
        return x if isinstance(x, self.cupy.ndarray) else self.cupy.asarray(x)

    def view(self, x: Any, name: str) -> Any:
        x = self._array(x)
        kind = "bf16" if x.dtype.name == "bfloat16" else None
        return _of_interface(x.__cuda_array_interface__, x.device.id, x, name, kind)

    def writable(self, x: Any, name: str) -> Any:
        return self.view(x, name)

    def output(self, shape: tuple[int, ...], kind: str, like: Any) -> tuple[Any, Any]:
        if kind in WIDE:
            raise TypeError(f"dtype: CuPy has no '{kind}'")
        with self._array(like).device:
            made = self.cupy.empty(shape, self.dtype(kind))
        return made, self.view(made, "out")

    def recipe(self, shape: tuple[int, ...], kind: str, device: int) -> Any:
        return (self.cupy.ndarray, (shape, self.types[kind]), {}) if kind in self.types else None

    def finish(self, made: Any, kind: str) -> Any:
        return made

    def scratch(self, size: int, like: Any) -> tuple[Any, int]:
        with self._array(like).device:
            made = self.cupy.empty(size, "u1")
        return made, made.data.ptr

    def stream(self, like: Any) -> int:
        with self._array(like).device:
            return int(self.cupy.cuda.get_current_stream().ptr)

    def packed(self, x: Any) -> Any:
        with self._array(x).device:
            return self.cupy.ascontiguousarray(self._array(x))

    def narrowed(self, made: Any, kind: str, check: bool) -> tuple[Any, bool]:
        with made.device:
            narrow = made.astype(self.types[kind])
            fits = narrow == made
            return self.cupy.where(fits, narrow, self.cupy.zeros_like(narrow)), not check or bool(fits.all())

    def synchronize(self, like: Any) -> None:
        with self._array(like).device:
            self.cupy.cuda.get_current_stream().synchronize()

    def to_host(self, made: Any) -> bytes:
        with made.device:
            return bytes(self.cupy.asnumpy(made))


_DLPACK = (1, 1)  # the newest version that is read here
_ON_HOST, _ON_CUDA = (1, 3), (2, 13)  # types of devices


@functools.lru_cache(maxsize=16)
def _has_64_bits(namespace: Any, integral: str) -> bool:
    """Whether a name space of the array API has them while its integers are of this type by default: JAX has both by an option. What it has
    takes long to ask."""
    return "int64" in namespace.__array_namespace_info__().dtypes()


class DLPack(Kind):
    """What has __dlpack__, such as JAX's arrays. Results are formed in host memory, and become arrays of the same kind, if it has
    a name space of the array API, on the same device; otherwise NumPy's."""

    def __init__(self) -> None:
        self.host = kind_named("numpy")

    def dtype(self, kind: str) -> Any:
        return self.host.dtype(kind)

    def widest(self, x: Any) -> int:
        namespace: Any = x.__array_namespace__() if hasattr(x, "__array_namespace__") else None
        if not hasattr(namespace, "__array_namespace_info__"):
            return 8
        return 8 if _has_64_bits(namespace, str(namespace.__array_namespace_info__().default_dtypes()["integral"])) else 4

    @staticmethod
    def _capsule(x: Any, stream: Any, **options: Any) -> Any:
        """With the options, or as much of them as the object knows; what it refuses in other words than Python's is final."""
        for known in (options, {name: value for name, value in options.items() if name == "max_version"}):
            try:
                return x.__dlpack__(stream=stream, **known)
            except TypeError:
                pass
        return x.__dlpack__(stream=stream)

    def view(self, x: Any, name: str) -> Any:
        try:
            device = x.__dlpack_device__()[0]
        except AttributeError:
            raise TypeError(f"{name}: a {type(x).__name__}, which has no elements; expected an array, as outside of what JAX compiles") from None
        if device not in _ON_HOST + _ON_CUDA:
            raise TypeError(f"{name}: memory of DLPack's device type {int(device)}; expected a CPU's or a CUDA device's")
        try:
            return self._view(x, device, name)
        except RuntimeError as error:  # such as JAX's for types that DLPack has not
            raise TypeError(f"{name}: elements of {getattr(x, 'dtype', 'a type')} that DLPack does not give: {error}") from error

    def _view(self, x: Any, device: int, name: str) -> Any:
        if device in _ON_HOST:
            return View.capsule(self._capsule(x, None, max_version=_DLPACK), name)
        if not hasattr(x, "block_until_ready"):  # in host memory the data are there when the call returns
            return View.capsule(x.__dlpack__(max_version=_DLPACK, dl_device=(1, 0)), name)
        self.synchronize(x)
        return View.capsule(self._capsule(x, 1, max_version=_DLPACK), name)  # the legacy default stream

    def writable(self, x: Any, name: str) -> Any:
        """Only DLPack from version 1.0 on tells what may be written."""
        if x.__dlpack_device__()[0] not in _ON_HOST:
            raise TypeError(f"{name}: a {type(x).__name__} that is not in host memory; expected a CuPy array or a tensor of PyTorch there")
        view = View.capsule(self._capsule(x, None, max_version=_DLPACK, copy=False), name)
        if view.readonly:
            raise TypeError(f"{name}: a {type(x).__name__} of which DLPack does not say that it may be written")
        return view

    def output(self, shape: tuple[int, ...], kind: str, like: Any) -> tuple[Any, Any]:
        made, view = self.host.output(shape, kind, like)
        return _Hosted(made, like), view

    def finish(self, made: Any, kind: str) -> Any:
        if not isinstance(made, _Hosted):
            return made
        namespace = getattr(type(made.like), "__array_namespace__", None)
        if namespace is None or kind in WIDE:
            return self.host.finish(made.made, kind)
        return namespace(made.like).asarray(made.made, device=made.like.device)

    def synchronize(self, like: Any) -> None:
        getattr(like, "block_until_ready", lambda: None)()


class _Hosted:
    """A result in host memory, on its way to what it is like."""

    def __init__(self, made: Any, like: Any) -> None:
        self.made, self.like = made, like


class Buffer(Kind):
    """What has the buffer protocol alone, such as array.array, memoryview and mmap. Results are numbers and memoryviews."""

    formats: dict[str, Any] = {"f64": "d", "f32": "f", "f16": "e", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I",
               "u64": "Q", "bool": "?"}  # fmt: skip

    def dtype(self, kind: str) -> Any:
        return kind

    def view(self, x: Any, name: str) -> Any:
        return View.buffer(x, False, name)

    def writable(self, x: Any, name: str) -> Any:
        return View.buffer(x, True, name)

    def output(self, shape: tuple[int, ...], kind: str, like: Any) -> tuple[Any, Any]:
        made = _array.array("Q", bytes(8 * ((math.prod(shape) * SIZES[kind] + 7) // 8 or 1)))
        return _Bytes(made, shape), View.pointer(made.buffer_info()[0], kind, shape, None, False, -1, made)

    def finish(self, made: Any, kind: str) -> Any:
        if not isinstance(made, _Bytes):
            return made
        data = memoryview(made.made).cast("B")[: math.prod(made.shape) * SIZES[kind]]
        if not made.shape:
            return _core.number(kind, data)
        if kind not in self.formats:
            raise TypeError(f"dtype: buffers have no '{kind}'")
        if 0 in made.shape:
            return memoryview(b"").cast(self.formats[kind])
        return data.cast(self.formats[kind], made.shape)


class _Bytes:
    """Room for a result."""

    def __init__(self, made: Any, shape: tuple[int, ...]) -> None:
        self.made, self.shape = made, shape


class Numbers(Buffer):
    """Lists, tuples, numbers, and whatever else can be gone through once. Results are numbers and lists."""

    def view(self, x: Any, name: str, kind: str | None = None) -> Any:
        """Of the type that numbers of Python have, or as ones of another type."""
        alone = isinstance(x, (int, float))
        numbers = [x] if alone else x if isinstance(x, (list, tuple)) else list(x)
        view = self._view(numbers, name)
        if kind is not None and view.type != kind:
            view = numbers_as(numbers, kind, name)
        return View.repeat(view, (), ()) if alone else view

    def _view(self, numbers: Any, name: str) -> Any:
        try:
            return View.numbers(numbers, name)
        except TypeError as error:
            nested = "; expected an array, such as numpy.asarray() of them" if "not list" in str(error) or "not tuple" in str(error) else None
            raise TypeError(f"{name}: {error}{nested or '; expected numbers, or an array'}") from None

    def writable(self, x: Any, name: str) -> Any:
        raise TypeError(f"{name}: a {type(x).__name__} cannot be written; expected an array")

    def finish(self, made: Any, kind: str) -> Any:
        result = super().finish(made, kind)
        return result.tolist() if isinstance(result, memoryview) else result


class AsNumPy(Kind):
    """What NumPy makes an array of, by __array__ or __array_interface__, such as columns of pandas."""

    def __init__(self) -> None:
        self.host = kind_named("numpy")
        self.dtype, self.output, self.finish = self.host.dtype, self.host.output, self.host.finish

    def view(self, x: Any, name: str) -> Any:
        made = self.host.numpy.asarray(x)
        if "pandas" in sys.modules:
            self._check_columns(x, made, sys.modules["pandas"], name)
        return self.host.view(made, name)

    def exactly(self, x: Any, kind: str) -> Any:
        return self.host.exactly(x, kind)

    def _check_columns(self, x: Any, made: Any, pandas: Any, name: str) -> None:
        """pandas makes floats of integers that are with nulls, or with floats."""
        types = list(x.dtypes) if isinstance(x, pandas.DataFrame) else [getattr(x, "dtype", None)]
        if any(getattr(each, "na_value", None) is pandas.NA for each in types) and self.host.numpy.asarray(x.isna()).any():
            raise TypeError(f"{name}: a {type(x).__name__} of {', '.join(map(str, types))} with nulls; functions for columns with nulls are in pyreduct.arrow")
        for place, each in enumerate(types):
            if made.dtype.kind == "f" and str(each) in ("int64", "uint64"):
                column, held = self.host.numpy.asarray(x.iloc[:, place]), made[:, place]
                if _if_equal(column, held, held.astype(column.dtype)) is None:
                    raise TypeError(f"{name}: a column of {each} beside others, for which pandas makes it {made.dtype}, where not all of it has its value; "
                                    "expected columns of one type")

    def writable(self, x: Any, name: str) -> Any:
        return self.host.writable(self.host.numpy.asarray(x), name)


_CLASSES = {"numpy": NumPy, "torch": Torch, "cupy": CuPy, "dlpack": DLPack, "buffer": Buffer, "numbers": Numbers, "asnumpy": AsNumPy}
_made: dict[str, Any] = {}
_of_class: dict[type, Any] = {}


def kind_named(name: str) -> Any:
    kind = _made.get(name)
    if kind is None:
        kind = _made[name] = _CLASSES[name]()
    return kind


def _is(x: Any, module: str, *classes: str) -> bool:
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(x, tuple(getattr(loaded, name) for name in classes))


def _is_buffer(x: Any) -> bool:
    try:
        memoryview(x).release()
    except TypeError:
        return False
    return True


def _find(x: Any) -> str:
    if isinstance(x, type):
        raise _no_array(x)
    if _is(x, "numpy", "ndarray", "generic"):
        return "numpy"
    if _is(x, "torch", "Tensor"):
        return "torch"
    if isinstance(x, (list, tuple, int, float)):
        return "numbers"
    if type(x).__module__.partition(".")[0] in ("pyarrow", "polars"):
        raise TypeError(f"found {type(x).__module__}.{type(x).__name__}; functions for columns, which may have nulls, are in pyreduct.arrow")
    if hasattr(x, "__cuda_array_interface__") and not hasattr(x, "__array_namespace__") or _is(x, "cupy", "ndarray"):
        try:
            kind_named("cupy")
            return "cupy"
        except ImportError:
            if not hasattr(x, "__dlpack__"):
                raise
    if hasattr(x, "__dlpack__"):
        return "dlpack"
    if hasattr(x, "__array_interface__") or hasattr(x, "__array__"):
        return "asnumpy"
    if _is_buffer(x):
        return "buffer"
    if hasattr(x, "__iter__") and not isinstance(x, (str, dict)):
        return "numbers"
    raise _no_array(x)


def _no_array(x: Any) -> TypeError:
    found = f"the class {x.__name__}" if isinstance(x, type) else type(x).__name__
    return TypeError(f"found {found}; expected an array (of NumPy, PyTorch, CuPy, JAX, or with DLPack, the buffer protocol or an array interface) or numbers")


def kind_of(x: Any) -> Any:
    """The kind of an array, from its class."""
    kind = _of_class.get(type(x))
    if kind is None:
        kind = kind_named(_find(x))
        if len(_of_class) < 256:
            _of_class[type(x)] = kind
    return kind


def type_of(dtype: Any) -> str | None:
    return None if dtype is None else type_name(dtype)
