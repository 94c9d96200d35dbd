"""scikit-build-core, with what lies in the folder above while a distribution is made, which cannot reach it there: the licence, and
in a source distribution the library."""
from __future__ import annotations

import os
import shutil
from contextlib import contextmanager

from scikit_build_core.build import *  # noqa: F403
from scikit_build_core.build import build_sdist as _build_sdist
from scikit_build_core.build import build_wheel as _build_wheel

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARY = os.path.join(HERE, "library")
PARTS = ("CMakeLists.txt", "LICENSE", "cmake", "drivers", "include", "src")


def copy(source, target):
    (shutil.copytree if os.path.isdir(source) else shutil.copy2)(source, target)


@contextmanager
def licence_beside():
    licence = os.path.join(HERE, "LICENSE")
    if os.path.exists(licence):  # this is an unpacked distribution
        yield
        return
    copy(os.path.join(HERE, "..", "LICENSE"), licence)
    try:
        yield
    finally:
        os.remove(licence)


@contextmanager
def library_beside():
    if os.path.exists(LIBRARY):  # this is an unpacked distribution
        yield
        return
    os.mkdir(LIBRARY)
    try:
        for part in PARTS:
            copy(os.path.join(HERE, "..", part), os.path.join(LIBRARY, part))
        yield
    finally:
        shutil.rmtree(LIBRARY)


def build_sdist(sdist_directory, config_settings=None):
    with licence_beside(), library_beside():
        return _build_sdist(sdist_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with licence_beside():
        return _build_wheel(wheel_directory, config_settings, metadata_directory)
