"""The commands of a build: compiling a source, merging objects, making symbols local, and linking."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from ..model import paths
from ..model.implementation import SourceFile
from ..model.once import Once
from ..model.target import Target, ToolchainSpec
from . import provided
from .ask import ask

CODE = ("-ffunction-sections", "-fdata-sections")
#: all sections stay apart in the partial link, also those that the linker's own script would gather, such as .stub:
#: --gc-sections can drop each, inspect.py sees each name, and no piece of the image is of C and assembly both. But for
#: COMMON, which becomes .bss, and .xt.*, Xtensa's tables, which have no code: apart from each other they change how it
#: is relaxed
MERGE = ("-nostdlib", "-Wl,-r,-d,--unique,--unique=.[!x]*,--unique=.x[!t]*,--unique=.xt[!.]*")
#: the linker takes no compiler's intermediate code: hidden in assembly it has symbols and sections that no other check
#: of a package's objects sees
PLAIN = "-fno-use-linker-plugin"
#: the object of a scenario's mode of operation, and the file that holds the bytes of its round keys
MODE, ROUND_KEYS = "mode.o", "steelyard_round_keys.inc"
# debugging data does not say where this machine has our own sources
HERE = f"-fdebug-prefix-map={paths.HARNESS}=harness"
# builds repeat exactly: SOURCE_DATE_EPOCH needs GCC 7 or Clang 16, and does not cover all three macros
STILL = (
    "-Wno-builtin-macro-redefined",
    '-D__DATE__="Jan  1 1970"',
    '-D__TIME__="00:00:00"',
    '-D__TIMESTAMP__="Thu Jan  1 00:00:00 1970"',
    HERE,
)
#: SUPERCOP's own macro, with which it compiles every package, and what asks for it in a source. Pi-Cipher includes with
#: it a header that it does not have, and NIST's packages are compiled without it
SUPERCOP = "-DSUPERCOP"
ASKS = re.compile(rb"^[ \t]*#[ \t]*(?:el)?if[^\n]*\bSUPERCOP\b", re.MULTILINE)
_CXX = ("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-use-cxa-atexit")


def prefixed(name: str) -> tuple[str, ...]:
    """The options by which SUPERCOP begins global names of a folder of sources: with that of its function. They become
    local, so the primitive's own name will do."""
    macros = ("CRYPTO_NAMESPACETOP={}", "CRYPTO_NAMESPACE(name)={}_##name")
    return tuple(f"-D{'_' * k}{m.format('_' * k + name)}" for k in range(2) for m in macros)


def compiler_of(f: SourceFile, target: Target, *, apart: bool = False) -> tuple[str, ...]:
    """The program that compiles ``f``, with the options of its language; ``apart`` where names that GCC would make one
    in a whole program are a library's own."""
    spec = target.toolchain
    if f.language == "c++":
        return (spec.cxx, *_CXX, *(("-fno-gnu-unique",) if apart and not spec.linker else ()))
    if f.language == "asm":
        return (spec.compiler, "-x", "assembler-with-cpp")
    return (spec.compiler,)


#: operands that LLVM's assembler for MSP430 skips silently, together with their instruction
_PASSED_OVER = (
    r"^[[:space:]]*([[:alnum:]_.$]+:)?[[:space:]]*[[:alpha:]][[:alnum:].]*[[:space:]]+([^;]*,[[:space:]]*)?[][%*({]"
)


def unread(spec: ToolchainSpec, f: SourceFile, compiler: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """A command that fails when the assembly ``f`` has such operands, as assembly for other machines has; none for
    C."""
    if f.language != "asm" or not spec.linker:
        return ()
    check = f'found=$("$@" | grep -E \'{_PASSED_OVER}\') || exit 0; echo "bad instruction: $found" >&2; exit 1'
    return (("/bin/sh", "-c", check, "sh", *compiler, "-E", "-P", f"src/{f.name}"),)


def providing(spec: ToolchainSpec, flags: tuple[str, ...], primitive: str) -> list[tuple[str, ...]]:
    """Commands that compile a provided primitive with the flags under test, except link-time optimisation, which is for
    the package alone."""
    own = (f for f in flags if not f.startswith("-flto"))
    compiler = (spec.compiler, *spec.flags, "-std=gnu99", *CODE, *own, "-w", HERE, f"-I{paths.HARNESS}/include")
    keep = (o for f in provided.FUNCTIONS[primitive] for o in ("--keep-global-symbol", f))
    made = f"{primitive}.provided.o"
    source = f"{provided.SOURCES}/{primitive}.c"
    return [(*compiler, "-c", source, "-o", made), (f"{spec.prefix}objcopy", *keep, made)]


def operating(
    spec: ToolchainSpec, flags: tuple[str, ...], interface: str, scenario: int, block: int, part: str
) -> tuple[str, ...]:
    """The command that compiles the mode of operation of a FELICS scenario with the flags under test, for a package of
    this ``interface`` and blocks of so many bytes. The folder ``part`` has the round keys and gets the object;
    link-time optimisation is for the package alone."""
    own = (f for f in flags if not f.startswith("-flto"))
    defined = (f"-DSY_SCENARIO={scenario}", f"-DSY_BLOCK={block}", *(["-DSY_PHASES"] if interface == "phases" else []))
    compiler = (
        spec.compiler,
        *spec.flags,
        "-std=gnu99",
        *CODE,
        *own,
        *defined,
        HERE,
        f"-I{paths.HARNESS}/include",
        f"-I{part}",
    )
    return (*compiler, "-c", f"{paths.HARNESS}/modes.c", "-o", f"{part}/{MODE}")


def linking(spec: ToolchainSpec, options: Iterable[str], objects: Iterable[str], image: str) -> tuple[str, ...]:
    """The command that links ``objects`` to ``image``: the compiler's driver, or the target's own linker."""
    if not spec.linker:
        return (spec.compiler, *spec.flags, *options, *objects, "-o", image)
    own = (word for o in options for word in o.removeprefix("-Wl,").split(","))
    # LLVM's linker would take library names from objects, and would read a file that is not an object as a linker
    # script
    return (spec.linker, "--no-dependent-libraries", *own, *objects, "-o", image)


def link_time(spec: ToolchainSpec, flags: Iterable[str]) -> tuple[str, ...]:
    """Options that make a partial link finish link-time optimisation and produce code; none without -flto in ``flags``.

    GCC 9 and newer would otherwise postpone code generation again (GCC manual, "Link Options", -flinker-output).
    """
    if not any(f.startswith("-flto") for f in flags):
        return ()
    end = "-flinker-output=nolto-rel"
    return ("-fuse-linker-plugin", end) if _takes(spec.compiler, end) else ("-fuse-linker-plugin",)


@Once
def _takes(compiler: str, option: str) -> bool:
    return ask([compiler, option, "-E", "-x", "c", "/dev/null"]).code == 0


def sparing_commons(spec: ToolchainSpec, command: list[str], merged: str, library: str = "") -> list[str]:
    """An objcopy ``command`` that leaves common symbols global, those of a ``library`` under names of its own. LLVM's
    linker allocates them in the last link only, and silently treats a local one as an address."""
    keep = "--keep-global-symbol=&" + (f" --redefine-sym=&={library}.&" if library else "")
    # names that are words: those with ends of lines are refused (inspect.py), but not before this runs. In a file of
    # options, for a package may have more of them than a command has room for
    found = rf"""/^[^[:space:]]* C /{{s/ C .*//;s/["'\\]/\\&/g;s/.*/{keep}/p;}}"""
    options = f'{spec.prefix}nm --format=posix "$m" | sed -n {shlex.quote(found)} >"$m.commons"'
    run = f'm="$1"; c="$2"; shift 2; {options}; "$c" "@$m.commons" "$@" || exit; rm "$m.commons"'
    return ["/bin/sh", "-c", run, "sh", merged, *command]


def script_of(target: Target) -> tuple[str, ...]:
    """The option that names the target's linker script, if it has one."""
    script = target.folder / "link.ld"
    return (f"-T{script}",) if script.exists() else ()
