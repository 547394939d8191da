"""Opens a database with the right settings, and only when its schema is ours."""

from __future__ import annotations

import inspect
import os
import re
import time
from collections.abc import Iterator
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
    make_url,
    text,
)
from sqlalchemy import inspect as tables_of
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, DisconnectionError, NoSuchModuleError
from sqlalchemy.pool import ConnectionPoolEntry

from steelyard.model.errors import UPDATE, cut, unknown

from . import schema, values
from .errors import DAMAGED, StoreError, StoreFailure, explain

_DRIVERS = {"psycopg": "steelyard[servers]", "psycopg2": "psycopg2-binary", "pymysql": "steelyard[servers]"}
#: where each table is committed as it is made, so that others see some of them
_BY_TABLE = ("mariadb", "mysql")
#: what a URL of SQLite may ask of the driver, and of SQLite itself ("Uniform Resource Identifiers", 3.3)
_OF_SQLITE: tuple[str, ...] = (
    "cached_statements", "check_same_thread", "detect_types", "isolation_level", "timeout", "uri",
    "cache", "immutable", "mode", "modeof", "nolock", "psow", "vfs",
)  # fmt: skip
#: what passwords are called in URLs, which may be mistyped
_SECRET = re.compile(r"pa?s?s?w|pass|secret|token")
#: seconds after which a connection may have been closed
_IDLE = 1.0
#: the lock by which processes that create or migrate tables on a server take turns
_LOCK = 0x57EE1  # PostgreSQL takes it as a number, MariaDB as a name


def url_of(url_or_path: str | Path) -> URL:
    """The URL of a database; anything that is not a URL is the path of a SQLite file. Raises :class:`StoreError`."""
    if str(url_or_path) == ":memory:":
        return URL.create("sqlite")
    if isinstance(url_or_path, Path) or "://" not in url_or_path:
        return URL.create("sqlite", database=str(Path(url_or_path).absolute()))
    try:
        return make_url(url_or_path)
    except (ArgumentError, ValueError):
        raise StoreError("neither a path nor a URL like postgresql://user@host/name") from None


def file_of(url: URL) -> Path | None:
    """The file of a SQLite database; None for one in memory or on a server."""
    in_file = url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")
    return Path(str(url.database)) if in_file else None


def name_of(url: URL) -> str:
    """The database's name in messages, without its password, which drivers also take as an option."""
    secret = {name: "***" for name in url.query if _SECRET.search(name.lower())}
    shown = url.update_query_dict(secret).render_as_string(hide_password=True)
    return str(file_of(url) or shown.replace("=%2A%2A%2A", "=***"))


def open_engine(url: URL) -> Engine:
    """An engine whose database has the newest schema. Databases of others are left untouched. Raises
    :class:`StoreError`."""
    name, path = name_of(url), file_of(url)
    if path is not None:
        _prepare(path)
    engine = _create(url)
    try:
        with explained(name):
            if url.query and url.get_backend_name() != "sqlite":
                _check_parameters(url, engine)
            with engine.connect() as connection:
                found = _revision(connection, name)
            if found != schema.HEAD:
                _migrate(engine, name)
    except BaseException:
        engine.dispose()
        raise
    return engine


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turns the driver's errors into :class:`StoreError`; ``where`` names the database."""
    try:
        yield
    except DBAPIError as error:
        raise explain(where, str(error.orig)) from error
    except UnicodeDecodeError as error:  # SQLite's own message quotes a schema that is not text
        raise StoreFailure(f"{where}: {error}; {DAMAGED}") from error


def writing(engine: Engine) -> Engine:
    """The same engine, for transactions that write. On PostgreSQL each of their statements sees what was committed
    before it: who waited for a row goes on, where he would otherwise be refused, again and again where many want it."""
    more = {"isolation_level": "READ COMMITTED"} if engine.dialect.name == "postgresql" else {}
    return engine.execution_options(steelyard_write=True, **more)


@contextmanager
def _usable(name: str) -> Iterator[None]:
    """Turns what drivers raise for parameters of a URL that they cannot use into :class:`StoreError`: they end as if a
    function had been called wrongly."""
    try:
        yield
    except (AttributeError, LookupError, OSError, TypeError, ValueError) as e:
        raise StoreError(f"{name}: {e}; correct the parameters in the URL") from e


def _check_parameters(url: URL, engine: Engine | None = None) -> None:
    """Raises :class:`StoreError` for parameters of a URL that nobody knows: before there is an ``engine`` those of
    SQLite, with one those of its driver, and for such as the driver cannot use."""
    name, asked, known = name_of(url), list(url.query), _OF_SQLITE
    with _usable(name):
        if engine is not None:
            _, keywords = engine.dialect.create_connect_args(url)
            taken = inspect.signature(engine.dialect.loaded_dbapi.connect).parameters.values()
            asked, known = list(keywords), tuple(p.name for p in taken)
            if any(p.kind == p.VAR_KEYWORD for p in taken):  # it refuses by itself
                asked = []
        if odd := next((n for n in asked if n not in known), None):
            raise StoreError(f"{name}: {unknown('parameter of the URL', odd, known)}")
        if engine is not None:
            engine.connect().close()


def _prepare(file: Path) -> None:
    """Creates the folder of a database. Raises :class:`StoreError` where it cannot, or where ``file`` cannot be
    a path."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{cut(str(file.parent))}: {error.strerror}; choose a folder you may write to") from error
    try:
        special = file.exists() and not (file.is_file() or file.is_dir())
    except (OSError, ValueError) as error:
        raise StoreError(f"{cut(str(file))}: {getattr(error, 'strerror', None) or error}; give another path") from error
    if special:  # SQLite would call it a failing disk
        raise StoreError(f"{cut(str(file))}: is not a regular file; give another path")


def _create(url: URL) -> Engine:
    sqlite, name = url.get_backend_name() == "sqlite", name_of(url)
    if sqlite:
        _check_parameters(url)
    # every query of a transaction must see the same state
    options: dict[str, Any] = {"isolation_level": "REPEATABLE READ"}
    if sqlite:
        options = {"connect_args": {"timeout": values.BUSY_SECONDS}, "max_overflow": -1}
        file = file_of(url)
        if file is not None and _read_as_it_stands(file):
            url = URL.create("sqlite", database=file.absolute().as_uri(), query={"uri": "true", "immutable": "1"})
        if file is None:  # one connection is the database: threads take turns
            options = {
                "connect_args": {"check_same_thread": False},
                "poolclass": QueuePool,
                "pool_size": 1,
                "max_overflow": 0,
            }
    if url.drivername in _BY_TABLE:  # as for PostgreSQL, the driver that comes with steelyard[servers]
        url = url.set(drivername=f"{url.drivername}+pymysql")
    try:
        with _usable(name):
            engine = create_engine(url, **options)
    except NoSuchModuleError:
        raise StoreError(f"{url.drivername}: no such database; use sqlite, postgresql or mariadb") from None
    except ModuleNotFoundError as error:
        package = _DRIVERS.get(str(error.name).lower(), error.name)
        raise StoreError(f"{url.drivername} needs a driver; run: pip install '{package}'") from None
    if sqlite:
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _on_begin)
    else:
        _ping_idle(engine)
    return engine


def _ping_idle(engine: Engine) -> None:
    """Asks connections that were idle whether the server is still there: it may have closed them. To ask each time
    would take as long as most transactions do."""

    def used(_: object, record: ConnectionPoolEntry) -> None:
        record.info["used"] = time.monotonic()

    def taken(connection: Any, record: ConnectionPoolEntry, _: object) -> None:
        if time.monotonic() - record.info.get("used", 0.0) < _IDLE:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise DisconnectionError from error  # the pool makes another

    event.listen(engine, "connect", used)
    event.listen(engine, "checkin", used)
    event.listen(engine, "checkout", taken)


def _read_as_it_stands(file: Path) -> bool:
    """Whether a database is in a read-only folder without a writer: other databases need files beside them even for
    reading (SQLite, "Write-Ahead Logging", 6)."""
    beside = (file.with_name(f"{file.name}{ending}") for ending in ("-wal", "-shm"))
    return file.exists() and not os.access(file.parent, os.W_OK) and not any(f.exists() for f in beside)


def _on_connect(connection: Any, _: object) -> None:
    """Makes SQLAlchemy, not the driver, control transactions."""
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA synchronous=NORMAL")


def _on_begin(connection: Connection) -> None:
    """Makes a writer take its lock first: upgrading a reader's lock would fail without waiting."""
    write = connection.get_execution_options().get("steelyard_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _revision(connection: Connection, name: str) -> str | None:
    """The stored revision; None for a database that is empty or not yet whole. Raises :class:`StoreError` for one that
    is not ours or too new."""
    at = tables_of(connection)
    if at.default_schema_name is None:
        raise StoreError(f"{name}: the URL names no database; write it after the host, as in mariadb://host/steelyard")
    tables = at.get_table_names()
    if schema.REVISION_TABLE not in tables:
        if tables and connection.dialect.name == "sqlite":
            raise StoreError(f"{name} contains tables that are not Steelyard's; give another path")
        return None
    every = connection.execute(text(f"SELECT version_num FROM {schema.REVISION_TABLE}")).scalars().all()
    if not every and connection.dialect.name in _BY_TABLE:  # somebody is at it, or was killed at it
        return None
    found = str(every[0]) if len(every) == 1 else "unknown"
    if not found.isdigit():
        raise _odd(name, found)
    if found > schema.HEAD:
        raise StoreError(
            f"{name} has schema {found}, this version of Steelyard knows schemas up to {schema.HEAD}; {UPDATE}"
        )
    return found


def _odd(name: str, found: str) -> StoreFailure:
    return StoreFailure(f"{name}: schema {found} is not one of Steelyard's; {DAMAGED}")


def _migrate(engine: Engine, name: str) -> None:
    """Creates or migrates the tables in one transaction. A process that opens the database meanwhile waits, and then
    has nothing to do."""
    with writing(engine).connect() as connection, _alone(connection), connection.begin():
        found = _revision(connection, name)
        if found is None:
            schema.create(connection)
        elif found != schema.HEAD:
            from alembic.util import CommandError

            from .migrate import upgrade

            try:
                upgrade(connection)
            except CommandError:
                raise _odd(name, found) from None


def downgrade(url: URL, revision: str, *, lose: bool) -> dict[str, int]:
    """Gives a database back the schema of an older version; how many rows of which table are lost by that. Without
    ``lose`` nothing is done where any are. Raises :class:`StoreError`."""
    from .migrate import NEW, OLDEST, downgrade, lost

    name, known = name_of(url), (OLDEST, *sorted(NEW))
    if revision not in known:
        raise StoreError(f"{cut(revision)}: no schema that a database may be given back; there are {', '.join(known)}")
    open_engine(url).dispose()  # it is ours, and the newest
    engine = _create(url)
    try:
        with explained(name), writing(engine).connect() as connection, _alone(connection), connection.begin():
            gone = lost(connection, revision)
            if lose or not gone:
                downgrade(connection, revision)
    finally:
        engine.dispose()
    return gone


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """Keeps other processes from creating or migrating tables, from before the transaction to after it."""
    driver: Any = connection.connection.driver_connection
    if connection.dialect.name == "sqlite":  # the transaction is the lock
        try:
            _set_wal(driver)
        except driver.OperationalError as error:
            raise DatabaseError("PRAGMA journal_mode=WAL", None, error) from error
        driver.execute("PRAGMA foreign_keys=OFF")
        try:
            yield
        finally:
            driver.execute("PRAGMA foreign_keys=ON")
        return
    take, give = (
        ("SELECT pg_advisory_lock({})", "SELECT pg_advisory_unlock({})")
        if connection.dialect.name == "postgresql"
        else ("SELECT GET_LOCK('{}', 3600)", "SELECT RELEASE_LOCK('{}')")
    )
    with connection.begin():
        connection.exec_driver_sql(take.format(_LOCK))
    try:
        yield
    finally:
        with connection.begin():
            connection.exec_driver_sql(give.format(_LOCK))


def _set_wal(connection: Any) -> None:
    """Switches to write-ahead logging. SQLite does not wait for the lock that this needs, so we do."""
    end = time.monotonic() + values.BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except connection.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            return
