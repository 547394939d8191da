"""Fresh inputs on the command line: the seed, the mark of time that depends on them, and who answers alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import toys
from tests.conftest import the_target, write

from .conftest import Cli

KAT = "LWC_AEAD_KAT_128_128.txt"


@pytest.fixture(autouse=True)
def compiler() -> None:
    the_target("uno")


def package(folder: Path, name: str, **hooks: str) -> None:
    write(folder / name / "crypto_aead" / "toy1" / name, {**toys.files(**hooks), KAT: toys.kat()})


def test_seed_mark_and_confirmation(cli: Cli, tmp_path: Path) -> None:
    slow = "{ volatile unsigned w; if (k[1] != 1) for (w = 0; w < 300; w++) ; }"
    package(tmp_path, "one", in_encrypt=slow)
    package(tmp_path, "two")
    run = "run one two -t uno -w kat --flags=-Os -j1"
    done = cli(run)
    assert done.code == 0
    lines = done.out.splitlines()
    head = next(line for line in lines if line.startswith(" run "))
    assert head.rstrip().endswith("encrypt, known answers   decrypt, known answers")
    cells = [re.split(" {2,}", line.strip()) for line in lines if re.match(r" \d+ +toy1/", line)]
    rows = {label: (mean, known) for _, label, mean, *_, known, _ in cells}
    assert rows.pop("toy1/two")[1] == "-"
    mean, known = (int(text.replace(" ", "")) for text in rows.pop("toy1/one"))
    assert mean > known + 100
    assert "where time depends on the inputs" in done.out
    assert re.search(r"toy1/one answers as run \d+, of other sources\n", done.out)
    numbers = {line.split()[1]: line.split()[0] for line in lines if re.match(r" \d+ +toy1/", line)}

    shown = cli(f"show {numbers['toy1/one']}").out
    assert "cycles_encrypt_known_mean" in shown
    assert "note: time depends on the inputs: encrypt takes" in shown
    assert f"as run {numbers['toy1/two']}, of other sources" in shown
    assert "--seed" not in shown

    plain = cli(f"{run} --dry-run").out
    assert "3 stored" in plain.replace("0 to run, ", "")
    assert f"another seed than run {numbers['toy1/two']}" in cli(f"{run} --seed mine --dry-run").out
    assert cli(f"{run} --seed mine").code == 0
    again = cli("list runs").out
    mine = next(line.split()[0] for line in again.splitlines() if "toy1/two" in line)
    assert mine != numbers["toy1/two"]
    assert "--seed mine" in cli(f"show {mine}").out
    assert "--seed: give 1 to 64 characters" in cli(f"{run} --seed {'x' * 65}").err
