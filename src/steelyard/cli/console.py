"""How tables and JSON reach the user: aligned, and clean without colour, narrow or piped."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

#: width of tables where there is no terminal to ask
PIPED_WIDTH = 200


def stdout() -> Console:
    """Console for data."""
    return Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False, emoji=False, soft_wrap=False)


def stderr() -> Console:
    """Console for progress and remarks."""
    return Console(stderr=True, highlight=False, emoji=False, width=None if sys.stderr.isatty() else PIPED_WIDTH)


def print_json(data: Any) -> None:
    """One JSON document on standard output."""
    json.dump(data, sys.stdout, indent=2, default=str)
    sys.stdout.write("\n")


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    left: int = 1,
    wrap: Sequence[str] = (),
    drop: Sequence[str] = (),
    width: int | None = None,
) -> RenderableType:
    """A table whose first ``left`` columns are text and whose others are numbers, right-aligned.

    Columns in ``wrap`` may break their text. Where ``width`` (default: the console's) is too small, the
    columns in ``drop`` go, the first ones first, and the caption says so.
    """
    body = [list(row) for row in rows]
    kept = list(range(len(columns)))
    width = width or stdout().width

    def needed() -> int:
        cells = {k: max([len(columns[k]), *(len(r[k]) for r in body)]) for k in kept}
        return sum(min(c, 24) if columns[k] in wrap else c for k, c in cells.items()) + 3 * len(kept)

    hidden = []
    for name in (n for n in drop if n in columns):
        if needed() <= width:
            break
        kept.remove(columns.index(name))
        hidden.append(name)
    caption = f"not shown for want of width: {', '.join(hidden)}; --json has all" if hidden else None
    heads, rest = [columns[k] for k in kept], [[row[k] for k in kept] for row in body]
    grid = _Grid(heads, rest, [k < left for k in kept], [n in wrap for n in heads], caption)
    return Group(Text(title, style="bold"), grid) if title else grid


@dataclass(frozen=True)
class _Grid:
    """Cells below heads, set here where they have room, in a tenth of Rich's time, and by Rich where they have not."""

    heads: Sequence[str]
    body: Sequence[Sequence[str | Text]]
    left: Sequence[bool]
    wrap: Sequence[bool]
    caption: str | None

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        rows = [self.heads, *self.body]
        widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
        across = sum(widths) + 3 * len(widths) - 1
        if self.caption or across > options.max_width or not all(str(c).isprintable() for row in rows for c in row):
            yield self._by_rich()
            return
        head, *body = (self._line(row, widths) for row in rows)
        head.stylize("bold")
        edge, rule = Text(" " * across), Text(f" {'─' * (across - 2)} ")
        yield from (edge, head, rule, *body, edge)

    def _line(self, row: Sequence[str | Text], widths: Sequence[int]) -> Text:
        parts: list[str | Text] = []
        for cell, width, left in zip(row, widths, self.left, strict=True):
            space = " " * (width - _width(cell))
            parts += ("   " if parts else " ", cell, space) if left else ("   " if parts else " ", space, cell)
        if all(isinstance(part, str) for part in parts):
            return Text("".join(map(str, parts)) + " ", no_wrap=True, overflow="ignore")
        return Text.assemble(*parts, " ", no_wrap=True, overflow="ignore")

    def _by_rich(self) -> RenderableType:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        made = Table(caption=self.caption, caption_justify="left", box=SIMPLE_HEAD, pad_edge=False)
        for name, left, wrap in zip(self.heads, self.left, self.wrap, strict=True):
            made.add_column(Text(name), justify="left" if left else "right", overflow="fold", no_wrap=not wrap)
        for row in self.body:
            made.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
        return made


def _width(cell: str | Text) -> int:
    """Columns of the terminal that a cell takes."""
    text = str(cell)
    return len(text) if text.isascii() else cell_len(text)


def number(value: float | None, digits: int = 0) -> str:
    """A number with thin groups of thousands, or a dash."""
    if value is None:
        return "-"
    return f"{value:,.{digits}f}".replace(",", " ")
