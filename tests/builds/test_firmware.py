"""The harness's objects belong to the sources that they are kept under."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from steelyard.building import firmware, script
from steelyard.building.toolchain import identify
from steelyard.model import paths
from steelyard.model.reasons import Failure, Reason
from steelyard.model.target import Target
from tests.conftest import Bench


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the harness that a test may edit."""
    copy = shutil.copytree(paths.HARNESS, tmp_path / "harness")
    (copy / "main.c").write_text(
        (copy / "main.c").read_text() + "\n/* of this test alone: nothing is kept of it yet */\n"
    )
    monkeypatch.setattr(paths, "HARNESS", copy)
    firmware.harness_digest.cache_clear()
    yield copy
    firmware.harness_digest.cache_clear()


def test_a_harness_edited_while_it_compiles_is_not_kept(
    bench: Bench, uno: Target, harness: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = harness / "main.c"
    original = main.read_text()
    run = script.Script.run

    def edited(self: script.Script, work: Path, readable: tuple[Path, ...]) -> object:
        if "main.c" in "".join(self.lines):
            main.write_text(original + "\nint edited;\n")  # the compiler sees what the digest does not know
        return run(self, work, readable)

    package = bench.package()
    with monkeypatch.context() as while_it_compiles:
        while_it_compiles.setattr(script.Script, "run", edited)
        failure = bench.build(package, uno).failure
    assert failure == Failure(Reason.SOURCES_CHANGED, firmware.CHANGED)

    main.write_text(original)
    built = bench.build(package, uno)
    assert built.failure is None
    assert b"edited" not in built.images["both"].read_bytes()


def test_who_knows_the_cache_by_another_name_waits_too(
    uno: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks: list[str] = []
    monkeypatch.setattr(firmware, "alone", lambda name: locks.append(name) or nullcontext())
    (tmp_path / "a" / "cache").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "cache").symlink_to(tmp_path / "a" / "cache")
    toolchain = identify(uno.toolchain)
    assert toolchain is not None
    for home in ("a", "b"):
        monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / home))
        firmware.harness_objects(uno, toolchain)
    assert len(locks) == 2
    assert len(set(locks)) == 1
