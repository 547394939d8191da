"""Who has a port or an instrument: one process of this machine, and one thread of it, at a time."""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import IO
from uuid import uuid4

from ..model.call import DeviceError
from ..model.reasons import Failure, Reason
from .config import Board

#: seconds between two tries
PAUSE = 0.05
#: with the process's number, which process this is
_ME = uuid4().hex


def held(what: str, name: str, over: Event | None = None) -> IO[bytes]:
    """A lock on ``what``, the same for all homes and users of this machine; closing it lets go. The kernel does so when
    its holder ends, however that came. With ``over`` it is waited for until that is set, which is a wish to stop.

    :class:`DeviceError` when another has it, which calls it by ``name``.
    """
    while (lock := taken(what, name)) is None:
        if over is None:
            raise DeviceError(Failure(Reason.BOARD_LOST, f"{name}: another Steelyard uses it"))
        if over.is_set():
            raise KeyboardInterrupt
        over.wait(PAUSE)
    return lock


def taken(what: str, name: str) -> IO[bytes] | None:
    """The lock that :func:`held` waits for; None when another has it."""
    file = Path(tempfile.gettempdir()) / _file(what)
    try:
        opened = os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+b")
    except OSError as e:
        raise DeviceError(Failure(Reason.BOARD_LOST, f"{name}: {file}: {e.strerror}; remove it")) from None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        opened.close()
        return None
    return opened


def is_held(what: str) -> bool:
    """Whether somebody has it just now."""
    try:
        with (Path(tempfile.gettempdir()) / _file(what)).open("rb") as opened:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def port_of(board: Board) -> str:
    """What is locked for a board's port."""
    return f"port {board.port.resolve()}"


def _plugged(port: Path) -> str:
    """What changes when a port goes and comes back: the device's file, and the link to it that has its lasting name."""
    device, link = port.stat(), port.lstat()
    made = link.st_ctime_ns if stat.S_ISLNK(link.st_mode) else 0
    return f"{device.st_ino} {device.st_rdev} {link.st_ino} {made}"


def disown(board: Board) -> None:
    """Whoever has had the board's port has to find out anew what is in the board."""
    with suppress(OSError), (Path(tempfile.gettempdir()) / _file(port_of(board))).open("r+b") as opened:
        opened.truncate()


def _file(what: str) -> str:
    return f"steelyard-{hashlib.sha256(what.encode(errors='surrogateescape')).hexdigest()[:16]}.lock"


def had_by_another(lock: IO[bytes], board: Board) -> bool:
    """Whether another process had the board's port, whose ``lock`` we have, since this one last had it, or this one
    never had, or the port was away meanwhile. Asked once each time, because it notes that this one has it."""
    me = f"{_ME} {os.getpid()} {_plugged(board.port)}".encode()
    lock.seek(0)
    if lock.read(len(me) + 1) == me:
        return False
    lock.seek(0)
    lock.truncate()
    lock.write(me)
    lock.flush()
    return True
