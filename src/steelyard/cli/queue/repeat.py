"""``steelyard queue repeat``: jobs that ended, once more."""

from __future__ import annotations

import click

from ...model.errors import UserError, counted
from ...store.operating import Yard
from .. import options, select
from ..options import Number
from ..output import Output
from . import did, me


@click.command("repeat")
@click.argument("jobs", nargs=-1, type=Number(1 << 53), metavar="[JOB]...")
@options.flag("--failed", help="All that failed.")
@options.db
@options.tables
def verb(jobs: tuple[int, ...], failed: bool, db: str | None, out: Output) -> None:
    """Do jobs again that ended, or all that failed."""
    if bool(jobs) == failed:
        raise UserError("name jobs, or give --failed; steelyard queue list has their numbers")
    with select.store(db, existing=True) as store:
        yard = Yard(store, me())
        if failed:
            did(out, "repeat", [("all that failed", f"{counted(yard.repeat_failed(), 'job')} waiting")])
            return
        for job in jobs:
            yard.repeat(job)
    did(out, "repeat", [(f"job {job}", "waiting") for job in jobs])
