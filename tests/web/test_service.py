"""The server: what it keeps, what it sends with it, and that no page makes others wait or ends it."""

from __future__ import annotations

import asyncio
import gzip
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from fastapi import FastAPI
from msgspec.structs import replace

from steelyard.store import Store
from steelyard.store.operating import Yard
from steelyard.store.queue import DONE, Queue
from steelyard.store.quota import Quota
from steelyard.store.submissions import Desk
from steelyard.web import app, lint, makers, pages
from steelyard.web import respond as responding
from steelyard.web.api import JSON
from steelyard.web.kept import Cache, Kept, packed
from steelyard.web.makers import Here, Makers
from steelyard.web.news import News, Since
from steelyard.web.page import Page
from steelyard.web.pages import View
from steelyard.web.reply import HTML, Reply, Sent, Taking
from tests.made_up import record
from tests.store.servers import _port
from tests.store.handed_in import GIVEN, ROOM, tasks
from tests.web.conftest import RECORDS, ask, made
from tests.web.test_submissions import _started, request, zipped


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.db"
    made(path, *RECORDS).close()
    return path


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


def test_what_takes_long_is_served_as_it_was_and_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nobody waits for it, nor is it made twice at once."""
    monkeypatch.setattr(app, "LOOK", 0.0)
    monkeypatch.setattr(app, "REST", 0.0)
    go, asked, stored = threading.Event(), [], [1]

    class Slow:
        async def make(self, path: str, query: str, sent: bytes = b"", *, later: bool = False) -> Kept | None:
            asked.append(path)
            state = stored[-1]
            if len(asked) > 1:
                await asyncio.to_thread(go.wait)
            return packed(Reply(200, HTML, b"%d" % state, "d", state, 9.0))

        async def since(self, last: int) -> Since:
            return Since([(n, "k", "f", "v", "t") for n in reversed(stored) if n > last])

        def busy(self, path: str, query: str) -> bool:
            return False

    async def visits() -> list[bytes]:
        service = app.Service(Slow())  # type: ignore[arg-type]

        async def visit() -> bytes:
            kept = await service.answer("/", "")
            assert kept is not None
            await asyncio.sleep(0)
            return kept.plain

        bodies = [await visit()]
        stored.append(2)
        bodies += [await visit(), await visit()]
        go.set()
        await asyncio.gather(*service._under_way.values())
        return [*bodies, await visit()]

    assert asyncio.run(visits()) == [b"1", b"1", b"1", b"2"]
    assert asked == ["/", "/"]


def test_what_is_quick_is_waited_for_a_moment_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its process is busy with others, who asks gets it as it was."""
    monkeypatch.setattr(app, "LOOK", 0.0)
    monkeypatch.setattr(app, "SOON", 0.01)
    stored, go = [1], asyncio.Event()

    class Behind:
        async def make(self, path: str, query: str, sent: bytes = b"", *, later: bool = False) -> Kept | None:
            state = stored[-1]
            if state > 1:
                await go.wait()
            return packed(Reply(200, HTML, b"%d" % state, "d", state, 0.001))

        async def since(self, last: int) -> Since:
            return Since([(n, "k", "f", "v", "t") for n in reversed(stored) if n > last])

        def busy(self, path: str, query: str) -> bool:
            return True

    async def visits() -> list[bytes]:
        service = app.Service(Behind())  # type: ignore[arg-type]
        bodies = []
        for end in (False, False, True):
            if end:
                go.set()
            kept = await service.answer("/feed.atom", "")
            assert kept is not None
            bodies.append(kept.plain)
            stored.append(2)
        return bodies

    assert asyncio.run(visits()) == [b"1", b"1", b"2"]


def test_who_waits_goes_first_and_the_shorter_before_the_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """One process makes a slow page. Of those that come meanwhile pages are made by how long their kind took, then what
    is only made anew; and who goes away keeps nobody waiting."""
    order, go = list[str](), asyncio.Event()

    async def made(work: object) -> Kept:
        order.append(work.args[1])  # type: ignore[attr-defined]
        if len(order) == 1:
            await go.wait()
        seconds = {"/targets/a": 2.0, "/rank": 0.01}.get(order[-1], 0.2)
        return packed(Reply(200, HTML, b"", "d", 1, seconds))

    async def play() -> None:
        service = Makers("/nowhere/results.db")
        monkeypatch.setattr(service._slow, "_make", made)
        try:
            known = [asyncio.create_task(service.make("/targets/a", ""))]
            await asyncio.sleep(0)
            go.set()
            await asyncio.gather(*known, service.make("/rank", ""))
            go.clear()
            order.clear()
            asked = [
                asyncio.create_task(service.make(path, "", later=path == "/tables"))
                for path in ("/campaigns/first", "/tables", "/targets/b", "/targets/gone", "/rank")
            ]
            await asyncio.sleep(0)
            asked.pop(3).cancel()
            go.set()
            await asyncio.gather(*asked)
        finally:
            service.close()

    asyncio.run(play())
    assert order == ["/campaigns/first", "/rank", "/targets/b", "/tables"]


def test_workers_wait_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither for pages, however many are asked for, nor for who hands in, signs in or guesses keys: a beat that comes
    late is a run that is done twice. Operators wait for workers only."""
    order, go = list[str](), asyncio.Event()

    async def made(work: object) -> Kept:
        await go.wait()
        if isinstance(of := work.args[1], Sent):  # type: ignore[attr-defined]
            order.append(f"{work.func.__name__} {of.address}".strip())  # type: ignore[attr-defined]
        return packed(Reply(200, HTML, b"", "d", 1, 0.2))

    async def play() -> list[bool]:
        service = Makers("/nowhere/results.db", Taking(("uno",), Quota()))
        monkeypatch.setattr(service._queue, "_make", made)
        monkeypatch.setattr(service._slow, "_make", made)
        sent = Sent("/", "", b"", "", "a")
        try:
            flood = [service.make("/tables", f"{k}") for k in range(makers.WAITING)]
            flood += [service.take(sent) for _ in range(makers.WAITING)]
            flood += [service.hire(sent) for _ in range(makers.WAITING)]
            tasks = [asyncio.create_task(f) for f in flood]
            await asyncio.sleep(0)
            tasks += [
                asyncio.create_task(service.operate(sent)),
                asyncio.create_task(service.hire(replace(sent, address=""))),
            ]
            await asyncio.sleep(0)
            go.set()
            return [r is None for r in await asyncio.gather(*tasks)]
        finally:
            service.close()

    assert not any(asyncio.run(play()))
    assert order[:2] == ["take a", "hire"], "the first had its turn already"
    assert order.index("operate a") < order.index("take a", 1)


def test_one_address_does_not_have_all_places() -> None:
    go = asyncio.Event()

    class Slow:
        async def make(self, path: str, query: str, sent: bytes = b"", *, later: bool = False) -> Kept | None:
            await go.wait()
            return packed(Reply(200, HTML, b"", "d", 1, 0.2))

        async def since(self, last: int) -> Since | None:
            return None

    async def visits() -> tuple[int, bool]:
        service = app.Service(Slow())  # type: ignore[arg-type]
        many = [asyncio.create_task(service.answer(f"/{k}", "", "a")) for k in range(makers.WAITING)]
        other = asyncio.create_task(service.answer("/other", "", "b"))
        await asyncio.sleep(0.01)
        go.set()
        got = [await m for m in many]
        return sum(g is not None for g in got), await other is not None and await service.answer(
            "/x", "", "a"
        ) is not None

    assert asyncio.run(visits()) == (app.FOR_ONE, True)


def test_a_process_that_is_large_draws_no_figure(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another does, of what it leaves, which is as good; and what cannot be drawn is said."""
    monkeypatch.setattr(responding, "ROOM", 0)
    with Store.open(results) as store:
        whole = responding.respond(store, "/targets/uno/figure-tradeoff-crypto_aead.svg")
        left = responding.respond(store, "/targets/uno/figure-tradeoff-crypto_aead.svg", apart=True)
        assert responding.respond(store, "/targets/uno/uno-crypto_aead.csv", apart=True).draw is None
    assert (left.body, left.kind, left.state) == (b"", whole.kind, whole.state)
    asked = list[str]()

    async def made(self: object, pool: object, work: Callable[[], tuple[Kept, bool]]) -> tuple[Kept, bool]:
        asked.append(work.func.__name__)  # type: ignore[attr-defined]
        return (packed(left), False) if len(asked) == 1 else pickle.loads(pickle.dumps(work))()

    async def play() -> Kept | None:
        service = Makers(str(results))
        monkeypatch.setattr(asyncio.BaseEventLoop, "run_in_executor", made)
        monkeypatch.setattr(asyncio, "to_thread", lambda *_: asyncio.sleep(0))
        try:
            return await service.make("/targets/uno/figure-tradeoff-crypto_aead.svg", "")
        finally:
            monkeypatch.undo()
            service.close()

    kept = asyncio.run(play())
    assert kept is not None
    assert asked == ["make", "draw"]
    assert (kept.plain, kept.reply.digest, kept.reply.draw) == (whole.body, whole.digest, None)
    lost = responding.drawn(replace(left, draw=partial(int, "no figure")))
    assert (lost.status, lost.draw) == (500, None)


def test_what_is_only_made_anew_leaves_room_for_who_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    go = asyncio.Event()

    async def made(work: object) -> Kept:
        await go.wait()
        return packed(Reply(200, HTML, b"", "d", 1, 0.2))

    async def play() -> tuple[int, int]:
        service = Makers("/nowhere/results.db")
        monkeypatch.setattr(service._slow, "_make", made)
        try:
            anew = [asyncio.create_task(service.make(f"/targets/{k}", "", later=True)) for k in range(makers.WAITING)]
            await asyncio.sleep(0)
            waited = [asyncio.create_task(service.make(f"/rank/{k}", "")) for k in range(makers.WAITING)]
            await asyncio.sleep(0)
            go.set()
            done = [[r for r in await asyncio.gather(*some) if r is not None] for some in (anew, waited)]
            return len(done[0]), len(done[1])
        finally:
            service.close()

    assert asyncio.run(play()) == (makers.LATER, makers.WAITING - makers.LATER)


def test_whose_turn_does_not_come_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(makers, "_TURN", 0.02)
    go = asyncio.Event()

    async def made(work: object) -> Kept:
        await go.wait()
        return packed(Reply(200, HTML, b"", "d", 1, 0.2))

    async def play() -> list[bool]:
        service = Makers("/nowhere/results.db")
        monkeypatch.setattr(service._slow, "_make", made)
        try:
            first = asyncio.create_task(service.make("/rank", ""))
            await asyncio.sleep(0)
            late = await service.make("/tables", "")
            go.set()
            return [r is None for r in (await first, late, await service.make("/tables", ""))]
        finally:
            service.close()

    assert asyncio.run(play()) == [False, True, False]


@pytest.mark.parametrize(
    ("path", "query", "long"),
    [
        ("/feed.atom", "", False), ("/targets/uno/feed.atom", "", False), ("/compare", "old=a/x&new=b/y", False),
        ("/compare", "old=a*&new=b/y", True), ("/compare/comparison.csv", "old=a/x&new=b/y", True),
        ("/targets/uno", "", True), ("/variants/a/a.csv", "", True), ("/variants/a", "", False), ("/rank", "", True),
    ],
)  # fmt: skip
def test_which_pages_may_take_long(path: str, query: str, long: bool) -> None:
    assert makers.slow(path, query) is long


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
    assert ask(served, "/targets/u%0Ano", "POST").status == 405


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


def test_processes_make_pages_and_may_die(results: Path) -> None:
    service = Makers(str(results))

    async def visits() -> list[int]:
        codes = []
        for path in ("/", "/targets/uno", "/targets/uno/figure-tradeoff-crypto_aead.svg"):
            kept = await service.make(path, "")
            assert kept is not None
            codes.append(kept.reply.status)
        for maker in (service._quick, service._slow):
            for process in maker.pool._processes.values():
                os.kill(process.pid, signal.SIGKILL)  # type: ignore[arg-type]
        for path in ("/", "/targets/uno"):
            kept = await service.make(path, "")
            assert kept is not None
            codes.append(kept.reply.status)
        since = await service.since(0)
        assert since is not None
        return [*codes, since.runs[0][0]]

    try:
        assert asyncio.run(visits()) == [200, 200, 200, 200, 200, len(RECORDS)]
    finally:
        service.close()


def endless(v: View) -> Page:
    while True:
        pass


def stuck(v: View) -> Page:
    time.sleep(60)
    return Page("late", [])


def swallowing(v: View) -> Page:
    """What readers of files do with errors of theirs."""
    while True:
        with suppress(Exception):
            endless(v)


def slowed(v: View) -> Page:
    """What a page is on a machine that has other things to do."""
    time.sleep(1.2)
    return Page("Slowed", [])


@pytest.mark.parametrize(
    ("does", "limits", "status", "says"),
    [
        (endless, {"SECONDS": 1}, 503, b"takes too long"),
        (stuck, {"LONGEST": 1}, 503, b"takes too long"),
        (swallowing, {"SECONDS": 1}, 503, b"takes too long"),
        (slowed, {"SECONDS": 1}, 200, b"Slowed"),
    ],
)
def test_a_page_that_takes_too_long_is_given_up(
    results: Path, monkeypatch: pytest.MonkeyPatch, does: Callable[[View], Page], limits: dict[str, int], status: int,
    says: bytes,
) -> None:  # fmt: skip
    monkeypatch.setitem(pages.ROUTES, ("claims",), pages.Route(does))  # type: ignore[arg-type]
    for name, seconds in limits.items():
        monkeypatch.setattr(makers, name, seconds)
    for late in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(late, makers._late)
    kept, _ = makers.make(str(results), "/claims", "")
    assert kept.reply.status == status
    assert says in kept.plain
    assert kept.reply.kind == HTML


def test_too_many_are_told_to_come_back(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Busy(Here):
        async def make(self, path: str, query: str, sent: bytes = b"", *, later: bool = False) -> Kept | None:
            return None

    busy = Busy(str(results))
    reply = ask(app.create(busy), "/")
    busy.close()
    assert (reply.status, reply.headers["retry-after"]) == (503, "5")


def test_the_server_has_no_database_in_memory_and_takes_its_makers_with_it(results: Path) -> None:
    """It shares a bound of memory with them. Killed, it leaves none of them behind."""
    port = _port()
    with _started("serve", "--port", str(port), "--db", str(results), "--submissions", "--target", "uno") as process:
        assert process.stderr is not None
        assert f":{port}/" in process.stderr.readline()
        assert request(f"http://127.0.0.1:{port}", "/").status == 200
        mapped = Path(f"/proc/{process.pid}/maps").read_text()
        assert "python" in mapped
        assert not [name for name in ("sqlalchemy", "_sqlite3", "vl_convert") if name in mapped]
        others = below(process.pid)
        assert len(others) > 2
        process.kill()
        process.wait()
        deadline = time.monotonic() + 60
        while left := [p for p in others if running(p)]:
            assert time.monotonic() < deadline, left
            time.sleep(0.1)


def below(process: int) -> list[int]:
    """All that a process and its children started."""
    children = [int(c) for c in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return [*children, *(p for c in children for p in below(c))]


def running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


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


def test_who_only_takes_time_is_told_to_come_back(results: Path) -> None:
    class Slow(Here):
        async def take(self, sent: Sent) -> Kept | None:
            return packed(Reply(400, "text/plain", b"no", seconds=app.IN_VAIN))

    slow = Slow(str(results), Taking(("uno",), Quota()))
    made = app.create(slow)
    said = [ask(made, "/submissions", "POST", b"x").status for _ in range(3)]
    slow.close()
    assert said == [400, 400, 429]


def test_names_of_licence_files_are_shown_as_they_can_be() -> None:
    found = lint.lint(zipped(**{"crypto_aead/x/LICENSE\x1b[2J": "MIT"}), "x.zip")
    assert found.licences == ("crypto_aead/x/LICENSE\\x1b[2J",)


def test_a_zip_is_looked_through_in_time(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(makers, "LOOKING", 1)
    monkeypatch.setattr(lint, "discover", lambda *_, **__: endless(None))  # type: ignore[arg-type]
    signal.signal(signal.SIGPROF, makers._late)
    sent = Sent("/api/v1/submissions", "licence=CC0&name=a.zip", b"x", "application/zip", "::1")
    kept, _ = makers.take(str(results), sent, Taking(("uno",), Quota()))
    assert (kept.reply.status, b"a.zip takes too long to look through" in kept.plain) == (400, True)
    assert kept.reply.seconds > 0.5
