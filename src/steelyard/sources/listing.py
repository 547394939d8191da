"""The files of a folder that is taken for a package, by the parts that they play, and what is wrong with them."""

# paths are strings here, because a tree has thousands of them
# ruff: noqa: PTH119, PTH120

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct, field

from ..model.reasons import Failure, Reason
from .escape import escaped
from .kind import COMPILED, TEST_FOLDERS, Kind, is_boards, kind_of
from .tree import Fault, Folder

#: files that may lead nowhere or be none: no build reads them, or the compiler names the one that a source includes
_SPARED = (Kind.BINARY, Kind.IGNORED, Kind.MAKEFILE, Kind.UNKNOWN)
_SEVERITY = (Reason.PATH_ESCAPE, Reason.DANGLING_LINK, Reason.UNREADABLE)


class Listing(Struct):
    """Every file of a package by the part it plays: (name in the package, real path)."""

    files: dict[Kind, list[tuple[str, str]]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    count: int = 0

    def of(self, *kinds: Kind) -> list[tuple[str, str]]:
        """Its files of these kinds."""
        return sorted(f for k in kinds for f in self.files.get(k, ()))

    def fault(self, most: int) -> Failure | None:
        """Why these are not a package's files, of which there are at most so many."""
        if self.count > most:
            return Failure(Reason.UNREADABLE, f"{self.count} files, the limit is {most}")
        for reason in _SEVERITY:
            for f in sorted(self.faults, key=lambda f: f.name):
                base = os.path.basename(f.name)
                harmless = base and reason is not Reason.PATH_ESCAPE and kind_of(base) in _SPARED
                if f.reason is reason and not harmless:
                    return Failure(reason, _in(os.path.dirname(f.name), f.detail))
        return None


def listed(folder: Folder, apart: frozenset[str]) -> Listing:
    """What is in a folder and below it, without the folders that are ``apart``."""
    listing = Listing()
    _add(listing, folder, "", apart, False)
    return listing


def _add(listing: Listing, folder: Folder, prefix: str, apart: frozenset[str], test: bool) -> None:
    for f in folder.faults:
        listing.faults.append(Fault(prefix + f.name, f.reason, f.detail))
    listing.count += len(folder.files)
    for name in sorted(folder.files):
        kind = kind_of(name)
        if kind in COMPILED and (test or is_boards(name)):
            listing.left_out.append(prefix + name)
        else:
            listing.files.setdefault(kind, []).append((prefix + name, folder.files[name]))
    for name in sorted(folder.folders):
        sub = folder.folders[name]
        if sub.path not in apart:
            _add(listing, sub, f"{prefix}{name}/", apart, test or name.lower() in TEST_FOLDERS)


def named(found: Sequence[tuple[str, str]]) -> str:
    """The names of the first of some files."""
    shown = ", ".join(escaped(n) for n, _ in found[:8])
    return shown + (", ..." if len(found) > 8 else "")


def _in(folder: str, detail: str) -> str:
    return f"in {escaped(folder)}: {detail}" if folder else detail
