"""A run as tables."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from steelyard.model.record import Point
from steelyard.publish import run
from steelyard.publish.sheet import ANY, Column, text
from tests.store.conftest import RECORD


def test_how_far_the_chips_own_counter_is_from_the_pulse_is_said_by_size() -> None:
    """And nothing is where nobody compared."""
    points = (Point("encrypt", 0, 16, 500, 503), Point("encrypt", 16, 0, 700, 698), Point("decrypt", 0, 16, 510))
    [sheet] = [s for s in run.sheets(replace(RECORD, points=points), ()) if s.label == "counter"]
    assert sheet.title == "cycles that the chip's own counter has more, by size"
    assert [line.cells for line in sheet.lines] == [(0, 16, 3, None), (16, 0, -2, None)]
    without = replace(RECORD, points=tuple(replace(p, counter=None) for p in points))
    assert not [s for s in run.sheets(without, ()) if s.label == "counter"]


@pytest.mark.parametrize(
    ("number", "shown"), [(0.0004, "0.0004"), (-0.00012345, "-0.00012"), (0.0005001, "0.001"), (0.0, "0"), (12, "12")]
)
def test_a_figure_that_is_small_is_not_nothing(number: float, shown: str) -> None:
    assert text(number, Column("value", "value", digits=ANY)) == shown
