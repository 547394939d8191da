"""What every signal did up to the first wrong word, in no more of a trace than shows it."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ..model.errors import UserError
from . import bench, tools
from .bench import Outcome
from .streams import Stream
from .tools import ToolError


def written(streams: Sequence[Stream], work: Path, file: Path, modes: Sequence[str] = bench.MODES) -> Outcome | None:
    """Writes the signals of the first of ``modes`` that is wrong in the bench in ``work``, as VCD, and returns what was
    wrong; None when nothing is. They are those of the wrong operation alone where it is as wrong after a reset, else of
    all up to it. Raises :class:`ToolError`, and :class:`UserError` where that is too much for a file."""
    named = [replace(s, name=f"{k}:{s.name}") for k, s in enumerate(streams)]  # several may have one name
    for mode in modes:
        (wrong,) = bench.run(work, named, (mode,))
        if wrong.failure is not None:
            break
    else:
        return None
    place = int(wrong.op.split(":")[0])
    few = named[_first(named, place) : place + 2]  # the next one is offered before the end of this one
    alone = _same(bench.run(work, few, (mode,))[0], wrong)
    made = work / "signals.vcd"
    outcome = replace(wrong, op=streams[place].name)
    try:
        bench.run(work, few if alone else named, (mode,), trace=made)
    except ToolError as e:
        if e.code != 128 + signal.SIGXFSZ:
            raise
        whose = "" if alone else f" and of the {place} operations before it, without which it is not so,"
        what = f"mode {mode}, {outcome.op}: its signals{whose} are more than the {tools.LARGEST >> 20} MiB of a trace"
        raise UserError(f"{what}; give another --seed, with which a wrong word may come sooner") from e
    shutil.copyfile(made, file)
    return outcome


def _first(streams: Sequence[Stream], place: int) -> int:
    """The operation that brings the key of the one at ``place``, which may be this one."""
    if not streams[place].reuse:
        return place
    return next((k for k in range(place - 1, -1, -1) if streams[k].sdi), 0)


def _same(one: Outcome, other: Outcome) -> bool:
    """Whether two runs end at one word, with one value; a hang says there what is left of all operations."""
    values = [o.got if o.outcome != "hang" else "" for o in (one, other)]
    return (one.outcome, one.op, one.word) == (other.outcome, other.op, other.word) and values[0] == values[1]
