"""What is published: tables as data, before any format. Each row knows the runs that it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypeVar, overload

from msgspec import Struct

_T = TypeVar("_T")

Cell = str | float | int | None
#: how a cell stands to what it is compared with
Mark = Literal["better", "worse", ""]


class Column(Struct, frozen=True):
    """``digits`` after the point for numbers; None for text. ``unit`` may be empty."""

    name: str
    title: str
    unit: str = ""
    digits: int | None = None

    @property
    def heading(self) -> str:
        """Title with unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


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


class Sheet(Struct, frozen=True):
    """A table. ``label`` is its identifier (LaTeX label, HTML anchor, file part), ``notes`` stand below."""

    title: str
    label: str
    columns: Sequence[Column]
    lines: Sequence[Line]
    caption: str = ""
    notes: Sequence[str] = ()

    @property
    def left(self) -> int:
        """How many columns hold text before the first one with numbers."""
        return next((k for k, c in enumerate(self.columns) if c.digits is not None), len(self.columns))


def text(cell: Cell, column: Column) -> str:
    """A cell as tables show it: digits as the column says, a dash for what is missing."""
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if column.digits is None:
        return str(cell)
    shown = "%.*f" % (column.digits, cell)  # noqa: UP031, which takes longer
    return shown if cell > 0 or shown.strip("-0.") else shown.lstrip("-")  # no minus before zero
