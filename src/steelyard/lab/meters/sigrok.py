"""Whatever sigrok reads volts or amperes from, by ``sigrok-cli``. A reading's time is when it came."""

from __future__ import annotations

import os
import re
import select
import subprocess
import tempfile
import time

from ..meter import Samples
from ..metering import Metered

#: a reading as ``--output-format analog`` prints it
_READING = re.compile(r"([\w.+-]+): (-?\d+(?:\.\d+)?(?:e-?\d+)?) ?([pnuµmkM]?)(V|A|W)\b")
_SCALE = {"p": 1e-12, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6}


class Driver:
    """See :class:`..meter.Driver`. ``channels`` are sigrok's names of those that are read; of each unit one."""

    by_host = True

    def __init__(self, metered: Metered) -> None:
        self._meter = metered.meter
        self._process: subprocess.Popen[bytes] | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115, which close() closes

    def start(self) -> None:
        """See the interface."""
        channels = ",".join(self._meter.channels)
        command = ("sigrok-cli", "--driver", self._meter.port, "--channels", channels, "--continuous", "-O", "analog")
        self._said.truncate(0)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, bufsize=0
        )
        self._rest, self._seen, self._last = "", dict[str, float](), time.monotonic()

    def read(self) -> Samples:
        """See the interface."""
        assert self._process is not None
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], 0.2)[0]:
            return Samples()
        data = os.read(self._process.stdout.fileno(), 1 << 16)
        now = time.monotonic()
        if not data:
            self._said.seek(0)
            lines = self._said.read().decode(errors="replace").strip().splitlines()
            raise ValueError(f"sigrok-cli ended: {lines[-1][:200] if lines else self._process.wait()}")
        *lines, self._rest = (self._rest + data.decode(errors="replace")).split("\n")
        if len(self._rest) > 1000:
            raise ValueError("sigrok-cli prints no lines")
        made = Samples()
        for line in lines:
            self._line(line, made)
        step = (now - self._last) / max(len(made.t), 1)  # several at once came one after the other
        made.t = [self._last + step * (n + 1) for n in range(len(made.t))]
        self._last = now if made.t else self._last
        return made

    def _line(self, line: str, made: Samples) -> None:
        """A channel's reading; the last channel's ends a sample."""
        found = _READING.match(line)
        if not found:
            return
        self._seen[found[4]] = float(found[2]) * _SCALE[found[3]]
        if found[1] != self._meter.channels[-1]:
            return
        volts = self._seen.get("V", self._meter.volts)
        if volts is None:
            raise ValueError("no channel of it gives volts: write volts = .. in lab.toml")
        amperes = self._seen.get("A")
        if amperes is None:
            amperes = self._seen.get("W", 0.0) / volts if volts else 0.0
        made.t.append(0.0)
        made.v.append(volts)
        made.i.append(amperes)

    def stop(self) -> None:
        """See the interface."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(b"\n")  # which it takes as the wish to stop
            self._process.wait(5)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self._process = None

    def close(self) -> None:
        """See the interface."""
        self.stop()
        self._said.close()
