"""How far simulated cycles are from published ones, for families of ciphers that no number was fitted to.

usage: bench/fidelity.py weigh CHECKOUT -t TARGET... [-o ROWS.csv] [--only TEXT] [--set KEY=VALUE...]
       bench/fidelity.py sensitivity CHECKOUT -t TARGET... [--only TEXT] [--level LEVEL...] [--set K=V...] [--keep]
       bench/fidelity.py errors ROWS.csv...
       bench/fidelity.py fit ROWS.csv ROWS.csv...
       bench/fidelity.py page [--before ROWS.csv]... [--after ROWS.csv]... [--compiled ROWS.csv]...

CHECKOUT is one of usnistgov/Lightweight-Cryptography-Benchmarking, with its ``benchmarks`` and ``implementations``.
``weigh`` builds each implementation of the families below with each optimisation level, calls it twice at each size,
and writes the second call's cycles beside the published ones. ``--set`` changes a number of the chip's flash timing.
A board's call and the readings of its clock are in the published cycles and not in ours: how many these are is fitted,
for each family to the others. ``sensitivity`` weighs without a change and with each one alone (of its own accord each
number of the chip's flash timing one step down and up), and prints the errors: how much the figures depend on each
number; ``--keep`` puts them into docs/validation. ``errors`` prints how errors are distributed, by family, level and
size, and by how much of a row's cycles is assembly. ``fit`` takes files of the same rows by models that differ: for
each family it chooses the file with the smallest error over the other families, and says the family's own error with
that choice.
``page`` writes the tables of docs/validation, of the files beside it or first of other rows: errors by family, what is
reached of the aims, and what sensitivities are known.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from fidelity_pages import BLOCK, PLACE, Change, filled, keep, sensitivities
from fidelity_rows import BY, KINDS, Row, counted, groups, held_out, of_assembly, read, spread, write

from steelyard import _native, building, device
from steelyard.building.commands import CODE
from steelyard.device.client import Client, encode
from steelyard.model import paths
from steelyard.model.call import DeviceError, Op, Request
from steelyard.model.implementation import Implementation
from steelyard.model.target import Target, load_target
from steelyard.sources import discover

#: families that models may be fitted to, by the name in the published files, with the folder of their sources. The
#: other families of the data set, and its hash functions, are for others' examination and must not be read here
FAMILIES = {
    "ascon": "ascon",
    "elephant": "elephant",
    "giftcofb": "gift-cofb",
    "isap": "isap",
    "romulus": "romulus",
    "tinyjambu": "tinyjambu",
}
LEVELS = {"o1": "-O1", "o2": "-O2", "o3": "-O3", "os": "-Os"}
#: bytes of associated data and message
SIZES = ((0, 0), (0, 8), (0, 64), (0, 128), (8, 0), (64, 64), (128, 0), (128, 128))
#: published cycles from here on are wrong by multiples of this number where a counter of 24 bits took the time
WRAP = 1 << 24
#: cycles between two interrupts of the AVR boards' clock
TICK = 16384
#: BX LR
THUMB_RETURN = b"\x70\x47"
#: the bytes of the published programs' inputs
PATTERN = bytes(range(256)) * 8
#: levels of a board's file that do not say what this compiler makes of them: an older compiler made them
OLDER = {"due": ("o1",)}


#: changes of numbers of a chip's flash timing, by their names
Flash = tuple[tuple[str, int], ...]


class Board(NamedTuple):
    """A board of the data set: its file's name, cycles in a unit of its times, and the times that say something. Where
    its code was counted (docs/validation), the cycles that the call and two readings of its clock take besides the
    callee's, and those that the clock's interrupt takes of each ``TICK``."""

    name: str
    unit: int
    least: int = 1
    below: float = math.inf
    calling: int = 0
    tick: float = 0.0


BOARDS = {
    "due": Board("dueUSB", 84, 200),
    "esp8266": Board("nodemcuv2", 1),
    "esp8266-flash": Board("nodemcuv2", 1),
    "mkrzero": Board("mkrzero", 1, below=WRAP),
    "nano-every": Board("nano_every", 16, 20_000, calling=240, tick=131 + 5 / 42),
    "nrf52840": Board("nano33ble", 1),
    "uno": Board("uno", 16, 20_000, calling=205, tick=100 + 1 / 42),
}


class Task(NamedTuple):
    """A build: what is published of it by size, in cycles."""

    target: str
    family: str
    variant: str
    implementation: str
    level: str
    folder: Path
    published: dict[tuple[int, int], int]
    flash: Flash


def tasks(checkout: Path, target: str, only: str, flash: Flash) -> Iterator[Task]:
    """The builds of a board's file that have sources."""
    board = BOARDS[target]
    with (checkout / "benchmarks" / f"{board.name}-aead-summary.csv").open(newline="") as f:
        for row in csv.DictReader(f):
            family, variant, name = row["submission"], row["variant"], row["implementation"]
            if family not in FAMILIES or row["config"] in OLDER.get(target, ()):
                continue
            if not re.search(only, f"{variant}/{name}"):
                continue
            folder = checkout / "implementations" / FAMILIES[family] / "crypto_aead" / variant / name
            times = {size: row.get(f"enc({size[0]}:{size[1]})") or "-" for size in SIZES}
            known = {size: int(float(t)) for size, t in times.items() if t != "-"}
            good = {size: t * board.unit for size, t in known.items() if board.least <= t < board.below}
            if good and folder.is_dir():
                yield Task(target, family, variant, name, row["config"], folder, good, flash)


def weighed(task: Task) -> list[Row]:
    """The rows of a build; none where it does not build or fit, which is printed."""
    return varied(task, (task.flash,))[0]


def varied(task: Task, changes: Sequence[Flash]) -> list[list[Row]]:
    """The rows of a build with each of some changes of the flash timing; none at all where it does not build or fit,
    which is printed."""
    target = load_target(task.target)
    found: list[list[Row]] = []
    try:
        [implementation] = discover(task.folder).implementations
        built = building.built(implementation, target, (LEVELS[task.level],))
        for flash in changes:
            chip = json.loads(target.chip.json)
            chip["flash_timing"] |= dict(flash)
            client = warm(target.but(chip=_native.Chip(json.dumps(chip))), built.images["both"])
            rows = called(task, client)
            # what a call consists of does not depend on its cycles
            of = (found[0][0].assembly, found[0][0].code) if found and rows else (0.0, 0)
            if rows and not found:
                of = seen(client, implementation, target, task, built)
            found.append([row._replace(assembly=round(of[0], 3), code=of[1]) for row in rows])
    except (DeviceError, ValueError) as e:
        why = e.failure if isinstance(e, DeviceError) else e
        print(f"left out: {task.target} {task.variant}/{task.implementation} {task.level}: {why}", file=sys.stderr)
    return found if len(found) == len(changes) else [[] for _ in changes]


def called(task: Task, client: Client) -> list[Row]:
    """The second of two calls at each size, minus the empty call, with what is known of the board besides."""
    rows = []
    board = BOARDS[task.target]
    whole = TICK / (TICK - board.tick)
    empty = [client.call(client.hello.zeros(Op.EMPTY)).pulse.cycles for _ in range(2)][1]
    of = (task.target, client.link.clock, task.family, task.variant, task.implementation, task.level)
    for (adlen, mlen), published in task.published.items():
        if client.fits(Op.ENCRYPT, mlen, adlen):
            client.call(request(client, adlen, mlen))
            cycles = client.call(request(client, adlen, mlen)).pulse.cycles - empty
            rows.append(Row(*of, 0.0, 0, adlen, mlen, published, round(whole * (cycles + board.calling))))
    return rows


def warm(target: Target, image: Path) -> Client:
    """A client of ``image`` whose calls find caches as the call before left them: the function that empties them
    returns at once."""
    elf = bytearray(image.read_bytes())
    settle = _native.elf_address(bytes(elf), "sy_settle")
    for base, content in _native.elf_segments(bytes(elf)):
        if settle is not None and 0 <= (at := (settle & ~1) - base) < len(content):
            place = elf.find(content) + at
            elf[place : place + 2] = THUMB_RETURN
    with tempfile.NamedTemporaryFile(suffix=".elf") as patched:
        patched.write(elf)
        patched.flush()
        return device.simulated(target, Path(patched.name))


def request(client: Client, adlen: int, mlen: int) -> Request:
    """The published programs' inputs: bytes that count up."""
    hello = client.hello
    return Request(Op.ENCRYPT, PATTERN[: hello.key_bytes], PATTERN[: hello.npub_bytes], PATTERN[:adlen], PATTERN[:mlen])


def seen(
    client: Client, implementation: Implementation, target: Target, task: Task, built: building.Build
) -> tuple[float, int]:
    """The share of a call's cycles in hand-written assembly, and the bytes of the image in flash. Assembly is all of a
    function from an assembly file, and of others the share of their instructions that the compiler copied from
    the source."""
    written: dict[str, float] = {}
    inline = any(b"asm" in f.path.read_bytes() for f in implementation.files if f.language in ("c", "header"))
    for file in implementation.files:
        if file.language == "asm":
            made = building.objects(built, implementation).get(file.name)
            written |= {s[0]: 1.0 for s in (_native.elf_symbols(made.read_bytes()) if made else [])}
        elif file.language == "c" and inline:
            written |= copied(file.path, target, task)
    adlen, mlen = [size for size in task.published if client.fits(Op.ENCRYPT, size[1], size[0])][-1]
    tree = client.link.profile(encode(request(client, adlen, mlen)))  # type: ignore[attr-defined]
    total = sum(cycles for *_, cycles in tree)
    share = sum(cycles * written.get(name.split(".")[0], 0.0) for name, _, _, cycles in tree) / total
    chip = target.chip.flash
    loaded = _native.elf_segments(built.images["both"].read_bytes())
    return share, sum(len(content) for base, content in loaded if 0 <= base - chip.base < chip.size)


def copied(source: Path, target: Target, task: Task) -> dict[str, float]:
    """By function of a C source, the share of its instructions that comes from ``asm`` statements."""
    spec = target.toolchain
    include = (f"-I{source.parent}", f"-I{paths.HARNESS}/include")
    options = (*spec.flags, *CODE, LEVELS[task.level], *include, "-w", "-S", "-o", "-")
    made = subprocess.run((spec.compiler, *options, str(source)), capture_output=True, text=True, check=False)
    counts: dict[str, list[int]] = {}
    function, inside = "", False
    for line in made.stdout.splitlines():
        text = line.strip()
        if match := re.match(r"\.type\s+(\w[\w.]*),\s*[%@#]function", text):
            function = match[1].split(".")[0]
        if re.match(r"[@#/]+\s*(NO_)?APP", text) or re.match(r"[@#]+ \d+ \"", text):
            inside = "NO_APP" not in text and not text.endswith('"" 2')
        elif re.match(r"\.(thumb|arm|syntax|code)\b", text) and inside and "unified" not in text:
            inside = False
        elif re.match(r"[a-z][a-z0-9.]*(\s|$)", text):
            own = counts.setdefault(function, [0, 0])
            own[inside] += 1
    return {name: hand / (hand + rest) for name, (rest, hand) in counts.items() if hand}


def print_errors(rows: Sequence[tuple[Row, float]], by: Sequence[str]) -> None:
    """Prints how the errors of rows are distributed."""
    print(f"{'':44} {'values':>6} {'bias':>8} {'median':>8} {'p95':>8} {'max':>8}  %")
    for name in by:
        for (target, group), errors in sorted(groups(rows, name).items()):
            s = spread(errors)
            print(f"{f'{target} {group}':44} {s.values:6d} {s.bias:+8.2f} {s.median:8.2f} {s.p95:8.2f} {s.most:8.2f}")


def steps(flash: dict[str, int]) -> list[tuple[str, int]]:
    """Each number of a flash timing one step down and up; sizes are powers of two, and a queue of one word is none.
    What is 0 does not exist there."""
    found: list[tuple[str, int]] = []
    for key, value in sorted(flash.items()):
        if value and key in ("line_bytes", "cache_lines"):
            found += [(key, value // 2), (key, value * 2)]
        elif value:
            less = 0 if (key, value) == ("queue_words", 2) else value - 1
            found += [(key, less), (key, value + 1)]
    return found


def sensitivity(
    checkout: Path, target: str, only: str, levels: Sequence[str], changes: Sequence[tuple[str, int]]
) -> list[Change]:
    """The errors on held-out families as the model is, and with each change of a number of the flash alone."""
    flash = json.loads(load_target(target).chip.json)["flash_timing"]
    alone: list[Flash] = [(), *(((c,)) for c in changes or steps(flash))]
    todo = [task for task in tasks(checkout, target, only, ()) if task.level in (levels or LEVELS)]
    with ProcessPoolExecutor(2) as pool:
        of = list(pool.map(varied, todo, [alone] * len(todo)))
    found = []
    for k, change in enumerate(alone):
        rows = counted([r for some in of for r in some[k]])
        number, changed = change[0] if change else ("", 0)
        s = spread(e for _, e in held_out([rows]))
        shown = [round(value, 3) for value in s[1:]]
        which = f"{only or 'all'} {' '.join(levels) or 'all'}"
        found.append(Change(target, rows[0].model, which, number, flash.get(number, 0), changed, s.values, *shown))
    return found


def main() -> int:
    """Runs the tool; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name in ("weigh", "sensitivity"):
        weigh = verbs.add_parser(name)
        weigh.add_argument("checkout", type=Path)
        weigh.add_argument("-t", "--target", action="append", choices=sorted(BOARDS), required=True)
        weigh.add_argument("-o", "--output", type=Path)
        weigh.add_argument("--only", default="", help="expression that variant/implementation must match")
        weigh.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
        weigh.add_argument("--keep", action="store_true", help="sensitivity: for the pages, in docs/validation")
        weigh.add_argument("--level", action="append", default=[], choices=sorted(LEVELS))
    page = verbs.add_parser("page")
    page.add_argument("--before", type=Path, action="append", default=[])
    page.add_argument("--after", type=Path, action="append", default=[])
    page.add_argument("--compiled", type=Path, action="append", default=[])
    for name in ("errors", "fit"):
        verb = verbs.add_parser(name)
        verb.add_argument("rows", type=Path, nargs="+")
        verb.add_argument("--by", action="append", choices=sorted(BY))
        verb.add_argument("--kind", action="append", choices=KINDS)
    ask = parser.parse_args()
    if ask.verb == "sensitivity":
        changes = [(k, int(v)) for k, v in (s.split("=") for s in ask.set)]
        for target in ask.target:
            some = sensitivity(ask.checkout, target, ask.only, ask.level, changes)
            print(f"{target}\n\n{sensitivities(target, some)}")
            if ask.keep:
                keep(some)
        return 0
    if ask.verb == "weigh":
        flash = tuple((k, int(v)) for k, v in (s.split("=") for s in ask.set))
        every = (task for target in ask.target for task in tasks(ask.checkout, target, ask.only, flash))
        todo = [task for task in every if task.level in (ask.level or LEVELS)]
        with ProcessPoolExecutor(2) as pool:
            write((row for some in pool.map(weighed, todo, chunksize=4) for row in some), ask.output)
        return 0
    if ask.verb == "page":
        for files, name in (
            (ask.before, "fidelity-before"),
            (ask.after, "fidelity"),
            (ask.compiled, "fidelity-compiled"),
        ):
            if files:
                write((r for file in files for r in read(file)), PLACE / f"{name}.csv")
        for file in PLACE.glob("*.md"):
            text = file.read_text(encoding="utf-8")
            if BLOCK.search(text):
                file.write_text(filled(text), encoding="utf-8")
        return 0
    kinds, by = ask.kind or KINDS[:3], ask.by or ("kind", "family", "level", "size")
    models = [[r for r in read(file) if of_assembly(r) in kinds] for file in ask.rows]
    if ask.verb == "errors":
        models = [[r for rows in models for r in rows]]
    print_errors(held_out(models), by)
    return 0


if __name__ == "__main__":
    sys.exit(main())
