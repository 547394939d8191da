"""How values are written, whatever the database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

#: seconds to wait for another process's lock
BUSY_SECONDS = 20.0

#: a moment is stored in microseconds since
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def storable(text: str) -> str:
    """``text`` with what some database refuses (NUL, lone surrogates) written as an escape."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
