"""Every query that reads: rows to records.

Plain SQL that all databases know: reading from a file needs no more than Python's own driver, and starts a quarter of
a second earlier. Values are named, ``:like_this``; columns carry their table's name, so that one may be called ``key``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from sys import intern
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from steelyard.model.reasons import MACHINE, Failure, Reason
from steelyard.model.record import Helper, Point, Record, Setup, Toolchain, Verification

from .errors import StoreError
from .values import EPOCH, MICROSECOND, storable

_T = TypeVar("_T")
Points = bool | Collection[tuple[str, int, int]]
#: sends a query with its values to the database and returns all rows
Rows = Callable[[str, Mapping[str, Any]], Sequence[Any]]
_BATCH = 500
#: metrics in one query: each joins a table, and databases plan joins of many slowly or not at all
_JOINS = 16
_MINUTE = 60_000_000

_RECORDS = """
  setup.key, implementation.primitive, implementation.family, implementation.variant, implementation.name,
  implementation.digest, target.name, target.digest, toolchain.name, toolchain.version, toolchain.sha256,
  setup.device, setup.flags, setup.workload, setup.harness, setup.timing_model,
  run.id, run.reason, run.detail, run.verified_with, run.vectors, run.ext_vectors, run.skipped, run.notes,
  run.origin, run.log, run.host, run.seconds, run.finished, run.seed, run.answers
"""
_FLAT = """
  run.id, setup.implementation_id, setup.target_id, setup.toolchain_id, run.reason, run.vectors, run.finished,
  setup.device, setup.flags, setup.workload, setup.harness, setup.timing_model, run.origin, run.host
"""
_FROM = """
FROM run
JOIN setup ON setup.id = run.setup_id
JOIN implementation ON implementation.id = setup.implementation_id
JOIN target ON target.id = setup.target_id
JOIN toolchain ON toolchain.id = setup.toolchain_id
"""
_OF_MACHINE = ", ".join(f"'{reason}'" for reason in sorted(MACHINE))
#: the run that counts of a setup: the newest, and a failure of the machine only where there is nothing else
_NEWEST = f"COALESCE(MAX(CASE WHEN newest.reason IN ({_OF_MACHINE}) THEN NULL ELSE newest.id END), MAX(newest.id))"
#: the same as a condition under which the newest counts: faster over all setups
_COUNTS = f"""newest.id NOT IN (
  SELECT failed.id FROM run AS failed WHERE failed.reason IN ({_OF_MACHINE}) AND EXISTS (
    SELECT 1 FROM run AS other WHERE other.setup_id = failed.setup_id
    AND (other.reason IS NULL OR other.reason NOT IN ({_OF_MACHINE}))))"""


class Query(NamedTuple):
    """Which records, and in which order."""

    where: str
    values: Mapping[str, Any]
    order: str = ""

    def columns(
        self, rows: Rows, columns: str, more: str = "", values: Mapping[str, Any] = MappingProxyType({})
    ) -> Sequence[Any]:
        """These columns of them, and of tables that ``more`` joins with its own values."""
        return rows(f"SELECT {columns} {_FROM} {more} {self.where} {self.order}", {**self.values, **values})


def by_id(run_id: int) -> Query:
    """One record."""
    return Query("WHERE run.id = :id", {"id": run_id})


def by_keys(keys: Sequence[str]) -> Query:
    """The record that counts of each setup."""
    names, values = _named(keys)
    newest = (
        f"SELECT {_NEWEST} FROM run AS newest JOIN setup AS wanted ON newest.setup_id = wanted.id "
        f"WHERE wanted.key IN ({names}) GROUP BY newest.setup_id"
    )
    return Query(f"WHERE run.id IN ({newest})", values)


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
) -> Query:
    """Records that match every filter given, newest first."""
    conditions, values = ["1 = 1"], {}
    for column, value in (
        ("target.name", target_name),
        ("implementation.variant", variant),
        ("implementation.name", implementation_name),
        ("implementation.primitive", primitive),
        ("setup.flags", flags),
    ):
        if value is not None:
            name = column.replace(".", "_")
            conditions.append(f"{column} = :{name}")
            values[name] = storable(value)
    if failed is not None:
        conditions.append("run.reason IS NOT NULL" if failed else "run.reason IS NULL")
    if newest_only:
        conditions.append(
            f"run.id IN (SELECT MAX(newest.id) FROM run AS newest WHERE {_COUNTS} GROUP BY newest.setup_id)"
        )
    end = "" if limit is None else f" LIMIT {limit:d}"
    return Query(f"WHERE {' AND '.join(conditions)}", values, f"ORDER BY run.id DESC{end}")


def same_answers(rows: Rows, record: Record) -> list[int]:
    """Newest runs of other sources with the same answers."""
    s, v = record.setup, record.verification
    query = (
        f"SELECT MAX(run.id) {_FROM} WHERE run.answers = :answers AND implementation.primitive = :primitive "
        "AND implementation.digest <> :digest GROUP BY implementation.digest"
    )
    values = {"answers": v.answers if v else "", "primitive": s.primitive, "digest": s.implementation_digest}
    return sorted(number for (number,) in rows(query, values))


def _named(items: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The inside of IN (...), and its values."""
    values = {f"v{i}": storable(item) for i, item in enumerate(items)}
    return ", ".join(f":{name}" for name in values), values


def load(rows: Rows, query: Query, *, points: Points, metrics: Collection[str] | None) -> list[tuple[str, Record]]:
    """Runs a query of this module: setup keys and records, in the query's order.

    ``points`` is whether to read them, or which: (operation, adlen, mlen).
    """
    found = query.columns(rows, _RECORDS)
    ids = [row[16] for row in found]
    values = _measurements(rows, ids, metrics)
    sizes = _points(rows, ids, points) if points else {}
    helpers = _helpers(rows, ids)
    shared: dict[str, str] = {}
    same = shared.setdefault
    chains: dict[tuple[str, str, str], Toolchain] = {}
    records = []
    for (
        key, primitive, family, variant, name, digest, target_name, target_digest, chain, version, sha256,
        device, flags, workload, harness, timing_model, run_id, reason, detail, verified_with, vectors,
        ext_vectors, skipped, notes, origin, log, host, seconds, finished, seed, answers,
    ) in found:  # fmt: skip
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
            None
            if verified_with is None
            else Verification(verified_with, vectors, ext_vectors, skipped, answers or ""),
            () if notes == "[]" else tuple(json.loads(notes)),
            same(origin, origin),
            log,
            same(host, host),
            seconds,
            _time(finished),
            seed or "",
            run_id,
        )
        records.append((key, record))
    return records


def table(
    rows: Rows,
    query: Query,
    *,
    points: Collection[tuple[str, int, int]],
    metrics: Collection[str] | None,
) -> list[dict[str, Any]]:
    """As :func:`load`, flat: one mapping a run, for tables of very many. What a run lacks is None."""
    columns = _context(rows, query)
    ids = columns["run"]
    names = _measured(rows, query) if metrics is None else sorted(metrics)
    for some in batches(names, _JOINS):
        columns |= _metrics(rows, query, ids, some)
    for sizes in batches(sorted(points), _JOINS):
        columns |= _cycles(rows, query, columns, sizes)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _context(rows: Rows, query: Query) -> dict[str, Sequence[Any]]:
    """What sets runs apart, by column. What many share is read once, and equal texts are one object."""
    found = query.columns(rows, _FLAT)
    ids, i, t, c, *columns = zip(*found, strict=True) if found else [()] * 14
    reason, vectors, finished, *texts = columns
    device, flags, workload, harness, timing_model, origin, host = (list(map(intern, column)) for column in texts)
    minute = cache(_minute)

    def of(table: str, keys: Sequence[int], *names: str) -> Sequence[Sequence[str]]:
        every = rows(f"SELECT {', '.join(f'{table}.{n}' for n in ('id', *names))} FROM {table}", {})
        texts = {key: values for key, *values in every}
        return list(zip(*(texts[k] for k in keys), strict=True)) or [()] * len(names)

    primitive, family, variant, name, digest = of(
        "implementation", i, "primitive", "family", "variant", "name", "digest"
    )
    return {
        "run": ids,
        "label": [intern(f"{v}/{n}") for v, n in zip(variant, name, strict=True)],
        "primitive": primitive,
        "family": family,
        "variant": variant,
        "implementation": name,
        "target": of("target", t, "name")[0],
        "device": device,
        "flags": flags,
        "workload": workload,
        "compiler": of("toolchain", c, "version")[0],
        "outcome": ["verified" if word is None else word for word in reason],
        "vectors": vectors,
        "finished": [None if time is None else minute(time // _MINUTE) for time in finished],
        "host": host,
        "digest": digest,
        "harness": harness,
        "timing_model": timing_model,
        "origin": origin,
    }


def _measured(rows: Rows, query: Query) -> list[str]:
    """Names of all metrics that these runs have."""
    joined = f"{_FROM} JOIN measurement AS m ON m.run_id = run.id {query.where}"
    return sorted(name for (name,) in rows(f"SELECT DISTINCT m.metric {joined}", query.values))


def _metrics(rows: Rows, query: Query, ids: Sequence[int], names: Sequence[str]) -> dict[str, Sequence[float | None]]:
    """Metrics by column, in the order of ``ids``. A query for each batch of runs would take twice as long."""
    asked = {f"m{k}": storable(name) for k, name in enumerate(names)}
    joined = " ".join(f"LEFT JOIN measurement AS {m} ON {m}.run_id = run.id AND {m}.metric = :{m}" for m in asked)
    wanted = ", ".join(f"{m}.whole, {m}.fraction" for m in asked)
    columns = _aligned(query.columns(rows, f"run.id, {wanted}", joined, asked), ids, 2 * len(names))
    return {n: _either(*pair) for n, *pair in zip(names, columns[::2], columns[1::2], strict=True)}


def _aligned(found: Sequence[Any], ids: Sequence[int], count: int) -> Sequence[Sequence[Any]]:
    """``count`` columns behind the runs' ids, in the order of ``ids``."""
    if [row[0] for row in found] != list(ids):  # another process replaced some meanwhile
        at = {row[0]: row for row in found}
        found = [at.get(k, (k, *(None,) * count)) for k in ids]
    return list(zip(*found, strict=True))[1:] or [()] * count


def _either(whole: Sequence[int | None], fraction: Sequence[float | None]) -> Sequence[float | None]:
    """A metric's values: most metrics are all of one kind."""
    if fraction.count(None) == len(fraction):
        return whole
    if whole.count(None) == len(whole):
        return fraction
    return [w if f is None else f for w, f in zip(whole, fraction, strict=True)]


def _cycles(
    rows: Rows, query: Query, context: Mapping[str, Sequence[Any]], sizes: Sequence[tuple[str, int, int]]
) -> dict[str, Sequence[int | None]]:
    """Points by column, in the order of ``context``. They are mostly where one run of each workload has them; to look
    for them at all positions of all runs would take four times as long."""
    ids, primitives = context["run"], context["primitive"]
    samples = {(w, p): k for k, w, p in zip(ids, context["workload"], primitives, strict=True)}
    positions: dict[tuple[str, int, int], set[int]] = {}
    for position, o, a, m in _calls(rows, [*samples.values()], sizes, "p.position"):
        positions.setdefault((o, a, m), set()).add(position)
    asked = {f"p{k}": storable(operation) for k, (operation, _, _) in enumerate(positions)}
    joined = " ".join(
        f"LEFT JOIN point AS p{k} ON p{k}.run_id = run.id AND p{k}.position IN ({_numbers(sorted(at))}) "
        f"AND p{k}.operation = :p{k} AND p{k}.adlen = {adlen:d} AND p{k}.mlen = {mlen:d}"
        for k, ((_, adlen, mlen), at) in enumerate(positions.items())
    )
    wanted = ", ".join(["run.id", *(f"{p}.cycles" for p in asked)])
    columns = _aligned(query.columns(rows, wanted, joined, asked), ids, len(asked)) if asked else []
    found: dict[tuple[str, int, int], Sequence[int | None]] = dict(zip(positions, columns, strict=True))
    lacking: set[int] = set()
    for size in sizes:
        column = found.setdefault(size, (None,) * len(ids))
        if None in column:
            every = zip(ids, primitives, column, strict=True)
            lacking |= {k for k, p, v in every if v is None and (p == "crypto_aead") == (size[0] != "hash")}
    elsewhere: dict[tuple[str, int, int], dict[int, int]] = {}
    for run_id, cycles, o, a, m in _calls(rows, sorted(lacking), sizes, "p.run_id, p.cycles"):
        elsewhere.setdefault((o, a, m), {})[run_id] = cycles
    for size, of_run in elsewhere.items():
        found[size] = [of_run.get(k, v) for k, v in zip(ids, found[size], strict=True)]
    return {f"{o}@{a}/{m}": found[o, a, m] for o, a, m in sizes}


def _reason(word: str, run_id: int) -> Reason:
    try:
        return Reason(word)
    except ValueError:
        raise StoreError(
            f"record {run_id} failed with {word!r}, which this version does not know; "
            "run: pip install --upgrade steelyard"
        ) from None


def _measurements(rows: Rows, ids: Sequence[int], metrics: Collection[str] | None) -> dict[int, dict[str, float]]:
    found: dict[int, dict[str, float]] = {}
    shared: dict[str, str] = {}
    query = "SELECT m.run_id, m.metric, m.whole, m.fraction FROM measurement AS m WHERE m.run_id IN (%s)"
    values: dict[str, str] = {}
    if metrics is not None:
        if not metrics:
            return found
        names, values = _named(sorted(metrics))
        query += f" AND m.metric IN ({names})"
    for batch in batches(ids):
        for run_id, metric, whole, fraction in rows(query % _numbers(batch), values):
            of_run = found.get(run_id)
            if of_run is None:
                of_run = found[run_id] = {}
            of_run[shared.setdefault(metric, metric)] = fraction if whole is None else whole
    return found


def points(rows: Rows, ids: Sequence[int]) -> dict[int, list[Point]]:
    """All points of these runs."""
    return _points(rows, ids, True)


def _points(rows: Rows, ids: Sequence[int], wanted: Points) -> dict[int, list[Point]]:
    found: dict[int, list[Point]] = {}
    shared: dict[Any, Any] = {}
    for run_id, cycles, operation, adlen, mlen in _calls(rows, ids, wanted, "p.run_id, p.cycles"):
        made = Point(shared.setdefault(operation, operation), adlen, mlen, cycles)
        found.setdefault(run_id, []).append(made)
    return found


def _calls(rows: Rows, ids: Sequence[int], wanted: Points, columns: str) -> Iterator[Any]:
    """These columns of points, then operation, adlen, mlen."""
    sizes, values = "", {}
    if not isinstance(wanted, bool):
        operations = sorted({o for o, _, _ in wanted})
        values = dict(zip((f"o{i}" for i in range(len(operations))), operations, strict=True))
        name = {o: n for n, o in values.items()}
        each = (f"(p.mlen = {m:d} AND p.adlen = {a:d} AND p.operation = :{name[o]})" for o, a, m in wanted)
        sizes = f" AND ({' OR '.join(each)})"
    query = f"SELECT {columns}, p.operation, p.adlen, p.mlen FROM point AS p WHERE p.run_id IN (%s)"
    for batch in batches(ids):
        yield from rows(f"{query % _numbers(batch)}{sizes} ORDER BY p.run_id, p.position", values)


def _helpers(rows: Rows, ids: Sequence[int]) -> dict[int, list[Helper]]:
    found: dict[int, list[Helper]] = {}
    shared: dict[tuple[str, int], Helper] = {}
    query = "SELECT h.run_id, h.member, h.size FROM helper AS h WHERE h.run_id IN (%s) ORDER BY h.run_id, h.position"
    for batch in batches(ids):
        for run_id, member, size in rows(query % _numbers(batch), {}):
            made = shared.get((member, size))
            if made is None:
                made = shared[member, size] = Helper(member, size)
            found.setdefault(run_id, []).append(made)
    return found


def _numbers(ids: Sequence[int]) -> str:
    """The inside of IN (...)."""
    return ", ".join(f"{i:d}" for i in ids)


def _time(stored: int | None) -> datetime | None:
    return None if stored is None else EPOCH + stored * MICROSECOND


def _minute(number: int) -> str:
    return f"{EPOCH + number * _MINUTE * MICROSECOND:%Y-%m-%d %H:%M}"


def batches(items: Sequence[_T], size: int = _BATCH) -> Iterator[Sequence[_T]]:
    """Pieces; by default small enough for one IN (...) on every database."""
    return (items[i : i + size] for i in range(0, len(items), size))
