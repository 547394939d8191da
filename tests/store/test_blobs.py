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

from steelyard.store import Keeper, Store, StoreError, blobs, copying, logs, schema
from steelyard.store.engine import writing
from steelyard.store.errors import LogLost
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


@pytest.mark.parametrize(("one", "other"), [("x.db", "x.bak"), ("x.bak", "x.db"), ("x.db", "x"), ("x", "x.sqlite")])
@pytest.mark.parametrize("empty", [False, True])
def test_no_database_is_made_that_would_share_its_logs(one: str, other: str, empty: bool, tmp_path: Path) -> None:
    Store.open(tmp_path / one).close()
    if empty:
        (tmp_path / other).touch()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(StoreError, match=f"share the folder of logs x.blobs with {one}; .* such as x-copy.db"):
        Store.open(tmp_path / other)
    assert sorted(tmp_path.iterdir()) == before
    Store.open(tmp_path / other, blobs=tmp_path / "others").close()
    for name in (one, other):  # those that are there are opened
        Store.open(tmp_path / name).close()


def test_what_is_no_other_database_hinders_none(tmp_path: Path) -> None:
    for name in ("x.html", "x.db-old", "x.unreadable", "y.db"):
        (tmp_path / name).write_bytes(b"SQLite format 3" if name[0] == "x" else b"SQLite format 3\0")
    (tmp_path / "x.unreadable").chmod(0)
    (tmp_path / "x.folder").mkdir()
    (tmp_path / "x.gone").symlink_to("nowhere")
    Store.open(tmp_path / "x.db").close()
    (tmp_path / "x.link").symlink_to("x.db")
    (tmp_path / "x.hard").hardlink_to(tmp_path / "x.db")
    for name in ("x.link", "x.hard", "x.db"):
        Store.open(tmp_path / name).close()


def test_a_database_in_use_is_not_read_beside_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To close it would take SQLite's locks on it from this process."""
    read = list[str]()
    monkeypatch.setattr(blobs, "is_database", lambda file: read.append(file.name))
    with Store.open(tmp_path / "away.db") as store:
        store.add(RECORD)
        (tmp_path / "x.db").symlink_to("away.db")
        for name in ("away.bak", "x.bak"):
            with pytest.raises(StoreError, match="would share"):
                Store.open(tmp_path / name)
    assert not read
