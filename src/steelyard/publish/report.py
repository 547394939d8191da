"""A report: tables, figures, claims and provenance. As HTML it is one file that opens from disk and asks for nothing;
other formats have its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from ..analyse import rank
from ..analyse.errors import of_models
from ..model.errors import counted
from ..model.primitive import cycles_of
from ..model.record import Point
from ..model.row import Row, Value, grouped
from ..model.target import load_target, target_names
from . import figure, joint, pivot, ranking, results
from .formats import html
from .results import ON, column, evidence, run_of, title_of
from .sheet import Cell, Column, Line, Sheet, plain, shown, unlike

#: series of a line chart and bars of a bar chart, so that they can be read
LINES, BARS = 8, 40
PointsOf = Callable[[Sequence[Row]], Mapping[int, Sequence[Point]]]
_PROVENANCE = (
    ("on", "host"), ("compilers", "compiler"), ("flags", "flags"), ("workloads", "workload"), ("harness", "harness"),
    ("timing models", "timing_model"),
)  # fmt: skip
#: which rows of a target a figure shows
_CHOSEN = {
    "throughput": f"Of each variant the fastest implementation that has a line; the {LINES} fastest variants",
    "rom": f"The smallest implementation of each variant; at most {BARS}",
    "tradeoff": "Of each variant the fastest implementation, the smallest, that with the least RAM, and all named ones",
}


class Drawing(Struct, frozen=True):
    """A figure: its Vega-Lite specification, what it shows in words, and its numbers."""

    spec: dict[str, Any]
    note: str
    numbers: Sheet


class Section(Struct, frozen=True):
    """What there is of one target."""

    name: str
    title: str
    figures: Sequence[Drawing]
    tables: Sequence[Sheet]


class Report(Struct, frozen=True):
    """All of a report, before any format. ``failures`` is None where nothing failed."""

    title: str
    lead: str
    notes: Sequence[str]
    summary: Sequence[Sheet]
    targets: Sequence[Section]
    failures: Sheet | None
    claims: Sheet
    provenance: Sheet

    @property
    def sheets(self) -> list[Sheet]:
        """Its tables in their order, without the figures' numbers; the first one says what the report is of."""
        about = plain(self.title, "report", ("report",), [(self.lead,)], self.notes)
        failures = [self.failures] if self.failures else []
        of_targets = [s for t in self.targets for s in t.tables]
        return [about, *self.summary, *of_targets, *failures, self.claims, self.provenance]


def compose(
    title: str,
    rows: Sequence[Row],
    columns: Sequence[str],
    points: PointsOf,
    notes: Sequence[str] = (),
) -> Report:
    """The report of these rows. ``points`` finds the points of some of them; ``notes`` say how the rows were chosen."""
    rows = rank.apart(rows)
    good = [r for r in rows if r["outcome"] == "verified"]
    bad = [r for r in rows if r["outcome"] != "verified"]
    by_target = grouped(filter(results.measured, rows), lambda r: str(r["target"]))
    names = sorted(by_target)
    weighed = [r for r in good if r["variant"] != "nocrypt"]
    variants = {(r["primitive"], r["variant"]) for r in weighed}
    lead = f"{counted(len(weighed), 'verified run')} of {counted(len(variants), 'algorithm')}"
    lead += f" on {counted(len({r['target'] for r in weighed}), 'target')}"
    lead += f"; {counted(len(bad), 'run')} without verified figures, each with its reason." if bad else "."
    return Report(
        title,
        lead,
        notes,
        _summary(good, bad),
        [section(n, by_target[n], points, columns) for n in names],
        next(iter(results.without_figures(bad)), None),
        claims(names, rows),
        provenance(rows),
    )


def page(report: Report) -> str:
    """The report as HTML."""
    templates = FileSystemLoader(Path(__file__).parent / "templates")
    environment = Environment(loader=templates, autoescape=True, finalize=html.printed)
    taken = {"summary", "failures", "claims", "provenance", "filter", *(f"target-{t.name}" for t in report.targets)}
    environment.filters["table"] = lambda sheet: html.fragment(
        replace(shown(sheet), label=unlike(sheet.label, taken))  # its id, of which a document has no two
    )
    environment.filters["svg"] = lambda spec: figure.draw(spec, "svg").decode()
    return environment.get_template("report.html.j2").render(report=report, style=Markup(html.STYLE))


def section(name: str, rows: Sequence[Row], points: PointsOf, columns: Sequence[str]) -> Section:
    """Figures and tables of one target's rows, which have figures."""
    figures: list[Drawing] = []
    good = [r for r in rows if r["outcome"] == "verified" and r["variant"] != "nocrypt"]
    for key, group in results.grouped(good).items():
        _, primitive, device, compiler, *_ = key
        cycles = cycles_of(primitive)
        metrics = (cycles, "rom", "ram")
        best = _best(group, metrics)
        if len(best[cycles]) < 2:
            continue
        # who wins in anything, also among those that have marks; with all that nothing beats, so that none is taken for
        # one of them
        having, lacking = rank.complete(group, metrics)
        whole = _best(having, metrics) if lacking else best
        winners = (*best.values(), *whole.values(), rank.pareto(group, metrics))
        for kind, some in (
            ("throughput", _lines(group, cycles, points)),
            ("tradeoff", [*{id(r): r for of in winners for r in of}.values()]),
            ("rom", best["rom"][:BARS]),
        ):
            what = ", ".join([primitive, compiler, *([ON[device]] if device in ON else [])])
            if (drawn := _figure(kind, what, some, points)) is not None:
                numbers = replace(drawn.numbers, label=f"{drawn.numbers.label}-{primitive}")
                figures.append(replace(drawn, numbers=results.of_group(numbers, key, group)))
    tables = [s for s in results.tables(rows, columns) if s.label != results.WITHOUT]  # all targets have one together
    return Section(name, titled(name, rows), figures, tables)


def _best(rows: Sequence[Row], metrics: Sequence[str]) -> dict[str, list[Row]]:
    """By metric the best implementation of each variant, the best variant first."""
    return {n: [p.row for p in r.places] for n, r in rank.best_by_each(rows, metrics).items()}


def _lines(rows: Sequence[Row], cycles: str, points: PointsOf) -> list[Row]:
    """The first :data:`LINES` variants, each by its fastest implementation that has a line, and those that would stand
    there if they had one."""
    kind = figure.load("throughput")
    found, without, left = list[Row](), list[Row](), rank.by_variant(rows, cycles)
    asked = 1  # of each variant, and twice as many each time: few questions, and few points of what is not drawn
    while left:
        some = [r for mine in left.values() for r in mine[:asked]]
        known = points(some)
        some = [r for r in some if known.get(r["run"])]  # type: ignore[arg-type]
        having = {r["run"] for r in figure.marked(some, figure.data_of(kind, some, known))}
        rest = dict[Value, list[Row]]()
        for variant, mine in left.items():
            at = next((k for k, r in enumerate(mine[:asked]) if r["run"] in having), None)
            without += mine[: asked if at is None else at]
            if at is not None:
                found.append(mine[at])
            elif mine[asked:]:
                rest[variant] = mine[asked:]
        left, asked = rest, 2 * asked
    first = rank.by(found, cycles).places[:LINES]
    last = first[-1].value if len(first) == LINES else inf
    return [*(p.row for p in first), *(r for r in without if (rank.value(r, cycles) or 0) < last)]


def titled(target: str, rows: Sequence[Row]) -> str:
    """The title of a target's section: boards among the devices of its rows are said."""
    boards = sorted({str(d) for r in rows if (d := r.get("device")) in ON})
    first, *more = boards if boards and all(r.get("device") in ON for r in rows) else [None, *boards]
    return ", and ".join([title_of(target, first), *(ON[d] for d in more)])


def _figure(kind: str, what: str, rows: Sequence[Row], points: PointsOf) -> Drawing | None:
    f = figure.load(kind)
    data = figure.data_of(f, rows, points(rows) if f.of_points else {})
    if not data:
        return None
    left = figure.left_out(f, rows, data)
    note = f"{f.note} {_CHOSEN[kind]}." + (f" {left[0].upper()}{left[1:]}." if left else "")
    shared = results.shared(figure.marked(rows, data), ("flags", "workload"))
    return Drawing(figure.specification(f, data, f"{f.title}: {what}", shared), note, figure.table(f, data))


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
        columns = {"reason": None, "runs": 0, **dict.fromkeys(targets, 0)}
        lines = [(w, sum(counts[w, t] for t in targets), *(counts[w, t] or None for t in targets)) for w in reasons]
        sheets.append(plain("Runs without verified figures by reason", "failures-by-reason", columns, lines))
    return sheets


def _winners(primitive: str, rows: Sequence[Row]) -> Sheet:
    groups = results.grouped(rows)
    metrics = [column(n) for n in dict.fromkeys(n for group in groups.values() for n in ranking.usual(group))]
    boards = any(r.get("device") in ON for r in rows)
    columns = [Column("target", "target"), *([Column("figures", "figures")] if boards else ())]
    for m in metrics:
        columns += [Column(f"{m.name}_first", ranking.least(m.name)), m]
    several = len({r["flags"] for r in rows}) > 1
    lines = []
    for (target, _, device, compiler, *_), group in groups.items():
        cells: list[Cell] = [target if sum(k[0] == target for k in groups) == 1 else f"{target}, {compiler}"]
        cells += [evidence(device)] if boards else []
        runs: list[int] = []
        for m in metrics:
            places = rank.by(group, m.name).places
            first = [p.row for p in places if p.value == places[0].value]
            names = dict.fromkeys(f"{r['label']} {r['flags']}" if several else str(r["label"]) for r in first)
            cells += [", ".join(names) or None, places[0].value if places else None]
            runs += [run for r in first for run in run_of(r)]
        lines.append(Line(cells, tuple(dict.fromkeys(runs))))
    return Sheet(f"{primitive}: first by each metric", f"winners-{primitive}", columns, lines)


def claims(names: Sequence[str], of: Sequence[Row]) -> Sheet:
    """How far the cycles of these targets are validated, with the errors of the models that rows are of. A tier is the
    model's, so a target has none where all of its figures are a board's."""
    rows = []
    hardware = {r["target"] for r in of if r["primitive"] == joint.HARDWARE}
    for n in names:
        strange = "exact: those of the design itself" if n in hardware else "not known here"
        tier, silicon = ((t := load_target(n)).tier, t.silicon) if n in target_names() else (strange, "-")
        devices = {r.get("device") for r in of if r["target"] == n and results.measured(r)}
        boards = [ON[d] for d in ON if d in devices]
        modelled = len(boards) < len(devices) or not devices
        said = "; others ".join([*([tier] if modelled else []), *boards])
        rows.append((n, said, _errors(n, of), silicon if modelled else "-"))
    heads = ("target", "cycle counts", "error, median / 95 %", "compared with silicon")
    return plain("How far each target's cycles are validated", "claims-table", heads, rows)


def _errors(target: str, of: Sequence[Row]) -> str | None:
    """The published errors of a target's models, by kind of code."""
    found = [e for e in of_models(of) if e.target == target]
    return "; ".join(f"{e.kind} {e.median_percent:.2g} / {e.p95_percent:.2g} %" for e in found) or None


def provenance(rows: Sequence[Row]) -> Sheet:
    """With what these rows were made."""

    def every(name: str) -> str:
        return ", ".join(sorted(map(str, {r[name] for r in rows if r[name]})))

    finished = sorted(map(str, {r["finished"] for r in rows if r["finished"]}))
    facts = [
        ("Steelyard", version("steelyard")),
        ("measured", f"{finished[0]} to {finished[-1]} UTC" if finished else "-"),
        *((title, every(name)) for title, name in _PROVENANCE),
    ]
    return plain("Provenance", "provenance-table", ("what", "value"), facts)
