"""Errors that end a command: a sentence with the next action, exit code 2 for wrong usage, 1 for failed work, 3 where
the database fails."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from types import MappingProxyType

#: names that a message lists
MOST = 30


class UserError(Exception):
    """Something the user can put right; the text says how."""

    exit_code = 2


class WorkError(UserError):
    """The question was right, and there is no answer: what was to be built, run or written could not be."""

    exit_code = 1


def printable(text: str) -> str:
    """``text`` for a terminal: control and format characters and lone surrogates, which names of files may hold, as
    escapes; lines stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs") else c.encode("unicode_escape").decode()
        for c in text
    )


def unknown(
    kind: str, name: str, known: Iterable[str], headings: Mapping[str, str] = MappingProxyType({})
) -> UserError:
    """Error for a name that does not exist, with the nearest ones that do; first of all those whose ``headings`` in
    tables it is."""
    from difflib import get_close_matches  # takes a while, and most commands come without

    names = sorted(known)
    near = [n for n in names if headings.get(n, n).lower() == name.lower()]
    near = near or get_close_matches(name, names, n=3, cutoff=0.5)
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names[:MOST]) or 'none'}{more}"
    return UserError(f"unknown {kind} {cut(name)!r}; {hint}")


def refuse(given: Mapping[str, object], why: str) -> None:
    """:class:`UserError` where one of these options was given: it would change nothing."""
    if named := [option for option, value in given.items() if value]:
        raise UserError(f"{', '.join(named)}: {why}")


def counted(n: int, noun: str) -> str:
    """``1 run`` or ``2 runs``."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def cut(text: str, most: int = 100) -> str:
    """``text`` short enough for a sentence."""
    return text if len(text) <= most else f"{text[:most]}..."
