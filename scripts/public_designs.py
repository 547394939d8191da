"""Compares what Steelyard says of public designs with what was measured of them before, and ours with public ones.

usage: scripts/public_designs.py CHECKOUTS MEASURED.md SEEDS [NAME]...    weighs, rewrites docs/validation/hardware*.csv
       scripts/public_designs.py CHECKOUTS names COUNT NAME...            cells of VHDL whose nets are named anew
       scripts/public_designs.py                                          rewrites the page's tables from the csv files

NAMEs are those of ``PUBLIC`` and ``OURS``; without any, all are weighed. What is there of others stays.

CHECKOUTS has a folder with the files of each repository that ``PUBLIC`` names, called as that is without its owner.
MEASURED.md has the tables of the earlier measurement: cycles, cells and frequency of ECP5, cells of the others.
"""

from __future__ import annotations

import csv
import random
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from steelyard.asked import settled
from steelyard.hardware import Hardware, Verified
from steelyard.model.paths import ROOT, home
from steelyard.model.record import Record
from steelyard.rtl import synthesis, vhdl
from steelyard.rtl.bench import MODES
from steelyard.rtl.design import Design
from steelyard.rtl.device import load_device
from steelyard.rtl.job import Job
from steelyard.rtl.reading import designs_of
from steelyard.store import Store

PLACE = ROOT / "docs" / "validation"
PAGE, TABLE, ASCON, VERDICTS, RENAMED = (
    PLACE / f"hardware{n}" for n in (".md", ".csv", "-ascon.csv", "-verdicts.csv", "-names.csv")
)
DEVICES = ("ecp5", "artix7", "cyclone10lp")
#: ours that stand beside the public designs of Ascon
OURS = ("ascon/x1", "ascon/x2", "ascon-fast/x1", "ascon-fast/x2")
COLUMNS = ("design", "device", "figure", "before", "before_sd", "ours", "ours_sd")
BESIDE = (
    "design",
    "whose",
    "lut",
    "ff",
    "fmax_mean",
    "fmax_sd",
    "fmax_seeds",
    "bits_per_cycle_pt",
    "throughput_pt_long",
    "throughput_pt_64",
    "throughput_pt_long_per_lut",
)
#: cells of lookup tables by device, as the earlier measurement counted them
_TABLES = {"ecp5": r"LUT4", "artix7": r"LUT[1-6]", "cyclone10lp": r"\w*lcell_comb"}
#: figures of cells, and how many percent apart they may be at most
CELLS, AIM = ("tables", "packed", "ff"), 2.0
#: a net as GHDL names those that have no name
_NET = r"\bn(\d+)(?=_[oq]\b|\b)"
_PACKED = r"LUT[3-6]"
_KINDS = ("pt", "ad", "hash")
_SIZES = (16, 64, 1536)
Line = dict[str, str]


class Public(Struct, frozen=True):
    """A public design: what the earlier measurement calls it, its repository, what is given to ``steelyard rtl`` of it,
    and the algorithms. It is verified in ``modes`` and weighed on ``devices``. ``package`` is a folder that the sources
    take the LWC package from."""

    name: str
    repository: str
    commit: str
    path: str
    aead: str = ""
    hash: str = ""
    package: str = ""
    modes: tuple[str, ...] = MODES
    devices: tuple[str, ...] = ("ecp5",)

    @property
    def is_ascon(self) -> bool:
        """Whether it stands beside ours."""
        return self.aead.startswith("ascon")

    @property
    def title(self) -> str:
        """Its name, and where it is from."""
        return f"{self.name} ({self.repository} at `{self.commit}`, `{self.path}`)"


V12, V12A = ("ascon128v12", "asconhashv12"), ("ascon128av12", "asconhashav12")
LWC_ASCON = "hardware/ascon_lwc/ascon_{}.toml"
FULL = ("full",)
PUBLIC = (
    Public("dummy", "GMUCERG/LWC", "9232d6d", "hardware/dummy_lwc/dummy_lwc_w32_ccw32.toml"),
    Public("ascon v1", "ascon/ascon-hardware", "0fcf072", LWC_ASCON.format("v1"), *V12, modes=FULL, devices=DEVICES),
    Public("ascon v2", "ascon/ascon-hardware", "0fcf072", LWC_ASCON.format("v2"), *V12A),
    Public("ascon v4", "ascon/ascon-hardware", "0fcf072", LWC_ASCON.format("v4"), *V12A),
    Public(
        "xoodyak v1", "GMUCERG/Xoodyak", "d940427", "src_rtl/v1", "xoodyakv1", "xoodyakv1",
        package="LWC-1.1.0/hardware/LWC_rtl", modes=FULL,
    ),
    Public(
        "xoodyak v2", "GMUCERG/Xoodyak", "d940427", "src_rtl/v2", "xoodyakv1", "xoodyakv1",
        package="LWC-1.1.0/hardware/LWC_rtl", modes=FULL,
    ),
    Public("tinyjambu v1", "GMUCERG/TinyJAMBU", "2078315", ".", "tinyjambu128", modes=FULL, devices=DEVICES),
    Public("photonbeetle", "GMUCERG/PHOTON-Beetle", "fec4391", "PHOTON-Beetle.toml"),
    Public("gmu ascon v1", "GMUCERG/Ascon", "f36ed3e", ".", "ascon128av12", modes=FULL),
    Public(
        "bluelight Ascon128 x1", "kammoh/bluelight", "4b90d3d", "Ascon/Ascon128_x1.toml", *V12,
        modes=FULL, devices=DEVICES,
    ),
    Public("subterranean", "pmassolino/hw-subterranean", "2485a0a", "verilog_source", *2 * ("subterraneanv1",)),
)  # fmt: skip


# ---- what was measured before


def _rows(text: str, title: str) -> list[list[str]]:
    """The cells of the rows of the first table below a heading."""
    part = text.split(title, 1)[1].split("\n### ", 1)[0] + "\n"
    lines = re.search(r"(?:^\|.*\n)+", part, re.MULTILINE)
    assert lines is not None, title
    return [[c.strip() for c in line.strip("|\n").split("|")] for line in lines[0].splitlines()[2:]]


def _row(rows: Iterable[Sequence[str]], name: str) -> Sequence[str] | None:
    """The row whose first cell begins with a design's name, or with its first word where no row has the whole one."""
    made = {re.sub(r"\s*\(.*", "", r[0]): r for r in rows}
    return made.get(name) or made.get(name.removesuffix(" v1"))


def before(text: str) -> dict[tuple[str, str, str], tuple[str, str]]:
    """Figures of the earlier measurement, with standard deviations, by design, device and figure."""
    found: dict[tuple[str, str, str], tuple[str, str]] = {}
    cycles, ecp5, others = (_rows(text, f"### 3.{n} ") for n in (2, 3, 4))
    for name in (p.name for p in PUBLIC):
        if (row := _row(cycles, name)) is not None:
            for kind, cell in zip(_KINDS, row[1:4], strict=True):
                for size, cycles_ in zip(_SIZES, cell.split("/") if "/" in cell else (), strict=False):
                    found[name, "", f"cycles_{kind}_{size}"] = cycles_.strip(), ""
        if (row := _row(ecp5, name)) is not None:
            found[name, "ecp5", "tables"] = row[1], ""
            found[name, "ecp5", "ff"] = row[3], ""
            mean, _, sd = row[5].partition("±")
            if re.fullmatch(r"[\d.]+ *", mean):
                found[name, "ecp5", "fmax_mean"] = mean.strip(), sd.strip()
        if (row := _row(others, name)) is not None:
            values = [re.match(r"\d+", c) for c in row[1:]]
            for (device, figure), value in zip(
                (
                    ("artix7", "tables"),
                    ("artix7", "packed"),
                    ("artix7", "ff"),
                    ("cyclone10lp", "tables"),
                    ("cyclone10lp", "ff"),
                ),
                values,
                strict=True,
            ):
                assert value is not None
                found[name, device, figure] = value[0], ""
    return {k: v for k, v in found.items() if v[0] not in ("\u2013", "")}


# ---- what names of nets are worth


def renamed(text: str, seed: int) -> str:
    """Verilog of GHDL's whose numbered nets have each other's numbers: the same circuit, in the same order."""
    numbers = sorted({int(n) for n in re.findall(_NET, text)})
    given = dict(zip(numbers, random.Random(seed).sample(numbers, len(numbers)), strict=True))
    return re.sub(_NET, lambda m: f"n{given[int(m[1])]}", text)


def renamings(checkouts: Path, name: str, count: int) -> list[Line]:
    """The tables of ECP5 that a design takes: with the names that GHDL gives its nets, and with ``count`` others."""
    (p,) = (p for p in PUBLIC if p.name == name)
    device, lines = load_device(DEVICES[0]), []
    for seed in range(count + 1):
        with TemporaryDirectory() as at:
            work = Path(at)
            netlist = vhdl.converted(design(p, checkouts), work, [])
            made = netlist.files[0]
            made.write_text(renamed(made.read_text(), seed) if seed else made.read_text())
            tables = synthesis.synthesise(netlist, device, work).types["LUT4"]
        lines.append({"design": name, "names": str(seed), "tables": str(tables)})
    return lines


# ---- what Steelyard says


def design(p: Public, checkouts: Path) -> Design:
    """The design as the product finds it."""
    at = checkouts / p.repository.split("/")[1] / p.path
    if p.package:  # the package that the repository has is another release
        own = checkouts / f"{p.name}-{re.sub('[-.]', '', p.package.split('/')[0])}".lower().replace(" ", "-")
        if not own.exists():
            shutil.copytree(at, own)
            for f in (checkouts / p.package).glob("*.vhd"):
                shutil.copy(f, own)
        at = own
    (found,) = designs_of(at, aead=p.aead, hash=p.hash)
    return settled(found)


def cells(r: Record) -> dict[str, int]:
    """Cells by type, which a note has."""
    (note,) = (n for n in r.notes if n.startswith("cells: "))
    return {kind: int(n) for n, kind in re.findall(r"(\d+) ([\w$]+)", note)}


def of_record(r: Record) -> dict[tuple[str, str], tuple[float, float | None]]:
    """The figures of a record by device and figure, with standard deviations, in the earlier measurement's terms."""
    device, counted = r.setup.target, cells(r)

    def sum_of(pattern: str) -> float:
        return sum(n for kind, n in counted.items() if re.fullmatch(pattern, kind))

    made: dict[tuple[str, str], tuple[float, float | None]] = {
        (device, "tables"): (sum_of(_TABLES[device]), None),
        (device, "ff"): (float(r.metrics["ff"]), None),
    }
    if device == "artix7":
        made[device, "packed"] = sum_of(_PACKED), None
    if "fmax_mean" in r.metrics:
        made[device, "fmax_mean"] = float(r.metrics["fmax_mean"]), float(r.metrics.get("fmax_sd", 0.0))
    for point in r.points:
        kind = "hash" if point.operation == "hash" else "pt" if not point.adlen else "ad" if not point.mlen else ""
        size = point.adlen + point.mlen
        if point.operation != "decrypt" and kind and size in _SIZES:
            made["", f"cycles_{kind}_{size}"] = point.cycles, None
    return made


def weighed(
    checkouts: Path, measured: str, seeds: int, names: Sequence[str]
) -> tuple[list[Line], list[Line], list[Line]]:
    """The lines of the three files, of these designs."""
    earlier = before(measured)
    known = {p.name: design(p, checkouts) for p in PUBLIC if p.name in names}
    bundled = {d.label: d for f in sorted((ROOT / "rtl").glob("*/*/design.toml")) for d in designs_of(f.parent)}
    lines, beside, verdicts = [], [], []
    with Store.open(home() / "results.db") as store:
        engine = Hardware(store)
        for p in (p for p in PUBLIC if p.name in names):
            found = engine.verified(known[p.name], p.modes)
            verdicts.append({"design": p.name, "modes": ", ".join(p.modes), **_verdict(found)})
            jobs = [Job(known[p.name], load_device(n), seeds, modes=p.modes) for n in p.devices]
            records = [] if found.failure else engine.campaign(jobs, lambda *_: None)
            lines += _compared(p.name, earlier, records)
            if p.is_ascon and records:
                beside.append(_beside(p.name, "public", records[0]))
        for r in engine.campaign(
            [Job(bundled[n], load_device(DEVICES[0]), seeds) for n in OURS if n in names], lambda *_: None
        ):
            beside.append(_beside(f"{r.setup.variant}/{r.setup.implementation}", "ours", r))
    return lines, beside, verdicts


def _compared(
    name: str, earlier: Mapping[tuple[str, str, str], tuple[str, str]], records: Sequence[Record]
) -> list[Line]:
    ours: dict[tuple[str, str], tuple[float, float | None]] = {}
    for r in records:
        ours |= of_record(r) if r.ok else {}
    lines = []
    for (design_, device, figure), (value, sd) in earlier.items():
        if design_ == name:
            got, spread = ours.get((device, figure), (None, None))
            line = {"design": name, "device": device, "figure": figure, "before": value, "before_sd": sd}
            line["ours"] = "" if got is None else f"{got:.1f}" if figure == "fmax_mean" else f"{got:.0f}"
            lines.append(line | {"ours_sd": "" if spread is None else f"{spread:.1f}"})
    return lines


def _beside(name: str, whose: str, r: Record) -> Line:
    values = {k: r.metrics[k] for k in BESIDE[2:]}
    whole = ("lut", "ff", "fmax_seeds")
    return {"design": name, "whose": whose} | {k: f"{v:.0f}" if k in whole else f"{v:.4g}" for k, v in values.items()}


def _verdict(v: Verified) -> Line:
    """What verification came to, and what was left out."""
    said = [n for n in v.notes if n.startswith(("a key cannot", "not the whole API", "adapted", "GHDL"))]
    if v.failure:
        return {"outcome": str(v.failure.reason), "detail": "; ".join([v.failure.detail, *said])}
    return {"outcome": "verified", "detail": "; ".join(said)}


# ---- the page


def page_tables(
    lines: Sequence[Line], beside: Sequence[Line], verdicts: Sequence[Line], names: Sequence[Line]
) -> dict[str, str]:
    """The tables of the page by their names."""
    return {
        "cycles": _cycles(lines),
        "cells": _cells(lines),
        "far": _far(lines),
        "names": _names(lines, names),
        "frequency": _frequency(lines),
        "verdicts": _table(("design", "modes", "outcome", "what was said"), [[*v.values()] for v in verdicts]),
        "ascon": _ascon(beside),
        "sources": "\n".join(f"- {p.title}" for p in PUBLIC),
    }


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(["| " + " | ".join(r) + " |" for r in (head, ["---"] * len(head), *rows)])


def _of(lines: Sequence[Line], name: str, device: str, figure: str) -> Line | None:
    return next((x for x in lines if (x["design"], x["device"], x["figure"]) == (name, device, figure)), None)


def _cycles(lines: Sequence[Line]) -> str:
    rows = []
    for p in PUBLIC:
        row = [p.name]
        for kind in _KINDS:
            found = [x for s in _SIZES if (x := _of(lines, p.name, "", f"cycles_{kind}_{s}"))]
            row += ["/".join(x["before"] for x in found) or "-", "/".join(x["ours"] or "-" for x in found) or "-"]
        rows.append(row)
    head = ["design", *(w for k in ("plaintext", "AD", "hash") for w in (f"{k} before", "ours"))]
    return _table(head, rows)


def _cells(lines: Sequence[Line]) -> str:
    rows = []
    for x in lines:
        if x["figure"] in CELLS:
            ratio = f"{apart(x):+.1f} %" if x["ours"] else "-"
            rows.append([x["design"], x["device"], x["figure"], x["before"], x["ours"] or "-", ratio])
    return _table(("design", "device", "figure", "before", "ours", "difference"), rows)


def apart(x: Line) -> float:
    """Percent by which our figure is larger than the one before."""
    return 100 * float(x["ours"]) / float(x["before"]) - 100


def _far(lines: Sequence[Line]) -> str:
    """How many cells are further apart than they should be."""
    counted = [x for x in lines if x["figure"] in CELLS and x["ours"]]
    far = [x for x in counted if abs(apart(x)) > AIM]
    named = ", ".join(dict.fromkeys(x["design"] for x in far))
    most = max((abs(apart(x)) for x in far), default=0.0)
    said = f" They are of {named}, up to {most:.1f} %." if far else ""
    return f"{len(far)} of {len(counted)} figures are more than {AIM:.0f} % apart.{said}"


def _names(lines: Sequence[Line], names: Sequence[Line]) -> str:
    rows = []
    for name in dict.fromkeys(x["design"] for x in names):
        first, *others = (int(x["tables"]) for x in names if x["design"] == name)
        found = _of(lines, name, DEVICES[0], "tables")
        spread = f"{min(others)} to {max(others)}", f"{100 * max(first, *others) / min(first, *others) - 100:.1f} %"
        rows.append([name, found["before"] if found else "-", str(first), str(len(others)), *spread])
    return _table(
        ("design", "before", "GHDL's names", "other names", "tables with those", "largest over smallest"), rows
    )


def _frequency(lines: Sequence[Line]) -> str:
    rows = []
    for x in (x for x in lines if x["figure"] == "fmax_mean"):
        spread = max(float(x["before_sd"] or 0), float(x["ours_sd"] or 0))
        away = f"{(float(x['ours']) - float(x['before'])) / spread:+.1f}" if x["ours"] and spread else "-"
        rows.append([x["design"], x["before"], x["before_sd"] or "-", x["ours"] or "-", x["ours_sd"] or "-", away])
    return _table(("design", "MHz before", "sd", "ours", "sd", "difference in sd"), rows)


def _ascon(beside: Sequence[Line]) -> str:
    head = (
        "design",
        "whose",
        "LUT4",
        "FF",
        "MHz",
        "sd",
        "seeds",
        "bits/cycle",
        "Mbit/s long",
        "Mbit/s 64 B",
        "Mbit/s per LUT",
    )
    return _table(head, [[x[c] for c in BESIDE] for x in sorted(beside, key=lambda x: -float(x["throughput_pt_long"]))])


def written(text: str, tables: Mapping[str, str]) -> str:
    """The page with these tables in their places."""
    for name, table in tables.items():
        begin = f"<!-- {name} -->\n"
        first, rest = text.split(begin, 1)
        text = f"{first}{begin}\n{table}\n\n<!-- end -->{rest.split('<!-- end -->', 1)[1]}"
    return text


def read(file: Path) -> list[Line]:
    """The lines of a csv file."""
    with file.open(newline="") as f:
        return list(csv.DictReader(f))


def _ordered(lines: Sequence[Line]) -> list[Line]:
    """The lines in the order of ``PUBLIC`` and ``OURS``."""
    order = [*(p.name for p in PUBLIC), *OURS]
    return sorted(lines, key=lambda x: order.index(x["design"]))


def _write(file: Path, columns: Sequence[str], lines: Iterable[Line]) -> None:
    with file.open("w", newline="") as f:
        writer = csv.DictWriter(f, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def main() -> None:
    """See the module."""
    if sys.argv[2:3] == ["names"]:
        made_anew = [x for n in sys.argv[4:] for x in renamings(Path(sys.argv[1]), n, int(sys.argv[3]))]
        kept = [x for x in read(RENAMED) if x["design"] not in sys.argv[4:]] if RENAMED.exists() else []
        _write(RENAMED, ("design", "names", "tables"), _ordered([*kept, *made_anew]))
    elif len(sys.argv) > 1:
        checkouts, measured = Path(sys.argv[1]), Path(sys.argv[2]).read_text()
        names = sys.argv[4:] or [*(p.name for p in PUBLIC), *OURS]
        made = weighed(checkouts, measured, int(sys.argv[3]), names)
        heads = (COLUMNS, BESIDE, ("design", "modes", "outcome", "detail"))
        for file, columns, lines in zip((TABLE, ASCON, VERDICTS), heads, made, strict=True):
            kept = [x for x in read(file) if x["design"] not in names] if file.exists() else []
            _write(file, columns, _ordered([*kept, *lines]))
    PAGE.write_text(written(PAGE.read_text(), page_tables(read(TABLE), read(ASCON), read(VERDICTS), read(RENAMED))))


if __name__ == "__main__":
    main()
