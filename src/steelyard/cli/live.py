"""What the boards of a lab do just now, and what became of what they did: read from files, without touching them."""

from __future__ import annotations

import time
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from ..lab import Board, Lab, aside, attempt
from ..lab.attempt import Log, Now
from ..lab.lock import is_held, port_of
from ..model.errors import counted
from ..publish.sheet import Sheet, plain

#: seconds after which what an attempt said last is not believed any more: another folder has the board
FORGOTTEN = 300.0


class Doing(Struct, frozen=True):
    """What a board does. ``seconds_left`` is an estimate for all runs that wait for it and those alike, 0 where nobody
    can tell; ``error`` is why its latest attempt failed, if it did, ``remedy`` what to do about it."""

    board: str
    target: str
    state: str
    host: str = ""
    run: str = ""
    attempt: int = 0
    seconds: float = 0.0
    calls: int = 0
    runs_left: int = 0
    seconds_left: float = 0.0
    error: str = ""
    remedy: str = ""


def doing(lab: Lab, name: str) -> Doing:
    """What the board of that name does."""
    board = lab.boards[name]
    mark, now = aside.read(board), attempt.now(board)
    last = next((log for log in reversed(attempt.logs(board)) if _tells(log)), None)
    error = ": ".join(filter(None, (last.reason, last.detail))) if last else ""
    remedy = last.remedy if last else ""
    if mark is not None and not mark.released:
        error, remedy = f"{mark.reason}: {mark.detail}", f"{mark.remedy}; steelyard boards retry {name}"
    held = is_held(port_of(board))
    what = Doing(name, board.target, _idle(board, held, mark), board.host, error=error, remedy=remedy)
    if not held or now is None or time.time() - now.told > FORGOTTEN:
        return what
    purpose, elapsed = now.purpose, time.time() - now.begun
    return replace(
        what,
        state=now.step,
        run=purpose.what,
        attempt=purpose.number,
        seconds=elapsed,
        calls=now.calls,
        runs_left=purpose.left,
        seconds_left=_left(now, elapsed),
    )


def _tells(log: Log) -> bool:
    """Whether an attempt says how the board does: it went well, and was of a run, or failed by itself."""
    return log.reason not in (attempt.INTERRUPTED, attempt.KILLED) and bool(log.reason or log.what != attempt.PROOF)


def _idle(board: Board, held: bool, mark: aside.Mark | None) -> str:
    if mark is not None:
        return "released" if mark.released else "out of order"
    if held:
        return "busy, from another folder"
    if not (board.host or board.port.exists()):
        return "no port: steelyard boards virtual" if board.virtual else "no port: plug it in"
    return "free"


def _left(now: Now, elapsed: float) -> float:
    """Seconds until the runs that are left have ended, if all take as long as usual; 0 where nobody knows."""
    purpose = now.purpose
    return max(purpose.usual * max(purpose.left, 1) / purpose.boards - elapsed, 1.0) if purpose.usual else 0.0


def states(found: list[Doing]) -> Sheet:
    """The boards as a table."""
    lines = [
        (
            f"{d.board} at {d.host}" if d.host else d.board,
            d.target,
            d.state,
            f"{d.run} (attempt {d.attempt})" if d.attempt > 1 else d.run or "-",
            f"{counted(d.calls, 'call')} in {_time(d.seconds)}" if d.run else "-",
            _rest(d),
            d.error or "-",
        )
        for d in found
    ]
    notes = [f"{d.board}: {d.remedy}" for d in found if d.remedy and d.state == "out of order"]
    return plain("", "now", ("board", "target", "state", "run", "progress", "left", "last error"), lines, notes)


def _rest(d: Doing) -> str:
    if not d.runs_left:
        return "-"
    return counted(d.runs_left, "run") + (f", about {_time(d.seconds_left)}" if d.seconds_left else "")


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def logs(boards: list[Board], most: int) -> tuple[Sheet, list[dict[str, Any]]]:
    """The latest attempts on these boards, oldest first, as a table and as data. Of one board's last failed one the
    table has what the tools and the serial line said."""
    found = sorted((log for board in boards for log in attempt.logs(board)), key=lambda log: log.ended)[-most:]
    lines = [
        (
            log.board,
            time.strftime("%Y-%m-%d %H:%M", time.gmtime(log.begun)),
            log.what,
            str(log.number),
            log.ended - log.begun,
            log.calls,
            log.reason or "well",
            log.detail or "-",
        )
        for log in found
    ]
    texts = dict.fromkeys(("board", "begun", "run", "attempt"))
    columns = {**texts, "seconds": 1, "calls": 0, "ended": None, "detail": None}
    failed = [log for log in found if log.detail] if len(boards) == 1 else []
    return plain("", "log", columns, lines, _said(failed[-1]) if failed else []), to_builtins(found)


def _said(log: Log) -> list[str]:
    parts = [f"The last that failed: {log.detail}", f"What to do: {log.remedy}"]
    parts += [f"What tools said:\n{log.tools.strip()}"] if log.tools else []
    line = "\n".join(log.line)
    return parts + ([f"Last bytes on the line, > to the board:\n{line}"] if line else [])
