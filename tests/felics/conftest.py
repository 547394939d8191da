"""The chip that FELICS has most figures of."""

from __future__ import annotations

import pytest

from steelyard.model.target import Target
from tests.conftest import the_target


@pytest.fixture
def atmega128() -> Target:
    return the_target("atmega128")
