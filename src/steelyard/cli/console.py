"""How tables and JSON reach the user: aligned, and clean without colour, narrow or piped."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

#: width of tables where there is no terminal to ask
PIPED_WIDTH = 200


def stdout() -> Console:
    """Console for data."""
    return Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False, soft_wrap=False)


def stderr() -> Console:
    """Console for progress and remarks."""
    return Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else PIPED_WIDTH)


def print_json(data: Any) -> None:
    """One JSON document on standard output."""
    json.dump(data, sys.stdout, indent=2, default=str)
    sys.stdout.write("\n")


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str | Text]], *, left: int = 1) -> Table:
    """A table whose first ``left`` columns are text and whose others are numbers, right-aligned."""
    t = Table(title=title or None, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    for n, name in enumerate(columns):
        t.add_column(name, justify="left" if n < left else "right", overflow="fold", no_wrap=n >= left)
    for row in rows:
        t.add_row(*row)
    return t


def number(value: float | None, digits: int = 0) -> str:
    """A number with thin groups of thousands, or a dash."""
    if value is None:
        return "-"
    return f"{value:,.{digits}f}".replace(",", " ")
