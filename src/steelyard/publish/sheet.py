"""What is published: tables as data, before any format. Each row knows the runs that it was made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Cell = str | float | int | None
#: how a cell stands to what it is compared with
Mark = Literal["better", "worse", ""]


@dataclass(frozen=True)
class Column:
    """``digits`` behind the point for numbers; None for text. ``unit`` may be empty."""

    name: str
    title: str
    unit: str = ""
    digits: int | None = None

    @property
    def heading(self) -> str:
        """Title with unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True)
class Line:
    """One row: ``cells`` in the order of the columns, ``runs`` whose records hold the figures, and marks by column."""

    cells: Sequence[Cell]
    runs: Sequence[int] = ()
    marks: dict[str, Mark] = field(default_factory=dict)


@dataclass(frozen=True)
class Sheet:
    """A table. ``label`` is its identifier (LaTeX label, HTML anchor, file part), ``notes`` stand below."""

    title: str
    label: str
    columns: Sequence[Column]
    lines: Sequence[Line]
    caption: str = ""
    notes: Sequence[str] = ()


def text(cell: Cell, column: Column) -> str:
    """A cell as tables show it: digits as the column says, a dash for what is missing."""
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if column.digits is None:
        return str(cell)
    shown = f"{cell:.{column.digits}f}"
    return shown if shown.strip("-0.") else shown.lstrip("-")  # no minus before zero
