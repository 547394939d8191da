"""``steelyard queue release``: a submission becomes public."""

from __future__ import annotations

from ...model.errors import counted
from ...store.operating import Yard
from .. import options, select
from ..options import command
from . import Handed, did, me, submission


@command(Handed, submission, options.db, options.tables)
def verb(ask: Handed) -> int:
    """Publish a submission."""
    with select.store(ask.db, existing=True) as store:
        runs = Yard(store, me()).release(ask.submission)
    return did(ask.out, "release", [(f"submission {ask.submission}", f"published, {counted(runs, 'run')} of it")])
