"""Compilers that the checkout built for itself are used as well."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import built_compilers


@pytest.fixture(scope="package", autouse=True)
def compilers() -> Iterator[None]:
    """They are found like those on ``PATH``."""
    with built_compilers():
        yield
