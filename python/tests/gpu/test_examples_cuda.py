"""The examples on a CUDA device, as they stand; what they say is reported."""
import importlib
import os

import pytest
from devices import package

torch = package("torch", lambda torch: torch.cuda.device_count())

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.fixture
def example(monkeypatch, record_property):
    """Imports one, beside this file as scripts/gather-python has them, or where they are in the project."""
    places = [os.path.join(HERE, "examples"), os.path.join(HERE, "..", "..", "examples")]
    monkeypatch.syspath_prepend(next(filter(os.path.isdir, places)))

    def load(name):
        def report(lines):
            for line in lines:
                record_property("says", f"{name} on {torch.cuda.get_device_name()}: {line}")

        return importlib.import_module(name), report

    threads = torch.get_num_threads()
    yield load
    torch.set_num_threads(threads)


def test_graph(example):
    """All runs of deterministic() have the same weights, those that a CPU has, too."""
    graph, report = example("torch_graph")
    lines, digests = graph.compare(100, "cuda")
    report(lines)
    on_cpu = graph.train(100, True, 1, 2, "cpu")[0]
    assert digests == {on_cpu}, (digests, on_cpu)


def test_batch(example):
    batch, report = example("torch_batch")
    lines, right = batch.compare("cuda")
    report(lines)
    assert right, lines
