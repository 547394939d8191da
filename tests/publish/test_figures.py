"""What a figure draws, and what it says of the rest."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import pytest

from steelyard.analyse.answer import run_number
from steelyard.model.record import Point
from steelyard.model.row import Row
from steelyard.publish import figure, report
from steelyard.publish.figures import figure_names


def units(spec: Mapping[str, Any], above: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each part that draws the figure's data, with its channels: its own, and those of what it is in."""
    channels = {**above, **spec.get("encoding", {})}
    if "spec" in spec:
        yield from units(spec["spec"], channels)
    for layer in spec.get("layer", []):
        yield from units(layer, channels)
    if "mark" in spec and "data" not in spec:
        yield spec, channels


@pytest.mark.parametrize("name", [n for n in figure_names() if figure.load(n).rows != "places"])
def test_what_lacks_a_number_that_a_figure_encodes_is_not_taken_for_drawn(name: str) -> None:
    """A mark without one is none, and nobody would say so. Places are made with all that they have."""
    kind = figure.load(name)
    calculated = {t["as"] for t in kind.spec.get("transform", []) if "calculate" in t}
    for part, channels in units(kind.spec, {}):
        encoded = {c["field"] for c in channels.values() if c and c.get("type") == "quantitative"}
        filtered = set(re.findall(r"datum\.(\w+)", str(part.get("transform", ""))))
        assert encoded - filtered - calculated <= set(kind.drawn), f"{name}: {part['mark']}"


def row(run: int, label: str, **figures: float | str | None) -> Row:
    return {
        "run": run, "label": label, "variant": label.split("/")[0], "family": "f", "primitive": "crypto_aead",
        "target": "uno", "device": "simulator", "flags": "-O3", "workload": "default (22 sizes)", "compiler": "gcc 1",
        "harness": "h", "timing_model": "m", "outcome": "verified", "rom": 1000 + run, "ram": 100,
        "cycles_encrypt_mean": 1000.0,
    } | figures  # fmt: skip


def drawn(rows: list[Row], without: Collection[int] = ()) -> dict[str, report.Drawing]:
    """The figures of a report's target; ``without`` are runs that have no points."""
    points = [Point("encrypt", 0, m, 100 + m) for m in (0, 16, 32)]
    found = report.section("uno", rows, lambda some: {n: points for n in map(run_number, some) if n not in without}, ())
    return {f.numbers.label.split("-")[1]: f for f in found.figures}


def names(drawing: report.Drawing) -> list[str]:
    return list(dict.fromkeys(d["name"] for d in drawing.spec["data"]["values"]))


def test_of_a_variant_whose_fastest_has_no_points_the_next_is_drawn() -> None:
    rows = [
        row(1, "a/fast", cycles_encrypt_mean=10.0, workload="0/16"),
        row(2, "a/faster", cycles_encrypt_mean=9.0, workload="0/16"),
        row(3, "a/small", cycles_encrypt_mean=30.0),
        row(4, "b/ref", cycles_encrypt_mean=20.0),
        row(5, "c/ref", cycles_encrypt_mean=40.0, workload="0/16"),
    ]
    lines = drawn(rows, {1, 2, 5})["throughput"]
    assert names(lines) == ["b/ref", "a/small"]
    assert "left out: a/fast on uno, a/faster on uno, c/ref on uno." in lines.note
    assert lines.spec["title"]["subtitle"] == ["flags -O3, workload default (22 sizes)"], "that of what is drawn"


def test_what_has_no_line_takes_no_place() -> None:
    """And is not named where it would not have had one."""
    rows = [row(n, f"v{n:02}/ref", cycles_encrypt_mean=float(n)) for n in range(1, 13)]
    lines = drawn(rows, {2, 4, 12})["throughput"]
    assert names(lines) == [f"v{n:02}/ref" for n in (1, 3, 5, 6, 7, 8, 9, 10)]
    assert lines.note.endswith("left out: v02/ref on uno, v04/ref on uno.")
    whole = drawn(rows)["throughput"]
    assert "left out" not in whole.note


def test_what_has_a_line_is_found_with_few_questions() -> None:
    """However many faster ones have no points, no row is asked about twice before figures are made of them."""
    rows = [row(n, "a/ref", flags=f"-O{n}", cycles_encrypt_mean=float(n)) for n in range(1, 1001)]
    rows += [row(1000 + n, "b/ref", flags=f"-O{n}", cycles_encrypt_mean=float(n)) for n in range(1, 1001)]
    questions: list[list[int]] = []

    def points(some: Sequence[Row]) -> dict[int, list[Point]]:
        questions.append([run_number(r) for r in some])
        return {n: [Point("encrypt", 0, 16, 100)] for n in questions[-1] if n == 300}

    figures = report.section("uno", rows, points, ()).figures
    (lines,) = (f for f in figures if "throughput" in f.numbers.label)
    assert names(lines) == ["a/ref -O300"]
    *choosing, _ = questions
    asked = [n for some in choosing for n in some]
    assert len(choosing) <= 10
    assert len(asked) == len({*asked}), "each once"
    assert sum(n <= 1000 for n in asked) < 2 * 300, "no more than as many again behind the one that has points"


def test_a_mark_without_size_is_none_and_is_said() -> None:
    """The size of a mark is RAM: without it nothing is drawn, and the variant's next stands there."""
    rows = [
        row(1, "a/fast", cycles_encrypt_mean=10.0, ram=None),
        row(2, "a/small", cycles_encrypt_mean=30.0),
        row(3, "a/middle", cycles_encrypt_mean=25.0, ram=200, rom=5000),
        row(4, "b/ref", cycles_encrypt_mean=20.0),
    ]
    marks = drawn(rows)["tradeoff"]
    assert set(names(marks)) == {"a/small", "a/middle", "b/ref"}
    assert [line.cells[1] for line in marks.numbers.lines] == names(marks)
    assert marks.note.endswith("left out: a/fast on uno.")
