"""Ciphers whose time depends on the inputs: inputs are others for other sources, and make no difference of these."""

from __future__ import annotations

import pytest

from steelyard.analyse import inputs
from steelyard.analyse.compare import Pair, compare
from steelyard.analyse.summary import summary
from steelyard.cli.compare import _hit, _untold
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
        (of("a", 38020, 38288), of("b", 39020, 38288), ["same", "worse"]),  # by chance
        (of("a", 38020, 38288), of("b", 40020, 40288), ["worse", "worse"]),
        (of("a", 1473), of("b", 1473, 1483.4), ["noise", "same"]),  # a sample saw it once
        (of("a", 1473), of("b", 1474), ["worse"]),
        (of("a", 38020, 38288), of("a", 38020, 38296), ["worse", "same"]),  # the same sources, so the same inputs
        (of("a", 14690, 14762), of("a", 14979), ["worse", "worse"]),  # and yet one mean is over fresh ones
        (of("a", 10000, 10060), of("a", 9995), ["noise", "better"]),
        (
            of("a", 10377, cycles_encrypt_inputs_sd=960.0),
            of("b", 10377, 10618),
            ["noise", "same"],
        ),  # seen by one sample
        (of("a", 10000), of("b", 10000, 10250, cycles_encrypt_inputs_sd=968.0), ["noise", "same"]),
        (of("a", 10377, 10618), of("b", 10715, cycles_encrypt_inputs_sd=960.0), ["noise", "worse"]),
    ):
        found = compare([old], [new], about=["digest"])
        [pair] = found.pairs
        assert verdicts(pair) == expected, (old, new)
        assert bool(_hit(found, "cycles_encrypt_mean", 0)) == ("worse" in expected)
    [fresh, known] = of("a", 14690, 14762), of("a", 14979)
    assert "known_mean" in _hit(compare([fresh], [known], about=["digest"]), "cycles_encrypt_mean", 1.7)


def test_points_scatter_as_single_calls_do() -> None:
    """Where longer calls may scatter more nobody can say, and a gate does not pass."""
    for name, old, new, verdict, untold in (
        ("encrypt@0/16", 3000, 3400, "noise", False),
        ("encrypt@0/16", 3000, 4400, "worse", False),
        ("encrypt@0/512", 59000, 64000, "noise", True),
        ("encrypt@0/512", 59000, 344000, "worse", False),
        ("encrypt_per_byte", -2.4, -2.0, "noise", False),  # as far as a line through these sizes is off
        ("encrypt_per_byte", 100.0, 650.0, "worse", False),
    ):
        rows = [of(d, 4000, 4010) | {name: n} for d, n in (("a", old), ("b", new))]
        [pair] = compare(rows[:1], rows[1:], metrics=[name], wanted=[name], about=["digest"]).pairs
        assert [(ch.verdict, ch.untold) for ch in pair.changes][:1] == [(verdict, untold)], (name, new)
        flags = [row | {"digest": "a", "flags": f} for row, f in zip(rows, ("-O3", "-O3 -DX=1"), strict=True)]
        [pair] = compare(flags[:1], flags[1:], metrics=[name], wanted=[name]).pairs
        assert [ch.verdict for ch in pair.changes][:1] == [verdict]
    assert {"cycles_encrypt_inputs_sd", "cycles_encrypt_known_mean"} <= {*inputs.needed(["encrypt@0/16"])}


@pytest.mark.parametrize(
    "name", ["energy_encrypt_modelled", "encrypt@0/16", "encrypt_fixed", "encrypt_per_byte", "cycles_encrypt_warm_mean"]
)
def test_what_other_inputs_hide_is_judged_by_known_answers_too(name: str) -> None:
    for fresh in (4010.0, None):
        if fresh is None and name in ("energy_encrypt_modelled", "cycles_encrypt_warm_mean"):
            continue  # it is of the known answers then
        scatters = {"cycles_encrypt_inputs_sd": 330.0}
        old, new, same = (of(d, n, fresh) | {name: x} | scatters for d, n, x in
                          (("a", 4000, 34.0), ("b", 4100, 34.2), ("c", 4000, 34.2)))  # fmt: skip
        worse, unchanged = (compare([old], [r], metrics=[name], wanted=[name], about=["digest"]) for r in (new, same))
        said = f"cycles_encrypt_known_mean is worse by more than 1 %: v/ref on uno; other inputs hide {name}"
        assert _hit(worse, name, 1) == said
        assert _hit(worse, "any", 1)
        assert not _hit(unchanged, name, 0)


@pytest.mark.parametrize("name", ["encrypt@0/16", "encrypt_fixed", "encrypt_per_byte"])
def test_what_other_inputs_hide_is_judged_by_fresh_means_too(name: str) -> None:
    """The published key may feel little of a change."""
    old = of("a", 9214) | {name: 66.0}
    new = of("b", 9469, 13139, cycles_encrypt_inputs_sd=1300.0) | {name: 67.0}
    found = compare([old], [new], metrics=[name], wanted=[name], about=["digest"])
    for rule, limit in (name, 5.0), ("any", 30.0):
        assert _hit(found, rule, limit).startswith("cycles_encrypt_mean is worse by more than "), rule
    assert not _hit(found, name, 50.0)


@pytest.mark.parametrize("name", ["cycles_encrypt_mean", "encrypt@0/16", "encrypt_per_byte"])
def test_what_one_sample_may_have_missed_is_said_by_nobody(name: str) -> None:
    """A few keys are slow, or became so: known answers tell neither. The same inputs tell that flags are the reason."""
    old = of("a", 73762) | {"encrypt@0/16": 3000.0, "encrypt_per_byte": 55.0}
    new = of("b", 73700, 93754, cycles_encrypt_inputs_sd=72000.0) | {"encrypt@0/16": 3100.0, "encrypt_per_byte": 56.0}
    found = compare([old], [new], metrics=[name], wanted=[name], about=["digest"])
    for rule in name, "any":
        assert not _hit(found, rule, 1)
        assert [name in text for text in _untold(found, [(rule, 1.0)])] == [True]
        assert not [*_untold(found, [(rule, 5000.0)])]
    if name == NAMES[0]:
        assert summary(found)[:1] == ["not told from other inputs on the one target"]
    flags = compare([old], [new | {"digest": "a", "flags": "-Os"}], metrics=[NAMES[0]], wanted=[NAMES[0]])
    assert _hit(flags, NAMES[0], 27)
    assert summary(flags)[:1] == ["slower on the one target"]


def test_a_small_difference_that_a_sample_may_have_missed_passes_no_gate() -> None:
    old, new = of("a", 56670), of("b", 56663, 57185, cycles_encrypt_inputs_sd=1165.0)
    found = compare([old], [new], metrics=NAMES[:1], wanted=NAMES[:1], about=["digest"])
    assert [verdicts(p) for p in found.pairs] == [["noise", "better"]]
    assert (_hit(found, "any", 0), len([*_untold(found, [("any", 0.0)])])) == ("", 1)
    assert summary(found)[:1] == ["not told from other inputs on the one target"]
    both = [r | {"cycles_reject_mean": x} for r, x in ((old, 5000), (new, 4000))]
    asked = ["cycles_encrypt_mean", "cycles_reject_mean"]
    found = compare(both[:1], both[1:], metrics=asked, wanted=asked, about=["digest"])
    assert summary(found)[:1] == ["partly faster, partly not told from other inputs on the one target"]
    energy = [r | {"energy_encrypt_modelled": x} for r, x in ((old, 18.0), (new, 18.17))]
    found = compare(energy[:1], energy[1:], metrics=["energy_encrypt_modelled"], about=["digest"])
    assert summary(found)[:1] == ["not told from other inputs on the one target"]


def test_known_answers_are_compared_by_name_wherever_one_side_does_not_depend() -> None:
    for new, verdict in (of("b", 4100, 4200), "worse"), (of("b", 3900), "better"):
        found = compare([of("a", 4000)], [new], metrics=NAMES[1:], wanted=NAMES[1:], about=["digest"])
        assert [[(ch.metric, ch.verdict, ch.beside) for ch in p.changes] for p in found.pairs] == [
            [(NAMES[1], verdict, False)]
        ]
    assert NAMES[0] in {*inputs.needed(NAMES[1:])}


def test_a_line_is_off_by_what_its_long_calls_are() -> None:
    """However small its part without any byte is."""
    points = {f"encrypt@0/{n}": 18000 + 550.0 * n for n in range(16, 2305, 16)}
    rows = [of(d, 40684, 40700) | points | {"workload": "gmu", "cycles_encrypt_inputs_sd": 190.0, "encrypt_fixed": x}
            for d, x in (("a", 17914.0), ("b", 19702.0), ("c", 400000.0))]  # fmt: skip
    for new, untold in (rows[1], True), (rows[2], False):
        found = compare(rows[:1], [new], metrics=["encrypt_fixed"], wanted=["encrypt_fixed"], about=["digest"])
        assert bool(_hit(found, "encrypt_fixed", 5)) == (not untold)
        assert bool([*_untold(found, [("encrypt_fixed", 5.0)])]) == untold


def test_a_line_is_as_far_off_where_a_row_tells_some_of_its_points() -> None:
    """The others are not asked for of stored runs."""
    for sizes in ("0/16,0/1000,0/2000", "0/100,0/1000,0/2000", "0/16,0/512,0/1536"):
        told = {p: 3000.0 + 100 * n for p, n in (("encrypt@0/16", 16), ("encrypt@0/512", 512)) if p[8:] in sizes}
        rows = [of(d, n) | told | {"workload": sizes, "cycles_encrypt_inputs_sd": 300.0, "encrypt_per_byte": x}
                for d, n, x in (("a", 3700, 100.0), ("b", 3860, 85.9))]  # fmt: skip
        found = compare(rows[:1], rows[1:], metrics=["encrypt_per_byte"], wanted=["encrypt_per_byte"], about=["digest"])
        assert "known_mean" in _hit(found, "encrypt_per_byte", 1), sizes


def test_known_answers_say_nothing_of_more_than_inputs_may_hide() -> None:
    """Nor of a point whose change inputs do not make."""
    for point, limit, hit in ((6141, "10", False), (6141, "0.1", True), (6100, "0", False), (6190, "0", True)):
        rows = [of(d, n) | {"encrypt@0/16": x, "cycles_encrypt_inputs_sd": 3.5} for d, n, x in
                (("a", 8445, 6141), ("b", 9952, point))]  # fmt: skip
        found = compare(rows[:1], rows[1:], metrics=["encrypt@0/16"], wanted=["encrypt@0/16"], about=["digest"])
        for name in ("encrypt@0/16", "any"):
            assert bool(_hit(found, name, float(limit))) == hit, (point, name)


def test_where_no_known_answers_tell_a_gate_fails() -> None:
    """One side has room for fewer of them."""
    old, new, few = (of(d, n) | {"encrypt@0/16": x, "cycles_encrypt_inputs_sd": 300.0, "vectors": v} for d, n, x, v in
                     (("a", 9500, 9000, 1089), ("b", 10500, 9900, 1089), ("b", 10500, 9900, 700)))  # fmt: skip
    told, untold = (compare([old], [r], metrics=["encrypt@0/16"], wanted=["encrypt@0/16"], about=["digest"])
                    for r in (new, few))  # fmt: skip
    for limits in [("encrypt@0/16", 1.0)], [("any", 1.0)]:
        assert (bool(_hit(told, *limits[0])), [*_untold(told, limits)]) == (True, [])
        assert (bool(_hit(untold, *limits[0])), len([*_untold(untold, limits)])) == (False, 1)
    assert not [*_untold(untold, [("encrypt@0/16", 60.0)])]
    surely = few | {"encrypt@0/16": 11400, "cycles_encrypt_mean": 9500}
    worse = compare([old], [surely], metrics=["encrypt@0/16"], wanted=["encrypt@0/16"], about=["digest"])
    assert [ch.verdict for ch in worse.pairs[0].changes] == ["worse"]
    assert [len([*_untold(worse, [("encrypt@0/16", limit)])]) for limit in (20.0, 30.0, 60.0)] == [0, 1, 0]


@pytest.mark.parametrize("quantity", ["ticks", "instructions"])
def test_other_counts_scatter_too(quantity: str) -> None:
    name = f"{quantity}_encrypt_mean"
    for known, expected in ((2629, False), (2700, True)):
        rows = [row() | {"digest": d, name: fresh, f"{quantity}_encrypt_known_mean": n} for d, fresh, n in
                (("a", 2586, 2629), ("b", 2593, known))]  # fmt: skip
        found = compare(rows[:1], rows[1:], metrics=[name], wanted=[name], about=["digest"])
        assert bool(_hit(found, name, 0)) == expected


def test_a_history_marks_no_other_inputs() -> None:
    rows = [of(d, 1473, fresh) | {"revision": d, "subject": "", "order": n} for n, (d, fresh) in
            enumerate((("a", 1480.0), ("b", 1490.0), ("c", 1900.0)))]  # fmt: skip
    (sheet,) = tables(rows, ["cycles_encrypt_mean"])
    assert [line.marks["cycles_encrypt_mean"] for line in sheet.lines] == ["", "", "worse"]
