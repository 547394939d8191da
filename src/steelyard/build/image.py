"""Implementation x target x flags -> firmware images, content-addressed.

Every source becomes its own object; all of them are linked relocatable; every symbol but the API is
made local; then the harness is linked around it and unused sections are dropped. An AEAD is linked
three times: encryption only, decryption only, both.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from types import MappingProxyType

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from ..model import paths
from ..model.implementation import API, Implementation, SourceFile
from ..model.once import Once, alone
from ..model.reasons import Failure, Reason
from ..model.record import Toolchain
from ..model.target import Target, ToolchainSpec
from . import diagnose, kept, provided, sandbox, trouble
from .ask import ask
from .inspect import judge, misplaced

#: raise with every change here that can change an image
RECIPE = "4"
SECONDS = 120.0
_FILE = 128 << 20  # bytes that a compiler may write to one file

_CODE = ("-ffunction-sections", "-fdata-sections")
# sections stay apart in the partial link, those of assembly too, or --gc-sections could drop none of them
_APART = (".text", ".literal", ".progmem*", ".rodata*", ".data*", ".bss*", ".sdata*", ".sbss*", ".srodata*")
# those that inspect.py looks for
_SEEN = (".vectors*", ".init*", ".fini*", ".ctors*", ".dtors*")
_MERGE = ("-nostdlib", ",".join(("-Wl,-r,-d,--unique", *(f"--unique={s}" for s in (*_APART, *_SEEN)))))
# one source makes one image, whenever: SOURCE_DATE_EPOCH came with GCC 7 and Clang 16, and not for all three
_STILL = (
    "-Wno-builtin-macro-redefined",
    '-D__DATE__="Jan  1 1970"',
    '-D__TIME__="00:00:00"',
    '-D__TIMESTAMP__="Thu Jan  1 00:00:00 1970"',
)
_CXX = ("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-use-cxa-atexit")
# the harness is compiled alike for every implementation, whatever the flags under test
_HARNESS = ("-Os", "-std=gnu99", "-Wall", "-Wextra", *_CODE)
#: operation file and SY_PARTS of each image of a primitive
_PARTS = {
    "crypto_aead": {"both": "aead-3", "encrypt": "aead-1", "decrypt": "aead-2"},
    "crypto_hash": {"both": "hash-3"},
    "crypto_cxof": {"both": "cxof-3"},
}
#: the same for an AEAD with FELICS-AE's interface
_FELICS = {"both": "felics-3", "encrypt": "felics-1", "decrypt": "felics-2"}
_OPERATIONS = tuple(o for parts in (*_PARTS.values(), _FELICS) for o in parts.values())
#: options that earlier versions of C had by default and that packages rely on, by what goes wrong without
_RETRY = {
    Reason.DUPLICATE_SYMBOL: ("-fcommon", "it defines globals in more than one file"),
    Reason.UNDEFINED_SYMBOL: (
        "-fgnu89-inline",
        "it has inline functions without a definition outside, which C99 asks for",
    ),
}
#: all that an image has of what params.c was compiled to: the rest of ``api.h`` is the package's, as its objects are
_PARAMS = ("sy_key_bytes", "sy_npub_bytes", "sy_a_bytes", "nsec_encrypt", "nsec_decrypt")
#: folders of an installed toolchain, beside the one that is named as its target
_TOOLCHAIN = ("lib", "lib32", "lib64", "libexec", "include", "share")
#: how SUPERCOP's ``architectures`` files write a toolchain's family, where they write it otherwise
_SPELLINGS = {"thumb": ("thumb", "arm"), "native": ("amd64", "x86", "native"), "aarch64": ("aarch64", "arm")}
#: for each folder of harness objects, who may look for them and compile what is not there
_harness_locks: dict[Path, Lock] = {}


class Build(Struct, frozen=True):
    """What a build left: images, or the reason for none. ``log`` is what the compilers said."""

    key: str
    folder: Path
    failure: Failure | None
    notes: tuple[str, ...]
    log: str
    cached: bool

    @property
    def images(self) -> dict[str, Path]:
        """ELF images by part: ``both``, and for an AEAD ``encrypt`` and ``decrypt``."""
        return {p: f for p in ("both", "encrypt", "decrypt") if (f := self.folder / f"{p}.elf").exists()}


class _Interrupted(Exception):
    """A build that another try may finish: its failure is told and not kept."""

    def __init__(self, failure: Failure, log: str = "") -> None:
        super().__init__(failure.detail)
        self.failure = failure
        self.log = log


@Once
def harness_digest() -> str:
    """SHA-256 over the harness's sources and this recipe."""
    return _harness_now()


def _harness_now() -> str:
    return _digest_files(sorted(p for p in paths.HARNESS.rglob("*") if p.is_file()), paths.HARNESS, RECIPE)


def build(
    implementation: Implementation, target: Target, toolchain: Toolchain, flags: Iterable[str], fresh: bool = False
) -> Build:
    """Images of ``implementation`` for ``target``; from the cache when nothing that matters changed, they are whole,
    and nobody wants them ``fresh``. A failure that is the machine's is not kept."""
    flags = tuple(flags)
    identity = [RECIPE, implementation.digest, implementation.primitive, harness_digest(), target.digest]
    identity += [toolchain.sha256, *flags]
    key = hashlib.sha256("\0".join(identity).encode()).hexdigest()
    folder = paths.home() / "cache" / "build" / key[:2] / key
    if not fresh and (there := _read(key, folder, cached=True)):
        return there
    try:
        _build_into(folder, implementation, target, flags, toolchain)
    except _Interrupted as e:
        return Build(key, folder, e.failure, (), e.log, False)
    made = _read(key, folder, cached=False)
    if made is None:  # somebody cleans up, or the disk forgets
        failure = Failure(Reason.COMPILER_KILLED, f"{folder} went away, or changed, when it was just made")
        return Build(key, folder, failure, (), "", False)
    return made


def _build_into(
    folder: Path, implementation: Implementation, target: Target, flags: tuple[str, ...], toolchain: Toolchain
) -> None:
    parts = _PARTS[implementation.primitive] if implementation.interface == "nist" else _FELICS
    firmware = target.digest, harness_digest()
    objects = {part: harness_objects(target, toolchain, operation) for part, operation in parts.items()}
    with kept.made(folder) as (work, said):
        failure, notes = _compile(implementation, target, flags, toolchain, objects, work)
        if failure is not None and (plain := _less_assembly(implementation, target, failure, work)):
            log = (work / "log.txt").read_bytes()
            retry, more = _compile(plain, target, flags, toolchain, objects, work)
            if retry is None:
                left = ", ".join(f.name for f in _units(implementation) if f not in plain.files)
                note = f"{left} left out: the other sources do without, and with it: {failure.detail}"
                failure, notes = None, [*more, note]
                _renumber(implementation, plain, work)
            else:
                (work / "log.txt").write_bytes(log)
        option, why = _RETRY.get(failure.reason, ("", "")) if failure is not None else ("", "")
        if option and option not in flags:
            retry, more = _compile(implementation, target, (*flags, option), toolchain, objects, work)
            if retry is None:
                failure, notes = None, [*more, f"built with {option}: {why}"]
        if firmware != (target.digest, _harness_now()):
            raise _Interrupted(Failure(Reason.SOURCES_CHANGED, "the firmware's sources changed while it was compiled"))
        said |= {"failure": to_builtins(failure) if failure else None, "notes": notes}


def _read(key: str, folder: Path, cached: bool) -> Build | None:
    said = kept.read(folder)
    try:
        if said is None:
            return None
        f = said["failure"]
        failure = Failure(Reason(f["reason"]), f["detail"]) if f else None
        log = (folder / "log.txt").read_text(encoding="utf-8", errors="replace")
        return Build(key, folder, failure, tuple(said["notes"]), log, cached)
    except (OSError, ValueError, KeyError, TypeError):
        return None


class _Script:
    """Commands for one sandboxed shell: each writes a log, and its status goes into ``status``."""

    def __init__(self) -> None:
        self.lines = [
            f"ulimit -c 0; ulimit -t 120; ulimit -f {_FILE // 512}; ulimit -v 8388608; failed=",
            'r() { n=$1; shift; "$@" >>"$n.log" 2>&1 && return',
            'c=$?; failed=1; echo "fail $c $n" >>status; return 1; }',
        ]

    def add(self, name: str, *commands: Iterable[str]) -> None:
        self.lines.append(" && ".join(f"r {shlex.quote(name)} {shlex.join(command)}" for command in commands))

    def barrier(self) -> None:
        self.lines.append('[ -z "$failed" ] || exit 0')

    def run(self, work: Path, readable: tuple[Path, ...]) -> list[trouble.Failed]:
        """The commands that failed. :class:`_Interrupted` when it did not come to an end of its own."""
        script = work / "build.sh"
        end = '[ -z "$failed" ] && echo end >>status'
        script.write_bytes(("\n".join([*self.lines, end]) + "\n").encode(errors="surrogateescape"))
        (work / "status").write_text("")
        for log in work.glob("*.log"):  # of another try
            log.unlink()
        code = sandbox.run(script, work, readable, SECONDS)
        status = [line.split(" ", 2) for line in _text(work / "status").splitlines()]
        failed = [trouble.Failed(s[2], int(s[1]), _text(work / f"{s[2]}.log")) for s in status if s[0] == "fail"]
        if code is None:
            raise _Interrupted(Failure(Reason.COMPILE_TIMEOUT, f"stopped after {SECONDS:.0f} s"), _logs(work))
        if not failed and ["end"] not in status:
            if full := trouble.full(work):
                raise _Interrupted(full)
            text = f"the compilers' shell ended with code {code}: out of memory, or no sandbox"
            raise _Interrupted(Failure(Reason.COMPILER_KILLED, text), _logs(work))
        return failed


def _readable(target: Target, *more: Path) -> tuple[Path, ...]:
    """What compilers may see besides the system: of where they are installed a toolchain's own folders, for that may be
    somebody's home; and the names in PATH that lead there, or a program of that name further down in it would run."""
    spec = target.toolchain
    programs = (spec.compiler, spec.cxx, spec.linker, *(f"{spec.prefix}{b}" for b in ("as", "ld", "objcopy", "nm")))
    found = [Path(p) for name in programs if name and (p := shutil.which(name, path=paths.search_path()))]
    names = (*_TOOLCHAIN, spec.prefix.rstrip("-"))
    folders = dict.fromkeys(p.resolve().parent for p in found)
    own = dict.fromkeys(folder for f in folders for n in names if n and (folder := f.parent / n).is_dir())
    links = (p for p in found if p != p.resolve() and p.parent not in folders)
    return (paths.HARNESS, target.folder, *folders, *own, *links, *more)


def harness_objects(target: Target, toolchain: Toolchain, operation: str = "") -> list[Path]:
    """The harness's objects in an image for ``target``, made once: what every image has, and those of an
    ``operation`` such as ``aead-3``."""
    own = [*(paths.HARNESS / n for n in ("main.c", "heap.c", "libc.c")), *target.folder.glob("*.[cS]")]
    folder = _harness_folder(target, toolchain)
    made = [*_harness_group(folder / "common", target, {source.stem: (source,) for source in own}).values()]
    if operation:
        stem = operation.split("-")[0]
        variants = [o for o in _OPERATIONS if o.startswith(f"{stem}-")]
        sources = {o: (f"-DSY_PARTS={o.split('-')[1]}", paths.HARNESS / f"{stem}.c") for o in variants}
        made.append(_harness_group(folder / stem, target, sources)[operation])
    return made


def _harness_folder(target: Target, toolchain: Toolchain) -> Path:
    key = hashlib.sha256(f"{RECIPE}\0{harness_digest()}\0{target.digest}\0{toolchain.sha256}".encode()).hexdigest()
    return paths.home() / "cache" / "harness" / key


def _harness_group(folder: Path, target: Target, sources: Mapping[str, tuple[str | Path, ...]]) -> dict[str, Path]:
    """Objects of the harness by name, of ``sources`` with their options, in ``folder``."""
    spec = target.toolchain
    base = (spec.compiler, *spec.flags, *_HARNESS, *spec.harness, f"-I{paths.HARNESS}", f"-I{paths.HARNESS}/include")
    base += (f"-I{target.folder}",)
    with _harness_locks.setdefault(folder, Lock()), alone(f"harness {folder}"):  # others wait for the first
        if kept.read(folder) is None:
            with kept.made(folder) as (work, _):
                script = _Script()
                for name, (*options, source) in sources.items():
                    script.add(name, (*base, *map(str, options), "-c", str(source), "-o", f"{name}.o"))
                if failed := script.run(work, _readable(target)):
                    text = f"the harness does not compile for {target.name}: {' '.join(failed[0].said.split())[:300]}"
                    cause = trouble.of_machine(failed, spec, work) or Failure(Reason.NO_TOOLCHAIN, text)
                    raise _Interrupted(cause, _logs(work))
    return {name: folder / f"{name}.o" for name in sorted(sources)}


def _compile(
    implementation: Implementation,
    target: Target,
    flags: tuple[str, ...],
    toolchain: Toolchain,
    objects: Mapping[str, list[Path]],
    work: Path,
) -> tuple[Failure | None, list[str]]:
    spec = target.toolchain
    source = work / "src"
    primitives: set[str] = set()
    for f in implementation.files:
        place = source / f.name
        place.parent.mkdir(parents=True, exist_ok=True)
        content = _content(f)
        place.write_bytes(content)
        primitives |= provided.wanted(content)
    more = sorted(primitives)
    units = _units(implementation)
    folders = sorted({str(Path(f.name).parent) for f in implementation.files} - {"."})
    include = ("-Isrc", *(f"-Isrc/{d}" for d in folders), f"-I{paths.HARNESS}/include")
    # SUPERCOP's prefix of a package's global names; localised like all of them, the primitive's own name will do
    name = implementation.primitive
    include += (*_STILL, f"-DCRYPTO_NAMESPACETOP={name}", f"-DCRYPTO_NAMESPACE(name)={name}_##name")
    include += (f"-D_CRYPTO_NAMESPACETOP=_{name}", f"-D_CRYPTO_NAMESPACE(name)=_{name}_##name")
    lto = _link_time(spec, flags)
    script = _Script()
    for k, f in enumerate(units):
        compiler = (*_compiler(f, target), *spec.flags, *_CODE, *flags, *include)
        script.add(f"{k}", *_unread(spec, f, compiler), (*compiler, "-c", f"src/{f.name}", "-o", f"{k}.o"))
    api = f"-DSY_API={1 + list(API).index(implementation.primitive)}"
    compiler = (spec.compiler, *spec.flags, "-Os", *_CODE, api, *include)
    own = [f"{spec.prefix}objcopy", *(o for n in _PARAMS for o in ("--keep-global-symbol", n)), "params.o"]
    sizes = (*compiler, "-c", f"{paths.HARNESS}/params.c", "-o", "params.o")
    script.add("params", sizes, _sparing_commons(spec, own, "params.o") if spec.linker else own)
    for primitive in more:
        script.add(primitive, *_providing(spec, flags, primitive))
    script.barrier()
    renames = [o for api, symbol in implementation.entry for o in ("--redefine-sym", f"{symbol}={api}")]
    keep = [o for api in API[implementation.primitive] for o in ("--keep-global-symbol", api)]
    numbered = [f"{k}.o" for k in range(len(units))]
    partial = (*_MERGE, *_CODE, *flags, *lto) if lto else _MERGE
    if spec.linker:
        partial = (*spec.link, "-r", "--unique")
    # link-time optimisation ends here: its code is the package's alone, and the API is called as any other's
    script.add("merge", _linking(spec, partial, numbered, "merged.o"))
    script.barrier()
    merged = "merged.o"
    if renames:  # first, so that the new names are the ones kept
        script.add("rename", [f"{spec.prefix}objcopy", *renames, "merged.o", "renamed.o"])
        merged = "renamed.o"
    localise = [f"{spec.prefix}objcopy", *keep, merged, "implementation.o"]
    script.add("localise", _sparing_commons(spec, localise, merged) if spec.linker else localise)
    script.barrier()
    for part, harness in objects.items():
        options = [*spec.link, *script_of(target), "-Wl,--gc-sections"]
        if part == "both":  # who pulled which library member in
            options.append("-Wl,-Map=both.map")
        all_of_it = [*map(str, harness), "params.o", "implementation.o", *(f"{m}.provided.o" for m in more)]
        script.add(f"link-{part}", _linking(spec, options, all_of_it, f"{part}.elf"))
    compiled = sorted({o.parent for harness in objects.values() for o in harness})
    failed = script.run(work, _readable(target, *compiled, *(provided.READABLE if more else ())))
    names = {str(k): f.name for k, f in enumerate(units)}
    log = _logs(work, names)
    (work / "log.txt").write_text(log)
    notes = [] if sandbox.available() else ["compiled without a sandbox: bubblewrap is not available"]
    names["params"] = "api.h"
    failed = [replace(c, name=names.get(c.name, c.name)) for c in failed]
    if long := [c for c in failed if c.code == 128 + signal.SIGXFSZ]:
        return Failure(Reason.COMPILE_ERROR, f"{long[0].name}: makes a file of more than {_FILE >> 20} MiB"), notes
    if failed and (cause := trouble.of_machine(failed, spec, work)):
        raise _Interrupted(cause, log)
    if script_of(target):
        refused, noted = judge(work, {"implementation.o": API[implementation.primitive], "params.o": _PARAMS})
        notes += noted
        if refused is not None:
            return refused, notes
    if failed:
        if not all((source / f.name).exists() for f in implementation.files):
            raise _Interrupted(Failure(Reason.COMPILER_KILLED, f"{work} was emptied meanwhile"), log)
        return diagnose.failure([(c.name, c.said) for c in failed], API[implementation.primitive], source), notes
    if missing := [f"{part}.elf" for part in objects if not (work / f"{part}.elf").exists()]:
        raise _Interrupted(Failure(Reason.COMPILER_KILLED, f"the linker left no {missing[0]}, and said nothing"), log)
    if script_of(target) and (refused := misplaced((work / "both.elf").read_bytes(), target.chip)):
        return refused, notes
    return None, [*notes, *(provided.notes(work / "both.elf", more) if more else ())]


def _providing(spec: ToolchainSpec, flags: tuple[str, ...], primitive: str) -> list[tuple[str, ...]]:
    """Commands that compile one of ours with the flags under test; link-time optimisation is the package's alone."""
    own = (f for f in flags if not f.startswith("-flto"))
    compiler = (spec.compiler, *spec.flags, "-std=gnu99", *_CODE, *own, "-w", f"-I{paths.HARNESS}/include")
    keep = (o for f in provided.functions(primitive) for o in ("--keep-global-symbol", f))
    made = f"{primitive}.provided.o"
    source = f"{provided.SOURCES}/{primitive}.c"
    return [(*compiler, "-c", source, "-o", made), (f"{spec.prefix}objcopy", *keep, made)]


def _linking(spec: ToolchainSpec, options: Iterable[str], objects: Iterable[str], image: str) -> tuple[str, ...]:
    """The command that links ``objects`` to ``image``: the compiler's driver, or a linker that it does not know."""
    if not spec.linker:
        return (spec.compiler, *spec.flags, *options, *objects, "-o", image)
    own = (word for o in options for word in o.removeprefix("-Wl,").split(","))
    # LLVM's takes names of libraries from objects, and what is none for a linker script
    return (spec.linker, "--no-dependent-libraries", *own, *objects, "-o", image)


def _link_time(spec: ToolchainSpec, flags: Iterable[str]) -> tuple[str, ...]:
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


def _sparing_commons(spec: ToolchainSpec, command: list[str], merged: str) -> list[str]:
    """``command`` of objcopy with common symbols left global: LLVM's linker leaves them to the last link, and takes
    a local one for an address without a word."""
    options = rf"$({spec.prefix}nm --format=posix {merged} | sed -n 's/^\([^ ]*\) C .*/--keep-global-symbol=\1/p')"
    return ["/bin/sh", "-c", f'o="$1"; shift; exec "$o" {options} "$@"', "sh", *command]


def _content(f: SourceFile) -> bytes:
    """The bytes that ``f`` was named by; :class:`_Interrupted` where there are others now, or none."""
    try:
        content = f.path.read_bytes()
    except OSError as e:
        raise _Interrupted(Failure(Reason.SOURCES_CHANGED, f"{f.name}: {e.strerror}")) from e
    if hashlib.sha256(content).hexdigest() != f.sha256:
        raise _Interrupted(Failure(Reason.SOURCES_CHANGED, f"{f.name} is not what it was when it was found"))
    return content


def _units(implementation: Implementation) -> list[SourceFile]:
    return [f for f in implementation.files if f.language != "header"]


def objects(built: Build, implementation: Implementation) -> dict[str, Path]:
    """What each source of ``implementation`` was compiled to, by the source's name."""
    made = {f.name: built.folder / f"{k}.o" for k, f in enumerate(_units(implementation))}
    return {name: file for name, file in made.items() if file.exists()}


def _less_assembly(
    implementation: Implementation, target: Target, failure: Failure, work: Path
) -> Implementation | None:
    """``implementation`` without the assembly that stands in the way: what was not assembled, or all of it where
    symbols are defined twice. None where that is nothing, or every source, and for a package that names other machines
    than the target's: what C there is in it is not what it offers."""
    spellings = _SPELLINGS.get(target.toolchain.family, (target.toolchain.family,))
    if implementation.architectures and not any(a.startswith(spellings) for a in implementation.architectures):
        return None
    units = _units(implementation)
    assembly = {f.name: (work / f"{k}.o").exists() for k, f in enumerate(units) if f.language == "asm"}
    twice = failure.reason is Reason.DUPLICATE_SYMBOL
    bad = {name for name, assembled in assembly.items() if twice or not assembled}
    if not bad or len(bad) == len(units):
        return None
    files = tuple(replace(f, language="header") if f.name in bad else f for f in implementation.files)
    return replace(implementation, files=files)


def _renumber(implementation: Implementation, built: Implementation, work: Path) -> None:
    """Give the objects of ``built`` the numbers that its sources have in ``implementation``, which has more."""
    numbers = {f.name: k for k, f in enumerate(_units(built))}
    for k, f in reversed([*enumerate(_units(implementation))]):
        if f.name in numbers:
            (work / f"{numbers[f.name]}.o").rename(work / f"{k}.o")
        else:
            (work / f"{k}.o").unlink(missing_ok=True)


def _compiler(f: SourceFile, target: Target) -> tuple[str, ...]:
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


def _unread(spec: ToolchainSpec, f: SourceFile, compiler: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """A command that fails where the assembly ``f`` has such operands, as another machine's has; none for C."""
    if f.language != "asm" or not spec.linker:
        return ()
    check = f'found=$("$@" | grep -E \'{_PASSED_OVER}\') || exit 0; echo "bad instruction: $found"; exit 1'
    return (("/bin/sh", "-c", check, "sh", *compiler, "-E", "-P", f"src/{f.name}"),)


def script_of(target: Target) -> tuple[str, ...]:
    """The option that names the target's linker script, where it has one of its own."""
    script = target.folder / "link.ld"
    return (f"-T{script}",) if script.exists() else ()


def _logs(work: Path, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """The commands' outputs in one text, under the names that users know."""
    logs = [(names.get(log.stem, log.stem), _text(log).strip()) for log in sorted(work.glob("*.log"))]
    return "\n".join(f"== {name}\n{text}\n" for name, text in logs if text)


def _text(file: Path) -> str:
    """The content of a file that a full disk may have kept from being made."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _digest_files(files: list[Path], root: Path, *more: str) -> str:
    h = hashlib.sha256("\0".join(more).encode())
    for f in files:
        h.update(f"{f.relative_to(root)}\0".encode() + hashlib.sha256(f.read_bytes()).digest())
    return h.hexdigest()
