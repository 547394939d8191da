"""``make bench``: how fast Steelyard is, against the named peers, in the same run.

Every figure is the median of five runs, of campaigns of three. Simulators of a pair run the same image, the measured
objects of bundled implementations with their requests in flash.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[1]))

from oracles import replay
from steelyard import build
from steelyard.cli.console import table
from steelyard.cli.select import bundled
from steelyard.model.target import load_target

RUNS = 5
Row = tuple[str, str, str, str, str]
STEELYARD = [sys.executable, "-m", "steelyard"]


def median(measure: Callable[[], float], runs: int = RUNS) -> float:
    """Median of the runs."""
    return statistics.median(measure() for _ in range(runs))


def simulators(folder: Path) -> list[Row]:
    """Simulated speed on one AVR and one ARM image."""
    rows = []
    chosen = ("ascon128v12/fast", "giftcofb128v1/fast", "tinyjambu128v2/small")
    for label in chosen:
        implementation = next(i for i in bundled()[0] if i.label == label)
        for name in ("uno", "bluepill"):
            target = load_target(name)
            flags = ("-O2",)
            toolchain = build.identify(target.toolchain)
            if toolchain is None:
                continue
            image = build.build(implementation, target, toolchain, flags).images["both"]
            calls = replay.requests(implementation, target, image, [(16, 16), (0, 64), (32, 32)])
            place = folder / f"{name}-{label.replace('/', '-')}"
            place.mkdir()
            zero = name == "bluepill"
            again = replay.link(
                implementation, target, flags, calls, place, flash_at_zero=zero, rounds=2000 if zero else 150
            )
            cycles, mine = _ours(target, again, zero)
            rows += _avr(label, again, cycles, mine) if name == "uno" else _arm(label, again, cycles, mine)
    return rows


def _ours(target: object, image: Path, zero: bool) -> tuple[int, float]:
    cycles = 0

    def run() -> float:
        nonlocal cycles
        start = time.perf_counter()
        simulator, _ = replay.ours(target, image, flash_at_zero=zero)  # type: ignore[arg-type]
        cycles = simulator.cycles
        return time.perf_counter() - start

    seconds = median(run)
    return cycles, seconds


def _avr(label: str, image: Path, cycles: int, mine: float) -> list[Row]:
    if shutil.which("simavr") is None:
        return [(f"AVR, {label}", f"{cycles / mine / 1e6:.0f} MHz", "simavr is not installed", "-", "2 (aim 5)")]
    peer = median(lambda: _timed(["simavr", image.name], image.parent))
    return [
        (
            f"AVR, {label}",
            f"{cycles / mine / 1e6:.0f} MHz",
            f"simavr {cycles / peer / 1e6:.0f} MHz",
            f"{peer / mine:.1f}x",
            "2 (aim 5)",
        )
    ]


def _arm(label: str, image: Path, cycles: int, mine: float) -> list[Row]:
    hook = image.parent / "hook.so"
    source = image.parent / "hook.c"
    source.write_text("void count_block(void *uc, unsigned long long a, unsigned s, unsigned long long *n) { ++*n; }\n")
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", str(source), "-o", str(hook)], check=True)

    def unicorn() -> float:
        command = [sys.executable, str(Path(__file__).parent / "unicorn_peer.py"), str(image), str(hook)]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[1])

    rows = []
    peer = median(unicorn)
    ours = f"{cycles / mine / 1e6:.0f} MHz"
    rows.append((f"ARM, {label}", ours, f"Unicorn, block hook, {peer:.2f} s", f"{peer / mine:.1f}x", "1 (aim 5)"))
    if shutil.which("qemu-system-arm"):
        command = ["qemu-system-arm", "-M", "mps2-an385", "-nographic", "-semihosting", "-kernel", str(image)]
        plain = median(lambda: _timed(command, image.parent))
        rows.append((f"ARM, {label}", ours, f"QEMU, counting nothing, {plain:.2f} s", f"{plain / mine:.1f}x", "-"))
    return rows


def _timed(command: list[str], folder: Path) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def _cpu(arguments: list[str], home: Path) -> tuple[float, float]:
    """Processor and wall seconds of a command with all its children."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = os.environ | {"STEELYARD_HOME": str(home)}
    subprocess.run([*STEELYARD, *arguments], env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - start


def commands(folder: Path) -> list[Row]:
    """Whole commands, from process start to printed table."""
    rows: list[Row] = []
    for name in ("uno", "bluepill"):
        if build.identify(load_target(name).toolchain) is None:
            continue

        def cold(name: str = name) -> float:
            home = Path(tempfile.mkdtemp(dir=folder))
            return _cpu(["run", "ascon128v12/fast", "-t", name], home)[0]

        text = f"ascon128v12/fast on {name}, nothing cached: toolchain, harness, nocrypt, all vectors"
        rows.append((text, f"{median(cold):.2f} CPU s", "FELICS-AE 1.9 to 16 CPU s (published)", "-", "< 1 CPU s"))

    home = folder / "hundred"
    flags = ";".join(("-O1", "-O2", "-O3", "-Os", "-Og"))
    hundred = ["run", "tinyjambu*", "ascon*aead*", "ascon128*", "-f", flags, "-w", "kat"]
    first = _cpu(hundred, home)[1]
    count = len(_records(home, hundred))
    cached = median(lambda: _cpu(hundred, home)[1])
    rows.append((f"campaign of {count} runs, all stored", f"{cached:.2f} s", f"first time {first:.1f} s", "-", "< 1 s"))

    twenty = ["run", "crypto_aead", "-t", "bluepill,uno", "-f", "-O2", "-w", "kat"]

    def campaign(threads: int) -> float:
        home = Path(tempfile.mkdtemp(dir=folder))
        return _cpu([*twenty, "-j", str(threads)], home)[1]

    one, two = median(lambda: campaign(1), 3), median(lambda: campaign(2), 3)
    count = len(_records(folder / "hundred", twenty))
    rows.append(
        (
            f"campaign of {count} runs, two targets",
            f"{two:.1f} s, 2 threads",
            f"{one:.1f} s, 1",
            f"{one / two:.2f}x",
            "1.8",
        )
    )
    return rows


def _records(home: Path, arguments: list[str]) -> list[object]:
    import json

    environment = os.environ | {"STEELYARD_HOME": str(home)}
    out = subprocess.run(
        [*STEELYARD, *arguments, "--json"], env=environment, capture_output=True, text=True, check=False
    )
    return list(json.loads(out.stdout)["runs"])


def main() -> None:
    """Prints the table."""
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    with tempfile.TemporaryDirectory() as name:
        os.environ["STEELYARD_HOME"] = str(Path(name) / "home")
        rows = simulators(Path(name)) + commands(Path(name))
    title = f"medians of {RUNS}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    console.print(table(title, ("what", "Steelyard", "peer, same run", "ratio", "must reach"), rows, left=3))


if __name__ == "__main__":
    main()
