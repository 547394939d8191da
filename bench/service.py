"""What the service must reach, on this machine, with whoever asks on it too.

    .venv/bin/python bench/service.py [--folder FOLDER] [--records 100000] [--seconds 60] [PART]...

Parts are ``pages``, ``submission``, ``queue`` and ``site``; without any all are done. Records are made up, and stored
by the store's own writer, many in a transaction; the folder keeps them for next time. The load comes from this machine:
random pages of a fixed list, each on a connection of its own, asked for when it is due, whatever became of those
before, while a campaign simulates on one thread and stores a record a second in the same database. Beside the seconds
on the clock stand those of processors, which other work of the machine changes less.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from typing import Literal

sys.path.insert(0, str(Path(__file__).parents[1]))

import service_queue
from msgspec.structs import replace
from sqlalchemy import Connection

from steelyard.model import packed
from steelyard.model.paths import CIPHERS
from steelyard.model.record import Point, Record, Setup, Toolchain, Verification
from steelyard.model.target import target_names
from steelyard.model.workload import NAMED
from steelyard.publish import formats
from steelyard.publish.sheet import plain
from steelyard.sources import discover
from steelyard.sources.pack import pack
from steelyard.store import Store
from steelyard.store.leasing import repeated
from steelyard.store.writing import append

RATE = 20
FLAGS, WORKLOADS = ("-O3", "-O2", "-Os", "-O1"), ("default", "nist-grid", "felics-ae")
TARGETS = tuple(n for n in target_names() if n != "host")[:10]
SIZES = NAMED["default"]
OPERATIONS: tuple[Literal["encrypt", "decrypt", "reject"], ...] = ("encrypt", "decrypt", "reject")
MADE_UP = "made up for a benchmark"
PORT = 8917
STEELYARD = [sys.executable, "-m", "steelyard"]
SMALL = CIPHERS / "crypto_aead" / "tinyjambu" / "tinyjambu128v2" / "small"
#: what was measured, on the clock and of processors, what it must reach, in words
Line = tuple[str, str, str, str]


def record(random: Random, names: tuple[str, str, str], target: str, flags: str, workload: str, digest: str) -> Record:
    """One record with plausible numbers, of a family, variant and implementation."""
    size, speed = random.randrange(500, 20_000), random.uniform(20, 3000)
    setup = Setup(
        "crypto_aead", *names, digest, target, "1" * 64, "simulator", Toolchain("gcc", "gcc 1.0", "2" * 64), flags,
        workload, "3" * 64, "model/1",
    )  # fmt: skip
    cycles = {op: speed * random.uniform(0.9, 1.1) for op in OPERATIONS}
    stack = random.randrange(80, 900)
    metrics: dict[str, float] = {
        "rom": size, "rom_encrypt": size - 100, "rom_decrypt": size - 50, "ram_static": 0, "heap": 0, "stack": stack,
        "image_rom": size + 2600, "image_static": 16, "unaligned": 0, "ram_renner": stack + 16, "rom_helpers": 0,
        "image_ram_touched": 900, "ram": stack,
    }  # fmt: skip
    for op, c in cycles.items():
        metrics |= {f"cycles_{op}_mean": 40 * c, f"{op}_per_byte": c, f"{op}_fixed": 10 * c, f"{op}_per_ad_byte": c}
        metrics |= {f"stack_{op}": stack, f"energy_{op}_modelled": c / 100}
    points = [Point(op, a, m, int(c * (10 + a + m))) for op, c in cycles.items() for a, m in SIZES]
    made = Record(setup, None, metrics, tuple(points), (), Verification("known", 1089, 20, 0), (MADE_UP,))
    sizes = [(a, m) for m in range(33) for a in range(33)]
    every = packed.pack(Point(op, a, m, int(c * (10 + a + m))) for op, c in cycles.items() for a, m in sizes)
    return replace(made, finished=datetime.now(UTC), host="bench", seconds=0.1, vector_cycles=every)


def many(count: int) -> Iterator[Record]:
    """That many, of as many implementations as that takes."""
    random, made = Random(1), 0
    for i in range(count):
        for target in TARGETS:
            for flags in FLAGS:
                for workload in WORKLOADS:
                    if made == count:
                        return
                    made += 1
                    names = (f"family{i // 6}", f"variant{i // 3}", f"impl{i % 3}")
                    yield record(random, names, target, flags, workload, f"{i:064x}")


def fill(database: Path, records: Iterator[Record]) -> None:
    """Stores records, a thousand in a transaction."""
    with Store.open(database) as store:
        while some := [r for _, r in zip(range(1000), records, strict=False)]:
            repeated(store._engine, partial(_append, some))


def _append(some: Sequence[Record], connection: Connection) -> None:
    for r in some:
        append(connection, r)


def addresses(store: Store) -> dict[str, list[str]]:
    """By kind: what visitors look at, each kind as often as any other."""
    random = Random(3)
    targets, known = [*store.targets()], store.implementations()
    some = random.sample(known, min(100, len(known)))
    names = [f"{v}/{n}" for _, _, v, n in some]
    numbers = random.sample(range(1, store.last() + 1), min(200, store.last()))
    runs = [f"/runs/{key[:16]}/{at or 0}" for key, at in store.addresses(numbers).values()]
    half = len(names) // 2
    return {
        "front": ["/"],
        "target": [f"/targets/{n}" for n in targets],
        "family": [f"/families/{f}" for _, f, _, _ in some],
        "variant": [f"/variants/{v}" for _, _, v, _ in some],
        "implementation": [f"/implementations/{v}/{n}" for _, _, v, n in some],
        "run": runs,
        "table": [f"/tables?where=target+%3D%3D+{n}" for n in targets],
        "file": [f"/targets/{n}/{n}-crypto_aead.csv" for n in targets],
        "ranking": [f"/rank?where=target+%3D%3D+{n}" for n in targets],
        "trade-off": [f"/trade-offs?where=target+%3D%3D+{n}" for n in targets],
        "comparison": [f"/compare?old={a}&new={b}" for a, b in zip(names[:half], names[half:], strict=False)][:20],
        "search": [f"/search?q={v}" for _, _, v, _ in some],
        "figure": [f"/targets/{n}/figure-tradeoff-crypto_aead.svg" for n in targets],
        "campaign": ["/campaigns/first"],
        "feed": ["/feed.atom", *(f"/targets/{n}/feed.atom" for n in targets)],
        "definitions": ["/definitions"],
    }  # fmt: skip


async def get(address: str, body: bytes = b"", kind: str = "") -> tuple[float, float, bytes, bytes]:
    """Seconds to the first byte and to the last one, the status line, and the rest."""
    begun = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    sent = f"content-type: {kind}\r\ncontent-length: {len(body)}\r\n" if body else "accept-encoding: gzip\r\n"
    head = f"{'POST' if body else 'GET'} {address} HTTP/1.1\r\nhost: x\r\n{sent}connection: close\r\n\r\n"
    writer.write(head.encode() + body)
    status = await reader.readline()
    first = time.perf_counter() - begun
    rest = await reader.read()
    writer.close()
    return first, time.perf_counter() - begun, status, rest


async def load(asked: dict[str, list[str]], seconds: float) -> tuple[dict[str, list[float]], int]:
    """Seconds of each request by kind, and how many were refused because too many asked."""
    random, taken, refused = Random(5), {kind: list[float]() for kind in asked}, list[str]()
    tasks = []

    async def one(kind: str, address: str) -> None:
        _, whole, status, _ = await get(address)
        assert not status or b" 200 " in status or b" 503 " in status, (address, status)
        taken[kind].append(whole)
        if b" 200 " not in status:
            refused.append(address)

    begun = time.perf_counter()
    for k in range(int(seconds * RATE)):
        await asyncio.sleep(max(0.0, begun + k / RATE - time.perf_counter()))
        kind = random.choice(list(asked))
        tasks.append(asyncio.create_task(one(kind, random.choice(asked[kind]))))
    await asyncio.gather(*tasks)
    return taken, len(refused)


def _family(process: int) -> list[int]:
    """A process and all that it started."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:  # it has ended
        return []
    return [process, *(p for child in children for p in _family(int(child)))]


def memory(process: int) -> int:
    """MB of a process and all that it started; pages that they share count once."""
    found = 0
    for p in _family(process):
        try:
            rollup = Path(f"/proc/{p}/smaps_rollup").read_text()
        except OSError:
            continue
        found += next((int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0)
    return found * 1024 // 1_000_000


def processor(process: int) -> float:
    """Seconds of processor time of a process and all that it started, also of what has ended."""
    ticks = 0
    for p in _family(process):
        try:
            fields = Path(f"/proc/{p}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


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


@contextmanager
def running(*words: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command, which is ended with the block."""
    process = subprocess.Popen(
        words, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def served(database: Path, *more: str) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    """The server, and seconds from its start to the front page's first byte."""
    begun = time.perf_counter()
    with running(*STEELYARD, "serve", "--port", str(PORT), "--db", str(database), *more) as process:
        while True:
            try:
                asyncio.run(get("/"))
            except OSError:
                time.sleep(0.01)
                continue
            break
        yield process, time.perf_counter() - begun


def ms(seconds: Sequence[float], share: float = 0.5) -> str:
    """The ``share`` of these that is not exceeded, in milliseconds."""
    ordered = sorted(seconds)
    return f"{1000 * ordered[int(share * (len(ordered) - 1))]:.0f} ms"


def pages(folder: Path, asked: argparse.Namespace) -> list[Line]:
    """Pages under load, memory, and the first byte."""
    database = folder / f"records-{asked.records}.db"
    if not database.exists():
        fill(folder / "unfinished.db", many(asked.records))
        (folder / "unfinished.db").rename(database)
    with Store.open(database) as store:
        of_kinds, count = addresses(store), store.last()
    whole, refused, used, most, rest, firsts = dict[str, list[float]](), 0, 0.0, 0, 0, []
    for _ in range(3):
        with served(database) as (_, first):
            firsts.append(first)
    with served(database) as (server, first):
        firsts.append(first)
        watch = Watch(server.pid)
        watch.start()
        begun = processor(server.pid)
        anew = {kind: [asyncio.run(get(a))[1] for a in some[:10]] for kind, some in of_kinds.items()}
        made = processor(server.pid) - begun
        home = str(folder / "home")
        campaign = [
            *STEELYARD,
            "run",
            "*",
            "-t",
            "uno,bluepill",
            "--force",
            "--threads",
            "1",
            "--db",
            str(folder / "c.db"),
        ]
        with running(*campaign, STEELYARD_HOME=home), running(sys.executable, __file__, "--write", str(database)):
            begun, begun_at = processor(server.pid), time.perf_counter()
            whole, refused = asyncio.run(load(of_kinds, asked.seconds))
            used, spent = processor(server.pid) - begun, time.perf_counter() - begun_at
        watch.over, most, rest = True, watch.most, memory(server.pid)
    every = [s for of in whole.values() for s in of]
    lines = [(f"first byte of the front page, median of {len(firsts)} starts", f"{median(firsts):.2f} s", "", "1.5 s")]
    lines += [
        (f"server with its processes, {count} records: at most, and at the end", f"{most} and {rest} MB", "", "300 MB")
    ]
    for kind, of in {**whole, "all pages": every}.items():
        if of:
            before = ms(anew[kind]) if kind in anew else ""
            lines.append(
                (
                    f"{kind}: median, 95th percentile, and made anew before",
                    f"{ms(of)}, {ms(of, 0.95)}, {before}",
                    "",
                    "100 ms, 250 ms",
                )
            )
    lines.append(("refused, because too many asked", f"{refused} of {len(every)}", "", "0"))
    lines.append(
        (
            "a request at 20/s, with what was stored meanwhile",
            f"{spent / len(every) * 1000:.0f} ms",
            f"{1000 * used / len(every):.0f} ms",
            "",
        )
    )
    lines.append(("the first ten of each kind", "", f"{made:.1f} s", ""))
    return lines


def write(database: Path) -> None:
    """Stores a record a second until it is killed."""
    random = Random(time.time())
    with Store.open(database) as store:
        known = store.implementations()
        for n in range(1_000_000):
            _, family, variant, name = known[n % len(known)]
            target, flags = TARGETS[n % len(TARGETS)], f"-O2 -DN={time.time()}"
            store.add(record(random, (family, variant, name), target, flags, "default", "f" * 64))
            time.sleep(1)


def submission(folder: Path, asked: argparse.Namespace) -> list[Line]:
    """From a zip that is sent to its figures on its page."""
    database, home = folder / "taken.db", str(folder / "home")
    linted, shown, used = [], [], []
    with (
        served(database, "--submissions", "--target", "uno") as (server, _),
        running(*STEELYARD, "work", "--db", str(database), "-t", "uno", STEELYARD_HOME=home) as worker,
    ):
        for k in range(6):
            content = other(k)
            head = b'--edge\r\ncontent-disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
            body = b"".join(
                head % part
                for part in (
                    (b"licence", b"", b"MIT"),
                    (b"rights", b"", b"yes"),
                    (b"package", b'; filename="toy.zip"', content),
                )
            )
            before, begun = processor(server.pid) + processor(worker.pid), time.perf_counter()
            _, seconds, status, rest = asyncio.run(
                get("/submissions", body + b"--edge--\r\n", "multipart/form-data; boundary=edge")
            )
            assert b" 303 " in status, (status, rest)
            link = next(line for line in rest.split(b"\r\n") if line.startswith(b"location: ")).split()[1].decode()
            while b"1 run: 1 done" not in plain_text(link):
                assert time.perf_counter() - begun < 600
                time.sleep(0.05)
            if k:  # the first worker's first run builds its baseline
                linted.append(seconds)
                shown.append(time.perf_counter() - begun)
                used.append(processor(server.pid) + processor(worker.pid) - before)
            else:
                first = time.perf_counter() - begun
    return [
        ("a bundled cipher handed in: looked through", f"{median(linted):.2f} s", "", "1 s"),
        ("its first verified figures on its page", f"{median(shown):.2f} s", f"{median(used):.2f} s", "5 s"),
        ("the first one after the worker's start", f"{first:.2f} s", "", ""),
    ]


def plain_text(address: str) -> bytes:
    """A page as it is without compression."""
    import gzip

    head, _, body = asyncio.run(get(address))[3].partition(b"\r\n\r\n")
    return gzip.decompress(body) if b"content-encoding: gzip" in head else body


def other(k: int) -> bytes:
    """A bundled implementation as somebody hands it in, whose sources nobody has had before."""
    old, out = zipfile.ZipFile(io.BytesIO(pack(SMALL)[1])), io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in old.namelist():
            more = f"\n/* {time.time()} {k} */\n".encode() if name.endswith(".c") else b""
            archive.writestr(name, old.read(name) + more)
    return out.getvalue()


def queue(folder: Path, asked: argparse.Namespace) -> list[Line]:
    """Jobs that eight processes claim and return."""
    return [line for name in ("sqlite", "mariadb", "postgresql") for line in service_queue.lines(name, asked.jobs)]


def site(folder: Path, asked: argparse.Namespace) -> list[Line]:
    """The static site of the whole catalogue on two targets, with made-up figures."""
    random, database = Random(2), folder / "catalogue.db"
    if not database.exists():
        found = discover(CIPHERS).implementations
        fill(database, (
            replace(r, setup=replace(r.setup, primitive=i.primitive))
            for i in found if i.primitive == "crypto_aead" for t in ("uno", "bluepill")
            for r in [record(random, (i.family, i.variant, i.name), t, "-O3", "default", i.digest)]
        ))  # fmt: skip
    with Store.open(database) as store:
        count = store.last()
    with tempfile.TemporaryDirectory() as out:
        begun, before = time.perf_counter(), os.times()
        subprocess.run([*STEELYARD, "site", out, "--db", str(database)], check=True, stderr=subprocess.DEVNULL)
        seconds, after = time.perf_counter() - begun, os.times()
        files = [f.stat().st_size for f in Path(out).rglob("*") if f.is_file()]
    used = after.children_user + after.children_system - before.children_user - before.children_system
    size = f"{sum(files) / 1e6:.0f} MB in {len(files)} files"
    return [(f"static site of {count} runs: {size}", f"{seconds:.1f} s", f"{used:.1f} s", "60 s, 60 MB")]


PARTS: dict[str, Callable[[Path, argparse.Namespace], list[Line]]] = {
    "pages": pages, "submission": submission, "queue": queue, "site": site,
}  # fmt: skip


def measured(part: str, folder: Path, asked: argparse.Namespace) -> list[Line]:
    """The lines of a part: one that says why where it cannot be measured, as without a server of databases."""
    try:
        return PARTS[part](folder, asked)
    except Exception as e:
        return [(part, f"{type(e).__name__}: {' '.join(str(e).split())}"[:200], "-", "-")]


def main() -> None:
    """Prints what was measured, beside what must be reached."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--folder", type=Path)
    options.add_argument("--records", type=int, default=100_000)
    options.add_argument("--jobs", type=int, default=10_000)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    options.add_argument("part", nargs="*", choices=[*PARTS, []], default=[])
    asked = options.parse_args()
    if asked.write:
        write(asked.write)
        return
    with tempfile.TemporaryDirectory() as own:
        folder = (asked.folder or Path(own)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        for part in asked.part or PARTS:
            heads = ("what", "on the clock", "processors", "must reach")
            title = f"{part}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
            print(formats.render([plain(title, part, heads, measured(part, folder, asked))], "md").decode(), flush=True)


if __name__ == "__main__":
    main()
