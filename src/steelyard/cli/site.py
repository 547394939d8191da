"""``steelyard site``: stored results as web pages in a folder."""

from __future__ import annotations

import os
from pathlib import Path

import click
from msgspec import Struct

from ..model.errors import UserError, counted
from . import options, select
from .console import stderr
from .options import command


class Site(Struct, frozen=True):
    """What ``site`` is asked."""

    out: Path
    all_formats: bool
    profiles: bool
    db: str | None


@command(
    Site,
    click.argument("out", type=options.FILE, metavar="FOLDER", help="Where the pages go; index.html is the first."),
    options.flag(
        "--all-formats", help="Tables in all formats, not as .csv alone, and figures as .png and .vl.json too."
    ),
    options.flag("--profiles", help="With profile, flame graph and image of every run whose sources are bundled."),
    options.db,
)
def verb(ask: Site) -> int:
    """Write stored results as web pages that open from disk and from any static host."""
    from ..web import site

    with select.store(ask.db, existing=True) as store:
        if "_server" in vars(store):
            raise UserError("--db: is a server, which has these pages already; give the database that it shows")
    if select.exists_at(str(ask.out)) and not ask.out.is_dir():
        raise UserError(f"{ask.out}: is not a folder; name one")
    place, endings = select.place(ask.db), site.ALL if ask.all_formats else site.USUAL
    try:
        plan = site.Plan(place, ask.out.absolute(), endings, ask.profiles)
        files, size = site.write(plan, min(4, len(os.sched_getaffinity(0))))
    except OSError as e:
        raise UserError(f"{ask.out}: {e.strerror}; name another folder, or free some space") from e
    stderr().print(f"wrote {counted(files, 'file')}, {size / 1e6:.1f} MB; open {ask.out}/index.html", soft_wrap=True)
    return 0
