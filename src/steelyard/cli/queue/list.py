"""``steelyard queue list``: jobs that wait, run or failed."""

from __future__ import annotations

from ...publish.sheet import plain
from ...store.operating import Yard
from ...store.queue import FAILED, RUNNING, WAITING
from .. import options, select
from ..options import Stored, command

STATES = (WAITING, RUNNING, FAILED)


@command(Stored, options.db, options.tables)
def verb(ask: Stored) -> int:
    """List jobs that wait, run or failed, with why each waits."""
    with select.store(ask.db, existing=True) as store:
        yard = Yard(store)
        lines, counts = yard.lines(STATES), yard.counts()
    heads = {"job": 0, "implementation": None, "target": None, "state": None, "attempts": 0, "why": None}
    rows = [(j.number, f"{j.task.variant}/{j.task.name}", j.task.place, j.state, j.attempts, j.why or j.detail)
            for j in lines]  # fmt: skip
    said = ", ".join(f"{n} {state}" for state, n in sorted(counts.items())) or "no jobs"
    listed = sum(counts.get(state, 0) for state in STATES)
    more = [f"of {listed} jobs the first {len(lines)} are listed; the others move up as these end"]
    ask.out.give([plain("Queue", "queue", heads, rows)], notes=[said, *(more if len(lines) < listed else ())])
    return 0
