"""Migrates a database to the newest schema. Imported only when there is something to do, because Alembic is slow."""

from __future__ import annotations

import threading

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from .errors import StoreError

SCRIPTS = "steelyard.store:migrations"

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
    if connection.dialect.name == "sqlite":
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        if broken:
            raise StoreError(f"the migration would leave {len(broken)} rows without their parent; nothing was changed")
