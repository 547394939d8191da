"""The store: the interface to the database for the rest of the project."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from steelyard.model.origin import is_revision, replaced_by
from steelyard.model.record import Point, Record
from steelyard.model.row import Made, Row, Value

from . import queries
from .blobs import Blobs, beside, unshared
from .dates import newest_last
from .errors import DAMAGED, StoreError, Unreadable

if TYPE_CHECKING:  # SQLAlchemy is slow to import, and many commands need no database
    from sqlalchemy import Connection, Engine

    from .leasing import Lease, Then
    from .reading import Reader, Used


class Store:
    """Stores records and logs. Append-only: a correction is a new run, and the newest run counts.

    One store serves any number of threads, and any number of processes may have the same database open. Open it after a
    fork, not before. Once ``add`` has returned, the record survives the death of the process. Every method raises
    :class:`StoreError` when the database fails. Example: ``with Store.open("steelyard.db") as store:
    store.rows(primitive="crypto_aead")``.
    """

    def __init__(self, engine: Engine, name: str, blobs: Path | None):
        from .logs import Logs

        self._engine = engine
        self._name = name
        self._blobs = Logs(engine, name) if blobs is None else Blobs(blobs)
        self._seen: Used | None = None

    @classmethod
    def open(cls, url_or_path: str | Path, *, blobs: Path | None = None) -> Store:
        """Opens a database; creates it when it does not exist, and migrates an older schema.

        A path (or ``:memory:``) means SQLite; a URL (``postgresql+psycopg://``, ``mariadb+pymysql://``) a server.
        ``blobs`` is the folder of logs; for ``x.db`` the default is ``x.blobs`` beside it, and a database that is no
        file keeps them itself. Raises :class:`StoreError`, which says why it cannot be opened.
        """
        from .engine import file_of, name_of, open_engine, url_of

        url = url_of(url_or_path)
        file = file_of(url)
        if file is not None and blobs is None:
            unshared(file)
            blobs = beside(file)
        return cls(open_engine(url), name_of(url), blobs)

    def close(self) -> None:
        """Closes all connections. A database in memory is lost."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _reader(self) -> Iterator[Reader]:
        from .engine import explained
        from .reading import Reader, Used

        self._seen = self._seen or Used()
        try:
            with explained(self._name), self._engine.connect() as connection:
                yield Reader(connection, self._seen)
        except (ValueError, TypeError, LookupError, OverflowError) as error:  # values that nobody stored
            raise Unreadable(f"{type(error).__name__}: {error}", DAMAGED, self._name) from error

    def add(
        self, record: Record, lease: int | None = None, log: str | bytes | None = None, *, copied: bool = False
    ) -> int:
        """Stores a finished run in one transaction and returns its id. Raises :class:`LeaseLost`, and stores nothing,
        where the ``lease`` of that number is gone; else it ends. The content of its ``log``, which was stored before,
        is stored again where the last run that had it was deleted meanwhile. What submissions have published becomes
        theirs where this is of newer sources at its path; what is ``copied`` may be followed by runs of theirs."""
        from .engine import explained
        from .publishing import stored
        from .writing import add

        def put(connection: Connection) -> None:
            if log is not None:
                with suppress(StoreError):  # it may be there still
                    self.put_blob(log, connection)

        with explained(self._name):
            return add(self._engine, record, lease, put, None if copied else lambda c: stored(c, record, self.put_blob))

    def claim(self, key: str, holder: str, stale: Lease | None = None, then: Then | None = None) -> Lease:
        """See :func:`.leasing.claim`."""
        from . import leasing
        from .engine import explained

        with explained(self._name):
            return leasing.claim(self._engine, key, holder, stale, then)

    def beat(self, leases: Iterable[int]) -> None:
        """Says that the holder of these leases is alive."""
        from . import leasing
        from .engine import explained

        with explained(self._name):
            leasing.beat(self._engine, leases)

    def end(self, lease: int) -> None:
        """Lets go of a lease, if it is there."""
        from . import leasing
        from .engine import explained

        with explained(self._name):
            leasing.end(self._engine, lease)

    def get(self, run_id: int) -> Record | None:
        """The record with this id; None when there is none."""
        return next(iter(self.records([run_id])), None)

    def find(self, keys: Iterable[str], *, revisions: bool = False) -> dict[str, Record]:
        """The record that counts for each setup, by ``Setup.key``, wherever it came from: the newest, but a failure of
        the machine, what a newer version replaced, and revisions of repositories, only when there is nothing else; for
        those who ask for ``revisions`` these count like others. Setups without a record are left out."""
        wanted = sorted(set(keys))
        found: dict[str, Record] = {}
        if not wanted:
            return found

        def counting_last(r: Record) -> tuple[bool, bool, bool, int, int]:
            answered, minute, run = newest_last(r)
            return replaced_by(r.origin) is None, answered, revisions or not is_revision(r.origin), minute, run

        with self._reader() as reader:
            for batch in queries.batches(wanted):
                every = reader.records(queries.by_keys(batch))
                every.sort(key=counting_last)
                found |= {record.setup.key: record for record in every}
        return found

    def same_answers(self, record: Record) -> list[int]:
        """Ids of the newest run of each other implementation (by digest) that gave the same known answers. Empty for
        known variants."""
        if record.verification is None or not record.verification.answers:
            return []
        with self._reader() as reader:
            return reader.same_answers(record)

    def runs(self, *, newest_only: bool = True, **equal: str) -> list[Record]:
        """Complete records whose ``target``, ``variant``, ``implementation``, ``primitive`` or ``flags`` have these
        values, newest first.

        ``newest_only`` leaves out runs whose setup was run again later from the same origin. Example:
        ``store.runs(primitive="crypto_aead", flags="-Os")``.
        """
        with self._reader() as reader:
            return reader.records(queries.filtered(equal, newest_only))

    def records(self, run_ids: Collection[int]) -> list[Record]:
        """Complete records with these ids, newest first."""
        with self._reader() as reader:
            return reader.records(queries.by_ids(run_ids)) if run_ids else []

    def rows(
        self,
        *,
        newest_only: bool = True,
        points: Collection[queries.Size] = (),
        metrics: Collection[str] | None = None,
        beside: Collection[Made] = (),
        **equal: str,
    ) -> list[Row]:
        """The records of :meth:`runs` as rows, with these ``metrics`` (None: all) and ``points``, each as (operation,
        bytes of associated data, bytes of message). Names of what made them mean the same in rows of what is
        ``beside`` them."""
        with self._reader() as reader:
            return reader.rows(queries.filtered(equal, newest_only), points, metrics, beside, equal.get("target"))

    def rows_of(
        self,
        run_ids: Collection[int],
        metrics: Collection[str] | None = (),
        points: Collection[queries.Size] = (),
        beside: Collection[Made] = (),
    ) -> list[Row]:
        """The records with these ids as rows, newest first; see :meth:`rows`."""
        with self._reader() as reader:
            return reader.rows(queries.by_ids(run_ids), points, metrics, beside) if run_ids else []

    def part(self, of: queries.Window, *, newest_only: bool = True, **equal: str) -> list[int]:
        """The ids of a part of the runs whose columns ``equal`` these values, the newest first. What is stored
        meanwhile changes no part."""
        with self._reader() as reader:
            return reader.part(equal, newest_only, of)

    def addresses(self, run_ids: Collection[int]) -> dict[int, tuple[str, int | None]]:
        """See :meth:`.reading.Reader.addresses`."""
        with self._reader() as reader:
            return reader.addresses(run_ids)

    def of_setup(self, beginning: str) -> list[tuple[int, str, int | None, str | None]]:
        """See :meth:`.reading.Reader.of_setup`."""
        with self._reader() as reader:
            return reader.of_setup(beginning)

    def of_digest(self, beginning: str, most: int) -> list[tuple[str, str, str]]:
        """See :meth:`.reading.Reader.of_digest`."""
        with self._reader() as reader:
            return reader.of_digest(beginning, most)

    def implementations(self) -> list[tuple[str, str, str, str]]:
        """See :meth:`.reading.Reader.implementations`."""
        with self._reader() as reader:
            return reader.implementations()

    def targets(self) -> dict[str, int]:
        """See :meth:`.reading.Reader.targets`."""
        with self._reader() as reader:
            return reader.targets()

    def first(self) -> int:
        """See :meth:`.reading.Reader.first`."""
        with self._reader() as reader:
            return reader.first()

    def last(self) -> int:
        """See :meth:`.reading.Reader.last`."""
        with self._reader() as reader:
            return reader.last()

    def since(self, last: int, most: int) -> list[tuple[int, str, str, str, str]]:
        """See :meth:`.reading.Reader.since`."""
        with self._reader() as reader:
            return reader.since(last, most)

    def changes(self) -> int:
        """See :meth:`.reading.Reader.changes`."""
        with self._reader() as reader:
            return reader.changes()

    def sources(self, submissions: Collection[int]) -> dict[tuple[Value, ...], str]:
        """See :meth:`.reading.Reader.sources`."""
        with self._reader() as reader:
            return reader.sources(submissions)

    def latest(self, count: int, **equal: str) -> list[int]:
        """See :meth:`.reading.Reader.latest`."""
        with self._reader() as reader:
            return reader.latest(count, equal)

    def made(self) -> set[Made]:
        """What made the figures of all records."""
        with self._reader() as reader:
            return reader.made()

    def points(self, run_ids: Collection[int]) -> dict[int, list[Point]]:
        """All points of these runs, by run id."""
        with self._reader() as reader:
            return reader.points(run_ids)

    def cycles(self, run_ids: Collection[int], operation: str) -> dict[int, dict[tuple[int, int], float]]:
        """Cycles of an operation by size (bytes of associated data, of message), by run id."""
        with self._reader() as reader:
            return reader.cycles(run_ids, operation)

    def details(self, run_ids: Collection[int]) -> dict[int, str]:
        """Details of failures by run id, for those of these runs that failed."""
        with self._reader() as reader:
            return reader.details(run_ids)

    def known(self, *, checked: bool = True) -> dict[int, queries.Identity]:
        """All runs by id: what tells each from all others. Not ``checked``, it may be what no version stores; else
        runs of which this cannot be read are left out."""
        with self._reader() as reader:
            return reader.known(checked=checked)

    def of_machine(self) -> set[int]:
        """The ids of runs that a machine's failure ended, which count for nothing beside others of their setup."""
        with self._reader() as reader:
            return reader.of_machine()

    def orphans(self) -> list[tuple[str, int]]:
        """How many rows belong to no row any more, by table and what it lacks. A sound database has none."""
        with self._reader() as reader:
            return reader.orphans()

    def flaws(self) -> list[str]:
        """See :func:`.soundness.flaws`."""
        from . import soundness
        from .engine import explained

        with explained(self._name), self._engine.connect() as connection:
            return list(soundness.flaws(connection))

    def judged(self) -> bool:
        """See :func:`.soundness.judged`."""
        from . import soundness
        from .engine import explained

        with explained(self._name), self._engine.connect() as connection:
            return soundness.judged(connection)

    def put_blob(self, content: str | bytes, within: Connection | None = None) -> str:
        """Stores a log, equal ones only once, and returns its digest; in a transaction of its own, or ``within`` one of
        this database."""
        return self._blobs.put(content, within)

    def get_blob(self, digest: str) -> bytes:
        """The content of the log with this digest. Raises :class:`LogLost` where only that cannot be had."""
        return self._blobs.get(digest)

    def has_blobs(self, digests: Collection[str]) -> set[str]:
        """Those of these logs that are there and whole."""
        return self._blobs.has(digests)

    def drop_blobs(self, digests: Collection[str]) -> None:
        """Deletes those of these logs that no run has any more, nor one that is just stored with its log in one
        transaction."""
        from .engine import explained
        from .leasing import repeated
        from .reading import Reader

        for batch in queries.batches(sorted(digests)):

            def work(connection: Connection, some: Sequence[str] = tuple(batch)) -> None:
                self._blobs.hold(some, connection)
                self._blobs.drop(set(some) - Reader(connection).logged(some), connection)

            with explained(self._name):
                repeated(self._engine, work)
