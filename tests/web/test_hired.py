"""Workers that have no database: what they get by their key, and what they may not say."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from steelyard import __version__
from steelyard.building import harness_digest
from steelyard.device import timing_model
from steelyard.measure import why_not
from steelyard.model.errors import UserError
from steelyard.model.packed import pack, unpack
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Helper, Operation, Point, Record, Toolchain
from steelyard.model.target import load_target
from steelyard.model.workload import LEFT_OUT, workload
from steelyard.store import Store, tenure
from steelyard.store.errors import LeaseLost
from steelyard.store.operating import Yard
from steelyard.store.operators import Operators
from steelyard.store.queue import Mine, Queue, Taken
from steelyard.store.quota import Quota
from steelyard.store.submissions import Desk
from steelyard.web import app
from steelyard.web import wirework as words
from steelyard.web.hired import HttpQueue
from steelyard.web.makers import Here
from steelyard.web.reply import Taking
from tests.cli.conftest import Cli
from tests.conftest import the_target
from tests.made_up import record
from tests.store.handed_in import GIVEN, ROOM, states, tasks

from .conftest import Sent, ask
from .handing_in import Service, hand_in, package, request

TASKS = [
    replace(t, sources="e" * 64, target=name, workload="0/0,0/16,0/32")
    for t, name in zip(tasks(), ("uno", "bluepill"), strict=True)
]


def whole(**changes: Any) -> Record:
    """What a worker may say of the first job: of this Steelyard, with all figures."""
    made = record("toy1/ref", family="toy", digest="e", target="uno", flags="-O3", load="0/0,0/16,0/32")
    target = load_target("uno")
    ops: tuple[Operation, ...] = ("encrypt", "decrypt", "reject")
    tool = Toolchain(target.toolchain.name, "gcc 1", "c" * 64)
    here = {"target_digest": target.digest, "harness": harness_digest(), "timing_model": timing_model(target)}
    points = tuple(replace(p, operation=op) for op in ops for p in made.points)
    figures: dict[str, float] = dict.fromkeys(("rom", "rom_helpers", "ram_static", "image_static", "heap"), 0)
    figures |= dict.fromkeys(("image_rom", "stack", *(f"stack_{op}" for op in ops)), 80)
    figures |= {f"cycles_{op}_mean": 1000.0 for op in ops}
    for op in ops:
        figures |= {f"{op}_per_byte": 10.0, f"{op}_fixed": 100.0, f"energy_{op}_modelled": energy(1000.0)}
    setup = replace(made.setup, toolchain=tool, **here)
    each = pack(Point(op, 0, 0, cycles) for op in ops for cycles in (900, 1100))
    said = {"metrics": figures, "points": points, "vector_cycles": each, "finished": datetime.now(UTC)}
    return replace(made, setup=setup, **said, **changes)


def energy(cycles: float) -> float:
    per_cycle = load_target("uno").nanojoule_per_cycle
    assert per_cycle is not None
    return cycles * per_cycle / 1000


class Desks:
    """A server in this process, and what a worker asks of it."""

    def __init__(self, place: Path) -> None:
        self.store, self._here = Store.open(place), Here(str(place), Taking(("uno",), Quota()))
        self.app = app.create(self._here)
        self.token = Desk(self.store).hand_in(GIVEN, TASKS, ROOM)
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
    assert desks.said("two", "take", targets=["uno"]).status == 401, "a new key ends the old one"
    Operators(desks.store).dismiss("one")
    assert desks.said("one", "take", targets=["uno"]).status == 401
    assert states(Desk(desks.store), desks.token) == ["waiting", "waiting"]


def test_what_workers_may_not_say(desks: Desks) -> None:
    """Of another's job, of a job twice, of another implementation, in words that nobody knows, from another version."""
    mine, theirs = desks.took("one", "uno"), desks.took("two", "bluepill")
    good = whole()
    said = {"state": "done", "record": msgspec.to_builtins(good)}

    def of(job: Mine, **more: Any) -> dict[str, Any]:
        return {"job": msgspec.to_builtins(job), **said, **more}

    for job in (theirs, replace(mine, lease=theirs.lease), replace(mine, lease=mine.lease + 9)):
        assert desks.said("one", "close", **of(job)).status in (400, 409)
    assert desks.said("two", "beat", job=msgspec.to_builtins(mine)).status == 409
    assert desks.said("two", "give-back", job=msgspec.to_builtins(mine)).status == 409
    long = desks.said("one", "beat", job=msgspec.to_builtins(replace(mine, number=1 << 70)))
    assert (long.status, "a number has more than 64 bits" in long.text) == (400, True)
    for changes in (
        {"target": "bluepill"},
        {"variant": "aes"},
        {"flags": "-O0"},
        {"device": "board"},
        {"implementation_digest": "d" * 64},
        {"workload": workload("default").text},
    ):
        other = replace(good, setup=replace(good.setup, **changes))
        refused = desks.said("one", "close", **of(mine, record=msgspec.to_builtins(other)))
        assert (refused.status, "of another job" in refused.text) == (400, True), changes
    for other, why in (
        (replace(good, verification=None), "verified"),
        (replace(good, failure=Failure(Reason.NO_TOOLCHAIN, "")), "no fault of a machine"),
        (replace(good, failure=Failure(Reason.KAT_MISMATCH, "")), "has no figures"),
        (replace(good, finished=datetime(1990, 1, 1, tzinfo=UTC)), "clock"),
        (replace(good, seconds=-5.0), "seconds"),
        (replace(good, host="h" * 256), "at most 255 fit"),
        (replace(good, notes=("n" * (2 << 20),)), "notes: more than"),
        *(
            (replace(good, setup=replace(good.setup, **{n: v})), n)
            for n, v in (
                ("harness", "x"),
                ("target_digest", "y"),
                ("timing_model", "<b>"),
                ("toolchain", Toolchain("=1+1", "2", "zz")),
            )
        ),
    ):
        refused = desks.said("one", "close", **of(mine, record=msgspec.to_builtins(other)))
        assert (refused.status, why in refused.text) == (400, True), refused.text
    assert desks.said("one", "close", **of(mine, state="published")).status == 400
    assert desks.said("one", "close", **of(mine, record=None)).status == 400
    assert desks.said("one", "close", **of(mine, detail="d" * (2 << 20))).status == 400
    assert desks.said("one", "close", **of(mine, more=1)).status == 400
    assert desks.said("one", "destroy").status == 400
    old = desks.said("one", "take", targets=["uno"], version="0.0.1")
    assert (old.status, "install the same" in old.text) == (400, True)
    assert states(Desk(desks.store), desks.token) == ["running", "running"]

    assert desks.said("one", "beat", job=msgspec.to_builtins(mine)).status == 200
    assert desks.said("one", "close", **of(mine)).status == 200
    assert desks.said("one", "close", **of(mine)).status == 409, "said twice"
    made_up = replace(theirs, attempt=-99)
    assert desks.said("two", "give-back", job=msgspec.to_builtins(made_up)).status == 200
    assert states(Desk(desks.store), desks.token) == ["done", "waiting"]
    assert desks.took("two", "bluepill").attempt == 1, "what is given back was no attempt, and no more than that"


def test_a_worker_s_targets_have_names_that_can_be_read(desks: Desks) -> None:
    for targets in (["x" * 121], ["a"] * 1001):
        refused = desks.said("one", "present", targets=targets)
        assert (refused.status, b"at most 1000 targets" in refused.body) == (400, True)
    assert desks.said("one", "present", targets=["uno"]).status == 200


def test_a_record_is_whole_and_free_of_contradictions() -> None:
    good, asked, uno = whole(), workload("0/0,0/16,0/32"), load_target("uno")
    assert why_not(good, asked, uno) == ""
    known, fewer, made = good.verification, good.points[1:], unpack(good.vector_cycles)[::2]
    assert known is not None
    elsewhere, below, more = Point("encrypt", 7, 7, 900), replace(good.points[0], cycles=-1), Point("hash", 0, 0, 1)
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"points": (*fewer, elsewhere)}, "does not have"),
        ({"points": (*good.points, good.points[0])}, "twice"),
        ({"points": (*good.points, more)}, "an operation"),
        ({"points": (*fewer, below)}, "below zero"),
        ({"points": fewer}, "encrypt lacks"),
        ({"points": ()}, "encrypt lacks"),
        ({"points": tuple(replace(p, cycles=2 * p.cycles) for p in good.points)}, "contradicts"),
        ({"verification": replace(known, vectors=0)}, "no known answer"),
        ({"verification": replace(known, skipped=-1)}, "no known answer"),
        ({"verification": replace(known, source="self")}, "verified"),
        ({"vector_cycles": b""}, "vector_cycles: those of encrypt"),
        ({"vector_cycles": b"x"}, "vector_cycles: these are not"),
        ({"vector_cycles": pack((Point("encrypt", 0, 0, 1000), Point("decrypt", 0, 0, 1000)))}, "those of reject"),
        ({"vector_cycles": pack([*unpack(good.vector_cycles), more])}, "hash: crypto_aead has no such"),
        ({"vector_cycles": pack([replace(p, cycles=p.cycles + 1) for p in unpack(good.vector_cycles)])}, "encrypt"),
        ({"vector_cycles": pack([replace(p, adlen=1 << 17) for p in unpack(good.vector_cycles)])}, "too large"),
        ({"vector_cycles": pack(Point(p.operation, 0, 0, n) for p in made for n in (-9000, 11000))}, "below zero"),
        ({"vector_cycles": pack(p for p in made for _ in range(1090))}, "more than known answers"),
        ({"verification": replace(known, vectors=1 << 32)}, "more known answers than there can be"),
        ({"verification": replace(known, ext_vectors=10**25)}, "more known answers than there can be"),
        ({"helpers": (Helper("x", 1 << 31),)}, "helpers"),
        ({"helpers": (Helper("libgcc.a(_mulsi3.o)", 10),)}, "rom_helpers: 0 contradicts"),
        ({"helpers": (Helper("x", -1), Helper("y", 1))}, "helpers"),
        *(({"metrics": good.metrics | {n: v}}, n) for n, v in (
            ("speed", 1.0), ("encrypt@0/16", 1.0), ("ram", 5), ("encrypt_per_ad_byte", 1.0), ("rom", -5000),
            ("cycles_encrypt_mean", -1.5), ("cycles_decrypt_mean", 1e308), ("heap", 10**400), ("stack", 70),
            ("encrypt_fixed", 99.0), ("energy_encrypt_modelled", 1.0), ("image_rom", float("nan")),
            ("rom", 2574.5),
        )),
        *(({"metrics": {n: v for n, v in good.metrics.items() if n != name}}, f"{name}: this metric is missing")
          for name in ("rom", "stack", "cycles_decrypt_mean", "encrypt_per_byte")),
    )  # fmt: skip
    for changes, why in cases:
        assert why in why_not(replace(good, **changes), asked, uno), changes
    for name, least in (("energy_encrypt_measured_per_byte", -3.2), ("energy_decrypt_measured_per_bit", -4e3)):
        fallen = good.metrics | {name: least, f"{name}_uncertainty": 0.1}
        assert "below zero" not in why_not(replace(good, metrics=fallen), asked, uno), "a line may fall"
    said = (*good.notes, f"{LEFT_OUT}1")
    metrics = {n: v for n, v in good.metrics.items() if not n.endswith(("_per_byte", "_fixed"))}
    some = replace(good, notes=said, metrics=metrics, points=tuple(p for p in good.points if p.mlen < 32))
    assert why_not(some, asked, uno) == ""
    nothing = {"metrics": {}, "points": (), "vector_cycles": b""}
    assert why_not(replace(good, failure=Failure(Reason.KAT_MISMATCH, ""), **nothing), asked, uno) == ""


def test_a_dead_worker_s_job_is_taken_over_however_many_workers_ask(
    desks: Desks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each asks once under its name, as more workers would than the server remembers."""
    monkeypatch.setattr(tenure, "STALE", 0.2)
    dead = desks.took("one", "uno")

    def asked(name: str) -> Taken | None:
        got = desks.said("two", "take", targets=["uno"], worker=name)
        return msgspec.json.decode(got.text, type=words.Work).taken

    assert asked("first") is None
    time.sleep(0.3)
    taken = asked("second")
    assert taken is not None
    assert taken.number == dead.number
    assert asked("third") is None, "who has it now has only begun"


def test_a_paused_machine_gets_nothing(desks: Desks) -> None:
    Yard(desks.store, "ann").pause("machine one")
    assert msgspec.json.decode(desks.said("one", "take", targets=["uno"]).text)["taken"] is None
    assert msgspec.json.decode(desks.said("one", "left", targets=["uno"]).text) == {"left": False}
    assert msgspec.json.decode(desks.said("two", "left", targets=["uno"]).text) == {"left": True}
    desks.took("two", "uno")
    boards = [{"name": "uno-1", "target": "uno", "aside": ""}]
    desks.said("one", "present", targets=["a"], boards=boards)
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
