"""``steelyard boards release``: boards for other uses."""

from __future__ import annotations

import time
from pathlib import Path

import click

from ...lab import aside
from ...lab.lock import disown, is_held, port_of
from ...publish.sheet import plain
from .. import options
from ..output import Output
from ..stations import boards, lab_option


@click.command("release")
@click.argument("names", nargs=-1, required=True, metavar="BOARD...")
@lab_option
@options.tables
def verb(names: tuple[str, ...], lab: Path | None, out: Output) -> None:
    """Take boards out of all schedulers.

    You can use them yourself, once the runs that they have ended, until retry gives them back.
    """
    lines = []
    there, chosen = boards(names, lab)
    for board in map(there.named, chosen):
        aside.put(board.name, aside.Mark(time.time(), released=True))
        disown(board)
        now = "released when its run ends" if is_held(port_of(board)) else "released"
        lines.append((board.name, now, f"steelyard boards retry {board.name}"))
    out.give([plain("", "release", ("board", "now", "back by"), lines)])
