"""``steelyard boards agent``: a board for another machine."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from ...lab.agent import alone_with_streams, serve
from ..options import command
from ..stations import lab_option


class Agent(Struct, frozen=True):
    """What ``boards agent`` is asked."""

    lab: Path | None


@command(Agent, lab_option)
def verb(ask: Agent) -> int:
    """Use a board for another machine, which starts this command and says on standard input what is to be done."""
    with alone_with_streams() as (source, sink):
        serve(ask.lab, source, sink)
    return 0
