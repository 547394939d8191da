"""Where an answer goes and in which format: ``-o``, ``--format`` and ``--json``, the same for every verb."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click
from msgspec import Struct

from ..model.errors import UserError, cut, unknown
from ..publish import formats
from ..publish.sheet import Cell, Column, Line, Sheet
from .console import number, stderr, stdout, table

P = ParamSpec("P")
T = TypeVar("T")

Columns = Mapping[str, int | None] | Sequence[tuple[str, int | None]]

#: formats of tables; what else a verb can give stands before them
TABLES = tuple(formats.MODULES)


class Output(Struct, frozen=True):
    """``path`` is None for standard output. ``format`` is one of the verb's; empty for tables on the console."""

    path: Path | None = None
    format: str = ""

    @property
    def console(self) -> bool:
        """Whether a person is to read the answer, on standard output."""
        return not self.format

    def tables(self, sheets: Sequence[Sheet], document: object = None) -> None:
        """Writes sheets in the format asked for; JSON is the ``document`` where there is one."""
        if self.format == "json" and document is not None:
            self.put(json.dumps(document, indent=2, default=str) + "\n")
        else:
            self.put(formats.render(sheets, self.format))

    def put(self, content: str | bytes) -> None:
        """Writes ``content`` to the file, whole or not at all, or to standard output."""
        data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
        if self.path is not None:
            formats.save(self.path, data)
            stderr().print(f"wrote {self.path}", soft_wrap=True)
        elif (binary := getattr(sys.stdout, "buffer", None)) is not None:
            sys.stdout.flush()
            binary.write(data)
            binary.flush()
        else:
            sys.stdout.write(data.decode(errors="backslashreplace"))


def sheet(title: str, label: str, columns: Columns, rows: Iterable[Sequence[Cell]]) -> Sheet:
    """A table of a verb's own. ``columns`` are headings with the digits of their numbers, None where they hold text."""
    pairs = columns.items() if isinstance(columns, Mapping) else columns
    heads = [Column(_name(heading), heading, digits=digits) for heading, digits in pairs]
    return Sheet(title, label, heads, [Line(row) for row in rows])


def _name(heading: str) -> str:
    return re.sub(r"\W+", "_", heading).strip("_") or "column"


def show(sheet: Sheet, *, wrap: Sequence[str] = (), drop: Sequence[str] = ()) -> None:
    """Such a table on the console; for ``wrap`` and ``drop`` see :func:`console.table`."""
    body = [[_shown(v, c) for v, c in zip(line.cells, sheet.columns, strict=True)] for line in sheet.lines]
    console = stdout()
    console.print(table(sheet.title, [c.title for c in sheet.columns], body, left=sheet.left, wrap=wrap, drop=drop))
    for note in sheet.notes:
        console.print(note, style="dim")


def _shown(value: Cell, column: Column) -> str:
    if isinstance(value, str) or column.digits is None:
        return "-" if value is None else str(value)
    sign = "+" if column.name == "difference" and value and value > 0 else ""
    return sign + number(value, column.digits)


#: tables for a person, on standard output
CONSOLE = Output()
_BINARY = ("xlsx", "ods", "parquet", "png", "pdf")


def resolve(out: Path | None, format: str, json: bool, known: Sequence[str], usual: str = "") -> Output:
    """What the three options mean: the format that is named, else the file's ending; ``usual`` is what ``-o -`` gives.

    :class:`UserError` where they contradict each other, name no format of ``known``, or the file cannot be
    written: that is said before a long run, not after it.
    """
    if json and format not in ("", "json"):
        raise UserError(f"--json and --format {format}: leave one of them out")
    named = "json" if json else format.lower().removeprefix(".")
    if named and named not in known:
        raise unknown("format", named, known)
    if out is None and not named:
        return CONSOLE
    if out is None or str(out) == "-":
        if named in _BINARY and sys.stdout.isatty():
            raise UserError(f"--format {named} is not for a terminal; give -o FILE, or send it into a pipe")
        return Output(None, named or usual)
    named = named or _ending(out, known)
    if not named and os.path.isdir(out):  # noqa: PTH112, which raises nothing
        raise UserError(f"{out}: is a folder; name a file in it")
    if not named:
        endings = ", ".join(f".{f}" for f in known)
        raise UserError(f"{cut(str(out))}: no such format; end the name in one of {endings}, or give --format")
    writable(out)
    return Output(out, named)


def _ending(out: Path, known: Sequence[str]) -> str:
    """The longest format that the file's name ends in; empty if there is none."""
    fitting = [f for f in known if out.name.lower().endswith(f".{f}")]
    return max(fitting, key=len, default="")


def writable(path: Path) -> None:
    """:class:`UserError` when ``path`` cannot be made or replaced, as far as this can be seen before."""
    folder = path.parent
    try:
        if path.is_dir():
            raise UserError(f"{path}: is a folder; name a file in it")
        if not folder.is_dir():
            raise UserError(f"{path}: there is no folder {folder}; make it, or name another")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UserError(f"{path}: the folder {folder} cannot be written; name another")
    except OSError as e:
        raise UserError(f"{cut(str(path))}: {e.strerror}; name another file") from e


def options(*known: str, usual: str = "", help: str = "") -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Declares ``--out``, ``--format`` and ``--json``; the verb gets them as one :class:`Output`, ``out``."""

    def declare(verb: Callable[..., T]) -> Callable[..., T]:
        @wraps(verb)
        def with_output(*, out: Path | None, format: str, json: bool, **rest: Any) -> T:
            return verb(**rest, out=resolve(out, format, json, known, usual))

        shown = help or f"File, or - for standard output: {' '.join('.' + f for f in known)}."
        made: Callable[..., T] = with_output
        made = click.option("--json", is_flag=True, help="The same as --format json.")(made)
        text = "Format, where no file's ending names it."
        made = click.option("--format", default="", metavar="FORMAT", help=text)(made)
        return click.option("--out", "-o", type=click.Path(path_type=Path), metavar="FILE", help=shown)(made)

    return declare
