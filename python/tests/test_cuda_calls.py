"""How executions on CUDA devices are queued and what is made of their outcomes, with a device's part played by Python."""
import struct

import pytest

import pyreduct
from pyreduct import _cuda


class Kind:
    def __init__(self, outcomes=()):
        self.outcomes = b"".join(struct.pack("=IIQ", status, 0, index) for status, index in outcomes)
        self.waited = False

    def scratch(self, size, like):
        return size, 1000 + size

    def stream(self, like):
        return 7

    def to_host(self, made):
        self.waited = True
        assert made == len(self.outcomes)
        return self.outcomes


class Plan:
    def __init__(self, workspace=0):
        self.workspace, self.queued = workspace, None

    def queue(self, *arguments):
        self.queued = arguments


NONE = 2**64 - 1


def test_nothing_is_waited_for():
    plan, kind = Plan(512), Kind()
    _cuda.queue(plan, ("x",), ("r",), None, kind, False, 5)
    assert plan.queued == (("x",), ("r",), 0, 1512, 7) and not kind.waited


def test_success():
    plan, kind = Plan(), Kind([(0, NONE)] * 6)
    _cuda.queue(plan, ("x",), ("a", "b"), None, kind, True, 3)
    assert plan.queued == (("x",), ("a", "b"), 1000 + 16 * 6, 0, 7) and kind.waited


@pytest.mark.parametrize(("status", "error"), [(1, pyreduct.ArgumentError), (4, pyreduct.EmptyError), (5, OverflowError), (6, pyreduct.NanError)])
def test_failure(status, error):
    with pytest.raises(error, match="^result 1: ") as caught:
        _cuda.queue(Plan(), ("x",), ("r",), None, Kind([(0, NONE), (status, 3 if status == 6 else NONE)]), True, 2)
    assert caught.value.index == (3 if status == 6 else None)


def test_no_device():
    """Without a GPU the library says so."""
    from pyreduct import _core

    with pytest.raises((pyreduct.NoDeviceError, pyreduct.UnsupportedError)):
        _core.Plan((("sum", "f64", None, "exact", "propagate", 0),), (4,), ((1,),), 1, None, 0, None, "cuda:99")
