"""Compiles the harness's objects, which all images for a target share, and holds the version of the build recipe."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from ..model import paths
from ..model.digest import of_folder
from ..model.once import Once, alone
from ..model.reasons import Failure, Reason
from ..model.record import Toolchain
from ..model.target import Target, ToolchainSpec
from . import kept, trouble
from .commands import CODE
from .script import Interrupted, Script, logs, readable
from .toolchain import replaced

#: raise it with every change in this folder that can change an image, and when a figure of images is defined anew
RECIPE = "10"
#: why a build fails when the firmware was edited during it
CHANGED = "the firmware's sources changed while they were compiled"
# the harness is compiled in the same way for every implementation, whatever the flags under test
_HARNESS = ("-Os", "-std=gnu99", "-Wall", "-Wextra", *CODE)
#: operation file and SY_PARTS of each image of a primitive
PARTS = {
    "crypto_aead": {"both": "aead-3", "encrypt": "aead-1", "decrypt": "aead-2"},
    "crypto_hash": {"both": "hash-3"},
    "crypto_cxof": {"both": "cxof-3"},
    "crypto_block": {"both": "block-3", "encrypt": "block-1", "decrypt": "block-2"},
}
#: the same for an AEAD with FELICS-AE's interface, and a block cipher with FELICS's
INTERFACES = {
    "felics": {"both": "felics-3", "encrypt": "felics-1", "decrypt": "felics-2"},
    "phases": {"both": "phases-3", "encrypt": "phases-1", "decrypt": "phases-2"},
}
#: the same of images with a mode of operation, by interface and FELICS's scenario: the second only encrypts
MODES = {
    ("nist", 1): "scenario-3",
    ("nist", 2): "scenario-1",
    ("phases", 1): "scenario-7",
    ("phases", 2): "scenario-5",
}
_OPERATIONS = (*(o for parts in (*PARTS.values(), *INTERFACES.values()) for o in parts.values()), *MODES.values())
#: by folder of harness objects: held while looking for them and compiling missing ones
_harness_locks: dict[Path, Lock] = {}


@Once
def harness_digest() -> str:
    """SHA-256 over the harness's sources and the recipe's version, computed once."""
    return harness_now()


def harness_now() -> str:
    """The same digest, computed now: the sources may change while they are compiled."""
    return of_folder(paths.HARNESS, RECIPE)


def as_identified(spec: ToolchainSpec) -> None:
    """Raises :class:`Interrupted` when the toolchain is no longer the one that it was identified as."""
    if file := replaced(spec):
        raise Interrupted(Failure(Reason.NO_TOOLCHAIN, f"{file} was replaced after this campaign began: run it again"))


def harness_objects(target: Target, toolchain: Toolchain, *operations: str) -> dict[str, list[Path]]:
    """The harness's objects for ``target``, compiled once: by operation, such as ``aead-3``, those of an image with it,
    and by the empty name those in every image. Raises :class:`Interrupted` when they do not compile."""
    own = [
        *(paths.HARNESS / n for n in ("main.c", "heap.c", "libc.c", "tally.c", "tempo.c")),
        *target.folder.glob("*.[cS]"),
    ]
    folder = _harness_folder(target, toolchain)
    common = [*_harness_group(folder / "common", target, {source.stem: (source,) for source in own}).values()]
    made = {"": common}
    for stem in dict.fromkeys(o.split("-")[0] for o in operations):
        variants = [o for o in _OPERATIONS if o.startswith(f"{stem}-")]
        sources = {o: (f"-DSY_PARTS={o.split('-')[1]}", paths.HARNESS / f"{stem}.c") for o in variants}
        made |= {o: [*common, file] for o, file in _harness_group(folder / stem, target, sources).items()}
    return made


def _harness_folder(target: Target, toolchain: Toolchain) -> Path:
    key = hashlib.sha256(f"{RECIPE}\0{harness_digest()}\0{target.digest}\0{toolchain.sha256}".encode()).hexdigest()
    return paths.home() / "cache" / "harness" / key


def _harness_group(folder: Path, target: Target, sources: Mapping[str, tuple[str | Path, ...]]) -> dict[str, Path]:
    """Compiles ``sources`` (by name: options, then the file) into ``folder``, and returns the objects by name."""
    spec = target.toolchain
    base = (spec.compiler, *spec.flags, *_HARNESS, *spec.harness, f"-I{paths.HARNESS}", f"-I{paths.HARNESS}/include")
    base += (f"-I{target.folder}",)
    if (wired := target.wiring) is not None:
        named = {"SY_BAUD": wired.baud, "SY_FAST_BAUD": wired.fast_baud, "SY_BOARD_HZ": wired.board_hz}
        base += tuple(f"-D{name}={value}UL" for name, value in named.items() if value)
    firmware = target.digest, harness_digest()
    # others wait for the first, also those who know the cache by another name: compilers still read what it replaces
    with _harness_locks.setdefault(folder, Lock()), alone(f"harness {folder.resolve()}"):
        if kept.read(folder) is None:
            with kept.made(folder) as (work, _):
                script = Script()
                for name, (*options, source) in sources.items():
                    script.add(name, (*base, *map(str, options), "-c", str(source), "-o", f"{name}.o"))
                if failed := script.run(work, readable(target)):
                    text = f"the harness does not compile for {target.name}: {' '.join(failed[0].said.split())[:300]}"
                    cause = trouble.of_machine(failed, spec, work) or Failure(Reason.NO_TOOLCHAIN, text)
                    raise Interrupted(cause, logs(work))
                as_identified(spec)
                if firmware != (target.digest, harness_now()):
                    raise Interrupted(Failure(Reason.SOURCES_CHANGED, CHANGED))
    return {name: folder / f"{name}.o" for name in sorted(sources)}
