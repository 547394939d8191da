"""Puts images into boards by the programs that the field has for it. What is there already stays."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import IO

from ..device import frame
from ..model import elf
from ..model.call import BUILD, DeviceError
from ..model.reasons import Failure, Reason
from ..model.target import Target
from . import line, probe
from .arguments import Written, spelt
from .config import Flasher, Probe, Station, flashers
from .image import made
from .lock import has_to_be_of
from .program import run
from .touch import call

#: how often writing is tried
TRIES = 2
#: seconds that a firmware has for its answer which build it is of
ASKED = 2.0
#: by port, what this process has put there or found there, as far as nobody had the port since
_sure: dict[Path, str] = {}


def forget(port: Path) -> None:
    """Whatever is in the board at ``port`` is to be compared before it is believed."""
    _sure.pop(port, None)


def flash(station: Station, image: Path, lock: IO[bytes]) -> None:
    """Sees to it that ``image`` is in the board's flash. :class:`DeviceError` when that cannot be, or when the
    debug probe that it is reached by is lost, or the port leads to another board. The flasher inherits
    the ``lock`` of the port: should it outlive this process, nobody else gets the port meanwhile.

    A note in the folder of each board says which image it holds. What another process noted is compared with the
    board before it is believed: the board may be another one today, or somebody else has flashed it. Where the flasher
    cannot compare, the firmware is asked which build it is of.
    """
    port = station.board.port
    digest = hashlib.sha256(image.read_bytes()).hexdigest()
    note = station.board.files / "image"
    noted = note.read_bytes() if note.exists() else b""  # of whatever, where a disk was full or failed
    verify = station.flasher.verify
    has_to_be_of(lock, station.board)
    if noted == digest.encode() and (
        _sure.get(port) == digest
        or (_done(station, verify, image, lock.fileno()) is None if verify else _says_so(station, image))
    ):
        _sure[port] = digest
        return
    note.unlink(missing_ok=True)
    forget(port)
    why = None
    for _ in range(TRIES):  # boot loaders and flashers miss each other now and then
        has_to_be_of(lock, station.board)
        if (why := _done(station, station.flasher.write, image, lock.fileno())) is None:
            break
    else:
        if station.flasher.needs_probe:  # which may be what is gone
            probe.restart(station)
        raise DeviceError(Failure(Reason.FLASH_FAILED, f"{port}: {station.flasher.program}: {why}"))
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(digest)
    _sure[port] = digest


def by_hand(target: Target, format: str, file: str) -> list[tuple[str, ...]]:
    """The commands that put ``file`` into a chip, by every flasher that knows the chip and takes files of this
    ``format``, of ``elf``, ``bin``, ``hex`` and ``esp``. Words in capitals are the user's to fill in."""
    found = []
    for flasher in flashers().values():
        chip = flasher.known(target)
        if chip is None:
            continue
        own = (chip.image or flasher.image).partition("-")[0]
        if arguments := {"hex": flasher.write_hex, "bin": flasher.write_bin, own: flasher.write}.get(format):
            words = _words(flasher, target, file, "PORT", "PORT")
            probe = Probe(interface="PROBE").arguments(flasher)
            found.append((flasher.program, *spelt(arguments, words, probe)))
    return found


def _words(flasher: Flasher, target: Target, image: str, port: str, boot_port: str, mode: str = "8e1") -> Written:
    """What stands for what in the arguments of a flasher that knows the target's chip."""
    chip = flasher.known(target)
    assert chip is not None
    return Written(
        chip=chip.name or target.chip_name,
        port=port,
        boot_port=boot_port,
        baud=flasher.baud,
        image=image,
        script=chip.script,
        start=hex(chip.start),
        base=hex(target.chip.flash.base),
        mode=mode,
    )


def kind_of(target: Target) -> str:
    """The image that flashers make themselves of an ELF file for this chip, such as ``esp``; empty where none does."""
    kinds = (known.image or f.image for f in flashers().values() if (known := f.known(target)))
    return next((kind for kind in kinds if kind.startswith("esp")), "")


def _done(station: Station, arguments: tuple[str, ...], image: Path, lock: int) -> str | None:
    """Runs the flasher; None when it says that all is well, else what it says."""
    flasher, chip, code = station.flasher, station.chip, station.target.chip.flash
    kind = chip.image or flasher.image
    try:
        content = made(kind, image.read_bytes(), code.base, code.size)
    except ValueError as e:
        return f"{image.name}: {e}"
    try:
        line.before_flashing(station)
    except OSError as e:
        return str(e)
    if (why := call(station)) is not None:
        return why
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        # a name that no program takes for several
        copy = Path(folder, "image.elf" if kind == "elf" else "image.bin")
        copy.write_bytes(content)
        board, mode = station.board, "8n1" if station.board.virtual else "8e1"
        words = _words(flasher, station.target, str(copy), str(board.port), str(board.boot_port), mode)
        return run(station, arguments, words, flasher.seconds, lock)


def _says_so(station: Station, image: Path) -> bool:
    """Whether the firmware in the board, restarted if that can be, shakes hands and is of the build of ``image``."""
    build = elf.address(image.read_bytes(), BUILD)
    try:
        with line.opened(station, ASKED) as port:
            port.read(port.in_waiting)
            for baud in dict.fromkeys((station.board.baud, station.fast_baud or station.board.baud)):
                port.baudrate = baud  # where nothing restarts it, it may have gone on at the second one
                if (answer := line.hello(port, ASKED)) is not None:
                    return build is not None and frame.HELLO_ANSWER.unpack(answer)[-1] == build
    except (ImportError, OSError, ValueError):  # what cannot be asked is written to, which says what is wrong
        pass
    return False
