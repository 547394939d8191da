"""Profiles add up to the measured cycles, and the flame graph is a complete SVG."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from steelyard.analyse.profile import by_function, inclusive
from steelyard.building import built
from steelyard.cli.app import app
from steelyard.cli.select import implementations
from steelyard.device import simulated
from steelyard.device.client import _OWN, encode
from steelyard.inside import profile, sizes
from steelyard.model import paths
from steelyard.model.call import DeviceError, Op, Request
from steelyard.model.profile import Node, Profile
from steelyard.model.reasons import Reason
from steelyard.model.target import Target
from steelyard.model.workload import workload
from steelyard.pipeline import Job
from steelyard.publish import profile as tables
from steelyard.publish.flame import flame_svg
from steelyard.sources.kernels import Kernel, kernels_of, message, package
from tests import toys
from tests.conftest import SIMULATED, Bench, the_target


@st.composite
def trees(draw: st.DrawFn) -> Profile:
    """Any call tree: a node's caller is itself or an earlier one."""
    nodes: list[Node] = []
    for k in range(draw(st.integers(1, 30))):
        name = draw(st.sampled_from(["main", "a", "b", "permute<&>", '"', "\x01\x1b", "\ud800\uffff"]))
        nodes.append(Node(name, draw(st.integers(0, k)), draw(st.integers(1, 9)), draw(st.integers(0, 10**6))))
    return Profile("x", tuple(nodes), {}, 0, 0)


@pytest.mark.parametrize(
    ("name", "label", "first"), [("nucleo-f746zg", "asconaead128/fast", 0), ("esp32", "tinyjambu128v2/small", 30)]
)
def test_a_limit_of_cycles_is_exact_and_leaves_whole_counts(name: str, label: str, first: int) -> None:
    """A Cortex-M7 issues two instructions a cycle, but not where it is stepped to count them. The ``first`` call on an
    ESP32 saves windows of registers besides."""
    implementation = implementations([label])[0][0].implementation
    job = Job(implementation, the_target(name), ("-Os",), workload("kat"))
    whole = profile(job, Op.ENCRYPT, 0, 64)
    assert profile(job, Op.ENCRYPT, 0, 64, max_cycles=whole.cycles + first) == whole
    for less in (whole.cycles - 1, whole.cycles // 2):
        with pytest.raises(DeviceError, match=f"no end after {less} cycles") as raised:
            profile(job, Op.ENCRYPT, 0, 64, max_cycles=less)
        assert raised.value.failure.reason is Reason.RUNAWAY


@given(trees())
def test_sums_hold_for_any_tree(p: Profile) -> None:
    sums = inclusive(p)
    assert sum(s for k, s in enumerate(sums) if p.nodes[k].parent == k) == p.cycles
    assert sum(r.exclusive for r in by_function(p)) == p.cycles
    assert all(r.exclusive <= r.inclusive <= p.cycles for r in by_function(p))
    ElementTree.fromstring(flame_svg(p, "a < b & c"))


@pytest.mark.parametrize("label", ["ascon128v12/fast", "tinyjambu128v2/small"])
def test_a_profile_adds_up_to_the_measured_call(label: str, target: Target, bench: Bench) -> None:
    implementation = implementations([label])[0][0].implementation
    record = bench.weigh(implementation, target, load="16/64")
    (measured,) = (p.cycles for p in record.points if p.operation == "encrypt")
    seen = profile(Job(implementation, target, ("-Os",), workload("kat")), Op.ENCRYPT, 16, 64)
    rows = {r.function: r for r in by_function(seen)}
    entry = rows["crypto_aead_encrypt"]
    assert entry.calls == 1
    # the empty call's return is subtracted from the record, the call's first steps are not in the function
    assert abs(entry.inclusive - measured) < 40
    assert sum(seen.instructions.values()) <= seen.cycles * 1.05
    assert 0 < seen.taken < sum(seen.instructions.values())


@pytest.mark.parametrize(
    ("name", "kernel", "taken"),
    [
        ("msp430f1611", "memory-to-memory", 1),
        ("uno", "skip-2", 9),
        ("bluepill", "branch-taken", 9),
        ("bluepill", "it-skipped-wide", 1),
        ("esp32", "branch-taken", 9),
        ("esp32", "loop-hardware", 1),
        ("gd32vf103", "branch-taken", 9),
        ("gd32vf103", "branch-not-taken", 1),
    ],
)
def test_a_taken_branch_goes_elsewhere_whatever_the_lengths(name: str, kernel: str, taken: int, tmp_path: Path) -> None:
    """In a round of a kernel, with the branch back to its beginning."""
    target = the_target(name)
    of = kernels_of(target.chip.core)
    assert of is not None
    image = built(package(of.every, tmp_path), target).images["both"]
    number = [k.name for k in of.every].index(kernel)

    def counted(rounds: int) -> int:
        client = simulated(target, image)
        return client.profile(client.hello.zeros(Op.HASH, message(number, rounds)))[2]

    assert counted(18) - counted(16) == 2 * taken


def test_a_taken_branch_does_not_wait_for_the_code_after_it(tmp_path: Path) -> None:
    """At the end of each line of flash, over the next line: cycles of a round by cause, taken and not taken."""
    target = the_target("bluepill")
    of = kernels_of(target.chip.core)
    assert of is not None
    (falls,) = (k for k in of.every if k.name == "branch-not-taken-wide")
    ahead = falls.source.replace("bne.w 3f\n3:", "beq.w 3f\n    mov.w r3, r4\n    mov.w r3, r4\n3:")
    taken = Kernel("taken", falls.rule, ahead.replace(falls.symbol, "kernel_taken"))
    image = built(package([falls, taken], tmp_path), target).images["both"]

    def causes(number: int) -> dict[str, int]:
        found: dict[str, int] = {}
        for rounds, sign in ((16, -1), (17, 1)):
            client = simulated(target, image)
            for cause, _, _, cycles in client.causes(client.hello.zeros(Op.HASH, message(number, rounds))):
                found[cause] = found.get(cause, 0) + sign * cycles
        return {cause: cycles for cause, cycles in found.items() if cycles}

    around = {"work": 1}  # the way back, with six instructions and a line that is not held
    assert causes(0) == around | {"issue": 16 + 6, "fetch": 8 + 2}
    assert causes(1) == around | {"issue": 16 + 6, "fetch": 16 + 2, "refill": 8}


_ODD = """static unsigned char counts[9] = {1}; static unsigned char zeros[31];
static const char *const words[] = {"some", "constants", "without", "a", "name"};"""
_USE = "{ volatile unsigned char *p = counts; p[mlen & 7]++; p = zeros; p[3] = words[mlen & 3][0]; }"


@pytest.mark.parametrize("name", ["uno", "bluepill", "esp8266"])
@pytest.mark.parametrize("odd", [False, True], ids=["ascon", "odd"])
def test_symbols_add_up_to_rom(bench: Bench, name: str, odd: bool) -> None:
    """nocrypt of uno has a helper of libgcc that Ascon has no use for."""
    implementation, chip = implementations(["ascon128v12/fast"])[0][0].implementation, the_target(name)
    if odd:
        implementation = bench.package(toys.files(top=_ODD, in_encrypt=_USE))
    record = bench.weigh(implementation, chip, load="kat")
    seen = sizes(Job(implementation, chip, ("-Os",), workload("kat")))
    assert sum(size for (_, kind), size in seen["both"].items() if kind in ("data", "bss")) >= 40 * odd
    for part, name in (("both", "rom"), ("encrypt", "rom_encrypt"), ("decrypt", "rom_decrypt")):
        assert sum(size for (_, kind), size in seen[part].items() if kind != "bss") == record.metrics[name]


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("asconaead128/avr", "uno"),
        ("asconaead128/armv7m", "bluepill"),
        ("giftcofb128v1/fast", "uno"),
        ("tinyjambu128v2/small", "bluepill"),
        ("xoodyakround3/fast", "gd32vf103"),
        ("ascon128v12/fast", "maixduino"),
        ("ascon128v12/fast", "esp8266"),
    ],
)
def test_the_sum_of_the_rows_is_the_pulse(label: str, name: str, bench: Bench) -> None:
    client = bench.client(implementations([label])[0][0].implementation, the_target(name), "-O2")
    request = Request(Op.ENCRYPT, bytes(client.hello.key_bytes), bytes(client.hello.npub_bytes), bytes(16), bytes(64))
    assert sum(cycles for _, _, _, cycles in client.link.profile(encode(request))) == client.link.pulses()[0].cycles


LABELS = """
    .text
    .global core
core:
    @START@
again:
    @STEP@
    @RETURN@
"""


@pytest.mark.parametrize(
    ("name", "start", "step", "back"),
    [
        ("uno", "ldi r25, 200", "dec r25\n brne again", "ret"),
        ("bluepill", ".syntax unified\n movs r0, #200", "subs r0, #1\n bne again", "bx lr"),
        ("gd32vf103", "li a0, 200", "addi a0, a0, -1\n bnez a0, again", "ret"),
    ],
)
def test_code_outside_of_function_symbols_has_rows(name: str, start: str, step: str, back: str, bench: Bench) -> None:
    """Labels without a type stand for the code after them, "other" for code without a label."""
    thumb = " .thumb_func" if name == "bluepill" else ""
    text = LABELS.replace("@START@", start).replace("@STEP@", step).replace("@RETURN@", back)
    for label in ("core", "again"):
        code = text if label == "again" else text.replace("again:", "1:").replace("again", "1b")
        if thumb:
            code = code.replace("    .global core", "    .thumb\n    .global core")
        files = {**toys.files(top="void core(void);", in_encrypt=CALL[name]), "core.S": code}
        client = bench.client(bench.package(files), the_target(name), "-O2")
        request = Request(Op.ENCRYPT, bytes(16), bytes(16), b"", b"")
        tree = client.link.profile(encode(request))
        assert sum(cycles for _, _, _, cycles in tree) == client.link.pulses()[0].cycles
        assert sum(cycles for function, _, _, cycles in tree if function == label) >= 400
        (bench.folder / "crypto_aead" / "toy1" / "ref" / "core.S").unlink()


#: a call of code that is no function, so that its address says nothing of its mode
CALL = {
    "uno": "core();",
    # bl is for functions, and a label without a type is none
    "bluepill": '__asm__ volatile("ldr r3, =core; adds r3, #1; blx r3" : : : "r0", "r3", "lr", "cc");',
    "gd32vf103": "core();",
}


def test_any_size_of_key_is_profiled(bench: Bench, uno: Target) -> None:
    api = toys.API.replace(f"KEYBYTES {toys.KEY}", "KEYBYTES 100")
    job = bench.job(bench.package(toys.files() | {"api.h": api}), uno)
    assert profile(job, Op.DECRYPT, 0, 0).cycles > 0


@pytest.mark.parametrize("name", SIMULATED)
def test_cycles_by_cause_are_all_cycles(name: str, bench: Bench) -> None:
    """On every target, of code with loops, branches, IT blocks or skips, products, divisions, calls, tables in flash,
    odd addresses; the pulse is that of the run without attribution."""
    client = bench.client(bench.package(toys.files(top=MANY, in_encrypt=USE)), the_target(name), "-O2")
    request = Request(Op.ENCRYPT, bytes(client.hello.key_bytes), bytes(client.hello.npub_bytes), bytes(5), bytes(29))
    for _ in range(2):  # predictors have learnt something by the second time
        found = client.causes(request)
        client.link.exchange(encode(request))
        [pulse] = client.link.pulses()
        assert sum(cycles for *_, cycles in found) == pulse.cycles
        assert {work for _, work, *_ in found} >= {"compute", "load", "store", "branch"}
        assert sum(times for cause, _, times, _ in found if cause == "issue") > 100
        assert all(times > 0 for _, _, times, _ in found)
    if not client.link.clock.startswith("cortex"):  # IT blocks, and two instructions at a time
        _, instructions, _ = client.profile(request)
        issued = sum(times for cause, _, times, _ in found if cause == "issue")
        assert issued == sum(instructions.values()) + 1, "the store that ends the call"


MANY = """
static const unsigned char table[] = {9, 1, 7, 3, 250, 66, 13, 200, 31, 8};
static unsigned counts[8] = {3};
static unsigned long long wide;
__attribute__((noinline)) static unsigned mix(unsigned x, unsigned y) { return y ? x / y + x % y : x * 77u; }
"""
USE = """
{
    volatile unsigned *p = counts;
    unsigned n, x = (unsigned)mlen;
    for (n = 0; n < 8; n++) p[n] = n; /* the same for every call */
    wide = 0x123456789ull;
    for (n = 0; n < 40; n++) {
        x = mix(x * 5u + table[n % 10], p[n & 7] & 3);
        if (x & 1) x ^= 0x55u; else x += 3u;
        if ((x & 6) == 4) p[x & 7] += x;
        wide = wide * 3u + x;
    }
    p[0] = (unsigned)(wide >> 7);
}
"""


def test_every_cause_of_the_core_has_a_word_and_a_definition() -> None:
    source = (paths.ROOT / "crates" / "isa" / "src" / "cause.rs").read_text()
    named = re.findall(r'Self::\w+ => "([a-z-]+)"', source.split("impl Cause {")[1].split("\n}\n")[0])
    text = (paths.ROOT / "docs" / "definitions.md").read_text(encoding="utf-8")
    defined = text.split("| cause | in tables | cycles |\n|---|---|---|\n")[1].split("\n\n")[0]
    assert dict(re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \|", defined, re.MULTILINE)) == tables.CAUSES
    assert sorted(tables.CAUSES) == sorted(named)
    assert set(_OWN) < set(named)


def test_why_cycles_pass_is_told_by_the_verb() -> None:
    words = ["profile", "asconaead128/small", "-t", "due", "--timing", "-o", "-", "--format", "csv"]
    said = CliRunner().invoke(app, words)
    assert said.exit_code == 0, said.output
    assert all(tables.CAUSES[c] in said.stdout for c in ("issue", "refill", "fetch", "bus"))
