"""A sum over processes: each adds its part to an accumulator, which is pickled and merged. The bits are those of one process, whatever
the number of parts.

    python examples/processes.py
"""
import math
import multiprocessing

import pyreduct
from pyreduct import Accumulator


def values(first, last):
    """As from a file of which each process reads a part."""
    return [math.sin(i) * 10.0 ** (i % 40 - 20) for i in range(first, last)]


def part(bounds):
    return Accumulator("mean").add(values(*bounds))


def mean_in_parts(count, parts):
    cuts = [count * k // parts for k in range(parts + 1)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return sum(pool.map(part, zip(cuts, cuts[1:])), Accumulator("mean")).result()


if __name__ == "__main__":
    whole = pyreduct.mean(values(0, 10_000))
    for parts in (2, 7):
        assert mean_in_parts(10_000, parts) == whole
    print(whole)
