"""``steelyard submit``: hands an implementation in to a server."""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections import Counter
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlencode

import click
import msgspec

from ..model.errors import UserError, counted, cut
from ..model.metric import metric, metric_names
from ..model.row import CONTEXT
from ..publish.sheet import ANY, Cell, Column, Line, Sheet, plain
from ..sources.pack import pack
from . import options, select
from .console import stderr
from .options import command
from .output import TABLES, Output

if TYPE_CHECKING:
    from ..web.remote import Server

#: seconds between two looks at runs that are waited for
LOOK = 2.0
#: what of a run is told; states as the queue has them
_COLUMNS = ("implementation", "target", "flags", "state", "detail")
WAITING, RUNNING, DONE = "waiting", "running", "done"
#: tables of the private page that are told otherwise
_TOLD = ("found", "rejected", "jobs")


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
    from ..web import wire
    from ..web.remote import Server

    if not ask.licence.strip():
        raise UserError("--licence: say the licence of the sources, such as --licence MIT")
    if not select.exists_at(ask.path):
        raise UserError(f"{cut(ask.path)}: no such file or folder; name a folder or a zip")
    name, content = pack(Path(ask.path))
    if not name.endswith(".zip") and not zipfile.is_zipfile(io.BytesIO(content)):
        raise UserError(f"{cut(ask.path)}: neither a folder nor a zip; name one of these")
    asked = {"name": name, "licence": ask.licence, "previous": ask.previous}
    query = urlencode({n: v for n, v in asked.items() if v})
    server = Server(ask.server)
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
    jobs = _ended(server, taken.link)
    lines = [(j["implementation"], j["target"], j["flags"], j["state"], j["detail"]) for j in jobs]
    page = server.sent(taken.link).decode()
    figures = _figures(server, taken.link, page)
    sheets.append(
        plain("Runs", "runs", ("implementation", "target", "flags", "state", "detail"), lines, _changes(page))
    )
    sheets += [_sheet(label, table) for label, table in figures]
    tables = [msgspec.to_builtins(table) for _, table in figures]
    ask.out.give(sheets, {**msgspec.to_builtins(taken), "link": link, "runs": jobs, "tables": tables}, [])
    return 0 if all(j["state"] == DONE and not j["detail"] for j in jobs) else 1


def _ended(server: Server, link: str) -> list[dict[str, str]]:
    """The runs of a submission, once all have ended; says meanwhile how far they are."""
    said = ""
    while True:
        found: list[dict[str, str]] = msgspec.json.decode(server.sent(f"{link}/jobs.json"))[0]["rows"]
        jobs = [{n: str(j.get(n) or "") for n in _COLUMNS} for j in found]
        counts = Counter(j["state"] for j in jobs)
        if not counts.keys() & {WAITING, RUNNING}:
            return jobs
        if said != (said := ", ".join(f"{n} {state}" for state, n in sorted(counts.items()))):
            stderr().print(f"{counted(len(jobs), 'run')}: {said}", soft_wrap=True)
        time.sleep(LOOK)


class _Head(msgspec.Struct, frozen=True):
    """A column of a table's file."""

    name: str
    title: str
    unit: str


class _Table(msgspec.Struct, frozen=True):
    """A table's file."""

    title: str
    columns: list[_Head]
    rows: list[dict[str, Cell | list[int]]]
    notes: list[str]


def _figures(server: Server, link: str, page: str) -> list[tuple[str, _Table]]:
    """The tables of a private page by label: its figures, and what changed since the older version."""
    labels = dict.fromkeys(re.findall(rf'href="{re.escape(link)}/([^"/]+)\.json"', page))
    files = [(unquote(label), server.sent(f"{link}/{label}.json")) for label in labels if label not in _TOLD]
    return [(label, table) for label, file in files for table in msgspec.json.decode(file, type=list[_Table])]


def _changes(page: str) -> list[str]:
    """What a private page says of all changes since the older version, above their tables."""
    said = page.partition('<h2 id="changes">')[2].partition("<h2")[0].partition("<div")[0]
    found = [unescape(re.sub(r"<[^>]+>", "", text)) for text in re.findall(r'<p class="note">(.*?)</p>', said)]
    return [f"since the last version: {'; '.join(found)}"] if found else []


def _sheet(label: str, table: _Table) -> Sheet:
    """The table as it is on the page, whose numbers of runs are of the submission, and no run's yet."""
    heads = [h for h in table.columns if h.name != "run"]
    cells = [[None if isinstance(v := row.get(h.name), list) else v for h in heads] for row in table.rows]
    columns = [
        Column(h.name, h.title, h.unit, _digits(h.name, [line[k] for line in cells])) for k, h in enumerate(heads)
    ]
    return Sheet(table.title, label, columns, [Line(line) for line in cells], notes=table.notes)


def _digits(name: str, values: list[Cell]) -> int | None:
    if name in metric_names():
        return metric(name).digits
    return ANY if name not in CONTEXT and any(isinstance(v, int | float) for v in values) else None
