"""Rows of published and simulated cycles, and how their errors are distributed over families that a fit did not see."""

from __future__ import annotations

import csv
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple, get_type_hints

from steelyard.analyse.errors import LEAST
from steelyard.analyse.validation import p95

PLACE = Path(__file__).parents[1] / "docs" / "validation"
#: the families that each target's numbers were fitted to at once, and which numbers; what was chosen for each family by
#: the others is not in it
FITTED = PLACE / "fitted.csv"

#: a row with the first share of its cycles in assembly counts as assembly, with the second as mixed
MOSTLY, SOME = LEAST / 100, 0.1
KINDS = ("assembly", "mixed", "compiled", "beyond the cache")
#: bytes of a cache whose misses a target's model leaves out: the published programs call encryption and decryption in
#: turns, so code of both that is larger is fetched from flash in every call
CACHE = {"esp8266-flash": 32768}
#: cycles that published times may contain besides the callee's: the call, two readings of the clock
CALLING = range(0, 201, 4)
#: boards where these were counted, and are in the rows
COUNTED = ("nano-every", "uno")


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

    @property
    def of(self) -> tuple[str, str, str, str, str, int, int]:
        """What was called, and how large: all that figures are of."""
        return self.target, self.family, self.variant, self.implementation, self.level, self.adlen, self.mlen

    def error(self, calling: int = 0) -> float:
        """Simulated minus published, percent, where the published call takes so many cycles besides the callee's."""
        return 100 * ((self.cycles + calling) / self.published - 1)


class Choice(NamedTuple):
    """The number of a model, and the cycles of a board's call besides the callee's."""

    model: int
    calling: int


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
    return Spread(len(sizes), median(signed), median(sizes), p95(sizes), sizes[-1])


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
    """The rows of a file that ``weigh`` wrote; SystemExit where it is another, or none."""
    types = get_type_hints(Row)
    try:
        opened = file.open(newline="")
    except OSError as e:
        raise SystemExit(f"{file}: {e.strerror}; bench/fidelity.py weigh writes such files") from e
    with opened as f:
        lines = csv.DictReader(f)
        missing = [n for n in Row._fields if n not in (lines.fieldnames or ())]
        if missing:
            raise SystemExit(f"{file}: no column {', '.join(missing)}; bench/fidelity.py weigh writes such files")
        rows: dict[tuple[object, ...], Row] = {}
        try:
            for line in lines:
                row = Row(*(types[n](line[n]) for n in Row._fields))
                row = row._replace(family=row.family.replace("-", ""))  # one spelling, or it would be two families
                if not (row.published > 0 and row.cycles >= 0 and 0 <= row.assembly <= 1 and row.of not in rows):
                    raise ValueError("a call that took no time, a share above 1, or one that another line has")
                rows[row.of] = row
        except (TypeError, ValueError) as e:
            raise SystemExit(f"{file}: line {lines.line_num}: {e}") from None
        return list(rows.values())


def same_calls(models: Sequence[Sequence[Row]], files: Sequence[Path]) -> None:
    """SystemExit where files have not the same calls: a choice between them would be one between calls as well."""
    for rows, file in zip(models, files, strict=True):
        if odd := {r.of for r in rows} ^ {r.of for r in models[0]}:
            raise SystemExit(f"{file}: {len(odd)} calls are not in both it and {files[0]}: {sorted(odd)[0]}")


def merged(there: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """Rows with new ones in the place of those of the same targets, in the targets' order."""
    targets = {r.target for r in new}
    return sorted([*new, *(r for r in there if r.target not in targets)], key=lambda r: r.target)


def whole(rows: Sequence[Row], file: Path) -> None:
    """SystemExit where ``file`` would have a call twice, or rows of one target by two models."""
    if twice := [of for of, n in Counter(r.of for r in rows).items() if n > 1]:
        raise SystemExit(f"{file}: would have {len(twice)} calls twice, the first {twice[0]}; give each once")
    models: dict[str, set[str]] = {}
    for r in rows:
        models.setdefault(r.target, set()).add(r.model)
    if several := [f"{target} by {', '.join(sorted(of))}" for target, of in models.items() if len(of) > 1]:
        raise SystemExit(f"{file}: would have rows of {'; '.join(several)}; weigh all of a target by one model")


def write(rows: Iterable[Row], file: Path | None) -> None:
    """Writes rows where ``read`` finds them, or to standard output."""
    with file.open("w", newline="") if file else nullcontext(sys.stdout) as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(Row._fields)
        out.writerows(rows)


#: what is held out together: a target, a kind of code, a family
Held = tuple[str, str, str]


def choices(models: Sequence[Sequence[Row]], callings: Sequence[int] = CALLING) -> dict[Held, Choice]:
    """For each target, kind of code and family what suits the other families' code of this kind best; of any kind where
    they have none of this. All models have the same rows, and the first one says their kinds."""
    kinds = {r.of: of_assembly(r) for r in models[0]}
    found = {}
    for target, kind, family in dict.fromkeys((r.target, kinds[r.of], r.family) for r in models[0]):
        others = [[r for r in rows if r.target == target and r.family != family] for rows in models]
        if not others[0]:
            raise SystemExit(f"{target}: no other family than {family}, so nothing can be held out; weigh more")
        alike = [[r for r in rows if kinds[r.of] == kind] for rows in others]
        found[target, kind, family] = best(alike if alike[0] else others, (0,) if target in COUNTED else callings)
    return found


def held_out(models: Sequence[Sequence[Row]], callings: Sequence[int] = CALLING) -> list[tuple[Row, float]]:
    """Every row by the model, and with the cycles of a call, that :func:`choices` has for it, with its error. All
    models have the same rows."""
    kinds = {r.of: of_assembly(r) for r in models[0]}
    return [
        (r, r.error(calling))
        for held, (model, calling) in choices(models, callings).items()
        for r in models[model]
        if (r.target, kinds[r.of], r.family) == held
    ]


class Fit(NamedTuple):
    """Numbers of a target's model, and the families that they were fitted to, by their names in rows."""

    target: str
    families: tuple[str, ...]
    numbers: str
    page: str


@cache
def fits() -> tuple[Fit, ...]:
    """What was fitted to which families."""
    with FITTED.open(newline="") as f:
        return tuple(Fit(r["target"], tuple(r["families"].split()), r["numbers"], r["page"]) for r in csv.DictReader(f))


def is_fitted(row: Row) -> bool:
    """Whether a number of the target's model was fitted to the row's family."""
    return any(row.target == fit.target and row.family in fit.families for fit in fits())


def unseen(held: Iterable[tuple[Row, float]]) -> list[tuple[Row, float]]:
    """Of rows that are held out, those of families that no number of the model was fitted to."""
    found = [(r, error) for r, error in held if not is_fitted(r)]
    if not found:
        raise SystemExit("the model's numbers were fitted to all families of these rows; weigh others")
    return found


def best(models: Sequence[Sequence[Row]], callings: Sequence[int] = CALLING) -> Choice:
    """The number of the model with the smallest mean over families of the median error, and the cycles of a call."""

    def score(rows: Sequence[Row], calling: int) -> float:
        sizes: dict[str, list[float]] = {}
        for r in rows:
            sizes.setdefault(r.family, []).append(abs(r.error(calling)))
        return fmean(median(some) for some in sizes.values())

    return min(
        (Choice(k, n) for k in range(len(models)) for n in callings), key=lambda c: score(models[c.model], c.calling)
    )


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
