"""Modules and entities of sources: which may be a design's top, and whether one is a test bench's."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Sequence

from .files import ASIDE, VHDL_ASIDE

#: most characters of a module's parameters and ports
_HEAD = 8000
#: what is not code: texts, and comments; a decrement is not a comment of VHDL
_ASIDE = re.compile(
    r"""'"'|"(?:\\[\s\S]|[^"\\\n])*"?"""
    r"|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|(?<![\w)\]])--[^\n]*"
)
#: a module, whose own name is not an instance; then one in Verilog, of an entity, and of a component
_INSTANCE = re.compile(
    r"(?i)\bmodule\s+\w+|\b(\w+)\s+(?:#\s*\(|\w+\s*\()|\bentity\s+work\s*\.\s*(\w+)"
    r"|:\s*(?:component\s+)?(\w+)\s+(?:generic|port)\s+map\b"
)
#: an entity up to its end; a module's or program's header, and the imports in it
_ENTITY = re.compile(r"(?is)\bentity\s+\w+\s+is\b(.*?)(?:\bend\b|\Z)")
_MODULE = re.compile(r"\b(?:module|macromodule|program)\s([^;]*)")
_IMPORT = re.compile(r"\bimport\s[^;]*(?:;|\Z)")
_PORTLESS = re.compile(r"\s*(?:(?:static|automatic)\s+)?\w+\s*(?:#\s*\(\))?\s*(?:\( *\))?\s*")


def portless(text: str, vhdl: bool) -> bool:
    """Whether a source has a unit without ports, as tops of test benches are."""
    if vhdl:
        return any(not re.search(r"(?i)\bport\s*\(", body) for body in _ENTITY.findall(VHDL_ASIDE.sub(" ", text)))
    text = _IMPORT.sub(" ", ASIDE.sub(" ", text))
    return any(_PORTLESS.fullmatch(_outer(" ".join(header[:_HEAD].split()))) for header in _MODULE.findall(text))


def _outer(header: str) -> str:
    """A header with nothing in the parentheses of its parameters, and an x in those of ports."""
    made, depth, parameters = "", 0, False
    for part in re.findall(r"[()]|[^()]+", header):
        depth -= part == ")"
        if depth == 0:
            parameters = made.rstrip().endswith("#") if part == "(" else parameters
            made += part
        elif part.strip() and not parameters and not made.endswith("x"):
            made += "x"
        depth += part == "("
    return made


def tops(text: str) -> list[str]:
    """Modules and entities whose ports have the API's names, and that no other instantiates. Each part of the text is
    looked at a few times, however many modules it has."""
    text = _ASIDE.sub(lambda found: '""' if found[0][0] in "\"'" else " ", text)
    named = [_places(rf"(?i)\b{p}\b", text) for p in ("pdi_data", "sdi_data", "do_data")]
    ends = {"module": _places(r"(?i)\)\s*;|\bmodule\s+\w+\s*;", text), "entity": _places(r"(?i)\bend\b", text)}
    names = []
    for found in re.finditer(r"(?i)\b(module|entity)\s+(?:(?:automatic|static)\s+)?(\w+)\b(?!\s*\.)", text):
        end = min(_after(ends[found[1].lower()], found.end()), found.end() + _HEAD)
        if all(_after(places, found.end()) < end for places in named):
            names.append(found[2])
    used = {n.lower() for found in _INSTANCE.finditer(text) for n in found.groups() if n}
    return [n for n in dict.fromkeys(names) if n.lower() not in used]


def _places(pattern: str, text: str) -> list[int]:
    """The places of the last characters of what a pattern finds."""
    return [f.end() - 1 for f in re.finditer(pattern, text)]


def _after(places: Sequence[int], at: int) -> int:
    """The first of the sorted places that is not before this one; past any text where there is none."""
    k = bisect_left(places, at)
    return places[k] if k < len(places) else sys.maxsize
