"""The commands of a build: how a source is compiled, and objects are merged, made local and linked."""

from __future__ import annotations

from collections.abc import Iterable

from ..model import paths
from ..model.implementation import SourceFile
from ..model.once import Once
from ..model.target import Target, ToolchainSpec
from . import provided
from .ask import ask

CODE = ("-ffunction-sections", "-fdata-sections")
# sections stay apart in the partial link, those of assembly too, or --gc-sections could drop none of them
_APART = (".text", ".literal", ".progmem*", ".rodata*", ".data*", ".bss*", ".sdata*", ".sbss*", ".srodata*")
# those that inspect.py looks for
_SEEN = (".vectors*", ".init*", ".fini*", ".ctors*", ".dtors*")
MERGE = ("-nostdlib", ",".join(("-Wl,-r,-d,--unique", *(f"--unique={s}" for s in (*_APART, *_SEEN)))))
# one source makes one image, whenever: SOURCE_DATE_EPOCH came with GCC 7 and Clang 16, and not for all three
STILL = (
    "-Wno-builtin-macro-redefined",
    '-D__DATE__="Jan  1 1970"',
    '-D__TIME__="00:00:00"',
    '-D__TIMESTAMP__="Thu Jan  1 00:00:00 1970"',
)
_CXX = ("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-use-cxa-atexit")


def compiler_of(f: SourceFile, target: Target) -> tuple[str, ...]:
    """The program that compiles ``f``, with what its language asks for."""
    spec = target.toolchain
    if f.language == "c++":
        return (spec.cxx, *_CXX)
    if f.language == "asm":
        return (spec.compiler, "-x", "assembler-with-cpp")
    return (spec.compiler,)


#: operands that LLVM's assembler for MSP430 passes over without a word, and the instruction with them
_PASSED_OVER = (
    r"^[[:space:]]*([[:alnum:]_.$]+:)?[[:space:]]*[[:alpha:]][[:alnum:].]*[[:space:]]+([^;]*,[[:space:]]*)?[][%*({]"
)


def unread(spec: ToolchainSpec, f: SourceFile, compiler: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """A command that fails where the assembly ``f`` has such operands, as another machine's has; none for C."""
    if f.language != "asm" or not spec.linker:
        return ()
    check = f'found=$("$@" | grep -E \'{_PASSED_OVER}\') || exit 0; echo "bad instruction: $found"; exit 1'
    return (("/bin/sh", "-c", check, "sh", *compiler, "-E", "-P", f"src/{f.name}"),)


def providing(spec: ToolchainSpec, flags: tuple[str, ...], primitive: str) -> list[tuple[str, ...]]:
    """Commands that compile one of ours with the flags under test; link-time optimisation is the package's alone."""
    own = (f for f in flags if not f.startswith("-flto"))
    compiler = (spec.compiler, *spec.flags, "-std=gnu99", *CODE, *own, "-w", f"-I{paths.HARNESS}/include")
    keep = (o for f in provided.functions(primitive) for o in ("--keep-global-symbol", f))
    made = f"{primitive}.provided.o"
    source = f"{provided.SOURCES}/{primitive}.c"
    return [(*compiler, "-c", source, "-o", made), (f"{spec.prefix}objcopy", *keep, made)]


def linking(spec: ToolchainSpec, options: Iterable[str], objects: Iterable[str], image: str) -> tuple[str, ...]:
    """The command that links ``objects`` to ``image``: the compiler's driver, or a linker that it does not know."""
    if not spec.linker:
        return (spec.compiler, *spec.flags, *options, *objects, "-o", image)
    own = (word for o in options for word in o.removeprefix("-Wl,").split(","))
    # LLVM's would take names of libraries from objects, and a file that is not an object for a linker script
    return (spec.linker, "--no-dependent-libraries", *own, *objects, "-o", image)


def link_time(spec: ToolchainSpec, flags: Iterable[str]) -> tuple[str, ...]:
    """Options with which a partial link ends link-time optimisation and makes code; none where ``flags`` have none.

    GCC 9 and newer would put off the code once more (GCC manual, "Link Options", -flinker-output).
    """
    if not any(f.startswith("-flto") for f in flags):
        return ()
    end = "-flinker-output=nolto-rel"
    return ("-fuse-linker-plugin", end) if _takes(spec.compiler, end) else ("-fuse-linker-plugin",)


@Once
def _takes(compiler: str, option: str) -> bool:
    return ask([compiler, option, "-E", "-x", "c", "/dev/null"]).code == 0


def sparing_commons(spec: ToolchainSpec, command: list[str], merged: str) -> list[str]:
    """``command`` of objcopy with common symbols left global: LLVM's linker leaves them to the last link, and takes
    a local one for an address without a word."""
    options = rf"$({spec.prefix}nm --format=posix {merged} | sed -n 's/^\([^ ]*\) C .*/--keep-global-symbol=\1/p')"
    return ["/bin/sh", "-c", f'o="$1"; shift; exec "$o" {options} "$@"', "sh", *command]


def script_of(target: Target) -> tuple[str, ...]:
    """The option that names the target's linker script, where it has one of its own."""
    script = target.folder / "link.ld"
    return (f"-T{script}",) if script.exists() else ()
