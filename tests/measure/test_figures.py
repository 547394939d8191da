"""Figures: exact where arithmetic is, plausible where a device is asked."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from steelyard.inside import sizes as sizes_of
from steelyard.measure import Observations, cycles, figures, ram, rom
from steelyard.measure.cycles import Empty
from steelyard.measure.energy import measured
from steelyard.measure.image import energy
from steelyard.measure.rom import BSS, library_members, load_size, static_ram
from steelyard.model.call import CallResult, Observed, Op, Pulse, Request, Vector
from steelyard.model.implementation import Implementation
from steelyard.model.power import Power, Value
from steelyard.model.record import Helper, Point
from steelyard.model.target import Target
from steelyard.pipeline import nocrypt
from steelyard.sources import discover
from tests import toys
from tests.conftest import ROOT, Bench, the_target, write

ASCON = ROOT / "ciphers/crypto_aead/ascon/ascon128v12/fast"
sizes = st.lists(st.integers(0, 2000), min_size=3, max_size=12, unique=True)
costs = st.integers(-(10**6), 10**9)


@given(sizes, sizes, costs, st.integers(-1000, 10**5), st.integers(-1000, 10**5))
def test_the_line_through_affine_points_is_exact(
    messages: list[int], ads: list[int], fixed: int, per_byte: int, per_ad: int
) -> None:
    points = [Point("encrypt", 0, m, fixed + per_byte * m) for m in messages]
    points += [Point("encrypt", a, 0, fixed + per_ad * a) for a in ads if a]
    points += [Point("encrypt", 7, 9, 1), Point("decrypt", 0, 1, 1), Point("decrypt", 0, 2, 2)]
    got = cycles.lines(points)
    assert got["encrypt_per_byte"] == pytest.approx(per_byte, rel=1e-9, abs=1e-6)
    assert got["encrypt_fixed"] == pytest.approx(fixed, rel=1e-9, abs=1e-3)
    assert "decrypt_per_byte" not in got
    if len([a for a in ads if a]) + (0 in messages) >= 3:
        assert got["encrypt_per_ad_byte"] == pytest.approx(per_ad, rel=1e-9, abs=1e-6)


def observed(op: str, used: int, stack: int | None, heap: int = 0) -> tuple[str, Vector, CallResult]:
    vector = Vector(1, b"", b"", b"abc", b"d")
    return op, vector, CallResult(0, 3, True, 0, 77, heap, b"", Pulse(used, stack, None if stack is None else 2))


def test_a_point_has_what_the_counter_has_beside_it() -> None:
    """In the pulse's terms: the empty call is subtracted from both."""
    op, vector, answer = observed("encrypt", 110, 5)
    seen = [(op, vector, replace(answer, pulse=replace(answer.pulse, apart=-3.0))), observed("encrypt", 121, 9)]
    made = cycles.points(seen, {"encrypt": 10})
    assert made == (Point("encrypt", 1, 3, 100, 97), Point("encrypt", 1, 3, 111))


def test_means_points_and_peaks() -> None:
    empty = {"encrypt": 10, "decrypt": 20}
    seen = [observed("encrypt", 110, 5), observed("encrypt", 121, 9, heap=30), observed("decrypt", 30, None)]
    assert cycles.means(seen, empty) == {"cycles_encrypt_mean": 105.5, "cycles_decrypt_mean": 10.0}
    assert cycles.points(seen, empty)[1:] == (Point("encrypt", 1, 3, 111), Point("decrypt", 1, 3, 10))
    peaks = {"stack_encrypt": 9, "stack_decrypt": 77, "stack": 77, "heap": 30, "unaligned": 4}
    assert ram.peaks(seen) == peaks
    (op, v, answer) = observed("encrypt", 110, 50, heap=70)
    assert ram.peaks(seen, [(op, v, answer)])["stack_encrypt"] == 50, "of the same size"
    assert ram.peaks(seen, [(op, replace(v, message=bytes(99)), answer)]) == peaks


MAP = """Archive member included to satisfy reference by file (symbol)

/usr/lib/gcc/libgcc.a(_mulsi3.o)
 .text.libgcc.mul  0x0000000000000000       0x99 /usr/lib/gcc/libgcc.a(_unseen.o)

Linker script and memory map

 .text          0x0000000000000100       0x1e implementation.o
 .text.libgcc.mul
                0x000000000000011e       0x1e /usr/lib/gcc/avr/libgcc.a(_mulsi3.o)
 .text.libgcc.mul
                0x000000000000013c        0x6 /usr/lib/gcc/avr/libgcc.a(_mulsi3.o)
 .text          0x0000000000000142       0x12 /usr/lib/avr/lib/libc.a(memcpy.o)
                0x0000000000000142                memcpy
 *fill*         0x0000000000000162        0x2
 .text          0x0000000000000164       0x7c /usr/lib/avr/lib/libc.a(memset.o)
 .data          0x0000000000800100        0x0 /usr/lib/avr/lib/libc.a(memcpy.o)
 .bss           0x0000000000800100        0x0 /usr/lib/avr/lib/libc.a(empty.o)

/DISCARD/
 .comment       0x0000000000000000       0x30 /usr/lib/avr/lib/libc.a(thrown.o)
"""


def test_library_members_of_a_map(tmp_path: Path) -> None:
    image, base = tmp_path / "image.map", tmp_path / "base.map"
    image.write_text(MAP)
    base.write_text(MAP.replace("0x1e /usr/lib/gcc", "0x0 /usr/lib/gcc"))
    own = {"libgcc.a(_mulsi3.o)": 36, "libc.a(memcpy.o)": 18, "libc.a(memset.o)": 124}
    assert library_members(image) == own
    assert rom.helpers(image, base, "crypto_aead") == (Helper("libgcc.a(_mulsi3.o)", 30),)
    base.write_text("")
    found = {h.member: h.size for h in rom.helpers(image, base, "crypto_aead")}
    assert found == {m: s for m, s in own.items() if "memcpy" not in m}


FILLED_MAP = """
Linker script and memory map
 *fill*         0x08000244        0x2
 .text          0x08000246       0xa0 /usr/lib/libc_nano.a(lib_a-memset.o)
 .rodata.names  0x080002e6        0x7 /usr/lib/libc_nano.a(lib_a-memset.o)
 .bss           0x20000000       0x1c /usr/lib/libc_nano.a(lib_a-memset.o)
 .bss.environ   0x2000001c        0x4 /usr/lib/libc_nano.a(lib_a-memset.o)
 COMMON         0x20000020        0x4 /usr/lib/libc_nano.a(lib_a-memset.o)
 .literal.memset
                0x08000300        0x8 /home/common/helpers.o
 .text.memset   0x08000308       0x30 /home/common/helpers.o
 .text.main     0x08000338       0x30 /home/common/main.o
"""


def test_alignment_before_a_library_member_is_not_its_size(tmp_path: Path) -> None:
    image = tmp_path / "image.map"
    image.write_text(FILLED_MAP)
    assert library_members(image) == {"libc_nano.a(lib_a-memset.o)": 0xA0 + 7, "helpers(memset)": 0x38}


def test_a_section_of_any_name_is_in_the_image(tmp_path: Path) -> None:
    """Long names have a line of their own in GNU's map."""
    image = tmp_path / "image.map"
    lines = [
        f" {name}\n                0x08000400       0x64 implementation.o\n"
        for name in (".rodata.of_a_package", "of_a_package_itself")
    ]
    image.write_text(f"{FILLED_MAP}\nof_a_package_itself\n                0x08000464       0x64\n{''.join(lines)}")
    assert rom.in_image(image, "implementation") == {".rodata.of_a_package": 100, "of_a_package_itself": 100}


LLVM_MAP = """     VMA      LMA     Size Align Out     In      Symbol
    4000     4000     23b6     2 .text
    4008     4008       36     2         /home/common/helpers.o:(.text.memset)
    4008     4008       36     1                 memset
    403e     403e      8b2     2         /home/common/main.o:(.text.main)
    48f0     48f0       14     2         /home/common/stdlib.o:(.text.puts)
    4904     4904        0     2         /home/common/helpers.o:(.text)
    4904     4904       30     2         implementation.o:(.text.helpers.o)
    4934     4934      300     2         implementation.o:(.text/helpers.o:(.text.memcpy)
    4934     4934      300     1                 helpers.o:(.text.memcpy)
    1100     1100        4     2         /home/common/stdlib.o:(.bss.seed)
"""


def test_helpers_of_a_target_are_its_library(tmp_path: Path) -> None:
    image, base = tmp_path / "image.map", tmp_path / "base.map"
    image.write_text(LLVM_MAP)
    base.write_text(LLVM_MAP.splitlines()[0])
    found = Helper("helpers(memset)", 54), Helper("stdlib(puts)", 20)
    assert rom.helpers(image, base, "crypto_block") == found
    assert rom.helpers(image, base, "crypto_hash") == found[1:]


def test_rom_does_not_depend_on_whether_nocrypt_has_memcpy(tmp_path: Path) -> None:
    """What an image has of it costs nothing, and what nocrypt alone has of libraries is no gain."""

    def of(name: str, **members: int) -> Path:
        lines = (f" .text 0x100 0x{size:x} /usr/lib/libc.a({m.replace('__', '-')}.o)" for m, size in members.items())
        (tmp_path / name).write_text("\n".join(["\nLinker script and memory map", *lines, ""]))
        return tmp_path / name

    bare, copying = of("bare", mulsi3=30, memset=20), of("copying", mulsi3=30, memset=20, lib_a__memcpy__stub=144)
    for base, members in (("a", {}), ("b", {"memcpy__asm.S": 36}), ("c", {"memcpy": 18, "cmpdi2": 24, "mulsi3": 10})):
        own = sum(members.values()) - members.get("mulsi3", 0)  # what the size of the baseline has too much
        assert rom.uncounted(bare, of(base, **members), "crypto_aead") == own
        assert rom.uncounted(copying, of(base, **members), "crypto_aead") == own - 144
        assert rom.uncounted(bare, of(base, **members), "crypto_cxof") == own - 20
    other = of("other", memcpy_P=4, wmemcpy=5, mempcpy=6, memmove=7)
    assert rom.uncounted(other, of("none"), "crypto_hash") == 0


def test_what_nocrypt_calls_has_its_name_in_every_library(bench: Bench, tmp_path: Path, target: Target) -> None:
    built, nothing = bench.build(nocrypt("crypto_cxof"), target), tmp_path / "none.map"
    nothing.write_text("")
    called = {m for m in library_members(built.maps["both"]) if "memcpy" in m or "memset" in m}
    assert len(called) == 2
    assert not called & {h.member for h in rom.helpers(built.maps["both"], nothing, "crypto_cxof")}


def test_memcpy_costs_its_calls(bench: Bench, bluepill: Target) -> None:
    """nocrypt has it for an AEAD with all flags, for a block cipher with -O1 and not with -Os: ROM shows neither."""

    def weighed(package: Implementation, flags: str) -> int:
        found = sizes_of(bench.job(package, bluepill, flags=flags))["both"]
        return sum(size for (_, kind), size in found.items() if kind != BSS)

    use = "{ extern void *memcpy(void *, const void *, __SIZE_TYPE__); memcpy(c, m, (unsigned)mlen); }"
    assert 0 < weighed(bench.package(in_encrypt=use), "-Os") - weighed(bench.package(variant="toy2"), "-Os") < 40
    xtea = discover(ROOT / "ciphers/crypto_block/xtea/xtea/ref").implementations[0]
    built, base = (bench.build(i, bluepill, "-O1") for i in (xtea, nocrypt("crypto_block")))
    less = load_size(built.images["both"]) - load_size(base.images["both"])
    assert weighed(xtea, "-O1") == less + library_members(base.maps["both"])["libc_nano.a(lib_a-memcpy.o)"]
    record = bench.weigh(xtea, bluepill, flags="-O1")
    assert record.metrics["rom"] == weighed(xtea, "-O1")
    assert min(record.metrics[f"rom_{part}"] for part in ("encrypt", "decrypt")) > 100


def test_library_members_of_a_real_map(bench: Bench, target: Target) -> None:
    division = "volatile unsigned long long x = mlen + 77; x /= (adlen | 1); c[0] = (unsigned char)x;"
    built = bench.build(bench.package(in_encrypt=division), target)
    members = library_members(built.folder / "both.map")
    assert any("div" in name and name.startswith("libgcc.a(") for name in members)
    assert 0 < sum(members.values()) < load_size(built.images["both"])


def test_nothing_remains_of_nocrypt_less_nocrypt(bench: Bench, target: Target) -> None:
    for primitive in ("crypto_aead", "crypto_hash", "crypto_cxof"):
        metrics = bench.weigh(nocrypt(primitive), target).metrics
        names = {"rom", "ram_static", "ram_renner", "rom_helpers"}
        names |= {"rom_encrypt", "rom_decrypt"} if primitive == "crypto_aead" else set()
        assert {name: metrics[name] for name in names} == dict.fromkeys(names, 0)


def test_the_parts_of_an_image(bench: Bench, target: Target) -> None:
    images = bench.build(discover(ASCON).implementations[0], target).images
    both, encrypt, decrypt = (load_size(images[part]) for part in ("both", "encrypt", "decrypt"))
    assert max(encrypt, decrypt) <= both <= encrypt + decrypt
    assert both <= target.chip.flash.size
    assert static_ram(images["both"]) < target.chip.ram.size


def test_static_data_is_counted(bench: Bench, target: Target) -> None:
    more = "static unsigned char zeros[40]; static unsigned char ones[24] = {1};"
    use = "zeros[n]++; ones[n]++; c[0] = zeros[mlen] ^ ones[adlen];"
    plain = bench.build(bench.package(), target).images["both"]
    fat = bench.build(bench.package(top=more, in_encrypt=use), target).images["both"]
    assert 64 <= static_ram(fat) - static_ram(plain) <= 72
    assert load_size(fat) - load_size(plain) > 24


def test_ram_that_a_call_touches(bench: Bench, target: Target) -> None:
    """Renner's figure: an array on the stack shows, to the byte or nearly."""
    big = "volatile unsigned char big[600]; for (i = 0; i < sizeof big; i++) big[i] = (unsigned char)i;"
    plain = bench.weigh(bench.package(), target).metrics
    fat = bench.weigh(bench.package(in_encrypt=big), target).metrics
    assert 0 < plain["image_ram_touched"] < 600
    assert fat["stack"] - plain["stack"] == pytest.approx(600, abs=16)
    assert fat["ram_renner"] - plain["ram_renner"] == pytest.approx(600, abs=32)


def test_ram_that_the_known_answers_touch_alone(bench: Bench, bluepill: Target) -> None:
    """The second set, which nocrypt has not, is of longer messages, whose buffers are the harness's."""
    hash_ = discover(ROOT / "ciphers/crypto_hash/xoodyak/xoodyakround3/small").implementations[0]
    for i in (discover(ASCON).implementations[0], hash_):
        base, record = (bench.weigh(j, bluepill) for j in (nocrypt(i.primitive), i))
        assert record.verification is not None
        assert record.verification.ext_vectors
        deeper = record.metrics["stack"] - base.metrics["stack"]
        assert record.metrics["ram_renner"] == pytest.approx(deeper, abs=80)


def test_ram_figures_do_not_depend_on_the_workload(bench: Bench, uno: Target) -> None:
    big = "volatile unsigned char big[600]; for (i = 0; i < sizeof big; i++) big[i] = (unsigned char)i;"
    package = bench.package(in_encrypt=big)
    kat, default = (bench.weigh(package, uno, load).metrics for load in ("kat", "default"))
    names = ("ram_renner", "ram_static", "stack", "heap")
    assert {n: kat[n] for n in names} == {n: default[n] for n in names}


def test_heap(bench: Bench, target: Target) -> None:
    use = "volatile char *p = malloc(100); if (!p) return 1; p[99] = 1; free((void *)p); free(malloc(40));"
    metrics = bench.weigh(bench.package(top="#include <stdlib.h>", in_encrypt=use), target).metrics
    assert 100 <= metrics["heap"] <= 116


def test_what_the_empty_function_takes_off(bench: Bench) -> None:
    """As docs/definitions.md says it."""
    for name in ("uno", "nano-every", "bluepill", "gd32vf103"):
        client = bench.client(bench.package(), the_target(name))
        for op in (Op.EMPTY, Op.EMPTY_DECRYPT):
            taken = client.inside(Request(op, bytes(16), bytes(16), b"", b""))
            assert taken is not None
            assert 2 <= taken <= 7, (name, op, taken)


@pytest.mark.parametrize("name", ["uno", "stm32f407", "gd32vf103", "maixduino"])
def test_instructions_of_one_cycle_are_counted_one_by_one(bench: Bench, name: str) -> None:
    """A function in a straight line, which returns as the empty one does: branch predictors know as much of both."""
    start, step, end = {
        "uno": ("", "inc r18", "ldi r24, 0\nldi r25, 0\nret"),
        "stm32f407": (".syntax unified\n.thumb\n.thumb_func\n", "adds r3, #1", "movs r0, #0\nbx lr"),
    }.get(name, ("", "addi t0, t0, 1", "li a0, 0\nret"))
    count = 1200  # more than reading 1024 bytes takes
    text = f".text\n{start}.global crypto_hash\ncrypto_hash:\n.rept {count}\n{step}\n.endr\n{end}\n"
    folder = write(bench.folder / "crypto_hash" / "line" / "ref", {"api.h": "#define CRYPTO_BYTES 4\n", "h.S": text})
    record = bench.weigh(discover(folder).implementations[0], the_target(name), "0/0,0/16")
    assert {p.cycles for p in record.points} == {count}, record.failure
    assert record.metrics["cycles_hash_mean"] == count


def test_heap_is_what_was_asked_for(bench: Bench, target: Target) -> None:
    """A header of 8 bytes and the block, the second at the next multiple of 8; and what is between buffers and heap."""
    one = "volatile char *p = malloc(11); if (!p) return 1; p[0] = 1; free((void *)p);"
    two = "volatile char *p = malloc(100), *q = malloc(37); if (!p || !q) return 1; p[0] = q[0] = 1;"
    for use, heap in ((one, 8 + 11), (two, 8 + 104 + 8 + 37)):
        metrics = bench.weigh(bench.package(top="#include <stdlib.h>", in_encrypt=use), target).metrics
        assert heap <= metrics["heap"] <= heap + 7


def test_the_heap_is_what_the_simulator_sees_written(bench: Bench, uno: Target) -> None:
    """The allocator's own account against the watermark that the simulator keeps of all RAM."""
    use = "volatile char *p = malloc(600); if (!p) return 1; for (i = 0; i < 600; i++) p[i] = (char)i; free((void *)p);"
    plain = bench.weigh(bench.package(), uno).metrics
    fat = bench.weigh(bench.package(top="#include <stdlib.h>", in_encrypt=use), uno).metrics
    assert 608 <= fat["heap"] <= 615
    assert fat["ram_renner"] - plain["ram_renner"] == pytest.approx(608 + fat["stack"] - plain["stack"], abs=32)


def test_ascons_cycles_do_not_depend_on_the_data(bench: Bench, target: Target) -> None:
    client = bench.client(discover(ASCON).implementations[0], target, "-O3")
    rng = random.Random(1)
    used = set()
    for _ in range(5):
        key, npub, ad, message = (rng.randbytes(n) for n in (16, 16, 21, 37))
        sealed = client.call(Request(Op.ENCRYPT, key, npub, ad, message))
        opened = client.call(Request(Op.DECRYPT, key, npub, ad, sealed.output))
        assert (opened.code, opened.output) == (0, message)
        used.add((sealed.pulse.cycles, opened.pulse.cycles, sealed.pulse.stack))
    assert len(used) == 1


def test_modelled_energy(target: Target) -> None:
    got = energy({"cycles_encrypt_mean": 1000.0, "rom": 5.0}, target)
    assert target.energy is not None
    watts = target.energy.volts * target.energy.milliamperes / 1000
    assert got == {"energy_encrypt_modelled": pytest.approx(watts * 1000 / target.energy.clock_hz * 1e6)}
    assert energy({"cycles_encrypt_mean": 1.0}, target.but(energy=None)) == {}


def test_the_spread_is_the_mean_of_all_calls_and_a_difference_has_no_sign() -> None:
    op, vector, answer = observed("encrypt", 110, 5)
    pulses = (Pulse(1, 1, spread=s, apart=a) for s, a in ((0.01, 2.0), (0.03, -5.0), (None, None)))
    seen = [(op, vector, replace(answer, pulse=p)) for p in pulses]
    assert ram.spread(seen) == {"spread_percent": pytest.approx(2.0)}
    assert cycles.counter(seen) == {"counter_difference": 5.0}


def test_a_long_byte_is_the_difference_of_two_sizes() -> None:
    few, many = cycles.LONG
    made = [Point("encrypt", 0, m, 7 + 3 * m) for m in (few, many)]
    made += [Point("encrypt", a, 0, 7 + 2 * a) for a in (few, many)]
    assert cycles.lines(made) == {"encrypt_long_per_byte": 3, "encrypt_long_per_ad_byte": 2}


def test_power_is_that_of_encryption_whatever_was_metered_first() -> None:
    watts = {"schedule_encrypt": Value(0.01, 0.0), "encrypt": Value(0.06, 0.0)}
    made = measured({}, Power(watts, watts, Value(0.001, 0.0), Value(1e-6, 0.0), ()))
    assert made["power_measured"] == 60.0


def test_instructions_are_of_the_calls_that_cycles_are_of(bench: Bench, bluepill: Target) -> None:
    """Where time depends on the inputs: of fresh ones, with the known answers' own beside."""

    def calls(cycles: int, instructions: int) -> tuple[Observed, ...]:
        pulse = Pulse(cycles, stack=8, instructions=instructions)
        answer = CallResult(0, 8, True, 0, 8, 0, b"", pulse)
        return tuple(("encrypt", Vector(k, b"", b"", b"", b""), answer) for k in (1, 2))

    images = bench.build(bench.package(toys.files()), bluepill, "-Os").images
    empty = Empty({"encrypt": 100}, {"encrypt": 10})
    seen = Observations(empty, calls(300, 60), calls(900, 510), (), "cycles", None, depends=True)
    found = figures(seen, images, bluepill).metrics
    means = ("cycles_encrypt_mean", "cycles_encrypt_known_mean", "instructions_encrypt_mean")
    assert [found[n] for n in (*means, "instructions_encrypt_known_mean")] == [800, 200, 500, 50]


@pytest.mark.parametrize(("block", "each"), [(0, (16 + 8 + 24) / (16**2 + 8**2 + 24**2)), (8, 1 / 8)])
def test_energy_per_byte_is_as_uncertain_as_its_cycles(block: int, each: float, bench: Bench, bluepill: Target) -> None:
    """Two samples of three cycles, and one that is rounded away, in each point of 0, 8 and 40 bytes, or in a block."""

    def calls(size: int) -> tuple[Observed, ...]:
        answer = CallResult(0, 8, True, 0, 8, 0, b"", Pulse(1100 + 30 * size, stack=8))
        return (("encrypt", Vector(1, b"", b"", bytes(size), b""), answer),)

    images = bench.build(bench.package(toys.files()), bluepill, "-Os").images
    power = Power({"encrypt": Value(0.06, 0.0)}, {}, Value(0.001, 0.0), Value(1e-6, 0.0), (), 3.0)
    swept = () if block else (*calls(0), *calls(8), *calls(40))
    seen = Observations(
        Empty({"encrypt": 100}, {}), calls(8), (), swept, "cycles", None, depends=False, block=block, power=power
    )
    found, name = figures(seen, images, bluepill).metrics, "energy_encrypt_measured_per_b"
    assert found[f"{name}yte"] == pytest.approx(0.06 * found["encrypt_per_byte"])
    assert found[f"{name}yte_uncertainty"] == pytest.approx(0.06 * 7 * each)
    assert found[f"{name}it_uncertainty"] == pytest.approx(60 * 7 * each / 8)


def test_energy_is_of_the_mean_that_is_shown(bench: Bench, bluepill: Target) -> None:
    """Where time depends on the inputs: of fresh ones, modelled and measured."""

    def calls(cycles: int) -> tuple[Observed, ...]:
        answer = CallResult(0, 8, True, 0, 8, 0, b"", Pulse(cycles, stack=8))
        return (("encrypt", Vector(1, b"", b"", b"", b""), answer),)

    images = bench.build(bench.package(toys.files()), bluepill, "-Os").images
    watts = {"encrypt": Value(0.06, 0.0)}
    power = Power(watts, watts, Value(0.001, 0.0), Value(1e-6, 0.0), ())
    empty = Empty({"encrypt": 100}, {})
    seen = Observations(empty, calls(300), calls(900), (), "cycles", None, depends=True, power=power)
    found, mean = figures(seen, images, bluepill).metrics, {"cycles_encrypt_mean": 800.0}
    for name, value in (energy(mean, bluepill) | measured(mean, power)).items():
        assert found[name] == value, name
    assert found["energy_encrypt_measured"] == pytest.approx(0.06 * 800)
