"""Takes a picture of a folder tree in one pass: no link leaves the root, no loop, nothing unbounded.

Only links are resolved. An entry of a real folder is inside that folder, so checking the link that led there covers
everything below it.
"""

# paths are strings here, because a tree has thousands of them
# ruff: noqa: PTH114, PTH115, PTH116, PTH118, PTH119, PTH120

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from msgspec import Struct, field

from ..model.reasons import Reason
from .escape import escaped
from .limits import Limits

#: files that tell a package, and in how many folders of a hidden one they are looked for
_TELLING, _LOOKED_INTO = ("api.h", "implementation.info"), 64


class Fault(Struct, frozen=True):
    """An entry that cannot be used: its ``name`` in the folder, and why."""

    name: str
    reason: Reason
    detail: str


class Folder(Struct):
    """One folder: ``path`` as reached, ``real`` without links; ``files`` maps a name to its real path."""

    path: str
    real: str
    linked: bool = False
    files: dict[str, str] = field(default_factory=dict)
    folders: dict[str, Folder] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    #: folders that are not looked into, because their name begins with a dot, but have what a package has
    hidden: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The last component of the path as reached."""
        return os.path.basename(self.path)


class TooManyError(Exception):
    """The tree has more entries than the limit."""


class Walker:
    """Takes pictures of folders inside one root."""

    def __init__(self, root: str, limits: Limits) -> None:
        self._root = os.path.realpath(root)
        self._prefix = self._root.rstrip("/") + "/"
        self._limits = limits
        self._entries = 0
        self._resolved: dict[str, str] = {}
        self._links: dict[tuple[str, str], str | Fault] = {}

    def holds(self, real: str) -> bool:
        """Whether a resolved path is inside the root."""
        return real == self._root or real.startswith(self._prefix)

    def walk(self, path: str) -> Folder:
        """The whole tree at ``path``. Raises :class:`TooManyError`."""
        top = Folder(path, os.path.realpath(path))
        chain = [top.real]
        while chain[0] != self._root and self.holds(chain[0]):
            chain.insert(0, os.path.dirname(chain[0]))
        self._fill(top, tuple(chain))
        return top

    def shallow(self, path: str) -> Folder:
        """The files of one folder, without subfolders. Raises :class:`TooManyError`."""
        folder = Folder(path, os.path.realpath(path))
        for entry in self._entries_of(folder):
            if entry.is_symlink():
                self._link(folder, entry, folders=False)
            elif entry.is_file(follow_symlinks=False):
                folder.files[entry.name] = f"{folder.real}/{entry.name}"
        return folder

    def _entries_of(self, folder: Folder) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(folder.real) as scan:
                for entry in scan:
                    self._entries += 1
                    if self._entries > self._limits.tree_entries:
                        raise TooManyError
                    if entry.name.startswith("."):
                        if entry.is_dir(follow_symlinks=False) and _holds_package(entry.path):
                            folder.hidden.append(entry.name)
                    elif entry.name != "__MACOSX":
                        yield entry
        except OSError as e:
            folder.faults.append(Fault("", Reason.UNREADABLE, e.strerror or str(e)))

    def _fill(self, folder: Folder, chain: tuple[str, ...]) -> None:
        if len(chain) > self._limits.depth:
            folder.faults.append(Fault("", Reason.UNREADABLE, f"more than {self._limits.depth} folders deep"))
            return
        below: list[Folder] = []
        for entry in self._entries_of(folder):
            name = entry.name
            if entry.is_symlink():
                target = self._link(folder, entry, folders=True)
                if target is not None and target not in chain:
                    below.append(Folder(f"{folder.path}/{name}", target, linked=True))
            elif entry.is_dir(follow_symlinks=False):
                below.append(Folder(f"{folder.path}/{name}", f"{folder.real}/{name}"))
            elif entry.is_file(follow_symlinks=False):
                folder.files[name] = f"{folder.real}/{name}"
            else:
                folder.faults.append(Fault(name, Reason.UNREADABLE, f"{escaped(name)} is not a regular file"))
        below.sort(key=lambda f: f.name)
        for sub in below:
            folder.folders[sub.name] = sub
            self._fill(sub, (*chain, sub.real))

    def _resolve(self, at: str, text: str) -> str:
        """The target of the link ``text`` in the real folder ``at``; links into one folder share its resolution."""
        where, name = os.path.split(text)
        if name in ("", ".", ".."):
            return os.path.realpath(f"{at}/{text}")
        while where == ".." or where.startswith("../"):  # the parent of a real folder is its own path's
            at, where = os.path.dirname(at), where[3:]
        where = os.path.join(at, where)
        real = self._resolved.get(where)
        if real is None:
            real = self._resolved[where] = os.path.realpath(where)
        path = os.path.join(real, name)
        return os.path.realpath(path) if os.path.islink(path) else path

    def _link(self, folder: Folder, entry: os.DirEntry[str], *, folders: bool) -> str | None:
        """Follows a link: a file becomes a file of the folder; for a folder the real path is returned."""
        name, at = entry.name, (folder.real, entry.name)
        if (found := self._links.get(at)) is None:  # many paths may lead to one link, whose text may be long
            found = self._links[at] = self._followed(*at)
        if isinstance(found, Fault):
            folder.faults.append(found)
        elif not found.endswith("/"):
            folder.files[name] = found
        elif folders:
            return found[:-1]
        return None

    def _followed(self, at: str, name: str) -> str | Fault:
        """The real path that a link in the real folder ``at`` leads to, of a folder with a slash at its end."""
        try:
            text = os.readlink(f"{at}/{name}")
            shown = f"{escaped(name)} -> {escaped(text)}"
            real = self._resolve(at, text)
            if not self.holds(real):
                return Fault(name, Reason.PATH_ESCAPE, f"{shown} leaves the package")
            mode = os.stat(real).st_mode  # raises for a link to itself
        except (OSError, ValueError):
            return Fault(name, Reason.DANGLING_LINK, f"{escaped(name)} leads nowhere")
        if stat.S_ISREG(mode):
            return real
        return f"{real}/" if stat.S_ISDIR(mode) else Fault(name, Reason.UNREADABLE, f"{shown} is not a regular file")


def _holds_package(path: str) -> bool:
    """Whether a folder, or one right below it, has what tells a package."""
    try:
        below = sorted(os.listdir(path))[:_LOOKED_INTO]  # noqa: PTH208
    except OSError:
        return False
    places = [path, *(f"{path}/{sub}" for sub in below)]
    return any(os.path.isfile(f"{place}/{name}") for place in places for name in _TELLING)  # noqa: PTH113
