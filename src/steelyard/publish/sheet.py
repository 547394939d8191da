"""What is published: tables as data, before any format. Each row knows the runs that it was made from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypeVar, overload

from msgspec import Struct
from msgspec.structs import replace

from ..model.errors import printable

_T = TypeVar("_T")

Cell = str | float | int | None
#: ``digits`` of a column whose numbers are of several kinds: as many as they have, three at most, or two that count
ANY = -1
#: how a cell stands to what it is compared with
Mark = Literal["better", "worse", ""]
#: what stands after a number with that mark
ARROWS: Mapping[Mark, str] = {"better": " ▾", "worse": " ▴", "": ""}


class Column(Struct, frozen=True):
    """``digits`` after the point for numbers; None for text. ``unit`` may be empty."""

    name: str
    title: str
    unit: str = ""
    digits: int | None = None

    @property
    def heading(self) -> str:
        """Title with unit, where the title does not say it."""
        return f"{self.title} ({self.unit})" if self.unit not in ("", self.title) else self.title


_NO_MARKS: Mapping[str, Mark] = MappingProxyType({})


class Line(Struct, frozen=True):
    """One row: ``cells`` in the order of the columns, ``runs`` whose records hold the figures, and marks by column."""

    cells: Sequence[Cell]
    runs: Sequence[int] = ()
    marks: Mapping[str, Mark] = _NO_MARKS


class Lines(Sequence[Line]):
    """Lines that are made when they are looked at: the console shows a few of very many."""

    def __init__(self, items: Sequence[_T], make: Callable[[_T], Line]) -> None:
        self._items: Sequence[Any] = items
        self._make: Callable[[Any], Line] = make

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Line]:
        return map(self._make, self._items)

    @overload
    def __getitem__(self, at: int) -> Line: ...
    @overload
    def __getitem__(self, at: slice) -> list[Line]: ...
    def __getitem__(self, at: int | slice) -> Line | list[Line]:
        if isinstance(at, slice):
            return [self._make(item) for item in self._items[at]]
        return self._make(self._items[at])


class Group(Struct, frozen=True):
    """What tells a table or figure from others of its ``label``: the ``key`` that its rows share. Of those of one label
    the one with the most ``worth`` (how many rows, and when the newest of them ended) has it as it is."""

    label: str
    key: tuple[str, ...]
    worth: tuple[int, tuple[str, int]]


def word(key: Sequence[str]) -> str:
    """A key in eight digits, for names."""
    return hashlib.sha256("\0".join(key).encode(errors="surrogateescape")).hexdigest()[:8]


class Sheet(Struct, frozen=True):
    """A table. ``label`` is its identifier (LaTeX label, HTML anchor, file part), ``notes`` stand below. ``alike`` says
    that its numbers are all of one kind, so that columns without room can follow in a further table. Of what is one of
    a ``group``, :func:`distinct` says the ``own`` label, which it has whatever else there is."""

    title: str
    label: str
    columns: Sequence[Column]
    lines: Sequence[Line]
    caption: str = ""
    notes: Sequence[str] = ()
    alike: bool = False
    group: Group | None = None
    own: str = ""

    @property
    def left(self) -> int:
        """How many columns hold text before the first one with numbers."""
        return next((k for k, c in enumerate(self.columns) if c.digits is not None), len(self.columns))


def plain(
    title: str,
    label: str,
    columns: Mapping[str, int | None] | Sequence[str],
    rows: Iterable[Sequence[Cell]],
    notes: Sequence[str] = (),
) -> Sheet:
    """A table that is not of records. ``columns`` are headings: of text, or with the digits of their numbers.

    >>> plain("", "part", {"symbol": None, "bytes": 0}, [("main", 8)]).columns[1].name
    'bytes'
    """
    digits = columns if isinstance(columns, Mapping) else dict.fromkeys(columns)
    heads = [
        Column(re.sub(r"\W+", "_", h.replace("%", "percent")).strip("_") or "column", h, digits=d)
        for h, d in digits.items()
    ]
    return Sheet(title, label, heads, [Line(row) for row in rows], notes=notes)


def distinct(sheets: Sequence[Sheet], word: Callable[[Sequence[str]], str] = word) -> list[Sheet]:
    """The sheets, no two of one label. Of the groups of a label the one that is worth most has it, and the others have
    the word for their key after it; what has no group has a number after it, where another has it already."""
    names = labels([(s.label, s.group) for s in sheets], word)
    return [replace(s, label=label, own=own) for s, (label, own) in zip(sheets, names, strict=True)]


def labels(
    of: Sequence[tuple[str, Group | None]], word: Callable[[Sequence[str]], str] = word
) -> list[tuple[str, str]]:
    """See :func:`distinct`: for each the label, and its own one, which is empty where it has no group."""
    most: dict[str, Group] = {}
    for _, g in of:
        if g is not None and g.worth > most.setdefault(g.label, g).worth:
            most[g.label] = g
    taken: set[str] = set()
    made = []
    for label, g in of:
        own = f"{g.label}-{word(g.key)}" if g is not None else ""
        shown = unlike(label if g is None else g.label if most[g.label] is g else own, taken)
        made.append((shown, own))
    return made


def unlike(label: str, taken: set[str]) -> str:
    """The label, with a number after it where it is among those ``taken``; it is one of them then."""
    made, n = label, 2
    while made in taken:
        made, n = f"{label}-{n}", n + 1
    taken.add(made)
    return made


def encodable(text: str) -> str:
    """The text with an escape for each lone surrogate, which names of files may hold and UTF-8 does not."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def shown(sheet: Sheet, made: Callable[[str], str] = printable) -> Sheet:
    """The sheet with printable texts, or with what is ``made`` of them."""

    def line(x: Line) -> Line:
        if all(c.isprintable() for c in x.cells if isinstance(c, str)):
            return x
        return replace(x, cells=[made(c) if isinstance(c, str) else c for c in x.cells])

    return replace(
        sheet,
        title=made(sheet.title),
        label=made(sheet.label),
        columns=[replace(c, title=made(c.title)) for c in sheet.columns],
        lines=[line(x) for x in sheet.lines],
        caption=made(sheet.caption),
        notes=[made(n) for n in sheet.notes],
    )


def spaced(number: float) -> str:
    """A whole number as people read it, with a space between thousands."""
    return f"{number:,.0f}".replace(",", " ")


def text(cell: Cell, column: Column, group: str = "") -> str:
    """A cell as tables show it: digits as the column says, ``group`` between thousands, a dash for what is missing."""
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if column.digits is None:
        return str(cell)
    digits = column.digits
    if digits == ANY and cell and not round(cell, 3):
        return f"{cell:.2g}"
    if digits == ANY:
        cell, digits = round(cell, 3), 0 if round(cell, 3) == round(cell) else 3
    shown = f"{cell:,.{digits}f}".replace(",", group) if group else "%.*f" % (digits, cell)  # noqa: UP031, which is slow
    shown = shown.rstrip("0") if column.digits == ANY and digits else shown
    return shown if cell > 0 or shown.strip("-0.") else shown.lstrip("-")  # no minus before zero
