"""The API: it answers as the database does, in parts as in one piece, and refuses what it does not know."""

from __future__ import annotations

import gzip
import json
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote, urlencode

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from steelyard.cli.submit import _ended, _records, _shown
from steelyard.model.metric import metric_names
from steelyard.model.record import Verification
from steelyard.model.row import CONTEXT
from steelyard.store import Store
from steelyard.store.errors import StoreError, StoreFailure
from steelyard.web import api, remote, wire
from steelyard.web.hired import HttpQueue
from steelyard.web.respond import respond
from steelyard.web.wirework import DEEDS
from tests.cli.conftest import Cli
from tests.made_up import other_build, record
from tests.store.servers import _port
from tests.web.conftest import RECORDS

#: besides: two toolchains of one version, answers of an unknown variant that others share, and an odd name
MORE = [
    other_build(record("toy3/ref", digest="3", cycles=1.1)),
    *(
        replace(record(f"odd/{n}", digest=d), verification=Verification("package", 3, 0, 0, "f" * 64))
        for n, d in (("a b", "8"), ("\u00fc\\udc00", "9"))
    ),
]
QUESTIONS = [
    "list runs", "list runs --json", "list runs --format csv", "publish", "publish --json", "publish --format csv",
    "publish toy1 -c label,rom,ram,encrypt@16/64 --sort=-rom", "publish --all-runs -c run,finished,compiler",
    "publish --pivot target -c rom", "publish -c encrypt@1/1", "publish nothing-like-it", "publish 3 5",
    "publish --format felics.json", "rank", "rank --kind pareto", "rank --relative-to toy2 --by rom", "show 1",
    "show 1 --json", "show 1 --log", "show 2 --log", "show 14", "show 999", "compare toy1/ref toy2/ref",
    "plot rom --format vl.json", "choose -t uno --mlen 16 --adlen 16", "choose -t uno --mlen 3 --adlen 5 --json",
    "publish --where target==uno", "publish --where rom<850",
]  # fmt: skip


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("api") / "results.db"
    with Store.open(path) as store:
        log = store.put_blob("what the compiler said\n")
        for k, r in enumerate((*RECORDS, *MORE)):
            store.add(replace(r, log="" if k else log))
    return path


@pytest.fixture(scope="module")
def server(database: Path) -> Iterator[str]:
    """``steelyard serve`` as a user starts it."""
    port = _port()
    command = [sys.executable, "-m", "steelyard", "serve", "--port", str(port), "--db", str(database)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert f"http://127.0.0.1:{port}/" in process.stderr.readline()
        yield f"http://127.0.0.1:{port}"
        process.send_signal(signal.SIGINT)
        process.wait(60)


@pytest.fixture(scope="module")
def store(database: Path) -> Iterator[Store]:
    with Store.open(database) as opened:
        yield opened


@pytest.mark.parametrize("small", [False, True])
def test_a_server_answers_as_its_database(
    cli: Cli, server: str, database: Path, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In parts of three runs too: to the letter, with what is said besides, and the exit code."""
    if small:
        monkeypatch.setattr(wire, "RowsAsked", partial(wire.RowsAsked, limit=3))
        monkeypatch.setattr(wire, "RunsAsked", partial(wire.RunsAsked, limit=3))
        monkeypatch.setattr(wire, "MOST_NAMED", 3)
    for question in QUESTIONS:
        mine, theirs = (cli([*question.split(), "--db", db]) for db in (str(database), server))
        assert (theirs.code, theirs.out, theirs.err) == (mine.code, mine.out, mine.err), question
    assert mine.out
    monkeypatch.setenv("STEELYARD_DB", "nowhere.db")
    assert cli(["--server", server, *question.split()]).out == mine.out


def test_a_port_that_is_taken_is_said_once(cli: Cli, database: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        got = cli(f"serve --port {port} --db {database}")
    assert (got.code, got.err.count(str(port)), "give another --port" in got.err) == (2, 1, True), got.err


def test_parts_are_as_of_one_run(database: Path, tmp_path: Path) -> None:
    """What is stored between two parts is in none, and takes nothing away that it replaces."""
    copy = tmp_path / "copy.db"
    with Store.open(copy) as store:
        for r in RECORDS:
            store.add(r)
        whole = store.rows(metrics=["rom"])
        asked = wire.RowsAsked(limit=4, metrics=("rom",))
        found: list[object] = []
        while True:
            part = msgspec.json.decode(
                respond(store, "/api/v1/rows", sent=msgspec.json.encode(asked)).body, type=wire.Rows
            )
            found += part.columns.get("run", ())
            store.add(RECORDS[len(found) % len(RECORDS)])
            if part.before is None:
                break
            asked = msgspec.structs.replace(asked, last=part.last, before=part.before)
        assert found == [r["run"] for r in whole]
        assert len(store.rows(newest_only=False)) > len(RECORDS)


def test_the_document_says_what_is_there(server: str) -> None:
    with urllib.request.urlopen(f"{server}/api/v1/openapi.json") as answer:
        document = json.load(answer)
    assert document["openapi"].startswith("3.1")
    hand_in = document["paths"].pop("/api/v1/submissions")["post"]
    assert [p["name"] for p in hand_in["parameters"] if p["required"]] == ["licence"]
    for deed in DEEDS:
        said = document["paths"].pop(f"/api/v1/work/{deed}")["post"]
        assert said["security"] == [{"worker": []}]
    assert set(document["paths"]) == set(map(api.address, api.ROUTES))

    def references(of: Any) -> Iterator[str]:
        if isinstance(of, dict):
            yield from ([of["$ref"]] if isinstance(of.get("$ref"), str) else [])
            for value in of.values():
                yield from references(value)
        elif isinstance(of, list):
            for value in of:
                yield from references(value)

    found = set(references(document))
    assert found
    for name in found:
        assert name.removeprefix("#/components/schemas/") in document["components"]["schemas"]
    ids = [op["operationId"] for path in document["paths"].values() for op in path.values()]
    assert len(ids) == len(set(ids))
    del document["paths"]["/api/v1/submissions/{link}"]  # which is answered where something was handed in
    for path, said in document["paths"].items():  # each is answered, with its required parameters
        needed = {p["name"]: "1" for p in said["get"]["parameters"] if p["required"] and p["in"] == "query"}
        with urllib.request.urlopen(f"{server}{path.replace('{run}', '1')}?{urlencode(needed)}") as answer:
            assert answer.status == 200
            assert answer.headers["content-type"] in said["get"]["responses"]["200"]["content"] or path.endswith("log")


@pytest.mark.parametrize(
    ("path", "query", "body", "status", "said"),
    [
        ("rows", "limt=3", b"", 400, "did you mean limit"),
        ("rows", "", b'{"limt": 3}', 400, "did you mean limit"),
        ("rows", "limit=5001", b"", 400, "limit: expected `int` <= 5000"),
        ("rows", "limit=3&limit=4", b"", 400, "twice"),
        ("rows", "limit=3", b'{"limit": 3}', 400, "choose one"),
        ("rows", "metrics=rom,romm", b"", 400, "did you mean rom"),
        ("rows", "points=encrypt", b"", 400, "encrypt@16/64"),
        ("rows", "metrics=all&points=" + "encrypt@1/1," * 301, b"", 400, "points: expected `array` of length <= 300"),
        ("rows/named", "runs=1&metrics=" + "rom," * 301, b"", 400, "metrics"),
        ("tables", "", b'{"sort": "%s"}' % b",".join(b"hash@0/%d" % n for n in range(200)), 400, "metrics and points"),
        ("rows", "", b"[" * 5000, 400, ""),
        ("rows", "", b"\xff", 400, "not JSON"),
        ("rows", "", b'{"limit": "3"}', 400, "limit"),
        ("rows", "a=1&" * 60, b"", 400, "more than 50"),
        ("points", "", b"", 400, "runs: missing"),
        ("points", "runs=1" + ",1" * 200, b"", 400, "runs"),
        ("points", "runs=-1", b"", 400, "runs"),
        ("tabels", "", b"", 404, "did you mean tables"),
        ("runs/x", "", b"", 404, "number of a run"),
        ("runs/1.0", "", b"", 404, "number of a run"),
        ("runs/9999", "", b"", 404, "no run 9999"),
        ("runs/1", "all=1", b"", 400, "unknown parameter"),
        ("tables", "where=rom+%3C%3C", b"", 400, ""),
        ("tables", "columns=romm", b"", 400, "rom"),
        ("../v2/rows", "", b"", 404, "version v1"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused(store: Store, path: str, query: str, body: bytes, status: int, said: str) -> None:
    address = "/api/v2/rows" if path.startswith("..") else f"/api/v1/{path}"
    reply = respond(store, address, query, body)
    assert (reply.status, reply.kind) == (status, api.JSON)
    assert said in msgspec.json.decode(reply.body, type=wire.Refusal).error


def test_a_table_has_a_bound(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MOST_CELLS", 20)
    assert "cells" in msgspec.json.decode(respond(store, "/api/v1/tables").body, type=wire.Refusal).error
    assert respond(store, "/api/v1/tables", "what=toy3&columns=rom").status == 200


def test_rows_have_a_bound_of_cells(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many columns are asked for: parts have fewer rows then, and are one reading."""
    whole = msgspec.json.decode(respond(store, "/api/v1/rows").body, type=wire.Rows)
    monkeypatch.setattr(wire, "MOST_CELLS", 1000)
    asked: Any = wire.RowsAsked(metrics="all", points=("encrypt@16/64",) * 100)
    parts: list[tuple[object, ...]] = []
    while asked is not None:
        body = respond(store, "/api/v1/rows", sent=msgspec.json.encode(asked)).body
        part = msgspec.json.decode(body, type=wire.Rows)
        parts.append(part.columns.get("run", ()))
        more = {"last": part.last, "before": part.before}
        asked = None if part.before is None else replace(asked, **more)
    assert max(map(len, parts)) == 1000 // (len(CONTEXT) + len(metric_names()) + 100), "columns without rows count too"
    assert tuple(run for part in parts for run in part) == whole.columns["run"]


def test_a_body_has_a_bound(server: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{server}/api/v1/rows", b'{"flags": "' + b"x" * (256 << 10) + b'"}')
    assert refused.value.code == 413
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(f"{server}/api/v1/rows", method="DELETE"))
    assert refused.value.code == 405


def test_results_of_a_server_are_read_only(cli: Cli, server: str) -> None:
    for command in ("run nocrypt -t uno", "db check", f"db copy {server} other.db", "site out"):
        result = cli([*command.split(), *([] if "copy" in command else ["--db", server])])
        assert result.code, command
        assert "Traceback" not in result.err
        assert "database" in result.err
    gone = cli(["list", "runs", "--db", "http://127.0.0.1:9/"])
    assert gone.code == 3
    assert "steelyard serve" in gone.err
    assert cli(["list", "runs", "--db", "http:///x?y"]).code == 2
    wrong = cli(["show", "1", "--db", f"{server}/targets"])
    assert wrong.code
    assert "steelyard serve" in wrong.err


_PARAMETERS = sorted({name for route in api.ROUTES.values() for name in route.asked.__struct_fields__})
_TEXTS = st.one_of(
    st.text(max_size=20), st.integers().map(str), st.sampled_from(["all", "rom", "uno", "yes", "null", "encrypt@0/16"])
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.sampled_from(sorted(api.ROUTES)),
    number=_TEXTS,
    asked=st.lists(st.tuples(st.one_of(st.sampled_from(_PARAMETERS), st.text(max_size=5)), _TEXTS), max_size=4),
    in_body=st.booleans(),
)
def test_any_question_is_answered_or_refused(
    store: Store, words: tuple[str, ...], number: str, asked: list[tuple[str, str]], in_body: bool
) -> None:
    path = api.address([quote(number, safe="") or "~" if w.startswith("{") else w for w in words])
    pairs = [(n.encode(errors="surrogatepass"), v.encode(errors="surrogatepass")) for n, v in asked]
    body = json.dumps(dict(asked)).encode() if in_body else b""
    reply = respond(store, path, "" if in_body else urlencode(pairs), body)
    route = api.ROUTES[words]
    assert reply.status in (200, 400, 404), reply.body
    if reply.status == 200 and route.gives:
        msgspec.json.decode(reply.body, type=route.gives)
    elif reply.status != 200:
        assert msgspec.json.decode(reply.body, type=wire.Refusal).error


class Answers(BaseHTTPRequestHandler):
    """A server that says what it was told to; see :func:`saying`."""

    said: ClassVar[list[tuple[int, dict[str, str], bytes]]] = []
    heard: ClassVar[list[dict[str, str]]] = []

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.heard.append({"path": self.path, **{n.lower(): v for n, v in self.headers.items()}})
        status, headers, content = self.said[min(len(self.heard), len(self.said)) - 1]
        self.send_response(status)
        for name, value in {"content-length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def saying(*said: tuple[int, dict[str, str], bytes]) -> Iterator[str]:
    """The address of a server that says this, one after the other, and goes on with the last."""
    Answers.said, Answers.heard = list(said), []
    with HTTPServer(("127.0.0.1", 0), Answers) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}"
        listening.shutdown()


def test_a_key_goes_nowhere_else() -> None:
    for status in (301, 302, 307, 308):
        with saying((status, {"location": "http://other.example/x/api/v1/work/take"}, b"")) as url:
            with (
                pytest.raises(StoreError, match=r"moved to http://other.example/x; give that address"),
                HttpQueue(url, "key", "one").taken(["uno"]),
            ):
                pass
            assert len(Answers.heard) == 1


@pytest.mark.parametrize("pause", ["9" * 5000, "soon", "-1", "٣"])
def test_a_refusal_has_a_reason(pause: str) -> None:
    for kind, said in (("text/plain", b" "), ("application/json", b'{"error": ""}'), ("text/html", b"")):
        headers = {"retry-after": pause.encode().decode("latin-1"), "content-type": kind}
        with saying((503, headers, said)) as url, pytest.raises(StoreFailure, match="status 503; see that"):
            remote.Server(url).sent("/")


def test_parts_that_do_not_end_are_refused(store: Store) -> None:
    whole = msgspec.json.decode(respond(store, "/api/v1/rows", "metrics=rom").body)
    for name, before in (("rows", 5), ("rows", 2**40), ("runs", 5)):
        said = {"columns": whole["columns"], "runs": [], "last": 14, "before": before}
        with saying((200, {}, json.dumps(said).encode())) as url, pytest.raises(StoreFailure, match="no end"):
            getattr(remote.Remote(url), name)()
        assert len(Answers.heard) <= 2


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
    | st.sampled_from(["/../..", 2**63, 1e308, -1, [[[]]]]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@st.composite
def _changed(draw: st.DrawFn, value: Any) -> Any:
    """A document with another value, or without one, at some place."""
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 5)) == 0:
        return draw(_JSON)
    at = draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
    made = value.copy()
    if draw(st.integers(0, 3)) == 0:
        del made[at]
    else:
        made[at] = draw(_changed(value[at]))
    return made


def _taken(queue: HttpQueue) -> None:
    with queue.taken(["uno"]):
        pass


#: what is read of a server, with the address whose answer it is made of
_READ: list[tuple[str, Callable[[str], object]]] = [
    ("rows?metrics=rom", lambda url: remote.Remote(url).rows(metrics=["rom"])),
    ("rows/named?runs=1,2&metrics=rom", lambda url: remote.Remote(url).rows_of([1, 2], ["rom"])),
    ("runs?limit=3", lambda url: remote.Remote(url).runs()),
    ("runs/1", lambda url: remote.Remote(url).get(1)),
    ("runs/1", lambda url: remote.Remote(url).records([1, 2])),
    ("points?runs=1", lambda url: remote.Remote(url).cycles([1], "encrypt")),
    ("details?runs=1", lambda url: remote.Remote(url).details([1])),
    ("made", lambda url: remote.Remote(url).made()),
    ("targets", lambda url: remote.Remote(url).targets()),
    ("", lambda url: remote.Remote(url).last()),
    ("work", lambda url: _taken(HttpQueue(url, "key", "one"))),
    ("left", lambda url: HttpQueue(url, "key", "one").left(["uno"])),
    ("present", lambda url: HttpQueue(url, "key", "one").present(("uno",), ())),
    ("taken", lambda url: remote.Server(url).asked((), wire.Taken)),
    ("submission", lambda url: _ended(remote.Server(url), "x")),
]
_TABLE = {
    "title": "t", "label": "t", "columns": [{"name": n, "title": n, "digits": None} for n in ("run", "state")],
    "lines": [{"cells": [1, "done"], "runs": [1]}], "notes": [],
}  # fmt: skip
_TASK = dict.fromkeys(("package", "file", "primitive", "family", "variant", "name", "digest", "target"), "")
#: answers that no reader gets
_SAID: dict[str, object] = {
    "work": {
        "taken": {"number": 1, "lease": 1, "attempt": 1, "task": {**_TASK, "flags": ["-O3"], "workload": ""},
                  "content": ""}
    },
    "left": {"left": True},
    "present": {"boards": ["one"]},
    "taken": {
        "link": "/submissions/0123456789", "known": False,
        "found": {"implementations": [], "rejected": [], "licences": []},
    },
    "submission": {"name": "", "state": "", "runs": _TABLE, "tables": [_TABLE], "changes": [], "changed": []},
}  # fmt: skip


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), which=st.sampled_from(_READ))
def test_any_answer_is_read_or_refused(store: Store, data: st.DataObject, which: tuple[str, Any]) -> None:
    """Of a faulty server, or of a stranger's: nothing but what a user is told."""
    name, read = which
    path, _, query = f"/api/v1/{name}".rstrip("/").partition("?")
    honest = _SAID[name] if name in _SAID else msgspec.json.decode(respond(store, path, query).body)
    drawn = data.draw(st.just(honest) | _changed(honest))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote.Server, "sent", lambda *_: json.dumps(drawn).encode())
        changed = json.dumps(drawn) != json.dumps(honest)  # Python's True is 1
        with suppress(StoreError) if changed or name == "runs?limit=3" else nullcontext():
            found = read("http://127.0.0.1:9")
            if isinstance(found, wire.Submission):
                for table in (found.runs, *found.tables):
                    _records(_shown(table))
            if isinstance(found, list) and name.startswith("rows"):
                assert all(r.keys() >= CONTEXT.keys() and type(r["run"]) is int for r in found)


def test_an_answer_is_bounded_when_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a stranger's server may send it: a small file that holds a huge one, half of one, or none."""
    monkeypatch.setattr(remote, "LARGEST", 1 << 20)
    large = gzip.compress(bytes(64 << 20))

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            fits = gzip.compress(b"fits")
            said = {"/fits": fits, "/large": large, "/half": fits[:-4], "/none": b"none"}[self.path]
            self.send_response(200)
            self.send_header("content-encoding", "gzip")
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

    with HTTPServer(("127.0.0.1", 0), Answers) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        server = remote.Server(f"http://127.0.0.1:{listening.server_port}")
        assert server.sent("/fits") == b"fits"
        with pytest.raises(StoreFailure, match="more than 1 MiB; choose less"):
            server.sent("/large")
        for path in ("/half", "/none"):
            with pytest.raises(StoreFailure, match="see that steelyard serve runs there"):
                server.sent(path)
        listening.shutdown()
