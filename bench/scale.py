"""What a HyperQueue cluster makes of a campaign: processor time of a run, runs in an hour of a core, and what of that
time HyperQueue itself takes.

    .venv/bin/python bench/scale.py [--batch N] [--cores N] [NAME]...

starts a server and one worker per core on this machine, weighs the named implementations (default: ascon*) on uno and
bluepill with three flag sets, into a database of its own, and the same on threads for comparison. Caches are new, so
that every image is built. Processor time is that of all processes, so other work of the machine counts little.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from steelyard.store import Store

_SERVER = """
import sys
from hyperqueue.cluster import LocalCluster, WorkerConfig
with LocalCluster(server_dir=sys.argv[1]) as cluster:
    for _ in range(int(sys.argv[2])):
        cluster.start_worker(WorkerConfig(cores=1))
    print("started", flush=True)
    sys.stdin.read()
"""


def seconds_of(process: int) -> float:
    """Processor time that a process took itself, without its children."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def campaign(folder: Path, what: list[str], *more: str) -> int:
    """Runs a campaign with new caches; how many runs it made."""
    db = folder / "results.db"
    asked = ["-t", "uno,bluepill", "--flags=-O2;-O3;-Os", "--db", str(db), "-o", str(folder / "x.csv"), *more]
    environment = os.environ | {"STEELYARD_HOME": str(folder / "home"), "HQ_SERVER_DIR": str(folder / "hq")}
    words = [sys.executable, "-m", "steelyard", "run", *what, *asked]
    subprocess.run(words, env=environment, stderr=subprocess.DEVNULL, check=False)
    with Store.open(db) as store:
        return len(store.runs(newest_only=False))


def children() -> float:
    """Processor time of all processes that we started and that have ended, with theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def say(engine: str, runs: int, wall: float, seconds: float, own: float | None = None) -> None:
    """One line of the table."""
    share = "" if own is None else f"{own / seconds:12.2%}"
    print(f"{engine:10}{runs:7}{wall:9.1f}{seconds / runs:15.2f}{3600 * runs / seconds:15.0f}{share}", flush=True)


def main() -> None:
    """Prints one line for the cluster and one for threads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("what", nargs="*", default=["ascon*"])
    ask = parser.parse_args()
    print(f"{'engine':10}{'runs':>7}{'seconds':>9}{'core-s per run':>15}{'runs/core-hour':>15}{'HyperQueue':>12}")
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        folder = Path(one)
        (folder / "hq").mkdir()
        words = [sys.executable, "-c", _SERVER, str(folder / "hq"), str(ask.cores)]
        used, begun = children(), time.monotonic()
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            while server.stdout.readline() != "started\n":
                pass
            runs = campaign(folder, ask.what, "--engine", "hq", "--batch", str(ask.batch))
            own, wall = seconds_of(server.pid), time.monotonic() - begun
        say(f"hq, {ask.batch}", runs, wall, children() - used, own)
        used, begun = children(), time.monotonic()
        runs = campaign(Path(other), ask.what, "--threads", str(ask.cores))
        say("threads", runs, time.monotonic() - begun, children() - used)


if __name__ == "__main__":
    main()
