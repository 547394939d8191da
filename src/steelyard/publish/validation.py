"""A validation: how far the simulator is from a board, as tables and a figure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..analyse.validation import Difference, Spread, spread, worst
from ..model.record import Record
from ..model.row import grouped
from . import figures
from .results import title_of
from .sheet import Cell, Column, Line, Sheet, plain

_SPEC = Path(__file__).parent / "templates" / "validation.json"
#: figures other than cycles that simulator and board both have, and their digits
_OTHERS = ("ram_renner",)
_COLUMNS = (
    Column("label", "implementation"),
    Column("flags", "flags"),
    Column("operation", "call"),
    Column("adlen", "associated data", "bytes", 0),
    Column("mlen", "message", "bytes", 0),
    Column("simulated", "simulated", "cycles", 0),
    Column("measured", "measured", "cycles", 0),
    Column("error", "error", "%", 3),
    Column("resolution", "resolution", "%", 3),
)
NOTE = (
    "Error: simulated over measured, minus one. p95: 95 % of the calls are no further off. Resolution: two samples of "
    "the analyzer, the rounding to cycles, and what is not known of the board's clock; calls beyond it differ by more. "
    "Rows without sizes are means over the known answers."
)


def tables(target: str, differences: Sequence[Difference], pairs: Sequence[tuple[Record, Record]]) -> list[Sheet]:
    """How errors are distributed, the worst calls, what else both have, and where the figures come from. ``pairs``
    are records simulated and measured."""
    device = pairs[0][1].setup.device
    title = f"Simulator against {title_of(target, device)}"
    groups = [("all", list(differences))]
    groups += [(str(k), v) for k, v in grouped(differences, lambda d: d.operation).items()]
    groups += [(k, v) for k, v in grouped(differences, lambda d: f"{d.label} {d.flags}").items()]
    columns = {"calls": None, "number": 0, "bias %": 3, "median %": 3, "p95 %": 3, "max %": 3, "beyond": 0}
    silicon = [] if device == "board" else ["Nothing here is silicon: the board is played by the simulator."]
    return [
        plain(title, f"validation-{target}", columns, [_line(n, spread(v)) for n, v in groups], [NOTE, *silicon]),
        calls("The calls furthest apart", f"worst-{target}", worst(differences)),
        *_others(target, pairs),
        _provenance(target, pairs),
    ]


def calls(title: str, label: str, differences: Sequence[Difference]) -> Sheet:
    """Every call: what the figure shows."""
    return Sheet(title, label, _COLUMNS, [Line(_cells(d), d.runs) for d in differences])


def _line(name: str, s: Spread) -> tuple[Cell, ...]:
    return (name, s.calls, *(100 * x for x in (s.bias, s.median, s.p95, s.most)), s.beyond)


def _cells(d: Difference) -> tuple[Cell, ...]:
    percent = 100 * d.error, 100 * d.resolution / d.measured
    return (d.label, d.flags, d.operation, d.adlen, d.mlen, d.simulated, d.measured, *percent)


def _others(target: str, pairs: Sequence[tuple[Record, Record]]) -> list[Sheet]:
    lines = [
        (mine.setup.label, mine.setup.flags, name, mine.metrics[name], its.metrics[name])
        for mine, its in pairs
        for name in _OTHERS
        if name in mine.metrics and name in its.metrics
    ]
    columns = {"implementation": None, "flags": None, "figure": None, "simulated": 0, "measured": 0}
    return [plain("What a debug probe sees", f"others-{target}", columns, lines)] if lines else []


def _provenance(target: str, pairs: Sequence[tuple[Record, Record]]) -> Sheet:
    """Where the figures come from. A note of a board's record names it and its instruments; its port says nothing to
    others."""
    mine, its = [a for a, _ in pairs], [b for _, b in pairs]

    def every(values: Sequence[object]) -> str:
        return ", ".join(dict.fromkeys(str(v) for v in values if v))

    boards = [re.sub(r": [^,]+,", ":", n, count=1) for r in its for n in r.notes if n.startswith(f"{r.setup.device} ")]
    facts = [
        ("board", every(boards)),
        ("measured", every([r.finished.date() if r.finished else "" for r in its])),
        ("model", every([r.setup.timing_model for r in mine])),
        ("clock", every([r.setup.timing_model for r in its])),
        ("compiler", every([r.setup.toolchain.version for r in its])),
        ("harness", every([r.setup.harness for r in its])),
        ("workload", every([r.setup.workload for r in its])),
        ("sources", every([f"{r.setup.label} {r.setup.implementation_digest[:16]}" for r in its])),
    ]
    return plain("Provenance", f"provenance-{target}", ("what", "value"), facts)


def specification(target: str, differences: Sequence[Difference], device: str) -> dict[str, Any]:
    """The figure as Vega-Lite: errors over cycles, and the resolution as a band."""
    spec: dict[str, Any] = json.loads(_SPEC.read_text(encoding="utf-8"))
    spec["title"] = {
        "text": f"Simulator against {title_of(target, device)}",
        "subtitle": ["Error of the simulator; grey is what the analyzer and the clock cannot tell"],
    }
    spec["config"] = json.loads((figures.FOLDER / "theme.json").read_text(encoding="utf-8"))
    names = [c.name for c in _COLUMNS]
    values = [dict(zip(names, _cells(d), strict=True)) for d in sorted(differences, key=lambda d: d.measured)]
    spec["data"] = {"values": [v | {"low": -v["resolution"], "high": v["resolution"]} for v in values]}  # type: ignore[operator]
    return spec
