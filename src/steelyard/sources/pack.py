"""Packs a folder of implementations as a zip whose bytes say nothing but its content: equal ones have one digest."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath

from ..model.errors import UserError, cut
from . import cores
from .escape import escaped
from .layout import anchor_of
from .limits import HANDED_IN, Limits

#: the first day that a zip knows, and the modes of a file and a link there
_DAY, _MODE, _LINK = (1980, 1, 1, 0, 0, 0), 0o644 << 16, (stat.S_IFLNK | 0o777) << 16
#: folders above an implementation that may hold its KAT file
_ABOVE = 2


def pack(
    path: Path, limits: Limits = HANDED_IN, *, called: Sequence[str] = (), beside: Mapping[str, Path] | None = None
) -> tuple[str, bytes]:
    """Name and bytes of a zip of what is at ``path``: a zip as it is, a folder with its path from its crypto_* folder
    on, and with the files above that belong to it; or ``called`` by these parts in the zip, with the files ``beside``
    it one level above, by their names there. Raises :class:`UserError` where it cannot be read, or is too large."""
    try:
        if not path.is_dir():
            if not stat.S_ISREG(path.stat().st_mode):
                raise UserError(f"{cut(str(path))}: neither a folder nor a regular file; name one of these")
            if path.stat().st_size > limits.zip_bytes:
                raise UserError(f"{cut(str(path))}: larger than {limits.zip_bytes >> 20} MiB; hand in less at once")
            return path.name, path.read_bytes()
        folder = path.resolve()
        return f"{folder.name}.zip", _packed(
            folder, limits, sorted(_called(folder, called, beside or {}) if called else _files(folder))
        )
    except OSError as e:
        raise UserError(f"{cut(str(path))}: {e.strerror}; name a folder or a zip that you may read") from e


def _packed(folder: Path, limits: Limits, files: Iterable[tuple[str, Path]]) -> bytes:
    out, size = io.BytesIO(), 0
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for count, (name, file) in enumerate(files, 1):
            link = _leads_nowhere(file)
            content = os.fsencode(file.readlink()) if link else file.read_bytes()
            size += len(content)
            if size > limits.zip_bytes or count > limits.zip_members:
                most = f"{limits.zip_members} files or {limits.zip_bytes >> 20} MiB"
                raise UserError(f"{cut(str(folder))}: more than {most}; name a smaller folder")
            if name != name.encode(errors="replace").decode():
                raise UserError(f"{escaped(name)}: a name in a zip has to be UTF-8; rename it")
            info = zipfile.ZipInfo(name, _DAY)
            info.external_attr, info.compress_type = _LINK if link else _MODE, zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return out.getvalue()


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Each file below, and those right above, by its name in the zip; of ``crypto_core`` both halves."""
    at = anchor_of(folder.parts)
    root = folder if at is None else Path(*folder.parts[:at])
    halves = cores.halves(folder)
    above = dict.fromkeys(p for half in halves for p in _above(half, root) if p.is_dir())
    for p in above:
        yield from ((f.relative_to(root).as_posix(), f) for f in p.iterdir() if f.is_file() and f.name[0] != ".")
    yield from ((f.relative_to(root).as_posix(), f) for f in _below(*halves))


def _called(folder: Path, called: Sequence[str], beside: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    """Each file below by its name in a folder that is called so, and those beside it."""
    place = PurePosixPath(*called)
    yield from ((str(place / f.relative_to(folder)), f) for f in _below(folder))
    others = ((n, f) for n, f in beside.items() if not f.resolve().is_relative_to(folder))
    yield from ((str(place.parent / name), f) for name, f in others)


def _below(*folders: Path) -> Iterator[Path]:
    """Each file below. Links become what they lead to; those that lead nowhere stay, for whoever looks through the zip
    to say so."""
    seen = set[Path]()
    for place, inside, files in chain.from_iterable(os.walk(f, followlinks=True) for f in folders):
        here = Path(place)
        inside[:] = [f for f in inside if not f.startswith(".") and (here / f).resolve() not in seen]
        seen |= {(here / f).resolve() for f in inside}
        yield from (here / f for f in files if _is_taken(here / f))


def _is_taken(file: Path) -> bool:
    return file.is_file() or (_leads_nowhere(file) and not file.name.startswith("."))


def _leads_nowhere(file: Path) -> bool:
    return file.is_symlink() and not os.path.exists(file)  # noqa: PTH110 - Path.exists raises for a link to itself


def _above(folder: Path, root: Path) -> list[Path]:
    """The folders above that may hold a part of it."""
    return [p for p in folder.parents if p != root and p.is_relative_to(root)][:_ABOVE]
