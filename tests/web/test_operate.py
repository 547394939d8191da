"""The scheduler's pages: who is let in, what forms do, and what only looks like one of them."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from steelyard import lab
from steelyard.cli.work import _boards
from steelyard.farm import worker
from steelyard.lab import aside
from steelyard.model import paths
from steelyard.store import Store, schema
from steelyard.store.audit import note
from steelyard.store.floor import Board, Worker
from steelyard.store.operating import Yard
from steelyard.store.operators import MOST, REFUSED, Operators
from steelyard.store.queue import DONE, FAILED, Queue
from steelyard.store.quota import Quota
from steelyard.store.submissions import Desk, Given
from steelyard.web import app
from steelyard.web.makers import Here
from steelyard.web.reply import Taking
from tests.made_up import record
from tests.store.handed_in import FOUND, tasks

from .conftest import RECORDS, Parsed, Sent, ask, harmless
from .handing_in import form

MARKUP = "<script>alert(1)</script>"
GIVEN = Given("toy.zip", b"zip", json.dumps(FOUND), MARKUP, "10.0.0.1")


class Browser:
    """Asks as a browser does: with a cookie, and the hidden fields of the form that it sends."""

    def __init__(self, place: Path, review: bool = True) -> None:
        self.store = Store.open(place)
        self._here = Here(str(place), Taking(("uno",), Quota(), review))
        self.app = app.create(self._here)
        self.cookie = ""

    def get(self, path: str) -> Sent:
        return ask(self.app, path, cookie=self.cookie)

    def page(self, path: str, status: int = 200) -> str:
        got = self.get(path)
        assert got.status == status, got.text
        assert got.headers["cache-control"] == "private, no-store"
        harmless(Parsed(got.text))
        return got.text

    def post(self, path: str, **fields: str) -> Sent:
        body, kind = form(**fields)
        headers = {"content_type": kind, "cookie": self.cookie, "sec_fetch_site": "same-origin"}
        got = ask(self.app, path, "POST", body, **headers)
        if cookie := got.headers.get("set-cookie"):
            assert "HttpOnly" in cookie
            assert "SameSite=strict" in cookie
            assert "Path=/operate" in cookie
            self.cookie = cookie.split(";")[0]
        return got

    def seal(self) -> str:
        found = re.search(r'name="form" value="(\w+)"', self.page("/operate"))
        assert found is not None
        return found[1]

    def do(self, deed: str, what: str = "", **more: str) -> Sent:
        return self.post("/operate/do", form=self.seal(), deed=deed, what=what, **more)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    made = Browser(tmp_path / "r.db")
    yield made
    made._here.close()
    made.store.close()


@pytest.fixture
def signed_in(browser: Browser) -> Browser:
    link = f"/operate/begin/{Operators(browser.store).link()}"
    assert "password" in Parsed(browser.page(link)).all("type", "input")
    twice = {"password": "correct horse", "again": "correct horse"}
    wrong = browser.post(link, name="ann", password="correct horse", again="other words")
    assert (wrong.status, "not the same" in wrong.text) == (400, True)
    assert browser.post(link, name="ann", **twice).headers["location"] == "/operate"
    assert browser.page(link, 410)
    assert browser.post(link, name="eve", **twice).status == 400, "a form that is sent again"
    assert "Signed in as ann" in browser.page("/operate")
    return browser


def test_one_damaged_row_takes_down_no_page_of_another(signed_in: Browser) -> None:
    """SQLite keeps what it is given, in whatever column."""
    store, other = signed_in.store, replace(GIVEN, content=b"other")
    damaged = Desk(store).hand_in(GIVEN, tasks(GIVEN, "ab"), Quota())
    token = Desk(store).hand_in(other, tasks(other, "ab"), Quota())
    Yard(store).present(Worker("m 1 x", "m", ("a",), (Board("uno-1", "uno", ""),), "1", 0))
    Yard(store).pause("target b")
    line = Queue(store, "m 1 x", "m")
    for _ in range(2):
        with line.taken("a") as taken:
            assert taken is not None
            line.close(taken, DONE, record=record())
    with closing(sqlite3.connect(store._name, isolation_level=None)) as database:
        for table in (schema.submission, schema.package, schema.job, schema.job_attempt, schema.worker, schema.hold):
            for column in (c.name for c in table.c if c.name != "id"):
                [kept] = database.execute(f"SELECT {column} FROM {table.name} WHERE id = 1").fetchone()
                for damage in ("x", b"\xff", 1 << 62, kept):
                    database.execute(f"UPDATE {table.name} SET {column} = ? WHERE id = 1", (damage,))
                    for path in (f"/submissions/{token}", "/operate", "/operate/jobs/1", "/operate/jobs/2"):
                        got = signed_in.get(path)
                        assert got.status == 200, (table.name, column, damage, path, got.text)
                    for path in (f"/submissions/{damaged}", f"/api/v1/submissions/{damaged}"):
                        got = signed_in.get(path)
                        assert got.status in (200, 404), (table.name, column, damage, path, got.text)
                    if (table, column) in ((schema.submission, "state"), (schema.submission, "found")):
                        shown = signed_in.get(f"/submissions/{damaged}").text
                        assert ("its row in the database is damaged" in shown) == (damage != kept)


def test_nobody_operates_without_signing_in(browser: Browser) -> None:
    Desk(browser.store).hand_in(GIVEN, tasks(), Quota())
    for path in ("/operate", "/operate/jobs/1", "/operate/audit", "/operate/queue.csv", "/operate/submissions/1"):
        assert "toy" not in browser.page(path, 401)
    for deed, what in (("delete", "1"), ("release", "1"), ("repeat-failed", "")):
        got = browser.post("/operate/do", form="", deed=deed, what=what)
        assert (got.status, got.headers["location"]) == (303, "/operate")
    assert len(Yard(browser.store).offers()) == 1
    assert Operators(browser.store).deeds() == []
    refused = browser.post("/operate/sign-in", name="ann", password="x")
    assert (refused.status, "name or password is wrong" in refused.text) == (401, True)
    assert browser.cookie == ""


def test_a_form_is_good_in_its_session_only(signed_in: Browser) -> None:
    Desk(signed_in.store).hand_in(GIVEN, tasks(), Quota())
    seal = signed_in.seal()
    assert signed_in.post("/operate/do", form="0" * 64, deed="delete", what="1").status == 403
    assert signed_in.post("/operate/do", deed="delete", what="1").status == 403
    assert signed_in.post("/operate/sign-out", form="").status == 403
    body, kind = form(form=seal, deed="delete", what="1")
    foreign = ask(signed_in.app, "/operate/do", "POST", body, content_type=kind, cookie=signed_in.cookie,
                  sec_fetch_site="cross-site")  # fmt: skip
    assert foreign.status == 403
    old = signed_in.cookie
    signed_in.post("/operate/sign-in", name="ann", password="correct horse")
    assert signed_in.cookie != old
    assert signed_in.post("/operate/do", form=seal, deed="delete", what="1").status == 403, "of the older session"
    for wrong in ({"deed": "destroy"}, {"deed": "delete", "what": "one"}, {"deed": "delete", "what": "1", "more": "x"}):
        assert signed_in.post("/operate/do", form=signed_in.seal(), **wrong).status == 400
    assert len(Yard(signed_in.store).offers()) == 1
    signed_in.post("/operate/sign-out", form=signed_in.seal())
    assert signed_in.page("/operate", 401)
    signed_in.cookie = old
    assert "Signed in" in signed_in.page("/operate"), "the other session goes on"


def test_only_what_an_operator_does_empties_what_is_kept(signed_in: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Making pages anew takes long, and anybody may send forms that do nothing."""
    b, forgotten = signed_in, list[int]()
    Desk(b.store).hand_in(GIVEN, tasks(), Quota())
    monkeypatch.setattr(app.Service, "forget", lambda self: forgotten.append(1))
    assert b.post("/operate/x").status >= 400
    assert b.post("/operate/sign-in", name="ann", password="x").status == 401
    assert b.do("delete", "9", sure="on").status == 400
    cookie, b.cookie = b.cookie, ""
    assert b.post("/operate/do", form="", deed="delete", what="1").status == 303, "who is to sign in"
    assert not forgotten
    b.cookie = cookie
    assert b.do("pause", "b", kind="target").status == 303
    assert len(forgotten) == 1
    unsure = b.do("delete", "1")
    assert (unsure.status, "nothing was deleted" in unsure.text) == (400, True)
    assert "<h1>Not done</h1>" in unsure.text
    assert b.do("delete", "1", sure="on").status == 303
    assert len(forgotten) == 2


def test_operating_from_the_pages(signed_in: Browser) -> None:
    """What failed is repeated, what is offered released, what is paused waits, what is deleted is on no page."""
    b, store = signed_in, signed_in.store
    for r in RECORDS:
        store.add(r)
    token = Desk(store).hand_in(GIVEN, tasks(targets="ab"), Quota())
    line = Queue(store, "m 1", "m")
    with line.taken("ab") as taken:
        assert taken is not None
        line.close(taken, FAILED, MARKUP, log=MARKUP)
    assert "no worker that has the compiler of b" in b.page("/operate")
    assert "/operate/jobs/1" in Parsed(b.page("/operate")).all("href", "a")
    assert "Log of attempt 1" in b.page("/operate/jobs/1")
    assert b.do("repeat", "1").headers["location"] == "/operate/jobs/1"
    assert "Repeat all that failed" not in b.page("/operate")
    b.do("pause", "b", kind="target", why=MARKUP)
    assert "b is paused" in b.page("/operate/jobs/2")
    assert "b is paused" in b.page(f"/submissions/{token}")
    b.do("resume", "target b")
    b.do("pause", "m", kind="machine")
    assert "Resume it" in b.page("/operate/machines/m")
    b.do("resume", "machine m")
    made = record("given/ref", digest="9")
    for _ in range(2):
        with line.taken("ab") as taken:
            assert taken is not None
            line.close(taken, DONE, record=made)
    body, kind = form()
    assert ask(b.app, f"/submissions/{token}/publish", "POST", body, content_type=kind).status == 303
    assert "Offered" in b.page(f"/submissions/{token}")
    assert "1 submission to be released" in b.page("/operate")
    before = len(store.runs(newest_only=False))
    assert b.do("release", "1").headers["location"] == "/operate/submissions/1"
    assert len(store.runs(newest_only=False)) == before + 2
    public = ("/", "/targets/uno", "/families/toy", "/tables", "/search?q=given", "/feed.atom")
    assert [at for at in public if "given/ref" not in ask(b.app, at).text] == []
    assert ask(b.app, "/variants/given").status == 200
    asked = [a for _, a in Parsed(b.page("/operate/submissions/1")).elements if a.get("name") == "sure"]
    assert [(a["type"], "required" in a) for a in asked] == [("checkbox", True)]
    b.do("delete", "1", sure="yes")
    assert len(store.runs(newest_only=False)) == before
    assert [at for at in public if "given/ref" in ask(b.app, at).text] == []
    assert ask(b.app, "/variants/given").status == 404
    assert b.page("/operate/submissions/1", 404)
    assert ask(b.app, f"/submissions/{token}").status == 410
    for deed, what in (("delete", "1"), ("resume", "machine m"), ("release", "1")):
        assert b.do(deed, what).status == 400, "a form that is sent again does nothing"
    said = b.page("/operate/audit")
    for action in ("set a password", "repeated", "paused", "resumed", "released", "deleted"):
        assert action in said
    assert "deleted,submission 1" in b.get("/operate/audit/audit.csv").text


def test_lists_say_where_they_end(signed_in: Browser) -> None:
    """And whoever tries to sign in takes no operator's deed out of sight."""
    b, store = signed_in, signed_in.store
    for k in range(MOST + 5):
        given = replace(GIVEN, content=b"%d" % k, address=f"{k}")
        Desk(store).offer(Desk(store).hand_in(given, tasks(given, "b"), Quota()))
    with store._engine.begin() as connection:
        for _ in range(MOST):
            note(connection, "", "bad", REFUSED, MARKUP)
    front = Parsed(b.page("/operate")).text
    assert "305 submissions to be released" in front
    assert "These are the first 300 of 305." in front
    assert "These are the first 300 of 305." in b.page("/operate/submissions")
    said = b.page("/operate/audit")
    assert "set a password" in said
    assert "These are the newest 300" in said
    assert "bad" in b.get("/operate/audit/refused.csv").text


def test_a_paused_board_is_set_aside_where_it_hangs(
    signed_in: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_LAB", str(paths.ROOT / "docs" / "guides" / "lab.toml"))
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(worker, "PRESENT", 0.05)
    pill = lab.find(None).boards["pill-1"]
    over = threading.Event()
    said: list[Any] = []

    def work() -> None:
        with Store.open(tmp_path / "r.db") as store:
            worker.work(store, ["uno"], said.append, over, boards=_boards)

    def until(found: bool) -> None:
        for _ in range(600):
            if (aside.read(pill) is not None) == found:
                return
            over.wait(0.1)
        raise AssertionError(f"pill-1 is {'not ' if found else ''}set aside; {said}")

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(600):
            if "pill-1" in (shown := signed_in.page("/operate")):
                break
            over.wait(0.1)
        (at,) = {a for a in Parsed(shown).all("href", "a") if a.endswith("pill-1")}
        assert "Pause it" in signed_in.page(at)
        (machine,) = {w.machine for w in Yard(signed_in.store).workers()}
        signed_in.do("pause", f"board {machine}/pill-1")
        until(True)
        assert "Resume it" in signed_in.page(at)
        signed_in.do("resume", f"board {machine}/pill-1")
        until(False)
    finally:
        over.set()
        thread.join()
    assert Yard(signed_in.store).workers() == []
