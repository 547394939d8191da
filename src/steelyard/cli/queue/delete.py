"""``steelyard queue delete``: what was handed in is there no more."""

from __future__ import annotations

import click

from ...model.errors import counted
from ...store.operating import Yard
from .. import options, select
from ..options import Number
from ..output import Output
from . import did, me


@click.command("delete")
@click.argument("submission", type=Number(1 << 53), metavar="SUBMISSION")
@options.db
@options.tables
def verb(submission: int, db: str | None, out: Output) -> None:
    """Delete what somebody handed in, with its results."""
    with select.store(db, existing=True) as store:
        runs = Yard(store, me()).delete(submission)
    did(out, "delete", [(f"submission {submission}", f"deleted, {counted(runs, 'run')} of it")])
