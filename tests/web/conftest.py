"""Made-up results, and what a browser would make of pages."""

from __future__ import annotations

import asyncio
import gzip
import signal
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag

import pytest
from fastapi import FastAPI

from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record
from steelyard.store import Store
from steelyard.web import script
from steelyard.web.reply import HTML, Reply
from steelyard.web.respond import respond
from tests.cli.conftest import cli
from tests.made_up import record
from tests.store.servers import _port

from .handing_in import Service, launched

__all__ = ["cli"]

#: elements without an end
_VOID = frozenset(("meta", "link", "img", "input", "br", "hr", "rect", "circle", "path", "polyline"))

RECORDS = [
    *(record(f"toy{i}/ref", digest=str(i), target=t, cycles=1000.0 * i, rom=900 - 100 * i)
      for i in (1, 2, 3) for t in ("uno", "bluepill")),
    record("toy1/fast", digest="4", flags="-Os", cycles=700.5),
    record("toyhash/ref", primitive="crypto_hash", family="hash", digest="5"),
    record("toy2/ref", digest="2", load="vectors", target="uno"),
    record("toy1/bad", digest="6", failure=Failure(Reason.WRONG_OUTPUT, "vector 3: byte 4 differs")),
    record("toy1/ref", digest="1", compiler="gcc 2", cycles=900.0),
    record("nocrypt/ref", digest="7", cycles=10, rom=0),
]  # fmt: skip


class Parsed(HTMLParser):
    """A page as a parser sees it: its elements, which are closed in order, and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, tag
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, attribute: str, tag: str = "") -> list[str]:
        """Values of an attribute, of these elements."""
        return [a[attribute] for t, a in self.elements if attribute in a and tag in ("", t)]


def harmless(page: Parsed) -> None:
    """That nothing on a page acts, has a style of its own, or is from elsewhere; and that every part has its name."""
    for tag, attributes in page.elements:
        assert tag not in ("style", "iframe", "object", "embed", "base")
        if tag == "script":
            assert (attributes["src"], attributes["integrity"]) == (f"/static/{script.NAME}", script.INTEGRITY)
        assert not [n for n in attributes if n.startswith("on") or n == "style"]
    for to in page.all("href") + page.all("src") + page.all("action"):
        assert to.startswith(("/", "#")) or to == "data:,", to
        assert not to.startswith("//")
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    assert set(page.all("aria-labelledby")) <= set(ids)
    assert all(page.all("alt", "img"))


class Sent(NamedTuple):
    """What a server sent."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return (gzip.decompress(self.body) if self.headers.get("content-encoding") == "gzip" else self.body).decode()


def ask(app: FastAPI, address: str, method: str = "GET", body: bytes = b"", **headers: str) -> Sent:
    """One request, its address sent as it is written here."""
    path, _, query = address.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": unquote(path), "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(n.replace("_", "-").encode(), v.encode()) for n, v in headers.items()],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]
    start = sent[0]
    got = b"".join(m.get("body", b"") for m in sent[1:])
    return Sent(start["status"], {n.decode(): v.decode() for n, v in start["headers"]}, got)


class Site:
    """The pages of a database."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def get(self, address: str) -> Reply:
        path, _, query = urldefrag(address).url.partition("?")
        return respond(self.store, path, query, taking=True)

    def page(self, address: str, status: int = 200) -> Parsed:
        """A page, which has its parts in order and does no harm."""
        reply = self.get(address)
        text = reply.body.decode()
        assert (reply.status, reply.kind) == (status, HTML), f"{address}: {reply.status}\n{text[:3000]}"
        parsed = Parsed(text)
        harmless(parsed)
        return parsed

    def crawl(self) -> dict[str, Parsed]:
        """All pages that lead from the first one to each other."""
        found: dict[str, Parsed] = {}
        waiting = ["/"]
        while waiting:
            if (address := urldefrag(waiting.pop()).url) in found:
                continue
            if not address or address.startswith("/static/") or "." in address.rsplit("/", 1)[-1].split("?")[0]:
                continue
            found[address] = self.page(address)
            waiting += found[address].all("href", "a")
        return found


def made(path: Path, *records: Record) -> Store:
    """A database of these records."""
    store = Store.open(path)
    for r in records:
        store.add(r)
    return store


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The pages of all made-up results."""
    with made(tmp_path_factory.mktemp("web") / "results.db", *RECORDS) as store:
        yield Site(store)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """The path of a database of them, which is the test's own."""
    path = tmp_path / "results.db"
    made(path, *RECORDS).close()
    return path


@pytest.fixture
def service(results: Path) -> Iterator[Service]:
    """``steelyard serve --submissions`` as a user starts it."""
    port = _port()
    words = ("serve", "--port", str(port), "--db", str(results), "--submissions", "--target", "uno")
    with launched(*words) as process:
        assert process.stderr is not None
        assert f"http://127.0.0.1:{port}/" in process.stderr.readline()
        yield Service(f"http://127.0.0.1:{port}", results)
        process.send_signal(signal.SIGINT)
        process.wait(60)
