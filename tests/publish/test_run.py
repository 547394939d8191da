"""A run as tables."""

from __future__ import annotations

from msgspec.structs import replace

from steelyard.model.record import Point
from steelyard.publish import run
from tests.store.conftest import RECORD


def test_how_far_the_chips_own_counter_is_from_the_pulse_is_said_by_size() -> None:
    """And nothing is where nobody compared."""
    points = (Point("encrypt", 0, 16, 500, 503), Point("encrypt", 16, 0, 700, 698), Point("decrypt", 0, 16, 510))
    [sheet] = [s for s in run.sheets(replace(RECORD, points=points), ()) if s.label == "counter"]
    assert sheet.title == "cycles that the chip's own counter has more, by size"
    assert [line.cells for line in sheet.lines] == [(0, 16, 3, None), (16, 0, -2, None)]
    without = replace(RECORD, points=tuple(replace(p, counter=None) for p in points))
    assert not [s for s in run.sheets(without, ()) if s.label == "counter"]
