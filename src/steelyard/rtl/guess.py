"""What sources say where no description does: of how many bits words are, and in which order they are read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from .design import WIDTHS

#: the range of pdi_data in Verilog and in VHDL; a name in it; and where one gets its value
_RANGE = re.compile(
    r"(?i)\[([^;\[\]]{1,200}):\s*0\s*\]\s*(?:\w+\s*,\s*){0,20}pdi_data\b"
    r"|\bpdi_data\b[\w\s,]{0,200}:\s*in\s+\w+\s*\(([^;]{1,200}?)\bdownto\s+0\s*\)"
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_VALUE = r"(?i)`define\s+{0}\s+(\d+)\b|\b{0}\s*(?::[^:=;]{{1,100}}:)?=\s*(\d+)\b"
#: a package of SystemVerilog, and the use of one
_PACKAGE = re.compile(r"^[ \t]*package\s+(?:(?:automatic|static)\s+)?(\w+)", re.MULTILINE)
_USED = re.compile(r"\b(\w+)\s*::")


def width(text: str, top: str, parameters: Mapping[str, int | str]) -> int:
    """The bits of pdi_data as far as parameters and a text without comments say, the top's unit before others; 32
    otherwise. The LWC package's constant is W."""
    unit = re.search(rf"(?i)\b(?:module|entity)\s+(?:(?:automatic|static)\s+)?{re.escape(top)}\b", text)
    at = unit.start() if unit else 0
    text = text[at:] + text[:at]
    said = {k.lower(): str(v) for k, v in parameters.items()}

    def value(name: str) -> int:
        given = said.get(name.lower())
        if given is None and (found := re.search(_VALUE.format(name), text)):
            given = found[1] or found[2]
        return int(given) if given and re.fullmatch(r"[0-9]{1,9}", given) else 0

    found = _RANGE.search(text)
    most = (found[1] or found[2]).strip() if found else ""
    bits = [int(most) + 1] if re.fullmatch(r"[0-9]{1,9}", most) else [value(n) for n in [*_NAME.findall(most), "W"]]
    return next((n for n in bits if n in WIDTHS), WIDTHS[-1])


def ordered(sources: Sequence[Path], texts: Sequence[str]) -> tuple[Path, ...]:
    """Sources with the packages of SystemVerilog first, each after those that it uses, and all else as it was."""
    of = {name: f for f, text in zip(sources, texts, strict=True) for name in _PACKAGE.findall(text)}
    uses = {f: _USED.findall(text) for f, text in zip(sources, texts, strict=True) if f in of.values()}
    first: dict[Path, None] = {}
    left = [(f, False) for f in reversed(uses)]
    begun = set[Path]()
    while left:
        f, done = left.pop()
        if done:
            first[f] = None
        elif f not in begun:
            begun.add(f)
            left += [(f, True), *((of[name], False) for name in reversed(uses[f]) if name in of)]
    return (*first, *(f for f in sources if f not in first))
