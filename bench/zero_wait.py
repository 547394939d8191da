"""Code of others on cores whose memory does not wait, beside the cycles that its authors measured.

usage: bench/zero_wait.py CHECKOUTS [RULES]

CHECKOUTS holds clones of the repositories of docs/validation/arm-zero-wait.md, each in a folder named after it:
``aes-armcortexm``, ``aes``, ``X25519-Cortex-M4``, ``nist-lwc-benchmark``. Each function, unmodified, is called alone,
from its first instruction to its return, as ``steelyard sim --call`` does; what it computes is checked where an answer
is known. That of the last one is in an image that its authors compiled, whose figures they published too.
Prints the errors, and puts them into docs/validation/arm-zero-wait.csv. RULES is what a changed model is called there,
such as ``refill 2``; ``bench/fidelity.py page`` makes the page's table of all that are there.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from fidelity_pages import BINARY, TODAY, ZeroWait, put_zero_waits

from steelyard import _native
from steelyard.device import foreign
from steelyard.device.foreign import Experiment, Seen
from steelyard.model.target import Target, load_target

#: a target with each core
CORES = {"cortex-m3": "bluepill", "cortex-m4": "stm32f407"}
KEY, NONCE, BLOCKS = bytes(range(32)), bytes(12), 256
#: a block, and it under the first 16 bytes of the key (FIPS 197, C.1) and under all 32 (C.3)
BLOCK = bytes.fromhex("00112233445566778899aabbccddeeff")
UNDER = {
    128: bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a"),
    256: bytes.fromhex("8ea2b7ca516745bfeafc49904b496089"),
}
#: X25519 of this scalar and point (RFC 7748, 5.2)
SCALAR = bytes.fromhex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4")
POINT = bytes.fromhex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c")
SHARED = bytes.fromhex("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552")

Argument = bytes | tuple[int, int]


class Case(NamedTuple):
    """What was published: cycles by core, of one of ``units`` of a call. ``how`` says which call it is, of functions of
    these files."""

    repository: str
    code: str
    tables: str
    published: dict[str, float]
    units: int
    files: tuple[str, ...]
    how: str
    bits: int = 0


def _ko(bits: int, code: str, m3: float, m4: float, how: str, units: int = 1, variant: str = "") -> Case:
    name = f"aes_{bits}_ctr{variant}" if variant or how == "ctr" or bits != 128 else "aes"
    folder = name.replace("_", "") if name != "aes" else "aes128"
    tables = "no" if variant and how == "ctr" else "yes"
    file = f"aes-armcortexm/{folder}/{name}.s"
    title = f"AES-{bits} {'bitsliced ' if variant else ''}{code}"
    return Case("Ko-/aes-armcortexm", title, tables, {"cortex-m3": m3, "cortex-m4": m4}, units, (file,), how, bits)


def _fixsliced(bits: int, kind: str, per_byte: float) -> Case:
    files = tuple(f"aes/armcortexm/fixslicing/aes_{n}.s" for n in ("encrypt", "keyschedule"))
    title, how = f"AES-{bits} {kind}-fixsliced, two blocks", {"fully": "ffs", "semi": "sfs"}[kind]
    return Case(
        "aadomn/aes", title.replace("fully-", "fully "), "no", {"cortex-m3": 32 * per_byte}, 1, files, how, bits
    )


def _barrel(bits: int, per_byte: float) -> Case:
    files = tuple(f"aes/armcortexm/barrel_shiftrows/aes_{n}.s" for n in ("encrypt", "keyschedule_lut"))
    title = f"AES-{bits} barrel shiftrows, eight blocks"
    return Case("aadomn/aes", title, "no", {"cortex-m3": 128 * per_byte}, 1, files, "barrel", bits)


def _binary(message: int, data: int, published: float) -> Case:
    file = "nist-lwc-benchmark/cortex_m4_stm32f303vc/Debug/lwc_nist_benchmark_stm32f303vc.elf"
    title = f"{BINARY}, ISAPK128V20 at O1, message {message}, data {data}"
    figures = {"cortex-m4": published}
    return Case("brailovskii/nist-lwc-benchmark", title, "yes", figures, 1, (file,), f"binary {message} {data}", 128)


#: the tables "Performance" of the repositories' READMEs; of the image the column enc(message,data) of its row in
#: `_lwc_benchmark_results/LWC benchmark Results.xlsx`, sheet "AEAD M4 stm32f303vc"
CASES = (
    _ko(128, "key expansion", 249.8, 244.9, "schedule"),
    _ko(128, "single block", 637.5, 634.7, "block"),
    _ko(128, "CTR, 4096 bytes, per block", 531.8, 527.9, "ctr", BLOCKS),
    _ko(192, "key expansion", 232.9, 232.2, "schedule"),
    _ko(192, "CTR, 4096 bytes, per block", 651.0, 644.0, "ctr", BLOCKS),
    _ko(256, "key expansion", 310.8, 309.9, "schedule"),
    _ko(256, "CTR, 4096 bytes, per block", 767.0, 760.7, "ctr", BLOCKS),
    _ko(128, "key expansion", 1024.8, 1021.9, "schedule", variant="_bs"),
    _ko(128, "CTR, 4096 bytes, per block", 1618.6, 1616.6, "ctr", BLOCKS, variant="_bs"),
    _fixsliced(128, "fully", 84.3),
    _fixsliced(128, "semi", 87.1),
    _fixsliced(256, "fully", 115.6),
    _fixsliced(256, "semi", 119.9),
    _barrel(128, 94.8),
    _barrel(256, 127.9),
    Case(
        "Emill/X25519-Cortex-M4",
        "X25519 scalar multiplication",
        "no",
        {"cortex-m4": 548873},
        1,
        ("X25519-Cortex-M4/x25519-cortex-m4-gcc.s",),
        "x25519",
    ),
    _binary(0, 0, 13577739),
    _binary(32, 0, 13772599),
    _binary(0, 32, 13664827),
    _binary(32, 32, 13859590),
)


def ready(core: str) -> Target:
    """A target with that core, whose flash never waits."""
    target = load_target(CORES[core])
    chip = json.loads(target.chip.json) | {"flash_timing": {}}
    return target.but(chip=_native.Chip(json.dumps(chip)))


class Program:
    """Functions of a repository on a core without wait states."""

    def __init__(self, core: str, files: tuple[Path, ...], to: Path) -> None:
        """Assembles and links ``files`` below ``to``; an image is taken as it is."""
        self.target = ready(core)
        if files[0].suffix == ".elf":
            self.image = files[0].read_bytes()
            return
        image = to / "image.elf"
        place = f"-Wl,-Ttext={self.target.chip.flash.base:#x},-e0"
        command = (self.target.toolchain.compiler, f"-mcpu={core}", "-mthumb", "-nostdlib", place, "-o", image)
        subprocess.run((*command, *files), check=True)
        self.image = image.read_bytes()

    def call(self, name: str, *arguments: Argument) -> Seen:
        """Calls a function; pointers point to the bytes that are given."""
        where = foreign.address(self.image, name)
        asked = Experiment(call=where, arguments=arguments, cycles=1 << 30, seconds=600)
        seen = foreign.run(self.target, self.image, asked)
        if seen.end != "returned":
            raise SystemExit(f"{name}: {seen.end} {seen.text}")
        return seen


def expect(is_right: bool, case: Case) -> None:
    """Ends where a function computed something else."""
    if not is_right:
        raise SystemExit(f"{case.repository}: {case.code}: a wrong answer")


def weighed(case: Case, program: Program) -> tuple[str, float]:
    """The timing model, and the cycles of the call that was published."""
    key, rounds = KEY[: case.bits // 8], {128: 11, 192: 13, 256: 15}.get(case.bits, 0)
    if case.how in ("schedule", "block", "ctr"):
        bitsliced = "bitsliced" in case.code
        room = rounds * 32 if bitsliced else rounds * 16 - len(key)
        schedule = program.call(f"AES_{case.bits}_keyschedule", key, bytes(room))
        keys = (b"" if bitsliced else key) + bytes(schedule.buffers[1])
        seen = schedule
        if case.how == "block":
            seen = program.call("AES_128_encrypt", keys, BLOCK, bytes(16))
            expect(bytes(seen.buffers[2]) == UNDER[128], case)
        elif case.how == "ctr":
            text = bytes(16 * BLOCKS)
            arguments = (bytes(4) + NONCE + keys, text, text, (len(text), 4))
            seen = program.call(f"AES_{case.bits}_encrypt_ctr", *arguments)
    elif case.how in ("ffs", "sfs"):
        words = {128: 88, 256: 120}[case.bits]
        schedule = program.call(f"aes{case.bits}_keyschedule_{case.how}", bytes(4 * words), key, key)
        keys = bytes(schedule.buffers[0])
        seen = program.call(f"aes{case.bits}_encrypt_{case.how}", bytes(16), bytes(16), BLOCK, BLOCK, keys)
        expect(all(bytes(b) == UNDER[case.bits] for b in seen.buffers[:2]), case)
    elif case.how == "barrel":
        words = {128: 352, 256: 480}[case.bits]
        keys = bytes(program.call(f"aes{case.bits}_keyschedule_lut", bytes(4 * words), key).buffers[0])
        seen = program.call(f"aes{case.bits}_encrypt", bytes(128), keys, 8 * BLOCK)
        expect(bytes(seen.buffers[0]) == 8 * UNDER[case.bits], case)
    elif case.how.startswith("binary"):
        message, data = map(int, case.how.split()[1:])
        opened, sealed = bytes(range(message)), bytes(message + 16)
        header: tuple[Argument, ...] = (bytes(range(data)), (data, 8))
        seen = program.call("crypto_aead_encrypt", sealed, bytes(8), opened, (message, 8), *header, (0, 4), key, key)
        sealed = bytes(seen.buffers[0])
        back: tuple[Argument, ...] = (bytes(message), bytes(8), (0, 4), sealed, (len(sealed), 8))
        again = program.call("crypto_aead_decrypt", *back, *header, key, key)
        expect(bytes(again.buffers[0]) == opened and (again.result or 0) & 0xFFFFFFFF == 0, case)
    else:
        seen = program.call("curve25519_scalarmult", bytes(32), SCALAR, POINT)
        expect(bytes(seen.buffers[0]) == SHARED, case)
    return seen.timing_model, seen.calls[0].cycles / case.units


def main() -> int:
    """Runs the tool; returns its exit code."""
    if len(sys.argv) not in (2, 3) or not (checkouts := Path(sys.argv[1])).is_dir():
        print(__doc__)
        return 0 if sys.argv[1:] in (["--help"], ["-h"]) else 2
    rules = sys.argv[2] if len(sys.argv) > 2 else TODAY
    rows = []
    for case in CASES:
        for core, published in case.published.items():
            with tempfile.TemporaryDirectory() as to:
                program = Program(core, tuple(checkouts / f for f in case.files), Path(to))
                model, cycles = weighed(case, program)
            named = (rules, model, core, case.repository, case.code, case.tables)
            rows.append(ZeroWait(*named, round(published, 1), round(cycles, 1)))
            print(*rows[-1], f"{rows[-1].error:+.2f} %")
    put_zero_waits(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
