"""Opens a database: which one, with which settings, and only when its schema is ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    QueuePool,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, NoSuchModuleError

from .errors import DAMAGED, StoreError, StoreFailure, explain
from .files import BUSY_SECONDS, configure, prepare, set_wal
from .schema import create, metadata
from .values import HEAD, REVISION_TABLE

_DRIVERS = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg2-binary", "pymysql": "PyMySQL"}


def resolve(url_or_path: str | Path) -> URL:
    """A URL stays one; everything else is the path of a SQLite file."""
    if str(url_or_path) == ":memory:":
        return URL.create("sqlite")
    if isinstance(url_or_path, Path) or "://" not in url_or_path:
        return URL.create("sqlite", database=str(Path(url_or_path).absolute()))
    try:
        return make_url(url_or_path)
    except (ArgumentError, ValueError):
        raise StoreError("not a path and not a URL like postgresql://user@host/name") from None


def file_of(url: URL) -> Path | None:
    """The file of a SQLite database; None in memory and on servers."""
    in_file = url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")
    return Path(str(url.database)) if in_file else None


def name_of(url: URL) -> str:
    """How messages call the database; never with its password."""
    return str(file_of(url) or url.render_as_string(hide_password=True))


def open_engine(url: URL) -> Engine:
    """An engine whose database has the newest schema; anything else than ours is left untouched."""
    name, path = name_of(url), file_of(url)
    if path is not None:
        prepare(path.parent)
    engine = _create(url)
    try:
        with explained(name):
            with engine.connect() as connection:
                found = _revision(connection, name)
            if found != HEAD:
                _migrate(engine, name)
    except BaseException:
        engine.dispose()
        raise
    return engine


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Inside, the driver's errors become ``StoreError``."""
    try:
        yield
    except DBAPIError as error:
        raise explain(where, str(error.orig)) from error


class Writer:
    """Writes through a connection, inside its transaction; see :class:`insertion.Writer`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, table: str, column: str, value: str) -> int | None:  # noqa: D102
        columns = metadata.tables[table].c
        found = self._connection.execute(select(columns.id).where(columns[column] == value)).scalar()
        return None if found is None else int(found)

    def insert(self, table: str, values: Mapping[str, Any]) -> int:  # noqa: D102
        made = self._connection.execute(insert(metadata.tables[table]).values(values)).inserted_primary_key
        assert made is not None
        return int(made[0])

    def insert_all(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:  # noqa: D102
        self._connection.execute(insert(metadata.tables[table]), rows)


def _create(url: URL) -> Engine:
    options: dict[str, Any] = {}
    sqlite = url.get_backend_name() == "sqlite"
    if sqlite:
        options = {"connect_args": {"timeout": BUSY_SECONDS}, "max_overflow": -1}
        if file_of(url) is None:  # one connection is the database: threads take turns
            options = {
                "connect_args": {"check_same_thread": False},
                "poolclass": QueuePool,
                "pool_size": 1,
                "max_overflow": 0,
            }
    try:
        engine = create_engine(url, **options)
    except NoSuchModuleError:
        raise StoreError(f"{url.drivername}: no such database; use sqlite, postgresql or mariadb") from None
    except ModuleNotFoundError as error:
        package = _DRIVERS.get(str(error.name).lower(), error.name)
        raise StoreError(f"{url.drivername} needs a driver; run: pip install '{package}'") from None
    if sqlite:
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _on_begin)
    return engine


def _on_connect(connection: Any, _: object) -> None:
    """Transactions are ours, not the driver's."""
    connection.isolation_level = None
    configure(connection)


def _on_begin(connection: Connection) -> None:
    """A writer takes its lock first: one that upgrades a reader's lock fails without waiting."""
    write = connection.get_execution_options().get("steelyard_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _revision(connection: Connection, name: str) -> str | None:
    """The stored revision, None for an empty database; an error for one that is not ours or too new."""
    tables = inspect(connection).get_table_names()
    if REVISION_TABLE not in tables:
        if tables and connection.dialect.name == "sqlite":
            raise StoreError(f"{name} holds other tables than Steelyard's; give another path")
        return None
    every = connection.execute(text(f"SELECT version_num FROM {REVISION_TABLE}")).scalars().all()
    found = str(every[0]) if len(every) == 1 else "unknown"
    if not found.isdigit():
        raise _odd(name, found)
    if found > HEAD:
        raise StoreError(
            f"{name} has schema {found}, this version of Steelyard knows schemas up to {HEAD}; "
            "run: pip install --upgrade steelyard"
        )
    return found


def _odd(name: str, found: str) -> StoreFailure:
    return StoreFailure(f"{name}: schema {found} is none of Steelyard's; {DAMAGED}")


def _migrate(engine: Engine, name: str) -> None:
    """Creates or migrates in one transaction; a process that opens at the same time waits, then has nothing to do."""
    with engine.connect().execution_options(steelyard_write=True) as connection:
        driver: Any = connection.connection.driver_connection
        sqlite = connection.dialect.name == "sqlite"
        if sqlite:
            try:
                set_wal(driver)
            except driver.OperationalError as error:
                raise DatabaseError("PRAGMA journal_mode=WAL", None, error) from error
            driver.execute("PRAGMA foreign_keys=OFF")
        try:
            with connection.begin():
                found = _revision(connection, name)
                if found is None:
                    create(connection)
                elif found != HEAD:
                    from alembic.util import CommandError

                    from .migrate import upgrade

                    try:
                        upgrade(connection)
                    except CommandError:
                        raise _odd(name, found) from None
        finally:
            if sqlite:
                driver.execute("PRAGMA foreign_keys=ON")
