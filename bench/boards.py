"""A virtual lab at the wall's pace, through avrdude, OpenOCD and sigrok-cli: is the line the limit, is no pulse lost?

Its boards' lines take as long as they would on silicon, so the figures say what the host makes of them: the share of
the time in which a byte is on the line, of that which the chip leaves when it works.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import Any
from unittest import mock

from msgspec.structs import replace

from steelyard import _native, building, device, lab
from steelyard.cli.select import bundled
from steelyard.device.client import encode
from steelyard.device.frame import HEAD, RUN, RUN_ANSWER, TAIL, Decoder
from steelyard.device.frame import encode as encode_frame
from steelyard.lab.virtual import played
from steelyard.model.call import CallResult, Op, Request
from steelyard.model.target import Target
from steelyard.model.workload import workload
from steelyard.pipeline import Job, Pipeline
from steelyard.store import Store

WHAT = "asconaead128/fast"
#: of the known answers: messages and associated data of 0 to 32 bytes
SIZES = range(33)
#: cycles between two looks at what the chip says
STEP = 200
#: what keeps a line at its first rate
SLOW = "baud = 115200"
#: first port of the analyzer and the probes
PORT = 15700
Row = tuple[str, str, str, str, str]
#: a row without its name
Cells = tuple[str, str, str, str]

INSTRUMENT = """
[instruments.la]
driver = "beaglelogic:conn=tcp-raw/127.0.0.1/{port}:logic_channels=8"
samplerate = 24_000_000
channels = {channels}
virtual = true
"""
BOARD = """
[boards.{target}-{number}]
target = "{target}"
port = "ports/{number}"
flasher = "{flasher}"
analyzer = "la"
channel = "{channel}"
clock_ppm = 0
{baud}
virtual = true
"""
PROBE = """
probe = "probe-{number}"
[probes.probe-{number}]
interface = "interface/stlink-dap.cfg"
commands = ["st-link backend tcp {port}", "transport select dapdirect_swd"]
virtual = true
"""
CHANNELS = ["P8_45", "P8_46", "P8_43", "P8_44", "P8_41", "P8_42", "P8_39", "P8_40"]


@dataclass(frozen=True)
class Kept:
    """What a board did: seconds of the wall, of bits on its line, and of work from the last byte of a request to the
    first of its answer; samples by which a pulse is off at the most; pulses."""

    wall: float
    line: float
    work: float
    off: float
    pulses: int


class Labs:
    """Labs of some boards that all make the same calls at once, each of them once, when a row first asks for it."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self.folder, self.say = folder, say

    @cached_property
    def one(self) -> Kept:
        """An uno whose line stays at its first rate."""
        return self._kept("one", "uno", baud=SLOW)[0]

    @cached_property
    def four(self) -> list[Kept]:
        """Four boards with such lines."""
        return self._kept("four", "uno", "uno", "bluepill", "nucleo-f746zg", baud=SLOW)

    @cached_property
    def fast(self) -> list[Kept]:
        """Two boards whose lines go on at their second rate."""
        return self._kept("fast", "uno", "bluepill")

    def _kept(self, name: str, *targets: str, baud: str = "") -> list[Kept]:
        self.say(f"virtual {', '.join(targets)}: {3 * len(SIZES) ** 2} calls each, in real time")
        return _kept(_lab(self.folder / name, targets, baud))


def boards(folder: Path, say: Callable[[str], None], why: Callable[[Exception], str]) -> Iterator[Row]:
    """The rows of a lab of one board, and one of four. ``say`` hears what goes on, ``why`` makes a cell of an error."""
    labs = Labs(folder, say)
    for name, row in ROWS.items():
        try:
            yield (name, *row(labs))
        except Exception as e:  # a row as any other
            yield name, why(e), "-", "-", "-"


def _busy(labs: Labs) -> Cells:
    one = labs.one
    spent = f"{one.line:.1f} s on the line, {one.work:.1f} s of work"
    return f"{one.wall:.1f} s", spent, f"{100 * one.line / (one.wall - one.work):.0f} % of the rest busy", "90 %"


def _faster(labs: Labs) -> Cells:
    one, (fast, pill) = labs.one, labs.fast
    spent = f"{fast.line:.1f} s on the line, {fast.work:.1f} s of work"
    return f"{fast.wall:.1f} s, a bluepill {pill.wall:.1f} s", spent, f"{one.wall / fast.wall:.1f} times as fast", "-"


def _together(labs: Labs) -> Cells:
    one, slowest = labs.one.wall, max(k.wall for k in labs.four)
    return f"{slowest:.1f} s", f"one: {one:.1f} s", f"{slowest / one:.2f}x", "1"


def _seen(labs: Labs) -> Cells:
    pulses, off = sum(k.pulses for k in labs.four), max(k.off for k in labs.four)
    return (
        f"{pulses}, none lost, all right",
        f"simulator: {off:.2f} samples off at most",
        "-",
        "1 sample, 10 000 pulses",
    )


def _campaign(labs: Labs) -> Cells:
    labs.say(f"a run of {WHAT} on a virtual uno, in real time")
    whole, on, work = _whole(_lab(labs.folder / "whole", ("uno",), SLOW), labs.folder)
    left = whole - work - on.flash
    spent = f"{on.line:.1f} s on the line, {work:.1f} s of work, {on.flash:.1f} s of flashing; "
    spent += f"{on.restarts:.1f} s in {on.restarted} restarts"
    busy = f"{100 * on.line / left:.0f} % of the rest busy, {100 * on.line / whole:.0f} % of all"
    return f"{whole:.1f} s", spent, busy, "90 %"


#: what each row is about, and what makes the rest of it
ROWS: dict[str, Callable[[Labs], Cells]] = {
    f"{WHAT} on a virtual uno, 1089 sizes encrypted, decrypted, refused: 115200 baud, real time": _busy,
    "the same on a line that goes on at 1 Mbaud": _faster,
    "the same at 115200 baud on four boards at once": _together,
    "their vectors and pulses, through avrdude, OpenOCD and sigrok-cli": _seen,
    f"a whole run of {WHAT}, 115200 baud: all checks, default workload, repeats": _campaign,
}


def _whole(there: lab.Lab, folder: Path) -> tuple[float, lab.link.Spent, float]:
    """Seconds of a whole run of ``WHAT`` on the only board, where they went, and those in which the chip worked."""
    [station] = map(there.board, there.boards)
    implementation = next(i for i in bundled()[0] if i.label == WHAT)
    job = Job(implementation, station.target, ("-O3",), workload("default"), on=(station,))
    links: list[lab.link.Spent] = []
    asked = bytearray()
    made, exchange = lab.link.BoardLink.__init__, lab.link.BoardLink.exchange

    def init(self: lab.link.BoardLink, *arguments: Any) -> None:
        asked.clear()
        links.append(lab.link.Spent())
        made(self, *arguments)
        links[-1] = self.spent

    def exchanged(self: lab.link.BoardLink, data: bytes) -> bytes:
        asked.extend(data)
        return exchange(self, data)

    with (
        played(there),
        closing(Store.open(folder / "whole.db")) as store,
        mock.patch.object(lab.BoardLink, "__init__", init),
        mock.patch.object(lab.BoardLink, "exchange", exchanged),
    ):
        pipeline = Pipeline(store, threads=1)
        assert pipeline.weigh(job.baseline).ok
        start = time.monotonic()
        assert pipeline.weigh(job).ok
        whole = time.monotonic() - start
    image = building.built(implementation, station.target, job.flags).images["both"]
    requests = [encode_frame(*f) for f in Decoder().feed(bytes(asked)) if f[0] == RUN]
    return whole, links[-1], _at_work(station.target, image, requests)


def _lab(folder: Path, targets: Sequence[str], baud: str = "") -> lab.Lab:
    text = INSTRUMENT.format(port=PORT, channels=CHANNELS)
    for number, target in enumerate(targets):
        probed = target != "uno"
        flasher = "openocd-probe" if probed else "avrdude-arduino"
        text += BOARD.format(target=target, number=number, flasher=flasher, channel=CHANNELS[number], baud=baud)
        text += PROBE.format(number=number, port=PORT + 1 + number) if probed else ""
    folder.mkdir(exist_ok=True)  # a row may try again
    (folder / "lab.toml").write_text(text)
    return lab.load(folder / "lab.toml")


def _kept(there: lab.Lab) -> list[Kept]:
    """What each board did with the same calls, all at once."""
    stations = [there.board(name) for name in there.boards]
    work = {s.target.name: _work(s.target) for s in stations}
    with played(there), ThreadPoolExecutor(len(stations)) as threads, ExitStack() as stack:

        def client(station: lab.Station) -> device.Client:
            image, requests, _ = work[station.target.name]
            made = device.Client(stack.enter_context(lab.opened(station, image, 10**8, Event())))
            made.call(requests[0])  # and empty ones before it
            return made

        clients = list(threads.map(client, stations))
        return list(threads.map(lambda s, c: _one(s, c, *work[s.target.name]), stations, clients))


def _one(
    station: lab.Station, client: device.Client, image: Path, requests: list[Request], expected: list[CallResult]
) -> Kept:
    """What the board did."""
    start = time.monotonic()
    answers = list(client.calls(requests))
    wall = time.monotonic() - start
    pairs = list(zip(answers, expected, strict=True))
    assert all((a.code, a.output) == (e.code, e.output) for a, e in pairs)
    most = max(abs(a.pulse.cycles - e.pulse.cycles) for a, e in pairs)
    off = max(most - 0.5, 0.0) / station.cycles_per_sample  # cycles are whole
    sent = sum(len(encode(r)) for r in requests)
    came = sum(HEAD + RUN_ANSWER.size + len(a.output) + TAIL for a in answers)
    line = (sent + came) * 10 / (station.fast_baud or station.board.baud)
    frames = [encode(replace(r, paint=True)) for r in requests]
    return Kept(wall, line, _at_work(station.target, image, frames), off, len(answers))


def _at_work(target: Target, image: Path, frames: list[bytes]) -> float:
    """Seconds from the last byte of each request to the first of its answer, simulated."""
    chip = _native.Simulator(target.chip)
    chip.load(image.read_bytes())
    chip.run(b"", 10**7)
    cycles = 0
    for data in frames:
        chip.run(data[:-1], 10**8)
        start, last = chip.cycles, data[-1:]
        while not chip.pending():
            chip.run(last, STEP)
            last = b""
        cycles += chip.cycles - start
        chip.run(b"", 10**8)
        chip.pending()
    return cycles / target.board_hz


def _work(target: Target) -> tuple[Path, list[Request], list[CallResult]]:
    """The image, calls that encrypt, decrypt and refuse, and the simulator's answers to them."""
    implementation = next(i for i in bundled()[0] if i.label == WHAT)
    toolchain = building.identify(target.toolchain)
    assert toolchain is not None, building.why_not(target.toolchain)
    image = building.build(implementation, target, toolchain, ("-O3",)).images["both"]
    client = device.simulated(target, image)
    key, some = bytes(range(16)), bytes(range(256))
    encrypts = [Request(Op.ENCRYPT, key, key, some[:a], some[:m]) for m in SIZES for a in SIZES]
    texts = [answer.output for answer in client.calls(encrypts)]
    decrypts = [Request(Op.DECRYPT, key, key, e.ad, t) for e, t in zip(encrypts, texts, strict=True)]
    refused = [replace(d, data=d.data[:-1] + bytes((d.data[-1] ^ 1,))) for d in decrypts]
    requests = encrypts + decrypts + refused
    return image, requests, list(client.calls(requests))
