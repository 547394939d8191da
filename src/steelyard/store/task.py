"""Jobs as the queue stores them, as JSON: what is to be run, what came of it, and of which implementations."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, astuple

from steelyard.model.errors import cut
from steelyard.model.origin import ZIP
from steelyard.model.record import Record

#: what of a task says that it is of a board
BOARD = "board"
_PLAIN = re.compile(ZIP)


class Task(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is to be run: an implementation in the zip with this digest, and how. ``sources`` is the digest that its
    records have, of its sources and known answers; empty in tasks of versions that did not know it. ``on`` a board it
    is run where it says so (:data:`BOARD`), and simulated where it is empty."""

    package: str
    file: str
    primitive: str
    family: str
    variant: str
    name: str
    digest: str
    target: str
    flags: tuple[str, ...]
    workload: str
    sources: str = ""
    on: str = ""

    def __post_init__(self) -> None:
        if self.package and not _PLAIN.fullmatch(self.file):  # a database or a server of strangers may say anything
            raise ValueError(f"file: {cut(self.file)!r} is not a plain name")

    @property
    def place(self) -> str:
        """Where it is to be run, as workers say what they can do: a target, or ``TARGET board``."""
        return f"{self.target} {self.on}".rstrip()

    @property
    def identity(self) -> str:
        """SHA-256 over all of it."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()

    @property
    def run(self) -> tuple[object, ...]:
        """What is run: all but how the zip is called."""
        return tuple(value for name, value in asdict(self).items() if name != "file")

    @property
    def implementation(self) -> tuple[str, ...]:
        """The implementation, as :func:`offered` has it."""
        return self.primitive, self.family, self.variant, self.name, self.digest


#: what is said of a job whose task or record no version wrote, or a newer one
_TASK = "its task cannot be read: it is a newer version's, or damaged; delete the submission, and hand it in again"
_RECORD = "its record cannot be read: it is a newer version's, or damaged; repeat the job"


def task_of(text: str) -> Task:
    """A task as it is stored; one without any names where it cannot be read."""
    try:
        return msgspec.json.decode(text, type=Task)
    except msgspec.MsgspecError:
        empty = dict.fromkeys(("package", "file", "primitive", "family", "variant", "name", "digest", "target"), "")
        return Task(**empty, flags=(), workload="")


def record_of(text: str | None) -> Record | None:
    """A record as it is stored; None where there is none, or it cannot be read."""
    try:
        return None if text is None else msgspec.json.decode(text, type=Record)
    except msgspec.MsgspecError:
        return None


def detail_of(r: Any) -> str:
    """What is to be said of a job."""
    if not task_of(r.task).file:
        return _TASK
    return _RECORD if r.record is not None and record_of(r.record) is None else str(r.detail)


def outcome_of(r: Any) -> str:
    """What became of a job that has a record."""
    record = record_of(r.record)
    if record is None:
        return ""
    return f"{record.failure.reason}: {record.failure.detail}" if record.failure is not None else "verified"


class _Offer(Struct, frozen=True):
    """What an offer says of an implementation; see :class:`..web.wire.Offer`."""

    primitive: str
    family: str
    variant: str
    name: str
    digest: str


class _Found(Struct, frozen=True):
    implementations: tuple[_Offer, ...] = ()


def offered(found: str) -> frozenset[tuple[str, ...]]:
    """The implementations that a submission says were ``found`` in its zip: its jobs are those of its package that are
    of them. Under another name a zip may have others."""
    with suppress(msgspec.MsgspecError):
        return frozenset(map(astuple, msgspec.json.decode(found, type=_Found).implementations))
    return frozenset()


def readable(found: str) -> bool:
    """Whether what a submission says was ``found`` can be read."""
    with suppress(msgspec.MsgspecError):
        msgspec.json.decode(found, type=_Found)
        return True
    return False
