"""A server's database through its API, as the verbs that answer read it."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPException
from sys import intern
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin, urlsplit

import msgspec
from msgspec import Struct

from ..model.errors import UserError, cut
from ..model.record import Point, Record
from ..model.row import CONTEXT, Made, Row
from ..store import Store, StoreError
from ..store.errors import LeaseLost, Refused, StoreFailure
from ..store.queries import Size, batches
from . import wire

if TYPE_CHECKING:
    from ..store.reading import Reader

T = TypeVar("T", bound=Struct)
#: seconds that an answer may take, tries where too many ask at once, and bytes of one answer, also unpacked
SECONDS, TRIES, LARGEST = 120.0, 6, 1 << 30
_BUSY, _MOVED = (429, 503), (301, 302, 303, 307, 308)
#: seconds, as servers write them; some write a date
_PAUSE = re.compile(r"[0-9]{1,4}")
#: what zlib calls gzip
_GZIP = 16 + zlib.MAX_WBITS


class _Stays(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *_: object) -> None:
        """None: the redirect is the answer."""


_OPENER = urllib.request.build_opener(_Stays)


class _NotThereError(StoreError):
    """The server has no such thing."""


_KINDS: Mapping[int, type[StoreError]] = {400: Refused, 404: _NotThereError, 409: LeaseLost}


class Server:
    """Who answers at an address."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        self._headers = dict(headers or {})
        try:
            parts = urlsplit(url)
            if (
                parts.scheme not in ("http", "https")
                or not parts.hostname
                or parts.query
                or parts.fragment
                or parts.username
                or parts.port == 0
            ):
                raise ValueError
            url.encode("ascii")
            parts.hostname.encode("idna")
        except ValueError:
            raise UserError(f"{cut(url)}: is not the address of a server; write it as https://HOST/") from None
        self.url = url.rstrip("/")

    def asked(self, words: Sequence[str], gives: type[T], asked: wire.Asked | None = None) -> T:
        """An answer of the API. Raises :class:`StoreError`."""
        body = msgspec.json.encode(asked) if asked is not None else None
        return self.understood(self.sent("/".join(("", *wire.ROOT, *words)), body, "application/json"), gives)

    def understood(self, content: bytes, gives: type[T]) -> T:
        """What an answer says. Raises :class:`StoreError`."""
        try:
            return msgspec.json.decode(content, type=gives)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
            raise self.strange(str(e)) from e

    def strange(self, why: str) -> StoreFailure:
        """What to raise for an answer that no server of this version gives."""
        return StoreFailure(f"{self.url}: no answer of version {wire.ROOT[1]} of the API: {why}; update one")

    def sent(self, path: str, body: bytes | None = None, kind: str = "") -> bytes:
        """What the server says at a path, as it is or to what is sent. Redirects are not followed: a key is for this
        server alone, and what is sent would be lost. Raises :class:`StoreError`."""
        headers = {"accept-encoding": "gzip", **self._headers, **({"content-type": kind} if body is not None else {})}
        request = urllib.request.Request(f"{self.url}{path}", body, headers)
        for left in reversed(range(TRIES)):
            try:
                with _OPENER.open(request, timeout=SECONDS) as answer:
                    return self._content(answer)
            except urllib.error.HTTPError as e:
                with e:
                    pause = e.headers.get("retry-after", "")
                    if e.code in _BUSY and left and _PAUSE.fullmatch(pause) and int(pause) <= SECONDS:
                        time.sleep(int(pause) * 1.0)
                        continue
                    if e.code in _MOVED and (to := e.headers.get("location", "")):
                        with suppress(ValueError):  # it is not an address
                            to = urljoin(request.full_url, to).removesuffix(path)
                        raise StoreError(f"{self.url}: moved to {cut(to)}; give that address") from e
                    said = b""
                    with suppress(OSError, HTTPException, EOFError, zlib.error, StoreError):
                        said = self._content(e)
                    raise self._refused(e.code, e.headers.get_content_type(), said) from e
            except (OSError, HTTPException, EOFError, zlib.error) as e:
                why = getattr(e, "reason", None) or e
                raise StoreFailure(f"{self.url}: {why}; see that steelyard serve runs there") from e
        raise AssertionError("unreachable")

    def _content(self, answer: Any) -> bytes:
        content: bytes = answer.read(LARGEST)
        if answer.headers.get("content-encoding") == "gzip" and len(content) < LARGEST:
            unpacking = zlib.decompressobj(_GZIP)  # a small answer may hold a huge one
            content = unpacking.decompress(content, LARGEST)
            if len(content) < LARGEST and not unpacking.eof:
                raise EOFError("half an answer")
        if len(content) >= LARGEST:
            raise StoreFailure(f"{self.url}: an answer of more than {LARGEST >> 20} MiB; choose less")
        return content

    def _refused(self, code: int, media: str, content: bytes) -> StoreError:
        """What to raise for an answer that is none: what it says, if that is a sentence."""
        why = ""
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if media == "text/plain":
                why = cut(content.decode().strip(), 200)
            else:
                why = msgspec.json.decode(content, type=wire.Refusal).error.strip()
        why = why or f"status {code}; see that a steelyard serve of this version runs there"
        kind = StoreFailure if code >= 500 else _KINDS.get(code, StoreError)
        return kind(f"{self.url}: {why}")


class Remote(Store):
    """The results of a server, to be read. What only a database can be asked raises :class:`StoreError`."""

    def __init__(self, url: str) -> None:
        self._server = Server(url)
        self._name = self._server.url
        #: the number of a run with each log that was seen
        self._logs: dict[str, int] = {}

    @property
    def _engine(self) -> Any:  # type: ignore[override]
        raise self._only_there()

    @contextmanager
    def _reader(self) -> Iterator[Reader]:
        raise self._only_there()
        yield

    def _only_there(self) -> StoreError:
        return StoreError(f"{self._name}: this is asked of a database itself; give its file or URL")

    def close(self) -> None:
        """See :meth:`Store.close`."""

    def rows(
        self,
        *,
        newest_only: bool = True,
        points: Collection[Size] = (),
        metrics: Collection[str] | None = None,
        beside: Collection[Made] = (),
        **equal: Any,
    ) -> list[Row]:
        """See :meth:`Store.rows`."""
        sizes = ["{}@{}/{}".format(*size) for size in sorted(points)]
        asked = wire.RowsAsked(
            newest=newest_only, metrics="all" if metrics is None else tuple(sorted(metrics)), points=tuple(sizes),
            beside=tuple(beside), **equal,
        )  # fmt: skip
        parts = [p.columns for p in self._parts("rows", wire.Rows, asked)]
        return _joined(parts, sizes)

    def rows_of(
        self,
        run_ids: Collection[int],
        metrics: Collection[str] | None = (),
        points: Collection[Size] = (),
        beside: Collection[Made] = (),
    ) -> list[Row]:
        """See :meth:`Store.rows_of`."""
        if points or beside:
            raise self._only_there()
        names: Any = "all" if metrics is None else tuple(sorted(metrics))
        return _joined(
            [
                self._server.asked(("rows", "named"), wire.Rows, wire.NamedRows(runs=some, metrics=names)).columns
                for some in _some(run_ids)
            ]
        )

    def runs(self, *, newest_only: bool = True, **equal: Any) -> list[Record]:
        """See :meth:`Store.runs`."""
        parts = self._parts("runs", wire.Runs, wire.RunsAsked(newest=newest_only, **equal))
        return [r.record for part in parts for r in part.runs]

    def records(self, run_ids: Collection[int]) -> list[Record]:
        """See :meth:`Store.records`."""
        found = [self.get(n) for n in sorted(run_ids, reverse=True)]
        return [r for r in found if r is not None]

    def get(self, run_id: int) -> Record | None:
        """See :meth:`Store.get`."""
        try:
            record = self._server.asked(("runs", str(run_id)), wire.Run).record
        except _NotThereError:
            self.last()  # which is not there either where no API is
            return None
        self._logs[record.log] = run_id
        return record

    def same_answers(self, record: Record) -> list[int]:
        """See :meth:`Store.same_answers`."""
        if record.verification is None or not record.verification.answers:
            return []
        return list(self._server.asked(("runs", str(record.id), "same"), wire.Same).runs)

    def points(self, run_ids: Collection[int]) -> dict[int, list[Point]]:
        """See :meth:`Store.points`."""
        found: dict[int, list[Point]] = {}
        for some in _some(run_ids):
            of = self._server.asked(("points",), wire.Points, wire.Named(runs=some)).points
            found |= {run: list(points) for run, points in of.items()}
        return found

    def cycles(self, run_ids: Collection[int], operation: str) -> dict[int, dict[tuple[int, int], float]]:
        """See :meth:`Store.cycles`."""
        every = self.points(run_ids).items()
        of = {
            run: {(p.adlen, p.mlen): float(p.cycles) for p in points if p.operation == operation}
            for run, points in every
        }
        return {run: cycles for run, cycles in of.items() if cycles}

    def targets(self) -> dict[str, int]:
        """See :meth:`Store.targets`."""
        return {t.name: t.setups for t in self._server.asked(("targets",), wire.Targets).targets if t.setups}

    def details(self, run_ids: Collection[int]) -> dict[int, str]:
        """See :meth:`Store.details`."""
        found: dict[int, str] = {}
        for some in _some(run_ids):
            found |= self._server.asked(("details",), wire.Details, wire.Named(runs=some)).details
        return found

    def made(self) -> set[Made]:
        """See :meth:`Store.made`."""
        return set(self._server.asked(("made",), wire.Makers).made)

    def last(self) -> int:
        """See :meth:`Store.last`."""
        return self._server.asked((), wire.Service).last

    def get_blob(self, digest: str) -> bytes:
        """The log of a run that was read before; see :meth:`Store.get_blob`."""
        if digest not in self._logs:
            raise self._only_there()
        return self._server.sent("/".join(("", *wire.ROOT, "runs", str(self._logs[digest]), "log")))

    def _parts(self, word: str, gives: type[T], asked: wire.RunsAsked) -> Iterator[T]:
        """All parts, as of one newest run, each of older ones."""
        while True:
            part: Any = self._server.asked((word,), gives, asked)
            yield part
            if part.before is None:
                return
            if part.before > part.last or (asked.before is not None and part.before >= asked.before):
                raise self._server.strange("its parts have no end")
            asked = msgspec.structs.replace(asked, last=part.last, before=part.before)


def _some(run_ids: Collection[int]) -> Iterator[tuple[int, ...]]:
    return map(tuple, batches(sorted(run_ids, reverse=True), wire.MOST_NAMED))


def _joined(parts: Sequence[dict[str, tuple[Any, ...]]], points: Sequence[str] = ()) -> list[Row]:
    """The rows of all parts, each with all columns, in the order in which a database gives them. Columns that an older
    server lacks are None; those of texts that only a newer one has are left out."""
    named = dict.fromkeys(name for part in parts for name in part)
    texts = {n for part in parts for n, values in part.items() if n not in CONTEXT and str in set(map(type, values))}
    context = [*(n for n in named if n in CONTEXT), *(n for n in CONTEXT if n not in named)]
    names = [*context, *sorted(n for n in named if n not in CONTEXT and n not in points and n not in texts), *points]
    rows: list[Row] = []
    for part in parts:
        if not part:
            continue
        many = len(part["run"])
        columns = [list(map(_kept, part[n])) if n in part else [None] * many for n in names]
        rows += [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    return rows


def _kept(value: Any) -> Any:
    """A text as the one that is equal to it: most of a column's are."""
    return intern(value) if type(value) is str else value
