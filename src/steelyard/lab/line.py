"""Our end of a board's serial port, and the line that resets the board: RTS or DTR of the port's adapter, or whatever a
command of the user's pulls, such as ``gpioset`` a pin of that adapter."""

from __future__ import annotations

import subprocess
import time
from typing import TYPE_CHECKING

from ..device import frame
from .config import Leave, Station

if TYPE_CHECKING:
    from serial import Serial

#: seconds that a reset line is pulled
PULSE = 0.1
#: the most seconds that the boot loader of a virtual board has the line, and that it may be late with an answer
PLAYED_BOOTS, PLAYED_ANSWERS = 1.2, 5.0
#: seconds that a boot loader has for an answer; from its last one to the firmware, where a watchdog of 16 ms resets the
#: chip in between; and that the firmware has for its answer
ANSWERS, GOES, SPEAKS = 0.05, 0.03, 0.2
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
        boots, leave = station.flasher.boot_seconds, station.flasher.leave
        patience = PLAYED_ANSWERS if board.virtual else boots
        if leave is None or not _leaves(line, leave, patience):
            time.sleep(min(boots, PLAYED_BOOTS) if board.virtual else boots)
    except BaseException:
        line.close()
        raise
    return line


def _leaves(line: Serial, leave: Leave, patience: float) -> bool:
    """Tells the boot loader to hand over; whether the firmware speaks then. One that does not come within ``patience``
    is none, and one that stays has to be waited for."""
    sync, go, answer = (bytes.fromhex(text) for text in (leave.sync, leave.go, leave.answer))
    end = time.monotonic() + patience
    while not _says(line, sync, answer, ANSWERS):
        if time.monotonic() > end:
            return True
    _says(line, go, answer, ANSWERS)
    time.sleep(GOES)
    return hello(line, SPEAKS) is not None


def _says(line: Serial, request: bytes, answer: bytes, seconds: float) -> bool:
    """Whether the answer comes in time."""
    line.write(request)
    end, came = time.monotonic() + seconds, b""
    while answer not in came and time.monotonic() < end:
        came += line.read(line.in_waiting or 1)
    return answer in came


def hello(line: Serial, seconds: float) -> bytes | None:
    """What a firmware answers to the handshake, if it does so in time."""
    decoder, end = frame.Decoder(), time.monotonic() + seconds
    line.write(frame.encode(frame.HELLO))
    while time.monotonic() < end:
        for command, payload in decoder.feed(line.read(line.in_waiting or 1)):
            if command == frame.HELLO | frame.ANSWER and len(payload) == frame.HELLO_ANSWER.size:
                return payload
    return None


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
