"""Opening: fast when the schema is ours, and nothing is touched when it is not."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, NullPool, create_engine

from steelyard.store import Store, StoreError, schema
from steelyard.store.engine import name_of, url_of
from steelyard.store.schema import REVISION_TABLE as REVISION

from .conftest import RECORD
from .servers import SERVERS


@pytest.mark.parametrize("database", SERVERS, indirect=True)
def test_a_server_that_ended_our_connections(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Like a process that was started again in the meantime, while nothing was asked for longer than ``_IDLE``."""
    monkeypatch.setattr("steelyard.store.engine._IDLE", 0.0)
    with Store.open(database) as store:
        store.add(RECORD)
        every, end = (
            ("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()", "SELECT pg_terminate_backend({})")
            if database.startswith("postgresql")
            else ("SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID()", "KILL {}")
        )
        with create_engine(database, poolclass=NullPool, isolation_level="AUTOCOMMIT").connect() as other:
            for number in other.exec_driver_sql(every).scalars().all():
                other.exec_driver_sql(end.format(number))
        assert store.get(store.add(RECORD)) == RECORD


@pytest.mark.parametrize(
    ("server", "change", "action"),
    [
        ("postgresql", {"port": 1}, "start the server, or correct host and port"),
        ("mariadb", {"port": 1}, "start the server, or correct host and port"),
        ("postgresql", {"database": "none"}, "create the database, or correct its name"),
        ("mariadb", {"database": "none"}, "create the database, or correct its name"),
        ("mariadb", {"database": ""}, "names no database; write it after the host"),
        ("postgresql", {"username": "nobody"}, "does not exist; "),
    ],
)
def test_a_server_that_cannot_be_used_says_what_to_do(
    servers: Callable[[str], URL], server: str, change: dict[str, Any], action: str
) -> None:
    url = servers(server).set(password="secret", **change)
    with pytest.raises(StoreError, match=action) as error:
        Store.open(url.render_as_string(hide_password=False))
    assert "secret" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_password_that_is_an_option_is_in_no_name() -> None:
    url = url_of("postgresql://u@h/db?password=sekret&sslpassword=sekret&sslmode=require")
    assert name_of(url) == "postgresql://u@h/db?password=***&sslmode=require&sslpassword=***"


@pytest.mark.parametrize("database", SERVERS, indirect=True)
def test_a_newer_server_is_left_alone(database: str) -> None:
    Store.open(database).close()
    server = create_engine(database)
    with server.begin() as connection:
        connection.exec_driver_sql(f"UPDATE {REVISION} SET version_num = '9876'")
    server.dispose()
    with pytest.raises(StoreError, match=f"schema 9876.*up to {schema.HEAD}; update Steelyard"):
        Store.open(database)


def test_settings_of_sqlite(store: Store) -> None:
    names = ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")
    with store._engine.connect() as connection:
        found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names}
    assert found == {"journal_mode": "wal", "synchronous": 1, "busy_timeout": 20000, "foreign_keys": 1}


@pytest.mark.parametrize(
    ("code", "left_out"),
    [
        ("from steelyard.cli.app import app; import steelyard.pipeline", "sqlalchemy"),
        ("from steelyard.store import Store; Store.open(sys.argv[1]).runs()", "alembic"),
    ],
)
def test_commands_import_what_they_need(path: Path, code: str, left_out: str) -> None:
    Store.open(path).close()
    code = f"import sys; {code}; print({left_out!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_newer_schema_is_left_alone(path: Path) -> None:
    Store.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE {REVISION} SET version_num = '9876'")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=f"schema 9876.*up to {schema.HEAD}; update Steelyard"):
        Store.open(path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_someone_elses_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "cookies.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE cookie (id INTEGER)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="contains tables that are not Steelyard's"):
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
        ("://", "neither a path nor a URL"),
        ("mariadb://127.0.0.1:1/x", "start the server, or correct host and port"),
        ("mysql://127.0.0.1:1/x", "start the server, or correct host and port"),
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
        "UPDATE run SET notes = '[1]'",
        "UPDATE run SET notes = '7'",
        "UPDATE run SET seconds = 'long'",
        "UPDATE run SET vectors = 1.5",
        "UPDATE implementation SET family = x'ff00'",
        "UPDATE implementation SET family = CAST(x'ff00' AS TEXT)",
        "UPDATE measurement SET whole = x'00', fraction = NULL",
        "UPDATE measurement SET whole = NULL, fraction = -9e999",
        "UPDATE point SET cycles = 'many'",
        "UPDATE helper SET size = 0.5",
    ],
)
def test_an_odd_database_says_what_to_do(path: Path, damage: str) -> None:
    with Store.open(path) as store:
        store.add(RECORD)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"PRAGMA foreign_keys = OFF; {damage}")
    with pytest.raises(StoreError, match="the file is damaged: restore a copy, or move it away"), Store.open(path) as s:
        s.find([RECORD.setup.key])


@pytest.mark.parametrize("statement", [b"CREATE TABLE run", b"CREATE TABLE setup", b"CREATE INDEX"])
def test_a_schema_that_is_no_text_says_what_to_do(path: Path, statement: bytes) -> None:
    """SQLite's message quotes it, and the driver fails at the message."""
    with Store.open(path) as store:
        store.add(RECORD)
    content = path.read_bytes()
    path.write_bytes(content.replace(statement, statement[:2] + b"\x9a" + statement[3:], 1))
    assert path.read_bytes() != content
    with pytest.raises(StoreError, match="the file is damaged: restore a copy, or move it away") as e:
        Store.open(path)
    assert e.value.exit_code == 3


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
    """Somebody's results on a read-only mount: nothing can be written there."""
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
