"""Compares the first FELICS's published figures of block ciphers with runs over its sources.

usage: scripts/felics_blocks.py RUNS.json... ROWS.csv[.xz]   rewrites docs/validation/felics-blocks.csv and the page
       scripts/felics_blocks.py                              rewrites the page's table from the csv file

RUNS.json is what ``steelyard run TREE -w felics-block-0 -t TARGET... --flags=-O3 ... --json`` printed. ROWS.csv has
FELICS's rows: arch, scenario, cipher, block_bits, key_bits, version, language, options and its figures.
"""

from __future__ import annotations

import csv
import lzma
import math
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from steelyard.analyse import files
from steelyard.model.target import load_target, target_names
from steelyard.sources.spelling import bundled_block

PLACE = Path(__file__).parents[1] / "docs" / "validation"
PAGE, TABLE = PLACE / "felics-blocks.md", PLACE / "felics-blocks.csv"
BLOCK = re.compile(r"(<!-- agreement -->\n).*?(<!-- end -->)", re.DOTALL)
PARTS = ("eks", "e", "dks", "d")
#: what is compared, and the figures that it is made of
GROUPS = {
    "code": tuple(f"code_{p}" for p in (*PARTS, "total")),
    "stack": tuple(f"stack_{p}" for p in PARTS),
    "data": ("data_total",),
    "cycles": tuple(f"cycles_{p}" for p in PARTS),
}
#: those of a scenario with a mode of operation: FELICS's mode, which is another, is in its figures of e and d
_SCHEDULES = {group: tuple(n for n in names if n.endswith(("_eks", "_dks"))) for group, names in GROUPS.items()}
OF_SCENARIO = {"0": GROUPS, "1": {**_SCHEDULES, "data": GROUPS["data"]}}
FIGURES = tuple(n for names in GROUPS.values() for n in names)
COLUMNS = ("scenario", "target", "compiler", "cipher", "version", "language", "options", "outcome")
Line = dict[str, Any]


def compared(runs: Iterable[Path], published: Path) -> list[Line]:
    """One line for each published row of a target and scenario of the runs, with our figures where there are any."""
    records = [record for file in runs for record in files.records(file, files.load(file))]
    ours = {(r.setup.target, r.setup.workload.split()[0], r.setup.label, r.setup.flags): r for r in records}
    made = {(target, workload, flags) for target, workload, _, flags in ours}
    targets = {t.felics: t.name for t in map(load_target, target_names()) if t.felics}
    lines = []
    with (lzma.open if published.suffix == ".xz" else open)(published, "rt", newline="") as f:
        for row in csv.DictReader(f):
            target, workload = targets.get(row["arch"], ""), f"felics-block-{row['scenario']}"
            if (target, workload, row["options"]) not in made:
                continue
            name = f"{row['cipher']}_{row['block_bits']}_{row['key_bits']}"
            variant = bundled_block(row["cipher"], int(row["block_bits"]), int(row["key_bits"])) or name
            record = ours.get((target, workload, f"{variant}/{row['version']}", row["options"]))
            verified = record is not None and record.ok
            line: Line = {
                "scenario": row["scenario"],
                "target": target,
                "compiler": record.setup.toolchain.version if record else "",
                "cipher": name,
                "version": row["version"],
                "language": row["language"],
                "options": row["options"],
                "outcome": "not run" if record is None else "verified" if verified else record.failure.reason,  # type: ignore[union-attr]
            }
            for figure in FIGURES:
                mine = record.metrics.get(f"felics_{figure}") if record else None
                line[figure] = row[figure]
                line[f"ours_{figure}"] = "" if mine is None else round(mine)
            lines.append(line)
    return lines


def write(lines: Sequence[Line]) -> None:
    """Writes the csv file."""
    with TABLE.open("w", newline="") as f:
        out = csv.DictWriter(f, [*COLUMNS, *(f"{p}{n}" for n in FIGURES for p in ("", "ours_"))], lineterminator="\n")
        out.writeheader()
        out.writerows(lines)


def read() -> list[Line]:
    """The lines of the csv file."""
    with TABLE.open(newline="") as f:
        return list(csv.DictReader(f))


def pairs(line: Line, group: str) -> list[tuple[int, int]]:
    """Our figures of a group with those that were published; none where there are none."""
    names = OF_SCENARIO[line["scenario"]][group] if line["outcome"] == "verified" else ()
    return [(int(line[f"ours_{n}"]), int(line[n])) for n in names if line[f"ours_{n}"] != "" and line[n] != ""]


def equal(line: Line, group: str) -> bool:
    """Whether all figures of a group are those that were published."""
    return all(mine == theirs for mine, theirs in pairs(line, group))


def error(line: Line, group: str) -> float:
    """By how many percent the sums of a group's figures differ."""
    found = pairs(line, group)
    mine, theirs = sum(a for a, _ in found), sum(b for _, b in found)
    return 100 * abs(mine - theirs) / theirs if theirs else (math.inf if mine else 0.0)


def table(lines: Sequence[Line]) -> str:
    """The page's table: for each target and scenario the number of equal rows, and the errors of the others."""
    text = "| target | scenario | figures | published | compared | equal | error median / p95 / max |\n"
    text += "|---|---|---|---|---|---|---|\n"
    for target, scenario in sorted({(line["target"], line["scenario"]) for line in lines}):
        rows = [line for line in lines if (line["target"], line["scenario"]) == (target, scenario)]
        for group in GROUPS:
            having = [line for line in rows if pairs(line, group)]
            same = sum(equal(line, group) for line in having)
            spread = " / ".join(f"{e:.3g}" for e in _distribution([error(line, group) for line in having])) + " %"
            title = f"`{target}` ({load_target(target).felics})"
            text += f"| {title} | {scenario} | {group} | {len(rows)} | {len(having)} | {same} | {spread} |\n"
    return text


def _distribution(values: Iterable[float]) -> tuple[float, float, float]:
    errors = sorted(values)
    if not errors:
        return 0.0, 0.0, 0.0
    return median(errors), errors[math.ceil(0.95 * len(errors)) - 1], errors[-1]


def filled(page: str, lines: Sequence[Line]) -> str:
    """The page with its table updated."""
    return BLOCK.sub(lambda m: f"{m[1]}\n{table(lines)}\n{m[2]}", page)


def main() -> int:
    """Runs the script; returns its exit code."""
    if len(sys.argv) > 2:
        *runs, published = map(Path, sys.argv[1:])
        write(compared(runs, published))
    elif len(sys.argv) == 2:
        print(__doc__)
        return 2
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
