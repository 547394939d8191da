"""``steelyard queue pause``: what gets no jobs for a while."""

from __future__ import annotations

from ...store.operating import Yard
from .. import options, select
from ..options import command
from . import Subject, did, kind, me, name


class Pause(Subject, frozen=True, kw_only=True):
    """What ``queue pause`` is asked."""

    why: str


@command(
    Pause,
    kind,
    name,
    options.text("--why", metavar="TEXT", help="What those who wait are told."),
    options.db,
    options.tables,
)
def verb(ask: Pause) -> int:
    """Give no jobs to a target, a machine or a board.

    NAME is a target, a machine as queue workers lists it, or MACHINE/BOARD. Runs that have begun go on.
    """
    with select.store(ask.db, existing=True) as store:
        Yard(store, me()).pause(f"{ask.kind} {ask.name}", ask.why)
    return did(ask.out, "pause", [(f"{ask.kind} {ask.name}", "paused")])
