"""A few seconds of what ``make fuzz`` does for minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import the_target
from tests.fuzz import pipeline


@pytest.mark.parametrize("seed", [1, 2])
def test_the_pipeline_under_disturbance(tmp_path: Path, seed: int) -> None:
    for name in pipeline.TARGETS:
        the_target(name)
    pipeline.fuzz(tmp_path, seed, 2.0)
