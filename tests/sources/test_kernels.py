"""Micro-kernels: there are some for every simulated chip, each shows what its name says, and a page explains it."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from steelyard.cli.app import app
from steelyard.device import timing_model
from steelyard.model import paths
from steelyard.model.errors import UserError, WorkError
from steelyard.model.target import load_target, target_names
from steelyard.publish.kernels import Figure, KernelRun, remark, tables
from steelyard.publish.profile import CAUSES
from steelyard.sources.kernels import kernels_of

from .first import first_calls
from .mixes import written

CHIPS = [name for name in target_names() if load_target(name).is_chip]


def figures(*words: str) -> dict[str, Figure]:
    said = CliRunner().invoke(app, ["validate", "--kernels", *words, "--json"])
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)["kernels"]
    return {f["kernel"]: Figure(**f) for f in found}


CORES = sorted({load_target(name).chip.core for name in CHIPS})


@pytest.mark.parametrize("core", CORES)
def test_a_page_explains_every_kernel_of_a_core(core: str) -> None:
    of = kernels_of(core)
    assert of is not None, "write kernels for it, or add its core to a file of bench/kernels"
    names = [k.name for k in of.every]
    assert len(names) == len(set(names)) <= 256
    page = (paths.ROOT / "docs" / "validation" / of.page).read_text(encoding="utf-8")
    assert sorted(set(names) - set(re.findall(r"`([a-z][a-z0-9-]+)`", page))) == []


@pytest.mark.parametrize("page", sorted({of.page for core in CORES if (of := kernels_of(core))}))
def test_a_page_names_no_kernel_that_there_is_not(page: str) -> None:
    """In tables of kernels, and where the same kernels as of another core are listed."""
    names = {k.name for core in CORES if (of := kernels_of(core)) and of.page == page for k in of.every}
    text = (paths.ROOT / "docs" / "validation" / page).read_text(encoding="utf-8")
    cited = set()
    for table in re.findall(r"^\|[^\n]*\| kernels? \|\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE):
        cited |= {n for line in table.splitlines() for n in re.findall(r"`([^`]+)`", line.split("|")[-2])}
    for listed in re.findall(r"(?:kernels show them|Kernels without a figure[^:]*):((?:[^`.]*`[^`]+`)+)", text):
        cited |= set(re.findall(r"`([^`]+)`", listed))
    assert cited, "no table has a last column that is called kernels"
    assert sorted(cited - names) == []


def test_a_round_of_a_kernel_takes_what_the_manual_says() -> None:
    """DS40002198 for an ATmega328P, around a loop of SBIW (2), BREQ not taken (1) and RJMP (2)."""
    found = figures("-t", "uno")
    each = {"alu": 16 * 1, "load": 8 * 2, "load-after-store": 8 * 4, "push-pop": 8 * 4, "table-program-memory": 8 * 3}
    each |= {"multiply": 8 * 2, "call-direct": 4 * (3 + 4), "branch-taken": 1 + 8 * 2, "skip-2": 8 * 3}
    for name, cycles in each.items():
        assert found[name].simulated == 5 + cycles, name
    assert all(sum(f.causes.values()) == pytest.approx(f.simulated, abs=0.02) for f in found.values())


@pytest.mark.parametrize(("target", "wait"), [("nrf52840", 1), ("bluepill", 2), ("nucleo-f746zg", 1)])
def test_waits_have_their_cause_whatever_the_instruction(target: str, wait: int) -> None:
    """Of 8 accesses each: a jump may read where to, an unaligned load waits for flash too, a Cortex-M3's in each of
    the three accesses that it is, and one of an IT block is done with it."""
    found = figures("-t", target)
    for name in ("table", "load-pc", "table-branch", "table-branch-half", "it-table"):
        assert found[name].causes["flash-data"] == pytest.approx(8 * wait, abs=0.1), name
    accesses = 1 if target == "nucleo-f746zg" else 3
    assert found["unaligned-table"].causes["flash-data"] == pytest.approx(8 * accesses * wait, abs=0.1)
    for name, of in (
        ("unaligned-1", "unaligned-1"),
        ("unaligned-table", "unaligned-1"),
        ("it-unaligned", "unaligned-1"),
    ):
        assert found[name].causes["unaligned"] == found[of].causes["unaligned"] > 0, name
    for name in ("load-pc", "table-branch", "table-branch-half", "it-table", "it-unaligned"):
        assert not found[name].causes.keys() & {"refill", "operands"}, name


def test_rocket_kernels_differ_from_the_generated_core_as_its_page_says() -> None:
    folder = paths.ROOT / "docs" / "validation"
    with (folder / "simulated-rtl.csv").open(newline="") as f:
        core = {r["kernel"]: float(r["cycles"]) for r in csv.DictReader(f) if r["core"] == "rv64-rocket"}
    page = (folder / "rv64-rocket.md").read_text(encoding="utf-8")
    listed = re.findall(r"`([\w-]+)`(?=[^|]*\|)", page.split("| kernels that differ | why |")[1].split("\n\n")[0])
    found = figures("-t", "maixduino")
    differ = {name for name, cycles in core.items() if abs(found[name].simulated - cycles) > 0.1}
    assert differ == set(listed) & set(core)
    without = re.findall(r"`([\w-]+)`", page.split("Kernels without a figure of that core:")[1].split("\n\n")[0])
    assert sorted(set(found) - set(core)) == sorted(without)


CHANGED = """\
{target}: same model, {model}, other cycles: {names}.
Records name the model that they are by: raise the number in its id() in crates/timing, also where only flash_timing in
target.toml changed, and do what else CONTRIBUTING says under "Change a timing model". STEELYARD_GOLDEN=write then
writes {file}. Kernels and mixes are assembly, so no compiler changes them; one that lays constants out
differently can change those that read them. What is in tests/sources/mixes.toml stays as it is."""
RENAMED = """\
{target}: the model is {model} now, and {file} is by {before}. STEELYARD_GOLDEN=write writes it.
By the old model are also docs/validation/errors.csv, fidelity*.csv, sensitivity.csv and the tables of the pages, and
the id in docs/claims.md and the core's page: CONTRIBUTING, "Change a timing model"."""
AGAIN = "{target}: images of the same compiler are others than those of {first}. STEELYARD_GOLDEN=write writes it."
OTHERS = "{target}: kernels came or went: {names}. STEELYARD_GOLDEN=write writes {file}."


@pytest.fixture
def mixes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], dict[str, Figure]]]:
    """Figures of a target's mixes."""
    written(tmp_path)

    def found(target: str) -> dict[str, Figure]:
        with monkeypatch.context() as m:
            m.setattr(paths, "KERNELS", tmp_path)
            kernels_of.cache_clear()
            return figures("-t", target, "mix-*")

    yield found
    kernels_of.cache_clear()


@pytest.mark.parametrize("target", CHIPS)
def test_no_model_changes_under_its_name(
    target: str, mixes: Callable[[str], dict[str, Figure]], tmp_path: Path
) -> None:
    """What every kernel and every mix takes, by the rules of the named model and what target.toml says of memory, and
    first calls of kernels and packages, which compilers change: they are held where the image is the same. A kernel
    that is new does not hide that a rule is: mixes and packages have it too, and nothing is written then."""
    found = figures("-t", target)
    assert all(f.simulated > found["loop"].simulated for n, f in found.items() if n != "loop")
    for f in found.values():
        assert sum(f.causes.values()) == pytest.approx(f.simulated, abs=0.2), f.kernel
    found |= mixes(target)
    model = timing_model(load_target(target))
    now = {(model, f.kernel): f"{f.simulated:.4f}" for f in found.values()}
    file = Path(__file__).parent / "kernels" / f"{target}.csv"
    rows = list(csv.reader(file.read_text().splitlines()))[1:] if file.exists() else []
    known = {(by, kernel): cycles for by, kernel, cycles in rows}
    write = os.environ.get("STEELYARD_GOLDEN") == "write"
    first, calls = file.with_name(f"first-{file.name}"), first_calls(load_target(target), tmp_path / "first")
    rows = list(csv.reader(first.read_text().splitlines()))[1:] if first.exists() else []
    held = {call: (cycles, image) for by, call, cycles, image in rows if by == model}
    say = {"target": target, "model": model, "file": f"tests/sources/kernels/{file.name}"}
    gone = {(by, kernel) for by, kernel in known.keys() - now.keys() if by == model and kernel.startswith("mix-")}
    other = sorted({k for by, k in now.keys() & known.keys() if now[by, k] != known[by, k]} | {k for _, k in gone})
    same = {n for n in calls.keys() & held.keys() if calls[n][1] == held[n][1]}
    other += sorted(f"first call of {n}" for n in same if calls[n] != held[n])
    assert not other, CHANGED.format(**say, names=", ".join(other))
    if write:
        lines = [f"{model},{kernel},{cycles}" for (_, kernel), cycles in sorted(now.items())]
        file.write_text("\n".join(["model,kernel,cycles", *lines, ""]))
        lines = [f'{model},{n},{cycles},"{image}"' for n, (cycles, image) in sorted(calls.items())]
        first.write_text("\n".join(["model,call,cycles,image", *lines, ""]))
        return
    before = sorted({by for by, _ in known} - {model})
    assert not before, RENAMED.format(**say, before=", ".join(before))
    assert now.keys() == known.keys(), OTHERS.format(**say, names=", ".join(k for _, k in now.keys() ^ known.keys()))
    compilers = {image.rpartition(" ")[0] for _, image in held.values()}
    if {image.rpartition(" ")[0] for _, image in calls.values()} == compilers or not held:
        assert held == calls, AGAIN.format(target=target, first=first.name)


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


@pytest.fixture
def other_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], str]]:
    """Runs the kernels of an AVR with a text in their file replaced, and answers with what is said."""
    whole = (paths.KERNELS / "avr.toml").read_text()

    def said(old: str, new: str) -> str:
        assert old in whole
        (tmp_path / "avr.toml").write_text(whole.replace(old, new, 1))
        monkeypatch.setattr(paths, "KERNELS", tmp_path)
        kernels_of.cache_clear()
        ended = CliRunner().invoke(app, ["validate", "--kernels", "-t", "uno"]).exception
        assert isinstance(ended, (UserError, WorkError))
        return str(ended)

    yield said
    kernels_of.cache_clear()


def test_errors_in_kernels_name_the_file(other_kernels: Callable[[str, str], str]) -> None:
    assert "avr.toml: kernels.0.rules: unknown" in other_kernels("rule =", "rules =")
    assert "avr.toml: loop: body: a $ that is none of $n, $symbol" in other_kernels('body = ""', 'body = "$m"')
    assert "avr.toml: loop: body: a $ that" in other_kernels('body = ""', 'body = "ldi r18, $5"')
    assert "avr.toml: not a TOML file" in other_kernels('body = ""', "body =")
    text = other_kernels('body = ""', 'body = "nonsense"')
    assert "nonsense" in text
    assert "avr.toml" in text


def test_an_endless_kernel_is_ended_with_what_helps(other_kernels: Callable[[str, str], str]) -> None:
    text = other_kernels('body = ""', 'body = "rjmp 1b"')
    assert text.startswith("kernels on uno: runaway")
    assert text.endswith("avr.toml counts its rounds and ends")


def test_causes_of_kernels_have_the_words_of_profiles() -> None:
    ran = KernelRun(
        "t", "c", "m/1", "simulator", "", "", "", "", 9, "avr.md", (Figure("load", "", 3.0, {"work": 3.0}),)
    )
    assert tables(ran)[0].columns[-1].title == CAUSES["work"]


def test_kernels_that_differ_are_named() -> None:
    near, far = (Figure("load", "", 30.0, {}, m, 0.01) for m in (30.005, 31.0))
    assert (near.beyond, far.beyond, far.difference) == (False, True, -1.0)
    assert "agree on all 1 kernels" in remark([near])
    assert remark([near, far]) == "1 of 2 kernels differ by more than the resolution: load."
    assert remark([Figure("load", "", 30.0, {})]) == ""
