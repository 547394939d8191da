"""The tables of docs/validation that are made of rows and of sensitivities."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, get_type_hints

from fidelity_rows import Row, counted, groups, held_out, of_assembly, read, spread

PLACE = Path(__file__).parents[1] / "docs" / "validation"
PAGE = PLACE / "fidelity.md"
SENSITIVITY = PLACE / "sensitivity.csv"
BLOCK = re.compile(r"(<!-- (errors|aims|sensitivity): ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
#: what the errors of a target's counted rows are to be at most, percent: median, 95th percentile
AIMS = {"due": (1.0, 4.0), "esp8266-flash": (2.0, 8.0), "mkrzero": (1.0, 4.0), "nrf52840": (0.7, 3.0)}


def table(rows: Sequence[Row]) -> str:
    """How the errors of counted rows are distributed, by target and family, in Markdown."""
    held = held_out([counted(rows)])
    lines = ["| target | code | family | values | bias | median / p95 / max |", "|---|---|---|---|---|---|"]
    for target in sorted({r.target for r, _ in held}):
        own = [(r, e) for r, e in held if r.target == target]
        kind = of_assembly(own[0][0])
        of = {"all": [e for _, e in own]} | {f: e for (_, f), e in sorted(groups(own, "submission").items())}
        for family, errors in of.items():
            s = spread(errors)
            shown = f"{s.median:.2f} / {s.p95:.1f} / {s.most:.1f}"
            lines.append(f"| {target} | {kind} | {family} | {s.values} | {s.bias:+.2f} | {shown} |")
    return "\n".join(lines) + "\n"


def aims(rows: Sequence[Row]) -> str:
    """What is reached of the aims, in Markdown."""
    lines = ["| target | aim, median / p95 | now | median | p95 |", "|---|---|---|---|---|"]
    for target, aim in sorted(AIMS.items()):
        s = spread(e for _, e in held_out([counted([r for r in rows if r.target == target])]))
        here = ((s.median, aim[0], 2), (s.p95, aim[1], 1))
        said = ["reached" if value <= most else f"missed by {value - most:.{d}f}" for value, most, d in here]
        shown = f"{s.median:.2f} / {s.p95:.1f}"
        lines.append(f"| {target} | {aim[0]:g} / {aim[1]:g} | {shown} | {said[0]} | {said[1]} |")
    return "\n".join(lines) + "\n"


class Change(NamedTuple):
    """How the errors of some rows on held-out families are distributed where one number is another."""

    target: str
    model: str
    rows: str
    number: str
    value: int
    changed: int
    values: int
    bias: float
    median: float
    p95: float
    most: float


def known() -> list[Change]:
    """The sensitivities that were weighed."""
    types = get_type_hints(Change)
    with SENSITIVITY.open(newline="") as f:
        return [Change(*(types[n](line[n]) for n in Change._fields)) for line in csv.DictReader(f)]


def sensitivities(target: str, changes: Sequence[Change]) -> str:
    """How much the errors of a target depend on each number of its flash timing, in Markdown."""
    lines = ["| number | bias | median / p95 / max |", "|---|---|---|"]
    for c in changes:
        if c.target == target:
            said = f"`{c.number}` {c.value} -> {c.changed}" if c.number else f"none ({c.model}, {c.values} values)"
            lines.append(f"| {said} | {c.bias:+.2f} | {c.median:.2f} / {c.p95:.1f} / {c.most:.1f} |")
    return "\n".join(lines) + "\n"


def filled(page: str) -> str:
    """A page with its tables made anew."""

    def made(block: re.Match[str]) -> str:
        kind, name = block[2], block[3]
        if kind == "sensitivity":
            return f"{block[1]}{sensitivities(name, known())}{block[4]}"
        rows = read(PLACE / f"{name}.csv")
        return f"{block[1]}{aims(rows) if kind == 'aims' else table(rows)}{block[4]}"

    return BLOCK.sub(made, page)


def keep(changes: Sequence[Change]) -> None:
    """Puts the sensitivities of a target in the place of those that are known of it."""
    of = {c.target for c in changes}
    there: list[Change] = [c for c in known() if c.target not in of] if SENSITIVITY.exists() else []
    with SENSITIVITY.open("w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(Change._fields)
        out.writerows(sorted([*there, *changes]))
