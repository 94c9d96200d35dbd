"""What the functions compute, against fractions, math.fsum and NumPy."""
import array
import ast
import inspect
import math
import multiprocessing
import pathlib
import pickle
from fractions import Fraction

import exact
import numpy as np
import pytest
from exact import same
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pyreduct
import pyreduct.arrow

FLOATS = st.sampled_from(["float64", "float32", "float16"])
INTEGERS = st.sampled_from(["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])


@st.composite
def arrays(draw, dtypes, dims=(1, 4), side=6, least=0, **elements):
    dtype = draw(dtypes)
    shape = draw(hnp.array_shapes(min_dims=dims[0], max_dims=dims[1], min_side=least, max_side=side))
    x = draw(hnp.arrays(dtype, shape, elements=hnp.from_dtype(np.dtype(dtype), **elements)))
    return x + 0 if x.dtype.kind == "f" else x  # without -0, which neither fractions nor NumPy tell from +0


finite = {"allow_nan": False, "allow_infinity": False}


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=100))
def test_lists_as_fsum(values):
    try:
        expected = math.fsum(values)
    except OverflowError:  # of a sum in between
        expected = float(exact.rounded(exact.total(values), "float64"))
    assert pyreduct.sum(values) == expected
    assert pyreduct.sum(tuple(values)) == expected
    assert pyreduct.sum(iter(values)) == expected
    assert pyreduct.sum(array.array("d", values)) == expected
    assert type(pyreduct.sum(values)) is float


@given(arrays(FLOATS, least=1, **finite))
def test_floats_as_fractions(x):
    values = x.ravel().tolist()
    same(pyreduct.sum(x), exact.rounded(exact.total(values), x.dtype))
    same(pyreduct.mean(x), exact.rounded(exact.mean(values), x.dtype))
    same(pyreduct.var(x), exact.rounded(exact.variance(values, 0), x.dtype))
    same(pyreduct.std(x), exact.rounded_root(exact.variance(values, 0), x.dtype))
    squares = sum((v * v for v in exact.fractions(values)), Fraction(0))
    same(pyreduct.sumsq(x), exact.rounded(squares, x.dtype))
    same(pyreduct.norm(x), exact.rounded_root(squares, x.dtype))
    same(pyreduct.rms(x), exact.rounded_root(squares / len(values), x.dtype))
    same(pyreduct.norm(x, 1), exact.rounded(sum(map(abs, exact.fractions(values))), x.dtype))
    same(pyreduct.norm(x, math.inf), np.abs(x).max())
    if len(values) > 1:
        same(pyreduct.var(x, ddof=1), exact.rounded(exact.variance(values, 1), x.dtype))
    for dtype in ("float64", "float32", "float16"):
        same(pyreduct.sum(x, dtype=dtype), exact.rounded(exact.total(values), dtype))


@given(st.data(), FLOATS)
def test_pairs_as_fractions(data, dtype):
    elements = hnp.from_dtype(np.dtype(dtype), **finite)
    x = data.draw(hnp.arrays(dtype, st.integers(1, 20), elements=elements))
    y = data.draw(hnp.arrays(dtype, len(x), elements=elements))
    x, y = x + 0, np.copysign(y, 1)  # no -0, as above, nor products that are
    x, y = np.abs(x), np.where(x < 0, -y, y) + 0
    y[x == 0] = 1
    products = sum((a * b for a, b in zip(exact.fractions(x), exact.fractions(y))), Fraction(0))
    same(pyreduct.dot(x, y), exact.rounded(products, dtype))
    same(pyreduct.vecdot(x, y), exact.rounded(products, dtype))
    if exact.total(y) != 0:
        same(pyreduct.average(x, weights=y), exact.rounded(products / exact.total(y), dtype))


@given(arrays(INTEGERS))
def test_integers_as_python(x):
    values = [int(value) for value in x.ravel()]
    bounds = np.iinfo("uint64" if x.dtype.kind == "u" else "int64")
    if bounds.min <= sum(values) <= bounds.max:
        same(pyreduct.sum(x), np.sum(x))
    else:
        with pytest.raises(OverflowError):
            pyreduct.sum(x)
    total = pyreduct.sum(x, dtype="i128")
    assert type(total) is int and total == sum(values)
    assert pyreduct.sumsq(x, dtype="i256") == sum(v * v for v in values)
    same(pyreduct.sum(x, dtype=np.float32), exact.rounded(Fraction(sum(values)), "float32"))
    if values:
        assert pyreduct.ptp(x) == max(values) - min(values)


@given(arrays(st.sampled_from(["bool", "int8", "uint64", "float32", "float64"]), least=1), st.booleans(), st.data())
def test_choices_as_numpy(x, keepdims, data):
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1))
    for name in ("min", "max", "any", "all", "count_nonzero", "argmin", "argmax"):
        expected = getattr(np, name)(x, axis=axis, keepdims=keepdims)
        same(getattr(pyreduct, name)(x, axis=axis, keepdims=keepdims), np.asarray(expected) if name != "any" else expected)
    least, greatest = pyreduct.minmax(x, axis)
    same(least, np.min(x, axis))
    same(greatest, np.max(x, axis))


@given(arrays(FLOATS, least=1, allow_infinity=False), st.data())
def test_nan_ignored(x, data):
    axis = data.draw(st.integers(0, x.ndim - 1))
    present = ~np.isnan(x)
    same(pyreduct.count(x, axis), present.sum(axis))
    without = pyreduct.sum(np.where(present, x, -0.0).astype(x.dtype), axis)
    same(pyreduct.nansum(x, axis), np.where(present.any(axis), without, 0).astype(x.dtype))  # of nothing it is +0
    same(pyreduct.nansum(x, axis), pyreduct.sum(x, axis, where=present))
    if present.any(axis).all():
        for name in ("min", "max", "argmin", "argmax"):
            same(getattr(pyreduct, "nan" + name)(x, axis), getattr(np, "nan" + name)(x, axis))
        same(pyreduct.nanmean(x, axis), pyreduct.mean(x, axis, where=present))
    else:
        with pytest.raises(pyreduct.EmptyError):
            pyreduct.nanmean(x, axis)


@given(arrays(st.just("float64"), dims=(0, 5), side=4), st.booleans(), st.data())
def test_axes(x, keepdims, data):
    axes = data.draw(st.lists(st.sampled_from(range(x.ndim)), unique=True) if x.ndim else st.just([]))
    axes = tuple(axis - x.ndim * data.draw(st.booleans()) for axis in axes)
    x = np.nan_to_num(x)
    expected = np.sum(x, axis=axes, keepdims=keepdims)
    result = pyreduct.sum(x, axis=axes, keepdims=keepdims)
    assert result.shape == expected.shape
    flat = np.moveaxis(x, axes, range(len(axes))).reshape(math.prod(x.shape[axis] for axis in axes), -1) if x.size else None
    if flat is not None:
        same(np.ravel(result), np.array([pyreduct.sum(np.ascontiguousarray(column)) for column in flat.T]))
    out = np.full(expected.shape[::-1], 7.0).T
    assert pyreduct.sum(x, axes, None, out, keepdims) is out
    same(out, np.asarray(result))


@given(arrays(st.sampled_from(["float64", "float16", "int32"]), dims=(1, 4), least=1, **{}), st.data())
def test_views(x, data):
    """Slices of all strides, transposed, repeated, unaligned and of records have the results of their copies."""
    x = np.nan_to_num(x, posinf=1, neginf=-1) if x.dtype.kind == "f" else x
    index = tuple(slice(None, None, data.draw(st.sampled_from([1, 2, 3, -1, -2]))) for _ in x.shape)
    view = x[index].transpose(data.draw(st.permutations(range(x.ndim))))
    axis = data.draw(st.integers(0, x.ndim - 1))
    records = np.zeros(x.shape, [("pad", "i1"), ("x", x.dtype)])
    records["x"] = x
    for each in (view, np.broadcast_to(view, (3, *view.shape)), records["x"]):
        copy = np.ascontiguousarray(each)
        for name in ("sum", "mean", "argmax", "max"):
            same(getattr(pyreduct, name)(each), getattr(pyreduct, name)(copy))
            same(getattr(pyreduct, name)(each, axis), getattr(pyreduct, name)(copy, axis))
        mask = np.arange(copy.size).reshape(copy.shape) % 3 > 0
        same(pyreduct.sum(each, where=mask), pyreduct.sum(copy[mask]))


def test_by_name():
    x = np.random.default_rng(1).integers(-100, 100, (5, 7))
    for name, ufunc in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        for axis in (0, 1, (0, 1), None):
            same(np.asarray(pyreduct.reduce(x, name, axis)), np.asarray(ufunc.reduce(x, axis)))
        same(pyreduct.reduce(x.astype("u1"), name, 0, keepdims=True, where=x < 0), ufunc.reduce(x.astype("u1"), 0, keepdims=True, where=x < 0))
    same(pyreduct.reduce(x / 8, "norm1", 1), pyreduct.norm(x / 8, 1, axis=1))
    same(pyreduct.reduce(x / 8, "var", 1, ddof=1), pyreduct.var(x / 8, 1, ddof=1))
    for wrong in ("dot", "minmax", "nothing"):
        with pytest.raises(ValueError, match="^op: "):
            pyreduct.reduce(x, wrong)


def test_several():
    x = np.arange(12.0).reshape(3, 4)
    names = ["sum", "max", "var", "argmin", "prod"]
    for axis in (None, 0, 1):
        results = pyreduct.several(x, names, axis)
        for name, result in zip(names, results):
            same(result, getattr(pyreduct, name)(x, axis))
    with pytest.raises(ValueError, match="dot"):
        pyreduct.several(x, ["dot"])


@given(st.lists(st.integers(0, 9), max_size=6), st.sampled_from(["i4", "u4", "i8", "u8"]))
def test_segments(lengths, index):
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype="i8")]).astype(index)
    x = np.sin(np.arange(offsets[-1], dtype="f8"))
    mask = np.cos(x) > 0.7
    pieces = [(x[a:b], mask[a:b]) for a, b in zip(offsets[:-1], offsets[1:])]
    same(pyreduct.segment_sum(x, offsets), np.array([pyreduct.sum(piece) for piece, _ in pieces], "f8"))
    same(pyreduct.segment_sum(x, begins=offsets[:-1], ends=offsets[1:], where=mask),
         np.array([pyreduct.sum(piece, where=kept) for piece, kept in pieces], "f8"))
    if all(lengths):
        same(pyreduct.segment_max(x, offsets), np.array([piece.max() for piece, _ in pieces], "f8"))


def test_without_check_what_does_not_exist_is_nan():
    x = np.array([[0.0, 1.0], [np.nan, np.nan], [2.0, 4.0]])
    flat, ids, offsets = np.arange(4.0), np.array([0, 0, 2, 2]), np.array([0, 2, 2, 4])
    for _ in range(3):  # calls made again, too
        same(pyreduct.nanmean(x, 1, check=False), np.array([0.5, np.nan, 3.0]))
        same(pyreduct.nanmax(x, 1, check=False), np.array([1.0, np.nan, 4.0]))
        same(pyreduct.mean(x, where=x > 9, check=False), np.float64(np.nan))
        same(pyreduct.mean(x[:0], check=False), np.float64(np.nan))
        same(pyreduct.min(x[:0], 0, check=False), np.full(2, np.nan))
        same(pyreduct.var(x[:1, :1], ddof=1, check=False, dtype="f32"), np.float32(np.nan))
        same(pyreduct.sum(x, 1, nan="error", check=False), np.array([1.0, np.nan, 6.0]))
        same(pyreduct.segment_mean(flat, offsets, check=False), np.array([0.5, np.nan, 2.5]))
        same(pyreduct.segment_min(flat.astype("i4"), offsets, check=False), np.array([0, 0, 2], "i4"))
        same(pyreduct.group_mean(flat, ids, 3, check=False), np.array([0.5, np.nan, 2.5]))
        same(pyreduct.group_by(ids).mean(np.where(ids, flat, np.nan), nan="ignore", check=False), np.array([np.nan, 2.5]))
        same(pyreduct.sum(np.array([[2**62, 2**62], [1, 2]]), 1, check=False), np.array([0, 3]))
        same(pyreduct.several(x[:0], ["mean", "sum"], 0, check=False)[0], np.full(2, np.nan))
        out = np.ones(3)
        assert pyreduct.max(x[:, :0], 1, out=out, check=False) is out and np.isnan(out).all()
    assert math.isnan(pyreduct.mean([], check=False)) and pyreduct.argmax([], check=False) == 0
    with pytest.raises(ValueError, match="within the array's 4"):
        pyreduct.segment_sum(flat, np.array([0, 9]), check=False)


def test_segments_of_one_length():
    x = np.arange(12.0)
    same(pyreduct.segment_mean(x, length=4), pyreduct.mean(x.reshape(3, 4), 1))
    with pytest.raises(ValueError, match="divides the 12 elements"):
        pyreduct.segment_mean(x, length=5)


@given(st.integers(1, 5), st.integers(0, 40), st.sampled_from(["u1", "u2", "u4", "u8", "i4", "i8"]), st.randoms())
def test_groups(n, length, index, random):
    ids = np.array([random.randrange(n) for _ in range(length)], index)
    x = np.sin(np.arange(length, dtype="f8")) * 1e10 ** (np.arange(length) % 3)
    mask = np.cos(x) > 0
    same(pyreduct.group_sum(x, ids, n), np.array([pyreduct.sum(x[ids == k]) for k in range(n)]))
    same(pyreduct.group_sum(x, ids, n, where=mask), np.array([pyreduct.sum(x[(ids == k) & mask]) for k in range(n)]))
    rows = np.stack([x, x + 1], 1)
    same(pyreduct.group_sum(rows, ids, n), np.array([pyreduct.sum(rows[ids == k], 0) for k in range(n)]))
    same(pyreduct.group_count_nonzero(x, ids, n), np.bincount(ids.astype("i8"), x != 0, n).astype("i8"))
    start = np.arange(n, dtype="f8")
    expected = np.array([pyreduct.sum(np.append(x[ids == k], start[k])) for k in range(n)])
    same(pyreduct.index_add(start, ids, x), expected)
    assert start.tolist() == list(range(n))


def test_groups_outside():
    x = np.arange(3.0)
    with pytest.raises(ValueError, match="expected one of the 2 groups"):
        pyreduct.group_sum(x, np.array([0, 5, 1]), 2)
    assert pyreduct.group_sum(x, np.array([0, 5, 1]), 2, skip=True).tolist() == [0.0, 2.0]
    for ids, error in ((np.array([0.0, 1.0, 0.0]), TypeError), (np.array([0, 1]), ValueError), (np.array([[0, 1, 0]]), ValueError)):
        with pytest.raises(error, match="^ids: "):
            pyreduct.group_sum(x, ids, 2)
    assert pyreduct.group_sum(np.zeros((3, 0)), np.array([0, 5, 1]), 2, skip=True).shape == (2, 0)
    with pytest.raises(ValueError, match="n: -1"):
        pyreduct.group_sum(x, np.array([0, 1, 0]), -1)
    with pytest.raises(pyreduct.EmptyError):
        pyreduct.group_max(x, np.array([0, 0, 0]), 2)
    assert pyreduct.group_sum(np.zeros((3, 0)), np.array([0, 0, 0]), 2).shape == (2, 0)


def test_integers_of_narrower_types():
    """The exact result, or an error, of which nothing is written."""
    x = np.array([[3000, -5], [4, 30000]])
    for name, limit in (("i16", 2**15), ("u16", 2**16), ("i32", 2**31), ("u32", 2**32)):
        dtype = pyreduct.sum(x[0], dtype=name).dtype
        assert dtype.itemsize * 8 == int(name[1:]) and dtype.kind == name[0]
        same(pyreduct.sum(x, 1, dtype=name), x.sum(1).astype(dtype))
        same(pyreduct.sum(np.array([limit - 2, 1]), dtype=name), dtype.type(limit - 1))
        out = np.full(2, 7, dtype)
        for wrong in ([[1, 2], [limit - 1, 1]], [[1, 2], [-limit, -1]]):
            for _ in range(2):
                with pytest.raises(OverflowError, match=f"^sum: result 1 does not fit {name}") as caught:
                    pyreduct.sum(np.array(wrong), 1, out=out)
                assert caught.value.index == 1 and out.tolist() == [7, 7]
        assert pyreduct.sum(np.array(wrong), 1, dtype=name, check=False).tolist() == [3, 0]
    same(pyreduct.sum(np.array([2**31 - 1, 0], "u4"), dtype="i32"), np.int32(2**31 - 1))
    with pytest.raises(OverflowError):
        pyreduct.sum(np.array([2**63], "u8"), dtype="i32")
    strided = np.zeros(4, "i4")[::2]
    assert pyreduct.sum(x, 0, out=strided) is strided and strided.tolist() == [3004, 29995]
    assert pyreduct.segment_sum(x[0], [0, 1, 2], dtype="i16").dtype == np.int16 and pyreduct.group_sum(x, [0, 0], 1, dtype="i16").dtype == np.int16


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
def test_index_add_of_integers(dtype):
    x, ids = np.array([1, 0, 1]).astype(dtype), np.array([0, 2, 0, 0])
    expected = x.copy()
    np.add.at(expected, ids, np.ones(4, dtype))
    for _ in range(2):
        same(pyreduct.index_add(x, ids, np.ones(4, dtype)), expected)
    same(pyreduct.index_add(x[:, None], ids, np.ones((4, 1), dtype)), expected[:, None])
    if dtype != "?":
        with pytest.raises(OverflowError, match="does not fit"):
            pyreduct.index_add(x, ids, np.full(4, np.iinfo(dtype).max, dtype))


def test_norms_of_segments_and_groups():
    x, ids = np.array([3.0, 4.0, -2.0, 5.0, 12.0]), np.array([0, 0, 1, 2, 2])
    parts = [x[ids == group] for group in range(3)]
    for name in ("rms", "norm", "ptp"):
        expected = np.array([getattr(pyreduct, name)(part) for part in parts])
        same(getattr(pyreduct, f"segment_{name}")(x, [0, 2, 3, 5]), expected)
        same(getattr(pyreduct, f"group_{name}")(x, ids, 3), expected)
        same(getattr(pyreduct.group_by(ids), name)(x), expected)


def test_average():
    x = np.arange(12.0).reshape(3, 4)
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    same(pyreduct.average(x, 1, weights), np.average(x, 1, weights))
    same(pyreduct.average(x, axis=0, weights=weights[:3]), np.average(x, 0, weights[:3]))
    same(pyreduct.average(x, (1,), weights), np.average(x, (1,), weights))
    with pytest.raises(ValueError, match="expected an integer as axis"):
        pyreduct.average(x, (0, 1), weights)
    same(pyreduct.average(x, weights=x), np.average(x, weights=x))
    same(pyreduct.average(x), np.mean(x))
    for dtype in ("f4", "f2", "i1", "u8"):
        same(pyreduct.average(x, 1, weights.astype(dtype)), pyreduct.average(x, 1, weights))
    same(pyreduct.average(x.astype("f4"), 1, weights), pyreduct.average(x, 1, weights).astype("f4"))
    assert pyreduct.average(np.arange(4), weights=weights) == 2
    for values, wrong in (("f8", [2**53 + 1]), ("f8", np.array([2**64 - 1], "u8")), ("f4", [0.1]), ("i8", [0.5]), ("i8", np.array([2**63], "u8")), ("u8", [-1]), ("i1", [np.nan]), ("f2", [1e6])):
        with pytest.raises(TypeError, match=r"^weights: elements of .*; expected .* equal to such"):
            pyreduct.average(np.ones(1, values), weights=np.asarray(wrong))
    assert np.isnan(pyreduct.average(np.ones(1, "f4"), weights=np.array([np.nan])))


def test_modes():
    x = np.array([1e100, 1.0, -1e100])
    assert pyreduct.sum(x) == 1
    fast = np.full(10000, 0.1)
    assert pyreduct.sum(fast, mode="fast") == pytest.approx(1000, rel=1e-13)
    assert pyreduct.sum(x, mode="exact") == 1


def test_signatures():
    """NumPy's names and order of the arguments that can be given by place."""
    for name in ("sum", "prod", "mean", "min", "max", "argmin", "argmax", "any", "all", "var", "std", "ptp", "count_nonzero"):
        ours = inspect.signature(getattr(pyreduct, name)).parameters
        theirs = inspect.signature(getattr(np, name)).parameters
        places = [each for each in theirs if theirs[each].kind == inspect.Parameter.POSITIONAL_OR_KEYWORD][1:]
        shared = [each for each in places if each not in ("initial", "where", "mean", "correction")]
        assert [each for each in ours if ours[each].kind == inspect.Parameter.POSITIONAL_OR_KEYWORD][1:] == shared, name
        for each in ("axis", "ddof"):
            assert each not in shared or ours[each].default == theirs[each].default


PUBLIC = [each for each in (getattr(pyreduct, name) for name in pyreduct.__all__) if callable(each) and not isinstance(each, type)]


@pytest.mark.parametrize("function", PUBLIC, ids=lambda each: each.__name__)
def test_functions_have_names(function):
    """By which they are pickled, as multiprocessing does, and signatures that say what they take."""
    assert pickle.loads(pickle.dumps(function)) is function and getattr(pyreduct, function.__name__) is function
    assert function.__doc__ and all(each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL) for each in inspect.signature(function).parameters.values())
    general = pyreduct._functions.FUNCTIONS.get(function.__name__, function)
    assert [str(each) for each in inspect.signature(general).parameters.values()] == [str(each) for each in inspect.signature(function).parameters.values()]


def stubs(module):
    """Of each function of a module's stub its parameters: name, kind and default, which classes have for several of them."""
    tree = ast.parse(pathlib.Path(module.__file__).with_suffix(".pyi").read_text())
    classes = {each.name: each.body[0].args for each in tree.body if isinstance(each, ast.ClassDef) and isinstance(each.body[0], ast.FunctionDef)}
    found = {each.name: each.args for each in tree.body if isinstance(each, ast.FunctionDef)}
    found |= {each.target.id: classes[each.annotation.id] for each in tree.body if isinstance(each, ast.AnnAssign) and each.annotation.id in classes}
    for name, arguments in found.items():
        plain = [(each.arg, "POSITIONAL_OR_KEYWORD") for each in arguments.args if each.arg != "self"]
        defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults + arguments.kw_defaults
        rows = plain + [(each.arg, "KEYWORD_ONLY") for each in arguments.kwonlyargs]
        rest = [(arguments.kwarg.arg, "VAR_KEYWORD", None)] if arguments.kwarg else []
        found[name] = [(*row, default and ast.unparse(default)) for row, default in zip(rows, defaults)] + rest
    return found


@pytest.mark.parametrize("module", [pyreduct, pyreduct.arrow])
def test_stubs(module):
    found = stubs(module)
    public = [name for name in module.__all__ if callable(getattr(module, name)) and not isinstance(getattr(module, name), type)]
    assert set(public) - {"group_by"} == found.keys() - {"group_by"}
    for name, parameters in found.items():
        signature = inspect.signature(getattr(module, name)).parameters.values()
        assert parameters == [(each.name, each.kind.name, None if each.default is each.empty else repr(each.default)) for each in signature], name


def test_functions_are_mapped_by_processes():
    arrays = [np.arange(4.0), np.array([1.0, np.nan])]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(pyreduct.nansum, arrays) == [6.0, 1.0]
        assert pool.starmap(pyreduct.reduce, [(arrays[0], "norm1")]) == [6.0] and pool.starmap(pyreduct.segment_max, [(arrays[0], [0, 4])])[0].tolist() == [3.0]


def test_everything_that_the_library_has():
    from pyreduct import _core

    elsewhere = {"norm1": "norm", "norm2": "norm", "norminf": "norm", "product": "prod", "weighted_mean": "average"}
    for name, _, _ in _core.OPERATORS:
        if name in ("and", "or", "xor"):  # words of Python's: by reduce(), several() and segment_reduce()
            x = np.array([12, 10])
            assert pyreduct.several(x, [name])[0] == pyreduct.reduce(x, name) == getattr(np, f"bitwise_{name}").reduce(x)
        else:
            assert hasattr(pyreduct, elsewhere.get(name, name))
