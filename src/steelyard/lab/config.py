"""What hangs on this machine, as the user's ``lab.toml`` says it: boards, and the instruments that look at them.

Resources stand in ``lab.toml``; how to use them in ``flashers/*.toml`` beside this file, of which a user's
``lab.toml`` can hold more. A board names each by its name and says nothing about it.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path

from msgspec import field

from ..model import paths, toml
from ..model.errors import UserError, cut, unknown
from ..model.target import Target, load_target
from . import arguments, clocks
from .arguments import BOOT_PORT, PROBE
from .metering import Meter, Metered, metered

FLASHERS = Path(__file__).parent / "flashers"
#: where udev names adapters by what they say of themselves
BY_ID = Path("/dev/serial/by-id")
#: commands of virtual probes, which say where they listen
ST_LINK, BITBANG = "st-link backend tcp PORT", "remote_bitbang port PORT"
_LISTENS = re.compile(r"(st-link backend tcp |remote_bitbang port |127\.0\.0\.1:)(\d{1,5})")


class FlashedChip(toml.Table, frozen=True, kw_only=True):
    """A chip that a flasher knows: its signature in hexadecimal and the bytes of flash that its boot loader takes;
    OpenOCD's ``script`` for it, and the command that lets it ``go`` after a reset which it may have left already; the
    ``name`` that the flasher has for it where that is another than the target's, the
    address in its flash that the image ``start``s at, and the ``image`` that it takes where that is another than the
    flasher's. ``loads`` is the address of the memory that its boot loader puts code into, where it runs no other."""

    name: str = ""
    start: int = 0
    loads: int | None = None
    image: str = ""
    signature: str = ""
    loader_bytes: int = 0
    script: str = ""
    go: str = "resume"


class Leave(toml.Table, frozen=True, kw_only=True):
    """What a boot loader is told, in hexadecimal: ``sync`` until it is there, then ``go``, by which it hands over at
    once. Each has the same ``answer``."""

    sync: str
    go: str
    answer: str


class Flasher(toml.Table, frozen=True, kw_only=True):
    """A program that puts an image into a board's flash, or compares it with what is there.

    ``write`` and ``verify`` are its arguments; ``{chip}`` is the chip's name as the flasher or the target has it;
    ``{port}``, ``{baud}``, ``{image}``, ``{script}`` and ``{start}`` speak for themselves; ``{boot_port}`` is that of
    a boot loader with one of its own; ``{mode}`` is 8e1, or 8n1 on
    a virtual board, whose port has no parity; ``{probe}`` is the board's debug probe. ``image`` is the kind of file
    that it takes (``KINDS`` in ``lab/image.py``); ``write_hex`` are the arguments for Intel HEX, of those that take it
    too, and ``write_bin`` those for bytes, which begin at ``{base}``. It gets ``seconds``; ``package`` is the command
    that installs it.

    A board restarts when its port is opened, or by a pulse of the control line that ``resets`` names. After that its
    boot loader has the line for ``boot_seconds``, unless it can be told to ``leave``. One that ``touches`` needs to be
    called, see :mod:`.touch`. ``virtual`` names who plays that boot loader on a virtual board, whose port has no
    control lines; a program in Python that ends where there are none ``wants_lines``.

    Where it works through a debug probe, ``{probe}`` stands for ``probe``, in which ``{interface}`` is the probe's, and
    ``probe_command`` for each ``{command}`` of the probe. ``restart`` restarts the chip, ``fill`` does so with
    ``{file}`` in its RAM of ``{size}`` bytes at ``{base}``, which is read back into ``{file}`` before the chip
    ``{go}``es, and ``dump`` reads that RAM into ``{file}``; afterwards the chip goes on.
    """

    name: str = ""
    title: str
    program: str
    package: str = ""
    image: str
    baud: int
    seconds: float = 120.0
    write: tuple[str, ...]
    write_hex: tuple[str, ...] = ()
    write_bin: tuple[str, ...] = ()
    verify: tuple[str, ...]
    boot_seconds: float = 0.0
    leave: Leave | None = None
    resets: str = ""
    touches: bool = False
    wants_lines: bool = False
    virtual: str = ""
    probe: tuple[str, ...] = ()
    probe_command: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    fill: tuple[str, ...] = ()
    dump: tuple[str, ...] = ()
    chips: dict[str, FlashedChip]

    def known(self, target: Target) -> FlashedChip | None:
        """What it knows of the target's chip; none where it programs another, or runs no code that lies there."""
        chip = self.chips.get(target.chip_name)
        return chip if chip and chip.loads in (None, target.chip.flash.base) else None

    @property
    def needs_probe(self) -> bool:
        """Whether it reaches the chip through the board's debug probe."""
        return PROBE in self.write

    @property
    def needs_boot_port(self) -> bool:
        """Whether the boot loader has a port of its own."""
        return BOOT_PORT in self.write

    def check_arguments(self, where: str) -> None:
        """:class:`UserError`, from ``where`` its table is, for what cannot be spelt out."""
        try:
            for key in arguments.KNOWN:
                arguments.check(key, getattr(self, key))
        except UserError as e:
            raise UserError(f"{where}: {e}") from None


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
        found = [int(m[2]) for c in self.commands if (m := _LISTENS.fullmatch(c))]
        if len(found) != 1 or not 0 < found[0] < 65536:
            text = f"a virtual one needs the command {ST_LINK!r} or {BITBANG!r}, or for mspdebug 127.0.0.1:PORT"
            raise UserError(f"probe {self.name}: {text}")
        return "127.0.0.1", found[0]

    @property
    def bitbang(self) -> bool:
        """Whether it moves the pins of JTAG one by one."""
        return any((m := _LISTENS.fullmatch(c)) and m[1] == BITBANG.removesuffix("PORT") for c in self.commands)


class Instrument(toml.Table, frozen=True, kw_only=True):
    """A logic analyzer that sigrok knows: ``driver`` as ``sigrok-cli --driver`` takes it, samples in a second, and the
    names of its channels as sigrok has them, in any order. A ``virtual`` one listens where its driver says. One of
    another machine is sampled there by ``steelyard boards analyzer``, which listens ``at`` a host and port."""

    name: str = ""
    driver: str
    samplerate: int
    channels: tuple[str, ...]
    at: str = ""
    virtual: bool = False

    @property
    def clock(self) -> str:
        """What counts a pulse's time, for the record."""
        kind = self.driver.partition(":")[0]
        return f"sigrok {kind} {self.samplerate / 1e6:g} MHz"

    @property
    def place(self) -> tuple[str, int]:
        """The host and port that it is ``at``; :class:`UserError` when that is none."""
        return host_and_port(self.at)

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


class Host(toml.Table, frozen=True, kw_only=True):
    """Another machine that has boards: ``ssh`` is what ssh calls it, ``command`` its Steelyard, and ``folder`` where
    its ``lab.toml`` is, from its user's home."""

    name: str = ""
    ssh: str
    command: str = "steelyard"
    folder: str = "."


class Board(toml.Table, frozen=True, kw_only=True):
    """A board: which target it is, its serial port, who flashes it, the analyzer's channel at its trigger pin, and the
    meter in its supply, if any.

    Where ``baud`` is 0 it is the target's, and the line goes on at the target's ``fast_baud`` if it can.
    ``clock_ppm`` is how much faster than the target's its own clock runs by the analyzer's time, in parts per million;
    where nothing is said it is what was measured last (:mod:`.clocks`). The clock of a virtual board has the error
    ``clock_error_ppm``. ``probe`` is the debug probe at the chip, by which RAM is looked at. A ``virtual`` board is our
    simulated chip, which ``steelyard boards virtual`` plays.

    A board at another ``host`` has nothing of this but its target: all else is in the ``lab.toml`` there, where it is
    called ``named``.

    ``boot_port`` is that of a boot loader with a port of its own, there while it runs, if not longer.

    ``reset`` is what restarts the board where that is not what its flasher says (:attr:`Flasher.resets`): a control
    line of the port, or a command. Where it is said of a virtual board, opening its port does not restart that.
    """

    name: str = ""
    target: str
    port: Path = Path()
    flasher: str = ""
    analyzer: str = ""
    channel: str = ""
    clock_ppm: float | None = None
    clock_error_ppm: float = 0.0
    baud: int = 0
    boot_port: Path = Path()
    reset: str | tuple[str, ...] = ""
    probe: str = ""
    meter: str = ""
    virtual: bool = False
    host: str = ""
    named: str = ""

    @property
    def reset_pin(self) -> Path:
        """What the reset pin of a virtual board is: a file that resets it by being there."""
        return self.port.with_name(f"{self.port.name}.reset")

    @property
    def title(self) -> str:
        """Its name, and where it is if that is not here."""
        return f"{self.name} at {self.host}" if self.host else self.name

    @property
    def place(self) -> str:
        """Where it is, whatever is plugged in there: its port as ``lab.toml`` has it, or its name at its host."""
        if self.host:
            return f"{self.named} at {self.host}"
        return str(Path(os.path.realpath(self.port.parent)) / self.port.name)

    @property
    def files(self) -> Path:
        """The folder of ``STEELYARD_HOME`` with all that is kept of it. A board of the same name at another place, in
        this lab or in another one, has another folder."""
        digest = hashlib.sha256(self.place.encode(errors="surrogateescape")).hexdigest()
        return paths.home() / "lab" / f"{self.name}-{digest[:8]}"

    def kept_clock(self, instrument: Instrument, lab: Path) -> tuple[Path, tuple[str, ...], str]:
        """The file of its measured clock; what tells it and the ``instrument`` of the file ``lab`` from all others, as
        far as that knows them; and its adapter."""
        its = (self.target, f"{self.clock_error_ppm:g}")
        named = (instrument.name, instrument.driver, instrument.at, instrument.clock)
        return self.files / "clock", (str(lab), *its, *named), self._adapter

    @property
    def plugged(self) -> frozenset[str]:
        """What tells what its port leads to from all that had or gets that port: lasting names, and its device since it
        came, which is all that a pseudo-terminal has. Empty while nothing is plugged in that has a lasting name."""
        names = set(self._lasting)
        with suppress(OSError):
            if (device := self.device) is not None:
                there = device.stat()
                names.add(f"{device} {there.st_ino} {there.st_ctime_ns}")
        return frozenset(names)

    @property
    def _adapter(self) -> str:
        """The lasting name of what its port leads to, for another one may have the port tomorrow; the port where there
        is none. Empty while nothing is plugged in."""
        return next(iter(self._lasting), self.place if self.device else "")

    @property
    def _lasting(self) -> list[str]:
        """Lasting names of what its port leads to, first the port where it is one, which it stays while nothing is
        plugged in."""
        names = [self.place] if self.port.parent == BY_ID else []
        with suppress(OSError):
            if (device := self.device) is not None:
                names += [str(n) for n in sorted(BY_ID.iterdir()) if os.path.realpath(n) == str(device)]
        return names

    @property
    def device(self) -> Path | None:
        """What its port leads to just now; None while nothing is plugged in, and at another host."""
        with suppress(OSError):
            return None if self.host else Path(os.path.realpath(self.port, strict=True))
        return None


class Lab(toml.Table, frozen=True, kw_only=True):
    """All of it, as ``file`` says. ``speed`` is how much faster than the wall's the time of virtual boards goes."""

    folder: Path
    file: Path = Path()
    boards: dict[str, Board]
    instruments: dict[str, Instrument] = field(default_factory=dict)
    flashers: dict[str, Flasher] = field(default_factory=dict)
    probes: dict[str, Probe] = field(default_factory=dict)
    meters: dict[str, Meter] = field(default_factory=dict)
    hosts: dict[str, Host] = field(default_factory=dict)
    speed: float = 1.0

    def named(self, name: str) -> Board:
        """The board of that name, wherever it is; :class:`UserError` with a suggestion."""
        if name not in self.boards:
            raise unknown("board", name, self.boards)
        return self.boards[name]

    def host(self, board: Board) -> Host:
        """Where a board is that is not here: a table of hosts, or what ssh knows by that name."""
        return self.hosts.get(board.host) or Host(name=board.host, ssh=board.host)

    def only(self, name: str) -> Lab:
        """The board of that name, and what it names, with the clock that it has as far as anybody knows."""
        board = self.named(name)
        board = board.but(clock_ppm=self.board(name).clock_ppm)
        return self.but(
            boards={name: board},
            instruments={board.analyzer: self.instruments[board.analyzer]},
            flashers={board.flasher: self.flashers[board.flasher]},
            probes={board.probe: self.probes[board.probe]} if board.probe else {},
            meters={board.meter: self.meters[board.meter]} if board.meter else {},
            hosts={},
        )

    def board(self, name: str) -> Station:
        """The board of that name with all that belongs to it, where it is at this machine; :class:`UserError` as
        above."""
        board = self.named(name)
        if board.host:
            raise UserError(f"{name}: is at {board.host}, and not at this machine")
        target, fast_baud = load_target(board.target), 0
        if not board.baud and target.wiring is not None:
            board, fast_baud = board.but(baud=target.wiring.baud), target.wiring.fast_baud
        instrument = self.instruments[board.analyzer]
        made = Station(
            board=board,
            described=self.file,
            fast_baud=fast_baud,
            speed=self.speed if board.virtual else 1.0,
            target=target.but(device="virtual-board" if board.virtual else "board"),
            flasher=self.flashers[board.flasher],
            instrument=instrument,
            probe=self.probes[board.probe] if board.probe else None,
            meter=metered(self.meters[board.meter]) if board.meter else None,
        )
        return made.timed()


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
    #: how much faster than its target's the board's clock is, and whose word that is unless ``lab.toml``'s
    clock_ppm: float = 0.0
    clock_origin: str = ""
    #: the ``lab.toml`` that describes it
    described: Path = Path()
    #: bits in a second at which the line goes on after a handshake at the board's baud; 0 where it stays there
    fast_baud: int = 0
    #: how much faster than the wall's its time goes, and its analyzer's
    speed: float = 1.0
    #: where it is, if that is not here, and the SHA-256 of what is known of it from there
    host: Host | None = None
    known: str = ""

    def timed(self) -> Station:
        """With the clock that the board has as far as anybody knows: it may have been plugged in, or measured, since
        this was made."""
        if self.board.host:
            return self
        if self.board.clock_ppm is not None:
            return self.but(clock_ppm=self.board.clock_ppm)
        found = clocks.kept(*self.board.kept_clock(self.instrument, self.described))
        ppm, origin = (found.ppm, found.origin) if found else (0.0, clocks.NEVER)
        return self.but(clock_ppm=ppm, clock_origin=origin)

    @property
    def clock(self) -> str:
        """What counts cycles, for the record."""
        return self.instrument.clock

    @property
    def clock_said(self) -> str:
        """How far the board's clock is off, and who says so."""
        return f"{self.clock_ppm:+g} ppm" + (f", {self.clock_origin}" if self.clock_origin else "")

    @property
    def cycles_per_sample(self) -> float:
        """Of the board's own clock, by the instrument's."""
        hertz = self.target.board_hz * (1 + self.clock_ppm / 1e6)
        return hertz / self.instrument.samplerate

    @property
    def chip(self) -> FlashedChip:
        """What the flasher knows of the board's chip."""
        known = self.flasher.known(self.target)
        assert known is not None, "the description was checked"
        return known


def host_and_port(text: str) -> tuple[str, int]:
    """``HOST:PORT``, taken apart; :class:`UserError` when it is not that."""
    host, _, port = text.rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not host or not re.fullmatch(r"[0-9]{1,5}", port) or not int(port) < 65536:
        raise UserError(f"{cut(text)!r} is not HOST:PORT, such as bench.local:7450")
    return host, int(port)


def flashers() -> dict[str, Flasher]:
    """Those of this folder, by name."""
    found = {f.stem: toml.load(f, Flasher, {"name": f.stem}) for f in sorted(FLASHERS.glob("*.toml"))}
    for name, flasher in found.items():
        flasher.check_arguments(f"flashers/{name}.toml")
    return found
