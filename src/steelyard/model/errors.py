"""Errors that end a command. Each is a sentence with the next action. Exit codes: 2 for wrong usage, 1 for failed work,
3 for a failing database."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

#: what helps against something that a later version made
UPDATE = "update Steelyard: git pull, make setup"
#: the most names that a message lists
MOST = 30


class UserError(Exception):
    """Something that the user can put right; the text says how."""

    exit_code = 2


class WorkError(UserError):
    """The request was valid and could not be carried out: something could not be built, run or written."""

    exit_code = 1


#: categories of characters, and characters, that are not shown
_HARMFUL, _NEVER = ("Cc", "Cf", "Cs"), "\ufffe\uffff"


def _escape(c: str) -> str:
    return c.encode("unicode_escape").decode()


def printable(text: str) -> str:
    """``text`` made safe for a terminal and for XML. Control and format characters and lone surrogates, all of which
    file names may hold, and U+FFFE and U+FFFF become escapes. Line breaks stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c == "\n" or (unicodedata.category(c) not in _HARMFUL and c not in _NEVER) else _escape(c) for c in text
    )


def unknown(
    kind: str, name: str, known: Iterable[str], headings: Mapping[str, str] = MappingProxyType({})
) -> UserError:
    """The error for a ``name`` that is not among the ``known`` ones, with a suggestion. Names whose heading in tables
    (``headings``) matches come first, then similar ones."""
    names = sorted(known)
    near = _asked([n for n in names if headings.get(n, n).lower() == name.lower()]) or meant(name, names, 0.5)
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    hint = near or f"known: {', '.join(names[:MOST]) or 'none'}{more}"
    return UserError(f"unknown {kind} {cut(name)!r}; {hint}")


def meant(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The question whether names like this one were meant, which are as like it as ``cutoff`` says; empty where there
    are none."""
    from difflib import get_close_matches  # slow to import, and most commands do not need it

    return _asked(get_close_matches(name, sorted(known), n=3, cutoff=cutoff))


def _asked(names: Sequence[str]) -> str:
    return f"did you mean {' or '.join(names)}?" if names else ""


def refuse(given: Mapping[str, object], why: str) -> None:
    """:class:`UserError` where one of these options was given, 0 too: it would change nothing."""
    if named := [option for option, value in given.items() if value or type(value) is int]:
        raise UserError(f"{', '.join(named)}: {why}")


def counted(n: int, noun: str) -> str:
    """A number with its noun: ``1 run``, ``2 runs``."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def cut(text: str, most: int = 100) -> str:
    """``text``, shortened to ``most`` characters so that it fits a sentence."""
    return text if len(text) <= most else f"{text[:most]}..."
