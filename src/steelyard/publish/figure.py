"""Figures: Vega-Lite specifications as data, drawn by vl-convert without a browser, each with its table.

A file in ``figures/`` is one figure. Its ``usermeta`` says what a row of its data is (``records`` or ``points``),
which metrics it needs and what it shows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..analyse.rank import pareto
from ..analyse.rows import CONTEXT, Row
from ..model.errors import UserError, unknown
from ..model.record import Point
from ..model.target import load_target, target_names
from . import names
from .results import title_of
from .sheet import Column, Line, Sheet

_FOLDER = Path(__file__).parent / "figures"
#: endings of figures
FORMATS = ("svg", "png", "pdf", "json")
#: dots per inch of PNG files are these times 72
SCALE = 2.0
#: most marks of one figure
MAX_ROWS = 200_000

Data = list[dict[str, Any]]


class Figure(Struct, frozen=True):
    """A kind of figure: its specification without data."""

    name: str
    spec: dict[str, Any]

    @property
    def title(self) -> str:
        """Shown above."""
        return str(self.spec["usermeta"]["title"])

    @property
    def note(self) -> str:
        """What it shows, in a sentence or two."""
        return str(self.spec["usermeta"]["note"])

    @property
    def of_points(self) -> bool:
        """Whether a row is a call at one size, not a record."""
        return bool(self.spec["usermeta"]["rows"] == "points")

    @property
    def all_runs(self) -> bool:
        """Whether runs that newer ones replace belong to it."""
        return bool(self.spec["usermeta"].get("all_runs", False))

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics it needs."""
        return tuple(self.spec["usermeta"].get("metrics", ()))


def figure_names() -> tuple[str, ...]:
    """All figures."""
    return tuple(sorted(f.stem for f in _FOLDER.glob("*.json") if f.stem != "theme"))


@cache
def load(name: str) -> Figure:
    """The figure called ``name``; :class:`UserError` with a suggestion when there is none."""
    if name not in figure_names():
        raise unknown("figure", name, figure_names())
    return Figure(name, json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def of_records(rows: Sequence[Row]) -> Data:
    """Rows as data, named as far as they differ; in the order of their runs, if they say no other. ``front`` marks
    those that nothing of their target beats."""
    named = _namer(rows)
    best = set[int]()
    for key in {(r["target"], r["primitive"]) for r in rows}:
        group = [r for r in rows if (r["target"], r["primitive"]) == key and r["variant"] != "nocrypt"]
        cycles = "cycles_encrypt_mean" if key[1] == "crypto_aead" else "cycles_hash_mean"
        best |= {id(r) for r in pareto(group, (cycles, "rom", "ram"))}
    return [
        {"order": r["run"]}
        | {n: v for n, v in r.items() if v is not None or n in CONTEXT}
        | {"name": named(r), "target": title_of(str(r["target"])), "front": id(r) in best}
        | {"at": r.get("revision") or f"run {r['run']}"}
        for r in rows
    ]


def of_points(rows: Sequence[Row], points: Mapping[int, Sequence[Point]]) -> Data:
    """One row for each point of each run."""
    named = _namer(rows)
    data = []
    for row in rows:
        target = str(row["target"])
        clock = load_target(target).chip.clock_hz if target in target_names() else 0
        shared = {n: row[n] for n in ("run", "family", "variant", "flags")}
        shared |= {"name": named(row), "target": title_of(target), "clock_hz": clock}
        data += [
            {**shared, "operation": p.operation, "adlen": p.adlen, "mlen": p.mlen, "cycles": p.cycles}
            for p in points.get(row["run"], ())  # type: ignore[arg-type]
        ]
    return data


def _namer(rows: Sequence[Row]) -> Any:
    """Implementation, and flags where they differ."""
    several = len({r["flags"] for r in rows}) > 1
    return lambda r: f"{r['label']} {r['flags']}" if several else str(r["label"])


def specification(figure: Figure, data: Data, title: str = "") -> dict[str, Any]:
    """The whole Vega-Lite specification with its data."""
    if len(data) > MAX_ROWS:
        raise UserError(f"{len(data)} marks are more than {MAX_ROWS}; choose fewer runs")
    spec = {k: v for k, v in figure.spec.items() if k != "usermeta"}
    spec["title"] = {"text": title or figure.title}
    spec["config"] = json.loads((_FOLDER / "theme.json").read_text(encoding="utf-8"))
    spec["data"] = {"values": _with_names(figure, data) if "names" in figure.spec["usermeta"] else data}
    return spec


def _with_names(figure: Figure, data: Data) -> Data:
    """Says of each mark that is named where its name goes. ``usermeta`` has the metrics of both axes: the first that
    a row has counts."""
    x, ys = figure.spec["usermeta"]["names"]
    size, padding = (figure.spec["spec"]["width"], figure.spec["spec"]["height"]), figure.spec["usermeta"]["padding"]
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
        offsets = names.place([*named], [(a, b) for _, a, b in shown], size, padding)
        for d, offset in zip(named.values(), offsets, strict=True):
            d |= {"front": True, **offset._asdict()}
    return made


def draw(spec: dict[str, Any], ending: str) -> bytes:
    """The figure as ``svg``, ``png``, ``pdf`` or, for other tools, ``json``."""
    import vl_convert as vlc

    if ending == "json":
        return (json.dumps(spec, indent=1) + "\n").encode()
    vega = _one_legend(vlc.vegalite_to_vega(spec))
    if ending == "svg":
        return str(vlc.vega_to_svg(vega)).encode()
    if ending == "png":
        return bytes(vlc.vega_to_png(vega, scale=SCALE))
    return bytes(vlc.vega_to_pdf(vega))


def _one_legend(vega: dict[str, Any]) -> dict[str, Any]:
    """Colour and shape of one field in one legend: Vega-Lite keeps them apart where marks are in layers."""
    kept: dict[str, dict[str, Any]] = {}
    for legend in vega.get("legends", []):
        title = json.dumps(legend.get("title"))
        kept[title] = {**legend, **kept[title]} if title in kept else legend
    if kept:
        vega["legends"] = list(kept.values())
    return vega


def table(figure: Figure, data: Data) -> Sheet:
    """The figure's numbers."""
    if figure.of_points:
        names = ["run", "name", "target", "operation", "adlen", "mlen", "cycles"]
    else:
        revision = ["revision"] if any("revision" in d for d in data) else []
        names = [*revision, "run", "name", "target", "flags", *figure.metrics]
    columns = [Column(n, n, "", 3 if n in figure.metrics else None) for n in names]
    lines = [Line([d.get(n) for n in names], (d["run"],) if d.get("run") else ()) for d in data]
    return Sheet(figure.title, f"figure-{figure.name}", columns, lines, notes=[figure.note])
