"""The matrix on top of a campaign over many targets."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from steelyard.analyse.rows import rows
from steelyard.cli.console import show
from steelyard.cli.run import sheets_of
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record, Setup, Toolchain
from steelyard.publish import pivot
from steelyard.publish.sheet import Column, Sheet, plain

TARGETS = ("bluepill", "esp32", "uno")


def record(implementation: str, target: str, cycles: float, *, flags: str = "-O3", bad: bool = False) -> Record:
    variant, name = implementation.split("/")
    setup = Setup(
        "crypto_aead", variant, variant, name, "1" * 64, target, "2" * 64, "simulator", Toolchain("gcc", "gcc 1", ""),
        flags, "kat", "3" * 64, "model/1",
    )  # fmt: skip
    failure = Failure(Reason.KAT_MISMATCH, "count 1") if bad else None
    return Record(setup, failure, {"cycles_encrypt_mean": cycles})


def matrix(records: list[Record]) -> Sheet:
    [made] = pivot.matrix(rows(records))
    return made


def test_every_target_has_a_column_and_the_fastest_is_first() -> None:
    slow = [record("slow/ref", t, 90) for t in TARGETS]
    fast = [record("fast/ref", t, 30) for t in TARGETS[:2]]
    base = [record("nocrypt/ref", t, 1) for t in TARGETS]
    made = matrix([*base, *slow, *fast, record("fast/ref", "uno", 5, bad=True)])
    assert [c.title for c in made.columns] == ["implementation", *TARGETS]
    assert [list(line.cells) for line in made.lines] == [["fast/ref", 30, 30, None], ["slow/ref", 90, 90, 90]]


def test_one_that_wins_by_far_on_some_targets_is_before_one_that_is_little_better_on_others() -> None:
    """The geometric mean of ratios counts, not the first column, nor cycles, which large targets would rule."""
    cycles = {"a/ref": (100, 100, 1100), "b/ref": (110, 1000, 1000), "c/ref": (100, 300, 9000)}
    made = matrix([record(n, t, v) for n, of in cycles.items() for t, v in zip(TARGETS, of, strict=True)])
    assert [line.cells[0] for line in made.lines] == ["a/ref", "b/ref", "c/ref"]


def test_what_nobody_can_judge_is_named_below() -> None:
    unknown = Failure(Reason.NO_EXPECTED, "")
    strange = [replace(record("new/ref", t, 1), failure=unknown) for t in TARGETS]
    made = matrix([*(record("a/ref", t, 2) for t in TARGETS), *strange])
    assert [line.cells[0] for line in made.lines] == ["a/ref"]
    assert made.notes[-1] == "without known answers, so not shown: new/ref"


def test_flags_have_a_column_when_there_are_several() -> None:
    made = matrix([record("a/ref", t, n, flags=f) for t in TARGETS for n, f in ((2, "-Os"), (1, "-O3"))])
    assert [list(line.cells) for line in made.lines] == [["a/ref", "-O3", 1, 1, 1], ["a/ref", "-Os", 2, 2, 2]]


def test_titles_with_commas_are_told_apart_below(capsys: pytest.CaptureFixture[str]) -> None:
    titles = ("error, median", "error, 95 %", "cycles in assembly")
    show([Sheet("t", "", tuple(Column(t, t, "%", 1) for t in titles), [])])
    assert '"error, median", "error, 95 %", cycles in assembly: %' in capsys.readouterr().out


def test_two_targets_need_none() -> None:
    assert pivot.matrix(rows([record("a/ref", t, 1) for t in TARGETS[:2]])) == []


def test_what_has_no_room_follows_below(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.cli.console.PIPED_WIDTH", 32)
    show([matrix([record("a/ref", t, 1000) for t in TARGETS])])
    printed = capsys.readouterr().out
    lines = [line.split() for line in printed.splitlines() if "/ref" in line]
    assert lines == [["a/ref", "1", "000"], ["a/ref", *["1", "000"] * 2]]
    assert [w for w in printed.split() if w in TARGETS] == list(TARGETS)
    assert "not shown" not in printed


def test_it_is_on_top_of_the_results() -> None:
    titles = [s.title for s in sheets_of([record("a/ref", t, 1) for t in TARGETS])]
    assert titles[0] == "crypto_aead: encrypt (cycles) by target"
    assert [t.split(" ")[0] for t in titles[1:]] == list(TARGETS)


def test_what_a_long_answer_leaves_out_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    sheets = [
        plain(f"t{n}", "", {"n": 0}, [(k,) for k in range(lines)]) for n, lines in enumerate((70, 60, 3, 3, 3, 3))
    ]
    show(sheets)
    assert re.findall(r"and .*", capsys.readouterr().out) == ["and 10 more lines; -o FILE has all of them"]
    show(sheets[:1])
    assert "more lines" not in capsys.readouterr().out
