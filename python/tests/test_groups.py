"""Groups by keys."""
import array
import math

import exact
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyreduct
from pyreduct import Table, group_by

RANDOM = np.random.default_rng(6)
X = RANDOM.standard_normal(1000) * 10.0 ** RANDOM.integers(-30, 30, 1000)


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8"])
def test_numbers_of_keys(dtype):
    limits = np.iinfo(dtype)
    keys = RANDOM.choice(np.array([limits.max, 0, 7, limits.min, 1, limits.max - 1], dtype), 1000)
    groups = group_by(keys)
    unique, first = np.unique(keys, return_index=True)
    assert groups.keys.tolist() == unique[np.argsort(first)].tolist() and groups.keys.dtype == keys.dtype
    assert groups.ids.dtype == np.int64 and (groups.keys[groups.ids] == keys).all() and len(groups) == len(unique)
    ordered = group_by(keys, sort=True)
    assert ordered.keys.tolist() == unique.tolist() and (ordered.keys[ordered.ids] == keys).all()
    assert len(group_by(keys[:0])) == 0 and group_by(keys[:0], sort=True).sum(X[:0]).tolist() == []


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-(2**20), 2**20)), min_size=1, max_size=200), st.booleans())
def test_against_dictionaries(rows, sort):
    together = {}
    for key, value in rows:
        together.setdefault(key, []).append(value / 1024)
    names = sorted(together) if sort else list(together)
    keys, x = np.array([key for key, _ in rows]), np.array([value / 1024 for _, value in rows])
    groups = group_by(keys, sort=sort)
    assert groups.keys.tolist() == names
    assert groups.sum(x).tolist() == [math.fsum(together[name]) for name in names]
    exact.same(groups.mean(x), np.array([exact.rounded(exact.mean(together[name]), "f8") for name in names]))
    assert groups.max(x).tolist() == [max(together[name]) for name in names]
    assert groups.count(x).tolist() == [len(together[name]) for name in names]


def test_all_methods():
    keys = RANDOM.integers(10, 20, 1000)
    groups = group_by(keys, sort=True)
    for op in ("sum", "mean", "var", "std", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero"):
        exact.same(getattr(groups, op)(X), getattr(pyreduct, f"group_{op}")(X, keys - 10, 10))
    exact.same(groups.prod(X[:1000] ** 0), np.ones(10))
    exact.same(groups.var(X, ddof=1, dtype="f32"), pyreduct.group_var(X, keys - 10, 10, ddof=1, dtype="f32"))
    for given_result, op in zip(groups.several(X, ["sum", "max", "argmin", "std"]), ("sum", "max", "argmin", "std")):
        exact.same(given_result, getattr(groups, op)(X))
    rows = X.reshape(250, 4)
    exact.same(group_by(keys[:250], sort=True).sum(rows), pyreduct.group_sum(rows, keys[:250] - 10, 10))
    assert repr(groups) == "<10 groups of 1000 elements>"


def test_with_tables():
    """Two parts that meet their keys in different order, merged by a mapping."""
    keys = RANDOM.integers(0, 50, 1000)
    parts = [group_by(keys[:300]), group_by(keys[300:])]
    both = group_by(np.concatenate([part.keys for part in parts]))
    total = Table("sum", "f64", len(both))
    for part, x, start in ((parts[0], X[:300], 0), (parts[1], X[300:], len(parts[0]))):
        total.merge(Table("sum", "f64", len(part)).add(x, part.ids), both.ids[start : start + len(part)])
    whole = group_by(keys)
    assert both.keys.tolist() == whole.keys.tolist()
    exact.same(total.result(), whole.sum(X))


def test_kinds_and_what_is_refused():
    groups = group_by(array.array("q", [5, 3, 5]))
    assert groups.keys.tolist() == [5, 3] and groups.ids.tolist() == [0, 1, 0] and groups.sum(np.ones(3)).tolist() == [2.0, 1.0]
    for bad, words in ((np.ones(3), "f64"), (np.ones(3, "i2"), "i16"), (np.ones((2, 2), "i8"), "axis"),
                       (["a"], "keys"), (np.ones(3, bool), "bool")):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=words):
            group_by(bad)
    with pytest.raises((TypeError, ValueError), match="expected"):
        group_by([1, 2]).sum([1.0])


def test_pandas():
    pd = pytest.importorskip("pandas", reason="pandas is not installed (make check-python has it)")
    frame = pd.DataFrame({"key": RANDOM.integers(-9, 9, 5000), "x": RANDOM.integers(-1000, 1000, 5000) / 64})
    for sort in (False, True):
        groups, theirs = group_by(frame["key"], sort=sort), frame.groupby("key", sort=sort)["x"]
        assert groups.keys.tolist() == theirs.sum().index.tolist()
        for op in ("sum", "min", "max", "count"):
            assert getattr(groups, op)(frame["x"]).tolist() == getattr(theirs, op)().tolist()
        np.testing.assert_allclose(groups.std(frame["x"], ddof=1), theirs.std(), rtol=1e-12)


def test_torch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (make check-python has it)")
    groups = group_by(torch.tensor([4, 2, 4]))
    assert isinstance(groups.keys, torch.Tensor) and groups.sum(torch.tensor([1e8, 1.0, -1e8])).tolist() == [0.0, 1.0]
