"""The built-in simulator as a device, with the same image and protocol as a board."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Event

from msgspec.structs import replace

from .. import _native
from ..model import elf
from ..model.call import DeviceError, Pulse, Stray
from ..model.linked import ends
from ..model.reasons import Failure, Reason
from ..model.target import Target

#: in harness/heap.c
_HEAP = "sy_heap_peak"
#: cycles that one call may take before it counts as a runaway
MAX_CYCLES = 2_000_000_000
#: the same for all calls of a run, as a multiple of it: about half an hour
ALTOGETHER = 500
#: calls with more cycles are made one by one
SLOW = 10_000_000
#: bytes of other calls in a batch: a few hundred of them take seconds at most
_BATCH = 1 << 14


@cache
def timing_model(target: Target) -> str:
    """The identity of the simulator's timing model for ``target``. Raises :class:`ValueError` for a chip that it does
    not know."""
    return _native.Simulator(target.chip).timing_model


@contextmanager
def _named() -> Iterator[None]:
    """Turns the simulator's exceptions into :class:`DeviceError`."""
    try:
        yield
    except _native.SimulatorFault as e:
        kind, text = e.args
        reason = Reason.STACK_OVERFLOW if kind == "stack-into-data" else Reason.FAULT
        raise DeviceError(Failure(reason, f"{kind}: {text}")) from None
    except _native.BudgetExceeded as e:
        raise DeviceError(Failure(Reason.RUNAWAY, str(e))) from None


class SimulatorLink:
    """A simulated chip with an image in its flash."""

    sees_stack = True
    build: int | None = None
    fills_ram = False
    resolution = 0.0
    quantity = "cycles"
    notes = ()

    def __init__(self, target: Target, image: Path, max_cycles: int = MAX_CYCLES, over: Event | None = None) -> None:
        self.window = 1
        self._map = image.with_suffix(".map")
        self._native = _native.Simulator(target.chip)
        self._image = image.read_bytes()
        try:
            self._native.load(self._image)
        except ValueError as e:  # sections of rare names move the image to where no memory is
            raise DeviceError(Failure(Reason.LINK_ERROR, f"the image: {e}")) from None
        self._native.clear_written()
        self.clock = self._native.timing_model
        self._max_cycles = max_cycles
        self._longest = 0
        #: cycles of all calls so far
        self.spent = 0
        self._over = over

    def reset(self) -> None:
        """Restarts the firmware; RAM keeps its content."""
        self._native.reset()

    def exchange(self, data: bytes) -> bytes:
        """Sends ``data``, runs until the firmware waits for more, and returns what it sent. Raises :class:`DeviceError`
        for a fault and beyond the limit of cycles, and :class:`KeyboardInterrupt` when the campaign is over."""
        self._look(0)
        with _named():
            return self._native.exchange(data, self._max_cycles, self._look)

    def _look(self, cycles: int) -> None:
        """Whether to go on; the simulator asks several times a second, with the cycles since its calls began."""
        if self._over is not None and self._over.is_set():
            raise KeyboardInterrupt
        self._bounded(self.spent + cycles)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Calls that leave the branch predictor as they found it."""
        self._native.set_aside(True)
        try:
            yield
        finally:
            self._native.set_aside(False)

    def profile(self, data: bytes) -> list[tuple[str, int, int, int]]:
        """Like :meth:`exchange`; returns the call tree of the measured calls as (function, parent's index, calls,
        cycles). No function goes past its piece of the image, where the linker's map is beside this."""
        if self._map.exists():
            self._native.set_ends([at for at in ends(self._map) if at < 1 << 32])
        with _named():
            return self._native.profile(data, self._max_cycles, self._look)

    def causes(self, data: bytes) -> list[tuple[str, str, int, int]]:
        """Like :meth:`exchange`, one instruction at a time; returns the cycles of the measured calls by cause as
        (cause, kind of instruction, times, cycles)."""
        with _named():
            return self._native.causes(data, self._max_cycles, self._look)

    def instruction_mix(self, data: bytes) -> tuple[dict[str, int], int]:
        """Like :meth:`exchange`, one instruction at a time; returns counts by mnemonic, and the number of taken
        branches."""
        with _named():
            return self._native.instruction_mix(data, self._max_cycles, self._look)

    def pulses(self) -> list[Pulse]:
        """Trigger pulses since the last time this was called, with exact cycles and stack. Raises :class:`DeviceError`
        when all calls together took too many cycles."""
        strays = self._native.strays()
        pulses = [Pulse(n, stack, odd, touched=down) for n, stack, odd, down in self._native.calls()]
        for call, area, changed, address, symbol, count, past, span in strays:
            stray = Stray(area, changed, address, symbol, count, past, span)
            pulses[call] = replace(pulses[call], strays=(*pulses[call].strays, stray))
        cycles = [p.cycles for p in pulses]
        self.spent += sum(cycles)
        self._longest = max(self._longest, *cycles, 0)
        self.window = _BATCH if self._longest <= SLOW else 1
        self._bounded(self.spent)
        return pulses

    def _bounded(self, cycles: int) -> None:
        if cycles > ALTOGETHER * self._max_cycles:
            text = f"its calls took more than {ALTOGETHER * self._max_cycles} cycles altogether"
            raise DeviceError(Failure(Reason.RUNAWAY, text))

    def heap(self) -> int:
        """What the harness noted of the heap in the last call, which need not have come to its end; 0 where the image
        has none."""
        at = elf.address(self._image, _HEAP)
        size = next((s.size for s in elf.symbols(self._image) if s.name == _HEAP), 0)
        if at is None:
            return 0
        at &= (1 << 8 * size) - 1  # avr-gcc's addresses of data begin at 0x800000
        return int.from_bytes(self._native.read(at, size), "little")

    def fill_ram(self) -> None:
        """Does nothing: see ``fills_ram``."""

    def longest_untouched(self) -> int:
        """The longest run of RAM bytes after static data that nothing wrote since the image was loaded."""
        return self._native.longest_untouched()

    def close(self) -> None:
        """Does nothing: there is nothing to release."""
