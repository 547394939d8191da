"""``steelyard submit``: hands an implementation in to a server."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import click
import msgspec

from ..model.errors import UserError, cut
from ..publish.sheet import plain
from ..sources.pack import pack
from . import options, select
from .options import command
from .output import Output


class Submit(msgspec.Struct, frozen=True):
    """What ``submit`` is asked."""

    path: str
    server: str
    licence: str
    previous: str
    out: Output


@command(
    Submit,
    click.argument("path", metavar="PATH", help="A folder or a zip."),
    click.option(
        "--server", envvar="STEELYARD_SERVER", required=True, metavar="URL", help="Where steelyard serve runs."
    ),
    options.text("--licence", metavar="TEXT", help="Licence of the sources, such as MIT, or a sentence. Needed."),
    options.text("--previous", metavar="LINK", help="Private link of an older version, to be compared with."),
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
    ask.out.give(sheets, {**msgspec.to_builtins(taken), "link": link}, [said])
    return 0
