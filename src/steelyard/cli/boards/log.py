"""``steelyard boards log``: the latest attempts on boards."""

from __future__ import annotations

from .. import live, options
from ..options import command
from ..stations import Named, boards, lab_option, named


class Log(Named, frozen=True, kw_only=True):
    """What ``boards log`` is asked."""

    last: int


@command(Log, named, options.number("--last", default=20, help="How many attempts."), lab_option, options.tables)
def verb(ask: Log) -> int:
    """Show the latest attempts, and how each ended.

    Of one BOARD it shows what the tools and the serial line said before the last failure, too.
    """
    there, chosen = boards(ask.names, ask.lab)
    sheet, document = live.logs([there.named(name) for name in chosen], ask.last)
    ask.out.give([sheet], document)
    return 0
