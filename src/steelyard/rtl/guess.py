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
#: a number, which in Verilog may have a size, or the name of one; nothing that is computed
_NUMBER = r"(?:(?:\d{{1,4}}'s?d)?(\d{{1,9}})|`?(?:\w+(?:::|\.)){{0,2}}([a-z_]\w*))\b(?![ \t]*['`(*/+<>%?&|^.:-])"
#: a generic of VHDL and a parameter of Verilog in its own unit, with their values
_GENERIC, _PARAMETER = r"(?i)\b{0}\s*(?:,[\w\s,]{{0,200}})?:", r"(?i)(?<![.\w]){0}\s*=(?!=)"
_GENERIC_IS, _PARAMETER_IS = _GENERIC + r"[^:=;]{{1,100}}:=\s*" + _NUMBER, _PARAMETER + r"\s*" + _NUMBER
#: what all units see
_CONSTANT = (
    r"(?i)(?:\bconstant\s+(?:[\w\s,]{{0,200}},\s*)?{0}\s*(?:,[\w\s,]{{0,200}})?:[^:=;]{{1,100}}:=\s*"
    r"|(?:\b(?:localparam|parameter)\b(?:\s+\w+|\s*\[[^\]]{{0,40}}\]){{0,4}}\s+|,\s*){0}\s*=\s*)" + _NUMBER
)
_DEFINE = r"(?i)`define\s+{0}\s+" + _NUMBER
#: what no other unit sees
_PRIVATE = re.compile(
    r"(?is)\b(?:macro)?module\s+\w+.*?(?:\bendmodule\b|\Z)|\bentity\s+\w+\s+is\b.*?(?:\bend\b|\Z)"
    r"|\barchitecture\s+\w+\s+of\b.*?(?=\b(?:entity|architecture|package|configuration)\s[\w\s]{1,200}\bis\b|\Z)"
)
_QUOTED = re.compile(r'"[^"\n]*"')
_END = re.compile(r"(?i)\bend(?:module)?\b")
#: names in a range that are looked for, and of which one may be the value of the other
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
    a parameter of the top's own unit, or else a constant that all units see: parameters of others are of others. The
    LWC package's constant is W."""
    text = _QUOTED.sub('""', text)
    unit = re.search(rf"(?i)\b(module|entity)\s+(?:(?:automatic|static)\s+)?{re.escape(top)}\b", text)
    at = unit.start() if unit else 0
    text = text[at:] + text[:at]  # the top's ports before others
    own = text[: end.start()] if unit and (end := _END.search(text)) else ""
    shared = _PRIVATE.sub(" ", text)
    said = {k.lower(): str(v) for k, v in parameters.items()}
    vhdl = unit is not None and unit[1].lower() == "entity"
    declared, value = (_GENERIC, _GENERIC_IS) if vhdl else (_PARAMETER, _PARAMETER_IS)

    def owned(name: str) -> bool:
        return name.lower() in said or re.search(declared.format(name), own) is not None

    def values(name: str) -> Iterator[str]:
        seen = set[str]()
        while owned(name) and name not in seen and len(seen) < _NAMES:
            if name.lower() in said:
                yield said[name.lower()]
                return
            first = re.search(declared.format(name), own)
            of = first and re.compile(value.format(name)).match(own, first.start())
            if not of or of[1]:  # computed, or a number
                yield of[1] if of else ""
                return
            seen.add(name)
            name = of[2]
        for pattern, where in ((_DEFINE, text), (_CONSTANT, shared)):
            yield from (number for number, _ in re.findall(pattern.format(name), where))

    found = _RANGE.search(text)
    most = (found[1] or found[2]).strip() if found else ""
    if re.fullmatch(r"[0-9]{1,9}", most):
        bits: Iterable[str] = [str(int(most) + 1)]
    else:
        names = [*dict.fromkeys(_NAME.findall(most)[:_NAMES])]
        names += ["W"] * (not any(map(owned, names)))
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
