"""INA219 and its kin by the Linux kernel's driver, as files: hwmon (millivolts, milliamperes) or iio (raw x scale)."""

from __future__ import annotations

import math
from pathlib import Path

from ..metering import Metered
from .polled import Polled

#: millivolts over the shunt where the register of a chip ends: the INA226's at 7FFF (data sheet SBOS547, 2.5 uV a
#: step), else the INA219's (SBOS448G, 8.6.3.1)
_ENDS = {"ina226": 81.9, "ina230": 81.9, "ina231": 81.9}
_END = 320.0


class Driver(Polled):
    """See :class:`..meter.Driver`. The port is the device's folder, which tests and chroots have elsewhere."""

    def __init__(self, metered: Metered) -> None:
        folder = Path(metered.meter.port)
        if (folder / "curr1_input").exists():  # Documentation/hwmon/ina2xx.rst: in1 is the bus, in0 the shunt
            names = [("in1_input", ""), ("curr1_input", ""), ("in0_input", "")]
        elif (folder / "in_current3_raw").exists():  # drivers/iio: voltage1 is the bus, voltage0 the shunt
            channels = ("in_voltage1", "in_current3", "in_voltage0")
            names = [(f"{c}_raw", f"{c}_scale") for c in channels]
        else:
            raise ValueError(f"{folder}: neither curr1_input nor in_current3_raw: name the folder of an INA219")
        self._bus, self._current, self._shunt = (
            (folder / value, folder / scale if scale else None) for value, scale in names
        )
        chip = folder / "name"
        self._end = _ENDS.get(chip.read_text(encoding="ascii").strip(), _END) if chip.exists() else _END
        super().__init__(self._now, metered.rate)

    def _now(self) -> tuple[float, float]:
        amperes = _number(*self._current) / 1000
        if self._shunt[0].exists() and abs(shunt := _number(*self._shunt)) >= self._end:
            amperes = math.copysign(math.inf, shunt)
        return _number(*self._bus) / 1000, amperes

    def close(self) -> None:
        """See the interface."""


def _number(value: Path, scale: Path | None = None) -> float:
    return float(value.read_text(encoding="ascii")) * (_number(scale) if scale else 1.0)
