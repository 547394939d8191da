"""Rows of ``make bench`` about stored records: how long an answer from many takes, how our block ciphers stand beside
those of FELICS."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import cycle, islice, product
from pathlib import Path

from sqlalchemy import Connection

from steelyard.analyse import files
from steelyard.cli.select import bundled
from steelyard.model.record import Record
from steelyard.model.target import load_target, target_names
from steelyard.store import Store
from steelyard.store.leasing import repeated
from steelyard.store.writing import append

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

import felics_best

from tests.made_up import record

Row = tuple[str, str, str, str, str]
#: what the issue of an answer's speed is about
RECORDS = 36_000
FLAGS = ("-O3", "-O2", "-O1", "-Os", "-Og", "-O3 -flto", "-O2 -flto", "-Os -flto")
ASK = "choose --target uno --mlen 24 --adlen 8 --rate 5/s --rom 4K --ram 200 --battery 230mAh"


def store(database: Path) -> None:
    """So many records of all bundled AEADs on all simulated chips, none of them older than another."""
    labels = [(i.family, i.label) for i in bundled()[0] if i.primitive == "crypto_aead" and i.variant != "nocrypt"]
    chips = [name for name in target_names() if load_target(name).device == "simulator"]

    def made() -> Iterator[Record]:
        for k, (flags, target, (family, label)) in enumerate(islice(cycle(product(FLAGS, chips, labels)), RECORDS)):
            n = k % 97  # 97 is prime: costs do not repeat with labels, chips or flags
            yield record(label, family=family, target=target, flags=flags,
                         cycles=3000 + 40 * n, rom=900 + 37 * n, stack=60 + 3 * n, per_byte=20 + n)  # fmt: skip

    def fill(connection: Connection) -> None:  # at once: a transaction for each would take minutes
        for one in made():
            append(connection, one)

    with Store.open(database) as opened:
        repeated(opened._engine, fill)


def choice(
    folder: Path, seconds: Callable[[list[str], Path], float], median: Callable[[Callable[[], float]], float]
) -> Iterator[Row]:
    """``choose`` among all these records."""
    home = folder / "choose"
    home.mkdir()
    store(home / "results.db")
    asked = [*ASK.split(), "--db", str(home / "results.db")]
    yield f"choose from {RECORDS} records", f"{median(lambda: seconds(asked, home)):.2f} s", "-", "-", "< 0.5 s"


def block_ciphers(folder: Path) -> Iterator[Row]:
    """Our block ciphers beside the best rows that FELICS published, weighed now."""
    published = felics_best.read()
    names = sorted({line["variant"] for line in published})
    command = [sys.executable, "-m", "steelyard", "run", *names, "-t", ",".join(felics_best.ARCHITECTURES)]
    command += ["-w", "felics-block-0", "-f", "-O3;-Os", "--json"]
    environment = os.environ | {"STEELYARD_HOME": str(folder / "best")}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    runs = folder / "best.json"
    runs.write_bytes(done.stdout)
    lines = felics_best.weighed(files.records(runs, files.load(runs)), published)
    for target, architecture in felics_best.ARCHITECTURES.items():
        for best in felics_best.BESTS:
            here = [line for line in lines if (line["target"], line["best"]) == (target, best)]
            worse = [(line["variant"], ratio) for line in here if (ratio := felics_best.ratio(line)) > 100]
            peer = "; ".join([f"FELICS's {best}", *(f"{name} {ratio:.0f} % of it" for name, ratio in worse)])
            won = f"{len(here) - len(worse)} of {len(here)}"
            yield f"block ciphers on {target} ({architecture})", f"{won} are at least that", peer, "-", "-"
    every = felics_best.families(lines)
    won = f"{sum(every.values())} of {len(every)} families"
    yield "block ciphers, as fast or as small on either", won, "FELICS's best", "-", "half"
