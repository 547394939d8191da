"""``steelyard db check``: whether all of a database can be read."""

from __future__ import annotations

from msgspec import to_builtins

from ...model.errors import counted
from ...publish.sheet import plain
from ...store import checking
from .. import options, select
from ..options import Stored, command
from . import progress


@command(Stored, options.db, options.tables)
def verb(ask: Stored) -> int:
    """Read every run, every log, all that was handed in, and indexes, and list what is damaged. The exit code is 1
    where anything is."""
    with select.store(ask.db, existing=True) as store:
        found = list(checking.check(store, progress("checked")))
        count = len(store.known(checked=False))
        judged = store.judged()
    sheet = plain("", "troubles", ("run", "what", "what to do"), [(t.run, t.what, t.action) for t in found])
    ask.out.give([sheet] if found or not ask.out.console else [], to_builtins(found))
    without = "indexes not checked: that needs PostgreSQL's extension amcheck, and the right to call bt_index_check"
    ask.out.remark(
        [*([] if judged else [without]), f"{counted(count, 'run')} checked, {counted(len(found), 'trouble')} found"]
    )
    return int(bool(found))
