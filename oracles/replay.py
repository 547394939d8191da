"""Builds replay images and runs them here and elsewhere."""

from __future__ import annotations

import hashlib
import re
import subprocess
from array import array
from collections.abc import Iterable
from pathlib import Path

from steelyard import _native, build
from steelyard.build.image import _harness_objects
from steelyard.device import frame
from steelyard.device.client import encode
from steelyard.model import paths
from steelyard.model.call import Op, Request
from steelyard.model.implementation import Implementation
from steelyard.model.target import Chip, Region, Target

HERE = Path(__file__).parent
#: the QEMU machine has its flash at 0
QEMU_FLASH = 0
_OPERATION = {"crypto_aead": "aead-3", "crypto_hash": "hash-3", "crypto_cxof": "cxof-3"}


def requests(
    implementation: Implementation, target: Target, image: Path, sizes: Iterable[tuple[int, int]]
) -> list[Request]:
    """Calls on pseudo-random inputs of the given (associated data, message) bytes: forward, back, forged.

    Ciphertexts come from the measured image itself.
    """
    from steelyard.device import Client, SimulatorLink

    client = Client(SimulatorLink(target, image))
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


def link(
    implementation: Implementation,
    target: Target,
    flags: tuple[str, ...],
    calls: Iterable[Request],
    folder: Path,
    *,
    flash_at_zero: bool = False,
    rounds: int = 1,
) -> Path:
    """An image that replays ``calls`` ``rounds`` times and stops; made of the measured image's objects."""
    spec = target.toolchain
    toolchain = build.identify(spec)
    assert toolchain is not None
    built = build.build(implementation, target, toolchain, flags)
    assert built.failure is None, built.failure
    objects = _harness_objects(target, toolchain)
    blob = b"".join([frame.encode(frame.HELLO), *(encode(c) for c in calls)])
    (folder / "blob.bin").write_bytes(blob)
    section = ".progmem.replay" if spec.family == "avr" else ".rodata.replay"
    (folder / "blob.S").write_text(
        f'.section {section},"a"\n.global sy_replay, sy_replay_end\n'
        'sy_replay: .incbin "blob.bin"\nsy_replay_end: .byte 0\n'
    )
    script = (target.folder / "link.ld").read_text()
    if flash_at_zero:
        script = script.replace(f"{target.chip.flash.base:#010x}", f"{QEMU_FLASH:#x}")
    (folder / "link.ld").write_text(script)
    extra = [str(HERE / "replay.c"), "blob.S"] + ([str(HERE / "mmcu.S")] if spec.family == "avr" else [])
    harness = [str(o) for o in objects.glob("*.o") if "-" not in o.stem]
    command = [
        spec.compiler,
        *spec.flags,
        "-Os",
        f"-DROUNDS={rounds}L",
        f"-I{paths.HARNESS}",
        f"-I{target.folder}",
        *spec.link,
        "-Tlink.ld",
    ]
    command += ["-Wl,--gc-sections", *(f"-Wl,--wrap={n}" for n in ("sy_getc", "sy_putc", "sy_target_init"))]
    if spec.family == "avr":
        command += ["-Wl,--undefined=_mmcu,--section-start=.mmcu=0x910000"]
    command += [*harness, str(objects / f"{_OPERATION[implementation.primitive]}.o"), "-x", "none"]
    command += [str(built.folder / "params.o"), str(built.folder / "implementation.o"), *extra, "-o", "replay.elf"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "replay.elf"


def ours(target: Target, image: Path, *, flash_at_zero: bool = False) -> tuple[_native.Simulator, list[int]]:
    """Runs a replay image here: the simulator afterwards, and the cycles of each trigger pulse."""
    simulator = _native.Simulator(chip_json(target, flash_at_zero))
    simulator.load(image.read_bytes())
    try:
        simulator.exchange(b"", 1 << 40)
    except _native.SimulatorFault as e:
        if e.args[0] not in ("unsupported", "trap"):  # SLEEP or BKPT: the end
            raise
    return simulator, [cycles for cycles, _, _ in simulator.calls()]


def chip_json(target: Target, flash_at_zero: bool) -> str:
    """The chip's description, its flash moved where QEMU's machine has it."""
    if not flash_at_zero:
        return target.chip_json
    flash = Region(base=QEMU_FLASH, size=1 << 20)
    chip: Chip = target.chip.model_copy(update={"flash": flash, "flash_in_data": QEMU_FLASH})
    return target.model_copy(update={"chip": chip}).chip_json


def simavr(image: Path) -> list[int]:
    """Runs a replay image in simavr: the cycles of each trigger pulse."""
    vcd = image.parent / "pin.vcd"
    vcd.unlink(missing_ok=True)
    subprocess.run(["simavr", image.name], cwd=image.parent, capture_output=True, timeout=300, check=False)
    edges, at = [], 0
    text = vcd.read_text()
    assert text.startswith("$timescale 10ns "), text[:40]
    for line in text.partition("$enddefinitions")[2].splitlines()[1:]:
        if line.startswith("#"):
            at = int(line[1:]) // 100
        elif line[:1] in "01" and line:
            edges.append((at, line[0] == "1"))
    while edges and not edges[0][1]:
        edges.pop(0)
    return [fall - rise for (rise, _), (fall, _) in zip(edges[::2], edges[1::2], strict=True)]


#: QEMU's board for each core, with flash at 0 and RAM at 0x20000000; a Cortex-M3 has what a Cortex-M0+ has
QEMU_MACHINES = {
    "cortex-m0plus": "mps2-an385",
    "cortex-m3": "mps2-an385",
    "cortex-m4": "mps2-an386",
    "cortex-m7": "mps2-an500",
}

#: QEMU's view before each instruction: r0 .. r15, xPSR
State = tuple[int, ...]


def qemu_trace(image: Path, machine: str = "mps2-an385") -> list[State]:
    """Runs a replay image in QEMU, one instruction at a time: all states until it stops."""
    log = image.parent / "qemu.log"
    command = ["qemu-system-arm", "-M", machine, "-nographic", "-semihosting", "-kernel", str(image)]
    command += ["-singlestep", "-d", "cpu,nochain", "-D", str(log)]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True)
    values = [int(v, 16) for v in re.findall(r"(?:R\d\d|XPSR)=([0-9a-f]{8})", log.read_text())]
    log.unlink()
    return list(zip(*(values[n::17] for n in range(17)), strict=True))


def our_trace(target: Target, image: Path, count: int) -> tuple[_native.Simulator, list[State]]:
    """The same here: at most ``count`` states."""
    simulator = _native.Simulator(chip_json(target, flash_at_zero=True))
    simulator.load(image.read_bytes())
    names = simulator.registers
    words = array("I", simulator.trace(count))
    order = [names.index(n) for n in (*(f"r{k}" for k in range(13)), "sp", "lr", "pc", "xpsr") if n in names]
    assert len(order) == 17, names
    return simulator, list(zip(*(words[n :: len(names)] for n in order), strict=True))


def first_difference(simulator: _native.Simulator, mine: list[State], theirs: list[State]) -> str | None:
    """None when both went the same way; else the first diverging instruction with both states.

    QEMU also shows the instructions inside an IT block one by one; they are passed over. Flags are
    unknown after reset (DDI 0403, B1.5.5), so they count from when both have set them alike.
    """
    flags, at = 0, 0
    for n, state in enumerate(mine):
        while at < len(theirs) and theirs[at][15] != state[15] and at < n * 5 + 8:
            at += 1
        if at == len(theirs):
            return f"QEMU stops before state {n}, at pc {state[15]:#x}"
        other = theirs[at]
        same = state[:14] == other[:14] and state[15] == other[15] and (state[16] ^ other[16]) & flags == 0
        if (state[16] ^ other[16]) & 0xF800_0000 == 0:
            flags = 0xF800_0000
        if not same and n:
            before = mine[n - 1]
            text = simulator.disassemble(before[15])
            rows = (f"{name}: {_hex(s)}" for name, s in (("before", before), ("ours", state), ("QEMU", other)))
            return f"after {text!r} at {before[15]:#x}, state {n}:\n" + "\n".join(rows)
        at += 1
    return None


def _hex(state: State) -> str:
    return " ".join(f"{v:08x}" for v in state)
