"""What is wrong in a lab.toml is said before anything is touched, with the name that was meant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard import lab
from steelyard.lab import config, description
from steelyard.lab.config import FLASHERS
from steelyard.lab.virtual import loaders, probes
from steelyard.model.errors import UserError
from steelyard.model.target import load_target, target_names

from .conftest import refused

MINE = (
    "[flashers.mine]\ntitle = 'x'\nprogram = 'x'\nimage = 'elf'\nbaud = 1\nwrite = ['%s']\nverify = []\nchips.y = {}\n"
)
FAR = "[boards.far]\ntarget = 'uno'\nhost = '{}'\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('channel = "P8_45"', 'chanel = "P8_45"', "boards.one.chanel: unknown key 'chanel'; did you mean channel?"),
        ('target = "uno"', 'target = "unoo"', "boards.one: unknown target 'unoo'; did you mean uno"),
        ('flasher = "avrdude-arduino"', 'flasher = "avrdude"', "did you mean avrdude-a"),
        ('channel = "P8_45"', 'channel = "P8_49"', "unknown channel 'P8_49'"),
        ('channel = "P8_45"', 'channel = "P8_46"', "boards.two: has the channel of one"),
        ('port = "ports/one"', 'port = "ports/two"', "boards.two: has the port of one"),
        ('port = "ports/one"', 'port = "ports/../ports/two"', "boards.two: has the port of one"),
        ('port = "ports/one"', 'port = ""', "boards.one.port: missing"),
        ('port = "ports/one"', "port = 3", "boards.one.port: expected a path, in quotes"),
        ('port = "ports/one"', 'port = "a\\u0000b"', "boards.one.port: is not a serial port"),
        ('probe = "swd-4"', 'probe = "swd-3"', "boards.four: has the probe of three"),
        ('probe = "swd-4"', 'probe = "swd-5"', "boards.four: unknown probe 'swd-5'; did you mean swd-"),
        ('probe = "swd-4"\n', "", "boards.four: openocd-probe works through a debug probe; name it"),
        ('flasher = "kflash"', 'flasher = "kflash"\nprobe = "fet"', "boards.seven: kflash works without a debug probe"),
        ('"127.0.0.1:', '"127.0.0.2:', "probe fet: a virtual one needs the command"),
        ("[boards.one]", f"{MINE % ''}resets = 'dsr'\n[boards.one]", "flashers.mine.resets: unknown line 'dsr'"),
        (
            "[boards.one]",
            f"{MINE % ''}virtual = 'stk50'\n[boards.one]",
            "mine.virtual: unknown player 'stk50'; did you mean",
        ),
        (
            "[boards.one]",
            f"{MINE % '{probe}'}virtual = 'stk500'\n[boards.one]",
            "mine.virtual: unknown player 'stk500'; known: debug-port, gdb",
        ),
        ('boot_port = "ports/seventeen-boot"\n', "", "boards.seventeen.boot_port: avrdude-avr109 needs the port of"),
        ('boot_port = "ports/seventeen-boot"', 'boot_port = "ports/one"', "boards.seventeen: has the port of one"),
        ('boot_port = "ports/seventeen-boot"', 'boot_port = "ports/seventeen"', "seventeen.boot_port: is its port"),
        ('boot_port = "ports/seventeen-boot"', 'boot_port = ".."', "boards.seventeen.boot_port: is not a serial port"),
        (
            'port = "ports/one"',
            'port = "p"\nboot_port = "q"',
            "boards.one.boot_port: avrdude-arduino knows no such port",
        ),
        ("[boards.one]", f"{MINE % ''}dump = ['{{port}}']\n[boards.one]", "flashers.mine: unknown placeholder 'port'"),
        ("clock_ppm = 0", "clock_ppm = nan", "boards.one.clock_ppm: is not within 50 000"),
        ('"P8_43"', '"P8_43,P8_42"', "instruments.la.channels: 'P8_43,P8_42' is not a name"),
        ("[boards.one]", f"{MINE % '-x {image'}[boards.one]", "flashers.mine: '-x {image': expected '}'"),
        (
            "[boards.one]",
            f"{MINE % ''}write_hex = ['{{chipp}}']\n[boards.one]",
            "unknown placeholder 'chipp'; did you mean chip",
        ),
        (
            "[boards.one]",
            f"{MINE % ''}probe = ['{{command}}']\n[boards.one]",
            "unknown placeholder 'command'; known: interface",
        ),
        ("[boards.one]", f"{MINE % '{image:d}'}[boards.one]", "flashers.mine: unknown placeholder 'image:d'"),
        ("[boards.one]", f"{MINE % '{image!r}'}[boards.one]", "flashers.mine: unknown placeholder 'image!r'"),
        ("[boards.one]", f"{MINE % '{0}'}[boards.one]", "flashers.mine: unknown placeholder '0'"),
        ("[boards.one]", f"{MINE % '{image.x}'}[boards.one]", "flashers.mine: unknown placeholder 'image.x'"),
        ("[boards.one]", f"{MINE % ''}seconds = nan\n[boards.one]", "flashers.mine.seconds: write seconds"),
        ("[boards.one]", f"{MINE % ''}boot_seconds = -1\n[boards.one]", "flashers.mine.boot_seconds: write seconds"),
        ("[boards.one]", f"{MINE % ''}chips.x.signature = 'zz'\n[boards.one]", "flashers.mine.chips.x: the signature"),
        (
            "[boards.one]",
            f"{MINE % ''}[boards.one]".replace("'elf'", "'efl'"),
            "mine: unknown image 'efl'; did you mean elf",
        ),
        ("samplerate = ", 'at = "bench"\nsamplerate = ', "instruments.la.at: 'bench' is not HOST:PORT, such as bench"),
        ("samplerate = ", 'at = "[::1]:65536"\nsamplerate = ', "instruments.la.at: '[::1]:65536' is not HOST:PORT"),
        ('analyzer = "la"', 'analyzer = "lab"', "unknown instrument 'lab'; did you mean l"),
        ('target = "uno"', 'target = "bluepill"', "avrdude-arduino does not program STM32F103C8"),
        (
            'target = "uno"\nport = "ports/one"\nflasher = "avrdude-arduino"',
            'target = "esp8266-flash"\nport = "ports/one"\nflasher = "esptool"',
            "esptool does not run images of target esp8266-flash, whose code is elsewhere",
        ),
        ("clock_ppm = 0", "clock_error_ppm = nan", "boards.one.clock_error_ppm: is not within 50 000"),
        # a serial round trip is no time: nothing is weighed without the trigger's pulses
        ('analyzer = "la"\n', "", "boards.one.analyzer: missing"),
        ('channel = "P8_45"\n', "", "boards.one.channel: missing"),
        ("[boards.one]", '[boards."../one"]', "names in lab.toml"),
        ("[boards.one]", '[hosts."a b"]\nssh = "x"\n[boards.one]', "names in lab.toml"),
        ("[boards.one]", '[boards.one]\nhost = "bench"', "boards.one.port: is said in the lab.toml of bench"),
        ("[boards.one]", '[boards.one]\nnamed = "two"', "boards.one.named: is the name of a board at another host"),
        (
            "[boards.one]",
            FAR.format("bench") + "virtual = true\n[boards.one]",
            "boards.far.virtual: is said in the lab",
        ),
        ("[boards.one]", FAR.format("-oProxyCommand=x") + "[boards.one]", "boards.far.host: '-oProxyCommand=x' is no"),
        ("[boards.one]", FAR.format("a b") + "[boards.one]", "boards.far.host: 'a b' is not a machine"),
        ("[boards.one]", FAR.format("b") + "named = '../x'\n[boards.one]", "boards.far.named: '../x' is not a name"),
        (
            "[boards.one]",
            FAR.format("b") + FAR.format("b").replace("far", "x") + "named = 'far'\n[boards.one]",
            "is far",
        ),
        ("[boards.one]", "[hosts.b]\nssh = 'b'\ncommand = ''\n[boards.one]", "hosts.b: write command and folder"),
        ("[boards.one]", "[hosts.b]\nssh = 'b'\nfolders = ''\n[boards.one]", "did you mean folder?"),
        ("tcp-raw/127.0.0.1/", "tcp-raw/127.0.0.1/9", "instrument la: a virtual analyzer needs a driver such as"),
        ('interface = "gdbc"\n', "", "probes.fet.interface: missing"),
        (
            "[boards.one]",
            f"{MINE % ''}chips.x.signature = 3\n[boards.one]",
            "flashers.mine.chips.x.signature: expected",
        ),
        ("[boards.one]", "[flashers.x]\nname = 'y'\n[boards.one]", "flashers.x.title: missing"),
        ("[boards.one]", (MINE % "").replace("baud = 1", "baud = -1") + "[boards.one]", "flashers.mine.baud: write"),
        (
            "[boards.one]",
            (MINE % "").replace("baud = 1", "baud = 1\nleave = {sync = 'zz', go = '', answer = ''}") + "[boards.one]",
            "flashers.mine.leave.sync: write bytes in hexadecimal",
        ),
        ("[boards.one]", '[boards.one]\nreset = ["a\\u0000"]', "boards.one.reset: write a command"),
        ('port = "ports/one"', f'port = "{"x" * 5000}"', "boards.one.port: is not a serial port"),
    ],
)
def test_a_mistake_is_named(described: Path, tmp_path: Path, old: str, new: str, said: str) -> None:
    refused(described.read_text(), tmp_path, old, new, said)


def test_a_tcp_port_is_one_virtual_probes_or_analyzers(described: Path, tmp_path: Path) -> None:
    text = described.read_text()
    (swd3, swd4, *_), (la, lb, *_) = (re.findall(p, text) for p in (r"backend tcp (\d+)", r"127\.0\.0\.1/(\d+):"))
    refused(text, tmp_path, f"tcp {swd4}", f"tcp {swd3}", "boards.four: has the probe's TCP port of three")
    refused(text, tmp_path, f"/{lb}:", f"/{la}:", "instruments.lb: has the TCP port of la")


@pytest.mark.parametrize("key", ["write", "write_hex", "write_bin", "verify"])
def test_a_slip_in_a_bundled_flasher_is_named_wherever_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Not only by a lab: ``image`` asks for it too, and spells its arguments."""
    text = (FLASHERS / "avrdude-arduino.toml").read_text()
    (tmp_path / "mine.toml").write_text(re.sub(rf'(?m)^({key} = .*)"{{chip}}"', r'\1"{chipp}"', text))
    monkeypatch.setattr(config, "FLASHERS", tmp_path)
    with pytest.raises(UserError, match=r"flashers/mine\.toml: unknown placeholder 'chipp'; did you mean chip"):
        lab.by_hand(load_target("uno"), "hex", "x.hex")


def test_whoever_may_be_named_plays() -> None:
    assert all(map(callable, map(loaders, description.BOOT_LOADERS)))
    assert all(map(callable, map(probes, description.PROBES)))


def test_an_unknown_board_is_named(described: Path) -> None:
    with pytest.raises(UserError, match="unknown board 'on'; did you mean one"):
        lab.load(described).board("on")


def test_nothing_but_data_names_a_target_or_a_tool() -> None:
    """A flasher is a table; a board of another target needs no line of code."""
    code = "".join(f.read_text() for f in FLASHERS.parent.rglob("*.py"))
    names = [
        *target_names(),
        *(load_target(n).chip_name for n in target_names()),
        *(f.stem for f in FLASHERS.iterdir()),
    ]
    assert [n for n in names if f'"{n}"' in code] == []
