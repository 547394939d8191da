"""``steelyard submit``: hands an implementation in to a server."""

from __future__ import annotations

import io
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import click
import msgspec

from ..model import paths
from ..model.errors import UserError, counted, cut
from ..publish.sheet import Cell, Line, Sheet, plain
from ..sources.pack import pack
from . import options, select
from .console import stderr
from .options import command
from .output import TABLES, Output

if TYPE_CHECKING:
    from ..web import wire
    from ..web.remote import Server

#: seconds between two looks at runs that are waited for
LOOK = 2.0
#: what of a run is told; states as the queue has them
_COLUMNS = ("implementation", "target", "flags", "state", "detail")
WAITING, RUNNING, DONE = "waiting", "running", "done"


class Submit(msgspec.Struct, frozen=True):
    """What ``submit`` is asked."""

    path: str
    server: str
    licence: str
    previous: str
    wait: bool
    out: Output


@command(
    Submit,
    click.argument("path", metavar="PATH", help="A folder or a zip."),
    click.option(
        "--server", envvar="STEELYARD_SERVER", required=True, metavar="URL", help="Where steelyard serve runs."
    ),
    options.text("--licence", metavar="TEXT", help="Licence of the sources, such as MIT, or a sentence.", needed=True),
    options.text("--previous", metavar="LINK", help="Private link of an older version, to be compared with."),
    options.flag("--wait", help="Wait until every run has ended, and show its figures; 1 where one is not verified."),
    options.output(*(f for f in TABLES if f != "parquet")),  # which holds one table
)
def verb(ask: Submit) -> int:
    """Hand in an implementation: say what is in it, and get the private link of its results."""
    from ..web import address, wire
    from ..web.remote import Server

    if not ask.licence.strip():
        raise UserError("--licence: say the licence of the sources, such as --licence MIT")
    if not select.exists_at(ask.path):
        archive, part = paths.in_zip(Path(ask.path))
        if part:
            raise UserError(f"{cut(ask.path)}: is a part of a zip; hand in {cut(str(archive))}")
        raise UserError(f"{cut(ask.path)}: no such file or folder; name a folder or a zip")
    name, content = pack(Path(ask.path))
    if not name.endswith(".zip") and not zipfile.is_zipfile(io.BytesIO(content)):
        raise UserError(f"{cut(ask.path)}: neither a folder nor a zip; name one of these")
    query = urlencode({"name": name, "licence": ask.licence})
    previous = address.token(ask.previous)
    server = Server(ask.server, {wire.PREVIOUS: previous} if previous else {})
    path = "/".join(("", *wire.ROOT, "submissions"))
    taken = server.understood(server.sent(f"{path}?{query}", content, "application/zip"), wire.Taken)
    found = [(f"{i.variant}/{i.name}", i.primitive, i.interface, ", ".join(i.kat) or ("known" if i.known else "none"))
             for i in taken.found.implementations]  # fmt: skip
    bad = [(r.path, r.reason, r.detail) for r in taken.found.rejected]
    sheets = [plain("Found", "found", ("implementation", "primitive", "API", "known answers"), found)]
    sheets += [plain("Refused", "rejected", ("package", "reason", "detail"), bad)] if bad else []
    link = f"{server.url}{taken.link}"
    known = "The same zip was handed in before: its runs are not made again. " if taken.known else ""
    said = f"{known}Keep this private link; whoever has it may publish or withdraw: {link}"
    if not ask.wait:
        ask.out.give(sheets, {**msgspec.to_builtins(taken), "link": link}, [said])
        return 0
    stderr().print(said, soft_wrap=True, markup=False)
    token = taken.link.rpartition("/")[2]
    of = _ended(server, token)
    runs = [{n: str(r.get(n) or "") for n in _COLUMNS} for r in _records(of.runs)]
    changes = [f"since the last version: {'; '.join(of.changes)}"] if of.changes else []
    sheets.append(plain("Runs", "runs", _COLUMNS, [tuple(r.values()) for r in runs], changes))
    shown = [_shown(t) for t in (*of.tables, *of.changed)]
    tables = [
        {"title": s.title, "columns": msgspec.to_builtins(s.columns), "rows": _records(s), "notes": s.notes}
        for s in shown
    ]
    document = {**msgspec.to_builtins(taken), "link": link, "runs": runs, "changes": of.changes, "tables": tables}
    ask.out.give([*sheets, *shown], document, [])
    return 0 if all(r["state"] == DONE and not r["detail"] for r in runs) else 1


def _ended(server: Server, token: str) -> wire.Submission:
    """A submission, once all its runs have ended; says meanwhile how far they are."""
    from ..web import wire

    said = ""
    while True:
        of = server.asked(("submissions", token), wire.Submission)
        counts = Counter(str(r["state"]) for r in _records(of.runs))
        if not counts.keys() & {WAITING, RUNNING}:
            return of
        if said != (said := ", ".join(f"{n} {state}" for state, n in sorted(counts.items()))):
            stderr().print(f"{counted(counts.total(), 'run')}: {said}", soft_wrap=True)
        time.sleep(LOOK)


def _shown(table: wire.Table) -> Sheet:
    """The table without numbers of runs, which are the submission's, and no run's yet."""
    kept = [k for k, c in enumerate(table.columns) if c.name != "run"]
    lines = [Line([line.cells[k] for k in kept]) for line in table.lines]
    return Sheet(table.title, table.label, [table.columns[k] for k in kept], lines, notes=table.notes)


def _records(table: wire.Table | Sheet) -> list[dict[str, Cell]]:
    """The lines of a table by the names of its columns."""
    return [dict(zip((c.name for c in table.columns), line.cells, strict=True)) for line in table.lines]
