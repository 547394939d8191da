"""Who wants more than he is given: by texts in every field, headers, forms that take for ever, and others' links."""

from __future__ import annotations

import http.client
import json
import signal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from msgspec.structs import replace
from sqlalchemy import select

from steelyard.model.errors import UserError
from steelyard.store import Store, schema
from steelyard.store.floor import Board, Worker
from steelyard.store.operating import Yard
from steelyard.store.operators import Operators
from steelyard.store.queue import FAILED, Queue
from steelyard.store.quota import Quota
from steelyard.store.submissions import Desk, new_token
from steelyard.web import lint, multipart
from steelyard.web.app import InVain
from tests.store.handed_in import FOUND, tasks
from tests.store.servers import _port

from .conftest import Parsed, ask, harmless
from .handing_in import form, launched, package
from .test_operate import GIVEN, Browser, browser, signed_in

__all__ = ["browser", "signed_in"]
TEXT = "\"'><img src=x onerror=alert(1)></td><script>alert(2)</script>\x1b[31m\u202e=1+1{{12345679*9}}"
PRODUCT = "111111111"  # what a template would make of it; no token or time contains it


def test_no_text_that_anybody_gives_is_more_than_text(signed_in: Browser) -> None:
    """On every page that operators or owners see, and in every file of one."""
    store = signed_in.store
    names = {"family": TEXT, "variant": TEXT, "name": TEXT}
    found = json.dumps({**FOUND, "implementations": [FOUND["implementations"][0] | names]})
    given = replace(GIVEN, name=f"{TEXT}.zip", licence=TEXT, address=TEXT[:64], found=found)
    evil = [replace(t, **names, flags=(TEXT,), package=given.digest) for t in tasks(targets="a")]
    token = Desk(store).hand_in(given, evil, Quota())
    Yard(store).present(Worker(f"{TEXT} 1 x", TEXT, (TEXT,), (Board(TEXT, TEXT, TEXT),), TEXT[:60], 0))
    line = Queue(store, f"{TEXT} 1 x", TEXT)
    with line.taken("a") as taken:
        assert taken is not None
        line.close(taken, FAILED, TEXT, log=TEXT)
    signed_in.do("pause", TEXT, kind="target", why=TEXT)
    signed_in.do("pause", f"{TEXT}/{TEXT}", kind="board", why=TEXT)
    signed_in.post("/operate/sign-in", name=TEXT, password=TEXT)
    name = quote(TEXT, safe="")
    seen = 0
    for path in (
        "",
        "/jobs/1",
        "/submissions",
        "/submissions/1",
        "/audit",
        f"/machines/{name}",
        f"/boards/{name}%2F{name}",
    ):
        page = signed_in.page(f"/operate{path}")
        assert not {"\x1b", "\u202e"} & set(page)
        assert PRODUCT not in page, "no template in a template"
        for to in Parsed(page).all("href", "a"):
            if to.startswith("/operate") and to.rsplit(".", 1)[-1] in ("csv", "json", "md", "tex", "xlsx"):
                file = signed_in.get(to)
                assert file.status == 200, to
                assert "script" not in file.headers["content-type"]
                assert "html" not in file.headers["content-type"]
                seen += to.endswith(".csv")
    assert seen > 6
    private = ask(signed_in.app, f"/submissions/{token}")
    assert private.status == 200
    harmless(Parsed(private.text))
    assert TEXT[:20] in Parsed(private.text).text


def test_what_is_asked_comes_back_as_text(signed_in: Browser) -> None:
    for path, names in {
        "/tables": ("what", "where", "columns", "sort", "pivot"), "/compare": ("old", "new", "where", "columns"),
        "/rank": ("kind", "by", "what", "top", "relative"), "/search": ("q",), "/figures/rom": ("what", "where"),
    }.items():  # fmt: skip
        for name in names:
            got = ask(signed_in.app, f"{path}?{name}={quote(TEXT)}")
            assert got.status in (200, 400, 404)
            harmless(Parsed(got.text))
    for header in ("x-forwarded-host", "host", "x-forwarded-proto", "x-original-url"):
        got = ask(signed_in.app, "/", "GET", b"", **{header.replace("-", "_"): "evil.example"})
        assert "evil.example" not in got.text + str(got.headers)
    for path in ("/submissions/a%0d%0aset-cookie:x=1/publish", "/operate/begin/%0d%0ax:y"):
        got = ask(signed_in.app, path, "POST", b"")
        assert "set-cookie" not in got.headers
        assert not any("\n" in v for v in got.headers.values())


def test_a_form_s_names_are_looked_for_in_few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """In megabytes of them the search would take hours."""
    real, lengths = multipart._NAME, list[int]()

    class Counted:
        @staticmethod
        def search(text: str) -> Any:
            lengths.append(len(text))
            return real.search(text) if len(text) < 10_000 else None

    monkeypatch.setattr(multipart, "_NAME", Counted)
    body = b"--edge\r\n" + b"form-data;" * 200_000 + b"\r\n\r\nx\r\n--edge--\r\n"
    with pytest.raises(UserError, match="has no name"):
        multipart.fields("multipart/form-data; boundary=edge", body)
    assert lengths
    assert max(lengths) < 10_000


def test_nobody_says_himself_from_where_he_comes(tmp_path: Path) -> None:
    """But for a proxy on the same machine, of whose list the last is who came to it."""
    database, port = tmp_path / "r.db", _port()
    words = ("serve", "--port", str(port), "--db", str(database), "--submissions", "--target", "uno")
    with launched(*words) as process:
        assert process.stderr is not None
        assert str(port) in process.stderr.readline()
        body, kind = form(package=("toy.zip", package()), licence="MIT", rights="yes")
        for source in ("127.0.0.2", "127.0.0.1"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=(source, 0))
            said = {"content-type": kind, "x-forwarded-for": "198.51.100.1, 198.51.100.2"}
            connection.request("POST", "/submissions", body, said)
            assert connection.getresponse().status == 303
            connection.close()
        process.send_signal(signal.SIGINT)
        process.wait(60)
    with Store.open(database) as store, store._engine.connect() as connection_:
        found = (
            connection_.execute(select(schema.submission.c.address).order_by(schema.submission.c.id)).scalars().all()
        )
    assert found == ["127.0.0.2", "198.51.100.2"]


def test_a_form_that_is_sent_again_takes_no_second_look(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for by no quota, so it must cost little, and what it costs is counted."""
    body, kind = form(package=("toy.zip", package()), licence="MIT", rights="yes", once=new_token())
    first = ask(browser.app, "/submissions", "POST", body, content_type=kind)
    spent = list[str]()
    monkeypatch.setattr(lint, "lint", lambda *_: pytest.fail("it is looked through again"))
    monkeypatch.setattr(InVain, "add", lambda _, who, seconds: spent.append(who))
    again = ask(browser.app, "/submissions", "POST", body, content_type=kind)
    assert (first.status, again.headers["location"]) == (303, first.headers["location"])
    assert spent == ["127.0.0.1"]


def test_a_private_link_is_known_to_its_owner_only(signed_in: Browser) -> None:
    """No page, feed, file or answer has it, nor has the database; and no session opens it from what operators see."""
    store = signed_in.store
    token = Desk(store).hand_in(GIVEN, tasks(), Quota())
    link = Operators(store).link()
    signed_in.do("pause", "a", kind="target")
    paths = ["/", "/feed.atom", "/search?q=toy", "/api/v1/runs", "/api/v1/openapi.json", "/submissions", "/robots.txt"]
    paths += [
        f"/operate{p}" for p in ("", "/submissions", "/submissions/1", "/jobs/1", "/audit", "/submissions/offers.csv")
    ]
    for path in paths:
        text = signed_in.get(path).text
        assert token not in text
        assert link not in text
    with store._engine.connect() as connection:
        for table in schema.metadata.sorted_tables:
            assert token not in str(connection.execute(select(table)).all())
            assert link not in str(connection.execute(select(table)).all())
    for other in ("1", token[:-1], token[:-1] + ("A" if token[-1] != "A" else "B"), token.upper(), f"{token}%00"):
        assert ask(signed_in.app, f"/submissions/{other}").status == 404
        assert ask(signed_in.app, f"/submissions/{other}/publish", "POST").status == 404
