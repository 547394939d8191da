"""What can be seen to be missing of a board without touching it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..model import paths
from ..model.errors import counted
from ..model.reasons import LAB, VIRTUAL, Failure
from .config import Station

#: who may use serial ports on Debian, Ubuntu, Fedora; on Arch
GROUPS = ("dialout", "uucp")
#: where udev has rules from
RULES_IN = tuple(map(Path, ("/etc/udev/rules.d", "/run/udev/rules.d", "/usr/lib/udev/rules.d", "/lib/udev/rules.d")))
#: its rules that let users at what is plugged in, what that is, and who brings them
RULES = (
    ("60-openocd.rules", "debug probes", "apt install openocd, and plug the probe in again"),
    ("60-libsigrok.rules", "what sigrok reads", "apt install sigrok-cli, and plug it in again"),
)
#: drivers of sigrok's that load firmware into an instrument: its files, and who brings them
FIRMWARE = {"fx2lafw": ("fx2lafw-*.fw", "apt install sigrok-firmware-fx2lafw")}


def told(station: Station, failure: Failure) -> Failure:
    """What failed, with the board's name. Where parts of a lab are to blame that is virtual, that is said, and whether
    this machine has more to do than it can."""
    board, text = station.board, failure.detail
    if board.virtual and station.host is None and failure.reason in LAB and VIRTUAL not in text:
        load, processors = os.getloadavg()[0], os.cpu_count() or 1
        busy = f", and this machine is busy: load {load:.0f} on {counted(processors, 'processor')}"
        text += f"; the board {VIRTUAL}" + busy * (load > processors)
    return Failure(failure.reason, f"{board.title}: {text}")


def missing(station: Station) -> Iterator[str]:
    """Each thing that is not there, with what to do about it."""
    start = "steelyard boards virtual"
    if not station.board.port.exists():
        yield f"no port: {start if station.board.virtual else 'plug the board in'}"
    elif why := denied(station.board.port):
        yield why
    sigrok = [] if station.instrument.at else [("sigrok-cli", "apt install sigrok-cli")]  # another machine samples
    for program, package in ((station.flasher.program, station.flasher.package), *sigrok):
        if paths.tool(program) is None:
            yield f"no {program}{f': {package}' if package else ''}"
    driver = station.instrument.driver.partition(":")[0]
    if sigrok and (fix := without_firmware(driver)):
        yield f"no firmware for {driver}: {fix}"
    if station.meter is not None:
        port = Path(station.meter.meter.port)
        if what := station.meter.kind.missing:
            yield f"meter {station.meter.name}: {what}"
        if station.meter.kind.path and not port.exists():
            does = start if station.board.virtual else "plug it in"
            yield f"meter {station.meter.name}: no {station.meter.meter.port}: {does}"
        elif station.meter.kind.path and port.is_char_device() and (why := denied(port)):
            yield f"meter {station.meter.name}: {why}"


def denied(port: Path) -> str:
    """How its user may use a port that is there, or nothing where that is so."""
    if os.access(port, os.R_OK | os.W_OK):
        return ""
    try:
        group = port.group() if port.stat().st_mode & 0o060 == 0o060 else "root"
    except (OSError, KeyError):  # it has gone, or its group has no name
        group = "root"
    if group == "root":
        return f"{port} may not be used: its owner or a udev rule has to allow it"
    return f"{port} may not be used: {joining(group)}"


def by_usb(said: str) -> str:
    """What to do where a program ``said`` that its user may not open a device; nothing elsewhere."""
    return "; steelyard doctor names the udev rule that lets you use it" if "LIBUSB_ERROR_ACCESS" in said else ""


def joining(group: str) -> str:
    """How a user joins a group."""
    return f"sudo usermod -aG {group} $USER, and log in again"


def without_firmware(driver: str) -> str:
    """What installs the firmware that a driver of sigrok's loads; nothing where it is there, or none is needed."""
    if driver not in FIRMWARE:
        return ""
    files, package = FIRMWARE[driver]
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    shared = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    folders = [Path(f, "sigrok-firmware") for f in (home, *shared.split(":"))]
    if own := os.environ.get("SIGROK_FIRMWARE_DIR"):
        folders.append(Path(own))
    return "" if any(any(f.glob(files)) for f in folders) else package
