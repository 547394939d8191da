"""Which cycles are of assembly: those of functions that only assembly files hold, of a call that is made."""

from __future__ import annotations

import pytest

from steelyard.measure import share
from steelyard.model.target import Target
from tests import toys
from tests.conftest import Bench, the_target

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
NO_INLINE, BESIDE = (f"__attribute__((noinline{more}))" for more in ("", ', section(".text")'))


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
    """Not behind a function of assembly without a size or with too large a one, and not under a name for its end."""
    toy = toys.files(top="void work(unsigned char *p);", in_encrypt="work(c);", in_decrypt="work(m);")
    for hidden, fake in (
        (NO_INLINE, FAKE),
        (BESIDE, FAKE),
        (NO_INLINE, FAKE + ".size fake, 4000\n"),
        (NO_INLINE, FAKE + ".global more\n.type more, @function\nmore:\n"),
    ):
        record = bench.weigh(bench.package(toy | {"a.S": fake, "work.c": HIDDEN.format(hidden)}), uno, flags=flags)
        assert record.metrics["assembly_cycles"] < 1, (hidden, fake, record.failure)


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


def test_a_compilers_clone_is_no_function_of_assembly() -> None:
    """It is another function's of the same name; what is assembly in part has clones that are as it is."""
    hand = {"permute": 1.0, "mixed": 0.5}
    tree = [("permute.constprop.0", 0, 1, 80), ("permute", 0, 1, 10), ("mixed.part.0", 0, 1, 10)]
    assert share(tree, hand) == 0.15
