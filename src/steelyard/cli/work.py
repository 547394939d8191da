"""``steelyard work``: weighs what was handed in to a server, on this machine."""

from __future__ import annotations

from threading import Event
from time import monotonic
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource
from msgspec import Struct

from ..building import sandbox
from ..model.errors import UserError
from . import options, select
from .console import stderr
from .options import command
from .stopping import as_ctrl_c

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..lab import Board, Station


#: seconds after which it is said again that the database cannot be reached
_AGAIN = 60.0


class Work(Struct, frozen=True):
    """What ``work`` is asked."""

    target: tuple[str, ...]
    until_empty: bool
    without_sandbox: bool
    boards: bool
    server: str
    key: str
    db: str | None


@command(
    Work,
    click.option(
        "--target",
        "-t",
        multiple=True,
        metavar="TARGET",
        help="Only jobs of these. Default: all whose compiler is here.",
    ),
    options.flag("--until-empty", help="End when no job is left, at other workers either."),
    options.flag("--boards", help="Also jobs for the boards of this machine's lab.toml, which an operator asks for."),
    options.text("--server", metavar="URL", help="Take jobs over HTTP from the server here, without its database."),
    click.option(
        "--key",
        envvar="STEELYARD_WORKER_KEY",
        show_envvar=True,
        default="",
        metavar="KEY",
        help="With --server: the key that queue key printed there.",
    ),
    options.flag("--without-sandbox", help="Compile what strangers handed in with all that you may do yourself."),
    options.db,
)
def verb(ask: Work) -> int:
    """Weigh what was handed in to a server with this database.

    It takes jobs, runs them and puts the records back.
    """
    if not (ask.without_sandbox or sandbox.available()):
        raise UserError(f"{sandbox.WITHOUT}, or give --without-sandbox")
    named = click.get_current_context().get_parameter_source("db") is ParameterSource.COMMANDLINE
    if ask.server and named:
        raise UserError("--server: has the jobs, and its database; leave --db out")
    if ask.server and not ask.key:
        raise UserError("--server: needs --key; steelyard queue key prints one where the database is")
    select.usable_home()
    targets = [t.name for t in select.targets(ask.target) if t.device == "simulator"]
    if not targets:
        raise UserError("--target: what was handed in runs simulated only; name such a target")
    lab = _lab() if ask.boards else {}
    from ..farm import Done, name, said_of, work, work_for
    from ..store import StoreError

    told, since = "", 0.0

    def say(what: Done | StoreError) -> None:
        nonlocal told, since
        if isinstance(what, StoreError):
            if str(what) != told or monotonic() - since > _AGAIN:
                told, since = str(what), monotonic()
                stderr().print(f"waiting for the database: {what}", soft_wrap=True)
            return
        told = ""
        detail = f": {what.detail}" if what.detail else ""
        stderr().print(f"job {what.number} {what.label} on {what.target}: {what.state}{detail}", soft_wrap=True)

    also = f", and on boards: {', '.join(lab)}" if lab else ""
    stderr().print(f"takes jobs on {', '.join(targets)}{also}; stop with Ctrl-C", soft_wrap=True)
    over = Event()
    with as_ctrl_c():
        if ask.server:
            from ..web.hired import HttpQueue

            line = HttpQueue(ask.server, ask.key, name())
            line.present(tuple(sorted(targets)), said_of(_boards()))  # says at once what is wrong with address or key
            work_for(line, targets, say, over, until_empty=ask.until_empty, boards=_boards, lab=lab)
            return 0
        with select.store(ask.db, existing=ask.until_empty) as store:
            if "_server" in vars(store):
                raise UserError("--db: is a server; give --server and --key instead, or the database itself")
            work(store, targets, say, over, until_empty=ask.until_empty, boards=_boards, lab=lab)
    return 0


def _lab() -> Mapping[str, tuple[Station, ...]]:
    """The boards of this machine's lab by target. Raises :class:`UserError`."""
    from .. import lab
    from .stations import stations

    return lab.pools(stations((), None, every=True))


def _boards() -> tuple[Board, ...]:
    """The boards of this machine, if it has a lab."""
    from ..lab import find

    try:
        return tuple(find(None).boards.values())
    except (UserError, OSError):
        return ()
