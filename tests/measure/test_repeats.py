"""Medians of repeated calls."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from steelyard.measure import cycles, repeats
from steelyard.model.call import CallResult, Observed, Op, Pulse, Vector

VECTOR = Vector(0, b"", b"", b"m" * 16, b"a", None)


CALL = CallResult(0, 24, True, 0, 40, 0, b"", Pulse(1))


def calls(*cycles: int) -> list[Observed]:
    return [("encrypt", VECTOR, CallResult(0, 24, True, 0, 40, 0, b"", Pulse(c))) for c in cycles]


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
    *_, asked = played(scattering, 11.4)
    assert asked == 13, "an interquartile range of 40 over the root of their number"


def test_an_outlier_moves_nothing_and_is_named() -> None:
    pulses, notes, _ = played([[100, 7], [9000, 7], [100, 7], *([[100, 7]] * 12)])
    assert [p.cycles for p in pulses] == [100, 7]
    assert notes[1].endswith("repeated calls are outliers: encrypt 1/16: 9000 where the median is 100")


def test_calls_of_which_a_sample_does_not_scatter_are_made_once() -> None:
    """Three more rounds of a thousand calls would say no more."""
    first = calls(*range(100, 200))
    asked: list[list[int]] = []

    def again(chosen: Sequence[int]) -> list[Observed]:
        asked.append(list(chosen))
        return [first[k] for k in chosen]

    made, notes = repeats.sampled(first, again, [70, 3, 3, 400], 1.0, "the known answers")
    assert asked == [[3, 70]] * (repeats.LEAST - 1)
    assert [a.pulse.cycles for _, _, a in made] == list(range(100, 200))
    assert [k for k, (_, _, a) in enumerate(made) if a.pulse.spread is not None] == [3, 70]
    assert notes == [
        "cycles at a sample of the known answers are medians of 3 calls, which differ by no more than 1 cycles;"
        " 98 calls were made once"
    ]


def test_calls_of_which_a_sample_scatters_are_all_repeated() -> None:
    first, turn = calls(*[100] * 50), iter(range(10**6))

    def again(chosen: Sequence[int]) -> list[Observed]:
        late = 40 * (next(turn) % 2)
        return [replace_cycles(first[k], 100 + late) for k in chosen]

    made, notes = repeats.sampled(first, again, [1, 2], 1.0, "the known answers")
    assert all(a.pulse.spread for _, _, a in made)
    assert notes[0] == f"cycles at the known answers are medians of {repeats.MOST} calls"


def replace_cycles(call: Observed, cycles: int) -> Observed:
    return call[0], call[1], replace(call[2], pulse=Pulse(cycles))


def test_every_outlier_is_shown_and_what_the_counter_says_is_a_median_too() -> None:
    rounds = [calls(*[100 + 9000 * (k == 0)] * 30) for k in range(15)]
    rounds = [
        [(o, v, replace(a, pulse=replace(a.pulse, apart=float(k)))) for o, v, a in r] for k, r in enumerate(rounds)
    ]
    left = iter(rounds[1:])
    made, notes = repeats.repeated(rounds[0], lambda: next(left), 1.0)
    assert notes[1].count("9100 where the median is 100") == 30
    assert notes[0].endswith("medians of 5 calls")
    assert {a.pulse.apart for _, _, a in made} == {2.0}


def test_an_empty_call_that_took_another_time_is_shown() -> None:
    """It is subtracted from every figure, by the median."""
    spent = iter([52, *[50] * 7, 9000])
    client = mock.Mock(**{"hello.zeros": lambda op: op, "hello.api": 1})
    client.calls = lambda asked: [replace(CALL, pulse=Pulse(next(spent))) for _ in asked]
    empty = cycles.empty_calls(client, {"encrypt": Op.ENCRYPT}, 2.0)
    assert empty.cycles == {"encrypt": 50}
    assert empty.notes == ("1 of 9 empty calls are outliers: empty: 9000 where the median is 50",)


@given(st.lists(st.lists(st.integers(1, 10**6), min_size=2, max_size=2), min_size=15, max_size=15))
def test_cycles_are_the_median_of_what_was_asked_for(rounds: list[list[int]]) -> None:
    pulses, _, asked = played(rounds)
    for k, pulse in enumerate(pulses):
        assert abs(pulse.cycles - median(r[k] for r in rounds[:asked])) <= 0.5
