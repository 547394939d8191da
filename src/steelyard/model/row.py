"""Rows: a run as one flat mapping of column to value, wherever it came from. Answers are made of rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar, get_args

from .record import Record

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

Value = str | float | int | None
#: a column's value; a metric that a run lacks is None or missing
Row = dict[str, Value]

#: columns that are not metrics: heading, and what values are; of those that may be None, older servers have none
_COLUMNS: Mapping[str, tuple[str, Any]] = {
    "run": ("run", int),
    "label": ("implementation", str),
    "primitive": ("primitive", str),
    "family": ("family", str),
    "variant": ("variant", str),
    "implementation": ("implementation name", str),
    "target": ("target", str),
    "device": ("device", str),
    "flags": ("flags", str),
    "workload": ("workload", str),
    "compiler": ("compiler", str),
    "outcome": ("outcome", str),
    "vectors": ("known answers", int | None),
    "skipped": ("known answers left out", int | None),
    "answers": ("answers from", str),
    "finished": ("finished (UTC)", str | None),
    "host": ("host", str),
    "digest": ("digest", str),
    "harness": ("harness", str),
    "timing_model": ("timing model", str),
    "origin": ("named by", str),
}
#: their headings, and the types of their values
CONTEXT = {name: heading for name, (heading, _) in _COLUMNS.items()}
KINDS = {name: frozenset(get_args(kind) or (kind,)) for name, (_, kind) in _COLUMNS.items()}

#: what a row says of where its known answers came from, by the record's word: a package's own file vouches for nothing
#: but itself, and all others are published or of other sources
ANSWERS = {"self": "none", "package": "package"}
OTHER_ANSWERS = "known"
#: the word of a record that has none
UNANSWERED = "self"
#: digits of a digest that tell things of one name apart
_SHORT = 8


class Made(NamedTuple):
    """What made the figures of a row, as far as a name of it can mean several: a toolchain, which may have the version
    of another, and a timing model, which has other files of its target."""

    target: str
    version: str
    sha256: str
    timing_model: str
    target_digest: str


class Names(NamedTuple):
    """What to call compilers, by target, version and digest, and timing models, by target, name and the target's
    digest, whose name alone means several on a target."""

    compilers: Mapping[tuple[str, str, str], str]
    models: Mapping[tuple[str, str, str], str]

    def compiler(self, m: Made) -> str:
        """What to call the compiler."""
        return self.compilers.get((m.target, m.version, m.sha256), m.version)

    def model(self, m: Made) -> str:
        """What to call the timing model."""
        return self.models.get((m.target, m.timing_model, m.target_digest), m.timing_model)


def names_of(made: Iterable[Made]) -> Names:
    """Names that mean one thing each in an answer of all these."""
    every = list(made)
    builds = grouped(dict.fromkeys((m.target, m.version, m.sha256) for m in every), lambda b: b[:2])
    files = grouped(dict.fromkeys((m.target, m.timing_model, m.target_digest) for m in every), lambda f: f[:2])
    return Names(
        {b: f"{b[1]}, toolchain {b[2][:_SHORT]}" for some in builds.values() if len(some) > 1 for b in some},
        {f: f"{f[1]}, target {f[2][:_SHORT]}" for some in files.values() if len(some) > 1 for f in some},
    )


def made_by(record: Record) -> Made:
    """What made the figures of a record."""
    s = record.setup
    return Made(s.target, s.toolchain.version, s.toolchain.sha256, s.timing_model, s.target_digest)


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by their key, in the order in which they come."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def row(record: Record, names: Names) -> Row:
    """A record as a row, equal to what ``Store.rows`` gives for it: context, metrics, and points under names such as
    ``encrypt@16/64``."""
    s, failure, made = record.setup, record.failure, made_by(record)
    return {
        "run": record.id,
        "label": s.label,
        "primitive": s.primitive,
        "family": s.family,
        "variant": s.variant,
        "implementation": s.implementation,
        "target": s.target,
        "device": s.device,
        "flags": s.flags,
        "workload": s.workload,
        "compiler": names.compiler(made),
        "outcome": "verified" if failure is None else str(failure.reason),
        "vectors": record.verification.vectors if record.verification else None,
        "skipped": record.verification.skipped if record.verification else None,
        "answers": ANSWERS.get(record.verification.source if record.verification else UNANSWERED, OTHER_ANSWERS),
        "finished": None if record.finished is None else record.finished.strftime("%Y-%m-%d %H:%M"),
        "host": record.host,
        "digest": s.implementation_digest,
        "harness": s.harness,
        "timing_model": names.model(made),
        "origin": record.origin,
        **record.metrics,
        **{f"{p.operation}@{p.adlen}/{p.mlen}": p.cycles for p in record.points},
    }
