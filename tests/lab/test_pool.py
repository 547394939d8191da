"""Runs are shared among boards that are alike; a board that fails costs nobody else anything.

Boards are simulators here that fail as they are told; test_faults.py has the real tools.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from threading import Barrier, Event, Lock, Thread

import pytest
from msgspec.structs import replace

from steelyard import device, lab
from steelyard.device import frame
from steelyard.lab import Lab, Station, aside, attempt, pool
from steelyard.lab.lock import held, is_held, port_of
from steelyard.lab.proof import MESSAGE
from steelyard.model import once, whole
from steelyard.model.call import DeviceError
from steelyard.model.errors import UserError
from steelyard.model.reasons import Failure, Reason
from steelyard.model.record import Record
from steelyard.pipeline import Job, Pipeline, resolve
from steelyard.store import Store
from tests import toys
from tests.conftest import Bench, the_target, write

TWO = """
[instruments.la]
driver = "beaglelogic:conn=tcp-raw/127.0.0.1/15556:logic_channels=8"
samplerate = 24_000_000
channels = ["P8_45", "P8_46"]
virtual = true
"""
BOARD = """
[boards.{name}]
target = "{target}"
port = "ports/{name}"
flasher = "avrdude-arduino"
analyzer = "la"
channel = "{channel}"
clock_ppm = 0
virtual = true
"""
#: what a board does when it is opened: works, or fails in its first exchange
Behaviour = Callable[[Path], Reason | None]


class Boards:
    """Simulators that stand for boards: which behave how, who was opened for what, and how many at a time."""

    def __init__(self) -> None:
        self.behave: dict[str, Behaviour] = {}
        self.opened: list[str] = []
        self.busy: set[str] = set()
        self.most = 0
        self.together: Barrier | None = None
        self.lock = Lock()


def play(made: Boards, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Simulators stand for the boards, with this as ``STEELYARD_HOME``."""

    class Played(device.SimulatorLink):
        def __init__(self, station: Station, lock: object, image: Path, *rest: object) -> None:
            super().__init__(station.target, image)
            self.name, self.image = station.board.name, image
            self.clock, self.samples, self.over = station.clock, 0, rest[2]
            self.notes = (f"virtual-board {self.name}: played",)  # type: ignore[assignment]
            self.first = True
            with made.lock:
                assert self.name not in made.busy
                made.busy.add(self.name)
                made.most = max(made.most, len(made.busy))
                made.opened.append(self.name)

        def exchange(self, data: bytes) -> bytes:
            if self.first:
                self.first = False
                if (together := made.together) is not None:
                    together.wait(60)
                if reason := made.behave.get(self.name, lambda _: None)(self.image):
                    raise DeviceError(Failure(reason, "as it was told"))
            return super().exchange(data)

        def settle(self) -> None:
            pass

        def slow_down(self) -> None:
            pass

        def close(self) -> None:
            with made.lock:
                made.busy.remove(self.name)

    monkeypatch.setenv("STEELYARD_HOME", str(home))
    monkeypatch.setattr(lab, "BoardLink", Played)
    monkeypatch.setattr(lab, "Analyzer", lambda *_: nullcontext())
    monkeypatch.setattr(pool, "AWAY", 0.0)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))  # what is busy says so
    for state in (pool._doubted, pool._faults, pool._out, pool._untold, pool._accused):
        state.clear()


@pytest.fixture
def boards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Boards:
    made = Boards()
    play(made, monkeypatch, tmp_path / "home")
    return made


def described(tmp_path: Path) -> Lab:
    """A lab of two boards, a and b."""
    a = BOARD.format(name="a", target="uno", channel="P8_45")
    b = BOARD.format(name="b", target="uno", channel="P8_46")
    (tmp_path / "lab.toml").write_text(TWO + a + b)
    return lab.load(tmp_path / "lab.toml")


@pytest.fixture
def there(tmp_path: Path) -> Lab:
    return described(tmp_path)


def release(board: lab.Board) -> None:
    aside.put(board, aside.Mark(1.0, kind=aside.Kind.RELEASED))


def jobs(bench: Bench, there: Lab, count: int, first: int = 1, **hooks: str) -> list[Job]:
    """As many jobs of different packages for all boards."""
    made = []
    for n in range(first, first + count):
        write(bench.package(variant=f"toy{n}", **hooks).folder.parent, {"LWC_AEAD_KAT_128_128.txt": toys.kat()})
        made.append(bench.job(bench.package(variant=f"toy{n}", **hooks), the_target("uno"), "0/16"))
    return [replace(job, on=tuple(map(there.board, there.boards))) for job in made]


def weighed(bench: Bench, todo: list[Job]) -> list[Record]:
    return Pipeline(bench.store).campaign(todo, lambda *_: None)


def on(records: list[Record]) -> set[str]:
    return {lab.board_of(r.setup.device, r.notes) for r in records}


def reasons(records: list[Record]) -> list[Reason | None]:
    return [r.failure.reason if r.failure else None for r in records]


def test_runs_are_shared_and_a_board_has_one_at_a_time(bench: Bench, boards: Boards, there: Lab) -> None:
    """The first two run at the same time, or the barrier breaks."""
    boards.together = Barrier(2, action=lambda: setattr(boards, "together", None))
    records = weighed(bench, jobs(bench, there, 5))
    assert reasons(records) == [None] * 5
    assert on(records) == {"a", "b"}
    assert boards.most == 2
    assert len(boards.opened) == 6  # nocrypt once
    assert not is_held(port_of(there.boards["a"]))


def test_a_board_that_another_process_has_is_waited_for_or_done_without(
    bench: Bench, boards: Boards, there: Lab
) -> None:
    others = held(port_of(there.boards["a"]), "a")
    assert on(weighed(bench, jobs(bench, there, 2))) == {"b"}
    alone = [replace(job, on=job.on[:1]) for job in jobs(bench, there, 1, 3)]
    waits = Thread(target=others.close)
    boards.behave["a"] = lambda _: None if others.closed else Reason.INTERNAL
    waits.start()
    assert on(weighed(bench, alone)) == {"a"}
    waits.join()


def test_a_run_that_another_process_of_the_home_makes_is_waited_for(
    bench: Bench, boards: Boards, there: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long: its lease is the home's, and would be taken away from it."""
    monkeypatch.setattr(once, "PATIENCE", 0.05)
    [job] = jobs(bench, there, 1)
    key = resolve(job).setup.key
    made: list[Record] = []
    waits = Thread(target=lambda: made.append(Pipeline(bench.store).weigh(job)))
    with once.alone(f"job {key}"):
        waits.start()
        waits.join(0.5)
        lease = bench.store.claim(key, "another")
        assert lease.mine
        bench.store.end(lease.number)
    waits.join(60)
    assert reasons(made) == [None]


@pytest.mark.parametrize("another", [False, True])
def test_a_board_that_fails_is_set_aside_and_the_other_takes_its_runs(
    bench: Bench, boards: Boards, there: Lab, another: bool
) -> None:
    boards.behave["a"] = lambda _: Reason.BOARD_LOST
    boards.together = Barrier(2, action=lambda: setattr(boards, "together", None))
    records = weighed(bench, jobs(bench, there, 4))
    assert reasons(records) == [None] * 4
    assert on(records) == {"b"}
    [(text, _)] = [(n, r) for r in records for n in r.notes if n.startswith("attempt")]
    assert text == "attempt 1 ended with board-unreachable: a: as it was told; the board is virtual"
    mark = aside.read(there.boards["a"])
    assert mark is not None
    assert (mark.reason, mark.detail) == ("board-unreachable", "a: as it was told; the board is virtual")
    assert boards.opened.count("a") == 1 + pool.PROOFS
    first = attempt.logs(there.boards["a"])[0]
    assert (first.number, first.reason) == (1, "board-unreachable")

    # it is repaired: its user says so, and it proves itself
    del boards.behave["a"]
    aside.retry(there.boards["a"])
    if another:  # process, which did not see that it failed
        pool._doubted.clear()
        pool._out.clear()
    records = weighed(bench, [replace(job, on=job.on[:1]) for job in jobs(bench, there, 1, 5)])
    assert (reasons(records), on(records)) == ([None], {"a"})
    assert attempt.logs(there.boards["a"])[-2].what == "nocrypt, to prove the board"
    assert not aside.is_doubted(there.boards["a"])


@pytest.mark.parametrize("how", [Reason.RUNAWAY, Reason.PROTOCOL, Reason.WRONG_OUTPUT, Reason.FAULT])
def test_a_board_that_fails_with_nocrypt_says_nothing_of_packages(
    bench: Bench, boards: Boards, there: Lab, how: Reason
) -> None:
    """Neither in the reason, which would be theirs for ever, nor in what to do about it."""

    def behave(image: Path) -> Reason:
        purpose = attempt.now(there.boards["a"])
        assert purpose is not None
        return how if purpose.purpose.what.startswith("nocrypt,") else Reason.PROTOCOL

    boards.behave["a"] = behave
    records = weighed(bench, [replace(job, on=job.on[:1]) for job in jobs(bench, there, 3)])
    assert reasons(records) == [Reason.BOARD_LOST] * 3
    assert not any(r.final for r in records)
    text = f"no board is left: a is out of order: as it was told: {pool.REVIVE}"
    assert {r.failure.detail for r in records if r.failure} == {text}
    mark = aside.read(there.boards["a"])
    assert mark is not None
    assert (mark.reason, mark.remedy) == (how, pool.REVIVE)


def test_what_is_not_a_boards_doing_sets_none_aside(
    bench: Bench, boards: Boards, there: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """nocrypt, by which it would prove itself, cannot be built."""
    boards.behave["a"] = lambda _: Reason.BOARD_LOST
    todo = [replace(job, on=job.on[:1]) for job in jobs(bench, there, 2)]
    with monkeypatch.context() as patch:

        def full(self: Pipeline, *_: object) -> None:
            raise DeviceError(Failure(Reason.DISK_FULL, "No space left on device"))

        patch.setattr(Pipeline, "_prove", full)
        assert set(reasons(weighed(bench, todo))) <= {Reason.DISK_FULL, Reason.BOARD_LOST}
    assert aside.read(there.boards["a"]) is None
    boards.behave.clear()
    assert reasons(weighed(bench, todo)) == [None] * 2


def test_where_all_boards_are_lost_every_run_says_why(bench: Bench, boards: Boards, there: Lab) -> None:
    boards.behave = dict.fromkeys("ab", lambda _: Reason.ANALYZER_LOST)
    records = weighed(bench, jobs(bench, there, 4))
    assert reasons(records) == [Reason.ANALYZER_LOST] * 4
    assert not any(r.final for r in records)
    assert records[-1].failure is not None
    for name in "ab":
        why = f"{name} is out of order: as it was told; the board is virtual: see that steelyard boards virtual"
        assert why in records[-1].failure.detail
    boards.behave.clear()
    pool._out.clear()  # as in another process: the boards may prove themselves
    pool._doubted.clear()
    assert reasons(weighed(bench, jobs(bench, there, 4))) == [None] * 4
    assert aside.read(there.boards["a"]) is aside.read(there.boards["b"]) is None


def test_a_flaky_board_is_set_aside_though_it_proves_itself(bench: Bench, boards: Boards, there: Lab) -> None:
    proofs = []

    def behave(image: Path) -> Reason | None:
        purpose = attempt.now(there.boards["a"])
        assert purpose is not None
        proofs.append(purpose.purpose.what.startswith("nocrypt,"))
        return None if proofs[-1] else Reason.FLASH_FAILED

    boards.behave["a"] = behave
    [record] = weighed(bench, [replace(job, on=job.on[:1]) for job in jobs(bench, there, 1)])
    assert record.failure == Failure(Reason.FLASH_FAILED, "a: as it was told; the board is virtual")
    assert proofs == [False, True, False, True, False]
    assert [n.split(" ended")[0] for n in record.notes if n.startswith("attempt")] == ["attempt 1", "attempt 2"]
    assert aside.read(there.boards["a"]) is not None


def test_what_a_package_does_is_not_the_boards_fault(bench: Bench, boards: Boards, there: Lab) -> None:
    """One gives wrong answers: a second attempt, for boards err too. One jams every board: so too, after a proof."""
    wrong = jobs(bench, there, 1, 1, after_encrypt="c[0] ^= 1;")
    jams = jobs(bench, there, 3, 2)
    good = jobs(bench, there, 1, 9)
    sizes: dict[str, int] = {}

    def behave(image: Path) -> Reason | None:
        purpose = attempt.now(there.boards["a"])
        assert purpose is not None
        name = purpose.purpose.what.partition("/")[0]
        sizes[name] = sizes.get(name, 0) + 1
        return Reason.PROTOCOL if name in ("toy2", "toy3", "toy4") else None

    boards.behave["a"] = behave
    records = weighed(bench, [replace(job, on=job.on[:1]) for job in (*wrong, *jams, *good)])
    assert reasons(records) == [Reason.KAT_MISMATCH, *[Reason.PROTOCOL] * 3, None]
    assert aside.read(there.boards["a"]) is None
    assert {name: n for name, n in sizes.items() if name.startswith("toy")} == {
        "toy1": 2,
        "toy2": 2,
        "toy3": 2,
        "toy4": 2,
        "toy9": 1,
    }


@pytest.mark.parametrize("phase", ["buffers at odd addresses", "a ciphertext shorter than its tag"])
def test_a_board_that_is_lost_late_is_no_property_of_the_cipher(
    bench: Bench, boards: Boards, there: Lab, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    left = iter([Failure(Reason.BOARD_LOST, "unplugged")])

    class Late(lab.BoardLink):
        asked = None

        def exchange(self, data: bytes) -> bytes:
            self.asked = self.asked or frame.Decoder()  # requests may come in pieces
            for command, payload in self.asked.feed(data):
                if command == frame.RUN:
                    op, _, offset, _, length, _ = frame.RUN_HEADER.unpack_from(payload)
                    found = offset == 1 if phase.startswith("buffers") else op == 2 and length == 0
                    if found and (failure := next(left, None)):
                        raise DeviceError(failure)
            return super().exchange(data)

    monkeypatch.setattr(lab, "BoardLink", Late)
    [record] = weighed(bench, jobs(bench, there, 1))
    assert record.failure is None
    assert [n.split(": ")[0] for n in record.notes if "unplugged" in n] == ["attempt 1 ended with board-unreachable"]


def test_ctrl_c_ends_those_who_wait_for_a_board(there: Lab, boards: Boards) -> None:
    over = Event()
    with held(port_of(there.boards["a"]), "a"):
        Thread(target=over.set).start()
        with pytest.raises(KeyboardInterrupt), pool.borrowed([there.board("a")], over, lambda *_: None):
            pass


def test_boards_that_are_not_alike_share_no_run(there: Lab) -> None:
    a, b = map(there.board, there.boards)
    faster = b.but(instrument=b.instrument.but(samplerate=12_000_000))
    assert list(lab.pools([a, b])) == ["uno"]
    with pytest.raises(
        UserError, match=r"all uno, and their records would differ: a has virtual-board, sigrok.* 24 MHz; b"
    ):
        lab.pools([a, faster])


@pytest.mark.parametrize("moment", ["a board works", "a run was stored"])
def test_a_disk_that_fills_up_loses_nothing_that_was_stored(
    bench: Bench, boards: Boards, there: Lab, disk: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """The database is on it, and the home. Runs that were made meanwhile are stored when there is room again."""
    place = disk("12m")
    monkeypatch.setenv("STEELYARD_HOME", str(place / "home"))
    filler = place / "filler"

    def fill() -> None:
        with closing(sqlite3.connect(place / "results.db", timeout=30)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # what the log has room for would be stored
        with filler.open("ab", buffering=0) as file, suppress(OSError):
            while file.write(bytes(512)):
                pass

    known: dict[str, int | None] = {}

    def stored(job: Job, record: Record, kept: bool) -> None:
        known[record.setup.key] = record.id
        if moment == "a run was stored" and len(known) < 5:  # again and again: what works gives room back
            fill()
        if len(known) == (5 if moment == "a run was stored" else 3):
            filler.unlink()

    def behave(image: Path) -> None:
        if moment == "a board works" and len(boards.opened) == 3:  # nocrypt, a run, and this one
            fill()

    boards.behave = {"a": behave, "b": behave}
    todo = jobs(bench, there, 5)
    with Store.open(place / "results.db") as store:
        pipeline = Pipeline(store)
        records = pipeline.campaign(todo, stored)
        assert set(reasons(records)) <= {None, Reason.DISK_FULL, Reason.NO_BASELINE}
        if moment == "a board works":  # else the database's log may have room for the records that are left
            assert "free some" in pipeline.keeper.why or Reason.DISK_FULL in reasons(records)
        assert pipeline.keeper.waiting == {}
        assert all(r.id for r in records), "there was room again before the end, and each says which run it is"
        assert aside.read(there.boards["a"]) is aside.read(there.boards["b"]) is None
        again = Pipeline(store).campaign(todo, lambda *_: None)
        assert reasons(again) == [None] * 5
        assert {r.setup.key: r.id for r in again}.items() >= {r.setup.key: r.id for r in records if r.ok}.items()
        times = Counter(r.setup.key for r in store.runs(newest_only=False) if r.final)
        assert set(times.values()) == {1}


def test_logs_are_bounded_and_a_full_disk_costs_only_them(
    boards: Boards, there: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(attempt.KEPT + 3):
        made = attempt.begin(there.boards["a"], attempt.Purpose(f"run {n}"))
        for _ in range(50):
            made.passed(">", bytes(500))
        attempt.heard("tool", b"x" * 3 * attempt.SAID)
        made.end(Failure(Reason.FLASH_FAILED, "no"))
    logs = attempt.logs(there.boards["a"])
    assert [log.what for log in logs] == [f"run {n}" for n in range(3, attempt.KEPT + 3)]
    assert len(logs[-1].tools) <= attempt.SAID
    assert sum(len(line) for line in logs[-1].line) < 6 * attempt.LINE
    monkeypatch.setattr(whole, "put", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    attempt.begin(there.boards["a"], attempt.Purpose("on a full disk")).end(None)
    assert len(attempt.logs(there.boards["a"])) >= attempt.KEPT - 1


def lies(monkeypatch: pytest.MonkeyPatch, attempts: int) -> None:
    """In so many attempts one ciphertext is not what the chip made, in a frame that is in order; nocrypt's are."""
    left = [attempts]
    right = lab.BoardLink.exchange

    def exchange(self: device.SimulatorLink, data: bytes) -> bytes:
        came = bytearray()
        for command, payload in frame.Decoder().feed(right(self, data)):  # type: ignore[arg-type]
            long = command == frame.RUN | frame.ANSWER and 20 < len(payload) - frame.RUN_ANSWER.size < len(MESSAGE)
            if long and left[0] > 0 and not getattr(self, "lied", False):
                self.lied = True  # type: ignore[attr-defined]
                left[0] -= 1
                payload = payload[:-1] + bytes((payload[-1] ^ 1,))
            came += frame.encode(command, payload)
        return bytes(came)

    monkeypatch.setattr(lab.BoardLink, "exchange", exchange)


@pytest.mark.parametrize(("attempts", "count"), [(1, "1 of 2"), (2, "2 of 2")])
def test_an_answer_that_is_wrong_in_one_attempt_verifies_nothing(
    bench: Bench, there: Lab, boards: Boards, monkeypatch: pytest.MonkeyPatch, attempts: int, count: str
) -> None:
    """And when the run is forced later, and all is right, its record still says so."""
    [job] = jobs(bench, there, 1)
    with monkeypatch.context() as patch:
        lies(patch, attempts)
        [record] = weighed(bench, [job])
    assert record.failure is not None
    assert record.failure.reason == Reason.KAT_MISMATCH
    assert record.verification is None
    assert not record.points
    assert any(f"an answer was wrong in {count} attempts" in note for note in record.notes)
    # each proves itself after a wrong answer, and the other one is asked the second time
    assert boards.opened == ["a", "a", "b", "b"][: 2 + attempts]
    for _ in range(2):
        forced = Pipeline(bench.store, force=True).weigh(job)
        assert forced.failure is None
        [told] = [n for n in forced.notes if n.startswith("an earlier run of the same setup answered wrongly")]
        assert f"(run {record.id}): kat-mismatch" in told
