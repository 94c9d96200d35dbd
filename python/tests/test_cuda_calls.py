"""How executions on CUDA devices are queued, with a device's part played by Python."""
import pytest

import pyreduct
from pyreduct import _cuda


class Kind:
    def scratch(self, size, like):
        return size, 1000 + size

    def stream(self, like):
        return 7


class Plan:
    def __init__(self, workspace=0):
        self.workspace, self.queued = workspace, None

    def queue(self, *arguments):
        self.queued = arguments


@pytest.mark.parametrize(("workspace", "check", "address"), [(512, False, 1512), (0, False, 0), (512, True, 0), (0, True, 0)])
def test_queue(workspace, check, address):
    plan = Plan(workspace)
    _cuda.queue(plan, ("x",), ("a", "b"), None, Kind(), check)
    assert plan.queued == (("x",), ("a", "b"), check, address, 7)


def test_no_device():
    """Without a GPU the library says so."""
    from pyreduct import _core

    with pytest.raises((pyreduct.NoDeviceError, pyreduct.UnsupportedError)):
        _core.Plan((("sum", "f64", None, "exact", "propagate", 0),), (4,), ((1,),), 1, None, 0, None, "cuda:99")
