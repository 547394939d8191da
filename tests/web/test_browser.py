"""A real browser: Chromium opens the pages by server and from disk. What they look like is kept in STEELYARD_SHOTS."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

import pytest

from steelyard.cli.app import app
from steelyard.web.address import segments
from steelyard.web.pages import ROUTES, route
from tests.web.conftest import RECORDS, made

pytestmark = pytest.mark.long
#: pixels between the margins of a sheet of A4, as Chromium prints it
A4 = 718
RUN = f"/runs/{RECORDS[0].setup.key[:16]}"
AT = f"{RUN}/{int((RECORDS[0].finished or 0).timestamp()) * 1_000_000}"  # type: ignore[union-attr]
#: one of each kind of page, of which pictures are kept; those of submissions are in test_browser_service.py
PAGES = {
    "front": "/", "target": "/targets/uno", "implementation": "/implementations/toy1/ref", "rank": "/rank",
    "tables": "/tables", "compare": "/compare?old=toy1/ref&new=toy2/ref", "search": "/search?q=toy",
    "run": RUN, "claims": "/claims", "wrong": "/targets/unoo",
    "trade-offs": "/trade-offs", "definitions": "/definitions", "campaign": "/campaigns/first",
    "figure": "/figures/rom", "targets": "/targets", "family": "/families/toy", "variant": "/variants/toy1",
    "badges": "/implementations/toy1/ref/badges", "profile": f"{RUN}/profile", "image": f"{RUN}/image", "run-at": AT,
    "log": f"{AT}/log", "results": "/results", "figures": "/figures", "campaigns": "/campaigns",
    "glossary": "/glossary", "failed": f"/runs/{RECORDS[9].setup.key[:16]}", "look": "/search", "one": "/compare",
    "point": f"{RUN}#points-0-16", "refused": "/tables?columns=roam", "nobody": "/runs/ffffffffffffffff",
    "nowhere": "/tragets", "too-long": f"/search?q={'a' * 9000}", "no-hit": "/search?q=qqqq",
    "long-name": f"/families/{'x' * 200}",
    "pivot": "/tables?pivot=target&columns=rom", "every-run": "/tables?all=yes", "merit": "/rank?kind=merit",
    "score": "/rank?kind=score", "pareto": "/rank?kind=pareto",
}  # fmt: skip
#: those that a database without results has to have too
EMPTY = (
    "front", "targets", "target", "tables", "results", "rank", "trade-offs", "figures", "figure", "compare", "campaign",
    "search", "run", "implementation",
)  # fmt: skip
#: colours and pixels of a window, and what axe looks for: colours alone, where the rest was looked at
_COLOURS = {"runOnly": ["color-contrast"]}
LOOKS: list[tuple[str, int, dict[str, Any]]] = [
    ("light", 1280, {}), ("dark", 1280, _COLOURS), ("light", 360, _COLOURS), ("dark", 360, {}),
]  # fmt: skip


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("browser") / "results.db"
    made(path, *RECORDS).close()
    return path


@contextmanager
def serving(database: Path) -> Iterator[str]:
    """``steelyard serve`` as a user starts it."""
    from tests.store.servers import _port

    port = _port()
    command = [sys.executable, "-m", "steelyard", "serve", "--port", str(port), "--db", str(database)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert f"http://127.0.0.1:{port}/" in process.stderr.readline()
        yield f"http://127.0.0.1:{port}"
        process.send_signal(signal.SIGINT)
        process.wait(30)


@pytest.fixture(scope="module")
def server(database: Path) -> Iterator[str]:
    with serving(database) as url:
        yield url


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server of a database that has no results yet."""
    with serving(tmp_path_factory.mktemp("nothing") / "results.db") as url:
        yield url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("Playwright is not installed: pip install playwright")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("Chromium is not installed: apt install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        yield browser
        browser.close()


def visit(chromium: Any, address: str, **settings: Any) -> tuple[Any, list[str]]:
    """A page in a window of its own, and what it complained of or asked of others."""
    page = chromium.new_context(**settings).new_page()
    page.set_default_timeout(300_000)  # milliseconds; on a machine that does other things too
    wrong: list[str] = []
    origin = re.match(r"file://|http://[^/]*", address)
    assert origin is not None
    page.on("console", lambda m: wrong.append(m.text) if "status of 4" not in m.text else None)
    page.on("pageerror", lambda e: wrong.append(str(e)))
    page.on("request", lambda r: wrong.append(r.url) if not r.url.startswith((origin[0], "data:")) else None)
    page.goto(address)
    page.wait_for_load_state("networkidle")
    return page, wrong


def looked_at(page: Any, name: str) -> None:
    """A page in every look is no wider than its window, and axe finds nothing, whatever is folded on it; a picture is
    kept for who wants to look at it."""
    if importlib.util.find_spec("axe_playwright_python") is None:
        pytest.skip("axe is not installed: pip install axe-playwright-python")
    from axe_playwright_python.sync_playwright import Axe

    folder = os.environ.get("STEELYARD_SHOTS")
    for look, width, rules in LOOKS:
        page.emulate_media(color_scheme=look)
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if folder:
            page.screenshot(path=Path(folder) / f"{name}-{look}-{width}.png", full_page=True)
        page.evaluate("document.querySelectorAll('details').forEach(of => { of.open = true })")
        found = Axe().run(page, options={"resultTypes": ["violations"], **rules}).response["violations"]
        assert [(look, width, v["id"], v["nodes"][0]["html"][:200]) for v in found] == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_asks_nobody_else_and_axe_finds_nothing(chromium: Any, server: str, name: str) -> None:
    page, wrong = visit(chromium, server + PAGES[name])
    for image in page.locator("img").all():
        image.scroll_into_view_if_needed()
        page.wait_for_function("image => image.complete && image.naturalWidth > 0", arg=image.element_handle())
    looked_at(page, name)
    assert wrong == []
    page.context.close()


@pytest.mark.parametrize("name", EMPTY)
def test_without_results_a_page_says_so_and_axe_finds_nothing(chromium: Any, nothing: str, name: str) -> None:
    page, wrong = visit(chromium, nothing + PAGES[name])
    looked_at(page, f"empty-{name}")
    assert wrong == []
    page.context.close()


def test_every_kind_of_page_is_looked_at() -> None:
    kinds = {id(r): words for words, r in ROUTES.items() if words[:1] != ("submissions",)}
    for address in PAGES.values():
        if found := route(segments(urldefrag(address).url.partition("?")[0])):
            kinds.pop(id(found[0]), None)
    assert kinds == {}


@pytest.mark.parametrize("name", ["implementation", "run", "tables", "target"])
def test_a_page_is_printed_whole(chromium: Any, server: str, name: str) -> None:
    """Black on white whatever the look, without what is to be pressed, and no table is cut off."""
    page, _ = visit(chromium, server + PAGES[name], color_scheme="dark", viewport={"width": A4, "height": 1000})
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert not page.locator("header, form, .files, .bar").filter(visible=True).count()
    wider = "[...document.querySelectorAll('table')].filter(t => t.getBoundingClientRect().right > innerWidth).length"
    assert page.evaluate(wider) == 0
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    if folder := os.environ.get("STEELYARD_SHOTS"):
        (Path(folder) / f"{name}.pdf").write_bytes(printed)
    page.context.close()


def test_a_wide_table_s_caption_stays_in_a_phone_s_window(chromium: Any, server: str) -> None:
    page, _ = visit(chromium, server + PAGES["target"], viewport={"width": 360, "height": 800})
    wide = page.locator(".wide").filter(has=page.locator("th", has_text="stack")).first
    assert wide.evaluate("box => box.scrollWidth > box.clientWidth"), "a table that is wider than the window"
    caption = wide.locator("caption span")
    for place in (0, 99999):
        wide.evaluate("(box, x) => { box.scrollLeft = x }", place)
        at = caption.evaluate("text => text.getBoundingClientRect().toJSON()")
        assert at["left"] >= 0
        assert at["right"] <= 360
    page.context.close()


def test_what_scrolls_on_a_screen_is_printed_whole(chromium: Any, server: str) -> None:
    page, _ = visit(chromium, server + PAGES["log"], viewport={"width": 700, "height": 900})
    text = page.locator("pre")
    text.evaluate("box => { box.textContent = ('x'.repeat(300) + '\\n').repeat(200) }")
    cut = "box => box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1"
    assert text.evaluate(cut)
    page.emulate_media(media="print")
    assert not text.evaluate(cut)
    page.context.close()


def test_without_scripts_a_visitor_finds_filters_compares_and_downloads(chromium: Any, server: str) -> None:
    page, wrong = visit(chromium, server, java_script_enabled=False, accept_downloads=True)
    page.get_by_role("navigation", name="pages").get_by_role("link", name="tables").click()
    page.get_by_label("filter").fill("target == bluepill and rom < 750")
    page.get_by_label("columns").fill("run,label,rom")
    page.get_by_role("button", name="Show").click()
    assert page.locator("tbody th a").all_inner_texts() == ["toy2/ref", "toy3/ref"]
    with page.expect_download() as download:
        page.locator(".files a").filter(has_text=".csv").first.click()
    assert "run,label,rom" in Path(download.value.path()).read_text()
    page.get_by_role("link", name="compare").click()
    page.get_by_label("old").fill("toy1/ref")
    page.get_by_label("new").fill("toy3/ref")
    page.get_by_role("button", name="Compare").click()
    assert "toy1/ref -> toy3/ref" in page.inner_text("main")
    page.get_by_role("link", name="search").click()
    page.get_by_label("look for").fill("toyhash")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="implementation toyhash/ref").click()
    assert page.inner_text("h1") == "toyhash/ref"
    assert wrong == []
    page.context.close()


def test_the_keyboard_reaches_the_content(chromium: Any, server: str) -> None:
    page, _ = visit(chromium, server + "/targets/uno")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "to the content"
    page.keyboard.press("Enter")
    page.wait_for_url("**#content")
    page.context.close()


def test_files_open_from_disk_without_a_request(chromium: Any, database: Path, tmp_path: Path) -> None:
    app.main(["site", str(tmp_path / "out"), "--db", str(database)], standalone_mode=False)
    page, wrong = visit(chromium, (tmp_path / "out" / "index.html").as_uri())
    page.get_by_role("link", name="uno", exact=False).first.click()
    page.wait_for_load_state("networkidle")
    assert "ATmega328P" in page.inner_text("h1")
    assert page.evaluate("getComputedStyle(document.querySelector('.files')).marginTop") != "16px"  # the style is there
    assert page.evaluate("document.images[0].naturalWidth") > 100
    assert wrong == []
    looked_at(page, "from-disk")  # axe asks for the style, which no page of a file may
    page.context.close()
