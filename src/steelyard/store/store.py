"""The store: what the rest of the project sees of the database."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from steelyard.model.record import Point, Record

from . import queries
from .blobs import Blobs
from .engine import file_of, name_of, open_engine, resolve
from .errors import StoreError, explained

_ATTEMPTS = 6


class Store:
    """Records and logs. Append-only: a correction is a new run, and the newest one counts.

    One store serves any number of threads, and any number of processes may have the same database
    open; open it after a fork, not before. What ``add`` returned survives the death of the process.
    """

    def __init__(self, engine: Engine, name: str, blobs: Blobs | None) -> None:
        self._engine = engine
        self._writer = engine.execution_options(steelyard_write=True)
        self._name = name
        self._blobs = blobs
        self._lock = threading.Lock()
        self._known: dict[str, int] = {}

    @classmethod
    def open(cls, url_or_path: str | Path, *, blobs: Path | None = None) -> Store:
        """Opens a database, makes it when it is not there, and brings its schema up to date.

        A path (or ``:memory:``) means SQLite; a URL (``postgresql+psycopg://``, ``mariadb+pymysql://``)
        a server. ``blobs`` is the folder of logs, for ``x.db`` by default ``x.blobs`` beside it.
        """
        url = resolve(url_or_path)
        path = file_of(url)
        if blobs is None and path is not None:
            blobs = path.parent / f"{path.stem}.blobs"
        return cls(open_engine(url), name_of(url), None if blobs is None else Blobs(blobs))

    def close(self) -> None:
        """Closes all connections; a database in memory is gone."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, record: Record) -> int:
        """Stores a finished run in one transaction and returns its id."""
        queries.check(record)
        with explained(self._name):
            for attempt in range(_ATTEMPTS):
                try:
                    return self._add(record)
                except (IntegrityError, OperationalError) as error:
                    if not self._worth_retrying(error, attempt):
                        raise
        raise AssertionError("unreachable")

    def _add(self, record: Record) -> int:
        with self._lock, self._writer.begin() as connection:
            run_id, fresh = queries.append(connection, record, self._known)
        self._known.update(fresh)
        return run_id

    def _worth_retrying(self, error: DBAPIError, attempt: int) -> bool:
        """On servers two writers may insert the same toolchain, or deadlock; SQLite's writers queue."""
        if self._engine.dialect.name == "sqlite" or attempt == _ATTEMPTS - 1 or error.connection_invalidated:
            return False
        time.sleep(0.01 * 2**attempt)
        return True

    def get(self, run_id: int) -> Record | None:
        """The record with this id."""
        with explained(self._name), self._engine.connect() as connection:
            found = queries.load(connection, queries.by_id(run_id), points=True, metrics=None)
        return found[0][1] if found else None

    def find(self, keys: Iterable[str]) -> dict[str, Record]:
        """The newest record of each setup (``Setup.key``) that has one."""
        wanted = sorted(set(keys))
        found: dict[str, Record] = {}
        if not wanted:
            return found
        with explained(self._name), self._engine.connect() as connection:
            for batch in queries.batches(wanted):
                found.update(queries.load(connection, queries.by_keys(batch), points=True, metrics=None))
        return found

    def runs(
        self,
        *,
        target: str | None = None,
        variant: str | None = None,
        implementation: str | None = None,
        primitive: str | None = None,
        failed: bool | None = None,
        newest_only: bool = True,
        limit: int | None = None,
        points: queries.Points = True,
        metrics: Collection[str] | None = None,
    ) -> list[Record]:
        """Records that match every filter given, newest first.

        ``newest_only`` drops runs whose setup was run again later. For tables of thousands of records
        name the ``points`` (operation, adlen, mlen; or False) and ``metrics`` that are shown; others are
        not read.
        """
        query = queries.filtered(
            target_name=target,
            variant=variant,
            implementation_name=implementation,
            primitive=primitive,
            failed=failed,
            newest_only=newest_only,
            limit=limit,
        )
        with explained(self._name), self._engine.connect() as connection:
            found = queries.load(connection, query, points=points, metrics=metrics)
        return [record for _, record in found]

    def table(
        self,
        *,
        target: str | None = None,
        variant: str | None = None,
        implementation: str | None = None,
        primitive: str | None = None,
        flags: str | None = None,
        newest_only: bool = True,
        points: Collection[tuple[str, int, int]] = (),
        metrics: Collection[str] | None = None,
    ) -> list[dict[str, Any]]:
        """Records as flat mappings, newest first: what sets them apart, ``outcome``, ``metrics`` (None: all of
        them), and cycles at ``points`` under names such as ``encrypt@16/64``."""
        query = queries.filtered(
            target_name=target,
            variant=variant,
            implementation_name=implementation,
            primitive=primitive,
            flags=flags,
            newest_only=newest_only,
        )
        with explained(self._name), self._engine.connect() as connection:
            return queries.table(connection, query, points=points, metrics=metrics)

    def points(self, run_ids: Collection[int]) -> dict[int, list[Point]]:
        """All points of these runs."""
        with explained(self._name), self._engine.connect() as connection:
            return queries.points(connection, list(run_ids))

    def put_blob(self, content: str | bytes) -> str:
        """Stores a log, once however often it comes, and returns its digest."""
        return self._folder().put(content)

    def get_blob(self, digest: str) -> bytes:
        """The content of a log."""
        return self._folder().get(digest)

    def _folder(self) -> Blobs:
        if self._blobs is None:
            raise StoreError(f"{self._name} has no folder for logs; open it with blobs=FOLDER")
        return self._blobs
