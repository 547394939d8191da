"""The server: what it keeps, and what it sends with it."""

from __future__ import annotations

import asyncio
import gzip
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from steelyard.store import Store
from steelyard.store.operating import Yard
from steelyard.store.queue import DONE, Queue
from steelyard.store.submissions import Desk
from steelyard.web import app, makers
from steelyard.web.api import JSON
from steelyard.web.kept import Cache, Kept, packed
from steelyard.web.makers import Here
from steelyard.web.news import News, Since
from steelyard.web.reply import HTML, Reply
from tests.made_up import record
from tests.store.handed_in import GIVEN, ROOM, tasks
from tests.store.servers import _port
from tests.web.conftest import ask
from tests.web.handing_in import launched, request


@pytest.fixture
def served(results: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FastAPI]:
    monkeypatch.setattr(app, "LOOK", 0.0)
    monkeypatch.setattr("steelyard.web.kept.QUICK", 60.0)  # a loaded machine makes no page a slow one
    here = Here(str(results))
    yield app.create(here)
    here.close()


def test_a_page_that_is_known_is_not_sent_again(served: FastAPI) -> None:
    first = ask(served, "/targets/uno", accept_encoding="gzip")
    assert ask(served, "/targets/uno", if_none_match=first.headers["etag"]).status == 304
    assert first.headers["content-encoding"] == "gzip"
    plain = ask(served, "/targets/uno")
    assert "content-encoding" not in plain.headers
    assert plain.text == first.text


def test_a_new_run_is_on_the_pages_at_once(served: FastAPI, results: Path) -> None:
    before = ask(served, "/variants/toy1")
    with Store.open(results) as store:
        store.add(record("toy1/newer", digest="8"))
    after = ask(served, "/variants/toy1", if_none_match=before.headers["etag"])
    assert after.status == 200
    assert "toy1/newer" in after.text
    assert "toy1/newer" not in before.text


def test_what_the_command_line_deletes_is_on_no_page(served: FastAPI, results: Path) -> None:
    with Store.open(results) as store:
        desk, line = Desk(store), Queue(store, "w")
        token = desk.hand_in(GIVEN, tasks(targets="a"), ROOM)
        with line.taken("a") as taken:
            assert taken is not None
            line.close(taken, DONE, record=record("private1/ref"))
        desk.publish(token)
        assert "private1/ref" in ask(served, "/targets/uno").text
        assert ask(served, "/implementations/private1/ref").status == 200
        assert Yard(store).delete(1) == 1
        assert "private1/ref" not in ask(served, "/targets/uno").text
        assert ask(served, "/implementations/private1/ref").status == 404


@pytest.mark.parametrize(
    ("address", "changed"),
    [
        ("/", True), ("/variants/v", True), ("/variants/w", False), ("/implementations/v/x", True),
        ("/families/f", True), ("/families/g", False), ("/targets/t", True), ("/targets/u/table.csv", False),
        ("/runs/" + "a" * 16, True), ("/runs/" + "b" * 16 + "/1", False), ("/runs/aaaaaaaa", True),
        ("/claims", False), ("/tables", True), ("/tables?where=target+%3D%3D+u", False),
        ("/tables?where=target+%3D%3D+t", True), ("/tables?where=target+%3D%3D+u+or+rom+%3C+1", True),
        ("/compare?old=v/x&new=w/x", True), ("/compare?old=w/x&new=w/y", False), ("/compare?old=w*&new=w/y", True),
        ("/search?q=v", True), ("/rank?where=not+target+%3D%3D+u", True),
    ],
)  # fmt: skip
def test_a_run_makes_pages_of_its_names_old_and_no_others(address: str, changed: bool) -> None:
    news = News()
    news.add([(7, "0" * 64, "", "", "")])
    news.add([(8, "a" * 64, "f", "v", "t")])
    path, _, query = address.partition("?")
    assert news.fresh(8, path, query)
    assert news.fresh(7, path, query) is not changed


def test_what_is_kept_has_a_bound() -> None:
    cache = Cache(most=10_000)
    for n in range(20):
        cache.put(str(n), Kept(Reply(200, HTML, os.urandom(1000)), False, 0.0))
    kept = [n for n in range(20) if cache.get(str(n))]
    assert kept == list(range(20 - len(kept), 20))
    assert 3 < len(kept) < 10
    cache.put("large", Kept(Reply(200, HTML, os.urandom(5000)), False, 0.0))
    cache.put("wrong", Kept(Reply(503, HTML, b""), False, 0.0))
    assert cache.get("large") is None
    assert cache.get("wrong") is None
    assert cache.get("19") is not None


def test_headers_forbid_all_but_our_own(served: FastAPI) -> None:
    for address in ("/", "/nothing", "/targets/uno/uno-crypto_aead.csv", "/tables?x=1"):
        reply = ask(served, address)
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'")
        assert "script" not in policy
        assert "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
    figure = ask(served, "/targets/uno/figure-tradeoff-crypto_aead.svg")
    assert figure.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    saved = ask(served, "/targets/uno/uno-crypto_aead.xlsx").headers["content-disposition"]
    assert saved == 'attachment; filename="uno-crypto_aead.xlsx"'


def test_the_style_is_there_and_changes_its_name(served: FastAPI) -> None:
    page = ask(served, "/").text
    name = page.split('rel="stylesheet" href="')[1].split('"')[0]
    assert ask(served, name).headers["content-type"].startswith("text/css")
    assert "immutable" in ask(served, name).headers["cache-control"]
    assert ask(served, "/static/style.000000000000.css").status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_written(served: FastAPI, method: str) -> None:
    assert ask(served, "/", method).status == 405


@pytest.mark.parametrize(("path", "may"), [("/submissions", "GET, HEAD, POST"), ("/targets/uno", "GET, HEAD"),
                                            ("/api/v1/submissions", "GET, HEAD, POST")])  # fmt: skip
def test_what_may_be_done_at_an_address(served: FastAPI, path: str, may: str) -> None:
    refused = ask(served, path, "OPTIONS")
    said = f"not done here; what is: {may}"
    assert (refused.status, refused.headers["allow"]) == (405, may)
    assert refused.text == (f'{{"error":"{said}"}}' if "api" in path else f"{said}\n")


def test_a_line_end_in_an_address_is_a_name_like_others(served: FastAPI) -> None:
    page = ask(served, "/targets/u%0Ano")
    assert (page.status, page.headers["content-type"].split(";")[0]) == (404, "text/html")
    assert "search" in page.text
    refused = ask(served, "/targets/u%0Ano", "POST")
    assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")


def test_a_head_says_how_long_a_page_is(served: FastAPI) -> None:
    reply = ask(served, "/", "HEAD")
    assert reply.status == 200
    assert int(reply.headers["content-length"]) > 1000


@pytest.mark.parametrize(
    ("accepts", "compressed"),
    [
        ("gzip, deflate, br", True), ("br;q=1.0, GZIP;q=0.8", True), ("x-gzip", True), ("gzip; q=0.001", True),
        ("gzip;q=0", False), ("gzip ; Q=0.000, identity", False), ("", False), ("identity, nogzip", False),
    ],
)  # fmt: skip
def test_who_takes_nothing_compressed_gets_it_plain(served: FastAPI, accepts: str, compressed: bool) -> None:
    got = ask(served, "/", accept_encoding=accepts)
    assert (got.headers.get("content-encoding") == "gzip") is compressed
    assert "Newest results" in got.text


def test_a_database_that_does_not_answer_is_said(served: FastAPI, results: Path) -> None:
    results.write_bytes(b"no database" * 1000)
    for path in results.parent.glob("results.db-*"):
        path.unlink()
    reply = ask(served, "/variants/toy2")
    assert reply.status == 503
    assert "does not answer" in reply.text
    assert str(results) not in reply.text


@pytest.mark.parametrize("path", ["/results", "/results/results.csv", "/tables", "/api/v1/runs"])
def test_where_a_database_is_that_cannot_be_opened_is_nobody_s_business(tmp_path: Path, path: str) -> None:
    kept, _ = makers.make(str(tmp_path), path, "")
    assert (kept.reply.status, kept.reply.kind) == (503, JSON if path.startswith("/api") else HTML)
    assert b"does not answer" in kept.plain
    assert str(tmp_path).encode() not in kept.plain


def test_packed_is_what_was_made() -> None:
    kept = packed(Reply(200, HTML, b"x" * 5000, "d", 1, 0.0))
    assert kept.packed
    assert gzip.decompress(kept.reply.body) == kept.plain == b"x" * 5000


def test_the_server_knows_the_addresses_that_pages_have() -> None:
    from steelyard.web.pages import ROUTES
    from steelyard.web.sections import SECTIONS

    assert {words[0] if words else "" for words in ROUTES} | {"api"} == SECTIONS.keys()
    for first, section in SECTIONS.items():
        feeds = {route.feed[0] for words, route in ROUTES.items() if words[:1] == (first,) and route.feed}
        assert feeds <= {section.of}, f"the newest runs of {first} are not what its pages depend on"


def test_what_is_made_while_something_is_deleted_is_not_kept() -> None:
    """A page of before, that is done after what was kept is dropped, is not on the server for ten minutes more."""

    class Slow:
        taking = None

        def __init__(self) -> None:
            self.count = 0

        async def make(self, path: str, query: str, sent: bytes = b"", *, later: bool = False) -> Kept:
            self.count += 1
            mine = self.count
            await asyncio.sleep(0.05)
            return packed(Reply(200, HTML, b"page %d" % mine, str(mine), 1))

        async def since(self, last: int) -> Since:
            return Since()

    async def play() -> bytes:
        service = app.Service(Slow())  # type: ignore[arg-type]
        before = asyncio.create_task(service.answer("/", ""))
        await asyncio.sleep(0.02)
        service.forget()
        await before
        after = await service.answer("/", "")
        assert after is not None
        return after.plain

    assert asyncio.run(play()) == b"page 2"


def test_sigterm_ends_the_server_as_quietly_as_ctrl_c(results: Path) -> None:
    port = _port()
    with launched("serve", "--port", str(port), "--db", str(results)) as process:
        assert process.stderr is not None
        assert "stop with Ctrl-C" in process.stderr.readline()
        assert request(f"http://127.0.0.1:{port}", "/").status == 200  # the processes that make pages are there
        process.send_signal(signal.SIGTERM)
        assert process.stderr.read() == "steelyard: stopped\n"
        assert process.wait(60) == 130
