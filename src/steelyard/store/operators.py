"""Who may operate a server: a link that works once makes an operator, whose name and password open sessions. Tokens
are stored as hashes, passwords by Argon2, and everything that operators do is written down."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct
from sqlalchemy import Connection, delete, func, insert, select

from steelyard.model.errors import UserError

from . import schema
from .audit import note
from .dates import APART, now
from .engine import explained
from .leasing import repeated
from .store import Store
from .values import MICROSECOND, storable
from .writing import row_of

#: bytes of a token; microseconds that a session and a link last, and that a clock may be wrong
_TOKEN, SESSION, LINK, _WRONG = 24, 12 * 3_600_000_000, 24 * 3_600_000_000, APART // MICROSECOND
#: failed tries that an address has in so many microseconds; where others failed so often that somebody guesses from
#: many addresses, each has one: nobody can keep operators out
TRIES, OF_ALL, WITHIN = 5, 100, 900_000_000
#: entries of a list that is looked at
MOST = 300
#: characters of a password
SHORTEST, LONGEST = 10, 200
_NAME = re.compile(r"[\w.@+-]{1,64}")
_USED = "this link is used or too old; steelyard queue link makes another"
SIGNED_IN, REFUSED, SERVED = "signed in", "sign-in refused", "served"
_operator, _admission, _audit, _key = schema.operator, schema.admission, schema.audit, schema.worker_key
_T = TypeVar("_T")


class RefusedError(UserError):
    """Somebody is not let in; the text says what to do."""


class Session(Struct, frozen=True):
    """A session: whose it is, and what forms of its pages must say, which no other site knows."""

    operator: str
    form: str


class Deed(Struct, frozen=True):
    """What somebody did: when (microseconds since 1970), who, from where, what, and to what."""

    at: int
    operator: str
    address: str
    action: str
    subject: str
    detail: str


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()


class Operators:
    """Lets operators in, and tells what they did. Methods raise :class:`StoreError`, and :class:`RefusedError` with
    what is wrong."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def _done(self, work: Callable[[Connection], _T]) -> _T:
        with explained(self._store._name):
            return repeated(self._store._engine, work)

    def any(self) -> bool:
        """Whether there is an operator."""
        with explained(self._store._name), self._store._engine.connect() as connection:
            return connection.execute(select(_operator.c.id).limit(1)).first() is not None

    def link(self) -> str:
        """The token of a new link that works once, for a day; older ones no longer do."""
        token = secrets.token_urlsafe(_TOKEN)

        def work(connection: Connection) -> None:
            connection.execute(delete(_admission).where(_admission.c.operator_id.is_(None)))
            _admit(connection, token, None, LINK)
            note(connection, "", "", "made a link")

        self._done(work)
        return token

    def served(self, url: str) -> None:
        """Writes down where a server is, unless it was there before."""
        if url != self.server():
            self._done(lambda connection: note(connection, "", "", SERVED, url))

    def server(self) -> str:
        """Where a server that takes packages was started last; empty where none was."""
        query = select(_audit.c.subject).where(_audit.c.action == SERVED).order_by(_audit.c.id.desc()).limit(1)
        with explained(self._store._name), self._store._engine.connect() as connection:
            return str(connection.execute(query).scalar() or "")

    def is_link(self, token: str) -> bool:
        """Whether a link is good."""
        with explained(self._store._name), self._store._engine.connect() as connection:
            return _good(connection, token, link=True) is not None

    def begin(self, token: str, name: str, password: str, address: str) -> str:
        """Makes an operator by a link, which is used up, or gives one who is there a new password, which ends
        their sessions. The token of a session."""
        if not _NAME.fullmatch(name):
            raise RefusedError("a name has 1 to 64 letters, digits and . @ + - _")
        if not SHORTEST <= len(password) <= LONGEST:
            raise RefusedError(f"a password has {SHORTEST} to {LONGEST} characters")
        if not self.is_link(token):  # hashing takes the time that a guess must not cost
            raise RefusedError(_USED)
        made, hashed = secrets.token_urlsafe(_TOKEN), _hasher().hash(password)

        def work(connection: Connection) -> None:
            used = delete(_admission).where(
                _admission.c.token == _hashed(token), _admission.c.operator_id.is_(None), *_in_time()
            )
            if connection.execute(used).rowcount != 1:
                raise RefusedError(_USED)
            found = connection.execute(select(_operator.c.id).where(_operator.c.name == name)).scalar()
            if found is None:
                values = {"name": name, "password": hashed, "created": now()}
                connection.execute(insert(_operator).values(row_of(_operator, values)))
                found = connection.execute(select(_operator.c.id).where(_operator.c.name == name)).scalar_one()
            else:
                connection.execute(_operator.update().where(_operator.c.id == found).values(password=hashed))
                connection.execute(delete(_admission).where(_admission.c.operator_id == found))
            _admit(connection, made, found, SESSION)
            note(connection, name, address, "set a password")

        self._done(work)
        return made

    def sign_in(self, name: str, password: str, address: str) -> str:
        """The token of a new session. Whoever guesses is refused for a while, whatever the password."""
        with explained(self._store._name), self._store._engine.connect() as connection:
            failed = (_audit.c.action == REFUSED, _audit.c.at > now() - WITHIN, _audit.c.at <= now() + _WRONG)
            mine = connection.execute(select(func.count()).where(*failed, _audit.c.address == address)).scalar_one()
            every = connection.execute(select(func.count()).where(*failed)).scalar_one()
            found = connection.execute(
                select(_operator.c.id, _operator.c.password).where(_operator.c.name == storable(name))
            ).first()
        if mine >= (TRIES if every < OF_ALL else 1):
            raise RefusedError(f"too many tries; wait {WITHIN // 60_000_000} minutes")
        right = _verified(found.password if found else _nobodys(), password[:LONGEST])
        if not (found and right):
            self._done(lambda connection: note(connection, "", address, REFUSED, name))
            raise RefusedError("name or password is wrong")
        made = secrets.token_urlsafe(_TOKEN)

        def work(connection: Connection) -> None:
            connection.execute(delete(_admission).where(_admission.c.expires <= now()))
            _admit(connection, made, found.id, SESSION)
            note(connection, name, address, SIGNED_IN)

        self._done(work)
        return made

    def session(self, token: str) -> Session | None:
        """Whose session this is; None where it is none, or over."""
        with explained(self._store._name), self._store._engine.connect() as connection:
            name = _good(connection, token, link=False) if token else None
        return None if name is None else Session(name, hmac.digest(token.encode(), b"form", "sha256").hex())

    def sign_out(self, token: str) -> None:
        """Ends a session."""
        self._done(lambda connection: connection.execute(
            delete(_admission).where(_admission.c.token == _hashed(token), _admission.c.operator_id.is_not(None))
        ))  # fmt: skip

    def hire(self, machine: str, by: str = "") -> str:
        """The key of a machine that is to take jobs over HTTP; an older one of it no longer works."""
        if not _NAME.fullmatch(machine):
            raise RefusedError("a machine's name has 1 to 64 letters, digits and . @ + - _")
        token = secrets.token_urlsafe(_TOKEN)

        def work(connection: Connection) -> None:
            connection.execute(delete(_key).where(_key.c.machine == machine))
            values = {"token": _hashed(token), "machine": machine, "created": now()}
            connection.execute(insert(_key).values(row_of(_key, values)))
            note(connection, by, "", "made a key", f"machine {machine}")

        self._done(work)
        return token

    def dismiss(self, machine: str, by: str = "") -> None:
        """Puts an end to the key of a machine."""

        def work(connection: Connection) -> None:
            if connection.execute(delete(_key).where(_key.c.machine == machine)).rowcount != 1:
                raise RefusedError(f"{machine} has no key")
            note(connection, by, "", "deleted a key", f"machine {machine}")

        self._done(work)

    def machine(self, token: str) -> str | None:
        """Whose key this is."""
        with explained(self._store._name), self._store._engine.connect() as connection:
            found = connection.execute(select(_key.c.machine).where(_key.c.token == _hashed(token))).scalar()
        return None if found is None else str(found)

    def deeds(self, most: int = MOST, *, refused: bool | None = None) -> list[Deed]:
        """What was done, the newest first: all of it, only who was ``refused``, or only the rest, which nobody can push
        out of sight."""
        query = select(*(_audit.c[n] for n in Deed.__struct_fields__)).order_by(_audit.c.id.desc()).limit(most)
        if refused is not None:
            query = query.where((_audit.c.action == REFUSED) if refused else (_audit.c.action != REFUSED))
        with explained(self._store._name), self._store._engine.connect() as connection:
            return [Deed(*found) for found in connection.execute(query)]


def _admit(connection: Connection, token: str, operator: int | None, lasts: int) -> None:
    values = {"token": _hashed(token), "operator_id": operator, "created": now(), "expires": now() + lasts}
    connection.execute(insert(_admission).values(row_of(_admission, values)))


def _in_time() -> Sequence[Any]:
    """What is not over, and was not made by a clock that was set back since."""
    return _admission.c.expires > now(), _admission.c.created <= now() + _WRONG


def _good(connection: Connection, token: str, *, link: bool) -> str | None:
    """Whose an admission is: nobody's, where it is a link; None where it is not good."""
    query = select(_operator.c.name).select_from(_admission.outerjoin(_operator))
    whose = _admission.c.operator_id.is_(None) if link else _operator.c.id.is_not(None)
    found = connection.execute(query.where(_admission.c.token == _hashed(token), whose, *_in_time())).first()
    return None if found is None else found.name or ""


def _hasher() -> Any:
    from argon2 import PasswordHasher  # only where somebody signs in

    return PasswordHasher()


@cache
def _nobodys() -> str:
    """A password that nobody has: a name that is not there takes as long as one that is."""
    return str(_hasher().hash(secrets.token_urlsafe(_TOKEN)))


def _verified(hashed: str, password: str) -> bool:
    from argon2.exceptions import VerificationError

    try:
        return bool(_hasher().verify(hashed, password))
    except VerificationError:
        return False
