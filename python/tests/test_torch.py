"""PyTorch: its tensors, operators, and deterministic()."""
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make check-python has it)")

import pyreduct
import pyreduct.torch as rt

TYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


def bits(x):
    return x.detach().contiguous().reshape(-1).view(torch.uint8).tolist()


def data(*shape, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("dtype", [*TYPES, torch.int8, torch.uint8, torch.int32, torch.int64, torch.bool])
def test_tensors(dtype):
    x = (data(3, 4, 5) * 10).to(dtype)
    exact = x.to(torch.float64).numpy()
    for view, plain in ((x, exact), (x.transpose(0, 2), exact.T), (x[:, ::2], exact[:, ::2]), (x.expand(2, 3, 4, 5), np.broadcast_to(exact, (2, 3, 4, 5)))):
        for axis in (None, 0, (0, -1)):
            result = pyreduct.sum(view, axis)
            assert isinstance(result, torch.Tensor)
            expected = torch.as_tensor(np.asarray(pyreduct.sum(plain, axis)))
            assert bits(result) == bits(expected.to(result.dtype))
            assert result.dtype == (dtype if dtype.is_floating_point else torch.int64)
        assert pyreduct.argmax(view, 0).dtype == torch.int64
    out = torch.empty(3, 5, dtype=pyreduct.max(x, 1).dtype)
    assert pyreduct.max(x, 1, out=out) is out and torch.equal(out, x.max(1).values if dtype is not torch.bool else x.any(1))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), (0, 1, 2), -1])
def test_results_are_contiguous(axis, keepdims):
    for shape in ((3, 4, 5), (1, 4, 1), (3, 0, 2), (1, 1, 1)):
        x = torch.ones(shape, dtype=torch.float64)
        for mode in (torch.inference_mode, torch.enable_grad, torch.enable_grad):
            with mode():
                result = pyreduct.sum(x, axis, keepdims=keepdims)
                expected = x.sum(dim=axis, keepdim=keepdims).contiguous()
            assert result.shape == expected.shape and result.stride() == torch.empty(result.shape).stride()
            assert torch.equal(result, expected) and result.is_inference() == expected.is_inference()
            assert result.untyped_storage().nbytes() == result.numel() * 8


def test_refused():
    for bad, words in ((torch.zeros(2, dtype=torch.complex64), "complex64"), (torch.zeros(2).to_sparse(), "sparse"), (torch.zeros(2, device="meta"), "meta")):
        with pytest.raises(TypeError, match=words):
            pyreduct.sum(bad)
    with pytest.raises(ValueError, match="gradient"):
        pyreduct.sum(torch.zeros(2), out=torch.zeros((), requires_grad=True))
    assert pyreduct.sum(torch.tensor([1 + 2j, 3 - 4j]).conj().imag) == 2


def test_weights_of_another_type():
    x, weights = torch.tensor([1.0, 2.0]), torch.tensor([1, 3])
    assert pyreduct.average(x, weights=weights) == 1.75 and pyreduct.average(x, weights=weights.double()) == 1.75
    with pytest.raises(TypeError, match="^weights: elements of i64; expected f32"):
        pyreduct.average(x, weights=weights + 2**24)


def test_what_is_wrong_is_said_as_pytorch_calls_it():
    x, index = torch.ones(3), torch.tensor([0, 1, 1])
    with torch._subclasses.FakeTensorMode():
        fake = torch.ones(3)
    for call, error, words in (
        (lambda: pyreduct.sum(fake), TypeError, "x: a FakeTensor, which has no elements"),
        (lambda: rt.sum(x, 3), IndexError, "dim: 3 is out of bounds"),
        (lambda: rt.sum(x, 1.5), TypeError, "dim: 1.5; expected an integer"),
        (lambda: rt.sum(x.to_sparse()), TypeError, "input: a tensor of"),
        (lambda: rt.segment_sum(x, index.float()), TypeError, "offsets: f32"),
        (lambda: rt.segment_sum(x, index + 4), ValueError, "offsets: number 0"),
        (lambda: rt.segment_sum(x[None], index), ValueError, "input: shape"),
        (lambda: rt.index_add(x, index, x[:2]), ValueError, r"index: shape \(3,\); expected \(2,\)"),
        (lambda: rt.index_add(x, index, x.double()), ValueError, "source: f64 .* as input has"),
        (lambda: rt.index_add(x, index + 5, x), ValueError, "index: number 0 is 5"),
        (lambda: rt.scatter_add(x, 0, index + 5, x), ValueError, "index: number 0 is 5"),
        (lambda: rt.scatter_add(x, 0, index, x.double()), ValueError, "src: elements of torch.float64; expected torch.float32"),
        (lambda: rt.scatter_add(x, 4, index, x), IndexError, "dim: 4"),
        (lambda: rt.segment_reduce(x, "sum", lengths=x), ValueError, "lengths: torch.float32"),
    ):
        with pytest.raises(error, match=f"^{words}"):
            call()


CALLS = {
    "sum": (rt.sum, torch.sum),
    "sumsq": (rt.sumsq, lambda x, dim=None: (x * x).sum(dim)),
    "mean": (rt.mean, torch.mean),
    "var": (rt.var, torch.var),
    "std": (rt.std, torch.std),
    "norm": (rt.norm, lambda x, dim=None: torch.linalg.vector_norm(x, dim=dim)),
    "rms": (rt.rms, lambda x, dim=None: x.pow(2).mean(dim).sqrt()),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dim", [None, 1, (0, 2), (-1,)])
def test_operators(name, dim):
    ours, theirs = CALLS[name]
    x = data(3, 4, 5).requires_grad_()
    y = x.detach().clone().requires_grad_()
    torch.testing.assert_close(ours(x, dim), theirs(y, dim))
    (ours(x, dim).sin().sum()).backward()
    (theirs(y, dim).sin().sum()).backward()
    torch.testing.assert_close(x.grad, y.grad)
    assert torch.autograd.gradcheck(lambda x: ours(x, dim), data(2, 3, 2).requires_grad_())
    batched = torch.func.vmap(lambda x: ours(x, 0))(x.detach())
    assert bits(batched) == bits(ours(x.detach(), 1))
    assert bits(torch.func.vmap(ours)(x.detach())) == bits(ours(x.detach(), (1, 2)))
    assert bits(torch.func.vmap(lambda x: ours(x, 0), in_dims=1, out_dims=0)(x.detach())) == bits(ours(x.detach(), 0))


INDEX = torch.tensor([[3, 0, 3], [3, 1, 0], [2, 2, 2], [0, 3, 3]])
DERIVED = {
    **CALLS,
    "segment_sum": (lambda x: rt.segment_sum(x[:, 0], torch.tensor([0, 1, 4])), lambda x: torch.stack([x[0, 0], x[1:, 0].sum()])),
    "index_add": (lambda x: rt.index_add(x[:2], torch.tensor([0, 1, 1]), x[:3]), lambda x: x[:2].index_add(0, torch.tensor([0, 1, 1]), x[:3])),
    "scatter_add": (lambda x: rt.scatter_add(x[:2], 0, INDEX[:3] % 2, x[:3]), lambda x: x[:2].scatter_add(0, INDEX[:3] % 2, x[:3])),
    "segment mean": (lambda x: rt.segment_reduce(x, "mean", lengths=torch.tensor([1, 3])), lambda x: torch.stack([x[0], x[1:].mean(0)])),
    "segment max": (lambda x: rt.segment_reduce(x, "max", lengths=torch.tensor([1, 3])), lambda x: torch.stack([x[0], x[1:].amax(0)])),
}


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("name", DERIVED)
def test_derivatives_of_all_kinds(name):
    """Those of torch.func, and forward mode by itself."""
    ours, theirs = DERIVED[name]
    func, forward_ad, x, tangent = torch.func, torch.autograd.forward_ad, data(4, 3), data(4, 3, seed=1)

    def same(derivative):
        torch.testing.assert_close(derivative(ours), derivative(theirs))

    same(lambda f: func.jvp(f, (x,), (tangent,)))
    same(lambda f: func.grad(lambda x: f(x).sin().sum())(x))
    same(lambda f: func.jacrev(f)(x))
    torch.testing.assert_close(func.jacfwd(ours)(x), func.jacrev(theirs)(x))
    with forward_ad.dual_level():
        tangents = forward_ad.unpack_dual(ours(forward_ad.make_dual(x, tangent))).tangent
    torch.testing.assert_close(tangents, func.jvp(theirs, (x,), (tangent,))[1])
    if name in CALLS:
        same(lambda f: func.hessian(f)(x))
        same(lambda f: func.vmap(func.grad(f))(x))
        same(lambda f: func.grad(lambda x: func.vmap(f)(x).sin().sum())(x))
        same(lambda f: func.vmap(lambda x, t: func.jvp(f, (x,), (t,)))(x, tangent))
        same(lambda f: func.jvp(lambda x: f(x, 1), (x,), (tangent,)))
        compiled = torch.compile(lambda x, t: func.jvp(ours, (x,), (t,))[1], backend="eager")  # which leaves that to PyTorch's eager mode
        torch.testing.assert_close(compiled(x, tangent), func.jvp(theirs, (x,), (tangent,))[1])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", CALLS)
def test_gradients_of_halves(name, dtype):
    """Formed in float32: counts and squares are beyond what a half holds."""
    ours, theirs = CALLS[name]
    x = ((torch.arange(4096) % 2 + 1) * 20.0).to(dtype).requires_grad_()
    y = x.detach().double().requires_grad_()
    (result,) = torch.autograd.grad(ours(x), x, torch.ones((), dtype=dtype))
    (expected,) = torch.autograd.grad(theirs(y), y)
    torch.testing.assert_close(result, expected.to(dtype))


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("name", ["sum", "mean", "var", "std", "norm"])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 1), (0, 2)])
def test_few_elements(name, shape):
    """What does not exist is NaN, and a number has an axis, as PyTorch has it."""
    ours, theirs = CALLS[name]
    x, y = (torch.full(shape, 3.0, requires_grad=True) for _ in range(2))
    for dim in (None, 0, -1, [-1]):
        torch.testing.assert_close(ours(x, dim), theirs(y, dim), equal_nan=True)
        assert torch.compile(ours, backend="eager")(x, dim).shape == theirs(y, dim).shape
    ours(x).backward()
    theirs(y).backward()
    torch.testing.assert_close(x.grad, y.grad, equal_nan=True)


def test_autocast():
    """Operators take what autocast makes of the others, and are as they are."""
    x, w = data(6, 8, dtype=torch.float32).requires_grad_(), data(8, 8, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        y = x @ w
        results = [rt.sum(y, 1), rt.mean(y), rt.norm(y, 0), rt.index_add(y[:3], torch.tensor([0, 1, 0, 1, 2, 2]), y), rt.segment_sum(y[0], torch.tensor([0, 3, 8]))]
        assert y.dtype == torch.bfloat16 and all(result.dtype == torch.bfloat16 for result in results)
        assert rt.sum(y, 1, dtype=torch.float32).dtype == torch.float32 and rt.sum(x).dtype == torch.float32
    assert bits(results[0]) == bits(rt.sum(y.detach(), 1)) and bits(results[1]) == bits(pyreduct.mean(y.detach()))
    sum(result.float().sum() for result in results).backward()
    assert x.grad.dtype == torch.float32 and x.grad.isfinite().all()


@pytest.mark.parametrize("op", ["sum", "sumsq", "mean", "norm", "rms"])
def test_registration(op):
    """PyTorch's own checks of schema, meta function and autograd."""
    overload = getattr(torch.ops.pyreduct, op).default
    torch.library.opcheck(overload, (data(3, 4).requires_grad_(), [1], True, None))
    torch.library.opcheck(overload, (data(3, 4, dtype=torch.bfloat16), None, False, torch.float32))


def test_registration_of_the_rest():
    for op in ("var", "std"):
        torch.library.opcheck(getattr(torch.ops.pyreduct, op).default, (data(3, 4).requires_grad_(), [0], False, None, 1))
    torch.library.opcheck(torch.ops.pyreduct.segment_sum.default, (data(7).requires_grad_(), torch.tensor([0, 2, 2, 7])))


def test_segment_sum():
    x = data(10).requires_grad_()
    offsets = torch.tensor([1, 4, 4, 9])
    result = rt.segment_sum(x, offsets)
    assert bits(result) == bits(torch.stack([rt.sum(x[a:b]) for a, b in ((1, 4), (4, 4), (4, 9))]))
    assert torch.autograd.gradcheck(lambda x: rt.segment_sum(x, offsets), x)
    rt.segment_sum(x, offsets).backward(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    assert x.grad.tolist() == [0, 1, 1, 1, 3, 3, 3, 3, 3, 0]


@pytest.mark.parametrize("backend", ["aot_eager"])
def test_compiled(backend):
    def f(x):
        return rt.mean(x.relu(), 1).sum() + rt.norm(x)

    x, y = (data(8, 16).requires_grad_() for _ in range(2))
    compiled = torch.compile(f, backend=backend, fullgraph=True)
    assert bits(compiled(x)) == bits(f(y))
    compiled(x).backward()
    f(y).backward()
    torch.testing.assert_close(x.grad, y.grad)


@pytest.mark.parametrize("dtype", TYPES)
def test_deterministic(dtype):
    x = data(4, 64, dtype=dtype) * 100
    with rt.deterministic():
        assert bits(x.sum()) == bits(pyreduct.sum(x))
        assert bits(torch.mean(x, -1, keepdim=True)) == bits(pyreduct.mean(x, -1, keepdims=True))
        assert bits(x.std(0)) == bits(pyreduct.std(x, 0, ddof=1))
        assert bits(x.sum([])) == bits(pyreduct.sum(x))
        assert bits(torch.linalg.vector_norm(x, dim=1)) == bits(pyreduct.norm(x, axis=1))
        assert x.sum(0, dtype=torch.float64).dtype == torch.float64
    torch.testing.assert_close(x.sum(), pyreduct.sum(x), rtol=0.05, atol=1)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.int64, torch.bool])
def test_index_add_of_integers(dtype):
    x, index, source = torch.tensor([1, 0, 1]).to(dtype), torch.tensor([0, 2, 0]), torch.ones(3).to(dtype)
    assert torch.equal(rt.index_add(x, index, source), x.index_add(0, index, source))
    assert torch.equal(rt.scatter_add(x, 0, index, source), x.scatter_add(0, index, source))
    assert torch.compile(rt.index_add, backend="eager")(x, index, source).dtype == dtype
    if dtype is not torch.bool:
        with pytest.raises(OverflowError, match="does not fit"):
            rt.index_add(x, index, torch.full((3,), torch.iinfo(dtype).max, dtype=dtype))


C = torch.tensor([[1e8, 1.0, -1e8, 0.5]] * 3)  # the exact sums of rows are 1.5, others are 0.5
ROW, FIRST = C[0], torch.zeros(4, dtype=torch.int64)
SUMS = {
    "sum": lambda: C.sum(1),
    "sum, out": lambda: torch.sum(C, 1, out=torch.empty(0)),
    "sum of all, out": lambda: torch.ops.aten.sum.out(ROW, out=torch.empty(())),
    "sum, out of another type": lambda: torch.sum(C, 1, out=torch.empty(3, dtype=torch.float64)).float(),
    "nansum": lambda: torch.nansum(torch.cat([C, C.new_full((3, 1), float("nan"))], 1), 1),
    "mean, out": lambda: 4 * torch.mean(C, 1, out=torch.empty(3)),
    "mean of all, out": lambda: 4 * torch.ops.aten.mean.dtype_out(ROW, out=torch.empty(())),
    "subclass": lambda: C.as_subclass(type("Mine", (torch.Tensor,), {})).sum(1).as_subclass(torch.Tensor),
    "alpha": lambda: -torch.zeros(1).index_add(0, FIRST, ROW, alpha=-1),
    "index_add, out": lambda: torch.index_add(torch.zeros(1), 0, FIRST, ROW, out=torch.empty(1)),
    "scatter_add, out": lambda: torch.scatter_add(torch.zeros(1), 0, FIRST, ROW, out=torch.empty(1)),
    "scatter": lambda: torch.zeros(1).scatter(0, FIRST, ROW, reduce="add"),
    "scatter_": lambda: torch.zeros(1).scatter_(0, FIRST, ROW, reduce="add"),
    "scatter of a number": lambda: torch.zeros(1).scatter(0, FIRST, 0.375, reduce="add"),
    "scatter_ of a number": lambda: torch.zeros(1).scatter_(0, FIRST, 0.375, reduce="add"),
    "scatter_reduce": lambda: torch.ones(1).scatter_reduce(0, FIRST, ROW, "sum") - 1,
    "scatter_reduce, out": lambda: torch.scatter_reduce(torch.zeros(1), 0, FIRST, ROW, "sum", out=torch.empty(1)),
    "scatter_reduce of others": lambda: torch.ones(1).scatter_reduce_(0, FIRST, ROW, "sum", include_self=False),
    "index_put": lambda: torch.zeros(2).index_put((FIRST - 1,), ROW, accumulate=True)[1:],
    "index_put_": lambda: torch.zeros(1, 3).index_put_((FIRST,), C.T, accumulate=True)[0],
    "index_put by a mask": lambda: torch.zeros(2).index_put((torch.tensor([False, True]),), torch.tensor(1.5), accumulate=True)[1:],
    "index_put of a column": lambda: torch.ops.aten.index_put(torch.zeros(3, 2), [None, FIRST], C, True)[:, 0],
    "indexing, backwards": lambda: torch.autograd.grad((X := torch.zeros(1, requires_grad=True))[FIRST], X, ROW)[0],
    "embedding, backwards": lambda: torch.autograd.grad(torch.nn.functional.embedding(FIRST, W := torch.zeros(2, 3, requires_grad=True)), W, C.T)[0][0],
    "segments": lambda: torch.segment_reduce(ROW, "sum", lengths=torch.tensor([4])),
    "segments, initial": lambda: torch.segment_reduce(ROW, "sum", lengths=torch.tensor([4, 0]), initial=1)[:1] - 1,
    "segments of rows": lambda: torch.segment_reduce(C, "sum", lengths=torch.tensor([[4, 0]] * 3), axis=1)[:, 0],
    "segments of a part": lambda: torch.segment_reduce(torch.cat([ROW, ROW]), "sum", lengths=torch.tensor([4]), unsafe=True),
}  # fmt: skip


@pytest.mark.parametrize("name", SUMS)
def test_deterministic_sums(name):
    with rt.deterministic():
        result = SUMS[name]()
    assert result.dtype == torch.float32 and set(result.flatten().tolist()) == {1.5}


Z, ONE, FEW = torch.tensor(3.0), torch.ones(3, 1), torch.tensor([1, 2])
AS_PLAIN = {
    "axis of a number": lambda: [Z.sum(0), Z.sum(-1), Z.mean(0), torch.linalg.vector_norm(Z, dim=0)],
    "variance of one": lambda: [torch.ones(1).var(), ONE.var(1), ONE.std(1), ONE.std(1, correction=0)],
    "other types": lambda: [C.sum(dtype=torch.int64), C.sum(0, dtype=torch.complex64)],
    "correction": lambda: [C.var(1, correction=2)],
    "norm": lambda: [torch.linalg.vector_norm(C, 3)],
    "unsafe lengths": lambda: [torch.segment_reduce(C, "sum", lengths=FEW - 1, unsafe=True), torch.segment_reduce(C, "max", lengths=FEW)],
    "initial": lambda: [torch.segment_reduce(torch.arange(4.0), op, lengths=torch.tensor([4, 0]), initial=2) for op in ("sum", "mean", "max", "min")],
    "empty segments": lambda: [torch.segment_reduce(torch.arange(4.0), op, lengths=torch.tensor([4, 0])) for op in ("sum", "mean", "max", "min")],
    "axes of indices": lambda: [torch.ops.aten.index_put(torch.zeros(2, 3, 4), at, torch.ones(size), True) for at, size in (
        ([FEW - 1, None, FEW], (2, 3)), ([None, FEW, FEW], (2, 2)), ([torch.ones(2, 3, dtype=torch.bool), FEW[:1]], (6,)), ([FEW[:, None] - 1, FEW], (4,)))],
    "padding": lambda: torch.autograd.grad(torch.nn.functional.embedding(FEW, W := torch.zeros(3, 4, requires_grad=True), padding_idx=1), W, C[:2]),
    "frequency": lambda: torch.autograd.grad(
        torch.nn.functional.embedding(FIRST, W := torch.zeros(3, 4, requires_grad=True), scale_grad_by_freq=True), W, torch.ones(4, 4)),
    "products": lambda: [torch.ones(2).scatter(0, FEW - 1, FEW.float(), reduce="multiply"), torch.ones(2).scatter_reduce(0, FEW - 1, FEW.float(), "prod")],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*degrees of freedom", "ignore:.*reduce.* argument")
@pytest.mark.parametrize("name", AS_PLAIN)
def test_deterministic_as_plain(name):
    expected = AS_PLAIN[name]()
    with rt.deterministic():
        results = AS_PLAIN[name]()
    for ours, theirs in zip(results, expected, strict=True):
        torch.testing.assert_close(ours, theirs, equal_nan=True)


def test_deterministic_leaves_its_errors_to_pytorch():
    for wrong in (
        lambda: torch.segment_reduce(ROW, "sum", lengths=torch.tensor([3])),
        lambda: torch.sum(C, 1, dtype=torch.float32, out=torch.empty(3, dtype=torch.float64)),
        lambda: torch.zeros(1).index_put((FIRST,), ROW.double(), accumulate=True),
    ):
        with rt.deterministic(), pytest.raises(RuntimeError):
            wrong()


@pytest.mark.parametrize("make", [torch.nn.LayerNorm, getattr(torch.nn, "RMSNorm", torch.nn.LayerNorm)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_layers(make, dtype):
    layer = make(48).to(dtype)
    with torch.no_grad():
        layer.weight.copy_(data(48, seed=3))
    x, y = (data(256, 48, dtype=dtype).requires_grad_() for _ in range(2))
    theirs = layer(y)
    theirs.pow(2).sum().backward()
    expected = layer.weight.grad.clone()
    layer.zero_grad()
    with rt.deterministic():
        ours = layer(x)
        ours.pow(2).sum().backward()
        tolerance = {} if dtype is torch.float64 else {"rtol": 0.05, "atol": 0.1}
        torch.testing.assert_close(ours, theirs, **tolerance)
        torch.testing.assert_close(x.grad, y.grad, **(tolerance and {"rtol": 0.1, "atol": 0.5}))
        torch.testing.assert_close(layer.weight.grad, expected, rtol=0.05, atol=0.1)
        for size in (1, 2, 7, 64, 256):
            assert bits(torch.cat([layer(x[start : start + size]) for start in range(0, 256, size)])) == bits(ours)


def test_index_add():
    x, source = (data(5, 3, seed=seed).requires_grad_() for seed in (1, 2))
    index = torch.tensor([3, 0, 3, 3, 1])
    torch.library.opcheck(torch.ops.pyreduct.index_add.default, (x, index, source))
    assert torch.autograd.gradcheck(lambda x, source: rt.index_add(x, index, source), (x, source))
    big = torch.tensor([[1e100, 1.0, -1e100], [0.5, 0.25, 0.125]], dtype=torch.float64)
    ids = torch.zeros(3, dtype=torch.int64)
    with rt.deterministic():
        result = torch.zeros(2, 2, dtype=torch.float64).index_add(1, ids, big)
        place = torch.zeros(2, 2, dtype=torch.float64)
        assert place.index_add_(1, ids, big) is place
        with pytest.raises(ValueError, match="expected one of the 2 groups"):
            torch.zeros(2, dtype=torch.float64).index_add(0, ids + 2, torch.zeros(3, dtype=torch.float64))
    assert result.tolist() == place.tolist() == [[1.0, 0.0], [0.875, 0.0]]
    torch.testing.assert_close(rt.index_add(x, index, source), x.index_add(0, index, source))


@pytest.mark.parametrize("case", ["whole", "smaller", "other axis", "rows", "one axis", "three axes"])
def test_scatter_add(case):
    x, source, dim, index = {
        "whole": (data(5, 3), data(4, 3, seed=2), 0, INDEX),
        "smaller": (data(5, 4), data(5, 3, seed=2), 0, INDEX[:, :2]),
        "other axis": (data(4, 7).T.contiguous().T, data(4, 3, seed=2), -1, INDEX),
        "rows": (data(5, 6), data(4, 6, seed=2), 0, INDEX[:, :1].expand(4, 6)),
        "one axis": (data(5), data(4, seed=2), 0, INDEX[:, 1]),
        "three axes": (data(2, 5, 3), data(2, 4, 3, seed=2), 1, INDEX.expand(2, 4, 3)),
    }[case]
    x, source = x.requires_grad_(), source.requires_grad_()
    torch.library.opcheck(torch.ops.pyreduct.scatter_add.default, (x, dim, index, source))
    assert torch.autograd.gradcheck(lambda x, source: rt.scatter_add(x, dim, index, source), (x, source))
    torch.testing.assert_close(rt.scatter_add(x, dim, index, source), x.scatter_add(dim, index, source))
    with rt.deterministic():
        result, place = x.detach().scatter_add(dim, index, source.detach()), x.detach().clone()
        assert place.scatter_add_(dim, index, source.detach()) is place
    assert bits(result) == bits(place) == bits(rt.scatter_add(x, dim, index, source))


def test_scatter_add_is_exact():
    big = torch.tensor([[1e100, 0.5], [1.0, 0.25], [-1e100, 0.125]], dtype=torch.float64)
    index = torch.tensor([[1, 0], [1, 1], [1, 0]])
    for dtype in TYPES:
        x, source = data(3, 2, dtype=dtype), data(500, 2, seed=1, dtype=dtype)
        ids = torch.randint(0, 3, (500, 2), generator=torch.Generator().manual_seed(1))
        result = rt.scatter_add(x, 0, ids, source)
        for row in range(3):
            for column in range(2):
                parts = torch.cat([x[row, column][None], source[ids[:, column] == row, column]])
                assert bits(result[row, column]) == bits(rt.sum(parts))
    assert rt.scatter_add(torch.zeros(2, 2, dtype=torch.float64), 0, index, big).tolist() == [[0, 0.625], [1, 0.25]]
    for bad in (index + 1, index - 1, index[:, :1] + 5):
        with pytest.raises(ValueError, match="groups"):
            rt.scatter_add(torch.zeros(2, 2, dtype=torch.float64), 0, bad, big)
    with pytest.raises(ValueError, match="index: shape"):
        rt.scatter_add(torch.zeros(2, 1, dtype=torch.float64), 0, index, big)
    assert torch.equal(rt.scatter_add(big, 0, index[:0], big), big)


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
@pytest.mark.parametrize("shape", [(9,), (9, 2), (9, 2, 3)])
def test_segment_reduce(reduce, shape):
    lengths = torch.tensor([2, 0, 4, 3])
    offsets = torch.tensor([0, 2, 2, 6, 9])
    x, y = (data(*shape).round(decimals=1).requires_grad_() for _ in range(2))
    ours, theirs = rt.segment_reduce(x, reduce, lengths=lengths), torch.segment_reduce(y, reduce, lengths=lengths, unsafe=False)
    torch.testing.assert_close(ours, theirs, equal_nan=True)
    kept = [0, 2, 3]
    ours[kept].sin().sum().backward()
    theirs[kept].sin().sum().backward()
    torch.testing.assert_close(x.grad, y.grad)
    if len(shape) == 2:
        torch.library.opcheck(torch.ops.pyreduct.segment_reduce.default, (x, reduce, torch.tensor([2, 7])))
        assert torch.autograd.gradcheck(lambda x: rt.segment_reduce(x, reduce, lengths=torch.tensor([2, 7])), data(*shape).requires_grad_())
    with rt.deterministic():
        for given in ({"lengths": lengths}, {"offsets": offsets}):
            assert bits(torch.segment_reduce(x, reduce, **given)) == bits(ours) == bits(rt.segment_reduce(x, reduce, **given))


def test_segment_reduce_is_exact():
    lengths = torch.tensor([300, 0, 1, 699])
    x = data(1000) * 10.0 ** torch.arange(-30, 30).repeat(17)[:1000]
    parts = x.split(lengths.tolist())
    assert bits(rt.segment_reduce(x, "sum", lengths=lengths)) == bits(torch.stack([rt.sum(part) for part in parts]))
    means = rt.segment_reduce(x, "mean", lengths=lengths)
    assert bits(means[[0, 2, 3]]) == bits(torch.stack([rt.mean(part) for part in parts if len(part)]))
    ties = torch.tensor([2.0, 2.0, 1.0, float("nan"), 3.0], requires_grad=True)
    rt.segment_reduce(ties, "max", lengths=torch.tensor([3, 2])).sum().backward()
    assert ties.grad.tolist() == [0.5, 0.5, 0, 1, 0]
    for lengths in (torch.tensor([2, 2]), torch.tensor([6, -1]), torch.tensor([[5]])):
        with pytest.raises(ValueError, match="lengths"):
            rt.segment_reduce(ties.detach(), "sum", lengths=lengths)
    with pytest.raises(ValueError, match="reduce"):
        rt.segment_reduce(ties.detach(), "prod", lengths=torch.tensor([5]))
    with pytest.raises(TypeError):
        rt.segment_reduce(ties.detach(), "sum")
    assert rt.segment_reduce(ties.detach()[:0], "max", lengths=torch.tensor([0])).tolist() == [float("-inf")]


def test_compiled_scatter():
    def f(x, source):
        return rt.segment_reduce(rt.scatter_add(x, 0, INDEX, source.cos()), "max", lengths=torch.tensor([1, 4])).sum()

    x, y = ([data(5, 3).requires_grad_(), data(4, 3, seed=2).requires_grad_()] for _ in range(2))
    compiled = torch.compile(f, backend="aot_eager", fullgraph=True)
    assert bits(compiled(*x)) == bits(f(*y))
    compiled(*x).backward()
    f(*y).backward()
    for mine, theirs in zip(x, y):
        torch.testing.assert_close(mine.grad, theirs.grad)


def test_index_add_as_pytorch_calls_it():
    x, source, index = data(2, 3), data(2, 4, seed=1), torch.tensor([2, 0, 2, 1])
    for dim in (1, -1):
        exact = pyreduct.torch.index_add(x, dim, index, source)
        assert torch.equal(exact, pyreduct.torch.index_add(x.T, index, source.T).T)
        torch.testing.assert_close(exact, torch.index_add(x, dim, index, source))
        assert torch.equal(exact, pyreduct.torch.index_add(x, dim=dim, index=index, source=source))
    x.requires_grad_(), source.requires_grad_()
    pyreduct.torch.index_add(x, 1, index, source).sum().backward()
    assert torch.equal(x.grad, torch.ones(2, 3)) and torch.equal(source.grad, torch.ones(2, 4))
    for bad in ((x,), (x, index), (x, 1, index, source, source)):
        with pytest.raises(TypeError, match="expected input, index and source"):
            pyreduct.torch.index_add(*bad)
    with pytest.raises(ValueError, match="correction: 2"):
        pyreduct.torch.var(x.detach(), correction=2)
