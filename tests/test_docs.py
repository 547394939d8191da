"""Documents are true: their tables are real output, their links lead somewhere, every metric is defined."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.analyse.rows import rows
from steelyard.building import identify
from steelyard.model.metric import metric_names
from steelyard.model.protocol import PROTOCOLS
from steelyard.model.target import Target, load_target, target_names
from steelyard.model.workload import NAMED, workload
from steelyard.publish.figures import figure_names
from steelyard.publish.ranking import CATALOGUE
from steelyard.publish.results import column
from steelyard.sources import discover
from steelyard.web.documents import pattern_of
from steelyard.web.pages import ROUTES
from tests.conftest import Bench, with_dependencies

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda f: str(f.relative_to(ROOT)))
def test_links_lead_somewhere(file: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", file.read_text(encoding="utf-8")):
        assert link.startswith("http") or (file.parent / link).exists(), link


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda f: str(f.relative_to(ROOT)))
def test_paths_are_there(file: Path) -> None:
    folders = "bench|campaigns|ciphers|crates|docs|harness|oracles|scripts|src/steelyard|targets|tests"
    for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", file.read_text(encoding="utf-8")):
        assert (ROOT / path).exists(), path


def test_the_architecture_names_what_is_there() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    [followed] = re.findall(r"`steelyard run (\S+) -t \w+`", text)
    assert (ROOT / followed / "api.h").exists()
    named = [p for p in re.findall(r"`([\w./*-]+)`", text) if p.endswith(("/", ".py", ".md", ".c")) or "crates/" in p]
    assert len(named) > 20
    assert {f.parent.name for f in (ROOT / "src" / "steelyard").glob("*/__init__.py")} <= {
        p.split("/")[0] for p in named
    }
    steps = [int(n) for n in re.findall(r"^(\d+)\. ", text, re.MULTILINE)]
    assert steps == list(range(1, len(steps) + 1))
    for path in named:
        assert any([*ROOT.glob(path), *(ROOT / "src" / "steelyard").glob(path)]), path


def test_contributing_names_what_is_there() -> None:
    """Modules are named from their stage on, as `lab/image.py`; words in capitals are in the code."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sources = [
        f
        for folder in ("src", "tests", "bench", "docs", "harness", "crates", "oracles", "rtl", "devices")
        for f in (ROOT / folder).rglob("*.*")
    ]
    named = set(re.findall(r"`([\w/]+\.(?:py|toml|csv|c|h))`", text)) - {"target.toml", "variant.toml", "lab.toml"}
    assert len(named) > 30
    assert [n for n in named if not any(f"/{f}".endswith(f"/{n}") for f in [*map(str, sources), *FOLDER])] == []
    code = "".join(f.read_text(encoding="utf-8") for f in sources if f.suffix in (".py", ".rs", ".c", ".h", ".sv"))
    tables = set(re.findall(r"`([A-Z]{4,})`", text)) - {"STEELYARD", "CRYPTO"}
    assert len(tables) > 10
    assert [word for word in tables if not re.search(rf"\b{word}\b", code)] == []


#: files of every target and implementation, and of the project
FOLDER = ("target.h", "target.c", "api.h", "pyproject.toml")


def test_tables_are_real_output() -> None:
    """Figures depend on the compilers: only those that made the documents can check them."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in target_names():
        toolchain = identify(load_target(name).toolchain)
        if f" {name} (" in text and (toolchain is None or toolchain.version not in text):
            pytest.skip(f"README.md was made with another compiler for {name}")
    with_dependencies()
    script = [sys.executable, str(ROOT / "scripts" / "docs.py"), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"out of date, run: make docs\n{done.stdout}"


@pytest.mark.parametrize("label", ["tinyjambu128v2/fast", "asconaead128/small", "xoodyakround3/fast"])
def test_the_catalogue_ranks_what_is_measured(bench: Bench, target: Target, label: str) -> None:
    """A sample of its rows; figures depend on the compiler that made them."""
    text = (ROOT / "docs" / "catalogue.md").read_text(encoding="utf-8")
    section = text.split(f"### {target.name} (")[1].split("### ")[0]
    toolchain = identify(target.toolchain)
    if toolchain is None or toolchain.version not in (ROOT / "README.md").read_text(encoding="utf-8"):
        pytest.skip(f"the documents were made with another compiler for {target.name}")
    lines = [[c.strip() for c in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")]
    printed = next(line for line in lines if line[:2] == [label, "-O3"])
    variant, name = label.split("/")
    [folder] = (ROOT / "ciphers" / "crypto_aead").glob(f"*/{variant}/{name}")
    [row] = rows([bench.weigh(discover(folder).implementations[0], target, "default", "-O3")])
    titles = {column(m).heading: m for m in CATALOGUE["crypto_aead"]}
    for title, cell in zip(lines[0], printed, strict=True):
        if of := titles.get(title):
            assert cell == ("-" if row.get(of) is None else f"{row[of]:.0f}"), title
    assert len(titles.keys() & set(lines[0])) >= 4


def test_every_metric_has_a_definition(bench: Bench, target: Target) -> None:
    text = (ROOT / "docs" / "definitions.md").read_text(encoding="utf-8")
    defined = [pattern_of(d) for d in re.findall(r"`([a-z_<>]+)`", text)]
    names = "|".join(defined)
    record = bench.weigh(bench.package(), target, load="default")
    assert record.metrics.keys() < set(metric_names())
    assert not [m for m in metric_names() if not re.fullmatch(f"({names})(_uncertainty)?", m)]


def test_workloads_are_those_that_are_run() -> None:
    text = (ROOT / "docs" / "definitions.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)`(?: to `felics-6`)? \| (.*) \|$", text, re.MULTILINE))
    for name in NAMED:
        sizes = workload(name).sizes
        if p := PROTOCOLS.get(name):
            bold = {(s.adlen, s.mlen) for s in p.sizes if s.typical}
            assert len(bold) == 1
            calls = ", ".join(f"**{a}/{m}**" if (a, m) in bold else f"{a}/{m}" for a, m in sizes)
            assert rows[name] == f"{p.title}: {p.standard} | {p.associated} | {calls}"
        elif name == "kat":
            assert (sizes, rows[name][:4]) == ((), "none")
        elif name.startswith("felics-") and name[7:].isdecimal():
            listed = re.findall(r"\d+/\d+", rows["felics-1"])
            assert f"{sizes[0][0]}/{sizes[0][1]}" == listed[int(name[7:]) - 1]
        elif len(sizes) == 1:
            assert rows[name] == f"associated data {sizes[0][0]}, message {sizes[0][1]} bytes"
        else:
            assert rows[name].startswith(f"{len(sizes)} sizes")
            assert {n for size in sizes for n in size} >= set(
                map(int, re.findall(r"(?<=[ /])\d+(?=[ ,/])", rows[name])[1:])
            ) - {32}


def test_what_stands_for_today_is_bundled_and_weighed_in_protocols() -> None:
    variants = {f.parent.name for f in (ROOT / "ciphers" / "crypto_aead").glob("*/*/variant.toml")}
    for p in PROTOCOLS.values():
        assert set(p.today) <= variants, p.name
        assert p.title in (ROOT / "docs" / "definitions.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", target_names())
def test_every_target_has_its_claims(name: str) -> None:
    claims = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    tiers = re.findall(rf"^## {name} \(.*\): (.*)$", claims, re.MULTILINE)
    assert tiers == [load_target(name).tier], "its section in docs/claims.md"


def test_every_figure_is_in_the_readme() -> None:
    [line] = re.findall("^ *steelyard plot .*$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name in figure_names() if not re.search(rf"\b{name}\b", line)] == []


def test_guides_name_all_that_there_is_to_choose() -> None:
    lab = (ROOT / "docs" / "guides" / "lab.md").read_text(encoding="utf-8")
    names = [f.stem for kind in ("flashers", "meters") for f in (ROOT / "src/steelyard/lab" / kind).glob("*.toml")]
    assert len(names) > 10
    assert [name for name in names if f"`{name}`" not in lab] == []
    service = (ROOT / "docs" / "guides" / "service.md").read_text(encoding="utf-8")
    heads = {words[0] for words in ROUTES if words}
    assert [head for head in heads if not re.search(rf"`/{head}\b", service)] == []
