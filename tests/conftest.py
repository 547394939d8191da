"""Fixtures for all tests: one build cache for the session, a database for each test, small packages."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from steelyard import building, device
from steelyard.building import Build, toolchain
from steelyard.model import paths
from steelyard.model.implementation import Implementation
from steelyard.model.inputs import SEED
from steelyard.model.record import Record
from steelyard.model.target import Target, load_target, target_names
from steelyard.model.workload import workload
from steelyard.pipeline import Job, Pipeline, resolve
from steelyard.sources import discover
from steelyard.store import Store
from tests import toys

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a script starts in the background
ROOT = Path(__file__).resolve().parents[1]

#: reasons for which a test may be skipped on any machine: no set-up of a machine gives it what it needs. Every other
#: reason names something that can be installed or set, and STEELYARD_NO_SKIPS=1 turns it into a failure;
#: tests/system/test_workflows.py says what cures it.
FOR_EVER = re.compile(
    r"assembly; checked on its target"
    r"|the compiler's code is not for this chip"
    r"|does not build: (?:foreign-isa|flash-overflow|ram-overflow)"
    r"|does not fit: .*"
    r"|(?:README\.md was|the documents were) made with another compiler for .*"
    r"|STEELYARD_BLOCK_ANSWERS names no archive of known answers"
)

#: tests that play boards in real time, with the field's tools at the other end: a machine that stops for seconds fails
#: them. One that failed is run up to three times more, and the summary names it; never one that found a wrong figure or
#: a wrong answer, which is a finding however seldom it comes.
REAL_TIME = re.compile(r"tests/lab/|tests/guides/.*::test_weigh_on_boards")
FINDINGS = ["^WrongFigure", "kat-mismatch|decrypt-mismatch|wrong-output|forgery-accepted|implausible"]


class WrongFigure(AssertionError):
    """A figure of a board is not what it has to be; once is once too often."""


def near(found: float, right: float, room: float, what: object = "") -> None:
    """:class:`WrongFigure` where a figure is not within ``room`` of the right one."""
    if not abs(found - right) <= room:
        raise WrongFigure(f"{what} {found} instead of {right}, which is not within {room}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives tests that run in real time more attempts."""
    for item in items:
        if REAL_TIME.match(item.nodeid):
            item.add_marker(pytest.mark.flaky(reruns=3, reruns_delay=5, rerun_except=FINDINGS))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turns skips into failures where the environment says so."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("STEELYARD_NO_SKIPS"):
        why = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
        if not FOR_EVER.fullmatch(why):
            report.outcome, report.longrepr = "failed", f"skipped where STEELYARD_NO_SKIPS is set: {why}"
    return report


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """``STEELYARD_HOME`` of the session. Its cache is that of all processes that run tests, so that none builds again
    what another one built; who damages one has a home of his own."""
    folder, base = tmp_path_factory.mktemp("home"), tmp_path_factory.getbasetemp()
    cache = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"
    cache.mkdir(exist_ok=True)
    (folder / "cache").symlink_to(cache)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STEELYARD_HOME", str(folder))
        patch.delenv("STEELYARD_DB", raising=False)
        yield folder


@contextmanager
def built_compilers() -> Iterator[None]:
    """``PATH`` with the compilers that the checkout built for itself, which another ``STEELYARD_HOME`` would hide."""
    built = sorted((paths.ROOT / ".steelyard" / "toolchains").glob("*/bin"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.pathsep.join([os.environ["PATH"], *map(str, built)]))
        toolchain._identify.cache_clear()
        yield
    toolchain._identify.cache_clear()


def the_target(name: str) -> Target:
    """A target whose compiler is installed; the test is skipped when it is not."""
    target = load_target(name)
    if shutil.which(target.toolchain.compiler) is None:
        pytest.skip(f"{target.toolchain.compiler} is not installed: {target.toolchain.fix}")
    return target


def with_dependencies() -> None:
    """Skips the test where the sources of bundled dependencies were not fetched."""
    if not (paths.CIPHERS / "deps" / "vendor" / "Cargo.lock").is_file():
        pytest.skip("sources of bundled dependencies are missing; run: make deps")


#: an 8-bit and a 32-bit target stand for all; tests/targets goes through every one
STANDARD = ("uno", "bluepill")
SIMULATED = [name for name in target_names() if load_target(name).device == "simulator"]
#: bytes at the lower end of a frame that are made room for and not written: a window's save area, alignment
UNTOUCHED = {"esp32": 32, "esp8266": 8, "esp8266-flash": 8, "gd32vf103": 8, "maixduino": 8}


@pytest.fixture(params=STANDARD)
def target(request: pytest.FixtureRequest) -> Target:
    """Each of the two standard targets in turn."""
    return the_target(request.param)


@pytest.fixture
def uno() -> Target:
    return the_target("uno")


@pytest.fixture
def bluepill() -> Target:
    return the_target("bluepill")


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Writes files below ``folder``."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


#: records of nocrypt by setup
_baselines: dict[str, Record] = {}


class Bench:
    """Builds and measures implementations in a test's own folder and database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "packages"
        self.database = folder / "results.db"

    @cached_property
    def store(self) -> Store:
        """The database, made when a test asks for it."""
        return Store.open(self.database)

    def package(
        self, files: Mapping[str, str] | None = None, /, *, variant: str = "toy1", **hooks: str
    ) -> Implementation:
        """A package of ``files``, by default the toy with ``hooks`` in it."""
        at = write(self.folder / "crypto_aead" / variant / "ref", toys.files(**hooks) if files is None else files)
        found = discover(at)
        assert found.rejected == ()
        return found.implementations[0]

    def build(self, implementation: Implementation, target: Target, *flags: str) -> Build:
        toolchain = building.identify(target.toolchain)
        assert toolchain is not None, building.why_not(target.toolchain)
        return building.build(implementation, target, toolchain, flags or ("-Os",))

    def job(self, implementation: Implementation, target: Target, load: str = "kat", flags: str = "-Os") -> Job:
        return Job(implementation, target, tuple(flags.split()), workload(load))

    def weigh(
        self, implementation: Implementation, target: Target, load: str = "kat", flags: str = "-Os", seed: str = SEED
    ) -> Record:
        """Its record. What is subtracted on a simulator is the same each time, and measured once."""
        job = self.job(implementation, target, load, flags)
        base = resolve(job.baseline).setup.key
        simulated = target.device == "simulator" and implementation.variant != "nocrypt"
        if simulated and base in _baselines and base not in self.store.find([base]):
            self.store.add(_baselines[base])
        record = Pipeline(self.store, threads=1, seed=seed).weigh(job)
        if simulated and (made := self.store.find([base])):
            _baselines[base] = made[base]
        return record

    def client(self, implementation: Implementation, target: Target, *flags: str) -> device.Client:
        """The implementation on a fresh simulator."""
        built = self.build(implementation, target, *flags)
        assert built.failure is None, built.failure
        return device.simulated(target, built.images["both"])


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes a small disk."""
    made: list[Path] = []

    def make(size: str) -> Path:
        place = tmp_path / "disk"
        place.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"a small disk cannot be mounted: {done.stderr.strip()}; run as root")
        made.append(place)
        return place

    yield make
    for place in made:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    if "store" in vars(bench):
        bench.store.close()
