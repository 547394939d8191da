"""Puts images into boards by the programs that the field has for it. What is there already stays."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from ..model import paths
from ..model.call import DeviceError
from ..model.errors import cut
from ..model.reasons import Failure, Reason
from .attempt import heard
from .config import PROBE, Station
from .image import made
from .plugs import by_usb
from .touch import call

WITHOUT_LINES = Path(__file__).parent / "virtual" / "without_lines"
#: how often writing is tried
TRIES = 2
#: by port, what this process has put there or found there, as far as nobody had the port since
_sure: dict[Path, str] = {}


def forget(port: Path) -> None:
    """Whatever is in the board at ``port`` is to be compared before it is believed."""
    _sure.pop(port, None)


def flash(station: Station, image: Path, lock: int) -> None:
    """Sees to it that ``image`` is in the board's flash. :class:`DeviceError` when that cannot be. The flasher inherits
    the file descriptor ``lock`` of the port: should it outlive this process, nobody else gets the port meanwhile.

    A note in ``STEELYARD_HOME`` says which image each board holds. What another process noted is compared with the
    board before it is believed: the board may be another one today, or somebody else has flashed it. A flasher that
    cannot compare writes again.
    """
    port = station.board.port
    digest = hashlib.sha256(image.read_bytes()).hexdigest()
    note = paths.home() / "lab" / f"{station.board.name}.image"
    noted = note.read_bytes() if note.exists() else b""  # of whatever, where a disk was full or failed
    verify = station.flasher.verify
    if noted == digest.encode() and (
        _sure.get(port) == digest or (verify and _done(station, verify, image, lock) is None)
    ):
        _sure[port] = digest
        return
    note.unlink(missing_ok=True)
    forget(port)
    why = None
    for _ in range(TRIES):  # boot loaders and flashers miss each other now and then
        if (why := _done(station, station.flasher.write, image, lock)) is None:
            break
    else:
        raise DeviceError(Failure(Reason.FLASH_FAILED, f"{port}: {station.flasher.program}: {why}"))
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(digest)
    _sure[port] = digest


def _without_lines() -> dict[str, str]:
    """The environment of a program in Python that is to go on where a port has no control lines."""
    folders = [str(WITHOUT_LINES), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(folders)}


def _done(station: Station, arguments: tuple[str, ...], image: Path, lock: int) -> str | None:
    """Runs the flasher; None when it says that all is well, else what it says."""
    flasher, chip, code = station.flasher, station.chip, station.target.chip.flash
    kind = chip.image or flasher.image
    try:
        content = made(kind, image.read_bytes(), code.base, code.size)
    except ValueError as e:
        return f"{image.name}: {e}"
    if (why := call(station)) is not None:
        return why
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        # a name that no program takes for several
        copy = Path(folder, "image.elf" if kind == "elf" else "image.bin")
        copy.write_bytes(content)
        words = {
            "chip": chip.name or station.target.chip_name,
            "port": str(station.board.port),
            "boot_port": str(station.board.boot_port),
            "baud": str(flasher.baud),
            "image": str(copy),
            "script": chip.script,
            "start": hex(chip.start),
            "mode": "8n1" if station.board.virtual else "8e1",
        }
        probe = station.probe.arguments(flasher) if station.probe else ()
        spelt = (probe if a == PROBE else (a.format(**words),) for a in arguments)
        command = (paths.tool(flasher.program) or flasher.program, *(word for words in spelt for word in words))
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=flasher.seconds,
                check=False,
                pass_fds=(lock,),
                env=_without_lines() if flasher.wants_lines and station.board.virtual else None,
            )
        except FileNotFoundError:
            return f"is not installed{f': {flasher.package}' if flasher.package else ''}"
        except subprocess.TimeoutExpired:
            return f"no end after {flasher.seconds:g} s"
    heard(" ".join(command), done.stdout + b"\n" + done.stderr)
    if done.returncode == 0:
        return None
    said = (done.stdout + b"\n" + done.stderr).decode(errors="replace").splitlines()
    lines = [line.strip() for line in said if line.strip()]
    telling = [line for line in lines if "error" in line.lower() and "TIOCM" not in line] or lines
    return cut(telling[0], 200) + by_usb(telling[0]) if telling else f"exit code {done.returncode}"
