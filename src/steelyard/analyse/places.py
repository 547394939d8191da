"""Labels that mean sources from several places: which of these is compared, and with which."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count, repeat
from pathlib import PurePosixPath

from ..model.row import Row, Value, grouped
from .answer import BUNDLED, called_by, place_of, run_number

Key = tuple[Value, ...]
Place = int | str
#: by what packages of one name are the same in two revisions, the surest first; and whether several may be, of which
#: it does not matter which is which: their sources are equal
_SAME: tuple[tuple[Callable[[Place, Row], object], bool], ...] = (
    (lambda place, _: place, True),
    (lambda place, r: r.get("digest") and (r["digest"], _below(place)), True),
    (lambda _, r: r.get("digest") and (r["digest"], r.get("family")), True),
    (lambda _, r: r.get("digest"), True),
    (lambda place, r: (r.get("family"), _below(place)), False),
    (lambda _, r: (r.get("family"),), False),
)


def told_by_place(sides: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """The rows of each side. Where one side has sources of one name from several places, labels say which."""
    several = {name for rows in sides for name, of in _by_place(rows).items() if len(of) > 1}
    called = called_by(chain.from_iterable(sides))
    return [[_told(r, called) if _name(r) in several else r for r in rows] for rows in sides]


def each_with_its_past(old: Sequence[Row], new: Sequence[Row]) -> list[list[Row]]:
    """The rows of two revisions, with a ``place`` that both sides of a package share, and labels that tell packages of
    one name apart. A package is what its folder had before, else what has the same sources, which have moved then, else
    the only one of its family that is left over, or in the same folder below one that was renamed. Where several may
    be it, their place is the family, and :func:`of_one_place` takes one."""
    sides, told = (_by_place(old), _by_place(new)), told_by_place((old, new))
    number = count()
    places: list[dict[tuple[Key, Place], Value]] = [{}, {}]
    for name in {**sides[0], **sides[1]}:
        left = [{place: rows[0] for place, rows in side.get(name, {}).items()} for side in sides]
        for pair in _same_packages(*left):
            token = next(number)
            for known, side, place in zip(places, left, pair, strict=True):
                known[name, place] = token
                del side[place]
        families = [{r.get("family") for r in side.values()} for side in left]
        for known, side, theirs in zip(places, left, families[::-1], strict=True):
            known |= {(name, place): next(number) for place, r in side.items() if r.get("family") not in theirs}

    def of(row: Row, label: Row, known: Mapping[tuple[Key, Place], Value]) -> Row:
        place = known.get((_name(row), place_of(row)))
        return row | {"place": str(row.get("family"))} if place is None else label | {"place": place}

    return [[*map(of, *rows, repeat(known))] for *rows, known in zip((old, new), told, places, strict=True)]


def _same_packages(old: Mapping[Place, Row], new: Mapping[Place, Row]) -> list[tuple[Place, Place]]:
    """The places of packages of one name that are the same in two revisions, each with a row of it."""
    pairs: list[tuple[Place, Place]] = []
    left = {**old}, {**new}
    for same, alike in _SAME:
        mine, theirs = ({place: same(place, r) for place, r in side.items()} for side in left)
        of = grouped(theirs, theirs.__getitem__)
        for what, places in grouped(mine, mine.__getitem__).items():
            if what and (alike or len(places) == len(of.get(what, ())) == 1):
                pairs += zip(places, of.get(what, ()), strict=False)
        for k, side in enumerate(left):
            for pair in pairs:
                side.pop(pair[k], None)
    return pairs


def _below(place: Place) -> tuple[str, ...]:
    """A place in its first folder, which may have another name."""
    return PurePosixPath(str(place)).parts[1:]


def _name(row: Row) -> Key:
    return row["primitive"], row["label"]


def _by_place(rows: Sequence[Row]) -> dict[Key, dict[Place, list[Row]]]:
    """The rows of each name, by where their sources are from."""
    return {name: grouped(of, place_of) for name, of in grouped(rows, _name).items()}


def _told(row: Row, called: Mapping[Place, str]) -> Row:
    return row | {"label": f"{row['label']} ({called[place_of(row)]})"}


def of_one_place(
    rows: Sequence[Row], said: dict[str, None], names: Sequence[str] = ("primitive", "label"), *, ours: bool = True
) -> list[Row]:
    """Of the rows of each value of ``names`` those that came from one place: ``ours`` if they are among them, else
    where the newest came from. The same sources are of that place, whatever it was called. What was left out is
    ``said``. Rows that say their place stay."""
    of: dict[Key, list[Row]] = grouped(rows, lambda r: tuple(map(r.get, names)))
    kept: set[int] = set()
    for some in of.values():
        places = {id(r): place_of(r) for r in some}
        bundled = ours and BUNDLED in places.values()
        place = BUNDLED if bundled else place_of(max(some, key=run_number))
        same = {digest for r in some if places[id(r)] == place and (digest := r.get("digest"))}
        taken = {id(r) for r in some if places[id(r)] == place or r.get("digest") in same}
        kept |= taken
        called = called_by(some)
        if others := sorted({called[places[id(r)]] for r in some if id(r) not in taken}):
            instead = "the bundled one" if place == BUNDLED else called[place]
            said[f"{some[0]['label']} means other sources too ({', '.join(others)}): {instead} was compared"] = None
    return [r for r in rows if id(r) in kept]
