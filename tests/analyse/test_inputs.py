"""Ciphers whose time depends on the inputs: inputs are others for other sources, and make no difference of these."""

from __future__ import annotations

from steelyard.analyse import inputs
from steelyard.analyse.compare import Pair, compare
from steelyard.cli.compare import _hit
from steelyard.publish.history import tables

from .made_rows import row

NAMES = ("cycles_encrypt_mean", "cycles_encrypt_known_mean")


def of(digest: str, known: float, fresh: float | None = None, **more: object) -> dict:
    """A row of sources with these means; where time is not seen to depend on the inputs there is one."""
    both = {"cycles_encrypt_mean": known if fresh is None else fresh, "vectors": 1089, "digest": digest, "rom": None}
    sd = {} if fresh is None else {"cycles_encrypt_known_mean": known, "cycles_encrypt_inputs_sd": 330.0}
    return row() | both | sd | more


def verdicts(pair: Pair) -> list[str]:
    found = {ch.metric: ch.verdict for ch in pair.changes}
    return [found[n] for n in NAMES if n in found]


def test_other_inputs_are_no_change_and_the_same_ones_are() -> None:
    for old, new, expected in (
        (of("a", 38020, 38288), of("b", 38020, 38296), ["noise", "same"]),  # a comment
        (of("a", 38020, 38288), of("b", 38060, 38280), ["noise", "worse"]),  # what fresh inputs hide
        (of("a", 38020, 38288), of("b", 40020, 40288), ["worse", "worse"]),
        (of("a", 1473), of("b", 1473, 1483.4), ["noise", "same"]),  # a sample saw it once
        (of("a", 1473), of("b", 1474), ["worse"]),
        (of("a", 38020, 38288), of("a", 38020, 38296), ["worse", "same"]),  # the same sources, so the same inputs
    ):
        found = compare([old], [new], about=["digest"])
        [pair] = found.pairs
        assert verdicts(pair) == expected, (old, new)
        assert _hit(found, "cycles_encrypt_mean", 0) == ("worse" in expected)


def test_points_scatter_as_single_calls_do() -> None:
    old, new = (of(d, 4000, 4010) | {"encrypt@0/16": n} for d, n in (("a", 3000), ("b", 3400)))
    asked = ["encrypt@0/16"]
    [pair] = compare([old], [new], metrics=asked, wanted=asked, about=["digest"]).pairs
    assert [ch.verdict for ch in pair.changes] == ["noise"]
    [pair] = compare([old], [new | {"encrypt@0/16": 4200}], metrics=asked, wanted=asked, about=["digest"]).pairs
    assert [ch.verdict for ch in pair.changes] == ["worse"]
    assert {"cycles_encrypt_inputs_sd", "cycles_encrypt_known_mean"} <= {*inputs.needed(asked)}


def test_a_history_marks_no_other_inputs() -> None:
    rows = [of(d, 1473, fresh) | {"revision": d, "subject": "", "order": n} for n, (d, fresh) in
            enumerate((("a", 1480.0), ("b", 1490.0), ("c", 1900.0)))]  # fmt: skip
    (sheet,) = tables(rows, ["cycles_encrypt_mean"])
    assert [line.marks["cycles_encrypt_mean"] for line in sheet.lines] == ["", "", "worse"]
