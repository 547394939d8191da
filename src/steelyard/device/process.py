"""A process on this machine as a device: the harness, linked for the host, talks over pipes.

It runs in a sandbox without files or network where bubblewrap works, on one core, and one at a time.
"""

from __future__ import annotations

import selectors
import struct
import subprocess
import time
from functools import cache
from pathlib import Path
from threading import Lock
from typing import IO

from ..model.call import DeviceError, Pulse
from ..model.reasons import Failure, Reason

#: seconds without a sign of life before a call counts as a runaway
PATIENCE = 60.0
#: the harness's SY_REPEAT: calls for each request, and how many of them are to warm up
REPEAT, WARM_UP = 18, 3
_RECORD = struct.Struct("<QQ")
_one_at_a_time = Lock()


class ProcessLink:
    """The host's end of a harness that runs as a process."""

    window = 1 << 15
    sees_stack = False

    def __init__(self, image: Path, sandbox: tuple[str, ...]) -> None:
        _one_at_a_time.acquire()
        self._command = [*sandbox, str(image)]
        self._pulses: list[Pulse] = []
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        self._sent = 0
        self._notes = bytearray()
        self._ticks: list[int] = []

    def reset(self) -> None:
        """Starts the process anew."""
        self._end()
        self._start()

    def exchange(self, data: bytes) -> bytes:
        """Sends ``data`` and returns what came until the harness waits for more."""
        line_in, line_out, pins = self._pipes()
        self._sent += len(data)
        out, at, taken = bytearray(), 0, -1
        deadline = time.monotonic() + PATIENCE
        with selectors.DefaultSelector() as events:
            events.register(line_out, selectors.EVENT_READ)
            events.register(pins, selectors.EVENT_READ)
            if data:
                events.register(line_in, selectors.EVENT_WRITE)
            while taken != self._sent:
                ready = events.select(timeout=max(0.0, deadline - time.monotonic()))
                if not ready:
                    raise DeviceError(Failure(Reason.RUNAWAY, f"no end after {PATIENCE:.0f} s"))
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
                    if key.fileobj is line_out:
                        out += chunk
                    else:
                        taken = self._records(chunk, taken)
            while any(key.fileobj is line_out for key, _ in events.select(0)):
                out += line_out.read(1 << 16)
        return bytes(out)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        p = self._process
        if p.stdin is None or p.stdout is None or p.stderr is None:
            raise DeviceError(Failure(Reason.PROTOCOL, "the process has no pipes"))
        return p.stdin, p.stdout, p.stderr

    def _write(self, to: IO[bytes], data: bytes) -> int:
        try:
            return to.write(data) or 0
        except BrokenPipeError:
            raise self._died() from None

    def _records(self, chunk: bytes, taken: int) -> int:
        self._notes += chunk
        while len(self._notes) >= _RECORD.size:
            kind, value = _RECORD.unpack_from(self._notes)
            del self._notes[: _RECORD.size]
            if kind == ord("I"):
                taken = value
            else:
                self._ticks.append(value)
                if len(self._ticks) == REPEAT:
                    self._pulses.append(_pulse(self._ticks[WARM_UP:]))
                    self._ticks = []
        return taken

    def _died(self) -> DeviceError:
        code = self._process.wait()
        what = f"signal {-code}" if code < 0 else f"signal {code - 128}" if code > 128 else f"exit code {code}"
        return DeviceError(Failure(Reason.FAULT, f"the process ended with {what}"))

    def pulses(self) -> list[Pulse]:
        """Medians of the repeated calls since the last time."""
        pulses, self._pulses = self._pulses, []
        return pulses

    def longest_untouched(self) -> None:
        """Nobody watches this machine's RAM."""

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def close(self) -> None:
        """Ends the process; the next one may start."""
        self._end()
        _one_at_a_time.release()


def _pulse(ticks: list[int]) -> Pulse:
    ordered, quarter = sorted(ticks), len(ticks) // 4
    first, middle, third = ordered[quarter], ordered[len(ordered) // 2], ordered[-1 - quarter]
    return Pulse(middle, spread=(third - first) / middle if middle else 0.0)


@cache
def machine() -> str:
    """Processor and frequency governor, for the record: figures of two machines are not comparable."""
    name = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
        if line.startswith("model name"):
            name = line.partition(":")[2].strip()
            break
    try:
        governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").read_text().strip()
    except OSError:
        governor = "unknown"
    return f"time-stamp counter, {name}, governor {governor}"
