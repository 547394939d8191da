"""The forges' workflows do what .ci/run does, on the systems that the README promises, and a fresh clone has there what
its tests need: each reason of a skip is for ever, or something cures it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import FOR_EVER, ROOT

SYSTEMS = ("debian:12", "debian:13", "ubuntu:24.04")
WORKFLOWS = (".github/workflows/check.yml", ".gitlab-ci.yml")
#: what gives a machine its tools
SET_UP = (".ci/run", "scripts/setup", "scripts/rtl-tools", "pyproject.toml")
#: reason of a skip, or the expression that has it -> the word by which the set-up, or who asks for no skips, cures it.
#: What "is not installed" is looked up by its name.
CURES = {
    r"bubblewrap does not work here.*|sandbox\.WITHOUT|a (?:small )?disk cannot be mounted.*": "privileged",
    r"this kernel lets nobody count.*": "perf_event_paranoid",
    r"the locked crates are not on this machine": "cargo fetch",
    r"sources of bundled dependencies are missing.*": "ciphers/deps/fetch",
    r"ssh\.NOT_INSTALLED": "openssh-client",
    r"gone\.detail if gone else ''": "rtl-tools",
    r"could not import 'cryptography\..*": "esptool",  # which needs it
    r"gcc has no sanitiser here|no /dev/full here|{} is not here|no compiler or no oracle": "scripts/setup",
    r"does not build: {}": "scripts/setup",
    r"why": "debootstrap",
    r"absent": "oracles.bouncycastle",
    r"another compiler: {}": "Debian 12",
    r"STEELYARD_FELICS_TREE names .*": "STEELYARD_FELICS_TREE",
    r"STEELYARD_FELICS_RESULTS names .*": "STEELYARD_FELICS_RESULTS",
    r"{} names nothing": "STEELYARD_FELICS_BLOCKS",
}
#: what is not installed under its own name; where a test has the name in a variable, its reason says how to get it
PACKAGES = {"qemu-arm": "qemu-user", "pyserial": "pyserial>=", "cargo": "Rust", "{}": ""}


@cache
def reasons(file: Path) -> tuple[bool, frozenset[str]]:
    """Whether all tests of a file are long, and why they may be skipped."""
    source, found = file.read_text(), set()
    for call in ast.walk(ast.parse(source)) if "skip" in source else ():
        if not isinstance(call, ast.Call) or not re.fullmatch(
            r"pytest\.(?:mark\.)?(skip|skipif|importorskip)", ast.unparse(call.func)
        ):
            continue
        said = next((k.value for k in call.keywords if k.arg == "reason"), call.args[0])
        if isinstance(said, ast.JoinedStr):
            found.add("".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in said.values))
        elif isinstance(said, ast.Constant):
            named = "importorskip" not in ast.unparse(call.func) or call.keywords
            found.add(f"{said.value!s}" if named else f"could not import '{said.value!s}'")
        else:
            found.add(ast.unparse(said))
    return "pytestmark = pytest.mark.long" in source, frozenset(found)


def cure(reason: str) -> str:
    """The word that stands where a reason is cured."""
    if gone := re.match(r"(\S+) is not installed(?:: (?:apt|pip) install '?([\w-]+))?", reason):
        return PACKAGES.get(gone[1], gone[2] or gone[1])
    [word] = [word for pattern, word in CURES.items() if re.fullmatch(pattern, reason)] or [f"a cure of: {reason}"]
    return word


@pytest.mark.parametrize("asked", [*WORKFLOWS, "docs/release.md"])
def test_every_reason_of_a_skip_is_for_ever_or_cured(asked: str) -> None:
    """The workflows leave the long tests out."""
    says = "".join((ROOT / f).read_text() for f in (asked, *SET_UP))
    read = [reasons(f) for f in sorted((ROOT / "tests").rglob("*.py"))]
    found = {r for long, several in read for r in several if not long or asked not in WORKFLOWS}
    assert len(found) > 20
    assert [r for r in sorted(found) if not FOR_EVER.fullmatch(r) and cure(r) not in says] == []


@pytest.mark.parametrize("file", WORKFLOWS)
def test_a_workflow_runs_ci_on_every_system(file: str) -> None:
    workflow = (ROOT / file).read_text()
    assert "bash .ci/run\n" in workflow
    assert ", ".join(f'"{s}"' for s in SYSTEMS) in workflow
    assert 'STEELYARD_NO_SKIPS: "1"' in workflow


def test_the_readme_promises_these_systems() -> None:
    assert "fresh Debian 12 or 13, or Ubuntu 24.04 or newer" in (ROOT / "README.md").read_text()


def test_ci_is_make_check() -> None:
    assert (ROOT / ".ci/run").read_text().splitlines()[-1] == "make check"
