"""Builds images that the oracles can run: replays of measured calls, and the torture programs."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from steelyard import _native, building
from steelyard.building.image import harness_objects
from steelyard.device import frame
from steelyard.device.client import encode
from steelyard.model import paths
from steelyard.model.call import Op, Request
from steelyard.model.implementation import Implementation
from steelyard.model.record import Toolchain
from steelyard.model.target import Chip, Target

HERE = Path(__file__).parent
#: QEMU's Arm boards have their flash at 0
QEMU_FLASH = 0
#: pulses with which an AVR image tells its sum at the end
SUM_PULSES = 32
_OPERATION = {"crypto_aead": "aead-3", "crypto_hash": "hash-3", "crypto_cxof": "cxof-3"}


class DoesNotFit(Exception):
    """The replay is larger than the chip's flash or RAM."""


def requests(
    implementation: Implementation, target: Target, image: Path, sizes: Iterable[tuple[int, int]]
) -> list[Request]:
    """Calls on pseudo-random inputs of the given (associated data, message) bytes: forward, back, forged.

    Ciphertexts come from the measured image itself.
    """
    from steelyard.device import simulated

    client = simulated(target, image)
    stream = hashlib.shake_256(b"replay").digest(4096)
    hello, calls = client.hello, []
    for n, (a, m) in enumerate(sizes):
        key, npub = stream[n : n + hello.key_bytes], stream[n + 99 : n + 99 + hello.npub_bytes]
        forward = Request(Op.ENCRYPT, key, npub, stream[-a:] if a else b"", stream[200 : 200 + m])
        calls.append(forward)
        if implementation.primitive == "crypto_aead":
            text = client.call(forward).output
            calls.append(Request(Op.DECRYPT, key, npub, forward.ad, text))
            if text:
                calls.append(Request(Op.DECRYPT, key, npub, forward.ad, text[:-1] + bytes((text[-1] ^ 1,))))
    return calls


def moved(target: Target) -> int | None:
    """Where the oracle of a target has its flash, if not at the same address: one for programs and data on RISC-V."""
    if target.toolchain.family == "thumb":
        return QEMU_FLASH
    by_data: int | None = json.loads(target.chip.json)["flash_in_data"]
    return by_data if target.toolchain.family == "riscv" and by_data != target.chip.flash.base else None


def link(
    implementation: Implementation,
    target: Target,
    flags: tuple[str, ...],
    calls: Iterable[Request],
    folder: Path,
    *,
    rounds: int = 1,
) -> Path:
    """An image that replays ``calls`` ``rounds`` times and stops; made of the measured image's objects."""
    toolchain = _toolchain(target)
    built = building.build(implementation, target, toolchain, flags)
    assert built.failure is None, built.failure
    blob = b"".join([frame.encode(frame.HELLO), *(encode(c) for c in calls)])
    (folder / "blob.bin").write_bytes(blob)
    section = ".progmem.replay" if target.toolchain.family == "avr" else ".rodata.replay"
    (folder / "blob.S").write_text(
        f'.section {section},"a"\n.global sy_replay, sy_replay_end\n'
        'sy_replay: .incbin "blob.bin"\nsy_replay_end: .byte 0\n'
    )
    wrap = [f"-Wl,--wrap={n}" for n in ("sy_getc", "sy_putc", "sy_target_init")]
    operation = _OPERATION[implementation.primitive] if implementation.interface == "nist" else "felics-3"
    if target.toolchain.family == "avr":
        parts = [*map(str, harness_objects(target, toolchain, operation)[operation]), "-x", "none"]
    else:  # whose oracles have no pin that could be read, and other values in the counter
        stem, numbers = operation.split("-")
        objects = [o for o in harness_objects(target, toolchain)[""] if o.stem not in ("main", "tally")]
        parts = [*map(str, objects), "-x", "none", f"-I{paths.HARNESS}/include", "-DSY_NO_PIN", "-DSY_NO_COUNTER"]
        parts += [f"-DSY_PARTS={numbers}", *(str(paths.HARNESS / f"{n}.c") for n in ("main", "tally", stem))]
    parts += [str(built.folder / "params.o"), str(built.folder / "implementation.o"), str(HERE / "replay.c"), "blob.S"]
    _link(target, ["-Os", f"-DROUNDS={rounds}L", *wrap, *parts], folder, "replay.elf")
    # the trigger signals its end, outside the harness: without this symbol edges are not watched
    objcopy = shutil.which(f"{target.toolchain.prefix}objcopy", path=paths.search_path())
    assert objcopy is not None
    subprocess.run([objcopy, "--localize-symbol=sy_request", "replay.elf"], cwd=folder, check=True)
    return folder / "replay.elf"


def torture(target: Target, flag: str, folder: Path) -> Path:
    """The programs in ``torture/``, compiled with ``flag`` and linked to the target's start-up code."""
    objects = harness_objects(target, _toolchain(target))[""]
    parts = [str(o) for o in objects if o.stem not in ("main", "heap")]
    parts += ["-x", "none", *(str(c) for c in sorted((HERE / "torture").glob("*.c")))]
    name = f"torture{flag}.elf"
    # newer compilers would optimise the intended library calls away
    _link(target, [flag, "-std=gnu99", "-fno-builtin-memcmp", *parts], folder, name)
    return folder / name


def painted(implementation: Implementation, target: Target, flags: tuple[str, ...], folder: Path) -> Path:
    """``stack.c`` around the measured image's objects: an AVR image that reports how much stack the calls took."""
    toolchain = _toolchain(target)
    built = building.build(implementation, target, toolchain, flags)
    assert built.failure is None, built.failure
    parts = [str(o) for o in harness_objects(target, toolchain)[""] if o.stem not in ("main", "heap")]
    own = (str(built.folder / "implementation.o"), "-x", "none", str(HERE / "stack.c"))
    _link(target, ["-Os", f"-I{paths.HARNESS / 'include'}", *parts, *own], folder, "stack.elf")
    return folder / "stack.elf"


def _toolchain(target: Target) -> Toolchain:
    toolchain = building.identify(target.toolchain)
    assert toolchain is not None, f"{target.toolchain.compiler} is not installed"
    return toolchain


def _link(target: Target, parts: list[str], folder: Path, name: str) -> None:
    """Compiles and links in ``folder``, with flash at the oracle's address."""
    spec = target.toolchain
    script = (target.folder / "link.ld").read_text()
    if (flash := moved(target)) is not None:
        script = script.replace(f"{target.chip.flash.base:#010X}".replace("X", "x"), f"{flash:#x}")
    (folder / "link.ld").write_text(script)
    compiler = shutil.which(spec.compiler, path=paths.search_path())
    assert compiler is not None
    command = [compiler, *spec.flags, f"-I{paths.HARNESS}", f"-I{target.folder}", *spec.link]
    command += ["-Tlink.ld", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]
    if target.chip.core in ("avr25", "avr5", "avr51"):  # simavr has no other
        command += ["-Wl,--undefined=_mmcu,--section-start=.mmcu=0x910000", str(HERE / "mmcu.S")]
    if not spec.linker:
        _run([*command, *parts, "-o", name], folder)
        return
    words = [w for w in (*command[1:], *parts) if w not in ("-x", "none")]
    linking = [w for w in words if w.startswith(("-Wl,", "-T"))]
    sources = [w for w in words if w.endswith((".c", ".S"))]
    objects = [w for w in words if w.endswith(".o")]
    options = [w for w in words if w not in (*linking, *sources, *objects)]
    for n, source in enumerate(sources):
        _run([compiler, *options, "-c", source, "-o", f"{name}.{n}.o"], folder)
        objects.append(f"{name}.{n}.o")
    own = (o for w in linking for o in w.removeprefix("-Wl,").split(","))
    _run([spec.linker, *own, *objects, "-o", name], folder)


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if found := re.search(r"region .* overflowed by \d+ bytes?", done.stderr):
        raise DoesNotFit(found[0])
    assert done.returncode == 0, done.stderr


def simulator(target: Target, image: Path) -> _native.Simulator:
    """Our simulator with an image of this module in it, at its start."""
    chip = target.chip
    if (base := moved(target)) is not None:
        size = 1 << 20 if base == QEMU_FLASH else chip.flash.size
        chip = Chip(json.dumps({**json.loads(chip.json), "flash": {"base": base, "size": size}, "flash_in_data": base}))
    machine = _native.Simulator(chip)
    machine.load(image.read_bytes())
    return machine


def ours(target: Target, image: Path) -> tuple[_native.Simulator, list[int]]:
    """Runs an image here: the simulator afterwards, and the cycles of each trigger pulse."""
    machine = simulator(target, image)
    try:
        machine.exchange(b"", 1 << 40)
    except _native.SimulatorFault as e:
        # the end: SLEEP, a breakpoint, on MSP430 a word that is not an instruction
        if e.args[0] not in ("unsupported", "trap") and (e.args[0], target.chip.core) != ("bad-opcode", "msp430"):
            raise
    return machine, [cycles for cycles, *_ in machine.calls()]
