"""How far simulated cycles are from published ones, for families of ciphers that no number was fitted to.

usage: bench/fidelity.py weigh CHECKOUT -t TARGET... [-o ROWS.csv] [--only TEXT] [--set KEY=VALUE...]
       bench/fidelity.py sensitivity CHECKOUT -t TARGET... [--only TEXT] --set KEY=VALUE...
       bench/fidelity.py errors ROWS.csv...
       bench/fidelity.py fit ROWS.csv ROWS.csv...
       bench/fidelity.py page [--before ROWS.csv]... [--after ROWS.csv]... [--compiled ROWS.csv]...

CHECKOUT is one of usnistgov/Lightweight-Cryptography-Benchmarking, with its ``benchmarks`` and ``implementations``.
``weigh`` builds each implementation of the families below with each optimisation level, calls it twice at each size,
and writes the second call's cycles beside the published ones. ``--set`` changes a number of the chip's flash timing.
A board's call and the readings of its clock are in the published cycles and not in ours: how many these are is fitted,
for each family to the others. ``sensitivity`` weighs without a change and with each one alone, and prints the errors:
how much the figures depend on each number. ``errors`` prints how errors are distributed, by family, level and size, and
by how much of a row's cycles is assembly. ``fit`` takes files of the same rows by models that differ: for each family
it chooses the file with the smallest error over the other families, and says the family's own error with that choice.
``page`` writes the tables of docs/validation/fidelity.md, of the files beside it or first of other rows.
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple, get_type_hints

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
PLACE = Path(__file__).parents[1] / "docs" / "validation"
PAGE = PLACE / "fidelity.md"
BLOCK = re.compile(r"(<!-- errors: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
#: BX LR
THUMB_RETURN = b"\x70\x47"
#: the bytes of the published programs' inputs
PATTERN = bytes(range(256)) * 8
#: a row with the first share of its cycles in assembly counts as assembly, with the second as mixed
MOSTLY, SOME = 0.7, 0.1
KINDS = ("assembly", "mixed", "compiled", "beyond the cache")
#: bytes of a cache whose misses a target's model leaves out: the published programs call encryption and decryption in
#: turns, so code of both that is larger is fetched from flash in every call
CACHE = {"esp8266-flash": 32768}
#: levels of a board's file that do not say what this compiler makes of them: an older compiler made them
OLDER = {"due": ("o1",)}


class Board(NamedTuple):
    """A board of the data set: its file's name, cycles in a unit of its times, and the times that
    say something."""

    name: str
    unit: int
    least: int = 1
    below: float = math.inf


BOARDS = {
    "due": Board("dueUSB", 84, 200),
    "esp8266": Board("nodemcuv2", 1),
    "esp8266-flash": Board("nodemcuv2", 1),
    "mkrzero": Board("mkrzero", 1, below=WRAP),
    "nano-every": Board("nano_every", 16, 20_000),
    "nrf52840": Board("nano33ble", 1),
    "uno": Board("uno", 16, 20_000),
}
#: cycles that published times may contain besides the callee's: the call, two readings of the clock
CALLING = range(0, 201, 4)


class Row(NamedTuple):
    """A call that was published, in cycles; ``assembly`` is the share of simulated cycles in hand-written assembly,
    ``code`` the bytes of the image in flash, encryption, decryption and the harness."""

    target: str
    model: str
    family: str
    variant: str
    implementation: str
    level: str
    assembly: float
    code: int
    adlen: int
    mlen: int
    published: int
    cycles: int

    def error(self, calling: int = 0) -> float:
        """Simulated minus published, percent, where the published call takes so many cycles besides the callee's."""
        return 100 * ((self.cycles + calling) / self.published - 1)


class Task(NamedTuple):
    """A build: what is published of it by size, in cycles."""

    target: str
    family: str
    variant: str
    implementation: str
    level: str
    folder: Path
    published: dict[tuple[int, int], int]
    flash: tuple[tuple[str, int], ...]


def tasks(checkout: Path, target: str, only: str, flash: tuple[tuple[str, int], ...]) -> Iterator[Task]:
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
    target = load_target(task.target)
    chip = json.loads(target.chip.json)
    chip["flash_timing"] |= dict(task.flash)
    rows = []
    try:
        [implementation] = discover(task.folder).implementations
        built = building.built(implementation, target, (LEVELS[task.level],))
        client = warm(target.but(chip=_native.Chip(json.dumps(chip))), built.images["both"])
        empty = [client.call(client.hello.zeros(Op.EMPTY)).pulse.cycles for _ in range(2)][1]
        for (adlen, mlen), published in task.published.items():
            if client.fits(Op.ENCRYPT, mlen, adlen):
                client.call(request(client, adlen, mlen))
                cycles = client.call(request(client, adlen, mlen)).pulse.cycles - empty
                of = (task.target, client.link.clock, task.family, task.variant, task.implementation, task.level)
                rows.append(Row(*of, 0.0, 0, adlen, mlen, published, cycles))
        if rows:
            share, code = seen(client, implementation, target, task, built)
            rows = [row._replace(assembly=round(share, 3), code=code) for row in rows]
    except (DeviceError, ValueError) as e:
        why = e.failure if isinstance(e, DeviceError) else e
        print(f"left out: {task.target} {task.variant}/{task.implementation} {task.level}: {why}", file=sys.stderr)
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


class Spread(NamedTuple):
    """A distribution of errors: the median with its sign; of magnitudes the median, the smallest that 95 % do not
    exceed, and the largest."""

    values: int
    bias: float
    median: float
    p95: float
    most: float


def spread(errors: Iterable[float]) -> Spread:
    """The distribution of at least one error."""
    signed = list(errors)
    sizes = sorted(map(abs, signed))
    return Spread(len(sizes), median(signed), median(sizes), sizes[math.ceil(0.95 * len(sizes)) - 1], sizes[-1])


def of_assembly(row: Row) -> str:
    """How much of a row's cycles is assembly, as a word; another where its code is larger than what the model knows."""
    if row.code > CACHE.get(row.target, math.inf):
        return KINDS[3]
    return KINDS[0] if row.assembly >= MOSTLY else KINDS[1] if row.assembly >= SOME else KINDS[2]


BY: dict[str, Callable[[Row], str]] = {
    "all": lambda r: "",
    "kind": of_assembly,
    "submission": lambda r: r.family,
    "family": lambda r: f"{of_assembly(r)} {r.family}",
    "level": lambda r: f"{of_assembly(r)} {r.level}",
    "size": lambda r: f"{of_assembly(r)} {r.adlen}/{r.mlen}",
    "implementation": lambda r: f"{of_assembly(r)} {r.variant}/{r.implementation}",
}


def read(file: Path) -> list[Row]:
    """The rows of a file that ``weigh`` wrote."""
    types = get_type_hints(Row)
    with file.open(newline="") as f:
        return [Row(*(types[n](line[n]) for n in Row._fields)) for line in csv.DictReader(f)]


def write(rows: Iterable[Row], file: Path | None) -> None:
    """Writes rows where ``read`` finds them, or to standard output."""
    with file.open("w", newline="") if file else nullcontext(sys.stdout) as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(Row._fields)
        out.writerows(rows)


def held_out(models: Sequence[Sequence[Row]]) -> list[tuple[Row, float]]:
    """Every row by the model, and with the cycles of a call, that suit the other families of its target best, with its
    error. All models have the same rows."""
    found = []
    for target in dict.fromkeys(r.target for r in models[0]):
        of = [[r for r in rows if r.target == target] for rows in models]
        for family in dict.fromkeys(r.family for r in of[0]):
            others = [[r for r in rows if r.family != family] for rows in of]
            if not others[0]:
                raise SystemExit(f"{target}: no other family than {family}, so nothing can be held out; weigh more")
            model, calling = best(others)
            found += [(r, r.error(calling)) for r in of[model] if r.family == family]
    return found


def best(models: Sequence[Sequence[Row]]) -> tuple[int, int]:
    """The number of the model with the smallest mean over families of the median error, and the cycles of a call."""

    def score(rows: Sequence[Row], calling: int) -> float:
        sizes: dict[str, list[float]] = {}
        for r in rows:
            sizes.setdefault(r.family, []).append(abs(r.error(calling)))
        return fmean(median(some) for some in sizes.values())

    return min(((k, c) for k in range(len(models)) for c in CALLING), key=lambda kc: score(models[kc[0]], kc[1]))


def groups(rows: Sequence[tuple[Row, float]], by: str) -> dict[tuple[str, str], list[float]]:
    """Errors by target and what ``BY`` calls a row."""
    found: dict[tuple[str, str], list[float]] = {}
    for r, error in rows:
        found.setdefault((r.target, BY[by](r)), []).append(error)
    return found


def print_errors(rows: Sequence[tuple[Row, float]], by: Sequence[str]) -> None:
    """Prints how the errors of rows are distributed."""
    print(f"{'':44} {'values':>6} {'bias':>8} {'median':>8} {'p95':>8} {'max':>8}  %")
    for name in by:
        for (target, group), errors in sorted(groups(rows, name).items()):
            s = spread(errors)
            print(f"{f'{target} {group}':44} {s.values:6d} {s.bias:+8.2f} {s.median:8.2f} {s.p95:8.2f} {s.most:8.2f}")


def counted(rows: Sequence[Row]) -> list[Row]:
    """The rows that a target's claim is made of: assembly where packages for it have some, else C."""
    with_assembly = {r.target for r in rows if of_assembly(r) == KINDS[0]}
    return [r for r in rows if of_assembly(r) == (KINDS[0] if r.target in with_assembly else KINDS[2])]


def table(rows: Sequence[Row]) -> str:
    """How the errors of counted rows are distributed, by target and family, in Markdown."""
    held = held_out([counted(rows)])
    lines = ["| target | code | family | values | bias | median / p95 / max |", "|---|---|---|---|---|---|"]
    for target in sorted({r.target for r, _ in held}):
        own = [(r, e) for r, e in held if r.target == target]
        kind = of_assembly(own[0][0])
        of = {"all": [e for _, e in own]} | {f: e for (_, f), e in sorted(groups(own, "submission").items())}
        for family, errors in of.items():
            s = spread(errors)
            shown = f"{s.median:.2f} / {s.p95:.1f} / {s.most:.1f}"
            lines.append(f"| {target} | {kind} | {family} | {s.values} | {s.bias:+.2f} | {shown} |")
    return "\n".join(lines) + "\n"


def filled(page: str) -> str:
    """The page with its tables made anew."""
    return BLOCK.sub(lambda m: f"{m[1]}{table(read(PLACE / f'{m[2]}.csv'))}{m[3]}", page)


def sensitivity(checkout: Path, targets: Sequence[str], only: str, changes: Sequence[tuple[str, int]]) -> None:
    """Prints the errors on held-out families as the models are, and with each change of a number of the flash alone."""
    print("| target | change | values | bias | median / p95 / max |\n|---|---|---|---|---|")
    for target in targets:
        chip = json.loads(load_target(target).chip.json)["flash_timing"]
        for change in (None, *changes):
            flash = (change,) if change else ()
            with ProcessPoolExecutor(2) as pool:
                rows = [r for some in pool.map(weighed, tasks(checkout, target, only, flash)) for r in some]
            s = spread(e for _, e in held_out([counted(rows)]))
            said = f"{change[0]} {chip[change[0]]} -> {change[1]}" if change else "none"
            print(f"| {target} | {said} | {s.values} | {s.bias:+.2f} | {s.median:.2f} / {s.p95:.1f} / {s.most:.1f} |")


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
        sensitivity(ask.checkout, ask.target, ask.only, changes)
        return 0
    if ask.verb == "weigh":
        flash = tuple((k, int(v)) for k, v in (s.split("=") for s in ask.set))
        todo = [task for target in ask.target for task in tasks(ask.checkout, target, ask.only, flash)]
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
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    kinds, by = ask.kind or KINDS[:3], ask.by or ("kind", "family", "level", "size")
    models = [[r for r in read(file) if of_assembly(r) in kinds] for file in ask.rows]
    if ask.verb == "errors":
        models = [[r for rows in models for r in rows]]
    print_errors(held_out(models), by)
    return 0


if __name__ == "__main__":
    sys.exit(main())
