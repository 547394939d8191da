"""What a board has to do with nocrypt in its flash before it is believed: shake hands, copy messages, make pulses."""

from __future__ import annotations

from collections.abc import Iterator

from ..device import Client
from ..model.call import DeviceError, Op, Request
from ..model.reasons import Failure, Reason
from .config import Station
from .link import BoardLink

#: calls whose edges are counted, and what each of them copies
CALLS, MESSAGE = 20, bytes(range(256)) * 2


def request(client: Client) -> Request:
    """A call that copies :data:`MESSAGE`."""
    return Request(Op.ENCRYPT, bytes(client.hello.key_bytes), bytes(client.hello.npub_bytes), b"", MESSAGE)


def proved(station: Station, link: BoardLink, client: Client) -> Iterator[tuple[str, str]]:
    """The parts of a board with nocrypt in it that work, in order; :class:`DeviceError` at the first that does not."""
    hertz = station.target.chip.clock_hz
    if abs(client.hello.clock_hz - hertz) > 10_000:
        text = f"the board says {client.hello.clock_hz / 1e6:g} MHz, {station.target.name} has {hertz / 1e6:g} MHz"
        raise DeviceError(Failure(Reason.PROTOCOL, text))
    yield "handshake", f"{hertz / 1e6:g} MHz, {client.hello.capacity} bytes of free RAM"
    before = link.samples
    answers = list(client.calls([request(client)] * CALLS))
    if any(a.output != MESSAGE for a in answers):
        raise DeviceError(Failure(Reason.WRONG_OUTPUT, "nocrypt copies its message, and the board does not"))
    yield "echo", f"{CALLS} x {len(MESSAGE)} bytes"
    samples = (link.samples - before) / CALLS
    yield "edges", f"{CALLS} pulses of {samples / station.instrument.samplerate * 1e6:.2f} µs"
