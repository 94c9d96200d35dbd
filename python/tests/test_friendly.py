"""What users write first: NumPy's spellings, numbers of Python beside arrays, views that lie apart, and what they are told when it is
wrong."""
import operator
from functools import reduce

import numpy as np
import pytest

import pyreduct
from pyreduct import Accumulator, Table

X = np.array([1e100, 1.0, -1e100, 0.5, 0.25, 2.0])
IDS = np.array([0, 1, 0, 1, 1, 0])


def test_types_are_called_as_numpy_does():
    x = np.arange(6.0)
    for name, dtype in [("f8", "f8"), ("f4", "f4"), ("f2", "f2"), ("<f8", "f8"), ("=f4", "f4"), ("single", "f4"), ("double", "f8"), (float, "f8")]:
        assert pyreduct.sum(x, dtype=name).dtype == np.dtype(dtype), name
    assert pyreduct.sum(np.arange(6), dtype="<i8").dtype == np.int64
    for name in (np.longlong, np.ulonglong, np.intc, "q", "d", "e", "intp", "int_", "uint", "u1", "u2", "i4", "B", np.dtype("u2")):
        assert pyreduct.sum(np.arange(6), dtype=name).dtype == np.dtype(name), name
    assert pyreduct.sum(np.array([1]), dtype="i8").dtype == np.int8 and Accumulator("sum", np.longlong).dtype == Accumulator("sum", "q").dtype == "i64"
    for name in (np.longdouble, np.floating, "O", "f8,f8", "q,", 3, [], np.dtype(">i4"), ">f8", "<c16", "|S3", "<", "f3", "c8"):
        with pytest.raises(TypeError, match="^dtype: "):
            pyreduct.sum(x, dtype=name)


def test_numbers_of_python():
    assert pyreduct.sum(3.5) == 3.5 and pyreduct.max(3) == 3 and pyreduct.any(True) is True and type(pyreduct.sum(3)) is int
    assert pyreduct.dot([1, 2, 3], [1.5, 2, 3]) == 14.5 and pyreduct.dot([1, 2, 3], [True, False, True]) == 4
    for kind in ("f4", "f8", "i4"):
        x = np.array([1, 2, 3], kind)
        assert pyreduct.dot(x, [1, 2, 3]) == 14 and pyreduct.dot([1, 2, 3], x) == 14, kind
    assert pyreduct.average(X[3:], weights=[1, 2, 1]) == 0.75
    assert pyreduct.average(np.float32([[1, 2], [3, 4]]), axis=1, weights=[1, 3]).tolist() == [1.75, 3.75]
    assert pyreduct.average(X, weights=np.ones(6, "i4")) == 0.625
    with pytest.raises(TypeError, match="^weights: elements of f64; expected i64"):
        pyreduct.average(np.array([1, 2]), weights=np.array([0.5, 1]))
    with pytest.raises(TypeError, match="^y: .*expected numbers that i64 can be"):
        pyreduct.dot(np.array([1, 2]), [1.5, 2])
    with pytest.raises(TypeError, match="numpy.asarray"):
        pyreduct.sum([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(OverflowError, match="beyond 64 bits"):
        pyreduct.sum([2**64])


def test_where_may_be_one_truth_value():
    x = X.reshape(2, 3)
    assert pyreduct.sum(x, where=True) == 3.75 and pyreduct.sum(x, axis=1, where=False).tolist() == [0, 0]
    assert pyreduct.segment_sum(X, [0, 3, 6], where=True).tolist() == [1.0, 2.75]
    assert pyreduct.group_sum(X, IDS, 2, where=True).tolist() == [2.0, 1.75]


def test_index_add_is_like_what_is_added_to():
    for kind in ("f8", "f4", "i8", "u8"):
        result = pyreduct.index_add(np.ones(3, kind), [0, 2, 2], [1, 2, 3])
        assert type(result) is np.ndarray and result.dtype == np.dtype(kind) and result.tolist() == [2, 1, 6]
    assert type(pyreduct.group_sum([1.0, 2.0], [0, 1], 2, initial=np.zeros(2))) is np.ndarray
    assert pyreduct.index_add([1.0, 1.0], [1], [0.5]) == [1.0, 1.5]
    for values in (np.ones(3, "f4"), np.ones((3, 2)), np.float64(1)):
        with pytest.raises(ValueError, match="^values: .*expected f64"):
            pyreduct.index_add(np.zeros(3), [0, 1, 2], values)
    with pytest.raises(TypeError, match="^values: .*i64"):
        pyreduct.index_add(np.zeros(3, "i8"), [0], [1.5])
    with pytest.raises(ValueError, match="^x: a number"):
        pyreduct.index_add(np.float64(1), [0], [1.0])


@pytest.mark.parametrize("step", [-1, 2, -2, 3])
def test_groups_and_segments_of_views_that_lie_apart(step):
    """They are copied: the results are those of contiguous arrays, in calls that are made again, too, which have other data."""
    rng = np.random.default_rng(step + 5)
    wide, far = rng.standard_normal(60), rng.integers(0, 4, 60)
    kept, bounds = rng.random(60) < 0.7, np.repeat(np.array([0, 3, 3, 10]), 2)[::2]
    for _ in range(4):
        wide[:] = rng.standard_normal(60) * 2.0 ** rng.integers(-60, 60, 60)
        x, ids, where = wide[::step], far[::step], kept[::step]
        flat = [np.ascontiguousarray(each) for each in (x, ids, where)]
        assert pyreduct.group_sum(x, ids, 4).tolist() == pyreduct.group_sum(flat[0], flat[1], 4).tolist()
        assert pyreduct.group_sum(x, ids, 4, where=where).tolist() == pyreduct.group_sum(flat[0], flat[1], 4, where=flat[2]).tolist()
        assert pyreduct.segment_sum(x, bounds).tolist() == pyreduct.segment_sum(flat[0], bounds.copy()).tolist()
        start = np.arange(8.0)[::2][::-1]
        assert pyreduct.index_add(start, ids, x).tolist() == pyreduct.index_add(start.copy(), flat[1], flat[0]).tolist()
    rows = wide.reshape(12, 5)
    assert pyreduct.group_sum(rows.T, [0, 1, 0, 1, 1], 2).tolist() == pyreduct.group_sum(rows.T.copy(), [0, 1, 0, 1, 1], 2).tolist()
    assert pyreduct.group_by(np.arange(4)[::-1]).keys.tolist() == [3, 2, 1, 0]


def test_python_s_sum_merges():
    parts = np.array_split(X, 3)
    accumulators = [Accumulator("sum").add(part) for part in parts]
    tables = [Table("sum", "f64", 2).add(part, ids) for part, ids in zip(parts, np.array_split(IDS, 3))]
    assert sum(accumulators).result() == reduce(operator.add, accumulators).result() == 3.75
    assert sum(tables).result().tolist() == [2.0, 1.75] and sum(tables[:1]) is not tables[0]
    with pytest.raises(TypeError):
        1 + accumulators[0]
    assert Accumulator("sum", "f32").add([1, 2.5]).result() == 3.5 and Accumulator("sum", "i32").add([1, 2]).result() == 3


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: pyreduct.sum(X, axis="0"), TypeError, "axis: '0'; expected an integer, a tuple of them or None"),
        (lambda: pyreduct.sum(X, axis=[0]), TypeError, r"axis: \[0\]"),
        (lambda: pyreduct.sum(X, axis=0.0), TypeError, "axis: 0.0"),
        (lambda: pyreduct.sum(X, nan="drop"), ValueError, "nan: 'drop'; expected 'propagate', 'ignore' or 'error'"),
        (lambda: pyreduct.sum(X, mode="quick"), ValueError, "mode: 'quick'; expected 'exact' or 'fast'"),
        (lambda: pyreduct.sum(np.zeros((2, 2)), 0, out=np.broadcast_to(0.0, 2)), ValueError, "out: read-only"),
        (lambda: pyreduct.sum(np.zeros((2, 2)), 0, out=memoryview(bytes(16)).cast("d")), ValueError, "out: read-only"),
        (lambda: pyreduct.sum(np.array(["2020-01-01"], "M8[D]")), TypeError, r"x: elements of datetime64\[D\]"),
        (lambda: pyreduct.several(X, "sum"), TypeError, r"ops: 'sum'; expected several names, as \['sum'\]"),
        (lambda: pyreduct.several(X, []), ValueError, "ops: 0 operators"),
        (lambda: pyreduct.group_sum(X, IDS, 2.0), TypeError, "n: 2.0; expected an integer"),
        (lambda: pyreduct.group_sum(X, IDS[:2], 2), ValueError, r"ids: shape \(2,\); expected \(6,\)"),
        (lambda: pyreduct.group_sum(X, IDS, 2, where=np.ones(2, bool)), ValueError, r"where: shape \(2,\)"),
        (lambda: pyreduct.group_sum(np.float64(1), IDS, 2), ValueError, "x: a number"),
        (lambda: pyreduct.segment_sum(X, length=1.5), TypeError, "length: 1.5"),
        (lambda: pyreduct.segment_sum(X, begins=[0, 1], ends=[1]), ValueError, r"begins, ends: i64 with shape \(2,\) and i64 with \(1,\)"),
        (lambda: Accumulator("median"), ValueError, "operator: 'median'; expected a reduction"),
        (lambda: Accumulator("dot").add([1.0]), TypeError, "y: found none; dot reads pairs"),
        (lambda: Accumulator("sum").add([1.0], [1.0]), TypeError, "y: sum reads the elements of one array"),
        (lambda: Accumulator("dot").add([1.0, 2.0], [1.0]), ValueError, r"y: shape \(1,\); expected \(2,\), as x has"),
        (lambda: Accumulator("sum", "f16").add([1.0]), TypeError, "x: numbers of Python; expected an array of f16"),
        (lambda: Table("sum", "f64", 2.0), TypeError, "groups: 2.0"),
        (lambda: Table("sum", "f64", 2).add([1.0], [0.5]), TypeError, "ids: "),
        (lambda: Table("sum", "f64", 2).add([1.0], [0], [1.0]), TypeError, "y: sum reads"),
        (lambda: Table("dot", "f64", 2).add([1.0], [0]), TypeError, "y: found none"),
        (lambda: Table("sum", "f64", 2).add_group("a", [1.0]), TypeError, "group: 'a'"),
        (lambda: Table("sum", "f64", 2).resize("a"), TypeError, "groups: 'a'"),
        (lambda: Table("sum", "f64", 2).merge(Table("sum", "f64", 2), [0]), ValueError, "mapping: 1 numbers of i64; expected"),
    ],
)
def test_what_is_wrong_is_said(call, error, words):
    with pytest.raises(error, match=f"^{words}"):
        call()
