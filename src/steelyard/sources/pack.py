"""Packs a folder of implementations as a zip whose bytes say nothing but its content: equal ones have one digest."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath

from ..model.errors import UserError, cut
from . import cores
from .layout import anchor_of
from .limits import HANDED_IN, Limits

#: the first day that a zip knows, and the modes of a file and a link there
_DAY, _MODE, _LINK = (1980, 1, 1, 0, 0, 0), 0o644 << 16, (stat.S_IFLNK | 0o777) << 16
#: folders above an implementation that may hold its KAT file
_ABOVE = 2


def pack(
    path: Path, limits: Limits = HANDED_IN, *, called: Sequence[str] = (), within: Path | None = None
) -> tuple[str, bytes]:
    """Name and bytes of a zip of what is at ``path``: a zip as it is, a folder with its path from its crypto_* folder
    on, and with the files above that belong to it. A folder without one may be ``called`` by other parts in the zip,
    and has the files above that are ``within`` what was named. Raises :class:`UserError` where it cannot be read, or is
    too large."""
    try:
        if not path.is_dir():
            if not stat.S_ISREG(path.stat().st_mode):
                raise UserError(f"{cut(str(path))}: neither a folder nor a regular file; name one of these")
            if path.stat().st_size > limits.zip_bytes:
                raise UserError(f"{cut(str(path))}: larger than {limits.zip_bytes >> 20} MiB; hand in less at once")
            return path.name, path.read_bytes()
        folder = path.resolve()
        return f"{folder.name}.zip", _packed(folder, limits, sorted(_files(folder, called, within)))
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
            info = zipfile.ZipInfo(name, _DAY)
            info.external_attr, info.compress_type = _LINK if link else _MODE, zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return out.getvalue()


def _files(folder: Path, called: Sequence[str], within: Path | None) -> Iterator[tuple[str, Path]]:
    """Each file below, and those right above, by its name in the zip; of ``crypto_core`` both halves. Links become what
    they lead to; those that lead nowhere stay, for whoever looks through the zip to say so."""
    at = anchor_of(folder.parts)
    halves = cores.halves(folder)
    if at is None:
        root, above = folder, [p for p in folder.parents[:_ABOVE] if called and within and p.is_relative_to(within)]
        places = [PurePosixPath(*called), *PurePosixPath(*called).parents]
    else:
        root = Path(*folder.parts[:at])
        above = [p for half in halves for p in _above(half, root)]
        places = []
    for p in (p for p in dict.fromkeys(above) if p.is_dir()):
        at_p = places[len(folder.relative_to(p).parts)] if places else PurePosixPath(p.relative_to(root))
        yield from ((str(at_p / f.name), f) for f in p.iterdir() if f.is_file())
    seen = set[Path]()
    for place, folders, files in chain.from_iterable(os.walk(f, followlinks=True) for f in halves):
        here = Path(place)
        folders[:] = [f for f in folders if not f.startswith(".") and (here / f).resolve() not in seen]
        seen |= {(here / f).resolve() for f in folders}
        below = here.relative_to(root)
        name = places[0] / below if places else PurePosixPath(below)
        yield from ((str(name / f), here / f) for f in files if _is_taken(here / f))


def _is_taken(file: Path) -> bool:
    return file.is_file() or (_leads_nowhere(file) and not file.name.startswith("."))


def _leads_nowhere(file: Path) -> bool:
    return file.is_symlink() and not os.path.exists(file)  # noqa: PTH110 - Path.exists raises for a link to itself


def _above(folder: Path, root: Path) -> list[Path]:
    """The folders above that may hold a part of it."""
    return [p for p in folder.parents if p != root and p.is_relative_to(root)][:_ABOVE]
