"""What a board has to do with nocrypt in its flash before it is believed: shake hands, copy messages, make pulses."""

from __future__ import annotations

from collections.abc import Iterator

from ..device import Client
from ..device.counter import WAY
from ..model.call import DeviceError, Op
from ..model.reasons import Failure, Reason
from .away import AwayLink
from .clocks import keep
from .config import Station
from .link import BoardLink

#: calls whose edges are counted, and what each of them copies
CALLS, MESSAGE = 20, bytes(range(256)) * 2


def proved(station: Station, link: BoardLink | AwayLink, client: Client) -> Iterator[tuple[str, str]]:
    """The parts of a board with nocrypt in it that work, in order; :class:`DeviceError` at the first that does not."""
    hertz = station.target.board_hz
    if abs(client.hello.clock_hz - hertz) > 10_000:
        text = f"the board says {client.hello.clock_hz / 1e6:g} MHz, {station.target.name} has {hertz / 1e6:g} MHz"
        raise DeviceError(Failure(Reason.PROTOCOL, text))
    rate = f", {link.baud} baud" if isinstance(link, BoardLink) else ""
    yield "handshake", f"{hertz / 1e6:g} MHz, {client.hello.capacity} bytes of free RAM{rate}"
    before = link.samples
    answers = list(client.calls([client.hello.zeros(Op.ENCRYPT, MESSAGE)] * CALLS))
    if any(a.output != MESSAGE for a in answers):
        raise DeviceError(Failure(Reason.WRONG_OUTPUT, "nocrypt copies its message, and the board does not"))
    yield "echo", f"{CALLS} x {len(MESSAGE)} bytes"
    samples = (link.samples - before) / CALLS
    yield "edges", f"{CALLS} pulses of {samples / station.instrument.samplerate * 1e6:.2f} µs"


def clock(station: Station, client: Client) -> tuple[float, float, bool]:
    """How fast the board's clock is by the analyzer's time, in parts per million, within how many, and whether that is
    as the station has it: what the chip's own counter has more of a long call than of a short one, by the pulses.
    Where samples cannot tell it from the station's word, that stays. :class:`DeviceError` where the calls of a size
    differ by more than samples explain."""
    sample = station.cycles_per_sample
    cycles = apart = 0.0
    for message, sign in ((MESSAGE, 1), (b"", -1)):
        seen = [a.pulse for a in client.calls([client.hello.zeros(Op.ENCRYPT, message)] * CALLS)]
        off = [p.apart or 0.0 for p in seen]
        if max(off) - min(off) > 2 * sample + WAY:
            text = f"equal calls differ by {max(off) - min(off):.0f} cycles more by pulse than by the chip's counter"
            raise DeviceError(Failure(Reason.ANALYZER_LOST, f"{station.instrument.name} loses samples: {text}"))
        cycles += sign * sum(p.cycles for p in seen) / CALLS
        apart += sign * sum(off) / CALLS
    said = station.clock_ppm
    ppm = ((1 + said / 1e6) * (1 + apart / cycles) - 1) * 1e6
    within = sample / cycles * 1e6
    holds = abs(ppm - said) <= (sample + 1) / cycles * 1e6  # pulses are whole cycles
    return (said if holds else ppm), within, holds


def keep_clock(station: Station, ppm: float, within: float) -> None:
    """What was measured of a board here is what its runs take from now on. :class:`OSError` on a full disk."""
    instrument = station.instrument
    keep(station.board.name, station.board.target, instrument.name, instrument.clock, round(ppm), within)
