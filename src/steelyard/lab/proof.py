"""What a board has to do before it is believed: shake hands, copy messages, make pulses; and how fast its clock is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from ..device import Client
from ..device.counter import MOST, WAY
from ..model.call import DeviceError, Op
from ..model.reasons import Failure, Reason
from .away import AwayLink
from .clocks import keep
from .config import Station
from .link import BoardLink

#: calls whose edges are counted, and what each of them copies
CALLS, MESSAGE = 20, bytes(range(256)) * 2
#: both ways to do so, and the most bytes of stack, or of heap, that it takes
COPY, STACK = (Op.ENCRYPT, Op.DECRYPT), 512
#: a package that copies its message as nocrypt does, and then turns a loop as often as it is told
DELAY = Path(__file__).parent / "delay"
#: its turns in a short call, the seconds of a long one, and how many there are of each
TURNS, SECONDS, DELAYS = 1000, 0.05, 5


def proved(station: Station, link: BoardLink | AwayLink, client: Client) -> Iterator[tuple[str, str]]:
    """The parts of a board that work, in order, with nocrypt or :data:`DELAY` in it; :class:`DeviceError` at the first
    that does not."""
    hertz = station.target.board_hz
    if abs(client.hello.clock_hz - hertz) > 10_000:
        text = f"the board says {client.hello.clock_hz / 1e6:g} MHz, {station.target.name} has {hertz / 1e6:g} MHz"
        raise DeviceError(Failure(Reason.PROTOCOL, text))
    rate = f", {link.baud} baud" if isinstance(link, BoardLink) else ""
    yield "handshake", f"{hertz / 1e6:g} MHz, {client.hello.capacity} bytes of free RAM{rate}"
    before = link.samples
    answers = list(client.calls([client.hello.zeros(op, MESSAGE) for op in COPY] * (CALLS // len(COPY))))
    for a in answers:
        if (a.output, a.length, a.code, a.over, a.intact) != (MESSAGE, len(MESSAGE), 0, 0, True):
            raise DeviceError(Failure(Reason.WRONG_OUTPUT, "a message is to be copied, and the board does not"))
        if max(a.stack, a.heap) > STACK:
            text = f"a copy takes {a.stack} bytes of stack and {a.heap} of heap by the board's word, at most {STACK}"
            raise DeviceError(Failure(Reason.WRONG_OUTPUT, text))
    yield "echo", f"{CALLS} x {len(MESSAGE)} bytes"
    samples = (link.samples - before) / CALLS
    yield "edges", f"{CALLS} pulses of {samples / station.instrument.samplerate * 1e6:.2f} µs"


def clock(station: Station, client: Client) -> tuple[float, int, bool]:
    """How fast the clock of a board with :data:`DELAY` in it is by the analyzer's time, in parts per million, within
    how many, and whether that is as the station has it: what the chip's own counter has more of a long delay than of a
    short one, by the pulses. Where samples cannot tell it from the station's word, that stays. :class:`DeviceError`
    where equal calls differ by more than samples explain, or a delay's pulse does not grow with its turns."""
    said, sample = station.clock_ppm, station.cycles_per_sample
    short, apart = _delayed(station, client, TURNS)
    if short <= 2 * sample + 1:  # which jitter may be
        raise _no_longer(station, short)
    # a count is right modulo its width, of which a clock that is off takes no more than half
    most = min(SECONDS * station.target.board_hz, (1 << client.hello.counter_bits - 1) / MOST)
    long, more = _delayed(station, client, int(TURNS * most / short))
    if long <= short:
        raise _no_longer(station, long)
    ppm = ((1 + said / 1e6) * (1 + (more - apart) / (long - short)) - 1) * 1e6
    within = math.ceil((2 * sample + 1) / (long - short) * 1e6)  # pulses are whole cycles
    holds = abs(ppm - said) <= within
    return (said if holds else ppm), within, holds


def _no_longer(station: Station, cycles: float) -> DeviceError:
    text = f"a delay of some turns is {cycles:.0f} cycles long by pulse, and with more of them no longer"
    return DeviceError(Failure(Reason.ANALYZER_LOST, f"{station.instrument.name} sees other pulses than calls: {text}"))


def _delayed(station: Station, client: Client, turns: int) -> tuple[float, float]:
    """Cycles of a delay by pulse, and how many more the chip's counter has."""
    asked = replace(client.hello.zeros(Op.ENCRYPT), ad=turns.to_bytes(4, "little"))
    seen = [a.pulse for a in client.calls([asked] * DELAYS)]
    off = [p.apart or 0.0 for p in seen]
    if max(off) - min(off) > 2 * station.cycles_per_sample + WAY:
        text = f"equal calls differ by {max(off) - min(off):.0f} cycles more by pulse than by the chip's counter"
        raise DeviceError(Failure(Reason.ANALYZER_LOST, f"{station.instrument.name} loses samples: {text}"))
    return sum(p.cycles for p in seen) / DELAYS, sum(off) / DELAYS


def keep_clock(station: Station, ppm: float, within: float) -> None:
    """What was measured of a board here is what its runs take from now on. :class:`OSError` on a full disk."""
    of = station.board.kept_clock(station.instrument, station.described)
    keep(*of, ppm=round(ppm), within=within, instrument=station.instrument.name)
