"""scikit-build-core, with the library beside the package while a source distribution is made: in the repository it is the folder
above, which a distribution cannot reach."""
from __future__ import annotations

import os
import shutil
from contextlib import contextmanager

from scikit_build_core.build import *  # noqa: F403
from scikit_build_core.build import build_sdist as _build_sdist

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARY = os.path.join(HERE, "library")
PARTS = ("CMakeLists.txt", "LICENSE", "cmake", "drivers", "include", "src")


@contextmanager
def library_beside():
    if os.path.exists(LIBRARY):  # this is an unpacked distribution
        yield
        return
    os.mkdir(LIBRARY)
    try:
        for part in PARTS:
            source, target = os.path.join(HERE, "..", part), os.path.join(LIBRARY, part)
            (shutil.copytree if os.path.isdir(source) else shutil.copy2)(source, target)
        yield
    finally:
        shutil.rmtree(LIBRARY)


def build_sdist(sdist_directory, config_settings=None):
    with library_beside():
        return _build_sdist(sdist_directory, config_settings)
