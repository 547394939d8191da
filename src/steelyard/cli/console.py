"""How answers reach a person: tables aligned, and clean without colour, narrow or piped."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..model.errors import printable
from ..publish.sheet import ARROWS, Cell, Column, Line, Sheet, text

#: width of tables where there is no terminal to ask
PIPED_WIDTH = 200
#: most lines of all tables of an answer; every table may have the second number
MAX_LINES, MIN_LINES = 300, 60
#: columns by name, in the order in which they go where a table has no room
SPARE = (
    "calls", "with_callees", "expected_from", "skipped", "second_set", "vectors", "mode", "structure", "underlying",
    "rounds", "rate", "left", "progress", "core", "flash_RAM", "clock", "finished", "ratio", "old", "new", "heap",
    "encrypt_fixed", "hash_fixed", "cycles_reject_mean", "ram_static", "encrypt_per_byte", "hash_per_byte", "stack",
    "primitive", "workload", "cycles_decrypt_mean", "run", "flags", "for", "chip",
)  # fmt: skip
#: columns whose text may be broken into lines
BROKEN = (
    "compiler", "detail", "for", "last_error", "outcome", "package", "status", "value", "verdict", "what_fixes_it",
    "why",
)  # fmt: skip
_STYLES = {"▾": "green", "▴": "red"}
#: characters between columns, and between those of numbers of one kind
_GAP, _CLOSE = 3, 2
#: characters that a column whose text may be broken has at least
_NARROW = 32
#: characters of other text that go before a column does: a name can have 255
_LONG = 64
#: what Rich fills the last column with
_SPACES = re.compile(r" +$", re.MULTILINE)


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


def say(notes: Iterable[str]) -> None:
    """Remarks on standard error."""
    for note in notes:
        stderr().print(note, style="yellow", soft_wrap=True)


def show(sheets: Sequence[Sheet], notes: Iterable[str] = ()) -> None:
    """Tables and notes on standard output, then the units of the columns; what has no room is named."""
    console = stdout()
    limit = max(MIN_LINES, MAX_LINES // max(1, len(sheets)))
    for sheet in sheets:
        lines = sheet.lines[:limit]
        body = [[_shown(line, v, c) for v, c in zip(line.cells, sheet.columns, strict=True)] for line in lines]
        for part in _parts(sheet, body, console.width):
            columns = [sheet.columns[k] for k in part]
            shown = table(
                sheet.title,
                [c.title for c in columns],
                [[row[k] for k in part] for row in body],
                left=sheet.left,
                wrap=[c.title for c in columns if c.name in BROKEN],
                drop=[c.title for name in SPARE for c in columns if c.name == name],
                complete="-o FILE",
                gap=_CLOSE if sheet.alike else _GAP,
            )
            with console.capture() as drawn:
                console.print(shown)
            console.file.write(_SPACES.sub("", drawn.get()))
        if (more := len(sheet.lines) - limit) > 0:
            console.print(f"and {more} more lines; -o FILE has all of them")
        for note in sheet.notes:
            console.print(note, style="dim", soft_wrap=not console.is_terminal)
        if sheet.notes:
            console.print()
    for note in [*notes, *_units(sheets)]:
        console.print(note, style="dim", soft_wrap=not console.is_terminal)


def _shown(line: Line, value: Cell, column: Column) -> str:
    shown = text(value, column, " ") + ARROWS[line.marks.get(column.name, "")]
    return f"+{shown}" if column.name == "difference" and isinstance(value, int) and value > 0 else shown


def _parts(sheet: Sheet, body: Sequence[Sequence[str]], room: int) -> Iterator[list[int]]:
    """Columns, as many at a time as a line has room for where they are alike, but one with numbers; else all."""
    gap = _CLOSE if sheet.alike else _GAP
    widths = [max([len(c.title), *(len(row[k]) for row in body)]) + gap for k, c in enumerate(sheet.columns)]
    head = list(range(sheet.left))
    part, used = [*head], sum(widths[: sheet.left])
    for k in range(sheet.left, len(widths)):
        if sheet.alike and len(part) > len(head) and used + widths[k] > room:
            yield part
            part, used = [*head], sum(widths[: sheet.left])
        part.append(k)
        used += widths[k]
    yield part


def _units(sheets: Sequence[Sheet]) -> list[str]:
    """What the figures are counted in: headings have no room for it."""
    titles: dict[str, dict[str, None]] = {}
    for c in (c for s in sheets for c in s.columns if c.unit not in ("", c.title)):
        titles.setdefault(c.unit, {})[f'"{c.title}"' if "," in c.title else c.title] = None  # commas are between them
    said = [f"{', '.join(of)}: {unit}" for unit, of in titles.items()]
    return ["; ".join(said)] if said else []


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    left: int = 1,
    wrap: Sequence[str] = (),
    drop: Sequence[str] = (),
    width: int | None = None,
    complete: str = "--json",
    gap: int = _GAP,
) -> Group:
    """A table whose first ``left`` columns are text and whose others are numbers, right-aligned, with ``gap``
    characters between columns.

    Columns in ``wrap`` may break their text. Where ``width`` (default: the console's) is too small, the columns in
    ``drop`` go, the first ones first, then all but one number from the right, and the caption says so and which option
    gives the ``complete`` table; then text is broken too. No number is ever cut, and no text goes that alone tells two
    lines apart. Where all ``columns`` are empty there is no head.
    """
    body = [[one_line(c) for c in row] for row in rows]
    width = width or stdout().width
    widths = [max([len(name), *(cell_len(r[k]) for r in body)]) for k, name in enumerate(columns)]
    kept = list(range(len(columns)))

    def least(k: int) -> int:
        return min(widths[k], _NARROW if columns[k] in wrap else _LONG if k < left else widths[k])

    def needed() -> int:
        return sum(map(least, kept)) + gap * len(kept)

    def lines(without: int) -> int:
        told = [c for c in kept if c < left and c != without and columns[c] != "run"]  # each line has another
        return len({tuple(row[c] for c in told) for row in body})

    for k in dict.fromkeys([*(columns.index(n) for n in drop if n in columns), *range(len(columns) - 1, left, -1)]):
        if needed() <= width or sum(c >= left for c in kept) == 1:
            break
        if k >= left or lines(k) == lines(-1):
            kept.remove(k)
    hidden = [name for k, name in enumerate(columns) if k not in kept]
    caption = f"not shown for lack of width: {', '.join(hidden)}; {complete} has all" if hidden else ""
    headed = any(columns)
    above = [Text(one_line(title), "bold")] if title else []
    below = [Text(""), *([Text(caption)] if caption else [])] if headed else []
    heads, cells = [columns[k] for k in kept], [[row[k] for k in kept] for row in body]
    full = needed() > width
    folded = [columns[k] in wrap or (k < left and (full or widths[k] > _LONG)) for k in kept]
    left = sum(k < left for k in kept)
    if sum(widths[k] + gap for k in kept) - gap + int(headed) <= width:
        shown: Text | Padding = _lines(heads, cells, [widths[k] for k in kept], left, gap)
    else:
        shown = Padding(_broken(heads, cells, folded, left, gap), (0, 0, 0, int(headed)))
    return Group(*above, *([Text("")] if headed else []), shown, *below)


def _lines(columns: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int], left: int, gap: int) -> Text:
    """The lines of a table that has room. Rich's own tables take longer than all else that a long answer needs."""

    def line(row: Sequence[str]) -> str:
        spaces = [" " * (width - cell_len(cell)) for width, cell in zip(widths, row, strict=True)]
        return (" " * gap).join(c + s if k < left else s + c for k, (c, s) in enumerate(zip(row, spaces, strict=True)))

    if not any(columns):
        return _coloured("\n".join(map(line, rows)))
    rule = "─" * (sum(widths) + gap * (len(widths) - 1))
    return _coloured("\n".join(f" {text}" for text in (line(columns), rule, *map(line, rows))))


def _broken(
    columns: Sequence[str], rows: Sequence[Sequence[str]], folded: Sequence[bool], left: int, gap: int
) -> Table:
    """A table without room for its longest text, which is broken where a column is ``folded``."""
    shown = Table(box=SIMPLE_HEAD, show_header=any(columns), show_edge=False, pad_edge=False, header_style="")
    shown.padding = (0, 1, 0, gap - 2)  # and the box has a character of its own
    for k, name in enumerate(columns):
        shown.add_column(name, justify="left" if k < left else "right", no_wrap=not folded[k], overflow="fold")
    for row in rows:
        shown.add_row(*map(_coloured, row))
    return shown


def _coloured(cell: str) -> Text:
    """A cell with its mark."""
    made = Text(cell)
    for mark, style in _STYLES.items():
        made.highlight_words([mark], style)
    return made


def one_line(text: str) -> str:
    """``text`` as a cell shows it."""
    return printable(text).replace("\n", "\\n")


def number(value: float | None, digits: int = 0) -> str:
    """A number with thin groups of thousands, or a dash."""
    return text(value, Column("", "", digits=digits), " ")
