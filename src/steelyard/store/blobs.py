"""Stores logs and other long texts as compressed files named by the hash of their content."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from pathlib import Path

from steelyard.model import whole

from .errors import StoreError, StoreFailure

_DIGEST = re.compile(r"[0-9a-f]{64}")
#: bytes of a log at the most, several times what building leaves of the longest: a small file may hold a huge one
MOST = 64 << 20


class Blobs:
    """A folder of ``ab/abcdef....gz``; each file is written once, complete or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, content: str | bytes) -> str:
        """Stores ``content`` unless it is there, and returns its SHA-256. Raises :class:`StoreFailure` when it cannot
        be written."""
        data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
        if len(data) > MOST:
            raise StoreError(f"a log has {len(data)} bytes, and at most {MOST}")
        digest = hashlib.sha256(data).hexdigest()
        path = self._path(digest)
        try:
            if not (path.exists() and path.stat().st_size):
                whole.put(path, gzip.compress(data, compresslevel=6, mtime=0))
        except OSError as error:
            raise StoreFailure(f"{path}: {error.strerror}; make the folder writable and run again") from error
        return digest

    def get(self, digest: str) -> bytes:
        """The content, checked against its digest. Raises :class:`StoreError`."""
        if not _DIGEST.fullmatch(digest):
            raise StoreError(f"{digest!r} is not a digest: 64 hexadecimal digits in lower case")
        path = self._path(digest)
        try:
            with gzip.open(path) as file:
                data = file.read(MOST + 1)
        except FileNotFoundError:
            raise StoreFailure(f"{path} is missing; copy the folder together with its database") from None
        except (OSError, EOFError, zlib.error) as error:
            raise StoreFailure(f"{path} cannot be read: {error}; run again to store it anew") from error
        if len(data) > MOST or hashlib.sha256(data).hexdigest() != digest:
            raise StoreFailure(f"{path} does not have the content that its name says; delete it and run again")
        return data

    def drop(self, digest: str) -> None:
        """Deletes a content, if it is there. Raises :class:`StoreFailure`."""
        if not _DIGEST.fullmatch(digest):
            return
        path = self._path(digest)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreFailure(f"{path}: {error.strerror}; delete it by hand") from error

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / f"{digest}.gz"
