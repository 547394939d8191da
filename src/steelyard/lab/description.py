"""A ``lab.toml`` is read and checked before anything is touched."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path

from msgspec.structs import fields

from ..device import ssh
from ..device.counter import MOST
from ..model import paths, toml
from ..model.errors import UserError, cut, unknown
from ..model.target import Target, load_target, target_names
from .config import Board, Flasher, Host, Instrument, Lab, Leave, flashers
from .image import KINDS
from .metering import Meter, kinds, metered

#: what a name in lab.toml may be: it becomes a part of files' names
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
#: bytes in hexadecimal
_HEX = r"([0-9a-fA-F]{2})*"
#: bytes of a path to a serial port
_LONG = 1000
#: control lines of a serial port, and none
LINES = ("rts", "dtr", "")
#: who plays boot loaders and probes of virtual boards, as ``virtual`` of a flasher names them: modules of ``virtual/``,
#: with ``loaders`` and with ``probe``
BOOT_LOADERS = ("an3155", "avr109", "esp", "jtag2updi", "k210", "stk500")
PROBES = {"debug-port": "ports", "gdb": "gdb"}


def load(file: Path) -> Lab:
    """The lab of ``file``; :class:`UserError` names what is wrong with it."""
    lab = toml.load(file, Lab, {"folder": file.parent, "file": file.resolve()})
    named = flashers() | {name: f.but(name=name) for name, f in lab.flashers.items()}
    folder = file.absolute().parent
    boards = {name: _placed(b.but(name=name), folder) for name, b in lab.boards.items()}
    instruments = {name: i.but(name=name) for name, i in lab.instruments.items()}
    probes = {name: p.but(name=name) for name, p in lab.probes.items()}
    meters = {name: _meter(m.but(name=name), folder) for name, m in lab.meters.items()}
    hosts = {name: h.but(name=name) for name, h in lab.hosts.items()}
    lab = lab.but(boards=boards, instruments=instruments, flashers=named, probes=probes, meters=meters, hosts=hosts)
    try:
        check(lab)
    except UserError as e:
        raise UserError(f"{paths.short(file)}: {e}") from e
    return lab


def _placed(board: Board, folder: Path) -> Board:
    """The board with the place of its port, or with its name at the host that has it."""
    if board.host:
        return board.but(named=board.named or board.name)
    ports = {k: folder / port for k in ("port", "boot_port") if (port := getattr(board, k)) != Path()}
    return board.but(**ports)


def _meter(meter: Meter, folder: Path) -> Meter:
    """The meter with the place of its port, where that is a file."""
    kind = kinds().get(meter.driver)
    return meter.but(port=str(folder / meter.port)) if kind and kind.path and meter.port else meter


def find(file: Path | None) -> Lab:
    """The lab of the file that the user names, or of the usual one. Raises :class:`UserError` where there is none."""
    usual = Path(os.environ.get("STEELYARD_LAB") or "lab.toml")
    if file is None and not usual.exists():
        raise UserError(f"{usual}: no such file; docs/guides/lab.md says how a lab is described, --lab names another")
    return load(file or usual)


def check(lab: Lab) -> None:
    """:class:`UserError` where names lead nowhere, or two boards share what only one can have."""
    for name in (*lab.boards, *lab.instruments, *lab.probes, *lab.meters, *lab.hosts):
        if not _NAME.fullmatch(name):
            raise UserError(f"{name[:70]!r}: names in lab.toml are letters, digits, '-', '_' and '.'")
    if "lab" in lab.boards:
        raise UserError("boards.lab: is what all boards together are called; give it another name")
    if not 1e-3 <= lab.speed <= 100:
        raise UserError("speed: write a number from 0.001 to 100")
    taken: dict[object, str] = {}
    for name, i in lab.instruments.items():
        _check_instrument(f"instruments.{name}", i)
        if i.virtual and taken.setdefault(i.address, name) != name:
            raise UserError(f"instruments.{name}: has the TCP port of {taken[i.address]}; give each its own")
    for name, m in lab.meters.items():
        metered(m)
        if m.port in taken:
            raise UserError(f"meters.{name}: has the port of {taken[m.port]}; give each its own")
        taken[m.port] = name
    for name, h in lab.hosts.items():
        _check_host(f"hosts.{name}", h)
    for name, b in lab.boards.items():
        where = f"boards.{name}"
        if b.target not in target_names():
            raise UserError(f"{where}: {unknown('target', b.target, target_names())}")
        _check_said(where, b)
        if not b.host:
            _check_board(where, lab, b, taken)
            continue
        _check_host(f"{where}.host", lab.host(b))
        if (b.host, b.named) in taken:
            raise UserError(f"{where}: is {taken[b.host, b.named]} by another name")
        taken[b.host, b.named] = name
    for name, f in lab.flashers.items():
        _check_flasher(f"flashers.{name}", f)


def _check_instrument(where: str, i: Instrument) -> None:
    if not 1 <= len(i.channels) <= 8 or len(set(i.channels)) != len(i.channels):
        raise UserError(f"{where}.channels: name 1 to 8 channels, each once")
    if wrong := [c for c in i.channels if not _NAME.fullmatch(c)]:
        raise UserError(f"{where}.channels: {cut(wrong[0])!r} is not a name of sigrok's, such as D0")
    if not 1000 <= i.samplerate <= 1_000_000_000:
        raise UserError(f"{where}.samplerate: write samples in a second, such as 24_000_000")
    if i.virtual:
        _ = i.address
    if i.at:
        try:
            _ = i.place
        except UserError as e:
            raise UserError(f"{where}.at: {e}") from None


def _check_board(where: str, lab: Lab, b: Board, taken: dict[object, str]) -> None:
    """Whether a board at this machine and what it names fit together, and none of it is ``taken``; then it is."""
    named: tuple[tuple[str, str, Collection[str]], ...] = (
        ("flasher", b.flasher, lab.flashers),
        ("instrument", b.analyzer, lab.instruments),
        ("probe", b.probe, lab.probes),
        ("meter", b.meter, lab.meters),
    )
    for kind, value, of in named:
        if value and value not in of:  # only probe and meter may be left out, as was seen
            raise UserError(f"{where}: {unknown(kind, value, of)}")
    instrument, flasher, target = lab.instruments[b.analyzer], lab.flashers[b.flasher], load_target(b.target)
    if b.channel not in instrument.channels:
        raise UserError(f"{where}: {unknown('channel', b.channel, instrument.channels)}")
    if flasher.known(target) is None:
        names = ", ".join(flasher.chips)
        if target.chip_name in flasher.chips:
            text = f"does not run images of target {target.name}, whose code is elsewhere; name another target"
        else:
            text = f"does not program {target.chip_name}; it knows {names}"
        raise UserError(f"{where}: {b.flasher} {text}")
    if b.probe and not flasher.restart:
        raise UserError(f"{where}: {b.flasher} works without a debug probe; leave out probe, or name another flasher")
    if flasher.needs_probe and not b.probe:
        raise UserError(f"{where}: {b.flasher} works through a debug probe; name it: probe = ...")
    if b.virtual and b.probe:
        if not lab.probes[b.probe].virtual:
            raise UserError(f"{where}: a virtual board needs a virtual probe")
        _ = lab.probes[b.probe].address
    if b.virtual and not (flasher.virtual and instrument.virtual):
        raise UserError(f"{where}: a virtual board needs a virtual instrument, and a flasher that can be played")
    if flasher.needs_boot_port != (b.boot_port != Path()):
        text = "needs the port of the boot loader" if flasher.needs_boot_port else "knows no such port; leave it out"
        raise UserError(f"{where}.boot_port: {b.flasher} {text}")
    ports = [b.port, *([b.boot_port] if flasher.needs_boot_port else [])]
    for key, port in zip(("port", "boot_port"), ports, strict=False):
        if "\0" in str(port) or len(os.fsencode(port)) > _LONG or port.is_dir():
            raise UserError(f"{where}.{key}: is not a serial port; write its path, such as /dev/ttyACM0")
    # the same device may have several names; the names of virtual ones lead nowhere yet, or where they once led
    real = [os.path.normpath(p) if b.virtual else os.path.realpath(p) for p in ports]
    things: list[tuple[str, object]] = [*(("port", r) for r in real), ("channel", (b.analyzer, b.channel))]
    if b.probe:
        things.append(("probe", ("probe", b.probe)))
    if b.probe and b.virtual:
        things.append(("probe's TCP port", lab.probes[b.probe].address))
    for what, thing in things:
        if taken.get(thing) == b.name:
            raise UserError(f"{where}.boot_port: is its port; write that of the boot loader")
        if thing in taken:
            raise UserError(f"{where}: has the {what} of {taken[thing]}; give each its own")
        taken[thing] = b.name
    if isinstance(b.reset, str) and b.reset not in LINES:
        raise UserError(f"{where}.reset: {unknown('line', b.reset, LINES)} A command is a list of words")
    if not isinstance(b.reset, str) and not (b.reset and all(b.reset) and "\0" not in "".join(b.reset)):
        raise UserError(f"{where}.reset: write a command, such as ['gpioset', ...], or leave it out")
    if b.meter:
        _check_metered(where, lab.meters[b.meter], b, target)
        if (b.meter,) in taken:
            raise UserError(f"{where}: has the meter of {taken[b.meter,]}; a meter is in one board's supply")
        taken[b.meter,] = b.name
    for key, ppm in (("clock_ppm", b.clock_ppm or 0.0), ("clock_error_ppm", b.clock_error_ppm)):
        if not abs(ppm) <= MOST * 1e6:
            raise UserError(f"{where}.{key}: is not within 50 000; a clock so far off does not hold a serial line")
    if b.clock_error_ppm and not b.virtual:
        raise UserError(f"{where}.clock_error_ppm: is for virtual boards; leave it out, boards check measures this one")
    if b.baud and not 300 <= b.baud <= 10_000_000:
        raise UserError(f"{where}.baud: write the line's bits in a second, such as 115200")


#: what a board at this machine has to say, and what one at another host does not say here
_SAID = ("port", "flasher", "analyzer", "channel")
_SAID_THERE = (*_SAID, "clock_ppm", "clock_error_ppm", "baud", "reset", "boot_port", "probe", "meter", "virtual")


def _check_said(where: str, b: Board) -> None:
    """Whether a board says what it has to, and nothing that is said at its host."""
    said = {f.name for f in fields(Board) if getattr(b, f.name) != f.default}
    if b.host:
        for key in _SAID_THERE:
            if key in said:
                raise UserError(f"{where}.{key}: is said in the lab.toml of {b.host}, where the board is; leave it out")
        if not _NAME.fullmatch(b.named):
            raise UserError(f"{where}.named: {cut(b.named)!r} is not a name of a board")
        return
    for key in _SAID:
        if key not in said:
            raise UserError(f"{where}.{key}: missing; a board at another machine has a host instead")
    if "named" in said:
        raise UserError(f"{where}.named: is the name of a board at another host; name the host, or leave it out")


def _check_host(where: str, host: Host) -> None:
    if not ssh.is_host(host.ssh):
        raise UserError(f"{where}: {cut(host.ssh)!r} is not a machine; write what ssh calls it, such as me@bench")
    for text in (host.command, host.folder):
        if not text.isprintable() or not text.strip():
            raise UserError(f"{where}: write command and folder as a shell there has them, or leave them out")


def _check_metered(where: str, meter: Meter, board: Board, target: Target) -> None:
    if board.virtual != meter.virtual:
        raise UserError(f"{where}.meter: a virtual board has a virtual meter, another one a real meter")
    if meter.virtual and target.energy is None:
        raise UserError(f"{where}.meter: {target.name} has no supply current from a data sheet that could be played")


def _check_flasher(where: str, f: Flasher) -> None:
    f.check_arguments(where)
    if f.resets not in LINES:
        raise UserError(f"{where}.resets: {unknown('line', f.resets, LINES)}")
    if not 0 <= f.baud <= 10_000_000:
        raise UserError(f"{where}.baud: write the line's bits in a second, such as 115200")
    for name in fields(Leave) if f.leave else ():
        if not re.fullmatch(_HEX, getattr(f.leave, name.name)):
            raise UserError(f"{where}.leave.{name.name}: write bytes in hexadecimal, such as 3020")
    for key, value, most in (("seconds", f.seconds, 3600), ("boot_seconds", f.boot_seconds, 60)):
        if not 0 <= value <= most:
            raise UserError(f"{where}.{key}: write seconds, at most {most}")
    players: Collection[str] = PROBES if f.needs_probe else BOOT_LOADERS
    if f.virtual and f.virtual not in players:
        raise UserError(f"{where}.virtual: {unknown('player', f.virtual, players)}")
    for kind in (f.image, *(known.image for known in f.chips.values() if known.image)):
        if kind not in KINDS:
            raise UserError(f"{where}: {unknown('image', kind, KINDS)}")
    for chip, of in f.chips.items():
        if not re.fullmatch(_HEX, of.signature) or of.loader_bytes < 0:
            raise UserError(f"{where}.chips.{chip}: the signature is in hexadecimal, loader_bytes a number from 0")
