"""``steelyard validate``: how far the simulator is from a board of the lab."""

from __future__ import annotations

from pathlib import Path

import click

from ..analyse.validation import Difference, differences
from ..lab import board_of
from ..model.campaign import Campaign
from ..model.errors import UserError
from ..model.row import grouped
from ..publish import validation
from . import options
from .console import stderr
from .options import command
from .output import FIGURES, TABLES
from .plan import asked, plan
from .plot import give_figure
from .records import refused
from .stations import lab_option, stations
from .weigh import exit_code, weigh


class Validate(options.Weighing, frozen=True, kw_only=True):
    """What ``validate`` is asked."""

    workload: tuple[str, ...]
    on: tuple[str, ...]
    lab: Path | None
    force: bool


@command(
    Validate,
    options.packages,
    options.targets,
    click.option("--on", multiple=True, required=True, metavar="BOARD", help="The board of the lab."),
    lab_option,
    options.flags,
    options.workloads,
    options.force,
    options.db,
    options.output(
        *FIGURES,
        *TABLES,
        help="File, or - for standard output. A figure with all calls beside it: .svg .png .pdf, or .vl.json for its "
        "Vega-Lite; all calls alone: .csv .json .parquet; else the tables.",
    ),
)
def verb(ask: Validate) -> int:
    """Weigh on a board and on the simulator, and say how far they are apart."""
    wanted = {name.strip() for part in ask.target for name in part.split(",")}
    boards = {s.board.name: s for s in stations(ask.on, ask.lab) if not wanted or s.target.name in wanted}
    targets = {s.target.name for s in boards.values()}
    if len(targets) != 1:
        are = f"these boards are {', '.join(sorted(targets))}" if targets else "none of these boards is that"
        raise UserError(f"--on: one target at a time, and {are}; name it: --target")
    [target] = targets
    campaign = asked(ask.what, Campaign(flags=ask.flags, workloads=ask.workload))
    simulated = plan(campaign.but(targets=(target,)))
    measured = plan(campaign.but(targets=()), on=list(boards.values()))
    weighed = weigh([*simulated.jobs, *measured.jobs], ask.db, force=ask.force)
    code = exit_code(weighed, measured.rejected)
    sides = grouped(
        (r for r in weighed.records if r.ok and r.setup.variant != "nocrypt"),
        lambda r: (r.setup.implementation_digest, r.setup.label, r.setup.flags, r.setup.workload),
    )
    pairs = [(side[0], side[1]) for side in sides.values() if len(side) == 2]
    usual = next(iter(boards.values()))  # a stored run may be of a board that is not asked for now, and is alike
    found: list[Difference] = []
    for mine, its in pairs:
        station = boards.get(board_of(its.setup.device, its.notes), usual)
        found += differences(mine, its, station.cycles_per_sample)
    for record in (r for r in weighed.records if r.failure is not None):
        s, failure = record.setup, record.failure
        text = f"{s.label} on {s.target} ({s.device}): {failure.reason}: {failure.detail}" if failure else ""
        stderr().print(text, soft_wrap=True, markup=False)
    if not found:
        stderr().print("nothing could be compared: no verified run has figures on both sides")
        return 1
    every = validation.calls("All calls", f"calls-{target}", found)
    if ask.out.format in FIGURES:
        give_figure(validation.specification(target, found, pairs[0][1].setup.device), every, ask.out)
    else:
        tables = [*validation.tables(target, found, pairs), *refused(measured.rejected)]
        ask.out.give([every] if ask.out.flat else tables)
    ask.out.remark(weighed.remarks)
    return code
