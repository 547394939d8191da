"""Workers that have no database: what they get by their key, and what they may not say."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from steelyard import __version__
from steelyard.model.errors import UserError
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Point
from steelyard.model.workload import workload
from steelyard.store import Store
from steelyard.store.errors import LeaseLost
from steelyard.store.operating import Yard
from steelyard.store.operators import Operators
from steelyard.store.queue import Mine, Queue
from steelyard.store.quota import Quota
from steelyard.store.submissions import Desk
from steelyard.web import app
from steelyard.web import wirework as words
from steelyard.web.hired import HttpQueue
from steelyard.web.makers import Here
from steelyard.web.reply import Taking
from tests.cli.conftest import Cli, cli
from tests.conftest import the_target
from tests.made_up import record
from tests.store.test_queue import GIVEN, ROOM, states, tasks

from .conftest import Sent, ask
from .test_submissions import Service, hand_in, package, request, service

__all__ = ["cli", "service"]


class Desks:
    """A server in this process, and what a worker asks of it."""

    def __init__(self, place: Path) -> None:
        self.store, self._here = Store.open(place), Here(str(place), Taking(("uno",), Quota()))
        self.app = app.create(self._here)
        self.token = Desk(self.store).hand_in(GIVEN, [replace(t, sources="e" * 64) for t in tasks()], ROOM)
        self.keys = {m: Operators(self.store).hire(m) for m in ("one", "two")}

    def said(self, machine: str, deed: str, **asked: Any) -> Sent:
        body = msgspec.json.encode({"worker": "w", "version": __version__, **asked})
        return ask(self.app, f"/api/v1/work/{deed}", "POST", body, authorization=f"Bearer {self.keys[machine]}")

    def took(self, machine: str, target: str) -> Mine:
        got = msgspec.json.decode(self.said(machine, "take", targets=[target]).text, type=words.Work)
        assert got.taken is not None
        assert got.taken.content == GIVEN.content
        return Mine(got.taken.number, got.taken.lease, got.taken.attempt)

    def close(self) -> None:
        self._here.close()
        self.store.close()


@pytest.fixture
def desks(tmp_path: Path) -> Iterator[Desks]:
    made = Desks(tmp_path / "r.db")
    yield made
    made.close()


def test_only_with_a_key(desks: Desks) -> None:
    body = msgspec.json.encode({"worker": "w", "version": __version__, "targets": ["a"]})
    for headers in ({}, {"authorization": "Bearer x"}, {"authorization": f"Basic {desks.keys['one']}"}):
        assert ask(desks.app, "/api/v1/work/take", "POST", body, **headers).status == 401
    Operators(desks.store).hire("two")
    assert desks.said("two", "take", targets=["a"]).status == 401, "a new key ends the old one"
    Operators(desks.store).dismiss("one")
    assert desks.said("one", "take", targets=["a"]).status == 401
    assert states(Desk(desks.store), desks.token) == ["waiting", "waiting"]


def test_what_workers_may_not_say(desks: Desks) -> None:
    """Of another's job, of a job twice, of another implementation, in words that nobody knows, from another version."""
    mine, theirs = desks.took("one", "a"), desks.took("two", "b")
    good = record("toy1/ref", family="toy", digest="e", target="a", flags="-O3", load="kat")
    said = {"state": "done", "record": msgspec.to_builtins(good)}

    def of(job: Mine, **more: Any) -> dict[str, Any]:
        return {"job": msgspec.to_builtins(job), **said, **more}

    for job in (theirs, replace(mine, lease=theirs.lease), replace(mine, lease=mine.lease + 9)):
        assert desks.said("one", "close", **of(job)).status in (400, 409)
    assert desks.said("two", "beat", job=msgspec.to_builtins(mine)).status == 409
    assert desks.said("two", "give-back", job=msgspec.to_builtins(mine)).status == 409
    for changes in (
        {"target": "b"},
        {"variant": "aes"},
        {"flags": "-O0"},
        {"device": "board"},
        {"implementation_digest": "d" * 64},
        {"workload": workload("default").text},
    ):
        other = replace(good, setup=replace(good.setup, **changes))
        refused = desks.said("one", "close", **of(mine, record=msgspec.to_builtins(other)))
        assert (refused.status, "of another job" in refused.text) == (400, True), changes
    elsewhere, below = Point("encrypt", 7, 7, 900), Point("encrypt", 0, 0, -1)
    for other, why in (
        (replace(good, verification=None), "verified"),
        (replace(good, failure=Failure(Reason.NO_TOOLCHAIN, "")), "no fault of a machine"),
        (replace(good, points=(elsewhere,)), "points"),
        (replace(good, points=(below,)), "points"),
        (replace(good, metrics={"speed": 1.0}), "unknown metric"),
    ):
        refused = desks.said("one", "close", **of(mine, record=msgspec.to_builtins(other)))
        assert (refused.status, why in refused.text) == (400, True), refused.text
    assert desks.said("one", "close", **of(mine, state="published")).status == 400
    assert desks.said("one", "close", **of(mine, record=None)).status == 400
    assert desks.said("one", "close", **of(mine, more=1)).status == 400
    assert desks.said("one", "destroy").status == 400
    old = desks.said("one", "take", targets=["a"], version="0.0.1")
    assert (old.status, "install the same" in old.text) == (400, True)
    assert states(Desk(desks.store), desks.token) == ["running", "running"]

    assert desks.said("one", "beat", job=msgspec.to_builtins(mine)).status == 200
    assert desks.said("one", "close", **of(mine)).status == 200
    assert desks.said("one", "close", **of(mine)).status == 409, "said twice"
    made_up = replace(theirs, attempt=-99)
    assert desks.said("two", "give-back", job=msgspec.to_builtins(made_up)).status == 200
    assert states(Desk(desks.store), desks.token) == ["done", "waiting"]
    assert desks.took("two", "b").attempt == 1, "what is given back was no attempt, and no more than that"


def test_a_paused_machine_gets_nothing(desks: Desks) -> None:
    Yard(desks.store, "ann").pause("machine one")
    assert msgspec.json.decode(desks.said("one", "take", targets=["a"]).text)["taken"] is None
    desks.took("two", "a")
    boards = [{"name": "uno-1", "target": "uno", "aside": ""}]
    Yard(desks.store, "ann").pause("board one/uno-1")
    got = desks.said("one", "present", targets=["a"], boards=boards)
    assert msgspec.json.decode(got.text) == {"boards": ["uno-1"]}
    assert [w.machine for w in Yard(desks.store).workers()] == ["one"]
    assert desks.said("one", "absent").status == 200
    assert Yard(desks.store).workers() == []


def test_work_over_http(service: Service, cli: Cli, tmp_path: Path) -> None:
    """As a user starts it, on a machine that has nothing but the address and a key."""
    the_target("uno")
    link = hand_in(service.url, package()).headers["location"]
    wrong = cli(f"work --server {service.url} --key wrong --until-empty -t uno")
    assert (wrong.code, "not the key of a worker" in wrong.err) == (2, True), wrong.err
    made = cli(f"queue key bench --db {service.database} --json")
    (key,) = [row["key"] for row in msgspec.json.decode(made.out)[0]["rows"]]
    words_ = ["work", "--server", service.url, "--until-empty", "-t", "uno"]
    done = subprocess.run(
        [sys.executable, "-m", "steelyard", *words_],
        env=os.environ | {"STEELYARD_WORKER_KEY": key}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "tinyjambu128v2/small on uno: done" in done.stderr
    assert key not in done.stderr
    assert "1 run: 1 done" in request(service.url, link).text
    with Store.open(service.database) as store:
        assert [a.worker.split()[0] for a in Yard(store).job(1)[1]] == ["bench"]
        with pytest.raises(LeaseLost):
            Queue(store, "x").beat(Mine(1, 1, 1))


@pytest.mark.parametrize("key", ["b\u202ed", "key\nHost: other"])
def test_what_no_header_can_have_is_no_key(key: str) -> None:
    with pytest.raises(UserError, match="is not a key that steelyard queue key prints"):
        HttpQueue("http://127.0.0.1:9", key, "one")
