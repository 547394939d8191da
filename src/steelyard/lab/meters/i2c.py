"""INA219 on an I2C bus, by its registers (data sheet SBOS448G, 8.6)."""

from __future__ import annotations

import math
import re

from smbus2 import SMBus

from ..metering import Metered
from .polled import Polled

_CONFIGURATION, _SHUNT, _BUS = 0, 1, 2
#: after a reset: 32 V, +-320 mV, 12 bits, both without end
_USUAL = b"\x39\x9f"
_SHUNT_VOLTS, _BUS_VOLTS = 10e-6, 4e-3
#: where the shunt's register ends so, 320 mV (8.6.3.1: 7D00 and 8300 in hexadecimal): it says no more, whatever flows
_SHUNT_END = 32000


class Driver(Polled):
    """See :class:`..meter.Driver`."""

    def __init__(self, metered: Metered) -> None:
        meter = metered.meter
        number = re.search(r"(\d+)$", meter.port)
        if not number:
            raise ValueError(f"{meter.port}: is not a bus; write one such as /dev/i2c-1")
        self._address, self._ohms = meter.address, meter.shunt_ohms
        self._bus = SMBus(int(number[1]))
        try:
            self._bus.write_i2c_block_data(self._address, _CONFIGURATION, list(_USUAL))
        except BaseException:
            self._bus.close()
            raise
        super().__init__(self._now, metered.rate)

    def _register(self, which: int) -> bytes:
        return bytes(self._bus.read_i2c_block_data(self._address, which, 2))

    def _now(self) -> tuple[float, float]:
        bus = int.from_bytes(self._register(_BUS))
        steps = int.from_bytes(self._register(_SHUNT), signed=True)
        if bus & 1:
            raise ValueError("the INA219 says overflow: its shunt is too large for this current")
        amperes = steps * _SHUNT_VOLTS / self._ohms if abs(steps) < _SHUNT_END else math.copysign(math.inf, steps)
        # pin functions: the bus is sensed at IN-, which is what the board has after the shunt
        return (bus >> 3) * _BUS_VOLTS, amperes

    def close(self) -> None:
        """See the interface."""
        self._bus.close()
