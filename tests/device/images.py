"""Images that are not ours, for the tests: a program that knows nothing of Steelyard, and ones in assembly."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from steelyard.device import foreign
from steelyard.device.foreign import Experiment, Seen
from steelyard.model.target import Target

#: start-up code of a program that knows nothing of Steelyard
START = """
#if defined(__AVR__)
__asm__(".section .first\\n .global start\\nstart: clr r1\\n rjmp main");
#elif defined(__MSP430__)
__asm__(".section .first,\\"ax\\"\\n .global start\\nstart: mov #0x3800, r1\\n br #main\\n"
        ".section .vector,\\"a\\"\\n .word start");
#elif defined(__arm__)
int main(void);
__attribute__((section(".first"), used)) const void *const vectors[] = {(void *)(RAM + 0x1000), (void *)main};
#elif defined(__riscv)
__asm__(".section .first,\\"ax\\"\\n .global start\\nstart: li sp, RAM+0x1000\\n j main");
#else
__asm__(".section .text.first,\\"ax\\"\\n .align 4\\n .literal_position\\n .global start\\n"
        "start: movi a1, RAM+0x1000\\n j main");
#endif
"""
#: such a program, without a header
PROGRAM = """
volatile unsigned kept = 5;
unsigned char sent[4];
__attribute__((noinline)) unsigned work(unsigned n, unsigned char *to)
{
    unsigned i;
    for (i = 0; i < n; i++)
        to[i & 3] = (unsigned char)(to[i & 3] + i * 3u);
    return n + kept;
}
__attribute__((noinline)) void crash(void)
{
    *(volatile unsigned char *)NOWHERE = 1;
    *(volatile unsigned char *)UNKNOWN = 1;
}
int main(void)
{
    unsigned k;
    kept = 9;
    for (k = 0; k < 3; k++)
        work(40, sent);
    *(volatile unsigned char *)UNKNOWN = 7;
    kept = *(volatile unsigned char *)UNKNOWN;
    for (;;)
        ;
}
"""
LAYOUT = """
ENTRY(start)
SECTIONS
{
    . = FLASH;
    .text :
    {
        KEEP(*(.first)) *(.literal.first .text.first) *(.literal .literal.*) *(.text .text.*)
        *(.rodata .rodata.* .srodata .srodata.*)
    }
    .data DATA : AT(LOADADDR(.text) + SIZEOF(.text)) { *(.data .data.* .sdata .sdata.*) }
    .bss : { *(.bss .bss.* .sbss .sbss.* COMMON) }
    VECTOR
    /DISCARD/ : { *(.comment) *(.note*) *(.eh_frame*) *(.ARM.*) *(.xtensa.info) *(.MSP430.attributes) }
}
"""
#: a register of each chip without a model, and an address where nothing is
ISAS = {
    "uno": (0xB2, 0x3000),
    "bluepill": (0x40000024, 0x30000000),
    "gd32vf103": (0x40000024, 0x30000000),
    "maixduino": (0x502D0004, 0x30000000),
    "msp430f1611": (0x1A2, 0x300),
    "esp8266": (0x60000F00, 0x30000000),
}


def built(folder: Path, target: Target, program: str = PROGRAM, *defined: str) -> Path:
    """A program for a target, as an ELF file; with the C library where macros are ``defined``."""
    unknown, nowhere = ISAS[target.name]
    chip, spec = target.chip, target.toolchain
    avr = spec.family == "avr"
    data = chip.ram.base + (0x800000 if avr else 0)
    words = {"FLASH": hex(chip.flash.base), "DATA": hex(data), "VECTOR": ""}
    if spec.family == "msp430":
        words["VECTOR"] = ".vector 0xFFFE : AT(0xFFFE) { KEEP(*(.vector)) }"
    layout = LAYOUT
    for name, value in words.items():
        layout = layout.replace(name, value)
    (folder / "program.c").write_text((START + program).replace("RAM+", f"{chip.ram.base:#x}+"))
    (folder / "program.ld").write_text(layout)
    defines = [f"-DUNKNOWN={unknown:#x}", f"-DNOWHERE={nowhere:#x}", f"-DRAM={chip.ram.base:#x}", *defined]
    flags = [*spec.flags, "-Os", "-ffreestanding", "-fno-pic", *defines]
    subprocess.run([spec.compiler, *flags, "-c", "program.c", "-o", "program.o"], cwd=folder, check=True)
    link = [spec.linker, "-n"] if spec.linker else [spec.compiler, *spec.flags, "-nostdlib", "-nostartfiles", "-Wl,-n"]
    libraries = [*spec.link, "-lc", "-lgcc"] if defined else []
    made = [*link, "-T", "program.ld", "program.o", *libraries, "-o", "program.elf"]
    subprocess.run(made, cwd=folder, check=True)
    return folder / "program.elf"


def assembled(folder: Path, target: Target, program: str) -> bytes:
    """``program``, in which functions have an @ before their names."""
    ram = f".equ RAM, {target.chip.ram.base:#x}\n"
    (folder / "a.s").write_text(ram + re.sub(r"@(\w+):", r".globl \1\n.type \1, %function\n\1:", program))
    return linked(folder, target)


def linked(folder: Path, target: Target) -> bytes:
    """``a.s`` in ``folder``, where the target's flash begins."""
    spec = target.toolchain
    place = f"-Wl,-Ttext={target.chip.flash.base:#x}"
    link = [spec.compiler, *spec.flags, "-nostdlib", "-nostartfiles", place, "a.s", "-o", "a.elf"]
    subprocess.run(link, cwd=folder, check=True)
    return (folder / "a.elf").read_bytes()


def from_reset(target: Target, program: str) -> list[tuple[int, bytes]]:
    """Code in hexadecimal where the chip begins, with the vector that leads there where a core has it elsewhere."""
    base = target.chip.flash.base
    vector = [(0xFFFE, base.to_bytes(2, "little"))] if target.toolchain.family == "msp430" else []
    return [(base, bytes.fromhex(program)), *vector]


def run(target: Target, image: bytes | list[tuple[int, bytes]], base: int | None = None, **asked: object) -> Seen:
    given = image if base is None else [(base, image)]
    return foreign.run(target, given, Experiment(**{"cycles": 3_000_000, "seconds": 60.0, **asked}))  # type: ignore[arg-type]
