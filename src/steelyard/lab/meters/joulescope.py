"""Joulescope by its own driver's statistics. Never tried: no Joulescope was at hand, and nothing plays one."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import Any

from pyjoulescope_driver import Driver as Joulescopes

from ..meter import Samples
from ..metering import Metered

#: samples of a JS220 in one of its statistics, at 1 000 000 in a second
_SECOND = 1_000_000


class Driver:
    """See :class:`..meter.Driver`. A JS110 gives its statistics at its own pace."""

    by_host = False

    def __init__(self, metered: Metered) -> None:
        self._step = 1 / metered.rate
        self._came: SimpleQueue[Any] = SimpleQueue()
        self._count = 0
        self._driver = Joulescopes()
        paths = list(self._driver.device_paths())
        wanted = [p for p in paths if metered.meter.port in ("any", p)]
        if len(wanted) != 1:
            self._driver.finalize()
            raise ValueError(
                f"{len(wanted)} Joulescopes are {metered.meter.port}; there are: {', '.join(paths) or 'none'}"
            )
        self._path = wanted[0]
        self._driver.open(self._path)
        self._driver.publish(f"{self._path}/s/i/range/mode", "auto")
        if "js220" in self._path:
            self._driver.publish(f"{self._path}/s/stats/scnt", round(_SECOND * self._step))

    def _take(self, _topic: str, value: Any) -> None:
        self._came.put(value)

    def start(self) -> None:
        """See the interface."""
        self._came, self._count = SimpleQueue(), 0
        self._driver.subscribe(f"{self._path}/s/stats/value", "pub", self._take)
        self._driver.publish(f"{self._path}/s/stats/ctrl", 1)

    def read(self) -> Samples:
        """See the interface."""
        try:
            signals = self._came.get(timeout=0.2)["signals"]
        except Empty:
            return Samples()
        self._count += 1
        volts, amperes = (float(signals[name]["avg"]["value"]) for name in ("voltage", "current"))
        return Samples([self._count * self._step], [volts], [amperes])

    def stop(self) -> None:
        """See the interface."""
        self._driver.publish(f"{self._path}/s/stats/ctrl", 0)
        self._driver.unsubscribe(f"{self._path}/s/stats/value", self._take)

    def close(self) -> None:
        """See the interface."""
        self._driver.close(self._path)
        self._driver.finalize()
