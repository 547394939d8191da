"""Opening: fast when the schema is ours, and nothing is touched when it is not."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.dialects import mysql, postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from steelyard.store import Store, StoreError, schema
from steelyard.store.migrate import config, upgrade

from .conftest import RECORD


def test_head_is_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(config()).get_heads() == [schema.HEAD]


def test_migrations_lead_to_the_schema(store: Store, path: Path) -> None:
    store.add(RECORD)
    with create_engine(f"sqlite:///{path}").connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": schema.REVISION_TABLE, "compare_type": True}
        )
        assert compare_metadata(context, schema.metadata) == []
        made = {name: _words(sql) for name, sql in _tables(connection.connection.driver_connection)}
        wanted = {t.name: _words(str(CreateTable(t).compile(connection))) for t in schema.metadata.tables.values()}
    assert made == wanted


def _tables(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> ?",
        (schema.REVISION_TABLE,),
    ).fetchall()


def _words(sql: str) -> str:
    return " ".join(sql.split())


@pytest.mark.parametrize("dialect", [postgresql.dialect(), mysql.dialect()], ids=lambda d: str(d.name))
def test_the_schema_is_portable(dialect: postgresql.dialect | mysql.dialect) -> None:
    for table in schema.metadata.sorted_tables:
        ddl = str(CreateTable(table).compile(dialect=dialect))
        assert "TEXT" not in ddl or dialect.name != "mysql" or "utf8mb4_bin" in ddl
        for index in table.indexes:
            CreateIndex(index).compile(dialect=dialect)


def test_downgrade_and_upgrade(path: Path) -> None:
    Store.open(path).close()
    engine = create_engine(f"sqlite:///{path}")
    from alembic import command

    with engine.begin() as connection:
        command.downgrade(config(connection), "base")
    with engine.connect() as connection:
        assert [name for name, _ in _tables(connection.connection.driver_connection)] == []
    with engine.begin() as connection:
        upgrade(connection)
    engine.dispose()
    with Store.open(path) as store:
        assert store.get(store.add(RECORD)) == RECORD


def test_settings_of_sqlite(store: Store) -> None:
    with store._engine.connect() as connection:
        values = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")
        }
    assert values == {"journal_mode": "wal", "synchronous": 1, "busy_timeout": 20000, "foreign_keys": 1}


def test_a_current_database_opens_without_alembic(path: Path) -> None:
    Store.open(path).close()
    code = (
        "import sys; from steelyard.store import Store; Store.open(sys.argv[1]).runs();"
        "print([m for m in ('alembic', 'mako', 'sqlalchemy.orm') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_newer_schema_is_left_alone(path: Path) -> None:
    Store.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE {schema.REVISION_TABLE} SET version_num = '9876'")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=f"schema 9876.*up to {schema.HEAD}; run: pip install --upgrade"):
        Store.open(path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_someone_elses_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "cookies.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE cookie (id INTEGER)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="holds other tables than Steelyard's"):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database " * 100)
    with pytest.raises(StoreError, match=r"notes\.txt: file is not a database; give another path"):
        Store.open(path)
    assert path.read_text() == "not a database " * 100


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (".", "unable to open database file; check that the path is a file"),
        ("file/x.db", "choose a folder you may write to"),
        ("oracle9://x", "no such database; use sqlite, postgresql or mariadb"),
        ("://", "not a path and not a URL"),
    ],
)
def test_errors_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    with pytest.raises(StoreError, match=message):
        Store.open(where)


def test_a_url_opens_the_same_file(store: Store, path: Path) -> None:
    run_id = store.add(RECORD)
    with Store.open(f"sqlite:///{path}") as same:
        assert same.get(run_id) == RECORD
        assert same.get_blob(store.put_blob("log")) == b"log"
