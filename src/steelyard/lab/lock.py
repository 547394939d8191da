"""Who has a port or an instrument: one process of this machine, and one thread of it, at a time."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import socket
import stat
from contextlib import suppress
from pathlib import Path
from struct import Struct
from threading import Event
from typing import IO
from uuid import uuid4

from ..model import paths
from ..model.call import DeviceError
from ..model.reasons import Failure, Reason
from .attempt import waits
from .config import Board, Instrument

#: seconds between two tries
PAUSE = 0.05
#: with the process's number, which process this is
_ME = uuid4().hex
#: process, user and group: unix(7)
_PEER = Struct("3i")


def held(what: str, name: str, over: Event | None = None) -> IO[bytes]:
    """A lock on ``what``, the same for all homes and users of this machine; closing it lets go. The kernel does so when
    its holder ends, however that came. With ``over`` it is waited for until that is set, which is a wish to stop.

    :class:`DeviceError` when another has it, which calls it by ``name``.
    """
    while (lock := taken(what, name)) is None:
        text = f"{name}: another Steelyard uses it"
        if pid := holder(what):
            text += f" (process {pid})"
        if over is None:
            raise DeviceError(Failure(Reason.BOARD_LOST, text))
        waits(text)
        if over.wait(PAUSE):
            raise KeyboardInterrupt
    return lock


def holder(what: str) -> int:
    """The process of this machine that has it, by the kernel's word (proc_locks(5)); 0 where that does not tell."""
    with suppress(OSError):
        there = _file(what).stat()
        place = f"{os.major(there.st_dev):02x}:{os.minor(there.st_dev):02x}:{there.st_ino}"
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            if words[1:2] == ["FLOCK"] and words[3] == "WRITE" and words[5] == place:
                return int(words[4]) if Path("/proc", words[4]).exists() else 0
    return 0


def taken(what: str, name: str) -> IO[bytes] | None:
    """The lock that :func:`held` waits for; None when another has it. Raises :class:`DeviceError` where no file can be
    locked."""
    file = _file(what)
    try:
        opened = os.fdopen(_opened(file), "r+b")
    except OSError as e:
        if is_full(e):
            raise
        raise DeviceError(Failure(Reason.BOARD_LOST, f"{name}: {file}: {e.strerror}; remove it")) from None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        opened.close()
        return None
    return opened


def is_full(error: OSError) -> bool:
    """Whether that is the disk's fault, and nobody else's."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def _opened(file: Path) -> int:
    """The file of a lock, which every user of this machine may have: made with all rights, whatever the mask, and
    opened without being made where it is, for Linux lets nobody make another's file anew in a folder such as /tmp."""
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    while True:
        with suppress(FileNotFoundError):
            return os.open(file, flags)
        with suppress(FileExistsError):  # somebody else did so meanwhile
            made = os.open(file, flags | os.O_CREAT | os.O_EXCL, 0o666)
            os.fchmod(made, 0o666)
            return made


def is_held(what: str) -> bool:
    """Whether somebody has it just now."""
    try:
        with _file(what).open("rb") as opened:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def port_of(board: Board) -> str:
    """What is locked for a board's port. Where that is at another machine, its agent has the lock that counts, and this
    one keeps processes here from asking all at once."""
    if board.host:
        return f"board {board.named} at {board.host}"
    return f"port {os.path.realpath(board.port)}"


def is_of(lock: IO[bytes], board: Board) -> bool:
    """Whether a lock is that of the board's port as it is now: what was unplugged may come back as another device, and
    others have the lock of that one."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), _file(port_of(board)).stat())
    except OSError:
        return False


def has_to_be_of(lock: IO[bytes], board: Board) -> None:
    """:class:`DeviceError` where the board's port is there, and a lock is not that of it any more."""
    if board.port.exists() and not is_of(lock, board):
        text = f"{board.port}: leads to another device than a moment ago, which another Steelyard may use"
        raise DeviceError(Failure(Reason.BOARD_LOST, text))


def _plugged(port: Path) -> str:
    """What changes when a port goes and comes back: the device's file, and the link to it that has its lasting name."""
    device, link = port.stat(), port.lstat()
    made = link.st_ctime_ns if stat.S_ISLNK(link.st_mode) else 0
    return f"{device.st_ino} {device.st_rdev} {link.st_ino} {made}"


def disown(board: Board) -> None:
    """Whoever has had the board's port has to find out anew what is in the board."""
    with suppress(OSError), _file(port_of(board)).open("r+b") as opened:
        opened.truncate()


def what_of(instrument: Instrument) -> str:
    """What is locked for an instrument."""
    return f"instrument {instrument.driver}"


def owner(where: socket.socket) -> tuple[int, int]:
    """The process and the user at the other end of a socket of this machine."""
    pid, uid, _ = _PEER.unpack(where.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    return pid, uid


def door(what: str) -> Path:
    """Where the process that has a lock may listen, for all homes of its user."""
    return _file(what).with_suffix(".socket")


def _file(what: str) -> Path:
    name = hashlib.sha256(what.encode(errors="surrogateescape")).hexdigest()[:16]
    return paths.shared() / f"steelyard-{name}.lock"


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
