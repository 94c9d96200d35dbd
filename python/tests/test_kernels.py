"""The kernels that are chosen are the best that the processor has: what the compiler tells of it is not to be relied on everywhere. By
itself this file is a program that says which they are, and fails if they are others: `python/wheel` tries each wheel with it."""
import os
import platform
import sys

from pyreduct import _core

# As src/cpu/features.c has them, by the names of /proc/cpuinfo, the best first.
FLAGS = {"avx512": "avx2 fma avx f16c avx512f avx512dq avx512bw avx512vl", "avx2": "avx2 fma avx f16c"}


def chosen():
    reduction = ("sum", "f64", None, "exact", "propagate", 0)
    return _core.Plan((reduction,), (2,), ((1,),), 1, None, 0, None, "cpu").device


def best():
    """By what the system says of the processor; of one that it says nothing of, None."""
    if platform.machine() not in ("x86_64", "AMD64") or not os.path.exists("/proc/cpuinfo"):
        return None
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        flags = next((set(line.partition(":")[2].split()) for line in file if line.startswith("flags")), set())
    return "cpu:" + next((name for name, needed in FLAGS.items() if flags >= set(needed.split())), "portable")


def test_best_kernels():
    expected = best()
    assert expected in (None, chosen())


if __name__ == "__main__":
    expected = best()
    print(f"kernels: {chosen()}" + (f"; this processor has {expected}" if expected != chosen() else ""))
    sys.exit(expected not in (None, chosen()))
