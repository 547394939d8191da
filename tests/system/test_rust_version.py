"""Cargo.toml says which Rust is enough: every crate keeps to it, ours and the locked ones."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib

import pytest

from tests.conftest import ROOT

WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
MINIMUM = WORKSPACE["package"]["rust-version"]


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, f"{text}.0.0".split(".")[:3]))


def let_chains(code: str) -> list[int]:
    """Offsets of conditions that join a ``let`` by ``&&``, which needs Rust 1.88 (the compiler here may be newer)."""
    found = [m.start() for m in re.finditer(r"&&\s*let\b", code)]
    for begin in re.finditer(r"\b(?:if|while)\s+let\b", code):
        depth, right = 0, False
        for at in range(begin.end(), len(code)):
            depth += (code[at] in "([{") - (code[at] in ")]}")
            right = right or (depth == 0 and code[at - 1 : at + 2] == " = ")
            if right and depth == 0 and code.startswith(" && ", at):
                found.append(begin.start())
            if right and depth == 1 and code[at] == "{":
                break
    return found


@pytest.mark.parametrize(
    ("code", "chains"),
    [
        ("if let Some(a) = b && a { }", 1),
        ("while let A { a } = b() && a { }", 1),
        ("if c && let Some(a) = b { }", 1),
        ("if let Some(a) = b.filter(|x| x.p && x.q) { a && c }", 0),
        ("let a = b && c;", 0),
    ],
)
def test_a_let_chain_is_seen(code: str, chains: int) -> None:
    assert len(let_chains(code)) == chains


def test_no_crate_has_a_let_chain() -> None:
    sources = {path: re.sub(r"\s*//.*|\s+", " ", path.read_text()) for path in (ROOT / "crates").rglob("*.rs")}
    assert [str(path.relative_to(ROOT)) for path, code in sources.items() if let_chains(code)] == []


def test_every_locked_crate_builds_with_it() -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--offline"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("the locked crates are not on this machine")
    packages = json.loads(done.stdout)["packages"]
    newer = {p["name"]: p["rust_version"] for p in packages if version(p["rust_version"] or "1") > version(MINIMUM)}
    assert newer == {}
