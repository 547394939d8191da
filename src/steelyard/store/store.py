"""The store: what the rest of the project sees of the database."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from steelyard.model.record import Point, Record

from . import files, insertion, queries
from .blobs import Blobs
from .errors import DAMAGED, StoreError, StoreFailure

if TYPE_CHECKING:  # SQLAlchemy takes long to import; a file does without
    from sqlalchemy import Engine
    from sqlalchemy.exc import DBAPIError

_ATTEMPTS = 6


class Store:
    """Records and logs. Append-only: a correction is a new run, and the newest one counts.

    One store serves any number of threads, and any number of processes may have the same database
    open; open it after a fork, not before. What ``add`` returned survives the death of the process.
    """

    def __init__(self, file: Path | None, name: str, engine: Engine | None, blobs: Path | None):
        self._file = file
        self._name = name
        self._engine = engine
        self._writer: files.Writer | None = None
        self._blobs = None if blobs is None else Blobs(blobs)
        self._lock = threading.Lock()
        self._known: dict[str, int] = {}

    @classmethod
    def open(cls, url_or_path: str | Path, *, blobs: Path | None = None) -> Store:
        """Opens a database, makes it when it is not there, and brings its schema up to date.

        A path (or ``:memory:``) means SQLite; a URL (``postgresql+psycopg://``, ``mariadb+pymysql://``)
        a server. ``blobs`` is the folder of logs, for ``x.db`` by default ``x.blobs`` beside it.
        """
        if str(url_or_path) == ":memory:" or "://" in str(url_or_path):
            from .engine import file_of, name_of, open_engine, resolve

            url = resolve(url_or_path)
            file = file_of(url)
            if file is None:
                return cls(None, name_of(url), open_engine(url), blobs)
        else:
            file = Path(url_or_path).absolute()
        if not files.is_current(file) and not (files.create(file) and files.is_current(file)):
            from .engine import open_engine, resolve

            open_engine(resolve(file)).dispose()  # an older schema becomes ours; anything else is refused
        return cls(file, str(file), None, blobs or _beside(file))

    def close(self) -> None:
        """Closes all connections; a database in memory is gone."""
        if self._writer is not None:
            self._writer.close()
        if self._engine is not None:
            self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _reader(self) -> Iterator[queries.Rows]:
        try:
            with self._rows() as rows:
                yield rows
        except (ValueError, TypeError, LookupError, OverflowError) as error:  # values that nobody stored
            raise StoreFailure(f"{self._name}: {type(error).__name__}: {error}; {DAMAGED}") from error

    @contextmanager
    def _rows(self) -> Iterator[queries.Rows]:
        if self._file is not None:
            with files.reader(self._file) as rows:
                yield rows
            return
        from sqlalchemy import text

        from .engine import explained

        assert self._engine is not None
        with explained(self._name), self._engine.connect() as connection:
            yield lambda sql, values: connection.execute(text(sql), values).all()

    @contextmanager
    def _transaction(self) -> Iterator[insertion.Writer]:
        if self._file is not None:
            if self._writer is None:
                self._writer = files.Writer(self._file)
            with self._writer.transaction() as writer:
                yield writer
            return
        from .engine import Writer

        assert self._engine is not None
        with self._engine.execution_options(steelyard_write=True).begin() as connection:
            yield Writer(connection)

    def add(self, record: Record) -> int:
        """Stores a finished run in one transaction and returns its id."""
        insertion.check(record)
        if self._engine is None:
            return self._add(record)
        from sqlalchemy.exc import IntegrityError, OperationalError

        from .engine import explained

        with explained(self._name):
            for attempt in range(_ATTEMPTS):
                try:
                    return self._add(record)
                except (IntegrityError, OperationalError) as error:
                    if not self._worth_retrying(self._engine, error, attempt):
                        raise
        raise AssertionError("unreachable")

    def _add(self, record: Record) -> int:
        with self._lock:
            with self._transaction() as writer:
                run_id, fresh = insertion.append(writer, record, self._known)
            self._known.update(fresh)
        return run_id

    def _worth_retrying(self, engine: Engine, error: DBAPIError, attempt: int) -> bool:
        """On servers two writers may insert the same toolchain, or deadlock; SQLite's writers queue."""
        if engine.dialect.name == "sqlite" or attempt == _ATTEMPTS - 1 or error.connection_invalidated:
            return False
        time.sleep(0.01 * 2**attempt)
        return True

    def get(self, run_id: int) -> Record | None:
        """The record with this id."""
        with self._reader() as rows:
            found = queries.load(rows, queries.by_id(run_id), points=True, metrics=None)
        return found[0][1] if found else None

    def find(self, keys: Iterable[str]) -> dict[str, Record]:
        """The newest record of each setup (``Setup.key``) that has one."""
        wanted = sorted(set(keys))
        found: dict[str, Record] = {}
        if not wanted:
            return found
        with self._reader() as rows:
            for batch in queries.batches(wanted):
                found.update(queries.load(rows, queries.by_keys(batch), points=True, metrics=None))
        return found

    def same_answers(self, record: Record) -> list[int]:
        """The newest run of each other implementation, by digest, that answered the known-answer calls alike, where
        no official answers are known."""
        if record.verification is None or not record.verification.answers:
            return []
        with self._reader() as rows:
            return queries.same_answers(rows, record)

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
        with self._reader() as rows:
            found = queries.load(rows, query, points=points, metrics=metrics)
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
        with self._reader() as rows:
            return queries.table(rows, query, points=points, metrics=metrics)

    def points(self, run_ids: Collection[int]) -> dict[int, list[Point]]:
        """All points of these runs."""
        with self._reader() as rows:
            return queries.points(rows, list(run_ids))

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


def _beside(file: Path) -> Path:
    """The folder of logs of a database in a file."""
    return file.parent / f"{file.stem}.blobs"
