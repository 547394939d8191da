"""What sources say where no description does: of how many bits words are, and in which order they are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from .design import WIDTHS

#: the range of pdi_data in Verilog and in VHDL; a name in it; and where one gets its value
_RANGE = re.compile(
    r"(?i)\[([^;\[\]]{1,200}):\s*0\s*\]\s*(?:\w+\s*,\s*){0,20}pdi_data\b"
    r"|\bpdi_data\b[\w\s,]{0,200}:\s*in\s+\w+\s*\(([^;]{1,200}?)\bdownto\s+0\s*\)"
)
_NAME = re.compile(r"[A-Za-z_]\w*")
#: declarations of VHDL and Verilog, which are no comparisons, of constants and of any kind; numbers of Verilog may have
#: a size
_NUMBER = r"(?:\d{{1,4}}'s?d)?(\d{{1,9}})\b(?!\s*['*/+<-])"
_CONSTANT = (
    r"(?i)(?:`define\s+{0}\s+|\bconstant\s+{0}\s*:[^:=;]{{1,100}}:=\s*"
    r"|\blocalparam\b(?:\s+\w+|\s*\[[^\]]{{0,40}}\]){{0,4}}\s+{0}\s*=\s*)" + _NUMBER
)
_VALUE = (
    r"(?i)(?:\b{0}\s*:[^:=;]{{1,100}}:=\s*"
    r"|(?:\bparameter\b(?:\s+\w+|\s*\[[^\]]{{0,40}}\]){{0,4}}\s+|,\s*|#\s*\(\s*){0}\s*=\s*)" + _NUMBER
)
_END = re.compile(r"(?i)\bend(?:module)?\b")
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
    """The bits of pdi_data as far as parameters and a text without comments say; 32 otherwise. What its range names is
    a parameter of the top's own unit, else a constant of any, else a parameter of another. The LWC package's constant
    is W."""
    unit = re.search(rf"(?i)\b(?:module|entity)\s+(?:(?:automatic|static)\s+)?{re.escape(top)}\b", text)
    at = unit.start() if unit else 0
    text = text[at:] + text[:at]  # the top's ports before others
    own = text[: end.start()] if unit and (end := _END.search(text)) else ""
    said = {k.lower(): str(v) for k, v in parameters.items()}

    def values(name: str) -> Iterator[str]:
        if name.lower() in said:
            yield said[name.lower()]
        else:
            for pattern, of in ((_VALUE, own), (_CONSTANT, text), (_VALUE, text)):
                yield from re.findall(pattern.format(name), of)

    found = _RANGE.search(text)
    most = (found[1] or found[2]).strip() if found else ""
    if re.fullmatch(r"[0-9]{1,9}", most):
        bits: Iterable[str] = [str(int(most) + 1)]
    else:
        names = [*dict.fromkeys((*_NAME.findall(most)[:_NAMES], "W"))]
        bits = (value for name in names for value in values(name))
    of = {str(n): n for n in WIDTHS}
    return next((of[n] for n in bits if n in of), WIDTHS[-1])


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
