"""``steelyard db downgrade``: the schema of an older version."""

from __future__ import annotations

import click

from ...model.errors import UserError
from ...publish.sheet import plain
from .. import options, select
from ..output import Output


@click.command("downgrade")
@click.argument("schema")
@options.flag("--lose", help="Also where something is lost by it.")
@options.db
@options.tables
def verb(schema: str, lose: bool, db: str | None, out: Output) -> None:
    """Give a database back the schema of an older Steelyard, for that to open it.

    The older version says which SCHEMA it knows when it refuses a database. Runs stay; what that schema has no room for
    is listed, and lost only with --lose: make a copy before. This version migrates the database again when it opens it.
    """
    from ...store.engine import downgrade, file_of, url_of

    url = url_of(select.place(db))
    file = file_of(url)
    if url.drivername.startswith("http") or (file is not None and not file.exists()):
        raise UserError(f"{select.place(db)}: no database to be changed; give a file, or a database on a server")
    gone = downgrade(url, schema, lose=lose)
    out.give(
        [plain("", "lost", {"lost": None, "rows": 0}, list(gone.items()))] if gone or not out.console else [], gone
    )
    if gone and not lose:
        raise UserError(f"schema {schema} has no room for these, so nothing was done; steelyard db copy, then --lose")
    out.remark([f"it has schema {schema} now; steelyard of this version gives it the newest when it opens it"])
