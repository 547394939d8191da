"""Implementation x target x flags -> firmware images, content-addressed.

Every source becomes its own object; all of them are linked relocatable; every symbol but the API is
made local; then the harness is linked around it and unused sections are dropped. An AEAD is linked
three times: encryption only, decryption only, both.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from ..model import paths
from ..model.errors import UserError
from ..model.implementation import API, Implementation, SourceFile
from ..model.once import Once
from ..model.reasons import Failure, Reason
from ..model.record import Toolchain
from ..model.target import Target
from . import diagnose, driver, sandbox

#: raise with every change here that can change an image
RECIPE = "1"
SECONDS = 120.0
#: seconds after which nobody works in a folder any more
ABANDONED = 24 * 3600

_CODE = ("-ffunction-sections", "-fdata-sections")
_CXX = ("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-use-cxa-atexit")
# the harness is compiled alike for every implementation, whatever the flags under test
_HARNESS = ("-Os", "-std=gnu99", "-Wall", "-Wextra", *_CODE, "-fno-tree-loop-distribute-patterns")
#: operation file and SY_PARTS of each image of a primitive
_PARTS = {
    "crypto_aead": {"both": "aead-3", "encrypt": "aead-1", "decrypt": "aead-2"},
    "crypto_hash": {"both": "hash-3"},
    "crypto_cxof": {"both": "cxof-3"},
}
#: the same for an AEAD with FELICS-AE's interface
_FELICS = {"both": "felics-3", "encrypt": "felics-1", "decrypt": "felics-2"}
_OPERATIONS = tuple(o for parts in (*_PARTS.values(), _FELICS) for o in parts.values())
#: for each folder of harness objects, who may look for them and compile what is not there
_harness_locks: dict[Path, Lock] = {}


class Build(Struct, frozen=True):
    """What a build left: images, or the reason for none."""

    key: str
    folder: Path
    failure: Failure | None
    notes: tuple[str, ...]
    cached: bool

    @property
    def images(self) -> dict[str, Path]:
        """ELF images by part: ``both``, and for an AEAD ``encrypt`` and ``decrypt``."""
        return {p: f for p in ("both", "encrypt", "decrypt") if (f := self.folder / f"{p}.elf").exists()}

    @property
    def log(self) -> str:
        """What the compilers said."""
        try:
            return (self.folder / "log.txt").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""


@Once
def harness_digest() -> str:
    """SHA-256 over the harness's sources and this recipe."""
    return _digest_files(sorted(p for p in paths.HARNESS.rglob("*") if p.is_file()), paths.HARNESS, RECIPE)


def build(implementation: Implementation, target: Target, toolchain: Toolchain, flags: Iterable[str]) -> Build:
    """Images of ``implementation`` for ``target``; from the cache when nothing that matters changed."""
    flags = tuple(flags)
    identity = [RECIPE, implementation.digest, implementation.primitive, harness_digest(), target.digest]
    identity += [toolchain.sha256, *flags]
    key = hashlib.sha256("\0".join(identity).encode()).hexdigest()
    folder = paths.home() / "cache" / "build" / key[:2] / key
    if (folder / "build.json").exists():
        return _read(key, folder, cached=True)
    try:
        _build_into(folder, implementation, target, flags, toolchain)
    except _Interrupted as e:
        return Build(key, folder, e.failure, (), False)
    return _read(key, folder, cached=False)


def _build_into(
    folder: Path, implementation: Implementation, target: Target, flags: tuple[str, ...], toolchain: Toolchain
) -> None:
    parts = _PARTS[implementation.primitive] if implementation.interface == "nist" else _FELICS
    objects = {part: harness_objects(target, toolchain, operation) for part, operation in parts.items()}
    with _workplace(folder) as work:
        failure, notes = _compile(implementation, target, flags, toolchain, objects, work)
        if failure is not None and (plain := _less_assembly(implementation, failure, work)):
            log = (work / "log.txt").read_bytes()
            retry, more = _compile(plain, target, flags, toolchain, objects, work)
            if retry is None:
                left = ", ".join(f.name for f in _units(implementation) if f not in plain.files)
                note = f"{left} left out: the other sources do without, and with it: {failure.detail}"
                failure, notes = None, [*more, note]
                _renumber(implementation, plain, work)
            else:
                (work / "log.txt").write_bytes(log)
        if failure is not None and failure.reason is Reason.DUPLICATE_SYMBOL and "-fcommon" not in flags:
            retry, more = _compile(implementation, target, (*flags, "-fcommon"), toolchain, objects, work)
            if retry is None:
                note = "built with -fcommon: it defines globals in more than one file"
                failure, notes = None, [*more, note]
        state = {"failure": to_builtins(failure) if failure else None, "notes": notes}
        (work / "build.json").write_text(json.dumps(state))


def _read(key: str, folder: Path, cached: bool) -> Build:
    state = json.loads((folder / "build.json").read_text())
    f = state["failure"]
    failure = Failure(Reason(f["reason"]), f["detail"]) if f else None
    return Build(key, folder, failure, tuple(state["notes"]), cached)


class _workplace:
    """A folder that appears under its final name only when complete."""

    def __init__(self, final: Path) -> None:
        self.final = final

    def __enter__(self) -> Path:
        self.final.parent.mkdir(parents=True, exist_ok=True)
        for left in self.final.parent.glob(".work-*"):  # by a process that was killed
            with suppress(FileNotFoundError):
                if time.time() - left.stat().st_mtime > ABANDONED:
                    shutil.rmtree(left, ignore_errors=True)
        self.work = Path(tempfile.mkdtemp(prefix=".work-", dir=self.final.parent))
        return self.work

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self.work.rename(self.final)
        except OSError:
            if not self.final.exists():  # another process may have finished the same build first
                raise
        finally:
            shutil.rmtree(self.work, ignore_errors=True)


class _Interrupted(Exception):
    """A build that another try may finish: its failure is told and not kept."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure


class HarnessError(UserError):
    """A compiler that cannot even make our own firmware: nothing is wrong with the implementation."""


class _Script:
    """Commands for one sandboxed shell: each writes a log, and its status goes into ``status``."""

    def __init__(self) -> None:
        self.lines = [
            "ulimit -c 0; ulimit -t 120; ulimit -f 262144; ulimit -v 8388608; failed=",
            'r() { n=$1; shift; "$@" >>"$n.log" 2>&1 && return; echo "fail $n" >>status; failed=1; return 1; }',
        ]

    def add(self, name: str, *commands: Iterable[str]) -> None:
        self.lines.append(" && ".join(f"r {shlex.quote(name)} {shlex.join(command)}" for command in commands))

    def barrier(self) -> None:
        self.lines.append('[ -z "$failed" ] || exit 0')

    def run(self, work: Path, readable: tuple[Path, ...]) -> list[str]:
        """Names of failed commands. :class:`_Interrupted` when it did not come to an end of its own."""
        script = work / "build.sh"
        script.write_bytes(("\n".join([*self.lines, "echo end >>status"]) + "\n").encode(errors="surrogateescape"))
        (work / "status").write_text("")
        for log in work.glob("*.log"):  # of another try
            log.unlink()
        code = sandbox.run(script, work, readable, SECONDS)
        for assembly in work.glob("*.o.s"):
            assembly.unlink()
        status = (work / "status").read_text().splitlines()
        failed = [line[5:] for line in status if line.startswith("fail ")]
        if code is None:
            raise _Interrupted(Failure(Reason.COMPILE_TIMEOUT, f"stopped after {SECONDS:.0f} s"))
        if not failed and "end" not in status:
            text = f"the compilers' shell ended with code {code}: out of memory, or no sandbox"
            raise _Interrupted(Failure(Reason.COMPILE_ERROR, text))
        return failed


def _readable(target: Target, *more: Path) -> tuple[Path, ...]:
    driver = Path(shutil.which(target.toolchain.compiler, path=paths.search_path()) or "/usr/bin").resolve()
    return (paths.HARNESS, target.folder, driver.parent.parent, *more)


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
    base = (spec.compiler, *spec.flags, *_HARNESS, f"-I{paths.HARNESS}", f"-I{paths.HARNESS}/include")
    base += (f"-I{target.folder}",)
    with _harness_locks.setdefault(folder, Lock()):  # other threads wait for the first
        if not folder.exists():
            with _workplace(folder) as work:
                script = _Script()
                for name, (*options, source) in sources.items():
                    compiler = (*base, *map(str, options))
                    script.add(name, *driver.compiling(spec, compiler, str(source), f"{name}.o"))
                if failed := script.run(work, _readable(target)):
                    log = (work / f"{failed[0]}.log").read_text(errors="replace").strip()
                    raise HarnessError(f"the harness does not compile for {target.name}; run steelyard doctor\n{log}")
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
    for f in implementation.files:
        place = source / f.name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(f.path, place)
    units = _units(implementation)
    folders = sorted({str(Path(f.name).parent) for f in implementation.files} - {"."})
    include = ("-Isrc", *(f"-Isrc/{d}" for d in folders), f"-I{paths.HARNESS}/include")
    # SUPERCOP's prefix of a package's global names; localised like all of them, the primitive's own name will do
    name = implementation.primitive
    include += (f"-DCRYPTO_NAMESPACETOP={name}", f"-DCRYPTO_NAMESPACE(name)={name}_##name")
    include += (f"-D_CRYPTO_NAMESPACETOP=_{name}", f"-D_CRYPTO_NAMESPACE(name)=_{name}_##name")
    script = _Script()
    for k, f in enumerate(units):
        compiler = (*_compiler(f, target), *spec.flags, *_CODE, *flags, *include)
        script.add(f"{k}", *driver.compiling(spec, compiler, f"src/{f.name}", f"{k}.o"))
    shared = _shared_params(source / "api.h", implementation.primitive, _harness_folder(target, toolchain))
    if known := shared if shared and shared.exists() else None:
        shutil.copyfile(known, work / "params.o")
    else:
        api = f"-DSY_API={1 + list(API).index(implementation.primitive)}"
        compiler = (spec.compiler, *spec.flags, "-Os", *_CODE, api, *include)
        script.add("params", *driver.compiling(spec, compiler, f"{paths.HARNESS}/params.c", "params.o"))
    script.barrier()
    renames = [o for api, symbol in implementation.entry for o in ("--redefine-sym", f"{symbol}={api}")]
    keep = [o for api in API[implementation.primitive] for o in ("--keep-global-symbol", api)]
    sample = next(o for harness in objects.values() for o in harness)
    numbered = [f"{k}.o" for k in range(len(units))]
    merge = driver.linking(spec, ("-nostdlib", "-Wl,-r,-d,--unique"), numbered, "merged.o", flags, sample)
    script.add("merge", merge)
    script.barrier()
    merged = "merged.o"
    if renames:  # first, so that the new names are the ones kept
        script.add("rename", [f"{spec.prefix}objcopy", *renames, "merged.o", "renamed.o"])
        merged = "renamed.o"
    script.add("localise", [f"{spec.prefix}objcopy", *keep, merged, "implementation.o"])
    script.barrier()
    for part, harness in objects.items():
        options = [*spec.link, *script_of(target), "-Wl,--gc-sections"]
        if part == "both":  # who pulled which library member in
            options.append("-Wl,-Map=both.map")
        all_of_it = [*map(str, harness), "params.o", "implementation.o"]
        script.add(f"link-{part}", driver.linking(spec, options, all_of_it, f"{part}.elf", flags, sample))
    compiled = sorted({o.parent for harness in objects.values() for o in harness})
    failed = script.run(work, _readable(target, *compiled))
    _write_log(work, units)
    notes = [] if sandbox.available() else ["compiled without a sandbox: bubblewrap is not available"]
    if failed:
        names = {str(k): f.name for k, f in enumerate(units)} | {"params": "api.h"}
        logs = [(names.get(n, n), (work / f"{n}.log").read_text(errors="replace")) for n in failed]
        return diagnose.failure(logs, API[implementation.primitive], source), notes
    if shared and not known:
        shared.parent.mkdir(exist_ok=True)
        with suppress(OSError):  # another thread may have been first
            shared.hardlink_to(work / "params.o")
    return None, notes


def _shared_params(header: Path, primitive: str, folder: Path) -> Path | None:
    """Where the parameters of implementations with the same ``api.h`` are kept; None if its text is not all of it."""
    try:
        text = header.read_bytes()
    except OSError:
        return None
    if re.search(rb"include|__", text):
        return None
    return folder / "params" / f"{primitive}-{hashlib.sha256(text).hexdigest()}.o"


def _units(implementation: Implementation) -> list[SourceFile]:
    return [f for f in implementation.files if f.language != "header"]


def objects(built: Build, implementation: Implementation) -> dict[str, Path]:
    """What each source of ``implementation`` was compiled to, by the source's name."""
    made = {f.name: built.folder / f"{k}.o" for k, f in enumerate(_units(implementation))}
    return {name: file for name, file in made.items() if file.exists()}


def _less_assembly(implementation: Implementation, failure: Failure, work: Path) -> Implementation | None:
    """``implementation`` without the assembly that stands in the way: what was not assembled, or all of it where
    symbols are defined twice. None where that is nothing, or every source."""
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


def script_of(target: Target) -> tuple[str, ...]:
    """The option that names the target's linker script, where it has one of its own."""
    script = target.folder / "link.ld"
    return (f"-T{script}",) if script.exists() else ()


def _write_log(work: Path, units: list[SourceFile]) -> None:
    """Puts the commands' outputs into one file, under the names that users know."""
    names = {str(k): f.name for k, f in enumerate(units)}
    parts = []
    for log in sorted(work.glob("*.log")):
        text = log.read_text(errors="replace").strip()
        if text:
            parts.append(f"== {names.get(log.stem, log.stem)}\n{text}\n")
    (work / "log.txt").write_text("\n".join(parts))


def _digest_files(files: list[Path], root: Path, *more: str) -> str:
    h = hashlib.sha256("\0".join(more).encode())
    for f in files:
        h.update(f"{f.relative_to(root)}\0".encode() + hashlib.sha256(f.read_bytes()).digest())
    return h.hexdigest()
