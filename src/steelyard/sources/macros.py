"""Reads the plain numbers that a C header defines, without a compiler."""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection

#: what is read of a header: sizes are near its beginning
MAX_BYTES = 1 << 16

_SPLICED = re.compile(rb"\\\r?\n")
#: strings and characters, which stay, and comments; what does not end in its line ends with it, so that no text is read
#: twice
_SKIPPED = re.compile(rb"""("(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?)|/\*.*?(?:\*/|\Z)|//[^\n]*""", re.DOTALL)
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*([a-z]+)(.*)$", re.MULTILINE)
_MACRO = re.compile(rb"(\w+)(?:[ \t]+(.*))?")
_NUMBER = re.compile(rb"(?:0[xX]([0-9a-fA-F]{1,5})|(0[0-7]{0,6})|([1-9]\d{0,5}))[uUlL]{0,3}")
#: branches of a condition: compiled, not compiled so far, not compiled after one that is; None where nobody knows
_IN, _NOT_YET, _PAST = 1, 0, -1
_ELSE = {_IN: _PAST, _NOT_YET: _IN, _PAST: _PAST, None: None}


def numbers(data: bytes) -> dict[str, int | None]:
    """What each macro of a header stands for in the end: a number; None for anything else, and where conditions leave
    several possible. Of conditions only include guards, defaults (``#ifndef`` before the definition) and ``#if 0`` are
    decided. A header of more than 64 KiB is read as far as its last whole line below that."""
    if len(data) > MAX_BYTES:
        data = data[:MAX_BYTES].rpartition(b"\n")[0]
    data = data.removeprefix(codecs.BOM_UTF8)
    text = _SKIPPED.sub(lambda m: m[1] or b" ", _SPLICED.sub(b"", data))
    directives = [(d[1], d[2].strip(b" \t\r")) for d in _DIRECTIVE.finditer(text)]
    found: dict[str, set[int | None]] = {}
    perhaps: set[str] = set()
    branches: list[int | None] = []
    for (word, rest), after in zip(directives, [*directives[1:], (b"", b"")], strict=False):
        if word.startswith(b"if"):
            branches.append(_first(word, rest, after, found.keys() - perhaps, perhaps))
        elif word in (b"else", b"elif") and branches:
            other = _ELSE[branches[-1]]
            branches[-1] = None if other == _IN and word == b"elif" else other
        elif word == b"endif" and branches:
            branches.pop()
        elif word in (b"define", b"undef") and {_NOT_YET, _PAST}.isdisjoint(branches):
            if (macro := _MACRO.fullmatch(rest)) is None:
                continue
            name, value = macro[1].decode(), _value(macro[2] or b"") if word == b"define" else None
            if None in branches:
                if name not in found:
                    perhaps.add(name)
                found.setdefault(name, set()).add(value)
            else:
                perhaps.discard(name)
                found[name] = {value}
                if word == b"undef":
                    del found[name]
    return {name: next(iter(values)) if len(values) == 1 else None for name, values in found.items()}


def _first(
    word: bytes, rest: bytes, after: tuple[bytes, bytes], defined: Collection[str], perhaps: Collection[str]
) -> int | None:
    """Whether the branch after a condition is compiled."""
    if word == b"if" and rest in (b"0", b"1"):
        return _IN if rest == b"1" else _NOT_YET
    name = rest.decode("ascii", "replace")
    if word == b"ifndef" and after[0] == b"define" and after[1].split()[:1] == [rest] and name not in perhaps:
        return _NOT_YET if name in defined else _IN
    return None


def _value(text: bytes) -> int | None:
    if text.startswith(b"(") and text.endswith(b")"):
        text = text[1:-1].strip()
    if (n := _NUMBER.fullmatch(text.strip())) is None:
        return None
    return int(n[1], 16) if n[1] else int(n[2], 8) if n[2] else int(n[3])
