"""What times the package runs, and says the same as tables and as JSON."""
import json
import math
import subprocess
import sys

import pytest

from pyreduct import bench


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "pyreduct.bench", *arguments], capture_output=True, text=True, timeout=300)


def test_quick():
    done = run("--quick", "--json")
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)
    assert measured["where"]["device"].startswith("cpu")
    titles = [table["title"] for table in measured["tables"]]
    assert len(set(titles)) == len(titles) and {"Lists, by numbers", "sum of float64 along axes", "Sums of groups of float64"} <= set(titles)
    for table in measured["tables"]:
        for row in table["rows"]:
            assert any(name.startswith("pyreduct") for name in row["seconds"]) and len(row["seconds"]) > 1
            assert all(0 < seconds < math.inf for seconds in row["seconds"].values())
    assert all("C" in row["seconds"] for row in measured["tables"][0]["rows"])


def test_tables(capsys):
    bench.print_table({"title": "Title", "rows": [{"label": "a", "seconds": {"x": 5e-8, "y": 2e-4}}, {"label": "b", "seconds": {"z": 1.0}}]})
    assert capsys.readouterr().out == (
        "\nTitle\n\n| | x | y | z |\n|---|---:|---:|---:|\n| a | 50 ns | 200.0 us |  |\n| b |  |  | 1,000,000.0 us |\n"
    )
    bench.print_table({"title": "Title", "rows": [{"label": "a", "seconds": {"C": 5e-8, "pyreduct": 2e-7}}]})
    assert capsys.readouterr().out.endswith("| | C | pyreduct | pyreduct - C |\n|---|---:|---:|---:|\n| a | 50 ns | 200 ns | 150 ns |\n")


def test_all_are_right():
    """What is timed has the same results, as far as others are exact."""
    for _, calls in bench.lists([3, 11]):
        assert len({call() for call in calls.values()}) == 1, list(calls)


def test_refused():
    done = run("--device", "cuda") if not bench.libraries() else pytest.skip("there is a CUDA device")
    assert done.returncode == 1 and "CUDA device" in done.stderr
    assert run("--device", "tpu").returncode == 2
