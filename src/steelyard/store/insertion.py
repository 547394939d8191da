"""A record to rows."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

from sqlalchemy import Connection, Table, insert, select

from steelyard.model.record import Record

from .errors import StoreError
from .schema import helper, implementation, measurement, point, run, setup, target, toolchain

_INT64 = 2**63


def check(record: Record) -> None:
    """Refuses numbers that some database would not give back."""
    for name, value in record.metrics.items():
        storable = -_INT64 <= value < _INT64 if isinstance(value, int) else math.isfinite(value)
        if not storable:
            raise StoreError(f"metric {name} is {value}; leave a metric out when it has no finite value")


def append(connection: Connection, record: Record, known: dict[str, int]) -> tuple[int, dict[str, int]]:
    """Inserts a record; returns its id and what to add to ``known`` once the transaction is done.

    ``known`` maps identities to ids of implementations, toolchains and targets that are stored.
    """
    s = record.setup
    fresh: dict[str, int] = {}

    def shared(table: Table, **values: str) -> int:
        text = json.dumps([table.name, values], sort_keys=True)
        identity = hashlib.sha256(text.encode()).hexdigest()
        if identity not in known:
            fresh[identity] = _find_or_insert(connection, table, "identity", {"identity": identity, **values})
        return known[identity] if identity in known else fresh[identity]

    values = {
        "key": s.key,
        "implementation_id": shared(
            implementation,
            primitive=s.primitive,
            family=s.family,
            variant=s.variant,
            name=s.implementation,
            digest=s.implementation_digest,
        ),
        "target_id": shared(target, name=s.target, digest=s.target_digest),
        "toolchain_id": shared(
            toolchain, name=s.toolchain.name, version=s.toolchain.version, sha256=s.toolchain.sha256
        ),
        "device": s.device,
        "flags": s.flags,
        "workload": s.workload,
        "harness": s.harness,
        "timing_model": s.timing_model,
    }
    run_id = _insert(connection, run, _run_values(_find_or_insert(connection, setup, "key", values), record))
    for table, rows in (
        (measurement, [_measured(run_id, name, value) for name, value in record.metrics.items()]),
        (point, [{"run_id": run_id, "position": i, **vars(p)} for i, p in enumerate(record.points)]),
        (helper, [{"run_id": run_id, "position": i, **vars(h)} for i, h in enumerate(record.helpers)]),
    ):
        if rows:
            connection.execute(insert(table), rows)
    return run_id, fresh


def _run_values(setup_id: int, record: Record) -> dict[str, Any]:
    failure, verified = record.failure, record.verification
    return {
        "setup_id": setup_id,
        "reason": failure.reason.value if failure else None,
        "detail": failure.detail if failure else None,
        "verified_with": verified.source if verified else None,
        "vectors": verified.vectors if verified else None,
        "ext_vectors": verified.ext_vectors if verified else None,
        "skipped": verified.skipped if verified else None,
        "notes": json.dumps(record.notes),
        "origin": record.origin,
        "log": record.log,
        "host": record.host,
        "seconds": record.seconds,
        "finished": record.finished,
    }


def _measured(run_id: int, metric: str, value: float) -> dict[str, Any]:
    whole = isinstance(value, int)
    return {
        "run_id": run_id,
        "metric": metric,
        "whole": value if whole else None,
        "fraction": None if whole else value,
    }


def _find_or_insert(connection: Connection, table: Table, by: str, values: dict[str, Any]) -> int:
    found = connection.execute(select(table.c.id).where(table.c[by] == values[by])).scalar()
    return _insert(connection, table, values) if found is None else int(found)


def _insert(connection: Connection, table: Table, values: dict[str, Any]) -> int:
    made = connection.execute(insert(table).values(values)).inserted_primary_key
    assert made is not None
    return int(made[0])
