"""All queries that read runs, as SQL that SQLite, PostgreSQL and MariaDB share.

Parameters are named, ``:like_this``, and so are result columns. Columns are qualified with their table's name, so that
one may be called ``key``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from steelyard.model.reasons import MACHINE
from steelyard.model.row import ANSWERS, OTHER_ANSWERS, UNANSWERED

from .values import storable

_T = TypeVar("_T")
#: ids or keys in one IN (...), few enough for every database
_BATCH = 500
#: complete records that are read at a time
RECORDS = 200
#: operation, bytes of associated data and of message
Size = tuple[str, int, int]

#: columns of :class:`..model.record.Record` and its parts, under their names there
RECORD = """
  run.id, implementation.primitive, implementation.family, implementation.variant,
  implementation.name AS implementation, implementation.digest AS implementation_digest, target.name AS target,
  target.digest AS target_digest, setup.device, toolchain.name AS toolchain, toolchain.version, toolchain.sha256,
  setup.flags, setup.workload, setup.harness, setup.timing_model, run.reason, run.detail, run.verified_with,
  run.vectors, run.ext_vectors, run.skipped, run.answers, run.notes, run.origin, run.log, run.host, run.seconds,
  run.finished, run.seed, run.max_cycles, setup.key
"""
#: fields of records that are columns of ``run`` as they are
PLAIN = ("id", "origin", "log", "host", "seconds", "seed", "max_cycles")
_ANSWERS = " ".join(f"WHEN '{word}' THEN '{said}'" for word, said in ANSWERS.items())
#: columns of rows, under their names in :data:`..model.row.CONTEXT`; ``label`` is completed when reading
ROW = f"""
  run.id AS run, implementation.variant AS label, implementation.primitive, implementation.family,
  implementation.variant, implementation.name AS implementation, target.name AS target, setup.device, setup.flags,
  setup.workload, toolchain.version AS compiler, COALESCE(run.reason, 'verified') AS outcome, run.vectors,
  run.skipped, CASE COALESCE(run.verified_with, '{UNANSWERED}') {_ANSWERS} ELSE '{OTHER_ANSWERS}' END AS answers,
  run.finished, run.host, implementation.digest, setup.harness, setup.timing_model,
  run.origin, setup.target_id, setup.toolchain_id
"""
#: which toolchains and files of targets the setups from a number on have, with what rows say of them
_USED = """
SELECT used.id, used.target_id, used.toolchain_id, used.timing_model, target.name AS target,
  target.digest AS target_digest, toolchain.version, toolchain.sha256
FROM (SELECT MAX(id) AS id, target_id, toolchain_id, timing_model FROM setup WHERE {which}
  GROUP BY target_id, toolchain_id, timing_model) AS used
JOIN target ON target.id = used.target_id JOIN toolchain ON toolchain.id = used.toolchain_id
"""
USED = _USED.format(which="id > :after")
#: the same of all setups of one target
USED_BY = _USED.format(which="target_id IN (SELECT id FROM target WHERE name = :target)")
#: conditions by which records are filtered, such that databases begin with the setups of a name, not with all runs
FILTERS = {
    "target": "setup.target_id IN (SELECT id FROM target WHERE name = :target)",
    **{
        name: f"setup.implementation_id IN (SELECT id FROM implementation WHERE {column} = :{name})"
        for name, column in (*((n, n) for n in ("family", "variant", "primitive")), ("implementation", "name"))
    },
    "flags": "setup.flags = :flags",
}
_FROM = """
FROM run
JOIN setup ON setup.id = run.setup_id
JOIN implementation ON implementation.id = setup.implementation_id
JOIN target ON target.id = setup.target_id
JOIN toolchain ON toolchain.id = setup.toolchain_id
"""
_OF_MACHINE = ", ".join(f"'{reason}'" for reason in sorted(MACHINE))
#: the newest run, but a failure of the machine only when there is nothing else
_NEWEST = f"COALESCE(MAX(CASE WHEN newest.reason IN ({_OF_MACHINE}) THEN NULL ELSE newest.id END), MAX(newest.id))"


def _counts(last: int | None = None) -> str:
    """A condition on each run: it is the one that counts for its setup and origin. Runs after the ``last`` one count
    for nothing."""
    known = "" if last is None else f" AND newest.id <= {last:d}"
    of = f"newest.setup_id = run.setup_id AND newest.origin = run.origin{known}"
    return f"run.id = (SELECT {_NEWEST} FROM run AS newest WHERE {of})"


HELPERS = "SELECT run_id, member, size FROM helper WHERE run_id IN ({ids}) ORDER BY run_id, position"
VECTOR_CYCLES = "SELECT run_id, packed FROM vector_cycles WHERE run_id IN ({ids})"
MEASUREMENTS = "SELECT run_id, metric, whole, fraction FROM measurement WHERE run_id IN ({ids})"
POINTS = """
SELECT run_id, operation, adlen, mlen, cycles, counter FROM point WHERE run_id IN ({ids}) ORDER BY run_id, position
"""
POINTS_OF = """
SELECT run_id, operation, adlen, mlen, cycles FROM point WHERE run_id IN ({ids}) AND operation = :operation
"""
#: what addresses of runs are made of: they outlive a copy of the database, numbers need not
ADDRESSES = """
SELECT run.id, setup.key, run.finished FROM run JOIN setup ON setup.id = run.setup_id WHERE run.id IN ({ids})
"""
#: all runs of the setup whose key begins so, oldest first
OF_SETUP = """
SELECT run.id, setup.key, run.finished, run.reason FROM run JOIN setup ON setup.id = run.setup_id
WHERE setup.key >= :low AND setup.key < :high ORDER BY run.id
"""
#: the implementations whose digest begins so
OF_DIGEST = """
SELECT DISTINCT variant, name, digest FROM implementation WHERE digest >= :low AND digest < :high
ORDER BY variant, name, digest LIMIT {most:d}
"""
IMPLEMENTATIONS = "SELECT DISTINCT primitive, family, variant, name FROM implementation ORDER BY variant, name"
#: setups of each target
TARGETS = """
SELECT target.name, SUM(counted.setups) AS setups
FROM (SELECT target_id, COUNT(*) AS setups FROM setup GROUP BY target_id) AS counted
JOIN target ON target.id = counted.target_id GROUP BY target.name ORDER BY target.name
"""
FIRST, LAST = "SELECT MIN(id) AS id FROM run", "SELECT MAX(id) AS id FROM run"
#: what runs newer than one are of
SINCE = f"""
SELECT run.id, setup.key, implementation.family, implementation.variant, target.name AS target {_FROM}
WHERE run.id > {{last:d}} ORDER BY run.id DESC LIMIT {{most:d}}
"""
#: what the audit log calls that runs are gone, or have other names, and how often either was
DELETED, RENAMED = "deleted", "renamed"
CHANGES = f"SELECT COUNT(*) AS changes FROM audit WHERE action IN ('{DELETED}', '{RENAMED}')"
#: what the jobs of published submissions are of
SOURCES = """
SELECT submission.id, job.task FROM submission JOIN job ON job.package_id = submission.package_id
WHERE submission.id IN ({ids}) AND submission.state = 'published'
"""
DETAILS = "SELECT id, detail FROM run WHERE id IN ({ids}) AND detail IS NOT NULL"
#: what tells runs apart, and the id of each
KNOWN = """
SELECT run.id, setup.key, run.finished, run.host, run.seconds, run.log, run.origin
FROM run JOIN setup ON setup.id = run.setup_id
"""
#: runs that count for nothing where another of their setup is there
OF_MACHINE = f"SELECT id FROM run WHERE reason IN ({_OF_MACHINE})"
#: rows whose parent is gone, by table, each with the column that names it
_PARENTS = (
    ("run", "setup"),
    ("measurement", "run"),
    ("point", "run"),
    ("vector_cycles", "run"),
    ("helper", "run"),
    ("setup", "implementation"),
    ("setup", "target"),
    ("setup", "toolchain"),
    ("submission", "package"),
    ("job", "package"),
    ("job_attempt", "job"),
)
ORPHANS = {
    f"{table} without {parent}": f"SELECT COUNT(*) FROM {table} LEFT JOIN {parent} AS parent "
    f"ON parent.id = {table}.{parent}_id WHERE parent.id IS NULL"
    for table, parent in _PARENTS
}
#: the newest runs of other sources with the same answers
SAME_ANSWERS = f"""
SELECT MAX(run.id) AS id {_FROM} WHERE run.answers = :answers AND implementation.primitive = :primitive
AND implementation.digest <> :digest GROUP BY implementation.digest ORDER BY id
"""


class Identity(NamedTuple):
    """What tells one run from all others, whatever its id; ``finished`` in microseconds since 1970."""

    key: str
    finished: int | None
    host: str
    seconds: float
    log: str
    origin: str


class Query(NamedTuple):
    """SQL and its parameters."""

    sql: str
    values: Mapping[str, str | int] = MappingProxyType({})


class Which(NamedTuple):
    """A choice of records, and their order."""

    where: str = ""
    values: Mapping[str, str] = MappingProxyType({})
    order: str = "ORDER BY run.id DESC"

    def select(self, columns: str, joined: str = _FROM, values: Mapping[str, str] = MappingProxyType({})) -> Query:
        """The query for these columns of the records, and of tables that are ``joined`` with parameters of their
        own."""
        return Query(f"SELECT {columns} {joined} {self.where} {self.order}", {**self.values, **values})


def by_ids(ids: Collection[int]) -> Which:
    """The records with these ids."""
    return Which(f"WHERE run.id IN ({numbers(ids)})")


def by_keys(keys: Sequence[str]) -> Which:
    """The records that count for setups, by ``Setup.key``, of each origin one."""
    values = {f"v{i}": key for i, key in enumerate(keys)}
    return Which(f"WHERE setup.key IN ({', '.join(f':{name}' for name in values)}) AND {_counts()}", values)


def filtered(equal: Mapping[str, str], newest_only: bool, last: int | None = None) -> Which:
    """Records whose columns ``equal`` these values; ``newest_only`` keeps the one that counts for each setup and
    origin. Runs after the ``last`` one are left out."""
    conditions = [FILTERS[name] for name in equal]
    if newest_only:
        conditions.append(_counts(last))
    if last is not None:
        conditions.append(f"run.id <= {last:d}")
    values = {name: storable(value) for name, value in equal.items()}
    return Which(f"WHERE {' AND '.join(conditions)}" if conditions else "", values)


def logged(digests: Sequence[str]) -> Query:
    """The query for those of these logs that runs have."""
    values = {f"v{i}": digest for i, digest in enumerate(digests)}
    return Query(f"SELECT DISTINCT log FROM run WHERE log IN ({', '.join(f':{name}' for name in values)})", values)


def latest(equal: Mapping[str, str], count: int) -> Query:
    """The query for the ids of the newest runs whose columns ``equal`` these values."""
    return filtered(equal, newest_only=False)._replace(order=f"ORDER BY run.id DESC LIMIT {count:d}").select("run.id")


class Window(NamedTuple):
    """Of the runs as they were when ``last`` was the newest: the ``most`` newest before the run ``before``."""

    last: int
    before: int
    most: int


def part(equal: Mapping[str, str], newest_only: bool, of: Window) -> Query:
    """The query for the ids of a part of the runs that :func:`filtered` leaves, the newest first."""
    which = filtered(equal, newest_only, of.last)
    where = f"{which.where} AND run.id < {of.before:d}"
    return Which(where, which.values, f"ORDER BY run.id DESC LIMIT {of.most:d}").select("run.id")


def metrics(which: Which) -> Query:
    """The query for the names of all metrics that the records have."""
    joined = f"{_FROM} JOIN measurement ON measurement.run_id = run.id"
    return which._replace(order="ORDER BY measurement.metric").select("DISTINCT measurement.metric", joined)


def figures(ids: Collection[int], asked: Sequence[str | Size]) -> Query:
    """The query for metrics by name and cycles of points by size of these runs, as columns ``whole0, fraction0, whole1,
    ...`` in the order of ``asked``. Each is one join."""
    columns, joined, values = ["run.id AS run"], ["FROM run"], {}
    for k, what in enumerate(asked):
        values[f"what{k}"] = storable(what if isinstance(what, str) else what[0])
        if isinstance(what, str):
            columns.append(f"t{k}.whole AS whole{k}, t{k}.fraction AS fraction{k}")
            joined.append(f"LEFT JOIN measurement AS t{k} ON t{k}.run_id = run.id AND t{k}.metric = :what{k}")
        else:
            _, adlen, mlen = what
            columns.append(f"t{k}.cycles AS whole{k}, NULL AS fraction{k}")
            joined.append(
                f"LEFT JOIN point AS t{k} ON t{k}.run_id = run.id AND t{k}.operation = :what{k} "
                f"AND t{k}.adlen = {adlen:d} AND t{k}.mlen = {mlen:d}"
            )
    return by_ids(ids).select(", ".join(columns), " ".join(joined), values)


def numbers(ids: Collection[int]) -> str:
    """Ids as the inside of IN (...)."""
    return ", ".join(f"{i:d}" for i in ids)


def batches(items: Sequence[_T], size: int = _BATCH) -> Iterator[Sequence[_T]]:
    """``items`` in pieces, by default small enough for one IN (...) on every database."""
    return (items[i : i + size] for i in range(0, len(items), size))
