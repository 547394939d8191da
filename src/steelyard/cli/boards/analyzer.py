"""``steelyard boards analyzer``: an analyzer, sampled by hand."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec import Struct

from ...lab import find
from ...lab.analyzer import PATIENCE
from ...lab.config import host_and_port
from ...lab.daemon import Daemon, InUse, reaches_only_this_machine
from ...model.call import DeviceError
from ...model.errors import UserError, WorkError, unknown
from ..console import stderr
from ..options import command, flag
from ..stations import lab_option


class Analyzer(Struct, frozen=True):
    """What ``boards analyzer`` is asked."""

    name: str
    listen: str | None
    anybody: bool
    lab: Path | None


@command(
    Analyzer,
    click.argument("name", metavar="NAME"),
    click.option("--listen", metavar="HOST:PORT", help="Other machines may use it here, whoever they are."),
    flag("--anybody", help="With --listen at an address that other machines reach: no password is asked."),
    lab_option,
)
def verb(ask: Analyzer) -> int:
    """Sample an analyzer until Ctrl-C.

    Commands that need one do so themselves. With --listen those of other machines, in whose lab.toml it is "at"
    HOST:PORT, need it as well: boards there, an analyzer here.
    """
    there, name, listen = find(ask.lab), ask.name, ask.listen
    if name not in there.instruments:
        raise unknown("instrument", name, there.instruments)
    place = host_and_port(listen) if listen is not None else None
    if place is not None and not ask.anybody and not reaches_only_this_machine(place):
        raise UserError(
            f"--listen {listen}: whoever reaches that address sees edges, and no password is asked; listen at "
            "127.0.0.1 and forward the port by ssh, or add --anybody"
        )
    if ask.anybody and place is None:
        raise UserError("--anybody: is for --listen; leave it out")
    try:
        daemon = Daemon(there.instruments[name], PATIENCE, None, place)
    except InUse:
        raise WorkError(f"{name}: another Steelyard samples it; wait until that has ended") from None
    except (OSError, DeviceError) as e:
        raise WorkError(f"{name}: {getattr(e, 'strerror', None) or e}") from e
    where = "".join(f", also for other machines at {host} port {port}" for host, port in daemon.addresses)
    stderr().print(f"ready: {name} is sampled{where}; Ctrl-C ends it", soft_wrap=True)
    raise WorkError(f"{name}: {daemon.serve()}")
