"""Tables of groups' partial results."""
import copy
import math
import pickle
import subprocess
import sys
import threading
from fractions import Fraction

import exact
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyreduct
from pyreduct import Table

RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal(2000) * 10.0 ** RANDOM.integers(-30, 30, 2000)
IDS = RANDOM.integers(0, 20, 2000)


def test_against_fractions():
    sums, means, variances = Table(["sum", "mean", "var"], "f64", 20).add(X, IDS).result()
    for group in range(20):
        values = X[IDS == group]
        assert sums[group] == math.fsum(values) == exact.rounded(exact.total(values), "f8")
        exact.same(means[group], exact.rounded(exact.mean(values), "f8"))
        exact.same(variances[group], exact.rounded(exact.variance(values, 0), "f8"))


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "u2", "u8", "?"])
@pytest.mark.parametrize("index", ["u1", "u2", "u4", "u8", "i4", "i8"])
def test_against_groups(dtype, index):
    x, ids = (RANDOM.integers(0, 9, 300).astype(dtype), RANDOM.integers(0, 6, 300).astype(index))
    mask = RANDOM.random(300) < 0.7
    for op in ("sum", "mean", "std", "min", "max", "argmax", "any", "count_nonzero", "norm"):
        for where in (None, mask):
            result = Table(op, np.dtype(dtype), 6).add(x, ids, where=where).result()
            exact.same(result, pyreduct.group_reduce(x, op, ids, 6, where=where))


@given(st.lists(st.integers(0, 2000), max_size=4), st.randoms(), st.sampled_from(["sum", "mean", "var", "norm", "min", "rms"]))
def test_pieces_in_any_order(cuts, random, op):
    pieces = list(zip(np.split(X, sorted(cuts)), np.split(IDS, sorted(cuts))))
    random.shuffle(pieces)
    total = Table(op, "f64", 20)
    for x, ids in pieces:
        part = Table(op, "f64", 20).add(x, ids)
        total += pickle.loads(pickle.dumps(part)) if random.random() < 0.5 else Table.from_bytes(bytes(part))
    whole = Table(op, "f64", 20).add(X, IDS)
    assert total == whole and bytes(total) == bytes(whole)
    exact.same(total.result(), pyreduct.group_reduce(X, op, IDS, 20))
    exact.same(total.result("f32"), pyreduct.group_reduce(X, op, IDS, 20, dtype="f32")) if op != "min" else None


def test_taking_out():
    table = Table(["sum", "var"], "f64", 20).add(X, IDS)
    table.add([math.inf, 1e300], [3, 4]).remove([math.inf, 1e300], [3, 4])
    table.remove(X[:1500], IDS[:1500], where=np.arange(1500) % 3 > 0)
    table.remove(X[:1500:3], IDS[:1500:3])
    assert table == Table(["sum", "var"], "f64", 20).add(X[1500:], IDS[1500:])
    with pytest.raises(pyreduct.UnsupportedError):
        Table("max", "f64", 1).add([1.0], [0]).remove([1.0], [0])
    with pytest.raises(pyreduct.ArgumentError, match="not there"):
        table.remove([math.nan], [0])


def test_views_and_pairs():
    x, ids = X.reshape(40, 50), IDS.reshape(40, 50)
    for view, index in ((x.T, ids.T), (x[::-1, ::3], ids[::-1, ::3]), (x, np.arange(50) % 20), (x[:, ::2], (np.arange(40) % 20)[:, None])):
        each = np.broadcast_to(index, view.shape).copy().ravel()
        exact.same(Table("sum", "f64", 20).add(view, index).result(), pyreduct.group_sum(view.copy().ravel(), each, 20))
        exact.same(Table("sum", "f64", 20).add(view, index, where=view > 0).result(),
                   pyreduct.group_sum(view.copy().ravel(), each, 20, where=view.copy().ravel() > 0))  # fmt: skip
    exact.same(Table("dot", "f64", 20).add(X, IDS, X).result(), pyreduct.group_reduce(X, "sumsq", IDS, 20))
    pair = Table("dot", "f64", 2).add_group(1, x[:, 0], x[:, 1])
    assert pair.result().tolist() == [0.0, pyreduct.dot(x[:, 0], x[:, 1])]


def test_merging_by_a_mapping():
    left, right = Table("sum", "f64", 3).add([1.0, 2.0, 4.0], [0, 1, 2]), Table("sum", "f64", 2).add([0.5, 0.25], [0, 1])
    for mapping in ([2, 0], np.array([2, 0]), np.array([2, 0], "u8")):
        assert left.copy().merge(right, mapping).result().tolist() == [1.25, 2.0, 4.5]
    assert (left + right).result().tolist() == [1.5, 2.25, 4.0] and left.merge(right, [1, 1]).result().tolist() == [1.0, 2.75, 4.0]
    before = bytes(right)
    for bad in (np.array([2.0, 0.0]), [0], [[0, 1]], np.array([0, 1], "i4")):
        with pytest.raises((TypeError, ValueError)):
            left.merge(right, bad)
    with pytest.raises(pyreduct.ArgumentError, match="group 1 is to be 3 of 3"):
        left.merge(right, [0, 3])
    with pytest.raises(pyreduct.ArgumentError):
        right.merge(left)
    with pytest.raises(pyreduct.MismatchError):
        right.merge(Table("mean", "f64", 2))
    with pytest.raises(TypeError):
        right + 1
    assert bytes(right) == before
    right += right
    assert right.result().tolist() == [1.0, 0.5]


def test_results_that_fail():
    means = Table(["mean", "count"], "f64", 3).add([1.0, 3.0], [2, 0])
    with pytest.raises(pyreduct.EmptyError, match="group 1: ") as caught:
        means.result()
    assert caught.value.index == 1
    first, count = means.result(check=False)
    assert first[[0, 2]].tolist() == [3.0, 1.0] and np.isnan(first[1]) and count.tolist() == [1, 0, 1]
    sums = Table("sum", "i64", 2).add([2**62, 2**62, 5], [1, 1, 0])
    with pytest.raises(OverflowError, match="group 1: "):
        sums.result()
    assert sums.result(check=False).tolist() == [5, 0] and sums.result("i128").tolist() == [5, 2**63]


def test_types_of_results():
    table = Table(["sum", "mean"], "i32", 1).add(np.int32([1, 2]), [0, 0])
    assert [each.dtype for each in table.result()] == [np.int64, np.float64]
    for op, dtype in (("argmin", "f32"), ("sum", "bool"), ("mean", "i64")):
        with pytest.raises((TypeError, ValueError), match=op):
            Table(op, "f64", 1).add([1.0], [0]).result(dtype)


def test_additions_that_fail_change_nothing():
    table = Table("sum", "f64", 4, nan="error").add(X[:100], IDS[:100] % 4)
    before = bytes(table)
    for x, ids, error, words in (([1.0, 2.0], [0, 4], pyreduct.ArgumentError, "element 1 is of group 4 of 4"),
                                 ([1.0, math.nan], [0, 1], pyreduct.NanError, "NaN"), ([1.0, 2.0], [0, -1], ValueError, "group -1"),
                                 (np.zeros(2, "f4"), [0, 0], TypeError, "f32; this table takes f64"),
                                 ([1.0], np.zeros(1), ValueError, "f64|index"), ([1.0, 2.0], [0, 1, 2], ValueError, "broadcast")):  # fmt: skip
        with pytest.raises(error, match=words):
            table.add(x, ids)
    with pytest.raises(TypeError, match="expected bool"):
        table.add([1.0], [0], where=[1])
    with pytest.raises(IndexError):
        table.add_group(4, [1.0])
    assert bytes(table) == before
    table.add([1.0, 2.0], [-1, 7], skip=True)
    assert table == Table.from_bytes(before) and table.counts().sum() == 100


def test_the_rest():
    table = Table("sum", np.float32, 2).add(np.float32([1, 2.5]), [0, 1])
    assert repr(table) == "Table('sum', 'f32', 2)" and table.operators == ("sum",) and table.dtype == "f32" and len(table) == 2
    assert repr(Table(["sum", "max"])) == "Table(('sum', 'max'), 'f64', 0)" and bool(Table("sum")) and len(Table("sum").result()) == 0
    twin = copy.deepcopy(table)
    twin.resize(5)
    assert twin.result().tolist() == [1.0, 2.5, 0, 0, 0] and len(table) == 2 and twin != table
    with pytest.raises(pyreduct.ArgumentError, match="5 already"):
        twin.resize(2)
    twin.reset()
    assert twin == Table("sum", "f32", 5) and twin.add(np.float32([]), []).counts().tolist() == [0] * 5
    for bad in (lambda: Table("minmax"), lambda: Table([]), lambda: Table("sum", groups=-1), lambda: Table("sum", groups=2**64), lambda: Table("prod", groups=1), lambda: Table("nothing")):
        with pytest.raises((TypeError, ValueError)):
            bad()
    damaged = bytearray(bytes(table))
    damaged[-9] ^= 1
    for bad in (damaged, b"nothing", bytes(table)[:-1]):
        with pytest.raises(pyreduct.CorruptError):
            Table.from_bytes(bad)


def test_threads():
    table, other = Table("sum", "f64", 20), Table("sum", "f64", 20).add(X, IDS)
    work = [lambda: table.add(X, IDS), lambda: table.merge(other), lambda: other.copy().merge(table)]
    threads = [threading.Thread(target=lambda: [each() for each in work for _ in range(5)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [float(exact.rounded(40 * sum(map(Fraction, X[IDS == group].tolist())), "f8")) for group in range(20)]
    assert table.result().tolist() == expected


def test_without_numpy():
    program = (
        "import sys; sys.modules['numpy'] = None\n"
        "import pyreduct\n"
        "groups = pyreduct.group_by([3, 1, 3])\n"
        "table = pyreduct.Table(['sum', 'count'], groups=2).add([1e100, 2, -1e100], groups.ids)\n"
        "assert table.result() == ([0.0, 2.0], [2, 1]) and groups.sum([1e100, 2.0, -1e100]) == [0.0, 2.0]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_devices():
    with pytest.raises(pyreduct.NoDeviceError):
        Table("sum", "f64", 2, device="cuda:999")
    with pytest.raises(pyreduct.NoDeviceError):
        Table.from_bytes(bytes(Table("sum", "f64", 2)), device="nope")
    table = Table("sum", "f64", 2, device="auto").add([1.0], [1])
    assert pickle.loads(pickle.dumps(table)) == copy.copy(table) == table
