"""``steelyard queue why``: why a job waits, and its attempts."""

from __future__ import annotations

import click

from ...publish.sheet import plain
from ...store.operating import Yard
from .. import options, select
from ..options import Stored, command
from . import number


class Why(Stored, frozen=True, kw_only=True):
    """What ``queue why`` is asked."""

    job: int


@command(Why, click.argument("job", type=number, metavar="JOB"), options.db, options.tables)
def verb(ask: Why) -> int:
    """Say why a job waits, and what came of each attempt."""
    from ...web.pages.operate import when

    with select.store(ask.db, existing=True) as store:
        line, attempts = Yard(store).job(ask.job)
    said = f"job {ask.job}, {line.task.variant}/{line.task.name} on {line.task.place}, is {line.state}"
    heads = ("machine", "begun", "ended", "outcome", "detail")
    rows = [(a.worker.split(" ")[0], when(a.begun), when(a.ended), a.outcome, a.detail) for a in attempts]
    notes = [": ".join(filter(None, (said, line.why or line.detail)))]
    ask.out.give([plain("Attempts", "attempts", heads, rows)], notes=notes)
    return 0
