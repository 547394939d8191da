"""Comparison: pairs, verdicts, refusals."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.analyse import files
from steelyard.analyse.compare import compare, needed
from steelyard.analyse.inputs import reach_of
from steelyard.analyse.summary import summary
from steelyard.cli.compare import _hit
from steelyard.measure.energy import measured
from steelyard.model.errors import UserError
from steelyard.model.metric import metric, metric_names
from steelyard.model.power import Power, Value
from steelyard.model.record import Point
from steelyard.publish import comparison

from .made_rows import row


def test_two_implementations_are_paired_by_everything_else() -> None:
    old = [row(t, rom=100) for t in ("uno", "bluepill")]
    new = [row(t, implementation="fast", label="v/fast", rom=150, cycles_encrypt_mean=500.0) for t in ("uno", "due")]
    c = compare(old, new)
    assert [p.old["target"] for p in c.pairs] == ["uno"]
    assert {ch.metric: ch.verdict for ch in c.pairs[0].changes} == {"rom": "worse", "cycles_encrypt_mean": "better"}
    assert [r["target"] for r in c.missing] == ["bluepill"]
    assert [r["target"] for r in c.added] == ["due"]
    assert summary(c) == ["faster on the one target", "larger on the one target"]


def test_of_two_primitives_nothing_is_a_pair() -> None:
    """A block is no call of an AEAD: neither unasked nor where both sides name it, nor hardware beside software."""
    old = [row(primitive="crypto_block")]
    for primitive in ("crypto_aead", "lwc_rtl"):
        new = [row(primitive=primitive, variant="w", label="w/ref", rom=90)]
        for about in ((), ("primitive",)):
            c = compare(old, new, about=about)
            assert (c.pairs, len(c.missing), len(c.added)) == ((), 1, 1)
    both = compare([*old, row()], [row(primitive="crypto_hash"), row(flags="-Os")], about=["flags"])
    assert [(p.old["primitive"], p.new["primitive"]) for p in both.pairs] == [("crypto_aead", "crypto_aead")]


def test_means_over_other_known_answers_are_no_change() -> None:
    """A package that takes more RAM keeps only the shorter ones, and its mean falls."""
    old, new = row("attiny85", vectors=536), row("attiny85", vectors=110, rom=120, cycles_encrypt_mean=500.0, run=2)
    c = compare([old], [new], about=["run"])
    assert [ch.metric for ch in c.pairs[0].changes] == ["rom"]
    assert summary(c)[0] == "larger on the one target"
    assert summary(c)[1].startswith("1 setup: means over fewer known answers")
    assert "means over 536 and 110 known answers, so not compared: v/ref" in comparison.tables(c)[0].notes
    more = row("attiny85", vectors=536 + 900, run=2, cycles_encrypt_mean=500.0)  # of other sizes, in no mean
    whole = row("attiny85", vectors=1089)
    assert "cycles_encrypt_mean" in [ch.metric for ch in compare([whole], [more], about=["run"]).pairs[0].changes]
    mixed = compare([old], [new], about=["run"], mixed=True)
    assert "cycles_encrypt_mean" in [ch.metric for ch in mixed.pairs[0].changes]
    assert "means over 536 and 110 known answers: v/ref" in comparison.tables(mixed)[0].notes
    none = compare([old], [new | dict.fromkeys(n for n in new if n.endswith("_mean"))], about=["run"])
    assert [n for n in comparison.tables(none)[0].notes if n.startswith("means over 536 and no known answers")]
    almost = compare([old | {"skipped": 0}], [new | {"vectors": 535, "skipped": 1}], about=["run"])
    assert almost.pairs[0].fewer, "RAM lacked for one call, a long one"
    own = compare([old | {"skipped": 0}], [new | {"vectors": 537, "skipped": 0}], about=["run"])
    assert not own.pairs[0].fewer, "its package has an answer of its own"


def test_of_several_on_one_side_one_is_compared_and_that_is_said() -> None:
    old = [row(flags="-O3", run=1), row(flags="-O2", run=2, rom=90)]
    c = compare(old, [row(flags="-Os", rom=80, run=3)], about=["flags"])
    assert [p.old["flags"] for p in c.pairs] == ["-O2"]
    assert "several of flags for a setup (-O2, -O3): the newest run of them was compared" in summary(c)[-1]
    assert not compare(old[1:], [row(flags="-Os", run=3)], about=["flags"]).several


def test_hardware_is_compared_by_its_start_too() -> None:
    """Where a device has no frequency nothing else tells how long a short message takes; of software it is asked."""

    def of(start: int, **more: object) -> dict:
        figures: dict[str, Any] = {
            "encrypt@0/16": start,
            "bits_per_cycle_pt": 8.0,
            "rom": None,
            "cycles_encrypt_mean": None,
        }
        return row("asic", primitive="lwc_rtl", ge=5000, **figures) | more

    found = compare([of(100)], [of(150)])
    assert {ch.metric: ch.verdict for ch in found.pairs[0].changes if ch.verdict != "same"} == {"encrypt@0/16": "worse"}
    assert summary(found) == ["slower on the one target", "no change in area"]
    assert _hit(found, "any", 0)
    [deeper] = compare([of(100, depth=6)], [of(100, depth=60)]).pairs
    assert ("depth", "worse") in [(ch.metric, ch.verdict) for ch in deeper.changes]
    [routed] = compare([of(100, depth=6, fmax_mean=90)], [of(100, depth=7, fmax_mean=99)]).pairs
    assert "depth" not in [ch.metric for ch in routed.changes]
    old, new = (row() | {"encrypt@0/16": n} for n in (100, 150))
    assert "encrypt@0/16" not in [ch.metric for ch in compare([old], [new]).pairs[0].changes]
    asked = compare([old], [new], wanted=["encrypt@0/16"]).pairs[0].changes
    assert ("encrypt@0/16", "worse") in [(ch.metric, ch.verdict) for ch in asked]


def test_hardware_is_compared_beyond_the_chance_of_its_seeds() -> None:
    """Sizes exactly; frequency, and what is made of it, by the standard error of its mean."""

    def of(lut: int, mhz: float, seeds: int) -> dict:
        rate: dict[str, Any] = {"fmax_mean": mhz, "fmax_sd": 4.0, "fmax_seeds": seeds, "throughput_pt_long": 32 * mhz}
        return row(primitive="lwc_rtl", cycles_encrypt_mean=None, rom=None, lut=lut, **rate)

    few, many = (compare([of(700, 100, n)], [of(720, 98, n)]) for n in (4, 100))
    found = [{ch.metric: ch.verdict for ch in c.pairs[0].changes} for c in (few, many)]
    assert found[0] == {"lut": "worse", "fmax_mean": "noise", "throughput_pt_long": "noise"}
    assert found[1] == dict.fromkeys(found[0], "worse")
    assert summary(many) == ["slower on the one target", "larger on the one target"]


def test_of_several_workloads_one_is_compared_and_the_others_are_named() -> None:
    sizes = ("default", "felics-ae", "tls")
    old = [row(workload=f"{w} (x)", run=k) for k, w in enumerate(sizes)]
    new = [row(workload=f"{w} (x)", run=k, flags="-Os") for k, w in enumerate(sizes[:2], 3)]
    c = compare(old, new)
    assert [p.old["workload"] for p in c.pairs] == [p.new["workload"] for p in c.pairs]
    assert (len(c.pairs), len(c.workloads)) == (1, 1), "tls is on one side only"
    (other,) = {"default", "felics-ae"} - {c.pairs[0].old["workload"].split()[0]}
    text = f"1 setup of workload {other}, which both sides have too, left out"
    assert f"{text}; to compare: --where 'workload ~ \"{other}*\"'" in summary(c)
    assert not compare(old[:1], new[:1]).workloads


def test_figures_that_nobody_has_judged_are_called_so() -> None:
    unknown = {"outcome": "no-expected-values"}
    c = compare([row(rom=100, **unknown), row("due")], [row(rom=90, **unknown), row("due", rom=90)])
    said = {
        s.label: [n for n in s.notes if "nobody knows whether it is right: v/ref" in n] for s in comparison.tables(c)
    }
    assert {name: len(notes) for name, notes in said.items()} == {"compare-uno": 1, "compare-due": 0}


def test_the_hash_of_a_name_is_told_from_its_aead() -> None:
    old = [row(primitive=p, run=k) for k, p in enumerate(("crypto_aead", "crypto_hash"), 1)]
    new = [r | {"flags": "-Os", "rom": 80, "run": 9} for r in old]
    (both,) = comparison.tables(compare(old, new))
    primitive = [c.name for c in both.columns].index("primitive")
    assert {line.cells[primitive] for line in both.lines} == {"crypto_aead", "crypto_hash"}
    (alone,) = comparison.tables(compare(old[:1], new[:1]))
    assert "primitive" not in [c.name for c in alone.columns]


def test_a_board_is_compared_with_the_simulator_where_the_question_says_so() -> None:
    c = compare([row()], [row(device="board", timing_model="sigrok", cycles_encrypt_mean=1010.0)])
    assert [ch.ratio for p in c.pairs for ch in p.changes if ch.metric == "cycles_encrypt_mean"] == [1.01]
    assert c.refused == ()


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("energy_encrypt_modelled", ["more energy on the one target"]),
        ("instructions_encrypt_mean", ["more instructions on the one target"]),
        ("ticks_encrypt_mean", ["slower on the one target"]),
        ("felics_code_time", ["slower on the one target"]),
        ("felics_code_size", ["larger on the one target"]),
        ("felics_code_ram_decrypt", ["more RAM on the one target"]),
        ("felics_code_total", ["larger on the one target"]),
        ("felics_data_total", ["more RAM on the one target"]),
        ("unaligned", []),
    ],
)
def test_what_got_worse_is_called_what_it_is(metric: str, said: list[str]) -> None:
    c = compare([row(**{metric: 100})], [row(**{metric: 150})], metrics=[metric])  # type: ignore[arg-type]
    assert [ch.verdict for ch in c.pairs[0].changes] == ["worse"]
    assert summary(c) == said


def test_figures_of_two_compilers_are_not_compared_unless_told() -> None:
    old, new = [row()], [row(compiler="gcc 2", rom=90)]
    refused = compare(old, new)
    assert (refused.pairs, refused.refused[0][2]) == ((), ("compiler",))
    [pair] = compare(old, new, mixed=True).pairs
    assert pair.differs == ("compiler",)
    [asked] = compare(old, new, about=["compiler"]).pairs
    assert asked.differs == ()


def test_an_analyzer_tells_no_less_than_its_samples() -> None:
    """Two samples of 24 MHz are 1.3 cycles of an uno, and cycles are rounded."""
    board = {"device": "board", "timing_model": "sigrok fx2lafw 24 MHz"}
    for change, verdict in ((2.0, "noise"), (3.0, "worse"), (-2.0, "noise"), (-3.0, "better")):
        [pair] = compare([row()], [row(cycles_encrypt_mean=1000.0 + change, **board)]).pairs
        assert {c.metric: c.verdict for c in pair.changes}["cycles_encrypt_mean"] == verdict
    [pair] = compare([row()], [row(rom=101, **board)]).pairs
    assert {c.metric: c.verdict for c in pair.changes}["rom"] == "worse"


@pytest.mark.parametrize(
    ("workload", "primitive", "name", "seen"),
    [
        ("0/16,0/32,0/48", "crypto_aead", "encrypt_per_byte", 2 * 16 / (2 * 16 * 16)),  # both ends, 16 of 16**2 + 16**2
        ("0/16,0/32,0/48", "crypto_aead", "encrypt_fixed", 4 / 3 + 1 / 3 + 2 / 3),
        ("gmu (12 sizes, 0)", "crypto_aead", "decrypt_long_per_byte", 2 / (3072 - 1536)),
        ("kat (0 sizes, 0)", "crypto_block", "encrypt_per_byte", 1 / 8),
    ],
)
def test_cycles_per_byte_are_as_uncertain_as_the_points_of_their_line(
    workload: str, primitive: str, name: str, seen: float
) -> None:
    """Each point of a board may be off by 7/3 cycles of an uno, and at most the line by what all of them make of it."""
    kind: dict[str, Any] = {
        "primitive": primitive,
        "variant": "xtea" if primitive == "crypto_block" else "v",
        "workload": workload,
    }
    board = {**kind, "device": "board", "timing_model": "sigrok fx2lafw 24 MHz"}
    assert set(needed([name])) >= {name, "cycles_encrypt_mean"}
    for change, verdict in ((0.99, "noise"), (-0.99, "noise"), (1.01, "worse"), (-1.01, "better")):
        new = 100.0 + change * seen * 7 / 3
        [pair] = compare([row(**kind | {name: 100.0})], [row(**board | {name: new})], metrics=[name]).pairs
        assert [(c.metric, c.verdict) for c in pair.changes] == [(name, verdict)]


@pytest.mark.parametrize("name", metric_names())
def test_what_a_comparison_needs_are_metrics(name: str) -> None:
    """A server answers nothing to who asks for another."""
    assert all(metric(n) for n in needed([name]))


def test_a_line_goes_through_the_sizes_that_had_room() -> None:
    """Those of 1024 and 1536 bytes have none on an uno. What nobody asked for is taken for measured."""
    fitting = (0, 16, 32, 64, 128, 256, 512)
    points: dict[str, Any] = {f"encrypt@0/{n}": 1000 for n in fitting}
    assert points.keys() <= set(needed(["encrypt_per_byte"]))
    mean = sum(fitting) / 7
    slope = sum(abs(n - mean) for n in fitting) / sum((n - mean) ** 2 for n in fitting)
    found = reach_of("encrypt_per_byte", row(workload="default (22 sizes, 0)", **points))
    assert found == pytest.approx(slope)
    assert reach_of("encrypt_per_byte", row(workload="0/100,0/200,0/300")) == pytest.approx(200 / 20000)
    some: dict[str, Any] = {f"encrypt@0/{n}": 1000 for n in (0, 8, 16)}
    odd = row(workload="0/0,0/8,0/16,0/1000", **some)  # of a store, which was not asked for 1000 bytes
    assert reach_of("encrypt_per_byte", odd) == pytest.approx(
        (3 * 256 - 24 + 744) / (256**2 + 248**2 + 240**2 + 744**2)
    )
    rare = row(workload="0/0,0/100,0/1000") | {"encrypt@0/0": 1000}
    shown = rare | {"encrypt@0/100": 1000}  # another column of the same answer
    assert reach_of("encrypt_per_byte", shown) == reach_of("encrypt_per_byte", rare) < 0.01


def test_cycles_of_a_board_are_as_uncertain_as_its_clock() -> None:
    """1000 ppm of 100 000 cycles, besides the samples."""
    board: dict[str, Any] = {"device": "board", "timing_model": "sigrok fx2lafw 24 MHz", "clock_uncertainty": 1000}
    for change, verdict in ((100.0, "noise"), (-100.0, "noise"), (110.0, "worse"), (-110.0, "better")):
        [pair] = compare([row(cycles_encrypt_mean=1e5)], [row(cycles_encrypt_mean=1e5 + change, **board)]).pairs
        assert {c.metric: c.verdict for c in pair.changes}["cycles_encrypt_mean"] == verdict
        [back] = compare([row(cycles_encrypt_mean=1e5, **board)], [row(cycles_encrypt_mean=1e5 + change)]).pairs
        assert {c.metric: c.verdict for c in back.changes}["cycles_encrypt_mean"] == verdict
    [pair] = compare([row()], [row(rom=101, **board)]).pairs
    assert {c.metric: c.verdict for c in pair.changes}["rom"] == "worse"


@pytest.mark.parametrize(("new", "verdict"), [(11.4, "noise"), (11.6, "worse"), (8.7, "noise"), (8.5, "better")])
def test_measured_energy_differs_beyond_the_root_of_both_uncertainties_squares(new: float, verdict: str) -> None:
    """They do not add up: errors of both sides are independent, or one meter's, which is the same on both."""
    name = "energy_encrypt_measured"
    rows = [row() | {name: value, f"{name}_uncertainty": 0.1 * value} for value in (10.0, new)]
    [pair] = compare(rows[:1], rows[1:], metrics=[name]).pairs
    assert [c.verdict for c in pair.changes] == [verdict]


@pytest.mark.parametrize(("cycles", "verdict"), [(37.0, "noise"), (38.0, "worse"), (13.0, "noise"), (12.0, "better")])
def test_energy_per_byte_is_not_surer_than_its_line(cycles: float, verdict: str) -> None:
    """Sizes of 16 to 18 bytes, by analyzers of 3 and 4.5 cycles in a sample: 7 and 10 of each byte are open."""
    points = [Point("encrypt", 0, n, 1000) for n in (16, 17, 18)]
    points += [Point("encrypt", 4, 99, 1000), Point("decrypt", 0, 99, 1000)]  # on other lines, or none
    watts, idle, cycle = {"encrypt": Value(0.06, 0.0)}, Value(0.001, 0.0), Value(1e-8, 0.0)
    rows = [
        row() | measured({"encrypt_per_byte": slope}, Power(watts, {}, idle, cycle, (), sample), points)
        for slope, sample in ((25.0, 3.0), (cycles, 4.5))
    ]
    names = ["energy_encrypt_measured_per_byte", "energy_encrypt_measured_per_bit"]
    [pair] = compare(rows[:1], rows[1:], metrics=names).pairs
    assert [c.verdict for c in pair.changes] == [verdict] * 2


def test_repeated_measurements_differ_only_beyond_their_spread() -> None:
    old = [row(device="process", spread_percent=1.0)]
    near = [row(device="process", spread_percent=1.0, cycles_encrypt_mean=1015.0)]
    far = [row(device="process", spread_percent=1.0, cycles_encrypt_mean=1030.0)]
    assert next(c.verdict for c in compare(old, near).pairs[0].changes if "cycles" in c.metric) == "noise"
    ticks = [[row(spread_percent=1.0, ticks_encrypt_mean=n)] for n in (1000, 1015)]
    assert [c.verdict for c in compare(*ticks, metrics=["ticks_encrypt_mean"]).pairs[0].changes] == ["noise"]
    assert next(c.verdict for c in compare(old, far).pairs[0].changes if "cycles" in c.metric) == "worse"
    sides = [[row(spread_percent=1.0, ticks_encrypt_mean=n)] for n in (10000, 10201)]
    for two in (sides, sides[::-1]):
        assert [c.verdict for c in compare(*two, metrics=["ticks_encrypt_mean"]).pairs[0].changes] == ["noise"]


@given(st.integers(0, 1000), st.integers(0, 1000), st.sampled_from([0.0, 0.05]))
def test_swapping_sides_swaps_verdicts(a: int, b: int, threshold: float) -> None:
    [forth] = compare([row(rom=a)], [row(rom=b)], metrics=["rom"], threshold=threshold).pairs
    [back] = compare([row(rom=b)], [row(rom=a)], metrics=["rom"], threshold=threshold).pairs
    if threshold == 0:
        swapped = {"better": "worse", "worse": "better", "same": "same"}
        assert back.changes[0].verdict == swapped[forth.changes[0].verdict]
    if a == b:
        assert forth.changes[0].verdict == "same"


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda x: (
            st.lists(x, max_size=3)
            | st.dictionaries(st.sampled_from(["runs", "schema", "setup", "metrics", "x"]), x, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_foreign_json_is_refused_in_words(document: object) -> None:
    with suppress(UserError):
        files.records(Path("x.json"), document)


@pytest.mark.parametrize(
    "text", ["NaN", "-Infinity", "1e999", "-1e400", "1e101", "1" + "0" * 400, '"\\ud800"', '{"\\udfff": 1}']
)
def test_what_is_no_number_and_no_text_is_refused(tmp_path: Path, text: str) -> None:
    """Python reads more than JSON has; no table could hold it."""
    path = tmp_path / "r.json"
    path.write_text(f'{{"schema": 1, "runs": [{text}]}}')
    with pytest.raises(UserError, match=r"r\.json: not JSON: "):
        files.load(path)


def test_a_truncated_file_and_a_newer_schema_are_named(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text('{"schema": 1, "runs": [')
    with pytest.raises(UserError, match="line 1, column 24: ends too early"):
        files.load(path)
    with pytest.raises(UserError, match="schema 99"):
        files.records(path, json.loads('{"schema": 99, "runs": []}'))
    with pytest.raises(UserError, match=r"runs\.0\.setup"):
        files.records(path, {"schema": 1, "runs": [{"setup": 3, "failure": None, "metrics": {}}]})


@pytest.mark.parametrize(
    ("metric", "old", "new", "verdict", "ratio"),
    [
        ("fmax_mean", 100.0, 50.0, "worse", 0.5),
        ("throughput_pt_long", 400.0, 500.0, "better", 1.25),
        ("fmax_sd", 1.0, 9.0, "other", 9.0),
        ("cells_other", 10, 90, "other", 9.0),
        ("rom", -20, 232, "worse", None),
        ("rom", -20, -30, "better", None),
        ("rom", 0, 232, "worse", None),
        ("rom", -20, -20, None, None),
    ],
)
def test_more_of_some_is_better_and_of_others_nothing_and_there_is_no_part_of_what_is_not_above_0(
    metric: str, old: float, new: float, verdict: str | None, ratio: float | None
) -> None:
    one, other = row() | {metric: old}, row(run=2) | {metric: new}
    c = compare([one], [other], metrics=[metric], about=["run"])
    found = [(ch.verdict, ch.ratio) for ch in c.pairs[0].changes]
    assert found == [("same", 1.0) if verdict is None else (verdict, ratio)]
    if verdict is not None:
        [line] = comparison.tables(c)[0].lines
        assert line.marks.get("change", "") == ("" if verdict == "other" else verdict)
    limits = [(metric, 1.0), ("any", 10.0)]
    assert [bool(_hit(c, *limit)) for limit in limits] == [verdict == "worse"] * 2


def test_blocks_have_one_length_however_many_are_known() -> None:
    block: dict[str, Any] = {"primitive": "crypto_block", "skipped": 0}
    c = compare([row(vectors=83, **block)], [row(vectors=64, run=2, **block)], about=["run"])
    assert "cycles_encrypt_mean" in [ch.metric for ch in c.pairs[0].changes]


def test_two_scenarios_of_felics_are_not_compared() -> None:
    of: dict[str, Any] = {"primitive": "crypto_block", "felics_cycles_total": 17_022, "felics_code_total": 100}
    one, other = (row(run=k, workload=f"felics-block-{k}", **of) for k in (0, 1))
    c = compare([one], [other], about=["run"])
    assert {"felics_cycles_total", "felics_code_total"}.isdisjoint(ch.metric for ch in c.pairs[0].changes)
    assert "rom" in [ch.metric for ch in c.pairs[0].changes]
