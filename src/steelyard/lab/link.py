"""A board as a device: frames over its serial port, pulses from the analyzer at its trigger pin."""

from __future__ import annotations

import hashlib
import math
import os
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import IO, TYPE_CHECKING

from ..device import frame
from ..model import elf
from ..model.call import BUILD, DeviceError, Pulse
from ..model.errors import counted
from ..model.reasons import Failure, Reason
from . import line, probe
from .analyzer import Pulses, Watch
from .attempt import Attempt, heard
from .clocks import NEVER, holds
from .config import Station
from .flash import flash, forget
from .lock import had_by_another, has_to_be_of, held, is_full
from .meter import Stream
from .plugs import denied

if TYPE_CHECKING:
    from serial import Serial

#: seconds that a board may be silent while it has nothing to compute; one that is played, so many of its own time too
SILENCE, PLAYED = 2.0, 5.0
#: exchanges in a row without an answer after which nobody is there
TRIES = 4
#: the least that bytes need on the line, of what its nominal rate makes: boards and adapters are off by some per cent
SLOW = 0.9
#: bytes of RAM in a row that some calls leave untouched at the least; so many are not alike by chance
LEFT = 8
#: the most by which the analyzer's clock is faster than the wall's
FASTER = 1e-3
#: bits of a byte on the line
_BITS = 10
#: what a board does that answers
_WORKS = "works"
#: bytes before the end of an answer at which the next request gets ready: by then the firmware listens again when its
#: first byte has come, because two bytes at least are between it and the line
AHEAD = 8


#: ports of this process whose line did not work at its second rate
_slow: set[Path] = set()


def board_of(device: str, notes: Iterable[str]) -> str:
    """The board that a record's notes name; empty where it was none."""
    found = (re.match(rf"{re.escape(device)} (\S+): ", note) for note in notes)
    return next((match[1] for match in found if match), "")


def _said(station: Station) -> str:
    """What a record notes of a board; :func:`board_of` reads its name there."""
    board, instrument = station.board, station.instrument
    return (
        f"{station.target.device} {board.name}: {board.port}, {station.flasher.program}, channel {board.channel}"
        f" of {instrument.name} ({1e9 / instrument.samplerate:g} ns), clock {station.clock_said}"
        + (f", probe {board.probe}" if board.probe else "")
    )


def clock_holds(station: Station, notes: Iterable[str]) -> bool:
    """Whether a record's figures are by the clock that its board has now, if the board is this one and that is known:
    they may be from before it was measured or corrected."""
    board = station.board
    place = f"{board.named} at {board.host}" if board.host else board.port
    known = f"{station.target.device} {board.name}: {place}, "
    return station.clock_origin == NEVER or holds(known, station.clock_ppm, notes)


class Silence:
    """How long nothing may come. A board that is played has what a busy machine leaves to it, so its own time has to
    pass too, by which the samples of its ``watch`` go."""

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch
        self._ends = [0.0, 0.0]

    def begins(self, most: float) -> None:
        """From now on, so many seconds besides those of a board that has nothing to compute."""
        allowed = (SILENCE + (0.0 if self._watch else most), PLAYED + most)
        self._ends = [max(e, t + a) for e, t, a in zip(self._ends, self._times(), allowed, strict=True)]

    def over(self) -> bool:
        """Whether it was too long. :class:`DeviceError` when a played board's time does not go on any more."""
        return all(t >= e for t, e in zip(self._times(), self._ends, strict=True))

    def _times(self) -> tuple[float, float]:
        return time.monotonic(), self._watch.look() if self._watch else math.inf


class Spent:
    """Where the time of a board goes besides its chip's work, in seconds."""

    def __init__(self) -> None:
        self.line = self.flash = self.restarts = 0.0
        self.restarted = 0


class BoardLink:
    """The host's end of a board with ``image`` in its flash; who makes it has the ``lock`` of the board's port."""

    #: bytes of requests whose pulses are waited for at once; each goes out as the answer to the one before ends, for
    #: while a call runs a chip's serial port holds a byte or two
    window = 1 << 14
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
        self.over, self._attempt, self._lock = over, attempt, lock
        self._unanswered = 0
        #: of each call that was answered and whose pulse was not taken yet: bytes that crossed the line since the pulse
        #: before fell
        self._due: list[int] = []
        #: bytes since the latest call began, and the sample at which its pulse fell
        self._since = 0
        self._fell: int | None = None
        #: by the wall: when the latest request went out; when the latest call's pulse rose at the earliest; and the
        #: longest from there to the fall of the next one's, of those of an exchange; the same in samples
        self._wrote = self._risen = self._apart = 0.0
        self._between = 0
        #: the sample at which the latest pulse fell, and when it rose at the earliest by the wall
        self._latest: tuple[int, float] | None = None
        self._image, self._filled = image, b""
        #: the message of the latest request for a call
        self._message = b""
        self.build = elf.address(image.read_bytes(), BUILD)
        #: samples of all pulses that were taken, and of the latest one's rising edge
        self.samples = self.rose = 0
        self._line: Serial | None = None
        #: seconds in which bytes were on the line, the board was written to, and it was restarted; and how often
        self.spent = Spent()
        #: bits in a second on the line now
        self.baud = station.board.baud
        #: whether all calls were answered whose pulses were taken: what comes then is nobody's
        self._sound = False
        self.clock, self.notes = station.clock, (_said(station),)
        self.fills_ram = station.probe is not None
        self._probe_lock: IO[bytes] | None = None
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        """Takes the probe, and sees to it that the image is in the board and runs."""
        station, board = self._station, self._station.board
        if station.probe is not None:
            what = f"probe {station.probe.interface} {station.probe.commands}"
            self._probe_lock = held(what, f"probe {station.probe.name}", self.over)
        try:
            elsewhere = had_by_another(self._lock, board)
        except OSError as e:  # no port
            if is_full(e):
                raise
            raise self._lost(e) from None
        if why := denied(board.port):
            raise DeviceError(Failure(Reason.BOARD_LOST, why))
        if elsewhere:  # whose notes may be in another home
            forget(board.port)
        self._attempt.step("flashes")
        began = time.monotonic()
        flash(station, self._image, self._lock)
        self.spent.flash = time.monotonic() - began
        self._attempt.step(_WORKS)
        self.reset()

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
        began = time.monotonic()
        self.settle()
        self._restart()
        self.spent.restarts += time.monotonic() - began
        self.spent.restarted += 1

    def _restart(self) -> None:
        if self._station.probe is not None:
            probe.restart(self._station)
        self._open()

    def _open(self) -> None:
        self._shut()
        board = self._station.board
        has_to_be_of(self._lock, board)
        self.baud = board.baud
        most = SILENCE + PLAYED + frame.MAX_FRAME * self._byte  # of all bytes of a request
        try:
            self._line = line.opened(self._station, most)
        except ImportError:
            text = "pyserial is not installed: pip install 'steelyard[lab]'"
            raise DeviceError(Failure(Reason.BOARD_LOST, text)) from None
        except OSError as e:  # as pyserial's own are
            raise self._lost(e) from None
        self._read()
        self._due, self._since, self._fell = [], 0, None
        fast = self._station.fast_baud if board.port not in _slow else 0
        if fast:
            self._ask(frame.encode(frame.HASTEN))
        self._pulses.settle(board.channel, self._now())  # what a reset did to the pin; meanwhile the firmware hastens
        if fast:
            self._hasten(fast)

    def _hasten(self, baud: int) -> None:
        """The line goes on at its second rate, where the firmware shakes hands at it; else it restarts at the first."""
        assert self._line is not None
        hello = b""
        self.baud = baud
        with suppress(OSError, ValueError):  # an adapter or a system without this rate
            self._line.baudrate = baud
            hello = self._ask(frame.encode(frame.HELLO))
        if any(command == frame.HELLO | frame.ANSWER for command, _ in frame.Decoder().feed(hello)):
            return
        self.slow_down()
        self._restart()

    def _ask(self, request: bytes) -> bytes:
        """What comes after a request of our own, whatever it is."""
        self._write(request)
        came = self._answer(request, False, b"")
        self._unanswered = self._since = 0
        return came

    def slow_down(self) -> None:
        """After a failure of the line: at its second rate it stays at the first from now on, as long as this process
        lives. What fails there too was not the rate's doing."""
        port, slow = self._station.board.port, self._station.board.baud
        if self.baud != slow:
            heard(str(port), f"fails at {self.baud} baud, goes on at {slow}".encode())
            _slow.add(port)
        else:
            _slow.discard(port)

    def settle(self) -> None:
        """After the last of some calls: :class:`DeviceError` when the pin had a pulse that none of them made, for then
        a call may have got another's, too."""
        if self._sound:
            self._sound = False
            # had a call got another's pulse, there would be one more, no further from the latest that was taken
            until = self._after(self._apart)
            if until is not None and self._latest is not None:
                until = max(until, self._latest[0] + self._between)
            self._nobodys(self._pulses.settle(self._station.board.channel, until))

    def _now(self) -> int | None:
        """A sample that is not before now; None where no pulse is known."""
        return self._after(time.monotonic() - self._latest[1]) if self._latest else None

    def _after(self, seconds: float) -> int | None:
        """The sample that is so many seconds of the wall past the latest pulse; None where there was none."""
        if self._latest is None:
            return None
        return self._latest[0] + math.ceil(seconds * self._station.speed * (1 + FASTER) / self.sample)

    def _nobodys(self, pulses: int) -> None:
        if pulses:
            text = f"{counted(pulses, 'pulse')} on channel {self._station.board.channel} that no call made"
            raise DeviceError(Failure(Reason.PULSES_LOST, text))

    def exchange(self, data: bytes) -> bytes:
        """Sends ``data``, each request as the answer to the one before ends, and returns what came, up to as many
        answers as there are requests in it."""
        self._sound = False
        self._nobodys(self._pulses.drop(self._station.board.channel))
        asked = frame.Decoder().feed(data)
        self._message = next((frame.message(p) for c, p in reversed(asked) if c == frame.RUN), self._message)
        requests = [(frame.encode(command, payload), command == frame.RUN) for command, payload in asked]
        if b"".join(r for r, _ in requests) != data:  # filler, which a board that hears it may answer
            requests = [(data, False)]
        came = bytearray()
        self._risen = self._apart = 0.0
        self._between = 0
        self._write(requests[0][0])
        for (request, runs), (following, _) in zip(requests, (*requests[1:], (b"", False)), strict=True):
            came += self._answer(request, runs, following)
        return bytes(came)

    def _answer(self, request: bytes, runs: bool, following: bytes) -> bytes:
        """What came after a request that was sent, which ``runs`` a call, or after filler. The ``following`` one is
        sent."""
        work = runs * self._max_cycles / self._station.target.board_hz
        risen = self._wrote + SLOW * len(request) * self._byte / self._station.speed
        before, self._since = self._since + len(request), 0
        watch = self._pulses.watch() if self._station.board.virtual else None
        silence, whole = Silence(watch), Silence(watch)
        silence.begins(len(request) * self._byte + work)
        whole.begins((len(request) + 2 * frame.MAX_FRAME) * self._byte + work)  # byte by byte it would take days
        decoder, came, answers = frame.Decoder(), bytearray(), 0
        while not self.over.is_set() and not answers and len(came) <= 2 * frame.MAX_FRAME:
            late = silence.over()  # but what has come until now counts, however late we are ourselves
            rest = frame.rest(came)
            if following and rest <= AHEAD and len(came) >= frame.HEAD and came[0] == frame.SYNC:
                time.sleep(max(rest - 1, 0) * self._byte)
                self._write(following)
                following = b""
            chunk = self._read(max(rest - AHEAD, 1) if following else rest)
            came += chunk
            found = [command for command, _ in decoder.feed(chunk)]
            answers += len(found)
            if runs and frame.RUN | frame.ANSWER in found:
                self._due.append(before)
                self._attempt.waits(_WORKS)
                self._attempt.called(1)
            elif runs and time.monotonic() - self._wrote > SILENCE:
                self._attempt.waits(f"waits for an answer: a call may take {work:.0f} s")
            if chunk:
                silence.begins(0.0)
            elif late:
                break
            if whole.over():
                break
        self._since = len(came) if runs else before + len(came)
        if runs:
            fallen = time.monotonic() - SLOW * len(came) * self._byte / self._station.speed
            self._apart, self._risen = max(self._apart, fallen - (self._risen or risen)), risen
        if self.over.is_set():
            raise KeyboardInterrupt
        if runs and not came:
            text = f"no answer from {self._station.board.port} after {self._max_cycles} cycles and {SILENCE:g} s"
            raise DeviceError(Failure(Reason.RUNAWAY, text))
        self._unanswered = 0 if answers else self._unanswered + 1
        if (runs and not answers) or self._unanswered >= TRIES:
            text = f"{len(came)} bytes from {self._station.board.port}, and no whole answer in them"
            raise DeviceError(Failure(Reason.PROTOCOL, text))
        if following:
            self._write(following)
        return bytes(came)

    def pulses(self) -> list[Pulse]:
        """The pulses of the calls that were answered since the last time: the analyzer's time x the chip's clock."""
        due, self._due = self._due, []
        spans = self._pulses.take(self._station.board.channel, len(due))
        for (rose, fell), before in zip(spans, due, strict=True):
            self._compare(rose, before)
            self._fell, self.rose = fell, rose
            self.samples += fell - rose
            self._latest = fell, self._risen
        self._between = max((fell - rose for (rose, _), (_, fell) in pairwise(spans)), default=0)
        self._sound = True
        return [Pulse(round((fall - rise) * self._station.cycles_per_sample)) for rise, fall in spans]

    def _compare(self, rose: int, before: int) -> None:
        """Compares the time between two pulses with what the bytes on the line need: an analyzer that loses samples
        without saying so is found out. :class:`DeviceError` when it does."""
        if self._fell is None:
            return
        there = (rose - self._fell) * self.sample
        needed = (SLOW * before - 3) * self._byte
        if there < needed:
            text = f"{self._station.instrument.name} loses samples: {there * 1e3:.3f} ms between two pulses, in which "
            text += f"{counted(before, 'byte')} took {needed * 1e3:.3f} ms on the line at least"
            raise DeviceError(Failure(Reason.ANALYZER_LOST, f"{text}; lower its samplerate"))

    def fill_ram(self) -> None:
        """Restarts the firmware with random bytes in all RAM that it does not initialise. They follow from the image,
        so that a run can be repeated, and no package can contain what they follow from."""
        self.settle()
        self._filled = probe.fill(self._station, hashlib.sha256(self._image.read_bytes()).hexdigest())
        self._open()

    def longest_untouched(self) -> int | None:
        """The longest run of RAM bytes after static data that are as :meth:`fill_ram` left them; None without a debug
        probe. Raises :class:`DeviceError` where what it reads cannot be this board's RAM: the latest call's message is
        not in it."""
        if not self._filled:
            return None
        start = elf.address(self._image.read_bytes(), "sy_free_start")
        free = (start or 0) - self._station.target.chip.ram.base
        if not 0 <= free <= len(self._filled):
            raise DeviceError(Failure(Reason.PROBE_LOST, f"{self._image.name} does not say where its static data end"))
        there = probe.dump(self._station)[free:]
        run = probe.longest_untouched(self._filled[free:], there)
        if run < LEFT:
            text = "nothing that was put into RAM is there any more"
        elif run == len(there):
            text = "RAM is as it was filled after calls"
        elif self._message not in there:
            text = "the last call over the port left nothing in RAM"
        else:
            return run
        assert self._station.probe is not None
        raise DeviceError(Failure(Reason.PROBE_LOST, f"{self._station.probe.name}: {text}: is it at this board?"))

    @property
    def _byte(self) -> float:
        """Seconds that a byte is on the line."""
        return _BITS / self.baud

    def _read(self, most: int = 0) -> bytes:
        """Up to ``most`` bytes that come in time, and no more: what follows may be the next answer. All that is there,
        or comes first, where that is 0."""
        assert self._line is not None
        try:
            data = bytes(self._line.read(most or self._line.in_waiting or 1))
        except OSError as e:  # as pyserial's own are
            raise self._lost(e) from None
        self._attempt.passed("<", data)
        self.spent.line += len(data) * self._byte
        return data

    def _write(self, data: bytes) -> None:
        assert self._line is not None
        self._attempt.passed(">", data)
        self.spent.line += len(data) * self._byte
        self._wrote = time.monotonic()
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
