"""What the tests on CUDA devices have in common. Where REDUCT_REQUIRE_GPU is set, a package that is there and finds no device is an
error, unless it comes without CUDA by itself; otherwise, as without the package, its tests are skipped, and say why."""
import importlib
import os

import pytest

REQUIRED = os.environ.get("REDUCT_REQUIRE_GPU", "0") != "0"


def package(name, counts, optional=False):
    """A module that finds a device; counts(module) is how many."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"not tested with {name}: {error}", allow_module_level=True)
    try:
        found = counts(module)
    except Exception as error:  # each package has its own
        found, why = 0, error
    else:
        why = f"{name} {module.__version__} finds none"
    if not found and REQUIRED and not optional:
        raise RuntimeError(f"no CUDA device: {why}")
    if not found:
        pytest.skip(f"not tested with {name}: no CUDA device: {why}", allow_module_level=True)
    return module
