"""Labels that mean sources from several places: which of these is compared, and with which."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, count, repeat
from operator import itemgetter
from pathlib import PurePosixPath

from ..model.row import Row, Value, grouped
from .answer import BUNDLED, PLACE, called_by, of_histories, place_of, recency, succession

Key = tuple[Value, ...]
#: a package among those of one name: its place and its family, for a zip may hold two
Package = tuple[int | str, Value]
#: by what packages of one name are the same in two revisions, the surest first; and whether several may be, of which
#: it does not matter which is which: their sources are equal
_SAME: tuple[tuple[Callable[[Package, Row], object], bool], ...] = (
    (lambda package, _: package, False),
    (lambda package, _: package[0], False),
    (lambda package, r: r.get("digest") and (r["digest"], _below(package)), True),
    (lambda package, r: r.get("digest") and (r["digest"], package[1]), True),
    (lambda _, r: r.get("digest"), True),
    (lambda package, _: (package[1], _below(package)), False),
    (lambda package, _: package[1:], False),
)


#: what rows are to agree in where they do not in all
_LESS = (("digest", "compiler", "harness", "timing_model"), ("digest", "workload"), ("digest",))


def told_by_place(sides: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """The rows of each side. Where one side has sources of one name from several places, labels say which; and of which
    family those are that are in one."""
    label = itemgetter("primitive", "label")
    called = called_by(chain.from_iterable(sides))
    several: set[Key] = set()
    mixed: set[tuple[Key, int | str]] = set()
    for rows in sides:
        for name, of in grouped(rows, label).items():
            packages = dict.fromkeys(map(_package, of))
            if len(packages) > 1:
                several.add(name)
                mixed |= {(name, place) for place, of_it in grouped(packages, lambda p: p[0]).items() if len(of_it) > 1}

    def told(row: Row) -> Row:
        name, place = label(row), place_of(row)
        if name not in several:
            return row
        family = f", {row.get('family')}" if (name, place) in mixed else ""
        return row | {"label": f"{row['label']} ({called[place]}{family})"}

    return [[*map(told, rows)] for rows in sides]


def each_with_its_past(old: Sequence[Row], new: Sequence[Row], names: Sequence[str]) -> list[list[Row]]:
    """The rows of two revisions, with a ``place`` that both sides of a package share, and labels that tell packages of
    one name apart: the values of ``names``, whatever the family, which is the name of a folder. A package is what its
    folder had before, else what has the same sources, which have moved then, else the only one of its family that is
    left over, or in the same folder below one that was renamed; or the only one of its name. Where several may be it,
    their place is the family, and :func:`of_one_place` takes one."""
    named: Callable[[Row], Key] = lambda r: tuple(r.get(n) for n in names if n != "family")  # noqa: E731
    sides = [
        {name: {package: rows[0] for package, rows in grouped(of, _package).items()} for name, of in some.items()}
        for some in (grouped(old, named), grouped(new, named))
    ]
    number = count()
    places: list[dict[tuple[Key, Package], Value]] = [{}, {}]
    for name in {**sides[0], **sides[1]}:
        left = [dict(side.get(name, {})) for side in sides]
        for pair in _same_packages(*left):
            token = next(number)
            for known, side, package in zip(places, left, pair, strict=True):
                known[name, package] = token
                del side[package]
        families = [{family for _, family in side} for side in left]
        for known, side, theirs in zip(places, left, families[::-1], strict=True):
            known |= {(name, package): next(number) for package in side if package[1] not in theirs}

    def of(row: Row, told: Row, known: Mapping[tuple[Key, Package], Value]) -> Row:
        place = known.get((named(row), _package(row)))
        return row | {"place": str(row.get("family"))} if place is None else told | {"place": place}

    both = zip((old, new), told_by_place((old, new)), places, strict=True)
    return [[*map(of, *rows, repeat(known))] for *rows, known in both]


def _same_packages(old: Mapping[Package, Row], new: Mapping[Package, Row]) -> list[tuple[Package, Package]]:
    """Packages of one name that are the same in two revisions, each with a row of it."""
    if len(old) == len(new) == 1:
        return list(zip(old, new, strict=True))
    pairs: list[tuple[Package, Package]] = []
    left = {**old}, {**new}
    for same, alike in _SAME:
        mine, theirs = ({package: same(package, r) for package, r in side.items()} for side in left)
        of = grouped(theirs, theirs.__getitem__)
        for what, some in grouped(mine, mine.__getitem__).items():
            if what and (alike or len(some) == len(of.get(what, ())) == 1):
                pairs += zip(some, of.get(what, ()), strict=False)
        for k, side in enumerate(left):
            for pair in pairs:
                side.pop(pair[k], None)
    return pairs


def _package(row: Row) -> Package:
    return place_of(row), row.get("family")


def _below(package: Package) -> tuple[str, ...]:
    """A place in its first folder, which may have another name."""
    return PurePosixPath(str(package[0])).parts[1:]


def of_one_place(
    rows: Sequence[Row],
    said: dict[str, None],
    names: Sequence[str] = ("primitive", "label"),
    *,
    ours: bool = True,
    beside: Sequence[Row] = (),
) -> list[Row]:
    """Of the rows of each value of ``names`` those that came from one place: one that the rows ``beside`` them have too
    where there is such a one; of these ``ours`` if it is among them, else where the newest came from. The same sources
    are of that place, whatever it was called. What was left out is ``said``. Rows that say their place stay."""
    of, theirs = (grouped(some, lambda r: tuple(map(r.get, names))) for some in (rows, beside))
    when, gone = recency(), of_histories((*rows, *beside))
    kept: set[int] = set()
    for key, some in of.items():
        also = theirs.get(key, [])
        places = {id(r): place_of(r) for r in (*some, *also)}
        both = _on_both(some, also) or some
        bundled = ours and BUNDLED in (places[id(r)] for r in both)
        place = BUNDLED if bundled else places[id(max(both, key=lambda r: (r.get("origin") not in gone, when(r))))]
        here = [r for r in some if places[id(r)] == place] or [r for r in also if places[id(r)] == place]
        here = sorted([r for r in here if r.get("origin") not in gone] or here, key=succession())
        newest = {_chip(r): r.get("digest") for r in here}
        left = [r for r in some if places[id(r)] != place and not _is_among(newest, r)]
        kept |= {id(r) for r in some} - {id(r) for r in left}
        called = called_by((*some, *also))
        if others := sorted({called[places[id(r)]] for r in left}):
            instead = "the bundled one" if place == BUNDLED else called[place]
            said[f"{some[0]['label']} means other sources too ({', '.join(others)}): {instead} was compared"] = None
    return [r for r in rows if id(r) in kept]


def _on_both(some: Sequence[Row], others: Sequence[Row]) -> list[Row]:
    """The rows of either side whose place, or sources, the other side has too."""
    places = {place_of(r) for r in some} & {place_of(r) for r in others}
    digests = {r.get("digest") for r in some} & {r.get("digest") for r in others if r.get("digest")}
    return [r for r in (*some, *others) if place_of(r) in places or r.get("digest") in digests]


def tied(old: Sequence[Row], new: Sequence[Row], names: Sequence[str]) -> list[list[Row]]:
    """The rows of two sides. Where each has one ``place`` of a setup, called by ``names``, there is nothing to choose,
    whatever else their places have: the new side's is the old one's."""
    left, right = (grouped(rows, lambda r: tuple(map(r.get, names))) for rows in (old, new))
    place: dict[int, Value] = {}
    for key in left.keys() & right.keys():
        here, there = ({r.get("place") for r in side[key]} for side in (left, right))
        if len(here) == len(there) == 1:
            place |= dict.fromkeys(map(id, right[key]), here.pop())
    return [[*old], [r | {"place": place[id(r)]} if id(r) in place else r for r in new]]


def _chip(row: Row) -> Key:
    return row.get("target"), row.get("device")


def _is_among(newest: Mapping[Key, Value], row: Row) -> bool:
    """Whether a row has the newest sources of its chip, or, where none are known of it, of any."""
    known = [newest[_chip(row)]] if _chip(row) in newest else newest.values()
    return bool(row.get("digest")) and row.get("digest") in known


def matched(
    left: Sequence[Row], right: Sequence[Row], must: Sequence[str], workload: str, gone: Collection[Value]
) -> tuple[Row, Row]:
    """Of each side the row that is to be compared: a pair that agrees in what it ``must`` if there is one, then one
    that agrees in sources at least; of several the newest, and of an origin that is ``gone`` where there is no other:
    which revision was weighed last says nothing of what lies at its path."""
    if len(left) == len(right) == 1:
        return left[0], right[0]

    when = recency()

    def worth(row: Row) -> tuple[object, ...]:
        return row.get("origin") not in gone, row.get("workload") == workload, *when(row)

    whole = must if "digest" in must else ("digest", *must)  # what has not changed is its own past
    for names in (whole, must, *(tuple(n for n in must if n in some) for some in _LESS)):
        newest: dict[Key, Row] = {}
        for row in right:
            k = tuple(map(row.get, names))
            if k not in newest or worth(row) > worth(newest[k]):
                newest[k] = row
        both = [(a, newest[k]) for a in left if (k := tuple(map(a.get, names))) in newest]
        if both:
            return max(both, key=lambda pair: (worth(pair[0]), worth(pair[1])))
    return max(left, key=worth), max(right, key=worth)


class Current:
    """Which of the rows of a comparison, all or each side's, are of the newest sources of their place there, which are
    those of no history."""

    def __init__(self, sides: Sequence[Sequence[Row]]) -> None:
        self._now = set[int]()
        self._places = set[Key]()
        for rows in sides:
            gone = of_histories(rows)
            counting = [r for r in rows if r.get("origin") not in gone]
            last = {_at(r): r.get("digest") for r in sorted(counting, key=succession())}
            self._now |= {id(r) for r in rows if (at := _at(r)) in last and r.get("digest") == last[at]}
            self._places |= last.keys()

    def of(self, left: Sequence[Row], right: Sequence[Row], *, same: bool) -> tuple[Sequence[Row], Sequence[Row]]:
        """Those of a setup, or all rows of a side that has none; all of both where they are to have the ``same``
        sources and these have not."""
        now = tuple([r for r in side if id(r) in self._now] or side for side in (left, right))
        digests = [{r.get("digest") for r in side} for side in now]
        return (left, right) if same and digests[0].isdisjoint(digests[1]) else (now[0], now[1])

    def past(self, *compared: Row) -> Iterator[tuple[str, bool]]:
        """A sentence on each that is none of them, and whether its place has gone on."""
        for r in (r for r in compared if id(r) not in self._now):
            gone_on = _at(r) in self._places
            what = "older sources" if gone_on else "a revision, or a version that another replaced,"
            hint = "; weigh what is there now with the same options" if gone_on else "; nothing else was weighed there"
            yield f"{what} of {r['label']} on {r['target']} ({r.get('origin') or BUNDLED}) compared{hint}", gone_on


def _at(row: Row) -> Key:
    return *(row.get(n) for n in PLACE if n != "origin"), place_of(row)
