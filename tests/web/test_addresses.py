"""Addresses that others keep, for good: of figures and runs, feeds and badges."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as xml
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from steelyard.model.origin import of_submission
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record
from steelyard.store import Store
from steelyard.store.copying import copy
from steelyard.store.operating import forget
from steelyard.web import address
from steelyard.web.pages import named
from tests.made_up import other_build, record
from tests.store.handed_in import handed_in, result
from tests.web.conftest import RECORDS, Site, made


def test_a_figure_of_a_run_has_an_address(site: Site) -> None:
    page = site.page(f"/runs/{RECORDS[0].setup.key[:16]}")
    assert {"metrics-rom", "metrics-stack", "points-0-16"} <= set(page.all("id", "tr"))
    assert "#metrics-rom" in page.all("href", "a")


def test_a_run_that_newer_ones_replace_keeps_its_address(tmp_path: Path) -> None:
    old = record("toy1/ref", cycles=1000)
    new = replace(record("toy1/ref", cycles=1000, rom=7), finished=datetime(2026, 2, 1, tzinfo=UTC))
    with made(tmp_path / "two.db", old, new) as store:
        site = Site(store)
        key = old.setup.key[:16]
        newest = site.page(f"/runs/{key}")
        [older] = [
            to
            for to in newest.all("href", "a")
            if re.fullmatch(r"/runs/\w+/\d+", to) and to.endswith("1767225600000000")
        ]
        assert "run 2:" in newest.text
        assert "run 1:" in site.page(older).text


def test_a_name_has_one_spelling_in_an_address() -> None:
    for name in ("", ".", "..", "~", "~a", ".a", "a~", "a/b"):
        assert address.segments(address.path("variants", name)) == ("variants", name)
    assert not address.is_private(address.segments("/~submissions/x"))
    assert not address.is_private(address.segments("/api/~v1/submissions/x"))


ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.mark.parametrize("place", ["", "/targets/uno", "/families/toy", "/variants/toy1", "/implementations/toy1/ref"])
def test_the_newest_runs_of_a_page_are_a_feed(site: Site, place: str) -> None:
    [to] = [to for to in site.page(place or "/").all("href", "a") if to.endswith(".atom")]
    reply = site.get(to)
    assert (to, reply.status, reply.kind) == (f"{place}/feed.atom", 200, "application/atom+xml; charset=utf-8")
    feed = xml.fromstring(reply.body)
    words = set(place.split("/")[2:])
    mine = [
        r
        for r in reversed(RECORDS)
        if words <= {r.setup.target, r.setup.family, r.setup.variant, r.setup.implementation}
    ]
    entries = feed.findall(f"{ATOM}entry")
    assert [e.findtext(f"{ATOM}title", "").split(",")[0] for e in entries] == [
        f"{r.setup.label} on {r.setup.target}" for r in mine
    ]
    ids = [e.findtext(f"{ATOM}id", "") for e in (feed, *entries)]
    assert len(set(ids)) == len(ids) == len(mine) + 1
    for e in (feed, *entries):
        assert datetime.fromisoformat(e.findtext(f"{ATOM}updated", "")).tzinfo
    for e in entries:
        [link] = e.findall(f"{ATOM}link")
        site.page(link.attrib["href"])
    assert site.get(f"{place or '/targets'}x/feed.atom").status == 404


def test_a_page_without_runs_has_an_empty_feed(tmp_path: Path) -> None:
    """To which it leads; who reads it gets the first run when there is one."""
    with made(tmp_path / "empty.db") as store:
        site = Site(store)
        for place in ("", "/targets/uno"):
            [to] = [to for to in site.page(place or "/").all("href", "a") if to.endswith(".atom")]
            for _ in range(2):
                reply = site.get(to)
                assert (reply.status, reply.kind) == (200, "application/atom+xml; charset=utf-8")
                feed = xml.fromstring(reply.body)
                assert not feed.findall(f"{ATOM}entry")
                assert feed.findtext(f"{ATOM}updated") == "1970-01-01T00:00:00+00:00"
                assert feed.findtext(f"{ATOM}id", "").startswith("urn:uuid:")
        store.add(record("toy1/ref", target="uno"))
        assert len(xml.fromstring(site.get("/targets/uno/feed.atom").body).findall(f"{ATOM}entry")) == 1
        assert not xml.fromstring(site.get("/targets/bluepill/feed.atom").body).findall(f"{ATOM}entry")
        assert site.get("/targets/unox/feed.atom").status == 404


def test_a_feed_is_of_the_oldest_run_that_there_is(tmp_path: Path) -> None:
    """Whatever its number: in a copy that is another."""
    found = []
    with Store.open(tmp_path / "a.db") as one, Store.open(tmp_path / "b.db") as other:
        for store, deleted, kept in ((one, "toy1/ref", "toy2/ref"), (other, "toy3/ref", "toy4/ref")):
            forget(store, store.add(record(deleted, digest="1")))
            store.add(record(kept, digest="2"))
        with Store.open(tmp_path / "copy.db") as copied:
            copy(one, copied)
            for store in (one, copied, other):
                feed = xml.fromstring(Site(store).get("/feed.atom").body)
                found.append(feed.findtext(f"{ATOM}id"))
    assert found[0] == found[1] != found[2]


def test_a_feed_says_what_became_of_a_run(site: Site) -> None:
    feed = xml.fromstring(site.get("/variants/toy1/feed.atom").body)
    titles = [e.findtext(f"{ATOM}title", "") for e in feed.findall(f"{ATOM}entry")]
    assert titles[:2] == [
        "toy1/ref on uno, simulated, -O3: encrypt 900, ROM 500",
        "toy1/bad on uno, simulated, -O3: wrong-output",
    ]


def test_what_boards_measured_is_told_from_what_was_simulated(tmp_path: Path) -> None:
    """On the front page and in feeds, where runs of all devices are."""
    simulated, measured = record("toy1/ref"), record("toy2/ref", cycles=5000.0)
    board = replace(measured, setup=replace(measured.setup, device="board"))
    site = Site(made(tmp_path / "results.db", simulated, board))
    text = site.page("/").text
    assert "toy2/ref uno board -O3 5 000" in text
    assert "toy1/ref uno simulator -O3 1 000" in text
    assert "5 000" not in text[text.index("Weighed last") :]
    feed = xml.fromstring(site.get("/feed.atom").body)
    titles = [e.findtext(f"{ATOM}title", "") for e in feed.findall(f"{ATOM}entry")]
    assert titles[0] == "toy2/ref on uno, measured on a board, -O3: encrypt 5 000, ROM 500"


def test_badges_are_figures_of_a_table(site: Site) -> None:
    page = site.page("/implementations/toy1/ref/badges")
    assert "/implementations/toy1/ref/badges" in site.page("/implementations/toy1/ref").all("href", "a")
    assert "toy1/ref on uno, simulated: 900 cycles encrypt" in page.all("alt", "img")
    for to in page.all("src", "img"):
        drawn = xml.fromstring(site.get(to).body)
        assert drawn.findtext("{http://www.w3.org/2000/svg}title") in page.all("alt", "img")
    assert site.get("/implementations/toy1/bad/badges").status == 404


def test_a_badge_s_address_has_the_same_row_s_figure_whatever_is_run_last(tmp_path: Path) -> None:
    """An AEAD and a hash of one name, and flags that differ in signs only."""
    rows = [
        record("toy1/ref", rom=500),
        record("toy1/ref", primitive="crypto_hash", rom=700),
        record("toy1/ref", flags="-DX=1", rom=501),
        record("toy1/ref", flags="-DX=-1", rom=502),
    ]
    shown = []
    for name, order in (("one", rows), ("other", rows[::-1])):
        site = Site(made(tmp_path / f"{name}.db", *order))
        page = site.page("/implementations/toy1/ref/badges")
        shown.append(dict(zip(page.all("src", "img"), page.all("alt", "img"), strict=True)))
    assert shown[0] == shown[1]
    assert "toy1/ref crypto_hash on uno, simulated: 700 bytes ROM" in shown[0].values()
    alone = Site(made(tmp_path / "alone.db", rows[0])).page("/implementations/toy1/ref/badges")
    assert set(alone.all("src", "img")) < set(shown[0])


def test_a_badge_of_what_was_handed_in_follows_to_versions_with_other_file_names(tmp_path: Path) -> None:
    """One for the line, whose address no file's name is in; by older addresses it is there too. It is the newest
    version's, whichever was run last."""
    versions = [
        replace(record("toy1/ref", family=of, rom=500 + k, digest=f"{k}"), origin=of_submission(f"j-{k}.zip", 7 + k, 7))
        for k, of in ((1, "toy"), (3, "toy"), (2, "toy"), (0, "old"))
    ]
    old = "crypto_aead-uno-j-0.zip-submission-7-O3-"
    store = made(tmp_path / "results.db", *versions)
    site, at = Site(store), "/implementations/toy1/ref/badges"
    shown = [to for to in site.page(at).all("src", "img") if to.endswith("-rom.svg")]
    assert shown == [f"{at}/crypto_aead-uno-submission-7-O3-rom.svg"]
    assert "j-0" not in site.get(at).body.decode()
    newest = site.get(shown[0]).body
    assert b"503" in newest
    [own] = (
        named._address({"primitive": "crypto_aead", "target": "uno", "flags": "-O3"}, " (j-0.zip (submission 7))"),
    )
    assert own.startswith(old)
    assert site.get(f"{at}/{own}-rom.svg").body == newest
    history = site.page("/implementations/toy1/ref").text.split("History")[1]
    figures = [history.index(f" {rom} ") for rom in (500, 501, 502, 503)]
    assert figures == sorted(figures), "of one line, in the order of its versions"


def test_a_badge_stays_when_others_publish_the_same_sources(tmp_path: Path) -> None:
    """Tables show them once, under the newest compiler. Who has newer sources by now has their figure, or none."""
    at = "/implementations/toy1/ref/badges/crypto_aead-uno-submission-{}-O3-rom.svg"
    mine = replace(record("toy1/ref", rom=501, compiler="gcc 1"), origin="j.zip (submission 7)")
    theirs = replace(record("toy1/ref", rom=502, compiler="gcc 2"), origin="k.zip (submission 8)")
    site = Site(made(tmp_path / "same.db", mine, theirs))
    assert site.get(at.format(7)).body == site.get(at.format(8)).body
    assert b"502" in site.get(at.format(7)).body
    for failure, status in ((None, 200), (Failure(Reason.COMPILE_ERROR, "x.c"), 404)):
        newer = record("toy1/ref", rom=503, digest="n", failure=failure)
        newer = replace(newer, origin="j.zip (submission 9 of line 7)")
        site = Site(made(tmp_path / f"{status}.db", mine, theirs, newer))
        assert (site.get(at.format(7)).status, b"503" in site.get(at.format(7)).body) == (status, status == 200)
        assert b"502" in site.get(at.format(8)).body


def test_a_badge_follows_to_what_replaced_it_as_anothers(tmp_path: Path) -> None:
    """The newest version has the sources of what is bundled, and no run of its own until that goes on to others."""
    at = "/implementations/toy1/ref/badges/crypto_aead-a-{}O3-rom.svg"
    with Store.open(tmp_path / "results.db") as store:
        first = handed_in(store, "a")
        site = Site(store)
        assert b"97 bytes" in site.get(at.format("submission-1-")).body
        store.add(result("b"))
        handed_in(store, "b", first)
        assert b"98 bytes" in site.get(at.format("submission-1-")).body
        store.add(result("c"))
        assert b"98 bytes" in site.get(at.format("submission-1-")).body
        assert b"99 bytes" in site.get(at.format("")).body


@pytest.mark.parametrize(
    "path", ["/targets/uno", "/families/toy", "/tables", "/rank", "/rank?kind=score", "/trade-offs"]
)
def test_an_address_has_the_same_rows_whatever_else_is_stored(tmp_path: Path, path: str) -> None:
    """Another primitive, another harness, and another build of a compiler: the name of a group is its own, and the one
    without a digest is that of the most setups, of equals the newest."""

    def some(first: int, count: int, **of: Any) -> list[Record]:
        return [record(f"toy{first + k}/ref", cycles=100.0 * (9 - k), rom=500 + k, **of) for k in range(count)]

    ours, hashes = some(1, 3), some(1, 4, primitive="crypto_hash")
    template, build = some(4, 3, harness="0"), [other_build(r) for r in some(7, 2)]

    def labels(site: Site, address: str) -> set[str | None]:
        lines = csv.DictReader(io.StringIO(site.get(address).body.decode()))
        return {line.get("label") or line.get("name") for line in lines}

    def own(site: Site) -> dict[str, set[str | None]]:
        links = site.page(path).all("href", "a")
        return {to: labels(site, to) for to in links if re.search(r"-[0-9a-f]{8}\.csv", to)}

    orders = ours + hashes + template + build, build + template + hashes + ours
    alone = [own(Site(made(tmp_path / f"{k}.db", *of))) for k, of in enumerate((ours, hashes, template, build))]
    whole = [Site(made(tmp_path / f"whole{k}.db", *of)) for k, of in enumerate(orders)]
    assert [own(site) for site in whole] == [{to: of for some in alone for to, of in some.items()}] * 2
    for site, newest in zip(whole, (template, ours), strict=True):
        for plain in {re.sub(r"-[0-9a-f]{8}\.", ".", to) for to in alone[0]}:
            assert labels(site, plain) <= {r.setup.label for r in newest}, plain
        assert not [to for to in site.page(path).all("href", "a") if re.search(r"-\d\.csv", to)]
        assert all("-crypto_" in to for to in site.page(path).all("src", "img"))


def test_what_others_hand_in_under_a_name_changes_nothing_of_it(tmp_path: Path) -> None:
    """Neither badges nor history, nor what it is compared with; and a comparison says that there are others."""
    ours, theirs = record("toy1/ref", rom=500), record("toy1/ref", rom=900, cycles=9000.0)
    setup = replace(theirs.setup, implementation_digest="d" * 64)
    theirs = replace(theirs, setup=setup, origin="toy.zip (submission 1)")
    before = Site(made(tmp_path / "one.db", ours, record("toy2/ref")))
    after = Site(made(tmp_path / "two.db", ours, record("toy2/ref"), theirs))
    old, new = (
        dict(zip((p := s.page("/implementations/toy1/ref/badges")).all("src", "img"), p.all("alt", "img"), strict=True))
        for s in (before, after)
    )
    figures = [{to: said.split("simulated: ")[1] for to, said in some.items()} for some in (old, new)]
    assert figures[0].items() < figures[1].items()
    assert "History" not in after.page("/implementations/toy1/ref").text
    text = after.page("/compare?old=toy1/ref&new=toy2/ref").text
    assert "900" not in text
    assert "toy1/ref means other sources too (toy.zip (submission 1)): the bundled one was compared" in text
