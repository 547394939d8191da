"""``steelyard boards agent``: a board for another machine."""

from __future__ import annotations

from pathlib import Path

import click

from ...lab.agent import alone_with_streams, serve
from ..stations import lab_option


@click.command("agent")
@lab_option
def verb(lab: Path | None) -> None:
    """Use a board for another machine, which starts this command and says on standard input what is to be done."""
    with alone_with_streams() as (source, sink):
        serve(lab, source, sink)
