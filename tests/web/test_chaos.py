"""What goes wrong around a server: nothing that was acknowledged is lost, nothing is done twice, and it is said."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from msgspec.structs import replace
from sqlalchemy import URL, event, func, select
from uvicorn.server import ServerState

from steelyard import __version__
from steelyard.farm import worker
from steelyard.store import Store, schema
from steelyard.store.operators import Operators
from steelyard.store.quota import Quota
from steelyard.store.submissions import Desk
from steelyard.web import app, idle, upload
from steelyard.web.makers import Here
from steelyard.web.reply import Taking
from tests.made_up import record
from tests.store.conftest import servers
from tests.store.handed_in import GIVEN, ROOM, tasks
from tests.store.servers import _port, emptied

from .conftest import ask
from .handing_in import Got, form, launched, package, request, zipped

__all__ = ["servers"]
API = "#define CRYPTO_KEYBYTES 16\n#define CRYPTO_NSECBYTES 0\n#define CRYPTO_NPUBBYTES 16\n#define CRYPTO_ABYTES 16\n"
TAKING = Taking(("uno",), Quota())


class Cut:
    """A cable to a database's server that can be cut and mended."""

    def __init__(self, to: tuple[str, int]) -> None:
        self._to, self._whole, self._open = to, True, set[socket.socket]()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                one, _ = self._listener.accept()
                if not self._whole:
                    one.close()
                    continue
                other = socket.create_connection(self._to)
                self._open |= {one, other}
                for a, b in ((one, other), (other, one)):
                    threading.Thread(target=self._pump, args=(a, b), daemon=True).start()

    def _pump(self, a: socket.socket, b: socket.socket) -> None:
        with suppress(OSError):
            while data := a.recv(1 << 16):
                b.sendall(data)
        for s in (a, b):
            with suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
            s.close()
            self._open.discard(s)

    def cut(self) -> None:
        self._whole = False
        for s in list(self._open):
            with suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._whole = True

    def close(self) -> None:
        self.cut()
        self._listener.close()


@pytest.fixture
def cable(servers: Callable[[str], URL]) -> Iterator[tuple[Cut, str]]:
    url = emptied(servers("postgresql"))
    made = Cut((url.host or "", url.port or 0))
    yield made, url.set(port=made.port).render_as_string(hide_password=False)
    made.close()


def test_a_database_that_is_gone_for_a_while(cable: tuple[Cut, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a run: its result waits for the database, and is not made again; pages say so and come back."""
    cut, url = cable
    here = Here(url, TAKING)
    served = app.create(here)
    over, said, weighed = threading.Event(), list[Any](), list[str]()

    def weigh(self: Any, job: Any) -> Any:
        weighed.append(job.target)
        if len(weighed) == 1:
            cut.cut()
        return record("toy1/ref", target=job.target)

    def job(taken: Any, *_: object) -> Any:
        return SimpleNamespace(target=taken.task.target, implementation=SimpleNamespace(digest="d"))

    monkeypatch.setattr(worker, "_job", job)
    monkeypatch.setattr(worker.Pipeline, "weigh", weigh)
    monkeypatch.setattr(worker, "LOOK", 0.1)
    try:
        with Store.open(url) as store:
            token = Desk(store).hand_in(GIVEN, tasks(), ROOM)
        with Store.open(url) as store:
            thread = threading.Thread(target=worker.work, args=(store, "ab", said.append, over))
            thread.start()
            deadline = time.monotonic() + 60
            while not said and time.monotonic() < deadline:
                time.sleep(0.05)
            assert ask(served, f"/submissions/{token}").status == 503
            assert ask(served, "/targets").status == 503
            cut.mend()
            while sum(isinstance(s, worker.Done) for s in said) < 2 and time.monotonic() < deadline:
                time.sleep(0.05)
            over.set()
            thread.join(60)
        assert [s.state for s in said if isinstance(s, worker.Done)] == ["done", "done"]
        assert weighed == ["a", "b"], "each once"
        assert "2 runs: 2 done" in ask(served, f"/submissions/{token}").text
        with Store.open(url) as store, store._engine.connect() as connection:
            assert connection.execute(select(func.count()).select_from(schema.lease)).scalar() == 0
            assert connection.execute(select(func.max(schema.job.c.attempts))).scalar() == 1
    finally:
        over.set()
        here.close()


def test_a_full_disk_takes_nothing_by_half(tmp_path: Path) -> None:
    """A submission that does not fit is refused, nothing of it is left, and what was there stays readable."""
    here = Here(str(tmp_path / "r.db"), TAKING)
    served, room = app.create(here), [0]

    @event.listens_for(here._store._engine, "checkout")
    def limit(connection: Any, *_: Any) -> None:
        connection.execute(f"PRAGMA max_page_count = {room[0] or 1 << 30}")

    def hand_in(content: bytes) -> Any:
        body, kind = form(package=("toy.zip", content), licence="MIT", rights="yes")
        return ask(served, "/submissions", "POST", body, content_type=kind)

    try:
        first = hand_in(package())
        assert first.status == 303
        with closing(sqlite3.connect(tmp_path / "r.db")) as file:
            (room[0],) = file.execute("PRAGMA page_count").fetchone()
        large = zipped(
            crypto_aead__toy__ref__api_h=API, crypto_aead__toy__ref__encrypt_c=f"/* {os.urandom(200_000).hex()} */\n"
        )
        refused = hand_in(large)
        assert (refused.status, "disk is full" in refused.text) == (507, True), refused.text
        assert ask(served, first.headers["location"]).status == 200
        with here._store._engine.connect() as connection:
            for table in (schema.package, schema.submission, schema.job):
                assert connection.execute(select(func.count()).select_from(table)).scalar() == 1
        assert here._store.orphans() == []
        room[0] = 0
        assert hand_in(large).status == 303
    finally:
        here.close()


def test_an_upload_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One byte now and then, for ever: it is told so, and its place is another's."""
    monkeypatch.setattr(upload, "PATIENT", 0.2)
    here = Here(str(tmp_path / "r.db"), TAKING)
    served = app.create(here)
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": "/submissions", "raw_path": b"/submissions", "query_string": b"", "root_path": "",
        "headers": [(b"content-type", b"multipart/form-data; boundary=x")], "client": ("10.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }  # fmt: skip
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    for _ in range(app.OF_ONE + 1):
        sent.clear()
        asyncio.run(served(scope, receive, send))  # type: ignore[arg-type]
        assert sent[0]["status"] == 408
        assert b"to send" in sent[1]["body"]
    here.close()


def test_connections_that_ask_nothing_give_their_places_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Silent from the beginning, in the middle of a head, and after an answer; one that takes no answer too. The log
    says of whom nonsense is, and no more."""
    monkeypatch.setattr(idle, "SILENT", 0.2)
    monkeypatch.setattr(idle, "WHOLE", 0.4)
    stuck = asyncio.Event()

    async def answers(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/stuck":
            await stuck.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    config = uvicorn.Config(
        answers, port=_port(), http=idle.Protocol, lifespan="off", limit_concurrency=8, log_config=None
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        deadline = time.monotonic() + 60
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.02)
        head = b"GET /%s HTTP/1.1\r\nhost: x\r\n"
        odd = (head % b"" + b"connection: upgrade\r\nupgrade: websocket\r\n\r\n", b"?\r\n\r\n")
        for said in (b"", head % b"", head % b"" + b"\r\n" + head % b"", head % b"stuck" + b"\r\n", *odd):
            with socket.create_connection(("127.0.0.1", config.port), timeout=60) as one:
                one.sendall(said)
                with suppress(ConnectionResetError):
                    while one.recv(1 << 16):
                        pass
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join(60)
    warned = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert warned == ["127.0.0.1: Invalid HTTP request received."]


@pytest.mark.parametrize(
    ("host", "counted"),
    [("192.0.2.7", True), ("2001:db8::1", True), ("fe80::1%eth0", True), ("127.0.0.1", False), ("::1", False),
     ("::ffff:127.0.0.1", False), ("::ffff:192.0.2.7", True), ("", False)],
)  # fmt: skip
def test_an_address_has_so_many_connections_and_no_more(
    host: str, counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for this machine's, which a proxy has."""

    class Far:
        """A connection's other end."""

        ended = False

        def get_extra_info(self, name: str) -> object:
            return {"peername": (host, 4711)}.get(name)

        def abort(self) -> None:
            self.ended = True

        def is_closing(self) -> bool:
            return self.ended

        def close(self) -> None: ...

    monkeypatch.setattr(idle, "MOST", 3)

    async def connected() -> None:
        async def answers(scope: Any, receive: Any, send: Any) -> None: ...

        config = uvicorn.Config(answers, lifespan="off", log_config=None)
        config.load()
        state = ServerState()
        made = [(idle.Protocol(config, state, {}), Far()) for _ in range(6)]
        for protocol, far in made[:4]:
            protocol.connection_made(far)  # type: ignore[arg-type]
        assert [far.ended for _, far in made[:4]] == [False] * 3 + [counted]
        for protocol, _ in made[2:4]:
            protocol.connection_lost(None)
        for protocol, far in made[4:]:
            protocol.connection_made(far)  # type: ignore[arg-type]
        assert [far.ended for _, far in made[4:]] == [False, counted]
        for protocol, _ in (*made[:2], *made[4:]):
            protocol.connection_lost(None)
        assert not idle.Protocol.of_address

    asyncio.run(connected())


class _Served:
    """``steelyard serve --submissions`` that may be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.database, self._port = folder / "results.db", _port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.start()

    def start(self) -> None:
        words = ("serve", "--port", str(self._port), "--db", str(self.database), "--submissions", "--target", "uno")
        self.process = launched(*words)
        assert self.process.stderr is not None
        said = self.process.stderr.readline()
        assert self.url in said, said

    def end(self, by: signal.Signals) -> None:
        self.process.send_signal(by)
        self.process.wait(60)
        if self.process.stderr is not None:
            self.process.stderr.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[_Served]:
    made = _Served(tmp_path)
    yield made
    made.end(signal.SIGINT)


def small(k: int) -> bytes:
    return zipped(crypto_aead__toy__ref__api_h=API, crypto_aead__toy__ref__encrypt_c=f"int n = {k};\n")


def hand_in(url: str, k: int) -> Got:
    """One of many, each from an address of its own."""
    body, kind = form(package=("toy.zip", small(k)), licence="MIT", rights="yes")
    return request(url, "/submissions", body, content_type=kind, x_forwarded_for=f"10.1.{k // 250}.{k % 250 + 1}")


def stored(database: Path) -> Counter[str]:
    with Store.open(database) as store, store._engine.connect() as connection:
        assert store.orphans() == []
        tables = (schema.submission, schema.package, schema.job)
        return Counter({t.name: connection.execute(select(func.count()).select_from(t)).scalar_one() for t in tables})


def test_what_a_server_acknowledged_survives_its_death(served: _Served) -> None:
    """By SIGKILL, while several hand in."""
    links: list[str] = []
    enough = threading.Event()

    def many(first: int) -> None:
        with suppress(OSError):
            for k in range(first, first + 100):
                got = hand_in(served.url, k)
                if got.status == 303:
                    links.append(got.headers["location"])
                if len(links) >= 6:
                    enough.set()

    with ThreadPoolExecutor(3) as pool:
        done = [pool.submit(many, 100 * k) for k in range(3)]
        assert enough.wait(120)
        served.end(signal.SIGKILL)
        for d in done:
            with suppress(Exception):  # of who was just answered
                d.result(60)
    with closing(sqlite3.connect(served.database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    count = stored(served.database)
    assert len(links) <= count["submission"] <= len(links) + 3
    assert count["submission"] == count["package"] == count["job"]
    served.start()
    for link in links:
        assert request(served.url, link).status == 200
    assert hand_in(served.url, 1000).status == 303


def test_large_uploads_at_once_are_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as are taken at once, all slow, none of which ends: the server does not grow, and nothing is left."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path))
    served, size = _Served(tmp_path), 8 << 20
    head = "POST /submissions HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=x\r\n"
    senders: list[socket.socket] = []

    def memory() -> int:
        return int(Path(f"/proc/{served.process.pid}/statm").read_text().split()[1]) * 4096

    def files() -> list[int]:
        return [f.stat().st_size for f in (tmp_path / "uploads").glob("*")]

    def until(what: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not what() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert what(), files()

    try:
        request(served.url, "/submissions")
        before = memory()
        for k in range(app.UPLOADS):
            senders.append(socket.create_connection(("127.0.0.1", served._port), timeout=60))
            senders[-1].sendall(f"{head}content-length: {size}\r\nx-forwarded-for: 10.2.0.{k}\r\n\r\n".encode())
            senders[-1].sendall(bytes(size - (64 << 10)))
        until(lambda: len(files()) == app.UPLOADS and sum(files()) > app.UPLOADS * (size - (1 << 20)))
        assert memory() - before < 24 << 20
        assert hand_in(served.url, 1).status == 503
        for one in senders:
            one.close()
        until(lambda: not files())
        assert hand_in(served.url, 2).status == 303
    finally:
        for one in senders:
            one.close()
        served.end(signal.SIGINT)


def test_what_nobody_knows_sends_little(tmp_path: Path) -> None:
    """A worker's key is known once it was good; until then a large result waits, and a stranger's is never read."""
    here = Here(str(tmp_path / "r.db"), TAKING)
    served, large = app.create(here), b'{"worker": "w"}' + b" " * (1 << 20)
    try:
        key = Operators(here._store).hire("m")
        said = b'{"worker":"w","version":"%s","targets":[],"boards":[]}' % __version__.encode()

        def work(deed: str, body: bytes, of: str) -> int:
            return ask(served, f"/api/v1/work/{deed}", "POST", body, authorization=f"Bearer {of}").status

        assert (work("close", large, key), work("close", large, "other")) == (503, 503)
        assert (work("present", said, "other"), work("close", large, "other")) == (401, 503)
        assert (work("present", said, key), work("close", large, key)) == (200, 400)
    finally:
        here.close()


@pytest.mark.long
def test_two_hundred_at_once(served: _Served) -> None:
    """Who is refused is told why and comes again; all are there in the end, once, and pages are shown meanwhile."""
    count, said, lock = 200, Counter[int](), threading.Lock()
    everybody = threading.Barrier(count)

    def one(k: int) -> str:
        everybody.wait(120)
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            with suppress(ConnectionError, TimeoutError):
                got = hand_in(served.url, k)
                with lock:
                    said[got.status] += 1
                if got.status == 303:
                    return got.headers["location"]
                assert (got.status, got.headers.get("retry-after")) == (503, "5"), got.text
            time.sleep(0.2)
        raise AssertionError(f"{k} was not taken")

    with ThreadPoolExecutor(count) as pool:
        waiting = [pool.submit(one, k) for k in range(count)]
        assert request(served.url, "/claims").status == 200
        links = {w.result(400) for w in waiting}
    assert len(links) == count
    assert said[303] == count
    assert said[503] > 0, "nobody was in anybody's way"
    assert set(stored(served.database).values()) == {count}


def test_a_clock_that_was_set_back_does_not_open_a_quota(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from steelyard.store import submissions
    from steelyard.store.submissions import QuotaError

    now = submissions.now
    with Store.open(tmp_path / "r.db") as store:
        Desk(store).hand_in(GIVEN, tasks(), Quota(of_address=1))
        monkeypatch.setattr(submissions, "now", lambda: now() - 7 * 86_400_000_000)
        with pytest.raises(QuotaError):
            Desk(store).hand_in(replace(GIVEN, content=b"other"), tasks(), Quota(of_address=1))
