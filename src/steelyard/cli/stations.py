"""The lab and its boards, as ``--lab``, ``--on`` and the names of a command mean them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from ..model.errors import UserError
from .console import stderr
from .output import Output

if TYPE_CHECKING:  # most runs have none
    from ..lab import Lab, Station

lab_option = click.option(
    "--lab",
    type=click.Path(path_type=Path),
    envvar="STEELYARD_LAB",
    show_envvar=True,
    metavar="FILE",
    help="Which boards there are. Default: lab.toml",
)
named = click.argument("names", nargs=-1, metavar="[BOARD]...")
#: what stands for all boards of a lab
WHOLE = "lab"
COMMANDLINE = click.core.ParameterSource.COMMANDLINE


class Named(Struct, frozen=True, kw_only=True):
    """Parameters of commands about boards: their names, and where they are described."""

    names: tuple[str, ...] = ()
    lab: Path | None
    out: Output


def stations(names: Sequence[str], file: Path | None, every: bool = False) -> list[Station]:
    """Boards of the lab by name, repeatable or comma-separated, all for :data:`WHOLE`; with ``every`` all of them where
    none is named. No lab is looked for where there are none. Raises :class:`UserError` for a lab that nothing
    asks for."""
    if not names and not every:
        # in the environment it says which lab is meant, if one is
        if click.get_current_context().get_parameter_source("lab") is COMMANDLINE:
            raise UserError("--lab: no board is used without --on; add --on lab for all of them, or leave --lab out")
        return []
    from ..lab import stations as described

    found, remarks = described(*boards(names, file))
    for remark in remarks:
        stderr().print(remark, soft_wrap=True, markup=False)
    return found


def boards(names: Sequence[str], file: Path | None) -> tuple[Lab, list[str]]:
    """The lab, and the names of the boards that are named, of all where none is. Raises :class:`UserError` for names
    that hold none."""
    split = [n.strip() for part in names for n in part.split(",") if n.strip()]
    if names and not split:
        raise UserError("--on names no board; steelyard boards list has them")
    from ..lab import find

    lab = find(file)
    wanted = split if split and split != [WHOLE] else lab.boards
    return lab, [lab.named(name).name for name in dict.fromkeys(wanted)]
