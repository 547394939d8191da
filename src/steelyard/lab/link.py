"""A board as a device: frames over its serial port, pulses from the analyzer at its trigger pin."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import IO, TYPE_CHECKING

from ..device import frame
from ..model import elf
from ..model.call import DeviceError, Pulse
from ..model.errors import counted
from ..model.reasons import Failure, Reason
from . import probe
from .analyzer import Pulses
from .attempt import Attempt
from .config import Station
from .flash import flash, forget
from .lock import had_by_another, held
from .meter import Stream

if TYPE_CHECKING:
    from serial import Serial

#: seconds that a board may be silent while it has nothing to compute
SILENCE = 2.0
#: and one that is played, on a machine that may be busy
PLAYED_SILENCE = 10.0
#: exchanges in a row without an answer after which nobody is there
TRIES = 4
#: seconds that a reset line is pulled
PULSE = 0.1
#: the least that bytes need on the line, of what its nominal rate makes: boards and adapters are off by some per cent
SLOW = 0.9
#: bits of a byte on the line
_BITS = 10


def board_of(device: str, notes: Iterable[str]) -> str:
    """The board that a record's notes name; empty where it was none."""
    found = (re.match(rf"{re.escape(device)} (\S+): ", note) for note in notes)
    return next((match[1] for match in found if match), "")


class BoardLink:
    """The host's end of a board with ``image`` in its flash; who makes it has the ``lock`` of the board's port."""

    #: one request at a time: while a call runs a chip's serial port holds a byte or two
    window = 0
    sees_stack = False
    quantity = "cycles"

    def __init__(
        self,
        station: Station,
        lock: IO[bytes],
        image: Path,
        pulses: Pulses,
        max_cycles: int,
        over: Event,
        attempt: Attempt,
    ) -> None:
        self._station, self._pulses, self._max_cycles = station, pulses, max_cycles
        #: the meter in its supply, or why there is none
        self.meter: Stream | Failure | None = None
        self.over, self._attempt = over, attempt
        self._due = self._unanswered = 0
        #: bytes that crossed the line since the latest pulse fell, and those of them before the next one rose
        self._since = self._before = 0
        self._fell: int | None = None
        self._image, self._filled = image, b""
        #: samples of all pulses that were taken, and of the latest one's rising edge
        self.samples = self.rose = 0
        self._line: Serial | None = None
        board, instrument = station.board, station.instrument
        self._silence = PLAYED_SILENCE if board.virtual else SILENCE
        self.clock = station.clock
        self.notes = (
            f"{station.target.device} {board.name}: {board.port}, {station.flasher.program}, channel {board.channel}"
            f" of {instrument.name} ({1e9 / instrument.samplerate:g} ns), clock {board.clock_ppm:+g} ppm"
            + (f", probe {board.probe}" if board.probe else ""),
        )
        self.fills_ram = station.probe is not None
        self._probe_lock: IO[bytes] | None = None
        try:
            if station.probe is not None:
                what = f"probe {station.probe.interface} {station.probe.commands}"
                self._probe_lock = held(what, f"probe {station.probe.name}", over)
            try:
                elsewhere = had_by_another(lock, board)
            except OSError as e:  # no port
                raise self._lost(e) from None
            if elsewhere:  # whose notes may be in another home
                forget(board.port)
            attempt.step("flashes")
            flash(station, image, lock.fileno())
            attempt.step("works")
            self.reset()
        except BaseException:
            self.close()
            raise

    @property
    def sample(self) -> float:
        """Seconds of a sample of the analyzer."""
        return 1 / self._station.instrument.samplerate

    @property
    def cycle(self) -> float:
        """Seconds of a cycle of the board's own clock."""
        return self.sample / self._station.cycles_per_sample

    @property
    def resolution(self) -> float:
        """Cycles of a sample."""
        return self._station.cycles_per_sample

    def reset(self) -> None:
        """Restarts the firmware: by the debug probe, or the port is opened anew, which a board's reset line sees."""
        if self._station.probe is not None:
            probe.restart(self._station)
        self._open()

    def _open(self) -> None:
        self._shut()
        board = self._station.board
        try:
            import serial  # which only boards need
        except ImportError:
            text = "pyserial is not installed: pip install 'steelyard[lab]'"
            raise DeviceError(Failure(Reason.BOARD_LOST, text)) from None
        try:
            self._line = serial.Serial(str(board.port), board.baud, timeout=0.05, write_timeout=self._silence)
        except OSError as e:  # as pyserial's own are
            raise self._lost(e) from None
        if line := self._station.flasher.resets:
            self._pull(line)
        time.sleep(self._station.flasher.boot_seconds)
        self._read()
        self._due, self._fell = 0, None
        self._pulses.drop(board.channel)

    def _pull(self, line: str) -> None:
        """Restarts the board by RTS or DTR, with the other one released, or its boot loader would stay."""
        assert self._line is not None
        try:
            for name in sorted(("rts", "dtr"), key=line.__eq__):
                setattr(self._line, name, name == line)
            time.sleep(PULSE)
            setattr(self._line, line, False)
        except OSError as e:
            if not self._station.board.virtual:  # whose port has no such lines
                raise self._lost(e) from None

    def exchange(self, data: bytes) -> bytes:
        """Sends ``data`` and returns what came, up to as many answers as there are requests in it."""
        if stale := self._pulses.drop(self._station.board.channel):
            text = f"{counted(stale, 'pulse')} on channel {self._station.board.channel} that no call made"
            raise DeviceError(Failure(Reason.PULSES_LOST, text))
        asked = [command for command, _ in frame.Decoder().feed(data)]
        calls = asked.count(frame.RUN)
        work = calls * self._max_cycles / self._station.target.chip.clock_hz
        self._write(data)
        self._since += len(data)
        if calls == 1:
            self._before, self._since = self._since, 0
        end = time.monotonic() + len(data) * _BITS / self._station.board.baud + self._silence + work
        decoder, came, answers = frame.Decoder(), bytearray(), 0
        while (
            not self.over.is_set()
            and time.monotonic() < end
            and answers < max(len(asked), 1)
            and len(came) <= 2 * frame.MAX_FRAME
        ):
            if chunk := self._read():
                came += chunk
                found = [command for command, _ in decoder.feed(chunk)]
                answers += len(found)
                self._due += found.count(frame.RUN | frame.ANSWER)
                self._attempt.called(found.count(frame.RUN | frame.ANSWER))
                end = max(end, time.monotonic() + self._silence)
        self._since += len(came)
        if self.over.is_set():
            raise KeyboardInterrupt
        if calls and not came:
            text = f"no answer from {self._station.board.port} after {self._max_cycles} cycles and {self._silence:g} s"
            raise DeviceError(Failure(Reason.RUNAWAY, text))
        self._unanswered = 0 if answers else self._unanswered + 1
        if answers < calls or self._unanswered >= TRIES:
            text = f"{len(came)} bytes from {self._station.board.port}, and no whole answer in them"
            raise DeviceError(Failure(Reason.PROTOCOL, text))
        return bytes(came)

    def pulses(self) -> list[Pulse]:
        """The pulses of the calls that were answered since the last time: the analyzer's time x the chip's clock."""
        due, self._due = self._due, 0
        spans = self._pulses.take(self._station.board.channel, due)
        if spans:
            if due == 1:
                self._compare(spans[0][0])
            self._fell = spans[0][1] if due == 1 else None
        self.samples += sum(fall - rise for rise, fall in spans)
        self.rose = spans[-1][0] if spans else self.rose
        return [Pulse(round((fall - rise) * self._station.cycles_per_sample)) for rise, fall in spans]

    def _compare(self, rose: int) -> None:
        """Compares the time between two pulses with what the bytes on the line need: an analyzer that loses samples
        without saying so is found out. :class:`DeviceError` when it does."""
        if self._fell is None:
            return
        there = (rose - self._fell) * self.sample
        needed = (SLOW * self._before - 2) * _BITS / self._station.board.baud
        if there < needed:
            text = f"{self._station.instrument.name} loses samples: {there * 1e3:.3f} ms between two pulses, in which "
            text += f"{counted(self._before, 'byte')} took {needed * 1e3:.3f} ms on the line at least"
            raise DeviceError(Failure(Reason.ANALYZER_LOST, f"{text}; lower its samplerate"))

    def fill_ram(self) -> None:
        """Restarts the firmware with random bytes in all RAM that it does not initialise."""
        self._filled = probe.fill(self._station, self._image.name)
        self._open()

    def longest_untouched(self) -> int | None:
        """The longest run of RAM bytes after static data that are as :meth:`fill_ram` left them; None without a debug
        probe."""
        if not self._filled:
            return None
        start = elf.address(self._image.read_bytes(), "sy_free_start")
        free = (start or 0) - self._station.target.chip.ram.base
        if not 0 <= free <= len(self._filled):
            raise DeviceError(Failure(Reason.PROBE_LOST, f"{self._image.name} does not say where its static data end"))
        return probe.longest_untouched(self._filled[free:], probe.dump(self._station)[free:])

    def _read(self) -> bytes:
        assert self._line is not None
        try:
            data = bytes(self._line.read(self._line.in_waiting or 1))
        except OSError as e:  # as pyserial's own are
            raise self._lost(e) from None
        self._attempt.passed("<", data)
        return data

    def _write(self, data: bytes) -> None:
        assert self._line is not None
        self._attempt.passed(">", data)
        try:
            self._line.write(data)
        except OSError as e:  # as pyserial's own are
            raise self._lost(e) from None

    def _lost(self, why: Exception) -> DeviceError:
        text = os.strerror(why.errno) if isinstance(why, OSError) and why.errno else " ".join(str(why).split())
        return DeviceError(Failure(Reason.BOARD_LOST, f"{self._station.board.port}: {text[:200]}"))

    def _shut(self) -> None:
        if self._line is not None:
            with suppress(OSError):  # unplugged: it is closed
                self._line.close()
            self._line = None

    def close(self) -> None:
        """Closes the port, and lets go of the probe."""
        self._shut()
        if self._probe_lock is not None:
            self._probe_lock.close()
