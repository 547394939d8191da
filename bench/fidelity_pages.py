"""The tables of docs/validation that are made of rows and of sensitivities, and of assembly without wait states."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from statistics import fmean, median
from typing import NamedTuple, get_type_hints

from fidelity_rows import (
    CALLING,
    COUNTED,
    KINDS,
    PLACE,
    Row,
    choices,
    counted,
    fits,
    groups,
    held_out,
    is_fitted,
    of_assembly,
    read,
    spread,
    unseen,
)

PAGE = PLACE / "fidelity.md"
SENSITIVITY = PLACE / "sensitivity.csv"
ZERO_WAIT = PLACE / "arm-zero-wait.csv"
LITERALS = PLACE / "esp8266-literals.csv"
BLOCK = re.compile(
    r"(<!-- (errors|aims|fitted|limits|literals|mixed|sensitivity|wide|zero-wait): ([\w-]+) -->\n).*?(<!-- end -->)",
    re.DOTALL,
)
#: what the errors of a target's counted rows are to be at most, percent: median, 95th percentile
AIMS = {
    "due": (1.0, 4.0),
    "esp8266-flash": (2.0, 8.0),
    "mkrzero": (1.0, 4.0),
    "nano-every": (0.028, 0.39),
    "nrf52840": (0.7, 3.0),
    "uno": (0.023, 0.37),
}
#: what the median error of assembly without tables in flash is to be at most on each core without wait states, percent
ZERO_WAIT_AIM = 0.3
#: the model as it is, among other rules
TODAY = "today's"
#: code that others compiled, by their own figures
BINARY = "compiled, exact binary"
#: percent by which rules have to differ, or the few cycles that published figures have besides decide
APART = 0.005
#: the rules by which wide instructions never wait
NO_WAIT = "no wait"
#: files of rows, by what the page calls them
FILES = {"fidelity": "now", "fidelity-compiled": "compiled code", "fidelity-before": "before"}
#: cycles of a board's call that are tried beyond the limit
MANY = 800


def table(rows: Sequence[Row]) -> str:
    """How the errors of counted rows are distributed, by target and family, in Markdown. A family with a star is one
    that numbers of the model were fitted to."""
    held = held_out([counted(rows)])
    lines = ["| target | code | family | values | bias | median / p95 / max |", "|---|---|---|---|---|---|"]
    for target in sorted({r.target for r, _ in held}):
        own = [(r, e) for r, e in held if r.target == target]
        kind = of_assembly(own[0][0])
        fitted = {r.family for r, _ in own if is_fitted(r)}
        of = {"all held out" if fitted else "all": [e for _, e in unseen(own)]}
        of |= {f"{f}*" if f in fitted else f: e for (_, f), e in sorted(groups(own, "submission").items())}
        for family, errors in of.items():
            s = spread(errors)
            shown = f"{s.median:.2f} / {s.p95:.1f} / {s.most:.1f}"
            lines.append(f"| {target} | {kind} | {family} | {s.values} | {s.bias:+.2f} | {shown} |")
    return "\n".join(lines) + "\n"


def aims(rows: Sequence[Row]) -> str:
    """What is reached of the aims, in Markdown."""
    lines = ["| target | aim, median / p95 | now | median | p95 |", "|---|---|---|---|---|"]
    there = {r.target for r in rows}
    for target, aim in sorted(AIMS.items()):
        if target not in there:
            continue
        s = spread(e for _, e in unseen(held_out([counted([r for r in rows if r.target == target])])))
        here = ((s.median, aim[0], 2 if aim[0] > 0.1 else 3), (s.p95, aim[1], 1 if aim[1] > 1 else 2))
        said = ["reached" if value <= most else f"missed by {value - most:.{d}f}" for value, most, d in here]
        shown = " / ".join(f"{value:.{d}f}" for value, _, d in here)
        lines.append(f"| {target} | {aim[0]:g} / {aim[1]:g} | {shown} | {said[0]} | {said[1]} |")
    lines += zero_wait_aims()
    return "\n".join(lines) + "\n"


def fitted() -> str:
    """Which families the numbers of each target were fitted to, in Markdown."""
    lines = ["| target | numbers | fitted to | page |", "|---|---|---|---|"]
    for fit in fits():
        lines.append(f"| {fit.target} | {fit.numbers} | {' '.join(fit.families)} | [{fit.page}]({fit.page}) |")
    return "\n".join(lines) + "\n"


def limits() -> str:
    """Families for which the others choose the limit of the cycles of a board's call, and their errors with a higher
    one. A family with a star is one that numbers of the model were fitted to."""
    limit = max(CALLING)
    heads = ("table", "target", "code", f"families with {limit}", "median / p95", f"up to {MANY}")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, said in FILES.items():
        rows = [r for r in read(PLACE / f"{name}.csv") if r.target not in COUNTED]
        bound = {held for held, choice in choices([rows]).items() if choice.calling == limit}
        for target, kind in sorted({(target, kind) for target, kind, _ in bound}):
            own, shown = [r for r in rows if r.target == target], []
            families = {f for *of, f in bound if of == [target, kind]}
            for calling in (CALLING, range(0, MANY + 1, CALLING.step)):
                s = spread(e for r, e in held_out([own], calling) if of_assembly(r) == kind and r.family in families)
                shown.append(f"{s.median:.2f} / {s.p95:.1f}")
            names = " ".join(sorted({f"{r.family}{'*' * is_fitted(r)}" for r in own if r.family in families}))
            lines.append(f"| {said} | {target} | {kind} | {names} | {shown[0]} | {shown[1]} |")
    return "\n".join(lines) + "\n"


def mixed() -> str:
    """The errors of rows that are neither mostly assembly nor compiled, which no other table counts, in Markdown."""
    rows = read(PLACE / "fidelity.csv")
    lines = ["| target | builds | rows | bias | median / p95 / max |", "|---|---|---|---|---|"]
    for target in sorted({r.target for r in rows if of_assembly(r) == KINDS[1]}):
        held = held_out([[r for r in rows if r.target == target]])
        own = [(r, e) for r, e in held if of_assembly(r) == KINDS[1]]
        builds, s = {r.of[:5] for r, _ in own}, spread(e for _, e in own)
        shown = f"{s.median:.2f} / {s.p95:.1f} / {s.most:.1f}"
        lines.append(f"| {target} | {len(builds)} | {s.values} | {s.bias:+.2f} | {shown} |")
    return "\n".join(lines) + "\n"


def literals() -> str:
    """The cycles by which published calls are longer than those of code and literals in RAM, for each literal that they
    load, in Markdown."""
    rows = {r.of[2:]: r.published - r.cycles for r in read(PLACE / "fidelity-before.csv") if r.target == "esp8266"}
    each: dict[str, list[str]] = {}
    with LITERALS.open(newline="") as f:
        for line in csv.DictReader(f):
            of = (line["variant"], line["implementation"], line["level"], int(line["adlen"]), int(line["mlen"]))
            name = f"{line['variant']} `{line['implementation']}`"
            each.setdefault(name, []).append(f"{rows[of] / int(line['l32r']):.2f}")
    lines = ["| package | O1 | O2 | O3 | Os |", "|---|---|---|---|---|"]
    lines += [f"| {name} | {' | '.join(some)} |" for name, some in each.items()]
    return "\n".join(lines) + "\n"


class ZeroWait(NamedTuple):
    """Assembly on a core without wait states: cycles that were published, and those by some rules."""

    rules: str
    model: str
    core: str
    repository: str
    code: str
    tables_in_flash: str
    published: float
    cycles: float

    @property
    def error(self) -> float:
        """Simulated minus published, percent."""
        return 100 * (self.cycles / self.published - 1)

    @property
    def kind(self) -> str:
        """What is held out together."""
        if self.code.startswith(BINARY):
            return BINARY
        if self.tables_in_flash == "yes":
            return f"AES with tables in flash, {self.core[-2:].upper()}"
        return next(w for w in ("fixsliced", "barrel shiftrows", "bitsliced", "X25519") if w in self.code)


def zero_waits() -> list[ZeroWait]:
    """The rows that are known."""
    types = get_type_hints(ZeroWait)
    with ZERO_WAIT.open(newline="") as f:
        return [ZeroWait(*(types[n](line[n]) for n in ZeroWait._fields)) for line in csv.DictReader(f)]


def put_zero_waits(rows: Sequence[ZeroWait]) -> None:
    """Puts rows in the place of those by the same rules."""
    rules = {r.rules for r in rows}
    there = [r for r in zero_waits() if r.rules not in rules] if ZERO_WAIT.exists() else []
    every = sorted([*rows, *there], key=lambda r: r.rules != TODAY)
    with ZERO_WAIT.open("w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(ZeroWait._fields)
        out.writerows(every)


def chosen(rows: Sequence[ZeroWait], kind: str) -> list[str]:
    """The rules with the smallest mean error over the other kinds of code that choose: more than one where these do not
    tell them apart, which takes more than :data:`APART`. Rules that were not weighed on a kind are held against the
    first ones on the others."""

    def errors(rules: str) -> dict[str, float]:
        sizes: dict[str, list[float]] = {}
        for r in rows:
            if r.rules == rules and chooses(r) and r.kind != kind:
                sizes.setdefault(r.kind, []).append(abs(r.error))
        return {of: median(some) for of, some in sizes.items()}

    every = {rules: errors(rules) for rules in dict.fromkeys(r.rules for r in rows)}
    first = next(iter(every.values()))
    scores = {rules: fmean(error - first[of] for of, error in own.items()) for rules, own in every.items()}
    return [rules for rules, score in scores.items() if score <= min(scores.values()) + APART]


def chooses(row: ZeroWait) -> bool:
    """Whether a row has a say in what rules other kinds of code get: tables in flash wait as no rule here does, but the
    binary hardly reads any."""
    return row.tables_in_flash == "no" or row.kind == BINARY


def zero_wait(rows: Sequence[ZeroWait]) -> str:
    """Errors by kind of code, and by other rules, in Markdown."""
    every = dict.fromkeys(r.rules for r in rows)
    lines = [f"| code | rows | {' | '.join(every)} | the other kinds choose |", f"|---|---{'|---' * len(every)}|---|"]
    for kind in dict.fromkeys(r.kind for r in rows):
        cells, own = [], [r for r in rows if r.kind == kind]
        for rules in every:
            some = [f"{e:+.2f}" for e in sorted(r.error for r in own if r.rules == rules)]
            cells.append(" to ".join(dict.fromkeys((some[0], some[-1]))) if some else "")
        number = max(sum(r.rules == rules for r in own) for rules in every)
        told = ", ".join(chosen(rows, kind)) if chooses(own[0]) else ""
        lines.append(f"| {kind} | {number} | {' | '.join(cells)} | {told} |")
    cells = []
    for rules in every:
        s = spread(r.error for r in rows if r.rules == rules and r.tables_in_flash == "no")
        cells.append(f"median {s.median:.2f}, max {s.most:.2f}")
    number = len({r for r in rows if r.rules == TODAY and r.tables_in_flash == "no"})
    lines.append(f"| all assembly without tables in flash | {number} | {' | '.join(cells)} | |")
    return "\n".join(lines) + "\n"


def wide_waits() -> str:
    """How many cycles wide instructions wait by each rule that the binary was weighed with, in Markdown: beyond those
    by the rule without waits."""
    rows = [r for r in zero_waits() if r.core == "cortex-m4"]
    cycles = {(r.rules, r.kind): r.cycles for r in reversed(rows) if r.kind in (BINARY, "X25519")}
    lines = ["| rule | binary | X25519 |", "|---|---|---|"]
    for rules in dict.fromkeys(rules for rules, kind in reversed(cycles) if kind == BINARY):
        waits = (f"{cycles[rules, kind] - cycles[NO_WAIT, kind]:.0f}" for kind in (BINARY, "X25519"))
        lines.append(f"| {rules} | {' | '.join(waits)} |")
    return "\n".join(lines) + "\n"


def zero_wait_aims() -> list[str]:
    """What is reached of the aim on cores without wait states, by the rules that other kinds of code choose; by today's
    where they choose these among others, which is said where it matters."""
    lines, rows = [], zero_waits()
    for core, kind in (("cortex-m3", ""), ("cortex-m4", ""), ("cortex-m4", BINARY)):
        own = [r for r in rows if r.core == core and (r.kind == kind if kind else r.tables_in_flash == "no")]
        told = {of: chosen(rows, of) for of in {r.kind for r in own}}
        taken = {of: TODAY if TODAY in rules else rules[0] for of, rules in told.items()}
        middle = spread(r.error for r in own if r.rules == taken[r.kind]).median
        said = "reached" if middle <= ZERO_WAIT_AIM else f"missed by {middle - ZERO_WAIT_AIM:.2f}"
        every = [
            spread(r.error for r in own if r.rules == (rules if rules in told[r.kind] else taken[r.kind])).median
            for rules in {rules for some in told.values() for rules in some}
        ]
        if max(every) >= middle + APART:
            said += f", not held out: the other kinds do not choose one rule, and by another it is {max(every):.2f}"
        name = f"{core} without wait states{f', {kind}' if kind else ''}"
        lines.append(f"| {name} | {ZERO_WAIT_AIM:g} | {middle:.2f} | {said} | |")
    return lines


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


#: tables that are of one file
MADE = {"fitted": fitted, "limits": limits, "literals": literals, "mixed": mixed, "wide": wide_waits}


def filled(page: str) -> str:
    """A page with its tables made anew."""

    def made(block: re.Match[str]) -> str:
        kind, name = block[2], block[3]
        if kind == "sensitivity":
            return f"{block[1]}{sensitivities(name, known())}{block[4]}"
        if kind in MADE:
            return f"{block[1]}{MADE[kind]()}{block[4]}"
        if kind == "zero-wait":
            return f"{block[1]}{zero_wait(zero_waits())}{block[4]}"
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
