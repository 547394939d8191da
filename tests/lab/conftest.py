"""A virtual lab for all tests of the folder: two boards of different chips, one analyzer, the field's own tools."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard import lab
from steelyard.lab import Lab
from steelyard.lab.virtual import played

TEXT = """
speed = 4.0

[instruments.la]
driver = "beaglelogic:conn=tcp-raw/127.0.0.1/{port}:logic_channels=8"
samplerate = 24_000_000
channels = ["P8_45", "P8_46", "P8_43"]
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
"""


@pytest.fixture(scope="session")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``lab.toml`` of it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    file = tmp_path_factory.mktemp("lab") / "lab.toml"
    file.write_text(TEXT.format(port=port))
    return file


@pytest.fixture(scope="session")
def there(described: Path) -> Iterator[Lab]:
    """The lab, played."""
    for tool in ("avrdude", "sigrok-cli", "avr-gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: scripts/setup test")
    found = lab.load(described)
    with played(found):
        yield found
        lab.let_go()
