"""Labels that mean sources from several places: which of these is compared, and with which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from ..model.row import Row, Value, grouped
from .answer import BUNDLED, called_by, place_of, run_number

Key = tuple[Value, ...]


def told_by_place(
    sides: Sequence[Sequence[Row]], names: Iterable[str] = ("primitive", "label"), *, shared: bool = False
) -> list[list[Row]]:
    """The rows of each side. Where one side has sources from several places under the same values of ``names``, rows
    say their ``place``, in their label too; where it has to be ``shared``, only if one of the places is on every
    side, or else the same sources are, which have moved then."""
    names = tuple(names)

    def key(row: Row) -> Key:
        return tuple(map(row.get, names))

    there: list[dict[Key, set[int | str]]] = []
    for rows in sides:
        of: dict[Key, set[int | str]] = {}
        for r in rows:
            of.setdefault(key(r), set()).add(place_of(r))
        there.append(of)
    several = {k for of in there for k, places in of.items() if len(places) > 1}
    moved: set[tuple[Key, Value]] = set()
    if shared:
        apart = {k for k in several if not set.intersection(*(of.get(k, set()) for of in there))}
        has = [{(k, r.get("digest")) for r in rows if (k := key(r)) in apart and r.get("digest")} for rows in sides]
        moved = set.intersection(*has)
        several -= apart
    if not several and not moved:
        return [[*rows] for rows in sides]
    called = called_by(chain.from_iterable(sides))

    def told(row: Row) -> Row:
        place, label = place_of(row), f"{row['label']} ({called[place_of(row)]})"
        if key(row) in several:
            return row | {"place": place, "label": label}
        return row | {"place": row["digest"], "label": label} if (key(row), row.get("digest")) in moved else row

    return [[told(r) for r in rows] for rows in sides]


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
