"""``steelyard validate``: how far the simulator is from a board of the lab."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from ..analyse.validation import Difference, differences
from ..lab import board_of
from ..model.campaign import Campaign
from ..model.errors import UserError, refuse
from ..model.row import grouped
from ..publish import kernels as of_kernels
from ..publish import validation
from . import kernels, options, select
from .console import stderr
from .options import command
from .output import FIGURES, TABLES
from .plan import asked, plan
from .plot import give_figure
from .records import refused
from .stations import lab_option, stations
from .weigh import exit_code, weigh

if TYPE_CHECKING:
    from ..lab import Station
    from ..model.target import Target


class Validate(options.Weighing, frozen=True, kw_only=True):
    """What ``validate`` is asked."""

    workload: tuple[str, ...]
    on: tuple[str, ...]
    lab: Path | None
    force: bool
    kernels: bool


@command(
    Validate,
    options.packages,
    options.targets,
    click.option("--on", multiple=True, metavar="BOARD", help="The board of the lab."),
    options.flag(
        "--kernels",
        help="Instead of packages, micro-kernels that show the rules of the core's timing model: all, or those named. "
        "Without a board on the simulator alone.",
    ),
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
    if ask.kernels:
        return _kernels(ask)
    if not ask.on:
        raise UserError("--on: name the board, or all of the lab by --on lab; steelyard boards list has them")
    target, boards = _boards(ask)
    campaign = asked(ask.what, Campaign(flags=ask.flags, workloads=ask.workload))
    simulated = plan(campaign.but(targets=(target.name,)))
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
    every = validation.calls("All calls", f"calls-{target.name}", found)
    if ask.out.format in FIGURES:
        give_figure(validation.specification(target.name, found, pairs[0][1].setup.device), every, ask.out)
    else:
        tables = [*validation.tables(target.name, found, pairs), *refused(measured.rejected)]
        ask.out.give([every] if ask.out.flat else tables)
    ask.out.remark(weighed.remarks)
    return code


def _boards(ask: Validate) -> tuple[Target, dict[str, Station]]:
    """The boards that are meant, by name, and the one target that they are."""
    wanted = {name.strip() for part in ask.target for name in part.split(",")}
    boards = {s.board.name: s for s in stations(ask.on, ask.lab) if not wanted or s.target.name in wanted}
    targets = {s.target.name: s.target for s in boards.values()}
    if len(targets) != 1:
        are = f"these boards are {', '.join(sorted(targets))}" if targets else "none of these boards is that"
        raise UserError(f"--on: one target at a time, and {are}; name it: --target")
    return next(iter(targets.values())), boards


def _kernels(ask: Validate) -> int:
    """The kernels that are named, all if none is, on one board, or without one on the target's simulator."""
    given = {"--flags": bool(ask.flags), "--workload": bool(ask.workload), "--force": ask.force}
    refuse(given, "kernels are assembly, and are run anew and not stored; leave it out")
    if ask.out.format in FIGURES:
        raise UserError(f"--kernels: there is no figure of kernels; take one of {', '.join(TABLES)}")
    station = None
    if ask.on:
        target, boards = _boards(ask)
        if len(boards) != 1:
            raise UserError(f"--kernels: one board at a time, and these are {', '.join(sorted(boards))}; name it: --on")
        [station] = boards.values()
    elif ask.target:
        target = select.one_target(",".join(ask.target))
    else:
        raise UserError("--kernels: name a board, --on BOARD, or a target to simulate, --target TARGET")
    seen = kernels.weighed(target, station, ask.what)
    ask.out.give(of_kernels.tables(seen)[: 1 if ask.out.flat else None], to_builtins(seen))
    ask.out.remark([said] if (said := of_kernels.remark(seen.kernels)) else [])
    return 0
