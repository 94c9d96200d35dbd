"""Runs the tests beside this file, which need a CUDA device, with the Python that runs this:

    run.py [ARGUMENT...]     arguments are for pytest

Ends with a line "N passed, N failed", before which there is one for each thing that was not tested, and what examples said.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Count:
    """What pytest reports, and why something was skipped."""

    def __init__(self):
        self.passed = self.failed = 0
        self.skipped = set()
        self.said = []

    def _add(self, report, passes):
        if report.outcome == "failed":
            self.failed += 1
        elif report.outcome == "skipped":
            self.skipped.add(str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr).removeprefix("Skipped: "))
        elif passes:
            self.passed += 1

    def pytest_runtest_logreport(self, report):
        self._add(report, report.when == "call")
        if report.when == "call":
            self.said += [text for name, text in report.user_properties if name == "says"]

    def pytest_collectreport(self, report):
        self._add(report, False)


def main(arguments):
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # or JAX takes most of the memory from the others
    try:
        import pytest
    except ImportError:
        print(f"The Python package: not tested on a GPU: no pytest for {sys.executable}\n0 passed, 1 failed")
        return 1
    count = Count()
    fuzz = os.path.join(HERE, "..", "test_fuzz.py")  # or beside this file, as scripts/gather-python has it
    places = [HERE, fuzz] if os.path.exists(fuzz) else [HERE]
    pytest.main(["-q", "-p", "no:cacheprovider", "--continue-on-collection-errors", "--rootdir", HERE, *arguments, *places], plugins=[count])
    for line in count.said:
        print(line)
    for reason in sorted(count.skipped):
        print(f"The Python package: {reason}")
    print(f"{count.passed} passed, {count.failed} failed")
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
