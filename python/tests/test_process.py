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


def set_longest(elements):
    """Plans have what was set before, so they are forgotten."""
    pyreduct._core.set_longest(elements)
    for cache in (pyreduct._functions._prepare, pyreduct._functions._segments_plan, pyreduct._functions._groups_plan):
        cache.cache_clear()


@pytest.fixture
def watched():
    """All calls count as long, and look at signals."""
    set_longest(0)
    yield
    set_longest(1 << 27)


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
def test_looking_changes_nothing(name, dtype):
    x = ARRAYS[name]((np.random.default_rng(1).standard_normal(10000) * 1000).astype(dtype))
    mask = np.random.default_rng(2).random(x.shape) < 0.9
    ids, flat = np.random.default_rng(3).integers(0, 9, x.size), np.ascontiguousarray(x).reshape(-1)
    functions = [getattr(pyreduct, name) for name in ("sum", "mean", "var", "prod", "argmin", "max", "count_nonzero", "any")]
    if dtype == "i4":
        functions.remove(pyreduct.prod)
    axes = [None, *range(x.ndim), *((0, axis) for axis in range(1, x.ndim))]

    def all_results():
        results = [f(x, axis, keepdims=keepdims) for f in functions for axis in axes for keepdims in (False, True)]
        results += [f(x, axis, where=mask) for f in functions if f is not pyreduct.argmin for axis in axes]
        results += [pyreduct.vecdot(x, x[::-1], axis=axis) for axis in range(x.ndim)]
        results += [pyreduct.sum(x, axis, mode="fast") for axis in axes] if dtype == "f8" else []
        results += [pyreduct.group_sum(flat, ids, 9), pyreduct.group_prod(flat.astype("f4"), ids, 9), pyreduct.segment_max(flat, np.array([0, 7, x.size]))]
        return results + [each for axis in axes for each in pyreduct.several(x, ["sum", "max", "std"], axis)]

    expected = all_results()
    set_longest(0)
    try:
        for ours, whole in zip(all_results(), expected, strict=True):
            same(ours, whole)
    finally:
        set_longest(1 << 27)


def test_states_that_look_are_the_same():
    rng = np.random.default_rng(4)
    x, ids, mask = rng.standard_normal(5000), rng.integers(0, 7, 5000), rng.random(5000) < 0.5

    def states():
        fast = pyreduct.Accumulator("sum", "f64", mode="fast").add(x).add(x[::3], where=mask[::3])
        table = pyreduct.Table(["sum", "argmin"], "f64", 7).add(x, ids).add(x[::-2], ids[::2], where=mask[::2])
        return fast, pyreduct.Accumulator("argmax", "f64").add(x), table.add_group(3, x), pyreduct.Table("var", "f64", 7).add(x, ids).remove(x[:9], ids[:9])

    expected = [bytes(state) for state in states()]
    set_longest(0)
    try:
        assert [bytes(state) for state in states()] == expected
    finally:
        set_longest(1 << 27)


def test_long_calls_that_fail(watched):
    x, out = np.ones((9, 6), "i8"), np.full((9, 2), 7)[:, 1]
    x[7] = 2**62
    with pytest.raises(OverflowError, match="result 7: "):
        pyreduct.sum(x, 1, out=out)
    assert out.tolist() == [7] * 9
    assert pyreduct.max(x, 1, out=out) is out and out.tolist() == [1] * 7 + [2**62, 1]
    with pytest.raises(OverflowError, match="a wider result type"):
        pyreduct.sum(x)
    assert pyreduct.sum(x, 1, check=False).tolist() == [6] * 7 + [0, 6]
    gaps = np.ones(100)
    gaps[77] = np.nan
    with pytest.raises(pyreduct.NanError) as caught:
        pyreduct.sum(gaps, nan="error")
    assert caught.value.index == 77
    state = pyreduct.Accumulator("sum", "f64", nan="error").add([0.5])
    table = pyreduct.Table(["sum", "count"], "f64", 2).add([0.5], [1])
    before = bytes(state), bytes(table)
    with pytest.raises(pyreduct.NanError) as caught:
        state.add(gaps)
    assert caught.value.index == 78
    with pytest.raises(pyreduct.Error, match="indices: element 77 is of group 2 of 2"):
        table.add(gaps, np.arange(100) // 77 * 2)
    with pytest.raises(pyreduct.Error, match="element 1, to be removed"):
        table.remove([0.5, 0.5], [1, 0])
    assert (bytes(state), bytes(table)) == before


# Of each the arrays have so many elements that it would take seconds or more, in a few megabytes that are read again and again, or in
# memory that was never written.
LONG = """
import signal, threading, time
import numpy as np, pyreduct
x = np.broadcast_to(np.full(1 << 20, 0.5), (1 << 18, 1 << 20))
flat, ids, wide = np.zeros(1 << 32, "f2"), np.zeros(1 << 32, "u1"), np.zeros(1 << 31, "i4")
out = np.full(1 << 18, 7.0)
state = pyreduct.Accumulator("sum", "f64").add([1.0])
fast = pyreduct.Accumulator("sum", "f64", mode="fast").add([1.0])
table = pyreduct.Table(["sum", "max"], "f16", 5).add(np.ones(1, "f2"), [1])
states = state, fast, table
before = [bytes(each) for each in states]
calls = {
    "one result": lambda: pyreduct.sum(x),
    "rows": lambda: pyreduct.sum(x, 1),
    "columns": lambda: pyreduct.mean(x.T, 0),
    "few columns": lambda: pyreduct.sum(flat.reshape(-1, 2), 0),
    "extremes of columns": lambda: pyreduct.max(wide.reshape(-1, 2), 0),
    "output": lambda: pyreduct.max(x, 1, out=out),
    "masked": lambda: pyreduct.sum(x, where=np.broadcast_to(np.ones(1 << 20, bool), x.shape)),
    "product": lambda: pyreduct.prod(flat),
    "strided": lambda: pyreduct.sum(x[:, ::-2]),
    "several": lambda: pyreduct.several(x, ["sum", "max"]),
    "fast": lambda: pyreduct.sum(x, mode="fast"),
    "fast, at once": lambda: pyreduct.var(flat, mode="fast"),
    "segments": lambda: pyreduct.segment_var(flat, np.array([0, 1, 1 << 32])),
    "groups": lambda: pyreduct.group_sum(flat, ids, 9),
    "groups by sorting": lambda: pyreduct.group_prod(flat, ids, 9),
    "rows of groups": lambda: pyreduct.group_mean(flat.reshape(-1, 1 << 10), ids[: 1 << 22], 9),
    "keys": lambda: pyreduct.group_by(wide),
    "accumulator": lambda: state.add(x),
    "accumulator, strided": lambda: state.add(x[:, ::-2]),
    "accumulator, fast": lambda: fast.add(x),
    "table": lambda: table.add(flat, ids),
    "group of a table": lambda: table.add_group(2, flat),
}
for name, call in calls.items():
    timer = threading.Timer(0.08, signal.raise_signal, [signal.SIGINT])
    try:
        timer.start()
        began = time.monotonic()
        call()
        print(name, "ended", flush=True)
        timer.join()
    except KeyboardInterrupt:
        print(name, "interrupted" if time.monotonic() - began < 5 else "interrupted late", flush=True)
    assert [bytes(each) for each in states] == before and (out == 7).all(), name
"""


def test_control_c_within_a_call():
    """It is raised soon, nothing has changed, and all works as before."""
    done = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True, timeout=300)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 22, done.stdout + done.stderr
    assert all(line.endswith(" interrupted") for line in lines), done.stdout


def test_a_handler_may_use_what_it_interrupts():
    """One that raises nothing: the call goes on, with the bits that it would have had."""
    program = (
        "import numpy, pyreduct, signal, threading\n"
        "x = numpy.broadcast_to(numpy.full(1 << 20, 0.5), (129, 1 << 20))\n"
        "state, seen = pyreduct.Accumulator('sum', 'f64').add([1.0]), []\n"
        "signal.signal(signal.SIGINT, lambda *_: seen.append(state.count))\n"
        "threading.Timer(0.02, signal.raise_signal, [signal.SIGINT]).start()\n"
        "state.add(x)\n"
        "assert seen == [1] and state.result() == 129 * 2.0**19 + 1, (seen, state)\n"
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
