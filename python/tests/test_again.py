"""Calls that are made again: what is kept of one serves others that are alike, and no others."""
import itertools

import numpy as np
import pytest
from exact import same

import pyreduct
from pyreduct import _core, _functions

NAMES = ["sum", "prod", "mean", "rms", "sumsq", "var", "std", "min", "max", "ptp", "argmin", "argmax", "any", "all", "count_nonzero", "norm"]
VIEWS = [lambda x: x, lambda x: x[::-1, 1::2], lambda x: x.T, lambda x: x[:, :1], lambda x: x[0], lambda x: np.broadcast_to(x[:1], x.shape)]


def general(name, *arguments, **options):
    return _functions.FUNCTIONS[name](*arguments, **options)


def data(dtype, seed):
    return (np.random.default_rng(seed).standard_normal((6, 10)) * 5).astype(dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i1", "u4", "i8", "?"])
@pytest.mark.parametrize("name", NAMES)
def test_the_same_as_the_first_time(name, dtype):
    function = getattr(pyreduct, name)
    for view, axis, keepdims, masked in itertools.product(VIEWS, (None, 0, -1, (0, 1)), (False, True), (False, True)):
        if view(data(dtype, 0)).ndim == 1 and isinstance(axis, tuple):
            continue
        if masked and name in ("min", "max", "ptp", "argmin", "argmax", "mean", "var", "std", "rms"):
            continue  # of nothing there is none
        for seed in (1, 2, 3):
            x = view(data(dtype, seed))
            options = {"axis": axis, "keepdims": keepdims} | ({"where": x > 1} if masked else {})
            try:
                expected = general(name, x, **options)
            except pyreduct.Error as error:
                with pytest.raises(type(error)):
                    function(x, **options)
                continue
            same(function(x, **options), expected)
            out = np.zeros_like(expected)
            if out.ndim:
                assert function(x, out=out, **options) is out
                same(out, expected)


def test_what_is_alike_is_told_apart():
    x = data("f8", 1)
    for other in (x.astype("f4"), x.astype("i8"), x.copy().T, x[:, ::2], x[::2], np.asfortranarray(x), x[:, None]):
        same(pyreduct.sum(x, 0), general("sum", x, 0))
        same(pyreduct.sum(other, 0), general("sum", other, 0))
    for options in ({"axis": 1}, {"axis": (1,)}, {"axis": 1, "keepdims": True}, {"axis": 1, "dtype": "f32"}, {"axis": 1, "dtype": np.float32}, {"axis": 1, "nan": "ignore"},
                    {"axis": 1, "mode": "fast"}, {"axis": None, "keepdims": True}):  # fmt: skip
        for _ in range(3):
            same(pyreduct.sum(x, **options), general("sum", x, **options))
            same(pyreduct.mean(x, **options), general("mean", x, **options))
    for ddof in (0, 1, 0, 1):
        same(pyreduct.var(x, 0, ddof=ddof), general("var", x, 0, ddof=ddof))
    same(pyreduct.dot(x[0], x[0]), pyreduct.dot(x[0], x[0].copy()))
    same(pyreduct.dot(x[0], x[1], dtype="f32"), general("dot", x[0], x[1], dtype="f32"))
    same(pyreduct.dot(x[0], x[0], dtype="f32"), general("dot", x[0], x[0], dtype="f32"))


def test_options_whose_memory_others_take():
    x = np.random.default_rng(1).standard_normal((3, 4, 5))
    expected = {axes: general("sum", x, axes) for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))}
    for _ in range(50):
        for axes, sums in expected.items():
            same(pyreduct.sum(x, tuple(list(axes))), sums)
            same(pyreduct.sum(x, **{"".join(("ax", "is")): tuple(list(axes))}), sums)
    for keyword, value in (("axis", 0), ("ddof", 1), ("axis", 1), ("ddof", 0)) * 3:
        same(pyreduct.var(x, **{keyword: value}), general("var", x, **{keyword: value}))


def test_more_calls_than_are_kept_at_hand():
    arrays = [np.random.default_rng(n).standard_normal((n, n + 1)) for n in range(1, 200)]
    expected = [general("sum", x, 1) for x in arrays]
    for _ in range(3):
        for x, sums in zip(arrays, expected):
            same(pyreduct.sum(x, 1), sums)
    deep = np.random.default_rng(1).standard_normal((1,) * 40 + (3,))  # more than is described
    for _ in range(3):
        same(pyreduct.sum(deep, -1), general("sum", deep, -1))


def test_refused_each_time():
    x = data("f8", 1)
    pyreduct.sum(x, 1)
    big = np.full((2, 3), 2**62)
    locked = np.zeros(6)
    locked.flags.writeable = False
    wrong = [
        lambda: pyreduct.sum(x, 1.0), lambda: pyreduct.sum(x, 2), lambda: pyreduct.sum(x, (1, 1)), lambda: pyreduct.sum(x, 1, where=(1, 0)),
        lambda: pyreduct.sum(x, 1, out=locked), lambda: pyreduct.sum(x, 1, out=np.zeros(5)), lambda: pyreduct.sum(big, 1), lambda: pyreduct.mean(x[:, :0], 1),
        lambda: pyreduct.sum(x * np.nan, 1, nan="error"), lambda: pyreduct.index_add(x[0], np.array([10]), x[0, :1]), lambda: pyreduct.sum(x, axes=1),
        lambda: pyreduct.group_sum(x, np.zeros(5, int), 3), lambda: pyreduct.dot(x, x, nan="ignore"), lambda: pyreduct.sum(), lambda: pyreduct.sum(x.astype(">f8"), 1),
        lambda: pyreduct.sum(x, 1, out=(1, 2)), lambda: pyreduct.var(x, 1, ddof=2),
    ]  # fmt: skip
    for call in wrong:
        messages = []
        for _ in range(3):
            with pytest.raises(Exception) as caught:
                call()
            messages.append((type(caught.value), str(caught.value)))
        assert len(set(messages)) == 1 and "again" not in messages[0][1], messages
    assert not locked.any()


def test_out_within_x():
    for _ in range(3):
        x = data("f8", 1)
        expected = pyreduct.sum(x.copy(), 1)
        pyreduct.sum(x, 1, out=np.empty((9, 9))[5, :6])
        pyreduct.sum(x, 1, out=x[5, :6])  # of the same shape and strides, but within the array
        same(x[5, :6].copy(), expected)
        steps = np.zeros((6, 3))
        pyreduct.sum(x, 1, out=steps[:, 1])
        same(steps[:, 1].copy(), pyreduct.sum(x, 1))
        assert not steps[:, ::2].any()


def test_groups_and_segments():
    for seed in (1, 2, 3):
        x, ids, bounds = data("f8", seed), np.random.default_rng(seed).integers(0, 4, 6), np.array([0, 2, 6])
        same(pyreduct.index_add(x[:4].copy(), ids, x), general("index_add", x[:4].copy(), ids, x))
        same(pyreduct.group_sum(x, ids, 4), general("group_sum", x, ids, 4))
        same(pyreduct.group_sum(x[:, 0].copy(), ids.tolist(), 4) if seed == 0 else pyreduct.group_sum(x, ids.astype("u1"), 5), general("group_sum", x, ids, 5))
        same(pyreduct.segment_sum(x[:, 0].copy(), bounds), general("segment_sum", x[:, 0].copy(), bounds))
        same(pyreduct.segment_sum(x[:, 0].copy(), begins=bounds[:2], ends=bounds[1:]), general("segment_sum", x[:, 0].copy(), bounds))
        same(pyreduct.segment_sum(x[:, 0].copy(), length=3), general("segment_sum", x[:, 0].copy(), length=3))
        same(pyreduct.group_sum(x[:, 0].copy(), ids, 4, initial=x[0, :4].copy()), general("group_sum", x[:, 0].copy(), ids, 4, initial=x[0, :4].copy()))


def test_more_than_are_kept():
    x = np.arange(6000.0)
    for length in itertools.chain(range(1, 5000), range(1, 300)):
        assert pyreduct.sum(x[:length], 0, keepdims=True)[0] == length * (length - 1) / 2


def test_nothing_is_kept_alive():
    """Of arrays; what has no value of its own to be compared by is for the general functions."""
    import sys

    x, mask, out = data("f8", 1), data("f8", 1) > 0, np.zeros(6)
    before = [sys.getrefcount(each) for each in (x, mask, out)]
    for _ in range(5):
        pyreduct.sum(x, 1, where=mask, out=out)
    assert [sys.getrefcount(each) for each in (x, mask, out)] == before


def test_tensors():
    torch = pytest.importorskip("torch", reason="torch is not installed (make check-python has it)")
    if not _core.use_tensors(torch.Tensor):
        pytest.skip("this PyTorch has none of DLPack's functions in C")
    for seed in (1, 2, 3):
        x = torch.from_numpy(data("f4", seed))
        for view in (x, x.T, x[::2, 1:], x[:, :0], x[0, 0]):
            for axis in (None, *range(view.dim())):
                ours, expected = pyreduct.sum(view, axis), general("sum", view, axis)
                assert type(ours) is torch.Tensor and torch.equal(ours, expected) and ours.dtype == expected.dtype
        alike = np.ones((5, 7 + seed))  # an array and a tensor of the same memory: results are of their kinds
        for _ in range(2):
            assert type(pyreduct.sum(alike, 1)) is np.ndarray and type(pyreduct.sum(torch.from_numpy(alike), 1)) is torch.Tensor
        negated = torch.imag(torch.complex(x, x).conj())
        assert negated.is_neg() and torch.equal(pyreduct.sum(negated, 1), -pyreduct.sum(x, 1))
        out = torch.zeros(6)
        assert pyreduct.sum(x, 1, out=out) is out and torch.equal(out, general("sum", x, 1))
        for wrong in (torch.zeros(6, requires_grad=True), torch.zeros(5), torch.zeros(6, dtype=torch.float64)):
            with pytest.raises((ValueError, TypeError)):
                pyreduct.sum(x, 1, out=wrong) if wrong.dtype == torch.float32 else pyreduct.sum(x, 1, dtype="f32", out=wrong)
        ids = torch.tensor([0, 1, 0, 1, 2, 2])
        assert torch.equal(pyreduct.index_add(x[:3].clone(), ids, x), general("index_add", x[:3].clone(), ids, x))
        assert torch.equal(pyreduct.sum(x.clone().requires_grad_(), 1), pyreduct.sum(x, 1))
        assert type(pyreduct.sum(torch.nn.Parameter(x), 1)) is torch.Tensor
        with pytest.raises(TypeError):
            pyreduct.sum(torch.zeros(3, 4).to_sparse(), 1)
        with pytest.raises(TypeError):
            pyreduct.sum(torch.zeros(6, 10, device="meta"), 1)
