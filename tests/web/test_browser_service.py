"""A service with nothing but its pages, in a real browser on a phone without scripts: hand in, watch, publish, operate,
repair."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import pytest
from sqlalchemy import update

from steelyard.store import Store, schema
from steelyard.store.queue import FAILED, Queue
from tests.conftest import the_target
from tests.store.servers import _port

from .conftest import RECORDS, made
from .handing_in import Service, launched, package, weighed
from .test_browser import chromium, looked_at, visit

__all__ = ["chromium"]
pytestmark = pytest.mark.long
PASSWORD = "correct horse battery"


class Started(NamedTuple):
    url: str
    database: Path
    link: str


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """``steelyard serve --submissions --review`` as a user starts it for the first time, and the link that it says."""
    the_target("uno")
    database, port = tmp_path_factory.mktemp("service") / "results.db", _port()
    made(database, *RECORDS).close()
    words = ("serve", "--port", str(port), "--db", str(database), "--submissions", "--review", "--target", "uno")
    with launched(*words) as process:
        assert process.stderr is not None
        url = f"http://127.0.0.1:{port}"
        assert url in process.stderr.readline()
        link = next(w for w in process.stderr.readline().split() if "/operate/begin/" in w)
        yield Started(url, database, link)
        process.send_signal(signal.SIGINT)
        process.wait(60)


@pytest.fixture(scope="module")
def signed_in(chromium: Any, started: Started) -> Iterator[Any]:
    """A browser whose user has followed the link."""
    page, wrong = visit(chromium, started.link, java_script_enabled=False, viewport={"width": 360, "height": 740})
    page.get_by_label("name").fill("ann")
    page.get_by_label("password").fill(PASSWORD)
    page.get_by_label("the same again").fill(PASSWORD)
    press(page, "Begin")
    assert page.get_by_role("heading", name="Signed in as ann").is_visible()
    assert wrong == []
    yield page
    page.context.close()


def press(page: Any, button: str) -> None:
    """Sends a form, and waits for what comes."""
    with page.expect_navigation():
        page.get_by_role("button", name=button).click()


def shot(page: Any, name: str) -> None:
    """A picture for who wants to look at it; and the page is no wider than the phone."""
    if folder := os.environ.get("STEELYARD_SHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_from_a_zip_to_the_public_page_and_back(
    chromium: Any, started: Started, signed_in: Any, tmp_path: Path
) -> None:
    (tmp_path / "tiny.zip").write_bytes(package())
    phone: dict[str, Any] = {"java_script_enabled": False, "viewport": {"width": 360, "height": 740}}
    page, wrong = visit(chromium, started.url, color_scheme="dark", accept_downloads=True, **phone)
    with page.expect_navigation():
        page.get_by_role("link", name="hand in").click()
    page.get_by_label("package (.zip)").set_input_files(tmp_path / "tiny.zip")
    page.get_by_label("licence of the sources").fill("CC0-1.0")
    page.get_by_label("I may hand this in").check()
    press(page, "Hand in")
    assert "1 run: 1 waiting" in page.inner_text("main")
    assert "no worker that has the compiler of uno" in page.inner_text("main")
    shot(page, "submission-waits")
    weighed(Service(started.url, started.database))
    page.reload()
    assert "1 run: 1 done" in page.inner_text("main")
    rom = page.locator("td.n").first.inner_text()
    assert rom
    with page.expect_download() as download:
        page.locator('a[href$="uno-crypto_aead.csv"]').click()
    assert "tinyjambu128v2/small" in Path(download.value.path()).read_text()
    press(page, "Publish its results")
    assert "Offered" in page.inner_text("main")
    shot(page, "submission-offered")
    assert page.goto(f"{started.url}/variants/tinyjambu128v2").status == 404

    signed_in.goto(f"{started.url}/operate")
    assert "1 submission to be released" in signed_in.inner_text("main")
    with signed_in.expect_navigation():
        signed_in.get_by_role("link", name="what is handed in").click()
    with signed_in.expect_navigation():
        signed_in.locator('a[href="/operate/submissions/1"]').click()
    shot(signed_in, "operate-submission")
    press(signed_in, "Publish its results")
    public = page.goto(f"{started.url}/variants/tinyjambu128v2")
    assert public.status == 200
    assert "tinyjambu128v2/small" in page.inner_text("main")

    signed_in.get_by_label("Yes, delete it").check()
    press(signed_in, "Delete it and its results")
    assert page.goto(f"{started.url}/variants/tinyjambu128v2").status == 404
    assert wrong == []
    page.context.close()


def test_something_breaks_and_is_repaired_from_the_pages(
    chromium: Any, started: Started, signed_in: Any, tmp_path: Path
) -> None:
    """A machine fails a run three times; an operator sees its log, pauses, resumes and repeats, and it is done."""
    page, _ = visit(chromium, f"{started.url}/submissions")
    _fill(page, tmp_path / "none.zip", b"no zip")
    assert "Not taken" in page.inner_text("main")
    looked_at(page, "submission-refused")
    _fill(page, tmp_path / "more.zip", package(b"\n/* more */\n"))
    looked_at(page, "submission-waits")
    with Store.open(started.database) as store, Queue(store, "bad 1", "bad").taken(["uno"]) as taken:
        assert taken is not None
        Queue(store, "bad 1", "bad").close(taken, FAILED, "disk-full: No space left", log="cc1: no space left\n")
    signed_in.goto(f"{started.url}/operate")
    assert "disk-full" in signed_in.inner_text("main")
    with signed_in.expect_navigation():
        signed_in.locator(f'a[href="/operate/jobs/{taken.number}"]').first.click()
    assert "cc1: no space left" in signed_in.inner_text("main")
    shot(signed_in, "operate-job")
    signed_in.goto(f"{started.url}/operate")
    signed_in.get_by_label("kind").select_option("target")
    signed_in.get_by_label("name").fill("uno")
    signed_in.get_by_label("why").fill("the disk is full")
    press(signed_in, "Pause")
    press(signed_in, "Repeat all that failed")
    page.reload()
    assert "uno is paused: the disk is full" in page.inner_text("main")
    weighed(Service(started.url, started.database))
    page.reload()
    assert "1 waiting" in page.inner_text("main")
    shot(signed_in, "operate-paused")
    press(signed_in, "Resume target uno")
    weighed(Service(started.url, started.database))
    page.reload()
    assert "1 run: 1 done" in page.inner_text("main")
    looked_at(page, "submission-done")
    page.get_by_label("Yes, delete it").check()
    press(page, "Withdraw and delete it")
    assert "Withdrawn" in page.inner_text("h1")
    looked_at(page, "submission-withdrawn")
    page.context.close()


def test_a_page_that_waits_is_renewed_in_place(chromium: Any, started: Started, signed_in: Any, tmp_path: Path) -> None:
    """The submission's until it is done, the scheduler's without a word of what is just filled in there."""
    page, wrong = visit(chromium, f"{started.url}/submissions")
    _fill(page, tmp_path / "live.zip", package(b"\n/* live */\n"))
    page.evaluate("window.still = 1")
    context = chromium.new_context()
    context.add_cookies(signed_in.context.cookies(f"{started.url}/operate"))
    other = context.new_page()
    other.goto(f"{started.url}/operate")
    other.get_by_label("why").fill("half a sentence")
    row = other.locator("#queue td", has_text="uno")
    row.first.wait_for()
    other.get_by_role("link", name="what was done").focus()
    weighed(Service(started.url, started.database))
    page.get_by_text("1 run: 1 done").wait_for()
    page.get_by_role("button", name="Hand in").wait_for()
    row.first.wait_for(state="detached")
    assert page.evaluate("window.still") == 1, "it was loaded anew"
    assert other.get_by_label("why").input_value() == "half a sentence"
    assert other.evaluate("document.activeElement.textContent") == "what was done"
    looked_at(page, "submission-renewed")
    assert wrong == []
    context.close()
    page.context.close()


@pytest.mark.parametrize(
    "path", ["", "/audit", "/submissions", "/submissions/2", "/jobs/1", "/machines/bad", "/boards/bad%2Fb", "/nothing"]
)
def test_operators_pages_fit_and_axe_finds_nothing(chromium: Any, started: Started, signed_in: Any, path: str) -> None:
    context = chromium.new_context()
    context.add_cookies(signed_in.context.cookies(f"{started.url}/operate"))
    page = context.new_page()
    page.goto(f"{started.url}/operate{path}")
    assert not page.get_by_role("button", name="Sign in").count()
    looked_at(page, f"operate{path.replace('/', '-')}")
    context.close()


@pytest.mark.parametrize("path", ["/operate", "/operate/begin/used", "/submissions", "/submissions/unknown"])
def test_pages_of_who_is_not_signed_in_fit_and_axe_finds_nothing(
    chromium: Any, started: Started, signed_in: Any, path: str
) -> None:
    page, wrong = visit(chromium, started.url + path)
    looked_at(page, f"stranger{path.replace('/', '-')}")
    assert wrong == []
    page.context.close()


def test_a_new_user_with_nothing_but_the_pages(chromium: Any, tmp_path: Path) -> None:
    """What ``make serve`` starts: hand in, see figures, publish; then the worker is killed and a job is damaged, and
    from the pages all is repaired."""
    the_target("uno")
    database, port = tmp_path / "results.db", _port()
    words = ("serve", "--port", str(port), "--db", str(database), "--submissions", "--work", "1", "--target", "uno")
    with launched(*words) as process:
        assert process.stderr is not None
        url = f"http://127.0.0.1:{port}"
        assert url in process.stderr.readline()
        link = next(w for w in process.stderr.readline().split() if "/operate/begin/" in w)
        Thread(target=process.stderr.read, daemon=True).start()  # lest its workers wait for a reader
        page, wrong = visit(chromium, url)
        with page.expect_navigation():
            page.get_by_role("link", name="hand in").click()
        _fill(page, tmp_path / "mine.zip", package())
        until(page, "1 run: 1 done")
        shot(page, "new-user-figures")
        press(page, "Publish its results")
        assert "Published" in page.inner_text("main")
        with page.expect_navigation():
            page.get_by_role("link", name="tinyjambu128v2/small").first.click()
        assert page.inner_text("h1") == "tinyjambu128v2/small"
        shot(page, "new-user-published")

        (child,) = [p for p in children(process.pid) if b"watch" in Path(f"/proc/{p}/cmdline").read_bytes()]
        os.kill(child, signal.SIGKILL)
        page.goto(f"{url}/submissions")
        _fill(page, tmp_path / "more.zip", package(b"\n/* more */\n"))
        until(page, "1 run: 1 done")  # by another worker, which the server started
        with Store.open(database) as store, store._engine.begin() as connection:
            connection.execute(update(schema.job).where(schema.job.c.id == 2).values(record="{"))
        page.reload()
        assert "its record cannot be read" in page.inner_text("main")
        again = page.url
        page.goto(link)
        page.get_by_label("name").fill("ann")
        page.get_by_label("password").fill(PASSWORD)
        page.get_by_label("the same again").fill(PASSWORD)
        press(page, "Begin")
        page.goto(f"{url}/operate/jobs/2")
        shot(page, "new-user-damaged")
        press(page, "Repeat it")
        page.goto(again)
        until(page, "1 run: 1 done")
        assert "cannot be read" not in page.inner_text("main")
        assert wrong == []
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130, "as every command that Ctrl-C ends"
        assert not children(process.pid)
    page.context.close()


def children(process: int) -> list[int]:
    try:
        tasks = Path(f"/proc/{process}/task").iterdir()
        return [int(c) for t in tasks for c in (t / "children").read_text().split()]
    except OSError:
        return []


def until(page: Any, text: str) -> None:
    """Looks again until it is there."""
    deadline = time.monotonic() + 400
    while text not in page.inner_text("main"):
        assert time.monotonic() < deadline, page.inner_text("main")
        time.sleep(1)
        page.reload()


def _fill(page: Any, file: Path, content: bytes) -> None:
    file.write_bytes(content)
    page.get_by_label("package (.zip)").set_input_files(file)
    page.get_by_label("licence of the sources").fill("CC0-1.0")
    page.get_by_label("I may hand this in").check()
    press(page, "Hand in")
