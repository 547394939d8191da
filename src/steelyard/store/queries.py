"""Every query: records to rows, rows to records."""

from __future__ import annotations

import gc
import hashlib
import json
import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, Table, and_, func, insert, or_, select

from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Helper, Point, Record, Setup, Toolchain, Verification

from .errors import StoreError
from .schema import helper, implementation, measurement, point, run, setup, target, toolchain

_T = TypeVar("_T")
Points = bool | Collection[tuple[str, int, int]]
_BATCH = 500
_INT64 = 2**63

_RECORDS = select(
    setup.c.key,
    implementation.c.primitive,
    implementation.c.family,
    implementation.c.variant,
    implementation.c.name,
    implementation.c.digest,
    target.c.name,
    target.c.digest,
    toolchain.c.name,
    toolchain.c.version,
    toolchain.c.sha256,
    setup.c.device,
    setup.c.flags,
    setup.c.workload,
    setup.c.harness,
    setup.c.timing_model,
    run.c.id,
    run.c.reason,
    run.c.detail,
    run.c.verified_with,
    run.c.vectors,
    run.c.ext_vectors,
    run.c.skipped,
    run.c.notes,
    run.c.origin,
    run.c.log,
    run.c.host,
    run.c.seconds,
    run.c.finished,
).select_from(run.join(setup).join(implementation).join(target).join(toolchain))


def by_id(run_id: int) -> Select[Any]:
    """One record."""
    return _RECORDS.where(run.c.id == run_id)


def by_keys(keys: Collection[str]) -> Select[Any]:
    """The newest record of each setup."""
    newest = run.alias("newest")
    wanted = setup.alias("wanted")
    ids = (
        select(func.max(newest.c.id))
        .select_from(newest.join(wanted, newest.c.setup_id == wanted.c.id))
        .where(wanted.c.key.in_(keys))
        .group_by(newest.c.setup_id)
    )
    return _RECORDS.where(run.c.id.in_(ids))


def filtered(
    *,
    target_name: str | None,
    variant: str | None,
    implementation_name: str | None,
    primitive: str | None,
    flags: str | None = None,
    failed: bool | None = None,
    newest_only: bool = True,
    limit: int | None = None,
) -> Select[Any]:
    """Records that match every filter given, newest first."""
    query = _RECORDS.order_by(run.c.id.desc())
    for column, value in (
        (target.c.name, target_name),
        (implementation.c.variant, variant),
        (implementation.c.name, implementation_name),
        (implementation.c.primitive, primitive),
        (setup.c.flags, flags),
    ):
        if value is not None:
            query = query.where(column == value)
    if failed is not None:
        query = query.where(run.c.reason.is_not(None) if failed else run.c.reason.is_(None))
    if newest_only:
        newest = run.alias("newest")
        query = query.where(run.c.id.in_(select(func.max(newest.c.id)).group_by(newest.c.setup_id)))
    return query if limit is None else query.limit(limit)


def load(
    connection: Connection, query: Select[Any], *, points: Points, metrics: Collection[str] | None
) -> list[tuple[str, Record]]:
    """Runs a query of this module: setup keys and records, in the query's order.

    ``points`` is whether to read them, or which: (operation, adlen, mlen).
    """
    with _collector_paused():
        return _load(connection, query, points, metrics)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Garbage collection would look at every record again and again while there is none; a third faster."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _load(
    connection: Connection, query: Select[Any], points: Points, metrics: Collection[str] | None
) -> list[tuple[str, Record]]:
    rows = connection.execute(query).all()
    ids = [row[16] for row in rows]
    values = _measurements(connection, ids, metrics)
    sizes = _points(connection, ids, points) if points else {}
    helpers = _helpers(connection, ids)
    shared: dict[str, str] = {}
    same = shared.setdefault
    chains: dict[tuple[str, str, str], Toolchain] = {}
    records = []
    for (
        key, primitive, family, variant, name, digest, target_name, target_digest, chain, version, sha256,
        device, flags, workload, harness, timing_model, run_id, reason, detail, verified_with, vectors,
        ext_vectors, skipped, notes, origin, log, host, seconds, finished,
    ) in rows:  # fmt: skip
        used = chains.get((chain, version, sha256))
        if used is None:
            used = chains[chain, version, sha256] = Toolchain(chain, version, sha256)
        record = Record(
            Setup(
                same(primitive, primitive),
                same(family, family),
                same(variant, variant),
                same(name, name),
                same(digest, digest),
                same(target_name, target_name),
                same(target_digest, target_digest),
                same(device, device),
                used,
                same(flags, flags),
                same(workload, workload),
                same(harness, harness),
                same(timing_model, timing_model),
            ),
            None if reason is None else Failure(_reason(reason, run_id), detail),
            values.get(run_id) or {},
            tuple(sizes.get(run_id, ())),
            tuple(helpers.get(run_id, ())),
            None if verified_with is None else Verification(verified_with, vectors, ext_vectors, skipped),
            () if notes == "[]" else tuple(json.loads(notes)),
            same(origin, origin),
            log,
            same(host, host),
            seconds,
            finished,
            run_id,
        )
        records.append((key, record))
    return records


def table(
    connection: Connection,
    query: Select[Any],
    *,
    points: Collection[tuple[str, int, int]],
    metrics: Collection[str] | None,
) -> list[dict[str, Any]]:
    """As :func:`load`, flat: one mapping a run, for tables of very many."""
    with _collector_paused():
        rows = connection.execute(query).all()
        made: dict[int, dict[str, Any]] = {}
        for (
            _, primitive, family, variant, name, digest, target_name, _, _, version, _, device, flags, workload,
            harness, timing_model, run_id, reason, _, _, _, _, _, _, origin, _, host, _, finished,
        ) in rows:  # fmt: skip
            made[run_id] = {
                "run": run_id,
                "label": f"{variant}/{name}",
                "primitive": primitive,
                "family": family,
                "variant": variant,
                "implementation": name,
                "target": target_name,
                "device": device,
                "flags": flags,
                "workload": workload,
                "compiler": version,
                "outcome": "verified" if reason is None else reason,
                "finished": None if finished is None else f"{finished:%Y-%m-%d %H:%M}",
                "host": host,
                "digest": digest,
                "harness": harness,
                "timing_model": timing_model,
                "origin": origin,
            }
        ids = list(made)
        for run_id, values in _measurements(connection, ids, metrics).items():
            made[run_id].update(values)
        if points:
            for run_id, calls in _points(connection, ids, points).items():
                made[run_id].update({f"{p.operation}@{p.adlen}/{p.mlen}": p.cycles for p in calls})
        return list(made.values())


def _reason(word: str, run_id: int) -> Reason:
    try:
        return Reason(word)
    except ValueError:
        raise StoreError(
            f"record {run_id} failed with {word!r}, which this version does not know; "
            "run: pip install --upgrade steelyard"
        ) from None


def _measurements(
    connection: Connection, ids: Sequence[int], metrics: Collection[str] | None
) -> dict[int, dict[str, float]]:
    found: dict[int, dict[str, float]] = {}
    shared: dict[str, str] = {}
    columns = measurement.c
    query = select(columns.run_id, columns.metric, columns.whole, columns.fraction)
    if metrics is not None:
        query = query.where(columns.metric.in_(metrics))
    for batch in batches(ids):
        for run_id, metric, whole, fraction in connection.execute(query.where(columns.run_id.in_(batch))):
            values = found.get(run_id)
            if values is None:
                values = found[run_id] = {}
            values[shared.setdefault(metric, metric)] = fraction if whole is None else whole
    return found


def points(connection: Connection, ids: Sequence[int]) -> dict[int, list[Point]]:
    """All points of these runs."""
    return _points(connection, ids, True)


def _points(connection: Connection, ids: Sequence[int], wanted: Points) -> dict[int, list[Point]]:
    found: dict[int, list[Point]] = {}
    shared: dict[str, Any] = {}
    c = point.c
    query = select(c.run_id, c.operation, c.adlen, c.mlen, c.cycles).order_by(c.run_id, c.position)
    if not isinstance(wanted, bool):
        query = query.where(or_(*(and_(c.operation == o, c.adlen == a, c.mlen == m) for o, a, m in wanted)))
    for batch in batches(ids):
        for run_id, operation, adlen, mlen, cycles in connection.execute(query.where(c.run_id.in_(batch))):
            made = Point(shared.setdefault(operation, operation), adlen, mlen, cycles)
            found.setdefault(run_id, []).append(made)
    return found


def _helpers(connection: Connection, ids: Sequence[int]) -> dict[int, list[Helper]]:
    found: dict[int, list[Helper]] = {}
    shared: dict[tuple[str, int], Helper] = {}
    c = helper.c
    query = select(c.run_id, c.member, c.size).order_by(c.run_id, c.position)
    for batch in batches(ids):
        for run_id, member, size in connection.execute(query.where(c.run_id.in_(batch))):
            made = shared.get((member, size))
            if made is None:
                made = shared[member, size] = Helper(member, size)
            found.setdefault(run_id, []).append(made)
    return found


def batches(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """Pieces small enough for one IN (...) on every database."""
    return (items[i : i + _BATCH] for i in range(0, len(items), _BATCH))


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
