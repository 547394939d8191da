"""``steelyard boards``: the boards of a lab, what they do, whether they work, and virtual ones."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec import to_builtins

from ...model.errors import UserError
from .. import options
from ..output import Output
from ..stations import COMMANDLINE, lab_option

VERBS = {
    "analyzer": "Sample an analyzer until Ctrl-C.",
    "check": "Check boards end to end, all by default.",
    "list": "List the boards and what is missing.",
    "log": "Show the latest attempts, and how each ended.",
    "release": "Take boards out of all schedulers.",
    "retry": "Put boards to work again, all by default.",
    "virtual": "Play the virtual boards while COMMAND runs.",
}


@click.group(
    "boards", cls=options.Commands, package=__name__, verbs=VERBS, hidden=["agent"], invoke_without_command=True
)
@lab_option
@options.tables
@click.pass_context
def verb(context: click.Context, lab: Path | None, out: Output) -> None:
    """Show what boards do, check them end to end, or play virtual ones.

    Without a COMMAND it shows what each board does: its run, how far it is, how long the rest takes, its last error.
    """
    if context.invoked_subcommand is not None:
        named = [n for n in ("lab", "out", "format", "json") if context.get_parameter_source(n) is COMMANDLINE]
        if named:
            raise UserError(f"--{named[0]}: write it after {context.invoked_subcommand}")
        return
    from ...lab import find
    from .. import live

    there = find(lab)
    found = [live.doing(there, name) for name in there.boards]
    out.give([live.states(found)], to_builtins(found))
