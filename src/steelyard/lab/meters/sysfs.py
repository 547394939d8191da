"""INA219 and its kin by the Linux kernel's driver, as files: hwmon (millivolts, milliamperes) or iio (raw x scale)."""

from __future__ import annotations

from pathlib import Path

from ..metering import Metered
from .polled import Polled


class Driver(Polled):
    """See :class:`..meter.Driver`. The port is the device's folder, which tests and chroots have elsewhere."""

    def __init__(self, metered: Metered) -> None:
        folder = Path(metered.meter.port)
        if (folder / "curr1_input").exists():  # Documentation/hwmon/ina2xx.rst: in1 is the bus
            names = (("in1_input", ""), ("curr1_input", ""))
        elif (folder / "in_current3_raw").exists():  # drivers/iio: voltage1 is the bus, current3 the shunt's
            names = (("in_voltage1_raw", "in_voltage1_scale"), ("in_current3_raw", "in_current3_scale"))
        else:
            raise ValueError(f"{folder}: neither curr1_input nor in_current3_raw: name the folder of an INA219")
        self._files = [(folder / value, folder / scale if scale else None) for value, scale in names]
        super().__init__(self._now, metered.rate)

    def _now(self) -> tuple[float, float]:
        volts, amperes = (_number(value) * (_number(scale) if scale else 1.0) / 1000 for value, scale in self._files)
        return volts, amperes

    def close(self) -> None:
        """See the interface."""


def _number(file: Path) -> float:
    return float(file.read_text(encoding="ascii"))
