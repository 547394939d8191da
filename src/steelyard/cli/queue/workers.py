"""``steelyard queue workers``: who weighs, and what is paused."""

from __future__ import annotations

from ...publish.sheet import plain
from ...store.operating import Yard
from .. import options, select
from ..options import Stored, command


@command(Stored, options.db, options.tables)
def verb(ask: Stored) -> int:
    """List workers, their machines and boards, and what is paused."""
    from ...web.pages.operate import when

    with select.store(ask.db, existing=True) as store:
        yard = Yard(store)
        workers, holds = yard.workers(), yard.holds()
    rows = [(w.machine, "there" if w.alive else "gone", w.job, when(w.seen), w.version, " ".join(w.targets))
            for w in workers]  # fmt: skip
    heads = {"machine": None, "state": None, "job": 0, "seen": None, "version": None, "targets": None}
    sheets = [plain("Workers", "workers", heads, rows)]
    boards = {(w.machine, b.name): (f"{w.machine}/{b.name}", b.target, b.aside or "in order")
              for w in workers for b in w.boards}  # fmt: skip
    sheets += [plain("Boards", "boards", ("board", "target", "state"), boards.values())] if boards else []
    paused = [(h.subject, h.operator, when(h.since), h.why) for h in holds]
    sheets += [plain("Paused", "paused", ("paused", "by", "since", "why"), paused)] if paused else []
    ask.out.give(sheets)
    return 0
