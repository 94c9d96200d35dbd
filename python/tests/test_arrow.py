"""Columns with nulls."""
import gc

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed (make check-python has it)")

import pyreduct
import pyreduct.arrow as ra

TYPES = ["float64", "float32", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def column(dtype, count=100, seed=0):
    random = np.random.default_rng(seed)
    values = random.integers(1, 9, count).astype(dtype)
    return values, random.random(count) < 0.7


@pytest.mark.parametrize("dtype", TYPES)
def test_against_masks(dtype):
    values, valid = column(dtype)
    array = pa.array(values, mask=~valid)
    for part in (slice(None), slice(3, 77), slice(50, 50)):
        each, x, kept = array[part], values[part], valid[part]
        for name in ("sum", "mean", "var", "min", "argmax", "count_nonzero"):
            if kept.any() or name in ("sum", "count_nonzero"):
                expected = getattr(pyreduct, name)(x, where=kept)
                assert getattr(ra, name)(each) == expected and type(getattr(ra, name)(each)) in (int, float)
        assert ra.count(each) == kept.sum()
    chunked = pa.chunked_array([array[:10], array[10:10], array[10:63], array[63:]])
    assert ra.sum(chunked) == ra.sum(array) and ra.argmax(chunked) == ra.argmax(array)


def test_truth_values():
    array = pa.array([True, None, False, True] * 5)[1:]
    assert (ra.sum(array), ra.count(array), ra.any(array), ra.all(array)) == (9, 14, True, False)


def test_nothing():
    assert ra.sum(pa.array([], "f8")) == 0 and ra.sum(pa.chunked_array([], "f8")) == 0 and ra.sum(pa.array([None, None], "i4")) == 0
    with pytest.raises(pyreduct.EmptyError):
        ra.mean(pa.array([None], "f8"))


def test_refused():
    for bad, words in ((pa.array(["a"]), "format 'u'"), (pa.array([1, 2]).dictionary_encode(), "dictionary"), (pa.chunked_array([["a"]]), "Arrow"), ([1], "found list"),
                       (pa.array([[1]]), "format")):  # fmt: skip
        with pytest.raises(TypeError, match=words):
            ra.sum(bad)
    with pytest.raises(TypeError, match="pyreduct.arrow"):
        pyreduct.sum(pa.array([1.0]))


def test_memory_is_given_back():
    before = pa.total_allocated_bytes()
    array = pa.array(np.arange(1000.0), mask=np.arange(1000) % 3 == 0)
    for _ in range(5):
        ra.sum(array)
        ra.sum(pa.chunked_array([array, array]))
    del array
    gc.collect()
    assert pa.total_allocated_bytes() == before


def test_polars():
    pl = pytest.importorskip("polars", reason="Polars is not installed (make check-python has it)")
    series = pl.Series([1e100, None, 1.0, -1e100])
    assert ra.sum(series) == 1 and ra.count(series) == 3
    assert ra.sum(pl.concat([series, series], rechunk=False)) == 2


def test_pandas():
    pd = pytest.importorskip("pandas", reason="pandas is not installed (make check-python has it)")
    assert pyreduct.sum(pd.Series([1e100, 1.0, -1e100])) == 1
    frame = pd.DataFrame({"k": [1, 2, 1], "x": [1e100, 5.0, -1e100]})
    assert frame.groupby("k")["x"].agg(pyreduct.sum).tolist() == [0.0, 5.0]
    assert frame.agg(pyreduct.sum).tolist() == [4.0, 5.0]
    if hasattr(pd.Series, "__arrow_c_stream__"):
        assert ra.mean(pd.Series([1, None, 3], dtype="int64[pyarrow]")) == 2
