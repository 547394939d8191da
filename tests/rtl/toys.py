"""The toy design, what breaks it, and its answers as a package has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.rtl import tools
from steelyard.rtl.streams import Call, Stream, stream

SOURCE = Path(__file__).parent / "toy.sv"
TOML = """name = "toy"
[rtl]
sources = ["toy.sv"]
top = "toy"
[tb.parameters]
PDI = { file = "kat/pdi.txt" }
"""


def needs(*names: str) -> pytest.MarkDecorator:
    """Skips a test without these tools."""
    gone = tools.missing(names)
    return pytest.mark.skipif(gone is not None, reason=gone.detail if gone else "")


def digest(message: bytes) -> bytes:
    """The toy's hash."""
    padded = message.ljust(-(-len(message) // 4) * 4, b"\0")
    total = 0
    for k in range(0, len(padded), 4):
        total ^= int.from_bytes(padded[k : k + 4])
    return total.to_bytes(4)


def of(message: bytes, segment: int = 0xFFFF) -> Stream:
    """A hash of a message."""
    return stream(Call("hash", message, digest(message), segment=segment), 32)


def hashed(size: int, segment: int = 0xFFFF) -> Stream:
    """A hash of so many bytes."""
    return of(bytes((7 * k + size) & 0xFF for k in range(size)), segment)


STREAMS = [*(hashed(n) for n in range(40)), hashed(40, 8), hashed(41, 12), hashed(0, 4)]


def design(folder: Path, *changes: tuple[str, str]) -> Path:
    """A folder with the toy, changed, and its answers."""
    text = SOURCE.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    (folder / "kat").mkdir(parents=True)
    (folder / "toy.sv").write_text(text)
    (folder / "toy.toml").write_text(TOML)
    for name, part in (("pdi", "pdi"), ("sdi", "sdi"), ("do", "out")):
        lines = [line for s in STREAMS for line in _kat(getattr(s, part), out=part == "out")]
        (folder / "kat" / f"{name}.txt").write_text("\n".join(["# of the toy", *lines, "###EOF"]) + "\n")
    return folder


def _kat(words: tuple[str, ...], *, out: bool) -> list[str]:
    """Words of one operation in lines, as a package's files have them."""
    if not words:
        return []
    if out:
        return [f"HDR = {words[0]}", f"DAT = {''.join(words[1:-1]).upper()}", f"STT = {words[-1]}"]
    return [f"INS = {words[0]}", *(f"DAT = {w}" for w in words[1:])]
