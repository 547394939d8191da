"""What a package can leave behind on Xtensa: in the frames of the harness, in register windows, in a hardware loop."""

from __future__ import annotations

import time

import pytest

from steelyard import _native
from steelyard.model.call import DeviceError, Op
from steelyard.model.reasons import Reason
from steelyard.model.target import Target
from tests import toys
from tests.conftest import Bench, the_target

KAT = {"LWC_AEAD_KAT_128_128.txt": toys.kat()}
#: fills all register windows, so that those of the harness are in its frames
DEEP = (
    "static int __attribute__((noinline)) deep(int n) { volatile int x = n; if (n) x += deep(n - 1); return x + 1; }\n"
    "#define SAVED(sp) (*(unsigned **)((unsigned char *)(sp) - 12))\n"
)
#: stack pointers of the harness, from that of sy_run's callee on
CHAIN = 'deep(30); {{ unsigned *own; __asm__ volatile("mov %0, a1" : "=r"(own)); '
CHAIN += "{{ unsigned *run = SAVED(own), *request = SAVED(run), *main = SAVED(request); {} }} }}"


@pytest.fixture
def esp32() -> Target:
    return the_target("esp32")


@pytest.mark.parametrize("name", ["esp8266", "esp32"])
def test_the_frames_of_the_harness(bench: Bench, name: str) -> None:
    target = the_target(name)
    top = target.chip.ram.base + target.chip.ram.size
    use = f"{{ volatile unsigned *p = (unsigned *){top - 160:#x}; for (; p < (unsigned *){top:#x}; p++) *p = *p; }}"
    failed = bench.weigh(bench.package(after_encrypt=use), target).failure
    assert failed is not None
    assert (failed.reason, "of the harness's stack" in failed.detail) == (Reason.STRAY_WRITE, True), failed


def test_callers_may_be_saved(bench: Bench, esp32: Target) -> None:
    """That is the harness's own handlers' work, at any depth."""
    files = {**toys.files(top=DEEP, in_encrypt="if (adlen % 3 == 1) deep(30);", in_tag="deep(3);"), **KAT}
    record = bench.weigh(bench.package(files), esp32)
    assert record.failure is None, record.failure


@pytest.mark.parametrize(
    "change",
    [
        "((unsigned char *)run)[-16 + 12] ^= 4;",  # a3 of sy_request
        "((unsigned char *)request)[-16] ^= 4;",  # the return address of main
        "((unsigned char *)main)[-32] ^= 4;",  # a4 of sy_request
        "",  # WindowStart
    ],
    ids=["a3", "return address", "a4", "WindowStart"],
)
def test_callers_that_were_saved_are_as_they_were(bench: Bench, esp32: Target, change: str) -> None:
    """The harness would go on in the package, outside of a measured call."""
    if not change:  # a frame where no function is
        code = "{ unsigned at; "
        code += '{ register unsigned x __asm__("a8"); __asm__ volatile(".byte 0x80, 72, 0x03" : "=r"(x)); at = x; } '
        code += '{ register unsigned x __asm__("a8"); __asm__ volatile(".byte 0x80, 73, 0x03" : "=r"(x)); '
        code += 'x |= 1u << ((at + 6) & 15); __asm__ volatile(".byte 0x80, 73, 0x13" : : "r"(x)); } }'
    else:
        code = CHAIN.format(change)
    failed = bench.weigh(bench.package(top=DEEP, after_encrypt=code), esp32).failure
    assert failed is not None
    assert failed.reason is Reason.FAULT, failed
    assert failed.detail.startswith("left-harness: "), failed


def test_a_loop_that_a_call_leaves_open_ends_with_it(bench: Bench, esp32: Target) -> None:
    """Its end is in the harness, its beginning in the package: that would run after the call."""
    top = """volatile unsigned hooked;
__asm__(".text\\n.align 4\\n.literal_position\\nhook:\\n movi a8, hooked\\n movi a9, 1\\n s32i a9, a8, 0\\n"
    " movi a8, %s\\n jx a8\\n");
extern char hook[];
#define PUT(n, value) { register unsigned x __asm__("a8") = (unsigned)(value); \\
    __asm__ volatile(".byte 0x80, " #n ", 0x13" : : "r"(x)); }
"""
    arm = "PUT(1, {end:#x}) PUT(0, hook) PUT(2, 1) c[0] ^= (unsigned char)hooked;"
    end = 0x40080400
    for _ in range(2):  # the address is known after a first link
        files = {**toys.files(top=top.replace("%s", hex(end)), after_encrypt=arm.format(end=end)), **KAT}
        package = bench.package(files)
        built = bench.build(package, esp32)
        assert built.failure is None, built.failure
        address = _native.elf_address(built.images["both"].read_bytes(), "sy_put_count")
        assert address is not None
        end = address + 3  # after its ENTRY
    record = bench.weigh(package, esp32)
    assert record.failure is None, record.failure


@pytest.mark.parametrize(
    ("first", "step", "fault"),
    [
        (0x40000000, 1, None),  # where no code is, no loop ends
        (0x40080000, 0, None),
        (0x40090000, 1, "many-loops: hardware loops end at more than 4096 addresses, which is not modelled at pc"),
    ],
)
def test_ends_of_loops_cost_the_host_little(
    bench: Bench, esp32: Target, first: int, step: int, fault: str | None
) -> None:
    code = f"""{{ static unsigned end = {first:#x}; unsigned n;
    for (n = 0; n < 300000; n++, end += {step}) {{ register unsigned x __asm__("a8") = end;
        __asm__ volatile(".byte 0x80, 1, 0x13" : : "r"(x)); }} }}"""
    client = bench.client(bench.package(in_encrypt=code), esp32)
    request = client.hello.zeros(Op.ENCRYPT)
    began = time.monotonic()
    if fault is None:
        client.call(request)
    else:
        with pytest.raises(DeviceError, match=fault):
            client.call(request)
    assert time.monotonic() - began < 3
