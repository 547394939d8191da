"""The forges' workflows do what .ci/run does, on the systems that the README promises, with every oracle."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT

SYSTEMS = ("debian:12", "debian:13", "ubuntu:24.04")


@pytest.mark.parametrize("file", [".github/workflows/check.yml", ".gitlab-ci.yml"])
def test_a_workflow_runs_ci_on_every_system(file: str) -> None:
    workflow = (ROOT / file).read_text()
    assert "bash .ci/run\n" in workflow
    assert ", ".join(f'"{s}"' for s in SYSTEMS) in workflow
    assert 'STEELYARD_NO_SKIPS: "1"' in workflow


def test_the_readme_promises_these_systems() -> None:
    assert "fresh Debian 12 or 13, or Ubuntu 24.04 or newer" in (ROOT / "README.md").read_text()


def test_ci_is_make_check() -> None:
    assert (ROOT / ".ci/run").read_text().splitlines()[-1] == "make check"
