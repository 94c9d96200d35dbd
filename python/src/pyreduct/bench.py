"""Times reductions beside those of others, on this machine:

    python -m pyreduct.bench [--quick] [--json] [--device cpu|cuda]

Each figure is the least of many short runs, in turns. What is compared with is what is installed: NumPy, math.fsum, PyTorch, xsum,
bitrep and CuPy. On a CUDA device, calls are queued one after another, and waited for after each run of them; arrays are those of PyTorch
and CuPy. C is the library's function in a loop of C, with the same arrays, in the same stream. With --json all of it is one object: what it
ran on, and for each table its title and rows, in seconds.
"""
from __future__ import annotations

import argparse
import datetime
import importlib
import json
import math
import platform
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pyreduct
from pyreduct import _core, _functions

Call = Callable[[], Any]
Rows = Iterator[tuple[str, dict[str, Call]]]


def nothing() -> None:
    pass


class InC:
    """What a function of _core does with these arguments, many times in C: an execution of its plan, into the same array."""

    times = 100

    def __init__(self, name: str, *arguments: Any, **keywords: Any) -> None:
        call = _functions.PREPARED[name](*arguments, **keywords)
        self.room, target = call.kind.output(call.shape, call.types[0], arguments[0])
        views = call.inputs, (target,)
        self.run: Any = call.plan.execute if target.device < 0 else call.plan.queue
        self.arguments = (*views, True) if target.device < 0 else (*views, 0, 0, call.kind.stream(arguments[0]))

    def __call__(self) -> None:
        self.run(*self.arguments, self.times)


def least(calls: list[Call], seconds: float, finish: Call = nothing) -> list[float]:
    """The shortest time that each took, in seconds per call; they take turns, so that what else the machine does meets all. What
    was queued is waited for by finish()."""
    repeats = []
    run = 2e-4 if finish is nothing else 2e-3  # in which waiting is little
    for call in calls:
        call()  # what happens once: imports, threads
        finish()
        start = time.perf_counter()
        call()
        finish()
        repeats.append(max(1, int(run / max(time.perf_counter() - start, 1e-9))))
    best = [math.inf] * len(calls)
    end = time.perf_counter() + seconds
    while True:
        for which, call in enumerate(calls):
            start = time.perf_counter()
            for _ in range(repeats[which]):
                call()
            finish()
            best[which] = min(best[which], (time.perf_counter() - start) / repeats[which] / getattr(call, "times", 1))
        if time.perf_counter() > end:
            return best


def optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def random(*shape: int, dtype: str = "float64") -> Any:
    import numpy

    return numpy.random.default_rng(math.prod(shape)).standard_normal(shape).astype(dtype)


# ------------------------------------------------------------------------------------------------------------------------------
# Tables on a CPU
# ------------------------------------------------------------------------------------------------------------------------------


def small_calls() -> Rows:
    """What a call costs: of few elements there is little to add."""
    import numpy

    x, matrix = numpy.ones(8), numpy.ones((8, 8))
    mask, room = matrix > 0, numpy.zeros(8)
    for label, ours, theirs, in_c in (
        ("sum(x)", lambda: pyreduct.sum(x), lambda: numpy.sum(x), InC("sum", x)),
        ("mean(x)", lambda: pyreduct.mean(x), lambda: numpy.mean(x), InC("mean", x)),
        ("var(x)", lambda: pyreduct.var(x), lambda: numpy.var(x), InC("var", x)),
        ("max(x)", lambda: pyreduct.max(x), lambda: numpy.max(x), InC("max", x)),
        ("dot(x, x)", lambda: pyreduct.dot(x, x), lambda: numpy.dot(x, x), InC("dot", x, x)),
        ("sum(m, 1)", lambda: pyreduct.sum(matrix, 1), lambda: numpy.sum(matrix, 1), InC("sum", matrix, 1)),
        ("sum(m, axis=1, out=r)", lambda: pyreduct.sum(matrix, axis=1, out=room), lambda: numpy.sum(matrix, axis=1, out=room), InC("sum", matrix, 1)),
        ("sum(m, where=k)", lambda: pyreduct.sum(matrix, where=mask), lambda: numpy.sum(matrix, where=mask), InC("sum", matrix, where=mask)),
    ):
        yield f"`{label}`", {"C": in_c, "pyreduct": ours, "numpy": theirs}


def lists(exponents: list[int]) -> Rows:
    """Exact sums of Python's numbers."""
    xsum, bitrep = optional("xsum"), optional("bitrep")
    for exponent in exponents:
        values = random(2**exponent).tolist()

        def by_bitrep(values: Any = values) -> float:
            total = bitrep.SumF64()
            for value in values:
                total.add(value)
            return float(total.value())

        calls: dict[str, Call] = {"pyreduct": lambda values=values: pyreduct.sum(values), "math.fsum": lambda values=values: math.fsum(values)}  # type: ignore[misc]
        if xsum:
            calls["xsum"] = lambda values=values: by_xsum(xsum, values)  # type: ignore[misc]
        if bitrep:
            calls["bitrep"] = by_bitrep
        yield f"2^{exponent}", calls


def by_xsum(xsum: Any, values: Any) -> Any:
    total = (xsum.xsum_large if len(values) > 1000 else xsum.xsum_small)()  # as its documentation says
    total.add(values)
    return total.round()


def whole_arrays(op: str, dtype: str, exponents: list[int]) -> Rows:
    import numpy

    torch, xsum = optional("torch"), optional("xsum")
    theirs = numpy.linalg.norm if op == "norm" else getattr(numpy, op)
    for exponent in exponents:
        x = random(2**exponent, dtype=dtype)
        inputs = (x, x[::-1].copy()) if op == "dot" else (x,)
        calls: dict[str, Call] = {
            "pyreduct": lambda inputs=inputs: getattr(pyreduct, op)(*inputs),  # type: ignore[misc]
            "numpy": lambda inputs=inputs: theirs(*inputs),  # type: ignore[misc]
        }
        if torch and op in ("sum", "mean"):
            calls["torch"] = getattr(torch.from_numpy(x), op)
        if xsum and (op, dtype) == ("sum", "float64"):
            calls["xsum"] = lambda x=x: by_xsum(xsum, x)  # type: ignore[misc]
        yield f"2^{exponent}", calls


SHAPES = [((2**16, 16), 1), ((1024, 1024), 1), ((16, 2**16), 1), ((16, 2**16), 0), ((1024, 1024), 0), ((2**16, 16), 0), ((64, 64, 256), (0, 2))]


def axes(dtype: str, scale: int) -> Rows:
    import numpy

    torch = optional("torch")
    for shape, axis in SHAPES:
        x = random(shape[0] // scale, *shape[1:], dtype=dtype)
        calls: dict[str, Call] = {
            "pyreduct": lambda x=x, axis=axis: pyreduct.sum(x, axis),  # type: ignore[misc]
            "numpy": lambda x=x, axis=axis: numpy.sum(x, axis),  # type: ignore[misc]
        }
        if torch:
            calls["torch"] = lambda x=torch.from_numpy(x), axis=axis: x.sum(axis)  # type: ignore[misc]
        yield f"{' x '.join(map(str, x.shape))}, axis={axis}", calls


def groups(count: int) -> Rows:
    """Sums by group, into an array that is there and into a new one."""
    import numpy

    torch = optional("torch")
    values = random(count)
    for n in (16, 2**12, count // 4):
        ids, start = numpy.random.default_rng(n).integers(0, n, count), random(n)
        calls: dict[str, Call] = {
            "pyreduct.group_sum": lambda ids=ids, n=n: pyreduct.group_sum(values, ids, n),  # type: ignore[misc]
            "numpy.bincount": lambda ids=ids, n=n: numpy.bincount(ids, values, n),  # type: ignore[misc]
            "pyreduct.index_add": lambda ids=ids, start=start: pyreduct.index_add(start, ids, values),  # type: ignore[misc]
            "numpy.add.at": lambda ids=ids, start=start: numpy.add.at(start.copy(), ids, values),  # type: ignore[misc]
        }
        if torch:
            base, index, source = (torch.from_numpy(each) for each in (start, ids, values))
            calls["torch.index_add"] = lambda base=base, index=index, source=source: base.index_add(0, index, source)  # type: ignore[misc]
        yield f"{count} values, {n} groups", calls


# ------------------------------------------------------------------------------------------------------------------------------
# Tables on a CUDA device
# ------------------------------------------------------------------------------------------------------------------------------


def libraries() -> dict[str, Any]:
    """What has arrays on a CUDA device: of each a function that makes one of NumPy's, and its own sum and wait."""
    torch, cupy = optional("torch"), optional("cupy")
    found: dict[str, Any] = {}
    if torch and torch.cuda.is_available():
        found["torch"] = (lambda x: torch.from_numpy(x).cuda(), lambda x, axis=None: x.sum(axis), torch.cuda.synchronize)
    try:
        if cupy and cupy.cuda.runtime.getDeviceCount():
            found["cupy"] = (cupy.asarray, cupy.sum, cupy.cuda.runtime.deviceSynchronize)
    except cupy.cuda.runtime.CUDARuntimeError:
        pass
    return found


def calls_on_device(scale: int) -> Rows:
    """What a call costs beyond C's, of PyTorch's tensors: into one that is there, and into a new one, which PyTorch makes."""
    import torch

    numbers = torch.Generator().manual_seed(1)
    for length, width in ((2**10, 1), (2**20, 1), (2**6, 2**6), (2**14, 2**6), (2**22, 2**6)):
        length = max(length // scale, 1)
        x = torch.randn(length, width, generator=numbers).cuda()
        x = x[:, 0].clone() if width == 1 else x
        axis, out = (None, x.new_empty(())) if width == 1 else (1, x.new_empty(length))
        yield f"`sum(x)`, {length}" if width == 1 else f"`sum(m, 1)`, {length} x {width}", {
            "C": InC("sum", x, axis),
            "a new tensor": lambda x=x, shape=tuple(out.shape): x.new_empty(shape),  # type: ignore[misc]
            "pyreduct, out=": lambda x=x, axis=axis, out=out: pyreduct.sum(x, axis, out=out),  # type: ignore[misc]
            "pyreduct": lambda x=x, axis=axis: pyreduct.sum(x, axis),  # type: ignore[misc]
            "torch": lambda x=x, axis=axis: x.sum(axis),  # type: ignore[misc]
        }
    for count, n in ((2**10, 2**6), (2**16, 2**10), (2**22, 2**20)):
        count = max(count // scale, 1)
        values, ids, start = torch.randn(count, generator=numbers).cuda(), torch.randint(n, (count,), generator=numbers).cuda(), torch.zeros(n).cuda()
        yield f"`index_add(s, i, x, check=False)`, {count} to {n}", {
            "C": InC("index_add", start, ids, values, check=False),
            "pyreduct": lambda v=values, i=ids, s=start: pyreduct.index_add(s, i, v, check=False),  # type: ignore[misc]
            "torch": lambda v=values, i=ids, s=start: s.index_add(0, i, v),  # type: ignore[misc]
        }


def on_device(cases: list[tuple[str, Any, Any]], found: dict[str, Any]) -> Rows:
    """Of cases (label, array, axis)."""
    for label, x, axis in cases:
        calls: dict[str, Call] = {}
        for name, (make, theirs, _) in found.items():
            there = make(x)
            calls[f"pyreduct ({name})"] = lambda x=there: pyreduct.sum(x, axis)  # type: ignore[misc]
            calls[name] = lambda x=there, theirs=theirs: theirs(x, axis)  # type: ignore[misc]
        yield label, calls


def groups_on_device(count: int, found: dict[str, Any]) -> Rows:
    import numpy

    values = random(count, dtype="float32")
    for n in (16, 2**12, count // 4):
        ids = numpy.random.default_rng(n).integers(0, n, count)
        calls: dict[str, Call] = {}
        for name, (make, *_) in found.items():
            x, index = make(values), make(ids)
            calls[f"pyreduct.group_sum ({name}, check=False)"] = lambda x=x, index=index, n=n: pyreduct.group_sum(x, index, n, check=False)  # type: ignore[misc]
            calls[f"pyreduct.group_sum ({name})"] = lambda x=x, index=index, n=n: pyreduct.group_sum(x, index, n)  # type: ignore[misc]
            if name == "torch":
                calls["torch.index_add"] = lambda x=x, index=index, n=n: x.new_zeros(n).index_add_(0, index, x)  # type: ignore[misc]
            else:
                calls["cupy.bincount"] = lambda x=x, index=index, n=n, np=optional(name): np.bincount(index, x, n)  # type: ignore[misc]
        yield f"{count} values, {n} groups", calls


# ------------------------------------------------------------------------------------------------------------------------------
# Measuring and printing
# ------------------------------------------------------------------------------------------------------------------------------


def tables(quick: bool) -> Iterator[tuple[str, Rows]]:
    exponents = [7, 10, 12] if quick else [7, 10, 12, 14, 16, 18, 20, 22]
    yield "Calls for 8 elements, or 8 x 8", small_calls()
    yield "Lists, by numbers", lists([2, 5, 8] if quick else [2, 4, 6, 8, 10, 12, 14])
    for op, dtype in (("sum", "float64"), ("sum", "float32"), ("mean", "float64"), ("var", "float64"), ("norm", "float64"), ("dot", "float64")):
        yield f"{op} of {dtype}, by elements", whole_arrays(op, dtype, exponents)
    for dtype in ("float64", "float32"):
        yield f"sum of {dtype} along axes", axes(dtype, 16 if quick else 1)
    yield "Sums of groups of float64", groups(2**14 if quick else 2**20)


def tables_on_device(quick: bool, found: dict[str, Any]) -> Iterator[tuple[str, Rows]]:
    if "torch" in found:
        yield "Calls, and what they take beyond C", calls_on_device(16 if quick else 1)
    exponents = [10, 16] if quick else [10, 16, 20, 24, 27]
    for dtype in ("float64", "float32"):
        yield f"sum of {dtype}, by elements", on_device([(f"2^{each}", random(2**each, dtype=dtype), None) for each in exponents], found)
        shaped = [((shape[0] // (16 if quick else 1), *shape[1:]), axis) for shape, axis in SHAPES]
        cases = [(f"{' x '.join(map(str, shape))}, axis={axis}", random(*shape, dtype=dtype), axis) for shape, axis in shaped]
        yield f"sum of {dtype} along axes", on_device(cases, found)
    yield "Sums of groups of float32", groups_on_device(2**14 if quick else 2**22, found)


def measure(title: str, rows: Rows, seconds: float, finish: Call) -> dict[str, Any]:
    measured = [{"label": label, "seconds": dict(zip(calls, least(list(calls.values()), seconds, finish)))} for label, calls in rows]
    return {"title": title, "rows": measured}


def show(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e9:,.0f} ns" if seconds < 1e-5 else f"{seconds * 1e6:,.1f} us"


def print_table(table: dict[str, Any]) -> None:
    rows = [(row["label"], row["seconds"] | beyond_c(row["seconds"])) for row in table["rows"]]
    names = list(dict.fromkeys(name for _, seconds in rows for name in seconds))
    print(f"\n{table['title']}\n\n| | {' | '.join(names)} |\n|---|{'---:|' * len(names)}")
    for label, seconds in rows:
        print(f"| {label} | {' | '.join(show(seconds.get(name)) for name in names)} |", flush=True)


def beyond_c(seconds: dict[str, float]) -> dict[str, float]:
    """What Python adds."""
    ours = [name for name in seconds if name.startswith("pyreduct") and "C" in seconds]
    return {f"{name} - C": seconds[name] - seconds["C"] for name in ours}


def processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def place(device: str) -> dict[str, str]:
    """What it runs on."""
    import numpy

    plan = _core.Plan((("sum", "f64", None, "exact", "propagate", 0),), (2,), ((1,),), 1, None, 0, None, device)
    versions = {name: getattr(sys.modules.get(name), "__version__", None) for name in ("torch", "cupy")}
    return {
        "date": str(datetime.date.today()), "processor": processor(), "device": plan.device, "Python": platform.python_version(),
        "NumPy": numpy.__version__, "pyreduct": _core.VERSION, **{name: version for name, version in versions.items() if version},
    }  # fmt: skip


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m pyreduct.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few sizes, short runs")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    options = parser.parse_args(arguments)
    if optional("numpy") is None:
        print("pyreduct.bench: NumPy is needed", file=sys.stderr)
        return 1
    found = libraries() if options.device == "cuda" else {}
    if options.device == "cuda" and not found:
        print("pyreduct.bench: neither PyTorch nor CuPy finds a CUDA device", file=sys.stderr)
        return 1
    for name in ("torch", "cupy"):
        optional(name)  # so that its version is told
    where = place(options.device)
    finish = next(iter(found.values()))[2] if found else nothing
    done = []
    if not options.json:
        print(", ".join(value if name in ("date", "processor", "device") else f"{name} {value}" for name, value in where.items()))
    for title, rows in tables_on_device(options.quick, found) if found else tables(options.quick):
        done.append(measure(title, rows, 0.05 if options.quick else 0.5 if found else 1.0, finish))
        if not options.json:
            print_table(done[-1])
    if options.json:
        print(json.dumps({"where": where, "tables": done}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
