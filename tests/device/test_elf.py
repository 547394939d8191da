"""Images are untrusted bytes: what they hold is what binutils say, and damaged ones are refused with a sentence or run
into a named fault, never worse."""

from __future__ import annotations

import contextlib
import re
import shutil
import struct
import subprocess
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard import _native
from steelyard.model import elf
from steelyard.model.target import Target
from tests.conftest import Bench, the_target

#: what letters of nm say of a symbol's section; those of weak and indirect ones say nothing
KINDS = {"t": "code", "r": "constants", "d": "data", "g": "data", "b": "bss", "s": "bss", "w": "", "v": "", "i": ""}
BYTES = st.tuples(st.integers(0, 0xFFFF), st.integers(0, 255))


def run(target: Target, image: bytes) -> None:
    """Loads and runs an image; only documented errors may be raised."""
    simulator = _native.Simulator(target.chip)
    with contextlib.suppress(ValueError):
        simulator.load(image)
        with contextlib.suppress(_native.SimulatorFault, _native.BudgetExceeded):
            simulator.exchange(b"\xa5\x01\0\0\xfe", 200_000)
    for read in (elf.sections, elf.symbols):
        with contextlib.suppress(ValueError):
            read(image)


def test_damaged_images(bench: Bench, target: Target) -> None:
    good = bench.build(bench.package(), target).images["both"].read_bytes()

    @settings(max_examples=60)
    @given(st.lists(BYTES, min_size=1, max_size=12), st.integers(0, len(good)))
    def damage(changes: list[tuple[int, int]], length: int) -> None:
        image = bytearray(good)
        for at, value in changes:
            image[at % len(image)] = value
        run(target, bytes(image))
        run(target, bytes(image[:length]))
        head = bytearray(good)  # the headers are where it hurts
        for at, value in changes:
            head[at % 0x100] = value
        run(target, bytes(head))

    damage()


def tool(*words: str | Path) -> str:
    """What a tool prints."""
    if shutil.which(str(words[0])) is None:
        pytest.skip(f"{words[0]} is not here")
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "name", ["uno", "bluepill", "gd32vf103", "maixduino", "msp430f1611", "esp8266", "host", "raspberry-pi"]
)
def test_symbols_and_sections_are_those_of_binutils(bench: Bench, name: str) -> None:
    target = the_target(name)
    built = bench.build(bench.package(), target)
    for file in (built.images["both"], built.folder / "implementation.o"):
        lines = tool(f"{target.toolchain.prefix}nm", "--print-size", "--format=posix", file).splitlines()
        theirs: Counter[tuple[str, str, int]] = Counter()
        for words in map(str.split, lines):
            if len(words) == 4 and int(words[3], 16) and (kind := KINDS.get(words[1].lower())) is not None:
                theirs[words[0], kind, int(words[3], 16)] += 1
        weak = {n for n, kind, _ in theirs if not kind}
        mine = Counter((s.name, s.kind, s.size) for s in elf.symbols(file.read_bytes()) if s.kind and s.size)
        found = Counter((n, "" if n in weak else kind, size) for n, kind, size in mine.elements() if kind != "common")
        assert found == theirs
        listed = re.findall(
            r"^ *\[ *(\d+)\] (\S*) +([A-Z]\S+) +([0-9a-f]{8,}) [0-9a-f]+ ([0-9a-f]{6,}) [0-9a-f]+ +([A-Z]*) ",
            tool("readelf", "-SW", file).replace("0x", ""),
            re.MULTILINE,
        )
        sections = elf.sections(file.read_bytes())
        assert len(listed) == len(sections) > 5
        for number, called, kind, address, size, flags in listed:
            s = sections[int(number)]
            assert (s.name, s.address, s.size) == (called, int(address, 16), int(size, 16))
            assert s.placed == ("A" in flags and s.size > 0)
            assert s.loaded == (s.placed and kind != "NOBITS")


def test_names_that_share_their_bytes_take_no_more_than_the_file() -> None:
    """A symbol needs sixteen bytes of the file; its name can be all of the rest, and that of each of the others."""
    names, count = b"\0" + b"x" * 100_000 + b"\0", 10_000
    table = struct.pack("<IIIBBH", 1, 0, 4, 0x11, 0, 1) * count
    head = struct.pack("<4sBBB9xHHIIIIIHHHHHH", b"\x7fELF", 1, 1, 1, 1, 0, 1, 0, 0, 52, 0, 52, 0, 0, 40, 3, 1)
    headers = bytes(40) + struct.pack("<10I", 0, 3, 0, 0, 172, len(names), 0, 0, 1, 0)
    headers += struct.pack("<10I", 0, 2, 0, 0, 172 + len(names), len(table), 1, 0, 4, 16)
    file = head + headers + names + table
    assert len(elf.sections(file)) == 3
    tracemalloc.start()
    with pytest.raises(ValueError, match="names hold too many bytes"):
        elf.symbols(file)
    assert tracemalloc.get_traced_memory()[1] < len(file)
    tracemalloc.stop()
