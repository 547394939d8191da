"""When runs ended, as far as it can be believed: by a clock that is ahead a run would stay the newest for years."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from steelyard.model.reasons import MACHINE
from steelyard.model.record import Record

from .values import EPOCH, MICROSECOND

#: microseconds, as answers tell times apart
MINUTE = 60_000_000
#: how far clocks of machines that work together may be apart
APART = timedelta(minutes=5)


def now() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000


def dated(record: Record) -> Record:
    """The record; one of the future is dated now, and says so."""
    today, at = datetime.now(UTC), record.finished
    if at is None or at.tzinfo is None or at <= today + APART:
        return record
    said = f"the clock of {record.host or 'its machine'} was ahead: it said {at:%Y-%m-%d %H:%M}; dated when it came"
    return replace(record, finished=today, notes=(*record.notes, said))


def ended(at: int | None) -> int:
    """When a stored run ended, in microseconds since 1970; nothing is known of one that has no time, or a future
    one."""
    return 0 if at is None or at > (datetime.now(UTC) + APART - EPOCH) // MICROSECOND else at


def is_later(one: Record, other: Record) -> bool:
    """Whether a run ended after another, as far as its date can be believed."""
    at, before = one.finished, other.finished
    return at is not None and before is not None and at > before and dated(one) is one


def newest_last(record: Record) -> tuple[bool, int, int]:
    """What orders stored runs of one setup: those that a machine's failure ended first, then by time and number, for
    what is copied from an older database has later numbers."""
    at = record.finished
    minute = 0 if at is None else ended((at - EPOCH) // MICROSECOND) // MINUTE
    return record.failure is None or record.failure.reason not in MACHINE, minute, record.id or 0
