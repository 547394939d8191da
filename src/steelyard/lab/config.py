"""What hangs on this machine, as the user's ``lab.toml`` says it: boards, and the instruments that look at them.

Resources stand in ``lab.toml``; how to use them in ``flashers/*.toml`` beside this file, of which a user's
``lab.toml`` can hold more. A board names each by its name and says nothing about it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from string import Formatter

from msgspec import field

from ..model import paths, toml
from ..model.errors import UserError, cut, unknown
from ..model.target import Target, load_target, target_names
from .image import KINDS
from .metering import Meter, Metered, kinds, metered

FLASHERS = Path(__file__).parent / "flashers"
#: what a name in lab.toml may be: it becomes a part of files' names
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_PLACEHOLDERS = ("chip", "port", "baud", "image", "script", "start", "mode")
#: what stands for more in the arguments that look at RAM, and in those that describe the probe
_MEMORY, _PROBED = ("script", "file", "base", "size"), ("interface", "command")
#: commands of virtual probes, which say where they listen
_LISTENS = re.compile(r"(?:st-link backend tcp |127\.0\.0\.1:)(\d{1,5})")
#: control lines of a serial port, and none
LINES = ("rts", "dtr", "")
#: an argument that stands for all that tells the flasher which probe it has
PROBE = "{probe}"


class FlashedChip(toml.Table, frozen=True, kw_only=True):
    """A chip that a flasher knows: its signature in hexadecimal and the bytes of flash that its boot loader takes;
    OpenOCD's ``script`` for it; the ``name`` that the flasher has for it where that is another than the target's, the
    address in its flash that the image ``start``s at, and the ``image`` that it takes where that is another than the
    flasher's."""

    name: str = ""
    start: int = 0
    image: str = ""
    signature: str = ""
    loader_bytes: int = 0
    script: str = ""


class Flasher(toml.Table, frozen=True, kw_only=True):
    """A program that puts an image into a board's flash, or compares it with what is there.

    ``write`` and ``verify`` are its arguments; ``{chip}`` is the chip's name as the flasher or the target has it;
    ``{port}``, ``{baud}``, ``{image}``, ``{script}`` and ``{start}`` speak for themselves; ``{mode}`` is 8e1, or 8n1 on
    a virtual board, whose port has no parity; ``{probe}`` is the board's debug probe. ``image`` is the kind of file
    that it takes (``KINDS`` in ``lab/image.py``). It gets ``seconds``; ``package`` is the command that installs it.

    A board restarts when its port is opened, or by a pulse of the control line that ``resets`` names. After that its
    boot loader has the line for ``boot_seconds``. ``virtual`` names who plays that boot loader on a virtual board. The
    port of a virtual board has no control lines; a program in Python that ends where there are none ``wants_lines``.

    Where it works through a debug probe, ``{probe}`` stands for ``probe``, in which ``{interface}`` is the probe's, and
    ``probe_command`` for each ``{command}`` of the probe. ``restart`` restarts the chip, ``fill`` does so with
    ``{file}`` in its RAM of ``{size}`` bytes at ``{base}``, and ``dump`` reads that into ``{file}``; afterwards the
    chip goes on.
    """

    name: str = ""
    title: str
    program: str
    package: str = ""
    image: str
    baud: int
    seconds: float = 120.0
    write: tuple[str, ...]
    verify: tuple[str, ...]
    boot_seconds: float = 0.0
    resets: str = ""
    wants_lines: bool = False
    virtual: str = ""
    probe: tuple[str, ...] = ()
    probe_command: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    fill: tuple[str, ...] = ()
    dump: tuple[str, ...] = ()
    chips: dict[str, FlashedChip]

    @property
    def needs_probe(self) -> bool:
        """Whether it reaches the chip through the board's debug probe."""
        return PROBE in self.write


class Probe(toml.Table, frozen=True, kw_only=True):
    """A debug probe that OpenOCD or mspdebug knows: its script or driver for it, and commands or options that come
    after it, such as the serial number that tells two of them apart. A ``virtual`` one listens where its commands
    say."""

    name: str = ""
    interface: str
    commands: tuple[str, ...] = ()
    virtual: bool = False

    def arguments(self, flasher: Flasher) -> tuple[str, ...]:
        """The flasher's, up to what is about the chip."""
        first = (a.format(interface=self.interface) for a in flasher.probe)
        return (*first, *(a.format(command=c) for c in self.commands for a in flasher.probe_command))

    @property
    def address(self) -> tuple[str, int]:
        """Where a virtual one listens; :class:`UserError` when its commands do not say."""
        found = [int(m[1]) for c in self.commands if (m := _LISTENS.fullmatch(c))]
        if len(found) != 1 or not 0 < found[0] < 65536:
            text = "a virtual one needs the command 'st-link backend tcp PORT', or for mspdebug 127.0.0.1:PORT"
            raise UserError(f"probe {self.name}: {text}")
        return "127.0.0.1", found[0]


class Instrument(toml.Table, frozen=True, kw_only=True):
    """A logic analyzer that sigrok knows: ``driver`` as ``sigrok-cli --driver`` takes it, samples in a second, and the
    names of its channels as sigrok has them, the lowest bit of a sample first. A ``virtual`` one listens where its
    driver says."""

    name: str = ""
    driver: str
    samplerate: int
    channels: tuple[str, ...]
    virtual: bool = False

    @property
    def clock(self) -> str:
        """What counts a pulse's time, for the record."""
        kind = self.driver.partition(":")[0]
        return f"sigrok {kind} {self.samplerate / 1e6:g} MHz"

    @property
    def address(self) -> tuple[str, int]:
        """Where a virtual one listens; :class:`UserError` when its driver names no place on this machine."""
        found = re.search(r"conn=tcp-raw/(127\.0\.0\.1|localhost)/(\d{1,5})(?::|$)", self.driver)
        if not found or not self.driver.startswith("beaglelogic:") or int(found[2]) > 65535:
            raise UserError(
                f"instrument {self.name}: a virtual analyzer needs a driver such as "
                "beaglelogic:conn=tcp-raw/127.0.0.1/5555:logic_channels=8"
            )
        return "127.0.0.1", int(found[2])


class Board(toml.Table, frozen=True, kw_only=True):
    """A board: which target it is, its serial port, who flashes it, the analyzer's channel at its trigger pin, and the
    meter in its supply, if any.

    ``baud`` is the target's where it is 0. ``clock_ppm`` is how much faster than the target's nominal clock its own
    runs by the analyzer's time, in parts per million. ``probe`` is the debug probe at the chip, by which RAM is looked
    at. A ``virtual`` board is our simulated chip, which ``steelyard boards virtual`` plays.
    """

    name: str = ""
    target: str
    port: Path
    flasher: str
    analyzer: str
    channel: str
    clock_ppm: float
    baud: int = 0
    probe: str = ""
    meter: str = ""
    virtual: bool = False


class Lab(toml.Table, frozen=True, kw_only=True):
    """All of it. ``speed`` is how much faster than the wall's the time of virtual boards goes."""

    folder: Path
    boards: dict[str, Board]
    instruments: dict[str, Instrument]
    flashers: dict[str, Flasher] = field(default_factory=dict)
    probes: dict[str, Probe] = field(default_factory=dict)
    meters: dict[str, Meter] = field(default_factory=dict)
    speed: float = 1.0

    def board(self, name: str) -> Station:
        """The board of that name with all that belongs to it; :class:`UserError` with a suggestion."""
        if name not in self.boards:
            raise unknown("board", name, self.boards)
        board = self.boards[name]
        target = load_target(board.target)
        if not board.baud and target.wiring is not None:
            board = board.but(baud=target.wiring.baud)
        return Station(
            board=board,
            target=target.but(device="virtual-board" if board.virtual else "board"),
            flasher=self.flashers[board.flasher],
            instrument=self.instruments[board.analyzer],
            probe=self.probes[board.probe] if board.probe else None,
            meter=metered(self.meters[board.meter]) if board.meter else None,
        )


class Station(toml.Table, frozen=True, kw_only=True):
    """A board, its target, its flasher, its instrument, and its debug probe and its meter if it has them.

    The target's device tells silicon from our own chips behind the same tools: their figures are never mixed.
    """

    board: Board
    target: Target
    flasher: Flasher
    instrument: Instrument
    probe: Probe | None = None
    meter: Metered | None = None

    @property
    def clock(self) -> str:
        """What counts cycles, for the record."""
        return self.instrument.clock

    @property
    def cycles_per_sample(self) -> float:
        """Of the board's own clock, by the instrument's."""
        hertz = self.target.chip.clock_hz * (1 + self.board.clock_ppm / 1e6)
        return hertz / self.instrument.samplerate

    @property
    def chip(self) -> FlashedChip:
        """What the flasher knows of the board's chip."""
        return self.flasher.chips[self.target.chip_name]


def flashers() -> dict[str, Flasher]:
    """Those of this folder, by name."""
    return {f.stem: toml.load(f, Flasher, {"name": f.stem}) for f in sorted(FLASHERS.glob("*.toml"))}


def load(file: Path) -> Lab:
    """The lab of ``file``; :class:`UserError` names what is wrong with it."""
    lab = toml.load(file, Lab, {"folder": file.parent})
    named = flashers() | {name: f.but(name=name) for name, f in lab.flashers.items()}
    folder = file.absolute().parent
    boards = {name: b.but(name=name, port=folder / b.port) for name, b in lab.boards.items()}
    instruments = {name: i.but(name=name) for name, i in lab.instruments.items()}
    probes = {name: p.but(name=name) for name, p in lab.probes.items()}
    meters = {name: _meter(m.but(name=name), folder) for name, m in lab.meters.items()}
    lab = lab.but(boards=boards, instruments=instruments, flashers=named, probes=probes, meters=meters)
    try:
        _check(lab)
    except UserError as e:
        raise UserError(f"{paths.short(file)}: {e}") from e
    return lab


def _meter(meter: Meter, folder: Path) -> Meter:
    """The meter with the place of its port, where that is a file."""
    kind = kinds().get(meter.driver)
    return meter.but(port=str(folder / meter.port)) if kind and kind.path and meter.port else meter


def find(file: Path | None) -> Lab:
    """The lab of the file that the user names, or of the usual one."""
    usual = Path(os.environ.get("STEELYARD_LAB") or "lab.toml")
    if file is None and not usual.exists():
        raise UserError(f"{usual}: no such file; docs/guides/lab.md says how a lab is described, --lab names another")
    return load(file or usual)


def _check(lab: Lab) -> None:
    """:class:`UserError` where names lead nowhere, or two boards share what only one can have."""
    for name in (*lab.boards, *lab.instruments, *lab.probes, *lab.meters):
        if not _NAME.fullmatch(name):
            raise UserError(f"{name[:70]!r}: names in lab.toml are letters, digits, '-', '_' and '.'")
    if "lab" in lab.boards:
        raise UserError("boards.lab: is what all boards together are called; give it another name")
    if not 0 < lab.speed <= 100:
        raise UserError("speed: write a number above 0, at most 100")
    for name, i in lab.instruments.items():
        if not 1 <= len(i.channels) <= 8 or len(set(i.channels)) != len(i.channels):
            raise UserError(f"instruments.{name}.channels: name 1 to 8 channels, each once")
        if wrong := [c for c in i.channels if not _NAME.fullmatch(c)]:
            raise UserError(f"instruments.{name}.channels: {cut(wrong[0])!r} is not a name of sigrok's, such as D0")
        if not 1000 <= i.samplerate <= 1_000_000_000:
            raise UserError(f"instruments.{name}.samplerate: write samples in a second, such as 24_000_000")
    taken: dict[object, str] = {}
    for name, m in lab.meters.items():
        metered(m)
        if m.port in taken:
            raise UserError(f"meters.{name}: has the port of {taken[m.port]}; give each its own")
        taken[m.port] = name
    for name, b in lab.boards.items():
        where = f"boards.{name}"
        named = [
            ("target", b.target, target_names()),
            ("flasher", b.flasher, lab.flashers),
            ("instrument", b.analyzer, lab.instruments),
        ]
        if b.probe:
            named.append(("probe", b.probe, lab.probes))
        if b.meter:
            named.append(("meter", b.meter, lab.meters))
        for kind, value, of in named:
            if value not in of:
                raise UserError(f"{where}: {unknown(kind, value, of)}")
        instrument, flasher, target = lab.instruments[b.analyzer], lab.flashers[b.flasher], load_target(b.target)
        if b.channel not in instrument.channels:
            raise UserError(f"{where}: {unknown('channel', b.channel, instrument.channels)}")
        if target.chip_name not in flasher.chips:
            names = ", ".join(flasher.chips)
            raise UserError(f"{where}: {b.flasher} does not program a {target.chip_name}; it knows {names}")
        if b.probe and not flasher.restart:
            raise UserError(
                f"{where}: {b.flasher} works without a debug probe; leave out probe, or name another flasher"
            )
        if flasher.needs_probe and not b.probe:
            raise UserError(f"{where}: {b.flasher} works through a debug probe; name it: probe = ...")
        if b.virtual and b.probe:
            if not lab.probes[b.probe].virtual:
                raise UserError(f"{where}: a virtual board needs a virtual probe")
            _ = lab.probes[b.probe].address
        if b.virtual and not (flasher.virtual and instrument.virtual):
            raise UserError(f"{where}: a virtual board needs a virtual instrument, and a flasher that can be played")
        if "\0" in str(b.port) or b.port.is_dir():
            raise UserError(f"{where}.port: is not a serial port; write its path, such as /dev/ttyACM0")
        # the same device may have several names; the names of virtual ones lead nowhere yet, or where they once led
        port = os.path.normpath(b.port) if b.virtual else os.path.realpath(b.port)
        for thing in (port, (b.analyzer, b.channel), *([("probe", b.probe)] if b.probe else [])):
            if thing in taken:
                raise UserError(f"{where}: has the port, channel or probe of {taken[thing]}; give each its own")
            taken[thing] = name
        if b.meter:
            _check_metered(where, lab.meters[b.meter], b, target)
            if (b.meter,) in taken:
                raise UserError(f"{where}: has the meter of {taken[b.meter,]}; a meter is in one board's supply")
            taken[b.meter,] = name
        if not abs(b.clock_ppm) <= 50_000:
            raise UserError(f"{where}.clock_ppm: is not within 50 000; a clock so far off does not hold a serial line")
        if b.baud and not 300 <= b.baud <= 10_000_000:
            raise UserError(f"{where}.baud: write the line's bits in a second, such as 115200")
    for name, f in lab.flashers.items():
        _check_flasher(f"flashers.{name}", f)


def _check_metered(where: str, meter: Meter, board: Board, target: Target) -> None:
    if board.virtual != meter.virtual:
        raise UserError(f"{where}.meter: a virtual board has a virtual meter, another one a real meter")
    if meter.virtual and target.energy is None:
        raise UserError(f"{where}.meter: {target.name} has no supply current from a data sheet that could be played")


def _check_flasher(where: str, f: Flasher) -> None:
    looks = ((*f.restart, *f.fill, *f.dump), _MEMORY)
    for arguments, known in (((*f.write, *f.verify), _PLACEHOLDERS), looks, ((*f.probe, *f.probe_command), _PROBED)):
        for argument in arguments:
            try:
                words = [word for _, word, *_ in Formatter().parse(argument) if word is not None]
            except ValueError as e:
                raise UserError(f"{where}: {cut(argument)!r}: {e}; write {{{{ and }}}} for braces") from None
            for word in words if argument != PROBE else ():
                if word not in known:
                    raise UserError(f"{where}: {unknown('placeholder', word, known)}")
    if f.resets not in LINES:
        raise UserError(f"{where}.resets: {unknown('line', f.resets, LINES)}")
    for key, value, most in (("seconds", f.seconds, 3600), ("boot_seconds", f.boot_seconds, 60)):
        if not 0 <= value <= most:
            raise UserError(f"{where}.{key}: write seconds, at most {most}")
    for kind in (f.image, *(known.image for known in f.chips.values() if known.image)):
        if kind not in KINDS:
            raise UserError(f"{where}: {unknown('image', kind, KINDS)}")
    for chip, of in f.chips.items():
        if not re.fullmatch(r"([0-9a-fA-F]{2})*", of.signature) or of.loader_bytes < 0:
            raise UserError(f"{where}.chips.{chip}: the signature is in hexadecimal, loader_bytes a number from 0")
