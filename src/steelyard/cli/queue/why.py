"""``steelyard queue why``: why a job waits, and its attempts."""

from __future__ import annotations

import click

from ...publish.sheet import plain
from ...store.operating import Yard
from .. import options, select
from ..options import Number
from ..output import Output


@click.command("why")
@click.argument("job", type=Number(1 << 53), metavar="JOB")
@options.db
@options.tables
def verb(job: int, db: str | None, out: Output) -> None:
    """Say why a job waits, and what came of each try."""
    from ...web.pages.operate import when

    with select.store(db, existing=True) as store:
        line, attempts = Yard(store).job(job)
    said = f"job {job}, {line.task.variant}/{line.task.name} on {line.task.target}, is {line.state}"
    heads = ("machine", "begun", "ended", "outcome", "detail")
    rows = [(a.worker.split(" ")[0], when(a.begun), when(a.ended), a.outcome, a.detail) for a in attempts]
    out.give(
        [plain("Attempts", "attempts", heads, rows)], notes=[": ".join(filter(None, (said, line.why or line.detail)))]
    )
