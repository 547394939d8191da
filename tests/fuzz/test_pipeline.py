"""A few seconds of what ``make fuzz`` does for minutes."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import the_target
from tests.fuzz import pipeline


def test_the_pipeline_under_disturbance(tmp_path: Path) -> None:
    for name in pipeline.TARGETS:
        the_target(name)
    pipeline.fuzz(tmp_path, 1, 1.0, most=6)
