"""The sum and the standard deviation of a Dask array, by accumulators: chunks can be of any size and come in any order.

    python examples/with_dask.py
"""
import dask
import dask.array
import numpy as np

import pyreduct
from pyreduct import Accumulator


def reduce(array, operator):
    """The result of all chunks, which are added where they are and merged in pairs."""
    add = dask.delayed(lambda chunk: Accumulator(operator).add(chunk))
    merge = dask.delayed(lambda a, b: a + b)
    states = [add(chunk) for chunk in array.to_delayed().ravel()]
    while len(states) > 1:
        states = [merge(*pair) if len(pair) == 2 else pair[0] for pair in (states[i : i + 2] for i in range(0, len(states), 2))]
    return dask.compute(states[0])[0].result()


if __name__ == "__main__":
    x = np.sin(np.arange(200_000.0)).reshape(400, 500) * 1e9
    for chunks in ((400, 500), (77, 130), (10, 500)):
        array = dask.array.from_array(x, chunks=chunks)
        assert reduce(array, "sum") == pyreduct.sum(x)
        assert reduce(array, "std") == pyreduct.std(x)
    print(pyreduct.sum(x), pyreduct.std(x))
