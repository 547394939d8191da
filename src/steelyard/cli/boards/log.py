"""``steelyard boards log``: the latest attempts on boards."""

from __future__ import annotations

from pathlib import Path

import click

from .. import live, options
from ..output import Output
from ..stations import boards, lab_option, named


@click.command("log")
@named
@options.number("--last", default=20, help="How many attempts.")
@lab_option
@options.tables
def verb(names: tuple[str, ...], last: int, lab: Path | None, out: Output) -> None:
    """Show the latest attempts, and how each ended.

    Of one BOARD it shows what the tools and the serial line said before the last failure, too.
    """
    sheet, document = live.logs(boards(names, lab)[1], last)
    out.give([sheet], document)
