"""The matrix on top of a campaign over many targets."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from steelyard.cli import matrix, results
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record, Setup, Toolchain

TARGETS = ("bluepill", "esp32", "uno")


def record(implementation: str, target: str, cycles: float, *, flags: str = "-O3", bad: bool = False) -> Record:
    variant, name = implementation.split("/")
    setup = Setup(
        "crypto_aead", variant, variant, name, "1" * 64, target, "2" * 64, "simulator", Toolchain("gcc", "gcc 1", ""),
        flags, "kat", "3" * 64, "model/1",
    )  # fmt: skip
    failure = Failure(Reason.KAT_MISMATCH, "count 1") if bad else None
    return Record(setup, failure, {"cycles_encrypt_mean": cycles})


def printed(records: list[Record], width: int = 120) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    for shown in matrix.matrices("cycles", "cycles_encrypt_mean", records):
        console.print(shown)
    return console.export_text()


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if "/" in line]


def test_every_target_has_a_column_and_the_fastest_is_first() -> None:
    slow = [record("slow/ref", t, 90) for t in TARGETS]
    fast = [record("fast/ref", t, 30) for t in TARGETS[:2]]
    base = [record("nocrypt/ref", t, 1) for t in TARGETS]
    text = printed([*base, *slow, *fast, record("fast/ref", "uno", 5, bad=True)])
    assert [w for w in text.split() if w in TARGETS] == list(TARGETS)
    assert rows(text) == [["fast/ref", "30", "30", "-"], ["slow/ref", "90", "90", "90"]]


def test_flags_have_a_column_when_there_are_several() -> None:
    text = printed([record("a/ref", t, n, flags=f) for t in TARGETS for n, f in ((2, "-Os"), (1, "-O3"))])
    assert rows(text) == [["a/ref", "-O3", "1", "1", "1"], ["a/ref", "-Os", "2", "2", "2"]]


def test_two_targets_need_none() -> None:
    assert printed([record("a/ref", t, 1) for t in TARGETS[:2]]) == ""


def test_what_has_no_room_follows_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "stdout", lambda: Console(width=35))
    text = printed([record("a/ref", t, 1000) for t in TARGETS], 35)
    assert rows(text) == [["a/ref", "1", "000"], ["a/ref", *["1", "000"] * 2]]
    assert [w for w in text.split() if w in TARGETS] == list(TARGETS)


def test_it_is_on_top_of_the_results() -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    results.print_results(console, [record("a/ref", t, 1) for t in TARGETS])
    assert console.export_text().startswith("crypto_aead: encrypt, mean cycles, -O3\n")
