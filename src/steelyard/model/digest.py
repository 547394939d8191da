"""SHA-256 of files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from stat import S_ISREG


def of_file(file: Path) -> str:
    """Of a file's bytes, in hexadecimal digits. :class:`OSError` when it cannot be read."""
    with file.open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def of_files(files: Iterable[Path], root: Path, *more: str) -> str:
    """Of files in their order: names below ``root``, and contents; and of ``more`` before them."""
    h = hashlib.sha256("\0".join(more).encode())
    for f in files:
        h.update(f"{f.relative_to(root)}\0".encode() + bytes.fromhex(of_file(f)))
    return h.hexdigest()


def of_folder(folder: Path, *more: str, but: str = "") -> str:
    """Of all files in a folder and below it, except those called ``but``; and of ``more``. Every build asks for some:
    files are read again when their size or time changed. :class:`OSError` when one cannot be read."""
    return _stamped(folder, more, tuple(sorted(s for s in _stamps(str(folder)) if s[0][-1] != but)))


def _stamps(folder: str, *above: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Each file's path as names, time and size. What goes meanwhile is left out, and so is a link to nothing."""
    with suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                yield from _stamps(entry.path, *above, entry.name)
                continue
            with suppress(FileNotFoundError):
                s = entry.stat()
                if S_ISREG(s.st_mode):
                    yield (*above, entry.name), s.st_mtime_ns, s.st_size


@cache
def _stamped(folder: Path, more: tuple[str, ...], files: tuple[tuple[tuple[str, ...], int, int], ...]) -> str:
    return of_files((folder.joinpath(*names) for names, *_ in files), folder, *more)
