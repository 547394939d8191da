"""Addresses: names and digests, never numbers of rows, so that they stay when a database is copied or grows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlencode

from ..model.errors import UserError, cut
from ..model.row import names_of
from ..publish import sheet
from .wire import ROOT

if TYPE_CHECKING:
    from ..store import Store

#: hexadecimal digits of a setup's key in an address, and the fewest that may be given
KEY, SHORTEST = 16, 8
#: a beginning that keeps a name from being read as ``.``, ``..`` or nothing
_GUARD = "~"
_TOKEN = re.compile(r"[\w-]{10,64}", re.ASCII)


def path(*segments: str, **query: str) -> str:
    """The address of a page: ``/variants/ascon128v12``, with what is asked after ``?``, but for empty parameters."""
    asked = {k: v for k, v in query.items() if v}
    return "/" + "/".join(map(_quoted, segments)) + (f"?{urlencode(asked)}" if asked else "")


def segments(raw: str) -> tuple[str, ...]:
    """The names in a path as it was sent, before anything was decoded in it."""
    parts = raw.split("?")[0].split("/")
    return tuple(_unguarded(unquote(p, errors="backslashreplace")) for p in parts if p)


def is_private(names: Sequence[str]) -> bool:
    """Whether what stands at an address is somebody's own, however it was spelled: nobody keeps it on the way."""
    return names[:1] in (("submissions",), ("operate",)) or names[: len(ROOT) + 1] == (*ROOT, "submissions")


def token(link: str) -> str:
    """The token in a private link, or the token itself; of no link none. Raises :class:`UserError`."""
    found = re.split("[?#]", link.strip())[0].rstrip("/").rsplit("/", 1)[-1]
    if link.strip() and not _TOKEN.fullmatch(found):
        raise UserError(f"{cut(link, 60)}: is not the private link of a submission")
    return found


def _quoted(name: str) -> str:
    return quote(_GUARD + name if _is_odd(name) else name, safe="", errors="backslashreplace")


def _unguarded(name: str) -> str:
    """The name that a part of an address has. Each has one spelling: a proxy knows private ones by it."""
    rest = name.removeprefix(_GUARD)
    return rest if _is_odd(rest) else name


def _is_odd(name: str) -> bool:
    return not name or name[0] in (".", _GUARD)


def run(key: str, finished: int | None) -> tuple[str, str]:
    """The names in a run's address: its setup, and when it ended, in microseconds."""
    return key[:KEY], str(finished or 0)


def runs(store: Store, ids: set[int]) -> dict[int, str]:
    """The addresses of runs."""
    return {n: path("runs", *run(*of)) for n, of in store.addresses(ids).items()}


def words(store: Store) -> Callable[[Sequence[str]], str]:
    """What tells tables of one label apart in addresses, by the key of their rows (:data:`..publish.results.GROUP`): it
    is of digests, so that nothing else that is stored changes it."""

    @cache
    def made() -> tuple[Mapping[tuple[str, str], Sequence[str]], Mapping[tuple[str, str], Sequence[str]]]:
        every = store.made()
        names = names_of(every)
        return {(m.target, names.compiler(m)): (m.version, m.sha256) for m in every}, {
            (m.target, names.model(m)): (m.timing_model, m.target_digest) for m in every
        }

    def word(key: Sequence[str]) -> str:
        target, _, device, compiler, harness, model = key
        compilers, models = made()
        exact = (*compilers.get((target, compiler), (compiler,)), harness, *models.get((target, model), (model,)))
        return sheet.word((device, *exact))

    return word


def implementation(label: str) -> str:
    """The address of ``variant/implementation``; empty where a text is none."""
    variant, _, name = label.partition("/")
    return path("implementations", variant, name) if variant and name and " " not in name else ""
