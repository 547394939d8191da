"""Pulses from a logic analyzer, which a process samples without end (daemon.py): boards ask for those of a channel.

Each board has a connection to that process, which is started where there is none. Nobody waits for a fixed time: who
asks gets pulses when they were seen, or hears that the instrument has looked on for long enough and saw none.
"""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Condition, Event, Thread
from types import TracebackType
from typing import IO, Protocol, Self

import msgspec

from ..model.call import DeviceError
from ..model.errors import counted, cut, printable
from ..model.reasons import Failure, Reason
from . import edgewire
from .config import Instrument
from .lock import PAUSE, door, is_held, owner, what_of

#: seconds that the instrument looks on for a pulse, by its own samples, and for one that nobody expects
LOOK_ON, SETTLE = 3.0, 0.5
#: seconds of the wall without a sample, after the first, before it counts as lost, and more of them for the process to
#: say so
PATIENCE, GRACE = 30.0, 10.0
#: seconds for it to start, and to answer
ANSWER = 60.0
#: pulses of a channel that are kept: more than that between two calls is noise, and one is too many
MOST = 10_000
_CHUNK = 1 << 16


class Pulses(Protocol):
    """Where a board gets the pulses of a channel from, as (rising edge, falling edge) in samples."""

    def take(self, channel: str, count: int) -> list[tuple[int, int]]:
        """Takes the oldest ``count`` pulses, and waits for them. :class:`DeviceError` when they do not come."""

    def drop(self, channel: str) -> int:
        """Takes all that have been seen; how many there were."""

    def settle(self, channel: str, until: int | None = None) -> int:
        """The same of those that are on their way, too: waits for all that happened before ``until``, a sample, or
        before now."""

    def watch(self) -> Watch:
        """How far it has come, from now on."""


class Watch(Protocol):
    """An instrument while somebody waits for it, or for a board by its time."""

    def look(self) -> float:
        """Seconds that it has looked on, by its own samples. :class:`DeviceError` when none come any more."""


class Analyzer:
    """A connection to the process that samples an instrument, until :meth:`close`. ``over`` is a wish to stop waiting.

    :class:`DeviceError` where it cannot be had.
    """

    def __init__(self, instrument: Instrument, over: Event) -> None:
        self._instrument, self._stop = instrument, over
        self._line, answer, rest = _joined(instrument, over)
        #: the process that samples, on its machine
        self.pid = answer.pid
        self._told = edgewire.Told(answer.count, (1 << len(instrument.channels)) - 1)
        self._levels = answer.levels
        self._rose: dict[int, int] = {}
        self._seen: dict[str, deque[tuple[int, int]]] = {name: deque(maxlen=MOST) for name in instrument.channels}
        self._changed = Condition()
        #: why it has ended
        self._why = ""
        self._thread = Thread(target=self._read, args=(rest,), name=f"analyzer {instrument.name}", daemon=True)
        self._thread.start()
        try:
            with self._changed:
                self._wait(lambda: self._told.count > 0)
        except BaseException:
            self.close()
            raise

    def take(self, channel: str, count: int) -> list[tuple[int, int]]:
        """See :class:`Pulses`."""
        seen = self._seen[channel]
        with self._changed:
            end = self._told.count + LOOK_ON * self._instrument.samplerate
            self._wait(lambda: len(seen) >= count or self._told.count > end)
            if len(seen) < count:
                level = "high" if self._levels >> self._instrument.channels.index(channel) & 1 else "low"
                text = f"channel {channel} of {self._instrument.name} stays {level}: {len(seen)} of "
                text += counted(count, "pulse")
                if others := [c for c, queue in self._seen.items() if c != channel and queue]:
                    text += f"; there were some on {', '.join(others)}: were boards or wires swapped?"
                raise DeviceError(Failure(Reason.PULSES_LOST, text))
            return [seen.popleft() for _ in range(count)]

    def drop(self, channel: str) -> int:
        """See :class:`Pulses`."""
        with self._changed:
            count = len(self._seen[channel])
            self._seen[channel].clear()
            return count

    def settle(self, channel: str, until: int | None = None) -> int:
        """See :class:`Pulses`."""
        with self._changed:
            end = self._told.count + SETTLE * self._instrument.samplerate
            end = end if until is None else min(end, until)
            self._wait(lambda: self._told.count > end)
            return self.drop(channel)

    def watch(self) -> _Watch:
        """See :class:`Pulses`."""
        return _Watch(self)

    def _wait(self, there: Callable[[], bool]) -> None:
        """Waits for what samples bring; :class:`DeviceError` when none come any more."""
        watch = self.watch()
        while not there():
            if self._stop.is_set():
                raise KeyboardInterrupt
            watch.look()
            self._changed.wait(1.0)

    def _read(self, data: bytes) -> None:
        why = f"process {self.pid}, which sampled it, has ended"
        try:
            while self._told.over is None:
                with self._changed:
                    for at, levels in self._told.feed(data):
                        self._edge(at, levels & ~self._levels, self._levels & ~levels)
                        self._levels = levels
                    self._changed.notify_all()
                if self._told.over is None and not (data := self._line.recv(_CHUNK)):
                    break
            else:
                why = printable(self._told.over) or why
        except OSError as e:
            why = f"{why}: {e.strerror}"
        except ValueError as e:
            why = str(e)
        finally:
            with self._changed:
                self._why = why
                self._changed.notify_all()

    def _edge(self, at: int, risen: int, fallen: int) -> None:
        for bit, name in enumerate(self._instrument.channels):
            if risen >> bit & 1:
                self._rose[bit] = at
            elif fallen >> bit & 1 and bit in self._rose:  # else it rose before we came
                self._seen[name].append((self._rose.pop(bit), at))

    def close(self) -> None:
        """Leaves; others go on."""
        _shut(self._line)
        self._thread.join()
        self._line.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class _Watch:
    """See :class:`Watch`."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._count, self._since = analyzer._told.count, time.monotonic()

    def look(self) -> float:
        """See :class:`Watch`."""
        of, count = self._analyzer, self._analyzer._told.count
        if of._why:
            raise _lost(of._instrument, of._why)
        if count != self._count:
            self._count, self._since = count, time.monotonic()
        patience = (PATIENCE if count else max(PATIENCE, ANSWER)) + GRACE
        if time.monotonic() - self._since > patience:
            text = f"no sample for {patience:g} s, and process {of.pid}, which samples it, does not say why"
            raise _lost(of._instrument, text)
        return count / of._instrument.samplerate


def _lost(instrument: Instrument, text: str) -> DeviceError:
    if instrument.virtual:
        text += "; it is virtual: steelyard boards virtual -- COMMAND plays it"
    return DeviceError(Failure(Reason.ANALYZER_LOST, f"{instrument.name}: {text}"))


def _shut(line: socket.socket) -> None:
    with suppress(OSError):  # it is
        line.shutdown(socket.SHUT_RDWR)


#: a connection, what was answered there, and what came after that
Joined = tuple[socket.socket, edgewire.Answer, bytes]


def _joined(instrument: Instrument, over: Event) -> Joined:
    """A connection to the process that samples an instrument, which is started where there is none. Where another
    process has the instrument, it is waited for."""
    while not over.is_set():
        if (found := _tried(instrument, over)) is not None:
            return found
        over.wait(PAUSE)
    raise KeyboardInterrupt


def _tried(instrument: Instrument, over: Event) -> Joined | None:
    """None where another process has the instrument, and does not listen yet, or any more."""
    line = _distant(instrument) if instrument.at else _local(instrument)
    mine = line is None and not is_held(what_of(instrument))
    with tempfile.TemporaryFile() as said:
        if mine:
            line = _started(instrument, said)
        if line is None:
            return None
        try:
            answer, rest = _asked(line, instrument, over)
            if answer is None and (mine or instrument.at):
                raise _lost(instrument, f"the process that samples it ended without an answer{_last_line(said)}")
            if answer is not None and answer.refused:
                raise _lost(instrument, cut(printable(" ".join(answer.refused.split())), 400))
        except BaseException:
            line.close()
            raise
    if answer is None or answer.again:
        line.close()
        return None
    return line, answer, rest


def _asked(line: socket.socket, instrument: Instrument, over: Event) -> tuple[edgewire.Answer | None, bytes]:
    """Says what we want; the answer, or None where it left without one, and what came after that."""
    end = time.monotonic() + ANSWER
    said = b""
    line.settimeout(PAUSE)
    try:
        with suppress(BrokenPipeError):  # it may have ended, and have said why: another one has the instrument
            line.sendall(edgewire.line(edgewire.asked(instrument)))
        while b"\n" not in said:
            if over.is_set():
                raise KeyboardInterrupt
            try:
                data = line.recv(_CHUNK)
            except TimeoutError:
                if time.monotonic() > end:
                    raise _lost(instrument, f"no answer for {ANSWER:g} s from {_other(line)}") from None
                continue
            said += data
            if not data:
                return None, b""
            if len(said) > edgewire.LINE + _CHUNK:
                raise ValueError("these bytes are not an answer")
        line.settimeout(None)
        answer, _, rest = said.partition(b"\n")
        return edgewire.understood(answer, edgewire.Answer), rest
    except (BrokenPipeError, ConnectionResetError):
        return None, b""
    except ValueError as e:
        raise _lost(instrument, str(e)) from None


def _other(line: socket.socket) -> str:
    """Who does not answer: another process of this machine, the one that we started, or another machine."""
    if line.family != socket.AF_UNIX:
        return "there"
    pid = owner(line)[0]
    return f"process {pid}, which has it" if pid != os.getpid() else "the process that was started for it"


def _local(instrument: Instrument) -> socket.socket | None:
    """To the process of this machine; None where there is none."""
    place = door(what_of(instrument))
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(ANSWER)
    try:
        line.connect(str(place))
        if owner(line)[1] == os.getuid():
            return line
        raise PermissionError(errno.EACCES, "belongs to another user; remove it")
    except (FileNotFoundError, ConnectionRefusedError):
        line.close()
        return None
    except OSError as e:
        line.close()
        raise _lost(instrument, f"{place}: {e.strerror or e}") from None


def _distant(instrument: Instrument) -> socket.socket:
    """To the process at the instrument's address."""
    try:
        line = socket.create_connection(instrument.place, ANSWER)
    except OSError as e:
        text = (
            f"{instrument.at}: {e.strerror or e}; start it there: steelyard boards analyzer {instrument.name} --listen"
        )
        raise _lost(instrument, f"{text} {instrument.at}") from None
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return line


def _last_line(said: IO[bytes]) -> str:
    """What a process said last, after a colon."""
    said.seek(0)
    lines = said.read().decode(errors="replace").strip().splitlines()
    return f": {cut(printable(lines[-1]), 200)}" if lines else ""


def _started(instrument: Instrument, said: IO[bytes]) -> socket.socket:
    """To a new process, which goes on when this one ends; should it fail, ``said`` has why."""
    ours, theirs = socket.socketpair()
    with theirs:
        what = (msgspec.json.encode(instrument).decode(), str(theirs.fileno()), str(PATIENCE))
        process = subprocess.Popen(
            (sys.executable, "-P", "-m", f"{__package__}.daemon", *what),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,  # Ctrl-C is for us only
        )
    Thread(target=process.wait, name=f"end of process {process.pid}", daemon=True).start()
    return ours
