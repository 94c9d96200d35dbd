"""Times reductions beside those of others, on this machine:

    python -m pyreduct.bench [--quick]

Each figure is the least of many short runs, in turns. What is compared with is what is installed: NumPy, math.fsum, PyTorch, xsum,
bitrep and CuPy.
"""
from __future__ import annotations

import datetime
import importlib
import math
import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import pyreduct
from pyreduct import _core

Call = Callable[[], Any]


def least(calls: list[Call], seconds: float) -> list[float]:
    """The shortest time that each took, in seconds per call; they take turns, so that what else the machine does meets all."""
    repeats = []
    for call in calls:
        call()  # what happens once: imports, threads
        start = time.perf_counter()
        call()
        repeats.append(max(1, int(2e-4 / max(time.perf_counter() - start, 1e-9))))
    best = [math.inf] * len(calls)
    end = time.perf_counter() + seconds
    while True:
        for which, call in enumerate(calls):
            start = time.perf_counter()
            for _ in range(repeats[which]):
                call()
            best[which] = min(best[which], (time.perf_counter() - start) / repeats[which])
        if time.perf_counter() > end:
            return best


def optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def peers(x: Any, op: str) -> dict[str, Call]:
    """What others have for an array of NumPy's."""
    import numpy

    plain = getattr(numpy, op)
    calls: dict[str, Call] = {"numpy": lambda: plain(x)}
    if op != "sum":
        return calls
    torch, xsum, bitrep = optional("torch"), optional("xsum"), optional("bitrep")
    if torch:
        tensor = torch.from_numpy(x)
        calls["torch"] = tensor.sum
    if x.dtype == "f8" and len(x) <= 2**14:
        values = x.tolist()
        calls["math.fsum (list)"] = lambda: math.fsum(values)
        calls["pyreduct (list)"] = lambda: pyreduct.sum(values)
    for name, module in (("xsum", xsum), ("bitrep", bitrep)):
        if module and hasattr(module, "sum"):
            calls[name] = lambda module=module: module.sum(x)  # type: ignore[misc]
    return calls


def show(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e9:,.0f} ns" if seconds < 1e-5 else f"{seconds * 1e6:,.1f} us"


def table(title: str, names: list[str], rows: list[tuple[str, dict[str, float]]]) -> None:
    print(f"\n{title}\n\n| | {' | '.join(names)} |\n|---|{'---:|' * len(names)}")
    for label, times in rows:
        print(f"| {label} | {' | '.join(show(times.get(name)) for name in names)} |", flush=True)


def whole_arrays(op: str, dtype: str, exponents: list[int], seconds: float) -> None:
    import numpy

    rows = []
    names: list[str] = []
    for exponent in exponents:
        x = numpy.random.default_rng(exponent).standard_normal(2**exponent).astype(dtype)
        calls: dict[str, Call] = {"pyreduct": lambda x=x: getattr(pyreduct, op)(x), **peers(x, op)}  # type: ignore[misc]
        names += [name for name in calls if name not in names]
        rows.append((f"2^{exponent}", dict(zip(calls, least(list(calls.values()), seconds)))))
    table(f"{op} of {dtype}, by elements", names, rows)


def small_calls(seconds: float) -> None:
    """What a call costs: of few elements there is little to add."""
    import numpy

    x, matrix = numpy.ones(8), numpy.ones((8, 8))
    rows: list[tuple[str, dict[str, float]]] = []
    for label, ours, theirs in (
        ("sum(x)", lambda: pyreduct.sum(x), lambda: numpy.sum(x)),
        ("mean(x)", lambda: pyreduct.mean(x), lambda: numpy.mean(x)),
        ("var(x)", lambda: pyreduct.var(x), lambda: numpy.var(x)),
        ("max(x)", lambda: pyreduct.max(x), lambda: numpy.max(x)),
        ("dot(x, x)", lambda: pyreduct.dot(x, x), lambda: numpy.dot(x, x)),
        ("sum(m, axis=1)", lambda: pyreduct.sum(matrix, axis=1), lambda: numpy.sum(matrix, axis=1)),
        ("sum(m, where=m > 0)", lambda: pyreduct.sum(matrix, where=matrix > 0), lambda: numpy.sum(matrix, where=matrix > 0)),
    ):
        rows.append((f"`{label}`", dict(zip(("pyreduct", "numpy"), least([ours, theirs], seconds)))))
    table("Calls for 8 elements, or 8 x 8", ["pyreduct", "numpy"], rows)


def on_gpu(seconds: float) -> None:
    cupy = optional("cupy")
    if cupy is None or cupy.cuda.runtime.getDeviceCount() == 0:
        return
    rows = []
    for exponent in (10, 20, 26):
        x = cupy.random.standard_normal(2**exponent)

        def wait(call: Call) -> Call:
            return lambda: (call(), cupy.cuda.get_current_stream().synchronize())

        times = least([wait(lambda x=x: pyreduct.sum(x)), wait(lambda x=x: cupy.sum(x))], seconds)  # type: ignore[misc]
        rows.append((f"2^{exponent}", dict(zip(("pyreduct", "cupy"), times))))
    table("sum of float64 on the GPU, by elements", ["pyreduct", "cupy"], rows)


def processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--quick"]):
        print(__doc__)
        return 2
    numpy = optional("numpy")
    if numpy is None:
        print("pyreduct.bench: NumPy is needed")
        return 1
    seconds = 0.05 if arguments else 1.0
    view = _core.View.buffer(numpy.ones(2))
    plan = _core.Plan((("sum", "f64", None, "exact", "propagate", 0),), view.shape, (view.strides,), 1, None, 0, None, "cpu")
    print(f"{datetime.date.today()}, {processor()}, {plan.device}, Python {platform.python_version()}, NumPy {numpy.__version__}, "
          f"pyreduct {_core.VERSION}")  # fmt: skip
    small_calls(seconds)
    exponents = [7, 10, 12] if arguments else [7, 10, 12, 14, 16, 18, 20, 22]
    for op, dtype in (("sum", "float64"), ("sum", "float32"), ("mean", "float64"), ("var", "float64")):
        whole_arrays(op, dtype, exponents, seconds)
    on_gpu(seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
