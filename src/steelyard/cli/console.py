"""How tables and JSON reach the user: aligned, and clean without colour, narrow or piped."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..model.errors import printable

#: width of tables where there is no terminal to ask
PIPED_WIDTH = 200


class _Console(Console):
    """Shows text as it is: no markup, and no control characters, which names of files may hold."""

    def __init__(self, *, stderr: bool) -> None:
        terminal = (sys.stderr if stderr else sys.stdout).isatty()
        width = None if terminal else PIPED_WIDTH
        super().__init__(stderr=stderr, width=width, highlight=False, emoji=False, markup=False)

    def print(self, *objects: Any, **options: Any) -> None:
        """Like Rich's."""
        super().print(*(printable(o) if isinstance(o, str) else o for o in objects), **options)

    def on_broken_pipe(self) -> None:
        """Rich would end the command here, as a failure."""
        raise BrokenPipeError


def stdout() -> Console:
    """Console for data."""
    return _Console(stderr=False)


def stderr() -> Console:
    """Console for progress and remarks."""
    return _Console(stderr=True)


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    left: int = 1,
    wrap: Sequence[str] = (),
    drop: Sequence[str] = (),
    width: int | None = None,
    complete: str = "--json",
) -> RenderableType:
    """A table whose first ``left`` columns are text and whose others are numbers, right-aligned.

    Columns in ``wrap`` may break their text. Where ``width`` (default: the console's) is too small, the columns in
    ``drop`` go, the first ones first, then all but one number from the right, and the caption says so and which option
    gives the ``complete`` table; then text is broken too. No number is ever cut. Where all ``columns`` are empty there
    is no head.
    """
    body = [[c if isinstance(c, Text) else one_line(c) for c in row] for row in rows]
    kept = list(range(len(columns)))
    width = width or stdout().width
    widths = [max([len(name), *(len(r[k]) for r in body)]) for k, name in enumerate(columns)]

    def fits() -> bool:
        return sum(min(widths[k], 24) if columns[k] in wrap else widths[k] for k in kept) + 3 * len(kept) <= width

    for k in dict.fromkeys([*(columns.index(n) for n in drop if n in columns), *range(len(columns) - 1, left, -1)]):
        if fits() or sum(c >= left for c in kept) == 1:
            break
        kept.remove(k)
    hidden = [name for k, name in enumerate(columns) if k not in kept]
    caption = f"not shown for want of width: {', '.join(hidden)}; {complete} has all" if hidden else None
    broken = [columns[k] in wrap or (k < left and not fits()) for k in kept]
    # Rich pads cells in twice the time; but it knows where broken lines begin
    gaps = ["", *["" if any(broken) else "  "] * (len(kept) - 1)]
    padding = (0, 1) if any(broken) else 0
    named = any(columns)  # without headings there is nothing to draw a line under
    t = Table(
        caption=caption, caption_justify="left", box=SIMPLE_HEAD if named else None, show_header=named,
        pad_edge=False, padding=padding,
    )  # fmt: skip
    for k, before, breaks in zip(kept, gaps, broken, strict=True):
        justify: Literal["left", "right"] = "left" if k < left else "right"
        least = None if breaks else len(before) + widths[k]
        t.add_column(Text(before + columns[k]), justify=justify, overflow="fold", no_wrap=not breaks, min_width=least)
    for row in body:  # as they are: what looks like Rich's markup is shown
        t.add_row(*(_cell(row[k], before) for k, before in zip(kept, gaps, strict=True)))
    return Group(Text(one_line(title), style="bold"), t) if title else t


def _cell(content: str | Text, before: str) -> Text:
    return Text(before + content) if isinstance(content, str) else Text.assemble(before, content)


def one_line(text: str) -> str:
    """``text`` as a cell shows it."""
    return printable(text).replace("\n", "\\n")


def number(value: float | None, digits: int = 0) -> str:
    """A number with thin groups of thousands, or a dash."""
    if value is None:
        return "-"
    shown = f"{value:,.{digits}f}".replace(",", " ")
    return shown if shown.strip("-0.") else shown.lstrip("-")  # no minus before zero
