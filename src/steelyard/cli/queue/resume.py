"""``steelyard queue resume``: what was paused."""

from __future__ import annotations

from ...store.operating import Yard
from .. import options, select
from ..options import command
from . import Subject, did, kind, me, name


@command(Subject, kind, name, options.db, options.tables)
def verb(ask: Subject) -> int:
    """End a pause.

    What waits is taken again.
    """
    with select.store(ask.db, existing=True) as store:
        Yard(store, me()).resume(f"{ask.kind} {ask.name}")
    return did(ask.out, "resume", [(f"{ask.kind} {ask.name}", "gets jobs again")])
