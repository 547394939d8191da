"""FELICS-AE's three figures, each compared with an independent calculation."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard import building, device, measure
from steelyard.measure.felics import code_sizes
from steelyard.model import elf
from steelyard.model.call import Op, Request
from steelyard.model.implementation import Implementation
from steelyard.model.paths import CIPHERS, search_path
from steelyard.model.primitive import PRIMITIVES
from steelyard.model.reasons import Reason
from steelyard.model.record import Record
from steelyard.model.target import Target
from steelyard.pipeline import nocrypt
from steelyard.sources import discover
from tests import toys
from tests.conftest import Bench, write
from tests.felics import packages

NAMES = [f"felics_code_{n}{s}" for n in ("size", "ram", "time") for s in ("", "_decrypt")]


def toy(folder: Path, extra: dict[str, str] | None = None, **hooks: str) -> Implementation:
    found = discover(packages.tree(folder, extra=extra, **hooks))
    assert found.rejected == ()
    return found.implementations[0]


def weigh(bench: Bench, implementation: Implementation, target: Target, flags: str = "-Os") -> Record:
    record = bench.weigh(implementation, target, "felics-ae", flags)
    assert record.failure is None, record.failure
    return record


def test_a_package_is_weighed_as_it_is(bench: Bench, target: Target, tmp_path: Path) -> None:
    record = weigh(bench, toy(tmp_path), target)
    assert record.verification is not None
    assert (record.verification.source, record.verification.vectors) == ("package", 1089)
    assert set(NAMES) <= record.metrics.keys()
    assert record.metrics["rom_encrypt"] < record.metrics["rom"]
    assert [(p.operation, p.adlen, p.mlen) for p in record.points] == [
        (op, 16, 16) for op in ("encrypt", "decrypt", "reject")
    ]
    other = bench.weigh(toy(tmp_path), target, "kat")
    assert not set(NAMES) & other.metrics.keys()


@pytest.mark.parametrize(
    ("hooks", "reason"),
    [
        ({"after_encrypt": "c[3] ^= 1;"}, "kat-mismatch"),
        ({"after_decrypt": "m[3] ^= 1;"}, "decrypt-mismatch"),
        ({"after_decrypt": "return 0;"}, "forgery-accepted"),
        ({"after_encrypt": "c[n + 8] = 0;"}, "buffer-overrun"),
    ],
)
def test_a_wrong_package_has_no_figures(
    bench: Bench, uno: Target, tmp_path: Path, hooks: dict[str, str], reason: str
) -> None:
    record = bench.weigh(toy(tmp_path, **hooks), uno, "felics-ae")  # type: ignore[arg-type]
    assert record.failure is not None
    assert record.failure.reason == reason


def test_nothing_remains_of_nocrypt_minus_nocrypt(bench: Bench, target: Target) -> None:
    metrics = weigh(bench, nocrypt("crypto_aead", "felics"), target).metrics
    assert {n: metrics[n] for n in ("rom", "rom_encrypt", "rom_decrypt", "ram_static")} == dict.fromkeys(
        ("rom", "rom_encrypt", "rom_decrypt", "ram_static"), 0
    )


def test_a_loop_takes_as_long_behind_either_interface(bench: Bench, uno: Target, tmp_path: Path) -> None:
    spin = "__builtin_avr_delay_cycles(6000);"
    plain, spun = (weigh(bench, toy(tmp_path / k, in_encrypt=v), uno) for k, v in (("a", ""), ("b", spin)))
    nist, nist_spun = (weigh_nist(bench, uno, variant, in_encrypt=v) for variant, v in (("toy1", ""), ("toy2", spin)))
    name = "felics_code_time"
    assert spun.metrics[name] - plain.metrics[name] == pytest.approx(nist_spun[name] - nist[name], abs=8)
    assert spun.metrics[name] - plain.metrics[name] == pytest.approx(6000, abs=8)


def weigh_nist(bench: Bench, target: Target, variant: str, **hooks: str) -> dict[str, float]:
    record = bench.weigh(bench.package(variant=variant, **hooks), target, "felics-ae")
    return record.metrics


# -- code size


def text_and_data(target: Target, objects: list[Path]) -> int:
    """The sizes that binutils' ``size`` counts."""
    tool = shutil.which(f"{target.toolchain.prefix}size", path=search_path())
    assert tool
    out = subprocess.run([tool, *map(str, objects)], capture_output=True, text=True, check=True).stdout
    return sum(sum(map(int, line.split()[:2])) for line in out.splitlines()[1:])


def test_code_size_is_what_size_says_less_what_is_left_out(bench: Bench, target: Target, tmp_path: Path) -> None:
    more = {
        "tables.c": "const unsigned char table[40] = {1}; int counter = 5; int zero;\n"
        "int used(void) { return counter; }\n"
    }
    info = packages.INFO.replace("EncryptCode: encrypt!crypto_aead_decrypt", "EncryptCode: encrypt, tables")
    implementation = toy(tmp_path, extra={**more, "implementation.info": info})
    built = bench.build(implementation, target)
    objects = building.objects(built, implementation)
    assert set(objects) == {"encrypt.c", "tables.c"}
    sizes, notes = code_sizes(implementation, objects)
    assert sizes["encrypt"].all == text_and_data(target, list(objects.values()))
    assert sizes["encrypt"].data == (2 if target.toolchain.family == "avr" else 4)
    left = {s.name: s.size for s in elf.sections(objects["encrypt.c"].read_bytes())}
    alone = text_and_data(target, [objects["encrypt.c"]])
    assert sizes["decrypt"].all == alone - left[".text.crypto_aead_encrypt"]
    assert notes == []


def test_without_lists_each_operation_leaves_out_the_other(bench: Bench, target: Target) -> None:
    implementation = bench.package()
    built = bench.build(implementation, target)
    (path,) = building.objects(built, implementation).values()
    left = {s.name: s.size for s in elf.sections(path.read_bytes())}
    sizes, _ = code_sizes(implementation, {"encrypt.c": path})
    every = text_and_data(target, [path])
    assert sizes["encrypt"].all == every - left[".text.crypto_aead_decrypt"]
    assert sizes["decrypt"].all == every - left[".text.crypto_aead_encrypt"]


def test_clones_belong_to_their_function(bench: Bench, uno: Target, tmp_path: Path) -> None:
    """A function that the compiler specialises is left out with its name; one with a similar name is not."""
    info = packages.INFO.replace("!crypto_aead_decrypt", "!crypto_aead_decrypt!worker")
    top = (
        "static __attribute__((noinline)) int worker(int x, int y) { volatile int z = x * y; return z + x; }\n"
        "__attribute__((noinline)) int worker2(int x) { volatile int z = x; return z; }\n"
    )
    hooks = {"top": top, "in_encrypt": "c[0] = (unsigned char)(worker(n, 3) + worker2(n));"}
    implementation = toy(tmp_path, extra={"implementation.info": info}, **hooks)
    built = bench.build(implementation, uno, "-O2")
    objects = building.objects(built, implementation)
    names = {s.name: s.size for s in elf.sections(objects["encrypt.c"].read_bytes())}
    clones = [n for n in names if n.startswith(".text.worker.")]
    assert clones, names
    sizes, _ = code_sizes(implementation, objects)
    counted = sum(size for name, size in names.items() if name.startswith(".text"))
    assert sizes["encrypt"].all == counted - names[clones[0]] - names[".text.crypto_aead_decrypt"]


def test_objects_without_code_have_no_size(bench: Bench, bluepill: Target, tmp_path: Path) -> None:
    record = weigh(bench, toy(tmp_path), bluepill, "-Os -flto")
    assert not {"felics_code_size", "felics_code_ram"} & record.metrics.keys()
    assert any("no FELICS-AE code size" in note for note in record.notes)


@given(st.binary(max_size=200), st.integers(0, 300))
def test_damaged_objects(junk: bytes, cut: int) -> None:
    head = b"\x7fELF\x01\x01" + bytes(26) + (52).to_bytes(4, "little") + bytes(10) + b"\x28\0\x02\0\x01\0"
    for data in (junk, head[:cut] + junk, b"\x7fELF" + junk):
        try:
            found = elf.sections(data)
        except ValueError:
            continue
        assert all(s.size >= 0 for s in found)


# -- RAM


def test_ram_is_stack_data_key_and_two_blocks(bench: Bench, target: Target, tmp_path: Path) -> None:
    data = "int counter = 5;\n"
    figures = weigh(bench, toy(tmp_path, top=data, in_encrypt="counter++;"), target).metrics
    above = {"avr": 3, "thumb": 0}[target.toolchain.family]
    size = 2 if target.toolchain.family == "avr" else 4
    assert figures["felics_code_ram"] == figures["stack_encrypt"] - above + size + toys.KEY + 32
    assert figures["felics_code_ram_decrypt"] == figures["stack_decrypt"] - above + size + toys.KEY + 32


@pytest.mark.parametrize("array", [1500, 3000])
def test_ram_ends_where_the_window_ends(bench: Bench, bluepill: Target, tmp_path: Path, array: int) -> None:
    big = f"volatile unsigned char big[{array}]; for (i = 0; i < sizeof big; i++) big[i] = (unsigned char)i;"
    record = weigh(bench, toy(tmp_path, in_encrypt=big), bluepill)
    common = toys.KEY + 32
    assert record.metrics["stack_encrypt"] >= array
    saturated = [n for n in record.notes if "FELICS-AE sees 2000" in n]
    if array > 2000:
        assert record.metrics["felics_code_ram"] == 2000 + common
        assert len(saturated) == 1
    else:
        assert record.metrics["felics_code_ram"] == record.metrics["stack_encrypt"] + common
        assert saturated == []


# -- time

_AVR = """
    .global crypto_aead_encrypt
    .type crypto_aead_encrypt, @function
crypto_aead_encrypt:
    .rept 100
    nop
    .endr
    jmp slow_encrypt
"""


def test_time_is_from_call_to_call(bench: Bench, uno: Target, tmp_path: Path) -> None:
    """On AVR: a short call of 3 cycles, 100 cycles of NOP, 3 of JMP, and everything up to the RET."""
    body = packages.source().replace("int crypto_aead_encrypt(", "int slow_encrypt(")
    more = {"encrypt.c": body, "entry.S": _AVR}
    info = packages.INFO.replace("EncryptCode: encrypt!crypto_aead_decrypt", "EncryptCode: encrypt, entry")
    implementation = toy(tmp_path, extra={**more, "implementation.info": info})
    plain = toy(tmp_path / "plain")
    slow, fast = (weigh(bench, i, uno).metrics for i in (implementation, plain))
    assert slow["felics_code_time"] - fast["felics_code_time"] == 103
    client = bench.client(plain, uno)
    zeros = Request(Op.EMPTY, bytes(toys.KEY), bytes(toys.NPUB), b"", b"")
    assert client.inside(zeros) == 6  # LDI, LDI, RET
    # after the empty call's 6: what points and felics_code_time differ by on data that does not matter
    point = next(p for p in weigh(bench, plain, uno).points if p.operation == "encrypt")
    assert fast["felics_code_time"] == point.cycles + 6 + 3


def test_its_message_and_the_known_answers_inputs_are_used(bench: Bench, uno: Target, tmp_path: Path) -> None:
    """A package whose time depends on its data: 16, 15, ... 1, with the vector's key and associated data."""
    loop = "volatile unsigned j; unsigned s = 0; for (i = 0; i < n; i++) s += m[i] * (i + 1u);"
    loop += "s += k[0] + 3 * ad[0] + 5 * npub[0]; for (j = 0; j < s; j++) ;"
    times = {}
    for key in (0, 1):
        parts = bytes([key]) * toys.KEY, bytes(range(50, 66)), bytes(range(16)), bytes(range(100, 116))
        known = packages.vectors(*parts, toys.encrypt(*parts))
        implementation = toy(tmp_path / str(key), extra={"test_vectors.c": known}, in_encrypt=loop)
        times[key] = weigh(bench, implementation, uno).metrics["felics_code_time"]
        steps = sum((16 - i) * (i + 1) for i in range(16)) + key + 300 + 250
        each = times[1] - times[0] if key else 0
    assert each > 0
    assert steps * each < times[1] < steps * each + 5000


def test_boards_and_processes_say_what_they_can(bench: Bench, tmp_path: Path) -> None:
    """A device that cannot look inside a call has no time and no RAM by these definitions, and leaves them out."""

    class Blind:
        def __init__(self, client: device.Client) -> None:
            self.client, self.hello = client, client.hello

        def __getattr__(self, name: str) -> object:
            return getattr(self.client, name)

        def inside(self, _: Request) -> None:
            return None

    from tests.conftest import the_target

    uno = the_target("uno")
    implementation = toy(tmp_path)
    built = bench.build(implementation, uno)
    client = device.simulated(uno, built.images["both"])
    objects = building.objects(built, implementation)
    empty = measure.empty_calls(client, PRIMITIVES["crypto_aead"].operations)
    case = measure.case(client, [])
    found = measure.felics(Blind(client), implementation, uno, objects, case, empty.cycles).figures  # type: ignore[arg-type]
    assert "felics_code_time" not in found
    assert "felics_code_size" in found


_ONE_MESSAGE = """
#include <string.h>
#include "api.h"
#include "crypto_aead.h"
static int is(const unsigned char *m)
{
    unsigned char i;
    for (i = 0; i < 16; i++)
        if (m[i] != 16 - i)
            return 0;
    return 1;
}
int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen, const unsigned char *m, unsigned long long mlen,
    const unsigned char *ad, unsigned long long adlen, const unsigned char *nsec, const unsigned char *n,
    const unsigned char *k)
{
    if (mlen != 16 || adlen != 16 || !is(m))
        return real_encrypt(c, clen, m, mlen, ad, adlen, nsec, n, k);
    memcpy(c, m, 16);
    memset(c + 16, 0, CRYPTO_ABYTES);
    *clen = 16 + CRYPTO_ABYTES;
    return 0;
}
int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen, unsigned char *nsec, const unsigned char *c,
    unsigned long long clen, const unsigned char *ad, unsigned long long adlen, const unsigned char *n,
    const unsigned char *k)
{
    unsigned char i;
    if (clen != 16 + CRYPTO_ABYTES || adlen != 16 || !is(c))
        return real_decrypt(m, mlen, nsec, c, clen, ad, adlen, n, k);
    for (i = 0; i < CRYPTO_ABYTES; i++)
        if (c[16 + i])
            return -1;
    memcpy(m, c, 16);
    *mlen = 16;
    return 0;
}
"""


def test_its_only_message_gets_the_right_answer(bench: Bench, uno: Target) -> None:
    """And where nothing says which is right, a note says that another one takes longer."""
    ours = discover(CIPHERS / "crypto_aead/tinyjambu/tinyjambu128v2/fast").implementations[0]
    files = {f.name: f.path.read_text() for f in ours.files}
    renamed = {n: t.replace("crypto_aead_encrypt(", "real_encrypt(").replace("crypto_aead_decrypt(", "real_decrypt(")
               for n, t in files.items()}  # fmt: skip
    heads = "".join(
        f"int real_{d}(unsigned char *, unsigned long long *, {more});\n"
        for d, more in (
            ("encrypt", "const unsigned char *, unsigned long long, const unsigned char *, unsigned long long, "
                        "const unsigned char *, const unsigned char *, const unsigned char *"),
            ("decrypt", "unsigned char *, const unsigned char *, unsigned long long, const unsigned char *, "
                        "unsigned long long, const unsigned char *, const unsigned char *"),
        )
    )  # fmt: skip
    renamed["one.c"] = heads + _ONE_MESSAGE
    (found,) = discover(write(bench.folder / "crypto_aead/tinyjambu128v2/mine", renamed)).implementations
    record = bench.weigh(found, uno, "felics-ae", "-O2")
    assert record.failure is not None
    assert record.failure.reason == Reason.WRONG_OUTPUT
    assert "FELICS-AE's case" in record.failure.detail
    (found,) = discover(write(bench.folder / "crypto_aead/unheard/mine", renamed)).implementations
    record = bench.weigh(found, uno, "felics-ae", "-O2")
    assert record.failure is not None
    assert record.failure.reason == Reason.NO_EXPECTED, record.failure
    assert any(n.startswith("encrypt takes ") and n.endswith(" with FELICS-AE's") for n in record.notes), record.notes
