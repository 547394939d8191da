"""Logs in the database itself, where it has no folder for them: on a server, which many machines use."""

from __future__ import annotations

from collections.abc import Collection
from io import BytesIO

from sqlalchemy import Connection, Engine, bindparam, delete, insert, select

from . import blobs
from .engine import explained
from .errors import StoreError
from .leasing import repeated
from .queries import batches
from .schema import build_log

#: bytes that a log has compressed at the most: servers take a statement of 16 MiB, in which some bytes are two
PACKED = 8 << 20
#: logs that are read at once
_AT_ONCE = 20
_THERE = select(build_log.c.digest).where(build_log.c.digest.in_(bindparam("digests", expanding=True)))
_CONTENT = select(build_log.c.content).where(build_log.c.digest == bindparam("wanted"))
_CONTENTS = select(build_log.c.digest, build_log.c.content).where(
    build_log.c.digest.in_(bindparam("digests", expanding=True))
)
_KEPT = _THERE.with_for_update(read=True)
_MINE = _THERE.with_for_update()
_INTO = insert(build_log)
_GONE = delete(build_log).where(build_log.c.digest.in_(bindparam("digests", expanding=True)))


class Logs:
    """The table of logs, as :class:`.blobs.Blobs` is a folder of them. Methods raise :class:`StoreError`."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine, self._name = engine, name

    def put(self, content: str | bytes, within: Connection | None = None) -> str:
        """Stores a log unless it is there and whole, and returns its digest; in a transaction of its own, or ``within``
        one, to the end of which nobody deletes it. Its caller has the driver's errors then: where another stores the
        same just now, :func:`repeated` begins anew."""
        digest, data = blobs.named(content)

        def work(connection: Connection) -> None:
            # a lock of what is not there would keep MariaDB's other writers out
            there = connection.execute(_CONTENT, {"wanted": digest}).scalar()
            if there is not None and not blobs.is_whole(BytesIO(there), digest):
                connection.execute(_GONE, {"digests": [digest]})
                there = None
            if there is None or connection.execute(_KEPT, {"digests": [digest]}).first() is None:
                small = blobs.packed(data)
                if len(small) > PACKED:
                    raise StoreError(f"a log has {len(small)} bytes compressed, and at most {PACKED}")
                connection.execute(_INTO, {"digest": digest, "content": small})

        if within is not None:
            work(within)
        else:
            with explained(self._name):
                repeated(self._engine, work)
        return digest

    def get(self, digest: str) -> bytes:
        """The content, checked against its digest."""
        with explained(self._name), self._engine.connect() as connection:
            found = connection.execute(_CONTENT, {"wanted": blobs.checked(digest)}).scalar()
        where = f"{self._name}: log {digest}"
        if found is None:
            raise blobs.missing(where)
        return blobs.unpacked(BytesIO(found), digest, where)

    def has(self, digests: Collection[str]) -> set[str]:
        """Those of these that are there and whole."""
        whole = set[str]()
        with explained(self._name), self._engine.connect() as connection:
            for some in batches(sorted(digests), _AT_ONCE):
                found = connection.execute(_CONTENTS, {"digests": some})
                whole.update(digest for digest, content in found if blobs.is_whole(BytesIO(content), digest))
        return whole

    def hold(self, digests: Collection[str], within: Connection) -> None:
        """Waits for transactions that store runs with these, as those that begin later wait for this one."""
        within.execute(_MINE, {"digests": sorted(digests)}).all()

    def drop(self, digests: Collection[str], within: Connection) -> None:
        """Deletes these, if they are there."""
        within.execute(_GONE, {"digests": sorted(digests)})
