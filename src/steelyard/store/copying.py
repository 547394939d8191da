"""Copies records and logs from one database to another: a backup, its way back, the move to a server."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from msgspec import Struct

from steelyard.model.origin import line
from steelyard.model.record import Record

from .dates import ended
from .errors import StoreError, Unreadable
from .queries import RECORDS, Identity, batches
from .reading import wrong
from .store import Store


class Copied(Struct, frozen=True):
    """Runs that were ``copied``; that were ``there`` before; ``older`` ones, left out because a newer run of their
    setup and place is there; logs that the source ``lacks``, and those that the copy has ``refused``, by why; and runs
    of the source that are dated ``ahead`` of now, or ``unreadable``: these are left out."""

    copied: int
    there: int
    older: int
    lacks: int
    ahead: int = 0
    refused: Mapping[str, str] = {}
    unreadable: tuple[int, ...] = ()


def copy(source: Store, to: Store, step: Callable[[int, int], None] = lambda done, of: None) -> Copied:
    """Adds the runs of ``source`` that ``to`` lacks, oldest first, each in a transaction of its own: what a kill leaves
    is continued by the next call; and the logs that it lacks, or has damaged, of runs that it has. ``step`` is told how
    many of how many are done. Raises :class:`StoreError`.

    The newest id counts for a setup and origin, so a run is left out where ``to`` has one that counts before it: of
    those that the source knows, by its order, of others by when they ended. What is dated in the future is copied as it
    is, and is not a later one.
    """
    every, mine, theirs = source.known(checked=False), source.known(), to.known()
    lost = {number for number in every.keys() - mine.keys() if wrong(Identity._fields, every[number])}
    there = set(theirs.values())
    missing = {number: run for number, run in sorted(mine.items()) if run not in there}
    # a machine's failure keeps no other run out: it does not count before it
    passing, passing_there = source.of_machine(), to.of_machine()
    counts_there = {run for number, run in theirs.items() if number not in passing_there}
    todo: list[int] = []
    for among, of in ((there, passing), (counts_there, missing.keys() - passing)):
        newest = _newest(among.difference(every.values()))
        last = {_place(run): number for number, run in sorted(every.items()) if run in among}
        todo += [
            number
            for number in missing.keys() & of
            if ended(missing[number].finished) >= newest.get(_place(missing[number]), 0)
            and number > last.get(_place(missing[number]), 0)
        ]
    todo.sort()
    done, logs = 0, _Logs(source, to)
    wanted = {run.log for number, run in mine.items() if run.log and number not in missing}
    for log in sorted(wanted - to.has_blobs(wanted)):
        logs.copy(log)
    for batch in batches(todo, RECORDS):
        for record in sorted(_readable(source, batch, lost), key=lambda r: r.id or 0):
            to.add(record, log=logs.copy(record.log), copied=True)
        step(done := done + len(batch), len(todo))
    ahead = sum(ended(run.finished) != (run.finished or 0) for run in mine.values())
    counts = len(todo) - len(lost.intersection(todo)), len(mine) - len(missing), len(missing) - len(todo)
    return Copied(*counts, len(logs.lacking), ahead, logs.refused, tuple(sorted(lost)))


def _readable(source: Store, batch: Collection[int], lost: set[int]) -> list[Record]:
    """Those of these runs that can be read; the others join the ``lost``."""
    try:
        return source.records(batch)
    except Unreadable:
        if len(batch) > 1:
            return [record for number in batch for record in _readable(source, [number], lost)]
        lost.update(batch)
        return []


def _place(run: Identity) -> tuple[str, int | str]:
    """Of which setup and path or line a run is."""
    return run.key, line(run.origin)


def _newest(runs: Collection[Identity]) -> dict[tuple[str, int | str], int]:
    """When the last run of each setup and place ended."""
    found: dict[tuple[str, int | str], int] = {}
    for run in runs:
        found[_place(run)] = max(found.get(_place(run), 0), ended(run.finished))
    return found


class _Logs:
    """Logs on their way: those that are ``lacking`` in the source, and ``refused`` by the copy, with why."""

    def __init__(self, source: Store, to: Store) -> None:
        self._source, self._to = source, to
        self.lacking, self.refused = set[str](), dict[str, str]()

    def copy(self, digest: str) -> bytes | None:
        """Copies a log, if it is one; its content, if it was."""
        if not digest:
            return None
        try:
            content = self._source.get_blob(digest)
        except StoreError:
            self.lacking.add(digest)
            return None
        try:
            self._to.put_blob(content)
        except StoreError as e:
            self.refused[digest] = str(e)
            return None
        return content
