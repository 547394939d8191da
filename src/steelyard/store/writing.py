"""Writes a record into the database."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from msgspec import to_builtins
from sqlalchemy import Connection, Engine, Select, Table, bindparam, insert, select

from steelyard.model.record import Record

from . import schema
from .errors import LeaseLost, StoreError
from .leasing import ended, repeated
from .queries import PLAIN
from .values import EPOCH, MICROSECOND, storable

_INT64 = 2**63
#: the times that can be read back
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def add(
    engine: Engine,
    record: Record,
    lease: int | None = None,
    also: Callable[[Connection], None] | None = None,
    then: Callable[[Connection], None] | None = None,
) -> int:
    """Inserts a record in one transaction, which does ``also`` that before it and ``then`` that after it, and ends its
    ``lease``; returns its id. Raises :class:`StoreError` for values that cannot be stored, :class:`LeaseLost` where
    that lease is gone."""

    def work(connection: Connection) -> int:
        if lease is not None and not ended(connection, lease):
            raise LeaseLost("another Steelyard has taken over this run")
        if also is not None:
            also(connection)
        number = append(connection, record)
        if then is not None:
            then(connection)
        return number

    return repeated(engine, work)


def _check(record: Record) -> None:
    """Refuses numbers that some databases would not return unchanged."""
    for name, value in record.metrics.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise StoreError(f"metric {name} is {value}; leave a metric out when it has no finite value")
        if isinstance(value, int) and not -_INT64 <= value < _INT64:
            raise StoreError(f"metric {name} is {value}, which has more than 64 bits")


def append(connection: Connection, record: Record) -> int:
    """Inserts a record in this transaction, and returns its id. Raises :class:`StoreError` for values that cannot be
    stored."""
    rows = rows_of(record)
    shared = {
        f"{table.name}_id": _find_or_insert(connection, table, "identity", *rows[table])
        for table in (schema.implementation, schema.target, schema.toolchain)
    }
    [setup], [run] = rows[schema.setup], rows[schema.run]
    setup_id = _find_or_insert(connection, schema.setup, "key", {**setup, **shared})
    run_id = _insert(connection, schema.run, {"setup_id": setup_id, **run})
    for table in schema.PARTS:
        if rows[table]:
            connection.execute(_into(table), [{"run_id": run_id, **row} for row in rows[table]])
    return run_id


def rows_of(record: Record) -> dict[Table, list[dict[str, Any]]]:
    """The rows of a record by table, without the numbers of each other. Raises :class:`StoreError` for values that
    cannot be stored."""
    _check(record)
    s, t, failure, verified = record.setup, record.setup.toolchain, record.failure, record.verification
    implementation = {"primitive": s.primitive, "family": s.family, "variant": s.variant, "name": s.implementation,
                      "digest": s.implementation_digest}  # fmt: skip
    setup = {name: getattr(s, name) for name in ("key", "device", "flags", "workload", "harness", "timing_model")}
    run = {
        "reason": failure.reason.value if failure else None,
        "detail": failure.detail if failure else None,
        "verified_with": verified.source if verified else None,
        **{name: getattr(verified, name, None) for name in ("vectors", "ext_vectors", "skipped", "answers")},
        "notes": json.dumps(record.notes),
        "finished": record.finished,
        **{name: getattr(record, name) for name in PLAIN if name != "id"},
    }
    rows: dict[Table, list[dict[str, Any]]] = {
        schema.implementation: [_identified(schema.implementation, implementation)],
        schema.target: [_identified(schema.target, {"name": s.target, "digest": s.target_digest})],
        schema.toolchain: [_identified(schema.toolchain, to_builtins(t))],
        schema.setup: [setup],
        schema.run: [run],
        schema.measurement: [_measured(name, value) for name, value in record.metrics.items()],
        schema.point: [{"position": i, **to_builtins(p)} for i, p in enumerate(record.points)],
        schema.vector_cycles: [{"packed": record.vector_cycles}] if record.vector_cycles else [],
        schema.helper: [{"position": i, **to_builtins(h)} for i, h in enumerate(record.helpers)],
    }
    return {table: [row_of(table, row) for row in some] for table, some in rows.items()}


def _identified(table: Table, values: dict[str, str]) -> dict[str, str]:
    """A row that many records share, with the hash by which it is found."""
    text = json.dumps([table.name, values], sort_keys=True)
    return {"identity": hashlib.sha256(text.encode()).hexdigest(), **values}


def _measured(metric: str, value: float) -> dict[str, Any]:
    whole = isinstance(value, int)
    return {"metric": metric, "whole": value if whole else None, "fraction": None if whole else value}


#: statements, and the characters that columns hold: made once, for there are many records
_into = cache(insert)


@cache
def _by(table: Table, column: str) -> Select[Any]:
    return select(table.c.id).where(table.c[column] == bindparam("value"))


@cache
def _most(table: Table) -> dict[str, int | None]:
    return {c.name: getattr(c.type, "length", None) for c in table.c}


def _find_or_insert(connection: Connection, table: Table, by: str, values: Mapping[str, Any]) -> int:
    found = connection.execute(_by(table, by), {"value": values[by]}).scalar()
    return _insert(connection, table, values) if found is None else int(found)


def _insert(connection: Connection, table: Table, values: Mapping[str, Any]) -> int:
    made = connection.execute(_into(table), dict(values)).inserted_primary_key
    assert made is not None
    return int(made[0])


def row_of(table: Table, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as their columns take them. Raises :class:`StoreError` for one that some databases would not return
    unchanged."""
    most = _most(table)
    return {name: _stored(value, most[name]) for name, value in values.items()}


def _stored(value: Any, most: int | None) -> Any:
    if value is None:
        return value
    if isinstance(value, int):
        if not -_INT64 <= value < _INT64:
            raise StoreError(f"the number {str(value)[:40]}... has more than 64 bits")
        return value
    if isinstance(value, str):
        text = storable(value)
        if most is not None and len(text) > most:  # SQLite would accept more, other databases would not
            raise StoreError(f"{text[:40]!r}... has {len(text)} characters; at most {most} fit")
        return text
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise StoreError(f"the time {value} has no zone; use datetime.now(UTC)")
        if not _FIRST <= value <= _LAST:  # in UTC: nobody could read it back
            raise StoreError(f"the time {value} is of no year from 1 to 9999 in UTC")
        return (value - EPOCH) // MICROSECOND
    return value
