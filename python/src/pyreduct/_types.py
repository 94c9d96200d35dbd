"""Types of numbers by name, and the names that others have for them."""
from __future__ import annotations

from typing import Any

from . import _core

SIZES = {name: size for name, size, _ in _core.TYPES}
FLOATS = frozenset(name for name, _, is_float in _core.TYPES if is_float)
WIDE = frozenset(name for name, size in SIZES.items() if size > 8)
INTEGERS = frozenset(SIZES) - FLOATS - {"bool"}
UNSIGNED = frozenset(name for name in INTEGERS if name.startswith("u"))

# As NumPy, PyTorch, JAX and CuPy say it.
LONG = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "bool": "bool",
}  # fmt: skip
_NAMES = {long: short for short, long in LONG.items()} | {
    "double": "f64", "single": "f32", "half": "f16", "f8": "f64", "f4": "f32", "f2": "f16", "float": "f64", "int": "i64", "bool_": "bool",
}  # fmt: skip


def type_name(dtype: Any) -> str:
    """The library's name of a type, which may be given as that, or as NumPy, PyTorch, JAX, CuPy or Python have it."""
    if isinstance(dtype, str):
        name = of_interface(dtype, "dtype") if dtype[:1] in ("<", ">", "=", "|") else dtype
    elif not getattr(dtype, "isnative", True):
        raise TypeError(f"dtype: {dtype} is byte-swapped; expected the machine's byte order")
    else:
        name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype).rpartition(".")[2]
    if name in SIZES:
        return name
    try:
        return _NAMES[name if name in _NAMES else _of_numpy(dtype)]
    except KeyError:
        raise TypeError(f"dtype: {dtype!r}; expected one of {', '.join(SIZES)} (by bits), or what these are called "
                        "elsewhere") from None


def _of_numpy(dtype: Any) -> str:
    """What NumPy calls it, where that is installed and knows it, as 'q', 'intp' and numpy.longlong."""
    try:
        import numpy

        found = numpy.dtype(dtype)
    except (ImportError, TypeError, ValueError, SyntaxError):
        return ""
    return found.name if found.isnative else ""


def of_interface(typestr: str, name: str) -> str:
    """The type that __array_interface__ or __cuda_array_interface__ says."""
    kinds = {"f": "f", "i": "i", "u": "u", "b": "bool"}
    kind, size = typestr[1:2], typestr[2:]
    short = "bool" if kind == "b" and size == "1" else f"{kinds.get(kind, '?')}{8 * int(size)}" if size.isdigit() else "?"
    if typestr[:1] == ">" or short not in LONG:
        raise TypeError(f"{name}: elements of type '{typestr}'; expected real floats of 16 to 64 bits, integers or bool, "
                        "in the machine's byte order")
    return short
