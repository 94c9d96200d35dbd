"""Runs the array API's own tests, those of reductions, on a namespace of NumPy with this package's functions in the place of its own:

    array_api_suite.py CHECKOUT [ARGUMENT...]

CHECKOUT is one of https://github.com/data-apis/array-api-tests with its submodule; arguments are for pytest. What docs/python.md says that
the package has not, NumPy does: complex numbers, integers summed in fewer than 64 bits, a correction other than 0 and 1, and spreads
of too few elements.
"""
import os
import subprocess
import sys
import tempfile

NEEDED = ["pytest-json-report>=1.5", "ndindex>=1.8", "hypothesis>=6.151"]
VERSION = "2024.12"  # of the standard; NumPy's newest release has that

NAMESPACE = '''
import numpy as np
from numpy import *

import pyreduct


def __getattr__(name):
    return getattr(np, name)


def ours(x):
    return pyreduct if x.dtype.kind != "c" else np


def plain(name):
    def function(x, /, *, axis=None, keepdims=False):
        return np.asarray(getattr(ours(x), name)(x, axis=axis, keepdims=keepdims))

    return function


def typed(name):
    def function(x, /, *, axis=None, dtype=None, keepdims=False):
        narrow = dtype is not None and np.dtype(dtype).kind in "iu" and np.dtype(dtype).itemsize < 8
        return np.asarray(getattr(np if narrow else ours(x), name)(x, axis=axis, dtype=dtype, keepdims=keepdims))

    return function


def spread(name):
    def function(x, /, *, axis=None, correction=0.0, keepdims=False):
        options = {"axis": axis, "correction": correction, "keepdims": keepdims}
        try:
            return np.asarray(getattr(ours(x) if correction in (0, 1) else np, name)(x, **options))
        except pyreduct.EmptyError:
            return np.asarray(getattr(np, name)(x, **options))

    return function


for makes, names in ((plain, "max min mean argmax argmin any all count_nonzero"), (typed, "sum prod"), (spread, "var std")):
    for name in names.split():
        globals()[name] = makes(name)
        globals()[name].__name__ = name
'''
TESTS = {"statistical_functions": "max mean min prod std sum var", "searching_functions": "argmax argmin count_nonzero", "utility_functions": "all any"}


def lacks(folder):
    """Why the tests cannot be run from this folder, or None."""
    if os.path.exists(os.path.join(folder, "array-api", "spec")):
        return None
    return f"{folder} is no checkout of array-api-tests with its submodule"


def run(python, folder, environment, *arguments):
    """The exit status of the tests, in an environment where pyreduct is on Python's path."""
    with tempfile.TemporaryDirectory() as place:
        with open(os.path.join(place, "reductions.py"), "w", encoding="utf-8") as file:
            file.write(NAMESPACE)
        path = os.pathsep.join(filter(None, [place, environment.get("PYTHONPATH")]))
        environment = dict(environment, PYTHONPATH=path, ARRAY_API_TESTS_MODULE="reductions", ARRAY_API_TESTS_VERSION=VERSION)
        tests = [f"array_api_tests/test_{file}.py::test_{name}" for file, names in TESTS.items() for name in names.split()]
        signatures = [f"array_api_tests/test_signatures.py::test_func_signature[{name}]" for names in TESTS.values() for name in names.split()]
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, *tests, *signatures]
        return subprocess.run(command, env=environment, cwd=folder).returncode


if __name__ == "__main__":
    why = lacks(sys.argv[1])
    sys.exit(why and f"array_api_suite.py: {why}" or run(sys.executable, sys.argv[1], os.environ, *sys.argv[2:]))
