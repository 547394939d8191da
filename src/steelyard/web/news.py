"""What was stored when, as far as pages depend on it: a new run changes the pages of its names, and no others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl

from ..analyse import expression
from ..model.errors import UserError
from . import address
from .sections import SECTIONS, Section

#: a run: id, setup's key, family, variant, target
New = tuple[int, str, str, str, str]
#: new runs that are told apart; more change everything
MOST = 500


class Since(NamedTuple):
    """Runs newer than one, and how often runs were deleted or renamed ever."""

    runs: Sequence[New] = ()
    changes: int = 0


#: what a page is of: a kind of name, and the name
Scope = tuple[str, str]
_WHOLE: Scope = ("", "")
_SIDES = ("old", "new")


class News:
    """The newest run of each scope, of those that came since the beginning."""

    def __init__(self) -> None:
        self.last = 0
        self._of: defaultdict[Scope, int] = defaultdict(int)
        self._all = 0

    def add(self, runs: Sequence[New]) -> None:
        """Learns of runs, the newest first."""
        if not runs:
            return
        if not self.last or len(runs) >= MOST:
            self._all = runs[0][0]
        for number, key, family, variant, target in reversed(runs):
            of = (("key", key[: address.KEY]), ("family", family), ("variant", variant), ("target", target))
            for scope in of:
                self._of[scope] = number
        self.last = runs[0][0]

    def fresh(self, state: int, path: str, query: str) -> bool:
        """Whether nothing was stored since ``state`` that an answer depends on."""
        if state >= self.last:
            return True
        scopes = scopes_of(path, query)
        if state < self._all and scopes:
            return False
        return all(self._of[s] <= state for s in scopes) and _WHOLE not in scopes


def of_names(query: str) -> bool:
    """Whether a comparison is of two implementations by their names, of which the database has an index."""
    asked = dict(parse_qsl(query, errors="backslashreplace"))
    sides = [asked.get(side, "") for side in _SIDES]
    return all(s.count("/") == 1 and not set(s) & set("*?[=<>~!") for s in sides)


def scopes_of(path: str, query: str) -> tuple[Scope, ...]:
    """What the answer at an address depends on; nothing where it is a document."""
    first, second, *_ = (*address.segments(path), "", "")
    of = SECTIONS.get(first, Section()).of
    if of == "none":
        return ()
    if of == "key":
        return (("key", second[: address.KEY]),) if len(second) >= address.KEY else (_WHOLE,)
    asked = dict(parse_qsl(query, errors="backslashreplace"))
    if of == "sides":
        if of_names(query):
            return tuple(("variant", asked[side].split("/")[0]) for side in _SIDES)
    elif of == "filter" and asked.get("where"):
        try:
            required = expression.parse(asked["where"]).required
        except UserError:
            return ()
        for kind in ("variant", "family", "target"):
            if kind in required:
                return ((kind, required[kind]),)
    elif of in ("target", "family", "variant") and second:
        return ((of, second),)
    return (_WHOLE,)
