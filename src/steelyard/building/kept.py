"""Folders of the cache: they get their final name when complete, and are checked before use."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..model.digest import of_file

MANIFEST = "build.json"
#: seconds after which a work folder counts as abandoned
ABANDONED = 24 * 3600


def read(folder: Path) -> dict[str, Any] | None:
    """The manifest of ``folder``; None when there is no folder, or one of its files changed."""
    try:
        said = json.loads((folder / MANIFEST).read_text())
        whole = all(of_file(folder / name) == digest for name, digest in said["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return said if whole else None


@contextmanager
def working(parent: Path) -> Iterator[Path]:
    """Gives a work folder in ``parent``, which is removed at the end."""
    parent.mkdir(parents=True, exist_ok=True)
    for left in parent.glob(".work-*"):  # left by a process that was killed
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > ABANDONED:
                shutil.rmtree(left, ignore_errors=True)
    work = Path(tempfile.mkdtemp(prefix=".work-", dir=parent))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


@contextmanager
def made(final: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Gives a work folder and its manifest to fill in. On success the folder replaces ``final``; after an exception it
    is removed."""
    said: dict[str, Any] = {}
    with working(final.parent) as work:
        yield work, said
        said["files"] = {f.name: of_file(f) for f in sorted(work.iterdir()) if f.is_file()}
        (work / MANIFEST).write_text(json.dumps(said))
        _put(work, final)


def _put(work: Path, final: Path) -> None:
    try:
        work.rename(final)
    except OSError:
        if not final.exists():
            raise
        if not final.is_dir():
            final.unlink()
        elif _exchange(work, final):
            return
        else:
            final.rename(work.with_name(f"{work.name}.old"))
            shutil.rmtree(work.with_name(f"{work.name}.old"), ignore_errors=True)
        work.rename(final)


def _exchange(a: Path, b: Path) -> bool:
    """Swaps the names of two folders atomically, so that ``b`` always exists (renameat2(2), RENAME_EXCHANGE)."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError):
        return False
    here = ctypes.c_int(-100)  # AT_FDCWD; the paths are absolute
    return int(rename(here, os.fsencode(a), here, os.fsencode(b), ctypes.c_uint(2))) == 0
