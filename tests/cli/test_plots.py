"""Figures over stored results: what is drawn is what the table beside it says, each mark one run."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.model.record import Record
from tests.made_up import record, store

from .conftest import BOTH, Cli, cells


def test_bars_are_not_added_up(answers: Cli, tmp_path: Path) -> None:
    result = answers("plot rom -o rom.vl.json")
    spec = json.loads((tmp_path / "rom.vl.json").read_text())
    bars = [(d["name"], d["rom"]) for d in spec["data"]["values"]]
    assert sorted(bars) == [
        ("toy1/ref -O3", 1100),
        ("toy1/ref -Os", 1100),
        ("toy2/ref -O3", 2100),
        ("toy2/ref -Os", 2100),
    ]
    assert spec["title"]["subtitle"][0].startswith("workload default (")
    assert "4 rows of workload gmu left out" in result.err
    assert "--where 'workload ~ \"gmu*\"'" in result.err


def test_a_line_has_no_points_of_another_workload(cli: Cli, tmp_path: Path) -> None:
    """A run without the answer's workload lends what no size is in; its points are of other sizes."""
    others = [record(f"toy{n}/ref", load="gmu", target="due") for n in (3, 4)]
    store(tmp_path / "results.db", record("toy1/ref"), record("toy2/ref"), *others)
    cli("plot throughput -o lines.vl.json")
    subtitle = json.loads((tmp_path / "lines.vl.json").read_text())["title"]["subtitle"]
    assert "workload default (" in "".join(subtitle), "what is not drawn has no part in it"
    result = cli("plot throughput -o lines.csv")
    assert {row[0] for row in cells((tmp_path / "lines.csv").read_text())} == {"1", "2"}
    assert "left out: toy3/ref on due, toy4/ref on due\n" in result.err
    assert "2 rows of workload gmu, not default: without what depends on its sizes" in result.err
    # unless it is asked for by its number
    cli("plot throughput 1 2 3 4 -o named.csv")
    assert {row[0] for row in cells((tmp_path / "named.csv").read_text())} == {"1", "2", "3", "4"}
    figures = []
    for names in ("", "1 2 3 4"):
        cli(f"report {names} -o report.html")
        figures.append((tmp_path / "report.html").read_text().count("<svg"))
    assert figures[0] == figures[1] - 2, "on due there are no points, and no RAM that gives marks a size"


def test_points_are_drawn_where_most_runs_have_none(cli: Cli, tmp_path: Path) -> None:
    checked = [record(f"toy{n}/ref", load="kat") for n in range(1, 6)]
    store(tmp_path / "results.db", record("toy1/ref"), *checked)
    assert cli("plot throughput -o lines.csv").code == 0
    assert {row[0] for row in cells((tmp_path / "lines.csv").read_text())} == {"1"}
    none = cli("plot throughput --where workload~kat* -o none.csv")
    assert none.code == 1
    assert "5 verified runs, none of them with sizes; steelyard run --workload default makes some" in none.err


@pytest.mark.parametrize("figure", ["throughput", "top", "tradeoff", "rom"])
def test_every_mark_of_a_figure_is_one_run(answers: Cli, tmp_path: Path, figure: str) -> None:
    answers(f"plot {figure} -o f.vl.json")
    data = json.loads((tmp_path / "f.vl.json").read_text())["data"]["values"]
    runs: dict[tuple[str, str], set[int]] = {}
    for d in data:
        runs.setdefault((d.get("panel", ""), d["name"]), set()).add(d["run"])
    places = [k for k in runs if "among" in k[0]]  # a variant's, by several metrics
    assert all(len(of) == 1 for k, of in runs.items() if k not in places)
    assert figure != "throughput" or {d["workload"] for d in data} == {BOTH[0].setup.workload}
    assert answers(f"plot {figure} -o f.png").code == 0


def test_a_figures_table_is_what_it_draws(cli: Cli, tmp_path: Path) -> None:
    """Of the baseline there is no bar, nor of sizes with associated data a point."""
    base = record("nocrypt/ref", family="nocrypt", cycles=1, rom=0)
    store(tmp_path / "results.db", record("toy1/ref", per_byte=20), record("toy2/ref", rom=0), base)
    for figure, column in (("throughput", "kilobytes_per_second"), ("rom", "rom"), ("tradeoff", "rom")):
        assert cli(f"plot {figure} -o f.vl.json").code == 0
        spec = json.loads((tmp_path / "f.vl.json").read_text())
        assert "filter" not in json.dumps(spec.get("transform", ""))
        rows = list(csv.DictReader((tmp_path / "f.csv").read_text().splitlines()))
        assert [(int(r["run"]), float(r[column])) for r in rows] == [
            (d["run"], d[column]) for d in spec["data"]["values"]
        ]
        assert {r["name"] for r in rows} == {"toy1/ref", "toy2/ref"} - ({"toy2/ref"} if figure == "tradeoff" else set())
    rows = list(csv.DictReader(io.StringIO(cli("plot throughput toy1 --format csv").out)))
    found = {int(r["mlen"]): float(r["kilobytes_per_second"]) for r in rows}
    assert found == {m: m / (100 + 20 * m) * 16e6 / 1000 for m in (16, 32, 64, 128, 256, 512, 1024, 1536)}


@pytest.mark.parametrize("ending", ["md", "tex"])
def test_the_title_of_a_figure_is_its_tables_too(cli: Cli, tmp_path: Path, ending: str) -> None:
    store(tmp_path / "results.db", record())
    assert cli(["plot", "rom", "--title", "Bytes by name", "-o", f"rom.{ending}"]).code == 0
    assert "Bytes by name" in (tmp_path / f"rom.{ending}").read_text()


@pytest.mark.parametrize(("figure", "what"), [("throughput", "toy1"), ("rom", "nocrypt"), ("tradeoff", "nocrypt")])
def test_an_empty_figure_is_not_drawn(cli: Cli, tmp_path: Path, figure: str, what: str) -> None:
    base = record("nocrypt/ref", family="nocrypt")
    store(tmp_path / "results.db", record(load="felics-ae"), base)
    result = cli(f"plot {figure} {what}")
    assert result.code == 1
    assert "nothing to draw" in result.err
    assert not (tmp_path / f"{figure}.svg").exists()


def test_figures_of_two_compilers_do_not_share_a_panel(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record(), record("toy2/ref", compiler="gcc 2"))
    for figure in ("rom", "top", "tradeoff"):
        cli(f"plot {figure} -o f.vl.json")
        data = json.loads((tmp_path / "f.vl.json").read_text())["data"]["values"]
        where = {d["name"]: d.get("panel", d["target"]) for d in data if "among" not in d.get("panel", "")}
        assert "gcc 1" in where["toy1/ref"]
        assert "gcc 2" in where["toy2/ref"]
    cli("report -o report.html")
    assert "<td>uno, gcc 2</td>" in (tmp_path / "report.html").read_text()


def test_a_panel_names_the_versions_that_keep_it_apart(cli: Cli, tmp_path: Path) -> None:
    """A version follows a bracket in what real compilers say of themselves."""
    versions = ("avr-gcc (GCC) 5.4.0", "avr-gcc (GCC) 14.1.0")
    store(tmp_path / "results.db", *(record(f"toy{n}/ref", compiler=c) for n, c in enumerate(versions)))
    cli("plot tradeoff -o figure.vl.json")
    spec = json.loads((tmp_path / "figure.vl.json").read_text())
    panels = {d["target"] for d in spec["data"]["values"]}
    assert sorted(p.split(", ")[-1] for p in panels) == sorted(versions)


def test_what_a_figure_has_no_mark_for_is_named(cli: Cli, tmp_path: Path) -> None:
    store(tmp_path / "results.db", record("toy1/ref"), record("toy2/ref", rom=0), record("toy2/ref", target="due"))
    assert "left out: toy2/ref on uno\n" in cli("plot tradeoff -o marks.csv").err
    assert len(cells((tmp_path / "marks.csv").read_text())) == 2
    # flags are said where they tell what is left out from what is drawn; without RAM a mark has no size
    small = record("toy1/ref", flags="-Os")
    store(tmp_path / "results.db", replace(small, metrics={n: v for n, v in small.metrics.items() if n != "stack"}))
    assert "left out: toy1/ref -Os on uno, toy2/ref -O3 on uno\n" in cli("plot tradeoff -o marks.csv").err
    assert len(cells((tmp_path / "marks.csv").read_text())) == 2


def test_designs_have_the_reference_as_lines(cli: Cli, tmp_path: Path) -> None:
    """AES-GCM's area and throughput, and the steps of those that nothing beats."""

    def design(label: str, family: str, lut: float, mbits: float) -> Record:
        figures = {"lut": lut, "throughput_pt_1536": mbits, "latency_pt_1536": 8 * 1536 / mbits}
        return replace(record(label, family=family, primitive="lwc_rtl", target="ecp5"), metrics=figures)

    store(tmp_path / "results.db", design("a/x1", "a", 900, 50), design("b/x1", "b", 2000, 900))
    dotted = 'stroke-dasharray="1,3"'
    assert cli("plot area -o - --format svg").out.count(dotted) == 0
    store(tmp_path / "results.db", design("aes128gcm/x1", "aes-gcm", 3000, 200))
    drawn = cli("plot area -o - --format svg").out
    assert drawn.count(dotted) == 2
    assert [drawn.count(name) > 0 for name in (">a/x1<", ">b/x1<", ">aes128gcm/x1<")] == [True, True, False]


def test_a_table_of_the_users_is_not_replaced(cli: Cli, tmp_path: Path) -> None:
    """That of an earlier drawing is."""
    store(tmp_path / "results.db", record())
    mine = tmp_path / "rom.csv"
    for words in ("plot rom", "plot rom -o rom.pdf", "plot rom -o rom.vl.json"):
        mine.write_text("mine")
        refused = cli(words)
        assert (refused.code, mine.read_text()) == (2, "mine")
        assert "rom.csv: is there, and the figure's table would replace it; give another name to -o" in refused.err
    mine.unlink()
    for _ in range(2):
        assert cli("plot rom").code == 0
    assert mine.read_text() != "mine"
    mine.write_bytes(b"SQLite format 3\0")
    assert "is a database" in cli("plot rom").err
