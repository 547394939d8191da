"""Handing in: a server and workers as users start them, and what strangers send."""

from __future__ import annotations

import csv
import http.client
import io
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import msgspec
import pytest

from steelyard.farm import worker
from steelyard.model.paths import CIPHERS
from steelyard.sources import discover
from steelyard.sources.pack import pack
from steelyard.store import Store
from steelyard.store.errors import Refused
from steelyard.store.operating import Yard
from steelyard.store.quota import Quota
from steelyard.store.submissions import Desk
from steelyard.web import lint, multipart, wire
from steelyard.web.reply import Sent, Taking
from steelyard.web.submit import answer
from tests.cli.conftest import Cli, cli
from tests.conftest import the_target
from tests.made_up import record
from tests.store.servers import _port
from tests.web.conftest import RECORDS, Parsed, harmless, made

__all__ = ["cli"]
FOLDER = CIPHERS / "crypto_aead" / "tinyjambu" / "tinyjambu128v2" / "small"
MARKUP = "<script>alert(1)</script>"


class Got(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


def request(server: str, path: str, body: bytes | None = None, **headers: str) -> Got:
    """One request, without following where it leads."""
    at = urlsplit(server)
    connection = http.client.HTTPConnection(at.hostname or "", at.port, timeout=60)
    sent = {n.replace("_", "-"): v for n, v in headers.items()}
    connection.request("GET" if body is None else "POST", path, body, sent)
    answered = connection.getresponse()
    got = Got(answered.status, {n.lower(): v for n, v in answered.getheaders()}, answered.read())
    connection.close()
    return got


def form(**fields: Any) -> tuple[bytes, str]:
    """A form as browsers send it: texts, and files as pairs of name and bytes."""
    parts = []
    for name, value in fields.items():
        file, content = value if isinstance(value, tuple) else ("", value.encode())
        more = f'; filename="{file}"\r\ncontent-type: application/zip' if file else ""
        parts.append(f'--edge\r\ncontent-disposition: form-data; name="{name}"{more}\r\n\r\n'.encode() + content)
    return b"\r\n".join([*parts, b"--edge--\r\n"]), "multipart/form-data; boundary=edge"


def hand_in(server: str, content: bytes, name: str = "toy.zip", **more: str) -> Got:
    body, kind = form(package=(name, content), **{"licence": "MIT", "rights": "yes", **more})
    return request(server, "/submissions", body, content_type=kind)


def zipped(**files: str | bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_h", ".h").replace("_c", ".c"), content)
    return out.getvalue()


def package(more: bytes = b"") -> bytes:
    """A bundled implementation as somebody would hand it in; ``more`` makes its sources others."""
    _, content = pack(FOLDER)
    if not more:
        return content
    old, out = zipfile.ZipFile(io.BytesIO(content)), io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in old.namelist():
            archive.writestr(name, old.read(name) + (more if name.endswith(".c") else b""))
    return out.getvalue()


class Service(NamedTuple):
    url: str
    database: Path


def _started(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "steelyard", *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """``steelyard serve --submissions`` as a user starts it."""
    database, port = tmp_path / "results.db", _port()
    made(database, *RECORDS).close()
    words = ("serve", "--port", str(port), "--db", str(database), "--submissions", "--target", "uno")
    with _started(*words) as process:
        assert process.stderr is not None
        assert f"http://127.0.0.1:{port}/" in process.stderr.readline()
        yield Service(f"http://127.0.0.1:{port}", database)
        process.send_signal(signal.SIGINT)
        process.wait(60)


def weighed(service: Service) -> None:
    """A worker takes all that waits."""
    with _started("work", "--db", str(service.database), "-t", "uno", "--until-empty") as process:
        assert process.stderr is not None
        assert process.wait(300) == 0, process.stderr.read()


def test_from_the_form_to_the_public_page(service: Service) -> None:
    the_target("uno")
    first = Parsed(request(service.url, "/submissions").text)
    harmless(first)
    assert "file" in first.all("type", "input")
    assert "/submissions" in first.all("href", "a")
    got = hand_in(service.url, package())
    assert got.status == 303
    link = got.headers["location"]
    assert len(link.removeprefix("/submissions/")) == 22
    page = request(service.url, link)
    assert page.headers["cache-control"] == "private, no-store"
    assert page.headers["x-robots-tag"].startswith("noindex")
    assert Parsed(page.text).all("hx-get") == [link]
    assert "etag" not in page.headers
    harmless(Parsed(page.text))
    assert "1 run: 1 waiting" in page.text
    assert 'name="previous"' not in page.text, "what is filled in would be lost when the page is loaded again"
    assert "key 16, nonce 12, tag 8" in page.text

    weighed(service)
    page = request(service.url, link)
    assert "1 run: 1 done" in page.text
    assert not Parsed(page.text).all("hx-get")
    assert 'name="previous"' in page.text
    harmless(Parsed(page.text))
    assert not [h for h in Parsed(page.text).all("href", "a") if h.startswith("/implementations")], (
        "nothing is there yet"
    )
    (file,) = [h for h in Parsed(page.text).all("href", "a") if h.endswith("uno-crypto_aead.csv")]
    private = request(service.url, file)
    assert private.headers["cache-control"] == "private, no-store"
    rom = next(line for line in private.text.splitlines() if "tinyjambu" in line)
    [own] = {h for h in Parsed(page.text).all("href", "a") if re.fullmatch(f"{link}/\\d+", h)}
    run = request(service.url, own)
    assert run.headers["cache-control"] == "private, no-store"
    harmless(Parsed(run.text))
    for part in ("cycles_encrypt_mean", "cycles of every known answer", "error of its cycles", "to repeat"):
        assert part in run.text, part
    assert request(service.url, f"{own}/vectors.csv").text.startswith("answer,")
    log = request(service.url, f"{own}/log")
    assert (log.status, log.headers["cache-control"]) == (200, "private, no-store")
    for spelled in (
        f"/{link}",
        link.replace("/s", "/~s", 1),
        f"{link}/",
        f"/{file}",
        "//submissions",
        f"/api/v1/{link}",
    ):
        got = request(service.url, spelled)
        assert (got.status, got.headers["cache-control"]) == (200, "private, no-store"), spelled
        assert "etag" not in got.headers
    for wrong in (f"{link}/99", f"{link}/99/log", f"/submissions/{'x' * 22}/{own.rsplit('/', 1)[1]}"):
        assert request(service.url, wrong).status == 404
    assert request(service.url, "/variants/tinyjambu128v2").status == 404, "nobody else sees it"
    assert "tinyjambu" not in request(service.url, "/").text
    assert request(service.url, "/api/v1/implementations").text.count("tinyjambu") == 0

    newer = hand_in(service.url, package(b"\nunsigned char unused_table[64] = {1};\n"), previous=link)
    weighed(service)
    changed = request(service.url, newer.headers["location"])
    assert "Since the last version" in changed.text
    assert "toy.zip" not in request(service.url, "/").text

    body, kind = form()
    assert request(service.url, f"{link}/publish", body, content_type=kind).status == 303
    assert request(service.url, f"{link}/publish", body, content_type=kind).status == 303, "a form that is sent again"
    deadline = time.monotonic() + 60
    while (public := request(service.url, "/variants/tinyjambu128v2")).status != 200:  # kept for a second
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert rom.split(",")[1] in public.text
    sure, kind = form(sure="on")
    assert request(service.url, f"{link}/withdraw", sure, content_type=kind).status == 303
    assert "Published" in request(service.url, link).text
    with Store.open(service.database) as store:
        (record,) = store.runs(variant="tinyjambu128v2")
        assert record.ok
        assert record.origin == "toy.zip (submission 1)"


def test_a_long_refusal_says_why(service: Service, cli: Cli, tmp_path: Path) -> None:
    """Which is sent packed, as all long answers are."""
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as z:
        for k in range(60):
            z.writestr(f"crypto_aead/toy{k}/ref/api.h", "#define CRYPTO_KEYBYTES 16\n")
    result = cli(["submit", str(tmp_path / "x.zip"), "--server", service.url, "--licence", "MIT"])
    assert result.code != 0
    assert "toy" in result.err
    assert "status 400" not in result.err
    many = "&".join(f"q{k}=1" for k in range(60))
    for path in ("/search", "/tables", "/api/v1/submissions"):
        body = b"x" if path.startswith("/api") else None
        assert request(service.url, f"{path}?{many}", body, content_type="application/zip").status == 400
    connection = http.client.HTTPConnection(urlsplit(service.url).netloc, timeout=60)
    connection.request("HEAD", "/robots.txt")
    assert connection.getresponse().status == 200
    connection.close()


def test_a_program_hands_in(service: Service, cli: Cli, tmp_path: Path) -> None:
    the_target("uno")
    result = cli(["submit", str(FOLDER), "--server", service.url, "--licence", "CC0-1.0", "--json"])
    assert result.code == 0, result.err
    taken = json.loads(result.out)
    assert taken["known"] is False
    assert [(i["variant"], i["name"]) for i in taken["found"]["implementations"]] == [("tinyjambu128v2", "small")]
    page = request(service.url, urlsplit(taken["link"]).path)
    assert "CC0-1.0" in page.text
    again = cli(["submit", str(FOLDER), "--server", service.url, "--licence", "CC0-1.0", "--previous", taken["link"]])
    assert again.code == 0
    assert "handed in before" in again.out
    with ThreadPoolExecutor(1) as pool:
        worker_ = pool.submit(weighed, service)
        waited = cli(["submit", str(FOLDER), "--server", service.url, "--licence", "MIT", "--wait", "--json"])
        worker_.result()
    assert waited.code == 0, waited.err
    assert [(r["target"], r["state"]) for r in json.loads(waited.out)["runs"]] == [("uno", "done")]
    [figures] = json.loads(waited.out)["tables"]
    assert figures["rows"][0]["cycles_encrypt_mean"] > 1000
    assert "run" not in figures["rows"][0]
    private = request(service.url, "/api/v1" + urlsplit(taken["link"]).path)
    told = msgspec.json.decode(private.text, type=wire.Submission)
    assert (told.state, told.runs.lines[0].cells[:2]) == ("private", ("tinyjambu128v2/small", "uno"))
    assert (private.headers["cache-control"], "etag" in private.headers) == ("private, no-store", False)
    assert request(service.url, f"/api/v1/submissions/{'x' * 22}").status == 404
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer" / "tiny.zip").write_bytes(package(b"\n/* newer */\n"))
    words = ["submit", str(tmp_path / "newer" / "tiny.zip"), "--server", service.url, "--licence", "MIT", "--previous"]
    assert cli([*words, taken["link"]]).code == 0
    weighed(service)
    newer = cli([*words, taken["link"], "--wait", "-o", str(tmp_path / "newer.md")])
    assert newer.code == 0, newer.err
    comment = (tmp_path / "newer.md").read_text()
    assert re.search(r"tinyjambu128v2/small .*\d{3}", comment)
    assert "encrypt/B (cycles/byte)" in comment
    assert "since the last version: " in comment
    assert taken["link"] not in comment
    assert "private link" in waited.err
    broken = package(b"\n#error no figures\n")
    (tmp_path / "broken.zip").write_bytes(broken)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(request, service.url, "/api/v1/submissions?licence=MIT&name=broken.zip", broken,
                            content_type="application/zip")  # fmt: skip
        assert asked.result().status == 201
    weighed(service)
    waited = cli(["submit", str(tmp_path / "broken.zip"), "--server", service.url, "--licence", "MIT", "--wait"])
    assert (waited.code, "compile-error" in waited.out) == (1, True), waited.out
    for words, said in (
        (["--licence", " "], "--licence"),
        (["--licence", "MIT", "--previous", "x" * 22], "older version"),
        (["--licence", "MIT", "--previous", "http://h/?"], "is not the private link"),
    ):
        refused = cli(["submit", str(FOLDER), "--server", service.url, *words])
        assert (refused.code, said in refused.err) == (2, True), refused.err
    large = tmp_path / "large.zip"
    large.write_bytes(bytes(9 << 20))
    refused = cli(["submit", str(large), "--server", service.url, "--licence", "MIT"])
    assert "bytes are not taken here" in refused.err
    wrong = request(service.url, "/api/v1/submissions?licnce=MIT", package(), content_type="application/zip")
    assert (wrong.status, "did you mean licence" in wrong.text) == (400, True)
    assert request(service.url, "/api/v1/submissions?licence=MIT", package(), content_type="text/plain").status == 400


def test_two_workers_and_one_that_is_killed(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """One dies in the middle of a run, by SIGKILL. Its job is taken up after its lease, and every job is done once."""
    the_target("uno")
    for k in range(3):
        assert hand_in(service.url, package(b"\n" * (k + 1))).status == 303
    code = (
        "import sys, threading, time, steelyard.farm.worker as w\n"
        "w._worked = lambda *a: (print('taken', flush=True), time.sleep(600))\n"
        "from steelyard.store import Store\n"
        "w.work(Store.open(sys.argv[1]), ['uno'], print, threading.Event())\n"
    )
    words = [sys.executable, "-c", code, str(service.database)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as dying:
        assert dying.stdout is not None
        assert dying.stdout.readline() == "taken\n"
        dying.kill()
    monkeypatch.setattr("steelyard.store.tenure.STALE", 5.0)
    monkeypatch.setattr("steelyard.store.tenure.BEAT", 0.2)
    said: list[Any] = []
    over = threading.Event()

    def say(done: Any) -> None:
        said.append(done)
        if sum(isinstance(d, worker.Done) and d.state == "done" for d in said) == 3:
            over.set()

    def work() -> None:
        with Store.open(service.database) as store:
            worker.work(store, ["uno"], say, over)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(work) for _ in range(2)]:
            done.result(240)
    assert sorted(d.number for d in said if d.state == "done") == [1, 2, 3]
    with Store.open(service.database) as store, store._engine.connect() as connection:
        attempts = connection.exec_driver_sql("SELECT attempts FROM job ORDER BY id").scalars().all()
    assert attempts[0] >= 2


def test_faults_of_the_machine_are_tried_again(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    the_target("uno")
    link = hand_in(service.url, package()).headers["location"]
    full = [OSError(28, "No space left on device")]
    real = worker.Pipeline._run

    def run(self: Any, job: Any, record: Any) -> Any:
        if job.implementation.variant != "nocrypt" and full:
            raise full.pop()
        return real(self, job, record)

    monkeypatch.setattr(worker.Pipeline, "_run", run)
    monkeypatch.setattr("steelyard.store.queue.PAUSE", 0)
    said: list[Any] = []
    with Store.open(service.database) as store:
        worker.work(store, ["uno"], said.append, threading.Event(), until_empty=True)
    assert [d.state for d in said] == ["waiting", "done"]
    assert "disk-full" in said[0].detail
    assert "1 run: 1 done" in request(service.url, link).text


def test_a_run_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the next one is not: what a stranger's code takes is bounded."""
    the_target("uno")
    monkeypatch.setattr(worker, "SECONDS", 0.0)
    said: list[Any] = []
    with Store.open(tmp_path / "r.db") as store:
        body, kind = form(package=("toy.zip", package()), licence="MIT", rights="yes")
        assert answer(store, Sent("/submissions", "", body, kind, "a"), Taking(("uno",), Quota())).status == 303
        worker.work(store, ["uno"], said.append, threading.Event(), until_empty=True)
    assert [(d.state, d.detail) for d in said] == [("failed", "not done after 0 s")]


def test_a_worker_keeps_nothing_of_what_it_weighed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No build, and no record: a job that is repeated is done again by the same worker too."""
    the_target("uno")
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    content, finished = package(b"/* private */"), list[Any]()
    with Store.open(tmp_path / "r.db") as store:
        body, kind = form(package=("toy.zip", content), licence="MIT", rights="yes")
        taken = answer(store, Sent("/submissions", "", body, kind, "a"), Taking(("uno",), Quota()))
        submission = Desk(store).find(taken.to.rsplit("/", 1)[1])
        assert submission is not None

        def say(what: Any) -> None:
            (job,) = Desk(store).jobs(submission)
            assert job.record is not None, what
            finished.append(job.record.finished)
            if len(finished) == 1:
                Yard(store).repeat(job.number)

        worker.work(store, ["uno"], say, threading.Event(), until_empty=True)
    assert len(set(finished)) == 2
    left = [f for f in (tmp_path / "home").rglob("*") if f.is_file()]
    assert any(f.name == "both.elf" for f in left), "nocrypt's is kept"
    assert not [f for f in left if b"/* private */" in f.read_bytes() or "/apart/" in str(f)]


def test_a_worker_looks_on_while_others_may_die(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the queue is empty: what another has counts, for he may be dead already."""
    monkeypatch.setattr(worker, "LOOK", 0.01)
    looks = iter([True, True, False])

    class Others(worker._Here):
        def left(self, targets: Any) -> bool:
            return next(looks)

    with Store.open(tmp_path / "r.db") as store:
        worker.work_for(Others(store, "w"), ["uno"], print, threading.Event(), until_empty=True)
    assert list(looks) == []


def test_a_record_that_is_refused_is_not_sent_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next attempt may be another machine's; the last one fails."""
    monkeypatch.setattr(worker.Pipeline, "weigh", lambda *_: record("tinyjambu128v2/small"))

    class Strict(worker._Here):
        def close(self, taken: Any, state: str, detail: str = "", record: Any = None, log: str = "") -> None:
            if record is not None:
                raise Refused("finished: this is not now")
            super().close(taken, state, detail, record, log)

    with Store.open(tmp_path / "r.db") as store, monkeypatch.context() as patched:
        patched.setattr("steelyard.store.queue.PAUSE", 0)
        body, kind = form(package=("toy.zip", package()), licence="MIT", rights="yes")
        assert answer(store, Sent("/submissions", "", body, kind, "a"), Taking(("uno",), Quota())).status == 303
        said = list[Any]()
        worker.work_for(Strict(store, "w"), ["uno"], said.append, threading.Event(), until_empty=True)
    assert [d.state for d in said] == ["waiting", "waiting", "failed"]
    assert "attempt 3, its record is refused: finished: this is not now" in said[-1].detail


def test_ctrl_c_gives_the_job_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(worker.Pipeline, "weigh", interrupted)
    with Store.open(tmp_path / "r.db") as store:
        body, kind = form(package=("toy.zip", package()), licence="MIT", rights="yes")
        taken = answer(store, Sent("/submissions", "", body, kind, "a"), Taking(("uno",), Quota()))
        with pytest.raises(KeyboardInterrupt):
            worker.work(store, ["uno"], print, threading.Event())
        found = Desk(store).find(taken.to.rsplit("/", 1)[1])
        assert found is not None
        (job,) = Desk(store).jobs(found)
        assert (job.state, job.attempts) == ("waiting", 0)
        with store._engine.connect() as connection:
            assert connection.exec_driver_sql("SELECT COUNT(*) FROM lease").scalar() == 0


API = "#define CRYPTO_KEYBYTES 16\n#define CRYPTO_NSECBYTES 0\n#define CRYPTO_NPUBBYTES 16\n#define CRYPTO_ABYTES 16\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no file was sent"),
        (b"no zip at all", "bad-zip"),
        (zipped(nothing="x"), "no-sources"),
        (zipped(crypto_aead__toy__ref__api_h=API, __________etc__passwd="x"), "path-escape"),
        (zipped(a__api_h=API, a__big_c=b"\0" * (9 << 20)), "zip-bomb"),
        (zipped(**{f"f{k}": "" for k in range(2001)}), "zip-bomb"),
        pytest.param(zipped(a__api_h=API) + bytes(8 << 20), "bytes, 8388608 are taken", id="large"),
        (zipped(**{f"crypto_aead__v{k}__ref__{n}": API for k in range(41) for n in ("api_h", "encrypt_c")}), "hand in"),
    ],
)  # fmt: skip
def test_what_is_no_package_is_refused_and_not_kept(tmp_path: Path, content: bytes, said: str) -> None:
    """By form and by program; nothing is left, in the database or beside it."""
    with Store.open(tmp_path / "r.db") as store:
        taking = Taking(("uno",), Quota())
        body, kind = form(package=("toy.zip", content), licence=MARKUP, rights="yes")
        page = answer(store, Sent("/submissions", "", body, kind, "a"), taking)
        assert page.status == 400
        harmless(Parsed(page.body.decode()))
        assert said in page.body.decode()
        told = answer(store, Sent("/api/v1/submissions", "licence=MIT", content, "application/zip", "a"), taking)
        assert told.status == 400
        assert said in msgspec.json.decode(told.body, type=wire.Refusal).error
        with store._engine.connect() as connection:
            assert connection.exec_driver_sql("SELECT COUNT(*) FROM package").scalar() == 0


@pytest.mark.parametrize("previous", ["http://[x", "http://ex\u2100mple/x", "http://h/x/", "?" * 30])
def test_a_link_that_is_none_is_said(tmp_path: Path, previous: str) -> None:
    with Store.open(tmp_path / "r.db") as store:
        asked = urlencode({"licence": "MIT", "previous": previous})
        sent = Sent("/api/v1/submissions", asked, package(), "application/zip", "a")
        told = answer(store, sent, Taking(("uno",), Quota()))
        assert (told.status, b"is not the private link" in told.body) == (400, True)


def test_names_in_a_package_are_names(tmp_path: Path) -> None:
    content = zipped(**{f"crypto_aead__{MARKUP}__{MARKUP}__{n}": API for n in ("api_h", "encrypt_c", "LICENSE")})
    with Store.open(tmp_path / "r.db") as store:
        body, kind = form(package=(f"../../{MARKUP}.zip", content), licence=MARKUP, rights="yes")
        taken = answer(store, Sent("/submissions", "", body, kind, "a"), Taking(("uno",), Quota()))
        assert taken.status == 303
        from steelyard.web.respond import respond

        page = respond(store, taken.to)
        assert page.status == 200
        harmless(Parsed(page.body.decode()))
        assert page.shown


def test_names_in_a_package_are_text_in_files_too(tmp_path: Path) -> None:
    """No formula of a spreadsheet, and nothing that LaTeX obeys."""
    names = ("=SUM(1)", "[9cm]", "@x", "a;=1+1", "$x$ %")
    content = zipped(**{f"crypto_aead__{v}__ref__{n}": API for v in names for n in ("api_h", "encrypt_c")})
    with Store.open(tmp_path / "r.db") as store:
        body, kind = form(package=("toy.zip", content), licence="MIT", rights="yes")
        taken = answer(store, Sent("/submissions", "", body, kind, "a"), Taking(("uno",), Quota()))
        from steelyard.web.respond import respond

        found = {e: respond(store, f"{taken.to}/found.{e}") for e in ("csv", "tex", "xlsx", "md")}
    assert {r.status for r in found.values()} == {200}
    labels = {row[0] for row in csv.reader(io.StringIO(found["csv"].body.decode()))} - {"implementation"}
    assert labels == {"'=SUM(1)/ref", "[9cm]/ref", "'@x/ref", "a;'=1+1/ref", "$x$ %/ref"}
    text = found["tex"].body.decode()
    assert "{[}9cm]/ref" in text
    assert "\\$x\\$ \\%/ref" in text


@pytest.mark.parametrize(
    ("name", "kept"),
    [("a.zip", "a.zip"), ("../../x y.zip", "x-y.zip"), ("C:\\a\\b.ZIP", "b.ZIP.zip"), ("", "package.zip"),
     (".zip", "zip.zip"), ("\u202e" * 300, "package.zip"), ("n" * 300, "n" * 80 + ".zip")],
)  # fmt: skip
def test_a_files_name_is_no_more_than_that(name: str, kept: str) -> None:
    assert lint.safe(name) == kept


def test_forms_that_are_none(service: Service) -> None:
    content = package()
    body, kind = form(package=("toy.zip", content), licence="MIT")
    assert "say that you may" in request(service.url, "/submissions", body, content_type=kind).text
    body, kind = form(package=("toy.zip", content), rights="yes")
    assert "say the licence" in request(service.url, "/submissions", body, content_type=kind).text
    for wrong in (body[:-40], body.replace(b"edge", b"egde"), b"", b"--edge--", b"--edge\r\n\r\n" * 50):
        assert request(service.url, "/submissions", wrong, content_type=kind).status == 400
    assert request(service.url, "/submissions", body, content_type="text/plain").status == 400
    foreign = request(service.url, "/submissions", body, content_type=kind, sec_fetch_site="cross-site")
    assert foreign.status == 403
    assert request(service.url, "/submissions", b"x" * (9 << 20), content_type=kind).status == 413
    for path in ("/submissions/" + "A" * 22, "/submissions/x/publish"):
        assert request(service.url, path).status == 404
    assert request(service.url, "/submissions/" + "A" * 22 + "/publish", b"").status == 404
    assert request(service.url, "/submissions/x/destroy", b"").status == 404
    assert "/submissions" in request(service.url, "/robots.txt").text
    body, kind = form(package=("t.zip", b"\r\n--edg\r\n" + content), licence="\r\n--edg\r\n")
    tricky = multipart.fields(kind, body)
    assert (tricky["licence"][1], tricky["package"][1]) == (b"\r\n--edg\r\n", b"\r\n--edg\r\n" + content)


def test_a_form_that_is_sent_twice_is_one_submission(service: Service) -> None:
    shown = request(service.url, "/submissions").text
    once = shown.split('name="once" value="')[1].split('"')[0]
    assert once not in request(service.url, "/submissions").text, "each form is sent once"
    [link] = {hand_in(service.url, package(), once=once).headers["location"] for _ in range(2)}
    assert once not in link
    other = hand_in(service.url, package(), once=once, licence="another")
    assert (other.status, "was sent with the licence" in other.text) == (400, True)
    body, kind = form(sure="on")
    for unsure in (b"", form()[0]):
        refused = request(service.url, f"{link}/withdraw", unsure, content_type=kind)
        assert (refused.status, "nothing was deleted" in refused.text) == (400, True)
    assert request(service.url, link).status == 200
    assert request(service.url, f"{link}/withdraw", body, content_type=kind).status == 303
    assert hand_in(service.url, package(), once=once).headers["location"] == link
    assert request(service.url, link).status == 410
    for odd in ("short", "x" * 22, "A" * 22, f"{once[:21]}B"):
        refused = hand_in(service.url, package(), once=odd)
        assert (refused.status, "load it again" in refused.text) == (400, True)


def test_slow_ones_do_not_keep_others_out(service: Service) -> None:
    """One address has a few uploads at once, and no more; pages are there meanwhile."""
    at = urlsplit(service.url)
    head = b"POST /submissions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\ncontent-type: multipart/form-data\r\n\r\n"
    slow = [socket.create_connection((at.hostname or "", at.port or 0)) for _ in range(8)]
    for s in slow:
        s.sendall(head)
    deadline = time.monotonic() + 60
    while (got := hand_in(service.url, package())).status != 503 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (got.status, got.headers["retry-after"]) == (503, "5")
    assert request(service.url, "/claims").status == 200
    for s in slow:
        s.close()
    deadline = time.monotonic() + 60
    while (got := hand_in(service.url, package())).status != 303 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert got.status == 303


def test_without_being_told_a_server_takes_nothing(tmp_path: Path) -> None:
    from steelyard.web import app
    from steelyard.web.makers import Here
    from tests.web.conftest import ask

    here = Here(str(tmp_path / "r.db"))
    served = app.create(here)
    for path in ("/submissions", "/api/v1/submissions", "/submissions/x/publish"):
        assert ask(served, path, "POST").status == 403
    assert ask(served, "/submissions").status == 403
    assert 'href="/submissions"' not in ask(served, "/").text
    here.close()


def test_a_folder_and_its_zip_are_the_same(tmp_path: Path) -> None:
    """With shared sources that links lead to, and to the byte the same again."""
    name, content = pack(FOLDER)
    assert pack(FOLDER) == (name, content)
    (tmp_path / name).write_bytes(content)
    (mine,), (theirs,) = (discover(p, cache=tmp_path / "c").implementations for p in (FOLDER, tmp_path / name))
    assert (theirs.label, theirs.family, theirs.digest) == (mine.label, mine.family, mine.digest)


def test_a_link_that_leads_nowhere_is_refused_for_what_it_is(tmp_path: Path) -> None:
    """Of a folder that is handed in as by ``check``."""
    folder = tmp_path / "here" / "crypto_aead" / "toy1" / "ref"
    shutil.copytree(FOLDER, folder)
    for text, reason in (
        ("gone.h", "dangling-link"),
        ("../../../../../gone.h", "path-escape"),
        ("more.h", "dangling-link"),
    ):
        (folder / "more.h").unlink(missing_ok=True)
        (folder / "more.h").symlink_to(text)
        name, content = pack(folder)
        assert pack(folder) == (name, content)
        (tmp_path / name).write_bytes(content)
        found = discover(tmp_path / name, cache=tmp_path / "c")
        assert (found.implementations, [r.failure.reason for r in found.rejected]) == ((), [reason])


@pytest.mark.parametrize("path", ["", " ", "/dev/zero", "none.zip", "x" * 5000])
def test_what_cannot_be_handed_in_is_said_before_it_is_sent(cli: Cli, path: str) -> None:
    refused = cli(["submit", path, "--server", "http://127.0.0.1:9", "--licence", "MIT"])
    assert refused.code == 2, "nobody was asked"
    assert "steelyard serve" not in refused.err


def test_what_is_no_zip_is_said_before_it_is_sent(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("no zip\n")
    result = cli(["submit", str(tmp_path / "README.md"), "--server", "http://127.0.0.1:1", "--licence", "MIT"])
    assert (result.code, "README.md: neither a folder nor a zip" in result.err) == (2, True), result.err
    refused = cli(["submit", str(FOLDER), "--server", "http://127.0.0.1:1", "--licence", "MIT", "-o", "x.parquet"])
    assert (refused.code, "parquet" in refused.err) == (2, True), refused.err


def test_a_worker_needs_a_sandbox(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("steelyard.building.sandbox.available", lambda: False)
    refused = cli("work --until-empty")
    assert refused.code == 2
    assert "apt install bubblewrap" in refused.err


def test_without_a_sandbox_a_server_that_compiles_takes_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And says what to install, before anybody fills the form in, to browsers and to programs."""
    from steelyard.cli import serve
    from steelyard.web import app
    from steelyard.web.makers import Here
    from tests.web.conftest import ask

    monkeypatch.setattr("steelyard.building.sandbox.available", lambda: False)
    asked = serve.Serve("", 0, submissions=True, review=False, work=1, target=("uno",), db=None)
    here = Here(str(tmp_path / "r.db"), serve._taking(asked))
    served = app.create(here)
    body, kind = form(package=("toy.zip", package()), licence="MIT", rights="yes")
    for said in (
        ask(served, "/submissions"),
        ask(served, "/submissions", "POST", body, content_type=kind),
        ask(served, "/api/v1/submissions?licence=MIT", "POST", package(), content_type="application/zip"),
    ):
        assert (said.status, "apt install bubblewrap" in said.text) == (503, True)
    here.close()
