"""Figures: Vega-Lite specifications as data, drawn by vl-convert without a browser, each with its table.

A file in ``figures/`` is one figure. Its ``usermeta`` says what a row of its data is (``records``, ``points`` or
``places``), which metrics it needs and what it shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, convert

from ..analyse import rank
from ..analyse.answer import recency, workload_name
from ..analyse.rank import Place, best_by_each, first, joint, pareto
from ..model.errors import UserError, printable, unknown
from ..model.metric import metric
from ..model.primitive import cycles_of
from ..model.record import Point
from ..model.row import CONTEXT, Row, Value, grouped
from ..model.target import load_target, target_names
from . import names
from .figures import FOLDER, figure_names
from .history import OF_LAB, changed
from .results import GROUP, ON, column, fewer, some, title_of
from .sheet import Column, Line, Sheet

#: dots per inch of PNG files are these times 72
SCALE = 2.0
#: most marks of one figure
MAX_ROWS = 200_000

Data = list[dict[str, Any]]


class Figure(Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of figure: its Vega-Lite ``spec`` without data, and the ``usermeta`` of that.

    ``note`` says what it shows. A row of its data is one of ``records``, ``points`` (calls at one size) or ``places``
    (of a ranking); it needs these ``metrics``. ``all_runs`` says that runs that newer ones replace belong to it,
    ``workload`` is the one that it is of. ``drawn`` says by field which values have marks: a list, ``positive`` or
    ``any``, and whether the ``baseline`` is among them. Where marks are named, ``names`` are the metrics of both axes,
    of which the first that a row has counts, and ``padding`` the pixels kept free around them.
    """

    name: str
    spec: dict[str, Any]
    title: str
    note: str
    rows: Literal["records", "points", "places"]
    metrics: tuple[str, ...] = ()
    all_runs: bool = False
    workload: str = ""
    drawn: dict[str, Any] = {}
    names: tuple[str, tuple[str, ...]] | None = None
    padding: int = 0

    @property
    def of_points(self) -> bool:
        """Whether a row is a call at one size, not a record."""
        return self.rows == "points"


def load(name: str) -> Figure:
    """The figure called ``name``; :class:`UserError` with a suggestion when there is none."""
    if name not in figure_names():
        raise unknown("figure", name, figure_names())
    return read(FOLDER / f"{name}.json")


@cache
def read(file: Path) -> Figure:
    """The figure that a file describes."""
    spec = json.loads(file.read_text(encoding="utf-8"))
    return convert({"name": file.stem, "spec": spec, **spec.pop("usermeta")}, Figure)


def drawn(figure: Figure, data: Data) -> Data:
    """Of the data what the figure has marks for, so that its table is what it shows."""
    rules = {"baseline": True, **figure.drawn}
    baseline = rules.pop("baseline")

    def shown(value: Any, rule: Any) -> bool:
        if isinstance(rule, list):
            return value in rule
        return value is not None and (rule == "any" or value > 0)

    return [
        d
        for d in data
        if (baseline or d["variant"] != "nocrypt") and all(shown(d.get(n), rule) for n, rule in rules.items())
    ]


def data_of(figure: Figure, rows: Sequence[Row], points: Mapping[int, Sequence[Point]]) -> Data:
    """What the figure shows of these rows; ``points`` are needed by one that is of them."""
    if figure.of_points:
        data = of_points(rows, points)
    elif figure.rows == "places":
        data = of_places(rows)
    else:
        data = of_records(rows, over_time=figure.all_runs)
    return drawn(figure, data)


def marked(rows: Sequence[Row], data: Data) -> list[Row]:
    """The rows that have marks in a figure of this data."""
    seen = {d.get("run") for d in data}
    return [r for r in rows if r["run"] in seen]


def left_out(figure: Figure, rows: Sequence[Row], data: Data) -> str:
    """The words on what is not in a figure that has others, as it has not all that is drawn, without nocrypt, which few
    look for; empty where there is none. Places are of the first only."""
    if figure.rows == "places" or not data:
        return ""
    seen = {d.get("run") for d in data}
    named = zip(rows, _over_time(rows), strict=True)
    left = {f"{n} on {r['target']}" for r, n in named if r["run"] not in seen and r["variant"] != "nocrypt"}
    return f"without all that it draws, so left out: {some(sorted(left))}" if left else ""


def of_records(rows: Sequence[Row], *, over_time: bool = False) -> Data:
    """Rows as data, in the order of their runs, if they say no other. Each has a name of its own, unless they are one
    thing ``over_time``; then ``changed`` says what, but for the sources, is other than it was in the run before.
    ``front`` marks those that nothing of their target beats."""
    named, titles = (_over_time(rows) if over_time else names_of(rows)), _titles(rows, over_time=over_time)
    best = set[int]()
    ciphers = (r for r in rows if r["variant"] != "nocrypt")
    for (_, primitive), group in grouped(ciphers, lambda r: (titles(r), r["primitive"])).items():
        costs = ("lut",) if primitive == "lwc_rtl" else ("rom", "ram")
        best |= {id(r) for r in pareto(group, (cycles_of(str(primitive)), *costs))}
    changes = _changes(rows, named) if over_time else {}
    when = recency()
    order = {id(r): n for n, r in enumerate(sorted(rows, key=when), 1)} if over_time else {}
    return [
        {"order": order.get(id(r), r["run"])}
        | {n: v for n, v in r.items() if v is not None or n in CONTEXT}
        | {"name": name, "target": titles(r), "front": id(r) in best}
        | {"at": r.get("revision") or f"run {r['run']}", "cycles": r.get(cycles_of(str(r["primitive"])))}
        | ({"changed": changes[id(r)]} if id(r) in changes else {})
        for r, name in zip(rows, named, strict=True)
    ]


def _changes(rows: Sequence[Row], named: Sequence[str]) -> dict[int, str]:
    """By the identity of a row: what of compiler and template is other than in the run before of the same name."""
    lines = grouped(
        zip(rows, named, strict=True), lambda of: (*(of[0].get(n) for n in ("target", "device", "workload")), of[1])
    )
    found: dict[int, str] = {}
    when = recency()
    for line in lines.values():
        ordered = sorted((r for r, _ in line), key=lambda r: (r.get("order") or 0, *when(r)))
        for before, r in pairwise(ordered):
            if told := changed(before, r, OF_LAB):
                found[id(r)] = "; ".join(told)
    return found


def of_points(rows: Sequence[Row], points: Mapping[int, Sequence[Point]]) -> Data:
    """One row for each point of each run, with its message's bytes over its time, in 1000 bytes a second."""
    titles = _titles(rows)
    data = []
    for row, name in zip(rows, names_of(rows), strict=True):
        if row["run"] not in points:
            continue
        target = str(row["target"])
        clock = load_target(target).chip.clock_hz if target in target_names() else 0
        shared = {n: row[n] for n in ("run", "family", "variant", "flags", "workload")}
        shared |= {"name": name, "target": titles(row)}
        data += [
            {**shared, "operation": p.operation, "adlen": p.adlen, "mlen": p.mlen, "cycles": p.cycles}
            | {"kilobytes_per_second": p.mlen / p.cycles * clock / 1000 if p.cycles > 0 else None}
            for p in points[row["run"]]  # type: ignore[index]
        ]
    return data


#: metrics of the slides' charts and what the first of each is called
_FIRST = (("", "fastest"), ("rom", "smallest"), ("ram", "least RAM"))


def of_places(rows: Sequence[Row], top: int = 10) -> Data:
    """The slides' charts: for each target and primitive the ``top`` fastest, smallest and least RAM, of each variant
    its best implementation, and which variants are among them all."""
    rows = rank.apart(rows)
    apart = _incomparable(rows)
    named = dict(zip(map(id, rows), names_of(rows), strict=True))
    ciphers = (r for r in rows if r["variant"] != "nocrypt")

    def more(row: Row) -> str:
        return (f", {ON[row['device']]}" if row.get("device") in ON else "") + apart(row)

    groups = grouped(ciphers, lambda r: (str(r["target"]), str(r["primitive"]), more(r)))
    data: Data = []
    for at, ((target, primitive, others), group) in enumerate(sorted(groups.items())):
        title = f"{target}, {primitive}{others}"
        metrics = {n or cycles_of(primitive): word for n, word in _FIRST}
        rankings = best_by_each(group, metrics)
        for number, (n, word) in enumerate(metrics.items()):
            m = metric(n)
            panel = f"{title}: {word}, {'mean cycles' if m.unit == 'cycles' else m.unit}"
            for p in first(rankings[n], top):
                data.append(
                    _place(p, n, panel, 4 * at + number, named[id(p.row)], title) | {"value": p.value, "rank": p.rank}
                )
        among = [found for _, found in joint(rankings, top, "variant")]
        panel = f"{title}: places of those among all three"
        for found in among:
            total = sum(p.rank for p in found.values())
            for n, p in found.items():
                place = _place(p, n, panel, 4 * at + 3, str(p.row["variant"]), title)
                data.append(place | {"rank": total, "what": metrics[n], "implementation": named[id(p.row)]})
    return data


def _place(p: Place, name: str, panel: str, number: int, shown: str, title: str) -> dict[str, Any]:
    context = {n: p.row.get(n) for n in ("run", "primitive", "variant", "flags", "vectors", "skipped")}
    return context | {"target": title, "panel": panel, "order": number, "name": shown, "metric": name, "place": p.rank}


def _titles(rows: Sequence[Row], *, over_time: bool = False) -> Callable[[Row], str]:
    """What stands above a row's part of the figure: its target, its primitive where there are several, and what
    keeps figures of one target from being compared; but nothing does ``over_time``."""
    several = len({r["primitive"] for r in rows if r["variant"] != "nocrypt"}) > 1
    apart = _incomparable([] if over_time else rows)
    return lambda r: title_of(str(r["target"]), r.get("device")) + (f": {r['primitive']}" if several else "") + apart(r)


def _incomparable(rows: Sequence[Row]) -> Callable[[Row], str]:
    """Compiler, harness or timing model, where rows of one target differ in it: tables keep them apart too."""
    values: dict[Value, dict[str, set[Value]]] = {}
    for r in (r for r in rows if r["variant"] != "nocrypt"):
        of = values.setdefault(r["target"], {n: set() for n in GROUP[3:]})
        for n in of:
            of[n].add(r.get(n))
    mixed = {target: [n for n, v in of.items() if len(v) > 1] for target, of in values.items()}
    return lambda r: "".join(f", {_said(r, n)}" for n in mixed.get(r["target"], ()))


#: what tells rows of one label apart, in this order as far as needed
_APART = ("workload", "device", "compiler", "harness", "timing_model", "digest", "run")


def names_of(rows: Sequence[Row]) -> list[str]:
    """A name for each row that no other of its target and primitive has: two marks of one name would be added up."""
    made = _over_time(rows)
    for apart in _APART:
        same = grouped(range(len(rows)), lambda k: (rows[k]["target"], rows[k]["primitive"], made[k]))
        for group in (g for g in same.values() if len(g) > 1):
            if len({rows[k].get(apart) for k in group}) > 1:
                for k in group:
                    made[k] = f"{made[k]}, {_said(rows[k], apart)}"
    return made


def _said(row: Row, name: str) -> str:
    value = str(row.get(name))
    if name in ("digest", "harness"):
        return value[:8]
    return f"run {value}" if name == "run" else workload_name(value) if name == "workload" else value


def _over_time(rows: Sequence[Row]) -> list[str]:
    """Implementation, and flags where they differ."""
    several = len({r["flags"] for r in rows}) > 1
    return [f"{r['label']} {r['flags']}" if several else str(r["label"]) for r in rows]


def specification(figure: Figure, data: Data, title: str = "", notes: Sequence[str] = ()) -> dict[str, Any]:
    """The whole Vega-Lite specification with its data; ``notes`` stand below the title. Raises :class:`UserError` for
    more marks than a figure has room for."""
    if len(data) > MAX_ROWS:
        raise UserError(f"{len(data)} marks are more than {MAX_ROWS}; choose fewer runs")
    spec = dict(figure.spec)
    notes = [*notes, *_fewer(figure, data)]
    spec["title"] = {"text": title or figure.title} | ({"subtitle": list(notes)} if notes else {})
    spec["config"] = json.loads((FOLDER / "theme.json").read_text(encoding="utf-8"))
    spec["data"] = {"values": _with_names(data, figure, *figure.names) if figure.names else data}
    return spec


def lacking(figure: Figure, rows: Sequence[Row]) -> str:
    """Which workload a figure is of that none of the rows has; empty where it is of any, or some have it."""
    if not figure.workload or any(workload_name(str(r["workload"])) == figure.workload for r in rows):
        return ""
    return f"no run of workload {figure.workload} is among these, and it draws no other"


def _fewer(figure: Figure, data: Data) -> list[str]:
    """Says of each target whose marks are means over fewer calls than others'."""
    marks = [d for d in data if isinstance(d.get("vectors"), int) and "what" not in d]
    targets = grouped(marks, lambda d: str(d["target"]))
    names = [*figure.metrics, *(str(d["metric"]) for d in marks if "metric" in d)]
    said = [(t, text) for t, group in targets.items() for text in fewer(group, names, called="name", marks=True)]
    return [text if len(targets) == 1 else f"{t}: {text}" for t, text in said]


def _with_names(data: Data, figure: Figure, x: str, ys: Sequence[str]) -> Data:
    """Says of each mark that is named where its name goes."""
    size = figure.spec["spec"]["width"], figure.spec["spec"]["height"]
    made = [dict(d) for d in data]
    for target in {d["target"] for d in made}:
        shown = []
        for d in made:
            y = next((d[n] for n in ys if d.get(n)), 0)
            if d["target"] == target and d["variant"] != "nocrypt" and y > 0 and (d.get(x) or 0) > 0:
                shown.append((d, float(d[x]), float(y)))
        named = {(d["name"], a, b): d for d, a, b in shown if d["front"]}  # of several at one place one
        for d, _, _ in shown:
            d["front"] = False
        offsets = names.offsets([*named], [(a, b) for _, a, b in shown], size, figure.padding)
        for d, offset in zip(named.values(), offsets, strict=True):
            d |= {"front": True, **offset._asdict()}
    return made


def draw(spec: dict[str, Any], ending: str) -> bytes:
    """The figure as ``svg``, ``png``, ``pdf`` or, for other tools, ``json``."""
    import vl_convert as vlc

    if ending == "json":
        return (json.dumps(spec, indent=1) + "\n").encode()
    vega = _one_legend(vlc.vegalite_to_vega(_drawable(_without_unused(spec))))
    if ending == "svg":
        return str(vlc.vega_to_svg(vega)).encode()
    if ending == "png":
        return bytes(vlc.vega_to_png(vega, scale=SCALE))
    return bytes(vlc.vega_to_pdf(vega))


def _without_unused(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The specification without fields of its data that it does not speak of: each value takes memory and time."""
    told = json.dumps({n: v for n, v in spec.items() if n != "data"})
    values = [{n: v for n, v in d.items() if n in told} for d in spec["data"]["values"]]
    return {**spec, "data": {"values": values}}


def _drawable(value: Any) -> Any:
    """The specification with printable texts: the library that draws ends the process at one that XML cannot hold."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {k: _drawable(v) for k, v in value.items()}
    return [*map(_drawable, value)] if isinstance(value, list | tuple) else value


def _one_legend(vega: dict[str, Any]) -> dict[str, Any]:
    """Colour and shape of one field in one legend: Vega-Lite keeps them apart where marks are in layers."""
    kept: dict[str, dict[str, Any]] = {}
    for legend in vega.get("legends", []):
        title = json.dumps(legend.get("title"))
        kept[title] = {**legend, **kept[title]} if title in kept else legend
    if kept:
        vega["legends"] = list(kept.values())
    return vega


#: columns of figures' tables that are neither context nor metric
_COLUMNS = {
    "adlen": Column("adlen", "associated data", "bytes", 0),
    "mlen": Column("mlen", "message", "bytes", 0),
    "cycles": Column("cycles", "cycles", "", 0),
    "kilobytes_per_second": Column("kilobytes_per_second", "throughput", "kB/s", 1),
    "value": Column("value", "value", "", 0),
}


def table(figure: Figure, data: Data, title: str = "") -> Sheet:
    """The figure's numbers."""
    if figure.of_points:
        names = ["run", "name", "target", "operation", "adlen", "mlen", "cycles"]
        names += [n for n in figure.drawn if n not in names and n in _COLUMNS]
    elif figure.rows == "places":
        names = ["panel", "run", "name", "implementation", "metric", "place", "value"]
    else:
        revision = ["revision"] if any("revision" in d for d in data) else []
        metrics = [n for n in figure.metrics if any(d.get(n) is not None for d in data)]
        names = [*revision, "run", "name", "target", "flags", *metrics]
        names += ["changed"] if any("changed" in d for d in data) else []
    columns = [column(n) if n in figure.metrics else _COLUMNS.get(n) or Column(n, n) for n in names]
    lines = [Line([d.get(n) for n in names], (d["run"],) if d.get("run") else ()) for d in data]
    notes = [figure.note, *_fewer(figure, data)]
    return Sheet(title or figure.title, f"figure-{figure.name}", columns, lines, notes=notes)
