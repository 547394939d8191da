"""A toolchain's identity: everything that an image is made from, and nothing read twice."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from steelyard import building
from steelyard.building import ask, toolchain
from steelyard.model.reasons import Reason
from steelyard.model.record import Toolchain
from steelyard.model.target import Target, ToolchainSpec
from tests.conftest import Bench


def identified(spec: ToolchainSpec) -> Toolchain:
    """As another process would."""
    toolchain._identify.cache_clear()
    toolchain._content.cache_clear()
    found = toolchain.identify(spec)
    assert found is not None, toolchain.why_not(spec)
    return found


@pytest.fixture
def own(uno: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ToolchainSpec:
    """uno's toolchain, with parts that a test may change."""
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path / "home"))
    for folder in ("bin", "include", "lib"):
        (tmp_path / folder).mkdir()
    for tool in ("gcc", "g++", "as", "ld", "objcopy", "nm"):
        (tmp_path / "bin" / f"avr-{tool}").write_text(f'#!/bin/sh\nexec {shutil.which(f"avr-{tool}")} "$@"\n')
        (tmp_path / "bin" / f"avr-{tool}").chmod(0o755)
    (tmp_path / "include/string.h").write_text("#include_next <string.h>\n#include <under/more.h>\n")
    (tmp_path / "include/under").mkdir()
    (tmp_path / "include/under/more.h").write_text("extern int more;\n")
    for library in ("libc.a", "libgcc.a", "libown.a", "crt1.o"):
        (tmp_path / "lib" / library).write_bytes(library.encode())
    (tmp_path / "own.specs").write_text("*own:\n-lown\n")
    return uno.toolchain.but(
        compiler=str(tmp_path / "bin/avr-gcc"),
        cxx=str(tmp_path / "bin/avr-g++"),
        prefix=f"{tmp_path}/bin/avr-",
        flags=(*uno.toolchain.flags, "-isystem", str(tmp_path / "include")),
        link=(*uno.toolchain.link, f"-L{tmp_path}/lib", "-lown", f"--specs={tmp_path}/own.specs"),
    )


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("part", ["bin/avr-gcc", "bin/avr-objcopy"])
def test_one_that_is_replaced_in_mid_campaign_makes_nothing_under_its_old_name(
    bench: Bench, uno: Target, own: ToolchainSpec, tmp_path: Path, part: str, fails: bool
) -> None:
    own = own.but(flags=uno.toolchain.flags, link=uno.toolchain.link)  # the sandbox has no other folder of ours
    target = uno.but(toolchain=own)
    known = identified(own)
    package = bench.package(top="#error this one does not compile" if fails else "")
    file = tmp_path / part
    kept = file.read_text()
    file.write_text(kept + "\n\n")
    for _ in range(2):  # nor is the failure kept
        failure = building.build(package, target, known, ("-Os",)).failure
        assert failure is not None
        assert (failure.reason, failure.detail.startswith(str(file))) == (Reason.NO_TOOLCHAIN, True), failure
    changed = identified(own)
    assert changed != known
    failure = building.build(package, target, changed, ("-Os",)).failure
    assert (failure is None) == (not fails), failure


def test_what_a_flag_names_is_not_missing_from_the_machine(bench: Bench, uno: Target) -> None:
    for named in ("-Wl,-T,/etc/nothing.ld", "-Wl,--version-script=/etc/nothing.map"):
        failed = building.build(bench.package(), uno, identified(uno.toolchain), ("-Os", "-flto", named)).failure
        assert failed is not None
        assert (failed.reason, "/etc/nothing" in failed.detail) == (Reason.LINK_ERROR, True), failed


@pytest.mark.parametrize(
    "part",
    [
        *(f"bin/avr-{tool}" for tool in ("gcc", "g++", "as", "ld", "objcopy", "nm")),
        *("include/string.h", "include/under/more.h"),
        *("lib/libc.a", "lib/libgcc.a", "lib/libown.a", "lib/crt1.o", "own.specs"),
    ],
)
def test_another_part_is_another_toolchain(own: ToolchainSpec, tmp_path: Path, part: str) -> None:
    before = identified(own)
    with (tmp_path / part).open("ab") as file:
        file.write(b"\n")
    after = identified(own)
    assert (after.name, after.version) == (before.name, before.version)
    assert after.sha256 != before.sha256


@pytest.mark.parametrize("part", ["lib/libm.a", "lib/crtbegin.o", "include/stdlib.h"])
def test_so_is_one_with_a_part_more_or_none(own: ToolchainSpec, tmp_path: Path, part: str) -> None:
    before = identified(own)
    (tmp_path / part).write_text("")
    with_it = identified(own)
    (tmp_path / part).unlink()
    assert identified(own) == before != with_it


def test_what_did_not_change_is_not_read_again(own: ToolchainSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    before = identified(own)

    def none(*_: object, **__: object) -> Any:
        raise AssertionError("read, or asked")

    monkeypatch.setattr(toolchain, "_digest", none)
    monkeypatch.setattr(subprocess, "Popen", none)
    assert identified(own) == before


def test_only_content_counts(own: ToolchainSpec, tmp_path: Path) -> None:
    before = identified(own)
    for file in tmp_path.rglob("*"):
        os.utime(file, (1, 1))
    assert identified(own) == before


@pytest.mark.parametrize(
    "damage", [lambda t: "", lambda t: t[:-9], lambda t: "{}", lambda t: t.replace('"sha256": "', '"sha256": "0')]
)
def test_a_damaged_stamp_is_made_again(own: ToolchainSpec, tmp_path: Path, damage: Callable[[str], str]) -> None:
    before = identified(own)
    [stamp] = (tmp_path / "home/cache/toolchains").iterdir()
    whole = stamp.read_text()
    stamp.write_text(damage(whole))
    assert identified(own) == before
    assert stamp.read_text() == whole


def test_the_options_choose_the_libraries(uno: Target, bluepill: Target) -> None:
    for target, other in ((uno, "-mmcu=atmega1284p"), (bluepill, "-mcpu=cortex-m0")):
        spec = target.toolchain
        assert identified(spec) != identified(spec.but(flags=(other, *spec.flags[1:])))


@pytest.mark.parametrize(
    "told",
    [
        lambda command: ask.Said(0, "odd compiler 1.0\n") if "--version" in command else ask.Said(1),
        lambda command: ask.Said(0, "odd compiler 1.0\n", "Reading specs from /none\nLIBRARY_PATH=/none:\n"),
        lambda command: ask.Said(0, "odd compiler 1.0\n") if "--version" in command else ask.Said(None, err="hangs"),
    ],
)
def test_a_compiler_that_says_little(
    own: ToolchainSpec, monkeypatch: pytest.MonkeyPatch, told: Callable[[list[str]], ask.Said]
) -> None:
    """Clang prints other output, and a broken compiler none: it is identified by what is known, or not at all."""
    monkeypatch.setattr(toolchain, "ask", lambda command, given="": told(command))
    toolchain._identify.cache_clear()
    assert (toolchain.identify(own) is None) == bool(toolchain.why_not(own))
    toolchain._identify.cache_clear()


@pytest.mark.parametrize("asked", ["--version", "-print-prog-name=cc1", "-M", "-###"])
def test_an_answer_that_does_not_come_makes_no_other_toolchain(
    own: ToolchainSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """On a busy machine a compiler may not answer in time; this must not give it another identity."""
    real = ask.ask

    def slow(command: Sequence[str], folder: str = ".", given: str = "") -> ask.Said:
        return ask.Said(None, err="it does not answer", late=True) if asked in command else real(command, folder, given)

    with monkeypatch.context() as patch:
        patch.setattr(toolchain, "ask", slow)
        toolchain._identify.cache_clear()
        assert toolchain.identify(own) is None
        assert "it does not answer; end other programs and run again" in toolchain.why_not(own)
    assert list(tmp_path.glob("home/cache/toolchains/*")) == []
    assert identified(own)
