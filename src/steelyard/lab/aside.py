"""Boards that get no run: those that are out of order, and those that somebody wants for himself.

A mark is a file ``aside`` in the folder of a board (:attr:`.config.Board.files`), so that all processes of a home and
their user see the same.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ..model import whole

if TYPE_CHECKING:
    from .config import Board


class Mark(Struct, frozen=True):
    """Why a board is set aside, since ``when`` in seconds since 1970; ``released`` by its user's wish, else out of
    order."""

    when: float
    reason: str = ""
    detail: str = ""
    remedy: str = ""
    released: bool = False


def read(board: Board) -> Mark | None:
    """The mark of a board; None where it has none."""
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(_file(board).read_bytes(), type=Mark)
    return None


def put(board: Board, mark: Mark) -> None:
    """Marks a board. :class:`OSError` where that cannot be written."""
    whole.put(_file(board), msgspec.json.encode(mark))


def lift(board: Board) -> None:
    """Takes the mark away."""
    _file(board).unlink(missing_ok=True)


def _file(board: Board) -> Path:
    return board.files / "aside"
