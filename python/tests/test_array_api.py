"""The array API's standard, https://data-apis.org/array-api/latest, on reductions: what it says of types,
shapes and values is tested here, on a namespace of NumPy's arrays and this package's functions. Its own tests, which are on no package
index, are run by array_api_suite.py where they can be had.

Where the package differs, as docs/python.md says, that is tested too: means and variances of too few elements raise EmptyError instead
of being NaN, and integer sums that do not fit raise OverflowError."""
import inspect
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from exact import mean, rounded, rounded_root, same, total, variance
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pyreduct


def _statistical(name):
    def function(x, /, *, axis=None, keepdims=False, **options):
        return np.asarray(getattr(pyreduct, name)(x, axis=axis, keepdims=keepdims, **options))

    return function


def _spread(name):
    def function(x, /, *, axis=None, correction=0.0, keepdims=False):
        return np.asarray(getattr(pyreduct, name)(x, axis=axis, correction=correction, keepdims=keepdims))

    return function


xp = SimpleNamespace(
    **{name: _statistical(name) for name in ("sum", "prod", "mean", "max", "min", "argmax", "argmin", "any", "all", "count_nonzero")},
    var=_spread("var"), std=_spread("std"),
)  # fmt: skip

FLOATS = ["float32", "float64"]
SIGNED, UNSIGNED = ["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"]


def arrays(dtypes, least=0, **options):
    """Of up to 4 axes, of `least` to 4 elements each; floats of all sizes, with infinities and NaN."""
    shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=least, max_side=4)
    return st.sampled_from(dtypes).flatmap(lambda dtype: hnp.arrays(dtype, shapes, **options))


@st.composite
def reductions(draw, dtypes, single=False, **options):
    """An array, the keyword arguments of a reduction, and the axes that these name."""
    x = draw(arrays(dtypes, **options))
    number = st.integers(-x.ndim, x.ndim - 1) if x.ndim else st.nothing()
    several = st.lists(number, unique_by=lambda axis: axis % max(x.ndim, 1)).map(tuple)
    axis = draw(st.none() | number if single else st.none() | number | several)
    axes = range(x.ndim) if axis is None else [each % x.ndim for each in (axis if isinstance(axis, tuple) else (axis,))]
    keywords = {"axis": axis, "keepdims": draw(st.booleans())}
    return x, {name: value for name, value in keywords.items() if (value is not None and value is not False) or draw(st.booleans())}, sorted(axes)


def check(result, x, keywords, axes, dtype, expected):
    """Type, shape and each value, which expected() gives for the list of elements of a result."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    shape = tuple(x.shape[axis] for axis in kept)
    full = tuple(1 if axis in axes else length for axis, length in enumerate(x.shape))
    assert result.dtype == dtype and result.shape == (full if keywords.get("keepdims") else shape)
    rows = x.transpose(kept + axes).reshape(*shape, math.prod(x.shape[axis] for axis in axes))
    for place in np.ndindex(*shape):
        same(result.reshape(shape)[place], np.dtype(dtype).type(expected(list(rows[place]))))


def of_floats(function, special):
    """What a function of finite numbers is of all: `special` says what infinities make of it."""

    def value(elements):
        if any(map(math.isnan, elements)):
            return math.nan
        return special(elements) if any(map(math.isinf, elements)) else function(elements)

    return value


def _sum_of_infinities(elements):
    signs = {element > 0 for element in elements if math.isinf(element)}
    return math.nan if len(signs) == 2 else math.inf if True in signs else -math.inf


def _raises(x, axes, least, call):
    """Whether results of too few elements made an error of the call, as they must."""
    kept = math.prod(x.shape[axis] for axis in range(x.ndim) if axis not in axes)
    if kept == 0 or math.prod(x.shape[axis] for axis in axes) >= least:
        return False
    with pytest.raises(pyreduct.EmptyError):
        call()
    return True


def _zero_of(elements, dtype):
    """Of an exact sum that is 0: of terms that are all -0 it is -0."""
    return np.dtype(dtype).type(-0.0 if elements and all(np.signbit(each) and each == 0 for each in elements) else 0.0)


@given(reductions(FLOATS))
def test_sum_of_floats(case):
    x, keywords, axes = case
    finite = lambda elements: rounded(total(elements), x.dtype) or _zero_of(elements, x.dtype)
    check(xp.sum(x, **keywords), x, keywords, axes, x.dtype, of_floats(finite, _sum_of_infinities))


@given(reductions(["float32"], elements={"allow_nan": False, "allow_infinity": False}))
def test_dtype_of_sums(case):
    """The type that is asked for has the exact value, rounded once; NumPy would cast first, which of wider ones is the same."""
    x, keywords, axes = case
    finite = lambda elements: rounded(total(elements), "float64") or _zero_of(elements, "float64")
    check(xp.sum(x, dtype=np.float64, **keywords), x, keywords, axes, "float64", finite)


@given(reductions(["bool", *SIGNED, *UNSIGNED]))
def test_sum_and_prod_of_integers(case):
    """Their type is int64, or of unsigned ones uint64: never less wide than that of the elements."""
    x, keywords, axes = case
    dtype = "uint64" if x.dtype.kind == "u" else "int64"
    for name, function in (("sum", sum), ("prod", math.prod)):
        values = x.astype(object) if x.dtype.kind != "b" else x.astype(int).astype(object)
        exact = np.asarray(getattr(np, name)(values, axis=tuple(axes)), object).ravel()
        if any(not np.iinfo(dtype).min <= each <= np.iinfo(dtype).max for each in exact):
            with pytest.raises(OverflowError):
                getattr(xp, name)(x, **keywords)
        else:
            check(getattr(xp, name)(x, **keywords), x, keywords, axes, dtype, lambda elements: function(map(int, elements)))


@given(reductions(FLOATS))
def test_mean(case):
    x, keywords, axes = case
    if not _raises(x, axes, 1, lambda: xp.mean(x, **keywords)):
        finite = lambda elements: rounded(mean(elements), x.dtype) or _zero_of(elements, x.dtype)
        check(xp.mean(x, **keywords), x, keywords, axes, x.dtype, of_floats(finite, _sum_of_infinities))


@pytest.mark.parametrize("name", ["var", "std"])
@given(case=reductions(FLOATS), correction=st.sampled_from([0, 1, 0.0, 1.0]))
def test_spread(name, case, correction):
    x, keywords, axes = case
    function, ddof = getattr(xp, name), int(correction)
    if not _raises(x, axes, 1 + ddof, lambda: function(x, correction=correction, **keywords)):
        turn = rounded if name == "var" else rounded_root
        finite = lambda elements: turn(variance(elements, ddof), x.dtype)
        check(function(x, correction=correction, **keywords), x, keywords, axes, x.dtype, of_floats(finite, lambda elements: math.nan))


@pytest.mark.parametrize("name", ["min", "max"])
@given(case=reductions([*FLOATS, *SIGNED, *UNSIGNED]))
def test_extremes(name, case):
    """NaN is what they are of it; -0 is less than 0, which the standard leaves open."""
    x, keywords, axes = case
    function = {"min": min, "max": max}[name]
    if not _raises(x, axes, 1, lambda: getattr(xp, name)(x, **keywords)):
        order = lambda each: (each, not np.signbit(each))
        value = lambda elements: math.nan if any(each != each for each in elements) else function(elements, key=order)
        check(getattr(xp, name)(x, **keywords), x, keywords, axes, x.dtype, value)


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@given(case=reductions([*FLOATS, *SIGNED, *UNSIGNED], single=True, elements=st.integers(0, 5)))
def test_places_of_extremes(name, case):
    """The first one, in C order where there is no axis."""
    x, keywords, axes = case
    least = {"argmin": min, "argmax": max}[name]
    if not _raises(x, axes, 1, lambda: getattr(xp, name)(x, **keywords)):
        check(getattr(xp, name)(x, **keywords), x, keywords, axes, "int64", lambda elements: elements.index(least(elements)))


@pytest.mark.parametrize(("name", "dtype"), [("any", "bool"), ("all", "bool"), ("count_nonzero", "int64")])
@given(case=reductions(["bool", *FLOATS, *SIGNED, *UNSIGNED], elements=st.sampled_from([0, 1]) | st.just(0)))
def test_truth(name, dtype, case):
    x, keywords, axes = case
    function = {"any": any, "all": all, "count_nonzero": lambda elements: sum(map(bool, elements))}[name]
    check(getattr(xp, name)(x, **keywords), x, keywords, axes, dtype, function)


def test_truth_of_special_values():
    x = np.array([np.nan, np.inf, -0.0, 5e-324])
    assert xp.count_nonzero(x) == 3 and xp.any(x[:1]) and xp.all(x[[0, 1, 3]]) and not xp.any(x[2:3])


@given(reductions(FLOATS, elements=st.sampled_from([0.5, -1.0, 2.0, -4.0, 1.0])))
def test_prod_of_floats(case):
    """Of powers of two, which are exact; of none it is 1."""
    x, keywords, axes = case
    check(xp.prod(x, **keywords), x, keywords, axes, x.dtype, lambda elements: float(math.prod(map(Fraction, map(float, elements)))))


@pytest.mark.parametrize("name", sorted(vars(xp)))
def test_axes_that_are_not_there(name):
    for shape, axis in (((), 0), ((), -1), ((2,), 1), ((2, 3), -3), ((2, 3), 2)):
        with pytest.raises(IndexError):
            getattr(xp, name)(np.ones(shape), axis=axis)
    if not name.startswith("arg"):
        with pytest.raises(ValueError, match="twice"):
            getattr(xp, name)(np.ones((2, 3)), axis=(0, -2))


@pytest.mark.parametrize("name", sorted(vars(xp)))
@given(data=st.data())
def test_as_a_strict_namespace_does(name, data):
    """Arguments by the names that its functions have give what they give: type, shape and, of few integers, which are exact in every
    type, values."""
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed (make check-python has it)")
    function, few = getattr(strict, name), st.integers(0, 1 if name in ("prod", "any", "all") else 4)
    parameters = set(inspect.signature(function).parameters) - {"x"}
    kinds = {"var": FLOATS, "std": FLOATS, "mean": FLOATS, "any": ["bool", *FLOATS, "int8", "uint64"]}
    dtypes = kinds.get("any" if name == "all" else name, [*FLOATS, *SIGNED, *UNSIGNED])
    x, keywords, axes = data.draw(reductions(dtypes, single=name.startswith("arg"), elements=few, least=1))
    choices = {"dtype": st.sampled_from([None, "float64", "int64", "uint64"]), "correction": st.sampled_from([0, 1])}
    for parameter in sorted(parameters & choices.keys()):
        keywords[parameter] = data.draw(choices[parameter])
    dtype = keywords.get("dtype")
    if dtype and (dtype == "float64" and (name == "prod" or x.dtype.kind != "f") or dtype != "float64" and x.dtype.kind != dtype[0]):
        keywords.pop("dtype")  # what one of the two does not convert
    assert parameters <= {"axis", "keepdims", "dtype", "correction"}
    least = {"min": 1, "max": 1, "argmin": 1, "argmax": 1, "mean": 1}.get(name, 1 + keywords.get("correction", -1))
    reduce = lambda: getattr(pyreduct, name)(strict.asarray(x), **keywords)
    if not _raises(x, axes, least, reduce):
        theirs = {key: getattr(strict, value) if key == "dtype" and value else value for key, value in keywords.items()}
        result, expected = reduce(), function(strict.asarray(x), **theirs)
        assert type(result) is type(expected) and result.dtype == expected.dtype and result.shape == expected.shape
        close = {"rtol": 1e-6} if name in ("mean", "var", "std") else {"rtol": 0}
        np.testing.assert_allclose(np.asarray(result), np.asarray(expected), **close)


def test_of_a_strict_namespace():
    """Arrays that have what the standard says and nothing else come back as what they were."""
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed (make check-python has it)")
    x = strict.reshape(strict.arange(6, dtype=strict.float32), (2, 3))
    result = pyreduct.sum(x, axis=1)
    assert type(result) is type(x) and result.dtype == strict.float32 and [float(result[i]) for i in (0, 1)] == [3.0, 12.0]
    places = pyreduct.argmax(strict.matrix_transpose(x), axis=0)
    assert places.dtype == strict.int64 and places.shape == (2,)
    assert bool(pyreduct.any(x)) and type(pyreduct.any(x)) is type(x)
