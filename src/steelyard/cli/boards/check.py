"""``steelyard boards check``: boards, end to end."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

from ... import building, device
from ... import lab as stage
from ...lab.proof import MESSAGE
from ...model.call import DeviceError, Op
from ...pipeline import MAX_CYCLES, nocrypt
from ...publish.sheet import plain
from .. import options
from ..options import command
from ..stations import Named, lab_option, named, stations


@command(Named, named, lab_option, options.tables)
def verb(ask: Named) -> int:
    """Check boards end to end, all by default.

    Each is flashed with nocrypt, shakes hands, and copies a message; its edges are counted, its meter is read, and its
    clock is measured: what is found is kept for runs, unless lab.toml has a clock_ppm.
    """
    lines: list[tuple[str, ...]] = []
    wrong = False
    for station in stations(ask.names, ask.lab, every=True):
        try:
            for step, found in _checked(station):
                lines.append((station.board.title, step, "works", found))
            stage.works(station.board.name)
        except DeviceError as e:
            wrong = True
            text = f"{e.failure.detail}; {e.failure.next_action}"
            lines.append((station.board.title, str(e.failure.reason), "does not work", text))
            if station.host is None:
                lines += [(station.board.title, "plugs", "does not work", what) for what in stage.missing(station)]
    ask.out.give([plain("", "check", ("board", "part", "status", "what was found"), lines)])
    return int(wrong)


def _checked(station: stage.Station) -> Iterator[tuple[str, str]]:
    """The parts of a board that work, in order; :class:`DeviceError` at the first that does not."""
    image = building.built(nocrypt("crypto_aead"), station.target).images["both"]
    with stage.opened(station, image, MAX_CYCLES, Event(), stage.Task("boards check")) as link:
        yield "flash", f"nocrypt by {station.flasher.program}"
        client = device.Client(link, compares=False)  # clock_ppm may be wrong, and is found out below
        asked = client.hello.zeros(Op.ENCRYPT, MESSAGE)
        yield from stage.proved(station, link, client)
        if link.fills_ram:
            yield "RAM", f"{station.target.chip.ram.size} bytes filled and dumped, {client.untouched()} in a row unused"
        if station.meter is not None:
            yield "meter", stage.look(link, client, asked, MESSAGE)
        if client.hello.counter_bits:
            yield "clock", _clock(station, *stage.clock(station, client))


def _clock(station: stage.Station, ppm: float, within: float, holds: bool) -> str:
    """What was found out about a board's clock. It is kept unless ``lab.toml`` has a word on it, which wins."""
    about = f"clock_ppm = {ppm:.0f}, within {within:.0f}"
    if station.host is not None:
        return about if holds else f"{about}, not {station.clock_ppm:g}: boards check at {station.host.name} keeps it"
    if station.board.clock_ppm is None:
        stage.keep_clock(station, ppm, within)
        return f"{about}: kept, with the date"
    if holds:
        return f"clock_ppm = {ppm:g} holds, within {within:.0f}"
    return f"{about}; lab.toml says {station.board.clock_ppm:g}, which wins"
