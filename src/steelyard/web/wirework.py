"""The words of workers that have no database: what they ask at /api/v1/work, and what is answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from ..model.record import Record
from ..store.floor import Board
from ..store.queue import Mine, Taken
from . import wire


class WorkAsked(wire.Asked, frozen=True, kw_only=True):
    """What a worker asks: its name, of its machine's choice, and its version of Steelyard, which has to be the
    server's."""

    worker: str
    version: str


class TakeAsked(WorkAsked, frozen=True, kw_only=True):
    """A worker asks for a job on one of these targets."""

    targets: tuple[str, ...]


class PresentAsked(TakeAsked, frozen=True, kw_only=True):
    """A worker is there, at a machine with these boards."""

    boards: tuple[Board, ...] = ()


class JobAsked(WorkAsked, frozen=True, kw_only=True):
    """A worker says of a job that it has it."""

    job: Mine


class CloseAsked(JobAsked, frozen=True, kw_only=True):
    """A worker says what came of a job: ``done`` with a record, ``failed`` or ``waiting`` with the reason."""

    state: Literal["done", "failed", "waiting"]
    detail: str = ""
    record: Record | None = None
    log: str = ""


class Work(Struct, frozen=True):
    """A job, if there is one to be had."""

    taken: Taken | None


class Left(Struct, frozen=True):
    """Whether jobs are left, though none can be had now."""

    left: bool


class Paused(Struct, frozen=True):
    """Boards of a machine that get no runs."""

    boards: tuple[str, ...]


class Heard(Struct, frozen=True):
    """What a worker said is stored."""


#: what a worker asks by the last word of the address, and what is answered
DEEDS: Mapping[str, tuple[type[WorkAsked], type[Struct]]] = {
    "take": (TakeAsked, Work),
    "left": (TakeAsked, Left),
    "beat": (JobAsked, Heard),
    "close": (CloseAsked, Heard),
    "give-back": (JobAsked, Heard),
    "present": (PresentAsked, Paused),
    "absent": (WorkAsked, Heard),
}
