"""Runs random jobs, faults and interruptions against the pipeline, and checks what must always hold:
every job has exactly one row; no verified row differs from the undisturbed one, and no final failure either; nothing
stored is lost; an undisturbed run repairs all that was the machine's fault, and after it there is nothing left to do.

    python -m tests.fuzz.pipeline --minutes 5 --seed 1
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from steelyard.building import script
from steelyard.model.record import Record
from steelyard.model.target import Target, load_target
from steelyard.model.workload import workload
from steelyard.pipeline import Job, Pipeline, resolve
from steelyard.sources import discover
from steelyard.store import Store, StoreError, values
from tests import toys

ROOT = Path(__file__).resolve().parents[2]
BUNDLED = ROOT / "ciphers/crypto_aead/tinyjambu/tinyjambu128v2/small"
TARGETS = ("uno", "bluepill")
FLAGS = ("-O0", "-Os", "-O2", "-O3")
Row = dict[str, Any]

#: ``fault`` beside it, which is not part of its identity, is what happens when it is called to compile or link
COMPILER = """#!/bin/sh
case "$*" in *-###*) exit 1;; *--version*|*-print-*|*" -M "*) exec {real} "$@";; esac
chance() {{ [ $(od -An -N1 -tu1 /dev/urandom) -lt $1 ]; }}
[ -e {folder}/fault ] && . {folder}/fault
exec {real} "$@"
"""
COMPILER_FAULTS = (
    "chance 60 && kill -9 $$",
    "chance 20 && kill -9 $PPID",
    "chance 60 && exit 1",
    "chance 60 && { echo 'no output: No space left on device'; exit 1; }",
    "chance 60 && { echo 'ld: cannot find -lc: No such file or directory'; exit 1; }",
    "chance 60 && exec no-such-program",
    "chance 10 && sleep 1000",
    "chance 60 && kill -24 $$",
)


def packages(folder: Path, rng: random.Random) -> None:
    """Toys: right ones, and one for each of some final failures."""
    kinds: dict[str, dict[str, str]] = {
        "broken": {"encrypt.c": "int x = ;\n"},
        "wrong": {"encrypt.c": toys.source(after_encrypt="c[0] ^= 1;")},
        "lax": {"encrypt.c": toys.source(after_decrypt="return 0;")},
        "unknown": {"LWC_AEAD_KAT_128_128.txt": ""},
        "fault": {"encrypt.c": toys.source(in_encrypt="for (;;) ((void (*)(void))0x7ffffff0)();")},
    }
    for k in range(4):
        kinds[f"good{k}"] = {"encrypt.c": toys.source(top=f"/* {rng.random()} */")}
    for name, files_ in kinds.items():
        place = folder / "crypto_aead" / name / "ref"
        place.mkdir(parents=True)
        for file, text in ({**toys.files(), "LWC_AEAD_KAT_128_128.txt": toys.kat()} | files_).items():
            if text:
                (place / file).write_text(text)


def compilers(folder: Path) -> None:
    """A compiler for each target that a fault can be laid beside."""
    for name in TARGETS:
        spec = load_target(name).toolchain
        place = folder / name / "bin"
        place.mkdir(parents=True)
        script = place / spec.compiler
        script.write_text(COMPILER.format(real=shutil.which(spec.compiler), folder=place))
        script.chmod(0o755)


def jobs(folder: Path, chosen: list[tuple[str, str, str]]) -> list[Job]:
    """Jobs from (variant, target, flags)."""
    found = {i.variant: i for place in (folder / "packages", BUNDLED) for i in discover(place).implementations}
    return [Job(found[v], target(folder, t), (f,), workload("kat")) for v, t, f in chosen]


def target(folder: Path, name: str) -> Target:
    real = load_target(name)
    return real.but(toolchain=real.toolchain.but(compiler=str(folder / name / "bin" / real.toolchain.compiler)))


def play(folder: Path, plan: Row) -> None:
    """In a process of its own: a campaign. Prints a row for each job."""
    script.SECONDS = 5.0
    values.BUSY_SECONDS = 0.1
    planned = jobs(folder, [(v, t, f) for v, t, f in plan["jobs"]])
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    if plan["limit"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (plan["limit"], plan["limit"]))
    told: list[Job] = []
    with Store.open(plan["db"]) as store:
        pipeline = Pipeline(store, threads=plan["threads"], force=plan["force"])
        kept: list[str] = []

        def done(job: Job, record: Record, stored: bool) -> None:
            told.append(job)
            kept.extend([record.setup.key] if stored else [])

        records = pipeline.campaign(planned, done)
    assert sorted(resolve(j).setup.key for j in told) == sorted(resolve(j).setup.key for j in planned)
    assert [r.setup for r in records] == [resolve(j).setup for j in planned]
    json.dump([{**as_row(r), "kept": r.setup.key in kept} for r in records], sys.stdout)


def as_row(record: Record) -> Row:
    """A record as JSON brings it over, its key, and whether another try would end the same."""
    row: Row = msgspec.json.decode(msgspec.json.encode(record))
    return {**row, "key": record.setup.key, "final": record.final}


class Player:
    """A folder with packages, compilers, a home and a database, and what jobs come to when nothing disturbs them."""

    def __init__(self, folder: Path, seed: int, most: int = 100) -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        packages(folder / "packages", self.rng)
        compilers(folder)
        variants = [i.variant for place in (folder / "packages", BUNDLED) for i in discover(place).implementations]
        self.all = [(v, t, f) for v in variants for t in TARGETS for f in self.rng.sample(FLAGS, 2)]
        self.all = self.rng.sample(self.all, min(most, len(self.all)))
        self.seen = dict[int, str]()
        self.reference: dict[str, Row] = {}

    def start(self, chosen: list[tuple[str, str, str]], **plan: Any) -> subprocess.Popen[str]:
        db = str(self.folder / plan.pop("home", "home") / "results.db")
        what = {"jobs": chosen, "db": db, "threads": 2, "force": False, "limit": 0} | plan
        paths = os.pathsep.join([*sys.path, str(ROOT), str(ROOT / "src")])
        environment = {**os.environ, "PYTHONPATH": paths, "STEELYARD_HOME": str(Path(db).parent)}
        command = [sys.executable, "-m", "tests.fuzz.pipeline", "--play", str(self.folder), json.dumps(what)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                cwd=ROOT, start_new_session=True)  # fmt: skip

    def rows(self, process: subprocess.Popen[str], may_refuse: bool = False) -> list[Row] | None:
        """What a process printed; None when it was ended before, or did not begin because it has no database."""
        out, err = process.communicate(timeout=300)
        refused = process.returncode == 2 and may_refuse
        if process.returncode in (-signal.SIGKILL, -signal.SIGINT) or refused:
            return None
        assert process.returncode == 0, err
        rows: list[Row] = json.loads(out.removeprefix("ready\n"))
        return rows

    def undisturbed(self) -> None:
        """The reference: all jobs, at home in another place."""
        rows = self.rows(self.start(self.all, home="reference"))
        assert rows is not None
        assert all(row["final"] for row in rows), [row["failure"] for row in rows]
        self.reference = {row["key"]: row for row in rows}

    def check(self, row: Row) -> None:
        """A verified row is the undisturbed one, and so is a final failure."""
        if row["final"]:
            for part in ("failure", "metrics", "points", "verification"):
                assert row[part] == self.reference[row["key"]][part], (part, row, self.reference[row["key"]])

    def check_store(self) -> None:
        """Everything stored holds what rows hold, and is still there."""
        database = self.folder / "home/results.db"
        with closing(sqlite3.connect(database, timeout=30)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        with Store.open(database) as store:
            stored = {r.id or 0: r for r in store.runs(newest_only=False)}
            counts = store.runs()
        for record in stored.values():
            if record.setup.key in self.reference:
                self.check(as_row(record))
        outcomes = {k: outcome(as_row(r)) for k, r in stored.items()}
        assert self.seen.items() <= outcomes.items()
        self.seen = outcomes
        assert len({r.setup.key for r in counts}) == len(counts)

    def round(self) -> str:
        """One or two disturbed campaigns at the same time."""
        rng = self.rng
        chosen = rng.sample(self.all, rng.randrange(1, min(12, len(self.all))))
        disturbances = rng.sample(sorted(DISTURBANCES), rng.randrange(1, 4))
        plan = {"threads": rng.randrange(1, 4), "force": rng.random() < 0.3}
        if rng.random() < 0.2:
            plan["limit"] = rng.randrange(500, 60_000)
        with ExitStack() as stack:
            with suppress(FileNotFoundError):
                damage(self.folder / "home/cache", rng)
            for name in disturbances:
                if name not in INSIDE:
                    stack.enter_context(DISTURBANCES[name](self, []))
            processes = [self.start(chosen, **plan)]
            if rng.random() < 0.3:
                processes.append(self.start(rng.sample(chosen, len(chosen)), **plan))
            for name in disturbances:
                if name in INSIDE:
                    stack.enter_context(DISTURBANCES[name](self, processes))
            may_refuse = "limit" in plan or "locked" in disturbances
            every = [self.rows(process, may_refuse) for process in processes]
        for rows in every:
            for row in rows or ():
                self.check(row)
        self.check_store()
        ends = ", ".join("ended" if r is None else f"{sum(x['final'] for x in r)} of {len(r)}" for r in every)
        return f"{len(chosen)} jobs, {plan}, {', '.join(disturbances)}: {ends}"

    def repaired(self) -> None:
        """Without disturbance all is as it was to be, and then there is nothing to do."""
        for nothing_left in (False, True):
            rows = self.rows(self.start(self.all))
            assert rows is not None
            assert sorted(str(row["setup"]) for row in rows) == sorted(str(r["setup"]) for r in self.reference.values())
            for row in rows:
                assert row["final"], row["failure"]
                assert row["id"] is not None
                assert row["kept"] or not nothing_left
                self.check(row)
            self.check_store()


def outcome(row: Row) -> str:
    return str(row["failure"] and row["failure"]["reason"])


def damage(cache: Path, rng: random.Random) -> None:
    """Truncates, empties, changes or removes some of the files of finished builds."""
    whole = [f for f in sorted(cache.rglob("*")) if f.is_file() and f.name != "locks" and ".work-" not in str(f)]
    for file in rng.sample(whole, min(len(whole), rng.randrange(6))):
        content = file.read_bytes()
        match rng.randrange(5):
            case 0:
                file.unlink()
            case 1:
                file.write_bytes(b"")
            case 2:
                file.write_bytes(content[: rng.randrange(len(content) + 1)])
            case 3 if content:
                at = rng.randrange(len(content))
                file.write_bytes(content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :])
            case _:
                shutil.rmtree(file.parent)
                return


@contextmanager
def meanwhile(work: Callable[[threading.Event], object]) -> Iterator[None]:
    """Does something in a thread until the event that it is given says that it is over."""
    over = threading.Event()
    thread = threading.Thread(target=work, args=(over,))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def repeated(act: Callable[[], object], pause: float) -> AbstractContextManager[None]:
    """Does something again and again meanwhile."""

    def loop(over: threading.Event) -> None:
        while not over.wait(pause):
            with suppress(OSError):
                act()

    return meanwhile(loop)


@contextmanager
def compiler(player: Player, _: object) -> Iterator[None]:
    """The compilers fail now and then."""
    fault = player.rng.choice(COMPILER_FAULTS)
    places = [player.folder / name / "bin" / "fault" for name in TARGETS]
    for place in places:
        place.write_text(f"{fault}\n")
    try:
        yield
    finally:
        for place in places:
            place.unlink()


@contextmanager
def removed(player: Player, _: object) -> Iterator[None]:
    """Somebody removes finished builds."""
    rng = random.Random(player.rng.random())

    def act() -> None:
        built = [f for f in (player.folder / "home/cache").glob("*/*/*") if not f.name.startswith(".")]
        if built:
            shutil.rmtree(rng.choice(built), ignore_errors=True)

    with repeated(act, 0.05):
        yield


@contextmanager
def edited(player: Player, processes: list[subprocess.Popen[str]]) -> Iterator[None]:
    """Sources change after they were found, and change back."""
    for process in processes:
        assert process.stdout is not None
        while os.read(process.stdout.fileno(), 1) not in (b"\n", b""):  # they are found; readline would take more
            pass
    rng = random.Random(player.rng.random())
    sources = sorted((player.folder / "packages").rglob("*.*"))
    whole = {f: f.read_bytes() for f in sources}

    def act() -> None:
        file = rng.choice(sources)
        match rng.randrange(3):
            case 0:
                file.unlink()
            case 1:
                file.write_bytes(whole[file][: rng.randrange(len(whole[file]))])
            case _:
                file.write_bytes(whole[file].replace(b"npub", b"k", 2))
        time.sleep(0.05)
        file.write_bytes(whole[file])

    try:
        with repeated(act, 0.02):
            yield
    finally:
        for file, content in whole.items():
            file.write_bytes(content)


@contextmanager
def locked(player: Player, _: object) -> Iterator[None]:
    """Another program holds the database for a while."""
    with Store.open(player.folder / "home/results.db"):
        pass
    seconds = player.rng.uniform(0, 4)

    def hold(over: threading.Event) -> None:
        with closing(sqlite3.connect(player.folder / "home/results.db", isolation_level=None, timeout=30)) as database:
            database.execute("BEGIN IMMEDIATE")
            over.wait(seconds)
            database.execute("ROLLBACK")

    with meanwhile(hold):
        yield


def _ended_by(number: int) -> Callable[[Player, list[subprocess.Popen[str]]], Any]:
    @contextmanager
    def ended(player: Player, processes: list[subprocess.Popen[str]]) -> Iterator[None]:
        timer = threading.Timer(player.rng.uniform(0.3, 5), lambda: [os.killpg(p.pid, number) for p in processes[:1]])
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    return ended


DISTURBANCES = {
    "compiler": compiler,
    "removed": removed,
    "edited": edited,
    "locked": locked,
    "killed": _ended_by(signal.SIGKILL),
    "interrupted": _ended_by(signal.SIGINT),
    "none": lambda *_: ExitStack(),
}
#: those that begin when the processes have
INSIDE = ("edited", "killed", "interrupted")


def fuzz(folder: Path, seed: int, seconds: float, most: int = 100, say: Callable[[str], object] = print) -> None:
    """Plays for some time with at ``most`` so many jobs."""
    player = Player(folder, seed, most)
    player.undisturbed()
    end = time.monotonic() + seconds
    rounds = 0
    while rounds == 0 or time.monotonic() < end:
        rounds += 1
        say(f"seed {seed} round {rounds}: {player.round()}")
        if rounds % 10 == 0:
            player.repaired()
    player.repaired()
    say(f"seed {seed}: {rounds} rounds, {len(player.seen)} runs stored; all that was the machine's fault is repaired")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--play", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--minutes", type=float, default=5.0)
    asked = parser.parse_args()
    if asked.play:
        try:
            play(Path(asked.play[0]), json.loads(asked.play[1]))
        except StoreError as e:
            print(e, file=sys.stderr)
            sys.exit(2)
        return
    with tempfile.TemporaryDirectory() as folder:
        fuzz(Path(folder), asked.seed, 60 * asked.minutes)


if __name__ == "__main__":
    main()
