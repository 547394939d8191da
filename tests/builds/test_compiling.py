"""Compilers at work: run once for the same inputs, within bounds and out of sight of the user's files; and what is made
of their words."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from steelyard.building import Build, diagnose, image, sandbox, script, trouble
from steelyard.model import paths
from steelyard.model.reasons import Failure, Reason
from steelyard.model.target import Target
from tests import toys
from tests.builds.packages import CODE, GOOD, NEEDS, works
from tests.conftest import STANDARD, Bench, the_target


def test_the_second_build_runs_no_compiler(bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    package = bench.package(top="/* built once */")
    first = bench.build(package, uno)

    def none(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", none)
    second = bench.build(package, uno)
    assert (first.cached, second.cached) == (False, True)
    assert replace(first, cached=True) == second
    assert second.images["both"].exists()


def test_threads_compile_the_harness_once(
    bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STEELYARD_HOME", str(tmp_path))
    packages = [bench.package(top=f"/* thread {k} */", variant=f"toy{k}") for k in range(3)]
    ran, run = list[Path](), sandbox.run

    def counted(commands: Path, work: Path, *more: Any) -> int | None:
        ran.append(work.parent.parent)
        return run(commands, work, *more)

    monkeypatch.setattr(sandbox, "run", counted)
    for _ in range(2):
        with ThreadPoolExecutor(3) as pool:
            assert all(built.images for built in pool.map(lambda p: bench.build(p, uno), packages))
        assert ran.count(tmp_path / "cache" / "harness") == 2  # what all images have, and the operations
        ran.clear()
        shutil.rmtree(tmp_path / "cache")  # and again when they are gone


def test_what_compilers_say_is_kept_in_part(bench: Bench, uno: Target) -> None:
    """Begin and end of each log, in the build's folder too: a line of source can have them say any number of lines."""
    lines = 20_000
    says = f'.print "first"\n.rept {lines}\n.print "{"x" * 1000}"\n.endr\n.print "last"\n'
    built = bench.build(bench.package({**GOOD, **{f"{k}.S": says for k in range(3)}}), uno)
    assert built.failure is None
    assert len(built.log) <= script.SAID < lines * 1000
    for k in range(3):
        assert re.search(rf"== {k}.S\nfirst\nx+\n[^=]*\n\.\.\. \(\d+ bytes\)\nx[^=]*\nlast\n", built.log)
    assert sum(f.stat().st_size for f in built.folder.glob("*.log")) <= script.SAID


@pytest.mark.parametrize("many", [8, 10**9], ids=["all at once", "until the time is over"])
def test_what_compilers_write_has_a_limit(
    bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr(script, "ALTOGETHER", 4 << 20)
    loop = f"k=0; while [ $k -lt {many} ]; do printf %01000000d 0 >$k.big; k=$((k+1)); done"
    monkeypatch.setattr(image, "linking", lambda *_: ("/bin/sh", "-c", loop))
    package = bench.package(top=f"/* {loop} */")
    built = bench.build(package, uno)
    assert built.failure == Failure(Reason.COMPILE_ERROR, "the compilers write more than 4 MiB")
    assert not [*built.folder.glob("*.big")]
    assert bench.build(package, uno).cached


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.S", f'.rept 2000\n.warning "{"x" * 1000}"\n.endr\n'),
        ("x.c", f"#warning {'x' * 1000}\n" * 2000),
    ],
    ids=["assembler", "compiler"],
)
def test_a_compiler_that_says_more_than_a_file_may_have_is_the_sources_doing(
    bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setattr(script, "LARGEST", 1 << 20)
    monkeypatch.setattr(image, "LARGEST", 1 << 20)
    built = bench.build(bench.package({**GOOD, name: text}), uno)
    assert built.failure == Failure(Reason.COMPILE_ERROR, f"{name}: makes a file of more than 1 MiB")
    assert built.log


def test_a_build_that_fails_keeps_no_objects(bench: Bench, uno: Target) -> None:
    files = {**GOOD, "big.S": ".globl big\nbig: .fill 100000\n", "c.c": "extern char big[]; char *x(void);"}
    files["encrypt.c"] = toys.source(top="extern char big[];", in_encrypt="k += big[mlen];")
    built = bench.build(bench.package(files), uno)
    assert built.failure is not None
    assert built.failure.reason is Reason.FLASH_OVERFLOW
    assert not [f for end in ("o", "elf") for f in built.folder.glob(f"*.{end}")]


@pytest.mark.parametrize("name", STANDARD)
def test_the_build_script_is_what_its_user_would_run(bench: Bench, name: str, tmp_path: Path) -> None:
    """Each command is the compiler's driver or a tool of binutils, and run again they make the same images."""
    target = the_target(name)
    files = {"more/a.C.cpp": "int one = 1; const char *two = __FILE__;\n", "b.S": "#define B b\nB:\n"}
    built = bench.build(bench.package({**GOOD, **files}), target)
    spec = target.toolchain
    commands = re.findall(r"\br \S+ (\S+)", (built.folder / "build.sh").read_text())
    assert set(commands) == {spec.compiler, spec.cxx, f"{spec.prefix}objcopy"}

    again = tmp_path / "again"
    shutil.copytree(built.folder, again)
    for made in (*again.glob("*.o"), *again.glob("*.elf")):
        made.unlink()
    environment = {"PATH": paths.search_path(), "LC_ALL": "C", "SOURCE_DATE_EPOCH": "0"}
    subprocess.run(["/bin/sh", "build.sh"], cwd=again, env=environment, check=True)
    for part, made in built.images.items():
        assert (again / f"{part}.elf").read_bytes() == made.read_bytes()


@pytest.mark.parametrize("name", ["uno", "bluepill", "gd32vf103", "esp8266", "msp430f1611"])
def test_assembly_includes_from_its_package(bench: Bench, name: str) -> None:
    """Of a file of its own, or in C."""
    files = toys.files(
        top='extern const unsigned char tab[], own[]; __asm__(".include \\"own.inc\\"");',
        in_encrypt="if (tab[0] + tab[1] + own[0] != 3 + 55 + 4) return 1;",
    )
    section = '\t.section .rodata.{0},"a"\n\t.globl {0}\n{0}:\t.byte {1}\n'
    files |= {
        "tab.S": '\t.include "tab.inc"\n',
        "tab.inc": section.format("tab", 3) + '\t.incbin "tab.bin"\n',
        "tab.bin": "7",
        "own.inc": section.format("own", 4) + "\t.text\n",
    }
    works(bench, bench.package(files), the_target(name), "-O2")


def test_link_time_optimisation_is_for_the_same_chip(bench: Bench) -> None:
    package = bench.package(in_encrypt="if ((unsigned long long)n * adlen == 99) return 1;")
    works(bench, package, the_target("msp430f1611"), "-O3", "-flto")


def test_what_a_killed_build_left_is_removed_when_it_is_old(bench: Bench, uno: Target) -> None:
    package = bench.package(top="/* built again */")
    folder = bench.build(package, uno).folder
    old, new = (folder.parent / f".work-{name}" for name in ("old", "new"))
    for left in (old, new):
        (left / "src").mkdir(parents=True)
    os.utime(old, (0, 0))
    shutil.rmtree(folder)
    bench.build(package, uno)
    assert (old.exists(), new.exists(), folder.exists()) == (False, True, True)


def test_a_failed_build_is_kept_too(bench: Bench, uno: Target) -> None:
    package = bench.package({**GOOD, "encrypt.c": "#error once\n"})
    first, second = bench.build(package, uno), bench.build(package, uno)
    assert (second.cached, second.failure, second.log) == (True, first.failure, first.log)
    assert "#error once" in first.log


def test_a_shell_that_dies_is_no_success(bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.build(bench.package(), uno)  # the harness's objects are there now
    monkeypatch.setattr(sandbox, "run", lambda *_: True)
    assert bench.build(bench.package(top="/* none runs a compiler on this */"), uno).failure is not None


def test_every_input_is_in_the_key(bench: Bench, uno: Target, bluepill: Target, tmp_path: Path) -> None:
    package = bench.package()
    other = Bench(tmp_path / "other").package(top="/* another digest */")
    folder = tmp_path / "uno2"
    folder.mkdir()
    for f in uno.folder.iterdir():
        (folder / f.name).write_bytes(f.read_bytes())
    (folder / "target.c").write_text((folder / "target.c").read_text() + "/* changed */\n")
    changed = uno.but(folder=folder)
    builds: list[Build] = [
        bench.build(package, uno, "-Os"),
        bench.build(package, uno, "-O2"),
        bench.build(package, uno, "-O2", "-funroll-loops"),
        bench.build(other, uno, "-Os"),
        bench.build(package, bluepill, "-Os"),
        bench.build(package, changed, "-Os"),
    ]
    assert [b.failure for b in builds] == [None] * len(builds)
    assert len({b.key for b in builds}) == len(builds)


def test_a_package_reads_no_file_of_the_user(bench: Bench, uno: Target) -> None:
    if not sandbox.available():
        pytest.skip("bubblewrap does not work here: apt install bubblewrap, and allow user namespaces")
    with tempfile.TemporaryDirectory(dir=Path.home()) as at_home, tempfile.TemporaryDirectory() as in_tmp:
        for folder in (at_home, in_tmp):
            secret = Path(folder, "secret.h")
            secret.write_text("#error the secret text\n")
            built = bench.build(bench.package({**GOOD, "encrypt.c": f'#include "{secret}"\n' + CODE}), uno)
            assert built.failure is not None
            assert built.failure.reason is Reason.MISSING_FILE
            assert "the secret text" not in built.log
        escape = os.path.relpath(secret, built.folder / "src")
        built = bench.build(bench.package({**GOOD, "encrypt.c": f'#include "{escape}"\n' + CODE}), uno)
        assert "the secret text" not in built.log
        text = f'\t.global perm\nperm:\n\t.incbin "{secret}"\n\t.incbin "/etc/hostname"\n'
        built = bench.build(bench.package({**NEEDS, "k.S": text}), uno)
        assert built.failure is not None


@pytest.mark.parametrize("name", ["uno", "msp430f1611"])
@pytest.mark.parametrize("device", ["zero", "urandom"])
def test_a_package_reads_no_endless_device(bench: Bench, name: str, device: str) -> None:
    if not sandbox.available():
        pytest.skip("bubblewrap does not work here: apt install bubblewrap, and allow user namespaces")
    text = f'\t.global perm\nperm:\n\t.incbin "/dev/{device}"\n'
    built = bench.build(bench.package({**NEEDS, "k.S": text}), the_target(name))
    assert built.failure is not None
    assert built.failure.reason in (Reason.MISSING_FILE, Reason.COMPILE_ERROR), built.failure


def test_a_compiler_in_a_folder_of_the_user_shows_no_more_than_itself(
    bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not sandbox.available():
        pytest.skip("bubblewrap does not work here: apt install bubblewrap, and allow user namespaces")
    with tempfile.TemporaryDirectory(dir=Path.home()) as at_home:
        secret, compiler = Path(at_home, "secret.h"), Path(at_home, "bin", "my-gcc")
        secret.write_text("#error the secret text\n")
        compiler.parent.mkdir()
        compiler.write_text('#!/bin/sh\nexec avr-gcc "$@"\n')
        compiler.chmod(0o755)
        monkeypatch.setenv("PATH", f"{compiler.parent}:{os.environ['PATH']}")
        target = uno.but(toolchain=uno.toolchain.but(compiler="my-gcc"))
        works(bench, bench.package(), target)
        built = bench.build(
            bench.package({**GOOD, "encrypt.c": f'#include "{secret}"\n' + CODE}, variant="toy2"), target
        )
        assert built.failure is not None
        assert "the secret text" not in built.log


@pytest.mark.parametrize("linked", ["program", "folder"])
def test_a_compiler_that_is_a_link_is_the_one_that_compiles(
    bench: Bench, uno: Target, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, linked: str
) -> None:
    """Not another program of that name later in PATH: the identified one is in the record."""
    real, named = tmp_path / "opt" / "bin" / "avr-gcc", tmp_path / "bin"
    real.parent.mkdir(parents=True)
    real.write_text(f'#!/bin/sh\nexec {shutil.which("avr-gcc")} -DMINE=1 "$@"\n')
    real.chmod(0o755)
    if linked == "folder":
        named.symlink_to(real.parent)
    else:
        named.mkdir()
        (named / "avr-gcc").symlink_to(real)
    monkeypatch.setenv("PATH", f"{named}:{os.environ['PATH']}")
    mine = {**GOOD, "encrypt.c": "#ifndef MINE\n#error another compiler\n#endif\n" + CODE}
    built = bench.build(bench.package(mine, variant=f"toy{len(linked)}"), uno)
    assert built.failure is None, built.log


def test_what_a_target_leaves_out_is_not_the_packages_fault() -> None:
    said = "start.c:(.text+0x2): undefined reference to `sy_target_hasten'"
    failed = diagnose.failure([("link-both", said)], ())
    assert failed.reason is Reason.LINK_ERROR
    assert failed.detail.startswith("sy_target_hasten: the target's own code has to define")


def test_what_does_not_fit_is_that_of_the_largest_image() -> None:
    said = [f"region `flash' overflowed by {n} bytes" for n in (20, 3482)]
    failed = diagnose.failure([("link-both", "\n".join(said)), ("link-decrypt", said[0].replace("20", "44"))], ())
    assert failed == Failure(Reason.FLASH_OVERFLOW, "3482 bytes too many")


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (Reason.RUNAWAY, "no end after 2000000000 cycles, at pc 0x80004e4 in _exit: b.n 0x80004e4"),
        (Reason.FAULT, "trap: breakpoint or trap instruction at pc 0x8000630, cycle 131019 in exit: ebreak"),
        (Reason.FAULT, "trap: breakpoint or trap instruction at pc 0x4200630, cycle 131019 in __assert_func: ebreak"),
    ],
)
def test_a_package_that_ends_the_program_is_told_so(reason: Reason, said: str, tmp_path: Path) -> None:
    failed = diagnose.ran(Failure(reason, said), tmp_path, "")
    why = "the package ended the program, by exit, abort or assert: a call has to return"
    assert failed == Failure(reason, f"{said}; {why}")
    other = Failure(reason, said.replace(" in ", " in own"))
    assert diagnose.ran(other, tmp_path, "") == other


def test_a_defect_of_the_compiler_is_not_said_of_the_package() -> None:
    said = "src/a.cpp: In function 'f':\nsrc/a.cpp:150:1: error: unrecognizable insn:\n }\n ^\n"
    found = diagnose.failure([("a.cpp", f"{said}src/a.cpp:150:1: internal compiler error: in extract_insn\n")], ())
    own = diagnose.failure([("a.c", "src/a.c:1:2: error: #error internal compiler error: in f\n")], ())
    assert {found.reason, own.reason} == {Reason.COMPILE_ERROR}
    assert ("the compiler failed" in found.detail, "the compiler failed" in own.detail) == (True, False)


#: how lines begin that patterns read on from, and a text of blank lines that ends as a marked place does
LONG = {
    "anything": "x" * 20_000,
    "fatal": "fatal error: " * 1500,
    "programs": "Executable " * 1500,
    "files": "a:" * 10_000,
    "blank": "a.c:1: Error: x" + "\n" * 20_000 + "^",
}


@pytest.mark.parametrize("begin", LONG)
def test_reading_what_compilers_say_takes_no_longer_than_its_length(uno: Target, tmp_path: Path, begin: str) -> None:
    """``#error`` and ``.print`` make lines of any length; patterns hold up all other jobs while they are tried."""
    start = time.process_time()
    for code in 1, 127:
        trouble.of_machine([trouble.Failed("encrypt.c", code, LONG[begin])], uno.toolchain, tmp_path)
    assert diagnose.failure([("encrypt.c", LONG[begin])], ("crypto_aead_encrypt",)).reason is Reason.COMPILE_ERROR
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (126, "build.sh: 9: clang: Argument list too long"),
        (1, "avr-gcc: error trying to exec '/usr/lib/gcc/cc1': execv: Argument list too long"),
        (1, "x.o: in function `f':\n(.text+0x2): undefined reference to `cannot find -lzzz'"),
        (1, "ld.lld: error: undefined symbol: cannot find -lzzz\n>>> referenced by No space left on device"),
        (1, "ld.lld: error: 0.o:(.text+0x0): relocation R is out of range; references x: No space left on device"),
        (1, "src/cannot find -lzzz.h: In function 'f':\nsrc/cannot find -lzzz.h:1:2: error: x"),
        (1, "x.c:1:10: fatal error: Cannot allocate memory: No such file or directory"),
    ],
)
def test_what_a_package_names_is_no_fault_of_the_machine(uno: Target, tmp_path: Path, code: int, said: str) -> None:
    assert trouble.of_machine([trouble.Failed("x", code, said)], uno.toolchain, tmp_path) is None


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("encrypt.c", '#line 1 "ld: cannot find -lx"\n#error x\n'),
        ("encrypt.c", '#line 1 "a: No space left on device\\nb"\n#error x\n'),
        ("encrypt.c", '#line 1 "gcc: Killed signal terminated program cc1"\n#error x\n'),
        ("encrypt.c", '#pragma GCC error "a\\nld: cannot " "find -lq"\n'),
        ("encrypt.c", 'void f(void) __attribute__((error("a\\nas: No spac\\145 left on device")));void g(void){f();}'),
        ("encrypt.c", 'asm(".error \\"x\\\\nld: cannot find -lq\\"");asm(".incbin \\"x\\\\nld: cannot find -lq\\"");'),
        ("x: Cannot allocate memory.h", '#include "y.h"\n'),
        ("x: memory exhausted.c", "#error x\n"),
    ],
)
def test_what_compilers_repeat_of_a_package_is_no_word_of_the_machine(
    bench: Bench, target: Target, name: str, code: str
) -> None:
    files = {**GOOD, "y.h": "#error y\n", "b.c": f'#include "{name}"\n' if name.endswith(".h") else ""}
    built = bench.build(bench.package({**files, name: code}), target)
    assert built.failure is not None
    assert built.failure.reason is Reason.COMPILE_ERROR


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("/usr/lib/avr/bin/ld: cannot find -lm: No such file or directory", Reason.NO_TOOLCHAIN),
        ("ld.lld: error: unable to find library -lm", Reason.NO_TOOLCHAIN),
        ("collect2: fatal error: cannot find 'ld'", Reason.NO_TOOLCHAIN),
        ("avr-gcc: error trying to exec 'cc1': execvp: No such file or directory", Reason.NO_TOOLCHAIN),
        ("avr-gcc: fatal error: cannot read spec file 'x': No such file or directory", Reason.NO_TOOLCHAIN),
        ("cc1: error while loading shared libraries: libisl.so.23: cannot open shared object", Reason.NO_TOOLCHAIN),
        ('clang: error: unable to execute command: Executable "ld.lld" doesn\'t exist!', Reason.NO_TOOLCHAIN),
        ("clang: error: invalid linker name in argument '-fuse-ld=lld'", Reason.NO_TOOLCHAIN),
        ("x.c:9:1: fatal error: error writing to /tmp/x.s: No space left on device", Reason.DISK_FULL),
        ("{standard input}: Fatal error: can't close x.o: No space left on device", Reason.DISK_FULL),
        ("as: can't write 3 bytes to section .text of x.o: 'No space left on device'", Reason.DISK_FULL),
        ("ld: final link failed: Disk quota exceeded", Reason.DISK_FULL),
        ("error: unable to open output file 'x.o': 'No space left on device'", Reason.DISK_FULL),
    ],
)
def test_what_a_program_says_of_itself_is_the_machine_s_fault(
    uno: Target, tmp_path: Path, said: str, reason: Reason
) -> None:
    found = trouble.of_machine([trouble.Failed("x", 1, said)], uno.toolchain, tmp_path)
    assert found is not None
    assert found.reason is reason


def test_a_line_of_a_megabyte_is_a_reason_like_others(bench: Bench, uno: Target) -> None:
    start = time.process_time()
    built = bench.build(bench.package({**GOOD, "encrypt.c": f"#error {'long ' * 200_000}\n"}), uno)
    assert built.failure is not None
    assert built.failure.reason is Reason.COMPILE_ERROR
    assert len(built.failure.detail) < 400
    assert time.process_time() - start < 20
