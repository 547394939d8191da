"""What a package's objects may request from the link, and which parts of them are in the image."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from steelyard import device
from steelyard.building import sandbox
from steelyard.building.commands import MERGE, PLAIN, linking
from steelyard.measure.rom import in_image, load_size
from steelyard.model import paths
from steelyard.model.elf import exported, sections, symbols
from steelyard.model.linked import unlisted
from steelyard.model.reasons import Failure, Reason
from steelyard.model.target import Target
from tests import toys
from tests.conftest import Bench, the_target, write

KAT = {"LWC_AEAD_KAT_128_128.txt": toys.kat()}
TARGETS = ("uno", "bluepill", "gd32vf103")


@pytest.mark.parametrize(
    ("top", "use", "name"),
    [
        ("extern unsigned sy_heap_peak;", "sy_heap_peak = 0;", "sy_heap_peak"),
        ("void sy_putc(unsigned char byte);", "sy_putc(1);", "sy_putc"),
        ("int main(void);", "if (n == 999) main();", "main"),
        ("extern int sy_run(int, void *) __attribute__((weak));", "if (sy_run && n == 99) sy_run(1, c);", "sy_run"),
        ("extern char sy_free_start[];", "*c = sy_free_start[0];", "sy_free_start"),
    ],
)
def test_names_of_the_harness_are_out_of_reach(bench: Bench, target: Target, top: str, use: str, name: str) -> None:
    built = bench.build(bench.package(top=top, in_encrypt=use), target)
    assert built.failure == Failure(Reason.HARNESS_SYMBOL, name)


def test_a_common_symbol_does_not_become_the_harness_s(bench: Bench) -> None:
    """LLVM's linker leaves common symbols global to the last link, which would merge them."""
    common = "int sy_heap_peak __attribute__((common));"
    built = bench.build(bench.package(top=common, in_encrypt="sy_heap_peak = 0;"), the_target("msp430f1611"))
    assert built.failure == Failure(Reason.HARNESS_SYMBOL, "sy_heap_peak")


def test_common_symbols_have_any_number_and_name(bench: Bench) -> None:
    """More than a command has room for, and names with what is special in a list of options."""
    odd = ["it's", "a#b", r"back\\slash", r"quo\"te", "$HOME", "*"]
    top = "".join(f'char odd{k} __asm__("{name}") __attribute__((common));\n' for k, name in enumerate(odd))
    many = "".join(f"char {'a_long_name_' * 125}{k} __attribute__((common));\n" for k in range(1600))
    built = bench.build(
        bench.package(
            {
                **toys.files(top=top, in_encrypt="".join(f"odd{k} = 1;" for k in range(len(odd)))),
                "many.c": many,
            }
        ),
        the_target("msp430f1611"),
    )
    assert built.failure is None
    # a common symbol that was made local is a mere number in the image
    there = {s.name for s in symbols(built.images["both"].read_bytes()) if s.kind}
    assert {name.replace(r"\\", "\\").replace(r"\"", '"') for name in odd} <= there


@pytest.mark.parametrize("name", [*TARGETS, "msp430f1611", "esp8266"])
def test_every_kind_of_symbol_is_local_or_refused(bench: Bench, name: str) -> None:
    """The simulator knows the harness's functions by their global names, libraries' epilogues among them."""
    mark = "%" if name == "bluepill" else "@"
    for kind in ("gnu_unique_object", "gnu_indirect_function", "function", "object"):
        text = (
            f".text\n.global __riscv_restore_x\n.type __riscv_restore_x, {mark}{kind}\n__riscv_restore_x: .byte 1, 1\n"
        )
        use = {"top": "extern char __riscv_restore_x;", "in_encrypt": "if (n == 999) t[0] = __riscv_restore_x;"}
        built = bench.build(bench.package({**toys.files(**use), "x.S": text}), the_target(name))
        if built.failure is None:
            symbols = exported(built.images["both"].read_bytes())
            assert "sy_run" in symbols
            assert "__riscv_restore_x" not in symbols
        else:
            assert built.failure.reason in (Reason.HARNESS_SYMBOL, Reason.PLACED_SECTION), built.failure


def test_a_package_has_no_linker_script(bench: Bench) -> None:
    """LLVM's linker would treat a name in an object as a library, even when it is not one."""
    files = {**toys.files(top='#pragma comment(lib, "src/script.h")'), "script.h": "sy_of_its_own = 0x1234;\n"}
    built = bench.build(bench.package(files), the_target("msp430f1611"))
    assert "sy_of_its_own" not in exported(built.images["both"].read_bytes())


@pytest.mark.parametrize("section", [".init3", ".vectors", ".reset", ".start", ".fini9"])
def test_code_that_would_run_before_the_harness_is_refused(bench: Bench, target: Target, section: str) -> None:
    early = f'__attribute__((section("{section}"), used)) void early(void) {{ }}'
    built = bench.build(bench.package(top=early), target)
    assert built.failure == Failure(Reason.PLACED_SECTION, section)


@pytest.mark.parametrize("name", ["uno", "bluepill", "gd32vf103", "nucleo-f746zg", "msp430f1611", "esp8266", "esp32"])
def test_a_function_is_counted_whatever_its_name(bench: Bench, name: str) -> None:
    """Sections are named after functions: rules that link the harness's first must not match the package's."""
    target, sizes = the_target(name), set()
    steps = "".join(f"x = x * {2 * k + 3}u + (x >> {k % 7 + 1}); " for k in range(60))
    for function in ("other", "empty_state", "sy_run", "sy_settle", "reset", "sy_reset"):
        top = f"static unsigned __attribute__((noinline)) {function}(unsigned x) {{ {steps}return x; }}"
        built = bench.build(bench.package(top=top, in_encrypt=f"if (n == 7777) *c = {function}(n);"), target)
        assert built.failure is None, (function, built.failure, built.log)
        sizes |= {load_size(image) for image in built.images.values()}
    assert len(sizes) == 3


@pytest.mark.parametrize("name", [*TARGETS, "nano-every", "msp430f1611", "esp8266", "maixduino"])
@pytest.mark.parametrize("room", ["progbits", "nobits"])
def test_ram_in_a_section_of_its_own_is_refused(bench: Bench, name: str, room: str) -> None:
    """It would not be counted, would survive a restart, or would be under the buffers."""
    mark = "%" if name == "bluepill" else "@"
    text = f'.section mine, "aw", {mark}{room}' + "\n.global kept\nkept: .skip 64\n"
    use = {"top": "extern volatile unsigned char kept[64];", "in_encrypt": "kept[n & 63]++;"}
    built = bench.build(bench.package({**toys.files(**use), "kept.S": text}), the_target(name))
    assert built.failure is not None
    assert built.failure.reason is Reason.PLACED_SECTION
    assert built.failure.detail.startswith("mine, 64 bytes at 0x")


@pytest.mark.parametrize(
    "section",
    [
        '".text.a 0x00000000 0x999 /usr/lib/libgcc.a(_mulsi3.o)","ax"',
        '".debug_a 0x00000000 0x999 /usr/lib/libgcc.a(_mulsi3.o)",""',
        '".text.a\\n 4008 4008 999 2 helpers.o:(.text.memset)","ax"',
        '"/DISCARD/x.text","ax"',
    ],
)
def test_a_section_s_name_is_no_line_of_the_linker_s_map(bench: Bench, target: Target, section: str) -> None:
    """From which the bytes of libraries are read."""
    code = f".section {section}\n.globl table\ntable: .fill 64, 1, 0\n"
    use = "if (table[mlen & 63]) return 1;" if "text" in section else ""
    package = bench.package({**toys.files(top="extern char table[];", in_encrypt=use), "table.S": code})
    built = bench.build(package, target)
    assert built.failure is not None
    assert built.failure.reason is Reason.PLACED_SECTION, built.failure
    assert "a section's name begins with" in built.failure.detail
    assert built.failure.detail.isprintable()


@pytest.mark.parametrize(
    "label",
    [
        r"\"x\n    4008     4008      800     2         /z/helpers.o:(.text.memcpy)\n\": .byte 1",
        r"\"x\nmemset\t--update-section=.text=params.o\t C 0 0\n\": .byte 1",
    ],
)
def test_a_symbol_s_name_is_no_line_of_maps_and_lists(bench: Bench, label: str) -> None:
    """From which the bytes of libraries and options of objcopy are read; LLVM's assembler takes any."""
    code = rf".section .rodata.t, \"a\"\n.globl table\ntable:\n{label}\n.fill 64, 1, 0\n.text\n"
    use = {"top": f'__asm__("{code}"); extern char table[];', "in_encrypt": "if (table[mlen & 63]) return 1;"}
    built = bench.build(bench.package(toys.files(**use)), the_target("msp430f1611"))
    assert built.failure is not None
    assert built.failure.reason is Reason.HARNESS_SYMBOL, built.failure
    assert "ends of lines in a symbol's name" in built.failure.detail
    assert built.failure.detail.isprintable()


@pytest.mark.parametrize("section", ["COMMON.x", ".sbss-x", ".sbss", ".xt.prop"])
def test_code_has_no_name_of_memory_without_bytes(bench: Bench, target: Target, section: str) -> None:
    """By which it would not be counted."""
    even = "aligned(2)"  # without bytes it has any address, and newer linkers refuse calls to odd ones
    top = f'__attribute__((section("{section}"), noinline, {even})) static int odd(int n) {{ return n * 3; }}'
    built = bench.build(bench.package(toys.files(top=top, in_encrypt="if (odd((int)mlen) < 0) return 1;")), target)
    assert built.failure is not None
    assert built.failure.reason is Reason.PLACED_SECTION, built.failure
    assert section in built.failure.detail


@pytest.mark.parametrize("name", [*TARGETS, "msp430f1611"])
@pytest.mark.parametrize("section", ["COMMONx", "_code"])
def test_code_under_any_other_name_is_counted(bench: Bench, name: str, section: str) -> None:
    """In the maps of all images: what a map does not say of code that the package has is told."""
    top = f'__attribute__((section("{section}"), noinline)) static int odd(int n) {{ return n * 3; }}'
    package = bench.package(toys.files(top=top, in_encrypt="if (odd((int)mlen) < 0) return 1;"))
    built = bench.build(package, the_target(name))
    assert built.failure is None, built.failure
    assert in_image(built.maps["both"], "implementation")[section] > 0
    assert unlisted(built.maps["both"], "implementation", [section]) == []
    if not the_target(name).toolchain.linker:
        assert unlisted(built.maps["both"], "implementation", [section, section, "another"]) == sorted(
            [section, "another"]
        )


@pytest.mark.parametrize("name", [*TARGETS, "esp8266"])
def test_sections_that_linkers_name_are_as_far_apart_as_others(name: str, tmp_path: Path) -> None:
    """Where a linker gathers them, code of C and of assembly in one of them is a single piece, with a single end."""
    spec = the_target(name).toolchain
    script = subprocess.run([f"{spec.prefix}ld", "-r", "--verbose"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"[ (](\.[A-Za-z_][\w.]*)\*?(?=[ )])", script[script.index("SECTIONS") :])
    # what holds no code, and what there is once of each name
    names = {
        n
        for n in found
        if not re.match(r"\.(rela?|debug\w*|stab|note|\w*bss|noinit|gnu\.linkonce|comment|xt\.\w+)\b", n)
    }
    assert {".text", ".data"} < names
    for k in range(2):
        text = "".join(f'.section {n},"ax"\n.byte {k + 1},0,0,0\n' for n in sorted(names))
        (tmp_path / f"{k}.s").write_text(text)
        subprocess.run([spec.compiler, *spec.flags, "-c", f"{k}.s"], cwd=tmp_path, check=True)
    subprocess.run(linking(spec, [*MERGE, PLAIN], ["0.o", "1.o"], "merged.o"), cwd=tmp_path, check=True)
    apart = Counter(s.name for s in sections((tmp_path / "merged.o").read_bytes()) if s.size)
    assert [n for n in sorted(names) if apart[n] == 1] == []
    assert sum(apart[n] == 2 for n in names) > 20


def test_flash_without_bytes_in_a_section_of_its_own_is_refused(bench: Bench) -> None:
    """An erased table, which would not be counted."""
    use = {"top": "extern const volatile unsigned char erased[64];", "in_encrypt": "t[0] = erased[n & 63];"}
    text = '.section mine, "a", @nobits\n.global erased\nerased: .skip 64\n'
    built = bench.build(bench.package({**toys.files(**use), "erased.S": text}), the_target("msp430f1611"))
    assert built.failure is not None
    assert built.failure.reason is Reason.PLACED_SECTION


@pytest.mark.parametrize(
    ("name", "section", "text"),
    [
        (
            "esp8266",
            ".iram.text",
            r"\.iram\.text, \d+ bytes at 0x.*: after it, initial values of data are not at a mult",
        ),
        ("nano-every", ".ramfunc", r"\.ramfunc: here code and constants are in the compiler's sections only"),
        ("nano-every", "mine", r"mine: here code and constants"),
        ("esp32c3", ".ramfunc", r"\.ramfunc: here code and constants"),
        *(
            (name, ".data.ramfunc", r"\.data holds code, and no target runs code in RAM")
            for name in (*TARGETS, "msp430f1611", "esp8266", "esp32")
        ),
    ],
)
def test_code_in_a_section_of_its_own_where_that_cannot_be(bench: Bench, name: str, section: str, text: str) -> None:
    """It would move data away from where the target's start-up code or the data space has it; nothing runs RAM."""
    where = f'__attribute__((section("{section}"), noinline)) static unsigned more(volatile unsigned x)'
    for size in range(4):  # of which three are no multiple of a word
        filler = 'asm volatile("nop");' * size
        top = f"{where} {{ {filler} return x * 3u + 1; }}"
        built = bench.build(bench.package(top=top, in_encrypt="if (more(n) == 77777u) return 1;"), the_target(name))
        if built.failure is not None:
            break
    assert built.failure is not None
    assert built.failure.reason is Reason.PLACED_SECTION, built.failure
    assert re.match(text, built.failure.detail), built.failure


@pytest.mark.parametrize("name", ["uno", "ch32v003", "bluepill"])
def test_static_data_up_to_the_end_of_ram_is_an_overflow(bench: Bench, name: str) -> None:
    """Where the harness has no room to report that nothing fits, the link reports it."""
    details = []
    for left in (260, 200, 160, 100, 48, 20, -50):
        size = the_target(name).chip.ram.size - left
        package = bench.package(top=f"static volatile unsigned char all[{size}];", in_encrypt="t[0] = all[n];")
        record = bench.weigh(package, the_target(name))
        assert record.failure is not None
        assert record.failure.reason is Reason.RAM_OVERFLOW, (left, record.failure)
        details.append(record.failure.detail)
    assert any(d.startswith("static data leaves ") for d in details)


def test_sections_in_flash_are_the_package_s_own_affair(bench: Bench, bluepill: Target) -> None:
    """They are counted, wherever the linker puts them."""
    top = '__attribute__((section("mine"))) static const unsigned char table[256] = {1};'
    package = bench.package({**toys.files(top=top, in_encrypt="t[0] = table[n];"), **KAT})
    assert bench.weigh(package, bluepill).metrics["rom"] > 256


@pytest.mark.parametrize("name", ["bluepill", "gd32vf103"])
def test_a_section_that_moves_the_image_out_of_flash(bench: Bench, name: str) -> None:
    """Where there is one of this name, the linker maps the headers of the file too, in front of flash."""
    top = '__asm__(".section .interp,\\"a\\"\\nmore: .long 1\\n.text"); extern const unsigned char more[];'
    record = bench.weigh(bench.package(top=top, in_encrypt="t[0] = more[0];"), the_target(name))
    assert record.failure is not None
    assert record.failure.reason is Reason.LINK_ERROR, record.failure


def test_static_constructors_are_noted(bench: Bench, target: Target) -> None:
    top = "static int made; __attribute__((constructor)) static void make(void) { made = 1; }"
    built = bench.build(bench.package(top=top, in_encrypt="if (made) *c = 1;"), target)
    assert built.failure is None
    assert "has static constructors, which the harness does not run" in built.notes
    assert "static constructors" not in "".join(bench.build(bench.package(), target).notes)


def assembly(name: str, size: int) -> str:
    """A function of about ``size`` bytes in plain .text, with a constant and a variable."""
    return (
        f".text\n.global {name}\n.type {name}, %function\n{name}:\n.fill {size // 2}, 2, 0\n.size {name}, . - {name}\n"
        f".section .rodata\n.global {name}_table\n{name}_table: .fill {size}, 1, 7\n"
        f".data\n.global {name}_state\n{name}_state: .fill {size}, 1, 7\n.section .bss\n{name}_room: .fill {size}\n"
    )


@pytest.mark.parametrize("name", TARGETS)
def test_assembly_that_nothing_uses_is_not_in_the_image(bench: Bench, name: str) -> None:
    """Several files, each with a plain .text: only the used one counts."""
    target = the_target(name)
    use = {"top": "void used(void);", "in_encrypt": "if (n == 999) used();"}
    one = {"used.S": assembly("used", 64)}
    more = {f"idle{k}.S": assembly(f"idle{k}", 512) for k in range(3)}
    mark = {"uno": "@", "bluepill": "%", "gd32vf103": "@"}[name]
    sizes = []
    for files in ({}, one, one | more):
        files = {k: text.replace("%", mark) for k, text in files.items()}
        built = bench.build(bench.package({**toys.files(**(use if files else {})), **files}), target)
        assert built.failure is None, built.failure
        sizes.append(load_size(built.images["both"]))
    assert sizes[1] == sizes[2]
    assert 64 <= sizes[1] - sizes[0] < 100


@pytest.mark.parametrize("name", [*TARGETS, "esp8266", "esp32", "host"])
def test_link_time_optimisation_is_of_the_package_alone(bench: Bench, name: str) -> None:
    """It works across files, not across the API: an image of ordinary size, right answers, ordinary times."""
    target = the_target(name)
    files = {
        # the loop outweighs what this machine takes for an empty call while other work runs
        **toys.files(top="int far(int);", in_encrypt="n = far(n);", in_tag="for (volatile int j = 0; j < 2000; j++);"),
        "far.c": "int far(int x) { return x; }\n",
        **KAT,
    }
    plain, lto = (bench.weigh(bench.package(files), target, flags=flags) for flags in ("-O2", "-O2 -flto"))
    assert (plain.failure, lto.failure) == (None, None)
    for figure in ("rom", "cycles_encrypt_mean", "cycles_decrypt_mean", "stack_encrypt"):
        if figure in plain.metrics and name != "host":
            assert 0.7 * plain.metrics[figure] < lto.metrics[figure] < 1.3 * plain.metrics[figure], figure
    assert lto.metrics["rom"] > 0
    images = bench.build(bench.package(files), target, "-O2", "-flto").images
    assert {"both", "encrypt", "decrypt"} == set(images)
    if name != "host":
        assert load_size(images["encrypt"]) < load_size(images["both"])


@pytest.mark.parametrize("name", [*TARGETS, "esp8266"])
def test_intermediate_code_in_assembly_is_not_linked(bench: Bench, name: str, tmp_path: Path) -> None:
    """Its symbols and sections are of no object that was looked at: the last link would add them to the harness."""
    target = the_target(name)
    hidden = '__attribute__((section(".init3"), used)) void early(void) { sy_heap_peak = 0; }'
    source = toys.source(top=f"extern unsigned sy_heap_peak; {hidden}", in_encrypt="sy_heap_peak = 0;")
    files = write(tmp_path / "lto", {"api.h": toys.API, "encrypt.c": source})
    compiler = (target.toolchain.compiler, *target.toolchain.flags, "-Os", "-flto", "-fno-fat-lto-objects")
    subprocess.run([*compiler, "-S", "encrypt.c", "-o", "encrypt.S"], cwd=files, check=True)
    (files / "encrypt.c").unlink()
    package = bench.package({f.name: f.read_text() for f in files.iterdir()})
    for flags in (("-Os",), ("-Os", "-flto")):
        built = bench.build(package, target, *flags)
        assert built.failure is not None, flags


def test_api_h_is_no_way_around_the_package_s_own_objects(bench: Bench, target: Target) -> None:
    """Only sizes are taken from the object of api.h: neither early code, nor names, nor the harness."""
    hidden = "#ifdef SY_API\n@\n#endif\n"
    for code, use, failure in (
        (
            '__attribute__((section(".init3"), used)) void early(void) {}',
            "",
            Failure(Reason.PLACED_SECTION, ".init3"),
        ),
        (
            "extern unsigned sy_heap_peak; unsigned *zz_peak = &sy_heap_peak;",
            "",
            Failure(Reason.HARNESS_SYMBOL, "sy_heap_peak"),
        ),
        ("void __riscv_restore_hop(void) {}", "__riscv_restore_hop();", None),
    ):
        files = toys.files(top="void __riscv_restore_hop(void);", in_encrypt=use)
        files["api.h"] += hidden.replace("@", code)
        built = bench.build(bench.package(files), target)
        if failure is None:
            assert built.failure is not None
            assert built.failure.reason is Reason.UNDEFINED_SYMBOL
        else:
            assert built.failure == failure


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("", "stdint.h"),
        ("#inc\\\nlude <other.h>\n", "other.h"),
        ("#import <other.h>\n", "other.h"),
    ],
)
def test_packages_with_one_api_h_take_nothing_of_each_other(bench: Bench, uno: Target, line: str, name: str) -> None:
    """The object of api.h depends on its text only: other headers are not part of it."""
    files = toys.files()
    files["api.h"] += f"/* {name} {len(line)} */\n{line}"
    other = "#undef CRYPTO_ABYTES\n#define CRYPTO_ABYTES {}\n"
    if name == "stdint.h":
        other = f"#ifdef SY_API\n{other}#endif\n#include_next <stdint.h>\n"
    for size in (5, 8):
        package = bench.package({**files, name: other.format(size)}, variant=f"toy{size}")
        built = bench.build(package, uno)
        assert built.failure is None, built.log
    assert device.simulated(uno, built.images["both"]).hello.a_bytes == 8


_SECTION = '.section .rodata.s{0},"a"\n.byte 1\n'


@pytest.mark.parametrize(
    ("assembly", "failure"),
    [
        (".data\n.global table\ntable: .space 0x4400000\n", Reason.FLASH_OVERFLOW),
        ('.section .unseen,""\n.space 0x4400000\n', Reason.LINK_ERROR),
        ("".join(map(_SECTION.format, range(66_000))), Reason.LINK_ERROR),
    ],
    ids=["data", "unseen", "sections"],
)
def test_objects_beyond_the_reader_s_limits_are_refused(
    bench: Bench, uno: Target, assembly: str, failure: Reason
) -> None:
    use = "{ extern volatile char table[]; table[1]++; }" if "table" in assembly else ""
    built = bench.build(bench.package(toys.files(in_encrypt=use) | {"t.S": assembly}), uno)
    assert built.failure is not None
    assert built.failure.reason is failure


@pytest.mark.parametrize("name", [*TARGETS, "msp430f1611", "esp8266", "host"])
def test_the_time_of_the_build_is_in_no_image(bench: Bench, name: str) -> None:
    """Whatever the compiler's age."""
    top = 'static const char when[] = __DATE__ " " __TIME__ " " __TIMESTAMP__;'
    built = bench.build(bench.package(top=top, in_encrypt="t[0] = when[n];"), the_target(name))
    assert b"Jan  1 1970 00:00:00 Thu Jan  1 00:00:00 1970" in built.images["both"].read_bytes()


def test_what_the_compilers_machine_is_doing_is_in_no_image(bench: Bench, uno: Target) -> None:
    if not sandbox.available():
        pytest.skip("bubblewrap does not work here: apt install bubblewrap, and allow user namespaces")
    for file in ("/proc/uptime", "/proc/self/environ", "/proc/self/stat", "build.sh"):
        text = f'.section .rodata\n.global now\nnow: .incbin "{file}"\n'
        use = {"top": "extern const unsigned char now[];", "in_encrypt": "t[0] = now[n];"}
        built = bench.build(bench.package({**toys.files(**use), "now.S": text}), uno)
        assert built.failure is not None, file


#: what a source may name that another source's compiler wrote
LEFT = ("0.o", "0.log", "status", "merged.o")


@pytest.mark.parametrize("flags", ["-Os", "-Os -flto"])
@pytest.mark.parametrize("name", [*TARGETS, "msp430f1611"])
def test_a_source_reads_nothing_that_another_s_compiler_wrote(bench: Bench, name: str, flags: str) -> None:
    """It would have in its image what that one was told: with ``-frecord-gcc-switches`` any text, such as answers. With
    link-time optimisation the assembly is read when all objects are there."""
    top = "#warning said\nextern const unsigned char now[];"
    for file in LEFT:
        said = f'.pushsection .rodata\\n.global now\\nnow: .incbin \\"{file}\\"\\n.popsection'
        files = {**toys.files(top=top, in_encrypt="t[0] = now[n];"), "zlast.c": f'__asm__("{said}");\n'}
        built = bench.build(bench.package(files), the_target(name), *flags.split())
        assert built.failure is not None, file
        assert built.failure.reason in (Reason.MISSING_FILE, Reason.COMPILE_ERROR, Reason.LINK_ERROR), built.failure


@pytest.mark.parametrize("name", [*TARGETS, "msp430f1611"])
def test_where_an_image_was_made_is_not_in_it(
    bench: Bench, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not sandbox.available():
        pytest.skip("bubblewrap does not work here: apt install bubblewrap, and allow user namespaces")
    package, made = bench.package({**toys.files(), "b.S": "#define B b\nB:\n"}), list[list[bytes]]()
    for k in range(2):
        home = tmp_path / f"home{k}"
        monkeypatch.setenv("STEELYARD_HOME", str(home))
        built = bench.build(package, the_target(name), "-O2", "-g")
        assert built.failure is None, built.failure
        objects = [f.read_bytes() for f in sorted(built.folder.glob("[0-9]*.o"))]
        images = [f.read_bytes() for f in built.images.values()]
        assert not [o for o in objects if any(str(p).encode() in o for p in (home, paths.HARNESS))]
        # where assembly names no file, the linker lists our own object by its path, and GCC 5 a temporary file
        made.append([re.sub(rb"/tmp/cc\w{6}|" + re.escape(str(home).encode()), b"", x) for x in (*objects, *images)])
    assert made[0] == made[1]
