"""Which file a source means by a name: a package may have several of one name, each beside its own sources."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from filecmp import cmp
from pathlib import Path

from ..model.errors import UserError
from .files import LARGEST


class Tree:
    """The files of a folder, the ``whole``, which is looked through once, as far as it is needed, as a design means
    them that is described in the folder ``home``."""

    def __init__(self, whole: Path, home: Path | None = None) -> None:
        self._whole, self._real, self._home = whole, whole.resolve(), (home or whole).resolve()
        self._below: dict[Path, dict[str, list[Path]]] = {}
        self._known: dict[tuple[Path, str], Path | None] = {}

    def nearest(self, at: Path, name: str) -> Path | None:
        """The file called ``name`` that is nearest to the folder ``at``: in it or below, or else in the folder above or
        below that, and so on up to the whole; of several below, one in the fewest folders, and of these the one in the
        design's home. What is outside of the whole is as far from all of it. Raises :class:`UserError` where equally
        near files differ."""
        at = real if (real := at.resolve()).is_relative_to(self._real) else self._real
        if (at, name) not in self._known:
            self._known[at, name] = self._looked(at, name)
        return self._known[at, name]

    def _looked(self, at: Path, name: str) -> Path | None:
        ending = Path(name).parts
        if not ending or Path(name).is_absolute() or ".." in ending:
            return None
        for place in (p for p in (at, *at.parents) if p.is_relative_to(self._real)):
            found = self._in(place, ending)
            if not found:
                continue
            found = [p for p in found if p.is_relative_to(self._home)] or found
            first, *others = (self._whole / p.relative_to(self._real) for p in found)
            if other := next((p for p in others if not same(first, p)), None):
                here = self._whole / at.relative_to(self._real)
                text = f"{first} and {other} are equally near to {here} and differ; leave one of them out"
                raise UserError(f"{self._whole}: {name} may be any: {text}")
            return first
        return None

    def _in(self, place: Path, ending: tuple[str, ...]) -> list[Path]:
        """The files of a folder that are called so, in the fewest folders below it."""
        if there(exact := place.joinpath(*ending)):  # may be in a folder that is a link
            return [exact]
        if place not in self._below:
            below = self._below.setdefault(place, {})
            for p in place.rglob("*"):
                below.setdefault(p.name, []).append(p)
        called = [p for p in self._below[place].get(ending[-1], ()) if p.parts[-len(ending) :] == ending]
        called = [p for p in called if p.is_file()]
        least = min((len(p.parts) for p in called), default=0)
        return sorted(p for p in called if len(p.parts) == least)


def there(file: Path) -> bool:
    """Whether a file is there, which one is not whose name is any text of a source, too long for a name."""
    with suppress(OSError, ValueError):
        return file.is_file()
    return False


def same(a: Path, b: Path) -> bool:
    """Whether two files have the same content, which is not that of something too large to be a source."""
    return a == b or (a.stat().st_size <= LARGEST and cmp(a, b, shallow=False))


def agreed(found: Mapping[str, Path], name: str, at: Path) -> bool:
    """Whether a name is new. Tools have one file of a name. Raises :class:`UserError` where sources mean two."""
    if (other := found.get(name)) is not None and not same(other, at):
        text = f"{other} and {at} are both called {name} by sources of one design, and differ"
        raise UserError(f"{os.path.commonpath((other, at))}: {text}; rename one of them")
    return other is None
