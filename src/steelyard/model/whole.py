"""Files of ours that others may read at any moment: each is whole, or not there."""

from __future__ import annotations

import os
from pathlib import Path
from threading import get_ident


def put(file: Path, data: bytes) -> None:
    """Writes a file, whole or not at all, and makes its folder. :class:`OSError` where that cannot be."""
    file.parent.mkdir(parents=True, exist_ok=True)
    made = file.with_name(f".{file.name}.{os.getpid()}.{get_ident()}")
    try:
        made.write_bytes(data)
        made.replace(file)
    finally:
        made.unlink(missing_ok=True)
