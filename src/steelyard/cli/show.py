"""``steelyard show``: one run, whole."""

from __future__ import annotations

import click
from msgspec import Struct, to_builtins

from ..model.errors import UserError
from ..publish import run
from ..publish.sheet import plain
from ..store.errors import StoreFailure
from . import options, select
from .options import Number, command
from .output import Output
from .records import as_json


class Show(Struct, frozen=True):
    """What ``show`` is asked."""

    run: int
    log: bool
    vectors: bool
    db: str | None
    out: Output


@command(
    Show,
    click.argument("run", type=Number((1 << 63) - 1), metavar="RUN", help="Number of a run, from the tables."),
    options.flag("--log", help="Print what the compilers said."),
    options.flag("--vectors", help="Print the cycles of every known answer."),
    options.db,
    options.tables,
)
def verb(ask: Show) -> int:
    """Show one run: figures, sizes, verification, provenance, and how to repeat it."""
    with select.store(ask.db, existing=True) as store:
        record = store.get(ask.run)
        if record is None:
            raise UserError(f"there is no run {ask.run}; steelyard list runs shows them")
        if ask.log:
            log = store.get_blob(record.log).decode(errors="replace") if record.log else ""
            _log(ask.run, log, ask.out)
            return 0
        if ask.vectors:
            if not record.vector_cycles:
                raise UserError(f"run {ask.run} has no cycles of its known answers; repeat it: {run.repeating(record)}")
            try:
                ask.out.give([run.vectors(record)])
            except ValueError as e:
                raise StoreFailure(f"run {ask.run}: {e}; restore a copy, or repeat it: {run.repeating(record)}") from e
            return 0
        same = store.same_answers(record)
    error = run.error(record)
    ask.out.give(run.sheets(record, same), {**as_json(record), "error": error and to_builtins(error)})
    return 0


def _log(number: int, text: str, out: Output) -> None:
    """What the compilers said: as it is, or as an object or a table of its lines."""
    if out.console:
        out.put(text or "the compilers said nothing\n")
        return
    lines = plain(f"run {number}: what the compilers said", "log", ("log",), [(s,) for s in text.splitlines()])
    out.give([lines], {"run": number, "log": text})
