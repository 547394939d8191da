"""A virtual lab for all tests of the folder, and no longer: dozing boards take some of a core. Boards of all kinds,
four of them with debug probes, two analyzers, the field's own tools. Another one has the rest of the chips that
OpenOCD programs, for long tests."""

from __future__ import annotations

import os
import socket
import time
import tty
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

import pytest

from steelyard import lab
from steelyard.lab import Lab, link
from steelyard.lab.virtual import played
from steelyard.model import paths
from steelyard.model.errors import UserError
from steelyard.pipeline import nocrypt
from tests.conftest import Bench, the_target

TEXT = """
speed = 4.0

[instruments.la]
driver = "beaglelogic:conn=tcp-raw/127.0.0.1/{port}:logic_channels=8"
samplerate = 24_000_000
channels = ["P8_40", "P8_39", "P8_42", "P8_41", "P8_44", "P8_43", "P8_46", "P8_45"]
virtual = true

[probes.swd-3]
interface = "interface/stlink-dap.cfg"
commands = ["st-link backend tcp {swd3}", "transport select dapdirect_swd"]
virtual = true

[probes.swd-4]
interface = "interface/stlink-dap.cfg"
commands = ["st-link backend tcp {swd4}", "transport select dapdirect_swd"]
virtual = true

[instruments.lb]
driver = "beaglelogic:conn=tcp-raw/127.0.0.1/{second}:logic_channels=8"
samplerate = 8_000_000
channels = ["P8_45", "P8_46", "P8_43", "P8_44", "P8_41", "P8_42"]
virtual = true

[probes.fet]
interface = "gdbc"
commands = ["-d", "127.0.0.1:{fet}"]
virtual = true

[boards.one]
target = "uno"
port = "ports/one"
flasher = "avrdude-arduino"
analyzer = "la"
channel = "P8_45"
clock_ppm = 0
virtual = true

[boards.two]
target = "atmega128"
port = "ports/two"
flasher = "avrdude-arduino"
analyzer = "la"
channel = "P8_46"
clock_ppm = 0
baud = 38400
virtual = true

[boards.three]
target = "bluepill"
port = "ports/three"
flasher = "openocd-probe"
probe = "swd-3"
analyzer = "la"
channel = "P8_44"
clock_ppm = 0
virtual = true

[boards.four]
target = "nucleo-f746zg"
port = "ports/four"
flasher = "openocd-probe"
probe = "swd-4"
analyzer = "la"
channel = "P8_41"
clock_ppm = 0
virtual = true

[boards.five]
target = "esp32"
port = "ports/five"
flasher = "esptool"
analyzer = "la"
channel = "P8_42"
clock_ppm = 0
virtual = true

[boards.six]
target = "esp8266"
port = "ports/six"
flasher = "esptool"
analyzer = "la"
channel = "P8_39"
clock_ppm = 0
virtual = true

[boards.seven]
target = "maixduino"
port = "ports/seven"
flasher = "kflash"
analyzer = "la"
channel = "P8_40"
clock_ppm = 0
virtual = true

[boards.eight]
target = "bluepill"
port = "ports/eight"
flasher = "stm32flash"
analyzer = "la"
channel = "P8_43"
clock_ppm = 0
virtual = true

[boards.seventeen]
target = "leonardo"
port = "ports/seventeen"
boot_port = "ports/seventeen-boot"
flasher = "avrdude-avr109"
analyzer = "lb"
channel = "P8_44"
clock_ppm = 0
virtual = true

[boards.eighteen]
target = "nano-every"
port = "ports/eighteen"
flasher = "avrdude-jtag2updi"
analyzer = "lb"
channel = "P8_41"
clock_ppm = 0
virtual = true

[boards.nine]
target = "msp430f1611"
port = "ports/nine"
flasher = "mspdebug"
probe = "fet"
analyzer = "lb"
channel = "P8_45"
clock_ppm = 0
virtual = true
"""
SWD = """
[probes.swd-{name}]
interface = "interface/stlink-dap.cfg"
commands = ["st-link backend tcp {at}", "transport select dapdirect_swd"]
virtual = true
"""
JTAG = """
[probes.jtag-{name}]
interface = "/dev/null"
commands = ["adapter driver remote_bitbang", "remote_bitbang port {at}", "reset_config srst_only"]
virtual = true
"""
PROBED = """
[boards.{name}]
target = "{target}"
port = "ports/{name}"
flasher = "openocd-probe"
probe = "{way}-{name}"
analyzer = "lb"
channel = "{channel}"
clock_ppm = 0
virtual = true
"""
#: boards of the second lab, their targets and channels, and the ways to them
OTHERS = {
    "twelve": ("due", "P8_46", "swd"),
    "thirteen": ("mkrzero", "P8_43", "swd"),
    "fourteen": ("stm32f407", "P8_44", "swd"),
    "fifteen": ("bluepill", "P8_41", "jtag"),
}
OTHER = """
speed = 4.0

[instruments.lb]
driver = "beaglelogic:conn=tcp-raw/127.0.0.1/{port}:logic_channels=8"
samplerate = 8_000_000
channels = ["P8_45", "P8_46", "P8_43", "P8_44", "P8_41"]
virtual = true
"""


def probed(name: str, at: int, target: str, channel: str, way: str) -> str:
    """A board with a debug probe."""
    probe = (SWD if way == "swd" else JTAG).format(name=name, at=at)
    return probe + PROBED.format(name=name, target=target, channel=channel, way=way)


def refused(text: str, folder: Path, old: str, new: str, said: str) -> None:
    """A lab of this ``text`` with ``new`` in the place of ``old`` is refused, and the message names file and fault."""
    assert old in text
    file = folder / "lab.toml"
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(UserError, match=r"lab\.toml") as e:
        lab.load(file)
    assert said in str(e.value)


def free(count: int) -> list[int]:
    """Ports of this machine that nobody has."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [s.getsockname()[1] for s in sockets]


@pytest.fixture(scope="package")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``lab.toml`` of it."""
    port, swd3, swd4, second, fet, ten, eleven, sixteen = free(8)
    file = tmp_path_factory.mktemp("lab") / "lab.toml"
    more = probed("ten", ten, "stm32l053", "P8_46", "swd") + probed("sixteen", sixteen, "gd32vf103", "P8_43", "jtag")
    more += probed("eleven", eleven, "nrf52840", "P8_42", "swd")
    file.write_text(TEXT.format(port=port, swd3=swd3, swd4=swd4, second=second, fet=fet) + more)
    return file


@pytest.fixture(scope="package")
def there(described: Path) -> Iterator[Lab]:
    """The lab, played."""
    with found(described) as loaded:
        yield loaded


@pytest.fixture(scope="package")
def others_described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``lab.toml`` of the second lab."""
    port, *ports = free(1 + len(OTHERS))
    file = tmp_path_factory.mktemp("others") / "lab.toml"
    boards = (probed(name, at, *rest) for at, (name, rest) in zip(ports, OTHERS.items(), strict=True))
    file.write_text(OTHER.format(port=port) + "".join(boards))
    return file


@pytest.fixture(scope="package")
def others(others_described: Path) -> Iterator[Lab]:
    """The second lab, played."""
    with found(others_described) as loaded:
        yield loaded


@contextmanager
def found(file: Path) -> Iterator[Lab]:
    """Inside the lab of ``file`` is there, where all tools are."""
    for tool in (
        "avrdude",
        "openocd",
        "esptool",
        "kflash",
        "stm32flash",
        "mspdebug",
        "sigrok-cli",
        "avr-gcc",
        "arm-none-eabi-gcc",
    ):
        if paths.tool(tool) is None:
            pytest.skip(f"{tool} is not installed: scripts/setup test")
    loaded = lab.load(file)
    with played(loaded):
        yield loaded


@pytest.fixture
def image(bench: Bench) -> Path:
    """nocrypt for board one."""
    return bench.build(nocrypt("crypto_aead"), the_target("uno")).images["both"]


@pytest.fixture
def terminal() -> Iterator[tuple[int, Path]]:
    """A serial port with the test at its other end."""
    master, slave = os.openpty()
    tty.setraw(slave)
    yield master, Path(os.ttyname(slave))
    for file in (slave, master):
        with suppress(OSError):
            os.close(file)


class Quiet:
    """An analyzer that sees nothing."""

    def take(self, channel: str, count: int) -> list[tuple[int, int]]:
        return []

    def drop(self, channel: str, until: int | None = None) -> int:
        return 0

    settle = drop

    def watch(self) -> Quiet:
        return self

    def look(self) -> float:
        return time.monotonic()


@pytest.fixture
def port_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a board nothing but its port: no flasher, an analyzer that sees nothing, and short waits."""
    monkeypatch.setattr(link, "flash", lambda *_: None)
    for limit in ("SILENCE", "PLAYED"):
        monkeypatch.setattr(link, limit, 0.2)
    monkeypatch.setattr(lab, "Analyzer", lambda *_: nullcontext(Quiet()))
