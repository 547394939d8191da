"""What is handed in: packages behind private links, until their owner publishes or withdraws them."""

from __future__ import annotations

import hashlib
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from steelyard.model.errors import UserError

from . import naming, queue, schema
from .dates import now
from .engine import explained
from .errors import StoreError
from .floor import Floor
from .leasing import repeated
from .publishing import LOG, to_runs
from .queue import Job
from .quota import Quota
from .store import Store
from .task import Task, offered
from .writing import row_of

#: what is offered waits for an operator to publish it
PRIVATE, OFFERED, PUBLISHED, WITHDRAWN = "private", "offered", naming.PUBLISHED, "withdrawn"
#: the licence of what is added, and the place of what is not bundled behind a comma
OF_ITS_SOURCES = "of its sources"
#: what is in the address of whoever adds: a command, on no host
ADDED = "command line"
#: priority of campaigns
_AFTER = 1 << 16
#: bytes of a token: nobody guesses 128 bits
_TOKEN = 16
_DAY = 86_400_000_000
_submission, _package, _job = schema.submission, schema.package, schema.job


class QuotaError(UserError):
    """Too much was handed in already."""


class Given(Struct, frozen=True):
    """What somebody hands in. ``found`` is what is in the zip, as JSON; ``previous`` the token of an older version.
    ``once`` is the :func:`new_token` of the form that was filled in."""

    name: str
    content: bytes
    found: str
    licence: str
    address: str
    previous: str = ""
    once: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the zip."""
        return hashlib.sha256(self.content).hexdigest()

    @property
    def token(self) -> str:
        """That of its private link: a form with the same file has the same one each time that it is sent."""
        return linked(self.once, self.digest) if self.once else new_token()


class Submission(Struct, frozen=True):
    """A submission as it stands; ``previous`` is the older version that it is compared with, ``first`` that of its
    line."""

    number: int
    package: int
    digest: str
    name: str
    licence: str
    state: str
    created: int
    found: str
    previous: int | None
    first: int | None


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(_TOKEN)


def linked(once: str, digest: str) -> str:
    """The token of the private link of what a form handed in. Nobody makes it of another link, nor of the zip alone."""
    return urlsafe_b64encode(hashlib.sha256(f"{once} {digest}".encode()).digest()[:_TOKEN]).decode().rstrip("=")


def _hashed(token: str) -> str:
    """What is stored of a token: who reads the database cannot follow its links."""
    return hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()


class Desk:
    """Takes submissions into a database, and tells what became of them. Methods raise :class:`StoreError`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def known(self, digest: str) -> bool:
        """Whether a zip was handed in before, and not withdrawn."""
        query = select(_package.c.size).where(_package.c.digest == digest)
        with explained(self._store._name), self._store._engine.connect() as connection:
            return bool(connection.execute(query).scalar())

    def sent_before(self, once: str, digest: str) -> str:
        """The token of what the same form handed in with the same zip; empty where it did not."""
        token = linked(once, digest)
        with explained(self._store._name), self._store._engine.connect() as connection:
            return token if _is_there(connection, token) else ""

    def hand_in(self, given: Given, tasks: Sequence[Task], quota: Quota) -> str:
        """Takes a submission and its jobs; the token of its private link. A zip that was handed in before is kept once,
        and its jobs are run once. A form that is sent twice is one submission. Raises :class:`QuotaError`, and
        :class:`UserError` for an older version that is not there."""

        token = given.token

        def work(connection: Connection) -> str:
            queue.touch(connection, _package.c.digest == given.digest)
            if given.once and _is_there(connection, token):
                return token
            older = self._older(connection, given.previous)
            _within(connection, given, len(tasks), quota)
            package = _packed(connection, given)
            _insert(connection, given, token, package, PRIVATE, older)
            queue.put(connection, package, tasks)
            return token

        with explained(self._store._name):
            return repeated(self._store._engine, work)

    def add(self, given: Given, tasks: Sequence[Task], renamed: Callable[[str], bool] = lambda _: False) -> int:
        """Takes what its results are public of as they come, of whoever has the database, after what others hand in;
        how many jobs are new. It is a newer version of what was added last by the same name, person and ``licence``,
        which tells its place; or that itself where it is the same zip. Where there is none, it is of the line whose
        licence was ``renamed``, if that is one only."""

        def work(connection: Connection) -> int:
            queue.touch(connection, _package.c.digest == given.digest)
            package = _packed(connection, given)
            last = _last(connection, given, renamed)
            if last is None or last.package_id != package:
                older = None if last is None else (last.id, last.first_id or last.id)
                _insert(connection, given, new_token(), package, PUBLISHED, older)
            added = queue.put(connection, package, tasks, _AFTER)
            to_runs(connection, package, self._store.put_blob)  # what was done while it was private
            return added

        with explained(self._store._name):
            return repeated(self._store._engine, work)

    @staticmethod
    def _older(connection: Connection, token: str) -> tuple[int, int] | None:
        """The submission that is replaced, and the first of its line."""
        if not token:
            return None
        query = select(_submission.c.id, _submission.c.first_id)
        found = connection.execute(
            query.where(_submission.c.token == _hashed(token), _submission.c.state != WITHDRAWN)
        ).first()
        if found is None:
            raise UserError("the older version is not there; give its private link, or leave it out")
        return found.id, found.first_id or found.id

    def find(self, token: str) -> Submission | None:
        """The submission with this private link."""
        return self._found(_submission.c.token == _hashed(token))

    def of_number(self, number: int) -> Submission | None:
        """The submission of this number."""
        return self._found(_submission.c.id == number)

    def _found(self, condition: object) -> Submission | None:
        s = _submission.c
        query = (
            select(s.id, s.package_id, _package.c.digest, s.name, s.licence, s.state, s.created, s.found)
            .add_columns(s.previous_id, s.first_id)
            .join(_package, _package.c.id == s.package_id)
            .where(condition)  # type: ignore[arg-type]
        )
        with explained(self._store._name), self._store._engine.connect() as connection:
            found = connection.execute(query).first()
        return Submission(*found) if found else None

    def jobs(self, submission: Submission) -> list[Job]:
        """The jobs of a submission: under another name its package may have others."""
        offers = offered(submission.found)
        with explained(self._store._name), self._store._engine.connect() as connection:
            found = queue.jobs(connection, submission.package, Floor(connection).why)
            return [j for j in found if not j.task.file or j.task.implementation in offers]

    def log(self, number: int) -> str:
        """What the compilers said in a job; empty where they said nothing."""
        with explained(self._store._name), self._store._engine.connect() as connection:
            return str(connection.execute(select(LOG).where(_job.c.id == number)).scalar() or "")

    def publish(self, token: str) -> int:
        """Makes a submission public: what of it is finished becomes runs now, the rest when it is. How many now."""

        def work(connection: Connection) -> int:
            package = changed(connection, _submission.c.token == _hashed(token), PUBLISHED)
            return 0 if package is None else to_runs(connection, package, self._store.put_blob)

        with explained(self._store._name):
            return repeated(self._store._engine, work)

    def offer(self, token: str) -> bool:
        """Asks for a submission to be published. False where it is public, offered or withdrawn already."""
        with explained(self._store._name):
            return repeated(
                self._store._engine,
                lambda connection: changed(connection, _submission.c.token == _hashed(token), OFFERED) is not None,
            )

    def withdraw(self, token: str) -> bool:
        """Deletes what was handed in and what came of it, unless somebody else handed in the same. False where it is
        published, or was withdrawn."""
        mine = _submission.c.token == _hashed(token)

        def work(connection: Connection) -> bool:
            package = changed(connection, mine, WITHDRAWN, (PRIVATE, OFFERED))
            if package is not None:
                emptied(connection, mine, package)
            return package is not None

        with explained(self._store._name):
            return repeated(self._store._engine, work)


def _is_there(connection: Connection, token: str) -> bool:
    """Whether a submission has this private link, also one that was withdrawn."""
    query = select(_submission.c.id).where(_submission.c.token == _hashed(token))
    return connection.execute(query).first() is not None


def changed(
    connection: Connection, which: ColumnElement[bool], state: str, before: Sequence[str] | None = (PRIVATE,)
) -> int | None:
    """Changes the state of a submission; its package, if it was in a state ``before``: None is any other one, also one
    that no version knows."""
    queue.touch(connection, _package.c.id == select(_submission.c.package_id).where(which).scalar_subquery())
    was = _submission.c.state != state if before is None else _submission.c.state.in_(before)
    done = connection.execute(update(_submission).where(which, was).values(state=state))
    if done.rowcount != 1:
        return None
    return int(connection.execute(select(_submission.c.package_id).where(which)).scalar_one())


def emptied(connection: Connection, which: ColumnElement[bool], package: int) -> None:
    """Forgets what was handed in with a submission that is withdrawn, and its package, unless others handed it in."""
    connection.execute(update(_submission).where(which).values(name="", found="", licence=""))
    others = select(_submission.c.id).where(_submission.c.package_id == package, _submission.c.state != WITHDRAWN)
    if connection.execute(others).first() is None:
        queue.removed(connection, _job.c.package_id == package)
        connection.execute(update(_package).where(_package.c.id == package).values(content=b"", size=0))


def _within(connection: Connection, given: Given, more: int, quota: Quota) -> None:
    """Raises :class:`QuotaError` where this is more than is taken."""
    since = now() - _DAY
    mine = (_submission.c.address == given.address, _submission.c.created >= since)
    if connection.execute(select(func.count()).where(*mine)).scalar_one() >= quota.of_address:
        raise QuotaError(f"{quota.of_address} submissions were taken from this address in a day; come back tomorrow")
    # campaigns come after what is handed in, and keep nothing out
    waiting = (_job.c.state.in_((queue.WAITING, queue.RUNNING)), _job.c.priority < _AFTER)
    theirs = select(_submission.c.package_id).where(_submission.c.address == given.address)
    of_address = select(func.count()).where(*waiting, _job.c.package_id.in_(theirs))
    if connection.execute(of_address).scalar_one() + more > quota.share:
        raise QuotaError(f"at most {quota.share} runs of one address wait at once; come back when some have ended")
    if connection.execute(select(func.count()).where(*waiting)).scalar_one() + more > quota.jobs:
        raise QuotaError("too many runs wait already; come back later")
    if (connection.execute(select(func.sum(_package.c.size))).scalar() or 0) + len(given.content) > quota.size:
        raise QuotaError("there is no room for more packages; ask whoever runs this server")


def _insert(
    connection: Connection, given: Given, token: str, package: int, state: str, older: tuple[int, int] | None = None
) -> None:
    values = {
        "token": _hashed(token),
        "package_id": package,
        "previous_id": older and older[0],
        "first_id": older and older[1],
        "name": given.name,
        "found": given.found,
        "licence": given.licence,
        "address": given.address,
        "state": state,
        "created": now(),
    }
    connection.execute(insert(_submission).values(row_of(_submission, values)))


def _last(connection: Connection, given: Given, renamed: Callable[[str], bool]) -> Any:
    """The newest public submission of the same implementation, added from the same place, or one that was ``renamed``;
    bundled ones are everybody's who has the database, and nobody's who hands in by a form: his address is a host's."""
    s = row_of(_submission, {"name": given.name})
    address, licence = _submission.c.address, _submission.c.licence
    added = address.like(f"%{ADDED}%") if given.licence == OF_ITS_SOURCES else address == given.address
    query = select(_submission.c.id, _submission.c.first_id, _submission.c.package_id, _submission.c.found, licence)
    public = query.where(_submission.c.name == s["name"], added, _submission.c.state == PUBLISHED)
    every = connection.execute(public.order_by(_submission.c.id))
    # the newest of each line: others are where it was before
    lines = {r.first_id or r.id: r for r in every.all() if _names(r.found) & _names(given.found)}
    if here := [r for r in lines.values() if r.licence == given.licence]:
        return max(here, key=lambda r: r.id)
    found = [r for r in lines.values() if renamed(r.licence)]
    return found[0] if len(found) == 1 else None


def _names(found: str) -> set[tuple[str, ...]]:
    """The implementations that were found, whatever their sources, and their families, which a version may change."""
    return {(primitive, variant, name) for primitive, _, variant, name, _ in offered(found)}


def _packed(connection: Connection, given: Given) -> int:
    """The package of a zip, which is stored once."""
    values = {"content": given.content, "size": len(given.content)}
    found = connection.execute(select(_package.c.id, _package.c.size).where(_package.c.digest == given.digest)).first()
    if found is not None:
        if not found.size:  # it was withdrawn
            connection.execute(update(_package).where(_package.c.id == found.id).values(row_of(_package, values)))
        return int(found.id)
    made = connection.execute(
        insert(_package).values(row_of(_package, {"digest": given.digest, **values}))
    ).inserted_primary_key
    if made is None:
        raise StoreError("the database gave the package no number")
    return int(made[0])
