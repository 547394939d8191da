"""The web application: hands out what is kept, and has made what is not."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from fastapi import FastAPI, Request, Response
from starlette.routing import Match, Route

from . import address, reply, script, upload
from .kept import REST, STALE, Cache, Kept
from .makers import WAITING, Here, Makers
from .news import News
from .reply import Sent
from .wire import PREVIOUS, ROOT, Refusal

#: seconds for which the newest run is not asked for again, and after which an answer to that is not waited for
LOOK, PATIENCE = 1.0, 0.05
#: seconds for which a new page is waited for where an old one is there
SOON = 0.1
#: seconds after which a page is made anew whatever is known: on servers a run may be committed after one of a higher
#: number
OLDEST = 600.0
_OWN = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; "
_HEADERS = {
    "content-security-policy": f"{_OWN}frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "interest-cohort=()",
}
#: pages that wait have htmx, which asks for them again
_RENEWED = f"{_HEADERS['content-security-policy']}; script-src 'self'; connect-src 'self'"
#: figures have styles in them, and nothing else that could act; pages elsewhere may show them
_OF_FIGURES = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "cross-origin-resource-policy": "cross-origin",
}
_FOR_EVER = {"cache-control": "public, max-age=31536000, immutable"}
#: bytes of what programs ask in a body
MOST_ASKED = 64 << 10
#: bytes of what is handed in: a zip, and the form around it; how many hand in at once, and how many of one address; how
#: many workers may send as much
MOST_SENT, UPLOADS, OF_ONE, HANDS = reply.MOST_ZIP + reply.FORM, 16, 4, 256
#: seconds of a processor that one address may take in an hour for what is not taken in the end, or was before
IN_VAIN = 60.0
#: pages that are made for one address at once, a quarter of the places that there are
FOR_ONE = WAITING // 4
#: what accepts gzip, unless with a weight of nothing (RFC 9110, 12.5.3)
_GZIP = re.compile(r"(?:^|,)\s*(?:x-)?gzip\s*(?:$|,|;(?!\s*q=0(?:\.0*)?\s*(?:$|,)))", re.IGNORECASE)
#: the cookie of who is signed in
_COOKIE = "steelyard-operator"
_SAVED = ("application/vnd", "text/x-tex", "text/csv")


class InVain:
    """Seconds of a processor that went by for what was not taken, by address: no quota in the database counts these."""

    def __init__(self) -> None:
        self._spent: dict[str, float] = {}
        self._since = time.monotonic()

    def add(self, address: str, seconds: float) -> None:
        """Adds some."""
        self._spent[address] = self._spent.get(address, 0.0) + seconds

    def too_much(self, address: str) -> bool:
        """Whether an address has taken more than it may in this hour."""
        if time.monotonic() - self._since > 3600:
            self._spent.clear()
            self._since = time.monotonic()
        return self._spent.get(address, 0.0) > IN_VAIN


class Service:
    """Replies by address, made once while nothing is stored, however many ask at once."""

    def __init__(self, makers: Makers | Here) -> None:
        self.makers = makers
        self._cache = Cache()
        self._under_way: dict[str, asyncio.Task[Kept | None]] = {}
        self.news, self._looked, self._changes = News(), -LOOK, 0
        self._look: asyncio.Task[None] | None = None
        self._for: Counter[str] = Counter()

    async def fairly(self, who: str, make: Callable[[], Awaitable[Kept | None]]) -> Kept | None:
        """What is made for somebody; None where they wait for as much as one may."""
        if self._for[who] >= FOR_ONE:
            return None
        self._for[who] += 1
        try:
            return await make()
        finally:
            self._for[who] -= 1
            if not self._for[who]:
                del self._for[who]

    async def answer(self, path: str, query: str, who: str = "") -> Kept | None:
        """What stands at an address; None where too many wait, or ``who`` asks waits for as much as one may."""
        address = f"{path}?{query}"
        await self._look_again()
        kept = self._cache.get(address)
        if kept is None:
            return await self.fairly(who, lambda: asyncio.shield(self._made(address, path, query)))
        if self.news.fresh(kept.reply.state, path, query) and kept.age < OLDEST:
            return kept
        if kept.age >= STALE and not self.makers.busy(path, query):
            return await self.fairly(who, lambda: asyncio.shield(self._made(address, path, query))) or kept
        if not kept.slow:
            task = self._made(address, path, query, later=True)
            done, _ = await asyncio.wait([task], timeout=SOON)
            return (task.result() if done else None) or kept
        if kept.age > REST * kept.reply.seconds:
            self._made(address, path, query, later=True)
        return kept

    def _made(self, address: str, path: str, query: str, *, later: bool = False) -> asyncio.Task[Kept | None]:
        task = self._under_way.get(address)
        if task is None:
            task = self._under_way[address] = asyncio.create_task(self._make(address, path, query, later))
        return task

    async def _make(self, address: str, path: str, query: str, later: bool) -> Kept | None:
        cache = self._cache  # what is made of something that is deleted meanwhile is not kept
        try:
            made = await self.makers.make(path, query, later=later)
        finally:
            if self._under_way.get(address) is asyncio.current_task():
                del self._under_way[address]
        if made is not None:
            cache.put(address, made)
        return made

    def forget(self) -> None:
        """Drops all that is kept."""
        self._cache = Cache()
        self._under_way.clear()

    async def _look_again(self) -> None:
        """Learns of new, deleted and renamed runs, if the database says so soon."""
        if time.monotonic() - self._looked > LOOK and self._look is None:
            self._look = asyncio.create_task(self._looking())
        if self._look is not None:
            await asyncio.wait([self._look], timeout=PATIENCE)

    async def _looking(self) -> None:
        try:
            since = await self.makers.since(self.news.last)
            if since is not None:
                self.news.add(since.runs)
                if since.changes != self._changes:  # what is gone or replaced is on no page, whoever did it
                    self._changes = since.changes
                    self.news = News()  # numbers of what was deleted are of no run, or will be of others
                    self.forget()
        finally:
            self._looked, self._look = time.monotonic(), None


def create(makers: Makers | Here) -> FastAPI:
    """The application over a database's ``makers``, which it closes at its end."""
    service = Service(makers)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        first = asyncio.create_task(service.answer("/", ""))  # processes start before anybody asks
        yield
        first.cancel()
        makers.close()

    uploads: Counter[str] = Counter()
    vain = InVain()
    hands: set[str] = set()
    app = FastAPI(title="Steelyard", docs_url=None, redoc_url=None, openapi_url=None, lifespan=life)

    @app.middleware("http")
    async def guarded(request: Request, call: Callable[..., object]) -> Response:
        response: Response = await call(request)  # type: ignore[misc]
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    @app.api_route("/static/{name}", methods=["GET", "HEAD"], include_in_schema=False)
    async def static(name: str) -> Response:
        if name == script.NAME and (source := script.source()):
            return Response(source, media_type="text/javascript", headers=_FOR_EVER)
        if name != reply.style_name():
            return Response("no such file\n", 404, media_type="text/plain")
        return Response(reply.style(), media_type="text/css", headers=_FOR_EVER)

    @app.api_route("/robots.txt", methods=["GET", "HEAD"], include_in_schema=False)
    async def robots() -> Response:
        # there is no end to what may be asked after ?
        return Response(
            "User-agent: *\nDisallow: /*?\nDisallow: /submissions\nDisallow: /operate\n", media_type="text/plain"
        )

    @app.post("/api/v1/submissions", include_in_schema=False)
    @app.post("/submissions", include_in_schema=False)
    @app.post("/submissions/{token}/{decision}", include_in_schema=False)
    async def taken(request: Request) -> Response:
        """What is handed in, and what owners decide."""
        if makers.taking is None:
            return Response("this server takes no submissions\n", 403, media_type="text/plain")
        if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return Response("this form is another site's\n", 403, media_type="text/plain")
        who, kind = _of_one(request), request.headers.get("content-type", "")
        if uploads.total() >= UPLOADS or uploads[who] >= OF_ONE:
            return _busy()
        if vain.too_much(who):
            text = "what came from this address took too long and was not taken; come back in an hour\n"
            return Response(text, 429, media_type="text/plain")
        uploads[who] += 1
        try:
            async with upload.received(request, MOST_SENT) as sent:
                if isinstance(sent, Response):
                    return sent
                kept = await makers.take(_sent_in(request, sent, kind, who))
                if kept is not None and (kept.reply.vain or kept.reply.status >= 400):
                    vain.add(who, kept.reply.seconds)
        finally:
            uploads[who] -= 1
            if not uploads[who]:
                del uploads[who]
        return _busy() if kept is None else _kept_private(kept, request)

    @app.api_route("/operate", methods=["GET", "HEAD", "POST"], include_in_schema=False)
    @app.api_route("/operate/{path:path}", methods=["GET", "HEAD", "POST"], include_in_schema=False)
    async def operated(request: Request) -> Response:
        """What operators see and do."""
        posted = request.method == "POST"
        if makers.taking is None:
            return Response("this server has no queue\n", 403, media_type="text/plain")
        if posted and request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return Response("this form is another site's\n", 403, media_type="text/plain")
        sent = await upload.small(request, MOST_ASKED)
        if isinstance(sent, Response):
            return sent
        who, kind = _of_one(request), request.headers.get("content-type", "")
        asked = Sent(*_address(request), sent, kind, who, request.cookies.get(_COOKIE, ""), posted)
        kept = await service.fairly(f"operator {who}", lambda: makers.operate(asked))
        if kept is not None and kept.reply.changed:
            service.forget()  # what was deleted is on no page, and what was published is
        return _busy() if kept is None else _kept_private(kept, request)

    @app.post("/api/v1/work/{deed}", include_in_schema=False)
    async def hired(request: Request) -> Response:
        """What workers ask that have no database."""
        if makers.taking is None:
            return Response("this server has no queue\n", 403, media_type="text/plain")
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        key = key.strip() if scheme.lower() == "bearer" else ""
        async with upload.received(request, MOST_SENT if key in hands else MOST_ASKED) as sent:
            if isinstance(sent, Response):  # a worker that nobody knows yet says soon that it is there
                return _busy() if sent.status_code == 413 and key not in hands else sent
            who = "" if key in hands else _of_one(request)
            asked = _sent_in(request, sent, "", who, key)
            kept = await (service.fairly(f"worker {who}", lambda: makers.hire(asked)) if who else makers.hire(asked))
        if kept is None:
            return _busy()
        if kept.reply.status == 401:
            hands.discard(key)
        elif kept.reply.status == 200 and len(hands) < HANDS:
            hands.add(key)
        return _kept_private(kept, request)

    @app.api_route("/api/{path:path}", methods=["GET", "HEAD", "POST"], include_in_schema=False)
    async def asked(request: Request) -> Response:
        """What programs ask is made for each: a reading of several parts has to know the newest run."""
        sent = await upload.small(request, MOST_ASKED)
        if isinstance(sent, Response):
            return sent
        path, query = _address(request)
        kept = await service.fairly(_of_one(request), lambda: makers.make(path, query, sent))
        if kept is None:
            return _busy()
        return (_kept_private if address.is_private(address.segments(path)) else _sent)(kept, request)

    async def private(request: Request, names: tuple[str, ...]) -> Response:
        """What is handed in is nobody else's: it is not kept, here or on the way."""
        path, query = _address(request)
        form = names == ("submissions",)
        if makers.taking is None and form:
            return Response("this server takes no submissions\n", 403, media_type="text/plain")
        if makers.taking is not None and makers.taking.closed and form:
            kept = await makers.take(Sent(path, query, b"", "", "", posted=False))  # it says why
        else:
            kept = await service.fairly(_of_one(request), lambda: makers.make(path, query))
        return _busy() if kept is None else _kept_private(kept, request)

    @app.api_route("/{path:path}", methods=["GET", "HEAD"], include_in_schema=False)
    async def page(request: Request) -> Response:
        names = address.segments(_address(request)[0])
        if address.is_private(names):
            return await private(request, names)
        kept = await service.answer(*_address(request), _of_one(request))
        return _busy() if kept is None else _sent(kept, request)

    @app.exception_handler(404)
    @app.exception_handler(405)
    async def unmatched(request: Request, _: Exception) -> Response:
        """What no route takes: of the routes of an address each names its own methods, and none has a line end."""
        may = _methods(app, request)
        if not may:
            if request.method in ("GET", "HEAD"):
                return await page(request)
            may = ["GET", "HEAD"]
        said = f"not done here; what is: {', '.join(may)}"
        headers = {"allow": ", ".join(may)}
        if address.segments(_address(request)[0])[:1] == ROOT[:1]:
            return Response(msgspec.json.encode(Refusal(said)), 405, headers, "application/json")
        return Response(f"{said}\n", 405, headers, "text/plain")

    return app


def _methods(app: FastAPI, request: Request) -> list[str]:
    """All that may be done at an address."""
    routes = [r for r in app.routes if isinstance(r, Route) and r.matches(request.scope)[0] != Match.NONE]
    return sorted({method for r in routes for method in r.methods or ()})


def _address(request: Request) -> tuple[str, str]:
    """Path and query as they were sent."""
    raw = request.scope.get("raw_path") or request.url.path.encode()
    return raw.decode("ascii", "replace").split("?")[0], request.scope["query_string"].decode("latin-1")


def _sent_in(request: Request, sent: bytes | Path, kind: str, who: str, session: str = "") -> Sent:
    """What came whole."""
    body, file = (b"", str(sent)) if isinstance(sent, Path) else (sent, "")
    previous = request.headers.get(PREVIOUS, "")
    return Sent(*_address(request), body, kind, who, session, file=file, previous=previous)


def _of_one(request: Request) -> str:
    """Who asks, by the address: of IPv6 the network that one customer has."""
    host = request.client.host if request.client else ""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host[:64]
    if isinstance(found, ipaddress.IPv6Address):
        mapped = found.ipv4_mapped
        return str(mapped or ipaddress.IPv6Network((int(found), 64), strict=False))
    return str(found)


def _kept_private(kept: Kept, request: Request) -> Response:
    """A reply that no cache keeps and no search engine finds."""
    if kept.reply.to:
        response = Response(status_code=303, headers={"location": kept.reply.to})
    elif kept.reply.shown and request.headers.get("x-shown") == kept.reply.shown:
        response = Response(status_code=204)  # nothing has changed
    else:
        response = _sent(kept, request)
        del response.headers["etag"]
    response.headers["cache-control"] = "private, no-store"
    if (token := kept.reply.session) is not None:
        response.set_cookie(
            _COOKIE, token, path="/operate", httponly=True, samesite="strict", secure=request.url.scheme == "https",
            max_age=None if token else 0,
        )  # fmt: skip
    response.headers["x-robots-tag"] = "noindex, nofollow"
    if kept.reply.shown:
        response.headers["content-security-policy"] = _RENEWED
    if kept.reply.again:
        response.headers["refresh"] = str(kept.reply.again)
    return response


def _busy() -> Response:
    return Response("too many ask at once; try again\n", 503, {"retry-after": "5"}, "text/plain")


def _sent(kept: Kept, request: Request) -> Response:
    made = kept.reply
    headers = {"cache-control": "no-cache", "vary": "accept-encoding", "etag": f'W/"{made.digest}"'}
    if made.kind.startswith("image/"):
        headers |= _OF_FIGURES
    if made.kind.startswith(_SAVED):
        name = request.url.path.rsplit("/", 1)[-1]
        safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in name)
        headers["content-disposition"] = f'attachment; filename="{safe}"'
    if made.status == 200 and headers["etag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if kept.packed and _GZIP.search(request.headers.get("accept-encoding", "")):
        return Response(made.body, made.status, headers | {"content-encoding": "gzip"}, made.kind)
    return Response(kept.plain, made.status, headers, made.kind)
