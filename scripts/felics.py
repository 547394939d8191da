"""Compares FELICS-AE's published figures with a run over its sources.

usage: scripts/felics.py RUNS.json RESULTS.json...    rewrites docs/validation/felics-ae.csv and the page's table
       scripts/felics.py                              rewrites the table from the csv file

RUNS.json is what ``steelyard run TREE -w felics-ae -t TARGET... --flags=-O3 --flags=-Os --json`` printed.
"""

from __future__ import annotations

import csv
import math
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from steelyard.analyse import files
from steelyard.model.target import load_target
from steelyard.publish import felics

PLACE = Path(__file__).parents[1] / "docs" / "validation"
PAGE, TABLE = PLACE / "felics-ae.md", PLACE / "felics-ae.csv"
BLOCK = re.compile(r"(<!-- agreement -->\n).*?(<!-- end -->)", re.DOTALL)
FIGURES = ("code_size", "code_ram", "code_time")
COLUMNS = ("file", "target", "compiler", "cipher", "version", "options", "outcome", "model")
Line = dict[str, Any]


def compared(runs: Path, results: Iterable[Path]) -> list[Line]:
    """One line for each published row on a target of the run, with our figures where there are any."""
    ours = {
        (r.setup.target, r.setup.label, r.setup.flags): r for r in files.records(runs, files.load(runs)) if r.origin
    }
    targets = {target for target, _, _ in ours}
    lines = []
    for file in results:
        for row in felics.rows(file, files.load(file)):
            if row["target"] not in targets:
                continue
            record = ours.get((str(row["target"]), str(row["label"]), str(row["flags"])))
            line: Line = {
                "file": file.name,
                "target": row["target"],
                "compiler": record.setup.toolchain.version if record else "",
                "cipher": row["variant"],
                "version": row["implementation"],
                "options": row["flags"],
                "outcome": "not run" if record is None else "verified" if record.ok else record.failure.reason,  # type: ignore[union-attr]
                "model": record.setup.timing_model if record else "",
            }
            for name in FIGURES:
                mine = record.metrics.get(felics.FIGURES[name]) if record else None
                line[name] = row[felics.FIGURES[name]]
                line[f"ours_{name}"] = "" if mine is None else round(mine)
            lines.append(line)
    return lines


def write(lines: Sequence[Line]) -> None:
    """Writes the csv file."""
    names = [*COLUMNS, *(f"{p}{n}" for n in FIGURES for p in ("", "ours_"))]
    with TABLE.open("w", newline="") as f:
        out = csv.DictWriter(f, names, lineterminator="\n")
        out.writeheader()
        out.writerows(lines)


def read() -> list[Line]:
    """The lines of the csv file."""
    with TABLE.open(newline="") as f:
        return list(csv.DictReader(f))


def table(lines: Sequence[Line]) -> str:
    """The page's table: for each target the number of equal rows, and the errors of the others."""
    text = "| target | built with | figure | published | compared | equal | error median / p95 / max |\n"
    text += "|---|---|---|---|---|---|---|\n"
    for target in sorted({line["target"] for line in lines}):
        rows = [line for line in lines if line["target"] == target]
        made = next((line["compiler"] for line in rows if line["compiler"]), "-")
        for name in FIGURES:
            pairs = [(int(line[f"ours_{name}"]), int(line[name])) for line in rows if line[f"ours_{name}"] != ""]
            errors = sorted(100 * abs(a - b) / b for a, b in pairs)
            equal = sum(a == b for a, b in pairs)
            spread = " / ".join(f"{e:.3g}" for e in _distribution(errors)) + " %"
            title = f"`{target}` ({load_target(target).felics})"
            text += f"| {title} | {made} | {name} | {len(rows)} | {len(pairs)} | {equal} | {spread} |\n"
    return text


def _distribution(errors: Sequence[float]) -> tuple[float, float, float]:
    if not errors:
        return 0.0, 0.0, 0.0
    return median(errors), errors[math.ceil(0.95 * len(errors)) - 1], errors[-1]


def filled(page: str, lines: Sequence[Line]) -> str:
    """The page with its table updated."""
    return BLOCK.sub(lambda m: f"{m[1]}\n{table(lines)}\n{m[2]}", page)


def main() -> int:
    """Runs the script; returns its exit code."""
    if len(sys.argv) > 2:
        write(compared(Path(sys.argv[1]), map(Path, sys.argv[2:])))
    elif len(sys.argv) == 2:
        print(__doc__)
        return 2
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
