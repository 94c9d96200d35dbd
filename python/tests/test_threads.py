"""Many threads at once, with a global lock and without: functions, and accumulators and tables that all of them use."""
import os
import pickle
import sys
import sysconfig
import threading

import numpy as np
import pytest
from exact import same

import pyreduct
from pyreduct import Accumulator, Table

THREADS = 8
TIMES = 60  # so that threads meet, where there are few processors, too


def together(work):
    """Runs work(number) in all threads, which start at the same moment; raises what one of them did."""
    ready, failed = threading.Barrier(THREADS), []

    def run(number):
        try:
            ready.wait()
            work(number)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    if failed:
        raise failed[0]


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(1).standard_normal((40, 60)) * 10.0 ** np.random.default_rng(2).integers(-20, 20, (40, 60))


def test_no_global_lock_comes_back():
    """Where there is none, this package leaves it so."""
    if sysconfig.get_config_var("Py_GIL_DISABLED") and os.environ.get("PYTHON_GIL") != "1":
        assert not sys._is_gil_enabled()


def test_functions(x):
    """The same ones in all threads, in different orders; and some that only one thread calls."""
    ids, mask, values = np.random.default_rng(3).integers(0, 7, 40), x > 0, x[0].tolist()
    calls = [
        lambda: pyreduct.sum(x), lambda: pyreduct.sum(x, 1), lambda: pyreduct.mean(x, 0, keepdims=True), lambda: pyreduct.var(x[::2, ::-1], 1, ddof=1),
        lambda: pyreduct.max(x.T, 0), lambda: pyreduct.sum(x, where=mask), lambda: pyreduct.sum(x, 1, out=np.empty(40)), lambda: np.array(pyreduct.sum(values)),
        lambda: pyreduct.dot(x[0], x[1]), lambda: pyreduct.group_sum(x, ids, 7), lambda: pyreduct.index_add(x[:7].copy(), ids, x),
        lambda: pyreduct.segment_sum(x[0], np.array([0, 30, 60])), lambda: pyreduct.group_by(ids).ids, lambda: pyreduct.several(x, ["sum", "std"], 0)[1],
        lambda: pyreduct.average(x, 1, np.ones(60)), lambda: pyreduct.sum(x.astype("f4"), 0), lambda: pyreduct.prod(x, 1), lambda: pyreduct.argmin(x),
    ]  # fmt: skip
    expected = [call() for call in calls]

    def work(number):
        order = np.random.default_rng(number)
        for turn in range(30):
            for which in order.permutation(len(calls)):
                same(np.asarray(calls[which]()), np.asarray(expected[which]))
            length = 1 + (turn * THREADS + number) % 59
            same(pyreduct.sum(x[:, :length], 1), pyreduct.sum(np.ascontiguousarray(x[:, :length]), 1))

    together(work)


def test_what_is_kept_is_forgotten_meanwhile():
    """More kinds of calls than are kept, so that others are taken out while they are used."""
    x = np.arange(3000.0)

    def work(number):
        for length in range(1 + number, 3000, THREADS):
            for _ in range(2):
                assert pyreduct.sum(x[:length], 0, keepdims=True)[0] == length * (length - 1) / 2
                assert pyreduct.max(x[:length], 0, keepdims=True)[0] == length - 1

    together(work)


@pytest.mark.parametrize("operator", ["sum", "mean", "var", "max", "argmax", "count_nonzero"])
def test_one_accumulator(operator):
    """All add to it, while others look at it, copy it and merge it."""
    values = np.random.default_rng(6).standard_normal(1 << 18)
    state, other, pieces = Accumulator(operator, "f64"), Accumulator(operator, "f64").add([0.5]), np.array_split(values, 16 * THREADS)
    if operator == "argmax":
        pieces = [np.sort(piece) for piece in pieces]  # whose order does not matter to the maximum

    def work(number):
        for piece in pieces[number::THREADS]:
            state.add(piece)
            state.add(piece[::3])
            assert 0 < state.count <= len(values) * 2
            pickle.loads(pickle.dumps(state)).result()
            (state + other).result()
            state.copy().add(piece)
            assert repr(state) and state.result() is not None

    together(work)

    def add_alone(number):
        for _ in range(100 * TIMES):
            state.add(few[number])

    few = values[: 4 * THREADS].reshape(THREADS, 4)
    together(add_alone)
    whole = Accumulator(operator, "f64")
    for piece in few:
        whole.add(np.tile(piece, 100 * TIMES))
    for piece in pieces:
        whole.add(piece).add(piece[::3])
    assert state.count == whole.count
    if operator == "argmax":
        return
    assert bytes(state) == bytes(whole)


def test_accumulators_that_merge_each_other(x):
    states = [Accumulator("sum", "f64").add(x[number]) for number in range(THREADS)]
    extra = Accumulator("sum", "f64").add([1.0])

    def work(number):
        for turn in range(20):
            states[number] += extra
            (states[number] + states[(number + 1 + turn) % THREADS]).result()
            states[number] == states[(number + 3) % THREADS]

    together(work)
    for number, state in enumerate(states):
        assert state == Accumulator("sum", "f64").add(x[number]).add([1.0] * 20)


def test_one_table(x):
    """All add to it and take out again, while others look at it, resize it and merge it."""
    values, ids = np.tile(x.reshape(-1), 30), np.random.default_rng(5).integers(0, 50, 30 * x.size)
    table, other = Table(["sum", "var", "count"], "f64", 50), Table(["sum", "var", "count"], "f64", 60)
    other.add([0.5], [3])
    pieces = list(zip(np.array_split(values, 8 * THREADS), np.array_split(ids, 8 * THREADS)))

    def work(number):
        for piece, places in pieces[number::THREADS]:
            table.add(piece, places)
            table.add(piece[::2], places[::2]).remove(piece[::2], places[::2])
            assert len(table) in (50, 60) and (other + table).counts()[0].sum() > 1
            try:
                assert len(table.result(check=False)) == 3 and table.counts()[0].sum() > 0
            except ValueError as error:
                assert "changed meanwhile" in str(error)
            table.add_group(number, piece[:5])
            pickle.loads(pickle.dumps(table)).counts()
            table.resize(60)
            table.merge(other)

    def add_alone(number):
        few, places = values[number : number + 3].copy(), np.full(3, number % 2)
        for _ in range(100 * TIMES):
            table.add(few, places)
        table.remove(np.tile(few, 100 * TIMES), np.tile(places, 100 * TIMES))

    together(work)
    together(add_alone)
    whole = Table(["sum", "var", "count"], "f64", 60).add(values, ids)
    for number in range(THREADS):
        for piece, _ in pieces[number::THREADS]:
            whole.add_group(number, piece[:5]).add([0.5], [3])
    assert bytes(table) == bytes(whole)


def test_tables_that_merge_each_other():
    tables = [Table("sum", "f64", 4).add([float(number)], [number % 4]) for number in range(THREADS)]

    def work(number):
        for turn in range(20):
            other = tables[(number + 1 + turn % (THREADS - 1)) % THREADS]
            assert other is not tables[number]
            (tables[number] + other).result()
            Table("sum", "f64", 4).merge(tables[number]).merge(other)
            tables[number].merge(Table("sum", "f64", 4))

    together(work)
    assert [table.counts().sum() for table in tables] == [1] * THREADS


def test_lists_that_change_meanwhile():
    """No crash: the sum of what was there, or an error."""
    values = [1.0] * 1000

    def work(number):
        for turn in range(100 * TIMES):
            if number % 2:
                values.append(turn + 0.5) if turn % 3 else values.clear()
                values.extend([number + turn / 3, turn / 7] * 25)  # new objects, which go when they are taken out
                del values[-3:]
            else:
                try:
                    assert 0 <= pyreduct.sum(values)
                    pyreduct.Accumulator("sum", "f64").add(values)
                except IndexError:
                    pass

    together(work)


def test_arrays_that_change_meanwhile(x):
    """No crash: bits of what was there when each element was read; the rest is right."""
    shared, steady = x.copy(), x.copy()
    expected = pyreduct.sum(steady, 1)

    def work(number):
        for turn in range(100):
            if number % 2:
                shared[turn % 40] = turn
                pyreduct.sum(steady, 1, out=shared[0, :40])
            else:
                pyreduct.sum(shared, 1)
                same(pyreduct.sum(steady, 1), expected)

    together(work)
