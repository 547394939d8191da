"""Reports of vendors' tools as data: Vivado's of utilisation and timing, Quartus' summary of its fitter and report of
its timing analyser. The tools are the user's; what their text says is all that is known of their netlists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from ..model.errors import UserError
from . import files

#: by metric, what stands before its number
_VIVADO = {
    "lut": r"\|\s*(?:Slice|CLB) LUTs\*?\s*\|\s*([\d.]+)",
    "ff": r"\|\s*(?:Slice|CLB) Registers\s*\|\s*([\d.]+)",
}
_QUARTUS = {
    "lut": r"Total combinational functions\s*[:;]\s*([\d,]+)",
    "ff": r"(?:Dedicated logic registers|Total registers)\s*[:;]\s*([\d,]+)",
    "elements_low": r"Total logic elements\s*[:;]\s*([\d,]+)",
    "elements_high": r"Total logic elements\s*[:;]\s*([\d,]+)",
}
#: what a design is not supposed to use, and where reports say that it does
_FORBIDDEN = {
    "block RAM": r"\|\s*Block RAM Tile\s*\|\s*([\d.]+)|Total memory bits\s*[:;]\s*([\d,]+)",
    "multipliers": r"\|\s*DSPs\s*\|\s*([\d.]+)|Embedded Multiplier 9-bit elements\s*[:;]\s*([\d,]+)",
}


class Report(Struct, frozen=True):
    """``metrics`` are cells and, where a timing report is there, ``fmax_reported`` in MHz. ``notes`` say of which
    device, and what else it uses."""

    tool: str
    version: str
    digest: str
    metrics: dict[str, int | float]
    notes: tuple[str, ...]


def read(reports: Sequence[Path]) -> Report:
    """What the reports of one tool on one design say. Raises :class:`UserError` where that is nothing."""
    text = "\n".join(map(_text, reports))
    names = ", ".join(map(str, reports))
    vivado = re.search(r"Vivado v\.?(\d{4}\.\d+)", text)
    quartus = re.search(r"Quartus (?:Prime|II).*?Version\s*(?:[:;]\s*)?(?:Version\s*)?(\d+\.\d+(?:\.\d+)?)", text)
    if bool(vivado) == bool(quartus):
        what = "both of Vivado and of Quartus" if vivado else "no report of Vivado or Quartus"
        raise UserError(f"{names}: {what}; give the utilisation and timing reports of one of them")
    patterns = _VIVADO if vivado else _QUARTUS
    metrics: dict[str, int | float] = {n: _number(f[1]) for n, p in patterns.items() if (f := re.search(p, text))}
    if "lut" not in metrics:
        wanted = "report_utilization's" if vivado else "the fitter's summary (.fit.summary)"
        raise UserError(f"{names}: no tables are counted in it; give {wanted}")
    mhz = _vivado_mhz(text, names) if vivado else _quartus_mhz(text, names)
    if mhz is not None:
        metrics["fmax_reported"] = mhz
    notes = []
    if part := re.search(r"\|\s*Device\s*:\s*(\S+)|^\s*;?\s*Device\s*[:;]\s*(\S+)", text, re.MULTILINE):
        notes.append(f"reported for {part[1] or part[2]}")
    if state := re.search(r"\|\s*Design State\s*:\s*(.+?)\s*(?:\||$)", text, re.MULTILINE):
        notes.append(f"state of the design: {state[1]}")
    for what, pattern in _FORBIDDEN.items():
        if (found := re.search(pattern, text)) and float((found[1] or found[2]).replace(",", "")):
            notes.append(f"besides, {found[1] or found[2]} of {what}, which no figure counts")
    version = (vivado or quartus)[1]  # type: ignore[index]
    return Report("vivado" if vivado else "quartus", version, sha256(text.encode()).hexdigest(), metrics, tuple(notes))


def _text(file: Path) -> str:
    return files.text(file, files.MADE, "give a report of Vivado or Quartus")


def _number(text: str) -> int:
    return round(float(text.replace(",", "")))


def _vivado_mhz(text: str, names: str) -> float | None:
    """The clock's frequency whose period the worst slack leaves. Raises :class:`UserError` for several clocks."""
    slack = re.search(r"WNS\(ns\).*\n[\s-]*\n\s*(-?[\d.]+)", text)
    clocks = re.findall(r"^(\S+)\s+\{[\d. ]+\}\s+([\d.]+)\s+[\d.]+\s*$", text, re.MULTILINE)
    if len(clocks) > 1:
        raise UserError(f"{names}: clocks {', '.join(c for c, _ in clocks)}; constrain one, and report again")
    return 1000 / (float(clocks[0][1]) - float(slack[1])) if slack and clocks else None


def _quartus_mhz(text: str, names: str) -> float | None:
    """The lowest restricted frequency of all models. Raises :class:`UserError` for several clocks."""
    rows = re.findall(r"^;\s*[\d.]+ MHz\s*;\s*([\d.]+) MHz\s*;\s*(\S+)\s*;", text, re.MULTILINE)
    if len(clocks := dict.fromkeys(c for _, c in rows)) > 1:
        raise UserError(f"{names}: clocks {', '.join(clocks)}; constrain one, and report again")
    return min((float(mhz) for mhz, _ in rows), default=None)
