"""How values are stored, whatever the database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

#: seconds to wait for another process's lock
BUSY_SECONDS = 20.0
#: newest revision in migrations/versions; a test compares the two
HEAD = "0008"
#: the table with the revision; its name is our own, so that a database can be shared
REVISION_TABLE = "steelyard_revision"

#: times are stored in microseconds since then
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def storable(text: str) -> str:
    """``text`` with characters that some databases refuse (NUL, lone surrogates) as escapes."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
