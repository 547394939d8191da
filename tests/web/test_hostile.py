"""Names, texts and addresses that want to be more than that."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from steelyard.model.reasons import Failure, Reason
from steelyard.web import address, app
from steelyard.web.makers import Here
from steelyard.web.site import Plan, _page, file_of
from tests.made_up import record
from tests.web.conftest import Site, ask, made

MARKUP = "<script>alert(1)</script>\"'onload=alert(2)//--><img src=x onerror=alert(3)>"
NAMES = (
    "..", ".", "...", "~", "a b", "a/b", "a%2Fb", "%", "?q=1", "#top", "a&b=c", "x.csv", "\x1b[31mred", "\u202eevil",
    "ünï", "-", "con", "a" * 200, MARKUP,
)  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    bad = Failure(Reason.COMPILE_ERROR, f"{MARKUP} \x1b]0;title\x07")
    records = []
    for k, name in enumerate(NAMES):
        r = record("v/i", digest=f"{k:x}"[0], target=("uno", name)[k % 2], failure=bad if k % 5 == 0 else None)
        setup = replace(
            r.setup,
            family=name,
            variant=name,
            implementation=name,
            flags=f"-D{name}",
            implementation_digest=f"{k:064x}",
        )
        records.append(replace(r, setup=setup, notes=(MARKUP, name), origin=name, host=name))
    folder = tmp_path_factory.mktemp("hostile")
    store = made(folder / "results.db")
    digest = store.put_blob(f"{MARKUP}\x1b[2J\n")
    for r in records:
        store.add(replace(r, log=digest))
    return Site(store)


def test_names_stay_names(site: Site) -> None:
    """Every page that such names lead to is there, parses, and has nothing in it that acts."""
    pages = site.crawl()
    assert len(pages) > 5 * len(NAMES)
    shown = " ".join(page.text for page in pages.values())
    assert MARKUP in shown
    assert not re.search("[\x00\x1b\u202e\x07]", shown)
    for name in NAMES:
        for of in (address.path("families", name), address.path("implementations", name, name)):
            site.page(of)


def test_names_are_what_is_read_from_their_address() -> None:
    for name in NAMES:
        path = address.path("variants", name)
        assert address.segments(path) == ("variants", name)
        assert re.fullmatch(r"/variants/[\w%~.-]+", path)


def test_files_stay_below_their_folder(site: Site, tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = Plan(str(site.store._name), out)
    for name in NAMES:
        for path in (address.path("variants", name), address.path("implementations", name, name)):
            assert ".." not in file_of(path).split("/")
            assert _page(plan, path).files
    assert not [f for f in tmp_path.iterdir() if f != out]
    assert {f.suffix for f in out.rglob("*") if f.is_file()} <= {".html", ".csv", ".svg"}


@pytest.mark.parametrize(
    "path",
    [
        "/%00", "/%ff%fe", "/targets/%2e%2e/%2e%2e/etc/passwd", "//evil.example/", "/targets/..;/",
        "/runs/%27%20or%201=1",
        "/static/../../secret", "/static/%2e%2e%2fapp.py", "/targets/uno/..%2f..%2fx.csv", "/" + "a/" * 3000,
        "/implementations/a/b/c/d/e", "/runs/' OR 1=1 --/1", "/tables.csv", "/.csv", "/targets/.csv", "/%E2%80%AE",
    ],
)  # fmt: skip
def test_addresses_that_name_nothing_are_refused(site: Site, path: str) -> None:
    here = Here(str(site.store._name))
    reply = ask(app.create(here), path)
    here.close()
    assert reply.status in (400, 404)
    assert "Traceback" not in reply.text


@pytest.mark.parametrize("query", ["where=%00", "where=%ff", "q=" + "%3Cscript%3E" * 50, "=x", "&&&", "a" * 100_000])
def test_questions_that_mean_nothing_are_refused_or_answered(site: Site, query: str) -> None:
    for path in ("/search", "/tables", "/compare"):
        reply = site.get(f"{path}?{query}")
        assert reply.status in (200, 400, 404)
        assert b"<script" not in reply.body


def test_patterns_do_not_take_for_ever(site: Site) -> None:
    nasty = "*a" * 200 + "b"
    assert site.get(f"/tables?where=variant+~+%22{nasty}%22").seconds < 30
    assert site.get(f"/tables?what={nasty}").status == 200
