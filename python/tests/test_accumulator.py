import copy
import multiprocessing
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyreduct
from pyreduct import Accumulator

X = np.sin(np.arange(1.0, 1001.0)) * 10.0 ** (np.arange(1000) % 60 - 30)


@given(st.lists(st.integers(0, 1000), max_size=5), st.randoms(), st.sampled_from(["sum", "mean", "var", "std", "norm2", "min", "rms"]))
def test_pieces_in_any_order(cuts, random, name):
    pieces = np.split(X, sorted(cuts))
    random.shuffle(pieces)
    parts = [Accumulator(name).add(piece) for piece in pieces]
    total = Accumulator(name)
    for part in parts:
        total += pickle.loads(pickle.dumps(part)) if random.random() < 0.5 else Accumulator.from_bytes(bytes(part))
    whole = Accumulator(name).add(X)
    assert total.result() == whole.result() and len(total) == 1000
    expected = {"norm2": pyreduct.norm}.get(name) or getattr(pyreduct, name)
    assert whole.result() == expected(X)
    assert whole.result("f32") == expected(X, dtype="f32") if name != "min" else True


def test_views_and_masks():
    x = X.reshape(10, 100)
    for view in (x, x.T, x[::-1, ::3], x[:, None, 0], np.broadcast_to(x, (2, 10, 100))):
        assert Accumulator("sum").add(view).result() == pyreduct.sum(view)
        mask = view > 0
        assert Accumulator("sum").add(view, where=mask).result() == pyreduct.sum(view, where=mask)
        assert Accumulator("argmax").add(view).result() == pyreduct.argmax(view)
        assert Accumulator("dot").add(view, view).result() == pyreduct.sumsq(view)
    assert Accumulator("sum").add(x, where=x[0] > 0).result() == pyreduct.sum(x, where=x[0] > 0)


def test_failed_additions_change_nothing():
    state = Accumulator("sum", nan="error").add(X)
    before = bytes(state)
    bad = np.zeros((4, 5))
    bad[3, 3] = np.nan
    for view in (bad, bad.T):
        with pytest.raises(pyreduct.NanError):
            state.add(view)
    with pytest.raises(TypeError, match="f32; this accumulator takes f64"):
        state.add(X.astype("f4"))
    with pytest.raises(TypeError, match="y: sum reads the elements of one array"):
        state.add(X, X)
    with pytest.raises(ValueError, match="shape"):
        Accumulator("dot").add(X, X[1:])
    assert bytes(state) == before


def test_merging_what_does_not_fit():
    with pytest.raises(pyreduct.MismatchError):
        Accumulator("sum").__iadd__(Accumulator("mean"))
    with pytest.raises(TypeError):
        Accumulator("sum") + 1
    with pytest.raises(pyreduct.CorruptError):
        Accumulator.from_bytes(b"nothing")
    damaged = bytearray(bytes(Accumulator("sum").add(X)))
    damaged[-3] ^= 1
    with pytest.raises(pyreduct.CorruptError):
        Accumulator.from_bytes(damaged)
    with pytest.raises(pyreduct.EmptyError):
        Accumulator("mean").result()


def test_the_rest():
    state = Accumulator("sum", np.float32).add([1, 2.5]) if False else Accumulator("sum", np.float32).add(np.float32([1, 2.5]))
    assert repr(state) == "Accumulator('sum', 'f32', count=2)"
    assert state.operator == "sum" and state.dtype == "f32" and state.count == 2 and bool(Accumulator("sum"))
    twin = copy.copy(state)
    twin += twin
    assert (twin.result(), state.result(), twin == state) == (7, 3.5, False)
    assert (state + state).result() == 7 and state == copy.deepcopy(state)
    state.reset()
    assert len(state) == 0 and state.result() == 0
    assert Accumulator("minmax").add(X).result() == (X.min(), X.max())
    assert Accumulator("sum", "i64").add([2**62] * 4).result("i128") == 2**64
    assert Accumulator("var", ddof=1).add([1, 2, 4]).result() == pyreduct.var([1.0, 2.0, 4.0], ddof=1)
    assert repr(Accumulator("sum", nan="ignore", mode="fast")) == "Accumulator('sum', 'f64', mode='fast', nan='ignore', count=0)"


def test_threads():
    state = Accumulator("sum")
    threads = [threading.Thread(target=lambda: [state.add(X) for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(state) == 80_000 and state.result() == pyreduct.sum(np.tile(X, 80))


def part_of(bounds):
    return Accumulator("sum").add(X[slice(*bounds)])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        parts = pool.map(part_of, [(0, 100), (100, 350), (350, 1000)])
    assert sum(parts, Accumulator("sum")).result() == pyreduct.sum(X)
