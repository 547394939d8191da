"""A failure of one job, or of the machine, is that job's row; others go on, and the next run repairs it."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from steelyard import pipeline
from steelyard.building import ask, identify, image, kept
from steelyard.building import script as build_script
from steelyard.cli import doctor
from steelyard.cli.app import app
from steelyard.cli.plan import forecast
from steelyard.jobs import failure_of
from steelyard.model import paths
from steelyard.model.implementation import Implementation
from steelyard.model.reasons import MACHINE, Failure, Reason
from steelyard.model.record import Record
from steelyard.model.target import Target
from steelyard.pipeline import Job, Pipeline, resolve
from steelyard.store import Store, values
from tests import toys
from tests.conftest import Bench, the_target

GOOD = {**toys.files(), "LWC_AEAD_KAT_128_128.txt": toys.kat()}
Compiler = Callable[[str], Target]


def campaign(bench: Bench, *jobs: Job, force: bool = False) -> list[Record]:
    """Each job has its own row, and the records are in the jobs' order."""
    seen: list[Job] = []
    records = Pipeline(bench.store, threads=2, force=force).campaign(jobs, lambda job, *_: seen.append(job))
    assert [r.setup for r in records] == [resolve(job).setup for job in jobs]
    assert len(seen) == len(jobs)
    return records


def good(bench: Bench, name: str = "good", target: str = "uno") -> Job:
    return bench.job(bench.package(GOOD, variant=name), the_target(target))


def failed(record: Record, reason: Reason, *words: str) -> None:
    """Checks that it failed for this reason, which the machine caused, and that the record has a number."""
    assert record.failure is not None
    assert record.failure.reason is reason, record.failure
    for word in words:
        assert word in record.failure.detail
    assert (reason in MACHINE, record.final, record.metrics) == (True, False, {})
    assert record.id is not None


@pytest.fixture
def compiler(uno: Target, tmp_path: Path) -> Compiler:
    """Makes uno's target with another compiler: a shell script that ends by calling the real one."""

    def make(script: str, mode: int = 0o755) -> Target:
        place = tmp_path / f"compiler{len(list(tmp_path.iterdir()))}" / "bin" / "avr-gcc"
        place.parent.mkdir(parents=True)
        place.write_text(f'#!/bin/sh\n{script}\nexec avr-gcc "$@"\n')
        place.chmod(mode)
        return uno.but(toolchain=uno.toolchain.but(compiler=str(place)))

    return make


#: the compiler answers questions; ``%s`` is done where it compiles a package's source, for which it is called itself
WORKS = 'case "$*" in *-###*) exit 1;; *src/encrypt.c*) %s;; esac'


@pytest.mark.parametrize(
    ("script", "reason", "words"),
    [
        ("kill -9 $$", Reason.COMPILER_KILLED, "signal 9"),
        ("exit 1", Reason.COMPILER_KILLED, "said nothing"),
        ("echo 'avr-gcc: vfork: Cannot allocate memory' >&2; exit 1", Reason.COMPILER_KILLED, "Cannot allocate memory"),
        ("echo 'x.s: No space left on device' >&2; exit 1", Reason.DISK_FULL, "no space left"),
        (
            "echo \"fatal error: cannot execute 'cc1': execvp: No such file\" >&2; exit 1",
            Reason.NO_TOOLCHAIN,
            "cc1 is missing",
        ),
        ("exec no-such-program", Reason.NO_TOOLCHAIN, "no-such-program not found"),
        ("sleep 1000", Reason.COMPILE_TIMEOUT, "stopped after"),
        ("kill -9 $PPID", Reason.COMPILER_KILLED, "shell ended"),
    ],
)
def test_a_compiler_that_fails_by_the_machine(
    bench: Bench, compiler: Compiler, monkeypatch: pytest.MonkeyPatch, script: str, reason: Reason, words: str
) -> None:
    marker = bench.folder.parent / "repaired"
    other, job = good(bench, "other"), good(bench)
    job = replace(job, target=compiler(WORKS % f"[ -e {marker} ] || {{ {script}; }}"))
    monkeypatch.setattr(build_script, "SECONDS", 2.0 if "sleep" in script else 60.0)
    broken, fine = campaign(bench, job, other)
    failed(broken, reason, words)
    assert fine.ok
    # a sandbox does not see the marker: the compiler's folder it sees
    script_file = Path(job.target.toolchain.compiler)
    stat = script_file.stat()
    content = script_file.read_bytes().replace(str(marker).encode(), b"/".ljust(len(str(marker)), b"/"))
    script_file.write_bytes(content)
    os.utime(script_file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    [made] = forecast(bench.store, [job])
    assert (made.run, made.why) == (None, f"run {broken.id} ended with {reason}, by the machine's doing")
    [again] = campaign(bench, job)
    assert again.ok
    assert again.setup == broken.setup
    [kept_now] = campaign(bench, job)
    assert kept_now == again


@pytest.mark.parametrize(
    "phrase", ["No space left on device", "cannot find -lfoo", "cannot find 'ld'", "x: Cannot allocate memory"]
)
@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("#error {}", Reason.COMPILE_ERROR),
        ('_Static_assert(0, "{}");', Reason.COMPILE_ERROR),
        ('asm(".error \\"{}\\"");', Reason.COMPILE_ERROR),
        ('asm(".print \\"ld: {}\\"\\n.err");', Reason.COMPILE_ERROR),
        ('#include "{}"', Reason.MISSING_FILE),
        ('asm volatile(".word \\"{}\\"");', Reason.UNDEFINED_SYMBOL),
    ],
)
def test_a_package_that_says_what_a_broken_machine_says_failed_by_itself(
    bench: Bench, phrase: str, how: str, reason: Reason
) -> None:
    said = how.format(phrase)
    used = reason is Reason.UNDEFINED_SYMBOL
    source = toys.source(in_encrypt=said) if used else toys.source(top=said)
    for target in ("uno", "msp430f1611"):
        [record] = campaign(bench, bench.job(bench.package(GOOD | {"encrypt.c": source}), the_target(target)))
        assert record.failure is not None
        assert record.failure.reason is reason, record.failure
        assert record.final


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 3", "ended with code 3, and said nothing"),
        ("echo 'libisl.so.23: no such file' >&2; exit 127", "libisl"),
        ("kill -11 $$", "ended by SIGSEGV"),
        ("sleep 1000 & sleep 1000", "does not answer"),
        ("exit 0", "ended with code 0, and said nothing"),
    ],
)
def test_a_compiler_that_does_not_start(
    bench: Bench, compiler: Compiler, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    assert identify(the_target("uno").toolchain)  # with all the time it needs
    monkeypatch.setattr(ask, "SECONDS", 0.3)
    broken, fine = campaign(bench, replace(good(bench), target=compiler(script)), good(bench, "other"))
    failed(broken, Reason.NO_TOOLCHAIN, words, "apt install gcc-avr")
    assert fine.ok


def test_doctor_sees_a_compiler_that_does_not_start(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "target_names", lambda: ("uno",))
    for target, broken in ((compiler("exit 3"), True), (the_target("uno"), False)):
        monkeypatch.setattr(doctor, "load_target", lambda _, target=target: target)
        assert (app.main(["doctor", "--json"], standalone_mode=False) == 1) == broken  # tables break long cells
        assert ("does not work" in capsys.readouterr().out) == broken


def test_a_library_missing_beside_its_compiler(bench: Bench, uno: Target) -> None:
    lacking = uno.but(toolchain=uno.toolchain.but(link=(*uno.toolchain.link, "-lnot-there")))
    package = bench.package({**GOOD, "more.h": "/* without a library */\n"})
    records = campaign(bench, bench.job(package, lacking), good(bench, "other"))
    failed(records[0], Reason.NO_TOOLCHAIN, "-lnot-there is missing; avr-gcc needs it: apt install gcc-avr")
    assert records[1].ok


def test_a_nocrypt_that_does_not_build_is_the_targets_failure(bench: Bench, compiler: Compiler) -> None:
    target = compiler(
        WORKS % "grep -q 'tag(' src/encrypt.c || { echo 'encrypt.c:1: error: not this one' >&2; exit 1; }"
    )
    [record] = campaign(bench, replace(good(bench), target=target))
    failed(record, Reason.NO_BASELINE, "uno: nocrypt", "not this one")


def test_cxx_without_its_compiler(bench: Bench, uno: Target) -> None:
    package = bench.package({**GOOD, "more.cpp": "int more;\n"}, variant="cxx")
    lacking = uno.but(toolchain=uno.toolchain.but(cxx="no-such-g++"))
    record, other = campaign(bench, bench.job(package, lacking), good(bench))
    failed(record, Reason.NO_TOOLCHAIN, "no-such-g++ not found: apt install gcc-avr")
    assert other.ok


@pytest.mark.parametrize("name", ["uno", "bluepill"])
@pytest.mark.parametrize("size", ["-1", "0", "70000", "4294967297", "(1/0)", "sizeof(int)", '"x"'])
def test_odd_sizes_in_api_h(bench: Bench, name: str, size: str) -> None:
    package = bench.package({**GOOD, "api.h": toys.API.replace("KEYBYTES 16", f"KEYBYTES {size}")}, variant="odd")
    record, other = campaign(bench, bench.job(package, the_target(name)), good(bench, target=name))
    assert record.failure is not None
    assert other.ok


@pytest.mark.parametrize("what", ["edited", "gone", "a folder"])
def test_sources_that_change_meanwhile(bench: Bench, what: str) -> None:
    job = bench.job(bench.package({**GOOD, "more.h": f"/* {what} */\n"}), the_target("uno"))  # in no cache
    file = job.implementation.folder / "encrypt.c"
    before = file.read_bytes()
    if what == "edited":
        file.write_bytes(before.replace(b"k[i] ^ npub[i]", b"k[i] | npub[i]"))
    else:
        file.unlink()
        if what == "a folder":
            file.mkdir()
    record, other = campaign(bench, job, good(bench, "other"))
    failed(record, Reason.SOURCES_CHANGED, "encrypt.c")
    assert other.ok
    if what == "a folder":
        file.rmdir()
    file.write_bytes(before)
    assert campaign(bench, job)[0].ok


@pytest.mark.parametrize("what", ["edited", "gone"])
def test_known_answers_that_change_meanwhile(bench: Bench, what: str) -> None:
    """Known answers that changed earlier make another setup: repaired or new ones are run."""
    job = good(bench)
    [file] = job.implementation.kat
    before = file.read_text()
    file.write_text(before.replace("CT = ", "CT = 0")) if what == "edited" else file.unlink()
    failed(campaign(bench, job)[0], Reason.SOURCES_CHANGED, file.name)
    assert campaign(bench, Job(good(bench, "other").implementation, job.target, job.flags, job.workload))[0].ok
    file.write_text("")
    empty = good_again(job)
    [record] = campaign(bench, empty)
    assert record.failure is not None
    assert record.failure.reason is Reason.BAD_KAT
    file.write_text(before)
    [repaired] = campaign(bench, good_again(job))
    assert repaired.ok
    assert repaired.setup == resolve(job).setup != resolve(empty).setup


def good_again(job: Job) -> Job:
    """The same job, discovered again."""
    return Job(job.implementation, job.target, job.flags, job.workload)


class Panic(BaseException):
    """Like the exception that PyO3 raises when native code panics."""


@pytest.mark.parametrize("error", [ZeroDivisionError, Panic, MemoryError, RecursionError])
def test_any_exception_is_a_row_with_its_traceback(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    jobs = [good(bench), good(bench, "other")]
    expected = pipeline.verify.expected

    def broken(implementation: Implementation, *more: Any) -> object:
        if implementation.variant == "good":
            raise error("just so")
        return expected(implementation, *more)

    monkeypatch.setattr(pipeline.verify, "expected", broken)
    record, other = campaign(bench, *jobs)
    failed(record, Reason.INTERNAL, f"{error.__name__}: just so")
    log = bench.store.get_blob(record.log).decode()
    assert log.startswith("Traceback")
    assert "in broken" in log
    assert other.ok
    monkeypatch.undo()
    assert campaign(bench, jobs[0])[0].ok


def test_a_build_that_goes_away_while_it_is_used(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    job = good(bench)
    other = bench.job(bench.package({**GOOD, "more.h": ""}, variant="other"), job.target)
    figures = pipeline.measure.figures

    def gone(seen: Any, images: dict[str, Path], *more: Any) -> Any:
        if images["both"].parent == build(job).folder:
            shutil.rmtree(images["both"].parent)
        return figures(seen, images, *more)

    def build(job: Job) -> Any:
        return bench.build(job.implementation, job.target, *job.flags)

    monkeypatch.setattr(pipeline.measure, "figures", gone)
    record, undisturbed = campaign(bench, job, other)
    failed(record, Reason.COMPILER_KILLED, "the cache changed during the run")
    assert undisturbed.ok
    monkeypatch.undo()
    assert campaign(bench, job)[0].ok


def test_an_interruption_ends_the_campaign(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline.verify, "expected", stop)
    with pytest.raises(KeyboardInterrupt):
        campaign(bench, good(bench))


def test_an_unreachable_machine_among_the_targets(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    there = the_target("raspberry-pi")
    for host, reason in ((None, Reason.UNREACHABLE), ("nobody.invalid", None)):
        monkeypatch.delenv(there.host_variable, raising=False)
        if host:
            monkeypatch.setenv(there.host_variable, host)
        job = good(bench, f"good{host}")
        record, other = campaign(bench, replace(job, target=there), job)
        assert record.failure is not None
        assert reason is None or record.failure.reason is reason
        assert not record.final
        assert other.ok


def damaged(folder: Path) -> Iterator[Callable[[], object]]:
    """Ways to damage a build's folder."""
    manifest, elf, map_file = folder / kept.MANIFEST, folder / "both.elf", folder / "both.map"
    yield lambda: manifest.write_text("")
    yield lambda: manifest.write_text(manifest.read_text()[:-9])
    yield lambda: manifest.write_text("[1]")
    yield lambda: manifest.write_text('{"files": {}, "notes": [], "failure": {"reason": "no such", "detail": ""}}')
    yield elf.unlink
    yield map_file.unlink
    yield lambda: elf.write_bytes(elf.read_bytes()[:1000])
    yield lambda: elf.write_bytes(b"")
    yield lambda: elf.write_bytes(elf.read_bytes().replace(b"\0\0", b"\1\0", 1))
    yield lambda: (folder / "0.o").write_bytes(b"")
    yield (folder / "log.txt").unlink


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``STEELYARD_HOME`` of one test, whose cache it may damage."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.mark.usefixtures("own")
def test_a_damaged_cache_is_made_again(bench: Bench, uno: Target) -> None:
    package = bench.package(GOOD)
    whole = bench.build(package, uno)
    content = {f.name: f.read_bytes() for f in whole.folder.iterdir() if f.suffix in (".elf", ".map", ".o")}
    for damage in damaged(whole.folder):
        assert bench.build(package, uno).cached
        damage()
        again = bench.build(package, uno)
        assert (again.cached, again.failure) == (False, None)
        assert {f.name: f.read_bytes() for f in again.folder.iterdir() if f.name in content} == content
    assert [f.name for f in whole.folder.parent.iterdir() if len(f.name) != len(whole.folder.name)] == []


def test_a_damaged_harness_is_made_again(bench: Bench, uno: Target, own: Path) -> None:
    assert bench.build(bench.package(GOOD), uno).failure is None
    objects = [f for f in (own / "cache/harness").rglob("*.o") if f.is_file()]
    for k, file in enumerate(objects):
        file.write_bytes(file.read_bytes()[: 100 * (k % 2)])
    assert bench.build(bench.package({**GOOD, "more.c": "int more;\n"}), uno).failure is None


def test_force_forces_the_build(bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    job = good(bench)
    [first] = campaign(bench, job)
    compiled: list[Path] = []
    run = image.sandbox.run
    monkeypatch.setattr(image.sandbox, "run", lambda s, work, *more: compiled.append(work) or run(s, work, *more))
    assert campaign(bench, job) == [first]
    assert compiled == []
    [second] = campaign(bench, job, force=True)
    assert len(compiled) == 2, "it and nocrypt"
    assert (second.metrics, second.points) == (first.metrics, first.points)
    assert second.id != first.id


@pytest.mark.parametrize("size", ["16k", "60k", "160k", "220k"])
def test_a_full_disk(bench: Bench, disk: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, size: str) -> None:
    """The disk fills up early or late in the harness's compilation, or in the package's."""
    job, other = good(bench), good(bench, "other")
    with monkeypatch.context() as patch:
        patch.setenv("STEELYARD_HOME", str(disk(size)))
        records = campaign(bench, job, other)
    reasons = {r.failure.reason for r in records if r.failure}
    assert reasons
    assert reasons <= {Reason.DISK_FULL, Reason.NO_BASELINE}
    assert all(r.ok for r in campaign(bench, job, other))


def test_a_full_disk_is_said_in_words() -> None:
    named = OSError(errno.ENOSPC, "No space left on device", "/cache/x")
    assert failure_of(named) == Failure(Reason.DISK_FULL, "no space left: /cache/x")
    unnamed = failure_of(OSError(errno.EDQUOT, "Disk quota exceeded"))
    assert unnamed.detail == f"the quota is used up: {paths.home()}"


def test_a_full_disk_under_the_database(bench: Bench, disk: Callable[[str], Path]) -> None:
    small = disk("600k")
    jobs = [good(bench, f"v{k}") for k in range(3)]
    with Store.open(small / "results.db") as store:
        Pipeline(store, threads=1).campaign(jobs[:1], lambda *_: None)
        (small / "filler").write_bytes(b"")
        with (small / "filler").open("ab", buffering=0) as f:
            try:
                while f.write(bytes(512)):
                    pass
            except OSError:
                pass
        full = Pipeline(store, threads=1)
        records = full.campaign(jobs, lambda *_: None)
        assert [r.ok for r in records] == [True] * 3
        assert [r.id is None for r in records] == [False, True, True]
        assert len(full.keeper.waiting) == 2
        assert "disk" in full.keeper.why
        (small / "filler").unlink()
        assert len(store.runs()) == 2, "nocrypt, and what was stored before"
        again = Pipeline(store, threads=1).campaign(jobs, lambda *_: None)
        assert [r.metrics for r in again] == [r.metrics for r in records]
        assert all(r.id for r in again)


def test_a_locked_database(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records made meanwhile are shown; they are stored when the lock is gone by the end."""
    monkeypatch.setattr(values, "BUSY_SECONDS", 0.05)
    jobs = [good(bench, f"v{k}") for k in range(3)]
    campaign(bench, jobs[0])
    for released in (False, True):
        with closing(sqlite3.connect(bench.database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")

            def done(
                job: Job, record: Record, kept: bool, other: sqlite3.Connection = other, released: bool = released
            ) -> None:
                assert kept or record.id is None
                if released and job == jobs[2]:
                    other.execute("ROLLBACK")

            locked = Pipeline(bench.store, threads=1)
            records = locked.campaign(jobs, done)
        assert all(r.ok for r in records)
        assert [r.id is not None for r in records] == [True, released, released]
        assert len(locked.keeper.waiting) == (0 if released else 2)
        assert "locked" in locked.keeper.why
    assert all(bench.store.get(r.id or 0) == r for r in records)


def test_a_failure_of_the_machine_hides_no_verified_record(bench: Bench) -> None:
    job = good(bench)
    [record] = campaign(bench, job)
    bench.store.add(replace(record, failure=Failure(Reason.DISK_FULL), metrics={}, points=()))
    assert campaign(bench, job) == [record]
    assert [r.id for r in bench.store.runs() if r.setup == resolve(job).setup] == [record.id]


BOTH = """
import sys, time
from pathlib import Path
from steelyard.cli.app import app
while not Path(sys.argv[1]).exists():
    time.sleep(0.001)
sys.exit(app.main(sys.argv[2:], standalone_mode=False))
"""


def test_two_processes_do_each_job_once(bench: Bench, tmp_path: Path) -> None:
    for k in range(4):
        bench.package(GOOD, variant=f"v{k}")
    start = tmp_path / "start"
    command = ["run", str(bench.folder), "-t", "uno", "-w", "kat", "--db", str(bench.database)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "STEELYARD_HOME": str(tmp_path / "home")}
    both = [
        subprocess.Popen([sys.executable, "-c", BOTH, str(start), *command], env=environment, stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    start.touch()
    assert [p.wait(timeout=120) for p in both] == [0, 0]
    runs = bench.store.runs(newest_only=False)
    assert len(runs) == len({r.setup.key for r in runs}) == 5
    assert all(r.ok for r in runs)
