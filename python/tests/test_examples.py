"""The examples, and those in the documents."""
import doctest
import importlib
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.mark.parametrize(
    ("name", "needs", "arguments"),
    [("processes", None, []), ("with_dask", "dask.array", []), ("torch_batch", "torch", []), ("torch_graph", "torch", ["--steps", "5"])],
)
def test_example(name, needs, arguments):
    if needs:
        pytest.importorskip(needs, reason=f"{needs} is not installed (make check-python has it)")
    subprocess.run([sys.executable, os.path.join(HERE, "..", "examples", name + ".py"), *arguments], check=True)


@pytest.mark.parametrize("module", ["pyreduct", "pyreduct._accumulator", "pyreduct._table", "pyreduct._groups"])
def test_docstrings(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


@pytest.mark.parametrize("document", ["python/README.md", "docs/python.md"])
def test_documents(document):
    """Examples in documents run as they stand; a section about another package runs where it is installed."""
    path = os.path.join(HERE, "..", "..", document)
    with open(path, encoding="utf-8") as file:
        sections = file.read().split("\n## ")
    for section in sections:
        missing = [name for name in needed(section) if not installed(name)]
        if missing:
            print(f"{document}: section '{section.splitlines()[0]}' not run: no {', '.join(missing)}")
            continue
        test = doctest.DocTestParser().get_doctest(section.replace("```", ""), {}, document, path, 0)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        runner.run(test)
        assert runner.failures == 0, section


def needed(section):
    return [name for name in ("torch", "jax", "pandas", "polars", "pyarrow", "dask") if f"import {name}" in section or f"from {name}" in section]


def installed(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True
