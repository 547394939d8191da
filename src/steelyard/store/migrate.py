"""Migrates a database to the newest schema. Imported only when there is something to do, because Alembic is slow."""

from __future__ import annotations

import threading

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, func, inspect, select

from . import schema
from .errors import StoreError

SCRIPTS = "steelyard.store:migrations"
#: the oldest schema that a database may be given back
OLDEST = "0003"
#: what each schema has that the one before it has no room for: tables, or the column of a table
NEW = {
    "0004": ("lease",),
    "0005": ("package", "submission", "job"),
    "0006": ("job_attempt", "worker", "hold", "operator", "admission", "audit"),
    "0007": ("point.counter",),
    "0008": ("worker_key",),
    "0009": (),
    "0010": ("vector_cycles",),
    "0011": (),
    "0012": ("build_log",),
    "0013": ("run.max_cycles",),
}

#: Alembic keeps the running migration in a global
_one_at_a_time = threading.Lock()


def config(connection: Connection | None = None) -> Config:
    """Alembic's settings without a configuration file."""
    settings = Config()
    settings.set_main_option("script_location", SCRIPTS)
    settings.set_main_option("path_separator", "os")
    settings.attributes["connection"] = connection
    return settings


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Runs the missing migrations in the caller's transaction: all of them or none. Raises :class:`StoreError`.

    In SQLite a changed table is copied and the old one dropped. With foreign keys on, that would delete its children or
    be refused; so the caller turns them off, and they are checked here afterwards.
    """
    with _one_at_a_time:
        command.upgrade(config(connection), revision)
    _sound(connection)


def downgrade(connection: Connection, revision: str) -> None:
    """Undoes migrations down to a revision, as :func:`upgrade` does them. What is new since then is lost."""
    with _one_at_a_time:
        command.downgrade(config(connection), revision)
    _sound(connection)


def lost(connection: Connection, revision: str) -> dict[str, int]:
    """How many rows of which table, or with a value in which column, a schema has no room for."""
    there = set(inspect(connection).get_table_names())
    found: dict[str, int] = {}
    for name in (n for of, names in NEW.items() if of > revision for n in names):
        table, _, column = name.partition(".")
        if table in there:
            known = schema.metadata.tables[table]
            query = select(func.count()).select_from(known)
            query = query.where(known.c[column].is_not(None)) if column else query
            found[name] = int(connection.execute(query).scalar_one())
    return {name: count for name, count in found.items() if count}


def _sound(connection: Connection) -> None:
    if connection.dialect.name == "sqlite":
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        if broken:
            raise StoreError(f"the migration would leave {len(broken)} rows without their parent; nothing was changed")
