"""Opening: fast when the schema is ours, and nothing is touched when it is not."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, create_engine
from sqlalchemy.schema import CreateIndex, CreateTable

from steelyard.store import Store, StoreError, engine, files, migrate, schema, values

from .conftest import RECORD


def test_head_is_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(migrate.config()).get_heads() == [values.HEAD]


def test_migrations_lead_to_the_schema(path: Path) -> None:
    """A new database is made from schema.py in one go; the migrations must lead to the same."""
    path.parent.mkdir(exist_ok=True)
    database = create_engine(f"sqlite:///{path}")
    with database.begin() as connection:
        migrate.upgrade(connection)
    with Store.open(path) as store:
        store.add(RECORD)
    with database.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": values.REVISION_TABLE, "compare_type": True}
        )
        assert compare_metadata(context, schema.metadata) == []
        made = {name: _words(sql) for name, sql in _tables(connection)}
        wanted = {t.name: _words(str(CreateTable(t).compile(connection))) for t in schema.metadata.tables.values()}
    database.dispose()
    assert made == wanted


def _tables(connection: Connection) -> list[tuple[str, str]]:
    driver: Any = connection.connection.driver_connection
    found: list[tuple[str, str]] = driver.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> ?",
        (values.REVISION_TABLE,),
    ).fetchall()
    return found


def _words(sql: str) -> str:
    return " ".join(sql.split())


@pytest.mark.parametrize("server", ["postgresql", "mysql", "mariadb"])
def test_the_schema_is_portable(server: str) -> None:
    dialect = URL.create(server).get_dialect()
    for table in schema.metadata.sorted_tables:
        ddl = str(CreateTable(table).compile(dialect=dialect()))
        texts = [line for line in ddl.splitlines() if "CHAR" in line or "TEXT" in line]
        assert server == "postgresql" or all("COLLATE utf8mb4_bin" in line for line in texts)
        for index in table.indexes:
            CreateIndex(index).compile(dialect=dialect())


def test_downgrade_and_upgrade(path: Path) -> None:
    Store.open(path).close()
    database = create_engine(f"sqlite:///{path}")
    with database.begin() as connection:
        command.downgrade(migrate.config(connection), "base")
    with database.connect() as connection:
        assert [name for name, _ in _tables(connection)] == []
    with database.begin() as connection:
        migrate.upgrade(connection)
    database.dispose()
    with Store.open(path) as store:
        assert store.get(store.add(RECORD)) == RECORD


NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade():
    with op.batch_alter_table("run", recreate="always") as run:
        run.add_column(sa.Column("board", sa.String(64)))
    {more}
"""


@pytest.fixture
def migrate_to_next(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Stores a record, then opens the database with a newer version that copies the table of runs."""

    def run(more: str) -> None:
        with Store.open(path) as store:
            store.add(RECORD)
        scripts = tmp_path / "100% migrations"
        shutil.copytree(Path(migrate.__file__).parent / "migrations", scripts)
        (scripts / "versions" / "0003_next.py").write_text(NEXT.format(more=more))
        monkeypatch.setattr(migrate, "SCRIPTS", str(scripts).replace("%", "%%"))
        monkeypatch.setattr(engine, "HEAD", "0003")
        monkeypatch.setattr(files, "HEAD", "0003")
        Store.open(path).close()

    return run


def test_a_migration_keeps_the_data(path: Path, migrate_to_next: Callable[[str], None]) -> None:
    migrate_to_next("")
    with Store.open(path) as store:
        assert store.runs() == [RECORD]
        store.add(RECORD)


def test_a_migration_that_loses_data_changes_nothing(
    path: Path, migrate_to_next: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StoreError, match="rows without their parent; nothing was changed"):
        migrate_to_next('op.execute("DELETE FROM run")')
    monkeypatch.undo()
    with Store.open(path) as store:
        assert store.runs() == [RECORD]


def test_new_files_have_the_schema(store: Store, path: Path) -> None:
    """They are made from tables.sql, without SQLAlchemy."""
    with create_engine("sqlite://").begin() as connection:
        schema.create(connection)
        wanted = _everything(cast(sqlite3.Connection, connection.connection.driver_connection))
    with closing(sqlite3.connect(path)) as made:
        assert _everything(made) == wanted
        assert made.execute(f"SELECT version_num FROM {values.REVISION_TABLE}").fetchall() == [(values.HEAD,)]


def _everything(database: sqlite3.Connection) -> dict[str, str]:
    """Tables and indexes, in words, without what punctuation has around it."""
    found = database.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return {name: re.sub(r"\s*([(),])\s*", r"\1", _words(sql)) for name, sql in found}


def test_settings_of_sqlite(store: Store) -> None:
    store.add(RECORD)
    assert store._writer is not None
    connection = store._writer._connection
    values = {
        name: connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")
    }
    assert values == {"journal_mode": "wal", "synchronous": 1, "busy_timeout": 20000, "foreign_keys": 1}


def test_a_file_is_made_written_and_read_without_sqlalchemy_and_alembic(path: Path) -> None:
    code = (
        "import sys; from steelyard.store import Store; from tests.store.conftest import RECORD;"
        "store = Store.open(sys.argv[1]); assert store.get(store.add(RECORD)) == RECORD;"
        "print([m for m in ('alembic', 'mako', 'sqlalchemy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_newer_schema_is_left_alone(path: Path) -> None:
    Store.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE {values.REVISION_TABLE} SET version_num = '9876'")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=f"schema 9876.*up to {values.HEAD}; run: pip install --upgrade"):
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
def test_errors_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    with pytest.raises(StoreError, match=message):
        Store.open(where)


def test_a_url_opens_the_same_file(store: Store, path: Path) -> None:
    run_id = store.add(RECORD)
    with Store.open(f"sqlite:///{path}") as same:
        assert same.get(run_id) == RECORD
        assert same.get_blob(store.put_blob("log")) == b"log"


REVISION = values.REVISION_TABLE


@pytest.mark.parametrize(
    "damage",
    [
        f"DELETE FROM {REVISION}",
        f"UPDATE {REVISION} SET version_num = '0000'",
        f"UPDATE {REVISION} SET version_num = 'new'",
        f"DROP TABLE {REVISION}; CREATE TABLE {REVISION} (version_num); INSERT INTO {REVISION} VALUES (NULL)",
        f"DROP TABLE {REVISION}; CREATE TABLE {REVISION} (n); INSERT INTO {REVISION} VALUES ('0001')",
        f"DROP TABLE {REVISION}; CREATE TABLE {REVISION} (version_num); INSERT INTO {REVISION} VALUES ('1'), ('1')",
        "DROP TABLE run",
        "ALTER TABLE setup DROP COLUMN harness",
        "UPDATE run SET notes = '{oops'",
        "UPDATE run SET notes = x'ff00'",
        "UPDATE run SET finished = 'yesterday'",
    ],
)
def test_an_odd_database_says_what_to_do(path: Path, damage: str) -> None:
    with Store.open(path) as store:
        store.add(RECORD)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"PRAGMA foreign_keys = OFF; {damage}")
    with pytest.raises(StoreError, match="the file is damaged: restore a copy, or move it away"), Store.open(path) as s:
        s.find([RECORD.setup.key])


@pytest.mark.parametrize("keep", [100, 4096, -40000])
def test_a_truncated_database_says_what_to_do(path: Path, keep: int) -> None:
    with Store.open(path) as store:
        store.add(RECORD)
    content = path.read_bytes()
    path.write_bytes(content[:keep])
    with pytest.raises(StoreError, match="the file is damaged: restore a copy, or move it away"), Store.open(path) as s:
        s.runs()
    assert path.read_bytes() == content[:keep]


def test_a_database_on_a_read_only_disk_is_read(tmp_path: Path) -> None:
    """Somebody's results, mounted: nothing can be written, beside them neither."""
    with Store.open(tmp_path / "results.db") as store:
        store.add(RECORD)
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    for options in (["--bind", str(tmp_path)], ["-o", "remount,bind,ro"]):
        done = subprocess.run(["mount", *options, str(mounted)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"a disk cannot be mounted: {done.stderr.strip()}; run as root")
    try:
        with Store.open(mounted / "results.db") as store:
            assert [r.metrics for r in store.runs()] == [RECORD.metrics]
            with pytest.raises(StoreError, match="make the file and its folder writable"):
                store.add(RECORD)
    finally:
        subprocess.run(["umount", "-l", str(mounted)], check=True)
