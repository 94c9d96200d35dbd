"""The interpreter's lock, and Ctrl-C."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from exact import same

import pyreduct


def test_other_threads_run_meanwhile():
    x = np.ones((1 << 22, 2))[:, 0]
    turns, done = 0, threading.Event()

    def work():
        for _ in range(10):
            pyreduct.sum(x)
        done.set()

    switch = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # a thread that keeps the lock has it for all of its work
    try:
        thread = threading.Thread(target=work)
        thread.start()
        while not done.is_set():
            turns += 1
            time.sleep(0)
        thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert turns > 10


def test_many_threads_at_once():
    x = np.random.default_rng(1).standard_normal((64, 1000))
    expected = pyreduct.sum(x, axis=1)
    wrong = []

    def work():
        for _ in range(50):
            if not np.array_equal(pyreduct.sum(x, axis=1), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.fixture
def piece():
    """Sets how many elements are reduced between two looks at signals."""
    yield pyreduct._core.set_piece
    pyreduct._core.set_piece(1 << 26)


ARRAYS = {
    "whole": lambda x: x,
    "matrix": lambda x: x.reshape(40, 250),
    "cube": lambda x: x.reshape(10, 20, 50),
    "columns": lambda x: x.reshape(250, 40)[:, ::-1],
    "Fortran": lambda x: x.reshape(250, 40).T,
    "strided": lambda x: x.reshape(100, 10, 10)[::2, :, ::-3],
    "repeated": lambda x: np.broadcast_to(x[:500].reshape(1, 5, 100), (20, 5, 100)),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_pieces_change_nothing(name, dtype, piece):
    """Sizes of pieces are no part of the shapes that plans are kept for, so those of other sizes are forgotten."""
    x = ARRAYS[name]((np.random.default_rng(1).standard_normal(10000) * 1000).astype(dtype))
    mask = np.random.default_rng(2).random(x.shape) < 0.9
    functions = [getattr(pyreduct, name) for name in ("sum", "mean", "var", "prod", "argmin", "max", "count_nonzero", "any")]
    if dtype == "i4":
        functions.remove(pyreduct.prod)
    axes = [None, *range(x.ndim), *((0, axis) for axis in range(1, x.ndim))]

    def all_results():
        pyreduct._functions._prepare.cache_clear()
        results = [f(x, axis, keepdims=keepdims) for f in functions for axis in axes for keepdims in (False, True)]
        results += [f(x, axis, where=mask) for f in functions if f is not pyreduct.argmin for axis in axes]
        results += [pyreduct.vecdot(x, x[::-1], axis=axis) for axis in range(x.ndim)] + [pyreduct.sum(x, mode="fast")]
        return results + [each for axis in axes for each in pyreduct.several(x, ["sum", "max", "std"], axis)]

    expected = all_results()
    for elements in (7, 100, 999):
        piece(elements)
        for ours, whole in zip(all_results(), expected):
            same(ours, whole)


def test_pieces_that_fail(piece):
    piece(8)
    pyreduct._functions._prepare.cache_clear()
    x, out = np.ones((9, 6), "i8"), np.full((9, 2), 7)[:, 1]
    x[7] = 2**62
    with pytest.raises(OverflowError, match="result 7: "):
        pyreduct.sum(x, 1, out=out)
    assert out.tolist() == [7] * 9
    assert pyreduct.max(x, 1, out=out) is out and out.tolist() == [1] * 7 + [2**62, 1]
    with pytest.raises(OverflowError, match="a wider result type"):
        pyreduct.sum(x)
    gaps = np.ones(100)
    gaps[77] = np.nan
    with pytest.raises(pyreduct.NanError) as caught:
        pyreduct.sum(gaps, nan="error")
    assert caught.value.index == 77
    state = pyreduct.Accumulator("sum", "f64", nan="error").add([0.5])
    before = bytes(state)
    with pytest.raises(pyreduct.NanError) as caught:
        state.add(gaps)
    assert caught.value.index == 78 and bytes(state) == before
    state.add(gaps[:77]).add(np.ones(40)[::-2])
    piece(1 << 26)
    assert state == pyreduct.Accumulator("sum", "f64", nan="error").add([0.5]).add(np.ones(97))


# Of each the array has so many elements that it would take a minute, in a few megabytes that are read again and again.
LONG = {
    "one result": "pyreduct.sum(x)",
    "rows": "pyreduct.sum(x, 1)",
    "columns": "pyreduct.mean(x.T, 0)",
    "output": "pyreduct.max(x, 1, out=numpy.zeros(1 << 18))",
    "masked": "pyreduct.sum(x, where=numpy.broadcast_to(numpy.ones(1 << 20, bool), x.shape))",
    "accumulator": "state.add(x)",
}


@pytest.mark.parametrize("name", LONG)
def test_control_c_within_a_call(name):
    """It is raised soon, nothing has changed, and all works as before."""
    program = (
        "import numpy, pyreduct, time\n"
        "x = numpy.broadcast_to(numpy.full(1 << 20, 0.5), (1 << 18, 1 << 20))\n"
        "state = pyreduct.Accumulator('sum', 'f64').add([1.0])\n"
        "try:\n"
        "    print('ready', flush=True)\n"
        f"    {LONG[name]}\n"
        "except KeyboardInterrupt:\n"
        "    assert state.count == 1 and pyreduct.sum(x[0]) == 1 << 19\n"
        "    print('interrupted')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert out == "interrupted\n" and process.returncode == 0


def test_a_handler_may_use_what_it_interrupts():
    """One that raises nothing: the call goes on, with the bits that it would have had."""
    program = (
        "import numpy, pyreduct, signal, threading\n"
        "x = numpy.broadcast_to(numpy.full(1 << 20, 0.5), (1 << 8, 1 << 20))\n"
        "state, seen = pyreduct.Accumulator('sum', 'f64').add([1.0]), []\n"
        "signal.signal(signal.SIGINT, lambda *_: seen.append(state.count))\n"
        "threading.Timer(0.02, signal.raise_signal, [signal.SIGINT]).start()\n"
        "state.add(x)\n"
        "assert seen == [1] and state.result() == 2.0**27 + 1, (seen, state)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_control_c():
    """Between calls, too."""
    program = (
        "import numpy, pyreduct, sys\n"
        "x = numpy.ones(1 << 20)\n"
        "pyreduct.sum(x)\n"
        "try:\n"
        "    print('ready', flush=True)\n"
        "    while True: pyreduct.sum(x)\n"
        "except KeyboardInterrupt:\n"
        "    assert pyreduct.sum(x) == 1 << 20\n"
        "    print('interrupted')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "interrupted\n" and process.returncode == 0
