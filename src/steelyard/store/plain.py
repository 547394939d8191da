"""A SQLite file that is read by Python's own driver: SQLAlchemy takes longer to import than most answers take."""

from __future__ import annotations

import os
import sqlite3
from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from . import values
from .errors import explain


class Found:
    """The rows that a query found, with the methods of SQLAlchemy's results that a reader needs."""

    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._names = tuple(column[0] for column in cursor.description)
        self._rows: list[tuple[Any, ...]] = cursor.fetchall()

    def keys(self) -> Sequence[str]:
        """The columns' names."""
        return self._names

    def fetchall(self) -> Sequence[Sequence[Any]]:
        """The rows without names."""
        return self._rows

    def all(self) -> Sequence[Any]:
        """The rows with their columns as attributes."""
        return list(map(_row(self._names)._make, self._rows))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.all())

    def scalar(self) -> Any:
        """The first column of the first row; None where there is none."""
        return self._rows[0][0] if self._rows else None

    scalar_one = scalar


@cache
def _row(names: tuple[str, ...]) -> Any:
    return namedtuple("Row", names)


class File:
    """A database in a file that has this version's schema already. Any number of threads may read it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._idle: list[sqlite3.Connection] = []

    @classmethod
    def opened(cls, url_or_path: str | Path) -> File | None:
        """The database of that path; None for one that is elsewhere, new, older, damaged, or in a read-only folder:
        :mod:`.engine` knows what to do then, or to say."""
        if str(url_or_path) == ":memory:" or (isinstance(url_or_path, str) and "://" in url_or_path):
            return None
        found = cls(Path(url_or_path).absolute())
        with suppress(sqlite3.Error, OSError, ValueError):
            if found._file.is_file() and os.access(found._file.parent, os.W_OK):
                with found.reading() as connection:
                    revisions = connection.execute(f"SELECT version_num FROM {values.REVISION_TABLE}").fetchall()
                if revisions == [(values.HEAD,)]:
                    return found
        found.close()
        return None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection in a transaction. Raises what the driver raises."""
        try:
            connection = self._idle.pop()
        except IndexError:
            options: dict[str, Any] = {"isolation_level": None, "check_same_thread": False}
            connection = sqlite3.connect(self._file, timeout=values.BUSY_SECONDS, **options)
        try:
            connection.execute("BEGIN")
            yield connection
            connection.execute("ROLLBACK")
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)

    @contextmanager
    def explained(self) -> Iterator[Any]:
        """How to execute queries in a transaction. Raises :class:`.errors.StoreError`."""
        try:
            with self.reading() as connection:

                def execute(sql: str, given: Mapping[str, Any]) -> Found:
                    return Found(connection.execute(sql, dict(given)))

                yield execute
        except sqlite3.Error as error:
            raise explain(str(self._file), str(error)) from error

    def close(self) -> None:
        """Closes all connections."""
        while self._idle:
            self._idle.pop().close()
