"""Orders of merit against their definitions."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.analyse import order, rank
from steelyard.publish import by_size, joint, ranking


def row(label: str, target: str = "uno", **metrics: float | str) -> dict:
    return {
        "run": 1,
        "label": label,
        "variant": label.split("/")[0],
        "target": target,
        "primitive": "crypto_aead",
        "flags": "-O3",
    } | metrics


tables = st.lists(st.fixed_dictionaries({"rom": st.integers(1, 9), "ram": st.integers(1, 9)}), min_size=1, max_size=12)


@given(tables)
def test_ranks_are_mean_places(table: list[dict]) -> None:
    rows = [row(f"v{i}/ref", **m) for i, m in enumerate(table)]
    for place in rank.by(rows, "rom").places:
        below = sum(r["rom"] < place.value for r in rows)
        equal = sum(r["rom"] == place.value for r in rows)
        assert place.rank == below + (equal + 1) / 2


@given(tables)
def test_nothing_on_the_front_is_beaten_and_everything_else_is(table: list[dict]) -> None:
    rows = [row(f"v{i}/ref", **m) for i, m in enumerate(table)]
    front = rank.pareto(rows, ("rom", "ram"))

    def beats(a: dict, b: dict) -> bool:
        return a["rom"] <= b["rom"] and a["ram"] <= b["ram"] and (a["rom"], a["ram"]) != (b["rom"], b["ram"])

    for r in rows:
        assert (r in front) is not any(beats(o, r) for o in rows)


def test_figure_of_merit_is_the_sum_over_the_least() -> None:
    rows = [row("a/x", rom=100, ram=10, t=50.0), row("b/x", rom=200, ram=10, t=25.0), row("c/x", rom=100, ram=10)]
    found = rank.merit(rows, ("rom", "ram", "t"))
    assert [(p.row["label"], p.value) for p in found.places] == [("a/x", 4.0), ("b/x", 4.0)]
    assert [p.rank for p in found.places] == [1.5, 1.5]
    assert [r["label"] for r in found.left_out] == ["c/x"]


@given(tables, st.randoms(use_true_random=False))
def test_of_equal_ones_the_same_is_shown_whatever_was_run_first(table: list[dict], rng: random.Random) -> None:
    """Of equal implementations of a variant, and of flags of one, that with the least ROM and RAM stands for the
    variant, then the first by name."""
    rows = [row(f"v{i % 2}/{'xy'[i // 2 % 2]}", flags=f"-O{i // 4}", **m) for i, m in enumerate(table)]
    mixed = rng.sample(rows, len(rows))
    for name in ("rom", "ram"):
        best = {r["variant"]: r for r in rank.best_of_variant(rows, name)}
        assert best == {r["variant"]: r for r in rank.best_of_variant(mixed, name)}
        for r in best.values():
            equal = [o for o in rows if o["variant"] == r["variant"] and o[name] == r[name]]
            assert r == min(equal, key=lambda o: (o["rom"], o["ram"], o["label"], o["flags"]))
        assert [p.row for p in rank.by(rows, name).places] == [p.row for p in rank.by(mixed, name).places]
    for kind in (rank.merit, rank.scores):
        firsts = [rank.first_of_variant(kind(some, ("rom", "ram"))).places for some in (rows, mixed)]
        assert firsts[0] == firsts[1]


def test_of_equally_fast_ones_the_smaller_stands_for_the_variant() -> None:
    """A context is RAM too, and what has no figure comes last."""
    rows = [
        row("hight/fast", cycles=9, rom=5, ram=1, context=264),
        row("hight/lean", cycles=9, rom=5),
        row("hight/ref", cycles=9, rom=5, ram=2, context=136),
        row("hight/small", cycles=10, rom=1, ram=1),
    ]
    assert [r["label"] for r in rank.best_of_variant(rows, "cycles")] == ["hight/ref"]


def test_a_copy_takes_no_place_of_what_it_copies() -> None:
    """With the same figures what is bundled comes first, whatever its name."""
    rows = [
        row("x/a", run=9, origin="second.zip", rom=5),
        row("x/b", run=8, origin="first.zip", rom=5),
        row("x/small", run=10, origin="bundled", rom=5),
        row("x/tiny", run=11, rom=5),
        row("x/least", run=12, origin="third.zip", rom=4),
    ]
    kept = [r for r in rows if r["rom"] == 5]
    for some in (rows, rows[::-1]):
        assert [p.row["label"] for p in rank.by(some, "rom").places] == ["x/least", "x/small", "x/tiny", "x/a", "x/b"]
        assert [r["label"] for r in rank.best_of_variant(some, "rom")] == ["x/least"]
    for some in (kept, kept[::-1]):
        assert [r["label"] for r in rank.best_of_variant(some, "rom")] == ["x/small"]
        assert [p.row["label"] for p in rank.first_of_variant(rank.merit(some, ("rom",))).places] == ["x/small"]


@pytest.mark.parametrize(
    ("name", "other"),
    [("label", "x/b"), ("flags", "-Os"), ("digest", "2"), ("origin", "second.zip")],
)
def test_what_is_run_again_keeps_its_place_among_equal_ones(name: str, other: str) -> None:
    """A run that is made again is newer, and stands before others where rows are read."""
    one = row("x/a", origin="first.zip", flags="-O3", digest="1", rom=5)
    for runs in ((1, 2), (3, 2)):
        rows = [one | {"run": runs[0]}, one | {name: other, "run": runs[1]}]
        for some in (rows, rows[::-1]):
            assert [p.row[name] for p in rank.by(some, "rom").places] == [one[name], other]
            assert [r[name] for r in rank.best_of_variant(some, "rom")] == [one[name]]


def test_one_name_of_two_places_is_ranked_as_two_ciphers() -> None:
    """Implementations of one place are one cipher, and so is one implementation that two paths name."""
    rows = [
        row(f"xx/{name}", target, origin=f"{place}/{name}", digest=digest, implementation=name, rom=rom, ram=ram)
        for place, name, digest, rom, ram in (
            ("a", "ref", "1", 9, 1),
            ("a", "fast", "2", 8, 2),
            ("b", "ref", "3", 1, 9),
        )
        for target in ("uno", "bluepill")
    ]
    rows[1]["origin"] = "./a/ref"  # the same sources, named otherwise on the other target
    told = rank.apart(rows)
    assert {r["variant"] for r in told} == {"xx (a)", "xx (b)"}
    on_uno = [r for r in told if r["target"] == "uno"]
    assert [p.row["label"] for p in rank.best_by_each(on_uno, ["rom"])["rom"].places] == ["xx/ref", "xx/fast"]
    found = rank.merit_over_targets(told, ("rom", "ram"))
    assert [(variant, {r["digest"] for r in on.values()}) for variant, _, on in found] == [
        ("xx (a)", {"2"}), ("xx (b)", {"3"})
    ]  # fmt: skip
    assert rank.apart([r | {"variant": "ascon128v12"} for r in rows])[0]["variant"] == "ascon128v12"  # known


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("12345")), max_size=8), st.randoms())
def test_places_that_share_sources_are_one_cipher_whatever_the_order(pairs: list, rng: random.Random) -> None:
    rows = [row("xx/ref", origin=place, digest=digest, implementation="ref") for place, digest in pairs]
    told = rank.apart(rows)
    mixed = rng.sample(rows, len(rows))
    assert sorted(map(str, rank.apart(mixed))) == sorted(map(str, told))
    for r in told:
        same = {o["variant"] for o in told if o["digest"] == r["digest"] or o["origin"] == r["origin"]}
        assert same == {r["variant"]}


def test_places_are_joined_over_others_and_not_otherwise() -> None:
    pairs = (("c", "1"), ("b", "2"), ("a", "1"), ("b", "1"), ("d", "3"))
    told = rank.apart([row("xx/ref", origin=p, digest=d, implementation="ref") for p, d in pairs])
    assert [r["variant"] for r in told] == ["xx (a)"] * 4 + ["xx (d)"]


@pytest.mark.parametrize("kind", ["top", "places", "merit", "score"])
def test_no_table_of_variants_mixes_places(kind: str) -> None:
    rows = [
        row("xx/ref", origin=place, digest=place, run=n, device="simulator", implementation="ref", rom=rom, ram=ram)
        for n, (place, rom, ram) in enumerate((("a", 1, 9), ("b", 9, 1)), 1)
    ]
    sheets = ranking.ranked(kind, rows, ["rom", "ram"], variants=True)
    assert sheets
    assert all(sorted(line.runs for line in sheet.lines) == [(1,), (2,)] for sheet in sheets)


def test_a_reference_is_of_the_target_whatever_its_group() -> None:
    rows = [row("a/ref", rom=50), row("b/ref", rom=100)]
    [sheet] = ranking.ranked("top", rows[:1], ["rom"], reference="b", among=rows)
    assert sheet.lines[0].cells[-1] == 50.0


def test_whole_numbers_stay_whole() -> None:
    [place] = rank.by([row("a/x", rom=7)], "rom").places
    assert isinstance(place.value, int)


def test_merit_over_targets_takes_each_targets_best_implementation() -> None:
    rows = [
        row("a/x", "uno", rom=100), row("a/y", "uno", rom=50), row("b/x", "uno", rom=200),
        row("a/x", "due", rom=10), row("a/y", "due", rom=40), row("b/x", "due", rom=20), row("c/x", "due", rom=1),
    ]  # fmt: skip
    found = rank.merit_over_targets(rows, ("rom",))
    assert [(v, figure) for v, figure, _ in found] == [("a", (1 + 10) / 2), ("b", (4 + 20) / 2)]
    assert {t: r["label"] for t, r in found[0][2].items()} == {"uno": "a/y", "due": "a/x"}


def test_score_adds_ranks_and_leaves_out_what_lacks_one() -> None:
    rows = [row("a/x", rom=1, ram=3), row("b/x", rom=2, ram=1), row("c/x", rom=3, ram=2), row("d/x", rom=1)]
    found = rank.scores(rows, ("rom", "ram"))
    assert [(p.row["label"], p.value) for p in found.places] == [("b/x", 3.0), ("a/x", 4.0), ("c/x", 5.0)]
    assert [r["label"] for r in found.left_out] == ["d/x"]


def test_equal_ones_are_among_the_first_together() -> None:
    rows = [row("a/x", rom=1, ram=5), row("b/x", rom=1, ram=5), row("c/x", rom=2, ram=9)]
    *each, both = ranking.tops(rows, ("rom", "ram"), 1, "")
    for sheet in (*each, both):
        assert [line.cells[0 if sheet is both else 1] for line in sheet.lines] == ["a/x", "b/x"]
    [*_, two] = ranking.tops(rows, ("rom", "ram"), 3, "")
    assert len(two.lines) == 3


def test_what_lacks_a_metric_moves_no_figure_of_the_others() -> None:
    """Figures can be computed again from the table that shows them: the least and the ranks are those of its rows."""
    rows = [row("a/x", rom=4, ram=3), row("b/x", rom=8, ram=1), row("d/x", rom=1), row("e/x", ram=1)]
    for kind, (first, second) in ((rank.merit, (3.0, 4.0)), (rank.scores, (3.0, 3.0))):
        found = kind(rows, ("rom", "ram"))
        assert sorted(p.value for p in found.places) == [first, second]
        assert [r["label"] for r in found.left_out] == ["d/x", "e/x"]
    [sheet] = ranking.merits(rows, ("rom", "ram"))
    assert sheet.notes[0] == "without one of ROM, RAM, so not ranked: d/x, e/x"
    [sheet] = ranking.fronts(rows, ("rom", "ram"))
    assert sheet.notes[0].startswith("2 of 2: ")
    assert sheet.notes[1] == "without one of ROM, RAM, so not compared: d/x, e/x"


def test_no_figure_is_a_multiple_of_nothing() -> None:
    """Rows that have every metric are not said to lack one."""
    rows = [row("a/x", rom=4, ram=0), row("b/x", rom=8, ram=1), row("d/x", rom=1)]
    [sheet] = ranking.merits(rows, ("rom", "ram"))
    assert list(sheet.lines) == []
    assert list(sheet.notes[:2]) == [
        "no figure: the least RAM is not above 0, and nothing is a multiple of it",
        "without one of ROM, RAM, so not ranked: d/x",
    ]


@pytest.mark.parametrize(
    ("by", "labels"), [("rom", "bacd"), ("-rom", "cabd"), ("ram,-rom", "cabd"), ("-label", "dcba")]
)
def test_sorting_by_several_columns_with_missing_ones_last(by: str, labels: str) -> None:
    rows = [row("a", rom=2, ram=1), row("b", rom=1, ram=1), row("c", rom=3, ram=1), row("d")]
    assert "".join(str(r["label"]) for r in order.ordered(rows, order.keys(by))) == labels


def test_by_size_the_best_of_each_family_moves() -> None:
    """The order is that of long data; arrows say how far a family is from there at other sizes."""

    def design(label: str, family: str, *throughput: float) -> dict:
        sizes = zip(("long", "1536", "64", "16"), throughput, strict=True)
        mbits = {f"throughput_pt_{size}": v for size, v in sizes}
        return row(label, "ecp5", lut=1000, **mbits) | {"family": family, "primitive": "lwc_rtl"}

    rows = [
        design("a/x1", "a", 500.0, 400.0, 50.0, 30.0), design("a/x2", "a", 900.0, 800.0, 60.0, 10.0),
        design("b/x1", "b", 700.0, 600.0, 300.0, 20.0), design("c/x1", "c", 600.0, 500.0, 200.0, 100.0),
        row("d/x1", "ecp5", lut=10) | {"family": "d", "primitive": "lwc_rtl"},
    ]  # fmt: skip
    (sheet,) = by_size.tables(rows)
    names = [c.name for c in sheet.columns]
    lines = [dict(zip(names, line.cells, strict=True)) for line in sheet.lines]
    assert [line["label"] for line in lines] == ["a/x2", "b/x1", "c/x1"]
    assert [line["place_16"] for line in lines] == [3, 2, 1]
    assert [line["moved_16"] for line in lines] == ["↓2", "", "↑2"]
    assert [line["moved_1536"] for line in lines] == ["", "", ""]
    assert [line["moved_64"] for line in lines] == ["↓2", "↑1", "↑1"]


def test_software_and_hardware_of_a_family() -> None:
    """In one order, by the time of the longer message; without a frequency there are cycles, and the last place."""

    def one(label: str, target: str, primitive: str, short: float, long: float, **more: float) -> dict:
        points = {"encrypt@0/64": short, "encrypt@0/1536": long}
        return row(label, target, **more) | points | {"family": "f", "primitive": primitive, "timing_model": primitive}

    rows = [
        one("f/fast", "bluepill", "crypto_aead", 7200.0, 72000.0, rom=900),
        one("f/slow", "bluepill", "crypto_aead", 8000.0, 720000.0, rom=500),
        one("f/x1", "ecp5", "lwc_rtl", 100.0, 1000.0, lut=700, fmax_mean=50.0),
        one("f/x2", "artix7", "lwc_rtl", 50.0, 500.0, lut=900),
        one("g/x1", "ecp5", "lwc_rtl", 1.0, 1.0, lut=1) | {"family": "hardware alone"},
    ]
    (sheet,) = joint.tables(rows)
    names = [c.name for c in sheet.columns]
    lines = [dict(zip(names, line.cells, strict=True)) for line in sheet.lines]
    assert [line["label"] for line in lines] == ["f/x1", "f/fast", "f/x2"]
    assert [line["time_1536"] for line in lines] == [20.0, 1000.0, None]
    assert lines[0]["throughput"] == 8 * 1536 / 20
    assert [(line["rom"], line["lut"]) for line in lines] == [(None, 700), (900, None), (None, 900)]
    assert not any("left out" in n for n in sheet.notes)
    # what has no room for a size is named with it: a target where nothing has, and what could be the fastest elsewhere
    more = [
        one("f/fast", "uno", "crypto_aead", 1.0, 1.0) | {"encrypt@0/1536": None},
        one("f/slow", "uno", "crypto_aead", 1.0, 1.0) | {"encrypt@0/1536": None},
        one("f/huge", "bluepill", "crypto_aead", 1.0, 1.0) | {"encrypt@0/1536": None},
        row("f/block", "due") | {"family": "f", "primitive": "crypto_block", "timing_model": "m"},
        row("f/hash", "due") | {"family": "f", "primitive": "crypto_hash", "timing_model": "m", "hash@0/64": 1.0},
    ]
    (told,) = joint.tables([*rows, *more])
    assert [line.cells for line in told.lines] == [line.cells for line in sheet.lines]
    assert told.notes == (*sheet.notes, "without encrypt@0/1536, so left out: all on uno, f/huge on bluepill")


def test_all_of_a_target_lack_a_size_only_where_none_has_it() -> None:
    """Where each has another one, they are named."""

    def one(label: str, target: str, primitive: str, short: float | None, long: float | None) -> dict:
        sizes = {"encrypt@0/64": short, "encrypt@0/1536": long}
        return row(label, target) | sizes | {"family": "f", "primitive": primitive, "timing_model": primitive}

    rows = [
        one("f/x1", "ecp5", "lwc_rtl", 100.0, 1000.0),
        one("f/hash", "ecp5", "lwc_rtl", None, None),
        one("f/fast", "bluepill", "crypto_aead", 10.0, 100.0),
        one("f/short", "due", "crypto_aead", 1.0, None),
        one("f/long", "due", "crypto_aead", None, 1.0),
        one("f/small", "uno", "crypto_aead", 1.0, None),
        one("f/huge", "uno", "crypto_aead", None, None),
        one("f/huge", "leonardo", "crypto_aead", None, None),
    ]
    (sheet,) = joint.tables(rows)
    assert sheet.notes[1:] == (
        "without encrypt@0/1536, so left out: all on uno, f/short on due",
        "without encrypt@0/64, so left out: f/long on due",
        "without encrypt@0/64, encrypt@0/1536, so left out: all on leonardo, f/huge on uno",
    )
