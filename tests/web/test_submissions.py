"""Handing in: servers and workers as users start them."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from steelyard.farm import worker
from steelyard.sources import discover
from steelyard.sources.pack import pack
from steelyard.store import Store
from steelyard.store.errors import Refused
from steelyard.store.operating import Yard
from steelyard.store.quota import Quota
from steelyard.store.submissions import Desk
from steelyard.web import wire
from steelyard.web.reply import Sent, Taking
from steelyard.web.submit import answer
from tests.cli.conftest import Cli
from tests.conftest import the_target
from tests.made_up import record
from tests.web.conftest import Parsed, harmless
from tests.web.handing_in import (
    FOLDER,
    Service,
    form,
    hand_in,
    package,
    request,
    weighed,
)


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
        f"{link}/",
        f"/{file}",
        "//submissions",
        f"/api/v1/{link}",
    ):
        got = request(service.url, spelled)
        assert (got.status, got.headers["cache-control"]) == (200, "private, no-store"), spelled
        assert "etag" not in got.headers
    hidden = link.replace("/s", "/~s", 1)  # from a proxy that keeps private addresses out of its log
    for wrong in (hidden, f"{link}/99", f"{link}/99/log", f"/submissions/{'x' * 22}/{own.rsplit('/', 1)[1]}"):
        assert request(service.url, wrong).status == 404
    assert request(service.url, "/variants/tinyjambu128v2").status == 404, "nobody else sees it"
    assert "tinyjambu" not in request(service.url, "/").text
    assert request(service.url, "/api/v1/implementations").text.count("tinyjambu") == 0

    newer = hand_in(service.url, package(b"\nunsigned char unused_table[64] = {1};\n"), previous=link)
    weighed(service)
    changed = request(service.url, newer.headers["location"])
    assert "Since the last version" in changed.text
    [own] = {h for h in Parsed(changed.text).all("href", "a") if re.fullmatch(f"{newer.headers['location']}/\\d+", h)}
    assert "toy.zip (submission 2 of line 1)" in request(service.url, own).text
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
