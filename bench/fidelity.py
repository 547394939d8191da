"""How far simulated cycles are from published ones, for families of ciphers that no number was fitted to.

usage: bench/fidelity.py weigh CHECKOUT -t TARGET... [-o ROWS.csv] [--for-fits] [--board NAME,UNIT] [--only TEXT]
                               [--level LEVEL...] [--set KEY=VALUE...]
       bench/fidelity.py sensitivity CHECKOUT -t TARGET... [--only TEXT] [--level LEVEL...] [--set K=V...] [--keep]
       bench/fidelity.py errors ROWS.csv... [--fitted]
       bench/fidelity.py fit ROWS.csv ROWS.csv... [--fitted]
       bench/fidelity.py page [--before ROWS.csv]... [--after ROWS.csv]... [--compiled ROWS.csv]...

CHECKOUT is one of usnistgov/Lightweight-Cryptography-Benchmarking, or a folder of the same form:
``benchmarks/NAME-aead-summary.csv`` with a row for each build, in the columns ``submission`` (the family),
``variant``, ``implementation``, ``config`` (o1, o2, o3 or os) and ``enc(A:M)``, the time of an encryption with so
many bytes of associated data and message, a dash where there is none; and the package in
``implementations/SUBMISSION/crypto_aead/VARIANT/IMPLEMENTATION``, where hyphens of the first folder do not count.
``--board`` names such a file, and how many cycles are in a unit of its times; without it a target has the board of
``BOARDS``.

``weigh`` builds each implementation with each optimisation level, calls it twice at each size, and writes the second
call's cycles beside the published ones. It says which rows of the file it leaves out, and why. ``--for-fits`` leaves
out all families but those that models may be fitted to; ``sensitivity`` always does. ``--set`` changes a number of
the chip's flash timing. A board's call and the readings of its clock are in the published cycles and not in ours: how
many these are is fitted, for each family to the others. ``sensitivity`` weighs without a change and with each one
alone (of its own accord each number of the chip's flash timing one step down and up), and prints the errors: how much
the figures depend on each number; ``--keep`` puts them into docs/validation. ``errors`` prints the cycles of a call
that the others chose for each family's code of a kind (assembly, mixed, compiled) by theirs of this kind, if they have
some, and how errors are distributed, by kind, family, level and size. ``fit`` takes files of the same rows by models
that differ: for each family and kind it chooses, likewise, the file with the smallest error over the other families,
and says the family's own error with that choice. Families that numbers of today's models were fitted to
(docs/validation/fitted.csv) are left out of both, but with ``--fitted``.

``page`` writes the tables of docs/validation, of the files beside it, and errors.csv, which answers and claims quote:
by family, what is reached of the aims, and what sensitivities are known. Rows that it is given take the place of
those of the same targets in fidelity-before.csv, fidelity.csv and fidelity-compiled.csv. docs/validation/fidelity.md
has the commands that made these.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from fidelity_errors import errors_csv
from fidelity_pages import BLOCK, Change, aims, filled, keep, sensitivities, table
from fidelity_rows import (
    BY,
    KINDS,
    PLACE,
    Row,
    choices,
    counted,
    groups,
    held_out,
    merged,
    of_assembly,
    read,
    same_calls,
    spread,
    unseen,
    whole,
    write,
)

from steelyard import _native, building, device, measure
from steelyard.building.commands import CODE
from steelyard.device.client import Client
from steelyard.model import paths
from steelyard.model.call import DeviceError, Op, Request
from steelyard.model.implementation import Implementation
from steelyard.model.target import Target, load_target, target_names
from steelyard.sources import discover

#: families that models may be fitted to, by the name in the published files. The other families of the data set, and
#: its hash functions, are for others' examination: who changes a model reads none of them (``--for-fits``)
FAMILIES = ("ascon", "elephant", "giftcofb", "isap", "romulus", "tinyjambu")
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
    board: Board


class LeftOut:
    """Published rows that cannot be used, by reason."""

    def __init__(self) -> None:
        self.rows: dict[str, list[str]] = {}

    def add(self, why: str, row: str) -> None:
        """Counts a row."""
        self.rows.setdefault(why, []).append(row)

    def print(self) -> None:
        """Prints how many there are for each reason, with the first of them."""
        for why, rows in self.rows.items():
            print(f"left out: {len(rows)} published rows, {why}; the first: {rows[0]}", file=sys.stderr)


def tasks(
    checkout: Path,
    target: str,
    only: str,
    flash: Flash,
    *,
    left: LeftOut,
    board: Board | None = None,
    fits: bool = False,
) -> Iterator[Task]:
    """The builds of a board's file that have sources; ``fits`` wants the families that models may be fitted to. Rows
    that ``only`` does not match are not said to be left out."""
    board = board or BOARDS[target]
    file = checkout / "benchmarks" / f"{board.name}-aead-summary.csv"
    if not file.exists():
        raise SystemExit(f"no file {file}")
    with file.open(newline="") as f:
        for row in csv.DictReader(f):
            try:
                family, variant, name, level = (row[n] for n in ("submission", "variant", "implementation", "config"))
            except KeyError as e:
                raise SystemExit(
                    f"{file}: no column {e.args[0]}; bench/fidelity.py --help says what it needs"
                ) from None
            family = family.replace("-", "")  # as most published files have it
            if not re.search(only, f"{variant}/{name}"):
                continue
            good = times(row, board)
            folder = sources(checkout, family) / "crypto_aead" / variant / name
            why = (
                "of a family that is for examination"
                if fits and family not in FAMILIES
                else f"of a level that is none of {', '.join(LEVELS)}"
                if level not in LEVELS
                else "of a level whose compiler was an older one"
                if level in OLDER.get(target, ())
                else "without a time that says something"
                if not good
                else "without a folder of sources"
                if not folder.is_dir()
                else ""
            )
            if why:
                left.add(why, f"{target} {variant}/{name} {level}")
            else:
                yield Task(target, family, variant, name, level, folder, good, flash, board)


def times(row: dict[str, str], board: Board) -> dict[tuple[int, int], int]:
    """The published cycles of a row that say something, by size."""
    found = {size: row.get(f"enc({size[0]}:{size[1]})") or "-" for size in SIZES}
    known = {size: float(time) for size, time in found.items() if time != "-"}
    return {size: round(time * board.unit) for size, time in known.items() if board.least <= time < board.below}


def sources(checkout: Path, family: str) -> Path:
    """The folder of a family, whose name may have hyphens that the published files leave out."""
    folder = checkout / "implementations"
    there = (f for f in folder.glob("*") if f.name.replace("-", "") == family)
    return next(there, folder / family)


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
    board = task.board
    whole = TICK / (TICK - board.tick)
    empty = [client.call(client.hello.zeros(Op.EMPTY)).pulse.cycles for _ in range(2)][1]
    of = (task.target, client.link.clock, task.family, task.variant, task.implementation, task.level)
    for (adlen, mlen), published in task.published.items():
        if client.fits(Op.ENCRYPT, mlen, adlen):
            client.call(request(client, adlen, mlen))
            cycles = client.call(request(client, adlen, mlen)).pulse.cycles - empty
            if cycles < board.below * board.unit:  # a counter that wraps publishes the rest of such a call
                rows.append(Row(*of, 0.0, 0, adlen, mlen, published, round(whole * (cycles + board.calling))))
    return rows


def warm(target: Target, image: Path) -> Client:
    """A client of ``image`` whose calls find caches as the call before left them: the function that empties them
    returns at once."""
    elf = bytearray(image.read_bytes())
    settle = _native.elf_address(bytes(elf), "sy_settle")
    for base, content in _native.elf_segments(bytes(elf)):
        if settle is not None and 0 <= (at := settle - base) < len(content):
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
    hand = measure.written(implementation.files, building.objects(built, implementation), built.images["both"])
    inline = any(b"asm" in f.path.read_bytes() for f in implementation.files if f.language in ("c", "header"))
    for file in implementation.files:
        if file.language == "c" and inline:
            hand |= copied(file.path, target, task)
    adlen, mlen = [size for size in task.published if client.fits(Op.ENCRYPT, size[1], size[0])][-1]
    share = measure.share(client.tree(request(client, adlen, mlen)), hand)
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


def print_errors(models: Sequence[Sequence[Row]], names: Sequence[str], by: Sequence[str], *, fitted: bool) -> None:
    """Prints what the families chose for each other, and how the errors of rows are distributed. The files of ``names``
    are told only where there are several models."""
    for of, (model, calling) in choices(models).items():
        which = f" and {names[model]}" if len(models) > 1 else ""
        print(f"{' '.join(of)}: the other families choose {calling} cycles of a call{which}")
    held = held_out(models)
    rows = held if fitted else unseen(held)
    if len(rows) < len(held):
        without = sorted({f"{r.target} {r.family}" for r, _ in held} - {f"{r.target} {r.family}" for r, _ in rows})
        print(f"left out, since numbers were fitted to them (--fitted shows them): {', '.join(without)}")
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
    """The errors on families that nothing was fitted to, as the model is and with each number of the flash changed."""
    flash = json.loads(load_target(target).chip.json)["flash_timing"]
    alone: list[Flash] = [(), *(((c,)) for c in changes or steps(flash))]
    left = LeftOut()
    todo = [t for t in tasks(checkout, target, only, (), left=left, fits=True) if t.level in (levels or LEVELS)]
    left.print()
    with ProcessPoolExecutor(2) as pool:
        of = list(pool.map(varied, todo, [alone] * len(todo)))
    found = []
    for k, change in enumerate(alone):
        rows = counted([r for some in of for r in some[k]])
        number, changed = change[0] if change else ("", 0)
        s = spread(e for _, e in unseen(held_out([rows])))
        shown = [round(value, 3) for value in s[1:]]
        which = f"{only or 'all'} {' '.join(levels) or 'all'}"
        found.append(Change(target, rows[0].model, which, number, flash.get(number, 0), changed, s.values, *shown))
    return found


def setting(text: str) -> tuple[str, int]:
    """A number of a chip's flash timing, as the command line has it."""
    key, equals, value = text.partition("=")
    if not (key and equals and value.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE with a whole number, as wait_states=2")
    return key, int(value)


def board_of(text: str) -> Board:
    """A board, as the command line has it."""
    name, _, unit = text.rpartition(",")
    if not (name and unit.isdecimal() and int(unit)):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not NAME,UNIT: the file's name, and cycles in a unit of its times"
        )
    return Board(name, int(unit))


def weigh(ask: argparse.Namespace) -> None:
    """Builds and calls what is published, and writes rows."""
    left = LeftOut()
    todo: list[Task] = []
    for target in ask.target:
        if not ask.board and target not in BOARDS:
            raise SystemExit(f"no board of the data set is known for {target}: say --board NAME,UNIT")
        found = tasks(ask.checkout, target, ask.only, tuple(ask.set), left=left, board=ask.board, fits=ask.for_fits)
        todo += [task for task in found if task.level in (ask.level or LEVELS)]
    left.print()
    with ProcessPoolExecutor(2) as pool:
        write((row for some in pool.map(weighed, todo, chunksize=4) for row in some), ask.output)


def page(before: Sequence[Path], after: Sequence[Path], compiled: Sequence[Path]) -> None:
    """Puts rows into the files of docs/validation, and makes its tables and errors.csv of them. Nothing is written if
    the tables cannot be made."""
    new = {}
    for files, name in ((before, "fidelity-before"), (after, "fidelity"), (compiled, "fidelity-compiled")):
        if files:
            there = PLACE / f"{name}.csv"
            new[there] = merged(read(there) if there.exists() else [], [r for file in files for r in read(file)])
            whole(new[there], there)
            table(new[there])
            aims(new[there])
    for file, rows in new.items():
        write(rows, file)
    (PLACE / "errors.csv").write_text(errors_csv(), encoding="utf-8")
    for file in PLACE.glob("*.md"):
        text = file.read_text(encoding="utf-8")
        if BLOCK.search(text):
            file.write_text(filled(text), encoding="utf-8")


def arguments() -> argparse.Namespace:
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name in ("weigh", "sensitivity"):
        verb = verbs.add_parser(name)
        verb.add_argument("checkout", type=Path)
        known = target_names() if name == "weigh" else tuple(sorted(BOARDS))
        verb.add_argument("-t", "--target", action="append", required=True, metavar="TARGET", choices=known)
        verb.add_argument("--only", default="", help="expression that variant/implementation must match")
        verb.add_argument("--set", action="append", default=[], type=setting, metavar="KEY=VALUE")
        verb.add_argument("--level", action="append", default=[], choices=sorted(LEVELS))
        if name == "weigh":
            verb.add_argument("-o", "--output", type=Path)
            verb.add_argument("--for-fits", action="store_true", help="only families that models may be fitted to")
            verb.add_argument(
                "--board", type=board_of, metavar="NAME,UNIT", help="another file, and cycles in its unit"
            )
        else:
            verb.add_argument("--keep", action="store_true", help="for the pages, in docs/validation")
    pages = verbs.add_parser("page")
    for name in ("before", "after", "compiled"):
        pages.add_argument(f"--{name}", type=Path, action="append", default=[])
    for name in ("errors", "fit"):
        verb = verbs.add_parser(name)
        verb.add_argument("rows", type=Path, nargs="+")
        verb.add_argument("--by", action="append", choices=sorted(BY))
        verb.add_argument("--kind", action="append", choices=KINDS)
        verb.add_argument("--fitted", action="store_true", help="families that numbers were fitted to as well")
    return parser.parse_args()


def main() -> int:
    """Runs the tool; returns its exit code."""
    ask = arguments()
    if ask.verb == "sensitivity":
        for target in ask.target:
            some = sensitivity(ask.checkout, target, ask.only, ask.level, ask.set)
            print(f"{target}\n\n{sensitivities(target, some)}")
            if ask.keep:
                keep(some)
    elif ask.verb == "weigh":
        weigh(ask)
    elif ask.verb == "page":
        page(ask.before, ask.after, ask.compiled)
    else:
        kinds, by = ask.kind or KINDS[:3], ask.by or ("kind", "family", "level", "size")
        models = [[r for r in read(file) if of_assembly(r) in kinds] for file in ask.rows]
        if ask.verb == "errors":
            models = [[r for rows in models for r in rows]]
        else:
            same_calls(models, ask.rows)
        print_errors(models, [file.name for file in ask.rows], by, fitted=ask.fitted)
    return 0


if __name__ == "__main__":
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads, as head, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    sys.exit(code)
