"""How a boot loader is called that does not simply listen at the board's serial port after a reset.

A port of a chip with its own USB is opened at 1200 baud and closed, as the Arduino IDE does for boards with
``use_1200bps_touch`` in their boards.txt. Where the boot loader has a port of its own, which no program keeps that has
no USB, a pulse of the board's reset line brings that back (Arduino Leonardo's hardware guide, "Automatic (Software)
Reset and Bootloader Initiation").
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .config import Station

BAUD = 1200
#: seconds after which a programmer at the same port is ready; within which a port vanishes, and comes back
READY, VANISHES, COMES = 0.5, 2.0, 10.0
#: seconds that the reset line is pulled, and between two looks
PULSE, LOOK = 0.1, 0.02


def call(station: Station) -> str | None:
    """Calls the boot loader, where the flasher needs that; why it does not come."""
    board = station.board
    if not station.flasher.touches:
        return None
    try:
        if board.boot_port == Path():
            _opened(board.port, BAUD)
            time.sleep(READY)
        elif board.boot_port.exists():
            before = _which(board.boot_port)
            _opened(board.boot_port, BAUD)
            _until(lambda: _which(board.boot_port) != before, VANISHES)
        else:
            _opened(board.port, board.baud)
    except ImportError:
        return "pyserial is not installed: pip install 'steelyard[lab]'"
    except OSError as e:  # as pyserial's own are
        return f"its boot loader cannot be called: {e}"
    if board.boot_port != Path() and not _until(board.boot_port.exists, COMES):
        return f"no boot loader at {board.boot_port}; connect DTR of {board.port} to its reset pin, or press its button"
    return None


def _opened(port: Path, baud: int) -> None:
    """Opens it, which pulls DTR, and closes it, which lets go."""
    import serial  # which only boards need

    with serial.Serial(str(port), baud) as line:
        time.sleep(PULSE)
        with suppress(OSError):  # a pseudo-terminal has none
            line.dtr = False


def _which(port: Path) -> tuple[int, int] | None:
    """Which of all that were ever at this path it is now."""
    with suppress(OSError):
        found = port.lstat()
        return found.st_ino, found.st_ctime_ns
    return None


def _until(what: Callable[[], bool], seconds: float) -> bool:
    """Whether ``what`` came in time."""
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(LOOK)
    return True
