"""Paths: the project's data, and the folder for caches and results."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

#: the checkout; targets/, harness/, ciphers/ and bench/kernels/ are data outside the Python package
ROOT = Path(os.environ.get("STEELYARD_ROOT") or Path(__file__).resolve().parents[3])
TARGETS = ROOT / "targets"
HARNESS = ROOT / "harness"
CIPHERS = ROOT / "ciphers"
KERNELS = ROOT / "bench" / "kernels"


def home() -> Path:
    """The folder for caches and the default database: ``$STEELYARD_HOME``, or ``.steelyard`` in the current folder."""
    return Path(os.environ.get("STEELYARD_HOME") or ".steelyard").resolve()


def shared() -> Path:
    """The folder for locks of what a machine has once: the same for all its users, whatever their ``TMPDIR`` is, unless
    ``$STEELYARD_LOCKS`` names another."""
    return Path(os.environ.get("STEELYARD_LOCKS") or "/tmp")


def search_path() -> str:
    """Where compilers are searched: ``PATH``, then the toolchains built under :func:`home`."""
    built = sorted((home() / "toolchains").glob("*/bin"))
    return os.pathsep.join([os.environ.get("PATH", "/usr/bin:/bin"), *map(str, built)])


def compiler(name: str) -> str | None:
    """Where a compiler or a program of its is, in :func:`search_path`."""
    return shutil.which(name, path=search_path())


def tool(name: str) -> str | None:
    """Where any other program is: in ``PATH``, or beside this Python, where packages of its environment put theirs."""
    return shutil.which(name) or shutil.which(name, path=Path(sys.executable).parent)


def in_zip(path: Path) -> tuple[Path, str]:
    """The zip that a path leads into, and the place in it (``a.zip/folder``); any other path itself, and nothing."""
    above = next((p for p in path.parents if p.suffix.lower() == ".zip" and p.is_file()), None)
    return (path, "") if above is None else (above, str(path.relative_to(above)))


def short(path: Path) -> str:
    """``path`` as a user would type it: relative to the current folder when it lies inside. A link is
    called by its own name."""
    try:
        place = path.resolve() if path.name in ("", "..") else path.parent.resolve() / path.name
        return str(place.relative_to(Path.cwd()))
    except (ValueError, OSError, RuntimeError):  # elsewhere, or below a link to itself
        return str(path)
