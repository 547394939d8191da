"""Orders of merit: the best per metric, relative to a reference, and several metrics as one number.

Every function works on rows of one target and one primitive: figures of different targets are never ranked
together. What lacks a metric takes no part and is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf, nan
from operator import itemgetter, le

from msgspec import Struct

from ..model.row import Row, Value, grouped
from .answer import BUNDLED, called_by, came_from, place_of


class Place(Struct, frozen=True):
    """A row with its rank (1 is best; equal values share the mean of their places) and the value it has."""

    rank: float
    row: Row
    value: float


class Ranking(Struct, frozen=True):
    """Places, best first, and the rows that lack something."""

    places: tuple[Place, ...]
    left_out: tuple[Row, ...]


def value(row: Row, name: str) -> float | None:
    """A metric's number; None when it is missing."""
    v = row.get(name)
    return None if isinstance(v, str) else v


def apart(rows: Sequence[Row]) -> list[Row]:
    """The rows; a variant that nobody knows means another cipher in each place where sources came from, and is called
    so. Places that have the same sources of it are one."""
    sources: dict[tuple[Value, Value], dict[tuple[str, Value], None]] = {}
    places = called_by(rows)
    for r in rows:
        sources.setdefault(_cipher(r), {})[_folder(r, places), r.get("digest")] = None
    called = {name: _joined(some) for name, some in sources.items()}
    strange = {n for n, of in called.items() if len({*of.values()}) > 1 and not _is_known(*map(str, n))}
    return [
        r | {"variant": f"{r['variant']} ({called[name][_folder(r, places)]})"}
        if (name := _cipher(r)) in strange
        else r
        for r in rows
    ]


def _cipher(row: Row) -> tuple[Value, Value]:
    return row["primitive"], row["variant"]


def _joined(sources: Iterable[tuple[str, Value]]) -> dict[str, str]:
    """What to call each place, of places with digests: those that share sources, be it over others, are one, which has
    the shortest name of them."""
    parts: list[tuple[set[str], set[Value]]] = []
    for place, digest in sources:
        meets = [p for p in parts if place in p[0] or (digest and digest in p[1])]
        parts = [p for p in parts if p not in meets]
        parts.append(({place}.union(*(p[0] for p in meets)), {digest}.union(*(p[1] for p in meets))))
    return {place: min(places, key=lambda p: (len(p), p)) for places, _ in parts for place in places}


def _folder(row: Row, places: Mapping[int | str, str]) -> str:
    """Where all implementations of a row's variant came from: whoever names one of them names a folder in it."""
    return places[place_of(row)].rstrip("/").removesuffix(f"/{row.get('implementation')}")


def _is_known(primitive: str, variant: str) -> bool:
    """Whether answers of a variant are published, so that its name means one cipher."""
    from ..verify.known import readings  # which most questions do not need
    from ..verify.knownblock import known_block

    if primitive == "crypto_block":
        return known_block(variant) is not None
    kinds = ("crypto_aead", "crypto_hash") if primitive == "lwc_rtl" else (primitive,)
    return any(readings(kind, variant) for kind in kinds)  # type: ignore[arg-type]


def by(rows: Sequence[Row], name: str) -> Ranking:
    """Least first."""
    return by_each(rows, [name])[name]


def by_each(rows: Sequence[Row], names: Iterable[str]) -> dict[str, Ranking]:
    """A ranking for each of several metrics, least first."""
    rows = _labelled(rows)
    return {name: _ranking(rows, _column(rows, name)) for name in names}


def _column(rows: Sequence[Row], name: str) -> list[float | None]:
    """As :func:`value`, of each row."""
    return [None if isinstance(v := r.get(name), str) else v for r in rows]


def _labelled(rows: Sequence[Row]) -> list[Row]:
    """Rows in the order in which those of equal rank are shown: what is bundled first, so that no copy takes its place;
    then by name, flags, digest and where sources came from, whichever was run first, or again."""
    places = {o: came_from({"origin": o}) for o in {r.get("origin") for r in rows}}

    def key(row: Row) -> tuple[bool, str, str, str, str]:
        place = places[row.get("origin")]
        return place != BUNDLED, str(row.get("label")), str(row.get("flags")), str(row.get("digest")), place

    return sorted(rows, key=key)


def complete(rows: Sequence[Row], metrics: Sequence[str]) -> tuple[list[Row], list[Row]]:
    """The rows that have all of several metrics, and those that lack one, each in the order of :func:`_labelled`."""
    having, lacking = list[Row](), list[Row]()
    for row in _labelled(rows):
        (lacking if any(value(row, m) is None for m in metrics) else having).append(row)
    return having, lacking


def _ranking(rows: Sequence[Row], values: Sequence[float | None]) -> Ranking:
    present = [(v, r) for v, r in zip(values, rows, strict=True) if v is not None]
    present.sort(key=itemgetter(0))
    ranks = shared_ranks([v for v, _ in present])
    places = tuple([Place(rank, r, v) for rank, (v, r) in zip(ranks, present, strict=True)])
    return Ranking(places, tuple(r for v, r in zip(values, rows, strict=True) if v is None))


def shared_ranks(values: Sequence[float]) -> list[float]:
    """Ranks of ascending values, whole where they are; equal ones share the mean of their places."""
    ranks: list[float] = []
    for n in Counter(values).values():
        ranks += [len(ranks) + ((1 + n) // 2 if n % 2 else (1 + n) / 2)] * n
    return ranks


def most(rows: Sequence[Row], name: str) -> Ranking:
    """The largest first."""
    rows = _labelled(rows)
    found = _ranking(rows, [None if v is None else -v for v in _column(rows, name)])
    return Ranking(tuple(Place(p.rank, p.row, -p.value) for p in found.places), found.left_out)


def by_variant(rows: Sequence[Row], name: str) -> dict[Value, list[Row]]:
    """The rows of each variant that have a metric, the least first; of equal ones that with the least ROM, then RAM
    with a context, then the first in the order of :func:`_labelled`."""

    def merits(row: Row) -> tuple[float, ...]:
        rom, ram = value(row, "rom"), value(row, "ram")
        return (
            value(row, name) or 0,
            inf if rom is None else rom,
            inf if ram is None else ram + (value(row, "context") or 0),
        )

    having = (r for r in _labelled(rows) if value(r, name) is not None)
    return {variant: sorted(some, key=merits) for variant, some in grouped(having, itemgetter("variant")).items()}


def best_of_variant(rows: Sequence[Row], name: str) -> list[Row]:
    """Of each variant only the first row in the order of :func:`by_variant`, as the round-one study's charts have
    it."""
    chosen = {id(some[0]) for some in by_variant(rows, name).values()}
    return [r for r in rows if id(r) in chosen]


def best_by_each(rows: Sequence[Row], names: Iterable[str]) -> dict[str, Ranking]:
    """As :func:`by_each`, with each variant's best implementation by that metric."""
    return {name: by(best_of_variant(rows, name), name) for name in names}


def first_of_variant(ranking: Ranking) -> Ranking:
    """Of each variant only its first row, ranked anew."""
    first: dict[Value, Place] = {}
    for p in ranking.places:
        first.setdefault(p.row["variant"], p)
    kept = [p.row for p in first.values()]
    ranked = {p.row["variant"] for p in ranking.places}
    left_out = [r for r in ranking.left_out if r["variant"] not in ranked]
    return Ranking(_ranking(kept, [p.value for p in first.values()]).places, tuple(left_out))


def first(ranking: Ranking, top: int) -> tuple[Place, ...]:
    """Those that fewer than ``top`` others precede: all of equal ones, or none."""
    if top >= len(ranking.places):
        return ranking.places
    last = ranking.places[top - 1].value
    return tuple(p for p in ranking.places if p.value <= last)


def joint(rankings: Mapping[str, Ranking], top: int, what: str = "") -> list[tuple[Row, dict[str, Place]]]:
    """Rows that are among the ``top`` of every ranking, with their places (the slides' joint chart); or, where the
    rankings hold different rows of it, variants or whatever ``what`` names, each with its first row."""
    places: list[dict[Value, Place]] = []
    for ranking in rankings.values():
        of: dict[Value, Place] = {}
        for p in first(ranking, top):
            of.setdefault(p.row[what] if what else id(p.row), p)
        places.append(of)
    both = [key for key in places[0] if all(key in of for of in places)] if places else []
    found = [(places[0][key].row, {m: of[key] for m, of in zip(rankings, places, strict=True)}) for key in both]
    return sorted(found, key=lambda f: (sum(p.rank for p in f[1].values()), str(f[0].get("label"))))


def merit(rows: Sequence[Row], metrics: Sequence[str]) -> Ranking:
    """FELICS's figure of merit on one device: the sum of value / least value over size, RAM and time; least first.

    All weights are 1, so its minimum is the number of metrics. Minima are over the rows that have all metrics, for no
    other takes part. Where the least value of one is not above 0, nothing is ranked.
    """
    rows, lacking = complete(rows, metrics)
    least = [min((v for r in rows if (v := value(r, m)) is not None), default=nan) for m in metrics]
    if not all(n > 0 for n in least):
        return Ranking((), (*rows, *lacking))
    columns = [_column(rows, m) for m in metrics]
    totals = [sum((v or 0.0) / n for v, n in zip(values, least, strict=True)) for values in zip(*columns, strict=True)]
    return Ranking(_ranking(rows, totals).places, tuple(lacking))


#: El-Hajj and Fadlallah's columns: ROM, throughput, latency of a block, energy. Their fifth, power, is one
#: figure for a whole target where energy is modelled: it ties all and moves every score alike.
SCORE_PAPER = ("rom", "encrypt_per_byte", "encrypt@0/16", "energy_encrypt_modelled")
#: what a block cipher has for the latency of a block
OF_BLOCKS = {"encrypt@0/16": "cycles_encrypt_mean"}
#: columns that count nothing twice: time and modelled energy are the same figure
SCORE_DISTINCT = ("rom", "ram", "encrypt_per_byte")


def scores(rows: Sequence[Row], metrics: Sequence[str]) -> Ranking:
    """The score table: ranks added up over the metrics, ties averaged. What lacks a metric takes no rank in any."""
    rows, lacking = complete(rows, metrics)
    ranks = {m: {id(p.row): p.rank for p in r.places} for m, r in by_each(rows, metrics).items()}
    totals = [sum(ranks[m][id(row)] for m in metrics) for row in rows]
    return Ranking(_ranking(rows, totals).places, tuple(lacking))


def pareto(rows: Sequence[Row], metrics: Sequence[str]) -> list[Row]:
    """Rows that no other row beats or equals in every metric and beats in one."""
    points: dict[tuple[float, ...], list[Row]] = {}
    for row in rows:
        values = [v for m in metrics if (v := value(row, m)) is not None]
        if len(values) == len(metrics):
            points.setdefault(tuple(values), []).append(row)
    front: list[tuple[float, ...]] = []
    for mine in sorted(points):  # whatever beats a point comes before it, and so does one of the front that beats both
        if not any(all(map(le, other, mine)) for other in front):
            front.append(mine)
    kept = {id(row) for point in front for row in points[point]}
    return [row for row in rows if id(row) in kept]


def merit_over_targets(rows: Sequence[Row], metrics: Sequence[str]) -> list[tuple[str, float, dict[str, Row]]]:
    """FELICS's figure over several devices: for each variant the mean of its best figure on every target.

    Returns (variant, figure, row chosen on each target), least first, for variants that all targets have.
    """
    groups = grouped(rows, lambda r: str(r["target"]))
    targets = sorted(groups)
    best: dict[str, dict[str, Place]] = {}
    for target in targets:
        for place in merit(groups[target], metrics).places:
            best.setdefault(str(place.row["variant"]), {}).setdefault(target, place)  # the first is the best
    made = [
        (variant, sum(p.value for p in on.values()) / len(targets), {t: p.row for t, p in on.items()})
        for variant, on in best.items()
        if len(on) == len(targets)
    ]
    return sorted(made, key=lambda m: (m[1], m[0]))
