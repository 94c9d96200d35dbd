"""CuPy's arrays."""
import time

import numpy as np
import pytest
from devices import package

cupy = package("cupy", lambda cupy: cupy.cuda.runtime.getDeviceCount())

import pyreduct

DTYPES = ["f8", "f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"]


def data(*shape, dtype="f8", seed=0):
    x = np.random.default_rng(seed).standard_normal(shape) * 10
    return (np.abs(x) if np.dtype(dtype).kind == "u" else x).astype(dtype)


def same(result, expected):
    """An array of CuPy with the bits of one of NumPy."""
    assert isinstance(result, cupy.ndarray)
    expected = np.asarray(expected)
    assert result.dtype == expected.dtype and result.shape == expected.shape and result.get().tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.T, lambda x: x[::-1, 1::2], lambda x: x[:, :0], lambda x: x[0, 0]])
def test_reductions(dtype, view):
    x, there = view(data(12, 40, dtype=dtype)), view(cupy.asarray(data(12, 40, dtype=dtype)))
    names = ["sum", "any", "all", "count_nonzero"] + (["mean", "var", "max", "min", "argmax", "norm"] if x.size else [])
    for axis in (None, *range(x.ndim)):
        for name in names:
            same(getattr(pyreduct, name)(there, axis=axis, keepdims=True), getattr(pyreduct, name)(x, axis=axis, keepdims=True))


def test_out_and_groups():
    x, ids = data(500, 3), np.random.default_rng(1).integers(0, 9, 500)
    there, index = cupy.asarray(x), cupy.asarray(ids)
    out = cupy.zeros((3, 2))
    assert pyreduct.sum(there, 0, out=out[:, 1]) is not None
    same(out[:, 1].copy(), pyreduct.sum(x, 0))
    same(pyreduct.group_sum(there, index, 9), pyreduct.group_sum(x, ids, 9))
    for sort in (False, True):
        expected, groups = pyreduct.group_by(ids - 4, sort=sort), pyreduct.group_by(index - 4, sort=sort)
        same(groups.keys, expected.keys)
        same(groups.sum(there), expected.sum(x))
    same(pyreduct.index_add(cupy.ones((9, 3)), index, there), pyreduct.index_add(np.ones((9, 3)), ids, x))
    same(pyreduct.segment_sum(there[:, 0].copy(), cupy.asarray([0, 100, 500])), pyreduct.segment_sum(x[:, 0].copy(), np.array([0, 100, 500])))
    with pytest.raises(ValueError):
        pyreduct.index_add(cupy.ones(3), cupy.asarray([3]), cupy.ones(1))
    with pytest.raises(OverflowError):
        pyreduct.sum(cupy.full(2, 2**62))


class Interface:
    """What has __cuda_array_interface__ and nothing else."""

    def __init__(self, x):
        self.x, self.__cuda_array_interface__ = x, x.__cuda_array_interface__


def test_interface():
    x = data(12, 40)
    same(pyreduct.sum(Interface(cupy.asarray(x).T), 0), pyreduct.sum(x, 1))


def test_in_the_current_stream():
    """After what is there already, without waiting."""
    torch = pytest.importorskip("torch", reason="not tested in a stream of CuPy: PyTorch, which keeps it busy, is not here")
    x, one = cupy.zeros((512, 512)), cupy.ones((512, 512))
    pyreduct.sum(one, 1)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        pyreduct.sum(one, 1)
        stream.synchronize()
        with torch.cuda.stream(torch.cuda.ExternalStream(stream.ptr)):
            torch.cuda._sleep(int(1e9))
        x[...] = one
        start = time.perf_counter()
        result = pyreduct.sum(x, 1)
        elapsed, pending = time.perf_counter() - start, not stream.done
        x[...] = 0
        stream.synchronize()
    assert (result.get() == 512).all() and pending and elapsed < 0.2


def test_captured():
    x = cupy.asarray(data(64, 512))
    with cupy.cuda.Stream(non_blocking=True) as stream:
        out = pyreduct.sum(x, 1)
        pyreduct.sum(x, 1, out=out)
        stream.synchronize()
        stream.begin_capture()
        pyreduct.sum(x, 1, out=out)
        graph = stream.end_capture()
        x[...] = cupy.asarray(data(64, 512, seed=1))
        graph.launch(stream)
        stream.synchronize()
    same(out, pyreduct.sum(data(64, 512, seed=1), 1))
