"""The audit log: what operators did, and whatever else is to be known of who ran the service."""

from __future__ import annotations

from sqlalchemy import Connection, insert

from . import schema
from .dates import now
from .values import storable
from .writing import row_of


def note(connection: Connection, operator: str, address: str, action: str, subject: str = "", detail: str = "") -> None:
    """Writes down what was done, in its transaction: what is too long for it is cut as it is stored."""
    values = {"at": now(), "operator": storable(operator)[:64], "address": storable(address)[:64], "action": action,
              "subject": storable(subject)[:255], "detail": detail}  # fmt: skip
    connection.execute(insert(schema.audit).values(row_of(schema.audit, values)))
