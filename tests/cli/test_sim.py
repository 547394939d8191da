"""``sim`` on the command line: symbols, arguments, the serial port, and what it says of mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.device import simulated
from steelyard.device.client import encode
from steelyard.model.call import Op, Request
from tests import toys
from tests.conftest import Bench, the_target

from .conftest import Cli

CALL = "sim x.elf --chip ATmega328P --call"
#: a function that is local in the image
TOP = """
static unsigned char kept[4];
__attribute__((noinline, noclone)) static void copied(unsigned char *to, const unsigned char *from, unsigned n)
{
    while (n--)
        *to++ = *from++;
    __asm__ volatile("" : : : "memory");
}
"""


@pytest.fixture
def image(bench: Bench, tmp_path: Path) -> bytes:
    """An image of ours as a file, and what its serial port is sent."""
    package = bench.package(toys.files(top=TOP, in_encrypt="copied(kept, k, mlen & 3);"))
    built = bench.build(package, the_target("uno"), "-Os").images["both"]
    (tmp_path / "x.elf").write_bytes(built.read_bytes())
    client = simulated(the_target("uno"), built)
    request = encode(Request(Op.ENCRYPT, bytes(client.hello.key_bytes), bytes(client.hello.npub_bytes), b"", b"abc"))
    (tmp_path / "request").write_bytes(request)
    return client.link.exchange(request)


def test_a_program_and_its_serial_port(cli: Cli, tmp_path: Path, image: bytes) -> None:
    done = cli("sim x.elf -t uno --input request --uart answer --json --trigger crypto_aead_encrypt")
    assert done.code == 0
    said = json.loads(done.out)
    assert (said["end"], said["counted"], said["target"]) == ("waits", 1, "uno")
    [call], [pulse] = said["calls"], said["pulses"]
    assert 0 < call["cycles"] < pulse["cycles"]
    assert sum(f["exclusive"] for f in said["functions"]) == call["cycles"]
    assert (tmp_path / "answer").read_bytes() == bytes.fromhex(said["output"])
    assert image in (tmp_path / "answer").read_bytes()
    assert "the program waits for a byte at its serial port" in cli("sim x.elf -t uno").out


def test_one_function(cli: Cli, image: bytes) -> None:
    said = cli(f"{CALL} copied --arg @4 --arg @hex:01020304 --arg 3 --json")
    assert said.code == 0
    assert json.loads(said.out)["buffers"] == ["01020300", "01020304"]
    wrong = cli(f"{CALL} sy_putc --arg 7 --max-cycles 3")
    assert (wrong.code, "the cycles were used up" in wrong.out) == (1, True)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (f"{CALL} copeid", "--call: the image has no function 'copeid'; did you mean copied?"),
        (f"{CALL} copied --arg 1x", "--arg '1x': write a number, 5 or 0x10:8, or a pointer"),
        (f"{CALL} copied --arg 256:1", "--arg '256:1': does not fit into 1 bytes"),
        (f"{CALL} copied --arg @file:none", "none: No such file or directory; name another file"),
        (f"{CALL} copied --trigger copied", "--call and --trigger: leave one of them out"),
        ("sim x.elf --chip uno --arg 3", "--arg: is for --call; name a function"),
        ("sim x.elf", "--chip: name a target, or its chip"),
        ("sim x.elf --chip unno", "unknown chip 'unno'; did you mean uno"),
        ("sim x.elf --chip host", "host is a machine, and no chip that is simulated"),
        ("sim x.elf --chip bluepill", "x.elf on bluepill: the image is for AVR (e_machine 83), the chip is Arm (40)"),
        ("sim none.elf --chip uno", "none.elf: No such file or directory; name another image"),
        ("sim request --chip uno --trigger work", "these are bytes without symbols; give an address, or an ELF file"),
    ],
)
def test_mistakes(cli: Cli, image: bytes, command: str, why: str) -> None:
    said = cli(command)
    assert why in said.err
    assert said.code in (1, 2)
    assert said.out == ""
