"""Migrating: an older database keeps all that it has and becomes as a new one, wherever that is killed; and back."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from msgspec.structs import replace
from sqlalchemy import URL, Engine, create_engine, event, inspect, text

from steelyard.model.reasons import Failure, Reason
from steelyard.store import Store, StoreError, migrate, schema
from steelyard.store.engine import downgrade, open_engine, url_of
from steelyard.store.operating import Yard
from steelyard.store.operators import Operators
from steelyard.store.queue import Queue
from steelyard.store.schema import REVISION_TABLE as REVISION
from steelyard.store.submissions import Desk

from . import first_tables
from .conftest import RECORD
from .handed_in import GIVEN, ROOM, tasks
from .servers import SERVERS, emptied

OLD = Path(__file__).with_name("schema_0002.sql")
#: what was known before runs had the cycles that their calls were allowed, before there were cycles of known answers,
#: and before there were counters at points
WITHOUT_LIMIT = replace(RECORD, max_cycles=None)
WITHOUT_CYCLES = replace(WITHOUT_LIMIT, vector_cycles=b"")
BEFORE = replace(WITHOUT_CYCLES, points=tuple(replace(p, counter=None) for p in RECORD.points))
#: what the way back leaves of a record, by the first revision that has room for it, the newest first
KEPT = {"0013": RECORD, "0010": WITHOUT_LIMIT, "0007": WITHOUT_CYCLES, "0001": BEFORE}
#: what it holds, in the order of numbers: made by the version that wrote schema 0002
STORED = (
    BEFORE,
    replace(
        BEFORE,
        setup=replace(RECORD.setup, flags="-Os"),
        failure=Failure(Reason.FAULT, "at 0x12"),
        **dict.fromkeys(("points", "helpers", "notes"), ()),  # type: ignore[arg-type]
        metrics={},
        verification=None,
        finished=None,
        log="",
        seed="",
    ),
    replace(
        BEFORE,
        setup=replace(RECORD.setup, target="bluepill"),
        verification=replace(RECORD.verification, answers=""),  # type: ignore[type-var]
    ),
    replace(BEFORE, seconds=2.5),
)


def old(database: str, *changes: str) -> None:
    """Makes a database as an older version left it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        made.executescript(OLD.read_text(encoding="utf-8"))
        for change in changes:
            made.execute(change)
        if "://" not in database:
            Path(database).parent.mkdir()
            with closing(sqlite3.connect(database)) as copy:
                made.backup(copy)
            return
        server = create_engine(database)
        with server.begin() as connection:
            first_tables.create(connection)
            for table in [*first_tables.NAMES, REVISION]:
                rows = made.execute(f'SELECT * FROM "{table}"')
                names = [column[0] for column in rows.description]
                quoted = [connection.dialect.identifier_preparer.quote(name) for name in names]
                insert = f"INSERT INTO {table} ({', '.join(quoted)}) VALUES ({', '.join(f':{n}' for n in names)})"
                for row in rows:
                    connection.execute(text(insert), dict(zip(names, row, strict=True)))
            if connection.dialect.name == "postgresql":
                for table in ("implementation", "toolchain", "target", "setup", "run"):
                    connection.execute(text(f"SELECT setval('{table}_id_seq', 100)"))
        server.dispose()


def shape(database: str) -> object:
    """Columns, keys and indexes of all tables, as the database tells them."""
    engine = open_engine(url_of(database))
    tables: dict[str, list[str]] = {}
    with engine.connect() as connection:
        at = inspect(connection)
        for table in sorted(at.get_table_names()):
            columns = [(c["name"], str(c["type"]).split(" COLL")[0], c["nullable"]) for c in at.get_columns(table)]
            keys = (
                at.get_foreign_keys,
                at.get_indexes,
                at.get_unique_constraints,
                at.get_check_constraints,
            )
            every = [sorted(columns), at.get_pk_constraint(table), *(sorted(key(table), key=str) for key in keys)]
            tables[table] = list(map(str, every))
        if connection.dialect.name == "mariadb":  # where a table has the same, a column does not tell
            sql = "SELECT DISTINCT collation_name FROM information_schema.columns WHERE table_schema = DATABASE()"
            tables["collations"] = sorted(map(str, connection.exec_driver_sql(sql)))
    engine.dispose()
    return tables


def test_head_is_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(migrate.config()).get_heads() == [schema.HEAD]


def test_an_old_database_keeps_all_and_becomes_as_a_new_one(
    database: str, servers: Callable[[str], URL], tmp_path: Path
) -> None:
    old(database)
    with Store.open(database) as store:
        assert store.records(range(1, 5)) == list(reversed(STORED))
        assert store.find([RECORD.setup.key]) == {RECORD.setup.key: STORED[3]}
        assert store.get(store.add(RECORD)) == RECORD
    migrated = shape(database)
    kind = database.split("+")[0]
    fresh = emptied(servers(kind)).render_as_string() if kind in SERVERS else str(tmp_path / "fresh.db")
    assert migrated == shape(fresh)


def test_means_over_fresh_inputs_become_the_means(database: str) -> None:
    """Where time depends on the inputs; and what follows from them does, too."""
    insert = "INSERT INTO measurement (run_id, metric, whole, fraction) VALUES (4, '{}', {}, NULL)".format
    figures = {"cycles_hash_mean": 100, "cycles_hash_fresh_mean": 300, "energy_hash_modelled": 5}
    figures |= {"energy_hash_measured_with_idle": 6, "energy_hash_measured_with_idle_uncertainty": 2}
    old(database, *(insert(name, value) for name, value in figures.items()))
    with Store.open(database) as store:
        [found] = store.records([4])
    assert found.metrics.items() >= STORED[0].metrics.items()
    new = {"cycles_hash_mean": 300, "cycles_hash_known_mean": 100, "energy_hash_modelled": 15.0}
    new |= {"energy_hash_measured_with_idle": 18.0, "energy_hash_measured_with_idle_uncertainty": 6.0}
    assert {n: v for n, v in found.metrics.items() if "hash" in n} == new


def test_bytes_of_blocks_become_those_of_further_ones(database: str) -> None:
    """On chips with caches; where the two means are one, figures stay as they are."""
    insert = "INSERT INTO measurement (run_id, metric, whole, fraction) VALUES (4, '{}', {}, NULL)".format
    figures = {"cycles_encrypt_mean": 856, "cycles_encrypt_warm_mean": 660, "encrypt_per_byte": 107}
    figures |= {"cycles_decrypt_mean": 80, "cycles_decrypt_warm_mean": 80, "decrypt_per_byte": 10}
    old(database, *(insert(name, value) for name, value in figures.items()))
    with Store.open(database) as store:
        [found] = store.records([4])
    assert {n: v for n, v in found.metrics.items() if n in figures} == figures | {"encrypt_per_byte": 82.5}
    downgrade(url_of(database), "0010", lose=True)
    with Store.open(database) as store:
        assert store.records([4])[0].metrics["encrypt_per_byte"] == 82.5


@pytest.mark.parametrize("database", ["mariadb"], indirect=True)
def test_a_migration_that_is_killed_goes_on_wherever_that_was(database: str, servers: Callable[[str], URL]) -> None:
    """MariaDB keeps each step at once. It is killed before each of them."""
    old(database)
    server = create_engine(database)
    with server.begin() as connection:
        for name in ("seed", "answers"):
            connection.exec_driver_sql(f"ALTER TABLE run DROP COLUMN {name}")
        connection.exec_driver_sql(f"UPDATE {REVISION} SET version_num = '0001'")
    server.dispose()
    met = set[str]()

    def step(*said: Any) -> None:
        if said[2].split()[0] in ("ALTER", "CREATE", "UPDATE") and said[2] not in met:
            met.add(said[2])
            raise KeyboardInterrupt

    event.listen(Engine, "before_cursor_execute", step)
    try:
        for _ in range(100):
            with suppress(KeyboardInterrupt):
                Store.open(database).close()
                break
    finally:
        event.remove(Engine, "before_cursor_execute", step)
    assert len(met) > 20
    migrated = shape(database)
    assert migrated == shape(emptied(servers("mariadb")).render_as_string())


def test_a_database_of_the_first_schema(path: Path) -> None:
    """Without the columns that the second added."""
    drop = (f"ALTER TABLE run DROP COLUMN {name}" for name in ("seed", "answers"))
    old(str(path), *drop, f"UPDATE {REVISION} SET version_num = '0001'")
    with Store.open(path) as store:
        for found, record in zip(store.records(range(1, 5)), reversed(STORED), strict=True):
            verified = record.verification and replace(record.verification, answers="")
            assert found == replace(record, seed="", verification=verified)


def test_a_migrated_file_has_the_schemas_own_words(path: Path, tmp_path: Path) -> None:
    """Properties that SQLAlchemy does not report: tables without row ids, numbers that are never reused."""
    old(str(path))
    made = []
    for place in (path, tmp_path / "fresh.db"):
        Store.open(place).close()
        with closing(sqlite3.connect(place)) as connection:
            found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
            made.append({name: "".join(sql.replace('"', "").split()) for name, sql in found})
    assert made[0] == made[1]


def test_processes_that_migrate_at_once(database: str) -> None:
    old(database)
    with ThreadPoolExecutor(4) as pool:
        for store in pool.map(Store.open, [database] * 4):
            with store:
                assert len(store.runs(newest_only=False)) == 4


NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "{next}"
down_revision = "{head}"


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
        head, later = schema.HEAD, f"{int(schema.HEAD) + 1:04}"
        (scripts / "versions" / f"{later}_next.py").write_text(NEXT.format(more=more, head=head, next=later))
        monkeypatch.setattr(migrate, "SCRIPTS", str(scripts).replace("%", "%%"))
        monkeypatch.setattr(schema, "HEAD", later)
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


def test_back_to_an_older_schema_and_up_again_with_data(database: str) -> None:
    """Every step: runs stay, what has no room is counted and not dropped unasked, and the way up leads to the same."""
    with Store.open(database) as store:
        store.put_blob("said")
        store.add(RECORD)
        Operators(store).hire("box")
        token = Desk(store).hand_in(GIVEN, tasks(), ROOM)
        with Queue(store, "w").taken("a") as taken:
            assert taken is not None
        Yard(store).pause("target a")
    newest = shape(database)
    url = url_of(database)
    limit = {"run.max_cycles": 1}
    logs = limit | ({"build_log": 1} if "://" in database else {})  # a file has them beside it
    one = logs | {"vector_cycles": 1, "worker_key": 1}
    gone = {
        "0012": limit,
        "0011": logs,
        "0009": logs | {"vector_cycles": 1},
        "0007": one,
        "0006": one | {"point.counter": 1},
    }
    for revision, lost in gone.items():
        assert downgrade(url, revision, lose=False) == lost
    assert shape(database) == newest
    for revision in reversed(sorted((migrate.OLDEST, *migrate.NEW))[:-1]):
        there = downgrade(url, revision, lose=False)
        assert downgrade(url, revision, lose=True) == there
        assert there.keys() <= {n for names in migrate.NEW.values() for n in names}
        server = create_engine(url)
        with server.connect() as connection:
            assert connection.execute(text(f"SELECT version_num FROM {REVISION}")).scalar() == revision
            assert connection.execute(text("SELECT COUNT(*) FROM run")).scalar() == 1
            tables = set(inspect(connection).get_table_names())
        server.dispose()
        assert tables.isdisjoint(n for of, names in migrate.NEW.items() if of > revision for n in names)
        with Store.open(database) as store:  # migrates it up again
            assert store.runs() == [next(kept for since, kept in KEPT.items() if revision >= since)]
            assert (Desk(store).find(token) is not None) is (revision >= "0005")
        assert shape(database) == newest
        with Store.open(database) as store:  # something that the next step loses
            Operators(store).hire("box")
    with pytest.raises(StoreError, match="there are 0003, 0004"):
        downgrade(url, "0002", lose=True)
