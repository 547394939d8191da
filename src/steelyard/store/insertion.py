"""A record to rows."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import to_builtins

from steelyard.model.record import Record

from .errors import StoreError
from .values import stored

_INT64 = 2**63


class Writer(Protocol):
    """A database inside a transaction."""

    def find(self, table: str, column: str, value: str) -> int | None:
        """The id of the row that has this value, which no other row has."""

    def insert(self, table: str, values: Mapping[str, Any]) -> int:
        """Inserts a row and returns its id."""

    def insert_all(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Inserts rows with the same columns."""


def check(record: Record) -> None:
    """Refuses numbers that some database would not give back."""
    for name, value in record.metrics.items():
        storable = -_INT64 <= value < _INT64 if isinstance(value, int) else math.isfinite(value)
        if not storable:
            raise StoreError(f"metric {name} is {value}; leave a metric out when it has no finite value")


def append(writer: Writer, record: Record, known: dict[str, int]) -> tuple[int, dict[str, int]]:
    """Inserts a record; returns its id and what to add to ``known`` once the transaction is done.

    ``known`` maps identities to ids of implementations, toolchains and targets that are stored.
    """
    s = record.setup
    fresh: dict[str, int] = {}

    def shared(table: str, **values: str) -> int:
        text = json.dumps([table, values], sort_keys=True)
        identity = hashlib.sha256(text.encode()).hexdigest()
        if identity not in known:
            fresh[identity] = _find_or_insert(writer, table, "identity", {"identity": identity, **values})
        return known[identity] if identity in known else fresh[identity]

    values = {
        "key": s.key,
        "implementation_id": shared(
            "implementation",
            primitive=s.primitive,
            family=s.family,
            variant=s.variant,
            name=s.implementation,
            digest=s.implementation_digest,
        ),
        "target_id": shared("target", name=s.target, digest=s.target_digest),
        "toolchain_id": shared(
            "toolchain", name=s.toolchain.name, version=s.toolchain.version, sha256=s.toolchain.sha256
        ),
        "device": s.device,
        "flags": s.flags,
        "workload": s.workload,
        "harness": s.harness,
        "timing_model": s.timing_model,
    }
    setup_id = _find_or_insert(writer, "setup", "key", values)
    run_id = writer.insert("run", _stored(_run_values(setup_id, record)))
    for table, rows in (
        ("measurement", [_measured(run_id, name, value) for name, value in record.metrics.items()]),
        ("point", [{"run_id": run_id, "position": i, **to_builtins(p)} for i, p in enumerate(record.points)]),
        ("helper", [{"run_id": run_id, "position": i, **to_builtins(h)} for i, h in enumerate(record.helpers)]),
    ):
        if rows:
            writer.insert_all(table, [_stored(row) for row in rows])
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
        "seed": record.seed or None,
        "answers": (verified.answers or None) if verified else None,
    }


def _measured(run_id: int, metric: str, value: float) -> dict[str, Any]:
    whole = isinstance(value, int)
    return {
        "run_id": run_id,
        "metric": metric,
        "whole": value if whole else None,
        "fraction": None if whole else value,
    }


def _find_or_insert(writer: Writer, table: str, by: str, values: dict[str, Any]) -> int:
    values = _stored(values)
    found = writer.find(table, by, values[by])
    return writer.insert(table, values) if found is None else found


def _stored(values: Mapping[str, Any]) -> dict[str, Any]:
    return {column: stored(column, value) for column, value in values.items()}
