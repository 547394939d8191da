"""Errors that end a command: a sentence with the next action, exit code 2."""

from __future__ import annotations

from collections.abc import Iterable


class UserError(Exception):
    """Something the user can put right; the text says how."""


def unknown(kind: str, name: str, known: Iterable[str]) -> UserError:
    """Error for a name that does not exist, with the nearest ones that do."""
    from difflib import get_close_matches  # takes a while, and most commands come without

    names = sorted(known)
    near = get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names) or 'none'}"
    return UserError(f"unknown {kind} {name!r}; {hint}")
