"""Reads a SQLite file with Python's own driver."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from .errors import explain
from .queries import Rows
from .values import HEAD, REVISION_TABLE

#: seconds to wait for another process's lock
BUSY_SECONDS = 20.0


def is_current(path: Path) -> bool:
    """Whether this file is there with the schema that the queries are for. Why not is for others to say."""
    try:
        with closing(_connect(path)) as connection:
            return connection.execute(f"SELECT version_num FROM {REVISION_TABLE}").fetchall() == [(HEAD,)]
    except sqlite3.Error:
        return False


@contextmanager
def reader(path: Path) -> Iterator[Rows]:
    """Queries inside see one state of the file; the driver's errors become ``StoreError``."""
    try:
        with closing(_connect(path)) as connection:
            connection.execute("BEGIN")
            yield lambda sql, values: connection.execute(sql, values).fetchall()
    except sqlite3.Error as error:
        raise explain(str(path), str(error)) from error


def _connect(path: Path) -> sqlite3.Connection:
    """Never makes a file."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_SECONDS, isolation_level=None)
