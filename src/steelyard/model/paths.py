"""Where things lie: the project's data, and the folder that holds caches and results."""

from __future__ import annotations

import os
from pathlib import Path

#: the checkout: targets/, harness/ and ciphers/ are data beside the package
ROOT = Path(os.environ.get("STEELYARD_ROOT") or Path(__file__).resolve().parents[3])
TARGETS = ROOT / "targets"
HARNESS = ROOT / "harness"
CIPHERS = ROOT / "ciphers"


def home() -> Path:
    """Folder for caches and the default database: ``$STEELYARD_HOME``, else ``.steelyard`` here."""
    return Path(os.environ.get("STEELYARD_HOME") or ".steelyard").resolve()


def search_path() -> str:
    """Where compilers are looked for: ``PATH``, then toolchains that were built here."""
    built = sorted((home() / "toolchains").glob("*/bin"))
    return os.pathsep.join([os.environ.get("PATH", "/usr/bin:/bin"), *map(str, built)])


def short(path: Path) -> str:
    """``path`` as a user types it: relative to the current folder when it lies below."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError, RuntimeError):  # elsewhere, or a link to itself
        return str(path)
