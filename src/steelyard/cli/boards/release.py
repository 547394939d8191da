"""``steelyard boards release``: boards for other uses."""

from __future__ import annotations

import time

import click

from ...lab import aside
from ...lab.lock import disown, is_held, port_of
from ...publish.sheet import plain
from .. import options
from ..options import command
from ..stations import Named, boards, lab_option


@command(Named, click.argument("names", nargs=-1, required=True, metavar="BOARD..."), lab_option, options.tables)
def verb(ask: Named) -> int:
    """Take boards out of all schedulers.

    You can use them yourself, once the runs that they have ended, until retry gives them back.
    """
    lines, notes = [], []
    there, chosen = boards(ask.names, ask.lab)
    for board in map(there.named, chosen):
        aside.put(board, aside.Mark(time.time(), kind=aside.Kind.RELEASED))
        disown(board)
        now = "released when its run ends" if is_held(port_of(board)) else "released"
        lines.append((board.name, now, f"steelyard boards retry {board.name}"))
        if not (board.host or board.plugged):
            notes.append(f"{board.name} is not plugged in: released by this name alone, and by no other of its port")
    ask.out.give([plain("", "release", ("board", "now", "back by"), lines, notes)])
    return 0
