"""``steelyard boards list``: boards, and what is missing."""

from __future__ import annotations

from ...lab import Board, Lab, described, find, missing
from ...lab.clocks import NEVER
from ...lab.hosts import station
from ...lab.wire import Described
from ...model.errors import UserError, printable
from ...model.reasons import Failure
from ...publish.sheet import plain
from .. import options
from ..options import command
from ..stations import Named, lab_option

#: what to do about a clock of which nothing is known
_MEASURE = "A clock that was never measured may be 0.1 % off, by short calls more: steelyard boards check measures it"


@command(Named, lab_option, options.tables)
def verb(ask: Named) -> int:
    """List the boards and what is missing."""
    there = find(ask.lab)
    said = described(there, [name for name, b in there.boards.items() if b.host])
    columns = ("board", "target", "port", "flasher", "pulses", "meter", "clock", "status")
    lines = [_line(there, board, said.get(name)) for name, board in there.boards.items()]
    clock = columns.index("clock")
    notes = [_MEASURE] if any(line[clock].endswith(NEVER) for line in lines) else []
    ask.out.give([plain("", "boards", columns, lines, notes)])
    return 0


def _line(lab: Lab, board: Board, said: Described | Failure | None) -> tuple[str, ...]:
    """What ``list`` says of a board, which its host ``said`` where it is at another one."""
    if isinstance(said, Failure):
        return board.name, board.target, f"{board.host}:?", "?", "?", "?", "?", said.detail
    try:
        its = station(lab, board, said) if said else lab.board(board.name)
    except UserError as e:
        return board.name, board.target, f"{board.host}:?", "?", "?", "?", "?", str(e)
    b, gone = its.board, said.missing if said else missing(its)
    port = printable(f"{b.host}:{b.port}") if b.host else str(b.port)
    what = printable("; ".join(gone)) or "there"
    return b.name, b.target, port, b.flasher, f"{b.analyzer} {b.channel}", b.meter or "-", its.clock_said, what
