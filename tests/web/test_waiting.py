"""That no page makes others wait or ends the server: what takes long, what takes too long, and processes that die."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.store import Store
from steelyard.store.quota import Quota
from steelyard.web import app, lint, makers, pages
from steelyard.web import respond as responding
from steelyard.web.kept import Kept, packed
from steelyard.web.makers import Here, Makers
from steelyard.web.news import Since
from steelyard.web.page import Page
from steelyard.web.pages import View
from steelyard.web.reply import HTML, Reply, Sent, Taking
from tests.store.handed_in import handed_in
from tests.store.servers import _port
from tests.web.conftest import RECORDS, ask
from tests.web.handing_in import launched, request


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


def test_a_version_that_goes_back_is_on_pages_though_no_run_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its zip was handed in before: runs have other names, and that is all."""
    monkeypatch.setattr(app, "LOOK", 0.0)
    monkeypatch.setattr(app, "PATIENCE", 60.0)
    with Store.open(tmp_path / "results.db") as store:
        second = handed_in(store, "b", handed_in(store, "a"))
        service = app.Service(Here(str(tmp_path / "results.db")))

        async def shown() -> bytes:
            kept = await service.answer("/variants/toy1", "")
            assert kept is not None
            return kept.plain

        async def visits() -> list[bytes]:
            bodies = [await shown()]
            handed_in(store, "a", second)
            return [*bodies, await shown()]

        before, after = asyncio.run(visits())
        service.makers.close()
    assert [b">98<" in before, b">97<" in before] == [b">97<" in after, b">98<" in after] == [True, False]


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


def test_news_come_though_a_process_dies_or_is_replaced(results: Path) -> None:
    """Also where all pages are kept, so that nobody asks for one."""
    service = Makers(str(results))

    async def heard(deadline: float) -> bool:
        while (since := await service.since(0)) is None and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        return since is not None

    async def play() -> list[bool]:
        found = [await heard(0)]
        for process in service._quick.pool._processes.values():
            os.kill(process.pid, signal.SIGKILL)  # type: ignore[arg-type]
        found.append(await heard(time.monotonic() + 60))
        large = asyncio.create_task(service._quick.make(grown))
        while not large.done():
            found.append(await heard(0))
        return [*found, await heard(0)]

    try:
        assert all(asyncio.run(play()))
    finally:
        service.close()


def grown() -> tuple[Kept, bool]:
    return packed(Reply(200, HTML, b"large")), True


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
    with launched("serve", "--port", str(port), "--db", str(results), "--submissions", "--target", "uno") as process:
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


def test_who_only_takes_time_is_told_to_come_back(results: Path) -> None:
    class Slow(Here):
        async def take(self, sent: Sent) -> Kept | None:
            return packed(Reply(400, "text/plain", b"no", seconds=app.IN_VAIN))

    slow = Slow(str(results), Taking(("uno",), Quota()))
    made = app.create(slow)
    said = [ask(made, "/submissions", "POST", b"x").status for _ in range(3)]
    slow.close()
    assert said == [400, 400, 429]


def test_a_zip_is_looked_through_in_time(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(makers, "LOOKING", 1)
    monkeypatch.setattr(lint, "discover", lambda *_, **__: endless(None))  # type: ignore[arg-type]
    signal.signal(signal.SIGPROF, makers._late)
    sent = Sent("/api/v1/submissions", "licence=CC0&name=a.zip", b"x", "application/zip", "::1")
    kept, _ = makers.take(str(results), sent, Taking(("uno",), Quota()))
    assert (kept.reply.status, b"a.zip takes too long to look through" in kept.plain) == (400, True)
    assert kept.reply.seconds > 0.5
