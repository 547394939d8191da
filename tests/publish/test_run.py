"""A run as tables."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from steelyard.model.call import Vector
from steelyard.model.record import Point, Verification
from steelyard.publish import run
from steelyard.publish.sheet import ANY, Column, text
from steelyard.verify.check import _of_other_sizes
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


def test_how_many_answers_of_a_packages_file_were_compared_is_said() -> None:
    """All of its calls, unless NIST's were made besides; a block cipher's record does not say it."""
    own = [Vector(k, b"", b"", b"m", b"") for k in range(12)]
    nist = (_of_other_sizes(own, 1089),)
    made = replace(RECORD, verification=Verification("package", 1089, 0, 0, "a" * 64))
    block = replace(made, setup=replace(made.setup, primitive="crypto_block"))
    every = [line.cells for r in (made, replace(made, notes=nist), block) for line in run.sheets(r, ())[0].lines]
    said = [value for field, value in every if field == "verified"]
    assert said == [
        "1089 known answers of the package's file; from: package",
        "1089 calls of NIST's sizes, and 12 known answers of the package's file; from: package",
        "1089 calls, of which those of the package's file have known answers; from: package",
    ]
