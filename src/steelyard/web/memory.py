"""Memory of this process."""

from __future__ import annotations

import ctypes
import resource
from functools import cache
from pathlib import Path


def trim() -> None:
    """Gives back what something large needed: the C library keeps it otherwise."""
    if trim := getattr(_c_library(), "malloc_trim", None):
        trim(0)


@cache
def _c_library() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def resident() -> int:
    """KiB of memory of this process; where that is not known, the most that it ever had."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return pages * resource.getpagesize() >> 10
