"""Runs the tests of the Python package that need NumPy, pytest and hypothesis alone:

    run.py ENVIRONMENT MODULE [--full] [ARGUMENT...]

in a virtual environment, made in the folder ENVIRONMENT if it is not there: from PyPI, or where that cannot be reached with what the
system has. The extension module lies in the folder MODULE. Ends with 77 if the packages cannot be had. With --full the packages that
pyreduct works with are installed too, and those that cannot be had are named; arguments are for pytest.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import venv

import array_api_suite

HERE = os.path.dirname(os.path.abspath(__file__))
NEEDED = ["numpy>=1.24", "pytest>=7.2", "hypothesis>=6.60"]
# PyTorch's newest builds for CUDA are of some gigabytes; this one is for the CPU alone on most platforms.
FULL = ["torch==2.13.0", "jax>=0.4.30", "ml_dtypes>=0.4", "pandas>=2.0", "polars>=1.0", "pyarrow>=15.0", "dask[array]>=2024.1", "array-api-strict>=2.0", "mypy>=1.10",
        "pyright>=1.1.360", "build>=1.0"]  # fmt: skip


def python_of(folder):
    return os.path.join(folder, "bin", "python")


def has(folder, modules):
    return subprocess.run([python_of(folder), "-c", f"import {modules}"], capture_output=True).returncode == 0


def install(folder, packages):
    command = [python_of(folder), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--prefer-binary", *packages]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode == 0, done.stderr.strip().splitlines()[-1:] or ["pip failed"]


def make(folder):
    """Whether there is an environment with what is needed."""
    modules = "numpy, pytest, hypothesis"
    if os.path.exists(python_of(folder)) and has(folder, modules):
        return True
    venv.create(folder, clear=True, with_pip=True, system_site_packages=False)
    installed, why = install(folder, NEEDED)
    if installed:
        return True
    print(f"run.py: no packages from PyPI ({why[0]}); trying those of the system", flush=True)
    venv.create(folder, clear=True, with_pip=False, system_site_packages=True)
    if has(folder, modules):
        print("run.py: testing with NumPy, pytest and hypothesis of the system", flush=True)
        return True
    print("run.py: skipped: neither PyPI nor the system has NumPy, pytest and hypothesis (Debian's packages are python3-numpy, "
          "python3-pytest and python3-hypothesis)")
    return False


def install_full(folder):
    """All at once, or else one by one, so that what can be had is tested."""
    if install(folder, FULL)[0]:
        return
    for package in FULL:
        installed, why = install(folder, [package])
        if not installed:
            print(f"run.py: not tested with {package}: {why[0]}", flush=True)


def check_types(folder):
    """The package's own code and stubs by mypy, and by both what uses it."""
    python, top = python_of(folder), os.path.dirname(HERE)
    commands = {"mypy": ["mypy", "src/pyreduct", "tests/typing"], "pyright": ["pyright", "--pythonpath", python]}
    statuses = [subprocess.run([python, "-m", *command], cwd=top).returncode for name, command in commands.items() if has(folder, name)]
    return max(statuses, default=0)


def check_packaging(folder):
    """A source distribution, and pip installing it into an environment of its own. What pip asks of a checkout before it builds one is
    more than `build` asks, and is tried alone."""
    top = os.path.dirname(HERE)
    if not has(folder, "build"):
        return 0
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([python_of(folder), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--dry-run", "--no-deps", top],
                       check=True)  # fmt: skip
        subprocess.run([python_of(folder), "-m", "build", "--sdist", "--outdir", place, top], check=True)
        (distribution,) = os.listdir(place)
        clean = os.path.join(place, "clean")
        venv.create(clean, with_pip=True)
        subprocess.run([python_of(clean), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--config-settings",
                        "cmake.define.REDUCT_CUDA=OFF", os.path.join(place, distribution)], check=True)  # fmt: skip
        program = "import pyreduct; assert pyreduct.sum([0.1] * 10) == 1; print('installed from', pyreduct.__file__)"
        return subprocess.run([python_of(clean), "-c", program], cwd=place).returncode


def check_array_api(folder, environment):
    """The tests of the array API itself, which are no package of PyPI, from where REDUCT_ARRAY_API_TESTS says."""
    place = os.environ.get("REDUCT_ARRAY_API_TESTS")
    why = array_api_suite.lacks(place) if place else "REDUCT_ARRAY_API_TESTS names no folder"
    if not why:
        installed, lines = install(folder, array_api_suite.NEEDED)
        why = None if installed else lines[0]
    if why:
        print(f"run.py: not tested with array-api-tests: {why}", flush=True)
        return 0
    return array_api_suite.run(python_of(folder), place, environment)


def main(folder, module, *arguments):
    try:
        ready = make(folder)
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"run.py: skipped: no virtual environment can be made: {error} (Debian's package is python3-venv)")
        ready = False
    if not ready:
        return 77
    full = arguments[:1] == ("--full",)
    if full:
        install_full(folder)
    with tempfile.TemporaryDirectory() as place:
        package = os.path.join(place, "pyreduct")
        shutil.copytree(os.path.join(HERE, "..", "src", "pyreduct"), package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        for name in os.listdir(module):
            shutil.copy2(os.path.join(module, name), package)
        environment = dict(os.environ, PYTHONPATH=place, PYTHONDONTWRITEBYTECODE="1")
        tests = [python_of(folder), "-m", "pytest", "-q", "-rs", *arguments[full:], HERE]
        failed = subprocess.run(tests, env=environment, cwd=place).returncode
        return failed or (check_array_api(folder, environment) or check_types(folder) or check_packaging(folder) if full else 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
