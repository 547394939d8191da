"""A report: one HTML file with tables, figures, claims and provenance, that opens from disk and asks for nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from ..analyse import rank
from ..analyse.rows import Row
from ..model.record import Point
from ..model.target import load_target, target_names
from . import figure, pivot, ranking, results
from .formats import html
from .results import column, run_of, title_of
from .sheet import Cell, Column, Line, Sheet

#: series of a line chart and bars of a bar chart, so that they can be read
LINES, BARS = 8, 40
PointsOf = Callable[[Sequence[Row]], Mapping[int, Sequence[Point]]]
_PROVENANCE = (
    ("on", "host"), ("compilers", "compiler"), ("flags", "flags"), ("workloads", "workload"), ("harness", "harness"),
    ("timing models", "timing_model"),
)  # fmt: skip
_CYCLES = {"crypto_aead": "cycles_encrypt_mean"}
#: which rows of a target a figure shows
_CHOSEN = {
    "throughput": f"The fastest implementation of each variant; the {LINES} fastest variants",
    "rom": f"The smallest implementation of each variant; at most {BARS}",
    "tradeoff": "Of each variant the fastest implementation, the smallest, that with the least RAM, and all named ones",
}


def render(
    title: str,
    rows: Sequence[Row],
    columns: Sequence[str],
    points: PointsOf,
    details: Mapping[int, str],
    notes: Sequence[str] = (),
) -> str:
    """The page for these rows. ``points`` finds the points of some of them; ``details`` of failures by run; ``notes``
    say how the rows were chosen."""
    good = [r for r in rows if r["outcome"] == "verified"]
    bad = [r for r in rows if r["outcome"] != "verified"]
    by_target: dict[str, list[Row]] = {}
    for r in good:
        by_target.setdefault(str(r["target"]), []).append(r)
    names = sorted(by_target)
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True)
    sections = [_target(n, by_target[n], points, columns) for n in names]
    variants = {(r["primitive"], r["variant"]) for r in good if r["variant"] != "nocrypt"}
    algorithms = f"{len(variants)} algorithms" if len(variants) != 1 else "one algorithm"
    targets = f"{len(names)} targets" if len(names) != 1 else "one target"
    lead = f"{len(good)} verified runs of {algorithms} on {targets}"
    lead += f"; {len(bad)} runs without figures, each with its reason." if bad else "."
    return environment.get_template("report.html.j2").render(
        title=title,
        lead=lead,
        notes=notes,
        summary=[html.fragment(s) for s in _summary(good, bad)],
        style=html.STYLE,
        targets=sections,
        failures=html.fragment(_failures(bad, details)) if bad else "",
        claims=html.fragment(_claims(names)),
        provenance=_provenance(rows),
    )


def _target(name: str, rows: Sequence[Row], points: PointsOf, columns: Sequence[str]) -> dict[str, Any]:
    tables = [html.fragment(s) for s in results.tables(rows, columns)]
    figures = []
    for (_, primitive, _, compiler, *_), mine in results.grouped(rows).items():
        group = [r for r in mine if r["variant"] != "nocrypt"]
        cycles = _CYCLES.get(primitive, "cycles_hash_mean")
        metrics = (cycles, "rom", "ram")
        best = {n: [p.row for p in r.places] for n, r in rank.best_by_each(group, metrics).items()}
        if len(best[cycles]) < 2:
            continue
        # who wins in anything; with all that nothing beats, so that none is taken for one of them
        any_ = {id(r): r for some in (*best.values(), rank.pareto(group, metrics)) for r in some}
        for kind, some in (
            ("throughput", best[cycles][:LINES]),
            ("tradeoff", [*any_.values()]),
            ("rom", best["rom"][:BARS]),
        ):
            figures.append(_figure(kind, f"{primitive}, {compiler}", some, points))
    return {"name": name, "title": title_of(name), "tables": tables, "figures": [f for f in figures if f]}


def _figure(kind: str, what: str, rows: Sequence[Row], points: PointsOf) -> dict[str, str] | None:
    f = figure.load(kind)
    data = figure.drawn(f, figure.of_points(rows, points(rows)) if f.of_points else figure.of_records(rows))
    if not data:
        return None
    note = f"{f.note} {_CHOSEN[kind]}."
    spec = figure.specification(f, data, f"{f.title}: {what}", results.shared(rows, ("flags", "workload")))
    sheet = figure.table(f, data)
    return {"svg": figure.draw(spec, "svg").decode(), "note": note, "table": html.fragment(sheet)}


def _summary(good: Sequence[Row], bad: Sequence[Row]) -> list[Sheet]:
    """Who is first by each metric on each target, mean cycles of all implementations on all targets, and why runs
    have no figures."""
    sheets = []
    ranked = [r for r in good if r["variant"] != "nocrypt"]
    for primitive in dict.fromkeys(str(r["primitive"]) for r in ranked):
        mine = [r for r in ranked if r["primitive"] == primitive]
        sheets.append(_winners(primitive, mine))
        if len({r["target"] for r in mine}) > 1:
            sheets += pivot.tables(mine, "target")
    if bad:
        counts = Counter((str(r["outcome"]), str(r["target"])) for r in bad)
        targets = sorted({target for _, target in counts})
        reasons = sorted({reason for reason, _ in counts}, key=lambda w: -sum(counts[w, t] for t in targets))
        columns = [Column("reason", "reason"), Column("runs", "runs", "", 0), *(Column(t, t, "", 0) for t in targets)]
        lines = [
            Line([w, sum(counts[w, t] for t in targets), *(counts[w, t] or None for t in targets)]) for w in reasons
        ]
        sheets.append(Sheet("Runs without figures by reason", "failures-by-reason", columns, lines))
    return sheets


def _winners(primitive: str, rows: Sequence[Row]) -> Sheet:
    metrics = [column(n) for n in ranking.USUAL[primitive]]
    columns = [Column("target", "target")]
    for m in metrics:
        columns += [Column(f"{m.name}_first", f"least {m.title}"), m]
    several = len({r["flags"] for r in rows}) > 1
    lines = []
    groups = results.grouped(rows)
    for (target, _, _, compiler, *_), group in groups.items():
        cells: list[Cell] = [target if sum(k[0] == target for k in groups) == 1 else f"{target}, {compiler}"]
        runs: list[int] = []
        for m in metrics:
            places = rank.by(group, m.name).places
            first = [p.row for p in places if p.value == places[0].value]
            names = dict.fromkeys(f"{r['label']} {r['flags']}" if several else str(r["label"]) for r in first)
            cells += [", ".join(names) or None, places[0].value if places else None]
            runs += [run for r in first for run in run_of(r)]
        lines.append(Line(cells, tuple(dict.fromkeys(runs))))
    return Sheet(f"{primitive}: first by each metric", f"winners-{primitive}", columns, lines)


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
