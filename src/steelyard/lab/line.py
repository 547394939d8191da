"""Our end of a board's serial port, and the line that resets the board: RTS or DTR of the port's adapter, or whatever a
command of the user's pulls, such as ``gpioset`` a pin of that adapter."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

from .config import Station

if TYPE_CHECKING:
    from serial import Serial

#: seconds that a reset line is pulled
PULSE = 0.1
#: the most seconds that the boot loader of a virtual board has the line
PLAYED_BOOTS = 1.2
#: seconds that a command has which resets a board
COMMAND = 20.0


def opened(station: Station, most: float) -> Serial:
    """The board's port at its first rate. The board was reset, if that is in our power, and its boot loader has had the
    line. Writing may take ``most`` seconds. :class:`ImportError` without pyserial, :class:`OSError`."""
    import serial  # which only boards need

    board = station.board
    line = serial.Serial(str(board.port), board.baud, timeout=0.05, write_timeout=most)
    try:
        if reset := board.reset or station.flasher.resets:
            if isinstance(reset, str):
                pull(line, reset, station)
            else:
                command(reset)
        boots = station.flasher.boot_seconds
        time.sleep(min(boots, PLAYED_BOOTS) if board.virtual else boots)
    except BaseException:
        line.close()
        raise
    return line


def before_flashing(station: Station) -> None:
    """Resets the board where the flasher does not know how: by a command. :class:`OSError` as that ends."""
    board = station.board
    if board.virtual and isinstance(board.reset, str) and board.reset:
        board.reset_pin.touch()
    elif not isinstance(board.reset, str):
        command(board.reset)


def pull(line: Serial, name: str, station: Station) -> None:
    """Restarts the board by RTS or DTR, with the other one released, or its boot loader would stay. Of a virtual board,
    whose port has no such lines, by what it has instead. :class:`OSError`."""
    if station.board.virtual:
        if station.board.reset:
            station.board.reset_pin.touch()
        return
    for each in sorted(("rts", "dtr"), key=name.__eq__):
        setattr(line, each, each == name)
    time.sleep(PULSE)
    setattr(line, name, False)


def command(words: tuple[str, ...]) -> None:
    """Resets the board by the user's command; :class:`OSError` with what it says where it fails."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND, check=False)
    except subprocess.TimeoutExpired:
        raise OSError(f"reset: {words[0]}: no end after {COMMAND:g} s") from None
    except OSError as e:
        raise OSError(f"reset: {words[0]}: {e.strerror}") from None
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).decode(errors="replace").split())[:200]
        raise OSError(f"reset: {words[0]}: {said or f'exit code {done.returncode}'}")
