"""``make bench``: how fast Steelyard is, against the named peers, in the same run.

Every figure is the median of five runs, of campaigns of three. Simulators of a pair run the same image, the measured
objects of bundled implementations with their requests in flash, and are compared by processor time: it includes a
peer's start, and hardly depends on what else the machine does.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

sys.path.insert(0, str(Path(__file__).parents[1]))

import answers
from boards import boards
from hardware import hardware

from oracles import machines, replay
from steelyard import building
from steelyard.cli.console import table
from steelyard.cli.select import bundled
from steelyard.model import paths
from steelyard.model.target import Target, load_target, target_names

RUNS = 5
#: seconds after which a peer that should take one to ten is assumed to run for ever
LIMIT = 60
_PR_SET_CHILD_SUBREAPER = 36
#: seconds that a run of ours takes at least, so that a peer's start does not count
SECONDS = {"msp430": 0.25}
#: columns that a sentence may stand in, and what shows a table whole
PEERS, WIDER = ("what", "peer, same run"), "a wider terminal"
Row = tuple[str, str, str, str, str]
STEELYARD = [sys.executable, "-m", "steelyard"]
HERE = Path(__file__).parent
PRIMARY = "ascon128v12/fast"
#: implementations on the targets that have peers
CHOSEN = {
    "uno": (PRIMARY, "giftcofb128v1/fast", "tinyjambu128v2/small"),
    "bluepill": (PRIMARY, "giftcofb128v1/fast", "tinyjambu128v2/small"),
    "gd32vf103": (PRIMARY, "tinyjambu128v2/small"),
    "maixduino": (PRIMARY, "tinyjambu128v2/small"),
    "esp8266": (PRIMARY, "tinyjambu128v2/small"),
    "msp430f1611": (PRIMARY, "tinyjambu128v2/small"),
}
FLAGS = ("-O2",)
#: a campaign as FELICS-AE ran one: ciphers that it has, at -O3
EIGHT = (
    PRIMARY,
    "acorn128v3/ref",
    "giftcofb128v1/fast",
    "lilliputaei128v11/ref",
    "romulusn/ref",
    "schwaemm256128v1/ref",
    "tinyjambu128v2/fast",
    "crypto_aead/xoodyak/xoodyakround3/fast",
)
#: the same ciphers in FELICS-AE
FELICS_EIGHT = (
    "Ascon-128_vref",
    "ACORN-128_v8bitfast",
    "GIFT-COFB_vref",
    "Lilliput-I-128_vfelicsref",
    "Romulus-N_vref",
    "Schwaemm256-128_vref",
    "TinyJAMBU-128_vopt",
    "Xoodyak-128_vref",
)


def median(measure: Callable[[], float], runs: int = RUNS) -> float:
    """Median of the runs."""
    return statistics.median(measure() for _ in range(runs))


def say(doing: str) -> None:
    """Prints what is being measured: the tables come after a quarter of an hour."""
    print(f"bench: {doing}", file=sys.stderr, flush=True)


def why(error: Exception) -> str:
    """The cell of a figure that could not be measured."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"does not end in {error.timeout:.0f} s"
    if isinstance(error, subprocess.CalledProcessError):
        said = str(error.stderr or error.stdout or "").strip().split("\n")[0]  # registers may follow
        return f"ended with {error.returncode}{': ' * bool(said)}{said[:100]}"
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:120]


@dataclass(frozen=True)
class Peer:
    """A simulator that runs our images: its time, or why there is none, and the factor by which we must beat it."""

    name: str
    measure: Callable[[], float] | str
    must: str = "-"


def speed(folder: Path) -> tuple[list[Row], list[Row]]:
    """Simulated speed of every core, compared with its peers."""
    cores: list[Row] = []
    peers: list[Row] = []
    plugin = _plugin(folder)
    for name in target_names():
        target = load_target(name)
        if target.device != "simulator":
            continue
        if building.identify(target.toolchain) is None:
            cores.append((name, target.chip.core, f"{target.toolchain.compiler} is not installed", "-", "-"))
            continue
        for label in CHOSEN.get(name, (PRIMARY,)):
            say(f"{label} on {name}")
            place = folder / f"{name}-{label.replace('/', '-')}"
            place.mkdir()
            try:
                some, more = _one(target, label, place, plugin)
            except Exception as e:  # a row as any other; the next may do better
                some, more = [(name, target.chip.core, f"{label}: {why(e)}", "-", "-")], []
            cores += some
            peers += more
    return cores, peers


def _one(target: Target, label: str, place: Path, plugin: Path | None) -> tuple[list[Row], list[Row]]:
    """Rows of one implementation on one target: its core's, and its peers'."""
    name, core, clock = target.name, target.chip.core, target.chip.clock_hz
    image = _image(target, label, place)
    if image is None:
        return [(name, core, f"{label} does not fit", "-", "-")], []
    cycles, mine = _ours(target, image)
    cores, peers = list[Row](), list[Row]()
    if label == PRIMARY:
        silicon = f"{cycles / mine / clock:.1f}x {clock / 1e6:.0f} MHz"
        cores.append((name, core, f"{cycles / mine / 1e6:.0f} MHz", _rate(target, image, plugin, mine), silicon))
    for peer in _peers(target, image, plugin) if name in CHOSEN else ():
        peers.append(beside(f"{name}, {label}", cycles, mine, peer))
    return cores, peers


def beside(what: str, cycles: int, mine: float, peer: Peer) -> Row:
    """The row of a peer: its time and ours, or why it has none."""
    ours = f"{cycles / mine / 1e6:.0f} MHz, {mine:.2f} s"
    if isinstance(peer.measure, str):
        return what, ours, f"{peer.name}: {peer.measure}", "-", peer.must
    try:
        seconds = median(peer.measure)
    except Exception as e:
        return what, ours, f"{peer.name}: {why(e)}", "-", peer.must
    return what, ours, f"{peer.name}, {seconds:.2f} s", f"{seconds / mine:.1f}x", peer.must


def _image(target: Target, label: str, place: Path) -> Path | None:
    """A replay that takes us long enough to measure; None where the implementation does not fit."""
    implementation = next(i for i in bundled()[0] if i.label == label)
    toolchain = building.identify(target.toolchain)
    assert toolchain is not None
    built = building.build(implementation, target, toolchain, FLAGS)
    if built.failure is not None:
        return None
    calls = replay.requests(implementation, target, built.images["both"], [(16, 16), (0, 64), (32, 32)])

    def of(rounds: int) -> Path:
        return replay.link(implementation, target, FLAGS, calls, place, rounds=rounds)

    wanted = SECONDS.get(target.toolchain.family, 1.0)
    rounds = 10
    while True:  # twice or more: what runs often becomes faster
        image = of(rounds)
        seconds = min(_timed(lambda: replay.ours(target, image)) for _ in range(3))  # noqa: B023
        if seconds > 0.7 * wanted:
            return image
        rounds = math.ceil(rounds * wanted / seconds)


def _ours(target: Target, image: Path) -> tuple[int, float]:
    cycles = replay.ours(target, image)[0].cycles
    return cycles, median(lambda: _timed(lambda: replay.ours(target, image)))


def _timed(run: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    start = time.process_time()
    run()
    return time.process_time() - start


def process(command: list[str], folder: Path, end: str = "") -> float:
    """Processor seconds of a command that ends; raises when it does not end, or fails. ``end`` is its output for the
    expected failure."""
    before = _children()
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=limit()
    )
    if not (end and end in done.stdout + done.stderr):
        done.check_returncode()
    return _children() - before


def limit() -> float:
    """:data:`LIMIT` on an idle machine; on a busy one, a peer gets a correspondingly longer limit."""
    return LIMIT * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _plugin(folder: Path) -> Path | None:
    """QEMU's plugin that counts instructions; None without a compiler."""
    library = folder / "count.so"
    command = ["gcc", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", str(HERE / "count.c"), "-o", str(library)]
    try:
        return library if subprocess.run(command, capture_output=True, check=False).returncode == 0 else None
    except OSError:
        return None


def _qemu(target: Target, image: Path) -> list[str] | None:
    if target.chip.core == "avr5":
        quiet = ["-display", "none", "-serial", "none", "-monitor", "none"]
        return ["qemu-system-avr", "-M", "uno", *quiet, "-bios", str(image)]
    return machines.qemu(target, image)


def _counted(target: Target, image: Path, plugin: Path, count: str) -> list[str]:
    command = _qemu(target, image)
    assert command is not None
    end = machines.span(image, target, "sy_end")[0]
    return [*command, "-plugin", f"{plugin},count={count},end={end}"]


def _rate(target: Target, image: Path, plugin: Path | None, mine: float) -> str:
    """Our instructions per second, as the plugin counts them."""
    command = _qemu(target, image)
    if command is None or plugin is None or shutil.which(command[0]) is None:
        return "-"
    counted = _counted(target, image, plugin, "on")
    try:
        out = subprocess.run(
            counted, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True, timeout=limit()
        )
    except (OSError, subprocess.SubprocessError) as e:
        return f"{command[0]} {why(e)}"
    found = re.search(r"instructions (\d+)", out.stderr)
    return f"{int(found[1]) / mine / 1e6:.0f} M/s" if found and int(found[1]) else "-"


def _peers(target: Target, image: Path, plugin: Path | None) -> Iterator[Peer]:
    """The peers that run this image."""
    family, folder = target.toolchain.family, image.parent
    absent = "not installed"
    if family == "avr":
        there = shutil.which("simavr")
        yield Peer("simavr", (lambda: process(["simavr", image.name], folder)) if there else absent, "3")
    if family == "thumb":
        yield Peer("Unicorn, block hook", _unicorn(image), "1")
    if family == "msp430":
        script = ["mspdebug", "-q", "-n", "sim", f"prog {image}", "simio add hwmult m", "run"]
        end = "opcode: 0x0000"  # what oracles/end.h stops it with
        yield Peer("mspdebug", (lambda: process(script, folder, end)) if shutil.which("mspdebug") else absent)
    command = _qemu(target, image)
    if command is None:
        return
    if shutil.which(command[0]) is None:
        yield Peer(command[0], absent)
        return
    plain = command
    must = "1" if family in ("thumb", "riscv", "xtensa") else "-"
    if family == "avr" and plugin:
        plain = _counted(target, image, plugin, "off")  # it would go on for ever
    if family != "avr" or plugin:
        yield Peer("QEMU, counting nothing", lambda: process(plain, folder))
    if plugin is None:
        yield Peer("QEMU, counting instructions", "its plugin does not compile", must)
    else:
        counted = _counted(target, image, plugin, "on")
        yield Peer("QEMU, counting instructions", lambda: process(counted, folder), must)


def _unicorn(image: Path) -> Callable[[], float] | str:
    if importlib.util.find_spec("unicorn") is None:
        return "not installed"
    hook, source = image.parent / "hook.so", image.parent / "hook.c"
    source.write_text("void count_block(void *uc, unsigned long long a, unsigned s, unsigned long long *n) { ++*n; }\n")
    try:
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", str(source), "-o", str(hook)], check=True)
    except (OSError, subprocess.CalledProcessError) as e:
        return why(e)

    def run() -> float:
        command = [sys.executable, str(HERE / "unicorn_peer.py"), str(image), str(hook)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=limit())
        return float(done.stdout.split()[1])

    return run


def _cpu(arguments: list[str], home: Path) -> tuple[float, float]:
    """Processor and wall seconds of a command of ours with all its children."""
    return _cpu_of([*STEELYARD, *arguments], env=os.environ | {"STEELYARD_HOME": str(home)})


def _cpu_of(command: list[str], **options: Any) -> tuple[float, float]:
    before, start = _children(), time.perf_counter()
    subprocess.run(command, capture_output=True, check=False, **options)
    seconds = time.perf_counter() - start
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    return _children() - before, seconds


def _beside_felics_ae(fresh: Callable[[], float]) -> tuple[float, str, str]:
    """Processor seconds of ours, FELICS-AE's in words, and how many times ours they are: measured in turns where
    ``$FELICS_AE`` names a checkout that is set up, otherwise the published time."""
    checkout = os.environ.get("FELICS_AE")
    if checkout is None:
        return median(fresh), "FELICS-AE 13.9 to 15.6 CPU s (published)", "-"
    scripts, results = Path(checkout, "scripts"), Path(checkout, "results", "steelyard.json")
    command = [str(scripts / "felics-run"), "-a", "AVR", "--options=-O3", "-o", results.name, *FELICS_EIGHT]
    results.unlink(missing_ok=True)
    pairs = [(fresh(), _cpu_of(command, cwd=scripts)[0]) for _ in range(RUNS)]
    if not results.exists() or len(json.loads(results.read_text())["data"]) != len(FELICS_EIGHT):
        return median(fresh), "FELICS-AE failed", "-"
    ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
    return ours, f"FELICS-AE {theirs:.1f} CPU s", f"{theirs / ours:.1f}x"


def commands(folder: Path) -> list[Row]:
    """Whole commands, from process start to printed table."""
    # bubblewrap does not wait for what it started: such processes become ours, and their time is counted
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    rows: list[Row] = []
    for name, measure in COMMANDS.items():
        say(name)
        try:
            rows += measure(folder)
        except Exception as e:
            rows.append((name, why(e), "-", "-", "-"))
    return rows


def _cold(folder: Path) -> Iterator[Row]:
    for name in ("uno", "bluepill"):
        if building.identify(load_target(name).toolchain) is None:
            continue

        def cold(name: str = name) -> float:
            home = Path(tempfile.mkdtemp(dir=folder))
            return _cpu(["run", PRIMARY, "-t", name], home)[0]

        text = f"ascon128v12/fast on {name}, nothing cached: toolchain, harness, nocrypt, all vectors"
        yield text, f"{median(cold):.2f} CPU s", "FELICS-AE 1.9 to 16 CPU s (published)", "-", "< 1 CPU s"


def _eight(folder: Path) -> Iterator[Row]:
    eight = ["run", *EIGHT, "-t", "atmega128", "-f", "-O3", "-w", "felics-ae"]
    home = folder / "eight"

    def fresh() -> float:
        shutil.rmtree(home, ignore_errors=True)
        return _cpu(eight, home)[0]

    first, their, ratio = _beside_felics_ae(fresh)
    yield "eight on atmega128, all vectors, nothing cached", f"{first:.2f} CPU s", their, ratio, "4.6x; < 3"
    again = median(lambda: _cpu(eight, home)[0])
    yield "the same, all stored", f"{again:.2f} CPU s", their, "-", "-"


def _stored(folder: Path) -> Iterator[Row]:
    home = folder / "hundred"
    flags = ";".join(("-O1", "-O2", "-O3", "-Os", "-Og"))
    hundred = ["run", "tinyjambu*", "ascon*aead*", "ascon128*", "-f", flags, "-w", "kat"]
    first = _cpu(hundred, home)[1]
    count = len(_records(home, hundred))
    cached = median(lambda: _cpu(hundred, home)[1])
    yield f"campaign of {count} runs, all stored", f"{cached:.2f} s", f"first time {first:.1f} s", "-", "< 1 s"


def _threads(folder: Path) -> Iterator[Row]:
    twenty = ["run", "ascon*aead*", "tinyjambu*", "gift*", "-t", "bluepill,uno", "-f", "-O2", "-w", "kat"]

    def campaign(threads: int) -> float:
        home = Path(tempfile.mkdtemp(dir=folder))
        return _cpu([*twenty, "-j", str(threads)], home)[1]

    one, two = median(lambda: campaign(1), 3), median(lambda: campaign(2), 3)
    count = len(_records(folder / "twenty", twenty))
    yield (
        f"campaign of {count} runs, two targets",
        f"{two:.1f} s, 2 threads",
        f"{one:.1f} s, 1",
        f"{one / two:.2f}x",
        "1.8",
    )


def _block_ciphers(folder: Path) -> Iterator[Row]:
    """Both portable implementations of every block cipher, verified in both directions with their key schedules: of
    QARMA-64 one set of parameters, which makes 44 variants, and all."""
    blocks = [i for i in bundled()[0] if i.primitive == "crypto_block" and i.name in ("ref", "fast")]
    every = [i for i in blocks if i.variant != "nocrypt"]
    for some in ([i for i in every if i.family != "qarma64" or i.variant == "qarma64sigma1r7"], every):
        campaign = ["run", *(i.label for i in some), "-t", "uno,bluepill", "-w", "kat"]
        home = Path(tempfile.mkdtemp(dir=folder))
        text = f"{len({i.variant for i in some})} block ciphers, {len(some)} implementations, on two targets"
        yield f"{text}, nothing cached", f"{_cpu(campaign, home)[0]:.1f} CPU s, once", "-", "-", "< 60 CPU s for 44"
        again = median(partial(_cpu_again, campaign, home))
        yield "the same, all stored", f"{again:.2f} CPU s", "-", "-", "< 1 CPU s"


def _cpu_again(arguments: list[str], home: Path) -> float:
    return _cpu(arguments, home)[0]


#: what is measured of whole commands
COMMANDS: dict[str, Callable[[Path], Iterable[Row]]] = {
    "one cipher, nothing cached": _cold,
    "eight on atmega128": _eight,
    "campaign, all stored": _stored,
    "campaign, two targets": _threads,
    "block ciphers": _block_ciphers,
    "block ciphers beside FELICS's": answers.block_ciphers,
    "an answer from many records": lambda place: answers.choice(
        place, lambda asked, home: _cpu(asked, home)[1], median
    ),
}


def _records(home: Path, arguments: list[str]) -> list[object]:
    environment = os.environ | {"STEELYARD_HOME": str(home)}
    out = subprocess.run(
        [*STEELYARD, *arguments, "--json"], env=environment, capture_output=True, text=True, check=False
    )
    return list(json.loads(out.stdout)["runs"])


def main() -> None:
    """Prints the tables: all of them, or only ``speed``, ``commands``, ``boards`` or ``hardware``."""
    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    parts = ("speed", "commands", "boards", "hardware")
    wanted = sys.argv[1:] or parts
    if unknown := [part for part in wanted if part not in parts]:
        sys.exit(f"bench: no part is named {unknown[0]}; name some of {', '.join(parts)}, or none for all of them")
    title = f"medians of {RUNS}, processor time; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    headings = ("what", "Steelyard", "peer, same run", "ratio", "must reach")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed Steelyard is compiled once, not at each start
    built = [os.environ["PATH"], *map(str, sorted((paths.home() / "toolchains").glob("*/bin")))]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["STEELYARD_HOME"] = str(Path(folder) / "home")
        os.environ["PATH"] = os.pathsep.join(built)
        say("tables come at the end, after a quarter of an hour or more")
        if "speed" in wanted:
            cores, peers = speed(Path(folder))
            columns = ("target", "core", f"Steelyard, {PRIMARY}", "instructions", "x silicon")
            console.print(table(title, columns, cores, left=2, wrap=("instructions",), complete=WIDER))
            console.print(table("", headings, peers, left=3, wrap=PEERS, complete=WIDER))
        measures = (
            ("commands", commands),
            ("boards", lambda place: list(boards(place, say, why))),
            ("hardware", _hardware),
        )
        for part, measure in measures:
            if part in wanted:
                shown = "" if "speed" in wanted else title
                console.print(table(shown, headings, measure(Path(folder)), left=3, wrap=PEERS, complete=WIDER))


def _hardware(folder: Path) -> list[Row]:
    say("hardware, some minutes")
    try:
        return hardware(folder)
    except Exception as e:
        return [("hardware", why(e), "-", "-", "-")]


if __name__ == "__main__":
    main()
