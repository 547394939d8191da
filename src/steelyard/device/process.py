"""A Linux process as a device: the harness, linked for Linux, talks over pipes.

On this machine it runs on one core, one process at a time, and without files or network where bubblewrap works. The
target's ``target.c`` describes the records that stand for its pins.
"""

from __future__ import annotations

import os
import selectors
import struct
import subprocess
import time
from pathlib import Path
from threading import Lock
from typing import IO

from msgspec import Struct

from ..model.call import DeviceError, Pulse
from ..model.reasons import Failure, Reason
from . import machine
from .machine import Machine

#: seconds without a sign of life before a call counts as a runaway
PATIENCE = 60.0
#: the same for all calls that are sent at once, as a multiple of it, however lively
ALTOGETHER = 60
#: most bytes that a process may write while it answers them; answers of the largest tags have two thirds of it
MOST = 64 << 20
#: most bytes of memory that a process of this machine may have
MEMORY = 4 << 30
#: seconds that a process has to end after it has closed a pipe
LAST = 5.0
#: bytes of what programs write besides records that are kept for the text of a failure
_NOISE = 1000
#: the harness's SY_REPEAT: calls for each request, each after one with another key; and how many of them warm up
REPEAT, WARM_UP = 18, 3
#: Figures from an emulated processor are not measurements, and are refused. Only tests of the path to another machine
#: set this, and they use databases of their own.
EMULATORS_ALLOWED = False

_RECORD = struct.Struct("<8sQQ")
_MARK = b"ROCERYS"
_NOT_COUNTED = (1 << 64) - 1
#: the harness's exit code when the kernel takes its counter away
_LOST = 6
_one_at_a_time = Lock()


class Counted(Struct, frozen=True):
    """What a process's pulses count: ``quantity`` is the first word of the metrics' names, ``text`` describes the
    counter."""

    quantity: str
    text: str


#: counters by the harness's number. Ticks of the time-stamp counter are taken as cycles; docs/claims.md says when they
#: are
COUNTERS = {
    1: Counted("cycles", "core cycles by perf"),
    2: Counted("cycles", "time-stamp counter"),
    3: Counted("instructions", "instructions by perf"),
    4: Counted("ticks", "generic timer"),
}


class ProcessLink:
    """The host's end of a harness that runs as a process."""

    window = 1 << 15
    sees_stack = False
    build: int | None = None
    fills_ram = False
    resolution = 0.0

    def __init__(self, command: tuple[str, ...], machine: Machine, alone: Lock) -> None:
        alone.acquire()
        self._alone = alone
        self._command = command
        self._machine = machine
        self._pulses: list[Pulse] = []
        self._clock: tuple[int, bool, int, int] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        self._sent, self._taken = 0, -1
        self._notes = bytearray()
        self._noise = bytearray()
        self._calls: list[tuple[int, int]] = []
        self._signal: int | None = None
        self.exchange(b"")

    @property
    def quantity(self) -> str:
        """What pulses count: ``cycles``, ``instructions`` or ``ticks``."""
        return COUNTERS[self._clock[0]].quantity if self._clock else "cycles"

    @property
    def clock(self) -> str:
        """Counter, processor and frequency governor, for the record: figures from different machines are not
        comparable."""
        if self._clock is None:
            return "unknown"
        number, emulated, core, hertz = self._clock
        rate = f" of {hertz / 1e6:g} MHz" if COUNTERS[number].quantity == "ticks" else ""
        return f"{'EMULATED, ' if emulated else ''}{COUNTERS[number].text}{rate}, {self._machine.describe(core)}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the machine for readers of the figures."""
        if self._clock is None or COUNTERS[self._clock[0]].text == "core cycles by perf":
            return ()
        governor = self._machine.governors.get(self._clock[2], "performance")
        steady = governor == "performance"
        return () if steady else (f"frequency governor {governor}: the clock may have changed between calls",)

    def reset(self) -> None:
        """Starts the process again."""
        self._end()
        self._start()

    def exchange(self, data: bytes) -> bytes:
        """Sends ``data`` and returns the bytes that came until the harness waits for more. Raises :class:`DeviceError`
        when the process dies, is silent for :data:`PATIENCE` seconds, or goes on and on writing."""
        line_in, line_out, pins = self._pipes()
        self._sent += len(data)
        out, at, came = bytearray(), 0, 0
        deadline = time.monotonic() + PATIENCE
        last = time.monotonic() + ALTOGETHER * PATIENCE
        with selectors.DefaultSelector() as events:
            events.register(line_out, selectors.EVENT_READ)
            events.register(pins, selectors.EVENT_READ)
            if data:
                events.register(line_in, selectors.EVENT_WRITE)
            while self._taken != self._sent:
                ready = events.select(timeout=max(0.0, deadline - time.monotonic()))
                if not ready or time.monotonic() > last:
                    patience = PATIENCE * (1 if not ready else ALTOGETHER)
                    raise DeviceError(Failure(Reason.RUNAWAY, f"no end after {patience:g} s"))
                for key, _ in ready:
                    if key.fileobj is line_in:
                        at += self._write(line_in, data[at : at + 4096])
                        if at == len(data):
                            events.unregister(line_in)
                        continue
                    chunk = key.fileobj.read(1 << 16)  # type: ignore[union-attr]
                    if not chunk:
                        raise self._died()
                    deadline = time.monotonic() + PATIENCE
                    came += len(chunk)
                    if came > MOST:
                        raise _too_much()
                    if key.fileobj is line_out:
                        out += chunk
                    else:
                        self._records(chunk)
            while any(key.fileobj is line_out for key, _ in events.select(0)):
                chunk = line_out.read(1 << 16)
                if not chunk:
                    raise self._died()
                out += chunk
                if len(out) > MOST:
                    raise _too_much()
        return bytes(out)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        p = self._process
        if p is None or p.stdin is None or p.stdout is None or p.stderr is None:
            raise DeviceError(Failure(Reason.PROTOCOL, "the process has no pipes"))
        return p.stdin, p.stdout, p.stderr

    def _write(self, to: IO[bytes], data: bytes) -> int:
        try:
            return to.write(data) or 0
        except BrokenPipeError:
            raise self._died() from None

    def _records(self, chunk: bytes) -> None:
        """Takes records out of the stream; anything else that programs write there is kept for the text of a
        failure."""
        self._notes += chunk
        while len(self._notes) >= _RECORD.size:
            at = self._notes.find(_MARK, 1)
            if at != 1:
                keep = len(self._notes) - len(_MARK) if at < 0 else at - 1
                self._noise = (self._noise + self._notes[:keep])[-_NOISE:]
                del self._notes[:keep]
                if at < 0:
                    return
                continue
            kind, first, second = _RECORD.unpack_from(self._notes)
            del self._notes[: _RECORD.size]
            self._record(chr(kind[0]), first, second)

    def _record(self, kind: str, first: int, second: int) -> None:
        if kind == "I":
            self._taken = first
        elif kind == "P":
            self._calls.append((first, second))
            if len(self._calls) == 2 * REPEAT:
                self._pulses.append(_pulse(self._calls[1::2][WARM_UP:]))
                self._calls = []
        elif kind == "S":
            self._signal = first
        elif kind == "C":
            self._chosen(first, second)

    def _chosen(self, choice: int, hertz: int) -> None:
        number, emulated, core = choice & 0xFF, choice >> 8 & 1, choice >> 16
        if number not in COUNTERS:
            raise DeviceError(Failure(Reason.PROTOCOL, f"unknown counter {number}"))
        clock = (number, bool(emulated) or not self._machine.real, core, hertz)
        refuse(self._machine, clock[1])
        if self._clock is not None and clock != self._clock:
            raise DeviceError(Failure(Reason.COUNTER_LOST, "after a restart the process has another counter or core"))
        self._clock = clock

    def _died(self) -> DeviceError:
        assert self._process is not None
        try:
            code = self._process.wait(LAST)
        except subprocess.TimeoutExpired:
            return DeviceError(Failure(Reason.FAULT, "the process closed its pipes and went on"))
        for pipe in self._pipes()[2:]:
            os.set_blocking(pipe.fileno(), False)  # whoever else has its other end may keep it
            while chunk := pipe.read(1 << 16):
                self._records(chunk)
        return DeviceError(self._cause(code))

    def _cause(self, code: int) -> Failure:
        """Why a process ended with ``code``."""
        if self._signal is not None:
            return Failure(Reason.FAULT, f"the process ended with signal {self._signal}")
        if code == _LOST:
            return Failure(Reason.COUNTER_LOST, "the kernel took the counter away")
        what = f"signal {-code}" if code < 0 else f"signal {code - 128}" if code > 128 else f"exit code {code}"
        said = self._said()
        return Failure(Reason.FAULT, f"the process ended with {what}{f': {said}' if said else ''}")

    def _said(self) -> str:
        """The last line that was written besides records."""
        lines = (self._noise + self._notes)[-_NOISE:].decode(errors="replace").split("\n")
        return next((t for line in reversed(lines) if (t := line.strip()) and t.isprintable()), "")[:200]

    def pulses(self) -> list[Pulse]:
        """Medians of the repeated calls since the last time this was called."""
        pulses, self._pulses = self._pulses, []
        return pulses

    def fill_ram(self) -> None:
        """Does nothing: see ``fills_ram``."""

    def longest_untouched(self) -> None:
        """None: nothing watches a machine's RAM."""

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        self._process = None

    def close(self) -> None:
        """Ends the process, so that the next one may start."""
        self._end()
        self._alone.release()


def refuse(machine: Machine, emulated: bool) -> None:
    """Raises :class:`DeviceError` for an emulated processor."""
    if emulated and not EMULATORS_ALLOWED:
        text = f"{machine.name}: the processor is emulated, or is not the one that images are made for"
        raise DeviceError(Failure(Reason.WRONG_MACHINE, text))


def local(image: Path, sandbox: tuple[str, ...]) -> ProcessLink:
    """Runs ``image`` as a process on this machine, with ``sandbox`` before the command, and with limited memory."""
    limited = ("/bin/sh", "-c", f'ulimit -c 0; ulimit -v {MEMORY >> 10}; exec "$@"', "sh")
    return ProcessLink((*limited, *sandbox, str(image)), machine.this(), _one_at_a_time)


def _too_much() -> DeviceError:
    return DeviceError(Failure(Reason.FAULT, f"the process writes more than {MOST >> 20} MiB"))


def _pulse(calls: list[tuple[int, int]]) -> Pulse:
    ordered, quarter = sorted(c for c, _ in calls), len(calls) // 4
    first, middle, third = ordered[quarter], ordered[len(ordered) // 2], ordered[-1 - quarter]
    instructions = sorted(n for _, n in calls)[len(calls) // 2]
    return Pulse(
        middle,
        spread=(third - first) / middle if middle else 0.0,
        instructions=None if instructions == _NOT_COUNTED else instructions,
    )
