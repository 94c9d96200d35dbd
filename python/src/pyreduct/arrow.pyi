from collections.abc import Iterable
from typing import Any, Literal, Protocol

from ._accumulator import Accumulator

class _Function(Protocol):
    def __call__(
        self, x: Any, *, dtype: Any = None, nan: Literal["propagate", "ignore", "error"] = "propagate",
        mode: Literal["exact", "fast"] = "exact", ddof: Literal[0, 1] = 0,
    ) -> Any: ...  # fmt: skip

def accumulate(state: Accumulator | None, x: Any, op: str | None = None, **options: Any) -> Accumulator: ...
def group_by(
    keys: Any, x: Any, op: str | Iterable[str] = "sum", *, sort: bool = False, dtype: Any = None,
    nan: Literal["propagate", "ignore", "error"] = "propagate", ddof: Literal[0, 1] = 0, check: bool = True,
) -> tuple[Any, Any]: ...  # fmt: skip
def reduce(
    x: Any, op: str, *, dtype: Any = None, nan: Literal["propagate", "ignore", "error"] = "propagate",
    mode: Literal["exact", "fast"] = "exact", ddof: Literal[0, 1] = 0,
) -> Any: ...  # fmt: skip

sum: _Function
prod: _Function
mean: _Function
var: _Function
std: _Function
min: _Function
max: _Function
ptp: _Function
rms: _Function
sumsq: _Function
norm: _Function
argmin: _Function
argmax: _Function
count: _Function
count_nonzero: _Function
any: _Function
all: _Function
minmax: _Function
