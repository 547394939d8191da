"""36 000 stored records: how long tables, comparisons and the report take, and how much memory.

    python bench/scale.py FOLDER

The records are made up, with the metrics and points of real runs; the folder keeps the database for next time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from msgspec.structs import replace
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[1]))

from steelyard.cli.console import table
from steelyard.model.record import Point, Record, Setup, Toolchain, Verification
from steelyard.model.target import target_names
from steelyard.model.workload import NAMED
from steelyard.publish.ranking import KINDS
from steelyard.store import Store

IMPLEMENTATIONS, FLAGS, WORKLOADS = 300, ("-O3", "-O2", "-Os", "-O1"), ("default", "nist-grid", "felics-ae")
TARGETS = [n for n in target_names() if n != "host"][:10]
OPERATIONS = ("encrypt", "decrypt", "reject")
SIZES = NAMED["default"]
METRICS = "rom,stack,cycles_encrypt_mean"
AGAIN = 3
MADE_UP = "made up for a benchmark of the store"


def fill(path: Path) -> None:
    """Stores all combinations once."""
    random = Random(1)
    with Store.open(path) as store:
        for i in range(IMPLEMENTATIONS):
            size, speed = random.randrange(500, 20_000), random.uniform(20, 3000)
            for target in TARGETS:
                for flags in FLAGS:
                    for workload in WORKLOADS:
                        store.add(record(random, i, target, flags, workload, size, speed))


def record(random: Random, i: int, target: str, flags: str, workload: str, size: int, speed: float) -> Record:
    """One record with plausible numbers."""
    setup = Setup(
        "crypto_aead", f"family{i // 6}", f"variant{i // 3}", f"impl{i % 3}", f"{i:064x}", target, "1" * 64,
        "simulator", Toolchain("gcc", "gcc 1.0", "2" * 64), flags, workload, "3" * 64, "model/1",
    )  # fmt: skip
    cycles = {op: speed * random.uniform(0.9, 1.1) for op in OPERATIONS}
    metrics: dict[str, float] = {
        "rom": size,
        "rom_encrypt": size - 100,
        "rom_decrypt": size - 50,
        "ram_static": 0,
        "heap": 0,
    }
    metrics |= {"stack": random.randrange(80, 900), "image_rom": size + 2600, "image_static": 16, "unaligned": 0}
    metrics |= {"ram_renner": random.randrange(80, 900), "rom_helpers": 0, "image_ram_touched": 900}
    for op, c in cycles.items():
        metrics |= {f"cycles_{op}_mean": 40 * c, f"{op}_per_byte": c, f"{op}_fixed": 10 * c, f"{op}_per_ad_byte": c}
        metrics |= {f"stack_{op}": metrics["stack"], f"energy_{op}_modelled": c / 100}
    points = [Point(op, a, m, int(c * (10 + a + m))) for op, c in cycles.items() for a, m in SIZES]
    made = Record(setup, None, metrics, tuple(points), (), Verification("known", 1089, 20, 0), (MADE_UP,))
    return replace(made, finished=datetime.now(UTC), host="bench", seconds=0.1)


def timed(folder: Path, name: str, *arguments: str) -> tuple[str, str, str, str]:
    """CPU and wall seconds and peak memory of one command; the best of ``AGAIN`` runs, because the machine is
    shared."""
    command = [sys.executable, "-m", "steelyard", *arguments, "--db", str(folder / "scale.db")]
    found = []
    for _ in range(AGAIN):
        before = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        found.append((used.ru_utime + used.ru_stime, time.monotonic() - before, used.ru_maxrss / 1024))
    cpu, seconds, peak = min(found)
    return name, f"{cpu:.2f} s", f"{seconds:.2f} s", f"{peak:.0f} MiB"


def main(folder: Path) -> None:
    """Prints the table."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "scale.db").exists():
        fill(folder / "scale.db")
    one = ("--where", "target == bluepill and flags == -O3 and workload == default")
    device = ("--mlen", "24", "--adlen", "8", "--rate", "5/s", "--rom", "4K", "--ram", "200", "--battery", "230mAh")
    flags, two = ("compare", "flags == -O3", "flags == -Os"), ("target == bluepill", "target == due")
    rows = [
        timed(folder, "publish one target", "publish", *one),
        timed(folder, "publish all", "publish"),
        timed(folder, "publish all runs", "publish", "--all-runs"),
        timed(folder, "rank one target", "rank", *one),
        *(timed(folder, f"rank all, {kind}", "rank", "--kind", kind) for kind in KINDS),
        timed(folder, "choose for one target", "choose", "--target", "bluepill", *device),
        timed(folder, "choose for all targets", "choose", "--table", *device),
        timed(folder, "compare two implementations", "compare", "variant1/impl0", "variant1/impl1"),
        timed(folder, "compare two targets", "compare", *two),
        timed(folder, "compare flags everywhere", *flags),
        timed(folder, "compare flags, everything", *flags, "--everything"),
        timed(folder, "compare flags, everything, to CSV", *flags, "--everything", "-o", "compare.csv"),
        timed(folder, "all to CSV, three metrics", "publish", "-c", f"label,target,flags,workload,{METRICS}",
              "-o", "all.csv"),
        *(timed(folder, f"all with all metrics to {e}", "publish", "-o", f"all.{e}") for e in ("csv", "json")),
        *(timed(folder, f"all to {e}", "publish", "-o", f"all.{e}") for e in ("md", "html", "tex", "xlsx", "ods")),
        timed(folder, "report of everything", "report", "-o", "report.html"),
    ]  # fmt: skip
    Console(width=120).print(table("36 000 records", ("question", "CPU", "wall", "peak"), rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
