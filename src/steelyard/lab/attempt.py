"""An attempt: one try of something on a board. While it goes on it says how far it is, and it leaves a log.

Both are files in the folder of its board (:attr:`.config.Board.files`), so that another terminal can read them:
``now``, and the newest logs in ``log``. A disk that is full costs them, and nothing else.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ..model import whole
from ..model.reasons import Failure

if TYPE_CHECKING:
    from .config import Board

#: logs that are kept of a board; characters of what tools say, and bytes of the serial line, that one of them holds
KEPT, SAID, LINE = 50, 8000, 1000
#: seconds between two words on how far it is, and on what it still waits for
TELL, STILL = 0.5, 60.0
#: the reason in the log of an attempt that its user ended, which is not the fault of the board
INTERRUPTED = "interrupted"
#: and of one whose process ended without a word, which is not either
KILLED = "killed"
#: what a board is wanted for that failed before
PROOF = "nocrypt, to prove the board"


class Purpose(Struct, frozen=True):
    """What a board is wanted for: ``number`` counts the attempts of a run. ``left`` runs are for ``boards`` boards, of
    which one ``usual``-ly takes that many seconds; 0 where nobody knows."""

    what: str
    number: int = 1
    left: int = 0
    boards: int = 1
    usual: float = 0.0


class Now(Struct, frozen=True):
    """How far an attempt is: its ``step``, and the calls that were answered. Times are seconds since 1970."""

    purpose: Purpose
    step: str
    calls: int
    begun: float
    told: float


class Log(Struct, frozen=True):
    """What became of an attempt; ``reason`` is empty where all went well. Of one that failed it has what ``tools``
    said, and the last bytes on the ``line``."""

    board: str
    what: str
    number: int
    begun: float
    ended: float
    calls: int
    reason: str = ""
    detail: str = ""
    remedy: str = ""
    tools: str = ""
    line: tuple[str, ...] = ()


class Attempt:
    """One try on a board."""

    def __init__(self, board: Board, purpose: Purpose) -> None:
        self._board, self.purpose, self._begun = board, purpose, time.time()
        self._step, self._calls, self._told = "waits", 0, 0.0
        self._tools = ""
        self._line: deque[tuple[str, bytes]] = deque()
        self._kept = 0
        self.step("waits for its instruments")

    def step(self, text: str) -> None:
        """What it does now."""
        self._step = text
        self._tell()

    def waits(self, text: str) -> None:
        """It waits for what ``text`` says; asked as often as anybody likes."""
        if text != self._step or time.time() - self._told >= STILL:
            self.step(text)

    def called(self, count: int) -> None:
        """So many calls were answered."""
        self._calls += count
        if time.time() - self._told >= TELL:
            self._tell()

    def passed(self, way: str, data: bytes) -> None:
        """Bytes on the serial line, ``>`` to the board or ``<`` from it."""
        if data:
            self._line.append((way, data[-LINE:]))
            self._kept += len(data[-LINE:])
            while self._kept - len(self._line[0][1]) >= LINE:
                self._kept -= len(self._line.popleft()[1])

    def heard(self, who: str, said: str) -> None:
        """What a tool said."""
        self._tools = f"{self._tools}$ {who}\n{said.strip()}\n"[-SAID:]

    def end(self, failure: Failure | None, other: str = "") -> None:
        """It is over: well, with a failure, or for some ``other`` reason."""
        log = Log(
            self._board.name, self.purpose.what, self.purpose.number, self._begun, time.time(), self._calls, other
        )
        if failure is not None:
            line = tuple(f"{way} {data.hex(' ')}" for way, data in self._line)
            told = {"reason": str(failure.reason), "detail": failure.detail, "remedy": failure.next_action}
            log = msgspec.structs.replace(log, **told, tools=self._tools, line=line)
        with suppress(OSError):
            _keep(self._board, log)
        with suppress(OSError):
            _now(self._board).unlink(missing_ok=True)

    def _tell(self) -> None:
        self._told = time.time()
        told = Now(self.purpose, self._step, self._calls, self._begun, self._told)
        with suppress(OSError):
            whole.put(_now(self._board), msgspec.json.encode(told))


#: the attempt that this thread makes, if it makes one
_mine: ContextVar[Attempt | None] = ContextVar("attempt", default=None)


def begin(board: Board, purpose: Purpose) -> Attempt:
    """An attempt of this thread, until the next one. One that is still there has nobody any more: it is over."""
    if (left := now(board)) is not None:
        was = left.purpose
        with suppress(OSError):
            _keep(board, Log(board.name, was.what, was.number, left.begun, left.told, left.calls, KILLED))
    made = Attempt(board, purpose)
    _mine.set(made)
    return made


def heard(who: str, said: bytes) -> None:
    """What a tool said is put into the log of this thread's attempt."""
    if (mine := _mine.get()) is not None:
        mine.heard(who, said.decode(errors="replace"))


def waits(text: str) -> None:
    """This thread's attempt waits for a part that another has."""
    if (mine := _mine.get()) is not None:
        mine.waits(f"waits for {text}")


def now(board: Board) -> Now | None:
    """How far the latest attempt on a board was when it last said so."""
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(_now(board).read_bytes(), type=Now)
    return None


def logs(board: Board) -> list[Log]:
    """The logs that are there, oldest first."""
    found = []
    for file in _files(board):
        with suppress(OSError, msgspec.MsgspecError):
            found.append(msgspec.json.decode(file.read_bytes(), type=Log))
    return found


def _now(board: Board) -> Path:
    return board.files / "now"


def _files(board: Board) -> list[Path]:
    there = (board.files / "log").glob("*.json")
    return sorted((f for f in there if f.stem.isdecimal()), key=lambda f: int(f.stem))


def _keep(board: Board, log: Log) -> None:
    files = _files(board)
    for file in files[: max(len(files) + 1 - KEPT, 0)]:
        file.unlink(missing_ok=True)
    number = int(files[-1].stem) + 1 if files else 1
    whole.put(board.files / "log" / f"{number}.json", msgspec.json.encode(log))
