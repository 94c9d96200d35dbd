"""Executions on CUDA devices, in the caller's current stream."""
from __future__ import annotations

from typing import Any


def queue(plan: Any, inputs: tuple[Any, ...], results: tuple[Any, ...], x: Any, kind: Any, check: bool) -> None:
    """Queues an execution, with a workspace of the caller's allocator, which gives it back in the order of the stream. With check it
    waits, and raises what the data made of it; what waits has a workspace of the library's."""
    workspace, address = kind.scratch(plan.workspace, x) if plan.workspace and not check else (None, 0)
    plan.queue(inputs, results, check, address, kind.stream(x))
    del workspace
