"""Rows of published and simulated cycles, and how their errors are distributed over families that a fit did not see."""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple, get_type_hints

#: a row with the first share of its cycles in assembly counts as assembly, with the second as mixed
MOSTLY, SOME = 0.7, 0.1
KINDS = ("assembly", "mixed", "compiled", "beyond the cache")
#: bytes of a cache whose misses a target's model leaves out: the published programs call encryption and decryption in
#: turns, so code of both that is larger is fetched from flash in every call
CACHE = {"esp8266-flash": 32768}
#: cycles that published times may contain besides the callee's: the call, two readings of the clock
CALLING = range(0, 201, 4)
#: boards where these were counted, and are in the rows
COUNTED = ("nano-every", "uno")
#: families that the geometry of a target's cache was chosen by, before the others were looked at: no error that is
#: quoted is of them
SEEN = {"mkrzero": ("ascon", "tinyjambu"), "nrf52840": ("ascon", "tinyjambu")}


class Row(NamedTuple):
    """A call that was published, in cycles; ``assembly`` is the share of simulated cycles in hand-written assembly,
    ``code`` the bytes of the image in flash, encryption, decryption and the harness."""

    target: str
    model: str
    family: str
    variant: str
    implementation: str
    level: str
    assembly: float
    code: int
    adlen: int
    mlen: int
    published: int
    cycles: int

    def error(self, calling: int = 0) -> float:
        """Simulated minus published, percent, where the published call takes so many cycles besides the callee's."""
        return 100 * ((self.cycles + calling) / self.published - 1)


class Spread(NamedTuple):
    """A distribution of errors: the median with its sign; of magnitudes the median, the smallest that 95 % do not
    exceed, and the largest."""

    values: int
    bias: float
    median: float
    p95: float
    most: float


def spread(errors: Iterable[float]) -> Spread:
    """The distribution of at least one error."""
    signed = list(errors)
    sizes = sorted(map(abs, signed))
    return Spread(len(sizes), median(signed), median(sizes), sizes[math.ceil(0.95 * len(sizes)) - 1], sizes[-1])


def of_assembly(row: Row) -> str:
    """How much of a row's cycles is assembly, as a word; another where its code is larger than what the model knows."""
    if row.code > CACHE.get(row.target, math.inf):
        return KINDS[3]
    return KINDS[0] if row.assembly >= MOSTLY else KINDS[1] if row.assembly >= SOME else KINDS[2]


BY: dict[str, Callable[[Row], str]] = {
    "all": lambda r: "",
    "kind": of_assembly,
    "submission": lambda r: r.family,
    "family": lambda r: f"{of_assembly(r)} {r.family}",
    "level": lambda r: f"{of_assembly(r)} {r.level}",
    "size": lambda r: f"{of_assembly(r)} {r.adlen}/{r.mlen}",
    "implementation": lambda r: f"{of_assembly(r)} {r.variant}/{r.implementation}",
}


def read(file: Path) -> list[Row]:
    """The rows of a file that ``weigh`` wrote."""
    types = get_type_hints(Row)
    with file.open(newline="") as f:
        return [Row(*(types[n](line[n]) for n in Row._fields)) for line in csv.DictReader(f)]


def write(rows: Iterable[Row], file: Path | None) -> None:
    """Writes rows where ``read`` finds them, or to standard output."""
    with file.open("w", newline="") if file else nullcontext(sys.stdout) as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(Row._fields)
        out.writerows(rows)


def held_out(models: Sequence[Sequence[Row]], callings: Sequence[int] = CALLING) -> list[tuple[Row, float]]:
    """Every row by the model, and with the cycles of a call, that suit the other families of its target best, with its
    error. All models have the same rows."""
    found = []
    for target in dict.fromkeys(r.target for r in models[0]):
        of = [[r for r in rows if r.target == target] for rows in models]
        for family in dict.fromkeys(r.family for r in of[0]):
            others = [[r for r in rows if r.family != family] for rows in of]
            if not others[0]:
                raise SystemExit(f"{target}: no other family than {family}, so nothing can be held out; weigh more")
            model, calling = best(others, (0,) if target in COUNTED else callings)
            found += [(r, r.error(calling)) for r in of[model] if r.family == family]
    return found


def quoted(models: Sequence[Sequence[Row]], callings: Sequence[int] = CALLING) -> list[tuple[Row, float]]:
    """What ``held_out`` finds, without the families that a number of the model was chosen by."""
    return [(r, error) for r, error in held_out(models, callings) if r.family not in SEEN.get(r.target, ())]


def best(models: Sequence[Sequence[Row]], callings: Sequence[int] = CALLING) -> tuple[int, int]:
    """The number of the model with the smallest mean over families of the median error, and the cycles of a call."""

    def score(rows: Sequence[Row], calling: int) -> float:
        sizes: dict[str, list[float]] = {}
        for r in rows:
            sizes.setdefault(r.family, []).append(abs(r.error(calling)))
        return fmean(median(some) for some in sizes.values())

    return min(((k, c) for k in range(len(models)) for c in callings), key=lambda kc: score(models[kc[0]], kc[1]))


def groups(rows: Sequence[tuple[Row, float]], by: str) -> dict[tuple[str, str], list[float]]:
    """Errors by target and what ``BY`` calls a row."""
    found: dict[tuple[str, str], list[float]] = {}
    for r, error in rows:
        found.setdefault((r.target, BY[by](r)), []).append(error)
    return found


def counted(rows: Sequence[Row]) -> list[Row]:
    """The rows that a target's claim is made of: assembly where packages for it have some, else C."""
    with_assembly = {r.target for r in rows if of_assembly(r) == KINDS[0]}
    return [r for r in rows if of_assembly(r) == (KINDS[0] if r.target in with_assembly else KINDS[2])]
