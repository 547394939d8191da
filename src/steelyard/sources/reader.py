"""Reads the files of a package, each once: hashes and a few traits of their content."""

# paths are strings here, because a tree has thousands of them

from __future__ import annotations

import hashlib
import os
import re
import stat

from msgspec import Struct

from ..model.reasons import Failure, Reason
from .kind import Kind

_MAIN = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]*(?:(?:int|void)[ \t\r\n]+)?main[ \t]*\(", re.M)
_KAT = re.compile(rb"^Count *= *\d+\r?\n(?:Key|Msg) *=", re.M)
_DIRECTIVE = re.compile(rb"#[ \t]*(?:include|define|if)")


class Content(Struct, frozen=True):
    """What one pass over a file tells: its hash, its size in bytes, and what it contains."""

    sha256: str
    size: int
    has_main: bool
    stdio: bool
    needs_cpp: bool


class Reader:
    """Reads every file once, however many links lead to it. ``file_bytes`` is the largest size that is read."""

    def __init__(self, file_bytes: int) -> None:
        self._limit = file_bytes
        self._known: dict[tuple[str, Kind], Content | Failure] = {}
        self._kats: dict[str, bool] = {}

    def content(self, real: str, kind: Kind) -> Content | Failure:
        """Hash and traits of the file at ``real``, a path without links; a failure when it cannot be read."""
        known = self._known.get((real, kind))
        if known is None:
            data = self.data(real)
            known = data if isinstance(data, Failure) else _content(data, real, kind)
            self._known[real, kind] = known
        return known

    def is_kat(self, real: str) -> bool:
        """Whether the file at ``real`` has known answers in it, whatever its name."""
        if real not in self._kats:
            data = self.data(real)
            self._kats[real] = isinstance(data, bytes) and _KAT.search(data) is not None
        return self._kats[real]

    def data(self, real: str) -> bytes | Failure:
        """The bytes of a file, or a failure: only regular files within the limit are read, and links are refused."""
        try:
            fd = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError) as e:
            return Failure(Reason.UNREADABLE, getattr(e, "strerror", None) or str(e))
        try:
            info = os.fstat(fd)
            if not stat.S_ISREG(info.st_mode):
                return Failure(Reason.UNREADABLE, "not a regular file")
            if info.st_size > self._limit:
                return Failure(Reason.UNREADABLE, f"{info.st_size} bytes, the limit is {self._limit}")
            data = os.read(fd, info.st_size + 1)
            if len(data) != info.st_size:  # it changes while being read
                while len(data) <= self._limit and (more := os.read(fd, 1 << 16)):
                    data += more
        except OSError as e:
            return Failure(Reason.UNREADABLE, e.strerror or str(e))
        finally:
            os.close(fd)
        if len(data) > self._limit:
            return Failure(Reason.UNREADABLE, f"more than {self._limit} bytes")
        return data


def _content(data: bytes, real: str, kind: Kind) -> Content:
    compiled = kind in (Kind.C, Kind.CXX)
    return Content(
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        has_main=compiled and (b"main(" in data or b"main (" in data) and _MAIN.search(data) is not None,
        stdio=b"stdio.h" in data,
        needs_cpp=kind is Kind.ASM and real.endswith(".s") and _preprocessed(data),
    )


def _preprocessed(data: bytes) -> bool:
    return b"/*" in data or b"//" in data or _DIRECTIVE.search(data) is not None
