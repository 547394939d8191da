"""Leases: who works on a run, where a lock on a file does not reach: in other folders, and on other machines.

A lease has a number, which none after it has again. Its holder beats; who waits may take over one that has not beaten
for long, by his own clock, which gives it another number. A record is stored together with the end of its lease, and
not at all where the lease of that number is gone: who was only suspended stores nothing. ``tenure.py`` does so.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from msgspec import Struct
from sqlalchemy import Connection, Engine, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError, OperationalError

from . import schema
from .engine import writing

#: times that a transaction is begun, and seconds that are waited at most before the last ones
_ATTEMPTS, _PAUSE = 12, 0.5
_T = TypeVar("_T")
#: what is done with a new lease, by its number
Then = Callable[[Connection, int], object]
#: statements that are made once: making them takes longer than databases take for them
_FOUND = select(schema.lease).where(schema.lease.c.key == bindparam("key"))
_MAKE = insert(schema.lease)
_END = delete(schema.lease).where(schema.lease.c.id == bindparam("number"))
_END_OF = _END.where(schema.lease.c.key == bindparam("of"), schema.lease.c.holder == bindparam("by"))


class Lease(Struct, frozen=True):
    """The lease of a run as the database has it; ``mine`` where this call made it."""

    number: int
    holder: str
    beats: int
    mine: bool = False


def repeated(engine: Engine, work: Callable[[Connection], _T]) -> _T:
    """Does work in a transaction. On servers two writers may insert the same, or deadlock; the loser starts again.
    SQLite's writers queue."""
    for attempt in range(_ATTEMPTS):
        try:
            with writing(engine).begin() as connection:
                return work(connection)
        except (IntegrityError, OperationalError) as error:
            if engine.dialect.name == "sqlite" or attempt == _ATTEMPTS - 1 or error.connection_invalidated:
                raise
            time.sleep(random.uniform(0, min(_PAUSE, 0.01 * 2**attempt)))  # so that the same two do not meet again
    raise AssertionError("unreachable")


def claim(engine: Engine, key: str, holder: str, stale: Lease | None = None, then: Then | None = None) -> Lease:
    """A new lease of the run with this key, or the one that another holder has. One that ``holder`` has is left from
    before, and one that is still as the ``stale`` one was is nobody's. ``then`` is done in the transaction that makes a
    new one."""
    lease = schema.lease

    def work(connection: Connection) -> Lease:
        if stale is not None:
            connection.execute(delete(lease).where(lease.c.id == stale.number, lease.c.beats == stale.beats))
        found = connection.execute(_FOUND, {"key": key}).first()
        if found is not None and found.holder != holder:
            return Lease(found.id, found.holder, found.beats)
        if found is not None:
            connection.execute(_END, {"number": found.id})
        made = _made(connection, key, holder)
        if then is not None:
            then(connection, made)
        return Lease(made, holder, 0, mine=True)

    return repeated(engine, work)


def anew(connection: Connection, key: str, holder: str) -> int:
    """The number of a new lease in this transaction, of what nobody works on: one that is there was left behind."""
    found = connection.execute(_FOUND, {"key": key}).first()
    if found is not None:
        connection.execute(_END, {"number": found.id})
    return _made(connection, key, holder)


def _made(connection: Connection, key: str, holder: str) -> int:
    made = connection.execute(_MAKE, {"key": key, "holder": holder, "beats": 0}).inserted_primary_key
    assert made is not None
    return int(made[0])


def beat(engine: Engine, numbers: Iterable[int]) -> None:
    """Says that their holder is alive."""
    lease = schema.lease
    repeated(
        engine,
        lambda connection: connection.execute(
            update(lease).where(lease.c.id.in_(sorted(numbers))).values(beats=lease.c.beats + 1)
        ),
    )


def end(engine: Engine, number: int) -> None:
    """Lets go of it."""
    repeated(engine, lambda connection: ended(connection, number))


def ended(connection: Connection, number: int, key: str | None = None, holder: str | None = None) -> bool:
    """Ends a lease in this transaction; whether it was there, of this ``key`` and this ``holder`` where they are
    given."""
    if key is None or holder is None:
        return connection.execute(_END, {"number": number}).rowcount == 1
    return connection.execute(_END_OF, {"number": number, "of": key, "by": holder}).rowcount == 1
