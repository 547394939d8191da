"""A serial port of a virtual board: a pseudo-terminal at a path of the user's, and who opens it."""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
import termios
import tty
from contextlib import suppress
from pathlib import Path

_EVENT = struct.Struct("iIII")
#: inotify(7): IN_OPEN; IN_CLOSE_WRITE and IN_CLOSE_NOWRITE
_OPEN, _CLOSE = 0x20, 0x18
#: termios(3): where the output speed is
_SPEED = 5


class Port:
    """The board's end. ``master`` and ``events`` are what can be waited for."""

    def __init__(self, path: Path) -> None:
        self.master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(self.master, False)
        name = os.ttyname(slave)
        os.close(slave)
        self.events = _watch(name)
        self._open = 0
        self._touched = False
        self._path, self._device = path, name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.unplug()
        self.plug()

    def plug(self) -> None:
        """It is at its path, where somebody may open it."""
        if not self._path.is_symlink():
            self._path.symlink_to(self._device)

    def unplug(self) -> None:
        """Nobody finds it; whoever has it open keeps it."""
        if self._path.is_symlink():
            self._path.unlink()

    @property
    def is_open(self) -> bool:
        """Whether somebody has it open."""
        return self._open > 0

    def opened(self) -> bool:
        """Whether somebody has opened it since the last time while nobody had: then a board's reset line fires. None is
        missed, however short."""
        fired, held = False, self._open > 0
        while masks := self._happened():
            for mask in masks:
                if mask & _OPEN:
                    fired |= self._open == 0
                    self._open += 1
                elif mask & _CLOSE:
                    self._closed_to(self._open - 1)
            held = self._is_held()
        # equal events that nobody has read yet are one, so their number is that of programs only as far as nobody or
        # somebody has it; no event came after that was looked at
        if held != (self._open > 0):
            self._closed_to(int(held))
        return fired

    def _closed_to(self, programs: int) -> None:
        """So many programs have it open after one closed it."""
        self._touched |= self._open > 0 >= programs and termios.tcgetattr(self.master)[_SPEED] == termios.B1200
        self._open = programs

    def _is_held(self) -> bool:
        """Whether the kernel knows of somebody who has it open."""
        poll = select.poll()
        poll.register(self.master, 0)
        return not any(event & select.POLLHUP for _, event in poll.poll(0))

    def _happened(self) -> list[int]:
        """What happened since the last time."""
        try:
            events = os.read(self.events, 1 << 14)
        except BlockingIOError:
            return []
        return [_EVENT.unpack_from(events, at)[1] for at in range(0, len(events), _EVENT.size)]

    def touched(self) -> bool:
        """Whether it was closed at 1200 baud since the last time; :meth:`opened` has to look before."""
        touched, self._touched = self._touched, False
        return touched

    def read(self) -> bytes:
        """What has come."""
        try:
            return os.read(self.master, 1 << 14)
        except BlockingIOError:
            return b""
        except OSError as e:
            if e.errno == errno.EIO:  # nobody has it open
                return b""
            raise

    def write(self, data: bytes) -> None:
        """Sends ``data``; what nobody takes is lost, as on a wire."""
        with suppress(BlockingIOError):
            os.write(self.master, data)


def _watch(name: str) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    events = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if events < 0 or libc.inotify_add_watch(events, name.encode(), _OPEN | _CLOSE) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), name)
    return int(events)
