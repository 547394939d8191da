"""Nordic PPK2 by ppk2-api: 100 000 samples in a second, each with eight digital inputs."""

from __future__ import annotations

import time

from ppk2_api.ppk2_api import PPK2_API, PPK2_Command

from ..meter import Samples
from ..metering import Metered

_CHUNK = 0.02


class Driver:
    """See :class:`..meter.Driver`. As a source it powers the board from the start on, and does not switch it off."""

    by_host = False

    def __init__(self, metered: Metered) -> None:
        meter = metered.meter
        self._step = 1 / metered.rate
        if meter.volts is None or not 0.8 <= meter.volts <= 5:
            raise ValueError("a Power Profiler Kit II is for 0.8 to 5 V: write volts in lab.toml")
        self._volts = meter.volts
        self._device = PPK2_API(meter.port, timeout=1, write_timeout=1, exclusive=True)
        try:
            self._device.stop_measuring()
            time.sleep(_CHUNK)
            self._device.ser.reset_input_buffer()
            if not self._device.get_modifiers():
                raise ValueError(f"{meter.port}: no answer of a Power Profiler Kit II")
            use = self._device.use_source_meter if meter.source else self._device.use_ampere_meter
            use()
            self._device.set_source_voltage(round(meter.volts * 1000))
            if meter.source:
                self._device.toggle_DUT_power("ON")
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        """See the interface."""
        self._device.ser.reset_input_buffer()
        self._device.remainder = {"sequence": b"", "len": 0}
        self._device.rolling_avg = self._device.rolling_avg4 = self._device.prev_range = None
        self._device.after_spike = self._count = 0
        self._device.start_measuring()

    def read(self) -> Samples:
        """See the interface."""
        time.sleep(_CHUNK)
        data = self._device.get_data()
        if len(data) + self._device.remainder["len"] < 4:
            self._device.remainder = {
                "sequence": self._device.remainder["sequence"] + data,
                "len": self._device.remainder["len"] + len(data),
            }
            return Samples()
        microamperes, bits = self._device.get_samples(data)
        first, self._count = self._count, self._count + len(microamperes)
        times = [n * self._step for n in range(first, self._count)]
        amperes = [i * 1e-6 for i in microamperes]
        return Samples(times, [self._volts] * len(times), amperes, bytearray(bits))

    def stop(self) -> None:
        """See the interface."""
        self._device.ser.write(bytes((PPK2_Command.AVERAGE_STOP,)))  # whose own method hides what goes wrong

    def close(self) -> None:
        """See the interface."""
        self._device.ser.close()
