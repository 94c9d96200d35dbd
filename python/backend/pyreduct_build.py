"""scikit-build-core, with what lies in the folder above while a distribution is made, which cannot reach it there: the licence, and
in a source distribution the library. Of what was there when one was interrupted nothing is kept."""
from __future__ import annotations

import os
import shutil
from contextlib import contextmanager

from scikit_build_core.build import *  # noqa: F403
from scikit_build_core import build as _build

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
UNPACKED = os.path.exists(os.path.join(HERE, "PKG-INFO"))  # from a source distribution, which has all
PARTS = ("CMakeLists.txt", "LICENSE", "cmake", "drivers", "include", "src")


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.remove(path)


def copy(source, target):
    (shutil.copytree if os.path.isdir(source) else shutil.copy2)(source, target)


@contextmanager
def beside(folder, *parts):
    """Parts of the checkout in a folder here, for as long as this takes."""
    places = [os.path.join(folder, part) for part in parts]
    if UNPACKED:
        yield
        return
    try:
        os.makedirs(folder, exist_ok=True)
        for part, place in zip(parts, places):
            remove(place)
            copy(os.path.join(HERE, "..", part), place)
        yield
    finally:
        for place in places if folder == HERE else [folder]:
            remove(place)


def with_licence(name):
    hook = getattr(_build, name)

    def function(*arguments, **keywords):
        with beside(HERE, "LICENSE"):
            return hook(*arguments, **keywords)

    return function


# Every hook that reads what pyproject.toml says of the project, which names the licence.
for _name in ("build_wheel", "build_editable", "prepare_metadata_for_build_wheel", "prepare_metadata_for_build_editable"):
    if hasattr(_build, _name):
        globals()[_name] = with_licence(_name)
del _name


def build_sdist(sdist_directory, config_settings=None):
    with beside(HERE, "LICENSE"), beside(os.path.join(HERE, "library"), *PARTS):
        return _build.build_sdist(sdist_directory, config_settings)
