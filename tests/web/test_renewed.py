"""Pages that change by themselves: renewed in place where scripts run, loaded anew where none do."""

from __future__ import annotations

import hashlib
import re

import pytest

from steelyard.store.queue import DONE, Queue
from steelyard.store.quota import Quota
from steelyard.store.submissions import Desk
from steelyard.web import script
from tests.made_up import record
from tests.store.handed_in import tasks

from .conftest import Parsed, Sent, ask, harmless
from .test_operate import GIVEN, Browser, browser, signed_in

__all__ = ["browser", "signed_in"]


def renewed(got: Sent, path: str, *, loaded: bool) -> str:
    """What a page that waits says that it shows."""
    page = Parsed(got.text)
    harmless(page)
    (to,) = page.all("src", "script")
    assert f"/static/{script.NAME}" == to
    assert page.all("hx-get") == [path]
    assert "script-src 'self'; connect-src 'self'" in got.headers["content-security-policy"]
    assert "refresh" not in got.headers, "nothing could stop it"
    assert ("<noscript><meta http-equiv" in got.text) == loaded
    found = re.search(r'"x-shown":"(\w+)"', got.text)
    assert found is not None
    return found[1]


def test_a_submission_is_renewed_until_its_runs_are_done(browser: Browser) -> None:
    path = f"/submissions/{Desk(browser.store).hand_in(GIVEN, tasks(targets='a'), Quota())}"
    shown = renewed(browser.get(path), path, loaded=True)
    same = ask(browser.app, path, x_shown=shown)
    assert (same.status, same.body, same.headers["cache-control"]) == (204, b"", "private, no-store")
    line = Queue(browser.store, "w")
    with line.taken("a") as taken:
        assert taken is not None
        changed = ask(browser.app, path, x_shown=shown)
        assert changed.status == 200
        assert "1 running" in changed.text
        assert renewed(changed, path, loaded=True) != shown
        line.close(taken, DONE, record=record("toy1/ref", target="a"))
    done = ask(browser.app, path, x_shown=shown)
    assert "1 done" in done.text
    assert not Parsed(done.text).all("hx-get"), "what is put in its place asks no more"
    assert "script-src" not in done.headers["content-security-policy"]


def test_the_scheduler_is_renewed_above_what_is_filled_in(signed_in: Browser) -> None:
    text = renewed(signed_in.get("/operate"), "/operate", loaded=False) and signed_in.page("/operate")
    above, below = text.split('<h2 id="pause">')
    assert above.rstrip().endswith("</div>")
    assert above.count("<div") == above.count("</div")
    assert 'name="why"' in below
    reached = [a for tag, a in Parsed(text).elements if tag in ("a", "button", "summary", "pre") or "tabindex" in a]
    assert len(reached) > 10
    assert all(a.get("id") for a in reached), "else the keyboard's focus is lost"


def test_without_the_script_pages_are_loaded_anew(signed_in: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """As without its package, or with another of its versions."""
    monkeypatch.setattr(script, "source", lambda: b"")
    path = f"/submissions/{Desk(signed_in.store).hand_in(GIVEN, tasks(targets='a'), Quota())}"
    got = signed_in.get(path)
    assert (got.headers["refresh"], Parsed(got.text).all("src", "script")) == ("10", [])
    assert "script-src" not in got.headers["content-security-policy"]
    operating = signed_in.get("/operate")
    assert ("refresh" in operating.headers, Parsed(operating.text).all("src", "script")) == (False, [])
    assert ask(signed_in.app, f"/static/{script.NAME}").status == 404


def test_only_the_file_that_is_named_is_served(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    got = ask(browser.app, f"/static/{script.NAME}")
    assert got.headers["content-type"].startswith("text/javascript")
    assert hashlib.sha256(got.body).hexdigest() == script.SHA256
    script.source.cache_clear()
    monkeypatch.setattr(script, "SHA256", "0" * 64)
    assert script.source() == b""
    monkeypatch.setattr(script, "PACKAGE", "no-such-package")
    script.source.cache_clear()
    assert script.source() == b""
    script.source.cache_clear()
