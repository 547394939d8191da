"""The pages of 100 000 stored records: how long they take at 20 requests a second, and how much memory the server has.

    python bench/web.py FOLDER [--seconds 60] [--writing]

The records are made up as in bench/scale.py; the folder keeps the database for next time. With ``--writing`` another
process stores a record a second meanwhile, as a campaign does, so that what is kept goes out of date. The load comes
from this machine too: random pages of a fixed list, each request on a connection of its own, asked for when it is due,
whatever became of those before.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser
from pathlib import Path
from random import Random
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

import scale

from steelyard.publish import formats
from steelyard.publish.sheet import plain
from steelyard.store import Store

RECORDS, RATE = 100_000, 20
PER_IMPLEMENTATION = len(scale.TARGETS) * len(scale.FLAGS) * len(scale.WORKLOADS)
PORT = 8917


def pages(store: Store) -> dict[str, list[str]]:
    """Addresses by kind: what visitors look at, each kind as often as any other."""
    random = Random(3)
    targets = [*store.targets()]
    some = random.sample(store.implementations(), 100)
    names = [f"{v}/{n}" for _, _, v, n in some]
    runs = [
        f"/runs/{key[:16]}/{time or 0}"
        for key, time in store.addresses(random.sample(range(1, store.last()), 200)).values()
    ]
    return {
        "front": ["/"],
        "target": [f"/targets/{n}" for n in targets],
        "variant": [f"/variants/{v}" for _, _, v, _ in some],
        "implementation": [f"/implementations/{v}/{n}" for _, _, v, n in some],
        "run": runs,
        "table": [f"/tables?where=target+%3D%3D+{n}" for n in targets],
        "ranking": [f"/rank?where=target+%3D%3D+{n}" for n in targets],
        "comparison": [f"/compare?old={a}&new={b}" for a, b in zip(names[:20], names[20:40], strict=True)],
        "search": [f"/search?q={v}" for _, _, v, _ in some],
        "figure": [f"/targets/{n}/figure-tradeoff.svg" for n in targets],
        "definitions": ["/definitions"],
    }  # fmt: skip


async def get(address: str) -> tuple[float, float, bytes]:
    """Seconds to the first byte and to the last one, and the status line."""
    begun = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    request = f"GET {address} HTTP/1.1\r\nhost: x\r\naccept-encoding: gzip\r\nconnection: close\r\n\r\n"
    writer.write(request.encode())
    first = await reader.readline()
    seconds = time.perf_counter() - begun
    while await reader.read(1 << 16):
        pass
    writer.close()
    return seconds, time.perf_counter() - begun, first


async def load(asked: dict[str, list[str]], seconds: float) -> dict[str, list[float]]:
    """Seconds of each request by kind."""
    random, taken = Random(5), {kind: [] for kind in asked}
    tasks = []

    async def one(kind: str, address: str) -> None:
        _, whole, status = await get(address)
        assert b" 200 " in status, (address, status)
        taken[kind].append(whole)

    begun = time.perf_counter()
    for k in range(int(seconds * RATE)):
        await asyncio.sleep(max(0.0, begun + k / RATE - time.perf_counter()))
        kind = random.choice(list(asked))
        tasks.append(asyncio.create_task(one(kind, random.choice(asked[kind]))))
    await asyncio.gather(*tasks)
    return taken


def memory(process: int) -> int:
    """MiB of the server and its children; pages that they share count once."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:  # it has ended
        return 0
    own = next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) // 1024
    return own + sum(memory(int(child)) for child in children)


class Watch(threading.Thread):
    """The most memory of a process, looked at every tenth of a second."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.process, self.most, self.over = process, 0, False

    def run(self) -> None:
        """Looks until it is over."""
        while not self.over:
            self.most = max(self.most, memory(self.process))
            time.sleep(0.1)


def started(command: list[str]) -> tuple[subprocess.Popen[bytes], float]:
    """The server, and seconds from its start to the front page's first byte."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while True:
        try:
            asyncio.run(get("/"))
        except OSError:
            time.sleep(0.01)
            continue
        return process, time.perf_counter() - begun


def write(database: Path) -> None:
    """Stores a record a second until it is killed."""
    random = Random(time.time())
    with Store.open(database) as store:
        for n in range(1_000_000):
            store.add(
                scale.record(random, n % 200, scale.TARGETS[n % 10], f"-O2 -DN={time.time()}", "default", 5000, 100.0)
            )
            time.sleep(1)


def main() -> None:
    """Fills the database if it is not there, serves it, asks, and prints what came of it."""
    options = ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--writing", action="store_true")
    options.add_argument("--write", action="store_true")
    asked = options.parse_args()
    database = asked.folder / "web.db"
    if asked.write:
        write(database)
        return
    asked.folder.mkdir(parents=True, exist_ok=True)
    if not database.exists():
        scale.IMPLEMENTATIONS = -(-RECORDS // PER_IMPLEMENTATION)
        scale.fill(database)
    with Store.open(database) as store:
        addresses, count = pages(store), store.last()
    command = [sys.executable, "-m", "steelyard", "serve", "--port", str(PORT), "--db", str(database)]
    server, first = started(command)
    writer = None
    watch = Watch(server.pid)
    watch.start()
    try:
        for kind in addresses.values():  # what was never asked for is made once
            for address in kind:
                asyncio.run(get(address))
        if asked.writing:
            writer = subprocess.Popen([sys.executable, __file__, str(asked.folder), "--write"])
        taken = asyncio.run(load(addresses, asked.seconds))
        watch.over, rest = True, memory(server.pid)
    finally:
        server.terminate()
        server.wait()
        if writer:
            writer.terminate()
    every = [s for of in taken.values() for s in of]
    rows = [(kind, len(of), *_spread(of)) for kind, of in {**taken, "all": every}.items() if of]
    heads = {"page": None, "requests": 0, "median ms": 1, "p95 ms": 1, "most ms": 1}
    title = f"{count} records, {RATE} requests/s" + (", a record stored each second" if asked.writing else "")
    notes = [f"first byte {first:.2f} s after the start; server and children: {rest} MiB, {watch.most} at most"]
    print(formats.render([plain(title, "web", heads, rows, notes)], "md").decode())


def _spread(seconds: list[float]) -> tuple[float, float, float]:
    ordered = sorted(seconds)
    return 1000 * median(ordered), 1000 * ordered[int(0.95 * (len(ordered) - 1))], 1000 * ordered[-1]


if __name__ == "__main__":
    main()
