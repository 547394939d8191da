"""``steelyard queue repeat``: jobs that have ended, once more."""

from __future__ import annotations

import click

from ...model.errors import UserError, counted
from ...store.operating import Yard
from .. import options, select
from ..options import Stored, command
from . import did, me, number


class Repeat(Stored, frozen=True, kw_only=True):
    """What ``queue repeat`` is asked."""

    jobs: tuple[int, ...]
    failed: bool


@command(
    Repeat,
    click.argument("jobs", nargs=-1, type=number, metavar="[JOB]..."),
    options.flag("--failed", help="All that failed."),
    options.db,
    options.tables,
)
def verb(ask: Repeat) -> int:
    """Repeat jobs that have ended, or all that failed."""
    if bool(ask.jobs) == ask.failed:
        raise UserError("name jobs, or give --failed; steelyard queue list has their numbers")
    with select.store(ask.db, existing=True) as store:
        yard = Yard(store, me())
        count = yard.repeat_failed() if ask.failed else 0
        for job in ask.jobs:
            yard.repeat(job)
    done = [("all that failed", f"{counted(count, 'job')} waiting")] if ask.failed else []
    return did(ask.out, "repeat", done or [(f"job {job}", "waiting") for job in ask.jobs])
