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
#: declarations of VHDL and Verilog, which are no comparisons; numbers of Verilog may have a size
_VALUE = (
    r"(?i)(?:`define\s+{0}\s+|\b{0}\s*:[^:=;]{{1,100}}:=\s*"
    r"|(?:\b(?:parameter|localparam)\b(?:\s+\w+|\s*\[[^\]]{{0,40}}\]){{0,4}}\s+|,\s*|#\s*\(\s*){0}\s*=\s*(?:\d{{1,4}}'s?d)?)"
    r"(\d{{1,9}})\b(?!\s*['*/+<-])"
)
#: names in a range that are looked for
_NAMES = 8
#: a package of SystemVerilog, and the use of one
_PACKAGE = re.compile(r"^[ \t]*package\s+(?:(?:automatic|static)\s+)?(\w+)", re.MULTILINE)
_USED = re.compile(r"\b(\w+)\s*::")
_DEFINED, _MACRO = re.compile(r"^[ \t]*`define[ \t]+(\w+)", re.MULTILINE), re.compile(r"`(\w+)")
#: what makes a text a source of its own
_UNIT = re.compile(r"\b(?:module|macromodule|package|interface|program|primitive|class|checker|config|bind)\b")
_DIRECTIVE = re.compile(r"^[ \t]*`(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)


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
            given = found[1]
        return int(given) if given and re.fullmatch(r"[0-9]{1,9}", given) else 0

    found = _RANGE.search(text)
    most = (found[1] or found[2]).strip() if found else ""
    names = [*dict.fromkeys((*_NAME.findall(most)[:_NAMES], "W"))]
    bits = [int(most) + 1] if re.fullmatch(r"[0-9]{1,9}", most) else map(value, names)
    return next((n for n in bits if n in WIDTHS), WIDTHS[-1])


def is_part(text: str) -> bool:
    """Whether a text without comments can only be a part of what includes it: it has code, and no unit of its own."""
    return not _UNIT.search(text) and bool(_DIRECTIVE.sub("", text).strip())


def ordered(sources: Sequence[Path], texts: Sequence[str]) -> tuple[Path, ...]:
    """Sources in their order, but for packages of SystemVerilog, which come before what uses them, and what defines
    their macros before these."""
    text_of = dict(zip(sources, texts, strict=True))
    packages = {name: f for f, text in text_of.items() for name in _PACKAGE.findall(text)}
    macros = {name: f for f, text in reversed(text_of.items()) for name in _DEFINED.findall(text)}
    whole = {*packages.values()}

    def needs(f: Path) -> list[Path]:
        used = [packages[n] for n in dict.fromkeys(_USED.findall(text_of[f])) if n in packages]
        return used + [macros[n] for n in dict.fromkeys(_MACRO.findall(text_of[f])) if f in whole and n in macros]

    made: dict[Path, None] = {}
    begun = set[Path]()
    left = [(f, False) for f in reversed(sources)]
    while left:
        f, done = left.pop()
        if done:
            made[f] = None
        elif f not in begun:
            begun.add(f)
            left += [(f, True), *((n, False) for n in reversed(needs(f)))]
    return tuple(made)
