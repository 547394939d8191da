"""``steelyard queue release``: what was handed in becomes public."""

from __future__ import annotations

import click

from ...model.errors import counted
from ...store.operating import Yard
from .. import options, select
from ..options import Number
from ..output import Output
from . import did, me


@click.command("release")
@click.argument("submission", type=Number(1 << 53), metavar="SUBMISSION")
@options.db
@options.tables
def verb(submission: int, db: str | None, out: Output) -> None:
    """Publish what somebody handed in."""
    with select.store(db, existing=True) as store:
        runs = Yard(store, me()).release(submission)
    did(out, "release", [(f"submission {submission}", f"published, {counted(runs, 'run')} of it")])
