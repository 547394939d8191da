"""What ``sim`` says where no model goes: of counters, settings, interrupts, traps and memories without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.analyse.errors import of_model
from tests.conftest import the_target

from .conftest import Cli
from .programs import VECTORS, assembled


def test_a_register_of_the_core_that_a_loop_reads_is_told(cli: Cli, tmp_path: Path) -> None:
    assembled(tmp_path, "    .option arch, +zicsr\n_start: csrr a0, minstret\n    j _start\n", "gd32vf103")
    assert json.loads(cli("sim x.elf -t gd32vf103 --json").out)["round"] == [{"address": None, "name": "minstret"}]
    assert "In each round it reads minstret, and may wait" in cli("sim x.elf -t gd32vf103").out


#: SysTick counts down from 2^24 minus 1, and is asked for COUNTFLAG; in no register or memory is anything new
COUNTFLAG = f"""{VECTORS}    ldr r0, =0xE000E010
    ldr r1, =0xFFFFFF
    str r1, [r0, #4]
    str r1, [r0, #8]
    movs r2, #5
    str r2, [r0]
1:  ldr r1, [r0]
    lsrs r1, r1, #17
    mov r1, r0
    bcc 1b
    bkpt 0
    .pool
"""
#: counts cycles until their number has bit 23
CYCCNT = f"""{VECTORS}    ldr r0, =0xE000EDFC
    ldr r1, =0x01000000
    str r1, [r0]
    ldr r0, =0xE0001000
    movs r1, #1
    str r1, [r0]
1:  ldr r1, [r0, #4]
    lsrs r1, r1, #24
    mov r1, r0
    bcc 1b
    bkpt 0
    .pool
"""
#: asks its serial port for a byte until the timer, which goes round every 2^16 cycles, has had its high bit 99 times
TIMEOUT = """
_start: ldi r16, 1
    sts 0x81, r16
    ldi r24, 99
1:  lds r18, 0xC0
    lds r19, 0x84
    lds r19, 0x85
    mov r20, r19
    clr r18
    sbrs r20, 7
    rjmp 3f
    clr r19
    clr r20
2:  lds r19, 0x84
    lds r19, 0x85
    mov r20, r19
    clr r19
    sbrc r20, 7
    rjmp 2b
    dec r24
    breq 4f
3:  clr r19
    clr r20
    rjmp 1b
4:  break
"""


@pytest.mark.parametrize(
    ("target", "source"), [("mkrzero", COUNTFLAG), ("stm32l053", COUNTFLAG), ("stm32f407", CYCCNT), ("uno", TIMEOUT)]
)
def test_who_looks_at_a_counter_waits_for_its_end(cli: Cli, tmp_path: Path, target: str, source: str) -> None:
    assembled(tmp_path, source, target)
    said = json.loads(cli(f"sim x.elf -t {target} --json").out)
    assert (said["end"], said["fault"]) == ("breakpoint", None), said["end"]
    assert said["cycles"] > 4_000_000, "more than one look at what the program does"
    assert not said["unmodelled"]
    assert not said["interrupts"]


#: the timer counts every eighth cycle, which no model does, and is asked once
DIVIDED = """
_start: ldi r16, 2
    sts 0x81, r16
    lds r17, 0x84
    break
"""
#: the same of a SysTick at its other clock
OTHER_CLOCK = f"""{VECTORS}    ldr r0, =0xE000E010
    movs r1, #1
    str r1, [r0]
    ldr r1, [r0, #8]
    bkpt 0
    .pool
"""


@pytest.mark.parametrize(
    ("target", "source", "used"),
    [("uno", DIVIDED, {0x81, 0x84}), ("bluepill", OTHER_CLOCK, {0xE000E010, 0xE000E018})],
)
def test_a_counter_that_goes_on_without_a_model_is_named(
    cli: Cli, tmp_path: Path, target: str, source: str, used: set[int]
) -> None:
    assembled(tmp_path, source, target)
    said = json.loads(cli(f"sim x.elf -t {target} --json").out)
    assert {u["address"] for u in said["unmodelled"]} == used


def sets(before: dict[int, int], after: dict[int, int] | None = None) -> str:
    """A program for Arm that writes words to registers, calls ``f``, and writes others."""
    written = [
        "\n".join(f"    ldr r0, ={at}\n    ldr r1, ={v}\n    str r1, [r0]" for at, v in some.items())
        for some in (before, after or {})
    ]
    return f"""{VECTORS}    bl g
    bl f
{written[1]}
    bkpt 0
    .globl f, g
    .type f, %function
    .type g, %function
f:  bx lr
g:
{written[0]}
    bx lr
    .pool
"""


#: the clock of the Due, without its watchdog
DUE = {0x400E1A54: 0x8000, 0x400E0620: 0x1370809, 0x400E0628: 0x200D3F01, 0x400E0630: 0x12}
#: what programs make of clocks, flash and caches, and what of it is not as our figures take it, by register
SETTINGS = {
    "flash waits, caches off": (
        "stm32f407",
        sets({0x40023C00: 5, 0x40023804: 0x433008, 0x40023808: 0xA}),
        {"FLASH_ACR": (5, "cycles")},
    ),
    "flash waits after the call": ("stm32f407", sets({0x40023804: 0x433008, 0x40023808: 2}, {0x40023C00: 5}), {}),
    "another PLL": (
        "stm32f407",
        sets({0x40023804: 0x405408, 0x40023808: 2}),
        {"RCC_PLLCFGR": (0x405408, "seconds")},
    ),
    "after reset": ("bluepill", sets({}), {"FLASH_ACR": (0x10, "cycles"), "RCC_CFGR": (0, "seconds")}),
    "no prefetch": ("bluepill", sets({0x40022000: 2, 0x40021004: 0x1D0402}), {"FLASH_ACR": (2, "cycles")}),
    "cache off": ("nrf52840", sets({}), {"NVMC_ICACHECNF": (0, "cycles")}),
    "cache on": ("nrf52840", sets({0x4001E540: 0x101}), {}),
    "five wait states": (
        "due",
        sets({0x400E0A00: 0x500, 0x400E0C00: 0x400, **DUE}),
        {"EEFC0_FMR": (0x500, "cycles")},
    ),
    "half of the PLL": (
        "due",
        sets({0x400E0A00: 0x400, 0x400E0C00: 0x400, **DUE, 0x400E0630: 0x1012}),
        {"PMC_MCKR": (0x1012, "seconds")},
    ),
    "the RC oscillator, and the watchdog": (
        "due",
        sets({0x400E0A00: 0x400, 0x400E0C00: 0x400, **DUE, 0x400E0620: 0x370009, 0x400E1A54: 0x2000}),
        {"CKGR_MOR": (0, "seconds"), "WDT_MR": (0, "watchdog")},
    ),
    "cache disabled": (
        "mkrzero",
        sets({0x41004004: 0x40006, 0x40000824: 6, 0x4000082C: 0x5B9, 0x40000C04: 0x10700, 0x40000C08: 0x301}),
        {"NVMCTRL_CTRLB": (0x40006, "cycles")},
    ),
    "another generator has the DFLL": (
        "mkrzero",
        sets({0x41004004: 2, 0x40000824: 6, 0x4000082C: 0x5B9, 0x40000C04: 0x10703, 0x40000C08: 0x200}),
        {"GCLK_GENCTRL of generator 0": (0x600, "seconds"), "GCLK_GENDIV of generator 0": (0x200, "seconds")},
    ),
    "half of the crystal": (
        "rp2040",
        sets({0x4000803C: 1, 0x40028000: 2, 0x40028008: 125, 0x4002800C: 0x62000}),
        {"PLL_SYS_CS": (2, "seconds")},
    ),
    "a fourth of the oscillator": (
        "stm32l053",
        sets({0x40022000: 3, 0x40021000: 0x309, 0x4002100C: 0x440003}),
        {"RCC_CR": (8, "seconds")},
    ),
    "the other oscillator": (
        "leonardo",
        "_start: clr r16\n sts 0xC5, r16\n rcall f\n break\nf: ret\n",
        {"CLKSEL0": (0, "seconds")},
    ),
    "a watchdog that stays on": (
        "msp430f1611",
        "_start: mov #0x1400, r1\n mov.b #0, &0x57\n mov.b #0x88, &0x58\n call #f\n1: jmp 1b\nf: ret\n"
        " .org 0xBFFE\n .word _start\n",
        {"WDTCTL": (0, "watchdog")},
    ),
    "no accelerator": (
        "nucleo-f746zg",
        sets({0x40023C00: 7, 0x40023804: 0x403604, 0x40023808: 2}),
        {"FLASH_ACR": (7, "cycles")},
    ),
    "a prescaler": (
        "uno",
        "_start: ldi r16, 0x80\n sts 0x61, r16\n ldi r16, 3\n sts 0x61, r16\n rcall f\n break\nf: ret\n",
        {"CLKPR": (3, "seconds")},
    ),
    "divided by 3 after reset": ("ch32v003", "_start: call f\n ebreak\nf: ret\n", {"RCC_CFGR0": (0x20, "seconds")}),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_settings_that_figures_are_not_of_are_told(cli: Cli, tmp_path: Path, case: str) -> None:
    target, source, others = SETTINGS[case]
    assembled(tmp_path, source, target)
    said = json.loads(cli(f"sim x.elf -t {target} --trigger f --json").out)
    assert said["counted"] == 1
    assert {s["name"]: (s["value"], s["of"]) for s in said["settings"]} == others
    shown = cli(f"sim x.elf -t {target} --trigger f").out
    of_cycles = any(of == "cycles" for _, of in others.values())
    published = of_model(target, said["timing_model"])
    assert len(said["errors"]) == (0 if of_cycles else len(published))
    assert ("this model with the image's settings" in " ".join(shown.split())) == of_cycles
    for s in said["settings"]:
        assert f"{s['name']} has {s['value']:#x} in its bits {s['mask']:#x} where {s['assumed']:#x} is assumed" in shown
        assert s["follows"] in shown


@pytest.mark.parametrize(("target", "clocks"), [("esp32", (240, 40)), ("esp8266", (80, 52)), ("esp32c3", None)])
def test_a_clock_that_only_an_undocumented_pll_makes_is_told(
    cli: Cli, tmp_path: Path, target: str, clocks: tuple[int, int] | None
) -> None:
    assembled(tmp_path, "_start: ill\n" if target != "esp32c3" else "_start: ebreak\n", target)
    said = " ".join(cli(f"sim x.elf -t {target}").out.split())
    assert ("Seconds are those at" in said) == (clocks is not None)
    if clocks is not None:
        assert f"Seconds are those at {clocks[0]} MHz" in said
        assert f"our start-up code leaves the chip at {clocks[1]} MHz" in said
        nominal, own = (1_000_000 * mhz for mhz in clocks)
        found = json.loads(cli(f"sim x.elf -t {target} --json").out)
        assert (found["clock_hz"], found["board_hz"]) == (nominal, own)
    assert "this watchdog resets the chip" in said, "the boot ROM leaves it on"


def test_a_function_alone_has_the_settings_that_are_assumed_but_for_its_own(cli: Cli, tmp_path: Path) -> None:
    assembled(tmp_path, sets({0x40023C00: 5}), "stm32f407")
    calm, own = (json.loads(cli(f"sim x.elf -t stm32f407 --call {name} --json").out) for name in ("f", "g"))
    assert (calm["settings"], [s["name"] for s in own["settings"]]) == ([], ["FLASH_ACR"])
    assert calm["errors"]
    assert not own["errors"]
    whole = json.loads(cli("sim x.elf -t stm32f407 --trigger 0x08000000 --json").out)
    assert (whole["counted"], whole["settings"][0]["name"]) == (0, "FLASH_ACR"), "cycles since reset are a figure too"


@pytest.mark.parametrize(
    ("target", "at", "name"),
    [
        ("nrf52840", 0x4001E540, "NVMC_ICACHECNF"),
        ("nucleo-f746zg", 0x40023C00, "FLASH_ACR"),
        ("due", 0x400E0A00, "EEFC0_FMR"),
    ],
)
def test_a_function_alone_that_puts_a_setting_back_as_after_a_reset_is_told(
    cli: Cli, tmp_path: Path, target: str, at: int, name: str
) -> None:
    off = f"    ldr r0, ={at:#x}\n    movs r1, #0\n    str r1, [r0]\n"
    assembled(tmp_path, f"{VECTORS}    bkpt 0\n    .thumb_func\nf:{off}    bx lr\n    .pool\n", target)
    said = json.loads(cli(f"sim x.elf -t {target} --call f --json").out)
    assert ([s["name"] for s in said["settings"]], said["errors"]) == ([name], [])


#: interrupts are allowed for an instruction, in a loop that soon becomes native code in a program of ours
FOR_A_WHILE = {
    "uno": "_start: sei\n    cli\n    break\n",
    "nano-every": "_start: ldi r16, 0x80\n    out 0x3f, r16\n    out 0x3f, r1\n    break\n",
    "bluepill": f"{VECTORS}    ldr r0, =0xE000E100\n    movs r1, #1\n    str r1, [r0]\n    bkpt 0\n    .pool\n",
    # a 0 clears nothing there
    "nucleo-f746zg": f"{VECTORS}    ldr r0, =0xE000E100\n    movs r1, #32\n    str r1, [r0]\n    movs r1, #0\n"
    "    str r1, [r0]\n    bkpt 0\n    .pool\n",
    "stm32f407": f"{VECTORS}    ldr r0, =0xE000E010\n    movs r1, #3\n    str r1, [r0]\n    movs r1, #0\n"
    "    str r1, [r0]\n    bkpt 0\n    .pool\n",
    "stm32l053": f"{VECTORS}    ldr r0, =0xE000E010\n    movs r1, #7\n    str r1, [r0]\n    bkpt 0\n    .pool\n",
    "esp8266": "_start: movi a2, 1\n    wsr a2, intenable\n    movi a2, 0\n    wsr a2, intenable\n    ill\n",
}


@pytest.mark.parametrize("target", sorted(FOR_A_WHILE))
def test_interrupts_that_were_allowed_are_told(cli: Cli, tmp_path: Path, target: str) -> None:
    assembled(tmp_path, FOR_A_WHILE[target], target)
    done = cli(f"sim x.elf -t {target} --json")
    assert json.loads(done.out)["interrupts"], done.err
    assert "The program allows interrupts" in cli(f"sim x.elf -t {target}").out


def test_interrupts_that_were_never_allowed_are_not(cli: Cli, tmp_path: Path) -> None:
    assembled(tmp_path, "_start: cli\n    in r16, 0x3f\n    out 0x3f, r16\n    break\n")
    assert not json.loads(cli("sim x.elf -t uno --json").out)["interrupts"]


#: start-up code of RISC-V: sets up traps, which do not come, and keeps a number for them in a register
TRAPS = """
    .option arch, +zicsr
_start: la t0, _start
    csrw mtvec, t0
    csrw mie, zero
    csrsi mstatus, 8
    csrci mstatus, 8
    li a0, 0x12340
    csrw mscratch, a0
    li a1, 7
    csrrs a2, mscratch, a1
    bne a2, a0, 1f
    csrrc a2, mscratch, a1
    addi a0, a0, 7
    bne a2, a0, 1f
    csrrwi a2, mscratch, 3
    addi a0, a0, -7
    bne a2, a0, 1f
    csrr a2, mscratch
    li a0, 3
    bne a2, a0, 1f
    ebreak
1:  j 1b
"""


@pytest.mark.parametrize("target", ["gd32vf103", "maixduino", "esp32c3"])
def test_registers_of_traps_keep_what_is_written_and_are_named(cli: Cli, tmp_path: Path, target: str) -> None:
    assembled(tmp_path, TRAPS, target)
    said = json.loads(cli(f"sim x.elf -t {target} --json").out)
    assert (said["end"], said["fault"]) == ("breakpoint", None), said["text"]
    assert said["interrupts"]
    used = {u["name"]: (u["address"], u["reads"], u["writes"]) for u in said["unmodelled"]}
    writes = {"mtvec": 1, "mie": 1, "mstatus": 2, "mscratch": 4}
    reads = {"mstatus": 2, "mscratch": 4}  # csrs and csrc read, csrw does not
    assert used.keys() == writes.keys()
    assert all(used[name] == (None, used[name][1], n) for name, n in writes.items())
    assert used["mscratch"][1] == reads["mscratch"]
    assert "mscratch" in cli(f"sim x.elf -t {target}").out


@pytest.mark.parametrize(
    ("target", "at", "named"),
    [
        ("nucleo-f746zg", 0x08000000, "flash over the AXI bus"),
        ("maixduino", 0x40000000, "SRAM past the cache"),
        ("rp2040", 0x10000000, "flash through the XIP cache"),
        ("esp32c3", 0x42000000, "flash through the cache, for code"),
        ("esp32", 0x400D0000, "flash through the cache, for code"),
        ("esp8266", 0x40201010, "target esp8266-flash"),
        ("ch32v003", 0x08000000, "flash by its other addresses"),
        ("msp430f1611", 0x200, "RAM's first 2 KiB by other addresses, whose bytes the target has from 0x1100 on"),
        *((name, 0, "flash by its other addresses") for name in ("bluepill", "stm32f407", "stm32l053", "gd32vf103")),
        ("due", 0, "flash or the ROM by other addresses"),
        ("bluepill", 0x40000000, "neither of the chip's memories"),
    ],
)
def test_who_is_linked_for_a_memory_without_a_model_is_told_which(
    cli: Cli, tmp_path: Path, target: str, at: int, named: str
) -> None:
    chip = the_target(target).chip
    (tmp_path / "x.bin").write_bytes(bytes(8192))
    done = cli(f"sim x.bin -t {target} --base {at:#x}")
    assert done.code == 1
    assert named in done.err
    assert f"{chip.flash.base:#x}" in done.err
