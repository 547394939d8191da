"""Simulated and measured figures, call by call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from steelyard.analyse.validation import Difference, differences, spread, worst
from steelyard.model.record import Point, Record
from steelyard.publish import validation
from tests import made_up


def on_board(record: Record, **cycles: int) -> Record:
    """The same run on a board, whose calls took some ``cycles`` more, by size of the message."""
    points = tuple(replace(p, cycles=p.cycles + cycles.get(f"m{p.mlen}", 0)) for p in record.points)
    note = f"board uno-1: /dev/ttyACM0, avrdude, channel D0 of la (41.6667 ns), clock {-40:+g} ppm"
    return replace(record, setup=replace(record.setup, device="board"), points=points, notes=(note,), id=2)


SIMULATED = replace(made_up.record(load="0/0,0/16,0/64"), id=1)


def test_points_of_one_size_meet() -> None:
    measured = on_board(SIMULATED, m16=26)
    more = Point("encrypt", 8, 8, 5)
    measured = replace(measured, points=(*reversed(measured.points), more, Point("encrypt", 0, 1, 0)))
    found = differences(SIMULATED, measured, 2.0)
    assert [(d.mlen, d.simulated, d.measured, d.runs) for d in found] == [
        (64, 740, 740, (1, 2)), (16, 260, 286, (1, 2)), (0, 100, 100, (1, 2)),
    ]  # fmt: skip
    assert [d.beyond for d in found] == [False, True, False]
    assert found[1].error == pytest.approx(-26 / 286)
    assert found[1].resolution == 5.0
    measured = replace(measured, metrics={"clock_uncertainty": 100_000.0})
    assert [(d.resolution, d.beyond) for d in differences(SIMULATED, measured, 2.0)][1] == (5 + 28.6, False)


def test_runs_without_sizes_are_compared_by_their_means() -> None:
    """As those of block ciphers are: no verified run had figures on both sides, it was said."""
    of = replace(SIMULATED.setup, primitive="crypto_block")
    means = {"cycles_encrypt_mean": 1017.0, "cycles_schedule_encrypt_mean": 1161.5, "cycles_decrypt_mean": 0.0}
    simulated = replace(SIMULATED, setup=of, points=(), metrics=means)
    measured = on_board(replace(simulated, metrics=means | {"cycles_encrypt_mean": 1021.0, "clock_uncertainty": 2000}))
    found = differences(simulated, measured, 2.0)
    assert [(d.operation, d.adlen, d.mlen, d.simulated, d.measured) for d in found] == [
        ("encrypt", None, None, 1017.0, 1021.0), ("schedule_encrypt", None, None, 1161.5, 1161.5),
    ]  # fmt: skip
    assert found[0].resolution == pytest.approx(5 + 2.042)
    assert differences(replace(simulated, points=SIMULATED.points), measured, 2.0) == []


CALL = Difference("toy1/ref", "-O3", "encrypt", 0, 0, 100, 100, 5.0)


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 1000)), min_size=1, max_size=50))
def test_the_spread_is_of_all_calls(cycles: list[tuple[int, int]]) -> None:
    calls = [replace(CALL, simulated=a, measured=b) for a, b in cycles]
    made = spread(calls)
    errors = [abs(a - b) / b for a, b in cycles]
    within = [sum(e <= limit + 1e-12 for e in errors) for limit in (made.median, made.p95, made.most)]
    assert within[0] >= len(errors) / 2
    assert within[1] >= 0.95 * len(errors)
    assert sum(e < made.p95 - 1e-12 for e in errors) < 0.95 * len(errors)
    assert within[2] == len(errors) == made.calls
    assert made.beyond == sum(abs(a - b) > 5 for a, b in cycles)
    assert abs(worst(calls, 1)[0].error) == pytest.approx(made.most)


def test_the_tables_say_what_was_compared_and_where_it_came_from() -> None:
    measured = on_board(SIMULATED, m0=2)
    pairs = [(replace(SIMULATED, metrics={"ram_renner": 90.0}), replace(measured, metrics={"ram_renner": 91.0}))]
    summary, far, others, origin = validation.tables("uno", differences(*pairs[0], 2.0), pairs)
    assert summary.title == "Simulator against uno (ATmega328P, 16 MHz, measured on a board)"
    assert not any("silicon" in note for note in summary.notes)
    assert [tuple(line.cells)[:2] for line in summary.lines] == [("all", 3), ("encrypt", 3), ("toy1/ref -O3", 3)]
    assert tuple(far.lines[0].cells)[3:7] == (0, 0, 100, 102)
    assert [tuple(line.cells) for line in others.lines] == [("toy1/ref", "-O3", "ram_renner", 90, 91)]
    facts = {line.cells[0]: line.cells[1] for line in origin.lines}
    assert facts["board"] == "board uno-1: avrdude, channel D0 of la (41.6667 ns), clock -40 ppm"
    assert facts["compiler"] == SIMULATED.setup.toolchain.version  # which begins with the name
