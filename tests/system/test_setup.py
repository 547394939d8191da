"""scripts/setup with a package manager that is busy, broken or has nothing: it waits, or says so and stops."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

#: exit code that tells that set-up went on to make the environment for Python
WENT_ON = 77
TOOLS = ["sh", "sed", "grep", "cut", "sort", "head", "tail", "tr", "ls", "dirname", "cat", "env", "ln", "mkdir"]
FAKES = {
    "id": "echo 0",
    "sleep": ":",
    "cargo": 'echo "cargo ${FAKE_CARGO-1.99.0}"',
    "python3": f'[ "$1" != -m ] || exit {WENT_ON}',
    "avr-gcc": ":",
    "dpkg-query": 'for p; do :; done; grep -s "^$p=" $STATE/status | cut -d= -f2',
    "apt-cache": """case $1 in
        pkgnames) echo cargo-web ;;
        policy) echo "  Candidate: $(grep -s "^$2=" $STATE/candidates | cut -d= -f2)" | sed 's/: $/: 1.0/' ;;
    esac""",
    "apt-get": """echo "$*" >>$STATE/calls
    case " $* " in
        *" update "*) [ ! -s $STATE/busy ] || { sed -i 1d $STATE/busy; echo "E: Could not get lock" >&2; exit 100; } ;;
        *" install "*) [ ! -e $STATE/broken ] || { echo "E: dpkg was interrupted" >&2; exit 100; } ;;
    esac""",
}


class Machine:
    """A checkout with nothing but what set-up reads, and a PATH of stand-ins."""

    def __init__(self, folder: Path) -> None:
        self.state, self.bin, self.root = folder / "state", folder / "bin", folder / "checkout"
        for made in (self.state, self.bin, self.root / "scripts", self.root / "targets" / "uno"):
            made.mkdir(parents=True)
        for file in ("scripts/setup", "Cargo.toml", "targets/uno/target.toml"):
            shutil.copy(ROOT / file, self.root / file)
        for tool in TOOLS:
            (self.bin / tool).symlink_to(str(shutil.which(tool)))
        for name, script in FAKES.items():
            (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
            (self.bin / name).chmod(0o755)

    def setup(self, *purpose: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs set-up."""
        known = {"PATH": str(self.bin), "STATE": str(self.state), **environment}
        command = [str(self.root / "scripts/setup"), *purpose]
        return subprocess.run(command, env=known, capture_output=True, text=True, check=False)

    @property
    def calls(self) -> list[str]:
        """What was asked of apt-get."""
        return (self.state / "calls").read_text().splitlines()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_every_call_waits_for_the_lock_of_dpkg(machine: Machine) -> None:
    assert machine.setup(STEELYARD_APT_PATIENCE="321").returncode == WENT_ON
    assert [any(word in call for call in machine.calls) for word in ("update", "install")] == [True, True]
    assert all("-o DPkg::Lock::Timeout=321" in call for call in machine.calls)


def test_it_waits_for_the_lock_of_apts_lists(machine: Machine) -> None:
    (machine.state / "busy").write_text("x\nx\nx\n")
    assert machine.setup().returncode == WENT_ON
    assert ["update" in call for call in machine.calls] == [True] * 4 + [False]


def test_it_stops_when_the_lists_stay_locked(machine: Machine) -> None:
    (machine.state / "busy").write_text("x\n" * 1000)
    done = machine.setup(STEELYARD_APT_PATIENCE="20")
    assert (done.returncode, len(machine.calls)) == (1, 5)
    assert "run make again" in done.stderr


def test_it_stops_when_apt_fails(machine: Machine) -> None:
    (machine.state / "broken").touch()
    done = machine.setup()
    assert done.returncode == 1
    assert "E: dpkg was interrupted" in done.stderr
    assert "run make again" in done.stderr
    assert not (machine.root / ".venv").exists()


@pytest.mark.parametrize(
    ("status", "installed"),
    [
        ("install ok installed", False),
        ("", False),  # it came from elsewhere
        ("deinstall ok config-files", False),
        ("install ok half-configured", True),
        ("install ok unpacked", True),
        ("install reinstreq half-installed", True),
    ],
)
def test_a_compiler_that_dpkg_did_not_configure_is_not_there(machine: Machine, status: str, installed: bool) -> None:
    (machine.state / "status").write_text(f"gcc-avr={status}\n" if status else "")
    machine.setup()
    assert any("gcc-avr" in call for call in machine.calls) == installed


@pytest.mark.parametrize(("own", "web", "chosen"), [("1.85.1", "1.96.0", "cargo"), ("0.66.0", "1.85.0", "cargo-web")])
def test_the_rust_that_is_new_enough_is_installed(machine: Machine, own: str, web: str, chosen: str) -> None:
    (machine.state / "candidates").write_text(f"cargo={own}+dfsg1-2\ncargo-web={web}+dfsg1-2~deb12u2\n")
    machine.setup(FAKE_CARGO="1.63.0")
    packages = machine.calls[-1].split()
    assert {chosen, chosen.replace("cargo", "rustc")} == {p for p in packages if p.startswith(("cargo", "rustc"))}


@pytest.mark.parametrize(
    ("purpose", "tools", "oracles"), [((), False, False), (("lab",), True, False), (("test",), True, True)]
)
def test_each_purpose_has_its_packages(machine: Machine, purpose: tuple[str, ...], tools: bool, oracles: bool) -> None:
    machine.setup(*purpose)
    [packages] = [call.split() for call in machine.calls if "install" in call]
    assert [{"avrdude", "openocd", "sigrok-cli"} <= set(packages), "simavr" in packages] == [tools, oracles]
    assert "avr-libc" in packages


def test_without_such_a_rust_it_says_what_to_add_and_installs_nothing(machine: Machine) -> None:
    (machine.state / "candidates").write_text("cargo=0.66.0+ds1-1\ncargo-web=1.78.0+dfsg1-2~deb12u2\n")
    done = machine.setup(FAKE_CARGO="1.63.0")
    assert done.returncode == 1
    assert "bookworm-security" in done.stderr
    assert not any("install" in call for call in machine.calls)
