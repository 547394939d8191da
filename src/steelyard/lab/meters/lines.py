"""Lines of numbers, a sample each: from a serial port, or from a file to whose end somebody else writes."""

from __future__ import annotations

import re
import stat
import time
from io import SEEK_END
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ..meter import Samples, Unsound, current
from ..metering import COLUMNS, Metered

if TYPE_CHECKING:
    from serial import Serial

_APART = re.compile(r"[,;\s]+")
#: lines in a row that are none before it is said
_ODD = 20
_LONGEST = 1000


class Driver:
    """See :class:`..meter.Driver`. Without a column of times a sample's is when it came."""

    def __init__(self, metered: Metered) -> None:
        self._volts = metered.meter.volts
        self._columns = [COLUMNS[c] for c in metered.columns]
        self.by_host = "t" not in {role for role, _ in self._columns}
        if "v" not in {role for role, _ in self._columns} and self._volts is None:
            raise ValueError("no column gives volts: write volts = .. in lab.toml")
        self._alone = sum(role != "-" for role, _ in self._columns) == 1
        port = Path(metered.meter.port)
        self._file: BinaryIO | None = None
        self._line: Serial | None = None
        if stat.S_ISREG(port.stat().st_mode):
            self._file = port.open("rb")
        else:
            import serial

            self._line = serial.Serial(str(port), metered.baud, timeout=0.2, exclusive=True)

    def start(self) -> None:
        """See the interface."""
        self._rest, self._odd, self._broken, self._came = b"", 0, True, False
        if self._file is not None:
            self._file.seek(0, SEEK_END)
            self._broken = False
        elif self._line is not None:
            self._line.reset_input_buffer()

    def read(self) -> Samples:
        """See the interface."""
        if self._file is not None:
            data = self._file.read(1 << 16)
            if not data:
                time.sleep(0.05)
        else:
            assert self._line is not None
            data = self._line.read(max(self._line.in_waiting, 1))
        now = time.monotonic()
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST:
            raise ValueError(f"sends no lines: {len(self._rest)} bytes without an end of line; is the baud rate right?")
        made = Samples()
        for line in lines:
            if self._broken:  # the first may be the end of one
                self._broken = False
            elif self._sample(line.decode("ascii", "replace").strip(), now, made):
                self._odd = 0
            else:
                self._odd += 1
                if self._odd >= _ODD:
                    text = line[:40].decode("ascii", "backslashreplace")
                    raise ValueError(
                        f"{_ODD} lines in a row are not readings, the last is {text!r}; look at its columns"
                    )
        return made

    def _sample(self, line: str, now: float, made: Samples) -> bool:
        """Whether the line is a reading. :class:`Unsound` where, once there was one, it has no number for a quantity,
        and has one beside it or no other column: so a meter says that the quantity is out of its range."""
        words = _APART.split(line)
        got: dict[str, float] = {}
        strange: str | None = None
        for (role, scale), word in zip(self._columns, words, strict=False):
            try:
                if "_" in word:  # Python reads 5_0 as 50
                    raise ValueError
                if role == "bits":
                    got[role] = int(word) & 0xFF
                elif role != "-":
                    got[role] = float(word) * scale
            except ValueError:
                if role not in ("v", "i", "w") or not (word.isascii() and word.isprintable()):  # noise on the line
                    return False
                strange = word
        complete = len(words) == len(self._columns)
        if strange is not None and self._came and (got or (self._alone and complete)):
            raise Unsound(f"says {strange[:20]!r} for a quantity: it is out of its range, or lines are damaged")
        if strange is not None or not complete:
            return False
        self._came = True
        volts = got.get("v", self._volts)
        assert volts is not None
        made.t.append(got.get("t", now))
        made.v.append(volts)
        made.i.append(got["i"] if "i" in got else current(got["w"], volts))
        if "i" not in got:
            made.w.append(got["w"])
        if "bits" in got:
            made.bits.append(int(got["bits"]))
        return True

    def stop(self) -> None:
        """See the interface."""

    def close(self) -> None:
        """See the interface."""
        for opened in (self._file, self._line):
            if opened is not None:
                opened.close()
