"""Builds firmware images from implementation x target x flags, in a content-addressed cache.

Every source becomes its own object. The objects are linked into one relocatable object, in which every symbol except
the API is made local. Then it is linked with the harness, and unused sections are dropped. An AEAD is linked three
times: encryption only, decryption only, both.
"""

from __future__ import annotations

import hashlib
import shutil
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from ..model import paths
from ..model.call import BUILD, DeviceError
from ..model.implementation import API, Implementation, SourceFile
from ..model.reasons import Failure, Reason
from ..model.record import Setup, Toolchain
from ..model.target import Target
from . import diagnose, kept, provided, sandbox, trouble
from .commands import (
    ASKS,
    CODE,
    MERGE,
    MODE,
    PLAIN,
    ROUND_KEYS,
    STILL,
    SUPERCOP,
    compiler_of,
    link_time,
    linking,
    operating,
    prefixed,
    providing,
    script_of,
    sparing_commons,
    unread,
)
from .firmware import (
    CHANGED,
    INTERFACES,
    MODES,
    PARTS,
    RECIPE,
    as_identified,
    harness_digest,
    harness_now,
    harness_objects,
)
from .inspect import displacing, judge, misplaced, uncounted
from .script import LARGEST, Interrupted, Script, TooLargeError, logs, readable
from .toolchain import identify, why_not

#: where builds are that the cache is not to keep, by the digest of their sources
_APART: dict[str, Path] = {}
#: what packages rely on, SUPERCOP's macro or behaviour of earlier C compilers: options by the failure that occurs
#: without them
_RETRY = {
    Reason.MISSING_ENTRY: (SUPERCOP, "the functions of its API are not there without it"),
    Reason.DUPLICATE_SYMBOL: ("-fcommon", "it defines globals in more than one file"),
    Reason.UNDEFINED_SYMBOL: (
        "-fgnu89-inline",
        "it has inline functions without the external definition that C99 asks for",
    ),
}
#: the only symbols of the compiled params.c that stay global: the rest comes from ``api.h`` and belongs to the package
_PARAMS = ("sy_key_bytes", "sy_npub_bytes", "sy_a_bytes", "sy_image", "sy_nsec_encrypt", "sy_nsec_decrypt")
#: what FELICS calls a toolchain's family; all others are like its PC
_FELICS = {"avr": "AVR", "msp430": "MSP", "thumb": "ARM"}
#: what of an image with round keys in flash encryption alone needs: its name, and how the linker finds it
ALONE = "alone"
_ALONE = ("-Wl,-e,crypto_block_encrypt", "-Wl,-u,crypto_block_encrypt", "-Wl,--unresolved-symbols=ignore-all")
#: how SUPERCOP's ``architectures`` files spell a toolchain's family, where the spelling differs
_SPELLINGS = {"thumb": ("thumb", "arm"), "native": ("amd64", "x86", "native"), "aarch64": ("aarch64", "arm")}


class Scenario(Struct, frozen=True):
    """A scenario of FELICS's: its ``number``, the bytes of a ``block``, and in the one with round keys in flash the
    ``context`` that these are. The image has a mode of operation besides the package, and no other than that with both
    directions; but the same package with ``other`` round keys in flash, so that it cannot know them."""

    number: int
    block: int
    context: bytes = b""
    other: bytes = b""

    @property
    def contexts(self) -> dict[str, bytes]:
        """The round keys by part."""
        return {"both": self.context} | ({"other": self.other} if self.other else {})


class Build(Struct, frozen=True):
    """The result of a build: images, or the failure. ``key`` identifies it in the cache, ``log`` is the compilers'
    output, ``cached`` says that it was built earlier."""

    key: str
    folder: Path
    failure: Failure | None
    notes: tuple[str, ...]
    log: str
    cached: bool

    @property
    def images(self) -> dict[str, Path]:
        """ELF images by part: ``both``, for an AEAD and a block cipher ``encrypt`` and ``decrypt``, and a scenario's
        ``other``."""
        return {p: f for p in ("both", "encrypt", "decrypt", "other") if (f := self.folder / f"{p}.elf").exists()}

    @property
    def maps(self) -> dict[str, Path]:
        """The linker's map of each image, which shows the library members that are pulled in, and why."""
        return {part: self.folder / f"{part}.map" for part in self.images}


def build(
    implementation: Implementation,
    target: Target,
    toolchain: Toolchain,
    flags: Iterable[str],
    fresh: bool = False,
    scenario: Scenario | None = None,
) -> Build:
    """Builds ``implementation`` for ``target``, or takes the images from the cache when nothing relevant changed and
    they are undamaged. ``fresh`` builds in any case. Failures caused by the machine are not cached. Raises nothing for
    a failed build: ``build(...).failure`` says why."""
    flags = tuple(flags)
    more = [] if scenario is None else [f"scenario {scenario.number} {scenario.block} {ALONE}"]
    more += [] if scenario is None else [context.hex() for context in scenario.contexts.values()]
    primitive, made_of = implementation.primitive, (implementation.digest, harness_digest(), target.digest)
    key, folder = _place(primitive, *made_of, toolchain.sha256, *flags, *more)
    if not fresh and (there := _read(key, folder, cached=True)):
        return there
    try:
        _build_into(folder, implementation, target, flags, toolchain, scenario)
    except Interrupted as e:
        return Build(key, folder, e.failure, (), e.log, False)
    made = _read(key, folder, cached=False)
    if made is None:  # somebody removed it, or the disk fails
        failure = Failure(Reason.COMPILER_KILLED, f"{folder} disappeared or changed right after it was built")
        return Build(key, folder, failure, (), "", False)
    return made


def _place(primitive: str, sources: str, harness: str, target: str, toolchain: str, *more: str) -> tuple[str, Path]:
    """The identity of a build, of the digests of what it is made of and its flags, and its folder in the cache."""
    key = hashlib.sha256(
        "\0".join([RECIPE, sources, primitive, harness, target, toolchain, *more]).encode()
    ).hexdigest()
    return key, _APART.get(sources, paths.home() / "cache" / "build") / key[:2] / key


@contextmanager
def apart(implementation: Implementation) -> Iterator[None]:
    """Builds this implementation in a folder of its own meanwhile, of which nothing is left in the cache."""
    with kept.working(paths.home() / "cache" / "apart") as folder:
        _APART[implementation.digest] = folder
        try:
            yield
        finally:
            del _APART[implementation.digest]


def kept_of(setup: Setup) -> Build | None:
    """The build that was weighed in ``setup``, where the cache still has it undamaged, whatever became of its sources,
    compiler and firmware since. Never that of a package with KAT files, whose setup does not tell its sources' digest
    from theirs."""
    flags = setup.flags.split(" ") if setup.flags else []
    made_of = (setup.implementation_digest, setup.harness, setup.target_digest, setup.toolchain.sha256)
    return _read(*_place(setup.primitive, *made_of, *flags), cached=True)


def built(implementation: Implementation, target: Target, flags: tuple[str, ...] | None = None) -> Build:
    """The same with the toolchain that is here, and with the target's own flags where none are given. Raises
    :class:`DeviceError` where there is no toolchain, and for a failed build."""
    toolchain = identify(target.toolchain)
    if toolchain is None:
        raise DeviceError(Failure(Reason.NO_TOOLCHAIN, why_not(target.toolchain)))
    made = build(implementation, target, toolchain, target.toolchain.default_flags if flags is None else flags)
    if made.failure is not None:
        raise DeviceError(made.failure)
    return made


def _build_into(
    folder: Path,
    implementation: Implementation,
    target: Target,
    flags: tuple[str, ...],
    toolchain: Toolchain,
    scenario: Scenario | None,
) -> None:
    parts = INTERFACES.get(implementation.interface) or PARTS[implementation.primitive]
    if scenario is not None:
        parts = dict.fromkeys(scenario.contexts, MODES[implementation.interface, scenario.number])
    firmware, number = (target.digest, harness_digest()), f"0x{folder.name[:8]}"
    harness = harness_objects(target, toolchain, *dict.fromkeys(parts.values()))
    objects = {part: harness[operation] for part, operation in parts.items()}
    with kept.made(folder) as (work, said):
        failure, notes = _compile(implementation, target, flags, objects, work, number, scenario)
        if failure is not None and (plain := _less_assembly(implementation, target, failure, work)):
            log = (work / "log.txt").read_bytes()
            retry, more = _compile(plain, target, flags, objects, work, number, scenario)
            if retry is None:
                left = ", ".join(f.name for f in _units(implementation) if f not in plain.files)
                note = f"{left} left out: the other sources build without it, and fail with it: {failure.detail}"
                failure, notes = None, [*more, note]
                _renumber(implementation, plain, work)
            else:
                (work / "log.txt").write_bytes(log)
        option, why = _RETRY.get(failure.reason, ("", "")) if failure is not None else ("", "")
        asked = option != SUPERCOP or _asks(work / "src")
        if failure is not None and option and asked and option not in flags:
            retry, more = _compile(implementation, target, (*flags, option), objects, work, number, scenario)
            # what SUPERCOP would be told is the reason then
            if retry is None or (option == SUPERCOP and retry.reason is not failure.reason):
                failure, notes = retry, [*more, f"built with {option}: {why}"]
        if firmware != (target.digest, harness_now()):
            raise Interrupted(Failure(Reason.SOURCES_CHANGED, CHANGED))
        as_identified(target.toolchain)
        if failure is not None:  # nobody needs them again
            _drop([*work.glob("*.o"), *work.glob("*.elf")])
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


def _compile(
    implementation: Implementation,
    target: Target,
    flags: tuple[str, ...],
    objects: Mapping[str, list[Path]],
    work: Path,
    number: str,
    scenario: Scenario | None = None,
) -> tuple[Failure | None, list[str]]:
    """``number``, as C writes it, tells the build's images from all others."""
    spec = target.toolchain
    _empty(work)
    source = work / "src"
    primitives: set[str] = set()
    for f in implementation.files:
        copy = source / f.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        content = _content(f)
        copy.write_bytes(content)
        primitives |= provided.wanted(content)
    more = sorted(primitives)
    units = _units(implementation)
    include: tuple[str, ...] = (f"-I{paths.HARNESS}/include", *STILL)
    if implementation.interface == "phases":
        include += (f"-D{_FELICS.get(spec.family, 'PC')}",)
        include += (f"-DSCENARIO={scenario.number}",) if scenario is not None else ()
    lto = link_time(spec, flags)
    script = Script()
    for k, f in enumerate(units):
        library = implementation.library_of(f)
        told = (*_folders(implementation, library), *include)
        compiler = (
            *compiler_of(f, target, apart=library != implementation.primitive),
            *spec.flags,
            *CODE,
            *flags,
            *told,
        )
        script.add(f"{k}", *unread(spec, f, compiler), (*compiler, "-c", f"src/{f.name}", "-o", f"{k}.o"))
    own_api = (f"-DSY_API={1 + list(API).index(implementation.primitive)}", f"-DSY_IMAGE={number}UL")
    include = (*_folders(implementation, implementation.primitive), *include)
    compiler = (spec.compiler, *spec.flags, "-Os", *CODE, *own_api, *include)
    own = [f"{spec.prefix}objcopy", *(o for n in _PARAMS for o in ("--keep-global-symbol", n)), "params.o"]
    compiler += (SUPERCOP,) if SUPERCOP in flags else ()
    sizes = (*compiler, "-c", f"{paths.HARNESS}/params.c", "-o", "params.o")
    script.add("params", sizes, sparing_commons(spec, own, "params.o") if spec.linker else own)
    for primitive in more:
        script.add(primitive, *providing(spec, flags, primitive))
    script.barrier()
    renames = [*_called(f"{symbol}={api}" for api, symbol in implementation.entry)]
    keep = [o for api in API[implementation.primitive] for o in ("--keep-global-symbol", api)]
    partial = (*MERGE, *CODE, *flags, *lto) if lto else (*MERGE, PLAIN)
    if spec.linker:
        partial = (*spec.link, "-r", "--unique")
    # the linker lists assembly by its object's path, and the hidden one is another each time
    named = [f"{k}.o={k}.o" for k, f in enumerate(units) if f.language == "asm"]
    numbered: dict[str, list[str]] = {}  # by library, in the order of linking
    for f in _linked(implementation, units):
        numbered.setdefault(implementation.library_of(f), []).append(f"{units.index(f)}.o")
    for library in [name for name in numbered if name != implementation.primitive]:
        whole, alone = f"{library}.whole.o", f"{library}.library.o"
        script.add(f"merge-{library}", linking(spec, partial, numbered[library], whole), of=[*numbered[library], whole])
        numbered[library] = [alone]
        # groups of C++ are told apart by their names alone, which two libraries may share
        only = [f"{spec.prefix}objcopy", *_called(named)]
        only += ["-R", ".group", "--keep-global-symbol", library, whole, alone]
        localise = sparing_commons(spec, only, whole, library) if spec.linker else only
        script.add(f"localise-{library}", localise, of=[whole, *named])
        script.barrier()
    # link-time optimisation ends here: it covers the package only, and the API is called like any other
    every = [o for of in numbered.values() for o in of]
    script.add("merge", linking(spec, partial, every, "merged.o"), of=[*every, "merged.o"])
    script.show()
    script.barrier()
    merged = "merged.o"
    if renames:  # before localising, so that the new names are kept
        script.add("rename", [f"{spec.prefix}objcopy", *renames, "merged.o", "renamed.o"])
        merged = "renamed.o"
    localise = [f"{spec.prefix}objcopy", *_called(named), *keep, merged, "implementation.o"]
    script.add("localise", sparing_commons(spec, localise, merged) if spec.linker else localise, of=named)
    script.barrier()
    if scenario is not None:
        for part, context in scenario.contexts.items():
            # no compiler of the package's code runs any more: it could read them
            script.put(f"{part}/{ROUND_KEYS}", f"{', '.join(map(str, context))}")
            made = operating(spec, flags, implementation.interface, scenario.number, scenario.block, part)
            script.add(f"mode-{part}", made)
        script.barrier()
    for part, harness in objects.items():
        options = [
            *spec.link,
            *script_of(target),
            "-Wl,--gc-sections",
            f"-Wl,--defsym={BUILD}={number}",
            *(() if spec.linker else (PLAIN,)),
            f"-Wl,-Map={part}.map",
        ]
        all_of_it = [*map(str, harness), "params.o", "implementation.o", *(f"{m}.provided.o" for m in more)]
        all_of_it += [f"{part}/{MODE}"] if scenario is not None else []
        script.add(f"link-{part}", linking(spec, options, all_of_it, f"{part}.elf"))
        if part == "both" and scenario is not None and scenario.context:  # what encryption alone needs
            own = [o for o in options if "-Map=" not in o] + [*_ALONE, f"-Wl,-Map={ALONE}.map"]
            of_it = ["implementation.o", *(f"{m}.provided.o" for m in more)]
            script.add(f"link-{ALONE}", linking(spec, own, of_it, f"{ALONE}.elf"))
    compiled = sorted({o.parent for harness in objects.values() for o in harness})
    try:
        failed = script.run(work, readable(target, *compiled, *(provided.READABLE if more else ())))
    except TooLargeError as e:
        _drop(f for f in work.iterdir() if f.is_file())
        (work / "log.txt").write_text(f"{e}\n")
        return Failure(Reason.COMPILE_ERROR, str(e)), []
    names = {str(k): f.name for k, f in enumerate(units)}
    log = logs(work, names)
    (work / "log.txt").write_text(log)
    notes = [] if sandbox.available() else [sandbox.UNCONFINED]
    names["params"] = "api.h"
    failed = [replace(c, name=names.get(c.name, c.name)) for c in failed]
    if long := [c for c in failed if c.code == 128 + signal.SIGXFSZ]:
        return Failure(Reason.COMPILE_ERROR, f"{long[0].name}: makes a file of more than {LARGEST >> 20} MiB"), notes
    if failed and (cause := trouble.of_machine(failed, spec, work, flags)):
        raise Interrupted(cause, log)
    if cause := trouble.too_much(failed, work):
        return cause, notes
    if script_of(target):
        refused, noted = judge(work, {"implementation.o": API[implementation.primitive], "params.o": _PARAMS})
        notes += noted
        # of an object that cannot be read the linker may say more
        if refused is not None and not (failed and refused.reason is Reason.LINK_ERROR):
            return refused, notes
        if moved := displacing(work, [c.said for c in failed]):
            return moved, notes
    if failed:
        if not all((source / f.name).exists() for f in implementation.files):
            raise Interrupted(Failure(Reason.COMPILER_KILLED, f"{work} was emptied during the build"), log)
        said = [(c.name, c.said) for c in failed]
        core = target.chip.core if target.device == "simulator" else ""
        return diagnose.failure(said, API[implementation.primitive], source, core), notes
    if missing := [f"{part}.elf" for part in objects if not (work / f"{part}.elf").exists()]:
        raise Interrupted(Failure(Reason.COMPILER_KILLED, f"the linker made no {missing[0]}, and said nothing"), log)
    if script_of(target):
        refused = misplaced((work / "both.elf").read_bytes(), target) or uncounted(work)
        if refused is not None:
            return refused, notes
    return None, [*notes, *(provided.notes(work / "both.elf", more) if more else ())]


def _asks(sources: Path) -> bool:
    """Whether any of a package's ``sources`` asks for SUPERCOP's macro."""
    return any(ASKS.search(f.read_bytes()) for f in sources.rglob("*") if f.is_file())


def _empty(work: Path) -> None:
    """Removes what an earlier try left, which no source may include."""
    for left in work.iterdir():
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        else:
            left.unlink()


def _drop(files: Iterable[Path]) -> None:
    for f in files:
        f.unlink()


def _content(f: SourceFile) -> bytes:
    """The content of ``f``. Raises :class:`Interrupted` when it changed since it was hashed, or is gone."""
    try:
        content = f.path.read_bytes()
    except OSError as e:
        raise Interrupted(Failure(Reason.SOURCES_CHANGED, f"{f.name}: {e.strerror}")) from e
    if hashlib.sha256(content).hexdigest() != f.sha256:
        raise Interrupted(Failure(Reason.SOURCES_CHANGED, f"{f.name} changed since it was found"))
    return content


def _folders(implementation: Implementation, library: str) -> tuple[str, ...]:
    """What compilers are told for the sources of a library: where its headers are, and how its global names begin."""
    of = (f for f in implementation.files if implementation.library_of(f) == library)
    folders = {str(Path("src", f.name).parent) for f in of} | (
        {"src"} if library == implementation.primitive else set()
    )
    # GCC's driver for AVR hands none to the assembler, which looks there for what .include and .incbin name; a comma
    # would end a folder's name, and with -flto GCC cannot read quotes
    assembled = (f"-Wa,-I{d}" for d in sorted(folders) if not set(d) & set(",'\"\\"))
    return (*(f"-I{d}" for d in sorted(folders)), *assembled, *prefixed(library))


def _units(implementation: Implementation) -> list[SourceFile]:
    return [f for f in implementation.files if f.language != "header"]


def _called(named: Iterable[str]) -> Iterator[str]:
    """The options of objcopy that give symbols the names after the signs of equality."""
    return (o for name in named for o in ("--redefine-sym", name))


def _linked(implementation: Implementation, units: Sequence[SourceFile]) -> list[SourceFile]:
    """The ``units`` in the order in which they are linked: of FELICS's block ciphers that of the published images, as
    far as published times tell it (docs/validation/felics-blocks.md). It decides which calls are short ones on AVR."""
    if implementation.phases is None:
        return list(units)
    of = dict(implementation.phases.of)
    shared = sorted({name for phase in of.values() for name in phase.code})
    order = [of["encrypt"].own, *shared, of["schedule_encrypt"].own, of["schedule_decrypt"].own, of["decrypt"].own]
    place = {name: k for k, name in reversed(list(enumerate(order)))}
    return sorted(units, key=lambda f: place.get(f.name.rpartition(".")[0], len(order)))


def mode(built: Build) -> Path:
    """The object file of a scenario's mode of operation."""
    return built.folder / "both" / MODE


def objects(built: Build, implementation: Implementation) -> dict[str, Path]:
    """The object files of ``implementation`` by the name of their source."""
    made = {f.name: built.folder / f"{k}.o" for k, f in enumerate(_units(implementation))}
    return {name: file for name, file in made.items() if file.exists()}


def _less_assembly(
    implementation: Implementation, target: Target, failure: Failure, work: Path
) -> Implementation | None:
    """``implementation`` without the assembly that prevents the build: the files that were not assembled, or all of
    them when symbols are defined twice. None when that is not a file, or all of them. None too when the package is
    for other machines than the target: its C files alone are not what it offers."""
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
    """Renames the objects of ``built`` to the numbers of its sources in ``implementation``, which has more."""
    numbers = {f.name: k for k, f in enumerate(_units(built))}
    for k, f in reversed([*enumerate(_units(implementation))]):
        if f.name in numbers:
            (work / f"{numbers[f.name]}.o").rename(work / f"{k}.o")
        else:
            (work / f"{k}.o").unlink(missing_ok=True)
