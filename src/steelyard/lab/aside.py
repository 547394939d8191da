"""Boards that get no run: those that are out of order, and those that somebody wants for himself.

A mark is a file in the folder of a board (:attr:`.config.Board.files`), so that all processes of a home and their user
see the same. Each kind has its own, so who writes one overwrites no other. It is good for that board whatever is
plugged in, and for what was plugged in when it was made whatever that is called (:attr:`.config.Board.plugged`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..model import paths, whole

if TYPE_CHECKING:
    from .config import Board


class Kind(StrEnum):
    """Whether a board's user wants it, operators paused it, or it is out of order: what comes first counts more. A
    doubted one was out of order until its user said that it works; it gets runs, and has to prove itself before."""

    RELEASED = "released"
    PAUSED = "paused"
    BROKEN = "broken"
    DOUBTED = "doubted"


#: those by which a board gets no run
ASIDE = (Kind.RELEASED, Kind.PAUSED, Kind.BROKEN)


class Mark(Struct, frozen=True):
    """Why a board is set aside, since ``when`` in seconds since 1970, with what was ``plugged`` in then."""

    when: float
    reason: str = ""
    detail: str = ""
    remedy: str = ""
    kind: Kind = Kind.BROKEN
    plugged: frozenset[str] = frozenset()

    @property
    def released(self) -> bool:
        """Whether somebody wishes so, and nothing is wrong with the board."""
        return self.kind is not Kind.BROKEN


def marks(board: Board) -> list[Mark]:
    """All marks by which a board gets no run, what counts more first."""
    return [mark for _, mark in _marks(board, ASIDE)]


def read(board: Board) -> Mark | None:
    """The mark that counts; None where a board has none."""
    return next((mark for _, mark in _marks(board, ASIDE)), None)


def is_doubted(board: Board) -> bool:
    """Whether it has to prove itself to whoever uses it next."""
    return any(_marks(board, (Kind.DOUBTED,)))


def put(board: Board, mark: Mark) -> Mark:
    """Marks a board; returns the mark as it is read again. :class:`OSError` where that cannot be written."""
    mark = replace(mark, plugged=board.plugged)
    whole.put(_file(board, mark.kind), msgspec.json.encode(mark))
    return mark


def retry(board: Board) -> None:
    """A board gets runs again; one that was out of order is doubted."""
    for file, _ in [*_marks(board, (Kind.BROKEN,))]:
        file.replace(file.with_name(f"aside-{Kind.DOUBTED}"))
    lift(board, *ASIDE)


def lift(board: Board, *kinds: Kind) -> None:
    """Takes away all marks of these ``kinds`` that are good for a board."""
    for file, _ in _marks(board, kinds):
        file.unlink(missing_ok=True)
    for kind in kinds:
        lift_own(board, kind)


def lift_own(board: Board, kind: Kind) -> None:
    """Takes away what :func:`put` wrote for this board, and for no other name of it."""
    _file(board, kind).unlink(missing_ok=True)


def _marks(board: Board, kinds: Iterable[Kind]) -> Iterator[tuple[Path, Mark]]:
    """Marks with their files, those of the board itself first among those of a kind."""
    plugged = board.plugged
    for kind in kinds:
        own = _file(board, kind)
        for file in dict.fromkeys((own, *sorted((paths.home() / "lab").glob(f"*/{own.name}")))):
            with suppress(OSError, msgspec.MsgspecError):
                mark = msgspec.json.decode(file.read_bytes(), type=Mark)
                if file == own or not plugged.isdisjoint(mark.plugged):
                    yield file, mark


def _file(board: Board, kind: Kind) -> Path:
    return board.files / f"aside-{kind}"
