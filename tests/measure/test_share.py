"""Which cycles are of assembly: those of functions that only assembly files hold, of a call that is made."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from steelyard.analyse.errors import LEAST
from steelyard.measure import share
from steelyard.measure.share import IDLE
from steelyard.measure.share import least as least_of
from steelyard.model.call import API_BLOCK, CallResult, Hello, Op, Pulse, Vector
from steelyard.model.inputs import Inputs
from steelyard.model.paths import CIPHERS
from steelyard.model.record import Operation
from steelyard.model.target import Target
from steelyard.sources import discover
from tests import toys
from tests.conftest import Bench, the_target, write

#: some 40 000 cycles
LOOP = ".text\n.{1} {0}\n{0}:\nldi r18, 0\nldi r19, 50\n1: dec r18\nbrne 1b\ndec r19\nbrne 1b\nret\n"
C = "{1} void {0}(unsigned char *p) {{ for (volatile int i = 0; i < 5000; i++) p[0] = p[0]; }}\n"
INNER = C.format("inner", "__attribute__((noinline)) static") + "void work(unsigned char *p) { inner(p); }\n"

#: a function that C calls, of one instruction and without a size, or with these lines
FAKE = ".text\n.global fake\n.type fake, @function\nfake: ret\n"
#: C without a name of its own in the image, which is where the linker puts it
HIDDEN = """static void inner(unsigned char *p) __asm__(".Linner");
{0} static void inner(unsigned char *p) {{ for (volatile int i = 0; i < 5000; i++) p[0] = p[0]; }}
void fake(void);
void work(unsigned char *p) {{ fake(); inner(p); }}
"""
NO_INLINE, BESIDE, AT = (f"__attribute__((noinline{more}))" for more in ("", ', section(".text")', ', section("{}")'))


@pytest.fixture
def uno() -> Target:
    return the_target("uno")


@pytest.mark.parametrize("flags", ["-Os", "-O3 -flto"])
def test_assembly_counts_where_it_is_called(bench: Bench, uno: Target, flags: str) -> None:
    """Neither does code that nobody calls, nor a name that C has too."""
    toy = toys.files(top="void work(unsigned char *p);", in_encrypt="work(c);", in_decrypt="work(m);")
    for more, (least, most) in (
        ({"work.S": LOOP.format("work", "global")}, (90, 100)),
        ({"work.c": C.format("work", ""), "dead.S": LOOP.format("nobody", "global") + ".skip 4000\n"}, (0, 0)),
        ({"work.c": INNER, "dead.S": LOOP.format("inner", "local")}, (0, 0)),
        ({"work.c": C.format("work", "")}, (0, 0)),
    ):
        record = bench.weigh(bench.package(toy | more), uno, flags=flags)
        assert least <= record.metrics["assembly_cycles"] <= most, (more, record.failure)


@pytest.mark.parametrize("flags", ["-Os", "-O3 -flto"])
def test_c_without_a_name_is_no_assembly(bench: Bench, uno: Target, flags: str) -> None:
    """Not behind a function of assembly without a size or with too large a one, and not under a name for its end, or
    that of all code without one, or in a section that linkers gather."""
    toy = toys.files(top="void work(unsigned char *p);", in_encrypt="work(c);", in_decrypt="work(m);")
    for hidden, fake in (
        (NO_INLINE, FAKE),
        (BESIDE, FAKE),
        *((AT.format(name), FAKE.replace(".text", f'.section {name},"ax"')) for name in (".lowtext", "COMMONx")),
        (NO_INLINE, FAKE + ".size fake, 4000\n"),
        (NO_INLINE, FAKE + ".global more\n.type more, @function\nmore:\n"),
    ):
        for name in ("fake", "other"):
            files = {"a.S": fake, "work.c": HIDDEN.format(hidden)}
            files = {file: text.replace("fake", name) for file, text in files.items()}
            record = bench.weigh(bench.package(toy | files), uno, flags=flags)
            assert record.metrics["assembly_cycles"] < 1, (name, hidden, fake, record.failure)


def test_a_name_that_assembly_only_exports_is_not_c_of_that_name(bench: Bench, uno: Target) -> None:
    toy = toys.files(top="void work(unsigned char *p);", in_encrypt="work(c);", in_decrypt="work(m);")
    dead = {"work.c": INNER, "dead.S": LOOP.format("inner", "global")}
    record = bench.weigh(bench.package(toy | dead), uno, flags="-O3 -flto")
    assert record.metrics["assembly_cycles"] == 0, record.failure


def test_assembly_in_one_call_or_one_direction_makes_no_package_of_assembly(bench: Bench, uno: Target) -> None:
    """Not in the longest known answer alone, nor for inputs that everybody knows, nor in encryption alone."""
    top = "void work(void);"
    for where in (
        {"in_encrypt": "if (mlen == 32 && adlen == 32) work();"},
        {"in_encrypt": "work();"},
        {"in_decrypt": "work();"},
    ):
        toy = toys.files(top=top, **where) | {"work.S": LOOP.format("work", "global")}
        record = bench.weigh(bench.package(toy), uno)
        assert record.metrics["assembly_cycles"] < 1, (where, record.failure)
    both = toys.files(top=top, in_encrypt="work();", in_decrypt="work();") | {"work.S": LOOP.format("work", "global")}
    assert bench.weigh(bench.package(both), uno).metrics["assembly_cycles"] > 90


def test_assembly_in_other_calls_than_short_ones_or_the_workloads_makes_no_package_of_assembly(
    bench: Bench, uno: Target
) -> None:
    top, c = "void work(unsigned char *p); void slow(unsigned char *p);", {"slow.c": C.format("slow", "")}
    for condition, load, most in (
        ("mlen + adlen < 20", "kat", 60),  # where compiled code counts half
        ("mlen + adlen > 64", "0/16,0/200", 1),
        ("mlen + adlen > 64 && mlen != 300", "0/100,0/140,0/300", 1),
    ):
        use = f"if ({condition}) slow({{0}}); else work({{0}});"
        toy = toys.files(top=top, in_encrypt=use.format("c"), in_decrypt=use.format("m"))
        record = bench.weigh(bench.package(toy | c | {"work.S": LOOP.format("work", "global")}), uno, load)
        assert record.metrics["assembly_cycles"] < most, (condition, record.failure)


def test_the_code_around_assembly_in_short_calls_is_no_compiled_package(bench: Bench) -> None:
    """As that of ours is not, on the chip where it takes most."""
    [package] = discover(CIPHERS / "crypto_aead/ascon/asconaead128/armv7m").implementations
    record = bench.weigh(package, the_target("due"), "default", flags="-O3")
    assert record.metrics["assembly_cycles"] >= LEAST, record.failure


@pytest.mark.parametrize("seed", ["steelyard", "a"])
def test_a_look_that_has_no_room_is_no_verdict(bench: Bench, seed: str) -> None:
    [package] = discover(CIPHERS / "crypto_aead/ascon/asconaead128/avr").implementations
    record = bench.weigh(package, the_target("attiny85"), "0/16", flags="-Os", seed=seed)
    assert record.failure is None, record.failure
    assert record.metrics["assembly_cycles"] >= LEAST


def test_compiled_schedules_carry_no_error_of_assembly(bench: Bench, uno: Target) -> None:
    speck = CIPHERS / "crypto_block/speck/speck64128"
    files = {f.name: f.read_text() for f in (speck / "fast").iterdir()}
    schedules = files["fast.c"][: files["fast.c"].index("int crypto_block_encrypt(")]
    assembly = (speck / "avr/speck64_avr.S").read_text()
    blocks = assembly[: assembly.index("    .global crypto_block_encrypt_schedule")]
    for more, (least, most) in (
        (files | {"fast.c": schedules, "blocks.S": blocks}, (0, 1)),
        ({"api.h": files["api.h"], "all.S": assembly}, (95, 100)),
    ):
        folder = write(bench.folder / f"crypto_block/speck64128/mine{most}", more)
        record = bench.weigh(discover(folder).implementations[0], uno)
        assert least <= record.metrics["assembly_cycles"] <= most, record.failure


@pytest.mark.parametrize(("cycles", "seen"), [(IDLE, 0.9), (IDLE + 1, 0.0)])
def test_a_compiled_schedule_that_does_nothing_does_not_count(cycles: int, seen: float) -> None:
    called = ((Op.ENCRYPT, "work", 180), (Op.SCHEDULE_ENCRYPT, "compiled", cycles))
    answer = CallResult(0, 8, True, 0, 0, 0, bytes(16), Pulse(0))
    client = Mock(
        hello=Hello(API_BLOCK, 3, 16, key_bytes=16, npub_bytes=16, a_bytes=8, capacity=2000, clock_hz=1),
        call=lambda _: answer,
        tree=lambda request: [("sy_run", 0, 1, 20), *((name, 0, 1, n) for op, name, n in called if op is request.op)],
    )
    operations: dict[Operation, Op] = {"encrypt": Op.ENCRYPT, "schedule_encrypt": Op.SCHEDULE_ENCRYPT}
    calls = [(name, Vector(1, b"", b"", bytes(8), b""), answer) for name in operations]
    assert least_of(client, {"work": 1.0}, operations, calls, [], Inputs("")) == seen


def test_a_compilers_clone_is_no_function_of_assembly() -> None:
    """It is another function's of the same name; what is assembly in part has clones that are as it is."""
    hand = {"permute": 1.0, "mixed": 0.5}
    tree = [("permute.constprop.0", 0, 1, 80), ("permute", 0, 1, 10), ("mixed.part.0", 0, 1, 10)]
    assert share(tree, hand) == 0.15
