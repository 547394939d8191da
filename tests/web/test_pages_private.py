"""A submission's private page, and what operators are told of its jobs."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import msgspec
from msgspec.structs import replace

from steelyard.cli import submit
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record
from steelyard.publish import formats
from steelyard.store import Store
from steelyard.store.operating import Yard
from steelyard.store.queue import DONE, Queue
from steelyard.store.submissions import Desk
from steelyard.web import wire
from steelyard.web.respond import respond
from tests.made_up import record
from tests.store.handed_in import GIVEN, ROOM, tasks

from .conftest import RECORDS, Site, made


def weighed(store: Store, content: bytes, *records: Record, previous: str = "") -> str:
    """A package whose jobs end with these records; the token of its private link."""
    given = replace(GIVEN, content=content, previous=previous)
    token = Desk(store).hand_in(given, tasks(given, "ab"[: len(records)]), ROOM)
    for r in records:
        with (line := Queue(store, "m 1", "m")).taken("ab") as taken:
            assert taken is not None
            line.close(taken, DONE, record=r)
    return token


def test_every_number_of_a_private_page_leads_to_its_private_run(tmp_path: Path) -> None:
    """Under the number that its address has; what it is compared with leads to its public run, if it has one."""
    with made(tmp_path / "r.db", *RECORDS) as store:
        site = Site(store)
        first = weighed(store, b"1", record("mine/ref", digest="8"), record("mine/ref", digest="8", target="bluepill"))
        page = site.page(f"/submissions/{first}")
        own = [f"/submissions/{first}/{n}" for n in (1, 2)]
        assert [page.all("href", "a").count(to) for to in own] == [2, 2], "of the jobs and of the figures"
        assert not [to for to in page.all("href", "a") if to.startswith(("/runs", "/implementations"))]
        rows = json.loads(site.get(f"/submissions/{first}/uno-crypto_aead.json").body)[0]["rows"]
        assert [(r["run"], r["runs"]) for r in rows] == [(1, [1])]
        assert [r["files"] for r in json.loads(site.get(f"/submissions/{first}/found.json").body)[0]["rows"]] == [1]
        Desk(store).publish(first)
        public = {f"/runs/{r.setup.key[:16]}" for r in store.runs(variant="mine")}
        page = site.page(f"/submissions/{first}")
        assert {to.rsplit("/", 1)[0] for to in page.all("href", "a") if to.startswith("/runs")} == public
        newer = weighed(store, b"2", record("mine/ref", digest="9", cycles=7.0), previous=first)
        page = site.page(f"/submissions/{newer}")
        assert "Since the last version" in page.text
        assert page.all("href", "a").count(f"/submissions/{newer}/3") > 2
        assert {to.rsplit("/", 1)[0] for to in page.all("href", "a") if to.startswith("/runs")} <= public
        assert [to for to in page.all("href", "a") if to.startswith("/runs")]


def test_a_program_gets_the_tables_of_a_private_page(tmp_path: Path) -> None:
    with made(tmp_path / "r.db") as store:
        site = Site(store)
        first = weighed(store, b"1", record("mine/ref", digest="8"))
        token = weighed(store, b"2", record("mine/ref", digest="9", cycles=7.0), previous=first)
        told = msgspec.json.decode(site.get(f"/api/v1/submissions/{token}").body, type=wire.Submission)
        sheets = [submit._shown(table) for table in (*told.tables, *told.changed)]
        assert [s.label for s in sheets] == ["uno-crypto_aead", "compare-uno"]
        text = formats.render(sheets, "md").decode()
        assert "| mine/ref" in text
        assert "| run" not in text, "a job is no run yet"
        assert "-99.30 %" in text
        assert told.changes


def test_nothing_is_deleted_by_one_click(tmp_path: Path) -> None:
    with made(tmp_path / "r.db") as store:
        address = f"/submissions/{weighed(store, b'1', record())}"
        page = Site(store).page(address)
        asked = [a for _, a in page.elements if a.get("name") == "sure"]
        assert [(a["type"], "required" in a) for a in asked] == [("checkbox", True)]
        shown = respond(store, address).body.decode()  # of a server that takes no submissions
        assert "<form" not in shown[shown.index("<main") :]
        assert "This server only shows it" in shown


def test_operators_are_told_what_became_of_a_job(tmp_path: Path) -> None:
    wrong = record(failure=Failure(Reason.KAT_MISMATCH, "vector 3: got 00, expected 01"))
    with made(tmp_path / "r.db") as store:
        weighed(store, b"1", wrong, record(target="bluepill"))
        yard = Yard(store)
        assert [yard.job(n)[0].detail for n in (1, 2)] == ["kat-mismatch: vector 3: got 00, expected 01", "verified"]


def test_the_page_of_what_is_no_run_of_its_own_says_why(tmp_path: Path) -> None:
    """Others have the same figures, or, when they are gone, others later ones: both are said."""
    with made(tmp_path / "r.db") as store:
        mine = record("mine/ref", digest="8")
        assert mine.finished is not None
        given = [(b"1", 7.0), (b"2", 7.0), (b"3", 9.0)]
        tokens = []
        for k, (content, cycles) in enumerate(given):
            metrics = {**mine.metrics, "cycles_encrypt_mean": cycles}
            later = mine.finished + timedelta(minutes=k)
            tokens.append(weighed(store, content, replace(mine, metrics=metrics, finished=later)))
        assert [Desk(store).publish(t) for t in tokens] == [1, 0, 1]
        said = "is public: its figures are the same, or it is later"
        assert said in Site(store).page(f"/submissions/{tokens[1]}").text
        Yard(store).delete(1)
        assert [r.metrics["cycles_encrypt_mean"] for r in store.runs(newest_only=False)] == [9.0]
        assert said in Site(store).page(f"/submissions/{tokens[1]}").text
        assert said not in Site(store).page(f"/submissions/{tokens[2]}").text
