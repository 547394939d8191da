"""``steelyard boards retry``: boards that were out of order or released."""

from __future__ import annotations

from pathlib import Path

import click

from ...lab import aside
from ...publish.sheet import plain
from .. import options
from ..output import Output
from ..stations import boards, lab_option, named


@click.command("retry")
@named
@lab_option
@options.tables
def verb(names: tuple[str, ...], lab: Path | None, out: Output) -> None:
    """Put boards to work again, all by default.

    Those that are out of order or released get runs again. A scheduler that runs sees it. A board that was out of order
    has to prove itself with nocrypt first.
    """
    lines = []
    for name in boards(names, lab)[1]:
        if (mark := aside.read(name)) is not None:
            aside.lift(name)
            was = "released" if mark.released else f"out of order: {mark.reason}: {mark.detail}"
            lines.append((name, was, "gets runs again"))
        elif names:
            lines.append((name, "in order", "gets runs as before"))
    out.give([plain("", "retry", ("board", "was", "now"), lines)])
