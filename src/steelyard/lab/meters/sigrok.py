"""Whatever sigrok reads volts or amperes from, by ``sigrok-cli``. A reading's time is when it came."""

from __future__ import annotations

import math
import os
import re
import select
import time

from ..meter import Samples, current
from ..metering import Metered
from ..sigrok import Sampling

#: a reading as ``--output-format analog`` prints it: channel, number, prefix, unit; out of range, the number is ``inf``
_READING = re.compile(r"([^:]+): (\S+?) ?([pnuµmkM]?)(V|A|W)\b")
_SCALE = {"p": 1e-12, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6}


class Driver:
    """See :class:`..meter.Driver`. ``channels`` are sigrok's names of those that are read; of each unit one."""

    by_host = True

    def __init__(self, metered: Metered) -> None:
        self._meter = metered.meter
        self._sampling: Sampling | None = None

    def start(self) -> None:
        """See the interface."""
        self._sampling = Sampling(self._meter.port, self._meter.channels, "--output-format", "analog")
        self._rest, self._seen, self._last = "", dict[str, tuple[str, float]](), time.monotonic()

    def read(self) -> Samples:
        """See the interface."""
        assert self._sampling is not None
        if not select.select([self._sampling.output], [], [], 0.2)[0]:
            return Samples()
        data = os.read(self._sampling.output.fileno(), 1 << 16)
        now = time.monotonic()
        if not data:
            raise ValueError(self._sampling.end())
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
        """A channel's reading; a sample ends with the last channel that was not read since the one before."""
        channel = line.partition(":")[0]
        if channel not in self._meter.channels:
            return
        found = _READING.match(line)
        if not found:
            raise ValueError(f"{line[:40]!r} is not a reading in V, A or W; look at its channels, and at its function")
        self._seen[channel] = found[4], _value(found[2]) * _SCALE[found[3]]
        if len(self._seen) < len(self._meter.channels):
            return
        read = dict(self._seen.values())
        if len(read) < len(self._seen) or not {"A", "W"} & read.keys():
            raise ValueError("its channels have to be of a current or a power, and of each quantity one")
        self._seen.clear()
        volts = read.get("V", self._meter.volts)
        if volts is None:
            raise ValueError("no channel of it gives volts: write volts = .. in lab.toml")
        made.t.append(0.0)
        made.v.append(volts)
        made.i.append(read["A"] if "A" in read else current(read["W"], volts))
        if "A" not in read:
            made.w.append(read["W"])

    def stop(self) -> None:
        """See the interface."""
        if self._sampling is not None:
            self._sampling.interrupt()
            self._sampling.close()
            self._sampling = None

    def close(self) -> None:
        """See the interface."""
        self.stop()


def _value(text: str) -> float:
    """The number of a reading; infinity where there is none."""
    try:
        return float(text)
    except ValueError:
        return math.inf
