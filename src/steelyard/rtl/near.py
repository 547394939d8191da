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

#: most sources of a package that are searched for, as they are not where its descriptions have them
SEARCHES = 5000
#: paths of test benches
BENCHES = re.compile(r"(?i)(^|[_/])(tb|bench|test|testbench|sim)([_./]|$)")


class Tree:
    """The files of a folder, the ``whole``, as one design means them that is described in the folder ``home``. What is
    ``below`` the whole is looked through once, as far as it is needed."""

    def __init__(self, whole: Path, home: Path | None = None, below: dict[str, list[Path]] | None = None) -> None:
        self._whole, self._real, self._home = whole, whole.resolve(), (home or whole).resolve()
        self._below = {} if below is None else below
        self._known: dict[tuple[str, Path], list[Path]] = {}
        self._alike: dict[Path, dict[Path, None]] = {}

    def meant(self, source: Path, name: str) -> Path | None:
        """The file that a source means by a plain name: the one beside it, or else the only one in the first folder
        that has any below it, of those above the source up to the design's home (of the home alone, where the source is
        elsewhere), and then of those up to the whole. It is the only one if all that are called so have its content;
        those of test benches count where the source is one of them, or where the home, or else the whole, has no
        others. Raises :class:`UserError` where they differ."""
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
        if (name, at) not in self._known:
            self._known[name, at] = [self._told(p) for p in self._only(name, at)]
        return self._known[name, at]

    def _only(self, name: str, at: Path) -> list[Path]:
        places = [p for p in (at, *at.parents) if p.is_relative_to(self._real)] or [self._real]
        if at != self._home:  # no tool looks below a source's folder
            places = places[1:] or places
        inside = [p for p in places if p.is_relative_to(self._home)] or [self._home]
        for group in (inside, places):
            for every in (False, True):
                for place in group:
                    own = every or (at.is_relative_to(place) and of_bench(at, place))
                    if found := [p for p in self._called(place, name) if own or not of_bench(p, place)]:
                        return found
        return []

    def _called(self, place: Path, name: str) -> list[Path]:
        """The files in a folder and below that are called so."""
        if not (ending := Path(name).parts) or not place.is_relative_to(self._real):
            return []
        if not self._below:
            for p in self._real.rglob("*"):
                self._below.setdefault(p.name, []).append(p)
        exact = place / name  # may be in a folder that is a link
        called = [p for p in self._below.get(ending[-1], ()) if p.parts[-len(ending) :] == ending]
        return sorted(p for p in {exact, *called} if p.is_relative_to(place) and there(p))

    def _told(self, file: Path) -> Path:
        """A file by the path that the user gave for the whole."""
        return self._whole / file.relative_to(self._real) if file.is_relative_to(self._real) else file


class Package:
    """The repository of the ``whole`` that the user named, or else that alone, with the LWC package's folders beside
    it. Each folder is looked through once for all designs."""

    def __init__(self, whole: Path) -> None:
        self._whole = whole
        self._below: dict[Path, dict[str, list[Path]]] = {}
        self._trees: dict[Path, list[Tree]] = {}
        self._sought = set[tuple[Path, str]]()

    def tree(self, whole: Path, home: Path | None = None) -> Tree:
        """The files of a folder as one design means them."""
        return Tree(whole, home, self._below.setdefault(whole.resolve(), {}))

    def meant(self, description: Path, name: str) -> Path | None:
        """The source that a description in a resolved folder means by a name that is not there. Raises
        :class:`UserError` where these are too many in all."""
        if len(self._sought) >= SEARCHES and (description, name) not in self._sought:
            text = f"more than {SEARCHES} sources are not where they should be; restore them"
            raise UserError(f"{self._whole}: {text}, or name the folder of one design")
        self._sought.add((description, name))
        trees = self._trees_of(description.parent)
        return next((p for tree in trees if (p := tree.meant(description, name)) is not None), None)

    def _trees_of(self, at: Path) -> list[Tree]:
        """Those of the package as a description in a resolved folder means them, in the order to look in."""
        if at not in self._trees:
            whole = self._whole.resolve()
            top = next((p for p in (whole, *whole.parents) if (p / ".git").exists()), whole)
            beside = [p for up in {top: 0, at: 0} for p in sorted(up.parent.glob("LWC*"))]
            self._trees[at] = [self.tree(place, at) for place in (top, *beside)]
        return self._trees[at]


def of_bench(at: Path, place: Path) -> bool:
    """Whether a path is of a test bench, by what it is called from a folder above it."""
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
