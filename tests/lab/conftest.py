"""A virtual lab for all tests of the folder: boards of all kinds, three of them with debug probes, two analyzers, the
field's own tools."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from steelyard import lab
from steelyard.lab import Lab
from steelyard.lab.virtual import played
from steelyard.model import paths
from steelyard.model.errors import UserError

TEXT = """
speed = 4.0

[instruments.la]
driver = "beaglelogic:conn=tcp-raw/127.0.0.1/{port}:logic_channels=8"
samplerate = 24_000_000
channels = ["P8_45", "P8_46", "P8_43", "P8_44", "P8_41", "P8_42", "P8_39", "P8_40"]
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
channels = ["P8_45"]
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


def refused(text: str, folder: Path, old: str, new: str, said: str) -> None:
    """A lab of this ``text`` with ``new`` in the place of ``old`` is refused, and the message names file and fault."""
    assert old in text
    file = folder / "lab.toml"
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(UserError, match=r"lab\.toml") as e:
        lab.load(file)
    assert said in str(e.value)


@pytest.fixture(scope="session")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``lab.toml`` of it."""
    with ExitStack() as stack:
        free = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(5)]
        port, swd3, swd4, second, fet = (s.getsockname()[1] for s in free)
    file = tmp_path_factory.mktemp("lab") / "lab.toml"
    file.write_text(TEXT.format(port=port, swd3=swd3, swd4=swd4, second=second, fet=fet))
    return file


@pytest.fixture(scope="session")
def there(described: Path) -> Iterator[Lab]:
    """The lab, played."""
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
    found = lab.load(described)
    with played(found):
        yield found
