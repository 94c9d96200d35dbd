"""Executions on CUDA devices, in the caller's current stream."""
from __future__ import annotations

import functools
import struct
from typing import Any

from . import _core

_ERRORS = {1: _core.ArgumentError, 4: _core.EmptyError, 5: _core.ResultOverflowError, 6: _core.NanError}
_OUTCOME = struct.Struct("=IIQ")  # status, reserved, index: reduct_cuda_outcome
_FEW = 1024  # outcomes that come to the host; more are looked at where they are first, which takes two launches


def queue(plan: Any, inputs: tuple[Any, ...], results: tuple[Any, ...], x: Any, kind: Any, check: bool, count: int) -> None:
    """Queues an execution. With check it waits, and raises what the data made of it; memory is of the caller's allocator, which
    gives it back in the order of the stream."""
    workspace, workspace_address = _workspace(plan, x, kind)
    total = count * len(results)
    outcomes, outcomes_address = kind.scratch(_OUTCOME.size * total, x) if check and count else (None, 0)
    plan.queue(inputs, results, outcomes_address, workspace_address, kind.stream(x))
    del workspace
    if outcomes is not None and (total <= _FEW or _any_failed(outcomes_address, total, plan.device, x, kind)):
        _raise_first(kind.to_host(outcomes), count)


def _workspace(plan: Any, x: Any, kind: Any) -> tuple[Any, int]:
    return kind.scratch(plan.workspace, x) if plan.workspace else (None, 0)


@functools.lru_cache(maxsize=256)
def _any_plan(total: int, device: str) -> Any:
    """Whether any status is not 0: of an outcome's four words of 32 bits the first."""
    return _core.Plan((("any", "u32", "bool", "exact", "propagate", 0),), (total,), ((4,),), 1, None, 0, None, device)


def _any_failed(outcomes: int, total: int, device: str, x: Any, kind: Any) -> bool:
    plan = _any_plan(total, device)
    workspace, workspace_address = _workspace(plan, x, kind)
    found, found_address = kind.scratch(1, x)
    ordinal = int(device.partition(":")[2].partition(":")[0])
    statuses = _core.View.pointer(outcomes, "u32", (total,), (4,), True, ordinal, None)
    target = _core.View.pointer(found_address, "bool", (), (), False, ordinal, None)
    plan.queue((statuses,), (target,), 0, workspace_address, kind.stream(x))
    del workspace
    return bool(kind.to_host(found) != b"\0")


def _raise_first(outcomes: bytes, count: int) -> None:
    for number, (status, _, index) in enumerate(_OUTCOME.iter_unpack(outcomes)):
        if status:
            where = "" if count == 1 else f"result {number % count}: "
            what = f"element {index} is a NaN" if status == 6 else _ERRORS[status].__doc__
            error = _ERRORS[status](f"{where}{what}")
            error.index = None if index == 2**64 - 1 else index
            raise error
