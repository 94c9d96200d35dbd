"""What type checkers must accept; they read it, nothing runs it."""
import math

import numpy as np

import pyreduct
from pyreduct import Accumulator

x = np.ones((3, 4))
pyreduct.sum(x, axis=(0, 1), dtype=np.float32, keepdims=True, where=x > 0, nan="ignore", mode="fast")
pyreduct.var(x, 0, ddof=1)
pyreduct.std(x, correction=1)
pyreduct.norm(x, math.inf)
least, greatest = pyreduct.minmax(x, axis=1)
pyreduct.several(x, ["sum", "max"])
pyreduct.several(x, "sum")  # type: ignore[arg-type]  # pyright: ignore
pyreduct.argmin(x, 0, None, keepdims=True)
pyreduct.argmin(x, 0, None, True)  # type: ignore[call-arg]  # pyright: ignore
pyreduct.count_nonzero(x, 0, keepdims=True, out=None)
pyreduct.any(x, 0, None, True)
pyreduct.segment_sum(x[0], np.array([0, 4]))
pyreduct.nanmean(x, 0)
total: Accumulator = Accumulator("sum", "f64").add(x) + Accumulator("sum")
data: bytes = bytes(total)
number: int = len(Accumulator.from_bytes(data))
table: pyreduct.Table = pyreduct.Table(["sum", "max"], "f64", 2).add(x[0], [0, 1, 0, 1]) + pyreduct.Table(["sum", "max"], groups=2)
groups: int = len(table.merge(table, mapping=[1, 0]))
by_key: pyreduct.Groups = pyreduct.group_by([3, 1, 3], sort=True)
by_key.several([1.0, 2.0, 3.0], ["sum", "max"])
try:
    pyreduct.sum(x, nan="error")
except pyreduct.NanError as error:
    index: int | None = error.index
