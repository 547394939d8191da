"""The pages as files: links lead to files, nothing leads elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from msgspec.structs import replace

from steelyard.cli.app import app
from steelyard.web import layout, site
from tests.web.conftest import RECORDS, Parsed, made


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    made(folder / "results.db", *RECORDS).close()
    words = ["site", str(folder / "out"), "--db", str(folder / "results.db")]
    assert app.main(words, standalone_mode=False) == 0
    return folder / "out"


def test_every_link_leads_to_a_file(out: Path) -> None:
    pages = sorted(out.rglob("*.html"))
    assert len(pages) > 30
    for file in pages:
        page = Parsed(file.read_text(encoding="utf-8"))
        assert not {"script", "form", "style", "iframe"} & {tag for tag, _ in page.elements}
        for to in page.all("href") + page.all("src"):
            if to == "data:,":
                continue
            assert not re.match(r"[a-z]+:|/", to), to
            name, _, part = to.partition("#")
            there = (file.parent / unquote(name)).resolve() if name else file
            assert there.is_file(), f"{file}: {to}"
            assert there.is_relative_to(out)
            if part and there.suffix == ".html":
                assert part in Parsed(there.read_text(encoding="utf-8")).all("id"), to


def test_it_has_what_the_server_has(out: Path) -> None:
    run = RECORDS[0].setup.key[:16]
    for name in ("index.html", "targets/uno.html", "targets/uno/uno-crypto_aead.csv", "variants/toy1.html",
                 "targets/uno/figure-tradeoff-crypto_aead.svg", f"runs/{run}/1767225600000000.html",
                 "results/results.csv",
                 "claims.html", "campaigns/first.html", "figures/tradeoff.html"):  # fmt: skip
        assert (out / name).is_file(), name
    own = [f.read_bytes() for f in (out / "targets/uno").glob("uno-crypto_aead-????????.csv")]
    assert len(own) == 2, "of two compilers"
    assert (out / "targets/uno/uno-crypto_aead.csv").read_bytes() in own
    files = {str(f.relative_to(out)) for f in out.rglob("*") if f.is_file()}
    assert {Path(f).suffix for f in files} == {".html", ".csv", ".svg", ".css", ""}
    assert sorted(files - {site._LIST}) == (out / site._LIST).read_text().splitlines()


def test_no_two_files_are_one_where_case_is_not_told_apart() -> None:
    names = ("tinyjambu", "Tinyjambu", "TinyJAMBU", "con", "nul.csv", "%3Cb%3E", "long" * 40)
    files = [site.file_of(f"/families/{name}") for name in names]
    assert len({f.casefold() for f in files}) == len(names)
    assert files[0] == "families/tinyjambu.html"
    assert not {"con.html", "nul.csv", "nul.csv.html"} & {f.removeprefix("families/") for f in files}
    assert site.file_of("/families/Tinyjambu/x.csv").startswith(files[1].removesuffix(".html"))


def test_a_log_that_stayed_behind_ends_no_site(tmp_path: Path) -> None:
    """Of a database that was copied without its folder."""
    with made(tmp_path / "results.db", replace(RECORDS[0], log="5" * 64)):
        pass
    assert site.write(site.Plan(str(tmp_path / "results.db"), tmp_path / "out"), 1)[0] > 10
    (log,) = (tmp_path / "out").rglob("log.html")
    assert "What the compilers said is not here any more: the log is missing." in log.read_text(encoding="utf-8")


def test_what_is_gone_goes_from_the_folder_too(tmp_path: Path) -> None:
    """And nothing else does: neither the owner's files nor what a damaged list names elsewhere."""
    gone = RECORDS[0].setup.key[:16]
    made(tmp_path / "results.db", *RECORDS).close()
    made(tmp_path / "fewer.db", *(r for r in RECORDS if r.setup.key != RECORDS[0].setup.key)).close()
    out = tmp_path / "out"
    for name in ("results", "fewer"):
        assert app.main(["site", str(out), "--db", str(tmp_path / f"{name}.db")], standalone_mode=False) == 0
        assert (out / f"runs/{gone}").exists() is (name == "results")
        (out / "own.html").write_text("own")
        (tmp_path / "above.html").write_text("above")
        with (out / site._LIST).open("a") as listed:
            listed.write(f"../above.html\n{tmp_path}/above.html\nstatic\n\n")
        with (out / site._LIST).open("ab") as listed_bytes:
            listed_bytes.write(b"\xff\xfe\n")
    assert (out / "own.html").read_text() == "own"
    assert (tmp_path / "above.html").read_text() == "above"


def test_what_is_too_much_for_one_page_ends_no_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "results.db", *RECORDS).close()
    monkeypatch.setattr("steelyard.web.ask.LARGE", 3)
    plan = site.Plan(str(tmp_path / "results.db"), tmp_path)
    try:
        for path in ("/results", "/tables", "/rank", "/targets/uno"):
            assert site._page(plan, path).files
    finally:
        site._store(plan.place).close()
        site._store.cache_clear()
    said = Parsed((tmp_path / "results.html").read_text())
    assert "more than 3 runs" in said.text
    assert "targets.html" in said.all("href", "a")


@pytest.mark.long
def test_all_formats(tmp_path: Path) -> None:
    made(tmp_path / "results.db", *RECORDS).close()
    app.main(
        ["site", str(tmp_path / "out"), "--all-formats", "--db", str(tmp_path / "results.db")], standalone_mode=False
    )
    for ending in layout.ENDINGS:
        assert list((tmp_path / "out" / "targets" / "uno").glob(f"*.{ending}")), ending


#: names of which one's page, folder or table is another's in a plain folder of files
HOSTILE = (
    "toy", "toy.html", "toy.html.html", "TOY", "Toy.html", "toy.HTML", "toy.", "toy..", "..", ".", "toy.csv",
    "toy.csv.html", "toy.css", "toy/index.html", "index.html", "index", "toy%2findex.html", "~", "con", "con.html",
    "a" * 254, "a" * 255, site._short("Toy"), site._short("toy.html", ""), "toy\n", "static", "badges",
    "badges.html", "log",
)  # fmt: skip


def test_no_name_ends_a_site_or_takes_anothers_place(tmp_path: Path) -> None:
    """A stranger's package may name its folders so."""
    base = RECORDS[0]
    records = [
        replace(base, setup=replace(base.setup, implementation_digest=f"{k}{kind}", **{kind: name}))
        for kind in ("variant", "implementation", "family")
        for k, name in enumerate(HOSTILE)
    ]
    made(tmp_path / "results.db", *records).close()
    out = tmp_path / "out"
    assert app.main(["site", str(out), "--db", str(tmp_path / "results.db")], standalone_mode=False) == 0
    files = [f.relative_to(out) for f in out.rglob("*") if f.is_file()]
    lower = [str(f).casefold() for f in files]
    assert len(set(lower)) == len(lower)
    assert not {str(p).casefold() for f in files for p in f.parents} & set(lower)
    assert not [f for f in files if any(part.endswith((".", ".html")) for part in f.parts[:-1])]
    shown = [f for f in files if f.suffix == ".html"]
    for kind in ("variants", "families"):
        assert len([f for f in files if len(f.parts) == 2 and f.parts[0] == kind]) >= len(HOSTILE), kind
    assert len(shown) > 6 * len(HOSTILE)


def test_an_error_in_one_page_ends_no_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made(tmp_path / "results.db", *RECORDS).close()
    page = site.page

    def broken(*of: Any) -> Any:
        if of[2:] == (("uno",),):
            raise ZeroDivisionError
        return page(*of)

    monkeypatch.setattr(site, "page", broken)
    plan = site.Plan(str(tmp_path / "results.db"), tmp_path)
    try:
        assert site._page(plan, "/targets/uno").files
        assert site._page(plan, "/targets").leads
    finally:
        site._store(plan.place).close()
        site._store.cache_clear()
    assert "An error in Steelyard" in Parsed((tmp_path / "targets/uno.html").read_text()).text
    assert "/targets/uno" in caplog.text
