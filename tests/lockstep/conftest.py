"""Compilers that the checkout built for itself, which another ``STEELYARD_HOME`` would hide."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from steelyard.build import toolchain
from steelyard.model import paths


@pytest.fixture(scope="package", autouse=True)
def built_compilers() -> Iterator[None]:
    """They are found like those on ``PATH``."""
    built = sorted((paths.ROOT / ".steelyard" / "toolchains").glob("*/bin"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.pathsep.join([os.environ["PATH"], *map(str, built)]))
        toolchain._identify.cache_clear()
        yield
    toolchain._identify.cache_clear()
