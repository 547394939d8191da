"""Medians of repeated calls."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hypothesis import given
from hypothesis import strategies as st

from steelyard.measure import repeats
from steelyard.model.call import Answer, Observed, Pulse, Vector

VECTOR = Vector(0, b"", b"", b"m" * 16, b"a", None)


def calls(*cycles: int) -> list[Observed]:
    return [("encrypt", VECTOR, Answer(0, 24, True, 0, 40, 0, b"", Pulse(c))) for c in cycles]


def played(rounds: Sequence[Sequence[int]], resolution: float = 1.0) -> tuple[list[Pulse], list[str], int]:
    """What comes of these rounds, and how many were asked for."""
    left = [calls(*r) for r in rounds]
    made, notes = repeats.repeated(left.pop(0), lambda: left.pop(0), resolution)
    return [a.pulse for _, _, a in made], notes, len(rounds) - len(left)


def test_equal_calls_are_made_three_times() -> None:
    pulses, notes, asked = played([[100, 7]] * 15)
    assert ([p.cycles for p in pulses], [p.spread for p in pulses], asked) == ([100, 7], [0.0, 0.0], 3)
    assert notes == ["cycles at the workload's sizes are medians of 3 calls"]


def test_a_call_that_scatters_is_made_more_often() -> None:
    scattering = [[100 + 40 * (k % 2), 7] for k in range(20)]
    pulses, _, asked = played(scattering)
    assert asked == repeats.MOST
    assert pulses[0].spread == 40 / 100
    *_, asked = played(scattering, 20.0)
    assert repeats.LEAST <= asked < repeats.MOST


def test_an_outlier_moves_nothing_and_is_named() -> None:
    pulses, notes, _ = played([[100, 7], [9000, 7], [100, 7], *([[100, 7]] * 12)])
    assert [p.cycles for p in pulses] == [100, 7]
    assert notes[1].endswith("repeated calls are outliers: encrypt 1/16: 9000 where the median is 100")


@given(st.lists(st.lists(st.integers(1, 10**6), min_size=2, max_size=2), min_size=15, max_size=15))
def test_cycles_are_the_median_of_what_was_asked_for(rounds: list[list[int]]) -> None:
    pulses, _, asked = played(rounds)
    for k, pulse in enumerate(pulses):
        assert abs(pulse.cycles - median(r[k] for r in rounds[:asked])) <= 0.5
