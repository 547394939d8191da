"""Which file a source means by a name: the one beside it, or else the only one of its name."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from filecmp import cmp
from pathlib import Path, PurePosixPath

from ..model.errors import UserError
from .files import LARGEST

#: paths of test benches
BENCHES = re.compile(r"(?i)(^|[_/])(tb|bench|test|testbench|sim)([_./]|$)")


class Tree:
    """The files of a folder, the ``whole``, as a design means them that is described in the folder ``home``. Both are
    looked through once, as far as they are needed."""

    def __init__(self, whole: Path, home: Path | None = None) -> None:
        self._whole, self._real = whole, whole.resolve()
        places = dict.fromkeys(((home or whole).resolve(), self._real))
        self._places = [p for p in places if p.is_relative_to(self._real)]
        self._below: dict[Path, dict[str, list[Path]]] = {}
        self._known: dict[tuple[str, tuple[bool, ...]], list[Path]] = {}
        self._alike: dict[Path, dict[Path, None]] = {}

    def meant(self, source: Path, name: str) -> Path | None:
        """The file that a source means by a plain name: the one beside it, or else the only one in the design's home
        and below, or else the only one in the whole. It is the only one if all that are called so have its content;
        those of test benches count where the source is one of them, or where there are no others. Raises
        :class:`UserError` where they differ."""
        found: dict[Path, None] = {}
        for at in dict.fromkeys(s.parent.resolve() for s in self._alike.get(source, (source,))):
            found |= dict.fromkeys(self._from(at, name))
        if not found:
            return None
        first, *others = found
        if other := next((p for p in others if not same(first, p)), None):
            hint = "leave one of them out, or name folders of headers in design.toml"
            raise UserError(f"{self._whole}: {name} may be {first} or {other}, which differ; {hint}")
        self._alike.setdefault(first, {}).update(found)
        return first

    def _from(self, at: Path, name: str) -> list[Path]:
        """The files that may be meant from a folder, where tools look first."""
        if name and there(at / name):
            return [self._told(at / name)]
        inside = tuple(at.is_relative_to(p) and _of_bench(at, p) for p in self._places)
        if (name, inside) not in self._known:
            self._known[name, inside] = self._only(name, inside)
        return self._known[name, inside]

    def _only(self, name: str, inside: tuple[bool, ...]) -> list[Path]:
        for every in (False, True):
            for place, benches in zip(self._places, inside, strict=True):
                called = self._called(place, name)
                if found := [p for p in called if every or benches or not _of_bench(p, place)]:
                    return [self._told(p) for p in found]
        return []

    def _called(self, place: Path, name: str) -> list[Path]:
        """The files in a folder and below that are called so."""
        if not (ending := Path(name).parts):
            return []
        if place not in self._below:
            below = self._below.setdefault(place, {})
            for p in place.rglob("*"):
                below.setdefault(p.name, []).append(p)
        exact = place / name  # may be in a folder that is a link
        called = [p for p in self._below[place].get(ending[-1], ()) if p.parts[-len(ending) :] == ending]
        return sorted(p for p in {exact, *called} if there(p))

    def _told(self, file: Path) -> Path:
        """A file by the path that the user gave for the whole."""
        return self._whole / file.relative_to(self._real) if file.is_relative_to(self._real) else file


def _of_bench(at: Path, place: Path) -> bool:
    return BENCHES.search(at.relative_to(place).as_posix()) is not None


def plain(name: str) -> str:
    """A name as a path below a folder, in one way; empty where it is none."""
    parts = PurePosixPath(name).parts
    return "" if name.startswith("/") or ".." in parts else "/".join(parts)


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
