"""``steelyard queue delete``: a submission and its results go."""

from __future__ import annotations

from ...model.errors import counted
from ...store.operating import Yard
from .. import options, select
from ..options import command
from . import Handed, did, me, submission


@command(Handed, submission, options.db, options.tables)
def verb(ask: Handed) -> int:
    """Delete a submission, with its results."""
    with select.store(ask.db, existing=True) as store:
        runs = Yard(store, me()).delete(ask.submission)
    return did(ask.out, "delete", [(f"submission {ask.submission}", f"deleted, {counted(runs, 'run')} of it")])
