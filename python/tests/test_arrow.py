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


def rows_of(keys, x):
    """Values by key, as lists; what is null is left out."""
    together = {}
    for key, value in zip(keys.to_pylist(), x.to_pylist()):
        if key is not None:
            together.setdefault(key, [])
            if value is not None:
                together[key].append(value)
    return together


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("cuts", [(0, 500), (0, 13, 13, 200, 500), (3, 77, 499)])
def test_groups(dtype, cuts):
    random = np.random.default_rng(1)
    keys = pa.array(random.integers(0, 9, 500).astype(dtype), mask=random.random(500) < 0.2)
    x = pa.array(random.integers(-999, 999, 500) / 32, mask=random.random(500) < 0.3)
    chunks = [slice(*pair) for pair in zip(cuts, cuts[1:])]
    keys, x = pa.chunked_array([keys[each] for each in chunks]), x[cuts[0] : cuts[-1]]
    together = rows_of(keys, x)
    names, (sums, counts, means, least) = ra.group_by(keys, x, ["sum", "count", "mean", "min"])
    assert names.tolist() == list(together) and names.dtype == dtype
    assert sums.tolist() == [sum(together[name]) for name in together]
    assert counts.tolist() == [len(together[name]) for name in together]
    assert means.tolist() == [sum(together[name]) / len(together[name]) for name in together]
    assert least.tolist() == [min(together[name]) for name in together]
    names, sums = ra.group_by(keys, x, sort=True)
    assert names.tolist() == sorted(together) and sums.tolist() == [sum(together[name]) for name in sorted(together)]


def test_groups_of_nothing():
    keys, x = pa.array([1, 1, 2, None]), pa.array([1.0, None, None, 4.0])
    assert [each.tolist() for each in ra.group_by(keys, x)] == [[1, 2], [1.0, 0.0]]
    with pytest.raises(pyreduct.EmptyError, match="group 1: "):
        ra.group_by(keys, x, "mean")
    assert np.isnan(ra.group_by(keys, x, "mean", check=False)[1][1])
    assert [each.tolist() for each in ra.group_by(keys[:0], x[:0])] == [[], []]
    assert ra.group_by(keys, pa.array([True, None, True, True]))[1].tolist() == [1, 1]
    for bad, words in (((keys, x[:3]), "4 and 3 rows"), ((pa.array(["a"]), x[:1]), "keys: expected integers"), ((x, x), "keys: elements of f64")):
        with pytest.raises((TypeError, ValueError), match=words):
            ra.group_by(*bad)


def test_groups_of_frames():
    pl = pytest.importorskip("polars", reason="Polars is not installed (make check-python has it)")
    pd = pytest.importorskip("pandas", reason="pandas is not installed (make check-python has it)")
    data = {"key": [3, 1, 3, None, 1], "x": [0.5, None, 0.25, 1.0, 8.0]}
    frame = pl.DataFrame(data)
    names, (sums, counts) = ra.group_by(frame["key"], frame["x"], ["sum", "count"], sort=True)
    theirs = frame.drop_nulls("key").group_by("key").agg(pl.col("x").sum(), pl.col("x").count().alias("n")).sort("key")
    assert [names.tolist(), sums.tolist(), counts.tolist()] == [theirs[name].to_list() for name in ("key", "x", "n")]
    if hasattr(pd.Series, "__arrow_c_stream__"):
        frame = pd.DataFrame({name: pd.Series(data[name], dtype=f"{kind}[pyarrow]") for name, kind in (("key", "int64"), ("x", "double"))})
        theirs = frame.groupby("key")["x"].sum()
        names, sums = ra.group_by(frame["key"], frame["x"], sort=True)
        assert names.tolist() == theirs.index.tolist() and sums.tolist() == theirs.tolist()


def test_operators_that_do_not_fit():
    column = pa.array([1.0, None])
    for call, error, words in (
        (lambda: pyreduct.arrow.reduce(column, "dot"), TypeError, "op: dot reads pairs"),
        (lambda: pyreduct.arrow.accumulate(pyreduct.Accumulator("dot"), column), TypeError, "op: dot reads pairs"),
        (lambda: pyreduct.arrow.accumulate(pyreduct.Accumulator("sum"), column, "mean"), ValueError, "op: 'mean'; expected 'sum'"),
        (lambda: pyreduct.arrow.accumulate(pyreduct.Accumulator("sum"), column, nan="ignore"), TypeError, "nan: for a new accumulator"),
    ):
        with pytest.raises(error, match=f"^{words}"):
            call()
    state = pyreduct.Accumulator("norm2")
    assert pyreduct.arrow.accumulate(pyreduct.arrow.accumulate(state, column), column, "norm") is state and state.count == 2
