"""``steelyard db``: copies databases, and looks whether one is sound."""

from __future__ import annotations

import time
from collections.abc import Callable

import click

from .. import options
from ..console import stderr
from ..progress import EVERY

VERBS = {
    "copy": "Add the runs of one database that another lacks, with their logs, and what was handed in.",
    "downgrade": "Give a database back the schema of an older Steelyard, for that to open it.",
    "check": "Read every run, every log, all that was handed in, and indexes, and list what is damaged.",
}


@click.group("db", cls=options.Commands, package=__name__, verbs=VERBS, no_args_is_help=True)
def verb() -> None:
    """Copy results to another database, or look whether all of them can be read."""


def progress(done: str) -> Callable[[int, int], None]:
    """Says every few seconds how far it is."""
    last = time.monotonic()

    def step(count: int, of: int) -> None:
        nonlocal last
        if time.monotonic() - last > EVERY:
            last = time.monotonic()
            stderr().print(f"db: {count} of {of} {done}", soft_wrap=True)

    return step
