"""Packages as found in the wild, regular and irregular: each builds, or gives a reason why not."""

from __future__ import annotations

import re

import pytest

from steelyard.building import objects
from steelyard.model.reasons import Reason
from steelyard.model.target import Target
from tests import toys
from tests.builds.packages import CODE, GOOD, NEEDS, works
from tests.conftest import STANDARD, Bench, the_target

BIG = "extern const unsigned char biga[], bigb[], bigc[];"
AVR = 'void perm(void) { __asm__ volatile("ldi r24, lo8(1)\\n\\tst X+, r24\\n\\tadiw r26, 1"); }\n'
THUMB = 'void perm(void) { __asm__ volatile("ldmia r0!, {r1-r4}\\n\\teor r1, r2, r3, ror #7"); }\n'


@pytest.fixture(params=[*STANDARD, "msp430f1611"])
def target(request: pytest.FixtureRequest) -> Target:
    """The two standard targets, and one whose compiler and linker are LLVM's."""
    return the_target(request.param)


def test_the_toy_builds(bench: Bench, target: Target) -> None:
    package = bench.package()
    works(bench, package, target)
    assert set(bench.build(package, target).images) == {"both", "encrypt", "decrypt"}


@pytest.mark.parametrize(
    ("files", "reason", "detail"),
    [
        ({"encrypt.c": CODE + "\nint x = ;\n"}, Reason.COMPILE_ERROR, "encrypt.c: "),
        ({"encrypt.c": '#include "gone.h"\n' + CODE}, Reason.MISSING_FILE, "encrypt.c: gone.h"),
        ({"encrypt.c": toys.source(top="int far(void);", in_encrypt="far();")}, Reason.UNDEFINED_SYMBOL, "far"),
        (
            {"a.c": "int twice(void) { return 1; }", "b.c": "int twice(void) { return 2; }"},
            Reason.DUPLICATE_SYMBOL,
            "twice",
        ),
        ({"encrypt.c": CODE.replace("aead_decrypt", "aead_open")}, Reason.MISSING_ENTRY, "crypto_aead_decrypt"),
        ({"encrypt.c": "int other;\n"}, Reason.MISSING_ENTRY, "crypto_aead_encrypt"),
        ({"api.h": "#define CRYPTO_KEYBYTES 16\n#define CRYPTO_ABYTES 16\n"}, Reason.COMPILE_ERROR, "api.h: "),
        ({"encrypt.c": "#error not today\n"}, Reason.COMPILE_ERROR, "encrypt.c: "),
        (
            {f"{x}.c": f"const unsigned char big{x}[30000] = {{1}};" for x in "abc"}
            | {"encrypt.c": toys.source(top=BIG, in_encrypt="*c = biga[n] ^ bigb[n] ^ bigc[n];")},
            Reason.FLASH_OVERFLOW,
            "bytes too many",
        ),
        (
            {"encrypt.c": toys.source(top="static unsigned char big[30000];", in_encrypt="big[adlen]++;")},
            Reason.RAM_OVERFLOW,
            "bytes too many",
        ),
    ],
)
def test_what_does_not_build_says_why(
    bench: Bench, target: Target, files: dict[str, str], reason: Reason, detail: str
) -> None:
    built = bench.build(bench.package({**GOOD, **files}), target)
    assert built.failure is not None
    assert built.failure.reason is reason, built.failure
    assert detail in built.failure.detail
    assert "\n" not in built.failure.detail
    assert built.images == {} or reason is not Reason.COMPILE_ERROR


THUMB_LINES = THUMB.split('"')[1].replace("\\n\\t", "\n\t")


@pytest.mark.parametrize(
    ("name", "assembly"), [("bluepill", AVR), ("uno", THUMB), ("msp430f1611", AVR), ("msp430f1611", THUMB)]
)
def test_assembly_of_another_instruction_set(bench: Bench, name: str, assembly: str) -> None:
    text = assembly.split('"')[1].replace("\\n\\t", "\n\t")
    for extra in ({"perm.c": assembly}, {"perm.S": f"\t.global perm\nperm:\n\t{text}\n"}):
        failure = bench.build(bench.package({**NEEDS, **extra}), the_target(name)).failure
        assert failure is not None
        assert failure.reason is Reason.FOREIGN_ISA, failure
        bench.folder.rename(bench.folder.with_name(next(iter(extra))))


@pytest.mark.parametrize("line", ["movq %rax, %rbx", "xor r12, %r13", "ld: mov [r12], r13"])
def test_an_instruction_that_the_assembler_passes_over_is_foreign(bench: Bench, line: str) -> None:
    target = the_target("msp430f1611")
    works(bench, bench.package({**GOOD, "own.S": "f: call @r12 ; %r5\n\tjmp $-4\n\tmov #(5), 2(r13)\n"}), target)
    bench.folder.rename(bench.folder.with_name("straight"))
    perm = f"\t.global perm\nperm:\n\tnop\n\t{line}\n"
    failure = bench.build(bench.package({**NEEDS, "perm.S": perm}), target).failure
    assert failure is not None
    assert failure.reason is Reason.FOREIGN_ISA
    assert line in failure.detail


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uno", "\t.arch armv6t2\n"),  # "unknown MCU"
        ("bluepill", "\t.arch armv7-a\n"),
        ("bluepill", "\t.fpu neon\n\tldr r0, [r1], #99999\n"),  # no word of another machine but the directive
        ("bluepill", "\tbic sp, sp, #15\n"),
        ("bluepill", "#include <xtensa/coreasm.h>\n"),
    ],
)
def test_assembly_that_names_another_machine(bench: Bench, name: str, text: str) -> None:
    failure = bench.build(bench.package({**NEEDS, "p.S": f"{text}\t.global perm\nperm:\n"}), the_target(name)).failure
    assert failure is not None
    assert failure.reason is Reason.FOREIGN_ISA, failure


def test_a_header_of_the_target_s_own_instruction_set_is_missing(bench: Bench) -> None:
    """Clang has no such header; another compiler for the same chip may."""
    files = {**NEEDS, "p.c": "#include <msp430.h>\nvoid perm(void) {}\n"}
    failure = bench.build(bench.package(files), the_target("msp430f1611")).failure
    assert failure is not None
    assert failure.reason is Reason.MISSING_FILE, failure


@pytest.mark.parametrize("where", ["p.c", "p.h"])
@pytest.mark.parametrize("text", ["ldr r0, [r1], #99999", ".arch armv7-a", "vld1.8 {d0}, [r0]"])
def test_inline_assembly_that_names_another_machine(bench: Bench, bluepill: Target, where: str, text: str) -> None:
    """It does not assemble, does not link, or is no instruction of the processor."""
    code = f'void perm(void) {{ __asm__ volatile(".fpu neon\\n\\t{text}"); }}\n'
    files = {"p.c": '#include "p.h"\n', where: code}
    failure = bench.weigh(bench.package({**NEEDS, **files}), bluepill).failure
    assert failure is not None
    assert failure.reason is Reason.FOREIGN_ISA, failure
    assert ("written for .fpu neon: " in failure.detail) != ("profiles A/M" in failure.detail), failure


def test_assembly_that_no_source_needs_is_left_out(bench: Bench, uno: Target) -> None:
    """Authors leave assembly for all machines in one folder; a needed file is still reported missing."""
    top = "extern int part(void); extern int perm(void);"
    mine, other = "\t.global part\npart:\n\tret\n", f"\t.global perm\nperm:\n\t{THUMB_LINES}\n"
    unused = bench.package({**toys.files(top=top, in_encrypt="part();"), "a.S": other, "avr/p.S": mine})
    built = bench.build(unused, uno)
    assert built.failure is None
    assert any(note.startswith("a.S left out") and "a.S: " in note for note in built.notes)
    alone = bench.package({**toys.files(top=top, in_encrypt="part();"), "avr/p.S": mine}, variant="toy2")
    without = bench.build(alone, uno)
    left, right = (objects(b, i) for b, i in ((built, unused), (without, alone)))
    assert {n: f.read_bytes() for n, f in left.items()} == {n: f.read_bytes() for n, f in right.items()}
    needed = bench.package({**toys.files(top=top, in_encrypt="perm();"), "a.S": other}, variant="toy3")
    failed = bench.build(needed, uno)
    assert failed.failure is not None
    assert failed.failure.reason is Reason.FOREIGN_ISA
    assert "a.S" in failed.log


def test_assembly_is_all_that_a_package_for_other_machines_offers(bench: Bench, bluepill: Target) -> None:
    files = {**toys.files(), "perm.S": f"\t.global perm\nperm:\n\t{THUMB_LINES}\n\tno such thing\n"}
    for variant, machines, builds in (("toy1", "avr", False), ("toy2", "amd64 armeabi", True), ("toy3", "", True)):
        built = bench.build(bench.package({**files, "architectures": machines}, variant=variant), bluepill)
        assert (built.failure is None) is builds, built.failure


def test_assembly_that_defines_what_c_defines_is_left_out(bench: Bench, target: Target) -> None:
    both = bench.package(
        {**toys.files(top="int part(void) { return 1; }"), "p.S": "\t.global part\npart:\n\t.long 1\n"}
    )
    built = bench.build(both, target)
    assert built.failure is None
    assert any("p.S left out" in note and "part" in note for note in built.notes)


@pytest.mark.parametrize("flags", ["-Os", "-Os -flto"])
def test_what_compilers_say_names_no_file_of_a_moment(bench: Bench, bluepill: Target, flags: str) -> None:
    """It would differ from run to run."""
    built = bench.build(bench.package(in_encrypt='__asm__("nop nop");'), bluepill, *flags.split())
    assert built.failure is not None
    assert re.fullmatch(r"(encrypt.c|merge): temporary\S*\.s:\d+: Error: .*", built.failure.detail)
    assert "/tmp/cc" not in built.log


def test_inline_assembly_for_registers_of_another_machine(bench: Bench, uno: Target) -> None:
    code = 'void f(int *a) { __asm__ volatile("" : : "x"(a[0]), "x"(a[1]), "x"(a[2])); }\n'
    failure = bench.build(bench.package({**GOOD, "p.c": code}), uno).failure
    assert failure is not None
    assert failure.reason is Reason.FOREIGN_ISA, failure
    assert "find a register" in failure.detail


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"a.c": "int shared;\n", "b.c": "int shared;\n"}, id="tentative-definitions"),
        pytest.param(
            {"encrypt.c": toys.source(
                top="inline int far(int x);\ninline int far(int x) { return x == 1 ? 2 : far(x - 1); }",
                in_encrypt="if (far((int)n + 1) != 2) return 1;",
            )},
            id="inline-as-before-C99",
        ),
        pytest.param(
            {"a.c": "static int f(void) { return 1; }\nint a(void) { return f(); }\n",
             "b.c": "static int f(void) { return 2; }\nint b(void) { return f(); }\n"},
            id="statics-of-one-name",
        ),
        pytest.param({"extra.c": "int unused;\nint main(void) { return 1; }\n"}, id="main"),
        pytest.param({"encrypt.c": CODE + "int main(void) { return 1; }\n"}, id="main-beside-the-cipher"),
        pytest.param(
            {"encrypt.c": toys.source(top="#include <stdio.h>", in_encrypt='if (adlen > 90) printf("%u", n);')},
            id="printf",
        ),
        pytest.param(
            {"encrypt.c": toys.source(
                top="unsigned crc = 1; unsigned char sy_stack_limit[4]; int sy_run(int x) { return x + 1; }\n"
                "void *malloc(unsigned n) { return n ? sy_stack_limit : 0; } void sy_putc(void) { crc++; }\n"
                "void sy_reset(void) { crc++; }",
                in_encrypt="sy_putc(); sy_reset(); crc += sy_run(1); *(char *)malloc(1) = 1;",
            )},
            id="names-of-the-harness",
        ),
        pytest.param(
            {"encrypt.c": '#include "two words.h"\n' + CODE, "two words.h": "", "so so/a b.c": "int ab;\n"}, id="spaces"
        ),
        pytest.param({"odd $(name) 'n \"q;.c": "int odd;\n"}, id="shell-characters"),
        pytest.param(
            {"k.s": '#include "k.inc"\n#ifdef NEEDED\n\t.global made\nmade:\n#endif\n\t.byte 1, 2\n',
             "k.inc": "#define NEEDED\n",
             "encrypt.c": toys.source(top="extern const char made[];", in_encrypt="if (made == 0) return 1;")},
            id="preprocessed-assembly",
        ),
        pytest.param(
            {"encrypt.c": toys.source(top="int helper(int x);", in_encrypt="if (helper(1) != 2) return 1;"),
             "lib/helper.c": '#include "helper.h"\nint helper(int x) { return x + ONE; }\n',
             "inc/helper.h": "#define ONE 1\n"},
            id="folders",
        ),
    ],
)  # fmt: skip
def test_what_is_unusual_builds_and_works(bench: Bench, target: Target, files: dict[str, str]) -> None:
    works(bench, bench.package({**GOOD, **files}), target)


def test_globals_in_two_files_are_noted(bench: Bench, bluepill: Target) -> None:
    built = bench.build(bench.package({**GOOD, "a.c": "int shared;\n", "b.c": "int shared;\n"}), bluepill)
    assert built.failure is None
    assert any("-fcommon" in note for note in built.notes)
    assert "multiple definition" not in built.log


def test_what_supercop_alone_compiles_is_built_as_supercop_builds_it(bench: Bench, target: Target) -> None:
    """Its macro counts in ``api.h`` too, and the kept script has it; a failure with it is the one that is told."""
    code = f"#if defined(SUPERCOP)\n{CODE}\n#endif\n"
    api = f"{toys.API}\n#ifndef SUPERCOP\n#undef CRYPTO_ABYTES\n#define CRYPTO_ABYTES 8\n#endif\n"
    package = bench.package({**GOOD, "encrypt.c": code, "api.h": api})
    works(bench, package, target)
    built = bench.build(package, target)
    assert [n for n in built.notes if "-DSUPERCOP" in n]
    assert "-DSUPERCOP" in (built.folder / "build.sh").read_text()
    bad = bench.build(bench.package({**GOOD, "encrypt.c": code.replace("#endif", "#error never\n#endif")}), target)
    assert bad.failure is not None
    assert bad.failure.reason is Reason.COMPILE_ERROR


def test_what_is_there_without_supercop_s_macro_is_built_without_it(bench: Bench, uno: Target) -> None:
    """As NIST's own packages are."""
    for code in (f"#ifdef SUPERCOP\n#error never\n#endif\n{CODE}", f"/* of SUPERCOP */\n{CODE}"):
        built = bench.build(bench.package({**GOOD, "encrypt.c": code}), uno)
        assert (built.failure, built.notes) == (None, ())
    built = bench.build(bench.package({**GOOD, "encrypt.c": "int SUPERCOP;\n"}), uno)
    assert built.failure is not None
    assert built.failure.reason is Reason.MISSING_ENTRY
    assert "-DSUPERCOP" not in (built.folder / "build.sh").read_text()


def test_renamed_entry_points(bench: Bench, target: Target) -> None:
    wrapper = (
        '#include "lwc_crypto_aead.h"\naead_ctx lwc_aead_cipher = { "toy", "ref", CRYPTO_KEYBYTES,\n'
        "CRYPTO_NPUBBYTES, CRYPTO_ABYTES, toy_seal, toy_open };\n"
    )
    code = CODE.replace("crypto_aead_encrypt", "toy_seal").replace("crypto_aead_decrypt", "toy_open")
    package = bench.package({**GOOD, "encrypt.c": code, "lwc_crypto_aead.c": wrapper})
    assert package.entry == (("crypto_aead_encrypt", "toy_seal"), ("crypto_aead_decrypt", "toy_open"))
    works(bench, package, target)


def test_cxx(bench: Bench, target: Target) -> None:
    virtual = (
        "struct Base { virtual unsigned char get() const = 0; };\n"
        "struct Zero : Base { unsigned char get() const { return 0; } };\nstatic Zero zero;\n"
    )
    code = toys.source(top=virtual, in_encrypt="const Base &b = zero; if (b.get()) return 1;")
    works(bench, bench.package({"api.h": toys.API, "encrypt.cpp": '#include "crypto_aead.h"\n' + code}), target)
