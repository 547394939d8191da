"""What page functions share: what they get, and blocks that several of them make."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from msgspec.structs import replace

from ...analyse.answer import Answer
from ...model.errors import counted, meant, printable, unknown
from ...model.row import CONTEXT, Row
from ...model.target import target_names
from ...publish import figure, results
from ...publish.sheet import Sheet
from ...store import Store
from .. import address
from ..ask import Rows
from ..page import Block, Field, Form, Markup, NotThereError, Picture, Table, Text

NAMES = Field("what", "names", "ascon* aes128gcm/ref")
FIND = Field("where", "filter", 'target == uno and (rom < 4096 or variant ~ "ascon*")')


class View(NamedTuple):
    """What a page function gets: the database, what the address asks, and whether the server is ``taking`` what is
    handed in, and what its owners decide."""

    store: Store
    asked: Mapping[str, str]
    taking: bool = False

    @property
    def rows(self) -> Rows:
        """Its rows."""
        return Rows(self.store)

    def text(self, name: str) -> str:
        """A parameter; empty where it is not asked."""
        return self.asked.get(name, "")

    def form(self, action: str, button: str, fields: Iterable[Field], **usual: str) -> Form:
        """The questions as they were asked, or the ``usual`` ones."""
        values = ((f, self.text(f.name) or usual.get(f.name, "")) for f in fields)
        return Form(action, [replace(f, value=value) for f, value in values], button)

    def complete(self, rows: Sequence[Row]) -> list[Row]:
        """See :func:`results.complete`."""
        return results.complete(rows, self.store)


def bars(sheet: Sheet) -> str:
    """The first metric, beside whose numbers bars stand."""
    return next((c.name for c in sheet.columns if c.digits is not None and c.name not in CONTEXT), "")


def figure_of(v: View, name: str, rows: Sequence[Row], answer: Answer, label: str, title: str) -> Iterable[Block]:
    """The figure ``name`` of some rows of an answer, with its numbers."""
    kind = figure.load(name)
    points = answer.points(v.store, rows) if kind.of_points else {}
    data = figure.data_of(kind, rows, points)
    if data:
        context = results.shared(figure.marked(rows, data), ("flags", "workload"))
        yield Picture(label, title, kind.note, spec=lambda: figure.specification(kind, data, title, context))
        yield Table(replace(figure.table(kind, data, title), label=label), folded="the figure's numbers")
        if left := figure.left_out(kind, rows, data):
            yield Text(f"{left[0].upper()}{left[1:]}.")
    elif rows:
        yield Text(f"Nothing to draw of {counted(len(rows), 'run')}. {kind.note}")


def remarks(answer: Answer, found: Sequence[Row]) -> Iterable[Block]:
    """What an answer says of itself, below its tables."""
    if not found:
        there = sum(r["variant"] != "nocrypt" for r in answer.rows)
        some = f"{counted(there, 'matching run')}, none of them verified."
        none = "No run but nocrypt's, the baseline, matches." if answer.rows else "No stored run matches."
        yield Text(some if there else none)
    yield from map(noted, answer.notes)


#: what a note advises on the command line: a filter, or runs that newer ones replace
_ADVICE = re.compile(r"; to (?:see|compare): (?:--where '(.*)'|steelyard publish --all-runs)$")


def noted(note: str) -> Text | Markup:
    """A note of an answer, whose advice leads to the page that follows it."""
    advice = _ADVICE.search(note)
    if advice is None:
        return Text(note)
    to = address.path("tables", where=advice[1]) if advice[1] else address.path("tables", all="yes")
    shown = f'{escape(printable(note[: advice.start()]))}; <a href="{escape(to)}">show them</a>'
    return Markup(f'<p class="note">{shown}</p>')


def every_name(v: View) -> dict[str, tuple[str, tuple[str, ...]]]:
    """All that has a page by name: what it is, and the names in its address."""
    every: dict[str, tuple[str, tuple[str, ...]]] = {}
    for _, f, of, n in v.store.implementations():
        every.setdefault(f"{of}/{n}", ("implementation", ("implementations", of, n)))
        every.setdefault(of, ("variant", ("variants", of)))
        every.setdefault(f, ("family", ("families", f)))
    for n in {*v.store.targets(), *target_names()}:
        every.setdefault(n, ("target", ("targets", n)))
    return every


def nearest(v: View, name: str) -> str:
    """What may be meant by a name that nothing has."""
    return meant(name.strip("*?"), every_name(v)) or "/search finds what there is"


def not_there(kind: str, name: str, known: Iterable[str]) -> NotThereError:
    """What to raise for a name that is none of those known."""
    return NotThereError(str(unknown(kind, name, known)))
