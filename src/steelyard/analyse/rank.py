"""Orders of merit: the best per metric, relative to a reference, and several metrics as one number.

Every function works on rows of one target and one primitive: figures of different targets are never ranked
together. What lacks a metric takes no part and is reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .rows import Row


@dataclass(frozen=True)
class Place:
    """A row with its rank (1 is best; equal values share the mean of their places) and the value it has."""

    rank: float
    row: Row
    value: float


@dataclass(frozen=True)
class Ranking:
    """Places, best first, and the rows that lack something."""

    places: tuple[Place, ...]
    left_out: tuple[Row, ...]


def value(row: Row, name: str) -> float | None:
    """A metric's number; None when it is missing."""
    v = row.get(name)
    return float(v) if isinstance(v, int | float) else None


def by(rows: Sequence[Row], name: str) -> Ranking:
    """Least first."""
    return _ranking(rows, lambda r: value(r, name))


def _ranking(rows: Sequence[Row], score: Callable[[Row], float | None]) -> Ranking:
    scored = [(score(r), r) for r in rows]
    present = sorted(((v, r) for v, r in scored if v is not None), key=lambda p: (p[0], str(p[1].get("label"))))
    ranks = shared_ranks([v for v, _ in present])
    places = tuple(Place(rank, r, v) for rank, (v, r) in zip(ranks, present, strict=True))
    return Ranking(places, tuple(r for v, r in scored if v is None))


def shared_ranks(values: Sequence[float]) -> list[float]:
    """Ranks of ascending values; equal ones share the mean of their places."""
    ranks: list[float] = []
    at = 0
    while at < len(values):
        end = at
        while end < len(values) and values[end] == values[at]:
            end += 1
        ranks += [(at + 1 + end) / 2] * (end - at)
        at = end
    return ranks


def best_of_variant(rows: Sequence[Row], name: str) -> list[Row]:
    """Of each variant only the row with the least of a metric, as the round-one study's charts have it."""
    best: dict[object, Row] = {}
    for row in rows:
        v = value(row, name)
        if v is None:
            continue
        old = best.get(row["variant"])
        if old is None or v < (value(old, name) or 0.0):
            best[row["variant"]] = row
    return [r for r in rows if best.get(r["variant"]) is r]


def joint(rows: Sequence[Row], metrics: Sequence[str], top: int) -> list[tuple[Row, dict[str, float]]]:
    """Rows that are among the ``top`` of every metric, with their ranks (the slides' joint chart)."""
    ranks = {m: {id(p.row): p.rank for p in by(rows, m).places if p.rank <= top} for m in metrics}
    both = [r for r in rows if all(id(r) in ranks[m] for m in metrics)]
    found = [(r, {m: ranks[m][id(r)] for m in metrics}) for r in both]
    return sorted(found, key=lambda f: (sum(f[1].values()), str(f[0].get("label"))))


def relative(rows: Sequence[Row], reference: Row, metrics: Iterable[str]) -> list[tuple[Row, dict[str, float | None]]]:
    """Each row's metrics in percent of the reference's (El-Hajj and Fadlallah: AES = 100 %)."""
    made = []
    for row in rows:
        percents: dict[str, float | None] = {}
        for m in metrics:
            v, base = value(row, m), value(reference, m)
            percents[m] = 100 * v / base if v is not None and base else None
        made.append((row, percents))
    return made


def merit(rows: Sequence[Row], metrics: Sequence[str], weights: Mapping[str, float] | None = None) -> Ranking:
    """FELICS's figure of merit on one device: the sum of w * value / least value over size, RAM and time; least first.

    All weights are 1 unless given. Its minimum is the sum of the weights. Minima are over all rows given.
    """
    least = {m: min((v for r in rows if (v := value(r, m)) is not None), default=math.nan) for m in metrics}

    def score(row: Row) -> float | None:
        total = 0.0
        for m in metrics:
            v = value(row, m)
            if v is None or not least[m] > 0:
                return None
            total += (weights or {}).get(m, 1.0) * v / least[m]
        return total

    return _ranking(rows, score)


#: El-Hajj and Fadlallah's columns: ROM, throughput, latency of a block, energy. Their fifth, power, is one
#: figure for a whole target where energy is modelled: it ties all and moves every score alike.
SCORE_PAPER = ("rom", "encrypt_per_byte", "encrypt@0/16", "energy_encrypt_modelled")
#: columns that count nothing twice: time and modelled energy are the same figure
SCORE_DISTINCT = ("rom", "ram", "encrypt_per_byte")


def scores(rows: Sequence[Row], metrics: Sequence[str]) -> Ranking:
    """The score table: ranks added up over the metrics, ties averaged; what lacks a metric is left out."""
    ranks = {m: {id(p.row): p.rank for p in by(rows, m).places} for m in metrics}
    return _ranking(
        rows, lambda r: sum(ranks[m][id(r)] for m in metrics) if all(id(r) in ranks[m] for m in metrics) else None
    )


def pareto(rows: Sequence[Row], metrics: Sequence[str]) -> list[Row]:
    """Rows that no other row beats or equals in every metric and beats in one."""
    points = [(r, v) for r in rows if None not in (v := tuple(value(r, m) for m in metrics))]

    def beaten(mine: tuple[float | None, ...]) -> bool:
        return any(
            other != mine and all(o <= m for o, m in zip(other, mine, strict=True))  # type: ignore[operator]
            for _, other in points
        )

    return [r for r, v in points if not beaten(v)]


def merit_over_targets(rows: Sequence[Row], metrics: Sequence[str]) -> list[tuple[str, float, dict[str, Row]]]:
    """FELICS's figure over several devices: for each variant the mean of its best figure on every target.

    Returns (variant, figure, row chosen on each target), least first, for variants that all targets have.
    """
    targets = sorted({str(r["target"]) for r in rows})
    best: dict[str, dict[str, Place]] = {}
    for target in targets:
        for place in merit([r for r in rows if r["target"] == target], metrics).places:
            best.setdefault(str(place.row["variant"]), {}).setdefault(target, place)  # the first is the best
    made = [
        (variant, sum(p.value for p in on.values()) / len(targets), {t: p.row for t, p in on.items()})
        for variant, on in best.items()
        if len(on) == len(targets)
    ]
    return sorted(made, key=lambda m: (m[1], m[0]))
