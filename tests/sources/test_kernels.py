"""Micro-kernels: there are some for every simulated chip, each shows what its name says, and a page explains it."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from steelyard.cli.app import app
from steelyard.device import timing_model
from steelyard.model import paths
from steelyard.model.errors import UserError
from steelyard.model.target import load_target, target_names
from steelyard.publish.kernels import Figure, remark
from steelyard.sources.kernels import kernels_of

CHIPS = [name for name in target_names() if load_target(name).is_chip]


def figures(*words: str) -> dict[str, Figure]:
    said = CliRunner().invoke(app, ["validate", "--kernels", *words, "--json"])
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)["kernels"]
    return {f["kernel"]: Figure(**f) for f in found}


@pytest.mark.parametrize("core", sorted({load_target(name).chip.core for name in CHIPS}))
def test_a_page_explains_every_kernel_of_a_core(core: str) -> None:
    of = kernels_of(core)
    assert of is not None, "write kernels for it, or add its core to a file of bench/kernels"
    names = [k.name for k in of.every]
    assert len(names) == len(set(names)) <= 256
    page = (paths.ROOT / "docs" / "validation" / of.page).read_text(encoding="utf-8")
    cited = {
        n
        for text in re.findall(r"`([a-z][a-z0-9*-]+)`", page)
        for n in names
        if re.fullmatch(text.replace("*", ".*"), n)
    }
    assert sorted(set(names) - cited) == []


def test_a_round_of_a_kernel_takes_what_the_manual_says() -> None:
    """DS40002198 for an ATmega328P, around a loop of SBIW (2), BREQ not taken (1) and RJMP (2)."""
    found = figures("-t", "uno")
    each = {"alu": 16 * 1, "load": 8 * 2, "load-after-store": 8 * 4, "push-pop": 8 * 4, "table-program-memory": 8 * 3}
    each |= {"multiply": 8 * 2, "call-direct": 4 * (3 + 4), "branch-taken": 1 + 8 * 2, "skip-2": 8 * 3}
    for name, cycles in each.items():
        assert found[name].simulated == 5 + cycles, name
    assert all(sum(f.causes.values()) == pytest.approx(f.simulated, abs=0.02) for f in found.values())


def test_rocket_kernels_differ_from_the_generated_core_as_its_page_says() -> None:
    folder = paths.ROOT / "docs" / "validation"
    with (folder / "simulated-rtl.csv").open(newline="") as f:
        core = {r["kernel"]: float(r["cycles"]) for r in csv.DictReader(f) if r["core"] == "rv64-rocket"}
    page = (folder / "rv64-rocket.md").read_text(encoding="utf-8")
    listed = re.findall(r"`([\w-]+)`(?=[^|]*\|)", page.split("| kernels that differ | why |")[1].split("\n\n")[0])
    found = figures("-t", "maixduino")
    differ = {name for name, cycles in core.items() if abs(found[name].simulated - cycles) > 0.1}
    assert differ == set(listed) & set(core)
    assert set(found) - set(core) == {"straight-16384"}, "its caches are smaller"


CHANGED = """\
{target} takes other cycles with a model of the same name, {model}. Records name the model that they are by: raise
the number in its id(), and do what else CONTRIBUTING says under "Change a timing model".
STEELYARD_GOLDEN=write then writes {file}."""


@pytest.mark.parametrize("target", CHIPS)
def test_no_model_changes_under_its_name(target: str) -> None:
    """What every kernel takes, by the rules of the named model and what target.toml says of memory."""
    found = figures("-t", target)
    assert all(f.simulated > found["loop"].simulated for n, f in found.items() if n != "loop")
    for f in found.values():
        assert sum(f.causes.values()) == pytest.approx(f.simulated, abs=0.2), f.kernel
    model = timing_model(load_target(target))
    lines = [f"{model},{f.kernel},{f.simulated:.4f}" for f in sorted(found.values(), key=lambda f: f.kernel)]
    file = Path(__file__).parent / "kernels" / f"{target}.csv"
    known = file.read_text().splitlines()[1:] if file.exists() else []
    if os.environ.get("STEELYARD_GOLDEN") == "write":
        same = {k.rsplit(",", 1)[0]: k for k in known}
        assert all(same.get(n.rsplit(",", 1)[0], n) == n for n in lines), CHANGED.format(
            target=target, model=model, file=file.name
        )
        file.write_text("\n".join(["model,kernel,cycles", *lines, ""]))
        known = lines
    assert sorted(known) == sorted(lines), CHANGED.format(target=target, model=model, file=file.name)


def test_what_kernels_cannot_be_asked_is_refused() -> None:
    for words, why in (
        ((), "--on BOARD, or a target"),
        (("-t", "host"), "no kernels for its core"),
        (("-t", "uno,due"), "names 2 targets"),
        (("nothing", "-t", "uno"), "unknown kernel 'nothing'"),
        (("-t", "uno", "--flags=-O1"), "kernels are assembly"),
        (("-t", "uno", "-o", "x.svg"), "no figure of kernels"),
    ):
        said = CliRunner().invoke(app, ["validate", "--kernels", *words])
        assert isinstance(said.exception, UserError)
        assert why in str(said.exception)


def test_kernels_that_differ_are_named() -> None:
    near, far = (Figure("load", "", 30.0, {}, m, 0.01) for m in (30.005, 31.0))
    assert (near.beyond, far.beyond, far.difference) == (False, True, -1.0)
    assert "agree on all 1 kernels" in remark([near])
    assert remark([near, far]) == "1 of 2 kernels differ by more than the resolution: load."
    assert remark([Figure("load", "", 30.0, {})]) == ""
