"""Tensors of PyTorch on a CUDA device. Results on the CPU, which other tests compare with fractions, say what bits are right."""
import time

import pytest
from devices import package

torch = package("torch", lambda torch: torch.cuda.device_count())

import pyreduct
import pyreduct.torch as rt

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool]
DEVICE = torch.device("cuda", 0)


def data(*shape, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(*shape, generator=generator, dtype=torch.float64) * 10).to(dtype)


def same(result, expected):
    """A tensor on the device with the bits of one on the host."""
    assert type(result) is torch.Tensor and result.device.type == "cuda" and expected.device.type == "cpu"
    assert result.dtype == expected.dtype and result.shape == expected.shape
    ours, theirs = (each.cpu().contiguous().reshape(-1).view(torch.uint8).tolist() for each in (result, expected))
    assert ours == theirs


def busy():
    """Half a second of work in the current stream."""
    torch.cuda._sleep(int(1e9))


@pytest.fixture
def stream():
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()) as made:
        yield made or torch.cuda.current_stream()
    torch.cuda.synchronize()


VIEWS = {
    "whole": lambda x: x,
    "transposed": lambda x: x.transpose(0, 2),
    "steps": lambda x: x[:, ::2, 1:],
    "expanded": lambda x: x.expand(2, *x.shape),
    "nothing": lambda x: x[:, :0],
    "number": lambda x: x[0, 0, 0],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_reductions(view, dtype):
    x = VIEWS[view](data(3, 8, 40, dtype=dtype))
    there = VIEWS[view](data(3, 8, 40, dtype=dtype).to(DEVICE))
    axes = [None, *range(x.dim()), *([(0, -1)] if x.dim() > 1 else [])]
    names = ["sum", "count_nonzero", "any", "all"] + (["mean", "var", "std", "norm", "max", "min", "argmax", "argmin"] if x.numel() else [])
    for axis in axes:
        for name in names:
            for keepdims in (False, True):
                function = getattr(pyreduct, name)
                same(function(there, axis=axis, keepdims=keepdims), function(x, axis=axis, keepdims=keepdims))
    if x.numel() and x.dim():
        for ours, theirs in zip(pyreduct.several(there, ["sum", "max", "std"], 0), pyreduct.several(x, ["sum", "max", "std"], 0)):
            same(ours, theirs)
        same(pyreduct.vecdot(there, there.flip(0)), pyreduct.vecdot(x, x.flip(0)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_large(dtype):
    x = data(1 << 20, dtype=dtype)
    there = x.to(DEVICE)
    for name in ("sum", "prod", "var", "norm", "max", "argmin"):
        same(getattr(pyreduct, name)(there), getattr(pyreduct, name)(x))
    same(pyreduct.sum(there.view(1024, 1024), 0), pyreduct.sum(x.view(1024, 1024), 0))


def test_out():
    x, out = data(5, 6), torch.zeros(5, 2, dtype=torch.float64, device=DEVICE)
    there = x.to(DEVICE)
    assert pyreduct.sum(there, 1, out=out[:, 1]) is not None
    same(out[:, 1].contiguous(), pyreduct.sum(x, 1))
    assert out[:, 0].tolist() == [0] * 5
    pyreduct.max(there, 0, out=there[0])  # which is read, too
    same(there[0], pyreduct.max(x, 0))
    for wrong in (torch.zeros(6, dtype=torch.float64), torch.zeros(5, dtype=torch.float64, device=DEVICE)):
        with pytest.raises(ValueError):
            pyreduct.sum(there, 0, out=wrong)
    with pytest.raises(ValueError, match="different devices"):
        pyreduct.vecdot(there, x)


def test_errors():
    x = torch.full((3, 2), 2**62, device=DEVICE)
    x[0] = 1
    with pytest.raises(OverflowError, match="^sum: result 1: "):
        pyreduct.sum(x, 1)
    assert pyreduct.sum(x, 1, check=False)[0].item() == 2
    many = torch.zeros(5000, 2, dtype=torch.int64, device=DEVICE)
    assert not pyreduct.sum(many, 1).any()
    many[4321] = 2**62
    with pytest.raises(OverflowError, match="^sum: result 4321: "):
        pyreduct.sum(many, 1)
    with pytest.raises(ValueError):
        pyreduct.group_sum(many[:, 0], many[:, 0], 3000)
    gaps = torch.tensor([0.0, float("nan"), 2.0], device=DEVICE)
    with pytest.raises(pyreduct.NanError) as caught:
        pyreduct.sum(gaps, nan="error")
    assert caught.value.index == 1
    assert pyreduct.nansum(gaps).item() == 2
    with pytest.raises(ValueError):
        pyreduct.segment_sum(gaps, torch.tensor([0, 4], device=DEVICE))
    with pytest.raises(ValueError):
        pyreduct.index_add(gaps, torch.tensor([3], device=DEVICE), gaps[:1])
    assert pyreduct.sum(gaps[::2]).item() == 2  # all works as before


def test_segments_and_groups():
    x, offsets, ids = data(1000), torch.tensor([0, 3, 3, 700, 1000]), torch.randint(0, 7, (1000,), generator=torch.Generator().manual_seed(1))
    there, bounds, index = x.to(DEVICE), offsets.to(DEVICE), ids.to(DEVICE)
    for index_type in (torch.int32, torch.int64):
        same(pyreduct.segment_sum(there, bounds.to(index_type)), pyreduct.segment_sum(x, offsets))
        same(pyreduct.group_sum(there, index.to(index_type), 7), pyreduct.group_sum(x, ids, 7))
    same(pyreduct.segment_max(there, length=10), pyreduct.segment_max(x, length=10))
    for name in ("mean", "var", "max", "argmin", "count_nonzero"):
        function = getattr(pyreduct, f"group_{name}")
        same(function(there, index, 7), function(x, ids, 7))
    for sort in (False, True):
        expected, groups = pyreduct.group_by(ids - 3, sort=sort), pyreduct.group_by(index - 3, sort=sort)
        same(groups.keys, expected.keys)
        same(groups.sum(there), expected.sum(x))
    rows = data(1000, 5, dtype=torch.float32)
    same(pyreduct.group_sum(rows.to(DEVICE), index, 7), pyreduct.group_sum(rows, ids, 7))
    start = data(7, 5, dtype=torch.float32, seed=2)
    same(pyreduct.index_add(start.to(DEVICE), index, rows.to(DEVICE)), pyreduct.index_add(start, ids, rows))


def test_accumulator():
    x = data(1 << 18)
    state = pyreduct.Accumulator("var", "f64", device="cuda:0").add(x[:100000].to(DEVICE)).add(x[100000:].to(DEVICE))
    assert state == pyreduct.Accumulator("var", "f64").add(x)
    with pytest.raises(ValueError, match="device='cuda:0'"):
        pyreduct.Accumulator("sum", "f64").add(x.to(DEVICE))


# ------------------------------------------------------------------------------------------------------------------------------
# Streams
# ------------------------------------------------------------------------------------------------------------------------------


CALLS = {
    "whole": lambda x: pyreduct.sum(x),
    "rows": lambda x: pyreduct.mean(x, 1),
    "columns": lambda x: pyreduct.max(x, 0),
    "operator": lambda x: rt.norm(x, 1),
    "integers": lambda x: pyreduct.sum(x.to(torch.int64), 1, check=False),
    "groups": lambda x: pyreduct.group_sum(x, torch.zeros(len(x), dtype=torch.int64, device=x.device), 1, check=False),
}


@pytest.mark.parametrize("name", CALLS)
def test_in_the_current_stream(name, stream):
    """After what is there already, and before what follows; nothing is waited for."""
    call = CALLS[name]
    x, one = torch.zeros(512, 512, device=DEVICE), torch.ones(512, 512, device=DEVICE)
    expected = call(one).clone()  # and all that happens once has happened
    torch.cuda.synchronize()
    busy()
    x.copy_(one)
    start = time.perf_counter()
    result = call(x)
    elapsed = time.perf_counter() - start
    pending = not stream.query()
    x.zero_()
    stream.synchronize()
    assert torch.equal(result, expected)
    assert pending and elapsed < 0.2


def test_what_can_fail_is_waited_for(stream):
    x = torch.ones(512, device=DEVICE, dtype=torch.int64)
    pyreduct.sum(x)
    busy()
    assert pyreduct.sum(x).item() == 512 and stream.query()


def test_scratch_memory_is_reused_in_order(stream):
    """What one call gives back the next one takes while the first one has not run."""
    x = data(64, 4096).to(DEVICE)
    expected = [pyreduct.sum(x, 1), pyreduct.var(x), pyreduct.sum(x)]
    busy()
    results = [[pyreduct.sum(x, 1), pyreduct.var(x), pyreduct.sum(x)] for _ in range(20)]
    stream.synchronize()
    assert all(torch.equal(a, b) for each in results for a, b in zip(each, expected))


@pytest.mark.parametrize("name", CALLS)
def test_captured(name):
    """In a CUDA graph, replayed on other data."""
    call = CALLS[name]
    x = data(512, 512, dtype=torch.float32).to(DEVICE)
    call(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call(x)
    for seed in (1, 2):
        x.copy_(data(512, 512, dtype=torch.float32, seed=seed))
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(result, call(x))


def test_additions_captured():
    start, index, values = data(16, 3).to(DEVICE), torch.randint(0, 16, (500, 1), device=DEVICE), data(500, 3, seed=1).to(DEVICE)
    places = index.expand(500, 3).contiguous()

    def calls():
        return rt.index_add(start, index[:, 0], values), rt.scatter_add(start, 0, places, values)

    expected = calls()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = calls()
    graph.replay()
    torch.cuda.synchronize()
    assert all(torch.equal(a, b) for a, b in zip(results, expected)) and torch.equal(*results)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="not tested with two devices: there is one")
def test_on_another_device():
    x = data(64, 64)
    result = pyreduct.sum(x.to("cuda:1"), 1)
    assert result.device.index == 1
    same(result, pyreduct.sum(x, 1))


# ------------------------------------------------------------------------------------------------------------------------------
# PyTorch's operators
# ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["sum", "sumsq", "mean", "norm", "rms"])
def test_registration(op):
    overload = getattr(torch.ops.pyreduct, op).default
    torch.library.opcheck(overload, (data(3, 4).to(DEVICE).requires_grad_(), [1], True, None))


def test_gradients_and_compilation():
    def f(x):
        return rt.mean(x.relu(), 1).sum() + rt.norm(x) + rt.var(x, 0).sum()

    x, y = (data(8, 16).to(DEVICE).requires_grad_() for _ in range(2))
    f(x).backward()
    compiled = torch.compile(f, backend="aot_eager", fullgraph=True)
    compiled(y).backward()
    assert torch.equal(compiled(y), f(x))
    torch.testing.assert_close(x.grad, y.grad)


@pytest.mark.parametrize("dtype", FLOATS)
def test_additions(dtype):
    x, source = data(5, 3, dtype=dtype), data(4000, 3, dtype=dtype, seed=2)
    index = torch.randint(0, 5, (4000, 3), generator=torch.Generator().manual_seed(3))
    there = [each.to(DEVICE) for each in (x, source, index)]
    same(rt.index_add(there[0], there[2][:, 0], there[1]), rt.index_add(x, index[:, 0], source))
    same(rt.scatter_add(there[0], 0, there[2], there[1]), rt.scatter_add(x, 0, index, source))
    lengths = torch.tensor([1000, 0, 3000])
    same(rt.segment_reduce(there[1], "max", lengths=lengths.to(DEVICE)), rt.segment_reduce(source, "max", lengths=lengths))
    with pytest.raises(ValueError):
        rt.index_add(there[0], there[2][:, 0] + 5, there[1])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_deterministic(dtype):
    """The same bits in any order, and for whole sums as on the CPU."""
    x, source = data(64, 128, dtype=dtype), data(20000, dtype=dtype, seed=2).to(DEVICE)
    there = x.to(DEVICE)
    ids = torch.randint(0, 10, (20000,), device=DEVICE)
    order = torch.randperm(20000, device=DEVICE)
    layers = [torch.nn.LayerNorm(128, device=DEVICE, dtype=dtype), torch.nn.RMSNorm(128, device=DEVICE, dtype=dtype)]
    with rt.deterministic():
        same(there.sum(), pyreduct.sum(x))
        same(there.mean(1), pyreduct.mean(x, 1))
        same(there.std(0), pyreduct.std(x, 0, ddof=1))
        zeros = torch.zeros(10, device=DEVICE, dtype=dtype)
        assert torch.equal(zeros.index_add(0, ids, source), zeros.index_add(0, ids[order], source[order]))
        assert torch.equal(zeros.scatter_add(0, ids, source), zeros.scatter_add(0, ids[order], source[order]))
        for layer in layers:
            assert torch.equal(layer(there), torch.cat([layer(row[None]) for row in there]))
            there.requires_grad_().grad = None
            layer(there).float().pow(2).sum().backward()
            assert there.grad.isfinite().all() and layer.weight.grad.isfinite().all()


def test_tables():
    """Tables of the device have the bytes of the CPU's, whether arrays are here or there."""
    x, ids, where = data(40000), torch.arange(40000) * 7919 % 100, torch.arange(40000) % 7 != 0
    operators = ["sum", "var", "argmax", "count"]
    expected = pyreduct.Table(operators, "f64", 100).add(x, ids, where=where).add(x[:50], ids[:50])
    table = pyreduct.Table(operators, "f64", 100, device="cuda:0")
    table.add(x.to(DEVICE), ids.to(DEVICE), where=where.to(DEVICE)).add(x[:50].to(DEVICE), ids[:50])
    assert table == expected and table.copy() == expected
    assert [result.tolist() for result in table.result()] == [result.tolist() for result in expected.result()]
    both = pyreduct.Table(operators, "f64", 100).merge(table)
    assert both == expected and pyreduct.Table.from_bytes(bytes(expected), device="cuda:0").merge(both) == expected.copy().merge(both)
    with pytest.raises(pyreduct.ArgumentError) as caught:
        table.add(x.to(DEVICE), torch.full((40000,), 100, device=DEVICE))
    assert caught.value.index == 0 and table == expected
    with pytest.raises(ValueError, match="expected a table with device='cuda:0'"):
        expected.add(x.to(DEVICE), ids)
    sums = pyreduct.Table("sum", "f64", 100, device="cuda:0").add(x.to(DEVICE), ids).remove(x.to(DEVICE), ids.to(DEVICE))
    assert not any(sums.counts())
