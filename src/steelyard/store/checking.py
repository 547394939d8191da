"""Looks through a whole database for what no version of Steelyard writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from ..model.errors import UPDATE
from ..model.packed import unpack
from ..model.primitive import PRIMITIVES
from ..model.record import OPERATIONS, Record
from . import moving
from .errors import DAMAGED, StoreError
from .queries import RECORDS, Identity, batches
from .store import Store

#: figures that no verified run has below zero, but for the cycles that a machine's empty call may take longer than a
#: copy (docs/definitions.md)
_MEAN, _BELOW = re.compile(rf"cycles_({'|'.join(OPERATIONS)})_(known_)?mean"), -32
_AGAIN, _NEWER = "restore a copy, or run it again", UPDATE


class Trouble(Struct, frozen=True):
    """What is wrong with a ``run``, or with the whole database where it is None, and what to do."""

    run: int | None
    what: str
    action: str


def check(store: Store, step: Callable[[int, int], None] = lambda done, of: None) -> Iterator[Trouble]:
    """Looks at pages and indexes, and reads every record, every log, and what was handed in. ``step`` is told how
    many of how many runs are done. Raises :class:`StoreError` where not even the list of runs can be read."""
    yield from _pages(store)
    for what, count in store.orphans():
        yield Trouble(None, f"{what}: {count}", DAMAGED)
    known = store.known(checked=False)
    done, looked = 0, set[str]()
    for batch in batches(sorted(known), RECORDS):
        try:
            records = {r.id: r for r in store.records(batch)}
        except StoreError:  # one of them at least
            for number in batch:
                yield from _reads(store, number, known[number])
        else:
            for number in batch:
                yield from _fits(number, known[number], records.get(number))
        for number in batch:
            if isinstance(digest := known[number].log, str) and digest and digest not in looked:
                looked.add(digest)
                yield from _log(store, number, digest)
        step(done := done + len(batch), len(known))
    for what in moving.damaged(store):
        yield Trouble(None, what, "restore a copy, repeat a job whose record it is, or delete the submission")


def _pages(store: Store) -> Iterator[Trouble]:
    action = "restore a copy, or copy what can be read: steelyard db copy"
    try:
        yield from (Trouble(None, " ".join(flaw.split()), action) for flaw in store.flaws())
    except StoreError as e:
        yield Trouble(None, str(e), action)


def _reads(store: Store, number: int, run: Identity) -> Iterator[Trouble]:
    try:
        record = store.get(number)
    except StoreError as e:
        yield Trouble(number, str(e), _AGAIN)
    else:
        yield from _fits(number, run, record)


def _fits(number: int, run: Identity, record: Record | None) -> Iterator[Trouble]:
    if record is None or run.key != record.setup.key:
        yield Trouble(number, "its setup is not the one that its key was made of", _AGAIN)
    elif record.setup.primitive not in PRIMITIVES:
        yield Trouble(number, f"{record.setup.primitive}: this version does not know it", _NEWER)
    elif record.failure is None and (
        below := [m for m, v in record.metrics.items() if _MEAN.fullmatch(m) and v < _BELOW]
    ):
        yield Trouble(number, f"{', '.join(sorted(below)[:4])} below zero", _AGAIN)
    else:
        try:
            unpack(record.vector_cycles)
        except ValueError as e:
            yield Trouble(number, str(e), _AGAIN)


def _log(store: Store, number: int, digest: str) -> Iterator[Trouble]:
    try:
        store.get_blob(digest)
    except StoreError as e:
        yield Trouble(number, f"its log: {e}", "steelyard run --force stores it anew")
