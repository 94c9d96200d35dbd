"""Executions on CUDA devices, in the caller's current stream."""
from __future__ import annotations

import struct
from typing import Any

from . import _core

_ERRORS = {1: _core.ArgumentError, 4: _core.EmptyError, 5: _core.ResultOverflowError, 6: _core.NanError}
_OUTCOME = struct.Struct("=IIQ")  # status, reserved, index: reduct_cuda_outcome


def queue(plan: Any, inputs: tuple[Any, ...], results: tuple[Any, ...], x: Any, kind: Any, check: bool, count: int) -> None:
    """Queues an execution. With check it waits, and raises what the data made of it; memory is of the caller's allocator, which
    gives it back in the order of the stream."""
    workspace, workspace_address = kind.scratch(plan.workspace, x) if plan.workspace else (None, 0)
    outcomes, outcomes_address = kind.scratch(_OUTCOME.size * count * len(results), x) if check and count else (None, 0)
    plan.queue(inputs, results, outcomes_address, workspace_address, kind.stream(x))
    del workspace
    if outcomes is not None:
        _raise_first(kind.to_host(outcomes), count)


def _raise_first(outcomes: bytes, count: int) -> None:
    for number, (status, _, index) in enumerate(_OUTCOME.iter_unpack(outcomes)):
        if status:
            where = "" if count == 1 else f"result {number % count}: "
            what = f"element {index} is a NaN" if status == 6 else _ERRORS[status].__doc__
            error = _ERRORS[status](f"{where}{what}")
            error.index = None if index == 2**64 - 1 else index
            raise error
