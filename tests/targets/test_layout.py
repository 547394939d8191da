"""A package's cycles are its own: growth of the harness moves neither its code and data nor its libraries'."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from steelyard import building, device
from steelyard.building import firmware
from steelyard.model import paths
from steelyard.model.call import Op, Request
from steelyard.model.implementation import Implementation
from steelyard.model.target import Target
from tests.conftest import SIMULATED, Bench, the_target

#: SY_STACK_RESERVE and SY_PAINT_GAP in bytes, by the core, or by the compiler's family where frames are the same
KEPT = {
    "avr": (96, 24),
    "msp430": (192, 48),
    "thumb": (256, 64),
    "riscv": (256, 64),
    "rv64-rocket": (512, 128),  # registers of 8 bytes
    "xtensa-lx106": (256, 64),
    "xtensa-lx6": (512, 128),  # register windows
}
#: loops, tables, static data, allocated data, and calls of the libraries'
TOP = """
#include <stdlib.h>
#include <string.h>
static const unsigned char table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
static unsigned char kept[24];
static unsigned char start[6] = {2, 7, 1, 8, 2, 8};
static volatile unsigned long divisor = 7;
static unsigned char *volatile block; /* or newer compilers do without malloc */
static unsigned long mix(unsigned long x, unsigned n) { return n & 1 ? x / divisor + n : x * 5 + table[n % 16]; }
"""
IN_TAG = """
{
    unsigned long x = adlen;
    unsigned char *more = block = malloc(12);
    memcpy(kept + 1, k, 9 + (mlen & 7));
    memset(kept + 17, (int)mlen, 4 + (mlen & 3));
    for (i = 0; i < mlen; i++)
        x = mix(x, kept[i % 24] + start[i % 6]);
    if (more) {
        memcpy(more, kept + (x & 3), 8 + (x & 3));
        start[0] ^= more[3] & 1;
        start[0] ^= more[3] & 1;
        free(more);
    }
    kept[0] = (unsigned char)x;
}
"""
#: what runs between the calls, and lies before everything of the harness, which has no initialised data: they would lie
#: between the package's own and its .bss
MORE = """
extern volatile uint8_t sy_more[], sy_most[];
volatile uint8_t sy_more[13], sy_most[21];
void sy_grown(uint8_t n);
__attribute__((noinline)) void sy_grown(uint8_t n)
{
    uint8_t i;
    for (i = 0; i < n; i++) {
        sy_most[i & 15] ^= sy_more[i & 7] ^ (i & 1 ? n : 3);
        if (sy_most[n & 15] == 77 || (i & 7) == 5)
            sy_more[n & 7]++;
    }
}
"""
#: the ends of initialised data, and constants of the harness that lie there on some targets, always as many
BOUNDS = (
    "sy_data_start",
    "sy_data_end",
    "sy_api",
    "sy_parts",
    "sy_key_bytes",
    "sy_npub_bytes",
    "sy_a_bytes",
    "sy_image",
    "sy_nsec_encrypt",
    "sy_nsec_decrypt",
)


def grown(folder: Path) -> Path:
    """The harness with more functions and data, in ``folder``."""
    shutil.copytree(paths.HARNESS, folder)
    main = folder / "main.c"
    text = main.read_text().replace('#include "harness.h"\n', f'#include "harness.h"\n{MORE}', 1)
    called = text.replace("    if (command == HELLO", "    sy_grown(command + 20);\n    if (command == HELLO", 1)
    assert called.count("sy_grown(") == 3
    main.write_text(called)
    return folder


def cycles(bench: Bench, implementation: Implementation, target: Target) -> tuple[list[int], dict[str, str]]:
    """Cycles of some calls, and where the package's functions are."""
    built = bench.build(implementation, target, "-O2")
    assert built.failure is None, built.log
    both = built.images["both"]
    with device.opened(target, both, building.confined(both), 10_000_000) as link:
        client = device.Client(link)
        zeros = bytes(16)
        requests = [Request(op, zeros, zeros, b"", b"") for op in (Op.EMPTY, Op.EMPTY_DECRYPT)]
        large = target.chip.ram.size > 512
        for m, a in ((0, 0), (17, 3), (32, 32), (1, 0), (33, 16)) if large else ((0, 0), (3, 1), (1, 0)):
            data = bytes(range(m))
            sealed = client.call(Request(Op.ENCRYPT, zeros, zeros, bytes(a), data)).output
            requests += [
                Request(Op.ENCRYPT, zeros, zeros, bytes(a), data, offset=m % 4),
                Request(Op.DECRYPT, zeros, zeros, bytes(a), sealed),
            ]
        pulses = [a.pulse.cycles for a in client.calls(requests)]
    own = {"crypto_aead_encrypt", "tag", "mix", "table", "start", "kept", "block"}
    names = own | {"memcpy", "memset", "malloc", "free"}
    listed = subprocess.run([f"{target.toolchain.prefix}nm", both], capture_output=True, text=True, check=True).stdout
    symbols = [line.split() for line in listed.splitlines()]
    places = {s[-1]: s[0] for s in symbols if s[-1] in names}
    assert {"crypto_aead_encrypt", "kept", "memcpy", "malloc"} <= places.keys()
    assert not [s for s in symbols if s[-1].startswith("sy_") and s[-2] in "dD" and s[-1] not in BOUNDS]
    return pulses, places


@pytest.mark.parametrize("name", SIMULATED)
def test_a_larger_harness_changes_no_cycle(
    name: str, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = the_target(name)
    # in 512 bytes the harness's own RAM decides whether there is room for a block
    block = "malloc(12)" if target.chip.ram.size > 512 else "mlen > 900 ? malloc(12) : 0"
    implementation = bench.package(top=TOP, in_tag=IN_TAG.replace("malloc(12)", block))
    before = cycles(bench, implementation, target)
    monkeypatch.setattr(paths, "HARNESS", grown(tmp_path / "harness"))
    firmware.harness_digest.cache_clear()
    try:
        after = cycles(bench, implementation, target)
    finally:
        firmware.harness_digest.cache_clear()
    assert after[0] == before[0]
    if target.toolchain.family != "xtensa":  # where the linker moves literals, but no alignment
        assert after[1] == before[1]


@pytest.mark.parametrize("name", SIMULATED)
def test_the_harness_keeps_as_much_stack_as_on_chips_with_the_same_frames(name: str) -> None:
    """What it keeps is no package's: known answers are left out for it, and so it decides what a mean is over."""
    target = the_target(name)
    header = (target.folder / "target.h").read_text("utf-8")
    kept = [re.search(rf"^#define {macro} (\d+)\b", header, re.M) for macro in ("SY_STACK_RESERVE", "SY_PAINT_GAP")]
    wanted = KEPT.get(target.chip.core) or KEPT[target.toolchain.family]
    assert tuple(int(found[1]) for found in kept if found) == wanted
