"""A report: one HTML file with tables, figures, claims and provenance, that opens from disk and asks for nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from ..analyse import rank
from ..analyse.rows import Row
from ..model.record import Point
from ..model.target import load_target, target_names
from . import figure, results
from .formats import html
from .results import run_of, title_of
from .sheet import Column, Line, Sheet

#: series of a line chart and bars of a bar chart, so that they can be read
LINES, BARS = 8, 40
PointsOf = Callable[[Sequence[Row]], Mapping[int, Sequence[Point]]]
_PROVENANCE = (
    ("on", "host"), ("compilers", "compiler"), ("flags", "flags"), ("workloads", "workload"), ("harness", "harness"),
    ("timing models", "timing_model"),
)  # fmt: skip
_CYCLES = {"crypto_aead": "cycles_encrypt_mean"}


def render(
    title: str, rows: Sequence[Row], columns: Sequence[str], points: PointsOf, details: Mapping[int, str]
) -> str:
    """The page for these rows. ``points`` finds the points of some of them; ``details`` of failures by run."""
    good = [r for r in rows if r["outcome"] == "verified"]
    bad = [r for r in rows if r["outcome"] != "verified"]
    by_target: dict[str, list[Row]] = {}
    for r in good:
        by_target.setdefault(str(r["target"]), []).append(r)
    names = sorted(by_target)
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True)
    sections = [_target(n, by_target[n], points, columns) for n in names]
    variants = {(r["primitive"], r["variant"]) for r in good}
    targets = f"{len(names)} targets" if len(names) != 1 else "one target"
    lead = f"{len(good)} verified runs of {len(variants)} algorithms on {targets}"
    lead += f"; {len(bad)} runs without figures, each with its reason." if bad else "."
    return environment.get_template("report.html.j2").render(
        title=title,
        lead=lead,
        style=html.STYLE,
        targets=sections,
        failures=html.fragment(_failures(bad, details)) if bad else "",
        claims=html.fragment(_claims(names)),
        provenance=_provenance(rows),
    )


def _target(name: str, rows: Sequence[Row], points: PointsOf, columns: Sequence[str]) -> dict[str, Any]:
    tables = [html.fragment(s) for s in results.tables(rows, columns)]
    figures = []
    for primitive in dict.fromkeys(str(r["primitive"]) for r in rows):
        group = [r for r in rows if r["primitive"] == primitive and r["variant"] != "nocrypt"]
        cycles = _CYCLES.get(primitive, "cycles_hash_mean")
        best = rank.best_of_variant(group, cycles)
        if len(best) < 2:
            continue
        fast = [p.row for p in rank.by(best, cycles).places]
        small = [p.row for p in rank.by(best, "rom").places]
        chosen = (("throughput", fast[:LINES]), ("tradeoff", best), ("rom", small[:BARS]))
        for kind, some in chosen:
            figures.append(_figure(kind, primitive, some, points))
    return {"name": name, "title": title_of(name), "tables": tables, "figures": [f for f in figures if f]}


def _figure(kind: str, primitive: str, rows: Sequence[Row], points: PointsOf) -> dict[str, str] | None:
    f = figure.load(kind)
    data = figure.of_points(rows, points(rows)) if f.of_points else figure.of_records(rows)
    if not data:
        return None
    limit = {"throughput": f"the {LINES} fastest variants", "rom": f"the {BARS} smallest of the fastest"}
    note = f"{f.note} The fastest implementation of each variant; {limit.get(kind, 'all variants')}."
    spec = figure.specification(f, data, f"{f.title}: {primitive}")
    sheet = figure.table(f, data)
    return {"svg": figure.draw(spec, "svg").decode(), "note": note, "table": html.fragment(sheet)}


def _failures(rows: Sequence[Row], details: Mapping[int, str]) -> Sheet:
    columns = [Column(n, n) for n in ("run", "implementation", "target", "flags", "reason", "detail")]
    lines = []
    for r in rows:
        detail = details.get(r["run"], "")  # type: ignore[arg-type]
        cells = [str(r["run"]), r["label"], r["target"], r["flags"], r["outcome"], detail]
        lines.append(Line(cells, run_of(r)))
    return Sheet("Runs without figures and why", "failures-table", columns, lines)


def _claims(names: Sequence[str]) -> Sheet:
    columns = [Column("target", "target"), Column("tier", "cycle counts"), Column("silicon", "compared with silicon")]
    lines = []
    for name in names:
        known = name in target_names()
        t = load_target(name) if known else None
        lines.append(Line([name, t.tier if t else "not known here", t.silicon if t else "-"]))
    return Sheet("How far each target's cycles are validated", "claims-table", columns, lines)


def _provenance(rows: Sequence[Row]) -> list[tuple[str, str]]:
    def every(name: str) -> str:
        return ", ".join(sorted(map(str, {r[name] for r in rows if r[name]})))

    finished = sorted(map(str, {r["finished"] for r in rows if r["finished"]}))
    return [
        ("Steelyard", version("steelyard")),
        ("measured", f"{finished[0]} to {finished[-1]} UTC" if finished else "-"),
        *((title, every(name)) for title, name in _PROVENANCE),
    ]
