"""``steelyard boards check``: boards, end to end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from threading import Event

from ... import building, device, sources
from ... import lab as stage
from ...lab.proof import MESSAGE
from ...model.call import DeviceError, Op
from ...pipeline import MAX_CYCLES
from ...publish.sheet import plain
from .. import options
from ..console import stderr
from ..options import command
from ..stations import Named, lab_option, named, stations


@command(Named, named, lab_option, options.tables)
def verb(ask: Named) -> int:
    """Check boards end to end, all by default.

    Each is flashed with a program that copies messages and waits, shakes hands, and copies a message; its edges are
    counted, its meter is read, and its clock is measured: what is found is kept for runs, unless lab.toml has a
    clock_ppm. What fails is tried again, as runs are.
    """
    lines: list[tuple[str, ...]] = []
    wrong = False
    chosen = stations(ask.names, ask.lab, every=True)
    try:
        for station in chosen:
            found, failed = _tried(station)
            lines += found
            wrong |= failed
            if len(chosen) > 1:  # a board takes a while
                ended = f"does not work: {found[-1][-1]}" if failed else "works"
                stderr().print(f"{station.board.title} {ended}", soft_wrap=True, markup=False)
    finally:
        if lines:  # whatever ended it, what was found out is shown
            ask.out.give([plain("", "check", ("board", "part", "status", "what was found"), lines)])
    return int(wrong)


def _tried(station: stage.Station) -> tuple[list[tuple[str, ...]], bool]:
    """What to say of a board, and whether it does not work after as many attempts as a run has. What lacks a plug from
    the start has no second one."""
    title, here = station.board.title, station.host is None
    complete = not here or not list(stage.missing(station))
    again: list[tuple[str, ...]] = []
    for attempt in count(1):
        lines: list[tuple[str, ...]] = []
        try:
            for step, found in _checked(station, attempt):
                lines.append((title, step, "works", found))
            stage.works(station.board)
            return again + lines, False
        except DeviceError as e:
            reason, text = str(e.failure.reason), e.failure.detail
            if complete and stage.again(e.failure, attempt):
                again.append((title, reason, "tried again", text))
                if here:
                    stage.returned(station.board.port, Event())
                continue
            lines.append((title, reason, "does not work", f"{text}; {e.failure.next_action}"))
            if here:
                lines += [(title, "plugs", "does not work", what) for what in stage.missing(station)]
            return again + lines, True
    raise AssertionError("unreachable")


def _checked(station: stage.Station, attempt: int) -> Iterator[tuple[str, str]]:
    """The parts of a board that work, in order; :class:`DeviceError` at the first that does not."""
    delay = sources.discover(stage.DELAY).implementations[0]
    image = building.built(delay, station.target).images["both"]
    with stage.opened(station, image, MAX_CYCLES, Event(), stage.Purpose("boards check", attempt)) as link:
        yield "flash", f"by {station.flasher.program}"
        client = device.Client(link, compares=False)  # clock_ppm may be wrong, and is found out below
        asked = client.hello.zeros(Op.ENCRYPT, MESSAGE)
        yield from stage.proved(station, link, client)
        if link.fills_ram:
            yield "RAM", f"{station.target.chip.ram.size} bytes filled and dumped, {client.untouched()} in a row unused"
        if station.meter is not None:
            yield "meter", stage.look(link, client, asked, MESSAGE)
        if client.hello.counter_bits:
            yield "clock", _clock(station, *stage.clock(station, client))


def _clock(station: stage.Station, ppm: float, within: int, holds: bool) -> str:
    """What was found out about a board's clock. It is kept unless ``lab.toml`` has a word on it, which wins."""
    about = f"clock_ppm = {ppm:.0f}, within {within}"
    if station.host is not None:
        return about if holds else f"{about}, not {station.clock_ppm:g}: boards check at {station.host.name} keeps it"
    if station.board.clock_ppm is None:
        stage.keep_clock(station, ppm, within)
        return f"{about}: kept, with the date"
    if holds:
        return f"clock_ppm = {ppm:g} holds, within {within}"
    return f"{about}; lab.toml says {station.board.clock_ppm:g}, which wins"
