"""``steelyard boards retry``: boards that were out of order or released."""

from __future__ import annotations

from ...lab import aside
from ...publish.sheet import plain
from .. import options
from ..options import command
from ..stations import Named, boards, lab_option, named


@command(Named, named, lab_option, options.tables)
def verb(ask: Named) -> int:
    """Put boards to work again, all by default.

    Those that are out of order or released get runs again. A scheduler that runs sees it. A board that was out of order
    has to prove itself with nocrypt first.
    """
    lines, notes = [], []
    there, chosen = boards(ask.names, ask.lab)
    for name in chosen:
        board = there.named(name)
        if (mark := aside.read(board)) is not None:
            aside.retry(board)
            was = mark.detail or "released" if mark.released else f"out of order: {mark.reason}: {mark.detail}"
            lines.append((name, was, "gets runs again"))
        elif ask.names:
            lines.append((name, "in order", "gets runs as before"))
        else:
            continue
        if not (board.host or board.plugged):
            notes.append(f"{name} is not plugged in: what it is by other names of its port stays")
    ask.out.give([plain("", "retry", ("board", "was", "now"), lines, notes)])
    return 0
