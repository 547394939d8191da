"""Libraries of gates as liberty files describe them: areas, and which gate is the equivalent that areas are told in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from msgspec import Struct

from ..model.errors import UserError
from . import files

_CELL = re.compile(r'\bcell\s*\(\s*"?([\w$]+)"?\s*\)\s*\{')
_FUNCTION = re.compile(r'\bfunction\s*:\s*"([^"]*)"')
_NAND = (True, True, True, False)


class Library(Struct, frozen=True):
    """``gates`` and ``registers`` have areas in equivalents: those of the smallest gate that is a NAND of two inputs.
    Latches are registers."""

    name: str
    gates: dict[str, float]
    registers: dict[str, float]


def library(file: Path) -> Library:
    """What a liberty file has. Raises :class:`UserError` where it is none, has an area that is none, or no NAND of two
    inputs."""
    text = files.text(file, files.MADE, "give a liberty file of one corner of one library")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    named = re.search(r'\blibrary\s*\(\s*"?([\w.$-]+)"?\s*\)', text)
    if not named:
        raise UserError(f"{file}: no library in it; give a liberty file")
    gates: dict[str, float] = {}
    registers: dict[str, float] = {}
    units = []
    for name, body in _cells(text):
        found = re.search(r"\barea\s*:\s*\"?([^;\"}\n]*)", body)
        if found is None or re.search(r"\bdont_use\s*:\s*\"?true", body):
            continue
        area = files.number(found[1].strip(), f"{file}: area of cell {name}")
        kept = bool(re.search(r"\b(?:ff|latch)(?:_bank)?\s*\(", body))
        (registers if kept else gates)[name] = area
        functions = _FUNCTION.findall(body)
        if not kept and len(functions) == 1 and _truth(functions[0]) == _NAND and area > 0:
            units.append(area)
    if not units or not registers:
        absent = "NAND of two inputs" if not units else "flip-flop"
        raise UserError(f"{file}: no {absent} with an area in it; give the library's file with all of its cells")
    unit = min(units)
    of_unit = [{n: a / unit for n, a in of.items()} for of in (gates, registers)]
    return Library(named[1], *of_unit)


def _cells(text: str) -> Iterator[tuple[str, str]]:
    """The names of cells, and what stands between their braces."""
    for found in _CELL.finditer(text):
        depth, at = 1, found.end()
        for brace in re.finditer(r"[{}]", text[at:]):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                yield found[1], text[at : at + brace.start()]
                break


def _truth(function: str) -> tuple[bool, ...]:
    """What a function of two inputs is for 00, 01, 10 and 11; nothing for others, and for what is not a function."""
    names = sorted(set(re.findall(r"[A-Za-z_]\w*", function)))
    if len(names) != 2:
        return ()
    tokens = re.findall(r"[A-Za-z_]\w*|\S", function)
    try:
        return tuple(
            _Function(tokens, dict(zip(names, values, strict=True))).whole()
            for values in product((False, True), repeat=2)
        )
    except (IndexError, KeyError):
        return ()


class _Function:
    """A liberty function at one place: ``!`` and ``'`` before ``^``, before ``*``, ``&`` or nothing, before ``+`` and
    ``|``."""

    def __init__(self, tokens: list[str], values: dict[str, bool]) -> None:
        self.tokens, self.values, self.at = [*tokens, ""], values, 0

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def whole(self) -> bool:
        value = self.either()
        if self.tokens[self.at]:
            raise KeyError(self.tokens[self.at])
        return value

    def either(self) -> bool:
        value = self.both()
        while self.tokens[self.at] in ("+", "|"):
            self.at += 1
            value = self.both() or value
        return value

    def both(self) -> bool:
        value = self.odd()
        while self.tokens[self.at] and self.tokens[self.at] not in ("+", "|", ")"):
            self.at += self.tokens[self.at] in ("*", "&")
            value = self.odd() and value
        return value

    def odd(self) -> bool:
        value = self.one()
        while self.tokens[self.at] == "^":
            self.at += 1
            value = self.one() != value
        return value

    def one(self) -> bool:
        token = self.next()
        if token == "!":
            return not self.one()
        if token == "(":
            value = self.either()
            if self.next() != ")":
                raise KeyError(token)
        else:
            value = self.values[token]
        while self.tokens[self.at] == "'":
            self.at += 1
            value = not value
        return value
