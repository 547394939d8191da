"""The guides work: every command on them runs, in order, and leaves what the text says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.model import paths
from steelyard.store import Store
from tests.conftest import the_target
from tests.rtl import toys

ROOT = Path(__file__).parents[2]


def commands(page: str) -> list[str]:
    """Lines behind the prompt of a guide's blocks."""
    text = (ROOT / "docs" / "guides" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def program(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


def run(page: str, folder: Path, home: Path, least: int = 6) -> dict[str, str]:
    """Runs a guide in ``folder``; what each command printed."""
    the_target("uno")
    the_target("bluepill")
    (folder / "ciphers").symlink_to(ROOT / "ciphers")
    tool = folder / ".bin" / "steelyard"
    program(tool, f'#!/bin/sh\nexec "{sys.executable}" -m steelyard "$@"\n')
    environment = {
        **os.environ,
        "PATH": f"{tool.parent}:{os.environ['PATH']}",
        "STEELYARD_HOME": str(home),
        "STEELYARD_DB": str(folder / "results.db"),
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    printed = {}
    for command in commands(page):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=1200,  # of a command that hangs; a loaded machine takes minutes for synthesis
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
        printed[command] = done.stdout
    assert len(printed) >= least
    return printed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def test_optimise_a_cipher(folder: Path, home: Path) -> None:
    printed = run("optimise-a-cipher.md", folder, home)
    compared = next(text for command, text in printed.items() if command.startswith("steelyard compare --revisions"))
    assert "faster on all 2 targets" in compared
    assert (folder / "before.svg").read_text().startswith("<svg")
    assert (folder / "history.svg").exists()
    assert "fast permutation" in printed["steelyard history HEAD mine --target uno,bluepill"]
    assert (folder / "flags.svg").exists()
    flags = next(text for command, text in printed.items() if command.startswith("steelyard compare 'flags"))
    assert "1 setup compared, 0 only old, 0 only new, 0 refused" in flags
    roms = roms_of_newest(folder / "results.db", "opt", "bluepill")
    old, new = (f"{roms[f]:,}".replace(",", " ") for f in ("-O3", "-Os"))
    assert re.search(rf"ROM \(bytes\) +{old} +{new} ", flags), flags


def roms_of_newest(database: Path, implementation: str, target: str) -> dict[str, int]:
    """ROM by flags of the newest sources of an implementation."""
    with Store.open(database) as store:
        runs = store.runs(implementation=implementation, target=target)
    return {
        r.setup.flags: int(r.metrics["rom"])
        for r in runs
        if r.setup.implementation_digest == runs[0].setup.implementation_digest
    }


def test_weigh_on_boards(folder: Path, home: Path) -> None:
    (folder / "docs").symlink_to(ROOT / "docs")
    for tool in ("avrdude", "openocd", "esptool", "kflash", "sigrok-cli"):
        if paths.tool(tool) is None:
            pytest.skip(f"{tool} is not installed: scripts/setup test")
    for target in ("nucleo-f746zg", "esp32", "maixduino"):
        the_target(target)
    # what an ssh to the guide's "localhost" would start, in a home of its own
    far = f'#!/bin/sh\nfor last; do :; done\nSTEELYARD_HOME={folder}/there exec sh -c "$last"\n'
    program(folder / ".bin" / "ssh", far)
    printed = run("lab.md", folder, home)
    [checked] = [text for command, text in printed.items() if "check uno-far" in command]
    assert checked.count("uno-far at bench") == checked.count(" works ") == 6
    assert [*(folder / "there" / "lab").glob("uno-1-*/log")]
    checked = printed["steelyard boards virtual -- steelyard boards check"]
    assert checked.count(" works ") == 28
    [table] = [text for command, text in printed.items() if "energy_encrypt_modelled" in command]
    found = re.search(r"asconaead128/fast +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)", table)
    assert found, table
    _, idle, measured, uncertainty, modelled = map(float, found.groups())
    assert abs(measured - modelled) <= uncertainty < 0.02 * modelled
    assert round(idle) == 10
    validated = (folder / "uno-1.md").read_text()
    [every] = [line.strip("| ").split("|") for line in validated.splitlines() if re.match(r"\| all +\|", line)]
    assert (every[1].strip(), every[-1].strip()) == ("6", "0"), "six calls, none beyond what the analyzer can tell"
    assert "Nothing here is silicon" in validated
    assert (folder / "uno-1.svg").read_text().count("asconaead128") >= 1
    kernels = json.loads((folder / "uno-1.kernels.json").read_text())["kernels"]
    assert all(abs(k["simulated"] - k["measured"]) <= k["resolution"] for k in kernels)
    assert "load-after-store" in printed["steelyard validate --kernels 'load*' --target stm32f407"]
    cycles, ram = (text for command, text in printed.items() if command.startswith("steelyard compare"))
    assert re.search(r"encrypt \(cycles\) +(\d+) +\1 +1\.0000", cycles), cycles
    assert re.search(r"RAM \(Renner\) \(bytes\) +(\d+) +\1 +1\.0000", ram), ram


def test_write_the_papers_table(folder: Path, home: Path) -> None:
    printed = run("write-the-papers-table.md", folder, home)
    assert "nothing was done" in next(text for command, text in printed.items() if "--dry-run" in command)
    table = (folder / "table.tex").read_text()
    assert r"\label{tab:uno}" in table
    assert "% run " in table
    measured = [line.split(" & ") for line in table.splitlines() if "% run " in line]
    assert [cells[2] for cells in measured if not re.fullmatch(r"\d+", cells[2])] == []  # encrypt@16/64
    assert (folder / "top.svg").exists()
    pivot = (folder / "pivot.tex").read_text()
    assert r"\textbf{bluepill} & \textbf{uno}" in pivot
    assert pivot.count(r"\begin{table}") == 2
    assert (folder / "throughput.pdf").read_bytes().startswith(b"%PDF")
    assert "Two sponges" in (folder / "report.html").read_text()


def test_the_iot_study(folder: Path, home: Path) -> None:
    printed = run("iot-study.md", folder, home, 4)
    said = printed["steelyard study"]
    assert "5 ciphers on 2 targets" in said
    assert re.search(r"80 +ROM +\d of 1 +present80 +[\d.]+ +\d of 1 +present80", said), said
    assert (folder / "study.html").read_text().count("<svg") == 8


def test_choose_a_cipher(folder: Path, home: Path) -> None:
    printed = run("choose-a-cipher.md", folder, home)
    sensor, small, received, weighed, nothing = (
        text for command, text in printed.items() if "choose --target" in command
    )
    assert "LoRaWAN frame, encryption of 24 bytes and 9 bytes of associated data" in sensor
    assert re.search(r"asconaead128/avr is first: of \d+ that fit it needs the fewest cycles", sensor)
    assert "used today: aes128ccm8/ref" in sensor
    assert re.search(r" is first: of \d+ that fit it needs the least RAM, \d+ bytes", small)
    assert "does not fit" in sensor
    assert re.search(r"asconaead128/avr +-O3 +\d+ \d+ +interpolated", sensor)
    assert "decryption of 24 bytes" in received
    assert re.search(r"asconaead128/avr +-O3 +\d+ \d+ +weighed", weighed)
    assert "interpolated" not in weighed.split("Pareto front")[1].split("is first")[0]
    assert re.search(r"--rom \d+", nothing)
    assert "asconaead128/armv7m" in (folder / "chips.md").read_text()


@pytest.mark.long  # synthesis takes minutes
@toys.needs("verilator", "yosys", "nextpnr-ecp5")
def test_weigh_a_core(folder: Path, home: Path) -> None:
    (folder / "rtl").symlink_to(ROOT / "rtl")
    printed = run("weigh-a-core.md", folder, home, least=7)
    first, *_ = printed
    assert printed[first].count("verified") == 2
    [wrong] = [text for command, text in printed.items() if "mine" in command and "--verify" in command]
    assert "wrong-word" in wrong
    assert "| tinyjambu/default" in (folder / "core.md").read_text()
    assert "tinyjambu/default" in (folder / "area.csv").read_text()
    assert printed["head -c 4 signals.vcd"] in ("$dat", "$ver")  # Verilators begin with either
    [ranked] = [text for command, text in printed.items() if "rank --kind sizes" in command]
    assert "plaintext by input size" in ranked
    assert "tinyjambu/default" in ranked
    [gates] = [text for command, text in printed.items() if "--device asic" in command]
    assert re.search(r" GE\b", gates)
    [joint] = [text for command, text in printed.items() if "--kind joint" in command]
    assert re.search(r"ecp5 .* tinyjambu/default[\s\S]*bluepill .* tinyjambu128v2/fast", joint)


def test_the_service(folder: Path, home: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed: apt install curl")
    printed = run("service.md", folder, home)
    tables = [text for command, text in printed.items() if command.startswith("curl")]
    assert "asconaead128/small" in tables[0]
    assert tables[1].startswith("run,label,target,rom\n")
    assert "<svg" in (folder / "tradeoff.svg").read_text()
    assert "serving http://127.0.0.1:18017/" in (folder / "serve.log").read_text()


@pytest.mark.long
def test_from_one_machine_to_a_cluster(folder: Path, home: Path) -> None:
    pytest.importorskip("hyperqueue", reason="HyperQueue is not installed: pip install hyperqueue")
    program(folder / ".bin" / "python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    printed = run("scale.md", folder, home, 5)
    first, second = (text for command, text in printed.items() if "steelyard run" in command)
    assert "asconaead128/small" in first
    assert first == second, "nothing is run again"
