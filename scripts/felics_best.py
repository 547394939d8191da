"""Compares our block ciphers with the best that the first FELICS published for them, in its scenario 0.

usage: scripts/felics_best.py RUNS.json FELICS.csv    rewrites docs/validation/felics-block-best.csv and the page
       scripts/felics_best.py                         rewrites the page's tables from the csv file

RUNS.json is what ``steelyard run VARIANT... -t atmega128,due -w felics-block-0 --flags=-O3 --flags=-Os --json``
printed. FELICS.csv has a line for each of its implementations, options and scenarios: code in bytes, cycles, and what
they are of.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from steelyard.analyse import files
from steelyard.model.record import Record
from steelyard.model.target import load_target, target_names

PLACE = Path(__file__).parents[1] / "docs" / "validation"
PAGE, TABLE = PLACE / "felics-block-best.md", PLACE / "felics-block-best.csv"
BLOCK = re.compile(r"(<!-- best -->\n).*?(<!-- end -->)", re.DOTALL)
#: FELICS's names of our targets' architectures, of those that it published block ciphers for with compilers like ours
ARCHITECTURES = {t.name: t.felics for t in map(load_target, target_names()) if t.felics in ("AVR", "ARM")}
BESTS = ("fastest", "smallest")
FIGURES = ("cycles", "bytes")
COLUMNS = (
    "target",
    "variant",
    "best",
    "felics",
    "cycles",
    "bytes",
    "ours",
    "ours_cycles",
    "ours_bytes",
    "compiler",
    "model",
)
Line = dict[str, str]


def variant(row: Line, ours: set[str]) -> str | None:
    """Our variant of a row's cipher and sizes; nothing where there is none."""
    name = row["cipher"].lower()
    names = (name + row["block_bits"] + row["key_bits"], name + row["key_bits"], name)
    return next((n for n in names if n in ours), None)


def published(rows: Sequence[Line], ours: set[str]) -> dict[tuple[str, str], list[Line]]:
    """FELICS's rows of scenario 0 by target and variant: name, cycles of encryption and its schedule, bytes of code."""
    found: dict[tuple[str, str], list[Line]] = {}
    for row in rows:
        name = variant(row, ours)
        # what was not measured is empty or 0; a key schedule can take nothing
        measured = all(int(row[f] or 0) for f in ("code_total", "cycles_e", "cycles_d")) and row["cycles_eks"]
        for target, architecture in ARCHITECTURES.items():
            if name and measured and row["arch"] == architecture and row["scenario"] == "0":
                line = {"name": f"v{row['version']} ({row['language']}) {row['options']}", "bytes": row["code_total"]}
                line["cycles"] = str(int(row["cycles_eks"]) + int(row["cycles_e"]))
                found.setdefault((target, name), []).append(line)
    return found


def measured(records: Sequence[Record]) -> dict[tuple[str, str], list[Line]]:
    """The same of our verified records."""
    found: dict[tuple[str, str], list[Line]] = {}
    for r in records:
        block = r.setup.primitive == "crypto_block" and r.setup.variant != "nocrypt"  # which has no scenario's figures
        if r.ok and block and r.setup.target in ARCHITECTURES:
            cycles = r.metrics["felics_cycles_eks"] + r.metrics["felics_cycles_e"]
            line = {"name": f"{r.setup.implementation} {r.setup.flags}", "compiler": r.setup.toolchain.version}
            line["model"] = r.setup.timing_model
            line |= {"cycles": str(round(cycles)), "bytes": str(round(r.metrics["felics_code_total"]))}
            found.setdefault((r.setup.target, r.setup.variant), []).append(line)
    return found


def compared(records: Sequence[Record], rows: Sequence[Line]) -> list[Line]:
    """Two lines for each target and variant of both: FELICS's fastest and smallest row beside ours."""
    ours = measured(records)
    theirs = published(rows, {name for _, name in ours})
    lines = []
    for target, name in sorted(theirs.keys() & ours.keys()):
        for best in BESTS:
            a = _best(theirs[target, name], best)
            line = {"target": target, "variant": name, "best": best}
            line |= {"felics": a["name"], "cycles": a["cycles"], "bytes": a["bytes"]}
            lines.append(line | _ours(ours[target, name], best))
    return lines


def weighed(records: Sequence[Record], lines: Sequence[Line]) -> list[Line]:
    """The lines of those that these records have, with their figures in place of ours."""
    ours = measured(records)
    return [n | _ours(ours[at], n["best"]) for n in lines if (at := (n["target"], n["variant"])) in ours]


def _best(lines: Sequence[Line], best: str) -> Line:
    figure, other = FIGURES if best == BESTS[0] else FIGURES[::-1]
    return min(lines, key=lambda x: (int(x[figure]), int(x[other]), x["name"]))


def _ours(lines: Sequence[Line], best: str) -> Line:
    b = _best(lines, best)
    return {"ours": b["name"], "ours_cycles": b["cycles"], "ours_bytes": b["bytes"]} | {
        k: b[k] for k in ("compiler", "model")
    }


def families(lines: Sequence[Line]) -> dict[str, bool]:
    """Of each family whether a variant of it is as fast or as small somewhere."""
    found: dict[str, bool] = {}
    for line in lines:
        name = line["variant"].rstrip("0123456789")
        found[name] = found.get(name, False) or ratio(line) <= 100
    return found


def read(path: Path = TABLE) -> list[Line]:
    """The lines of a csv file."""
    with path.open(newline="") as f:
        return list(csv.DictReader(f))


def write(lines: Sequence[Line]) -> None:
    """Writes the csv file."""
    with TABLE.open("w", newline="") as f:
        out = csv.DictWriter(f, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(lines)


def ratio(line: Line) -> float:
    """Ours in percent of FELICS's, of what the line is the best of."""
    figure = FIGURES[BESTS.index(line["best"])]
    return 100 * int(line[f"ours_{figure}"]) / int(line[figure])


def table(lines: Sequence[Line]) -> str:
    """The page's tables, and how many variants are at least as fast, or as small."""
    text = ""
    for target, architecture in ARCHITECTURES.items():
        here = [line for line in lines if line["target"] == target]
        text += f"### {architecture}: `{target}`, {here[0]['compiler']}\n\n"
        columns = ["variant"]
        for best, figure in zip(BESTS, FIGURES, strict=True):
            columns += [f"FELICS's {best}", figure, "ours", figure, "%"]
        text += f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"
        for name in sorted({line["variant"] for line in here}):
            cells = [name]
            for line in (line for best in BESTS for line in here if (line["variant"], line["best"]) == (name, best)):
                figure = FIGURES[BESTS.index(line["best"])]
                cells += [line["felics"], line[figure], line["ours"], line[f"ours_{figure}"], f"{ratio(line):.0f}"]
            text += f"| {' | '.join(cells)} |\n"
        counts = [sum(ratio(line) <= 100 for line in here if line["best"] == best) for best in BESTS]
        either = len({line["variant"] for line in here if ratio(line) <= 100})
        text += f"\nOf {len(here) // 2} variants {counts[0]} are at least as fast, {counts[1]} at least as small, "
        text += f"{either} one of both.\n\n"
    names, every = {line["variant"] for line in lines}, families(lines)
    either = len({line["variant"] for line in lines if ratio(line) <= 100})
    text += f"On one target or the other {either} of {len(names)} variants are as fast or as small, "
    return text + f"of {sum(every.values())} of {len(every)} families.\n"


def filled(page: str, lines: Sequence[Line]) -> str:
    """The page with its tables updated."""
    return BLOCK.sub(lambda m: f"{m[1]}\n{table(lines)}\n{m[2]}", page)


def main() -> int:
    """Runs the script; returns its exit code."""
    if len(sys.argv) == 3:
        runs = Path(sys.argv[1])
        write(compared(files.records(runs, files.load(runs)), read(Path(sys.argv[2]))))
    elif len(sys.argv) != 1:
        print(__doc__)
        return 2
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
