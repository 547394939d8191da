"""``steelyard submit``: hands an implementation in to a server."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import click
import msgspec

from ..model.errors import UserError, counted, cut
from ..publish.sheet import plain
from ..sources.pack import pack
from . import options, select
from .console import stderr
from .options import command
from .output import Output

if TYPE_CHECKING:
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
    options.flag("--wait", help="Wait until every run has ended; 1 where one has no verified figures."),
    options.tables,
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
    sheets.append(plain("Runs", "runs", ("implementation", "target", "flags", "state", "detail"), lines))
    ask.out.give(sheets, {**msgspec.to_builtins(taken), "link": link, "runs": jobs}, [])
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
