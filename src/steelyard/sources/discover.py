"""Finds the implementations in a folder or a zip file.

A folder below a crypto_* folder is read with that folder's parent as root, so that links to siblings and to shared
sources work for a single implementation as they do for the whole tree. For the same reason a cipher of a FELICS-AE tree
is read with the folder of all ciphers as root, and block ciphers of the first FELICS with its tree.

Every folder with an ``api.h`` becomes an implementation, part of one (whose files include that ``api.h``), or a
rejection.
"""

# paths are strings here, because a tree has thousands of them
# ruff: noqa: PTH100, PTH112, PTH113, PTH119, PTH120, PTH208

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from ..model import paths
from ..model.implementation import Implementation, Rejected
from ..model.reasons import NOTHING, Failure, Reason
from . import cores, felics, phases
from .archive import unpack
from .escape import escaped
from .kind import COMPILED, TEST_FOLDERS, Kind, kind_of
from .layout import ANCHORS, OTHERS, Naming, anchor_of, naming
from .limits import Limits
from .package import Package, own_sources
from .reader import Reader
from .sizes import with_sizes
from .tree import Folder, TooManyError, Walker

#: folders that hold a package's own parts, not further implementations
_PARTS = frozenset(
    {"src", "source", "sources", "lib", "inc", "include", "includes", "headers", "util", "utils", "utility"}
    | {"common", "core", "asm", "startup"}
)
#: how many folders above an implementation may hold its KAT file, api.h and wrapper
_LEVELS_UP = 3
DEFAULT_CACHE = Path(".steelyard") / "cache" / "packages"


class Found(Struct, frozen=True):
    """The content of a folder or archive, in a fixed order."""

    implementations: tuple[Implementation, ...]
    rejected: tuple[Rejected, ...]


def discover(path: Path, *, limits: Limits = Limits(), cache: Path = DEFAULT_CACHE) -> Found:  # noqa: B008
    """Every implementation at ``path``, a folder, a zip file or a place in one (``a.zip/folder``), and a reason for
    everything that looks like one and is not.

    Zip files are unpacked once, below ``cache``, into a folder named by their hash. Raises nothing for unreadable or
    hostile content: that is a rejection too. Example: ``discover(Path("ciphers/crypto_aead/ascon")).implementations``.
    """
    lexical = os.path.abspath(path)
    if os.path.isdir(lexical):
        return _folder(lexical, limits)
    archive, part = paths.in_zip(Path(lexical))
    unpacked = unpack(archive, cache, limits)
    if isinstance(unpacked, Failure):
        return Found((), (Rejected(Path(lexical), unpacked),))
    top = str(unpacked)
    search = _Search(Walker(top, limits), limits, (archive.stem,), top, str(archive))
    found = search.run(top, [])
    return found if not part else _of_part(found, unpacked / part, Path(lexical))


def read_with(folder: Path) -> tuple[list[Path], list[Path]]:
    """The folders that are read where one is named, which is among them, and those above of which files alone are. They
    need not be there."""
    shared, at = phases.rotations_of(str(folder)), anchor_of(folder.parts)
    folders = [*cores.halves(folder), *([] if shared is None else [Path(shared)])]
    above = [] if at is None else [p for f in folders for p in list(f.parents)[:_LEVELS_UP] if len(p.parts) > at]
    return folders, above


def _of_part(found: Found, folder: Path, named: Path) -> Found:
    """What lies in a folder of an archive, which the user ``named``."""
    inside = tuple(i for i in found.implementations if i.folder.is_relative_to(folder))
    refused = tuple(r for r in found.rejected if r.path.is_relative_to(named))
    if not inside and not refused:
        refused = (Rejected(named, Failure(Reason.NO_SOURCES, NOTHING)),)
    return Found(inside, refused)


def _folder(path: str, limits: Limits) -> Found:
    parts = path.strip("/").split("/")
    at = anchor_of(parts)
    root = phases.tree_of(path) or _felics_root(path) if at is None else "/" + "/".join(parts[:at])
    walker = Walker(root, limits)
    if not walker.holds(os.path.realpath(path)):  # the user named a link: take its target
        return _folder(os.path.realpath(path), limits)
    above: list[str] = []
    if at is not None:
        above = ["/" + "/".join(parts[:i]) for i in range(len(parts) - 1, at, -1)]
    return _Search(walker, limits, tuple(parts), path, path).run(path, above)


def _felics_root(path: str) -> str:
    """The folder of all ciphers when ``path`` is a cipher of a FELICS-AE tree, otherwise ``path``."""
    cipher = Path(path).parent if os.path.basename(path) == "source" else Path(path)
    return (
        str(cipher.parent)
        if felics.cipher_and_version([cipher.name]) and (cipher / "source" / felics.INFO).is_file()
        else path
    )


class _Search:
    def __init__(self, walker: Walker, limits: Limits, given: tuple[str, ...], top: str, shown: str) -> None:
        self._walker, self._limits, self._reader = walker, limits, Reader(limits.file_bytes)
        self._given, self._top, self._shown = given, top, shown
        self._implementations: list[Implementation] = []
        self._rejected: list[Rejected] = []
        #: rejections that are reported only when nothing else is found
        self._minor: list[Rejected] = []
        #: by folder: why an api.h in it or below it makes no implementation
        self._why: dict[str, Failure] = {}
        self._shared: dict[str, bool] = {}

    def run(self, path: str, above: list[str]) -> Found:
        try:
            tree = self._walker.walk(path)
            chain = [self._walker.shallow(p) for p in above[:_LEVELS_UP]]
        except TooManyError:
            detail = f"more than {self._limits.tree_entries} entries; name a smaller folder"
            return Found((), (Rejected(Path(self._shown), Failure(Reason.UNREADABLE, detail)),))
        other = next((p for p in self._given[-_LEVELS_UP:] if p in OTHERS), None)
        anchored = anchor_of(self._given) is not None
        if other and not anchored:
            self._why[path] = _other(other)
        else:
            self._visit(tree, chain, anchored)
        self._account(tree, *self._covered(), None)
        if not (self._implementations or self._rejected):
            detail = "neither a crypto_* folder nor one with api.h and sources"
            self._rejected = self._minor or [Rejected(Path(self._shown), Failure(Reason.NO_SOURCES, detail))]
        return Found(
            tuple(sorted(self._implementations, key=lambda i: (i.primitive, *_by_name(i), str(i.folder)))),
            tuple(sorted(self._rejected, key=lambda r: (str(r.path), r.failure.reason, r.failure.detail))),
        )

    def _visit(self, folder: Folder, above: list[Folder], anchored: bool) -> None:
        """Decides whether a folder is an implementation or a level above some."""
        anchored = anchored or self._is_anchor(folder)
        for name in sorted(folder.hidden):
            text = "passed over, as its name begins with a dot: rename it"
            self._reject(f"{folder.path}/{name}", Failure(Reason.NO_SOURCES, text), True)
        if felics.is_template(self._parts(folder)):
            self._why[folder.path] = Failure(Reason.NO_SOURCES, "FELICS-AE's template for a new cipher")
            return
        if folder.name == "source" and phases.is_template(self._parts(folder)):
            self._reject(folder.path, Failure(Reason.NO_SOURCES, "FELICS's template for a new cipher"), True)
            return
        if folder.name in OTHERS and not anchored:
            self._why[folder.path] = _other(folder.name)
            return
        own = own_sources(folder)
        if own and self._lacks_info(folder, above):
            text = f"no {felics.INFO}, which FELICS cannot do without"
            self._reject(folder.path, Failure(Reason.NO_SOURCES, text), True)
            return
        apart = [f for sub in folder.folders.values() for f in _packages(sub)]
        if self._is_package(folder, above, own, bool(apart), anchored):
            self._read(folder, above, frozenset(f.path for f in apart), anchored)
            for sub in apart:
                self._visit(sub, [folder, *above], anchored)
            return
        for fault in folder.faults:
            if fault.reason is Reason.PATH_ESCAPE or anchored or fault.name in ("", "api.h"):
                where = f"{folder.path}/{fault.name}" if fault.name else folder.path
                told = anchored or fault.name in (*ANCHORS, "api.h")
                self._reject(where, Failure(fault.reason, fault.detail), told)
        up = [folder] if self._is_anchor(folder) else [folder, *above][:_LEVELS_UP]
        for name in sorted(folder.folders):
            self._visit(folder.folders[name], up, anchored)

    def _lacks_info(self, folder: Folder, above: list[Folder]) -> bool:
        """Whether a folder of sources is a cipher of a FELICS tree by its name and place, and has not what says so."""
        if folder.name != "source" or not {felics.INFO, "api.h"}.isdisjoint(folder.files):
            return False
        parts = self._parts(folder)
        beside = above[1].folders.values() if len(above) > 1 else ()
        tree = any("source" in f.folders and felics.INFO in f.folders["source"].files for f in beside)
        return phases.named(parts) is not None or (tree and felics.cipher_and_version(parts) is not None)

    def _is_package(self, folder: Folder, above: list[Folder], own: bool, apart: bool, anchored: bool) -> bool:
        # an api.h in a folder of headers, as in projects with Inc/ and Src/, belongs to the parent folder
        parts = [sub for sub in folder.folders.values() if sub.name.lower() in _PARTS and not sub.linked]
        api = "api.h" in folder.files or any("api.h" in sub.files and not _sources_below(sub) for sub in parts)
        if felics.INFO in folder.files and (folder.name == "source" or own):
            return True
        if not (anchored or api or folder.path == self._top):
            return False
        if own:
            return api or not (apart or _any_anchor(folder))
        if apart or self._is_anchor(folder):
            return False
        below = [f for f in folder.folders.values() if f.name.lower() not in TEST_FOLDERS and _sources_below(f)]
        if below:
            near = api or any("api.h" in f.files for f in (*folder.folders.values(), *above[:1]))
            return near and all(sub.name.lower() in _PARTS for sub in below)
        kinds = {kind_of(n) for n in folder.files}
        api = "api.h" in folder.files
        if Kind.FOREIGN_ASM in kinds or Kind.WRAPPER in kinds:
            return api or anchored
        return api or (anchored and Kind.HEADER in kinds)

    def _read(self, folder: Folder, above: list[Folder], apart: frozenset[str], anchored: bool) -> None:
        where = naming(self._parts(folder), len(self._given), lambda up: self._holds(folder.path, up))
        holds = self._walker.holds
        package = Package(folder, above[:_LEVELS_UP], apart, where, self._reader, self._limits, holds)
        said = package.read() if cores.place(self._parts(folder)) is None else self._core(folder, where)
        if isinstance(said, Failure):
            self._reject(folder.path, said, anchored or not {"api.h", felics.INFO}.isdisjoint(folder.files))
            self._why[folder.path] = Failure(said.reason, f"part of {escaped(folder.name)}: {said.detail}")
        else:
            named = said if where.primitives else map(with_sizes, said)
            self._implementations += (i for i in named if i not in self._implementations)

    def _core(self, folder: Folder, where: Naming) -> list[Implementation] | Failure:
        """The block cipher of two folders of ``crypto_core``, of which ``folder`` is one."""
        at = cores.place(self._parts(folder)) or 1

        def path(direction: str) -> str:
            return str(cores.turned(Path(folder.path), at, direction))

        def package(direction: str) -> Package | None:
            try:
                half = folder if path(direction) == folder.path else self._other_half(path(direction))
                above = [self._walker.shallow(p) for p in self._inside(path(direction), at - 1)]
            except TooManyError:
                return None
            return Package(half, above, frozenset(), where, self._reader, self._limits) if half is not None else None

        said = cores.read(where, Path(path("encrypt")), package)
        return said if isinstance(said, Failure) else [said]

    def _other_half(self, path: str) -> Folder | None:
        inside = os.path.isdir(path) and self._walker.holds(os.path.realpath(path))
        return self._walker.walk(path) if inside else None

    def _inside(self, path: str, levels: int) -> list[str]:
        """So many folders above ``path``, those that no link leads out of the root."""
        above = map(str, list(Path(path).parents)[:levels])
        return [p for p in above if self._walker.holds(os.path.realpath(p))]

    def _holds(self, path: str, up: int) -> bool:
        """Whether the folder ``up`` levels above ``path`` has an implementation directly below it."""
        for _ in range(up):
            path = os.path.dirname(path)
        if path not in self._shared:
            try:
                self._shared[path] = any(os.path.isfile(f"{path}/{name}/api.h") for name in os.listdir(path))
            except OSError:
                self._shared[path] = False
        return self._shared[path]

    def _covered(self) -> tuple[set[str], set[str]]:
        """Folders that were accepted or rejected, and the real path of every api.h that an implementation includes."""
        rows = {str(i.folder) for i in self._implementations}
        rows |= {str(r.path) for r in self._rejected}
        files = (f for i in self._implementations for f in i.files if f.name.endswith("api.h"))
        return rows, {str(f.path) for f in files}

    def _account(self, folder: Folder, rows: set[str], used: set[str], why: Failure | None) -> None:
        """Rejects each folder whose api.h is not used."""
        if folder.linked:
            return
        why = self._why.get(folder.path, why)
        api = folder.files.get("api.h")
        if api is not None and api not in used and rows.isdisjoint({folder.path, str(self._show(folder.path))}):
            self._reject(folder.path, why or Failure(Reason.NO_SOURCES, "an api.h without sources"), True)
        for sub in folder.folders.values():
            self._account(sub, rows, used, why)

    def _reject(self, path: str, failure: Failure, told: bool) -> None:
        (self._rejected if told else self._minor).append(Rejected(self._show(path), failure))

    def _parts(self, folder: Folder) -> tuple[str, ...]:
        below = folder.path[len(self._top) :].strip("/")
        return (*self._given, *below.split("/")) if below else self._given

    def _is_anchor(self, folder: Folder) -> bool:
        return self._parts(folder)[-1] in ANCHORS

    def _show(self, path: str) -> Path:
        return Path(self._shown + path[len(self._top) :])


def _by_name(implementation: Implementation) -> tuple[str, str, str]:
    return implementation.family, implementation.variant, implementation.name


def _other(name: str) -> Failure:
    return Failure(Reason.OTHER_PRIMITIVE, f"{escaped(name)} is not measured")


def _packages(folder: Folder) -> list[Folder]:
    """Separate packages at or below a folder: those with an api.h and sources, not reached by a link."""
    if folder.linked:
        return []
    if "api.h" in folder.files and own_sources(folder):
        return [folder]
    return [f for sub in folder.folders.values() for f in _packages(sub)]


def _sources_below(folder: Folder) -> bool:
    return _search_below(folder, lambda f: any(kind_of(n) in COMPILED for n in f.files))


def _any_anchor(folder: Folder) -> bool:
    return any(_search_below(sub, lambda f: f.name in ANCHORS) for sub in folder.folders.values())


def _search_below(folder: Folder, test: Callable[[Folder], bool]) -> bool:
    return test(folder) or any(_search_below(sub, test) for sub in folder.folders.values())
