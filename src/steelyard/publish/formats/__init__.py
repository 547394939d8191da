"""Sheets to files: one module a format, chosen by the file's ending."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from ...model import userfile
from ...model.errors import WorkError, printable
from ..sheet import Sheet, encodable, shown

#: ending -> module here whose ``render(sheets)`` gives text or bytes
MODULES = {
    "md": "markdown",
    "html": "html",
    "tex": "latex",
    "csv": "csv",
    "json": "json",
    "xlsx": "xlsx",
    "ods": "ods",
    "parquet": "parquet",
}
#: formats that hold any text; in the others control characters, which a terminal or XML cannot show, are escapes
EXACT = ("json", "parquet")
#: formats for machines: all sheets as one, each row with all that tells it apart
FLAT = ("csv", "json", "parquet")


def render(sheets: Sequence[Sheet], ending: str) -> bytes:
    """All sheets in one format."""
    module = import_module(f".{MODULES[ending]}", __package__)
    made: Callable[[Sequence[Sheet]], str | bytes] = module.render
    content = made([shown(s, encodable if ending in EXACT else printable) for s in sheets])
    return content.encode() if isinstance(content, str) else content


def save(path: Path, content: bytes) -> None:
    """Puts ``content`` at ``path`` whole or not at all; :class:`WorkError` where that cannot be. What is there and
    no file, such as a device, a pipe or /dev/stdout, is written to."""
    try:
        if userfile.fill(path, content):
            return
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as f:
            f.write(content)
        os.chmod(f.name, 0o644)  # noqa: PTH101
        os.replace(f.name, path)  # noqa: PTH105
    except OSError as e:
        if e.errno == errno.ENXIO:
            raise WorkError(f"{path}: nobody reads this pipe; start what reads it before, or name a file") from e
        raise WorkError(f"{path}: {e.strerror}; nothing was written; name another file, or free some space") from e
