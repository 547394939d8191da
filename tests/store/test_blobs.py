"""Logs: stored once, complete, and checked when read."""

from __future__ import annotations

import gzip
import hashlib
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from steelyard.store import Store, StoreError, blobs


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
    with pytest.raises(StoreError, match="is missing; copy the folder"):
        store.get_blob("0" * 64)


def test_a_store_in_memory_needs_a_folder(tmp_path: Path) -> None:
    with Store.open(":memory:") as store, pytest.raises(StoreError, match="blobs=FOLDER"):
        store.put_blob("log")
    with Store.open("sqlite://", blobs=tmp_path) as store:
        assert store.get_blob(store.put_blob("log")) == b"log"
