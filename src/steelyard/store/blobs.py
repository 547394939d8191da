"""Logs and other long texts, compressed and named by the hash of their content: as files beside a database that is a
file, in a table (``logs.py``) where it is none."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from steelyard.model import whole
from steelyard.model.errors import cut
from steelyard.model.userfile import PARTS, is_database

from .errors import LogLost, StoreError, StoreFailure

_DIGEST = re.compile(r"[0-9a-f]{64}")
#: bytes of a log at the most, several times what building leaves of the longest: a small file may hold a huge one
MOST = 64 << 20


def named(content: str | bytes) -> tuple[str, bytes]:
    """SHA-256 and bytes of a log. Raises :class:`StoreError` where it is too long."""
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    if len(data) > MOST:
        raise StoreError(f"a log has {len(data)} bytes, and at most {MOST}")
    return hashlib.sha256(data).hexdigest(), data


def packed(data: bytes) -> bytes:
    """A log as it is kept."""
    return gzip.compress(data, compresslevel=6, mtime=0)


def unpacked(file: Path | BinaryIO, digest: str, where: str) -> bytes:
    """A log as it was, checked against its digest; ``where`` is what it is kept in. Raises :class:`LogLost`."""
    try:
        with gzip.open(file) as opened:
            data = opened.read(MOST + 1)
    except FileNotFoundError:
        raise missing(where) from None
    except (OSError, EOFError, zlib.error) as error:
        raise LogLost("cannot be read", where, f"{error}; run again to store it anew") from error
    if len(data) > MOST or hashlib.sha256(data).hexdigest() != digest:
        raise LogLost("does not have the content that its name says", where, "delete it and run again")
    return data


def is_whole(file: Path | BinaryIO, digest: str) -> bool:
    """Whether a log is there and as its name says."""
    try:
        unpacked(file, digest, "")
    except LogLost:
        return False
    return True


def missing(where: str) -> LogLost:
    """What to raise for a log that is not there."""
    return LogLost("is missing", where, "copy the database again from where its logs are, or run again")


def is_digest(text: str) -> bool:
    """Whether a text may name a log."""
    return _DIGEST.fullmatch(text) is not None


def checked(digest: str) -> str:
    """A digest, which names a log. Raises :class:`StoreError` for what cannot."""
    if not is_digest(digest):
        raise StoreError(f"{digest!r} is not a digest: 64 hexadecimal digits in lower case")
    return digest


def beside(file: Path) -> Path:
    """The folder of logs of a database that is a file."""
    return file.parent / f"{file.stem}.blobs"


def unshared(file: Path) -> None:
    """Raises :class:`StoreError` where a database that is not there yet would share its folder of logs with another: a
    deletion in one takes the logs from both."""
    if other := _neighbour(file):
        raise StoreError(
            f"{cut(str(file))}: would share the folder of logs {beside(file).name} with {other.name}; choose another "
            f"name, such as {file.stem}-copy.db"
        )


def _neighbour(file: Path) -> Path | None:
    with suppress(OSError, ValueError):  # what cannot be a path is told when it is opened
        if file.exists() and file.stat().st_size:
            return None
        for other in sorted(file.parent.iterdir()):
            if other.stem == file.stem and other.name != file.name and not other.name.endswith(PARTS):
                with suppress(OSError):
                    if other.is_file() and (_in_use(other) or is_database(other)):
                        return other
    return None


def _in_use(file: Path) -> bool:
    """Whether somebody has a database open, maybe this process."""
    there = file.resolve()
    return any(there.with_name(f"{there.name}{part}").exists() for part in PARTS)


class Blobs:
    """A folder of ``ab/abcdef....gz``; each file is written once, complete or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: str | bytes, _: object = None) -> str:
        """Stores ``content`` unless it is there and whole, and returns its SHA-256; a transaction that is rolled back
        leaves the file. Raises :class:`StoreFailure` when it cannot be written."""
        digest, data = named(content)
        path = self._path(digest)
        try:
            if not is_whole(path, digest):
                whole.put(path, packed(data))
        except OSError as error:
            raise StoreFailure(f"{path}: {error.strerror}; make the folder writable and run again") from error
        return digest

    def get(self, digest: str) -> bytes:
        """The content, checked against its digest. Raises :class:`StoreError`."""
        path = self._path(checked(digest))
        return unpacked(path, digest, str(path))

    def has(self, digests: Collection[str]) -> set[str]:
        """Those of these that are there and whole."""
        return {d for d in digests if is_digest(d) and is_whole(self._path(d), d)}

    def hold(self, digests: Collection[str], _: object) -> None:
        """Does nothing: of a database that is a file one transaction at a time writes."""

    def drop(self, digests: Collection[str], _: object = None) -> None:
        """Deletes these, if they are there. Raises :class:`StoreFailure`."""
        for path in map(self._path, filter(is_digest, digests)):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StoreFailure(f"{path}: {error.strerror}; delete it by hand") from error

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / f"{digest}.gz"
