"""Files that users name, which can be pipes and devices: nobody at the other end is waited for, and nothing is read
without end."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from . import paths
from .errors import UserError, cut

#: files that SQLite keeps beside a database, which are a part of it
PARTS = ("-wal", "-shm", "-journal")
_CHUNK = 1 << 20
_DATABASE = b"SQLite format 3\0"


class TooLargeError(Exception):
    """There is more than was allowed."""


def is_database(file: Path) -> bool:
    """Whether a file is one of SQLite's. Not for one that this process may have open: POSIX takes all locks on a file
    from a process that closes it. Raises :class:`OSError`."""
    with file.open("rb") as f:
        return f.read(len(_DATABASE)) == _DATABASE


def content(file: Path, most: int) -> bytes:
    """All bytes of ``file``; :class:`TooLargeError` where they are more than ``most``. Raises :class:`UserError` for
    what cannot be read, and for a pipe that nobody writes to."""
    try:
        # a pipe is opened without waiting for a writer; where there is none, it ends at once
        fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb", buffering=0) as f:  # noqa: PTH123, which takes no descriptor
            os.set_blocking(fd, True)
            parts, left = list[bytes](), most + 1
            while left > 0 and (part := f.read(min(left, _CHUNK))):
                parts.append(part)
                left -= len(part)
            nobody = not parts and stat.S_ISFIFO(os.fstat(fd).st_mode)
    except (OSError, ValueError) as e:
        said = getattr(e, "strerror", None) or e
        raise UserError(f"{cut(paths.short(file))}: {said}; name a file that can be read") from e
    if nobody:
        what = "is a pipe that nobody writes to; start what writes it before, or name a file"
        raise UserError(f"{cut(paths.short(file))}: {what}")
    if left <= 0:
        raise TooLargeError
    return b"".join(parts)


def fill(file: Path, data: bytes) -> bool:
    """Writes to what is at ``file`` and cannot be replaced by another: a device, a pipe, or a name of what is open,
    such as /dev/stdout. False, and nothing done, for other files. Raises :class:`OSError`; its number is ENXIO for a
    pipe that nobody reads."""
    opened = _opened(file)
    if opened is None and (not file.exists() or file.is_file()):
        return False
    if opened is None:
        fd = os.open(file, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        os.set_blocking(fd, True)
    else:
        fd = os.dup(opened)
    with open(fd, "wb") as f:  # noqa: PTH123
        f.write(data)
    return True


def _opened(file: Path) -> int | None:
    """The number of the open file that ``file`` names; None where it names another."""
    link = str(file.readlink()) if file.is_symlink() else ""
    place = link if link.startswith("/proc/") else f"{os.path.realpath(file.parent)}/{file.name}"
    found = re.fullmatch(rf"/proc/(?:self|{os.getpid()})/fd/(\d+)", place)
    return int(found[1]) if found else None
