"""``steelyard history``: what each revision of the user's repository brought, as a table or a figure."""

from __future__ import annotations

import click

from ..analyse.answer import choose
from ..analyse.places import told_by_place
from ..analyse.rows import check_columns, rows
from ..model.errors import UserError, WorkError
from ..model.row import Row
from ..publish import figure, history
from ..store import StoreError
from . import options
from .answers import say_empty
from .options import command
from .output import FIGURES
from .plan import plan
from .plot import draw
from .revisions import Revisions


class History(options.Weighing, frozen=True, kw_only=True):
    """What ``history`` is asked."""

    revisions: str
    workload: tuple[str, ...]
    columns: str
    limit: int


@command(
    History,
    click.argument("revisions", metavar="RANGE", help="Git revisions, such as v1..HEAD; one means all up to it."),
    click.argument("what", nargs=-1, metavar="[PATH]...", help="What to weigh. Default: the whole repository."),
    options.targets,
    options.flags,
    options.workloads,
    options.metrics,
    options.number("--limit", "-n", default=20, help="At most this many revisions, the newest."),
    options.tables_or_figure,
    options.db,
)
def verb(ask: History) -> int:
    """Weigh every git revision that changed something, and show what each of them brought."""
    chosen = check_columns(ask.columns)
    weighing = Revisions.of(ask, ask.workload)
    log = weighing.log(ask.revisions, ask.limit)
    # what is wrong in any revision is said once
    plan(weighing.campaign.but(implementations=("nocrypt",)), baselines=False)
    drawn = ask.out.format in FIGURES
    found: list[list[Row]] = []
    left_out: list[str] = []
    for order, (commit, _, subject) in enumerate(log):
        try:
            records = weighing.weighed(commit[:7], commit)
        except StoreError:  # nor is it any revision's fault
            raise
        except UserError as e:  # what has a history may have begun, moved or been broken in it
            left_out.append(f"{commit[:7]} is left out: {e}")
            continue
        about: Row = {"revision": commit[:7], "subject": subject, "order": order}
        weighed = rows(r for r in records if r.metrics)
        found.append([row | about for row in weighed])
    if not any(found):
        text = f"{ask.revisions}: no revision holds anything that could be weighed; check the range and the paths"
        raise WorkError("\n".join([*left_out, text]))
    told = told_by_place(found)
    say_empty(chosen, [row for weighed in told for row in weighed], ask.db)
    if drawn:
        lines = [row for weighed in told for row in choose(weighed, every=True).rows]
        data = figure.drawn(figure.load("history"), figure.of_records(lines, over_time=True))
        draw("history", data, ask.out)
    else:
        orders = {c.commit: order for order, c in enumerate(log)}
        parents = {orders[c.commit]: orders[c.parent] for c in log if c.parent in orders}
        ask.out.give(history.tables([row for weighed in told for row in weighed], chosen, parents))
    ask.out.remark(left_out)
    return 0
