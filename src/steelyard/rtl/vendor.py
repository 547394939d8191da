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
from .device import Device

#: what is no word in a cell of Vivado's tables, and after a name of Quartus', up to the whole that the device has
_CELL = r"\s*\|[ \t]*([^\s|A-Za-z][^|\n]*?)[ \t]*(?:\||$)"
_ENTRY = r"\s*[:;][ \t]*([^\s;/A-Za-z][^;/\n]*?)[ \t]*(?:[;/]|$)"
#: by metric, what stands before its number
_VIVADO = {
    "lut": rf"\|\s*(?:Slice|CLB) LUTs\*?{_CELL}",
    "ff": rf"\|\s*(?:Slice|CLB) Registers{_CELL}",
}
_QUARTUS = {
    "lut": rf"Total combinational functions{_ENTRY}",
    "ff": rf"(?:Dedicated logic registers|Total registers){_ENTRY}",
    "elements_low": rf"Total logic elements{_ENTRY}",
    "elements_high": rf"Total logic elements{_ENTRY}",
}
#: by what it is, what stands before the design and the part in reports: all of one design have the same
_DESIGN = {
    "designs": r"^\|\s*Design\s*:\s*([^\s|]+)",
    "top-level entities": r"^;?\s*Top-level Entity Name\s*[:;]\s*([^\s;]+)",
    "revisions": r"^;?\s*Revision Name\s*[:;]\s*([^\s;]+)",
}
_PART = r"^(?:\|\s*Device\s*:|;?\s*Device(?: Name)?\s*[:;])\s*([^\s|;]+)"
#: Vivado's reports of timing have the speed grade in a line of its own
_GRADE = r"^\|\s*Speed File\s*:\s*(-\w+)"
#: what a design is not supposed to use, and where reports say that it does
_FORBIDDEN = {
    "block RAM": rf"\|\s*Block RAM Tile{_CELL}|Total memory bits{_ENTRY}",
    "multipliers": rf"\|\s*DSPs{_CELL}|Embedded Multiplier 9-bit elements{_ENTRY}",
}


class Report(Struct, frozen=True):
    """``metrics`` are cells and, where a timing report is there, ``fmax_reported`` in MHz. ``notes`` say of which
    device, and what else it uses."""

    tool: str
    version: str
    digest: str
    metrics: dict[str, int | float]
    notes: tuple[str, ...]


def read(reports: Sequence[Path], device: Device) -> Report:
    """What the reports of one tool on one design say. Raises :class:`UserError` where that is nothing, or where they
    are not of one design on the device."""
    texts = [*map(_text, reports)]
    text = "\n".join(texts)
    names = ", ".join(map(str, reports))
    vivado = re.search(r"Vivado v\.?(\d{4}\.\d+)", text)
    quartus = re.search(r"Quartus (?:Prime|II).*?Version\s*(?:[:;]\s*)?(?:Version\s*)?(\d+\.\d+(?:\.\d+)?)", text)
    if bool(vivado) == bool(quartus):
        what = "both of Vivado and of Quartus" if vivado else "no report of Vivado or Quartus"
        raise UserError(f"{names}: {what}; give the utilisation and timing reports of one of them")
    tool = "vivado" if vivado else "quartus"
    design, part = _design(names, text), _part(reports, texts, device, tool)
    patterns = _VIVADO if vivado else _QUARTUS
    counted = [t for t in texts for _ in re.findall(patterns["lut"], t, re.MULTILINE)]
    if not counted:
        wanted = "report_utilization's" if vivado else "the fitter's summary (.fit.summary)"
        raise UserError(f"{names}: no tables are counted in it; give {wanted}")
    clocks = [mhz for t in texts if (mhz := _vivado_mhz(t, names) if vivado else _quartus_mhz(t, names)) is not None]
    for what, several in (("tables", counted), ("frequencies", clocks)):
        if len(several) > 1:
            raise UserError(f"{names}: {what} of {len(several)} reports; give one of utilisation, and one of timing")
    metrics: dict[str, int | float] = {
        n: round(_count(f[1], f"{names}: {n}"))
        for n, p in patterns.items()
        if (f := re.search(p, counted[0], re.MULTILINE))
    }
    if clocks:
        metrics["fmax_reported"] = clocks[0]
    notes = [f"reported for {part}" + (f", of {design}" if design else "")]
    if state := re.search(r"\|\s*Design State\s*:\s*(.+?)\s*(?:\||$)", counted[0], re.MULTILINE):
        notes.append(f"state of the design: {state[1]}")
    for what, pattern in _FORBIDDEN.items():
        found = re.search(pattern, text, re.MULTILINE)
        if found and _count(found[1] or found[2], f"{names}: {what}"):
            notes.append(f"besides, {found[1] or found[2]} of {what}, which no figure counts")
    version = (vivado or quartus)[1]  # type: ignore[index]
    return Report(tool, version, sha256(text.encode()).hexdigest(), metrics, tuple(notes))


def _design(names: str, text: str) -> str:
    """The design that the reports call theirs; empty where they name none. Raises :class:`UserError` for several."""
    named = {what: dict.fromkeys(re.findall(pattern, text, re.MULTILINE)) for what, pattern in _DESIGN.items()}
    for what, several in named.items():
        if len(several) > 1:
            raise UserError(f"{names}: {what} {', '.join(several)}; give reports of one design")
    return next((d for several in named.values() for d in several), "")


def _part(reports: Sequence[Path], texts: Sequence[str], device: Device, tool: str) -> str:
    """The part that each report names. Raises :class:`UserError` where one names none, or a part of another family, and
    where they are of several."""
    if not device.reports:
        raise UserError(f"--report: reports of Vivado and Quartus are not of {device.name}; leave it out")
    said = dict[str, str]()
    for report, text in zip(reports, texts, strict=True):
        parts = list(re.finditer(_PART, text, re.MULTILINE))  # a file may have several reports
        if not parts:
            raise UserError(f"{report}: no line says of which device it is; give the whole report")
        for found, after in zip(parts, [*parts[1:], None], strict=True):
            if not (family := device.reports.get(tool)) or not re.match(family, found[1], re.IGNORECASE):
                raise UserError(f"{report}: {found[1]} is no part of {device.name}; give the --device that it is of")
            grade = re.search(_GRADE, text[found.end() : after.start() if after else None], re.MULTILINE)
            said.setdefault(_plain(found[1] + (grade[1] if grade else "")), found[1])
    longest = max(said, key=len)
    if not all(longest.startswith(part) for part in said):
        names = ", ".join(map(str, reports))
        raise UserError(f"{names}: devices {', '.join(said.values())}; give reports of one design")
    return said[longest]


def _plain(part: str) -> str:
    """A part as all reports write it: those of utilisation have xc7a12tcsg325-3, those of timing 7a12t-csg325."""
    return re.sub(r"^x[acq]|-", "", part.lower())


def _text(file: Path) -> str:
    return files.text(file, files.MADE, "give a report of Vivado or Quartus")


def _count(text: str, what: str) -> float:
    """A number of cells, with commas between thousands only."""
    return files.number(re.sub(r"(?<=\d),(?=\d{3}\b)", "", text), what)


def _vivado_mhz(text: str, names: str) -> float | None:
    """The clock's frequency whose period the worst slack leaves. Raises :class:`UserError` for several clocks, and
    where nothing is left."""
    slack = re.search(r"WNS\(ns\).*\n[\s-]*\n\s*(-?\d\S*)\s", text)
    # a generated clock is indented below its master
    clocks = re.findall(r"^[ \t]*(\S+)\s+\{[\d. ]+\}\s+(\d\S*)\s+\d\S*\s*$", text, re.MULTILINE)
    if len(clocks) > 1:
        raise UserError(f"{names}: clocks {', '.join(c for c, _ in clocks)}; constrain one, and report again")
    if not slack or not clocks:
        return None
    period = files.number(clocks[0][1], f"{names}: period of {clocks[0][0]}")
    left = files.number(slack[1], f"{names}: WNS", signed=True)
    if left >= period:
        what = f"a slack of {left:g} ns in a period of {period:g} ns"
        raise UserError(f"{names}: {what} is no frequency; constrain the clock, and report again")
    return 1000 / (period - left)


def _quartus_mhz(text: str, names: str) -> float | None:
    """The lowest restricted frequency of all models. Raises :class:`UserError` for several clocks, and for none."""
    rows = re.findall(r"^;[^;\n]*MHz\s*;\s*([^;\n]*?)\s*MHz\s*;\s*(\S+)\s*;", text, re.MULTILINE)
    if len(clocks := dict.fromkeys(c for _, c in rows)) > 1:
        raise UserError(f"{names}: clocks {', '.join(clocks)}; constrain one, and report again")
    made = [files.number(mhz, f"{names}: MHz of {clock}") for mhz, clock in rows]
    if 0 in made:
        raise UserError(f"{names}: 0 MHz is no frequency; constrain the clock, and report again")
    return min(made, default=None)
