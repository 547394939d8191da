"""How values are written, whatever the database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from .errors import StoreError

#: newest revision in migrations/versions, which the queries are for; a test compares the two
HEAD = "0002"

#: where a database keeps its revision; its own name, so that a server can be shared
REVISION_TABLE = "steelyard_revision"

#: a moment is stored in microseconds since
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


#: characters that fit a short column of this name; SQLite would take more, and another database fewer
LENGTHS = {
    "identity": 64, "key": 64, "primitive": 64, "family": 255, "variant": 255, "name": 255, "digest": 64,
    "version": 255, "sha256": 64, "device": 255, "harness": 255, "timing_model": 255, "reason": 64,
    "verified_with": 64, "log": 64, "host": 255, "metric": 128, "operation": 16, "member": 255,
    "seed": 64, "answers": 64,
}  # fmt: skip


def stored(column: str, value: Any) -> Any:
    """A value as its column takes it; :class:`StoreError` for one that some database would not give back."""
    if isinstance(value, str):
        text = storable(value)
        if len(text) > LENGTHS.get(column, len(text)):
            raise StoreError(f"{text[:40]!r}... has {len(text)} characters; at most {LENGTHS[column]} fit")
        return text
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise StoreError(f"the time {value} has no zone; use datetime.now(UTC)")
        return (value - EPOCH) // MICROSECOND
    return value


def storable(text: str) -> str:
    """``text`` with what some database refuses (NUL, lone surrogates) written as an escape."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
