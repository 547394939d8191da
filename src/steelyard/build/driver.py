"""What the compiler's driver would call, called without it: its processes take a third of a small source's time."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..model.once import Once
from ..model.target import ToolchainSpec
from .ask import ask

_IMAGE = "the-image"
_SOURCE = "the-source"
_OBJECT = "the-object"
_ASSEMBLY = "the-assembly.s"


def compiling(spec: ToolchainSpec, compiler: Sequence[str], source: str, made: str) -> tuple[tuple[str, ...], ...]:
    """Commands, each if the one before succeeded, that compile ``source`` to the object ``made``.

    ``compiler`` is the driver with its options. Beside the object its assembly may be left, as ``made`` with ``.s``.
    """
    direct = None
    if (
        spec.prefix and not spec.linker and not any(f.startswith("-flto") for f in compiler)
    ):  # which wants the driver's environment
        direct = _compiling(tuple(compiler), Path(source).suffix)
    if direct is None:
        return ((*compiler, "-c", source, "-o", made),)
    names = {
        f"{_SOURCE}/{_SOURCE}": source.removesuffix(Path(source).suffix),
        _SOURCE: Path(source).stem,
        _OBJECT: Path(made).stem,
        _ASSEMBLY: f"{made}.s",
    }
    return tuple(tuple(_replaced(word, names) for word in command) for command in direct)


def linking(
    spec: ToolchainSpec, options: Sequence[str], objects: Iterable[str], image: str, flags: Iterable[str], sample: Path
) -> tuple[str, ...]:
    """The command that links ``objects`` to ``image`` with the compiler's ``options``.

    ``flags`` are those of the objects: link-time optimisation is the compiler's, and so are programs for this machine.
    ``sample`` is any object that is there.
    """
    direct = None
    if spec.prefix and not any(f.startswith("-flto") for f in flags):
        direct = _linking(spec, tuple(options), str(sample))
    if direct is None:
        return (spec.compiler, *spec.flags, *options, *objects, "-o", image)
    before, after = direct
    return tuple(image if word == _IMAGE else word for word in (*before, *objects, *after))


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


def _replaced(word: str, names: dict[str, str]) -> str:
    for name, by in names.items():
        if name in word:
            return word.replace(name, by)
    return word


@Once
def _compiling(compiler: tuple[str, ...], suffix: str) -> tuple[list[str], list[str]] | None:
    """Compiler and assembler with their words; None where the driver would not call just those two."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, _SOURCE).mkdir()
        Path(folder, _SOURCE, f"{_SOURCE}{suffix}").touch()
        said = _said((*compiler, "-c", f"{_SOURCE}/{_SOURCE}{suffix}", "-o", f"{_OBJECT}.o"), folder)
    if said is None or [Path(words[0]).name for words in said] not in (["cc1", "as"], ["cc1plus", "as"]):
        return None
    compile_, assemble = said
    between = compile_[-1]
    if compile_[-2] != "-o" or assemble[-1] != between or assemble.count(f"{_OBJECT}.o") != 1:
        return None
    compile_[-1] = assemble[-1] = _ASSEMBLY
    return compile_, assemble


@Once
def _linking(spec: ToolchainSpec, options: tuple[str, ...], sample: str) -> tuple[list[str], list[str]] | None:
    """The linker's words before the objects and behind them; None where the driver would call anything else."""
    said = _said((spec.compiler, *spec.flags, *options, sample, "-o", _IMAGE))
    if said is None or len(said) != 1:
        return None
    program, *words = said[0]
    if Path(program).name not in ("collect2", "ld") or words.count(sample) != 1 or words.count(_IMAGE) != 1:
        return None
    if "-plugin" in words:  # for link-time optimisation
        at = words.index("-plugin")
        del words[at : at + 2]
    words = [w for w in words if not w.startswith("-plugin-opt=")]
    at = words.index(sample)
    return [f"{spec.prefix}ld", *words[:at]], words[at + 1 :]


def _said(command: tuple[str, ...], folder: str = ".") -> list[list[str]] | None:
    """The commands that ``command`` says it would run (GCC manual, "Overall Options", -###)."""
    told = ask((*command, "-###"), folder)
    if told.code != 0:
        return None
    try:
        return [shlex.split(line) for line in told.err.splitlines() if line.startswith(" ")]
    except ValueError:
        return None
