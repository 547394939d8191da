"""The audit log: what operators did, and whatever else is to be known of who ran the service."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, insert

from steelyard.model.errors import counted

from . import schema
from .dates import now
from .queries import RENAMED
from .values import storable
from .writing import row_of


def note(connection: Connection, operator: str, address: str, action: str, subject: str = "", detail: str = "") -> None:
    """Writes down what was done, in its transaction: what is too long for it is cut as it is stored."""
    values = {"at": now(), "operator": storable(operator)[:64], "address": storable(address)[:64], "action": action,
              "subject": storable(subject)[:255], "detail": detail}  # fmt: skip
    connection.execute(insert(schema.audit).values(row_of(schema.audit, values)))


def renamed(connection: Connection, lines: Collection[int], runs: int, why: str = "") -> None:
    """Writes down that ``runs`` got other names, because of these lines. Servers look there for what they keep."""
    subject = f"{'line' if len(lines) == 1 else 'lines'} {', '.join(map(str, sorted(lines)))}"
    note(connection, "", "", RENAMED, subject, f"{counted(runs, 'run')} {why}".rstrip())
