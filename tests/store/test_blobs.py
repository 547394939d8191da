"""Logs: stored once, complete, and checked when read."""

from __future__ import annotations

import gzip
import hashlib
import secrets
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import URL, update

from steelyard.store import Keeper, Store, StoreError, beside, blobs, copying, logs, schema
from steelyard.store.engine import writing
from steelyard.store.errors import LogLost
from steelyard.store.operating import forget
from steelyard.store.writing import append

from .conftest import RECORD
from .servers import SERVERS, emptied


def files(path: Path) -> list[Path]:
    """All files in the folder of logs."""
    return [p for p in path.with_suffix(".blobs").rglob("*") if p.is_file()]


@pytest.mark.parametrize("content", ["", "größer\n" * 9000, b"\xff\x00\xfe"])
def test_content_comes_back(store: Store, content: str | bytes) -> None:
    data = content.encode() if isinstance(content, str) else content
    digest = store.put_blob(content)
    assert digest == hashlib.sha256(data).hexdigest()
    assert store.get_blob(digest) == data


def test_text_that_is_not_unicode_is_kept_readable(store: Store) -> None:
    assert store.get_blob(store.put_blob("a\udcffb")) == b"a\\udcffb"


def test_the_same_log_is_one_file(store: Store, path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        digests = set(pool.map(store.put_blob, ["warning: unused\n" * 5000] * 40))
    assert len(digests) == 1
    [file] = files(path)
    assert file.stat().st_size < 1000
    assert gzip.decompress(file.read_bytes()).startswith(b"warning")


def test_damage_is_found_and_repaired(store: Store, path: Path) -> None:
    digest = store.put_blob("log")
    [file] = files(path)
    file.write_bytes(gzip.compress(b"another"))
    with pytest.raises(StoreError, match="does not have the content that its name says; delete it"):
        store.get_blob(digest)
    file.write_bytes(file.read_bytes()[:9])
    with pytest.raises(StoreError, match="cannot be read"):
        store.get_blob(digest)
    file.write_bytes(b"")
    assert store.get_blob(store.put_blob("log")) == b"log"


@pytest.mark.parametrize("damage", [b"", b"garbage", gzip.compress(b"another", mtime=0)])
def test_the_next_run_stores_a_damaged_log_anew(store: Store, path: Path, damage: bytes) -> None:
    """As its message says."""
    digest = store.put_blob("a log")
    [file] = files(path)
    file.write_bytes(damage)
    with pytest.raises(LogLost):
        store.get_blob(digest)
    assert store.get_blob(store.put_blob("a log")) == b"a log"


def test_a_small_file_that_holds_a_huge_log_is_not_unpacked(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "MOST", 1 << 16)
    digest = store.put_blob("log")
    [file] = files(path)
    file.write_bytes(gzip.compress(bytes(1 << 25), compresslevel=1))
    tracemalloc.start()
    with pytest.raises(StoreError, match="does not have the content that its name says; delete it"):
        store.get_blob(digest)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 23
    with pytest.raises(StoreError, match="a log has 65537 bytes, and at most 65536"):
        store.put_blob(bytes(1 + (1 << 16)))


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "A" * 64, "0" * 63])
def test_only_digests_name_logs(store: Store, digest: str) -> None:
    with pytest.raises(StoreError, match="is not a digest"):
        store.get_blob(digest)


def test_a_missing_log_is_named(store: Store) -> None:
    with pytest.raises(StoreError, match="is missing; copy the database again"):
        store.get_blob("0" * 64)


@pytest.mark.parametrize("kind", ["memory", *SERVERS])
def test_a_database_that_is_no_file_keeps_logs_itself(
    servers: Callable[[str], URL], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a folder does: once, checked, of bounded size, and until no run has them."""
    place = emptied(servers(kind)).render_as_string(hide_password=False) if kind in SERVERS else ":memory:"
    every = bytes(range(256)) * 40
    with Store.open(place) as store:
        with ThreadPoolExecutor(4) as pool:
            (digest,) = set(pool.map(store.put_blob, [every] * 12))
        assert store.get_blob(digest) == every
        gone, kept = store.put_blob("gone"), store.put_blob("kept")
        store.add(replace(RECORD, log=kept))
        store.drop_blobs([gone, kept])
        assert store.has_blobs([gone, kept, digest]) == {kept, digest}
        with pytest.raises(LogLost, match="is missing"):
            store.get_blob(gone)
        with store._engine.begin() as connection:
            connection.execute(update(schema.build_log).values(content=b"no gzip"))
        with pytest.raises(LogLost, match="cannot be read"):
            store.get_blob(kept)
        monkeypatch.setattr(logs, "PACKED", 100)
        with pytest.raises(StoreError, match="compressed, and at most 100"):
            store.put_blob(secrets.token_bytes(101))


@pytest.mark.parametrize("to", [":memory:", "file"])
def test_a_copy_mends_damaged_logs(to: str, tmp_path: Path) -> None:
    there = tmp_path / "to.db"
    with Store.open(tmp_path / "a.db") as source, Store.open(to if to == ":memory:" else there) as store:
        digest = source.put_blob("said")
        source.add(replace(RECORD, log=digest))
        copying.copy(source, store)
        if to == ":memory:":
            with store._engine.begin() as connection:
                connection.execute(update(schema.build_log).values(content=b"no gzip"))
        else:
            files(there)[0].write_bytes(b"no gzip")
        assert store.has_blobs([digest]) == set()
        copying.copy(source, store)
        assert store.get_blob(digest) == b"said"


def test_a_store_in_memory_may_have_a_folder(tmp_path: Path) -> None:
    with Store.open("sqlite://", blobs=tmp_path) as store:
        assert store.get_blob(store.put_blob("log")) == b"log"
        assert list(tmp_path.rglob("*.gz"))


def test_a_log_stays_while_a_run_with_it_is_stored(database: str) -> None:
    """Another run that had it is deleted just then."""
    with Store.open(database) as store, Store.open(database) as other, ThreadPoolExecutor(1) as pool:
        digest = store.put_blob("the same")
        with writing(store._engine).begin() as connection:
            store.put_blob("the same", connection)
            dropped = pool.submit(other.drop_blobs, [digest])
            with pytest.raises(TimeoutError):
                dropped.result(0.3)
            append(connection, replace(RECORD, log=digest))
        dropped.result()
        assert store.get_blob(digest) == b"the same"


def test_a_log_that_was_deleted_before_its_run_is_stored_is_stored_again(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(database) as store, Store.open(tmp_path / "a.db") as source:
        keeper = Keeper(store)
        record = keeper.with_log(RECORD, "said")
        store.drop_blobs([record.log])
        assert keeper.add(record).id is not None
        assert store.get_blob(record.log) == b"said"

        digest = source.put_blob("copied")
        source.add(replace(RECORD, log=digest))
        put = store.put_blob
        with monkeypatch.context() as patched:
            patched.setattr(store, "put_blob", lambda text, within=None: put(text, within) if within else digest)
            assert copying.copy(source, store).copied == 1
        assert store.get_blob(digest) == b"copied"


@pytest.mark.parametrize(("one", "other"), [("x.db", "x.bak"), ("x.bak", "x.db"), ("x.db", "x"), ("x.bak", "x.sqlite")])
def test_no_database_deletes_logs_of_another(one: str, other: str, tmp_path: Path) -> None:
    """Whatever ending their names have."""
    with Store.open(tmp_path / one) as store, Store.open(tmp_path / other) as its:
        digest = store.put_blob("said")
        its.add(replace(RECORD, log=its.put_blob("said")))
        store.drop_blobs([digest])
        assert (store.has_blobs([digest]), its.get_blob(digest)) == (set(), b"said")


@pytest.mark.parametrize("names", [["x.db", "x.bak"], ["x.bak", "x.db"], ["x.sqlite", "x.bak"]])
def test_databases_that_shared_a_folder_have_their_logs(names: list[str], tmp_path: Path) -> None:
    """Also where another deletes before they are opened."""
    for name in names:
        with Store.open(tmp_path / name, blobs=tmp_path / "x.blobs") as store:
            store.put_blob("of nobody")
            digest = store.put_blob("said")
            store.add(replace(RECORD, log=digest))
    first, last = (tmp_path / name for name in names)
    (tmp_path / "x.txt").touch()
    if "x.db" in names:  # else whoever is the last to open takes the folder along
        (tmp_path / "x.other").write_bytes(b"SQLite format 3\0")
    with Store.open(first) as store:
        forget(store, 1)
        assert store.has_blobs([digest]) == set()
    with Store.open(last) as store:
        assert store.get_blob(digest) == b"said"
        assert store.put_blob("said") == digest
        forget(store, 1)
        assert store.has_blobs([digest]) == set()
    assert not list(tmp_path.rglob(f"{digest}.gz"))


def test_the_only_database_of_a_name_takes_its_folder_along(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.sqlite", blobs=tmp_path / "x.blobs") as store:
        digests = {store.put_blob("of nobody"), store.put_blob("said")}
    for _ in range(2):
        with Store.open(tmp_path / "x.sqlite") as store:
            assert store.has_blobs(digests) == digests
    assert not (tmp_path / "x.blobs").exists()


def test_a_folder_that_cannot_be_written_is_read_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(tmp_path / "x.sqlite", blobs=tmp_path / "x.blobs") as store:
        digest = store.put_blob("said")
    monkeypatch.setattr(beside.os, "access", lambda *_: False)
    with Store.open(tmp_path / "x.sqlite") as store:
        assert store.get_blob(digest) == b"said"
    assert not (tmp_path / "x.sqlite.logs").exists()
