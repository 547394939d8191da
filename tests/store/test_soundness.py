"""Pages and indexes: what is damaged in them is found although all runs can be read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from steelyard.store import Store, StoreError, checking, copying
from tests.made_up import record

INDEX = "sqlite_autoindex_implementation_1"


@pytest.mark.parametrize("size", [8, 3000])
def test_a_damaged_index_of_a_file_is_found_and_a_copy_is_sound(tmp_path: Path, size: int) -> None:
    """Nothing that is read needs it, and no run can be stored: damage at the page's head, and of all its cells."""
    with Store.open(tmp_path / "a.db") as store:
        store.add(record())
        assert list(checking.check(store)) == []
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (INDEX,)).fetchone()
        (bytes_,) = db.execute("PRAGMA page_size").fetchone()
    with (tmp_path / "a.db").open("r+b") as file:
        file.seek((page - 1) * bytes_)
        file.write(b"\xa5" * size)
    with Store.open(tmp_path / "a.db") as store, Store.open(tmp_path / "b.db") as copy:
        (found, *_) = checking.check(store)
        assert (found.run, "steelyard db copy" in found.action) == (None, True)
        with pytest.raises(StoreError):
            store.add(record("toy2/ref"))
        assert copying.copy(store, copy).copied == 1
        assert list(checking.check(copy)) == []


def test_a_sound_database_of_each_kind_has_no_flaws(database: str) -> None:
    """On PostgreSQL, where its extension is there, a row that an index lacks is one."""
    with Store.open(database) as store:
        store.add(record())
        assert (store.flaws(), list(checking.check(store))) == ([], [])
        if not database.startswith("postgresql"):
            assert store.judged()
            return
        engine = create_engine(database, isolation_level="AUTOCOMMIT")
        with engine.connect() as server:
            assert not store.judged()
            try:
                server.execute(text("CREATE EXTENSION amcheck"))
            except DBAPIError:
                pytest.skip("amcheck is not installed: apt install postgresql")
            ready = "UPDATE pg_index SET indisready = {} WHERE indexrelid = 'ix_implementation_variant'::regclass"
            assert (store.judged(), store.flaws()) == (True, [])
            server.execute(text(ready.format("false")))
            store.add(record("toy2/ref"))
            server.execute(text(ready.format("true")))
            assert ['"ix_implementation_variant"' in flaw for flaw in store.flaws()] == [True]
        engine.dispose()
