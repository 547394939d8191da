"""Boards that get no run: those that are out of order, and those that somebody wants for himself.

A mark is a file ``aside`` in the folder of a board (:attr:`.config.Board.files`), so that all processes of a home and
their user see the same. It is good for all names of the port that lead to what the marked one leads to.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..model import paths, whole

if TYPE_CHECKING:
    from .config import Board


class Mark(Struct, frozen=True):
    """Why a board is set aside, since ``when`` in seconds since 1970; ``released`` by its user's wish, else out of
    order. Its ``port`` is that of the board that was marked; empty for one at another host."""

    when: float
    reason: str = ""
    detail: str = ""
    remedy: str = ""
    released: bool = False
    port: str = ""


def read(board: Board) -> Mark | None:
    """The mark of a board; None where it has none."""
    return next((mark for _, mark in _marks(board)), None)


def put(board: Board, mark: Mark) -> Mark:
    """Marks a board; returns the mark as it is read again. :class:`OSError` where that cannot be written."""
    mark = replace(mark, port="" if board.host else board.place)
    whole.put(_file(board), msgspec.json.encode(mark))
    return mark


def lift(board: Board) -> None:
    """Takes the mark away."""
    for file, _ in _marks(board):
        file.unlink(missing_ok=True)
    _file(board).unlink(missing_ok=True)


def _marks(board: Board) -> Iterator[tuple[Path, Mark]]:
    """Marks of the board with their files, its own first."""
    own, device = _file(board), board.device
    for file in (own, *sorted((paths.home() / "lab").glob("*/aside"))):
        with suppress(OSError, msgspec.MsgspecError):
            mark = msgspec.json.decode(file.read_bytes(), type=Mark)
            if file == own or (device and mark.port and Path(mark.port).resolve(strict=True) == device):
                yield file, mark


def _file(board: Board) -> Path:
    return board.files / "aside"
