"""What a database says of its own pages and indexes, which answers alone do not show: they may need none of them."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from .schema import metadata

#: flaws that SQLite names; it would list every row
_MOST = 4
#: PostgreSQL has its check in an extension, which not everybody may call ("amcheck", F.1)
_AMCHECK = """
SELECT COUNT(*) FROM pg_proc WHERE proname = 'bt_index_check' AND pronargs = 2
AND pg_function_is_visible(oid) AND has_function_privilege(oid, 'EXECUTE')
"""
_INDEXES = """
SELECT indexrelid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
JOIN pg_class AS its ON its.oid = indrelid
WHERE amname = 'btree' AND indisvalid AND pg_class.relnamespace = current_schema()::regnamespace
AND its.relname = ANY(:tables) ORDER BY pg_class.relname
"""


def judged(connection: Connection) -> bool:
    """Whether :func:`flaws` can tell."""
    return connection.dialect.name != "postgresql" or bool(connection.execute(text(_AMCHECK)).scalar_one())


def flaws(connection: Connection) -> Iterator[str]:
    """What is wrong with pages and indexes. Those of PostgreSQL need its extension amcheck (:func:`judged`)."""
    if connection.dialect.name == "sqlite":
        yield from (s for s in connection.execute(text(f"PRAGMA integrity_check({_MOST})")).scalars() if s != "ok")
    elif connection.dialect.name != "postgresql":
        # the name of a table, the operation, what kind of message, the message
        tables = ", ".join(metadata.tables)
        for table, _, kind, said in connection.execute(text(f"CHECK TABLE {tables}")):
            if kind.lower() in ("error", "warning"):
                yield f"{table}: {said}"
    elif judged(connection):
        for index in connection.execute(text(_INDEXES), {"tables": [*metadata.tables]}).scalars().all():
            try:
                with connection.begin_nested():
                    connection.execute(
                        text("SELECT bt_index_check(CAST(CAST(:index AS oid) AS regclass), true)"), {"index": index}
                    )
            except DBAPIError as error:
                if error.connection_invalidated:  # the server went away
                    raise
                yield str(error.orig).splitlines()[0]
