"""Logs of a database that is a file: of NAME.db in NAME.blobs, of one with another ending in NAME.ending.logs. All of
one NAME shared NAME.blobs before, where a deletion in one took the others' logs: what they have there becomes theirs.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import get_ident

from .blobs import Blobs, is_digest
from .errors import StoreFailure
from .values import BUSY_SECONDS

_USUAL = ".db"


class Beside(Blobs):
    """The folder of a database that is there. Raises :class:`StoreFailure` where it cannot have one of its own."""

    def __init__(self, file: Path) -> None:
        self._file, self._shared = file, file.with_name(f"{file.stem}.blobs")
        super().__init__(_own(file))
        if self.folder != self._shared and not os.access(file.parent, os.W_OK) and not self.folder.is_dir():
            self.folder = self._shared  # nothing is written or deleted here
        else:
            _part(file, self._shared)

    def drop(self, digests: Collection[str], _: object = None) -> None:
        """As of any folder; those with which it was shared have their own before."""
        if self.folder == self._shared:
            for other in _others(self._file):
                with suppress(StoreFailure):  # it is none of ours, or nobody can read it
                    _part(other, self._shared)
        super().drop(digests)


def _own(file: Path) -> Path:
    """The folder of a database, which no other name has."""
    return file.with_name(f"{file.stem}.blobs" if file.suffix == _USUAL else f"{file.name}.logs")


def _others(file: Path) -> Iterator[Path]:
    """Databases beside one that have, or had, their logs in the same folder."""
    for other in file.parent.iterdir():
        if other.stem == file.stem and other.name != file.name and other.is_file():
            with suppress(OSError), other.open("rb") as opened:
                if opened.read(16) == b"SQLite format 3\0":
                    yield other


def _part(file: Path, shared: Path) -> None:
    """Makes what a database has in a shared folder its own, whole or not at all."""
    own = _own(file)
    if own == shared or own.is_dir() or not shared.is_dir():
        return
    made = own.with_name(f".{own.name}.{os.getpid()}.{get_ident()}")
    try:
        if any(_own(other) == shared or not _own(other).is_dir() for other in _others(file)):
            made.mkdir()
            for digest in _logs(file):
                _link(shared / digest[:2] / f"{digest}.gz", made / digest[:2] / f"{digest}.gz")
            made.rename(own)
        else:
            shared.rename(own)
    except OSError as error:
        if not own.is_dir():  # another process made it meanwhile
            raise StoreFailure(f"{own}: {error.strerror}; make the folder writable and try again") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _logs(file: Path) -> set[str]:
    """The logs that runs of a database have, of whatever version."""
    try:
        with closing(
            sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", timeout=BUSY_SECONDS, uri=True)
        ) as connection:
            return {log for (log,) in connection.execute("SELECT DISTINCT log FROM run") if is_digest(str(log))}
    except sqlite3.Error as error:
        raise StoreFailure(f"{file}: {error}") from error


def _link(log: Path, to: Path) -> None:
    """Has a log at another place too, if it is there: files of logs are never written again."""
    to.parent.mkdir(exist_ok=True)
    try:
        os.link(log, to)
    except FileNotFoundError:
        return
    except OSError:  # not every file system has links
        shutil.copyfile(log, to)
