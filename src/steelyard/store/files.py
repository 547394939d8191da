"""A database in a SQLite file, with Python's own driver: made, read and written."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

from .errors import StoreError, explain
from .queries import Rows
from .values import HEAD, REVISION_TABLE

#: seconds to wait for another process's lock
BUSY_SECONDS = 20.0
#: what ``schema.py`` says, in SQLite's words; a test compares the two
TABLES = Path(__file__).with_name("tables.sql")


def is_current(path: Path) -> bool:
    """Whether this file is there with the schema that the queries are for. Why not is for others to say."""
    try:
        with closing(_connect(path)) as connection:
            return connection.execute(f"SELECT version_num FROM {REVISION_TABLE}").fetchall() == [(HEAD,)]
    except sqlite3.Error:
        return False


def create(path: Path) -> bool:
    """Makes the file where there is none; False where there is something. A process that does so at the same time
    waits, and then has nothing to do."""
    prepare(path.parent)
    if path.exists() and (not path.is_file() or path.stat().st_size > 0):
        return False
    with _explained(path), closing(_connect(path, "rwc")) as connection:
        set_wal(connection)
        connection.execute("BEGIN IMMEDIATE")
        if not connection.execute("SELECT name FROM sqlite_master").fetchall():
            for statement in TABLES.read_text(encoding="ascii").split(";\n"):
                connection.execute(statement)
            connection.execute(f"INSERT INTO {REVISION_TABLE} VALUES (?)", (HEAD,))
        connection.execute("COMMIT")
    return True


def prepare(folder: Path) -> None:
    """Makes the folder of a database."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror}; choose a folder you may write to") from error


@contextmanager
def reader(path: Path) -> Iterator[Rows]:
    """Queries inside see one state of the file; the driver's errors become ``StoreError``."""
    with _explained(path), closing(_connect(path)) as connection:
        connection.execute("BEGIN")
        yield lambda sql, values: connection.execute(sql, values).fetchall()


class Writer:
    """Writes to a file, one transaction after the other, from any thread but one at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _explained(path):
            self._connection = _connect(path, check_same_thread=False)
            try:
                configure(self._connection)
            except sqlite3.Error:
                self._connection.close()
                raise

    @contextmanager
    def transaction(self) -> Iterator[Self]:
        """All of it or nothing. The lock is taken at once: a reader's lock that is upgraded fails without waiting."""
        with _explained(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # some errors end it
                    self._connection.execute("ROLLBACK")
                raise

    def find(self, table: str, column: str, value: str) -> int | None:
        """See :class:`insertion.Writer`, like the others."""
        found = self._connection.execute(f'SELECT id FROM {table} WHERE "{column}" = ?', (value,)).fetchone()
        return None if found is None else int(found[0])

    def insert(self, table: str, values: Mapping[str, Any]) -> int:  # noqa: D102
        made = self._connection.execute(_insert(table, values), values).lastrowid
        assert made is not None
        return made

    def insert_all(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:  # noqa: D102
        self._connection.executemany(_insert(table, rows[0]), rows)

    def close(self) -> None:
        """Lets go of the file."""
        self._connection.close()


def _insert(table: str, values: Mapping[str, Any]) -> str:
    columns, names = ", ".join(f'"{c}"' for c in values), ", ".join(f":{c}" for c in values)
    return f"INSERT INTO {table} ({columns}) VALUES ({names})"


def configure(connection: Any) -> None:
    """What holds for a connection that writes; WAL is set once, when the file is made."""
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA synchronous=NORMAL")


def set_wal(connection: Any) -> None:
    """SQLite does not wait for the lock that this change needs, so we do."""
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            return


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise explain(str(path), str(error)) from error


def _connect(path: Path, mode: str = "rw", check_same_thread: bool = True) -> sqlite3.Connection:
    """Transactions are ours, not the driver's. A database that nobody can write beside, and nobody does, is read as it
    stands: readers of others want files of their own there (SQLite, "Write-Ahead Logging", 6)."""
    beside = (path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-shm"))
    alone = not os.access(path.parent, os.W_OK) and not any(f.exists() for f in beside)
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' if alone else ''}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=check_same_thread,
    )
