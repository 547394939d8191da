"""SHA-256 of files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


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
